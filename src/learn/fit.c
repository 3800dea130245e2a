/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A modelled time is the maximum of sums A * latency + B / bandwidth + rest, so it is convex in
 * both numbers' factors. Pricing at a point, and with either number slightly changed, gives A, B
 * and rest of the sum that is the maximum there; no modelled time is below this sum. The next point
 * is the one at which the maxima of all sums so far deviate least, relatively, from the measured
 * times. Few points are needed, as each adds the sums that are the maximum there.
 *
 * Deviations are not squared, so that disturbed calls, or an algorithm that the model prices
 * wrongly, matter little. A term for each number's doubt keeps a number on which the calls do not
 * depend.
 */
#include "learn/fit.h"

#include "base/text.h"
#include "base/units.h"
#include "detect/thresholds.h"
#include "model/platform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LATENCY, BANDWIDTH, NUMBERS };
enum { KINDS = 8, SAMPLES = 8, POINTS = 4 };

/* Logarithms. A number changes by at most a factor of 10,000: 100 Mbit/s are a thousandth of the
 * default. */
static const double farthest = 9.2, finest = 1e-3;

/* Calls of a plan and a size. */
struct kind {
    size_t bytes;
    const struct strag_algorithm *algorithm;
    int blocks;
    unsigned count;
    float seconds[SAMPLES]; /* of the latest calls */
};

struct strag_fit {
    struct strag_problem problem;
    struct strag_sourced_model first, now; /* first: before any call */
    int id[NUMBERS];
    double before[NUMBERS], doubt[NUMBERS]; /* takes() when calls began; doubt 0 fixes it */
    struct kind kinds[KINDS];
    int nkinds;
    uint64_t sizes;       /* a bit for each power of two that a call's size had */
    uint64_t calls, next; /* recorded calls since it began; their number at the next fit */
    char log[256];
};

/* The state of a fit. Factors multiply times: a bandwidth is divided by its factor. */
struct work {
    struct strag_fit *fit;
    double measured[KINDS], weight[KINDS];
    int points;
    double part[POINTS][KINDS][NUMBERS], rest[POINTS][KINDS]; /* seconds, with factors of 1 */
};

/* ---- Creation ---- */

/* Seconds of latency, or seconds per byte. */
static double takes(const struct strag_fit *fit, int i)
{
    const double value = strag_model_value(&fit->now.model, fit->id[i]);
    return i == LATENCY ? value : 1 / value;
}

/* If the latency is known, the overhead of a round's further messages is to be found instead. */
static void choose_numbers(struct strag_fit *fit)
{
    const bool network = !fit->problem.topology || fit->problem.topology->hosts > 1;
    const bool known = fit->now.origin[STRAG_MODEL_ALPHA] != STRAG_FROM_DEFAULT;
    fit->id[LATENCY] = !network ? STRAG_MODEL_LOCAL_ALPHA
                       : known  ? STRAG_MODEL_OVERHEAD
                                : STRAG_MODEL_ALPHA;
    fit->id[BANDWIDTH] = network ? STRAG_MODEL_BANDWIDTH : STRAG_MODEL_LOCAL_BANDWIDTH;
}

/* The logarithm of the factor by which a number may be wrong; 0 fixes it. A measured overhead is
 * hardly wrong, since many messages have shown it; without that, long vectors that take longer than
 * modelled would be explained by expensive messages as well as by slow links (test_fit: regret). */
static double doubt_of(const struct strag_fit *fit, int i)
{
    const enum strag_origin origin = fit->now.origin[fit->id[i]];
    if (origin > STRAG_FROM_MEASURED || !(takes(fit, i) > 0) || !(takes(fit, i) < INFINITY))
        return 0;
    return fit->id[i] == STRAG_MODEL_OVERHEAD && origin == STRAG_FROM_MEASURED
               ? log(STRAG_MUCH_MORE)
               : STRAG_DOUBT;
}

/* Go back to the numbers before any call; the calls' times stay. */
static void begin(struct strag_fit *fit)
{
    fit->now = fit->first;
    fit->calls = fit->next = 0;
    choose_numbers(fit);
    for (int i = 0; i < NUMBERS; i++) {
        fit->before[i] = takes(fit, i);
        fit->doubt[i] = doubt_of(fit, i);
    }
}

