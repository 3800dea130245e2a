/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `strag explain` has found, and what it shows of it.
 */
#ifndef STRAG_EXPLANATION_H
#define STRAG_EXPLANATION_H

#include "model/bounds.h"
#include "model/choice.h"
#include "topology_options.h"

/* One candidate at one size. Its time is what its rounds take with no bytes, what the bytes add,
 * and how long the others stand idle until the straggler is there. */
struct estimate {
    const struct strag_candidate *candidate;
    int rounds;
    double seconds;
    double latency, transfer, idle;
    double posting; /* of the latency: further messages in the same round */
};

struct explanation {
    const struct machine *machine;
    const struct strag_selection *selection;
    bool quick;               /* not all candidates were compared, as the component does it */
    struct strag_table table; /* with the rules applied */
    enum strag_choice_ground ground;
    const char *rules; /* the file; NULL: none was given */
    int line;          /* of the rule that holds; 0: none does */
    size_t minimum;
    size_t *bytes;
    int sizes;
    struct estimate *estimates; /* room for all candidates; those of one size, the fastest first */
    int count;                  /* one for each algorithm: its best count of blocks */
    struct strag_lower_bound bound;
};

/**
 * Estimate the candidates at a size: one for each algorithm, in `estimates`, the fastest first.
 *
 * @return what the others are held against: the chosen algorithm, or the fastest one where the
 *         previous component is chosen
 */
const struct estimate *explain_size(struct explanation *explanation, size_t bytes);

/** Why the loser takes longer: the largest of the three differences. @return buffer */
const char *explain_loser(const struct estimate *loser, const struct estimate *winner, char *buffer,
                          size_t size);

/** Is candidate number c the first one of an algorithm that is refused with each of its counts of
 * blocks? */
bool explain_is_refused(const struct strag_selection *selection, int c);

/**
 * The next algorithm from number a on that was not compared, but for those that need a straggler
 * and have none.
 *
 * @return its number; where there is none, that of the NULL
 */
int explain_left_out(const struct explanation *explanation, int a);

/** The table, an indented line for each entry. */
void explain_write_table(const struct strag_table *table);

/* The whole explanation. */
void explain_write_text(struct explanation *explanation);
void explain_write_json(struct explanation *explanation);

#endif
