/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stragglers and slow links as a user names them:
 *
 *     RANK[:MICROSECONDS]     the straggler, a rank of the job; without a delay it is taken to come
 *                             after all that the others can do without it
 *     WHO:FACTOR[,...]        slow links; WHO is a rank of the job, or a host
 *     none, auto, ""          nothing is named
 */
#ifndef STRAG_STATE_TEXT_H
#define STRAG_STATE_TEXT_H

#include "machine/job.h"
#include "machine/state.h"

extern const char strag_straggler_accepted[], strag_slow_accepted[];

/** Can it be read? @return STRAG_OK or STRAG_ERR_ARGUMENT */
int strag_state_check_straggler(const char *text, struct strag_error *err);
int strag_state_check_slow(const char *text, struct strag_error *err);

/**
 * Take over who of the ranks is named; others do not matter.
 *
 * @param ranks  [n]; a straggler's number is its index here
 * @return STRAG_OK, or STRAG_ERR_ARGUMENT and `state` is as it was
 */
int strag_state_read_straggler(const char *text, const struct strag_rank_location *ranks, int n,
                               struct strag_state_record *state, struct strag_error *err);
int strag_state_read_slow(const char *text, const struct strag_rank_location *ranks, int n,
                          struct strag_state_record *state, struct strag_error *err);

/* One WHO:FACTOR. */
struct strag_slow_item {
    char who[256];
    double factor; /* at least 1 */
};

/**
 * Take the next one off a list.
 *
 * @param rest  the list, not NULL; NULL when this was its last one
 * @param most  the largest factor
 * @param form  what messages say that is accepted, "WHO:FACTOR"
 */
int strag_state_next_slow(const char **rest, double most, const char *form,
                          struct strag_slow_item *item, struct strag_error *err);

#endif