struct strag_fit *strag_fit_create(const struct strag_problem *problem,
                                   const struct strag_sourced_model *model)
{
    struct strag_fit *fit = calloc(1, sizeof *fit);
    if (!fit)
        return NULL;
    fit->problem = *problem;
    fit->first = *model;
    begin(fit);
    return fit;
}

void strag_fit_free(struct strag_fit *fit)
{
    free(fit);
}

/* ---- Calls ---- */

/* Pricing takes longer with more ranks. */
static int kinds_for(int n)
{
    return n <= 64 ? KINDS : n <= 256 ? 6 : n <= 4096 ? 4 : 2;
}

/* A new kind takes the place of the one with the fewest calls. */
static struct kind *find_kind(struct strag_fit *fit, size_t bytes,
                              const struct strag_algorithm *algorithm, int blocks)
{
    struct kind *least = fit->kinds;
    for (struct kind *kind = fit->kinds; kind < fit->kinds + fit->nkinds; kind++) {
        if (kind->bytes == bytes && kind->algorithm == algorithm && kind->blocks == blocks)
            return kind;
        if (kind->count < least->count)
            least = kind;
    }
    if (fit->nkinds < kinds_for(fit->problem.n))
        least = &fit->kinds[fit->nkinds++];
    *least = (struct kind){.bytes = bytes, .algorithm = algorithm, .blocks = blocks};
    return least;
}

void strag_fit_note(struct strag_fit *fit, size_t bytes, const struct strag_algorithm *algorithm,
                    int blocks, double seconds)
{
    if (!(seconds > 0 && seconds < INFINITY) || bytes == 0)
        return;
    const uint64_t size = (uint64_t)1 << ilogb((double)bytes);
    struct kind *kind = find_kind(fit, bytes, algorithm, blocks);
    kind->seconds[kind->count++ % SAMPLES] = (float)seconds;
    fit->calls++;
    if (!(fit->sizes & size))
        fit->next = fit->calls;
    fit->sizes |= size;
}

/* The median, without the first call, which may have made connections. */
static double median_of(const struct kind *kind)
{
    float sorted[SAMPLES] = {0};
    const unsigned first = kind->count > 1 && kind->count < SAMPLES;
    const unsigned count = (kind->count < SAMPLES ? kind->count : SAMPLES) - first;
    memcpy(sorted, kind->seconds + first, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, strag_compare_float);
    return (double)sorted[count > 0 ? (count - 1) / 2 : 0];
}

static bool is_surprising(const struct strag_fit *fit, const struct strag_selection *selection)
{
    for (const struct kind *kind = fit->kinds; kind < fit->kinds + fit->nkinds; kind++) {
        const double modelled =
            strag_selection_seconds(selection, kind->algorithm, kind->blocks, kind->bytes, 0);
        if (!(fabs(modelled / median_of(kind) - 1) <= STRAG_WORTH))
            return true;
    }
    return false;
}

/* ---- Modelled times ---- */

/* A number's largest value. An overhead is spent at either end of each message, so that two of them
 * are in a latency. */
static double most_of(const struct strag_fit *fit, int i)
{
    return fit->id[i] == STRAG_MODEL_OVERHEAD ? fmax(fit->before[i], fit->first.model.alpha / 2)
                                              : INFINITY;
}

/* The model whose numbers are slower than `before` by these factors. */
static struct strag_sourced_model model_with(const struct strag_fit *fit, const double *factor)
{
    struct strag_sourced_model model = fit->now;
    for (int i = 0; i < NUMBERS; i++) {
        const double longer = fmin(fit->before[i] * factor[i], most_of(fit, i));
        if (fit->doubt[i] > 0)
            strag_model_set(&model, fit->id[i], i == LATENCY ? longer : 1 / longer,
                            STRAG_FROM_MEASURED);
    }
    return model;
}

