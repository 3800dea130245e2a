/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which calls the ranks of a host are in. Every rank says at the beginning of a call what it is;
 * a rank whose call stands still reads what the others have said: who has not come, and who has
 * called with something else. What another one says may change while it is read: it is read whole,
 * or not at all.
 */
#ifndef STRAG_SHARED_MEMORY_ENTERED_H
#define STRAG_SHARED_MEMORY_ENTERED_H

#include "shm/shm.h"

struct strag_shm_entered {
    uint64_t number; /* of the call, as in strag_shm_next_call */
    uint64_t bytes;  /* of the vector */
    uint64_t what;   /* the caller's: the same on all ranks that made the same call */
};

/* What a rank that waits says of itself, from time to time. Milliseconds of a clock that the host's
 * ranks share. */
struct strag_shm_wait {
    uint64_t ran;    /* now: it runs; 0: it has never said so */
    uint64_t number; /* of the call that the rest is about; 0: none */
    uint64_t claims; /* 1: it will say who is missing, if no lower rank does */
    uint64_t said;   /* how often a rank has said who is missing, as far as this one knows */
};

/** This rank enters a call, whether its messages go through shared memory or not.
 * @param number, bytes, what  as in struct strag_shm_entered */
void strag_shm_enter_call(struct strag_shm *shm, uint64_t number, uint64_t bytes, uint64_t what);

/** This rank waits in a call. */
void strag_shm_say_wait(struct strag_shm *shm, const struct strag_shm_wait *wait);

/** The index on the host of a rank of the communicator. @return -1: it is on another host */
int strag_shm_index(const struct strag_shm *shm, int rank);

/** Is a rank of the communicator on this host, and has left the communicator? */
bool strag_shm_is_gone(const struct strag_shm *shm, int rank);

/**
 * What a rank has said of a call.
 *
 * @param index     of the rank, on the host
 * @param number    of the call
 * @param[out] call what it is; its number is 0 if the rank said nothing of it, or has since entered
 *                  STRAG_SHM_ENTERED others
 * @return the number of the last call that the rank has entered, as far as is known; 0: none
 */
uint64_t strag_shm_entered(const struct strag_shm *shm, int index, uint64_t number,
                           struct strag_shm_entered *call);

/** What a rank has said last of its waiting, perhaps in another call. */
struct strag_shm_wait strag_shm_read_wait(const struct strag_shm *shm, int index);

/** A call ends with an error: does this rank say why? One of those that ask does, also of those
 * that ask at the same time, and once; none does if one has said why a later one.
 * @param number  of the call */
bool strag_shm_tells_why(struct strag_shm *shm, uint64_t number);

#endif
