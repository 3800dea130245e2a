/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each call gives a point to the rank that was last in it, if it is late by enough. The verdict is
 * based on the points of this window and of the previous one. All ranks' notes are evaluated in the
 * same order, so the result is the same on every rank.
 */
#include "watch/observe.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NONE = -1,
    ANY = -2,          /* whichever rank */
    REMEMBERED = 1024, /* calls whose last rank and delay are kept for the report */
    FORGET = 64,       /* windows after which a refuted suspicion may come up again */
};

/* A refuted rank is suspected again if it seems late by so many times more. */
static const float more = 1.5F;

static const double a_little_less = 0.9;

/* A rank that is last in this share of the calls of two windows becomes the straggler; one that is
 * last in a smaller share is no longer the straggler. */
static const double share_on = 0.75, share_off = 0.4;

/* A rank counts as last in a call if it is late by more than this part of the call's time. */
static const double least_delay = 0.1;

/* A plan whose ranks come together has none that ends after more than so many times the median:
 * ranks folded into others have three rounds where the rest has two. */
static const double most_over_median = 2;

struct strag_observer {
    int n, longest; /* ranks; calls of a window at most */

    int lag;                  /* calls from a window's end to its verdict; 0: later() */
    int filled, window;       /* calls of the window being filled; how many it will have */
    int sent;                 /* calls of the last full window; 0: there was none */
    bool undecided;           /* it has been sent, and no verdict asked for */
    struct strag_note *own;   /* [longest]: of this rank's calls, and the caller's room */
    struct strag_note *early; /* a window's first, while the last one is being sent */
    int earlies;              /* of these, not yet among its own */

    struct strag_last *recent; /* [2 * longest]: the window before, then the one evaluated last */
    int before, now;           /* calls of these */
    int32_t *points;           /* [rank]: room to count */
    float *sorted;             /* room for 2 * longest delays */
    struct strag_verdict verdict;

    int suspect;          /* by durations, being looked at closely; or NONE */
    float suspected;      /* its apparent delay, relative to the call's time */
    float *refuted;       /* [rank]: a relative delay that was refuted */
    uint64_t refuted_for; /* windows */

    uint64_t calls;             /* looked at closely */
    uint64_t *times_last;       /* [rank]: in these */
    struct strag_last *history; /* [REMEMBERED]: call c of these is at c % REMEMBERED */
    int switches;
    double saved, waited, spent; /* seconds */
};

/* ---- Making one ---- */

/* What evaluating takes. @return false: out of memory */
static bool make_room(struct strag_observer *made)
{
    const size_t ranks = (size_t)made->n, window = (size_t)made->longest;
    made->recent = calloc(2 * window, sizeof *made->recent);
    made->points = calloc(ranks, sizeof *made->points);
    made->sorted = calloc(2 * window > REMEMBERED ? 2 * window : REMEMBERED, sizeof(float));
    made->refuted = calloc(ranks, sizeof *made->refuted);
    made->times_last = calloc(ranks, sizeof *made->times_last);
    made->history = calloc(REMEMBERED, sizeof *made->history);
    return made->recent && made->points && made->sorted && made->refuted && made->times_last &&
           made->history;
}

/* The notes have to arrive: so many calls after a window's end it is evaluated. */
static int later(int window)
{
    return window / 8 ? window / 8 : 1;
}

/* The same with what the caller has said. */
static int lag_of(const struct strag_observer *observer, int window)
{
    return observer->lag && observer->lag < later(window) ? observer->lag : later(window);
}

int strag_observer_create(int n, int calls, size_t room, struct strag_observer **observer,
                          struct strag_error *err)
{
    const size_t window = (size_t)calls;
    if (n < 2 && n != 0)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d ranks to observe; at least 2 are needed", n);
    if (calls < 2 || calls > STRAG_WINDOW_MAX)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "a window of %d calls; 2 to %d are accepted",
                          calls, STRAG_WINDOW_MAX);
    struct strag_observer *made = calloc(1, sizeof *made);
    if (made) {
        made->window = made->longest = calls;
        made->n = n;
        made->verdict.rank = NONE;
        made->own = calloc(1, window * sizeof *made->own + room);
        made->early = calloc((size_t)later(calls), sizeof *made->early);
        made->suspect = NONE;
    }
    if (!made || !made->own || !made->early || (n > 0 && !make_room(made))) {
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
    free(observer->early);
    free(observer->recent);
    free(observer->points);
    free(observer->sorted);
    free(observer->refuted);
    free(observer->times_last);
    free(observer->history);
    free(observer);
}

