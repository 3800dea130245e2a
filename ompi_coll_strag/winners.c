/* SPDX-License-Identifier: BSD-3-Clause */
#include "winners.h"

#include "machine_key.h"

#include <pthread.h>
#include <stdlib.h>

enum { ENTRIES = 16 }; /* machines; the one that was kept first makes room */

struct entry {
    struct coll_strag_machine_key key;
    struct strag_findings findings;
};

static struct {
    pthread_mutex_t lock;
    unsigned next; /* entry that makes room */
    struct entry *entries[ENTRIES];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void free_entry(struct entry *entry)
{
    if (entry)
        coll_strag_machine_key_free(&entry->key);
    free(entry);
}

/* The caller has the lock. @return NULL: there is none */
static struct entry *find(const struct coll_strag_machine_key *key)
{
    for (int e = 0; e < ENTRIES; e++) {
        if (kept.entries[e] && coll_strag_machine_key_is_equal(&kept.entries[e]->key, key))
            return kept.entries[e];
    }
    return NULL;
}

void coll_strag_winners_keep(const struct coll_strag_table_inputs *inputs,
                             const struct coll_strag_decision *decision,
                             const struct strag_experiments *experiments)
{
    struct entry *made = calloc(1, sizeof *made);
    if (!made || !coll_strag_machine_key_make(inputs, decision, &made->key)) {
        free(made);
        return;
    }
    made->findings = *strag_experiments_findings(experiments);
    pthread_mutex_lock(&kept.lock);
    struct entry *entry = find(&made->key);
    if (entry) {
        strag_findings_merge(&entry->findings, &made->findings);
    } else {
        entry = made;
        made = kept.entries[kept.next % ENTRIES];
        kept.entries[kept.next++ % ENTRIES] = entry;
    }
    pthread_mutex_unlock(&kept.lock);
    free_entry(made);
}

void coll_strag_winners_use(const struct coll_strag_table_inputs *inputs,
                            const struct coll_strag_decision *decision,
                            struct strag_experiments *experiments)
{
    struct coll_strag_machine_key key;
    if (!coll_strag_machine_key_make(inputs, decision, &key))
        return;
    pthread_mutex_lock(&kept.lock);
    const struct entry *entry = find(&key);
    if (entry)
        strag_experiments_adopt(experiments, &entry->findings);
    pthread_mutex_unlock(&kept.lock);
    coll_strag_machine_key_free(&key);
}

void coll_strag_winners_free(void)
{
    for (int e = 0; e < ENTRIES; e++) {
        free_entry(kept.entries[e]);
        kept.entries[e] = NULL;
    }
}
