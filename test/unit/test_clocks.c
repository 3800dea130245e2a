/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode `clocks`: small cases by hand, and a plain second simulation that looks at every message and
 * every link at every event.
 */
#include "algorithms/table.h"
#include "model/cost.h"

#include "machines.h"
#include "model/flows.h"
#include "support.h"

#include <math.h>

enum { RANKS_MAX = 20, MESSAGES_MAX = 4096 };

static void assert_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-8 * fabs(expected)))
        fail_msg("%.12g s instead of %.12g s", found, expected);
}

static struct strag_model plain_model(void)
{
    return (struct strag_model){
        .alpha = 2e-6,
        .local_alpha = 3e-7,
        .bandwidth = 1e9,
        .local_bandwidth = 7e9,
        .ties = STRAG_TIES_SPLIT,
    };
}

/* ---- Flows by hand ---- */

static struct strag_links *links_of(const struct strag_topology *topology)
{
    const struct strag_model model = plain_model();
    struct strag_links *links;
    struct strag_error err;
    assert_int_equal(strag_links_create(topology, &model, NULL, &links, &err), STRAG_OK);
    return links;
}

/* The next flow to end, and when. */
static void assert_end(struct strag_flows *flows, double time, int tag)
{
    assert_close(strag_flows_next(flows), time);
    assert_int_equal(strag_flows_end(flows, time), tag);
}

TEST(flows_share_a_link)
{
    struct strag_topology *topology = machine_flat(4, 1);
    struct strag_links *links = links_of(topology);
    struct strag_flows *flows = strag_flows_create(links);
    assert_non_null(flows);
    assert_true(isinf(strag_flows_next(flows)));
    /* Two flows out of rank 0; the second begins when the first has sent 1000 of its 3000 bytes. */
    assert_int_equal(strag_flows_start(flows, 0, 0, 1, 3000, 10), STRAG_OK);
    assert_close(strag_flows_next(flows), 3e-6);
    assert_int_equal(strag_flows_end(flows, 1e-6), -1);
    assert_int_equal(strag_flows_start(flows, 1e-6, 0, 2, 500, 20), STRAG_OK);
    assert_end(flows, 2e-6, 20);   /* 500 bytes at half the rate */
    assert_end(flows, 3.5e-6, 10); /* 1500 bytes left, alone again */
    assert_int_equal(strag_flows_end(flows, 1), -1);
    assert_true(isinf(strag_flows_next(flows)));
    strag_flows_free(flows);
    strag_links_free(links);
    strag_topology_free(topology);
}

/* Max-min: what a flow cannot use on one link, others get. */
TEST(what_one_cannot_use_others_get)
{
    struct strag_topology *topology = machine_flat(5, 1);
    struct strag_links *links = links_of(topology);
    struct strag_flows *flows = strag_flows_create(links);
    /* Into rank 3 come three flows, a third of the link each; out of rank 0 go one of these and
     * another, which gets the other two thirds. */
    assert_int_equal(strag_flows_start(flows, 0, 0, 3, 900, 1), STRAG_OK);
    assert_int_equal(strag_flows_start(flows, 0, 1, 3, 1800, 2), STRAG_OK);
    assert_int_equal(strag_flows_start(flows, 0, 2, 3, 1800, 3), STRAG_OK);
    assert_int_equal(strag_flows_start(flows, 0, 0, 4, 1200, 4), STRAG_OK);
    assert_end(flows, 1.8e-6, 4);
    assert_end(flows, 2.7e-6, 1);
    assert_close(strag_flows_next(flows), 2.7e-6 + 900 * 2 / 1e9);
    strag_flows_free(flows);
    strag_links_free(links);
    strag_topology_free(topology);
}

/* ---- A second simulation ---- */

enum phase { WAITS, LATENCY, FLOWS, ARRIVED };

struct parcel {
    int from, to, round;
    int posts; /* messages that its ranks post before it */
    bool reduced;
    double bytes, rate;
    enum phase phase;
    double until; /* of the latency; when it has ended for the receiver, once arrived */
    int nhops;
    struct strag_hop hops[64];
};

