/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a plan costs, by the alpha-beta model with synchronous rounds.
 *
 * Every rank has one full-duplex link. A round lasts as long as its busiest rank:
 *
 *     T = sum over rounds of max over ranks of (messages * alpha + bytes * beta)
 *
 * where sending and receiving go on at the same time (the larger of the two counts). Messages of
 * no elements are not sent, and cost nothing.
 */
#ifndef STRAG_COST_H
#define STRAG_COST_H

#include "algorithm.h"

struct strag_model {
    double alpha;     /* seconds for a message, however short */
    double bandwidth; /* bytes per second of one link, each direction */
};

/** What `strag cost` assumes when nothing is said: 1 us and 100 Gbit/s. */
extern const struct strag_model strag_model_default;

/**
 * Estimate the time of one allreduce.
 *
 * @param bytes         sizes of the vector; elements are single bytes
 * @param sizes         how many sizes
 * @param[out] seconds  one estimate per size
 * @return STRAG_OK, or the refusal of the algorithm, or STRAG_ERR_MEMORY
 */
int strag_cost(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
               const struct strag_model *model, const size_t *bytes, int sizes, double *seconds,
               struct strag_error *err);

#endif
