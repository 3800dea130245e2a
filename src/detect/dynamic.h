/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dynamic mode: another rank is late in each call, and the ranks find out in the call itself
 * who is missing (run/arrivals.h). This file says when, and for how long the others wait.
 *
 * No clock and no messages: one rank decides for all. The reasons are in dynamic.c.
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
    STRAG_DYNAMIC_ALWAYS, /* it is in force from the first window on */
};

/* What all ranks follow; plain data, but for the table's pointers. */
struct strag_dynamic_policy {
    int32_t on;
    uint64_t from;            /* bytes: shorter vectors wait for all */
    double wait_limit;        /* seconds that the others wait for the last rank, ... */
    double wait_per_byte;     /* ... and more for a longer vector */
    struct strag_table table; /* without the last rank; no algorithm: all are waited for */
};

/* How a call was begun. */
enum strag_dynamic_turn {
    STRAG_DYNAMIC_OUTSIDE, /* not in the dynamic mode */
    STRAG_DYNAMIC_OPEN,    /* it could go ahead without the last rank */
    STRAG_DYNAMIC_WAITS,   /* it was to wait for all, so that the gain is measured */
};

/* A call of the window. */
struct strag_dynamic_call {
    size_t bytes;
    double gap;     /* seconds from the last but one arrival to the last */
    double seconds; /* from the last arrival on, measured; 0: unknown */
    bool close;     /* arrivals were measured, not concluded from durations */
    enum strag_dynamic_turn turn;
    bool went_ahead; /* without the last rank */
    double together; /* modelled seconds of waiting for all */
};

/* For the report. */
struct strag_dynamic_summary {
    uint64_t calls, ahead; /* in the mode; that went ahead without the last rank */
    double saved;          /* seconds, measured */
    double saves, error;   /* of a call's time from the last arrival on: 0.2 +- 0.02; error 0: not
                              measured */
};

struct strag_dynamic;

/** All are waited for at first. @param n  ranks; fewer than 3 never go ahead
 * @param from  bytes: shorter vectors wait for all, always @return NULL: out of memory */
struct strag_dynamic *strag_dynamic_create(int n, enum strag_dynamic_use use, size_t from);

/** NULL is allowed. */
void strag_dynamic_free(struct strag_dynamic *dynamic);

/** The table without the last rank was made, or is not of any use any more: NULL.
 * @param selection  of a problem with a straggler; it outlives its use here */
void strag_dynamic_table(struct strag_dynamic *dynamic, const struct strag_selection *selection);

/** Is it worth making that table, or measuring arrivals? From durations alone. */
bool strag_dynamic_suspects(const struct strag_dynamic *dynamic,
                            const struct strag_dynamic_call *calls, int count);

/** The estimate of what runs without the last rank. @return NULL: nothing */
const struct strag_profile *strag_dynamic_ahead(const struct strag_dynamic *dynamic, size_t bytes);

/**
 * Evaluate a window.
 *
 * @param scale  measured seconds for a modelled one
 * @param price  seconds that finding out who is last costs in a call
 * @return whether to measure arrivals from now on
 */
bool strag_dynamic_window(struct strag_dynamic *dynamic, const struct strag_dynamic_call *calls,
                          int count, double scale, double price);

/** Another mode is in force: this one is left. */
void strag_dynamic_leave(struct strag_dynamic *dynamic);

/** In force from the next call on. */
const struct strag_dynamic_policy *strag_dynamic_policy(const struct strag_dynamic *dynamic);

struct strag_dynamic_summary strag_dynamic_report(const struct strag_dynamic *dynamic);

/** How a call is begun. @param number  of the calls that a policy was on for */
enum strag_dynamic_turn strag_dynamic_turn_of(const struct strag_dynamic_policy *policy,
                                              size_t bytes, uint64_t number);

#endif
