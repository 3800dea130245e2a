/* SPDX-License-Identifier: BSD-3-Clause */
#include "measured.h"

#include <pthread.h>

/* Between hosts it does not matter what goes on within. */
static struct {
    pthread_mutex_t lock;
    struct coll_strag_measured of[2]; /* [shared] */
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_within_hosts(int id)
{
    return id == STRAG_MODEL_LOCAL_ALPHA || id == STRAG_MODEL_LOCAL_BANDWIDTH ||
           id == STRAG_MODEL_REDUCE_BANDWIDTH;
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
        if (!(measured->number[id] > 0))
            continue;
        known.of[shared].number[id] = measured->number[id];
        if (!is_within_hosts(id))
            known.of[!shared].number[id] = measured->number[id];
    }
    pthread_mutex_unlock(&known.lock);
}

void coll_strag_measured_use(bool shared, struct strag_sourced_model *model)
{
    pthread_mutex_lock(&known.lock);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
        if (known.of[shared].number[id] > 0)
            (void)strag_model_set(model, id, known.of[shared].number[id], STRAG_FROM_MEASURED);
    }
    pthread_mutex_unlock(&known.lock);
}
