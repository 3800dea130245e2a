/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading plans from files: JSON, as `strag plan --format json` writes it and doc/plan-format.md
 * specifies it, all operations of all ranks or in the compact form.
 *
 * What is read is well formed, and small enough to be examined; whether it is an allreduce,
 * strag_given_prove says.
 */
#ifndef STRAG_PLAN_FILE_H
#define STRAG_PLAN_FILE_H

#include "plan/given.h"

/* Bytes of a file. With one line for each operation, that is a ring of 256 ranks. */
#define STRAG_PLAN_FILE_MAX ((size_t)64 << 20)

/**
 * As strag_plan_file_read (api/strag.h), for text in memory.
 *
 * @param name  what messages call it
 * @param most  what reading and proving it may take; NULL: it need not be proved
 * @param[out] given  closed
 * @return as that, or STRAG_ERR_LIMIT
 */
int strag_plan_file_parse(const char *text, size_t length, const char *name,
                          const struct strag_effort *most, struct strag_given **given,
                          struct strag_error *err);

#endif
