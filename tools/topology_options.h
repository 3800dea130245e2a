/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options for the machine's topology (TOPOLOGY), its stragglers and slow links (STATE) and its
 * speeds (MODEL), for all commands.
 */
#ifndef STRAG_TOPOLOGY_OPTIONS_H
#define STRAG_TOPOLOGY_OPTIONS_H

#include "commands.h"
#include "machine/layout.h"
#include "machine/state.h"
#include "model/model_file.h"
#include "model/saved.h"

/* For --help and for reading. */
extern const struct option_group topology_group, state_group, model_group;

/* How the usage lines show them. */
#define TOPOLOGY_USAGE " [TOPOLOGY]"
#define STATE_USAGE    " [STATE]"
#define MODEL_USAGE    " [MODEL]"

/* The machine that the options describe. It must not be moved: parts of it point to others. */
struct machine {
    const struct command *command;
    const struct arguments *arguments;

    enum option_id kind;         /* the option that named the topology, or OPTIONS if none did */
    struct strag_layout *layout; /* NULL if none was named */
    struct strag_core *cores;    /* --hwloc */
    int ncores;
    int ranks_per_node;              /* 0 if not given */
    const struct strag_saved *saved; /* of --saved: it has all of the following; else NULL */

    struct strag_topology *topology; /* may be NULL, like problem.topology */
    struct strag_slow *slow;
    struct strag_state_record late; /* its stragglers only */
    struct strag_state state;

    struct strag_problem problem; /* of the ranks that were placed */
    struct strag_sourced_model sourced;
    struct strag_models *models; /* of a file, or NULL */
};

/**
 * Read all options but -n.
 *
 * @param[out] machine  the caller's to close with close_machine, whatever is returned
 * @return an EXIT_ code; others than EXIT_DONE have been explained on stderr
 */
int open_machine(const struct command *command, const struct arguments *arguments,
                 struct machine *machine);

/**
 * Place n ranks: from here on machine->problem is theirs.
 *
 * @param n  ranks, or 0 for as many as the topology has
 * @return as open_machine
 */
int place_ranks(struct machine *machine, int n);

/** How many hosts the grid that an option describes has, without making it; 0 if none does. */
int grid_hosts(const struct arguments *arguments);

/** If there is no topology option, make machine->topology one switch. */
int place_on_one_switch(struct machine *machine);

/** Open a machine, and place as many ranks as -n or the topology gives. As open_machine. */
int read_machine(const struct command *command, const struct arguments *arguments,
                 struct machine *machine);

/** What to add to a message if an algorithm is refused since no rank is late, or "". */
const char *straggler_wanted(const struct machine *machine,
                             const struct strag_algorithm *algorithm);

/** The name of the file that has numbers of the model, or NULL if there is none. */
const char *model_file_name(const struct machine *machine);

/** Free what the machine has. */
void close_machine(struct machine *machine);

/** "torus 8x8", "layout topology.conf", "one switch": as the user named it. @return buffer */
const char *machine_title(const struct machine *machine, char *buffer, size_t size);

#endif
