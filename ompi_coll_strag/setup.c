/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a communicator is made nothing is sent, since Open MPI makes several concurrently. Its first
 * call that needs to know the other ranks does one of three things, once (heritage.h):
 *
 *     setup_inherit   a dup, if its parent has been set up and no rank has info keys
 *     setup_derive    another one, if a communicator that has all its ranks has been set up
 *     setup_ask       else: everybody is asked
 *
 * Their headers say who sends what. All but the first begin with a roll call: have all the same
 * strag (roll_call.c)?
 *
 * So only rank 0's files and parameters count, and ranks cannot disagree. The messages are those of
 * the communicator's own gather and broadcast, which are other components'. Which of the three it
 * is all ranks know alike: a dup's by an attribute that all have or none, the second by the roll
 * call. A dup begins with the table that its parent began with. It asks all the same whether rank 0
 * has info keys, since rank 0 may be the only one that has; and desks are new, since two threads
 * may use parent and dup at once.
 *
 * The first two watch their calls from the 16th on, from the 4th where there is something to be
 * learnt: most communicators live shorter.
 *
 * A rank that runs out of memory still takes part in every message. In the end all ranks know, and
 * the previous component runs all calls. What can fail on one rank in the first two is done before
 * their first message, which says so; then everybody is asked.
 */
#include "setup.h"

#include "info_keys.h"
#include "roll_call.h"
#include "setup_ask.h"
#include "setup_derive.h"
#include "setup_inherit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* So many short calls are delegated before a communicator finds out whether another way is faster:
 * most communicators live shorter than finding out takes. Between hosts a call takes as long as
 * several of setup's messages, where ranks share memory very much less. */
enum { SHORT_CALLS = 32, SHORT_CALLS_BETWEEN_HOSTS = 4 };

/* ---- Before ---- */

/* Which calls need setup: none where the previous component is pinned; all but those too short to
 * be ours or watched, unless a layout or rules make them ours. */
static size_t shortest_setup(const struct coll_strag_module *module)
{
    const struct coll_strag_fingerprint *first = &module->first;
    if (module->decision.pinned == COLL_STRAG_PREVIOUS)
        return SIZE_MAX;
    if (module->decision.pinned != COLL_STRAG_AUTO || first->has_layout_or_rules)
        return 0;
    return first->watch_from < first->minimum ? first->watch_from : first->minimum;
}

/* Are there several hosts, as all ranks know alike? Of their own job's processes all do. */
static bool is_between_hosts(ompi_communicator_t *comm)
{
    ompi_group_t *group = comm->c_local_group;
    bool one_job = true;
    for (int rank = 0; rank < ompi_comm_size(comm) && one_job; rank++)
        one_job = ompi_group_get_proc_name(group, rank).jobid == OPAL_PROC_MY_NAME.jobid;
    return one_job && ompi_group_have_remote_peers(group);
}

void coll_strag_setup_prepare(struct coll_strag_module *module, ompi_communicator_t *comm)
{
    const int pinned = coll_strag_pinned(comm, module->first.pinned);
    const bool always = pinned == COLL_STRAG_PREVIOUS || module->first.minimum_set;
    coll_strag_check_keys(comm);
    module->is_dup = coll_strag_is_dup(comm);
    module->decision.pinned = pinned;
    module->delegate_below = shortest_setup(module);
    module->delegate_limit = always                   ? ULLONG_MAX
                             : is_between_hosts(comm) ? SHORT_CALLS_BETWEEN_HOSTS
                                                      : SHORT_CALLS;
}

/* ---- One of the three ---- */

static int ask(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    const bool attached = coll_strag_heritage_attach(module->heritage, setup->comm);
    struct coll_strag_offer offer;
    bool alike;
    memset(&offer, 0, sizeof offer);
    if (attached)
        offer = coll_strag_setup_make_offer(setup);
    int code = coll_strag_roll_call(setup->comm, &module->first, &offer, &alike);
    if (code == OMPI_SUCCESS && !alike)
        coll_strag_setup_give_up(module, COLL_STRAG_STRANGER);
    if (code != OMPI_SUCCESS || !alike)
        return code;
    if (offer.origin)
        return coll_strag_setup_take_origin(setup, &offer.hosts);
    if (setup->origin)
        coll_strag_setup_forget_origin(setup);
    return coll_strag_setup_ask_all(setup, attached);
}

static int exchange(struct setup *setup)
{
    struct coll_strag_heritage *parent =
        setup->module->is_dup ? coll_strag_heritage_of(setup->comm) : NULL;
    bool may = false;
    int code = OMPI_SUCCESS;
    if (parent)
        code = coll_strag_setup_may_inherit(setup, parent, &may);
    if (may)
        return coll_strag_setup_inherit(setup, parent);
    coll_strag_heritage_release(parent);
    return code == OMPI_SUCCESS ? ask(setup) : code;
}

int coll_strag_setup(struct coll_strag_module *module, ompi_communicator_t *comm)
{
    struct setup setup = {.module = module, .comm = comm};
    if (NULL == comm->c_coll->coll_gather || NULL == comm->c_coll->coll_bcast ||
        NULL == comm->c_coll->coll_allgather || NULL == comm->c_coll->coll_barrier)
        return OMPI_ERR_NOT_SUPPORTED; /* a choice of components that Open MPI itself refuses */
    module->setup = COLL_STRAG_SETUP_RUNNING;
    snprintf(module->plans.name, sizeof module->plans.name, "%s", comm->c_name);
    module->setup_error = exchange(&setup);
    coll_strag_plans_share(&module->plans, module->heritage->plans);
    if (ompi_comm_rank(comm) != 0)
        module->topology = NULL;
    strag_topology_free(setup.unpacked);
    free(setup.packed);
    free(setup.info);
    free(setup.ranks);
    free(setup.rank_of);
    module->setup = COLL_STRAG_SETUP_DONE;
    return module->setup_error;
}
