/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allreduce_init. MPI lets it wait for the other ranks. It sets the communicator up if that is
 * not done yet, chooses what runs all starts, makes sure that all ranks have called it with the
 * same arguments, and plans.
 *
 * Persistent requests may be started in any order, which may differ from rank to rank; only the
 * calls of MPI_Allreduce_init are in the same order on all ranks. Hence no start may wait for
 * another request's, and no blocking call may wait for a start: on another rank it may come first.
 * So each request has a channel and a queue of its own, as if it had a communicator to itself: a
 * mailbox in shared memory, a tag for the PML or numbers for UCX, engine and plan. A request's
 * first start matches its first start on the other ranks, and so on: messages in a channel are in
 * order. The tags are counted here. Open MPI's counter for nonblocking collectives would not do:
 * MPI_Comm_idup advances it in its progress, at a different point of the program on each rank.
 *
 * If that is not possible on a rank (no room for a mailbox, or coll/hcoll has the tags), all ranks
 * know, and the user gets the previous component's request, as if the choice had been to delegate.
 *
 * A request holds references to its communicator, operator and type until it is freed. A request
 * that is freed while it is active is destroyed when it completes.
 */
#include "entries.h"

#include "choose.h"
#include "collect/record.h"
#include "compat/tags.h"
#include "on_copies.h"
#include "request.h"
#include "user/log.h"
#include "wire/exchange.h"
#include "wire/transport_shm.h"
#include "wire/ucp/ucp.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What belongs to one request. */
struct coll_strag_persistent {
    struct coll_strag_queue queue; /* first */
    struct coll_strag_request *request;
    struct coll_strag_pml_transport pml;
    struct coll_strag_transport *ucp; /* NULL if nothing goes over UCX */
    struct strag_shm *shm;            /* NULL if nothing goes through shared memory */
    struct coll_strag_plans plans;
    struct coll_strag_stuck stuck;
    struct coll_strag_persistent *next, **link; /* in the module's list */
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER; /* of all modules' lists */

/* ---- Its end ---- */

static void close_channel(struct coll_strag_persistent *own)
{
    coll_strag_stuck_forget(&own->stuck);
    coll_strag_shared_memory_free(own->shm);
    coll_strag_ucp_free(own->ucp);
    coll_strag_pml_free(&own->pml);
    coll_strag_plans_free(&own->plans, false);
    own->shm = NULL;
    own->ucp = NULL;
}

/* As in struct coll_strag_queue: the request is not active, and the user has no handle. */
static void closed(struct coll_strag_queue *queue)
{
    struct coll_strag_persistent *own = (struct coll_strag_persistent *)queue;
    const struct coll_strag_call call = own->request->call;
    pthread_mutex_lock(&list_lock);
    if (own->link) {
        *own->link = own->next;
        if (own->next)
            own->next->link = own->link;
    }
    pthread_mutex_unlock(&list_lock);
    close_channel(own);
    coll_strag_request_return(own->request);
    free(own);
    coll_strag_call_release(&call);
}

void coll_strag_persistent_abandon(struct coll_strag_module *module)
{
    pthread_mutex_lock(&list_lock);
    struct coll_strag_persistent *first = module->persistent;
    module->persistent = NULL;
    pthread_mutex_unlock(&list_lock);
    for (struct coll_strag_persistent *own = first; own; own = own->next) {
        own->link = NULL;
        close_channel(own);
    }
}

/* ---- The request ---- */

static int request_start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++) {
        struct coll_strag_request *request = (struct coll_strag_request *)requests[i];
        if (request->super.super.req_state == OMPI_REQUEST_ACTIVE)
            return MPI_ERR_REQUEST;
        const struct coll_strag_call *call = &request->call;
        coll_strag_count(STRAG_COUNT_CALLS);
        coll_strag_count(STRAG_COUNT_PERSISTENT);
        request->call.number = coll_strag_stuck_count(request->channel.stuck);
        if (call->module->ledger)
            coll_strag_ledger_note(call->module->ledger, STRAG_LEDGER_PERSISTENT,
                                   coll_strag_outcome(&call->choice), call->count * call->size,
                                   NULL);
        coll_strag_request_start(request);
    }
    return OMPI_SUCCESS;
}

static int request_free(ompi_request_t **request)
{
    struct coll_strag_request *own = (struct coll_strag_request *)*request;
    *request = MPI_REQUEST_NULL;
    coll_strag_queue_close(own->queue, closed);
    return OMPI_SUCCESS;
}

/* ---- The same arguments ---- */

/* What the ranks compare. */
struct comparison {
    int64_t able;                          /* can every rank have a request? */
    struct strag_roster_entry least, most; /* the extremes of all ranks' calls */
};

static bool is_less(const struct strag_roster_entry *a, const struct strag_roster_entry *b)
{
    return a->bytes != b->bytes ? a->bytes < b->bytes
           : a->what != b->what ? a->what < b->what
                                : a->rank < b->rank;
}

