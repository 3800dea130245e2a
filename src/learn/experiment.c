/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/experiment.h"

#include "detect/thresholds.h"

#include "model/sizes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FIRST = 3, /* calls: the rival's first, then one of each, which end the experiment if the
                * rival takes STRAG_MUCH_MORE */
    FOUR = 4,
    FOURS_LEAST = STRAG_RECENT,   /* before a decision */
    FOURS_MOST = 4 * FOURS_LEAST, /* end the experiment */
};

/* Relative. Plans whose modelled times differ by less send the same messages in another order. */
static const double same = 0.001;

struct strag_experiments {
    size_t least;
    struct strag_findings findings;

    /* The running experiment, in class size_class */
    bool running, counts; /* counts: the first calls have ended */
    int size_class;
    struct strag_variant usual, rival;
    struct strag_window_order order; /* without calls: it waits until there is time again */
    int fours;
    double sum, squares; /* of the fours' log(C C / U U) / 2 */
    double lost;         /* seconds so far */
    uint64_t chance;     /* the state of the random generator */
    char log[160];
};

struct strag_experiments *strag_experiments_create(size_t least, uint64_t seed)
{
    struct strag_experiments *experiments = calloc(1, sizeof *experiments);
    if (experiments) {
        experiments->least = least;
        experiments->chance = seed ^ 88172645463325252; /* not 0 */
    }
    return experiments;
}

void strag_experiments_free(struct strag_experiments *experiments)
{
    free(experiments);
}

void strag_experiments_stop(struct strag_experiments *experiments)
{
    if (experiments->running)
        experiments->findings.of[experiments->size_class].tried--; /* there was no verdict */
    experiments->running = false;
}

void strag_experiments_forget(struct strag_experiments *experiments)
{
    experiments->running = false;
    experiments->findings = (struct strag_findings){.of = {{.found = false}}};
}

/* ---- Classes of sizes ---- */

static int class_of(size_t bytes)
{
    const int size_class = bytes > 1 ? (int)lround(log2((double)bytes)) : 0;
    return size_class < STRAG_SIZE_CLASSES ? size_class : STRAG_SIZE_CLASSES - 1;
}

/* The first size of a class. */
static size_t class_begin(int size_class)
{
    return (size_t)ceil(exp2(size_class - 0.5));
}

void strag_experiments_apply(const struct strag_experiments *experiments, struct strag_table *table)
{
    for (int c = 1; c < STRAG_SIZE_CLASSES; c++) {
        const struct strag_finding *finding = &experiments->findings.of[c];
        const size_t begin = class_begin(c);
        const struct strag_entry entry = {.algorithm = finding->runs.algorithm,
                                          .blocks = finding->runs.blocks};
        if (finding->found)
            strag_table_put(table, begin > experiments->least ? begin : experiments->least,
                            class_begin(c + 1), &entry);
    }
}

struct strag_findings *strag_experiments_findings(struct strag_experiments *experiments)
{
    return &experiments->findings;
}

void strag_findings_merge(struct strag_findings *findings, const struct strag_findings *newer)
{
    for (int c = 0; c < STRAG_SIZE_CLASSES; c++) {
        if (newer->of[c].tried > findings->of[c].tried)
            findings->of[c] = newer->of[c];
    }
}

/* ---- Rivals ---- */

static bool is_same(const struct strag_variant *a, const struct strag_variant *b)
{
    return a->algorithm == b->algorithm && a->blocks == b->blocks;
}

static double modelled(const struct strag_experiment_inputs *inputs,
                       const struct strag_variant *choice)
{
    return strag_selection_seconds(inputs->selection, choice->algorithm, choice->blocks,
                                   inputs->bytes, -1);
}

static bool was_tried(const struct strag_finding *class, const struct strag_variant *choice)
{
    int r = 0;
    while (r < class->tried && !is_same(&class->rival[r], choice))
        r++;
    return r < class->tried;
}

