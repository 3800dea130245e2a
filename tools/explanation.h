/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The findings of `strag explain`, and how they are shown.
 */
#ifndef STRAG_EXPLANATION_H
#define STRAG_EXPLANATION_H

#include "model/bounds.h"
#include "model/choice.h"
#include "model/network.h"
#include "topology_options.h"

/* One candidate at one size. Its time is that of its rounds without bytes, that of the bytes, and
 * the time for which the others are idle until the straggler arrives. */
struct estimate {
    const struct strag_candidate *candidate;
    int rounds;
    double seconds;
    double latency, transfer, idle;
    double posting; /* the part of the latency for further messages in a round */
};

enum { LEVELS_MAX = 8 }; /* from the top */

/* The groups of hosts of a tree, if --hosts gives the job's hosts. */
struct levels {
    const struct strag_topology *topology;
    int count; /* of levels, of which the last has single hosts; 0 if none are shown */
    int groups[LEVELS_MAX];
    int *depth; /* [node]: below the root */
    struct strag_links *links;
    double *load; /* [link]: room for what a plan sends over it */
};

struct explanation {
    const struct machine *machine;
    const struct strag_selection *selection;
    bool quick;               /* not all candidates were compared, as the component does it */
    struct strag_table table; /* with the rules applied */
    enum strag_choice_ground ground;
    struct strag_oversubscribed oversubscribed;
    const char *rules;                              /* the file, or NULL if none was given */
    int line;                                       /* of the rule that holds, or 0 if none does */
    struct strag_rules_plan plans[STRAG_TABLE_MAX]; /* that the rule names */
    int nplans;
    size_t minimum;
    size_t *bytes;
    int sizes;
    struct estimate *estimates; /* room for all candidates; those of one size, the fastest first */
    int count;                  /* one for each algorithm, with its best count of blocks */
    bool modelled;              /* the choice at that size is also the model's */
    struct strag_lower_bound bound;
    struct levels levels;
};

/**
 * Estimate the candidates at a size: one for each algorithm, in `estimates`, the fastest first.
 *
 * @return the one that others are compared with: the chosen algorithm, or the fastest one if the
 *         previous component is chosen
 */
const struct estimate *explain_size(struct explanation *explanation, size_t bytes);

/** Why the loser takes longer: the largest of the three differences. @return buffer */
const char *explain_loser(const struct explanation *explanation, const struct estimate *loser,
                          const struct estimate *winner, char *buffer, size_t size);

/** @param[out] levels  to close with explain_close_levels, whatever is returned
 * @return STRAG_OK, also if there are none to show, or STRAG_ERR_MEMORY */
int explain_open_levels(const struct machine *machine, struct levels *levels,
                        struct strag_error *err);

void explain_close_levels(struct levels *levels);

/** The vectors that all ranks together send between the groups of each level.
 * @return false if that is not known, as it is for very long plans */
bool explain_sent(const struct explanation *explanation, const struct estimate *estimate,
                  double sent[LEVELS_MAX]);

/** The fewest vectors that an allreduce sends between `groups` groups. */
static inline double explain_least_sent(int groups)
{
    return 2. * (groups - 1);
}

/** Can a job use a plan that the rule names? @return STRAG_OK, or why another runs in its place */
int explain_plan(const struct explanation *explanation, const struct strag_rules_plan *plan,
                 struct strag_error *err);

/** Is candidate number c the first one of an algorithm that is refused with each of its counts of
 * blocks? */
bool explain_is_refused(const struct strag_selection *selection, int c);

/**
 * The next algorithm from number a on that was not compared and needs no straggler that is missing.
 *
 * @return its number, or that of the closing NULL if there is none
 */
int explain_left_out(const struct explanation *explanation, int a);

/** The table, an indented line for each entry. */
void explain_write_table(const struct strag_table *table);

/* The whole explanation. */
void explain_write_text(struct explanation *explanation);
void explain_write_json(struct explanation *explanation);

#endif
