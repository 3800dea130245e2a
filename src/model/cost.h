/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of a plan on a topology: the link-load model, in two modes.
 *
 *     rounds   A round begins when the one before has ended everywhere, and all its messages are in
 *              flight together. A message takes the latency of its route, plus the longest of
 *              (bytes of the round on a link / the link's bandwidth) over its links, plus the bytes
 *              that its receiver reduces in the round / reduce_bandwidth. The cost is the sum of
 *              the longest messages. A rank posts the messages of a round to or from other hosts
 *              one after the other: this adds, for the rank with the most, an `overhead` for each
 *              send but the first, and for each receive but the first. If some rounds do not need
 *              one another (strag_claim.chain), they have two overheads in place of a latency, if
 *              that is less, and further messages are posted while bytes are in flight: the longer
 *              one of both counts (LogGP's o and G). A straggler holds up the first round in which
 *              it takes part.
 *     clocks   Every rank goes from round to round on its own; a message begins when both ranks are
 *              in its round. Whatever is in flight at the same time shares the links, max-min fair
 *              (flows.h): a simulation, message by message.
 *
 * If all ranks do the same at the same time, both modes give the same time. Selection uses
 * `rounds`: it prices identical rounds once, and keeps one `profile` for all sizes, a sum of maxima
 * of straight lines in the vector's size. `clocks` simulates every message again for every size; it
 * shows the real cost of stragglers and slow links.
 *
 * Blocks count as exact fractions of the vector, however short it is.
 */
#ifndef STRAG_COST_H
#define STRAG_COST_H

#include "base/progress.h"
#include "model/model.h"
#include "plan/algorithm.h"

/* Seconds for a vector of s bytes: latency + s * per_byte. */
struct strag_cost_line {
    double latency, per_byte;
};

/* Rounds that cost the same. */
struct strag_profile_part {
    int repeats;
    bool steady;           /* there is one more round for each further `unit` of blocks */
    int first_line, lines; /* one of the rounds takes the longest of these */
};

/* A straggler other than the last one: seconds until it arrives, and how many parts go without
 * it. */
struct strag_profile_join {
    double delay;
    int before;
};

#define STRAG_JOINS_MAX 4

/* An algorithm's estimate for every size: mode `rounds`. */
struct strag_profile {
    double delay;       /* seconds until the last straggler arrives */
    int nparts, before; /* the first `before` parts do not need the last straggler */
    int njoins;         /* stragglers before the last one, in the order of their parts */
    struct strag_profile_join joins[STRAG_JOINS_MAX];
    struct strag_profile_part *parts;
    int nlines;
    struct strag_cost_line *lines;
    int blocks, unit;   /* strag_algorithm.unit; 0 if it has none */
    int ports;          /* that the plan claims; 0 if it claims none */
    double posting;     /* seconds of its latency that strag_model.overhead adds */
    double units;       /* the vector's length, in units of the size of its middle one */
    int64_t operations; /* of a rank's plan, if they were to be counted */
    double distance;    /* share of the bytes between hosts that leaves a group of hosts, beyond
                           what neighbours would send out of it, for groups of any size and hosts
                           in their order; 0 if switches or a grid are known */
    double crossing;    /* bytes that leave a tree's topmost groups of hosts, over the fewest
                           possible, minus 1; at most 1; 0 if there are no such groups, or if
                           not all ranks are examined */
    double busiest;     /* bytes over the busiest link in the whole plan, per byte of the vector */
};

/**
 * Estimate an algorithm in mode `rounds`, for all sizes at once. Takes memory in proportion to
 * ranks, links, and the hops of one round, and O(messages * hops) time, where rounds that the
 * algorithm declares identical are priced once.
 *
 * @param problem  without a topology every rank is on a host of its own, on one switch
 * @param[out] profile  the caller's to free with strag_profile_free; untouched on failure
 * @return STRAG_OK, the refusal of the algorithm, or STRAG_ERR_MEMORY
 */
int strag_profile_create(const struct strag_algorithm *algorithm,
                         const struct strag_problem *problem, const struct strag_model *model,
                         struct strag_profile **profile, struct strag_error *err);

/* An unfinished estimate. */
struct strag_partial_profile {
    const struct strag_profile *so_far;
    struct strag_cost_line rest; /* a lower bound on the other rounds */
};

/** A line that is below the finished estimate at all sizes, and close to it at one.
 */
struct strag_cost_line strag_partial_profile_line(const struct strag_partial_profile *partial,
                                                  double bytes);

/** Is it clear already that the estimate will be of no use? Asked repeatedly while it is made. */
typedef bool strag_prune_fn(void *context, const struct strag_partial_profile *partial);

struct strag_platform;

/* How to make one of many estimates. */
struct strag_attempt {
    struct strag_platform *platform; /* of the problem, whatever its blocks */
    int messages;          /* if there are more, about this many are examined, of some ranks
                              (sample.h) and some rounds; 0 examines all */
    int operations;        /* a rank's plan has at most this many; 0 for no limit */
    strag_prune_fn *prune; /* NULL if the estimate is always finished */
    void *context;         /* of prune() */
    const struct strag_progress *progress; /* receives the number of rounds that are done; may be
                                              NULL */
};

/** As strag_profile_create, but `profile` is NULL if it was pruned, and STRAG_ERR_UNSUPPORTED is
 * also returned if far more operations than `messages` would have to be examined, or if a plan has
 * more than `operations`. */
int strag_profile_attempt(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, const struct strag_attempt *attempt,
                          struct strag_profile **profile, struct strag_error *err);

/**
 * Estimate the same algorithm with another number of blocks, without examining messages. More
 * segments of a pipeline only repeat its steady rounds.
 *
 * @param operations  as in strag_attempt
 * @param[out] profile  the caller's to free; NULL if the estimate cannot be made in this way
 * @return STRAG_OK, STRAG_ERR_UNSUPPORTED if the plan is too long, or STRAG_ERR_MEMORY
 */
int strag_profile_resize(const struct strag_profile *from, int blocks, int operations,
                         struct strag_profile **profile, struct strag_error *err);

int strag_profile_rounds(const struct strag_profile *profile);

/** NULL is allowed. */
void strag_profile_free(struct strag_profile *profile);

/** The end, in seconds, of the parts [first, end) if they begin at `begin`, without the delay. */
double strag_profile_end(const struct strag_profile *profile, int first, int end, double begin,
                         double bytes);

/** Seconds from the first rank's arrival to the last one's end, for a vector of `bytes` bytes. */
double strag_profile_seconds(const struct strag_profile *profile, double bytes);

/**
 * Estimate in mode `clocks`. The time that this takes grows with the number of messages and of
 * flows that share links, and the memory with ranks, links and the hops in flight.
 *
 * @param bytes         sizes of the vector
 * @param sizes         how many
 * @param[out] seconds  one per size
 * @return as strag_profile_create
 */
int strag_cost_clocks(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                      const struct strag_model *model, const size_t *bytes, int sizes,
                      double *seconds, struct strag_error *err);

#endif
