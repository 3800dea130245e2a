/* SPDX-License-Identifier: BSD-3-Clause */
/* How many calls strag has run, and how many it has delegated: performance variables. */
#ifndef COLL_STRAG_COUNTERS_H
#define COLL_STRAG_COUNTERS_H

#include "compat/compat.h"

#include "manual/manual.h"

/* Over all communicators. */
extern unsigned long long coll_strag_counters[STRAG_COUNTERS];

/** Count a call. @param counter  STRAG_COUNT_... */
static inline void coll_strag_count(enum strag_variable_id counter)
{
    if (opal_using_threads())
        (void)__atomic_fetch_add(&coll_strag_counters[counter], 1, __ATOMIC_RELAXED);
    else
        ++coll_strag_counters[counter];
}

void coll_strag_counters_register(const mca_base_component_t *component);

#endif
