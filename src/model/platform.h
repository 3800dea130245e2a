/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the pricing of all candidates of a problem has in common, made once: the links, memory for
 * their loads, and the sample of ranks if there are too many to examine all.
 */
#ifndef STRAG_PLATFORM_H
#define STRAG_PLATFORM_H

#include "model/network.h"
#include "model/sample.h"

/* The load of a link. */
struct strag_load {
    double busy;      /* seconds in the current round, per byte of the vector */
    double total;     /* bytes in all rounds, per byte of the vector */
    double pace;      /* strag_platform_pace once computed, else 0 */
    uint32_t round;   /* to which `busy` belongs */
    uint32_t traffic; /* to which `total` belongs */
};

/* A gathered message. */
struct strag_gathered {
    int32_t from, to;
    int32_t next;         /* in its round; -1 after the last one */
    uint32_t before : 30; /* messages of the round that its receiver reads before it */
    uint32_t kind : 2;    /* enum strag_kind: what its receiver does; STRAG_SEND if not known */
    double amount;        /* bytes of it per byte of the vector */
};

/* Messages of a rank in a round: those that it sends to other hosts [0], and receives from there
 * [1]. Consecutive ones to the same rank, as when a range wraps at the vector's end, count as
 * one. */
struct strag_posts {
    int count[2], peer[2]; /* peer: of the last message; all 0 at first */
};

/** @return how many messages came before this one in its direction */
static inline int strag_post(struct strag_posts *posts, const struct strag_op *op)
{
    const int way = op->kind != STRAG_SEND;
    posts->count[way] += posts->count[way] == 0 || posts->peer[way] != op->peer;
    posts->peer[way] = op->peer;
    return posts->count[way] - 1;
}

/** @return how many messages there are beyond one that is sent and one that is received */
static inline int strag_posts_further(const struct strag_posts *posts)
{
    const int *count = posts->count;
    return (count[0] > 1 ? count[0] - 1 : 0) + (count[1] > 1 ? count[1] - 1 : 0);
}

/* A round that is examined. */
struct strag_round {
    int round;
    int count, first, last; /* messages: indices, or -1 without messages */
    int heaviest;           /* the message that takes longest by the model's bandwidths */
    double heaviest_takes;

    int poster; /* the rank whose posts are counted */
    struct strag_posts posts;
    int posted; /* the most posts of a rank, beyond one send and one receive */
};

/* A message of the round that was examined last. For a vector of s bytes it takes latency + s *
 * per_byte seconds, and its receiver then reduces for s * reducing seconds. */
struct strag_message {
    int from, to;
    double latency, per_byte, reducing;
    size_t hops_end; /* end of its hops in the round's; the next message's begin there */
};

/* The most rounds that are gathered together, and from the first to the last of them. */
enum { STRAG_PLATFORM_ROUNDS = 32, STRAG_PLATFORM_SPAN = 128 };

struct strag_platform {
    struct strag_links *links;
    struct strag_load *load;         /* [link], followed by the sample's classes */
    uint32_t rounds;                 /* examined so far, for all candidates */
    uint32_t traffics;               /* candidates so far */
    int64_t examined;                /* operations and messages so far, for all candidates */
    struct strag_sample_units units; /* of samples; made when first needed */
    struct strag_sample sample;
    int late; /* ranks that the sample has because they are late */

    /* Memory that candidates use one after the other: for the messages of rounds that are gathered
     * together, and for those of one round, with their hops. */
    int gathered_room, messages_room;
    struct strag_gathered *gathered;
    struct strag_message *messages;
    size_t hops_room;
    struct strag_hop *hops;
};

/**
 * @param problem    its blocks do not matter
 * @param[out] platform  the caller's to free with strag_platform_free; untouched on failure
 * @return STRAG_OK, or as strag_links_of
 */
int strag_platform_create(const struct strag_problem *problem, const struct strag_model *model,
                          struct strag_platform **platform, struct strag_error *err);

/**
 * Get the ranks to examine; valid until the next call.
 *
 * @param problem  as it was given, or an instance's, whose late ranks are included only if its
 * algorithm needs a straggler
 * @return NULL if out of memory
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
