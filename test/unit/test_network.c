/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links and routes, worked out by hand. A route is compared as text: the names of its links, one
 * behind the other, with "half" in front of those of a split tie. (test_network_random goes over
 * grids of all kinds.)
 */
#include "model/network.h"

#include "exhaust.h"
#include "machines.h"
#include "support.h"

#include <math.h>

static const enum strag_network torus = STRAG_NETWORK_TORUS, hyperx = STRAG_NETWORK_HYPERX,
                                boards = STRAG_NETWORK_HAMMINGMESH;

/* Numbers that tell all parts of a latency apart. */
static struct strag_model model_of(enum strag_ties ties)
{
    return (struct strag_model){.alpha = 1000,
                                .local_alpha = 7,
                                .bandwidth = 100,
                                .local_bandwidth = 40,
                                .link_latency = 1,
                                .hop_latency = 0.5,
                                .ties = ties};
}

static struct strag_links *links_of(const struct strag_topology *topology, enum strag_ties ties,
                                    const struct strag_state *state)
{
    struct strag_error err = {""};
    struct strag_links *links = NULL;
    const struct strag_model model = model_of(ties);
    if (strag_links_create(topology, &model, state, &links, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return links;
}

/* A network with its links. */
struct net {
    struct strag_topology *topology;
    struct strag_links *links;
};

static struct net net_of(struct strag_topology *topology, enum strag_ties ties)
{
    return (struct net){topology, links_of(topology, ties, NULL)};
}

static void net_free(struct net *net)
{
    strag_links_free(net->links);
    strag_topology_free(net->topology);
}

/* @param length  links one after the other; -1: the message stays within its host */
static void assert_route(struct net *net, int from, int to, int length, const char *expected)
{
    struct strag_hop *hops = calloc((size_t)net->links->longest, sizeof *hops);
    char text[1000] = "", name[100];
    assert_non_null(hops);
    struct strag_route route = strag_links_route(net->links, from, to, hops);
    assert_in_range(route.nhops, 0, net->links->longest);
    for (int h = 0; h < route.nhops; h++) {
        size_t used = strlen(text);
        assert_true(hops[h].share == 1.0f || hops[h].share == 0.5f);
        snprintf(text + used, sizeof text - used, "%s%s%s", h ? ", " : "",
                 hops[h].share == 1.0f ? "" : "half ",
                 machine_link_name(net->links, hops[h].link, name, sizeof name));
    }
    free(hops);
    assert_string_equal(text, expected);
    assert_true(route.latency == (length < 0 ? 7 : 1000 + 1.5 * length));
}

/* ---- Trees ---- */

static struct strag_topology *parsed(const char *text)
{
    struct machine_nodes nodes = machine_parse(text);
    return machine_finish(&nodes, NULL);
}

TEST(a_tree)
{
    struct net net = net_of(parsed("N(S=top1(S=a(H=n1(P(0 1) P(2 3)) H=n2(4)) S=b(H(5) H(6)))"
                                   " S=top2(H=n5(8) H=n6(7)))"),
                            STRAG_TIES_SPLIT);
    assert_route(&net, 0, 1, -1, "rank 0 up, rank 1 down");
    assert_route(&net, 3, 0, -1,
                 "rank 3 up, package of rank 2 up, package of rank 0 down, rank 0 down");
    assert_route(&net, 2, 4, 2, "host n1 up, host n2 down");
    assert_route(&net, 4, 6, 4, "host n2 up, switch a up, switch b down, host of rank 6 down");
    assert_route(&net, 7, 8, 2, "host n6 up, host n5 down");
    assert_route(
        &net, 8, 5, 5,
        "host n5 up, switch top2 up, switch top1 down, switch b down, host of rank 5 down");
    assert_route(&net, 1, 7, 5,
                 "host n1 up, switch a up, switch top1 up, switch top2 down, host n6 down");
    net_free(&net);
}

/* The links up and down of a node whose first rank and level are given. */
static void assert_bandwidth(const struct strag_links *links, enum strag_level level, int rank,
                             double expected)
{
    const struct strag_topology *topology = links->topology;
    int node = topology->leaf_node[rank];
    while (topology->nodes[node].level != level)
        node = topology->nodes[node].parent;
    for (int down = 0; down < 2; down++) {
        double bandwidth = strag_link_bandwidth(links, 2 * node + down);
        if (!(bandwidth == expected))
            fail_msg("%s of rank %d: %g, not %g", strag_level_name(level), rank, bandwidth,
                     expected);
    }
}

TEST(bandwidths_of_a_tree)
{
    struct net net = net_of(parsed("N(S(H@70(0) H(1) H(2)) S(H(P(U(C(3 4) C@5(5@6 6)) U(7 8))"
                                   " P@9(9 10)) H(11)) S@33(H(12) H(13)))"),
                            STRAG_TIES_SPLIT);
    const struct strag_links *links = net.links;
    assert_int_equal(links->nlinks, 2 * net.topology->nnodes);
    assert_bandwidth(links, STRAG_LEVEL_HOST, 0, 70);
    assert_bandwidth(links, STRAG_LEVEL_HOST, 1, 100);
    assert_bandwidth(links, STRAG_LEVEL_SWITCH, 1, 270);
    assert_bandwidth(links, STRAG_LEVEL_SWITCH, 3, 200);
    assert_bandwidth(links, STRAG_LEVEL_SWITCH, 12, 33);
    assert_bandwidth(links, STRAG_LEVEL_PACKAGE, 3, 160);
    assert_bandwidth(links, STRAG_LEVEL_PACKAGE, 9, 9);
    assert_bandwidth(links, STRAG_LEVEL_NUMA, 7, 160);
    assert_bandwidth(links, STRAG_LEVEL_CACHE, 3, INFINITY);
    assert_bandwidth(links, STRAG_LEVEL_CACHE, 6, 5);
    assert_bandwidth(links, STRAG_LEVEL_RANK, 3, 40);
    assert_bandwidth(links, STRAG_LEVEL_RANK, 5, 6);
    net_free(&net);

    net = net_of(parsed("N(S(S(H(0) H@50(1)) S@7(H(2) H(3))) H(4))"), STRAG_TIES_SPLIT);
    int top = net.topology->nodes[net.topology->nodes[net.topology->host_node[0]].parent].parent;
    assert_true(strag_link_bandwidth(net.links, 2 * top) ==
                157); /* all below together: 150 and 7 */
    net_free(&net);
}

/* Pairs have links of 20, those of one group of 10. */
TEST(a_dragonfly)
{
    struct net net =
        net_of(parsed("N@20(S(H(0) H(1)) S@30(H(2) H(3)) S@10(H(4) H(5)) H(6))"), STRAG_TIES_SPLIT);
    static const int rank[] = {0, 2, 4, 6};
    static const double pair[4][4] = {
        {20, 20, 10, 20}, {20, 20, 10, 20}, {10, 10, 10, 10}, {20, 20, 10, 20}};
    const struct strag_topology *topology = net.topology;
    assert_int_equal(net.links->nlinks, 2 * topology->nnodes + 16);
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < 4; b++) {
            const int link = strag_links_pair(net.links, topology->host_node[rank[a]],
                                              topology->host_node[rank[b]]);
            assert_int_equal(link < 0, a == b);
            assert_true(a == b || strag_link_bandwidth(net.links, link) == pair[a][b]);
        }
    }
    assert_bandwidth(net.links, STRAG_LEVEL_SWITCH, 0, 50);
    assert_bandwidth(net.links, STRAG_LEVEL_SWITCH, 2, 50);
    assert_bandwidth(net.links, STRAG_LEVEL_SWITCH, 4, 30);
    assert_bandwidth(net.links, STRAG_LEVEL_HOST, 6, 50);
    assert_route(&net, 0, 1, 2, "host of rank 0 up, host of rank 1 down");
    assert_route(&net, 3, 0, 4,
                 "host of rank 3 up, switch of rank 2 up, switch of rank 0 down, host of rank 0 "
                 "down, from the group of rank 2 to that of rank 0");
    assert_route(&net, 6, 5, 3,
                 "host of rank 6 up, switch of rank 4 down, host of rank 5 down, from the group of "
                 "rank 6 to that of rank 4");
    net_free(&net);

    /* Of a job in one group nothing is joined pair by pair. */
    net = net_of(parsed("N@20(S(H(0) H(1)))"), STRAG_TIES_SPLIT);
    assert_int_equal(net.links->nlinks, 2 * net.topology->nnodes);
    assert_bandwidth(net.links, STRAG_LEVEL_HOST, 0, 100);
    net_free(&net);
}

