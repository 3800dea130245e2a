/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building a plan: the operations come in program order from an algorithm. The waits of each are
 * found here, by remembering which operation wrote a block last and which have read it since.
 * Adjacent blocks with the same past form one run, so that the time is proportional to the
 * operations and the runs that they meet, not to the blocks.
 */
#include "plan/plan.h"

#include "base/scale.h"
#include "base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

size_t strag_block_start(const struct strag_bounds *bounds, int block, size_t count)
{
    if (block == 0 || block == bounds->blocks) /* saves a division: many calls are short */
        return block ? count : 0;
    uint64_t numerator = (uint64_t)(bounds->numerator ? bounds->numerator[block] : block);
    uint64_t denominator = (uint64_t)(bounds->numerator ? bounds->denominator : bounds->blocks);
    return (size_t)strag_scale(count, numerator, denominator);
}

double strag_block_fraction(const struct strag_bounds *bounds, int first, int count)
{
    if (!bounds->numerator)
        return (double)count / bounds->blocks;
    return (double)(bounds->numerator[first + count] - bounds->numerator[first]) /
           (double)bounds->denominator;
}

const char *strag_kind_name(enum strag_kind kind)
{
    switch (kind) {
    case STRAG_SEND:
        return "send";
    case STRAG_RECV:
        return "recv";
    case STRAG_RECV_REDUCE:
        return "recv_reduce";
    }
    return "?";
}

void strag_plan_free(struct strag_plan *plan)
{
    if (!plan)
        return;
    free(plan->bounds.numerator);
    free(plan->ops);
    free(plan->after);
    free(plan->copies);
    free(plan);
}

/* The readers of a run since it was last written: a linked list in one array. A new reader goes in
 * front, so that the two halves of a split run may share the rest of the list. */
struct reader {
    int32_t op;
    int32_t next; /* index into readers, or NONE */
};

enum {
    NONE = -1,   /* no reader; or no writer, so the run is still the caller's input */
    COPIED = -2, /* no writer, but it is copied from the input to the output at the start */
};

/* What the builder knows of a run. It is stored at the run's first block only. */
struct past {
    int32_t writer;  /* the operation that wrote it last, or NONE, or COPIED */
    int32_t readers; /* head of the list of operations that have read it since */
    int32_t end;     /* the block behind the run */
};

struct strag_builder {
    struct strag_plan *plan;
    int status;
    const char *bug; /* what the algorithm did wrong */
    int stage;

    struct strag_rounds wanted;
    strag_visit_fn *visit; /* NULL if a plan is made */
    void *context;

    int ops_room, waiter_room;
    int32_t *waiter; /* [operation]: the last one that waits for it, or NONE */
    int after_room, after_length;
    int copies_room;

    struct past *past;  /* [block] */
    uint64_t *starts;   /* a bit for each block: does a run begin there? */
    int32_t last_split; /* the start of a run that was split recently */
    struct reader *readers;
    int readers_room, readers_length;
};

static void builder_free(struct strag_builder *builder)
{
    strag_plan_free(builder->plan);
    free(builder->waiter);
    free(builder->past);
    free(builder->starts);
    free(builder->readers);
    free(builder);
}

static bool copy_bounds(struct strag_bounds *to, const struct strag_bounds *from)
{
    *to = *from;
    if (!from->numerator)
        return true;
    size_t size = ((size_t)from->blocks + 1) * sizeof *to->numerator;
    to->numerator = malloc(size);
    if (to->numerator)
        memcpy(to->numerator, from->numerator, size);
    return to->numerator != NULL;
}

/* @return a builder whose bounds have no numerators; NULL when out of memory */
static struct strag_builder *begin(const struct strag_shape *shape, int rank)
{
    struct strag_builder *builder = calloc(1, sizeof *builder);
    if (!builder)
        return NULL;
    size_t blocks = (size_t)shape->bounds.blocks;
    builder->plan = calloc(1, sizeof *builder->plan);
    builder->past = malloc(blocks * sizeof *builder->past);
    builder->starts = calloc(blocks / 64 + 1, sizeof *builder->starts);
    if (!builder->plan || !builder->past || !builder->starts) {
        builder_free(builder);
        return NULL;
    }
    builder->past[0] = (struct past){NONE, NONE, shape->bounds.blocks};
    builder->starts[0] = 1;
    builder->plan->algorithm = shape->algorithm;
    builder->plan->n = shape->n;
    builder->plan->rank = rank;
    builder->plan->rounds = shape->rounds;
    builder->plan->in_step = shape->in_step;
    builder->wanted = (struct strag_rounds){0, shape->rounds};
    return builder;
}

