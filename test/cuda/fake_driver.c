/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver's calls, those that the plug-in and the tests use.
 */
#include "fake_internal.h"

#include "gpu.h"
#include "kernel_table.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 8, DEPTH_MAX = 16, NUMBERS_MAX = 128 };

struct fake_counts fake_counts;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialized;
static int devices, broken; /* broken: the error that every call returns */
static struct fake_context contexts[DEVICES_MAX];
static unsigned long long ids, random_state = 1;
static char fail_function[64];
static long fail_at;

static _Thread_local struct fake_context *stack[DEPTH_MAX];
static _Thread_local int depth;

#define API                                       __attribute__((visibility("default")))

#define DECLARE(field, symbol, needed, arguments) int symbol arguments;
DRIVER_FUNCTIONS(DECLARE)
GPU_FUNCTIONS(DECLARE)

/* ---- Checks ---- */

unsigned fake_random(unsigned below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

int fake_mistake(int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("fake driver: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    fake_counts.mistakes++;
    broken = error;
    return error;
}

static struct fake_context *current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

/* Takes the lock. @return the error that the call returns at once */
static int begin(const char *function, bool needs_context)
{
    pthread_mutex_lock(&lock);
    size_t length = strlen(fail_function);
    if (fail_at > 0 && strncmp(function + 2, fail_function, length) == 0 && --fail_at == 0)
        return FAKE_UNKNOWN;
    if (broken)
        return broken;
    if (!initialized)
        return FAKE_NOT_INITIALIZED;
    if (needs_context && !current())
        return fake_mistake(FAKE_INVALID_CONTEXT, "%s without a context", function);
    fake_advance();
    return FAKE_SUCCESS;
}

static int end(int error)
{
    pthread_mutex_unlock(&lock);
    return error;
}

#define BEGIN(needs_context_)                                                                      \
    do {                                                                                           \
        int error_ = begin(__func__, needs_context_);                                              \
        if (error_ != FAKE_SUCCESS)                                                                \
            return end(error_);                                                                    \
    } while (0)

static long setting(const char *name, long usual)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : usual;
}

/* ---- For tests ---- */

API void fake_cuda_counts(struct fake_counts *counts)
{
    pthread_mutex_lock(&lock);
    *counts = fake_counts;
    pthread_mutex_unlock(&lock);
}

API void fake_cuda_fail(const char *function, long n)
{
    pthread_mutex_lock(&lock);
    snprintf(fail_function, sizeof fail_function, "%s", function ? function : "");
    fail_at = function ? n : 0;
    pthread_mutex_unlock(&lock);
}

API void fake_cuda_restart(unsigned seed)
{
    pthread_mutex_lock(&lock);
    fake_streams_forget();
    fake_pieces_forget();
    memset(&fake_counts, 0, sizeof fake_counts);
    memset(contexts, 0, sizeof contexts);
    initialized = false;
    broken = 0;
    depth = 0;
    fail_at = 0;
    random_state = seed;
    pthread_mutex_unlock(&lock);
}

/* ---- Devices and contexts ---- */

API int cuInit(unsigned flags)
{
    pthread_mutex_lock(&lock);
    const char *fail = getenv("FAKE_CUDA_FAIL");
    const char *colon = fail ? strrchr(fail, ':') : NULL;
    if (!initialized && colon) {
        snprintf(fail_function, sizeof fail_function, "%.*s", (int)(colon - fail), fail);
        fail_at = strtol(colon + 1, NULL, 10);
    }
    if (!initialized && getenv("FAKE_CUDA_SEED"))
        random_state = (unsigned long long)setting("FAKE_CUDA_SEED", 1);
    devices = (int)setting("FAKE_CUDA_DEVICES", 2);
    devices = devices < DEVICES_MAX ? devices : DEVICES_MAX;
    initialized = flags == 0 && devices > 0;
    return end(initialized ? FAKE_SUCCESS : FAKE_NO_DEVICE);
}

API int cuDeviceGetCount(int *count)
{
    BEGIN(false);
    *count = devices;
    return end(FAKE_SUCCESS);
}

API int cuDeviceGetName(char *name, int length, int device)
{
    BEGIN(false);
    snprintf(name, (size_t)length, "no device at all (%d)", device);
    return end(FAKE_SUCCESS);
}

API int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    BEGIN(false);
    if (attribute != 16 || device < 0 || device >= devices)
        return end(
            fake_mistake(FAKE_INVALID_VALUE, "attribute %d of device %d", attribute, device));
    *value = 2;
    return end(FAKE_SUCCESS);
}

API int cuGetErrorString(int error, const char **text)
{
    static const struct {
        int error;
        const char *text;
    } texts[] = {{FAKE_OUT_OF_MEMORY, "out of memory"},
                 {FAKE_NO_BINARY, "no kernel image is available for execution on the device"},
                 {FAKE_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
                 {FAKE_UNKNOWN, "unknown error"}};
    *text = "an error";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].error == error)
            *text = texts[i].text;
    }
    return FAKE_SUCCESS;
}

