/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Iallreduce and persistent allreduces of strag's against those of stock Open MPI (libnbc), and
 * against strag's blocking call, interleaved in one run.
 *
 * - blocking: MPI_Allreduce. wait: MPI_Iallreduce and MPI_Wait. start: MPI_Start and MPI_Wait.
 * - total: MPI_Iallreduce, a computation with MPI_Test every SLICE seconds, MPI_Wait. The
 *   computation takes as long as stock's `wait`, for both; it is also measured alone.
 * - overlap: the part of `wait` that the computation hides. Through shared memory most of `wait` is
 *   the ranks' own copying and reducing, which nothing hides.
 *
 * Times are medians over samples of the slowest rank, in microseconds; a sample is so many calls
 * one after another.
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>

const char bench_program[] = "overlap";

const char bench_usage[] = "usage: mpirun ... --mca coll strag overlap [OPTION...]\n"
                           "  -s, --sizes LIST    bytes: 64K..16M or 8,4K   [64K..4M]\n"
                           "  -i, --iterations N  samples of each kind      [100]\n"
                           "  -t, --seconds T     most time for one size    [20]\n"
                           "  -b, --batch N       calls of a sample         [1]\n"
                           "  -o, --output FILE   append CSV\n";

#if OMPI_MAJOR_VERSION >= 5
#define PERSISTENT(name_) MPI_##name_
#else
#include <mpi-ext.h>
#define PERSISTENT(name_) MPIX_##name_
#endif

enum { STRAG, STOCK, SIDES };
enum kind { BLOCKING, WAIT, START, COMPUTE, TOTAL, KINDS };
enum { SAMPLES_MAX = 20000 };

static const double slice = 10e-6; /* seconds between two calls of MPI_Test */

static struct {
    int batch;
    double *times[SIDES][KINDS]; /* [SAMPLES_MAX] */
    MPI_Request started[SIDES];
    double loops_per_second, compute; /* seconds of the computation */
} job = {.batch = 1};

/* ---- Computing ---- */

static void compute(double seconds)
{
    const long loops = (long)(seconds * job.loops_per_second);
    for (long i = 0; i < loops; i++)
        __asm__ volatile("" ::: "memory");
}

static void calibrate(void)
{
    job.loops_per_second = 1e8;
    for (int i = 0; i < 5; i++) {
        const double start = MPI_Wtime();
        compute(0.01);
        job.loops_per_second *= 0.01 / (MPI_Wtime() - start);
    }
}

/* ---- Calls ---- */

