/* SPDX-License-Identifier: BSD-3-Clause */
/* Probing the links of a communicator's hosts. detect/slowdown.h has the rules. */
#ifndef COLL_STRAG_LINKS_H
#define COLL_STRAG_LINKS_H

#include "mpi/failure.h"

#include "base/compact.h"
#include "detect/meter.h"
#include "machine/state.h"
#include "machine/topology.h"

#include "detect/slowdown.h"

/* One rank's part in watching and probing links. */
struct coll_strag_links {
    struct strag_compact host_of;  /* [rank] */
    struct strag_compact narrower; /* [host]: as in struct strag_probe_hosts */
    struct strag_meter meter;
    int hosts, me, host; /* their number; this rank, and its host */
    bool leads;          /* this rank takes part in probes */
    uint16_t before;     /* its host's rate in the last probe */
    unsigned round;      /* the next one, counted over all probes */
    double rates[2];     /* buffer of a probe's messages: sent, received */
    struct coll_strag_partners {
        int32_t to, from; /* ranks */
    } partners[STRAG_PROBE_PARTNERS];

    struct strag_slowdown *slowdown; /* NULL on ranks other than 0 */
};

/** Sends no messages. @param bandwidth  bytes per second of a link by the model; of rank 0 alone
 * @param[out] made  NULL if there are too few hosts to find a slow one
 * @return false if out of memory */
bool coll_strag_links_create(ompi_communicator_t *comm, const struct strag_topology *topology,
                             const struct strag_state_record *state, double bandwidth,
                             struct coll_strag_links **made);

/** `links` may be NULL. */
void coll_strag_links_free(struct coll_strag_links *links);

/** The rate that this rank's meter has measured since this was last called. @param state  in force
 * @param seconds  that this rank spent in calls @return a rate as in struct strag_link_sample */
uint16_t coll_strag_links_meter(struct coll_strag_links *links,
                                const struct strag_state_record *state, double seconds);

/**
 * A probe: all hosts send to each other. Collective. The ranks have waited for each other before.
 *
 * @param failure  as in struct coll_strag_watch_options
 * @param state    in force
 * @param rounds   this and `bytes`, the length of a message, are the same on all ranks
 * @param[out] sample  of all hosts
 * @return OMPI_SUCCESS, or an error from MPI
 */
int coll_strag_links_probe(struct coll_strag_links *links, const struct coll_strag_failure *failure,
                           const struct strag_state_record *state, int rounds, size_t bytes,
                           struct strag_link_sample *sample);

#endif
