/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In place of the transport over UCX, on builds without it.
 */
#include "ucp.h"

void coll_strag_ucp_begin(struct coll_strag_ucp_joining *joining, ompi_communicator_t *comm,
                          bool able, int32_t numbers[COLL_STRAG_UCP_NUMBERS])
{
    (void)joining;
    (void)comm;
    (void)able;
    numbers[0] = numbers[1] = numbers[2] = 0;
}

bool coll_strag_ucp_agreed(const struct coll_strag_ucp_joining *joining, const int32_t *numbers)
{
    (void)joining;
    (void)numbers;
    return false;
}

void coll_strag_ucp_make_room(struct coll_strag_ucp_joining *joining, int32_t *numbers)
{
    (void)joining;
    (void)numbers;
}

void *coll_strag_ucp_write_card(struct coll_strag_ucp_joining *joining, size_t *bytes)
{
    (void)joining;
    *bytes = 0;
    return NULL;
}

void coll_strag_ucp_read_cards(struct coll_strag_ucp_joining *joining, int32_t *numbers)
{
    (void)joining;
    (void)numbers;
}

struct coll_strag_transport *coll_strag_ucp_take(struct coll_strag_ucp_joining *joining)
{
    (void)joining;
    return NULL;
}

void coll_strag_ucp_forget(struct coll_strag_ucp_joining *joining)
{
    (void)joining;
}

int32_t coll_strag_ucp_number(void)
{
    return 0;
}

struct coll_strag_transport *coll_strag_ucp_another(const struct coll_strag_transport *transport,
                                                    const int32_t *numbers)
{
    (void)transport;
    (void)numbers;
    return NULL;
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
