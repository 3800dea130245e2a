/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Late ranks and slow links that the user knows of: parameters, or info keys of a communicator.
 *
 *     coll_strag_straggler   auto (find out), none, or RANK[:MICROSECONDS], of MPI_COMM_WORLD
 *     coll_strag_slowdown    auto, none, or WHO:FACTOR between commas; WHO is a rank of
 *                            MPI_COMM_WORLD or a host
 *
 * Rank 0 of a communicator finds out which of them are there, and tells all.
 */
#include "coll_strag_links.h"

#include "base/parse.h"
#include "watch/observe.h"

#include <limits.h>
#include <string.h>

/* A late rank of which no delay is said comes when the others have done all they can without it. */
static const double long_delay = 1; /* seconds */

enum { TEXT_MAX = 4096, FACTOR_MAX = 1000 };

const char coll_strag_late_accepted[] = "auto, none, or RANK[:MICROSECONDS]";
const char coll_strag_slow_accepted[] = "auto, none, or WHO:FACTOR[,...], WHO a rank or a host";

/* RANK[:MICROSECONDS] */
static int read_late(const char *text, struct strag_straggler *straggler, struct strag_error *err)
{
    char rank[32];
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    if (length >= sizeof rank)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "not a rank");
    memcpy(rank, text, length);
    rank[length] = '\0';
    straggler->delay = long_delay;
    int status = strag_parse_integer(rank, 0, INT_MAX, &straggler->rank, err);
    if (status == STRAG_OK && colon) {
        status = strag_parse_real(colon + 1, 0, 1e12, &straggler->delay, err);
        straggler->delay *= 1e-6;
    }
    return status;
}

/* One WHO:FACTOR. @param[out] who  cut out of the item */
static int read_slow(char *item, const char **who, double *factor, struct strag_error *err)
{
    char *colon = strrchr(item, ':');
    if (!colon || colon == item)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "'%.40s' is not WHO:FACTOR", item);
    *colon = '\0';
    *who = item;
    return strag_parse_real(colon + 1, 1, FACTOR_MAX, factor, err);
}

/* The rank of a communicator that is meant. @return -1: none of its ranks */
static int find_rank(const char *who, const struct coll_strag_facts *facts, int n)
{
    int world;
    bool number = strag_parse_integer(who, 0, INT_MAX, &world, NULL) == STRAG_OK;
    for (int rank = 0; rank < n; rank++) {
        if (number ? facts[rank].world == world : coll_strag_same_host(facts[rank].host, who))
            return rank;
    }
    return -1;
}

static void add_slow(struct coll_strag_state *state, int rank, double factor)
{
    if (rank >= 0 && factor > 1 && state->nslow < COLL_STRAG_SLOW_MAX)
        state->slow[state->nslow++] = (struct strag_slow){rank, factor};
}

/* Items of a list, one after the other. @param facts  NULL: only look whether they can be read */
static int read_slow_ones(const char *text, const struct coll_strag_facts *facts, int n,
                          struct coll_strag_state *state, struct strag_error *err)
{
    char copy[TEXT_MAX], *rest = NULL;
    int status = STRAG_OK;
    if (strlen(text) >= sizeof copy)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "longer than %d characters", TEXT_MAX - 1);
    strcpy(copy, text);
    for (char *item = strtok_r(copy, ",", &rest); item && status == STRAG_OK;
         item = strtok_r(NULL, ",", &rest)) {
        const char *who = NULL;
        double factor = 1;
        status = read_slow(item, &who, &factor, err);
        if (status == STRAG_OK && facts)
            add_slow(state, find_rank(who, facts, n), factor);
    }
    return status;
}

static bool says_none(const char *text)
{
    return text[0] == '\0' || strcmp(text, "none") == 0;
}

/* Whoever is late or slow is to be found out. */
static bool says_auto(const char *text)
{
    return strcmp(text, "auto") == 0;
}

int coll_strag_check_late(const char *text, struct strag_error *err)
{
    struct strag_straggler straggler;
    return says_none(text) || says_auto(text) ? STRAG_OK : read_late(text, &straggler, err);
}

int coll_strag_check_slow(const char *text, struct strag_error *err)
{
    return says_none(text) || says_auto(text) ? STRAG_OK : read_slow_ones(text, NULL, 0, NULL, err);
}

