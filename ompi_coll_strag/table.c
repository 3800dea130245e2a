/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include "info_keys.h"
#include "log.h"

#include "machine/state_text.h"
#include "model/rules.h"

#include <pthread.h>

/* The rules file, read by the first communicator that needs it. */
static struct {
    pthread_mutex_t lock;
    bool read;
    struct strag_rules *rules; /* NULL: it is of no use, and that was said */
} file = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct strag_rules *read_rules(void)
{
    const char *name = coll_strag_settings.rules_file;
    struct strag_error err;
    if (name[0] == '\0')
        return NULL;
    pthread_mutex_lock(&file.lock);
    if (!file.read && strag_rules_read(name, &file.rules, &err) != STRAG_OK) {
        coll_strag_log(NULL, "%s", err.text);
        coll_strag_warn(COLL_STRAG_WARN_RULES, name, err.text);
    }
    file.read = true;
    pthread_mutex_unlock(&file.lock);
    return file.rules;
}

void coll_strag_rules_free(void)
{
    strag_rules_free(file.rules);
    file.rules = NULL;
    file.read = false;
}

size_t coll_strag_table_shortest(const struct strag_table *table)
{
    int entry = 0;
    while (entry < table->entries && !table->entry[entry].algorithm)
        entry++;
    return entry < table->entries ? table->entry[entry].from : SIZE_MAX;
}

/* The number takes the pointer's place, plus 1, so that NULL stays NULL. */
void coll_strag_table_pack(struct strag_table *table)
{
    for (int e = 0; e < table->entries; e++) {
        uintptr_t number = 0;
        while (table->entry[e].algorithm && strag_algorithms[number++] != table->entry[e].algorithm)
            continue;
        table->entry[e].algorithm = (const struct strag_algorithm *)number;
    }
}

void coll_strag_table_unpack(struct strag_table *table)
{
    for (int e = 0; e < table->entries; e++) {
        uintptr_t number = (uintptr_t)table->entry[e].algorithm;
        table->entry[e].algorithm = number ? strag_algorithms[number - 1] : NULL;
    }
}

/* Does the algorithm wait for a straggler, which is named, but not in this communicator? */
static bool is_elsewhere(ompi_communicator_t *comm, const struct strag_algorithm *algorithm)
{
    char buffer[COLL_STRAG_KEY_MAX];
    return algorithm->needs_straggler &&
           strag_state_names_straggler(coll_strag_straggler(comm, buffer));
}

/* A pinned algorithm runs at every size, with the blocks that are best there. One that this
 * communicator cannot have leaves it to the previous component. */
static void decide_pinned(const struct coll_strag_table_inputs *inputs,
                          const struct strag_problem *problem, struct coll_strag_decision *decision)
{
    struct strag_error err;
    char what[MPI_MAX_OBJECT_NAME + 64];
    const struct strag_model model = inputs->model.model;
    const struct strag_algorithm *algorithm = strag_algorithms[inputs->pinned];
    if (strag_select_one(algorithm, problem, &model, &decision->table, &err) == STRAG_OK)
        return;
    decision->reason = COLL_STRAG_UNPLANNED;
    coll_strag_log(inputs->comm, "%s: %s", algorithm->name, err.text);
    if (inputs->pinned != coll_strag_settings.pinned || is_elsewhere(inputs->comm, algorithm))
        return;
    snprintf(what, sizeof what, "%s on %s (%d ranks)", algorithm->name, inputs->comm->c_name,
             ompi_comm_size(inputs->comm));
    coll_strag_warn(COLL_STRAG_WARN_PINNED, what, err.text);
}

static void apply_rules(const struct coll_strag_table_inputs *inputs,
                        const struct strag_rules *rules, const struct strag_problem *problem,
                        struct coll_strag_decision *decision)
{
    struct strag_error err;
    const struct strag_model model = inputs->model.model;
    if (strag_rules_apply(rules, problem, &model, &decision->table, &decision->line, &err) !=
        STRAG_OK) {
        decision->line = 0;
        coll_strag_log(inputs->comm, "%s", err.text);
        coll_strag_warn(COLL_STRAG_WARN_RULES, coll_strag_settings.rules_file, err.text);
    }
    if (decision->line)
        decision->reason = COLL_STRAG_RULE;
}

