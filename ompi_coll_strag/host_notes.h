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

    /* On rank 0 */
    int n;
    uint64_t ended, read; /* calls; those whose notes are in the window, or were in one before */
    int window;           /* calls of the window that were read */
    double since;         /* seconds in calls since the last update */
    double price;         /* what that took, seconds */
    double pause;         /* seconds in calls until notes are read again */
};

/** For a communicator of n ranks, all of which share memory; before all agree that they watch.
 * @return NULL: out of memory */
struct coll_strag_host_notes *coll_strag_host_notes_create(struct strag_shm *shm, int n);

/** NULL is allowed. */
void coll_strag_host_notes_free(struct coll_strag_host_notes *notes);

/** Note a call that has ended. @param came  seconds, when it began */
void coll_strag_host_notes_add(struct coll_strag_host_notes *notes, double came, double seconds);

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

/** On rank 0: the next call is the first of a window. */
void coll_strag_host_notes_restart(struct coll_strag_host_notes *notes);

#endif
