/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job meets: a communicator is made, MPI_Allreduce called on it once and some more times,
 * and it is freed. Several contenders (common.h), strag and stock, take turns in one job.
 *
 * Measured, always of the slowest rank: the first call on each communicator (what strag sets up is
 * in it), the calls after it, and making a communicator, using it once and freeing it. With --first
 * a size's first call in the job, of one contender alone: the first call of all also pays for what
 * Open MPI sets up then, whichever component runs it. Every result of a first call is checked.
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: mpirun ... jobs [OPTION...]\n"
    "  -C, --contender SPEC   may be repeated; the first is the one that is set up first\n"
    "                         [strag, stock and stock-again without it]\n"
    "  -s, --sizes LIST       bytes: 64K..16M (powers of two) or 4,100,2K    [8,64K,1M]\n"
    "  -i, --iterations N     communicators of each contender and size       [6]\n"
    "  -w, --warmup N         ... of which this many are not counted           [1]\n"
    "  -l, --later N          calls after the first one                      [5]\n"
    "  -f, --first            only each size's first call, of the first contender\n"
    "  -o, --output FILE      append CSV, one line per size, contender and kind\n";

/* What is timed. FIRST is a size's first call in the job, SET_UP has the first calls on all
 * communicators that are counted. */
enum kind { FIRST, SET_UP, LATER, CYCLE, KINDS };
static const char *const names[KINDS] = {"first", "set-up", "later", "cycle"};

/* One contender's times for one kind and size, in seconds. */
struct series {
    double *times;
    int samples;
};

static struct bench bench;
static struct series series[CONTENDERS_MAX][KINDS];
static int later = 5;
static bool first_only;
static FILE *csv;

static bool read_option(int letter)
{
    if (letter == 'l')
        later = bench_integer("--later", optarg, 0, 1000);
    first_only |= letter == 'f';
    return letter == 'l' || letter == 'f';
}

static void read_options(int argc, char **argv)
{
    static char usual_sizes[] = "8,64K,1M";
    static char usual[][64] = {"strag", "stock,ompi_comm_coll_preference=^strag",
                               "stock-again,ompi_comm_coll_preference=^strag"};
    static const struct option known[] = {{"later", required_argument, NULL, 'l'},
                                          {"first", no_argument, NULL, 'f'},
                                          BENCH_OPTIONS,
                                          {NULL, 0, NULL, 0}};
    bench.iterations = 6;
    bench.warmup = 1;
    bench_sizes(&bench, usual_sizes);
    bench_read_options(&bench, argc, argv, usage, known, BENCH_LETTERS "l:f", read_option);
    if (bench.iterations <= bench.warmup)
        bench_die("--iterations", "more than --warmup are needed");
    const bool none = bench.ncontenders == 0;
    for (size_t i = 0; none && i < sizeof usual / sizeof *usual; i++)
        bench_add_contender(&bench, usual[i]);
}

static void prepare(void)
{
    const size_t room = (size_t)bench.iterations * (size_t)(later > 1 ? later : 1);
    bench_prepare(&bench);
    for (int c = 0; c < bench.ncontenders; c++) {
        for (int k = 0; k < KINDS; k++)
            series[c][k].times = bench_allocate(room * sizeof(double));
    }
    if (bench.rank == 0 && bench.output)
        csv = bench_open_csv(bench.output, "np,bytes,contender,kind,samples,min_us,median_us\n");
}

static void note(int contender, enum kind kind, double seconds)
{
    struct series *one = &series[contender][kind];
    one->times[one->samples++] = seconds;
}

/* @return seconds */
static double call(MPI_Comm comm, size_t count)
{
    MPI_Barrier(bench.sync);
    const double start = MPI_Wtime();
    MPI_Allreduce(bench.send, bench.receive, (int)count, MPI_FLOAT, MPI_SUM, comm);
    return MPI_Wtime() - start;
}

