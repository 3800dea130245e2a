/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that are as long as there are ranks, in as few bytes as do. */
#ifndef STRAG_NUMBERS_H
#define STRAG_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

struct strag_numbers {
    uint16_t *narrow; /* where all are below 65,536 */
    int32_t *wide;    /* else; one of the two is NULL */
};

/**
 * @param values   n of them, 0 or more
 * @param[out] numbers  to be freed with strag_numbers_free
 * @return false: out of memory, and there is nothing to free
 */
bool strag_numbers_make(const int32_t *values, int n, struct strag_numbers *numbers);

/** All zero is allowed. */
void strag_numbers_free(struct strag_numbers *numbers);

static inline int32_t strag_number_at(const struct strag_numbers *numbers, int i)
{
    return numbers->narrow ? (int32_t)numbers->narrow[i] : numbers->wide[i];
}

#endif
