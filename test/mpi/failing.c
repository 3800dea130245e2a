/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded: makes one of the places fail to which the component comes while the program is
 * in an allreduce, in a wait for one, or in a start. A place is a call of the component's own to
 *
 *     memory        an allocation, or a request of its own: there is no memory
 *     making        the same, but in MPI_Comm_dup
 *     post          the PML's isend or irecv: an error, and nothing is posted
 *     request       the same: what is posted completes at once, with an error; nothing is sent or
 *                   received
 *
 * A program chooses by the functions of failing.h. Or the environment does, for one that knows
 * nothing of this: FAILING=NUMBER of a place of FAILING_WHAT (memory), on the rank FAILING_RANK of
 * MPI_COMM_WORLD, and with FAILING_ON=1 all after it; at the end of the process it says how many
 * there were.
 */
#define _GNU_SOURCE /* dladdr */

#include "failing.h"

#include "../../ompi_coll_strag/compat/compat.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum what { NOTHING, MEMORY, MAKING, POST, REQUEST };

static struct {
    enum what what;
    long number; /* 0: none fails */
    bool on;
    atomic_long places;
} failing;

static _Thread_local bool in_call;
static bool is_configured; /* by the environment */

/* ---- Which place ---- */

void failing_begin(const char *what, long number, bool on)
{
    static const char *const names[] = {"", "memory", "making", "post", "request"};
    failing.what = NOTHING;
    for (int i = MEMORY; i <= REQUEST; i++) {
        if (strcmp(what, names[i]) == 0)
            failing.what = (enum what)i;
    }
    failing.number = number;
    failing.on = on;
    atomic_store(&failing.places, 0);
}

long failing_end(void)
{
    failing.what = NOTHING;
    return atomic_load(&failing.places);
}

static __attribute__((constructor)) void begin(void)
{
    const char *number = getenv("FAILING"), *where = getenv("FAILING_RANK");
    const char *what = getenv("FAILING_WHAT");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *on = getenv("FAILING_ON");
    if (!number || !where || !rank || strcmp(where, rank) != 0)
        return;
    is_configured = true;
    failing_begin(what ? what : "memory", strtol(number, NULL, 10), on && strcmp(on, "1") == 0);
}

static __attribute__((destructor)) void end(void)
{
    if (is_configured)
        fprintf(stderr, "failing: %ld places\n", failing_end());
}

/* Of this kind, and called by the component? */
static bool is_place(enum what what, const void *caller)
{
    Dl_info info;
    const bool same = failing.what == what || (failing.what == MAKING && what == MEMORY);
    return same && in_call && dladdr(caller, &info) && info.dli_fname &&
           strstr(info.dli_fname, "mca_coll_strag");
}

static bool fails(enum what what, const void *caller)
{
    if (!is_place(what, caller))
        return false;
    const long number = atomic_fetch_add(&failing.places, 1) + 1;
    return number == failing.number || (failing.on && failing.number && number > failing.number);
}

/* ---- Memory ---- */

/* glibc's own. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    return fails(MEMORY, __builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(MEMORY, __builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(MEMORY, __builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(MEMORY, __builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (fails(MEMORY, __builtin_return_address(0)))
        return ENOMEM;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

static opal_free_list_t *list_of_requests; /* the component's; NULL: it has had none yet */

/* What an empty list of requests asks for. */
int opal_free_list_grow_st(opal_free_list_t *list, size_t count, opal_free_list_item_t **item)
{
    int (*next)(opal_free_list_t *, size_t, opal_free_list_item_t **);
    if (is_place(MEMORY, __builtin_return_address(0)))
        list_of_requests = list;
    if (fails(MEMORY, __builtin_return_address(0)))
        return OPAL_ERR_OUT_OF_RESOURCE;
    *(void **)&next = dlsym(RTLD_NEXT, "opal_free_list_grow_st");
    return next(list, count, item);
}

/* ---- Communicators ---- */

