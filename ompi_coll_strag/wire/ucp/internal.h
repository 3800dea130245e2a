/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations that the files of this folder share. Only they include UCX's headers, and they are
 * built only if configure finds those.
 */
#ifndef COLL_STRAG_UCP_INTERNAL_H
#define COLL_STRAG_UCP_INTERNAL_H

#include "ucp.h"

#include "base/compact.h"

#include <ucp/api/ucp.h>

/*
 * libucp is opened at the first use, not linked: it installs signal handlers when it is loaded,
 * which programs that do not use UCX must not get; and a host without it can still load strag.
 */
#define COLL_STRAG_UCP_FUNCTIONS(X)                                                                \
    X(ucp_cleanup)                                                                                 \
    X(ucp_config_read)                                                                             \
    X(ucp_config_release)                                                                          \
    X(ucp_context_query)                                                                           \
    X(ucp_ep_create)                                                                               \
    X(ucp_init_version)                                                                            \
    X(ucp_request_cancel)                                                                          \
    X(ucp_request_check_status)                                                                    \
    X(ucp_request_free)                                                                            \
    X(ucp_tag_recv_nbx)                                                                            \
    X(ucp_tag_recv_request_test)                                                                   \
    X(ucp_tag_send_nbx)                                                                            \
    X(ucp_worker_create)                                                                           \
    X(ucp_worker_destroy)                                                                          \
    X(ucp_worker_get_address)                                                                      \
    X(ucp_worker_progress)                                                                         \
    X(ucp_worker_release_address)                                                                  \
    X(ucs_status_string)

#define COLL_STRAG_UCP_POINTER(function) __typeof__(function) *function;
struct coll_strag_ucp_library {
    COLL_STRAG_UCP_FUNCTIONS(COLL_STRAG_UCP_POINTER)
};

enum { COLL_STRAG_REASON_MAX = 240 }; /* bytes of a text that says why UCX cannot be used */

/* Bits of a message's tag (messages.c). */
enum {
    COLL_STRAG_UCP_ID_BITS = 28,
    COLL_STRAG_UCP_SHAPE_BITS = 12,
    COLL_STRAG_UCP_RANK_BITS = 24,
};

/* A process on any host, shared by all communicators. It is kept until the end. */
struct coll_strag_ucp_peer {
    int32_t number; /* index in coll_strag_ucp.all */
    ucp_address_t *address;
    ucp_ep_h endpoint;    /* NULL until it is needed */
    ucs_status_t failure; /* UCS_OK if none is known */
    bool local;           /* on this host */
    bool ended;           /* the failure is that the process has ended */
    int32_t pid;
    uint64_t start_time; /* when it started, in the kernel's ticks; 0 if it cannot be watched */
};

/* This process's part. `lock` also guards all calls of UCX. */
struct coll_strag_ucp_process {
    pthread_mutex_t lock;
    bool tried, open;
    char reason[COLL_STRAG_REASON_MAX]; /* why it is not open, if tried */
    void *handle;
    struct coll_strag_ucp_library library;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    size_t address_bytes;
    uint64_t start_time;
    opal_hash_table_t *peers;         /* by name: struct coll_strag_ucp_peer */
    struct coll_strag_ucp_peer **all; /* [number]: the same peers; this process is one of them */
    int nall, all_room;
    uint32_t next_id; /* the next transport's number */
};

extern struct coll_strag_ucp_process coll_strag_ucp;

/* The transport over UCX, for one communicator and one call at a time. */
struct coll_strag_ucp_transport {
    struct coll_strag_transport super;
    int rank;
    const struct strag_compact *peers; /* [rank]: its process's number here. Points to own_peers, */
    struct strag_compact own_peers;    /* ... or to those of the communicator's first transport */
    struct strag_compact ids;          /* [rank]: that rank's number for this transport */
    unsigned idle;                     /* scans without a result */
    double watched;                    /* when peers were last checked, seconds */
};

/**
 * Load the library and make the worker, at the first call. May be called by any thread.
 *
 * @param[out] reason  why UCX cannot be used
 * @return whether it can
 */
bool coll_strag_ucp_open(const char **reason);

/** @return NULL if the process is not known. The caller has the lock, here and below. */
struct coll_strag_ucp_peer *coll_strag_ucp_find(opal_process_name_t name);

/** Record a process. @param address  copied @return NULL if out of memory */
struct coll_strag_ucp_peer *coll_strag_ucp_add(opal_process_name_t name, const void *address,
                                               size_t bytes);

/** Make the endpoint to a process, unless it exists. @return UCS_OK, or an error */
ucs_status_t coll_strag_ucp_reach(struct coll_strag_ucp_peer *peer);

/** When a process of this host started. @return 0 if it has ended, or cannot be seen */
uint64_t coll_strag_ucp_start_time(int32_t pid);

/** Check whether a process still runs. If it has certainly ended, its failure is recorded. */
void coll_strag_ucp_watch(struct coll_strag_ucp_peer *peer);

/** @param transport  all zero except own_peers and ids
 * @param peers      must outlive it */
void coll_strag_ucp_transport_init(struct coll_strag_ucp_transport *transport,
                                   ompi_communicator_t *comm, const struct strag_compact *peers);

#endif
