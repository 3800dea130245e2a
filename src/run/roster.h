/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who has entered a call that stands still, as one rank knows it.
 *
 * Ranks that wait tell each other what they know, again and again. Each has partners: the ranks
 * whose distance from it is a power of two, on both sides. What one rank knows so reaches all that
 * wait within about log2(n)/2 exchanges, each of 2 log2(n) messages of n/8 bytes at most, also if
 * some ranks are silent, rank 0 for instance:
 *
 *     n = 8, rank 5 is missing; who knows that rank 0 waits, after each exchange
 *
 *     first     0 1 2 . 4 . 6 7      its partners: distances 1, 2, 4
 *     second    0 1 2 3 4 . 6 7
 *
 * One rank speaks for all. If news takes D exchanges to reach all, a rank claims to speak 2D before
 * it has waited long enough, unless it has heard of a claim. All claims are made within D of
 * the first one, and 2D after its own a rank knows of all others: the lowest of these ranks speaks.
 * No clock and no messages in here.
 */
#ifndef STRAG_ROSTER_H
#define STRAG_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STRAG_ROSTER_OTHERS = 8,        /* ranks of which more is known than whether they are there */
    STRAG_ROSTER_WORDS = 384,       /* most of a message: 24,576 ranks, 3 KiB, which PMLs send
                                     * without asking the receiver */
    STRAG_ROSTER_PARTNERS = 2 * 31, /* at most */
};

enum strag_roster_state {
    STRAG_ROSTER_WAITS,     /* its call stands still */
    STRAG_ROSTER_RUNS,      /* it is in a call, which has moved a moment ago */
    STRAG_ROSTER_ELSEWHERE, /* it is in MPI, but in no call */
    STRAG_ROSTER_STOPPED,   /* it is in a call, but has not run for some seconds */
    STRAG_ROSTER_FAILED,    /* it has failed, and makes no more calls */
    STRAG_ROSTER_GONE,      /* likewise: it has freed the communicator after the call `number` */
};

/* The state of a rank. */
struct strag_roster_entry {
    int32_t rank;
    int16_t state;   /* enum strag_roster_state */
    int16_t age;     /* ticks since the rank itself has said so; 0 for what others have said */
    uint64_t number; /* of the call that it is in, or was in last; 0: none */
    uint64_t bytes;  /* of its vector; 0: not known */
    uint64_t what;   /* the caller's; 0: not known */
    uint64_t first;  /* likewise */
};

struct strag_roster {
    int n, me;
    uint64_t number;   /* of the call; 0: none */
    uint64_t *entered; /* [(n + 63) / 64]: a bit for each rank that has */
    int nothers;       /* those that are in another call, in none, or do not run */
    struct strag_roster_entry others[STRAG_ROSTER_OTHERS];
    int32_t claim;  /* the lowest rank that claims to speak; n: none is known to */
    uint32_t said;  /* how often one has said who is missing */
    unsigned chunk; /* of `entered`, which is sent next */
};

/* What a rank tells its partners: plain bytes, `length` of them. */
struct strag_roster_message {
    uint32_t length;
    int32_t id;                     /* of the communicator's calls, or of a persistent request's */
    uint64_t communicator;          /* the caller's number of it */
    struct strag_roster_entry self; /* the sender */
    uint64_t number;                /* the call that the rest is about; 0: there is no more */
    int32_t claim;
    uint32_t said;
    uint32_t chunk;
    int32_t nothers;
    struct strag_roster_entry others[STRAG_ROSTER_OTHERS];
    uint64_t entered[STRAG_ROSTER_WORDS]; /* from word chunk * WORDS on; perhaps fewer */
};

/** @return NULL: out of memory */
struct strag_roster *strag_roster_create(int n, int me);

/** NULL is allowed. */
void strag_roster_free(struct strag_roster *roster);

/** Another call: only this rank is known to have entered it. */
void strag_roster_begin(struct strag_roster *roster, uint64_t number);

/** The ranks to exchange messages with. @param[out] ranks  [STRAG_ROSTER_PARTNERS]
 * @return how many */
int strag_roster_partners(int n, int me, int *ranks);

/** D: how many exchanges it takes until news has reached all ranks that wait. */
int strag_roster_exchanges(int n);

/** Time passes: what nobody has said again for long is forgotten, since the rank may have gone on.
 */
void strag_roster_tick(struct strag_roster *roster);

/** Something is known of a rank. */
void strag_roster_note(struct strag_roster *roster, const struct strag_roster_entry *entry);

/** What a rank does is not known any more: only whether it has entered the call. */
void strag_roster_forget(struct strag_roster *roster, int rank);

/** This rank claims to speak for all, unless it has heard that another one does. */
void strag_roster_claim(struct strag_roster *roster);

/** Another rank claims to. */
void strag_roster_note_claim(struct strag_roster *roster, int rank);

/** Does this rank speak, as far as it knows? */
bool strag_roster_speaks(const struct strag_roster *roster);

/** Somebody has spoken, for the `said`-th time: all begin to wait for the next time. */
void strag_roster_has_said(struct strag_roster *roster, uint32_t said);

/** Write a message. @param roster  NULL: the sender knows nothing but itself */
void strag_roster_write(struct strag_roster *roster, const struct strag_roster_entry *self,
                        struct strag_roster_message *message);

/** Take over what a message of the same call says; of another call only what it says of its sender.
 * @param bytes  that were received
 * @return false: it is no such message */
bool strag_roster_read(struct strag_roster *roster, const struct strag_roster_message *message,
                       size_t bytes);

/** Is it a whole message? @param bytes  that were received */
bool strag_roster_is_message(const struct strag_roster_message *message, size_t bytes, int n);

/** Ranks that have not entered the call, as far as is known.
 * @param[out] ranks  the first ones, at most `most` of them @return how many there are */
int strag_roster_missing(const struct strag_roster *roster, int *ranks, int most);

/** Ranks that have entered the call, of which more is known. @param[out] ranks
 * [STRAG_ROSTER_OTHERS] @return how many */
int strag_roster_called(const struct strag_roster *roster, int *ranks);

/* A call that stood still for long: the last one that a rank has spoken of. Plain bytes. */
struct strag_standstill {
    uint64_t times;  /* how often it has spoken, of all calls; 0: never, and the rest is 0 */
    uint64_t number; /* the call's */
    uint64_t bytes;  /* of its vector */
    double seconds;  /* for which it had stood still then */
    int32_t missing; /* ranks that had not entered it, ... */
    int32_t first[STRAG_ROSTER_OTHERS]; /* ... and which, of the first ones */
};

/** The entry of a rank. @return NULL: nothing */
const struct strag_roster_entry *strag_roster_other(const struct strag_roster *roster, int rank);

#endif
