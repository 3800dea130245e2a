/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every rank notes how long its calls take, and once a window
 *
 *     call w       all ranks   -- struct strag_note [w] -->  rank 0     a gather, not waited for
 *     call w + w/8 rank 0      waits for it if it must, judges
 *                  rank 0      -- update -->  all ranks     a broadcast (update.h)
 *
 * The gather has messages of its own (notes.h), and is started by all ranks within the same call;
 * it progresses in whatever MPI call a rank is. All ranks are in call w + w/8 when rank 0 sends the
 * update, so the broadcast does not wait. All use it from the next call on, and so choose alike.
 * Until then the notes are sent from where the observer keeps them.
 *
 * The notes also have what the rank's meter says of its host's links. If rank 0 suspects one, the
 * update asks for a probe; all ranks do that at once, and a second update follows.
 *
 * Where a closer look is wanted a nonblocking barrier runs beside each call. It is over when all
 * ranks are there, on all of them within the time of a few short messages.
 *
 * Where all ranks share memory the notes are there, with the times at which ranks came, and so no
 * call needs a barrier (host_notes.h):
 *
 *     call w + 1   rank 0      has all notes of the window, judges, and announces an update
 *                              if there is something new, or none was for long
 *     call w + 2   rank 0      -- update -->  all ranks
 *
 * A rank that is out of memory says so before the first call is watched, and then none is. An error
 * of the gather, the barrier or the broadcast is one of MPI's own, on this very communicator: the
 * call returns it as any other.
 */
#include "watch.h"

#include "exchange.h"
#include "log.h"
#include "transport.h"
#include "update.h"
#include "winners.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Of a class of sizes: short calls are watched until its trials are over, or there were so many. */
enum { SEEN_MOST = 96 };

/* ---- All watches of this process ---- */

static struct {
    pthread_mutex_t lock; /* guards first, and all summaries */
    struct coll_strag_watch *first;
} watches = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void take_off_list(const struct coll_strag_watch *watch)
{
    pthread_mutex_lock(&watches.lock);
    struct coll_strag_watch **link = &watches.first;
    while (*link && *link != watch)
        link = &(*link)->next;
    if (*link)
        *link = watch->next;
    pthread_mutex_unlock(&watches.lock);
}

bool coll_strag_watch_summary(const void *comm, struct strag_watch_summary *summary)
{
    pthread_mutex_lock(&watches.lock);
    const struct coll_strag_watch *watch = watches.first;
    while (watch && watch->options.comm != comm)
        watch = watch->next;
    if (watch)
        *summary = watch->summary;
    pthread_mutex_unlock(&watches.lock);
    return NULL != watch;
}

const struct strag_sourced_model *coll_strag_watch_model(const struct coll_strag_watch *watch)
{
    if (!watch->judge)
        return NULL;
    const struct strag_sourced_model *learnt = strag_judge_model(watch->judge);
    return learnt ? learnt : &watch->options.inputs.model;
}

static void keep_summary(struct coll_strag_watch *watch, const struct strag_watch_summary *summary)
{
    pthread_mutex_lock(&watches.lock);
    watch->summary = *summary;
    pthread_mutex_unlock(&watches.lock);
}

void coll_strag_watch_refresh(struct coll_strag_watch *watch)
{
    if (watch->judge)
        keep_summary(watch, strag_judge_summary(watch->judge));
}

/* ---- Nothing may be under way when a communicator or MPI comes to its end ---- */

/* Other ranks may end the last call later, by what a slow link takes. One whose notes have failed
 * sends none: then the communicator is kept, as after any failure. */
static void end_watch(struct coll_strag_teardown *teardown)
{
    static const double longest = 20, after_failure = 1; /* seconds */
    struct coll_strag_watch *watch =
        (struct coll_strag_watch *)((char *)teardown - offsetof(struct coll_strag_watch, teardown));
    watch->over = true;
    if (!coll_strag_notes_end(watch->notes, watch->failed ? after_failure : longest) &&
        !watch->failed)
        OBJ_RETAIN(watch->options.comm);
}

