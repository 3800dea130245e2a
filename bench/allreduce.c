/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allreduce over strag against stock Open MPI, interleaved in one run.
 *
 * There are three communicators over all ranks: one that strag has, and two from which it is
 * excluded (Open MPI's info key ompi_comm_coll_preference). The three take turns, so that whatever
 * disturbs the machine disturbs all of them; the two stock ones against each other show how much
 * of a difference is noise. The time of a call is that of the rank that takes longest. strag's
 * counters are checked: it ran where it should, and nowhere else.
 *
 * With --compare KEY=A,B all three are strag's: the first with the info key KEY set to A, the other
 * two with B in place of stock Open MPI.
 *
 * Elements are floats and the operator is MPI_SUM, as in OSU's osu_allreduce. All contenders use
 * the same buffers.
 */
#include "parse.h"

#include <getopt.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRAG, STOCK, AGAIN, CONTENDERS };
enum { ORDERS = 6, SAMPLES_MAX = 20000 };

static const char *names[CONTENDERS] = {"strag", "stock", "stock-again"};

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
    char *key; /* of --compare; NULL: against stock Open MPI */
    char *value[2];
};

struct counters {
    unsigned long long calls, delegated;
};

/* Times of one contender at one size, in seconds. */
struct summary {
    double minimum, lower, median, upper;
};

struct bench {
    struct options options;
    int rank, n;
    MPI_Comm sync; /* for all communication that is not measured */
    MPI_Comm comms[CONTENDERS];
    float *send, *receive;
    FILE *csv; /* rank 0's */
};

static const char usage[] =
    "usage: mpirun ... --mca coll strag allreduce [OPTION...]\n"
    "  -s, --sizes LIST       bytes: 64K..16M (powers of two) or 4,100,2K   [4..1M]\n"
    "  -i, --iterations N     timed samples per contender and size, up to 20000; 0: as many as "
    "fit\n"
    "                         into the time                                 [0]\n"
    "  -t, --seconds T        time for one size                             [2]\n"
    "  -w, --warmup N         untimed calls per contender and size          [10]\n"
    "  -b, --batch N          calls that are timed together, for short ones [1]\n"
    "  -c, --check            check every element, before and after the timing\n"
    "  -o, --output FILE      append CSV, one line per size and contender\n"
    "  -l, --label TEXT       first column of the CSV                       [\"\"]\n"
    "  -k, --compare KEY=A,B  strag with this info key set to A, and to B in place of stock\n";

