/* SPDX-License-Identifier: BSD-3-Clause */
#include "state.h"

#include "compat/world.h"
#include "user/info_keys.h"

#include "base/text.h"
#include "detect/thresholds.h"
#include "detect/window.h"
#include "machine/link_speed.h"
#include "machine/state_text.h"

#include <string.h>

enum { LISTED_MAX = 5 }; /* hosts in a warning */

/* ---- Named by the user ---- */

static bool is_auto(const char *text)
{
    return strcmp(text, "auto") == 0;
}

/* List the job's hosts, each once: "n1, n2, n3 and 5 more". Find the name nearest to a wrong one.
 * @param text  empty */
static void list_hosts(const struct strag_rank_location *ranks, int n, const char *wrong,
                       struct strag_nearest *nearest, char *text, size_t size)
{
    struct strag_names hosts = {.room = 0};
    for (int rank = 0; rank < n; rank++) {
        const char *host = ranks[rank].host;
        if (strag_names_find(&hosts, host) >= 0 || !strag_names_add(&hosts, host, rank))
            continue;
        strag_nearest_offer(nearest, wrong, host);
        if (hosts.count <= LISTED_MAX)
            strag_append(text, size, "%s%s", text[0] ? ", " : "", host);
    }
    if (hosts.count > LISTED_MAX)
        strag_append(text, size, " and %d more", hosts.count - LISTED_MAX);
    strag_names_free(&hosts);
}

/* Check the hosts that the user names. A communicator smaller than the job may lack one of them, so
 * only one of the job's size warns. @param is_key  the text is an info key's */
static void check_hosts(ompi_communicator_t *comm, const struct strag_rank_location *ranks,
                        const char *text, bool is_key)
{
    struct coll_strag_complaints complaints = {.length = 0};
    struct strag_slow_item item;
    const char *rest = text;
    const int n = ompi_comm_size(comm);
    while (strag_state_next_elsewhere(&rest, ranks, n, &item)) {
        char accepted[(LISTED_MAX + 1) * sizeof ranks->host] = "";
        struct strag_nearest nearest = {NULL, 0};
        const struct coll_strag_source source = {is_key ? "coll_strag_slowdown (info key)"
                                                        : "coll_strag_slowdown",
                                                 item.who, &complaints};
        list_hosts(ranks, n, item.who, &nearest, accepted, sizeof accepted);
        coll_strag_log(comm, "coll_strag_slowdown: host %s is not in this communicator", item.who);
        coll_strag_complain(&source, "no such host", nearest.name, accepted, "nothing");
    }
    if (complaints.length == 0 || n != coll_strag_world_size() || !coll_strag_is_of_this_job(comm))
        return;
    if (is_key)
        coll_strag_warn_of_keys(&complaints);
    else
        coll_strag_warn(COLL_STRAG_WARN_NO_HOST, complaints.text, "");
}

void coll_strag_read_state(ompi_communicator_t *comm, const struct strag_rank_location *ranks,
                           const struct strag_topology *topology, struct strag_state_record *state)
{
    const int n = ompi_comm_size(comm);
    char buffer[COLL_STRAG_KEY_MAX];
    *state = (struct strag_state_record){.nstragglers = 0};
    /* Both texts were checked. */
    (void)strag_state_read_straggler(coll_strag_key_text(comm, COLL_STRAG_KEY_STRAGGLER, buffer),
                                     ranks, n, state, NULL);
    const char *slow = coll_strag_key_text(comm, COLL_STRAG_KEY_SLOWDOWN, buffer);
    (void)strag_state_read_slow(slow, ranks, n, state, NULL);
    check_hosts(comm, ranks, slow, slow == buffer);
    if (is_auto(slow) && topology &&
        coll_strag_settings.reproducible == STRAG_REPRODUCIBLE_NO) /* a link may have lost speed */
        strag_link_speed_compare(topology, ranks, 1 + STRAG_BEHIND, state);
}

/* ---- Watched ---- */

/* If all ranks are on one host, going ahead without a late rank hardly ever pays, and the model of
 * messages within a host is too coarse to tell when it does. */
static void decide_dynamic(const char *straggler, bool fixed, const struct strag_topology *topology,
                           struct coll_strag_decision *decision)
{
    decision->dynamic = STRAG_DYNAMIC_NEVER;
    if (fixed)
        return;
    if (is_auto(straggler) && topology && topology->hosts > 1)
        decision->dynamic = STRAG_DYNAMIC_AUTO;
    if (!strag_state_is_dynamic(straggler))
        return;
    decision->dynamic = STRAG_DYNAMIC_ALWAYS;
    decision->watching = COLL_STRAG_WATCH_SWITCH;
}

void coll_strag_decide_watching(ompi_communicator_t *comm, bool pinned,
                                const struct strag_topology *topology,
                                struct coll_strag_decision *decision)
{
    const struct coll_strag_settings *settings = &coll_strag_settings;
    const bool fixed = pinned || settings->reproducible != STRAG_REPRODUCIBLE_NO;
    char buffer[COLL_STRAG_KEY_MAX];
    decision->report = coll_strag_key(comm, COLL_STRAG_KEY_REPORT, settings->report);
    decision->reproducible = (int32_t)settings->reproducible;
    decision->watch_from = settings->watch_from;
    decision->window = settings->window ? settings->window : STRAG_WINDOW_CALLS;
    decision->watching = decision->report ? COLL_STRAG_WATCH_ONLY : COLL_STRAG_WATCH_NOT;
    decision->slow_found = is_auto(coll_strag_key_text(comm, COLL_STRAG_KEY_SLOWDOWN, buffer));
    if (decision->slow_found && !fixed && topology && topology->hosts > 1) {
        decision->links = true;
        decision->watching = COLL_STRAG_WATCH_ONLY;
    }
    const char *straggler = coll_strag_key_text(comm, COLL_STRAG_KEY_STRAGGLER, buffer);
    if (is_auto(straggler) && !fixed)
        decision->watching = COLL_STRAG_WATCH_SWITCH;
    decide_dynamic(straggler, fixed, topology, decision);
    decision->same_window = settings->window > 0;
    decision->learning = settings->learn && !fixed && topology && topology->hosts > 1;
    if (decision->learning && decision->watching == COLL_STRAG_WATCH_NOT)
        decision->watching = COLL_STRAG_WATCH_ONLY;
}
