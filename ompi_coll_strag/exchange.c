/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange.h"

#include "compat/tags.h"

#include <stdlib.h>

int coll_strag_exchange_create(ompi_communicator_t *comm, const struct coll_strag_failure *failure,
                               struct coll_strag_exchange **made)
{
    const int failed = coll_strag_failed(failure);
    struct coll_strag_exchange *own = failed == OMPI_SUCCESS ? malloc(sizeof *own) : NULL;
    *made = own;
    if (NULL == own)
        return failed == OMPI_SUCCESS ? OMPI_ERR_OUT_OF_RESOURCE : failed;
    struct coll_strag_transport *messages = &own->pml.super;
    own->failure = failure;
    coll_strag_pml_init(&own->pml, comm, COLL_STRAG_TAG_CALLS);
    messages->messages = own->under_way;
    messages->room = STRAG_EXCHANGE_UNDER_WAY;
    coll_strag_transport_begin(messages, 0, MPI_BYTE, 1, true);
    strag_exchange_init(&own->exchange, &messages->super, ompi_comm_size(comm),
                        ompi_comm_rank(comm));
    return OMPI_SUCCESS;
}

int coll_strag_exchange_wait(struct coll_strag_exchange *own)
{
    const struct coll_strag_transport *messages = &own->pml.super;
    int status, failed = OMPI_SUCCESS;
    while ((status = strag_exchange_progress(&own->exchange)) == STRAG_PENDING &&
           failed == OMPI_SUCCESS) {
        opal_progress();
        failed = coll_strag_undecided(own->failure);
    }
    if (status == STRAG_OK || failed != OMPI_SUCCESS)
        return failed;
    return messages->mpi_error != MPI_SUCCESS ? messages->mpi_error : OMPI_ERROR;
}

bool coll_strag_exchange_free(struct coll_strag_exchange *own)
{
    if (own && strag_exchange_stop(&own->exchange) == STRAG_PENDING)
        return false;
    free(own);
    return true;
}
