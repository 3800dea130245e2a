/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table comes from pricing eight sizes per doubling. If the choice differs between two of them,
 * bisection finds the byte at which it changes.
 */
#include "model/select.h"

#include "base/text.h"
#include "model/platform.h"

#include <math.h>
#include <stdlib.h>

enum { PREVIOUS = -1, SIZES_PER_DOUBLING = 8 };

/* For a quick table: with more ranks than these, this many numbers of blocks are compared. */
enum { MANY_RANKS = 256, CHOICES_FOR_MANY = 4, CHOICES_FOR_VERY_MANY = 3 };
enum { FEW_CHOICES = 5 };

/* ... and the number of messages that are examined for each candidate: usually all with few ranks,
 * and fewer with more ranks, but never less than MESSAGES_LEAST. */
enum { MESSAGES = 1 << 17, MESSAGES_LEAST = 1 << 13 };

/* A rank's plan is short if it is made in a millisecond, or in some more with very many ranks: it
 * has at most this many operations and blocks. */
enum { SHORT_OPERATIONS = 20000, SHORT_BLOCKS = 50000 };
enum { VERY_MANY_RANKS = 1 << 14, MORE_FOR_VERY_MANY = 4 };

/* Sizes at which to decide whether a candidate can still be the best: this many per doubling, up to
 * STRAG_SELECT_BYTES_MAX. */
enum { LOOKS_PER_DOUBLING = 8, LOOKS = 40 * LOOKS_PER_DOUBLING + 1 };

/* Relative. Estimates that differ by less are equal, but were added up in another order. */
static const double equal = 1e-9;

/* The factor on an algorithm's times when algorithms are compared. Those that go ahead without a
 * straggler know which rank it is. */
static double rating(const struct strag_algorithm *algorithm)
{
    bool biased = algorithm->straggler_tolerant || algorithm->prefers_more_blocks ||
                  algorithm->needs_straggler;
    return biased ? 1 - STRAG_MODEL_MARGIN : 1;
}

/* The estimate of a candidate, with the margins for bytes that go far. A candidate that goes ahead
 * without a straggler has no such margins. */
static double seconds_of(const struct strag_candidate *candidate, double bytes)
{
    const struct strag_profile *profile = candidate->profile;
    const double seconds = strag_profile_seconds(profile, bytes);
    if (candidate->algorithm->needs_straggler)
        return seconds;
    double far = STRAG_DISTANCE_MARGIN * profile->distance * fmax(0, seconds - profile->delay);
    if (profile->crossing > 0)
        far += STRAG_CROSSING_MARGIN * profile->crossing *
               (seconds - strag_profile_seconds(profile, 0));
    return seconds + far;
}

double strag_select_rated(const struct strag_candidate *candidate, double bytes)
{
    return rating(candidate->algorithm) * seconds_of(candidate, bytes);
}

/* @param fewest  the algorithm's lowest number of blocks; 0 if it chooses the number itself */
static double bias(const struct strag_algorithm *algorithm, int blocks, int fewest)
{
    return algorithm->prefers_more_blocks && fewest
               ? pow(1 - STRAG_MORE_BLOCKS_MARGIN, log2((double)blocks / fewest))
               : 1;
}

/* An algorithm at one size: its time with the fastest number of blocks, and the candidate that
 * runs.
 */
struct entrant {
    int candidate; /* PREVIOUS if it cannot be planned */
    double seconds;
};

/* @param first  its first candidate @param[out] end  the one after its last candidate */
static struct entrant find_entrant(const struct strag_selection *selection, int first, size_t bytes,
                                   int *end)
{
    const struct strag_candidate *candidate = selection->candidate;
    struct entrant entrant = {PREVIOUS, INFINITY};
    double least = INFINITY;
    int c = first;
    for (; c < selection->candidates && candidate[c].algorithm == candidate[first].algorithm; c++) {
        if (!candidate[c].profile)
            continue;
        double seconds = seconds_of(&candidate[c], (double)bytes);
        if (entrant.candidate == PREVIOUS || candidate[c].bias * seconds < least * (1 - equal)) {
            entrant.candidate = c;
            least = candidate[c].bias * seconds;
        }
        entrant.seconds = fmin(entrant.seconds, seconds);
    }
    *end = c;
    return entrant;
}

