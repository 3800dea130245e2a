/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/judge.h"

#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A short call of which a rank's lateness is more than this share took as long as that. */
static const double late_share = 0.5;

/* The part of the time that making tables may take. */
static const double busy_share = 0.01;

enum { LONG = 4 << 20 }; /* bytes that no latency matters for */

struct call {
    struct strag_watched_call what;
    int straggler; /* that it did not wait for; -1: it waited for all ranks */
};

struct strag_judge {
    struct strag_judge_options options;
    struct strag_rank_location *ranks;
    struct call *calls; /* [2 * window]: being filled, and being sent */
    int filled, sent;   /* how many these are */
    double *ratios;     /* [window]: scratch */
    double *durations;  /* [rank]: scratch */
    struct strag_trial trials[STRAG_TRIALS_AT_ONCE];

    struct strag_state_record state;
    struct strag_judge_table usual, ahead; /* without and with a straggler */
    bool is_ahead;                         /* `ahead` is in force */

    struct strag_dynamic *dynamic;
    struct strag_dynamic_call *dynamic_calls; /* [window]: scratch */
    double price;                             /* of finding out who that is: modelled seconds */
    bool arrivals;                            /* finding out is on, or looked into */
    struct strag_selection *any;              /* without whoever comes last, or NULL */

    double scale;               /* measured seconds for a modelled one; 0: unknown */
    struct strag_verdict acted; /* the verdict that was last acted upon */
    double next_time;           /* no table is made before */
    bool stale;                 /* the usual table is of numbers that have changed */
    double busy;                /* seconds in calls since links were looked at */
    struct strag_watch_summary summary;
    char log[768];
};

/* ---- Modelled times ---- */

/* Modelled seconds of a call with a straggler's delay. The previous component is assumed to run the
 * best plan of those that wait for all ranks. @return INFINITY: unknown */
static double modelled(const struct strag_selection *selection,
                       const struct strag_watched_call *call, double delay)
{
    double least = INFINITY;
    for (int c = 0; selection && c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        bool wanted = call->algorithm ? candidate->algorithm == call->algorithm &&
                                            candidate->blocks == call->blocks
                                      : !candidate->algorithm->needs_straggler;
        if (!candidate->profile || !wanted)
            continue;
        struct strag_profile profile = *candidate->profile;
        profile.delay = delay;
        least = fmin(least, strag_profile_seconds(&profile, (double)call->bytes));
    }
    return least;
}

/* What the usual table runs. */
static struct strag_watched_call usual_call(const struct strag_judge *judge, size_t bytes)
{
    const struct strag_entry *entry = strag_table_entry(&judge->usual.table, bytes);
    return (struct strag_watched_call){bytes, entry->algorithm,      entry->blocks,
                                       false, STRAG_DYNAMIC_OUTSIDE, -1};
}

/* ---- Making one ---- */

/* The slowest host, from the next call on. */
static void note_slowest(struct strag_judge *judge)
{
    struct strag_slowest *note = &judge->summary.slowest;
    const struct strag_state_record *state = &judge->state;
    const struct strag_slow *slowest = NULL;
    const bool before = note->hosts > 0;
    for (int s = 0; s < state->nslow; s++) {
        if (!slowest || state->slow[s].factor > slowest->factor)
            slowest = &state->slow[s];
    }
    note->hosts = state->nslow;
    note->to = slowest ? 0 : judge->summary.calls;
    if (!slowest)
        return;
    if (note->rank != slowest->rank || !before)
        note->from = judge->summary.calls + 1;
    note->rank = slowest->rank;
    note->factor = slowest->factor;
}

static bool is_same_table(const struct strag_table *a, const struct strag_table *b)
{
    bool same = a->entries == b->entries;
    for (int e = 0; same && e < a->entries; e++)
        same = a->entry[e].from == b->entry[e].from &&
               a->entry[e].algorithm == b->entry[e].algorithm &&
               a->entry[e].blocks == b->entry[e].blocks;
    return same;
}

