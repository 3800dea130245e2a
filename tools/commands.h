/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of `strag`, and the readers of arguments that they share.
 *
 * The readers return true, or explain on stderr what is wrong and what is accepted, and return
 * false.
 */
#ifndef STRAG_COMMANDS_H
#define STRAG_COMMANDS_H

#include "algorithms/table.h"
#include "machine/layout.h"
#include "options.h"
#include "plan/given.h"

#define RANKS_MAX STRAG_LAYOUT_RANKS_MAX

/** Does -n or a topology say how many ranks there are? */
bool says_ranks(const struct arguments *arguments);

/* The plan in the file of --plan. */
struct file_plan {
    struct strag_given *given;  /* NULL if there is none */
    struct arguments arguments; /* the command's, with the file's number of ranks as -n if they do
                                   not state it themselves */
    char ranks[16];
};

/** Read --plan, which may be missing. @param[out] plan  the caller's to close; it must not be moved
 */
bool open_file_plan(const struct command *command, const struct arguments *arguments,
                    struct file_plan *plan);

void close_file_plan(struct file_plan *plan);

/**
 * Find the algorithm that was named, or the plan in its place. Only one of the two may be given.
 *
 * @return it, or NULL after an explanation
 */
const struct strag_algorithm *need_algorithm(const struct command *command,
                                             const struct file_plan *plan);

/* The most algorithms that a command may name: those of the table, and a plan. */
enum { ALGORITHMS_MAX = STRAG_ALGORITHMS_MAX + 1 };

/* Algorithms, in the order in which they were named. */
struct algorithms {
    const struct strag_algorithm *algorithm[ALGORITHMS_MAX];
    int count;
    bool all; /* "all" was named: algorithms that cannot be planned are left out */
};

/**
 * Read the algorithms that were named: one, several between commas, or all. The plan is added last.
 *
 * @param otherwise  what is meant if neither is given: "all", or NULL if one of them must be
 */
bool read_algorithms(const struct command *command, const struct file_plan *plan,
                     const char *otherwise, struct algorithms *named);

/** The text of an option that the command needs. @return it, or NULL after an explanation */
const char *need_option(const struct command *command, const struct arguments *arguments,
                        enum option_id id);

/** Explain that a value of an option is not accepted. @return false */
bool refuse_value(const struct command *command, enum option_id id, int status,
                  const struct strag_error *reason);

/** Read an integer option; if it was not given, *value stays as it is. */
bool read_integer(const struct command *command, const struct arguments *arguments,
                  enum option_id id, int low, int high, int *value);

/**
 * Read an option that takes one of `words`, which a NULL closes. The first word is the default.
 *
 * @param[out] chosen  its index
 */
bool read_word(const struct command *command, const struct arguments *arguments, enum option_id id,
               const char *const *words, int *chosen);

/**
 * --bytes, which must be given.
 *
 * @param[out] bytes  the caller's to free
 * @param[out] sizes  how many there are
 */
bool read_sizes(const struct command *command, const struct arguments *arguments, size_t **bytes,
                int *sizes);

extern const struct command plan_command, verify_command, cost_command, explain_command,
    topology_command, params_command;

#endif