/* @return a candidate's index, or PREVIOUS */
static int choose(const struct strag_selection *selection, size_t bytes,
                  const struct strag_select_options *options)
{
    struct entrant best = {PREVIOUS, INFINITY};
    double least_rated = INFINITY, stock = INFINITY;
    for (int c = 0; c < selection->candidates;) {
        const struct strag_algorithm *algorithm = selection->candidate[c].algorithm;
        struct entrant entrant = find_entrant(selection, c, bytes, &c);
        if (entrant.candidate == PREVIOUS)
            continue;
        double rated = entrant.seconds * rating(algorithm);
        if (best.candidate == PREVIOUS || rated < least_rated * (1 - equal)) {
            best = entrant;
            least_rated = rated;
        }
        if (algorithm->stock)
            stock = fmin(stock, entrant.seconds);
    }
    bool exception = !options->strict && STRAG_MINIMUM_GAIN * best.seconds < stock;
    return bytes < options->minimum && !exception ? PREVIOUS : best.candidate;
}

/* If the table is full its last entry applies to all larger sizes. */
static void add_entry(struct strag_selection *selection, size_t from, int choice)
{
    struct strag_entry entry = {.algorithm = NULL};
    if (choice != PREVIOUS) {
        entry.algorithm = selection->candidate[choice].algorithm;
        entry.blocks = selection->candidate[choice].blocks;
    }
    (void)strag_table_append(&selection->table, from, &entry);
}

/* Add all changes of the choice between two sizes. @return the choice at `high` */
static int add_changes(struct strag_selection *selection,
                       const struct strag_select_options *options, size_t low, size_t high,
                       int at_low)
{
    int at_high = choose(selection, high, options);
    while (at_low != at_high) {
        size_t below = low, above = high;
        int there = at_high;
        while (above - below > 1) {
            size_t middle = below + (above - below) / 2;
            int choice = choose(selection, middle, options);
            if (choice == at_low) {
                below = middle;
            } else {
                above = middle;
                there = choice;
            }
        }
        add_entry(selection, above, there);
        low = above;
        at_low = there;
    }
    return at_high;
}

static void make_table(struct strag_selection *selection,
                       const struct strag_select_options *options)
{
    size_t size = 1;
    int choice = choose(selection, size, options);
    add_entry(selection, 0, choice);
    while (size < STRAG_SELECT_BYTES_MAX) {
        size_t next = size + (size < SIZES_PER_DOUBLING ? 1 : size / SIZES_PER_DOUBLING);
        choice = add_changes(selection, options, size, next, choice);
        size = next;
    }
}

/* ---- Candidates ---- */

/* The state of pricing candidates, one after the other. */
struct pricing {
    struct strag_selection *selection;
    const struct strag_select_options *options;
    struct strag_platform *platform;
    double size[LOOKS];     /* bytes */
    double (*rated)[LOOKS]; /* [candidate]; NULL unless the table is quick */
    int room, rated_room;
    int open; /* from this look to the next the current candidate may be the best */
    struct strag_profile *like[STRAG_FORMS_MAX]; /* [form]: of the current algorithm with another
                                                    number of blocks, or NULL */
};

/* Is some earlier candidate rated at least as fast between two looks as the last one, of which a
 * line is known? A profile is a convex function of the size, so it lies below the line if it does
 * so at both ends. The last one's bias also counts against other algorithms: it may run at sizes
 * where the same algorithm with fewer blocks is faster than they are. */
static bool is_below(const struct pricing *pricing, int look, struct strag_cost_line line)
{
    const struct strag_candidate *candidate = pricing->selection->candidate;
    int last = pricing->selection->candidates - 1;
    double rated = rating(candidate[last].algorithm) * candidate[last].bias * (1 + equal / 8);
    double low = rated * (line.latency + pricing->size[look] * line.per_byte);
    double high = rated * (line.latency + pricing->size[look + 1] * line.per_byte);
    for (int c = 0; c < last; c++) {
        const double *seconds = pricing->rated[c];
        bool same = candidate[c].algorithm == candidate[last].algorithm;
        double biased = same ? candidate[c].bias : 1;
        if (candidate[c].profile && biased * seconds[look] <= low &&
            biased * seconds[look + 1] <= high)
            return true;
    }
    return false;
}

