/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What belongs to one communicator. Made when the communicator is (call/query.c); most of it is
 * filled in by the first call that needs to know the other ranks (setup/setup.c).
 */
#ifndef COLL_STRAG_MODULE_H
#define COLL_STRAG_MODULE_H

#include "choice/explain.h"
#include "choice/plans.h"
#include "choice/table.h"
#include "facts/decision.h"
#include "facts/fingerprint.h"
#include "mpi/failure.h"
#include "mpi/queue.h"
#include "mpi/teardown.h"
#include "shared_setup.h"
#include "stuck/stuck.h"
#include "user/counters.h"
#include "user/info_keys.h"
#include "watch/watch.h"
#include "wire/transport_pml.h"

#include "shm/shm.h"

/* The previous component: the functions that were installed before strag's. They run delegated
 * calls. */
struct coll_strag_previous {
    mca_coll_base_module_allreduce_fn_t allreduce;
    mca_coll_base_module_t *allreduce_module;
    mca_coll_base_module_iallreduce_fn_t iallreduce; /* NULL if neither component has one */
    mca_coll_base_module_t *iallreduce_module;
    mca_coll_base_module_allreduce_init_fn_t allreduce_init; /* likewise */
    mca_coll_base_module_t *allreduce_init_module;
};

enum coll_strag_setup { COLL_STRAG_SETUP_NOT_YET, COLL_STRAG_SETUP_RUNNING, COLL_STRAG_SETUP_DONE };

struct setup;
struct coll_strag_ledger;

/*
 * Which nonblocking calls strag runs, if one of them has begun setup. Ranks complete setup at
 * different times, and must not wait for each other; but strag must begin with the same call on all
 * of them. So calls are counted, in program order. When a rank comes to the end of its setup, in
 * Open MPI's progress, it sends twice the number of calls that it has begun, plus 16. The call
 * after the highest of all ranks' numbers is the first that strag runs (`first` of struct
 * coll_strag_stuck; 1 if a blocking call has begun setup). The previous component runs those
 * before. (A rank that begins more calls than it has sent, while the numbers are exchanged, waits
 * for the result: which component runs a call must be known when it is begun.)
 */
struct coll_strag_nonblocking {
    uint64_t begun; /* atomic, as is `limit` */
    uint64_t limit; /* what this rank has sent; UINT64_MAX before */
};

/* A number that no call has: strag runs none. */
#define COLL_STRAG_NEVER (UINT64_C(1) << 31)

struct coll_strag_module {
    mca_coll_base_module_t super;
    bool enabled;
    struct coll_strag_previous previous;
    struct coll_strag_ledger *ledger; /* NULL if calls are not recorded */

    struct coll_strag_fingerprint first; /* rank 0's */

    /* Before setup the first `first_calls` calls are delegated, of any length. A shorter vector
     * than `delegate_below` bytes is delegated at once, until `delegate_limit` calls have been. */
    unsigned long long first_calls;
    size_t delegate_below;
    unsigned long long delegate_limit, delegated; /* of all kinds, so far */

    enum coll_strag_setup setup; /* atomic: coll_strag_is_set_up */

    struct coll_strag_failure failure; /* coll_strag_fail */

    struct setup *in_setup; /* what setup needs until it is done (setup/steps.h); then NULL */
    struct coll_strag_attribute *attribute; /* NULL if there is none, or it was deleted */
    struct coll_strag_teardown teardown;    /* of setup, if a nonblocking call has begun it */
    bool in_progress;                       /* a thread has entered; atomic: coll_strag_enter */
    bool waited_for;                        /* a blocking call goes on with setup; atomic */

    struct coll_strag_keys keys; /* when the communicator was made; on rank 0 later at setup */

