/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a plan costs on a topology: the link-load model, in two modes.
 *
 *     rounds   A round begins when the one before has ended everywhere, and all its messages are
 *              in flight together. A message takes the latency of its route, plus the longest of
 *              (bytes of the round on a link / the link's bandwidth) over its links, plus the bytes
 *              that its receiver reduces in the round / reduce_bandwidth. The sum of the longest
 *              messages. A rank posts several messages to or from other hosts in a round one after
 *              the other: for the rank with the most, an `overhead` for each but the first one that
 *              it sends, and for each but the first one that it receives. If rounds do not need one
 *              another (strag_claim.chain) a latency counts for those that do, and for the others
 *              two overheads, at most a latency. A straggler holds up the first round that it takes
 *              part in.
 *     clocks   Every rank goes from round to round on its own; a message begins when both ranks are
 *              in its round. Whatever is in flight at the same time shares the links, max-min fair
 *              (flows.h): a simulation, message by message.
 *
 * Where all ranks do the same at the same time both give the same. `rounds` is what selects: it
 * prices identical rounds once, and keeps for all sizes together a `profile`, which is a sum
 * of maxima of straight lines in the vector's size. `clocks` takes its time for every message and
 * every size; it tells what stragglers and slow links really cost.
 *
 * Blocks are taken as exact fractions of the vector, however short.
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
    bool steady;           /* there is one more for each `unit` of blocks more */
    int first_line, lines; /* the longest of these is what one of the rounds takes */
};

/* A straggler that is not the last one: seconds until it is there, and how many parts go without
 * it. */
struct strag_profile_join {
    double delay;
    int before;
};

#define STRAG_JOINS_MAX 4

/* An algorithm's estimate for every size: mode `rounds`. */
struct strag_profile {
    double delay;       /* seconds until the last straggler is there */
    int nparts, before; /* parts; the first `before` ones can go without the straggler */
    int njoins;         /* of those before the last one, in the order of their parts */
    struct strag_profile_join joins[STRAG_JOINS_MAX];
    struct strag_profile_part *parts;
    int nlines;
    struct strag_cost_line *lines;
    int blocks, unit;   /* strag_algorithm.unit; 0: it has none */
    double posting;     /* seconds of its latency that strag_model.overhead adds */
    double units;       /* the vector's length, in units as long as the one in its middle */
    int64_t operations; /* of a rank's plan, where that was asked for */
    double distance;    /* of the bytes between hosts the share that leaves a group of hosts, beyond
                         * what neighbours would send out of it, if groups are of any size and hosts
                         * in their order; 0 where switches or a grid tell */
    double busiest;     /* bytes over the busiest link in the whole plan, per byte of the vector */
};

/**
 * Estimate an algorithm in mode `rounds`, for all sizes at once. Takes memory in proportion to
 * ranks, links, and the hops of one round; O(messages * hops) time, if rounds that the
 * algorithm knows to be identical are priced once.
 *
 * @param problem  with a topology, or without: every rank on a host of its own, on one switch
 * @param[out] profile  the caller's to free with strag_profile_free; untouched on failure
 * @return STRAG_OK, the refusal of the algorithm, or STRAG_ERR_MEMORY
 */
int strag_profile_create(const struct strag_algorithm *algorithm,
                         const struct strag_problem *problem, const struct strag_model *model,
                         struct strag_profile **profile, struct strag_error *err);

/* An estimate while it is made. */
struct strag_partial_profile {
    const struct strag_profile *so_far;
    struct strag_cost_line rest; /* the other rounds take that at least */
};

/** A line that the estimate, once it is finished, is nowhere shorter than. It is near it at a size.
 */
struct strag_cost_line strag_partial_profile_line(const struct strag_partial_profile *partial,
                                                  double bytes);

/** Is the estimate known well enough to be of no use? Asked again and again while it is made. */
typedef bool strag_prune_fn(void *context, const struct strag_partial_profile *partial);

struct strag_platform;

/* How an estimate is made, where many are. */
struct strag_attempt {
    struct strag_platform *platform; /* of the problem, but for its blocks */
    int messages;          /* about this many are examined, of some ranks (sample.h) and of some
                              rounds, if there are more; 0: all are examined */
    int operations;        /* a rank's plan may have this many; 0: any number */
    strag_prune_fn *prune; /* NULL: it is finished in any case */
    void *context;         /* for that */
    const struct strag_progress *progress; /* is given how many rounds are done; NULL: nobody is */
};

/** As strag_profile_create; but if it is pruned, `profile` is set to NULL, and
 * STRAG_ERR_UNSUPPORTED may also be said where far more operations than `messages` would have to be
 * examined, or a plan has more than `operations`. */
int strag_profile_attempt(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, const struct strag_attempt *attempt,
                          struct strag_profile **profile, struct strag_error *err);

/**
 * The estimate of the same algorithm with another count of blocks, without looking at a message: of
 * a pipeline, more segments make it longer, and nothing else.
 *
 * @param operations  as in strag_attempt
 * @param[out] profile  the caller's to free; NULL: it cannot be had that way
 * @return STRAG_OK, STRAG_ERR_UNSUPPORTED where the plan is too long, or STRAG_ERR_MEMORY
 */
int strag_profile_resize(const struct strag_profile *from, int blocks, int operations,
                         struct strag_profile **profile, struct strag_error *err);

int strag_profile_rounds(const struct strag_profile *profile);

/** NULL is allowed. */
void strag_profile_free(struct strag_profile *profile);

/** When the parts [first, end) are over if they begin at `begin` seconds, without the delay. */
double strag_profile_end(const struct strag_profile *profile, int first, int end, double begin,
                         double bytes);

/** Seconds from the first rank's arrival to the last one's end, for a vector of `bytes` bytes. */
double strag_profile_seconds(const struct strag_profile *profile, double bytes);

/**
 * Estimate in mode `clocks`. The time this takes grows with the messages and the flows that share
 * links, the memory with ranks, links and the hops in flight.
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
