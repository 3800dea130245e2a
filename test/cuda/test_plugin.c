/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plug-in over the fake driver: what it says of addresses, every operator on device memory, the
 * pool, and that any call of the driver may fail.
 */
#include "plugin_support.h"
#include "reference.h"
#include "support.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS = 6, ELEMENTS = 3000, ROOM = ELEMENTS * 16 + 64 };

static struct gpu gpu;

static struct strag_cuda_device *device_of(const struct strag_cuda *cuda, const void *address)
{
    struct strag_cuda_location place;
    struct strag_error err = {""};
    cuda->locate(address, &place);
    struct strag_cuda_device *device = cuda->device(&place, &err);
    if (!device)
        fail_msg("%s", err.text);
    return device;
}

/* ---- Addresses ---- */

static void check_place(const struct strag_cuda *cuda, const void *address,
                        enum strag_cuda_memory memory, int ordinal)
{
    struct strag_cuda_location place;
    cuda->locate(address, &place);
    assert_int_equal(place.memory, memory);
    assert_int_equal(place.ordinal, ordinal);
}

TEST(places)
{
    plugin_driver(&gpu, 1);
    const struct strag_cuda *cuda = plugin_open(&gpu, PLUGIN_FAKE_KERNELS);
    char here = 0, *heap = malloc(100);
    char *device = gpu_allocate(&gpu, 0, GPU_DEVICE, 100000);
    char *other = gpu_allocate(&gpu, 1, GPU_DEVICE, 100);
    char *managed = gpu_allocate(&gpu, 1, GPU_MANAGED, 100);
    char *pinned = gpu_allocate(&gpu, 0, GPU_PINNED, 100);
    check_place(cuda, NULL, STRAG_CUDA_HOST, -1);
    check_place(cuda, &here, STRAG_CUDA_HOST, -1);
    check_place(cuda, heap, STRAG_CUDA_HOST, -1);
    check_place(cuda, device, STRAG_CUDA_DEVICE, 0);
    check_place(cuda, device + 99999, STRAG_CUDA_DEVICE, 0);
    check_place(cuda, other, STRAG_CUDA_DEVICE, 1);
    check_place(cuda, managed + 50, STRAG_CUDA_MANAGED, 1);
    check_place(cuda, pinned + 50, STRAG_CUDA_PINNED, -1);
    assert_ptr_equal(device_of(cuda, device), device_of(cuda, device + 500));
    assert_ptr_not_equal(device_of(cuda, device), device_of(cuda, other));
    free(heap);
    gpu_free(&gpu, 0, GPU_DEVICE, device);
    check_place(cuda, device, STRAG_CUDA_HOST, -1);
    gpu_free(&gpu, 1, GPU_DEVICE, other);
    gpu_free(&gpu, 1, GPU_MANAGED, managed);
    gpu_free(&gpu, 0, GPU_PINNED, pinned);
    plugin_close(&gpu, cuda);
}

/* What cudaMemcpy is still writing is waited for, at every call if the memory is managed; what is
 * on other streams is not: it may wait for something that the program does after this call. */
TEST(late_copies)
{
    enum { COPIES = 400, FLOATS = 50 };
    static const enum gpu_memory memories[] = {GPU_DEVICE, GPU_MANAGED};
    for (int m = 0; m < 2; m++) {
        struct fake_counts counts;
        uint64_t sum;
        float data[FLOATS], got[FLOATS];
        void *stream;
        plugin_driver(&gpu, 1);
        const struct strag_cuda *cuda = plugin_open(&gpu, PLUGIN_FAKE_KERNELS);
        float *address = gpu_allocate(&gpu, 0, memories[m], sizeof data);
        float *space = gpu_allocate(&gpu, 0, GPU_DEVICE, 2 * sizeof data);
        struct strag_cuda_device *device = device_of(cuda, space);
        assert_int_equal(gpu.make_stream(&stream, DRIVER_STREAM_NON_BLOCKING), 0);
        for (int turn = 0; turn < 20; turn++) {
            for (int i = 0; i < FLOATS; i++)
                data[i] = (float)(turn + i);
            for (int i = 0; turn == 0 && i < COPIES; i++)
                assert_int_equal(gpu.copy_async((uint64_t)(uintptr_t)space,
                                                (uint64_t)(uintptr_t)(space + FLOATS), 4, stream),
                                 0);
            assert_true(gpu_copy(&gpu, address, data, sizeof data));
            assert_ptr_equal(device_of(cuda, address), device);
            gpu.fake_counts(&counts);
            if (turn == 0)
                assert_in_range(counts.copies, 1, COPIES - 1);
            assert_int_equal(cuda->reduce(device, STRAG_CUDA_SUM, STRAG_CUDA_FLOAT, space + FLOATS,
                                          address, address, FLOATS, &sum),
                             STRAG_OK);
            assert_int_equal(cuda->wait(device, sum), STRAG_OK);
            assert_true(gpu_copy(&gpu, got, space + FLOATS, sizeof got));
            for (int i = 0; i < FLOATS; i++)
                assert_true(got[i] == 2 * data[i]);
        }
        assert_int_equal(gpu.destroy_stream(stream), 0);
        gpu_free(&gpu, 0, memories[m], address);
        gpu_free(&gpu, 0, GPU_DEVICE, space);
        plugin_close(&gpu, cuda);
    }
}

