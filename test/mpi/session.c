/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that has a session alone, and no MPI_COMM_WORLD: strag runs its calls, and knows the
 * ranks of the job.
 *
 * With the argument "finalize" it has MPI_COMM_WORLD, too. Rank 0 begins a call on the session's
 * communicator before MPI_Finalize, the others after it: MPI_Finalize must not wait for that call.
 */
#include "common.h"

#if OMPI_MAJOR_VERSION >= 5

enum { COUNT = 40000, CALLS = 6 };

static double in[COUNT], out[COUNT];

static void fill(int value)
{
    for (int i = 0; i < COUNT; i++)
        in[i] = value;
}

static int wrong_ones(double sum)
{
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += out[i] != sum;
    return wrong;
}

static int finalize_between(MPI_Comm comm, int rank, int n)
{
    MPI_Request request;
    fill(rank);
    if (rank != 0)
        TEST_MPI(MPI_Finalize());
    TEST_MPI(MPI_Iallreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, comm, &request));
    if (rank == 0)
        TEST_MPI(MPI_Finalize());
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return wrong_ones(n * (n - 1) / 2);
}

int main(int argc, char **argv)
{
    const bool finalize = argc > 1 && strcmp(argv[1], "finalize") == 0;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, n, wrong = 0;
    if (finalize)
        TEST_MPI(MPI_Init(&argc, &argv));
    TEST_MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    TEST_MPI(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    TEST_MPI(
        MPI_Comm_create_from_group(group, "session", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    TEST_MPI(MPI_Comm_rank(comm, &rank));
    TEST_MPI(MPI_Comm_size(comm, &n));
    for (int call = 0; call < CALLS && !finalize; call++) {
        fill(rank + call);
        TEST_MPI(MPI_Allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, comm));
        wrong += wrong_ones(n * (n - 1) / 2 + n * call);
    }
    if (finalize)
        wrong = finalize_between(comm, rank, n);
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
