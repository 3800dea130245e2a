/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each call gives a point to the rank that was last in it, if it is late by enough. The verdict is
 * based on the points of the latest calls.
 */
#include "detect/observe.h"

#include "base/text.h"
#include "detect/often.h"
#include "detect/thresholds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NONE = -1,
    RECENT = 4 * STRAG_WINDOW_CALLS, /* calls that name a straggler, */
    LATEST = RECENT / 2,             /* ... and those that show that it is late no more */
    REMEMBERED = 512,                /* calls whose last rank and delay are kept for the report */
    FORGET = 64,                     /* windows after which a refuted suspicion may come up again */
};

struct strag_observer {
    struct strag_last recent[RECENT]; /* the latest calls, the last window's at the end */
    int known, now;                   /* how many these are; and of the last window */
    struct strag_verdict verdict;

    int suspect;        /* by durations, being examined closely; or NONE */
    double suspected;   /* its apparent delay, relative to the call's time */
    int refuted;        /* the rank of the last suspicion that was refuted; or NONE */
    double refuted_was; /* its apparent delay then */
    int refuted_for;    /* windows ago */

    uint64_t calls;                        /* examined closely */
    struct strag_often often;              /* who was last in these */
    struct strag_last history[REMEMBERED]; /* call c of these is at c % REMEMBERED */
    int switches;
    double saved, waited; /* seconds */
};

struct strag_observer *strag_observer_create(void)
{
    struct strag_observer *observer = calloc(1, sizeof *observer);
    if (observer)
        observer->verdict.rank = observer->suspect = observer->refuted = NONE;
    return observer;
}

void strag_observer_free(struct strag_observer *observer)
{
    free(observer);
}

/* ---- Who was last ---- */

static struct strag_last find_last(const struct strag_call_sample *sample)
{
    struct strag_last last = {.rank = NONE, .close = sample->wait.least >= 0};
    const struct strag_shortest *of = last.close ? &sample->wait : &sample->stay;
    if (sample->stay.least > 0 && sample->stay.least < INFINITY)
        last.seconds = sample->stay.least;
    last.delay = (float)strag_call_sample_delay(sample);
    if (last.seconds > 0 && (double)last.delay > STRAG_LATE * (double)last.seconds)
        last.rank = of->rank;
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
    for (int call = 0; call < count; call++) {
        const struct strag_last last = find_last(&calls[call]);
        observer->recent[kept + call] = last;
        if (!last.close)
            continue;
        observer->history[observer->calls++ % REMEMBERED] = last;
        if (last.rank == NONE)
            continue;
        observer->waited += (double)last.delay;
        strag_often_add(&observer->often, last.rank);
    }
}

/* ---- The verdict ---- */

struct count {
    int calls;
    int most;   /* the rank that was last most often, the lowest of equals; or NONE */
    int points; /* how often */
};

/* Of calls that were examined closely. */
static int points_of(const struct strag_last *calls, int ncalls, int rank)
{
    int points = 0;
    for (int i = 0; i < ncalls; i++)
        points += calls[i].close && calls[i].rank == rank;
    return points;
}

/* @param close  of those that were examined closely, else of the others */
static struct count count_points(const struct strag_last *calls, int ncalls, bool close)
{
    struct count count = {.most = NONE};
    for (int i = 0; i < ncalls; i++) {
        int points = 0;
        if (calls[i].close != close)
            continue;
        count.calls++;
        const int rank = calls[i].rank;
        for (int c = 0; c < ncalls && rank != NONE; c++)
            points += calls[c].close == close && calls[c].rank == rank;
        if (points > count.points || (points > 0 && points == count.points && rank < count.most)) {
            count.points = points;
            count.most = rank;
        }
    }
    return count;
}

/* A rank's delays in a list of calls, ascending. @return how many */
static int sort_delays(const struct strag_last *calls, int ncalls, int rank, float *sorted)
{
    int count = 0;
    for (int i = 0; i < ncalls; i++) {
        if (calls[i].rank == rank && calls[i].close)
            sorted[count++] = calls[i].delay;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, strag_compare_float);
    return count;
}

