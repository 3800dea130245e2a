/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's transport over Open MPI's point-to-point layer (PML). */
#ifndef COLL_STRAG_TRANSPORT_PML_H
#define COLL_STRAG_TRANSPORT_PML_H

#include "transport.h"

#include "base/compact.h"
#include "detect/meter.h"

struct coll_strag_pml_transport {
    struct coll_strag_transport super;
    int tag;       /* of its messages; no other messages of the communicator have it */
    bool by_shape; /* the tag depends on the call's shape instead; the same on all ranks */
    struct strag_meter *meter; /* of sends to other hosts; NULL if links are not watched */
    const struct strag_compact *host_of; /* [rank], for the meter */
};

void coll_strag_pml_init(struct coll_strag_pml_transport *transport, ompi_communicator_t *comm,
                         int tag);
void coll_strag_pml_free(struct coll_strag_pml_transport *transport);

/** Is the PML ob1? */
bool coll_strag_pml_is_ob1(void);

/** A communicator is about to be freed. If MPI has threads, keep ob1's part of it until 64 other
 * communicators have been freed, or MPI_COMM_WORLD is. ob1 reads that part once more after it has
 * completed a message, perhaps in another thread (doc/upstream/comm-free.md). */
void coll_strag_pml_keep(const ompi_communicator_t *comm);

/** MPI has been finalized, and ob1's parts are gone. With sessions MPI may be initialized again. */
void coll_strag_pml_close(void);

#endif
