/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank looks up its neighbours in a binomial tree, two on average, so that no process has to
 * look up thousands. What is missing below travels up, the answer down. Seven ranks, of which 4 has
 * no strag:
 *
 *            0            5 -> 4   not sent: 5 sees that its parent is missing
 *         /  |  \         6 -> 4   nor does 6
 *        1   2   4        3 -> 2   all are here
 *            |   | \      2 -> 0   all are here
 *            3   5  6     0        sees that 4 is missing, and tells 1 and 2; 2 tells 3
 *
 * A rank whose parent is missing knows the answer, and tells those below. So every rank that has
 * strag gets the same answer, and waits for none that has not. Two versions are strangers to one
 * another: each is missing for the other.
 */
#include "roll_call.h"

#include "log.h"

#include <string.h>

/* Ranks, the lowest of each kind; INT32_MAX: none. */
struct answer {
    int32_t missing; /* has no strag, or another one */
    int32_t varies;  /* has other parameters than rank 0 */
    struct coll_strag_offer offer;
};

static bool is_missing(ompi_communicator_t *comm, int rank)
{
    struct coll_strag_fingerprint theirs;
    coll_strag_fingerprint_find(comm, rank, &theirs);
    return coll_strag_fingerprint_differs(&theirs, NULL);
}

/* ---- Warnings ---- */

/* Of those ranks that have strag, whichever, the lowest in the job speaks for all. */
static bool speaks(ompi_communicator_t *comm)
{
    const opal_process_name_t own = OPAL_PROC_MY_NAME;
    struct coll_strag_fingerprint theirs;
    for (int rank = 0; rank < ompi_comm_size(comm); rank++) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);
        if (opal_compare_proc(name, own) >= 0)
            continue;
        coll_strag_fingerprint_find(comm, rank, &theirs);
        if (theirs.version[0] != '\0')
            return false;
    }
    return true;
}

/* All ranks that have strag know; one warns, once. */
static void warn(ompi_communicator_t *comm, enum coll_strag_warning warning, int rank,
                 const char *what)
{
    char who[320];
    if (!speaks(comm)) {
        coll_strag_warned(warning);
        return;
    }
    const ompi_proc_t *proc = ompi_group_peer_lookup(comm->c_local_group, rank);
    const char *host = proc ? opal_get_proc_hostname(&proc->super) : NULL;
    snprintf(who, sizeof who, "rank %d of %s, on %s", rank,
             comm->c_name[0] ? comm->c_name : "a communicator", host ? host : "?");
    coll_strag_log(comm, "%s: %s", who, what);
    coll_strag_warn(warning, who, what);
}

static void warn_of(ompi_communicator_t *comm, const struct coll_strag_fingerprint *first,
                    const struct answer *answer)
{
    char what[COLL_STRAG_DIFFERENCE_MAX];
    struct coll_strag_fingerprint theirs;
    if (answer->missing != INT32_MAX) {
        coll_strag_fingerprint_find(comm, answer->missing, &theirs);
        if (coll_strag_fingerprint_differs(&theirs, what))
            warn(comm, COLL_STRAG_WARN_NOT_EVERYWHERE, answer->missing, what);
    } else if (answer->varies != INT32_MAX) {
        coll_strag_fingerprint_find(comm, answer->varies, &theirs);
        if (coll_strag_fingerprint_varies(&theirs, first, what))
            warn(comm, COLL_STRAG_WARN_DIFFERENT, answer->varies, what);
    }
}

bool coll_strag_roll_call_first(ompi_communicator_t *comm, struct coll_strag_fingerprint *first)
{
    char why[COLL_STRAG_DIFFERENCE_MAX];
    coll_strag_fingerprint_find(comm, 0, first);
    if (!coll_strag_fingerprint_differs(first, why))
        return true;
    warn(comm, COLL_STRAG_WARN_NOT_EVERYWHERE, 0, why);
    return false;
}

