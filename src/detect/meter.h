/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rate at which a rank's links drain, measured on the messages that are sent anyway.
 *
 * A send completes when its bytes are in the transport's buffer, not when they have arrived, so the
 * time of a send into an empty buffer does not depend on the link. But while another send waits,
 * the buffer is full and accepts bytes at the rate of the link:
 *
 *     sends in flight   1   2   2   2   1   0       1   0
 *     ends              .   |---|---|---|   .       .   .
 *                           counted: bytes of the three ends, and the time between them
 *
 * So an interval from one end to the next counts if throughout it a send to the same host was
 * waiting, and none to another host (two streams out of a host share its link). Bytes over seconds
 * is then, with any plan, the rate of the slower of the two hosts' links.
 *
 * Other senders to that host, or a receiver that is not there yet, make the rate too small, never
 * too large. So a low rate only raises a suspicion (slowdown.h).
 *
 * The meter has no MPI and no clock: the caller gives the time. Hosts are numbered from 0.
 */
#ifndef STRAG_METER_H
#define STRAG_METER_H

#include <stdbool.h>
#include <stddef.h>

/* Hosts that are measured in a window: the first ones to which a send waits. Most plans have few
 * partners. */
enum { STRAG_METER_LANES = 16 };

/* All members are 0 before the first send. */
struct strag_meter {
    int busy, others; /* lanes with sends in flight, and sends in flight to hosts without a lane */
    bool counting;    /* since `mark`, sends were waiting for a single host */
    double mark;      /* the last end, seconds */
    struct strag_meter_lane {
        int host, in_flight;   /* sends */
        double bytes, seconds; /* counted; a free lane has 0, and no sends in flight */
    } lanes[STRAG_METER_LANES];
};

/** A send to a rank on another host was posted. */
void strag_meter_begin(struct strag_meter *meter, int host);

/** A send to that host has ended, at a time in seconds that never decreases. */
void strag_meter_end(struct strag_meter *meter, int host, size_t bytes, double now);

/**
 * Get the rate to the host with the highest one, and reset the meter.
 *
 * @param least    a host counts if sends to it have waited for more seconds than this
 * @param slower   how many times slower than a full link a host's link is, at least 1; returns 0 if
 *                 that host does not count
 * @param context  passed to slower()
 * @return bytes per second, times slower(); 0 if unknown
 */
double strag_meter_take(struct strag_meter *meter, double least,
                        double (*slower)(const void *context, int host), const void *context);

#endif
