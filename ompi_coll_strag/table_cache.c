/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An entry is found by all that its table rests on, byte by byte. Parameters are not among that:
 * they do not change. The entry that was not used for longest makes room.
 */
#include "table_cache.h"

#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 32 };

/* Beside the topology. */
struct circumstances {
    int32_t n, ports, reproducible, shared, all_shared, processors;
    uint64_t window; /* as in struct strag_crowd, and processors, too */
    double number[STRAG_MODEL_NUMBERS];
    struct strag_state_record state;
};

struct key {
    struct circumstances circumstances;
    void *topology; /* packed; NULL: none */
    size_t bytes;
    uint64_t hash;
};

struct entry {
    struct key key;
    unsigned long long used; /* when, in uses of the cache; 0: an empty entry */
    int32_t reason, line;
    struct strag_table table;
};

static struct {
    pthread_mutex_t lock;
    unsigned long long uses;
    struct entry *entries[ENTRIES];
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Member by member: what is between them may be anything. @param to  all 0 */
static void copy_state(const struct strag_state_record *from, struct strag_state_record *to)
{
    to->nstragglers = from->nstragglers;
    to->nslow = from->nslow;
    if (from->nstragglers) {
        to->straggler.rank = from->straggler.rank;
        to->straggler.delay = from->straggler.delay;
    }
    for (int i = 0; i < from->nslow; i++) {
        to->slow[i].rank = from->slow[i].rank;
        to->slow[i].factor = from->slow[i].factor;
    }
}

/* @return false: out of memory */
static bool make_key(const struct coll_strag_table_inputs *inputs,
                     const struct coll_strag_decision *decision, struct key *key)
{
    memset(key, 0, sizeof *key);
    key->circumstances.n = ompi_comm_size(inputs->comm);
    key->circumstances.ports = decision->ports;
    key->circumstances.reproducible = decision->reproducible;
    key->circumstances.shared = inputs->shared;
    key->circumstances.all_shared = inputs->all_shared;
    key->circumstances.processors = inputs->crowd.processors;
    key->circumstances.window = inputs->crowd.window;
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        key->circumstances.number[id] = strag_model_value(&inputs->model.model, id);
    copy_state(&decision->state, &key->circumstances.state);
    if (inputs->topology &&
        strag_topology_pack(inputs->topology, &key->topology, &key->bytes, NULL) != STRAG_OK)
        return false;
    key->hash = strag_hash(STRAG_HASH_START, &key->circumstances, sizeof key->circumstances);
    key->hash = strag_hash(key->hash, key->topology, key->bytes);
    return true;
}

static bool are_same(const struct circumstances *a, const struct circumstances *b)
{
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        if (a->number[id] != b->number[id])
            return false;
    return a->n == b->n && a->ports == b->ports && a->reproducible == b->reproducible &&
           a->shared == b->shared && a->all_shared == b->all_shared &&
           a->processors == b->processors && a->window == b->window &&
           strag_state_is_same(&a->state, &b->state);
}

static bool is_equal(const struct key *a, const struct key *b)
{
    return a->hash == b->hash && a->bytes == b->bytes &&
           are_same(&a->circumstances, &b->circumstances) &&
           (a->bytes == 0 || memcmp(a->topology, b->topology, a->bytes) == 0);
}

static void free_entry(struct entry *entry)
{
    if (entry)
        free(entry->key.topology);
    free(entry);
}

/* @return whether it was there */
static bool find(const struct key *key, struct coll_strag_decision *decision)
{
    bool found = false;
    pthread_mutex_lock(&cache.lock);
    for (int e = 0; e < ENTRIES && !found; e++) {
        struct entry *entry = cache.entries[e];
        found = entry && is_equal(&entry->key, key);
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
static void add(struct key *key, const struct coll_strag_decision *decision)
{
    struct entry *entry = malloc(sizeof *entry);
    if (!entry) {
        free(key->topology);
        return;
    }
    *entry = (struct entry){*key, 0, decision->reason, decision->line, decision->table};
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
    struct key key;
    const bool cached = inputs->pinned == COLL_STRAG_AUTO && make_key(inputs, decision, &key);
    if (cached && find(&key, decision)) {
        free(key.topology);
        return;
    }
    coll_strag_decide(inputs, decision, &selection);
    strag_selection_free(selection);
    if (cached && decision->reason != COLL_STRAG_UNPLANNED) /* which may be for want of memory */
        add(&key, decision);
    else if (cached)
        free(key.topology);
}

void coll_strag_table_cache_free(void)
{
    for (int e = 0; e < ENTRIES; e++) {
        free_entry(cache.entries[e]);
        cache.entries[e] = NULL;
    }
}