/* As in struct strag_agreement. */
static void compare(void *context, void *value, const void *other)
{
    struct comparison *ours = value;
    const struct comparison *theirs = other;
    (void)context;
    ours->able = ours->able && theirs->able;
    if (is_less(&theirs->least, &ours->least))
        ours->least = theirs->least;
    if (is_less(&ours->most, &theirs->most))
        ours->most = theirs->most;
}

/* Compare all ranks' arguments. If they differ, the requests would wait for each other when they
 * are started: so all ranks return an error, and make none. A rank that delegates its request does
 * not take part, and the others find out what it has called (stuck/stuck.h).
 * @param[in,out] able  can this rank have a request? Then: can all?
 * @param[out] same  whether all ranks' arguments are the same */
static int agree(const struct coll_strag_call *call, bool *able, bool *same)
{
    struct coll_strag_module *module = call->module;
    const struct strag_roster_entry self = {.rank = ompi_comm_rank(call->comm),
                                            .state = STRAG_ROSTER_RUNS,
                                            .number = call->number,
                                            .bytes = module->stuck.bytes,
                                            .what = module->stuck.what};
    struct comparison all = {*able, self, self};
    const int code = coll_strag_agree(&module->failure, &all, sizeof all, compare);
    *able = all.able;
    *same = all.least.bytes == all.most.bytes && all.least.what == all.most.what;
    if (code == OMPI_SUCCESS && !*same && self.rank == 0)
        coll_strag_say_different(call->comm, &all.least, &all.most);
    return code;
}

/* ---- The channel ---- */

/* Where all ranks' channels are. */
struct addresses {
    struct strag_shm_info *infos; /* [rank] */
    int32_t *numbers;             /* [rank], of messages over UCX */
};

/* Open the channel. All ranks have a request. @param[out] able  do all have a channel? */
static int open_channel(const struct coll_strag_call *call, struct coll_strag_persistent *own,
                        const struct addresses *all, bool *able)
{
    const struct coll_strag_module *module = call->module;
    const int n = ompi_comm_size(call->comm), me = ompi_comm_rank(call->comm);
    int code = OMPI_SUCCESS;
    if (module->shm) {
        own->shm = coll_strag_shared_memory_create(call->comm, module->lane_of, &all->infos[me]);
        code = coll_strag_allgather(&module->failure, all->infos, sizeof *all->infos);
    }
    if (code == OMPI_SUCCESS && module->ucp) {
        all->numbers[me] = coll_strag_ucp_number();
        code = coll_strag_allgather(&module->failure, all->numbers, sizeof *all->numbers);
        own->ucp = coll_strag_ucp_another(module->ucp, all->numbers);
    }
    if (code != OMPI_SUCCESS)
        return code;
    int32_t opened = (!module->ucp || own->ucp) &&
                     (!module->shm || (coll_strag_shared_memory_lacking(all->infos, n) == n &&
                                       strag_shm_join(own->shm, all->infos) == STRAG_SHM_ABLE));
    code = coll_strag_minimum(&module->failure, &opened);
    *able = opened;
    return code;
}

/* Make a request without its channel. Nothing is sent. @return NULL if out of memory */
static struct coll_strag_persistent *create(const struct coll_strag_call *call, int tag)
{
    struct coll_strag_persistent *own = calloc(1, sizeof *own);
    struct strag_engine *engine;
    if (NULL == own)
        return NULL;
    coll_strag_queue_init(&own->queue, call->comm);
    coll_strag_pml_init(&own->pml, call->comm, tag);
    memcpy(own->plans.name, call->module->plans.name, sizeof own->plans.name);
    if (call->module->plans.store)
        coll_strag_plans_share(&own->plans, call->module->plans.store);
    own->request = coll_strag_request_take(call, &own->queue);
    if (own->request && coll_strag_find_engine(call, &own->plans, 0, &engine) == STRAG_OK)
        return own;
    if (own->request)
        coll_strag_request_return(own->request);
    coll_strag_plans_free(&own->plans, false);
    free(own);
    return NULL;
}

/* Finish a request: nothing can fail any more. */
static void keep(struct coll_strag_persistent *own)
{
    struct coll_strag_request *request = own->request;
    const struct coll_strag_call *call = &request->call;
    struct coll_strag_module *module = call->module;
    request->super.super.req_start = request_start;
    request->super.super.req_free = request_free;
    request->channel = (struct coll_strag_channel){own->shm, own->ucp ? own->ucp : &own->pml.super,
                                                   &own->plans, &own->stuck};
    coll_strag_stuck_watch(&own->stuck, call->comm, &own->shm, &request->channel.transport,
                           &module->failure, (int32_t)module->persistent_made);
    coll_strag_call_retain(call);
    pthread_mutex_lock(&list_lock);
    own->next = module->persistent;
    own->link = &module->persistent;
    if (own->next)
        own->next->link = &own->next;
    module->persistent = own;
    pthread_mutex_unlock(&list_lock);
}

