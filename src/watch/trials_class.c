/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/trials_class.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FREE_CALLS = 30 /* a class's first ones, in which trials are not bounded */ };

/* What trials may lose, in calls: among a class's first ones, ... */
static const double free_lost = 10;

/* ... of very long calls so many and a share of the calls so far, ... */
static const double long_lost = 1, long_share = 0.1;

/* ... and later a share of all its calls. */
static const double most_lost = 0.02;

/* A call that takes longer measures an algorithm alone: connections and plans are made in less. */
static const double long_call = 20e-3;

/* Of those that take longer a trial is felt. */
static const double very_long_call = 0.1;

/* ---- Calls ---- */

int strag_trial_find_form(const struct strag_trial_class *class,
                          const struct strag_algorithm *algorithm, int blocks)
{
    for (int f = 0; f < class->forms; f++) {
        const struct strag_trial_run *what = &class->form[f].what;
        if (what->algorithm == algorithm && what->blocks == blocks)
            return f;
    }
    return -1;
}

/* The first call of a short one may have made connections and plans, which take long, and does not
 * count. @param[out] sorted  [STRAG_TRIAL_SAMPLES] @return how many */
static int sort_samples(const struct strag_trial_form *form, float *sorted)
{
    int count = form->count < STRAG_TRIAL_SAMPLES ? form->count : STRAG_TRIAL_SAMPLES;
    int first = count > 1 && count < STRAG_TRIAL_SAMPLES &&
                (double)fminf(form->seconds[0], form->seconds[1]) < long_call;
    memcpy(sorted, form->seconds + first, (size_t)(count - first) * sizeof *sorted);
    qsort(sorted, (size_t)(count - first), sizeof *sorted, strag_compare_float);
    return count - first;
}

double strag_trial_shortest(const struct strag_trial_form *form)
{
    float sorted[STRAG_TRIAL_SAMPLES];
    return sort_samples(form, sorted) > 0 ? (double)sorted[0] : INFINITY;
}

double strag_trial_best(const struct strag_trial_class *class)
{
    double best = INFINITY;
    for (int f = 0; f < class->forms; f++)
        best = fmin(best, strag_trial_shortest(&class->form[f]));
    return best;
}

double strag_trial_median(const struct strag_trial_form *form, double *scatter)
{
    float sorted[STRAG_TRIAL_SAMPLES], apart[STRAG_TRIAL_SAMPLES];
    const int count = sort_samples(form, sorted);
    if (count == 0)
        return *scatter = INFINITY;
    const float middle =
        count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    for (int i = 0; i < count; i++)
        apart[i] = fabsf(sorted[i] - middle);
    qsort(apart, (size_t)count, sizeof *apart, strag_compare_float);
    *scatter = (double)apart[count / 2];
    return (double)middle;
}

/* ---- What a trial may cost ---- */

/* Seconds of a call; the first one may have made connections, and does not count. */
static double mean_of(const struct strag_trial_class *class)
{
    return class->calls > 1 ? (class->seconds - class->first) / (class->calls - 1) : class->seconds;
}

bool strag_trial_is_very_long(const struct strag_trial_class *class)
{
    return mean_of(class) > very_long_call;
}

int strag_trial_heat_calls(const struct strag_trial_class *class)
{
    return mean_of(class) > long_call ? 1 : 2;
}

double strag_trial_may_lose(const struct strag_trial_class *class)
{
    if (class->calls > FREE_CALLS)
        return most_lost * class->calls;
    return strag_trial_is_very_long(class) ? long_lost + long_share * class->calls : free_lost;
}

double strag_trial_most_granted(const struct strag_trial_class *class)
{
    return strag_trial_is_very_long(class) ? long_lost + long_share * FREE_CALLS : free_lost;
}
