/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Newton's method in logarithms; weights make absolute deviations of squares, again in every step.
 * Where shares change much on the way it finds the next valley, not the lowest: hence several
 * beginnings.
 */
#include "watch/calibrate.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 12 };

/* Deviations below that are noise. */
static const double noise = 0.05;

/* By how much a number is changed to see what it does. */
static const double nudge = 1e-3;

/* A step changes a number by a factor of 30 at most, as shares change on the way. */
static const double longest_step = 3.4;

/* Smaller steps end it; of shares, smaller ones are none. */
static const double shortest_step = 1e-3, no_share = 1e-9;

/* After longer steps (twice as fast) numbers may count that did not. */
static const double long_step = 0.7;

/* Where the median deviation is larger, as a logarithm, other beginnings are tried; ... */
static const double astray = 0.4;

/* ... a number is so far from what it is thought to be at most, in times of its doubt, and found in
 * so many halvings. */
static const double farthest = 2;
enum { HALVINGS = 16 };

/* A number is known if its logarithm is doubtful by less. */
static const double well_known = 0.25;

struct problem {
    const struct strag_fit_call *calls;
    strag_price_fn *price;
    void *context;
    int count;
    int call[STRAG_FIT_CALLS_MAX]; /* those that count */
    int numbers;
    int number[STRAG_MODEL_NUMBERS]; /* those that are sought */
    double doubt[STRAG_MODEL_NUMBERS];
    double moved[STRAG_MODEL_NUMBERS]; /* from the value before, as a logarithm */
    bool idle[STRAG_MODEL_NUMBERS];    /* no call depends on it */

    double deviation[STRAG_FIT_CALLS_MAX];
    double share[STRAG_FIT_CALLS_MAX][STRAG_MODEL_NUMBERS];
    double matrix[STRAG_MODEL_NUMBERS][STRAG_MODEL_NUMBERS], side[STRAG_MODEL_NUMBERS];
};

static bool is_time(double seconds)
{
    return seconds > 0 && seconds < INFINITY;
}

/* Make it take longer: by more seconds, or fewer bytes per second. */
static void lengthen(struct strag_model *model, int id, double logarithm)
{
    bool rate = strag_model_numbers[id].scale > 1;
    *strag_model_at(model, id) *= exp(rate ? -logarithm : logarithm);
}

static double price(const struct problem *problem, int call, const struct strag_model *model)
{
    return problem->price(problem->context, problem->call[call], model);
}

/* ---- Where it stands ---- */

static void find_deviations(struct problem *problem, const struct strag_model *model)
{
    for (int c = 0; c < problem->count; c++)
        problem->deviation[c] =
            log(problem->calls[problem->call[c]].seconds / price(problem, c, model));
}

/* Deviations are those of the same model. @param all  else what had no share in any call, such as
 * what is within hosts where each has one rank, is not looked at again */
static void find_shares(struct problem *problem, const struct strag_model *model, bool all)
{
    for (int i = 0; i < problem->numbers; i++) {
        struct strag_model dearer = *model;
        bool idle = true;
        if (!all && problem->idle[i])
            continue;
        lengthen(&dearer, problem->number[i], nudge);
        for (int c = 0; c < problem->count; c++) {
            const double before = log(problem->calls[problem->call[c]].seconds);
            problem->share[c][i] =
                (log(price(problem, c, &dearer)) - before + problem->deviation[c]) / nudge;
            idle = idle && fabs(problem->share[c][i]) < no_share;
        }
        if (all)
            problem->idle[i] = idle;
    }
}

/* The median of |modelled / measured - 1|. */
static double find_error(const struct problem *problem)
{
    double errors[STRAG_FIT_CALLS_MAX] = {0};
    for (int c = 0; c < problem->count; c++)
        errors[c] = fabs(exp(-problem->deviation[c]) - 1);
    qsort(errors, (size_t)problem->count, sizeof *errors, strag_compare_double);
    return problem->count % 2 ? errors[problem->count / 2]
                              : (errors[problem->count / 2 - 1] + errors[problem->count / 2]) / 2;
}

