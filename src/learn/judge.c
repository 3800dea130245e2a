/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/judge.h"

#include "base/text.h"
#include "base/units.h"
#include "detect/thresholds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct strag_judge {
    struct strag_judge_options options;
    struct strag_observer *observer;
    struct strag_watched_call calls[STRAG_WINDOW_CALLS]; /* of the window, ... */
    int filled;                                          /* ... how many */
    double own;                                          /* seconds that this rank was in them */

    struct strag_state_record state;
    struct strag_judge_table usual, ahead; /* without and with a straggler */
    bool is_ahead;                         /* `ahead` is in force */
    struct strag_late acted;               /* the stragglers that were last acted upon */

    struct strag_dynamic *dynamic;
    double price;                /* modelled seconds for finding out who is last */
    bool arrivals;               /* calls find out who is last, or measure arrivals */
    struct strag_selection *any; /* candidates without the last rank, or NULL */

    double scale; /* measured seconds per modelled second; 0 if unknown */
    bool stale;   /* the numbers behind the usual table have changed */
    double busy;  /* seconds in calls since links were examined */
    int soon;     /* windows that follow without a pause: the first ones, and after each change */
    struct strag_budget budget;
    struct strag_watch_summary summary;
    char log[768];
};

/* ---- Modelled times ---- */

/* The modelled time with a straggler's delay. @return INFINITY if unknown */
static double modelled(const struct strag_selection *selection,
                       const struct strag_watched_call *call, double delay)
{
    return delay +
           strag_selection_seconds(selection, call->algorithm, call->blocks, call->bytes, delay);
}

/* What the usual table runs. */
static struct strag_watched_call usual_call(const struct strag_judge *judge, size_t bytes)
{
    const struct strag_entry *entry = strag_table_entry(&judge->usual.table, bytes);
    return (struct strag_watched_call){
        .bytes = bytes, .algorithm = entry->algorithm, .blocks = entry->blocks};
}

/* ---- Creation ---- */

/* Record the slowest host from the next call on. */
static void note_slowest(struct strag_judge *judge)
{
    struct strag_slowest *note = &judge->summary.slowest;
    const struct strag_state_record *state = &judge->state;
    const struct strag_slow *slowest = NULL;
    for (int s = 0; s < state->nslow; s++) {
        if (!slowest || state->slow[s].factor > slowest->factor)
            slowest = &state->slow[s];
    }
    note->to = slowest ? 0 : judge->summary.calls;
    if (slowest && (note->hosts == 0 || note->rank != slowest->rank))
        note->from = judge->summary.calls + 1;
    note->rank = slowest ? slowest->rank : note->rank;
    note->factor = slowest ? slowest->factor : note->factor;
    note->hosts = state->nslow;
}

void strag_judge_free(struct strag_judge *judge)
{
    if (!judge)
        return;
    strag_selection_free(judge->usual.selection);
    strag_selection_free(judge->ahead.selection);
    strag_selection_free(judge->any);
    strag_dynamic_free(judge->dynamic);
    strag_observer_free(judge->observer);
    free(judge);
}

/* Make the candidates that go ahead without the last rank: they are the same for every rank, so
 * rank n - 1 stands for it. */
static void make_any(struct strag_judge *judge)
{
    const double a_little = 1e-9; /* seconds; with 0 the model has no straggler */
    struct strag_state_record state = judge->state;
    struct strag_selection *made = NULL;
    state.nstragglers = 1;
    state.straggler[0] = (struct strag_straggler){judge->options.n - 1, a_little};
    judge->options.make_any(judge->options.context, &state, strag_judge_model(judge), &made,
                            &judge->price);
    strag_selection_free(judge->any);
    judge->any = made;
    strag_dynamic_table(judge->dynamic, made);
}

