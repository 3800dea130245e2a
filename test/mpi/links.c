/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts' links are watched, and algorithms tried: calls until links have been probed several times,
 * or this many where none is to be. Every result is checked. How many probes a job can afford
 * depends on what its calls and probes take, so that on a busy machine there may be one in all
 * calls.
 *
 *     links [--count N] [--also N] [--expect probes|none] [--calls N] [--more N]
 *
 * --also  elements of every second call
 * --more  calls each, then, on a dup of the communicator ("first") and on one with its ranks in
 * another order ("second", "third"): learn.sh reads what strag says of them
 */
#include "common.h"

enum { PROBES = 3, CALLS_MOST = 20000 };

static struct {
    int count, also;
    double *input, *output;
} job;

/* Values whose sum is exact in any order. */
static void allreduce(MPI_Comm comm, int call)
{
    const int count = call % 2 ? job.also : job.count;
    int rank, n;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < count; i++)
        job.input[i] = (double)(rank + 1) * (double)(i % 1000 + call % 7);
    TEST_MPI(MPI_Allreduce(job.input, job.output, count, MPI_DOUBLE, MPI_SUM, comm));
    long wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += job.output[i] != (double)n * (double)(n + 1) / 2 * (double)(i % 1000 + call % 7);
    TEST_CHECK(wrong == 0, "call %d: %ld elements are wrong", call, wrong);
}

static void run_more(MPI_Comm first, int calls)
{
    MPI_Comm comms[2];
    TEST_MPI(MPI_Comm_dup(first, &comms[0]));
    TEST_MPI(MPI_Comm_split(first, 0, -test.rank, &comms[1]));
    for (int c = 0; c < 2; c++) {
        TEST_MPI(MPI_Comm_set_name(comms[c], c ? "third" : "second"));
        for (int call = 0; call < calls; call++)
            allreduce(comms[c], call);
        TEST_MPI(MPI_Comm_free(&comms[c]));
    }
}

/* All ranks see a probe in the same call. Its result is arbitrary where all hosts are one machine;
 * it must be an existing rank, and more than 1. */
static int probes_of(MPI_Comm comm, int calls)
{
    int probes = 0, n, call;
    MPI_Comm_size(comm, &n);
    for (call = 0; call < calls && probes < PROBES; call++) {
        allreduce(comm, call);
        probes = (int)test_variable_read("coll_strag_slow_probes", comm);
        int slow = (int)test_variable_read("coll_strag_slow_rank", comm);
        double factor = test_variable_read("coll_strag_slow_factor", comm);
        TEST_CHECK(slow >= -1 && slow < n, "rank %d is slow", slow);
        TEST_CHECK(slow < 0 ? factor == 1 : factor > 1, "rank %d is slow by %g", slow, factor);
    }
    if (test.rank == 0)
        printf("links: np %d: %d probes in %d calls\n", n, probes, call);
    return probes;
}

int main(int argc, char **argv)
{
    const char *count = "32768", *also = NULL, *expect = "probes", *calls = "200", *more = "0";
    const struct test_option options[] = {{"count", &count}, {"also", &also}, {"expect", &expect},
                                          {"calls", &calls}, {"more", &more}, {NULL, NULL}};
    MPI_Comm comm;
    test_start(&argc, &argv, "links", MPI_THREAD_SINGLE, options);
    job.count = (int)test_number("count", count, 1, 100000000);
    job.also = also ? (int)test_number("also", also, 1, job.count) : job.count;
    job.input = test_allocate((size_t)job.count * sizeof *job.input);
    job.output = test_allocate((size_t)job.count * sizeof *job.output);
    bool wanted = strcmp(expect, "probes") == 0;
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    TEST_MPI(MPI_Comm_set_name(comm, "first"));
    int probes =
        probes_of(comm, wanted ? CALLS_MOST : (int)test_number("calls", calls, 1, CALLS_MOST));
    /* One that is to be confirmed may be followed by another one in the same call. */
    TEST_CHECK(wanted ? probes >= 1 && probes <= PROBES + 1 : probes == 0, "%d probes", probes);
    run_more(comm, (int)test_number("more", more, 0, CALLS_MOST));
    TEST_MPI(MPI_Comm_free(&comm));
    free(job.input);
    free(job.output);
    return test_finish();
}