/* ---- This rank's calls ---- */

void strag_observer_set_lag(struct strag_observer *observer, int calls)
{
    observer->lag = calls;
}

void strag_observer_restart(struct strag_observer *observer)
{
    observer->filled = observer->earlies = 0;
    observer->undecided = false;
}

enum strag_observe_step strag_observer_add(struct strag_observer *observer, struct strag_note note)
{
    const int at = observer->filled++;
    if (!observer->undecided && observer->earlies > 0) {
        memcpy(observer->own, observer->early, (size_t)observer->earlies * sizeof *observer->early);
        observer->earlies = 0;
    }
    *(observer->undecided ? &observer->early[observer->earlies++] : &observer->own[at]) = note;
    if (observer->filled == observer->window) {
        observer->sent = observer->window;
        observer->filled = 0;
        observer->undecided = true;
        if (observer->window <= lag_of(observer, observer->sent))
            observer->window = lag_of(observer, observer->sent) + 1;
        return STRAG_OBSERVE_SEND;
    }
    if (!observer->undecided || observer->filled < lag_of(observer, observer->sent))
        return STRAG_OBSERVE_NOTHING;
    observer->undecided = false;
    return STRAG_OBSERVE_DECIDE;
}

void strag_observer_set_window(struct strag_observer *observer, int calls)
{
    int least = observer->filled + 1;
    if (observer->undecided && least <= lag_of(observer, observer->sent))
        least = lag_of(observer, observer->sent) + 1;
    observer->window = calls < least ? least : calls;
    if (observer->window > observer->longest)
        observer->window = observer->longest;
}

struct strag_note *strag_observer_notes(const struct strag_observer *observer, size_t *bytes)
{
    *bytes = (size_t)observer->sent * sizeof *observer->own;
    return observer->own;
}

/* ---- The verdict ---- */

/* A rank's note of a call. */
static const struct strag_note *note_of(const void *notes, size_t stride, int rank, int call)
{
    return (const struct strag_note *)((const char *)notes + (size_t)rank * stride) + call;
}

/* Sets `close` if all ranks measured their waits, and `seconds`. */
static struct strag_last look_at(const struct strag_observer *observer, const void *notes,
                                 size_t stride, int call)
{
    struct strag_last last = {.rank = NONE, .seconds = INFINITY, .close = true};
    for (int rank = 0; rank < observer->n; rank++) {
        const struct strag_note *note = note_of(notes, stride, rank, call);
        last.close = last.close && note->wait >= 0;
        if (!(note->seconds > 0))
            last.seconds = 0;
        else if (note->seconds < last.seconds)
            last.seconds = note->seconds;
    }
    return last;
}

/* The rank with the shortest wait in a call or, without waits, the shortest duration. */
static struct strag_last find_last(const struct strag_observer *observer, const void *notes,
                                   size_t stride, int call)
{
    struct strag_last last = look_at(observer, notes, stride, call);
    float shortest = INFINITY, second = INFINITY;
    int first = NONE;
    for (int rank = 0; rank < observer->n; rank++) {
        const struct strag_note *note = note_of(notes, stride, rank, call);
        float seconds = last.close ? note->wait : note->seconds;
        if (seconds < shortest) {
            second = shortest;
            shortest = seconds;
            first = rank;
        } else if (seconds < second) {
            second = seconds;
        }
    }
    last.delay = second - shortest;
    if (last.seconds > 0 && last.delay < INFINITY &&
        (double)last.delay > least_delay * (double)last.seconds)
        last.rank = first;
    return last;
}

/* The current window becomes the previous one, the new one the current. */
static void take_over(struct strag_observer *observer, const void *notes, size_t stride)
{
    memmove(observer->recent, observer->recent + observer->before,
            (size_t)observer->now * sizeof *observer->recent);
    observer->before = observer->now;
    observer->now = observer->sent;
    for (int call = 0; call < observer->now; call++) {
        struct strag_last last = find_last(observer, notes, stride, call);
        observer->recent[observer->before + call] = last;
        if (!last.close)
            continue;
        observer->history[observer->calls++ % REMEMBERED] = last;
        observer->spent += (double)last.seconds;
        if (last.rank == NONE)
            continue;
        observer->waited += (double)last.delay;
        observer->times_last[last.rank]++;
    }
}