void strag_judge_free(struct strag_judge *judge)
{
    if (!judge)
        return;
    strag_selection_free(judge->usual.selection);
    strag_selection_free(judge->ahead.selection);
    strag_selection_free(judge->any);
    strag_dynamic_free(judge->dynamic);
    free(judge->dynamic_calls);
    free(judge->ranks);
    free(judge->calls);
    free(judge->ratios);
    free(judge->durations);
    free(judge);
}

/* @return NULL: as it was */
static const struct strag_sourced_model *model_of(const struct strag_judge *judge)
{
    return judge->options.learner ? strag_learner_model(judge->options.learner) : NULL;
}

/* What runs without whoever comes last: without the last rank, as without any other. */
static void make_any(struct strag_judge *judge, double now)
{
    const double a_little = 1e-9; /* seconds: with 0 it would not be late to the model */
    struct strag_state_record state = judge->state;
    struct strag_selection *made = NULL;
    state.nstragglers = 1;
    state.straggler = (struct strag_straggler){judge->options.n - 1, a_little};
    double took = judge->options.make_any(judge->options.context, &state, model_of(judge), &made,
                                          &judge->price);
    judge->next_time = now + took + took / busy_share;
    strag_selection_free(judge->any);
    judge->any = made;
}

struct strag_judge *strag_judge_create(const struct strag_judge_options *options,
                                       const struct strag_rank_location *ranks,
                                       const struct strag_state_record *state,
                                       const struct strag_judge_table *usual, double now)
{
    struct strag_judge *judge = calloc(1, sizeof *judge);
    if (!judge)
        return NULL;
    const size_t n = (size_t)options->n, window = (size_t)options->window;
    judge->options = *options;
    judge->ranks = malloc(n * sizeof *judge->ranks);
    judge->calls = calloc(2 * window, sizeof *judge->calls);
    judge->ratios = malloc(window * sizeof *judge->ratios);
    judge->durations = malloc(n * sizeof *judge->durations);
    judge->dynamic = strag_dynamic_create(options->n, options->dynamic);
    judge->dynamic_calls = calloc(window, sizeof *judge->dynamic_calls);
    if (!judge->ranks || !judge->calls || !judge->ratios || !judge->durations || !judge->dynamic ||
        !judge->dynamic_calls) {
        strag_judge_free(judge);
        return NULL;
    }
    memcpy(judge->ranks, ranks, n * sizeof *ranks);
    judge->state = *state;
    judge->usual = *usual;
    judge->stale = options->learner && usual->selection &&
                   !is_same_table(&usual->table, &usual->selection->table);
    judge->acted.rank = -1;
    judge->summary = strag_watch_summary_none();
    note_slowest(judge);
    if (options->dynamic == STRAG_DYNAMIC_ALWAYS)
        make_any(judge, now);
    const struct strag_watched_call long_call = usual_call(judge, LONG);
    strag_dynamic_begin(judge->dynamic, judge->any, LONG,
                        modelled(judge->usual.selection, &long_call, 0), options->dynamic_from);
    return judge;
}

/* ---- Calls ---- */

/* Does the algorithm not wait for the straggler? */
static bool goes_ahead(const struct strag_algorithm *algorithm)
{
    return algorithm && algorithm->needs_straggler;
}

void strag_judge_skip(struct strag_judge *judge, uint64_t calls, double seconds)
{
    judge->summary.calls += calls;
    judge->summary.seconds += seconds;
    judge->busy += seconds;
}

void strag_judge_restart(struct strag_judge *judge)
{
    judge->filled = 0;
}

void strag_judge_add(struct strag_judge *judge, const struct strag_watched_call *call,
                     double seconds)
{
    struct strag_watch_summary *summary = &judge->summary;
    struct call *mine = &judge->calls[judge->filled++ % judge->options.window];
    const bool outside = call->turn == STRAG_DYNAMIC_OUTSIDE;
    *mine = (struct call){*call, !outside                      ? call->without
                                 : goes_ahead(call->algorithm) ? judge->acted.rank
                                                               : -1};
    strag_judge_skip(judge, 1, seconds);
    if (mine->straggler >= 0 && outside && summary->ahead_from == 0)
        summary->ahead_from = summary->calls;
}

