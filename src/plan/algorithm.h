/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an algorithm is: a row of functions (algorithms/table.h lists them), a file each.
 *
 * An algorithm gets a problem and a rank, and builds that rank's plan from these alone, in time and
 * memory of its own operations. It also states what it claims (rounds, bytes, ports), and `verify`
 * holds it to that.
 */
#ifndef STRAG_ALGORITHM_H
#define STRAG_ALGORITHM_H

#include "base/progress.h"
#include "machine/state.h"
#include "machine/topology.h"
#include "plan/plan.h"

/* What is to be planned. */
struct strag_problem {
    int n;      /* ranks, at least 1 */
    int blocks; /* 0: the algorithm's own choice */
    int ports;  /* how many links a host drives at the same time; 0: the algorithm's own choice */
    int root;   /* the rank that works for all, where one does: 0, or another with the same bits */
    const struct strag_topology *topology; /* of n ranks; NULL: each on a host, all on one switch */
    const struct strag_state *state;       /* NULL: no rank is late, no link slow */
    /* What strag_instance_open sets: */
    const struct strag_algorithm *algorithm; /* that is to plan it */
    const void *shared;                      /* what that made for all counts of blocks */
    const void *prepared;                    /* what that prepared for it */
};

/* What an algorithm promises for a problem. */
struct strag_claim {
    int rounds;      /* exactly */
    int blocks;      /* exactly */
    double sent_max; /* the most that any one rank sends, in vectors: exactly, up to rounding; 0
                        where the algorithm has a function for it (strag_instance_claim) */
    bool one_ported; /* in one round a rank sends to one rank at most and receives from one */

    /* The most messages in a row of which each needs what the one before brought: where rounds do
     * not need one another a network's latency counts once for all of them. 0: a message needs
     * those of the round before, as far as is known. */
    int chain;

    /* From round to round ranks go to other partners, with messages that need most of what arrived
     * before: a rank that goes on too early takes bandwidth from what its next partner still waits
     * for. Over a network a round's sends are better left until earlier rounds are received. */
    bool in_step;

    /* Forms that wait for a straggler: it takes part from round `before` on, exactly; the others
     * use the rounds until then. */
    bool waits;
    int straggler, before;
};

/* Maximum number of block counts that an algorithm has compared, and of their forms. */
#define STRAG_CHOICES_MAX 16
#define STRAG_FORMS_MAX   2

struct strag_algorithm {
    const char *name;
    const char *summary;     /* one line for `strag list` */
    const char *rounds;      /* formula, for `strag list`: "2(n-1)" */
    const char *sent;        /* formula, bytes sent by a rank in vectors: "2(n-1)/n" */
    const void *form;        /* what tells apart rows with the same functions, for these */
    bool needs_straggler;    /* refused where no rank is late (one that is by 0 seconds will do) */
    bool needs_slow;         /* refused where no host is slow */
    bool any_straggler;      /* ... and can be planned for whichever rank, if it can for one */
    bool straggler_tolerant; /* a rank receives from one other rank only, so that a straggler delays
                    all by its delay and no more, whatever the network does */
    bool stock;           /* Open MPI has it, too: assumed to be what the previous component runs */
    bool fewest_switches; /* with few blocks it has the fewest changes of
                             process on shared processors; one algorithm has it */
    bool rooted;          /* it may have another root than rank 0 */
    bool prefers_more_blocks; /* a pipeline that evens out what ranks cost that are not in step, the
                   more so the more blocks of its `choices` it has */

    /** Refuse what cannot be planned: STRAG_OK, or why not in err. n >= 1 was checked already. */
    int (*check)(const struct strag_problem *problem, struct strag_error *err);

    /** Is it no better here than algorithms before it in the table? Asked where the table has to be
     * made quickly, so the answer has to come quickly, too. NULL: it may be better. */
    bool (*adds_nothing)(const struct strag_problem *problem);

    /** Is it too expensive to price for a table that is made quickly? NULL:
     * no. */
    bool (*takes_long)(const struct strag_problem *problem);

    /** Is the algorithm to run only if it is named, since planning takes too long? NULL: no. */
    bool (*on_request)(const struct strag_problem *problem);

    /** For what does not depend on problem->blocks, where that is much: a tree that is planned.
     * Called once for all counts of blocks, after `check`, for n >= 2; the functions below find it
     * in problem->shared. STRAG_OK or STRAG_ERR_MEMORY. NULL: there is nothing like that. */
    int (*share)(const struct strag_problem *problem, void **shared, struct strag_error *err);
    void (*unshare)(void *shared);

    /** For what all ranks' plans are taken from, where that is much: a schedule, a tree. Called
     * once, after `share`, for n >= 2; the functions below but `choices` find it in
     * problem->prepared. Refuses as `check` does, or STRAG_ERR_MEMORY. NULL: nothing is prepared.
     */
    int (*prepare)(const struct strag_problem *problem, void **prepared, struct strag_error *err);
    void (*release)(void *prepared);

    /** Block counts worth comparing, where the best one depends on the vector's size: at most
     * STRAG_CHOICES_MAX, ascending; 0, the algorithm's own choice, may be the first. Called after
     * `check`, for n >= 2 and problem->blocks 0. @return how many, at least 1, or STRAG_ERR_MEMORY.
     * NULL: there is one good count, or one only. */
    int (*choices)(const struct strag_problem *problem, int *blocks);

