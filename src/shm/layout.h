/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process keeps about arenas (shm/arena.h), and a rank about each of its communicators; and
 * what the parts of the transport do for each other.
 */
#ifndef STRAG_SHARED_MEMORY_LAYOUT_H
#define STRAG_SHARED_MEMORY_LAYOUT_H

#include "shm/arena.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum {
    STRAG_SHM_OPEN_LISTS = 256, /* of arenas by key */
    STRAG_SHM_SHARED = 8,   /* messages that a sender remembers, since others may want the same */
    STRAG_SHM_SAMPLES = 15, /* messages whose median tells what it costs to write them */
};

/* ---- A process ---- */

/* Another process's arena. */
struct strag_shm_opened {
    struct strag_shm_opened *next; /* with such a key */
    uint64_t key;
    struct strag_shm_arena arena;
    int users;   /* communicators; 0: it is mapped for the next one */
    bool mapped; /* by us */
};

/* Who has a ring. */
struct strag_shm_user {
    struct strag_shm *shm; /* NULL: nobody */
    struct strag_shm_peer *peer;
};

/* Long slots that go round: whichever was put back first is taken next, or, where ranks share
 * processors, the one that was put back last. */
struct strag_shm_rotation {
    uint16_t *slots; /* [places]; free ones begin at `first` */
    unsigned places, first, free;
};

/* The lock is for all of it, in calls only if there are threads; except that what belongs to a
 * communicator is its own while it is in a call. */
struct strag_shm_process {
    bool threads; /* of any communicator */

    /* slots: free ones, and how many messages each of the others has */
    unsigned nfree_small, large_used;
    uint16_t *free_small, *uses; /* a stack */
    struct strag_shm_rotation rotation;
    uint16_t *free_reserve; /* a stack: what the rotation has no place for */
    unsigned nfree_reserve;
    struct strag_shm *busy; /* communicators that may have messages in slots */

    pthread_mutex_t lock;
    int ranks;
    size_t wanted; /* bytes of addresses */

    /* the arena, until the process ends: pages that were used are fast to use again, and a program
     * may make one communicator after another; base NULL: there is none yet */
    struct strag_shm_arena arena;
    uint64_t key;
    int segment;                /* its number */
    size_t may_map, mapped;     /* bytes of addresses, in all arenas */
    unsigned char *mailbox_map; /* [units of mailboxes]: is it used? */
    uint64_t mailboxes_made;
    int communicators;

    /* rings */
    struct strag_shm_user *users; /* [rings] */
    unsigned next_ring;           /* to look at */
    uint32_t assignments;

    struct strag_shm *left; /* communicators whose memory others may still read, */
    atomic_int nleft;       /* ... and how many these are */
    struct strag_shm_opened *opened[STRAG_SHM_OPEN_LISTS];
};

/* ---- A communicator ---- */

/* A message that has arrived in place. */
struct strag_shm_arrival {
    struct strag_shm_peer *peer; /* NULL: it was drained, and is the first part of what it is in */
    struct strag_transfer *transfer;
    bool released; /* but an older one is not */
};

/* A message in memory of our own. */
struct strag_shm_drained {
    struct strag_shm_arrival arrival;
    struct strag_shm_drained *next;
    uint32_t call, bytes;
    _Alignas(16) unsigned char data[];
};

/* Another rank of the host, as this one sees it. Numbers of messages wrap in shared memory, and for
 * the receiver; the sender counts on. What every message needs is in one cache line for each
 * direction: if ranks share processors, little of it is left in the caches when a rank goes on.
 */
struct strag_shm_peer {
    /* sending */
    _Alignas(STRAG_SHM_LINE) struct strag_shm_cell *out; /* [CELLS]; NULL: no ring at the moment */
    uint64_t out_tag;                                    /* but for the number */
    int64_t sent;                                        /* number of the last message to it */
    int64_t taken;                                       /* as of our last look */
    const _Atomic uint32_t *out_taken;
    uint32_t out_call;               /* of the last message; the lower half of its number */
    int in_slots;                    /* of the last messages, whether taken or not */
    uint16_t slots[STRAG_SHM_CELLS]; /* by number; STRAG_SHM_NO_SLOT */

