/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each call gives a point to the last rank, to the last two and to the last three together, if they
 * are late by enough. The verdict is based on the points of the latest calls.
 */
#include "detect/observe.h"

#include "base/text.h"
#include "detect/thresholds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NONE = -1,
    RECENT = STRAG_RECENT * STRAG_WINDOW_CALLS, /* calls that can name a straggler, ... */
    LATEST = RECENT / 2,     /* ... and that show its delay, and whether it is still late */
    MISS = STRAG_ALL_OF - 1, /* calls that a miss takes back: a call in which others are last */
};

struct strag_observer {
    int most;                         /* stragglers together: fewer than half of the ranks */
    int needed;                       /* calls that it takes to name one */
    struct strag_last recent[RECENT]; /* the latest calls, the last window's at the end */
    int known, now;                   /* recent calls; those of the last window */
    struct strag_verdict verdict;

    /* These have no delays: */
    struct strag_late suspect; /* found from durations, and being examined closely */
    double suspected;          /* their apparent delay, relative to the call's time */
    struct strag_late refuted; /* the last suspicion that was refuted */
    double refuted_was;        /* its apparent delay then */
};

/* How many calls in a row must have the same last rank, and the one before them. */
static int needed_of(int n)
{
    const int chance = (int)ceil(-log(STRAG_BY_CHANCE) / log(fmax(n, 2)));
    return 1 + (chance > STRAG_ALL_OF ? chance : STRAG_ALL_OF);
}

int strag_calls_to_name(int n)
{
    return STRAG_CALLS_TO_NAME + needed_of(n) - (1 + STRAG_ALL_OF);
}

struct strag_observer *strag_observer_create(int n)
{
    struct strag_observer *observer = calloc(1, sizeof *observer);
    if (!observer)
        return NULL;
    const int few = (n - 1) / 2;
    observer->most = few < 1 ? 1 : few < STRAG_STRAGGLERS_MAX ? few : STRAG_STRAGGLERS_MAX;
    observer->needed = needed_of(n);
    return observer;
}

void strag_observer_free(struct strag_observer *observer)
{
    free(observer);
}

/* ---- Who was last ---- */

/* By how much the last `count` ranks came later than any other. @return 0 if not by enough */
static double gap(const struct strag_last *call, int count)
{
    const double before = (double)call->order[count].seconds;
    const double by = before - (double)call->order[count - 1].seconds;
    return call->seconds > 0 && by > STRAG_BEHIND * (double)call->seconds && by < INFINITY ? before
                                                                                           : 0;
}

static bool is_among(const struct strag_late *late, int rank)
{
    int i = 0;
    while (i < late->count && late->rank[i].rank != rank)
        i++;
    return i < late->count;
}

bool strag_late_is_same(const struct strag_late *a, const struct strag_late *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = is_among(b, a->rank[i].rank);
    return same;
}

double strag_last_delay(const struct strag_last *call, const struct strag_late *late)
{
    bool last = late->count > 0;
    for (int i = 0; last && i < late->count; i++)
        last = is_among(late, call->order[i].rank);
    return last ? gap(call, late->count) : 0;
}

/* The last ranks of a call. */
static struct strag_late last_of(const struct strag_last *call, int count)
{
    struct strag_late late = {.count = count};
    for (int i = 0; i < count; i++)
        late.rank[i].rank = call->order[i].rank;
    return late;
}

static struct strag_last find_last(const struct strag_call_sample *sample)
{
    const struct strag_time *order = strag_call_sample_order(sample);
    struct strag_last last = {.close = order == sample->wait};
    if (sample->stay[0].seconds > 0 && sample->stay[0].seconds < INFINITY)
        last.seconds = sample->stay[0].seconds;
    for (int i = 0; i < STRAG_SHORTEST; i++)
        last.order[i] = (struct strag_time){order[i].rank, order[i].seconds - order[0].seconds};
    return last;
}