struct strag_judge *strag_judge_create(const struct strag_judge_options *options,
                                       const struct strag_state_record *state,
                                       const struct strag_judge_table *usual)
{
    struct strag_judge *judge = calloc(1, sizeof *judge);
    if (!judge)
        return NULL;
    judge->options = *options;
    judge->observer = strag_observer_create(options->n);
    judge->dynamic = strag_dynamic_create(options->n, options->dynamic, options->dynamic_from);
    if (!judge->observer || !judge->dynamic) {
        strag_judge_free(judge);
        return NULL;
    }
    judge->budget.unlimited = options->same_window;
    judge->state = *state;
    judge->usual = *usual;
    judge->stale = options->fit && usual->selection &&
                   !strag_table_is_same(&usual->table, &usual->selection->table);
    judge->soon = STRAG_RECENT;
    judge->summary = strag_watch_summary_none();
    judge->summary.judged = options->stragglers;
    note_slowest(judge);
    return judge;
}

struct strag_window_order strag_judge_first(int calls, bool same_window)
{
    const bool all = same_window || calls < STRAG_FIRST_WINDOW;
    return (struct strag_window_order){.calls = all ? calls : STRAG_FIRST_WINDOW};
}

/* ---- Calls ---- */

/* Does the algorithm not wait for the straggler? */
static bool goes_ahead(const struct strag_algorithm *algorithm)
{
    return algorithm && algorithm->needs_straggler;
}

void strag_judge_add(struct strag_judge *judge, const struct strag_watched_call *call,
                     double seconds)
{
    struct strag_watch_summary *summary = &judge->summary;
    const bool outside = call->turn == STRAG_DYNAMIC_OUTSIDE;
    const bool ahead =
        outside ? judge->is_ahead && goes_ahead(call->algorithm) : call->without >= 0;
    summary->calls++;
    strag_budget_add_call(&judge->budget, seconds);
    judge->busy += seconds < 0 ? judge->budget.call : seconds;
    if (ahead && outside && summary->ahead_from == 0)
        summary->ahead_from = summary->calls;
    if (seconds < 0 || judge->filled == STRAG_WINDOW_CALLS)
        return;
    judge->calls[judge->filled] = *call;
    judge->calls[judge->filled++].ahead = ahead;
    judge->own += seconds;
}

/* ---- Measured and modelled ---- */

/* Find the median ratio of measured to modelled time over the window's calls that waited for all
 * ranks; of two calls the lower one, since the first may have made connections. */
static void find_scale(struct strag_judge *judge)
{
    double ratios[STRAG_WINDOW_CALLS];
    int count = 0;
    for (int c = 0; c < judge->filled; c++) {
        const struct strag_watched_call *call = &judge->calls[c];
        const double seconds = (double)strag_observer_call(judge->observer, c)->seconds;
        const double expected = modelled(judge->usual.selection, call, 0);
        if (!call->ahead && seconds > 0 && expected > 0 && expected < INFINITY)
            ratios[count++] = seconds / expected;
    }
    if (count == 0)
        return;
    qsort(ratios, (size_t)count, sizeof *ratios, strag_compare_double);
    judge->scale = ratios[(count - 1) / 2];
    judge->summary.model_error = fabs(1 / judge->scale - 1);
}

