/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A user plan: the plans of all ranks as data, written by a user (plan_file.h) or taken from an
 * algorithm, in the form that doc/plan-format.md describes. Ranks that do the same form one group,
 * and operations that a rank repeats form one loop. A ring of 1,024 ranks has four million
 * operations, of which ten are stored here:
 *
 *     group     ranks first, first + step, ..: j is a rank's place among them
 *     loop      operations that are done `times` times: i is the turn
 *     value     start + rank * j + turn * i; peers are modulo n, first blocks modulo the blocks
 *
 * The rest of the program uses a user plan as an algorithm for one number of ranks: it is proved,
 * priced, shown and run like any other. Nothing in it is taken on trust: verify checks its claims.
 */
#ifndef STRAG_GIVEN_H
#define STRAG_GIVEN_H

#include "plan/verify.h"

/* Limits, so that a mistyped number does not take all memory or time. */
enum {
    STRAG_GIVEN_RANKS_MAX = 1 << 16,
    STRAG_GIVEN_BLOCKS_MAX = 1 << 20,
    STRAG_GIVEN_ROUNDS_MAX = 1 << 20,
    STRAG_GIVEN_HELD_MAX = 1 << 27,       /* ranks times blocks */
    STRAG_GIVEN_OPERATIONS_MAX = 1 << 26, /* of all ranks together */
    STRAG_GIVEN_TOUCHED_MAX = 1 << 28,    /* blocks of all operations together */
    STRAG_GIVEN_NAME_MAX = 32,            /* bytes of a name, including the NUL */
};

struct strag_given_value {
    int32_t start, rank, turn;
};

/* One operation of each of a group's ranks, in each turn of its loop. A range may wrap around from
 * the last block to block 0; then it stands for two operations. */
struct strag_given_op {
    uint8_t kind; /* enum strag_kind */
    uint8_t stage;
    bool own_left;
    bool unused; /* in place of padding, since the structure is sent as bytes */
    int32_t count;
    struct strag_given_value peer, first, round;
};

struct strag_given_loop {
    int32_t times; /* at least 1 */
    int32_t end;   /* of its operations; they begin at the `end` of the loop before */
};

struct strag_given_group {
    int32_t first, count, step;
    int32_t end; /* of its loops, likewise */
};

/* The fixed part of a user plan; plain data. */
struct strag_given_head {
    char name[STRAG_GIVEN_NAME_MAX]; /* letters, digits, blanks and -_.:+ */
    char stage[STRAG_STAGES_MAX][STRAG_GIVEN_NAME_MAX];
    int32_t nstages, n, blocks;
    int32_t groups, loops, ops; /* how many there are */
    int64_t denominator;        /* 0 if blocks are of equal size */
    /* the claim */
    int32_t rounds; /* 0 in a plan being made: strag_given_close counts them */
    int32_t chain, ports, straggler, before;
    bool in_step, waits;
};

/* A user plan. `row` is its algorithm, which is in no table and refuses other numbers of ranks. */
struct strag_given {
    struct strag_algorithm row;
    struct strag_given_head head;
    int64_t *numerator; /* blocks + 1; NULL if blocks are of equal size */
    struct strag_given_group *group;
    struct strag_given_loop *loop;
    struct strag_given_op *op;
    int groups_room, loops_room, ops_room;
    int32_t *group_of;           /* [rank], after closing; -1 if the rank's plan is not here */
    int64_t operations, touched; /* of all ranks: operations, and the blocks of all of them */
    int64_t touched_most;        /* the most blocks of one rank */
    uint64_t hash;               /* strag_hash of the text it was read from */
    size_t bytes;                /* of that text */
};

/* What reading and proving may take: in a job, whose ranks wait for it (two seconds and 256 MiB),
 * and for a user who has asked for a proof. */
static const struct strag_effort strag_given_in_job = {150000000, INT64_C(240) << 20},
                                 strag_given_asked = {INT64_C(4000000000), INT64_C(4) << 30};

