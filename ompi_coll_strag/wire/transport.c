/* SPDX-License-Identifier: BSD-3-Clause */
#include "transport.h"

#include "compat/failures.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long to wait, after an error, for messages that cannot be cancelled. */
static const double drain_seconds = 3.0;

void coll_strag_transport_begin(struct coll_strag_transport *transport, uint64_t number,
                                uint32_t shape, ompi_datatype_t *dtype, size_t size, bool polls)
{
    transport->number = number;
    transport->shape = shape;
    transport->dtype = dtype;
    transport->size = size;
    transport->polls = polls;
    transport->buffers = COLL_STRAG_HOST;
    transport->mpi_error = MPI_SUCCESS;
    transport->other = -1;
    transport->drain_until = 0;
}

void coll_strag_transport_doom(struct coll_strag_transport *transport, uint64_t number,
                               int mpi_error)
{
    transport->doom = mpi_error;
    __atomic_store_n(&transport->doomed, number + 1, __ATOMIC_RELEASE);
}

int coll_strag_transport_check(struct coll_strag_transport *transport)
{
    const int failure = coll_strag_failure(transport->comm);
    if (__builtin_expect(failure != OMPI_SUCCESS, 0))
        return coll_strag_transport_failed(transport, failure);
    if (__builtin_expect(
            __atomic_load_n(&transport->doomed, __ATOMIC_ACQUIRE) != transport->number + 1, 1))
        return STRAG_OK;
    return coll_strag_transport_failed(transport, transport->doom);
}

int coll_strag_transport_failed(struct coll_strag_transport *transport, int mpi_error)
{
    if (transport->mpi_error == MPI_SUCCESS)
        transport->mpi_error = mpi_error;
    return STRAG_ERR_TRANSPORT;
}

int coll_strag_transport_differs(struct coll_strag_transport *transport, int peer, size_t expected,
                                 size_t received)
{
    if (transport->mpi_error == MPI_SUCCESS) {
        transport->other = peer;
        transport->expected = expected;
        transport->received = received;
    }
    return coll_strag_transport_failed(transport, MPI_ERR_TRUNCATE);
}

bool coll_strag_transport_reserve(struct coll_strag_transport *transport)
{
    if (transport->nmessages < transport->room)
        return true;
    size_t room = transport->room ? 2 * transport->room : 16;
    struct coll_strag_message *larger = realloc(transport->messages, room * sizeof *larger);
    if (NULL == larger)
        return false;
    transport->messages = larger;
    transport->room = room;
    return true;
}

bool coll_strag_transport_take(struct coll_strag_transport *transport,
                               const struct strag_transfer *transfer,
                               struct coll_strag_message *message)
{
    size_t i = 0;
    while (i < transport->nmessages && transport->messages[i].transfer != transfer)
        i++;
    if (i == transport->nmessages)
        return false;
    *message = transport->messages[i];
    transport->messages[i] = transport->messages[--transport->nmessages];
    return true;
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
    if (transport->drain_until <= 0) {
        transport->drain_until = now + drain_seconds;
        __atomic_store_n(&transport->draining, (unsigned)transport->number + 1, __ATOMIC_RELAXED);
    }
    return now < transport->drain_until;
}

/* ---- Elements with gaps ---- */

bool coll_strag_convert(bool pack, ompi_datatype_t *dtype, const void *elements, size_t count,
                        const void *packed)
{
    size_t size, length;
    ompi_datatype_type_size(dtype, &size);
    struct iovec piece = {.iov_base = (void *)(uintptr_t)packed, .iov_len = count * size};
    uint32_t pieces = 1;
    length = piece.iov_len;
    opal_convertor_t convertor;
    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    if (pack) {
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &dtype->super, count,
                                                 elements, 0, &convertor);
        opal_convertor_pack(&convertor, &piece, &pieces, &length);
    } else {
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &dtype->super, count,
                                                 elements, 0, &convertor);
        opal_convertor_unpack(&convertor, &piece, &pieces, &length);
    }
    OBJ_DESTRUCT(&convertor);
    return length == count * size;
}
