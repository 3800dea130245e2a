/* SPDX-License-Identifier: BSD-3-Clause */
/* value * numerator / denominator, with a product that may not fit into 64 bits. */
#ifndef STRAG_SCALE_H
#define STRAG_SCALE_H

#include <stdint.h>

/**
 * @param denominator  from 1 to 2^62
 * @return rounded down; must fit into 64 bits
 */
static inline uint64_t strag_scale(uint64_t value, uint64_t numerator, uint64_t denominator)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)value * numerator / denominator);
#else /* 32-bit processors: the numerator bit by bit, if the product does not fit */
    uint64_t quotient, rest = 0;
    if (!__builtin_mul_overflow(value, numerator, &quotient))
        return quotient / denominator;
    const uint64_t whole = value / denominator, part = value % denominator;
    quotient = 0;
    for (int bit = 63 - __builtin_clzll(numerator); bit >= 0; bit--) {
        quotient *= 2;
        rest *= 2;
        if (numerator >> bit & 1) {
            quotient += whole;
            rest += part;
        }
        for (; rest >= denominator; rest -= denominator)
            quotient++;
    }
    return quotient;
#endif
}

#endif
