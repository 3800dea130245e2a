/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rules file: the best algorithms, as a user or `strag-tune` measured them. YAML (or JSON, which
 * is YAML):
 *
 *     strag-rules: 1
 *     rules:
 *       - hosts: 4..8             # a number or a range; left out: any
 *         ranks-per-host: 2       # as above; never applies if hosts have different numbers
 *         ranks: 8..16            # as above
 *         network: torus          # tree, torus, hyperx or hammingmesh; left out: any
 *         sizes:
 *           - {from: 0, algorithm: previous}
 *           - {from: 16K, algorithm: recursive-doubling}
 *           - {from: 1M, algorithm: swing, blocks: 32}
 *           - {from: 64M, plan: FILE}
 *
 * The first rule that applies to a communicator gives its whole table. Its line names it, so each
 * begins on a line of its own. Sizes ascend and the first is 0. "previous" is the previous
 * component, "auto" the model's choice. `blocks`, into how many the algorithm cuts the vector, is
 * the model's choice if left out. `plan` names a file with a plan (plan/plan_file.h), relative to
 * the folder of the rules file; if the plan cannot be used `algorithm` runs, by default "auto".
 */
#ifndef STRAG_RULES_H
#define STRAG_RULES_H

#include "model/select.h"

#include <stdio.h>

struct strag_rules;

/**
 * Read a file.
 *
 * @param[out] rules  the caller's to free with strag_rules_free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_ARGUMENT with "FILE:LINE: reason", STRAG_ERR_IO,
 *         STRAG_ERR_MEMORY
 */
int strag_rules_read(const char *file, struct strag_rules **rules, struct strag_error *err);

/** The same for text in memory. @param name  what messages call it */
int strag_rules_parse(const char *text, size_t length, const char *name, struct strag_rules **rules,
                      struct strag_error *err);

/** NULL is allowed. */
void strag_rules_free(struct strag_rules *rules);

/**
 * Put the first rule that applies into the table.
 *
 * @param model  for blocks that are left out
 * @param table  on entry the model's (for "auto"); replaced if a rule applies
 * @param[out] line  where the rule begins in the file; 0 if none applies
 * @return STRAG_OK; STRAG_ERR_UNSUPPORTED if the rule's algorithm or blocks cannot be planned here;
 *         or STRAG_ERR_MEMORY. On failure the table is unchanged
 */
int strag_rules_apply(const struct strag_rules *rules, const struct strag_problem *problem,
                      const struct strag_model *model, struct strag_table *table, int *line,
                      struct strag_error *err);

/* A file with a plan, and the sizes at which it is to run. */
struct strag_rules_plan {
    const char *file; /* owned by the rules */
    size_t from, to;  /* bytes, both included */
};

/** Get the plans that the rule in this line names, whether or not they can be used.
 * @return how many */
int strag_rules_plans(const struct strag_rules *rules, int line,
                      struct strag_rules_plan plans[STRAG_TABLE_MAX]);

/**
 * Write the sizes of one rule as in a file: "- {from: 0, algorithm: ring}".
 *
 * @param line    where the rule begins
 * @param indent  blanks before each line
 */
void strag_rules_write_sizes(const struct strag_rules *rules, int line, FILE *stream, int indent);

struct strag_yaml;
struct yaml_node_s;

/** Read the `sizes` of a rule that always applies, in another YAML file: a strag_yaml_reader.
 * @param target  struct strag_rules **, NULL before; the caller's to free with strag_rules_free,
 * also on failure */
int strag_rules_yaml_sizes(struct strag_yaml *yaml, const struct yaml_node_s *node, void *target);

/** Set the file name and line that messages give for sizes which strag_rules_yaml_sizes read.
 * @return STRAG_OK or STRAG_ERR_MEMORY, and nothing is changed */
int strag_rules_set_source(struct strag_rules *rules, const char *name, int line,
                           struct strag_error *err);

#endif
