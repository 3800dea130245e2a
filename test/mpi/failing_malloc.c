/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded: of the allocations that the component itself makes in MPI_Allreduce, number
 * FAILING_MALLOC (from 1) fails, and with FAILING_MALLOC_ON=1 all after it. Only on the rank
 * FAILING_MALLOC_RANK of MPI_COMM_WORLD. (While communicators are made, Open MPI itself does not
 * survive it.) At the end of the process: how many there were.
 */
#define _GNU_SOURCE /* dladdr */

#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* glibc's own. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static _Thread_local bool in_allreduce;
static atomic_long made;
static long failing; /* 0: none */
static bool on;

static __attribute__((constructor)) void begin(void)
{
    const char *number = getenv("FAILING_MALLOC"), *where = getenv("FAILING_MALLOC_RANK");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *later = getenv("FAILING_MALLOC_ON");
    if (!number || !where || !rank || strcmp(where, rank) != 0)
        return;
    failing = strtol(number, NULL, 10);
    on = later && strcmp(later, "1") == 0;
}

static __attribute__((destructor)) void end(void)
{
    if (failing)
        fprintf(stderr, "failing_malloc: %ld allocations\n", atomic_load(&made));
}

static bool fails(const void *caller)
{
    Dl_info info;
    if (!failing || !in_allreduce || !dladdr(caller, &info) || !info.dli_fname ||
        !strstr(info.dli_fname, "mca_coll_strag"))
        return false;
    long number = atomic_fetch_add(&made, 1) + 1;
    return number == failing || (on && number > failing);
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

int MPI_Allreduce(const void *input, void *output, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    in_allreduce = true;
    int code = PMPI_Allreduce(input, output, count, type, op, comm);
    in_allreduce = false;
    return code;
}
