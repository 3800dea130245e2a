/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks tell each other of calls that stand still (stuck.h): the messages, and what is kept of
 * them. A rank sends a partner another message when that one has answered the last: one that is not
 * in MPI is sent one message, however long it stays away.
 *
 * Messages are MPI_COMM_WORLD's, and say which communicator they are about. One of the communicator
 * itself would be wrong: a rank that is done with its calls may have freed it, and the PML would
 * keep the message for the next one with the same number, as one of its own. So a rank outside of
 * MPI_COMM_WORLD is sent none.
 */
#ifndef COLL_STRAG_STUCK_NEWS_H
#define COLL_STRAG_STUCK_NEWS_H

#include "say.h"

/* A rank that messages are exchanged with. */
struct coll_strag_stuck_partner {
    int rank;
    bool asked; /* it has not answered yet */
    bool asks;  /* it waits, and this rank has not answered yet */

    /* It has said something that ends this call, or its setup, at this time (seconds). It is
     * believed when it says so again: one message may be left over from another communicator that
     * had the same number. */
    uint64_t bad_call;
    double bad_since;
};

/* Made when a call first stands still, or the first message comes. */
struct coll_strag_stuck_news {
    struct strag_roster *roster;
    int ticks;                          /* in which its call has stood still */
    uint32_t asked_missing;             /* how often those that are to be named were asked */
    struct strag_standstill standstill; /* that this rank has spoken of last */
    uint64_t ended;                     /* the call that was to end with an error; 0: none */
    int npartners;
    struct coll_strag_stuck_partner partners[];
};

/** Make it, unless it is there. @return false: out of memory */
bool coll_strag_stuck_have_news(struct coll_strag_stuck_news **news, ompi_communicator_t *comm);

/** NULL is allowed. */
void coll_strag_stuck_free_news(struct coll_strag_stuck_news *news);

/** Free what has been sent, of all communicators. As what follows, by one thread at a time. */
void coll_strag_stuck_free_sent(void);

/** @return NULL: the rank is no partner */
struct coll_strag_stuck_partner *coll_strag_stuck_partner(struct coll_strag_stuck_news *news,
                                                          int rank);

/** Send a message; without memory for it none. It makes progress.
 * @param id      whose calls it is of (struct coll_strag_stuck_examined)
 * @param roster  NULL: it is about the sender only */
void coll_strag_stuck_send(ompi_communicator_t *comm, int32_t id, int rank,
                           const struct strag_roster_entry *self, struct strag_roster *roster);

/** MPI has ended: what was not complete is left to Open MPI. */
void coll_strag_stuck_close_news(void);

/* One that has come. */
struct coll_strag_stuck_received {
    struct strag_roster_message message;
    size_t bytes;
    int from; /* rank in MPI_COMM_WORLD */
};

/** Look for a message. It makes progress.
 * @return it, valid until the next call; NULL if there is none */
const struct coll_strag_stuck_received *coll_strag_stuck_receive(void);

/** Answer it: the communicator is not here any more. @param self  this rank, as the sender knows it
 */
void coll_strag_stuck_answer(const struct coll_strag_stuck_received *received,
                             const struct strag_roster_entry *self);

/** Is it a whole message, from a rank of this communicator about this communicator? */
bool coll_strag_stuck_is_about(const struct coll_strag_stuck_received *received,
                               ompi_communicator_t *comm);

#endif
