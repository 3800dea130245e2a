/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange.h"

#include "compat/tags.h"

#include <stdlib.h>
#include <string.h>

/* ---- Messages ---- */

void coll_strag_exchange_init(struct coll_strag_exchange *exchange,
                              const struct coll_strag_failure *failure, int tag)
{
    struct coll_strag_transport *messages = &exchange->pml.super;
    exchange->failure = failure;
    coll_strag_pml_init(&exchange->pml, failure->comm, tag);
    messages->messages = exchange->under_way;
    messages->room = STRAG_EXCHANGE_UNDER_WAY;
    coll_strag_transport_begin(messages, 0, 0, MPI_BYTE, 1, true);
    strag_exchange_init(&exchange->exchange, &messages->super, ompi_comm_size(failure->comm),
                        ompi_comm_rank(failure->comm));
}

bool coll_strag_exchange_is_over(struct coll_strag_exchange *exchange, int *code)
{
    const int status = strag_exchange_progress(&exchange->exchange);
    const int mpi_error = exchange->pml.super.mpi_error;
    *code = status == STRAG_PENDING    ? coll_strag_failed(exchange->failure)
            : status == STRAG_OK       ? OMPI_SUCCESS
            : mpi_error != MPI_SUCCESS ? mpi_error
                                       : OMPI_ERROR;
    return status != STRAG_PENDING || *code != OMPI_SUCCESS;
}

/* ---- Exchanges that a call waits for ---- */

struct exchange {
    struct coll_strag_exchange super;
    _Alignas(max_align_t) char data[]; /* the messages' buffer */
};

/* @return with a copy of `data`; NULL if the communicator has failed, or if out of memory */
static struct exchange *begin(const struct coll_strag_failure *failure, const void *data,
                              size_t bytes)
{
    struct exchange *own =
        coll_strag_failed(failure) == OMPI_SUCCESS ? malloc(sizeof *own + bytes) : NULL;
    if (NULL == own)
        return NULL;
    coll_strag_exchange_init(&own->super, failure, COLL_STRAG_TAG_CALLS);
    memcpy(own->data, data, bytes);
    return own;
}

/* Wait for an exchange. @param own  NULL if it could not begin
 * @param[out] data  [bytes]: its result */
static int end(const struct coll_strag_failure *failure, struct exchange *own, void *data,
               size_t bytes)
{
    int code = coll_strag_failed(failure);
    if (NULL == own)
        return code == OMPI_SUCCESS ? OMPI_ERR_OUT_OF_RESOURCE : code;
    while (!coll_strag_exchange_is_over(&own->super, &code))
        opal_progress();
    if (code == OMPI_SUCCESS)
        memcpy(data, own->data, bytes);
    if (strag_exchange_stop(&own->super.exchange) == STRAG_OK)
        free(own); /* else messages in flight still use it */
    return code;
}

int coll_strag_minimum(const struct coll_strag_failure *failure, int32_t *value)
{
    struct exchange *own = begin(failure, value, sizeof *value);
    if (own)
        strag_exchange_minimum(&own->super.exchange, (int32_t *)(void *)own->data, 1);
    return end(failure, own, value, sizeof *value);
}

int coll_strag_agree(const struct coll_strag_failure *failure, void *value, size_t bytes,
                     void (*add)(void *context, void *value, const void *other))
{
    const struct strag_agreement agreement = {.add = add};
    struct exchange *own = begin(failure, value, bytes);
    if (own)
        strag_exchange_agree(&own->super.exchange, own->data, bytes, &agreement);
    return end(failure, own, value, bytes);
}

int coll_strag_broadcast(const struct coll_strag_failure *failure, void *data, size_t bytes)
{
    struct exchange *own = begin(failure, data, bytes);
    if (own)
        strag_exchange_broadcast(&own->super.exchange, own->data, bytes);
    return end(failure, own, data, bytes);
}

int coll_strag_allgather(const struct coll_strag_failure *failure, void *all, size_t bytes)
{
    const size_t room = (size_t)ompi_comm_size(failure->comm) * bytes;
    struct exchange *own = begin(failure, all, room);
    if (own)
        strag_exchange_allgather(&own->super.exchange, own->data, bytes);
    return end(failure, own, all, room);
}
