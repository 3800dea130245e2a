/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work that goes on while the program does something else: queues of jobs, which Open MPI's
 * progress polls. The jobs of a queue run in the order in which they were added, one at a time;
 * those of different queues run side by side. A communicator has a queue for its nonblocking calls
 * that strag runs, and for setup, if one of them has begun it. A request has one of its own, if it
 * is persistent, or if the previous component runs it on copies of a device's buffers.
 *
 * MPI wants the collective calls of a communicator in the same order on all ranks. So jobs become a
 * queue's first one in the same order on all ranks, and no rank waits for one that waits in a later
 * call. Blocking calls wait until the queue is empty.
 *
 * Any thread in MPI does the work: opal_progress asks each queue's first job to do what can be done
 * now. A job never waits, and never calls opal_progress. If a function that it calls does (the PML,
 * short of room), the queue is busy and left alone. One thread at a time works on a queue, without
 * a lock. A queue with jobs holds a reference to its communicator, which the user may free.
 */
#ifndef COLL_STRAG_QUEUE_H
#define COLL_STRAG_QUEUE_H

#include "compat/compat.h"

/* Embedded in its owner's structure; the owner does not touch it until it is done. */
struct coll_strag_job {
    struct coll_strag_job *next;

    /* `progress` may set it: something was done, and there may be more to do at once. A rank that
     * shares its processor does not give it away then. */
    bool moved;

    /* Do what can be done now, and never wait. @return whether it is done; else call again */
    bool (*progress)(struct coll_strag_job *job);

    /* The job is done, and not in the queue any more. It may be added again from here on. NULL if
     * nothing is to be done then. */
    void (*over)(struct coll_strag_job *job);
};

/* All members are queue.c's. */
struct coll_strag_queue {
    ompi_communicator_t *comm;
    struct coll_strag_job *first, *last; /* `first` is read without the lock */
    bool busy;                           /* a thread works on it */
    bool listed;                         /* in the list that progress goes through */
    struct coll_strag_queue *next, **link;
    void (*closed)(struct coll_strag_queue *queue); /* NULL if the queue stays */
};

/** While a thread holds the queues, its own progress does no job: what ends with a job stays. */
void coll_strag_queues_hold(bool hold);

/** Make an empty queue. */
void coll_strag_queue_init(struct coll_strag_queue *queue, ompi_communicator_t *comm);

/**
 * Add a job. If the queue is empty, it does at once what it can: it may be over on return.
 * Two threads must not add jobs to one queue at the same time.
 */
void coll_strag_queue_add(struct coll_strag_queue *queue, struct coll_strag_job *job);

static inline bool coll_strag_queue_is_empty(const struct coll_strag_queue *queue)
{
    return NULL == __atomic_load_n(&queue->first, __ATOMIC_ACQUIRE);
}

/** Wait until all jobs are done. Must not be called within progress. */
void coll_strag_queue_drain(const struct coll_strag_queue *queue);

/**
 * No job will be added any more. @param closed  is called, now or later, when the queue is empty
 * and no thread looks at it any more: then its memory may be freed
 */
void coll_strag_queue_close(struct coll_strag_queue *queue,
                            void (*closed)(struct coll_strag_queue *queue));

/** At the end: progress looks at no queue any more. */
void coll_strag_queues_close(void);

#endif
