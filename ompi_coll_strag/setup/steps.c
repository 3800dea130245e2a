/* SPDX-License-Identifier: BSD-3-Clause */
#include "steps.h"

#include "compat/failures.h"
#include "user/log.h"
#include "wire/device_buffer.h"

#include "base/text.h"

#include <limits.h>

bool coll_strag_setup_may_continue(struct setup *setup, int code)
{
    if (setup->code == OMPI_SUCCESS || code != OMPI_SUCCESS)
        setup->code = code;
    return setup->code == OMPI_SUCCESS || setup->code == OMPI_ERR_OUT_OF_RESOURCE;
}

/* ---- What messages go over ---- */

/* A number that no other communicator of any of these ranks has. */
static uint64_t make_id(void)
{
    static uint32_t made;
    const opal_process_name_t own = OPAL_PROC_MY_NAME;
    const uint32_t numbers[] = {own.jobid, own.vpid,
                                __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED)};
    const uint64_t id = strag_hash(STRAG_HASH_START, numbers, sizeof numbers);
    return id ? id : 1;
}

/* Memory is shared only if a host has several ranks. */
static enum coll_strag_shared_memory shared_memory_wanted(const struct setup *setup)
{
    const struct strag_topology *topology = setup->module->topology;
    const bool several = topology && topology->hosts < ompi_comm_size(setup->comm);
    return several ? coll_strag_settings.shared_memory : COLL_STRAG_SHARED_NEVER;
}

void coll_strag_setup_fill_in_hosts(const struct setup *setup, struct coll_strag_hosts *hosts)
{
    hosts->transport =
        coll_strag_key(setup->comm, COLL_STRAG_KEY_TRANSPORT, coll_strag_settings.transport);
    if (hosts->transport == COLL_STRAG_TRANSPORTS)
        hosts->transport = coll_strag_device_ucp() ? COLL_STRAG_UCP : COLL_STRAG_PML;
    if (hosts->transport == COLL_STRAG_UCP && coll_strag_repairs()) {
        coll_strag_log(setup->comm,
                       "not over UCX, which does not learn of revoked communicators and "
                       "dead ranks (mpirun --with-ft): over the PML");
        hosts->transport = COLL_STRAG_PML;
    }
    hosts->shared_memory = shared_memory_wanted(setup);
    hosts->id = make_id();
}

/* Between hosts: UCX if rank 0 wants it and all ranks can use it, else the PML. */
void coll_strag_setup_open_network(struct setup *setup)
{
    if (setup->hosts->transport == COLL_STRAG_UCP)
        coll_strag_ucp_begin(&setup->ucp, setup->comm, setup->code == OMPI_SUCCESS,
                             &setup->messages.exchange);
}

void coll_strag_setup_connect(struct setup *setup)
{
    coll_strag_ucp_go_on(&setup->ucp);
}

void coll_strag_setup_end_network(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    module->ucp = coll_strag_ucp_take(&setup->ucp);
    module->transport = module->ucp ? module->ucp : &module->pml.super;
    if (ompi_comm_rank(setup->comm) == 0)
        coll_strag_log(setup->comm, "transport: %s", module->ucp ? "ucp" : "pml");
}

/* ---- The end ---- */

void coll_strag_setup_find_shortest(struct coll_strag_module *module)
{
    const struct coll_strag_decision *decision = &module->decision;
    size_t shortest = coll_strag_table_shortest(&decision->table);
    const size_t given = coll_strag_given_shortest(module->given);
    if (given < shortest)
        shortest = given;
    if (decision->watching != COLL_STRAG_WATCH_NOT && decision->watch_from < shortest)
        shortest = decision->watch_from;
    module->delegate_below = decision->pinned == COLL_STRAG_AUTO ? shortest : 0;
    module->delegate_limit = ULLONG_MAX;
}

void coll_strag_setup_give_up(struct coll_strag_module *module, enum coll_strag_reason reason)
{
    module->decision.pinned = COLL_STRAG_AUTO;
    module->decision.reason = reason;
    module->decision.table = (struct strag_table){.entries = 1};
    module->decision.watching = COLL_STRAG_WATCH_NOT;
    module->given = NULL;
    module->watch_in = 0;
    coll_strag_watch_free(module->watch);
    module->watch = NULL;
    module->pml.meter = NULL;
    coll_strag_setup_find_shortest(module);
}

/* Record the first call that strag runs: setup->number, unless it is known. @return that call */
static uint64_t know_first(const struct setup *setup)
{
    return coll_strag_stuck_know_first(&setup->module->stuck, (uint64_t)(-(int64_t)setup->number));
}

static void keep_least(void *context, void *value, const void *other)
{
    int32_t *own = value;
    const int32_t *theirs = other;
    (void)context;
    *own = *theirs < *own ? *theirs : *own;
}

/* Until it hears the conclusion, a rank may begin as many nonblocking calls as in all of setup so
 * far, plus 16. (Many communicators have fewer calls than setup takes steps.) */
void coll_strag_setup_ask_all_well(struct setup *setup)
{
    struct coll_strag_nonblocking *nonblocking = &setup->module->nonblocking;
    const struct strag_agreement least = {.add = keep_least};
    uint64_t limit;
    /* Other threads begin calls meanwhile; one that has not seen the limit is below it. */
    do {
        limit =
            setup->blocking ? 0 : 2 * __atomic_load_n(&nonblocking->begun, __ATOMIC_SEQ_CST) + 16;
        __atomic_store_n(&nonblocking->limit, limit, __ATOMIC_SEQ_CST);
    } while (!setup->blocking && __atomic_load_n(&nonblocking->begun, __ATOMIC_SEQ_CST) > limit);
    if (setup->code != OMPI_SUCCESS || limit >= COLL_STRAG_NEVER)
        limit = COLL_STRAG_NEVER - 1;
    setup->number = -(int32_t)limit - 1;
    strag_exchange_merge(&setup->messages.exchange, &setup->number, sizeof setup->number, &least);
}

/* Rank 0 has heard from all ranks: the conclusion holds, whichever ranks it reaches. */
void coll_strag_setup_tell_conclusion(struct setup *setup)
{
    if (ompi_comm_rank(setup->comm) == 0)
        (void)know_first(setup);
    strag_exchange_broadcast(&setup->messages.exchange, &setup->number, sizeof setup->number);
}

void coll_strag_setup_conclude(struct setup *setup)
{
    setup->code = OMPI_SUCCESS;
    if (know_first(setup) != COLL_STRAG_NEVER)
        coll_strag_shared_setup_publish(setup->module->shared_setup);
    else
        coll_strag_setup_give_up(setup->module, COLL_STRAG_NO_MEMORY);
}
