/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * torus-trees: proofs on grids around every host; what the slow host's links carry; its modelled
 * times against the lower bounds, with and without a slow host, and that it is chosen.
 */
#include "algorithms/table.h"
#include "machines.h"
#include "model/bounds.h"
#include "model/loads.h"
#include "model/select.h"
#include "plan/verify.h"
#include "support.h"

#include <math.h>

/* A problem with a slow host. Do not copy it. */
struct slow {
    struct strag_slow slow[2];
    struct strag_state state;
    struct strag_problem problem;
};

static void slow_make(struct slow *slow, const struct strag_topology *topology, int rank,
                      double factor)
{
    *slow = (struct slow){.slow = {{rank, factor}}};
    slow->state = (struct strag_state){.nslow = 1, .slow = slow->slow};
    slow->problem =
        (struct strag_problem){.n = topology->n, .topology = topology, .state = &slow->state};
}

static void proved(const struct slow *slow, const char *what)
{
    struct strag_measure measure;
    struct strag_error err;
    const int n = slow->problem.n;
    if (strag_verify(support_algorithm("torus-trees"), &slow->problem, &measure, NULL, &err) !=
        STRAG_OK)
        fail_msg("%s, rank %d slow, %d blocks: %s", what, slow->slow[0].rank, slow->problem.blocks,
                 err.text);
    assert_true(fabs(measure.sent_total - 2.0 * (n - 1)) < 1e-9 * n);
}

