/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running as much of a plan at the same time as possible.
 *
 * Operations [head, tail) of the list are active: head is the first unfinished one, and tail is
 * LOOKAHEAD rounds further. Each active operation is a queue of segments:
 *
 *        begin          done              posted            end
 *          |  finished    |   in flight     |   not posted    |
 *
 * `done` moves only in order, so whether an element of an earlier operation is finished is one
 * comparison. A segment is retired when it is the oldest of its operation and has arrived; a
 * recv_reduce then also reduces it, if the elements it writes are free.
 *
 * Completions only mark segments. Everything else happens in one pass over the active operations,
 * which is repeated until nothing changes.
 */
#include "run/pipeline.h"

#include "base/text.h"

#include <stdlib.h>

/* Active rounds after the first one. Algorithms with pipelines of short blocks over a network need
 * several: a rank receives from several others in turn, and if one of them is behind, the
 * others' blocks keep its link busy (8 hosts, 40 KB per round: the straggler pipeline takes 1.37
 * times as long as the vector with 2, 1.09 with 8). */
enum { LOOKAHEAD = 8, NONE = -1 };

/* Segments begin at multiples of this many elements in their operation's range. A vectorized
 * operator may treat its last few elements differently from those before them (NaN, -0, short
 * integers that overflow), and other ranks may compute the same sums from segments of the other
 * lane's length. A register of AVX-512 holds no more elements than this. */
enum { CUT = 64 };

enum segment_state { FLYING, HERE, REDUCING, REDUCED };

/* A segment in flight. A recv_reduce without a slot reads its message in place. */
struct segment {
    struct strag_transfer transfer; /* first: the completion finds the segment by it */
    struct strag_pipeline *pipeline;
    struct segment *next; /* younger segment of the same operation, or next free one */
    size_t first, count;  /* elements of the vector */
    int slot;             /* recv_reduce: the slot into which it is received, or NONE */
    enum segment_state state;
    uint64_t ticket; /* REDUCING: the reducer's */
};

/* An active operation. Elements are counted from the start of the vector. */
struct run {
    size_t begin, done, posted, end;
    size_t step; /* elements of a segment; the last may be shorter */
    struct segment *oldest, *youngest;
    int flying;   /* segments in the queue */
    uint8_t lane; /* index */
    int before;   /* the previous operation with elements, same peer and direction, or NONE */
};

/* A lane, and its part of the temporary space, in which slot s begins at element
 * `offset + s * slot_elements`. */
struct lane {
    struct strag_transport *transport;
    bool in_place; /* the transport lets messages be read in place: no slots */
    size_t offset, slot_elements;
    int *free; /* slots, a stack */
    int nfree;
    bool in_step;   /* sends wait for the receives of earlier rounds */
    bool kept_back; /* in this pass: the next slot is reserved for an earlier operation */
};

struct strag_pipeline {
    const struct strag_plan *plan;
    const int32_t *content; /* per operation: as in struct strag_transfer */
    int32_t *before;        /* per operation: the previous one, same peer and direction, or NONE */
    struct run *runs;
    int depth;
    struct segment *segments; /* the pool */
    size_t nsegments;

    /* the call */
    const struct strag_call *call;
    struct segment *free;
    int head, tail;
    bool marked;  /* a completion came since the last pass */
    int reducing; /* reductions that the reducer has not finished */
    int status;   /* the first error */
    char *space;  /* temporary */
    struct lane lanes[STRAG_LANES];
    int *free_slots; /* of all lanes */
    int slots_room;
};

/* ---- Making a pipeline ---- */

/* Keep the first error. */
static void note_status(struct strag_pipeline *pipeline, int status)
{
    if (status < 0 && pipeline->status == STRAG_OK)
        pipeline->status = status;
}

static void segment_complete(struct strag_transfer *transfer, int status)
{
    struct segment *segment = (struct segment *)transfer;
    segment->state = HERE;
    segment->pipeline->marked = true;
    note_status(segment->pipeline, status);
}

