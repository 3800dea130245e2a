/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank's knowledge of which ranks have entered a call that stands still.
 *
 * Ranks that wait exchange their rosters again and again. Each has partners: the ranks whose
 * distance from it is a power of two, on both sides. So news from one rank reaches all waiting
 * ranks within about log2(n)/2 exchanges, each of 2 log2(n) messages of n/8 bytes at most, even if
 * some ranks are silent, rank 0 for instance:
 *
 *     n = 8, rank 5 is missing; who knows that rank 0 waits, after each exchange
 *
 *     first     0 1 2 . 4 . 6 7      its partners: distances 1, 2, 4
 *     second    0 1 2 3 4 . 6 7
 *
 * One rank speaks for all: it reports the standstill. If news takes D exchanges to reach all ranks,
 * a rank claims to speak 2D exchanges before it has waited long enough, unless it has heard of a
 * claim. All claims are made within D of the first one, and 2D after its own claim a rank knows of
 * all others: the lowest rank with a claim speaks. This file has no clock and sends no messages.
 */
#ifndef STRAG_ROSTER_H
#define STRAG_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STRAG_ROSTER_OTHERS = 8,        /* ranks whose state is known, at most */
    STRAG_ROSTER_WORDS = 384,       /* of a message, at most: 24,576 ranks, 3 KiB, which PMLs send
                                     * without asking the receiver */
    STRAG_ROSTER_PARTNERS = 2 * 31, /* at most */
};

enum strag_roster_state {
    STRAG_ROSTER_WAITS,     /* its call stands still */
    STRAG_ROSTER_RUNS,      /* it is in a call, which has made progress recently */
    STRAG_ROSTER_ELSEWHERE, /* it is in MPI, but in no call */
    STRAG_ROSTER_STOPPED,   /* it is in a call, but has not run for some seconds */
    STRAG_ROSTER_FAILED,    /* it has failed, and makes no more calls */
    STRAG_ROSTER_GONE,      /* likewise: it has freed the communicator after the call `number` */
};

/* The state of a rank. */
struct strag_roster_entry {
    int32_t rank;
    int16_t state;   /* enum strag_roster_state */
    int16_t age;     /* ticks since the rank itself reported this, to any rank */
    uint64_t number; /* of the call that it is in, or was in last; 0 if none */
    uint64_t bytes;  /* of its vector; 0 if not known */
    uint64_t what;   /* this and `first` are the caller's; 0 if not known */
    uint64_t first;
};

struct strag_roster {
    int n, me;
    uint64_t number;   /* of the call; 0 if none */
    uint64_t *entered; /* [(n + 63) / 64]: a bit for each rank that has entered the call */
    int nothers;       /* ranks known to be in another call, in none, or not to run */
    struct strag_roster_entry others[STRAG_ROSTER_OTHERS];
    int32_t claim;  /* the lowest rank with a claim to speak; n if none is known */
    uint32_t said;  /* how often a rank has reported the missing ranks */
    unsigned chunk; /* of `entered`, which is sent next */
};

/* A message to a partner: `length` plain bytes. */
struct strag_roster_message {
    uint32_t length;
    int32_t id;                     /* of the communicator's calls, or of a persistent request's */
    uint64_t communicator;          /* the caller's number for it */
    struct strag_roster_entry self; /* the sender */
    uint64_t number;                /* the call that the rest is about; 0 if there is no rest */
    int32_t claim;
    uint32_t said;
    uint32_t chunk;
    int32_t nothers;
    struct strag_roster_entry others[STRAG_ROSTER_OTHERS];
    uint64_t entered[STRAG_ROSTER_WORDS]; /* from word chunk * WORDS on; perhaps fewer */
};

/** @return NULL if out of memory */
struct strag_roster *strag_roster_create(int n, int me);

/** `roster` may be NULL. */
void strag_roster_free(struct strag_roster *roster);

/** Begin with another call: only this rank is known to have entered it. */
void strag_roster_begin(struct strag_roster *roster, uint64_t number);

/** The ranks to exchange messages with. @param[out] ranks  [STRAG_ROSTER_PARTNERS]
 * @return how many */
int strag_roster_partners(int n, int me, int *ranks);

/** D: how many exchanges it takes until news has reached all waiting ranks. */
int strag_roster_exchanges(int n);

/** A tick, the time of one exchange, has passed: forget states that were not reported again for
 * long, since the rank may have gone on. */
void strag_roster_tick(struct strag_roster *roster);

/** Record a rank's state. */
void strag_roster_note(struct strag_roster *roster, const struct strag_roster_entry *entry);

/** Forget a rank's state, but not whether it has entered the call. */
void strag_roster_forget(struct strag_roster *roster, int rank);

/** This rank claims to speak for all, unless it has heard of another rank's claim. */
void strag_roster_claim(struct strag_roster *roster);

/** Record another rank's claim. */
void strag_roster_note_claim(struct strag_roster *roster, int rank);

/** Does this rank speak, as far as it knows? */
bool strag_roster_speaks(const struct strag_roster *roster);

/** A rank has spoken, for the `said`-th time: forget claims, until it is time for the next one. */
void strag_roster_has_said(struct strag_roster *roster, uint32_t said);

/** Write a message. @param roster  NULL if the sender knows only its own state */
void strag_roster_write(struct strag_roster *roster, const struct strag_roster_entry *self,
                        struct strag_roster_message *message);

/** Add a message's content to the roster; of a message about another call only its sender's state.
 * @param bytes  that were received
 * @return false if it is not a whole message */
bool strag_roster_read(struct strag_roster *roster, const struct strag_roster_message *message,
                       size_t bytes);

/** Is it a whole message? @param bytes  that were received */
bool strag_roster_is_message(const struct strag_roster_message *message, size_t bytes, int n);

/** Ranks that have not entered the call, as far as is known.
 * @param[out] ranks  the first ones, at most `most` of them @return how many are missing */
int strag_roster_missing(const struct strag_roster *roster, int *ranks, int most);

/** Ranks that have entered the call, and whose state is known.
 * @param[out] ranks  [STRAG_ROSTER_OTHERS] @return how many */
int strag_roster_called(const struct strag_roster *roster, int *ranks);

/* The last call that stood still for long, of which a rank has spoken. Plain bytes. */
struct strag_standstill {
    uint64_t times;  /* how often the rank has spoken, of all calls; 0 if never, as is the rest */
    uint64_t number; /* the call's */
    uint64_t bytes;  /* of its vector */
    double seconds;  /* for which it had stood still then */
    int32_t missing; /* ranks that had not entered it, ... */
    int32_t first[STRAG_ROSTER_OTHERS]; /* ... and the first of them */
};

/** The entry of a rank. @return NULL if there is none */
const struct strag_roster_entry *strag_roster_other(const struct strag_roster *roster, int rank);

#endif
