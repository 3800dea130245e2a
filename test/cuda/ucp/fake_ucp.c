/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libucp.so.0 with CUDA support for tests on machines without a device: UCX itself, but messages
 * from and to a device's memory go by way of host memory of our own, copied by the driver.
 *
 *     send    device > memory, posted                        complete
 *     recv    posted, complete in memory; memory > device    when it is tested
 *
 * What the caller says of a buffer's memory must be true: UCX believes it, too. The end of the
 * process is what a mistake costs. Preload it: strag takes a libucp that is there already.
 */
#include <ucp/api/ucp.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE = 2 }; /* of cuPointerGetAttribute */

static void must(int yes, const char *what)
{
    if (yes)
        return;
    fprintf(stderr, "fake UCX: %s\n", what);
    abort();
}

/* UCX, and the driver. */
#define UCX_FUNCTIONS(F)                                                                           \
    F(ucp_cleanup)                                                                                 \
    F(ucp_config_read)                                                                             \
    F(ucp_config_release)                                                                          \
    F(ucp_context_query)                                                                           \
    F(ucp_ep_create)                                                                               \
    F(ucp_init_version)                                                                            \
    F(ucp_request_cancel)                                                                          \
    F(ucp_request_check_status)                                                                    \
    F(ucp_request_free)                                                                            \
    F(ucp_tag_recv_nbx)                                                                            \
    F(ucp_tag_recv_request_test)                                                                   \
    F(ucp_tag_send_nbx)                                                                            \
    F(ucp_worker_create)                                                                           \
    F(ucp_worker_destroy)                                                                          \
    F(ucp_worker_get_address)                                                                      \
    F(ucp_worker_progress)                                                                         \
    F(ucp_worker_release_address)                                                                  \
    F(ucs_status_string)

#define POINTER(function) __typeof__(function) *function;
static struct {
    UCX_FUNCTIONS(POINTER)
} ucx;
#undef POINTER

static struct {
    void *handle;
    int (*cuPointerGetAttributes)(unsigned n, int *attributes, void **data, uint64_t pointer);
    int (*cuMemcpy)(uint64_t out, uint64_t in, size_t bytes);
    int (*cuStreamSynchronize)(void *stream);
} driver;

static void find(void *handle, const char *name, void *pointer)
{
    void *symbol = handle ? dlsym(handle, name) : NULL;
    must(NULL != symbol, name);
    memcpy(pointer, &symbol, sizeof symbol);
}

/* The first that is called. */
static void find_ucx(void)
{
    void *handle = dlopen(STRAG_UCX_LIBDIR "/libucp.so.0", RTLD_NOW | RTLD_LOCAL);
#define FIND(function) find(handle, #function, &ucx.function);
    UCX_FUNCTIONS(FIND)
#undef FIND
}

static void find_driver(void)
{
    if (driver.handle)
        return;
    driver.handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    find(driver.handle, "cuPointerGetAttributes", &driver.cuPointerGetAttributes);
    find(driver.handle, "cuStreamSynchronize", &driver.cuStreamSynchronize);
    find(driver.handle, "cuMemcpy", &driver.cuMemcpy);
}

/* ---- Where memory is ---- */

static ucs_memory_type_t where(const void *address)
{
    unsigned type = 0;
    unsigned char managed = 0;
    int attributes[] = {MEMORY_TYPE, IS_MANAGED};
    void *data[] = {&type, &managed};
    find_driver();
    must(driver.cuPointerGetAttributes(2, attributes, data, (uint64_t)(uintptr_t)address) == 0,
         "cuPointerGetAttributes");
    if (type != DEVICE)
        return UCS_MEMORY_TYPE_HOST;
    return managed ? UCS_MEMORY_TYPE_CUDA_MANAGED : UCS_MEMORY_TYPE_CUDA;
}

/* As with UCX, it is done on return. */
static void copy(void *out, const void *in, size_t bytes)
{
    void *legacy = (void *)(uintptr_t)1;
    must(driver.cuMemcpy((uint64_t)(uintptr_t)out, (uint64_t)(uintptr_t)in, bytes) == 0,
         "cuMemcpy");
    must(driver.cuStreamSynchronize(legacy) == 0, "cuStreamSynchronize");
}

/* ---- Messages whose buffer is a device's ---- */

static struct bounced {
    struct bounced *next;
    void *request, *memory, *buffer;
} * bounced;

/* @return NULL: the buffer is the host's */
static struct bounced *bounce(const void *buffer, size_t bytes, const ucp_request_param_t *param)
{
    const ucs_memory_type_t is = where(buffer);
    must(param->op_attr_mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE, "the memory's type is not given");
    must(param->memory_type == is || param->memory_type == UCS_MEMORY_TYPE_UNKNOWN,
         "a buffer is in memory of another type than was said");
    if (is == UCS_MEMORY_TYPE_HOST)
        return NULL;
    struct bounced *b = calloc(1, sizeof *b);
    void *memory = malloc(bytes);
    must(b && memory, "out of memory");
    b->memory = memory;
    b->buffer = (void *)(uintptr_t)buffer;
    return b;
}