/* ---- The tree ---- */

static int send_answer(ompi_communicator_t *comm, const struct answer *answer, int rank)
{
    return MCA_PML_CALL(send(answer, sizeof *answer, MPI_BYTE, rank, MCA_COLL_BASE_TAG_ALLREDUCE,
                             MCA_PML_BASE_SEND_STANDARD, comm));
}

static int receive_answer(ompi_communicator_t *comm, struct answer *answer, int rank)
{
    return MCA_PML_CALL(recv(answer, sizeof *answer, MPI_BYTE, rank, MCA_COLL_BASE_TAG_ALLREDUCE,
                             comm, MPI_STATUS_IGNORE));
}

static void add(struct answer *answer, const struct answer *other)
{
    if (other->missing < answer->missing)
        answer->missing = other->missing;
    if (other->varies < answer->varies)
        answer->varies = other->varies;
    if (other->offer.origin != answer->offer.origin)
        answer->offer.origin = 0;
}

/* A rank and the bits below its lowest one: its children. Rank 0 has all bits. */
static int first_child_bit(int rank, int n)
{
    int bit = 1;
    while (rank ? !(rank & bit) : bit < n)
        bit <<= 1;
    return bit >> 1;
}

/* From those below. */
static int gather(ompi_communicator_t *comm, struct answer *answer)
{
    const int n = ompi_comm_size(comm), me = ompi_comm_rank(comm);
    for (int bit = 1; bit <= first_child_bit(me, n); bit <<= 1) {
        const int child = me | bit;
        struct answer theirs = {.missing = child, .varies = INT32_MAX};
        int code = OMPI_SUCCESS;
        if (child >= n)
            continue;
        if (!is_missing(comm, child))
            code = receive_answer(comm, &theirs, child);
        if (code != OMPI_SUCCESS)
            return code;
        add(answer, &theirs);
    }
    return OMPI_SUCCESS;
}

/* To those below. */
static int spread(ompi_communicator_t *comm, const struct answer *answer)
{
    const int n = ompi_comm_size(comm), me = ompi_comm_rank(comm);
    for (int bit = first_child_bit(me, n); bit > 0; bit >>= 1) {
        const int child = me | bit;
        if (child >= n || is_missing(comm, child))
            continue;
        int code = send_answer(comm, answer, child);
        if (code != OMPI_SUCCESS)
            return code;
    }
    return OMPI_SUCCESS;
}

/* Up to the parent, and back. */
static int ask(ompi_communicator_t *comm, struct answer *answer)
{
    const int me = ompi_comm_rank(comm), parent = me & (me - 1);
    if (me == 0)
        return OMPI_SUCCESS;
    if (is_missing(comm, parent)) {
        answer->missing = parent;
        return OMPI_SUCCESS;
    }
    int code = send_answer(comm, answer, parent);
    return code == OMPI_SUCCESS ? receive_answer(comm, answer, parent) : code;
}

int coll_strag_roll_call(ompi_communicator_t *comm, const struct coll_strag_fingerprint *first,
                         struct coll_strag_offer *offer, bool *all)
{
    struct coll_strag_fingerprint own;
    struct answer answer;
    memset(&answer, 0, sizeof answer); /* it is sent, padding and all */
    answer.missing = answer.varies = INT32_MAX;
    answer.offer = *offer;
    coll_strag_fingerprint_find(comm, ompi_comm_rank(comm), &own);
    if (coll_strag_fingerprint_varies(&own, first, NULL))
        answer.varies = ompi_comm_rank(comm);
    int code = gather(comm, &answer);
    if (code == OMPI_SUCCESS)
        code = ask(comm, &answer);
    if (code == OMPI_SUCCESS)
        code = spread(comm, &answer);
    *all = code == OMPI_SUCCESS && answer.missing == INT32_MAX;
    *offer = answer.offer;
    if (code == OMPI_SUCCESS)
        warn_of(comm, first, &answer);
    return code;
}
