/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every rank times the calls of a window. Then these messages follow:
 *
 *     the window's last call   all ranks  -- samples -->  rank 0     merged up a tree (notes.h); no
 *                                                                    rank waits for that
 *     the next call            rank 0                                waits for them, and judges
 *                              rank 0     -- update -->   all ranks  a broadcast
 *
 * All ranks are in the next call when rank 0 sends the update, so the broadcast does not wait. All
 * use the update from the call after that one, so they make the same choices; the update also says
 * which calls the next window has. If rank 0 suspects a link, the update asks for a probe; all
 * ranks probe at once, and a second update follows. If rank 0 needs the ranks' waits too, a barrier
 * runs next to each sampled call.
 *
 * An error of these messages is an MPI error on the user's communicator, and the call returns it.
 */
#include "watch.h"

#include "choice/store.h"
#include "user/log.h"
#include "wire/exchange.h"
#include "wire/transport.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * Rank 0 sends this to all ranks after a window; if something is new, a struct coll_strag_news
 * follows. Both are plain data, sent as they are in memory; pointers to algorithms are packed first
 * (choice/table.h).
 */
struct coll_strag_update {
    int32_t look;         /* measure waits in the next window */
    int32_t change;       /* enum strag_change: whether state and table are new */
    int32_t probe;        /* rounds of a probe of links that starts at once; 0 for no probe */
    uint64_t probe_bytes; /* of each of the probe's messages */
    int32_t dynamic;      /* the dynamic mode was or is on: a policy follows */
    struct strag_window_order next; /* packed */
    struct strag_watch_summary summary;
};

/* Sent if state, table or policy is new. */
struct coll_strag_news {
    struct coll_strag_measured measured;
    struct strag_state_record state;
    struct strag_table table;           /* packed, */
    struct strag_dynamic_policy policy; /* ... and so is the policy's table */
};

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

/* ---- Nothing may be pending when a communicator is freed or MPI is finalized ---- */

/* Other ranks may end the last call later, by the time that a slow link takes. A rank whose notes
 * have failed sends none, and may never end this: then the communicator is kept, as after any
 * failure. */
static void end_watch(struct coll_strag_teardown *teardown)
{
    static const double longest = 8, after_failure = 1; /* seconds */
    struct coll_strag_watch *watch = COLL_STRAG_OWNER(teardown, struct coll_strag_watch, teardown);
    watch->over = true;
    if (!coll_strag_notes_end(watch->notes, watch->failed ? after_failure : longest) &&
        !watch->failed)
        OBJ_RETAIN(watch->options.comm);
}

/* ---- Making one ---- */

void coll_strag_watch_free(struct coll_strag_watch *watch)
{
    if (NULL == watch)
        return;
    take_off_list(watch);
    coll_strag_teardown_leave(&watch->teardown);
    coll_strag_arrivals_free(watch->arrivals);
    watch->arrivals = NULL;
    coll_strag_notes_free(watch->notes);
    coll_strag_links_free(watch->links);
    strag_judge_free(watch->judge);
    strag_fit_free(watch->fit);
    strag_experiments_free(watch->experiments);
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
    coll_strag_teardown_attach(&watch->teardown, options->comm, NULL, end_watch);
    pthread_mutex_lock(&watches.lock);
    watch->next = watches.first;
    watches.first = watch;
    pthread_mutex_unlock(&watches.lock);
    return watch;
}

struct strag_selection *coll_strag_watch_selection(const struct coll_strag_watch *watch)
{
    return watch && watch->judge ? strag_judge_current(watch->judge)->selection : NULL;
}

/* ---- A window's end ---- */

static void send_samples(struct coll_strag_watch *watch)
{
    struct coll_strag_samples samples;
    double seconds = 0;
    memset(&samples, 0, sizeof samples);
    memcpy(samples.call, watch->window.sample, sizeof samples.call);
    for (int c = 0; c < watch->window.filled; c++)
        seconds += (double)samples.call[c].sum;
    strag_link_sample_clear(&samples.links);
    if (watch->links) {
        const uint16_t rate =
            coll_strag_links_meter(watch->links, &watch->options.decision->state, seconds);
        strag_link_sample_add(&samples.links, ompi_comm_rank(watch->options.comm), rate,
                              STRAG_LINK_UNKNOWN, 1);
    }
    coll_strag_notes_merge(watch->notes, &samples);
}

/* Log what the judge has found. */
static void log_judgement(const struct coll_strag_watch *watch)
{
    const char *log = strag_judge_log(watch->judge);
    if (log[0])
        coll_strag_log(watch->options.comm, "%s", log);
}