API int cuDevicePrimaryCtxRetain(void **context, int device)
{
    BEGIN(false);
    if (device < 0 || device >= devices)
        return end(FAKE_INVALID_DEVICE);
    if (contexts[device].retained++ == 0) {
        contexts[device].device = device;
        contexts[device].id = ++ids;
    }
    fake_counts.retained++;
    *context = &contexts[device];
    return end(FAKE_SUCCESS);
}

API int cuDevicePrimaryCtxRelease_v2(int device)
{
    BEGIN(false);
    if (device < 0 || device >= devices || contexts[device].retained == 0)
        return end(fake_mistake(FAKE_INVALID_CONTEXT, "released device %d", device));
    contexts[device].retained--;
    fake_counts.retained--;
    return end(FAKE_SUCCESS);
}

API int cuCtxPushCurrent_v2(void *context)
{
    BEGIN(false);
    if (!context || depth == DEPTH_MAX)
        return end(fake_mistake(FAKE_INVALID_CONTEXT, "pushed %p", context));
    stack[depth++] = context;
    fake_counts.pushed++;
    return end(FAKE_SUCCESS);
}

API int cuCtxPopCurrent_v2(void **context)
{
    BEGIN(true);
    *context = stack[--depth];
    fake_counts.pushed--;
    return end(FAKE_SUCCESS);
}

API int cuCtxGetDevice(int *device)
{
    BEGIN(true);
    *device = current()->device;
    return end(FAKE_SUCCESS);
}

API int cuCtxGetId(void *context, unsigned long long *id)
{
    BEGIN(false);
    *id = ((struct fake_context *)context)->id;
    return end(FAKE_SUCCESS);
}

API int cuCtxSynchronize(void)
{
    BEGIN(true);
    fake_finish();
    return end(FAKE_SUCCESS);
}

/* Late copies are on the default streams, and nothing else is. */
API int cuStreamSynchronize(void *stream)
{
    BEGIN(true);
    if ((uintptr_t)stream != 1 && (uintptr_t)stream != 2)
        return end(fake_mistake(FAKE_INVALID_HANDLE, "waited for a stream that is no default"));
    fake_finish_late();
    return end(FAKE_SUCCESS);
}

/* ---- Memory ---- */

static int allocate(enum fake_kind kind, size_t bytes, void *out)
{
    struct fake_piece *piece;
    int error = fake_piece_make(kind, current(), bytes, &piece);
    if (error == FAKE_SUCCESS)
        memcpy(out, &piece->address, sizeof piece->address);
    return end(error);
}

API int cuMemAlloc_v2(uint64_t *pointer, size_t bytes)
{
    BEGIN(true);
    return allocate(FAKE_DEVICE, bytes, pointer);
}

API int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags)
{
    BEGIN(true);
    return flags == 1 ? allocate(FAKE_MANAGED, bytes, pointer) : end(FAKE_INVALID_VALUE);
}

API int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    BEGIN(true);
    return allocate(FAKE_PINNED, bytes, pointer);
}

API int cuMemFree_v2(uint64_t pointer)
{
    BEGIN(true);
    return end(fake_piece_free(FAKE_DEVICE, (void *)(uintptr_t)pointer));
}

API int cuMemFreeHost(void *pointer)
{
    BEGIN(true);
    return end(fake_piece_free(FAKE_PINNED, pointer));
}

API int cuMemcpy(uint64_t out, uint64_t in, size_t bytes)
{
    BEGIN(true);
    const struct fake_piece *piece = fake_piece_find((void *)(uintptr_t)out);
    void *to = fake_contents((void *)(uintptr_t)out, bytes, false);
    const void *from = fake_contents((void *)(uintptr_t)in, bytes, false);
    if (!to || !from)
        return end(fake_mistake(FAKE_INVALID_VALUE, "cuMemcpy of %zu bytes", bytes));
    if (piece && piece->kind != FAKE_PINNED && !piece->synchronous &&
        !fake_piece_find((void *)(uintptr_t)in))
        return end(fake_put_late((void *)(uintptr_t)out, from, bytes));
    fake_finish_late();
    memmove(to, from, bytes);
    return end(FAKE_SUCCESS);
}

