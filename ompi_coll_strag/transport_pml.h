/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's transport over Open MPI's point-to-point layer (PML). */
#ifndef COLL_STRAG_TRANSPORT_PML_H
#define COLL_STRAG_TRANSPORT_PML_H

#include "transport.h"

#include "watch/meter.h"

struct coll_strag_pml_transport {
    struct coll_strag_transport super;
    struct strag_meter *meter; /* of sends to other hosts; NULL: links are not watched */
    const int32_t *host_of;    /* [rank], for the meter */
};

void coll_strag_pml_init(struct coll_strag_pml_transport *transport, ompi_communicator_t *comm);
void coll_strag_pml_free(struct coll_strag_pml_transport *transport);

#endif
