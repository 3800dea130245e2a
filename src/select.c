/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table comes from looking at eight sizes per doubling. Where the choice differs between two of
 * them, halving the gap again and again finds the byte at which it changes.
 */
#include "select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PREVIOUS = -1, SIZES_PER_DOUBLING = 8 };

/* Where a table is wanted quickly: from how many ranks on so many block counts are compared. */
enum { MANY_RANKS = 256, CHOICES_FOR_MANY = 4 };

/* Estimates that are closer than this are equal: they were added up in another order. */
static const double equal = 1e-9;

/* By how much strag must be the better one below the minimum. */
static const double worth_it = 0.9;

static bool is_in_open_mpi(const struct strag_algorithm *algorithm)
{
    static const char *const names[] = {"recursive-doubling", "recursive-halving", "ring"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(algorithm->name, names[i]) == 0)
            return true;
    }
    return false;
}

/* @return a candidate's index, or PREVIOUS */
static int choose(const struct strag_selection *selection, size_t bytes, size_t minimum)
{
    int best = PREVIOUS;
    double least = INFINITY, least_rated = INFINITY, stock = INFINITY;
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        if (!candidate->profile)
            continue;
        double seconds = strag_profile_seconds(candidate->profile, (double)bytes);
        double rated = seconds * (candidate->algorithm->steady ? 1 - STRAG_STEADY : 1);
        if (best == PREVIOUS || rated < least_rated * (1 - equal)) {
            best = c;
            least = seconds;
            least_rated = rated;
        }
        if (is_in_open_mpi(candidate->algorithm) && seconds < stock)
            stock = seconds;
    }
    return bytes < minimum && !(least < worth_it * stock) ? PREVIOUS : best;
}

/* Where a table is full its last entry holds for all that follows. */
static void add_entry(struct strag_selection *selection, size_t from, int choice)
{
    struct strag_table *table = &selection->table;
    struct strag_entry entry = {.from = from};
    if (choice != PREVIOUS) {
        entry.algorithm = selection->candidate[choice].algorithm;
        entry.blocks = selection->candidate[choice].blocks;
    }
    if (table->entries < STRAG_TABLE_MAX)
        table->entry[table->entries++] = entry;
}

