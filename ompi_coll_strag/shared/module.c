/* SPDX-License-Identifier: BSD-3-Clause */
#include "module.h"

static void fail(struct coll_strag_module *module, int code, bool undecided)
{
    ompi_communicator_t *comm = module->failure.comm;
    if (coll_strag_failure(comm) != OMPI_SUCCESS) /* of that Open MPI tells all ranks */
        return;
    coll_strag_note_failure(&module->failure, code, undecided);
    if (!__atomic_exchange_n(&module->failure.kept, true, __ATOMIC_RELAXED))
        OBJ_RETAIN(comm);
}

void coll_strag_fail(struct coll_strag_module *module, int code)
{
    fail(module, code, false);
}

void coll_strag_fail_undecided(struct coll_strag_module *module, int code)
{
    fail(module, code, true);
    module->delegate_below = 0; /* the previous component's calls must be known to all */
}
