/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator's first call that needs to know the other ranks sets it up, in one of two ways
 * (shared/shared_setup.h):
 *
 *     derive    from a communicator that has all its ranks and has been set up, its origin, if no
 *               rank has info keys of the watch, and all want the same algorithm
 *     ask       otherwise: all ranks send what they know to rank 0
 *
 * Every setup begins with a roll call, from which all ranks learn which way it takes: do all have
 * the same strag, and the same origin? A dup's origin is its parent, or the parent's own origin.
 * Mailboxes are always new, since two threads may use parent and dup at once.
 *
 * Both ways are lists of steps (setup/steps.h), and no step waits for another rank: if a
 * nonblocking call has begun setup, steps are taken in Open MPI's progress while the program does
 * something else. So setup's messages have a tag of their own.
 *
 * A rank that runs out of memory still takes part in every message. In the end all ranks know, and
 * the previous component runs all calls. (A rank without memory for setup itself takes part in no
 * message, as after an error of a message.) In the derived way, what can fail on one rank is done
 * before the first message, which reports a failure; then all ranks are asked. An error of a
 * message ends setup on this rank. Its later calls fail if ranks have to know whether strag runs
 * them. No other rank would know that a nonblocking call fails here. So if a nonblocking call has
 * begun setup, it ends with a conclusion: if a rank fails before, there is none on any rank, and
 * the previous component goes on with nonblocking calls; a rank that misses it asks others.
 */
#include "setup.h"

#include "collect/record.h"
#include "compat/tags.h"
#include "compat/world.h"
#include "steps.h"
#include "user/info_keys.h"

#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Before ---- */

/* How many calls are delegated before setup, since many communicators make no more: calls of any
 * length, if the communicator is on one host and made by the program; and short calls. Setup takes
 * as long as hundreds of short calls if ranks share memory, and as long as 10 to 30 between hosts,
 * where the network's numbers have to be measured. */
enum { FIRST_CALLS = 2, SHORT_CALLS = 32 };

static bool names_what_runs(const struct coll_strag_fingerprint *first)
{
    const bool pinned = first->pinned != COLL_STRAG_AUTO && first->pinned != COLL_STRAG_PREVIOUS;
    return pinned || first->has_layout_or_rules;
}

/* Do all ranks know that there are several hosts? They know it of processes of their own job. */
static bool is_between_hosts(ompi_communicator_t *comm)
{
    return coll_strag_is_of_this_job(comm) && ompi_group_have_remote_peers(comm->c_local_group);
}

/*
 * How many first calls of any length are delegated. This depends only on what all ranks know
 * without a message. None are delegated
 *
 *     between hosts             a call takes as long as several of setup's messages, and with a
 *                               slow host delegated calls are the slowest of all
 *     of MPI_COMM_WORLD         it lives as long as the job, and others are derived from it
 *     with an algorithm, a      the user has said what is to run, and that holds for every call
 *     layout, rules or a plan
 *     with reproducible bits    the previous component's depend on where the ranks are, and the
 *                               first calls would have other bits than later ones
 *
 * An info key is known to rank 0 alone, and counts from setup on, as for short calls.
 */
static unsigned long long first_calls(const struct coll_strag_fingerprint *first,
                                      ompi_communicator_t *comm)
{
    const bool ours =
        names_what_runs(first) || first->reproducible != (int32_t)STRAG_REPRODUCIBLE_NO;
    return ours || comm == &ompi_mpi_comm_world.comm || is_between_hosts(comm) ? 0 : FIRST_CALLS;
}

/* Bytes of the shortest call that needs setup: one that strag may run, or that may be watched. 0 if
 * strag may run any, due to a layout, rules or a pinned algorithm. The algorithm `previous` does
 * not change this, since an info key may undo it. */
static size_t shortest_setup(const struct coll_strag_fingerprint *first)
{
    if (names_what_runs(first))
        return 0;
    return first->watch_from < first->minimum ? first->watch_from : first->minimum;
}

