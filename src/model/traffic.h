/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traffic of a plan on a network, round by round: its messages, their links, and how long each
 * takes while the round's other messages are in flight. For cost.c.
 */
#ifndef STRAG_TRAFFIC_H
#define STRAG_TRAFFIC_H

#include "model/platform.h"
#include "plan/algorithm.h"

/* The subject of pricing: an algorithm's plans for a problem, on the links of its topology. */
struct strag_subject {
    struct strag_instance instance;
    struct strag_links *links; /* owned by the caller */
    struct strag_builder *visitor;
    double chained; /* share of rounds that need data from earlier ones; in the others only an
                       `overhead` at either end shows of a message's latency */
};

/** The part of a route's latency that a message between hosts adds to its round. */
static inline double strag_subject_latency(const struct strag_subject *subject, double route)
{
    const double posting = 2 * subject->links->model.overhead;
    return subject->chained * route + (1 - subject->chained) * (posting < route ? posting : route);
}

/**
 * @param links  of the problem's topology and state; must outlive the subject
 * @param visit  called with the operations that strag_subject_visit visits
 * @return STRAG_OK, the refusal of the algorithm, or STRAG_ERR_MEMORY; then nothing is left
 */
int strag_subject_open(struct strag_subject *subject, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, struct strag_links *links,
                       strag_visit_fn *visit, void *context, struct strag_error *err);

/** Visit a rank's operations in some rounds. */
void strag_subject_visit(struct strag_subject *subject, int rank, struct strag_rounds rounds);

/** @return status, or the algorithm's error if status is STRAG_OK */
int strag_subject_close(struct strag_subject *subject, int status, struct strag_error *err);

/* The range of blocks that a rank has written last (strag_model.written_once), and the messages
 * that it has read in a round. */
struct strag_written {
    int first, count; /* count is 0 if there is none, or if it has changed since */
    int round;
    int read, read_round; /* read_round is the round plus 1 */
};

struct strag_traffic {
    struct strag_subject subject;
    struct strag_platform *platform;
    const struct strag_sample *sample; /* ranks whose messages are examined; NULL for all */
    int receivers;                     /* number of ranks whose messages are examined */
    int rank;                          /* the rank whose operations are being visited */
    bool failed;                       /* out of memory for messages */
    bool counts_only;                  /* count operations, and record no messages */
    int first_seen;                    /* the lowest round of an operation that was counted */
    int64_t examined, examined_least;  /* operations of a rank in rounds that stand for others: the
                                          most and the least of any counted rank */
    int64_t visited, visited_most;     /* operations; pricing is given up beyond the most */
    double pace, local_pace; /* seconds per byte between hosts and within a host, by the model */
    double posting;          /* seconds of the current round's latency from strag_model.overhead */
    double overlaps;       /* the part of these that passes while the round's bytes are in flight */
    double moved, leaving; /* bytes between hosts so far, and these weighted with their likelihood
                              to leave a group of hosts */
    bool in_order;         /* moved and leaving are counted: there are no switches and no grid */
    double busiest;        /* bytes over the busiest link so far */
    struct strag_written *written; /* [rank]; NULL unless messages are written once */

    /* The numbers of the gathered rounds, which are in order, of their messages, and of messages of
     * the round that was examined last. */
    int rounds, gathered, messages;
    struct strag_round round[STRAG_PLATFORM_ROUNDS];
    int16_t number_of[STRAG_PLATFORM_SPAN]; /* [rounds after the first]: index, or -1 */
};

/** @return STRAG_OK, the refusal of the algorithm, or STRAG_ERR_MEMORY; then nothing is left */
int strag_traffic_open(struct strag_traffic *traffic, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, struct strag_platform *platform,
                       struct strag_error *err);

/**
 * Examine only some ranks, unless there are few enough.
 *
 * @param messages  about this many are examined; 8 times as many operations are refused
 * @param rounds    how many will be examined
 * @param at_once   about how many messages a rank receives in a round
 * @return STRAG_OK, STRAG_ERR_MEMORY, or STRAG_ERR_UNSUPPORTED if even few ranks have too many
 */
int strag_traffic_narrow(struct strag_traffic *traffic, int messages, int rounds, int64_t at_once,
                         struct strag_error *err);

/**
 * Foresee, judging by one rank, whether pricing will be given up for the limit that
 * strag_traffic_narrow has set.
 *
 * @param visits      of each rank that is examined
 * @param operations  that it has in the rounds that are visited
 * @return STRAG_OK, or STRAG_ERR_UNSUPPORTED
 */
int strag_traffic_foresee(const struct strag_traffic *traffic, int64_t visits, int64_t operations,
                          struct strag_error *err);

/** The first round in which a rank has an operation; the number of rounds if there is none. */
int strag_traffic_joins(struct strag_traffic *traffic, int rank);

/** The number of operations of a rank. Counting stops when there are more than `most`. */
int64_t strag_traffic_operations(struct strag_traffic *traffic, int rank, int64_t most);

/**
 * Record what the ranks receive in rounds that will be examined.
 *
 * @param rounds  in ascending order; the last one less than STRAG_PLATFORM_SPAN after the first
 * @param count   1 to strag_traffic_most
 * @return STRAG_OK, STRAG_ERR_MEMORY, or STRAG_ERR_UNSUPPORTED if more is to be examined than
 *         strag_traffic_narrow allows
 */
int strag_traffic_gather(struct strag_traffic *traffic, const int *rounds, int count,
                         struct strag_error *err);

/** How many rounds may be gathered together. */
int strag_traffic_most(const struct strag_traffic *traffic);

/** What the heaviest message of a gathered round takes if no other uses its links: the round hardly
 * takes less. An empty round takes no time.
 * @param number  which of the rounds that were gathered */
struct strag_message strag_traffic_alone(struct strag_traffic *traffic, int number);

/**
 * Examine a round that was gathered: once, since the loads on links are added up. Then
 * traffic->platform->messages has its traffic->messages messages.
 *
 * @param number   which of the rounds that were gathered
 * @param repeats  how many rounds carry its traffic
 */
int strag_traffic_round(struct strag_traffic *traffic, int number, int repeats,
                        struct strag_error *err);

/** As strag_subject_close. */
int strag_traffic_close(struct strag_traffic *traffic, int status, struct strag_error *err);

#endif