/* Fill in rank 0's update from its judge. */
static void fill_in(const struct coll_strag_watch *watch, enum strag_change change,
                    struct coll_strag_update *update)
{
    update->change = (int32_t)change;
    update->summary = *strag_judge_summary(watch->judge);
    update->dynamic = watch->policy.on || strag_judge_policy(watch->judge)->on;
}

/* Fill in rank 0's news, packed. @param news  all zero, padding included */
static void fill_news(const struct strag_judge *judge, struct coll_strag_news *news)
{
    const struct strag_sourced_model *model = strag_judge_model(judge);
    if (model)
        news->measured = coll_strag_measured_of(model);
    news->state = *strag_judge_state(judge);
    news->table = strag_judge_current(judge)->table;
    coll_strag_table_pack(&news->table);
    news->policy = *strag_judge_policy(judge);
    coll_strag_table_pack(&news->policy.table);
}

/* The dynamic mode begins, unless a rank is out of memory: then it begins on no rank. */
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

/* Use new state, table and policy from the next call on. */
static int follow_news(struct coll_strag_watch *watch, const struct coll_strag_update *update,
                       const struct coll_strag_news *news)
{
    watch->policy = news->policy;
    if (update->change != STRAG_CHANGE_NOTHING) {
        coll_strag_measured_keep(&news->measured, watch->options.inputs.shared);
        watch->options.decision->state = news->state;
        watch->options.decision->table = news->table;
    }
    return watch->policy.on && NULL == watch->arrivals ? begin_dynamic(watch) : OMPI_SUCCESS;
}

static void start_window(struct coll_strag_watch *watch, const struct coll_strag_update *update)
{
    struct strag_window_order next = update->next;
    next.rival = coll_strag_algorithm_unpack(next.rival);
    strag_window_start(&watch->window, &next);
    watch->look = update->look || watch->options.decision->report; /* a report has every wait */
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
    start_window(watch, update);
    keep_summary(watch, &update->summary);
    if (update->change == STRAG_CHANGE_NOTHING && !update->dynamic)
        return code;
    if (watch->judge)
        fill_news(watch->judge, &news);
    code = coll_strag_broadcast(failure, &news, sizeof news);
    if (code != OMPI_SUCCESS)
        return code;
    coll_strag_table_unpack(&news.table);
    coll_strag_table_unpack(&news.policy.table);
    code = follow_news(watch, update, &news);
    *change = update->change > (int)*change ? (enum strag_change)update->change : *change;
    return code;
}

/* Probe links, and broadcast an update, which may ask for another probe. */
static int probe(struct coll_strag_watch *watch, struct coll_strag_update *update,
                 enum strag_change *change)
{
    struct strag_link_sample sample;
    coll_strag_notes_barrier(watch->notes);
    int code = coll_strag_notes_wait(watch->notes);
    if (code == OMPI_SUCCESS)
        code = coll_strag_links_probe(watch->links, watch->options.failure,
                                      &watch->options.decision->state, update->probe,
                                      update->probe_bytes, &sample);
    const double seconds = coll_strag_seconds() - watch->notes->seconds;
    if (code != OMPI_SUCCESS)
        return code;
    update->probe = 0;
    if (watch->judge) {
        enum strag_change links = strag_judge_probed(watch->judge, &sample, seconds);
        update->probe = strag_slowdown_rounds(watch->links->slowdown);
        update->probe_bytes = strag_slowdown_bytes(watch->links->slowdown);
        log_judgement(watch);
        fill_in(watch, links, update);
    }
    return broadcast_update(watch, update, change);
}

/* Rank 0 judges the window. */
static void judge(struct coll_strag_watch *watch, struct coll_strag_update *update)
{
    const struct coll_strag_samples *samples = &watch->notes->samples;
    const struct strag_judgement judgement = strag_judge_window(
        watch->judge, samples->call, watch->window.filled, watch->links ? &samples->links : NULL);
    log_judgement(watch);
    update->look = judgement.look;
    update->probe = judgement.probe;
    update->probe_bytes = judgement.probe_bytes;
    update->next = judgement.next;
    update->next.rival = coll_strag_algorithm_pack(judgement.next.rival);
    fill_in(watch, judgement.change, update);
    if (judgement.found)
        coll_strag_keep_findings(&watch->options.inputs, watch->options.decision,
                                 watch->experiments);
}

static int decide(struct coll_strag_watch *watch, enum strag_change *change)
{
    struct coll_strag_update update;
    const double start = coll_strag_seconds();
    memset(&update, 0, sizeof update);
    int code = watch->judge ? coll_strag_notes_wait(watch->notes)
                            : watch->notes->code; /* rank 0 waits for all */
    if (watch->judge && code == OMPI_SUCCESS)
        judge(watch, &update);
    if (code == OMPI_SUCCESS)
        code = broadcast_update(watch, &update, change);
    while (code == OMPI_SUCCESS && update.probe)
        code = probe(watch, &update, change);
    if (code == OMPI_SUCCESS) /* rank 0 has all samples: this does not wait for other ranks */
        code = coll_strag_notes_wait(watch->notes);
    if (watch->judge)
        strag_judge_spent(watch->judge, coll_strag_seconds() - start);
    return code;
}

