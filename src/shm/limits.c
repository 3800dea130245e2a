/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory a process may share, and how an arena divides it.
 *
 * All limits are read before memory is requested, since a request beyond a limit is not always
 * refused: the process may be killed for its memory later. Only a small part of each limit is used,
 * so that strag does not make a program run out of memory.
 *
 * For n ranks on a host, with 256 MiB of addresses:
 *
 *       n     arena   touched at most    slots         small slots             communicators
 *     2-4    35 MiB   3.3 MiB            64 of 32 KiB  128                       1024
 *      16    16 MiB   2.0 MiB            37 of 32 KiB  128                       448
 *      64     4 MiB   0.5 MiB             8 of 32 KiB   32                       112
 *     192   1.3 MiB   166 KiB             8 of  8 KiB   10                       149
 *    1024   254 KiB   106 KiB             4 of  4 KiB    8                       37
 *
 * A process touches its own arena, and the parts of others' arenas with messages for it: at most
 * 32 MiB with up to 192 ranks, if all send to all through all slots.
 */
#include "shm/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    HEADER = 2048, /* the first mailbox and the last rings, which are used first, share a page */
    PAGE = 4096,

    /* Bytes. Users' long vectors begin at a page, or a little behind. If a slot did so, too, a
     * message would take a quarter longer (16 KiB, 2 ranks: 3.8 us, 3.2 elsewhere): a processor
     * mistakes a read for one of data just written, if the last 12 bits of the addresses are equal.
     */
    SMALL_ASIDE = 3072,
    LARGE_ASIDE = 1792,

    MAILBOXES_LEAST = 4,      /* of a communicator of all ranks */
    MAILBOXES_MOST = 2 << 20, /* bytes */
    SMALL_LEAST = 4,          /* pairs of slots: they fill a page */
    SMALL_MOST = 64,          /* ... */
    LARGE_LEAST = 4,          /* slots */
    LARGE_WELL = 5,           /* ... at least, or they are made shorter */
    LARGE_MOST = 64,          /* ... */
    SLOT_LEAST = 4096,        /* bytes */
    RESERVE_LEAST = 4,        /* communicators */
    RESERVE_MOST = 1024,      /* ... */
    TAKEN_APART = 32,         /* with more ranks than this, `taken` entries share lines */
    PART_OF_ADDRESSES = 8,    /* one part in this many of the addresses left is used */
    PART_OF_CGROUP = 16,      /* the same of a cgroup's limit */
    PART_TOUCHED = 8,         /* the same of the mapped addresses is touched */
    CGROUP_NAME = 4096,       /* bytes */
    TOUCHED_MOST = 4 << 20,   /* bytes of an arena: few ranks do not need more */
    BEYOND_TOUCHED = 4,       /* an arena may be this many times too large: with 1024 ranks */
};

const char *strag_shm_reason_text(enum strag_shm_reason reason)
{
    static const char *const texts[STRAG_SHM_REASONS] = {
        [STRAG_SHM_ABLE] = "it could",
        [STRAG_SHM_NO_MEMORY] = "it is out of memory",
        [STRAG_SHM_ADDRESSES] = "its limit of addresses (ulimit -v) leaves too little",
        [STRAG_SHM_CGROUP] = "its memory cgroup's limit leaves too little",
        [STRAG_SHM_REFUSED] = "the system refuses it System V shared memory (shmget)",
        [STRAG_SHM_SYSTEM_LIMITS] = "kernel.shmmax, shmall and shmmni (sysctl) leave too little",
        [STRAG_SHM_NOT_RESERVED] = "the system cannot reserve the memory (vm.overcommit_memory)",
        [STRAG_SHM_TOO_SMALL] = "coll_strag_shared_memory_size is too small for the host's ranks",
        [STRAG_SHM_FULL] = "too many communicators share memory already",
        [STRAG_SHM_NOT_SEEN] = "another rank has another IPC namespace (container) or user",
        [STRAG_SHM_NOT_MAPPED] = "the system refuses it a mapping",
    };
    bool known = reason >= 0 && reason < STRAG_SHM_REASONS;
    return known ? texts[reason] : "unknown";
}

/* ---- The site's limits ---- */

/* A file's first number. @return SIZE_MAX if there is none */
static size_t number_in(const char *path)
{
    unsigned long long number = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return SIZE_MAX;
    bool found = fscanf(file, "%llu", &number) == 1 && number < SIZE_MAX;
    fclose(file);
    return found ? (size_t)number : SIZE_MAX;
}

/* The least number in the files of a group and of the groups above it.
 * @param group  such as /jobs/17; it is changed */
