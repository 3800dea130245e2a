/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traffic of a plan on a network, round by round: which messages, over which links, and how
 * long each takes while the round's other messages are under way. For cost.c.
 */
#ifndef STRAG_TRAFFIC_H
#define STRAG_TRAFFIC_H

#include "model/network.h"
#include "model/symmetry.h"
#include "plan/algorithm.h"

/* A message. For a vector of s bytes it takes latency + s * per_byte seconds, both known when its
 * round has been looked at, and its receiver then reduces for s * reducing seconds. */
struct strag_message {
    int from, to;
    double amount; /* bytes of it per byte of the vector */
    double latency, per_byte, reducing;
    size_t hops_end; /* its hops end here in those of the round, where the next one's begin */
};

/* Of one round. */
struct strag_messages {
    int count, room;
    struct strag_message *list;
    int heaviest; /* takes the longest, as far as the model's bandwidths tell */
    double heaviest_takes;
};

/* What a link carries. */
struct strag_load {
    double pace;    /* seconds per byte, from the link's bandwidth */
    double busy;    /* seconds in the round at hand, per byte of the vector */
    double total;   /* bytes in all rounds, per byte of the vector */
    uint32_t round; /* that `busy` belongs to */
};

/* What is priced: an algorithm's plans for a problem, on the links of its topology. */
struct strag_subject {
    struct strag_instance instance;
    struct strag_links *links;
    struct strag_builder *visitor;
};

/**
 * @param visit  is given the operations that strag_subject_visit looks at
 * @return STRAG_OK, the refusal of the algorithm, or STRAG_ERR_MEMORY; then nothing is left
 */
int strag_subject_open(struct strag_subject *subject, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, const struct strag_model *model,
                       strag_visit_fn *visit, void *context, struct strag_error *err);

/** Visit a rank's operations in some rounds. */
void strag_subject_visit(struct strag_subject *subject, int rank, struct strag_rounds rounds);

/** @return status, or what was wrong with the algorithm if status is STRAG_OK */
int strag_subject_close(struct strag_subject *subject, int status, struct strag_error *err);

enum { STRAG_TRAFFIC_ROUNDS = 32 };

struct strag_traffic {
    struct strag_subject subject;
    struct strag_symmetry symmetry; /* messages are those of the ranks that stand for others */
    int receiver;                   /* whose operations are being visited */
    bool failed;                    /* out of memory for messages */

    struct strag_rounds gathered;
    struct strag_messages messages[STRAG_TRAFFIC_ROUNDS]; /* [round - gathered.first] */

    size_t hops_room;
    struct strag_hop *hops; /* of all messages of the round that was looked at last */

    uint32_t rounds;         /* looked at so far */
    struct strag_load *load; /* [link], if it stands for itself */
};

static inline struct strag_messages *strag_traffic_messages(struct strag_traffic *traffic,
                                                            int round)
{
    return &traffic->messages[round - traffic->gathered.first];
}

/** The rank that stands for this one. */
static inline int strag_traffic_like(const struct strag_traffic *traffic, int rank)
{
    return traffic->symmetry.rank ? traffic->symmetry.rank[rank] : rank;
}

/** @return STRAG_OK, the refusal of the algorithm, or STRAG_ERR_MEMORY; then nothing is left */
int strag_traffic_open(struct strag_traffic *traffic, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, const struct strag_model *model,
                       struct strag_error *err);

/**
 * Note what the ranks receive in rounds that will be looked at, for as many as there is room for.
 *
 * @param rounds  at least one; traffic->gathered then says which
 */
int strag_traffic_gather(struct strag_traffic *traffic, struct strag_rounds rounds,
                         struct strag_error *err);

/** What one of a gathered round's messages takes where no other uses its links: a long one, so that
 * the round will not take much less. An empty round has none: that takes nothing. */
struct strag_message strag_traffic_alone(struct strag_traffic *traffic, int round);

/**
 * Look at a round that was gathered: once, since the loads on links are added up.
 *
 * @param repeats  how many rounds carry its traffic
 */
int strag_traffic_round(struct strag_traffic *traffic, int round, int repeats,
                        struct strag_error *err);

/** As strag_subject_close. */
int strag_traffic_close(struct strag_traffic *traffic, int status, struct strag_error *err);

#endif
