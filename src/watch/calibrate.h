/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model's numbers from what calls of known plans took.
 *
 * With every number twice as dear a plan takes twice as long. So a modelled time is a sum of
 * shares, one for each number, and how it grows with a number (found by pricing once more with a
 * little more of it) is that number's share. What is sought are numbers with which modelled and
 * measured times agree: the least sum of relative deviations. All is done in logarithms, as a
 * machine may be a thousand times slower than thought, and no number can become negative:
 *
 *     least   sum of weights * |log(measured / modelled)|
 *             + sum over numbers of (log(number / one before) / doubt)^2
 *
 * Deviations count as they are, not their squares, so that a few calls that somebody disturbed, or
 * an algorithm that the model does not understand, do not matter much. The second sum keeps what
 * the calls do not tell: with one algorithm at one size the number with the largest share moves,
 * the others hardly.
 *
 * Calls of one plan and size may tell either number: 60 ms of a plan of three rounds are 20 ms of
 * latency, or a slow link. So where they take very much longer than modelled, the search also
 * begins with each number that alone would explain it; the least sum of all counts, which moves
 * what is in doubt rather than what was measured before.
 *
 * No clock and no messages; the same calls give the same numbers.
 */
#ifndef STRAG_CALIBRATE_H
#define STRAG_CALIBRATE_H

#include "base/status.h"
#include "model/numbers.h"

#include <stdbool.h>

/* Calls of the same plan and size. */
struct strag_fit_call {
    double seconds; /* the median; others than above 0 and finite are left out */
    double weight;  /* how many calls */
};

enum { STRAG_FIT_CALLS_MAX = 32 };

/** Price the plan of a call. @param call  its index
 * @return seconds; not above 0 or not finite: unknown, and the call is left out */
typedef double strag_price_fn(void *context, int call, const struct strag_model *model);

struct strag_fit {
    int calls;                         /* that counted; 0: nothing was found out */
    double before, error;              /* median of |modelled / measured - 1| */
    double sum;                        /* the least one: smaller is a better explanation */
    bool known[STRAG_MODEL_NUMBERS];   /* by these calls, to about a quarter */
    double doubt[STRAG_MODEL_NUMBERS]; /* now: by what factor it may be wrong, as a logarithm */
};

/**
 * Fit a model's numbers. One that is 0 or infinite stays.
 *
 * @param calls      at most STRAG_FIT_CALLS_MAX
 * @param before     what was thought before any of these calls
 * @param doubt      [STRAG_MODEL_NUMBERS]: about what factor each of its numbers may be wrong by,
 * as a logarithm; 0: it is certain, and stays
 * @param[in,out] model  from numbers to begin with to the new ones; as it was where nothing was
 *                       found. With the same calls, others are as good to begin with
 */
struct strag_fit strag_calibrate(const struct strag_fit_call *calls, int count,
                                 strag_price_fn *price, void *context,
                                 const struct strag_model *before, const double *doubt,
                                 struct strag_model *model);

#endif
