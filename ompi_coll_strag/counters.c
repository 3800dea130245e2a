/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    struct coll_strag_count *first;
    struct coll_strag_count freed; /* what communicators had counted that are no more */
} counters = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add(struct coll_strag_count *total, const struct coll_strag_count *count)
{
    total->calls += count->calls;
    total->delegated += count->delegated;
    total->nonblocking += count->nonblocking;
    total->persistent += count->persistent;
    total->asked += count->asked;
    total->derived += count->derived;
    total->inherited += count->inherited;
}

void coll_strag_count_begin(struct coll_strag_count *count)
{
    pthread_mutex_lock(&counters.lock);
    *count = (struct coll_strag_count){.next = counters.first, .link = &counters.first};
    if (count->next)
        count->next->link = &count->next;
    counters.first = count;
    pthread_mutex_unlock(&counters.lock);
}

void coll_strag_count_end(struct coll_strag_count *count)
{
    pthread_mutex_lock(&counters.lock);
    *count->link = count->next;
    if (count->next)
        count->next->link = count->link;
    add(&counters.freed, count);
    pthread_mutex_unlock(&counters.lock);
}

enum counter { CALLS, DELEGATED, NONBLOCKING, PERSISTENT, ASKED, DERIVED, INHERITED };

static int read_counter(const struct mca_base_pvar_t *pvar, void *value, void *object)
{
    struct coll_strag_count total;
    (void)object;
    pthread_mutex_lock(&counters.lock);
    total = counters.freed;
    for (const struct coll_strag_count *count = counters.first; count; count = count->next) {
        add(&total, count);
    }
    pthread_mutex_unlock(&counters.lock);
    const unsigned long long totals[] = {
        [CALLS] = total.calls + total.nonblocking + total.persistent,
        [DELEGATED] = total.delegated,
        [NONBLOCKING] = total.nonblocking,
        [PERSISTENT] = total.persistent,
        [ASKED] = total.asked,
        [DERIVED] = total.derived,
        [INHERITED] = total.inherited,
    };
    *(unsigned long long *)value = totals[(uintptr_t)pvar->ctx];
    return OPAL_SUCCESS;
}

static void register_counter(const mca_base_component_t *component, enum counter counter,
                             const char *name, const char *help)
{
    mca_base_component_pvar_register(component, name, help, OPAL_INFO_LVL_4,
                                     MPI_T_PVAR_CLASS_COUNTER, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG,
                                     NULL, MPI_T_BIND_NO_OBJECT,
                                     MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS,
                                     read_counter, NULL, NULL, (void *)(uintptr_t)counter);
}

void coll_strag_counters_register(const mca_base_component_t *component)
{
    register_counter(
        component, CALLS, "calls",
        "allreduces of this process that coll/strag has run: blocking, nonblocking and "
        "persistent ones");
    register_counter(component, DELEGATED, "delegated",
                     "allreduces of this process that coll/strag has delegated, persistent ones "
                     "counted once");
    register_counter(component, NONBLOCKING, "nonblocking",
                     "MPI_Iallreduce calls of this process that coll/strag has run");
    register_counter(component, PERSISTENT, "persistent",
                     "starts of persistent allreduces of this process that coll/strag has run");
    register_counter(component, ASKED, "setups_asked",
                     "communicators whose ranks have told rank 0 where they are");
    register_counter(component, DERIVED, "setups_derived",
                     "communicators that were set up from what another one's ranks had told");
    register_counter(component, INHERITED, "setups_inherited",
                     "dups that were set up as their parents are");
}
