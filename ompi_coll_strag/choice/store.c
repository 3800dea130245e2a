/* SPDX-License-Identifier: BSD-3-Clause */
#include "store.h"

#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINES = 32 };

struct machine {
    uint64_t model; /* hash of the numbers of the table's model; 0 if there is no table */
    int32_t reason, line;
    struct strag_table table;
    struct strag_findings findings; /* all zero if there are none */
};

static struct {
    pthread_mutex_t lock;
    unsigned long long uses;
    unsigned long long used[MACHINES]; /* `uses` at the last use */
    uint64_t key[MACHINES];            /* by key_of; 0 if the place is free */
    struct machine machine[MACHINES];
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Machines ---- */

/* A hash of everything that defines a machine. @return 0 if out of memory */
static uint64_t key_of(const struct coll_strag_table_inputs *inputs,
                       const struct coll_strag_decision *decision)
{
    const struct strag_state_record *state = &decision->state;
    const int64_t fixed[] = {ompi_comm_size(inputs->comm),
                             decision->ports,
                             decision->reproducible,
                             inputs->shared,
                             inputs->all_shared,
                             inputs->oversubscribed.processors,
                             (int64_t)inputs->oversubscribed.window,
                             inputs->transport,
                             state->nstragglers,
                             state->nslow};
    void *packed = NULL;
    size_t bytes = 0;
    if (inputs->topology &&
        strag_topology_pack(inputs->topology, &packed, &bytes, NULL) != STRAG_OK)
        return 0;
    uint64_t key = strag_hash(STRAG_HASH_START, fixed, sizeof fixed);
    for (int i = 0; i < state->nstragglers; i++) {
        const double late[] = {state->straggler[i].rank, state->straggler[i].delay};
        key = strag_hash(key, late, sizeof late);
    }
    for (int i = 0; i < state->nslow; i++) {
        const double slow[] = {state->slow[i].rank, state->slow[i].factor};
        key = strag_hash(key, slow, sizeof slow);
    }
    key = strag_hash(key, packed, bytes) | 1;
    free(packed);
    return key;
}

/* Find a machine, and lock the store.
 * @param made  if it is missing, make it in the place of the least recently used one
 * @return NULL if it is missing, or if out of memory; then the store is not locked */
static struct machine *lock_machine(const struct coll_strag_table_inputs *inputs,
                                    const struct coll_strag_decision *decision, bool made)
{
    const uint64_t key = key_of(inputs, decision);
    int at = 0;
    if (!key)
        return NULL;
    pthread_mutex_lock(&store.lock);
    for (int m = 1; m < MACHINES && store.key[at] != key; m++)
        if (store.key[m] == key || store.used[m] < store.used[at])
            at = m;
    if (store.key[at] != key && !made) {
        pthread_mutex_unlock(&store.lock);
        return NULL;
    }
    if (store.key[at] != key)
        memset(&store.machine[at], 0, sizeof store.machine[at]);
    store.key[at] = key;
    store.used[at] = ++store.uses;
    return &store.machine[at];
}

/* ---- Tables ---- */

static uint64_t hash_of(const struct strag_model *model)
{
    double number[STRAG_MODEL_NUMBERS];
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        number[id] = strag_model_value(model, id);
    return strag_hash(STRAG_HASH_START, number, sizeof number) | 1;
}

static bool find_table(const struct coll_strag_table_inputs *inputs,
                       struct coll_strag_decision *decision)
{
    const struct machine *machine =
        inputs->pinned == COLL_STRAG_AUTO ? lock_machine(inputs, decision, false) : NULL;
    if (!machine)
        return false;
    const bool found = machine->model == hash_of(&inputs->model.model);
    if (found) {
        decision->pinned = COLL_STRAG_AUTO;
        decision->reason = machine->reason;
        decision->line = machine->line;
        decision->table = machine->table;
    }
    pthread_mutex_unlock(&store.lock);
    return found;
}

void coll_strag_decide_once(const struct coll_strag_table_inputs *inputs,
                            struct coll_strag_decision *decision,
                            struct strag_selection **selection)
{
    struct strag_selection *unused = NULL;
    struct machine *machine = NULL;
    if (!selection && find_table(inputs, decision))
        return;
    coll_strag_decide(inputs, decision, selection ? selection : &unused);
    strag_selection_free(unused);
    /* no plan was possible perhaps only for want of memory: not kept */
    if (inputs->pinned == COLL_STRAG_AUTO && decision->reason != COLL_STRAG_UNPLANNED)
        machine = lock_machine(inputs, decision, true);
    if (!machine)
        return;
    machine->model = hash_of(&inputs->model.model);
    machine->reason = decision->reason;
    machine->line = decision->line;
    machine->table = decision->table;
    pthread_mutex_unlock(&store.lock);
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
    memset(store.key, 0, sizeof store.key);
    memset(store.used, 0, sizeof store.used);
}