    /* Filled in by setup. */
    struct coll_strag_decision decision;          /* before setup only its reason */
    struct coll_strag_shared_setup *shared_setup; /* NULL if there is none; owns the next three */
    const struct coll_strag_given *given;         /* plans from files; NULL if there are none */
    const struct strag_topology *topology; /* on rank 0, on others only during setup; NULL if it
                                              could not be made */
    uint8_t *lane_of;                      /* [rank]: enum coll_strag_lane */
    uint64_t segments[STRAG_LANES];        /* bytes, by enum coll_strag_lane */
    struct strag_selection *selection;     /* rank 0's, for verbose lines; or NULL */
    struct strag_shm *shm; /* NULL if messages within a host go over `transport`, too */
    struct coll_strag_pml_transport pml;
    struct coll_strag_transport *ucp;       /* NULL if nothing goes over UCX */
    struct coll_strag_transport *transport; /* one of these two */
    struct coll_strag_watch *watch;         /* NULL if calls are not watched */
    int watch_in; /* the number of calls, of those that are long enough, until they are watched; 0
                     if they are, or if none will be */

    struct coll_strag_plans plans;
    struct coll_strag_nonblocking nonblocking;
    struct coll_strag_stuck stuck;            /* counts calls, and finds those that stand still */
    struct coll_strag_queue queue;            /* nonblocking calls, and before them ... */
    struct coll_strag_job setup_job;          /* ... setup, if one of them has begun it */
    struct coll_strag_persistent *persistent; /* requests, a list */
    uint32_t persistent_made;                 /* so far; the same on all ranks */
    uint64_t *explained;                      /* coll_strag_explain_choice */
};

OBJ_CLASS_DECLARATION(coll_strag_module_t);
typedef struct coll_strag_module coll_strag_module_t;

/** Is setup done? Then all that it has filled in may be read, whichever thread did it. */
static inline bool coll_strag_is_set_up(const struct coll_strag_module *module)
{
    return __atomic_load_n(&module->setup, __ATOMIC_ACQUIRE) == COLL_STRAG_SETUP_DONE;
}

/** Several threads may want to go on with setup. One at a time enters, and leaves again.
 * @return false if a thread has entered and not left, perhaps this one */
static inline bool coll_strag_enter(struct coll_strag_module *module)
{
    return !__atomic_exchange_n(&module->in_progress, true, __ATOMIC_ACQUIRE);
}

static inline void coll_strag_leave(struct coll_strag_module *module)
{
    __atomic_store_n(&module->in_progress, false, __ATOMIC_RELEASE);
}

/**
 * Let a communicator fail: a call has failed, here or on another rank, and later calls cannot be
 * right. Messages of it may be left that would be taken for a later call's, or other ranks may be
 * ahead. From now on all calls that strag is to run fail, with this error or an earlier one. Calls
 * that are delegated do not, since other ranks may be in them. Any thread may do this, repeatedly.
 *
 * Other ranks may wait for this one, now or later. They learn of the failure when they ask
 * (stuck/stuck.h), for which the communicator is kept.
 *
 * @param undecided  this rank does not know which calls strag runs: all calls fail for which it
 *                   would have to know
 */
void coll_strag_fail(struct coll_strag_module *module, int code, bool undecided);

/** Does all of a call go through memory that all ranks share, so that it can fail without letting
 * later calls fail? @param size  bytes of data in an element */
static inline bool coll_strag_is_in_memory(const struct coll_strag_module *module, size_t size)
{
    return module->shm && strag_shm_is_alone(module->shm) && size <= strag_shm_longest(module->shm);
}

/** Is a call of `bytes` bytes delegated, whatever its operator and type? Before setup all ranks
 * know this without a message. */
static inline bool coll_strag_delegates_early(const struct coll_strag_module *module, size_t bytes)
{
    return bytes < module->delegate_below && module->delegated < module->delegate_limit;
}

static inline void coll_strag_count_delegated(struct coll_strag_module *module)
{
    module->delegated++;
    coll_strag_count(STRAG_COUNT_DELEGATED);
}

#endif