struct second {
    const struct strag_links *links;
    int n, nparcels;
    double free[RANKS_MAX]; /* when a rank has reduced what has arrived */
    struct parcel parcels[MESSAGES_MAX];
};

static int round_of(const struct second *second, int r, double now)
{
    int round = INT32_MAX;
    for (int p = 0; p < second->nparcels; p++) {
        const struct parcel *parcel = &second->parcels[p];
        bool mine = parcel->from == r || parcel->to == r;
        bool over = parcel->phase == ARRIVED && (parcel->from == r || parcel->until <= now);
        if (mine && !over && parcel->round < round)
            round = parcel->round;
    }
    return round;
}

/* All rates again: raise those that are not fixed together until a link is full. */
static void second_rates(struct second *second)
{
    bool fixed[MESSAGES_MAX];
    for (int p = 0; p < second->nparcels; p++) {
        fixed[p] = second->parcels[p].phase != FLOWS;
        second->parcels[p].rate = 0;
    }
    for (;;) {
        double least = INFINITY;
        int full = -1;
        for (int l = 0; l < second->links->nlinks; l++) {
            double left = strag_link_bandwidth(second->links, l), weight = 0;
            for (int p = 0; p < second->nparcels; p++) {
                for (int h = 0; second->parcels[p].phase == FLOWS && h < second->parcels[p].nhops;
                     h++) {
                    if (second->parcels[p].hops[h].link != l)
                        continue;
                    if (fixed[p])
                        left -= second->parcels[p].hops[h].share * second->parcels[p].rate;
                    else
                        weight += second->parcels[p].hops[h].share;
                }
            }
            if (weight > 0 && left / weight < least) {
                least = left / weight;
                full = l;
            }
        }
        if (full < 0)
            return;
        for (int p = 0; p < second->nparcels; p++) {
            for (int h = 0; !fixed[p] && h < second->parcels[p].nhops; h++) {
                if (second->parcels[p].hops[h].link == full) {
                    second->parcels[p].rate = least;
                    fixed[p] = true;
                }
            }
        }
    }
}

static void begin_parcels(struct second *second, double now, const double *delay,
                          struct strag_links *links)
{
    for (int p = 0; p < second->nparcels; p++) {
        struct parcel *parcel = &second->parcels[p];
        if (parcel->phase != WAITS || delay[parcel->from] > now || delay[parcel->to] > now ||
            round_of(second, parcel->from, now) != parcel->round ||
            round_of(second, parcel->to, now) != parcel->round)
            continue;
        struct strag_route route = strag_links_route(links, parcel->from, parcel->to, parcel->hops);
        parcel->nhops = route.nhops;
        parcel->until = now + route.latency + parcel->posts * links->model.overhead;
        parcel->phase = LATENCY;
    }
}

/* Go on to the next time at which something happens. @return false: nothing does */
static bool advance(struct second *second, double *now, const double *delay, double reduce)
{
    const double close = 1e-12;
    double next = INFINITY;
    second_rates(second);
    for (int r = 0; r < second->n; r++)
        next = delay[r] > *now ? fmin(next, delay[r]) : next;
    for (int p = 0; p < second->nparcels; p++) {
        const struct parcel *parcel = &second->parcels[p];
        if (parcel->phase == FLOWS)
            next = fmin(next, *now + parcel->bytes / parcel->rate);
        else if (parcel->phase != WAITS && parcel->until > *now)
            next = fmin(next, parcel->until);
    }
    for (int p = 0; p < second->nparcels && !isinf(next); p++) {
        struct parcel *parcel = &second->parcels[p];
        if (parcel->phase == FLOWS) {
            double whole = parcel->bytes;
            parcel->bytes -= parcel->rate * (next - *now);
            if (parcel->bytes <= close * (1 + whole) + parcel->rate * close * next) {
                parcel->phase = ARRIVED;
                double *free = &second->free[parcel->to];
                if (parcel->until > 0 && reduce > 0)
                    *free = fmax(*free, next) + reduce * parcel->until;
                parcel->until = parcel->until > 0 && reduce > 0 ? *free : next;
            }
        }
        if (parcel->phase == LATENCY && parcel->until <= next * (1 + close)) {
            parcel->phase = FLOWS;
            parcel->until = parcel->reduced ? parcel->bytes : 0; /* to reduce in the end */
        }
    }
    if (isinf(next))
        return false;
    *now = next;
    return true;
}