void coll_strag_setup_prepare(struct coll_strag_module *module, ompi_communicator_t *comm)
{
    const bool off =
        coll_strag_key(comm, COLL_STRAG_KEY_ALGORITHM, module->first.pinned) == COLL_STRAG_PREVIOUS;
    coll_strag_check_keys(comm);
    module->decision.reason = off ? COLL_STRAG_OFF : COLL_STRAG_TOO_SHORT;
    module->first_calls = first_calls(&module->first, comm);
    module->delegate_below = shortest_setup(&module->first);
    module->delegate_limit = SHORT_CALLS;
}

/* ---- The two ways ---- */

static coll_strag_setup_step end_roll_call;

/* From an origin. Each rank has done without messages what the origin allows, and has a place in
 * its arena. Without UCX, each rank but rank 0 sends one message up the tree and receives one; with
 * shared memory the places follow, down the tree in pieces. */
static coll_strag_setup_step *const derive[] = {
    coll_strag_setup_call_roll,   /* all -- struct coll_strag_entry --> rank 0 */
    coll_strag_setup_answer,      /* rank 0 decides -- struct coll_strag_reply --> all */
    end_roll_call,                /* if a rank has no strag, setup ends; if no origin: ask */
    coll_strag_setup_show_places, /* with shared memory: rank 0 -- entries --> all */

    /* over UCX: as below */
    coll_strag_setup_open_network,
    coll_strag_setup_connect,
    coll_strag_setup_connect,
    coll_strag_setup_connect,

    coll_strag_setup_join_derived,  /* over UCX: rank 0 decides --> all */
    coll_strag_setup_take_decision, /* rank 0 -- plans from files --> all, if there are any */
    coll_strag_setup_take_given,
    coll_strag_setup_end_derive,

    /* over UCX, with plans from files, if a nonblocking call has begun setup, or if the previous
     * component runs the call that has: as below */
    coll_strag_setup_ask_all_well,
    coll_strag_setup_tell_conclusion,
    coll_strag_setup_conclude,
    NULL,
};

/* After a roll call that has found no origin. */
static coll_strag_setup_step *const ask[] = {
    coll_strag_setup_tell_own,      /* all -- struct coll_strag_rank_info --> rank 0 */
    coll_strag_setup_tell_hosts,    /* rank 0 reads files -- struct coll_strag_hosts --> all */
    coll_strag_setup_tell_topology, /* rank 0 --> all */
    coll_strag_setup_keep_topology,

    /* over UCX */
    coll_strag_setup_open_network, /* an agreement: have all opened UCX? how long is the longest
                                      address? do all know all others already? */
    coll_strag_setup_connect,      /* an agreement: do all have room for what comes? */
    coll_strag_setup_connect,      /* an allgather: a rank's number, its address if not known */
    coll_strag_setup_connect,      /* an agreement: can each reach a rank here, and elsewhere? */
    coll_strag_setup_end_network,

    /* with shared memory */
    coll_strag_setup_make_memory, /* an allgather: a rank's place in its arena, or why none */
    coll_strag_setup_join_memory, /* an agreement: has each mapped its host's other arenas? */
    coll_strag_setup_end_memory,

    coll_strag_setup_ping,          /* rank 0 <--> one rank, if all are in a blocking call */
    coll_strag_setup_decide,        /* rank 0 -- struct coll_strag_decision --> all */
    coll_strag_setup_take_decision, /* rank 0 -- plans from files --> all, if there are any */
    coll_strag_setup_take_given,
    coll_strag_setup_end_ask,
    coll_strag_setup_ask_all_well, /* all -- has each all that it needs? which nonblocking call is
                                      the first that strag runs? --> rank 0 */
    coll_strag_setup_tell_conclusion, /* rank 0 --> all */
    coll_strag_setup_conclude,
    NULL,
};

static void end_roll_call(struct setup *setup)
{
    bool here;
    if (coll_strag_setup_is_derived(setup, &here))
        return;
    setup->next = here ? ask : NULL;
    if (!here)
        coll_strag_setup_give_up(setup->module, COLL_STRAG_STRANGER);
}

/* ---- From the beginning to the end ---- */

/* The communicator is being freed, or MPI ends: complete setup. All ranks have begun it or will,
 * since the call that begins it comes before MPI_Comm_free and MPI_Finalize on each of them. */
