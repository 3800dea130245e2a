/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message may come from any rank, and says which call it belongs to. A probe finds messages that
 * have come, and each is received from its rank, only while a message of this call is still to
 * come. A receive from any rank is never posted: on a communicator with mpi_assert_no_any_source
 * nothing would match it. A send does not wait for the receiver, which may not have arrived. By the
 * end of the call the receiver has arrived, and has received its messages.
 */
#include "last_arrival.h"

#include "compat/tags.h"
#include "wire/transport.h"

#include "run/kept.h"

#include <stdlib.h>

/* Messages in flight, at most. The deciding rank sends to all ranks when at most one of them is not
 * in the call. Only messages to that rank, of which there are fewer than PLACES, can occupy places
 * for long; the other ranks receive theirs. */
enum { PLACES = 24 };

/* How long to wait, after an error, for messages in flight. */
static const double drain_seconds = 1.0;

struct outgoing {
    ompi_request_t *request; /* NULL if the place is free */
    struct strag_arrivals_message message;
};

struct coll_strag_arrivals {
    ompi_communicator_t *comm;
    const struct coll_strag_failure *failure;
    uint64_t calls;
    struct strag_arrivals *state;
    struct strag_arrivals_port port;
    int code; /* the first error of a send in this call */

    ompi_request_t *incoming; /* receives a message that has come; NULL if there is none */
    struct strag_arrivals_message message;
    int next; /* the place to try first */
    struct outgoing outgoing[PLACES];

    struct strag_kept kept; /* plans without the ranks that came last */
    struct coll_strag_plans plans[STRAG_KEPT];
};

/* test_footprint counts this in addition to the structures of src/. */
_Static_assert(sizeof(struct coll_strag_arrivals) <= 2560,
               "the dynamic mode takes more memory than test_footprint thinks");

/* ---- Messages ---- */

/* @return whether all messages have been sent; an error is recorded */
static bool all_sent(struct coll_strag_arrivals *arrivals)
{
    bool all = true;
    for (int place = 0; place < PLACES; place++) {
        ompi_request_t **request = &arrivals->outgoing[place].request;
        if (!*request)
            continue;
        if (!REQUEST_COMPLETE(*request)) {
            all = false;
            continue;
        }
        const int code = (*request)->req_status.MPI_ERROR;
        if (code != MPI_SUCCESS)
            arrivals->code = code;
        ompi_request_free(request);
        *request = NULL;
    }
    return all;
}

/* No message has come, or none could be sent: let Open MPI make progress. */
static void make_progress(struct coll_strag_arrivals *arrivals)
{
    opal_progress();
    if (arrivals->code == OMPI_SUCCESS)
        arrivals->code = coll_strag_failed(arrivals->failure);
}

/* @return NULL after an error, if no place is free */
static struct outgoing *find_place(struct coll_strag_arrivals *arrivals)
{
    for (;;) {
        for (int tried = 0; tried < PLACES; tried++) {
            struct outgoing *outgoing = &arrivals->outgoing[arrivals->next];
            arrivals->next = (arrivals->next + 1) % PLACES;
            if (!outgoing->request)
                return outgoing;
        }
        make_progress(arrivals);
        all_sent(arrivals);
        if (arrivals->code != OMPI_SUCCESS) /* the messages may never be sent */
            return NULL;
    }
}

static void send_message(void *context, int to, const struct strag_arrivals_message *message)
{
    struct coll_strag_arrivals *arrivals = context;
    struct outgoing *outgoing = find_place(arrivals);
    if (NULL == outgoing)
        return;
    outgoing->message = *message;
    const int code = MCA_PML_CALL(isend(&outgoing->message, sizeof outgoing->message, MPI_BYTE, to,
                                        COLL_STRAG_TAG_ARRIVALS, MCA_PML_BASE_SEND_STANDARD,
                                        arrivals->comm, &outgoing->request));
    if (code != OMPI_SUCCESS) {
        outgoing->request = NULL;
        arrivals->code = code;
    }
}

static int look_for_message(struct coll_strag_arrivals *arrivals)
{
    ompi_status_public_t status;
    int there = 0;
    if (arrivals->incoming || !strag_arrivals_wants(arrivals->state))
        return OMPI_SUCCESS;
    const int code = MCA_PML_CALL(
        iprobe(MPI_ANY_SOURCE, COLL_STRAG_TAG_ARRIVALS, arrivals->comm, &there, &status));
    if (code != OMPI_SUCCESS || !there)
        return code;
    return MCA_PML_CALL(irecv(&arrivals->message, sizeof arrivals->message, MPI_BYTE,
                              status.MPI_SOURCE, COLL_STRAG_TAG_ARRIVALS, arrivals->comm,
                              &arrivals->incoming));
}

