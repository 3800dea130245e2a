/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup_network.h"

#include "log.h"

/* All are able? Otherwise it is the PML. */
static bool agreed(struct setup *setup)
{
    setup->connects = setup->connects && coll_strag_ucp_agreed(&setup->ucp, setup->numbers);
    return setup->connects;
}

void coll_strag_setup_open_network(struct setup *setup)
{
    setup->connects = setup->hosts->transport == COLL_STRAG_UCP;
    if (!setup->connects)
        return;
    coll_strag_ucp_begin(&setup->ucp, setup->comm, setup->code == OMPI_SUCCESS, setup->numbers);
    strag_exchange_minimum(&setup->exchange, setup->numbers, COLL_STRAG_UCP_NUMBERS);
}

void coll_strag_setup_room_for_cards(struct setup *setup)
{
    if (!agreed(setup))
        return;
    coll_strag_ucp_make_room(&setup->ucp, setup->numbers);
    strag_exchange_minimum(&setup->exchange, setup->numbers, 1);
}

void coll_strag_setup_show_cards(struct setup *setup)
{
    if (!agreed(setup))
        return;
    size_t bytes;
    void *cards = coll_strag_ucp_write_card(&setup->ucp, &bytes);
    strag_exchange_allgather(&setup->exchange, cards, bytes);
}

void coll_strag_setup_read_cards(struct setup *setup)
{
    if (!setup->connects)
        return;
    coll_strag_ucp_read_cards(&setup->ucp, setup->numbers);
    strag_exchange_minimum(&setup->exchange, setup->numbers, 1);
}

void coll_strag_setup_end_network(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    if (agreed(setup))
        module->ucp = coll_strag_ucp_take(&setup->ucp);
    module->transport = module->ucp ? module->ucp : &module->pml.super;
    if (ompi_comm_rank(setup->comm) == 0)
        coll_strag_log(setup->comm, "transport: %s", module->ucp ? "ucp" : "pml");
}
