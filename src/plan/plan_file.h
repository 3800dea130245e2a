/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading plans from JSON files, as `strag plan --format json` writes them and doc/plan-format.md
 * specifies them: with all operations of all ranks, or in the compact form.
 *
 * A plan that was read is well formed, and small enough to be examined. strag_given_prove proves
 * that it is an allreduce.
 */
#ifndef STRAG_PLAN_FILE_H
#define STRAG_PLAN_FILE_H

#include "plan/given.h"

/* The most bytes of a file: a ring of 256 ranks, with one line for each operation. */
#define STRAG_PLAN_FILE_MAX ((size_t)64 << 20)

/**
 * As strag_plan_file_read (api/strag.h), for text in memory.
 *
 * @param name  what messages call the text
 * @param most  the effort that reading and proving it may take; NULL if it need not be proved
 * @param[out] given  closed
 * @return as strag_plan_file_read, or STRAG_ERR_LIMIT
 */
int strag_plan_file_parse(const char *text, size_t length, const char *name,
                          const struct strag_effort *most, struct strag_given **given,
                          struct strag_error *err);

#endif
