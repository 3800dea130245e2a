/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running a plan: a call is checked, inputs that no operation writes are copied to the output, and
 * then the call runs in order, if it is short, or in the pipeline.
 */
#include "run/engine.h"

#include "run/in_order.h"
#include "run/pipeline.h"

#include <stdlib.h>

enum { NONE = -1 };

struct strag_engine {
    const struct strag_plan *plan;
    int32_t *content; /* per operation: equal numbers if sends have the same values; else 0 */
    struct strag_pipeline *pipeline;
    struct strag_in_order *in_order;

    struct strag_call call;
    bool running;
    bool ordered; /* the call runs in order, not in the pipeline */
    struct strag_engine_counts counts;
};

/* ---- Making an engine ---- */

static bool overlap(const struct strag_op *a, const struct strag_op *b)
{
    return a->first < b->first + b->count && b->first < a->first + a->count;
}

/* Consecutive sends of the same range, with no change of that range in between, get the same
 * number. A send of another range in between ends the sequence. */
static void number_contents(struct strag_engine *engine)
{
    const struct strag_plan *plan = engine->plan;
    int last = NONE;
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        engine->content[i] = 0;
        if (op->kind != STRAG_SEND) {
            if (last != NONE && overlap(op, &plan->ops[last]))
                last = NONE;
            continue;
        }
        if (last != NONE && op->first == plan->ops[last].first &&
            op->count == plan->ops[last].count) {
            if (!engine->content[last])
                engine->content[last] = last + 1;
            engine->content[i] = engine->content[last];
        }
        last = i;
    }
}

int strag_engine_create(const struct strag_plan *plan, int depth, struct strag_engine **out,
                        struct strag_error *err)
{
    if (depth < 1)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d messages in flight; must be at least 1",
                          depth);
    struct strag_engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        goto memory;
    engine->plan = plan;
    engine->content = malloc(((size_t)plan->nops + 1) * sizeof *engine->content);
    if (!engine->content)
        goto memory;
    number_contents(engine);
    engine->pipeline = strag_pipeline_create(plan, engine->content, depth);
    engine->in_order = strag_in_order_create(plan, engine->content);
    if (!engine->pipeline || !engine->in_order)
        goto memory;
    *out = engine;
    return STRAG_OK;

memory:
    strag_engine_free(engine);
    return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the engine of rank %d of %d",
                      plan->rank, plan->n);
}

void strag_engine_free(struct strag_engine *engine)
{
    if (!engine)
        return;
    strag_pipeline_free(engine->pipeline);
    strag_in_order_free(engine->in_order);
    free(engine->content);
    free(engine);
}

/* ---- A call ---- */

/* The address of an element in a vector. */
static char *at(const struct strag_engine *engine, const void *vector, size_t element)
{
    return (char *)(uintptr_t)vector + (ptrdiff_t)element * engine->call.extent;
}

static int copy_inputs(struct strag_engine *engine)
{
    const struct strag_plan *plan = engine->plan;
    struct strag_reducer *reducer = engine->call.reducer;
    for (int c = 0; c < plan->ncopies; c++) {
        const struct strag_range *range = &plan->copies[c];
        size_t begin = strag_block_start(&plan->bounds, range->first, engine->call.count);
        size_t end =
            strag_block_start(&plan->bounds, range->first + range->count, engine->call.count);
        if (begin == end)
            continue;
        int status = reducer->copy(reducer, at(engine, engine->call.output, begin),
                                   at(engine, engine->call.input, begin), end - begin);
        if (status != STRAG_OK)
            return status;
    }
    return STRAG_OK;
}

static bool is_possible(const struct strag_engine *engine, const struct strag_call *call)
{
    for (int l = 0; l < STRAG_LANES; l++) {
        if (call->lanes[l].segment < 1 || call->lanes[l].slots < 1)
            return false;
    }
    return !engine->running && call->extent > 0;
}

/* Give each lane its transport. @return the transport of all lanes; NULL if there are several */
static struct strag_transport *set_transports(struct strag_call *call)
{
    struct strag_transport *only = NULL;
    for (int l = 0; l < STRAG_LANES; l++) {
        if (!call->lanes[l].transport)
            call->lanes[l].transport = call->transport;
        only = l == 0 || call->lanes[l].transport == only ? call->lanes[l].transport : NULL;
    }
    return only;
}

int strag_engine_start(struct strag_engine *engine, const struct strag_call *call)
{
    if (!is_possible(engine, call))
        return STRAG_ERR_ARGUMENT;
    engine->call = *call;
    if (call->trace && !strag_trace_plan(call->trace, engine->plan->nops))
        engine->call.trace = NULL;
    int status = call->input != call->output ? copy_inputs(engine) : STRAG_OK;
    struct strag_transport *transport = set_transports(&engine->call);
    engine->ordered = transport && strag_in_order_suits(engine->in_order, &engine->call, transport);
    if (status == STRAG_OK && engine->ordered)
        strag_in_order_start(engine->in_order, &engine->call, transport);
    else if (status == STRAG_OK)
        status = strag_pipeline_start(engine->pipeline, &engine->call);
    engine->running = status == STRAG_OK;
    engine->counts.calls += engine->running;
    engine->counts.in_order += engine->running && engine->ordered;
    return status;
}

struct strag_engine_counts strag_engine_counts(const struct strag_engine *engine)
{
    return engine->counts;
}

int strag_engine_progress(struct strag_engine *engine)
{
    if (!engine->running)
        return STRAG_ERR_ARGUMENT;
    int status = engine->ordered ? strag_in_order_progress(engine->in_order)
                                 : strag_pipeline_progress(engine->pipeline);
    engine->running = status == STRAG_PENDING;
    return status;
}
