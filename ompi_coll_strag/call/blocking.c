/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allreduce. A vector passes through these functions:
 *
 *     coll_strag_allreduce     counts the call; vectors that are known to be too short go to the
 *                              previous component
 *     run                      the choice (choose.c), by the table, after setup if that is needed
 *     run_watched              calls that are watched for stragglers and slow links (watch/watch.c)
 *     run_agreed               who is late, if that may be a different rank in each call
 *     run_choice               the previous component, or plan and engine until it is done (run.c)
 *
 * All ranks make the same choice, since it depends only on what is the same on all of them:
 * operator, count and type, as MPI requires, the parameters, and rank 0's decision. A problem of
 * one rank alone (no memory) is an error, and never a silent change of algorithm.
 *
 * The communicator's nonblocking calls that were begun earlier are completed first (mpi/queue.h).
 */
#include "choose.h"
#include "collect/record.h"
#include "entries.h"
#include "mpi/queue.h"
#include "run.h"
#include "setup/setup.h"
#include "user/log.h"

/* ---- Running it ---- */

/* Run the call as it was chosen. */
static int run_choice(const struct coll_strag_call *call)
{
    struct coll_strag_module *module = call->module;
    if (!call->choice.algorithm) {
        coll_strag_count_delegated(module);
        return coll_strag_call_previous(call);
    }
    const struct coll_strag_channel channel = {
        module->shm, module->transport,
        call->without.rank >= 0 ? call->without.plans : &module->plans, &module->stuck};
    coll_strag_count(STRAG_COUNT_CALLS);
    return coll_strag_run_to_end(call, &channel);
}

/* If a different rank may be late in each call, find it and run the call without it. */
static int run_agreed(struct coll_strag_call *call)
{
    const size_t bytes = call->count * call->size;
    struct coll_strag_watch *watch = call->from_table ? call->module->watch : NULL;
    if (call->module->decision.dynamic == STRAG_DYNAMIC_NEVER)
        return run_choice(call);
    int code = coll_strag_watch_agree(watch, bytes, &call->without);
    if (call->without.rank >= 0) {
        call->choice.algorithm = call->without.algorithm;
        call->choice.blocks = call->without.blocks;
        if (call->module->ledger)
            call->module->ledger->outcome = coll_strag_outcome(&call->choice);
    }
    if (code == OMPI_SUCCESS)
        code = run_choice(call);
    if (call->without.turn == STRAG_DYNAMIC_OUTSIDE)
        return code;
    code = coll_strag_arrivals_end(watch->arrivals, code);
    if (code != OMPI_SUCCESS)
        coll_strag_fail(call->module, code, false);
    return code;
}

/* The same for a watched call, whose times then show stragglers and slow links. */
static int run_watched(struct coll_strag_call *call)
{
    struct coll_strag_module *module = call->module;
    const size_t bytes = call->count * call->size;
    enum strag_change change;
    coll_strag_watch_begin(module->watch, bytes, call->op);
    const int code = run_agreed(call);
    if (coll_strag_failed(&module->failure) != OMPI_SUCCESS) {
        coll_strag_watch_give_up(module->watch);
        return code;
    }
    const struct strag_watched_call ended = {
        bytes,
        coll_strag_operation(call->op),
        call->choice.algorithm,
        call->choice.blocks,
        call->without.turn,
        call->without.rank,
        false,
    };
    const int watched = coll_strag_watch_end(module->watch, &ended, &change);
    coll_strag_apply_change(module, change);
    if (watched != OMPI_SUCCESS)
        coll_strag_fail(module, watched, false);
    return code == OMPI_SUCCESS ? watched : code;
}

