/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast the machine is, from what calls of known plans took: two numbers, latency and bandwidth,
 * of the network if there are several hosts, else within the host. If the latency is known (a ping,
 * the user, a file), the overhead of further messages takes its place. fit.c says how they are
 * found. No clock and no messages; the same calls give the same numbers.
 */
#ifndef STRAG_FIT_H
#define STRAG_FIT_H

#include "machine/state.h"
#include "model/numbers.h"
#include "model/select.h"

struct strag_fit;

/**
 * @param problem  of which blocks and state do not count; what it points to outlives the fit
 * @param model    before any call; what the user or a file said stays
 * @return NULL: out of memory. The caller's to free with strag_fit_free
 */
struct strag_fit *strag_fit_create(const struct strag_problem *problem,
                                   const struct strag_sourced_model *model);

/** NULL is allowed. */
void strag_fit_free(struct strag_fit *fit);

/**
 * A call that nobody was late for, with a plan that is not made for that.
 *
 * @param bytes    of the vector
 * @param seconds  from the last arrival on; others than above 0 and finite are not counted
 */
void strag_fit_note(struct strag_fit *fit, size_t bytes, const struct strag_algorithm *algorithm,
                    int blocks, double seconds);

/**
 * Fit the numbers if calls take other times than modelled. It is done after 2, 4, 8 ... calls,
 * until it changes no such time by more than STRAG_WORTH, and again once there are calls of another
 * size.
 *
 * @param state      with which the calls ran
 * @param selection  with the times that were expected; NULL: unknown
 * @return whether one has changed by more: another table is wanted
 */
bool strag_fit_update(struct strag_fit *fit, const struct strag_state_record *state,
                      const struct strag_selection *selection);

/** The model now, with the error of its last fit. */
const struct strag_sourced_model *strag_fit_model(const struct strag_fit *fit);

/** Links have changed: what calls took is forgotten, and the numbers are in doubt. */
void strag_fit_forget(struct strag_fit *fit);

/** What the last strag_fit_update found, for the log; "": nothing. */
const char *strag_fit_log(const struct strag_fit *fit);

#endif
