/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watching a communicator's calls for stragglers, slow links and faster algorithms. learn/judge.h
 * has the rules; watch.c shows a window.
 */
#ifndef COLL_STRAG_WATCH_H
#define COLL_STRAG_WATCH_H

#include "choice/table.h"
#include "facts/links.h"
#include "last_arrival.h"
#include "mpi/teardown.h"
#include "notes.h"

#include "learn/judge.h"

/* A watch's inputs. The communicator is not being freed. Everything pointed to outlives the watch,
 * except the topology. */
struct coll_strag_watch_options {
    ompi_communicator_t *comm;
    const struct coll_strag_failure *failure; /* once it is set, no rank is waited for */
    const struct strag_topology *topology;    /* NULL if links are not watched; used by make only */
    struct coll_strag_decision *decision;     /* the watch keeps its state and table up to date */
    struct coll_strag_table_inputs inputs;    /* for new tables; only rank 0's have a model */
    struct strag_selection **selection;       /* rank 0's, behind the table; moved, NULL is left */
};

struct coll_strag_watch {
    struct coll_strag_watch_options options;
    bool look;   /* waits are measured in this window */
    bool inside; /* a call is being watched; a call made from within it is not */
    bool failed; /* a message or the communicator has failed: no message is waited for */
    bool over;   /* the communicator is being freed, or MPI is being finalized */

    struct strag_window window;
    bool sampled; /* this call is in the window, and */
    double start; /* ... began at this time */
    struct coll_strag_notes *notes;

    struct strag_watch_summary summary;
    struct coll_strag_links *links; /* NULL if links are not watched */

    /* NULL on ranks other than 0. fit and experiments are also NULL if nothing is to be learnt. */
    struct strag_judge *judge;
    struct strag_fit *fit;
    struct strag_experiments *experiments;

    struct strag_dynamic_policy policy;   /* in force */
    struct coll_strag_arrivals *arrivals; /* NULL until the dynamic mode first begins */

    struct coll_strag_teardown teardown;
    struct coll_strag_watch *next; /* in the list of this process's watches */
};

/* Its pointers lead to structures of src/, whose memory test_footprint counts. */
_Static_assert(sizeof(struct coll_strag_watch) <= 2688,
               "a watch takes more memory than test_footprint thinks");

/** Every rank makes one; if one rank cannot, all free theirs. @return NULL if out of memory */
struct coll_strag_watch *coll_strag_watch_make(const struct coll_strag_watch_options *options);

/** Part of coll_strag_watch_make, in watch_make.c: make what the options ask for. After a failure
 * coll_strag_watch_free frees what was made. @return false if out of memory */
bool coll_strag_watch_fill(struct coll_strag_watch *watch);

/** `watch` may be NULL. */
void coll_strag_watch_free(struct coll_strag_watch *watch);

/** The selection behind the table in force; it belongs to the watch. `watch` may be NULL.
 * @return NULL on ranks other than 0, or if the selection is not kept */
struct strag_selection *coll_strag_watch_selection(const struct coll_strag_watch *watch);

/** Is a call of `bytes` bytes watched? The same on all ranks. `watch` may be NULL. */
bool coll_strag_watches(const struct coll_strag_watch *watch, size_t bytes);

/** Does the next call, a blocking one of this size and operation, run an experiment's rival? The
 * same on all ranks. `watch` may be NULL. @param[out] rival  the rival, if it does */
bool coll_strag_watch_rival(const struct coll_strag_watch *watch, size_t bytes, const ompi_op_t *op,
                            struct strag_variant *rival);

/** Is a watched call of this size and operation in the window? Asked before the call ends. */
bool coll_strag_watch_samples(const struct coll_strag_watch *watch, size_t bytes,
                              const ompi_op_t *op);

/** The operation of a call, as a number that is the same on all ranks. */
static inline int coll_strag_operation(const ompi_op_t *op)
{
    return ompi_op_is_intrinsic((ompi_op_t *)(uintptr_t)op) ? (int)op->op_type : -1;
}

/* Which rank is not waited for in a call. */
struct coll_strag_without {
    enum strag_dynamic_turn turn;
    int rank;                                /* -1 if all are waited for */
    const struct strag_algorithm *algorithm; /* runs without that rank, */
    int blocks;                              /* with this many blocks */
    struct coll_strag_plans *plans;          /* the plans without that rank */
};

/** Before a call of `bytes` bytes, watched or not, that uses the table: if the policy asks for it,
 * find out which ranks have arrived. Collective. `watch` may be NULL. If the policy asks for it,
 * coll_strag_arrivals_end follows the call.
 * @param[out] without  the same on all ranks
 * @return OMPI_SUCCESS, or an error from MPI */
int coll_strag_watch_agree(struct coll_strag_watch *watch, size_t bytes,
                           struct coll_strag_without *without);

/** Before a watched call. */
void coll_strag_watch_begin(struct coll_strag_watch *watch, size_t bytes, const ompi_op_t *op);

/** After a watched call, even if it has failed, so that all ranks stay in step.
 * @param[out] change  tells the caller to drop plans for a straggler, or all plans
 * @return OMPI_SUCCESS, or an error of the watch's own messages */
int coll_strag_watch_end(struct coll_strag_watch *watch, const struct strag_watched_call *call,
                         enum strag_change *change);

/** After a watched call on a communicator that has failed: no further calls are watched. */
void coll_strag_watch_give_up(struct coll_strag_watch *watch);

/** The model behind the current table. @return NULL on ranks other than 0 */
const struct strag_sourced_model *coll_strag_watch_model(const struct coll_strag_watch *watch);

/** The summary of a communicator. @return false if its calls are not watched */
bool coll_strag_watch_summary(const void *comm, struct strag_watch_summary *summary);

#endif