static ucp_request_param_t in_host_memory(const ucp_request_param_t *param)
{
    ucp_request_param_t host = *param;
    host.memory_type = UCS_MEMORY_TYPE_HOST;
    return host;
}

/* @param request  of UCX's: a pointer if the message is on its way */
static void *keep(struct bounced *b, void *request)
{
    if (UCS_PTR_IS_PTR(request)) {
        b->request = request;
        b->next = bounced;
        bounced = b;
    } else {
        free(b->memory);
        free(b);
    }
    return request;
}

static struct bounced **find_bounced(const void *request)
{
    struct bounced **link = &bounced;
    while (*link && (*link)->request != request)
        link = &(*link)->next;
    return link;
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h endpoint, const void *buffer, size_t bytes,
                                  ucp_tag_t tag, const ucp_request_param_t *param)
{
    struct bounced *b = bounce(buffer, bytes, param);
    if (!b)
        return ucx.ucp_tag_send_nbx(endpoint, buffer, bytes, tag, param);
    const ucp_request_param_t host = in_host_memory(param);
    copy(b->memory, buffer, bytes);
    return keep(b, ucx.ucp_tag_send_nbx(endpoint, b->memory, bytes, tag, &host));
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer, size_t bytes, ucp_tag_t tag,
                                  ucp_tag_t mask, const ucp_request_param_t *param)
{
    struct bounced *b = bounce(buffer, bytes, param);
    if (!b)
        return ucx.ucp_tag_recv_nbx(worker, buffer, bytes, tag, mask, param);
    const ucp_request_param_t host = in_host_memory(param);
    return keep(b, ucx.ucp_tag_recv_nbx(worker, b->memory, bytes, tag, mask, &host));
}

ucs_status_t ucp_tag_recv_request_test(void *request, ucp_tag_recv_info_t *info)
{
    ucs_status_t status = ucx.ucp_tag_recv_request_test(request, info);
    const struct bounced *b = *find_bounced(request);
    if (b && status == UCS_OK)
        copy(b->buffer, b->memory, info->length);
    return status;
}

void ucp_request_free(void *request)
{
    struct bounced **link = find_bounced(request), *b = *link;
    if (b && ucx.ucp_request_check_status(request) != UCS_INPROGRESS) {
        *link = b->next;
        free(b->memory);
        free(b);
    }
    ucx.ucp_request_free(request);
}

ucs_status_t ucp_context_query(ucp_context_h context, ucp_context_attr_t *attributes)
{
    ucs_status_t status = ucx.ucp_context_query(context, attributes);
    attributes->memory_types |= UCS_BIT(UCS_MEMORY_TYPE_CUDA);
    return status;
}

/* ---- The rest is UCX ---- */

void ucp_cleanup(ucp_context_h context)
{
    ucx.ucp_cleanup(context);
}

ucs_status_t ucp_config_read(const char *prefix, const char *file, ucp_config_t **config)
{
    find_ucx();
    return ucx.ucp_config_read(prefix, file, config);
}

void ucp_config_release(ucp_config_t *config)
{
    ucx.ucp_config_release(config);
}

ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params, ucp_ep_h *endpoint)
{
    return ucx.ucp_ep_create(worker, params, endpoint);
}

ucs_status_t ucp_init_version(unsigned major, unsigned minor, const ucp_params_t *params,
                              const ucp_config_t *config, ucp_context_h *context)
{
    return ucx.ucp_init_version(major, minor, params, config, context);
}

void ucp_request_cancel(ucp_worker_h worker, void *request)
{
    ucx.ucp_request_cancel(worker, request);
}

ucs_status_t ucp_request_check_status(void *request)
{
    return ucx.ucp_request_check_status(request);
}

ucs_status_t ucp_worker_create(ucp_context_h context, const ucp_worker_params_t *params,
                               ucp_worker_h *worker)
{
    return ucx.ucp_worker_create(context, params, worker);
}

void ucp_worker_destroy(ucp_worker_h worker)
{
    ucx.ucp_worker_destroy(worker);
}

ucs_status_t ucp_worker_get_address(ucp_worker_h worker, ucp_address_t **address, size_t *length)
{
    return ucx.ucp_worker_get_address(worker, address, length);
}

unsigned ucp_worker_progress(ucp_worker_h worker)
{
    return ucx.ucp_worker_progress(worker);
}

void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address)
{
    ucx.ucp_worker_release_address(worker, address);
}

const char *ucs_status_string(ucs_status_t status)
{
    return ucx.ucs_status_string(status);
}
