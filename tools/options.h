/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of `strag`: commands, the options each one takes, and reading them.
 */
#ifndef STRAG_OPTIONS_H
#define STRAG_OPTIONS_H

#include "base/status.h"
#include "model/numbers.h"

#include <stdbool.h>
#include <stdio.h>

/* Exit statuses, as strag(1) promises them. */
enum { EXIT_DONE = 0, EXIT_FALSE = 1, EXIT_USAGE = 2 };

/* A number of the cost model: --local-alpha. */
#define OPTION_OF_NUMBER(X, ID, member, name, ...) X(ID, "--" name)

/* All options; TORUS to HWLOC are the topologies. */
#define OPTIONS_LIST(X)                                                                            \
    X(RANKS, "-n")                                                                                 \
    X(BLOCKS, "--blocks")                                                                          \
    X(ROOT, "--root")                                                                              \
    X(RANK, "--rank")                                                                              \
    X(PLAN, "--plan")                                                                              \
    X(PROOF, "--proof")                                                                            \
    X(COMPACT, "--compact")                                                                        \
    X(BYTES, "--bytes")                                                                            \
    X(FORMAT, "--format")                                                                          \
    X(MODE, "--mode")                                                                              \
    X(MINIMUM, "--minimum")                                                                        \
    X(RULES, "--rules")                                                                            \
    X(YES, "--yes")                                                                                \
    X(QUICK, "--quick")                                                                            \
    X(EXHAUSTIVE, "--exhaustive")                                                                  \
    X(TORUS, "--torus")                                                                            \
    X(MESH, "--mesh")                                                                              \
    X(HYPERX, "--hyperx")                                                                          \
    X(HAMMINGMESH, "--hammingmesh")                                                                \
    X(TREE, "--tree")                                                                              \
    X(LAYOUT, "--layout")                                                                          \
    X(SAVED, "--saved")                                                                            \
    X(HWLOC, "--hwloc")                                                                            \
    X(HOSTS, "--hosts")                                                                            \
    X(RANKS_PER_NODE, "--ranks-per-node")                                                          \
    X(PORTS, "--ports")                                                                            \
    X(STRAGGLER, "--straggler")                                                                    \
    X(DELAY, "--delay")                                                                            \
    X(SLOW, "--slow")                                                                              \
    X(MODEL, "--model")                                                                            \
    STRAG_MODEL_NUMBERS_LIST(OPTION_OF_NUMBER, X)                                                  \
    X(TIES, "--ties")

#define OPTION_ID(id, name) OPTION_##id,
enum option_id { OPTIONS_LIST(OPTION_ID) OPTIONS };
#undef OPTION_ID

/* An option in the form that one command takes. */
struct option_use {
    enum option_id id;
    const char *value; /* "RANKS", "text|json|svg"; "[FILE]" if it may be missing; "" if there is
                          none */
    const char *help;
};

/* Options that several commands share. */
struct option_group {
    const char *title;             /* for --help */
    const struct option_use *uses; /* closed by one without a value */
};

/* What was given. Values are texts of argv; NULL if the option was not given; "" if it takes no
 * value, or if its value may be missing and is. */
struct arguments {
    const char *algorithm;
    const char *value[OPTIONS];
    bool help;
};

#define OWN_OPTIONS_MAX   9
#define OPTION_GROUPS_MAX 4

struct command {
    const char *name;
    const char *usage;    /* behind the command's name: "" or " ARGUMENTS" */
    const char *summary;  /* one line */
    const char *details;  /* lines for --help, or NULL */
    bool takes_algorithm; /* an operand; without one, arguments.algorithm is NULL */
    struct option_use options[OWN_OPTIONS_MAX + 1];           /* closed by one without a value */
    const struct option_group *groups[OPTION_GROUPS_MAX + 1]; /* closed by a NULL */

    /** Run it. @return an EXIT_ code; any other than EXIT_DONE has been explained on stderr */
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

/** The index-th option that the command takes, its own ones first; NULL if there are no more. */
const struct option_use *option_at(const struct command *command, int index);

/** A command's option. @return NULL if the command does not take it */
const struct option_use *option_of(const struct command *command, enum option_id id);

/** "-n", "--blocks", ... */
const char *option_name(enum option_id id);

/**
 * Write one line on stderr that says what went wrong in a command.
 *
 * @param status  a negative enum strag_status
 * @return the EXIT_ code: EXIT_USAGE for wrong use, EXIT_FALSE for any other status
 */
int complain(const struct command *command, int status, const char *format, ...) STRAG_PRINTF(3, 4);

/* The same for wrong use; the value is false, for readers. */
#define refuse(command, ...) (complain(command, STRAG_ERR_ARGUMENT, __VA_ARGS__), false)

#endif
