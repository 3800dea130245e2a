/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rank 0 sends to all after a window of watched calls: an update and, if something is new, the
 * news behind it. Plain data, sent as it stands in memory; algorithms' pointers are packed first
 * (choice/table.h).
 */
#ifndef COLL_STRAG_UPDATE_H
#define COLL_STRAG_UPDATE_H

#include "facts/measured.h"

#include "learn/judge.h"

/* Always. */
struct coll_strag_update {
    int32_t look;         /* measure waits in the next window */
    int32_t change;       /* enum strag_change: state and table are new */
    int32_t probe;        /* links are to be probed at once, in this many rounds; 0: not */
    uint64_t probe_bytes; /* of each message of it */
    int32_t dynamic;      /* the policy for the last rank is new, or goes on */
    struct strag_window_order next; /* packed */
    struct strag_watch_summary summary;
};

/* If state, table or policy are. */
struct coll_strag_news {
    struct coll_strag_measured measured;
    struct strag_state_record state;
    struct strag_table table;           /* packed, as */
    struct strag_dynamic_policy policy; /* ... its table */
};

#endif
