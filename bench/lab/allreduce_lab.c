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
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVENTS_MAX = 8 };

/* Elements of a warm-up call at most. */
static const size_t warmup_most = 256 * 1024;

/* Rank 0 runs a command before a call. */
struct event {
    int number;
    const char *command;
};

static struct {
    int least; /* timed calls of a contender, whatever they take */
    struct arrivals arrivals;
    bool fresh;        /* a communicator for each size and delay */
    double latency;    /* seconds, of the network */
    int first_counted; /* the first call in which all contenders take part */
    const char *links_file, *traffic_file;
    struct event events[EVENTS_MAX];
    int nevents;

    double *plan;                 /* of a call, from rank 0: when to start, then a delay per rank */
    double *moments;              /* [rank]: arrival, exit */
    double spent[CONTENDERS_MAX]; /* seconds at the size at hand */
    FILE *samples, *traffic;      /* rank 0's */
    struct links links;           /* rank 0's */
} lab = {.least = 3, .arrivals = {.seed = 1, .ndelays = 1}};

static const char usage[] =
    "usage: mpirun ... allreduce_lab --contender SPEC... [OPTION...]\n"
    "  -C, --contender SPEC   NAME[,most=BYTES][,from=N][,INFO_KEY=VALUE...]\n"
    "                         [,cvar:NAME=INTEGER...];\n"
    "                         in a value + stands for a comma; most=BYTES: not with longer\n"
    "                         vectors; from=N: not before the timed calls number N\n"
    "  -s, --sizes LIST       bytes: 64K..16M (powers of two) or 4,100,2K     [1M]\n"
    "  -i, --iterations N     timed calls per contender and size              [5]\n"
    "  -m, --least N          of these, at least                              [3]\n"
    "  -t, --seconds T        ... after which a contender drops out, from the\n"
    "                         call on in which all take part                  [1000]\n"
    "  -w, --warmup N         untimed calls per contender and size, of up to\n"
    "                         1M each; strag delegates a communicator's\n"
    "                         first two                                       [3]\n"
    "  -f, --fresh            after them, make the contenders' communicators again: what they\n"
    "                         then do in the first calls is timed, too\n"
    "  -c, --check            check every element of the warm-up calls and of one timed call\n"
    "  -l, --late RANKS       stragglers: 3,5; all; or random: one, drawn for\n"
    "                         each call                                       [none]\n"
    "  -d, --delay LIST       theirs, in microseconds: 1000, 0-5000 (evenly\n"
    "                         distributed), 700-exp (exponentially, mean 700) [0]\n"
    "  -j, --jitter US        all ranks are late by up to that, besides       [0]\n"
    "  -b, --bandwidth MBIT   delays and jitter are not in microseconds, but in times that\n"
    "                         the vector takes at this many Mbit/s\n"
    "  -D, --latency US       of the network: calls are announced earlier     [0]\n"
    "  -S, --seed N           of what is random, which is the same in call k of all\n"
    "                         contenders                                      [1]\n"
    "  -a, --at N:COMMAND     rank 0 runs the command before the timed calls number N, from 0\n"
    "  -o, --output FILE      append CSV, one line per call\n"
    "  -L, --links FILE       links to count: lines NAME INTERFACE /proc/PID/net/dev\n"
    "  -T, --traffic FILE     append CSV, one line per contender, size, delay and link\n";

/* ---- Options ---- */

static void read_event(char *text)
{
    char *colon = strchr(text, ':');
    if (!colon || lab.nevents == EVENTS_MAX)
        bench_die("--at", colon ? "too many of them" : "NUMBER:COMMAND is expected");
    *colon = '\0';
    lab.events[lab.nevents++] = (struct event){bench_integer("--at", text, 0, 1000000), colon + 1};
}

