/* SPDX-License-Identifier: BSD-3-Clause */
/* Stand-in (see threads_pthreads.h): what opal/mca/threads/threads.h wants of a thread package. */
#ifndef OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_THREADS_H
#define OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_THREADS_H

#include "opal/mca/threads/pthreads/threads_pthreads.h"

static inline void opal_thread_yield(void)
{
    (void)sched_yield();
}

#endif
