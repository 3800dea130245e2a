/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/loss.h"

#include "detect/thresholds.h"

#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The state of a search through the calls. */
struct search {
    const struct strag_stays *ranks;
    int n;
    struct strag_common common;
    struct strag_clocks *clocks;
    double *sorted; /* [n]: a call's arrivals, then its durations */
    double *late;   /* [calls]: by how much the last rank was late; 0 if the call does not count */
    int *last;      /* [calls] */
    struct sum {
        uint64_t calls;
        double cost, alone;
    } * of; /* [n] */
};

/* Find the rank that came last, and sort all arrivals. */
static int find_last(const struct search *search, int call)
{
    int ranks = 0, last = -1;
    double latest = -INFINITY;
    for (int r = 0; r < search->n; r++) {
        if (!strag_stays_known(&search->ranks[r]))
            continue;
        const double begin = strag_common_stay(&search->common, &search->ranks[r], call)->begin;
        const double arrival = strag_clocks_shift(search->clocks, r, begin);
        if (arrival > latest)
            last = r;
        latest = fmax(latest, arrival);
        search->sorted[ranks++] = arrival;
    }
    qsort(search->sorted, (size_t)ranks, sizeof *search->sorted, strag_compare_double);
    return last;
}

/* Sort the times that the ranks were in a call. */
static void find_durations(const struct search *search, int call)
{
    int ranks = 0;
    for (int r = 0; r < search->n; r++) {
        if (!strag_stays_known(&search->ranks[r]))
            continue;
        const struct strag_stay *stay = strag_common_stay(&search->common, &search->ranks[r], call);
        search->sorted[ranks++] = stay->end - stay->begin;
    }
    qsort(search->sorted, (size_t)ranks, sizeof *search->sorted, strag_compare_double);
}

/* @return the median rank's wait */
static double look_at(struct search *search, int call, struct strag_loss *loss)
{
    const double *sorted = search->sorted;
    const int ranks = search->common.ranks, last = find_last(search, call);
    const double latest = sorted[ranks - 1];
    const double wait = latest - sorted[(ranks - 1) / 2], alone = latest - sorted[ranks - 2];
    find_durations(search, call);
    const bool counts = wait > STRAG_BEHIND * sorted[0];
    loss->own += sorted[0];
    loss->seconds += sorted[ranks / 2];
    search->last[call] = last;
    search->late[call] = counts ? wait : 0;
    if (!counts)
        return 0;
    search->of[last].calls++;
    search->of[last].cost += wait;
    search->of[last].alone += alone;
    return wait;
}

/* The median of how late a rank was in the calls in which it was last. */
static double median_of(const struct search *search, int rank, double *late)
{
    int count = 0;
    for (int c = 0; c < search->common.calls; c++)
        if (search->last[c] == rank && search->late[c] > 0)
            late[count++] = search->late[c];
    qsort(late, (size_t)count, sizeof *late, strag_compare_double);
    return count ? late[count / 2] : 0;
}

/* @param late  scratch for all calls @param scale  from the sampled calls to all */
static void name_ranks(const struct search *search, double scale, double *late,
                       struct strag_loss *loss)
{
    for (int i = 0; i < STRAG_LOSS_OFTEN; i++) {
        int most = -1;
        for (int r = 0; r < search->n; r++)
            if (search->of[r].calls > 0 && (most < 0 || search->of[r].cost > search->of[most].cost))
                most = r;
        if (most < 0)
            return;
        loss->of[i] = (struct strag_loss_of){.rank = most,
                                             .calls = search->of[most].calls,
                                             .cost = scale * search->of[most].cost,
                                             .alone = scale * search->of[most].alone,
                                             .median = median_of(search, most, late)};
        search->of[most].calls = 0;
    }
}

/* @return the factor by which sums over the sampled calls become those of all calls */
static double scale_of(const struct search *search)
{
    double seen = 0, seconds = 0;
    for (int r = 0; r < search->n; r++) {
        if (!strag_stays_known(&search->ranks[r]))
            continue;
        seconds += search->ranks[r].seconds;
        for (int c = 0; c < search->common.calls; c++) {
            const struct strag_stay *stay =
                strag_common_stay(&search->common, &search->ranks[r], c);
            seen += stay->end - stay->begin;
        }
    }
    return seen > 0 ? seconds / seen : 0;
}

static void find(struct search *search, double *late, struct strag_loss *loss)
{
    const double scale = scale_of(search);
    for (int c = 0; c < search->common.calls; c++)
        loss->lost += look_at(search, c, loss);
    loss->calls = (uint64_t)search->common.calls;
    loss->seconds *= scale;
    loss->own *= scale;
    loss->lost *= scale;
    name_ranks(search, scale, late, loss);
}

int strag_loss_find(const struct strag_stays *ranks, int n, struct strag_loss *loss)
{
    struct search search = {.ranks = ranks, .n = n, .common = strag_common_find(ranks, n)};
    *loss = (struct strag_loss){.ranks = search.common.ranks};
    if (search.common.calls == 0)
        return STRAG_OK;
    const size_t calls = (size_t)search.common.calls;
    double *late = malloc(calls * sizeof *late);
    search.sorted = malloc((size_t)n * sizeof *search.sorted);
    search.late = malloc(calls * sizeof *search.late);
    search.last = malloc(calls * sizeof *search.last);
    search.of = calloc((size_t)n, sizeof *search.of);
    const bool able = late && search.sorted && search.late && search.last && search.of &&
                      strag_clocks_find(ranks, n, &search.common, &search.clocks) == STRAG_OK;
    if (able)
        find(&search, late, loss);
    strag_clocks_free(search.clocks);
    free(late);
    free(search.sorted);
    free(search.late);
    free(search.last);
    free(search.of);
    return able ? STRAG_OK : STRAG_ERR_MEMORY;
}