    /* receiving */
    _Alignas(STRAG_SHM_LINE) const struct strag_shm_cell *in; /* [CELLS] */
    uint64_t in_tag;
    uint32_t received; /* number of the last message from it that we have examined */
    uint32_t released; /* ... of the last one released with all before it */
    _Atomic uint32_t *in_taken;
    const _Atomic uint64_t *in_entry;
    uint64_t entry; /* as of our last look */
    const struct strag_shm_rank_status *status;
    struct strag_shm_drained *drained; /* those not yet asked for */

    const struct strag_shm_arena *arena;                /* its own */
    struct strag_shm_arrival arrivals[STRAG_SHM_CELLS]; /* by number */
    struct strag_shm_drained **drained_end;
    _Atomic uint64_t *out_entry;
    struct strag_shm_opened *opened;
    struct strag_shm_mailbox mailbox;
    uint64_t mailbox_key;
};
_Static_assert(offsetof(struct strag_shm_peer, in) == STRAG_SHM_LINE, "a line for sending");

/* A message whose values may go to other ranks, too. */
struct strag_shm_shared {
    uint64_t content; /* as in struct strag_transfer */
    const void *buffer;
    size_t elements;
    const struct strag_shm_peer *peer; /* to whom it went, and its number there */
    int64_t number;
};

/* A message that could not be finished when it was posted. */
struct strag_shm_pending {
    struct strag_transfer *transfer;
    struct strag_shm_peer *peer;
    void *buffer;
    size_t elements;
    bool in_place;
};

/* How values get into slots: through the caches, or around them (shm/write.c). */
struct strag_shm_writing {
    bool around;
    unsigned left;    /* long messages until the other way is taken */
    unsigned untimed; /* ... until one is timed */
    uint32_t chance;
    int expensive; /* medians in a row by which around the caches would be faster */
    int timed;
    float costs[STRAG_SHM_SAMPLES]; /* of those: nanoseconds a byte */
    float around_cost;              /* the median of the last ones; 0: not known yet */
};

struct strag_shm_queue {
    struct strag_shm_pending *pending;
    size_t length, room;
};

/* One rank's side of a communicator. It runs one call at a time. */
struct strag_shm {
    struct strag_transport super;
    struct strag_shm_host host;
    struct strag_shm_process *process;

    int all;        /* ranks, on this host and others */
    int n, me;      /* ranks on the host, and which of them this one is, in the order of ranks */
    size_t longest; /* bytes of a message */
    int processors; /* on which the host's ranks may run; 0: unknown */
    struct strag_shm_arena arena;
    struct strag_shm_mailbox mailbox;   /* our own; its status always is */
    struct strag_shm_peer *peers;       /* [n] */
    struct strag_shm_peer **peer;       /* [rank]; NULL: on another host */
    struct strag_shm_peer *ring_user;   /* who has the mailbox's ring; NULL: nobody */
    struct strag_shm_rank_status alone; /* used without a mailbox */
    struct strag_shm *next_busy, *next_left;
    atomic_bool in_call; /* or somebody looks after it; only with threads */
    bool entered;        /* ... by our own call, which begin may not have come to */
    bool joined;         /* others may read our mailbox */
    bool few;       /* all are on this host, and few share a processor: they look who can go on */
    bool has_stale; /* a call was given up: messages of it may be left, or still come */

    /* sending */
    unsigned slots_used;
    bool is_busy; /* in the process's list */
    struct strag_shm_shared shared[STRAG_SHM_SHARED];
    unsigned nshared; /* since the call began */
    bool starved;     /* published */
    struct strag_shm_writing writing;

    /* the call */
    uint64_t call;    /* its number, from 1, the same on all ranks; 0: there was none yet */
    unsigned begun;   /* calls so far */
    uint64_t last;    /* the last one that may have sent anything; for those who look after us */
    const void *type; /* these three as in strag_shm_begin */
    size_t size;
    bool contiguous;
    bool polls;              /* as in strag_shm_next_call */
    bool refused;            /* what was asked for last was not possible */
    _Atomic uint64_t doomed; /* the call that strag_shm_doom ends; UINT64_MAX: none */
    struct strag_shm_queue sends, receives;