static size_t least_in_groups(const char *mount, char *group, const char *name)
{
    char path[CGROUP_NAME + 128];
    size_t least = SIZE_MAX;
    for (;;) {
        snprintf(path, sizeof path, "%s%s/%s", mount, group, name);
        size_t number = number_in(path);
        if (number < least)
            least = number;
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* The limit from a line of /proc/self/cgroup, which is hierarchy:controllers:/group. Version 2 has
 * no controllers there. */
static size_t limit_of_line(char *line, const char *mount)
{
    char folder[256];
    char *controllers = strchr(line, ':'),
         *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return SIZE_MAX;
    *group++ = '\0';
    controllers++;
    group[strcspn(group, "\n")] = '\0';
    if (!*controllers)
        return least_in_groups(mount, group, "memory.max");
    if (strcmp(controllers, "memory") != 0)
        return SIZE_MAX;
    snprintf(folder, sizeof folder, "%s/memory", mount);
    return least_in_groups(folder, group, "memory.limit_in_bytes");
}

size_t strag_shm_cgroup_limit(const char *list, const char *mount)
{
    char line[CGROUP_NAME];
    size_t least = SIZE_MAX;
    FILE *file = fopen(list, "re");
    if (!file)
        return SIZE_MAX;
    while (fgets(line, sizeof line, file)) {
        size_t limit = limit_of_line(line, mount);
        if (limit < least)
            least = limit;
    }
    fclose(file);
    return least;
}

/* @return SIZE_MAX if there is no limit */
static size_t soft_limit(int resource)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return limit.rlim_cur;
}

/* Addresses that the process may still use. */
static size_t addresses_left(void)
{
    const size_t limit = soft_limit(RLIMIT_AS), pages = number_in("/proc/self/statm");
    if (limit == SIZE_MAX || pages == SIZE_MAX)
        return limit;
    const size_t used = pages * (size_t)sysconf(_SC_PAGESIZE);
    return limit > used ? limit - used : 0;
}

struct strag_shm_limits strag_shm_limits_ask(size_t wanted)
{
    const size_t addresses = addresses_left() / PART_OF_ADDRESSES;
    const size_t group =
        strag_shm_cgroup_limit("/proc/self/cgroup", "/sys/fs/cgroup") / PART_OF_CGROUP;
    struct strag_shm_limits limits = {
        .wanted = wanted,
        .mapped = wanted < addresses ? wanted : addresses,
    };
    limits.touched = limits.mapped / PART_TOUCHED;
    if (limits.touched > group)
        limits.touched = group;
    return limits;
}

/* ---- Dividing an arena ---- */

static size_t rounded(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static size_t clamped(size_t number, size_t least, size_t most)
{
    return number < least ? least : number > most ? most : number;
}

static size_t taken_stride(int n)
{
    return n <= TAKEN_APART ? 2 * STRAG_SHM_LINE : sizeof(uint32_t);
}

size_t strag_shm_mailbox_bytes(int n)
{
    return sizeof(struct strag_shm_rank_status) + sizeof(struct strag_shm_ring) +
           rounded((size_t)n * sizeof(uint64_t), STRAG_SHM_MAILBOX_UNIT) +
           rounded((size_t)n * taken_stride(n), STRAG_SHM_MAILBOX_UNIT);
}

void strag_shm_mailbox_at(void *base, int n, struct strag_shm_mailbox *mailbox)
{
    char *at = base;
    mailbox->status = (void *)at;
    mailbox->ring = (void *)(at += sizeof(struct strag_shm_rank_status));
    mailbox->entries = (void *)(at += sizeof(struct strag_shm_ring));
    mailbox->taken = at + rounded((size_t)n * sizeof(uint64_t), STRAG_SHM_MAILBOX_UNIT);
    mailbox->taken_stride = taken_stride(n);
}

void strag_shm_arena_at(void *base, const struct strag_shm_size *size,
                        struct strag_shm_arena *arena)
{
    char *at = base;
    arena->base = at;
    arena->size = *size;
    arena->rings = (void *)(at += HEADER);
    arena->mailboxes = at += size->rings * sizeof(struct strag_shm_ring);
    arena->small = at += size->mailboxes + SMALL_ASIDE;
    arena->large = at + (size_t)size->small * STRAG_SHM_SMALL + LARGE_ASIDE;
}

size_t strag_shm_arena_bytes(const struct strag_shm_size *size)
{
    return HEADER + size->rings * sizeof(struct strag_shm_ring) + size->mailboxes + SMALL_ASIDE +
           (size_t)size->small * STRAG_SHM_SMALL + LARGE_ASIDE +
           (size_t)(size->large + size->reserve) * size->slot;
}

/* Which limit is too low? */
static enum strag_shm_reason why_not(const struct strag_shm_limits *limits)
{
    if (limits->touched < limits->mapped / PART_TOUCHED)
        return STRAG_SHM_CGROUP;
    return limits->mapped < limits->wanted ? STRAG_SHM_ADDRESSES : STRAG_SHM_TOO_SMALL;
}

enum strag_shm_reason strag_shm_size_for(int ranks, const struct strag_shm_limits *limits,
                                         struct strag_shm_size *size)
{
    size_t touched = limits->touched / (size_t)ranks, most = limits->mapped / (size_t)ranks;
    if (touched > TOUCHED_MOST)
        touched = TOUCHED_MOST;
    *size = (struct strag_shm_size){
        .rings = ranks <= 32    ? 128
                 : ranks <= 256 ? 64
                                : 32,
        .mailboxes = (uint32_t)rounded(
            clamped(touched / 4, MAILBOXES_LEAST * strag_shm_mailbox_bytes(ranks), MAILBOXES_MOST),
            PAGE),
        .small = (uint32_t)clamped(touched / 16 / STRAG_SHM_SMALL, SMALL_LEAST, SMALL_MOST) * 2,
        .slot = STRAG_SHM_LONGEST,
    };
    const size_t others = strag_shm_arena_bytes(size),
                 left = touched > others ? touched - others : 0;
    while (size->slot > SLOT_LEAST && left / size->slot < LARGE_WELL)
        size->slot /= 2;
    size->large = (uint32_t)clamped(left / size->slot, LARGE_LEAST, LARGE_MOST);
    const size_t used = strag_shm_arena_bytes(size);
    if (used + (size_t)RESERVE_LEAST * size->slot > most || used > BEYOND_TOUCHED * touched)
        return why_not(limits);
    size->reserve = (uint32_t)clamped((most - used) / size->slot, RESERVE_LEAST, RESERVE_MOST);
    size->bytes = (uint32_t)strag_shm_arena_bytes(size);
    return STRAG_SHM_ABLE;
}
