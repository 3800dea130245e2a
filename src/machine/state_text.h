/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stragglers and slow links as users name them:
 *
 *     RANK[:MICROSECONDS][,...]  stragglers, ranks of the job; without a delay, one arrives after
 *                                all that the others can do without it
 *     WHO:FACTOR[,...]           slow links; WHO is a rank of the job, or a host
 *     none, auto, ""             no straggler and no slow link
 */
#ifndef STRAG_STATE_TEXT_H
#define STRAG_STATE_TEXT_H

#include "machine/job.h"
#include "machine/state.h"

#include <stdbool.h>

extern const char strag_straggler_accepted[], strag_slow_accepted[];

/**
 * Only check the text.
 *
 * @param job  the number of the job's ranks; others are refused. INT_MAX if not known
 * @return STRAG_OK or STRAG_ERR_ARGUMENT
 */
int strag_state_check_straggler(const char *text, int job, struct strag_error *err);
int strag_state_check_slow(const char *text, int job, struct strag_error *err);

/** Does a text, which passes the check, name a straggler? */
bool strag_state_names_straggler(const char *text);

/** Read a list of stragglers. @param[out] named  only its stragglers are set, the last to arrive
 * first @return STRAG_OK or STRAG_ERR_ARGUMENT */
int strag_state_parse_stragglers(const char *text, struct strag_state_record *named,
                                 struct strag_error *err);

/** Is it "dynamic": is no rank waited for that comes last by too much, whichever rank it is? */
bool strag_state_is_dynamic(const char *text);

/**
 * Add the named ones of the ranks; names of other ranks and hosts are ignored.
 *
 * @param ranks  [n]; a straggler's number in the state is its index here
 * @return STRAG_OK, or STRAG_ERR_ARGUMENT with `state` unchanged
 */
int strag_state_read_straggler(const char *text, const struct strag_rank_location *ranks, int n,
                               struct strag_state_record *state, struct strag_error *err);
int strag_state_read_slow(const char *text, const struct strag_rank_location *ranks, int n,
                          struct strag_state_record *state, struct strag_error *err);

struct strag_slow_item {
    char who[256];
    double factor; /* at least 1 */
};

/**
 * Take the next item off a list.
 *
 * @param[in,out] rest  the list, not NULL; set to NULL after the last item
 * @param most  the largest factor
 * @param form  the accepted form, for messages: "WHO:FACTOR"
 */
int strag_state_next_slow(const char **rest, double most, const char *form,
                          struct strag_slow_item *item, struct strag_error *err);

/**
 * Take items off a list until one names a host on which none of the ranks is.
 *
 * @param[in,out] rest  as above, or NULL; the list must pass the check
 * @return false if there is no further such item
 */
bool strag_state_next_elsewhere(const char **rest, const struct strag_rank_location *ranks, int n,
                                struct strag_slow_item *item);

#endif
