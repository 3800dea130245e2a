/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the memory that ranks share takes of a process, with many communicators: addresses, pages,
 * that core files leave it out; and that later ones use it again.
 *
 *     memory [--communicators N] [--longest BYTES] [--limit fsize|as|nofile|none] [--limited RANK]
 *
 * Two rounds make N communicators (8), use all of them, and free them. With --limit the process, or
 * that of one rank, first gets a low limit; then only the results are checked.
 *
 * Expects a pinned algorithm. MPI_COMM_WORLD is not used for MPI_Allreduce.
 */
#include "common.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

enum { KIB = 1024, MIB = 1024 * KIB, MAPPED_MOST = 256 * MIB, TOUCHED_MOST = 32 * MIB };

/* Of a process; bytes, but for the last two. */
struct memory {
    long mapped, touched;   /* memory of strag */
    long shared, addresses; /* of the process in all: pages that it shares, addresses */
    long dumped;            /* mappings of strag that go into core files */
    long files;             /* descriptors */
};

static int *input, *output;

/* ---- Looking ---- */

static void look_at_mappings(struct memory *memory)
{
    char line[512];
    bool ours = false;
    long kib;
    FILE *file = fopen("/proc/self/smaps", "re");
    if (!file)
        test_die("no /proc/self/smaps");
    while (fgets(line, sizeof line, file)) {
        unsigned long begin, end;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            ours = strstr(line, "/SYSV00000000") != NULL;
        if (!ours)
            continue;
        if (sscanf(line, "Size: %ld kB", &kib) == 1)
            memory->mapped += kib * KIB;
        if (sscanf(line, "Rss: %ld kB", &kib) == 1)
            memory->touched += kib * KIB;
        if (strncmp(line, "VmFlags:", 8) == 0)
            memory->dumped += strstr(line, " dd") == NULL;
    }
    fclose(file);
}

/* @param name  with its colon */
static long status_of_process(const char *name)
{
    const size_t length = strlen(name);
    char line[256];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "re");
    if (!file)
        test_die("no /proc/self/status");
    while (kib < 0 && fgets(line, sizeof line, file))
        kib = strncmp(line, name, length) == 0 ? strtol(line + length, NULL, 10) : -1;
    fclose(file);
    return kib * KIB;
}

static long count_files(void)
{
    long count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        test_die("no /proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static struct memory look(void)
{
    struct memory memory = {0};
    look_at_mappings(&memory);
    memory.shared = status_of_process("RssShmem:");
    memory.addresses = status_of_process("VmSize:");
    memory.files = count_files();
    return memory;
}

/* The most that a rank has. */
static struct memory most(struct memory own)
{
    struct memory all;
    TEST_MPI(
        MPI_Reduce(&own, &all, sizeof own / sizeof(long), MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD));
    TEST_MPI(MPI_Bcast(&all, sizeof all / sizeof(long), MPI_LONG, 0, MPI_COMM_WORLD));
    return all;
}

static double mib(long bytes)
{
    return (double)bytes / MIB;
}

static void show(const char *when, const struct memory *all)
{
    if (test.rank == 0)
        printf("memory: np %d, %s: %.1f MiB mapped, %.2f MiB touched; in all %.1f MiB shared, %.1f "
               "MiB "
               "of addresses, %ld files\n",
               test.n, when, mib(all->mapped), mib(all->touched), mib(all->shared),
               mib(all->addresses), all->files);
}

/* ---- Calls ---- */

static void call(MPI_Comm comm, int count)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        input[i] = test.rank + i;
    TEST_MPI(MPI_Allreduce(input, output, count, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < count; i++)
        wrong += output[i] != test.n * (test.n - 1) / 2 + i * test.n;
    TEST_CHECK(wrong == 0, "%d elements: %d are wrong", count, wrong);
}

/* @return what was taken at most */
static struct memory run_round(int communicators, int longest)
{
    MPI_Comm *comms = test_allocate((size_t)communicators * sizeof *comms);
    for (int c = 0; c < communicators; c++) {
        TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]));
        for (int count = 2; count <= longest; count *= 8)
            call(comms[c], count);
    }
    for (int c = 0; c < communicators; c++) /* in turn, too */
        call(comms[c], longest);
    MPI_Barrier(MPI_COMM_WORLD);
    const struct memory used = most(look());
    for (int c = 0; c < communicators; c++)
        TEST_MPI(MPI_Comm_free(&comms[c]));
    free(comms);
    return used;
}

