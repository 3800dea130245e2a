/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine runs one rank's plan over a transport and a reducer.
 *
 * It is driven by completions and never waits: strag_engine_progress does what can be done now. A
 * blocking call loops over it; a nonblocking one calls it from a progress hook.
 *
 * Long ranges are cut into segments, so that one segment travels while another is reduced, and an
 * operation of the next round starts as soon as it has the elements it needs. Operations of up to
 * LOOKAHEAD rounds beyond the lowest unfinished one may be active; but a round's sends precede
 * those of later rounds, so that later rounds never take the link away from it.
 *
 * That order protects a rank's own link. But a message sent too early also takes bandwidth from
 * messages for which the rank's next partner still waits, and the partner's link is idle in the
 * other direction meanwhile: 8 hosts that swap halves of 512 KiB by TCP took 1.35 times as long as
 * their links need, since a socket's buffer is sent together with the next round's messages. So if
 * a plan goes from partner to partner (in step), and the lane says so, a rank sends in a round only
 * after it has received all messages of earlier rounds.
 *
 * All of this is the pipeline (pipeline.h). If a transport transfers short messages immediately,
 * vectors of one segment are run without it, one operation after another (in_order.h).
 *
 * Memory is taken when the engine is made or at the start of a call: a few words per operation of
 * the plan, `depth` messages in flight per operation that can be active at once, and per call one
 * temporary buffer of `slots` segments for every lane (a segment has at least one element). A lane
 * needs no buffer if its transport lets messages be read in place: they are reduced from there.
 *
 * A plan for which verify has proved progress cannot hang. A send or recv whose waits are done is
 * posted as soon as its round is the lowest unfinished one, since every active operation has its
 * own `depth`, and only earlier rounds may keep it back. Temporary space of a lane goes to
 * recv_reduce operations in program order, so the first unfinished one always has room for a
 * segment. Verify has proved that the plan needs no more than that. A transport that lets messages
 * be read in place must have room for one from each rank to each other, whatever else it holds.
 */
#ifndef STRAG_ENGINE_H
#define STRAG_ENGINE_H

#include "plan/plan.h"
#include "plan/trace.h"
#include "run/reducer.h"
#include "run/transport.h"

struct strag_engine;

/* One kind of messages, through memory or over a network, and how they are cut. */
struct strag_lane {
    size_t segment;                    /* elements, at least 1; the same on both sides */
    int slots;                         /* segments of temporary space, at least 1 */
    struct strag_transport *transport; /* NULL for the call's */

    /* Messages share links: run plans in step that ask for it (plan->in_step). */
    bool in_step;
};

enum { STRAG_LANES = 2 };

/* One allreduce. */
struct strag_call {
    const void *input; /* the same address as output for MPI_IN_PLACE; else they do not overlap */
    void *output;
    size_t count;                         /* elements in the vector */
    ptrdiff_t extent;                     /* bytes from one element to the next, more than 0 */
    struct strag_lane lanes[STRAG_LANES]; /* their temporary spaces are contiguous */
    const uint8_t *lane_of; /* [rank]: its lane; outlives the call. NULL if all use lane 0 */

    /* Elements of temporary space to leave free behind each segment, for types that reach into the
     * extents of the elements that follow. */
    size_t gap;

    struct strag_transport *transport;
    struct strag_reducer *reducer;
    struct strag_trace *trace; /* records operations; NULL if they are not recorded */
};

/**
 * Prepare to run a plan. The plan must outlive the engine.
 *
 * @param depth  messages in flight for one operation, at least 1; 2 overlaps receiving
 *               and reducing
 * @return STRAG_OK, STRAG_ERR_ARGUMENT or STRAG_ERR_MEMORY
 */
int strag_engine_create(const struct strag_plan *plan, int depth, struct strag_engine **engine,
                        struct strag_error *err);

/** Free an engine that is not running. `engine` may be NULL. */
void strag_engine_free(struct strag_engine *engine);

/**
 * Begin a call; the engine copies `call`. The first strag_engine_progress posts messages.
 *
 * @return STRAG_OK; or an error, and the engine is not running
 */
int strag_engine_start(struct strag_engine *engine, const struct strag_call *call);

/**
 * Do what can be done now.
 *
 * @return STRAG_PENDING if not finished; STRAG_OK if the output is complete, and the input may be
 *         changed; an error if the call has failed: then every message was completed or cancelled,
 *         and the temporary space freed
 */
int strag_engine_progress(struct strag_engine *engine);

/* Calls that were started. */
struct strag_engine_counts {
    unsigned long long calls, in_order; /* all of them, and those without the pipeline */
};

struct strag_engine_counts strag_engine_counts(const struct strag_engine *engine);

#endif
