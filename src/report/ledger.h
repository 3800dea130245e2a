/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank records of a communicator's allreduces for the report: how many there were, what ran
 * them, and when it was in each of the blocking ones.
 *
 * Blocking calls have the same number on all ranks, so that their times can be compared (loss.h).
 * The times of all calls are kept as long as there is room; then those of every second call, of
 * every fourth, and so on. These are the same calls on all ranks, spread over the whole run, and
 * their memory does not grow with the number of calls.
 */
#ifndef STRAG_LEDGER_H
#define STRAG_LEDGER_H

#include "report/clocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum strag_ledger_kind {
    STRAG_LEDGER_BLOCKING,
    STRAG_LEDGER_NONBLOCKING,
    STRAG_LEDGER_PERSISTENT, /* starts; or MPI_Allreduce_init, if starts cannot be counted */
    STRAG_LEDGER_KINDS
};

/* Numbers of outcomes: of what ran a call. The caller gives them their meaning. */
enum { STRAG_LEDGER_OUTCOMES = 64 };

struct strag_ledger {
    uint64_t calls[STRAG_LEDGER_KINDS];
    double bytes;             /* of all calls' vectors */
    double shortest, longest; /* the shortest and longest vector, bytes */
    double seconds;           /* in blocking calls */
    uint64_t watched;         /* blocking calls of `watched_from` bytes and more */
    size_t watched_from;
    uint64_t outcome[STRAG_LEDGER_OUTCOMES]; /* [outcome]: calls with it */

    struct strag_stay *stays; /* [room]: of every `every`-th blocking call, from the first on */
    int room, kept;
    uint64_t every;
};

/** How many stays a rank of a communicator with `n` ranks keeps: 64 to 4,096, so that those of all
 * ranks take at most 16 MiB, or 1 KiB per rank if that is more. */
int strag_ledger_room(int n);

/**
 * Create an empty ledger.
 *
 * @param stays  [room]; NULL to keep no times
 * @param room   a multiple of 2
 */
struct strag_ledger strag_ledger_begin(struct strag_stay *stays, int room);

/**
 * Record a call.
 *
 * @param outcome  what ran it, 0 to STRAG_LEDGER_OUTCOMES - 1
 * @param bytes    of its vector
 * @param stay     when a blocking call was; NULL for others
 */
void strag_ledger_add(struct strag_ledger *ledger, enum strag_ledger_kind kind, int outcome,
                      size_t bytes, const struct strag_stay *stay);

#endif
