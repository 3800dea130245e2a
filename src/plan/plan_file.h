/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading plans from files: JSON, as `strag plan --format json` writes it and doc/plan-format.md
 * specifies it, all operations of all ranks or in the compact form.
 *
 * What is read is well formed, and small enough to be looked at; whether it is an allreduce,
 * strag_given_prove says.
 */
#ifndef STRAG_PLAN_FILE_H
#define STRAG_PLAN_FILE_H

#include "plan/given.h"

/* Bytes of a file. With one line for each operation, that is a ring of 256 ranks. */
#define STRAG_PLAN_FILE_MAX ((size_t)64 << 20)

/**
 * Read a file.
 *
 * @param file        its name
 * @param[out] given  closed; the caller's to free with strag_given_free; untouched on failure
 * @param err         "FILE:LINE: what is wrong", or "FILE: ranks[3].ops[7].peer: what is wrong, and
 *                    what is accepted"; may be NULL
 * @return STRAG_OK, STRAG_ERR_ARGUMENT, STRAG_ERR_IO or STRAG_ERR_MEMORY
 */
int strag_plan_file_read(const char *file, struct strag_given **given, struct strag_error *err);

/** The same for text in memory. @param name  what messages call it */
int strag_plan_file_parse(const char *text, size_t length, const char *name,
                          struct strag_given **given, struct strag_error *err);

#endif