/* Put all segments into the free list, as between calls. */
static void free_all_segments(struct strag_pipeline *pipeline)
{
    pipeline->free = NULL;
    for (size_t i = pipeline->nsegments; i > 0; i--) {
        struct segment *segment = &pipeline->segments[i - 1];
        segment->transfer = (struct strag_transfer){.complete = segment_complete};
        segment->pipeline = pipeline;
        segment->next = pipeline->free;
        pipeline->free = segment;
    }
}

/* Find, for each operation, the previous one of the same peer and direction. @param last  [2n] */
static void link_peers(struct strag_pipeline *pipeline, int32_t *last)
{
    const struct strag_plan *plan = pipeline->plan;
    for (int i = 0; i < 2 * plan->n; i++)
        last[i] = NONE;
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        int32_t *slot = &last[2 * op->peer + (op->kind == STRAG_SEND)];
        pipeline->before[i] = *slot;
        *slot = i;
    }
}

/* The most operations that are ever active at the same time. */
static size_t most_active(const struct strag_plan *plan)
{
    int most = 0;
    for (int head = 0, tail = 0; head < plan->nops; head++) {
        while (tail < plan->nops && plan->ops[tail].round <= plan->ops[head].round + LOOKAHEAD)
            tail++;
        if (tail - head > most)
            most = tail - head;
    }
    return (size_t)most;
}

struct strag_pipeline *strag_pipeline_create(const struct strag_plan *plan, const int32_t *content,
                                             int depth)
{
    struct strag_pipeline *pipeline = calloc(1, sizeof *pipeline);
    int32_t *last = malloc(2 * (size_t)plan->n * sizeof *last);
    if (!pipeline || !last)
        goto memory;
    pipeline->plan = plan;
    pipeline->content = content;
    pipeline->depth = depth;
    pipeline->nsegments = most_active(plan) * (size_t)depth;
    pipeline->before = malloc(((size_t)plan->nops + 1) * sizeof *pipeline->before);
    pipeline->runs = malloc(((size_t)plan->nops + 1) * sizeof *pipeline->runs);
    pipeline->segments = calloc(pipeline->nsegments + 1, sizeof *pipeline->segments);
    if (!pipeline->before || !pipeline->runs || !pipeline->segments)
        goto memory;
    link_peers(pipeline, last);
    free_all_segments(pipeline);
    free(last);
    return pipeline;

memory:
    free(last);
    strag_pipeline_free(pipeline);
    return NULL;
}

void strag_pipeline_free(struct strag_pipeline *pipeline)
{
    if (!pipeline)
        return;
    free(pipeline->before);
    free(pipeline->runs);
    free(pipeline->segments);
    free(pipeline->free_slots);
    free(pipeline);
}

/* ---- Addresses ---- */

static char *at(const struct strag_pipeline *pipeline, const void *vector, size_t element)
{
    return (char *)(uintptr_t)vector + (ptrdiff_t)element * pipeline->call->extent;
}

/* The address of an operation's own values. */
static char *own_values(const struct strag_pipeline *pipeline, const struct strag_op *op,
                        size_t element)
{
    return at(pipeline, op->from_input ? pipeline->call->input : pipeline->call->output, element);
}

static char *slot_address(const struct strag_pipeline *pipeline, const struct run *run, int slot)
{
    const struct lane *lane = &pipeline->lanes[run->lane];
    return at(pipeline, pipeline->space, lane->offset + (size_t)slot * lane->slot_elements);
}

/* ---- Segments ---- */

/* Release a message that arrived in place. */
static void release(struct strag_pipeline *pipeline, const struct run *run, struct segment *segment)
{
    struct strag_transport *transport = pipeline->lanes[run->lane].transport;
    if (segment->transfer.arrived)
        transport->release(transport, &segment->transfer);
    segment->transfer.arrived = NULL;
}

static struct segment *take_segment(struct strag_pipeline *pipeline, struct run *run)
{
    struct segment *segment = pipeline->free;
    pipeline->free = segment->next;
    segment->next = NULL;
    segment->state = FLYING;
    segment->slot = NONE;
    if (run->youngest)
        run->youngest->next = segment;
    else
        run->oldest = segment;
    run->youngest = segment;
    run->flying++;
    return segment;
}

