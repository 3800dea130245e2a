/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include "choice/store.h"
#include "wire/transport.h"

#include <stdlib.h>

/* What a decision costs at most: three consecutive messages (the last rank's announcement, a vote,
 * the decision), and on rank 0 an announcement from and a decision for each of the others. */
static double price_of_decision(double latency, double overhead, int n)
{
    return 3 * latency + 2 * (n - 1) * overhead;
}

/* As in struct strag_judge_options. */
static void make_table(void *context, const struct strag_state_record *state,
                       const struct strag_sourced_model *model, struct strag_judge_table *made)
{
    const struct coll_strag_watch *watch = context;
    struct coll_strag_table_inputs inputs = watch->options.inputs;
    struct coll_strag_decision decision = *watch->options.decision;
    decision.state = *state;
    if (model)
        inputs.model = *model;
    coll_strag_decide(&inputs, &decision, &made->selection);
    made->table = decision.table;
}

/* The shortest vectors that are watched, and that the user does not leave to the previous
 * component. */
static size_t least_of_all(const struct coll_strag_decision *decision)
{
    const struct coll_strag_settings *settings = &coll_strag_settings;
    const size_t ours = settings->minimum_set ? settings->minimum : 0;
    return decision->watch_from > ours ? decision->watch_from : ours;
}

/* Make the fit and the experiments. If a user's rule chose the algorithm, it is not tried against
 * others. @return false if out of memory */
static bool make_learning(struct coll_strag_watch *watch)
{
    const struct coll_strag_watch_options *options = &watch->options;
    const struct strag_problem problem = {
        .n = ompi_comm_size(options->comm),
        .ports = options->decision->ports,
        .topology = options->inputs.topology,
    };
    if (!options->decision->learning)
        return true;
    watch->fit = strag_fit_create(&problem, &options->inputs.model);
    if (!watch->fit || options->decision->line)
        return NULL != watch->fit;
    watch->experiments = strag_experiments_create(least_of_all(options->decision),
                                                  (uint64_t)(1e9 * coll_strag_seconds()));
    if (watch->experiments)
        coll_strag_use_findings(&options->inputs, options->decision, watch->experiments);
    return NULL != watch->experiments;
}

/* As in struct strag_judge_options. */
static void make_any(void *context, const struct strag_state_record *state,
                     const struct strag_sourced_model *model, struct strag_selection **made,
                     double *price)
{
    const struct coll_strag_watch *watch = context;
    struct coll_strag_table_inputs inputs = watch->options.inputs;
    if (model)
        inputs.model = *model;
    const double latency = coll_strag_select_without(&inputs, watch->options.decision, state, made);
    *price = price_of_decision(latency, inputs.model.model.overhead,
                               ompi_comm_size(watch->options.comm));
}

/* As in struct strag_judge_options. */
static const char *host_of(void *context, int rank)
{
    const struct coll_strag_watch *watch = context;
    return coll_strag_host_of(watch->options.comm, rank);
}

/* Can the cost model judge stragglers here? If the ranks of one host oversubscribe its processors,
 * a rank is late by parts of a call because it waits for a processor, and a rank that goes ahead
 * keeps that processor busy. The model knows nothing of that: on such a host it decides only if the
 * user has configured what messages cost. */
static bool is_modelled(const struct coll_strag_watch_options *options)
{
    const struct coll_strag_table_inputs *inputs = &options->inputs;
    const enum strag_origin origin = inputs->model.origin[STRAG_MODEL_LOCAL_ALPHA];
    const bool configured = origin == STRAG_FROM_USER || origin == STRAG_FROM_FILE;
    const struct strag_oversubscribed *oversubscribed = &inputs->oversubscribed;
    return !inputs->all_shared || configured || !opal_progress_yield_when_idle ||
           oversubscribed->n <= oversubscribed->processors;
}

/* On rank 0: make the judge. */
static bool make_judge(struct coll_strag_watch *watch)
{
    const struct coll_strag_watch_options *options = &watch->options;
    const struct coll_strag_decision *decision = options->decision;
    const struct strag_judge_table usual = {decision->table, *options->selection};
    if (!make_learning(watch))
        return false;
    const struct strag_judge_options judge = {
        .n = ompi_comm_size(options->comm),
        .calls = decision->window,
        .same_window = decision->same_window || decision->report,
        .stragglers = decision->watching == COLL_STRAG_WATCH_SWITCH &&
                      decision->dynamic != STRAG_DYNAMIC_ALWAYS && is_modelled(options),
        .dynamic = ompi_comm_size(options->comm) < STRAG_ARRIVALS_RANKS_MIN || decision->line
                       ? STRAG_DYNAMIC_NEVER /* a rule's calls wait for all */
                       : (enum strag_dynamic_use)decision->dynamic,
        .dynamic_from = least_of_all(decision),
        .slowdown = watch->links ? watch->links->slowdown : NULL,
        .fit = watch->fit,
        .experiments = watch->experiments,
        .make = make_table,
        .make_any = make_any,
        .host = host_of,
        .context = watch,
    };
    watch->judge = strag_judge_create(&judge, &decision->state, &usual);
    if (watch->judge)
        *options->selection = NULL;
    return NULL != watch->judge;
}

bool coll_strag_watch_fill(struct coll_strag_watch *watch)
{
    const struct coll_strag_decision *decision = watch->options.decision;
    const struct strag_window_order first =
        strag_judge_first(decision->window, decision->same_window || decision->report);
    ompi_communicator_t *comm = watch->options.comm;
    watch->look = decision->report;
    watch->summary = strag_watch_summary_none();
    strag_window_start(&watch->window, &first);
    if (decision->links &&
        !coll_strag_links_create(comm, watch->options.topology, &decision->state,
                                 watch->options.inputs.model.model.bandwidth, &watch->links))
        return false;
    watch->notes = coll_strag_notes_create(watch->options.failure);
    return watch->notes && (ompi_comm_rank(comm) != 0 || make_judge(watch));
}
