/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorded.h"

#include "blocking.h"
#include "nonblocking.h"
#include "persistent.h"

/* Until the choice says otherwise: nothing but the length of a vector is examined before. */
static int outcome_before(const struct coll_strag_ledger *ledger)
{
    const struct coll_strag_choice choice = {
        .reason = ledger->declined ? COLL_STRAG_DECLINED
                                   : (enum coll_strag_reason)ledger->module->decision.reason};
    return coll_strag_outcome(&choice);
}

static size_t bytes_of(coll_strag_count_t count, ompi_datatype_t *dtype)
{
    size_t size;
    ompi_datatype_type_size(dtype, &size);
    return (size_t)count * size;
}

static struct coll_strag_ledger *begin(mca_coll_base_module_t *base)
{
    struct coll_strag_ledger *ledger = ((struct coll_strag_module *)base)->ledger;
    coll_strag_ledger_attach(ledger);
    ledger->outcome = outcome_before(ledger);
    ledger->number = ledger->entered++;
    return ledger;
}

int coll_strag_recorded_allreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                                  ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                                  mca_coll_base_module_t *base)
{
    const struct coll_strag_previous *previous = &((struct coll_strag_module *)base)->previous;
    struct strag_stay stay = {.begin = coll_strag_seconds()};
    struct coll_strag_ledger *ledger = begin(base);
    const uint32_t number = ledger->number; /* calls that were begun before may run meanwhile */
    const int code =
        ledger->declined
            ? previous->allreduce(sbuf, rbuf, count, dtype, op, comm, previous->allreduce_module)
            : coll_strag_allreduce(sbuf, rbuf, count, dtype, op, comm, base);
    const size_t bytes = bytes_of(count, dtype);
    stay.end = coll_strag_seconds();
    coll_strag_ledger_note(ledger, STRAG_LEDGER_BLOCKING, ledger->outcome, bytes, &stay);
    if (ledger->trace) {
        ledger->trace->call = number;
        strag_trace_call(ledger->trace, stay.begin, stay.end, bytes, ledger->outcome);
    }
    return code;
}

int coll_strag_recorded_iallreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                                   ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                                   ompi_request_t **request, mca_coll_base_module_t *base)
{
    const struct coll_strag_previous *previous = &((struct coll_strag_module *)base)->previous;
    struct coll_strag_ledger *ledger = ((struct coll_strag_module *)base)->ledger;
    const size_t bytes = bytes_of(count, dtype);
    const bool recorded = !coll_strag_is_for_new_communicator(bytes, op);
    if (recorded)
        (void)begin(base);
    const int code = ledger->declined
                         ? previous->iallreduce(sbuf, rbuf, count, dtype, op, comm, request,
                                                previous->iallreduce_module)
                         : coll_strag_iallreduce(sbuf, rbuf, count, dtype, op, comm, request, base);
    if (recorded)
        coll_strag_ledger_note(ledger, STRAG_LEDGER_NONBLOCKING, ledger->outcome, bytes, NULL);
    return code;
}

/* Starts of requests that strag handles are recorded where they are (persistent.c); those of others
 * are not seen, and MPI_Allreduce_init stands for them. */
int coll_strag_recorded_allreduce_init(const void *sbuf, void *rbuf, coll_strag_count_t count,
                                       ompi_datatype_t *dtype, ompi_op_t *op,
                                       ompi_communicator_t *comm, struct ompi_info_t *info,
                                       ompi_request_t **request, mca_coll_base_module_t *base)
{
    const struct coll_strag_previous *previous = &((struct coll_strag_module *)base)->previous;
    struct coll_strag_ledger *ledger = begin(base);
    const int code =
        ledger->declined
            ? previous->allreduce_init(sbuf, rbuf, count, dtype, op, comm, info, request,
                                       previous->allreduce_init_module)
            : coll_strag_allreduce_init(sbuf, rbuf, count, dtype, op, comm, info, request, base);
    if (ledger->outcome >= COLL_STRAG_OUTCOME_PREVIOUS)
        coll_strag_ledger_note(ledger, STRAG_LEDGER_PERSISTENT, ledger->outcome,
                               bytes_of(count, dtype), NULL);
    return code;
}

const struct coll_strag_ways coll_strag_recorded_ways = {coll_strag_recorded_allreduce,
                                                         coll_strag_recorded_iallreduce,
                                                         coll_strag_recorded_allreduce_init};
