/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/learn.h"

#include "base/text.h"
#include "base/units.h"
#include "model/platform.h"
#include "watch/offers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 8, WINDOW_SIZES = 8 }; /* of a kind; of a window */

/* Of the numbers before any call, by their origin: defaults may be wrong by a factor of a thousand;
 * within a host they were measured on one machine, and what was measured before is of this one. */
static const double doubt_default = 7, doubt_local = 1.5, doubt_measured = 1;

/* The shortest of several round trips is what a short message takes. But a short measurement of a
 * bandwidth may have been of a shaper's burst. */
static const double doubt_alpha = 0.5, doubt_bandwidth = 3;

/* Calls that take so much more or less than modelled want another fit; so far has a number to move
 * to want another table. */
static const double worth_fitting = 0.05, worth_a_table = 0.05;

/* Calls of a plan and a size. */
struct kind {
    size_t bytes;
    const struct strag_algorithm *algorithm;
    int blocks;
    int count;
    uint64_t last; /* the call that was noted last */
    float seconds[SAMPLES], delay;
};

/* What prices them: links and room for all kinds with the model that was asked last. */
struct pricing {
    struct strag_problem problem;
    struct strag_platform *platform; /* NULL: none yet */
    struct strag_model model;
    const struct kind *kinds[STRAG_FIT_CALLS_MAX];
};

struct strag_learner {
    struct strag_problem problem;
    struct strag_sourced_model before, now;
    double doubt_before[STRAG_MODEL_NUMBERS], doubt[STRAG_MODEL_NUMBERS];
    struct kind kinds[STRAG_FIT_CALLS_MAX];
    int nkinds;
    uint64_t calls;
    bool news; /* kinds have calls that were not fitted */
    int wait,
        longer; /* windows until the next fit; and if that changes nothing, until the one after */

    struct strag_trials *trials;
    size_t size[WINDOW_SIZES]; /* of the last window, one of each class; 0: none */
    int calls_of[WINDOW_SIZES], window;
    int left;   /* calls, for trials */
    bool found; /* one has ended in the last window */
    char log[768];
};

/* ---- Making one ---- */

static void find_doubts(struct strag_learner *learner)
{
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
        const enum strag_origin origin = learner->before.origin[id];
        const bool network =
            id == STRAG_MODEL_ALPHA || id == STRAG_MODEL_OVERHEAD || id == STRAG_MODEL_BANDWIDTH;
        const bool latency = id == STRAG_MODEL_LINK_LATENCY || id == STRAG_MODEL_HOP_LATENCY;
        double doubt = network ? doubt_default : latency ? 0 : doubt_local;
        if (origin == STRAG_FROM_MEASURED)
            doubt = id == STRAG_MODEL_ALPHA       ? doubt_alpha
                    : id == STRAG_MODEL_BANDWIDTH ? doubt_bandwidth
                                                  : doubt_measured;
        if (origin == STRAG_FROM_USER || origin == STRAG_FROM_FILE)
            doubt = 0;
        learner->doubt_before[id] = learner->doubt[id] = doubt;
    }
}

struct strag_learner *strag_learner_create(const struct strag_problem *problem,
                                           const struct strag_sourced_model *model, size_t least)
{
    struct strag_learner *learner = calloc(1, sizeof *learner);
    if (!learner)
        return NULL;
    learner->problem = *problem;
    learner->before = learner->now = *model;
    learner->trials = strag_trials_create(least);
    find_doubts(learner);
    if (learner->trials)
        return learner;
    free(learner);
    return NULL;
}

void strag_learner_free(struct strag_learner *learner)
{
    if (!learner)
        return;
    strag_trials_free(learner->trials);
    free(learner);
}

void strag_learner_forget(struct strag_learner *learner)
{
    learner->before = learner->now;
    find_doubts(learner);
    learner->nkinds = 0;
    learner->window = 0;
    learner->news = false;
    learner->wait = learner->longer = 0;
    learner->left = 0;
    strag_trials_forget(learner->trials);
}

/* ---- Calls ---- */