/* @param[in,out] least  seconds of the best rival so far @return whether `choice` is better */
static bool is_better(const struct strag_experiment_inputs *inputs,
                      const struct strag_finding *class, const struct strag_variant *usual,
                      const struct strag_variant *choice, double *least)
{
    const double now = modelled(inputs, usual), seconds = modelled(inputs, choice);
    const bool as_fast = choice->algorithm && usual->algorithm && fabs(seconds - now) <= same * now;
    if (choice->algorithm == usual->algorithm || was_tried(class, choice) || as_fast ||
        !(seconds <= STRAG_MINIMUM_GAIN * now) || seconds >= *least)
        return false;
    *least = seconds;
    return true;
}

/* @param[out] rival  untouched if there is none */
static bool find_rival(const struct strag_experiment_inputs *inputs,
                       const struct strag_finding *class, const struct strag_variant *usual,
                       struct strag_variant *rival)
{
    const struct strag_variant previous = {NULL, 0};
    double least = INFINITY;
    if (is_better(inputs, class, usual, &previous, &least)) {
        *rival = previous;
        return true;
    }
    for (int c = 0; c < inputs->selection->candidates; c++) {
        const struct strag_candidate *candidate = &inputs->selection->candidate[c];
        const struct strag_variant choice = {candidate->algorithm, candidate->blocks};
        if (!candidate->algorithm->needs_straggler &&
            is_better(inputs, class, usual, &choice, &least))
            *rival = choice;
    }
    return least < INFINITY;
}

/* ---- Windows ---- */

static bool by_chance(struct strag_experiments *experiments)
{
    uint64_t *s = &experiments->chance;
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s >> 40 & 1;
}

static void order_window(struct strag_experiments *experiments)
{
    enum { UCCU = 6, CUUC = 9, CCU = 3, CUC = 5 }; /* the first call is bit 0 */
    struct strag_window_order *order = &experiments->order;
    order->calls = !experiments->counts ? FIRST : experiments->fours == 0 ? FOUR : 2 * FOUR;
    if (!experiments->counts)
        order->rival_runs = by_chance(experiments) ? CCU : CUC;
    else
        order->rival_runs =
            (by_chance(experiments) ? UCCU : CUUC) | (by_chance(experiments) ? UCCU : CUUC) << FOUR;
}

static struct strag_variant usual_of(const struct strag_experiment_inputs *inputs, size_t bytes)
{
    const struct strag_entry *entry = strag_table_entry(inputs->table, bytes);
    return (struct strag_variant){entry->algorithm, entry->blocks};
}

static void begin(struct strag_experiments *experiments,
                  const struct strag_experiment_inputs *inputs)
{
    const int size_class = class_of(inputs->bytes);
    struct strag_finding *class = &experiments->findings.of[size_class];
    const struct strag_variant usual = usual_of(inputs, inputs->bytes);
    struct strag_variant rival;
    if (inputs->bytes < experiments->least || class->tried == STRAG_RIVALS ||
        !(inputs->left > inputs->call) /* the rival's first call */ ||
        !find_rival(inputs, class, &usual, &rival))
        return;
    class->rival[class->tried++] = rival;
    experiments->running = true;
    experiments->counts = false;
    experiments->size_class = size_class;
    experiments->usual = usual;
    experiments->rival = rival;
    experiments->fours = 0;
    experiments->sum = experiments->squares = experiments->lost = 0;
    experiments->order = (struct strag_window_order){.bytes = inputs->bytes,
                                                     .operation = inputs->operation,
                                                     .rival = rival.algorithm,
                                                     .blocks = rival.blocks};
}

bool strag_experiments_next(struct strag_experiments *experiments,
                            const struct strag_experiment_inputs *inputs,
                            struct strag_window_order *order)
{
    if (experiments->running) {
        const struct strag_variant usual = usual_of(inputs, (size_t)experiments->order.bytes);
        experiments->running = is_same(&usual, &experiments->usual);
    }
    if (!experiments->running)
        begin(experiments, inputs);
    experiments->order.calls = 0;
    if (!experiments->running || !(inputs->left > 0))
        return false;
    order_window(experiments);
    *order = experiments->order;
    return true;
}

/* ---- The verdict ---- */

static const char *name_of(const struct strag_variant *choice)
{
    return choice->algorithm ? choice->algorithm->name : "the previous component";
}