void strag_judge_begin_window(struct strag_judge *judge)
{
    judge->sent = judge->filled;
    judge->filled = 0;
    memcpy(judge->calls + judge->options.window, judge->calls,
           (size_t)judge->sent * sizeof *judge->calls);
}

/* ---- Measured and modelled ---- */

/* Most calls are like the one before. */
static bool is_modelled_alike(const struct strag_watched_call *a,
                              const struct strag_watched_call *b)
{
    return a->bytes == b->bytes && a->algorithm == b->algorithm && a->blocks == b->blocks;
}

/* Of a window's calls that waited for all ranks: how long they take, and how far that is from what
 * is modelled; in the median, of two the less: the first call may have made connections. */
static void find_scale(struct strag_judge *judge)
{
    const struct call *before = NULL;
    double expected = INFINITY;
    int count = 0;
    for (int c = 0; c < judge->sent; c++) {
        const struct call *call = &judge->calls[judge->options.window + c];
        double seconds = (double)strag_observer_call(judge->options.observer, c).seconds;
        if (!before || !is_modelled_alike(&call->what, &before->what))
            expected = modelled(judge->usual.selection, &call->what, 0);
        before = call;
        if (call->straggler < 0 && seconds > 0 && expected > 0 && expected < INFINITY)
            judge->ratios[count++] = seconds / expected;
    }
    if (count == 0)
        return;
    qsort(judge->ratios, (size_t)count, sizeof *judge->ratios, strag_compare_double);
    judge->scale = judge->ratios[(count - 1) / 2];
    for (int c = 0; c < count; c++)
        judge->ratios[c] = fabs(1 / judge->ratios[c] - 1);
    qsort(judge->ratios, (size_t)count, sizeof *judge->ratios, strag_compare_double);
    judge->summary.model_error = judge->ratios[(count - 1) / 2];
}

/* How much longer the calls that went ahead would have taken with the usual table. */
static void find_saved(struct strag_judge *judge)
{
    for (int c = 0; c < judge->sent; c++) {
        const struct call *call = &judge->calls[judge->options.window + c];
        struct strag_last last = strag_observer_call(judge->options.observer, c);
        if (call->straggler < 0 || call->what.turn != STRAG_DYNAMIC_OUTSIDE)
            continue;
        const struct strag_watched_call usual = usual_call(judge, call->what.bytes);
        double delay = last.rank == call->straggler ? (double)last.delay / judge->scale : 0;
        double saved = modelled(judge->usual.selection, &usual, 0) + delay -
                       modelled(judge->ahead.selection, &call->what, delay);
        if (isfinite(saved))
            strag_observer_saved(judge->options.observer, judge->scale * saved);
    }
}

/* ---- Stragglers ---- */

/* Does the table help at any size? */
static bool helps(const struct strag_table *table)
{
    for (int e = 0; e < table->entries; e++) {
        if (goes_ahead(table->entry[e].algorithm))
            return true;
    }
    return false;
}

/* Does it help at the sizes of the last calls? */
static bool helps_now(const struct strag_judge *judge)
{
    const struct call *calls = judge->calls + judge->options.window;
    for (int c = 0; judge->is_ahead && c < judge->sent; c++) {
        if (goes_ahead(strag_table_find(&judge->ahead.table, calls[c].what.bytes)))
            return true;
    }
    return false;
}

/* The table for a straggler. @return whether it helps */
static bool make_ahead(struct strag_judge *judge, const struct strag_state_record *state,
                       double now)
{
    struct strag_judge_table made = {.selection = NULL};
    double took = judge->options.make(judge->options.context, state, model_of(judge), &made);
    judge->next_time = now + took + took / busy_share;
    bool good = helps(&made.table);
    strag_selection_free(good ? judge->ahead.selection : made.selection);
    if (good)
        judge->ahead = made;
    return good;
}

static void log_straggler(struct strag_judge *judge, const struct strag_verdict *verdict)
{
    if (verdict->rank < 0)
        snprintf(judge->log, sizeof judge->log, "no rank is late");
    else
        snprintf(judge->log, sizeof judge->log, "rank %d is late by %s: %s", verdict->rank,
                 strag_units_time(verdict->delay).text,
                 helps_now(judge) ? "the others go ahead" : "it is waited for");
}

