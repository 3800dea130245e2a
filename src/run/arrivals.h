/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks have arrived? In each call the ranks agree on one decision: all, or all but one, for
 * which the others do not wait.
 *
 * Three ranks have a special role: the coordinator, the deputy, and the witness. A rank that
 * arrives tells the coordinator and the deputy. Five ranks, in the order of time; rank 3 comes last
 * and is not waited for:
 *
 *     rank 4    arrives      here -> 0, 1
 *     rank 0    arrives      here -> 1, 2     the coordinator; this also asks for their votes
 *     rank 2    arrives      here -> 0, 1     the witness; grant -> 0: the coordinator may decide
 *     rank 1    arrives      here -> 0        the deputy; grant -> 0, leave -> 2
 *     rank 0    has waited   decision "all but 3" -> 1, 2, 3, 4
 *     rank 3    arrives      here -> 0, 1     and finds the decision
 *
 * If only the coordinator could decide, the ranks could never go ahead without it: it cannot report
 * its own absence. So the coordinator and the deputy are candidates, and the one with two of three
 * votes decides: those of the coordinator, the deputy and the witness. The coordinator votes for
 * itself when it arrives. The deputy votes for it as soon as it has a message from it; if all other
 * ranks have arrived and the coordinator has not come in time, the deputy votes for itself instead,
 * and asks the witness (take). The witness votes for the candidate that asks first. Each votes once
 * in a call, so there is exactly one decision; it waits for two ranks only if two are missing.
 *
 * All messages of a call are received in it; at its end a rank may have to wait for those of a rank
 * that came late. So the only messages in flight between calls are from ranks that are already in
 * the next call; they are kept for it.
 *
 * Messages between two ranks have to arrive in order. This file has no clock and sends no messages:
 * the caller does both. test_arrivals explores all orders of arrivals, messages and timers.
 */
#ifndef STRAG_ARRIVALS_H
#define STRAG_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STRAG_ARRIVALS_RANKS_MIN = 3 };

/* Decisions other than a rank. */
enum { STRAG_ARRIVALS_ALL = -1, STRAG_ARRIVALS_UNDECIDED = -2 };

enum strag_arrivals_kind {
    STRAG_ARRIVALS_HERE,   /* the sender has arrived; the coordinator also asks for a vote */
    STRAG_ARRIVALS_GRANT,  /* the receiver has the sender's vote */
    STRAG_ARRIVALS_DENY,   /* the other candidate has it */
    STRAG_ARRIVALS_TAKE,   /* the deputy asks the witness for its vote */
    STRAG_ARRIVALS_LEAVE,  /* the deputy will not ask the witness */
    STRAG_ARRIVALS_DECIDE, /* the decision */
};

/* Sent as it is between processes of the same program. */
struct strag_arrivals_message {
    uint32_t call; /* from 0, modulo 2^32 */
    int32_t kind;  /* enum strag_arrivals_kind */
    int32_t rank;  /* DECIDE: the rank not waited for, or STRAG_ARRIVALS_ALL */
};

/* Three different ranks; the same for all ranks in a call. */
struct strag_arrivals_roles {
    int32_t coordinator, deputy, witness;
};

struct strag_arrivals;

/** Send a message, without waiting. */
typedef void strag_arrivals_send(void *context, int to,
                                 const struct strag_arrivals_message *message);

/** Bytes of a rank's state, which may be copied. @param n  at least STRAG_ARRIVALS_RANKS_MIN */
size_t strag_arrivals_bytes(int n);

/** Before the first call. @param arrivals  the caller's memory, strag_arrivals_bytes(n) */
void strag_arrivals_init(struct strag_arrivals *arrivals, int n, int rank);

/* In each call: begin; receive and expire until there is a decision; do what was decided; then
 * receive again until no message is wanted. The caller gives `send` and its context each time,
 * since they may change. */
struct strag_arrivals_port {
    strag_arrivals_send *send;
    void *context;
};

/** This rank is in the next call. */
void strag_arrivals_begin(struct strag_arrivals *arrivals, const struct strag_arrivals_roles *roles,
                          const struct strag_arrivals_port *port);

/** A message has come. */
void strag_arrivals_receive(struct strag_arrivals *arrivals, int from,
                            const struct strag_arrivals_message *message,
                            const struct strag_arrivals_port *port);

/** Is this rank waiting for one last rank, without which it could go ahead? The caller measures the
 * time since this first became true, and calls strag_arrivals_expire when it is long enough. */
bool strag_arrivals_waits_for_one(const struct strag_arrivals *arrivals);
void strag_arrivals_expire(struct strag_arrivals *arrivals, const struct strag_arrivals_port *port);

/** A rank, STRAG_ARRIVALS_ALL, or STRAG_ARRIVALS_UNDECIDED. */
int strag_arrivals_decision(const struct strag_arrivals *arrivals);

/** Does this rank still have to receive a message of this call? It does until the decision. */
bool strag_arrivals_wants(const struct strag_arrivals *arrivals);

#endif