/* The oldest segment is finished: free it, and its temporary space. */
static void retire(struct strag_pipeline *pipeline, int index)
{
    struct run *run = &pipeline->runs[index];
    struct segment *segment = run->oldest;
    run->done += segment->count;
    if (pipeline->call->trace && run->done == run->end)
        strag_trace_ended(pipeline->call->trace, &pipeline->plan->ops[index], index,
                          run->end - run->begin);
    run->oldest = segment->next;
    if (!run->oldest)
        run->youngest = NULL;
    run->flying--;
    struct lane *lane = &pipeline->lanes[run->lane];
    release(pipeline, run, segment);
    if (segment->slot != NONE)
        lane->free[lane->nfree++] = segment->slot;
    segment->next = pipeline->free;
    pipeline->free = segment;
}

/* Are all operations finished, on the elements [first, end), for which this one must wait? */
static bool waits_done(const struct strag_pipeline *pipeline, int index, size_t first, size_t end)
{
    int length;
    const int32_t *after = strag_plan_after(pipeline->plan, index, &length);
    for (int i = 0; i < length; i++) {
        const struct run *other = &pipeline->runs[after[i]];
        size_t from = first > other->begin ? first : other->begin;
        size_t to = end < other->end ? end : other->end;
        if (from < to && other->done < to)
            return false;
    }
    return true;
}

/* The address of a segment's message. */
static const char *message_of(const struct strag_pipeline *pipeline, const struct run *run,
                              const struct segment *segment)
{
    return segment->slot == NONE ? segment->transfer.arrived
                                 : slot_address(pipeline, run, segment->slot);
}

/* Begin to reduce a segment that has arrived, if it may. @return whether its state changed */
static bool begin_reducing(struct strag_pipeline *pipeline, int index, struct segment *segment)
{
    const struct strag_op *op = &pipeline->plan->ops[index];
    struct strag_reducer *reducer = pipeline->call->reducer;
    if (!waits_done(pipeline, index, segment->first, segment->first + segment->count))
        return false;
    const char *own = own_values(pipeline, op, segment->first);
    const char *in = message_of(pipeline, &pipeline->runs[index], segment);
    int status = reducer->reduce(reducer, at(pipeline, pipeline->call->output, segment->first),
                                 op->own_left ? own : in, op->own_left ? in : own, segment->count,
                                 &segment->ticket);
    pipeline->reducing += status == STRAG_PENDING;
    note_status(pipeline, status);
    if (status >= 0)
        segment->state = status == STRAG_PENDING ? REDUCING : REDUCED;
    return status >= 0;
}

/* Ask how far the reducer is with a segment. */
static void test_reducing(struct strag_pipeline *pipeline, struct segment *segment)
{
    struct strag_reducer *reducer = pipeline->call->reducer;
    int status = reducer->test(reducer, segment->ticket);
    if (status == STRAG_PENDING)
        return;
    pipeline->reducing--;
    segment->state = REDUCED;
    note_status(pipeline, status);
}

/* Reduce segments that have arrived; several at a time if the reducer works in the background. */
static void reduce_arrived(struct strag_pipeline *pipeline, int index)
{
    for (struct segment *s = pipeline->runs[index].oldest; s; s = s->next) {
        if (pipeline->status == STRAG_OK && s->state == REDUCING)
            test_reducing(pipeline, s);
        if (pipeline->status != STRAG_OK || s->state == FLYING)
            return;
        if (s->state == HERE && !begin_reducing(pipeline, index, s))
            return;
    }
}

/* Retire finished segments. @return whether there was one */
static bool retire_finished(struct strag_pipeline *pipeline, int index)
{
    struct run *run = &pipeline->runs[index];
    enum segment_state last = HERE;
    bool changed = false;
    if (pipeline->plan->ops[index].kind == STRAG_RECV_REDUCE) {
        reduce_arrived(pipeline, index);
        last = REDUCED;
    }
    while (run->oldest && run->oldest->state == last && pipeline->status == STRAG_OK) {
        retire(pipeline, index);
        changed = true;
    }
    return changed;
}

