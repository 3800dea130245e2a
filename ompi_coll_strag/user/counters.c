/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters.h"

#include "manual/manual.h"

#include <pthread.h>
#include <string.h>

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
        [STRAG_COUNT_CALLS] = total.calls + total.nonblocking + total.persistent,
        [STRAG_COUNT_DELEGATED] = total.delegated,
        [STRAG_COUNT_NONBLOCKING] = total.nonblocking,
        [STRAG_COUNT_PERSISTENT] = total.persistent,
        [STRAG_COUNT_SETUPS_ASKED] = total.asked,
        [STRAG_COUNT_SETUPS_DERIVED] = total.derived,
    };
    *(unsigned long long *)value = totals[(uintptr_t)pvar->ctx];
    return OPAL_SUCCESS;
}

void coll_strag_counters_register(const mca_base_component_t *component)
{
    for (int v = 0; v < STRAG_COUNTERS; v++)
        mca_base_component_pvar_register(
            component, strag_variables[v].name + strlen(STRAG_PREFIX), strag_variables[v].help,
            OPAL_INFO_LVL_4, MPI_T_PVAR_CLASS_COUNTER, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
            MPI_T_BIND_NO_OBJECT, MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS,
            read_counter, NULL, NULL, (void *)(uintptr_t)v);
}
