/* SPDX-License-Identifier: BSD-3-Clause */
/* How many calls strag has run, and how many it has delegated: performance variables. */
#ifndef COLL_STRAG_COUNTERS_H
#define COLL_STRAG_COUNTERS_H

#include "compat/compat.h"

/* A communicator's, counted without atomics by the thread that is in the call. */
struct coll_strag_count {
    unsigned long long calls;                   /* that strag has run */
    unsigned long long delegated;               /* that it has handed to the previous component */
    unsigned long long nonblocking, persistent; /* MPI_Iallreduce, starts of MPI_Allreduce_init's
                                                   requests that strag has run; not in `calls` */
    unsigned long long asked, derived;          /* setups: by asking everybody, and from another
                                                   communicator's */
    struct coll_strag_count *next, **link;      /* in the process's list */
};

/** Begin to count at 0. */
void coll_strag_count_begin(struct coll_strag_count *count);

/** Keep the sum of a communicator that is being freed. */
void coll_strag_count_end(struct coll_strag_count *count);

/** Count one more where several threads may do so. */
static inline void coll_strag_count(unsigned long long *counter)
{
    if (opal_using_threads())
        (void)__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
    else
        ++*counter;
}

void coll_strag_counters_register(const mca_base_component_t *component);

#endif
