/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a rank waits for others of its host.
 *
 * If every rank has a processor, it polls. If ranks share processors, it gives its own away, so
 * that the rank for which it waits can run. A process switch takes longer than a message, so if few
 * ranks share a processor, a rank first checks whether that helps: each rank publishes the ranks
 * from which it needs messages, and all can see whether these have come. Two ranks on each of two
 * processors, of which A waits for all the others:
 *
 *     processor 0    A waits for B C D     B waits for A
 *     processor 1    C waits for A         D: not known
 *
 * A continues to poll: B could not go on. C gives its processor to D. If all wait, some message is
 * in flight. If it arrives for another rank only, this rank still polls a few more times: a result
 * is sent to one rank right after the other, and a rank that yields now is back only two switches
 * later. From time to time the processor is given away in any case: the ranks may have moved, and
 * other processes may need it.
 *
 * With fewer than two ranks for a processor, ranks yield at once, without this check: 3 ranks on 2
 * processors may be two and one, or all on one, and a rank that yields at once loses nothing.
 * Microseconds per call of 8 bytes, which each rank begins when all have left a barrier, by the
 * ranks that share a processor (Open MPI's recursive doubling; direct that yields; direct that
 * checks):
 *
 *     0 and 1     3.25  3.09  3.20
 *     0 and 2     2.43  2.59  3.10
 *     1 and 2     2.70  2.56  3.44
 */
#define _GNU_SOURCE /* sched_getcpu */

#include "shm/layout.h"

#include <sched.h>

enum {
    SPINS = 1,          /* polls before this rank yields, if its wait is not published */
    YIELD_AFTER = 4096, /* polls before it yields at times, if every rank has a processor */
    LOOKS = 256,        /* polls between two calls of the host's progress */
    LOOKS_YIELDED = 32, /* the same, if it yields between two polls */
    LOOKS_KEPT = 200,   /* the same, if it keeps the processor, since no other rank could go on */
    LOOKS_POLLED = 64,  /* polls before a call that polls publishes its number */
    LOOKS_BEHIND = 4,   /* polls when another rank can go on, after none could */
};

void strag_shm_publish_call(struct strag_shm *shm, uint64_t begun)
{
    atomic_store_explicit(&shm->mailbox.status->begun, begun, memory_order_release);
}

void strag_shm_publish_processor(struct strag_shm *shm)
{
    int processor = sched_getcpu();
    if (atomic_load_explicit(&shm->mailbox.status->processor, memory_order_relaxed) != processor)
        atomic_store_explicit(&shm->mailbox.status->processor, processor, memory_order_relaxed);
}

void strag_shm_publish_wait(struct strag_shm *shm, uint64_t ranks)
{
    shm->published = ranks != 0;
    if (shm->published)
        strag_shm_publish_processor(shm);
    atomic_store_explicit(&shm->mailbox.status->awaits, ranks, memory_order_relaxed);
}

void strag_shm_publish_starved(struct strag_shm *shm, bool starved)
{
    shm->starved = starved;
    atomic_store_explicit(&shm->mailbox.status->starved, starved, memory_order_relaxed);
}

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* Publish the call, and do the host's other work. That yields, if ranks share processors. */
static void progress_host(struct strag_shm *shm)
{
    strag_shm_publish_call(shm, shm->call);
    shm->host.progress();
}

static const struct strag_shm_mailbox *mailbox_of(const struct strag_shm *shm, int rank)
{
    return rank == shm->me ? &shm->mailbox : &shm->peers[rank].mailbox;
}

/* Has the sender no new message for the receiver? */
static bool is_missing(const struct strag_shm *shm, int sender, int receiver)
{
    const struct strag_shm_arena *arena =
        sender == shm->me ? &shm->arena : shm->peers[sender].arena;
    const uint64_t entry =
        atomic_load_explicit(&mailbox_of(shm, sender)->entries[receiver], memory_order_acquire);
    const uint32_t next = atomic_load_explicit(strag_shm_taken(mailbox_of(shm, receiver), sender),
                                               memory_order_relaxed) +
                          1;
    const struct strag_shm_cell *cell = &strag_shm_cells(arena, entry)[next % STRAG_SHM_CELLS];
    return !entry ||
           atomic_load_explicit(&cell->tag, memory_order_relaxed) != (strag_shm_tag(entry) | next);
}

/* Does the rank wait for messages that have not all come? */
static bool is_stuck(const struct strag_shm *shm, int rank)
{
    uint64_t awaits =
        atomic_load_explicit(&mailbox_of(shm, rank)->status->awaits, memory_order_relaxed);
    for (int sender = 0; sender < shm->n && awaits >> sender; sender++) {
        if (awaits >> sender & 1 && is_missing(shm, sender, rank))
            return true;
    }
    return false;
}

/* Could another rank go on if it had this rank's processor? (Ranks on other processors are not
 * examined any further: reading the lines that they write would delay them.) */
static bool another_can_go_on(struct strag_shm *shm)
{
    strag_shm_publish_processor(shm); /* this rank may have moved */
    int processor = atomic_load_explicit(&shm->mailbox.status->processor, memory_order_relaxed);
    for (int i = 0; i < shm->n; i++) {
        const struct strag_shm_rank_status *status = shm->peers[i].status;
        if (i != shm->me &&
            atomic_load_explicit(&status->processor, memory_order_relaxed) == processor &&
            !is_stuck(shm, i))
            return true;
    }
    return false;
}

/* Is it better to poll again than to yield? */
static bool keeps(struct strag_shm *shm)
{
    if (!shm->published)
        return shm->idle <= SPINS;
    if (shm->idle == 1)
        shm->behind = 0;
    if (!another_can_go_on(shm))
        shm->behind = LOOKS_BEHIND;
    else if (shm->behind > 0)
        shm->behind--;
    return shm->behind > 0;
}

/* Ranks share processors. Polls are counted over all calls, so that the host's other work is done
 * even if each call waits only for a moment. */
static void share_processor(struct strag_shm *shm)
{
    bool keep = keeps(shm);
    shm->kept += keep;
    if (keep ? shm->kept % LOOKS_KEPT == 0 : shm->looks % LOOKS_YIELDED == 0)
        progress_host(shm);
    else if (keep)
        pause_briefly();
    else
        sched_yield();
}

/* From time to time publish the call: another rank may wait in a call that this one has ended. */
void strag_shm_poll(struct strag_shm *shm)
{
    const _Atomic uint64_t *begun = &shm->mailbox.status->begun;
    if (++shm->looks % LOOKS_POLLED == 0 &&
        atomic_load_explicit(begun, memory_order_relaxed) < shm->call)
        strag_shm_publish_call(shm, shm->call);
}

/* The host's other work is done from time to time, as other ranks may need it. */
void strag_shm_wait(struct strag_shm *shm)
{
    shm->idle++;
    shm->looks++;
    if (shm->host.yields) {
        share_processor(shm);
    } else if (shm->looks % LOOKS == 0 || shm->n < shm->all) {
        progress_host(shm);
        if (shm->idle > YIELD_AFTER)
            sched_yield();
    } else {
        pause_briefly();
    }
}
