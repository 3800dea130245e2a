/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tags of messages of strag, and those that Open MPI reserves. What is left of a call
 * of strag that has failed must not be taken for a message of another component's.
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
 * Nonblocking calls reach the lower end of theirs after 2^30 calls of a communicator, then begin
 * again.
 */
#ifndef COLL_STRAG_COMPAT_TAGS_H
#define COLL_STRAG_COMPAT_TAGS_H

#include "components.h"

#include <limits.h>

enum coll_strag_tag {
    COLL_STRAG_TAG_STUCK = -2,    /* about a call that stands still (stuck/news.c); from any rank */
    COLL_STRAG_TAG_COLLECT = -3,  /* what ranks send to rank 0 at the end (collect/collect.c) */
    COLL_STRAG_TAG_NOTES = -4,    /* while calls are watched (watch/notes.c) */
    COLL_STRAG_TAG_CALLS = -5,    /* of setup, and of calls if there are no others for them */
    COLL_STRAG_TAG_ARRIVALS = -6, /* who is there (watch/last_arrival.c); received from any rank */

    /* This one, and as many as these downwards: the first half belongs to persistent requests, the
     * second one to other calls. coll/base's sparbit allgather counts down from -2^30, one for each
     * rank. */
    COLL_STRAG_TAG_MANY = -(1 << 30) - (1 << 22) - (1 << 18),
    COLL_STRAG_TAGS_MANY = 1 << 18,

    COLL_STRAG_TAG_PERSISTENT = COLL_STRAG_TAG_MANY,
    COLL_STRAG_TAGS_PERSISTENT = COLL_STRAG_TAGS_MANY / 2,

    /* Calls that differ in vector, operator or plan have different ones (but for one pair in as
     * many), so that none takes the messages of another: from this one 2^17 downwards. */
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

/* PMLs that keep the lowest 20 bits (libfabric) see -2^18 and below, down to -2^19 + 1: the user's
 * tags end where these begin, and nonblocking calls come to them after 262,144 calls of a
 * communicator. Those that keep 24 (UCX) see -2^22 - 2^18 and below, where they come to after 4
 * million. */
_Static_assert(((unsigned)COLL_STRAG_TAG_MANY & 0xfffff) >= 0x80000 + COLL_STRAG_TAGS_MANY,
               "they are the user's where 20 bits are kept");

/** May this communicator's messages have one of many tags? hcoll uses them on the communicators
 * that it has taken. */
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
