/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that stand for the ranks of a host: each has its own process with an arena of shared
 * memory, its engines and a reducer, and makes a list of calls, without waiting for the others
 * between them. The operator is world_reduce's, neither commutative nor associative, so that the
 * result says in which order it came about.
 */
#ifndef STRAG_TEST_SHM_RANKS_H
#define STRAG_TEST_SHM_RANKS_H

#include "expressions.h"
#include "shm/layout.h"
#include "support.h"

enum { SHM_RANKS_MAX = 36, NOBODY = -1 };

/* All ranks' plans of an algorithm, and what they compute. */
struct shm_plans {
    struct strag_plan **plans; /* [n] */
    int n;
    struct strag_proof *proof;
    struct strag_expressions expressions;
};

void shm_plans_make(struct shm_plans *plans, const char *algorithm, int n, int blocks, int root);
void shm_plans_free(struct shm_plans *plans);

enum shm_wrong { CALLS_LONGER, GIVES_UP, CANNOT_PACK };

/* One call, of all ranks. */
struct shm_call {
    const struct shm_plans *plans;
    size_t count;
    size_t segment;       /* elements */
    uint64_t seed;        /* of the values */
    bool contiguous;      /* on all ranks; else some ranks' elements lie apart */
    bool not_in_place;    /* no messages are read where they arrive */
    int odd;              /* a rank that does something else, or NOBODY */
    enum shm_wrong wrong; /* what it does */
};

/* What became of a call on one rank. */
struct shm_outcome {
    int status;                   /* STRAG_PENDING: it hung */
    int root;                     /* that strag_shm_choose_root chose */
    long sends, receives;         /* messages of the pipeline */
    long try_sends, try_receives; /* messages of calls in order */
    bool hints;                   /* it may publish for whom it waits */
    size_t wrong;                 /* elements that are not as they should be, if the status is OK */
};

struct shm_host_options {
    bool yields;
    bool few;  /* with `yields`: few ranks share a processor */
    bool file; /* others' arenas are mapped, as ranks of different processes have them, and not the
                * same memory */
    bool threads;                      /* communicators are used at the same time */
    const struct strag_shm_size *size; /* of arenas, while they are made; NULL: as usual */
};

/* One communicator. */
struct shm_ranks {
    int n;
    struct shm_host_options options;
    struct strag_shm_process *processes[SHM_RANKS_MAX];
    struct strag_shm *views[SHM_RANKS_MAX];
    struct shm_run *run;
};

/** A communicator, and processes for it. */
void shm_ranks_create(struct shm_ranks *ranks, int n, const struct shm_host_options *options);

/** A communicator of the same processes; it is to be freed before theirs. */
void shm_ranks_dup(struct shm_ranks *ranks, const struct shm_ranks *other);
void shm_ranks_free(struct shm_ranks *ranks);

/** The communicator alone: its processes live on. */
void shm_ranks_leave(struct shm_ranks *ranks);

/**
 * Make calls on all ranks, with random delays.
 *
 * @param outcomes  [ncalls * n]: by call and rank
 */
void shm_ranks_run(struct shm_ranks *ranks, const struct shm_call *calls, int ncalls,
                   struct rng *rng, struct shm_outcome *outcomes);

/** The same in two parts, so that several communicators can make calls at the same time. */
void shm_ranks_start(struct shm_ranks *ranks, const struct shm_call *calls, int ncalls,
                     struct rng *rng, struct shm_outcome *outcomes);
void shm_ranks_finish(struct shm_ranks *ranks);

#endif
