/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"

#include <pthread.h>

enum {
    /* How often a job that is alone is polled each time. If two ranks come at the same time, a
     * short call needs fewer, and Open MPI's progress takes longer than one. */
    LOOKS = 8,
    LEFT_MOST = 16, /* queues that are taken off the list at a time */
};

static struct {
    pthread_mutex_t lock; /* guards the list and the queues; only with threads */
    struct coll_strag_queue *first;
    bool registered; /* opal_progress calls progress */
} queues = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void)
{
    if (opal_using_threads())
        pthread_mutex_lock(&queues.lock);
}

static void unlock(void)
{
    if (opal_using_threads())
        pthread_mutex_unlock(&queues.lock);
}

/* Take the queue for this thread, until `leave`. @return false if a thread has it, even this one */
static bool enter(struct coll_strag_queue *queue)
{
    if (opal_using_threads())
        return !__atomic_exchange_n(&queue->busy, true, __ATOMIC_ACQUIRE);
    const bool busy = queue->busy;
    queue->busy = true;
    return !busy;
}

/* ---- Leaving ---- */

/* What has to wait until the lock is not held any more: freeing a communicator may free the queue,
 * and all of Open MPI's modules. */
struct left {
    int count;
    struct {
        ompi_communicator_t *comm; /* NULL if nothing is to be released */
        struct coll_strag_queue *queue;
        void (*closed)(struct coll_strag_queue *queue); /* NULL if the queue stays */
    } queues[LEFT_MOST];
};

/* Give the queue back, and take it off the list if it is empty. The caller has the lock. */
static void leave(struct coll_strag_queue *queue, struct left *left)
{
    if (coll_strag_queue_is_empty(queue) && left->count < LEFT_MOST &&
        (queue->listed || queue->closed)) {
        left->queues[left->count].comm = queue->listed ? queue->comm : NULL;
        left->queues[left->count].queue = queue;
        left->queues[left->count++].closed = queue->closed;
        if (queue->listed) {
            /* perhaps the list's first, which is read without the lock */
            __atomic_store_n(queue->link, queue->next, __ATOMIC_RELEASE);
            if (queue->next)
                queue->next->link = queue->link;
        }
        queue->listed = false;
    }
    __atomic_store_n(&queue->busy, false, __ATOMIC_RELEASE);
}

static void release(struct left *left)
{
    for (int i = 0; i < left->count; i++) {
        if (left->queues[i].closed)
            left->queues[i].closed(left->queues[i].queue);
        if (left->queues[i].comm)
            OBJ_RELEASE(left->queues[i].comm);
    }
}

/* ---- Progress ---- */

static bool look(struct coll_strag_job *job, int looks)
{
    bool done = job->progress(job);
    while (!done && --looks > 0)
        done = job->progress(job);
    return done;
}

/* Finish as many jobs as can be finished now. @return how many jobs did something: if none did,
 * Open MPI gives the processor away */
static int serve(struct coll_strag_queue *queue, int looks)
{
    struct coll_strag_job *job;
    int moved = 0;
    while ((job = __atomic_load_n(&queue->first, __ATOMIC_ACQUIRE)) != NULL) {
        if (!look(job, looks))
            return moved + job->moved;
        lock();
        __atomic_store_n(&queue->first, job->next, __ATOMIC_RELEASE);
        unlock();
        if (job->over)
            job->over(job);
        moved++;
    }
    return moved;
}

static _Thread_local bool held;

void coll_strag_queues_hold(bool hold)
{
    held = hold;
}

static int progress(void)
{
    struct left left;
    struct coll_strag_queue *queue, *next;
    int moved = 0;
    if (held || NULL == __atomic_load_n(&queues.first, __ATOMIC_RELAXED))
        return 0;
    left.count = 0;
    lock();
    for (queue = queues.first; queue; queue = next) {
        if (enter(queue)) {
            const bool alone = queues.first == queue && !queue->next;
            unlock();
            moved += serve(queue, alone && !opal_progress_yield_when_idle ? LOOKS : 1);
            lock();
            next = queue->next; /* only a thread that has entered it takes it off the list */
            leave(queue, &left);
        } else {
            next = queue->next;
        }
    }
    unlock();
    release(&left);
    return moved;
}

/* ---- Jobs ---- */

void coll_strag_queue_init(struct coll_strag_queue *queue, ompi_communicator_t *comm)
{
    *queue = (struct coll_strag_queue){.comm = comm};
}

/* The caller has the lock. */
static void append(struct coll_strag_queue *queue, struct coll_strag_job *job)
{
    job->next = NULL;
    if (queue->first)
        queue->last->next = job;
    else
        __atomic_store_n(&queue->first, job, __ATOMIC_RELEASE);
    queue->last = job;
    if (!queues.registered) /* if that fails, the next job tries again */
        queues.registered = opal_progress_register(progress) == OPAL_SUCCESS;
    if (queue->listed)
        return;
    OBJ_RETAIN(queue->comm);
    queue->listed = true;
    queue->next = queues.first;
    queue->link = &queues.first;
    if (queue->next)
        queue->next->link = &queue->next;
    __atomic_store_n(&queues.first, queue, __ATOMIC_RELEASE);
}

void coll_strag_queue_add(struct coll_strag_queue *queue, struct coll_strag_job *job)
{
    struct left left = {.count = 0};
    bool done = false;
    const bool entered = coll_strag_queue_is_empty(queue) && enter(queue);
    if (entered)
        done = look(job, opal_progress_yield_when_idle ? 1 : LOOKS);
    if (done && job->over)
        job->over(job);
    if (done && !opal_using_threads() && !queue->listed && !queue->closed) {
        queue->busy = false;
        return;
    }
    lock();
    if (!done)
        append(queue, job);
    if (entered)
        leave(queue, &left);
    unlock();
    release(&left);
}

void coll_strag_queue_drain(const struct coll_strag_queue *queue)
{
    while (!coll_strag_queue_is_empty(queue))
        opal_progress();
}

void coll_strag_queue_close(struct coll_strag_queue *queue,
                            void (*closed)(struct coll_strag_queue *queue))
{
    struct left left = {.count = 0};
    lock();
    queue->closed = closed;
    if (enter(queue))
        leave(queue, &left);
    unlock();
    release(&left);
}

void coll_strag_queues_close(void)
{
    if (queues.registered)
        opal_progress_unregister(progress);
    queues.registered = false;
    queues.first = NULL; /* those left are of requests that were never completed */
}