/* All changes of the choice between two sizes. @return the choice at `high` */
static int add_changes(struct strag_selection *selection, size_t minimum, size_t low, size_t high,
                       int at_low)
{
    int at_high = choose(selection, high, minimum);
    while (at_low != at_high) {
        size_t below = low, above = high;
        int there = at_high;
        while (above - below > 1) {
            size_t middle = below + (above - below) / 2;
            int choice = choose(selection, middle, minimum);
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

static void make_table(struct strag_selection *selection, size_t minimum)
{
    size_t size = 1;
    int choice = choose(selection, size, minimum);
    add_entry(selection, 0, choice);
    while (size < STRAG_SELECT_BYTES_MAX) {
        size_t next = size + (size < SIZES_PER_DOUBLING ? 1 : size / SIZES_PER_DOUBLING);
        choice = add_changes(selection, minimum, size, next, choice);
        size = next;
    }
}

static int price(struct strag_candidate *candidate, const struct strag_problem *problem,
                 const struct strag_model *model, struct strag_error *err)
{
    struct strag_problem cut = *problem;
    cut.blocks = candidate->blocks;
    int status = strag_profile_create(candidate->algorithm, &cut, model, &candidate->profile,
                                      &candidate->refusal);
    if (status == STRAG_OK || status == STRAG_ERR_UNSUPPORTED)
        return STRAG_OK;
    if (err)
        *err = candidate->refusal;
    return status;
}

/* The longest line of each part: no size takes longer than that. */
static struct strag_cost_line most(const struct strag_profile *profile)
{
    struct strag_cost_line sum = {0, 0};
    for (int p = 0; p < profile->nparts; p++) {
        const struct strag_profile_part *part = &profile->parts[p];
        struct strag_cost_line longest = {0, 0};
        for (int l = part->first_line; l < part->first_line + part->lines; l++) {
            longest.latency = fmax(longest.latency, profile->lines[l].latency);
            longest.per_byte = fmax(longest.per_byte, profile->lines[l].per_byte);
        }
        sum.latency += part->repeats * longest.latency;
        sum.per_byte += part->repeats * longest.per_byte;
    }
    return sum;
}

/* What so many rounds take at least, on equal hosts with a rank each. Every rank gets 2(n-1)/n of
 * the vector or more in the mean, and combines half of that. Elsewhere nothing is known. */
static struct strag_cost_line least(const struct strag_problem *problem,
                                    const struct strag_model *model, int rounds)
{
    const struct strag_topology *topology = problem->topology;
    double bandwidth = model->bandwidth, part = (problem->n - 1) / (double)problem->n;
    if (topology && (topology->network != STRAG_NETWORK_TREE || topology->ranks_per_host != 1))
        return (struct strag_cost_line){0, 0};
    for (int i = 0; topology && i < topology->nnodes; i++) {
        if (topology->nodes[i].level == STRAG_LEVEL_HOST)
            bandwidth = fmax(bandwidth, topology->nodes[i].uplink);
    }
    double combining = model->reduce_bandwidth > 0 ? 1 / model->reduce_bandwidth : 0;
    return (struct strag_cost_line){rounds * model->alpha, part * (2 / bandwidth + combining)};
}

/* Is one of the candidates so far at least as good at all sizes? Those that tell what Open MPI
 * takes are always wanted. */
static bool is_beaten(const struct strag_selection *selection,
                      const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                      const struct strag_model *model)
{
    struct strag_claim claim;
    bool late = problem->state && problem->state->nlate;
    if (algorithm->adds_nothing && algorithm->adds_nothing(problem))
        return true;
    if (problem->n < 2 || late || is_in_open_mpi(algorithm) || selection->candidates == 0 ||
        least(problem, model, 1).latency == 0 ||
        strag_algorithm_claim(algorithm, problem, &claim, NULL) != STRAG_OK)
        return false;
    const struct strag_cost_line mine = least(problem, model, claim.rounds);
    for (int c = 0; c < selection->candidates; c++) {
        if (!selection->candidate[c].profile)
            continue;
        const struct strag_cost_line theirs = most(selection->candidate[c].profile);
        if (theirs.latency <= mine.latency * (1 + equal) &&
            theirs.per_byte <= mine.per_byte * (1 + equal))
            return true;
    }
    return false;
}

/* An algorithm's candidates, one for each count of blocks. */
static int add_candidates(struct strag_selection *selection,
                          const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, const struct strag_model *model,
                          bool quick, struct strag_error *err)
{
    int blocks[STRAG_CHOICES_MAX];
    int choices = strag_algorithm_choices(algorithm, problem, blocks), status = STRAG_OK;
    if (choices < 0)
        return strag_fail(err, choices, "out of memory for the choices of %s", algorithm->name);
    if (quick && problem->n > MANY_RANKS && choices > CHOICES_FOR_MANY) {
        for (int c = 0; c < CHOICES_FOR_MANY; c++)
            blocks[c] = blocks[c * (choices - 1) / (CHOICES_FOR_MANY - 1)];
        choices = CHOICES_FOR_MANY;
    }
    size_t room = (size_t)selection->candidates + (size_t)choices;
    void *moved = realloc(selection->candidate, room * sizeof *selection->candidate);
    if (!moved)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %zu candidates", room);
    selection->candidate = moved;
    for (int c = 0; c < choices && status == STRAG_OK; c++) {
        struct strag_candidate *candidate = &selection->candidate[selection->candidates++];
        *candidate = (struct strag_candidate){.algorithm = algorithm, .blocks = blocks[c]};
        status = price(candidate, problem, model, err);
    }
    return status;
}

/* Where nobody is late, there is nothing to say of the algorithms for that. */
static bool is_left_out(const struct strag_algorithm *algorithm,
                        const struct strag_problem *problem)
{
    return (algorithm->needs_late && !(problem->state && problem->state->nlate)) ||
           (algorithm->on_request && algorithm->on_request(problem));
}

static int add_all_candidates(struct strag_selection *selection,
                              const struct strag_problem *problem, const struct strag_model *model,
                              const struct strag_select_options *options, struct strag_error *err)
{
    const struct strag_algorithm *only = options->only;
    int usable = 0;
    for (int a = 0; strag_algorithms[a]; a++) {
        if (only ? only != strag_algorithms[a] : is_left_out(strag_algorithms[a], problem))
            continue;
        if (options->quick && !only && is_beaten(selection, strag_algorithms[a], problem, model))
            continue;
        int status =
            add_candidates(selection, strag_algorithms[a], problem, model, options->quick, err);
        if (status != STRAG_OK)
            return status;
    }
    for (int c = 0; c < selection->candidates; c++)
        usable += selection->candidate[c].profile != NULL;
    if (usable > 0)
        return STRAG_OK;
    if (only)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%s", selection->candidate->refusal.text);
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
    int status = add_all_candidates(made, problem, model, options, err);
    if (status != STRAG_OK) {
        strag_selection_free(made);
        return status;
    }
    make_table(made, options->minimum);
    *selection = made;
    return STRAG_OK;
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

const struct strag_entry *strag_table_entry(const struct strag_table *table, size_t bytes)
{
    int e = table->entries - 1;
    while (e > 0 && table->entry[e].from > bytes)
        e--;
    return &table->entry[e];
}

const struct strag_algorithm *strag_table_find(const struct strag_table *table, size_t bytes)
{
    return strag_table_entry(table, bytes)->algorithm;
}
