/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bine and bine-latency: who meets whom (the table in bine.c), how far apart they are, and what
 * that saves. The proofs, identical bits among them, are in test_butterfly.c.
 */
#include "machines.h"
#include "model/cost.h"
#include "support.h"

static const enum strag_network torus = STRAG_NETWORK_TORUS;

static struct strag_plan *plan_of(const char *name, int n, int rank)
{
    return support_plan(name, &(struct strag_problem){.n = n}, rank);
}

/* The only send of a round. */
static const struct strag_op *send_of(const struct strag_plan *plan, int round)
{
    const struct strag_op *found = NULL;
    for (int i = 0; i < plan->nops; i++) {
        if (plan->ops[i].kind == STRAG_SEND && plan->ops[i].round == round) {
            assert_null(found);
            found = &plan->ops[i];
        }
    }
    assert_non_null(found);
    return found;
}

/* The table in bine.c. */
static void pairs_of_8(void **state)
{
    (void)state;
    static const int meets[3][8] = {
        {1, 0, 3, 2, 5, 4, 7, 6}, {7, 2, 1, 4, 3, 6, 5, 0}, {3, 6, 5, 0, 7, 2, 1, 4}};
    for (int rank = 0; rank < 8; rank++) {
        struct strag_plan *halves = plan_of("bine", 8, rank);
        struct strag_plan *whole = plan_of("bine-latency", 8, rank);
        for (int t = 0; t < 3; t++) {
            assert_int_equal(send_of(halves, t)->peer, meets[t][rank]);
            assert_int_equal(send_of(halves, 5 - t)->peer, meets[t][rank]);
            assert_int_equal(send_of(whole, 2 - t)->peer, meets[t][rank]);
            assert_int_equal(send_of(halves, t)->count, 4 >> t);
            assert_int_equal(send_of(halves, 5 - t)->count, 4 >> t);
        }
        strag_plan_free(halves);
        strag_plan_free(whole);
    }
}

/* 1, 1, 3, 5, 11, ... apart, in both directions; none farther than a third of the ring and one. */
static void distances(void **state)
{
    (void)state;
    for (int log = 1; log <= 10; log++) {
        int n = 1 << log;
        for (int rank = 0; rank < n; rank++) {
            struct strag_plan *plan = plan_of("bine", n, rank);
            int distance = 1, sign = rank % 2 ? -1 : 1;
            for (int t = 0; t < log; t++) {
                int to = rank + sign * distance;
                assert_int_equal(send_of(plan, t)->peer, (to % n + n) % n);
                assert_true(n == 2 || 3 * distance <= n + 3);
                sign = -sign;
                distance = 2 * distance + (t % 2 ? 1 : -1);
            }
            strag_plan_free(plan);
        }
    }
}

/* Seconds for a byte over links of one byte per second, without latency. */
static double bytes_time(const char *name, struct strag_topology *topology, int ports)
{
    const struct strag_problem problem = {.n = topology->n, .ports = ports, .topology = topology};
    struct strag_model model = strag_model_default(topology->network);
    struct strag_profile *profile = NULL;
    struct strag_error err = {""};
    model.alpha = model.overhead = model.link_latency = model.hop_latency = 0;
    model.bandwidth = 1;
    model.local_bandwidth = 1000;
    assert_int_equal(
        strag_profile_create(support_algorithm(name), &problem, &model, &profile, &err), STRAG_OK);
    double seconds = strag_profile_seconds(profile, 1);
    strag_profile_free(profile);
    strag_topology_free(topology);
    return seconds;
}

/* With all ports of a square torus: s/2D for each of the two phases, times the sum of distance /
 * 2^k over the k-th steps; 1.19 and 1.03 times the optimum s/D. */
static void congestion(void **state)
{
    (void)state;
    static const struct {
        const char *dims;
        int count, log;
        double bound;
    } cases[] = {{"16x16", 2, 4, 1.20}, {"64x64", 2, 6, 1.20}, {"8x8x8", 3, 3, 1.035}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int steps = cases[i].count * cases[i].log;
        double sum = 0, share = 1;
        for (int k = 0; k < steps; k++) {
            int t = k / cases[i].count;
            double rho = (1 - (t % 2 ? 1.0 : -1.0) * (2 << t)) / 3;
            share /= 2;
            sum += (rho < 0 ? -rho : rho) * share;
        }
        struct strag_topology *topology = machine_grid(torus, true, cases[i].dims, NULL, 1);
        double seconds = bytes_time("bine", topology, 0);
        assert_float_equal(seconds, sum / cases[i].count, 1e-6);
        assert_true(seconds * cases[i].count < cases[i].bound);
        topology = machine_grid(torus, true, cases[i].dims, NULL, 1);
        assert_true(seconds < bytes_time("torus-halving", topology, 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_8),
        cmocka_unit_test(distances),
        cmocka_unit_test(congestion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
