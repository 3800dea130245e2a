/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allreduce over strag against stock Open MPI, interleaved in one run.
 *
 * Every contender has a communicator over all ranks. They alternate, so that whatever disturbs the
 * machine disturbs all of them. Without --contender they are strag, and twice what Open MPI chooses
 * without it (info key ompi_comm_coll_preference): the difference of these two is noise. The time
 * of a call is that of the slowest rank. strag's counters are checked: it ran where it should, and
 * nowhere else.
 *
 * Elements are floats and the operator is MPI_SUM, as in OSU's osu_allreduce. All contenders use
 * the same buffers.
 *
 * In the calls of a contender with late=TIMES the middle rank computes first, for that many times
 * what the first contender's calls take; the time of such a call includes the delay. Nonblocking
 * calls and starts of persistent ones are waited for at once.
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 20000, LEAST = 12 }; /* samples per contender and size */

/* What a contender did at one size. */
struct series {
    struct strag_count counted;
    MPI_Request started; /* of a persistent contender, for the size */
    double delay;        /* seconds by which a rank is late */
    int samples;
    double *times; /* [SAMPLES_MAX]: seconds; on rank 0 in the end those of the slowest rank */
};

static struct {
    int batch; /* calls that are timed as one */
    int hosts; /* on which there are ranks: those that can share memory */
    const char *label;
    struct series series[CONTENDERS_MAX];
    FILE *csv; /* rank 0's */
} job = {.batch = 1, .label = ""};

static const char usage[] =
    "usage: mpirun ... --mca coll strag allreduce [OPTION...]\n"
    "  -C, --contender SPEC   NAME[,most=BYTES][,INFO_KEY=VALUE...][,cvar:NAME=INTEGER...];\n"
    "                         in a value + stands for a comma; most: not with longer "
    "vectors;\n"
    "                         call=nonblocking, call=persistent; late=TIMES: a rank is late, by\n"
    "                         this many times what the first contender's calls take;\n"
    "                         component=NAME: of Open MPI, if it runs here;\n"
    "                         strag is to run those of a name that begins with strag, and no "
    "other\n"
    "                         [strag; stock and stock-again, without it]\n"
    "  -s, --sizes LIST       bytes: 64K..16M (powers of two) or 4,100,2K   [4..1M]\n"
    "  -i, --iterations N     timed samples per contender and size, up to 20000; 0: as many as "
    "fit\n"
    "                         into the time                                 [0]\n"
    "  -t, --seconds T        time for one size                             [2]\n"
    "  -w, --warmup N         untimed calls per contender and size          [10]\n"
    "  -b, --batch N          calls that are timed together, for short ones [1]\n"
    "  -c, --check            check every element, before and after the timing\n"
    "  -o, --output FILE      append CSV, one line per size and contender\n"
    "  -l, --label TEXT       first column of the CSV                       [\"\"]\n";

/* ---- Preparing ---- */

static bool read_option(int letter)
{
    if (letter == 'b')
        job.batch = bench_integer("--batch", optarg, 1, 1000000);
    else if (letter == 'l')
        job.label = optarg;
    return letter == 'b' || letter == 'l';
}

static void read_options(struct bench *bench, int argc, char **argv)
{
    static const struct option known[] = {BENCH_OPTIONS,
                                          {"batch", required_argument, NULL, 'b'},
                                          {"label", required_argument, NULL, 'l'},
                                          {NULL, 0, NULL, 0}};
    static char usual[][64] = {"strag", "stock,ompi_comm_coll_preference=^strag",
                               "stock-again,ompi_comm_coll_preference=^strag"};
    *bench = (struct bench){.seconds = 2, .warmup = 10};
    bench_sizes(bench, "4..1M");
    bench_read_options(bench, argc, argv, usage, known, BENCH_LETTERS "b:l:", read_option);
    if (bench->iterations > SAMPLES_MAX)
        bench_die("--iterations", "too many of them");
    const bool none = bench->ncontenders == 0;
    for (size_t i = 0; none && i < sizeof usual / sizeof *usual; i++)
        bench_add_contender(bench, usual[i]);
}

static int count_hosts(MPI_Comm comm)
{
    MPI_Comm host;
    int rank, hosts;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank);
    const int first = rank == 0;
    MPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&host);
    return hosts;
}

