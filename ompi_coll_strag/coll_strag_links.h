/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slow links of a communicator's hosts: what the system reports of them, and what is found out
 * while the job runs. src/slowdown.h says by what rule.
 */
#ifndef COLL_STRAG_LINKS_H
#define COLL_STRAG_LINKS_H

#include "coll_strag.h"

#include "watch/slowdown.h"

/* What a communicator's ranks need for it. */
struct coll_strag_links {
    int hosts;
    int32_t *host_of; /* [rank]: numbered in the order of the topology */
    int32_t *leader;  /* [host]: the rank that takes part in probes */
    struct strag_meter *meter;
    char *room;                      /* a leader's, for messages of probes; else NULL */
    struct strag_slowdown *slowdown; /* rank 0's; else NULL */
    float *gathered, *rates;         /* its room for [rank], [host] times STRAG_PROBE_ROUNDS */
};

/** Without messages. Where there is nothing to find out nothing is made. @return false: no memory
 */
bool coll_strag_links_create(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                             const struct strag_state_record *state,
                             struct coll_strag_links **made);

/** NULL is allowed. */
void coll_strag_links_free(struct coll_strag_links *links);

/**
 * All hosts send to each other. Collective.
 *
 * @param bytes         of a message; the same on all ranks
 * @param[out] changed  on rank 0: other hosts are slow than before, or by other factors
 * @return OMPI_SUCCESS, or an error of MPI's
 */
int coll_strag_links_probe(struct coll_strag_links *links, ompi_communicator_t *comm, size_t bytes,
                           bool *changed);

/** On rank 0: put what was found into a state. */
void coll_strag_links_found(const struct coll_strag_links *links, struct strag_state_record *state);

/** On rank 0: hosts whose reported speed is below what is usual. @param ranks  one per rank */
void coll_strag_links_reported(const struct strag_topology *topology,
                               const struct strag_rank_location *ranks, int n,
                               struct strag_state_record *state);

#endif