TEST(defaults)
{
    struct strag_model tree = strag_model_default(STRAG_NETWORK_TREE);
    for (int network = STRAG_NETWORK_TREE; network <= STRAG_NETWORK_HAMMINGMESH; network++) {
        struct strag_model model = strag_model_default((enum strag_network)network);
        bool grid = network != STRAG_NETWORK_TREE;
        assert_true(model.alpha == 1e-6 && model.local_alpha == 0.4e-6);
        assert_true(model.bandwidth == 12.5e9 && model.local_bandwidth == 20e9);
        assert_true(model.link_latency == (grid ? 100e-9 : 0));
        assert_true(model.hop_latency == (grid ? 300e-9 : 0));
        assert_true(model.reduce_bandwidth == 20e9);
        assert_int_equal(model.ties, tree.ties);
    }
    assert_int_equal(tree.ties, STRAG_TIES_SPLIT);
    strag_model_use_pml(&tree);
    assert_true(tree.local_alpha == 4e-6 && tree.alpha == 1e-6);
    assert_true(tree.local_bandwidth == 16e9 && tree.reduce_bandwidth == 16e9);
}

/* ---- Torus and mesh ---- */

TEST(a_torus)
{
    for (int split = 0; split < 2; split++) {
        struct net net = net_of(machine_grid(torus, true, "5x4", NULL, 1),
                                split ? STRAG_TIES_SPLIT : STRAG_TIES_PLUS);
        assert_route(&net, 0, 1, 1, "(0,0) dimension 0 +");
        assert_route(&net, 1, 0, 1, "(1,0) dimension 0 -");
        assert_route(&net, 0, 2, 2, "(0,0) dimension 0 +, (1,0) dimension 0 +");
        assert_route(&net, 0, 3, 2, "(0,0) dimension 0 -, (4,0) dimension 0 -");
        assert_route(&net, 4, 1, 2, "(4,0) dimension 0 +, (0,0) dimension 0 +");
        assert_route(&net, 0, 5, 1, "(0,0) dimension 1 +");
        assert_route(&net, 2, 17, 1, "(2,0) dimension 1 -");
        assert_route(&net, 6, 17, 3, /* (1,1) to (2,3): a tie in dimension 1 */
                     split ? "(1,1) dimension 0 +, half (2,1) dimension 1 +, half (2,2) dimension "
                             "1 +, half (2,1) dimension 1 -, half (2,0) dimension 1 -"
                           : "(1,1) dimension 0 +, (2,1) dimension 1 +, (2,2) dimension 1 +");
        assert_route(&net, 17, 6, 3, /* and back */
                     split ? "(2,3) dimension 0 -, half (1,3) dimension 1 +, half (1,0) dimension "
                             "1 +, half (1,3) dimension 1 -, half (1,2) dimension 1 -"
                           : "(2,3) dimension 0 -, (1,3) dimension 1 +, (1,0) dimension 1 +");
        net_free(&net);
    }
}

