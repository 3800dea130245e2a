/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/arrivals.h"

#include <string.h>

enum { NOBODY = -1 };

/* Messages received for a call: this one, or the next one from ranks that are in it already. */
struct inbox {
    bool take, leave;    /* from the deputy */
    bool decided;        /* by another rank: */
    int32_t by, without; /* `by` that rank; without: a rank, or STRAG_ARRIVALS_ALL */
};

struct strag_arrivals {
    int32_t n, me;
    uint32_t call; /* this one; between calls: the last one */
    struct strag_arrivals_roles roles;
    struct inbox inbox[2]; /* of call c: [c % 2] */

    int32_t missing;           /* ranks that have not come */
    int32_t vote;              /* of this rank, as deputy or witness */
    bool refused_deputy;       /* as witness: it has sent DENY to the deputy */
    int32_t granted, answered; /* as a candidate: votes, and answers received */
    int32_t decision, by;      /* ... and the rank that made it */

    uint32_t come[]; /* bits of ranks known to have come: first to the call with c % 2 = 0, then to
                        the one with 1. A rank that has come to the next call has come to this one,
                        too, though its message was for the next one. */
};

enum { BITS = 32 };

static size_t words_of(int n)
{
    return ((size_t)n + BITS - 1) / BITS;
}

size_t strag_arrivals_bytes(int n)
{
    return sizeof(struct strag_arrivals) + 2 * words_of(n) * sizeof(uint32_t);
}

void strag_arrivals_init(struct strag_arrivals *arrivals, int n, int rank)
{
    memset(arrivals, 0, strag_arrivals_bytes(n));
    arrivals->n = n;
    arrivals->me = rank;
    arrivals->call = UINT32_MAX;
    arrivals->roles = (struct strag_arrivals_roles){NOBODY, NOBODY, NOBODY};
    arrivals->decision = STRAG_ARRIVALS_ALL;
}

/* ---- State ---- */

static bool is_coordinator(const struct strag_arrivals *arrivals)
{
    return arrivals->me == arrivals->roles.coordinator;
}

static bool is_deputy(const struct strag_arrivals *arrivals)
{
    return arrivals->me == arrivals->roles.deputy;
}

static bool is_witness(const struct strag_arrivals *arrivals)
{
    return arrivals->me == arrivals->roles.witness;
}

static struct inbox *inbox_of(struct strag_arrivals *arrivals, uint32_t call)
{
    return &arrivals->inbox[call % 2];
}

static uint32_t *come_to(struct strag_arrivals *arrivals, uint32_t call)
{
    return arrivals->come + call % 2 * words_of(arrivals->n);
}

static bool has_come(const struct strag_arrivals *arrivals, int rank)
{
    const size_t word = (size_t)rank / BITS, words = words_of(arrivals->n);
    return rank == arrivals->me ||
           ((arrivals->come[word] | arrivals->come[words + word]) >> rank % BITS & 1);
}

/* At least one rank is missing. */
static int first_missing(const struct strag_arrivals *arrivals)
{
    int rank = 0;
    while (has_come(arrivals, rank))
        rank++;
    return rank;
}

/* Does this candidate have a vote in addition to its own? */
static bool is_elected(const struct strag_arrivals *arrivals)
{
    return arrivals->granted > 0;
}

/* ---- Sending ---- */

static void say(const struct strag_arrivals *arrivals, const struct strag_arrivals_port *port,
                int to, enum strag_arrivals_kind kind, int rank)
{
    const struct strag_arrivals_message message = {arrivals->call, (int32_t)kind, rank};
    port->send(port->context, to, &message);
}

static void decide(struct strag_arrivals *arrivals, const struct strag_arrivals_port *port,
                   int without)
{
    arrivals->decision = without;
    arrivals->by = arrivals->me;
    for (int rank = 0; rank < arrivals->n; rank++) {
        if (rank != arrivals->me)
            say(arrivals, port, rank, STRAG_ARRIVALS_DECIDE, without);
    }
}

static void vote(struct strag_arrivals *arrivals, const struct strag_arrivals_port *port, int rank)
{
    arrivals->vote = rank;
    if (rank != arrivals->me)
        say(arrivals, port, rank, STRAG_ARRIVALS_GRANT, NOBODY);
    if (is_deputy(arrivals))
        say(arrivals, port, arrivals->roles.witness,
            rank == arrivals->me ? STRAG_ARRIVALS_TAKE : STRAG_ARRIVALS_LEAVE, NOBODY);
}

/* ---- Acting on the state ---- */

static void act_as_deputy(struct strag_arrivals *arrivals, const struct strag_arrivals_port *port)
{
    const int coordinator = arrivals->roles.coordinator;
    if (arrivals->vote == NOBODY && has_come(arrivals, coordinator))
        vote(arrivals, port, coordinator);
    if (arrivals->vote == arrivals->me && is_elected(arrivals) &&
        arrivals->decision == STRAG_ARRIVALS_UNDECIDED)
        decide(arrivals, port, coordinator);
}

static void act_as_witness(struct strag_arrivals *arrivals, const struct strag_arrivals_port *port)
{
    const struct strag_arrivals_roles *roles = &arrivals->roles;
    const bool take = inbox_of(arrivals, arrivals->call)->take;
    if (arrivals->vote == NOBODY && has_come(arrivals, roles->coordinator))
        vote(arrivals, port, roles->coordinator);
    if (arrivals->vote == NOBODY && take)
        vote(arrivals, port, roles->deputy);
    if (take && arrivals->vote == roles->coordinator && !arrivals->refused_deputy) {
        arrivals->refused_deputy = true;
        say(arrivals, port, roles->deputy, STRAG_ARRIVALS_DENY, NOBODY);
    }
}