static struct kind *find_kind(struct strag_learner *learner, const struct strag_learned_call *call)
{
    int oldest = 0;
    for (int k = 0; k < learner->nkinds; k++) {
        struct kind *kind = &learner->kinds[k];
        if (kind->bytes == call->bytes && kind->algorithm == call->what.algorithm &&
            kind->blocks == call->what.blocks)
            return kind;
        if (kind->last < learner->kinds[oldest].last)
            oldest = k;
    }
    if (learner->nkinds < STRAG_FIT_CALLS_MAX)
        oldest = learner->nkinds++;
    learner->kinds[oldest] = (struct kind){
        .bytes = call->bytes, .algorithm = call->what.algorithm, .blocks = call->what.blocks};
    return &learner->kinds[oldest];
}

static void note_size(struct strag_learner *learner, size_t bytes)
{
    int i = 0;
    while (i < learner->window && strag_size_class(learner->size[i]) != strag_size_class(bytes))
        i++;
    if (i == WINDOW_SIZES)
        return;
    if (i == learner->window) {
        learner->window++;
        learner->calls_of[i] = 0;
    }
    learner->size[i] = bytes;
    learner->calls_of[i]++;
}

void strag_learner_note(struct strag_learner *learner, const struct strag_learned_call *call)
{
    if (!(call->seconds > 0) || !(call->seconds < INFINITY) || call->bytes == 0)
        return;
    note_size(learner, call->bytes);
    strag_trials_note(learner->trials, call->bytes, &call->what, call->tried, call->seconds);
    if (!call->what.algorithm || call->late)
        return; /* nobody knows how it works, or for how long */
    struct kind *kind = find_kind(learner, call);
    kind->seconds[kind->count++ % SAMPLES] = (float)call->seconds;
    kind->delay = (float)call->delay;
    kind->last = ++learner->calls;
    learner->news = true;
}

/* The first call may have made connections. */
static double median_of(const struct kind *kind)
{
    float sorted[SAMPLES];
    int count = kind->count < SAMPLES ? kind->count : SAMPLES;
    int first = count > 1 && kind->count < SAMPLES;
    memcpy(sorted, kind->seconds + first, (size_t)(count - first) * sizeof *sorted);
    qsort(sorted, (size_t)(count - first), sizeof *sorted, strag_compare_float);
    return (double)sorted[(count - first - 1) / 2];
}

/* ---- Modelled times ---- */

/* @return NAN: it cannot be told */
static double price(void *context, int call, const struct strag_model *model)
{
    struct pricing *pricing = context;
    const struct kind *kind = pricing->kinds[call];
    struct strag_problem problem = pricing->problem;
    struct strag_profile *profile = NULL;
    if (!pricing->platform || !strag_model_is_same(model, &pricing->model)) {
        strag_platform_free(pricing->platform);
        pricing->platform = NULL;
        pricing->model = *model;
        if (strag_platform_create(&problem, model, &pricing->platform, NULL) != STRAG_OK)
            return NAN;
    }
    const struct strag_attempt attempt = {
        .platform = pricing->platform,
        .messages = strag_select_messages(problem.n),
    };
    problem.blocks = kind->blocks;
    if (strag_profile_attempt(kind->algorithm, &problem, &attempt, &profile, NULL) != STRAG_OK ||
        !profile)
        return NAN;
    double delay = kind->algorithm->needs_straggler ? (double)kind->delay : 0;
    const double seconds = strag_from_last_arrival(profile, (double)kind->bytes, delay);
    strag_profile_free(profile);
    return seconds;
}

/* By a selection. @return NAN: it is not there */
static double expected(const struct strag_selection *selection, const struct kind *kind)
{
    for (int c = 0; selection && c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        if (candidate->algorithm == kind->algorithm && candidate->blocks == kind->blocks &&
            candidate->profile)
            return strag_from_last_arrival(candidate->profile, (double)kind->bytes,
                                           kind->algorithm->needs_straggler ? (double)kind->delay
                                                                            : 0);
    }
    return NAN;
}

static bool is_surprising(const struct strag_learner *learner,
                          const struct strag_selection *selection)
{
    for (int k = 0; k < learner->nkinds; k++) {
        const struct kind *kind = &learner->kinds[k];
        const double modelled = expected(selection, kind);
        if (!(fabs(modelled / median_of(kind) - 1) <= worth_fitting))
            return true;
    }
    return false;
}

/* ---- The fit ---- */

/* Pricing takes the longer the more ranks there are; where a fit changes nothing the next one has
 * to wait for 1, 3, 7 ... windows. */
static int kinds_for(int n)
{
    return n <= 64 ? 8 : n <= 256 ? 6 : n <= 4096 ? 4 : 2;
}

