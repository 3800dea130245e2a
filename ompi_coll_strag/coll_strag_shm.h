/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the ranks of a host share: what coll_strag_shm.c sets up, and
 * coll_strag_transport_shm.c sends messages through; coll_strag_shm_wait.c waits for them.
 *
 * A host's ranks of a communicator map one segment. From each of them to each other there is a
 * channel, a ring of cells; a cell announces a message. Up to INLINE bytes are in the cell itself,
 * so that a short message is one cache line; longer ones are in a slot, where the sender puts them
 * and the receiver combines them. Three ranks, what rank 0 has to send through:
 *
 *     header    channels  0->0  0->1  0->2  ...    slots of rank 0: to 0  to 1  to 2  shared  ...
 *                               |     |                                   |     |     |
 *                               cells 0 .. CELLS-1                        SLOTS SLOTS SHARED
 *
 * The slots to a rank are for messages to this rank only: whatever other ranks do, there is room
 * for the next message when this one has taken what it was sent. That is what the engine asks for.
 * Shared slots hold what goes to several ranks, copied once; when none is free, each has its own.
 *
 * Everything is written by one side: cells and slots by the sender, `taken` by the receiver. A cell
 * is valid when its number is the one that comes next.
 *
 * Behind the header each rank has a word for all the others: in which call it is, and, where ranks
 * share processors, on which of these it waits for what.
 */
#ifndef COLL_STRAG_SHM_H
#define COLL_STRAG_SHM_H

#include "coll_strag.h"

#include <stdatomic.h>

enum {
    COLL_STRAG_LINE = 64,    /* bytes of a cache line */
    COLL_STRAG_CELLS = 8,    /* messages announced from a rank to another; a power of two */
    COLL_STRAG_INLINE = 48,  /* bytes of a message in its cell */
    COLL_STRAG_SLOTS = 8,    /* from a rank to another */
    COLL_STRAG_SHARED = 8,   /* slots of a rank for messages to several */
    COLL_STRAG_NO_SLOT = -1, /* the message is in its cell */
};

struct coll_strag_cell {
    _Atomic uint32_t number; /* of the message, from 1 in each channel; 0: none yet */
    uint32_t call;           /* of the communicator: the lower half of its number */
    uint32_t bytes;
    int32_t slot; /* of the sender's, or COLL_STRAG_NO_SLOT */
    _Alignas(16) unsigned char data[COLL_STRAG_INLINE];
};

/* What goes with a message in a slot has room wherever the message has. */
_Static_assert(COLL_STRAG_SLOTS >= COLL_STRAG_CELLS, "a slot for each message announced");

/* The first line is the receiver's; the second keeps it apart from the cells, since processors
 * fetch lines in pairs. */
struct coll_strag_channel {
    _Alignas(2 * COLL_STRAG_LINE) _Atomic uint32_t taken; /* all messages up to this number */
    _Alignas(2 * COLL_STRAG_LINE) struct coll_strag_cell cells[COLL_STRAG_CELLS];
};

/* What a rank tells all others. */
struct coll_strag_word {
    /* When it has waited for long or has given a call up: calls before this one are over for it. */
    _Alignas(2 * COLL_STRAG_LINE) _Atomic uint64_t begun;

    /* Where few ranks share a processor: of which ranks it waits for the next message, bit by bit
     * (0: it does not wait), and where. Others may be late to see it: it helps them to decide
     * whether they give the processor away, nothing else. */
    _Atomic uint64_t awaits;
    _Atomic int32_t processor;
};

/* A message that has arrived in place. */
struct coll_strag_arrival {
    struct coll_strag_shm_peer *peer;
    bool released; /* but an older one is not */
};

/* Another rank of the host, as this one sees it. Numbers of messages wrap in shared memory, but not
 * here. */