struct strag_builder *strag_builder_create(const struct strag_shape *shape, int rank)
{
    struct strag_builder *builder = begin(shape, rank);
    if (builder && !copy_bounds(&builder->plan->bounds, &shape->bounds)) {
        builder_free(builder);
        return NULL;
    }
    return builder;
}

struct strag_builder *strag_builder_create_last(struct strag_shape *shape, int rank)
{
    struct strag_builder *builder = begin(shape, rank);
    if (!builder)
        return NULL;
    builder->plan->bounds = shape->bounds;
    shape->bounds.numerator = NULL;
    return builder;
}

struct strag_rounds strag_rounds_wanted(const struct strag_builder *builder)
{
    return builder->wanted;
}

struct strag_builder *strag_visitor_create(const struct strag_shape *shape, strag_visit_fn *visit,
                                           void *context)
{
    const struct strag_shape one = {
        .algorithm = shape->algorithm,
        .n = shape->n,
        .rounds = shape->rounds,
        .bounds = {.blocks = 1},
    };
    struct strag_builder *visitor = strag_builder_create(&one, 0);
    if (!visitor)
        return NULL;
    visitor->plan->bounds.blocks = shape->bounds.blocks; /* their past is not recorded */
    visitor->visit = visit;
    visitor->context = context;
    return visitor;
}

void strag_visitor_aim(struct strag_builder *visitor, int rank, struct strag_rounds rounds)
{
    visitor->plan->rank = rank;
    visitor->wanted = rounds;
}

static void fail(struct strag_builder *builder, int status, const char *bug)
{
    if (builder->status == STRAG_OK) {
        builder->status = status;
        builder->bug = bug;
    }
}

/* Several arrays grow at the same time, so that growing means moving. The first access to a page
 * costs as much as tens of operations, so an array that turns out long is moved once, to room for
 * 64 times as many. Unused room is never touched, but it counts if the address space is limited or
 * memory is not overcommitted, so beyond LEAP_BYTES the factor is four. Out of memory is kept as
 * the builder's error. */
static __attribute__((noinline)) bool grow_more(struct strag_builder *builder, void *items,
                                                int *room, int used, size_t size)
{
    enum { AT_FIRST = 64, LONG = 1024, STEP = 4, LEAP = 64, LEAP_BYTES = 8 << 20 };
    const bool leaps = used >= LONG && (size_t)used <= LEAP_BYTES / LEAP / size;
    const int times = leaps ? LEAP : STEP;
    int wanted = used < AT_FIRST ? AT_FIRST : used > INT32_MAX / times ? INT32_MAX : times * used;
    if (used < INT32_MAX && strag_array_grow(items, room, wanted, size))
        return true;
    fail(builder, STRAG_ERR_MEMORY, NULL);
    return false;
}

/* Make room for one more item. */
static inline bool grow(struct strag_builder *builder, void *items, int *room, int used,
                        size_t size)
{
    return used < *room || grow_more(builder, items, room, used, size);
}

void strag_stage(struct strag_builder *builder, const char *name)
{
    struct strag_plan *plan = builder->plan;
    if (builder->visit)
        return;
    for (int s = 0; s < plan->nstages; s++) {
        if (strcmp(plan->stages[s], name) == 0) {
            builder->stage = s;
            return;
        }
    }
    if (plan->nstages == STRAG_STAGES_MAX) {
        fail(builder, STRAG_ERR_ARGUMENT, "too many stages");
        return;
    }
    plan->stages[plan->nstages] = name;
    builder->stage = plan->nstages++;
}

static void add_wait(struct strag_builder *builder, int32_t op)
{
    struct strag_plan *plan = builder->plan;
    /* The next run of the same range often has the same operation in its past. */
    if (builder->waiter[op] == plan->nops)
        return;
    builder->waiter[op] = plan->nops;
    if (grow(builder, &plan->after, &builder->after_room, builder->after_length,
             sizeof *plan->after))
        plan->after[builder->after_length++] = op;
}

static void add_reader(struct strag_builder *builder, struct past *past, int32_t op)
{
    if (!grow(builder, &builder->readers, &builder->readers_room, builder->readers_length,
              sizeof *builder->readers))
        return;
    builder->readers[builder->readers_length] = (struct reader){op, past->readers};
    past->readers = builder->readers_length++;
}

