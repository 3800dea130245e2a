/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plan: one rank's part of an allreduce, as an ordered list of operations on block ranges.
 *
 * The vector is cut into blocks. Every operation names a peer and a contiguous range of blocks, and
 * does one of these:
 *
 *     send         my current value of the range goes to the peer
 *     recv         what the peer sends replaces my value of the range
 *     recv_reduce  what the peer sends is reduced into my value of the range
 *
 * The list is in program order: if the operations run one after another, and each send takes the
 * current values, they do the allreduce. An operation also lists the earlier operations that it
 * must wait for, so that an engine may run the others at the same time. The builder finds these by
 * itself: a reader waits for a block's last writer; a writer waits for the readers since then.
 *
 *     send and recv      may start when the operations they wait for are done
 *     recv_reduce        may receive (into temporary space) at any time; it reduces when the
 *                        operations it waits for are done
 *
 * If two operations share only a part of their ranges, the wait is for that part: an element may be
 * used as soon as the earlier operation is done with that element.
 *
 * Rules that `verify` proves of every plan, and that the engine relies on:
 *   - rounds never decrease along the list, and a message has the same round on both sides;
 *   - the i-th send of a to b is the i-th receive of b from a, with the same range;
 *   - waits point backwards.
 *
 * A plan depends on neither data type nor count: it is made once and run many times. Kinds of
 * operations and strag_plan_free are in api/strag.h.
 */
#ifndef STRAG_PLAN_H
#define STRAG_PLAN_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strag_op {
    uint8_t kind;  /* enum strag_kind */
    uint8_t stage; /* index into the plan's stage names */

    /* recv_reduce: my value is the left operand. If two ranks reduce the same two values, both must
     * put the same one left, or floating point gives them different bits. */
    bool own_left;

    /* No earlier operation wrote the range: its value is still the caller's input, and may be read
     * from the caller's send buffer. Otherwise the whole range is in the receive buffer. */
    bool from_input;

    int32_t peer;
    int32_t first, count; /* blocks [first, first + count) */
    int32_t round;        /* from 0 */
    uint32_t after;       /* its waits are plan->after[op.after .. next op's after) */
};

/* Where a block starts, as a fraction of the vector: exact, so that all ranks cut at the same
 * elements. */
struct strag_bounds {
    int32_t blocks;
    int64_t denominator; /* 1 .. 2^62 */
    int64_t *numerator;  /* blocks + 1, from 0 to denominator; NULL if blocks are of equal size */
};

/* Blocks that are copied from the input to the output before the first operation. An operation
 * reads them together with blocks that were written before it, or no operation writes them (a
 * single rank). Usually there are none. */
struct strag_range {
    int32_t first, count;
};

#define STRAG_STAGES_MAX 8

struct strag_plan {
    const char *algorithm; /* the algorithm's static name */
    int n, rank;
    int rounds;   /* 1 + the highest round of the whole collective, or 0 if no rank sends */
    bool in_step; /* as in struct strag_claim */
    struct strag_bounds bounds;

    int nops;
    struct strag_op *ops; /* nops + 1: the last one only closes `after` */
    int32_t *after;       /* the waits of all operations, one list after the other */

    int ncopies;
    struct strag_range *copies;

    int nstages;
    const char *stages[STRAG_STAGES_MAX]; /* static strings */
};

/** The operation's waits: indices of earlier operations. @param[out] length how many */
static inline const int32_t *strag_plan_after(const struct strag_plan *plan, int op, int *length)
{
    *length = (int)(plan->ops[op + 1].after - plan->ops[op].after);
    return plan->after + plan->ops[op].after;
}

/**
 * The first element of a block, floor(bound * count). The result is exact for every count.
 *
 * @param bounds  the plan's
 * @param block   0 .. blocks; the last gives count
 * @param count   elements in the vector
 */
size_t strag_block_start(const struct strag_bounds *bounds, int block, size_t count);

