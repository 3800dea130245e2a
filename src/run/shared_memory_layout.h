/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is in the memory that the ranks of a host share, and what each of them keeps about it.
 *
 * A host's ranks map one segment. From each of them to each other there is a channel, a ring of
 * cells; a cell announces a message. Up to INLINE bytes are in the cell itself, so that a short
 * message is one cache line; longer ones are in a slot, where the sender puts them and the receiver
 * reduces them. Three ranks, with what rank 0 sends through:
 *
 *     header  statuses  channels 0->0  0->1  0->2  ...  slots of rank 0: to 0  to 1  to 2  shared
 *             of 0 1 2                 |     |                           |     |     |     |
 *                                      cells 0 .. CELLS-1                SLOTS SLOTS SLOTS SHARED
 *
 * The slots to a rank are for messages to this rank only: whatever other ranks do, there is room
 * for the next message once this one has released what it was sent. The engine relies on that.
 * Shared slots hold what goes to several ranks, copied once; when none is free, each has its own.
 *
 * Everything has one writer: cells and slots the sender, `taken` the receiver. A cell is valid when
 * its number is the next one expected.
 *
 * A rank's status is written by this rank and read by all others: in which call it is, and, where
 * ranks share processors, on which of these it waits for whom.
 */
#ifndef STRAG_SHARED_MEMORY_LAYOUT_H
#define STRAG_SHARED_MEMORY_LAYOUT_H

#include "run/shared_memory.h"

#include <stdatomic.h>

enum {
    STRAG_SHM_LINE = 64,    /* bytes of a cache line */
    STRAG_SHM_CELLS = 8,    /* messages announced from a rank to another; a power of two */
    STRAG_SHM_INLINE = 48,  /* bytes of a message in its cell */
    STRAG_SHM_SLOTS = 8,    /* from a rank to another */
    STRAG_SHM_SHARED = 8,   /* slots of a rank for messages to several */
    STRAG_SHM_NO_SLOT = -1, /* the message is in its cell */
};

struct strag_shm_cell {
    _Atomic uint32_t number; /* of the message, from 1 in each channel; 0: none yet */
    uint32_t call;           /* the lower half of its number */
    uint32_t bytes;
    int32_t slot; /* of the sender's, or STRAG_SHM_NO_SLOT */
    _Alignas(16) unsigned char data[STRAG_SHM_INLINE];
};

/* A message in a slot has room wherever its announcement has. */
_Static_assert(STRAG_SHM_SLOTS >= STRAG_SHM_CELLS, "a slot for each message announced");

/* The first line is the receiver's; the second keeps it apart from the cells, since processors
 * fetch lines in pairs. */
struct strag_shm_channel {
    _Alignas(2 * STRAG_SHM_LINE) _Atomic uint32_t taken; /* all messages up to this number */
    _Alignas(2 * STRAG_SHM_LINE) struct strag_shm_cell cells[STRAG_SHM_CELLS];
};

struct strag_shm_rank_status {
    /* Published after a long wait or a failed call: calls before this one are over for the rank. */
    _Alignas(2 * STRAG_SHM_LINE) _Atomic uint64_t begun;

    /* Where few ranks share a processor: the ranks whose next message it waits for, bit by bit (0:
     * it does not wait), and on which processor. Others may see it late: it only helps them to
     * decide whether to give the processor away. */
    _Atomic uint64_t awaits;
    _Atomic int32_t processor;
};

/* A message that has arrived in place. */
struct strag_shm_arrival {
    struct strag_shm_peer *peer;
    bool released; /* but an older one is not */
};

/* Another rank of the host, as this one sees it. Numbers of messages wrap in shared memory, but not
 * here. */