    void (*claim)(const struct strag_problem *problem, struct strag_claim *claim);
    /** The claim's sent_max, if it takes all ranks to know it: only a proof needs
     * it, a plan has to be made quickly. @return negative: out of memory. NULL: the claim has
     * it. */
    double (*sent_max)(const struct strag_problem *problem);
    /** Append the rank's operations; n >= 2 here. Many rounds: those that are wanted will do. */
    void (*build)(const struct strag_problem *problem, int rank, struct strag_builder *builder);
    /** Where the blocks start: fill in the denominator, and the numerators of which there are
     * claim.blocks + 1. NULL: blocks are of equal size. */
    void (*bounds)(const struct strag_problem *problem, struct strag_bounds *bounds);
    /** How many rounds from this one on carry the same traffic: between the same ranks as many
     * bytes, reduced or not, if blocks are of equal size. At least 1. *period is 1; rounds that
     * take turns set it: then as many of round, round + *period, round + 2 *period, ... carry the
     * same traffic, and so it is with each of the *period rounds from this one on. The straggler
     * takes part in all of these rounds, or in none. NULL: no two rounds are known to be identical.
     */
    int (*same_rounds)(const struct strag_problem *problem, int round, int *period);
    /** With `same_rounds`, for pipelines: with that many additional blocks in the middle of the
     * vector and as long as those there, every stretch of identical rounds has one more repetition,
     * and nothing else changes but that all blocks are shorter. The problem is prepared. NULL:
     * another count of blocks makes another traffic. */
    int (*unit)(const struct strag_problem *problem);
    /** With `unit`, where that holds only between counts of blocks of the same form: which one,
     * from 0 to STRAG_FORMS_MAX - 1; negative: no rounds are identical. The problem has what is
     * shared. NULL: there is one form. */
    int (*form_of)(const struct strag_problem *problem, int blocks);
    /** Does every rank r do what rank 0 does, turned: with r added to all peers, modulo n, and
     * r * *shift to all first blocks, modulo the blocks? n * *shift is a multiple of the blocks,
     * all of which are of the same size; no range runs over the last one on any rank, and no peer
     * is n/2 ranks away. Proofs rest on the answer (verify_proof.h). NULL: it is not known. */
    bool (*turns)(const struct strag_problem *problem, int *shift);
};

/**
 * Can this problem be planned, and what does the algorithm promise for it?
 *
 * @param[out] claim  filled on success; may be NULL
 * @return STRAG_OK, or STRAG_ERR_UNSUPPORTED or STRAG_ERR_ARGUMENT with the reason, or
 *         STRAG_ERR_MEMORY
 */
int strag_algorithm_claim(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, struct strag_claim *claim,
                          struct strag_error *err);

/**
 * What an algorithm makes once for all counts of blocks. Instances make it for themselves where
 * problem->shared is NULL.
 *
 * @param[out] shared  to be put into problem->shared, and freed with strag_algorithm_unshare after
 *                     all instances; NULL: there is nothing to share, or the algorithm refuses
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_algorithm_share(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, void **shared,
                          struct strag_error *err);

/** NULL is allowed. */
void strag_algorithm_unshare(const struct strag_algorithm *algorithm, void *shared);

/**
 * The values of problem->blocks that are worth comparing: problem->blocks itself where it is given,
 * or the algorithm's choices, or 0, its own choice, where it has none or refuses the problem.
 *
 * @param[out] blocks  room for STRAG_CHOICES_MAX
 * @return how many, at least 1; or STRAG_ERR_MEMORY
 */
int strag_algorithm_choices(const struct strag_algorithm *algorithm,
                            const struct strag_problem *problem, int *blocks);

/* An instance: an algorithm applied to a problem, and all that the plans of its ranks share. */
struct strag_instance {
    const struct strag_algorithm *algorithm;
    struct strag_problem
        problem; /* as it was given, and prepared; what it points to must live on */
    struct strag_claim claim;
    struct strag_shape shape;
    void *shared; /* its own; NULL: somebody else's, or none */
    void *prepared;
};

/** @return as strag_algorithm_claim; on failure nothing is left to close */
int strag_instance_open(struct strag_instance *instance, const struct strag_algorithm *algorithm,
                        const struct strag_problem *problem, struct strag_error *err);

/**
 * All that the algorithm promises: instance->claim, and what takes long to find.
 *
 * @param[out] claim  untouched on failure
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_instance_claim(const struct strag_instance *instance, struct strag_claim *claim,
                         struct strag_error *err);

/** An instance that is all zero is allowed. */
void strag_instance_close(struct strag_instance *instance);

/**
 * Build one rank's plan.
 *
 * @param[out] plan  the caller's to free with strag_plan_free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_ARGUMENT for a rank that does not exist, or STRAG_ERR_MEMORY
 */
int strag_instance_plan(const struct strag_instance *instance, int rank, struct strag_plan **plan,
                        struct strag_error *err);

/** Append a rank's operations to a builder: those of all rounds, or of the rounds it wants. */
void strag_instance_build(const struct strag_instance *instance, int rank,
                          struct strag_builder *builder);

/** How many rounds carry the same traffic, at least 1: this one, and more in steps of the period.
 * @param[out] period  at least 1; may be NULL */
int strag_instance_same_rounds(const struct strag_instance *instance, int round, int *period);

/** How many rounds from this one on are like no other, up to `most`; 0: this one is not. */
int strag_instance_single_rounds(const struct strag_instance *instance, int round, int most);

/** As strag_instance_open and strag_instance_plan. */
int strag_plan_create(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                      int rank, struct strag_plan **plan, struct strag_error *err);

/** Free n plans (not the array). */
void strag_plan_free_all(struct strag_plan **plans, int n);

#endif
