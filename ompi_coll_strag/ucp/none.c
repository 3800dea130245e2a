/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In place of the transport over UCX, on builds without it.
 */
#include "ucp.h"

int coll_strag_ucp_connect(ompi_communicator_t *comm, const struct coll_strag_previous *previous,
                           bool able, struct coll_strag_transport **transport)
{
    (void)comm;
    (void)previous;
    (void)able;
    *transport = NULL;
    return OMPI_SUCCESS;
}

void coll_strag_ucp_free(struct coll_strag_transport *transport)
{
    (void)transport;
}

void coll_strag_ucp_close(void)
{
}

bool coll_strag_ucp_takes_device(void)
{
    return false;
}
