/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/search_found.h"

#include "algorithms/table.h"
#include "model/cost.h"
#include "model/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = STRAG_EDGE_NONE, HOPS_MAX = 64 };

struct route {
    double latency;
    int hops;
    struct strag_hop hop[HOPS_MAX];
};

struct message {
    uint8_t block, phase, leaf;
};

struct state {
    struct strag_found now, best;
    const struct strag_search_options *options;
    struct strag_links *links;
    struct route *route; /* [from * n + to] */
    double *busy;        /* [link]: seconds in the round at hand */
    double seconds[STRAG_SEARCH_ROUNDS_MAX], sum, best_sum;
    double reduce; /* seconds to reduce the vector; 0: that is free */
    struct message *in_round[STRAG_SEARCH_ROUNDS_MAX];
    int messages[STRAG_SEARCH_ROUNDS_MAX];
    int room; /* of each list */
    uint64_t random;
    int64_t tried, kept;
};

static uint32_t draw(struct state *state, uint32_t below)
{
    state->random = state->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state->random >> 32) * below >> 32);
}

static struct strag_edge *edge_of(struct strag_found *found, struct message m)
{
    return &found->edge[m.block][m.phase][m.leaf];
}

static const struct route *route_of(const struct state *state, struct message m)
{
    int other = state->now.edge[m.block][m.phase][m.leaf].other;
    int from = m.phase == STRAG_TO_ROOT ? m.leaf : other,
        to = m.phase == STRAG_TO_ROOT ? other : m.leaf;
    return &state->route[from * state->now.n + to];
}

static double bytes_of(const struct state *state, int block)
{
    return state->options->bytes * (double)state->now.units[block] / (double)state->now.denominator;
}

/* What a round takes. */
static double price(struct state *state, int round)
{
    const struct message *list = state->in_round[round];
    double longest = 0;
    for (int i = 0; i < state->messages[round]; i++) {
        const struct route *route = route_of(state, list[i]);
        for (int h = 0; h < route->hops; h++)
            state->busy[route->hop[h].link] = 0;
    }
    for (int i = 0; i < state->messages[round]; i++) {
        const struct route *route = route_of(state, list[i]);
        double bytes = bytes_of(state, list[i].block);
        for (int h = 0; h < route->hops; h++)
            state->busy[route->hop[h].link] +=
                bytes * (double)route->hop[h].share /
                strag_link_bandwidth(state->links, route->hop[h].link);
    }
    for (int i = 0; i < state->messages[round]; i++) {
        const struct route *route = route_of(state, list[i]);
        double takes = 0;
        for (int h = 0; h < route->hops; h++)
            takes = fmax(takes, state->busy[route->hop[h].link]);
        if (list[i].phase == STRAG_TO_ROOT && state->reduce > 0)
            takes += bytes_of(state, list[i].block) / state->reduce;
        longest = fmax(longest, route->latency + takes);
    }
    return longest;
}

static void reprice(struct state *state, int round)
{
    state->sum -= state->seconds[round];
    state->seconds[round] = price(state, round);
    state->sum += state->seconds[round];
}

static void list_message(struct state *state, struct message m)
{
    int round = edge_of(&state->now, m)->round;
    state->in_round[round][state->messages[round]++] = m;
}

static void unlist_message(struct state *state, struct message m)
{
    int round = edge_of(&state->now, m)->round, i = 0;
    struct message *list = state->in_round[round];
    while (list[i].block != m.block || list[i].phase != m.phase || list[i].leaf != m.leaf)
        i++;
    list[i] = list[--state->messages[round]];
}

/* All lists and prices, for a plan that is taken up. */
static void take_up(struct state *state, const struct strag_found *found)
{
    state->now = *found;
    state->sum = 0;
    memset(state->messages, 0, sizeof state->messages);
    for (int b = 0; b < found->blocks; b++) {
        for (int p = 0; p < STRAG_PHASES; p++) {
            for (int r = 0; r < found->n; r++) {
                if (found->edge[b][p][r].other != NONE)
                    list_message(state, (struct message){(uint8_t)b, (uint8_t)p, (uint8_t)r});
            }
        }
    }
    for (int round = 0; round < STRAG_SEARCH_ROUNDS_MAX; round++) {
        state->seconds[round] = price(state, round);
        state->sum += state->seconds[round];
    }
}

/* The rounds in which a message may be, if it goes to or comes from `other`: behind what it needs,
 * before what needs it. */
