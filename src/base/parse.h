/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses sizes, numbers, and lists and ranges of these, as users type them.
 *
 * The functions accept the whole text or nothing: no signs, no leftovers. On failure they return
 * STRAG_ERR_ARGUMENT, leave the result untouched, and describe in err the wrong part of the text
 * and what would be accepted. The caller prepends the name of the option or parameter.
 */
#ifndef STRAG_PARSE_H
#define STRAG_PARSE_H

#include "base/status.h"

#include <stddef.h>

/**
 * A size: a number of bytes, or one followed by K, M, G or T (or k, m, g, t), which stand for 1024,
 * 1024^2, 1024^3 and 1024^4; or whole sizes as strag_units_bytes writes them. Examples: 0, 32, 2K,
 * 512M, 8 B, 1MiB.
 *
 * @param[out] bytes  the size; a text beyond SIZE_MAX is refused
 * @return STRAG_OK or STRAG_ERR_ARGUMENT
 */
int strag_parse_bytes(const char *text, size_t *bytes, struct strag_error *err);

/**
 * Sizes between commas, each one size or a range LOW..HIGH, which stands for the powers of two from
 * LOW to HIGH; both must be such powers. Example: 100,32..1G.
 *
 * @param[out] bytes  the sizes in the order given; the caller's to free
 * @param[out] count  how many, at least 1
 * @return STRAG_OK, STRAG_ERR_ARGUMENT or STRAG_ERR_MEMORY
 */
int strag_parse_bytes_list(const char *text, size_t **bytes, int *count, struct strag_error *err);

/** A decimal integer, low <= value <= high, with 0 <= low. */
int strag_parse_integer(const char *text, int low, int high, int *value, struct strag_error *err);

/** The integers first .. last. */
struct strag_interval {
    int first, last;
};

/**
 * Integers between commas, each one number or a range FIRST..LAST, all of them low to high.
 * Example: 2..256,1000.
 *
 * @param[out] intervals  in the order given (one number n is n..n); the caller's to free
 * @param[out] count      how many intervals, at least 1
 * @return STRAG_OK, STRAG_ERR_ARGUMENT or STRAG_ERR_MEMORY
 */
int strag_parse_intervals(const char *text, int low, int high, struct strag_interval **intervals,
                          int *count, struct strag_error *err);

/**
 * A decimal number like 1, 0.5 or 1e3, low <= value <= high, with 0 <= low.
 *
 * @param unit  for the message: "Gbit/s"; NULL if there is none
 */
int strag_parse_real(const char *text, double low, double high, const char *unit, double *value,
                     struct strag_error *err);

/**
 * Write a value in a unit, in the fewest digits with which strag_parse_real's value times `scale`
 * has the same bits.
 *
 * @param value  at least 0
 * @param scale  of the unit: 1e-6 for microseconds
 * @return text
 */
const char *strag_real_text(double value, double scale, char text[32]);

#endif
