/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transport through memory that the ranks of a host share (README.md lists its parts). It does
 * not depend on MPI: it calls the process around it through a struct strag_shm_host.
 *
 * Setup takes two steps on every rank, with an exchange between them that the caller makes:
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

struct strag_shm;         /* one communicator's part */
struct strag_shm_process; /* shared by the communicators of a process */
struct strag_shm_hold;    /* arenas that are kept open */

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

/** A reason's text, such as "its limit of addresses (ulimit -v) leaves too little". */
const char *strag_shm_reason_text(enum strag_shm_reason reason);

/* The process around the transport. */
struct strag_shm_host {
    /* Copy elements with gaps to packed bytes, or from them; `type` as in strag_shm_begin.
     * @return STRAG_OK or an error */
    int (*pack)(const void *type, void *packed, const void *elements, size_t count);
    int (*unpack)(const void *type, void *elements, const void *packed, size_t count);

    void (*progress)(void); /* other work, which must not starve while a rank waits or calls */
    bool yields;  /* ranks share processors: a rank that waits yields its own, as progress does */
    bool threads; /* several threads may use communicators at the same time */

    /* Becomes true, at any time, when the communicator has failed: calls that wait then end with
     * STRAG_ERR_TRANSPORT. It must live as long as the communicator. NULL if none ever fails. */
    const volatile bool *failed;
};

/* A rank sends this to all others when a communicator is set up. Plain bytes. */
struct strag_shm_info {
    uint64_t arena_key;     /* at the beginning of its arena; random */
    uint64_t mailbox_key;   /* at the beginning of its mailbox */
    uint64_t processor_set; /* hash of the processors on which it may run */
    int32_t processors;     /* how many these are; 0 if unknown */
    int32_t segment;        /* the arena's number in the IPC namespace */
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
 * @param mapped  bytes of addresses that all communicators together may use. An eighth of these
 *                may be touched
 * @return NULL if out of memory
 */
struct strag_shm_process *strag_shm_process_create(int ranks, size_t mapped);

/** Free the memory of freed communicators that other ranks have freed, too.
 * @return how many communicators still need the process's arena */
int strag_shm_process_settle(struct strag_shm_process *process);

/** Is there no such memory left? */
bool strag_shm_process_is_settled(const struct strag_shm_process *process);

/** All communicators have been freed. `process` may be NULL. */
void strag_shm_process_free(struct strag_shm_process *process);

/* ---- Setting up a communicator ---- */

/**
 * Begin to set up a communicator.
 *
 * @param process  must outlive the result
 * @param host     copied
 * @param n, me    ranks in all, and this one
 * @param lane_of  [n]: ranks with the same value as `lane` are on this host, `me` among them
 * @return NULL if out of memory
 */
struct strag_shm *strag_shm_create(struct strag_shm_process *process,
                                   const struct strag_shm_host *host, int n, int me,
                                   const uint8_t *lane_of, uint8_t lane);

/** If there are other ranks on the host: make the process's arena, unless it exists, and find a
 * place in it. @param[out] info  for the other ranks */
enum strag_shm_reason strag_shm_make(struct strag_shm *shm, struct strag_shm_info *info);

/** Map the arenas of the others on the host. @param infos  [n]: of all ranks */
enum strag_shm_reason strag_shm_join(struct strag_shm *shm, const struct strag_shm_info *infos);

/**
 * Keep the arenas open that a communicator uses, so that later communicators of the same ranks need
 * not open them: strag_shm_join cannot fail for them.
 *
 * @param shm  has joined
 * @return to be freed with strag_shm_hold_free, before the process; NULL if out of memory
 */
struct strag_shm_hold *strag_shm_hold(const struct strag_shm *shm);

/** `hold` may be NULL. */
void strag_shm_hold_free(struct strag_shm_hold *hold);

/** Leave the communicator. Memory that other ranks may still read stays in the arena until they
 * have left, too. `shm` may be NULL. */
void strag_shm_free(struct strag_shm *shm);

/* ---- Calls ---- */

/**
 * A call begins.
 *
 * @param number  from 1, the same on all ranks, higher than all before; calls that go through other
 *                memory, or other components, may be left out
 * @param polls   the caller comes back by itself, in the host's progress. So the transport's
 *                progress does not wait, give the processor away, or call the host's progress
 */
void strag_shm_next_call(struct strag_shm *shm, uint64_t number, bool polls);

/** Has a message been sent or received since this was last called? Then there may be more to do at
 * once, and a rank that polls should not give its processor away yet. */
bool strag_shm_has_moved(struct strag_shm *shm);

/** Messages sent or received so far, at least, modulo 2^32. May be called by any thread. */
unsigned strag_shm_moves(const struct strag_shm *shm);

/** Let a call fail with STRAG_ERR_MISMATCH at its next progress, unless it ends before. May be
 * called by any thread. */
void strag_shm_doom(struct strag_shm *shm, uint64_t number);

/** The call has failed: no rank has to wait for this one in it. */
void strag_shm_abandon(struct strag_shm *shm);

/**
 * Prepare for the call; strag_shm_end must follow.
 *
 * @param type        for the host's `pack` and `unpack`
 * @param size        bytes of data in an element
 * @param contiguous  the elements have no gaps: they are not packed
 * @param in_place    contiguous, and messages may be read where they arrive
 * @return the transport; NULL if an element does not fit into a message. The transport fails with
 *         STRAG_ERR_MISMATCH if ranks made the call with different counts
 */
struct strag_transport *strag_shm_begin(struct strag_shm *shm, const void *type, size_t size,
                                        bool contiguous, bool in_place);

/** The call has ended, or has failed. Allowed without strag_shm_begin, or after it returned NULL.
 */
void strag_shm_end(struct strag_shm *shm);

/**
 * The best root, if a call's plan has one that works for all ranks. Called after strag_shm_begin.
 * If few ranks share a processor, the root alternates in short calls; if two share each processor,
 * waiting ranks check who could go on there. (With many ranks that takes as long as letting them
 * all run.) A rank that polls does not publish that it waits: it may compute meanwhile.
 *
 * @param bytes  of the whole vector
 * @return 0 or 1; the same on all ranks
 */
int strag_shm_choose_root(struct strag_shm *shm, size_t bytes);

/** The longest message, in bytes; the same on all ranks of a host. */
size_t strag_shm_longest(const struct strag_shm *shm);

/** Bytes of long messages that this rank may have in flight, unless receivers drain them. */
size_t strag_shm_window(const struct strag_shm *shm);

/** The number of processors on which the ranks of this host may run, all together; the same on all
 * of them. 0 if unknown */
int strag_shm_processors(const struct strag_shm *shm);

/** Are all ranks on this host, so that all messages go through shared memory? */
bool strag_shm_is_alone(const struct strag_shm *shm);

#endif