static void find_window(const struct state *state, struct message m, int other, int *low, int *high)
{
    const struct strag_found *now = &state->now;
    const struct strag_edge *in = now->edge[m.block][STRAG_TO_ROOT],
                            *out = now->edge[m.block][STRAG_FROM_ROOT];
    const bool to_root = m.phase == STRAG_TO_ROOT;
    *low = 0;
    *high = STRAG_SEARCH_ROUNDS_MAX - 1;
    for (int r = 0; r < now->n; r++) {
        if (to_root && in[r].other == m.leaf && in[r].round >= *low)
            *low = in[r].round + 1;
        if (!to_root && out[r].other == m.leaf && out[r].round <= *high)
            *high = out[r].round - 1;
        /* a root sends what all have sent it; who has sent its value may be sent the sum later */
        if (!to_root && out[other].other == NONE && in[r].other == other && in[r].round >= *low)
            *low = in[r].round + 1;
        if (to_root && in[other].other == NONE && out[r].other == other && out[r].round <= *high)
            *high = out[r].round - 1;
    }
    if (to_root && in[other].other != NONE && in[other].round <= *high)
        *high = in[other].round - 1;
    if (!to_root && out[other].other != NONE && out[other].round >= *low)
        *low = out[other].round + 1;
}

/* Is a rank below a leaf in the tree, or the leaf? */
static bool is_below(const struct state *state, struct message m, int rank)
{
    const struct strag_edge *edge = state->now.edge[m.block][m.phase];
    while (rank != NONE && rank != m.leaf)
        rank = edge[rank].other;
    return rank == m.leaf;
}

/* A message of a round, as often as not one on its busiest link. */
static struct message draw_message(struct state *state)
{
    int round = (int)draw(state, STRAG_SEARCH_ROUNDS_MAX);
    while (state->messages[round] == 0)
        round = (round + 1) % STRAG_SEARCH_ROUNDS_MAX;
    struct message m = state->in_round[round][draw(state, (uint32_t)state->messages[round])];
    if (draw(state, 2))
        return m;
    price(state, round);
    double most = 0;
    for (int tries = 0; tries < 8; tries++) {
        struct message other =
            state->in_round[round][draw(state, (uint32_t)state->messages[round])];
        const struct route *route = route_of(state, other);
        for (int h = 0; h < route->hops; h++) {
            if (state->busy[route->hop[h].link] > most) {
                most = state->busy[route->hop[h].link];
                m = other;
            }
        }
    }
    return m;
}

static bool is_kept(struct state *state, double before, double heat)
{
    double more = state->sum - before;
    state->tried++;
    bool kept = more <= 0 || (heat > 0 && exp(-more / heat) * 1e6 > draw(state, 1000000));
    state->kept += kept;
    if (kept && state->sum < state->best_sum * (1 - 1e-9)) {
        state->best = state->now;
        state->best_sum = state->sum;
    }
    return kept;
}

/* Put a message elsewhere. @return the edge as it was */
static struct strag_edge put(struct state *state, struct message m, struct strag_edge edge)
{
    struct strag_edge before = *edge_of(&state->now, m);
    unlist_message(state, m);
    *edge_of(&state->now, m) = edge;
    list_message(state, m);
    reprice(state, before.round);
    if (edge.round != before.round)
        reprice(state, edge.round);
    return before;
}

static void try_message(struct state *state, double heat)
{
    struct message m = draw_message(state);
    struct strag_edge edge = *edge_of(&state->now, m);
    int low, high, last = state->now.rounds + 1;
    if (draw(state, 2)) {
        edge.other = (int16_t)draw(state, (uint32_t)state->now.n);
        if (is_below(state, m, edge.other))
            return;
    }
    find_window(state, m, edge.other, &low, &high);
    high = high < last ? high : last < STRAG_SEARCH_ROUNDS_MAX ? last : STRAG_SEARCH_ROUNDS_MAX - 1;
    if (low > high)
        return;
    if (edge.round < low || edge.round > high || draw(state, 2))
        edge.round = (int16_t)(low + (int)draw(state, (uint32_t)(high - low + 1)));
    double before = state->sum;
    edge = put(state, m, edge);
    if (!is_kept(state, before, heat))
        put(state, m, edge);
}