static int compare_kinds(const void *a, const void *b)
{
    const struct kind *x = *(const struct kind *const *)a, *y = *(const struct kind *const *)b;
    const int most = SAMPLES, of_x = x->count < most ? x->count : most,
              of_y = y->count < most ? y->count : most;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return x->last > y->last ? -1 : 1;
}

/* Those with most calls, the latest of equals. @return how many */
static int choose_kinds(const struct strag_learner *learner, struct pricing *pricing,
                        struct strag_fit_call *calls)
{
    const int most = kinds_for(learner->problem.n);
    for (int k = 0; k < learner->nkinds; k++)
        pricing->kinds[k] = &learner->kinds[k];
    qsort(pricing->kinds, (size_t)learner->nkinds, sizeof(struct kind *), compare_kinds);
    int count = learner->nkinds < most ? learner->nkinds : most;
    for (int k = 0; k < count; k++) {
        const struct kind *kind = pricing->kinds[k];
        int weight = kind->count - 1 < SAMPLES ? kind->count - 1 : SAMPLES;
        calls[k] = (struct strag_fit_call){median_of(kind), weight > 0 ? weight : 0.25};
    }
    return count;
}

/* @return whether a number has changed by enough to want another table */
static bool adopt(struct strag_learner *learner, const struct strag_fit *fit,
                  const struct strag_model *model)
{
    bool moved = false;
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
        const double was = strag_model_value(&learner->now.model, id);
        const double is = strag_model_value(model, id);
        const bool tells =
            id != STRAG_MODEL_OVERHEAD || fit->known[id]; /* it often matters little */
        moved = moved || (tells && fabs(log(is / was)) > worth_a_table);
        if (fit->known[id])
            strag_model_set(&learner->now, id, is, STRAG_FROM_MEASURED);
        else
            *strag_model_at(&learner->now.model, id) = is;
    }
    memcpy(learner->doubt, fit->doubt, sizeof learner->doubt);
    learner->now.measured_error = fit->error;
    return moved;
}

static void log_fit(struct strag_learner *learner, const struct strag_fit *fit)
{
    const struct strag_model *model = &learner->now.model;
    snprintf(learner->log, sizeof learner->log,
             "calls of %d kinds fit alpha %.4g us and bandwidth %.4g Gbit/s to %s, before to %s",
             fit->calls, 1e6 * model->alpha, 8e-9 * model->bandwidth,
             strag_units_share(fit->error).text, strag_units_share(fit->before).text);
}

bool strag_learner_fit(struct strag_learner *learner, const struct strag_state_record *record,
                       const struct strag_selection *selection)
{
    const struct strag_state state = strag_state_of(record);
    struct pricing pricing = {.problem = learner->problem};
    struct strag_fit_call calls[STRAG_FIT_CALLS_MAX];
    struct strag_model model;
    learner->log[0] = '\0';
    learner->found = false;
    if (!learner->news || learner->wait-- > 0 || !is_surprising(learner, selection))
        return false;
    learner->news = false;
    learner->longer = 2 * learner->longer + 1;
    learner->wait = learner->longer;
    pricing.problem.state = &state;
    const int count = choose_kinds(learner, &pricing, calls);
    model = learner->now.model;
    const struct strag_fit fit = strag_calibrate(
        calls, count, price, &pricing, &learner->before.model, learner->doubt_before, &model);
    strag_platform_free(pricing.platform);
    if (fit.calls == 0)
        return false;
    const bool moved = adopt(learner, &fit, &model);
    if (moved) {
        learner->wait = learner->longer = 0;
        log_fit(learner, &fit);
    }
    return moved;
}

const struct strag_sourced_model *strag_learner_model(const struct strag_learner *learner)
{
    return &learner->now;
}

const double *strag_learner_doubt(const struct strag_learner *learner)
{
    return learner->doubt;
}

/* ---- Trials ---- */

static bool is_running(const struct strag_learner *learner, const struct strag_trial *trial)
{
    return trial->runs > 0 && strag_trials_left(learner->trials, (size_t)trial->from) > 0;
}

/* @return NULL: as many as may be at the same time are running */
static struct strag_trial *find_place(const struct strag_learner *learner,
                                      struct strag_trial *trials, const bool *begun)
{
    for (int t = 0; t < STRAG_TRIALS_AT_ONCE; t++) {
        if (!begun[t] && !is_running(learner, &trials[t]))
            return &trials[t];
    }
    return NULL;
}

