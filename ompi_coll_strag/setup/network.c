/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What messages between hosts go over: the PML, or UCX where rank 0 wants that and all can.
 * ucp/connect.c has what a rank does in between.
 */
#include "steps.h"
#include "user/log.h"

/* All are able? Otherwise it is the PML. */
static bool agreed(struct setup *setup)
{
    setup->network.connects =
        setup->network.connects && coll_strag_ucp_agreed(&setup->network.ucp, setup->numbers);
    return setup->network.connects;
}

void coll_strag_setup_open_network(struct setup *setup)
{
    setup->network.connects = setup->hosts->transport == COLL_STRAG_UCP;
    if (!setup->network.connects)
        return;
    coll_strag_ucp_begin(&setup->network.ucp, setup->comm, setup->code == OMPI_SUCCESS,
                         setup->numbers);
    strag_exchange_minimum(&setup->messages.exchange, setup->numbers, COLL_STRAG_UCP_NUMBERS);
}

void coll_strag_setup_room_for_cards(struct setup *setup)
{
    if (!agreed(setup))
        return;
    coll_strag_ucp_make_room(&setup->network.ucp, setup->numbers);
    strag_exchange_minimum(&setup->messages.exchange, setup->numbers, 1);
}

void coll_strag_setup_show_cards(struct setup *setup)
{
    if (!agreed(setup))
        return;
    size_t bytes;
    void *cards = coll_strag_ucp_write_card(&setup->network.ucp, &bytes);
    strag_exchange_allgather(&setup->messages.exchange, cards, bytes);
}

void coll_strag_setup_read_cards(struct setup *setup)
{
    if (!setup->network.connects)
        return;
    coll_strag_ucp_read_cards(&setup->network.ucp, setup->numbers);
    strag_exchange_minimum(&setup->messages.exchange, setup->numbers, 1);
}

void coll_strag_setup_end_network(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    if (agreed(setup))
        module->ucp = coll_strag_ucp_take(&setup->network.ucp);
    module->transport = module->ucp ? module->ucp : &module->pml.super;
    if (ompi_comm_rank(setup->comm) == 0)
        coll_strag_log(setup->comm, "transport: %s", module->ucp ? "ucp" : "pml");
}
