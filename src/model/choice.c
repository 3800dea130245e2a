/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/choice.h"

const char *const strag_reproducible_names[] = {
    [STRAG_REPRODUCIBLE_NO] = "no",
    [STRAG_REPRODUCIBLE_MAPPING] = "mapping",
    [STRAG_REPRODUCIBLE_RANKS] = "ranks",
    [STRAG_REPRODUCIBLE_VALUES] = NULL,
};

size_t strag_choice_minimum(int hosts, bool all_shared, const struct strag_sourced_model *model)
{
    const bool guessed = hosts > 1 && model->origin[STRAG_MODEL_ALPHA] == STRAG_FROM_DEFAULT;
    if (all_shared)
        return 0;
    return guessed ? STRAG_MINIMUM_GUESSED : STRAG_MINIMUM_USUAL;
}

/* If ranks share processors, a rank that waits yields to another one, which may be waiting, too.
 * Then the fewest messages are best: few ranks sum up for all (for short vectors one, or two in
 * turns: direct.c). This does not apply if there is a straggler. */
static bool is_oversubscribed(const struct strag_circumstances *circumstances)
{
    const struct strag_oversubscribed *oversubscribed = &circumstances->oversubscribed;
    const struct strag_state *state = circumstances->problem.state;
    return oversubscribed->n > 2 && oversubscribed->n > oversubscribed->processors &&
           !(state && state->nstragglers);
}

static int select_table(const struct strag_circumstances *circumstances,
                        const struct strag_select_options *options, struct strag_choice *choice)
{
    return strag_select(&circumstances->problem, &circumstances->model, options, &choice->selection,
                        &choice->why);
}

/* The cost model does not cover this case; its times are for verbose lines and the watch.
 * @return as strag_select; also if the algorithm cannot be planned here */
static int choose_oversubscribed(const struct strag_circumstances *circumstances,
                                 struct strag_choice *choice)
{
    const struct strag_algorithm *direct = strag_algorithm_fewest_switches();
    struct strag_select_options options = circumstances->options;
    int status = direct->check(&circumstances->problem, &choice->why);
    if (status != STRAG_OK)
        return status;
    options.only = direct;
    status = select_table(circumstances, &options, choice);
    if (status == STRAG_OK) {
        choice->ground = STRAG_BY_OVERSUBSCRIBED;
        strag_oversubscribed_table(&circumstances->oversubscribed, direct, options.minimum,
                                   &choice->table);
    }
    return status;
}

static int choose_by_model(const struct strag_circumstances *circumstances,
                           struct strag_choice *choice)
{
    const int status = select_table(circumstances, &circumstances->options, choice);
    if (status == STRAG_OK) {
        choice->ground = STRAG_BY_MODEL;
        choice->table = choice->selection->table;
    }
    return status;
}

static void apply_rules(const struct strag_circumstances *circumstances,
                        struct strag_choice *choice)
{
    choice->rules_status =
        strag_rules_apply(circumstances->rules, &circumstances->problem, &circumstances->model,
                          &choice->table, &choice->line, &choice->rules_why);
    if (choice->rules_status != STRAG_OK)
        choice->line = 0;
    if (choice->line)
        choice->ground = STRAG_BY_RULE;
}

void strag_choose(const struct strag_circumstances *circumstances, struct strag_choice *choice)
{
    *choice = (struct strag_choice){
        .ground = STRAG_BY_NOTHING,
        .table = {.entries = 1}, /* the previous component runs all */
        .status = STRAG_ERR_UNSUPPORTED,
    };
    if (circumstances->pinned) {
        choice->status = strag_select_one(circumstances->pinned, &circumstances->problem,
                                          &circumstances->model, &choice->table, &choice->why);
        if (choice->status == STRAG_OK)
            choice->ground = STRAG_BY_PIN;
        return;
    }
    if (is_oversubscribed(circumstances))
        choice->status = choose_oversubscribed(circumstances, choice);
    if (choice->status != STRAG_OK)
        choice->status = choose_by_model(circumstances, choice);
    if (circumstances->rules)
        apply_rules(circumstances, choice);
}