/* Calls that a trial will be over after, at the rate at which its size comes. */
static int duration(const struct strag_learner *learner, int calls, int calls_of)
{
    int all = 0;
    for (int i = 0; i < learner->window; i++)
        all += learner->calls_of[i];
    return calls_of > 0 ? (calls * all + calls_of - 1) / calls_of : calls;
}

static void log_winner(struct strag_learner *learner, size_t bytes)
{
    char text[512];
    const size_t used = strlen(learner->log);
    strag_trials_text(learner->trials, bytes, text, sizeof text);
    if (text[0])
        snprintf(learner->log + used, sizeof learner->log - used, "%stried at %zu bytes: %s",
                 used ? "; " : "", bytes, text);
}

/* Look at one class. @param[out] next  its trial  @return whether there is one, to begin now */
static bool look_at_class(struct strag_learner *learner, const struct strag_selection *selection,
                          const struct strag_table *table, size_t bytes, struct strag_offer *offers,
                          struct strag_trial *next)
{
    char text[8];
    const bool was_over = strag_trials_text(learner->trials, bytes, text, sizeof text)[0];
    const bool guessed = learner->now.origin[STRAG_MODEL_OVERHEAD] == STRAG_FROM_DEFAULT;
    const int count =
        strag_offers_make(selection, strag_table_entry(table, bytes), bytes, guessed, offers);
    const bool more = strag_trials_next(learner->trials, bytes, offers, count, next);
    if (!was_over)
        log_winner(learner, bytes);
    learner->found |= !was_over && strag_trials_is_over(learner->trials, bytes);
    return more;
}

/* Is there a size in the window whose trial is still to come? */
static bool wants_offers(const struct strag_learner *learner)
{
    int i = 0;
    while (i < learner->window && strag_trials_is_over(learner->trials, learner->size[i]))
        i++;
    return i < learner->window;
}

/* Room for the offers of a selection, which becomes complete. @return NULL: out of memory, or there
 * is nothing to try */
static struct strag_offer *prepare_offers(const struct strag_learner *learner,
                                          const struct strag_state_record *record,
                                          struct strag_selection *selection)
{
    const struct strag_state state = strag_state_of(record);
    struct strag_problem problem = learner->problem;
    problem.state = &state;
    if (!selection || !wants_offers(learner) ||
        strag_offers_complete(selection, &problem, &learner->now.model) != STRAG_OK)
        return NULL;
    return malloc(((size_t)selection->candidates + 2) * sizeof(struct strag_offer));
}

void strag_learner_try(struct strag_learner *learner, const struct strag_state_record *state,
                       struct strag_selection *selection, const struct strag_table *table,
                       struct strag_trial *trials, bool *begun)
{
    struct strag_offer *offers = prepare_offers(learner, state, selection);
    memset(begun, 0, STRAG_TRIALS_AT_ONCE * sizeof *begun);
    learner->left = 0;
    for (int i = 0; offers && i < learner->window; i++) {
        const size_t bytes = strag_trials_size(learner->trials, strag_size_class(learner->size[i]));
        struct strag_trial *place = find_place(learner, trials, begun);
        struct strag_trial next;
        if (bytes > 0 && place && look_at_class(learner, selection, table, bytes, offers, &next)) {
            *place = next;
            begun[place - trials] = true;
        }
        int calls = duration(learner, strag_trials_left(learner->trials, learner->size[i]),
                             learner->calls_of[i]);
        learner->left = calls > learner->left ? calls : learner->left;
    }
    free(offers);
    learner->window = 0;
}

int strag_learner_calls_left(const struct strag_learner *learner)
{
    return learner->left;
}

uint64_t strag_learner_settled(const struct strag_learner *learner)
{
    return strag_trials_settled(learner->trials);
}

void strag_learner_apply(const struct strag_learner *learner, struct strag_table *table)
{
    strag_trials_apply(learner->trials, table);
}

bool strag_learner_found(const struct strag_learner *learner)
{
    return learner->found;
}

bool strag_learner_outcome(const struct strag_learner *learner,
                           struct strag_trials_outcome *outcome)
{
    return strag_trials_find_outcome(learner->trials, outcome);
}

void strag_learner_adopt(struct strag_learner *learner, const struct strag_trials_outcome *outcome)
{
    strag_trials_adopt(learner->trials, outcome);
}

const char *strag_learner_log(const struct strag_learner *learner)
{
    return learner->log;
}