static void take_over(struct strag_observer *observer, const struct strag_call_sample *calls,
                      int count)
{
    const int kept = observer->known < RECENT - count ? observer->known : RECENT - count;
    memmove(observer->recent, observer->recent + observer->known - kept,
            (size_t)kept * sizeof *observer->recent);
    observer->known = kept + count;
    observer->now = count;
    for (int c = 0; c < count; c++)
        observer->recent[kept + c] = find_last(&calls[c]);
}

/* ---- Points ---- */

struct count {
    int calls;
    struct strag_late most; /* the ranks that were last most often, ... */
    int points;             /* ... and how often */
};

/* @param close  count calls that were examined closely, else the others */
static int points_of(const struct strag_last *calls, int ncalls, bool close,
                     const struct strag_late *late)
{
    int points = 0;
    for (int i = 0; i < ncalls; i++)
        points += calls[i].close == close && strag_last_delay(&calls[i], late) > 0;
    return points;
}

/* @param together  how many ranks are last together */
static struct count count_points(const struct strag_last *calls, int ncalls, bool close,
                                 int together)
{
    struct count count = {.calls = 0};
    for (int i = 0; i < ncalls; i++) {
        if (calls[i].close != close)
            continue;
        count.calls++;
        const struct strag_late late = last_of(&calls[i], together);
        if (!(gap(&calls[i], together) > 0) || strag_late_is_same(&late, &count.most))
            continue;
        const int points = points_of(calls, ncalls, close, &late);
        if (points <= count.points)
            continue;
        count.points = points;
        count.most = late;
    }
    return count;
}

/* How much later than all others one of these ranks came: the median over the calls in which they
 * were last. @param rank  NONE for the last one @param relative  to the call's time
 * @return seconds, or a part of the call; 0 if there is no such call */
static double median_delay(const struct strag_last *calls, int ncalls,
                           const struct strag_late *late, int rank, bool relative)
{
    float sorted[RECENT] = {0};
    int count = 0;
    for (int c = 0; c < ncalls; c++) {
        double delay = strag_last_delay(&calls[c], late);
        if (!(delay > 0) || calls[c].close == relative)
            continue;
        for (int i = 0; i < late->count; i++)
            delay -= calls[c].order[i].rank == rank ? (double)calls[c].order[i].seconds : 0;
        sorted[count++] = (float)delay / (relative ? calls[c].seconds : 1);
    }
    qsort(sorted, (size_t)count, sizeof *sorted, strag_compare_float);
    return count > 0 ? (double)sorted[count / 2] : 0;
}

/* ---- The verdict ---- */

/* The suspicion counts as one call, and every miss takes back MISS calls. */
static bool is_enough(const struct strag_observer *observer, const struct count *count)
{
    bool suspected = count->most.count > 0;
    for (int i = 0; i < count->most.count; i++)
        suspected = suspected && is_among(&observer->suspect, count->most.rank[i].rank);
    const int misses = count->calls - count->points;
    return count->points > 0 && count->calls + suspected - MISS * misses >= observer->needed;
}

static int count_latest(const struct strag_observer *observer)
{
    return observer->known < LATEST ? observer->known : LATEST;
}

/* The stragglers, from the calls examined closely: the largest group that is late together. */
static struct strag_late find_late(const struct strag_observer *observer)
{
    const struct strag_last *recent = observer->recent;
    const int known = observer->known, latest = count_latest(observer);
    const struct strag_late *before = &observer->verdict.late;
    for (int together = observer->most; together > 0; together--) {
        const struct count count = count_points(recent, known, true, together);
        if (is_enough(observer, &count))
            return count.most;
    }
    recent += known - latest;
    const bool still =
        2 * points_of(recent, latest, true, before) >= count_points(recent, latest, true, 1).calls;
    return still ? *before : (struct strag_late){.count = 0};
}

