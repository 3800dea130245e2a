/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the engine needs to compute: temporary memory, reduction, copies. The one for host memory,
 * over MPI's operators, is in the component; a device's may finish later (STRAG_PENDING and test).
 */
#ifndef STRAG_REDUCER_H
#define STRAG_REDUCER_H

#include <stddef.h>
#include <stdint.h>

struct strag_reducer {
    /** Temporary space for this many elements, at an address that the transport can receive into
     *  and `reduce` can read. @return NULL when there is none: the engine fails the call */
    void *(*allocate)(struct strag_reducer *reducer, size_t elements);

    /** Free the space. `lost`: a message may still arrive in it; never use it again. */
    void (*release)(struct strag_reducer *reducer, void *buffer, int lost);

    /**
     * out = left (op) right, element by element. `out` is the same address as `left` or as `right`,
     * or overlaps neither. The values of operands in temporary space of `allocate` may be
     * destroyed. Other operands are not changed: what a transport lends in place is read by other
     * ranks, too, and the call's input is its caller's.
     *
     * @param[out] ticket  when STRAG_PENDING is returned: for `test`
     * @return STRAG_OK (done), STRAG_PENDING (continues), or STRAG_ERR_REDUCE
     */
    int (*reduce)(struct strag_reducer *reducer, void *out, const void *left, const void *right,
                  size_t elements, uint64_t *ticket);

    /** out = in; done on return. @return STRAG_OK or STRAG_ERR_REDUCE */
    int (*copy)(struct strag_reducer *reducer, void *out, const void *in, size_t elements);

    /** Is it done? STRAG_OK, STRAG_PENDING, or STRAG_ERR_REDUCE. Unused if reduce never pends. */
    int (*test)(struct strag_reducer *reducer, uint64_t ticket);
};

#endif
