/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each call of a window gives at most one rank a point: the last one, if it is late by enough.
 * Points of this window and of the one before are what is decided on. All is computed from the
 * notes of all ranks in the same order, so it is the same everywhere.
 */
#include "observe.h"

#include <stdlib.h>
#include <string.h>

enum {
    NOBODY = -1,
    REMEMBERED = 1024, /* calls of which the last rank and its delay are kept for the report */
};

/* A call's last rank. */
struct last {
    int32_t rank; /* NOBODY: none by enough */
    float delay;  /* seconds */
};

struct strag_observer {
    struct strag_observe_options options;
    int n;

    uint64_t added;           /* calls of this rank */
    struct strag_note *own;   /* [window]: being filled */
    struct strag_note *notes; /* [window]: the last full one */

    struct last *recent; /* [2 * window]: of the window before, then of this one */
    int known;           /* calls in there: 0, window or 2 * window */
    int32_t *points;     /* [rank]: in the calls of `recent` */
    float *sorted;       /* room for 2 * window delays */
    struct strag_verdict verdict;

    uint64_t calls;
    uint64_t *times_last; /* [rank] */
    struct last *history; /* [REMEMBERED]: call c is at c % REMEMBERED */
    int switches;
    double saved;
};

struct strag_observe_options strag_observe_default(void)
{
    return (struct strag_observe_options){
        .window = 50, .share_on = 0.75, .share_off = 0.4, .least = 0.1};
}

/* ---- Making one ---- */

static int check(int n, const struct strag_observe_options *options, struct strag_error *err)
{
    if (n < 2)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d ranks to observe; at least 2 are needed", n);
    if (options->window < 2 || options->window > STRAG_WINDOW_MAX)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "a window of %d calls; 2 to %d are accepted",
                          options->window, STRAG_WINDOW_MAX);
    if (!(options->share_on > 0.5 && options->share_on <= 1))
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "late in a share of %g; above 0.5 to 1 is accepted", options->share_on);
    if (!(options->share_off > 0 && options->share_off < options->share_on))
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "no longer late below a share of %g; above 0 to below %g is accepted",
                          options->share_off, options->share_on);
    if (!(options->least >= 0))
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "late by %g of a call's time; 0 or more is accepted", options->least);
    return STRAG_OK;
}

int strag_observer_create(int n, const struct strag_observe_options *options,
                          struct strag_observer **observer, struct strag_error *err)
{
    int status = check(n, options, err);
    if (status != STRAG_OK)
        return status;
    size_t ranks = (size_t)n, window = (size_t)options->window;
    struct strag_observer *made = calloc(1, sizeof *made);
    if (made) {
        made->options = *options;
        made->n = n;
        made->verdict.rank = NOBODY;
        made->own = calloc(window, sizeof *made->own);
        made->notes = calloc(window, sizeof *made->notes);
        made->recent = calloc(2 * window, sizeof *made->recent);
        made->points = calloc(ranks, sizeof *made->points);
        made->sorted = calloc(2 * window > REMEMBERED ? 2 * window : REMEMBERED, sizeof(float));
        made->times_last = calloc(ranks, sizeof *made->times_last);
        made->history = calloc(REMEMBERED, sizeof *made->history);
    }
    if (!made || !made->own || !made->notes || !made->recent || !made->points || !made->sorted ||
        !made->times_last || !made->history) {
        strag_observer_free(made);
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for observing %d ranks", n);
    }
    *observer = made;
    return STRAG_OK;
}

void strag_observer_free(struct strag_observer *observer)
{
    if (!observer)
        return;
    free(observer->own);
    free(observer->notes);
    free(observer->recent);
    free(observer->points);
    free(observer->sorted);
    free(observer->times_last);
    free(observer->history);
    free(observer);
}

/* ---- This rank's calls ---- */

enum strag_observe_step strag_observer_add(struct strag_observer *observer, struct strag_note note)
{
    uint64_t window = (uint64_t)observer->options.window, at = observer->added++ % window;
    observer->own[at] = note;
    if (at + 1 == window) {
        memcpy(observer->notes, observer->own, (size_t)window * sizeof *observer->own);
        return STRAG_OBSERVE_SEND;
    }
    bool sent = observer->added > window;
    return sent && at + 1 == window / 2 ? STRAG_OBSERVE_DECIDE : STRAG_OBSERVE_NOTHING;
}

const struct strag_note *strag_observer_notes(const struct strag_observer *observer, size_t *bytes)
{
    *bytes = (size_t)observer->options.window * sizeof *observer->notes;
    return observer->notes;
}

/* ---- The verdict ---- */