/* ---- Making one ---- */

/* Memory that a message still uses is left to it. */
void coll_strag_watch_free(struct coll_strag_watch *watch)
{
    if (NULL == watch)
        return;
    take_off_list(watch);
    coll_strag_teardown_leave(&watch->teardown);
    coll_strag_arrivals_free(watch->arrivals);
    watch->arrivals = NULL;
    if (!coll_strag_notes_free(watch->notes))
        return;
    strag_observer_free(watch->observer);
    coll_strag_links_free(watch->links);
    strag_judge_free(watch->judge);
    strag_learner_free(watch->learner);
    coll_strag_host_notes_free(watch->host);
    free(watch->judged);
    free(watch->all_notes);
    free(watch);
}

struct coll_strag_watch *coll_strag_watch_make(const struct coll_strag_watch_options *options)
{
    struct coll_strag_watch *watch = calloc(1, sizeof *watch);
    if (NULL == watch)
        return NULL;
    watch->options = *options;
    const bool made = coll_strag_watch_fill(watch);
    watch->options.topology = NULL;
    if (!made) {
        coll_strag_watch_free(watch);
        return NULL;
    }
    coll_strag_teardown_attach(&watch->teardown, options->comm, end_watch);
    return watch;
}

struct strag_dynamic_policy *coll_strag_watch_policy(struct coll_strag_watch *watch)
{
    if (!watch->arrivals || watch->options.decision->dynamic != STRAG_DYNAMIC_ALWAYS)
        return NULL;
    if (watch->judge)
        watch->policy = *strag_judge_policy(watch->judge);
    coll_strag_table_pack(&watch->policy.table);
    return &watch->policy;
}

void coll_strag_watch_start(struct coll_strag_watch *watch, bool policy)
{
    if (policy)
        coll_strag_table_unpack(&watch->policy.table);
    if (watch->host && !strag_shm_notes_are_possible(watch->options.alone)) {
        coll_strag_host_notes_free(watch->host);
        watch->host = NULL;
    }
    if (watch->host)
        strag_observer_set_lag(watch->observer, 1);
    pthread_mutex_lock(&watches.lock);
    watch->next = watches.first;
    watches.first = watch;
    pthread_mutex_unlock(&watches.lock);
}

const struct coll_strag_links *coll_strag_watch_links(const struct coll_strag_watch *watch)
{
    return watch->links;
}

struct strag_selection *coll_strag_watch_selection(const struct coll_strag_watch *watch)
{
    return watch && watch->judge ? strag_judge_current(watch->judge)->selection : NULL;
}

/* ---- A window's end ---- */

static int send_notes(struct coll_strag_watch *watch)
{
    size_t bytes;
    const int code = coll_strag_notes_wait(watch->notes);
    if (code != OMPI_SUCCESS)
        return code;
    struct strag_note *notes = strag_observer_notes(watch->observer, &bytes);
    if (watch->links) {
        double seconds = 0;
        for (size_t i = 0; i < bytes / sizeof *notes; i++)
            seconds += fabs((double)notes[i].seconds);
        const uint32_t rate =
            coll_strag_links_meter(watch->links, &watch->options.decision->state, seconds);
        memcpy((char *)notes + bytes, &rate, sizeof rate);
        bytes += sizeof rate;
    }
    watch->notes_bytes = bytes;
    if (watch->judge)
        strag_judge_begin_window(watch->judge);
    const int begun = coll_strag_notes_gather(watch->notes, notes, bytes, watch->all_notes);
    return begun == OMPI_SUCCESS ? coll_strag_notes_look(watch->notes) : begun;
}

/* What the judge has found. */
static void log_judgement(const struct coll_strag_watch *watch)
{
    const char *log = strag_judge_log(watch->judge);
    if (log[0])
        coll_strag_log(watch->options.comm, "%s", log);
}