static int run(struct coll_strag_call *call)
{
    struct coll_strag_module *module = call->module;
    const size_t bytes = call->count * call->size;
    coll_strag_stuck_begin(&module->stuck, call->number, bytes);
    int code = coll_strag_choose(call);
    if (code != OMPI_SUCCESS)
        return code;
    coll_strag_stuck_say(&module->stuck, module->shm, &call->choice, call->op, 0);
    if (module->watch_in &&
        (code = coll_strag_setup_watch(module, call->comm, bytes)) != OMPI_SUCCESS)
        coll_strag_fail(module, code, false); /* go on: others may wait in the call */
    /* the watch compares calls with the table's candidates, which do not include user plans */
    if (!coll_strag_watches(module->watch, bytes) || call->choice.reason == COLL_STRAG_GIVEN)
        return run_agreed(call);
    return run_watched(call);
}

/* Not inlined, so that the entry point stays short. */
static __attribute__((noinline)) int start_call(const void *sbuf, void *rbuf,
                                                coll_strag_count_t count, ompi_datatype_t *dtype,
                                                ompi_op_t *op, ompi_communicator_t *comm,
                                                struct coll_strag_module *module)
{
    struct coll_strag_buffer_locations locations;
    struct coll_strag_call call;
    coll_strag_call_fill(&call, COLL_STRAG_BLOCKING, sbuf, rbuf, (size_t)count, dtype, op, comm,
                         module, &locations);
    call.number = coll_strag_stuck_count(&module->stuck);
    const int code = run(&call);
    coll_strag_stuck_end(&module->stuck);
    return code;
}

/* If earlier work must end first, if calls are recorded, or if buffers may be on a device. */
static __attribute__((noinline)) int enter_slowly(const void *sbuf, void *rbuf,
                                                  coll_strag_count_t count, ompi_datatype_t *dtype,
                                                  ompi_op_t *op, ompi_communicator_t *comm,
                                                  struct coll_strag_module *module)
{
    struct coll_strag_ledger *ledger = module->ledger;
    struct strag_stay stay = {.begin = ledger ? coll_strag_seconds() : 0};
    const uint32_t number = ledger ? coll_strag_ledger_enter(ledger) : 0;
    const bool declined = ledger && ledger->declined;
    size_t size;
    if (!declined && coll_strag_is_after_others(module))
        coll_strag_wait_for_earlier(module, comm);
    const int code = declined ? module->previous.allreduce(sbuf, rbuf, count, dtype, op, comm,
                                                           module->previous.allreduce_module)
                              : start_call(sbuf, rbuf, count, dtype, op, comm, module);
    if (!ledger)
        return code;
    stay.end = coll_strag_seconds();
    ompi_datatype_type_size(dtype, &size);
    coll_strag_ledger_leave(ledger, number, (size_t)count * size, &stay);
    return code;
}

/* If two ranks share memory, a short call takes less than 200 ns. So a call that is delegated
 * anyway is delegated here, before anything else, at a cost of 3 to 5 ns. */
int coll_strag_allreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                         ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                         mca_coll_base_module_t *base)
{
    static const struct coll_strag_choice previous = {.algorithm = NULL};
    struct coll_strag_module *module = (struct coll_strag_module *)base;
    size_t size;
    if (__builtin_expect(
            coll_strag_settings.devices || module->ledger || coll_strag_is_after_others(module), 0))
        return enter_slowly(sbuf, rbuf, count, dtype, op, comm, module);
    ompi_datatype_type_size(dtype, &size);
    if (coll_strag_delegates_early(module, (size_t)count * size) && !coll_strag_logging) {
        coll_strag_count_delegated(module);
        const uint64_t number = coll_strag_stuck_count(&module->stuck);
        coll_strag_stuck_begin(&module->stuck, number, (size_t)count * size);
        coll_strag_stuck_say(&module->stuck, module->shm, &previous, op, 0);
        const int code = module->previous.allreduce(sbuf, rbuf, count, dtype, op, comm,
                                                    module->previous.allreduce_module);
        coll_strag_stuck_end(&module->stuck);
        return code;
    }
    return start_call(sbuf, rbuf, count, dtype, op, comm, module);
}
