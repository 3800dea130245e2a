/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an algorithm is: a row of functions. Each row has its own file (see algorithms/table.h).
 *
 * An algorithm gets a problem and a rank, and builds that rank's plan from these alone, in time and
 * memory proportional to the rank's own operations. It also states what it claims (rounds, bytes,
 * ports), and `verify` holds it to that.
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
    int blocks; /* of the vector, or 0 for the algorithm's own choice */
    int ports;  /* links that a host drives at the same time, or 0 for the algorithm's own choice */
    int root;   /* the rank that works for all, if one does: 0, or one that gives the same bits */
    const struct strag_topology *topology; /* of n ranks; NULL if each is a host on one switch */
    const struct strag_state *state;       /* NULL if no rank is late and no link slow */
    /* What strag_instance_open sets: */
    const struct strag_algorithm *algorithm; /* that plans it */
    const void *shared;                      /* result of algorithm->share */
    const void *prepared;                    /* result of algorithm->prepare */
};

/* The most ports that a claim has: two for each dimension of a grid. */
#define STRAG_PORTS_MAX (2 * STRAG_DIMS_MAX)

/* What an algorithm promises for a problem. */
struct strag_claim {
    int rounds;      /* exactly */
    int blocks;      /* exactly */
    double sent_max; /* the most that any one rank sends, in vectors: exact, up to rounding; 0 if
                        the algorithm has a function for it (see strag_instance_claim) */
    int ports;       /* in one round a rank sends to this many ranks at most, and receives from this
                        many; 0 if nothing is claimed */

    /* The longest chain of messages, each of which needs data that the one before it brought. A
     * network's latency counts once for all rounds that do not need one another. 0 if a message is
     * assumed to need those of the round before. */
    int chain;

    /* Ranks change partners from round to round, and their messages need most of the data that
     * arrived before. A rank that starts a round too early takes bandwidth from messages that its
     * next partner still waits for. Over a network, a round's sends are better posted after earlier
     * rounds have been received. */
    bool in_step;

    /* The algorithm waits for a straggler, which takes part from exactly round `before` on; the
     * other ranks use the earlier rounds. */
    bool waits;
    int straggler, before;
};

/* The most block counts that an algorithm may list for comparison, and the most forms of these. */
#define STRAG_CHOICES_MAX 16
#define STRAG_FORMS_MAX   2

struct strag_algorithm {
    const char *name;
    const char *summary;     /* one line for `strag list` */
    const char *rounds;      /* formula, for `strag list`: "2(n-1)" */
    const char *sent;        /* formula, bytes sent by a rank in vectors: "2(n-1)/n" */
    const void *form;        /* the functions' parameter, if several rows share them */
    bool needs_straggler;    /* refused if no rank is late (a rank late by 0 seconds is enough) */
    bool any_straggler;      /* ... and can be planned for any late rank if it can for one */
    bool straggler_tolerant; /* a rank receives from one other rank only, so that a straggler delays
                                the others by no more than its delay, whatever the network does */
    bool stock;           /* Open MPI has it, too: assumed to be what the previous component runs */
    bool fewest_switches; /* with few blocks it needs the fewest context switches on shared
                             processors; one algorithm has it */
    bool rooted;          /* its root need not be rank 0 */
    bool prefers_more_blocks; /* a pipeline that evens out the cost of ranks that are not in step;
                                 more blocks (of its `choices`) do so better */

    /** Refuse what cannot be planned: STRAG_OK, or the reason in err. n >= 1 was checked
     * already. */
    int (*check)(const struct strag_problem *problem, struct strag_error *err);

    /** Is the algorithm no better here than those before it in the table? Called when a selection
     * has to be made quickly, so the answer must be quick, too. NULL if it may be better. */
    bool (*adds_nothing)(const struct strag_problem *problem);

    /** Is pricing it too expensive when a selection has to be made quickly? NULL if it never is. */
    bool (*takes_long)(const struct strag_problem *problem);

    /** Does it run only if it is named, since planning takes too long? NULL if never. */
    bool (*on_request)(const struct strag_problem *problem);

    /** Make the expensive part that does not depend on problem->blocks, such as a planned tree.
     * Called once for all counts of blocks, after `check`, for n >= 2; the functions below find the
     * result in problem->shared. @return STRAG_OK or STRAG_ERR_MEMORY. NULL if there is no such
     * part. */
    int (*share)(const struct strag_problem *problem, void **shared, struct strag_error *err);
    void (*unshare)(void *shared);

    /** Make what all ranks' plans are derived from, such as a schedule or a tree. Called once,
     * after `share`, for n >= 2; the functions below, except `choices`, find the result in
     * problem->prepared. @return as `check`, or STRAG_ERR_MEMORY. NULL if nothing is prepared. */
    int (*prepare)(const struct strag_problem *problem, void **prepared, struct strag_error *err);
    void (*release)(void *prepared);

