/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast do a rank's links drain? Measured on the messages that are sent anyhow.
 *
 * A send is over when its bytes are in the transport's buffer, not when they have arrived: a send
 * into an empty buffer tells nothing of the link. But while another one waits behind it the buffer
 * is full, and it takes in as much as the link carries away:
 *
 *     sends under way   1   2   2   2   1   0       1   0
 *     ends              .   |---|---|---|   .       .   .
 *                           counted: bytes of the three ends, and the time between them
 *
 * So what counts is the time from one end to the next, during all of which more was waiting for the
 * same host, and nothing for another one: two streams out of a host share its link. Bytes over
 * seconds is then the rate of the slower of the two hosts' links, whatever plan runs, and however
 * much or little it sends there. Seconds alone tell how much that is worth.
 *
 * What it cannot know: who else sends to that host at the same time, and whether the receiver was
 * there to receive. That makes rates too small, never too large. So they raise a suspicion, and no
 * more (slowdown.h).
 *
 * No MPI and no clock: the caller says when.
 */
#ifndef STRAG_METER_H
#define STRAG_METER_H

#include <stddef.h>
#include <stdint.h>

enum { STRAG_METER_HOSTS = 6 };

/* What a rank has found out since its last note: of the hosts for which most was waiting, the
 * longest first. It travels as it is between processes of the same program. */
struct strag_meter_note {
    struct strag_drained {
        int32_t host; /* -1: none */
        float bytes, seconds;
    } to[STRAG_METER_HOSTS];
};

struct strag_meter;

/**
 * @param hosts  hosts are numbered from 0
 * @return NULL when out of memory
 */
struct strag_meter *strag_meter_create(int hosts);

/** NULL is allowed. */
void strag_meter_free(struct strag_meter *meter);

/** A send to a rank on another host was posted. */
void strag_meter_begin(struct strag_meter *meter, int host);

/** A send to that host is over, at a time in seconds that never goes back. */
void strag_meter_end(struct strag_meter *meter, int host, size_t bytes, double now);

/** Make a note, and start anew. */
void strag_meter_take(struct strag_meter *meter, struct strag_meter_note *note);

#endif
