/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running a plan.
 *
 * Operations are under way in a window [head, tail) of the list: head is the first unfinished one,
 * and the window reaches LOOKAHEAD rounds further. Each operation in it is a queue of segments:
 *
 *        begin          done              posted            end
 *          |  finished    |   in flight     |   not posted    |
 *
 * `done` moves only in order, so whether an element of an earlier operation is finished is one
 * comparison. A segment is retired when it is the oldest of its operation and has arrived; a
 * recv_reduce then also combines it, if the elements it writes are free.
 *
 * Completions only mark segments. Everything else happens in one pass over the window, which is
 * repeated until nothing changes.
 */
#include "engine.h"

#include "in_order.h"

#include <stdlib.h>

/* Rounds in the window after the first one. Pipelines of short blocks over a network need several:
 * a rank hears from several others in turn, and where one of them is behind, the others' blocks
 * keep its link busy (8 hosts, 40 KB per round: the straggler pipeline takes 1.37 times as long as
 * the vector with 2, 1.09 with 8). */
enum { LOOKAHEAD = 8, NONE = -1 };

enum segment_state { FLYING, HERE, COMBINING, COMBINED };

/* A segment in flight. Without a slot, a recv_reduce has it in place. */
struct segment {
    struct strag_transfer transfer; /* first: the completion finds the segment by it */
    struct strag_engine *engine;
    struct segment *next; /* younger segment of the same operation, or next free one */
    size_t first, count;  /* elements of the vector */
    int slot;             /* recv_reduce: where it is received, or NONE */
    enum segment_state state;
    uint64_t ticket; /* COMBINING: the reducer's */
};

/* An operation in the window. Elements are counted from the start of the vector. */
struct run {
    size_t begin, done, posted, end;
    size_t step; /* elements of a segment; the last may be shorter */
    struct segment *oldest, *youngest;
    int flying;   /* segments in the queue */
    uint8_t lane; /* index */
    int before;   /* the operation with elements before it to or from the same peer, or NONE */
};

/* A lane, and its part of the temporary space: slot s begins `offset + s * slot_elements` elements
 * after the beginning. */
struct lane {
    struct strag_transport *transport;
    bool in_place; /* it lets messages be read in place: no slots */
    size_t offset, slot_elements;
    int *free; /* slots, a stack */
    int nfree;
    bool kept_back; /* in this pass: an earlier operation has to have the next slot */
};

struct strag_engine {
    const struct strag_plan *plan;
    int32_t *before;  /* per operation: the one before it to or from the same peer, or NONE */
    int32_t *content; /* per operation: number of what it sends, if others send the same; or 0 */
    struct run *runs;
    int depth;
    struct segment *segments; /* the pool */
    size_t nsegments;
    struct strag_in_order *in_order;

    /* the call */
    struct strag_call call;
    struct segment *free;
    int head, tail;
    bool running;
    bool ordered;  /* without the window */
    bool marked;   /* a completion came since the last pass */
    int combining; /* reductions that go on by themselves and have to be asked for */
    int status;    /* the first error */
    char *space;   /* temporary */
    struct lane lanes[STRAG_LANES];
    int *free_slots; /* of all lanes */
    int slots_room;
};

/* ---- Making an engine ---- */

static void segment_complete(struct strag_transfer *transfer, int status)
{
    struct segment *segment = (struct segment *)transfer;
    struct strag_engine *engine = segment->engine;
    segment->state = HERE;
    engine->marked = true;
    if (status != STRAG_OK && engine->status == STRAG_OK)
        engine->status = status;
}

/* So it is before a call, and so a call that goes well leaves it. */
static void free_all_segments(struct strag_engine *engine)
{
    engine->free = NULL;
    for (size_t i = engine->nsegments; i > 0; i--) {
        struct segment *segment = &engine->segments[i - 1];
        segment->transfer = (struct strag_transfer){.complete = segment_complete};
        segment->engine = engine;
        segment->next = engine->free;
        engine->free = segment;
    }
}

