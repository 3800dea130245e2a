/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds how fast the machine is from the times of calls with known plans: two numbers, latency and
 * bandwidth, of the network if there are several hosts, else within the host. If the latency is
 * known (from a ping, the user, or a file), the overhead of further messages takes its place. The
 * method is in fit.c. It has no clock and no messages; the same calls give the same numbers.
 */
#ifndef STRAG_FIT_H
#define STRAG_FIT_H

#include "machine/state.h"
#include "model/numbers.h"
#include "model/select.h"

struct strag_fit;

/**
 * @param problem  its blocks and state do not matter; what it points to must outlive the fit
 * @param model    before any call; numbers from the user or a file stay
 * @return NULL if out of memory; the caller's to free with strag_fit_free
 */
struct strag_fit *strag_fit_create(const struct strag_problem *problem,
                                   const struct strag_sourced_model *model);

/** NULL is allowed. */
void strag_fit_free(struct strag_fit *fit);

/**
 * Add a call for which no rank was late, and whose plan is not made for a straggler.
 *
 * @param bytes    of the vector
 * @param seconds  from the last arrival on; the call is ignored unless they are above 0 and finite
 */
void strag_fit_note(struct strag_fit *fit, size_t bytes, const struct strag_algorithm *algorithm,
                    int blocks, double seconds);

/**
 * Fit the numbers if calls take other times than modelled. This happens after 2, 4, 8 ... calls,
 * until a fit changes no modelled time by more than STRAG_WORTH, and again after a call of another
 * size.
 *
 * @param state      with which the calls ran
 * @param selection  with the expected times; NULL if unknown
 * @return whether a time has changed by more, so that a new table is needed
 */
bool strag_fit_update(struct strag_fit *fit, const struct strag_state_record *state,
                      const struct strag_selection *selection);

/** The model now, with the error of its last fit. */
const struct strag_sourced_model *strag_fit_model(const struct strag_fit *fit);

/**
 * Links have changed, or are known better: fit the calls so far again, from the numbers that were
 * known before any of them. What those calls showed may have been taken for another number.
 *
 * @param state  the slow links from now on
 */
void strag_fit_again(struct strag_fit *fit, const struct strag_state_record *state);

/** The result of the last strag_fit_update, for the log; "" if there is none. */
const char *strag_fit_log(const struct strag_fit *fit);

#endif
