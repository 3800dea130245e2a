/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's transport over Open MPI's point-to-point layer (PML). */
#ifndef COLL_STRAG_TRANSPORT_PML_H
#define COLL_STRAG_TRANSPORT_PML_H

#include "transport.h"

#include "base/compact.h"
#include "detect/meter.h"

struct coll_strag_pml_transport {
    struct coll_strag_transport super;
    int tag;       /* of its messages; no others of the communicator have it */
    bool by_shape; /* not that one, but one that depends on what the call is; the same on all ranks
                    */
    struct strag_meter *meter;           /* of sends to other hosts; NULL: links are not watched */
    const struct strag_compact *host_of; /* [rank], for the meter */
};

void coll_strag_pml_init(struct coll_strag_pml_transport *transport, ompi_communicator_t *comm,
                         int tag);
void coll_strag_pml_free(struct coll_strag_pml_transport *transport);

/** Is the PML ob1? */
bool coll_strag_pml_is_ob1(void);

/** A communicator is about to be freed: if MPI has threads, keep ob1's part of it until 64 others
 * were freed after it, or MPI_COMM_WORLD is. ob1 reads that part once more after it has completed a
 * message, perhaps in another thread (doc/upstream/comm-free.md). */
void coll_strag_pml_keep(const ompi_communicator_t *comm);

/** MPI has ended, and ob1's parts with it. With sessions it may begin again. */
void coll_strag_pml_close(void);

#endif
