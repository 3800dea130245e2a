/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a communicator, or declining it. When one is made nothing is sent: Open MPI makes several
 * concurrently. What needs the other ranks waits for the first call (setup.c).
 */
#include "module.h"

#include "allreduce.h"
#include "communicator.h"
#include "info_keys.h"
#include "log.h"
#include "nonblocking.h"
#include "persistent.h"
#include "roll_call.h"
#include "setup.h"
#include "shared_memory.h"
#include "ucp/ucp.h"

#include <stdlib.h>

/* The rest of what a communicator takes is src/'s: test_footprint counts that, and this beside it.
 */
_Static_assert(
    sizeof(coll_strag_module_t) + sizeof(struct coll_strag_heritage) +
            sizeof(struct coll_strag_part) + sizeof(struct coll_strag_links) + 512 <=
        7 * 1024,
    "a communicator's structures, with its watch, are larger than test_footprint thinks");

static void module_construct(coll_strag_module_t *module)
{
    const mca_coll_base_module_t super = module->super;
    *module = (coll_strag_module_t){.super = super, .transport = &module->pml.super};
    coll_strag_count_begin(&module->count);
}

static void module_destruct(coll_strag_module_t *module)
{
    coll_strag_persistent_abandon(module);
    coll_strag_count_end(&module->count);
    coll_strag_setup_free(module->in_setup);
    coll_strag_plans_free(&module->plans, false);
    coll_strag_watch_free(module->watch);
    strag_selection_free(module->selection);
    coll_strag_explain_anew(&module->explained);
    coll_strag_pml_free(&module->pml);
    coll_strag_ucp_free(module->ucp);
    coll_strag_shared_memory_free(module->shm);
    coll_strag_heritage_release(module->heritage);
    COLL_STRAG_FORGET(module, allreduce_init);
    COLL_STRAG_FORGET(module, iallreduce);
    COLL_STRAG_FORGET(module, allreduce);
}

OBJ_CLASS_INSTANCE(coll_strag_module_t, mca_coll_base_module_t, module_construct, module_destruct);

static void log_declined(ompi_communicator_t *comm, const char *reason)
{
    if (ompi_comm_rank(comm) == 0)
        coll_strag_log(comm, "not used: %s", reason);
}

/* Called last of all: from here on nothing can fail. */
static int module_enable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    coll_strag_module_t *module = (coll_strag_module_t *)base;
    COLL_STRAG_CAPTURE(module, comm, allreduce);
    if (NULL == module->previous.allreduce) {
        log_declined(comm, "no component of lower priority provides MPI_Allreduce for the calls "
                           "that must be delegated");
        COLL_STRAG_FORGET(module, allreduce);
        return OMPI_ERR_NOT_FOUND;
    }
    COLL_STRAG_CAPTURE(module, comm, iallreduce);
    COLL_STRAG_CAPTURE(module, comm, allreduce_init);
    coll_strag_note_keys(comm, &module->keys);
    coll_strag_setup_prepare(module, comm);
    coll_strag_queue_init(&module->queue, comm);
    coll_strag_pml_init(&module->pml, comm, MCA_COLL_BASE_TAG_ALLREDUCE);
    if (module->previous.iallreduce)
        COLL_STRAG_INSTALL(module, comm, iallreduce);
    if (module->previous.allreduce_init)
        COLL_STRAG_INSTALL(module, comm, allreduce_init);
    COLL_STRAG_INSTALL(module, comm, allreduce);
    module->enabled = true;
    return OMPI_SUCCESS;
}

static int module_disable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    coll_strag_module_t *module = (coll_strag_module_t *)base;
    if (module->enabled) {
        COLL_STRAG_RESTORE(module, comm, allreduce_init);
        COLL_STRAG_RESTORE(module, comm, iallreduce);
        COLL_STRAG_RESTORE(module, comm, allreduce);
        if (module->setup != COLL_STRAG_SETUP_NOT_YET)
            coll_strag_check_late_keys(comm, &module->keys);
    }
    module->enabled = false;
    coll_strag_pml_keep(comm);
    return OMPI_SUCCESS;
}

mca_coll_base_module_t *coll_strag_comm_query(ompi_communicator_t *comm, int *priority)
{
    const char *reason = NULL;
    if (!coll_strag_settings.enable)
        reason = "coll_strag_enable is 0";
    else if (coll_strag_settings.priority <= 0)
        reason = "not asked for (--mca coll strag, or a coll_strag_priority above 0)";
    else if (OMPI_COMM_IS_INTER(comm))
        reason = "an intercommunicator";
    else if (ompi_comm_size(comm) < 2)
        reason = "one rank has nothing to reduce";
    struct coll_strag_fingerprint first;
    if (!reason && !coll_strag_roll_call_first(comm, &first))
        reason = "rank 0 has none, or another one";
    if (reason) {
        log_declined(comm, reason);
        return NULL;
    }
    coll_strag_module_t *module = OBJ_NEW(coll_strag_module_t);
    if (NULL == module)
        return NULL;
    module->heritage = coll_strag_heritage_create();
    module->in_setup = coll_strag_setup_create(module, comm);
    if (NULL == module->heritage || NULL == module->in_setup) {
        OBJ_RELEASE(module);
        return NULL;
    }
    module->first = first;
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
    *priority = first.priority;
    return &module->super;
}
