/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels on a device, over the plug-in: are they right, and how fast are they relative to a
 * copy?
 *
 *     kernels PLUGIN check [CASES]        against the reference, random lengths and alignments
 *     kernels PLUGIN time [BYTES...]      CSV: sums by type, and copies within the device
 *
 * Exit status 77: no driver, or no device. A kernel moves 3 bytes per byte of the result, a copy 2.
 */
#include "gpu.h"
#include "reference.h"
#include "strag_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SKIP = 77, LONGEST = 100003, ROOM = LONGEST * 16 + 64, IN_FLIGHT = 8 };

static struct gpu gpu;
static const struct strag_cuda *cuda;
static struct strag_cuda_device *device;
static uint64_t state = 1;

static uint64_t next(void)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t x = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "kernels: %s: %s\n", what, why);
    return EXIT_FAILURE;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- Right ---- */

struct memory {
    char *device[3], *host[3], *got;
};

/* @return whether the result is right */
static bool check_one(struct memory *m, enum strag_cuda_op op, enum strag_cuda_type type)
{
    size_t size = strag_cuda_size(type), at[3];
    size_t elements = next() % 8 == 0 ? next() % LONGEST : next() % 600;
    uint64_t ticket;
    for (int i = 0; i < 3; i++)
        at[i] = next() % 3 == 0 ? 16 : next() % 32;
    for (size_t i = 0; i < elements; i++) {
        char *left = m->host[0] + i * size, *right = m->host[1] + i * size;
        reference_value(type, next(), left);
        reference_value(type, next(), right);
        reference_reduce(op, type, m->host[2] + i * size, left, right);
    }
    int out = (int)(next() % 3); /* in place of an input, or apart */
    struct strag_cuda_location place;
    if (!gpu_copy(&gpu, m->device[0] + at[0], m->host[0], elements * size) ||
        !gpu_copy(&gpu, m->device[1] + at[1], m->host[1], elements * size))
        return false;
    cuda->locate(m->device[0], &place); /* which lets these copies end */
    cuda->locate(m->device[1], &place);
    if (cuda->reduce(device, op, type, m->device[out] + at[out], m->device[0] + at[0],
                     m->device[1] + at[1], elements, &ticket) != STRAG_OK ||
        cuda->wait(device, ticket) != STRAG_OK ||
        !gpu_copy(&gpu, m->got, m->device[out] + at[out], elements * size))
        return false;
    return memcmp(m->got, m->host[2], elements * size) == 0;
}