/* Rank 0's update, from its judge. */
static void fill_in(const struct coll_strag_watch *watch, enum strag_change change,
                    struct coll_strag_update *update)
{
    update->change = (int32_t)change;
    update->summary = *strag_judge_summary(watch->judge);
    update->dynamic = watch->policy.on || strag_judge_policy(watch->judge)->on;
    update->settled = watch->learner ? strag_learner_settled(watch->learner) : 0;
}

/* The regime begins: what it needs is made on all ranks, or on none, and then it does not begin. */
static int begin_dynamic(struct coll_strag_watch *watch)
{
    const struct coll_strag_watch_options *options = &watch->options;
    watch->arrivals = coll_strag_arrivals_create(options->comm, options->failure);
    int32_t all = NULL != watch->arrivals;
    const int code = coll_strag_minimum(options->failure, &all);
    if (code != OMPI_SUCCESS || !all) {
        coll_strag_arrivals_free(watch->arrivals);
        watch->arrivals = NULL;
        watch->policy.on = false;
    }
    return code;
}

/* What is new is followed from the next call on. */
static int follow_news(struct coll_strag_watch *watch, const struct coll_strag_update *update,
                       const struct coll_strag_news *news)
{
    for (int t = 0; t < STRAG_TRIALS_AT_ONCE; t++) {
        if (update->change == STRAG_CHANGE_LINKS)
            watch->trials.trial[t].runs = 0;
        if (update->begun[t])
            strag_trial_begin(&watch->trials, t, &news->trials[t]);
    }
    watch->policy = news->policy;
    if (update->change != STRAG_CHANGE_NOTHING) {
        coll_strag_measured_keep(&news->measured, watch->options.shared);
        watch->options.decision->state = news->state;
        watch->options.decision->table = news->table;
    }
    return watch->policy.on && NULL == watch->arrivals ? begin_dynamic(watch) : OMPI_SUCCESS;
}

/* Rank 0's update goes to all, and all follow it. */
static int broadcast_update(struct coll_strag_watch *watch, struct coll_strag_update *update,
                            enum strag_change *change)
{
    const struct coll_strag_failure *failure = watch->options.failure;
    struct coll_strag_news news;
    memset(&news, 0, sizeof news);
    int code = coll_strag_broadcast(failure, update, sizeof *update);
    if (code != OMPI_SUCCESS)
        return code;
    watch->look = update->look || watch->always_measure;
    if (update->window)
        strag_observer_set_window(watch->observer, update->window);
    watch->settled = update->settled;
    keep_summary(watch, &update->summary);
    if (!coll_strag_update_has_news(update))
        return code;
    if (watch->judge)
        coll_strag_news_fill(watch->judge, watch->learner, &news);
    code = coll_strag_broadcast(failure, &news, sizeof news);
    if (code != OMPI_SUCCESS)
        return code;
    coll_strag_news_unpack(update, &news);
    code = follow_news(watch, update, &news);
    *change = update->change > (int)*change ? (enum strag_change)update->change : *change;
    return code;
}

/* @param[out] seconds  that it took */
static int probe_links(struct coll_strag_watch *watch, const struct coll_strag_update *update,
                       struct strag_link_sample *sample, double *seconds)
{
    double all_there;
    coll_strag_notes_begin_barrier(watch->notes);
    int code = coll_strag_notes_end_barrier(watch->notes, &all_there);
    if (code == OMPI_SUCCESS)
        code = coll_strag_links_probe(watch->links, watch->options.failure,
                                      &watch->options.decision->state, update->probe,
                                      update->probe_bytes, sample);
    *seconds = coll_strag_seconds() - all_there;
    return code;
}

/* The update after it may ask for another one. */
static int probe(struct coll_strag_watch *watch, struct coll_strag_update *update,
                 enum strag_change *change)
{
    struct strag_link_sample sample;
    double seconds;
    int code = probe_links(watch, update, &sample, &seconds);
    if (code != OMPI_SUCCESS)
        return code;
    update->window = update->probe = 0;
    memset(update->begun, 0, sizeof update->begun);
    if (watch->judge) {
        enum strag_change links = strag_judge_probed(watch->judge, &sample, seconds);
        update->probe = strag_slowdown_rounds(watch->links->slowdown);
        update->probe_bytes = strag_slowdown_bytes(watch->links->slowdown);
        log_judgement(watch);
        fill_in(watch, links, update);
    }
    return broadcast_update(watch, update, change);
}

