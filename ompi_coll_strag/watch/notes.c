/* SPDX-License-Identifier: BSD-3-Clause */
#include "notes.h"

#include "compat/tags.h"
#include "mpi/queue.h"
#include "wire/transport.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Their messages have one tag: in a program's order a merge and a barrier are never mixed up. */
enum { TAG = COLL_STRAG_TAG_NOTES };

/* Children of rank 0, at most. */
enum { CHILDREN_MOST = 31 };

struct coll_strag_notes {
    ompi_communicator_t *comm;
    const struct coll_strag_failure *failure;
    struct coll_strag_queue queue; /* of both jobs, which never run at the same time */

    /* the barrier, by dissemination: in round k a rank tells the one 2^k behind it */
    struct coll_strag_job barrier;
    bool has_barrier;
    int distance;             /* of the next round */
    ompi_request_t *round[2]; /* receive and send; MPI_REQUEST_NULL: done */
    int barrier_code;
    double seconds; /* when it was done */

    /* the merge */
    struct coll_strag_job merge;
    int merge_code;
    bool sends; /* to the parent, once all children's samples are there */
    int parent, children;
    ompi_request_t *received[CHILDREN_MOST], *sent; /* MPI_REQUEST_NULL: done */
    struct coll_strag_samples own;
    struct coll_strag_samples child[]; /* [children] */
};

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

/* Is a message done? Its error is recorded. */
static bool is_done(ompi_request_t **request, int *code)
{
    if (MPI_REQUEST_NULL == *request)
        return true;
    if (!REQUEST_COMPLETE(*request))
        return false;
    if ((*request)->req_status.MPI_ERROR != MPI_SUCCESS)
        *code = (*request)->req_status.MPI_ERROR;
    ompi_request_free(request);
    return true;
}

/* After an error. */
static void give_up(ompi_request_t **request)
{
    if (MPI_REQUEST_NULL == *request)
        return;
    ompi_request_cancel(*request);
    ompi_request_free(request); /* at its end */
}

/* As in struct coll_strag_job. */
static void over(struct coll_strag_job *job)
{
    (void)job;
}

/* ---- The barrier ---- */

/* @return whether the round's messages are done, without an error; that is recorded */
static bool round_is_done(struct coll_strag_notes *notes)
{
    const bool received = is_done(&notes->round[0], &notes->barrier_code);
    const bool done = is_done(&notes->round[1], &notes->barrier_code) && received;
    if (!done && notes->barrier_code == OMPI_SUCCESS)
        notes->barrier_code = coll_strag_failed(notes->failure);
    return done && notes->barrier_code == OMPI_SUCCESS;
}

static void begin_round(struct coll_strag_notes *notes)
{
    const int n = ompi_comm_size(notes->comm), me = ompi_comm_rank(notes->comm);
    const int to = (int)(((long)me + notes->distance) % n);
    const int from = (int)(((long)me + n - notes->distance) % n);
    notes->barrier_code = post_receive(notes, from, NULL, 0, &notes->round[0]);
    if (notes->barrier_code == OMPI_SUCCESS)
        notes->barrier_code = post_send(notes, to, NULL, 0, &notes->round[1]);
    notes->distance *= 2;
}

/* As in struct coll_strag_job. */
static bool barrier_progress(struct coll_strag_job *job)
{
    struct coll_strag_notes *notes =
        (struct coll_strag_notes *)(void *)((char *)job -
                                            offsetof(struct coll_strag_notes, barrier));
    while (notes->barrier_code == OMPI_SUCCESS && round_is_done(notes)) {
        if (notes->distance >= ompi_comm_size(notes->comm)) {
            notes->seconds = coll_strag_seconds();
            return true;
        }
        begin_round(notes);
    }
    if (notes->barrier_code == OMPI_SUCCESS)
        return false;
    give_up(&notes->round[0]);
    give_up(&notes->round[1]);
    return true;
}

void coll_strag_notes_begin_barrier(struct coll_strag_notes *notes)
{
    notes->has_barrier = true;
    notes->distance = 1;
    notes->round[0] = notes->round[1] = MPI_REQUEST_NULL;
    notes->barrier_code = OMPI_SUCCESS;
    coll_strag_queue_add(&notes->queue, &notes->barrier);
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
    return notes->barrier_code;
}

/* ---- Samples ---- */

static void add_child(struct coll_strag_notes *notes, int child)
{
    const struct coll_strag_samples *samples = &notes->child[child];
    for (int c = 0; c < STRAG_WINDOW_CALLS; c++)
        strag_call_sample_merge(&notes->own.call[c], &samples->call[c]);
    strag_link_sample_merge(&notes->own.links, &samples->links);
}

