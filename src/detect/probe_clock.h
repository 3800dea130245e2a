/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast the pieces of a probe arrived, from the times at which their receiver looked for them.
 *
 *     look        1    2    3    4                             5    6    7
 *     arrive     p0   p1        p2  p3 p4 p5 p6 p7 (unseen)
 *     seen        1    2    2    3                             6    8
 *
 * A receiver that does not run while pieces arrive finds all of them afterwards, one look after the
 * other. The time between two looks is then close to none, and a link seems 25 times as fast as it
 * is. But a piece that a look has not seen had not arrived by then. So the time of the counted
 * pieces begins with the last look that saw nothing new while warm-up pieces were missing (above,
 * with three warm-up pieces: look 3, not look 4). The rate is never too high, and it is exact if
 * the receiver looks much more often than pieces arrive.
 *
 * The caller gives the time.
 */
#ifndef STRAG_PROBE_CLOCK_H
#define STRAG_PROBE_CLOCK_H

struct strag_probe_clock {
    int pieces, warm_up; /* all pieces, and the first ones, which do not count */
    int seen;
    double begin, end; /* seconds; end is set when all pieces have been seen */
};

/** @param pieces   more than warm_up
 * @param warm_up  at least 1: the pieces that a buffer or a shaper lets pass at once
 * @param now      seconds; a time before the sender may begin */
struct strag_probe_clock strag_probe_clock_start(int pieces, int warm_up, double now);

/** The receiver has looked. @param now  seconds, before it looked @param seen  pieces so far; never
 * decreases */
void strag_probe_clock_look(struct strag_probe_clock *clock, double now, int seen);

/** @param bytes  of a piece @return bytes per second; 0 if pieces are missing or no time has passed
 */
double strag_probe_clock_rate(const struct strag_probe_clock *clock, double bytes);

#endif
