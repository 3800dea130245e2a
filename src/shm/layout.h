/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process's data about arenas (shm/arena.h), a rank's data about each of its communicators, and
 * the functions that the parts of the transport share.
 */
#ifndef STRAG_SHARED_MEMORY_LAYOUT_H
#define STRAG_SHARED_MEMORY_LAYOUT_H

#include "shm/arena.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum {
    STRAG_SHM_OPEN_LISTS = 256, /* of arenas by key */
    STRAG_SHM_SHARED = 8,   /* messages that a sender records, since they may go to others, too */
    STRAG_SHM_SAMPLES = 15, /* timed messages, whose median is the cost of writing one */
};

/* ---- A process ---- */

/* Another process's arena. */
struct strag_shm_opened {
    struct strag_shm_opened *next; /* in the key's list */
    uint64_t key;
    struct strag_shm_arena arena;
    int users;   /* communicators; if 0 it stays mapped for the next one */
    bool mapped; /* by this process */
};

/* The channel that has a ring. */
struct strag_shm_user {
    struct strag_shm *shm; /* NULL if the ring is free */
    struct strag_shm_peer *peer;
};

/* Free large slots in a cycle: the one that was put back first is taken next, or the one that was
 * put back last if ranks share processors. */
struct strag_shm_rotation {
    uint16_t *slots; /* [places]; free ones begin at `first` */
    unsigned places, first, free;
};

/* The lock guards all members; calls take it only if there are threads. A communicator's own data
 * needs no lock while it is in a call. */
struct strag_shm_process {
    bool threads; /* a communicator may be used by several */

    /* slots: the free ones, and for each slot how many messages use it */
    unsigned nfree_small, large_used;
    uint16_t *free_small, *uses; /* the first is a stack */
    struct strag_shm_rotation rotation;
    uint16_t *free_reserve; /* a stack of those for which the rotation has no place */
    unsigned nfree_reserve;
    struct strag_shm *busy; /* communicators that may have messages in slots */

    pthread_mutex_t lock;
    int ranks;
    size_t wanted; /* bytes of addresses */

    /* The arena is kept until the process ends: pages that were used are fast to use again, and a
     * program may make one communicator after another. base is NULL if there is none yet. */
    struct strag_shm_arena arena;
    uint64_t key;
    int segment;                /* its number */
    size_t may_map, mapped;     /* bytes of addresses, in all arenas */
    unsigned char *mailbox_map; /* [units of mailboxes]: is the unit used? */
    uint64_t mailboxes_made;
    int communicators;

    /* rings */
    struct strag_shm_user *users; /* [rings] */
    unsigned next_ring;           /* to examine */
    uint32_t assignments;         /* of rings so far */

    struct strag_shm *left; /* freed communicators whose memory others may still read, */
    atomic_int nleft;       /* ... and how many these are */
    struct strag_shm_opened *opened[STRAG_SHM_OPEN_LISTS];
};

/* ---- A communicator ---- */

/* A message that has arrived in place. */
struct strag_shm_arrival {
    struct strag_shm_peer *peer; /* NULL if this is part of a struct strag_shm_drained */
    struct strag_transfer *transfer;
    bool released; /* but an older one is not */
};

/* A message that was copied into private memory. */
struct strag_shm_drained {
    struct strag_shm_arrival arrival;
    struct strag_shm_drained *next;
    uint32_t call, bytes;
    _Alignas(16) unsigned char data[];
};

/* Another rank of the host, as this one sees it. Numbers of messages wrap in shared memory, and for
 * the receiver; the sender counts in 64 bits. The members that every message needs are in one cache
 * line for each direction: if ranks share processors, a rank finds few of its lines in the caches.
 */
struct strag_shm_peer {
    /* sending */
    _Alignas(STRAG_SHM_LINE) struct strag_shm_cell *out; /* [CELLS]; NULL without a ring */
    uint64_t out_tag;                                    /* without the message's number */
    int64_t sent;                                        /* number of the last message to it */
    int64_t taken;                                       /* ... it had taken when last checked */
    const _Atomic uint32_t *out_taken;
    uint32_t out_call;               /* of the last message; the lower half of its number */
    int in_slots;                    /* of the last CELLS messages, taken or not */
    uint16_t slots[STRAG_SHM_CELLS]; /* by number; or STRAG_SHM_NO_SLOT */