struct count {
    int calls;
    int most;   /* the rank that was last most often, the lowest of equals; or NONE */
    int points; /* how often */
};

/* Also sets observer->points. @param close  count only calls looked at closely */
static struct count count_points(struct strag_observer *observer, const struct strag_last *calls,
                                 int ncalls, bool close)
{
    struct count count = {.most = NONE};
    memset(observer->points, 0, (size_t)observer->n * sizeof *observer->points);
    for (int i = 0; i < ncalls; i++) {
        if (close && !calls[i].close)
            continue;
        count.calls++;
        if (calls[i].rank != NONE)
            observer->points[calls[i].rank]++;
    }
    for (int rank = 0; rank < observer->n; rank++) {
        if (observer->points[rank] > count.points) {
            count.points = observer->points[rank];
            count.most = rank;
        }
    }
    return count;
}

/* A rank's delays in a list of calls, or ANY rank's, ascending. @return how many */
static int sort_delays(const struct strag_last *calls, int ncalls, int rank, bool close,
                       float *sorted)
{
    int count = 0;
    for (int i = 0; i < ncalls; i++) {
        const bool is = rank == ANY ? calls[i].rank != NONE : calls[i].rank == rank;
        if (is && (calls[i].close || !close))
            sorted[count++] = calls[i].delay;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, strag_compare_float);
    return count;
}

/* A rank's median delay in a window, relative to the call's time. */
static float relative_delay(const struct strag_observer *observer, const struct strag_last *calls,
                            int rank)
{
    int count = 0;
    for (int i = 0; i < observer->now; i++) {
        if (calls[i].rank == rank)
            observer->sorted[count++] = calls[i].delay / calls[i].seconds;
    }
    qsort(observer->sorted, (size_t)count, sizeof *observer->sorted, strag_compare_float);
    return count ? observer->sorted[count / 2] : 0;
}

/* Do the delays differ by a half? */
static bool is_other_delay(double a, double b)
{
    return a > 1.5 * b || b > 1.5 * a;
}

/* The straggler, from the calls looked at closely. It takes two windows, and durations before the
 * closer look must agree. Where only a part of two windows was looked at closely, slightly less
 * than the share suffices, so that chance does not delay the verdict by a window. */
static int find_straggler(struct strag_observer *observer)
{
    const struct strag_last *calls = observer->recent;
    const int known = observer->before + observer->now;
    int now = observer->verdict.rank;
    struct count close = count_points(observer, calls, known, true);
    if (now != NONE && observer->points[now] < share_off * close.calls)
        now = NONE;
    if (close.most == NONE || observer->before == 0 || 4 * close.calls < 3 * observer->now ||
        close.points < a_little_less * share_on * close.calls)
        return now;
    count_points(observer, calls, known, false);
    return observer->points[close.most] >= share_on * known ? close.most : now;
}

/* Is a closer look needed without a straggler? */
static bool suspects(struct strag_observer *observer)
{
    const struct strag_last *calls = observer->recent + observer->before;
    struct count close = count_points(observer, calls, observer->now, true);
    if (++observer->refuted_for > FORGET) {
        observer->refuted_for = 0;
        memset(observer->refuted, 0, (size_t)observer->n * sizeof *observer->refuted);
    }
    if (4 * close.calls >= 3 * observer->now) {
        bool keep = close.points >= share_off * close.calls;
        if (!keep && observer->suspect != NONE)
            observer->refuted[observer->suspect] = observer->suspected;
        if (!keep)
            observer->suspect = NONE;
        return keep;
    }
    struct count all = count_points(observer, calls, observer->now, false);
    if (all.points < (share_on + share_off) / 2 * all.calls)
        return false;
    float straggler = relative_delay(observer, calls, all.most);
    if (!(straggler > more * observer->refuted[all.most]))
        return false;
    observer->suspect = all.most;
    observer->suspected = straggler;
    return true;
}

