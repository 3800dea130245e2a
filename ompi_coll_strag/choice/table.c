/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include "facts/files.h"
#include "user/file_name.h"
#include "user/info_keys.h"
#include "user/log.h"

#include "base/units.h"
#include "machine/state_text.h"
#include "model/saved.h"

size_t coll_strag_table_shortest(const struct strag_table *table)
{
    int entry = 0;
    while (entry < table->entries && !table->entry[entry].algorithm)
        entry++;
    return entry < table->entries ? table->entry[entry].from : SIZE_MAX;
}

/* The number takes the pointer's place, plus 1, so that NULL stays NULL. */
const struct strag_algorithm *coll_strag_algorithm_pack(const struct strag_algorithm *algorithm)
{
    uintptr_t number = 0;
    while (algorithm && strag_algorithms[number++] != algorithm)
        continue;
    return (const struct strag_algorithm *)number;
}

const struct strag_algorithm *coll_strag_algorithm_unpack(const struct strag_algorithm *packed)
{
    const uintptr_t number = (uintptr_t)packed;
    return number ? strag_algorithms[number - 1] : NULL;
}

void coll_strag_table_pack(struct strag_table *table)
{
    for (int e = 0; e < table->entries; e++)
        table->entry[e].algorithm = coll_strag_algorithm_pack(table->entry[e].algorithm);
}

void coll_strag_table_unpack(struct strag_table *table)
{
    for (int e = 0; e < table->entries; e++)
        table->entry[e].algorithm = coll_strag_algorithm_unpack(table->entry[e].algorithm);
}

/* Does the algorithm need a straggler, and is the one that the user names outside of this
 * communicator? */
static bool is_elsewhere(ompi_communicator_t *comm, const struct strag_algorithm *algorithm)
{
    char buffer[COLL_STRAG_KEY_MAX];
    return algorithm->needs_straggler &&
           strag_state_names_straggler(coll_strag_key_text(comm, COLL_STRAG_KEY_STRAGGLER, buffer));
}

/* The pinned algorithm cannot run on this communicator: the previous component runs its calls. */
static void warn_of_pinned(const struct coll_strag_table_inputs *inputs, const char *why)
{
    char what[MPI_MAX_OBJECT_NAME + 64];
    const struct strag_algorithm *algorithm = strag_algorithms[inputs->pinned];
    coll_strag_log(inputs->comm, "%s: %s", algorithm->name, why);
    if (inputs->pinned != coll_strag_settings.pinned || is_elsewhere(inputs->comm, algorithm))
        return;
    snprintf(what, sizeof what, "%s on %s (%s)", algorithm->name, inputs->comm->c_name,
             strag_units_count(ompi_comm_size(inputs->comm), "rank").text);
    coll_strag_warn(COLL_STRAG_WARN_PINNED, what, why);
}

static void warn(const struct coll_strag_table_inputs *inputs, const struct strag_choice *choice)
{
    if (choice->status != STRAG_OK && inputs->pinned != COLL_STRAG_AUTO)
        warn_of_pinned(inputs, choice->why.text);
    else if (choice->status != STRAG_OK)
        coll_strag_log(inputs->comm, "%s", choice->why.text);
    if (choice->rules_status == STRAG_OK)
        return;
    coll_strag_log(inputs->comm, "%s", choice->rules_why.text);
    coll_strag_warn(COLL_STRAG_WARN_RULES, coll_strag_settings.rules_file, choice->rules_why.text);
}

static struct strag_model model_of(const struct coll_strag_table_inputs *inputs)
{
    struct strag_model model = inputs->model.model;
    model.written_once =
        strag_model_is_written_once(inputs->oversubscribed.n, inputs->oversubscribed.processors);
    return model;
}

static size_t minimum_of(const struct coll_strag_table_inputs *inputs)
{
    const struct coll_strag_settings *settings = &coll_strag_settings;
    const int hosts = inputs->topology ? inputs->topology->hosts : 0;
    return settings->minimum_set ? settings->minimum
                                 : strag_choice_minimum(hosts, inputs->all_shared, &inputs->model);
}

