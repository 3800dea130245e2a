/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/in_order.h"

#include <stdlib.h>

struct strag_in_order {
    const struct strag_plan *plan;
    bool possible;
    int most;               /* messages to or from one rank */
    int32_t *order;         /* [nops]: the operations as they are run */
    const int32_t *content; /* [nops] */

    /* the call */
    const struct strag_call *call;
    struct strag_transport *transport;
    int next;    /* in the order */
    bool hinted; /* the transport knows the ranks that this one waits for */
};

/* ---- Preparing a plan ---- */

/* Does a send wait for a receive of its own round? */
static bool is_tied(const struct strag_plan *plan, int index)
{
    int length;
    const int32_t *after = strag_plan_after(plan, index, &length);
    for (int i = 0; i < length; i++) {
        const struct strag_op *other = &plan->ops[after[i]];
        if (other->kind != STRAG_SEND && other->round == plan->ops[index].round)
            return true;
    }
    return false;
}

/* Order a round: sends, then receives. @return the first operation of the next round */
static int order_round(struct strag_in_order *run, int begin)
{
    const struct strag_plan *plan = run->plan;
    int end = begin, placed = begin;
    for (; end < plan->nops && plan->ops[end].round == plan->ops[begin].round; end++) {
        if (plan->ops[end].kind != STRAG_SEND)
            continue;
        run->possible = run->possible && !is_tied(plan, end);
        run->order[placed++] = end;
    }
    for (int i = begin; i < end; i++) {
        if (plan->ops[i].kind != STRAG_SEND)
            run->order[placed++] = i;
    }
    return end;
}

/* @param messages  room for two numbers per rank, all 0 @return the most messages of one rank */
static int most_messages(const struct strag_plan *plan, int *messages)
{
    int most = 0;
    for (int i = 0; i < plan->nops; i++) {
        int *count = &messages[2 * plan->ops[i].peer + (plan->ops[i].kind == STRAG_SEND)];
        if (++*count > most)
            most = *count;
    }
    return most;
}

struct strag_in_order *strag_in_order_create(const struct strag_plan *plan, const int32_t *content)
{
    struct strag_in_order *run = calloc(1, sizeof *run);
    int *messages = calloc(2 * (size_t)plan->n, sizeof *messages);
    int32_t *order = malloc(((size_t)plan->nops + 1) * sizeof *order);
    if (!run || !messages || !order) {
        free(run);
        free(messages);
        free(order);
        return NULL;
    }
    *run =
        (struct strag_in_order){.plan = plan, .possible = true, .order = order, .content = content};
    run->most = most_messages(plan, messages);
    for (int begin = 0; begin < plan->nops;)
        begin = order_round(run, begin);
    free(messages);
    return run;
}

void strag_in_order_free(struct strag_in_order *run)
{
    if (!run)
        return;
    free(run->order);
    free(run);
}

/* ---- A call ---- */

/* Is every operation one message? Other ranks may run the pipeline, which cuts longer ones. */
static bool is_whole(const struct strag_call *call)
{
    for (int l = 0; l < STRAG_LANES; l++) {
        if (call->count > call->lanes[l].segment)
            return false;
    }
    return true;
}

bool strag_in_order_suits(const struct strag_in_order *run, const struct strag_call *call,
                          const struct strag_transport *transport)
{
    return transport->try_send && call->count <= transport->try_send_max && is_whole(call) &&
           run->possible && run->most <= transport->try_send_depth && !call->reducer->test;
}

void strag_in_order_start(struct strag_in_order *run, const struct strag_call *call,
                          struct strag_transport *transport)
{
    run->call = call;
    run->transport = transport;
    run->next = 0;
    run->hinted = false;
}

/* The address of an operation's own values. @param offset  bytes */
static const char *own_values(const struct strag_call *call, const struct strag_op *op,
                              ptrdiff_t offset)
{
    return (const char *)(op->from_input ? call->input : call->output) + offset;
}

/* Reduce or copy a message that has arrived. */
static int apply(const struct strag_call *call, const struct strag_op *op, ptrdiff_t offset,
                 const void *arrived, size_t elements)
{
    struct strag_reducer *reducer = call->reducer;
    const char *own = own_values(call, op, offset);
    char *out = (char *)call->output + offset;
    uint64_t ticket;
    if (op->kind == STRAG_RECV)
        return reducer->copy(reducer, out, arrived, elements);
    return reducer->reduce(reducer, out, op->own_left ? own : arrived, op->own_left ? arrived : own,
                           elements, &ticket);
}

/* @param[out] begin  the first element, counted in the vector @return an operation's elements */
static size_t elements_of(const struct strag_in_order *run, const struct strag_op *op,
                          size_t *begin)
{
    const struct strag_bounds *bounds = &run->plan->bounds;
    *begin = strag_block_start(bounds, op->first, run->call->count);
    return strag_block_start(bounds, op->first + op->count, run->call->count) - *begin;
}

/* @return STRAG_OK, STRAG_PENDING, or an error */
static int step(struct strag_in_order *run, int index)
{
    const struct strag_op *op = &run->plan->ops[index];
    const struct strag_call *call = run->call;
    struct strag_transport *transport = run->transport;
    size_t begin, elements = elements_of(run, op, &begin);
    ptrdiff_t offset = (ptrdiff_t)begin * call->extent;
    const void *arrived;
    if (elements == 0)
        return STRAG_OK;
    if (op->kind == STRAG_SEND)
        return transport->try_send(transport, op->peer, own_values(call, op, offset), elements,
                                   (uint64_t)run->content[index]);
    int status = transport->try_recv(transport, op->peer, elements, &arrived);
    if (status != STRAG_OK)
        return status;
    status = apply(call, op, offset, arrived, elements);
    transport->release_recv(transport, op->peer);
    return status;
}

/* The ranks whose messages must come before the next send, or before the end. */
static uint64_t awaited(const struct strag_in_order *run)
{
    uint64_t ranks = 0;
    for (int i = run->next; i < run->plan->nops; i++) {
        const struct strag_op *op = &run->plan->ops[run->order[i]];
        size_t begin;
        if (elements_of(run, op, &begin) == 0)
            continue;
        if (op->kind == STRAG_SEND)
            break;
        if (op->peer < 64)
            ranks |= UINT64_C(1) << op->peer;
    }
    return ranks;
}

/* The next operation is not possible now. */
static int wait_a_little(struct strag_in_order *run)
{
    struct strag_transport *transport = run->transport;
    if (transport->hint_wait && !run->hinted)
        transport->hint_wait(transport, awaited(run));
    run->hinted = true;
    int status = transport->progress(transport);
    return status == STRAG_OK ? STRAG_PENDING : status;
}

/* Record the time at which the operation is first tried. */
static void note_wait(const struct strag_in_order *run, int index)
{
    if (!run->hinted)
        strag_trace_began(run->call->trace, index);
}

static void note_end(const struct strag_in_order *run, int index)
{
    const struct strag_op *op = &run->plan->ops[index];
    size_t begin, elements = elements_of(run, op, &begin);
    if (elements > 0)
        strag_trace_ended(run->call->trace, op, index, elements);
}

int strag_in_order_progress(struct strag_in_order *run)
{
    const struct strag_plan *plan = run->plan;
    while (run->next < plan->nops) {
        const int index = run->order[run->next];
        if (run->call->trace)
            note_wait(run, index);
        int status = step(run, index);
        if (status == STRAG_PENDING)
            return wait_a_little(run);
        if (status != STRAG_OK)
            return status;
        if (run->call->trace)
            note_end(run, index);
        run->hinted = false;
        run->next++;
    }
    return STRAG_OK;
}
