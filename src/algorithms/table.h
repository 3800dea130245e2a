/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one list of algorithms. A new one is a file, a row in table.c and a line in src/local.mk;
 * whatever else goes over all algorithms (the command, the component's parameter, the choice, the
 * tests) goes over this table.
 */
#ifndef STRAG_TABLE_H
#define STRAG_TABLE_H

#include "base/nearest.h"
#include "plan/algorithm.h"

/* The most algorithms of the table (users of it keep a bit for each in 64 bits, with some to
 * spare), and the bytes that hold all their names. */
enum { STRAG_ALGORITHMS_MAX = 48, STRAG_NAMES_MAX = 1024 };

/** The table, closed by a NULL. */
extern const struct strag_algorithm *const strag_algorithms[];

/**
 * Look an algorithm up by its name.
 *
 * @return it, or NULL with the names that exist in err
 */
const struct strag_algorithm *strag_algorithm_find(const char *name, struct strag_error *err);

/** Offer all names to the search for the name that is nearest to a wrong one. */
void strag_algorithms_offer(struct strag_nearest *nearest, const char *wrong);

/** The algorithm with `fewest_switches`. */
const struct strag_algorithm *strag_algorithm_fewest_switches(void);

/** The algorithm with `any_straggler`. */
const struct strag_algorithm *strag_algorithm_any_straggler(void);

/** All names, "ring, recursive-doubling, ...", cut at the buffer's end. @return buffer */
char *strag_algorithm_names(char *buffer, size_t size);

#endif
