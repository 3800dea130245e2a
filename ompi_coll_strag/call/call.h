/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One allreduce: its arguments, and what runs it. Blocking calls (blocking.c), nonblocking ones
 * (nonblocking.c) and persistent ones (persistent.c) are all filled in here, chosen for (choose.h)
 * and run (run.h).
 */
#ifndef COLL_STRAG_CALL_H
#define COLL_STRAG_CALL_H

#include "choice/explain.h"
#include "shared/module.h"
#include "wire/device_buffer.h"

enum coll_strag_kind { COLL_STRAG_BLOCKING, COLL_STRAG_NONBLOCKING, COLL_STRAG_PERSISTENT };

/* One call: its arguments, and what was chosen to run it. */
struct coll_strag_call {
    enum coll_strag_kind kind;
    struct coll_strag_module *module;
    ompi_communicator_t *comm;
    const void *input; /* equal to output if the call is in place */
    void *output;
    size_t count;
    size_t size; /* bytes of data in one element */
    ompi_datatype_t *dtype;
    ompi_op_t *op;
    const struct coll_strag_buffer_locations *locations; /* NULL if all are in host memory */
    struct coll_strag_choice choice;
    bool from_table;                   /* not by a rule, a user plan or an experiment */
    struct coll_strag_without without; /* which rank is not waited for */
    uint64_t number;                   /* among the communicator's calls, or a request's starts */
    uint32_t recorded;                 /* its number in the ledger, if there is one */
};

/** Fill in a call from MPI's arguments. Members are assigned one by one, since the compiler would
 * set the whole structure with an instruction that takes 10 ns.
 *
 * @param sbuf       may be MPI_IN_PLACE
 * @param locations  filled in if a buffer is on a device; must outlive the call */
static inline void coll_strag_call_fill(struct coll_strag_call *call, enum coll_strag_kind kind,
                                        const void *sbuf, void *rbuf, size_t count,
                                        ompi_datatype_t *dtype, ompi_op_t *op,
                                        ompi_communicator_t *comm, struct coll_strag_module *module,
                                        struct coll_strag_buffer_locations *locations)
{
    call->kind = kind;
    call->module = module;
    call->comm = comm;
    call->input = MPI_IN_PLACE == sbuf ? rbuf : sbuf;
    call->output = rbuf;
    call->count = count;
    call->dtype = dtype;
    call->op = op;
    call->locations = __builtin_expect(coll_strag_settings.devices, 0) &&
                              coll_strag_device_find(sbuf, rbuf, dtype, locations)
                          ? locations
                          : NULL;
    call->choice.algorithm = NULL;
    call->choice.blocks = 0;
    call->from_table = false;
    call->without.turn = STRAG_DYNAMIC_OUTSIDE;
    call->without.rank = -1;
    ompi_datatype_type_size(dtype, &call->size);
}

/** Retain a request's communicator, operator and type; the next function releases them. */
static inline void coll_strag_call_retain(const struct coll_strag_call *call)
{
    OBJ_RETAIN(call->comm);
    if (!ompi_datatype_is_predefined(call->dtype))
        OBJ_RETAIN(call->dtype);
    if (!ompi_op_is_intrinsic(call->op))
        OBJ_RETAIN(call->op);
}

static inline void coll_strag_call_release(const struct coll_strag_call *call)
{
    ompi_communicator_t *comm = call->comm;
    ompi_datatype_t *dtype = call->dtype;
    ompi_op_t *op = call->op;
    if (!ompi_datatype_is_predefined(dtype))
        OBJ_RELEASE(dtype);
    if (!ompi_op_is_intrinsic(op))
        OBJ_RELEASE(op);
    OBJ_RELEASE(comm);
}

#endif
