/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a communicator, or declining it. Nothing is sent meanwhile, since Open MPI makes several
 * concurrently. What needs the other ranks is left to the first call (setup/setup.c).
 */
#include "collect/record.h"
#include "compat/components.h"
#include "compat/tags.h"
#include "entries.h"
#include "setup/setup.h"
#include "shared/module.h"
#include "shared/roll_call.h"
#include "user/info_keys.h"
#include "user/log.h"
#include "wire/transport_shm.h"
#include "wire/ucp/ucp.h"

#include <stdio.h>

/* test_footprint counts the rest of a communicator's memory, which src/ has, and adds this. */
_Static_assert(
    sizeof(coll_strag_module_t) + sizeof(struct coll_strag_shared_setup) +
            sizeof(struct coll_strag_links) + 256 <=
        7 * 1024 + 512,
    "a communicator's structures, with its watch, are larger than test_footprint thinks");

static void module_construct(coll_strag_module_t *module)
{
    const mca_coll_base_module_t super = module->super;
    *module = (coll_strag_module_t){.super = super, .transport = &module->pml.super};
}

static void module_destruct(coll_strag_module_t *module)
{
    coll_strag_stuck_forget(&module->stuck);
    coll_strag_attribute_leave(module->attribute);
    coll_strag_persistent_abandon(module);
    coll_strag_ledger_free(module->ledger);
    coll_strag_setup_free(module->in_setup);
    coll_strag_plans_free(&module->plans, false);
    coll_strag_watch_free(module->watch);
    strag_selection_free(module->selection);
    coll_strag_explain_anew(&module->explained);
    coll_strag_pml_free(&module->pml);
    coll_strag_ucp_free(module->ucp);
    coll_strag_shared_memory_free(module->shm);
    coll_strag_shared_setup_release(module->shared_setup);
    COLL_STRAG_FORGET(module, allreduce_init);
    COLL_STRAG_FORGET(module, iallreduce);
    COLL_STRAG_FORGET(module, allreduce);
}

static const char not_asked[] =
    "not selected (use --mca coll strag, or a coll_strag_priority above 0)";

OBJ_CLASS_INSTANCE(coll_strag_module_t, mca_coll_base_module_t, module_construct, module_destruct);

/* Also in a job with one process, but not for every process's MPI_COMM_SELF. */
static void log_declined(ompi_communicator_t *comm, const char *reason)
{
    const bool alone = ompi_comm_size(comm) < 2 && comm != &ompi_mpi_comm_world.comm;
    if (ompi_comm_rank(comm) == 0 && !alone)
        coll_strag_log(comm, "not used: %s", reason);
}

/* If calls are recorded, this module is above all others, whatever strag's priority is.
 * @return whether strag's priority is high enough for strag to run the calls */
static bool is_chosen(coll_strag_module_t *module, const ompi_communicator_t *comm)
{
    struct coll_strag_ledger *ledger = module->ledger;
    int priority = 0;
    if (!ledger)
        return true;
    ledger->previous =
        coll_strag_component_below(comm, module->previous.allreduce_module, &priority);
    if (!ledger->declined && priority > module->first.priority) {
        snprintf(ledger->why, sizeof ledger->why,
                 "coll/%s has the priority %d, coll_strag_priority is %d", ledger->previous,
                 priority, (int)module->first.priority);
        ledger->declined = ledger->why;
    }
    return !ledger->declined;
}

/* Prepare what strag needs to run calls. */
static void prepare(coll_strag_module_t *module, ompi_communicator_t *comm)
{
    coll_strag_note_keys(comm, &module->keys);
    coll_strag_setup_prepare(module, comm);
    coll_strag_queue_init(&module->queue, comm);
    coll_strag_pml_init(&module->pml, comm, COLL_STRAG_TAG_CALLS);
    module->failure.comm = comm;
    coll_strag_stuck_watch(&module->stuck, comm, &module->shm, &module->transport, &module->failure,
                           0);
}

/* The last step of taking a communicator. */
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
    coll_strag_attribute_open(comm, &module->attribute);
    if (is_chosen(module, comm))
        prepare(module, comm);
    if (module->previous.iallreduce)
        COLL_STRAG_INSTALL(module, comm, iallreduce, coll_strag_iallreduce);
    if (module->previous.allreduce_init)
        COLL_STRAG_INSTALL(module, comm, allreduce_init, coll_strag_allreduce_init);
    COLL_STRAG_INSTALL(module, comm, allreduce, coll_strag_allreduce);
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
    coll_strag_stuck_forget(&module->stuck);
    coll_strag_pml_keep(comm);
    return OMPI_SUCCESS;
}

/* Why strag is not to run a communicator's calls. @param[out] first  rank 0's fingerprint
 * @return NULL if strag is to run them */
static const char *find_reason(ompi_communicator_t *comm, struct coll_strag_fingerprint *first)
{
    if (!coll_strag_settings.enable)
        return "coll_strag_enable is 0";
    if (coll_strag_settings.priority <= 0)
        return not_asked;
    if (OMPI_COMM_IS_INTER(comm))
        return "an intercommunicator";
    if (ompi_comm_size(comm) < 2)
        return "one rank has nothing to reduce";
    if (!coll_strag_roll_call_first(comm, first))
        return "rank 0 has none, or another one";
    return NULL;
}

/* What are a communicator's calls to be recorded for? All ranks know rank 0's parameter. An info
 * key becomes known with rank 0's decision (setup/setup.c), too late to record the calls before. */
static int find_noting(ompi_communicator_t *comm)
{
    const bool possible = !OMPI_COMM_IS_INTER(comm) && ompi_comm_size(comm) >= 2;
    return possible ? coll_strag_fingerprint_notes(comm) : 0;
}

/* Begin to record a communicator's calls. @param declined  why strag runs none of them, or NULL
 * @return false if out of memory */
static bool record(coll_strag_module_t *module, ompi_communicator_t *comm, const char *declined,
                   int noting)
{
    module->ledger = coll_strag_ledger_create(module, comm, noting);
    if (NULL == module->ledger)
        return false;
    module->ledger->declined = declined;
    module->ledger->not_asked = declined == not_asked;
    module->ledger->notes.watched_from = coll_strag_settings.watch_from;
    return true;
}

/* The other ranks cannot know that strag is missing on this rank alone, and would wait for it for
 * ever. Large allocations are made by setup, which can tell them. */
static void end_job(void)
{
    fputs("coll/strag: out of memory while a communicator is made; the job ends\n", stderr);
    (void)ompi_mpi_abort(NULL, MPI_ERR_NO_MEM);
}

mca_coll_base_module_t *coll_strag_comm_query(ompi_communicator_t *comm, int *priority)
{
    struct coll_strag_fingerprint first = {.priority = 0};
    const char *declined = find_reason(comm, &first);
    const int noting = find_noting(comm);
    if (declined)
        log_declined(comm, declined);
    if (declined && !noting)
        return NULL;
    coll_strag_module_t *module = OBJ_NEW(coll_strag_module_t);
    if (NULL == module || (noting && !record(module, comm, declined, noting))) {
        end_job();
        return NULL;
    }
    module->first = first;
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
    *priority = noting ? COLL_STRAG_PRIORITY_HIGHEST : first.priority;
    return &module->super;
}
