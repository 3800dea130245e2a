/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup_inherit.h"

#include "explain.h"
#include "info_keys.h"
#include "log.h"

void coll_strag_setup_want_to_inherit(struct setup *setup)
{
    const struct coll_strag_heritage *parent = setup->parent;
    setup->stop = coll_strag_has_keys(setup->comm);
    setup->rejoins = parent->shared;
    setup->lane_of = parent->lane_of;
}

void coll_strag_setup_ask_for_keys(struct setup *setup)
{
    if (setup->rejoins)
        return;
    setup->numbers[0] = !setup->stop;
    strag_exchange_minimum(&setup->exchange, setup->numbers, 1);
}

bool coll_strag_setup_may_inherit(const struct setup *setup)
{
    return setup->rejoins ? !setup->stop : setup->numbers[0];
}

void coll_strag_setup_inherit(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    const struct coll_strag_heritage *parent = setup->parent;
    coll_strag_heritage_release(module->heritage);
    module->heritage = setup->parent;
    setup->parent = NULL;
    setup->hosts = &parent->hosts;
    module->lane_of = parent->lane_of;
    module->count.inherited++;
    if (ompi_comm_rank(setup->comm) != 0)
        return;
    module->topology = parent->numbered_as_origin ? parent->origin->topology : parent->topology;
    coll_strag_log(setup->comm, "set up as its parent");
    coll_strag_explain_topology(setup->comm, module->topology);
}

void coll_strag_setup_end_inherit(struct setup *setup)
{
    coll_strag_setup_follow(setup->module, &setup->module->heritage->decision);
    if (ompi_comm_rank(setup->comm) == 0)
        coll_strag_setup_log_within_hosts(setup); /* the network's transport is known now */
    setup->concludes = setup->hosts->transport == COLL_STRAG_UCP;
}
