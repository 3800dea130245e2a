/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an algorithm's plans send over every link, all rounds together: which link is the busiest,
 * as a bound on the time, and for pictures.
 */
#ifndef STRAG_LOADS_H
#define STRAG_LOADS_H

#include "model/network.h"

/**
 * Every message of every rank is examined: for thousands of ranks, not for hundreds of thousands.
 *
 * @param links      of the problem's topology
 * @param[out] load  [links->nlinks]: vectors, 1 is one whole vector
 * @return STRAG_OK, the refusal of the algorithm, or STRAG_ERR_MEMORY
 */
int strag_link_loads(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                     struct strag_links *links, double *load, struct strag_error *err);

#endif