TEST(dimensions_of_two)
{
    struct net net = net_of(machine_grid(torus, true, "1x2", NULL, 1), STRAG_TIES_SPLIT);
    assert_route(&net, 0, 1, 1, "half (0,0) dimension 1 +, half (0,0) dimension 1 -");
    assert_route(&net, 1, 0, 1, "half (0,1) dimension 1 +, half (0,1) dimension 1 -");
    net_free(&net);
    net = net_of(machine_grid(torus, true, "1x2", NULL, 1), STRAG_TIES_PLUS);
    assert_route(&net, 0, 1, 1, "(0,0) dimension 1 +");
    assert_route(&net, 1, 0, 1, "(0,1) dimension 1 +");
    net_free(&net);
    net = net_of(machine_grid(torus, false, "1x2", NULL, 1), STRAG_TIES_SPLIT);
    assert_route(&net, 0, 1, 1, "(0,0) dimension 1 +");
    assert_route(&net, 1, 0, 1, "(0,1) dimension 1 -");
    net_free(&net);
}

/* Hosts may be anywhere; the other positions carry what passes. */
TEST(a_job_in_a_larger_torus)
{
    struct strag_grid grid = machine_grid_of(torus, true, "8x8", NULL);
    struct net net = net_of(machine_hosts(&grid, (int[]){63, 9, 14}, 3, 1), STRAG_TIES_SPLIT);
    assert_int_equal(net.links->nlinks, 2 * net.topology->nnodes + 64 * 4);
    assert_route(
        &net, 0, 1, 4,
        "(7,7) dimension 0 +, (0,7) dimension 0 +, (1,7) dimension 1 +, (1,0) dimension 1 +");
    assert_route(&net, 1, 2, 3, "(1,1) dimension 0 -, (0,1) dimension 0 -, (7,1) dimension 0 -");
    net_free(&net);
}

/* ---- HyperX and HammingMesh ---- */

