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
 */
#include "common.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

const char bench_program[] = "allreduce";

enum { SAMPLES_MAX = 20000, LEAST = 12 }; /* samples per contender and size */

struct options {
    size_t *bytes;
    int sizes;
    int iterations; /* 0: as many as fit into `seconds` */
    double seconds; /* for all contenders of one size */
    int warmup;
    int batch; /* calls that are timed as one */
    bool check;
    const char *csv;
    const char *label;
    char *contenders[CONTENDERS_MAX];
    int ncontenders;
};

/* What a contender did at one size. */
struct series {
    struct strag_count counted;
    int samples;
    double *times; /* [SAMPLES_MAX]: seconds; on rank 0 in the end those of the slowest rank */
};

struct bench {
    struct options options;
    int rank, n;
    MPI_Comm sync; /* for all communication that is not measured */
    struct contender contenders[CONTENDERS_MAX];
    struct series series[CONTENDERS_MAX];
    float *send, *receive;
    FILE *csv; /* rank 0's */
};

static const char usage[] =
    "usage: mpirun ... --mca coll strag allreduce [OPTION...]\n"
    "  -C, --contender SPEC   NAME[,most=BYTES][,INFO_KEY=VALUE...][,cvar:NAME=INTEGER...];\n"
    "                         in a value + stands for a comma; most: not with longer "
    "vectors;\n"
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

/* ---- Options ---- */

static void add_contender(struct options *options, char *text)
{
    if (options->ncontenders == CONTENDERS_MAX)
        bench_die("--contender", "too many of them");
    options->contenders[options->ncontenders++] = text;
}

static void read_option(struct options *options, int letter)
{
    switch (letter) {
    case 'C':
        add_contender(options, optarg);
        break;
    case 's':
        bench_sizes(optarg, &options->bytes, &options->sizes);
        break;
    case 'i':
        options->iterations = bench_integer("--iterations", optarg, 0, SAMPLES_MAX);
        break;
    case 't':
        options->seconds = bench_real("--seconds", optarg, 0.001, 3600);
        break;
    case 'w':
        options->warmup = bench_integer("--warmup", optarg, 1, 1000000);
        break;
    case 'b':
        options->batch = bench_integer("--batch", optarg, 1, 1000000);
        break;
    case 'c':
        options->check = true;
        break;
    case 'o':
        options->csv = optarg;
        break;
    case 'l':
        options->label = optarg;
        break;
    default:
        bench_die("wrong use", usage);
    }
}

static void read_options(struct options *options, int argc, char **argv)
{
    static const struct option known[] = {{"contender", required_argument, NULL, 'C'},
                                          {"sizes", required_argument, NULL, 's'},
                                          {"iterations", required_argument, NULL, 'i'},
                                          {"seconds", required_argument, NULL, 't'},
                                          {"warmup", required_argument, NULL, 'w'},
                                          {"batch", required_argument, NULL, 'b'},
                                          {"check", no_argument, NULL, 'c'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"label", required_argument, NULL, 'l'},
                                          {NULL, 0, NULL, 0}};
    *options = (struct options){.seconds = 2, .warmup = 10, .batch = 1, .label = ""};
    bench_sizes("4..1M", &options->bytes, &options->sizes);
    for (int letter; (letter = getopt_long(argc, argv, "C:s:i:t:w:b:co:l:", known, NULL)) != -1;)
        read_option(options, letter);
    if (optind != argc)
        bench_die(argv[optind], usage);
    static char usual[][64] = {"strag", "stock,ompi_comm_coll_preference=^strag",
                               "stock-again,ompi_comm_coll_preference=^strag"};
    const bool none = options->ncontenders == 0;
    for (size_t i = 0; none && i < sizeof usual / sizeof *usual; i++)
        add_contender(options, usual[i]);
}

/* ---- Preparing ---- */

static void prepare(struct bench *bench)
{
    char unmeasured[] = "sync,ompi_comm_coll_preference=^strag";
    struct contender sync;
    size_t most = 0;
    for (int i = 0; i < bench->options.sizes; i++)
        most = bench->options.bytes[i] > most ? bench->options.bytes[i] : most;
    MPI_Comm_rank(MPI_COMM_WORLD, &bench->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench->n);
    contender_create(&sync, unmeasured);
    bench->sync = sync.comm;
    for (int c = 0; c < bench->options.ncontenders; c++) {
        contender_create(&bench->contenders[c], bench->options.contenders[c]);
        bench->series[c].times = bench_allocate(SAMPLES_MAX * sizeof *bench->series[c].times);
    }
    bench->send = bench_allocate(most);
    bench->receive = bench_allocate(most);
    strag_count_open();
    if (bench->rank == 0 && bench->options.csv)
        bench->csv = bench_open_csv(bench->options.csv,
                                    "label,np,bytes,contender,strag_calls,delegated,samples,batch,"
                                    "min_us,q1_us,median_us,q3_us\n");
}

/* ---- Running ---- */