/* The same of |log(measured / modelled)|. */
static double find_deviation(const struct problem *problem)
{
    double deviations[STRAG_FIT_CALLS_MAX] = {0};
    for (int c = 0; c < problem->count; c++)
        deviations[c] = fabs(problem->deviation[c]);
    qsort(deviations, (size_t)problem->count, sizeof *deviations, strag_compare_double);
    return deviations[problem->count / 2];
}

/* ---- A step ---- */

static void set_up(struct problem *problem)
{
    memset(problem->matrix, 0, sizeof problem->matrix);
    memset(problem->side, 0, sizeof problem->side);
    for (int i = 0; i < problem->numbers; i++) {
        double tie = 1 / (problem->doubt[i] * problem->doubt[i]);
        problem->matrix[i][i] = tie;
        problem->side[i] = -tie * problem->moved[i];
    }
    for (int c = 0; c < problem->count; c++) {
        double weight = problem->calls[problem->call[c]].weight /
                        (noise * fmax(noise, fabs(problem->deviation[c])));
        for (int i = 0; i < problem->numbers; i++) {
            problem->side[i] += weight * problem->share[c][i] * problem->deviation[c];
            for (int j = 0; j < problem->numbers; j++)
                problem->matrix[i][j] += weight * problem->share[c][i] * problem->share[c][j];
        }
    }
}

/* Gauss and Jordan; the matrix is symmetric and positive, and becomes its inverse. */
static void invert(struct problem *problem)
{
    const int n = problem->numbers;
    for (int p = 0; p < n; p++) {
        double pivot = problem->matrix[p][p];
        problem->matrix[p][p] = 1;
        for (int j = 0; j < n; j++)
            problem->matrix[p][j] /= pivot;
        for (int i = 0; i < n; i++) {
            double factor = problem->matrix[i][p];
            if (i == p)
                continue;
            problem->matrix[i][p] = 0;
            for (int j = 0; j < n; j++)
                problem->matrix[i][j] -= factor * problem->matrix[p][j];
        }
    }
}

/* @param all  as in find_shares @return the longest step of a number */
static double take_step(struct problem *problem, struct strag_model *model, bool all)
{
    double longest = 0;
    find_shares(problem, model, all);
    set_up(problem);
    invert(problem);
    for (int i = 0; i < problem->numbers; i++) {
        double step = 0;
        for (int j = 0; j < problem->numbers; j++)
            step += problem->matrix[i][j] * problem->side[j];
        step = fmax(-longest_step, fmin(longest_step, step));
        problem->moved[i] += step;
        lengthen(model, problem->number[i], step);
        longest = fmax(longest, fabs(step));
    }
    find_deviations(problem, model);
    return longest;
}

/* ---- All of it ---- */

static void choose_calls(struct problem *problem, int count, const struct strag_model *model)
{
    for (int c = 0; c < count && problem->count < STRAG_FIT_CALLS_MAX; c++) {
        problem->call[problem->count] = c;
        if (is_time(problem->calls[c].seconds) && problem->calls[c].weight > 0 &&
            is_time(price(problem, problem->count, model)))
            problem->count++;
    }
}

static void choose_numbers(struct problem *problem, const struct strag_model *before,
                           const double *doubt, const struct strag_model *model)
{
    problem->numbers = 0;
    for (int k = 0; k < STRAG_MODEL_NUMBERS; k++) {
        if (!(doubt[k] > 0) || !is_time(strag_model_value(model, k)) ||
            !is_time(strag_model_value(before, k)))
            continue;
        const double ratio = strag_model_value(model, k) / strag_model_value(before, k);
        problem->moved[problem->numbers] =
            strag_model_numbers[k].scale > 1 ? -log(ratio) : log(ratio);
        problem->number[problem->numbers] = k;
        problem->doubt[problem->numbers++] = doubt[k];
    }
}

