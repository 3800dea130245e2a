/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange.h"

#include "compat/tags.h"
#include "transport_pml.h"

#include "run/exchange.h"

#include <stdlib.h>
#include <string.h>

struct exchange {
    const struct coll_strag_failure *failure;
    struct coll_strag_pml_transport pml;
    struct coll_strag_message under_way[STRAG_EXCHANGE_UNDER_WAY];
    struct strag_exchange exchange;
    _Alignas(max_align_t) char data[]; /* what messages read and write */
};

static int begin(const struct coll_strag_failure *failure, size_t bytes, struct exchange **made)
{
    const int failed = coll_strag_failed(failure);
    struct exchange *own = failed == OMPI_SUCCESS ? malloc(sizeof *own + bytes) : NULL;
    *made = own;
    if (NULL == own)
        return failed == OMPI_SUCCESS ? OMPI_ERR_OUT_OF_RESOURCE : failed;
    struct coll_strag_transport *messages = &own->pml.super;
    own->failure = failure;
    coll_strag_pml_init(&own->pml, failure->comm, COLL_STRAG_TAG_CALLS);
    messages->messages = own->under_way;
    messages->room = STRAG_EXCHANGE_UNDER_WAY;
    coll_strag_transport_begin(messages, 0, 0, MPI_BYTE, 1, true);
    strag_exchange_init(&own->exchange, &messages->super, ompi_comm_size(failure->comm),
                        ompi_comm_rank(failure->comm));
    return OMPI_SUCCESS;
}

static int wait_for(struct exchange *own)
{
    const struct coll_strag_transport *messages = &own->pml.super;
    int status, failed = OMPI_SUCCESS;
    while ((status = strag_exchange_progress(&own->exchange)) == STRAG_PENDING &&
           failed == OMPI_SUCCESS) {
        opal_progress();
        failed = coll_strag_failed(own->failure);
    }
    if (status == STRAG_OK || failed != OMPI_SUCCESS)
        return failed;
    return messages->mpi_error != MPI_SUCCESS ? messages->mpi_error : OMPI_ERROR;
}

/* Wait for it. @param[out] data  [bytes]: what it has brought; NULL if that is nothing */
static int end(struct exchange *own, void *data, size_t bytes)
{
    const int code = wait_for(own);
    if (code == OMPI_SUCCESS && data)
        memcpy(data, own->data, bytes);
    if (strag_exchange_stop(&own->exchange) == STRAG_OK)
        free(own); /* else it is left to its messages */
    return code;
}

int coll_strag_minimum(const struct coll_strag_failure *failure, int32_t *value)
{
    struct exchange *own;
    const int code = begin(failure, sizeof *value, &own);
    if (code != OMPI_SUCCESS)
        return code;
    memcpy(own->data, value, sizeof *value);
    strag_exchange_minimum(&own->exchange, (int32_t *)(void *)own->data, 1);
    return end(own, value, sizeof *value);
}

int coll_strag_agree(const struct coll_strag_failure *failure, void *value, size_t bytes,
                     void (*add)(void *context, void *value, const void *other))
{
    const struct strag_agreement agreement = {.add = add};
    struct exchange *own;
    const int code = begin(failure, bytes, &own);
    if (code != OMPI_SUCCESS)
        return code;
    memcpy(own->data, value, bytes);
    strag_exchange_agree(&own->exchange, own->data, bytes, &agreement);
    return end(own, value, bytes);
}

int coll_strag_broadcast(const struct coll_strag_failure *failure, void *data, size_t bytes)
{
    struct exchange *own;
    const int code = begin(failure, bytes, &own);
    if (code != OMPI_SUCCESS)
        return code;
    memcpy(own->data, data, bytes);
    strag_exchange_broadcast(&own->exchange, own->data, bytes);
    return end(own, data, bytes);
}

int coll_strag_allgather(const struct coll_strag_failure *failure, void *all, size_t bytes)
{
    const size_t room = (size_t)ompi_comm_size(failure->comm) * bytes;
    struct exchange *own;
    const int code = begin(failure, room, &own);
    if (code != OMPI_SUCCESS)
        return code;
    memcpy(own->data, all, room);
    strag_exchange_allgather(&own->exchange, own->data, bytes);
    return end(own, all, room);
}
