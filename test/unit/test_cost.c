/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost model: a plain second implementation that goes over whole plans, on random machines; and
 * by hand what test/cli/cost.sh has not.
 */
#include "algorithms/table.h"
#include "model/cost.h"
#include "model/platform.h"

#include "exhaust.h"
#include "machines.h"
#include "model/network.h"
#include "support.h"

#include <math.h>

static const double alpha = 2e-6, bandwidth = 1e9, hop = 5e-7;

/* Round numbers, each of its own size, so that none can stand in for another. */
static struct strag_model plain_model(void)
{
    return (struct strag_model){
        .alpha = alpha,
        .local_alpha = 3e-7,
        .bandwidth = bandwidth,
        .local_bandwidth = 7e9,
        .link_latency = 1e-7,
        .hop_latency = 4e-7,
        .ties = STRAG_TIES_SPLIT,
    };
}

static void assert_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g s instead of %.12g s", found, expected);
}

static double rounds_cost(const char *name, const struct strag_problem *problem,
                          const struct strag_model *model, double bytes)
{
    struct strag_profile *profile;
    struct strag_error err;
    if (strag_profile_create(support_algorithm(name), problem, model, &profile, &err) != STRAG_OK)
        fail_msg("%s, n = %d: %s", name, problem->n, err.text);
    double seconds = strag_profile_seconds(profile, bytes);
    strag_profile_free(profile);
    return seconds;
}

static double clocks_cost(const char *name, const struct strag_problem *problem,
                          const struct strag_model *model, size_t bytes)
{
    double seconds;
    struct strag_error err;
    if (strag_cost_clocks(support_algorithm(name), problem, model, &bytes, 1, &seconds, &err) !=
        STRAG_OK)
        fail_msg("%s, n = %d: %s", name, problem->n, err.text);
    return seconds;
}

/* Both modes give the same where all ranks do the same at the same time. */
static void assert_both(const char *name, const struct strag_problem *problem,
                        const struct strag_model *model, size_t bytes, double expected)
{
    assert_close(rounds_cost(name, problem, model, (double)bytes), expected);
    assert_close(clocks_cost(name, problem, model, bytes), expected);
}

/* ---- By hand ---- */

/* The first round in which a rank of `problem` sends or receives. */
static int first_round(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                       int rank)
{
    struct strag_plan *plan = support_plan(algorithm->name, problem, rank);
    int round = plan->ops[0].round;
    strag_plan_free(plan);
    return round;
}

TEST(a_late_rank)
{
    const struct strag_model model = plain_model();
    const struct strag_straggler straggler[] = {{5, 1e-3}};
    const struct strag_state late_state = {.nstragglers = 1, .straggler = straggler};
    for (int a = 0; strag_algorithms[a]; a++) {
        if (strag_algorithms[a]->needs_straggler)
            continue; /* they do not wait at once: test_straggler.c */
        /* if the ranks differ, others may go ahead meanwhile */
        struct strag_problem problem = {.n = 8};
        if (first_round(strag_algorithms[a], &problem, 5) > 0)
            continue; /* the others go ahead */
        const char *name = strag_algorithms[a]->name;
        double alone = rounds_cost(name, &problem, &model, 1 << 16);
        problem.state = &late_state;
        assert_both(name, &problem, &model, 1 << 16, 1e-3 + alone);
    }
    /* Rank 5 of 6 is not folded: the fold goes on before it is there. */
    struct strag_problem problem = {.n = 6, .state = &late_state};
    double message = alpha + 2 * hop + 1000 / bandwidth;
    assert_both("recursive-doubling", &problem, &model, 1000, 1e-3 + 3 * message);
}

TEST(reducing_takes_time)
{
    struct strag_model model = plain_model();
    model.reduce_bandwidth = 4e9;
    const struct strag_problem problem = {.n = 5};
    assert_both("ring", &problem, &model, 5000,
                8 * (alpha + 2 * hop + 1000 / bandwidth) + 4 * 1000 / 4e9);
}

/* A rank that sums up for all has n - 1 messages in each of two rounds: the further ones cost it
 * twice, where it receives them and where it sends. */
