/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator joins the ranks of its host, and leaves them (shm/shm.h has the steps).
 *
 * A communicator gets a mailbox in the arena of each rank's process. When a rank leaves, others may
 * still be in the last call: they read messages that it sent to them, and see in its mailbox which
 * of theirs it has taken. So all of its memory stays as it is until they have left, too: their
 * `begun` is LEFT, or their mailbox has another key. Whenever a communicator joins or leaves, those
 * that left before are freed if they can be.
 */
#define _GNU_SOURCE /* cpu_set_t */

#include "shm/layout.h"

#include "base/text.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FEW_EACH = 2, /* ranks for each processor on which they may run, and */
    FEW_MAX = 16, /* in all: more ranks do not check each other while they wait */
};

/* The empty cells of a channel that has no ring yet. */
static const struct strag_shm_cell no_cells[STRAG_SHM_CELLS];

/* ---- A rank's side ---- */

static bool make_peers(struct strag_shm *shm, const uint8_t *lane_of, uint8_t lane)
{
    shm->peer = calloc((size_t)shm->all, sizeof(struct strag_shm_peer *));
    if (!shm->peer || !strag_shm_init(shm))
        return false;
    for (int i = 0; i < shm->n; i++) {
        shm->peers[i].in = no_cells;
        shm->peers[i].status = &shm->alone;
    }
    for (int rank = 0, i = 0; rank < shm->all; rank++) {
        if (lane_of[rank] == lane)
            shm->peer[rank] = &shm->peers[i++];
    }
    return true;
}

struct strag_shm *strag_shm_create(struct strag_shm_process *process,
                                   const struct strag_shm_host *host, int n, int me,
                                   const uint8_t *lane_of, uint8_t lane)
{
    struct strag_shm *shm = calloc(1, sizeof *shm);
    if (!shm)
        return NULL;
    shm->process = process;
    shm->host = *host;
    shm->all = n;
    shm->longest = STRAG_SHM_LONGEST;
    shm->mailbox.status = &shm->alone;
    for (int rank = 0; rank < n; rank++) {
        if (rank == me)
            shm->me = shm->n;
        shm->n += lane_of[rank] == lane;
    }
    if (make_peers(shm, lane_of, lane))
        return shm;
    strag_shm_free(shm);
    return NULL;
}

/* ---- Mailboxes: the caller has the lock ---- */

static size_t units_of(const struct strag_shm *shm)
{
    return strag_shm_mailbox_bytes(shm->n) / STRAG_SHM_MAILBOX_UNIT;
}

/* @return the first place that is long enough, in units; the number of units if there is none */
static size_t find_units(const struct strag_shm_process *process, size_t wanted)
{
    const size_t units = process->arena.size.mailboxes / STRAG_SHM_MAILBOX_UNIT;
    size_t run = 0;
    for (size_t i = 0; i < units; i++) {
        run = process->mailbox_map[i] ? 0 : run + 1;
        if (run == wanted)
            return i + 1 - wanted;
    }
    return units;
}

/* Clear a mailbox. Ranks that still read the previous mailbox here see that it is gone. */
static void clear(void *memory, size_t bytes)
{
    _Atomic uint64_t *words = memory;
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        atomic_store_explicit(&words[i], 0, memory_order_relaxed);
}

static bool take_mailbox(struct strag_shm *shm, uint64_t *key)
{
    struct strag_shm_process *process = shm->process;
    const size_t units = units_of(shm), first = find_units(process, units);
    if ((first + units) * STRAG_SHM_MAILBOX_UNIT > process->arena.size.mailboxes)
        return false;
    char *base = process->arena.mailboxes + first * STRAG_SHM_MAILBOX_UNIT;
    memset(process->mailbox_map + first, 1, units);
    clear(base, units * STRAG_SHM_MAILBOX_UNIT);
    strag_shm_mailbox_at(base, shm->n, &shm->mailbox);
    *key = process->key + ++process->mailboxes_made * UINT64_C(0x9fb21c651e98df25);
    atomic_store_explicit(&shm->mailbox.status->key, *key, memory_order_release);
    shm->arena = process->arena;
    process->communicators++;
    return true;
}

static void put_mailbox(struct strag_shm *shm)
{
    struct strag_shm_process *process = shm->process;
    const size_t offset = (size_t)((char *)shm->mailbox.status - process->arena.mailboxes);
    strag_shm_put_all(shm);
    atomic_store_explicit(&shm->mailbox.status->key, 0, memory_order_release);
    memset(process->mailbox_map + offset / STRAG_SHM_MAILBOX_UNIT, 0, units_of(shm));
    process->communicators--;
}

/* ---- Leaving: the caller has the lock ---- */

static bool has_mailbox(const struct strag_shm *shm)
{
    return shm->mailbox.status != &shm->alone;
}

static void destroy(struct strag_shm *shm)
{
    if (has_mailbox(shm))
        put_mailbox(shm);
    for (int i = 0; shm->peers && i < shm->n; i++) {
        strag_shm_arena_close(shm->peers[i].opened);
        strag_shm_drop_drained(&shm->peers[i]);
    }
    free(shm->peers);
    free(shm->sends.pending);
    free(shm->receives.pending);
    free(shm->peer);
    free(shm);
}

