/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of algorithms for slow links share: hosts of which some are slow, their proof, and
 * their modelled time and the lower bounds. Each function lets the test fail if something is
 * wrong.
 */
#ifndef STRAG_TEST_SLOW_LINKS_H
#define STRAG_TEST_SLOW_LINKS_H

#include "model/bounds.h"
#include "support.h"

enum { SLOW_LINKS_MAX = 64 };

/* n ranks, ranks_per_host of them on each host, all on one switch. */
struct slow_links {
    int n, ranks_per_host;
    struct strag_topology *topology;
    struct strag_state state;
    struct strag_slow slow[SLOW_LINKS_MAX];
    struct strag_problem problem;
};

/**
 * Theorem 2 of the paper that model/bounds.h names: the bound where several hosts are slow, in what
 * the vector takes over one fast link.
 *
 * @param factors  of the slow hosts, 1 or more each
 * @param slow     how many there are, at most `hosts`
 */
double bound_several_slow(int hosts, const double *factors, int slow);

/** Hosts without a slow one. Free them with slow_links_free; do not copy them. */
void slow_links_make(struct slow_links *links, int hosts, int ranks_per_host);

/** One more slow rank, and all of its host with it. */
void slow_links_add(struct slow_links *links, int rank, double factor);

void slow_links_free(struct slow_links *links);

/** Prove the algorithm's plans; also that every rank meets one rank of another host at most in each
 * round and direction, if `one_flow`. */
void slow_links_prove(const struct slow_links *links, const struct strag_algorithm *algorithm,
                      bool one_flow);

/** Run the plans in random orders that their waits allow; all must end with the sum. */
void slow_links_run(const struct slow_links *links, const struct strag_algorithm *algorithm,
                    struct rng *rng);

/** The same with 3 to `most` hosts of one and two ranks, of which two are slow. */
void slow_links_run_some(const struct strag_algorithm *algorithm, int most, struct rng *rng);

/** Modelled time without latency, in what the vector takes over a fast link. */
double slow_links_time(const struct slow_links *links, const struct strag_algorithm *algorithm,
                       bool clocks);

/** The algorithm must refuse with these words. */
void slow_links_refused(const struct slow_links *links, const struct strag_algorithm *algorithm,
                        const char *why);

#endif