static void fill_in_judgement(const struct coll_strag_watch *watch,
                              const struct strag_judgement *judgement,
                              struct coll_strag_update *update)
{
    update->look = judgement->look;
    update->probe = judgement->probe;
    update->probe_bytes = judgement->probe_bytes;
    update->window = judgement->window;
    for (int t = 0; t < STRAG_TRIALS_AT_ONCE; t++)
        update->begun[t] = judgement->begun[t];
    fill_in(watch, judgement->change, update);
    if (watch->learner && strag_learner_found(watch->learner))
        coll_strag_winners_keep(&watch->options.inputs, watch->options.decision, watch->learner);
}

static int decide(struct coll_strag_watch *watch, enum strag_change *change)
{
    struct coll_strag_update update;
    memset(&update, 0, sizeof update);
    int code = watch->judge ? coll_strag_notes_wait(watch->notes)
                            : coll_strag_notes_look(watch->notes); /* else rank 0 waits for them */
    if (watch->judge && code == OMPI_SUCCESS) {
        const struct strag_judgement judgement = strag_judge_window(
            watch->judge, watch->all_notes, watch->notes_bytes, coll_strag_seconds());
        log_judgement(watch);
        fill_in_judgement(watch, &judgement, &update);
    }
    if (code == OMPI_SUCCESS)
        code = broadcast_update(watch, &update, change);
    while (code == OMPI_SUCCESS && update.probe)
        code = probe(watch, &update, change);
    if (code == OMPI_SUCCESS) /* rank 0 has all notes: this does not wait for other ranks */
        code = coll_strag_notes_wait(watch->notes);
    return code;
}

/* ---- The same through shared memory ---- */

/* So many times what an update takes have calls to take before one that says nothing new. */
static const double updates_share = 1.0 / 500;

/* After a window no calls are noted for so many times what noting and judging took. */
static const double pause_factor = 500;

/* What noting a window takes on rank 0 for each rank and call: a line of a cache now and then. */
static const double noting_price = 5e-8;

/* On rank 0. */
static void judge_on_host(struct coll_strag_watch *watch)
{
    struct coll_strag_update update = {.change = STRAG_CHANGE_NOTHING};
    struct coll_strag_host_notes *host = watch->host;
    const double start = coll_strag_seconds();
    *watch->judged = strag_judge_window(watch->judge, watch->all_notes,
                                        coll_strag_watch_notes_room(watch), start);
    log_judgement(watch);
    update.change = (int32_t)watch->judged->change;
    update.dynamic = watch->policy.on || strag_judge_policy(watch->judge)->on;
    if (watch->options.decision->same_window || coll_strag_update_has_news(&update) ||
        updates_share * host->seconds > host->price)
        coll_strag_host_notes_announce(host);
    if (host->most == 0)
        return;
    const double end = coll_strag_seconds();
    host->resume = end + pause_factor * (end - start + noting_price * host->n * host->most);
    strag_observer_restart(watch->observer);
    strag_judge_restart(watch->judge);
}

/* On rank 0: a call between two windows. The clock is looked at in one of four. */
static void pause_on_host(struct coll_strag_watch *watch)
{
    struct coll_strag_host_notes *host = watch->host;
    if (host->ended <= host->from || host->ended % 4 > 0 || coll_strag_seconds() < host->resume)
        return;
    const uint64_t end = host->from + (uint64_t)host->most;
    coll_strag_host_notes_restart(host);
    const uint64_t calls = host->from - end;
    host->seconds += host->mean * (double)calls;
    strag_judge_skip(watch->judge, calls, host->mean * (double)calls);
}

/* So many calls, about, the mean of calls is over. */
enum { MEAN_OF = 100 };

