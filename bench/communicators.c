/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a communicator costs that is made, used once and freed: run it with strag and without, in
 * turns, and compare.
 *
 * Each turn makes a communicator in one of several ways, calls MPI_Allreduce on it, and frees it.
 * The time is that of the slowest rank. Every result is checked.
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: mpirun ... communicators [OPTION...]\n"
    "  -s, --sizes LIST       bytes: 64K..16M (powers of two) or 4,100,2K    [64K]\n"
    "  -i, --iterations N     communicators of each kind                     [100]\n"
    "  -w, --warmup N         untimed ones before                            [5]\n"
    "  -o, --output FILE      append CSV, one line per size and kind\n"
    "Kinds: dup, of MPI_COMM_WORLD; halves, by MPI_Comm_split; reversed, all ranks in the other "
    "order;\n"
    "dup-dup, a dup of a dup, both used.\n";

enum kind { DUP, HALVES, REVERSED, DUP_DUP, KINDS };
static const char *const names[KINDS] = {"dup", "halves", "reversed", "dup-dup"};

static struct bench bench;

static bool no_own_option(int letter)
{
    (void)letter;
    return false;
}

static void read_options(int argc, char **argv)
{
    static char usual[] = "64K";
    static const struct option known[] = {BENCH_OPTIONS, {NULL, 0, NULL, 0}};
    bench.iterations = 100;
    bench.warmup = 5;
    bench_read_options(&bench, argc, argv, usage, known, BENCH_LETTERS, no_own_option);
    if (bench.sizes == 0)
        bench_sizes(&bench, usual);
    if (bench.iterations < 1)
        bench_die("--iterations", "1 or more");
}

static void use(MPI_Comm comm, size_t count)
{
    int rank, n;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    const int sum = n * (n + 1) / 2;
    for (size_t i = 0; i < count; i++)
        bench.send[i] = (float)(rank + 1);
    MPI_Allreduce(bench.send, bench.receive, (int)count, MPI_FLOAT, MPI_SUM, comm);
    for (size_t i = 0; i < count; i++)
        if (bench.receive[i] != (float)sum)
            bench_die("a result", "it is wrong");
}

static void make_and_use(enum kind kind, size_t count)
{
    MPI_Comm comm, second = MPI_COMM_NULL;
    if (kind == HALVES)
        MPI_Comm_split(MPI_COMM_WORLD, 2 * bench.rank < bench.n, bench.rank, &comm);
    else if (kind == REVERSED)
        MPI_Comm_split(MPI_COMM_WORLD, 0, -bench.rank, &comm);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, count);
    if (kind == DUP_DUP) {
        MPI_Comm_dup(comm, &second);
        use(second, count);
        MPI_Comm_free(&second);
    }
    MPI_Comm_free(&comm);
}

/* @return seconds, of the slowest rank; on rank 0 */
static double time_one(enum kind kind, size_t count)
{
    double longest = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    make_and_use(kind, count);
    const double seconds = MPI_Wtime() - start;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return longest;
}

static void run(enum kind kind, size_t bytes, FILE *csv)
{
    const size_t count = bytes / sizeof(float);
    const int samples = bench.iterations;
    double *times = bench_allocate((size_t)samples * sizeof *times), first = 0;
    for (int i = 0; i < bench.warmup; i++) {
        const double seconds = time_one(kind, count);
        first = i == 0 ? seconds : first;
    }
    for (int i = 0; i < samples; i++)
        times[i] = time_one(kind, count);
    qsort(times, (size_t)samples, sizeof *times, bench_compare);
    const double median = 1e6 * times[samples / 2], q1 = 1e6 * times[samples / 4];
    if (bench.rank == 0)
        printf("%4d %10zu %-9s %12.1f %12.1f %12.1f %12.1f\n", bench.n, bytes, names[kind],
               1e6 * first, q1, median, 1e6 / median);
    fflush(stdout);
    if (csv)
        fprintf(csv, "%d,%zu,%s,%d,%.1f,%.1f,%.1f\n", bench.n, bytes, names[kind], samples,
                1e6 * first, q1, median);
    free(times);
}

int main(int argc, char **argv)
{
    FILE *csv = NULL;
    size_t most = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.n);
    read_options(argc, argv);
    for (int s = 0; s < bench.sizes; s++)
        most = bench.bytes[s] > most ? bench.bytes[s] : most;
    bench.send = bench_allocate(most);
    bench.receive = bench_allocate(most);
    if (bench.rank == 0)
        printf("%4s %10s %-9s %12s %12s %12s %12s\n", "np", "bytes", "kind", "first us", "q1 us",
               "median us", "a second");
    if (bench.rank == 0 && bench.output)
        csv = bench_open_csv(bench.output, "np,bytes,kind,samples,first_us,q1_us,median_us\n");
    use(MPI_COMM_WORLD, most / sizeof(float));
    for (int s = 0; s < bench.sizes; s++)
        for (enum kind kind = DUP; kind < KINDS; kind++)
            run(kind, bench.bytes[s], csv);
    bench_close(csv, bench.output);
    free(bench.send);
    free(bench.receive);
    free(bench.bytes);
    MPI_Finalize();
    return 0;
}
