/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers by which watching decides, all of them, each with its unit and its reason. Where a
 * simulation is the reason, the test that runs it is named: change a number here, and run it.
 */
#ifndef STRAG_THRESHOLDS_H
#define STRAG_THRESHOLDS_H

/* ---- What it may cost (learn/budget.h; test_watch_price) ---- */

/* The part of the time in calls that all of watching may take. Windows take half of it while
 * nothing happens, and probes without a reason no more than all of it: the rest is for when
 * something does. */
#define STRAG_WATCH_SHARE (1.0 / 500)

/* Calls' time that may be spent before the share amounts to anything: one probe, one experiment. */
#define STRAG_FIRST_GRANT 2.0

/* ---- When a difference is one ---- */

/* Relative. The model is not better than that, and nobody changes a plan for less: what an
 * experiment has to gain, what not waiting for the last rank has to gain. */
#define STRAG_WORTH 0.03

/* Relative. A rank or a link that is behind the others by this much is a straggler: a rank that
 * arrives later by this part of a call's time, a host to which messages take longer by it. Plans
 * around them take a few percent more, and gain nothing below. So this is also the part of the time
 * since the last probe that one may take if a link is suspected: as much as the link costs. The
 * last rank is waited for until it is behind by this part of the break-even of both plans: of 19
 * kinds of gaps and 4 to 64 ranks calls take at most 1 % longer than with the best of ten waits;
 * with a whole break-even up to 15 % (observe.h, slowdown.h, dynamic.h; test_observe,
 * test_slowdown, test_dynamic). */
#define STRAG_BEHIND 0.1

/* Standard errors. Two where being wrong costs little, as giving a rival up; four where a decision
 * stays, and is taken after any of many windows (test_experiment: 2,000 jobs for each noise). */
#define STRAG_SURE      2.0
#define STRAG_VERY_SURE 4.0

/* Times. What is this much more is not noise: a suspicion that was refuted comes up again, a delay
 * needs another plan, and a rival that takes this long in its first call is not tried again, so
 * that one of three times the time costs one call. */
#define STRAG_MUCH_MORE 1.5

/* Windows. What they have shown is recent: it names a straggler, and of older ones half is
 * forgotten in the dynamic mode (of fewer calls none may be late by chance). As many follow at once
 * when something is new, and at least as many pass between two changes of links, after each further
 * one twice as many: a factor that wanders so changes the plans 8 times in 1,000 windows
 * (test_link_rule). */
enum { STRAG_RECENT = 4 };

/* ---- A late rank (observe.h; test_observe, test_judge) ---- */

/* In one job of as many the same ranks are the last ones by chance in all calls that name a
 * straggler, however few ranks there are. At least this many calls are needed, since ranks are not
 * equally likely to be last; and a call in which others are last takes back all of these but two.
 */
#define STRAG_BY_CHANCE (1.0 / 4000)
enum { STRAG_ALL_OF = 5 };

/* ---- A slow link (slowdown.h; test_slowdown, test_link_rule) ---- */

/* A message's seconds on a fast link in a probe. Now and then there is one without a reason, since
 * with some plans (weighted, optcc) messages never wait, and meters measure nothing; it leaves as
 * much as three more take for when there is a reason. With a suspicion, or to confirm what a probe
 * has found, messages are longer: what ranks wait for a processor is a smaller part of that. */
#define STRAG_PROBE_SECONDS    1e-3
#define STRAG_THOROUGH_SECONDS 30e-3
#define STRAG_PROBE_RESERVE    4.0

/* What a probe's scatter counts in the next one: that of few hosts is itself uncertain. */
#define STRAG_SCATTER_KEPT 0.9

#endif
