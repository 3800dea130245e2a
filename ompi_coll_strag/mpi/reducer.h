/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's arithmetic: MPI's operators on host memory, and the temporary space they need. */
#ifndef COLL_STRAG_REDUCER_H
#define COLL_STRAG_REDUCER_H

#include "compat/compat.h"

#include "run/reducer.h"

enum { COLL_STRAG_REDUCE_PIECE = 16384 }; /* bytes that are copied and reduced at a time */

struct coll_strag_reducer {
    struct strag_reducer super;
    const char *space; /* the temporary space that was allocated, or NULL */
    size_t space_bytes;
    ompi_op_t *op;
    ompi_datatype_t *dtype;
    ptrdiff_t extent;      /* bytes from one element to the next */
    ptrdiff_t true_lb;     /* where an element's data begins */
    ptrdiff_t true_extent; /* bytes from its first data to its last */
    bool in_place;         /* an operand may be a message in place, which must not be changed */
    bool writes_both;      /* the operator may write its first argument, too: it is a user's */
};

/** Get ready for a call. @return STRAG_OK, or STRAG_ERR_REDUCE */
int coll_strag_reducer_init(struct coll_strag_reducer *reducer, ompi_op_t *op,
                            ompi_datatype_t *dtype);

/** Free all temporary space that is kept. */
void coll_strag_spaces_free(void);

#endif
