/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rank 0 sends to all after a window of watched calls: an update, and where something is new
 * the news behind it. Plain data, sent as it stands in memory; the pointers of tables and trials
 * are packed first (table.h).
 */
#ifndef COLL_STRAG_UPDATE_H
#define COLL_STRAG_UPDATE_H

#include "measured.h"

#include "watch/judge.h"

/* Always. */
struct coll_strag_update {
    int32_t look;         /* note waits from now on */
    int32_t change;       /* enum strag_change: state and table are new */
    int32_t probe;        /* links are to be probed at once, in this many rounds; 0: not */
    uint64_t probe_bytes; /* of each message of it */
    int32_t window;       /* calls of this window, and of the next ones; 0: as it is */
    int32_t begun[STRAG_TRIALS_AT_ONCE]; /* which trials are new */
    uint64_t settled; /* classes of sizes, bit by bit: short calls of these are not watched */
    int32_t dynamic;  /* the policy of whoever comes last is new, or goes on */
    struct strag_watch_summary summary;
};

/* Where coll_strag_update_has_news says so. */
struct coll_strag_news {
    struct coll_strag_measured measured;
    struct strag_state_record state;
    struct strag_table table;                        /* packed, as */
    struct strag_trial trials[STRAG_TRIALS_AT_ONCE]; /* ... these, ... */
    struct strag_dynamic_policy policy;              /* ... and its table */
};

/** The same on all ranks. */
bool coll_strag_update_has_news(const struct coll_strag_update *update);

/** Rank 0's news, packed. @param learner  NULL: nothing is learnt
 * @param[out] news  padding, too, is set */
void coll_strag_news_fill(const struct strag_judge *judge, const struct strag_learner *learner,
                          struct coll_strag_news *news);

/** After they were received, on all ranks. */
void coll_strag_news_unpack(const struct coll_strag_update *update, struct coll_strag_news *news);

#endif
