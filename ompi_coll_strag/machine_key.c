/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine_key.h"

#include "base/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

/* How much of it is to be hashed: a state nearly always is empty, and long. */
static size_t bytes_of(const struct coll_strag_machine *machine)
{
    const bool empty = machine->state.nstragglers == 0 && machine->state.nslow == 0;
    return empty ? offsetof(struct coll_strag_machine, state) : sizeof *machine;
}

bool coll_strag_machine_key_make(const struct coll_strag_table_inputs *inputs,
                                 const struct coll_strag_decision *decision,
                                 struct coll_strag_machine_key *key)
{
    memset(key, 0, sizeof *key);
    key->machine.n = ompi_comm_size(inputs->comm);
    key->machine.ports = decision->ports;
    key->machine.reproducible = decision->reproducible;
    key->machine.shared = inputs->shared;
    key->machine.all_shared = inputs->all_shared;
    key->machine.processors = inputs->crowd.processors;
    key->machine.transport = inputs->transport;
    key->machine.window = inputs->crowd.window;
    copy_state(&decision->state, &key->machine.state);
    if (inputs->topology &&
        strag_topology_pack(inputs->topology, &key->topology, &key->bytes, NULL) != STRAG_OK)
        return false;
    key->hash = strag_hash(STRAG_HASH_START, &key->machine, bytes_of(&key->machine));
    key->hash = strag_hash(key->hash, key->topology, key->bytes);
    return true;
}

void coll_strag_machine_key_free(struct coll_strag_machine_key *key)
{
    free(key->topology);
    key->topology = NULL;
}

static bool are_same(const struct coll_strag_machine *a, const struct coll_strag_machine *b)
{
    return a->n == b->n && a->ports == b->ports && a->reproducible == b->reproducible &&
           a->shared == b->shared && a->all_shared == b->all_shared &&
           a->processors == b->processors && a->transport == b->transport &&
           a->window == b->window && strag_state_is_same(&a->state, &b->state);
}

bool coll_strag_machine_key_is_equal(const struct coll_strag_machine_key *a,
                                     const struct coll_strag_machine_key *b)
{
    return a->hash == b->hash && a->bytes == b->bytes && are_same(&a->machine, &b->machine) &&
           (a->bytes == 0 || memcmp(a->topology, b->topology, a->bytes) == 0);
}
