/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays with a number for each rank, in few bytes. */
#ifndef STRAG_COMPACT_H
#define STRAG_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

struct strag_compact {
    uint16_t *narrow;    /* used if all values are below 65,536, ... */
    int32_t *wide;       /* ... else this; both are NULL if each value is the one before it ... */
    int32_t first, step; /* ... plus this */
};

/**
 * @param values   [n], n at least 1, each 0 or more
 * @param[out] compact  to be freed with strag_compact_free
 * @return false if out of memory; then there is nothing to free
 */
bool strag_compact_make(const int32_t *values, int n, struct strag_compact *compact);

/** A zeroed array is allowed. */
void strag_compact_free(struct strag_compact *compact);

static inline int32_t strag_compact_at(const struct strag_compact *compact, int i)
{
    return compact->narrow ? (int32_t)compact->narrow[i]
           : compact->wide ? compact->wide[i]
                           : compact->first + i * compact->step;
}

#endif