    /* receiving */
    _Alignas(STRAG_SHM_LINE) const struct strag_shm_cell *in; /* [CELLS] */
    uint64_t in_tag;
    uint32_t received; /* number of the last message from the peer that was examined */
    uint32_t released; /* ... of the last one released with all before it */
    _Atomic uint32_t *in_taken;
    const _Atomic uint64_t *in_entry;
    uint64_t entry; /* *in_entry when last checked */
    const struct strag_shm_rank_status *status;
    struct strag_shm_drained *drained; /* messages not yet asked for */

    const struct strag_shm_arena *arena;                /* the peer's */
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
    const struct strag_shm_peer *peer; /* its receiver, and its number there */
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
    unsigned left;    /* long messages until the way changes; 0 if no change is planned */
    unsigned untimed; /* ... until one is timed */
    uint32_t chance;  /* a random number */
    int expensive;    /* medians in a row for which around the caches would be faster */
    int timed;
    float costs[STRAG_SHM_SAMPLES]; /* of timed messages, nanoseconds a byte */
    float around_cost;              /* the last median around the caches; 0 if not known yet */
};

struct strag_shm_queue {
    struct strag_shm_pending *pending;
    size_t length;
    int room;
};

/* One rank's side of a communicator. It runs one call at a time. */
struct strag_shm {
    struct strag_transport super;
    struct strag_shm_host host;
    struct strag_shm_process *process;

    int all;        /* ranks, on this host and others */
    int n, me;      /* ranks on the host, and this one's index among them */
    size_t longest; /* bytes of a message */
    int processors; /* on which the host's ranks may run; 0 if unknown */
    struct strag_shm_arena arena;
    struct strag_shm_mailbox mailbox;   /* this rank's; its status is always valid */
    struct strag_shm_peer *peers;       /* [n] */
    struct strag_shm_peer **peer;       /* [rank]; NULL if the rank is on another host */
    struct strag_shm_peer *ring_user;   /* has the mailbox's ring; NULL if the ring is free */
    struct strag_shm_rank_status alone; /* used without a mailbox */
    struct strag_shm *next_busy, *next_left;
    atomic_bool in_call; /* or another communicator's call looks after it; only with threads */
    bool entered;        /* in_call was set by this communicator's own call */
    bool joined;         /* others may read this rank's mailbox */
    bool few;            /* all ranks are on this host, and few share a processor (shm/wait.c) */
    bool has_stale;      /* a call was given up: messages of it may be left, or still come */

    /* sending */
    unsigned slots_used;
    bool is_busy; /* in the process's list */
    struct strag_shm_shared shared[STRAG_SHM_SHARED];
    unsigned nshared; /* since the call began */
    bool starved;     /* published */
    struct strag_shm_writing writing;

    /* the call */
    uint64_t call;    /* its number, from 1, the same on all ranks; 0 before the first */
    unsigned begun;   /* calls so far */
    uint64_t last;    /* the last one that may have sent messages; for look_after (shm/room.c) */
    const void *type; /* this and the next two as in strag_shm_begin */
    size_t size;
    bool contiguous;
    bool polls;              /* as in strag_shm_next_call */
    bool refused;            /* the last try_send or try_recv returned STRAG_PENDING */
    _Atomic uint64_t doomed; /* the call that strag_shm_doom ends; UINT64_MAX if none */
    struct strag_shm_queue sends, receives;

    /* waiting; a poll is a progress in which no message moved */
    unsigned idle;    /* polls since a message moved */
    unsigned moves;   /* messages sent or received so far, at least; atomic, for other threads */
    unsigned seen;    /* ... at the last strag_shm_has_moved */
    unsigned in_vain; /* polls in all calls */
    unsigned looks;   /* polls in all calls with a message waiting */
    unsigned drains;  /* in a row, for which there was no memory */
    unsigned kept;    /* polls after which the processor was kept, in all calls */
    int behind;       /* polls that are left although another rank could go on */
    bool published;   /* the others know from which ranks this one needs messages */
};

static inline struct strag_shm *strag_shm_of(struct strag_transport *transport)
{
    return (struct strag_shm *)transport;
}

/* Count a message that was sent or received. Other threads may read the counter. */
static inline void strag_shm_count_move(struct strag_shm *shm)
{
    __atomic_store_n(&shm->moves, shm->moves + 1, __ATOMIC_RELAXED);
}

/* The communicator's call, or a call that looked after it, has ended. */
static inline void strag_shm_leave(struct strag_shm *shm)
{
    if (shm->process->threads)
        atomic_store_explicit(&shm->in_call, false, memory_order_release);
}

/* Has the peer ended this call, so that it sends and receives no more messages in it? If
 * communicators may fail, a peer that has left may have learnt of a failure before this rank. */