static void end_early(struct coll_strag_teardown *teardown)
{
    struct coll_strag_module *module =
        COLL_STRAG_OWNER(teardown, struct coll_strag_module, teardown);
    ompi_communicator_t *comm = teardown->comm;
    OBJ_RETAIN(comm); /* the queue's reference may be the last one */
    (void)coll_strag_setup(module, comm);
    while (!coll_strag_enter(module)) /* another thread has just ended setup, and leaves */
        sched_yield();
    coll_strag_leave(module);
    opal_progress(); /* the queue drops its reference, unless it still has calls */
    OBJ_RELEASE(comm);
}

/* This rank's setup has ended. @param code  if it is an error, the ranks have agreed on nothing */
static void leave(struct coll_strag_module *module, int code, bool blocking)
{
    if (code != OMPI_SUCCESS)
        coll_strag_fail(module, code, true);
    (void)coll_strag_stuck_know_first(&module->stuck, blocking ? 1 : COLL_STRAG_NEVER);
}

/* Allocate what setup needs until it is done: on rank 0 with room for what all ranks send, some 730
 * bytes each, untouched until they do. @return NULL if out of memory */
static struct setup *create(struct coll_strag_module *module, ompi_communicator_t *comm)
{
    const size_t n = (size_t)ompi_comm_size(comm);
    const bool first = ompi_comm_rank(comm) == 0;
    const size_t places = n * sizeof(struct strag_shm_info),
                 reply = sizeof(struct coll_strag_reply) + n * sizeof(struct coll_strag_entry),
                 info = first ? n * sizeof(struct coll_strag_rank_info) : 0,
                 ranks = first ? n * sizeof(struct strag_rank_location) : 0;
    module->shared_setup = coll_strag_shared_setup_create();
    struct setup *setup =
        module->shared_setup ? malloc(sizeof *setup + places + reply + info + ranks) : NULL;
    if (NULL == setup)
        return NULL;
    memset(setup, 0,
           offsetof(struct setup, messages.exchange)); /* it is large, and need not be 0 */
    memset(&setup->number, 0, sizeof *setup - offsetof(struct setup, number));
    setup->module = module;
    char *behind = (char *)(setup + 1);
    setup->memory.infos = (void *)behind;
    setup->derive.reply = (void *)(behind += places);
    if (!first)
        return setup;
    setup->ask.info = (void *)(behind += reply);
    setup->ranks = (void *)(behind + info);
    return setup;
}

static void begin(struct coll_strag_module *module, ompi_communicator_t *comm, bool blocking)
{
    struct setup *setup = module->in_setup = create(module, comm);
    if (NULL == setup) {
        leave(module, OMPI_ERR_OUT_OF_RESOURCE, blocking);
        __atomic_store_n(&module->setup, COLL_STRAG_SETUP_DONE, __ATOMIC_RELEASE);
        return;
    }
    module->setup = COLL_STRAG_SETUP_RUNNING;
    module->delegate_below = 0; /* which calls are delegated is known when setup ends, at a
                                   different time on each rank: a blocking call waits for that */
    snprintf(module->plans.name, sizeof module->plans.name, "%s", comm->c_name);
    coll_strag_exchange_init(&setup->messages, &module->failure, COLL_STRAG_TAG_CALLS);
    coll_strag_stuck_begin_setup(&module->stuck);
    setup->comm = comm;
    setup->blocking = blocking;
    module->nonblocking.limit = blocking ? 0 : UINT64_MAX;
    setup->attached = NULL != module->attribute;
    setup->next = derive;
    if (!blocking)
        coll_strag_teardown_attach(&module->teardown, comm, NULL, end_early);
}

void coll_strag_setup_free(struct setup *setup)
{
    if (NULL == setup)
        return;
    coll_strag_stuck_end_setup(&setup->module->stuck);
    coll_strag_teardown_leave(&setup->module->teardown);
    if (setup->next && strag_exchange_stop(&setup->messages.exchange) == STRAG_PENDING) {
        if (*setup->next)
            setup->module->shared_setup = NULL; /* never freed: messages may still use it */
        return;
    }
    coll_strag_setup_leave_place(setup);
    coll_strag_ucp_forget(&setup->ucp);
    strag_topology_free(setup->unpacked);
    free(setup->ask.packed);
    free(setup->given);
    free(setup->derive.rank_of);
    free(setup);
}

