/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks placed on layouts: which nodes the topology has, and who is where.
 */
#include "machine/layout.h"
#include "support.h"

static struct strag_layout *layout_of(const char *text)
{
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    if (strag_layout_parse(text, strlen(text), "FILE", &layout, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return layout;
}

static struct strag_topology *placed(const struct strag_layout *layout,
                                     const struct strag_location *places, int n)
{
    struct strag_error err = {""};
    struct strag_topology *topology = NULL;
    if (strag_layout_locate(layout, places, n, &topology, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(topology->n, n);
    return topology;
}

static struct strag_topology *filled(const struct strag_layout *layout, int n, int per_host,
                                     const char *hosts)
{
    struct strag_error err = {""};
    struct strag_topology *topology = NULL;
    if (strag_layout_fill(layout, n, per_host, hosts, &topology, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return topology;
}

static const struct strag_node *host_of(const struct strag_topology *topology, int rank)
{
    return &topology->nodes[topology->host_node[rank]];
}

/* The level of the smallest node that has both ranks below. */
static int common(const struct strag_topology *topology, int a, int b)
{
    return topology->nodes[support_ancestor(topology, a, b)].level;
}

static int count_level(const struct strag_topology *topology, enum strag_level level)
{
    int count = 0;
    for (int i = 0; i < topology->nnodes; i++)
        count += topology->nodes[i].level == level;
    return count;
}

static const char tree_text[] = "SwitchName=a Nodes=a[1-4] LinkSpeed=8\n"
                                "SwitchName=b Nodes=b[1-2]\nSwitchName=c Nodes=c[1-2]\n"
                                "SwitchName=bc Switches=b,c LinkSpeed=16\n"
                                "SwitchName=top Switches=a,bc\n";

TEST(tree)
{
    struct strag_layout *layout = layout_of(tree_text);
    /* Interleaved: rank 0 on a1, 1 on b1, 2 on c2, 3 on a1, 4 on b1, 5 on a3. */
    static const struct strag_location places[] = {
        {0, {-1, -1, -1}}, {4, {-1, -1, -1}}, {7, {-1, -1, -1}},
        {0, {-1, -1, -1}}, {4, {-1, -1, -1}}, {2, {-1, -1, -1}},
    };
    struct strag_topology *topology = placed(layout, places, 6);
    assert_int_equal(topology->network, STRAG_NETWORK_TREE);
    assert_int_equal(topology->hosts, 4);
    assert_int_equal(topology->ranks_per_host, 0);
    assert_string_equal(host_of(topology, 0)->name, "a1");
    assert_string_equal(host_of(topology, 4)->name, "b1");
    assert_string_equal(host_of(topology, 5)->name, "a3");
    assert_true(strag_topology_same_host(topology, 0, 3));
    assert_true(strag_topology_same_host(topology, 1, 4));
    assert_false(strag_topology_same_host(topology, 0, 5));
    assert_int_equal(common(topology, 0, 3), STRAG_LEVEL_HOST);
    assert_int_equal(common(topology, 0, 5), STRAG_LEVEL_SWITCH);
    assert_int_equal(common(topology, 1, 2), STRAG_LEVEL_SWITCH);
    assert_int_equal(common(topology, 0, 1), STRAG_LEVEL_NETWORK);
    const struct strag_node *a = &topology->nodes[support_ancestor(topology, 0, 5)];
    assert_string_equal(a->name, "a");
    assert_float_equal(a->uplink, 1e9, 1);
    const struct strag_node *bc = &topology->nodes[support_ancestor(topology, 1, 2)];
    assert_string_equal(bc->name, "bc");
    assert_float_equal(bc->uplink, 2e9, 1);
    strag_topology_free(topology);
    strag_layout_free(layout);
}

/* Two packages of two NUMA domains of two caches of two cores. */
static struct strag_location core(int host, int number)
{
    return (struct strag_location){host, {number / 8, number / 4, number / 2}};
}

TEST(local_levels)
{
    struct strag_layout *layout = layout_of("a: 0\nb: 1\n");
    struct strag_location places[32];
    for (int i = 0; i < 32; i++)
        places[i] = core(i % 2, i / 2); /* interleaved over both hosts */
    struct strag_topology *topology = placed(layout, places, 32);
    assert_int_equal(count_level(topology, STRAG_LEVEL_PACKAGE), 4);
    assert_int_equal(count_level(topology, STRAG_LEVEL_NUMA), 8);
    assert_int_equal(count_level(topology, STRAG_LEVEL_CACHE), 16);
    assert_int_equal(topology->ranks_per_host, 16);
    assert_int_equal(common(topology, 0, 2), STRAG_LEVEL_CACHE);
    assert_int_equal(common(topology, 0, 4), STRAG_LEVEL_NUMA);
    assert_int_equal(common(topology, 0, 8), STRAG_LEVEL_PACKAGE);
    assert_int_equal(common(topology, 0, 16), STRAG_LEVEL_HOST);
    assert_int_equal(common(topology, 0, 1), STRAG_LEVEL_NETWORK);
    assert_int_equal(host_of(topology, 1)->position, 1);
    strag_topology_free(topology);

    /* One rank does not know its package: no rank of that host has one, the other host's do. */
    places[6].core.package = -1;
    topology = placed(layout, places, 32);
    assert_int_equal(count_level(topology, STRAG_LEVEL_PACKAGE), 2);
    assert_int_equal(count_level(topology, STRAG_LEVEL_NUMA), 8);
    assert_int_equal(common(topology, 0, 8), STRAG_LEVEL_HOST);
    assert_int_equal(common(topology, 1, 9), STRAG_LEVEL_PACKAGE);
    strag_topology_free(topology);

    /* All in one package: it tells nobody apart. Two ranks in each NUMA domain. */
    for (int i = 0; i < 4; i++)
        places[i] = core(0, 2 * i);
    topology = placed(layout, places, 4);
    assert_int_equal(count_level(topology, STRAG_LEVEL_PACKAGE), 0);
    assert_int_equal(count_level(topology, STRAG_LEVEL_NUMA), 2);
    assert_int_equal(count_level(topology, STRAG_LEVEL_CACHE), 0); /* one rank in each */
    assert_int_equal(topology->nnodes, 1 + 1 + 2 + 4);
    strag_topology_free(topology);
    strag_layout_free(layout);
}

TEST(grids)
{
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    assert_int_equal(strag_layout_from_dims("4x4", STRAG_NETWORK_TORUS, true, &layout, &err),
                     STRAG_OK);
    struct strag_topology *topology = filled(layout, 0, 2, NULL);
    assert_int_equal(topology->n, 32);
    assert_int_equal(topology->network, STRAG_NETWORK_TORUS);
    assert_int_equal(topology->ranks_per_host, 2);
    assert_non_null(topology->box);
    assert_int_equal(topology->box->cells, 16);
    assert_int_equal(host_of(topology, 9)->position, 4);
    assert_string_equal(host_of(topology, 9)->name, "(0,1)");
    strag_topology_free(topology);

    /* The box [1,2] x [1,2], in an order of its own. */
    topology = filled(layout, 0, 1, "(2,1),(1,1),(1,2),(2,2)");
    assert_int_equal(host_of(topology, 0)->position, 6);
    assert_int_equal(host_of(topology, 2)->position, 9);
    assert_non_null(topology->box);
    static const int32_t expected[] = {1, 0, 2, 3};
    assert_memory_equal(topology->box->rank_at, expected, sizeof expected);
    assert_int_equal(topology->box->first[0], 1);
    assert_int_equal(topology->box->first[1], 1);
    strag_topology_free(topology);
    strag_layout_free(layout);
}

TEST(fill_trees)
{
    struct strag_layout *layout = layout_of(tree_text);
    struct strag_topology *topology = filled(layout, 0, 1, NULL);
    assert_int_equal(topology->n, 8);
    assert_string_equal(host_of(topology, 4)->name, "b1");
    strag_topology_free(topology);

    topology = filled(layout, 5, 3, NULL);
    assert_int_equal(topology->n, 5);
    assert_int_equal(topology->hosts, 2);
    assert_string_equal(host_of(topology, 2)->name, "a1");
    assert_string_equal(host_of(topology, 3)->name, "a2");
    strag_topology_free(topology);

    topology = filled(layout, 0, 2, "c2,a[3-4]");
    assert_int_equal(topology->n, 6);
    assert_string_equal(host_of(topology, 0)->name, "c2");
    assert_string_equal(host_of(topology, 1)->name, "c2");
    assert_string_equal(host_of(topology, 2)->name, "a3");
    assert_string_equal(host_of(topology, 5)->name, "a4");
    strag_topology_free(topology);
    strag_layout_free(layout);

    /* The description says how many ranks a host has. */
    struct strag_error err = {""};
    assert_int_equal(strag_layout_from_tree("2,3", &layout, &err), STRAG_OK);
    topology = filled(layout, 0, 7, NULL);
    assert_int_equal(topology->n, 5);
    assert_false(strag_topology_same_host(topology, 1, 2));
    assert_true(strag_topology_same_host(topology, 2, 4));
    strag_topology_free(topology);
    strag_layout_free(layout);
}

TEST(fill_as_the_file_says)
{
    struct strag_layout *layout = layout_of("torus 2x2\n0: 1 1\n1: 0 0\n2: 1 1\n3: 0 0\n");
    struct strag_topology *topology = filled(layout, 0, 1, NULL);
    assert_int_equal(topology->n, 4);
    assert_int_equal(topology->hosts, 2);
    assert_true(strag_topology_same_host(topology, 0, 2));
    assert_int_equal(host_of(topology, 0)->position, 3);
    assert_int_equal(host_of(topology, 3)->position, 0);
    strag_topology_free(topology);
    topology = filled(layout, 1, 1, NULL);
    assert_int_equal(topology->n, 1);
    assert_int_equal(host_of(topology, 0)->position, 3);
    strag_topology_free(topology);
    strag_layout_free(layout);
}

/* ---- Refusals ---- */

static void refused(const struct strag_layout *layout, int n, int per_host, const char *hosts,
                    const char *message)
{
    struct strag_error err = {""};
    struct strag_topology *topology = NULL;
    assert_int_equal(strag_layout_fill(layout, n, per_host, hosts, &topology, &err),
                     STRAG_ERR_ARGUMENT);
    assert_null(topology);
    assert_string_equal(err.text, message);
}

TEST(refusals)
{
    struct strag_error err = {""};
    struct strag_layout *layout = layout_of(tree_text);
    refused(layout, 9, 1, NULL, "9 ranks do not fit: there is room for 8 on 8 hosts");
    refused(layout, 3, 1, "a1,c2", "3 ranks do not fit: there is room for 2 on 2 hosts");
    refused(layout, -1, 1, NULL, "-1 ranks, 1 per host; 0 (all) or more and at least 1 are needed");
    refused(layout, 0, 0, NULL, "0 ranks, 0 per host; 0 (all) or more and at least 1 are needed");
    refused(layout, 0, 1, "a1,x", "host x is not in the layout, which has 8 hosts, from a1 to c2");
    refused(layout, 0, 1, "a1,b1,a1", "host a1 is named twice");
    refused(layout, 0, 1, "a[1-", "'a[1-' has a [ without ]; write n[01-16,20]");
    refused(layout, 0, INT32_MAX, NULL,
            "the layout has 17179869176 ranks; must be at most 16777216");

    const struct strag_location place = {8, {-1, -1, -1}};
    struct strag_topology *topology = NULL;
    assert_int_equal(strag_layout_locate(layout, &place, 1, &topology, &err), STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, "rank 0 is on host 8; the layout has the hosts 0 to 7");
    assert_int_equal(strag_layout_locate(layout, &place, 0, &topology, &err), STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, "0 ranks; must be at least 1");
    assert_null(topology);
    strag_layout_free(layout);

    layout = layout_of("- topology: t\n  flat: true\n");
    refused(layout, 0, 1, NULL,
            "the layout names no hosts: give the number of ranks, or the hosts");
    strag_layout_free(layout);
    layout = layout_of("0: 0\n1: 1\n");
    refused(layout, 3, 1, NULL, "3 ranks; the layout places 2");
    refused(layout, 0, 1, "(0)", "the layout places the ranks itself; hosts cannot be chosen");
    strag_layout_free(layout);
}
