/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank does while it waits for others of its host.
 *
 * Where every rank has a processor it looks again and again. Where ranks share processors it gives
 * its own away, so that the one it waits for can run. A change of processes takes longer than a
 * message, so where few ranks share a processor they look first whether that helps: a rank that
 * waits tells the others for whose messages, and everybody can see whether these have come. Two
 * ranks on each of two processors, of which A waits for all the others:
 *
 *     processor 0    A waits for B C D     B waits for A
 *     processor 1    C waits for A         D: not known
 *
 * A looks again: B could do nothing. C gives its processor to D. If all wait, somebody's message is
 * on its way. When it is there for another rank alone, a few looks more are made: a sum goes to one
 * rank right behind the other, and who gives way now is back only two changes later. From time to
 * time the processor is given away all the same: the ranks may have moved, and other processes may
 * want it.
 */
#include "coll_strag_shm.h"

#include <sched.h>

enum {
    SPINS = 1,          /* looks before others get the processor, if they do not know our wait */
    PATIENCE = 4096,    /* looks before they get it at times, where we know of nobody */
    LOOKS = 256,        /* between two calls of opal_progress */
    LOOKS_YIELDED = 32, /* the same, where others had the processor between two looks */
    LOOKS_KEPT = 200,   /* the same, where no rank there could go on */
    LOOKS_BEHIND = 4,   /* when another one can go on, after none could */
};

void coll_strag_shm_tell_call(struct coll_strag_shm *shm, uint64_t begun)
{
    atomic_store_explicit(&shm->word->begun, begun, memory_order_release);
}

void coll_strag_shm_tell_processor(struct coll_strag_shm *shm)
{
    int processor = sched_getcpu();
    if (atomic_load_explicit(&shm->word->processor, memory_order_relaxed) != processor)
        atomic_store_explicit(&shm->word->processor, processor, memory_order_relaxed);
}

void coll_strag_shm_tell_wait(struct coll_strag_shm *shm, uint64_t ranks)
{
    shm->told = ranks != 0;
    if (shm->told)
        coll_strag_shm_tell_processor(shm);
    atomic_store_explicit(&shm->word->awaits, ranks, memory_order_relaxed);
}

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* Others get the processor here, where ranks share processors. */
static void look_around(struct coll_strag_shm *shm)
{
    coll_strag_shm_tell_call(shm, shm->call);
    opal_progress();
}

/* Has the sender no new message for the receiver? */
static bool is_missing(const struct coll_strag_shm *shm, int sender, int receiver)
{
    const struct coll_strag_channel *channel =
        &shm->channels[(size_t)sender * (size_t)shm->n + (size_t)receiver];
    uint32_t next = atomic_load_explicit(&channel->taken, memory_order_relaxed) + 1;
    return atomic_load_explicit(&channel->cells[next % COLL_STRAG_CELLS].number,
                                memory_order_relaxed) != next;
}

/* Does the rank wait for messages that have not all come? */
static bool is_stuck(const struct coll_strag_shm *shm, int rank)
{
    uint64_t awaits = atomic_load_explicit(&shm->peers[rank].word->awaits, memory_order_relaxed);
    for (int sender = 0; sender < shm->n && awaits >> sender; sender++) {
        if (awaits >> sender & 1 && is_missing(shm, sender, rank))
            return true;
    }
    return false;
}

/* Could another rank go on if it had this rank's processor? */
static bool another_can_go_on(struct coll_strag_shm *shm)
{
    coll_strag_shm_tell_processor(shm); /* we may have moved */
    int processor = atomic_load_explicit(&shm->word->processor, memory_order_relaxed);
    for (int i = 0; i < shm->n; i++) {
        const struct coll_strag_word *word = shm->peers[i].word;
        if (i != shm->me && !is_stuck(shm, i) &&
            atomic_load_explicit(&word->processor, memory_order_relaxed) == processor)
            return true;
    }
    return false;
}

/* Is it better to look again than to give the processor away? */
static bool keeps(struct coll_strag_shm *shm)
{
    if (!shm->told)
        return shm->idle <= SPINS;
    if (shm->idle == 1)
        shm->behind = 0;
    if (!another_can_go_on(shm))
        shm->behind = LOOKS_BEHIND;
    else if (shm->behind > 0)
        shm->behind--;
    return shm->behind > 0;
}

/* Ranks share processors. What is counted is counted over all calls: each may wait for a moment
 * only, and all the same Open MPI must be looked after. */
static void give_way(struct coll_strag_shm *shm)
{
    bool keep = keeps(shm);
    shm->kept += keep;
    if (keep ? shm->kept % LOOKS_KEPT == 0 : shm->looks % LOOKS_YIELDED == 0)
        look_around(shm);
    else if (keep)
        pause_briefly();
    else
        sched_yield();
}

/* Open MPI's own progress is looked after from time to time, as other ranks may need it. */
void coll_strag_shm_wait(struct coll_strag_shm *shm)
{
    shm->idle++;
    shm->looks++;
    if (opal_progress_yield_when_idle) {
        give_way(shm);
    } else if (shm->looks % LOOKS == 0 || !shm->alone) {
        look_around(shm);
        if (shm->idle > PATIENCE)
            sched_yield();
    } else {
        pause_briefly();
    }
}