/* Some calls, counted. @return seconds */
static double call(struct bench *bench, int contender, size_t count, int calls)
{
    struct strag_count *counted = &bench->series[contender].counted;
    const struct strag_count before = strag_count_read();
    MPI_Barrier(bench->sync);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        MPI_Allreduce(bench->send, bench->receive, (int)count, MPI_FLOAT, MPI_SUM,
                      bench->contenders[contender].comm);
    double seconds = MPI_Wtime() - start;
    const struct strag_count after = strag_count_read();
    counted->calls += after.calls - before.calls;
    counted->delegated += after.delegated - before.delegated;
    return seconds;
}

static void check(struct bench *bench, int contender, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bench->receive[i] = -1;
    call(bench, contender, count, 1);
    bench_check(bench->receive, count, bench->n, bench->contenders[contender].name);
}

static bool takes_part(const struct bench *bench, int contender, size_t count)
{
    return count * sizeof(float) <= bench->contenders[contender].most;
}

/* Is it time to stop? All ranks use rank 0's clock. */
static bool enough(const struct bench *bench, int samples, double start)
{
    const int wanted = bench->options.iterations;
    int stop = samples >= LEAST && MPI_Wtime() - start > bench->options.seconds;
    if (wanted > 0 || samples % LEAST != 0)
        return samples == (wanted > 0 ? wanted : SAMPLES_MAX);
    MPI_Bcast(&stop, 1, MPI_INT, 0, bench->sync);
    return stop || samples >= SAMPLES_MAX - LEAST;
}

static void take_turns(struct bench *bench, size_t count)
{
    const int ncontenders = bench->options.ncontenders, batch = bench->options.batch;
    const double start = MPI_Wtime();
    int samples = 0;
    do {
        for (int k = 0; k < ncontenders; k++) {
            int c = bench_turn(ncontenders, samples, k);
            struct series *series = &bench->series[c];
            if (takes_part(bench, c, count))
                series->times[series->samples++] = call(bench, c, count, batch) / batch;
        }
    } while (!enough(bench, ++samples, start));
}

/* strag must have run or delegated all calls of its own contenders, and none of the others'. */
static void check_counters(const struct bench *bench, int contender)
{
    const struct options *options = &bench->options;
    const struct series *series = &bench->series[contender];
    const char *name = bench->contenders[contender].name;
    const bool ours = strncmp(name, "strag", 5) == 0;
    unsigned long long calls = (unsigned long long)series->samples * (unsigned)options->batch +
                               (unsigned)options->warmup + (options->check ? 2 : 0);
    if (series->counted.calls + series->counted.delegated != (ours ? calls : 0)) {
        fprintf(stderr, "%s: %s: strag ran %llu calls and delegated %llu, together not %llu\n",
                bench_program, name, series->counted.calls, series->counted.delegated,
                ours ? calls : 0);
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
    const struct series *series = &bench->series[contender];
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
    if (bench->csv)
        fprintf(bench->csv, "%s,%d,%zu,%s,%llu,%llu,%d,%d,%.3f,%.3f,%.3f,%.3f\n",
                bench->options.label, bench->n, bytes, name, counted->calls, counted->delegated,
                series->samples, bench->options.batch, minimum, q1, median, q3);
}

static void finish_series(struct bench *bench, int contender, size_t bytes)
{
    struct series *series = &bench->series[contender];
    check_counters(bench, contender);
    MPI_Reduce(bench->rank == 0 ? MPI_IN_PLACE : series->times, series->times, series->samples,
               MPI_DOUBLE, MPI_MAX, 0, bench->sync);
    if (bench->rank != 0)
        return;
    qsort(series->times, (size_t)series->samples, sizeof *series->times, bench_compare);
    report(bench, contender, bytes);
}

static void run_size(struct bench *bench, size_t bytes)
{
    const struct options *options = &bench->options;
    const size_t count = bytes / sizeof(float);
    for (size_t i = 0; i < count; i++)
        bench->send[i] = bench_value(bench->rank, i);
    for (int c = 0; c < options->ncontenders; c++) {
        bench->series[c].samples = 0;
        bench->series[c].counted = (struct strag_count){0, 0};
        if (!takes_part(bench, c, count))
            continue;
        if (options->check)
            check(bench, c, count);
        call(bench, c, count, options->warmup);
    }
    take_turns(bench, count);
    for (int c = 0; c < options->ncontenders; c++) {
        if (options->check && takes_part(bench, c, count))
            check(bench, c, count);
        if (takes_part(bench, c, count))
            finish_series(bench, c, bytes);
    }
}

int main(int argc, char **argv)
{
    static struct bench bench;
    int provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    read_options(&bench.options, argc, argv);
    prepare(&bench);
    if (bench.rank == 0) {
        printf("# %s np %d, microseconds per call of the slowest rank\n", bench.options.label,
               bench.n);
        printf("# %8s %-24s %6s %11s %11s %11s %11s  %s\n", "bytes", "contender", "n", "median",
               "min", "q1", "q3", "ran");
    }
    for (int i = 0; i < bench.options.sizes; i++)
        run_size(&bench, bench.options.bytes[i]);
    if (bench.csv && fclose(bench.csv) != 0)
        bench_die(bench.options.csv, "could not be written");
    for (int c = 0; c < bench.options.ncontenders; c++) {
        MPI_Comm_free(&bench.contenders[c].comm);
        free(bench.series[c].times);
    }
    MPI_Comm_free(&bench.sync);
    free(bench.options.bytes);
    free(bench.send);
    free(bench.receive);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