    /** Block counts worth comparing, if the best one depends on the vector's size: at most
     * STRAG_CHOICES_MAX, ascending; 0, the algorithm's own choice, may be the first. Called after
     * `check`, for n >= 2 and problem->blocks 0. @return how many, at least 1, or STRAG_ERR_MEMORY.
     * NULL if there is one good count, or only one. */
    int (*choices)(const struct strag_problem *problem, int *blocks);

    void (*claim)(const struct strag_problem *problem, struct strag_claim *claim);
    /** The claim's sent_max, if it depends on all ranks' plans: only a proof needs it, and a plan
     * has to be made quickly. @return negative when out of memory. NULL if the claim has it. */
    double (*sent_max)(const struct strag_problem *problem);
    /** Append the rank's operations, at least those of strag_rounds_wanted. n >= 2 here. */
    void (*build)(const struct strag_problem *problem, int rank, struct strag_builder *builder);
    /** Where the blocks start: fill in the denominator and the claim.blocks + 1 numerators. NULL if
     * blocks are of equal size. */
    void (*bounds)(const struct strag_problem *problem, struct strag_bounds *bounds);
    /** How many rounds from this one on, at least 1, carry the same traffic: the same pairs of
     * ranks exchange as many bytes, reduced or not, if blocks are of equal size. *period comes in
     * as 1. If rounds take turns, it is set: then that many of round, round + *period,
     * `round + 2 * *period`, ... carry the same traffic, and so it is from each of the *period
     * rounds from this one on. The straggler takes part in all of these rounds, or in none. NULL if
     * no two rounds are known to be identical. */
    int (*same_rounds)(const struct strag_problem *problem, int round, int *period);
    /** With `same_rounds`, for pipelines: if this many blocks are added in the middle of the
     * vector, as long as those there, every stretch of identical rounds has one more repetition,
     * and nothing else changes except that all blocks get shorter. The problem is prepared. NULL if
     * another count of blocks makes other traffic. */
    int (*unit)(const struct strag_problem *problem);
    /** With `unit`, if that holds only between counts of blocks of the same form: the form, from 0
     * to STRAG_FORMS_MAX - 1, or a negative number if no rounds are identical. problem->shared is
     * set. NULL if there is one form. */
    int (*form_of)(const struct strag_problem *problem, int blocks);
    /** Does every rank r do what rank 0 does, turned: with r added to all peers, modulo n, and
     * `r * *shift` to all first blocks, modulo the blocks? `n * *shift` is a multiple of the
     * blocks, all of which are of the same size; no range wraps around after the last one on any
     * rank, and no peer is n/2 ranks away. Proofs rest on the answer (verify_proof.h). NULL if it
     * is not known. */
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
 * Make what an algorithm shares between all counts of blocks. If problem->shared is NULL, each
 * instance makes its own.
 *
 * @param[out] shared  to be put into problem->shared, and freed with strag_algorithm_unshare after
 *                     all instances; NULL if there is nothing to share, or if the algorithm refuses
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_algorithm_share(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, void **shared,
                          struct strag_error *err);

/** NULL is allowed. */
void strag_algorithm_unshare(const struct strag_algorithm *algorithm, void *shared);

/**
 * The values of problem->blocks that are worth comparing: problem->blocks itself if it is given,
 * else the algorithm's `choices`, or 0 alone if it has none or refuses the problem.
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
        problem; /* the caller's, with `shared` and `prepared` set; its pointers must stay valid */
    struct strag_claim claim;
    struct strag_shape shape;
    void *shared; /* that the instance made and frees; NULL if it made none */
    void *prepared;
};

/** @return as strag_algorithm_claim; on failure nothing is left to close */
int strag_instance_open(struct strag_instance *instance, const struct strag_algorithm *algorithm,
                        const struct strag_problem *problem, struct strag_error *err);

/**
 * All that the algorithm promises: instance->claim, and the sent_max that takes long to compute.
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

/** Append a rank's operations to a builder, at least those of the rounds that the builder wants. */
void strag_instance_build(const struct strag_instance *instance, int rank,
                          struct strag_builder *builder);

/** How many rounds carry the same traffic, at least 1: this one, and others in steps of the period.
 * @param[out] period  at least 1; may be NULL */
int strag_instance_same_rounds(const struct strag_instance *instance, int round, int *period);

/** Does the state have a straggler, if the algorithm needs one? @param state  may be NULL */
bool strag_algorithm_suits(const struct strag_algorithm *algorithm,
                           const struct strag_state *state);

/** How many rounds from this one on, up to `most`, have no identical ones; 0 if this one has. */
int strag_instance_single_rounds(const struct strag_instance *instance, int round, int most);

/** As strag_instance_open and strag_instance_plan. */
int strag_plan_create(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                      int rank, struct strag_plan **plan, struct strag_error *err);

/** Free n plans (not the array). */
void strag_plan_free_all(struct strag_plan **plans, int n);

#endif
