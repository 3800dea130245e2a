/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a user plan consists of, and what its ranks do: for given.c, which holds and runs it,
 * given_check.c, which checks it, and given_proof.c, which proves it.
 */
#ifndef STRAG_GIVEN_PARTS_H
#define STRAG_GIVEN_PARTS_H

#include "plan/given.h"

struct strag_given {
    struct strag_algorithm row;
    struct strag_given_head head;
    int64_t *numerator; /* blocks + 1; NULL: blocks of equal size */
    struct strag_given_group *group;
    struct strag_given_loop *loop;
    struct strag_given_op *op;
    int groups_room, loops_room, ops_room;
    int32_t *group_of;           /* [rank], once it is closed; -1: another process has it */
    int64_t operations, touched; /* of all ranks: how many, and how many blocks they have */
    int64_t touched_most;        /* of one rank */
    uint64_t hash;               /* strag_hash of the text that it was read from, */
    size_t bytes;                /* and how long that is */
};

/** The first of a group's loops. */
static inline int strag_given_loops_begin(const struct strag_given *given, int group)
{
    return group ? given->group[group - 1].end : 0;
}

/** The first of a loop's operations. */
static inline int strag_given_ops_begin(const struct strag_given *given, int loop)
{
    return loop ? given->loop[loop - 1].end : 0;
}

/** How many ranks, from 0 on, have to be examined: 1 if all others do what rank 0 does, turned
 * (see struct strag_algorithm), else n. */
int strag_given_kinds(const struct strag_given *given);

/** What a proof takes at least: its plans, and all that is as large as they are. */
struct strag_effort strag_given_effort(const struct strag_given *given);

/** @return STRAG_OK, or STRAG_ERR_LIMIT with the reason: that is more than it may take */
int strag_given_limit(const struct strag_given *given, const struct strag_effort *most,
                      struct strag_error *err);

/** @return false: no more */
typedef bool strag_given_visitor(void *context, const struct strag_op *op);

/**
 * Visit a rank's operations in order, from a round on; ranges may run over the last block. From
 * round 0: all, also where rounds are not checked yet.
 */
void strag_given_visit(const struct strag_given *given, int rank, int round,
                       strag_given_visitor *visit, void *context);

#endif
