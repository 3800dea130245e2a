/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A user plan: the plans of all ranks as data, written down by somebody (plan_file.h) or taken
 * from an algorithm, in the form that doc/plan-format.md describes. Ranks that do the same are one
 * group, and what a rank does again and again is one loop, so that a ring of 1,024 ranks, four
 * million operations, is ten of them here:
 *
 *     group     ranks first, first + step, ..: the rank at place j of them
 *     loop      operations that are done `times` times: turn i of them
 *     value     start + rank * j + turn * i; peers modulo n, first blocks modulo the blocks
 *
 * To everybody else it is an algorithm like others, for one number of ranks: it is proved, priced,
 * shown and run as those are. Nothing of it is believed: what it claims, verify compares.
 */
#ifndef STRAG_GIVEN_H
#define STRAG_GIVEN_H

#include "plan/verify.h"

/* What is accepted: a mistyped number does not eat all memory or time. */
enum {
    STRAG_GIVEN_RANKS_MAX = 1 << 16,
    STRAG_GIVEN_BLOCKS_MAX = 1 << 20,
    STRAG_GIVEN_ROUNDS_MAX = 1 << 20,
    STRAG_GIVEN_HELD_MAX = 1 << 27,       /* ranks times blocks */
    STRAG_GIVEN_OPERATIONS_MAX = 1 << 26, /* of all ranks together */
    STRAG_GIVEN_TOUCHED_MAX = 1 << 28,    /* blocks of all operations together */
    STRAG_GIVEN_NAME_MAX = 32,            /* bytes of a name, with its NUL */
};

struct strag_given_value {
    int32_t start, rank, turn;
};

/* What one or many operations are. A range may run over the last block to block 0 again: then it
 * stands for two operations. */
struct strag_given_op {
    uint8_t kind; /* enum strag_kind */
    uint8_t stage;
    bool own_left;
    bool unused; /* no padding: it is sent as it stands in memory */
    int32_t count;
    struct strag_given_value peer, first, round;
};

struct strag_given_loop {
    int32_t times; /* at least 1 */
    int32_t end;   /* its operations are those from the end of the loop before to here */
};

struct strag_given_group {
    int32_t first, count, step;
    int32_t end; /* of its loops, as above */
};

/* What all of it has in common; plain data. */
struct strag_given_head {
    char name[STRAG_GIVEN_NAME_MAX]; /* letters, digits, blanks and -_.:+ */
    char stage[STRAG_STAGES_MAX][STRAG_GIVEN_NAME_MAX];
    int32_t nstages, n, blocks;
    int32_t groups, loops, ops; /* how many are there */
    int64_t denominator;        /* 0: blocks of equal size */
    /* the claim */
    int32_t rounds; /* 0 while it is made: as many as there are */
    int32_t chain, straggler, before;
    bool in_step, one_ported, waits;
};

/* All of it. `row` is it as an algorithm, which refuses other numbers of ranks; in no table. */
struct strag_given {
    struct strag_algorithm row;
    struct strag_given_head head;
    int64_t *numerator; /* blocks + 1; NULL: blocks of equal size */
    struct strag_given_group *group;
    struct strag_given_loop *loop;
    struct strag_given_op *op;
    int groups_room, loops_room, ops_room;
    int32_t *group_of;           /* [rank], once it is closed; -1: this process has no plan of it */
    int64_t operations, touched; /* of all ranks: how many, and how many blocks they have */
    int64_t touched_most;        /* of one rank */
    uint64_t hash;               /* strag_hash of the text that it was read from, */
    size_t bytes;                /* and how long that is */
};

/* What reading and proving may take: in a job, whose ranks wait for it (two seconds and 256 MiB),
 * and for somebody who has asked for a proof. */
static const struct strag_effort strag_given_in_job = {150000000, INT64_C(240) << 20},
                                 strag_given_asked = {INT64_C(4000000000), INT64_C(4) << 30};

/** An empty one, of equal blocks. @return NULL: out of memory */
struct strag_given *strag_given_create(void);

/* strag_given_free and strag_given_ranks are in api/strag.h. An algorithm made of it must be gone
 * before it is freed, too. */

/* ---- Making it: head's name, n, blocks and claim are set before any operation is added ---- */

/** Room for blocks + 1 numerators, which are the caller's to set; all 0. Sets the denominator.
 * @return NULL: out of memory */
int64_t *strag_given_numerators(struct strag_given *given, int64_t denominator);

/** The stage of a name, recorded if it is new. @return -1: there are too many, or it is too long */
int strag_given_stage(struct strag_given *given, const char *name);

/** Ranks first, first + step, ..; loops follow. @return false: out of memory */
bool strag_given_add_group(struct strag_given *given, int first, int count, int step);

/** A loop of the last group; operations follow. @return false: out of memory */
bool strag_given_add_loop(struct strag_given *given, int times);

/** An operation of the last loop. @return false: out of memory */
bool strag_given_add_op(struct strag_given *given, const struct strag_given_op *op);

/**
 * All is there: check that every rank is in one group, that peers, ranges and rounds exist, and
 * that all together is not more than is accepted; count the rounds.
 *
 * @param most  what a proof may take; NULL: there need not be one
 * @return STRAG_OK, STRAG_ERR_ARGUMENT or STRAG_ERR_LIMIT with the reason, or STRAG_ERR_MEMORY
 */
int strag_given_close(struct strag_given *given, const struct strag_effort *most,
                      struct strag_error *err);

/* ---- Using it, once it is closed ---- */

/**
 * Prove that it is an allreduce, and as it claims.
 *
 * @param most          what that may take
 * @param progress      may be NULL
 * @param[out] measure  may be NULL
 * @return as strag_verify, or STRAG_ERR_LIMIT with what it would take
 */
int strag_given_prove(const struct strag_given *given, const struct strag_effort *most,
                      const struct strag_progress *progress, struct strag_measure *measure,
                      struct strag_error *err);

/** For sending, to a process of the same build. The size is a multiple of 8.
 * @param[out] bytes   the caller's to free
 * @return STRAG_OK or STRAG_ERR_MEMORY */
int strag_given_pack(const struct strag_given *given, void **bytes, size_t *size);

/**
 * From such bytes, at an address that is a multiple of 8. Nothing but their sizes is checked: they
 * are from one that was closed.
 *
 * @param rank        what this rank does is kept, and the others have no plans; -1: all
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