TEST(a_hyperx)
{
    struct net net = net_of(machine_grid(hyperx, true, "4x4", NULL, 1), STRAG_TIES_SPLIT);
    assert_int_equal(net.links->per_position, 8);
    assert_route(&net, 0, 3, 1, "(0,0) dimension 0 to 3");
    assert_route(&net, 3, 0, 1, "(3,0) dimension 0 to 0");
    assert_route(&net, 1, 13, 1, "(1,0) dimension 1 to 3");
    assert_route(&net, 6, 9, 2, "(2,1) dimension 0 to 1, (1,1) dimension 1 to 2");
    net_free(&net);
}

TEST(boards_of_two)
{
    struct net net = net_of(machine_grid(boards, false, "6x6", "2x2", 1), STRAG_TIES_SPLIT);
    assert_int_equal(net.links->per_position, 8);
    assert_route(&net, 0, 1, 1, "(0,0) dimension 0 +");
    assert_route(&net, 1, 0, 1, "(1,0) dimension 0 -");
    assert_route(&net, 1, 2, 2, "(1,0) dimension 0 +, (2,0) dimension 0 from -");
    assert_route(&net, 0, 5, 2, "(0,0) dimension 0 -, (5,0) dimension 0 from +");
    assert_route(&net, 0, 2, 2, "(0,0) dimension 0 -, (2,0) dimension 0 from -");
    assert_route(&net, 7, 28, 4, /* (1,1) to (4,4) */
                 "(1,1) dimension 0 +, (4,1) dimension 0 from -, (4,1) dimension 1 +, "
                 "(4,4) dimension 1 from -");
    net_free(&net);
}

/* ---- What is refused ---- */

static void assert_refused(const struct strag_topology *topology, struct strag_slow slow,
                           const char *why)
{
    struct strag_slow list[] = {{0, 2}, slow};
    const struct strag_state state = {.nslow = 2, .slow = list};
    const struct strag_model model = model_of(STRAG_TIES_SPLIT);
    struct strag_links *links = NULL;
    struct strag_error err = {""};
    assert_int_equal(strag_links_create(topology, &model, &state, &links, &err),
                     STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, why);
    assert_null(links);
}

TEST(refusals)
{
    struct strag_topology *topology = machine_flat(4, 1);
    assert_refused(topology, (struct strag_slow){4, 2}, "slow rank 4; with 4 ranks it is 0 to 3");
    assert_refused(topology, (struct strag_slow){-1, 2}, "slow rank -1; with 4 ranks it is 0 to 3");
    assert_refused(topology, (struct strag_slow){1, 0.5},
                   "rank 1 is slower by a factor of 0.5; must be at least 1");
    assert_refused(topology, (struct strag_slow){1, NAN},
                   "rank 1 is slower by a factor of nan; must be at least 1");
    assert_refused(topology, (struct strag_slow){1, INFINITY},
                   "rank 1 is slower by a factor of inf; must be at least 1");
    strag_topology_free(topology);

    struct strag_grid grids[] = {machine_grid_of(hyperx, true, "100000", NULL),
                                 machine_grid_of(hyperx, true, "1x1", NULL),
                                 machine_grid_of(torus, true, "1x1", NULL)};
    grids[1].size[1] = INT32_MAX;
    grids[2].size[0] = INT32_MAX;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        struct strag_model model = model_of(STRAG_TIES_SPLIT);
        struct strag_links *links = NULL;
        struct strag_error err = {""};
        topology = machine_hosts(&grids[i], (int[]){0}, 1, 1);
        assert_int_equal(strag_links_create(topology, &model, NULL, &links, &err),
                         STRAG_ERR_UNSUPPORTED);
        assert_string_equal(err.text, "a network of more than 2147483647 links");
        assert_null(links);
        strag_topology_free(topology);
    }
    strag_links_free(NULL);
}

static int create(const void *what, struct strag_error *err, bool *made)
{
    static const struct strag_slow slow = {0, 3};
    const struct strag_state state = {.nslow = 1, .slow = &slow};
    const struct strag_model model = model_of(STRAG_TIES_SPLIT);
    struct strag_links *links = NULL;
    int status = strag_links_create(what, &model, &state, &links, err);
    *made = links != NULL;
    strag_links_free(links);
    return status;
}

TEST(out_of_memory)
{
    struct strag_topology *topologies[] = {machine_flat(4, 2),
                                           machine_grid(torus, true, "3x3", NULL, 1)};
    for (int i = 0; i < 2; i++) {
        assert_true(exhaust("links", create, topologies[i]) >= 2);
        strag_topology_free(topologies[i]);
    }
}
