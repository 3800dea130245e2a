/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stand-ins for the headers of Open MPI 5.0's and 6.0's thread package over POSIX threads, which
 * the -dev packages leave out although opal_config.h names them. Debian's builds use this package.
 */
#ifndef OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_H
#define OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_H

#include <pthread.h>
#include <sched.h>

#endif