static int check(long cases)
{
    struct memory m;
    struct strag_error err = {""};
    long wrong = 0, done = 0;
    for (int i = 0; i < 3; i++) {
        m.device[i] = gpu_allocate(&gpu, 0, GPU_DEVICE, ROOM);
        m.host[i] = malloc(ROOM);
        if (!m.device[i] || !m.host[i])
            return fail("memory", "there is none");
    }
    m.got = malloc(ROOM);
    if (!m.got)
        return fail("memory", "there is none");
    for (int op = 0; op < STRAG_CUDA_OPS; op++) {
        for (int type = 0; type < STRAG_CUDA_TYPES; type++) {
            enum strag_cuda_op o = (enum strag_cuda_op)op;
            enum strag_cuda_type t = (enum strag_cuda_type)type;
            if (!reference_defined(o, t))
                continue;
            for (long c = 0; c < cases; c++, done++) {
                if (check_one(&m, o, t))
                    continue;
                cuda->why(device, &err);
                fprintf(stderr, "kernels: operator %d, type %d: wrong %s\n", op, type, err.text);
                wrong++;
                break;
            }
        }
    }
    printf("kernels: %ld cases, %ld wrong\n", done, wrong);
    for (int i = 0; i < 3; i++) {
        gpu_free(&gpu, 0, GPU_DEVICE, m.device[i]);
        free(m.host[i]);
    }
    free(m.got);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- Fast ---- */

/* One operation after the other, a few of them begun at a time. `type` below 0: copies.
 * @return seconds for one, or below 0 */
static double time_one(char *const *memory, int type, size_t bytes, int repeats)
{
    uint64_t tickets[IN_FLIGHT];
    double start = 0;
    for (int i = -IN_FLIGHT; i < repeats + IN_FLIGHT; i++) { /* the first ones warm up */
        unsigned slot = (unsigned)(i + IN_FLIGHT) % IN_FLIGHT;
        if (i >= 0 && cuda->wait(device, tickets[slot]) != STRAG_OK)
            return -1;
        if (i == 0)
            start = seconds();
        if (i >= repeats)
            continue;
        int status = type < 0 ? cuda->copy(device, memory[0], memory[1], bytes, &tickets[slot])
                              : cuda->reduce(device, STRAG_CUDA_SUM, (enum strag_cuda_type)type,
                                             memory[0], memory[1], memory[2],
                                             bytes / strag_cuda_size((enum strag_cuda_type)type),
                                             &tickets[slot]);
        if (status != STRAG_OK)
            return -1;
    }
    return (seconds() - start) / repeats;
}

static double best_of(char *const *memory, int type, size_t bytes)
{
    int repeats = bytes >= (size_t)16 << 20 ? 50 : 200;
    double best = -1;
    for (int i = 0; i < 5; i++) {
        double time = time_one(memory, type, bytes, gpu.fake_counts ? 2 : repeats);
        if (time < 0)
            return time;
        best = best < 0 || time < best ? time : best;
    }
    return best;
}

/* Sums where the inputs are aligned as the output is, and where they are not. */
static int time_size(size_t bytes)
{
    static const struct {
        const char *name;
        int type, shift;
    } rows[] = {{"copy", -1, 0},
                {"float", STRAG_CUDA_FLOAT, 0},
                {"double", STRAG_CUDA_DOUBLE, 0},
                {"half", STRAG_CUDA_HALF, 0},
                {"bfloat16", STRAG_CUDA_BFLOAT16, 0},
                {"int8", STRAG_CUDA_INT8, 0},
                {"int32", STRAG_CUDA_INT32, 0},
                {"float_complex", STRAG_CUDA_FLOAT_COMPLEX, 0},
                {"float_shifted", STRAG_CUDA_FLOAT, 4},
                {"half_shifted", STRAG_CUDA_HALF, 2}};
    char *memory[3], *shifted[3];
    double copy = 0;
    int status = EXIT_SUCCESS;
    for (int i = 0; i < 3; i++) {
        memory[i] = gpu_allocate(&gpu, 0, GPU_DEVICE, bytes + 64);
        if (!memory[i])
            return fail("memory", "the device has none");
    }
    for (size_t r = 0; r < sizeof rows / sizeof *rows && status == EXIT_SUCCESS; r++) {
        for (int i = 0; i < 3; i++)
            shifted[i] = memory[i] + (i == 2 ? rows[r].shift : 0);
        double time = best_of(shifted, rows[r].type, bytes);
        double rate = (rows[r].type < 0 ? 2 : 3) * (double)bytes / time / 1e9;
        copy = rows[r].type < 0 ? rate : copy;
        if (time < 0)
            status = fail(rows[r].name, "failed");
        else
            printf("%s,%zu,%.9f,%.1f,%.3f\n", rows[r].name, bytes, time, rate, rate / copy);
    }
    for (int i = 0; i < 3; i++)
        gpu_free(&gpu, 0, GPU_DEVICE, memory[i]);
    return status;
}

static int time_all(int sizes, char **size)
{
    int status = EXIT_SUCCESS;
    puts("what,bytes,seconds,gigabytes_per_second,of_copy");
    for (int i = 0; i < sizes && status == EXIT_SUCCESS; i++)
        status = time_size((size_t)strtoull(size[i], NULL, 10));
    return status;
}

/* ---- The plug-in ---- */

static bool open_plugin(const char *path, struct strag_error *err)
{
    strag_cuda_open_fn *open;
    struct strag_cuda_location place;
    void *handle = dlopen(path, RTLD_NOW);
    void *symbol = handle ? dlsym(handle, "strag_cuda_open") : NULL;
    if (!symbol) {
        snprintf(err->text, sizeof err->text, "%s", dlerror());
        return false;
    }
    memcpy(&open, &symbol, sizeof open);
    cuda = open(STRAG_CUDA_VERSION, gpu.handle, err);
    if (!cuda)
        return false;
    void *address = gpu_allocate(&gpu, 0, GPU_DEVICE, 4096);
    cuda->locate(address, &place);
    device = cuda->device(&place, err);
    gpu_free(&gpu, 0, GPU_DEVICE, address);
    return device && cuda->reduces(device, STRAG_CUDA_SUM, STRAG_CUDA_FLOAT, err);
}

int main(int argc, char **argv)
{
    struct strag_error err = {""};
    char name[256] = "";
    int status;
    if (argc < 3 || (strcmp(argv[2], "check") != 0 && strcmp(argv[2], "time") != 0)) {
        fputs("usage: kernels PLUGIN check [CASES] | time [BYTES...]\n", stderr);
        return 2;
    }
    if (!gpu_open(&gpu, NULL)) {
        puts("kernels: no driver, or no device");
        return SKIP;
    }
    if (!open_plugin(argv[1], &err))
        return fail(argv[1], err.text);
    if (strcmp(argv[2], "check") == 0) {
        gpu.name(name, sizeof name, 0);
        printf("kernels: device: %s\n", name);
        status = check(argc > 3 ? strtol(argv[3], NULL, 10) : 100);
    } else {
        status = time_all(argc - 3, argv + 3);
    }
    cuda->close();
    gpu_close(&gpu);
    return status;
}
