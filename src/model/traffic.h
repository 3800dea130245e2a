/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traffic of a plan on a network, round by round: which messages, over which links, and how
 * long each takes while the round's other messages are in flight. For cost.c.
 */
#ifndef STRAG_TRAFFIC_H
#define STRAG_TRAFFIC_H

#include "model/platform.h"
#include "plan/algorithm.h"

/* What is priced: an algorithm's plans for a problem, on the links of its topology. */
struct strag_subject {
    struct strag_instance instance;
    struct strag_links *links; /* somebody else's */
    struct strag_builder *visitor;
    double chained; /* the share of rounds that need what earlier ones brought: of the others an
                       `overhead` at either end is all that shows of a message's latency */
};

/** What a message between hosts adds to its round, of a route's latency. */
static inline double strag_subject_latency(const struct strag_subject *subject, double route)
{
    const double posting = 2 * subject->links->model.overhead;
    return subject->chained * route + (1 - subject->chained) * (posting < route ? posting : route);
}

/**
 * @param links  of the problem's topology and state; must outlive the subject
 * @param visit  is given the operations that strag_subject_visit looks at
 * @return STRAG_OK, the refusal of the algorithm, or STRAG_ERR_MEMORY; then nothing is left
 */
int strag_subject_open(struct strag_subject *subject, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, struct strag_links *links,
                       strag_visit_fn *visit, void *context, struct strag_error *err);

/** Visit a rank's operations in some rounds. */
void strag_subject_visit(struct strag_subject *subject, int rank, struct strag_rounds rounds);

/** @return status, or what was wrong with the algorithm if status is STRAG_OK */
int strag_subject_close(struct strag_subject *subject, int status, struct strag_error *err);

/* Of a rank (strag_model.written_once): the range of blocks that it has written last, and the
 * messages that it has read in a round. */
struct strag_written {
    int first, count; /* 0: none, or it has changed since */
    int round;
    int read, read_round; /* the round, plus 1 */
};

struct strag_traffic {
    struct strag_subject subject;
    struct strag_platform *platform;
    const struct strag_sample *sample; /* messages are those of some ranks; NULL: of all */
    int receivers;                     /* whose messages are examined */
    int rank;                          /* whose operations are being visited */
    bool failed;                       /* out of memory for messages */
    bool counts_only;                  /* operations are counted, and no messages recorded */
    int first_seen;                    /* the lowest round of an operation that was counted */
    int64_t examined, examined_least;  /* operations of a rank in rounds that stand for others,
                                          the most and the least of those that were counted */
    int64_t visited, visited_most;     /* operations; if there are more, it is given up */
    double pace, local_pace; /* seconds per byte between hosts, and within one, by the model */
    double posting; /* seconds of the latency of the messages at hand: strag_model.overhead */
    double moved, leaving; /* bytes between hosts so far, and the same by how likely they leave a
                              group of hosts; without switches and grids only */
    bool in_order;         /* these count */
    double busiest;        /* bytes over the busiest link so far */
    struct strag_written *written; /* [rank]; NULL: messages are not written once for all */

    /* What was gathered together: the rounds that are examined, in order, and how many messages
     * these have; messages of the round that was examined last. */
    int rounds, gathered, messages;
    struct strag_round round[STRAG_PLATFORM_ROUNDS];
    int16_t
        number_of[STRAG_PLATFORM_SPAN]; /* [rounds behind the first]: which of these; -1: none */
};

/** @return STRAG_OK, the refusal of the algorithm, or STRAG_ERR_MEMORY; then nothing is left */
int strag_traffic_open(struct strag_traffic *traffic, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, struct strag_platform *platform,
                       struct strag_error *err);

/**
 * Look at some ranks only, unless there are few enough.
 *
 * @param messages  about this many are examined; 8 times as many operations are refused
 * @param rounds    that will be examined
 * @param at_once   messages that a rank receives in a round, about
 * @return STRAG_OK, STRAG_ERR_MEMORY, or STRAG_ERR_UNSUPPORTED if few ranks have too many
 */
int strag_traffic_narrow(struct strag_traffic *traffic, int messages, int rounds, int64_t at_once,
                         struct strag_error *err);

/**
 * Before anything is visited: will it be given up as strag_traffic_narrow says, judging by
 * one rank?
 *
 * @param visits      of each rank that is looked at
 * @param operations  that it has in the rounds that are visited
 * @return STRAG_OK, or STRAG_ERR_UNSUPPORTED
 */
int strag_traffic_foresee(const struct strag_traffic *traffic, int64_t visits, int64_t operations,
                          struct strag_error *err);

/** The first round in which a rank has an operation; the number of rounds: in none. */
int strag_traffic_joins(struct strag_traffic *traffic, int rank);

/** How many operations a rank has; once there are more than `most`, as many as were counted. */
int64_t strag_traffic_operations(struct strag_traffic *traffic, int rank, int64_t most);

/**
 * Note what the ranks receive in rounds that will be examined.
 *
 * @param rounds  in ascending order; the last one less than STRAG_PLATFORM_SPAN behind the first
 * @param count   1 to strag_traffic_most
 * @return STRAG_OK, STRAG_ERR_MEMORY, or STRAG_ERR_UNSUPPORTED if more is to be examined than
 *         strag_traffic_narrow allows
 */
int strag_traffic_gather(struct strag_traffic *traffic, const int *rounds, int count,
                         struct strag_error *err);

/** How many rounds may be gathered together. */
int strag_traffic_most(const struct strag_traffic *traffic);

/** What one of a gathered round's messages takes where no other uses its links: a long one, so that
 * the round will not take much less. An empty round has none: that takes nothing.
 * @param number  which of the rounds that were gathered */
struct strag_message strag_traffic_alone(struct strag_traffic *traffic, int number);

/**
 * Look at a round that was gathered: once, since the loads on links are added up. Then
 * traffic->platform->messages are its messages, traffic->messages of them.
 *
 * @param number   which of the rounds that were gathered
 * @param repeats  how many rounds carry its traffic
 */
int strag_traffic_round(struct strag_traffic *traffic, int number, int repeats,
                        struct strag_error *err);

/** As strag_subject_close. */
int strag_traffic_close(struct strag_traffic *traffic, int status, struct strag_error *err);

#endif
