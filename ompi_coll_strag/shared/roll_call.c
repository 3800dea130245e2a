/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank looks up its neighbours in the tree of run/exchange.h, two on average, so that no
 * process has to look up thousands. News of missing ranks travels up, the answer down. Seven ranks,
 * of which 4 has no strag:
 *
 *            0            5 -> 4   not sent: 5 sees that its parent is missing
 *         /  |  \         6 -> 4   nor does 6
 *        1   2   4        3 -> 2   all are here
 *            |   | \      2 -> 0   all are here
 *            3   5  6     0        sees that 4 is missing, and tells 1 and 2; 2 tells 3
 *
 * A rank whose parent is missing knows the answer, and tells the ranks below it. So every rank that
 * has strag gets the same answer, and none waits for a rank without strag. Of two ranks with
 * different versions, each is missing for the other.
 */
#include "roll_call.h"

#include "compat/tags.h"
#include "user/log.h"

#include <string.h>

static bool is_missing(ompi_communicator_t *comm, int rank)
{
    struct coll_strag_fingerprint theirs;
    coll_strag_fingerprint_find(comm, rank, &theirs);
    return coll_strag_fingerprint_differs(&theirs, NULL);
}

/* ---- Warnings ---- */

/* Does this rank warn? Of the ranks that have strag, in any version, the lowest in the job does. */
static bool speaks(ompi_communicator_t *comm)
{
    const opal_process_name_t own = OPAL_PROC_MY_NAME;
    struct coll_strag_fingerprint theirs;
    for (int rank = 0; rank < ompi_comm_size(comm); rank++) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);
        if (opal_compare_proc(name, own) >= 0)
            continue;
        coll_strag_fingerprint_find(comm, rank, &theirs);
        if (theirs.version[0] != '\0' && theirs.priority > 0)
            return false;
    }
    return true;
}

/* All ranks that have strag know of the difference; one of them warns, once. */
static void warn(ompi_communicator_t *comm, enum coll_strag_warning warning, int rank,
                 const char *what)
{
    char who[320];
    if (!speaks(comm)) {
        coll_strag_warned(warning);
        return;
    }
    (void)ompi_group_peer_lookup(comm->c_local_group, rank); /* Open MPI may not know it yet */
    snprintf(who, sizeof who, "rank %d of %s, on %s", rank,
             comm->c_name[0] ? comm->c_name : "a communicator", coll_strag_host_of(comm, rank));
    coll_strag_log(comm, "%s: %s", who, what);
    coll_strag_warn(warning, who, what);
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

/* ---- The agreement ---- */

static void add_presence(struct coll_strag_presence *to, const struct coll_strag_presence *from)
{
    if (from->missing < to->missing)
        to->missing = from->missing;
    if (from->varies < to->varies)
        to->varies = from->varies;
    if (from->few < to->few)
        to->few = from->few;
}

/* If a rank has another origin, or another algorithm pinned, the ranks have no common origin. */
static void compare(struct coll_strag_offer *own, uint64_t origin, int64_t pinned)
{
    if (origin != own->origin || pinned != own->pinned)
        own->origin = 0;
}

/* As in struct strag_agreement; `value` is this rank's entry. */
static bool takes_part(void *context, void *value, int neighbour)
{
    struct coll_strag_entry *own = value;
    const bool missing = is_missing(context, neighbour);
    if (missing && neighbour < own->presence.missing)
        own->presence.missing = neighbour;
    return !missing;
}

void coll_strag_roll_call_begin(struct coll_strag_answer *answer, struct strag_exchange *exchange,
                                ompi_communicator_t *comm,
                                const struct coll_strag_fingerprint *first,
                                struct coll_strag_entry *entries)
{
    const struct coll_strag_presence all_here = {INT32_MAX, INT32_MAX, INT32_MAX};
    const int me = ompi_comm_rank(comm);
    struct coll_strag_fingerprint own;
    answer->presence = all_here;
    for (int below = 0; below < strag_exchange_collected(exchange); below++)
        entries[me + below].presence = all_here; /* nothing may come from some */
    coll_strag_fingerprint_find(comm, me, &own);
    if (coll_strag_fingerprint_varies(&own, first, NULL))
        entries[me].presence.varies = me;
    if (!coll_strag_has_many_tags(comm))
        entries[me].presence.few = me;
    entries[me].origin = answer->offer.origin;
    entries[me].pinned = answer->offer.pinned;
    strag_exchange_collect(exchange, entries, sizeof *entries, takes_part, comm);
}

void coll_strag_roll_call_add(struct coll_strag_answer *answer,
                              const struct coll_strag_entry *entries, int count)
{
    for (int i = 0; i < count; i++) {
        add_presence(&answer->presence, &entries[i].presence);
        compare(&answer->offer, entries[i].origin, entries[i].pinned);
    }
}

bool coll_strag_roll_call_end(ompi_communicator_t *comm, const struct coll_strag_fingerprint *first,
                              const struct coll_strag_answer *answer)
{
    char what[COLL_STRAG_DIFFERENCE_MAX];
    struct coll_strag_fingerprint theirs;
    const int missing = answer->presence.missing, varies = answer->presence.varies;
    if (missing != INT32_MAX) {
        coll_strag_fingerprint_find(comm, missing, &theirs);
        if (coll_strag_fingerprint_differs(&theirs, what))
            warn(comm, COLL_STRAG_WARN_NOT_EVERYWHERE, missing, what);
    } else if (varies != INT32_MAX) {
        coll_strag_fingerprint_find(comm, varies, &theirs);
        if (coll_strag_fingerprint_varies(&theirs, first, what))
            warn(comm, COLL_STRAG_WARN_DIFFERENT, varies, what);
    }
    return missing == INT32_MAX;
}