/* A candidate is pruned if others are at least as good at all sizes. */
static bool is_dominated(void *context, const struct strag_partial_profile *partial)
{
    struct pricing *pricing = context;
    for (int i = 0; i < LOOKS - 1; i++) {
        int look = (pricing->open + i) % (LOOKS - 1);
        if (!is_below(pricing, look, strag_partial_profile_line(partial, pricing->size[look]))) {
            pricing->open = look;
            return false;
        }
    }
    return true;
}

/* With a minimum size, the algorithms that stand for Open MPI's own are always needed. */
static bool may_prune(const struct pricing *pricing, const struct strag_algorithm *algorithm)
{
    return pricing->rated && !(pricing->options->minimum > 0 && algorithm->stock);
}

static void note_times(const struct pricing *pricing)
{
    int last = pricing->selection->candidates - 1;
    const struct strag_candidate *candidate = &pricing->selection->candidate[last];
    for (int look = 0; pricing->rated && look < LOOKS; look++)
        pricing->rated[last][look] = strag_select_rated(candidate, pricing->size[look]);
}

int strag_select_messages(int n)
{
    double more = n > MANY_RANKS ? (double)n / MANY_RANKS : 1;
    return (int)fmax(MESSAGES_LEAST, MESSAGES / (more * more));
}

static bool wants_short(const struct strag_select_options *options)
{
    return options->quick || options->short_plans;
}

static int size_class(const struct strag_problem *problem)
{
    return problem->n > VERY_MANY_RANKS ? MORE_FOR_VERY_MANY : 1;
}

/* The most operations of a rank's plan; 0 for no limit. */
static int operations_for(const struct strag_select_options *options,
                          const struct strag_problem *problem)
{
    return wants_short(options) ? SHORT_OPERATIONS * size_class(problem) : 0;
}

/* @param limited  limit the number of messages examined, and of the plan's operations */
static int attempt(struct pricing *pricing, const struct strag_problem *problem,
                   struct strag_candidate *candidate, bool limited, bool prune)
{
    struct strag_problem cut = *problem;
    cut.blocks = candidate->blocks;
    const struct strag_attempt attempt = {
        .platform = pricing->platform,
        .messages = limited && pricing->options->quick ? strag_select_messages(problem->n) : 0,
        .operations = limited ? operations_for(pricing->options, problem) : 0,
        .prune = prune ? is_dominated : NULL,
        .context = pricing,
        .progress = pricing->options->progress,
    };
    return strag_profile_attempt(candidate->algorithm, &cut, &attempt, &candidate->profile,
                                 &candidate->refusal);
}

/* @return negative if it has no form, so that it cannot be resized from others */
static int form_of(const struct strag_problem *problem, const struct strag_candidate *candidate)
{
    const struct strag_algorithm *algorithm = candidate->algorithm;
    return algorithm->form_of && problem->shared ? algorithm->form_of(problem, candidate->blocks)
                                                 : 0;
}

/* Price the last candidate, and remove it if it is pruned. */
static int price(struct pricing *pricing, const struct strag_problem *problem,
                 struct strag_error *err)
{
    struct strag_selection *selection = pricing->selection;
    struct strag_candidate *candidate = &selection->candidate[selection->candidates - 1];
    int status = STRAG_OK, form = form_of(problem, candidate);
    if (form >= 0 && pricing->like[form])
        status = strag_profile_resize(pricing->like[form], candidate->blocks,
                                      operations_for(pricing->options, problem),
                                      &candidate->profile, &candidate->refusal);
    if (status == STRAG_OK && !candidate->profile)
        status =
            attempt(pricing, problem, candidate, true, may_prune(pricing, candidate->algorithm));
    if (candidate->profile)
        note_times(pricing);
    else if (status == STRAG_OK)
        selection->candidates--;
    if (status == STRAG_OK || status == STRAG_ERR_UNSUPPORTED)
        return STRAG_OK;
    if (err)
        *err = candidate->refusal;
    return status;
}

/* Make room for more candidates. */
static bool grow(struct pricing *pricing, int more)
{
    struct strag_selection *selection = pricing->selection;
    int need = selection->candidates + more;
    return strag_array_grow(&selection->candidate, &pricing->room, need,
                            sizeof *selection->candidate) &&
           (!pricing->options->quick ||
            strag_array_grow(&pricing->rated, &pricing->rated_room, need, sizeof *pricing->rated));
}

/* Keep the numbers of blocks up to `most`; none may be left. */
static int keep_short(const int *blocks, int choices, int most)
{
    while (choices > 0 && blocks[choices - 1] > most)
        choices--;
    return choices;
}

