/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/clocks.h"

#include "base/text.h"

#include <stdlib.h>

enum { IN_A_ROW = 32 }; /* calls of which the median is taken */

/* By how much a clock is ahead at `time` by that clock. */
struct point {
    double time, ahead;
};

struct strag_clocks {
    int n, others;
    int *clock;              /* [rank]: number of its clock; 0 is the first known rank's */
    int points;              /* of each clock */
    struct point *points_of; /* [others * points] */
};

struct strag_common strag_common_find(const struct strag_stays *ranks, int n)
{
    struct strag_common common = {.every = 1};
    uint64_t end = UINT64_MAX;
    for (int r = 0; r < n; r++) {
        if (!strag_stays_known(&ranks[r]))
            continue;
        const uint64_t beyond = (uint64_t)(ranks[r].kept - 1) * ranks[r].every + 1;
        end = beyond < end ? beyond : end;
        common.every = ranks[r].every > common.every ? ranks[r].every : common.every;
        common.ranks++;
    }
    if (common.ranks >= 2)
        common.calls = (int)((end + common.every - 1) / common.every);
    return common;
}

/* ---- Points ---- */

/* Number the clocks. @param lowest  [n]: the lowest rank of each clock */
static void number_clocks(struct strag_clocks *clocks, const struct strag_stays *ranks, int *lowest)
{
    int count = 0;
    for (int r = 0; r < clocks->n; r++) {
        int c = 0;
        if (!strag_stays_known(&ranks[r]))
            continue;
        while (c < count && ranks[lowest[c]].clock != ranks[r].clock)
            c++;
        if (c == count)
            lowest[count++] = r;
        clocks->clock[r] = c;
    }
    clocks->others = count > 0 ? count - 1 : 0;
}

/* The difference of two ranks' clocks, from the ends of calls. */
static struct point find_point(const struct strag_stays *rank, const struct strag_stays *first,
                               const struct strag_common *common, int from)
{
    double ahead[IN_A_ROW] = {0};
    const int left = common->calls - from, count = left < IN_A_ROW ? left : IN_A_ROW;
    for (int i = 0; i < count; i++)
        ahead[i] = strag_common_stay(common, rank, from + i)->end -
                   strag_common_stay(common, first, from + i)->end;
    qsort(ahead, (size_t)count, sizeof *ahead, strag_compare_double);
    return (struct point){strag_common_stay(common, rank, from + count / 2)->end, ahead[count / 2]};
}

static bool make(struct strag_clocks *clocks, const struct strag_stays *ranks,
                 const struct strag_common *common)
{
    int *lowest = calloc((size_t)clocks->n, sizeof *lowest);
    clocks->clock = calloc((size_t)clocks->n, sizeof *clocks->clock);
    if (!lowest || !clocks->clock) {
        free(lowest);
        return false;
    }
    number_clocks(clocks, ranks, lowest);
    /* no point is made from a few left-over calls: the last one covers them */
    clocks->points = common->calls / IN_A_ROW > 0 ? common->calls / IN_A_ROW : common->calls > 0;
    clocks->points_of =
        calloc((size_t)clocks->others * (size_t)clocks->points + 1, sizeof *clocks->points_of);
    for (int o = 0; clocks->points_of && o < clocks->others; o++)
        for (int p = 0; p < clocks->points; p++)
            clocks->points_of[o * clocks->points + p] =
                find_point(&ranks[lowest[o + 1]], &ranks[lowest[0]], common, p * IN_A_ROW);
    free(lowest);
    return NULL != clocks->points_of;
}

int strag_clocks_find(const struct strag_stays *ranks, int n, const struct strag_common *common,
                      struct strag_clocks **out)
{
    struct strag_clocks *clocks = calloc(1, sizeof *clocks);
    if (!clocks)
        return STRAG_ERR_MEMORY;
    clocks->n = n;
    if (!make(clocks, ranks, common)) {
        strag_clocks_free(clocks);
        return STRAG_ERR_MEMORY;
    }
    *out = clocks;
    return STRAG_OK;
}

void strag_clocks_free(struct strag_clocks *clocks)
{
    if (!clocks)
        return;
    free(clocks->clock);
    free(clocks->points_of);
    free(clocks);
}

double strag_clocks_shift(const struct strag_clocks *clocks, int rank, double time)
{
    const int clock = clocks->clock[rank], points = clocks->points;
    if (clock == 0 || points == 0)
        return time;
    const struct point *point = &clocks->points_of[(clock - 1) * points];
    int low = 0, high = points - 1;
    if (points == 1)
        return time - point->ahead;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (point[middle].time <= time)
            low = middle;
        else
            high = middle;
    }
    const double between = point[high].time - point[low].time;
    const double part = between > 0 ? (time - point[low].time) / between : 0;
    /* outside of the medians, extrapolate from the two nearest ones */
    return time - point[low].ahead - part * (point[high].ahead - point[low].ahead);
}
