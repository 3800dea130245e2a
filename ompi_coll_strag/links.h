/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probing the links of a communicator's hosts; watch/slowdown.h says by what rule.
 */
#ifndef COLL_STRAG_LINKS_H
#define COLL_STRAG_LINKS_H

#include "failure.h"

#include "base/compact.h"
#include "machine/state.h"
#include "machine/topology.h"
#include "watch/meter.h"

#include "watch/slowdown.h"

/* What a communicator's ranks need for it. */
struct coll_strag_links {
    struct strag_compact host_of; /* [rank] */
    struct strag_meter *meter;
    int rounds; /* of a probe in which this rank takes part: 0 unless it leads its host */
    struct coll_strag_partners {
        int32_t to, from; /* ranks */
    } partners[STRAG_PROBE_ROUNDS];

    /* rank 0's; else nothing */
    struct strag_probe_hosts probed;
    struct strag_slowdown *slowdown;
    float *gathered, *rates; /* room for [rank], [host] times STRAG_PROBE_ROUNDS */
};

/** Without messages. @param[out] made  NULL where there is nothing to find out
 * @return false: out of memory */
bool coll_strag_links_create(ompi_communicator_t *comm, const struct strag_topology *topology,
                             const struct strag_state_record *state,
                             struct coll_strag_links **made);

/** NULL is allowed. */
void coll_strag_links_free(struct coll_strag_links *links);

/**
 * All hosts send to each other. Collective; all ranks have waited for each other.
 *
 * @param failure  as in struct coll_strag_watch_options
 * @param bytes   of a message; the same on all ranks
 * @param[out] own  [STRAG_PROBE_ROUNDS]: bytes per second that came in
 * @return OMPI_SUCCESS, or an error of MPI's
 */
int coll_strag_links_probe(struct coll_strag_links *links, ompi_communicator_t *comm,
                           const struct coll_strag_failure *failure, size_t bytes, float *own);

/** Rank 0 has all ranks' own rates in links->gathered: links->rates are there then. */
void coll_strag_links_sort(struct coll_strag_links *links);

#endif
