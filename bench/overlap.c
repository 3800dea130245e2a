/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Iallreduce and persistent allreduces of strag against those of stock Open MPI (libnbc), and
 * against strag's blocking call, interleaved in one run.
 *
 * - blocking: MPI_Allreduce. wait: MPI_Iallreduce and MPI_Wait. start: MPI_Start and MPI_Wait.
 * - total: MPI_Iallreduce, a computation with MPI_Test after every slice of it, MPI_Wait. The
 *   computation takes as long as stock's `wait`, for both; it is also measured alone.
 * - own: the same with a computation as long as each one's own `wait`, as in OSU's osu_iallreduce.
 * - overlap: the part of `wait` that the computation hides. Through shared memory most of `wait` is
 *   the ranks' own copying and reducing, which nothing hides.
 *
 * Each side has buffers of its own: where one reads the other rank's buffer (libnbc does, where the
 * kernel lets it), its lines are in two caches, and the next rank that writes there would pay for
 * that.
 *
 * With --sleep the computation leaves its processor to others: that is for ranks which stand for
 * hosts with processors of their own (bench/lab).
 *
 * Times are medians over samples of the slowest rank, in microseconds; a sample is this many calls
 * one after another.
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] = "usage: mpirun ... --mca coll strag overlap [OPTION...]\n"
                            "  -s, --sizes LIST    bytes: 64K..16M or 8,4K   [64K..4M]\n"
                            "  -i, --iterations N  samples of each kind      [100]\n"
                            "  -t, --seconds T     most time for one size    [20]\n"
                            "  -b, --batch N       calls of a sample         [1]\n"
                            "  -S, --slice US      between calls of MPI_Test [10]\n"
                            "  -p, --sleep         the computation sleeps\n"
                            "  -o, --output FILE   append CSV\n";

enum { STRAG, STOCK, SIDES };
enum kind { BLOCKING, WAIT, START, COMPUTE, TOTAL, OWN_COMPUTE, OWN_TOTAL, KINDS };
enum { SAMPLES_MAX = 20000 };

static struct {
    int batch;
    float *send[SIDES], *receive[SIDES]; /* room for the longest vector */
    double *times[SIDES][KINDS];         /* [SAMPLES_MAX] */
    MPI_Request started[SIDES];
    double slice; /* seconds between two calls of MPI_Test */
    bool sleeps;
    double loops_per_second, compute[SIDES][KINDS]; /* seconds of the computation */
} job = {.batch = 1, .slice = 10e-6};

/* ---- Computing ---- */

/* Not inlined: where a loop lies may double its speed. */
static __attribute__((noinline)) void spin(long loops)
{
    for (long i = 0; i < loops; i++)
        __asm__ volatile("" ::: "memory");
}

/* @return seconds of the computation that are done */
static double compute(double seconds)
{
    if (job.sleeps) {
        const double start = MPI_Wtime();
        nanosleep(&(struct timespec){0, (long)(1e9 * seconds)}, NULL);
        return MPI_Wtime() - start;
    }
    spin((long)(seconds * job.loops_per_second));
    return seconds;
}

/* The fastest of some: others may have the processor meanwhile. */
static void calibrate(void)
{
    const long loops = 1000000;
    for (int i = 0; i < 50; i++) {
        const double start = MPI_Wtime();
        spin(loops);
        const double speed = (double)loops / (MPI_Wtime() - start);
        job.loops_per_second = speed > job.loops_per_second ? speed : job.loops_per_second;
    }
}

/* ---- Calls ---- */

