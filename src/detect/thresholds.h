/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers by which watching decides, all of them, each with its unit and its reason. Where a
 * simulation is the reason, the test that runs it is named: change a number here, and run it.
 */
#ifndef STRAG_THRESHOLDS_H
#define STRAG_THRESHOLDS_H

/* ---- What it may cost (learn/budget.h; test_watch_price) ---- */

/* The part of the time in calls that all of watching may take, and the part of it that windows take
 * while nothing happens: the rest is for when something does. */
#define STRAG_WATCH_SHARE (1.0 / 500)
#define STRAG_QUIET_SHARE (STRAG_WATCH_SHARE / 2)

/* Calls' time that may be spent before the share amounts to anything: one probe, one experiment. */
#define STRAG_FIRST_GRANT 2.0

/* ---- When a difference is one ---- */

/* Relative. The model is not better than that, and nobody changes a plan for less: what an
 * experiment has to gain, what not waiting for the last rank has to gain. */
#define STRAG_WORTH 0.03

/* Standard errors. Two where being wrong costs little, as giving a rival up; four where a decision
 * stays, and is taken after any of many windows (test_experiment: 2,000 jobs for each noise). */
#define STRAG_SURE      2.0
#define STRAG_VERY_SURE 4.0

/* Times. What is this much more is not noise: a suspicion that was refuted comes up again, and a
 * rival that takes this long in its first call is not tried again, so that one of three times the
 * time costs one call. */
#define STRAG_MUCH_MORE 1.5

/* ---- A late rank (observe.h; test_observe, test_judge) ---- */

/* Part of a call's time. A rank that arrives later than this is late. */
#define STRAG_LATE 0.1

/* In one job of as many the same ranks are the last ones by chance in all calls that name a
 * straggler, however few ranks there are. At least so many calls are needed, since ranks are not
 * equally likely to be last; and each call in which others are last takes back three. */
#define STRAG_BY_CHANCE (1.0 / 4000)
enum { STRAG_ALL_OF = 5, STRAG_THEN_MISSES = 4 };

/* ---- Another late rank in each call (dynamic.h; test_dynamic) ---- */

/* Of the break-even of both plans: how long the last rank is waited for. Next to nothing: of 19
 * kinds of gaps and 4 to 64 ranks calls take at most 1 % longer than with the best of ten waits;
 * with a whole break-even up to 15 %. */
#define STRAG_WAIT_PART 0.1

/* Calls after which one counts half: of fewer, none may be late by chance. */
#define STRAG_HALF_LIFE 32.0

/* ---- A slow link (slowdown.h; test_slowdown, test_link_rule) ---- */

/* Times. A host is slow from here on: plans around it take a few percent more traffic, and gain
 * nothing below. */
#define STRAG_SLOW 1.1

/* Of a probe: the part of the time in calls since the last one, and a message's seconds on a fast
 * link. Now and then there is one without a reason, since with some plans (weighted, optcc)
 * messages never wait, and meters measure nothing; it leaves as much as three more take for when
 * there is a reason. With a suspicion, or to confirm what a probe has found, messages are longer:
 * what ranks wait for a processor is a smaller part of that. */
#define STRAG_PROBE_SHARE      0.003
#define STRAG_PROBE_SECONDS    1e-3
#define STRAG_THOROUGH_SHARE   0.08
#define STRAG_THOROUGH_SECONDS 30e-3
#define STRAG_PROBE_RESERVE    4.0

/* What a probe's scatter counts in the next one: that of few hosts is itself uncertain. */
#define STRAG_SCATTER_KEPT 0.9

/* Windows without a change after the first one; after each further one twice as many. A factor that
 * wanders so changes the plans 8 times in 1,000 windows. */
#define STRAG_FIRST_HOLD 4.0

#endif
