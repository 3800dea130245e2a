/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stand-ins for what ompi_coll_strag/mpi/queue.c needs of Open MPI, in place of compat/compat.h: a
 * communicator is a count of references, progress calls what is registered.
 */
#ifndef COLL_STRAG_COMPAT_H
#define COLL_STRAG_COMPAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPAL_SUCCESS = 0 };

typedef struct ompi_communicator_t {
    int references; /* atomic */
} ompi_communicator_t;

#define OBJ_RETAIN(comm_)  ((void)__atomic_fetch_add(&(comm_)->references, 1, __ATOMIC_RELAXED))
#define OBJ_RELEASE(comm_) ((void)__atomic_fetch_sub(&(comm_)->references, 1, __ATOMIC_RELEASE))

extern bool opal_progress_yield_when_idle;

bool opal_using_threads(void);
int opal_progress_register(int (*progress)(void));
int opal_progress_unregister(int (*progress)(void));
int opal_progress(void);

#endif
