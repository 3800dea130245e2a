/* SPDX-License-Identifier: BSD-3-Clause */
#include "notes.h"

#include "compat/tags.h"
#include "wire/transport.h"

#include <stdlib.h>

_Static_assert(sizeof(struct coll_strag_samples) <= STRAG_EXCHANGE_PIECE,
               "samples do not fit into a message");
/* doc/guide/administrators.md states it. */
_Static_assert(sizeof(struct coll_strag_samples) == 816, "the message of a window");

/* As in struct coll_strag_job. */
static bool progress(struct coll_strag_job *job)
{
    struct coll_strag_notes *notes = COLL_STRAG_OWNER(job, struct coll_strag_notes, job);
    if (!coll_strag_exchange_is_over(&notes->exchange, &notes->code))
        return false;
    notes->seconds = coll_strag_seconds();
    notes->left =
        notes->code != OMPI_SUCCESS && strag_exchange_stop(&notes->exchange.exchange) != STRAG_OK;
    return true;
}

/* As in struct strag_agreement. */
static void add(void *context, void *value, const void *other)
{
    struct coll_strag_samples *samples = value;
    const struct coll_strag_samples *more = other;
    (void)context;
    for (int c = 0; c < STRAG_WINDOW_CALLS; c++)
        strag_call_sample_merge(&samples->call[c], &more->call[c]);
    strag_link_sample_merge(&samples->links, &more->links);
}

void coll_strag_notes_merge(struct coll_strag_notes *notes, const struct coll_strag_samples *own)
{
    static const struct strag_agreement agreement = {.add = add};
    if (coll_strag_notes_wait(notes) != OMPI_SUCCESS)
        return;
    notes->samples = *own;
    strag_exchange_merge(&notes->exchange.exchange, &notes->samples, sizeof notes->samples,
                         &agreement);
    coll_strag_queue_add(&notes->queue, &notes->job);
}

void coll_strag_notes_barrier(struct coll_strag_notes *notes)
{
    if (coll_strag_notes_wait(notes) != OMPI_SUCCESS)
        return;
    strag_exchange_barrier(&notes->exchange.exchange);
    coll_strag_queue_add(&notes->queue, &notes->job);
}

int coll_strag_notes_wait(struct coll_strag_notes *notes)
{
    coll_strag_queue_drain(&notes->queue);
    return notes->code;
}

/* ---- Beginning and end ---- */

struct coll_strag_notes *coll_strag_notes_create(const struct coll_strag_failure *failure)
{
    struct coll_strag_notes *notes = calloc(1, sizeof *notes);
    if (NULL == notes)
        return NULL;
    notes->job.progress = progress;
    coll_strag_exchange_init(&notes->exchange, failure, COLL_STRAG_TAG_NOTES);
    coll_strag_queue_init(&notes->queue, failure->comm);
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
    struct coll_strag_notes *notes = COLL_STRAG_OWNER(queue, struct coll_strag_notes, queue);
    if (!notes->left)
        free(notes);
}

void coll_strag_notes_free(struct coll_strag_notes *notes)
{
    if (notes)
        coll_strag_queue_close(&notes->queue, closed);
}
