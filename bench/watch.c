/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of the watch: the same calls on communicators that are not watched (twice, which shows
 * the noise), watched, and measured with barriers. They alternate in blocks of a window of calls,
 * in another order every time, so that each block includes all of the watch's work.
 *
 *     mpirun ... --mca coll strag watch [SECONDS [BYTES...]]
 *
 * Prints, for each size, the median of the blocks' times per call, and of a block's additional time
 * over the unwatched block of its turn, with quartiles; and the additional time of all blocks
 * together, in which windows that are rare and expensive count.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOT, AGAIN, WATCHED, CLOSELY, CONTENDERS };
enum { WINDOW = 100, TURNS_MAX = 20000 };

static const char *const names[CONTENDERS] = {"not", "not again", "watched", "closely"};

static struct {
    int rank;
    MPI_Comm sync, comms[CONTENDERS];
    float *input, *output;
    double *times[CONTENDERS]; /* [turn]: seconds per call */
    double *ratios;            /* [turn] */
} bench;

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory) {
        fprintf(stderr, "watch: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        exit(2);
    }
    return memory;
}

static MPI_Comm dup_with(const char *straggler, const char *report)
{
    MPI_Info info;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, "coll_strag_straggler", straggler);
    MPI_Info_set(info, "coll_strag_report", report);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

/* Seconds per call; those of the slowest rank. */
static double time_block(MPI_Comm comm, int count)
{
    double longest;
    MPI_Barrier(bench.sync);
    double start = MPI_Wtime();
    for (int i = 0; i < WINDOW; i++)
        MPI_Allreduce(bench.input, bench.output, count, MPI_FLOAT, MPI_SUM, comm);
    double seconds = (MPI_Wtime() - start) / WINDOW;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, bench.sync);
    return longest;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Percent by which all of a contender's blocks take longer than those that are not watched. */
static double additional(int contender, int turns)
{
    double all = 0, unwatched = 0;
    for (int t = 0; t < turns; t++) {
        all += bench.times[contender][t];
        unwatched += bench.times[NOT][t];
    }
    return 100 * (all / unwatched - 1);
}

static void print(size_t bytes, int turns)
{
    for (int c = 0; c < CONTENDERS; c++) {
        for (int t = 0; t < turns; t++)
            bench.ratios[t] = 100 * (bench.times[c][t] / bench.times[NOT][t] - 1);
        qsort(bench.ratios, (size_t)turns, sizeof *bench.ratios, compare);
        double lower = bench.ratios[turns / 4], median = bench.ratios[turns / 2],
               upper = bench.ratios[turns * 3 / 4];
        for (int t = 0; t < turns; t++)
            bench.ratios[t] = bench.times[c][t];
        qsort(bench.ratios, (size_t)turns, sizeof *bench.ratios, compare);
        printf("%9zu bytes  %-9s  %9.2f us  %+6.2f %%  (%+.2f .. %+.2f)  %+6.2f %% in all  %d "
               "blocks\n",
               bytes, names[c], 1e6 * bench.ratios[turns / 2], median, lower, upper,
               additional(c, turns), turns);
    }
}

static void measure(size_t bytes, double seconds)
{
    int turns = 0, more = 1;
    double end = MPI_Wtime() + seconds;
    for (int c = 0; c < CONTENDERS; c++)
        time_block(bench.comms[c], (int)(bytes / sizeof(float)));
    while (more) {
        for (int i = 0; i < CONTENDERS; i++) {
            int c = (i + turns) % CONTENDERS;
            bench.times[c][turns] = time_block(bench.comms[c], (int)(bytes / sizeof(float)));
        }
        more = ++turns < TURNS_MAX && MPI_Wtime() < end;
        MPI_Bcast(&more, 1, MPI_INT, 0, bench.sync);
    }
    if (bench.rank == 0)
        print(bytes, turns);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"8192", "65536", "1048576"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    const double seconds = argc > 1 ? strtod(argv[1], NULL) : 5;
    const char *const *sizes = argc > 2 ? (const char *const *)argv + 2 : usual;
    const int nsizes = argc > 2 ? argc - 2 : (int)(sizeof usual / sizeof *usual);
    size_t most = 0;
    for (int s = 0; s < nsizes; s++)
        most = strtoul(sizes[s], NULL, 10) > most ? strtoul(sizes[s], NULL, 10) : most;
    bench.input = allocate(most + sizeof(float));
    bench.output = allocate(most + sizeof(float));
    bench.ratios = allocate(TURNS_MAX * sizeof(double));
    for (int c = 0; c < CONTENDERS; c++) {
        bench.times[c] = allocate(TURNS_MAX * sizeof(double));
        bench.comms[c] = dup_with(c < WATCHED ? "none" : "auto", c == CLOSELY ? "1" : "0");
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &bench.sync);
    for (int s = 0; s < nsizes; s++)
        measure(strtoul(sizes[s], NULL, 10), seconds);
    for (int c = 0; c < CONTENDERS; c++) {
        MPI_Comm_free(&bench.comms[c]);
        free(bench.times[c]);
    }
    MPI_Comm_free(&bench.sync);
    free(bench.input);
    free(bench.output);
    free(bench.ratios);
    MPI_Finalize();
    return 0;
}