struct strag_verdict strag_observer_decide(struct strag_observer *observer, const void *notes,
                                           size_t stride)
{
    int before = observer->verdict.rank;
    take_over(observer, notes, stride);
    int now = find_straggler(observer);
    double delay = 0;
    if (now != NONE) {
        int count = sort_delays(observer->recent, observer->before + observer->now, now, true,
                                observer->sorted);
        delay = count ? (double)observer->sorted[count / 2] : observer->verdict.delay;
    }
    observer->verdict.changed = now != before || is_other_delay(delay, observer->verdict.delay);
    if (observer->verdict.changed)
        observer->verdict.delay = delay;
    observer->verdict.rank = now;
    observer->switches += now != before;
    bool look = suspects(observer);
    observer->verdict.look = look || now != NONE;
    return observer->verdict;
}

struct strag_last strag_observer_call(const struct strag_observer *observer, int call)
{
    return observer->recent[observer->before + call];
}

/* Of sorted durations that of whoever ended last; not of a few in many ranks, nor of ranks that
 * were there long before the others, whose durations are mostly waiting. */
static double until_last_end(const double *sorted, int n)
{
    int at = n - 1 - n / 16;
    while (sorted[at] > most_over_median * sorted[n / 2])
        at--;
    return sorted[at];
}

double strag_observer_seconds(const void *notes, size_t stride, int n, int call, double *scratch,
                              double *delay, bool *brief)
{
    *brief = false;
    for (int rank = 0; rank < n; rank++) {
        const double seconds = (double)note_of(notes, stride, rank, call)->seconds;
        scratch[rank] = fabs(seconds);
        *brief = *brief || seconds < 0;
    }
    qsort(scratch, (size_t)n, sizeof *scratch, strag_compare_double);
    *delay = scratch[1] - scratch[0];
    return until_last_end(scratch, n) - (*brief ? 0 : *delay);
}

/* ---- The report ---- */

void strag_observer_saved(struct strag_observer *observer, double seconds)
{
    observer->saved += seconds;
}

/* Was a rank last less often than another one, or as often with a higher number? */
static bool is_after(const struct strag_observer *observer, int rank, int other)
{
    const uint64_t *times = observer->times_last;
    return rank > other ? times[rank] <= times[other] : times[rank] < times[other];
}

/* The next rank by how often they were last, the most often first. @return NONE: no more */
static int next_often(const struct strag_observer *observer, int before)
{
    int most = NONE;
    for (int rank = 0; rank < observer->n; rank++) {
        if (observer->times_last[rank] > 0 &&
            (before == NONE || is_after(observer, rank, before)) &&
            (most == NONE || is_after(observer, most, rank)))
            most = rank;
    }
    return most;
}

/* The delay that so many percent of `count` are not longer than. */
static double percentile(const float *sorted, int count, int percent)
{
    const int at = (count * percent + 99) / 100 - 1;
    return (double)sorted[at > 0 ? at : 0];
}

/* Of the calls that are remembered. @return how many delays */
static int sort_remembered(const struct strag_observer *observer, int rank)
{
    int known = observer->calls < REMEMBERED ? (int)observer->calls : REMEMBERED;
    return sort_delays(observer->history, known, rank, true, observer->sorted);
}

struct strag_observed strag_observer_report(const struct strag_observer *observer)
{
    struct strag_observed report = {
        .calls = observer->calls,
        .rank = next_often(observer, NONE),
        .switches = observer->switches,
        .saved = observer->saved,
        .waited = observer->waited,
        .spent = observer->spent,
    };
    const float *sorted = observer->sorted;
    if (report.rank == NONE)
        return report;
    for (int i = 0, rank = report.rank; i < STRAG_OFTEN && rank != NONE; i++) {
        report.often[i].rank = rank;
        report.often[i].share = (double)observer->times_last[rank] / (double)observer->calls;
        rank = next_often(observer, rank);
    }
    report.share = report.often[0].share;
    int count = sort_remembered(observer, report.rank);
    if (count > 0) {
        report.median = percentile(sorted, count, 50);
        report.percentile95 = percentile(sorted, count, 95);
    }
    count = sort_remembered(observer, ANY);
    if (count > 0) {
        report.any_quarter = percentile(sorted, count, 25);
        report.any_median = percentile(sorted, count, 50);
        report.any_three_quarters = percentile(sorted, count, 75);
        report.any_percentile95 = percentile(sorted, count, 95);
        report.any_longest = (double)sorted[count - 1];
    }
    return report;
}
