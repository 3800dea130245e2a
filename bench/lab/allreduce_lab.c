/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allreduce, several contenders in turn, with or without stragglers; every call is a line of
 * CSV.
 *
 * Before each call rank 0 sets the time at which all ranks call, stragglers after their delay. All
 * processes of the lab are on one machine and share CLOCK_MONOTONIC, so that arrivals and exits of
 * different ranks can be compared. Contenders alternate from call to call, in an order that
 * changes, so that whatever disturbs the machine disturbs all of them.
 *
 * Elements are floats and the operator is MPI_SUM, as in OSU's osu_allreduce.
 */
#include "allreduce_lab.h"

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char bench_program[] = "allreduce_lab";

enum { DELAYS_MAX = 64, EVENTS_MAX = 8 };

/* Elements of a warm-up call at most: connections are made, buffers touched, results checked. */
static const size_t warmup_most = 256 * 1024;

/* Microseconds that a straggler is late: between these, drawn for each call. */
struct delay {
    double low, high;
};

/* Rank 0 runs a command before a call. */
struct event {
    int number;
    const char *command;
};

struct options {
    size_t *bytes;
    int sizes;
    int iterations, least;
    double seconds; /* of one contender's calls, after which it drops out */
    int warmup;
    bool check;
    const char *late; /* ranks, or "all" */
    struct delay delays[DELAYS_MAX];
    int ndelays;
    int seed;
    const char *samples, *links, *traffic;
    char *contenders[CONTENDERS_MAX];
    int ncontenders;
    struct event events[EVENTS_MAX];
    int nevents;
};

struct bench {
    struct options options;
    int rank, n;
    MPI_Comm sync; /* for all communication that is not measured */
    struct contender contenders[CONTENDERS_MAX];
    bool *late;                   /* [rank] */
    double *plan;                 /* of a call, from rank 0: when to start, then a delay per rank */
    double *moments;              /* [rank]: arrival, exit */
    uint64_t random;              /* rank 0's */
    double spent[CONTENDERS_MAX]; /* seconds at the size at hand */
    float *send, *receive;
    FILE *samples, *traffic; /* rank 0's */
    struct links links;      /* rank 0's */
};

static const char usage[] =
    "usage: mpirun ... allreduce_lab --contender SPEC... [OPTION...]\n"
    "  -C, --contender SPEC   NAME[,most=BYTES][,INFO_KEY=VALUE...][,cvar:NAME=INTEGER...];\n"
    "                         in a value + stands for a comma; most: not with longer vectors\n"
    "  -s, --sizes LIST       bytes: 64K..16M (powers of two) or 4,100,2K     [1M]\n"
    "  -i, --iterations N     timed calls per contender and size              [5]\n"
    "  -m, --least N          of these, at least                              [3]\n"
    "  -t, --seconds T        ... after which a contender drops out           [1000]\n"
    "  -w, --warmup N         untimed calls per contender and size, of up to\n"
    "                         1M each                                         [1]\n"
    "  -c, --check            check every element of the warm-up calls and of one timed call\n"
    "  -l, --late RANKS       stragglers: 3,5 or all                          [none]\n"
    "  -d, --delay LIST       theirs, in microseconds: 1000,0-5000 (random)   [0]\n"
    "  -S, --seed N           for random delays                               [1]\n"
    "  -a, --at N:COMMAND     rank 0 runs the command before the timed calls number N, from 0\n"
    "  -o, --output FILE      append CSV, one line per call\n"
    "  -L, --links FILE       links to count: lines NAME INTERFACE /proc/PID/net/dev\n"
    "  -T, --traffic FILE     append CSV, one line per contender, size, delay and link\n";

/* ---- Options ---- */

static void read_delays(struct options *options, char *text)
{
    char *rest = NULL;
    options->ndelays = 0;
    for (char *item; (item = strtok_r(text, ",", &rest)); text = NULL) {
        if (options->ndelays == DELAYS_MAX)
            bench_die("--delay", "too many of them");
        char *high = strchr(item, '-');
        if (high)
            *high++ = '\0';
        struct delay *delay = &options->delays[options->ndelays++];
        delay->low = bench_real("--delay", item, 0, 1e9);
        delay->high = high ? bench_real("--delay", high, 0, 1e9) : delay->low;
    }
}

static void read_event(struct options *options, char *text)
{
    char *colon = strchr(text, ':');
    if (!colon || options->nevents == EVENTS_MAX)
        bench_die("--at", colon ? "too many of them" : "NUMBER:COMMAND is expected");
    *colon = '\0';
    options->events[options->nevents++] =
        (struct event){bench_integer("--at", text, 0, 1000000), colon + 1};
}

