/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Status codes and error messages of libstrag.
 *
 * Functions that can fail return one of the codes below and take a `struct strag_error *`, which
 * may be NULL. On failure its text is one line, without a newline, that names what was wrong and
 * what would be accepted.
 */
#ifndef STRAG_STATUS_H
#define STRAG_STATUS_H

enum strag_status {
    STRAG_OK = 0,
    STRAG_PENDING = 1,          /* not an error: not complete yet */
    STRAG_ERR_ARGUMENT = -1,    /* the caller asked for something that does not exist */
    STRAG_ERR_UNSUPPORTED = -2, /* it exists, but not for this n, count or option */
    STRAG_ERR_MEMORY = -3,      /* out of memory */
    STRAG_ERR_TRANSPORT = -4,   /* a message could not be sent or received */
    STRAG_ERR_REDUCE = -5,      /* the reducer could not reduce or copy */
    STRAG_ERR_FALSE = -6,       /* a proof failed: the plan is not what it claims to be */
    STRAG_ERR_IO = -7,          /* an output stream could not be written */
    STRAG_ERR_MISMATCH = -8     /* ranks made a call with different lengths */
};

struct strag_error {
    char text[1024];
};

#if defined(__GNUC__)
#define STRAG_PRINTF(format_arg, first_arg) __attribute__((format(printf, format_arg, first_arg)))
#else
#define STRAG_PRINTF(format_arg, first_arg)
#endif

/**
 * Write a message and return the status:
 * `return strag_fail(err, STRAG_ERR_ARGUMENT, "n = %d, at least 1 is needed", n);`
 *
 * @param err  may be NULL
 */
int strag_fail(struct strag_error *err, int status, const char *format, ...) STRAG_PRINTF(3, 4);

/** A few words for a status code, for messages when there is no text. Never NULL. */
const char *strag_status_text(int status);

#endif
