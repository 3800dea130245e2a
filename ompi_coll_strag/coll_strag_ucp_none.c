/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In place of the transport over UCX, on builds without it.
 */
#include "coll_strag.h"

const bool coll_strag_ucp_built = false;

int coll_strag_ucp_connect(mca_coll_strag_module_t *module, ompi_communicator_t *comm, bool able)
{
    (void)module;
    (void)comm;
    (void)able;
    return OMPI_SUCCESS;
}

void coll_strag_ucp_free(struct coll_strag_ucp_transport *transport)
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
