/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch_make.h"

#include "transport.h"
#include "winners.h"

#include <stdlib.h>

/* To find out who is there: the last one's, a vote, the decision. */
static const double messages_in_turn = 3;
/* As in struct strag_judge_options. */
static double make_table(void *context, const struct strag_state_record *state,
                         const struct strag_sourced_model *model, struct strag_judge_table *made)
{
    const struct coll_strag_watch *watch = context;
    struct coll_strag_table_inputs inputs = watch->options.inputs;
    struct coll_strag_decision decision = *watch->options.decision;
    double start = coll_strag_seconds();
    decision.state = *state;
    if (model)
        inputs.model = *model;
    coll_strag_decide(&inputs, &decision, &made->selection);
    made->table = decision.table;
    return coll_strag_seconds() - start;
}

size_t coll_strag_watch_notes_room(const struct coll_strag_watch *watch)
{
    return (size_t)watch->options.decision->window * sizeof(struct strag_note) +
           sizeof(uint32_t);
}

/* Sizes that the user leaves to the previous component. */
static size_t least_of_ours(void)
{
    const struct coll_strag_settings *settings = &coll_strag_settings;
    return settings->minimum_set ? settings->minimum : 0;
}

/* A rule of the user's is not tried against others. @return false: out of memory */
static bool make_learner(struct coll_strag_watch *watch)
{
    const struct coll_strag_watch_options *options = &watch->options;
    const struct strag_problem problem = {
        .n = ompi_comm_size(options->comm),
        .ports = options->decision->ports,
        .topology = options->inputs.topology,
    };
    const size_t least =
        least_of_ours() > COLL_STRAG_LEARN_FROM ? least_of_ours() : COLL_STRAG_LEARN_FROM;
    if (options->decision->learning)
        watch->learner = strag_learner_create(&problem, &options->inputs.model,
                                              options->decision->line ? SIZE_MAX : least);
    if (watch->learner)
        coll_strag_winners_use(&options->inputs, options->decision, watch->learner);
    return watch->learner || !options->decision->learning;
}

/* As in struct strag_judge_options. */
static double make_any(void *context, const struct strag_state_record *state,
                       const struct strag_sourced_model *model, struct strag_selection **made,
                       double *price)
{
    const struct coll_strag_watch *watch = context;
    struct coll_strag_table_inputs inputs = watch->options.inputs;
    double start = coll_strag_seconds();
    if (model)
        inputs.model = *model;
    const double latency = coll_strag_select_without(&inputs, watch->options.decision, state, made);
    *price = messages_in_turn * latency;
    return coll_strag_seconds() - start;
}

/* Where all ranks share one host's processors they come late by parts of a call, since they wait
 * for a processor, and who goes ahead takes it from them. The cost model knows nothing of that:
 * there it decides only if the user has told it what messages cost. */
static bool is_modelled(const struct coll_strag_watch_options *options)
{
    const struct coll_strag_table_inputs *inputs = &options->inputs;
    const enum strag_origin origin = inputs->model.origin[STRAG_MODEL_LOCAL_ALPHA];
    const bool told = origin == STRAG_FROM_USER || origin == STRAG_FROM_FILE;
    const struct strag_crowd *crowd = &inputs->crowd;
    return !options->alone || told || !opal_progress_yield_when_idle ||
           crowd->n <= crowd->processors;
}

/* Rank 0's part. */
static bool make_judge(struct coll_strag_watch *watch)
{
    const struct coll_strag_watch_options *options = &watch->options;
    const struct coll_strag_decision *decision = options->decision;
    const struct strag_judge_table usual = {decision->table, *options->selection};
    if (!make_learner(watch))
        return false;
    const struct strag_judge_options judge = {
        .n = ompi_comm_size(options->comm),
        .window = decision->window,
        .same_window = decision->same_window,
        .learner = watch->learner,
        .stragglers = decision->watching == COLL_STRAG_WATCH_SWITCH &&
                      decision->dynamic != STRAG_DYNAMIC_ALWAYS && is_modelled(options),
        .dynamic =
            watch->may_be_dynamic ? (enum strag_dynamic_use)decision->dynamic : STRAG_DYNAMIC_NEVER,
        .dynamic_from =
            decision->watch_from > least_of_ours() ? decision->watch_from : least_of_ours(),
        .observer = watch->observer,
        .slowdown = watch->links ? watch->links->slowdown : NULL,
        .make = make_table,
        .make_any = make_any,
        .context = watch,
    };
    watch->all_notes = malloc((size_t)judge.n * coll_strag_watch_notes_room(watch));
    if (watch->all_notes)
        watch->judge = strag_judge_create(&judge, options->ranks, &decision->state, &usual,
                                          coll_strag_seconds());
    if (watch->judge)
        *options->selection = NULL;
    return NULL != watch->judge;
}

/* A report is of all calls, as its user counts them; they are timed for it in any case.
 * @return false: out of memory */
static bool make_host_notes(struct coll_strag_watch *watch)
{
    const struct coll_strag_decision *decision = watch->options.decision;
    const int n = ompi_comm_size(watch->options.comm);
    const bool all = decision->same_window || decision->report;
    watch->host =
        coll_strag_host_notes_create(watch->options.alone, n, all ? 0 : decision->window + 1);
    if (watch->judge)
        watch->judged = calloc(1, sizeof *watch->judged);
    return watch->host && (watch->judged || !watch->judge);
}

bool coll_strag_watch_fill(struct coll_strag_watch *watch)
{
    const struct coll_strag_decision *decision = watch->options.decision;
    ompi_communicator_t *comm = watch->options.comm;
    const int evaluated = watch->options.ranks ? ompi_comm_size(comm) : 0;
    if (strag_observer_create(evaluated, decision->window, sizeof(uint32_t),
                              &watch->observer, NULL) != STRAG_OK)
        return false;
    watch->from = decision->watch_from;
    watch->always_measure = watch->look = decision->report;
    watch->summary = strag_watch_summary_none();
    if (decision->learning && !decision->same_window)
        strag_observer_set_window(watch->observer, STRAG_FIRST_WINDOW);
    if (decision->links &&
        !coll_strag_links_create(comm, watch->options.topology, &decision->state, &watch->links))
        return false;
    watch->may_be_dynamic = decision->dynamic != STRAG_DYNAMIC_NEVER &&
                            ompi_comm_size(comm) >= STRAG_ARRIVALS_RANKS_MIN;
    if (watch->may_be_dynamic && decision->dynamic == STRAG_DYNAMIC_ALWAYS) {
        watch->arrivals = coll_strag_arrivals_create(comm, watch->options.failure);
        if (NULL == watch->arrivals)
            return false;
    }
    watch->notes = coll_strag_notes_create(comm, watch->options.failure);
    if (NULL == watch->notes || (watch->options.ranks && !make_judge(watch)))
        return false;
    const bool on_host = watch->options.alone && !decision->learning && !watch->links &&
                         decision->dynamic == STRAG_DYNAMIC_NEVER;
    return !on_host || make_host_notes(watch);
}