static inline bool strag_shm_is_over(const struct strag_shm *shm, const struct strag_shm_peer *peer)
{
    const uint64_t begun = atomic_load_explicit(&peer->status->begun, memory_order_acquire);
    return begun > shm->call && (begun != STRAG_SHM_LEFT || !shm->host.failed);
}

/* Has the peer left the communicator, so that it reads no more messages? */
static inline bool strag_shm_has_left(const struct strag_shm_peer *peer)
{
    return atomic_load_explicit(&peer->status->begun, memory_order_acquire) == STRAG_SHM_LEFT;
}

/* Has the peer ended the call of the last message to it? Then it never reads those messages. */
static inline bool strag_shm_is_stale(const struct strag_shm *shm,
                                      const struct strag_shm_peer *peer)
{
    const uint64_t call = shm->last - ((uint32_t)shm->last - peer->out_call);
    return atomic_load_explicit(&peer->status->begun, memory_order_acquire) > call;
}

/* Compare the numbers of two calls, which may wrap. */
static inline bool strag_shm_is_before(uint32_t a, uint32_t b)
{
    return a != b && b - a <= UINT32_MAX / 2;
}

/* Use the channel's present ring for messages from a peer. @return whether the ring has changed */
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

/* The receiver is done with a message. It tells the sender when it is done with all before it. */
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

/** Check which messages a peer has taken. */
void strag_shm_see_taken(struct strag_shm_peer *peer);

/** Take a slot for one message of this many bytes. @return STRAG_SHM_NO_SLOT if none is free */
unsigned strag_shm_take_slot(struct strag_shm *shm, size_t bytes);

/** Exchange a slot, which a long message could use again, for the first one in the rotation.
 * @return the new slot, with the old one's count of uses; the old slot if none is free */
unsigned strag_shm_exchange_slot(struct strag_shm *shm, unsigned slot);

/** Put back a slot, whose message is not needed any more. */
void strag_shm_put_slot(struct strag_shm *shm, unsigned slot);

/** Take a ring for the channel to a peer. @return whether there is one */
bool strag_shm_take_ring(struct strag_shm *shm, struct strag_shm_peer *peer);

/** Put back the communicator's slots and rings. No rank reads them any more. The caller has the
 * lock. */
void strag_shm_put_all(struct strag_shm *shm);

/** With threads: keep other communicators' calls from looking after this one during a call. */
void strag_shm_enter(struct strag_shm *shm);

/* ---- shm/write.c ---- */

/** The initial state. */
struct strag_shm_writing strag_shm_writing_begin(void);

/** Copy a message's values into a slot. They are visible before a later announcement is. */
void strag_shm_write(struct strag_shm_writing *writing, void *slot, const void *values,
                     size_t bytes);

/** Is the next long message written around the caches? */
bool strag_shm_writes_around(struct strag_shm_writing *writing);

/** Is it timed? */
bool strag_shm_times_write(struct strag_shm_writing *writing);

/** Record its cost. @param cost  nanoseconds a byte */
void strag_shm_note_write(struct strag_shm_writing *writing, double cost);

/* ---- shm/messages.c ---- */

/** Send or receive a message if the peer is ready.
 * @return STRAG_OK; STRAG_PENDING if there is no room, or if it has not come yet; or an error */
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

/** Initialize the transport. @return false if out of memory */
bool strag_shm_init(struct strag_shm *shm);

/* ---- shm/drain.c ---- */

/** Drain messages from peers that are starved of room. If there is no memory for that, the next
 * call tries again, since memory may be freed.
 * @return STRAG_OK; or STRAG_ERR_MEMORY after very many failures in a row */
int strag_shm_drain(struct strag_shm *shm);

/** Free drained messages that were not asked for. */
void strag_shm_drop_drained(struct strag_shm_peer *peer);

/* ---- shm/wait.c ---- */

/** No message has moved: do the process's other work, let other ranks run, or pause briefly. */
void strag_shm_wait(struct strag_shm *shm);

/** No message has moved, in a call that polls: return at once. */
void strag_shm_poll(struct strag_shm *shm);

/** Publish that this rank has ended all calls before this one. */
void strag_shm_publish_call(struct strag_shm *shm, uint64_t begun);

/** Publish the processor on which this rank runs. */
void strag_shm_publish_processor(struct strag_shm *shm);

/** Publish the ranks from which this one needs messages (bit r: index r on the host; 0 if it does
 * not wait), and its processor. */
void strag_shm_publish_wait(struct strag_shm *shm, uint64_t ranks);

/** Publish whether this rank has no room for a message. */
void strag_shm_publish_starved(struct strag_shm *shm, bool starved);

#endif
