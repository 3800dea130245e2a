/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that has a session alone, and no MPI_COMM_WORLD: strag runs its calls, and knows the
 * ranks of the job.
 */
#include "common.h"

#if OMPI_MAJOR_VERSION >= 5

enum { COUNT = 40000, CALLS = 6 };

int main(void)
{
    static double in[COUNT], out[COUNT];
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, n, wrong = 0;
    TEST_MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    TEST_MPI(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    TEST_MPI(
        MPI_Comm_create_from_group(group, "session", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    TEST_MPI(MPI_Comm_rank(comm, &rank));
    TEST_MPI(MPI_Comm_size(comm, &n));
    for (int call = 0; call < CALLS; call++) {
        for (int i = 0; i < COUNT; i++)
            in[i] = rank + call;
        TEST_MPI(MPI_Allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, comm));
        for (int i = 0; i < COUNT; i++)
            wrong += out[i] != n * (n - 1) / 2 + n * call;
    }
    TEST_MPI(MPI_Comm_free(&comm));
    TEST_MPI(MPI_Group_free(&group));
    TEST_MPI(MPI_Session_finalize(&session));
    if (wrong)
        fprintf(stderr, "session: rank %d: %d elements are wrong\n", rank, wrong);
    return wrong > 0;
}

#else

int main(void)
{
    return TEST_SKIP;
}

#endif