/* One communicator from its beginning to its end. */
static void use_one(int contender, size_t count, int number)
{
    struct contender fresh;
    const bool counts = number >= bench.warmup && !first_only;
    MPI_Barrier(bench.sync);
    const double begin = MPI_Wtime();
    contender_create(&fresh, bench.specs[contender]);
    const double made = MPI_Wtime() - begin;
    bench_clear(&bench, count);
    const double first = call(fresh.comm, count);
    bench_check(&bench, contender, count);
    for (int i = 0; i < later; i++) {
        const double seconds = call(fresh.comm, count);
        if (counts)
            note(contender, LATER, seconds);
    }
    MPI_Barrier(bench.sync);
    const double end = MPI_Wtime();
    contender_free(&fresh);
    const double freed = MPI_Wtime() - end;
    if (first_only)
        note(contender, FIRST, first);
    if (counts) {
        note(contender, SET_UP, first);
        note(contender, CYCLE, made + first + freed);
    }
}

static void report(int contender, enum kind kind, size_t bytes)
{
    struct series *one = &series[contender][kind];
    if (one->samples == 0)
        return;
    MPI_Reduce(bench.rank == 0 ? MPI_IN_PLACE : one->times, one->times, one->samples, MPI_DOUBLE,
               MPI_MAX, 0, bench.sync);
    if (bench.rank != 0)
        return;
    qsort(one->times, (size_t)one->samples, sizeof *one->times, bench_compare);
    const double least = 1e6 * one->times[0], median = 1e6 * one->times[one->samples / 2];
    const char *name = bench.contenders[contender].name;
    printf("%4d %10zu %-16s %-8s %6d %12.1f %12.1f\n", bench.n, bytes, name, names[kind],
           one->samples, least, median);
    fflush(stdout);
    if (csv)
        fprintf(csv, "%d,%zu,%s,%s,%d,%.1f,%.1f\n", bench.n, bytes, name, names[kind], one->samples,
                least, median);
}

/* Did strag run, or delegate, its own contenders' calls and no others'? */
static void check_counters(const struct strag_count *before, int contender)
{
    const struct strag_count now = strag_count_read();
    const bool ours = strncmp(bench.contenders[contender].name, "strag", 5) == 0;
    const unsigned long long seen = now.calls - before->calls + now.delegated - before->delegated;
    if (seen != (ours ? 1ull + (unsigned)later : 0))
        bench_die(bench.contenders[contender].name,
                  "strag's counters: it was not used where it should, or elsewhere too (mpirun "
                  "needs --mca coll strag)");
}

static void run_size(size_t bytes)
{
    const size_t count = bytes / sizeof(float);
    const int iterations = first_only ? 1 : bench.iterations;
    const int contenders = first_only ? 1 : bench.ncontenders;
    bench_fill(&bench, count);
    for (int c = 0; c < bench.ncontenders; c++) {
        for (int k = 0; k < KINDS; k++)
            series[c][k].samples = 0;
    }
    for (int i = 0; i < iterations; i++) {
        for (int k = 0; k < contenders; k++) {
            int c = bench_turn(contenders, i, k);
            const struct strag_count before = strag_count_read();
            use_one(c, count, i);
            check_counters(&before, c);
        }
    }
    for (int c = 0; c < bench.ncontenders; c++) {
        for (int k = 0; k < KINDS; k++)
            report(c, (enum kind)k, bytes);
    }
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    read_options(argc, argv);
    prepare();
    if (bench.rank == 0)
        printf("# microseconds of the slowest rank\n# %2s %10s %-16s %-8s %6s %12s %12s\n", "np",
               "bytes", "contender", "kind", "n", "min", "median");
    for (int s = 0; s < bench.sizes; s++)
        run_size(bench.bytes[s]);
    bench_close(csv, bench.output);
    for (int c = 0; c < bench.ncontenders; c++) {
        for (int k = 0; k < KINDS; k++)
            free(series[c][k].times);
    }
    bench_finish(&bench);
    return 0;
}