/* Hand a segment to the transport. */
static int hand_over(struct strag_pipeline *pipeline, int index, struct segment *segment)
{
    const struct strag_op *op = &pipeline->plan->ops[index];
    const struct run *run = &pipeline->runs[index];
    struct lane *lane = &pipeline->lanes[run->lane];
    struct strag_transport *transport = lane->transport;
    struct strag_transfer *transfer = &segment->transfer;
    char *where = at(pipeline, pipeline->call->output, segment->first);
    transfer->arrived = NULL;
    if (op->kind == STRAG_SEND) {
        transfer->content = (uint64_t)pipeline->content[index];
        return transport->send(transport, transfer, op->peer,
                               own_values(pipeline, op, segment->first), segment->count);
    }
    if (op->kind == STRAG_RECV_REDUCE) {
        if (lane->in_place)
            return transport->recv_in_place(transport, transfer, op->peer, segment->count);
        segment->slot = lane->free[--lane->nfree];
        where = slot_address(pipeline, run, segment->slot);
    }
    return transport->recv(transport, transfer, op->peer, where, segment->count);
}

/* Post the operation's next segment. @return whether it was posted */
static bool post(struct strag_pipeline *pipeline, int index)
{
    const struct strag_op *op = &pipeline->plan->ops[index];
    struct run *run = &pipeline->runs[index];
    const struct lane *lane = &pipeline->lanes[run->lane];
    size_t left = run->end - run->posted;
    size_t count = left < run->step ? left : run->step;

    if (op->kind == STRAG_RECV_REDUCE) {
        if (!lane->in_place && (lane->kept_back || lane->nfree == 0))
            return false;
    } else if (!waits_done(pipeline, index, run->posted, run->posted + count)) {
        return false;
    }
    if (pipeline->call->trace && run->posted == run->begin)
        strag_trace_began(pipeline->call->trace, index);
    struct segment *segment = take_segment(pipeline, run);
    segment->first = run->posted;
    segment->count = count;
    run->posted += count;
    int status = hand_over(pipeline, index, segment);
    if (status != STRAG_OK)
        segment->state = HERE; /* not in flight: nothing to cancel */
    note_status(pipeline, status);
    return true;
}

/* ---- The active operations ---- */

/* The elements of each segment of a range that is cut: about the same number in all. Both sides cut
 * at the same elements. */
static size_t find_step(size_t length, size_t longest)
{
    const size_t cut = longest < CUT ? 1 : CUT;
    longest -= longest % cut;
    const size_t segments = length / longest + (length % longest != 0);
    const size_t step = length / segments + (length % segments != 0);
    return (step + cut - 1) / cut * cut;
}

/* An operation becomes active. */
static void activate(struct strag_pipeline *pipeline, int index)
{
    const struct strag_bounds *bounds = &pipeline->plan->bounds;
    const struct strag_op *op = &pipeline->plan->ops[index];
    struct run *run = &pipeline->runs[index];
    size_t begin = strag_block_start(bounds, op->first, pipeline->call->count);
    size_t end = strag_block_start(bounds, op->first + op->count, pipeline->call->count);
    uint8_t lane = pipeline->call->lane_of ? pipeline->call->lane_of[op->peer] : 0;
    size_t length = end - begin, longest = pipeline->call->lanes[lane].segment;
    *run = (struct run){.begin = begin, .done = begin, .posted = begin, .end = end, .lane = lane};
    /* An operation without elements posts no message, so it is skipped here. */
    int before = pipeline->before[index];
    if (before != NONE && pipeline->runs[before].begin == pipeline->runs[before].end)
        before = pipeline->runs[before].before;
    run->before = before;
    run->step = length <= longest ? length : find_step(length, longest);
}

/* Move head to the first unfinished operation, and tail as far as allowed.
 * @return whether operations became active */
