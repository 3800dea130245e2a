/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * If the others wait for w, and the last rank is `gap` behind them, a call takes, by the model,
 *
 *     gap + together            gap <= w: all begin together
 *     w + ahead(gap - w)        gap > w: the others begin after w, the last one comes gap - w later
 *
 * At the break-even D both plans take equally long: D = ahead(0) - together, which is 2/n of the
 * vector's time on a link. Going ahead loses at most D, whatever the gap is (as in ski rental). If
 * several ranks are late, all but the last are waited for: a call agrees on one rank at most
 * (run/arrivals.h).
 */
#include "detect/dynamic.h"

#include "detect/thresholds.h"
#include "detect/window.h"

#include <math.h>
#include <stdlib.h>

/* Sums over some values. */
struct sample {
    double count, sum, squares;
};

struct strag_dynamic {
    int n;
    enum strag_dynamic_use use;
    const struct strag_selection *selection; /* NULL if there is no table */
    struct strag_dynamic_policy policy;
    size_t least; /* bytes: shorter vectors always wait for all */

    /* Seconds, of calls whose arrivals were measured: what waiting for all takes, and how much less
     * the policy takes. Empty while no arrivals are measured. */
    struct sample all, gain;

    /* The same calls' times over the modelled time of waiting for all: of calls that could go
     * ahead, and of those that waited. */
    struct sample open, waits;

    /* After a suspicion that was not confirmed there is none for `pause` windows, and for twice as
     * many the next time. */
    int pause, next_pause;
    struct strag_dynamic_summary summary;
};

struct strag_dynamic *strag_dynamic_create(int n, enum strag_dynamic_use use, size_t from)
{
    struct strag_dynamic *dynamic = calloc(1, sizeof *dynamic);
    if (!dynamic)
        return NULL;
    dynamic->n = n;
    dynamic->use = n < 3 ? STRAG_DYNAMIC_NEVER : use;
    dynamic->next_pause = 1;
    dynamic->policy.from = dynamic->least = from;
    dynamic->policy.table.entries = 1;
    return dynamic;
}

void strag_dynamic_free(struct strag_dynamic *dynamic)
{
    free(dynamic);
}

static void add(struct sample *sample, double value)
{
    sample->count++;
    sample->sum += value;
    sample->squares += value * value;
}

static void age(struct sample *sample, double kept)
{
    *sample = (struct sample){kept * sample->count, kept * sample->sum, kept * sample->squares};
}

static double mean(const struct sample *sample)
{
    return sample->count > 0 ? sample->sum / sample->count : 0;
}

/* The mean's standard error; fewer than three values say nothing. */
static double error_of(const struct sample *sample)
{
    const double m = mean(sample);
    if (sample->count < 3)
        return INFINITY;
    return sqrt(fmax(0, sample->squares / sample->count - m * m) / (sample->count - 1));
}

/* ---- What it costs ---- */

static double ahead(const struct strag_profile *profile, double bytes, double delay)
{
    struct strag_profile late = *profile;
    late.delay = delay;
    return strag_profile_seconds(&late, bytes);
}

/* The break-even is nearly linear in the vector's size: a latency, and a part in proportion. */
static void set_wait(struct strag_dynamic *dynamic, const struct strag_profile *profile,
                     double bytes, double together, double scale)
{
    const double latency = ahead(profile, 0, 0), even = ahead(profile, bytes, 0) - together;
    dynamic->policy.wait_limit = STRAG_BEHIND * scale * fmax(0, fmin(latency, even));
    dynamic->policy.wait_per_byte = STRAG_BEHIND * scale * fmax(0, even - latency) / bytes;
}

/* Seconds that a call saves over waiting for all. */
static double gain_of(const struct strag_dynamic *dynamic, const struct strag_dynamic_call *call,
                      const struct strag_profile *profile, double scale)
{
    const double bytes = (double)call->bytes;
    const double wait = dynamic->policy.wait_limit + dynamic->policy.wait_per_byte * bytes;
    if (call->gap <= wait)
        return 0;
    return call->gap + scale * call->together - wait -
           scale * ahead(profile, bytes, (call->gap - wait) / scale);
}

/* If bandwidth is the limit, an allreduce takes 2(n-1)/n of the vector's time on a link;
 * ahead(delay) takes twice that time, or once and the delay. */
bool strag_dynamic_suspects(const struct strag_dynamic *dynamic,
                            const struct strag_dynamic_call *calls, int count)
{
    const double n = dynamic->n;
    double gained = 0, all = 0;
    for (int c = 0; c < count; c++) {
        const double together = calls[c].seconds, link = together * n / (2 * (n - 1));
        const double even = 2 * link / n, late = calls[c].gap - STRAG_BEHIND * even;
        gained += late > 0 ? fmin(late - even, together - link) : 0;
        all += calls[c].gap + together;
    }
    return dynamic->use != STRAG_DYNAMIC_NEVER && dynamic->pause == 0 && gained > STRAG_WORTH * all;
}

/* ---- The policy ---- */

void strag_dynamic_table(struct strag_dynamic *dynamic, const struct strag_selection *selection)
{
    static const struct strag_table none = {.entries = 1};
    dynamic->selection = selection;
    dynamic->policy.table = selection ? selection->table : none;
    if (!selection) {
        strag_dynamic_leave(dynamic);
        dynamic->pause = 0; /* without a table no window shortens it */
    } else if (dynamic->use == STRAG_DYNAMIC_ALWAYS)
        dynamic->policy.on = true;
}

