/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/dynamic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* It is entered where it gains so many times the price, and left where it gains less than once. */
static const double gains_clearly = 2;

/* ... and this part of the calls' time, so that what the model does not know does not matter. */
static const double share_on = 0.03, share_off = 0.01;

/* ... provided that it is so many times its standard error: the patience is the one that did best
 * in few calls, and with delays of all lengths some patience nearly always gained there. */
static const double sure = 2;

/* What calls have shown counts half after so many others. */
static const double half_life = 16;

/* The difference is known if its standard error is this part of it. */
static const double known_to = 0.1;

enum {
    STEPS = 10,         /* patience is one of so many parts of the break-even delay */
    MEASURED_LEAST = 3, /* calls that wait for all, and calls that need not */
    MEASURED_MOST = 128,
    FORGET = 64,      /* windows after which what was refuted is tried again */
    LOOKED_MOST = 48, /* calls after which a gain that is not sure is none */
    FIRST = 12,
    /* The table has vectors of 2^12 to 2^39 bytes, or to 2^30 of 32-bit addresses. */
    SIZES = sizeof(size_t) > 4 ? 28 : 19,
};

/* Mean and scatter of calls' times, in parts of what is modelled for waiting for all. */
struct sample {
    int count;
    double sum, squares;
};

/* What each patience would have gained: sums over calls that were looked at closely, the older the
 * less. */
struct evidence {
    double calls;
    double all; /* seconds, waiting for all */
    double gained[STEPS], squares[STEPS];
};

struct strag_dynamic {
    int n;
    enum strag_dynamic_use use;
    const struct strag_selection *selection; /* NULL: there is no table */
    struct strag_dynamic_policy policy;
    size_t least;    /* bytes: shorter vectors always wait for all */
    double *last;    /* [rank]: calls in which it was last, the older the less */
    double refuted;  /* share of the time that was suspected and not found; 0: none was */
    int refuted_for; /* windows */
    struct evidence evidence;
    int looked; /* calls since the last decision that was sure */
    struct sample open, waits;
    bool known; /* the measurement is over */
    struct strag_dynamic_summary summary;
};

struct strag_dynamic *strag_dynamic_create(int n, enum strag_dynamic_use use)
{
    struct strag_dynamic *dynamic = calloc(1, sizeof *dynamic);
    if (!dynamic)
        return NULL;
    dynamic->n = n;
    dynamic->use = n < 3 ? STRAG_DYNAMIC_NEVER : use;
    dynamic->policy.table.entries = 1;
    dynamic->last = calloc((size_t)n, sizeof *dynamic->last);
    if (dynamic->last)
        return dynamic;
    free(dynamic);
    return NULL;
}

void strag_dynamic_free(struct strag_dynamic *dynamic)
{
    if (!dynamic)
        return;
    free(dynamic->last);
    free(dynamic);
}

/* ---- The table ---- */

static double seconds_of(const struct strag_profile *profile, size_t bytes, double delay)
{
    struct strag_profile late = *profile;
    late.delay = delay;
    return strag_profile_seconds(&late, (double)bytes);
}

/* Can it go ahead without any rank? */
static bool is_suitable(const struct strag_candidate *candidate)
{
    return candidate->profile && candidate->algorithm->any_straggler;
}

/* The best one for a rank that comes when the others are half through. */
static const struct strag_candidate *best_ahead(const struct strag_selection *selection,
                                                size_t bytes)
{
    const struct strag_candidate *best = NULL;
    double least = INFINITY;
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        if (!is_suitable(candidate))
            continue;
        const double half = seconds_of(candidate->profile, bytes, 0) / 2;
        const double seconds = seconds_of(candidate->profile, bytes, half);
        if (seconds < least) {
            least = seconds;
            best = candidate;
        }
    }
    return best;
}

void strag_dynamic_table(struct strag_dynamic *dynamic, const struct strag_selection *selection)
{
    struct strag_table *table = &dynamic->policy.table;
    dynamic->selection = selection;
    *table = (struct strag_table){.entries = 1};
    if (!selection)
        dynamic->evidence = (struct evidence){.calls = 0};
    dynamic->policy.on = selection && (dynamic->policy.on || dynamic->use == STRAG_DYNAMIC_ALWAYS);
    if (!selection)
        return;
    for (int i = 0; i < SIZES; i++) {
        const size_t bytes = (size_t)1 << (FIRST + i);
        const struct strag_candidate *best = best_ahead(selection, bytes);
        struct strag_entry *before = &table->entry[table->entries - 1];
        if (best && (before->algorithm != best->algorithm || before->blocks != best->blocks))
            table->entry[table->entries++] =
                (struct strag_entry){bytes, best->algorithm, best->blocks};
    }
}

