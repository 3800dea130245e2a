/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model file: the speeds of a site's kinds of machines, from a user or measured by `strag-tune
 * --model`. YAML (or JSON, which is YAML):
 *
 *     strag-models: 1
 *     models:
 *       - name: lab                 # for messages; may be left out, as all that follows
 *         hosts: n[0-9]*,login?     # patterns as the shell has them; left out: any
 *         transport: pml            # what messages between hosts go over: pml, ucp; or any
 *         alpha: 45                 # in the units of the command's options: us
 *         local-alpha: 0.4          # us
 *         overhead: 8               # us
 *         bandwidth: 0.1            # Gbit/s
 *         injection-bandwidth: 0    # Gbit/s
 *         local-bandwidth: 160      # Gbit/s
 *         link-latency: 0           # ns
 *         hop-latency: 0            # ns
 *         reduce-bandwidth: 160     # Gbit/s
 *         measured: {date: 2026-11-22, error: 0.03, ranks: 8, hosts: 4}
 *
 * The first model that fits a communicator's machine gives all the numbers that it has. A model
 * with `hosts` fits if the name of each host matches one of the patterns. `measured` is for the
 * reader: nothing depends on it; `error` is relative.
 */
#ifndef STRAG_MODEL_FILE_H
#define STRAG_MODEL_FILE_H

#include "model/numbers.h"

#include <stdbool.h>
#include <stdio.h>

enum strag_model_transport {
    STRAG_OVER_ANY, /* in a file: fits any; of a machine: not known */
    STRAG_OVER_PML,
    STRAG_OVER_UCP,
};

struct strag_model_entry {
    int line;                          /* of the file, where it begins */
    char *name, *hosts;                /* NULL if left out */
    int transport;                     /* enum strag_model_transport */
    double value[STRAG_MODEL_NUMBERS]; /* seconds or bytes per second; below 0 if left out */
    char date[16];                     /* "" if left out; below, ranks and hosts are 0 */
    double error;                      /* relative; below 0 if left out */
    int ranks, hosts_measured;
};

struct strag_models {
    char *file; /* its name, for messages */
    int count;
    struct strag_model_entry *entry;

    bool version, listed; /* are both keys there? */
    int room;
};

/**
 * Read a file.
 *
 * @param[out] models  the caller's to free with strag_models_free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_ARGUMENT with "FILE:LINE: reason", STRAG_ERR_IO,
 *         STRAG_ERR_MEMORY
 */
int strag_models_read(const char *file, struct strag_models **models, struct strag_error *err);

/** The same for text in memory. @param name  what messages call it */
int strag_models_parse(const char *text, size_t length, const char *name,
                       struct strag_models **models, struct strag_error *err);

/** NULL is allowed. */
void strag_models_free(struct strag_models *models);

/* The machine that a model has to fit. */
struct strag_machine_kind {
    const struct strag_topology *topology; /* with hosts' names; NULL if not known */
    enum strag_model_transport transport;
    bool lenient; /* what is not known fits, and so do hosts without names */
};

/** The first model that fits. @return NULL if none does */
const struct strag_model_entry *strag_models_find(const struct strag_models *models,
                                                  const struct strag_machine_kind *kind);

/** Put the numbers of an entry into a model, unless their origin has priority over files. */
void strag_models_use(const struct strag_model_entry *entry, struct strag_sourced_model *model);

/** List the models for a message, cut at `size`: "lab (line 3), gpu (line 8)". @return text */
const char *strag_models_list(const struct strag_models *models, char *text, size_t size);

/** Write a file that strag_models_read reads. @return whether nothing failed */
bool strag_models_write(const struct strag_models *models, FILE *stream);

#endif