TEST(on_grids_around_every_host)
{
    static const struct {
        const char *dims;
        bool wrap;
        int ranks;
    } cases[] = {{"2", true, 1},       {"3", true, 1},     {"8", true, 1},     {"7", false, 1},
                 {"16", true, 1},      {"8", true, 3},     {"2x2", true, 1},   {"1x5", true, 1},
                 {"3x2", true, 1},     {"3x5", true, 1},   {"4x4", true, 1},   {"8x8", true, 1},
                 {"4x3", false, 1},    {"2x2x2", true, 1}, {"3x2x4", true, 1}, {"4x4x4", true, 1},
                 {"2x3x2x3", true, 1}, {"3x3", true, 2},   {"2x1x3", true, 3}, {"3x3x2", false, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strag_topology *grid =
            machine_grid(STRAG_NETWORK_TORUS, cases[i].wrap, cases[i].dims, NULL, cases[i].ranks);
        for (int rank = 0; rank < grid->n; rank++) {
            struct slow slow;
            slow_make(&slow, grid, rank, 2);
            proved(&slow, cases[i].dims);
            slow.problem.ports = 1;
            slow.problem.blocks = 1 + rank % 7;
            proved(&slow, "on one port");
        }
        strag_topology_free(grid);
    }
}

/* The slower one of two is the one that others do not send through: its links carry a quarter of
 * the vector in each direction, all others a half. */
TEST(links_of_the_slowest_host)
{
    struct strag_topology *torus = machine_grid(STRAG_NETWORK_TORUS, true, "4x4", NULL, 1);
    const struct strag_model model = machine_model(STRAG_NETWORK_TORUS);
    struct strag_links *links;
    struct strag_error err;
    struct slow slow;
    slow_make(&slow, torus, 3, 1.5);
    slow.slow[1] = (struct strag_slow){9, 2};
    slow.state.nslow = 2;
    proved(&slow, "two slow hosts");
    assert_int_equal(strag_links_create(torus, &model, &slow.state, &links, &err), STRAG_OK);
    double *load = calloc((size_t)links->nlinks, sizeof *load);
    assert_int_equal(
        strag_link_loads(support_algorithm("torus-trees"), &slow.problem, links, load, &err),
        STRAG_OK);
    const int at = torus->nodes[torus->host_node[9]].position;
    for (int link = links->in_tree; link < links->nlinks; link++) {
        const struct strag_link_ends ends = strag_link_ends(links, link);
        assert_float_equal(load[link], ends.from == at || ends.to == at ? 0.25 : 0.5, 1e-9);
    }
    free(load);
    strag_links_free(links);
    strag_topology_free(torus);
}

/* ---- Times ---- */

/* What is chosen, over the lower bound. */
static double over_bound(const struct slow *slow, double bytes, const char **chosen)
{
    const struct strag_select_options options = {.minimum = 0};
    const struct strag_model model = machine_model(STRAG_NETWORK_TORUS);
    struct strag_selection *selection;
    struct strag_lower_bound lower;
    struct strag_error err;
    if (strag_select(&slow->problem, &model, &options, &selection, &err) != STRAG_OK ||
        strag_lower_bound(&slow->problem, &model, &lower, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    const struct strag_entry *entry = strag_table_entry(&selection->table, (size_t)bytes);
    const double seconds =
        strag_selection_seconds(selection, entry->algorithm, entry->blocks, (size_t)bytes, -1);
    *chosen = entry->algorithm->name;
    strag_selection_free(selection);
    return seconds / strag_lower_bound_seconds(&lower, bytes, NULL);
}

/* Others take as many times longer as the host is slower, at 2 times 1.75 to 2.00 of the bound. */
TEST(near_the_bounds)
{
    static const struct {
        const char *dims;
        double factor, most;
    } cases[] = {{"8", 1.3, 1.17},     {"8", 2, 1.09},    {"8", 3, 1.07},     {"4x4", 1.3, 1.19},
                 {"4x4", 2, 1.16},     {"4x4", 3, 1.12},  {"8x8", 1.3, 1.25}, {"8x8", 2, 1.25},
                 {"4x4x4", 1.3, 1.28}, {"4x4x4", 2, 1.29}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strag_topology *torus =
            machine_grid(STRAG_NETWORK_TORUS, true, cases[i].dims, NULL, 1);
        struct slow slow;
        const char *chosen;
        slow_make(&slow, torus, 5, cases[i].factor);
        const double ratio = over_bound(&slow, 64 << 20, &chosen);
        print_message("%s, %g times slower: %s, %.3f of the bound\n", cases[i].dims,
                      cases[i].factor, chosen, ratio);
        assert_string_equal(chosen, "torus-trees");
        if (!(ratio >= 1 && ratio <= cases[i].most))
            fail_msg("%s, %g times slower: %.4f of the bound instead of %.4f", cases[i].dims,
                     cases[i].factor, ratio, cases[i].most);
        strag_topology_free(torus);
    }
}

/* Sizes for which no other algorithm fills all links. */
TEST(healthy_tori)
{
    static const struct {
        const char *dims;
        double most;
    } cases[] = {{"2x3x5", 1.18}, {"3x5x7", 1.18}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strag_topology *torus =
            machine_grid(STRAG_NETWORK_TORUS, true, cases[i].dims, NULL, 1);
        struct slow slow;
        const char *chosen;
        slow_make(&slow, torus, 0, 1);
        slow.state.nslow = 0;
        const double ratio = over_bound(&slow, 256 << 20, &chosen);
        print_message("%s: %s, %.3f of the bound\n", cases[i].dims, chosen, ratio);
        assert_string_equal(chosen, "torus-trees");
        if (!(ratio >= 1 && ratio <= cases[i].most))
            fail_msg("%s: %.4f of the bound instead of %.4f", cases[i].dims, ratio, cases[i].most);
        strag_topology_free(torus);
    }
}

TEST(elsewhere)
{
    struct strag_topology *hosts = machine_flat(12, 3);
    struct strag_measure measure;
    struct strag_error err;
    struct slow slow;
    for (int rank = 0; rank < 12; rank++) {
        slow_make(&slow, hosts, rank, 2);
        proved(&slow, "4 hosts of 3 ranks");
    }
    slow.state.nslow = 0;
    proved(&slow, "no host is slow");
    strag_topology_free(hosts);
    struct strag_topology *torus = machine_grid(STRAG_NETWORK_TORUS, true, "4x4", NULL, 1);
    slow_make(&slow, torus, 5, 2);
    slow.problem.blocks = 6;
    assert_int_equal(
        strag_verify(support_algorithm("torus-trees"), &slow.problem, &measure, NULL, &err),
        STRAG_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "torus-trees cuts into a multiple of 4 blocks, up to 268435455, "
                                  "not 6");
    strag_topology_free(torus);
}