static bool have_left(const struct strag_shm *shm)
{
    for (int i = 0; i < shm->n; i++) {
        const struct strag_shm_peer *peer = &shm->peers[i];
        if (i != shm->me &&
            atomic_load_explicit(&peer->status->key, memory_order_acquire) == peer->mailbox_key &&
            atomic_load_explicit(&peer->status->begun, memory_order_acquire) != STRAG_SHM_LEFT)
            return false;
    }
    return true;
}

/* @param place  in the list of those that left */
static void destroy_left(struct strag_shm_process *process, struct strag_shm **place)
{
    struct strag_shm *shm = *place;
    *place = shm->next_left;
    atomic_fetch_sub_explicit(&process->nleft, 1, memory_order_relaxed);
    destroy(shm);
}

/* Free communicators that left before, and that no other rank reads any more. */
static void settle(struct strag_shm_process *process)
{
    struct strag_shm **place = &process->left;
    while (*place) {
        if (have_left(*place))
            destroy_left(process, place);
        else
            place = &(*place)->next_left;
    }
}

void strag_shm_free(struct strag_shm *shm)
{
    if (!shm)
        return;
    struct strag_shm_process *process = shm->process;
    pthread_mutex_lock(&process->lock);
    if (shm->joined) {
        strag_shm_publish_call(shm, STRAG_SHM_LEFT);
        shm->next_left = process->left;
        process->left = shm;
        atomic_fetch_add_explicit(&process->nleft, 1, memory_order_relaxed);
    } else {
        destroy(shm);
    }
    settle(process);
    pthread_mutex_unlock(&process->lock);
}

/* ---- Keeping arenas open ---- */

struct strag_shm_hold {
    struct strag_shm_process *process;
    int count;
    struct strag_shm_opened *opened[]; /* [count] */
};

struct strag_shm_hold *strag_shm_hold(const struct strag_shm *shm)
{
    struct strag_shm_process *process = shm->process;
    struct strag_shm_hold *hold = malloc(sizeof *hold + (size_t)shm->n * sizeof *hold->opened);
    if (!hold)
        return NULL;
    hold->process = process;
    hold->count = 0;
    pthread_mutex_lock(&process->lock);
    for (int i = 0; i < shm->n; i++) {
        if (!shm->peers[i].opened)
            continue;
        shm->peers[i].opened->users++;
        hold->opened[hold->count++] = shm->peers[i].opened;
    }
    pthread_mutex_unlock(&process->lock);
    return hold;
}

void strag_shm_hold_free(struct strag_shm_hold *hold)
{
    if (!hold)
        return;
    struct strag_shm_process *process = hold->process;
    pthread_mutex_lock(&process->lock);
    for (int i = 0; i < hold->count; i++)
        strag_shm_arena_close(hold->opened[i]);
    pthread_mutex_unlock(&process->lock);
    free(hold);
}

/* ---- The process ---- */

struct strag_shm_process *strag_shm_process_create(int ranks, size_t mapped)
{
    struct strag_shm_process *process = calloc(1, sizeof *process);
    if (!process)
        return NULL;
    if (pthread_mutex_init(&process->lock, NULL) != 0) {
        free(process);
        return NULL;
    }
    process->ranks = ranks < 1 ? 1 : ranks;
    process->wanted = mapped;
    return process;
}

void strag_shm_process_free(struct strag_shm_process *process)
{
    if (!process)
        return;
    while (process->left)
        destroy_left(process, &process->left);
    strag_shm_arena_unmap_unused(process);
    strag_shm_arena_drop(process);
    pthread_mutex_destroy(&process->lock);
    free(process);
}

bool strag_shm_process_is_settled(const struct strag_shm_process *process)
{
    return atomic_load_explicit(&process->nleft, memory_order_relaxed) == 0;
}

int strag_shm_process_settle(struct strag_shm_process *process)
{
    pthread_mutex_lock(&process->lock);
    settle(process);
    const int communicators = process->communicators;
    pthread_mutex_unlock(&process->lock);
    return communicators;
}

/* ---- Joining ---- */

/* Find the processors on which this rank may run; none if that is unknown. */
static void find_processors(struct strag_shm_info *info)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    info->processors = CPU_COUNT(&set);
    info->processor_set = strag_hash(STRAG_HASH_START, &set, sizeof set);
}

/* The caller has the lock. */
static enum strag_shm_reason make(struct strag_shm *shm, struct strag_shm_info *info)
{
    struct strag_shm_process *process = shm->process;
    process->threads = process->threads || shm->host.threads;
    settle(process);
    const enum strag_shm_reason reason = strag_shm_arena_make(process, shm->n);
    if (reason != STRAG_SHM_ABLE)
        return reason;
    if ((unsigned)process->communicators >= process->arena.size.reserve ||
        !take_mailbox(shm, &info->mailbox_key))
        return STRAG_SHM_FULL;
    info->arena_key = process->key;
    info->segment = process->segment;
    info->bytes = process->arena.size.bytes;
    info->slot = process->arena.size.slot;
    info->mailbox =
        (uint32_t)(((char *)shm->mailbox.status - process->arena.base) / STRAG_SHM_LINE);
    return STRAG_SHM_ABLE;
}

