/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/kept.h"

void strag_kept_init(struct strag_kept *kept)
{
    *kept = (struct strag_kept){.replaced = 0};
    for (int k = 0; k < STRAG_KEPT; k++)
        kept->rank[k] = -1;
}

int strag_kept_find(struct strag_kept *kept, int rank, uint64_t call, bool *made)
{
    int place = 0;
    *made = false;
    for (int k = 0; k < STRAG_KEPT && kept->rank[place] != rank; k++) {
        if (kept->rank[k] == rank || kept->used[k] < kept->used[place])
            place = k;
    }
    if (kept->rank[place] != rank) {
        const bool taken = kept->rank[place] >= 0;
        if (taken && call - kept->replaced < STRAG_KEPT)
            return -1;
        kept->replaced = taken ? call : kept->replaced;
        kept->rank[place] = rank;
        *made = true;
    }
    kept->used[place] = call;
    return place;
}