/* Who was last in a call. A duration that is not above 0 was not measured: then nobody was. */
static struct last find_last(const struct strag_observer *observer, const struct strag_note *notes)
{
    struct last last = {NOBODY, 0};
    float shortest = 0, second = 0;
    for (int rank = 0; rank < observer->n; rank++) {
        float seconds = notes[(size_t)rank * (size_t)observer->options.window].seconds;
        if (!(seconds > 0))
            return (struct last){NOBODY, 0};
        if (rank == 0 || seconds < shortest) {
            second = shortest;
            shortest = seconds;
            last.rank = rank;
        } else if (rank == 1 || seconds < second) {
            second = seconds;
        }
    }
    last.delay = second - shortest;
    if (!((double)last.delay > observer->options.least * (double)shortest))
        last.rank = NOBODY;
    return last;
}

/* The window before gives way to this one, and this one to the new one. */
static void take_over(struct strag_observer *observer, const struct strag_note *notes)
{
    int window = observer->options.window;
    memmove(observer->recent, observer->recent + window, (size_t)window * sizeof *observer->recent);
    for (int call = 0; call < window; call++) {
        struct last last = find_last(observer, notes + call);
        observer->recent[window + call] = last;
        observer->history[observer->calls++ % REMEMBERED] = last;
        if (last.rank != NOBODY)
            observer->times_last[last.rank]++;
    }
    observer->known = observer->known ? 2 * window : window;
}

/* Who has the most points, of equals the lowest. */
static int count_points(struct strag_observer *observer)
{
    int best = NOBODY;
    memset(observer->points, 0, (size_t)observer->n * sizeof *observer->points);
    for (int i = 2 * observer->options.window - observer->known; i < 2 * observer->options.window;
         i++) {
        if (observer->recent[i].rank != NOBODY)
            observer->points[observer->recent[i].rank]++;
    }
    for (int rank = 0; rank < observer->n; rank++) {
        if (observer->points[rank] > (best == NOBODY ? 0 : observer->points[best]))
            best = rank;
    }
    return best;
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* A rank's delays in a list of calls, in order. @return how many */
static int sort_delays(const struct last *calls, int ncalls, int rank, float *sorted)
{
    int count = 0;
    for (int i = 0; i < ncalls; i++) {
        if (calls[i].rank == rank)
            sorted[count++] = calls[i].delay;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, compare_floats);
    return count;
}

/* Does the delay differ by a half? */
static bool is_other_delay(double a, double b)
{
    return a > 1.5 * b || b > 1.5 * a;
}

struct strag_verdict strag_observer_decide(struct strag_observer *observer,
                                           const struct strag_note *notes)
{
    const struct strag_observe_options *options = &observer->options;
    int before = observer->verdict.rank, now = before;
    take_over(observer, notes);
    int most = count_points(observer);
    if (before != NOBODY && observer->points[before] < options->share_off * observer->known)
        now = NOBODY;
    /* Nobody is named from a single window. */
    if (most != NOBODY && observer->known == 2 * options->window &&
        observer->points[most] >= options->share_on * observer->known)
        now = most;
    double delay = 0;
    if (now != NOBODY) {
        int count = sort_delays(observer->recent, 2 * options->window, now, observer->sorted);
        delay = (double)observer->sorted[count / 2];
    }
    observer->verdict.changed = now != before || is_other_delay(delay, observer->verdict.delay);
    /* A delay that is much the same is not followed. */
    if (observer->verdict.changed)
        observer->verdict.delay = delay;
    observer->verdict.rank = now;
    observer->switches += now != before;
    return observer->verdict;
}

struct strag_verdict strag_observer_verdict(const struct strag_observer *observer)
{
    return observer->verdict;
}

/* ---- The report ---- */

void strag_observer_saved(struct strag_observer *observer, double seconds)
{
    observer->saved += seconds;
}

struct strag_observed strag_observer_report(const struct strag_observer *observer)
{
    struct strag_observed report = {
        .calls = observer->calls,
        .rank = NOBODY,
        .switches = observer->switches,
        .saved = observer->saved,
    };
    uint64_t most = 0;
    for (int rank = 0; rank < observer->n; rank++) {
        if (observer->times_last[rank] > most) {
            most = observer->times_last[rank];
            report.rank = rank;
        }
    }
    if (report.rank == NOBODY)
        return report;
    report.share = (double)most / (double)observer->calls;
    int known = observer->calls < REMEMBERED ? (int)observer->calls : REMEMBERED;
    int count = sort_delays(observer->history, known, report.rank, observer->sorted);
    if (count > 0) {
        report.median = (double)observer->sorted[(count - 1) / 2];
        report.percentile95 = (double)observer->sorted[(count * 95 + 99) / 100 - 1];
    }
    return report;
}
