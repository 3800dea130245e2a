/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster.h"

#include "algorithms/table.h"

#include "machines.h"

#include <math.h>

static const struct strag_state_record quiet;
static const double link_rate = 1e9; /* bytes per second, of meters and probes */

/* ---- Tables ---- */

static void select_for(const struct cluster *cluster, const struct strag_state_record *state,
                       const struct strag_sourced_model *model,
                       const struct strag_select_options *options, struct strag_selection **made)
{
    struct strag_error err;
    const struct strag_model standard = machine_model(STRAG_NETWORK_TREE);
    const struct strag_state view = strag_state_of(state);
    const struct strag_problem problem = {
        .n = CLUSTER_HOSTS, .topology = cluster->topology, .state = &view};
    if (strag_select(&problem, model ? &model->model : &standard, options, made, &err) != STRAG_OK)
        fail_msg("%s", err.text);
}

static void make_table(void *context, const struct strag_state_record *state,
                       const struct strag_sourced_model *model, struct strag_judge_table *made)
{
    struct cluster *cluster = context;
    struct strag_state_record used = *state;
    if (cluster->useless)
        used.nstragglers = 0;
    select_for(cluster, &used, model, &(struct strag_select_options){.quick = true},
               &made->selection);
    made->table = made->selection->table;
    cluster->made++;
}

static void make_any(void *context, const struct strag_state_record *state,
                     const struct strag_sourced_model *model, struct strag_selection **made,
                     double *price)
{
    const struct strag_select_options options = {.only = strag_algorithm_any_straggler()};
    struct strag_state_record last = *state;
    last.straggler[0].rank = CLUSTER_HOSTS - 1;
    select_for(context, &last, model, &options, made);
    *price = 3 * strag_model_default(STRAG_NETWORK_TREE).alpha;
}

const struct strag_entry *cluster_runs(const struct cluster *cluster)
{
    return strag_table_entry(&strag_judge_current(cluster->judge)->table, cluster->bytes);
}

/* Modelled seconds of the current table's choice, with nobody late. */
static double modelled(const struct cluster *cluster)
{
    const struct strag_selection *selection = strag_judge_current(cluster->judge)->selection;
    const struct strag_entry *entry = cluster_runs(cluster);
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        if (candidate->algorithm != entry->algorithm || candidate->blocks != entry->blocks)
            continue;
        struct strag_profile profile = *candidate->profile;
        profile.delay = 0;
        return strag_profile_seconds(&profile, (double)cluster->bytes);
    }
    fail();
    return 0;
}

/* ---- Making one ---- */

static const char *host(void *context, int rank)
{
    static char name[16];
    snprintf(name, sizeof name, "h%d", rank);
    return name;
}

/* As in struct probing. */
static double real_rate(const struct probing *probing, int from, int to)
{
    const struct cluster *cluster = probing->context;
    return link_rate / fmax(cluster->factor[from], cluster->factor[to]);
}

struct cluster *cluster_make(const struct cluster_kind *kind)
{
    struct cluster *cluster = calloc(1, sizeof *cluster);
    struct strag_judge_table usual = {.selection = NULL};
    assert_non_null(cluster);
    cluster->kind = *kind;
    cluster->bytes = 1 << 20;
    cluster->straggler = CLUSTER_NOBODY;
    cluster->others = 1;
    cluster->rng.state = 1;
    for (int h = 0; h < CLUSTER_HOSTS; h++)
        cluster->factor[h] = 1;
    assert_int_equal(strag_topology_flat(CLUSTER_HOSTS, 1, &cluster->topology, NULL), STRAG_OK);
    assert_true(strag_probe_hosts_make(cluster->topology, &cluster->hosts));
    probing_make(&cluster->probing, &cluster->hosts, &quiet, real_rate, cluster);
    make_table(cluster, &quiet, NULL, &usual);
    cluster->options = (struct strag_judge_options){
        .n = kind->ranks,
        .calls = STRAG_WINDOW_CALLS,
        .same_window = kind->same_window,
        .stragglers = kind->stragglers,
        .dynamic = kind->dynamic,
        .make_any = make_any,
        .slowdown = kind->links ? &cluster->probing.slowdown : NULL,
        .experiments = kind->experiments ? strag_experiments_create(0, 1) : NULL,
        .make = make_table,
        .host = host,
        .context = cluster,
    };
    cluster->judge = strag_judge_create(&cluster->options, &quiet, &usual);
    assert_non_null(cluster->judge);
    const struct strag_window_order first =
        strag_judge_first(STRAG_WINDOW_CALLS, kind->same_window);
    strag_window_start(&cluster->window, &first);
    cluster->began = cluster_runs(cluster)->algorithm;
    cluster->made = 0;
    return cluster;
}

