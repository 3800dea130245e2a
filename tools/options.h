/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of `strag`: commands, the options each one takes, and reading them.
 */
#ifndef STRAG_OPTIONS_H
#define STRAG_OPTIONS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

/* Exit statuses, as strag(1) promises them. */
enum { EXIT_DONE = 0, EXIT_FALSE = 1, EXIT_USAGE = 2 };

enum option_id {
    OPTION_RANKS,
    OPTION_BLOCKS,
    OPTION_ROOT,
    OPTION_RANK,
    OPTION_BYTES,
    OPTION_FORMAT,
    OPTION_MODE,
    OPTION_MINIMUM,
    OPTION_RULES,
    OPTION_TORUS, /* the topologies */
    OPTION_MESH,
    OPTION_HYPERX,
    OPTION_HAMMINGMESH,
    OPTION_TREE,
    OPTION_LAYOUT,
    OPTION_HWLOC, /* up to here */
    OPTION_HOSTS,
    OPTION_RANKS_PER_NODE,
    OPTION_PORTS,
    OPTION_STRAGGLER,
    OPTION_DELAY,
    OPTION_SLOW,
    OPTION_ALPHA,
    OPTION_LOCAL_ALPHA,
    OPTION_BANDWIDTH,
    OPTION_LOCAL_BANDWIDTH,
    OPTION_LINK_LATENCY,
    OPTION_HOP_LATENCY,
    OPTION_REDUCE_BANDWIDTH,
    OPTION_TIES,
    OPTIONS
};

/* An option as one command takes it. */
struct option_use {
    enum option_id id;
    const char *value; /* what follows it: "RANKS", "text|json|svg"; "[FILE]": may be missing */
    const char *help;
};

/* Options that several commands share. */
struct option_group {
    const char *title;             /* for --help */
    const struct option_use *uses; /* closed by one without a value */
};

/* What was given: values are texts of argv, NULL where the option was not given, "" where it was
 * given without the value that may be missing. */
struct arguments {
    const char *algorithm;
    const char *value[OPTIONS];
    bool help;
};

#define OWN_OPTIONS_MAX   6
#define OPTION_GROUPS_MAX 4

struct command {
    const char *name;
    const char *usage;    /* behind the command's name: "" or " ARGUMENTS" */
    const char *summary;  /* one line */
    const char *details;  /* lines for --help, NULL: none */
    bool takes_algorithm; /* an operand; without one, arguments.algorithm is NULL */
    struct option_use options[OWN_OPTIONS_MAX + 1];           /* closed by one without a value */
    const struct option_group *groups[OPTION_GROUPS_MAX + 1]; /* closed by a NULL */

    /** Do it. @return an EXIT_ code; whatever is not EXIT_DONE has been explained on stderr */
    int (*run)(const struct command *command, const struct arguments *arguments);
};

/**
 * Read what follows a command: its operand and its options, in any order.
 *
 * @return true, or false after a line on stderr that says what is wrong and what is accepted
 */
bool read_arguments(const struct command *command, int argc, char **argv,
                    struct arguments *arguments);

/** Write a command's --help. */
void write_help(FILE *out, const struct command *command);

/** The index-th option that the command takes, its own ones first. @return NULL: no more */
const struct option_use *option_at(const struct command *command, int index);

/** "-n", "--blocks", ... */
const char *option_name(enum option_id id);

/**
 * One line on stderr that says what went wrong in a command.
 *
 * @param status  a negative enum strag_status
 * @return the EXIT_ code for it: EXIT_USAGE for what was asked wrongly, EXIT_FALSE for the rest
 */
int complain(const struct command *command, int status, const char *format, ...) STRAG_PRINTF(3, 4);

#endif
