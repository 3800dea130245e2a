/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0's part of the choice: the table of a communicator, from the cost model and the rules file.
 */
#include "coll_strag.h"

#include "algorithms/table.h"

#include <stdlib.h>

/* Messages within a host, and combining: as strag-tune measured them with 2 and 4 ranks. Combining
 * a byte takes as long as copying it. (Whole operations, which run in order, take less through
 * shared memory; but algorithms overtake each other where they should.) */
static const struct local {
    double alpha, bandwidth; /* seconds, bytes per second */
} over_pml = {4e-6, 16e9}, over_shm = {0.4e-6, 20e9};

static struct strag_model make_model(const mca_coll_strag_module_t *module,
                                     const struct strag_topology *topology)
{
    const double *number = mca_coll_strag_component.number;
    const struct local *local = module->shm && !module->reproducible ? &over_shm : &over_pml;
    struct strag_model model =
        strag_model_default(topology ? topology->network : STRAG_NETWORK_TREE);
    model.local_alpha = local->alpha;
    model.local_bandwidth = model.reduce_bandwidth = local->bandwidth;
    double *const fields[COLL_STRAG_NUMBERS] = {
        [COLL_STRAG_ALPHA] = &model.alpha,
        [COLL_STRAG_LOCAL_ALPHA] = &model.local_alpha,
        [COLL_STRAG_BANDWIDTH] = &model.bandwidth,
        [COLL_STRAG_LOCAL_BANDWIDTH] = &model.local_bandwidth,
        [COLL_STRAG_LINK_LATENCY] = &model.link_latency,
        [COLL_STRAG_HOP_LATENCY] = &model.hop_latency,
        [COLL_STRAG_REDUCE_BANDWIDTH] = &model.reduce_bandwidth,
    };
    for (int i = 0; i < COLL_STRAG_NUMBERS; i++)
        if (number[i] >= 0)
            *fields[i] = number[i];
    return model;
}

/* The rules file, read once. @return NULL: none, or it is of no use, and that was said */
static const struct strag_rules *read_rules(void)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    struct strag_error err;
    if (component->rules_file[0] == '\0')
        return NULL;
    pthread_mutex_lock(&component->files_lock);
    if (!component->rules_read) {
        component->rules_read = true;
        if (strag_rules_read(component->rules_file, &component->rules, &err) != STRAG_OK)
            coll_strag_warn(COLL_STRAG_WARN_RULES, component->rules_file, err.text);
    }
    const struct strag_rules *rules = component->rules;
    pthread_mutex_unlock(&component->files_lock);
    return rules;
}

/* @param previous  what NULL stands for in the table */
static void encode(const struct strag_table *table, enum coll_strag_reason previous,
                   struct coll_strag_table *encoded)
{
    encoded->entries = table->entries;
    for (int i = 0; i < table->entries; i++) {
        const struct strag_algorithm *algorithm = table->entry[i].algorithm;
        encoded->from[i] = table->entry[i].from;
        encoded->choice[i] = algorithm ? coll_strag_index(algorithm) : (int)previous;
        encoded->blocks[i] = table->entry[i].blocks;
    }
}

struct strag_table coll_strag_table_decode(const struct coll_strag_table *encoded)
{
    struct strag_table table = {.entries = encoded->entries};
    for (int i = 0; i < table.entries; i++) {
        const int choice = encoded->choice[i];
        table.entry[i] = (struct strag_entry){
            encoded->from[i], choice < COLL_STRAG_ALGORITHMS_MAX ? strag_algorithms[choice] : NULL,
            encoded->blocks[i]};
    }
    return table;
}

int coll_strag_table_find(const struct coll_strag_table *table, size_t bytes, int *blocks)
{
    int entry = table->entries - 1;
    while (table->from[entry] > bytes)
        entry--;
    *blocks = table->blocks[entry];
    return table->choice[entry];
}

/* A pinned algorithm runs at every size, with the blocks that are best there. One that this
 * communicator cannot have leaves it to the previous component. */
