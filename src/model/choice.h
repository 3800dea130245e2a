/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which algorithm runs for which size, all in all: what is pinned, what rules say, that ranks
 * share processors, and else what the cost model finds best. The component decides with this, and
 * `strag explain --saved` repeats it.
 */
#ifndef STRAG_CHOICE_H
#define STRAG_CHOICE_H

#include "model/numbers.h"
#include "model/oversubscribed.h"
#include "model/rules.h"
#include "model/select.h"

/* coll_strag_reproducible: what of the machine a choice may rest on. */
enum strag_reproducible {
    STRAG_REPRODUCIBLE_NO,      /* all that is known, and what is measured while the job runs */
    STRAG_REPRODUCIBLE_MAPPING, /* which rank is on which host, and what the user says: the same
                                   in every run with the same mapping of ranks */
    STRAG_REPRODUCIBLE_RANKS,   /* the number of ranks, and what the user says but of hosts */
    STRAG_REPRODUCIBLE_VALUES
};

/* As users write them; NULL behind the last one. */
extern const char *const strag_reproducible_names[STRAG_REPRODUCIBLE_VALUES + 1];

/* What coll_strag_minimum_size is if the user does not say it, in bytes: usually, and between hosts
 * as long as nobody knows what a message takes there (alpha is neither configured nor measured). */
#define STRAG_MINIMUM_USUAL   ((size_t)8 << 10)
#define STRAG_MINIMUM_GUESSED ((size_t)64 << 10)

/**
 * Which of them it is. Short vectors take less through shared memory than over the PML.
 *
 * @param hosts       of the communicator; 0: they are not known
 * @param all_shared  all ranks share memory
 * @return bytes; 0 if all ranks share memory
 */
size_t strag_choice_minimum(int hosts, bool all_shared, const struct strag_sourced_model *model);

/* All that a choice rests on. */
struct strag_circumstances {
    struct strag_problem problem;
    struct strag_model model;
    struct strag_select_options options;  /* without `only` */
    const struct strag_algorithm *pinned; /* runs at every size; NULL: none does */
    const struct strag_rules *rules;      /* NULL: none; a pinned algorithm goes before them */
    struct strag_oversubscribed oversubscribed; /* set if ranks that wait give their processors away
                                 and all share memory; else n is 0 */
};

enum strag_choice_ground {
    STRAG_BY_MODEL,
    STRAG_BY_OVERSUBSCRIBED, /* ranks share processors (model/oversubscribed.h) */
    STRAG_BY_RULE,
    STRAG_BY_PIN,
    STRAG_BY_NOTHING, /* nothing that is wanted can be planned: the previous component runs all */
};

struct strag_choice {
    enum strag_choice_ground ground;
    int line; /* of the rule; 0: none holds */
    struct strag_table table;
    struct strag_selection *selection; /* the model's candidates, also where a rule holds; where
                                          ranks share processors one algorithm's; NULL: the model
                                          was not asked, or finds none */
    int status, rules_status;          /* enum strag_status of what is pinned, or the model's; and
                                          of rules. Where they are not STRAG_OK: */
    struct strag_error why, rules_why;
};

/**
 * Choose. Where nothing can be planned the table leaves all to the previous component; rules that
 * cannot be applied do not count.
 *
 * @param[out] choice  its selection is the caller's to free with strag_selection_free
 */
void strag_choose(const struct strag_circumstances *circumstances, struct strag_choice *choice);

#endif
