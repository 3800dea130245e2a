/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include "measured.h"
#include "user/log.h"

#include "model/model_file.h"

#include <pthread.h>

/* The model file, read by the first communicator that needs it. */
static struct {
    pthread_mutex_t lock;
    bool read;
    struct strag_models *models; /* NULL: it is of no use, and that was said */
} file = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct strag_models *read_models(void)
{
    const char *name = coll_strag_settings.model_file;
    struct strag_error err;
    if (name[0] == '\0')
        return NULL;
    pthread_mutex_lock(&file.lock);
    if (!file.read && strag_models_read(name, &file.models, &err) != STRAG_OK) {
        coll_strag_log(NULL, "%s", err.text);
        coll_strag_warn(COLL_STRAG_WARN_MODEL, name, err.text);
    }
    file.read = true;
    pthread_mutex_unlock(&file.lock);
    return file.models;
}

void coll_strag_model_free(void)
{
    strag_models_free(file.models);
    file.models = NULL;
    file.read = false;
}

static void use_file(const struct strag_topology *topology, int transport,
                     struct strag_sourced_model *model)
{
    static const enum strag_model_transport over[] = {
        [COLL_STRAG_PML] = STRAG_OVER_PML,
        [COLL_STRAG_UCP] = STRAG_OVER_UCP,
        [COLL_STRAG_TRANSPORTS] = STRAG_OVER_ANY,
    };
    const struct strag_machine_kind kind = {topology, over[transport], false};
    const struct strag_models *models = read_models();
    const struct strag_model_entry *entry = models ? strag_models_find(models, &kind) : NULL;
    char list[512];
    if (entry)
        strag_models_use(entry, model);
    else if (models)
        coll_strag_log(NULL, "%s has no model for these hosts; it has: %s", models->file,
                       strag_models_list(models, list, sizeof list));
}

struct strag_sourced_model coll_strag_make_model(const struct strag_topology *topology, bool shared,
                                                 int transport)
{
    const double *number = coll_strag_settings.number;
    struct strag_model standard =
        strag_model_default(topology ? topology->network : STRAG_NETWORK_TREE);
    if (!shared)
        strag_model_use_pml(&standard);
    struct strag_sourced_model made = strag_model_sourced(&standard);
    use_file(topology, transport, &made);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        if (number[id] >= 0)
            strag_model_set(&made, id, number[id], STRAG_FROM_USER);
    if (coll_strag_settings.learn && coll_strag_settings.reproducible == STRAG_REPRODUCIBLE_NO)
        coll_strag_measured_use(shared, &made);
    return made;
}
