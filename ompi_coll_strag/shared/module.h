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

/* The component underneath: the functions that it had installed before strag's, for delegated
 * calls. */
struct coll_strag_previous {
    mca_coll_base_module_allreduce_fn_t allreduce;
    mca_coll_base_module_t *allreduce_module;
    mca_coll_base_module_iallreduce_fn_t iallreduce; /* NULL: there is none, nor one of strag */
    mca_coll_base_module_t *iallreduce_module;
    mca_coll_base_module_allreduce_init_fn_t allreduce_init; /* likewise */
    mca_coll_base_module_t *allreduce_init_module;
};

enum coll_strag_setup { COLL_STRAG_SETUP_NOT_YET, COLL_STRAG_SETUP_RUNNING, COLL_STRAG_SETUP_DONE };

struct setup;
struct coll_strag_ledger;

/*
 * Which nonblocking calls are strag's, if the first of them has begun setup. Ranks are done
 * with that at different times, and without having to wait for each other must all begin with the
 * same call. So calls are counted, in program order. When a rank comes to the end of its setup, in
 * Open MPI's progress, it sends twice the number of calls that it has begun, and some more; the
 * call after the highest of these over all ranks is the first one that is strag's (`first` of
 * struct coll_strag_stuck; 1, so all of them, if a blocking call has begun setup). The previous
 * component runs those before. (A rank that, in this one exchange, begins more of them than in all
 * of setup before it waits for that number: which component runs a call must be known when it is
 * begun.)
 */
struct coll_strag_nonblocking {
    uint64_t begun; /* atomic, as the next one */
    uint64_t limit; /* what this rank has sent; before: UINT64_MAX */
};

/* A number that no call has: none is strag's. */
#define COLL_STRAG_NEVER (UINT64_C(1) << 31)

struct coll_strag_module {
    mca_coll_base_module_t super;
    bool enabled;
    struct coll_strag_previous previous;
    struct coll_strag_ledger *ledger; /* NULL: no report is wanted */

    struct coll_strag_fingerprint first; /* rank 0's */

    /* Before setup this many calls are delegated, of any length. Vectors of fewer bytes are
     * delegated before anything else, until this many calls have been made. */
    unsigned long long first_calls;
    size_t delegate_below;
    unsigned long long delegate_limit, delegated; /* of all kinds, so far */

    enum coll_strag_setup setup; /* atomic: coll_strag_is_set_up */

    struct coll_strag_failure failure; /* coll_strag_fail */

    struct setup *in_setup; /* what setup needs until it is done (setup/steps.h); then NULL */
    struct coll_strag_attribute *attribute; /* NULL: there is none, or the communicator is freed */
    struct coll_strag_teardown teardown;    /* of a setup that no blocking call has begun */
    bool in_progress;                       /* a thread has entered; atomic: coll_strag_enter */
    bool waited_for;                        /* a blocking call goes on with setup; atomic */

    struct coll_strag_keys keys; /* when it was made; on rank 0 in setup, from then on */

    /* Filled in by setup. */
    struct coll_strag_decision decision;          /* before: reason alone */
    struct coll_strag_shared_setup *shared_setup; /* NULL: there is none; has the next three: */
    const struct coll_strag_given *given;         /* plans from files; NULL: none */
    const struct strag_topology *topology; /* on rank 0, on others during setup alone; NULL: it
                                              could not be made */
    uint8_t *lane_of;                      /* [rank]: enum coll_strag_lane */
    uint64_t segments[STRAG_LANES];        /* bytes, by enum coll_strag_lane */
    struct strag_selection *selection; /* rank 0's, for verbose lines; NULL: none, or the watch's */
    struct strag_shm *shm;             /* NULL: messages within a host go over `transport`, too */
    struct coll_strag_pml_transport pml;
    struct coll_strag_transport *ucp;       /* NULL: nothing goes over UCX here */
    struct coll_strag_transport *transport; /* one of these two */
    struct coll_strag_watch *watch;         /* NULL: calls are not watched */
    int watch_in; /* the call from which on calls are watched, of those that are long enough; 0: it
                     has come, or none are */

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

/** Several threads may want to make progress. One at a time enters, and leaves again.
 * @return false: another thread has entered, or this one has already */
static inline bool coll_strag_enter(struct coll_strag_module *module)
{
    return !__atomic_exchange_n(&module->in_progress, true, __ATOMIC_ACQUIRE);
}

static inline void coll_strag_leave(struct coll_strag_module *module)
{
    __atomic_store_n(&module->in_progress, false, __ATOMIC_RELEASE);
}

/**
 * A call has failed, on this rank or on another one, and cannot be given up in its place: messages
 * of it may be left that would be taken for a later call's, or other ranks may be ahead. From now
 * on all calls that strag is to run fail, with this error or an earlier one. Those that are left to
 * the previous component do not: other ranks may be in them. Any thread may say so, several times.
 *
 * Other ranks may wait for this one, now or later, and get that answer when they ask
 * (stuck/stuck.h). So the communicator is kept.
 *
 * @param undecided  this rank does not know which calls are strag's: all fail of which it would
 *                   have to know
 */
void coll_strag_fail(struct coll_strag_module *module, int code, bool undecided);

/** Does all of a call go through memory that all ranks share, so that it can be given up in its
 * place if it fails? @param size  bytes of data in an element */
static inline bool coll_strag_is_in_memory(const struct coll_strag_module *module, size_t size)
{
    return module->shm && strag_shm_is_alone(module->shm) && size <= strag_shm_longest(module->shm);
}

/** Does a call of `bytes` bytes go to the previous component whatever it is? Before setup this is
 * what all ranks know without having to ask. */
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
