/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was found in a communicator's calls, sent as it is between processes of the same program.
 * account.h says it to the user.
 */
#ifndef STRAG_SUMMARY_H
#define STRAG_SUMMARY_H

#include "detect/dynamic.h"
#include "detect/observe.h"

/* The host with the slowest link, or the last that had it. */
struct strag_slowest {
    int32_t rank;  /* one on that host; -1: there was none */
    int32_t hosts; /* with slow links now */
    double factor;
    uint64_t from, to; /* calls; to: 0: it still is */
    uint64_t probes;   /* so far */
};

struct strag_watch_summary {
    struct strag_late late; /* the stragglers by the last verdict */
    int switches;           /* how often these were others, or none */
    double saved;           /* seconds, by going ahead without them, as modelled */
    uint64_t calls;         /* watched */
    uint64_t ahead_from;    /* the first call that did not wait for a straggler; 0: all did */
    struct strag_slowest slowest;
    struct strag_dynamic_summary dynamic; /* of calls without the last rank */
    double model_error; /* how far calls are from what they are modelled to take, relative, in the
                           median of the last window; below 0: not known */
};

/** Before the first call. */
static inline struct strag_watch_summary strag_watch_summary_none(void)
{
    return (struct strag_watch_summary){.slowest.rank = -1, .model_error = -1};
}

#endif
