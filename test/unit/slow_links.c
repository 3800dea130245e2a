/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts with slow links, for tests.
 */
#include "slow_links.h"

#include "executor.h"
#include "machines.h"
#include "model/cost.h"
#include "plan/verify.h"

#include <math.h>

double bound_several_slow(int hosts, const double *factors, int slow)
{
    double rates = hosts - slow, largest = 1;
    for (int i = 0; i < slow; i++) {
        rates += 1 / factors[i];
        largest = fmax(largest, factors[i]);
    }
    return fmax(2.0 * (hosts - 1) / rates, largest);
}

void slow_links_make(struct slow_links *links, int hosts, int ranks_per_host)
{
    *links = (struct slow_links){.n = hosts * ranks_per_host, .ranks_per_host = ranks_per_host};
    links->topology = machine_flat(links->n, ranks_per_host);
    links->state.slow = links->slow;
    links->problem = (struct strag_problem){
        .n = links->n,
        .topology = links->topology,
        .state = &links->state,
    };
}

void slow_links_add(struct slow_links *links, int rank, double factor)
{
    assert_in_range(links->state.nslow, 0, SLOW_LINKS_MAX - 1);
    assert_in_range(rank, 0, links->n - 1);
    links->slow[links->state.nslow++] = (struct strag_slow){rank, factor};
}

void slow_links_free(struct slow_links *links)
{
    strag_topology_free(links->topology);
}

static void fail_at(const struct slow_links *links, const char *what)
{
    char slow[200] = "";
    for (int s = 0; s < links->state.nslow && s < 6; s++) {
        size_t used = strlen(slow);
        snprintf(slow + used, sizeof slow - used, " %d:%g", links->slow[s].rank,
                 links->slow[s].factor);
    }
    fail_msg("n=%d, %d per host, blocks=%d, slow%s: %s", links->n, links->ranks_per_host,
             links->problem.blocks, slow, what);
}

/* ---- Proofs ---- */

/* One rank's peers on other hosts, round by round. */
static void check_flows(const struct slow_links *links, const struct strag_plan *plan)
{
    int round = -1, to = -1, from = -1;
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        if (op->round != round) {
            round = op->round;
            to = from = -1;
        }
        if (strag_topology_same_host(links->topology, plan->rank, op->peer))
            continue;
        int *peer = op->kind == STRAG_SEND ? &to : &from;
        if (*peer >= 0 && *peer != op->peer)
            fail_at(links, "two flows at a time");
        *peer = op->peer;
    }
}

void slow_links_prove(const struct slow_links *links, const struct strag_algorithm *algorithm,
                      bool one_flow)
{
    struct strag_error err = {""};
    struct strag_measure measure;
    double n = links->n, hosts = n / links->ranks_per_host;
    if (strag_verify(algorithm, &links->problem, &measure, NULL, &err) != STRAG_OK)
        fail_at(links, err.text);
    /* As little as there can be: 2(h-1) vectors between hosts, 2(g-1) within each. */
    assert_true(fabs(measure.sent_total - 2 * (hosts - 1) - 2 * (n - hosts)) < 1e-6 * n);
    for (int rank = 0; one_flow && rank < links->n; rank++) {
        struct strag_plan *plan = support_plan(algorithm->name, &links->problem, rank);
        check_flows(links, plan);
        strag_plan_free(plan);
    }
}

void slow_links_run(const struct slow_links *links, const struct strag_algorithm *algorithm,
                    struct rng *rng)
{
    struct strag_error err = {""};
    struct strag_plan **plans = calloc((size_t)links->n, sizeof(struct strag_plan *));
    assert_non_null(plans);
    if (support_create_all(algorithm, &links->problem, plans, &err) != STRAG_OK)
        fail_at(links, err.text);
    assert_int_equal(execute_often(plans, links->n, 1, rng), OUTCOME_SUM);
    support_plans_free(plans, links->n);
}

void slow_links_run_some(const struct strag_algorithm *algorithm, int most, struct rng *rng)
{
    for (int hosts = 3; hosts <= most; hosts++) {
        for (int g = 1; g <= 2; g++) {
            struct slow_links links;
            slow_links_make(&links, hosts, g);
            slow_links_add(&links, 1, hosts % 2 ? 1.5 : 3);
            slow_links_add(&links, (hosts - 1) * g, hosts % 3 ? 1 : 2);
            slow_links_run(&links, algorithm, rng);
            slow_links_free(&links);
        }
    }
}

/* ---- Times ---- */

double slow_links_time(const struct slow_links *links, const struct strag_algorithm *algorithm,
                       bool clocks)
{
    struct strag_error err = {""};
    struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    const size_t bytes = (size_t)1 << 30;
    double seconds = 0;
    model.alpha = model.local_alpha = model.overhead = 0;
    if (clocks) {
        if (strag_cost_clocks(algorithm, &links->problem, &model, &bytes, 1, &seconds, &err) !=
            STRAG_OK)
            fail_at(links, err.text);
    } else {
        struct strag_profile *profile = NULL;
        if (strag_profile_create(algorithm, &links->problem, &model, &profile, &err) != STRAG_OK)
            fail_at(links, err.text);
        seconds = strag_profile_seconds(profile, (double)bytes);
        strag_profile_free(profile);
    }
    return seconds * model.bandwidth / (double)bytes;
}

/* ---- Refusals ---- */

void slow_links_refused(const struct slow_links *links, const struct strag_algorithm *algorithm,
                        const char *why)
{
    struct strag_error err = {""};
    struct strag_plan *plan = NULL;
    assert_int_not_equal(strag_plan_create(algorithm, &links->problem, 0, &plan, &err), STRAG_OK);
    assert_string_equal(err.text, why);
    assert_null(plan);
}
