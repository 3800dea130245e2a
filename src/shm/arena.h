/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that the ranks of a host share.
 *
 * Every process has one arena, however many communicators it is in. Only that process writes there;
 * the others on its host read. So the memory of a process is limited beforehand, and a second
 * communicator of the same ranks maps no further memory.
 *
 *     arena    header | rings | mailboxes | small slots | slots
 *
 *     mailbox  of one rank in one communicator: its status; the place of its channel to each other
 *              rank of the host; the last message that it has taken from each; and a ring
 *     ring     CELLS cells. A cell announces a message. Up to INLINE bytes are in the cell itself,
 *              so that a short message is one cache line; longer ones are in a slot, where the
 *              sender puts them and the receiver reduces them
 *     slots    for all communicators and peers. A message to several ranks is copied once
 *
 * A channel, from one rank to another in one communicator, needs a ring only while messages are in
 * flight. It gets one with its first message, and may lose it to another channel when all messages
 * have been taken. So that no rank takes another channel's message, every assignment of a ring has
 * a number of its own, and a cell is valid if its tag has that number and the next message's:
 *
 *     rank 0's mailbox                   ring 5                       rank 1's mailbox
 *     channel to 1: (17, ring 5)   -->   cell 1: 17, message 9        taken from 0: 8
 *     channel to 2: none                 cell 2: 17, message 10
 *
 * A receiver that does not find its next message checks whether the channel has another ring.
 */
#ifndef STRAG_SHARED_MEMORY_ARENA_H
#define STRAG_SHARED_MEMORY_ARENA_H

#include "shm/shm.h"

#include <stdatomic.h>
#include <stddef.h>

enum {
    STRAG_SHM_LINE = 64,          /* bytes of a cache line */
    STRAG_SHM_CELLS = 8,          /* messages announced from a rank to another; a power of two */
    STRAG_SHM_INLINE = 48,        /* bytes of a message in its cell, at most */
    STRAG_SHM_SMALL = 2048,       /* bytes of a small slot */
    STRAG_SHM_LONGEST = 32768,    /* bytes of a slot, at most */
    STRAG_SHM_NO_SLOT = 0xffff,   /* the message is in its cell */
    STRAG_SHM_MAILBOX_UNIT = 128, /* bytes: mailboxes begin at multiples of this */
    STRAG_SHM_ENTERED = 2,        /* the last calls, which a rank publishes */
};

/* ---- In the arena ---- */

/* Processes share atomics in the arena, but no locks. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit atomics need no lock");

struct strag_shm_cell {
    /* Upper half: the number of the ring's assignment; lower half: of the message, from 1 in each
     * channel. 0 if there was no message yet. */
    _Atomic uint64_t tag;
    uint32_t call; /* the lower half of its number */
    uint16_t bytes;
    uint16_t slot; /* one of the sender's, or STRAG_SHM_NO_SLOT */
    _Alignas(16) unsigned char data[STRAG_SHM_INLINE];
};

struct strag_shm_ring {
    _Alignas(2 * STRAG_SHM_LINE) struct strag_shm_cell cells[STRAG_SHM_CELLS];
};

/* The beginning of a mailbox. Behind it are a ring, [n] entries of struct strag_shm_mailbox's
 * `entries`, and [n] of its `taken`. */
struct strag_shm_rank_status {
    _Atomic uint64_t key;

    /* Calls before this one are done for the rank. Published from time to time while it waits (with
     * ranks on other hosts: at each unsuccessful poll), after a failed call, and on leaving. */
    _Atomic uint64_t begun;

    /* If few ranks share a processor: the ranks from which it needs a message next, a bit each (0
     * if it does not wait), and its processor. Others may see this late: it only helps them to
     * decide whether to give the processor away. */
    _Atomic uint64_t awaits;
    _Atomic int32_t processor;

    _Atomic uint32_t starved; /* it has no room for a message */

    /* The last call that it has given up, published before `begun`; 0 if there is none. */
    _Atomic uint64_t given_up;
    unsigned char padding[STRAG_SHM_LINE - 40];

    /* shm/entered.h: two lines, read only if a call stands still, so that writing them in every
     * call costs next to nothing. The last calls: number c is at c % ENTERED. */
    struct strag_shm_entry {
        _Atomic uint64_t number; /* from 1; 0 if there is none, or while it is written */
        _Atomic uint64_t bytes, what;
    } entered[STRAG_SHM_ENTERED];
    struct strag_shm_waiting {
        _Atomic uint64_t ran, number, claims, said; /* as in struct strag_shm_wait */
        _Atomic uint64_t claims_why, said_why;      /* as in strag_shm_tells_why: calls */
    } waiting;
    unsigned char more_padding[3 * STRAG_SHM_LINE - 96]; /* to a mailbox's unit */
};
_Static_assert(sizeof(struct strag_shm_rank_status) == 2 * STRAG_SHM_MAILBOX_UNIT,
               "as mailboxes are aligned");

#define STRAG_SHM_LEFT UINT64_MAX /* `begun`: the rank has left the communicator */

