/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a communicator has of the one that it was derived from (setup_derive.h): its topology, who
 * is on this host, and this rank's plans. All of that follows from the other one's id and from who
 * the ranks are there. Programs make the same communicators again and again, so it is kept: the
 * next one with the same ranks in the same order finds it. The last 8 of up to 256 ranks each are
 * kept, as long as what they were derived from is there.
 */
#ifndef COLL_STRAG_PARTS_H
#define COLL_STRAG_PARTS_H

#include "decision.h"

#include "plan/plan_store.h"

struct coll_strag_part {
    bool as_origin; /* ranks are numbered as in the origin, which has the topology */
    struct strag_topology *topology; /* on its rank 0, or NULL; owned, as what follows */
    void *packed;                    /* the same, as bytes; on other ranks NULL if the origin has it
                                      */
    size_t packed_bytes;
    uint8_t *lane_of;               /* [rank]: enum coll_strag_lane */
    struct strag_plan_store *plans; /* a reference; NULL: none yet */

    /* this file's */
    uint64_t origin;
    int n;
    int32_t *rank_of;
    int refs;
    struct strag_state_record *state; /* what the plans are for; owned */
    int32_t ports, reproducible;
    unsigned long long used;
};

/** One that was made before.
 * @param origin   heritage.h
 * @param rank_of  [n]: the ranks there
 * @return the caller's reference, or NULL */
struct coll_strag_part *coll_strag_part_find(uint64_t origin, const int32_t *rank_of, int n);

/** An empty one, which is found as soon as it is kept.
 * @return the caller's reference; NULL: out of memory */
struct coll_strag_part *coll_strag_part_create(uint64_t origin, const int32_t *rank_of, int n);

/** It is complete: others may find it. */
void coll_strag_part_keep(struct coll_strag_part *part);

/** The last one frees it. NULL is allowed. */
void coll_strag_part_release(struct coll_strag_part *part);

/**
 * Plans for what was decided: those that are there, if they are for the same; else what is given,
 * which the next one finds.
 *
 * @param plans  the caller's reference, which is given up
 * @return a reference, the caller's
 */
struct strag_plan_store *coll_strag_part_plans(struct coll_strag_part *part,
                                               const struct coll_strag_decision *decision,
                                               struct strag_plan_store *plans);

/** The origin is gone. */
void coll_strag_parts_forget(uint64_t origin);

/** No communicator is left. */
void coll_strag_parts_close(void);

#endif
