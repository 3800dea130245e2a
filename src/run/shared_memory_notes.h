/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes of calls, in the memory that a communicator's ranks share: each rank writes when it came
 * and how long it stayed, rank 0 reads, and nothing is sent.
 *
 *     end of call c      every rank   writes its note of it
 *     end of call c + 1  rank 0       all are in call c + 1: it may read all notes up to call c's
 *                        rank 0       announces that something follows the end of call c + 2
 *     end of call c + 2  every rank   sees that, since rank 0 is in it; and none saw it before
 *
 * Not all calls need notes: rank 0 says from which one on, which all know as they know
 * announcements.
 *
 * That holds for calls of which none ends for a rank before all have come, and that all ranks
 * number alike: allreduces of at least one byte. A rank's notes of the last STRAG_SHM_NOTES_BEHIND
 * calls and the next one fill one line of a cache.
 */
#ifndef STRAG_SHARED_MEMORY_NOTES_H
#define STRAG_SHARED_MEMORY_NOTES_H

#include "run/shared_memory.h"

/* A rank's note of a call. */
struct strag_shm_note {
    uint32_t came; /* parts of a second, STRAG_SHM_NOTE_UNITS of them; it wraps after 17 minutes */
    float seconds; /* that it stayed; 0: unknown */
};

enum { STRAG_SHM_NOTE_UNITS = 4000000 };

/* Rank 0 reads a call's notes before so many others have ended on it. */
enum { STRAG_SHM_NOTES_BEHIND = 4 };

/** Get ready to note calls: before all ranks agree that they do.
 * @param clock  the same number where ranks read the same clock */
void strag_shm_notes_open(struct strag_shm *shm, uint64_t clock);

/** All ranks have. Can they note calls? Only if all are on this host, and have the same clock.
 * @return the same on all ranks */
bool strag_shm_notes_are_possible(const struct strag_shm *shm);

/** Note a call that has ended.
 * @param call  its number, from 0 on; larger than that of the one noted before
 * @param came  seconds, when it began */
void strag_shm_notes_add(struct strag_shm *shm, uint64_t call, double came, double seconds);

/** Read a rank's note. @param call  as above */
struct strag_shm_note strag_shm_notes_read(const struct strag_shm *shm, int rank, uint64_t call);

/** On rank 0, at the end of call `call - 1` at the latest: something follows this call's end. */
void strag_shm_notes_announce(struct strag_shm *shm, uint64_t call);

/** At a call's end: does something follow? */
bool strag_shm_notes_announced(const struct strag_shm *shm, uint64_t call);

/** On rank 0, at the end of call `from - 2` at the latest: calls from this one on are to be noted.
 */
void strag_shm_notes_want(struct strag_shm *shm, uint64_t from);

/** From which call on? At the end of the one before all ranks know it, some earlier. */
uint64_t strag_shm_notes_wanted(const struct strag_shm *shm);

#endif