static void act(struct strag_arrivals *arrivals, const struct strag_arrivals_port *port)
{
    const struct inbox *inbox = inbox_of(arrivals, arrivals->call);
    if (inbox->decided && arrivals->decision == STRAG_ARRIVALS_UNDECIDED) {
        arrivals->decision = inbox->without;
        arrivals->by = inbox->by;
    }
    if (is_deputy(arrivals))
        act_as_deputy(arrivals, port);
    if (is_witness(arrivals))
        act_as_witness(arrivals, port);
    if (is_coordinator(arrivals) && is_elected(arrivals) && arrivals->missing == 0 &&
        arrivals->decision == STRAG_ARRIVALS_UNDECIDED)
        decide(arrivals, port, STRAG_ARRIVALS_ALL);
}

/* ---- Events ---- */

void strag_arrivals_begin(struct strag_arrivals *arrivals, const struct strag_arrivals_roles *roles,
                          const struct strag_arrivals_port *port)
{
    /* the last call's places become those of the next call but one: clear them */
    *inbox_of(arrivals, arrivals->call) = (struct inbox){.decided = false};
    memset(come_to(arrivals, arrivals->call), 0, words_of(arrivals->n) * sizeof(uint32_t));
    arrivals->call++;
    arrivals->roles = *roles;
    arrivals->missing = 0;
    for (int rank = 0; rank < arrivals->n; rank++)
        arrivals->missing += !has_come(arrivals, rank);
    arrivals->vote = NOBODY;
    arrivals->refused_deputy = false;
    arrivals->granted = arrivals->answered = 0;
    arrivals->decision = STRAG_ARRIVALS_UNDECIDED;
    arrivals->by = NOBODY;
    if (!is_coordinator(arrivals))
        say(arrivals, port, roles->coordinator, STRAG_ARRIVALS_HERE, NOBODY);
    if (!is_deputy(arrivals))
        say(arrivals, port, roles->deputy, STRAG_ARRIVALS_HERE, NOBODY);
    if (is_coordinator(arrivals))
        say(arrivals, port, roles->witness, STRAG_ARRIVALS_HERE, NOBODY);
    act(arrivals, port);
}

static void answer(struct strag_arrivals *arrivals, bool granted,
                   const struct strag_arrivals_port *port)
{
    arrivals->answered++;
    arrivals->granted += granted;
    if (is_deputy(arrivals) && !granted) /* so the coordinator decides: it waits for this answer */
        say(arrivals, port, arrivals->roles.coordinator, STRAG_ARRIVALS_DENY, NOBODY);
}

void strag_arrivals_receive(struct strag_arrivals *arrivals, int from,
                            const struct strag_arrivals_message *message,
                            const struct strag_arrivals_port *port)
{
    const bool current = message->call == arrivals->call;
    struct inbox *inbox = inbox_of(arrivals, message->call);
    if (!current && message->call != arrivals->call + 1)
        return; /* of a call that ended with an error */
    switch (message->kind) {
    case STRAG_ARRIVALS_HERE:
        come_to(arrivals, message->call)[from / BITS] |= UINT32_C(1) << from % BITS;
        arrivals->missing -= current;
        break;
    case STRAG_ARRIVALS_TAKE:
        inbox->take = true;
        break;
    case STRAG_ARRIVALS_LEAVE:
        inbox->leave = true;
        break;
    case STRAG_ARRIVALS_DECIDE:
        inbox->decided = true;
        inbox->by = from;
        inbox->without = message->rank;
        break;
    default:
        if (current)
            answer(arrivals, message->kind == STRAG_ARRIVALS_GRANT, port);
        break;
    }
    if (current)
        act(arrivals, port);
}

/* If the deputy has not voted, the missing rank is the coordinator. */
bool strag_arrivals_waits_for_one(const struct strag_arrivals *arrivals)
{
    if (arrivals->decision != STRAG_ARRIVALS_UNDECIDED || arrivals->missing != 1)
        return false;
    return (is_coordinator(arrivals) && is_elected(arrivals)) ||
           (is_deputy(arrivals) && arrivals->vote == NOBODY);
}

void strag_arrivals_expire(struct strag_arrivals *arrivals, const struct strag_arrivals_port *port)
{
    if (!strag_arrivals_waits_for_one(arrivals))
        return;
    if (is_coordinator(arrivals))
        decide(arrivals, port, first_missing(arrivals));
    else
        vote(arrivals, port, arrivals->me);
}

int strag_arrivals_decision(const struct strag_arrivals *arrivals)
{
    return arrivals->decision;
}

bool strag_arrivals_wants(const struct strag_arrivals *arrivals)
{
    const struct strag_arrivals_roles *roles = &arrivals->roles;
    const struct inbox *inbox = &arrivals->inbox[arrivals->call % 2];
    const bool deputy_decided = arrivals->by == roles->deputy;
    if (arrivals->decision == STRAG_ARRIVALS_UNDECIDED)
        return true;
    if ((is_coordinator(arrivals) || is_deputy(arrivals)) && arrivals->missing > 0)
        return true;
    if (is_coordinator(arrivals))
        return !deputy_decided && arrivals->answered < 2;
    if (is_deputy(arrivals))
        return arrivals->vote == arrivals->me && arrivals->answered < 1;
    if (is_witness(arrivals))
        return !has_come(arrivals, roles->coordinator) || !(inbox->take || inbox->leave);
    return false;
}
