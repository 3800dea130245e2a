/* SPDX-License-Identifier: BSD-3-Clause */
#include "news.h"

#include "compat/tags.h"
#include "compat/world.h"

#include <stddef.h>
#include <stdlib.h>

enum { TAG = COLL_STRAG_TAG_STUCK };

/* Messages that Open MPI may still read. The communicators they are about may be freed before. */
struct sent {
    struct sent *next;
    ompi_request_t *request;
    struct strag_roster_message message;
};
static struct sent *first_sent;

/* ---- What is kept ---- */

bool coll_strag_stuck_have_news(struct coll_strag_stuck_news **made, ompi_communicator_t *comm)
{
    int ranks[STRAG_ROSTER_PARTNERS];
    if (*made)
        return true;
    const int n = ompi_comm_size(comm), me = ompi_comm_rank(comm);
    const int npartners = strag_roster_partners(n, me, ranks);
    struct coll_strag_stuck_news *news =
        calloc(1, sizeof *news + (size_t)npartners * sizeof *news->partners);
    if (NULL == news)
        return false;
    news->roster = strag_roster_create(n, me);
    if (NULL == news->roster) {
        free(news);
        return false;
    }
    news->npartners = npartners;
    for (int p = 0; p < npartners; p++)
        news->partners[p].rank = ranks[p];
    *made = news;
    return true;
}

void coll_strag_stuck_free_news(struct coll_strag_stuck_news *news)
{
    coll_strag_stuck_free_sent();
    if (news)
        strag_roster_free(news->roster);
    free(news);
}

struct coll_strag_stuck_partner *coll_strag_stuck_partner(struct coll_strag_stuck_news *news,
                                                          int rank)
{
    for (int p = 0; p < news->npartners; p++) {
        if (news->partners[p].rank == rank)
            return &news->partners[p];
    }
    return NULL;
}

/* ---- Sending ---- */

/* @return the rank in MPI_COMM_WORLD; -1 if it is not there */
static int rank_in_world(const ompi_communicator_t *comm, int rank)
{
    const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);
    return name.jobid == OPAL_PROC_MY_NAME.jobid ? (int)name.vpid : -1;
}

/* @param to  rank in MPI_COMM_WORLD; -1 if it is not there */
static void send_to(int to, uint64_t communicator, int32_t id,
                    const struct strag_roster_entry *self, struct strag_roster *roster)
{
    ompi_communicator_t *world = coll_strag_world();
    struct sent *sent = world && to >= 0 ? malloc(sizeof *sent) : NULL;
    if (NULL == sent)
        return;
    strag_roster_write(roster, self, &sent->message);
    sent->message.id = id;
    sent->message.communicator = communicator;
    if (MCA_PML_CALL(isend(&sent->message, sent->message.length, MPI_BYTE, to, TAG,
                           MCA_PML_BASE_SEND_STANDARD, world, &sent->request)) != OMPI_SUCCESS) {
        free(sent);
        return;
    }
    sent->next = first_sent;
    first_sent = sent;
}

void coll_strag_stuck_send(ompi_communicator_t *comm, int32_t id, int rank,
                           const struct strag_roster_entry *self, struct strag_roster *roster)
{
    send_to(rank_in_world(comm, rank), coll_strag_comm_number(comm), id, self, roster);
}

void coll_strag_stuck_free_sent(void)
{
    struct sent **link = &first_sent, *sent;
    while ((sent = *link) != NULL) {
        if (!REQUEST_COMPLETE(sent->request)) {
            link = &sent->next;
            continue;
        }
        *link = sent->next;
        ompi_request_free(&sent->request);
        free(sent);
    }
}

/* ---- Receiving ---- */

static struct {
    ompi_request_t *request; /* NULL if nothing is being received */
    struct coll_strag_stuck_received received;
} inbox;

void coll_strag_stuck_close_news(void)
{
    first_sent = NULL;
    inbox.request = NULL;
}

/* @return whether a message is there, and is being received */
static bool begin_receiving(ompi_communicator_t *world)
{
    ompi_status_public_t status;
    int there = 0;
    if (MCA_PML_CALL(iprobe(MPI_ANY_SOURCE, TAG, world, &there, &status)) != OMPI_SUCCESS || !there)
        return false;
    inbox.received.from = status.MPI_SOURCE;
    return MCA_PML_CALL(irecv(&inbox.received.message, sizeof inbox.received.message, MPI_BYTE,
                              status.MPI_SOURCE, TAG, world, &inbox.request)) == OMPI_SUCCESS;
}

/* The message being received is there. @return whether it came without an error */
static bool finish_receiving(void)
{
    ompi_request_t *request = inbox.request;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* another thread may have completed it */
    const bool good = request->req_status.MPI_ERROR == MPI_SUCCESS;
    inbox.received.bytes = request->req_status._ucount;
    inbox.request = NULL;
    ompi_request_free(&request);
    return good && inbox.received.bytes >= offsetof(struct strag_roster_message, number);
}

const struct coll_strag_stuck_received *coll_strag_stuck_receive(void)
{
    ompi_communicator_t *world = coll_strag_world();
    while (inbox.request || (world && begin_receiving(world))) {
        if (!REQUEST_COMPLETE(inbox.request))
            return NULL;
        if (finish_receiving())
            return &inbox.received;
    }
    return NULL;
}

bool coll_strag_stuck_is_about(const struct coll_strag_stuck_received *received,
                               ompi_communicator_t *comm)
{
    const struct strag_roster_message *message = &received->message;
    return message->communicator == coll_strag_comm_number(comm) &&
           strag_roster_is_message(message, received->bytes, ompi_comm_size(comm)) &&
           rank_in_world(comm, message->self.rank) == received->from;
}

/* ---- Communicators that are not here any more ---- */

enum { KNOWN = 64 };

static struct {
    uint64_t communicator;
    struct strag_roster_entry self;
} freed[KNOWN];

static unsigned freed_count; /* of all: the last one is at (freed_count - 1) % KNOWN */

void coll_strag_freed_note(ompi_communicator_t *comm, const struct strag_roster_entry *self)
{
    freed[freed_count % KNOWN].communicator = coll_strag_comm_number(comm);
    freed[freed_count % KNOWN].self = *self;
    freed[freed_count % KNOWN].self.state = STRAG_ROSTER_GONE;
    freed_count++;
}

void coll_strag_freed_answer(const struct coll_strag_stuck_received *received)
{
    const struct strag_roster_message *asked = &received->message;
    if (asked->self.state != STRAG_ROSTER_WAITS || asked->id != 0)
        return;
    for (unsigned back = 1; back <= KNOWN && back <= freed_count; back++) {
        const unsigned place = (freed_count - back) % KNOWN;
        if (freed[place].communicator == asked->communicator) {
            send_to(received->from, asked->communicator, asked->id, &freed[place].self, NULL);
            return;
        }
    }
}