/* The first call does not count: ranks come to it from the program's beginning. */
static void add_to_mean(struct coll_strag_host_notes *host, double seconds)
{
    if (host->noted > 0)
        host->mean += (seconds - host->mean) / host->noted;
    if (host->noted < MEAN_OF)
        host->noted++;
}

/* On rank 0. */
static void look_on_host(struct coll_strag_watch *watch, const struct strag_watched_call *call,
                         struct strag_note note)
{
    struct coll_strag_host_notes *host = watch->host;
    strag_judge_add(watch->judge, call, (double)note.seconds);
    add_to_mean(host, (double)note.seconds);
    const enum strag_observe_step step = strag_observer_add(watch->observer, note);
    if (step == STRAG_OBSERVE_SEND)
        strag_judge_begin_window(watch->judge);
    coll_strag_host_notes_read(host, step == STRAG_OBSERVE_DECIDE, watch->all_notes,
                               coll_strag_watch_notes_room(watch));
    if (step == STRAG_OBSERVE_DECIDE)
        judge_on_host(watch);
}

/* After the call for which it was announced. */
static int update_on_host(struct coll_strag_watch *watch, enum strag_change *change)
{
    struct coll_strag_host_notes *host = watch->host;
    struct coll_strag_update update;
    const double start = coll_strag_seconds();
    memset(&update, 0, sizeof update);
    if (watch->judge)
        fill_in_judgement(watch, watch->judged, &update);
    const int code = broadcast_update(watch, &update, change);
    host->price = coll_strag_seconds() - start;
    host->seconds = 0;
    return code;
}

/* Between two windows' ends there are two calls at least, so no update is announced while another
 * one is. */
static int end_on_host(struct coll_strag_watch *watch, const struct strag_watched_call *call,
                       struct strag_note note, enum strag_change *change)
{
    struct coll_strag_host_notes *host = watch->host;
    const bool noted = coll_strag_host_notes_wants(host);
    const bool update = coll_strag_host_notes_end(host, watch->start, (double)note.seconds);
    const int code = update ? update_on_host(watch, change) : OMPI_SUCCESS;
    if (watch->judge && code == OMPI_SUCCESS) {
        if (noted)
            look_on_host(watch, call, note);
        else
            pause_on_host(watch);
    }
    return code;
}

/* ---- Trials ---- */

const struct strag_trial_run *coll_strag_watch_trial(struct coll_strag_watch *watch, size_t bytes)
{
    return watch ? strag_trial_next(&watch->trials, bytes) : NULL;
}

/* ---- A call ---- */

/* Is there something to be learnt from a call that is too short to look for stragglers in it? Where
 * its size's trials are over notes and updates would cost more than that (4 KiB without latency: 6
 * to 17 % of a call). Where one is under way all calls count until it is judged. */
static bool teaches(const struct coll_strag_watch *watch, size_t bytes)
{
    const int size_class = strag_size_class(bytes);
    return watch->options.decision->learning && bytes >= COLL_STRAG_LEARN_FROM &&
           !(watch->settled >> size_class & 1) &&
           (watch->seen[size_class] < SEEN_MOST || strag_trial_has(&watch->trials, bytes));
}

/* A call of no bytes waits for nobody. */
bool coll_strag_watches(const struct coll_strag_watch *watch, size_t bytes)
{
    if (!watch || watch->inside || watch->failed || watch->over || bytes == 0)
        return false;
    return bytes >= watch->from || teaches(watch, bytes);
}

