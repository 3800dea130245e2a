/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup_inherit.h"

#include "explain.h"
#include "info_keys.h"
#include "log.h"
#include "setup_decide.h"
#include "shared_memory.h"

int coll_strag_setup_may_inherit(struct setup *setup, const struct coll_strag_heritage *parent,
                                 bool *may)
{
    struct coll_strag_module *module = setup->module;
    /* Also a rank that alone is to run another algorithm: rank 0's is then followed. */
    bool stop = coll_strag_has_keys(setup->comm) || parent->pinned != module->decision.pinned;
    int32_t stops = stop;
    int code;
    if (parent->shared)
        code = coll_strag_shared_memory_reconnect(setup->comm, &module->previous, parent->lane_of,
                                                  COLL_STRAG_MEMORY, &stop, &module->shm);
    else
        code = coll_strag_setup_broadcast(setup->comm, &stops, sizeof stops);
    *may = code == OMPI_SUCCESS && !(parent->shared ? stop : stops);
    return code;
}

int coll_strag_setup_inherit(struct setup *setup, struct coll_strag_heritage *parent)
{
    struct coll_strag_module *module = setup->module;
    coll_strag_heritage_release(module->heritage);
    module->heritage = parent;
    module->lane_of = parent->lane_of;
    if (ompi_comm_rank(setup->comm) == 0) {
        module->topology = parent->numbered_as_origin ? parent->origin->topology : parent->topology;
        coll_strag_log(setup->comm, "set up as its parent");
        coll_strag_explain_topology(setup->comm, module->topology);
        coll_strag_setup_log_within_hosts(setup);
    }
    if (coll_strag_setup_connect_network(setup, &parent->hosts))
        coll_strag_setup_follow(module, &parent->decision);
    if (parent->hosts.transport == COLL_STRAG_UCP)
        coll_strag_setup_conclude(setup);
    module->count.inherited++;
    return setup->code == OMPI_SUCCESS ? coll_strag_setup_watch_later(setup) : setup->code;
}