static void die(const char *what, const char *why)
{
    fprintf(stderr, "allreduce: %s: %s\n", what, why);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

/* ---- Options ---- */

static int integer(const char *name, const char *text, int low, int high)
{
    struct strag_error err;
    int value = 0;
    if (strag_parse_integer(text, low, high, &value, &err) != STRAG_OK)
        die(name, err.text);
    return value;
}

static void read_sizes(struct options *options, const char *text)
{
    struct strag_error err;
    free(options->bytes);
    if (strag_parse_bytes_list(text, &options->bytes, &options->sizes, &err) != STRAG_OK)
        die("--sizes", err.text);
    for (int i = 0; i < options->sizes; i++)
        if (options->bytes[i] % sizeof(float) != 0 || options->bytes[i] == 0 ||
            options->bytes[i] / sizeof(float) > 0x7fffffff)
            die("--sizes", "multiples of 4 bytes from 4 to 8G are accepted");
}

/* KEY=A,B, which is cut in place */
static void read_compare(struct options *options, char *text)
{
    char *equals = strchr(text, '='), *comma = equals ? strchr(equals, ',') : NULL;
    if (!comma)
        die("--compare", "not KEY=A,B");
    *equals = *comma = '\0';
    options->key = text;
    options->value[0] = equals + 1;
    options->value[1] = comma + 1;
    names[STRAG] = options->value[0];
    names[STOCK] = names[AGAIN] = options->value[1];
}

static void read_option(struct options *options, int letter)
{
    struct strag_error err;
    switch (letter) {
    case 's':
        read_sizes(options, optarg);
        break;
    case 'i':
        options->iterations = integer("--iterations", optarg, 0, SAMPLES_MAX);
        break;
    case 't':
        if (strag_parse_real(optarg, 0.001, 3600, &options->seconds, &err) != STRAG_OK)
            die("--seconds", err.text);
        break;
    case 'w':
        options->warmup = integer("--warmup", optarg, 1, 1000000);
        break;
    case 'b':
        options->batch = integer("--batch", optarg, 1, 1000000);
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
    case 'k':
        read_compare(options, optarg);
        break;
    default:
        die("wrong use", usage);
    }
}

static void read_options(struct options *options, int argc, char **argv)
{
    static const struct option known[] = {
        {"sizes", required_argument, NULL, 's'},   {"iterations", required_argument, NULL, 'i'},
        {"seconds", required_argument, NULL, 't'}, {"warmup", required_argument, NULL, 'w'},
        {"batch", required_argument, NULL, 'b'},   {"check", no_argument, NULL, 'c'},
        {"output", required_argument, NULL, 'o'},  {"label", required_argument, NULL, 'l'},
        {"compare", required_argument, NULL, 'k'}, {NULL, 0, NULL, 0}};
    *options = (struct options){.seconds = 2, .warmup = 10, .batch = 1, .label = ""};
    read_sizes(options, "4..1M");
    for (int letter; (letter = getopt_long(argc, argv, "s:i:t:w:b:co:l:k:", known, NULL)) != -1;)
        read_option(options, letter);
    if (optind != argc)
        die(argv[optind], usage);
}

/* ---- strag's counters ---- */

static MPI_T_pvar_session session;
static MPI_T_pvar_handle calls_handle, delegated_handle;

static MPI_T_pvar_handle open_counter(const char *name)
{
    MPI_T_pvar_handle handle;
    int index, count;
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS ||
        MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) != MPI_SUCCESS)
        die(name, "no such performance variable: strag was not loaded");
    return handle;
}

static void open_counters(void)
{
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    calls_handle = open_counter("coll_strag_calls");
    delegated_handle = open_counter("coll_strag_delegated");
}

static struct counters read_counters(void)
{
    struct counters now = {0, 0};
    if (MPI_T_pvar_read(session, calls_handle, &now.calls) != MPI_SUCCESS ||
        MPI_T_pvar_read(session, delegated_handle, &now.delegated) != MPI_SUCCESS)
        die("strag's counters", "cannot be read");
    return now;
}

/* ---- Communicators and buffers ---- */