static void call(struct bench *bench, int side, enum kind kind, size_t count)
{
    MPI_Comm comm = bench->contenders[side].comm;
    MPI_Request request = MPI_REQUEST_NULL;
    int done = kind == COMPUTE;
    if (kind == BLOCKING) {
        MPI_Allreduce(bench->send, bench->receive, (int)count, MPI_FLOAT, MPI_SUM, comm);
    } else if (kind == START) {
        MPI_Start(&job.started[side]);
        MPI_Wait(&job.started[side], MPI_STATUS_IGNORE);
    } else {
        if (kind != COMPUTE)
            MPI_Iallreduce(bench->send, bench->receive, (int)count, MPI_FLOAT, MPI_SUM, comm,
                           &request);
        for (double left = kind == WAIT ? 0 : job.compute; left > 0; left -= slice) {
            compute(left < slice ? left : slice);
            if (!done)
                MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        if (!done)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static double sample(struct bench *bench, int side, enum kind kind, size_t count)
{
    MPI_Barrier(bench->sync);
    const double start = MPI_Wtime();
    for (int i = 0; i < job.batch; i++)
        call(bench, side, kind, count);
    return (MPI_Wtime() - start) / job.batch;
}

/* Samples of some kinds, in turn. @return how many */
static int take(struct bench *bench, enum kind first, enum kind last, size_t count)
{
    const double start = MPI_Wtime();
    const int kinds = (int)(last - first) + 1;
    int stop = 0, samples = 0;
    while (!stop && samples < bench->iterations) {
        for (int k = 0; k < SIDES * kinds; k++) {
            const int turn = bench_turn(SIDES * kinds, samples, k);
            const enum kind kind = (enum kind)((int)first + turn / SIDES);
            job.times[turn % SIDES][kind][samples] = sample(bench, turn % SIDES, kind, count);
        }
        stop = MPI_Wtime() - start > bench->seconds / 2;
        MPI_Bcast(&stop, 1, MPI_INT, 0, bench->sync);
        samples++;
    }
    return samples;
}

/* @return seconds, on all ranks */
static double median(const struct bench *bench, int side, enum kind kind, int samples)
{
    double *times = job.times[side][kind], result;
    MPI_Allreduce(MPI_IN_PLACE, times, samples, MPI_DOUBLE, MPI_MAX, bench->sync);
    qsort(times, (size_t)samples, sizeof *times, bench_compare);
    result = times[samples / 2];
    return result;
}

static void run_size(struct bench *bench, size_t bytes, FILE *csv)
{
    const size_t count = bytes / sizeof(float);
    double medians[SIDES][KINDS], overlap[SIDES];
    bench_fill(bench, count);
    for (int s = 0; s < SIDES; s++) {
        PERSISTENT(Allreduce_init)
        (bench->send, bench->receive, (int)count, MPI_FLOAT, MPI_SUM, bench->contenders[s].comm,
         MPI_INFO_NULL, &job.started[s]);
        for (int i = 0; i < bench->warmup; i++) {
            for (int k = 0; k < COMPUTE; k++)
                call(bench, s, (enum kind)k, count);
        }
    }
    int samples = take(bench, BLOCKING, START, count);
    for (int s = 0; s < SIDES; s++) {
        for (int k = 0; k < COMPUTE; k++)
            medians[s][k] = median(bench, s, (enum kind)k, samples);
    }
    job.compute = medians[STOCK][WAIT];
    samples = take(bench, COMPUTE, TOTAL, count);
    for (int s = 0; s < SIDES; s++) {
        medians[s][TOTAL] = median(bench, s, TOTAL, samples);
        medians[s][COMPUTE] = median(bench, s, COMPUTE, samples);
        overlap[s] = 1 - (medians[s][TOTAL] - medians[s][COMPUTE]) / medians[s][WAIT];
        MPI_Request_free(&job.started[s]);
    }
    if (bench->rank != 0)
        return;
    const double *a = medians[STRAG], *b = medians[STOCK];
    printf("%9zu %9.2f %9.2f %6.3f %9.2f %6.3f %9.2f %9.2f %9.2f %9.2f %6.3f %5.2f %5.2f\n", bytes,
           1e6 * a[BLOCKING], 1e6 * a[WAIT], a[WAIT] / a[BLOCKING], 1e6 * a[START],
           a[START] / a[BLOCKING], 1e6 * b[WAIT], 1e6 * b[START], 1e6 * a[TOTAL], 1e6 * b[TOTAL],
           a[TOTAL] / b[TOTAL], overlap[STRAG], overlap[STOCK]);
    fflush(stdout);
    for (int s = 0; csv && s < SIDES; s++)
        fprintf(csv, "%d,%zu,%s,%d,%.3f,%.3f,%.3f,%.3f,%.3f\n", bench->n, bytes,
                bench->contenders[s].name, samples, 1e6 * medians[s][BLOCKING],
                1e6 * medians[s][WAIT], 1e6 * medians[s][START], 1e6 * medians[s][TOTAL],
                overlap[s]);
}

/* ---- The program ---- */

static bool read_option(int letter)
{
    if (letter == 'b')
        job.batch = bench_integer("--batch", optarg, 1, 1000000);
    return letter == 'b';
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        BENCH_OPTIONS, {"batch", required_argument, NULL, 'b'}, {NULL, 0, NULL, 0}};
    static char contenders[SIDES][64] = {"strag", "stock,ompi_comm_coll_preference=^strag"};
    static struct bench bench = {.seconds = 20, .warmup = 40, .iterations = 100};
    int provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    bench_sizes(&bench, "64K..4M");
    bench_read_options(&bench, argc, argv, known, BENCH_LETTERS "b:", read_option);
    if (bench.ncontenders > 0 || bench.iterations < 1 || bench.iterations > SAMPLES_MAX)
        bench_die("wrong use", bench_usage);
    for (int s = 0; s < SIDES; s++) {
        bench_add_contender(&bench, contenders[s]);
        for (int k = 0; k < KINDS; k++)
            job.times[s][k] = bench_allocate(SAMPLES_MAX * sizeof *job.times[s][k]);
    }
    bench_prepare(&bench);
    calibrate();
    FILE *csv = bench.rank == 0 && bench.output
                    ? bench_open_csv(bench.output, "np,bytes,contender,samples,blocking_us,wait_us,"
                                                   "start_us,total_us,overlap\n")
                    : NULL;
    if (bench.rank == 0)
        printf("# np %d, microseconds; strag, then stock (libnbc)\n"
               "#   bytes  blocking      wait  ratio     start  ratio  stock:wait     start    "
               " total  stock:total  ratio overlap stock:overlap\n",
               bench.n);
    for (int i = 0; i < bench.sizes; i++)
        run_size(&bench, bench.bytes[i], csv);
    bench_close(csv, bench.output);
    for (int s = 0; s < SIDES; s++) {
        for (int k = 0; k < KINDS; k++)
            free(job.times[s][k]);
    }
    bench_finish(&bench);
    return 0;
}
