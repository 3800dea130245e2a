/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all transports have.
 */
#include "coll_strag.h"

#include "base/status.h"

#include <time.h>

static const double drain_seconds = 1.0;

void coll_strag_transport_begin(struct coll_strag_transport *transport, ompi_datatype_t *dtype,
                                size_t size, enum coll_strag_buffers buffers)
{
    transport->dtype = dtype;
    transport->size = size;
    transport->buffers = buffers;
    transport->mpi_error = MPI_SUCCESS;
    transport->drain_until = 0;
}

int coll_strag_transport_failed(struct coll_strag_transport *transport, int mpi_error)
{
    if (transport->mpi_error == MPI_SUCCESS)
        transport->mpi_error = mpi_error;
    return STRAG_ERR_TRANSPORT;
}

double coll_strag_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool coll_strag_transport_drains(struct coll_strag_transport *transport)
{
    double now = coll_strag_seconds();
    if (transport->drain_until <= 0)
        transport->drain_until = now + drain_seconds;
    return now < transport->drain_until;
}
