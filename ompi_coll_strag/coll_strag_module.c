/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One module per communicator. When a communicator is made, nothing is sent: Open MPI runs this
 * concurrently for several communicators. Plans are built when they are first used, and
 * so is all that needs to be known of other ranks (coll_strag_locality.c).
 */
#include "coll_strag_watch.h"

#include "algorithms/table.h"

#include <limits.h>
#include <string.h>

/* So many short calls are handed on before a communicator finds out whether shared memory makes
 * them faster: most communicators live shorter than finding out takes. */
enum { SHORT_CALLS = 32 };

/* ---- The list of modules, for counting ---- */

static void enlist(mca_coll_strag_module_t *module)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    pthread_mutex_lock(&component->modules_lock);
    module->next = component->modules;
    module->link = &component->modules;
    if (module->next)
        module->next->link = &module->next;
    component->modules = module;
    pthread_mutex_unlock(&component->modules_lock);
}

static void delist(mca_coll_strag_module_t *module)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    pthread_mutex_lock(&component->modules_lock);
    *module->link = module->next;
    if (module->next)
        module->next->link = module->link;
    component->freed.calls += module->count.calls;
    component->freed.delegated += module->count.delegated;
    pthread_mutex_unlock(&component->modules_lock);
}

void coll_strag_count(struct coll_strag_count *total)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    pthread_mutex_lock(&component->modules_lock);
    *total = component->freed;
    for (const mca_coll_strag_module_t *m = component->modules; m; m = m->next) {
        total->calls += m->count.calls;
        total->delegated += m->count.delegated;
    }
    pthread_mutex_unlock(&component->modules_lock);
}

/* ---- A module's life ---- */

int coll_strag_index(const struct strag_algorithm *algorithm)
{
    int index = 0;
    while (strag_algorithms[index] != algorithm)
        index++;
    return index;
}

static void module_construct(mca_coll_strag_module_t *module)
{
    module->enabled = false;
    module->too_short = 0;
    module->patience = 0;
    module->count = (struct coll_strag_count){0, 0};
    module->previous_allreduce = NULL;
    module->previous_allreduce_module = NULL;
    module->located = module->locating = false;
    module->locate_error = OMPI_SUCCESS;
    module->line = 0;
    module->topology = NULL;
    module->lane_of = NULL;
    module->selection = NULL;
    module->planned = NULL;
    module->shm = NULL;
    module->reproducible = false;
    module->watch = NULL;
    memset(module->told, 0, sizeof module->told);
    enlist(module);
    coll_strag_pml_init(&module->pml, NULL);
    module->ucp = NULL;
    module->transport = &module->pml.super;
}

static void module_destruct(mca_coll_strag_module_t *module)
{
    delist(module);
    coll_strag_planned_free(module);
    if (coll_strag_watch_selection(module->watch))
        module->selection = NULL; /* the watch's */
    coll_strag_watch_free(module->watch);
    strag_topology_free(module->topology);
    free(module->lane_of);
    strag_selection_free(module->selection);
    coll_strag_pml_free(&module->pml);
    coll_strag_ucp_free(module->ucp);
    coll_strag_shm_free(module->shm);
    COLL_STRAG_FORGET(module, allreduce);
}

OBJ_CLASS_INSTANCE(mca_coll_strag_module_t, mca_coll_base_module_t, module_construct,
                   module_destruct);

/* Tell why a communicator is not ours. */
static void decline(ompi_communicator_t *comm, const char *reason)
{
    char cid[32];
    if (ompi_comm_rank(comm) == 0)
        coll_strag_tell("coll:strag: %s (cid %s, %d ranks): not used: %s", comm->c_name,
                        coll_strag_cid(comm, cid, sizeof cid), ompi_comm_size(comm), reason);
}

/* Called last of all: from here on nothing can fail. */
static int module_enable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    mca_coll_strag_module_t *module = (mca_coll_strag_module_t *)base;
    COLL_STRAG_CAPTURE(module, comm, allreduce);
    if (NULL == module->previous_allreduce) {
        decline(comm, "no component of lower priority provides MPI_Allreduce for the calls that "
                      "must be handed on");
        COLL_STRAG_FORGET(module, allreduce);
        return OMPI_ERR_NOT_FOUND;
    }
    module->pinned = coll_strag_pinned(comm);
    module->minimum = mca_coll_strag_component.minimum;
    module->locate_from = module->minimum;
    if (mca_coll_strag_component.watch_from < module->locate_from)
        module->locate_from = mca_coll_strag_component.watch_from;
    bool at_once = module->pinned == COLL_STRAG_AUTO && !mca_coll_strag_component.telling &&
                   !mca_coll_strag_component.described;
    module->too_short = at_once ? module->locate_from : 0;
    module->patience = mca_coll_strag_component.minimum_said ? ULLONG_MAX : SHORT_CALLS;
    coll_strag_pml_init(&module->pml, comm);
    COLL_STRAG_INSTALL(module, comm, allreduce);
    module->enabled = true;
    return OMPI_SUCCESS;
}

static int module_disable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    mca_coll_strag_module_t *module = (mca_coll_strag_module_t *)base;
    if (module->enabled)
        COLL_STRAG_RESTORE(module, comm, allreduce);
    module->enabled = false;
    return OMPI_SUCCESS;
}

mca_coll_base_module_t *mca_coll_strag_comm_query(ompi_communicator_t *comm, int *priority)
{
    const char *reason = NULL;
    if (!mca_coll_strag_component.enable)
        reason = "coll_strag_enable is 0";
    else if (mca_coll_strag_component.priority <= 0)
        reason = "not asked for (--mca coll strag, or a coll_strag_priority above 0)";
    else if (OMPI_COMM_IS_INTER(comm))
        reason = "an intercommunicator";
    else if (ompi_comm_size(comm) < 2)
        reason = "one rank has nothing to reduce";
    if (reason) {
        decline(comm, reason);
        return NULL;
    }
    mca_coll_strag_module_t *module = OBJ_NEW(mca_coll_strag_module_t);
    if (NULL == module)
        return NULL;
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
    *priority = mca_coll_strag_component.priority;
    return &module->super;
}
