/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of MPI_Allreduce of floats in device memory; CSV without a header, from rank 0.
 *
 *     allreduce --label L --how device   the buffers are the device's
 *               --how first              rank 0's are, and the others' are pinned: processes that
 *                                        share a device take turns on it
 *               --how copy-first         as first, but rank 0 copies all to the host and back
 *               --how copy               the program copies all to the host, reduces there, copies
 *                                        back
 *               --how nccl               ncclAllReduce; a device for each rank is needed
 *               --bytes A,B,..
 *
 * Rank r uses device r modulo their number. A time is that of the slowest rank; the least and the
 * median of the repetitions are printed. Results are checked. Exit status 77: not possible here.
 */
#include "gpu.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIP = 77, REPEATS = 15 };

static struct gpu gpu;
static int rank, n, device;

static void die(const char *what)
{
    fprintf(stderr, "allreduce: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- NCCL, of which these functions are used ---- */

enum { NCCL_FLOAT = 7, NCCL_SUM = 0 };

struct nccl_id {
    char bytes[128];
};

static struct {
    int (*id)(struct nccl_id *id);
    int (*init)(void **comm, int n, struct nccl_id id, int rank);
    int (*allreduce)(const void *in, void *out, size_t count, int type, int op, void *comm,
                     void *stream);
    int (*destroy)(void *comm);
    void *comm;
} nccl;

static bool find(void *handle, const char *symbol, void *field)
{
    void *address = dlsym(handle, symbol);
    memcpy(field, &address, sizeof address);
    return address;
}

/* On all ranks or on none. */
static bool open_nccl(void)
{
    struct nccl_id id;
    void *handle = n <= gpu.devices ? dlopen("libnccl.so.2", RTLD_NOW) : NULL;
    int good = handle && find(handle, "ncclGetUniqueId", &nccl.id) &&
               find(handle, "ncclCommInitRank", &nccl.init) &&
               find(handle, "ncclAllReduce", &nccl.allreduce) &&
               find(handle, "ncclCommDestroy", &nccl.destroy);
    if (good && rank == 0)
        good = nccl.id(&id) == 0;
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!good)
        return false;
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    return nccl.init(&nccl.comm, n, id, rank) == 0;
}

/* ---- One call ---- */

struct buffers {
    float *in, *out;           /* on the device */
    float *host_in, *host_out; /* pinned */
    size_t bytes;
};

static void call(const char *how, const struct buffers *b)
{
    size_t count = b->bytes / sizeof(float);
    bool good = true;
    if (strcmp(how, "copy") == 0 || (strcmp(how, "copy-first") == 0 && rank == 0)) {
        good = gpu_copy(&gpu, b->host_in, b->in, b->bytes);
        MPI_Allreduce(b->host_in, b->host_out, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        good = good && gpu_copy(&gpu, b->out, b->host_out, b->bytes) && gpu.synchronize() == 0;
    } else if (strcmp(how, "nccl") == 0) {
        good = nccl.allreduce(b->in, b->out, count, NCCL_FLOAT, NCCL_SUM, nccl.comm, NULL) == 0 &&
               gpu.synchronize() == 0;
    } else {
        MPI_Allreduce(b->in, b->out, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (!good)
        die("a call failed");
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check(const struct buffers *b)
{
    if (!gpu_copy(&gpu, b->host_out, b->out, b->bytes))
        die("the result cannot be copied");
    for (size_t i = 0; i < b->bytes / sizeof(float); i++) {
        int ranks = n * (n - 1) / 2;
        float want = (float)(n * (int)(i % 64) + ranks);
        if (b->host_out[i] != want) {
            fprintf(stderr, "element %zu is %g, not %g\n", i, b->host_out[i], want);
            die("a wrong result");
        }
    }
}

static void measure(const char *label, const char *how, size_t bytes)
{
    double times[REPEATS] = {0};
    int repeats = gpu.fake_counts ? 1 : REPEATS;
    struct buffers b = {.bytes = bytes};
    enum gpu_memory memory = strstr(how, "first") && rank > 0 ? GPU_PINNED : GPU_DEVICE;
    b.in = gpu_allocate(&gpu, device, memory, bytes);
    b.out = gpu_allocate(&gpu, device, memory, bytes);
    b.host_in = gpu_allocate(&gpu, device, GPU_PINNED, bytes);
    b.host_out = gpu_allocate(&gpu, device, GPU_PINNED, bytes);
    if (!b.in || !b.out || !b.host_in || !b.host_out)
        die("not enough memory");
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        b.host_in[i] = (float)(i % 64) + (float)rank;
    if (!gpu_copy(&gpu, b.in, b.host_in, bytes))
        die("the input cannot be copied");
    for (int i = -2; i < repeats; i++) { /* the first ones warm up */
        MPI_Barrier(MPI_COMM_WORLD);
        double time = MPI_Wtime();
        call(how, &b);
        time = MPI_Wtime() - time;
        MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &time, &time, 1, MPI_DOUBLE, MPI_MAX, 0,
                   MPI_COMM_WORLD);
        if (i >= 0)
            times[i] = time;
    }
    check(&b);
    qsort(times, (size_t)repeats, sizeof *times, ascending);
    if (rank == 0)
        printf("%s,%d,%zu,%.9f,%.9f,%.3f\n", label, n, bytes, times[0], times[repeats / 2],
               (double)bytes / times[0] / 1e9);
    gpu_free(&gpu, device, memory, b.in);
    gpu_free(&gpu, device, memory, b.out);
    gpu_free(&gpu, device, GPU_PINNED, b.host_in);
    gpu_free(&gpu, device, GPU_PINNED, b.host_out);
}

int main(int argc, char **argv)
{
    const char *label = "device", *how = "device", *bytes = "65536";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 1; i + 1 < argc; i += 2) {
        label = strcmp(argv[i], "--label") == 0 ? argv[i + 1] : label;
        how = strcmp(argv[i], "--how") == 0 ? argv[i + 1] : how;
        bytes = strcmp(argv[i], "--bytes") == 0 ? argv[i + 1] : bytes;
    }
    int good = gpu_open(&gpu, NULL);
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (good) {
        device = rank % gpu.devices;
        good = gpu.push(gpu.contexts[device]) == 0 && (strcmp(how, "nccl") != 0 || open_nccl());
    }
    if (!good) {
        if (rank == 0)
            fprintf(stderr, "allreduce: %s: not possible here\n", label);
        MPI_Finalize();
        return SKIP;
    }
    while (*bytes) {
        char *end;
        measure(label, how, (size_t)strtoull(bytes, &end, 10));
        bytes = *end == ',' ? end + 1 : "";
    }
    if (nccl.comm)
        nccl.destroy(nccl.comm);
    MPI_Finalize();
    return 0;
}