/* ---- Experiments ---- */

bool coll_strag_watch_rival(const struct coll_strag_watch *watch, size_t bytes, const ompi_op_t *op,
                            struct strag_variant *rival)
{
    if (!coll_strag_watches(watch, bytes) ||
        !strag_window_runs_rival(&watch->window, bytes, coll_strag_operation(op)))
        return false;
    *rival = (struct strag_variant){watch->window.order.rival, watch->window.order.blocks};
    return true;
}

/* ---- A call ---- */

/* In a call of no bytes no rank waits for others, so it is not watched. */
bool coll_strag_watches(const struct coll_strag_watch *watch, size_t bytes)
{
    if (!watch || watch->inside || watch->failed || watch->over || bytes == 0)
        return false;
    return bytes >= watch->options.decision->watch_from;
}

/* This must not depend on what only one rank knows: then another rank would wait for it. */
int coll_strag_watch_agree(struct coll_strag_watch *watch, size_t bytes,
                           struct coll_strag_without *without)
{
    *without = (struct coll_strag_without){.turn = STRAG_DYNAMIC_OUTSIDE, .rank = -1};
    if (!watch || !watch->arrivals)
        return OMPI_SUCCESS;
    const struct strag_dynamic_policy *policy = &watch->policy;
    without->turn =
        strag_dynamic_turn_of(policy, bytes, coll_strag_arrivals_calls(watch->arrivals));
    if (without->turn == STRAG_DYNAMIC_OUTSIDE)
        return OMPI_SUCCESS;
    const bool open = without->turn == STRAG_DYNAMIC_OPEN;
    const double wait_limit = policy->wait_limit + policy->wait_per_byte * (double)bytes;
    const int code =
        coll_strag_arrivals_agree(watch->arrivals, open ? wait_limit : INFINITY, &without->rank);
    if (code != OMPI_SUCCESS || without->rank < 0)
        return code;
    const struct strag_entry *entry = strag_table_entry(&policy->table, bytes);
    without->algorithm = entry->algorithm;
    without->blocks = entry->blocks;
    without->plans = coll_strag_arrivals_plans(watch->arrivals, without->rank);
    if (NULL == without->plans)
        without->rank = -1;
    return OMPI_SUCCESS;
}

bool coll_strag_watch_samples(const struct coll_strag_watch *watch, size_t bytes,
                              const ompi_op_t *op)
{
    return strag_window_has(&watch->window, bytes, coll_strag_operation(op));
}

void coll_strag_watch_begin(struct coll_strag_watch *watch, size_t bytes, const ompi_op_t *op)
{
    watch->inside = true;
    watch->sampled = coll_strag_watch_samples(watch, bytes, op);
    if (!watch->sampled)
        return;
    watch->start = coll_strag_seconds();
    if (watch->look)
        coll_strag_notes_barrier(watch->notes);
}

/* All ranks have arrived, and this rank stays until the barrier is done, which takes as long as a
 * few short messages. @param[out] stay, wait  seconds; below 0 if not measured */
static int take_times(struct coll_strag_watch *watch, double *stay, double *wait)
{
    *stay = *wait = -1;
    if (!watch->sampled)
        return OMPI_SUCCESS;
    *stay = coll_strag_seconds() - watch->start;
    if (!watch->look)
        return OMPI_SUCCESS;
    const int code = coll_strag_notes_wait(watch->notes);
    if (code == OMPI_SUCCESS)
        *wait = fmax(0, watch->notes->seconds - watch->start);
    return code;
}

void coll_strag_watch_give_up(struct coll_strag_watch *watch)
{
    watch->inside = false;
    watch->failed = true;
}

int coll_strag_watch_end(struct coll_strag_watch *watch, const struct strag_watched_call *call,
                         enum strag_change *change)
{
    double stay, wait;
    *change = STRAG_CHANGE_NOTHING;
    int code = take_times(watch, &stay, &wait);
    if (code == OMPI_SUCCESS) {
        if (watch->judge)
            strag_judge_add(watch->judge, call, stay);
        const enum strag_window_step step = strag_window_end(
            &watch->window, ompi_comm_rank(watch->options.comm), watch->sampled, stay, wait);
        if (step == STRAG_WINDOW_SEND)
            send_samples(watch);
        else if (step == STRAG_WINDOW_DECIDE)
            code = decide(watch, change);
    }
    watch->inside = false;
    watch->failed = watch->failed || code != OMPI_SUCCESS;
    return code;
}
