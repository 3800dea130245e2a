/* SPDX-License-Identifier: BSD-3-Clause */
#include "shm/entered.h"

#include "shm/layout.h"

#include <sched.h>

/* Checks of a rank that is about to decide: a second or more. It may have been stopped. */
enum { LOOKS = 1000000 };

/* The number is written last, and is 0 meanwhile. If a reader finds the same number before and
 * after the rest, the rest belongs to that number. */
void strag_shm_enter_call(struct strag_shm *shm, uint64_t number, uint64_t bytes, uint64_t what)
{
    struct strag_shm_entry *entry = &shm->mailbox.status->entered[number % STRAG_SHM_ENTERED];
    atomic_store_explicit(&entry->number, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&entry->bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&entry->what, what, memory_order_relaxed);
    atomic_store_explicit(&entry->number, number, memory_order_release);
}

/* The members may be read half changed: they only decide which rank reports. */
void strag_shm_say_wait(struct strag_shm *shm, const struct strag_shm_wait *wait)
{
    struct strag_shm_waiting *waiting = &shm->mailbox.status->waiting;
    atomic_store_explicit(&waiting->claims, wait->claims, memory_order_relaxed);
    atomic_store_explicit(&waiting->said, wait->said, memory_order_relaxed);
    atomic_store_explicit(&waiting->ran, wait->ran, memory_order_relaxed);
    atomic_store_explicit(&waiting->number, wait->number, memory_order_release);
}

int strag_shm_index(const struct strag_shm *shm, int rank)
{
    return shm->peer[rank] ? (int)(shm->peer[rank] - shm->peers) : -1;
}

bool strag_shm_is_gone(const struct strag_shm *shm, int rank)
{
    return shm->peer[rank] && strag_shm_has_left(shm->peer[rank]);
}

/* @return false if the entry is empty, or is being written */
static bool read_entry(const struct strag_shm_entry *entry, struct strag_shm_entered *call)
{
    call->number = atomic_load_explicit(&entry->number, memory_order_acquire);
    call->bytes = atomic_load_explicit(&entry->bytes, memory_order_relaxed);
    call->what = atomic_load_explicit(&entry->what, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return call->number &&
           call->number == atomic_load_explicit(&entry->number, memory_order_relaxed);
}

static const struct strag_shm_rank_status *status_of(const struct strag_shm *shm, int index)
{
    return index == shm->me ? shm->mailbox.status : shm->peers[index].status;
}

uint64_t strag_shm_entered(const struct strag_shm *shm, int index, uint64_t number,
                           struct strag_shm_entered *call)
{
    uint64_t last = 0;
    call->number = 0;
    for (int e = 0; e < STRAG_SHM_ENTERED; e++) {
        struct strag_shm_entered found;
        if (!read_entry(&status_of(shm, index)->entered[e], &found))
            continue;
        if (found.number > last)
            last = found.number;
        if (found.number == number)
            *call = found;
    }
    return last;
}

struct strag_shm_wait strag_shm_read_wait(const struct strag_shm *shm, int index)
{
    const struct strag_shm_waiting *waiting = &status_of(shm, index)->waiting;
    struct strag_shm_wait wait;
    wait.number = atomic_load_explicit(&waiting->number, memory_order_acquire);
    wait.ran = atomic_load_explicit(&waiting->ran, memory_order_relaxed);
    wait.claims = atomic_load_explicit(&waiting->claims, memory_order_relaxed);
    wait.said = atomic_load_explicit(&waiting->said, memory_order_relaxed);
    return wait;
}

/* Has the rank claimed to report why the call ends, and not decided yet? */
static bool awaits_decision(const struct strag_shm_waiting *waiting, uint64_t number)
{
    return atomic_load(&waiting->claims_why) == number && atomic_load(&waiting->said_why) < number;
}

/* Each rank claims first, and then reads the others' claims. Of two ranks that claim at the same
 * time, at least one sees the other: the higher rank gives way to the lower, which waits for that.
 * A rank that has reported withdraws its claim, so the claim is read first, then the report. */
bool strag_shm_tells_why(struct strag_shm *shm, uint64_t number)
{
    struct strag_shm_waiting *mine = &shm->mailbox.status->waiting;
    bool tells = atomic_load(&mine->said_why) < number;
    atomic_store(&mine->claims_why, number);
    for (int i = 0; i < shm->n && tells; i++) {
        const struct strag_shm_waiting *waiting = &status_of(shm, i)->waiting;
        if (i == shm->me)
            continue;
        for (int look = 0; i > shm->me && look < LOOKS && awaits_decision(waiting, number); look++)
            sched_yield();
        tells = (i > shm->me || atomic_load(&waiting->claims_why) != number) &&
                atomic_load(&waiting->said_why) < number;
    }
    if (tells)
        atomic_store(&mine->said_why, number);
    atomic_store(&mine->claims_why, 0);
    return tells;
}