/* Another table, if one is wanted. */
static void act(struct strag_judge *judge, const struct strag_verdict *verdict, double now,
                struct strag_judgement *judgement)
{
    const bool before = judge->is_ahead;
    struct strag_state_record state = judge->state;
    bool ahead = false;
    state.nstragglers = 0;
    if (verdict->rank >= 0) {
        if (!(judge->scale > 0) || now < judge->next_time)
            return; /* try again after the next window */
        state.nstragglers = 1;
        state.straggler = (struct strag_straggler){verdict->rank, verdict->delay / judge->scale};
        ahead = make_ahead(judge, &state, now);
    }
    judge->acted = *verdict;
    judge->is_ahead = ahead;
    log_straggler(judge, verdict);
    if (!ahead && !before)
        return;
    judgement->change = STRAG_CHANGE_STRAGGLER;
    judge->state = state;
    judge->state.nstragglers = ahead;
}

/* ---- Whoever comes last ---- */

static void fill_dynamic_calls(struct strag_judge *judge)
{
    for (int c = 0; c < judge->sent; c++) {
        const struct call *call = &judge->calls[judge->options.window + c];
        const struct strag_last last = strag_observer_call(judge->options.observer, c);
        const struct strag_watched_call usual = usual_call(judge, call->what.bytes);
        judge->dynamic_calls[c] = (struct strag_dynamic_call){
            .bytes = call->what.bytes,
            .last = last.rank,
            .gap = (double)last.delay,
            .seconds = (double)last.seconds,
            .close = last.close,
            .turn = call->what.turn,
            .went_ahead = call->what.without >= 0,
            .together = modelled(judge->usual.selection, &usual, 0),
            .ahead = strag_dynamic_ahead(judge->dynamic, call->what.bytes),
        };
    }
}

static void log_dynamic(struct strag_judge *judge, bool before)
{
    const struct strag_dynamic_policy *policy = strag_dynamic_policy(judge->dynamic);
    if (policy->on != before)
        snprintf(judge->log, sizeof judge->log,
                 policy->on ? "another rank is late in each call: the others go ahead after "
                              "%s and %s per MiB"
                            : "whoever comes last is waited for",
                 strag_units_time(policy->patience).text,
                 strag_units_time(1048576 * policy->patience_per_byte).text);
}

/* One straggler that the others go ahead without is the better known.
 * @return whether to look closely */
static bool look_for_the_last(struct strag_judge *judge, double now)
{
    const bool before = strag_dynamic_policy(judge->dynamic)->on;
    if (judge->options.dynamic == STRAG_DYNAMIC_NEVER || !(judge->scale > 0))
        return false;
    fill_dynamic_calls(judge);
    bool look = strag_dynamic_suspects(judge->dynamic, judge->dynamic_calls, judge->sent);
    if (judge->is_ahead) {
        strag_dynamic_leave(judge->dynamic);
    } else if (judge->any) {
        look = strag_dynamic_window(judge->dynamic, judge->dynamic_calls, judge->sent, judge->scale,
                                    judge->scale * judge->price);
    } else if ((look || judge->options.dynamic == STRAG_DYNAMIC_ALWAYS) &&
               now >= judge->next_time) {
        make_any(judge, now);
        strag_dynamic_table(judge->dynamic, judge->any);
    }
    log_dynamic(judge, before);
    judge->summary.dynamic = strag_dynamic_report(judge->dynamic);
    look = look && !judge->is_ahead;
    judge->arrivals = look || strag_dynamic_policy(judge->dynamic)->on;
    return look;
}

/* ---- Slow links ---- */

