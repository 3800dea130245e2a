/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What could run at a size, for trials (trials.h): the candidates of a selection, among them those
 * that a table which is made quickly leaves out because the model thinks that they add nothing.
 * Where the model is wrong they may be the best: 8 hosts with 2 ms of latency, 256 KiB, flexreduce
 * takes 40.6 ms and the best of a quick table 58, since its 14 rounds hardly wait for one another.
 */
#ifndef STRAG_OFFERS_H
#define STRAG_OFFERS_H

#include "model/select.h"
#include "watch/trials.h"

/**
 * Price, with a model, the algorithms that a selection was made without, and add them to its
 * candidates: 0.1 ms with 8 ranks, 1 to 20 ms with 256, as the table itself takes. That table stays
 * as it is. Once this is done, doing it again costs next to nothing;
 * with more than STRAG_EXPLAINED_RANKS ranks nothing is done, as it would take too long.
 *
 * @return STRAG_OK or STRAG_ERR_MEMORY; then some are missing
 */
int strag_offers_complete(struct strag_selection *selection, const struct strag_problem *problem,
                          const struct strag_model *model);

/**
 * All candidates' times at a size, from the last arrival on. The first one is what the table says;
 * the previous component is thought to run the best of Open MPI's own.
 *
 * @param guessed  nobody has said or found out what the model's overhead is
 * @param[out] offers  room for all candidates and two more
 * @return how many
 */
int strag_offers_make(const struct strag_selection *selection, const struct strag_entry *usual,
                      size_t bytes, bool guessed, struct strag_offer *offers);

/** Seconds from the last arrival on, of a rank that is by `delay` later than all others. */
double strag_from_last_arrival(const struct strag_profile *profile, double bytes, double delay);

#endif