static void decide_pinned(ompi_communicator_t *comm, const struct strag_problem *problem,
                          const struct strag_model *model, struct coll_strag_decision *decision,
                          struct strag_table *table)
{
    struct strag_error err;
    const struct strag_algorithm *algorithm = strag_algorithms[decision->pinned];
    const struct strag_select_options options = {.only = algorithm};
    struct strag_selection *selection;
    int status;
    if (algorithm->choices) {
        status = strag_select(problem, model, &options, &selection, &err);
        if (status == STRAG_OK) {
            *table = selection->table;
            strag_selection_free(selection);
        }
    } else {
        status = strag_algorithm_claim(algorithm, problem, NULL, &err);
        table->entry[0].algorithm = algorithm;
    }
    if (status == STRAG_OK)
        return;
    coll_strag_tell("coll:strag: %s: %s: %s", comm->c_name, algorithm->name, err.text);
    if (decision->pinned == mca_coll_strag_component.pinned)
        coll_strag_warn(COLL_STRAG_WARN_PINNED, algorithm->name, err.text);
    decision->pinned = COLL_STRAG_UNPLANNED;
}

static void apply_rules(const struct strag_problem *problem, struct strag_table *table, int *line)
{
    struct strag_error err;
    const struct strag_rules *rules = read_rules();
    if (rules && strag_rules_apply(rules, problem, table, line, &err) != STRAG_OK) {
        *line = 0;
        coll_strag_warn(COLL_STRAG_WARN_RULES, mca_coll_strag_component.rules_file, err.text);
    }
}

/* Does every message of the communicator go through shared memory? Plans that are the same in every
 * run do not depend on that. */
static bool is_shared(const mca_coll_strag_module_t *module)
{
    return !module->reproducible && module->shm && coll_strag_shm_is_alone(module->shm);
}

/* Where the ranks of a host share its processors, a rank that waits gives the processor to another
 * one, which may be waiting, too. Then the fewest messages are best, whatever the vector's size:
 * one rank sums up (of short vectors two, in turns: direct.c). That is nothing that the model knows
 * of. */
static bool is_crowded(const mca_coll_strag_module_t *module,
                       const struct coll_strag_decision *decision)
{
    return is_shared(module) && opal_progress_yield_when_idle && decision->state.nstragglers == 0;
}

/* The cost model's table, and what it rests on. */
static int select_table(const mca_coll_strag_module_t *module, const struct strag_problem *problem,
                        const struct strag_model *model, const struct coll_strag_decision *decision,
                        struct strag_selection **made, struct strag_error *err)
{
    struct strag_problem simple = *problem;
    struct strag_select_options options = {
        .minimum = module->minimum,
        .strict = mca_coll_strag_component.minimum_said || module->reproducible,
        .quick = !mca_coll_strag_component.telling,
    };
    if (!mca_coll_strag_component.minimum_said && is_shared(module))
        options.minimum = 0; /* in order a short vector takes less than over the PML */
    if (is_crowded(module, decision) && problem->n > 2) {
        simple.blocks = 1;
        options.only = strag_algorithm_find("direct", NULL);
        if (strag_select(&simple, model, &options, made, err) == STRAG_OK)
            return STRAG_OK;
        options.only = NULL;
    }
    return strag_select(problem, model, &options, made, err);
}

void coll_strag_decide(const mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                       const struct strag_topology *topology, struct coll_strag_decision *decision,
                       struct strag_selection **selection)
{
    struct strag_error err;
    struct strag_table table = {.entries = 1}; /* the previous component runs everything */
    const struct strag_state state = strag_state_of(&decision->state);
    const struct strag_problem problem = {
        .n = ompi_comm_size(comm),
        .ports = decision->ports,
        .topology = topology,
        .state = &state,
    };
    const struct strag_model model = make_model(module, topology);
    struct strag_selection *made = NULL;
    enum coll_strag_reason previous = COLL_STRAG_TOO_SHORT;
    int line = 0;
    *selection = NULL;
    decision->pinned = module->pinned;
    if (module->pinned != COLL_STRAG_AUTO) {
        decide_pinned(comm, &problem, &model, decision, &table);
    } else if (select_table(module, &problem, &model, decision, &made, &err) == STRAG_OK) {
        table = made->table;
    } else {
        coll_strag_tell("coll:strag: %s: %s", comm->c_name, err.text);
        previous = COLL_STRAG_UNPLANNED;
    }
    if (module->pinned == COLL_STRAG_AUTO)
        apply_rules(&problem, &table, &line);
    decision->line = line;
    encode(&table, line ? COLL_STRAG_RULE : previous, &decision->table);
    if (mca_coll_strag_component.telling || decision->watching != COLL_STRAG_WATCH_NOT)
        *selection = made;
    else
        strag_selection_free(made);
}
