/* SPDX-License-Identifier: BSD-3-Clause */
#include "module.h"

void coll_strag_fail(struct coll_strag_module *module, int code, bool undecided)
{
    if (coll_strag_failure(module->failure.comm) != OMPI_SUCCESS)
        return; /* Open MPI tells all ranks of its own failures */
    coll_strag_note_failure(&module->failure, code, undecided);
    if (coll_strag_undecided(&module->failure) != OMPI_SUCCESS)
        module->delegate_below = 0; /* delegate only what all ranks know to delegate */
}
