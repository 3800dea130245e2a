/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * n ranks in one process that run a plan with n engines over the loopback network.
 *
 * Between each engine and its surroundings stand a transport and a reducer that watch it: addresses
 * and lengths of messages, buffers that change while a message reads them, messages that are read
 * where they arrived, how much temporary space is taken, allocations of the engine itself. The
 * reducer's operator is not commutative and not associative, so that the result says in which order
 * it came about.
 *
 * The first thing found wrong on a rank is kept in its `problem`; the tests look there.
 */
#ifndef STRAG_TEST_WORLD_H
#define STRAG_TEST_WORLD_H

#include "expressions.h"
#include "loopback.h"
#include "run/engine.h"
#include "support.h"

enum { PENDING_MAX = 64, NEVER = -1 };

/* A call, and what happens to it. */
struct call_options {
    size_t count;
    size_t extent; /* bytes from one element to the next; an element has sizeof(uint64_t) */
    struct strag_lane lanes[STRAG_LANES];
    int host; /* ranks on a host; lane 1 leads to other hosts. 0: all messages are in lane 0 */
    bool in_place;
    size_t gap;        /* elements of temporary space behind a segment */
    bool one_in_place; /* of the lanes: only lane 0 reads messages where they arrive */
    struct strag_loopback_options network;
    unsigned polls; /* above 0: a reduction ends after being asked 1 .. polls times */

    /* On this rank (or NEVER) the reducer fails, at one of: */
    int reducer_fails_on;
    long fail_reduction; /* this reduction, counted from 1; 0: none */
    bool fail_late;      /* ... when it is asked whether it is done; needs polls */
    bool fail_copy, fail_allocate;
};

struct member;

struct watched_transport {
    struct strag_transport base;
    struct member *member;
};

struct watched_reducer {
    struct strag_reducer base;
    struct member *member;
};

/* A reduction that is not done yet. */
struct reduction {
    bool active, fails;
    unsigned polls;
    void *out;
    const void *left, *right;
    size_t elements;
};

/* One rank. */
struct member {
    struct world *world;
    int rank;
    struct strag_engine *engine;
    uint8_t *lane_of;                                 /* [rank] */
    struct watched_transport transport, into_buffers; /* this one has nothing in place */
    struct watched_reducer reducer;
    struct strag_transport *endpoint;
    struct rng rng;

    unsigned char *input, *output; /* the vector begins MARGIN bytes further */
    bool started;
    int status;
    char problem[200];
    long events;              /* messages posted and completed, reductions begun and ended */
    long library_allocations; /* by the engine, in this call */

    void *space;
    size_t space_elements;
    int allocations, releases; /* of temporary space, in this call */
    int lost;                  /* messages into it that could not be cancelled, in this call */
    void *lost_space[8];       /* a message may still arrive there */
    int nlost;
    long reductions;
    struct reduction pending[PENDING_MAX];

    struct flight *flights;
    long flying;
    long try_sends; /* messages sent in order, in this call */
};

struct world {
    int n;
    struct strag_plan *const *plans;
    struct strag_loopback *network;
    struct call_options options;
    uint64_t values; /* seed of the inputs */
    struct member *members;
};

/** Engines for all plans, which must outlive the world; the test fails if they cannot be made. */
struct world *world_create(struct strag_plan *const *plans, int n, int depth);
void world_free(struct world *world);

/** Usual options: everything works, at once. */
struct call_options world_options(size_t count);

/** Fill the buffers and make a network, so that the ranks may start. */
void world_begin(struct world *world, const struct call_options *options, struct rng *rng);

/**
 * Move one rank on; the first time, start its call.
 * @return its status
 */
int world_step(struct member *member);

/** Move all on in random order until each has ended; a rank that ends with an error is killed on
 *  the network. @return false if nothing happens any more although some have not ended */
bool world_run(struct world *world, struct rng *rng);

/** The network, the buffers and lost temporary space go. */
void world_end(struct world *world);

/** Does every rank that ended well hold what the expressions say, and nothing else in its buffers?
 *  Notes a problem where not. */
void world_check_result(struct world *world, const struct strag_expressions *expressions);

/** Did every rank send exactly what its plan says? Notes a problem where not. */
void world_check_traffic(struct world *world);

/** Nothing left in flight, all temporary space given back. Notes a problem where not. */
void world_check_clean(struct world *world);

/** How messages between two ranks are cut. */
const struct strag_lane *world_lane(const struct world *world, int a, int b);

/** The first problem of any rank, or NULL. */
const char *world_problem(const struct world *world);

/** Messages that rank's plan posts in this call, sends and receives. */
long world_messages(const struct world *world, int rank);

/** left (op) right */
uint64_t world_reduce(uint64_t left, uint64_t right);

/** The first problem, a status, or a hang? The test fails with `text` in front. */
void world_assert_good(const struct world *world, bool ended, const char *text);

/** Run the call that has begun to its end, and check all of it. */
void world_run_well(struct world *world, const struct strag_expressions *expressions,
                    struct rng *rng, const char *text);

/** The options in words. @return buffer */
char *world_describe(const struct world *world, char *buffer, size_t size);

#endif