/* Progress gives back what the last rank has left. */
static void settle(void)
{
    for (int i = 0; i < 20; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(1000);
    }
}

static void check_memory(int communicators, int longest)
{
    struct memory after[2], used[2];
    for (int round = 0; round < 2; round++) {
        used[round] = run_round(communicators, longest);
        settle();
        after[round] = most(look());
        show("used", &used[round]);
        show("after they were freed", &after[round]);
    }
    TEST_CHECK(used[1].mapped > 0, "no memory is shared");
    TEST_CHECK(used[1].mapped <= MAPPED_MOST, "%.1f MiB are mapped", mib(used[1].mapped));
    TEST_CHECK(used[1].touched <= TOUCHED_MOST, "%.1f MiB are touched", mib(used[1].touched));
    TEST_CHECK(used[1].dumped == 0, "%ld mappings go into core files", used[1].dumped);
    TEST_CHECK(after[1].mapped == used[0].mapped,
               "%.1f MiB are mapped, %.1f MiB in the first round", mib(after[1].mapped),
               mib(used[0].mapped));
    const long other[2] = {after[0].shared - after[0].touched, after[1].shared - after[1].touched};
    TEST_CHECK(other[1] - other[0] < MIB, "%.2f MiB more than after the first round",
               mib(other[1] - other[0]));
    TEST_CHECK(after[1].files == after[0].files, "%ld files, %ld before", after[1].files,
               after[0].files);
}

/* ---- Limits ---- */

/* So low that MPI can go on, but there is no memory to share. */
static void set_limit(const char *what)
{
    struct rlimit limit;
    int resource = RLIMIT_FSIZE;
    rlim_t low = 100 * KIB;
    if (strcmp(what, "none") == 0)
        return;
    if (strcmp(what, "as") == 0) {
        resource = RLIMIT_AS;
        low = (rlim_t)status_of_process("VmSize:") + 6 * MIB;
    } else if (strcmp(what, "nofile") == 0) {
        resource = RLIMIT_NOFILE;
        low = (rlim_t)count_files() + 8;
    } else if (strcmp(what, "fsize") != 0) {
        test_die("--limit %s: fsize, as, nofile or none", what);
    }
    if (getrlimit(resource, &limit) != 0)
        test_die("getrlimit failed");
    limit.rlim_cur = low;
    if (setrlimit(resource, &limit) != 0)
        test_die("setrlimit failed");
}

int main(int argc, char **argv)
{
    const char *communicators = "8", *longest = "1000000", *limit = "", *limited = "-1";
    const struct test_option options[] = {{"communicators", &communicators},
                                          {"longest", &longest},
                                          {"limit", &limit},
                                          {"limited", &limited},
                                          {NULL, NULL}};
    test_start(&argc, &argv, "memory", MPI_THREAD_SINGLE, options);
    const int ncomms = (int)test_number("--communicators", communicators, 1, 100000);
    const int count = (int)test_number("--longest", longest, 8, 1 << 30) / (int)sizeof(int);
    const long rank = test_number("--limited", limited, -1, test.n - 1);
    input = test_allocate((size_t)count * sizeof *input);
    output = test_allocate((size_t)count * sizeof *output);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!limit[0]) {
        check_memory(ncomms, count);
    } else {
        if (rank < 0 || rank == test.rank)
            set_limit(limit);
        for (int round = 0; round < 2; round++)
            (void)run_round(ncomms, count);
    }
    free(input);
    free(output);
    return test_finish();
}
