/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck_news.h"

#include "compat/tags.h"

#include <stdlib.h>

enum { TAG = COLL_STRAG_TAG_STUCK };

/* A message that Open MPI may still read. */
struct coll_strag_stuck_sent {
    struct coll_strag_stuck_sent *next;
    ompi_request_t *request;
    struct strag_roster_message message;
};

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
    if (NULL == news)
        return;
    coll_strag_stuck_free_sent(news);
    while (news->sent) {
        struct coll_strag_stuck_sent *sent = news->sent;
        news->sent = sent->next;
        ompi_request_free(&sent->request);
    }
    strag_roster_free(news->roster);
    if (news->receiving) {
        ompi_request_cancel(news->receiving);
        ompi_request_free(&news->receiving);
    } else {
        free(news);
    }
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

void coll_strag_stuck_send(struct coll_strag_stuck_news *news, ompi_communicator_t *comm,
                           int32_t id, int rank, const struct strag_roster_entry *self,
                           struct strag_roster *roster)
{
    struct coll_strag_stuck_sent *sent = malloc(sizeof *sent);
    if (NULL == sent)
        return;
    strag_roster_write(roster, self, &sent->message);
    sent->message.id = id;
    if (MCA_PML_CALL(isend(&sent->message, sent->message.length, MPI_BYTE, rank, TAG,
                           MCA_PML_BASE_SEND_STANDARD, comm, &sent->request)) != OMPI_SUCCESS) {
        free(sent);
        return;
    }
    sent->next = news->sent;
    news->sent = sent;
}

void coll_strag_stuck_free_sent(struct coll_strag_stuck_news *news)
{
    struct coll_strag_stuck_sent **link = &news->sent, *sent;
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

/* What was begun to be received is there. @return whether it is a good message */
static bool finish_receiving(struct coll_strag_stuck_news *news, ompi_communicator_t *comm,
                             size_t *bytes)
{
    ompi_request_t *request = news->receiving;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* another thread may have completed it */
    const bool good = request->req_status.MPI_ERROR == MPI_SUCCESS;
    *bytes = request->req_status._ucount;
    news->receiving = NULL;
    ompi_request_free(&request);
    return good && strag_roster_is_message(&news->received, *bytes, ompi_comm_size(comm));
}

/* @return whether a message is there, and is being received */
static bool begin_receiving(struct coll_strag_stuck_news **made, ompi_communicator_t *comm)
{
    ompi_status_public_t status;
    int there = 0;
    if (MCA_PML_CALL(iprobe(MPI_ANY_SOURCE, TAG, comm, &there, &status)) != OMPI_SUCCESS ||
        !there || !coll_strag_stuck_have_news(made, comm))
        return false;
    struct coll_strag_stuck_news *news = *made;
    return MCA_PML_CALL(irecv(&news->received, sizeof news->received, MPI_BYTE, status.MPI_SOURCE,
                              TAG, comm, &news->receiving)) == OMPI_SUCCESS;
}

bool coll_strag_stuck_receive(struct coll_strag_stuck_news **news, ompi_communicator_t *comm,
                              size_t *bytes)
{
    while ((*news && (*news)->receiving) || begin_receiving(news, comm)) {
        if (!REQUEST_COMPLETE((*news)->receiving))
            return false;
        if (finish_receiving(*news, comm, bytes))
            return true;
    }
    return false;
}
