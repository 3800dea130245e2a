/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator's report on stragglers and slow links, sent as it is between processes of the same
 * program.
 */
#ifndef STRAG_SUMMARY_H
#define STRAG_SUMMARY_H

#include "detect/dynamic.h"
#include "detect/observe.h"
#include "machine/job.h"
#include "model/numbers.h"

/* The host with the slowest link, or the last that had it. */
struct strag_slowest {
    int32_t rank;  /* one on that host; -1: there was none */
    int32_t hosts; /* with slow links now */
    double factor;
    uint64_t from, to; /* calls; to: 0: it still is */
    uint64_t probes;   /* so far */
};

struct strag_watch_summary {
    int32_t straggler;              /* by the last verdict; -1: none */
    double delay;                   /* its, seconds */
    struct strag_observed observed; /* its `rank` is the communicator's */
    int32_t world;                  /* the same rank in the job; -1: none */
    uint64_t calls;                 /* watched */
    uint64_t ahead_from; /* the first call that did not wait for a straggler; 0: all did */
    double seconds;      /* that rank 0 was in them */
    struct strag_slowest slowest;
    struct strag_dynamic_summary dynamic; /* of calls without the last rank */
    double model_error; /* how far calls are from what they are modelled to take, relative, in the
                           median of the last window; below 0: not known */
};

/** Before the first call. */
struct strag_watch_summary strag_watch_summary_none(void);

/**
 * One line on the rank that slows the job down; before it one each, if there is something to
 * say, on a slow host, on the last ranks in how many calls, and on calls that went ahead.
 *
 * @param name   the communicator's
 * @param ranks  one per rank
 */
void strag_watch_summary_text(const struct strag_watch_summary *summary, const char *name,
                              const struct strag_rank_location *ranks, char *text, size_t size);

/**
 * A line on the cost model: its numbers, the source of each, and how well it fits.
 *
 * @param file  the model file's name; may be NULL where no number is from it
 */
void strag_watch_model_text(const struct strag_watch_summary *summary, const char *name,
                            const struct strag_sourced_model *model, const char *file, char *text,
                            size_t size);

#endif
