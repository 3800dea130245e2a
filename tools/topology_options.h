/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options that say what the machine looks like (TOPOLOGY), what is wrong with it at the moment
 * (STATE), and how fast it is (MODEL): one reader for all commands.
 */
#ifndef STRAG_TOPOLOGY_OPTIONS_H
#define STRAG_TOPOLOGY_OPTIONS_H

#include "commands.h"
#include "machine/layout.h"
#include "machine/state.h"
#include "model/model.h"

/* For --help and for reading. */
extern const struct option_group topology_group, state_group, model_group;

/* How the usage lines show them. */
#define TOPOLOGY_USAGE " [TOPOLOGY]"
#define STATE_USAGE    " [STATE]"
#define MODEL_USAGE    " [MODEL]"

/* What the options say. It must stay where it is: parts of it point to others. */
struct machine {
    const struct command *command;
    const struct arguments *arguments;

    enum option_id kind;         /* the option that named the topology; OPTIONS: none did */
    struct strag_layout *layout; /* NULL: none was named */
    struct strag_core *cores;    /* --hwloc */
    int ncores;
    int ranks_per_node; /* 0: not said */

    struct strag_topology *topology; /* of the ranks that were placed; NULL: see problem.topology */
    struct strag_slow *slow;
    struct strag_straggler straggler;
    struct strag_state state;

    struct strag_problem problem; /* of the ranks that were placed */
    struct strag_model model;
};

/**
 * Read all options but -n.
 *
 * @param[out] machine  the caller's to close with close_machine, whatever is returned
 * @return an EXIT_ code; whatever is not EXIT_DONE has been explained on stderr
 */
int open_machine(const struct command *command, const struct arguments *arguments,
                 struct machine *machine);

/**
 * Place n ranks: from here on machine->problem is theirs.
 *
 * @param n  0: as many as the topology says
 * @return as open_machine
 */
int place_ranks(struct machine *machine, int n);

/** Where no topology was named: make that of one switch, which problem.topology leaves out. */
int place_on_one_switch(struct machine *machine);

/** Open a machine, and place as many ranks as -n or the topology says. As open_machine. */
int read_machine(const struct command *command, const struct arguments *arguments,
                 struct machine *machine);

/** Free what the machine has. */
void close_machine(struct machine *machine);

/** "torus 8x8", "layout topology.conf", "one switch": how the user named it. @return buffer */
const char *machine_title(const struct machine *machine, char *buffer, size_t size);

#endif