static bool is_start(const struct strag_builder *builder, int block)
{
    return builder->starts[block / 64] >> block % 64 & 1;
}

/* Where the run of a block begins. Algorithms often cut one piece after another from a run. */
static int run_start(const struct strag_builder *builder, int block)
{
    int last = builder->last_split;
    if (is_start(builder, last) && last <= block && block < builder->past[last].end)
        return last;
    while (!is_start(builder, block)) {
        if (block % 64 == 63 && builder->starts[block / 64] == 0)
            block -= 64;
        else
            block--;
    }
    return block;
}

/* Let a run begin at a block. */
static void split(struct strag_builder *builder, int block)
{
    if (block == builder->plan->bounds.blocks || is_start(builder, block))
        return;
    int start = run_start(builder, block);
    builder->past[block] = builder->past[start];
    builder->past[start].end = block;
    builder->starts[block / 64] |= UINT64_C(1) << block % 64;
    builder->last_split = start;
}

/* A reader waits for the last writer. A writer waits for the readers since then, or for the last
 * writer if there are none. The operation's range consists of whole runs. */
static void find_waits(struct strag_builder *builder, const struct strag_op *op, int32_t index)
{
    bool writes = op->kind != STRAG_SEND;
    int end = op->first + op->count;
    for (int b = op->first; b < end; b = builder->past[b].end) {
        struct past *past = &builder->past[b];
        if (past->writer >= 0 && (!writes || past->readers == NONE))
            add_wait(builder, past->writer);
        if (!writes) {
            add_reader(builder, past, index);
            continue;
        }
        for (int32_t r = past->readers; r != NONE; r = builder->readers[r].next)
            add_wait(builder, builder->readers[r].op);
        builder->starts[b / 64] &= ~(UINT64_C(1) << b % 64);
    }
    if (writes) {
        builder->past[op->first] = (struct past){index, NONE, end};
        builder->starts[op->first / 64] |= UINT64_C(1) << op->first % 64;
    }
}

/* Record that a run must be copied at the start. It joins the range before it if it can. */
static void add_copy(struct strag_builder *builder, int first)
{
    struct strag_plan *plan = builder->plan;
    int count = builder->past[first].end - first;
    builder->past[first].writer = COPIED;
    if (plan->ncopies) {
        struct strag_range *last = &plan->copies[plan->ncopies - 1];
        if (last->first + last->count == first) {
            last->count += count;
            return;
        }
    }
    if (grow(builder, &plan->copies, &builder->copies_room, plan->ncopies, sizeof *plan->copies))
        plan->copies[plan->ncopies++] = (struct strag_range){first, count};
}

/* Are all of the operation's values still in the caller's input? If only some of them are, these
 * are copied to the output at the start. */
static bool finds_input(struct strag_builder *builder, const struct strag_op *op)
{
    int end = op->first + op->count;
    bool in_output = false;
    for (int b = op->first; b < end; b = builder->past[b].end)
        in_output = in_output || builder->past[b].writer != NONE;
    for (int b = op->first; in_output && b < end; b = builder->past[b].end) {
        if (builder->past[b].writer == NONE)
            add_copy(builder, b);
    }
    return !in_output;
}

/* The first fault of an operation, or NULL if there is none. */
static inline const char *find_bug(const struct strag_plan *plan, int round, int peer, int first,
                                   int count)
{
    if (first < 0 || count < 0 || first > plan->bounds.blocks - count)
        return "a range outside the vector";
    if (peer < 0 || peer >= plan->n || peer == plan->rank)
        return "a peer that is no other rank";
    if (round < (plan->nops ? plan->ops[plan->nops - 1].round : 0) || round >= plan->rounds)
        return "a round out of order";
    return NULL;
}

/* Append an operation to the plan. */
static void append(struct strag_builder *builder, const struct strag_op *made)
{
    struct strag_plan *plan = builder->plan;
    /* One more than the operations, since the last one only closes the list of waits. */
    if (!grow(builder, &plan->ops, &builder->ops_room, plan->nops + 1, sizeof *plan->ops) ||
        !grow(builder, &builder->waiter, &builder->waiter_room, plan->nops,
              sizeof *builder->waiter))
        return;
    builder->waiter[plan->nops] = NONE;
    struct strag_op *op = &plan->ops[plan->nops];
    *op = *made;
    split(builder, op->first);
    split(builder, op->first + op->count);
    op->from_input = op->kind != STRAG_RECV && finds_input(builder, op);
    find_waits(builder, op, plan->nops);
    plan->nops++;
}