const struct strag_profile *strag_dynamic_ahead(const struct strag_dynamic *dynamic, size_t bytes)
{
    const struct strag_entry *entry = strag_table_entry(&dynamic->policy.table, bytes);
    for (int c = 0; dynamic->selection && c < dynamic->selection->candidates; c++) {
        const struct strag_candidate *candidate = &dynamic->selection->candidate[c];
        if (is_suitable(candidate) && candidate->algorithm == entry->algorithm &&
            candidate->blocks == entry->blocks)
            return candidate->profile;
    }
    return NULL;
}

/* ---- What it would have cost ---- */

static double break_even(const struct strag_dynamic_call *call, double scale)
{
    return scale * fmax(0, seconds_of(call->ahead, call->bytes, 0) - call->together);
}

/* Seconds of a call, from the last but one arrival on. */
static double cost(const struct strag_dynamic_call *call, double scale, double patience)
{
    if (!call->ahead || call->gap <= patience)
        return call->gap + scale * call->together;
    return patience + scale * seconds_of(call->ahead, call->bytes, (call->gap - patience) / scale);
}

static double part_of(int step)
{
    return (double)(step + 1) / STEPS;
}

static void add_evidence(struct evidence *evidence, const struct strag_dynamic_call *calls,
                         int count, double scale)
{
    const double kept = exp2(-count / half_life);
    evidence->calls *= kept;
    evidence->all *= kept;
    for (int step = 0; step < STEPS; step++) {
        evidence->gained[step] *= kept;
        evidence->squares[step] *= kept;
    }
    for (int c = 0; c < count; c++) {
        const struct strag_dynamic_call *call = &calls[c];
        if (!call->close || !(call->together < INFINITY))
            continue;
        const double waiting = call->gap + scale * call->together;
        evidence->calls++;
        evidence->all += waiting;
        for (int step = 0; step < STEPS && call->ahead; step++) {
            const double gained =
                waiting - cost(call, scale, part_of(step) * break_even(call, scale));
            evidence->gained[step] += gained;
            evidence->squares[step] += gained * gained;
        }
    }
}

/* What the best patience gains in a call. */
struct gain {
    double part;           /* of the break-even delay */
    double seconds, error; /* less than waiting for all, and its standard error */
    double all;            /* waiting for all */
};

static struct gain best_gain(const struct evidence *evidence)
{
    int best = STEPS - 1;
    for (int step = STEPS - 2; step >= 0; step--) {
        if (evidence->gained[step] > evidence->gained[best])
            best = step;
    }
    const double calls = fmax(evidence->calls, 1), mean = evidence->gained[best] / calls;
    const double variance = fmax(0, evidence->squares[best] / calls - mean * mean);
    return (struct gain){
        .part = part_of(best),
        .seconds = mean,
        .error = calls < MEASURED_LEAST ? INFINITY : sqrt(variance / (calls - 1)),
        .all = evidence->all / calls,
    };
}

/* An allreduce that bandwidth limits takes 2(n-1)/n of what the vector takes on a link;
 * ahead(delay) is 2 of these, or 1 and the delay. */
bool strag_dynamic_suspects(const struct strag_dynamic *dynamic,
                            const struct strag_dynamic_call *calls, int count)
{
    const double n = dynamic->n;
    double gained = 0, all = 0;
    if (dynamic->use == STRAG_DYNAMIC_NEVER)
        return false;
    for (int c = 0; c < count; c++) {
        const double together = calls[c].seconds, link = together * n / (2 * (n - 1));
        gained += fmax(0, fmin(calls[c].gap - 2 / n * link, together - link));
        all += calls[c].gap + together;
    }
    return gained > share_on * all && gained > 1.5 * dynamic->refuted * all;
}

/* ---- The policy ---- */

/* Of the ranks that are not among the first ones, the one that was last least often. */
static int32_t least_often(const struct strag_dynamic *dynamic, int32_t not_this, int32_t nor_this)
{
    int32_t best = -1;
    for (int32_t rank = 0; rank < dynamic->n; rank++) {
        if (rank != not_this && rank != nor_this &&
            (best < 0 || dynamic->last[rank] < dynamic->last[best]))
            best = rank;
    }
    return best;
}

static void give_roles(struct strag_dynamic *dynamic)
{
    struct strag_dynamic_policy *policy = &dynamic->policy;
    policy->coordinator = least_often(dynamic, -1, -1);
    policy->deputy = least_often(dynamic, policy->coordinator, -1);
    policy->witness = least_often(dynamic, policy->coordinator, policy->deputy);
}

