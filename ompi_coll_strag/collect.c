/* SPDX-License-Identifier: BSD-3-Clause */
#include "collect.h"

#include "transport.h"

#include <stdlib.h>
#include <string.h>

/* Nothing of Open MPI's has this tag, -3, nor of ours: arrivals.c, setup.c and notes.c have -6 to
 * -4.
 */
enum { TAG = MCA_COLL_BASE_TAG_ALLGATHER + 7 };

static void begin_on_first(struct coll_strag_collect *collect, void *record, size_t bytes,
                           bool (*takes_part)(ompi_communicator_t *comm, int rank))
{
    const size_t n = (size_t)collect->n;
    collect->records = malloc(n * collect->room);
    collect->requests = calloc(n, sizeof(ompi_request_t *));
    collect->bytes = calloc(n, sizeof *collect->bytes);
    if (!collect->records || !collect->requests || !collect->bytes)
        return;
    if (record)
        memcpy(collect->records, record, bytes);
    collect->bytes[0] = record ? bytes : 0;
    for (int rank = 1; rank < collect->n; rank++) {
        ompi_request_t *request = NULL;
        if (takes_part(collect->comm, rank) &&
            MCA_PML_CALL(irecv(collect->records + (size_t)rank * collect->room, collect->room,
                               MPI_BYTE, rank, TAG, collect->comm, &request)) == OMPI_SUCCESS)
            collect->requests[rank] = request;
    }
}

void coll_strag_collect_begin(struct coll_strag_collect *collect, ompi_communicator_t *comm,
                              void *record, size_t bytes, size_t room,
                              bool (*takes_part)(ompi_communicator_t *comm, int rank))
{
    *collect = (struct coll_strag_collect){.comm = comm, .n = ompi_comm_size(comm), .room = room};
    if (ompi_comm_rank(comm) == 0) {
        begin_on_first(collect, record, bytes, takes_part);
        free(record);
        return;
    }
    collect->records = record;
    collect->n = 1;
    collect->requests = calloc(1, sizeof(ompi_request_t *));
    if (!record || !collect->requests ||
        MCA_PML_CALL(isend(record, bytes, MPI_BYTE, 0, TAG, MCA_PML_BASE_SEND_STANDARD, comm,
                           collect->requests)) != OMPI_SUCCESS)
        collect->n = 0;
}

/* One that is complete is freed. @return whether there is nothing to wait for */
static bool is_over(struct coll_strag_collect *collect, int r)
{
    ompi_request_t *request = collect->requests[r];
    if (NULL == request)
        return true;
    if (!REQUEST_COMPLETE(request))
        return false;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* another thread may have completed it */
    if (collect->bytes && request->req_status.MPI_ERROR == MPI_SUCCESS)
        collect->bytes[r] = request->req_status._ucount;
    ompi_request_free(&collect->requests[r]);
    collect->requests[r] = NULL;
    return true;
}

void coll_strag_collect_wait(struct coll_strag_collect *collect)
{
    const double until = coll_strag_seconds() + COLL_STRAG_COLLECT_PATIENCE;
    for (int r = 0; collect->requests && r < collect->n; r++)
        while (!is_over(collect, r) && coll_strag_seconds() < until)
            opal_progress();
}

const void *coll_strag_collect_of(const struct coll_strag_collect *collect, int rank, size_t *bytes)
{
    *bytes = collect->bytes ? collect->bytes[rank] : 0;
    return *bytes ? collect->records + (size_t)rank * collect->room : NULL;
}

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