static void call(struct bench *bench, int side, enum kind kind, size_t count)
{
    MPI_Comm comm = bench->contenders[side].comm;
    MPI_Request request = MPI_REQUEST_NULL;
    int done = kind == COMPUTE || kind == OWN_COMPUTE;
    if (kind == BLOCKING) {
        MPI_Allreduce(job.send[side], job.receive[side], (int)count, MPI_FLOAT, MPI_SUM, comm);
    } else if (kind == START) {
        MPI_Start(&job.started[side]);
        MPI_Wait(&job.started[side], MPI_STATUS_IGNORE);
    } else {
        if (!done)
            MPI_Iallreduce(job.send[side], job.receive[side], (int)count, MPI_FLOAT, MPI_SUM, comm,
                           &request);
        for (double left = job.compute[side][kind]; left > 0;) {
            left -= compute(left < job.slice ? left : job.slice);
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

/* The part of `wait` that a computation hides. */
static double overlap(const double *medians, enum kind total, enum kind alone)
{
    return 1 - (medians[total] - medians[alone]) / medians[WAIT];
}

static void show(const struct bench *bench, size_t bytes, double (*medians)[KINDS], int samples,
                 FILE *csv)
{
    const double *a = medians[STRAG], *b = medians[STOCK];
    printf("%9zu %9.2f %9.2f %6.3f %9.2f %6.3f %9.2f %9.2f %9.2f %6.3f %5.2f %5.2f %9.2f %9.2f "
           "%6.3f %5.2f %5.2f\n",
           bytes, 1e6 * a[BLOCKING], 1e6 * a[WAIT], a[WAIT] / a[BLOCKING], 1e6 * a[START],
           a[START] / a[BLOCKING], 1e6 * b[WAIT], 1e6 * a[TOTAL], 1e6 * b[TOTAL],
           a[TOTAL] / b[TOTAL], overlap(a, TOTAL, COMPUTE), overlap(b, TOTAL, COMPUTE),
           1e6 * a[OWN_TOTAL], 1e6 * b[OWN_TOTAL], a[OWN_TOTAL] / b[OWN_TOTAL],
           overlap(a, OWN_TOTAL, OWN_COMPUTE), overlap(b, OWN_TOTAL, OWN_COMPUTE));
    fflush(stdout);
    for (int s = 0; csv && s < SIDES; s++) {
        fprintf(csv, "%d,%zu,%s,%d,%g", bench->n, bytes, bench->contenders[s].name, samples,
                1e6 * job.slice);
        for (int k = 0; k < KINDS; k++)
            fprintf(csv, ",%.3f", 1e6 * medians[s][k]);
        fprintf(csv, ",%.4f,%.4f\n", overlap(medians[s], TOTAL, COMPUTE),
                overlap(medians[s], OWN_TOTAL, OWN_COMPUTE));
    }
}

static void run_size(struct bench *bench, size_t bytes, FILE *csv)
{
    const size_t count = bytes / sizeof(float);
    double medians[SIDES][KINDS];
    bench_fill(bench, count);
    memcpy(job.send[STOCK], job.send[STRAG], bytes);
    for (int s = 0; s < SIDES; s++) {
        BENCH_ALLREDUCE_INIT(job.send[s], job.receive[s], (int)count, MPI_FLOAT, MPI_SUM,
                             bench->contenders[s].comm, MPI_INFO_NULL, &job.started[s]);
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
    for (int s = 0; s < SIDES; s++) {
        job.compute[s][COMPUTE] = job.compute[s][TOTAL] = medians[STOCK][WAIT];
        job.compute[s][OWN_COMPUTE] = job.compute[s][OWN_TOTAL] = medians[s][WAIT];
    }
    samples = take(bench, COMPUTE, OWN_TOTAL, count);
    for (int s = 0; s < SIDES; s++) {
        for (int k = COMPUTE; k < KINDS; k++)
            medians[s][k] = median(bench, s, (enum kind)k, samples);
        MPI_Request_free(&job.started[s]);
    }
    if (bench->rank == 0)
        show(bench, bytes, medians, samples, csv);
}

/* ---- The program ---- */

static void make_buffers(const struct bench *bench)
{
    size_t most = 0;
    for (int i = 0; i < bench->sizes; i++)
        most = bench->bytes[i] > most ? bench->bytes[i] : most;
    job.send[STRAG] = bench->send;
    job.receive[STRAG] = bench->receive;
    job.send[STOCK] = bench_allocate(most);
    job.receive[STOCK] = bench_allocate(most);
}

static bool read_option(int letter)
{
    if (letter == 'b')
        job.batch = bench_integer("--batch", optarg, 1, 1000000);
    else if (letter == 'S')
        job.slice = 1e-6 * bench_real("--slice", optarg, 1, 1e5);
    else
        job.sleeps = letter == 'p';
    return letter == 'b' || letter == 'S' || letter == 'p';
}

int main(int argc, char **argv)
{
    static const struct option known[] = {BENCH_OPTIONS,
                                          {"batch", required_argument, NULL, 'b'},
                                          {"slice", required_argument, NULL, 'S'},
                                          {"sleep", no_argument, NULL, 'p'},
                                          {NULL, 0, NULL, 0}};
    static char contenders[SIDES][64] = {"strag", "stock,ompi_comm_coll_preference=^strag"};
    static struct bench bench = {.seconds = 20, .warmup = 40, .iterations = 100};
    int provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    bench_sizes(&bench, "64K..4M");
    bench_read_options(&bench, argc, argv, usage, known, BENCH_LETTERS "b:S:p", read_option);
    if (bench.ncontenders > 0 || bench.iterations < 1 || bench.iterations > SAMPLES_MAX)
        bench_die("wrong use", usage);
    for (int s = 0; s < SIDES; s++) {
        bench_add_contender(&bench, contenders[s]);
        for (int k = 0; k < KINDS; k++)
            job.times[s][k] = bench_allocate(SAMPLES_MAX * sizeof *job.times[s][k]);
    }
    bench_prepare(&bench);
    make_buffers(&bench);
    calibrate();
    FILE *csv = bench.rank == 0 && bench.output
                    ? bench_open_csv(bench.output,
                                     "np,bytes,contender,samples,slice_us,blocking_us,wait_us,"
                                     "start_us,compute_us,total_us,own_compute_us,"
                                     "own_total_us,overlap,own_overlap\n")
                    : NULL;
    if (bench.rank == 0)
        printf(
            "# np %d, microseconds; strag, then stock (libnbc)\n"
            "#   bytes  blocking      wait  ratio     start  ratio     stock     total     stock  "
            "ratio  overlap         own     stock  ratio  overlap\n",
            bench.n);
    for (int i = 0; i < bench.sizes; i++)
        run_size(&bench, bench.bytes[i], csv);
    bench_close(csv, bench.output);
    for (int s = 0; s < SIDES; s++) {
        for (int k = 0; k < KINDS; k++)
            free(job.times[s][k]);
    }
    free(job.send[STOCK]);
    free(job.receive[STOCK]);
    bench_finish(&bench);
    return 0;
}
