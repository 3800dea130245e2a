/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_COMM_WORLD, and how its ranks tell communicators apart. */
#ifndef COLL_STRAG_COMPAT_WORLD_H
#define COLL_STRAG_COMPAT_WORLD_H

#include "compat.h"

/* MPI_COMM_WORLD while messages can be sent over it, which is while it has collectives; NULL in a
 * process that has sessions only. (There Open MPI may make it for itself, but not for the PML.) */
static inline ompi_communicator_t *coll_strag_world(void)
{
    return ompi_mpi_comm_world.comm.c_coll ? &ompi_mpi_comm_world.comm : NULL;
}

/* How many ranks the job has. @return 0 if not known, in a process that has sessions only */
static inline int coll_strag_world_size(void)
{
    const ompi_group_t *group = ompi_mpi_comm_world.comm.c_local_group;
    return group ? group->grp_proc_count : 0;
}

/* Does MPI_Finalize end the communicator? One of a session is freed by the program, also later. */
static inline bool coll_strag_is_finalized(const ompi_communicator_t *comm)
{
#if OMPI_MAJOR_VERSION >= 5
    return NULL == comm->instance || comm->instance == ompi_mpi_comm_world.comm.instance;
#else
    (void)comm;
    return true;
#endif
}

/* Are all processes of a communicator of this one's job? */
static inline bool coll_strag_is_of_this_job(const ompi_communicator_t *comm)
{
    bool ours = true;
    for (int rank = 0; rank < comm->c_local_group->grp_proc_count && ours; rank++)
        ours = ompi_group_get_proc_name(comm->c_local_group, rank).jobid == OPAL_PROC_MY_NAME.jobid;
    return ours;
}

/* A number that is the same on all ranks of a communicator; no other one of this process has it. */
static inline uint64_t coll_strag_comm_number(const ompi_communicator_t *comm)
{
#if OMPI_MAJOR_VERSION >= 5
    return comm->c_contextid.cid_base + 0x9e3779b97f4a7c15 * comm->c_contextid.cid_sub.u64;
#else
    return comm->c_contextid;
#endif
}

#endif