/* Inline, since most calls come from visits, which are short. */
static inline void add(struct strag_builder *builder, enum strag_kind kind, bool own_left,
                       int round, int peer, int first, int count)
{
    if (count == 0 || builder->status != STRAG_OK)
        return;
    const char *bug = find_bug(builder->plan, round, peer, first, count);
    if (bug) {
        fail(builder, STRAG_ERR_ARGUMENT, bug);
        return;
    }
    if (builder->visit && !strag_is_wanted(builder->wanted, round))
        return;
    const struct strag_op made = {
        .kind = (uint8_t)kind,
        .stage = (uint8_t)builder->stage,
        .own_left = own_left,
        .peer = peer,
        .first = first,
        .count = count,
        .round = round,
        .after = (uint32_t)builder->after_length,
    };
    if (builder->visit)
        builder->visit(builder->context, &made);
    else
        append(builder, &made);
}

void strag_send(struct strag_builder *builder, int round, int peer, int first, int count)
{
    add(builder, STRAG_SEND, false, round, peer, first, count);
}

void strag_recv(struct strag_builder *builder, int round, int peer, int first, int count)
{
    add(builder, STRAG_RECV, false, round, peer, first, count);
}

void strag_recv_reduce(struct strag_builder *builder, int round, int peer, int first, int count)
{
    add(builder, STRAG_RECV_REDUCE, false, round, peer, first, count);
}

void strag_recv_reduce_right(struct strag_builder *builder, int round, int peer, int first,
                             int count)
{
    add(builder, STRAG_RECV_REDUCE, true, round, peer, first, count);
}

void strag_exchange_reduce(struct strag_builder *builder, int round, int peer, int first, int count)
{
    add(builder, STRAG_RECV_REDUCE, builder->plan->rank < peer, round, peer, first, count);
}

void strag_cyclic(struct strag_builder *builder, enum strag_kind kind, int round, int peer,
                  int first, int count)
{
    int blocks = builder->plan->bounds.blocks;
    if (first >= blocks) /* it seldom is, and a division takes long */
        first %= blocks;
    int head = count < blocks - first ? count : blocks - first;
    add(builder, kind, false, round, peer, first, head);
    if (head < count)
        add(builder, kind, false, round, peer, 0, count - head);
}

int strag_visitor_finish(struct strag_builder *builder, struct strag_error *err)
{
    const struct strag_plan *plan = builder->plan;
    int status = builder->status;
    if (status == STRAG_ERR_MEMORY)
        strag_fail(err, status, "out of memory for the plan of rank %d of %d", plan->rank, plan->n);
    else if (status != STRAG_OK)
        strag_fail(err, status, "%s has a bug: rank %d of %d, operation %d: %s", plan->algorithm,
                   plan->rank, plan->n, plan->nops, builder->bug);
    builder_free(builder);
    return status;
}

/* Give back unused room. Out of memory is kept as the builder's error. */
static void *cut(struct strag_builder *builder, void *items, int used, size_t size)
{
    void *moved = items && used > 0 ? realloc(items, (size_t)used * size) : items;
    if (items && !moved)
        fail(builder, STRAG_ERR_MEMORY, NULL);
    return moved ? moved : items;
}

int strag_builder_finish(struct strag_builder *builder, struct strag_plan **plan,
                         struct strag_error *err)
{
    struct strag_plan *built = builder->plan;
    grow(builder, &built->ops, &builder->ops_room, built->nops, sizeof *built->ops);
    /* Blocks that no operation writes go to the output as they are (with a single rank only). */
    for (int b = 0; builder->status == STRAG_OK && b < built->bounds.blocks;
         b = builder->past[b].end) {
        if (builder->past[b].writer == NONE)
            add_copy(builder, b);
    }
    if (builder->status == STRAG_OK) {
        built->ops[built->nops] = (struct strag_op){.after = (uint32_t)builder->after_length};
        built->ops = cut(builder, built->ops, built->nops + 1, sizeof *built->ops);
        built->after = cut(builder, built->after, builder->after_length, sizeof *built->after);
    }
    if (builder->status == STRAG_OK) {
        *plan = built;
        builder->plan = NULL;
    }
    return strag_visitor_finish(builder, err);
}