static void prepare(struct bench *bench)
{
    bench_prepare(bench);
    if (bench->n < 2)
        bench_die("1 rank",
                  "at least 2 are needed (if more were started, the launcher and Open MPI have "
                  "no PMI in common)");
    job.hosts = count_hosts(bench->sync);
    for (int c = 0; c < bench->ncontenders; c++)
        job.series[c].times = bench_allocate(SAMPLES_MAX * sizeof *job.series[c].times);
    if (bench->rank == 0 && bench->output)
        job.csv = bench_open_csv(bench->output,
                                 "label,np,bytes,contender,strag_calls,delegated,samples,batch,"
                                 "min_us,q1_us,median_us,q3_us,call,delay_us,hosts\n");
}

/* ---- Running ---- */

static void allreduce(struct bench *bench, int contender, size_t count)
{
    const struct contender *by = &bench->contenders[contender];
    MPI_Request request = job.series[contender].started;
    if (by->call == CALL_BLOCKING) {
        MPI_Allreduce(bench->send, bench->receive, (int)count, MPI_FLOAT, MPI_SUM, by->comm);
        return;
    }
    if (by->call == CALL_PERSISTENT)
        MPI_Start(&request);
    else
        MPI_Iallreduce(bench->send, bench->receive, (int)count, MPI_FLOAT, MPI_SUM, by->comm,
                       &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The late rank computes. The others do not read the clock, which would count in short calls. */
static void be_late(const struct bench *bench, double delay)
{
    if (delay <= 0 || bench->rank != bench->n / 2)
        return;
    const double start = MPI_Wtime();
    while (MPI_Wtime() - start < delay)
        ;
}

/* Some calls, counted. @return seconds */
static double call(struct bench *bench, int contender, size_t count, int calls)
{
    struct strag_count *counted = &job.series[contender].counted;
    const struct strag_count before = strag_count_read();
    MPI_Barrier(bench->sync);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++) {
        be_late(bench, job.series[contender].delay);
        allreduce(bench, contender, count);
    }
    double seconds = MPI_Wtime() - start;
    const struct strag_count after = strag_count_read();
    counted->calls += after.calls - before.calls;
    counted->delegated += after.delegated - before.delegated;
    return seconds;
}

static void check(struct bench *bench, int contender, size_t count)
{
    bench_clear(bench, count);
    call(bench, contender, count, 1);
    bench_check(bench, contender, count);
}

static bool takes_part(const struct bench *bench, int contender, size_t count)
{
    return count * sizeof(float) <= bench->contenders[contender].most;
}

/* Is it time to stop? All ranks use rank 0's clock. */
static bool enough(const struct bench *bench, int samples, double start)
{
    const int wanted = bench->iterations;
    int stop = samples >= LEAST && MPI_Wtime() - start > bench->seconds;
    if (wanted > 0 || samples % LEAST != 0)
        return samples == (wanted > 0 ? wanted : SAMPLES_MAX);
    MPI_Bcast(&stop, 1, MPI_INT, 0, bench->sync);
    return stop || samples >= SAMPLES_MAX - LEAST;
}

static void take_turns(struct bench *bench, size_t count)
{
    const int ncontenders = bench->ncontenders, batch = job.batch;
    const double start = MPI_Wtime();
    int samples = 0;
    do {
        for (int k = 0; k < ncontenders; k++) {
            int c = bench_turn(ncontenders, samples, k);
            struct series *series = &job.series[c];
            if (takes_part(bench, c, count))
                series->times[series->samples++] = call(bench, c, count, batch) / batch;
        }
    } while (!enough(bench, ++samples, start));
}

/* strag must have run or delegated all calls of its own contenders, and none of the others'. A
 * persistent call that it delegates is counted once, before the calls that are counted here. */
static void check_counters(const struct bench *bench, int contender)
{
    const struct series *series = &job.series[contender];
    const char *name = bench->contenders[contender].name;
    const bool ours = strncmp(name, "strag", 5) == 0;
    if (ours && !strag_count_found())
        bench_die("strag", "Open MPI has not loaded the component");
    if (ours && bench->contenders[contender].call == CALL_PERSISTENT && series->counted.calls == 0)
        return;
    unsigned long long calls = (unsigned long long)series->samples * (unsigned)job.batch +
                               (unsigned)bench->warmup + (bench->check ? 2 : 0);
    if (series->counted.calls + series->counted.delegated != (ours ? calls : 0)) {
        fprintf(stderr,
                "allreduce: %s: strag ran %llu calls and delegated %llu, together not %llu\n", name,
                series->counted.calls, series->counted.delegated, ours ? calls : 0);
        bench_die("strag's counters", "it was not used where it should, or elsewhere too (mpirun "
                                      "needs --mca coll strag, and 2 ranks)");
    }
}

/* ---- Reporting ---- */

static double quantile(const double *sorted, int count, double part)
{
    double position = part * (count - 1);
    int below = (int)position;
    int above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

/* A contender's line. Its times are sorted. */
static void report(const struct bench *bench, int contender, size_t bytes)
{
    static const char *const calls[] = {"blocking", "nonblocking", "persistent"};
    const struct series *series = &job.series[contender];
    const struct strag_count *counted = &series->counted;
    const char *name = bench->contenders[contender].name;
    double minimum = 1e6 * series->times[0],
           q1 = 1e6 * quantile(series->times, series->samples, 0.25),
           median = 1e6 * quantile(series->times, series->samples, 0.5),
           q3 = 1e6 * quantile(series->times, series->samples, 0.75);
    printf("%10zu %-24s %6d %11.2f %11.2f %11.2f %11.2f  %s\n", bytes, name, series->samples,
           median, minimum, q1, q3,
           counted->calls == 0 ? counted->delegated ? "delegated" : "" : "strag");
    fflush(stdout);
    if (job.csv)
        fprintf(job.csv, "%s,%d,%zu,%s,%llu,%llu,%d,%d,%.3f,%.3f,%.3f,%.3f,%s,%.3f,%d\n", job.label,
                bench->n, bytes, name, counted->calls, counted->delegated, series->samples,
                job.batch, minimum, q1, median, q3, calls[bench->contenders[contender].call],
                1e6 * series->delay, job.hosts);
}

static void finish_series(struct bench *bench, int contender, size_t bytes)
{
    struct series *series = &job.series[contender];
    check_counters(bench, contender);
    MPI_Reduce(bench->rank == 0 ? MPI_IN_PLACE : series->times, series->times, series->samples,
               MPI_DOUBLE, MPI_MAX, 0, bench->sync);
    if (bench->rank != 0)
        return;
    qsort(series->times, (size_t)series->samples, sizeof *series->times, bench_compare);
    report(bench, contender, bytes);
}

/* All that precedes a contender's timed calls of a size. @return seconds of a call, in the second
 * half of the warm-up */
static double begin_size(struct bench *bench, int contender, size_t count, double delay)
{
    struct series *series = &job.series[contender];
    const struct contender *by = &bench->contenders[contender];
    series->samples = 0;
    series->counted = (struct strag_count){0, 0};
    series->delay = delay;
    series->started = MPI_REQUEST_NULL;
    if (!takes_part(bench, contender, count))
        return 0;
    if (by->call == CALL_PERSISTENT)
        BENCH_ALLREDUCE_INIT(bench->send, bench->receive, (int)count, MPI_FLOAT, MPI_SUM, by->comm,
                             MPI_INFO_NULL, &series->started);
    if (bench->check)
        check(bench, contender, count);
    const int first = bench->warmup / 2, rest = bench->warmup - first;
    call(bench, contender, count, first);
    double usual = call(bench, contender, count, rest) / (rest > 0 ? rest : 1);
    MPI_Bcast(&usual, 1, MPI_DOUBLE, 0, bench->sync);
    return usual;
}

static void run_size(struct bench *bench, size_t bytes)
{
    const size_t count = bytes / sizeof(float);
    double usual = 0;
    bench_fill(bench, count);
    for (int c = 0; c < bench->ncontenders; c++) {
        const double taken = begin_size(bench, c, count, bench->contenders[c].late * usual);
        usual = c == 0 ? taken : usual;
    }
    take_turns(bench, count);
    for (int c = 0; c < bench->ncontenders; c++) {
        if (bench->check && takes_part(bench, c, count))
            check(bench, c, count);
        if (takes_part(bench, c, count))
            finish_series(bench, c, bytes);
        if (job.series[c].started != MPI_REQUEST_NULL)
            MPI_Request_free(&job.series[c].started);
    }
}

int main(int argc, char **argv)
{
    static struct bench bench;
    int provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    read_options(&bench, argc, argv);
    prepare(&bench);
    if (bench.rank == 0) {
        printf("# %s np %d, microseconds per call of the slowest rank\n", job.label, bench.n);
        printf("# %8s %-24s %6s %11s %11s %11s %11s  %s\n", "bytes", "contender", "n", "median",
               "min", "q1", "q3", "ran");
    }
    for (int i = 0; i < bench.sizes; i++)
        run_size(&bench, bench.bytes[i]);
    bench_close(job.csv, bench.output);
    for (int c = 0; c < bench.ncontenders; c++)
        free(job.series[c].times);
    bench_finish(&bench);
    return 0;
}