static void end(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    leave(module, setup->code, setup->blocking);
    if (setup->code != OMPI_SUCCESS)
        coll_strag_setup_keep_place(setup);
    if (setup->blocking && setup->code == OMPI_SUCCESS && module->decision.report &&
        !module->ledger)
        coll_strag_ledger_begin_late(module, setup->comm);
    coll_strag_plans_share(&module->plans, module->shared_setup->plans);
    if (ompi_comm_rank(setup->comm) != 0)
        module->topology = NULL;
    module->in_setup = NULL;
    coll_strag_setup_free(setup);
    __atomic_store_n(&module->setup, COLL_STRAG_SETUP_DONE, __ATOMIC_RELEASE);
}

/* A message has failed with `code`. If it was the conclusion, other ranks may have received it:
 * wait until one says what it is (stuck/), unless the communicator is being freed or has failed:
 * then no call will ask for it. @return whether setup has ended */
static bool end_without_message(struct setup *setup, int code)
{
    struct coll_strag_module *module = setup->module;
    setup->code = code;
    if (!setup->next || *setup->next != coll_strag_setup_conclude)
        return true;
    if (!coll_strag_stuck_first(&module->stuck))
        return !module->attribute || coll_strag_failed(&module->failure) != OMPI_SUCCESS;
    (*setup->next++)(setup);
    coll_strag_fail(module, code, false);
    return true;
}

/* Take all steps that can be taken now. @return whether setup has ended */
static bool take_steps(struct setup *setup)
{
    int code;
    coll_strag_stuck_setup_moved(&setup->module->stuck, setup->messages.pml.super.moves);
    bool over = coll_strag_exchange_is_over(&setup->messages, &code);
    while (over && code == OMPI_SUCCESS && coll_strag_setup_may_continue(setup, code) &&
           setup->next && *setup->next) {
        coll_strag_setup_step *step = *setup->next++;
        step(setup);
        over = coll_strag_exchange_is_over(&setup->messages, &code);
    }
    return over && (code == OMPI_SUCCESS || end_without_message(setup, code));
}

/* Begin setup or go on with it. @return whether it has ended, as far as this thread knows. Then the
 * module may be gone: another thread may free it as soon as this one has left, or this one does. */
static bool advance(struct coll_strag_module *module, ompi_communicator_t *comm, bool blocking)
{
    if (!coll_strag_enter(module))
        return false;
    if (module->setup == COLL_STRAG_SETUP_NOT_YET)
        begin(module, comm, blocking);
    struct setup *setup = module->in_setup;
    const bool ended = setup && take_steps(setup);
    if (ended)
        end(setup);
    const bool over = coll_strag_is_set_up(module);
    coll_strag_leave(module);
    return over;
}

/* While this thread waits it takes the steps itself, outside of Open MPI's progress. */
int coll_strag_setup(struct coll_strag_module *module, ompi_communicator_t *comm)
{
    __atomic_store_n(&module->waited_for, true, __ATOMIC_RELAXED);
    (void)advance(module, comm, true);
    while (!coll_strag_is_set_up(module)) {
        opal_progress();
        (void)advance(module, comm, true);
    }
    __atomic_store_n(&module->waited_for, false, __ATOMIC_RELAXED);
    const int code = coll_strag_undecided(&module->failure);
    return code == OMPI_SUCCESS ? coll_strag_failure(comm) : code;
}

/* As in struct coll_strag_job: a setup that a nonblocking call has begun goes on. */
static bool job_progress(struct coll_strag_job *job)
{
    struct coll_strag_module *module = COLL_STRAG_OWNER(job, struct coll_strag_module, setup_job);
    if (coll_strag_is_set_up(module) || __atomic_load_n(&module->waited_for, __ATOMIC_RELAXED))
        return coll_strag_is_set_up(module);
    return advance(module, module->failure.comm, false);
}

void coll_strag_setup_start(struct coll_strag_module *module)
{
    module->setup_job.progress = job_progress;
    coll_strag_queue_add(&module->queue, &module->setup_job);
}