void cluster_free(struct cluster *cluster)
{
    strag_judge_free(cluster->judge);
    strag_experiments_free(cluster->options.experiments);
    probing_free(&cluster->probing);
    strag_probe_hosts_free(&cluster->hosts);
    strag_topology_free(cluster->topology);
    free(cluster);
}

/* ---- A call ---- */

static double uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

/* What meters say: a rank's sends to its neighbour waited all the time. */
static void note_meters(struct cluster *cluster)
{
    strag_link_sample_clear(&cluster->meters);
    for (int r = 0; r < CLUSTER_HOSTS; r++) {
        const int to = (r + 1) % CLUSTER_HOSTS;
        const double expected =
            fmax(probing_factor(&cluster->probing, r), probing_factor(&cluster->probing, to));
        strag_link_sample_add(&cluster->meters, r,
                              strag_link_rate(expected * real_rate(&cluster->probing, r, to)),
                              STRAG_LINK_UNKNOWN, 1);
    }
}

/* The probes that are wanted. @return whether links have changed */
static enum strag_change probe(struct cluster *cluster, double *seconds)
{
    static const double takes = 1e-3;
    enum strag_change change = STRAG_CHANGE_NOTHING;
    for (int rounds = cluster->last.probe; rounds > 0;
         rounds = strag_slowdown_rounds(&cluster->probing.slowdown)) {
        struct strag_link_sample sample;
        probing_sample(&cluster->probing, rounds, &sample);
        const enum strag_change now = strag_judge_probed(cluster->judge, &sample, takes);
        change = now > change ? now : change;
        cluster->probes++;
        *seconds += takes;
    }
    return change;
}

static enum strag_change decide(struct cluster *cluster)
{
    double seconds = cluster->window_costs + cluster->next_costs;
    cluster->next_costs = 0;
    cluster->last = strag_judge_window(cluster->judge, cluster->sent, cluster->filled,
                                       cluster->kind.links ? &cluster->meters : NULL);
    cluster->windows++;
    cluster->looks += cluster->last.look > 0;
    strag_window_start(&cluster->window, &cluster->last.next);
    const enum strag_change links = probe(cluster, &seconds);
    strag_judge_spent(cluster->judge, seconds);
    cluster->spent += seconds;
    return links > cluster->last.change ? links : cluster->last.change;
}

/* Who goes ahead, and with what. */
static struct strag_watched_call next_call(struct cluster *cluster)
{
    const struct strag_dynamic_policy *policy = strag_judge_policy(cluster->judge);
    const struct strag_entry *entry = cluster_runs(cluster);
    const bool rival = strag_window_runs_rival(&cluster->window, cluster->bytes, CLUSTER_OPERATION);
    const double wait_limit = policy->wait_limit + policy->wait_per_byte * (double)cluster->bytes;
    struct strag_watched_call call = {
        cluster->bytes,
        CLUSTER_OPERATION,
        rival ? cluster->window.order.rival : entry->algorithm,
        rival ? cluster->window.order.blocks : entry->blocks,
        strag_dynamic_turn_of(policy, cluster->bytes, cluster->in_mode),
        CLUSTER_NOBODY,
        false,
    };
    cluster->in_mode += call.turn != STRAG_DYNAMIC_OUTSIDE;
    if (call.turn != STRAG_DYNAMIC_OPEN || cluster->straggler < 0 || cluster->delay <= wait_limit)
        return call;
    entry = strag_table_entry(&policy->table, cluster->bytes);
    call.algorithm = entry->algorithm;
    call.blocks = entry->blocks;
    call.without = cluster->straggler;
    return call;
}

