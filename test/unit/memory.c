/* SPDX-License-Identifier: BSD-3-Clause */
/* The linker sends every call of malloc and its relatives to the functions here. */
#include "memory.h"

#include <malloc.h>
#include <stddef.h>

/* The names are the linker's: --wrap=malloc. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t items, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t items, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);

static _Thread_local struct {
    bool watching;
    int paused;
    long fail_at;
    struct memory_report report;
} watch;

void memory_watch(long fail_at)
{
    watch.watching = true;
    watch.paused = 0;
    watch.fail_at = fail_at;
    watch.report = (struct memory_report){0};
}

void memory_pause(void)
{
    watch.paused++;
}

void memory_resume(void)
{
    watch.paused--;
}

struct memory_report memory_unwatch(void)
{
    watch.watching = false;
    return watch.report;
}

static bool counted(void)
{
    return watch.watching && watch.paused == 0;
}

/* Count an allocation. @return whether it has to fail */
static bool fails(void)
{
    if (!counted() || ++watch.report.allocations != watch.fail_at)
        return false;
    watch.report.failed = true;
    return true;
}

static void *born(void *memory)
{
    watch.report.live += counted() && memory;
    watch.report.bytes += counted() ? (long)malloc_usable_size(memory) : 0;
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : born(__real_malloc(size));
}

void *__wrap_calloc(size_t items, size_t size)
{
    return fails() ? NULL : born(__real_calloc(items, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (fails())
        return NULL;
    const long before = counted() ? (long)malloc_usable_size(old) : 0;
    void *memory = __real_realloc(old, size);
    if (old && memory && counted())
        watch.report.bytes += (long)malloc_usable_size(memory) - before;
    return old ? memory : born(memory);
}

void __wrap_free(void *old)
{
    watch.report.live -= counted() && old;
    watch.report.bytes -= counted() ? (long)malloc_usable_size(old) : 0;
    __real_free(old);
}
