/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Status codes and error messages of libstrag. The codes and struct strag_error are in api/strag.h,
 * for other programs.
 *
 * Functions that can fail return one of the codes and take a `struct strag_error *`, which may be
 * NULL. On failure its text is one line, without a newline, that names the error and what would be
 * accepted.
 */
#ifndef STRAG_STATUS_H
#define STRAG_STATUS_H

#include "api/strag.h"

#if defined(__GNUC__)
#define STRAG_PRINTF(format_arg, first_arg) __attribute__((format(printf, format_arg, first_arg)))
#else
#define STRAG_PRINTF(format_arg, first_arg)
#endif

/**
 * Write a message and return the status:
 * `return strag_fail(err, STRAG_ERR_ARGUMENT, "n = %d; must be at least 1", n);`
 *
 * @param err  may be NULL
 */
int strag_fail(struct strag_error *err, int status, const char *format, ...) STRAG_PRINTF(3, 4);

#endif