static bool advance(struct strag_pipeline *pipeline)
{
    const struct strag_plan *plan = pipeline->plan;
    int tail = pipeline->tail;
    for (;;) {
        while (pipeline->head < pipeline->tail &&
               pipeline->runs[pipeline->head].done == pipeline->runs[pipeline->head].end)
            pipeline->head++;
        if (pipeline->tail == plan->nops ||
            plan->ops[pipeline->tail].round > plan->ops[pipeline->head].round + LOOKAHEAD)
            return pipeline->tail != tail;
        activate(pipeline, pipeline->tail++);
    }
}

/* Post all segments of an operation that can be posted. @return whether there was one */
static bool post_all(struct strag_pipeline *pipeline, int index)
{
    const struct run *run = &pipeline->runs[index];
    bool posted = false;
    if (run->before != NONE &&
        pipeline->runs[run->before].posted != pipeline->runs[run->before].end)
        return false;
    while (run->posted < run->end && run->flying < pipeline->depth &&
           pipeline->status == STRAG_OK && post(pipeline, index))
        posted = true;
    return posted;
}

/* Retire segments, and post receives. Temporary space goes to recv_reduce operations in order: none
 * takes a slot while an earlier one of its lane has more to receive and no slot at all. */
static bool pass_receives(struct strag_pipeline *pipeline)
{
    bool changed = false;
    for (int l = 0; l < STRAG_LANES; l++)
        pipeline->lanes[l].kept_back = false;
    for (int i = pipeline->head; i < pipeline->tail && pipeline->status == STRAG_OK; i++) {
        const struct run *run = &pipeline->runs[i];
        if (run->done == run->end)
            continue;
        changed |= retire_finished(pipeline, i);
        if (pipeline->plan->ops[i].kind == STRAG_SEND)
            continue;
        changed |= post_all(pipeline, i);
        if (pipeline->plan->ops[i].kind == STRAG_RECV_REDUCE && run->posted < run->end &&
            run->flying == 0)
            pipeline->lanes[run->lane].kept_back = true;
    }
    return changed;
}

/* Post sends. While an operation has more to send than may be in flight, later rounds send nothing
 * in its lane: their segments would take links away from segments that others wait for. In step,
 * later rounds also send nothing while this round has messages to receive. */
static bool pass_sends(struct strag_pipeline *pipeline)
{
    bool changed = false;
    int last[STRAG_LANES]; /* the last round that may send */
    for (int l = 0; l < STRAG_LANES; l++)
        last[l] = pipeline->plan->rounds;
    for (int i = pipeline->head; i < pipeline->tail && pipeline->status == STRAG_OK; i++) {
        const struct strag_op *op = &pipeline->plan->ops[i];
        const struct run *run = &pipeline->runs[i];
        if (op->kind != STRAG_SEND && run->done < run->end && op->round < last[run->lane] &&
            pipeline->lanes[run->lane].in_step)
            last[run->lane] = op->round;
        if (op->kind != STRAG_SEND || op->round > last[run->lane])
            continue;
        changed |= post_all(pipeline, i);
        if (run->posted < run->end && run->flying == pipeline->depth)
            last[run->lane] = op->round;
    }
    return changed;
}

/* ---- A call ---- */

/* After an error: cancel all messages that the transport can cancel. */
static void stop(struct strag_pipeline *pipeline)
{
    struct strag_reducer *reducer = pipeline->call->reducer;
    int lost = 0;
    for (int i = pipeline->head; i < pipeline->tail; i++) {
        const struct run *run = &pipeline->runs[i];
        struct strag_transport *transport = pipeline->lanes[run->lane].transport;
        for (struct segment *s = run->oldest; s; s = s->next) {
            if (s->state == FLYING)
                lost |= transport->cancel(transport, &s->transfer) != STRAG_OK && s->slot != NONE;
            while (s->state == REDUCING && reducer->test(reducer, s->ticket) == STRAG_PENDING)
                ;
            release(pipeline, run, s);
        }
    }
    if (pipeline->space)
        reducer->release(reducer, pipeline->space, lost);
    free_all_segments(pipeline);
}

