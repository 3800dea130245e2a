/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many random calls on many communicators of mixed sizes, each checked (caller.h), by one thread or
 * several. A thread has communicators of its own; all ranks' threads make the calls of theirs in
 * the same order.
 *
 *     soak [--calls N] [--communicators N] [--threads N] [--makers N] [--bytes N]
 *          [--algorithms A,B,..] [--fault KIND:N]
 *
 * --calls       of all communicators together (default 2000)
 * --makers      threads that duplicate communicators, use and free them meanwhile (default 0)
 * --bytes       of the longest vectors (default 1048576); one call of 64 may be that long
 * --algorithms  pinned in turn on the communicators that have all ranks; the others choose (auto)
 * --fault       the last rank does something wrong after N calls (caller.h), which must be noticed
 */
#include "caller.h"
#include "shapes.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS_MAX = 16, COMPARE_EVERY = 100, PINNED_MAX = 64, DUPS = 25 };

struct soak {
    long calls;
    int ncomms, nthreads, nmakers, npinned;
    struct caller_comm *comms; /* MPI_COMM_NULL: this rank is not a member */
    char *pinned[PINNED_MAX];  /* names, in `list` */
    char *list;
};

struct worker {
    const struct soak *soak;
    int index;
    struct caller caller;
};

/* ---- Communicators ---- */

/* Every fourth has all ranks, in the order of MPI_COMM_WORLD; others have some, in any order. */
static MPI_Comm make_comm(const struct soak *soak, int k)
{
    MPI_Comm comm;
    if (0 == k % 4) {
        const int turn = k / 4;
        if (soak->npinned > 0 && 0 != turn % 3)
            return test_pinned(MPI_COMM_WORLD, soak->pinned[turn % soak->npinned]);
        TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        return comm;
    }
    const uint64_t random = test_value(test.rank, (uint64_t)k);
    const int group = 1 == k % 4 ? (int)(random % 2) : 0 == random % 4 ? MPI_UNDEFINED : 0;
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, group, (int)(random >> 40), &comm));
    return comm;
}

static void make_comms(struct soak *soak)
{
    soak->comms = test_allocate((size_t)soak->ncomms * sizeof(*soak->comms));
    for (int k = 0; k < soak->ncomms; k++) {
        char name[32];
        snprintf(name, sizeof(name), "communicator %d", k);
        MPI_Comm comm = make_comm(soak, k);
        soak->comms[k].comm = comm;
        if (MPI_COMM_NULL == comm)
            continue;
        TEST_MPI(MPI_Comm_set_name(comm, name));
        soak->comms[k] = caller_open(comm, name);
    }
}

static void free_comms(struct soak *soak)
{
    for (int k = 0; k < soak->ncomms; k++)
        if (MPI_COMM_NULL != soak->comms[k].comm)
            TEST_MPI(MPI_Comm_free(&soak->comms[k].comm));
    free(soak->comms);
    free(soak->list);
}

/* ---- Calls ---- */

static struct caller_comm use_duplicate(struct caller *caller, const struct caller_comm *parent,
                                        int round)
{
    MPI_Comm comm;
    TEST_MPI(MPI_Comm_dup(parent->comm, &comm));
    struct caller_comm dup = caller_open(comm, "a duplicate");
    caller_call(caller, &dup, test_mix((uint64_t)round));
    return dup;
}

/* Duplicates of duplicates, so that a communicator's life overlaps with the other threads' work. */
static void duplicate_many(struct worker *worker)
{
    const struct soak *soak = worker->soak;
    for (int round = 0, k = worker->index; round < DUPS; round++) {
        if (MPI_COMM_NULL != soak->comms[k].comm) {
            struct caller_comm first = use_duplicate(&worker->caller, &soak->comms[k], round);
            struct caller_comm second = use_duplicate(&worker->caller, &first, round + DUPS);
            TEST_MPI(MPI_Comm_free(&first.comm));
            caller_call(&worker->caller, &second, test_mix((uint64_t)round + 2 * DUPS));
            caller_compare(&worker->caller, &second);
            TEST_MPI(MPI_Comm_free(&second.comm));
        }
        k = k + soak->nthreads < soak->ncomms ? k + soak->nthreads : worker->index;
    }
}

