/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX in this process: one worker for all communicators, and an endpoint to each process that one
 * of them sends to or receives from, made when it is first needed. All calls of UCX are made under
 * one lock, so MPI_THREAD_MULTIPLE works with any build of UCX.
 *
 * Between hosts UCX notices that a peer has died, and calls peer_failed. Within a host UCX's shared
 * memory transports do not; a rank that waits in vain checks from time to time whether the ranks
 * that it waits for still run (coll_strag_ucp_watch).
 *
 * At the end endpoints are not flushed: after Open MPI's barrier no rank waits for a message any
 * more, and a flush towards a peer that has ended would be an error.
 */
#include "internal.h"

#include "compat/world.h"

#include "base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct coll_strag_ucp_process coll_strag_ucp = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- The library ---- */

/* If Open MPI's own components have loaded libucp, it must be the same one. */
static void *open_library(void)
{
    static const char soname[] = "libucp.so.0";
    void *handle = dlopen(soname, RTLD_NOW | RTLD_NOLOAD);
    if (NULL == handle)
        handle = dlopen(STRAG_UCX_LIBDIR "/libucp.so.0", RTLD_NOW);
    return NULL == handle ? dlopen(soname, RTLD_NOW) : handle;
}

/* @return UCS_OK; or UCS_ERR_UNSUPPORTED, and a reason is set */
static ucs_status_t load(struct coll_strag_ucp_process *ucp)
{
    static const char *const names[] = {
#define NAME(function) #function,
        COLL_STRAG_UCP_FUNCTIONS(NAME)
#undef NAME
    };
    ucp->handle = open_library();
    if (NULL == ucp->handle) {
        snprintf(ucp->reason, sizeof ucp->reason, "UCX cannot be loaded: %s", dlerror());
        return UCS_ERR_UNSUPPORTED;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *function = dlsym(ucp->handle, names[i]);
        if (NULL == function) {
            snprintf(ucp->reason, sizeof ucp->reason, "this UCX is too old: it has no %s",
                     names[i]);
            return UCS_ERR_UNSUPPORTED;
        }
        memcpy((char *)&ucp->library + i * sizeof function, &function, sizeof function);
    }
    return UCS_OK;
}

/* ---- The worker ---- */

/* Called from opal_progress. A thread that has the lock makes progress itself. */
static int progress(void)
{
    struct coll_strag_ucp_process *ucp = &coll_strag_ucp;
    if (pthread_mutex_trylock(&ucp->lock) != 0)
        return 0;
    int events = (int)ucp->library.ucp_worker_progress(ucp->worker);
    pthread_mutex_unlock(&ucp->lock);
    return events;
}

static ucs_status_t make_context(struct coll_strag_ucp_process *ucp)
{
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
        .features = UCP_FEATURE_TAG,
        .estimated_num_eps = (size_t)coll_strag_world_size(),
    };
    ucp_config_t *config;
    ucs_status_t status = ucp->library.ucp_config_read("STRAG", NULL, &config);
    if (status != UCS_OK)
        return status;
    status =
        ucp->library.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &ucp->context);
    ucp->library.ucp_config_release(config);
    return status;
}

static ucs_status_t make_worker(struct coll_strag_ucp_process *ucp)
{
    const ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SERIALIZED,
    };
    ucs_status_t status = ucp->library.ucp_worker_create(ucp->context, &params, &ucp->worker);
    if (status == UCS_OK)
        status =
            ucp->library.ucp_worker_get_address(ucp->worker, &ucp->address, &ucp->address_bytes);
    return status;
}

/* Undo open_worker, as far as it got. */
static void close_worker(struct coll_strag_ucp_process *ucp)
{
    if (ucp->address)
        ucp->library.ucp_worker_release_address(ucp->worker, ucp->address);
    if (ucp->worker)
        ucp->library.ucp_worker_destroy(ucp->worker);
    if (ucp->context)
        ucp->library.ucp_cleanup(ucp->context);
    if (ucp->handle)
        dlclose(ucp->handle);
    if (ucp->peers)
        OBJ_RELEASE(ucp->peers);
    for (int i = 0; i < ucp->nall; i++) {
        free(ucp->all[i]->address);
        free(ucp->all[i]);
    }
    free(ucp->all);
    ucp->all = NULL;
    ucp->nall = ucp->all_room = 0;
    ucp->address = NULL;
    ucp->worker = NULL;
    ucp->context = NULL;
    ucp->handle = NULL;
    ucp->peers = NULL;
}

static bool open_worker(struct coll_strag_ucp_process *ucp)
{
    ucp->peers = OBJ_NEW(opal_hash_table_t);
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    if (NULL != ucp->peers && opal_hash_table_init(ucp->peers, 64) == OPAL_SUCCESS)
        status = load(ucp);
    if (status == UCS_OK)
        status = make_context(ucp);
    if (status == UCS_OK)
        status = make_worker(ucp);
    if (status != UCS_OK) {
        if (ucp->reason[0] == '\0')
            snprintf(ucp->reason, sizeof ucp->reason, "UCX cannot be started: %s",
                     ucp->context || ucp->handle ? ucp->library.ucs_status_string(status)
                                                 : "out of memory");
        close_worker(ucp);
        return false;
    }
    ucp->start_time = coll_strag_ucp_start_time((int32_t)getpid());
    return true;
}

