/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_idup asks the ranks for a number by nonblocking collectives, which it begins in its own
 * progress: on ranks that look often before a call of the program's, on others behind it. So Open
 * MPI's counter of tags stands elsewhere on each rank in between. Here every other rank looks until
 * that is so; then persistent requests are made and started, or calls are watched: neither may use
 * that counter.
 *
 *     idup [--turns N]     run with a short window, and without shared memory
 */
#include "common.h"

#include <unistd.h>

enum { COUNT = 3000, CALLS = 12 };

static uint64_t words[CALLS][COUNT];

static uint64_t value(int rank, int turn, int call)
{
    return test_value(rank, (uint64_t)turn * CALLS + (uint64_t)call);
}

static void fill(int turn)
{
    for (int c = 0; c < CALLS; c++) {
        for (int i = 0; i < COUNT; i++)
            words[c][i] = value(test.rank, turn, c) + (uint64_t)i;
    }
}

static void check(int turn, const char *what)
{
    for (int c = 0; c < CALLS; c++) {
        int wrong = 0;
        for (int i = 0; i < COUNT; i++) {
            uint64_t sum = 0;
            for (int r = 0; r < test.n; r++)
                sum += value(r, turn, c) + (uint64_t)i;
            wrong += words[c][i] != sum;
        }
        TEST_CHECK(wrong == 0, "%s, turn %d: %d words of call %d are wrong", what, turn, wrong, c);
    }
}

/* Every other rank takes the next step of MPI_Comm_idup, if the others have taken the first one;
 * these are not in MPI meanwhile. */
static void begin_idup(MPI_Comm comm, int turn, MPI_Comm *another, MPI_Request *request)
{
    int done = 0;
    TEST_MPI(MPI_Barrier(comm));
    TEST_MPI(MPI_Comm_idup(comm, another, request));
    if ((turn + test.rank) % 2)
        usleep(20000);
    for (int look = 0; look < 100 && (turn + test.rank) % 2 == 0 && !done; look++) {
        usleep(100);
        TEST_MPI(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    }
}

static void end_idup(MPI_Comm *another, MPI_Request *request)
{
    TEST_MPI(MPI_Wait(request, MPI_STATUS_IGNORE));
    TEST_MPI(MPI_Comm_free(another));
}

static void call(MPI_Comm comm)
{
    for (int c = 0; c < CALLS; c++)
        TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, words[c], COUNT, MPI_UINT64_T, MPI_SUM, comm));
}

static void make_persistent(MPI_Comm comm, int turn)
{
#ifdef TEST_HAVE_PERSISTENT
    MPI_Request requests[CALLS], request;
    MPI_Comm another;
    begin_idup(comm, turn, &another, &request);
    for (int c = 0; c < CALLS; c++)
        TEST_MPI(TEST_PERSISTENT(Allreduce_init)(MPI_IN_PLACE, words[c], COUNT, MPI_UINT64_T,
                                                 MPI_SUM, comm, MPI_INFO_NULL, &requests[c]));
    for (int start = 0; start < 2; start++) {
        fill(turn);
        TEST_MPI(MPI_Startall(CALLS, requests));
        TEST_MPI(MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE));
        check(turn, "persistent");
    }
    end_idup(&another, &request);
    for (int c = 0; c < CALLS; c++)
        TEST_MPI(MPI_Request_free(&requests[c]));
#else
#endif
}

int main(int argc, char **argv)
{
    const char *turns = "20";
    const struct test_option options[] = {{"turns", &turns}, {NULL, NULL}};
    MPI_Comm comm, another;
    MPI_Request request;
    test_start(&argc, &argv, "idup", MPI_THREAD_SINGLE, options);
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    fill(0);
    call(comm);
    check(0, "before");
    const struct test_counters before = test_counters_read();
    for (int turn = 0; turn < (int)test_number("--turns", turns, 1, 100000); turn++) {
        begin_idup(comm, turn, &another, &request);
        fill(turn);
        call(comm);
        check(turn, "watched");
        end_idup(&another, &request);
        make_persistent(comm, turn);
    }
    if (test.expect_strag)
        TEST_CHECK(test_counters_read().calls > before.calls, "strag has run none of the calls");
    TEST_MPI(MPI_Comm_free(&comm));
    return test_finish();
}
