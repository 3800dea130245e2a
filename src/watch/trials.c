/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/trials.h"

#include "base/text.h"
#include "model/table_put.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 8,                  /* that are kept of each */
    BEFORE = 3,                   /* calls of a class before its trial */
    FINALISTS = 3,                /* in a final, */
    FINAL_CALLS = 3,              /* each of which runs so many times */
    FREE_CALLS = 30,              /* a class's first ones, in which trials are not bounded */
    PER_ALGORITHM = 2,            /* counts of blocks that are tried */
    FORMS = STRAG_TRIAL_RUNS + 2, /* in all: some may follow in second heats */
    ALIKE = 2,  /* forms that are tried of those that the model cannot tell apart */
    PORTION = 2 /* algorithms that are tried at once, of very long calls */
};

/* What is modelled to take longer than the best by more than that is not tried. */
static const double margin = 0.2;

/* Who is slower than the fastest by more than that is not in the final. */
static const double final_margin = 0.1;

/* The winner has to be faster by that than what the table says. */
static const double hysteresis = 0.02;

/* What trials may lose, in calls: among a class's first ones, ... */
static const double free_lost = 10;

/* ... of very long calls so many and a share of the calls so far, ... */
static const double long_lost = 1, long_share = 0.1;

/* ... and later a share of all its calls. */
static const double most_lost = 0.02;

/* What a call is thought to lose at the least. */
static const double thought_lost = 0.1;

/* A call that takes longer measures an algorithm alone: connections and plans are made in less. */
static const double long_call = 20e-3;

/* Of those that take longer a trial is felt. */
static const double very_long_call = 0.1;

/* Forms whose modelled times differ by less are alike: the same messages in another order. */
static const double alike = 0.001;

/* Latencies that might overlap are hoped to where that would make more of a difference. */
static const double worth_hoping = 0.02;

/* Sizes that differ by less are the same size. */
static const double same_size = 1.045;

enum phase { NEW, HEATS, FINAL, OVER };

struct form {
    struct strag_trial_run what;
    double modelled, hoped; /* seconds: what it takes, and if all latencies overlap that may */
    int count;              /* calls so far */
    float seconds[SAMPLES];
};

struct class
{
    enum phase phase;
    double size;   /* of its trials; 0: no calls so far */
    int elsewhere; /* calls in a row of other sizes */
    int calls;
    double seconds;
    bool again;        /* there were second heats */
    double thought;    /* calls that its trial is thought to lose */
    double lost;       /* ... and really has lost, before the final */
    int forms, wanted; /* ... and calls that the trial at hand still has to come */
    int winner;        /* once it is over */
    struct form form[FORMS];
};

struct strag_trials {
    size_t least; /* bytes: shorter vectors are left alone */
    struct class classes[STRAG_SIZE_CLASSES];
};

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

static struct form *find_form(const struct class *class, const struct strag_algorithm *algorithm,
                              int blocks)
{
    for (int f = 0; f < class->forms; f++) {
        const struct strag_trial_run *what = &class->form[f].what;
        if (what->algorithm == algorithm && what->blocks == blocks)
            return (struct form *)&class->form[f];
    }
    return NULL;
}

/* Before a trial the class has what tables said. */
static struct form *find_or_add(struct class *class, const struct strag_trial_run *what)
{
    struct form *form = find_form(class, what->algorithm, what->blocks);
    if (form || class->phase != NEW)
        return form;
    if (class->forms == FORMS)
        class->forms = 0;
    form = &class->form[class->forms++];
    *form = (struct form){.what = {what->algorithm, what->blocks, 0}};
    return form;
}

/* The first call of a short one may have made connections and plans, and does not count.
 * @param[out] sorted  [SAMPLES] @return how many */
static int sort_samples(const struct form *form, float *sorted)
{
    int count = form->count < SAMPLES ? form->count : SAMPLES;
    int first = count > 1 && count < SAMPLES && (double)form->seconds[0] < long_call;
    memcpy(sorted, form->seconds + first, (size_t)(count - first) * sizeof *sorted);
    qsort(sorted, (size_t)(count - first), sizeof *sorted, strag_compare_float);
    return count - first;
}

/* @return INFINITY: it never ran */
static double shortest(const struct form *form)
{
    float sorted[SAMPLES];
    return sort_samples(form, sorted) > 0 ? (double)sorted[0] : INFINITY;
}

static double best_so_far(const struct class *class)
{
    double best = INFINITY;
    for (int f = 0; f < class->forms; f++)
        best = fmin(best, shortest(&class->form[f]));
    return best;
}