/* How many messages between hosts a rank posts in a round before this operation, in its direction.
 */
static int posted_before(struct strag_plan *const *plans, const struct strag_topology *topology,
                         int rank, int op)
{
    const struct strag_plan *plan = plans[rank];
    const struct strag_op *ops = plan->ops;
    int count = 0, peer = ops[op].peer;
    for (int i = op - 1; i >= 0 && ops[i].round == ops[op].round; i--) {
        if ((ops[i].kind == STRAG_SEND) != (ops[op].kind == STRAG_SEND) ||
            strag_topology_same_host(topology, rank, ops[i].peer))
            continue;
        count += ops[i].peer != peer; /* else it is one with the one behind it */
        peer = ops[i].peer;
    }
    return strag_topology_same_host(topology, rank, ops[op].peer) ? 0 : count;
}

/* The send that belongs to a receive: in its round as many to that rank are before it. */
static int send_of(struct strag_plan *const *plans, int rank, int receive)
{
    const struct strag_op *ops = plans[rank]->ops;
    const struct strag_plan *sender = plans[ops[receive].peer];
    int before = 0, i = 0;
    for (int j = 0; j < receive; j++)
        before += ops[j].kind != STRAG_SEND && ops[j].peer == ops[receive].peer;
    for (;; i++) {
        if (sender->ops[i].kind == STRAG_SEND && sender->ops[i].peer == rank && before-- == 0)
            return i;
    }
}

static void add_parcels(struct second *second, struct strag_plan *const *plans, double bytes)
{
    const struct strag_topology *topology = second->links->topology;
    second->nparcels = 0;
    memset(second->free, 0, sizeof second->free);
    for (int r = 0; r < second->n; r++) {
        for (int i = 0; i < plans[r]->nops; i++) {
            const struct strag_op *op = &plans[r]->ops[i];
            if (op->kind == STRAG_SEND)
                continue;
            assert_true(second->nparcels < MESSAGES_MAX);
            second->parcels[second->nparcels++] = (struct parcel){
                .from = op->peer,
                .to = r,
                .round = op->round,
                .posts = posted_before(plans, topology, r, i) +
                         posted_before(plans, topology, op->peer, send_of(plans, r, i)),
                .reduced = op->kind == STRAG_RECV_REDUCE,
                .bytes = bytes * op->count / plans[r]->bounds.blocks,
            };
        }
    }
}

static double second_clocks(struct second *second, struct strag_plan *const *plans,
                            const struct strag_problem *problem, struct strag_links *links,
                            double bytes)
{
    double delay[RANKS_MAX] = {0}, now = 0;
    double reduce = links->model.reduce_bandwidth > 0 ? 1 / links->model.reduce_bandwidth : 0;
    second->links = links;
    second->n = problem->n;
    for (int i = 0; i < problem->state->nstragglers; i++)
        delay[problem->state->straggler[i].rank] = problem->state->straggler[i].delay;
    add_parcels(second, plans, bytes);
    do
        begin_parcels(second, now, delay, links);
    while (advance(second, &now, delay, reduce));
    return now;
}