/* A rank's median delay in the last window, relative to the call's time. */
static double relative_delay(const struct strag_observer *observer, int rank)
{
    float sorted[STRAG_WINDOW_CALLS] = {0};
    int count = 0;
    for (int i = 0; i < observer->now; i++) {
        const struct strag_last *call = &observer->recent[observer->known - observer->now + i];
        if (call->rank == rank)
            sorted[count++] = call->delay / call->seconds;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, strag_compare_float);
    return count ? (double)sorted[count / 2] : 0;
}

/* Do the delays differ by a half? */
static bool is_other_delay(double a, double b)
{
    return a > 1.5 * b || b > 1.5 * a;
}

/* The straggler, from the calls examined closely. */
static int find_straggler(const struct strag_observer *observer)
{
    const struct strag_last *recent = observer->recent;
    const int known = observer->known, latest = known < LATEST ? known : LATEST;
    const struct count close = count_points(recent, known, true);
    const struct count late = count_points(recent + known - latest, latest, true);
    int now = observer->verdict.rank;
    if (now != NONE &&
        points_of(recent + known - latest, latest, now) < STRAG_STILL_LATE * late.calls)
        now = NONE;
    if (close.calls >= STRAG_ALL_OF &&
        STRAG_THEN_MISSES * (close.calls - close.points) <= close.calls - STRAG_ALL_OF)
        now = close.most;
    return now;
}

static void refute(struct strag_observer *observer)
{
    observer->refuted = observer->suspect;
    observer->refuted_was = observer->suspected;
    observer->refuted_for = 0;
    observer->suspect = NONE;
}

/* Is a closer look needed without a straggler? */
static bool suspects(struct strag_observer *observer)
{
    const struct strag_last *window = observer->recent + observer->known - observer->now;
    const struct count close = count_points(window, observer->now, true);
    const struct count all = count_points(window, observer->now, false);
    if (++observer->refuted_for > FORGET)
        observer->refuted = NONE;
    if (close.calls > 0) {
        if (observer->suspect != NONE && close.points < STRAG_STILL_LATE * close.calls)
            refute(observer);
        return 2 * close.points > close.calls;
    }
    if (all.most == NONE || 4 * all.points < 3 * all.calls)
        return false;
    const double delay = relative_delay(observer, all.most);
    if (all.most == observer->refuted && delay <= STRAG_MUCH_MORE * observer->refuted_was)
        return false;
    observer->suspect = all.most;
    observer->suspected = delay;
    return true;
}

struct strag_verdict strag_observer_decide(struct strag_observer *observer,
                                           const struct strag_call_sample *calls, int count)
{
    const int before = observer->verdict.rank;
    take_over(observer, calls, count);
    const int now = find_straggler(observer);
    double delay = 0;
    if (now != NONE) {
        float sorted[RECENT] = {0};
        const int delays = sort_delays(observer->recent, observer->known, now, sorted);
        delay = delays ? (double)sorted[delays / 2] : observer->verdict.delay;
    }
    observer->verdict.changed = now != before || is_other_delay(delay, observer->verdict.delay);
    if (observer->verdict.changed)
        observer->verdict.delay = delay;
    observer->verdict.rank = now;
    observer->switches += now != before;
    const bool look = suspects(observer);
    observer->verdict.look = look || now != NONE;
    return observer->verdict;
}

struct strag_last strag_observer_call(const struct strag_observer *observer, int call)
{
    return observer->recent[observer->known - observer->now + call];
}

/* ---- The report ---- */

void strag_observer_saved(struct strag_observer *observer, double seconds)
{
    observer->saved += seconds;
}

struct strag_observed strag_observer_report(const struct strag_observer *observer)
{
    const int known = observer->calls < REMEMBERED ? (int)observer->calls : REMEMBERED;
    struct strag_observed report = {
        .calls = observer->calls,
        .rank = strag_often_most(&observer->often),
        .switches = observer->switches,
        .saved = observer->saved,
        .waited = observer->waited,
    };
    float sorted[REMEMBERED] = {0};
    if (report.rank == NONE)
        return report;
    report.share =
        (double)strag_often_times(&observer->often, report.rank) / (double)observer->calls;
    const int count = sort_delays(observer->history, known, report.rank, sorted);
    report.median = count > 0 ? (double)sorted[(count - 1) / 2] : 0;
    return report;
}
