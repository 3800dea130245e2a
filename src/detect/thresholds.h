/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All numbers by which watching decides, each with its unit and its reason. If the reason is a
 * simulation, the test that runs it is named: run that test after changing the number.
 */
#ifndef STRAG_THRESHOLDS_H
#define STRAG_THRESHOLDS_H

/* ---- What watching may cost (learn/budget.h; test_watch_price) ---- */

/* The part of the time in calls that all of watching may take. While nothing happens, windows take
 * half of this share, and probes without a reason at most the whole of it. The rest is kept for
 * when something happens. */
#define STRAG_WATCH_SHARE (1.0 / 500)

/* Calls whose time may be spent in advance of the share: for one probe, one experiment. */
#define STRAG_FIRST_GRANT 2.0

/* ---- Which differences count ---- */

/* Relative. What an experiment, or not waiting for the last rank, has to gain. The model is not
 * more exact than this, and nobody changes a plan for less. */
#define STRAG_WORTH 0.03

/* Relative. A rank or a link that is behind the others by this much is a straggler: a rank that
 * arrives later by this part of a call's time, a host to which messages take this much longer.
 * Plans around stragglers take a few percent more, so below this part they gain nothing. If a link
 * is suspected, a probe may take this part of the time since the last one: as much as the link
 * costs. The last rank is waited for until it is behind by this part of the two plans' break-even:
 * with 19 kinds of gaps and 4 to 64 ranks, calls then take at most 1 % longer than with the best of
 * ten waits, and with a whole break-even up to 15 % (observe.h, slowdown.h, dynamic.h;
 * test_observe, test_slowdown, test_dynamic). */
#define STRAG_BEHIND 0.1

/* Standard errors. Two if an error costs little, such as waiting for all again; four if a decision
 * is kept and can be taken after any of many windows (test_experiment: 2,000 jobs for each noise).
 */
#define STRAG_SURE      2.0
#define STRAG_VERY_SURE 4.0

/* A factor. A change by this much is not noise: a refuted suspicion is raised again, a delay needs
 * another plan, a measured overhead of messages is not that far off, and a rival whose second call
 * takes this much longer is not tried again: one of three times the time costs four calls' time. */
#define STRAG_MUCH_MORE 1.5

/* Windows. The results of this many windows are recent: they name a straggler, and in the dynamic
 * mode older ones count half (in fewer calls by chance none may be late). This many follow at once
 * when something is new. An experiment decides after as many fours of calls, and ends after four
 * times as many (test_experiment). At least this many pass between two changes of links, and twice
 * as many after each further change: thus a factor that wanders changes the plans 8 times in 1,000
 * windows (test_link_rule). */
enum { STRAG_RECENT = 4 };

/* ---- The model's numbers (fit.h; test_fit) ---- */

/* The logarithm of the factor by which a default or a short measurement (perhaps of a shaper's
 * burst) may be wrong. A number that calls do not depend on stays; one that moves by this factor
 * costs the fit as much as a kind of calls whose times are off by STRAG_WORTH. */
#define STRAG_DOUBT 3.0

/* ---- A late rank (observe.h; test_observe, test_judge) ---- */

/* The part of the jobs in which the same ranks are last by chance in all calls that name a
 * straggler, however few ranks there are. At least STRAG_ALL_OF calls are needed, since ranks are
 * not equally likely to be last; a call in which others are last takes back all but two of them.
 */
#define STRAG_BY_CHANCE (1.0 / 4000)
enum { STRAG_ALL_OF = 5 };

/* ---- A slow link (slowdown.h; test_slowdown, test_link_rule) ---- */

/* A message's seconds on a fast link in a probe. Now and then there is a probe without a reason,
 * since with some plans (weighted, optcc) messages never wait, and meters measure nothing. It
 * leaves the time of three more for when there is a reason. With a suspicion, or to confirm what a
 * probe has found, messages are longer, so that waits for a processor matter less. */
#define STRAG_PROBE_SECONDS    1e-3
#define STRAG_THOROUGH_SECONDS 30e-3
#define STRAG_PROBE_RESERVE    4.0

/* The part of a probe's scatter that counts in the next one: with few hosts it is uncertain. */
#define STRAG_SCATTER_KEPT 0.9

#endif
