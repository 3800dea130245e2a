/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transport through memory that the ranks of a host share (README.md lists its parts). It knows
 * nothing of MPI: what it needs of the process around it is a struct strag_shm_host.
 *
 * Setting up takes two steps on every rank, with an exchange between them that is the caller's:
 *
 *     strag_shm_create, strag_shm_make     a place in the arena of each rank's process
 *         all ranks exchange their struct strag_shm_info, if all succeeded
 *     strag_shm_join                       each maps the arenas of the others on its host
 *         all ranks agree whether all succeeded; strag_shm_free on all of them, if not
 */
#ifndef STRAG_SHARED_MEMORY_H
#define STRAG_SHARED_MEMORY_H

#include "run/transport.h"

#include <stdbool.h>

struct strag_shm;         /* what belongs to a communicator */
struct strag_shm_process; /* what the communicators of a process have in common */
struct strag_shm_hold;    /* arenas that stay */

/* Why a rank cannot share memory. */
enum strag_shm_reason {
    STRAG_SHM_ABLE,
    STRAG_SHM_NO_MEMORY,
    STRAG_SHM_ADDRESSES,
    STRAG_SHM_CGROUP,
    STRAG_SHM_REFUSED,
    STRAG_SHM_SYSTEM_LIMITS,
    STRAG_SHM_NOT_RESERVED,
    STRAG_SHM_TOO_SMALL,
    STRAG_SHM_FULL,
    STRAG_SHM_NOT_SEEN,
    STRAG_SHM_NOT_MAPPED,
    STRAG_SHM_REASONS,
};

/** A reason in words, such as "its limit of addresses (ulimit -v) leaves too little". */
const char *strag_shm_reason_text(enum strag_shm_reason reason);

/* The process around the transport. */
struct strag_shm_host {
    /* Copy elements whose data does not lie back to back to packed bytes, or from them; `type` as
     * in strag_shm_begin. @return STRAG_OK or an error */
    int (*pack)(const void *type, void *packed, const void *elements, size_t count);
    int (*unpack)(const void *type, void *elements, const void *packed, size_t count);

    void (*progress)(void); /* other work, which must not starve while a rank waits or calls */
    bool yields;  /* ranks share processors: one that waits gives its own away, and so does progress
                   */
    bool threads; /* communicators may be used by several threads at the same time */

    /* Becomes true, at any time, when the communicator has failed: calls that wait then end with
     * STRAG_ERR_TRANSPORT. It must live as long as the communicator. NULL if none ever fails. */
    const volatile bool *failed;
};

/* What a rank tells all others when a communicator is set up: plain bytes. */
struct strag_shm_info {
    uint64_t arena_key;     /* at the beginning of its arena; random */
    uint64_t mailbox_key;   /* at the beginning of its mailbox */
    uint64_t processor_set; /* hash of the processors that it may run on */
    int32_t processors;     /* how many these are; 0: unknown */
    int32_t segment;        /* the arena's number among the IPC namespace's */
    uint32_t bytes;         /* of the arena */
    uint32_t mailbox;       /* offset in the arena, in lines */
    uint32_t slot;          /* bytes of a slot */
    int32_t yields;         /* of its host structure */
    int32_t note;           /* the caller's */
    int32_t padding;
};

/* ---- The process ---- */

/**
 * @param ranks   how many ranks of this host share memory, as far as is known; at least 1
 * @param mapped  bytes of addresses that may be used for all communicators together. An eighth of
 *                that may be touched
 * @return NULL: out of memory
 */
struct strag_shm_process *strag_shm_process_create(int ranks, size_t mapped);

/** Give back what communicators have left behind, if other ranks do not read it any more.
 * @return how many still need the process's arena */
int strag_shm_process_settle(struct strag_shm_process *process);

/** Is there nothing of that kind? */
bool strag_shm_process_is_settled(const struct strag_shm_process *process);

/** All communicators have been freed. NULL is allowed. */
void strag_shm_process_free(struct strag_shm_process *process);

/* ---- Setting up a communicator ---- */

/**
 * Begin to set up what the ranks of a host share.
 *
 * @param process  must outlive what is made
 * @param host     copied
 * @param n, me    ranks in all, and this one
 * @param lane_of  [n]: ranks with the same value as `lane` are on this host, `me` among them
 * @return NULL: out of memory
 */
