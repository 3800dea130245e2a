/* SPDX-License-Identifier: BSD-3-Clause */
#include "notes.h"

#include "compat/tags.h"
#include "queue.h"
#include "transport.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Their messages have one tag: in a program's order a gather and a barrier are never mixed up. */
enum { TAG = COLL_STRAG_TAG_NOTES };

struct coll_strag_notes {
    ompi_communicator_t *comm;
    const struct coll_strag_failure *failure;
    struct coll_strag_queue queue; /* of the barrier */

    /* the barrier, by dissemination: in round k a rank tells the one 2^k behind it */
    struct coll_strag_job job;
    bool has_barrier;
    int distance;             /* of the next round */
    ompi_request_t *round[2]; /* receive and send; MPI_REQUEST_NULL: over */
    int code;
    double seconds; /* when it was over */

    int count; /* the gather's messages, of which `done` are over */
    int done;
    ompi_request_t *gather[]; /* [n - 1] on rank 0, [1] elsewhere */
};

static struct coll_strag_notes *notes_of(struct coll_strag_job *job)
{
    return (struct coll_strag_notes *)(void *)((char *)job -
                                               offsetof(struct coll_strag_notes, job));
}

static int post_send(const struct coll_strag_notes *notes, int to, const void *data, size_t bytes,
                     ompi_request_t **request)
{
    return MCA_PML_CALL(
        isend(data, bytes, MPI_BYTE, to, TAG, MCA_PML_BASE_SEND_STANDARD, notes->comm, request));
}

static int post_receive(const struct coll_strag_notes *notes, int from, void *data, size_t bytes,
                        ompi_request_t **request)
{
    return MCA_PML_CALL(irecv(data, bytes, MPI_BYTE, from, TAG, notes->comm, request));
}

/* ---- The barrier ---- */

/* @return whether the round's messages are over, without an error; that is noted */
static bool round_is_over(struct coll_strag_notes *notes)
{
    bool over = true;
    for (int i = 0; i < 2; i++) {
        ompi_request_t **request = &notes->round[i];
        if (MPI_REQUEST_NULL == *request)
            continue;
        if (!REQUEST_COMPLETE(*request)) {
            over = false;
            continue;
        }
        if ((*request)->req_status.MPI_ERROR != MPI_SUCCESS)
            notes->code = (*request)->req_status.MPI_ERROR;
        ompi_request_free(request);
    }
    if (!over && notes->code == OMPI_SUCCESS)
        notes->code = coll_strag_failed(notes->failure);
    return over && notes->code == OMPI_SUCCESS;
}

static void begin_round(struct coll_strag_notes *notes)
{
    const int n = ompi_comm_size(notes->comm), me = ompi_comm_rank(notes->comm);
    const int to = (int)(((long)me + notes->distance) % n);
    const int from = (int)(((long)me + n - notes->distance) % n);
    notes->code = post_receive(notes, from, NULL, 0, &notes->round[0]);
    if (notes->code == OMPI_SUCCESS)
        notes->code = post_send(notes, to, NULL, 0, &notes->round[1]);
    notes->distance *= 2;
}

/* As in struct coll_strag_job. */
static bool barrier_progress(struct coll_strag_job *job)
{
    struct coll_strag_notes *notes = notes_of(job);
    while (notes->code == OMPI_SUCCESS && round_is_over(notes)) {
        if (notes->distance >= ompi_comm_size(notes->comm)) {
            notes->seconds = coll_strag_seconds();
            return true;
        }
        begin_round(notes);
    }
    for (int i = 0; i < 2 && notes->code != OMPI_SUCCESS; i++) {
        if (MPI_REQUEST_NULL == notes->round[i])
            continue;
        ompi_request_cancel(notes->round[i]);
        ompi_request_free(&notes->round[i]); /* at its end */
    }
    return notes->code != OMPI_SUCCESS;
}

/* As in struct coll_strag_job. */
static void barrier_over(struct coll_strag_job *job)
{
    (void)job;
}

