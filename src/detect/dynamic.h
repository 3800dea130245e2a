/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dynamic mode: another rank is late in each call, and the ranks find out in the call itself
 * who is missing (run/arrivals.h). This file decides when to use it, and for how long the others
 * wait.
 *
 * It has no clock and no messages: one rank decides for all. The reasons are in dynamic.c.
 */
#ifndef STRAG_DYNAMIC_H
#define STRAG_DYNAMIC_H

#include "model/select.h"

#include <stdbool.h>
#include <stdint.h>

/* May the mode be entered? */
enum strag_dynamic_use {
    STRAG_DYNAMIC_NEVER,
    STRAG_DYNAMIC_AUTO,
    STRAG_DYNAMIC_ALWAYS, /* the mode is in force from the first window on */
};

/* What all ranks follow. Plain data, except for the table's pointers. */
struct strag_dynamic_policy {
    int32_t on;
    uint64_t from;            /* bytes: shorter vectors wait for all */
    double wait_limit;        /* seconds that the others wait for the last rank, ... */
    double wait_per_byte;     /* ... and the seconds added per byte of the vector */
    struct strag_table table; /* without the last rank; all wait at sizes that have no algorithm */
};

/* How a call was begun. */
enum strag_dynamic_turn {
    STRAG_DYNAMIC_OUTSIDE, /* outside the dynamic mode */
    STRAG_DYNAMIC_OPEN,    /* the call could go ahead without the last rank */
    STRAG_DYNAMIC_WAITS,   /* the call had to wait for all, so that the gain is measured */
};

/* A call of the window. */
struct strag_dynamic_call {
    size_t bytes;
    double gap;     /* seconds from the last but one arrival to the last */
    double seconds; /* measured from the last arrival on; 0 if unknown */
    bool close;     /* arrivals were measured, not inferred from durations */
    enum strag_dynamic_turn turn;
    bool went_ahead; /* without the last rank */
    double together; /* modelled seconds of waiting for all */
};

/* For the report. */
struct strag_dynamic_summary {
    uint64_t calls, ahead; /* calls in the mode; those that went ahead without the last rank */
    double saved;          /* seconds, measured */
    double saves, error;   /* of a call's time from the last arrival on: 0.2 +- 0.02; 0 if
                              unknown */
};

struct strag_dynamic;

/** At first all ranks are waited for. @param n  ranks; with fewer than 3, none goes ahead
 * @param from  bytes; shorter vectors always wait for all @return NULL if out of memory */
struct strag_dynamic *strag_dynamic_create(int n, enum strag_dynamic_use use, size_t from);

/** NULL is allowed. */
void strag_dynamic_free(struct strag_dynamic *dynamic);

/** The table without the last rank has been made, or, if `selection` is NULL, is of no more use.
 * @param selection  of a problem with a straggler; must stay valid while it is in use here */
void strag_dynamic_table(struct strag_dynamic *dynamic, const struct strag_selection *selection);

/** Is it worth making that table, or measuring arrivals? Judges by durations alone. */
bool strag_dynamic_suspects(const struct strag_dynamic *dynamic,
                            const struct strag_dynamic_call *calls, int count);

/** The estimate of the plan that runs without the last rank. @return NULL if there is none */
const struct strag_profile *strag_dynamic_ahead(const struct strag_dynamic *dynamic, size_t bytes);

/**
 * Evaluate a window.
 *
 * @param scale  measured seconds per modelled second
 * @param price  seconds that a call pays for finding out who is last
 * @return whether to measure arrivals from now on
 */
bool strag_dynamic_window(struct strag_dynamic *dynamic, const struct strag_dynamic_call *calls,
                          int count, double scale, double price);

/** Leave the mode, since another one is in force. */
void strag_dynamic_leave(struct strag_dynamic *dynamic);

/** The policy from the next call on. */
const struct strag_dynamic_policy *strag_dynamic_policy(const struct strag_dynamic *dynamic);

struct strag_dynamic_summary strag_dynamic_report(const struct strag_dynamic *dynamic);

/** How a call is begun. @param number  of this call among those during which a policy was on */
enum strag_dynamic_turn strag_dynamic_turn_of(const struct strag_dynamic_policy *policy,
                                              size_t bytes, uint64_t number);

#endif