/* @param[out] seconds  [kind]; NAN if unknown */
static void price(struct work *work, const struct strag_state *state, const double *factor,
                  double *seconds)
{
    struct strag_fit *fit = work->fit;
    const struct strag_sourced_model model = model_with(fit, factor);
    struct strag_problem problem = fit->problem;
    struct strag_platform *platform = NULL;
    problem.state = state;
    const int status = strag_platform_create(&problem, &model.model, &platform, NULL);
    const struct strag_attempt attempt = {.platform = platform,
                                          .messages = strag_select_messages(problem.n)};
    for (int k = 0; k < fit->nkinds; k++) {
        struct strag_profile *profile = NULL;
        problem.blocks = fit->kinds[k].blocks;
        seconds[k] = NAN;
        if (status == STRAG_OK &&
            strag_profile_attempt(fit->kinds[k].algorithm, &problem, &attempt, &profile, NULL) ==
                STRAG_OK &&
            profile) {
            profile->delay = 0; /* from the last arrival on */
            seconds[k] = strag_profile_seconds(profile, (double)fit->kinds[k].bytes);
        }
        strag_profile_free(profile);
    }
    strag_platform_free(platform);
}

/* Add the sums that are the maximum with these factors. Kinds without a price do not count. */
static void add_point(struct work *work, const struct strag_state *state, const double *factor)
{
    static const double nudge = 1e-3;
    const struct strag_fit *fit = work->fit;
    double here[KINDS], there[KINDS] = {0};
    const int p = work->points++;
    price(work, state, factor, here);
    memcpy(work->rest[p], here, sizeof here);
    for (int i = 0; i < NUMBERS; i++) {
        double other[NUMBERS] = {factor[LATENCY], factor[BANDWIDTH]};
        other[i] *= 1 + nudge;
        if (fit->doubt[i] > 0)
            price(work, state, other, there);
        for (int k = 0; k < fit->nkinds; k++) {
            const double grows = fit->doubt[i] > 0 ? (there[k] - here[k]) / nudge : 0;
            work->part[p][k][i] = grows / factor[i];
            work->rest[p][k] -= grows;
            if (isnan(here[k]) || isnan(grows))
                work->weight[k] = 0;
        }
    }
}

/* The logarithm of the measured time over the longest sum. */
static double deviation(const struct work *work, int kind, const double *factor)
{
    double longest = 0;
    for (int p = 0; p < work->points; p++) {
        const double *part = work->part[p][kind];
        longest = fmax(longest, part[LATENCY] * factor[LATENCY] +
                                    part[BANDWIDTH] * factor[BANDWIDTH] + work->rest[p][kind]);
    }
    return log(work->measured[kind] / longest);
}

/* ---- The fit ---- */

/* What the fit minimizes: the deviations, squared below STRAG_WORTH, and the numbers' moves. */
static double badness(const struct work *work, const double *factor)
{
    const struct strag_fit *fit = work->fit;
    double sum = 0;
    for (int k = 0; k < fit->nkinds; k++) {
        const double off = fabs(deviation(work, k, factor)) / STRAG_WORTH;
        sum += work->weight[k] > 0 ? work->weight[k] * fmin(off, off * off) : 0;
    }
    for (int i = 0; i < NUMBERS; i++)
        sum += fit->doubt[i] > 0 ? pow(log(factor[i]) / fit->doubt[i], 2) : 0;
    return sum;
}

/* Improve the factors until they are the best: by a step in one of eight directions, or by the last
 * step again, which follows a valley. If none is better, the step is halved. */
static void search(const struct work *work, double *factor)
{
    double best = badness(work, factor), last[NUMBERS] = {0, 0};
    for (double step = farthest / 2; step > finest;) {
        const double from[NUMBERS] = {factor[LATENCY], factor[BANDWIDTH]}, before = best;
        for (int way = 0; way < 9; way++) {
            const int row = way / 3, column = way % 3;
            const double by[NUMBERS] = {step * (column - 1), step * (row - 1)};
            double at[NUMBERS];
            for (int i = 0; i < NUMBERS; i++) {
                const double to = log(from[i]) + (way == 4 ? last[i] : by[i]);
                at[i] =
                    work->fit->doubt[i] > 0 ? exp(fmax(-farthest, fmin(farthest, to))) : from[i];
            }
            const double sum = badness(work, at);
            if (sum < best) {
                best = sum;
                memcpy(factor, at, sizeof at);
            }
        }
        for (int i = 0; i < NUMBERS; i++)
            last[i] = log(factor[i] / from[i]);
        if (!(before - best > finest))
            step /= 2;
    }
}

/* The largest difference of a kind's modelled times, as a logarithm. */
static double change(const struct work *work, const double *from, const double *to)
{
    double most = 0;
    for (int k = 0; k < work->fit->nkinds; k++) {
        const double by = fabs(deviation(work, k, from) - deviation(work, k, to));
        most = work->weight[k] > 0 ? fmax(most, by) : most;
    }
    return most;
}