TEST(posting_takes_time)
{
    struct strag_model model = plain_model();
    model.overhead = 3e-6;
    const struct strag_problem problem = {.n = 5, .blocks = 1};
    assert_both("direct", &problem, &model, 1000,
                2 * (alpha + 2 * hop + 3 * 3e-6 + 4000 / bandwidth));
    const struct strag_problem ring = {.n = 5};
    assert_both("ring", &ring, &model, 5000, 8 * (alpha + 2 * hop + 1000 / bandwidth));
    /* Within a host it costs what local_alpha says. */
    struct strag_topology *host = machine_flat(5, 5);
    const struct strag_problem inside = {.n = 5, .blocks = 1, .topology = host};
    double with = rounds_cost("direct", &inside, &model, 1000);
    model.overhead = 0;
    assert_close(with, rounds_cost("direct", &inside, &model, 1000));
    strag_topology_free(host);
}

/* A torus' host sends over all of its links together no more than that: with 4 ports
 * that is half of what the links could carry. */
TEST(a_host_injects_so_much)
{
    struct strag_topology *torus = machine_grid(STRAG_NETWORK_TORUS, true, "3x3", NULL, 1);
    struct strag_model model = plain_model();
    const struct strag_problem problem = {.n = 9, .topology = torus},
                               one = {.n = 9, .ports = 1, .topology = torus};
    const double latency = 8 * (alpha + hop), sent = 2 * 8.0 / 9 * 9000;
    assert_both("bucket", &problem, &model, 9000, latency + sent / 4 / bandwidth);
    model.injection_bandwidth = 2 * bandwidth;
    assert_both("bucket", &problem, &model, 9000, latency + sent / 2 / bandwidth);
    assert_both("bucket", &one, &model, 9000, latency + sent / bandwidth);
    strag_topology_free(torus);
}

TEST(what_the_busiest_link_carries)
{
    const struct strag_model model = plain_model();
    const struct strag_problem problem = {.n = 8};
    struct strag_profile *profile;
    struct strag_error err;
    assert_int_equal(
        strag_profile_create(support_algorithm("ring"), &problem, &model, &profile, &err),
        STRAG_OK);
    assert_close(profile->busiest, 2 * 7.0 / 8);
    assert_int_equal(profile->nparts, 2);
    assert_int_equal(profile->parts[0].repeats + profile->parts[1].repeats, 14);
    strag_profile_free(profile);
}

TEST(refusals)
{
    const struct strag_model model = plain_model();
    struct strag_topology *topology = machine_flat(4, 1);
    const struct strag_straggler straggler[] = {{4, 1}};
    const struct strag_slow slow[] = {{0, 0.5}};
    const struct strag_state bad_late = {.nstragglers = 1, .straggler = straggler};
    const struct strag_state bad_slow = {.nslow = 1, .slow = slow};
    const struct strag_problem problems[] = {
        {.n = 5, .topology = topology}, {.n = 4, .state = &bad_late}, {.n = 4, .state = &bad_slow}};
    static const char *const texts[] = {"n = 5 on a topology of 4 ranks",
                                        "straggler 4; with 4 ranks it is 0 to 3",
                                        "rank 0 is slower by a factor of 0.5; must be at least 1"};
    for (int i = 0; i < 3; i++) {
        struct strag_profile *profile = NULL;
        struct strag_error err = {""};
        double seconds;
        size_t bytes = 1;
        assert_int_equal(
            strag_profile_create(support_algorithm("ring"), &problems[i], &model, &profile, &err),
            STRAG_ERR_ARGUMENT);
        assert_string_equal(err.text, texts[i]);
        assert_null(profile);
        assert_int_equal(strag_cost_clocks(support_algorithm("ring"), &problems[i], &model, &bytes,
                                           1, &seconds, &err),
                         STRAG_ERR_ARGUMENT);
    }
    strag_topology_free(topology);
}

/* ---- A second implementation ---- */

/* Every round from the whole plans, nothing left out and nothing remembered. */
struct second {
    struct strag_plan **plans;
    struct strag_links *links;
    const struct strag_model *model;
    const struct strag_problem *problem;
    double chained; /* the share of rounds that wait for others */
    struct strag_hop *hops;
    double *load;
};

static double op_bytes(const struct strag_plan *plan, const struct strag_op *op, double bytes)
{
    const struct strag_bounds *bounds = &plan->bounds;
    if (!bounds->numerator)
        return bytes * op->count / bounds->blocks;
    return bytes *
           (double)(bounds->numerator[op->first + op->count] - bounds->numerator[op->first]) /
           (double)bounds->denominator;
}

