/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process's arena, and those of other processes.
 *
 * It is a file without a name (memfd): it is gone with the last process that has it mapped, however
 * that ends, and takes memory only where something was written. Another process opens it by its
 * owner's folder in /proc, for reading. Where that folder cannot be seen, as between containers, or
 * is another process's, the opener does not find the key that it was told. Nobody can make the file
 * shorter, so that a reader never gets SIGBUS; and it is in no core file.
 *
 * All of it goes when the last communicator of the process does that shares memory, or that may
 * inherit from one that does.
 */
#define _GNU_SOURCE /* memfd_create */

#include "run/shared_memory_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* Linux 6.3 */
#endif

enum {
    NONE = STRAG_SHM_NO_FILE,
    FILES_SPARE = 32, /* numbers that we leave to others who open files later */
};

static const char name[] = "coll_strag", link_begins[] = "/memfd:coll_strag";

/* ---- Our own ---- */

/* @return the file; or NONE, and the reason */
static int make_file(enum strag_shm_reason *reason)
{
    struct rlimit files;
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) /* an older kernel */
        fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    *reason = errno == EMFILE || errno == ENFILE ? STRAG_SHM_FILES : STRAG_SHM_REFUSED;
    if (fd < 0)
        return NONE;
    /* The lowest free number: those above may be in use, too, but not many are left. */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && (rlim_t)fd + FILES_SPARE >= files.rlim_cur) {
        *reason = STRAG_SHM_FILES;
        close(fd);
        return NONE;
    }
    return fd;
}

static void *map(int fd, size_t bytes, int protection)
{
    void *memory = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return NULL;
    (void)madvise(memory, bytes, MADV_DONTDUMP); /* or core files are longer */
    return memory;
}

/* The file gets its length, for good. @return its memory, or NULL */
static void *shape(int fd, size_t bytes)
{
    if (ftruncate(fd, (off_t)bytes) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
        return NULL;
    return map(fd, bytes, PROT_READ | PROT_WRITE);
}

/* What is known of the arena's parts: all are free. @return false: out of memory */
static bool make_lists(struct strag_shm_process *process)
{
    const struct strag_shm_size *size = &process->arena.size;
    const unsigned large = size->large + size->reserve;
    struct strag_shm_rotation *rotation = &process->rotation;
    process->desk_map = calloc(size->desks / STRAG_SHM_DESK_UNIT, 1);
    process->free_small = malloc(size->small * sizeof *process->free_small + 1);
    process->free_reserve = malloc(size->reserve * sizeof *process->free_reserve + 1);
    rotation->slots = malloc(size->large * sizeof *rotation->slots + 1);
    process->uses = calloc(size->small + large, sizeof *process->uses);
    process->users = calloc((size_t)size->rings + 1, sizeof *process->users);
    if (!process->desk_map || !process->free_small || !process->free_reserve || !rotation->slots ||
        !process->uses || !process->users)
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
    const int fd = make_file(&reason);
    if (fd == NONE)
        return reason;
    process->fd = fd;
    void *memory = shape(fd, size->bytes);
    reason = STRAG_SHM_NOT_MAPPED;
    if (memory) {
        strag_shm_arena_at(memory, size, &process->arena);
        process->mapped += size->bytes;
        reason = STRAG_SHM_NO_MEMORY;
    }
    if (!memory || !make_lists(process) ||
        getrandom(&process->key, sizeof process->key, 0) != sizeof process->key) {
        strag_shm_arena_drop(process);
        return reason;
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
        munmap(process->arena.base, process->arena.size.bytes);
        process->mapped -= process->arena.size.bytes;
    }
    if (process->fd != NONE)
        close(process->fd);
    free(process->desk_map);
    free(process->free_small);
    free(process->free_reserve);
    free(process->rotation.slots);
    free(process->uses);
    free(process->users);
    process->desk_map = NULL;
    process->free_small = process->free_reserve = process->uses = NULL;
    process->rotation = (struct strag_shm_rotation){NULL, 0, 0, 0};
    process->users = NULL;
    process->fd = NONE;
    process->arena.base = NULL;
}

/* ---- Others' ---- */

/* Only such a file is opened as is known to be harmless. */
static int open_file(const struct strag_shm_info *owner)
{
    char path[64], target[sizeof link_begins];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)owner->pid, (int)owner->fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length != (ssize_t)sizeof target - 1 || memcmp(target, link_begins, sizeof target - 1) != 0)
        return NONE;
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Is it the one that its owner told us of? */
static bool is_right(int fd, const struct strag_shm_info *owner)
{
    struct stat status;
    struct strag_shm_header header;
    return fstat(fd, &status) == 0 && status.st_size == (off_t)owner->bytes &&
           pread(fd, &header, sizeof header, 0) == sizeof header &&
           header.key == owner->arena_key && header.size.bytes == owner->bytes;
}

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

static enum strag_shm_reason map_other(struct strag_shm_process *process, int fd,
                                       const struct strag_shm_info *info,
                                       struct strag_shm_opened **opened)
{
    if (!is_right(fd, info))
        return STRAG_SHM_NOT_SEEN;
    if (process->mapped + info->bytes > process->may_map)
        return process->may_map < process->wanted ? STRAG_SHM_ADDRESSES : STRAG_SHM_TOO_SMALL;
    void *memory = map(fd, info->bytes, PROT_READ);
    if (!memory)
        return STRAG_SHM_NOT_MAPPED;
    *opened = strag_shm_arena_add(process, info->arena_key, memory, true);
    if (!*opened)
        munmap(memory, info->bytes);
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
    if (!*opened) {
        const int fd = open_file(info);
        if (fd < 0)
            return errno == EMFILE || errno == ENFILE ? STRAG_SHM_FILES : STRAG_SHM_NOT_SEEN;
        reason = map_other(process, fd, info, opened);
        close(fd);
    }
    if (*opened)
        (*opened)->users++;
    return reason;
}

void strag_shm_arena_close(struct strag_shm_process *process, struct strag_shm_opened *opened)
{
    if (!opened || --opened->users > 0)
        return;
    struct strag_shm_opened **place = &process->opened[opened->key % STRAG_SHM_OPEN_LISTS];
    while (*place != opened)
        place = &(*place)->next;
    *place = opened->next;
    if (opened->mapped) {
        process->mapped -= opened->arena.size.bytes;
        munmap(opened->arena.base, opened->arena.size.bytes);
    }
    free(opened);
}
