/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of `strag`, and the readers of arguments that they share.
 *
 * The readers return true, or explain the fault and what is accepted on stderr and return
 * false.
 */
#ifndef STRAG_COMMANDS_H
#define STRAG_COMMANDS_H

#include "algorithms/table.h"
#include "options.h"
#include "plan/given.h"

/* More ranks than any machine has: a mistyped -n does not eat all memory. */
#define RANKS_MAX (1 << 24)

/** Does -n or a topology say how many ranks there are? */
bool says_ranks(const struct arguments *arguments);

/* The plan in the file of --plan. */
struct file_plan {
    struct strag_given *given;  /* NULL: there is none */
    struct arguments arguments; /* what was given, with -n where nothing but the file says how many
                                   ranks there are */
    char ranks[16];
};

/** Read --plan, which may be missing. @param[out] plan  the caller's to close, and not to be moved
 */
bool open_file_plan(const struct command *command, const struct arguments *arguments,
                    struct file_plan *plan);

void close_file_plan(struct file_plan *plan);

/**
 * The algorithm that was named, or the plan in its place: one of the two.
 *
 * @return it, or NULL after an explanation
 */
const struct strag_algorithm *need_algorithm(const struct command *command,
                                             const struct file_plan *plan);

/* How many a command may name: those of the table, and a plan. */
enum { ALGORITHMS_MAX = STRAG_ALGORITHMS_MAX + 1 };

/* Algorithms, in the order in which they were named. */
struct algorithms {
    const struct strag_algorithm *algorithm[ALGORITHMS_MAX];
    int count;
    bool all; /* by "all": what cannot be planned is left out */
};

/**
 * The algorithms that were named: one, several between commas, or all; behind them the plan.
 *
 * @param otherwise  what is meant where there is neither: "all"; NULL: something must be named
 */
bool read_algorithms(const struct command *command, const struct file_plan *plan,
                     const char *otherwise, struct algorithms *named);

/** The text of an option that the command cannot do without. @return it, or NULL as above */
const char *need_option(const struct command *command, const struct arguments *arguments,
                        enum option_id id);

/** Explain that a value of an option is not accepted. @return false */
bool refuse_value(const struct command *command, enum option_id id, int status,
                  const struct strag_error *reason);

/** An integer option; if it was not given, *value stays as it is. */
bool read_integer(const struct command *command, const struct arguments *arguments,
                  enum option_id id, int low, int high, int *value);

/** A real option in a unit, "microseconds"; if it was not given, *value stays as it is. */
bool read_real(const struct command *command, const struct arguments *arguments, enum option_id id,
               double low, double high, const char *unit, double *value);

/**
 * An option that takes one of some words, closed by a NULL; the first is meant when none is given.
 *
 * @param[out] chosen  its index
 */
bool read_word(const struct command *command, const struct arguments *arguments, enum option_id id,
               const char *const *words, int *chosen);

/**
 * --bytes, which must be given.
 *
 * @param[out] bytes  the caller's to free
 * @param[out] sizes  how many
 */
bool read_sizes(const struct command *command, const struct arguments *arguments, size_t **bytes,
                int *sizes);

extern const struct command plan_command, verify_command, cost_command, explain_command,
    topology_command, params_command;

#endif