/* A class's size is what most of its calls have. */
void strag_trials_note(struct strag_trials *trials, size_t bytes,
                       const struct strag_trial_run *what, bool tried, double seconds)
{
    struct class *class = &trials->classes[strag_size_class(bytes)];
    class->calls++;
    class->seconds += seconds;
    if (tried && class->wanted > 0)
        class->wanted--; /* also if it is not counted below: nobody would wait for another one */
    if (class->size > 0 && !is_same_size(class->size, (double)bytes)) {
        if (class->phase != NEW || ++class->elsewhere < BEFORE)
            return;
        class->size = 0;
        class->forms = 0;
    }
    class->elsewhere = 0;
    if (!(class->size > 0))
        class->size = (double)bytes;
    struct form *form = find_or_add(class, what);
    if (form)
        form->seconds[form->count++ % SAMPLES] = (float)seconds;
    if (tried && class->phase == HEATS)
        class->lost += fmax(0, seconds / best_so_far(class) - 1);
}

/* @param[out] doubt  of the median, by what the calls scatter; seconds */
static double median(const struct form *form, double *doubt)
{
    float sorted[SAMPLES], apart[SAMPLES];
    const int count = sort_samples(form, sorted);
    if (count == 0)
        return *doubt = INFINITY;
    const float middle =
        count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    for (int i = 0; i < count; i++)
        apart[i] = fabsf(sorted[i] - middle);
    qsort(apart, (size_t)count, sizeof *apart, strag_compare_float);
    *doubt = 1.5 * (double)apart[count / 2] / sqrt(count);
    return (double)middle;
}

/* ---- Who is tried ---- */

/* How much longer than modelled an algorithm took at sizes nearby, by what it is fair to expect
 * that it will again. @return 0: it was not tried there */
static double experience(const struct strag_trials *trials, int size_class,
                         const struct strag_offer *offer)
{
    static const int near[] = {-1, 1};
    double ratio = 0;
    for (int i = 0; i < 2; i++) {
        int c = size_class + near[i];
        if (c < 0 || c >= STRAG_SIZE_CLASSES || trials->classes[c].phase < FINAL)
            continue;
        const struct class *class = &trials->classes[c];
        for (int f = 0; f < class->forms; f++) {
            const struct form *form = &class->form[f];
            if (form->what.algorithm == offer->algorithm && form->count > 0 && form->modelled > 0)
                ratio = shortest(form) / form->modelled;
        }
    }
    return ratio;
}

/* What may be tried: how long it takes if all goes well, and if not. */
struct entrant {
    const struct strag_offer *offer;
    double expected, worst;
};

static int compare_entrants(const void *a, const void *b)
{
    const struct entrant *x = a, *y = b;
    if (x->expected != y->expected)
        return x->expected < y->expected ? -1 : 1;
    return x->offer < y->offer ? -1 : 1;
}

/* What it takes if all goes well. */
static double hoped(const struct strag_offer *offer)
{
    return offer->seconds - (offer->spare > worth_hoping * offer->seconds ? offer->spare : 0);
}

static void add_form(struct class *class, const struct strag_offer *offer)
{
    struct form *form = find_form(class, offer->algorithm, offer->blocks);
    if (!form) {
        form = &class->form[class->forms++];
        *form = (struct form){.what = {offer->algorithm, offer->blocks, 0}};
    }
    form->modelled = offer->seconds;
    form->hoped = hoped(offer);
}

static int count_forms(const struct class *class, const struct strag_algorithm *algorithm)
{
    int count = 0;
    for (int f = 0; f < class->forms; f++)
        count += class->form[f].what.algorithm == algorithm;
    return count;
}

static bool is_close(double a, double b)
{
    return fabs(a - b) <= alike * b;
}

/* What the previous component runs is not known, so it is like nothing else. */
static int count_alike(const struct class *class, const struct strag_offer *offer)
{
    int count = 0;
    for (int f = 0; f < class->forms && offer->algorithm; f++) {
        const struct form *form = &class->form[f];
        count += form->what.algorithm && is_close(form->modelled, offer->seconds) &&
                 is_close(form->hoped, hoped(offer));
    }
    return count;
}

/* Is there nothing to be learnt from trying it that others do not show? */
static bool is_superfluous(const struct class *class, const struct strag_offer *offer,
                           int per_algorithm)
{
    return find_form(class, offer->algorithm, offer->blocks) ||
           count_forms(class, offer->algorithm) >= per_algorithm ||
           count_alike(class, offer) >= ALIKE;
}

/* Others than the table's choice have not run here, or not for long: what ran before is forgotten
 * unless it is that. */
static void keep_only(struct class *class, const struct strag_offer *usual)
{
    const struct form *form = find_form(class, usual->algorithm, usual->blocks);
    struct form kept = form ? *form : (struct form){.what = {usual->algorithm, usual->blocks, 0}};
    kept.modelled = usual->seconds;
    kept.hoped = hoped(usual);
    class->form[0] = kept;
    class->forms = 1;
}