/* All inputs of a choice. @param state  the decision's, which must outlive the result */
static struct strag_circumstances circumstances_of(const struct coll_strag_table_inputs *inputs,
                                                   const struct coll_strag_decision *decision,
                                                   const struct strag_state *state)
{
    const struct coll_strag_settings *settings = &coll_strag_settings;
    const bool pinned = inputs->pinned != COLL_STRAG_AUTO;
    const int n = ompi_comm_size(inputs->comm);
    return (struct strag_circumstances){
        .problem = {.n = n, .ports = decision->ports, .topology = inputs->topology, .state = state},
        .model = model_of(inputs),
        .options =
            {
                .minimum = minimum_of(inputs),
                .strict =
                    settings->minimum_set || decision->reproducible == STRAG_REPRODUCIBLE_RANKS,
                /* verbose lines show all candidates, unless pricing them might change the choice */
                .quick = !coll_strag_logging || n > STRAG_EXPLAINED_RANKS ||
                         decision->reproducible != STRAG_REPRODUCIBLE_NO,
                .short_plans = true,
            },
        .pinned = pinned ? strag_algorithms[inputs->pinned] : NULL,
        .rules = coll_strag_rules(),
        .oversubscribed = opal_progress_yield_when_idle ? inputs->oversubscribed
                                                        : (struct strag_oversubscribed){.n = 0},
    };
}

void coll_strag_decide(const struct coll_strag_table_inputs *inputs,
                       struct coll_strag_decision *decision, struct strag_selection **selection)
{
    const struct strag_state state = strag_state_of(&decision->state);
    const struct strag_circumstances circumstances = circumstances_of(inputs, decision, &state);
    struct strag_choice choice;
    strag_choose(&circumstances, &choice);
    warn(inputs, &choice);
    decision->pinned = inputs->pinned;
    decision->line = choice.line;
    decision->table = choice.table;
    decision->reason = choice.line                 ? COLL_STRAG_RULE
                       : choice.status == STRAG_OK ? COLL_STRAG_TOO_SHORT
                                                   : COLL_STRAG_UNPLANNED;
    const bool wanted = coll_strag_logging || decision->watching != COLL_STRAG_WATCH_NOT;
    *selection = wanted ? choice.selection : NULL;
    if (!wanted)
        strag_selection_free(choice.selection);
}

double coll_strag_select_without(const struct coll_strag_table_inputs *inputs,
                                 const struct coll_strag_decision *decision,
                                 const struct strag_state_record *state,
                                 struct strag_selection **selection)
{
    struct strag_error err;
    const struct strag_state view = strag_state_of(state);
    const struct strag_circumstances all = circumstances_of(inputs, decision, &view);
    const struct strag_select_options options = {
        .only = strag_algorithm_any_straggler(),
        .quick = all.options.quick,
        .short_plans = true,
    };
    *selection = NULL;
    if (strag_select(&all.problem, &all.model, &options, selection, &err) != STRAG_OK)
        coll_strag_log(inputs->comm, "%s", err.text);
    return inputs->all_shared ? all.model.local_alpha : all.model.alpha;
}

/* ---- coll_strag_save ---- */

static struct coll_strag_files files = {COLL_STRAG_WARN_SAVE, .lock = PTHREAD_MUTEX_INITIALIZER};

static void write_saved(const void *what, FILE *stream)
{
    (void)strag_saved_write(what, stream);
}

void coll_strag_save(const struct coll_strag_table_inputs *inputs,
                     const struct coll_strag_decision *decision)
{
    const struct coll_strag_settings *settings = &coll_strag_settings;
    const struct strag_state state = strag_state_of(&decision->state);
    const struct strag_saved what = {
        .version = coll_strag_version,
        .communicator = inputs->comm->c_name,
        .circumstances = circumstances_of(inputs, decision, &state),
        .model = inputs->model,
        .model_file = settings->model_file,
        .rules_file = settings->rules_file,
        .reproducible = decision->reproducible,
        .shared_memory = inputs->all_shared ? STRAG_SHARED_ALL
                         : inputs->shared   ? STRAG_SHARED_HOSTS
                                            : STRAG_SHARED_NONE,
        .table = decision->table,
        .line = decision->line,
    };
    coll_strag_file_write(&files, settings->save_file, inputs->comm, 0, write_saved, &what);
}
