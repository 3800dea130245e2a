/* SPDX-License-Identifier: BSD-3-Clause */
/* How many calls strag has run, and how many it has delegated: performance variables. */
#ifndef COLL_STRAG_COUNTERS_H
#define COLL_STRAG_COUNTERS_H

#include "compat/compat.h"

/* A communicator's, counted without atomics by the thread that is in the call. */
struct coll_strag_count {
    unsigned long long calls;                     /* that strag has run */
    unsigned long long delegated;                 /* that it has handed to the previous component */
    unsigned long long nonblocking;               /* of `calls`: by MPI_Iallreduce */
    unsigned long long asked, derived, inherited; /* setups: anew, from another communicator's,
                                                     a dup's from its parent's */
    struct coll_strag_count *next, **link;        /* in the process's list */
};

/** Begin to count at 0. */
void coll_strag_count_begin(struct coll_strag_count *count);

/** Keep the sum of a communicator that is being freed. */
void coll_strag_count_end(struct coll_strag_count *count);

void coll_strag_counters_register(const mca_base_component_t *component);

#endif