/* @return whether all children's samples are there, without an error */
static bool have_children(struct coll_strag_notes *notes)
{
    bool all = true;
    for (int c = 0; c < notes->children; c++) {
        if (MPI_REQUEST_NULL == notes->received[c])
            continue;
        if (!is_done(&notes->received[c], &notes->merge_code))
            all = false;
        else if (notes->merge_code == OMPI_SUCCESS)
            add_child(notes, c);
    }
    return all && notes->merge_code == OMPI_SUCCESS;
}

static bool merge_is_done(struct coll_strag_notes *notes)
{
    if (have_children(notes) && notes->sends) {
        notes->sends = false;
        notes->merge_code =
            post_send(notes, notes->parent, &notes->own, sizeof notes->own, &notes->sent);
    }
    bool done = !notes->sends && is_done(&notes->sent, &notes->merge_code);
    for (int c = 0; c < notes->children; c++)
        done = done && MPI_REQUEST_NULL == notes->received[c];
    if (!done && notes->merge_code == OMPI_SUCCESS)
        notes->merge_code = coll_strag_failed(notes->failure);
    return done;
}

/* As in struct coll_strag_job. */
static bool merge_progress(struct coll_strag_job *job)
{
    struct coll_strag_notes *notes =
        (struct coll_strag_notes *)(void *)((char *)job - offsetof(struct coll_strag_notes, merge));
    const bool done = merge_is_done(notes);
    if (notes->merge_code == OMPI_SUCCESS)
        return done;
    for (int c = 0; c < notes->children; c++)
        give_up(&notes->received[c]);
    return true; /* what is being sent stays where it is (coll_strag_notes_free) */
}

/* @return an error of MPI's */
static int post_receives(struct coll_strag_notes *notes)
{
    int code = OMPI_SUCCESS;
    for (int c = 0; c < notes->children; c++)
        notes->received[c] = MPI_REQUEST_NULL;
    for (int c = 0; c < notes->children && code == OMPI_SUCCESS; c++)
        code = post_receive(notes, ompi_comm_rank(notes->comm) + (1 << c), &notes->child[c],
                            sizeof notes->child[c], &notes->received[c]);
    return code;
}

void coll_strag_notes_merge(struct coll_strag_notes *notes, const struct coll_strag_samples *own)
{
    notes->own = *own;
    notes->sends = notes->parent >= 0;
    notes->sent = MPI_REQUEST_NULL;
    notes->merge_code = post_receives(notes);
    coll_strag_queue_add(&notes->queue, &notes->merge);
}

int coll_strag_notes_wait(struct coll_strag_notes *notes)
{
    coll_strag_queue_drain(&notes->queue);
    return notes->merge_code;
}

int coll_strag_notes_check(const struct coll_strag_notes *notes)
{
    return notes->merge_code;
}

const struct coll_strag_samples *coll_strag_notes_merged(const struct coll_strag_notes *notes)
{
    return &notes->own;
}

/* ---- Beginning and end ---- */

static int count_children(int rank, int n)
{
    int children = 0;
    while (!(rank >> children & 1) && (long)rank + (1L << children) < n)
        children++;
    return children;
}

struct coll_strag_notes *coll_strag_notes_create(ompi_communicator_t *comm,
                                                 const struct coll_strag_failure *failure)
{
    const int rank = ompi_comm_rank(comm), children = count_children(rank, ompi_comm_size(comm));
    struct coll_strag_notes *notes =
        calloc(1, sizeof *notes + (size_t)children * sizeof *notes->child);
    if (NULL == notes)
        return NULL;
    notes->comm = comm;
    notes->failure = failure;
    notes->children = children;
    notes->parent = rank > 0 ? rank & (rank - 1) : -1;
    notes->sent = MPI_REQUEST_NULL;
    notes->barrier = (struct coll_strag_job){.progress = barrier_progress, .over = over};
    notes->merge = (struct coll_strag_job){.progress = merge_progress, .over = over};
    coll_strag_queue_init(&notes->queue, comm);
    return notes;
}

bool coll_strag_notes_end(struct coll_strag_notes *notes, double seconds)
{
    const double end = coll_strag_seconds() + seconds;
    while (!coll_strag_queue_is_empty(&notes->queue) && coll_strag_seconds() < end)
        opal_progress();
    return coll_strag_queue_is_empty(&notes->queue);
}

/* As in struct coll_strag_queue. */
static void closed(struct coll_strag_queue *queue)
{
    struct coll_strag_notes *notes =
        (struct coll_strag_notes *)(void *)((char *)queue -
                                            offsetof(struct coll_strag_notes, queue));
    if (MPI_REQUEST_NULL == notes->sent || REQUEST_COMPLETE(notes->sent))
        free(notes); /* else the message, which an error has left behind, keeps it */
}

void coll_strag_notes_free(struct coll_strag_notes *notes)
{
    if (notes)
        coll_strag_queue_close(&notes->queue, closed);
}