/* In which lanes does the plan reduce, so that temporary space is needed? */
static void find_uses(const struct strag_pipeline *pipeline, bool *uses)
{
    if (pipeline->lanes[0].in_place && pipeline->lanes[1].in_place)
        return;
    const struct strag_plan *plan = pipeline->plan;
    const uint8_t *lane_of = pipeline->call->lane_of;
    for (int i = 0; i < plan->nops && pipeline->call->count > 0; i++) {
        if (plan->ops[i].kind == STRAG_RECV_REDUCE)
            uses[lane_of ? lane_of[plan->ops[i].peer] : 0] = true;
    }
}

/* Room for the numbers of all slots. */
static bool room_for_slots(struct strag_pipeline *pipeline)
{
    int slots = 0;
    for (int l = 0; l < STRAG_LANES; l++)
        slots += pipeline->call->lanes[l].slots;
    return strag_array_grow(&pipeline->free_slots, &pipeline->slots_room, slots,
                            sizeof *pipeline->free_slots);
}

static void progress_transports(struct strag_pipeline *pipeline)
{
    struct strag_transport *first = pipeline->lanes[0].transport;
    struct strag_transport *second = pipeline->lanes[1].transport;
    note_status(pipeline, first->progress(first));
    if (second != first)
        note_status(pipeline, second->progress(second));
}

static int prepare_space(struct strag_pipeline *pipeline)
{
    const struct strag_call *call = pipeline->call;
    bool uses[STRAG_LANES] = {false};
    size_t elements = 0;
    int slots = 0;
    if (!room_for_slots(pipeline))
        return STRAG_ERR_MEMORY;
    for (int l = 0; l < STRAG_LANES; l++) {
        pipeline->lanes[l].transport = call->lanes[l].transport;
        pipeline->lanes[l].in_place = NULL != call->lanes[l].transport->recv_in_place;
    }
    find_uses(pipeline, uses);
    for (int l = 0; l < STRAG_LANES; l++) {
        const struct strag_lane *wanted = &call->lanes[l];
        struct lane *lane = &pipeline->lanes[l];
        lane->in_step = wanted->in_step && pipeline->plan->in_step;
        lane->offset = elements;
        lane->free = pipeline->free_slots + slots;
        lane->slot_elements = call->count < wanted->segment ? call->count : wanted->segment;
        lane->slot_elements += call->gap;
        lane->nfree = 0;
        while (!lane->in_place && lane->nfree < wanted->slots) {
            lane->free[lane->nfree] = lane->nfree;
            lane->nfree++;
        }
        slots += wanted->slots;
        if (uses[l] && !lane->in_place)
            elements += lane->slot_elements * (size_t)wanted->slots;
    }
    if (elements)
        pipeline->space = call->reducer->allocate(call->reducer, elements);
    return elements && !pipeline->space ? STRAG_ERR_MEMORY : STRAG_OK;
}

int strag_pipeline_start(struct strag_pipeline *pipeline, const struct strag_call *call)
{
    pipeline->call = call;
    pipeline->status = STRAG_OK;
    pipeline->head = pipeline->tail = 0;
    pipeline->marked = true;
    pipeline->reducing = 0;
    pipeline->space = NULL;
    int status = prepare_space(pipeline);
    if (status == STRAG_OK)
        advance(pipeline);
    return status;
}

/* Post, reduce and retire as much as possible. Receives are posted before sends: a message that
 * finds its receive posted is cheaper than an unexpected one. */
static void progress_operations(struct strag_pipeline *pipeline)
{
    bool changed;
    pipeline->marked = false;
    do {
        changed = pass_receives(pipeline);
        changed |= pass_sends(pipeline);
        changed |= pipeline->status == STRAG_OK && advance(pipeline);
    } while (changed && pipeline->status == STRAG_OK);
}

int strag_pipeline_progress(struct strag_pipeline *pipeline)
{
    progress_transports(pipeline);
    if (pipeline->status == STRAG_OK && (pipeline->marked || pipeline->reducing))
        progress_operations(pipeline);
    if (pipeline->status != STRAG_OK) {
        stop(pipeline);
        return pipeline->status;
    }
    if (pipeline->head < pipeline->plan->nops)
        return STRAG_PENDING;
    if (pipeline->space)
        pipeline->call->reducer->release(pipeline->call->reducer, pipeline->space, 0);
    return STRAG_OK;
}
