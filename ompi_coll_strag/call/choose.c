/* SPDX-License-Identifier: BSD-3-Clause */
#include "choose.h"

#include "collect/record.h"
#include "setup/setup.h"
#include "user/log.h"

/* Choose from user plans and the table. @return OMPI_SUCCESS, or why the ranks could not agree */
static inline int look_up(struct coll_strag_call *call)
{
    struct coll_strag_module *module = call->module;
    const size_t bytes = call->count * call->size;
    const int code = coll_strag_is_set_up(module) ? coll_strag_undecided(&module->failure)
                                                  : coll_strag_setup(module, call->comm);
    if (code != OMPI_SUCCESS)
        return code;
    const struct strag_algorithm *given = coll_strag_given_find(module->given, bytes);
    if (given) { /* as with a rule, from_table stays false */
        call->choice = (struct coll_strag_choice){given, 0, COLL_STRAG_GIVEN};
        return code;
    }
    const struct strag_entry *entry = strag_table_entry(&module->decision.table, bytes);
    struct strag_variant rival;
    /* no experiment if ranks that do not log delegate the call without looking it up */
    const bool tries = module->decision.learning && call->kind == COLL_STRAG_BLOCKING &&
                       !coll_strag_delegates_early(module, bytes) &&
                       coll_strag_watch_rival(module->watch, bytes, call->op, &rival);
    /* a rule of the user's decides before the model */
    call->from_table = module->decision.line == 0 && !tries;
    call->choice = (struct coll_strag_choice){entry->algorithm, entry->blocks,
                                              (enum coll_strag_reason)module->decision.reason};
    if (tries) {
        call->choice.algorithm = rival.algorithm;
        call->choice.blocks = rival.blocks;
    }
    if (!call->choice.algorithm && call->choice.reason == COLL_STRAG_TOO_SHORT &&
        module->decision.learning && bytes >= module->decision.watch_from)
        call->choice.reason = COLL_STRAG_MEASURED;
    return code;
}

/* Is a call before setup delegated whatever setup would decide? A persistent one is not, since it
 * will be started often. @param[out] reason  why, if it is delegated */
static bool comes_too_early(const struct coll_strag_call *call, enum coll_strag_reason *reason)
{
    const struct coll_strag_module *module = call->module;
    const bool is_short = coll_strag_delegates_early(module, call->count * call->size);
    *reason = is_short ? (enum coll_strag_reason)module->decision.reason : COLL_STRAG_FIRST;
    return module->setup == COLL_STRAG_SETUP_NOT_YET && call->kind != COLL_STRAG_PERSISTENT &&
           (is_short || module->delegated < module->first_calls);
}

/* As look_up. If a nonblocking call begins setup, the first call that strag runs is the same on all
 * ranks (shared/module.h), but not in every run. So if results must be reproducible, only a
 * blocking call begins setup. */
static int look_up_nonblocking(struct coll_strag_call *call)
{
    struct coll_strag_module *module = call->module;
    struct coll_strag_nonblocking *nonblocking = &module->nonblocking;
    const bool begins = module->setup == COLL_STRAG_SETUP_NOT_YET;
    call->choice.reason = COLL_STRAG_NOT_SET_UP;
    if (begins && module->first.reproducible != STRAG_REPRODUCIBLE_NO)
        return OMPI_SUCCESS;
    if (begins)
        coll_strag_setup_start(module);
    const uint64_t number = __atomic_add_fetch(&nonblocking->begun, 1, __ATOMIC_SEQ_CST);
    if (!coll_strag_is_set_up(module) &&
        number > __atomic_load_n(&nonblocking->limit, __ATOMIC_SEQ_CST))
        (void)coll_strag_setup(module, call->comm);
    return coll_strag_is_set_up(module) && number >= coll_strag_stuck_first(&module->stuck)
               ? look_up(call)
               : OMPI_SUCCESS;
}

static int choose(struct coll_strag_call *call)
{
    enum coll_strag_reason early;
    ptrdiff_t lb, extent;
    ompi_datatype_get_extent(call->dtype, &lb, &extent);
    if (comes_too_early(call, &early))
        call->choice.reason = early;
    else if (call->count * call->size == 0)
        call->choice.reason = COLL_STRAG_NO_BYTES;
    else if (!ompi_op_is_commute(call->op))
        call->choice.reason = COLL_STRAG_NOT_COMMUTATIVE;
    else if (extent <= 0)
        call->choice.reason = COLL_STRAG_EXTENT;
    else if (call->kind != COLL_STRAG_NONBLOCKING)
        return look_up(call);
    else
        return look_up_nonblocking(call);
    return OMPI_SUCCESS;
}

void coll_strag_wait_for_earlier(struct coll_strag_module *module, ompi_communicator_t *comm)
{
    if (module->setup == COLL_STRAG_SETUP_RUNNING)
        (void)coll_strag_setup(module, comm); /* the call itself will see an error */
    coll_strag_queue_drain(&module->queue);
}

/* Record the choice for the report, and log it. */
static inline void note_choice(struct coll_strag_call *call, int code)
{
    struct coll_strag_module *module = call->module;
    if (module->ledger) {
        if (code == OMPI_SUCCESS) /* else there is no choice */
            module->ledger->outcome = coll_strag_outcome(&call->choice);
        call->recorded = module->ledger->number;
    }
    if (code == OMPI_SUCCESS && coll_strag_logging)
        coll_strag_explain_choice(call->comm, &module->explained, &module->decision,
                                  module->watch ? coll_strag_watch_selection(module->watch)
                                                : module->selection,
                                  call->count * call->size, &call->choice);
}

int coll_strag_choose(struct coll_strag_call *call)
{
    const int code = choose(call);
    note_choice(call, code);
    return code;
}

void coll_strag_leave_to_previous(struct coll_strag_call *call)
{
    call->choice = (struct coll_strag_choice){NULL, 0, COLL_STRAG_NO_ROOM};
    note_choice(call, OMPI_SUCCESS);
}
