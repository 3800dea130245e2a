/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stand-in (see threads_pthreads.h): what opal/mca/threads/mutex.h wants of a thread package. The
 * types must be these: the installed libraries have them inside their own structures.
 */
#ifndef OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_MUTEX_H
#define OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_MUTEX_H

#include "opal/constants.h"
#include "opal/mca/threads/pthreads/threads_pthreads.h"

#include <stdbool.h>

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;

#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_COND_INITIALIZER  PTHREAD_COND_INITIALIZER
#if defined(PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP)
#define OPAL_THREAD_INTERNAL_RECURSIVE_MUTEX_INITIALIZER PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
#endif

static inline int opal_thread_internal_mutex_init(opal_thread_internal_mutex_t *mutex,
                                                  bool recursive)
{
    pthread_mutexattr_t attributes;
    int failed;

    if (pthread_mutexattr_init(&attributes) != 0) {
        return OPAL_ERR_IN_ERRNO;
    }
    failed = pthread_mutexattr_settype(&attributes,
                                       recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_DEFAULT);
    if (failed == 0) {
        failed = pthread_mutex_init(mutex, &attributes);
    }
    (void)pthread_mutexattr_destroy(&attributes);
    return failed == 0 ? OPAL_SUCCESS : OPAL_ERR_IN_ERRNO;
}

static inline void opal_thread_internal_mutex_lock(opal_thread_internal_mutex_t *mutex)
{
    (void)pthread_mutex_lock(mutex);
}

static inline int opal_thread_internal_mutex_trylock(opal_thread_internal_mutex_t *mutex)
{
    return pthread_mutex_trylock(mutex) == 0 ? 0 : 1;
}

static inline void opal_thread_internal_mutex_unlock(opal_thread_internal_mutex_t *mutex)
{
    (void)pthread_mutex_unlock(mutex);
}

static inline void opal_thread_internal_mutex_destroy(opal_thread_internal_mutex_t *mutex)
{
    (void)pthread_mutex_destroy(mutex);
}

static inline int opal_thread_internal_cond_init(opal_thread_internal_cond_t *condition)
{
    return pthread_cond_init(condition, NULL) == 0 ? OPAL_SUCCESS : OPAL_ERR_IN_ERRNO;
}

static inline void opal_thread_internal_cond_signal(opal_thread_internal_cond_t *condition)
{
    (void)pthread_cond_signal(condition);
}

static inline void opal_thread_internal_cond_destroy(opal_thread_internal_cond_t *condition)
{
    (void)pthread_cond_destroy(condition);
}

#endif