/* Find how much longer the calls that went ahead would have taken with the usual table. */
static void find_saved(struct strag_judge *judge)
{
    for (int c = 0; c < judge->filled; c++) {
        const struct strag_watched_call *call = &judge->calls[c];
        if (!call->ahead || call->turn != STRAG_DYNAMIC_OUTSIDE)
            continue;
        const struct strag_watched_call usual = usual_call(judge, call->bytes);
        const struct strag_last *last = strag_observer_call(judge->observer, c);
        const double delay = strag_last_delay(last, &judge->acted) / judge->scale;
        const double saved = modelled(judge->usual.selection, &usual, 0) + delay -
                             modelled(judge->ahead.selection, call, delay);
        if (isfinite(saved))
            judge->summary.saved += judge->scale * saved;
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

/* Does the straggler's table help at the sizes of the last calls? */
static bool helps_now(const struct strag_judge *judge)
{
    for (int c = 0; judge->is_ahead && c < judge->filled; c++) {
        if (goes_ahead(strag_table_find(&judge->ahead.table, judge->calls[c].bytes)))
            return true;
    }
    return false;
}

/* Make the table for a straggler. @return whether it helps */
static bool make_ahead(struct strag_judge *judge, const struct strag_state_record *state)
{
    struct strag_judge_table made = {.selection = NULL};
    judge->options.make(judge->options.context, state, strag_judge_model(judge), &made);
    const bool good = helps(&made.table);
    strag_selection_free(good ? judge->ahead.selection : made.selection);
    if (good)
        judge->ahead = made;
    return good;
}

static void log_stragglers(struct strag_judge *judge)
{
    const struct strag_late *late = &judge->acted;
    snprintf(judge->log, sizeof judge->log, "%s", late->count ? "" : "no rank is late");
    for (int i = 0; i < late->count; i++)
        strag_append(judge->log, sizeof judge->log, i ? ", rank %d by %s" : "rank %d is late by %s",
                     late->rank[i].rank, strag_units_time(late->rank[i].delay).text);
    if (late->count > 0)
        strag_append(judge->log, sizeof judge->log, ": %s",
                     helps_now(judge)   ? "the others go ahead"
                     : late->count == 1 ? "it is waited for"
                                        : "they are waited for");
}

static bool is_acted_upon(const struct strag_judge *judge, const struct strag_late *late)
{
    bool same = strag_late_is_same(late, &judge->acted);
    for (int i = 0; same && i < late->count; i++)
        same = late->rank[i].delay == judge->acted.rank[i].delay;
    return same;
}

/* Switch to another table if the stragglers ask for one. */
static void act(struct strag_judge *judge, const struct strag_late *late,
                struct strag_judgement *judgement)
{
    const bool before = judge->is_ahead;
    struct strag_state_record state = judge->state;
    state.nstragglers = 0;
    if (late->count > 0 && (!(judge->scale > 0) || strag_budget_left(&judge->budget) < 0))
        return; /* try again after the next window */
    for (int i = 0; i < late->count; i++)
        strag_state_add_straggler(
            &state,
            (struct strag_straggler){late->rank[i].rank, late->rank[i].delay / judge->scale});
    judge->acted = *late;
    judge->is_ahead = late->count > 0 && make_ahead(judge, &state);
    log_stragglers(judge);
    if (!judge->is_ahead && !before)
        return;
    judgement->change = STRAG_CHANGE_STRAGGLER;
    judge->state = state;
    judge->state.nstragglers = judge->is_ahead ? state.nstragglers : 0;
}

/* ---- The last rank to arrive ---- */

static void fill_dynamic_calls(const struct strag_judge *judge, struct strag_dynamic_call *calls)
{
    for (int c = 0; c < judge->filled; c++) {
        const struct strag_watched_call *call = &judge->calls[c];
        const struct strag_last *last = strag_observer_call(judge->observer, c);
        const struct strag_watched_call usual = usual_call(judge, call->bytes);
        calls[c] = (struct strag_dynamic_call){
            .bytes = call->bytes,
            .gap = (double)last->order[1].seconds,
            .seconds = (double)last->seconds,
            .close = last->close,
            .turn = call->turn,
            .went_ahead = call->without >= 0,
            .together = modelled(judge->usual.selection, &usual, 0),
        };
    }
}

static void log_dynamic(struct strag_judge *judge, bool before)
{
    const struct strag_dynamic_policy *policy = strag_dynamic_policy(judge->dynamic);
    if (policy->on != before && !judge->is_ahead) /* else the log has the straggler */
        snprintf(judge->log, sizeof judge->log,
                 policy->on ? "another rank is late in each call: the others go ahead after "
                              "%s and %s per MiB"
                            : "all ranks are waited for again",
                 strag_units_time(policy->wait_limit).text,
                 strag_units_time(1048576 * policy->wait_per_byte).text);
}

/* Judge the dynamic mode, which is off while the others go ahead without a known straggler. @return
 * whether to look closely */
static bool look_for_the_last(struct strag_judge *judge)
{
    struct strag_dynamic_call calls[STRAG_WINDOW_CALLS];
    const bool before = strag_dynamic_policy(judge->dynamic)->on;
    const int count = judge->filled;
    if (judge->options.dynamic == STRAG_DYNAMIC_NEVER || !(judge->scale > 0))
        return false;
    fill_dynamic_calls(judge, calls);
    bool look = !judge->is_ahead && strag_dynamic_suspects(judge->dynamic, calls, count);
    if (judge->is_ahead)
        strag_dynamic_leave(judge->dynamic);
    else if (!judge->any && (look || judge->options.dynamic == STRAG_DYNAMIC_ALWAYS) &&
             strag_budget_left(&judge->budget) >= 0)
        make_any(judge);
    if (judge->any && !judge->is_ahead)
        look = strag_dynamic_window(judge->dynamic, calls, count, judge->scale,
                                    judge->scale * judge->price);
    log_dynamic(judge, before);
    judge->summary.dynamic = strag_dynamic_report(judge->dynamic);
    judge->arrivals = look || strag_dynamic_policy(judge->dynamic)->on;
    return look;
}

/* ---- The usual table ---- */

/* The state without the stragglers that were found. */
static struct strag_state_record usual_state(const struct strag_judge *judge)
{
    struct strag_state_record state = judge->state;
    if (judge->is_ahead)
        state.nstragglers = 0;
    return state;
}

static void make_usual(struct strag_judge *judge)
{
    const struct strag_state_record state = usual_state(judge);
    struct strag_judge_table made = {.selection = NULL};
    judge->options.make(judge->options.context, &state, strag_judge_model(judge), &made);
    strag_selection_free(judge->usual.selection);
    judge->usual = made;
    judge->stale = false;
    if (judge->options.experiments)
        strag_experiments_apply(judge->options.experiments, &judge->usual.table);
}

/* ---- Slow links ---- */

/* While calls determine arrivals, messages also wait for ranks, so the meters do not show links. */
static void examine_links(struct strag_judge *judge, const struct strag_link_sample *links,
                          struct strag_judgement *judgement)
{
    struct strag_slowdown *slowdown = judge->options.slowdown;
    if (!slowdown)
        return;
    judgement->probe = strag_slowdown_window(slowdown, judge->arrivals ? NULL : links, judge->busy,
                                             strag_budget_left(&judge->budget));
    judgement->probe_bytes = strag_slowdown_bytes(slowdown);
    judge->busy = 0;
}

static void log_links(struct strag_judge *judge)
{
    const struct strag_state_record *state = &judge->state;
    snprintf(judge->log, sizeof judge->log, "slow links: %s", state->nslow ? "" : "none");
    for (int s = 0; s < state->nslow; s++)
        strag_append(judge->log, sizeof judge->log, "%s%s: %.4g", s ? ", " : "",
                     judge->options.host(judge->options.context, state->slow[s].rank),
                     state->slow[s].factor);
}

/* Are the same ranks' hosts slow, by whatever factors? */
static bool has_same_slow(const struct strag_state_record *a, const struct strag_state_record *b)
{
    bool same = a->nslow == b->nslow;
    for (int i = 0; same && i < a->nslow; i++) {
        int j = 0;
        while (j < b->nslow && b->slow[j].rank != a->slow[i].rank)
            j++;
        same = j < b->nslow;
    }
    return same;
}

/* The stragglers and their delays in the model stay; the findings of experiments, too, if only
 * factors change. */
enum strag_change strag_judge_probed(struct strag_judge *judge,
                                     const struct strag_link_sample *links, double seconds)
{
    const struct strag_judge_options *options = &judge->options;
    const bool changed = strag_slowdown_probed(options->slowdown, links, seconds);
    judge->log[0] = '\0';
    judge->summary.slowest.probes++;
    judge->soon = STRAG_RECENT;
    if (!changed)
        return STRAG_CHANGE_NOTHING;
    const struct strag_state_record before = judge->state;
    strag_slowdown_state(options->slowdown, &judge->state);
    if (options->fit) {
        const struct strag_state_record usual = usual_state(judge);
        strag_fit_again(options->fit, &usual);
    }
    if (options->experiments && has_same_slow(&before, &judge->state))
        strag_experiments_stop(options->experiments);
    else if (options->experiments)
        strag_experiments_forget(options->experiments);
    make_usual(judge);
    if (judge->is_ahead && !make_ahead(judge, &judge->state)) {
        judge->is_ahead = false;
        judge->state.nstragglers = 0;
    }
    strag_dynamic_table(judge->dynamic, NULL);
    strag_selection_free(judge->any);
    judge->any = NULL;
    note_slowest(judge);
    log_links(judge);
    return STRAG_CHANGE_LINKS;
}

/* ---- The machine ---- */

/* Calls that ran a plan for a straggler are left out of the fit. */
static void fit_model(struct strag_judge *judge, const struct strag_call_sample *samples)
{
    struct strag_fit *fit = judge->options.fit;
    const struct strag_state_record state = usual_state(judge);
    for (int c = 0; fit && c < judge->filled; c++) {
        const struct strag_watched_call *call = &judge->calls[c];
        if (!judge->calls[c].ahead && call->algorithm && !call->algorithm->needs_straggler)
            strag_fit_note(fit, call->bytes, call->algorithm, call->blocks,
                           strag_call_sample_seconds(&samples[c], judge->options.n));
    }
    if (fit && strag_fit_update(fit, &state, judge->usual.selection)) {
        judge->stale = true;
        snprintf(judge->log, sizeof judge->log, "%s", strag_fit_log(fit));
    }
}

/* Renew the usual table from the fitted numbers and the findings. @return whether it has changed */
static bool renew_usual(struct strag_judge *judge)
{
    const struct strag_table before = judge->usual.table;
    if (judge->stale && strag_budget_left(&judge->budget) >= 0) {
        make_usual(judge);
        if (judge->any)
            make_any(judge);
    }
    if (judge->options.experiments)
        strag_experiments_apply(judge->options.experiments, &judge->usual.table);
    return !strag_table_is_same(&before, &judge->usual.table);
}

/* ---- Experiments ---- */

/* Add the window to the experiment, if there is one. @return whether the experiment has ended */
static bool end_experiment(struct strag_judge *judge, const struct strag_call_sample *samples)
{
    struct strag_experiment_call calls[STRAG_WINDOW_CALLS];
    if (!judge->options.experiments)
        return false;
    for (int c = 0; c < judge->filled; c++) {
        calls[c].ran = (struct strag_variant){judge->calls[c].algorithm, judge->calls[c].blocks};
        calls[c].seconds = strag_call_sample_seconds(&samples[c], judge->options.n);
    }
    judge->budget.spent += strag_experiments_add(judge->options.experiments, calls, judge->filled);
    const char *log = strag_experiments_log(judge->options.experiments);
    if (log[0])
        snprintf(judge->log, sizeof judge->log, "%s", log);
    return log[0];
}

/* Had several of the window's calls the size and operation of the last one? */
static bool comes_often(const struct strag_judge *judge)
{
    const struct strag_watched_call *calls = judge->calls;
    const int last = judge->filled - 1;
    int count = 0;
    for (int c = 0; c <= last; c++)
        count += calls[c].bytes == calls[last].bytes && calls[c].operation == calls[last].operation;
    return count >= STRAG_FIRST_WINDOW;
}

/* No rival runs at first, while arrivals decide how long calls take, or while links are in doubt.
 * @return whether the next window is an experiment's */
static bool try_rival(struct strag_judge *judge, struct strag_judgement *judgement)
{
    struct strag_experiments *experiments = judge->options.experiments;
    if (!experiments || !judge->usual.selection)
        return false;
    if (judge->summary.calls < (STRAG_RECENT - 1) * STRAG_WINDOW_CALLS || !comes_often(judge))
        return false;
    const struct strag_watched_call *last = &judge->calls[judge->filled - 1];
    const bool in_doubt = judge->is_ahead || judge->arrivals || judgement->look || judgement->probe;
    const struct strag_experiment_inputs inputs = {
        .selection = judge->usual.selection,
        .table = &judge->usual.table,
        .bytes = last->bytes,
        .operation = last->operation,
        .call = judge->budget.call,
        .left = in_doubt ? 0 : strag_budget_left(&judge->budget),
    };
    return strag_experiments_next(experiments, &inputs, &judgement->next);
}

/* ---- The next window ---- */

/* While something is new or in doubt, windows follow each other at once and double their calls.
 * Then pauses keep them to their share of the time. Overspending always leads to a pause. */
static void order_next(struct strag_judge *judge, struct strag_judgement *judgement)
{
    const int more = judge->filled > 0 ? 2 * judge->filled : STRAG_FIRST_WINDOW;
    const int calls = judgement->look ? judgement->look : more;
    struct strag_window_order *next = &judgement->next;
    *next = (struct strag_window_order){.calls = judge->options.calls};
    if (judge->options.same_window || try_rival(judge, judgement))
        return;
    if (judgement->look || judgement->probe || judgement->change != STRAG_CHANGE_NOTHING)
        judge->soon = STRAG_RECENT;
    next->calls = calls < next->calls ? calls : next->calls;
    next->pause = strag_budget_pause(&judge->budget, judge->soon > 0);
    judge->soon -= judge->soon > 0;
}

/* ---- The judgement ---- */

static void stragglers(struct strag_judge *judge, const struct strag_late *late,
                       struct strag_judgement *judgement)
{
    if (judge->options.stragglers) {
        find_saved(judge);
        if (!is_acted_upon(judge, late))
            act(judge, late, judgement);
    }
    judge->summary.switches += !strag_late_is_same(late, &judge->summary.late);
    judge->summary.late = *late;
}

struct strag_judgement strag_judge_window(struct strag_judge *judge,
                                          const struct strag_call_sample *calls, int count,
                                          const struct strag_link_sample *links)
{
    const struct strag_verdict verdict = strag_observer_decide(judge->observer, calls, count);
    struct strag_judgement judgement = {.look = verdict.look};
    judge->log[0] = '\0';
    if (judge->filled > 0)
        judge->budget.call = judge->own / judge->filled;
    find_scale(judge);
    stragglers(judge, &verdict.late, &judgement);
    if (look_for_the_last(judge) && judgement.look == 0)
        judgement.look = STRAG_WINDOW_CALLS;
    judgement.found = end_experiment(judge, calls);
    fit_model(judge, calls);
    if (renew_usual(judge) && !judge->is_ahead && judgement.change < STRAG_CHANGE_TABLE)
        judgement.change = STRAG_CHANGE_TABLE;
    examine_links(judge, links, &judgement);
    order_next(judge, &judgement);
    judge->filled = 0;
    judge->own = 0;
    return judgement;
}

void strag_judge_spent(struct strag_judge *judge, double seconds)
{
    strag_budget_add_window(&judge->budget, seconds);
}

const struct strag_state_record *strag_judge_state(const struct strag_judge *judge)
{
    return &judge->state;
}

const struct strag_judge_table *strag_judge_current(const struct strag_judge *judge)
{
    return judge->is_ahead ? &judge->ahead : &judge->usual;
}

const struct strag_dynamic_policy *strag_judge_policy(const struct strag_judge *judge)
{
    return strag_dynamic_policy(judge->dynamic);
}

const struct strag_watch_summary *strag_judge_summary(const struct strag_judge *judge)
{
    return &judge->summary;
}

const struct strag_sourced_model *strag_judge_model(const struct strag_judge *judge)
{
    return judge->options.fit ? strag_fit_model(judge->options.fit) : NULL;
}

const char *strag_judge_log(const struct strag_judge *judge)
{
    return judge->log;
}
