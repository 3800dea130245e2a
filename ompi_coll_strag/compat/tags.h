/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tags of strag messages, and those that Open MPI reserves. Messages that are left of a
 * failed strag call must not be taken for those of another component.
 *
 *                            4.1                  5.0                  6.0
 *     MPI_ANY_TAG            -1                   -1                   -1
 *     strag                  -2 to -6             -2 to -6             -2 to -6
 *     new communicators      -31078 to -31080     -7 to -9             -7 to -9
 *     blocking               -10 to -26           -10 to -26           -10 to -26
 *     other                  -2^30 - 1024         -27 to -32           -27 to -33
 *     nonblocking            -27 to -2^30 + 2     -33 to -2^30 + 2     -34 to -2^30 + 2
 *     neighbourhood          1,025 below          1,025 below          1,025 below
 *     hcoll                  all below            all below            none
 *     strag, many            -2^30 - 2^22 - 2^18 and 2^18 - 1 below, unless hcoll is there
 *
 * The tags of nonblocking calls reach their lower end after 2^30 calls of a communicator, then
 * begin again.
 */
#ifndef COLL_STRAG_COMPAT_TAGS_H
#define COLL_STRAG_COMPAT_TAGS_H

#include "components.h"

#include <limits.h>

enum coll_strag_tag {
    COLL_STRAG_TAG_STUCK = -2,    /* about a call that stands still (stuck/news.c); from any rank */
    COLL_STRAG_TAG_COLLECT = -3,  /* what ranks send to rank 0 at the end (collect/collect.c) */
    COLL_STRAG_TAG_NOTES = -4,    /* while calls are watched (watch/notes.c) */
    COLL_STRAG_TAG_CALLS = -5,    /* of setup, and of calls if there are not many tags */
    COLL_STRAG_TAG_ARRIVALS = -6, /* who is there (watch/last_arrival.c); received from any rank */

    /* COLL_STRAG_TAGS_MANY tags, from this one downwards: the first half belongs to persistent
     * requests, the second one to other calls. They are below those of coll/base's sparbit
     * allgather, which counts down from -2^30, one for each rank. */
    COLL_STRAG_TAG_MANY = -(1 << 30) - (1 << 22) - (1 << 18),
    COLL_STRAG_TAGS_MANY = 1 << 18,

    COLL_STRAG_TAG_PERSISTENT = COLL_STRAG_TAG_MANY,
    COLL_STRAG_TAGS_PERSISTENT = COLL_STRAG_TAGS_MANY / 2,

    /* 2^17 tags, from this one downwards. Calls that differ in vector, operator or plan have
     * different tags (but for one pair in 2^17), so that none takes the messages of another. */
    COLL_STRAG_TAG_SHAPES = COLL_STRAG_TAG_MANY - COLL_STRAG_TAGS_PERSISTENT,
    COLL_STRAG_TAG_SHAPE_BITS = 17,
};
_Static_assert(COLL_STRAG_TAGS_PERSISTENT + (1 << COLL_STRAG_TAG_SHAPE_BITS) ==
                   COLL_STRAG_TAGS_MANY,
               "both halves are all");

#ifdef MCA_COLL_BASE_TAG_BLOCKING_BASE
_Static_assert(COLL_STRAG_TAG_ARRIVALS > MCA_COLL_BASE_TAG_BLOCKING_BASE,
               "Open MPI has messages with strag's tags");
#else
_Static_assert(COLL_STRAG_TAG_ARRIVALS > MCA_COLL_BASE_TAG_ALLGATHER,
               "Open MPI has messages with strag's tags");
#endif
_Static_assert(COLL_STRAG_TAG_STUCK < MPI_ANY_TAG, "a receive with this tag takes any message");
#ifdef MCA_COLL_BASE_TAG_UCC
_Static_assert(COLL_STRAG_TAG_MANY < MCA_COLL_BASE_TAG_UCC, "its messages have strag's tags");
#endif
_Static_assert(COLL_STRAG_TAG_MANY < MCA_COLL_BASE_TAG_NONBLOCKING_END &&
                   COLL_STRAG_TAG_MANY < MCA_COLL_BASE_TAG_NEIGHBOR_END &&
                   COLL_STRAG_TAG_MANY - COLL_STRAG_TAGS_MANY >= -INT_MAX,
               "Open MPI has messages with strag's tags");

/* PMLs that keep the lowest 20 bits of a tag (libfabric) see these as -2^18 and below, down to
 * -2^19 + 1: the user's tags end where these begin, and those of nonblocking calls reach them after
 * 262,144 calls of a communicator. PMLs that keep 24 bits (UCX) see -2^22 - 2^18 and below, which
 * nonblocking calls reach after 4 million. */
_Static_assert(((unsigned)COLL_STRAG_TAG_MANY & 0xfffff) >= 0x80000 + COLL_STRAG_TAGS_MANY,
               "they are the user's where 20 bits are kept");

/** May this communicator's messages use the many tags? On communicators that hcoll has taken, it
 * uses them. */
static inline bool coll_strag_has_many_tags(const ompi_communicator_t *comm)
{
#ifdef MCA_COLL_BASE_TAG_HCOLL_BASE
    return !coll_strag_component_is_there(comm, "hcoll");
#else
    (void)comm;
    return true;
#endif
}

#endif