/* Move some of a block's length to another one. */
static void lengthen(struct state *state, int from, int to, int64_t units)
{
    bool touched[STRAG_SEARCH_ROUNDS_MAX] = {false};
    state->now.units[from] -= units;
    state->now.units[to] += units;
    for (int p = 0; p < STRAG_PHASES; p++) {
        for (int r = 0; r < state->now.n; r++) {
            touched[state->now.edge[from][p][r].round] = true;
            touched[state->now.edge[to][p][r].round] = true;
        }
    }
    for (int round = 0; round < STRAG_SEARCH_ROUNDS_MAX; round++) {
        if (touched[round])
            reprice(state, round);
    }
}

static void try_length(struct state *state, double heat)
{
    int from = (int)draw(state, (uint32_t)state->now.blocks);
    int to = (int)draw(state, (uint32_t)state->now.blocks);
    int64_t most = state->now.units[from] / 2;
    if (from == to || most < 1)
        return;
    int64_t units = 1 + (int64_t)draw(state, (uint32_t)(most < 16 ? most : 16));
    double before = state->sum;
    lengthen(state, from, to, units);
    if (!is_kept(state, before, heat))
        lengthen(state, to, from, units);
}

/* ---- From the beginning to the end ---- */

/* Rounds without a message are left out. */
static void close_gaps(struct strag_found *found)
{
    bool used[STRAG_SEARCH_ROUNDS_MAX] = {false};
    int number[STRAG_SEARCH_ROUNDS_MAX], rounds = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int b = 0; b < found->blocks; b++) {
            for (int p = 0; p < STRAG_PHASES; p++) {
                for (int r = 0; r < found->n; r++) {
                    struct strag_edge *edge = &found->edge[b][p][r];
                    if (edge->other == NONE)
                        continue;
                    used[edge->round] = true;
                    if (pass == 1)
                        edge->round = (int16_t)number[edge->round];
                }
            }
        }
        for (int round = 0; pass == 0 && round < STRAG_SEARCH_ROUNDS_MAX; round++) {
            number[round] = rounds;
            rounds += used[round];
        }
    }
    found->rounds = rounds;
}

/* Take over what a run has found, if it can be proved. */
static int keep_proved(struct state *state, struct strag_found *proved, double *seconds,
                       struct strag_error *err)
{
    struct strag_found *made = malloc(sizeof *made);
    if (!made)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a plan");
    *made = state->best;
    close_gaps(made);
    int status = strag_found_prove(made, err);
    if (status == STRAG_OK) {
        *proved = *made;
        *seconds = state->best_sum;
    }
    free(made);
    return status == STRAG_ERR_FALSE ? STRAG_OK : status;
}

static bool is_stopped(const struct strag_search_options *options)
{
    return options->stop && *options->stop;
}

static void anneal(struct state *state, int64_t steps, double hot)
{
    const double cold = 1e-5;
    for (int64_t step = 0; step < steps && !is_stopped(state->options); step++) {
        double heat = state->best_sum * hot * pow(cold / hot, (double)step / (double)steps);
        if (step % 4096 == 0)
            strag_progress_part(state->options->progress, step, steps);
        if (draw(state, 8) == 0)
            try_length(state, heat);
        else
            try_message(state, heat);
    }
}

static int find_routes(struct state *state, struct strag_error *err)
{
    const int n = state->now.n;
    state->route = calloc((size_t)n * (size_t)n, sizeof *state->route);
    state->busy = calloc((size_t)state->links->nlinks + 1, sizeof *state->busy);
    if (!state->route || !state->busy)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the routes of %d ranks", n);
    if (state->links->longest > HOPS_MAX)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "routes of more than %d links", HOPS_MAX);
    for (int from = 0; from < n; from++) {
        for (int to = 0; to < n; to++) {
            struct route *route = &state->route[from * n + to];
            if (from == to)
                continue;
            struct strag_route found = strag_links_route(state->links, from, to, route->hop);
            route->latency = found.latency;
            route->hops = found.nhops;
        }
    }
    return STRAG_OK;
}

static int make_lists(struct state *state, struct strag_error *err)
{
    state->room = state->now.blocks * STRAG_PHASES * state->now.n;
    for (int round = 0; round < STRAG_SEARCH_ROUNDS_MAX; round++) {
        state->in_round[round] = malloc((size_t)state->room * sizeof **state->in_round);
        if (!state->in_round[round])
            return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d messages", state->room);
    }
    return STRAG_OK;
}

