/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What failing.c, which is preloaded, provides to a program; without it these are NULL.
 */
#ifndef TEST_MPI_FAILING_H
#define TEST_MPI_FAILING_H

#include <mpi.h>
#include <stdbool.h>

/** From now on one place fails in this process, of those that the component comes to in calls of
 * MPI's allreduces.
 * @param what    memory, making, post or request (failing.c)
 * @param number  of the place, from 1; 0: none fails, they are only counted
 * @param on      all after it fail, too */
__attribute__((weak)) void failing_begin(const char *what, long number, bool on);

/** None fails any more. @return how many places it has come to */
__attribute__((weak)) long failing_end(void);

/** Keep a communicator's memory, though the program frees it. */
__attribute__((weak)) void failing_keep(MPI_Comm comm);

/** @return whether somebody else still keeps it, too */
__attribute__((weak)) bool failing_let_go(MPI_Comm comm);

#endif
