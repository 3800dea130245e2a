/* SPDX-License-Identifier: BSD-3-Clause */
#include "collect.h"

#include "compat/failures.h"
#include "compat/tags.h"
#include "facts/fingerprint.h"
#include "mpi/teardown.h"
#include "stuck/say.h"
#include "user/log.h"
#include "wire/transport.h"

#include <stdlib.h>
#include <string.h>

/* On a communicator that has failed nothing is sent: rank 0 may have freed it, and the message
 * would be taken for one of the next communicator that has its number. */
static bool has_failed(const struct coll_strag_collect *collect)
{
    return coll_strag_failure(collect->comm) != OMPI_SUCCESS;
}

static bool takes_part(ompi_communicator_t *comm, int rank)
{
    struct coll_strag_fingerprint theirs;
    coll_strag_fingerprint_find(comm, rank, &theirs);
    return coll_strag_fingerprint_is_ours(&theirs);
}

static void begin_on_first(struct coll_strag_collect *collect, void *record, size_t bytes)
{
    const size_t n = (size_t)collect->n;
    collect->records = malloc(n * collect->room);
    collect->requests = calloc(n, sizeof(ompi_request_t *));
    collect->bytes = calloc(n, sizeof *collect->bytes);
    if (!collect->records || !collect->requests || !collect->bytes) {
        coll_strag_log(collect->comm, "out of memory: no rank's notes are reported");
        return;
    }
    if (record)
        memcpy(collect->records, record, bytes);
    collect->bytes[0] = record ? bytes : 0;
    for (int rank = 1; rank < collect->n && !has_failed(collect); rank++) {
        ompi_request_t *request = NULL;
        if (takes_part(collect->comm, rank) &&
            MCA_PML_CALL(irecv(collect->records + (size_t)rank * collect->room, collect->room,
                               MPI_BYTE, rank, COLL_STRAG_TAG_COLLECT, collect->comm, &request)) ==
                OMPI_SUCCESS)
            collect->requests[rank] = request;
    }
}

void coll_strag_collect_begin(struct coll_strag_collect *collect, ompi_communicator_t *comm,
                              void *record, size_t bytes, size_t room)
{
    *collect = (struct coll_strag_collect){.comm = comm, .n = ompi_comm_size(comm), .room = room};
    if (ompi_comm_rank(comm) == 0) {
        begin_on_first(collect, record, bytes);
        free(record);
        return;
    }
    collect->records = record;
    collect->n = 1;
    collect->requests = calloc(1, sizeof(ompi_request_t *));
    if (!record || !collect->requests || has_failed(collect) ||
        MCA_PML_CALL(isend(record, bytes, MPI_BYTE, 0, COLL_STRAG_TAG_COLLECT,
                           MCA_PML_BASE_SEND_STANDARD, comm, collect->requests)) != OMPI_SUCCESS)
        collect->n = 0;
}

/* Free a request that is complete. @return whether there is nothing to wait for */
static bool is_over(struct coll_strag_collect *collect, int r)
{
    ompi_request_t *request = collect->requests[r];
    if (NULL == request)
        return true;
    if (!REQUEST_COMPLETE(request) && has_failed(collect))
        ompi_request_cancel(request);
    if (!REQUEST_COMPLETE(request))
        return false;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* another thread may have completed it */
    if (collect->bytes && request->req_status.MPI_ERROR == MPI_SUCCESS &&
        !request->req_status._cancelled)
        collect->bytes[r] = request->req_status._ucount;
    ompi_request_free(&collect->requests[r]);
    collect->requests[r] = NULL;
    return true;
}

/* On rank 0. */
static void say_missing(struct coll_strag_collect *collect, double wait_limit)
{
    int missing[COLL_STRAG_NAMED], count = 0;
    for (int rank = 0; rank < collect->n; rank++) {
        if (is_over(collect, rank))
            continue;
        if (count < COLL_STRAG_NAMED)
            missing[count] = rank;
        count++;
    }
    coll_strag_say_awaited(collect->comm,
                           coll_strag_teardown_is_final(collect->comm) ? "MPI_Finalize"
                                                                       : "MPI_Comm_free",
                           missing, count, COLL_STRAG_COLLECT_SILENTLY, wait_limit);
}

bool coll_strag_collect_wait(struct coll_strag_collect *collect, double wait_limit)
{
    const double start = coll_strag_seconds();
    bool all = true, silent = collect->bytes != NULL; /* rank 0 speaks */
    for (int r = 0; collect->requests && r < collect->n; r++) {
        bool over;
        while (!(over = is_over(collect, r)) && coll_strag_seconds() < start + wait_limit &&
               !has_failed(collect)) {
            if (silent && coll_strag_seconds() > start + COLL_STRAG_COLLECT_SILENTLY) {
                silent = false;
                say_missing(collect, wait_limit);
            }
            opal_progress();
        }
        all = all && over;
    }
    return all;
}

const void *coll_strag_collect_of(const struct coll_strag_collect *collect, int rank, size_t *bytes)
{
    *bytes = collect->bytes ? collect->bytes[rank] : 0;
    return *bytes ? collect->records + (size_t)rank * collect->room : NULL;
}

/* As Open MPI calls it when a request completes. @return 1: the request is freed */
static int free_record(ompi_request_t *request)
{
    free(request->req_complete_cb_data);
    (void)ompi_request_free(&request);
    return 1;
}

/* A record is lost if another thread completes its request just now. To free the request before is
 * no alternative: it would not call back, and an error would end the job. */
void coll_strag_collect_leave(struct coll_strag_collect *collect)
{
    ompi_request_t *request = collect->requests[0];
    request->req_complete_cb_data = collect->records;
    __atomic_store_n(&request->req_complete_cb, free_record, __ATOMIC_RELEASE);
    collect->records = NULL;
    collect->requests[0] = NULL;
}

/* If rank 0 has not received all, the records and the communicator are kept until MPI_Finalize: the
 * message must not come to another communicator with the same number, and Open MPI cannot end a
 * communicator in which it still receives. */
void coll_strag_collect_free(struct coll_strag_collect *collect)
{
    bool over = true;
    for (int r = 0; collect->requests && r < collect->n; r++)
        over = over && NULL == collect->requests[r];
    if (over) {
        free(collect->records);
        free(collect->requests);
    }
    free(collect->bytes);
    *collect = (struct coll_strag_collect){.n = 0};
}