/* Keep `most` of them, evenly from the first to the last. */
static int thin_out(int *blocks, int choices, int most)
{
    if (choices <= most)
        return choices;
    for (int c = 0; c < most; c++)
        blocks[c] = blocks[c * (choices - 1) / (most - 1)];
    return most;
}

/* Price one number of blocks for each form of a pipeline, from which the others are resized: the
 * first one with steady rounds, which is the second one if the algorithm has no form_of(). */
static int price_likes(struct pricing *pricing, const struct strag_problem *problem,
                       const struct strag_algorithm *algorithm, const int *blocks, int choices)
{
    int status = STRAG_OK;
    if (!pricing->options->quick || !algorithm->unit)
        return STRAG_OK;
    for (int c = !algorithm->form_of; c < choices && status == STRAG_OK; c++) {
        struct strag_candidate one = {.algorithm = algorithm, .blocks = blocks[c]};
        const int form = form_of(problem, &one);
        if (form < 0 || pricing->like[form])
            continue;
        status = attempt(pricing, problem, &one, true, false);
        pricing->like[form] = one.profile;
        if (status == STRAG_ERR_UNSUPPORTED)
            return STRAG_OK; /* longer plans are not supported either */
    }
    return status;
}

static void free_likes(struct pricing *pricing)
{
    for (int form = 0; form < STRAG_FORMS_MAX; form++) {
        strag_profile_free(pricing->like[form]);
        pricing->like[form] = NULL;
    }
}

/* Add an algorithm's candidates, one for each number of blocks. The problem has the shared data. */
static int add_choices(struct pricing *pricing, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, struct strag_error *err)
{
    struct strag_selection *selection = pricing->selection;
    int blocks[STRAG_CHOICES_MAX];
    int choices = strag_algorithm_choices(algorithm, problem, blocks), status = STRAG_OK;
    if (choices < 0)
        return strag_fail(err, choices, "out of memory for the choices of %s", algorithm->name);
    if (wants_short(pricing->options))
        choices = keep_short(blocks, choices, SHORT_BLOCKS * size_class(problem));
    if (pricing->options->quick && problem->n > MANY_RANKS && choices > FEW_CHOICES)
        choices = thin_out(blocks, choices,
                           problem->n > VERY_MANY_RANKS ? CHOICES_FOR_VERY_MANY : CHOICES_FOR_MANY);
    if (!grow(pricing, choices))
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d candidates",
                          selection->candidates + choices);
    status = price_likes(pricing, problem, algorithm, blocks, choices);
    for (int c = 0; c < choices && status == STRAG_OK; c++) {
        selection->candidate[selection->candidates++] = (struct strag_candidate){
            .algorithm = algorithm,
            .blocks = blocks[c],
            .bias = bias(algorithm, blocks[c], blocks[0]),
        };
        status = price(pricing, problem, err);
    }
    free_likes(pricing);
    return status;
}

static int add_candidates(struct pricing *pricing, const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, struct strag_error *err)
{
    struct strag_problem with = *problem;
    void *shared;
    int status = strag_algorithm_share(algorithm, problem, &shared, err);
    if (status != STRAG_OK)
        return status;
    with.shared = shared;
    status = add_choices(pricing, algorithm, &with, err);
    strag_algorithm_unshare(algorithm, shared);
    return status;
}

/* Leave out algorithms for a straggler if there is none, and those that run on request only. */
static bool is_left_out(const struct strag_algorithm *algorithm,
                        const struct strag_problem *problem)
{
    return !strag_algorithm_suits(algorithm, problem->state) ||
           (algorithm->on_request && algorithm->on_request(problem));
}

static int count_usable(const struct strag_selection *selection)
{
    int usable = 0;
    for (int c = 0; c < selection->candidates; c++)
        usable += selection->candidate[c].profile != NULL;
    return usable;
}

/* If all candidates are too expensive, as on a ring of very many hosts, price the ones that send
 * the same messages between neighbours in every round, even with long plans. */
static int add_a_long_one(struct pricing *pricing, const struct strag_problem *problem)
{
    int status = STRAG_OK;
    for (int c = 0; c < pricing->selection->candidates; c++) {
        struct strag_candidate *candidate = &pricing->selection->candidate[c];
        if (candidate->algorithm->straggler_tolerant)
            status = attempt(pricing, problem, candidate, false, false);
    }
    return status == STRAG_ERR_UNSUPPORTED ? STRAG_OK : status;
}