struct strag_shm_peer {
    struct strag_shm_channel *out, *in;
    const struct strag_shm_rank_status *status;
    const char *slots;             /* the peer's first slot */
    int64_t sent;                  /* number of the last message to it */
    int64_t taken;                 /* as of our last look */
    int64_t used[STRAG_SHM_SLOTS]; /* by slot: number of the last message in it */
    int next_slot;
    int first_slot;    /* of those to this peer, among our own */
    uint32_t received; /* number of the last message from it that we have looked at */
    uint32_t released; /* ... of the last one released with all before it */
    struct strag_shm_arrival arrivals[STRAG_SHM_CELLS]; /* by number */
};

/* A slot of ours for messages to several ranks. */
struct strag_shm_shared {
    uint64_t content; /* as in struct strag_transfer; 0: nothing that may go to others, too */
    const void *buffer;
    size_t elements;
    int nreaders;
    struct strag_shm_reader {
        struct strag_shm_peer *peer;
        int64_t number;
    } * readers; /* one per rank */
};

/* A message that could not be finished when it was posted. */
struct strag_shm_pending {
    struct strag_transfer *transfer;
    struct strag_shm_peer *peer;
    void *buffer;
    size_t elements;
    bool in_place;
};

struct strag_shm_queue {
    struct strag_shm_pending *pending;
    size_t length, room;
};

/* One rank's side of a segment. It runs one call at a time. */
struct strag_shm {
    struct strag_transport super;
    struct strag_shm_host host;

    /* the segment */
    void *segment;
    size_t bytes;
    int fd;         /* of the segment's maker, until it is sealed; or -1 */
    int all;        /* ranks, on this host and others */
    int n, me;      /* ranks on the host, and which of them this one is, in the order of ranks */
    int leader;     /* rank of the lowest one */
    size_t longest; /* bytes of a slot */
    char *slots;    /* our own */
    struct strag_shm_rank_status *status;     /* our own */
    const struct strag_shm_channel *channels; /* [n * n], by sender and receiver */
    struct strag_shm_peer *peers;             /* [n] */
    struct strag_shm_peer **peer;             /* [rank]; NULL: on another host */
    struct strag_shm_shared shared[STRAG_SHM_SHARED];
    struct strag_shm_reader *readers; /* of all of them */
    int next_shared;
    bool mapped;    /* by us */
    bool few;       /* all are on this host, and few share a processor: they look who can go on */
    bool has_stale; /* a call was given up: messages of it may be left */

    /* the call */
    uint64_t call;    /* its number, from 1; all ranks count alike */
    const void *type; /* these three as in strag_shm_begin */
    size_t size;
    bool contiguous;
    bool refused; /* what was asked for last was not possible */
    struct strag_shm_queue sends, receives;

    /* waiting */
    unsigned idle;  /* looks since something has happened */
    unsigned looks; /* in vain, in all calls */
    unsigned kept;  /* looks after which the processor was kept, in all calls */
    int behind;     /* looks that are left although another rank could go on */
    bool published; /* the others know for whose messages we wait */
};

/* shared_memory.c */

/** Make the transport ready. @return false: out of memory */
bool strag_shm_init(struct strag_shm *shm);

/** Free what init and calls have allocated. */
void strag_shm_clear(struct strag_shm *shm);

/* shared_memory_segment.c */

/** Use memory of shm->bytes bytes, all 0 at first, as the segment. */
void strag_shm_attach(struct strag_shm *shm, void *memory);

/* shared_memory_wait.c */

/** Nothing has happened: do the process's other work, let other ranks run, or pause briefly. */
void strag_shm_wait(struct strag_shm *shm);

/** Publish that calls before this one are over for this rank. */
void strag_shm_publish_call(struct strag_shm *shm, uint64_t begun);

/** Publish on which processor it runs. */
void strag_shm_publish_processor(struct strag_shm *shm);

/** Publish for whose messages it waits (bit r: index r on the host), and on which processor; 0: it
 * does not wait. */
void strag_shm_publish_wait(struct strag_shm *shm, uint64_t ranks);

#endif
