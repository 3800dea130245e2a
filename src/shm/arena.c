/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process's arena, and those of other processes.
 *
 * An arena is a System V segment, which another process attaches, for reading, by its number. The
 * owner need not help, the segment has no name in a file system, and the two processes may be in
 * different namespaces of users, processes, mounts and networks, as ranks in containers are: only
 * their IPC namespace and their user have to be the same. In another IPC namespace the number is
 * another segment's, or unused: the opener does not find the key that it was given.
 *
 * The segment is marked for removal as soon as its owner has attached it. Linux still lets others
 * attach it (shmat(2)), and removes it with the last process that has it, however that ends. Only
 * pages that were written take memory; but if the system does not overcommit memory
 * (vm.overcommit_memory=2), the whole segment is reserved in the beginning, or refused. So no
 * process gets SIGBUS in the middle of a call. No process can make a segment shorter, no other
 * process can write there, and it is in no core file.
 *
 * The process keeps its arena until strag_shm_process_free.
 */
#define _GNU_SOURCE /* MADV_DONTDUMP */

#include "shm/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/stat.h>

/* ---- The own arena ---- */

/* @return NULL on failure, with errno */
static void *attach(int segment, size_t bytes, int flags)
{
    void *memory = shmat(segment, NULL, flags);
    if (memory == (void *)-1)
        return NULL;
    (void)madvise(memory, bytes, MADV_DONTDUMP); /* keeps core files short */
    return memory;
}

/* From now on processes of the same user, too, can attach the segment only for reading. (The
 * superuser can do more. This fails in a user namespace that does not map its own user.) */
static void make_read_only(int segment)
{
    struct shmid_ds status;
    if (shmctl(segment, IPC_STAT, &status) != 0)
        return;
    status.shm_perm.mode = S_IRUSR;
    (void)shmctl(segment, IPC_SET, &status);
}

static enum strag_shm_reason why_refused(void)
{
    switch (errno) {
    case ENOMEM:
        return STRAG_SHM_NOT_RESERVED;
    case EINVAL: /* larger than shmmax */
    case ENOSPC:
        return STRAG_SHM_SYSTEM_LIMITS;
    default:
        return STRAG_SHM_REFUSED;
    }
}

/* @return the segment's memory; or NULL, and the reason */
static void *make_segment(size_t bytes, int *segment, enum strag_shm_reason *reason)
{
    *segment = shmget(IPC_PRIVATE, bytes, IPC_CREAT | SHM_NORESERVE | S_IRUSR | S_IWUSR);
    if (*segment < 0) {
        *reason = why_refused();
        return NULL;
    }
    void *memory = attach(*segment, bytes, 0);
    (void)shmctl(*segment, IPC_RMID, NULL);
    *reason = STRAG_SHM_NOT_MAPPED;
    if (memory)
        make_read_only(*segment);
    return memory;
}

/* Make the lists of the arena's parts; all are free. @return false if out of memory */
static bool make_lists(struct strag_shm_process *process)
{
    const struct strag_shm_size *size = &process->arena.size;
    const unsigned large = size->large + size->reserve;
    struct strag_shm_rotation *rotation = &process->rotation;
    process->mailbox_map = calloc(size->mailboxes / STRAG_SHM_MAILBOX_UNIT, 1);
    process->free_small = malloc(size->small * sizeof *process->free_small + 1);
    process->free_reserve = malloc(size->reserve * sizeof *process->free_reserve + 1);
    rotation->slots = malloc(size->large * sizeof *rotation->slots + 1);
    process->uses = calloc(size->small + large, sizeof *process->uses);
    process->users = calloc((size_t)size->rings + 1, sizeof *process->users);
    if (!process->mailbox_map || !process->free_small || !process->free_reserve ||
        !rotation->slots || !process->uses || !process->users)
        return false;
    process->nfree_small = size->small;
    process->nfree_reserve = size->reserve;
    rotation->places = rotation->free = size->large;
    rotation->first = 0;
    for (unsigned i = 0; i < size->small; i++) /* the first ones are taken first */
        process->free_small[i] = (uint16_t)(size->small - 1 - i);
    for (unsigned i = 0; i < size->large; i++)
        rotation->slots[i] = (uint16_t)(size->small + i);
    for (unsigned i = 0; i < size->reserve; i++)
        process->free_reserve[i] = (uint16_t)(size->small + large - 1 - i);
    process->large_used = 0;
    process->next_ring = size->rings > 0 ? size->rings - 1 : 0;
    return true;
}

enum strag_shm_reason strag_shm_arena_make_sized(struct strag_shm_process *process,
                                                 const struct strag_shm_size *size)
{
    enum strag_shm_reason reason;
    void *memory = make_segment(size->bytes, &process->segment, &reason);
    if (!memory)
        return reason;
    strag_shm_arena_at(memory, size, &process->arena);
    process->mapped += size->bytes;
    if (!make_lists(process) ||
        getrandom(&process->key, sizeof process->key, 0) != sizeof process->key) {
        strag_shm_arena_drop(process);
        return STRAG_SHM_NO_MEMORY;
    }
    const struct strag_shm_header header = {process->key, *size};
    memcpy(memory, &header, sizeof header);
    return STRAG_SHM_ABLE;
}

