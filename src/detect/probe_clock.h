/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast the pieces of a probe came in, by the times at which their receiver looked for them.
 *
 *     look        1    2    3    4                             5    6    7
 *     arrive     p0   p1        p2  p3 p4 p5 p6 p7 (unseen)
 *     seen        1    2    2    3                             6    8
 *
 * A receiver that does not run while pieces come finds all of them afterwards, one look after the
 * other: between two of them there may be no time at all, and a link seems 25 times as fast as it
 * is. But pieces that a look has not seen had not come by then. So the time of the pieces that
 * count begins with the last such look before the last of those that do not (above, with three of
 * them: look 3, not look 4), and the rate is never higher than it was; if the receiver looks much
 * more often than pieces come, it is as it was.
 *
 * No clock: the caller has one.
 */
#ifndef STRAG_PROBE_CLOCK_H
#define STRAG_PROBE_CLOCK_H

struct strag_probe_clock {
    int pieces, warm_up; /* all that come; the first ones, which do not count */
    int seen;
    double begin, end; /* seconds; end: once all were seen */
};

/** @param pieces   more than warm_up
 * @param warm_up  at least 1: what a buffer or a shaper lets pass at once
 * @param now      seconds, before the sender may begin */
struct strag_probe_clock strag_probe_clock_start(int pieces, int warm_up, double now);

/** The receiver looks. @param now  seconds, before it looked @param seen  so far, not fewer than
 * before */
void strag_probe_clock_look(struct strag_probe_clock *clock, double now, int seen);

/** @param bytes  of a piece @return bytes per second; 0: pieces are missing, or no time has passed
 */
double strag_probe_clock_rate(const struct strag_probe_clock *clock, double bytes);

#endif