static bool read_option(int letter)
{
    switch (letter) {
    case 'm':
        lab.least = bench_integer("--least", optarg, 1, 1000000);
        return true;
    case 'l':
        lab.arrivals.stragglers = optarg;
        return true;
    case 'd':
        arrivals_read_delays(&lab.arrivals, optarg);
        return true;
    case 'f':
        lab.fresh = true;
        return true;
    case 'D':
        lab.latency = 1e-6 * bench_real("--latency", optarg, 0, 1e7);
        return true;
    case 'j':
        lab.arrivals.jitter = bench_real("--jitter", optarg, 0, 1e9);
        return true;
    case 'b':
        lab.arrivals.mbit = bench_real("--bandwidth", optarg, 1e-3, 1e9);
        return true;
    case 'S':
        lab.arrivals.seed = bench_integer("--seed", optarg, 1, 0x7fffffff);
        return true;
    case 'a':
        read_event(optarg);
        return true;
    case 'L':
        lab.links_file = optarg;
        return true;
    case 'T':
        lab.traffic_file = optarg;
        return true;
    default:
        return false;
    }
}

static void read_options(struct bench *bench, int argc, char **argv)
{
    static const struct option known[] = {BENCH_OPTIONS,
                                          {"least", required_argument, NULL, 'm'},
                                          {"late", required_argument, NULL, 'l'},
                                          {"delay", required_argument, NULL, 'd'},
                                          {"jitter", required_argument, NULL, 'j'},
                                          {"bandwidth", required_argument, NULL, 'b'},
                                          {"fresh", no_argument, NULL, 'f'},
                                          {"latency", required_argument, NULL, 'D'},
                                          {"seed", required_argument, NULL, 'S'},
                                          {"at", required_argument, NULL, 'a'},
                                          {"links", required_argument, NULL, 'L'},
                                          {"traffic", required_argument, NULL, 'T'},
                                          {NULL, 0, NULL, 0}};
    *bench = (struct bench){.iterations = 5, .seconds = 1000, .warmup = 3};
    bench_sizes(bench, "1M");
    bench_read_options(bench, argc, argv, usage, known,
                       BENCH_LETTERS "m:fl:d:j:b:D:S:a:L:T:", read_option);
    if (bench->iterations < 1)
        bench_die("--iterations", "at least 1 is accepted");
    if (lab.least > bench->iterations)
        lab.least = bench->iterations;
    if (bench->ncontenders == 0)
        bench_die("--contender is missing", usage);
}

/* ---- Preparing ---- */

static void open_files(struct bench *bench)
{
    if (bench->rank != 0)
        return;
    if (bench->output)
        lab.samples = bench_open_csv(bench->output, "contender,bytes,delay_us,sample,ran,late_s,"
                                                    "first_exit_s,total_s,after_s,last\n");
    if (lab.links_file)
        links_open(&lab.links, lab.links_file, bench->ncontenders);
    if (lab.traffic_file)
        lab.traffic = bench_open_csv(
            lab.traffic_file, "contender,bytes,delay_us,calls,link,sent_bytes,sent_packets\n");
}

