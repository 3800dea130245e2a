/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank is late, but lives, and rank 0, which waits for it, may take it for dead:
 *
 *     alive --what files     rank 0 can open no file, and so cannot find out whether it lives
 *     alive --what thread    the ranks' first threads have ended; others call MPI
 *
 * The call ends with the right result.
 */
#include "common.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    LATE = 3 /* seconds */,
    MOST = 100,
    COUNT = 500 /* Open MPI cannot read longer messages of a process whose first thread has ended */
};

static struct {
    int argc;
    char **argv;
    pthread_t first;
    sem_t may_end; /* the first thread: setup is done, and the process is watched */
} job;

static int files[MOST], nfiles;

static void open_all_files(void)
{
    const struct rlimit limit = {MOST, MOST};
    setrlimit(RLIMIT_NOFILE, &limit);
    while (nfiles < MOST && (files[nfiles] = open("/dev/null", O_RDONLY)) >= 0)
        nfiles++;
}

static void allreduce(int factor)
{
    static double input[COUNT], output[COUNT];
    for (int i = 0; i < COUNT; i++)
        input[i] = factor * (test.rank + 1 + i % 7);
    TEST_MPI(MPI_Allreduce(input, output, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    const int ranks = test.n * (test.n + 1) / 2;
    for (int i = 0; i < COUNT; i += 97)
        TEST_CHECK(output[i] == factor * (ranks + test.n * (i % 7)), "element %d is %g", i,
                   output[i]);
}

static void *run(void *unused)
{
    const char *what = "files";
    const struct test_option options[] = {{"what", &what}, {NULL, NULL}};
    (void)unused;
    test_start(&job.argc, &job.argv, "alive", MPI_THREAD_SERIALIZED, options);
    for (int call = 1; call < 8; call++)
        allreduce(call);
    if (strcmp(what, "thread") == 0) {
        sem_post(&job.may_end);
        pthread_join(job.first, NULL);
    } else if (test.rank == 0) {
        open_all_files();
    }
    if (test.rank != 0)
        sleep(LATE);
    allreduce(8);
    while (nfiles > 0)
        close(files[--nfiles]);
    exit(test_finish());
}

int main(int argc, char **argv)
{
    pthread_t other;
    job.argc = argc;
    job.argv = argv;
    job.first = pthread_self();
    if (sem_init(&job.may_end, 0, 0) != 0 || pthread_create(&other, NULL, run, NULL) != 0)
        return 1;
    while (sem_wait(&job.may_end) != 0)
        ;
    pthread_exit(NULL);
}