/* Where ranks share processors, a rank that waits gives the processor to another one, which may be
 * waiting, too. Then the fewest messages are best: few ranks sum up for all (short vectors one, or
 * two in turns: direct.c). */
static bool is_crowded(const struct coll_strag_table_inputs *inputs,
                       const struct coll_strag_decision *decision)
{
    const struct strag_crowd *crowd = &inputs->crowd;
    return crowd->n > 2 && crowd->n > crowd->processors && opal_progress_yield_when_idle &&
           decision->state.nstragglers == 0;
}

/* The cost model knows nothing of that; its times are for verbose lines and the watch.
 * @return as strag_select; also if the algorithm cannot be planned here */
static int select_for_crowd(const struct strag_crowd *crowd, const struct strag_problem *problem,
                            const struct strag_model *model, const struct strag_select_options *as,
                            struct strag_selection **made, struct strag_error *err)
{
    struct strag_select_options options = *as;
    options.only = strag_algorithm_fewest_switches();
    const int status = strag_select(problem, model, &options, made, err);
    if (status == STRAG_OK)
        strag_crowd_table(crowd, options.only, options.minimum, &(*made)->table);
    return status;
}

/* The cost model's table, and what it rests on. Verbose lines have all candidates. */
static int select_table(const struct coll_strag_table_inputs *inputs,
                        const struct strag_problem *problem,
                        const struct coll_strag_decision *decision, struct strag_selection **made,
                        struct strag_error *err)
{
    const struct coll_strag_settings *settings = &coll_strag_settings;
    const struct strag_model model = inputs->model.model;
    const struct strag_select_options options = {
        /* in order a short vector takes less than over the PML */
        .minimum = settings->minimum_set || !inputs->all_shared ? settings->minimum : 0,
        .strict = settings->minimum_set || decision->reproducible,
        .quick = !coll_strag_logging || problem->n > STRAG_EXPLAINED_RANKS,
        .short_plans = true,
    };
    if (is_crowded(inputs, decision) &&
        select_for_crowd(&inputs->crowd, problem, &model, &options, made, err) == STRAG_OK)
        return STRAG_OK;
    return strag_select(problem, &model, &options, made, err);
}

void coll_strag_decide(const struct coll_strag_table_inputs *inputs,
                       struct coll_strag_decision *decision, struct strag_selection **selection)
{
    struct strag_error err;
    const struct strag_state state = strag_state_of(&decision->state);
    const struct strag_problem problem = {
        .n = ompi_comm_size(inputs->comm),
        .ports = decision->ports,
        .topology = inputs->topology,
        .state = &state,
    };
    const struct strag_rules *rules = read_rules(); /* a pinned algorithm goes before them */
    struct strag_selection *made = NULL;
    decision->pinned = inputs->pinned;
    decision->reason = COLL_STRAG_TOO_SHORT;
    decision->line = 0;
    decision->table = (struct strag_table){.entries = 1}; /* the previous component runs all */
    if (inputs->pinned != COLL_STRAG_AUTO) {
        decide_pinned(inputs, &problem, decision);
    } else {
        if (select_table(inputs, &problem, decision, &made, &err) == STRAG_OK) {
            decision->table = made->table;
        } else {
            coll_strag_log(inputs->comm, "%s", err.text);
            decision->reason = COLL_STRAG_UNPLANNED;
        }
        if (rules)
            apply_rules(inputs, rules, &problem, decision);
    }
    bool wanted = coll_strag_logging || decision->watching != COLL_STRAG_WATCH_NOT;
    *selection = wanted ? made : NULL;
    if (!wanted)
        strag_selection_free(made);
}