static void read_files(struct options *options, int letter)
{
    switch (letter) {
    case 'o':
        options->samples = optarg;
        break;
    case 'L':
        options->links = optarg;
        break;
    case 'T':
        options->traffic = optarg;
        break;
    default:
        bench_die("wrong use", usage);
    }
}

static void read_option(struct options *options, int letter)
{
    switch (letter) {
    case 'C':
        if (options->ncontenders == CONTENDERS_MAX)
            bench_die("--contender", "too many of them");
        options->contenders[options->ncontenders++] = optarg;
        break;
    case 's':
        bench_sizes(optarg, &options->bytes, &options->sizes);
        break;
    case 'i':
        options->iterations = bench_integer("--iterations", optarg, 1, 1000000);
        break;
    case 'm':
        options->least = bench_integer("--least", optarg, 1, 1000000);
        break;
    case 't':
        options->seconds = bench_real("--seconds", optarg, 0, 1e9);
        break;
    case 'w':
        options->warmup = bench_integer("--warmup", optarg, 0, 1000000);
        break;
    case 'c':
        options->check = true;
        break;
    case 'l':
        options->late = optarg;
        break;
    case 'd':
        read_delays(options, optarg);
        break;
    case 'S':
        options->seed = bench_integer("--seed", optarg, 1, 0x7fffffff);
        break;
    case 'a':
        read_event(options, optarg);
        break;
    default:
        read_files(options, letter);
    }
}

static void read_options(struct options *options, int argc, char **argv)
{
    static const struct option known[] = {{"contender", required_argument, NULL, 'C'},
                                          {"sizes", required_argument, NULL, 's'},
                                          {"iterations", required_argument, NULL, 'i'},
                                          {"least", required_argument, NULL, 'm'},
                                          {"seconds", required_argument, NULL, 't'},
                                          {"warmup", required_argument, NULL, 'w'},
                                          {"check", no_argument, NULL, 'c'},
                                          {"late", required_argument, NULL, 'l'},
                                          {"delay", required_argument, NULL, 'd'},
                                          {"seed", required_argument, NULL, 'S'},
                                          {"at", required_argument, NULL, 'a'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"links", required_argument, NULL, 'L'},
                                          {"traffic", required_argument, NULL, 'T'},
                                          {NULL, 0, NULL, 0}};
    static const char letters[] = "C:s:i:m:t:w:cl:d:S:a:o:L:T:";
    *options = (struct options){
        .iterations = 5, .least = 3, .seconds = 1000, .warmup = 1, .seed = 1, .ndelays = 1};
    bench_sizes("1M", &options->bytes, &options->sizes);
    for (int letter; (letter = getopt_long(argc, argv, letters, known, NULL)) != -1;)
        read_option(options, letter);
    if (options->least > options->iterations)
        options->least = options->iterations;
    if (optind != argc || options->ncontenders == 0)
        bench_die(optind != argc ? argv[optind] : "--contender is missing", usage);
}

/* ---- Preparing ---- */

static void open_files(struct bench *bench)
{
    const struct options *options = &bench->options;
    if (bench->rank != 0)
        return;
    if (options->samples)
        bench->samples =
            bench_open_csv(options->samples, "contender,bytes,delay_us,sample,ran,late_s,"
                                             "first_exit_s,total_s,after_s\n");
    if (options->links)
        links_open(&bench->links, options->links, options->ncontenders);
    if (options->traffic)
        bench->traffic = bench_open_csv(
            options->traffic, "contender,bytes,delay_us,calls,link,sent_bytes,sent_packets\n");
}

static void mark_late(struct bench *bench)
{
    const char *text = bench->options.late;
    bench->late = calloc((size_t)bench->n, sizeof *bench->late);
    if (!bench->late)
        bench_die("the ranks", "out of memory");
    if (!text)
        return;
    if (strcmp(text, "all") == 0) {
        memset(bench->late, true, (size_t)bench->n * sizeof *bench->late);
        return;
    }
    char copy[1024], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest))
        bench->late[bench_integer("--late", item, 0, bench->n - 1)] = true;
}

