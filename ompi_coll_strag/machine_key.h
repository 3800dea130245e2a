/* SPDX-License-Identifier: BSD-3-Clause */
/* On rank 0: are two communicators on equal machines? What is kept from one for the other is found
 * by all that it rests on, byte by byte. Parameters are not among that: they do not change. */
#ifndef COLL_STRAG_MACHINE_KEY_H
#define COLL_STRAG_MACHINE_KEY_H

#include "table.h"

struct coll_strag_machine_key {
    struct coll_strag_machine {
        int32_t n, ports, reproducible, shared, all_shared, processors, transport;
        uint64_t window; /* as in struct strag_crowd, and processors, too */
        struct strag_state_record state;
    } machine;
    void *topology; /* packed; owned; NULL: none */
    size_t bytes;
    uint64_t hash;
};

/** @param[out] key  the caller's to free with coll_strag_machine_key_free
 * @return false: out of memory; there is none then */
bool coll_strag_machine_key_make(const struct coll_strag_table_inputs *inputs,
                                 const struct coll_strag_decision *decision,
                                 struct coll_strag_machine_key *key);

void coll_strag_machine_key_free(struct coll_strag_machine_key *key);

bool coll_strag_machine_key_is_equal(const struct coll_strag_machine_key *a,
                                     const struct coll_strag_machine_key *b);

#endif