    /* waiting */
    unsigned idle;    /* looks since something has happened */
    unsigned moves;   /* messages sent or received so far, at least; atomic, for other threads */
    unsigned seen;    /* ... when strag_shm_has_moved was asked */
    unsigned in_vain; /* progresses in which nothing happened, in all calls */
    unsigned looks;   /* in vain, in all calls */
    unsigned drains;  /* in a row, for which there was no memory */
    unsigned kept;    /* looks after which the processor was kept, in all calls */
    int behind;       /* looks that are left although another rank could go on */
    bool published;   /* the others know for whose messages we wait */
};

static inline struct strag_shm *strag_shm_of(struct strag_transport *transport)
{
    return (struct strag_shm *)transport;
}

/* A message was sent or received. Only this thread writes the counter, others may read it. */
static inline void strag_shm_count_move(struct strag_shm *shm)
{
    __atomic_store_n(&shm->moves, shm->moves + 1, __ATOMIC_RELAXED);
}

/* The communicator's call has ended, or who looked after it is done. */
static inline void strag_shm_leave(struct strag_shm *shm)
{
    if (shm->process->threads)
        atomic_store_explicit(&shm->in_call, false, memory_order_release);
}

/* Is this call over for the peer, so that it sends and receives nothing more in it? If
 * communicators may fail, a peer that has left perhaps knew of the failure before this rank will.
 */
static inline bool strag_shm_is_over(const struct strag_shm *shm, const struct strag_shm_peer *peer)
{
    const uint64_t begun = atomic_load_explicit(&peer->status->begun, memory_order_acquire);
    return begun > shm->call && (begun != STRAG_SHM_LEFT || !shm->host.failed);
}

/* Has the peer left the communicator, so that it reads nothing more? */
static inline bool strag_shm_has_left(const struct strag_shm_peer *peer)
{
    return atomic_load_explicit(&peer->status->begun, memory_order_acquire) == STRAG_SHM_LEFT;
}

/* Is the call of the last message to the peer over for it? It never reads its messages then. */
static inline bool strag_shm_is_stale(const struct strag_shm *shm,
                                      const struct strag_shm_peer *peer)
{
    const uint64_t call = shm->last - ((uint32_t)shm->last - peer->out_call);
    return atomic_load_explicit(&peer->status->begun, memory_order_acquire) > call;
}

/* Of calls, whose numbers may wrap. */
static inline bool strag_shm_is_before(uint32_t a, uint32_t b)
{
    return a != b && b - a <= UINT32_MAX / 2;
}

/* Has the channel from a peer another ring than at our last look? Then that is ours. */
static inline bool strag_shm_follow(struct strag_shm_peer *peer)
{
    const uint64_t entry = atomic_load_explicit(peer->in_entry, memory_order_acquire);
    if (entry == peer->entry)
        return false;
    peer->entry = entry;
    peer->in = strag_shm_cells(peer->arena, entry);
    peer->in_tag = strag_shm_tag(entry);
    return true;
}

/** Free a drained message. @param arrival  its first part */
void strag_shm_free_drained(struct strag_shm_arrival *arrival); /* shm/drain.c */

/* The receiver is done with a message. The sender learns it once it is done with all before it. */
static inline void strag_shm_release(struct strag_shm_arrival *arrival)
{
    struct strag_shm_peer *peer = arrival->peer;
    if (!peer) {
        strag_shm_free_drained(arrival);
        return;
    }
    const uint32_t before = peer->released;
    arrival->released = true;
    while (peer->released != peer->received) {
        struct strag_shm_arrival *next = &peer->arrivals[(peer->released + 1) % STRAG_SHM_CELLS];
        if (!next->released)
            break;
        next->released = false;
        peer->released++;
    }
    if (peer->released != before)
        atomic_store_explicit(peer->in_taken, peer->released, memory_order_release);
}

