/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0: stragglers and slow links that the user names by parameters or by info keys of a
 * communicator (machine/state_text.h), and whether calls are watched to find others.
 */
#include "state.h"

#include "machine/state_text.h"
#include "watch/link_speed.h"
#include "watch/observe.h"

#include <string.h>

enum { TEXT_MAX = 4096 };

/* ---- Named by the user ---- */

static bool is_auto(const char *text)
{
    return strcmp(text, "auto") == 0;
}

/* The info key, or else the parameter. @return buffer, or the parameter */
static const char *value_of(ompi_communicator_t *comm, const char *key, const char *parameter,
                            char *buffer)
{
    return coll_strag_info(comm, key, buffer, TEXT_MAX) ? buffer : parameter;
}

void coll_strag_read_state(ompi_communicator_t *comm, const struct strag_rank_location *ranks,
                           const struct strag_topology *topology, struct strag_state_record *state)
{
    static const char straggler[] = "coll_strag_straggler", slow[] = "coll_strag_slowdown";
    const struct coll_strag_settings *settings = &coll_strag_settings;
    const int n = ompi_comm_size(comm);
    char buffer[TEXT_MAX];
    struct strag_error err;
    *state = (struct strag_state_record){.nstragglers = 0};
    const char *text = value_of(comm, straggler, settings->straggler, buffer);
    if (strag_state_read_straggler(text, ranks, n, state, &err) != STRAG_OK)
        coll_strag_settings_bad_key(straggler, text, err.text, strag_straggler_accepted, "none");
    text = value_of(comm, slow, settings->slowdown, buffer);
    if (strag_state_read_slow(text, ranks, n, state, &err) != STRAG_OK)
        coll_strag_settings_bad_key(slow, text, err.text, strag_slow_accepted, "none");
    if (is_auto(text) && topology)
        strag_link_speed_compare(topology, ranks, state);
}

/* ---- Watched ---- */

/* At least so many calls are a window; where there are more ranks, rank 0 has more to gather. */
enum { WINDOW = 100, RANKS_PER_CALL = 2 };

static int usual_window(int n)
{
    const int suits = n / RANKS_PER_CALL;
    return suits < WINDOW ? WINDOW : suits > STRAG_WINDOW_MAX ? STRAG_WINDOW_MAX : suits;
}

void coll_strag_decide_watching(ompi_communicator_t *comm, bool pinned,
                                const struct strag_topology *topology,
                                struct coll_strag_decision *decision)
{
    const struct coll_strag_settings *settings = &coll_strag_settings;
    const bool fixed = pinned || settings->reproducible;
    char buffer[TEXT_MAX];
    decision->report = coll_strag_report_wanted(comm);
    decision->reproducible = settings->reproducible;
    decision->watch_from = settings->watch_from;
    decision->window = settings->window ? settings->window : usual_window(ompi_comm_size(comm));
    decision->watching = decision->report ? COLL_STRAG_WATCH_ONLY : COLL_STRAG_WATCH_NOT;
    if (is_auto(value_of(comm, "coll_strag_slowdown", settings->slowdown, buffer)) && !fixed &&
        topology && topology->hosts > 1) {
        decision->links = true;
        decision->watching = COLL_STRAG_WATCH_ONLY;
    }
    if (is_auto(value_of(comm, "coll_strag_straggler", settings->straggler, buffer)) && !fixed)
        decision->watching = COLL_STRAG_WATCH_SWITCH;
}
