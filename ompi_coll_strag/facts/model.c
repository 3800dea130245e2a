/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include "files.h"
#include "user/log.h"

#include <pthread.h>

static void use_file(const struct strag_topology *topology, int transport,
                     struct strag_sourced_model *model)
{
    static const enum strag_model_transport over[] = {
        [COLL_STRAG_PML] = STRAG_OVER_PML,
        [COLL_STRAG_UCP] = STRAG_OVER_UCP,
        [COLL_STRAG_TRANSPORTS] = STRAG_OVER_ANY,
    };
    const struct strag_machine_kind kind = {topology, over[transport], false};
    const struct strag_models *models = coll_strag_models();
    const struct strag_model_entry *entry = models ? strag_models_find(models, &kind) : NULL;
    char list[512];
    if (entry)
        strag_models_use(entry, model);
    else if (models)
        coll_strag_log(NULL, "%s has no model for these hosts; it has: %s", models->file,
                       strag_models_list(models, list, sizeof list));
}

/* ---- Measured numbers ---- */

static struct {
    pthread_mutex_t lock;
    struct coll_strag_measured of[2]; /* [shared], as known_number uses them */
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Only numbers of messages within hosts depend on `shared`. */
static double *known_number(int id, bool shared)
{
    const bool within = id == STRAG_MODEL_LOCAL_ALPHA || id == STRAG_MODEL_LOCAL_BANDWIDTH ||
                        id == STRAG_MODEL_REDUCE_BANDWIDTH;
    return &known.of[within && shared].number[id];
}

struct coll_strag_measured coll_strag_measured_of(const struct strag_sourced_model *model)
{
    struct coll_strag_measured measured = {{0}};
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
        if (model->origin[id] == STRAG_FROM_MEASURED)
            measured.number[id] = strag_model_value(&model->model, id);
    }
    return measured;
}

void coll_strag_measured_keep(const struct coll_strag_measured *measured, bool shared)
{
    pthread_mutex_lock(&known.lock);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
        if (measured->number[id] > 0)
            *known_number(id, shared) = measured->number[id];
    }
    pthread_mutex_unlock(&known.lock);
}

/* Use measured numbers that neither the user nor a file has set. */
static void use_measured(bool shared, struct strag_sourced_model *model)
{
    pthread_mutex_lock(&known.lock);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
        const double number = *known_number(id, shared);
        if (number > 0)
            (void)strag_model_set(model, id, number, STRAG_FROM_MEASURED);
    }
    pthread_mutex_unlock(&known.lock);
}

/* ---- All together ---- */

struct strag_sourced_model coll_strag_make_model(const struct strag_topology *topology, bool shared,
                                                 int transport)
{
    const double *number = coll_strag_settings.number;
    struct strag_model standard =
        strag_model_default(topology ? topology->network : STRAG_NETWORK_TREE);
    if (!shared && topology && topology->hosts < topology->n) /* else nothing goes within a host */
        strag_model_use_pml(&standard);
    struct strag_sourced_model made = strag_model_sourced(&standard);
    use_file(topology, transport, &made);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        if (number[id] >= 0)
            strag_model_set(&made, id, number[id], STRAG_FROM_USER);
    if (coll_strag_settings.learn && coll_strag_settings.reproducible == STRAG_REPRODUCIBLE_NO)
        use_measured(shared, &made);
    return made;
}