/* ---- shm/room.c ---- */

/** See which messages a peer has taken. */
void strag_shm_see_taken(struct strag_shm_peer *peer);

/** A slot for one message of this many bytes. @return STRAG_SHM_NO_SLOT: none is free */
unsigned strag_shm_take_slot(struct strag_shm *shm, size_t bytes);

/** A slot that a message which fills half of one could use again goes to the end of the rotation,
 * for the one that is at its beginning.
 * @return that one, which has this one's use; or the same: there is none */
unsigned strag_shm_exchange_slot(struct strag_shm *shm, unsigned slot);

/** A message in the slot is not needed any more. */
void strag_shm_put_slot(struct strag_shm *shm, unsigned slot);

/** A ring for the channel to a peer. @return whether there is one */
bool strag_shm_take_ring(struct strag_shm *shm, struct strag_shm_peer *peer);

/** All that the communicator has comes back: nobody reads it any more. The caller has the lock. */
void strag_shm_put_all(struct strag_shm *shm);

/** With threads: let nobody else look after the communicator during a call. */
void strag_shm_enter(struct strag_shm *shm);

/* ---- shm/write.c ---- */

/** As a communicator begins. */
struct strag_shm_writing strag_shm_writing_begin(void);

/** Copy a message's values into a slot. What is announced after it is there. */
void strag_shm_write(struct strag_shm_writing *writing, void *slot, const void *values,
                     size_t bytes);

/** A long message is written: around the caches? */
bool strag_shm_writes_around(struct strag_shm_writing *writing);

/** Is it to be timed? */
bool strag_shm_times_write(struct strag_shm_writing *writing);

/** Note what it cost. @param cost  nanoseconds a byte */
void strag_shm_note_write(struct strag_shm_writing *writing, double cost);

/* ---- shm/messages.c ---- */

/** Send the message, or receive it, if there is room or data.
 * @return STRAG_OK, STRAG_PENDING: there is no room, or it is not there yet; or an error */
int strag_shm_send_pending(struct strag_shm *shm, const struct strag_shm_pending *message);
int strag_shm_receive_pending(struct strag_shm *shm, const struct strag_shm_pending *message);

/** Drop messages of a call that was given up. */
void strag_shm_drop_old(struct strag_shm *shm);

/* As in struct strag_transport. */
int strag_shm_try_send(struct strag_transport *base, int peer, const void *buffer, size_t elements,
                       uint64_t content);
int strag_shm_try_recv(struct strag_transport *base, int peer, size_t elements,
                       const void **arrived);
void strag_shm_release_recv(struct strag_transport *base, int peer);

/* ---- shm/shm.c ---- */

/** Make the transport ready. @return false: out of memory */
bool strag_shm_init(struct strag_shm *shm);

/* ---- shm/drain.c ---- */

/** Take what peers that are starved of room have sent. If there is no memory for that it is tried
 * again, since others may give theirs back.
 * @return STRAG_OK; or STRAG_ERR_MEMORY: it was tried very often */
int strag_shm_drain(struct strag_shm *shm);

/** Forget what was drained and nobody has asked for. */
void strag_shm_drop_drained(struct strag_shm_peer *peer);

/* ---- shm/wait.c ---- */

/** Nothing has happened: do the process's other work, let other ranks run, or pause briefly. */
void strag_shm_wait(struct strag_shm *shm);

/** Nothing has happened, and the caller comes back by itself. */
void strag_shm_poll(struct strag_shm *shm);

/** Publish that calls before this one are over for this rank. */
void strag_shm_publish_call(struct strag_shm *shm, uint64_t begun);

/** Publish on which processor it runs. */
void strag_shm_publish_processor(struct strag_shm *shm);

/** Publish for whose messages it waits (bit r: index r on the host), and on which processor; 0: it
 * does not wait. */
void strag_shm_publish_wait(struct strag_shm *shm, uint64_t ranks);

/** Publish whether it has no room for a message. */
void strag_shm_publish_starved(struct strag_shm *shm, bool starved);

#endif
