/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The final choice of an algorithm for each size: the pinned one, that of a rule, the one for ranks
 * that share processors, or else the cost model's. The component decides with this, and `strag
 * explain --saved` repeats the decision.
 */
#ifndef STRAG_CHOICE_H
#define STRAG_CHOICE_H

#include "model/numbers.h"
#include "model/oversubscribed.h"
#include "model/rules.h"
#include "model/select.h"

/* coll_strag_reproducible: the facts about the machine that a choice may use. */
enum strag_reproducible {
    STRAG_REPRODUCIBLE_NO,      /* all that are known, and those measured while the job runs */
    STRAG_REPRODUCIBLE_MAPPING, /* the host of each rank, and what the user configures: the same in
                                   every run with the same mapping of ranks */
    STRAG_REPRODUCIBLE_RANKS,   /* the number of ranks, and what the user configures except hosts */
    STRAG_REPRODUCIBLE_VALUES
};

/* As users write them; NULL after the last one. */
extern const char *const strag_reproducible_names[STRAG_REPRODUCIBLE_VALUES + 1];

/* Defaults of coll_strag_minimum_size, in bytes: the usual one, and the one between hosts while
 * alpha is neither configured nor measured. */
#define STRAG_MINIMUM_USUAL   ((size_t)8 << 10)
#define STRAG_MINIMUM_GUESSED ((size_t)64 << 10)

/**
 * The default of coll_strag_minimum_size for a communicator. Short vectors take less through shared
 * memory than over the PML.
 *
 * @param hosts       of the communicator; 0 if not known
 * @param all_shared  all ranks share memory
 * @return bytes; 0 if all ranks share memory
 */
size_t strag_choice_minimum(int hosts, bool all_shared, const struct strag_sourced_model *model);

/* All inputs of a choice. */
struct strag_circumstances {
    struct strag_problem problem;
    struct strag_model model;
    struct strag_select_options options;        /* without `only` */
    const struct strag_algorithm *pinned;       /* runs at every size; NULL if none is pinned */
    const struct strag_rules *rules;            /* may be NULL; a pinned algorithm has priority */
    struct strag_oversubscribed oversubscribed; /* set if all ranks share memory, and ranks that
                                                   wait yield their processors; else n is 0 */
};

enum strag_choice_ground {
    STRAG_BY_MODEL,
    STRAG_BY_OVERSUBSCRIBED, /* ranks share processors (model/oversubscribed.h) */
    STRAG_BY_RULE,
    STRAG_BY_PIN,
    STRAG_BY_NOTHING, /* what was asked for cannot be planned: the previous component runs all */
};

struct strag_choice {
    enum strag_choice_ground ground;
    int line; /* of the rule; 0 if none applies */
    struct strag_table table;
    struct strag_selection *selection; /* the model's candidates, even if a rule applies; of one
                                          algorithm if ranks share processors; NULL if the model has
                                          none */
    int status, rules_status;          /* enum strag_status of the pinned algorithm or the model,
                                          and of the rules; if not STRAG_OK: */
    struct strag_error why, rules_why;
};

/**
 * Choose. If nothing can be planned, the table leaves all sizes to the previous component. Rules
 * that cannot be applied are ignored.
 *
 * @param[out] choice  its selection is the caller's to free with strag_selection_free
 */
void strag_choose(const struct strag_circumstances *circumstances, struct strag_choice *choice);

#endif
