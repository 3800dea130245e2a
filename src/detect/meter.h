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
 * So intervals from one end to the next count, if more was waiting for the same host throughout,
 * and nothing for another one (two streams out of a host share its link). Bytes over seconds is
 * then the rate of the slower of the two hosts' links, with any plan; the seconds are its weight.
 *
 * Other senders to that host, or a receiver that is not there yet, make rates too small, never too
 * large. So they only raise a suspicion (slowdown.h).
 *
 * No MPI and no clock: the caller gives the time. Hosts are numbered from 0.
 */
#ifndef STRAG_METER_H
#define STRAG_METER_H

#include <stdbool.h>
#include <stddef.h>

/* Hosts that are measured in a window, the first to which something waits: most plans have few
 * partners. */
enum { STRAG_METER_LANES = 16 };

/* All 0: nothing was sent. */
struct strag_meter {
    int busy, others; /* lanes with sends in flight, and sends in flight to hosts without one */
    bool counting;    /* since `mark`, sends were waiting for a single host */
    double mark;      /* the last end, seconds */
    struct strag_meter_lane {
        int host, in_flight;   /* sends */
        double bytes, seconds; /* counted; both 0 and nothing in flight: the lane is free */
    } lanes[STRAG_METER_LANES];
};

/** A send to a rank on another host was posted. */
void strag_meter_begin(struct strag_meter *meter, int host);

/** A send to that host has ended, at a time in seconds that never decreases. */
void strag_meter_end(struct strag_meter *meter, int host, size_t bytes, double now);

/**
 * The rate of the host to which it was highest, and reset the meter.
 *
 * @param least    seconds for which sends to a host have to have waited: else it does not count
 * @param slower   how many times slower than a full link one is to a host, at least 1;
 *                 0: that host does not count
 * @param context  passed to it
 * @return bytes per second, times that; 0: unknown
 */
double strag_meter_take(struct strag_meter *meter, double least,
                        double (*slower)(const void *context, int host), const void *context);

#endif
