/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/trials_class.h"

#include "base/text.h"
#include "model/table_put.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BEFORE = 2,      /* calls of a class before its trial */
    ELSEWHERE = 3,   /* calls in a row of another size before that becomes the class's */
    FINALISTS = 3,   /* in a final, */
    FINAL_CALLS = 3, /* each of which runs so many times */
    PORTION = 2      /* algorithms that are tried at once, of very long calls */
};

/* Who is slower than the fastest by more than that is not in the final; where calls scatter, by
 * more than that and as much again, up to a most. */
static const double final_margin = 0.1, most_margin = 0.3;

/* The winner has to be faster by that than what the table says. */
static const double hysteresis = 0.02;

/* Sizes that differ by less are the same size. */
static const double same_size = 1.045;

struct strag_trials *strag_trials_create(size_t least)
{
    struct strag_trials *trials = calloc(1, sizeof *trials);
    if (trials)
        trials->least = least;
    return trials;
}

void strag_trials_free(struct strag_trials *trials)
{
    free(trials);
}

void strag_trials_forget(struct strag_trials *trials)
{
    memset(trials->classes, 0, sizeof trials->classes);
}

int strag_size_class(size_t bytes)
{
    int size_class = bytes > 1 ? (int)lround(log2((double)bytes)) : 0;
    return size_class < STRAG_SIZE_CLASSES ? size_class : STRAG_SIZE_CLASSES - 1;
}

