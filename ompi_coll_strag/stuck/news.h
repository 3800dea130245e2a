/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages that ranks exchange about calls that stand still (stuck.h), and what is kept of
 * them. A rank sends a partner another message only when the partner has answered the last. So a
 * partner that is outside of MPI is sent one message, however long it stays there.
 *
 * Messages are sent over MPI_COMM_WORLD, and say which communicator they are about. They are not
 * sent over that one, since a rank that is done with its calls may have freed it: the PML would
 * then keep a message for the next communicator with the same number. So a rank outside of
 * MPI_COMM_WORLD is sent none.
 */
#ifndef COLL_STRAG_STUCK_NEWS_H
#define COLL_STRAG_STUCK_NEWS_H

#include "say.h"

/* A rank that messages are exchanged with. */
struct coll_strag_stuck_partner {
    int rank;
    bool asked; /* this rank has asked, and the partner has not answered yet */
    bool asks;  /* the partner waits, and this rank has not answered yet */

    /* The partner has said something that ends this call, or its setup, at this time (seconds). It
     * is believed when it repeats that: one message may be left over from another communicator
     * that had the same number. */
    uint64_t bad_call;
    double bad_since;
};

/* Made when a call first stands still, or the first message comes. */
struct coll_strag_stuck_news {
    struct strag_roster *roster;
    int ticks;                          /* for which the roster's call has stood still */
    uint32_t asked_missing;             /* how often the ranks to be named were asked */
    struct strag_standstill standstill; /* the last that this rank has reported */
    uint64_t ended;                     /* the call that is to end with an error; 0 if none */
    int npartners;
    struct coll_strag_stuck_partner partners[];
};

/** Make a communicator's news, unless they are there. @return false if out of memory */
bool coll_strag_stuck_have_news(struct coll_strag_stuck_news **news, ompi_communicator_t *comm);

/** NULL is allowed. */
void coll_strag_stuck_free_news(struct coll_strag_stuck_news *news);

/** Free messages that have been sent, of all communicators. One thread at a time may call this and
 * the functions below. */
void coll_strag_stuck_free_sent(void);

/** @return the partner with this rank; NULL if there is none */
struct coll_strag_stuck_partner *coll_strag_stuck_partner(struct coll_strag_stuck_news *news,
                                                          int rank);

/** Send a message, unless there is no memory for it. This lets Open MPI make progress.
 * @param id      which calls it is about (struct coll_strag_stuck_examined)
 * @param roster  NULL if it is about the sender only */
void coll_strag_stuck_send(ompi_communicator_t *comm, int32_t id, int rank,
                           const struct strag_roster_entry *self, struct strag_roster *roster);

/** MPI has ended: messages in flight are left to Open MPI. */
void coll_strag_stuck_close_news(void);

/* A message that has come. */
struct coll_strag_stuck_received {
    struct strag_roster_message message;
    size_t bytes;
    int from; /* rank in MPI_COMM_WORLD */
};

/** Look for a message. This lets Open MPI make progress.
 * @return the message, valid until the next call; NULL if there is none */
const struct coll_strag_stuck_received *coll_strag_stuck_receive(void);

/** Is it a whole message, from a rank of this communicator about this communicator? */
bool coll_strag_stuck_is_about(const struct coll_strag_stuck_received *received,
                               ompi_communicator_t *comm);

/** A communicator is freed. Another rank may wait in a later call of it, and is answered that this
 * rank makes no more calls. The last 64 are known, by their numbers. Since Open MPI uses these
 * again, an answer counts only when it is repeated (stuck.c).
 * @param self  this rank, in its last call */
void coll_strag_freed_note(ompi_communicator_t *comm, const struct strag_roster_entry *self);

/** Answer a message about a communicator that is not here, if its sender waits in a call and the
 * communicator is one of the last that were freed. */
void coll_strag_freed_answer(const struct coll_strag_stuck_received *received);

#endif
