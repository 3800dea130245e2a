/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inputs of a job's choice of algorithms, as the component writes them (coll_strag_save) and
 * `strag explain --saved` reads them:
 *
 *     strag-saved: 2
 *     version: "0.1.0"            # of strag
 *     communicator: "MPI_COMM_WORLD"
 *     ranks: 4
 *     ports: 0                    # 0: the best number for an algorithm
 *     minimum: 8192               # bytes: the previous component runs shorter vectors ...
 *     strict: false               # ... without exception
 *     quick: true                 # candidates that cannot win were left out
 *     short-plans: true           # and so were those that take long to plan
 *     reproducible: no            # or mapping, ranks
 *     shared-memory: all          # messages that go through it: none, hosts (within hosts), all
 *     written-once: true          # if each rank has a processor (strag_model.written_once)
 *     oversubscribed: {ranks: 4, processors: 2, window: 524288}   # if ranks share processors
 *     stragglers: [{rank: 3, delay: 200}]                # us
 *     slow: [{rank: 2, factor: 1.7}]
 *     pinned: ring
 *     model: {alpha: 1, ...}      # all numbers, in the units of model files
 *     origins: {alpha: user}      # of numbers that are not defaults: measured, file, user
 *     model-file: "lab.yaml"      # the entry in model-line was used
 *     model-line: 3
 *     rules: [{from: 0, algorithm: ring}]                # the sizes of the rule that applies
 *     rules-file: "rules.yaml"
 *     rules-line: 4
 *     table: [{from: 0, algorithm: previous}, {from: 8192, algorithm: ring, blocks: 4}]
 *     topology: d7a4...           # strag_topology_pack's bytes; left out if it must not count
 *
 * Numbers are read back as the same bits. `strag topology --saved` shows the topology.
 */
#ifndef STRAG_SAVED_H
#define STRAG_SAVED_H

#include "machine/state.h"
#include "model/choice.h"
#include "model/numbers.h"

#include <stdio.h>

enum strag_saved_shared {
    STRAG_SHARED_NONE,
    STRAG_SHARED_HOSTS, /* messages within hosts use it */
    STRAG_SHARED_ALL,   /* all messages use it */
};

struct strag_saved {
    const char *version, *communicator;       /* NULL if not known */
    struct strag_circumstances circumstances; /* its model is a copy of `model`'s */
    struct strag_sourced_model model;
    const char *model_file, *rules_file; /* NULL if there is none */
    int reproducible;                    /* enum strag_reproducible */
    int shared_memory;                   /* enum strag_saved_shared */
    struct strag_table table;            /* the job's choice */
    int line;                            /* of the rule that applies; 0 if none does */
};

/** Write a file. @return whether nothing failed */
bool strag_saved_write(const struct strag_saved *saved, FILE *stream);

/**
 * Read a file.
 *
 * @param[out] saved  the caller's to free with strag_saved_free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_ARGUMENT with "FILE:LINE: reason", STRAG_ERR_IO,
 *         STRAG_ERR_MEMORY
 */
int strag_saved_read(const char *file, const struct strag_saved **saved, struct strag_error *err);

/** The same for text in memory. @param name  what messages call it */
int strag_saved_parse(const char *text, size_t length, const char *name,
                      const struct strag_saved **saved, struct strag_error *err);

/** Free what strag_saved_read or strag_saved_parse returned. NULL is allowed. */
void strag_saved_free(const struct strag_saved *saved);

#endif