void coll_strag_notes_begin_barrier(struct coll_strag_notes *notes)
{
    notes->has_barrier = true;
    notes->distance = 1;
    notes->round[0] = notes->round[1] = MPI_REQUEST_NULL;
    notes->code = OMPI_SUCCESS;
    coll_strag_queue_add(&notes->queue, &notes->job);
}

bool coll_strag_notes_has_barrier(const struct coll_strag_notes *notes)
{
    return notes->has_barrier;
}

int coll_strag_notes_end_barrier(struct coll_strag_notes *notes, double *seconds)
{
    coll_strag_queue_drain(&notes->queue);
    notes->has_barrier = false;
    *seconds = notes->seconds;
    return notes->code;
}

/* ---- Notes ---- */

int coll_strag_notes_gather(struct coll_strag_notes *notes, const void *own, size_t bytes,
                            void *all)
{
    const int n = ompi_comm_size(notes->comm);
    int code = OMPI_SUCCESS;
    notes->count = notes->done = 0;
    if (ompi_comm_rank(notes->comm) != 0) {
        code = post_send(notes, 0, own, bytes, &notes->gather[0]);
        notes->count = code == OMPI_SUCCESS;
        return code;
    }
    memcpy(all, own, bytes);
    for (int rank = 1; rank < n && code == OMPI_SUCCESS; rank++) {
        code = post_receive(notes, rank, (char *)all + (size_t)rank * bytes, bytes,
                            &notes->gather[notes->count]);
        notes->count += code == OMPI_SUCCESS;
    }
    return code;
}

int coll_strag_notes_look(struct coll_strag_notes *notes)
{
    int code = OMPI_SUCCESS;
    while (notes->done < notes->count && code == OMPI_SUCCESS &&
           REQUEST_COMPLETE(notes->gather[notes->done]))
        code = ompi_request_wait(&notes->gather[notes->done++], MPI_STATUS_IGNORE);
    return code;
}

int coll_strag_notes_wait(struct coll_strag_notes *notes)
{
    int code = coll_strag_notes_look(notes);
    while (notes->done < notes->count && code == OMPI_SUCCESS) {
        opal_progress();
        code = coll_strag_failed(notes->failure);
        if (code == OMPI_SUCCESS)
            code = coll_strag_notes_look(notes);
    }
    return code;
}

/* ---- Beginning and end ---- */

struct coll_strag_notes *coll_strag_notes_create(ompi_communicator_t *comm,
                                                 const struct coll_strag_failure *failure)
{
    const size_t messages = ompi_comm_rank(comm) == 0 ? (size_t)ompi_comm_size(comm) - 1 : 1;
    struct coll_strag_notes *notes = calloc(1, sizeof *notes + messages * sizeof *notes->gather);
    if (NULL == notes)
        return NULL;
    notes->comm = comm;
    notes->failure = failure;
    notes->job = (struct coll_strag_job){.progress = barrier_progress, .over = barrier_over};
    coll_strag_queue_init(&notes->queue, comm);
    return notes;
}

static bool gather_is_over(const struct coll_strag_notes *notes)
{
    int i = notes->done;
    while (i < notes->count && coll_strag_message_is_over(notes->comm, notes->gather[i]))
        i++;
    return i == notes->count;
}

bool coll_strag_notes_end(struct coll_strag_notes *notes, double seconds)
{
    const double end = coll_strag_seconds() + seconds;
    while (!(gather_is_over(notes) && coll_strag_queue_is_empty(&notes->queue)) &&
           coll_strag_seconds() < end)
        opal_progress();
    if (!gather_is_over(notes))
        return false;
    (void)coll_strag_notes_wait(notes);
    return coll_strag_queue_is_empty(&notes->queue);
}

/* As in struct coll_strag_queue. */
static void closed(struct coll_strag_queue *queue)
{
    free((char *)queue - offsetof(struct coll_strag_notes, queue));
}

bool coll_strag_notes_free(struct coll_strag_notes *notes)
{
    if (NULL == notes)
        return true;
    if (notes->done < notes->count)
        return false;
    coll_strag_queue_close(&notes->queue, closed);
    return true;
}
