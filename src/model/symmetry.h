/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks whose traffic is equivalent, so that one of them can stand for all.
 *
 * On a machine of equal parts ranks can be exchanged without a difference: moved on around a torus,
 * or with all of their host. If an exchange takes an algorithm's messages to its messages, round
 * by round, what is found for one rank holds for the other, and for the links on their ways. The
 * algorithm says which ranks are equivalent in this way (strag_algorithm.like); here are the links.
 *
 *     swing on a ring of 8     ranks 0 2 4 6 are equivalent, and 1 3 5 7
 *     flexreduce, equal hosts  all ranks are equivalent: so are all hosts' links up, and all down
 *
 * Then it takes two ranks, or one, to price a round.
 */
#ifndef STRAG_SYMMETRY_H
#define STRAG_SYMMETRY_H

#include "model/network.h"
#include "plan/algorithm.h"

struct strag_symmetry {
    int32_t *rank;          /* [rank]: the one that stands for it; NULL: each for itself */
    int32_t *link;          /* [link]: likewise */
    int32_t *ranks, *links; /* [rank], [link]: for how many that one stands */
};

/**
 * Which ranks and links of an instance are equivalent.
 *
 * @param links  of the instance's topology, with slow ones
 * @param[out] symmetry  the caller's to close with strag_symmetry_close; all NULL if no two
 * ranks are known to be equivalent, and on failure
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_symmetry_open(const struct strag_instance *instance, const struct strag_links *links,
                        struct strag_symmetry *symmetry, struct strag_error *err);

/** What all messages that are like one of rank `to` put on a link, where that one puts 1 on a link
 * that is equivalent: the messages are as many as the ranks, and share as many links. */
static inline double strag_symmetry_weight(const struct strag_symmetry *symmetry, int to, int link)
{
    return symmetry->rank ? (double)symmetry->ranks[to] / symmetry->links[link] : 1;
}

/**
 * Can hosts be exchanged so that rounds of the same kind (strag_algorithm.kind) take the same time?
 * So it is if all are on one switch, those at the full rate are equally fast by the model as well,
 * and no rank is late.
 *
 * @param[out] bandwidth  that those hosts have in common; 0: no
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_symmetry_kinds(const struct strag_instance *instance, const struct strag_links *links,
                         double *bandwidth, struct strag_error *err);

void strag_symmetry_close(struct strag_symmetry *symmetry);

#endif