static int add_all_candidates(struct pricing *pricing, const struct strag_problem *problem,
                              struct strag_error *err)
{
    const struct strag_algorithm *only = pricing->options->only;
    const struct strag_selection *selection = pricing->selection;
    int status = STRAG_OK, count = 0;
    for (int a = 0; strag_algorithms[a]; a++)
        count++;
    for (int a = 0; a < count; a++) {
        const struct strag_algorithm *algorithm = strag_algorithms[a];
        if (only ? only != algorithm : is_left_out(algorithm, problem))
            continue;
        if (pricing->options->quick && !only &&
            ((algorithm->adds_nothing && algorithm->adds_nothing(problem)) ||
             (algorithm->takes_long && algorithm->takes_long(problem))))
            continue;
        strag_progress_step(pricing->options->progress, algorithm->name, a, count);
        status = add_candidates(pricing, algorithm, problem, err);
        if (status != STRAG_OK)
            return status;
    }
    if (!only && wants_short(pricing->options) && count_usable(selection) == 0)
        status = add_a_long_one(pricing, problem);
    if (status != STRAG_OK || count_usable(selection) > 0)
        return status;
    if (only && selection->candidates > 0)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%s", selection->candidate->refusal.text);
    if (only)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "every plan of %s is too long", only->name);
    return strag_fail(err, STRAG_ERR_UNSUPPORTED, "no algorithm can be planned for %d ranks",
                      problem->n);
}

int strag_select(const struct strag_problem *problem, const struct strag_model *model,
                 const struct strag_select_options *options, struct strag_selection **selection,
                 struct strag_error *err)
{
    struct strag_selection *made = calloc(1, sizeof *made);
    if (!made)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a selection");
    struct pricing pricing = {.selection = made, .options = options};
    for (int look = 0; look < LOOKS; look++)
        pricing.size[look] = exp2((double)look / LOOKS_PER_DOUBLING);
    int status = strag_platform_create(problem, model, &pricing.platform, err);
    if (status == STRAG_OK)
        status = add_all_candidates(&pricing, problem, err);
    made->examined = pricing.platform ? pricing.platform->examined : 0;
    strag_platform_free(pricing.platform);
    free(pricing.rated);
    if (status != STRAG_OK) {
        strag_selection_free(made);
        return status;
    }
    make_table(made, options);
    *selection = made;
    return STRAG_OK;
}

int strag_select_one(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                     const struct strag_model *model, struct strag_table *table,
                     struct strag_error *err)
{
    const struct strag_select_options one = {.only = algorithm, .quick = problem->n > MANY_RANKS};
    const bool too_long = one.quick && algorithm->takes_long && algorithm->takes_long(problem);
    struct strag_selection *selection = NULL;
    int status = STRAG_ERR_UNSUPPORTED;
    if (algorithm->choices && problem->blocks == 0 && !too_long)
        status = strag_select(problem, model, &one, &selection, err);
    if (status == STRAG_OK) {
        *table = selection->table;
        strag_selection_free(selection);
    } else if (status == STRAG_ERR_UNSUPPORTED) {
        status = strag_algorithm_claim(algorithm, problem, NULL, err);
        if (status == STRAG_OK)
            *table = (struct strag_table){1, {{0, algorithm, problem->blocks}}};
    }
    return status;
}

double strag_selection_seconds(const struct strag_selection *selection,
                               const struct strag_algorithm *algorithm, int blocks, size_t bytes,
                               double delay)
{
    double least = INFINITY;
    for (int c = 0; selection && c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        const bool wanted = algorithm
                                ? candidate->algorithm == algorithm && candidate->blocks == blocks
                                : candidate->algorithm->stock;
        if (!candidate->profile || !wanted)
            continue;
        struct strag_profile profile = *candidate->profile;
        profile.delay = delay < 0 ? profile.delay : delay;
        least = fmin(least, strag_profile_seconds(&profile, (double)bytes) - profile.delay);
    }
    return least;
}

void strag_selection_free(struct strag_selection *selection)
{
    if (!selection)
        return;
    for (int c = 0; c < selection->candidates; c++)
        strag_profile_free(selection->candidate[c].profile);
    free(selection->candidate);
    free(selection);
}
