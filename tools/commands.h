/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of `strag`, and the readers of arguments that they share.
 *
 * The readers return true, or explain on stderr what is wrong and what is accepted and return
 * false.
 */
#ifndef STRAG_COMMANDS_H
#define STRAG_COMMANDS_H

#include "algorithm.h"
#include "options.h"

/* More ranks than any machine has: a mistyped -n does not eat all memory. */
#define RANKS_MAX (1 << 24)

/**
 * The algorithm that was named.
 *
 * @param also  what the explanation adds to the names of the algorithms: "" or ", all"
 * @return it, or NULL after an explanation
 */
const struct strag_algorithm *need_algorithm(const struct command *command,
                                             const struct arguments *arguments, const char *also);

/** The text of an option that the command cannot do without. @return it, or NULL as above */
const char *need_option(const struct command *command, const struct arguments *arguments,
                        enum option_id id);

/** Explain that a value of an option is not accepted. @return false */
bool refuse_value(const struct command *command, enum option_id id, int status,
                  const struct strag_error *reason);

/** An integer option; where it was not given, *value stays as it is. */
bool read_integer(const struct command *command, const struct arguments *arguments,
                  enum option_id id, int low, int high, int *value);

/** -n RANKS, as a single number, which must be given. */
bool read_ranks(const struct command *command, const struct arguments *arguments, int *ranks);

/**
 * --format, one of the names, closed by a NULL; the first is meant when none is given.
 *
 * @param[out] chosen  its index
 */
bool read_format(const struct command *command, const struct arguments *arguments,
                 const char *const *formats, int *chosen);

extern const struct command plan_command, verify_command, cost_command;

#endif