struct strag_shm *strag_shm_create(struct strag_shm_process *process,
                                   const struct strag_shm_host *host, int n, int me,
                                   const uint8_t *lane_of, uint8_t lane);

/** Make the process's arena, if there is none, and find a place in it, if there are other ranks on
 * the host. @param[out] info  what the others need of this rank */
enum strag_shm_reason strag_shm_make(struct strag_shm *shm, struct strag_shm_info *info);

/** Map the arenas of the others on the host. @param infos  [n]: of all ranks */
enum strag_shm_reason strag_shm_join(struct strag_shm *shm, const struct strag_shm_info *infos);

/**
 * Keep what a communicator of this process has opened, so that others of the same ranks can join
 * later without opening anything: strag_shm_join cannot fail for them.
 *
 * @param shm  has joined
 * @return to be freed with strag_shm_hold_free, before the process; NULL: out of memory
 */
struct strag_shm_hold *strag_shm_hold(const struct strag_shm *shm);

/** NULL is allowed. */
void strag_shm_hold_free(struct strag_shm_hold *hold);

/** Leave: what other ranks may still read stays in the arena until they have left, too. NULL is
 * allowed. */
void strag_shm_free(struct strag_shm *shm);

/* ---- Calls ---- */

/**
 * A call begins.
 *
 * @param number  from 1, the same on all ranks, higher than all before; calls that go through other
 *                memory, or other components, may be left out
 * @param polls   the caller comes back by itself, in the host's progress: the transport's progress
 *                only looks. It does not wait, give the processor away, or let the host progress
 */
void strag_shm_next_call(struct strag_shm *shm, uint64_t number, bool polls);

/** Has a message been sent or received since it was last asked? Then there may be more to do at
 * once, and it is not yet time for a rank that polls to give its processor away. */
bool strag_shm_has_moved(struct strag_shm *shm);

/** Messages sent or received so far, at least, modulo 2^32: any thread may ask. */
unsigned strag_shm_moves(const struct strag_shm *shm);

/** Let a call fail with STRAG_ERR_MISMATCH at its next progress, unless it ends before. Any thread
 * may ask for it. */
void strag_shm_doom(struct strag_shm *shm, uint64_t number);

/** The call has failed: no rank is to wait for this one in it. */
void strag_shm_abandon(struct strag_shm *shm);

/**
 * Get ready for the call; strag_shm_end must follow.
 *
 * @param type        for the host's `pack` and `unpack`
 * @param size        bytes of data in an element
 * @param contiguous  the elements' data lies back to back: they are not packed
 * @param in_place    contiguous, and messages may be read where they arrive
 * @return the transport; NULL: an element is longer than its messages. It fails with
 *         STRAG_ERR_MISMATCH where ranks made the call with different counts
 */
struct strag_transport *strag_shm_begin(struct strag_shm *shm, const void *type, size_t size,
                                        bool contiguous, bool in_place);

/** The call has ended, or has failed. Allowed without strag_shm_begin, or after it returned NULL.
 */
void strag_shm_end(struct strag_shm *shm);

/**
 * For a call, after its begin, whose plan has a root that works for all: which rank is that best?
 * If few ranks share a processor they take turns in short calls, and if there are two for each,
 * those that wait look who can go on there. (With many ranks it takes as long for all of them to
 * come by.) A rank that polls is never known to wait: it may compute meanwhile.
 *
 * @param bytes  of the whole vector
 * @return 0 or 1; the same on all ranks
 */
int strag_shm_choose_root(struct strag_shm *shm, size_t bytes);

/** The longest message, in bytes; the same on all ranks of a host. */
size_t strag_shm_longest(const struct strag_shm *shm);

/** Bytes of long messages that this rank may have in flight, unless others help out. */
size_t strag_shm_window(const struct strag_shm *shm);

/** On how many processors the ranks of this host may run, all together; the same on all of them.
 * 0: unknown */
int strag_shm_processors(const struct strag_shm *shm);

/** Are all ranks on this host, so that everything goes through shared memory? */
bool strag_shm_is_alone(const struct strag_shm *shm);

#endif
