/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator on which a call has failed so that later calls cannot be right: its messages may
 * be left, and be taken for theirs, or ranks are not in step any more. Members are atomic.
 */
#ifndef COLL_STRAG_FAILURE_H
#define COLL_STRAG_FAILURE_H

#include "compat/failures.h"

struct coll_strag_failure {
    ompi_communicator_t *comm;
    int code;       /* all later calls end with it; OMPI_SUCCESS if it has not failed */
    bool undecided; /* a rank does not know which calls strag runs */
};

/** Has the communicator failed, so that other ranks' messages may never come? Functions that wait
 * for them must check this. @return OMPI_SUCCESS, or the error */
static inline int coll_strag_failed(const struct coll_strag_failure *failure)
{
    const int code = __atomic_load_n(&failure->code, __ATOMIC_RELAXED);
    return __builtin_expect(code != OMPI_SUCCESS, 0) ? code : coll_strag_failure(failure->comm);
}

/** Do all ranks know which calls strag runs? If not, all calls fail for which they have to know.
 * @return OMPI_SUCCESS, or the error with which this rank or another one has left setup */
static inline int coll_strag_undecided(const struct coll_strag_failure *failure)
{
    return __builtin_expect(__atomic_load_n(&failure->undecided, __ATOMIC_RELAXED), 0)
               ? coll_strag_failed(failure)
               : OMPI_SUCCESS;
}

/** Record an error. The first one counts: from then on the communicator is kept until MPI_Finalize,
 * even if the user frees it. */
static inline void coll_strag_note_failure(struct coll_strag_failure *failure, int code,
                                           bool undecided)
{
    int none = OMPI_SUCCESS;
    if (undecided)
        __atomic_store_n(&failure->undecided, true, __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&failure->code, &none, code, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
        OBJ_RETAIN(failure->comm);
}

#endif