static void end(struct strag_experiments *experiments, bool faster, double ratio)
{
    struct strag_finding *class = &experiments->findings.of[experiments->size_class];
    experiments->running = false;
    if (faster) {
        class->found = true;
        class->runs = experiments->rival;
    }
    snprintf(experiments->log, sizeof experiments->log,
             "experiment with %zu bytes: %s takes %.2f of the time of %s: %s runs",
             (size_t)experiments->order.bytes, name_of(&experiments->rival), ratio,
             name_of(&experiments->usual),
             name_of(faster ? &experiments->rival : &experiments->usual));
}

static void decide(struct strag_experiments *experiments)
{
    const int fours = experiments->fours;
    const double mean = experiments->sum / fours;
    const double variance =
        fmax(0, experiments->squares / fours - mean * mean) * fours / fmax(1, fours - 1);
    const double error = sqrt(fmax(variance, STRAG_WORTH * STRAG_WORTH) / fours);
    if (fours < FOURS_LEAST)
        return;
    if (mean < -fmax(STRAG_VERY_SURE * error, STRAG_WORTH))
        end(experiments, true, exp(mean));
    else if (mean > -error || fours >= FOURS_MOST)
        end(experiments, false, exp(mean));
}

static void add_four(struct strag_experiments *experiments, const double *seconds, uint32_t rival)
{
    double logarithm = 0;
    for (int c = 0; c < FOUR; c++)
        logarithm += (rival >> c & 1 ? 0.5 : -0.5) * log(seconds[c]);
    experiments->fours++;
    experiments->sum += logarithm;
    experiments->squares += logarithm * logarithm;
}

/* The time of the rival's calls less that of as many calls of the table's choice. */
static double lost_in(const double *seconds, int count, uint32_t rival)
{
    double sum[2] = {0, 0};
    int calls[2] = {0, 0};
    for (int c = 0; c < count; c++) {
        sum[rival >> c & 1] += seconds[c];
        calls[rival >> c & 1]++;
    }
    return calls[0] > 0 ? sum[1] - calls[1] * sum[0] / calls[0] : 0;
}

/* Did the calls run what was ordered, and are their times known?
 * @param[out] seconds  [count] */
static bool are_good(const struct strag_experiments *experiments,
                     const struct strag_experiment_call *calls, int count, double *seconds)
{
    const uint32_t rival = experiments->order.rival_runs;
    int c = 0;
    while (c < count && calls[c].seconds > 0 && calls[c].seconds < INFINITY &&
           is_same(&calls[c].ran, rival >> c & 1 ? &experiments->rival : &experiments->usual)) {
        seconds[c] = calls[c].seconds;
        c++;
    }
    return c == count;
}

double strag_experiments_add(struct strag_experiments *experiments,
                             const struct strag_experiment_call *calls, int count)
{
    const uint32_t rival = experiments->order.rival_runs;
    const bool ordered = experiments->order.calls > 0;
    double seconds[STRAG_WINDOW_CALLS];
    experiments->log[0] = '\0';
    experiments->order.calls = 0;
    if (!ordered)
        return 0;
    if (!experiments->running)
        return 0;
    if (!are_good(experiments, calls, count, seconds)) {
        experiments->running = false;
        return 0;
    }
    const double before = fmax(0, experiments->lost);
    experiments->lost += lost_in(seconds, count, rival);
    if (count < (experiments->counts ? FOUR : FIRST)) {
        strag_experiments_stop(experiments); /* calls of this size do not come for now */
    } else if (experiments->counts) {
        for (int c = 0; c + FOUR <= count; c += FOUR)
            add_four(experiments, seconds + c, rival >> c);
        decide(experiments);
    } else if (count == FIRST) {
        const int second = rival >> 1 & 1 ? 1 : 2; /* the rival's second call */
        const double ratio = seconds[second] / seconds[3 - second];
        experiments->counts = true;
        if (ratio > STRAG_MUCH_MORE)
            end(experiments, false, ratio);
    }
    return fmax(0, experiments->lost) - before;
}

const char *strag_experiments_log(const struct strag_experiments *experiments)
{
    return experiments->log;
}