/* The previous operation with the same peer and direction, for each; `last` has room for 2n. */
static void link_peers(struct strag_engine *engine, int32_t *last)
{
    const struct strag_plan *plan = engine->plan;
    for (int i = 0; i < 2 * plan->n; i++)
        last[i] = NONE;
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        int32_t *slot = &last[2 * op->peer + (op->kind == STRAG_SEND)];
        engine->before[i] = *slot;
        *slot = i;
    }
}

static bool overlap(const struct strag_op *a, const struct strag_op *b)
{
    return a->first < b->first + b->count && b->first < a->first + a->count;
}

/* Sends of the same range, one after another with no change of it in between, are numbered alike.
 * So are those with other sends in between, as long as these are of the same range, too. */
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

/* The most operations that are ever in the window. */
static size_t widest_window(const struct strag_plan *plan)
{
    int widest = 0;
    for (int head = 0, tail = 0; head < plan->nops; head++) {
        while (tail < plan->nops && plan->ops[tail].round <= plan->ops[head].round + LOOKAHEAD)
            tail++;
        if (tail - head > widest)
            widest = tail - head;
    }
    return (size_t)widest;
}

int strag_engine_create(const struct strag_plan *plan, int depth, struct strag_engine **out,
                        struct strag_error *err)
{
    if (depth < 1)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d messages in flight; at least 1 is needed",
                          depth);
    struct strag_engine *engine = calloc(1, sizeof *engine);
    int32_t *last = malloc(2 * (size_t)plan->n * sizeof *last);
    if (!engine || !last)
        goto memory;
    engine->plan = plan;
    engine->depth = depth;
    engine->nsegments = widest_window(plan) * (size_t)depth;
    engine->before = malloc(((size_t)plan->nops + 1) * sizeof *engine->before);
    engine->content = malloc(((size_t)plan->nops + 1) * sizeof *engine->content);
    engine->runs = malloc(((size_t)plan->nops + 1) * sizeof *engine->runs);
    engine->segments = calloc(engine->nsegments + 1, sizeof *engine->segments);
    if (!engine->before || !engine->content || !engine->runs || !engine->segments)
        goto memory;
    link_peers(engine, last);
    number_contents(engine);
    engine->in_order = strag_in_order_create(plan, engine->content);
    if (!engine->in_order)
        goto memory;
    free_all_segments(engine);
    free(last);
    *out = engine;
    return STRAG_OK;

memory:
    free(last);
    strag_engine_free(engine);
    return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the engine of rank %d of %d",
                      plan->rank, plan->n);
}

void strag_engine_free(struct strag_engine *engine)
{
    if (!engine)
        return;
    free(engine->before);
    free(engine->content);
    free(engine->runs);
    free(engine->segments);
    free(engine->free_slots);
    strag_in_order_free(engine->in_order);
    free(engine);
}

/* ---- Addresses ---- */

static char *at(const struct strag_engine *engine, const void *vector, size_t element)
{
    return (char *)(uintptr_t)vector + (ptrdiff_t)element * engine->call.extent;
}

/* Where an operation finds its own values. */
static char *own_values(const struct strag_engine *engine, const struct strag_op *op,
                        size_t element)
{
    return at(engine, op->from_input ? engine->call.input : engine->call.output, element);
}

static char *slot_address(const struct strag_engine *engine, const struct run *run, int slot)
{
    const struct lane *lane = &engine->lanes[run->lane];
    return at(engine, engine->space, lane->offset + (size_t)slot * lane->slot_elements);
}

/* ---- Segments ---- */

/* What has arrived in place is not needed any more. */
static void release(struct strag_engine *engine, const struct run *run, struct segment *segment)
{
    struct strag_transport *transport = engine->lanes[run->lane].transport;
    if (segment->transfer.arrived)
        transport->release(transport, &segment->transfer);
    segment->transfer.arrived = NULL;
}