enum strag_shm_reason strag_shm_make(struct strag_shm *shm, struct strag_shm_info *info)
{
    *info = (struct strag_shm_info){.segment = -1, .yields = shm->host.yields};
    find_processors(info);
    if (shm->n < 2)
        return STRAG_SHM_ABLE;
    pthread_mutex_lock(&shm->process->lock);
    const enum strag_shm_reason reason = make(shm, info);
    pthread_mutex_unlock(&shm->process->lock);
    return reason;
}

/* Do ranks share processors, but only a few of them each? The same on all ranks. */
static bool are_few(const struct strag_shm *shm, const struct strag_shm_info *infos)
{
    if (!infos[0].yields || !strag_shm_is_alone(shm) || shm->n > FEW_MAX)
        return false;
    for (int i = 0; i < shm->n; i++) {
        int together = 0;
        for (int k = 0; k < shm->n; k++)
            together += infos[k].processor_set == infos[i].processor_set;
        if (together > FEW_EACH * infos[i].processors)
            return false;
    }
    return true;
}

/* Find another rank's mailbox, in an open arena. @return whether it is there */
static bool meet(struct strag_shm *shm, int index, const struct strag_shm_info *info)
{
    struct strag_shm_peer *peer = &shm->peers[index];
    const struct strag_shm_arena *arena = &peer->opened->arena;
    const uint64_t offset = (uint64_t)info->mailbox * STRAG_SHM_LINE;
    if (offset < (size_t)(arena->mailboxes - arena->base) ||
        offset + strag_shm_mailbox_bytes(shm->n) > (size_t)(arena->small - arena->base))
        return false;
    strag_shm_mailbox_at(arena->base + offset, shm->n, &peer->mailbox);
    peer->arena = arena;
    peer->mailbox_key = info->mailbox_key;
    peer->status = peer->mailbox.status;
    peer->in_entry = &peer->mailbox.entries[shm->me];
    peer->in_taken = strag_shm_taken(&shm->mailbox, index);
    peer->out_entry = &shm->mailbox.entries[index];
    peer->out_taken = strag_shm_taken(&peer->mailbox, shm->me);
    if (info->slot < shm->longest)
        shm->longest = info->slot;
    return atomic_load_explicit(&peer->status->key, memory_order_acquire) == peer->mailbox_key;
}

/* The caller has the lock. */
static enum strag_shm_reason meet_all(struct strag_shm *shm, const struct strag_shm_info *infos)
{
    for (int rank = 0; rank < shm->all; rank++) {
        if (!shm->peer[rank])
            continue;
        const int index = (int)(shm->peer[rank] - shm->peers);
        if (index == shm->me)
            continue;
        enum strag_shm_reason reason = STRAG_SHM_ABLE;
        if (!shm->peers[index].opened)
            reason = strag_shm_arena_open(shm->process, &infos[rank], &shm->peers[index].opened);
        if (reason != STRAG_SHM_ABLE)
            return reason;
        if (!meet(shm, index, &infos[rank]))
            return STRAG_SHM_NOT_SEEN;
    }
    shm->peers[shm->me].status = shm->mailbox.status;
    shm->joined = true;
    return STRAG_SHM_ABLE;
}

/* The number of processors on which the ranks of this host may run, all together, as far as is
 * known. Each set of processors counts once; as sets may overlap, the result is at most the number
 * of processors online. The system is asked for that only if there are several sets: that takes as
 * long as everything else here. */
static int count_processors(const struct strag_shm *shm, const struct strag_shm_info *infos)
{
    int count = 0, sets = 0;
    for (int i = 0; i < shm->all; i++) {
        int first = 0;
        if (!shm->peer[i])
            continue;
        while (!shm->peer[first] || infos[first].processor_set != infos[i].processor_set)
            first++;
        if (first != i)
            continue;
        count += infos[i].processors;
        sets++;
    }
    const long online = sets > 1 ? sysconf(_SC_NPROCESSORS_ONLN) : 0;
    return online > 0 && count > online ? (int)online : count;
}

enum strag_shm_reason strag_shm_join(struct strag_shm *shm, const struct strag_shm_info *infos)
{
    shm->processors = count_processors(shm, infos);
    shm->few = are_few(shm, infos);
    if (shm->n < 2)
        return STRAG_SHM_ABLE;
    shm->longest = shm->process->arena.size.slot;
    pthread_mutex_lock(&shm->process->lock);
    const enum strag_shm_reason reason = meet_all(shm, infos);
    pthread_mutex_unlock(&shm->process->lock);
    if (reason == STRAG_SHM_ABLE)
        strag_shm_publish_processor(shm);
    return reason;
}
