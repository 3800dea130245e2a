/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is there? In each call the ranks agree on one answer: all, or all but one, for whom the
 * others do not wait.
 *
 * Three ranks have a part in that: the coordinator, the deputy, and the witness. Whoever arrives
 * says so to the coordinator and to the deputy. Five ranks, in the order of time; rank 3 comes last
 * and is not waited for:
 *
 *     rank 4    arrives      here -> 0, 1
 *     rank 0    arrives      here -> 1, 2     the coordinator; this also asks for their votes
 *     rank 2    arrives      here -> 0, 1     the witness; grant -> 0: the coordinator may decide
 *     rank 1    arrives      here -> 0        the deputy; grant -> 0, leave -> 2
 *     rank 0    has waited   decision "all but 3" -> 1, 2, 3, 4
 *     rank 3    arrives      here -> 0, 1     and finds the decision
 *
 * Were the coordinator alone to decide, nobody could go ahead without it: it cannot say that it is
 * not there. So decisions are for the one of two candidates that has two of three votes, those of
 * the coordinator, the deputy and the witness. The coordinator is a candidate from its arrival on,
 * with its own vote. The deputy votes for it as soon as it has heard of it; if all others are there
 * and the coordinator has not come in time, it votes for itself instead, and asks the witness
 * (take). The witness votes for whoever asks it first. Each votes once in a call, so there is
 * exactly one decision; and it waits for two ranks only where two are missing.
 *
 * All messages of a call are received in it, by ranks that may have to wait for them at its end
 * (those of a rank that came late). So nothing is in flight between calls but what ranks say that
 * are in the next call already; that is kept for it.
 *
 * Messages between two ranks have to arrive in order. No clock and no messages in here: the caller
 * has both. test_arrivals explores all orders of arrivals, messages and timers.
 */
#ifndef STRAG_ARRIVALS_H
#define STRAG_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STRAG_ARRIVALS_RANKS_MIN = 3 };

/* Answers other than a rank. */
enum { STRAG_ARRIVALS_ALL = -1, STRAG_ARRIVALS_UNDECIDED = -2 };

enum strag_arrivals_kind {
    STRAG_ARRIVALS_HERE,   /* I am; from the coordinator: and I ask for your vote */
    STRAG_ARRIVALS_GRANT,  /* you have my vote */
    STRAG_ARRIVALS_DENY,   /* somebody else has it */
    STRAG_ARRIVALS_TAKE,   /* from the deputy: I ask for your vote */
    STRAG_ARRIVALS_LEAVE,  /* from the deputy: I shall not */
    STRAG_ARRIVALS_DECIDE, /* this is the answer */
};

/* Sent as it is between processes of the same program. */
struct strag_arrivals_message {
    uint32_t call; /* from 0, modulo 2^32 */
    int32_t kind;  /* enum strag_arrivals_kind */
    int32_t rank;  /* DECIDE: the one not waited for, or STRAG_ARRIVALS_ALL */
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

/* In each call: begin; receive and expire as long as a message is wanted, until there is a
 * decision; then what was decided; after it receive again, until no message is wanted. The caller
 * gives `send` and its context each time, since they may change. */
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

/** Is this rank waiting for one last rank, without which it could go ahead? Time counts from when
 * this is first so; once it was long enough, the caller calls strag_arrivals_expire. */
bool strag_arrivals_waits_for_one(const struct strag_arrivals *arrivals);
void strag_arrivals_expire(struct strag_arrivals *arrivals, const struct strag_arrivals_port *port);

/** A rank, STRAG_ARRIVALS_ALL, or STRAG_ARRIVALS_UNDECIDED. */
int strag_arrivals_decision(const struct strag_arrivals *arrivals);

/** Is there a message of this call that this rank has not received? Without a decision there is. */
bool strag_arrivals_wants(const struct strag_arrivals *arrivals);

#endif