void failing_keep(MPI_Comm comm)
{
    OBJ_RETAIN(comm);
}

bool failing_let_go(MPI_Comm comm)
{
    const bool others = ((opal_object_t *)comm)->obj_reference_count > 1;
    OBJ_RELEASE(comm);
    return others;
}

/* ---- The PML ---- */

static mca_pml_base_module_t pml; /* as it was */

static int free_request(ompi_request_t **request)
{
    free(*request);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

static int cancel_request(ompi_request_t *request, int flag)
{
    return OMPI_SUCCESS;
}

/* One that has ended with an error. */
static int failed_request(ompi_request_t **request)
{
    ompi_request_t *made = __libc_calloc(1, sizeof *made);
    if (!made)
        return OMPI_ERR_OUT_OF_RESOURCE;
    made->req_type = OMPI_REQUEST_PML;
    made->req_state = OMPI_REQUEST_ACTIVE;
    made->req_complete = REQUEST_COMPLETED;
    made->req_free = free_request;
    made->req_cancel = cancel_request;
    made->req_status.MPI_ERROR = MPI_ERR_OTHER;
    *request = made;
    return OMPI_SUCCESS;
}

static int failing_isend(const void *buffer, size_t count, ompi_datatype_t *type, int to, int tag,
                         mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                         ompi_request_t **request)
{
    if (fails(POST, __builtin_return_address(0)))
        return OMPI_ERR_OUT_OF_RESOURCE;
    if (fails(REQUEST, __builtin_return_address(0)))
        return failed_request(request);
    return pml.pml_isend(buffer, count, type, to, tag, mode, comm, request);
}

static int failing_irecv(void *buffer, size_t count, ompi_datatype_t *type, int from, int tag,
                         ompi_communicator_t *comm, ompi_request_t **request)
{
    if (fails(POST, __builtin_return_address(0)))
        return OMPI_ERR_OUT_OF_RESOURCE;
    if (fails(REQUEST, __builtin_return_address(0)))
        return failed_request(request);
    return pml.pml_irecv(buffer, count, type, from, tag, comm, request);
}

/* ---- The program's calls ---- */

/* The next request needs memory; what is in the list is lost. */
static void empty_list(void)
{
    while (list_of_requests && opal_lifo_pop(&list_of_requests->super) != NULL)
        ;
}

static void enter(bool makes)
{
    if (mca_pml.pml_isend != failing_isend) {
        pml = mca_pml;
        mca_pml.pml_isend = failing_isend;
        mca_pml.pml_irecv = failing_irecv;
    }
    if (failing.what == MEMORY)
        empty_list();
    in_call = makes == (failing.what == MAKING);
}

static int leave(int code)
{
    in_call = false;
    return code;
}

int MPI_Allreduce(const void *input, void *output, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    enter(false);
    return leave(PMPI_Allreduce(input, output, count, type, op, comm));
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    enter(true);
    return leave(PMPI_Comm_dup(comm, made));
}

int MPI_Iallreduce(const void *input, void *output, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    enter(false);
    return leave(PMPI_Iallreduce(input, output, count, type, op, comm, request));
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    enter(false);
    return leave(PMPI_Wait(request, status));
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    enter(false);
    return leave(PMPI_Waitall(count, requests, statuses));
}

int MPI_Start(MPI_Request *request)
{
    enter(false);
    return leave(PMPI_Start(request));
}

#if OMPI_MAJOR_VERSION >= 5
int MPI_Allreduce_init(const void *input, void *output, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    enter(false);
    return leave(PMPI_Allreduce_init(input, output, count, type, op, comm, info, request));
}
#else
int MPIX_Allreduce_init(const void *input, void *output, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request);
int PMPIX_Allreduce_init(const void *input, void *output, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request);

int MPIX_Allreduce_init(const void *input, void *output, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    enter(false);
    return leave(PMPIX_Allreduce_init(input, output, count, type, op, comm, info, request));
}
#endif
