/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all candidates of a problem are priced on, made once for them: the links, room for what
 * these carry, and the ranks that are examined if there are too many for all of them.
 */
#ifndef STRAG_PLATFORM_H
#define STRAG_PLATFORM_H

#include "model/network.h"
#include "model/sample.h"

/* What a link carries. */
struct strag_load {
    double busy;      /* seconds in the round at hand, per byte of the vector */
    double total;     /* bytes in all rounds, per byte of the vector */
    double pace;      /* strag_platform_pace, once it was asked for; else 0 */
    uint32_t round;   /* that `busy` belongs to */
    uint32_t traffic; /* that `total` belongs to */
};

/* A message as it was gathered. */
struct strag_gathered {
    int32_t from, to;
    int32_t next;         /* of its round; -1: it is the last one */
    uint32_t before : 30; /* messages of the round that its receiver reads before it */
    uint32_t kind : 2; /* enum strag_kind: what its receiver does; STRAG_SEND: nothing is known */
    double amount;     /* bytes of it per byte of the vector */
};

/* Of a rank in a round: the messages that it sends to other hosts [0], and receives from there [1].
 * Some to the same rank one behind the other, as if a range passes the end of the vector, are
 * one. */
struct strag_posts {
    int count[2], peer[2]; /* peer: of the last one; all zero at first */
};

/** @return how many there were in the same direction before this one */
static inline int strag_post(struct strag_posts *posts, const struct strag_op *op)
{
    const int way = op->kind != STRAG_SEND;
    posts->count[way] += posts->count[way] == 0 || posts->peer[way] != op->peer;
    posts->peer[way] = op->peer;
    return posts->count[way] - 1;
}

/* Of a round that is examined. */
struct strag_round {
    int round;
    int count, first, last; /* of its messages; -1: it has none */
    int heaviest;           /* takes the longest, as far as the model's bandwidths tell */
    double heaviest_takes;

    int poster; /* the rank whose posts are counted */
    struct strag_posts posts;
    int posted; /* the most of any rank, beyond one send and one receive */
};

/* A message of the round that was examined last. For a vector of s bytes it takes latency + s *
 * per_byte seconds, and its receiver then reduces for s * reducing seconds. */
struct strag_message {
    int from, to;
    double latency, per_byte, reducing;
    size_t hops_end; /* its hops end here in those of the round, where the next one's begin */
};

/* Rounds that are gathered together at most; and from the first to the last one. */
enum { STRAG_PLATFORM_ROUNDS = 32, STRAG_PLATFORM_SPAN = 128 };

struct strag_platform {
    struct strag_links *links;
    struct strag_load *load; /* [link], if it stands for itself; behind them a sample's classes */
    uint32_t rounds;         /* examined so far, for all candidates */
    uint32_t traffics;       /* candidates so far */
    int64_t examined;        /* operations and messages so far, for all candidates */
    struct strag_sample_units units; /* what samples are made of; made when it is first asked for */
    struct strag_sample sample;
    int late; /* ranks that are among its own because they are late */

    /* Room that candidates use one after the other: for the messages of rounds that are gathered
     * together, and for those of one round, with their hops. */
    int gathered_room, messages_room;
    struct strag_gathered *gathered;
    struct strag_message *messages;
    size_t hops_room;
    struct strag_hop *hops;
};

/**
 * @param problem    of which the blocks do not matter
 * @param[out] platform  the caller's to free with strag_platform_free; untouched on failure
 * @return STRAG_OK, or as strag_links_of
 */
int strag_platform_create(const struct strag_problem *problem, const struct strag_model *model,
                          struct strag_platform **platform, struct strag_error *err);

/**
 * The ranks to examine; valid until the next call.
 *
 * @param problem  as it was given, or an instance's: then late ranks are among them only if its
 * algorithm needs one
 * @return NULL: out of memory
 */
const struct strag_sample *strag_platform_sample(struct strag_platform *platform,
                                                 const struct strag_problem *problem, int ranks);

/** Seconds per byte of a link, or of a sample's class. */
static inline double strag_platform_pace(const struct strag_platform *platform, int link)
{
    int nlinks = platform->links->nlinks;
    return link < nlinks ? 1 / strag_link_bandwidth(platform->links, link)
                         : platform->sample.pace[link - nlinks];
}

/** NULL is allowed. */
void strag_platform_free(struct strag_platform *platform);

#endif
