/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/compact.h"

#include <stdlib.h>
#include <string.h>

bool strag_compact_make(const int32_t *values, int n, struct strag_compact *compact)
{
    const size_t count = (size_t)n;
    const int64_t step = n > 1 ? (int64_t)values[1] - values[0] : 0;
    bool narrow = true, even = true;
    for (int i = 0; i < n; i++) {
        narrow = narrow && values[i] <= UINT16_MAX;
        even = even && values[i] == values[0] + i * step;
    }
    *compact = (struct strag_compact){.first = values[0], .step = (int32_t)step};
    if (even)
        return true;
    if (narrow)
        compact->narrow = malloc(count * sizeof *compact->narrow);
    else
        compact->wide = malloc(count * sizeof *compact->wide);
    if (compact->wide)
        memcpy(compact->wide, values, count * sizeof *values);
    for (int i = 0; compact->narrow && i < n; i++)
        compact->narrow[i] = (uint16_t)values[i];
    return compact->narrow || compact->wide;
}

void strag_compact_free(struct strag_compact *compact)
{
    free(compact->narrow);
    free(compact->wide);
}
