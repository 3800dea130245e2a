/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune_model.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PAIRS_MAX = 4,
    SAMPLES_MAX = 501,
    SAMPLES_LEAST = 5,
    SHORT = 8,            /* bytes */
    BURST = 16,           /* short messages that are posted one after another */
    LONG = 256 << 10,     /* bytes; and four times that, for the slope */
    LONG_SLOW = 64 << 10, /* likewise, on slow links */
    REDUCED = 256 << 10,  /* bytes */
    TAG = 18
};

/* Seconds to measure one size; a link is slow if a long message takes more there and back. */
static const double time_for_size = 0.1, slow = 0.1;

/* Exchange `bytes` bytes, which is timed. Both ranks of a pair call it in the same way. */
typedef void exchange(MPI_Comm pair, int rank, char *memory, int bytes);

static void ping(MPI_Comm pair, int rank, char *memory, int bytes)
{
    if (rank == 0)
        MPI_Send(memory, bytes, MPI_BYTE, 1, TAG, pair);
    MPI_Recv(memory, bytes, MPI_BYTE, 1 - rank, TAG, pair, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(memory, bytes, MPI_BYTE, 0, TAG, pair);
}

/* As a ping, with more messages on the way there: both ranks take an overhead for each. */
static void burst(MPI_Comm pair, int rank, char *memory, int bytes)
{
    MPI_Request more[BURST - 1];
    for (int m = 0; m < BURST - 1; m++) {
        if (rank == 0)
            MPI_Isend(memory, bytes, MPI_BYTE, 1, TAG, pair, &more[m]);
        else
            MPI_Irecv(memory + (m + 1) * bytes, bytes, MPI_BYTE, 0, TAG, pair, &more[m]);
    }
    if (rank == 1)
        MPI_Waitall(BURST - 1, more, MPI_STATUSES_IGNORE);
    ping(pair, rank, memory, bytes);
    if (rank == 0)
        MPI_Waitall(BURST - 1, more, MPI_STATUSES_IGNORE);
}

static void allreduce(MPI_Comm pair, int rank, char *memory, int bytes)
{
    (void)rank;
    MPI_Allreduce(MPI_IN_PLACE, memory, bytes / (int)sizeof(float), MPI_FLOAT, MPI_MAX, pair);
}

/* Sleep until all ranks have called this. */
static void meet(MPI_Comm sync)
{
    const struct timespec nap = {0, 1000000};
    MPI_Request request;
    int here = 0;
    MPI_Ibarrier(sync, &request);
    for (MPI_Test(&request, &here, MPI_STATUS_IGNORE); !here;
         MPI_Test(&request, &here, MPI_STATUS_IGNORE))
        nanosleep(&nap, NULL);
}

/* The median time of an exchange; the pair's first rank decides when it is enough. */
static double time_exchange(MPI_Comm pair, exchange *run, char *memory, int bytes)
{
    double times[SAMPLES_MAX], start;
    int rank, count = 0, more = 1;
    MPI_Comm_rank(pair, &rank);
    run(pair, rank, memory, bytes); /* to connect */
    const double begin = MPI_Wtime();
    while (more) {
        start = MPI_Wtime();
        run(pair, rank, memory, bytes);
        times[count++] = MPI_Wtime() - start;
        more =
            count < SAMPLES_MAX && (count < SAMPLES_LEAST || MPI_Wtime() - begin < time_for_size);
        if (rank == 0)
            MPI_Send(&more, 1, MPI_INT, 1, TAG, pair);
        else
            MPI_Recv(&more, 1, MPI_INT, 0, TAG, pair, MPI_STATUS_IGNORE);
    }
    qsort(times, (size_t)count, sizeof *times, strag_compare_double);
    return times[count / 2];
}

/* The time of a pair's exchanges, as a line over their bytes. */
struct line {
    double constant; /* seconds of a short one */
    double per_byte; /* seconds */
    double further;  /* seconds of either rank for one more short message; pings only */
    double error;    /* relative error of the line at the shorter long message */
};

static struct line measure_line(MPI_Comm pair, exchange *run, char *memory)
{
    int bytes = LONG, is_slow, rank;
    MPI_Comm_rank(pair, &rank);
    run(pair, rank, memory, LONG_SLOW); /* sets strag up: the info key takes effect then */
    double seconds = time_exchange(pair, run, memory, SHORT);
    const double start = MPI_Wtime();
    run(pair, rank, memory, LONG);
    is_slow = MPI_Wtime() - start > slow;
    if (rank == 0)
        MPI_Send(&is_slow, 1, MPI_INT, 1, TAG, pair);
    else
        MPI_Recv(&is_slow, 1, MPI_INT, 0, TAG, pair, MPI_STATUS_IGNORE);
    if (is_slow)
        bytes = LONG_SLOW;
    const double shorter = time_exchange(pair, run, memory, bytes);
    const double longer = time_exchange(pair, run, memory, 4 * bytes);
    struct line line = {.constant = seconds,
                        .per_byte = fmax(longer - shorter, longer / 100) / (3. * bytes)};
    if (run == ping)
        line.further =
            fmax(0, time_exchange(pair, burst, memory, SHORT) - seconds) / (2 * (BURST - 1));
    line.error = fabs(line.constant + line.per_byte * bytes - shorter) / shorter;
    return line;
}

/* Two ranks measure, and all get the result. @param key  an info key with its value, or NULL */
static struct line measure_pair(MPI_Comm sync, int first, int second, exchange *run,
                                const char *const *key)
{
    struct line line = {0};
    MPI_Comm plain, pair;
    MPI_Info info;
    int rank;
    MPI_Comm_rank(sync, &rank);
    const int inside = rank == first || rank == second;
    MPI_Comm_split(MPI_COMM_WORLD, inside ? 0 : MPI_UNDEFINED, rank == first ? 0 : 1, &plain);
    if (inside) {
        char *memory = calloc(4, LONG);
        if (!memory)
            MPI_Abort(MPI_COMM_WORLD, 2);
        MPI_Info_create(&info);
        if (key)
            MPI_Info_set(info, key[0], key[1]);
        MPI_Comm_dup_with_info(plain, info, &pair);
        MPI_Info_free(&info);
        line = measure_line(pair, run, memory);
        MPI_Comm_free(&pair);
        MPI_Comm_free(&plain);
        free(memory);
    }
    meet(sync);
    MPI_Bcast(&line, sizeof line / sizeof(double), MPI_DOUBLE, first, sync);
    return line;
}

/* ---- Where the ranks are ---- */

struct tune_places tune_find_places(MPI_Comm comm)
{
    char own[MPI_MAX_PROCESSOR_NAME] = "";
    struct tune_places places = {.neighbour = {-1, -1}};
    int length;
    MPI_Comm_size(comm, &places.ranks);
    MPI_Get_processor_name(own, &length);
    char *all = malloc((size_t)places.ranks * sizeof own);
    int *ranks_on = calloc((size_t)places.ranks, sizeof *ranks_on); /* [host] */
    places.leader = malloc((size_t)places.ranks * sizeof *places.leader);
    if (!all || !ranks_on || !places.leader)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Allgather(own, sizeof own, MPI_CHAR, all, sizeof own, MPI_CHAR, comm);
    for (int rank = 0; rank < places.ranks; rank++) {
        int h = 0;
        while (h < places.hosts && strcmp(all + (size_t)places.leader[h] * sizeof own,
                                          all + (size_t)rank * sizeof own) != 0)
            h++;
        ranks_on[h]++;
        if (h == places.hosts) {
            places.leader[places.hosts++] = rank;
        } else if (places.neighbour[0] < 0) {
            places.neighbour[0] = places.leader[h];
            places.neighbour[1] = rank;
        }
    }
    places.ranks_per_host = ranks_on[0];
    for (int h = 1; h < places.hosts; h++)
        if (ranks_on[h] != ranks_on[0])
            places.ranks_per_host = 0;
    free(ranks_on);
    free(all);
    return places;
}

/* ---- The numbers ---- */

/* Round as in a file: to four digits in the number's unit. */
static double tidy(int id, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", value / strag_model_numbers[id].scale);
    return strtod(text, NULL) * strag_model_numbers[id].scale;
}

static void measure_between(MPI_Comm sync, const struct tune_places *places,
                            struct strag_model_entry *entry)
{
    const int pairs = places->hosts == 2          ? 1
                      : places->hosts < PAIRS_MAX ? places->hosts
                                                  : PAIRS_MAX;
    double alpha[PAIRS_MAX] = {0}, per_byte[PAIRS_MAX] = {0}, further[PAIRS_MAX] = {0},
           error[PAIRS_MAX] = {0};
    for (int p = 0; p < pairs; p++) {
        const int host = (int)((long)p * places->hosts / pairs);
        const struct line line = measure_pair(
            sync, places->leader[host], places->leader[(host + 1) % places->hosts], ping, NULL);
        alpha[p] = line.constant / 2; /* there, and back */
        per_byte[p] = line.per_byte / 2;
        further[p] = line.further;
        error[p] = line.error;
    }
    qsort(alpha, (size_t)pairs, sizeof *alpha, strag_compare_double);
    qsort(per_byte, (size_t)pairs, sizeof *per_byte, strag_compare_double);
    qsort(further, (size_t)pairs, sizeof *further, strag_compare_double);
    qsort(error, (size_t)pairs, sizeof *error, strag_compare_double);
    entry->value[STRAG_MODEL_ALPHA] = tidy(STRAG_MODEL_ALPHA, alpha[pairs / 2]);
    entry->value[STRAG_MODEL_BANDWIDTH] = tidy(STRAG_MODEL_BANDWIDTH, 1 / per_byte[pairs / 2]);
    entry->value[STRAG_MODEL_OVERHEAD] = tidy(STRAG_MODEL_OVERHEAD, further[pairs / 2]);
    entry->error = error[pairs / 2];
}

/* Seconds for a byte, measured by rank 0 for all ranks. */
static double measure_reduction(MPI_Comm sync)
{
    double times[SAMPLES_MAX], per_byte = 0;
    int rank, count = 0;
    MPI_Comm_rank(sync, &rank);
    if (rank == 0) {
        float *from = calloc(2, REDUCED);
        if (!from) {
            MPI_Abort(MPI_COMM_WORLD, 2);
            exit(2);
        }
        float *to = from + REDUCED / sizeof *from;
        for (const double begin = MPI_Wtime();
             count < SAMPLES_LEAST || (count < SAMPLES_MAX && MPI_Wtime() - begin < time_for_size);
             count++) {
            const double start = MPI_Wtime();
            MPI_Reduce_local(from, to, REDUCED / sizeof *from, MPI_FLOAT, MPI_SUM);
            times[count] = MPI_Wtime() - start;
        }
        qsort(times, (size_t)count, sizeof *times, strag_compare_double);
        per_byte = times[count / 2] / REDUCED;
        free(from);
    }
    meet(sync);
    MPI_Bcast(&per_byte, 1, MPI_DOUBLE, 0, sync);
    return per_byte;
}

/* A byte is sent and reduced. Sending takes the rest of the time, but at least a tenth. */
static void measure_within(MPI_Comm sync, const struct tune_places *places, double reduction,
                           struct strag_model_entry *entry)
{
    static const char *const pinned[] = {"coll_strag_algorithm", "recursive-doubling"};
    const struct line line =
        measure_pair(sync, places->neighbour[0], places->neighbour[1], allreduce, pinned);
    const double sending = fmax(line.per_byte - reduction, line.per_byte / 10);
    entry->value[STRAG_MODEL_LOCAL_ALPHA] = tidy(STRAG_MODEL_LOCAL_ALPHA, line.constant);
    entry->value[STRAG_MODEL_LOCAL_BANDWIDTH] = tidy(STRAG_MODEL_LOCAL_BANDWIDTH, 1 / sending);
}

void tune_model_measure(MPI_Comm sync, struct strag_model_entry *entry)
{
    struct tune_places places = tune_find_places(sync);
    const time_t now = time(NULL);
    struct tm today;
    *entry = (struct strag_model_entry){
        .error = -1, .ranks = places.ranks, .hosts_measured = places.hosts};
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        entry->value[id] = -1;
    if (localtime_r(&now, &today))
        strftime(entry->date, sizeof entry->date, "%Y-%m-%d", &today);
    const double reduction = measure_reduction(sync);
    entry->value[STRAG_MODEL_REDUCE_BANDWIDTH] = tidy(STRAG_MODEL_REDUCE_BANDWIDTH, 1 / reduction);
    if (places.hosts > 1)
        measure_between(sync, &places, entry);
    if (places.neighbour[0] >= 0)
        measure_within(sync, &places, reduction, entry);
    free(places.leader);
}
