/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watching a communicator's calls for late ranks; src/observe.h says by what rule.
 *
 *     coll_strag_watch.c    every rank: note calls, send the notes to rank 0, follow its word
 *     coll_strag_judge.c    rank 0: from all notes to a verdict, and to another table
 *     coll_strag_report.c   for the user: a line at the end, performance variables at any time
 */
#ifndef COLL_STRAG_WATCH_H
#define COLL_STRAG_WATCH_H

#include "coll_strag_links.h"

#include "watch/observe.h"

#include <time.h>

/* The host with the slowest link, or the last one that had it. */
struct coll_strag_slowed {
    int32_t rank; /* one that is on it; -1: there never was such a host */
    int32_t now;  /* how many hosts have slow links now */
    double factor;
    uint64_t from, to; /* calls; to: 0: it still is */
    uint64_t probes;   /* so far */
};

/* What a communicator's user is told. All ranks have the same. */
struct coll_strag_told {
    int32_t now;                    /* the rank that is late by the last verdict; -1: none */
    double delay;                   /* seconds that it is late by */
    struct strag_observed observed; /* its `rank` is the communicator's */
    int32_t world;                  /* the same rank in rank 0's MPI_COMM_WORLD */
    uint64_t calls;                 /* watched */
    uint64_t from;                  /* the call from which on a late rank was first not waited for;
                                       0: never */
    double seconds;                 /* that rank 0 was in them */
    struct coll_strag_slowed slow;
};

/* Rank 0's word after a window. */
struct coll_strag_news {
    int32_t look;         /* note waits from now on */
    int32_t changed;      /* state and table are new */
    int32_t replan;       /* and all plans are of no use any more */
    int32_t probe;        /* links are to be probed at once, ... */
    uint64_t probe_bytes; /* ... with messages of so many bytes */
    struct strag_state_record state;
    struct coll_strag_table table;
    struct coll_strag_told told;
};

struct coll_strag_judge;

struct coll_strag_watch {
    struct strag_observer *observer;
    size_t from;      /* bytes: shorter calls are not watched */
    bool look;        /* waits are noted */
    bool look_always; /* for a report that leaves nothing out */
    bool inside;      /* a call is being watched; one that comes out of it is not */
    bool failed;      /* a call ended with an error: nothing is waited for any more */
    bool over;        /* the communicator is being freed, or MPI ends */

    double start, reached;            /* of this call; when all were there, below 0: not known */
    ompi_request_t *barrier, *gather; /* under way, or NULL */
    size_t notes_bytes;
    void *notes; /* of the last window, while they are under way */

    struct coll_strag_told told;
    struct coll_strag_judge *judge; /* rank 0's; NULL elsewhere */
    struct coll_strag_links *links; /* NULL: they are not watched */
};

/* What rank 0 needs to know of a call. */
struct coll_strag_watched {
    size_t bytes;
    int choice, blocks; /* as in struct coll_strag_table */
    int straggler;      /* the rank for whose lateness its table was made; -1: nobody's */
};

/* ---- coll_strag_judge.c ---- */

/**
 * @param ranks  one per rank
 * @return NULL: out of memory
 */
struct coll_strag_judge *coll_strag_judge_create(mca_coll_strag_module_t *module,
                                                 ompi_communicator_t *comm,
                                                 const struct strag_rank_location *ranks,
                                                 const struct coll_strag_decision *decision);

/** NULL is allowed. */
void coll_strag_judge_free(struct coll_strag_judge *judge);

/** Where everybody's notes go. */
void *coll_strag_judge_notes(struct coll_strag_judge *judge);

/** A call of this rank is over. */
void coll_strag_judge_add(struct coll_strag_judge *judge, const struct coll_strag_watched *call,
                          double seconds);

/** The last window's notes are being sent. */
void coll_strag_judge_turn(struct coll_strag_judge *judge);

/** All notes of it are there: what is to be done? */
void coll_strag_judge_decide(struct coll_strag_judge *judge, mca_coll_strag_module_t *module,
                             ompi_communicator_t *comm, struct coll_strag_news *news);

/** Links were probed. @param changed  other hosts are slow, or by other factors */
void coll_strag_judge_links(struct coll_strag_judge *judge, mca_coll_strag_module_t *module,
                            ompi_communicator_t *comm, bool changed, struct coll_strag_news *news);

/** The host of a rank of the communicator. */
const char *coll_strag_judge_host(const struct coll_strag_judge *judge, int rank);

/* ---- coll_strag_report.c ---- */

/** On rank 0, where coll_strag_report asks for it, once: the line for the user. */
void coll_strag_report(mca_coll_strag_module_t *module, ompi_communicator_t *comm);

void coll_strag_report_register(void);

#endif