static void look_at_links(struct strag_judge *judge, const void *notes, size_t stride,
                          struct strag_judgement *judgement)
{
    const struct strag_judge_options *options = &judge->options;
    struct strag_link_sample meters;
    uint32_t rate;
    if (!options->slowdown)
        return;
    strag_link_sample_clear(&meters);
    for (int rank = 0; rank < options->n; rank++) {
        memcpy(&rate, (const char *)notes + ((size_t)rank + 1) * stride - sizeof rate, sizeof rate);
        strag_link_sample_add(&meters, rank, (uint16_t)rate, STRAG_LINK_UNKNOWN, 1);
    }
    /* Where another rank is late in each call messages wait for ranks, too: meters say nothing. */
    judgement->probe =
        strag_slowdown_window(options->slowdown, judge->arrivals ? NULL : &meters, judge->busy);
    judgement->probe_bytes = strag_slowdown_bytes(options->slowdown);
    judge->busy = 0;
}

static void log_links(struct strag_judge *judge)
{
    const struct strag_state_record *state = &judge->state;
    int used =
        snprintf(judge->log, sizeof judge->log, "slow links: %s", state->nslow ? "" : "none");
    for (int s = 0; s < state->nslow && used < (int)sizeof judge->log; s++)
        used +=
            snprintf(judge->log + used, sizeof judge->log - (size_t)used, "%s%s: %.4g",
                     s ? ", " : "", judge->ranks[state->slow[s].rank].host, state->slow[s].factor);
}

/* With other links the straggler's table may no longer help: the next verdict decides anew. */
enum strag_change strag_judge_probed(struct strag_judge *judge,
                                     const struct strag_link_sample *sample, double seconds)
{
    const struct strag_judge_options *options = &judge->options;
    bool changed = strag_slowdown_probed(options->slowdown, sample, seconds);
    judge->log[0] = '\0';
    judge->summary.slowest.probes++;
    if (!changed)
        return STRAG_CHANGE_NOTHING;
    judge->state.nstragglers = 0;
    judge->is_ahead = false;
    judge->acted.rank = -1;
    strag_slowdown_state(options->slowdown, &judge->state);
    if (options->learner)
        strag_learner_forget(options->learner);
    memset(judge->trials, 0, sizeof judge->trials);
    strag_selection_free(judge->usual.selection);
    judge->usual.selection = NULL;
    options->make(options->context, &judge->state, model_of(judge), &judge->usual);
    strag_dynamic_table(judge->dynamic, NULL);
    strag_selection_free(judge->any);
    judge->any = NULL;
    note_slowest(judge);
    log_links(judge);
    return STRAG_CHANGE_LINKS;
}

/* ---- Learning ---- */

/* What a straggler that was found has changed teaches nothing. */
static void note_calls(struct strag_judge *judge, const void *notes, size_t stride)
{
    for (int c = 0; c < judge->sent; c++) {
        const struct call *call = &judge->calls[judge->options.window + c];
        double delay;
        bool brief;
        const double seconds = strag_observer_seconds(notes, stride, judge->options.n, c,
                                                      judge->durations, &delay, &brief);
        const struct strag_learned_call learned = {
            .bytes = call->what.bytes,
            .what = {call->what.algorithm, call->what.blocks, 0},
            .tried = call->what.tried,
            .seconds = seconds,
            .delay = delay,
            .late = brief && delay > late_share * seconds,
        };
        if (call->straggler < 0)
            strag_learner_note(judge->options.learner, &learned);
    }
}

/* The usual table with the learner's numbers and winners. @return whether it is another one */
static bool make_usual(struct strag_judge *judge, const struct strag_state_record *state,
                       double now)
{
    const struct strag_table before = judge->usual.table;
    if (judge->stale && now >= judge->next_time) {
        struct strag_judge_table made = {.selection = NULL};
        double took = judge->options.make(judge->options.context, state, model_of(judge), &made);
        judge->next_time = now + took + took / busy_share;
        strag_selection_free(judge->usual.selection);
        judge->usual = made;
        judge->stale = false;
        if (judge->any) {
            make_any(judge, now);
            strag_dynamic_table(judge->dynamic, judge->any);
        }
    }
    strag_learner_apply(judge->options.learner, &judge->usual.table);
    return !is_same_table(&before, &judge->usual.table);
}

/* Not where arrivals decide what a call takes: calls of trials wait for all. */
static bool may_try(const struct strag_judge *judge)
{
    return !judge->is_ahead && !judge->arrivals;
}

