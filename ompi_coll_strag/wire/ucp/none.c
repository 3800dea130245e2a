/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In place of the transport over UCX, on builds without it.
 */
#include "ucp.h"

/* No rank is able. */
void coll_strag_ucp_begin(struct coll_strag_ucp_joining *joining, ompi_communicator_t *comm,
                          bool able, struct strag_exchange *exchange)
{
    (void)comm;
    (void)able;
    joining->numbers[0] = 0;
    strag_exchange_minimum(exchange, joining->numbers, 3);
}

void coll_strag_ucp_go_on(struct coll_strag_ucp_joining *joining)
{
    (void)joining;
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