API int cuPointerGetAttributes(unsigned n, int *attributes, void **data, uint64_t pointer)
{
    BEGIN(false);
    const struct fake_piece *piece = fake_piece_find((void *)(uintptr_t)pointer);
    bool pinned = piece && piece->kind == FAKE_PINNED;
    for (unsigned i = 0; i < n; i++) {
        if (attributes[i] == 1)
            *(void **)data[i] = piece ? piece->context : NULL;
        else if (attributes[i] == 2)
            *(unsigned *)data[i] = !piece ? 0 : pinned ? 1 : 2;
        else if (attributes[i] == 6)
            *(unsigned char *)data[i] = piece && piece->synchronous;
        else if (attributes[i] == 8)
            *(unsigned char *)data[i] = piece && piece->kind == FAKE_MANAGED;
        else if (attributes[i] == 9)
            *(int *)data[i] = piece && !pinned ? piece->context->device : -2;
        else
            return end(fake_mistake(FAKE_INVALID_VALUE, "attribute %d", attributes[i]));
    }
    return end(FAKE_SUCCESS);
}

API int cuPointerSetAttribute(const void *value, int attribute, uint64_t pointer)
{
    BEGIN(false);
    struct fake_piece *piece = fake_piece_find((void *)(uintptr_t)pointer);
    if (!piece || piece->kind != FAKE_DEVICE || attribute != 6)
        return end(FAKE_INVALID_VALUE);
    piece->synchronous = *(const unsigned *)value & 1;
    return end(FAKE_SUCCESS);
}

/* ---- Streams, events, kernels ---- */

API int cuStreamCreate(void **stream, unsigned flags)
{
    BEGIN(true);
    struct fake_stream *made;
    int error = fake_stream_make(current(), &made);
    *stream = error == FAKE_SUCCESS ? made : NULL;
    return end(error);
}

API int cuStreamDestroy_v2(void *stream)
{
    BEGIN(true);
    return end(fake_stream_destroy(stream));
}

API int cuEventCreate(void **event, unsigned flags)
{
    BEGIN(true);
    struct fake_event *made;
    int error = fake_event_make(&made);
    *event = error == FAKE_SUCCESS ? made : NULL;
    return end(error);
}

API int cuEventDestroy_v2(void *event)
{
    BEGIN(true);
    return end(fake_event_destroy(event));
}

static int check_stream(const void *stream)
{
    return fake_stream_is(stream, current())
               ? FAKE_SUCCESS
               : fake_mistake(FAKE_INVALID_HANDLE, "a stream of another context");
}

API int cuEventRecord(void *event, void *stream)
{
    BEGIN(true);
    int error = check_stream(stream);
    return end(error == FAKE_SUCCESS ? fake_event_record(event, stream) : error);
}

API int cuEventQuery(void *event)
{
    BEGIN(true);
    return end(fake_event_query(event));
}

API int cuEventSynchronize(void *event)
{
    BEGIN(true);
    return end(fake_event_wait(event));
}

API int cuMemcpyAsync(uint64_t out, uint64_t in, size_t bytes, void *stream)
{
    BEGIN(true);
    int error = check_stream(stream);
    return end(error == FAKE_SUCCESS ? fake_put_copy(stream, (void *)(uintptr_t)out,
                                                     (const void *)(uintptr_t)in, bytes)
                                     : error);
}

/* A module is nothing but a number: the kernels are here. */
API int cuModuleLoadData(void **module, const void *image)
{
    BEGIN(true);
    static const unsigned char fatbin[] = {0x50, 0xed, 0x55, 0xba};
    if (memcmp(image, fatbin, sizeof fatbin) != 0 && memcmp(image, "//", 2) != 0)
        return end(FAKE_NO_BINARY);
    fake_counts.modules++;
    *module = &fake_counts.modules;
    return end(FAKE_SUCCESS);
}

API int cuModuleUnload(void *module)
{
    BEGIN(true);
    if (module != &fake_counts.modules)
        return end(fake_mistake(FAKE_INVALID_HANDLE, "no module"));
    fake_counts.modules--;
    return end(FAKE_SUCCESS);
}

static char numbers[NUMBERS_MAX]; /* a function is the address of one */

API int cuModuleGetFunction(void **function, void *module, const char *name)
{
    BEGIN(true);
    int kernel = strag_kernel_find(name);
    if (module != &fake_counts.modules || kernel < 0)
        return end(FAKE_NOT_FOUND);
    *function = &numbers[kernel];
    return end(FAKE_SUCCESS);
}

API int cuLaunchKernel(void *function, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
                       unsigned threads, unsigned threads_y, unsigned threads_z,
                       unsigned shared_bytes, void *stream, void **parameters, void **extra)
{
    BEGIN(true);
    int error = check_stream(stream);
    if (error == FAKE_SUCCESS &&
        (blocks == 0 || blocks_y != 1 || blocks_z != 1 || threads == 0 || threads > 1024 ||
         threads_y != 1 || threads_z != 1 || shared_bytes || extra))
        error = fake_mistake(FAKE_INVALID_VALUE, "a launch of %u x %u threads", blocks, threads);
    return end(error == FAKE_SUCCESS ? fake_put_kernel(stream, (int)((char *)function - numbers),
                                                       parameters[0], (size_t)blocks * threads)
                                     : error);
}