static struct entrant enter(const struct strag_trials *trials, int size_class,
                            const struct strag_offer *offer)
{
    const double ratio = experience(trials, size_class, offer);
    if (ratio > 0)
        return (struct entrant){offer, ratio * offer->seconds, ratio * offer->seconds};
    return (struct entrant){offer, hoped(offer), offer->seconds};
}

static bool is_very_long(const struct class *class)
{
    return class->calls > 0 && class->seconds / class->calls > very_long_call;
}

static int heat_calls(const struct class *class)
{
    return class->seconds / class->calls > long_call ? 1 : 2;
}

/* Calls that a trial may lose which begins now. */
static double may_lose(const struct class *class)
{
    if (class->calls > FREE_CALLS)
        return most_lost * class->calls;
    return is_very_long(class) ? long_lost + long_share * class->calls : free_lost;
}

/* The most that may ever be granted in the first calls: what would lose more is not tried at all.
 */
static double most_granted(const struct class *class)
{
    return is_very_long(class) ? long_lost + long_share * FREE_CALLS : free_lost;
}

/* @param worst  how many times as long as the best it may take */
static void add_if_granted(struct class *class, const struct strag_offer *offer, double worst,
                           int per_algorithm)
{
    const double lost = heat_calls(class) * fmax(thought_lost, worst - 1);
    if (is_superfluous(class, offer, per_algorithm) || class->thought + lost > most_granted(class))
        return;
    add_form(class, offer);
    class->thought += lost;
}

/* The table's choice is the first form; the others in the order of what is expected of them, each
 * algorithm with one count of blocks before any has a second one. */
static void choose_forms(const struct strag_trials *trials, int size_class, struct class *class,
                         const struct strag_offer *offers, int count)
{
    struct entrant *entrants = malloc((size_t)count * sizeof *entrants);
    keep_only(class, offers);
    if (!entrants)
        return;
    double best = offers->seconds;
    for (int i = 0; i < count; i++) {
        entrants[i] = enter(trials, size_class, &offers[i]);
        best = fmin(best, offers[i].seconds);
    }
    /* If it takes longer than modelled, so will others; if not, they will not take as long, either
     */
    if (shortest(&class->form[0]) < INFINITY)
        best = fmax(best, shortest(&class->form[0]));
    qsort(entrants, (size_t)count, sizeof *entrants, compare_entrants);
    class->thought = FINAL_CALLS * (FINALISTS - 1) * thought_lost;
    for (int most = 1; most <= PER_ALGORITHM; most++) {
        for (int i = 0; i < count && class->forms < STRAG_TRIAL_RUNS; i++) {
            if (entrants[i].expected <= (1 + margin) * best)
                add_if_granted(class, entrants[i].offer, entrants[i].worst / best, most);
        }
    }
    free(entrants);
}

/* ---- Heats and final ---- */

/* Sizes of the class alone: its calls are counted there. */
static void give_out(const struct strag_trials *trials, struct class *class, const bool *runs,
                     int calls, struct strag_trial *trial)
{
    const int size_class = (int)(class - trials->classes);
    const size_t from = (size_t)ceil(class->size / same_size);
    const size_t to = (size_t)ceil(class->size * same_size), end = class_begin(size_class + 1);
    *trial = (struct strag_trial){
        .from = larger(larger(from, class_begin(size_class)), trials->least),
        .to = to < end ? to : end,
    };
    class->wanted = 0;
    for (int f = 0; f < class->forms; f++) {
        if (!runs[f])
            continue;
        struct strag_trial_run *run = &trial->run[trial->runs++];
        *run = class->form[f].what;
        run->calls = calls;
        class->wanted += calls;
    }
}

static void begin_heats(const struct strag_trials *trials, struct class *class,
                        struct strag_trial *trial)
{
    bool runs[FORMS];
    const int calls = heat_calls(class), most = is_very_long(class) ? PORTION : STRAG_TRIAL_RUNS;
    for (int f = 0, count = 0; f < class->forms; f++) {
        runs[f] = class->form[f].count < calls && count < most;
        count += runs[f];
    }
    class->phase = HEATS;
    give_out(trials, class, runs, calls, trial);
}

/* The others of a very long call's heats: not if enough was lost with those that ran. */
static bool has_more_heats(const struct class *class)
{
    bool more = false;
    for (int f = 0; f < class->forms; f++)
        more = more || class->form[f].count == 0;
    return more && class->lost <= most_granted(class);
}