/* Take a message that has come. @param[out] came  whether there was one */
static int receive(struct coll_strag_arrivals *arrivals, bool *came)
{
    *came = false;
    int code = look_for_message(arrivals);
    if (code != OMPI_SUCCESS || !arrivals->incoming || !REQUEST_COMPLETE(arrivals->incoming))
        return code;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* another thread may have completed it */
    const ompi_status_public_t status = arrivals->incoming->req_status;
    ompi_request_free(&arrivals->incoming);
    arrivals->incoming = NULL;
    *came = true;
    if (status.MPI_ERROR != MPI_SUCCESS)
        return status.MPI_ERROR;
    const struct strag_arrivals_message message = arrivals->message;
    strag_arrivals_receive(arrivals->state, status.MPI_SOURCE, &message, &arrivals->port);
    return arrivals->code;
}

/* After an error: wait for drain_seconds at most. Messages then in flight are left to the PML. */
static void stop(struct coll_strag_arrivals *arrivals)
{
    const double end = coll_strag_seconds() + drain_seconds;
    while (arrivals->incoming && !REQUEST_COMPLETE(arrivals->incoming) &&
           coll_strag_seconds() < end)
        opal_progress();
    if (arrivals->incoming && REQUEST_COMPLETE(arrivals->incoming)) {
        const ompi_status_public_t status = arrivals->incoming->req_status;
        ompi_request_free(&arrivals->incoming);
        arrivals->incoming = NULL;
        if (status.MPI_ERROR == MPI_SUCCESS) /* the message may belong to the next call */
            strag_arrivals_receive(arrivals->state, status.MPI_SOURCE, &arrivals->message,
                                   &arrivals->port);
    }
    while (!all_sent(arrivals) && coll_strag_seconds() < end)
        opal_progress();
}

/* ---- A call ---- */

/* Wait for the decision or, at the end, until all messages have been received and sent. */
static int wait_for(struct coll_strag_arrivals *arrivals, double wait_limit, bool end)
{
    struct strag_arrivals *state = arrivals->state;
    double since = -1; /* when the last rank but one was found to have arrived; -1 before */
    int code = arrivals->code;
    for (bool came; code == OMPI_SUCCESS;) {
        const bool sent = all_sent(arrivals); /* frees places in any case */
        if (end ? sent && !strag_arrivals_wants(state)
                : strag_arrivals_decision(state) != STRAG_ARRIVALS_UNDECIDED)
            break;
        code = receive(arrivals, &came);
        if (came || code != OMPI_SUCCESS)
            continue;
        if (isfinite(wait_limit) && strag_arrivals_waits_for_one(state)) {
            const double now = coll_strag_seconds();
            since = since < 0 ? now : since;
            if (now - since >= wait_limit)
                strag_arrivals_expire(state, &arrivals->port);
        }
        make_progress(arrivals);
        code = arrivals->code;
    }
    return code == OMPI_SUCCESS ? arrivals->code : code;
}

int coll_strag_arrivals_agree(struct coll_strag_arrivals *arrivals, double wait_limit, int *without)
{
    static const struct strag_arrivals_roles roles = {0, 1, 2};
    arrivals->code = OMPI_SUCCESS;
    arrivals->calls++;
    strag_arrivals_begin(arrivals->state, &roles, &arrivals->port);
    const int code = wait_for(arrivals, wait_limit, false);
    *without = strag_arrivals_decision(arrivals->state);
    return code;
}

int coll_strag_arrivals_end(struct coll_strag_arrivals *arrivals, int code)
{
    if (code == OMPI_SUCCESS)
        code = wait_for(arrivals, INFINITY, true);
    if (code != OMPI_SUCCESS)
        stop(arrivals);
    return code;
}

uint64_t coll_strag_arrivals_calls(const struct coll_strag_arrivals *arrivals)
{
    return arrivals->calls;
}

/* ---- Plans ---- */

struct coll_strag_plans *coll_strag_arrivals_plans(struct coll_strag_arrivals *arrivals,
                                                   int without)
{
    bool made;
    const int place = strag_kept_find(&arrivals->kept, without, arrivals->calls, &made);
    if (place < 0)
        return NULL;
    if (made)
        coll_strag_plans_free(&arrivals->plans[place], false);
    return &arrivals->plans[place];
}

/* ---- Making one ---- */

void coll_strag_arrivals_free(struct coll_strag_arrivals *arrivals)
{
    if (NULL == arrivals)
        return;
    for (int k = 0; k < STRAG_KEPT; k++)
        coll_strag_plans_free(&arrivals->plans[k], false);
    if (arrivals->incoming || !all_sent(arrivals))
        return;
    free(arrivals->state);
    free(arrivals);
}

struct coll_strag_arrivals *coll_strag_arrivals_create(ompi_communicator_t *comm,
                                                       const struct coll_strag_failure *failure)
{
    const int n = ompi_comm_size(comm);
    struct coll_strag_arrivals *arrivals = calloc(1, sizeof *arrivals);
    if (NULL == arrivals)
        return NULL;
    arrivals->comm = comm;
    arrivals->failure = failure;
    arrivals->port = (struct strag_arrivals_port){send_message, arrivals};
    arrivals->state = malloc(strag_arrivals_bytes(n));
    if (NULL == arrivals->state) {
        free(arrivals);
        return NULL;
    }
    strag_arrivals_init(arrivals->state, n, ompi_comm_rank(comm));
    strag_kept_init(&arrivals->kept);
    return arrivals;
}
