/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is tried: of what could run, what may be nearly as fast as the best, if all goes well. */
#include "watch/trials_class.h"

#include <math.h>
#include <stdlib.h>

enum {
    PER_ALGORITHM = 2, /* counts of blocks that are tried */
    ALIKE = 2,         /* forms that are tried of those that the model cannot tell apart */
};

/* What is modelled to take longer than the best by more than that is not tried. */
static const double margin = 0.2;

/* ... but what would run without us, if that is thought to lose no more of what trials may. */
static const double most_of_granted = 0.5;

/* What a call is thought to lose at the least. */
static const double thought_lost = 0.1;

/* Forms whose modelled times differ by less are alike: the same messages in another order. */
static const double alike = 0.001;

/* Latencies that might overlap are hoped to where that would make more of a difference. */
static const double worth_hoping = 0.02;

/* How much longer than modelled an algorithm took at sizes nearby, by what it is fair to expect
 * that it will again. @return 0: it was not tried there */
static double experience(const struct strag_trials *trials, int size_class,
                         const struct strag_offer *offer)
{
    static const int near[] = {-1, 1};
    double ratio = 0;
    for (int i = 0; i < 2; i++) {
        int c = size_class + near[i];
        if (c < 0 || c >= STRAG_SIZE_CLASSES || trials->classes[c].phase < STRAG_TRIAL_FINAL)
            continue;
        const struct strag_trial_class *class = &trials->classes[c];
        for (int f = 0; f < class->forms; f++) {
            const struct strag_trial_form *form = &class->form[f];
            if (form->what.algorithm == offer->algorithm && form->count > 0 && form->modelled > 0)
                ratio = strag_trial_shortest(form) / form->modelled;
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

static void add_form(struct strag_trial_class *class, const struct strag_offer *offer)
{
    class->form[class->forms++] = (struct strag_trial_form){
        .what = {offer->algorithm, offer->blocks, 0},
        .modelled = offer->seconds,
        .hoped = hoped(offer),
    };
}

static int count_forms(const struct strag_trial_class *class,
                       const struct strag_algorithm *algorithm)
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
static int count_alike(const struct strag_trial_class *class, const struct strag_offer *offer)
{
    int count = 0;
    for (int f = 0; f < class->forms && offer->algorithm; f++) {
        const struct strag_trial_form *form = &class->form[f];
        count += form->what.algorithm && is_close(form->modelled, offer->seconds) &&
                 is_close(form->hoped, hoped(offer));
    }
    return count;
}

/* Is there nothing to be learnt from trying it that others do not show? */
static bool is_superfluous(const struct strag_trial_class *class, const struct strag_offer *offer,
                           int per_algorithm)
{
    return strag_trial_find_form(class, offer->algorithm, offer->blocks) >= 0 ||
           count_forms(class, offer->algorithm) >= per_algorithm ||
           count_alike(class, offer) >= ALIKE;
}

/* Others than the table's choice have not run here, or not for long: what ran before is forgotten
 * unless it is that. */
static void keep_only(struct strag_trial_class *class, const struct strag_offer *usual)
{
    const int form = strag_trial_find_form(class, usual->algorithm, usual->blocks);
    struct strag_trial_form kept = {.what = {usual->algorithm, usual->blocks, 0}};
    if (form >= 0)
        kept = class->form[form];
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

/* @param worst  how many times as long as the best it may take */
static void add_if_granted(struct strag_trial_class *class, const struct strag_offer *offer,
                           double worst, int per_algorithm)
{
    const double lost = strag_trial_heat_calls(class) * fmax(thought_lost, worst - 1);
    if (is_superfluous(class, offer, per_algorithm) ||
        class->thought + lost > strag_trial_most_granted(class))
        return;
    add_form(class, offer);
    class->thought += lost;
}

/* What runs without us takes part where its calls are short: what it really does is not known, so
 * nobody can say that it is slower before it has run. */
static void add_previous(struct strag_trial_class *class, const struct strag_offer *offers,
                         int count, double best)
{
    const double most = most_of_granted * strag_trial_most_granted(class);
    for (int i = 0; i < count; i++) {
        const double worst = offers[i].seconds / best;
        if (!offers[i].algorithm && strag_trial_heat_calls(class) * (worst - 1) <= most)
            add_if_granted(class, &offers[i], worst, 1);
    }
}

/* Each algorithm with one count of blocks before any has a second one. */
void strag_trial_choose(struct strag_trials *trials, int size_class,
                        const struct strag_offer *offers, int count, int losers)
{
    struct strag_trial_class *class = &trials->classes[size_class];
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
    if (strag_trial_shortest(&class->form[0]) < INFINITY)
        best = fmax(best, strag_trial_shortest(&class->form[0]));
    qsort(entrants, (size_t)count, sizeof *entrants, compare_entrants);
    class->thought = losers * thought_lost;
    if (strag_trial_heat_calls(class) > 1)
        add_previous(class, offers, count, best);
    for (int most = 1; most <= PER_ALGORITHM; most++) {
        for (int i = 0; i < count && class->forms < STRAG_TRIAL_RUNS; i++) {
            if (entrants[i].expected <= (1 + margin) * best)
                add_if_granted(class, entrants[i].offer, entrants[i].worst / best, most);
        }
    }
    free(entrants);
}

/* The model has learnt from what ran. */
static void model_again(struct strag_trial_class *class, const struct strag_offer *offers,
                        int count)
{
    for (int i = 0; i < count; i++) {
        const int form = strag_trial_find_form(class, offers[i].algorithm, offers[i].blocks);
        if (form >= 0) {
            class->form[form].modelled = offers[i].seconds;
            class->form[form].hoped = hoped(&offers[i]);
        }
    }
}

bool strag_trial_add_promising(struct strag_trial_class *class, const struct strag_offer *offers,
                               int count)
{
    const double best = strag_trial_best(class);
    const int before = class->forms;
    model_again(class, offers, count);
    class->thought = class->lost; /* it is known by now */
    for (int i = 0; i < count && class->forms < STRAG_TRIAL_FORMS && !class->again; i++) {
        if (hoped(&offers[i]) < best)
            add_if_granted(class, &offers[i], offers[i].seconds / best, PER_ALGORITHM);
    }
    class->again = true;
    return class->forms > before && class->lost <= strag_trial_most_granted(class);
}
