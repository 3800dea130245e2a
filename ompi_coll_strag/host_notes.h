/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where all ranks share memory their notes of calls go through it (run/shared_memory_notes.h), and
 * no message is sent but for an update that has something to say.
 *
 * There ranks read the same clock, and say when they came: so rank 0 knows of every call how long
 * each rank waited for the last one, which elsewhere takes a barrier beside the call.
 */
#ifndef COLL_STRAG_HOST_NOTES_H
#define COLL_STRAG_HOST_NOTES_H

#include "run/shared_memory_notes.h"

struct coll_strag_host_notes {
    struct strag_shm *shm;
    uint64_t ended; /* calls, the same on all ranks in the same call */
    uint64_t from;  /* those from this one on are noted, */
    int most;       /* ... as many; 0: all */

    /* On rank 0 */
    int n;
    uint64_t read;  /* calls up to this one; or it is the first to be read */
    int window;     /* calls of the window that were read */
    double seconds; /* in calls noted since the last update, and in those passed over */
    double price;   /* what that update took, seconds */
    int noted;      /* calls, up to a hundred */
    double mean;    /* of the last so many or so, without the first: what others are taken for */
    double resume;  /* when notes are to be read again: seconds of the clock */
};

/** For a communicator of n ranks, all of which share memory; before all agree that they watch.
 * @param most  calls that are noted in a row, until rank 0 wants others; 0: all are
 * @return NULL: out of memory */
struct coll_strag_host_notes *coll_strag_host_notes_create(struct strag_shm *shm, int n, int most);

/** NULL is allowed. */
void coll_strag_host_notes_free(struct coll_strag_host_notes *notes);

/** Is the call that begins, or has just ended, one to be noted? The same on all ranks. */
static inline bool coll_strag_host_notes_wants(const struct coll_strag_host_notes *notes)
{
    return notes->most == 0 ||
           (notes->ended >= notes->from && notes->ended - notes->from < (uint64_t)notes->most);
}

/** Note a call that has ended, if it is to be noted, and go on to the next one.
 * @param came  seconds, when it began @return whether an update follows */
bool coll_strag_host_notes_end(struct coll_strag_host_notes *notes, double came, double seconds);

/**
 * On rank 0, after each call's end was noted: read all ranks' notes of earlier ones that are to be
 * read now.
 *
 * @param last    all there are: the window is evaluated
 * @param all     [rank], `stride` bytes from one to the next: [call of the window] of struct
 * strag_note
 */
void coll_strag_host_notes_read(struct coll_strag_host_notes *notes, bool last, void *all,
                                size_t stride);

/** On rank 0, at a call's end: an update follows the next one's. */
void coll_strag_host_notes_announce(struct coll_strag_host_notes *notes);

/** On rank 0, at a call's end: the calls after the next one are noted again. */
void coll_strag_host_notes_restart(struct coll_strag_host_notes *notes);

#endif
