/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry that was not used for longest makes room.
 */
#include "table_cache.h"

#include "machine_key.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 32 };

struct entry {
    struct coll_strag_machine_key key;
    double number[STRAG_MODEL_NUMBERS];
    unsigned long long used; /* when, in uses of the cache; 0: an empty entry */
    int32_t reason, line;
    struct strag_table table;
};

static struct {
    pthread_mutex_t lock;
    unsigned long long uses;
    struct entry *entries[ENTRIES];
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool has_numbers(const struct entry *entry, const struct strag_model *model)
{
    bool same = true;
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        same = same && entry->number[id] == strag_model_value(model, id);
    return same;
}

static void free_entry(struct entry *entry)
{
    if (entry)
        coll_strag_machine_key_free(&entry->key);
    free(entry);
}

/* @return whether it was there */
static bool find(const struct coll_strag_machine_key *key, const struct strag_model *model,
                 struct coll_strag_decision *decision)
{
    bool found = false;
    pthread_mutex_lock(&cache.lock);
    for (int e = 0; e < ENTRIES && !found; e++) {
        struct entry *entry = cache.entries[e];
        found =
            entry && has_numbers(entry, model) && coll_strag_machine_key_is_equal(&entry->key, key);
        if (!found)
            continue;
        entry->used = ++cache.uses;
        decision->pinned = COLL_STRAG_AUTO;
        decision->reason = entry->reason;
        decision->line = entry->line;
        decision->table = entry->table;
    }
    pthread_mutex_unlock(&cache.lock);
    return found;
}

/* The key is the entry's then. Without memory for it there is none. */
static void add(struct coll_strag_machine_key *key, const struct strag_model *model,
                const struct coll_strag_decision *decision)
{
    struct entry *entry = malloc(sizeof *entry);
    if (!entry) {
        coll_strag_machine_key_free(key);
        return;
    }
    *entry = (struct entry){
        .key = *key, .reason = decision->reason, .line = decision->line, .table = decision->table};
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        entry->number[id] = strag_model_value(model, id);
    int oldest = 0;
    pthread_mutex_lock(&cache.lock);
    for (int e = 0; e < ENTRIES; e++) {
        const struct entry *other = cache.entries[e];
        if (cache.entries[oldest] && (!other || other->used < cache.entries[oldest]->used))
            oldest = e;
    }
    entry->used = ++cache.uses;
    struct entry *dropped = cache.entries[oldest];
    cache.entries[oldest] = entry;
    pthread_mutex_unlock(&cache.lock);
    free_entry(dropped);
}

void coll_strag_decide_once(const struct coll_strag_table_inputs *inputs,
                            struct coll_strag_decision *decision)
{
    struct strag_selection *selection = NULL;
    const struct strag_model *model = &inputs->model.model;
    struct coll_strag_machine_key key;
    const bool cached =
        inputs->pinned == COLL_STRAG_AUTO && coll_strag_machine_key_make(inputs, decision, &key);
    if (cached && find(&key, model, decision)) {
        coll_strag_machine_key_free(&key);
        return;
    }
    coll_strag_decide(inputs, decision, &selection);
    strag_selection_free(selection);
    if (cached && decision->reason != COLL_STRAG_UNPLANNED) /* which may be for want of memory */
        add(&key, model, decision);
    else if (cached)
        coll_strag_machine_key_free(&key);
}

void coll_strag_table_cache_free(void)
{
    for (int e = 0; e < ENTRIES; e++) {
        free_entry(cache.entries[e]);
        cache.entries[e] = NULL;
    }
}
