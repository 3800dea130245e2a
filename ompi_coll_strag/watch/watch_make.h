/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a watch is, and how its parts are made; what it does is in watch.h.
 */
#ifndef COLL_STRAG_WATCH_MAKE_H
#define COLL_STRAG_WATCH_MAKE_H

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

/** Make what its options ask for; on failure what was made is coll_strag_watch_free's.
 * @return false: out of memory */
bool coll_strag_watch_fill(struct coll_strag_watch *watch);

#endif