/* A plan's first operation of a round, or of a later one. */
static int first_of_round(const struct strag_plan *plan, int round)
{
    int low = 0, high = plan->nops;
    while (low < high) {
        int middle = (low + high) / 2;
        if (plan->ops[middle].round < round)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void second_loads(struct second *second, int round, double bytes)
{
    memset(second->load, 0, (size_t)second->links->nlinks * sizeof *second->load);
    for (int r = 0; r < second->problem->n; r++) {
        const struct strag_plan *plan = second->plans[r];
        int end = first_of_round(plan, round + 1);
        for (int i = first_of_round(plan, round); i < end; i++) {
            const struct strag_op *op = &plan->ops[i];
            if (op->kind != STRAG_SEND)
                continue;
            struct strag_route route = strag_links_route(second->links, r, op->peer, second->hops);
            for (int h = 0; h < route.nhops; h++)
                second->load[second->hops[h].link] +=
                    second->hops[h].share * op_bytes(plan, op, bytes);
        }
    }
}

/* @return how many messages between hosts the rank that has the most of them has in the round,
 * beyond one that it sends and one that it receives; some to the same rank one behind the other are
 * one */
static int second_posts(const struct second *second, int round)
{
    int most = 0;
    for (int r = 0; r < second->problem->n; r++) {
        const struct strag_plan *plan = second->plans[r];
        int end = first_of_round(plan, round + 1), count[] = {0, 0};
        for (int i = first_of_round(plan, round); i < end; i++) {
            const struct strag_op *op = &plan->ops[i];
            int way = op->kind == STRAG_SEND, before = i - 1;
            while (before >= 0 &&
                   ((plan->ops[before].kind == STRAG_SEND) != way ||
                    strag_topology_same_host(second->problem->topology, r, plan->ops[before].peer)))
                before--;
            bool goes_on = before >= 0 && plan->ops[before].round == round &&
                           plan->ops[before].peer == op->peer;
            if (!goes_on && !strag_topology_same_host(second->problem->topology, r, op->peer))
                count[way]++;
        }
        int posts = (count[0] > 1 ? count[0] - 1 : 0) + (count[1] > 1 ? count[1] - 1 : 0);
        most = posts > most ? posts : most;
    }
    return most;
}

/* @return the round's longest message */
static double second_round(struct second *second, int round, double bytes)
{
    const double posts = second->model->overhead * second_posts(second, round);
    const double overlaps = (1 - second->chained) * posts;
    double longest = 0;
    second_loads(second, round, bytes);
    for (int r = 0; r < second->problem->n; r++) {
        const struct strag_plan *plan = second->plans[r];
        int end = first_of_round(plan, round + 1);
        double reduce = 0;
        for (int i = first_of_round(plan, round); i < end; i++) {
            if (plan->ops[i].kind == STRAG_RECV_REDUCE && second->model->reduce_bandwidth > 0)
                reduce += op_bytes(plan, &plan->ops[i], bytes) / second->model->reduce_bandwidth;
        }
        for (int i = first_of_round(plan, round); i < end; i++) {
            const struct strag_op *op = &plan->ops[i];
            if (op->kind == STRAG_SEND)
                continue;
            struct strag_route route = strag_links_route(second->links, op->peer, r, second->hops);
            double wire = 0;
            for (int h = 0; h < route.nhops; h++)
                wire = fmax(wire, second->load[second->hops[h].link] /
                                      strag_link_bandwidth(second->links, second->hops[h].link));
            const struct strag_problem *problem = second->problem;
            bool local = strag_topology_same_host(problem->topology, op->peer, r);
            double latency = local ? route.latency
                                   : second->chained * route.latency +
                                         (1 - second->chained) *
                                             fmin(route.latency, 2 * second->model->overhead);
            longest =
                fmax(longest, latency + second->chained * posts + fmax(wire, overlaps) + reduce);
        }
    }
    return longest;
}

static double second_cost(struct second *second, double bytes)
{
    double seconds = 0;
    for (int round = 0; round < second->plans[0]->rounds; round++)
        seconds += second_round(second, round, bytes);
    return seconds;
}

static struct strag_topology *random_machine(struct rng *rng)
{
    static const char *const dims[] = {"2", "5", "3x4", "6x2", "2x3x4", "4x4", "1x7", "8x4"};
    const char *shape = dims[rng_below(rng, sizeof dims / sizeof *dims)];
    switch (rng_below(rng, 6)) {
    case 0:
        return machine_flat(1 + (int)rng_below(rng, 40), 1 + (int)rng_below(rng, 4));
    case 1:
        return machine_tree("((2,3),(4))");
    case 2:
        return machine_grid(STRAG_NETWORK_TORUS, false, shape, NULL, 1);
    case 3:
        return machine_grid(STRAG_NETWORK_HYPERX, true, shape, NULL, 1 + (int)rng_below(rng, 2));
    case 4:
        return machine_grid(STRAG_NETWORK_HAMMINGMESH, true, "4x4", "2x2", 1);
    default:
        return machine_grid(STRAG_NETWORK_TORUS, true, shape, NULL, 1 + (int)rng_below(rng, 2));
    }
}

static void compare_with_second(struct rng *rng, const struct strag_algorithm *algorithm,
                                const struct strag_problem *problem)
{
    struct strag_error err;
    struct strag_plan *plans[64];
    struct strag_model model = plain_model();
    model.reduce_bandwidth = rng_one_in(rng, 2) ? 3e9 : 0;
    model.overhead = rng_one_in(rng, 2) ? 3e-7 : 0;
    model.injection_bandwidth = rng_one_in(rng, 2) ? 1.5 * bandwidth : 0;
    model.ties = rng_one_in(rng, 2) ? STRAG_TIES_PLUS : STRAG_TIES_SPLIT;
    int status = support_create_all(algorithm, problem, plans, &err);
    if (status == STRAG_ERR_UNSUPPORTED)
        return;
    assert_int_equal(status, STRAG_OK);
    struct second second = {.plans = plans, .model = &model, .problem = problem, .chained = 1};
    struct strag_claim claim;
    assert_int_equal(strag_algorithm_claim(algorithm, problem, &claim, &err), STRAG_OK);
    if (claim.chain > 0 && claim.chain < claim.rounds)
        second.chained = (double)claim.chain / claim.rounds;
    assert_int_equal(
        strag_links_create(problem->topology, &model, problem->state, &second.links, &err),
        STRAG_OK);
    second.hops = malloc((size_t)(second.links->longest + 1) * sizeof *second.hops);
    second.load = malloc((size_t)second.links->nlinks * sizeof *second.load);
    for (int i = 0; i < 3; i++) {
        double bytes = (double)(1u << rng_below(rng, 30));
        const double found = rounds_cost(algorithm->name, problem, &model, bytes);
        const double expected = second_cost(&second, bytes);
        if (!(fabs(found - expected) <= 1e-9 * expected))
            fail_msg("%s, %s, %d ranks on %d hosts, %s, %d rounds: %.12g s instead of %.12g s",
                     algorithm->name, strag_network_name(problem->topology->network), problem->n,
                     problem->topology->hosts, problem->state ? "one slow" : "healthy",
                     plans[0]->rounds, found, expected);
    }
    free(second.hops);
    free(second.load);
    strag_links_free(second.links);
    strag_plan_free_all(plans, problem->n);
}

TEST(a_second_implementation)
{
    struct rng rng = {support_seed("a_second_implementation")};
    int priced = 0;
    for (long i = support_cases(support_is_full() ? 300 : 100); i > 0; i--) {
        struct strag_topology *topology = random_machine(&rng);
        const struct strag_slow slow[] = {{(int)rng_below(&rng, (unsigned)topology->n), 1.5}};
        const struct strag_state slow_state = {.nslow = 1, .slow = slow};
        const struct strag_problem problem = {
            .n = topology->n,
            .topology = topology,
            .state = rng_one_in(&rng, 2) ? &slow_state : NULL,
        };
        assert_true(topology->n <= 64);
        for (int a = 0; strag_algorithms[a]; a++) {
            if (strag_algorithms[a]->needs_straggler)
                continue;
            compare_with_second(&rng, strag_algorithms[a], &problem);
            priced++;
        }
        strag_topology_free(topology);
    }
    assert_true(priced > 0);
}

/* ---- Memory ---- */

struct attempt {
    struct strag_problem problem;
    struct strag_model model;
};

static int try_profile(const void *what, struct strag_error *err, bool *made)
{
    const struct attempt *attempt = what;
    struct strag_profile *profile = NULL;
    int status = strag_profile_create(support_algorithm("circulant"), &attempt->problem,
                                      &attempt->model, &profile, err);
    *made = profile != NULL;
    strag_profile_free(profile);
    return status;
}

static int try_clocks(const void *what, struct strag_error *err, bool *made)
{
    const struct attempt *attempt = what;
    const size_t bytes[] = {1, 1000};
    double seconds[2] = {0, 0};
    int status = strag_cost_clocks(support_algorithm("circulant"), &attempt->problem,
                                   &attempt->model, bytes, 2, seconds, err);
    *made = status == STRAG_OK && seconds[0] > 0 && seconds[1] > seconds[0];
    return status;
}

TEST(memory_runs_out)
{
    const struct attempt attempt = {{.n = 6}, plain_model()};
    assert_true(exhaust("a profile", try_profile, &attempt) > 10);
    assert_true(exhaust("clocks", try_clocks, &attempt) > 10);
}

/* ---- Estimates that are not finished ---- */

/* Lines that were shown while an estimate was made. */
struct shown {
    int count, most; /* the estimate is given up when this many were shown */
    struct strag_cost_line lines[64];
};

static bool show(void *context, const struct strag_partial_profile *partial)
{
    struct shown *shown = context;
    for (double bytes = 1; bytes < 1e10 && shown->count < 64; bytes *= 300)
        shown->lines[shown->count++] = strag_partial_profile_line(partial, bytes);
    return shown->count >= shown->most;
}

/* No estimate becomes shorter than a line that was shown of it. */
static void lines_lie_below(const struct strag_algorithm *algorithm,
                            const struct strag_problem *problem)
{
    struct strag_model model = plain_model();
    struct shown shown = {.most = 1000};
    struct strag_profile *profile = NULL;
    struct strag_error err;
    model.reduce_bandwidth = 3e9;
    struct strag_attempt attempt = {.prune = show, .context = &shown};
    assert_int_equal(strag_platform_create(problem, &model, &attempt.platform, &err), STRAG_OK);
    int status = strag_profile_attempt(algorithm, problem, &attempt, &profile, &err);
    if (status == STRAG_ERR_UNSUPPORTED) {
        strag_platform_free(attempt.platform);
        return;
    }
    assert_int_equal(status, STRAG_OK);
    assert_int_equal(shown.count > 0, problem->n > 1);
    for (double bytes = 1; bytes < 1e12; bytes *= 3) {
        double seconds = strag_profile_seconds(profile, bytes);
        for (int i = 0; i < shown.count; i++) {
            double least = shown.lines[i].latency + bytes * shown.lines[i].per_byte;
            if (least > seconds * (1 + 1e-12))
                fail_msg("%s, n = %d: %.12g s for %g bytes, %.12g s or more were promised",
                         algorithm->name, problem->n, seconds, bytes, least);
        }
    }
    strag_profile_free(profile);
    shown = (struct shown){.most = 1};
    assert_int_equal(strag_profile_attempt(algorithm, problem, &attempt, &profile, &err), STRAG_OK);
    assert_int_equal(profile == NULL, problem->n > 1);
    strag_profile_free(profile);
    strag_platform_free(attempt.platform);
}

TEST(partial_profiles_promise_no_more)
{
    struct rng rng = {support_seed("unfinished_estimates")};
    long cases = support_cases(support_is_full() ? 60 : 30);
    for (long i = 0; i < cases; i++) {
        struct strag_topology *topology = random_machine(&rng);
        const struct strag_straggler straggler[] = {
            {(int)rng_below(&rng, (uint64_t)topology->n), 1e-5}};
        const struct strag_slow slow[] = {{(int)rng_below(&rng, (uint64_t)topology->n), 3}};
        const struct strag_state moment = {(int)rng_below(&rng, 2), slow, (int)rng_below(&rng, 2),
                                           straggler};
        const struct strag_problem problem = {
            .n = topology->n, .topology = topology, .state = &moment};
        for (int a = 0; strag_algorithms[a]; a++)
            lines_lie_below(strag_algorithms[a], &problem);
        strag_topology_free(topology);
    }
}