/* The break-even is a line in the vector's size, nearly: through this call's and four times it. */
static void set_patience(struct strag_dynamic *dynamic, const struct strag_dynamic_call *call,
                         double scale, double part)
{
    struct strag_dynamic_call longer = *call;
    longer.bytes = 4 * call->bytes;
    longer.together = 4 * call->together;
    const double here = part * break_even(call, scale);
    const double there = part * break_even(&longer, scale);
    const double slope = fmax(0, (there - here) / (3 * (double)call->bytes));
    dynamic->policy.patience_per_byte = slope;
    dynamic->policy.patience = fmax(0, here - slope * (double)call->bytes);
}

/* Of the calls with a plan that goes ahead, the longest. */
static const struct strag_dynamic_call *longest(const struct strag_dynamic_call *calls, int count)
{
    const struct strag_dynamic_call *best = NULL;
    for (int c = 0; c < count; c++) {
        if (calls[c].ahead && calls[c].together < INFINITY &&
            (!best || calls[c].bytes > best->bytes))
            best = &calls[c];
    }
    return best;
}

/* Vectors from a half of the shortest that gains. */
static size_t shortest_gain(const struct strag_dynamic_call *calls, int count, double scale,
                            double part, double price)
{
    size_t least = SIZE_MAX;
    for (int c = 0; c < count; c++) {
        const struct strag_dynamic_call *call = &calls[c];
        if (call->ahead && call->close && call->bytes < least &&
            call->gap + scale * call->together - cost(call, scale, part * break_even(call, scale)) >
                price)
            least = call->bytes;
    }
    return least / 2;
}

void strag_dynamic_begin(struct strag_dynamic *dynamic, const struct strag_selection *selection,
                         size_t bytes, double together, size_t from)
{
    struct strag_dynamic_policy *policy = &dynamic->policy;
    give_roles(dynamic);
    strag_dynamic_table(dynamic, selection);
    policy->from = dynamic->least = from;
    policy->measure = true;
    const struct strag_dynamic_call call = {
        .bytes = bytes, .together = together, .ahead = strag_dynamic_ahead(dynamic, bytes)};
    if (call.ahead && together < INFINITY)
        set_patience(dynamic, &call, 1, 1);
}

void strag_dynamic_leave(struct strag_dynamic *dynamic)
{
    dynamic->policy.on = false;
}

/* ---- What was measured ---- */

static void add(struct sample *sample, double value)
{
    sample->count++;
    sample->sum += value;
    sample->squares += value * value;
}

static double mean(const struct sample *sample)
{
    return sample->count ? sample->sum / sample->count : 0;
}

/* The square of the mean's standard error. */
static double error_squared(const struct sample *sample)
{
    const double m = mean(sample);
    if (sample->count < 2)
        return INFINITY;
    return fmax(0, sample->squares / sample->count - m * m) / (sample->count - 1);
}

static void measure(struct strag_dynamic *dynamic, const struct strag_dynamic_call *calls,
                    int count, double scale)
{
    struct strag_dynamic_summary *summary = &dynamic->summary;
    for (int c = 0; c < count && !dynamic->known; c++) {
        const struct strag_dynamic_call *call = &calls[c];
        if (call->turn == STRAG_DYNAMIC_OUTSIDE || !(call->seconds > 0) ||
            !(call->together < INFINITY))
            continue;
        add(call->turn == STRAG_DYNAMIC_OPEN ? &dynamic->open : &dynamic->waits,
            call->seconds / (scale * call->together));
    }
    const double saves = mean(&dynamic->waits) - mean(&dynamic->open);
    const double error = sqrt(error_squared(&dynamic->open) + error_squared(&dynamic->waits));
    if (dynamic->known || dynamic->waits.count < MEASURED_LEAST)
        return;
    dynamic->known = error <= known_to * fabs(saves) || dynamic->open.count >= MEASURED_MOST;
    if (!dynamic->known)
        return;
    dynamic->policy.measure = false;
    summary->saves = saves / mean(&dynamic->waits);
    summary->error = error / mean(&dynamic->waits);
}

static void count_saved(struct strag_dynamic *dynamic, const struct strag_dynamic_call *calls,
                        int count, double scale)
{
    struct strag_dynamic_summary *summary = &dynamic->summary;
    for (int c = 0; c < count; c++) {
        const struct strag_dynamic_call *call = &calls[c];
        if (call->turn == STRAG_DYNAMIC_OUTSIDE)
            continue;
        summary->calls++;
        summary->ahead += call->went_ahead;
        if (call->turn == STRAG_DYNAMIC_WAITS || !(call->together < INFINITY))
            continue;
        const double before = scale * call->together;
        if (dynamic->known)
            summary->saved += mean(&dynamic->waits) * summary->saves * before;
        else if (call->ahead)
            summary->modelled += call->gap + before -
                                 cost(call, scale,
                                      dynamic->policy.patience +
                                          dynamic->policy.patience_per_byte * (double)call->bytes);
    }
}

