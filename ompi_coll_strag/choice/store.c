/* SPDX-License-Identifier: BSD-3-Clause */
#include "store.h"

#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINES = 32 };

/* A machine as bytes: two are equal if these are. */
struct key {
    uint64_t hash;
    size_t bytes;
    char *data; /* owned */
};

struct machine {
    struct key key;
    unsigned long long used; /* when, in uses of the store */

    bool has_table;
    double number[STRAG_MODEL_NUMBERS]; /* of the model that the table is from */
    int32_t reason, line;
    struct strag_table table;

    struct strag_findings findings; /* all 0: none */
};

static struct {
    pthread_mutex_t lock;
    unsigned long long uses;
    struct machine *machines[MACHINES];
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Keys ---- */

static char *put(char *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
    return to + bytes;
}

/* Value by value: what is between members may be anything. @return behind the last one */
static char *put_state(char *to, const struct strag_state_record *state)
{
    to = put(to, &state->nstragglers, sizeof state->nstragglers);
    for (int i = 0; i < state->nstragglers; i++) {
        to = put(to, &state->straggler[i].rank, sizeof state->straggler[i].rank);
        to = put(to, &state->straggler[i].delay, sizeof state->straggler[i].delay);
    }
    to = put(to, &state->nslow, sizeof state->nslow);
    for (int i = 0; i < state->nslow; i++) {
        to = put(to, &state->slow[i].rank, sizeof state->slow[i].rank);
        to = put(to, &state->slow[i].factor, sizeof state->slow[i].factor);
    }
    return to;
}

/* @return whether there was memory for it */
static bool make_key(const struct coll_strag_table_inputs *inputs,
                     const struct coll_strag_decision *decision, struct key *key)
{
    const struct strag_state_record *state = &decision->state;
    const int64_t fixed[] = {ompi_comm_size(inputs->comm),
                             decision->ports,
                             decision->reproducible,
                             inputs->shared,
                             inputs->all_shared,
                             inputs->oversubscribed.processors,
                             (int64_t)inputs->oversubscribed.window,
                             inputs->transport};
    void *packed = NULL;
    size_t bytes = 0;
    if (inputs->topology &&
        strag_topology_pack(inputs->topology, &packed, &bytes, NULL) != STRAG_OK)
        return false;
    key->data = malloc(sizeof fixed + sizeof *state + bytes);
    if (key->data) {
        char *end = put_state(put(key->data, fixed, sizeof fixed), state);
        key->bytes = (size_t)(put(end, packed, bytes) - key->data);
        key->hash = strag_hash(STRAG_HASH_START, key->data, key->bytes);
    }
    free(packed);
    return NULL != key->data;
}

static bool is_equal(const struct key *a, const struct key *b)
{
    return a->hash == b->hash && a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

/* ---- Machines ---- */

static void free_machine(struct machine *machine)
{
    if (machine)
        free(machine->key.data);
    free(machine);
}

/* The one that was not used for longest. The caller has the lock. */
static void make_room(void)
{
    int oldest = 0;
    for (int m = 1; m < MACHINES && store.machines[oldest]; m++) {
        if (!store.machines[m] || store.machines[m]->used < store.machines[oldest]->used)
            oldest = m;
    }
    free_machine(store.machines[oldest]);
    store.machines[oldest] = store.machines[0];
    store.machines[0] = NULL;
}

/* The caller has the lock.
 * @param key   given up
 * @param made  make it if it is not there @return NULL: it is not, or out of memory */
static struct machine *find(struct key *key, bool made)
{
    struct machine *machine = NULL;
    for (int m = 0; m < MACHINES && !machine; m++) {
        if (store.machines[m] && is_equal(&store.machines[m]->key, key))
            machine = store.machines[m];
    }
    if (!machine && made)
        machine = calloc(1, sizeof *machine);
    if (!machine || machine->key.data) {
        free(key->data);
    } else {
        machine->key = *key;
        make_room();
        store.machines[0] = machine;
    }
    if (machine)
        machine->used = ++store.uses;
    return machine;
}

/* With the store's lock. @return as find; NULL: and without the lock */
static struct machine *lock_machine(const struct coll_strag_table_inputs *inputs,
                                    const struct coll_strag_decision *decision, bool made)
{
    struct key key;
    if (!make_key(inputs, decision, &key))
        return NULL;
    pthread_mutex_lock(&store.lock);
    struct machine *machine = find(&key, made);
    if (!machine)
        pthread_mutex_unlock(&store.lock);
    return machine;
}

/* ---- Tables ---- */

static bool is_for(const struct machine *machine, const struct strag_model *model)
{
    bool same = machine->has_table;
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        same = same && machine->number[id] == strag_model_value(model, id);
    return same;
}

static bool find_table(const struct coll_strag_table_inputs *inputs,
                       struct coll_strag_decision *decision)
{
    const struct machine *machine =
        inputs->pinned == COLL_STRAG_AUTO ? lock_machine(inputs, decision, false) : NULL;
    if (!machine)
        return false;
    const bool found = is_for(machine, &inputs->model.model);
    if (found) {
        decision->pinned = COLL_STRAG_AUTO;
        decision->reason = machine->reason;
        decision->line = machine->line;
        decision->table = machine->table;
    }
    pthread_mutex_unlock(&store.lock);
    return found;
}

void coll_strag_keep_table(const struct coll_strag_table_inputs *inputs,
                           const struct coll_strag_decision *decision)
{
    struct machine *machine = NULL;
    /* what is not planned may be for want of memory */
    if (inputs->pinned == COLL_STRAG_AUTO && decision->reason != COLL_STRAG_UNPLANNED)
        machine = lock_machine(inputs, decision, true);
    if (!machine)
        return;
    machine->has_table = true;
    machine->reason = decision->reason;
    machine->line = decision->line;
    machine->table = decision->table;
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        machine->number[id] = strag_model_value(&inputs->model.model, id);
    pthread_mutex_unlock(&store.lock);
}

void coll_strag_decide_once(const struct coll_strag_table_inputs *inputs,
                            struct coll_strag_decision *decision)
{
    struct strag_selection *selection = NULL;
    if (find_table(inputs, decision))
        return;
    coll_strag_decide(inputs, decision, &selection);
    strag_selection_free(selection);
    coll_strag_keep_table(inputs, decision);
}

/* ---- Findings ---- */

void coll_strag_keep_findings(const struct coll_strag_table_inputs *inputs,
                              const struct coll_strag_decision *decision,
                              struct strag_experiments *experiments)
{
    struct machine *machine = lock_machine(inputs, decision, true);
    if (!machine)
        return;
    strag_findings_merge(&machine->findings, strag_experiments_findings(experiments));
    pthread_mutex_unlock(&store.lock);
}

void coll_strag_use_findings(const struct coll_strag_table_inputs *inputs,
                             const struct coll_strag_decision *decision,
                             struct strag_experiments *experiments)
{
    const struct machine *machine = lock_machine(inputs, decision, false);
    if (!machine)
        return;
    strag_findings_merge(strag_experiments_findings(experiments), &machine->findings);
    pthread_mutex_unlock(&store.lock);
}

void coll_strag_store_free(void)
{
    for (int m = 0; m < MACHINES; m++) {
        free_machine(store.machines[m]);
        store.machines[m] = NULL;
    }
}
