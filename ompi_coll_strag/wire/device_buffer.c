/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks need not agree on whether a buffer is on a device: a rank sends and receives the same data
 * as from host memory. This is how a rank finds out, and what that takes:
 *
 *     no driver can be here             a flag                                       0 ns
 *     on the stack, heap or static      three comparisons; no device is ever there   a few ns
 *     no driver is loaded               has a library been loaded since last time?   about 50 ns
 *     else                              the plug-in asks the driver
 *
 * A long vector whose result is on a device is reduced there, if the transport and the kernels
 * allow it; an input that is elsewhere is copied there first. All other calls, delegated ones too,
 * run on copies in pinned host memory: the previous component may not support devices.
 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "device_buffer.h"

#include "user/log.h"
#include "wire/ucp/ucp.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* This process's driver and plug-in. */
static struct {
    pthread_mutex_t lock;
    const struct strag_cuda *cuda; /* NULL until a driver is in use; read without the lock */
    void *driver, *plugin;
    bool failed;              /* a driver is loaded, but cannot be used */
    unsigned long long loads; /* libraries loaded so far, at the last check */
    uintptr_t heap, stack;    /* the heap's first address; the end of the main thread's stack */
    uintptr_t data[2];        /* the program's own data */
} devices = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Memory that is never a device's ---- */

/* Field numbers of /proc/self/stat; see proc(5). */
enum { STACK_START = 28, DATA_START = 45, DATA_END = 46, HEAP_START = 47 };

