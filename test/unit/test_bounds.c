/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lower bounds: the theorems' values, computed by hand, and the bounds of whole problems.
 */
#include "machines.h"
#include "model/bounds.h"
#include "slow_links.h"
#include "support.h"

#include <math.h>

static void assert_close(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fabs(b)))
        fail_msg("%.12g is not %.12g", a, b);
}

/* Theorem 1. */
static double one_slow(int hosts, double factor)
{
    return bound_several_slow(hosts, &factor, 1);
}

TEST(theorems)
{
    assert_close(one_slow(5, 1.5), 2 * 1.5 * 4 / (1.5 * 4 + 1));
    assert_close(one_slow(5, 2), 2); /* from 2 - 1/4 on: the factor */
    assert_close(strag_bound_one_flow(5, 1.5), 12.0 / 6.5);
    assert_close(strag_bound_one_flow(5, 2), 2);
    assert_close(strag_bound_one_flow(5, 3), 3);
    assert_close(strag_bound_one_flow(8, 1), 1.75); /* ring's */
    assert_close(one_slow(8, 1), 1.75);
    assert_close(bound_several_slow(8, (const double[]){1.25, 1.6}, 2), 14 / (6 + 0.8 + 0.625));
    assert_close(bound_several_slow(8, (const double[]){1.6, 4}, 2), 4);
    assert_close(bound_several_slow(6, NULL, 0), 10.0 / 6);
}

TEST(one_flow_is_the_stronger_bound)
{
    for (int hosts = 3; hosts < 100; hosts++) {
        for (double l = 1; l < 4; l += 0.1)
            assert_true(strag_bound_one_flow(hosts, l) >= one_slow(hosts, l) - 1e-12);
    }
}

static struct strag_lower_bound bound_of(const struct strag_problem *problem)
{
    struct strag_error err = {""};
    struct strag_lower_bound bound;
    struct strag_model model = strag_model_default(STRAG_NETWORK_TREE);
    model.bandwidth = 1e9;
    model.alpha = model.link_latency = 0;
    if (strag_lower_bound(problem, &model, &bound, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return bound;
}

TEST(problems)
{
    const struct strag_slow slow[] = {{3, 1.5}, {5, 2}};
    struct strag_state one = {.nslow = 1, .slow = slow}, two = {.nslow = 2, .slow = slow};
    struct strag_problem problem = {.n = 8, .state = &one};
    struct strag_lower_bound bound = bound_of(&problem);
    assert_close(bound.shared, one_slow(8, 1.5) * 1e-9);
    assert_close(bound.one_flow, strag_bound_one_flow(8, 1.5) * 1e-9);
    problem.state = &two;
    bound = bound_of(&problem);
    assert_close(bound.shared, bound_several_slow(8, (const double[]){1.5, 2}, 2) * 1e-9);
    assert_close(bound.one_flow, bound.shared);
    problem = (struct strag_problem){.n = 8};
    assert_close(bound_of(&problem).shared, 1.75e-9);
}

TEST(topologies)
{
    struct strag_topology *hosts = machine_flat(12, 3);
    struct strag_topology *uplinks = machine_tree("(2@4,3@8,1@8)");
    struct strag_topology *torus = machine_grid(STRAG_NETWORK_TORUS, true, "3x3", NULL, 1);
    struct strag_topology *single = machine_flat(4, 4);
    struct strag_problem problem = {.n = 12, .topology = hosts};
    assert_close(bound_of(&problem).shared, 1.5e-9); /* 2 * 3 / 4 */
    problem = (struct strag_problem){.n = 6, .topology = uplinks};
    assert_close(bound_of(&problem).shared, 2e-9); /* 0.5 GB/s carry the vector once */
    assert_close(bound_of(&problem).one_flow, 2e-9);
    problem = (struct strag_problem){.n = 9, .topology = torus};
    assert_close(bound_of(&problem).shared, 2 * 8.0 / 9 / 4 * 1e-9); /* four links */
    problem = (struct strag_problem){.n = 4, .topology = single};
    assert_true(bound_of(&problem).shared == 0);
    strag_topology_free(hosts);
    strag_topology_free(uplinks);
    strag_topology_free(torus);
    strag_topology_free(single);
}

/* What a straggler has to hand out or in, once it is there. */
TEST(stragglers)
{
    const struct strag_straggler late[] = {{2, 3e-3}, {5, 1e-3}};
    const struct strag_slow slow[] = {{2, 4}};
    struct strag_state wrong = {.nstragglers = 2, .straggler = late};
    struct strag_topology *torus = machine_grid(STRAG_NETWORK_TORUS, true, "3x3", NULL, 1);
    struct strag_problem problem = {.n = 8, .state = &wrong};
    struct strag_lower_bound bound = bound_of(&problem);
    double delay;
    assert_close(strag_lower_bound_seconds(&bound, 1e6, &delay), 3e-3 + 1e-3);
    assert_true(delay == 3e-3);
    assert_close(strag_lower_bound_seconds(&bound, 1e9, &delay), 1.75);
    assert_true(delay == 0);
    wrong = (struct strag_state){.nstragglers = 1, .straggler = late, .nslow = 1, .slow = slow};
    bound = bound_of(&problem);
    assert_close(strag_lower_bound_seconds(&bound, 1e6, NULL), 3e-3 + 4e-3);
    problem = (struct strag_problem){.n = 9, .state = &wrong, .topology = torus};
    bound = bound_of(&problem); /* all four links at a quarter */
    assert_close(strag_lower_bound_seconds(&bound, 1e6, NULL), 3e-3 + 1e-3);
    strag_topology_free(torus);
}

/* One message's latency, and on a grid a link's. */
TEST(latency)
{
    struct strag_model model = strag_model_default(STRAG_NETWORK_TORUS);
    struct strag_topology *torus = machine_grid(STRAG_NETWORK_TORUS, true, "3x3", NULL, 1);
    const struct strag_problem problem = {.n = 9, .topology = torus};
    struct strag_lower_bound bound;
    model.alpha = 2e-6;
    model.link_latency = 1e-7;
    model.bandwidth = 1e9;
    assert_int_equal(strag_lower_bound(&problem, &model, &bound, NULL), STRAG_OK);
    assert_close(strag_lower_bound_seconds(&bound, 9e3, NULL), 2.1e-6 + 4e-6);
    strag_topology_free(torus);
}