struct coll_strag_shm_peer {
    struct coll_strag_channel *out, *in;
    const struct coll_strag_word *word;
    const char *slots;              /* the peer's first slot */
    int64_t sent;                   /* number of the last message to it */
    int64_t taken;                  /* as it was when we last looked */
    int64_t used[COLL_STRAG_SLOTS]; /* by slot: number of the message that was last in it */
    int next_slot;
    int first_slot;    /* of those to this peer, among our own */
    uint32_t received; /* number of the last message from it that we have looked at */
    uint32_t released; /* ... of the last one given back with all before it */
    struct coll_strag_arrival arrivals[COLL_STRAG_CELLS]; /* by number */
};

/* A slot of ours for messages to several ranks. */
struct coll_strag_shared {
    uint64_t content; /* as in struct strag_transfer; 0: nothing that may go to others, too */
    const void *buffer;
    size_t elements;
    int nreaders;
    struct coll_strag_reader {
        struct coll_strag_shm_peer *peer;
        int64_t number;
    } * readers; /* as many as ranks */
};

/* A message that could not be finished when it was posted. */
struct coll_strag_waiting {
    struct strag_transfer *transfer;
    struct coll_strag_shm_peer *peer;
    void *buffer;
    size_t elements;
    bool in_place;
};

struct coll_strag_queue {
    struct coll_strag_waiting *waiting;
    size_t length, room;
};

/* The engine's transport through shared memory: for one communicator, and one call at a time. */
struct coll_strag_shm {
    struct strag_transport super;

    /* the segment */
    void *segment;
    size_t bytes;
    int n, me;      /* ranks on the host, and which of them this one is, in the order of ranks */
    size_t longest; /* bytes of a slot */
    char *slots;    /* our own */
    struct coll_strag_word *word;              /* our own */
    const struct coll_strag_channel *channels; /* [n * n], by sender and receiver */
    struct coll_strag_shm_peer *peers;         /* [n] */
    struct coll_strag_shm_peer **peer; /* [rank of the communicator]; NULL: on another host */
    struct coll_strag_shared shared[COLL_STRAG_SHARED];
    struct coll_strag_reader *readers; /* of all of them */
    int next_shared;
    bool alone;   /* all ranks are on this host */
    bool few;     /* alone, and few share a processor: they look who can go on, and take turns */
    bool counted; /* among the segments of this process */
    bool untidy;  /* a call was given up: messages of it may be left */

    /* the call */
    uint64_t call; /* its number, from 1; all ranks count alike */
    ompi_datatype_t *dtype;
    size_t size; /* bytes of data in an element */
    bool packed; /* the data of elements lies back to back in memory */
    int mpi_error;
    unsigned idle;  /* looks since something has happened */
    unsigned looks; /* in vain, in all calls */
    bool refused;   /* what was asked for last was not possible */
    bool told;      /* the others know for whose messages we wait */
    int behind;     /* looks that are left although another rank could go on */
    unsigned kept;  /* looks after which the processor was kept, in all calls */
    struct coll_strag_queue sends, receives;
};

/* coll_strag_transport_shm.c */

/** Make the transport of a segment that is mapped ready. @return whether there was memory */
bool coll_strag_shm_init(struct coll_strag_shm *shm);

/** Free what it holds but the segment. */
void coll_strag_shm_clear(struct coll_strag_shm *shm);

/* coll_strag_shm_wait.c */

/** Nothing has happened: look after Open MPI, let others run, or do nothing for a moment. */
void coll_strag_shm_wait(struct coll_strag_shm *shm);

/** Tell the others that calls before this one are over for this rank. */
void coll_strag_shm_tell_call(struct coll_strag_shm *shm, uint64_t begun);

/** Tell them on which processor it runs. */
void coll_strag_shm_tell_processor(struct coll_strag_shm *shm);

/** Tell them for whose messages it waits (bit r: index r on the host), and on which processor; 0:
 * it does not wait. */
void coll_strag_shm_tell_wait(struct coll_strag_shm *shm, uint64_t ranks);

#endif
