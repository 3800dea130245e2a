/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which calls the ranks of a host are in. Every rank publishes a call when it begins; a rank whose
 * call stands still reads the others' entries, and so finds ranks that have not come, and ranks
 * that have called with something else. An entry may change while it is read: it is read whole, or
 * not at all.
 */
#ifndef STRAG_SHARED_MEMORY_ENTERED_H
#define STRAG_SHARED_MEMORY_ENTERED_H

#include "shm/shm.h"

struct strag_shm_entered {
    uint64_t number; /* of the call, as in strag_shm_next_call */
    uint64_t bytes;  /* of the vector */
    uint64_t what;   /* the caller's: the same on all ranks that made the same call */
};

/* A rank that waits publishes this from time to time. */
struct strag_shm_wait {
    uint64_t ran;    /* when it last ran, ms by a clock that the host's ranks share; 0 if never */
    uint64_t number; /* of the call that the rest is about; 0 if there is none */
    uint64_t claims; /* 1 if it will report the missing ranks, unless a lower rank does */
    uint64_t said;   /* how often a rank has reported them, as far as this one knows */
};

/** This rank enters a call, whether its messages go through shared memory or not.
 * @param number, bytes, what  as in struct strag_shm_entered */
void strag_shm_enter_call(struct strag_shm *shm, uint64_t number, uint64_t bytes, uint64_t what);

/** This rank waits in a call: publish that. */
void strag_shm_say_wait(struct strag_shm *shm, const struct strag_shm_wait *wait);

/** The index on the host of a rank of the communicator. @return -1 if it is on another host */
int strag_shm_index(const struct strag_shm *shm, int rank);

/** Has a rank of this host left the communicator? False if the rank is on another host. */
bool strag_shm_is_gone(const struct strag_shm *shm, int rank);

/**
 * Read what a rank has published of a call.
 *
 * @param index      of the rank, on the host
 * @param number     of the call
 * @param[out] call  its number is 0 if the rank has not entered the call, or has since entered
 *                   STRAG_SHM_ENTERED others
 * @return the number of the last call that the rank has entered, as far as is known; 0 if none
 */
uint64_t strag_shm_entered(const struct strag_shm *shm, int index, uint64_t number,
                           struct strag_shm_entered *call);

/** Read what a rank has last published about its waiting, perhaps in another call. */
struct strag_shm_wait strag_shm_read_wait(const struct strag_shm *shm, int index);

/** A call ends with an error: does this rank report why? Exactly one of the ranks that ask does,
 * once, even if they ask at the same time; none does if a rank has reported why a later call ended.
 * @param number  of the call */
bool strag_shm_tells_why(struct strag_shm *shm, uint64_t number);

#endif
