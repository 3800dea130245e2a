/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that stand still. A call would wait for ever if its vector, operator or kind differs from
 * the other ranks', if another rank has failed in it, or if a rank never makes it. Here it ends
 * with an error, or a line names the ranks that are missing.
 *
 *     each call       says what it is: to this process, and in memory that the host's ranks share
 *     a tick          (Open MPI's progress, twice a second) has the call moved since the last one?
 *     stands still    what have the host's ranks said? The ranks' rosters (run/roster.h) are
 *                     exchanged between hosts, by small messages (stuck/news.h)
 *     another vector  the call fails on all ranks that wait in it, and one says why
 *     a failed rank   the call fails on all ranks that wait in it
 *     a rank that has freed the communicator   likewise
 *     a missing rank  one rank says so after coll_strag_stuck seconds, and at doubling times
 *
 * A running call pays for a few stores. A rank that is in MPI, in whatever call, answers what
 * others ask. A rank that is outside of MPI, or has been stopped, does not, and is reported so.
 */
#ifndef COLL_STRAG_STUCK_H
#define COLL_STRAG_STUCK_H

#include "mpi/failure.h"
#include "news.h"
#include "wire/transport.h"

#include "run/roster.h"
#include "shm/entered.h"

/* stuck.c's own: what is examined, and what was found. */
struct coll_strag_stuck_examined {
    ompi_communicator_t *comm; /* NULL if calls are not examined */
    struct coll_strag_stuck *next;
    int32_t id; /* the same on all ranks: 0, or a persistent request's, from 1 on */

    unsigned moves;  /* how often its calls had moved at the last tick, ... */
    uint64_t number; /* ... and the call's number; 0 if there was none */
    double since;    /* seconds: when it was last seen to move */

    /* what its messages go over: both may change until the communicator is set up */
    struct strag_shm *const *shm;
    struct coll_strag_transport *const *transport;
    struct coll_strag_failure *failure; /* this rank's, or that of another one */

    struct coll_strag_stuck_news *news; /* NULL if no call has stood still yet, on any rank */
};

/* The calls of a communicator, or of a persistent request, which counts its own. */
struct coll_strag_stuck {
    /* Written by calls, read by progress, perhaps in another thread: atomic. */
    uint64_t entered; /* calls so far: the number of the last one */
    uint64_t running; /* the number of the running call; 0 if there is none */
    uint64_t bytes;   /* its vector's, ... */
    uint64_t what;    /* ... and what else must be the same on all ranks; 0 if not known yet */
    uint64_t said;    /* the number of the last call of which these two were said */

    /* Likewise, of setup. */
    bool in_setup;
    unsigned setup_moves; /* messages that setup has completed */
    uint64_t first; /* the first call that strag runs (shared/module.h); 0 if not known yet. A rank
                       that has not heard it from rank 0 waits until another rank says it */

    /* For calls only: the algorithm that ran last, and its outcome. */
    const struct strag_algorithm *algorithm;
    int outcome;

    struct coll_strag_stuck_examined examined;
};

/* ---- Calls ---- */

/** The program makes a call. @return its number */
static inline uint64_t coll_strag_stuck_count(struct coll_strag_stuck *stuck)
{
    const uint64_t number = stuck->entered + 1;
    __atomic_store_n(&stuck->entered, number, __ATOMIC_RELAXED);
    return number;
}

/** A call begins to run: from here on it may wait. coll_strag_stuck_say must be called before it
 * does, unless it is the call that sets the communicator up. */
static inline void coll_strag_stuck_begin(struct coll_strag_stuck *stuck, uint64_t number,
                                          size_t bytes)
{
    /* Who sees these bytes sees that the last call has ended. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&stuck->bytes, bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&stuck->running, number, __ATOMIC_RELAXED);
}

/** Say what runs the call that has begun. @param shm  NULL if the host's ranks share no memory
 * @param init  COLL_STRAG_IS_INIT, or 0 */
static inline void coll_strag_stuck_say(struct coll_strag_stuck *stuck, struct strag_shm *shm,
                                        const struct coll_strag_choice *choice, ompi_op_t *op,
                                        uint64_t init)
{
    if (choice->algorithm && choice->algorithm != stuck->algorithm) {
        stuck->algorithm = choice->algorithm;
        stuck->outcome = coll_strag_outcome(choice);
    }
    const uint64_t what =
        init | coll_strag_what(choice->algorithm ? stuck->outcome : COLL_STRAG_OUTCOME_PREVIOUS,
                               choice->blocks, op);
    __atomic_store_n(&stuck->what, what, __ATOMIC_RELAXED);
    __atomic_store_n(&stuck->said, stuck->running, __ATOMIC_RELAXED);
    if (shm)
        strag_shm_enter_call(shm, stuck->running, stuck->bytes, what);
}

/** A hash of what has been said of the running call. Two different calls have the same highest bits
 * only by chance. */
static inline uint32_t coll_strag_stuck_shape(const struct coll_strag_stuck *stuck)
{
    const uint64_t mixed =
        (stuck->bytes ^ (stuck->what << 20 | stuck->what >> 44)) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(mixed >> 32);
}

/** The running call has ended. */
static inline void coll_strag_stuck_end(struct coll_strag_stuck *stuck)
{
    __atomic_store_n(&stuck->running, 0, __ATOMIC_RELAXED);
}

/* ---- Communicators and requests ---- */

/**
 * Examine calls from now on.
 *
 * @param comm            its ranks make the calls
 * @param shm, transport  what the calls' messages go over; the first may point to NULL
 * @param failure         this rank's, of which others learn; another one's is recorded there
 * @param id              the same on all ranks: 0 for the communicator's own calls, from 1 on for a
 *                        persistent request's
 */
void coll_strag_stuck_watch(struct coll_strag_stuck *stuck, ompi_communicator_t *comm,
                            struct strag_shm *const *shm,
                            struct coll_strag_transport *const *transport,
                            struct coll_strag_failure *failure, int32_t id);

/** The call that has just ended on this rank has failed, since ranks called with different vectors.
 * Tell the user what shared memory or its messages show, unless another rank of the host has. */
void coll_strag_stuck_tell_why(struct coll_strag_stuck *stuck);

/** Setup of the communicator begins. */
void coll_strag_stuck_begin_setup(struct coll_strag_stuck *stuck);

/** Setup has completed this many messages. */
static inline void coll_strag_stuck_setup_moved(struct coll_strag_stuck *stuck, unsigned moves)
{
    __atomic_store_n(&stuck->setup_moves, moves, __ATOMIC_RELAXED);
}

/** @return `first`, perhaps as another rank has said it; 0 if it is not known */
static inline uint64_t coll_strag_stuck_first(const struct coll_strag_stuck *stuck)
{
    return __atomic_load_n(&stuck->first, __ATOMIC_ACQUIRE);
}

/** Record `first`, unless it is known. @return what is recorded */
static inline uint64_t coll_strag_stuck_know_first(struct coll_strag_stuck *stuck, uint64_t first)
{
    uint64_t none = 0;
    return __atomic_compare_exchange_n(&stuck->first, &none, first, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE)
               ? first
               : none;
}

/** The communicator has been set up, or setup was given up. */
void coll_strag_stuck_end_setup(struct coll_strag_stuck *stuck);

/** What this rank has reported of calls that stood still. */
struct strag_standstill coll_strag_stuck_standstill(const struct coll_strag_stuck *stuck);

/** Stop examining calls. Allowed twice, and without coll_strag_stuck_watch. */
void coll_strag_stuck_forget(struct coll_strag_stuck *stuck);

/** No communicator is left. */
void coll_strag_stuck_close(void);

#endif