/* The first size of a class: the one before ends there. */
static size_t class_begin(int size_class)
{
    return (size_t)ceil(exp2(size_class - 0.5));
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- Calls ---- */

static bool is_same_size(double a, double b)
{
    return a < b * same_size && b < a * same_size;
}

/* Before a trial the class has what tables said. @return -1: there is no room */
static int find_or_add(struct strag_trial_class *class, const struct strag_trial_run *what)
{
    const int form = strag_trial_find_form(class, what->algorithm, what->blocks);
    if (form >= 0 || class->phase != STRAG_TRIAL_NEW)
        return form;
    if (class->forms == STRAG_TRIAL_FORMS)
        class->forms = 0;
    class->form[class->forms] =
        (struct strag_trial_form){.what = {what->algorithm, what->blocks, 0}};
    return class->forms++;
}

/* A class's size is what most of its calls have. */
void strag_trials_note(struct strag_trials *trials, size_t bytes,
                       const struct strag_trial_run *what, bool tried, double seconds)
{
    struct strag_trial_class *class = &trials->classes[strag_size_class(bytes)];
    if (class->calls++ == 0)
        class->first = seconds;
    class->seconds += seconds;
    if (tried && class->wanted > 0)
        class->wanted--; /* also if it is not counted below: nobody would wait for another one */
    if (class->size > 0 && !is_same_size(class->size, (double)bytes)) {
        if (class->phase != STRAG_TRIAL_NEW || ++class->elsewhere < ELSEWHERE)
            return;
        class->size = 0;
        class->forms = 0;
    }
    class->elsewhere = 0;
    if (!(class->size > 0))
        class->size = (double)bytes;
    const int found = find_or_add(class, what);
    if (found >= 0) {
        struct strag_trial_form *form = &class->form[found];
        form->seconds[form->count++ % STRAG_TRIAL_SAMPLES] = (float)seconds;
    }
    if (tried && class->phase == STRAG_TRIAL_HEATS)
        class->lost += fmax(0, seconds / strag_trial_best(class) - 1);
}

/* ---- Heats and final ---- */

/* Sizes of the class alone: its calls are counted there. @param last  the form that runs after the
 * others, if it does */
static void give_out(const struct strag_trials *trials, struct strag_trial_class *class,
                     const bool *runs, int last, int calls, struct strag_trial *trial)
{
    const int size_class = (int)(class - trials->classes);
    const size_t from = (size_t)ceil(class->size / same_size);
    const size_t to = (size_t)ceil(class->size * same_size), end = class_begin(size_class + 1);
    *trial = (struct strag_trial){
        .from = larger(larger(from, class_begin(size_class)), trials->least),
        .to = to < end ? to : end,
    };
    class->wanted = 0;
    for (int i = 0; i < class->forms; i++) {
        const int f = (last + 1 + i) % class->forms;
        if (!runs[f])
            continue;
        struct strag_trial_run *run = &trial->run[trial->runs++];
        *run = class->form[f].what;
        run->calls = calls;
        class->wanted += calls;
    }
}

static void begin_heats(const struct strag_trials *trials, struct strag_trial_class *class,
                        struct strag_trial *trial)
{
    bool runs[STRAG_TRIAL_FORMS];
    const int calls = strag_trial_heat_calls(class),
              most = strag_trial_is_very_long(class) ? PORTION : STRAG_TRIAL_RUNS;
    for (int f = 0, count = 0; f < class->forms; f++) {
        runs[f] = class->form[f].count < calls && count < most;
        count += runs[f];
    }
    class->phase = STRAG_TRIAL_HEATS;
    give_out(trials, class, runs, class->forms - 1, calls, trial);
}

/* The others of a very long call's heats: not if enough was lost with those that ran. */
static bool has_more_heats(const struct strag_trial_class *class)
{
    bool more = false;
    for (int f = 0; f < class->forms; f++)
        more = more || class->form[f].count == 0;
    return more && class->lost <= strag_trial_most_granted(class);
}

static double median_of(const struct strag_trial_class *class, int form)
{
    double scatter;
    return strag_trial_median(&class->form[form], &scatter);
}

/* How much slower than the fastest finalists may be: more where calls scatter, by those of the
 * table's choice, of which there are most. (1.5 median distances are a standard deviation.) */
static double margin_of(const struct strag_trial_class *class)
{
    double scatter;
    const double median = strag_trial_median(&class->form[0], &scatter);
    return strag_trial_is_very_long(class)
               ? final_margin
               : fmin(final_margin + 1.5 * scatter / median, most_margin);
}

/* @param runs  forms that are taken already @return the one with the least median; -1: none */
static int find_fastest(const struct strag_trial_class *class, const bool *runs)
{
    int fastest = -1;
    for (int f = 0; f < class->forms; f++) {
        if (!runs[f] && class->form[f].count > 0 &&
            (fastest < 0 || median_of(class, f) < median_of(class, fastest)))
            fastest = f;
    }
    return fastest;
}

/* Has the table's choice run as often as others will have after the final? Trials of short calls,
 * which may be set up late, so end within the first 30. (Long ones take longer at first.) */
static bool has_run_enough(const struct strag_trial_class *class)
{
    const int calls = strag_trial_heat_calls(class);
    return calls > 1 && class->form[0].count >= calls + FINAL_CALLS;
}

/* Where calls scatter a call or two tell less. The fastest so far is last: it goes on as the job
 * does that has no more to try. */
static void begin_final(const struct strag_trials *trials, struct strag_trial_class *class,
                        struct strag_trial *trial)
{
    bool runs[STRAG_TRIAL_FORMS] = {false};
    const double margin = margin_of(class);
    int finalists = 0;
    const int fastest = find_fastest(class, runs);
    class->winner = fastest >= 0 ? fastest : 0;
    const double least = median_of(class, class->winner);
    for (int next = class->winner; next >= 0 && finalists < FINALISTS; finalists++) {
        if (median_of(class, next) > (1 + margin) * least)
            break;
        runs[next] = true;
        next = find_fastest(class, runs);
    }
    class->phase = finalists > 1 ? STRAG_TRIAL_FINAL : STRAG_TRIAL_OVER;
    runs[0] = runs[0] && !has_run_enough(class);
    trial->runs = 0;
    if (finalists > 1)
        give_out(trials, class, runs, fastest, FINAL_CALLS, trial);
}

/* The first form is what the table says. */
static void end_final(struct strag_trial_class *class)
{
    bool out[STRAG_TRIAL_FORMS];
    for (int f = 0; f < class->forms; f++)
        out[f] = class->form[f].count <= FINAL_CALLS;
    const int fastest = find_fastest(class, out);
    const bool is_faster =
        fastest >= 0 && median_of(class, fastest) < median_of(class, 0) * (1 - hysteresis);
    class->winner = is_faster ? fastest : 0;
    class->phase = STRAG_TRIAL_OVER;
}

bool strag_trials_next(struct strag_trials *trials, size_t bytes, const struct strag_offer *offers,
                       int count, struct strag_trial *trial)
{
    const int size_class = strag_size_class(bytes);
    struct strag_trial_class *class = &trials->classes[size_class];
    trial->runs = 0;
    if (class->wanted > 0 || class->phase == STRAG_TRIAL_OVER || !(class->size > 0) || count == 0 ||
        class->size < (double)trials->least)
        return false;
    if (class->phase == STRAG_TRIAL_NEW) {
        if (class->calls < BEFORE)
            return false;
        strag_trial_choose(trials, size_class, offers, count, FINAL_CALLS * (FINALISTS - 1));
        if (class->forms > 1 && class->thought > strag_trial_may_lose(class))
            return false;
        if (class->forms > 1) {
            begin_heats(trials, class, trial);
        } else {
            class->phase = STRAG_TRIAL_OVER;
            class->winner = 0;
        }
    } else if (class->phase == STRAG_TRIAL_HEATS) {
        if (has_more_heats(class) || strag_trial_add_promising(class, offers, count))
            begin_heats(trials, class, trial);
        else
            begin_final(trials, class, trial);
    } else {
        end_final(class);
    }
    return trial->runs > 0;
}

bool strag_trials_is_over(const struct strag_trials *trials, size_t bytes)
{
    return trials->classes[strag_size_class(bytes)].phase == STRAG_TRIAL_OVER;
}

uint64_t strag_trials_settled(const struct strag_trials *trials)
{
    uint64_t settled = 0;
    for (int c = 0; c < STRAG_SIZE_CLASSES; c++)
        settled |= (uint64_t)(trials->classes[c].phase == STRAG_TRIAL_OVER) << c;
    return settled;
}

int strag_trials_left(const struct strag_trials *trials, size_t bytes)
{
    return trials->classes[strag_size_class(bytes)].wanted;
}

size_t strag_trials_size(const struct strag_trials *trials, int size_class)
{
    return size_class < STRAG_SIZE_CLASSES ? (size_t)trials->classes[size_class].size : 0;
}

/* ---- What follows ---- */

void strag_trials_apply(const struct strag_trials *trials, struct strag_table *table)
{
    for (int c = 1; c < STRAG_SIZE_CLASSES; c++) {
        const struct strag_trial_class *class = &trials->classes[c];
        const struct strag_trial_run *what = &class->form[class->winner].what;
        if (class->phase == STRAG_TRIAL_OVER)
            strag_table_put(
                table, larger(class_begin(c), trials->least), class_begin(c + 1),
                &(struct strag_entry){.algorithm = what->algorithm, .blocks = what->blocks});
    }
}

bool strag_trials_find_outcome(const struct strag_trials *trials,
                               struct strag_trials_outcome *outcome)
{
    bool any = false;
    memset(outcome, 0, sizeof *outcome);
    for (int c = 0; c < STRAG_SIZE_CLASSES; c++) {
        const struct strag_trial_class *class = &trials->classes[c];
        if (class->phase != STRAG_TRIAL_OVER || class->forms < 2)
            continue;
        outcome->winner[c] = class->form[class->winner].what;
        outcome->size[c] = class->size;
        any = true;
    }
    return any;
}

void strag_trials_merge(struct strag_trials_outcome *outcome,
                        const struct strag_trials_outcome *newer)
{
    for (int c = 0; c < STRAG_SIZE_CLASSES; c++) {
        if (!(newer->size[c] > 0))
            continue;
        outcome->size[c] = newer->size[c];
        outcome->winner[c] = newer->winner[c];
    }
}

void strag_trials_adopt(struct strag_trials *trials, const struct strag_trials_outcome *outcome)
{
    for (int c = 0; c < STRAG_SIZE_CLASSES; c++) {
        struct strag_trial_class *class = &trials->classes[c];
        if (!(outcome->size[c] > 0) || outcome->size[c] < (double)trials->least ||
            class->phase != STRAG_TRIAL_NEW)
            continue;
        *class = (struct strag_trial_class){
            .phase = STRAG_TRIAL_OVER, .size = outcome->size[c], .forms = 1};
        class->form[0].what = outcome->winner[c];
    }
}

const char *strag_trials_text(const struct strag_trials *trials, size_t bytes, char *text,
                              size_t size)
{
    const struct strag_trial_class *class = &trials->classes[strag_size_class(bytes)];
    size_t used = 0;
    text[0] = '\0';
    if (class->phase != STRAG_TRIAL_OVER)
        return text;
    for (int f = 0; f <= class->forms && used < size; f++) {
        const bool end = f == class->forms;
        const struct strag_trial_form *form = &class->form[end ? class->winner : f];
        const char *name = form->what.algorithm ? form->what.algorithm->name : "previous";
        double scatter;
        if (!end && form->count == 0)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 end    ? ": "
                                 : used ? ", "
                                        : "",
                                 name);
        if (form->what.blocks && used < size)
            used += (size_t)snprintf(text + used, size - used, " in %d blocks", form->what.blocks);
        if (used < size && end)
            snprintf(text + used, size - used, " runs");
        else if (used < size)
            used += (size_t)snprintf(text + used, size - used, " %.4g ms",
                                     1e3 * strag_trial_median(form, &scatter));
    }
    return text;
}