/* The model has learnt from what ran. */
static void model_again(struct class *class, const struct strag_offer *offers, int count)
{
    for (int i = 0; i < count; i++) {
        struct form *form = find_form(class, offers[i].algorithm, offers[i].blocks);
        if (form) {
            form->modelled = offers[i].seconds;
            form->hoped = hoped(&offers[i]);
        }
    }
}

/* What the model has learnt from the heats may speak for others. @return whether there are any */
static bool add_promising(struct class *class, const struct strag_offer *offers, int count)
{
    const double best = best_so_far(class);
    const int before = class->forms;
    model_again(class, offers, count);
    for (int i = 0; i < count && class->forms < FORMS && !class->again; i++) {
        if (hoped(&offers[i]) < best)
            add_if_granted(class, &offers[i], offers[i].seconds / best, PER_ALGORITHM);
    }
    class->again = true;
    return class->forms > before && class->lost <= most_granted(class);
}

/* Ranks by the shortest call. */
static void begin_final(const struct strag_trials *trials, struct class *class,
                        struct strag_trial *trial)
{
    bool runs[FORMS] = {false};
    const double best = best_so_far(class);
    int finalists = 0;
    for (int place = 0; place < FINALISTS; place++) {
        int next = -1;
        for (int f = 0; f < class->forms; f++) {
            if (!runs[f] && shortest(&class->form[f]) <= (1 + final_margin) * best &&
                (next < 0 || shortest(&class->form[f]) < shortest(&class->form[next])))
                next = f;
        }
        if (next < 0)
            break;
        runs[next] = true;
        class->winner = finalists++ ? class->winner : next;
    }
    class->phase = finalists > 1 ? FINAL : OVER;
    trial->runs = 0;
    if (finalists > 1)
        give_out(trials, class, runs, FINAL_CALLS, trial);
}

/* The first form is what the table says. */
static void end_final(struct class *class)
{
    double usual_doubt, least = INFINITY;
    const double usual = median(&class->form[0], &usual_doubt);
    int best = 0;
    for (int f = 0; f < class->forms; f++) {
        double doubt;
        const double seconds = median(&class->form[f], &doubt);
        if (class->form[f].count > FINAL_CALLS && seconds < least) {
            least = seconds;
            best = f;
        }
    }
    double doubt;
    const double seconds = median(&class->form[best], &doubt);
    class->winner =
        seconds < usual * (1 - hysteresis) && seconds + hypot(doubt, usual_doubt) < usual ? best
                                                                                          : 0;
    class->phase = OVER;
}

bool strag_trials_next(struct strag_trials *trials, size_t bytes, const struct strag_offer *offers,
                       int count, struct strag_trial *trial)
{
    const int size_class = strag_size_class(bytes);
    struct class *class = &trials->classes[size_class];
    trial->runs = 0;
    if (class->wanted > 0 || class->phase == OVER || !(class->size > 0) || count == 0 ||
        class->size < (double)trials->least)
        return false;
    if (class->phase == NEW) {
        if (class->calls < BEFORE)
            return false;
        choose_forms(trials, size_class, class, offers, count);
        if (class->forms > 1 && class->thought > may_lose(class))
            return false;
        if (class->forms > 1) {
            begin_heats(trials, class, trial);
        } else {
            class->phase = OVER;
            class->winner = 0;
        }
    } else if (class->phase == HEATS) {
        if (has_more_heats(class) || add_promising(class, offers, count))
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
    return trials->classes[strag_size_class(bytes)].phase == OVER;
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
        const struct class *class = &trials->classes[c];
        const struct strag_trial_run *what = &class->form[class->winner].what;
        if (class->phase == OVER)
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
        const struct class *class = &trials->classes[c];
        if (class->phase != OVER || class->forms < 2)
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
        struct class *class = &trials->classes[c];
        if (!(outcome->size[c] > 0) || outcome->size[c] < (double)trials->least ||
            class->phase != NEW)
            continue;
        *class = (struct class){.phase = OVER, .size = outcome->size[c], .forms = 1};
        class->form[0].what = outcome->winner[c];
    }
}

const char *strag_trials_text(const struct strag_trials *trials, size_t bytes, char *text,
                              size_t size)
{
    const struct class *class = &trials->classes[strag_size_class(bytes)];
    size_t used = 0;
    text[0] = '\0';
    if (class->phase != OVER)
        return text;
    for (int f = 0; f <= class->forms && used < size; f++) {
        const bool end = f == class->forms;
        const struct form *form = &class->form[end ? class->winner : f];
        const char *name = form->what.algorithm ? form->what.algorithm->name : "previous";
        double doubt;
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
            used +=
                (size_t)snprintf(text + used, size - used, " %.4g ms", 1e3 * median(form, &doubt));
    }
    return text;
}