static MPI_Comm communicator(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

static MPI_Comm stock_communicator(void)
{
    return communicator("ompi_comm_coll_preference", "^strag");
}

static void make_contenders(struct bench *bench)
{
    const struct options *options = &bench->options;
    if (options->key) {
        for (int c = 0; c < CONTENDERS; c++)
            bench->comms[c] = communicator(options->key, options->value[c != STRAG]);
        return;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &bench->comms[STRAG]);
    bench->comms[STOCK] = stock_communicator();
    bench->comms[AGAIN] = stock_communicator();
}

static void prepare(struct bench *bench)
{
    size_t most = 0;
    for (int i = 0; i < bench->options.sizes; i++)
        most = bench->options.bytes[i] > most ? bench->options.bytes[i] : most;
    MPI_Comm_rank(MPI_COMM_WORLD, &bench->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench->n);
    make_contenders(bench);
    bench->sync = stock_communicator();
    void *send, *receive;
    if (posix_memalign(&send, 4096, most) != 0 || posix_memalign(&receive, 4096, most) != 0)
        die("the buffers", "out of memory");
    bench->send = send;
    bench->receive = receive;
    if (bench->rank == 0 && bench->options.csv) {
        bench->csv = fopen(bench->options.csv, "a");
        if (!bench->csv)
            die(bench->options.csv, "cannot be opened for writing");
        if (ftell(bench->csv) == 0)
            fprintf(bench->csv, "label,np,bytes,contender,strag_calls,delegated,samples,batch,"
                                "min_us,q1_us,median_us,q3_us,stock_over_this\n");
    }
}

/* ---- Running ---- */

/* Small integers, whose sums are exact in any order. */
static float value(int rank, size_t index)
{
    return (float)((index * 7 + (size_t)rank * 13) % 97);
}

static void call(const struct bench *bench, int contender, size_t count)
{
    MPI_Allreduce(bench->send, bench->receive, (int)count, MPI_FLOAT, MPI_SUM,
                  bench->comms[contender]);
}

static void check(const struct bench *bench, int contender, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bench->receive[i] = -1;
    call(bench, contender, count);
    for (size_t i = 0; i < count; i++) {
        float want = 0;
        for (int rank = 0; rank < bench->n; rank++)
            want += value(rank, i);
        if (want != bench->receive[i]) {
            fprintf(stderr, "allreduce: rank %d: %s: %zu bytes: element %zu is %g, not %g\n",
                    bench->rank, names[contender], count * sizeof(float), i, bench->receive[i],
                    want);
            die("--check", "wrong results");
        }
    }
}

static double timed(const struct bench *bench, int contender, size_t count)
{
    MPI_Barrier(bench->sync);
    double start = MPI_Wtime();
    for (int b = 0; b < bench->options.batch; b++)
        call(bench, contender, count);
    return (MPI_Wtime() - start) / bench->options.batch;
}

static void warm_up(const struct bench *bench, size_t count)
{
    for (int i = 0; i < bench->options.warmup; i++) {
        for (int contender = 0; contender < CONTENDERS; contender++) {
            MPI_Barrier(bench->sync);
            call(bench, contender, count);
        }
    }
}

/* Is it time to stop? Rank 0's clock counts, so that all ranks do alike. */
static bool enough(const struct bench *bench, int samples, double start)
{
    int stop = samples >= 2 * ORDERS && MPI_Wtime() - start > bench->options.seconds;
    MPI_Bcast(&stop, 1, MPI_INT, 0, bench->sync);
    return stop;
}

/* The three contenders take turns, in each of their six orders as often.
 * @param[out] times  SAMPLES_MAX for each contender
 * @return samples that each of them has */
static int take_turns(const struct bench *bench, size_t count, double *times)
{
    static const int orders[ORDERS][CONTENDERS] = {{STRAG, STOCK, AGAIN}, {AGAIN, STOCK, STRAG},
                                                   {STOCK, AGAIN, STRAG}, {STRAG, AGAIN, STOCK},
                                                   {AGAIN, STRAG, STOCK}, {STOCK, STRAG, AGAIN}};
    const int wanted = bench->options.iterations;
    const double start = MPI_Wtime();
    int samples = 0;
    while (samples < (wanted > 0 ? wanted : SAMPLES_MAX)) {
        for (int k = 0; k < CONTENDERS; k++) {
            int contender = orders[samples % ORDERS][k];
            times[contender * SAMPLES_MAX + samples] = timed(bench, contender, count);
        }
        samples++;
        if (wanted == 0 && samples % ORDERS == 0 && enough(bench, samples, start))
            break;
    }
    return samples;
}

/* strag must have run, or handed on, exactly the calls of its own communicator. */
static struct counters check_counters(struct counters before, unsigned long long expected)
{
    struct counters now = read_counters();
    now.calls -= before.calls;
    now.delegated -= before.delegated;
    if (now.calls + now.delegated != expected) {
        fprintf(stderr, "allreduce: strag ran %llu calls and handed on %llu, together not %llu\n",
                now.calls, now.delegated, expected);
        die("strag's counters", "it was not used where it should, or elsewhere too (mpirun needs "
                                "--mca coll strag, and 2 ranks)");
    }
    return now;
}

/* ---- Reporting ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int count, double part)
{
    double position = part * (count - 1);
    int below = (int)position;
    int above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

static struct summary summarize(double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, compare);
    return (struct summary){times[0], quantile(times, count, 0.25), quantile(times, count, 0.5),
                            quantile(times, count, 0.75)};
}

static void report(const struct bench *bench, size_t bytes, struct counters counted, int samples,
                   double *times)
{
    struct summary all[CONTENDERS];
    for (int c = 0; c < CONTENDERS; c++)
        all[c] = summarize(times + c * SAMPLES_MAX, samples);
    const struct summary *s = &all[STRAG], *o = &all[STOCK];
    printf("%10zu %6d %10.2f %10.2f %10.2f %10.2f   %10.2f %10.2f %10.2f %10.2f  %7.3f %7.3f  %s\n",
           bytes, samples, 1e6 * s->median, 1e6 * s->minimum, 1e6 * s->lower, 1e6 * s->upper,
           1e6 * o->median, 1e6 * o->minimum, 1e6 * o->lower, 1e6 * o->upper, o->median / s->median,
           o->median / all[AGAIN].median,
           counted.calls == 0       ? "delegated"
           : counted.delegated == 0 ? "strag"
                                    : "both");
    fflush(stdout);
    for (int c = 0; c < CONTENDERS && bench->csv; c++) {
        fprintf(bench->csv, "%s,%d,%zu,%s,%llu,%llu,%d,%d,%.3f,%.3f,%.3f,%.3f,%.4f\n",
                bench->options.label, bench->n, bytes, names[c], c == STRAG ? counted.calls : 0,
                c == STRAG ? counted.delegated : 0, samples, bench->options.batch,
                1e6 * all[c].minimum, 1e6 * all[c].lower, 1e6 * all[c].median, 1e6 * all[c].upper,
                o->median / all[c].median);
    }
}

static void run_size(const struct bench *bench, size_t bytes)
{
    const struct options *options = &bench->options;
    const size_t count = bytes / sizeof(float);
    const struct counters before = read_counters();
    for (size_t i = 0; i < count; i++)
        bench->send[i] = value(bench->rank, i);
    for (int c = 0; c < CONTENDERS && options->check; c++)
        check(bench, c, count);
    double *times = calloc(CONTENDERS * SAMPLES_MAX, sizeof *times);
    double *slowest = calloc(CONTENDERS * SAMPLES_MAX, sizeof *slowest);
    if (!times || !slowest)
        die("the samples", "out of memory");
    warm_up(bench, count);
    const int samples = take_turns(bench, count, times);
    for (int c = 0; c < CONTENDERS && options->check; c++)
        check(bench, c, count);

    const unsigned long long calls = ((unsigned long long)samples * (unsigned)options->batch +
                                      (unsigned)options->warmup + (options->check ? 2 : 0)) *
                                     (options->key ? CONTENDERS : 1);
    const struct counters counted = check_counters(before, calls);
    MPI_Reduce(times, slowest, CONTENDERS * SAMPLES_MAX, MPI_DOUBLE, MPI_MAX, 0, bench->sync);
    if (bench->rank == 0)
        report(bench, bytes, counted, samples, slowest);
    free(times);
    free(slowest);
}

int main(int argc, char **argv)
{
    struct bench bench = {.csv = NULL};
    MPI_Init(&argc, &argv);
    read_options(&bench.options, argc, argv);
    open_counters();
    prepare(&bench);
    if (bench.rank == 0) {
        printf("# %s np %d, microseconds per call of the slowest rank; ratio: %s / %s\n",
               bench.options.label, bench.n, names[STOCK], names[STRAG]);
        printf("# %8s %6s %10s %10s %10s %10s   %10s %10s %10s %10s  %7s %7s  %s\n", "bytes", "n",
               names[STRAG], "min", "q1", "q3", names[STOCK], "min", "q1", "q3", "ratio", "noise",
               "ran");
    }
    for (int i = 0; i < bench.options.sizes; i++)
        run_size(&bench, bench.options.bytes[i]);
    if (bench.csv && fclose(bench.csv) != 0)
        die(bench.options.csv, "could not be written");
    for (int c = 0; c < CONTENDERS; c++)
        MPI_Comm_free(&bench.comms[c]);
    MPI_Comm_free(&bench.sync);
    free(bench.options.bytes);
    free(bench.send);
    free(bench.receive);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
