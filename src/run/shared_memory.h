/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transport through memory that the ranks of a host share. It knows nothing of MPI: what it needs
 * of the process around it is a struct strag_shm_host.
 *
 *     shared_memory_layout.h    what is in the memory: channels, cells, slots
 *     shared_memory_segment.c   making it: a file without a name that the others open
 *     shared_memory.c           messages
 *     shared_memory_wait.c      waiting for them: who gets the processor
 *
 * Setting up takes three steps on every rank, with an exchange between them that is the caller's:
 *
 *     strag_shm_create, strag_shm_make     the lowest rank of each host makes a segment
 *         all ranks exchange their struct strag_shm_info, if all succeeded
 *     strag_shm_join                       the others map it
 *         all ranks agree whether all succeeded
 *     strag_shm_seal                       or strag_shm_free, on all of them
 */
#ifndef STRAG_SHARED_MEMORY_H
#define STRAG_SHARED_MEMORY_H

#include "run/transport.h"

#include <stdbool.h>

struct strag_shm;

/* The process around the transport. */
struct strag_shm_host {
    /* Copy elements whose data does not lie back to back to packed bytes, or from them; `type` as
     * in strag_shm_begin. @return STRAG_OK or an error */
    int (*pack)(const void *type, void *packed, const void *elements, size_t count);
    int (*unpack)(const void *type, void *elements, const void *packed, size_t count);

    void (*progress)(void); /* other work, which must not starve while a rank waits or calls */
    bool yields; /* ranks share processors: one that waits gives its own away, and so does progress
                  */
};

/* What a rank tells all others when a segment is set up: plain bytes. */
struct strag_shm_info {
    uint64_t key;           /* at the beginning of the segment; random */
    uint64_t processor_set; /* hash of the processors that it may run on */
    int32_t processors;     /* how many these are; 0: unknown */
    int32_t pid, fd;        /* of the segment's maker */
    int32_t yields;         /* of its host structure */
};

/* ---- Setting up ---- */

/**
 * Begin to set up what the ranks of a host share.
 *
 * @param host     copied
 * @param n, me    ranks in all, and this one
 * @param lane_of  [n]: ranks with the same value as `lane` are on this host, `me` among them
 * @return NULL: out of memory, too many ranks on the host, or too many segments in this process
 */
struct strag_shm *strag_shm_create(const struct strag_shm_host *host, int n, int me,
                                   const uint8_t *lane_of, uint8_t lane);

/** Make the host's segment, if this is its lowest rank and not the only one.
 * @param[out] info  what the others need of this rank. @return whether that was possible */
bool strag_shm_make(struct strag_shm *shm, struct strag_shm_info *info);

/** Map the host's segment, unless this rank made it. @param infos  [n]: of all ranks.
 * @return whether that was possible */
bool strag_shm_join(struct strag_shm *shm, const struct strag_shm_info *infos);

/** All ranks have joined: no other rank will. */
void strag_shm_seal(struct strag_shm *shm);

/** NULL is allowed. */
void strag_shm_free(struct strag_shm *shm);

/* ---- Calls ---- */

/** A call begins. All ranks count all calls, whether these go through shared memory or not. */
void strag_shm_next_call(struct strag_shm *shm);

/** The call has failed: no rank is to wait for this one in it. */
void strag_shm_abandon(struct strag_shm *shm);

/**
 * Get ready for the call.
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

/**
 * For a call, after its begin, whose plan has a root that works for all: which rank is that best?
 * Where few ranks share a processor they take turns in short calls, and those that wait look who
 * can go on there. (With many ranks it takes as long for all of them to come by.)
 *
 * @param bytes  of the whole vector
 * @return 0 or 1; the same on all ranks
 */
int strag_shm_choose_root(struct strag_shm *shm, size_t bytes);

/** The longest message, in bytes. */
size_t strag_shm_longest(const struct strag_shm *shm);

/** Are all ranks on this host, so that everything goes through shared memory? */
bool strag_shm_is_alone(const struct strag_shm *shm);

#endif
