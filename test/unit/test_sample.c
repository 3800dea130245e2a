/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Some ranks for all: which are examined, and that what is found is what all ranks give.
 */
#include "model/sample.h"

#include "exhaust.h"
#include "machines.h"
#include "model/cost.h"
#include "model/platform.h"
#include "support.h"

#include <math.h>

enum { MESSAGES = 1 << 13 };

static struct strag_platform *platform_of(const struct strag_problem *problem)
{
    const struct strag_model model = strag_model_default(problem->topology->network);
    struct strag_platform *platform = NULL;
    struct strag_error err = {""};
    assert_int_equal(strag_platform_create(problem, &model, &platform, &err), STRAG_OK);
    return platform;
}

/* ---- Which ranks ---- */

/* Whole hosts, the first one and the last one among them. */
static void check_hosts(const struct strag_topology *topology, const struct strag_sample *sample)
{
    int n = topology->n, examined = 0;
    for (int r = 0; r < n; r++) {
        examined += sample->unit[r] >= 0;
        if (r > 0 && topology->host_node[r] == topology->host_node[r - 1])
            assert_int_equal(sample->unit[r], sample->unit[r - 1]);
    }
    assert_int_equal(examined, sample->count);
    assert_int_equal(sample->unit[0], 0);
    assert_int_equal(sample->unit[n - 1], sample->chosen - 1);
    for (int i = 0; i < sample->count; i++)
        assert_true(sample->unit[sample->rank[i]] >= 0);
}

/* Their number does not grow with the ranks. */
TEST(few_hosts_of_many)
{
    for (int n = 1000; n < 100000; n = 3 * n + 1) {
        struct strag_topology *topology = machine_flat(n, 32);
        const struct strag_slow slow[] = {{n / 3, 2}};
        const struct strag_straggler late[] = {{n / 2, 1e-3}};
        const struct strag_state both = {1, slow, 1, late};
        const struct strag_problem problem = {.n = n, .topology = topology, .state = &both};
        struct strag_platform *platform = platform_of(&problem);
        const struct strag_sample *sample = strag_platform_sample(platform, &problem, 256);
        assert_non_null(sample);
        check_hosts(topology, sample);
        assert_in_range(sample->count, 4 * 32, 512);
        assert_true(sample->unit[n / 3] >= 0);
        assert_true(sample->unit[n / 2] >= 0);
        strag_platform_free(platform);
        strag_topology_free(topology);
    }
}

/* What a switch's units stand for is all that is below it. */
TEST(weights_add_up)
{
    struct strag_topology *topology =
        machine_tree("((4,4,4,4,4,4,4,4,4,4,4),(4,4,4,4,4,4),(4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4))");
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    struct strag_platform *platform = platform_of(&problem);
    const struct strag_sample *sample = strag_platform_sample(platform, &problem, 16);
    int rows = 0;
    assert_true(sample->count < topology->n);
    for (int i = 0; i < topology->nnodes; i++) {
        double sum = 0;
        if (sample->row[i] < 0)
            continue;
        for (int u = 0; u < sample->chosen; u++)
            sum += 4 * (double)sample->weight[sample->row[i] * sample->chosen + u];
        assert_float_equal(sum, topology->nodes[i].leaves, 1e-4);
        rows++;
    }
    assert_int_equal(rows, 2); /* the first, and the last, which is the largest */
    strag_platform_free(platform);
    strag_topology_free(topology);
}

/* Lines of a grid: one in each dimension at least, through the late rank. */
TEST(lines_of_a_grid)
{
    struct strag_topology *topology = machine_grid(STRAG_NETWORK_TORUS, true, "12x10x9", NULL, 4);
    const struct strag_straggler late[] = {{777, 1e-3}};
    const struct strag_state one = {.nstragglers = 1, .straggler = late};
    const struct strag_problem problem = {.n = topology->n, .topology = topology, .state = &one};
    struct strag_platform *platform = platform_of(&problem);
    const struct strag_sample *sample = strag_platform_sample(platform, &problem, 256);
    assert_in_range(sample->count, 4 * (12 + 9 + 8), 4 * 4 * (12 + 9 + 8));
    assert_int_equal(sample->lines[sample->unit[777]], 7);
    assert_int_equal(sample->classes, 2 * (12 + 10 + 9));
    strag_platform_free(platform);
    strag_topology_free(topology);
}

/* ---- What they tell ---- */

