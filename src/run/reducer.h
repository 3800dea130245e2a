/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine computes with a reducer, which has temporary memory, reduction and copies. The one for
 * host memory, over MPI's operators, is in the component; a device's reductions may finish later
 * (STRAG_PENDING and test).
 */
#ifndef STRAG_REDUCER_H
#define STRAG_REDUCER_H

#include <stddef.h>
#include <stdint.h>

struct strag_reducer {
    /** Temporary space for this many elements, into which the transport can receive, and which
     *  `reduce` can read. @return NULL if there is none: the engine fails the call */
    void *(*allocate)(struct strag_reducer *reducer, size_t elements);

    /** Free the space. `lost`: a message may still arrive in it; never use it again. */
    void (*release)(struct strag_reducer *reducer, void *buffer, int lost);

    /**
     * out = left (op) right, element by element. `out` is the same address as `left` or as `right`,
     * or overlaps neither. Operands in temporary space of `allocate` may be overwritten. Other
     * operands are not changed: a message that is read in place is read by other ranks, too, and
     * the call's input is the caller's.
     *
     * @param[out] ticket  for `test`, if STRAG_PENDING is returned
     * @return STRAG_OK (done), STRAG_PENDING (continues), or STRAG_ERR_REDUCE
     */
    int (*reduce)(struct strag_reducer *reducer, void *out, const void *left, const void *right,
                  size_t elements, uint64_t *ticket);

    /** out = in; done on return. @return STRAG_OK or STRAG_ERR_REDUCE */
    int (*copy)(struct strag_reducer *reducer, void *out, const void *in, size_t elements);

    /** @return STRAG_OK if the reduction is done, STRAG_PENDING or STRAG_ERR_REDUCE. NULL if
     *  `reduce` never returns STRAG_PENDING. */
    int (*test)(struct strag_reducer *reducer, uint64_t ticket);
};

#endif
