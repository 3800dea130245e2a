/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of `strag`: commands, the options each one takes, and reading them.
 */
#ifndef STRAG_OPTIONS_H
#define STRAG_OPTIONS_H

#include "status.h"

#include <stdbool.h>
#include <stdio.h>

/* Exit statuses, as strag(1) promises them. */
enum { EXIT_DONE = 0, EXIT_FALSE = 1, EXIT_USAGE = 2 };

enum option_id {
    OPTION_RANKS,
    OPTION_BLOCKS,
    OPTION_RANK,
    OPTION_BYTES,
    OPTION_ALPHA,
    OPTION_BANDWIDTH,
    OPTION_FORMAT,
    OPTIONS
};

/* An option as one command takes it. */
struct option_use {
    enum option_id id;
    const char *value; /* what follows it: "RANKS", "text|json|svg" */
    const char *help;
};

/* What was given: values are texts of argv, NULL where the option was not given. */
struct arguments {
    const char *algorithm;
    const char *value[OPTIONS];
    bool help;
};

struct command {
    const char *name;
    const char *usage;    /* behind the command's name: "" or " ARGUMENTS" */
    const char *summary;  /* one line */
    const char *details;  /* lines for --help, NULL: none */
    bool takes_algorithm; /* an operand; without one, arguments.algorithm is NULL */
    struct option_use options[OPTIONS + 1]; /* closed by one without a value */

    /** Do it. @return an EXIT_ code; whatever is not EXIT_DONE has been explained on stderr */
    int (*run)(const struct command *command, const struct arguments *arguments);
};

/**
 * Read what follows a command: its operand and its options, in any order.
 *
 * @return STRAG_OK or STRAG_ERR_ARGUMENT with what is wrong and what is accepted
 */
int read_arguments(const struct command *command, int argc, char **argv,
                   struct arguments *arguments, struct strag_error *err);

/** Write a command's --help. */
void write_help(FILE *out, const struct command *command);

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