static struct segment *take_segment(struct strag_engine *engine, struct run *run)
{
    struct segment *segment = engine->free;
    engine->free = segment->next;
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

/* The oldest segment is finished. */
static void retire(struct strag_engine *engine, struct run *run)
{
    struct segment *segment = run->oldest;
    run->done += segment->count;
    run->oldest = segment->next;
    if (!run->oldest)
        run->youngest = NULL;
    run->flying--;
    struct lane *lane = &engine->lanes[run->lane];
    release(engine, run, segment);
    if (segment->slot != NONE)
        lane->free[lane->nfree++] = segment->slot;
    segment->next = engine->free;
    engine->free = segment;
}

/* Are the elements [first, end) of the operation free of all it must wait for? */
static bool waits_done(const struct strag_engine *engine, int index, size_t first, size_t end)
{
    int length;
    const int32_t *after = strag_plan_after(engine->plan, index, &length);
    for (int i = 0; i < length; i++) {
        const struct run *other = &engine->runs[after[i]];
        size_t from = first > other->begin ? first : other->begin;
        size_t to = end < other->end ? end : other->end;
        if (from < to && other->done < to)
            return false;
    }
    return true;
}

/* Combine the oldest segment, which has arrived. @return as the reducer does */
static int combine(struct strag_engine *engine, int index, struct segment *segment)
{
    const struct strag_op *op = &engine->plan->ops[index];
    struct strag_reducer *reducer = engine->call.reducer;
    const char *own = own_values(engine, op, segment->first);
    const char *in = segment->slot == NONE
                         ? segment->transfer.arrived
                         : slot_address(engine, &engine->runs[index], segment->slot);
    return reducer->reduce(reducer, at(engine, engine->call.output, segment->first),
                           op->own_left ? own : in, op->own_left ? in : own, segment->count,
                           &segment->ticket);
}

/* Begin to combine a segment that has arrived, if it may. @return whether its state changed */
static bool begin_combining(struct strag_engine *engine, int index, struct segment *segment)
{
    if (segment->state != HERE ||
        !waits_done(engine, index, segment->first, segment->first + segment->count))
        return false;
    int status = combine(engine, index, segment);
    engine->combining += status == STRAG_PENDING;
    if (status < 0)
        engine->status = status;
    else
        segment->state = status == STRAG_PENDING ? COMBINING : COMBINED;
    return status >= 0;
}

/* Ask how far the reducer is with a segment. */
static void test_combining(struct strag_engine *engine, struct segment *segment)
{
    struct strag_reducer *reducer = engine->call.reducer;
    int status = reducer->test(reducer, segment->ticket);
    if (status == STRAG_PENDING)
        return;
    engine->combining--;
    segment->state = COMBINED;
    if (status != STRAG_OK)
        engine->status = status;
}

/* Combine what has arrived: several segments at a time, where the reducer does it by itself. */
static void combine_arrived(struct strag_engine *engine, int index)
{
    for (struct segment *s = engine->runs[index].oldest; s; s = s->next) {
        if (engine->status == STRAG_OK && s->state == COMBINING)
            test_combining(engine, s);
        if (engine->status != STRAG_OK || s->state == FLYING)
            return;
        if (s->state == HERE && !begin_combining(engine, index, s))
            return;
    }
}

/* Retire what can be retired. @return whether there was something */
static bool retire_finished(struct strag_engine *engine, int index)
{
    struct run *run = &engine->runs[index];
    enum segment_state last = HERE;
    bool changed = false;
    if (engine->plan->ops[index].kind == STRAG_RECV_REDUCE) {
        combine_arrived(engine, index);
        last = COMBINED;
    }
    while (run->oldest && run->oldest->state == last && engine->status == STRAG_OK) {
        retire(engine, run);
        changed = true;
    }
    return changed;
}

/* Hand a segment to the transport. */
static int give(struct strag_engine *engine, int index, struct segment *segment)
{
    const struct strag_op *op = &engine->plan->ops[index];
    const struct run *run = &engine->runs[index];
    struct lane *lane = &engine->lanes[run->lane];
    struct strag_transport *transport = lane->transport;
    struct strag_transfer *transfer = &segment->transfer;
    char *where = at(engine, engine->call.output, segment->first);
    transfer->arrived = NULL;
    if (op->kind == STRAG_SEND) {
        transfer->content = (uint64_t)engine->content[index];
        return transport->send(transport, transfer, op->peer,
                               own_values(engine, op, segment->first), segment->count);
    }
    if (op->kind == STRAG_RECV_REDUCE) {
        if (lane->in_place)
            return transport->recv_in_place(transport, transfer, op->peer, segment->count);
        segment->slot = lane->free[--lane->nfree];
        where = slot_address(engine, run, segment->slot);
    }
    return transport->recv(transport, transfer, op->peer, where, segment->count);
}

/* Post the operation's next segment. @return whether it was posted */
static bool post(struct strag_engine *engine, int index)
{
    const struct strag_op *op = &engine->plan->ops[index];
    struct run *run = &engine->runs[index];
    const struct lane *lane = &engine->lanes[run->lane];
    size_t left = run->end - run->posted;
    size_t count = left < run->step ? left : run->step;

    if (op->kind == STRAG_RECV_REDUCE) {
        if (!lane->in_place && (lane->kept_back || lane->nfree == 0))
            return false;
    } else if (!waits_done(engine, index, run->posted, run->posted + count)) {
        return false;
    }
    struct segment *segment = take_segment(engine, run);
    segment->first = run->posted;
    segment->count = count;
    run->posted += count;
    int status = give(engine, index, segment);
    if (status != STRAG_OK) {
        segment->state = HERE; /* it never took off: nothing to cancel */
        if (engine->status == STRAG_OK)
            engine->status = status;
    }
    return true;
}

/* ---- The window ---- */

/* An operation enters the window. */
static void enter(struct strag_engine *engine, int index)
{
    const struct strag_bounds *bounds = &engine->plan->bounds;
    const struct strag_op *op = &engine->plan->ops[index];
    struct run *run = &engine->runs[index];
    size_t begin = strag_block_start(bounds, op->first, engine->call.count);
    size_t end = strag_block_start(bounds, op->first + op->count, engine->call.count);
    uint8_t lane = engine->call.lane_of ? engine->call.lane_of[op->peer] : 0;
    size_t length = end - begin, longest = engine->call.lanes[lane].segment;
    size_t segments = length > 0;
    if (length > longest)
        segments = length / longest + (length % longest != 0);
    *run = (struct run){.begin = begin, .done = begin, .posted = begin, .end = end, .lane = lane};
    /* An operation without elements posts nothing: the order of messages skips it. */
    int before = engine->before[index];
    if (before != NONE && engine->runs[before].begin == engine->runs[before].end)
        before = engine->runs[before].before;
    run->before = before;
    if (segments == 1)
        run->step = length;
    else if (segments) /* of about the same length; both sides cut alike */
        run->step = length / segments + (length % segments != 0);
}

/* Let the window begin at the first unfinished operation, and reach as far as it may.
 * @return whether operations entered */
static bool move_window(struct strag_engine *engine)
{
    const struct strag_plan *plan = engine->plan;
    int tail = engine->tail;
    for (;;) {
        while (engine->head < engine->tail &&
               engine->runs[engine->head].done == engine->runs[engine->head].end)
            engine->head++;
        if (engine->tail == plan->nops ||
            plan->ops[engine->tail].round > plan->ops[engine->head].round + LOOKAHEAD)
            return engine->tail != tail;
        enter(engine, engine->tail++);
    }
}

/* Post what can be posted of one operation. @return whether there was something */
static bool post_all(struct strag_engine *engine, int index)
{
    const struct run *run = &engine->runs[index];
    bool posted = false;
    if (run->before != NONE && engine->runs[run->before].posted != engine->runs[run->before].end)
        return false;
    while (run->posted < run->end && run->flying < engine->depth && engine->status == STRAG_OK &&
           post(engine, index))
        posted = true;
    return posted;
}

/* Retire, and post receives. Temporary space goes to recv_reduce operations in order: none takes
 * any while an earlier one of its lane has something to receive and no space at all. */
static bool pass_receives(struct strag_engine *engine)
{
    bool changed = false;
    for (int l = 0; l < STRAG_LANES; l++)
        engine->lanes[l].kept_back = false;
    for (int i = engine->head; i < engine->tail && engine->status == STRAG_OK; i++) {
        const struct run *run = &engine->runs[i];
        if (run->done == run->end)
            continue;
        changed |= retire_finished(engine, i);
        if (engine->plan->ops[i].kind == STRAG_SEND)
            continue;
        changed |= post_all(engine, i);
        if (engine->plan->ops[i].kind == STRAG_RECV_REDUCE && run->posted < run->end &&
            run->flying == 0)
            engine->lanes[run->lane].kept_back = true;
    }
    return changed;
}

/* Post sends. While one has more to send than may be in flight, later rounds send nothing in its
 * lane: links would carry their segments in place of the ones that others wait for. */
static bool pass_sends(struct strag_engine *engine)
{
    bool changed = false;
    int last[STRAG_LANES]; /* round that may send */
    for (int l = 0; l < STRAG_LANES; l++)
        last[l] = engine->plan->rounds;
    for (int i = engine->head; i < engine->tail && engine->status == STRAG_OK; i++) {
        const struct strag_op *op = &engine->plan->ops[i];
        const struct run *run = &engine->runs[i];
        if (op->kind != STRAG_SEND || op->round > last[run->lane])
            continue;
        changed |= post_all(engine, i);
        if (run->posted < run->end && run->flying == engine->depth)
            last[run->lane] = op->round;
    }
    return changed;
}

/* One pass. Receives are posted before sends: a message that finds its receive waiting is cheaper
 * than one that comes unexpected. @return whether anything changed */
static bool pass(struct strag_engine *engine)
{
    bool changed = pass_receives(engine);
    changed |= pass_sends(engine);
    return changed && engine->status == STRAG_OK;
}

/* ---- A call ---- */

/* After an error: nothing stays in flight that the transport can stop. */
static void stop(struct strag_engine *engine)
{
    struct strag_reducer *reducer = engine->call.reducer;
    int lost = 0;
    for (int i = engine->head; i < engine->tail; i++) {
        const struct run *run = &engine->runs[i];
        struct strag_transport *transport = engine->lanes[run->lane].transport;
        for (struct segment *s = run->oldest; s; s = s->next) {
            if (s->state == FLYING)
                lost |= transport->cancel(transport, &s->transfer) != STRAG_OK && s->slot != NONE;
            while (s->state == COMBINING && reducer->test(reducer, s->ticket) == STRAG_PENDING)
                ;
            release(engine, run, s);
        }
    }
    if (engine->space)
        reducer->release(reducer, engine->space, lost);
    engine->running = false;
    free_all_segments(engine);
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

/* In which lanes does the plan combine anything, so that temporary space is needed? */
static void find_uses(const struct strag_engine *engine, bool *uses)
{
    if (engine->lanes[0].in_place && engine->lanes[1].in_place)
        return;
    const struct strag_plan *plan = engine->plan;
    const uint8_t *lane_of = engine->call.lane_of;
    for (int i = 0; i < plan->nops && engine->call.count > 0; i++) {
        if (plan->ops[i].kind == STRAG_RECV_REDUCE)
            uses[lane_of ? lane_of[plan->ops[i].peer] : 0] = true;
    }
}

/* Room for the numbers of all slots. */
static bool room_for_slots(struct strag_engine *engine)
{
    int slots = 0;
    for (int l = 0; l < STRAG_LANES; l++)
        slots += engine->call.lanes[l].slots;
    if (slots <= engine->slots_room)
        return true;
    int *larger = realloc(engine->free_slots, (size_t)slots * sizeof *larger);
    if (!larger)
        return false;
    engine->free_slots = larger;
    engine->slots_room = slots;
    return true;
}

static void find_transports(struct strag_engine *engine)
{
    for (int l = 0; l < STRAG_LANES; l++) {
        struct strag_transport *own = engine->call.lanes[l].transport;
        engine->lanes[l].transport = own ? own : engine->call.transport;
        engine->lanes[l].in_place = NULL != engine->lanes[l].transport->recv_in_place;
    }
}

static int progress_transports(struct strag_engine *engine)
{
    struct strag_transport *first = engine->lanes[0].transport;
    struct strag_transport *second = engine->lanes[1].transport;
    int status = first->progress(first);
    int other = second != first ? second->progress(second) : STRAG_OK;
    return status != STRAG_OK ? status : other;
}

static int prepare_space(struct strag_engine *engine)
{
    const struct strag_call *call = &engine->call;
    bool uses[STRAG_LANES] = {false};
    size_t elements = 0;
    int slots = 0;
    if (!room_for_slots(engine))
        return STRAG_ERR_MEMORY;
    find_uses(engine, uses);
    for (int l = 0; l < STRAG_LANES; l++) {
        const struct strag_lane *wanted = &call->lanes[l];
        struct lane *lane = &engine->lanes[l];
        lane->offset = elements;
        lane->free = engine->free_slots + slots;
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
        engine->space = call->reducer->allocate(call->reducer, elements);
    return elements && !engine->space ? STRAG_ERR_MEMORY : STRAG_OK;
}

static bool is_possible(const struct strag_engine *engine, const struct strag_call *call)
{
    for (int l = 0; l < STRAG_LANES; l++) {
        if (call->lanes[l].segment < 1 || call->lanes[l].slots < 1)
            return false;
    }
    return !engine->running && call->extent > 0;
}

/* May it run without the window? */
static bool suits_in_order(const struct strag_engine *engine)
{
    const struct strag_transport *transport = engine->lanes[0].transport;
    return engine->lanes[1].transport == transport &&
           strag_in_order_suits(engine->in_order, &engine->call, transport);
}

int strag_engine_start(struct strag_engine *engine, const struct strag_call *call)
{
    if (!is_possible(engine, call))
        return STRAG_ERR_ARGUMENT;
    engine->call = *call;
    engine->status = STRAG_OK;
    engine->head = engine->tail = 0;
    engine->marked = true;
    engine->combining = 0;
    engine->space = NULL;
    find_transports(engine);
    engine->ordered = suits_in_order(engine);
    int status = engine->ordered ? STRAG_OK : prepare_space(engine);
    if (status == STRAG_OK && call->input != call->output)
        status = copy_inputs(engine);
    if (status != STRAG_OK) {
        if (engine->space)
            call->reducer->release(call->reducer, engine->space, 0);
        return status;
    }
    engine->running = true;
    if (engine->ordered)
        strag_in_order_start(engine->in_order, &engine->call, engine->lanes[0].transport);
    else
        move_window(engine);
    return STRAG_OK;
}

/* @return as strag_engine_progress */
static int progress_in_order(struct strag_engine *engine)
{
    int status = strag_in_order_progress(engine->in_order);
    engine->running = status == STRAG_PENDING;
    return status;
}

/* Do what the window permits. */
static void progress_window(struct strag_engine *engine)
{
    bool changed;
    engine->marked = false;
    do {
        changed = pass(engine);
        changed |= engine->status == STRAG_OK && move_window(engine);
    } while (changed);
}

int strag_engine_progress(struct strag_engine *engine)
{
    if (!engine->running)
        return STRAG_ERR_ARGUMENT;
    if (engine->ordered)
        return progress_in_order(engine);
    int status = progress_transports(engine);
    if (status != STRAG_OK && engine->status == STRAG_OK)
        engine->status = status;
    if (engine->status == STRAG_OK && (engine->marked || engine->combining))
        progress_window(engine);
    if (engine->status != STRAG_OK) {
        stop(engine);
        return engine->status;
    }
    if (engine->head < engine->plan->nops)
        return STRAG_PENDING;
    if (engine->space)
        engine->call.reducer->release(engine->call.reducer, engine->space, 0);
    engine->running = false;
    return STRAG_OK;
}