/* While it is found out whether to wait for the last rank windows do not double, but they have so
 * many calls at the least: where another rank is last in each call, chance would name one in fewer.
 */
enum { TELLING_WINDOW = 4 };

/* Windows double, but end with a trial. */
static int next_window(const struct strag_judge *judge)
{
    const int left = may_try(judge) ? strag_learner_calls_left(judge->options.learner) : 0;
    const bool finds_out = judge->arrivals && judge->sent >= TELLING_WINDOW &&
                           !strag_dynamic_policy(judge->dynamic)->on;
    const int next = left > 0 ? judge->filled + left : (finds_out ? 1 : 2) * judge->sent;
    return judge->options.same_window     ? 0
           : next < judge->options.window ? next
                                          : judge->options.window;
}

static void learn(struct strag_judge *judge, const void *notes, size_t stride, double now,
                  struct strag_judgement *judgement)
{
    struct strag_learner *learner = judge->options.learner;
    struct strag_state_record state = judge->state;
    if (judge->is_ahead)
        state.nstragglers = 0;
    note_calls(judge, notes, stride);
    if (strag_learner_fit(learner, &state, judge->usual.selection))
        judge->stale = true;
    bool other = make_usual(judge, &state, now);
    if (may_try(judge)) {
        strag_learner_try(learner, &state, judge->usual.selection, &judge->usual.table,
                          judge->trials, judgement->begun);
        other = make_usual(judge, &state, now) || other;
    }
    if (other && !judge->is_ahead && judgement->change < STRAG_CHANGE_TABLE)
        judgement->change = STRAG_CHANGE_TABLE;
    judgement->window = next_window(judge);
    if (strag_learner_log(learner)[0] && !judge->log[0])
        snprintf(judge->log, sizeof judge->log, "%s", strag_learner_log(learner));
}

/* ---- The judgement ---- */

struct strag_judgement strag_judge_window(struct strag_judge *judge, const void *notes,
                                          size_t stride, double now)
{
    struct strag_observer *observer = judge->options.observer;
    struct strag_watch_summary *summary = &judge->summary;
    struct strag_verdict verdict = strag_observer_decide(observer, notes, stride);
    struct strag_judgement judgement = {.look = verdict.look};
    judge->log[0] = '\0';
    find_scale(judge);
    if (judge->options.stragglers) {
        find_saved(judge);
        if (verdict.rank != judge->acted.rank || verdict.delay != judge->acted.delay)
            act(judge, &verdict, now, &judgement);
    }
    judgement.look = look_for_the_last(judge, now) || judgement.look;
    if (judge->options.learner)
        learn(judge, notes, stride, now, &judgement);
    look_at_links(judge, notes, stride, &judgement);
    summary->straggler = verdict.rank;
    summary->delay = verdict.delay;
    return judgement;
}

const struct strag_state_record *strag_judge_state(const struct strag_judge *judge)
{
    return &judge->state;
}

const struct strag_judge_table *strag_judge_current(const struct strag_judge *judge)
{
    return judge->is_ahead ? &judge->ahead : &judge->usual;
}

const struct strag_trial *strag_judge_trials(const struct strag_judge *judge)
{
    return judge->trials;
}

const struct strag_dynamic_policy *strag_judge_policy(const struct strag_judge *judge)
{
    return strag_dynamic_policy(judge->dynamic);
}

const struct strag_watch_summary *strag_judge_summary(struct strag_judge *judge)
{
    struct strag_watch_summary *summary = &judge->summary;
    summary->observed = strag_observer_report(judge->options.observer);
    summary->world = summary->observed.rank < 0 ? -1 : judge->ranks[summary->observed.rank].world;
    return summary;
}

const struct strag_rank_location *strag_judge_ranks(const struct strag_judge *judge)
{
    return judge->ranks;
}

const struct strag_sourced_model *strag_judge_model(const struct strag_judge *judge)
{
    return model_of(judge);
}

const char *strag_judge_log(const struct strag_judge *judge)
{
    return judge->log;
}