static void prepare(struct bench *bench)
{
    bench_prepare(bench);
    lab.plan = bench_allocate((1 + (size_t)bench->n) * sizeof *lab.plan);
    lab.moments = bench_allocate(2 * (size_t)bench->n * sizeof *lab.moments);
    for (int c = 0; c < bench->ncontenders; c++)
        if (bench->contenders[c].from > lab.first_counted)
            lab.first_counted = bench->contenders[c].from;
    arrivals_prepare(&lab.arrivals, bench->n);
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

/* A call, as it is asked for. */
struct order {
    int contender, number; /* number: of the contender's timed calls; -1: a warm-up */
    size_t count;
    const struct delay *delay;
};

/* Rank 0 sets when all ranks call, and which of them later. */
static void agree(struct bench *bench, const struct order *order)
{
    /* Seconds, for the broadcast: it takes up to log2(n) steps. */
    const double lead = 2e-3 + 2e-4 * bench->n + lab.latency * (1 + ceil(log2(bench->n)));
    MPI_Barrier(bench->sync);
    if (bench->rank == 0) {
        arrivals_draw(&lab.arrivals, order->delay, order->count * sizeof(float), order->number,
                      lab.plan + 1);
        lab.plan[0] = now() + lead;
    }
    MPI_Bcast(lab.plan, 1 + bench->n, MPI_DOUBLE, 0, bench->sync);
}

struct sample {
    double late, first_exit, total, after; /* seconds from the first arrival; after: the last one */
    int last;                              /* rank */
};

static struct sample evaluate(const struct bench *bench)
{
    double first = lab.moments[0], last = first;
    double early = lab.moments[1], end = early;
    int straggler = 0;
    for (int r = 1; r < bench->n; r++) {
        double arrival = lab.moments[2 * r], leaving = lab.moments[2 * r + 1];
        first = arrival < first ? arrival : first;
        straggler = arrival > last ? r : straggler;
        last = arrival > last ? arrival : last;
        early = leaving < early ? leaving : early;
        end = leaving > end ? leaving : end;
    }
    return (struct sample){last - first, early - first, end - first, end - last, straggler};
}

/* One call. @return  its times, on all ranks */
static struct sample call(struct bench *bench, const struct order *order)
{
    double mine[2];
    agree(bench, order);
    if (bench->rank == 0 && lab.links.count)
        links_read(&lab.links, -1);
    sleep_until(lab.plan[0] + lab.plan[1 + bench->rank]);
    mine[0] = now();
    MPI_Allreduce(bench->send, bench->receive, (int)order->count, MPI_FLOAT, MPI_SUM,
                  bench->contenders[order->contender].comm);
    mine[1] = now();
    MPI_Allgather(mine, 2, MPI_DOUBLE, lab.moments, 2, MPI_DOUBLE, bench->sync);
    if (bench->rank == 0 && lab.links.count)
        links_read(&lab.links, order->contender);
    return evaluate(bench);
}

/* ---- Checking ---- */

static struct sample checked_call(struct bench *bench, const struct order *order)
{
    bench_clear(bench, order->count);
    struct sample sample = call(bench, order);
    if (bench->check)
        bench_check(bench, order->contender, order->count);
    return sample;
}

/* ---- A series ---- */

/* The first columns of a line, in both files. */
static void write_case(FILE *file, const struct bench *bench, const struct order *order)
{
    const size_t bytes = order->count * sizeof(float);
    fprintf(file, "%s,%zu,", bench->contenders[order->contender].name, bytes);
    arrivals_print(file, &lab.arrivals, order->delay, bytes);
}

static void write_sample(const struct bench *bench, const struct order *order,
                         struct strag_count before, const struct sample *sample)
{
    struct strag_count after = strag_count_read();
    const char *ran = after.calls != before.calls           ? "strag"
                      : after.delegated != before.delegated ? "delegated"
                                                            : "other";
    if (!lab.samples)
        return;
    write_case(lab.samples, bench, order);
    fprintf(lab.samples, ",%d,%s,%.6f,%.6f,%.6f,%.6f,%d\n", order->number, ran, sample->late,
            sample->first_exit, sample->total, sample->after, sample->last);
    fflush(lab.samples);
}

static void write_traffic(const struct bench *bench, const struct order *order, int calls)
{
    const struct links *links = &lab.links;
    for (int i = 0; i < links->count && lab.traffic && calls > 0; i++) {
        const struct link_count *total = &links->totals[order->contender * links->count + i];
        write_case(lab.traffic, bench, order);
        fprintf(lab.traffic, ",%d,%s,%llu,%llu\n", calls, links->ends[i].name, total->bytes,
                total->packets);
    }
    if (lab.traffic)
        fflush(lab.traffic);
}

static void print(const struct bench *bench, const struct order *order, double *totals, int calls)
{
    if (bench->rank != 0 || calls == 0)
        return;
    qsort(totals, (size_t)calls, sizeof *totals, bench_compare);
    double median = (totals[(calls - 1) / 2] + totals[calls / 2]) / 2;
    write_case(stdout, bench, order);
    printf(" us: %d calls: min %.6f median %.6f max %.6f s\n", calls, totals[0], median,
           totals[calls - 1]);
    fflush(stdout);
}

/* The same on all ranks: every rank has every sample. */
static bool takes_part(const struct bench *bench, int contender, size_t bytes, int number)
{
    const struct contender *who = &bench->contenders[contender];
    if (bytes > who->most || number < who->from)
        return false;
    return number < lab.least || lab.spent[contender] < bench->seconds;
}

static void run_events(const struct bench *bench, int number)
{
    for (int e = 0; e < lab.nevents && bench->rank == 0; e++) {
        const struct event *event = &lab.events[e];
        if (event->number == number && system(event->command) != 0)
            bench_die(event->command, "failed");
    }
}

static void time_calls(struct bench *bench, size_t bytes, const struct delay *delay, double *totals,
                       int *calls)
{
    struct order order = {.count = bytes / sizeof(float), .delay = delay};
    for (int number = 0; number < bench->iterations; number++) {
        run_events(bench, number);
        for (int k = 0; k < bench->ncontenders; k++) {
            int c = bench_turn(bench->ncontenders, number, k);
            if (!takes_part(bench, c, bytes, number))
                continue;
            struct strag_count before = strag_count_read();
            bool checked = bench->check && number == lab.least - 1;
            order.contender = c;
            order.number = number;
            struct sample sample = (checked ? checked_call : call)(bench, &order);
            lab.spent[c] += number >= lab.first_counted ? sample.total : 0;
            totals[c * bench->iterations + calls[c]++] = sample.total;
            write_sample(bench, &order, before, &sample);
        }
    }
}

/* Untimed calls: connections are made, buffers touched, results checked. */
static void warm_up(struct bench *bench, size_t bytes, const struct delay *delay)
{
    struct order order = {.number = -1, .count = bytes / sizeof(float), .delay = delay};
    if (order.count > warmup_most)
        order.count = warmup_most;
    for (int i = 0; i < bench->warmup; i++)
        for (order.contender = 0; order.contender < bench->ncontenders; order.contender++)
            if (bytes <= bench->contenders[order.contender].most)
                checked_call(bench, &order);
}

/* The contenders' communicators. Their names are in coll/strag's verbose lines. */
static void make_anew(struct bench *bench, size_t bytes)
{
    char name[MPI_MAX_OBJECT_NAME];
    for (int c = 0; c < bench->ncontenders; c++) {
        struct contender *contender = &bench->contenders[c];
        contender_free(contender);
        contender_create(contender, bench->specs[c]);
        snprintf(name, sizeof name, "%s/%zu", contender->name, bytes);
        MPI_Comm_set_name(contender->comm, name);
        contender_settle(contender);
    }
}

static void run_series(struct bench *bench, size_t bytes, const struct delay *delay)
{
    int calls[CONTENDERS_MAX] = {0};
    double *totals =
        bench_allocate((size_t)bench->ncontenders * (size_t)bench->iterations * sizeof *totals);
    bench_fill(bench, bytes / sizeof(float));
    warm_up(bench, bytes, delay);
    if (lab.fresh)
        make_anew(bench, bytes);
    if (lab.links.count)
        links_reset(&lab.links, bench->ncontenders);
    for (int c = 0; c < bench->ncontenders; c++)
        lab.spent[c] = 0;
    time_calls(bench, bytes, delay, totals, calls);
    struct order order = {.count = bytes / sizeof(float), .delay = delay};
    for (; order.contender < bench->ncontenders; order.contender++) {
        int c = order.contender;
        write_traffic(bench, &order, calls[c]);
        print(bench, &order, totals + c * bench->iterations, calls[c]);
    }
    free(totals);
}

static void finish(struct bench *bench)
{
    bench_close(lab.samples, bench->output);
    bench_close(lab.traffic, lab.traffic_file);
    links_close(&lab.links);
    arrivals_free(&lab.arrivals);
    free(lab.plan);
    free(lab.moments);
    bench_finish(bench);
}

int main(int argc, char **argv)
{
    struct bench bench;
    int provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    read_options(&bench, argc, argv);
    prepare(&bench);
    if (bench.rank == 0)
        printf("%d ranks, seed %d\n", bench.n, lab.arrivals.seed);
    for (int d = 0; d < lab.arrivals.ndelays; d++)
        for (int s = 0; s < bench.sizes; s++)
            run_series(&bench, bench.bytes[s], &lab.arrivals.delays[d]);
    finish(&bench);
    return 0;
}