static void free_state(struct state *state)
{
    for (int round = 0; round < STRAG_SEARCH_ROUNDS_MAX; round++)
        free(state->in_round[round]);
    free(state->route);
    free(state->busy);
    strag_links_free(state->links);
    free(state);
}

/* One algorithm's plans, with one count of blocks. @return whether they are trees, and cheaper */
static bool begin_with(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                       const struct strag_model *model, double bytes, double *least,
                       struct strag_found *found)
{
    struct strag_error refusal;
    struct strag_instance instance;
    struct strag_profile *profile = NULL;
    struct strag_plan *plans[STRAG_SEARCH_RANKS_MAX];
    struct strag_found *made = malloc(sizeof *made);
    bool better = false;
    if (!made || strag_instance_open(&instance, algorithm, problem, &refusal) != STRAG_OK) {
        free(made);
        return false;
    }
    *made = (struct strag_found){.problem = *problem, .n = problem->n};
    if (strag_profile_create(algorithm, problem, model, &profile, &refusal) == STRAG_OK &&
        strag_profile_seconds(profile, bytes) < *least &&
        strag_instance_plans(&instance, (struct strag_ranks){0, problem->n}, NULL, plans,
                             &refusal) == STRAG_OK) {
        better = strag_found_take_apart(&instance, plans, made);
        strag_plan_free_all(plans, problem->n);
    }
    if (better) {
        *found = *made;
        *least = strag_profile_seconds(profile, bytes);
    }
    strag_profile_free(profile);
    strag_instance_close(&instance);
    free(made);
    return better;
}

static const struct strag_algorithm *find_beginning(const struct strag_problem *problem,
                                                    const struct strag_model *model, double bytes,
                                                    struct strag_found *found)
{
    const struct strag_algorithm *from = NULL;
    double least = INFINITY;
    for (int a = 0; strag_algorithms[a]; a++) {
        int blocks[STRAG_CHOICES_MAX];
        int choices = strag_algorithm_choices(strag_algorithms[a], problem, blocks);
        for (int c = 0; c < choices && !strag_algorithms[a]->needs_straggler; c++) {
            struct strag_problem form = *problem;
            form.blocks = blocks[c];
            if (begin_with(strag_algorithms[a], &form, model, bytes, &least, found))
                from = strag_algorithms[a];
        }
    }
    return from;
}

static int run(struct state *state, struct strag_search_result *result, struct strag_error *err)
{
    const struct strag_search_options *options = state->options;
    struct strag_found *proved = malloc(sizeof *proved);
    if (!proved)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a plan");
    take_up(state, &state->now);
    state->best = state->now;
    state->best_sum = result->began = result->found = state->sum;
    *proved = state->now;
    int status = STRAG_OK;
    for (int r = 0; r < options->restarts && status == STRAG_OK && !is_stopped(options); r++) {
        strag_progress_step(options->progress, "searching", r, options->restarts);
        state->now = *proved;
        take_up(state, &state->now);
        anneal(state, options->steps / options->restarts, r % 2 ? 0.003 : 0.02);
        status = keep_proved(state, proved, &result->found, err);
    }
    result->tried = state->tried;
    result->kept = state->kept;
    if (status == STRAG_OK)
        result->plan = proved;
    else
        free(proved);
    return status;
}

int strag_search(const struct strag_problem *problem, const struct strag_model *model,
                 const struct strag_search_options *options, struct strag_search_result *result,
                 struct strag_error *err)
{
    if (problem->n < 2 || problem->n > STRAG_SEARCH_RANKS_MAX)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "2 to %d ranks are searched, not %d",
                          STRAG_SEARCH_RANKS_MAX, problem->n);
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the search");
    struct strag_search_result made = {.plan = NULL};
    state->options = options;
    state->random = options->seed * 2 + 1;
    state->reduce = model->reduce_bandwidth;
    made.from = find_beginning(problem, model, options->bytes, &state->now);
    int status = STRAG_OK;
    if (!made.from)
        status = strag_fail(err, STRAG_ERR_UNSUPPORTED, "no plan is made of trees, to begin with");
    if (status == STRAG_OK)
        status = strag_links_of(problem, model, &state->links, err);
    if (status == STRAG_OK)
        status = find_routes(state, err);
    if (status == STRAG_OK)
        status = make_lists(state, err);
    if (status == STRAG_OK)
        status = run(state, &made, err);
    if (status == STRAG_OK)
        *result = made;
    free_state(state);
    return status;
}