/* A communicator's own word, or the parameter's. @return buffer, or the parameter */
static const char *word(ompi_communicator_t *comm, const char *key, const char *parameter,
                        char *buffer, size_t size)
{
    return coll_strag_info(comm, key, buffer, size) ? buffer : parameter;
}

/* Parameters were checked before: it is an info key. */
static void complain(const char *key, const char *text, const struct strag_error *err,
                     const char *accepted)
{
    char what[1536];
    snprintf(what, sizeof what, "  %s (info key) = \"%.40s\": %s; accepted: %s; used: none", key,
             text, err->text, accepted);
    coll_strag_warn(COLL_STRAG_WARN_PARAMETERS, what, "");
}

void coll_strag_find_state(ompi_communicator_t *comm, const struct coll_strag_facts *facts,
                           const struct strag_topology *topology, struct coll_strag_state *state)
{
    const mca_coll_strag_component_t *component = &mca_coll_strag_component;
    const int n = ompi_comm_size(comm);
    char buffer[TEXT_MAX];
    struct strag_error err;
    *state = (struct coll_strag_state){.nstragglers = 0};
    const char *text =
        word(comm, "coll_strag_straggler", component->straggler, buffer, sizeof buffer);
    bool named = !says_none(text) && !says_auto(text);
    if (named && read_late(text, &state->straggler, &err) != STRAG_OK) {
        complain("coll_strag_straggler", text, &err, coll_strag_late_accepted);
    } else if (named) {
        for (int rank = 0; rank < n && state->nstragglers == 0; rank++) {
            state->nstragglers = facts[rank].world == state->straggler.rank;
            state->straggler.rank = state->nstragglers ? rank : state->straggler.rank;
        }
    }
    text = word(comm, "coll_strag_slowdown", component->slow, buffer, sizeof buffer);
    if (says_auto(text)) {
        if (topology)
            coll_strag_links_reported(topology, facts, n, state);
    } else if (!says_none(text) && read_slow_ones(text, facts, n, state, &err) != STRAG_OK) {
        complain("coll_strag_slowdown", text, &err, coll_strag_slow_accepted);
        state->nslow = 0;
    }
}

/* At least so many calls are a window; where there are more ranks, rank 0 has more to gather. */
enum { WINDOW = 100, RANKS_PER_CALL = 2 };

/* The info key coll_strag_report, or the parameter. */
static bool wants_report(ompi_communicator_t *comm)
{
    char text[8];
    if (!coll_strag_info(comm, "coll_strag_report", text, sizeof text))
        return mca_coll_strag_component.report;
    return strcmp(text, "0") != 0;
}

void coll_strag_find_watching(const mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                              struct coll_strag_decision *decision)
{
    const mca_coll_strag_component_t *component = &mca_coll_strag_component;
    const int suits = ompi_comm_size(comm) / RANKS_PER_CALL;
    char buffer[TEXT_MAX];
    const char *text =
        word(comm, "coll_strag_straggler", component->straggler, buffer, sizeof buffer);
    bool pinned = module->pinned != COLL_STRAG_AUTO || component->reproducible;
    decision->report = wants_report(comm);
    decision->reproducible = component->reproducible;
    decision->watch_from = component->watch_from;
    decision->window = component->window;
    if (decision->window == 0)
        decision->window = suits < WINDOW             ? WINDOW
                           : suits > STRAG_WINDOW_MAX ? STRAG_WINDOW_MAX
                                                      : suits;
    decision->watching = says_auto(text) && !pinned ? COLL_STRAG_WATCH_SWITCH
                         : decision->report         ? COLL_STRAG_WATCH_ONLY
                                                    : COLL_STRAG_WATCH_NOT;
    text = word(comm, "coll_strag_slowdown", component->slow, buffer, sizeof buffer);
    bool hosts = module->topology && module->topology->hosts > 1;
    decision->links = says_auto(text) && !pinned && hosts;
    if (decision->links && decision->watching == COLL_STRAG_WATCH_NOT)
        decision->watching = COLL_STRAG_WATCH_ONLY;
}

struct strag_state coll_strag_state_of(const struct coll_strag_state *state)
{
    return (struct strag_state){
        .nslow = state->nslow,
        .slow = state->slow,
        .nstragglers = state->nstragglers,
        .straggler = &state->straggler,
    };
}