/* @return seconds from the last arrival on */
static double takes(const struct cluster *cluster, const struct strag_watched_call *call)
{
    static const double ahead = 0.6; /* of the usual time, without the last one */
    double seconds = cluster->seconds > 0 ? cluster->seconds : CLUSTER_SCALE * modelled(cluster);
    if (call->without >= 0)
        seconds *= ahead;
    else if (call->algorithm != cluster->began)
        seconds *= cluster->others;
    return seconds;
}

/* By how much later than others a rank comes. */
static double late(struct cluster *cluster, int rank)
{
    if (cluster->everyone > 0)
        return -cluster->everyone * log(1 - uniform(&cluster->rng));
    if (cluster->also > 0 && rank == cluster->also)
        return cluster->delay / 2;
    return rank == cluster->straggler ? cluster->delay : 0;
}

/* Ranks are in the call; what others than rank 0 have timed is added, if it is sampled.
 * @param[out] stay, wait  of rank 0 */
static void be_in(struct cluster *cluster, double seconds, bool sampled, double *stay, double *wait)
{
    const int n = sampled ? cluster->kind.ranks : CLUSTER_HOSTS;
    struct strag_call_sample *sample = &cluster->window.sample[cluster->window.filled];
    double *came = malloc((size_t)n * sizeof *came), last = 0;
    assert_non_null(came);
    for (int r = 0; r < n; r++) {
        came[r] = late(cluster, r);
        last = fmax(last, came[r]);
    }
    for (int r = n - 1; r >= 0; r--) {
        *wait = last - came[r] + 1e-7 * (double)((r + cluster->calls) % CLUSTER_HOSTS);
        *stay = last - came[r] + seconds * (1 + cluster->scatter * uniform(&cluster->rng));
        if (!cluster->last.look)
            *wait = -1;
        if (sampled && r > 0)
            strag_call_sample_add(sample, r, *stay, *wait);
    }
    free(came);
}

enum strag_change cluster_call(struct cluster *cluster)
{
    const bool sampled = strag_window_has(&cluster->window, cluster->bytes, CLUSTER_OPERATION);
    double stay = 0, wait = -1;
    if (cluster->rotates)
        cluster->straggler = (int)((5 * cluster->calls + 3) % CLUSTER_HOSTS);
    const struct strag_watched_call call = next_call(cluster);
    be_in(cluster, takes(cluster, &call), sampled, &stay, &wait);
    cluster->calls++;
    cluster->elsewhere += call.algorithm != cluster->began;
    cluster->total += stay;
    strag_judge_add(cluster->judge, &call, sampled ? stay : -1);
    const enum strag_window_step step = strag_window_end(&cluster->window, 0, sampled, stay, wait);
    if (step == STRAG_WINDOW_SEND) {
        memcpy(cluster->sent, cluster->window.sample, sizeof cluster->sent);
        cluster->filled = cluster->window.filled;
        note_meters(cluster);
    }
    return step == STRAG_WINDOW_DECIDE ? decide(cluster) : STRAG_CHANGE_NOTHING;
}

int cluster_until(struct cluster *cluster, enum strag_change *change, int most)
{
    *change = STRAG_CHANGE_NOTHING;
    for (int c = 1; c <= most; c++) {
        *change = cluster_call(cluster);
        if (*change != STRAG_CHANGE_NOTHING)
            return c;
    }
    return most + 1;
}
