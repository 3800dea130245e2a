/* SPDX-License-Identifier: BSD-3-Clause */
/* Logarithms, divisors, and the skips of the circulant graph, along which a few algorithms send. */
#ifndef STRAG_SKIPS_H
#define STRAG_SKIPS_H

#include <stdint.h>

#define STRAG_SKIPS_MAX 32 /* n < 2^31 */

/** ceil(log2 n), for n >= 1. */
static inline int strag_log2_ceil(int n)
{
    int log = 0;
    while (log < STRAG_SKIPS_MAX - 1 && n > 1LL << log)
        log++;
    return log;
}

/** The greatest common divisor; of 0 and b it is b. */
static inline int64_t strag_gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/** Fill in s[q] = n, s[k] = ceil(s[k+1] / 2), down to s[0] = 1. @return q = ceil(log2 n) */
static inline int strag_skips(int n, int s[STRAG_SKIPS_MAX])
{
    int q = strag_log2_ceil(n);
    s[q] = n;
    for (int k = q - 1; k >= 0; k--)
        s[k] = s[k + 1] / 2 + s[k + 1] % 2;
    return q;
}

#endif
