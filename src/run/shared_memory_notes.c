/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/shared_memory_notes.h"

#include "run/shared_memory_layout.h"

#include <string.h>

_Static_assert((int)STRAG_SHM_NOTES > (int)STRAG_SHM_NOTES_BEHIND,
               "a rank may have ended one call more than rank 0");

void strag_shm_notes_open(struct strag_shm *shm, uint64_t clock)
{
    atomic_store_explicit(&shm->desk.status->clock, clock, memory_order_release);
}

bool strag_shm_notes_are_possible(const struct strag_shm *shm)
{
    if (!strag_shm_is_alone(shm) || !shm->joined)
        return false;
    const uint64_t own = atomic_load_explicit(&shm->desk.status->clock, memory_order_relaxed);
    for (int i = 0; i < shm->n; i++) {
        if (atomic_load_explicit(&shm->peers[i].status->clock, memory_order_acquire) != own)
            return false;
    }
    return true;
}

/* In 64 bits, so that none is read half old, half new. */
static uint64_t pack(struct strag_shm_note note)
{
    uint32_t bits;
    memcpy(&bits, &note.seconds, sizeof bits);
    return (uint64_t)note.came << 32 | bits;
}

static struct strag_shm_note unpack(uint64_t packed)
{
    const uint32_t bits = (uint32_t)packed;
    struct strag_shm_note note = {.came = (uint32_t)(packed >> 32)};
    memcpy(&note.seconds, &bits, sizeof bits);
    return note;
}

void strag_shm_notes_add(struct strag_shm *shm, uint64_t call, double came, double seconds)
{
    struct strag_shm_rank_status *status = shm->desk.status;
    const struct strag_shm_note note = {(uint32_t)(uint64_t)(came * STRAG_SHM_NOTE_UNITS),
                                        (float)seconds};
    atomic_store_explicit(&status->notes[call % STRAG_SHM_NOTES], pack(note), memory_order_relaxed);
    atomic_store_explicit(&status->noted, call + 1, memory_order_release);
}

/* Where a call has failed on a rank, it may not have noted it. */
struct strag_shm_note strag_shm_notes_read(const struct strag_shm *shm, int rank, uint64_t call)
{
    const struct strag_shm_rank_status *status = shm->peers[rank].status;
    const uint64_t noted = atomic_load_explicit(&status->noted, memory_order_acquire);
    if (noted <= call || noted - call > STRAG_SHM_NOTES)
        return (struct strag_shm_note){0, 0};
    return unpack(
        atomic_load_explicit(&status->notes[call % STRAG_SHM_NOTES], memory_order_relaxed));
}

/* 0 stands for nothing. */
void strag_shm_notes_announce(struct strag_shm *shm, uint64_t call)
{
    atomic_store_explicit(&shm->desk.status->announced, call + 1, memory_order_release);
}

bool strag_shm_notes_announced(const struct strag_shm *shm, uint64_t call)
{
    return atomic_load_explicit(&shm->peers[0].status->announced, memory_order_acquire) == call + 1;
}

void strag_shm_notes_want(struct strag_shm *shm, uint64_t from)
{
    atomic_store_explicit(&shm->desk.status->wanted, from, memory_order_release);
}

uint64_t strag_shm_notes_wanted(const struct strag_shm *shm)
{
    return atomic_load_explicit(&shm->peers[0].status->wanted, memory_order_acquire);
}