/* This thread's calls. A rank that comes late now and then finds the others in the midst of one. */
static void make_calls(struct worker *worker)
{
    const struct soak *soak = worker->soak;
    const int own = (soak->ncomms - worker->index + soak->nthreads - 1) / soak->nthreads;
    for (long i = worker->index; i < soak->calls; i += soak->nthreads) {
        const uint64_t random = test_mix(test.seed + test_mix((uint64_t)i));
        const int k = worker->index + (int)(random % (uint64_t)own) * soak->nthreads;
        struct caller_comm *comm = &soak->comms[k];
        if (MPI_COMM_NULL == comm->comm)
            continue;
        if (0 == test_value(test.rank, (uint64_t)i) % 64)
            usleep((useconds_t)(random >> 8 & 511));
        caller_call(&worker->caller, comm, random);
        if (0 == comm->calls % COMPARE_EVERY)
            caller_compare(&worker->caller, comm);
    }
    for (int k = worker->index; k < soak->ncomms; k += soak->nthreads)
        if (MPI_COMM_NULL != soak->comms[k].comm)
            caller_compare(&worker->caller, &soak->comms[k]);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    if (worker->index < worker->soak->nmakers)
        duplicate_many(worker);
    else
        make_calls(worker);
    return NULL;
}

/* @param fault  of the last rank's first thread */
static void run(struct soak *soak, size_t bytes, const char *fault)
{
    struct worker workers[THREADS_MAX] = {{0}};
    pthread_t threads[THREADS_MAX];
    const struct test_counters before = test_counters_read();
    for (int t = 0; t < soak->nthreads; t++) {
        workers[t] = (struct worker){.soak = soak, .index = t};
        caller_create(&workers[t].caller, bytes);
    }
    if (test.rank == test.n - 1)
        caller_spoil(&workers[0].caller, fault);
    for (int t = 1; t < soak->nthreads; t++)
        if (0 != pthread_create(&threads[t], NULL, work, &workers[t]))
            test_die("no thread can be started");
    work(&workers[0]);
    unsigned long long made = 0;
    for (int t = 0; t < soak->nthreads; t++) {
        if (t > 0)
            pthread_join(threads[t], NULL);
        made += (unsigned long long)workers[t].caller.made;
        caller_count(&workers[t].caller);
        caller_free(&workers[t].caller);
    }
    caller_ran(before, made);
}

/* ---- The program ---- */

static void read_list(struct soak *soak, const char *algorithms)
{
    char *rest = NULL;
    soak->list = strdup(algorithms);
    for (char *name = strtok_r(soak->list, ",", &rest); name && soak->npinned < PINNED_MAX;
         name = strtok_r(NULL, ",", &rest))
        soak->pinned[soak->npinned++] = name;
}

int main(int argc, char **argv)
{
    const char *calls = "2000", *communicators = "50", *threads = "1", *bytes = "1048576";
    const char *algorithms = "", *fault = "none", *makers = "0";
    const struct test_option options[] = {{"calls", &calls},     {"communicators", &communicators},
                                          {"threads", &threads}, {"makers", &makers},
                                          {"bytes", &bytes},     {"algorithms", &algorithms},
                                          {"fault", &fault},     {NULL, NULL}};
    test_start(&argc, &argv, "soak", MPI_THREAD_MULTIPLE, options);
    struct soak soak = {
        .calls = test_number("calls", calls, 1, 1000000000),
        .ncomms = (int)test_number("communicators", communicators, 1, 10000),
        .nthreads = (int)test_number("threads", threads, 1, THREADS_MAX),
        .nmakers = (int)test_number("makers", makers, 0, THREADS_MAX),
    };
    if (soak.nthreads > soak.ncomms)
        test_die("--threads %d: each needs a communicator", soak.nthreads);
    read_list(&soak, algorithms);
    caller_prepare();
    make_comms(&soak);
    run(&soak, (size_t)test_number("bytes", bytes, 65536, 1 << 30), fault);
    free_comms(&soak);
    shapes_free();
    return test_finish();
}