static void find_own_memory(void)
{
    char text[2048] = "";
    FILE *file = fopen("/proc/self/stat", "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    const char *at = strrchr(text, ')'); /* behind the program's name, the second field */
    for (int field = 3; at && (at = strchr(at, ' ')); field++) {
        uintptr_t value = strtoull(++at, NULL, 10);
        if (field == STACK_START)
            devices.stack = value;
        else if (field == DATA_START)
            devices.data[0] = value;
        else if (field == DATA_END)
            devices.data[1] = value;
        else if (field == HEAP_START)
            devices.heap = value;
    }
}

/* The driver maps nothing into this memory. The kernel keeps 128 MiB below the main thread's stack
 * free for it to grow: other threads' stacks and the driver's maps are further away. */
static bool is_own(const void *address)
{
    static const uintptr_t stack_most = (uintptr_t)64 << 20;
    uintptr_t a = (uintptr_t)address;
    if (a >= devices.data[0] && a < devices.data[1])
        return true;
    if (a < devices.stack && devices.stack - a < stack_most)
        return true;
    return devices.heap && a >= devices.heap && a < (uintptr_t)sbrk(0);
}

void coll_strag_device_prepare(void)
{
    /* A driver has one of these files: on a PC or server, under Windows, on Tegra. */
    static const char *const files[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl",
                                        "/dev/nvhost-gpu"};
    struct coll_strag_settings *settings = &coll_strag_settings;
    bool there = settings->device_buffers == COLL_STRAG_YES;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        there = there || access(files[f], F_OK) == 0;
    settings->devices = there && settings->device_buffers != COLL_STRAG_NO;
    if (settings->devices)
        find_own_memory();
}

/* ---- The plug-in ---- */

static int first_library(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

/* The plug-in is next to this component's .so, whose path may be a symbolic link. */
static void *open_plugin(struct strag_error *err)
{
    char path[PATH_MAX + sizeof STRAG_CUDA_PLUGIN];
    Dl_info info;
    char *own =
        dladdr(coll_strag_version, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
    const char *slash = own ? strrchr(own, '/') : NULL;
    void *plugin = NULL;
    if (slash) {
        snprintf(path, sizeof path, "%.*s/%s", (int)(slash - own), own, STRAG_CUDA_PLUGIN);
        plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!slash)
        strag_fail(err, 0, "its folder is not known");
    else if (!plugin)
        strag_fail(err, 0, "%s", dlerror());
    free(own);
    return plugin;
}

static void use_driver(void)
{
    struct strag_error err = {""};
    strag_cuda_open_fn *open = NULL;
    devices.plugin = open_plugin(&err);
    void *symbol = devices.plugin ? dlsym(devices.plugin, "strag_cuda_open") : NULL;
    memcpy(&open, &symbol, sizeof open);
    const struct strag_cuda *cuda = open ? open(STRAG_CUDA_VERSION, devices.driver, &err) : NULL;
    devices.failed = !cuda;
    if (!cuda)
        coll_strag_warn(COLL_STRAG_WARN_NO_PLUGIN, STRAG_CUDA_PLUGIN, err.text);
    __atomic_store_n(&devices.cuda, cuda, __ATOMIC_RELEASE);
}

/* @return the plug-in; NULL if no driver is loaded, or it cannot be used */
static const struct strag_cuda *find_cuda(void)
{
    unsigned long long loads = 0;
    const struct strag_cuda *cuda = __atomic_load_n(&devices.cuda, __ATOMIC_ACQUIRE);
    if (cuda)
        return cuda;
    dl_iterate_phdr(first_library, &loads);
    if (loads == __atomic_load_n(&devices.loads, __ATOMIC_RELAXED))
        return NULL;
    pthread_mutex_lock(&devices.lock);
    if (!devices.cuda && !devices.failed) {
        devices.driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        if (devices.driver)
            use_driver();
    }
    pthread_mutex_unlock(&devices.lock);
    __atomic_store_n(&devices.loads, loads, __ATOMIC_RELAXED);
    return __atomic_load_n(&devices.cuda, __ATOMIC_ACQUIRE);
}

bool coll_strag_device_ucp(void)
{
    return coll_strag_settings.devices && find_cuda() && coll_strag_ucp_takes_device();
}

void coll_strag_device_close(void)
{
    if (devices.cuda)
        devices.cuda->close();
    devices.cuda = NULL;
    if (devices.plugin)
        dlclose(devices.plugin);
    if (devices.driver)
        dlclose(devices.driver);
    devices.plugin = devices.driver = NULL;
    devices.failed = false;
    devices.loads = 0;
}

bool coll_strag_device_find(const void *sbuf, const void *rbuf, ompi_datatype_t *dtype,
                            struct coll_strag_buffer_locations *locations)
{
    const struct strag_cuda *cuda;
    const void *input = MPI_IN_PLACE == sbuf ? rbuf : sbuf;
    ptrdiff_t low, true_extent;
    ompi_datatype_get_true_extent(dtype, &low, &true_extent);
    rbuf = (const char *)rbuf + low; /* far from the address, if that is MPI_BOTTOM */
    input = (const char *)input + low;
    if (is_own(rbuf) && (input == rbuf || is_own(input)))
        return false;
    if (!(cuda = find_cuda()))
        return false;
    cuda->locate(rbuf, &locations->output);
    locations->input = locations->output;
    if (input != rbuf)
        cuda->locate(input, &locations->input);
    return locations->output.memory > STRAG_CUDA_PINNED ||
           locations->input.memory > STRAG_CUDA_PINNED;
}

/* ---- Operators and types ---- */

enum family { SIGNED, UNSIGNED, FLOATING, COMPLEX };

/* By size: 1, 2, 4, 8, 16 bytes. -1 if a device has no such type. */
static const int8_t types[][5] = {
    [SIGNED] = {STRAG_CUDA_INT8, STRAG_CUDA_INT16, STRAG_CUDA_INT32, STRAG_CUDA_INT64, -1},
    [UNSIGNED] = {STRAG_CUDA_UINT8, STRAG_CUDA_UINT16, STRAG_CUDA_UINT32, STRAG_CUDA_UINT64, -1},
    [FLOATING] = {-1, STRAG_CUDA_HALF, STRAG_CUDA_FLOAT, STRAG_CUDA_DOUBLE, -1},
    [COMPLEX] = {-1, -1, STRAG_CUDA_HALF_COMPLEX, STRAG_CUDA_FLOAT_COMPLEX,
                 STRAG_CUDA_DOUBLE_COMPLEX},
};

static int sized(enum family family, size_t size)
{
    bool power = size > 0 && size <= 16 && (size & (size - 1)) == 0;
    return power ? types[family][__builtin_ctzl(size)] : -1;
}

/* @param base  Open MPI's number of the type as an operator's argument
 * @return the device's type; -1 if it has none */
static int find_type(int base, size_t size)
{
    if (base < 0)
        return -1;
    if (base <= OMPI_OP_BASE_TYPE_UINT64_T)
        return sized(base % 2 == OMPI_OP_BASE_TYPE_INT8_T % 2 ? SIGNED : UNSIGNED, size);
    if (base >= OMPI_OP_BASE_TYPE_INTEGER && base <= OMPI_OP_BASE_TYPE_INTEGER16)
        return sized(SIGNED, size);
    switch (base) {
    case OMPI_OP_BASE_TYPE_LONG:
        return sized(SIGNED, size);
    case OMPI_OP_BASE_TYPE_UNSIGNED_LONG:
    case OMPI_OP_BASE_TYPE_LOGICAL:
    case OMPI_OP_BASE_TYPE_BOOL:
    case OMPI_OP_BASE_TYPE_BYTE:
        return sized(UNSIGNED, size);
    case OMPI_OP_BASE_TYPE_FLOAT:
    case OMPI_OP_BASE_TYPE_DOUBLE:
    case OMPI_OP_BASE_TYPE_REAL:
    case OMPI_OP_BASE_TYPE_REAL2:
    case OMPI_OP_BASE_TYPE_REAL4:
    case OMPI_OP_BASE_TYPE_REAL8:
    case OMPI_OP_BASE_TYPE_DOUBLE_PRECISION:
        return sized(FLOATING, size);
    case OMPI_OP_BASE_TYPE_C_FLOAT_COMPLEX:
    case OMPI_OP_BASE_TYPE_C_DOUBLE_COMPLEX:
        return sized(COMPLEX, size);
#ifdef COLL_STRAG_SHORT_FLOAT
    case OMPI_OP_BASE_TYPE_SHORT_FLOAT:
        return sized(FLOATING, size);
    case OMPI_OP_BASE_TYPE_C_SHORT_FLOAT_COMPLEX:
        return sized(COMPLEX, size);
#endif
    case OMPI_OP_BASE_TYPE_2REAL:
        return STRAG_CUDA_FLOAT_FLOAT;
    case OMPI_OP_BASE_TYPE_2DOUBLE_PRECISION:
        return STRAG_CUDA_DOUBLE_DOUBLE;
    case OMPI_OP_BASE_TYPE_2INTEGER:
    case OMPI_OP_BASE_TYPE_2INT:
        return STRAG_CUDA_INT_INT;
    case OMPI_OP_BASE_TYPE_FLOAT_INT:
        return STRAG_CUDA_FLOAT_INT;
    default:
        return -1;
    }
}

/* Find the device's operator and type. @return false if it has none */
static bool find_kind(ompi_op_t *op, ompi_datatype_t *dtype, enum strag_cuda_op *kind,
                      enum strag_cuda_type *type)
{
    static const int8_t kinds[OMPI_OP_NUM_OF_TYPES] = {
        [OMPI_OP_MAX] = 1 + STRAG_CUDA_MAX,       [OMPI_OP_MIN] = 1 + STRAG_CUDA_MIN,
        [OMPI_OP_SUM] = 1 + STRAG_CUDA_SUM,       [OMPI_OP_PROD] = 1 + STRAG_CUDA_PROD,
        [OMPI_OP_LAND] = 1 + STRAG_CUDA_LAND,     [OMPI_OP_LOR] = 1 + STRAG_CUDA_LOR,
        [OMPI_OP_LXOR] = 1 + STRAG_CUDA_LXOR,     [OMPI_OP_BAND] = 1 + STRAG_CUDA_BAND,
        [OMPI_OP_BOR] = 1 + STRAG_CUDA_BOR,       [OMPI_OP_BXOR] = 1 + STRAG_CUDA_BXOR,
        [OMPI_OP_MAXLOC] = 1 + STRAG_CUDA_MAXLOC, [OMPI_OP_MINLOC] = 1 + STRAG_CUDA_MINLOC,
    };
    ptrdiff_t lb, extent;
    size_t size;
    if (!ompi_op_is_intrinsic(op) || !ompi_datatype_is_predefined(dtype) ||
        op->op_type >= OMPI_OP_NUM_OF_TYPES || kinds[op->op_type] == 0)
        return false;
    ompi_datatype_type_size(dtype, &size);
    ompi_datatype_get_extent(dtype, &lb, &extent);
    int base = ompi_op_ddt_map[dtype->id], found = find_type(base, size);
    /* Open MPI 4.1.4 compares these as signed numbers; a device would not. All ranks must agree. */
    if (base == OMPI_OP_BASE_TYPE_UNSIGNED_LONG &&
        (op->op_type == OMPI_OP_MAX || op->op_type == OMPI_OP_MIN))
        return false;
    if (found < 0 || lb != 0 || (size_t)extent != strag_cuda_size((enum strag_cuda_type)found))
        return false;
    *kind = (enum strag_cuda_op)(kinds[op->op_type] - 1);
    *type = (enum strag_cuda_type)found;
    return true;
}

/* ---- A call in the device's memory ---- */

/* For shorter vectors, copies to the host and back take less time than kernels and messages from
 * the device: measured on an H100 (doc/guide/gpus.md). */
static const size_t direct_from = (size_t)64 << 10; /* bytes */

/* @return why a vector that is long enough is not reduced where it is; NULL if it is */
static const char *find_obstacle(const struct coll_strag_transport *transport, bool shared,
                                 struct strag_cuda_device *device, enum strag_cuda_op op,
                                 enum strag_cuda_type type, struct strag_error *no_kernels)
{
    if (transport->kind != COLL_STRAG_UCP)
        return "Open MPI's point-to-point layer and the memory that a host's ranks share take host "
               "memory only; coll_strag_transport=ucp takes them from the device where UCX has "
               "CUDA support (Debian's package libucx0 has not; cuda/build-ucx.sh in strag's "
               "sources builds one that has)";
    if (!coll_strag_ucp_takes_device())
        return "this UCX has no CUDA support. Debian's package libucx0 is built without it; "
               "cuda/build-ucx.sh in strag's sources builds one with it";
    if (shared)
        return "coll_strag_shared_memory=1 lets messages within a host go through memory that its "
               "ranks share; auto leaves them to UCX, which takes them from the device";
    if (!devices.cuda->reduces(device, op, type, no_kernels))
        return no_kernels->text;
    return NULL;
}

/* The device of the result; if that is not on one, the device of the input. */
static struct strag_cuda_device *find_device(const struct coll_strag_buffer_locations *locations)
{
    struct strag_error err = {""};
    const struct strag_cuda_location *place =
        locations->output.memory > STRAG_CUDA_PINNED ? &locations->output : &locations->input;
    struct strag_cuda_device *device = devices.cuda->device(place, &err);
    if (!device)
        coll_strag_log(NULL, "device %d: %s", place->ordinal, err.text);
    /* cppcheck-suppress returnDanglingLifetime ; it has nothing to do with err */
    return device;
}

bool coll_strag_device_runs(const struct coll_strag_transport *transport, bool shared,
                            const struct coll_strag_buffer_locations *locations,
                            const struct coll_strag_reducer *reducer, size_t bytes,
                            struct strag_device_reducer *device_reducer)
{
    enum strag_cuda_op op;
    enum strag_cuda_type type;
    struct strag_error no_kernels = {""};
    struct strag_cuda_device *device;
    const size_t from = coll_strag_settings.device_buffers == COLL_STRAG_YES ? 0 : direct_from;
    if (bytes < from || locations->output.memory <= STRAG_CUDA_PINNED ||
        !find_kind(reducer->op, reducer->dtype, &op, &type) ||
        NULL == (device = find_device(locations)))
        return false;
    const char *obstacle = find_obstacle(transport, shared, device, op, type, &no_kernels);
    if (obstacle && obstacle[0])
        coll_strag_warn(COLL_STRAG_WARN_COPIED, obstacle, "");
    if (!obstacle)
        strag_device_reducer_init(device_reducer, devices.cuda, device, op, type);
    return !obstacle;
}

static bool same_device(const struct coll_strag_buffer_locations *locations,
                        const struct strag_device_reducer *reducer)
{
    return locations->input.memory > STRAG_CUDA_PINNED &&
           devices.cuda->device(&locations->input, &(struct strag_error){""}) == reducer->device;
}

int coll_strag_device_begin(struct coll_strag_transport *transport,
                            const struct coll_strag_buffer_locations *locations,
                            struct strag_device_reducer *reducer, struct strag_call *call)
{
    int status = STRAG_OK;
    if (call->input != call->output && !same_device(locations, reducer)) {
        status = reducer->super.copy(&reducer->super, call->output, call->input, call->count);
        call->input = call->output;
    }
    const bool managed =
        locations->output.memory == STRAG_CUDA_MANAGED ||
        (call->input != call->output && locations->input.memory == STRAG_CUDA_MANAGED);
    transport->buffers = managed ? COLL_STRAG_ANYWHERE : COLL_STRAG_DEVICE;
    call->reducer = &reducer->super;
    return status;
}

/* ---- A call on copies in host memory ---- */

static int copy(const struct coll_strag_copies *copies,
                const struct coll_strag_buffer_locations *locations, void *out, const void *in)
{
    uint64_t ticket;
    struct strag_cuda_device *device = find_device(locations);
    if (!device)
        return OMPI_ERROR;
    int status = devices.cuda->copy(device, out, in, copies->bytes, &ticket);
    if (status == STRAG_OK)
        status = devices.cuda->wait(device, ticket);
    return status == STRAG_OK ? OMPI_SUCCESS : OMPI_ERROR;
}

/* Find where the elements begin, and the bytes from their first to their last one. */
static void find_span(struct coll_strag_copies *copies, size_t count, ompi_datatype_t *dtype)
{
    ptrdiff_t lb, extent, true_extent;
    ompi_datatype_get_extent(dtype, &lb, &extent);
    ompi_datatype_get_true_extent(dtype, &copies->true_lb, &true_extent);
    if (extent < 0 && count > 1) { /* each element is below the one before */
        copies->true_lb += (ptrdiff_t)(count - 1) * extent;
        extent = -extent;
    }
    if (count > 0 && true_extent > 0)
        copies->bytes = (count - 1) * (size_t)extent + (size_t)true_extent;
}

/* Allocate pinned memory, which the device can access by itself. */
static bool allocate(struct coll_strag_copies *copies, struct strag_cuda_device *device, int which)
{
    copies->memory[which] = devices.cuda->allocate(device, STRAG_CUDA_PINNED, copies->bytes);
    return copies->memory[which];
}

int coll_strag_copies_make(struct coll_strag_copies *copies,
                           const struct coll_strag_buffer_locations *locations, const void *sbuf,
                           void *rbuf, size_t count, ompi_datatype_t *dtype)
{
    const bool input = MPI_IN_PLACE != sbuf && locations->input.memory > STRAG_CUDA_PINNED;
    const bool output = locations->output.memory > STRAG_CUDA_PINNED;
    *copies = (struct coll_strag_copies){.sbuf = sbuf, .rbuf = rbuf, .user_rbuf = rbuf};
    find_span(copies, count, dtype);
    if (copies->bytes == 0)
        return OMPI_SUCCESS;
    copies->keeps = MPI_IN_PLACE == sbuf || !ompi_datatype_is_contiguous_memory_layout(dtype, 2);
    struct strag_cuda_device *device = find_device(locations);
    int code = device ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_ERROR;
    if (device && (!input || allocate(copies, device, 0)) &&
        (!output || allocate(copies, device, 1))) {
        if (input)
            copies->sbuf = (char *)copies->memory[0] - copies->true_lb;
        if (output)
            copies->rbuf = (char *)copies->memory[1] - copies->true_lb;
        code = coll_strag_copies_again(copies, locations, sbuf);
    }
    if (code != OMPI_SUCCESS)
        coll_strag_copies_free(copies, locations, OMPI_SUCCESS);
    return code;
}

int coll_strag_copies_again(const struct coll_strag_copies *copies,
                            const struct coll_strag_buffer_locations *locations, const void *input)
{
    int code = OMPI_SUCCESS;
    if (copies->memory[1] && copies->keeps)
        code = copy(copies, locations, copies->memory[1],
                    (const char *)copies->user_rbuf + copies->true_lb);
    if (code == OMPI_SUCCESS && copies->memory[0])
        code = copy(copies, locations, copies->memory[0], (const char *)input + copies->true_lb);
    return code;
}

int coll_strag_copies_back(const struct coll_strag_copies *copies,
                           const struct coll_strag_buffer_locations *locations, int code)
{
    if (code == OMPI_SUCCESS && copies->memory[1])
        code =
            copy(copies, locations, (char *)copies->user_rbuf + copies->true_lb, copies->memory[1]);
    return code;
}

/* The device is looked up again: its context may be gone, and the pinned memory with it. */
void coll_strag_copies_free(struct coll_strag_copies *copies,
                            const struct coll_strag_buffer_locations *locations, int code)
{
    const bool any = copies->memory[0] || copies->memory[1];
    struct strag_cuda_device *device = any ? find_device(locations) : NULL;
    for (int m = 0; device && m < 2; m++) {
        if (copies->memory[m])
            devices.cuda->release(device, copies->memory[m], code != OMPI_SUCCESS);
    }
    copies->memory[0] = copies->memory[1] = NULL;
}

int coll_strag_copies_end(struct coll_strag_copies *copies,
                          const struct coll_strag_buffer_locations *locations, int code)
{
    code = coll_strag_copies_back(copies, locations, code);
    coll_strag_copies_free(copies, locations, code);
    return code;
}
