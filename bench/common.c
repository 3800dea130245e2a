/* SPDX-License-Identifier: BSD-3-Clause */
/* See common.h. */
#include "common.h"

#include "base/parse.h"

#include <stdlib.h>
#include <string.h>

void bench_die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", bench_program, what, why);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

int bench_integer(const char *option, const char *text, int low, int high)
{
    struct strag_error err;
    int value = 0;
    if (strag_parse_integer(text, low, high, &value, &err) != STRAG_OK)
        bench_die(option, err.text);
    return value;
}

double bench_real(const char *option, const char *text, double low, double high)
{
    struct strag_error err;
    double value = 0;
    if (strag_parse_real(text, low, high, &value, &err) != STRAG_OK)
        bench_die(option, err.text);
    return value;
}

void bench_sizes(const char *text, size_t **bytes, int *count)
{
    struct strag_error err;
    free(*bytes);
    *bytes = NULL;
    if (strag_parse_bytes_list(text, bytes, count, &err) != STRAG_OK)
        bench_die("--sizes", err.text);
    for (int i = 0; i < *count; i++) {
        size_t size = (*bytes)[i];
        if (size % sizeof(float) != 0 || size == 0 || size / sizeof(float) > 0x7fffffff)
            bench_die("--sizes", "multiples of 4 bytes from 4 to 8G are accepted");
    }
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

void *bench_allocate(size_t bytes)
{
    void *memory;
    if (posix_memalign(&memory, 4096, bytes) != 0)
        bench_die("the buffers", "out of memory");
    memset(memory, 0, bytes);
    return memory;
}

float bench_value(int rank, size_t index)
{
    return (float)((index * 7 + (size_t)rank * 13) % 97);
}

void bench_check(const float *result, size_t count, int n, const char *contender)
{
    for (size_t i = 0; i < count; i++) {
        float want = 0;
        for (int rank = 0; rank < n; rank++)
            want += bench_value(rank, i);
        if (want != result[i]) {
            fprintf(stderr, "%s: %s: %zu bytes: element %zu is %g, not %g\n", bench_program,
                    contender, count * sizeof(float), i, result[i], want);
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
