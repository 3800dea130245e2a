/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two communicators are saved (coll_strag_save) at the same time: a thread calls the first time on
 * ranks 0 and 1, and while it is about it another thread on all.
 *
 *     savers [--between MS]     from the first thread's beginning to the second's
 */
#include "common.h"

#include <pthread.h>
#include <time.h>

enum { COUNT = 5000, COMMS = 2 };

static MPI_Comm comms[COMMS];

static void *call(void *argument)
{
    MPI_Comm comm = *(MPI_Comm *)argument;
    static const double input[COUNT];
    double *output = test_allocate(sizeof input);
    if (comm != MPI_COMM_NULL)
        test_pass_first_calls(comm);
    if (comm != MPI_COMM_NULL)
        TEST_MPI(MPI_Allreduce(input, output, COUNT, MPI_DOUBLE, MPI_SUM, comm));
    free(output);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *between = "1000";
    const struct test_option options[] = {{"between", &between}, {NULL, NULL}};
    pthread_t threads[COMMS];
    test_start(&argc, &argv, "savers", MPI_THREAD_MULTIPLE, options);
    const long ms = test_number("between", between, 0, 100000);
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, test.rank < 2 ? 0 : MPI_UNDEFINED, 0, &comms[0]));
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    for (int i = 0; i < COMMS; i++) {
        if (pthread_create(&threads[i], NULL, call, &comms[i]) != 0)
            test_die("no thread can be started");
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    }
    for (int i = 0; i < COMMS; i++) {
        pthread_join(threads[i], NULL);
        if (comms[i] != MPI_COMM_NULL)
            TEST_MPI(MPI_Comm_free(&comms[i]));
    }
    TEST_CHECK(test_counters_read().calls + test_counters_read().delegated > 0,
               "strag has not run");
    return test_finish();
}
