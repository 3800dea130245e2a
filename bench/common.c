/* SPDX-License-Identifier: BSD-3-Clause */
/* See common.h. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "common.h"

#include "base/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void bench_sizes(struct bench *bench, const char *text)
{
    struct strag_error err;
    free(bench->bytes);
    bench->bytes = NULL;
    if (strag_parse_bytes_list(text, &bench->bytes, &bench->sizes, &err) != STRAG_OK)
        bench_die("--sizes", err.text);
    for (int i = 0; i < bench->sizes; i++) {
        size_t size = bench->bytes[i];
        if (size % sizeof(float) != 0 || size == 0 || size / sizeof(float) > 0x7fffffff)
            bench_die("--sizes", "multiples of 4 bytes from 4 to 8G are accepted");
    }
}

void bench_add_contender(struct bench *bench, char *spec)
{
    if (bench->ncontenders == CONTENDERS_MAX)
        bench_die("--contender", "too many of them");
    bench->specs[bench->ncontenders++] = spec;
}

/* @return false: it is not an option of all benchmarks */
static bool read_option(struct bench *bench, int letter)
{
    switch (letter) {
    case 'C':
        bench_add_contender(bench, optarg);
        return true;
    case 's':
        bench_sizes(bench, optarg);
        return true;
    case 'i':
        bench->iterations = bench_integer("--iterations", optarg, 0, 1000000);
        return true;
    case 't':
        bench->seconds = bench_real("--seconds", optarg, 0, 1e9);
        return true;
    case 'w':
        bench->warmup = bench_integer("--warmup", optarg, 0, 1000000);
        return true;
    case 'c':
        bench->check = true;
        return true;
    case 'o':
        bench->output = optarg;
        return true;
    default:
        return false;
    }
}

void bench_read_options(struct bench *bench, int argc, char **argv, const char *usage,
                        const struct option *known, const char *letters, bool (*own)(int letter))
{
    for (int letter; (letter = getopt_long(argc, argv, letters, known, NULL)) != -1;) {
        if (!read_option(bench, letter) && !own(letter))
            bench_die("wrong use", usage);
    }
    if (optind != argc)
        bench_die(argv[optind], usage);
}

static void create_contenders(struct bench *bench)
{
    const int wanted = bench->ncontenders;
    bench->ncontenders = 0;
    for (int i = 0; i < wanted; i++) {
        struct contender *contender = &bench->contenders[bench->ncontenders];
        contender_create(contender, bench->specs[i]);
        contender_settle(contender);
        if (contender_runs(contender, bench->sync)) {
            bench->ncontenders++;
            continue;
        }
        if (bench->rank == 0)
            printf("# left out: %s: the component %s does not run here\n", contender->name,
                   contender->component);
        contender_free(contender);
    }
}

void bench_prepare(struct bench *bench)
{
    size_t most = 0;
    for (int i = 0; i < bench->sizes; i++)
        most = bench->bytes[i] > most ? bench->bytes[i] : most;
    MPI_Comm_rank(MPI_COMM_WORLD, &bench->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench->n);
    contender_create(&bench->unmeasured, "sync,ompi_comm_coll_preference=^strag");
    bench->sync = bench->unmeasured.comm;
    strag_count_open();
    create_contenders(bench);
    bench->send = bench_allocate(most);
    bench->receive = bench_allocate(most);
}

void bench_finish(struct bench *bench)
{
    for (int c = 0; c < bench->ncontenders; c++)
        contender_free(&bench->contenders[c]);
    contender_free(&bench->unmeasured);
    free(bench->bytes);
    free(bench->send);
    free(bench->receive);
    MPI_T_finalize();
    MPI_Finalize();
}

FILE *bench_open_csv(const char *path, const char *header)
{
    FILE *file = fopen(path, "a");
    if (!file)
        bench_die(path, "cannot be opened for writing");
    if (ftell(file) == 0)
        fputs(header, file);
    return file;
}

void bench_close(FILE *file, const char *path)
{
    if (file && fclose(file) != 0)
        bench_die(path, "cannot be written");
}

void *bench_allocate(size_t bytes)
{
    void *memory;
    if (posix_memalign(&memory, 4096, bytes) != 0)
        bench_die("the buffers", "out of memory");
    memset(memory, 0, bytes);
    return memory;
}

/* Elements, after which values repeat: few sums are made, with many ranks, too. */
enum { PERIOD = 97 };

static float value(int rank, size_t index)
{
    return (float)((index * 7 + (size_t)rank * 13) % PERIOD);
}

void bench_fill(struct bench *bench, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bench->send[i] = value(bench->rank, i);
}

void bench_clear(struct bench *bench, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bench->receive[i] = -1;
}

void bench_check(const struct bench *bench, int contender, size_t count)
{
    float sum[PERIOD];
    for (size_t i = 0; i < count; i++) {
        float *want = &sum[i % PERIOD];
        if (i < PERIOD) {
            *want = 0;
            for (int rank = 0; rank < bench->n; rank++)
                *want += value(rank, i);
        }
        if (*want != bench->receive[i]) {
            fprintf(stderr, "%s: %s: %zu bytes: element %zu is %g, not %g\n",
                    program_invocation_short_name, bench->contenders[contender].name,
                    count * sizeof(float), i, bench->receive[i], *want);
            bench_die("--check", "wrong results");
        }
    }
}

int bench_turn(int contenders, int number, int position)
{
    int contender = (position + number / 2) % contenders;
    return number % 2 ? contenders - 1 - contender : contender;
}

int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