/* By how much an estimate from some ranks differs at most from that of all. */
static double differs(const char *name, struct strag_topology *topology,
                      const struct strag_state *state)
{
    const struct strag_problem problem = {.n = topology->n, .topology = topology, .state = state};
    struct strag_attempt attempt = {.platform = platform_of(&problem), .messages = MESSAGES};
    struct strag_profile *some = NULL, *all = NULL;
    struct strag_error err = {""};
    double most = 0;
    const struct strag_algorithm *algorithm = support_algorithm(name);
    assert_int_equal(strag_profile_attempt(algorithm, &problem, &attempt, &some, &err), STRAG_OK);
    assert_in_range(attempt.platform->sample.count, 1, topology->n - 1);
    attempt.messages = 0;
    assert_int_equal(strag_profile_attempt(algorithm, &problem, &attempt, &all, &err), STRAG_OK);
    for (double bytes = 1; bytes < 1e11; bytes *= 8)
        most = fmax(
            most, fabs(strag_profile_seconds(some, bytes) / strag_profile_seconds(all, bytes) - 1));
    strag_profile_free(some);
    strag_profile_free(all);
    strag_platform_free(attempt.platform);
    return most;
}

static void check_all(const char *const *names, struct strag_topology *topology, double most)
{
    const struct strag_slow slow[] = {{topology->n / 3, 2.5}};
    const struct strag_state states[] = {{.nslow = 0}, {.nslow = 1, .slow = slow}};
    for (; *names; names++) {
        for (int s = 0; s < 2; s++) {
            double found = differs(*names, topology, &states[s]);
            if (!(found <= most))
                fail_msg("%s, n = %d, %d slow: %.3g %% off", *names, topology->n, s, 100 * found);
        }
    }
    strag_topology_free(topology);
}

/* Hosts of a switch that are equal, but for the last one: exact, but where every list has one left
 * over somewhere else. */
TEST(on_one_switch)
{
    static const char *const names[] = {"circulant", "recursive-doubling", "recursive-halving",
                                        NULL};
    static const char *const lists[] = {"swing", "swing-latency", NULL};
    /* No two hosts of 63 begin at the same bits: halves go to near ranks, so that some hosts send
     * and receive them and others do not. */
    static const char *const far[] = {"circulant", "recursive-doubling", NULL},
                             *const near[] = {"recursive-halving", NULL};
    check_all(names, machine_flat(2000, 64), 1e-9);
    check_all(far, machine_flat(4095, 63), 0.1);
    check_all(near, machine_flat(4095, 63), 0.4);
    check_all(lists, machine_flat(2000, 64), 0.15);
}

/* Algorithms that go dimension by dimension: exact, if all lines are as long as a power of two. */
TEST(on_tori)
{
    static const char *const names[] = {"swing", "swing-latency", NULL};
    check_all(names, machine_grid(STRAG_NETWORK_TORUS, true, "16x8x8", NULL, 4), 1e-6);
    check_all(names, machine_grid(STRAG_NETWORK_TORUS, true, "12x10x9", NULL, 2), 0.05);
}

/* Switches: an estimate. */
TEST(on_trees)
{
    static const char *const names[] = {"circulant", "recursive-doubling", "recursive-halving",
                                        NULL};
    struct machine_nodes nodes = machine_nodes_create();
    for (int s = 0; s < 24; s++) {
        int leaf = machine_node(&nodes, 0, STRAG_LEVEL_SWITCH);
        nodes.list[leaf].uplink = 30e9;
        for (int h = 0; h < 12 + s % 5; h++) {
            int host = machine_node(&nodes, leaf, STRAG_LEVEL_HOST);
            for (int r = 0; r < 8; r++)
                machine_rank(&nodes, host, machine_ranks(&nodes));
        }
    }
    check_all(names, machine_finish(&nodes, NULL), 0.15);
}

static int try_sample(const void *what, struct strag_error *err, bool *made)
{
    const struct strag_topology *topology = what;
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    const struct strag_model model = strag_model_default(topology->network);
    struct strag_platform *platform = NULL;
    int status = strag_platform_create(&problem, &model, &platform, err);
    *made = false;
    if (status == STRAG_OK && !strag_platform_sample(platform, &problem, 8))
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a sample");
    *made = status == STRAG_OK;
    strag_platform_free(platform);
    return status;
}

TEST(memory_runs_out)
{
    struct strag_topology *tree = machine_tree("((2,2,2,2),(2,2,2,2))");
    struct strag_topology *torus = machine_grid(STRAG_NETWORK_TORUS, true, "6x6", NULL, 1);
    assert_true(exhaust("a sample of a tree", try_sample, tree) > 8);
    assert_true(exhaust("a sample of a torus", try_sample, torus) > 8);
    strag_topology_free(tree);
    strag_topology_free(torus);
}
