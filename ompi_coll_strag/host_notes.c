/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_notes.h"

#include "transport.h"

#include "watch/observe.h"

#include <math.h>
#include <stdlib.h>

/* What the first update is thought to take, seconds. */
static const double first_price = 1e-4;

/* Ranks that stay for longer may be apart by more than their notes can say. */
static const double longest = (double)(UINT32_MAX / 4) / STRAG_SHM_NOTE_UNITS;

struct coll_strag_host_notes *coll_strag_host_notes_create(struct strag_shm *shm, int n, int most)
{
    struct coll_strag_host_notes *notes = calloc(1, sizeof *notes);
    if (NULL == notes)
        return NULL;
    *notes = (struct coll_strag_host_notes){.shm = shm, .n = n, .most = most, .price = first_price};
    strag_shm_notes_open(shm, coll_strag_clock_id());
    return notes;
}

void coll_strag_host_notes_free(struct coll_strag_host_notes *notes)
{
    free(notes);
}

bool coll_strag_host_notes_end(struct coll_strag_host_notes *notes, double came, double seconds)
{
    if (coll_strag_host_notes_wants(notes)) {
        strag_shm_notes_add(notes->shm, notes->ended, came, seconds);
        notes->seconds += seconds;
    }
    notes->from = strag_shm_notes_wanted(notes->shm);
    return strag_shm_notes_announced(notes->shm, notes->ended++);
}

static struct strag_note *note_at(void *all, size_t stride, int rank, int call)
{
    return (struct strag_note *)(void *)((char *)all + (size_t)rank * stride) + call;
}

/* A call's notes. Waits first stand for how much later than rank 0 a rank came. */
static void read_call(const struct coll_strag_host_notes *notes, void *all, size_t stride)
{
    uint32_t first = 0;
    float last = 0;
    bool known = true;
    for (int rank = 0; rank < notes->n; rank++) {
        const struct strag_shm_note read = strag_shm_notes_read(notes->shm, rank, notes->read);
        struct strag_note *note = note_at(all, stride, rank, notes->window);
        if (rank == 0)
            first = read.came;
        known = known && read.seconds > 0 && (double)read.seconds < longest;
        note->seconds = read.seconds;
        note->wait = (float)(int32_t)(read.came - first) / (float)STRAG_SHM_NOTE_UNITS;
        last = fmaxf(last, note->wait);
    }
    for (int rank = 0; rank < notes->n; rank++) {
        struct strag_note *note = note_at(all, stride, rank, notes->window);
        note->wait = known ? last - note->wait : -1;
    }
}

void coll_strag_host_notes_read(struct coll_strag_host_notes *notes, bool last, void *all,
                                size_t stride)
{
    const uint64_t readable = notes->ended - 1; /* of the last one others may not have ended */
    if (!last && readable - notes->read < STRAG_SHM_NOTES_BEHIND)
        return;
    for (; notes->read < readable; notes->read++, notes->window++)
        read_call(notes, all, stride);
    if (last)
        notes->window = 0;
}

void coll_strag_host_notes_announce(struct coll_strag_host_notes *notes)
{
    strag_shm_notes_announce(notes->shm, notes->ended);
}

void coll_strag_host_notes_restart(struct coll_strag_host_notes *notes)
{
    notes->from = notes->read = notes->ended + 1;
    notes->window = 0;
    strag_shm_notes_want(notes->shm, notes->from);
}