/* What is to be as small as it can be. */
static double sum_of(const struct problem *problem)
{
    double sum = 0;
    for (int c = 0; c < problem->count; c++) {
        const double deviation = fabs(problem->deviation[c]) / noise;
        sum += problem->calls[problem->call[c]].weight * fmin(deviation, deviation * deviation);
    }
    for (int i = 0; i < problem->numbers; i++)
        sum += pow(problem->moved[i] / problem->doubt[i], 2);
    return sum;
}

/* From a model down to the nearest valley: the lowest place on the way, which may be where it
 * began.
 * @return the sum there */
static double descend(struct problem *problem, const struct strag_model *before,
                      const double *doubt, struct strag_model *model)
{
    struct strag_model lowest = *model;
    choose_numbers(problem, before, doubt, model);
    find_deviations(problem, model);
    struct problem there = *problem;
    double least = sum_of(problem), longest = INFINITY;
    for (int step = 0; step < STEPS && problem->numbers > 0; step++) {
        longest = take_step(problem, model, longest > long_step); /* far away others may count */
        const double sum = sum_of(problem);
        if (step == 0) /* what is known there */
            memcpy(there.matrix, problem->matrix, sizeof there.matrix);
        if (sum < least) {
            least = sum;
            lowest = *model;
            there = *problem;
        }
        if (longest < shortest_step)
            break;
    }
    *problem = there;
    *model = lowest;
    return least;
}

/* The call that counts most, exactly, by moving one number alone. */
static void explain_by(const struct problem *problem, int number, const struct strag_model *before,
                       struct strag_model *model)
{
    int call = 0;
    for (int c = 1; c < problem->count; c++) {
        if (problem->calls[problem->call[c]].weight > problem->calls[problem->call[call]].weight)
            call = c;
    }
    const double seconds = problem->calls[problem->call[call]].seconds;
    const double most = farthest * problem->doubt[number];
    double low = -most, high = most;
    for (int h = 0; h < HALVINGS; h++) {
        const double middle = (low + high) / 2;
        *strag_model_at(model, problem->number[number]) =
            strag_model_value(before, problem->number[number]);
        lengthen(model, problem->number[number], middle);
        if (price(problem, call, model) < seconds)
            low = middle;
        else
            high = middle;
    }
}

/* @param[in,out] sought  where to begin, and the best that was found
 * @return its sum */
static double search(struct problem *problem, const struct strag_model *before, const double *doubt,
                     struct strag_model *sought)
{
    const struct strag_model begin = *sought;
    struct problem best = *problem;
    const bool wide = find_deviation(problem) > astray;
    double least = descend(&best, before, doubt, sought);
    choose_numbers(problem, before, doubt, &begin);
    for (int i = 0; i < problem->numbers && wide && problem->numbers > 1; i++) {
        struct strag_model other = begin;
        struct problem again = *problem;
        explain_by(problem, i, before, &other);
        const double sum = descend(&again, before, doubt, &other);
        if (sum < least) {
            least = sum;
            best = again;
            *sought = other;
        }
    }
    *problem = best;
    return least;
}

struct strag_fit strag_calibrate(const struct strag_fit_call *calls, int count,
                                 strag_price_fn *price_call, void *context,
                                 const struct strag_model *before, const double *doubt,
                                 struct strag_model *model)
{
    struct problem problem = {.calls = calls, .price = price_call, .context = context};
    struct strag_fit fit = {.calls = 0};
    struct strag_model sought = *model;
    memcpy(fit.doubt, doubt, sizeof fit.doubt);
    choose_calls(&problem, count, model);
    if (problem.count == 0)
        return fit;
    find_deviations(&problem, model);
    fit.before = fit.error = find_error(&problem);
    fit.sum = search(&problem, before, doubt, &sought);
    fit.calls = problem.count;
    fit.error = find_error(&problem);
    for (int i = 0; i < problem.numbers; i++) {
        double left = sqrt(problem.matrix[i][i]);
        fit.doubt[problem.number[i]] = left;
        fit.known[problem.number[i]] = left < well_known && left < problem.doubt[i] / 2;
    }
    *model = sought;
    return fit;
}