/** The fraction of the vector, 0 .. 1, that a range of blocks is. */
double strag_block_fraction(const struct strag_bounds *bounds, int first, int count);

/** "send", "recv" or "recv_reduce". */
const char *strag_kind_name(enum strag_kind kind);

/*
 * The builder, which only algorithms use. They add operations in program order; the builder sorts
 * nothing. It keeps an error (out of memory, a range outside the vector) until the end, so
 * algorithms check nothing.
 */
struct strag_builder;

/** What every plan of one collective shares. */
struct strag_shape {
    const char *algorithm;      /* static */
    int n;                      /* ranks */
    int rounds;                 /* of the whole collective */
    struct strag_bounds bounds; /* copied, with its numerators */
    bool in_step;               /* as in struct strag_claim */
};

/** @return a builder, or NULL when out of memory */
struct strag_builder *strag_builder_create(const struct strag_shape *shape, int rank);

/** As above, for a shape's last plan: the plan takes the shape's numerators, and leaves NULL
 * there. */
struct strag_builder *strag_builder_create_last(struct strag_shape *shape, int rank);

/** Name the stage of the operations that follow; `name` must be static. */
void strag_stage(struct strag_builder *builder, const char *name);

/**
 * Append an operation. An empty range adds nothing.
 *
 * @param round  from 0, never lower than that of the operation before it
 * @param peer   the other rank
 * @param first  first block of the range
 * @param count  how many blocks
 */
void strag_send(struct strag_builder *builder, int round, int peer, int first, int count);
void strag_recv(struct strag_builder *builder, int round, int peer, int first, int count);

/** As above; the incoming value is the left operand. */
void strag_recv_reduce(struct strag_builder *builder, int round, int peer, int first, int count);

/** As above; the incoming value is the right operand. */
void strag_recv_reduce_right(struct strag_builder *builder, int round, int peer, int first,
                             int count);

/** As above, for two ranks that reduce each other's value: the lower rank's is left. */
void strag_exchange_reduce(struct strag_builder *builder, int round, int peer, int first,
                           int count);

/** Append a range that may wrap around from the last block to block 0, as one operation or two. */
void strag_cyclic(struct strag_builder *builder, enum strag_kind kind, int round, int peer,
                  int first, int count);

/* The rounds that are wanted, [first, end): an algorithm with very many rounds need not append the
 * operations of other rounds. */
struct strag_rounds {
    int first, end;
};

struct strag_rounds strag_rounds_wanted(const struct strag_builder *builder);

static inline bool strag_is_wanted(struct strag_rounds wanted, int round)
{
    return round >= wanted.first && round < wanted.end;
}

/**
 * Close the list and find the waits. The builder is freed in every case.
 *
 * @param[out] plan  the caller's to free with strag_plan_free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_MEMORY, or STRAG_ERR_ARGUMENT when the algorithm has a bug
 */
int strag_builder_finish(struct strag_builder *builder, struct strag_plan **plan,
                         struct strag_error *err);

/*
 * A builder that makes no plan, but hands each operation of some rounds to a visitor. It is for the
 * traffic of many ranks, whose plans would take too much time and memory.
 */
/** @param op  the operation, without its waits and its stage */
typedef void strag_visit_fn(void *context, const struct strag_op *op);

/** @return a builder for any rank of the shape, to be freed by strag_visitor_finish, or NULL */
struct strag_builder *strag_visitor_create(const struct strag_shape *shape, strag_visit_fn *visit,
                                           void *context);

/** Set the rank that is built next, and the rounds that are visited. */
void strag_visitor_aim(struct strag_builder *visitor, int rank, struct strag_rounds rounds);

/** Free it. @return STRAG_OK, or STRAG_ERR_ARGUMENT when the algorithm has a bug */
int strag_visitor_finish(struct strag_builder *visitor, struct strag_error *err);

#endif
