/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The load of every link by an algorithm's plans, all rounds together. The busiest link bounds the
 * time; the loads are also for pictures.
 */
#ifndef STRAG_LOADS_H
#define STRAG_LOADS_H

#include "model/network.h"

/**
 * Examines every message of every rank, so it suits thousands of ranks, not hundreds of thousands.
 *
 * @param links      of the problem's topology
 * @param[out] load  [links->nlinks], in whole vectors
 * @return STRAG_OK, the refusal of the algorithm, or STRAG_ERR_MEMORY
 */
int strag_link_loads(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                     struct strag_links *links, double *load, struct strag_error *err);

#endif
