/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting allocations, and letting one of them fail. A program that uses this is linked with
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free. Each thread has its own watch.
 */
#ifndef STRAG_TEST_MEMORY_H
#define STRAG_TEST_MEMORY_H

#include <stdbool.h>

struct memory_report {
    long allocations; /* successful or not */
    long live;        /* allocated and not freed again */
    long bytes;       /* of these, as the allocator rounds them */
    bool failed;      /* the allocation that was to fail did */
};

/** Begin to watch this thread. @param fail_at  this allocation fails, counted from 1; 0: none */
void memory_watch(long fail_at);

/** Look away for a while; may be nested, and does nothing when nobody watches. */
void memory_pause(void);
void memory_resume(void);

/** End the watch. */
struct memory_report memory_unwatch(void);

#endif