/* The tests rely on it: nobody but the driver gets at a device's memory. */
TEST(device_memory_is_out_of_reach)
{
    int status = 0;
    plugin_driver(&gpu, 1);
    volatile char *device = gpu_allocate(&gpu, 0, GPU_DEVICE, 100);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* neither cmocka's nor a sanitizer's business */
        _exit(device[0]);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

/* A driver's context was destroyed, and there is a new one at its address. */
TEST(another_context)
{
    plugin_driver(&gpu, 1);
    const struct strag_cuda *cuda = plugin_open(&gpu, PLUGIN_FAKE_KERNELS);
    char *address = gpu_allocate(&gpu, 0, GPU_DEVICE, 100);
    struct fake_counts counts;
    device_of(cuda, address);
    gpu.fake_counts(&counts);
    long streams = counts.streams;
    device_of(cuda, address);
    gpu.fake_counts(&counts);
    assert_int_equal(counts.streams, streams);
    assert_int_equal(gpu.release(0), 0);
    assert_int_equal(gpu.retain(&gpu.contexts[0], 0), 0);
    device_of(cuda, address);
    gpu.fake_counts(&counts);
    assert_int_equal(counts.streams, 2 * streams); /* those of the old one are the driver's now */
    cuda->close();
}

/* ---- Operators ---- */

/* Some operations in flight, each with buffers of its own on the device. */
struct job {
    enum strag_cuda_op op;
    enum strag_cuda_type type;
    size_t elements;
    char *out, *left, *right; /* on the device */
    char want[ROOM];
    uint64_t ticket;
};

static char staging[ROOM], other[ROOM];

static void random_values(char *at, const struct job *job, struct rng *rng)
{
    for (size_t i = 0; i < job->elements; i++)
        reference_value(job->type, rng_next(rng), at + i * strag_cuda_size(job->type));
}

static void start_job(const struct strag_cuda *cuda, struct strag_cuda_device *device,
                      struct job *job, char *const *memory, struct rng *rng)
{
    size_t size = strag_cuda_size(job->type), bytes;
    do {
        job->op = (enum strag_cuda_op)rng_below(rng, STRAG_CUDA_OPS);
        job->type = (enum strag_cuda_type)rng_below(rng, STRAG_CUDA_TYPES);
    } while (!reference_defined(job->op, job->type));
    size = strag_cuda_size(job->type);
    job->elements = rng_below(rng, ELEMENTS);
    bytes = job->elements * size;
    job->left = memory[0] + rng_below(rng, 32);
    job->right = memory[1] + rng_below(rng, 32);
    job->out = rng_one_in(rng, 3)   ? job->left
               : rng_one_in(rng, 2) ? job->right
                                    : memory[2] + rng_below(rng, 32);
    random_values(staging, job, rng);
    random_values(other, job, rng);
    assert_true(gpu_copy(&gpu, job->left, staging, bytes));
    assert_true(gpu_copy(&gpu, job->right, other, bytes));
    (void)device_of(cuda, job->left); /* which lets these copies end */
    (void)device_of(cuda, job->right);
    for (size_t i = 0; i < job->elements; i++)
        reference_reduce(job->op, job->type, job->want + i * size, staging + i * size,
                         other + i * size);
    assert_int_equal(cuda->reduce(device, job->op, job->type, job->out, job->left, job->right,
                                  job->elements, &job->ticket),
                     STRAG_OK);
}

static void end_job(const struct job *job)
{
    size_t size = strag_cuda_size(job->type);
    assert_true(gpu_copy(&gpu, staging, job->out, job->elements * size));
    for (size_t i = 0; i < job->elements * size; i++) {
        if (staging[i] != job->want[i])
            fail_msg("operator %d, type %d, %zu elements: byte %zu is wrong", (int)job->op,
                     (int)job->type, job->elements, i);
    }
}

TEST(operators)
{
    static struct job jobs[JOBS];
    char *memory[JOBS][3];
    struct rng rng = {support_seed("operators on the device")};
    long cases = support_cases(1500), pending = 0;
    plugin_driver(&gpu, (unsigned)rng.state);
    const struct strag_cuda *cuda = plugin_open(&gpu, PLUGIN_FAKE_KERNELS);
    for (int j = 0; j < JOBS; j++) {
        for (int m = 0; m < 3; m++)
            assert_non_null(memory[j][m] = gpu_allocate(&gpu, 0, GPU_DEVICE, ROOM));
    }
    struct strag_cuda_device *device = device_of(cuda, memory[0][0]);
    for (long done = 0; done < cases; done += JOBS) {
        for (int j = 0; j < JOBS; j++)
            start_job(cuda, device, &jobs[j], memory[j], &rng);
        for (int j = JOBS - 1; j >= 0; j--) {
            int status;
            while ((status = cuda->test(device, jobs[j].ticket)) == STRAG_PENDING)
                pending++;
            assert_int_equal(status, STRAG_OK);
            end_job(&jobs[j]);
        }
    }
    assert_true(pending > 0 || cases < 100); /* things take time */
    for (int j = 0; j < JOBS; j++) {
        for (int m = 0; m < 3; m++)
            gpu_free(&gpu, 0, GPU_DEVICE, memory[j][m]);
    }
    plugin_close(&gpu, cuda);
}

/* ---- The pool ---- */

TEST(pool)
{
    enum { PIECES = 5 };
    const size_t large = (size_t)64 << 20;
    struct fake_counts counts;
    void *piece[PIECES];
    plugin_driver(&gpu, 1);
    const struct strag_cuda *cuda = plugin_open(&gpu, PLUGIN_FAKE_KERNELS);
    char *address = gpu_allocate(&gpu, 0, GPU_DEVICE, 100);
    struct strag_cuda_device *device = device_of(cuda, address);

    void *first = cuda->allocate(device, STRAG_CUDA_DEVICE, 5000);
    void *pinned = cuda->allocate(device, STRAG_CUDA_PINNED, 5000);
    check_place(cuda, first, STRAG_CUDA_DEVICE, 0);
    check_place(cuda, pinned, STRAG_CUDA_PINNED, -1);
    cuda->release(device, first, false);
    assert_ptr_equal(cuda->allocate(device, STRAG_CUDA_DEVICE, 64 << 10), first);
    void *second = cuda->allocate(device, STRAG_CUDA_DEVICE, 1);
    assert_ptr_not_equal(second, first);
    cuda->release(device, first, true); /* lost */
    void *third = cuda->allocate(device, STRAG_CUDA_DEVICE, 1);
    assert_ptr_not_equal(third, first);
    cuda->release(device, pinned, false);
    cuda->release(device, second, false);
    cuda->release(device, third, false);

    for (int i = 0; i < PIECES; i++)
        assert_non_null(piece[i] = cuda->allocate(device, STRAG_CUDA_DEVICE, large));
    for (int i = 0; i < PIECES; i++)
        cuda->release(device, piece[i], false);
    gpu.fake_counts(&counts);
    assert_int_equal(counts.device_pieces, 1 + 1 + 4); /* the test's, the lost one, 256 MiB */
    gpu_free(&gpu, 0, GPU_DEVICE, address);
    gpu_free(&gpu, 0, GPU_DEVICE, first);
    plugin_close(&gpu, cuda);
    gpu.fake_counts(&counts);
    assert_int_equal(counts.device_pieces, 0);
}

/* ---- What is not there ---- */

TEST(declines)
{
    struct strag_error err = {""};
    plugin_driver(&gpu, 1);
    strag_cuda_open_fn *open = plugin_function(PLUGIN_FAKE_KERNELS);
    assert_null(open(STRAG_CUDA_VERSION + 1, gpu.handle, &err));
    assert_string_equal(err.text, "the plug-in is of version 2, not 3");
    void *no_driver = dlopen("libc.so.6", RTLD_NOW);
    assert_non_null(no_driver);
    assert_null(open(STRAG_CUDA_VERSION, no_driver, &err));
    assert_string_equal(err.text,
                        "the driver has no function cuPointerGetAttributes; CUDA 11 is needed");
    dlclose(no_driver);
}

static void check_no_kernels(const char *kernels, const char *reason)
{
    struct strag_error err = {""};
    plugin_driver(&gpu, 1);
    const struct strag_cuda *cuda = plugin_open(&gpu, kernels);
    void *address = gpu_allocate(&gpu, 0, GPU_DEVICE, 100);
    struct strag_cuda_device *device = device_of(cuda, address);
    assert_false(cuda->reduces(device, STRAG_CUDA_SUM, STRAG_CUDA_FLOAT, &err));
    assert_string_equal(err.text, reason);
    gpu_free(&gpu, 0, GPU_DEVICE, address);
    plugin_close(&gpu, cuda);
}

TEST(no_kernels)
{
    check_no_kernels(NULL, "strag_cuda.kernels cannot be read: strag was built without nvcc and "
                           "clang (Debian: clang)");
    check_no_kernels("something else\n", "cuModuleLoadData: no kernel image is available for "
                                         "execution on the device (error 209)");
}

TEST(undefined_operators)
{
    struct strag_error err = {"not empty"};
    plugin_driver(&gpu, 1);
    const struct strag_cuda *cuda = plugin_open(&gpu, PLUGIN_FAKE_KERNELS);
    void *address = gpu_allocate(&gpu, 0, GPU_DEVICE, 100);
    struct strag_cuda_device *device = device_of(cuda, address);
    for (int op = 0; op < STRAG_CUDA_OPS; op++) {
        for (int type = 0; type < STRAG_CUDA_TYPES; type++) {
            enum strag_cuda_op o = (enum strag_cuda_op)op;
            enum strag_cuda_type t = (enum strag_cuda_type)type;
            assert_int_equal(cuda->reduces(device, o, t, &err), reference_defined(o, t));
            assert_string_equal(err.text, "");
        }
    }
    gpu_free(&gpu, 0, GPU_DEVICE, address);
    plugin_close(&gpu, cuda);
}

/* ---- Failures ---- */

/* Use everything once. @return whether all went well */
static bool use_all(const struct strag_cuda *cuda, const void *address)
{
    struct strag_cuda_location place;
    struct strag_error err = {""};
    uint64_t ticket;
    float numbers[4] = {1, 2, 3, 4};
    cuda->locate(address, &place);
    if (place.memory == STRAG_CUDA_HOST)
        return false;
    struct strag_cuda_device *device = cuda->device(&place, &err);
    if (!device) {
        assert_string_not_equal(err.text, "");
        return false;
    }
    float *space = cuda->allocate(device, STRAG_CUDA_DEVICE, 4096);
    void *pinned = cuda->allocate(device, STRAG_CUDA_PINNED, 4096);
    bool good = space && pinned && cuda->reduces(device, STRAG_CUDA_SUM, STRAG_CUDA_FLOAT, &err);
    good = good && cuda->copy(device, space, numbers, sizeof numbers, &ticket) == STRAG_OK;
    good = good && cuda->wait(device, ticket) == STRAG_OK;
    good = good && cuda->reduce(device, STRAG_CUDA_SUM, STRAG_CUDA_FLOAT, space, space, space, 4,
                                &ticket) == STRAG_OK;
    int status = STRAG_PENDING;
    while (good && (status = cuda->test(device, ticket)) == STRAG_PENDING)
        ;
    good = good && status == STRAG_OK && gpu_copy(&gpu, numbers, space, sizeof numbers);
    if (good)
        assert_true(numbers[0] == 2 && numbers[3] == 8);
    if (!good && space && pinned && err.text[0] == '\0') {
        cuda->why(device, &err);
        assert_string_not_equal(err.text, "");
    }
    if (space)
        cuda->release(device, space, false);
    if (pinned)
        cuda->release(device, pinned, false);
    return good;
}

TEST(any_call_may_fail)
{
    static const struct {
        const char *function;
        bool counts; /* what is lost is not the plug-in's to give back */
    } functions[] = {
        {"PointerGetAttributes", true}, {"CtxPushCurrent", false},  {"PointerSetAttribute", true},
        {"StreamSynchronize", true},    {"CtxGetDevice", true},     {"DeviceGetAttribute", true},
        {"StreamCreate", true},         {"EventCreate", true},      {"EventRecord", true},
        {"EventQuery", true},           {"EventSynchronize", true}, {"MemAlloc", true},
        {"MemHostAlloc", true},         {"MemcpyAsync", true},      {"ModuleLoadData", true},
        {"ModuleGetFunction", true},    {"LaunchKernel", true},     {"StreamDestroy", false},
        {"EventDestroy", false},        {"MemFree", false},
    };
    long failed = 0;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        for (long n = 1; n <= 8; n++) {
            plugin_driver(&gpu, (unsigned)n);
            const struct strag_cuda *cuda = plugin_open(&gpu, PLUGIN_FAKE_KERNELS);
            void *address = gpu_allocate(&gpu, 0, GPU_DEVICE, 100);
            gpu.fake_fail(functions[f].function, n);
            failed += !use_all(cuda, address);
            if (!functions[f].counts) {
                cuda->close();
                continue;
            }
            gpu.fake_fail(NULL, 0);
            gpu_free(&gpu, 0, GPU_DEVICE, address);
            plugin_close(&gpu, cuda);
        }
    }
    print_message("%ld of %zu runs met the failure\n", failed,
                  8 * sizeof functions / sizeof *functions);
    assert_in_range(failed, 10, 159);
}