static void prepare(struct bench *bench)
{
    char unmeasured[] = "sync,ompi_comm_coll_preference=^strag";
    struct contender sync;
    size_t most = 0;
    for (int i = 0; i < bench->options.sizes; i++)
        most = bench->options.bytes[i] > most ? bench->options.bytes[i] : most;
    contender_create(&sync, unmeasured);
    bench->sync = sync.comm;
    for (int c = 0; c < bench->options.ncontenders; c++)
        contender_create(&bench->contenders[c], bench->options.contenders[c]);
    bench->send = bench_allocate(most);
    bench->receive = bench_allocate(most);
    bench->plan = bench_allocate((1 + (size_t)bench->n) * sizeof *bench->plan);
    bench->moments = bench_allocate(2 * (size_t)bench->n * sizeof *bench->moments);
    bench->random = (uint64_t)bench->options.seed * 0x9e3779b97f4a7c15u;
    mark_late(bench);
    strag_count_open();
    open_files(bench);
}

/* ---- One call ---- */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_until(double moment)
{
    struct timespec time = {(time_t)moment, (long)((moment - (double)(time_t)moment) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

/* From 0 to 1. */
static double draw(struct bench *bench)
{
    bench->random ^= bench->random << 13;
    bench->random ^= bench->random >> 7;
    bench->random ^= bench->random << 17;
    return (double)(bench->random >> 11) * 0x1p-53;
}

/* Rank 0 sets when all ranks call, and which of them later. */
static void agree(struct bench *bench, const struct delay *delay)
{
    const double lead = 2e-3 + 2e-4 * bench->n; /* seconds, for the broadcast */
    MPI_Barrier(bench->sync);
    if (bench->rank == 0) {
        for (int r = 0; r < bench->n; r++)
            bench->plan[1 + r] =
                bench->late[r] ? 1e-6 * (delay->low + (delay->high - delay->low) * draw(bench)) : 0;
        bench->plan[0] = now() + lead;
    }
    MPI_Bcast(bench->plan, 1 + bench->n, MPI_DOUBLE, 0, bench->sync);
}

struct sample {
    double late, first_exit, total, after; /* seconds from the first arrival; after: the last one */
};

static struct sample evaluate(const struct bench *bench)
{
    double first = bench->moments[0], last = first;
    double early = bench->moments[1], end = early;
    for (int r = 1; r < bench->n; r++) {
        double arrival = bench->moments[2 * r], leaving = bench->moments[2 * r + 1];
        first = arrival < first ? arrival : first;
        last = arrival > last ? arrival : last;
        early = leaving < early ? leaving : early;
        end = leaving > end ? leaving : end;
    }
    return (struct sample){last - first, early - first, end - first, end - last};
}

/* One call. @return  its times, on all ranks */
static struct sample call(struct bench *bench, int contender, size_t count,
                          const struct delay *delay)
{
    double mine[2];
    agree(bench, delay);
    if (bench->rank == 0 && bench->links.count)
        links_read(&bench->links, -1);
    sleep_until(bench->plan[0] + bench->plan[1 + bench->rank]);
    mine[0] = now();
    MPI_Allreduce(bench->send, bench->receive, (int)count, MPI_FLOAT, MPI_SUM,
                  bench->contenders[contender].comm);
    mine[1] = now();
    MPI_Allgather(mine, 2, MPI_DOUBLE, bench->moments, 2, MPI_DOUBLE, bench->sync);
    if (bench->rank == 0 && bench->links.count)
        links_read(&bench->links, contender);
    return evaluate(bench);
}

/* ---- Checking ---- */

static struct sample checked_call(struct bench *bench, int contender, size_t count,
                                  const struct delay *delay)
{
    for (size_t i = 0; i < count; i++)
        bench->receive[i] = -1;
    struct sample sample = call(bench, contender, count, delay);
    if (bench->options.check)
        bench_check(bench->receive, count, bench->n, bench->contenders[contender].name);
    return sample;
}

/* ---- A series ---- */

static void write_sample(const struct bench *bench, int contender, size_t bytes,
                         const struct delay *delay, int number, struct strag_count before,
                         const struct sample *sample)
{
    struct strag_count after = strag_count_read();
    const char *ran = after.calls != before.calls           ? "strag"
                      : after.delegated != before.delegated ? "delegated"
                                                            : "other";
    if (!bench->samples)
        return;
    fprintf(bench->samples, "%s,%zu,%g-%g,%d,%s,%.6f,%.6f,%.6f,%.6f\n",
            bench->contenders[contender].name, bytes, delay->low, delay->high, number, ran,
            sample->late, sample->first_exit, sample->total, sample->after);
    fflush(bench->samples);
}

static void write_traffic(const struct bench *bench, int contender, size_t bytes,
                          const struct delay *delay, int calls)
{
    const struct links *links = &bench->links;
    for (int i = 0; i < links->count && bench->traffic && calls > 0; i++) {
        const struct link_count *total = &links->totals[contender * links->count + i];
        fprintf(bench->traffic, "%s,%zu,%g-%g,%d,%s,%llu,%llu\n", bench->contenders[contender].name,
                bytes, delay->low, delay->high, calls, links->ends[i].name, total->bytes,
                total->packets);
    }
    if (bench->traffic)
        fflush(bench->traffic);
}

static void print(const struct bench *bench, int contender, size_t bytes, const struct delay *delay,
                  double *totals, int calls)
{
    if (bench->rank != 0 || calls == 0)
        return;
    qsort(totals, (size_t)calls, sizeof *totals, bench_compare);
    double median = (totals[(calls - 1) / 2] + totals[calls / 2]) / 2;
    printf("%-28s %10zu  delay %g-%g us  %d calls: min %.6f median %.6f max %.6f s\n",
           bench->contenders[contender].name, bytes, delay->low, delay->high, calls, totals[0],
           median, totals[calls - 1]);
    fflush(stdout);
}

/* The same on all ranks: every rank has every sample. */
static bool takes_part(const struct bench *bench, int contender, size_t bytes, int number)
{
    if (bytes > bench->contenders[contender].most)
        return false;
    return number < bench->options.least || bench->spent[contender] < bench->options.seconds;
}

static void run_events(const struct bench *bench, int number)
{
    for (int e = 0; e < bench->options.nevents && bench->rank == 0; e++) {
        const struct event *event = &bench->options.events[e];
        if (event->number == number && system(event->command) != 0)
            bench_die(event->command, "failed");
    }
}

static void time_calls(struct bench *bench, size_t bytes, const struct delay *delay, double *totals,
                       int *calls)
{
    for (int number = 0; number < bench->options.iterations; number++) {
        run_events(bench, number);
        for (int k = 0; k < bench->options.ncontenders; k++) {
            int c = bench_turn(bench->options.ncontenders, number, k);
            if (!takes_part(bench, c, bytes, number))
                continue;
            struct strag_count before = strag_count_read();
            bool checked = bench->options.check && number == bench->options.least - 1;
            struct sample sample =
                (checked ? checked_call : call)(bench, c, bytes / sizeof(float), delay);
            bench->spent[c] += sample.total;
            totals[c * bench->options.iterations + calls[c]++] = sample.total;
            write_sample(bench, c, bytes, delay, number, before, &sample);
        }
    }
}

static void run_series(struct bench *bench, size_t bytes, const struct delay *delay)
{
    const struct options *options = &bench->options;
    const size_t count = bytes / sizeof(float);
    int calls[CONTENDERS_MAX] = {0};
    double *totals =
        bench_allocate((size_t)options->ncontenders * (size_t)options->iterations * sizeof *totals);
    for (size_t i = 0; i < count; i++)
        bench->send[i] = bench_value(bench->rank, i);
    const size_t warm = count < warmup_most ? count : warmup_most;
    for (int i = 0; i < options->warmup; i++)
        for (int c = 0; c < options->ncontenders; c++)
            if (takes_part(bench, c, bytes, 0))
                checked_call(bench, c, warm, delay);
    if (bench->links.count)
        links_reset(&bench->links, options->ncontenders);
    for (int c = 0; c < options->ncontenders; c++)
        bench->spent[c] = 0;
    time_calls(bench, bytes, delay, totals, calls);
    for (int c = 0; c < options->ncontenders; c++) {
        write_traffic(bench, c, bytes, delay, calls[c]);
        print(bench, c, bytes, delay, totals + c * options->iterations, calls[c]);
    }
    free(totals);
}

static void finish(struct bench *bench)
{
    if (bench->samples && fclose(bench->samples) != 0)
        bench_die(bench->options.samples, "cannot be written");
    if (bench->traffic && fclose(bench->traffic) != 0)
        bench_die(bench->options.traffic, "cannot be written");
    for (int c = 0; c < bench->options.ncontenders; c++)
        MPI_Comm_free(&bench->contenders[c].comm);
    MPI_Comm_free(&bench->sync);
    links_close(&bench->links);
    free(bench->late);
    free(bench->plan);
    free(bench->moments);
    free(bench->send);
    free(bench->receive);
    free(bench->options.bytes);
}

int main(int argc, char **argv)
{
    struct bench bench = {.rank = 0};
    int provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.n);
    read_options(&bench.options, argc, argv);
    prepare(&bench);
    if (bench.rank == 0)
        printf("%d ranks, seed %d\n", bench.n, bench.options.seed);
    for (int d = 0; d < bench.options.ndelays; d++)
        for (int s = 0; s < bench.options.sizes; s++)
            run_series(&bench, bench.options.bytes[s], &bench.options.delays[d]);
    finish(&bench);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
