/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probing the links of a communicator's hosts; detect/slowdown.h says by what rule.
 */
#ifndef COLL_STRAG_LINKS_H
#define COLL_STRAG_LINKS_H

#include "mpi/failure.h"

#include "base/compact.h"
#include "detect/meter.h"
#include "machine/state.h"
#include "machine/topology.h"

#include "detect/slowdown.h"

/* What a communicator's ranks need for it. */
struct coll_strag_links {
    struct strag_compact host_of;  /* [rank] */
    struct strag_compact narrower; /* [host]: as in struct strag_probe_hosts */
    struct strag_meter meter;
    int hosts, me, host; /* this rank, and its host */
    bool leads;          /* it takes part in probes */
    uint16_t before;     /* its host's rate in the last probe */
    unsigned round;      /* of all probes, the next one */
    double rates[2];     /* what messages of a probe say */
    struct coll_strag_partners {
        int32_t to, from; /* ranks */
    } partners[STRAG_PROBE_PARTNERS];

    struct strag_slowdown *slowdown; /* rank 0's; else NULL */
};

/** Without messages. @param[out] made  NULL where there is nothing to find out
 * @return false: out of memory */
bool coll_strag_links_create(ompi_communicator_t *comm, const struct strag_topology *topology,
                             const struct strag_state_record *state,
                             struct coll_strag_links **made);

/** NULL is allowed. */
void coll_strag_links_free(struct coll_strag_links *links);

/** What this rank's meter says since it was last asked. @param state  in force
 * @param seconds  in its calls @return as struct strag_link_sample has rates */
uint16_t coll_strag_links_meter(struct coll_strag_links *links,
                                const struct strag_state_record *state, double seconds);

/**
 * All hosts send to each other. Collective; all ranks have waited for each other.
 *
 * @param failure  as in struct coll_strag_watch_options
 * @param state    in force
 * @param rounds   the same on all ranks, as `bytes`, which are those of a message
 * @param[out] sample  of all hosts
 * @return OMPI_SUCCESS, or an error of MPI's
 */
int coll_strag_links_probe(struct coll_strag_links *links, const struct coll_strag_failure *failure,
                           const struct strag_state_record *state, int rounds, size_t bytes,
                           struct strag_link_sample *sample);

#endif
