/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0's part of watching: from all ranks' notes to who is late, and from there to another table,
 * where the model says that going ahead without the late rank takes less time.
 *
 * The model knows this machine's speed only as well as the user has told it. What counts is how
 * long the delay is beside the call, so the delay is brought to the model's scale: that of the
 * calls' measured time to their modelled one, both without the late rank.
 */
#include "coll_strag_watch.h"

#include "algorithms/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Making a table may take this part of the time: what took long is not done again soon. */
static const double busy_share = 0.01;

struct coll_strag_judge {
    struct strag_observer *observer; /* the watch's */
    int n, window;
    bool switches; /* the table may change */
    void *notes;   /* [rank][window] */
    size_t notes_bytes;
    struct strag_rank_location *ranks; /* [rank] */

    struct coll_strag_watched *calls; /* [2 * window]: being filled, and under way */
    uint64_t added;
    double seconds;

    /* Of nobody late, and of the late rank. The module's selection is one of these. */
    struct coll_strag_table table;
    struct strag_selection *selection, *late_selection;
    double *ratios;     /* room for as many as a window has calls */
    double scale;       /* measured seconds for a modelled one; 0: not known */
    int acted_rank;     /* the verdict on which was acted last */
    double acted_delay; /* its delay, seconds */
    double next_time;   /* before, no table is made */
    uint64_t from;      /* as in struct coll_strag_told */
    bool straggler;     /* the late rank's table is in use */

    double decided; /* when a window was looked at last */
    struct coll_strag_slowed slow;
};

/* ---- Making one ---- */

/* The slowest host of a state, from the next call on. */
static void note_links(struct coll_strag_judge *judge, const struct strag_state_record *state)
{
    struct coll_strag_slowed *slow = &judge->slow;
    const struct strag_slow *slowest = NULL;
    for (int s = 0; s < state->nslow; s++) {
        if (!slowest || state->slow[s].factor > slowest->factor)
            slowest = &state->slow[s];
    }
    const int32_t before = slow->now;
    slow->now = state->nslow;
    slow->to = slowest ? 0 : judge->added;
    if (!slowest)
        return;
    if (slow->rank != slowest->rank || before == 0)
        slow->from = judge->added + 1;
    slow->rank = slowest->rank;
    slow->factor = slowest->factor;
}

void coll_strag_judge_free(struct coll_strag_judge *judge)
{
    if (NULL == judge)
        return;
    strag_selection_free(judge->selection);
    strag_selection_free(judge->late_selection);
    free(judge->notes);
    free(judge->ranks);
    free(judge->calls);
    free(judge->ratios);
    free(judge);
}

struct coll_strag_judge *coll_strag_judge_create(mca_coll_strag_module_t *module,
                                                 ompi_communicator_t *comm,
                                                 const struct strag_rank_location *ranks,
                                                 const struct coll_strag_decision *decision)
{
    struct coll_strag_judge *judge = calloc(1, sizeof *judge);
    if (NULL == judge)
        return NULL;
    const size_t n = (size_t)ompi_comm_size(comm), window = (size_t)decision->window;
    judge->observer = module->watch->observer;
    judge->n = (int)n;
    judge->window = decision->window;
    judge->switches = decision->watching == COLL_STRAG_WATCH_SWITCH;
    judge->table = decision->table;
    judge->acted_rank = -1;
    judge->notes_bytes = module->watch->notes_bytes;
    judge->notes = malloc(n * judge->notes_bytes);
    judge->ranks = malloc(n * sizeof *judge->ranks);
    judge->calls = calloc(2 * window, sizeof *judge->calls);
    judge->ratios = malloc(window * sizeof *judge->ratios);
    if (NULL == judge->ratios || NULL == judge->notes || NULL == judge->ranks ||
        NULL == judge->calls) {
        coll_strag_judge_free(judge);
        return NULL;
    }
    memcpy(judge->ranks, ranks, n * sizeof *ranks);
    judge->selection = module->selection;
    judge->decided = coll_strag_seconds();
    judge->slow.rank = -1;
    note_links(judge, &decision->state);
    return judge;
}

void *coll_strag_judge_notes(struct coll_strag_judge *judge)
{
    return judge->notes;
}

const char *coll_strag_judge_host(const struct coll_strag_judge *judge, int rank)
{
    return judge->ranks[rank].host;
}

/* Is that an algorithm that does not wait for the late rank? */
static bool goes_ahead(int choice)
{
    return choice < COLL_STRAG_ALGORITHMS_MAX && strag_algorithms[choice]->needs_straggler;
}

void coll_strag_judge_add(struct coll_strag_judge *judge, const struct coll_strag_watched *call,
                          double seconds)
{
    struct coll_strag_watched *mine = &judge->calls[judge->added++ % (uint64_t)judge->window];
    *mine = *call;
    mine->straggler = goes_ahead(call->choice) ? judge->acted_rank : -1;
    judge->seconds += seconds;
    if (mine->straggler >= 0 && judge->from == 0)
        judge->from = judge->added;
}

