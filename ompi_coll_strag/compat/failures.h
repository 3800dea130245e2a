/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures from which the program recovers by itself: ULFM, from Open MPI 5.0 on, in a job that was
 * started for it (mpirun --with-ft ulfm). If a communicator is revoked there, or one of its
 * processes dies, its calls must end with an error on every rank. Open MPI informs every process in
 * its progress, and what it sets in the communicator stays set: ranks that wait look here.
 */
#ifndef COLL_STRAG_COMPAT_FAILURES_H
#define COLL_STRAG_COMPAT_FAILURES_H

#include "compat.h"

#if OMPI_MAJOR_VERSION >= 5 && OPAL_ENABLE_FT_MPI

#include "ompi/runtime/params.h"

/** Does Open MPI tell processes of failures in this job? */
static inline bool coll_strag_repairs(void)
{
    return ompi_ftmpi_enabled;
}

/** Set as soon as collective calls of the communicator are to end with an error; lives as long as
 * the communicator. NULL if that never happens. */
static inline const volatile bool *coll_strag_failure_flag(const ompi_communicator_t *comm)
{
    return ompi_ftmpi_enabled ? &comm->coll_revoked : NULL;
}

/** @return the error with which the communicator's calls are to end; OMPI_SUCCESS if there is none
 */
static inline int coll_strag_failure(const ompi_communicator_t *comm)
{
    const volatile bool *failed = &comm->coll_revoked, *revoked = &comm->comm_revoked;
    if (!*failed)
        return OMPI_SUCCESS;
    return *revoked ? MPI_ERR_REVOKED : MPI_ERR_PROC_FAILED;
}

#else

static inline bool coll_strag_repairs(void)
{
    return false;
}

static inline const volatile bool *coll_strag_failure_flag(const ompi_communicator_t *comm)
{
    (void)comm;
    return NULL;
}

static inline int coll_strag_failure(const ompi_communicator_t *comm)
{
    (void)comm;
    return OMPI_SUCCESS;
}

#endif

#endif