/* The median of the kinds' |modelled / measured - 1|. */
static double error_of(const struct work *work, const double *factor)
{
    double errors[KINDS] = {0};
    int count = 0;
    for (int k = 0; k < work->fit->nkinds; k++) {
        if (work->weight[k] > 0)
            errors[count++] = fabs(expm1(-deviation(work, k, factor)));
    }
    qsort(errors, (size_t)count, sizeof *errors, strag_compare_double);
    return count > 0 ? (errors[(count - 1) / 2] + errors[count / 2]) / 2 : -1;
}

/* Would some kind's time show an error of a sixth in a number? */
static bool shows(const struct work *work, const double *factor, int number)
{
    double other[NUMBERS] = {factor[LATENCY], factor[BANDWIDTH]};
    other[number] *= 7.0 / 6;
    return change(work, factor, other) > STRAG_WORTH;
}

/* May times be older than the links' present state? */
static bool has_older(const struct strag_fit *fit)
{
    return fit->calls < SAMPLES * (uint64_t)fit->nkinds;
}

/* A number counts as measured if it shows before or after the fit: then at least its size is
 * known. */
static void adopt(struct strag_fit *fit, const struct work *work, const double *began,
                  const double *factor)
{
    struct strag_sourced_model model = model_with(fit, factor);
    for (int i = 0; i < NUMBERS; i++) {
        if (!shows(work, began, i) && !shows(work, factor, i))
            model.origin[fit->id[i]] = fit->now.origin[fit->id[i]];
    }
    model.measured_error = error_of(work, factor);
    fit->now = model;
}

/* @param[in,out] factor  in: of the model so far; out: the best ones */
static struct work fit_factors(struct strag_fit *fit, const struct strag_state *state,
                               double *factor)
{
    struct work work = {.fit = fit};
    double last[NUMBERS];
    for (int k = 0; k < fit->nkinds; k++) {
        const unsigned count = fit->kinds[k].count; /* the first call hardly counts */
        work.measured[k] = median_of(&fit->kinds[k]);
        work.weight[k] = count > SAMPLES ? SAMPLES : count > 1 ? count - 1 : 0.25;
    }
    do {
        memcpy(last, factor, sizeof last);
        add_point(&work, state, factor);
        search(&work, factor);
    } while (work.points < POINTS && change(&work, last, factor) > STRAG_WORTH / 5);
    return work;
}

bool strag_fit_update(struct strag_fit *fit, const struct strag_state_record *record,
                      const struct strag_selection *selection)
{
    const struct strag_state state = strag_state_of(record);
    double began[NUMBERS], factor[NUMBERS];
    fit->log[0] = '\0';
    if (fit->calls < fit->next || !is_surprising(fit, selection))
        return false;
    for (int i = 0; i < NUMBERS; i++)
        began[i] = factor[i] = fit->doubt[i] > 0 ? takes(fit, i) / fit->before[i] : 1;
    const struct work work = fit_factors(fit, &state, factor);
    if (error_of(&work, began) < 0)
        return false; /* out of memory, or no plan can be priced */
    const bool moved = change(&work, began, factor) > STRAG_WORTH;
    fit->next = moved || has_older(fit) ? 2 * fit->calls : UINT64_MAX;
    adopt(fit, &work, began, factor);
    if (moved)
        snprintf(
            fit->log, sizeof fit->log,
            "model fitted to %d kinds of calls: %s %.4g us, %s %.4g Gbit/s, error %s (before: %s)",
            fit->nkinds, strag_model_numbers[fit->id[LATENCY]].name, 1e6 * takes(fit, LATENCY),
            strag_model_numbers[fit->id[BANDWIDTH]].name, 8e-9 / takes(fit, BANDWIDTH),
            strag_units_share(fit->now.measured_error).text,
            strag_units_share(error_of(&work, began)).text);
    return moved;
}

void strag_fit_again(struct strag_fit *fit, const struct strag_state_record *state)
{
    begin(fit);
    (void)strag_fit_update(fit, state, NULL);
}

const struct strag_sourced_model *strag_fit_model(const struct strag_fit *fit)
{
    return &fit->now;
}

const char *strag_fit_log(const struct strag_fit *fit)
{
    return fit->log;
}