void coll_strag_judge_turn(struct coll_strag_judge *judge)
{
    memcpy(judge->calls + judge->window, judge->calls,
           (size_t)judge->window * sizeof *judge->calls);
}

/* ---- What the model says ---- */

/* Modelled seconds of a call, where the late rank is late by so many. Of the previous component it
 * is thought that it runs the best plan of all that wait for everybody. @return INFINITY: unknown
 */
static double modelled(const struct strag_selection *selection,
                       const struct coll_strag_watched *call, double delay)
{
    double least = INFINITY;
    for (int c = 0; selection && c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        bool wanted = call->choice >= COLL_STRAG_ALGORITHMS_MAX
                          ? !candidate->algorithm->needs_straggler
                          : candidate->algorithm == strag_algorithms[call->choice] &&
                                candidate->blocks == call->blocks;
        if (!candidate->profile || !wanted)
            continue;
        struct strag_profile profile = *candidate->profile;
        profile.delay = delay;
        least = fmin(least, strag_profile_seconds(&profile, (double)call->bytes));
    }
    return least;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* From the calls of a window that waited for everybody: the median. */
static void find_scale(struct coll_strag_judge *judge)
{
    int count = 0;
    for (int c = 0; c < judge->window; c++) {
        const struct coll_strag_watched *call = &judge->calls[judge->window + c];
        double seconds = (double)strag_observer_call(judge->observer, c).seconds;
        double expected = modelled(judge->selection, call, 0);
        if (call->straggler >= 0 || !(seconds > 0) || !(expected > 0 && expected < INFINITY))
            continue;
        judge->ratios[count++] = seconds / expected;
    }
    qsort(judge->ratios, (size_t)count, sizeof *judge->ratios, compare);
    if (count > 0)
        judge->scale = judge->ratios[count / 2];
}

/* What the calls of a window that did not wait for the late rank would have taken if they had. */
static void find_saved(struct coll_strag_judge *judge)
{
    for (int c = 0; c < judge->window; c++) {
        const struct coll_strag_watched *call = &judge->calls[judge->window + c];
        struct strag_last last = strag_observer_call(judge->observer, c);
        struct coll_strag_watched usual = *call;
        if (call->straggler < 0)
            continue;
        double delay = last.rank == call->straggler ? (double)last.delay / judge->scale : 0;
        usual.choice = coll_strag_table_find(&judge->table, call->bytes, &usual.blocks);
        double saved = modelled(judge->selection, &usual, 0) + delay -
                       modelled(judge->late_selection, call, delay);
        if (isfinite(saved))
            strag_observer_saved(judge->observer, judge->scale * saved);
    }
}

/* ---- The verdict ---- */

static bool helps(const struct coll_strag_table *table)
{
    for (int e = 0; e < table->entries; e++) {
        if (goes_ahead(table->choice[e]))
            return true;
    }
    return false;
}

/* The table for a late rank. @return whether it helps at any size */
static bool make_late_table(struct coll_strag_judge *judge, mca_coll_strag_module_t *module,
                            ompi_communicator_t *comm, struct coll_strag_decision *decision)
{
    struct strag_selection *selection;
    double start = coll_strag_seconds();
    coll_strag_decide(module, comm, coll_strag_planning_topology(module), decision, &selection);
    double end = coll_strag_seconds();
    judge->next_time = end + (end - start) / busy_share;
    if (!helps(&decision->table)) {
        strag_selection_free(selection);
        return false;
    }
    strag_selection_free(judge->late_selection);
    judge->late_selection = selection;
    return true;
}

/* Does it help at the sizes of the last calls? */
static bool helps_with(const struct coll_strag_judge *judge, const struct coll_strag_table *table)
{
    int blocks;
    for (int c = 0; c < judge->window; c++) {
        if (goes_ahead(coll_strag_table_find(table, judge->calls[c].bytes, &blocks)))
            return true;
    }
    return false;
}

static void tell_switch(ompi_communicator_t *comm, const struct strag_verdict *verdict,
                        bool straggler)
{
    char cid[32];
    if (verdict->rank < 0)
        coll_strag_tell("coll:strag: %s (cid %s, %d ranks): no rank is late", comm->c_name,
                        coll_strag_cid(comm, cid, sizeof cid), ompi_comm_size(comm));
    else
        coll_strag_tell("coll:strag: %s (cid %s, %d ranks): rank %d is late by %.3g ms: %s",
                        comm->c_name, coll_strag_cid(comm, cid, sizeof cid), ompi_comm_size(comm),
                        verdict->rank, 1e3 * verdict->delay,
                        straggler ? "the others go ahead" : "it is waited for");
}

/* Another table, if one is wanted. */
static void act(struct coll_strag_judge *judge, mca_coll_strag_module_t *module,
                ompi_communicator_t *comm, const struct strag_verdict *verdict,
                struct coll_strag_news *news)
{
    struct coll_strag_decision decision = {
        .ports = module->ports, .watching = COLL_STRAG_WATCH_SWITCH, .state = module->state};
    decision.state.nstragglers = 0;
    bool straggler = false, before = judge->straggler;
    if (verdict->rank >= 0) {
        if (!(judge->scale > 0) || coll_strag_seconds() < judge->next_time)
            return; /* later */
        decision.state.nstragglers = 1;
        decision.state.straggler =
            (struct strag_straggler){verdict->rank, verdict->delay / judge->scale};
        straggler = make_late_table(judge, module, comm, &decision);
    }
    judge->acted_rank = verdict->rank;
    judge->acted_delay = verdict->delay;
    judge->straggler = straggler;
    tell_switch(comm, verdict, straggler && helps_with(judge, &decision.table));
    news->changed = straggler || before;
    decision.state.nstragglers = straggler;
    news->state = decision.state;
    news->table = straggler ? decision.table : judge->table;
    module->selection = straggler ? judge->late_selection : judge->selection;
}

/* Of a window: the seconds that its calls took, and that have passed. */
static void look_at_links(struct coll_strag_judge *judge, const mca_coll_strag_module_t *module,
                          struct coll_strag_news *news)
{
    const struct coll_strag_links *links = module->watch->links;
    double calls = 0, now = coll_strag_seconds();
    if (NULL == links)
        return;
    for (int c = 0; c < judge->window; c++)
        calls += (double)strag_observer_call(judge->observer, c).seconds;
    const char *notes = (const char *)judge->notes + judge->notes_bytes;
    news->probe = strag_slowdown_window(links->slowdown, notes - sizeof(struct strag_meter_note),
                                        judge->notes_bytes, calls, now - judge->decided);
    news->probe_bytes = strag_slowdown_bytes(links->slowdown);
    judge->decided = now;
}

void coll_strag_judge_decide(struct coll_strag_judge *judge, mca_coll_strag_module_t *module,
                             ompi_communicator_t *comm, struct coll_strag_news *news)
{
    struct strag_verdict verdict =
        strag_observer_decide(judge->observer, judge->notes, judge->notes_bytes);
    if (judge->switches) {
        find_scale(judge);
        find_saved(judge);
        if (verdict.rank != judge->acted_rank || verdict.delay != judge->acted_delay)
            act(judge, module, comm, &verdict, news);
    }
    news->look = verdict.look;
    look_at_links(judge, module, news);
    struct strag_observed observed = strag_observer_report(judge->observer);
    news->told = (struct coll_strag_told){
        .now = verdict.rank,
        .delay = verdict.delay,
        .observed = observed,
        .world = observed.rank < 0 ? -1 : judge->ranks[observed.rank].world,
        .calls = judge->added,
        .from = judge->from,
        .seconds = judge->seconds,
        .slow = judge->slow,
    };
}

/* ---- Slow links ---- */

static void tell_links(ompi_communicator_t *comm, const struct coll_strag_judge *judge,
                       const struct strag_state_record *state)
{
    char cid[32], hosts[256] = "";
    for (int s = 0; s < state->nslow; s++) {
        size_t used = strlen(hosts);
        snprintf(hosts + used, sizeof hosts - used, "%s%s: %.4g", s ? ", " : "",
                 judge->ranks[state->slow[s].rank].host, state->slow[s].factor);
    }
    coll_strag_tell("coll:strag: %s (cid %s, %d ranks): slow links: %s", comm->c_name,
                    coll_strag_cid(comm, cid, sizeof cid), ompi_comm_size(comm),
                    state->nslow ? hosts : "none");
}

/* For whom a rank was late by the old links it may not be by the new ones: that is asked anew at
 * the next verdict. */
void coll_strag_judge_links(struct coll_strag_judge *judge, mca_coll_strag_module_t *module,
                            ompi_communicator_t *comm, bool changed, struct coll_strag_news *news)
{
    struct coll_strag_decision decision = {
        .ports = module->ports, .watching = COLL_STRAG_WATCH_ONLY, .state = module->state};
    news->changed = news->replan = changed;
    news->probe = false;
    judge->slow.probes = strag_slowdown_report(module->watch->links->slowdown).probes;
    news->told.slow = judge->slow;
    if (!changed)
        return;
    decision.state.nstragglers = 0;
    coll_strag_links_found(module->watch->links, &decision.state);
    strag_selection_free(judge->selection);
    coll_strag_decide(module, comm, coll_strag_planning_topology(module), &decision,
                      &judge->selection);
    judge->table = decision.table;
    judge->straggler = false;
    judge->acted_rank = -1;
    module->selection = judge->selection;
    news->state = decision.state;
    news->table = decision.table;
    tell_links(comm, judge, &decision.state);
    note_links(judge, &decision.state);
    news->told.slow = judge->slow;
}