/* The sizes of an arena's parts, in their order. The header has a copy. */
struct strag_shm_size {
    uint32_t bytes;     /* in all */
    uint32_t rings;     /* number, without those in mailboxes */
    uint32_t mailboxes; /* bytes */
    uint32_t small;     /* number of small slots */
    uint32_t large;     /* number of large slots, without those in reserve */
    uint32_t reserve;   /* number of large slots in reserve, and of communicators at most */
    uint32_t slot;      /* bytes of a large slot */
    uint32_t padding;
};

struct strag_shm_header {
    uint64_t key;
    struct strag_shm_size size;
};

/* ---- Seen by a process ---- */

/* An arena's parts. */
struct strag_shm_arena {
    char *base;
    struct strag_shm_ring *rings;
    char *mailboxes, *small, *large;
    struct strag_shm_size size;
};

/* A mailbox's parts, in this or in another process's arena. */
struct strag_shm_mailbox {
    struct strag_shm_rank_status *status;
    struct strag_shm_ring *ring;
    _Atomic uint64_t *entries; /* [n]: the ring to a rank: its assignment in the upper half, its
                                * offset in lines in the lower half; 0 if there was none yet */
    char *taken;               /* [n], _Atomic uint32_t: the last message taken from each rank */
    size_t taken_stride;       /* bytes: entries of many ranks share lines, those of few do not */
};

/* The address of a slot. */
static inline char *strag_shm_slot(const struct strag_shm_arena *arena, unsigned slot)
{
    if (slot < arena->size.small)
        return arena->small + (size_t)slot * STRAG_SHM_SMALL;
    return arena->large + (size_t)(slot - arena->size.small) * arena->size.slot;
}

/* The last message that a mailbox's owner has taken from a sender (index on the host). */
static inline _Atomic uint32_t *strag_shm_taken(const struct strag_shm_mailbox *mailbox, int sender)
{
    return (_Atomic uint32_t *)(void *)(mailbox->taken + (size_t)sender * mailbox->taken_stride);
}

/* The cells of the ring in an entry of a mailbox. */
static inline struct strag_shm_cell *strag_shm_cells(const struct strag_shm_arena *arena,
                                                     uint64_t entry)
{
    return (struct strag_shm_cell *)(void *)(arena->base + (entry & UINT32_MAX) * STRAG_SHM_LINE);
}

static inline uint64_t strag_shm_tag(uint64_t entry)
{
    return entry & ~(uint64_t)UINT32_MAX;
}

/* ---- shm/limits.c ---- */

/* Bytes that a process may use for all arenas that it maps. */
struct strag_shm_limits {
    size_t wanted; /* to map, if there were no limit */
    size_t mapped, touched;
};

/** Find the site's limits. @param wanted  bytes to map */
struct strag_shm_limits strag_shm_limits_ask(size_t wanted);

/** The least limit of the memory cgroups that a process is in.
 * @param list  a file as /proc/self/cgroup; `mount`: as /sys/fs/cgroup
 * @return bytes; SIZE_MAX if there is none */
size_t strag_shm_cgroup_limit(const char *list, const char *mount);

/** Choose the best sizes for this many ranks. @return why there is too little memory, if so */
enum strag_shm_reason strag_shm_size_for(int ranks, const struct strag_shm_limits *limits,
                                         struct strag_shm_size *size);

/** Bytes of a mailbox in a communicator of n ranks on a host; a multiple of MAILBOX_UNIT. */
size_t strag_shm_mailbox_bytes(int n);

/** Bytes of an arena of these sizes, whatever its member `bytes` says. */
size_t strag_shm_arena_bytes(const struct strag_shm_size *size);

/** Find an arena's parts. */
void strag_shm_arena_at(void *base, const struct strag_shm_size *size,
                        struct strag_shm_arena *arena);

/** Find a mailbox's parts. */
void strag_shm_mailbox_at(void *base, int n, struct strag_shm_mailbox *mailbox);

struct strag_shm_process;
struct strag_shm_opened;

/* ---- shm/arena.c: the caller has the lock ---- */

/** Make the process's arena, unless it exists. */
enum strag_shm_reason strag_shm_arena_make(struct strag_shm_process *process, int ranks);

/** Make it with these sizes. */
enum strag_shm_reason strag_shm_arena_make_sized(struct strag_shm_process *process,
                                                 const struct strag_shm_size *size);

/** Free it. No communicator needs it any more. */
void strag_shm_arena_drop(struct strag_shm_process *process);

/** Map another process's arena, unless it is mapped. Must be followed by strag_shm_arena_close. */
enum strag_shm_reason strag_shm_arena_open(struct strag_shm_process *process,
                                           const struct strag_shm_info *info,
                                           struct strag_shm_opened **opened);

/** Record another process's arena at this address. @return NULL if out of memory */
struct strag_shm_opened *strag_shm_arena_add(struct strag_shm_process *process, uint64_t key,
                                             void *base, bool mapped);

/** A communicator does not need the arena any more. It stays mapped for the next one, until
 * addresses are short or the process ends. `opened` may be NULL. */
void strag_shm_arena_close(struct strag_shm_opened *opened);

/** Unmap arenas that no communicator needs. */
void strag_shm_arena_unmap_unused(struct strag_shm_process *process);

#endif