enum strag_shm_reason strag_shm_arena_make(struct strag_shm_process *process, int ranks)
{
    struct strag_shm_size size;
    if (process->arena.base)
        return STRAG_SHM_ABLE;
    if (process->ranks > ranks)
        ranks = process->ranks;
    const struct strag_shm_limits limits = strag_shm_limits_ask(process->wanted);
    const enum strag_shm_reason reason = strag_shm_size_for(ranks, &limits, &size);
    if (reason != STRAG_SHM_ABLE)
        return reason;
    process->may_map = limits.mapped;
    return strag_shm_arena_make_sized(process, &size);
}

void strag_shm_arena_drop(struct strag_shm_process *process)
{
    if (process->arena.base) {
        shmdt(process->arena.base);
        process->mapped -= process->arena.size.bytes;
    }
    free(process->mailbox_map);
    free(process->free_small);
    free(process->free_reserve);
    free(process->rotation.slots);
    free(process->uses);
    free(process->users);
    process->mailbox_map = NULL;
    process->free_small = process->free_reserve = process->uses = NULL;
    process->rotation = (struct strag_shm_rotation){NULL, 0, 0, 0};
    process->users = NULL;
    process->arena.base = NULL;
}

/* ---- Arenas of other processes ---- */

struct strag_shm_opened *strag_shm_arena_add(struct strag_shm_process *process, uint64_t key,
                                             void *base, bool mapped)
{
    const struct strag_shm_header *header = base;
    struct strag_shm_opened *opened = calloc(1, sizeof *opened);
    if (!opened)
        return NULL;
    opened->key = key;
    opened->mapped = mapped;
    strag_shm_arena_at(base, &header->size, &opened->arena);
    struct strag_shm_opened **list = &process->opened[key % STRAG_SHM_OPEN_LISTS];
    opened->next = *list;
    *list = opened;
    if (mapped)
        process->mapped += header->size.bytes;
    return opened;
}

void strag_shm_arena_unmap_unused(struct strag_shm_process *process)
{
    for (int list = 0; list < STRAG_SHM_OPEN_LISTS; list++) {
        struct strag_shm_opened **place = &process->opened[list];
        while (*place) {
            struct strag_shm_opened *opened = *place;
            if (opened->users > 0) {
                place = &opened->next;
                continue;
            }
            *place = opened->next;
            if (opened->mapped) {
                process->mapped -= opened->arena.size.bytes;
                shmdt(opened->arena.base);
            }
            free(opened);
        }
    }
}

/* Attach the segment of an arena's owner. @return its memory; or NULL, and the reason */
static void *attach_other(const struct strag_shm_info *owner, enum strag_shm_reason *reason)
{
    struct shmid_ds status;
    *reason = STRAG_SHM_NOT_SEEN;
    if (shmctl(owner->segment, IPC_STAT, &status) != 0 || status.shm_segsz != owner->bytes)
        return NULL;
    void *memory = attach(owner->segment, owner->bytes, SHM_RDONLY);
    if (!memory) {
        *reason = STRAG_SHM_NOT_MAPPED;
        return NULL;
    }
    const struct strag_shm_header *header = memory;
    if (header->key == owner->arena_key && header->size.bytes == owner->bytes)
        return memory;
    shmdt(memory);
    return NULL;
}

static enum strag_shm_reason map_other(struct strag_shm_process *process,
                                       const struct strag_shm_info *info,
                                       struct strag_shm_opened **opened)
{
    enum strag_shm_reason reason;
    if (process->mapped + info->bytes > process->may_map)
        strag_shm_arena_unmap_unused(process);
    if (process->mapped + info->bytes > process->may_map)
        return process->may_map < process->wanted ? STRAG_SHM_ADDRESSES : STRAG_SHM_TOO_SMALL;
    void *memory = attach_other(info, &reason);
    if (!memory)
        return reason;
    *opened = strag_shm_arena_add(process, info->arena_key, memory, true);
    if (!*opened)
        shmdt(memory);
    return *opened ? STRAG_SHM_ABLE : STRAG_SHM_NO_MEMORY;
}

enum strag_shm_reason strag_shm_arena_open(struct strag_shm_process *process,
                                           const struct strag_shm_info *info,
                                           struct strag_shm_opened **opened)
{
    enum strag_shm_reason reason = STRAG_SHM_ABLE;
    *opened = process->opened[info->arena_key % STRAG_SHM_OPEN_LISTS];
    while (*opened && (*opened)->key != info->arena_key)
        *opened = (*opened)->next;
    if (!*opened)
        reason = map_other(process, info, opened);
    if (*opened)
        (*opened)->users++;
    return reason;
}

void strag_shm_arena_close(struct strag_shm_opened *opened)
{
    if (opened)
        opened->users--;
}