/* What one rank alone knows must not count: another one would wait for it. */
int coll_strag_watch_agree(struct coll_strag_watch *watch, size_t bytes,
                           struct coll_strag_without *without)
{
    *without = (struct coll_strag_without){.turn = STRAG_DYNAMIC_OUTSIDE, .rank = -1};
    if (!watch || !watch->arrivals)
        return OMPI_SUCCESS;
    const struct strag_dynamic_policy *policy = &watch->policy;
    const struct strag_arrivals_roles roles = {policy->coordinator, policy->deputy,
                                               policy->witness};
    without->turn =
        strag_dynamic_turn_of(policy, bytes, coll_strag_arrivals_calls(watch->arrivals));
    if (without->turn == STRAG_DYNAMIC_OUTSIDE)
        return OMPI_SUCCESS;
    const bool open = without->turn == STRAG_DYNAMIC_OPEN;
    const double patience = policy->patience + policy->patience_per_byte * (double)bytes;
    const int code = coll_strag_arrivals_agree(watch->arrivals, &roles, open ? patience : INFINITY,
                                               &without->rank);
    if (code != OMPI_SUCCESS || without->rank < 0)
        return code;
    const struct strag_entry *entry = strag_table_entry(&policy->table, bytes);
    without->algorithm = entry->algorithm;
    without->blocks = entry->blocks;
    const int kept = coll_strag_arrivals_plans(watch->arrivals, without->rank, &without->plans);
    if (kept != OMPI_SUCCESS || NULL == without->plans)
        without->rank = -1;
    return kept;
}

int coll_strag_watch_agreed(struct coll_strag_watch *watch,
                            const struct coll_strag_without *without, int code)
{
    if (without->turn == STRAG_DYNAMIC_OUTSIDE)
        return code;
    return coll_strag_arrivals_end(watch->arrivals, code);
}

void coll_strag_watch_begin(struct coll_strag_watch *watch, size_t bytes)
{
    watch->inside = true;
    watch->brief = bytes < watch->from;
    if (watch->host && !coll_strag_host_notes_wants(watch->host))
        return;
    watch->start = coll_strag_seconds();
    if (watch->look && !watch->brief && !watch->host)
        coll_strag_notes_begin_barrier(watch->notes);
}

/* All ranks are there, and each stays until its own barrier is over: that takes no longer than a
 * few short messages. */
static int take_note(struct coll_strag_watch *watch, struct strag_note *note)
{
    double seconds = coll_strag_seconds() - watch->start;
    *note = (struct strag_note){.seconds = (float)(watch->brief ? -seconds : seconds), .wait = -1};
    if (!coll_strag_notes_has_barrier(watch->notes))
        return OMPI_SUCCESS;
    double all_there;
    int code = coll_strag_notes_end_barrier(watch->notes, &all_there);
    if (code == OMPI_SUCCESS)
        note->wait = (float)(all_there - watch->start);
    return code;
}

/* Where a class of sizes is new, its first window is short. The same on all ranks. */
static void count_call(struct coll_strag_watch *watch, size_t bytes)
{
    const struct coll_strag_decision *decision = watch->options.decision;
    if (!decision->learning)
        return;
    uint8_t *seen = &watch->seen[strag_size_class(bytes)];
    if (*seen < SEEN_MOST && ++*seen == STRAG_FIRST_WINDOW && !decision->same_window)
        strag_observer_set_window(watch->observer, 1);
}

void coll_strag_watch_give_up(struct coll_strag_watch *watch)
{
    watch->inside = false;
    watch->failed = true;
}

int coll_strag_watch_end(struct coll_strag_watch *watch, const struct strag_watched_call *call,
                         enum strag_change *change)
{
    struct strag_note note = {.wait = -1};
    int code = OMPI_SUCCESS;
    *change = STRAG_CHANGE_NOTHING;
    if (!watch->host || coll_strag_host_notes_wants(watch->host))
        code = take_note(watch, &note);
    if (code == OMPI_SUCCESS && watch->host) {
        code = end_on_host(watch, call, note, change);
    } else if (code == OMPI_SUCCESS) {
        if (watch->judge)
            strag_judge_add(watch->judge, call, fabs((double)note.seconds));
        count_call(watch, call->bytes);
        enum strag_observe_step step = strag_observer_add(watch->observer, note);
        if (step == STRAG_OBSERVE_SEND)
            code = send_notes(watch);
        else if (step == STRAG_OBSERVE_DECIDE)
            code = decide(watch, change);
    }
    watch->inside = false;
    watch->failed = watch->failed || code != OMPI_SUCCESS;
    return code;
}