/** An empty user plan, of equal blocks. @return NULL when out of memory */
struct strag_given *strag_given_create(void);

/* strag_given_free and strag_given_ranks are in api/strag.h. Instances of `row` must be closed
 * before. */

/* ---- Making it: head's name, n, blocks and claim are set before any operation is added ---- */

/** Room for blocks + 1 numerators, all 0, for the caller to set. Sets the denominator.
 * @return NULL when out of memory */
int64_t *strag_given_numerators(struct strag_given *given, int64_t denominator);

/** The index of a stage, which is added if it is new. @return -1 if there are too many stages, or
 * if the name is too long */
int strag_given_stage(struct strag_given *given, const char *name);

/** Add the group of ranks first, first + step, ..; loops follow. @return false when out of
 * memory */
bool strag_given_add_group(struct strag_given *given, int first, int count, int step);

/** Add a loop to the last group; its operations follow. @return false when out of memory */
bool strag_given_add_loop(struct strag_given *given, int times);

/** Add an operation to the last loop. @return false when out of memory */
bool strag_given_add_op(struct strag_given *given, const struct strag_given_op *op);

/**
 * Finish a user plan: check that every rank is in one group, that peers, ranges and rounds exist,
 * and that the totals are within the limits; count the rounds.
 *
 * @param most  the effort that a proof may take; NULL if it will not be proved
 * @return STRAG_OK, STRAG_ERR_ARGUMENT or STRAG_ERR_LIMIT with the reason, or STRAG_ERR_MEMORY
 */
int strag_given_close(struct strag_given *given, const struct strag_effort *most,
                      struct strag_error *err);

/* ---- Using it, once it is closed ---- */

/**
 * Prove that the user plan is an allreduce and keeps its claims.
 *
 * @param most          the effort that the proof may take
 * @param progress      may be NULL
 * @param[out] measure  may be NULL
 * @return as strag_verify, or STRAG_ERR_LIMIT with the effort that it would take
 */
int strag_given_prove(const struct strag_given *given, const struct strag_effort *most,
                      const struct strag_progress *progress, struct strag_measure *measure,
                      struct strag_error *err);

/** Pack a user plan for sending to a process of the same build. The size is a multiple of 8.
 * @param[out] bytes   the caller's to free
 * @return STRAG_OK or STRAG_ERR_MEMORY */
int strag_given_pack(const struct strag_given *given, void **bytes, size_t *size);

/**
 * Make a user plan from packed bytes, at an address that is a multiple of 8. Only sizes are
 * checked, since the packed plan was closed.
 *
 * @param rank        keep only this rank's plan; -1 to keep all ranks' plans
 * @param[out] given  closed; the caller's to free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_ARGUMENT or STRAG_ERR_MEMORY
 */
int strag_given_unpack(const void *bytes, size_t size, int rank, struct strag_given **given,
                       struct strag_error *err);

/* ---- For given.c, given_check.c and given_proof.c ---- */

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
 * (`turns` in struct strag_algorithm), else n. */
int strag_given_kinds(const struct strag_given *given);

/** The least effort of a proof: that of the plans, and of all data in proportion to them. */
struct strag_effort strag_given_effort(const struct strag_given *given);

/** @return STRAG_OK, or STRAG_ERR_LIMIT with the reason if that effort is more than `most` */
int strag_given_limit(const struct strag_given *given, const struct strag_effort *most,
                      struct strag_error *err);

/** @return false to end the visit */
typedef bool strag_given_visitor(void *context, const struct strag_op *op);

/**
 * Visit a rank's operations in order, from a round on; ranges may wrap around after the last block.
 * From round 0 on, all are visited, even if rounds are not checked yet.
 */
void strag_given_visit(const struct strag_given *given, int rank, int round,
                       strag_given_visitor *visit, void *context);

#endif