/* Set the ranks' delays in the latest calls, and sort them, the last to arrive first. */
static void set_delays(const struct strag_observer *observer, struct strag_late *late)
{
    const struct strag_late found = *late;
    const int latest = count_latest(observer);
    const struct strag_last *calls = observer->recent + observer->known - latest;
    struct strag_state_record sorted = {.nstragglers = 0};
    for (int i = 0; i < found.count; i++) {
        const int rank = found.rank[i].rank;
        const double delay = median_delay(calls, latest, &found, rank, false);
        strag_state_add_straggler(&sorted, (struct strag_straggler){rank, delay});
    }
    memcpy(late->rank, sorted.straggler, sizeof late->rank);
}

/* Are these other ranks, or has a delay changed by more than STRAG_MUCH_MORE? */
static bool is_news(const struct strag_late *before, const struct strag_late *now)
{
    bool same = strag_late_is_same(before, now);
    for (int i = 0; same && i < now->count; i++) {
        const double a = before->rank[i].delay, b = now->rank[i].delay;
        same = a <= STRAG_MUCH_MORE * b && b <= STRAG_MUCH_MORE * a;
    }
    return !same;
}

/* Do the two have a rank in common? */
static bool is_among_any(const struct strag_late *late, const struct strag_late *other)
{
    int i = 0;
    while (i < other->count && !is_among(late, other->rank[i].rank))
        i++;
    return i < other->count;
}

/* Suspect ranks from durations. With a single miss nobody is suspected, but calls are examined: one
 * of the first two may have made connections. @return calls to examine, enough to name a
 * straggler */
static int suspect(struct strag_observer *observer, const struct strag_last *window)
{
    const struct strag_late refuted = observer->refuted;
    int look = 0;
    observer->refuted.count = 0; /* restored below if the ranks still seem late */
    for (int together = observer->most; together > 0; together--) {
        const struct count count = count_points(window, observer->now, false, together);
        const double delay = median_delay(window, observer->now, &count.most, NONE, true);
        const int misses = count.calls - count.points;
        if (count.points == 0)
            continue;
        if (is_among_any(&refuted, &count.most)) {
            observer->refuted = refuted;
            if (delay <= STRAG_MUCH_MORE * observer->refuted_was)
                continue;
        }
        if (MISS * misses <= count.calls) {
            observer->suspect = count.most;
            observer->suspected = delay;
            return observer->needed - 1;
        }
        look = misses == 1 ? observer->needed : look;
    }
    return look;
}

/* Is a closer look needed while there is no straggler? @return the number of calls to examine */
static int suspects(struct strag_observer *observer)
{
    const struct strag_last *window = observer->recent + observer->known - observer->now;
    const int close = count_points(window, observer->now, true, 1).calls;
    int points = 0;
    if (close == 0)
        return suspect(observer, window);
    for (int together = 1; together <= observer->most; together++) {
        const struct count count = count_points(window, observer->now, true, together);
        points = count.points > points ? count.points : points;
    }
    if (2 * points > close)
        return STRAG_WINDOW_CALLS;
    if (observer->suspect.count > 0 && MISS * points < close) {
        observer->refuted = observer->suspect;
        observer->refuted_was = observer->suspected;
        observer->suspect.count = 0;
    }
    return 0;
}

struct strag_verdict strag_observer_decide(struct strag_observer *observer,
                                           const struct strag_call_sample *calls, int count)
{
    struct strag_verdict *verdict = &observer->verdict;
    take_over(observer, calls, count);
    struct strag_late late = find_late(observer);
    set_delays(observer, &late);
    if (is_news(&verdict->late, &late))
        verdict->late = late;
    verdict->look = suspects(observer);
    if (late.count > 0)
        verdict->look = STRAG_WINDOW_CALLS;
    return *verdict;
}

const struct strag_last *strag_observer_call(const struct strag_observer *observer, int call)
{
    return &observer->recent[observer->known - observer->now + call];
}