/* ---- A window ---- */

static void count_last(struct strag_dynamic *dynamic, const struct strag_dynamic_call *calls,
                       int count)
{
    for (int rank = 0; rank < dynamic->n; rank++)
        dynamic->last[rank] /= 2;
    for (int c = 0; c < count; c++) {
        if (calls[c].last >= 0)
            dynamic->last[calls[c].last]++;
    }
}

/* What was suspected was not found, or saves nothing. */
static void refute(struct strag_dynamic *dynamic, double share)
{
    dynamic->refuted = share;
    dynamic->refuted_for = dynamic->looked = 0;
    dynamic->policy.on = dynamic->use == STRAG_DYNAMIC_ALWAYS;
}

/* The calls of the window before waited for all: they count for the measurement. */
static void enter(struct strag_dynamic *dynamic, const struct strag_dynamic_call *calls, int count,
                  double scale)
{
    dynamic->policy.on = dynamic->policy.measure = true;
    dynamic->looked = 0;
    dynamic->known = false;
    dynamic->open = dynamic->waits = (struct sample){.count = 0};
    for (int c = 0; c < count; c++) {
        if (calls[c].seconds > 0 && calls[c].together < INFINITY)
            add(&dynamic->waits, calls[c].seconds / (scale * calls[c].together));
    }
}

/* @return whether to enter */
static bool enters_or_leaves(struct strag_dynamic *dynamic, const struct gain *gain, double price)
{
    const bool forced = dynamic->use == STRAG_DYNAMIC_ALWAYS, on = dynamic->policy.on;
    const double least = fmax(gains_clearly * price, share_on * gain->all);
    const bool enters = gain->seconds > least && gain->seconds > sure * gain->error;
    const bool may_enter =
        gain->seconds + sure * gain->error > least && dynamic->looked < LOOKED_MOST;
    const bool enough = gain->seconds > price && gain->seconds > share_off * gain->all;
    if (on && dynamic->known && dynamic->summary.saves <= 0)
        refute(dynamic, INFINITY);
    else if (!on && !enters && !may_enter && !forced)
        refute(dynamic, gain->seconds / fmax(gain->all, 1e-9) + share_on);
    else if (on && !enough && !forced)
        dynamic->policy.on = false;
    return !on && enters;
}

bool strag_dynamic_window(struct strag_dynamic *dynamic, const struct strag_dynamic_call *calls,
                          int count, double scale, double price)
{
    const struct strag_dynamic_call *call = longest(calls, count);
    int close = 0;
    if (dynamic->use == STRAG_DYNAMIC_NEVER)
        return false;
    for (int c = 0; c < count; c++)
        close += calls[c].close;
    if (++dynamic->refuted_for > FORGET)
        dynamic->refuted = 0;
    count_last(dynamic, calls, count);
    if (!call)
        return false;
    measure(dynamic, calls, count, scale);
    count_saved(dynamic, calls, count, scale);
    if (4 * close < 3 * count)
        return dynamic->policy.on || strag_dynamic_suspects(dynamic, calls, count);
    add_evidence(&dynamic->evidence, calls, count, scale);
    const struct gain gain = best_gain(&dynamic->evidence);
    dynamic->looked += dynamic->policy.on ? 0 : count;
    if (enters_or_leaves(dynamic, &gain, price))
        enter(dynamic, calls, count, scale);
    give_roles(dynamic);
    set_patience(dynamic, call, scale, gain.part);
    if (dynamic->use != STRAG_DYNAMIC_ALWAYS) {
        const size_t from = shortest_gain(calls, count, scale, gain.part, price);
        dynamic->policy.from = from < dynamic->least ? dynamic->least : from;
    }
    return dynamic->policy.on || dynamic->looked > 0;
}

const struct strag_dynamic_policy *strag_dynamic_policy(const struct strag_dynamic *dynamic)
{
    return &dynamic->policy;
}

struct strag_dynamic_summary strag_dynamic_report(const struct strag_dynamic *dynamic)
{
    return dynamic->summary;
}

enum strag_dynamic_turn strag_dynamic_turn_of(const struct strag_dynamic_policy *policy,
                                              size_t bytes, uint64_t number)
{
    if (!policy->on || bytes < policy->from || !strag_table_find(&policy->table, bytes))
        return STRAG_DYNAMIC_OUTSIDE;
    const bool waits = policy->measure && number % STRAG_DYNAMIC_TURN == STRAG_DYNAMIC_TURN - 1;
    return waits ? STRAG_DYNAMIC_WAITS : STRAG_DYNAMIC_OPEN;
}
