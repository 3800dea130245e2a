/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a watch is, and how its parts are made; what it does is in watch.h.
 */
#ifndef COLL_STRAG_WATCH_MAKE_H
#define COLL_STRAG_WATCH_MAKE_H

#include "arrivals.h"
#include "host_notes.h"
#include "links.h"
#include "notes.h"
#include "table.h"
#include "teardown.h"

#include "watch/judge.h"

/* The shortest calls that teach something. */
#define COLL_STRAG_LEARN_FROM COLL_STRAG_SHORT

/* What it needs of its communicator, which is not being freed; all but the topology outlives the
 * watch. */
struct coll_strag_watch_options {
    ompi_communicator_t *comm;
    const struct coll_strag_failure *failure; /* not OMPI_SUCCESS: nobody is waited for any more */
    const struct strag_topology *topology;    /* for make alone; NULL: links are not watched */
    bool shared;                              /* messages within hosts go through shared memory */
    struct strag_shm *alone;                  /* all ranks share it; NULL: they do not */
    struct coll_strag_decision *decision;     /* state and table of it are kept up to date */

    /* On rank 0 */
    const struct strag_rank_location *ranks; /* [rank]; copied by make; NULL on other ranks */
    struct strag_selection **selection;      /* of the table; taken over: NULL then */
    struct coll_strag_table_inputs inputs;   /* for other tables */
};

struct coll_strag_watch {
    struct coll_strag_watch_options options;
    struct strag_observer *observer;
    size_t from;         /* bytes: shorter calls are not watched */
    bool look;           /* waits are noted */
    bool always_measure; /* for a report that leaves nothing out */
    bool inside;         /* a call is being watched; one that comes out of it is not */
    bool failed;         /* one of its messages has, or the communicator: none is waited for */
    bool over;           /* the communicator is being freed, or MPI ends */

    bool brief;   /* this call is too short to look for stragglers in it */
    double start; /* of this call */
    struct coll_strag_notes *notes;
    struct coll_strag_host_notes *host; /* NULL: notes are sent */
    struct strag_judgement *judged;     /* with it, rank 0's: what the next call's update says */
    size_t notes_bytes;                 /* of each rank, and the meter's behind them */
    void *all_notes;                    /* rank 0's, of all ranks */

    struct strag_watch_summary summary;
    struct coll_strag_links *links; /* NULL: they are not watched */

    uint8_t seen[STRAG_SIZE_CLASSES]; /* calls of each class of sizes, up to SEEN_MOST */
    uint64_t settled;                 /* as in the last update */
    struct strag_trials_running trials;

    struct strag_judge *judge;     /* rank 0's; NULL elsewhere */
    struct strag_learner *learner; /* likewise, and NULL where nothing is learnt */

    struct strag_dynamic_policy policy;   /* in force */
    bool may_be_dynamic;                  /* it may come into force */
    struct coll_strag_arrivals *arrivals; /* NULL: it was not yet */

    struct coll_strag_teardown teardown;
    struct coll_strag_watch *next; /* in the list */
};

/* What it points to is src/'s, whose memory test_footprint counts. */
_Static_assert(sizeof(struct coll_strag_watch) <= 2304,
               "a watch takes more memory than test_footprint thinks");

/** Make what its options ask for; on failure what was made is coll_strag_watch_free's.
 * @return false: out of memory */
bool coll_strag_watch_fill(struct coll_strag_watch *watch);

/** Bytes of a rank's notes of the longest window. */
size_t coll_strag_watch_notes_room(const struct coll_strag_watch *watch);

#endif