/* After COLL_STRAG_TAGS_PERSISTENT requests of a communicator their tags begin again. A request
 * whose tag an earlier one still has goes to the previous component. */
static bool is_in_use(const struct coll_strag_module *module, int tag)
{
    if (module->persistent_made <= COLL_STRAG_TAGS_PERSISTENT)
        return false;
    pthread_mutex_lock(&list_lock);
    const struct coll_strag_persistent *own = module->persistent;
    while (own && own->pml.tag != tag)
        own = own->next;
    pthread_mutex_unlock(&list_lock);
    return NULL != own;
}

/* Nothing is sent. @return NULL if there is no tag for the request, or if out of memory */
static struct coll_strag_persistent *prepare(const struct coll_strag_call *call)
{
    struct coll_strag_module *module = call->module;
    const int tag =
        COLL_STRAG_TAG_PERSISTENT - (int)(module->persistent_made++ % COLL_STRAG_TAGS_PERSISTENT);
    return module->pml.by_shape && !is_in_use(module, tag) ? create(call, tag) : NULL;
}

/* Make a request that strag handles, if all ranks can have one. @param[out] made  NULL on all ranks
 * if one of them cannot, or on this rank after an error */
static int make(const struct coll_strag_call *call, struct coll_strag_persistent **made)
{
    const size_t n = (size_t)ompi_comm_size(call->comm);
    struct coll_strag_persistent *own = prepare(call);
    const struct addresses all = {own ? calloc(n, sizeof *all.infos) : NULL,
                                  own ? calloc(n, sizeof *all.numbers) : NULL};
    bool able = own && all.infos && all.numbers, same = true;
    int code = agree(call, &able, &same);
    if (code == OMPI_SUCCESS && able && same)
        code = open_channel(call, own, &all, &able);
    free(all.infos);
    free(all.numbers);
    if (code != OMPI_SUCCESS) /* others may have a request, and wait for this rank */
        coll_strag_fail(call->module, code, false);
    else if (!same)
        code = MPI_ERR_TRUNCATE;
    *made = code == OMPI_SUCCESS && able ? own : NULL;
    if (*made)
        keep(own);
    else if (own) {
        coll_strag_request_return(own->request);
        close_channel(own);
        free(own);
    }
    return code;
}

/* If strag is to handle the request, all ranks wait for each other here. */
static int choose_and_make(struct coll_strag_call *call, struct coll_strag_persistent **own)
{
    struct coll_strag_module *module = call->module;
    const size_t bytes = call->count * call->size;
    coll_strag_wait_for_earlier(module, call->comm);
    call->number = coll_strag_stuck_count(&module->stuck);
    coll_strag_stuck_begin(&module->stuck, call->number, bytes);
    int code = coll_strag_choose(call);
    if (code != OMPI_SUCCESS) /* others may wait for this rank */
        coll_strag_fail(module, code, false);
    else
        coll_strag_stuck_say(&module->stuck, module->shm, &call->choice, call->op,
                             COLL_STRAG_IS_INIT);
    if (code == OMPI_SUCCESS && call->choice.algorithm)
        code = make(call, own);
    coll_strag_stuck_end(&module->stuck);
    if (code == OMPI_SUCCESS && !*own)
        coll_strag_count_delegated(module);
    if (code == OMPI_SUCCESS && !*own && call->choice.algorithm)
        coll_strag_leave_to_previous(call);
    return code;
}

/* Each start of a request that strag handles is recorded. Other requests' starts are not seen, so
 * this call is recorded in their place. */
int coll_strag_allreduce_init(const void *sbuf, void *rbuf, coll_strag_count_t count,
                              ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                              struct ompi_info_t *info, ompi_request_t **request,
                              mca_coll_base_module_t *base)
{
    struct coll_strag_module *module = (struct coll_strag_module *)base;
    const struct coll_strag_previous *previous = &module->previous;
    struct coll_strag_persistent *own = NULL;
    struct coll_strag_buffer_locations locations;
    struct coll_strag_call call;
    struct coll_strag_ledger *ledger = module->ledger;
    const bool declined = ledger && ledger->declined;
    coll_strag_call_fill(&call, COLL_STRAG_PERSISTENT, sbuf, rbuf, (size_t)count, dtype, op, comm,
                         module, &locations);
    if (ledger)
        (void)coll_strag_ledger_enter(ledger);
    const int code = declined ? OMPI_SUCCESS : choose_and_make(&call, &own);
    if (code != OMPI_SUCCESS)
        return code;
    if (own) {
        *request = &own->request->super.super;
        return OMPI_SUCCESS;
    }
    if (ledger)
        coll_strag_ledger_note(ledger, STRAG_LEDGER_PERSISTENT, ledger->outcome,
                               call.count * call.size, NULL);
    if (call.locations && !declined)
        return coll_strag_on_copies(&call, info, request);
    return previous->allreduce_init(sbuf, rbuf, count, dtype, op, comm, info, request,
                                    previous->allreduce_init_module);
}