static struct strag_topology *random_machine(struct rng *rng)
{
    static const char *const dims[] = {"2", "5", "3x3", "6x2", "2x3x2", "4x4", "1x7"};
    const char *shape = dims[rng_below(rng, sizeof dims / sizeof *dims)];
    switch (rng_below(rng, 5)) {
    case 0:
        return machine_flat(1 + (int)rng_below(rng, 14), 1 + (int)rng_below(rng, 4));
    case 1:
        return machine_tree("((2,3@2)@3,(4))");
    case 2:
        return machine_grid(STRAG_NETWORK_TORUS, false, shape, NULL, 1);
    case 3:
        return machine_grid(STRAG_NETWORK_HYPERX, true, shape, NULL, 1);
    default:
        return machine_grid(STRAG_NETWORK_TORUS, true, shape, NULL, 1);
    }
}

static void compare(struct rng *rng, const struct strag_algorithm *algorithm,
                    const struct strag_problem *problem)
{
    static struct second second;
    struct strag_error err;
    struct strag_plan *plans[RANKS_MAX];
    struct strag_links *links;
    struct strag_model model = plain_model();
    model.reduce_bandwidth = rng_one_in(rng, 2) ? 3e9 : 0;
    model.overhead = rng_one_in(rng, 2) ? 3e-7 : 0;
    model.injection_bandwidth = rng_one_in(rng, 2) ? 1.5 * model.bandwidth : 0;
    assert_int_equal(support_create_all(algorithm, problem, plans, &err), STRAG_OK);
    assert_int_equal(strag_links_create(problem->topology, &model, problem->state, &links, &err),
                     STRAG_OK);
    size_t bytes = (size_t)1 << (8 + rng_below(rng, 14));
    double seconds;
    assert_int_equal(strag_cost_clocks(algorithm, problem, &model, &bytes, 1, &seconds, &err),
                     STRAG_OK);
    assert_close(seconds, second_clocks(&second, plans, problem, links, (double)bytes));
    strag_links_free(links);
    strag_plan_free_all(plans, problem->n);
}

TEST(a_second_simulation)
{
    struct rng rng = {support_seed("a_second_simulation")};
    for (long i = support_cases(60); i > 0; i--) {
        struct strag_topology *topology = random_machine(&rng);
        unsigned n = (unsigned)topology->n;
        assert_true(n <= RANKS_MAX);
        const struct strag_slow slow[] = {{(int)rng_below(&rng, n), 1 + rng_below(&rng, 3)}};
        const struct strag_straggler straggler[] = {
            {(int)rng_below(&rng, n), 1e-7 * rng_below(&rng, 5000)}};
        const struct strag_state trouble = {.nslow = rng_one_in(&rng, 2),
                                            .slow = slow,
                                            .nstragglers = rng_one_in(&rng, 2),
                                            .straggler = straggler};
        const struct strag_problem problem = {
            .n = topology->n, .topology = topology, .state = &trouble};
        const struct strag_algorithm *algorithm;
        do
            algorithm = strag_algorithms[rng_below(&rng, 5)];
        while (strag_algorithm_claim(algorithm, &problem, NULL, NULL) != STRAG_OK);
        compare(&rng, algorithm, &problem);
        strag_topology_free(topology);
    }
}

/* The straggler meets links that the others have left: recursive halving on a ring of 8. */
TEST(a_late_rank_has_the_links_to_itself)
{
    const struct strag_model model = plain_model();
    struct strag_topology *topology = machine_grid(STRAG_NETWORK_TORUS, true, "8", NULL, 1);
    const struct strag_straggler straggler[] = {{0, 1}};
    const struct strag_state trouble = {.nstragglers = 1, .straggler = straggler};
    const struct strag_problem problem = {.n = 8, .topology = topology, .state = &trouble};
    const size_t bytes = 8000;
    double seconds;
    struct strag_error err;
    assert_int_equal(strag_cost_clocks(support_algorithm("recursive-doubling"), &problem, &model,
                                       &bytes, 1, &seconds, &err),
                     STRAG_OK);
    /* Round 0 alone with rank 1; round 1 with rank 2, and rank 1 with 3, two on a link; then all.
     */
    assert_close(seconds, 1 + 3 * 2e-6 + (1 + 2 + 2) * 8e-6);
    strag_topology_free(topology);
}
