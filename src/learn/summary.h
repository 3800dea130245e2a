/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was found in a communicator's calls. Sent between processes of the same program as it stands
 * in memory. account.h reports it to the user.
 */
#ifndef STRAG_SUMMARY_H
#define STRAG_SUMMARY_H

#include "detect/dynamic.h"
#include "detect/observe.h"

/* The host with the slowest link now, or the last one that had it. */
struct strag_slowest {
    int32_t rank;  /* a rank on that host; -1 if there was none */
    int32_t hosts; /* how many have slow links now */
    double factor;
    uint64_t from, to; /* calls; `to` is 0 while it lasts */
    uint64_t probes;   /* made so far */
};

struct strag_watch_summary {
    struct strag_late late; /* the stragglers of the last verdict */
    bool judged;            /* the model says what going ahead without them saves */
    int switches;           /* how often the verdict's stragglers changed */
    double saved;           /* modelled seconds saved by going ahead without them */
    uint64_t calls;         /* watched */
    uint64_t ahead_from;    /* the first call that did not wait for a straggler; 0 if all did */
    struct strag_slowest slowest;
    struct strag_dynamic_summary dynamic; /* of the dynamic mode */
    double model_error; /* relative, of a call, in the median of the last window; -1 if unknown */
};

/** The summary before the first call. */
static inline struct strag_watch_summary strag_watch_summary_none(void)
{
    return (struct strag_watch_summary){.slowest.rank = -1, .model_error = -1};
}

#endif
