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

/* What it needs of its communicator, which is not being freed; all but the topology outlives the
 * watch. */
struct coll_strag_watch_options {
    ompi_communicator_t *comm;
    const struct coll_strag_failure *failure; /* not OMPI_SUCCESS: nobody is waited for any more */
    const struct strag_topology *topology;    /* for make alone; NULL: links are not watched */
    struct coll_strag_decision *decision;     /* state and table of it are kept up to date */
    struct coll_strag_table_inputs inputs;    /* for other tables; on rank 0 with a model */
    struct strag_selection **selection;       /* rank 0's, of the table; taken over: NULL then */
};

struct coll_strag_watch {
    struct coll_strag_watch_options options;
    bool look;   /* waits are measured in the window */
    bool inside; /* a call is being watched; one that comes out of it is not */
    bool failed; /* one of its messages has, or the communicator: none is waited for */
    bool over;   /* the communicator is being freed, or MPI ends */

    struct strag_window window;
    bool sampled; /* this call is in it, and */
    double start; /* ... has begun then */
    struct coll_strag_notes *notes;

    struct strag_watch_summary summary;
    struct coll_strag_links *links; /* NULL: they are not watched */

    /* Rank 0's; NULL elsewhere, and where the machine is not to be learnt */
    struct strag_judge *judge;
    struct strag_fit *fit;
    struct strag_experiments *experiments;

    struct strag_dynamic_policy policy;   /* in force */
    struct coll_strag_arrivals *arrivals; /* NULL: it was not yet */

    struct coll_strag_teardown teardown;
    struct coll_strag_watch *next; /* in the list */
};

/* What it points to is src/'s, whose memory test_footprint counts. */
_Static_assert(sizeof(struct coll_strag_watch) <= 2688,
               "a watch takes more memory than test_footprint thinks");

/** Every rank makes one; if one cannot, all free theirs. @return NULL: out of memory */
struct coll_strag_watch *coll_strag_watch_make(const struct coll_strag_watch_options *options);

/** For that, in watch_make.c: make what its options ask for; on failure what was made is
 * coll_strag_watch_free's. @return false: out of memory */
bool coll_strag_watch_fill(struct coll_strag_watch *watch);

/** NULL is allowed. */
void coll_strag_watch_free(struct coll_strag_watch *watch);

/** The selection behind the table in force; the watch's. `watch` may be NULL.
 * @return NULL on other ranks than rank 0, or if it is not kept */
struct strag_selection *coll_strag_watch_selection(const struct coll_strag_watch *watch);

/** Is a call of `bytes` bytes to be watched? The same on all ranks. `watch` may be NULL. */
bool coll_strag_watches(const struct coll_strag_watch *watch, size_t bytes);

/** Does a call of this size and operation run an experiment's rival? To be asked of blocking calls
 * that are watched, before they begin; the same on all ranks. `watch` may be NULL.
 * @param[out] rival  what it runs then */
bool coll_strag_watch_rival(const struct coll_strag_watch *watch, size_t bytes, const ompi_op_t *op,
                            struct strag_variant *rival);

/** Is a call of this size and operation, which is watched, in the window? Not for after its end. */
bool coll_strag_watch_samples(const struct coll_strag_watch *watch, size_t bytes,
                              const ompi_op_t *op);

/** What calls reduce with, as a number that is the same on all ranks. */
static inline int coll_strag_operation(const ompi_op_t *op)
{
    return ompi_op_is_intrinsic((ompi_op_t *)(uintptr_t)op) ? (int)op->op_type : -1;
}

/* Who is not waited for in a call. */
struct coll_strag_without {
    enum strag_dynamic_turn turn;
    int rank;                                /* -1: all are waited for */
    const struct strag_algorithm *algorithm; /* what runs without it */
    int blocks;
    struct coll_strag_plans *plans; /* for it */
};

/** Before a call of `bytes` bytes, watched or not, that runs what the table says: if the policy
 * says so, find out who is there. Collective. `watch` may be NULL. @param[out] without  the same on
 * all ranks
 * @return OMPI_SUCCESS, or an error of MPI's */
int coll_strag_watch_agree(struct coll_strag_watch *watch, size_t bytes,
                           struct coll_strag_without *without);

/** After it. @param code  what it ended with; returned, if it is an error */
int coll_strag_watch_agreed(struct coll_strag_watch *watch,
                            const struct coll_strag_without *without, int code);

/** Before such a call. */
void coll_strag_watch_begin(struct coll_strag_watch *watch, size_t bytes, const ompi_op_t *op);

/** After it, also if it has failed: all ranks must be in step.
 * @param[out] change  what the caller has to do: drop plans for a straggler, or all plans
 * @return OMPI_SUCCESS, or an error of the watch's own messages */
int coll_strag_watch_end(struct coll_strag_watch *watch, const struct strag_watched_call *call,
                         enum strag_change *change);

/** After it, if the communicator has failed: calls are not watched any more. */
void coll_strag_watch_give_up(struct coll_strag_watch *watch);

/** The model that the last table is from. @return NULL on other ranks than rank 0 */
const struct strag_sourced_model *coll_strag_watch_model(const struct coll_strag_watch *watch);

/** The summary of a communicator. @return false: its calls are not watched */
bool coll_strag_watch_summary(const void *comm, struct strag_watch_summary *summary);

#endif
