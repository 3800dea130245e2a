/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call ends with an error while it receives a message of who is there (last_arrival.c), from a
 * rank that is in the next call already. It is kept for that call: it is sent once, and without it
 * the call would wait for ever.
 *
 * One process is the coordinator of five ranks; the PML below is made up: messages come as they are
 * listed, and every send completes at once.
 */
#include "watch/last_arrival.h"
#include "wire/transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 5, LOOKS_MOST = 1000 /* looks without a message, after which it waits for ever */ };

static struct {
    struct {
        int from;
        struct strag_arrivals_message message;
    } coming[16];
    int came, count, looks;
    ompi_request_t *posted;
    void *buffer;
} pml;

/* ---- The PML ---- */

static void coming(int from, uint32_t call, enum strag_arrivals_kind kind)
{
    pml.coming[pml.count].from = from;
    pml.coming[pml.count++].message = (struct strag_arrivals_message){call, (int32_t)kind, 0};
}

static void deliver(void)
{
    memcpy(pml.buffer, &pml.coming[pml.came].message, sizeof pml.coming[0].message);
    pml.posted->req_status.MPI_SOURCE = pml.coming[pml.came++].from;
    pml.posted->req_complete = REQUEST_COMPLETED;
    pml.posted = NULL;
}

static int free_request(ompi_request_t **request)
{
    free(*request);
    *request = NULL;
    return OMPI_SUCCESS;
}

static ompi_request_t *new_request(void)
{
    ompi_request_t *made = calloc(1, sizeof *made);
    if (!made)
        abort();
    made->req_complete = REQUEST_PENDING;
    made->req_free = free_request;
    return made;
}

static int fake_iprobe(int from, int tag, ompi_communicator_t *comm, int *there,
                       ompi_status_public_t *status)
{
    (void)from, (void)tag, (void)comm;
    *there = pml.came < pml.count;
    status->MPI_SOURCE = pml.coming[pml.came].from;
    return OMPI_SUCCESS;
}

static int fake_irecv(void *buffer, size_t count, ompi_datatype_t *type, int from, int tag,
                      ompi_communicator_t *comm, ompi_request_t **request)
{
    (void)count, (void)type, (void)from, (void)tag, (void)comm;
    *request = pml.posted = new_request();
    pml.buffer = buffer;
    return OMPI_SUCCESS;
}

static int fake_isend(const void *buffer, size_t count, ompi_datatype_t *type, int to, int tag,
                      mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                      ompi_request_t **request)
{
    (void)buffer, (void)count, (void)type, (void)to, (void)tag, (void)mode, (void)comm;
    *request = new_request();
    (*request)->req_complete = REQUEST_COMPLETED;
    return OMPI_SUCCESS;
}

static void fake_progress(void)
{
    if (pml.posted) {
        deliver();
    } else if (++pml.looks > LOOKS_MOST) {
        fprintf(stderr, "arrivals_error: it waits for ever\n");
        exit(1);
    }
}

#undef MCA_PML_CALL
#define MCA_PML_CALL(call_)                  fake_##call_
#define opal_progress                        fake_progress
#define ompi_comm_size(comm_)                ((void)(comm_), RANKS)
#define ompi_comm_rank(comm_)                ((void)(comm_), 0)
#define coll_strag_plans_free(plans_, keep_) ((void)(plans_), (void)(keep_))
#define coll_strag_seconds()                 (1e-3 * pml.looks)

/* NOLINTNEXTLINE(bugprone-suspicious-include): its calls of the PML are replaced above */
#include "watch/last_arrival.c"

/* ---- The test ---- */

static void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "arrivals_error: %s\n", what);
    exit(1);
}

int main(void)
{
    static ompi_communicator_t comm; /* which has not failed: from 5.0 on that is looked at */
    static struct coll_strag_failure none = {.comm = &comm};
    struct coll_strag_arrivals *arrivals = coll_strag_arrivals_create(&comm, &none);
    int without = STRAG_ARRIVALS_UNDECIDED;
    check(arrivals != NULL, "out of memory");

    /* Rank 3 has not come after 10 looks: the others go ahead. */
    coming(4, 0, STRAG_ARRIVALS_HERE);
    coming(2, 0, STRAG_ARRIVALS_HERE);
    coming(2, 0, STRAG_ARRIVALS_GRANT);
    coming(1, 0, STRAG_ARRIVALS_HERE);
    coming(1, 0, STRAG_ARRIVALS_GRANT);
    check(coll_strag_arrivals_agree(arrivals, 0.01, &without) == OMPI_SUCCESS,
          "the first call ends with an error");
    check(without == 3, "rank 3 is not the one to go ahead without");

    /* Their plan fails. Rank 4 is in the next call already, as rank 3, which this one still waits
     * for, is not. */
    coming(4, 1, STRAG_ARRIVALS_HERE);
    (void)look_for_message(arrivals);
    check(pml.posted != NULL, "rank 4's message is not received");
    check(coll_strag_arrivals_end(arrivals, OMPI_ERROR) == OMPI_ERROR, "another error");
    check(pml.came == pml.count && pml.posted == NULL, "the receive is still there");

    coming(3, 0, STRAG_ARRIVALS_HERE);
    coming(3, 1, STRAG_ARRIVALS_HERE);
    coming(1, 1, STRAG_ARRIVALS_HERE);
    coming(1, 1, STRAG_ARRIVALS_GRANT);
    coming(2, 1, STRAG_ARRIVALS_HERE);
    coming(2, 1, STRAG_ARRIVALS_GRANT);
    check(coll_strag_arrivals_agree(arrivals, INFINITY, &without) == OMPI_SUCCESS,
          "the second call ends with an error");
    check(without == STRAG_ARRIVALS_ALL, "not all are there in the second call");
    check(coll_strag_arrivals_end(arrivals, OMPI_SUCCESS) == OMPI_SUCCESS && pml.came == pml.count,
          "the second call does not end");
    coll_strag_arrivals_free(arrivals);
    printf("ok: what was being received at an error was kept\n");
    return 0;
}