const struct strag_profile *strag_dynamic_ahead(const struct strag_dynamic *dynamic, size_t bytes)
{
    const struct strag_entry *entry = strag_table_entry(&dynamic->policy.table, bytes);
    for (int c = 0; dynamic->selection && c < dynamic->selection->candidates; c++) {
        const struct strag_candidate *candidate = &dynamic->selection->candidate[c];
        if (candidate->algorithm == entry->algorithm && candidate->blocks == entry->blocks)
            return candidate->profile;
    }
    return NULL;
}

void strag_dynamic_leave(struct strag_dynamic *dynamic)
{
    dynamic->policy.on = false;
    dynamic->all = dynamic->gain = dynamic->open = dynamic->waits = (struct sample){.count = 0};
}

/* ---- A window ---- */

/* @param price  seconds for finding out who is last, which are deducted from the gain */
static void note_call(struct strag_dynamic *dynamic, const struct strag_dynamic_call *call,
                      double scale, double price)
{
    struct strag_dynamic_summary *summary = &dynamic->summary;
    const bool open = call->turn == STRAG_DYNAMIC_OPEN, on = dynamic->policy.on;
    const bool inside = call->turn != STRAG_DYNAMIC_OUTSIDE;
    const double usual = scale * call->together;
    const struct strag_profile *profile = strag_dynamic_ahead(dynamic, call->bytes);
    summary->calls += inside;
    summary->ahead += call->went_ahead;
    if (!call->close || !profile || !(usual < INFINITY) || (inside && !on))
        return; /* the last condition: the call began before the mode was left */
    add(&dynamic->all, call->gap + usual);
    add(&dynamic->gain, gain_of(dynamic, call, profile, scale) - price);
    if (!(call->seconds > 0) || (on && !inside))
        return;
    add(open ? &dynamic->open : &dynamic->waits, call->seconds / usual);
    if (open && dynamic->waits.count > 0)
        summary->saved += mean(&dynamic->waits) * usual - call->seconds;
}

/* Also sets what the report says of the savings. */
static bool saves_nothing(struct strag_dynamic *dynamic)
{
    const double before = mean(&dynamic->waits);
    const double error = hypot(error_of(&dynamic->open), error_of(&dynamic->waits)) / before;
    if (!(error < INFINITY))
        return false;
    dynamic->summary.saves = 1 - mean(&dynamic->open) / before;
    dynamic->summary.error = error;
    return dynamic->summary.saves + STRAG_SURE * error < STRAG_WORTH;
}

static void enter_or_leave(struct strag_dynamic *dynamic)
{
    const bool on = dynamic->policy.on, nothing = on && saves_nothing(dynamic);
    const double least = STRAG_WORTH * mean(&dynamic->all), gain = mean(&dynamic->gain);
    const double doubt = STRAG_SURE * error_of(&dynamic->gain);
    if (nothing || gain + doubt < least) {
        strag_dynamic_leave(dynamic);
        if (on && !nothing)
            return; /* the delays have ended */
        dynamic->pause = dynamic->next_pause;
        dynamic->next_pause *= 2;
    } else if (gain > fmax(least, doubt)) {
        dynamic->policy.on = true;
    }
}

bool strag_dynamic_window(struct strag_dynamic *dynamic, const struct strag_dynamic_call *calls,
                          int count, double scale, double price)
{
    const struct strag_dynamic_call *longest = NULL;
    if (dynamic->use == STRAG_DYNAMIC_NEVER)
        return false;
    for (int c = 0; c < count; c++) {
        if (calls[c].together < INFINITY && (!longest || calls[c].bytes > longest->bytes) &&
            strag_dynamic_ahead(dynamic, calls[c].bytes))
            longest = &calls[c];
    }
    dynamic->pause -= dynamic->pause > 0;
    if (!longest)
        return false;
    set_wait(dynamic, strag_dynamic_ahead(dynamic, longest->bytes), (double)longest->bytes,
             longest->together, scale);
    const double recent = STRAG_RECENT * STRAG_WINDOW_CALLS; /* a call this old counts half */
    const double kept = dynamic->policy.on ? exp2(-count / recent) : 1;
    age(&dynamic->all, kept);
    age(&dynamic->gain, kept);
    for (int c = 0; c < count; c++)
        note_call(dynamic, &calls[c], scale, price);
    if (dynamic->use == STRAG_DYNAMIC_AUTO) {
        /* With shorter vectors the price alone exceeds STRAG_WORTH of the call. */
        const double from =
            price / STRAG_WORTH / (scale * longest->together) * (double)longest->bytes;
        dynamic->policy.from = from > (double)dynamic->least ? (uint64_t)from : dynamic->least;
        enter_or_leave(dynamic);
    } else {
        (void)saves_nothing(dynamic);
    }
    return dynamic->policy.on || dynamic->gain.count > 0 ||
           strag_dynamic_suspects(dynamic, calls, count);
}

const struct strag_dynamic_policy *strag_dynamic_policy(const struct strag_dynamic *dynamic)
{
    return &dynamic->policy;
}

struct strag_dynamic_summary strag_dynamic_report(const struct strag_dynamic *dynamic)
{
    return dynamic->summary;
}

/* The k-th call that waits for all has the number 4 k^2: the more is known, the fewer wait. */
enum strag_dynamic_turn strag_dynamic_turn_of(const struct strag_dynamic_policy *policy,
                                              size_t bytes, uint64_t number)
{
    const double k = round(sqrt((double)number) / 2);
    if (!policy->on || bytes < policy->from || !strag_table_find(&policy->table, bytes))
        return STRAG_DYNAMIC_OUTSIDE;
    return k > 0 && 4 * k * k == (double)number ? STRAG_DYNAMIC_WAITS : STRAG_DYNAMIC_OPEN;
}