bool coll_strag_ucp_open(const char **reason)
{
    struct coll_strag_ucp_process *ucp = &coll_strag_ucp;
    pthread_mutex_lock(&ucp->lock);
    bool first = !ucp->tried;
    if (first) {
        ucp->tried = true;
        ucp->open = open_worker(ucp);
    }
    bool open = ucp->open;
    pthread_mutex_unlock(&ucp->lock);
    *reason = ucp->reason;
    if (first && open)
        opal_progress_register(progress);
    return open;
}

bool coll_strag_ucp_takes_device(void)
{
    const char *reason;
    ucp_context_attr_t attributes = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES};
    if (!coll_strag_ucp_open(&reason) ||
        coll_strag_ucp.library.ucp_context_query(coll_strag_ucp.context, &attributes) != UCS_OK)
        return false;
    return attributes.memory_types & UCS_BIT(UCS_MEMORY_TYPE_CUDA);
}

/* ---- Peers ---- */

static uint64_t key_of(opal_process_name_t name)
{
    return (uint64_t)name.jobid << 32 | name.vpid;
}

struct coll_strag_ucp_peer *coll_strag_ucp_find(opal_process_name_t name)
{
    void *peer = NULL;
    if (opal_hash_table_get_value_uint64(coll_strag_ucp.peers, key_of(name), &peer) != OPAL_SUCCESS)
        return NULL;
    return peer;
}

struct coll_strag_ucp_peer *coll_strag_ucp_add(opal_process_name_t name, const void *address,
                                               size_t bytes)
{
    struct coll_strag_ucp_process *ucp = &coll_strag_ucp;
    struct coll_strag_ucp_peer *peer = calloc(1, sizeof *peer);
    ucp_address_t *copy = malloc(bytes);
    if (!peer || !copy ||
        !strag_array_grow(&ucp->all, &ucp->all_room, ucp->nall + 1, sizeof *ucp->all) ||
        opal_hash_table_set_value_uint64(ucp->peers, key_of(name), peer) != OPAL_SUCCESS) {
        free(copy);
        free(peer);
        return NULL;
    }
    memcpy(copy, address, bytes);
    peer->address = copy;
    peer->number = ucp->nall;
    ucp->all[ucp->nall++] = peer;
    return peer;
}

/* Called by UCX's progress, with the lock held. */
static void peer_failed(void *argument, ucp_ep_h endpoint, ucs_status_t status)
{
    struct coll_strag_ucp_peer *peer = argument;
    (void)endpoint;
    if (peer->failure == UCS_OK)
        peer->failure = status;
}

ucs_status_t coll_strag_ucp_reach(struct coll_strag_ucp_peer *peer)
{
    if (peer->failure != UCS_OK || peer->endpoint)
        return peer->failure;
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = peer->address,
        .err_mode = peer->local ? UCP_ERR_HANDLING_MODE_NONE : UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {peer_failed, peer},
    };
    const ucs_status_t status =
        coll_strag_ucp.library.ucp_ep_create(coll_strag_ucp.worker, &params, &peer->endpoint);
    if (status != UCS_ERR_NO_MEMORY && status != UCS_ERR_NO_RESOURCE) /* try again later */
        peer->failure = status;
    return status;
}

/* ---- Watching ---- */

/* Read /proc/PID/stat: the 3rd field is the state, the 20th the number of threads, the 22nd the
 * start time. The 2nd is a name in parentheses that may have spaces and parentheses itself.
 *
 * @param[out] start_time  0 if it cannot be read, for which there are many reasons
 * @return whether all threads have ended: the first may be a zombie while others run */
static bool read_process(int32_t pid, uint64_t *start_time)
{
    char path[64], text[1024];
    char state = '?';
    int threads = 0;
    unsigned long long time = 0;
    *start_time = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (NULL == file)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *end = strrchr(text, ')');
    if (NULL == end || sscanf(end + 1,
                              " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                              "%*s %d %*s %llu",
                              &state, &threads, &time) != 3)
        return false;
    *start_time = time;
    return (state == 'Z' || state == 'X') && threads <= 1;
}

uint64_t coll_strag_ucp_start_time(int32_t pid)
{
    uint64_t start_time;
    return read_process(pid, &start_time) ? 0 : start_time;
}

/* Has the process certainly ended? In doubt a rank is not given up. */
static bool has_ended(const struct coll_strag_ucp_peer *peer)
{
    uint64_t start_time;
    if (kill(peer->pid, 0) != 0 && errno == ESRCH)
        return true;
    return read_process(peer->pid, &start_time) || (start_time && start_time != peer->start_time);
}

void coll_strag_ucp_watch(struct coll_strag_ucp_peer *peer)
{
    if (peer->start_time && peer->failure == UCS_OK && has_ended(peer)) {
        peer->failure = UCS_ERR_CONNECTION_RESET;
        peer->ended = true;
    }
}

/* ---- The end ---- */

void coll_strag_ucp_close(void)
{
    struct coll_strag_ucp_process *ucp = &coll_strag_ucp;
    if (ucp->open) {
        opal_progress_unregister(progress);
        close_worker(ucp); /* with its endpoints */
    }
    ucp->open = ucp->tried = false;
    ucp->reason[0] = '\0';
}
