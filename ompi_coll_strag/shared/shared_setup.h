/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What communicators of the same ranks, or of some of them, need not find out again: the topology,
 * rank 0's decision, the arenas that are open, and this rank's plans. It is made by a setup that
 * succeeded on all ranks, and never changes after that, except that plans are added. It lives as
 * long as its communicator, or one that was derived from it. A later communicator looks for a
 * shared setup that has all its ranks: its origin. The roll call compares ids: have all found the
 * same one?
 */
#ifndef COLL_STRAG_SHARED_SETUP_H
#define COLL_STRAG_SHARED_SETUP_H

#include "choice/user_plans.h"
#include "facts/decision.h"

#include "base/compact.h"
#include "plan/plan_store.h"
#include "shm/shm.h"

struct coll_strag_shared_setup {
    uint64_t id;             /* the same on all ranks, random; 0 if none is derived from it */
    bool shared;             /* ranks of a host share memory */
    bool numbered_as_origin; /* topology and lane_of are the origin's */
    struct coll_strag_decision decision;
    struct coll_strag_given *given;  /* plans from files; owned; or NULL */
    struct strag_topology *topology; /* on rank 0; owned, as are those below */
    void *packed;                    /* on other ranks: the same, as bytes; both NULL if there is
                                        none, or if ranks are numbered as in the origin */
    size_t packed_bytes;
    uint8_t *lane_of;               /* [rank]: enum coll_strag_lane */
    struct strag_shm_hold *hold;    /* NULL if nothing is shared, or the origin has it */
    struct strag_plan_store *plans; /* a reference: for this decision's state and ports */
    int n;                          /* how many ranks, if it has an id; their numbers in the job: */
    struct strag_compact vpids;     /* [rank] */
    struct coll_strag_shared_setup *origin; /* what it was derived from, a reference; or NULL */

    /* this file's */
    int refs;
    struct coll_strag_shared_setup *next;
};

/** Make one, with one reference, the caller's. All is 0, but for an empty store of plans.
 * @return NULL if out of memory */
struct coll_strag_shared_setup *coll_strag_shared_setup_create(void);

/** Give up a reference; the last one frees it. NULL is allowed. */
void coll_strag_shared_setup_release(struct coll_strag_shared_setup *shared_setup);

/** Before it is published: give up its origin, and all that is from it. */
void coll_strag_shared_setup_forget_origin(struct coll_strag_shared_setup *shared_setup);

/**
 * Get its topology, for a while.
 *
 * @param[out] topology  NULL if there is none
 * @param[out] unpacked  the caller's to free; NULL if the shared setup does not have it packed
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int coll_strag_shared_setup_topology(const struct coll_strag_shared_setup *shared_setup,
                                     const struct strag_topology **topology,
                                     struct strag_topology **unpacked);

/** Before it is published: give it an id, the same on all ranks, unless its ranks are of several
 * jobs. @return false if out of memory: then it has no id */
bool coll_strag_shared_setup_identify(struct coll_strag_shared_setup *shared_setup,
                                      ompi_communicator_t *comm, uint64_t id);

/** All ranks have it, with all that belongs to it: from now on other communicators may use it, if
 * it has an id. Once at most. */
void coll_strag_shared_setup_publish(struct coll_strag_shared_setup *shared_setup);

/**
 * Find one that has all ranks of a communicator: the oldest that has them in the same order and no
 * others; or else the oldest.
 *
 * @param[out] rank_of  [ranks of comm]: each rank's number there
 * @param[out] same     it has the same ranks in the same order
 * @return the caller's reference; NULL if this rank has none. Other ranks may find another one
 */
struct coll_strag_shared_setup *coll_strag_shared_setup_find(ompi_communicator_t *comm,
                                                             int32_t *rank_of, bool *same);

/** MPI has ended. */
void coll_strag_shared_setup_close(void);

#endif
