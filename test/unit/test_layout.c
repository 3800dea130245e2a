/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading layouts: what every format gives, value by value, and the examples. The refusals are in
 * test_layout_errors.c.
 */
#include "machine/layout.h"
#include "support.h"

typedef int parse_function(const char *text, size_t length, const char *name,
                           struct strag_layout **layout, struct strag_error *err);

static struct strag_layout *parsed_by(parse_function *parse, const char *text)
{
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    if (parse(text, strlen(text), "FILE", &layout, &err) != STRAG_OK)
        fail_msg("%s: %s", text, err.text);
    assert_non_null(layout);
    return layout;
}

/* By its own reader and by the one that finds out what it is, which must give the same. */
static struct strag_layout *parsed(parse_function *parse, const char *text)
{
    struct strag_layout *layout = parsed_by(parse, text);
    struct strag_layout *other = parsed_by(strag_layout_parse, text);
    assert_int_equal(layout->network, other->network);
    assert_int_equal(layout->nhosts, other->nhosts);
    assert_int_equal(layout->nswitches, other->nswitches);
    for (int i = 0; i < layout->nhosts; i++) {
        assert_string_equal(layout->hosts[i].name, other->hosts[i].name);
        assert_int_equal(layout->hosts[i].at, other->hosts[i].at);
    }
    strag_layout_free(other);
    return layout;
}

static void expect_switch(const struct strag_layout *layout, int i, const char *name, int parent,
                          double gbit)
{
    assert_in_range(i, 0, layout->nswitches - 1);
    const struct strag_switch *got = &layout->switches[i];
    if (name)
        assert_string_equal(got->name, name);
    else
        assert_null(got->name);
    assert_int_equal(got->parent, parent);
    assert_float_equal(got->uplink, gbit * 1e9 / 8, 1);
}

static void expect_host(const struct strag_layout *layout, int i, const char *name, int at)
{
    assert_in_range(i, 0, layout->nhosts - 1);
    assert_string_equal(layout->hosts[i].name, name);
    assert_int_equal(layout->hosts[i].at, at);
}

/* "8x8 torus": sizes, then whether it wraps. */
static void expect_grid(const struct strag_layout *layout, enum strag_network network, int dims,
                        const int *size, bool wrap)
{
    assert_int_equal(layout->network, network);
    assert_int_equal(layout->grid.network, network);
    assert_int_equal(layout->nswitches, 0);
    assert_int_equal(layout->grid.dims, dims);
    for (int d = 0; d < dims; d++) {
        assert_int_equal(layout->grid.size[d], size[d]);
        assert_int_equal(layout->grid.wrap[d], wrap);
    }
}

/* ---- topology.conf ---- */

static void conf_tree(void **state)
{
    (void)state;
    struct strag_layout *layout =
        parsed(strag_layout_parse_conf, "# the cluster\n"
                                        "SWITCHNAME=s0 nodes=n[08-10],login LinkSpeed=100 # old\n"
                                        "\n"
                                        "SwitchName = top \\\n"
                                        "    Switches=\"s[0-1]\"  LinkSpeed=5\r\n"
                                        "switchname=s1 Nodes=m7 linkspeed=0\n"
                                        "SwitchName=empty");
    assert_int_equal(layout->network, STRAG_NETWORK_TREE);
    assert_int_equal(layout->nswitches, 5);
    expect_switch(layout, 0, NULL, -1, 0); /* joins top and empty */
    expect_switch(layout, 1, "top", 0, 5);
    expect_switch(layout, 2, "empty", 0, 0);
    expect_switch(layout, 3, "s0", 1, 100);
    expect_switch(layout, 4, "s1", 1, 0);
    assert_int_equal(layout->nhosts, 5);
    expect_host(layout, 0, "n08", 3);
    expect_host(layout, 1, "n09", 3);
    expect_host(layout, 2, "n10", 3);
    expect_host(layout, 3, "login", 3);
    expect_host(layout, 4, "m7", 4);
    strag_layout_free(layout);
}

static void conf_one_root(void **state)
{
    (void)state;
    /* The root's own LinkSpeed leads nowhere. */
    struct strag_layout *layout =
        parsed(strag_layout_parse_conf, "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n"
                                        "SwitchName=r Switches=b,a LinkSpeed=10\n");
    assert_int_equal(layout->nswitches, 3);
    expect_switch(layout, 0, "r", -1, 0);
    expect_switch(layout, 1, "a", 0, 0);
    expect_switch(layout, 2, "b", 0, 0);
    strag_layout_free(layout);
}

static void conf_blocks(void **state)
{
    (void)state;
    struct strag_layout *layout =
        parsed(strag_layout_parse_conf, "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\n"
                                        "BlockSizes=2,4\n");
    assert_int_equal(layout->nswitches, 3);
    expect_switch(layout, 0, NULL, -1, 0);
    expect_switch(layout, 2, "b2", 0, 0);
    assert_int_equal(layout->nhosts, 4);
    expect_host(layout, 3, "n4", 2);
    strag_layout_free(layout);
}

static void conf_rings(void **state)
{
    (void)state;
    struct strag_layout *layout = parsed(strag_layout_parse_conf, "RingName=r Nodes=n[3-1000]");
    expect_grid(layout, STRAG_NETWORK_TORUS, 1, (int[]){998}, true);
    expect_host(layout, 997, "n1000", 997);
    strag_layout_free(layout);

    layout = parsed(strag_layout_parse_conf, "RingName=r Nodes=a[1-2]\nRingName=s Nodes=b1\n");
    assert_int_equal(layout->network, STRAG_NETWORK_TREE);
    assert_int_equal(layout->nswitches, 3);
    expect_host(layout, 2, "b1", 2);
    strag_layout_free(layout);
}

/* 100 000 hosts on 1000 switches, and as many levels: neither time nor stack is quadratic. */
static void conf_large(void **state)
{
    (void)state;
    enum { SWITCHES = 1000, EACH = 100, LINE = 80 };
    char *text = calloc(2 * SWITCHES, LINE);
    assert_non_null(text);
    size_t used = 0;
    for (int i = 0; i < SWITCHES; i++)
        used += (size_t)snprintf(text + used, LINE, "SwitchName=leaf%d Nodes=n[%d-%d]\n", i,
                                 i * EACH, i * EACH + EACH - 1);
    for (int i = 0; i < SWITCHES; i++)
        used += (size_t)snprintf(text + used, LINE, "SwitchName=up%d Switches=leaf%d%s%d\n", i, i,
                                 i ? ",up" : ",leaf", i ? i - 1 : SWITCHES);
    text[used] = '\0';
    snprintf(text + used, LINE, "SwitchName=leaf%d\n", SWITCHES);
    struct strag_layout *layout = parsed_by(strag_layout_parse_conf, text);
    assert_int_equal(layout->nhosts, SWITCHES * EACH);
    assert_int_equal(layout->nswitches, 2 * SWITCHES + 1);
    expect_switch(layout, 0, "up999", -1, 0);
    int depth = 0;
    for (int i = layout->nswitches - 1; i > 0; i = layout->switches[i].parent)
        depth++;
    assert_int_equal(depth, SWITCHES);
    strag_layout_free(layout);
    free(text);
}

/* ---- topology.yaml ---- */

static void yaml_tree(void **state)
{
    (void)state;
    struct strag_layout *layout = parsed(strag_layout_parse_yaml, "---\n"
                                                                  "- topology: first\n"
                                                                  "  flat: true\n"
                                                                  "- topology: second\n"
                                                                  "  cluster_default: TRUE\n"
                                                                  "  flat: false\n"
                                                                  "  tree:\n"
                                                                  "    switches:\n"
                                                                  "      - switch: root\n"
                                                                  "        children: s[1-2]\n"
                                                                  "      - switch: s1\n"
                                                                  "        nodes: n[01-02]\n"
                                                                  "        gbit: 0.5\n"
                                                                  "      - switch: s2\n"
                                                                  "        nodes: n[03-04]\n"
                                                                  "- topology: third\n"
                                                                  "  cluster_default: true\n"
                                                                  "  flat: {}\n");
    assert_int_equal(layout->network, STRAG_NETWORK_TREE);
    assert_int_equal(layout->nswitches, 3);
    expect_switch(layout, 0, "root", -1, 0);
    expect_switch(layout, 1, "s1", 0, 0.5);
    expect_switch(layout, 2, "s2", 0, 0);
    assert_int_equal(layout->nhosts, 4);
    expect_host(layout, 2, "n03", 2);
    strag_layout_free(layout);
}

static void yaml_first(void **state)
{
    (void)state;
    struct strag_layout *layout =
        parsed(strag_layout_parse_yaml, "[{topology: a, block: {block_sizes: [1, 2], blocks: "
                                        "[{block: b, nodes: n1, gbit: 8}]}},\n"
                                        "{topology: b, flat: {alpha_step_rank: yes}}]\n");
    assert_int_equal(layout->nswitches, 1);
    expect_switch(layout, 0, "b", -1, 0);
    expect_host(layout, 0, "n1", 0);
    strag_layout_free(layout);

    layout = parsed(strag_layout_parse_yaml, "- {topology: a, flat: on}");
    assert_int_equal(layout->nswitches, 1);
    assert_int_equal(layout->nhosts, 0);
    assert_true(strag_layout_is_flat(layout));
    strag_layout_free(layout);
}

static void yaml_torus(void **state)
{
    (void)state;
    struct strag_layout *layout =
        parsed(strag_layout_parse_yaml, "- topology: t\n  torus3d:\n    toruses:\n"
                                        "    - name: pod\n      dims: {x: 4, y: 3, z: 2}\n"
                                        "      nodes: n[01-24]\n"
                                        "      placements: [{dims: {x: 2, y: 1, z: 1}}]\n");
    expect_grid(layout, STRAG_NETWORK_TORUS, 3, (int[]){4, 3, 2}, true);
    assert_int_equal(layout->nhosts, 24);
    for (int i = 0; i < 24; i++)
        assert_int_equal(layout->hosts[i].at, i);
    strag_layout_free(layout);
}

static void yaml_regions(void **state)
{
    (void)state;
    struct strag_layout *layout =
        parsed(strag_layout_parse_yaml, "- topology: t\n  torus3d:\n    toruses:\n"
                                        "    - name: pod\n      dims: {x: 4, y: 4, z: 2}\n"
                                        "      regions:\n"
                                        "      - anchor: {x: 2, y: 1, z: 1}\n"
                                        "        dims: {x: 2, y: 2, z: 1}\n"
                                        "        nodes: a[1-4]\n"
                                        "      - dims: {x: 1, y: 1, z: 2}\n"
                                        "        nodes: b[1-2]\n");
    expect_grid(layout, STRAG_NETWORK_TORUS, 3, (int[]){4, 4, 2}, true);
    assert_int_equal(layout->nhosts, 6);
    expect_host(layout, 0, "a1", 2 + 4 * (1 + 4));
    expect_host(layout, 1, "a2", 3 + 4 * (1 + 4));
    expect_host(layout, 2, "a3", 2 + 4 * (2 + 4));
    expect_host(layout, 3, "a4", 3 + 4 * (2 + 4));
    expect_host(layout, 4, "b1", 0);
    expect_host(layout, 5, "b2", 16);
    strag_layout_free(layout);
}

static void yaml_several(void **state)
{
    (void)state;
    struct strag_layout *layout = parsed(
        strag_layout_parse_yaml, "- topology: t\n  torus3d:\n    toruses:\n"
                                 "    - {name: p, dims: {x: 2, y: 1, z: 1}, nodes: \"a1,a2\"}\n"
                                 "    - {name: q, dims: {x: 1, y: 1, z: 1}, nodes: b1}\n");
    assert_int_equal(layout->network, STRAG_NETWORK_TREE);
    assert_int_equal(layout->nswitches, 3);
    expect_switch(layout, 1, "p", 0, 0);
    expect_host(layout, 1, "a2", 1);
    expect_host(layout, 2, "b1", 2);
    strag_layout_free(layout);

    layout = parsed(strag_layout_parse_yaml,
                    "- topology: t\n  ring:\n    rings:\n    - ring: r\n      nodes: n[1-5]\n");
    expect_grid(layout, STRAG_NETWORK_TORUS, 1, (int[]){5}, true);
    strag_layout_free(layout);
}

/* ---- Coordinates ---- */

static void coordinates_of_hosts(void **state)
{
    (void)state;
    struct strag_layout *layout =
        parsed(strag_layout_parse_coordinates, "\xef\xbb\xbf# a torus\n torus 4x3 # wraps\n"
                                               "a: 3 2\nb:\t0  1\r\nrack:7 : 1 0\n");
    expect_grid(layout, STRAG_NETWORK_TORUS, 2, (int[]){4, 3}, true);
    assert_int_equal(layout->nhosts, 3);
    expect_host(layout, 0, "a", 11);
    expect_host(layout, 1, "b", 4);
    expect_host(layout, 2, "rack:7", 1);
    assert_int_equal(layout->nranks, 0);
    assert_null(layout->rank_host);
    strag_layout_free(layout);

    layout = parsed(strag_layout_parse_coordinates, "mesh 4\na: 3\n");
    expect_grid(layout, STRAG_NETWORK_TORUS, 1, (int[]){4}, false);
    strag_layout_free(layout);
    layout = parsed(strag_layout_parse_coordinates, "hyperx 4x4\na: 3 1\n");
    expect_grid(layout, STRAG_NETWORK_HYPERX, 2, (int[]){4, 4}, false);
    strag_layout_free(layout);
    layout = parsed(strag_layout_parse_coordinates, "hammingmesh 2x3:4x5\na: 7 14\n");
    expect_grid(layout, STRAG_NETWORK_HAMMINGMESH, 2, (int[]){8, 15}, false);
    assert_int_equal(layout->grid.board[0], 2);
    assert_int_equal(layout->grid.board[1], 3);
    expect_host(layout, 0, "a", 7 + 8 * 14);
    strag_layout_free(layout);
}

static void coordinates_alone(void **state)
{
    (void)state;
    struct strag_layout *layout =
        parsed(strag_layout_parse_coordinates, "a: 5 1 7\nb: 3 1 9\nc: 4 1 8\n");
    expect_grid(layout, STRAG_NETWORK_TORUS, 3, (int[]){3, 1, 3}, false);
    expect_host(layout, 0, "a", 2);
    expect_host(layout, 1, "b", 6);
    expect_host(layout, 2, "c", 4);
    strag_layout_free(layout);
}

static void coordinates_of_ranks(void **state)
{
    (void)state;
    struct strag_layout *layout = parsed(strag_layout_parse_coordinates,
                                         "torus 2x2\n3: 1 1\n0: 0 1\n2: 0 1\n1: 1 1\n4: 0 0\n");
    expect_grid(layout, STRAG_NETWORK_TORUS, 2, (int[]){2, 2}, true);
    assert_int_equal(layout->nhosts, 3);
    expect_host(layout, 0, "(0,0)", 0);
    expect_host(layout, 1, "(0,1)", 2);
    expect_host(layout, 2, "(1,1)", 3);
    assert_int_equal(layout->hosts[0].ranks, 1);
    assert_int_equal(layout->hosts[1].ranks, 2);
    assert_int_equal(layout->nranks, 5);
    static const int expected[] = {1, 2, 1, 2, 0};
    assert_memory_equal(layout->rank_host, expected, sizeof expected);
    strag_layout_free(layout);

    /* Coordinates keep their numbers in names. */
    layout = parsed(strag_layout_parse_coordinates, "0: 10 20\n1: 11 20\n");
    expect_grid(layout, STRAG_NETWORK_TORUS, 2, (int[]){2, 1}, false);
    expect_host(layout, 1, "(11,20)", 1);
    strag_layout_free(layout);
}

/* ---- Options ---- */

static void dims(void **state)
{
    (void)state;
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    assert_int_equal(strag_layout_from_dims("8x1x4", STRAG_NETWORK_TORUS, true, &layout, &err),
                     STRAG_OK);
    expect_grid(layout, STRAG_NETWORK_TORUS, 3, (int[]){8, 1, 4}, true);
    assert_int_equal(layout->nhosts, 32);
    expect_host(layout, 0, "(0,0,0)", 0);
    expect_host(layout, 7, "(7,0,0)", 7);
    expect_host(layout, 8, "(0,0,1)", 8);
    expect_host(layout, 31, "(7,0,3)", 31);
    strag_layout_free(layout);
    assert_int_equal(strag_layout_from_dims("5", STRAG_NETWORK_TORUS, false, &layout, &err),
                     STRAG_OK);
    expect_grid(layout, STRAG_NETWORK_TORUS, 1, (int[]){5}, false);
    strag_layout_free(layout);
    assert_int_equal(strag_layout_from_dims("3x2", STRAG_NETWORK_HYPERX, true, &layout, &err),
                     STRAG_OK);
    expect_grid(layout, STRAG_NETWORK_HYPERX, 2, (int[]){3, 2}, false);
    strag_layout_free(layout);
    assert_int_equal(
        strag_layout_from_dims("2x2:16x8", STRAG_NETWORK_HAMMINGMESH, false, &layout, &err),
        STRAG_OK);
    expect_grid(layout, STRAG_NETWORK_HAMMINGMESH, 2, (int[]){32, 16}, false);
    assert_int_equal(layout->grid.board[0], 2);
    assert_int_equal(layout->grid.board[1], 2);
    assert_int_equal(layout->nhosts, 512);
    expect_host(layout, 511, "(31,15)", 511);
    strag_layout_free(layout);
}

static struct strag_layout *tree_of(const char *text)
{
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    if (strag_layout_from_tree(text, &layout, &err) != STRAG_OK)
        fail_msg("%s: %s", text, err.text);
    return layout;
}

static void trees(void **state)
{
    (void)state;
    struct strag_layout *layout = tree_of("2,3");
    assert_int_equal(layout->nswitches, 1);
    assert_int_equal(layout->nhosts, 2);
    expect_host(layout, 1, "1", 0);
    assert_int_equal(layout->hosts[0].ranks, 2);
    assert_int_equal(layout->hosts[1].ranks, 3);
    strag_layout_free(layout);

    layout = tree_of("((2@50,3),4@1e2)@400,(5)@25");
    assert_int_equal(layout->nswitches, 4);
    expect_switch(layout, 0, NULL, -1, 0);
    expect_switch(layout, 1, NULL, 0, 400);
    expect_switch(layout, 2, NULL, 0, 25);
    expect_switch(layout, 3, NULL, 1, 0);
    expect_host(layout, 0, "0", 3);
    expect_host(layout, 1, "1", 3);
    expect_host(layout, 2, "2", 1);
    expect_host(layout, 3, "3", 2);
    assert_float_equal(layout->hosts[0].uplink, 6.25e9, 1);
    assert_float_equal(layout->hosts[1].uplink, 0, 0);
    assert_float_equal(layout->hosts[2].uplink, 12.5e9, 1);
    strag_layout_free(layout);

    layout = tree_of("((2,3),(4))"); /* the outer bracket is the root */
    assert_int_equal(layout->nswitches, 3);
    expect_host(layout, 2, "2", 2);
    strag_layout_free(layout);

    enum { DEPTH = 100000 };
    char *deep = malloc(2 * DEPTH + 2);
    assert_non_null(deep);
    for (int i = 0; i < DEPTH; i++) {
        deep[i] = '(';
        deep[DEPTH + 1 + i] = ')';
    }
    deep[DEPTH] = '1';
    deep[2 * DEPTH + 1] = '\0';
    layout = tree_of(deep);
    assert_int_equal(layout->nswitches, DEPTH);
    expect_host(layout, 0, "0", DEPTH - 1);
    strag_layout_free(layout);
    free(deep);
}

static void hosts(void **state)
{
    (void)state;
    static const char *const expected[] = {"n08",     "n09",     "n10",     "n020",   "login",
                                           "r1n7-ib", "r1n9-ib", "r2n7-ib", "r2n9-ib"};
    struct strag_error err = {""};
    char **names = NULL;
    int count = 0;
    assert_int_equal(strag_hosts_expand("n[08-10,020],login,r[1-2]n[7,9]-ib", &names, &count, &err),
                     STRAG_OK);
    assert_int_equal(count, 9);
    for (int i = 0; i < count; i++) {
        assert_string_equal(names[i], expected[i]);
        free(names[i]);
    }
    free(names);

    assert_int_equal(strag_hosts_expand("[0-1048575]", &names, &count, &err), STRAG_OK);
    assert_int_equal(count, 1 << 20);
    assert_string_equal(names[1048575], "1048575");
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static struct strag_layout *by_names(const char *layout, const char *const *hosts, int count)
{
    struct strag_layout *made = NULL;
    struct strag_error err = {""};
    if (strag_layout_from_names(strag_names_pattern(layout), hosts, count, &made, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return made;
}

static void names(void **state)
{
    (void)state;
    static const char *const racks[] = {"i02r13n07", "i02r13n8.site", "i1r13n07", "i02r5n1"};
    struct strag_layout *layout = by_names("names:i{island}r{rack}n{node}", racks, 4);
    assert_int_equal(layout->nswitches, 6); /* with the root; a host is no group */
    expect_switch(layout, 1, "i02", 0, 0);
    expect_switch(layout, 3, "i02r13", 1, 0);
    expect_switch(layout, 4, "i1r13", 2, 0);
    expect_host(layout, 0, "i02r13n07", 3);
    expect_host(layout, 1, "i02r13n8.site", 3);
    expect_host(layout, 3, "i02r5n1", 5);
    strag_layout_free(layout);

    static const char *const digits[] = {"n1201-ib", "n1202-ib", "n1301-ib"};
    layout = by_names("names:n{hall:1}{rack:1}{:2}-ib", digits, 3);
    assert_int_equal(layout->nswitches, 3);
    expect_switch(layout, 0, "n1", -1, 0);
    expect_switch(layout, 1, "n12", 0, 0);
    expect_host(layout, 2, "n1301-ib", 2);
    strag_layout_free(layout);

    static const char *const slingshot[] = {"x1000c0s0b0n0", "x1000c0s7b1n0", "x1000c3s0b0n0",
                                            "x1203c3s0b0n1"};
    layout = by_names("names:xname", slingshot, 4);
    assert_int_equal(layout->nswitches, 6);
    expect_switch(layout, 1, "x1000", 0, 0);
    expect_host(layout, 1, "x1000c0s7b1n0", 3);
    strag_layout_free(layout);

    layout = by_names("a file", racks, 4); /* no pattern */
    assert_int_equal(layout->nswitches, 1);
    expect_host(layout, 1, "i02r13n8.site", 0);
    strag_layout_free(layout);

    assert_null(strag_names_pattern("name.conf"));
    char *address = NULL;
    struct strag_error err;
    assert_int_equal(strag_names_address(strag_names_pattern("names:xname"), "x1000c3s0b1n0",
                                         "nid001234", &address, &err),
                     STRAG_OK);
    assert_string_equal(address, "x1000.x1000c3.nid001234");
    free(address);
}

static void addresses(void **state)
{
    (void)state;
    /* Slurm leaves a level without switch empty, and joins the names of parallel switches. */
    static const struct strag_address tree[] = {
        {"n1", "s0.s1.n1"}, {"n2.example.org", "s0.s2.n2"}, {"n3.a", "s0..n3.a"},
        {"n4", "s0.s2.n4"}, {"n5", "s[7-8].s3.n5"},         {"n6", "n6"},
    };
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    if (strag_layout_from_addresses(tree, 6, &layout, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(layout->nswitches, 6);
    expect_switch(layout, 0, NULL, -1, 0);
    expect_switch(layout, 1, "s0", 0, 0);
    expect_switch(layout, 2, "s[7-8]", 0, 0);
    expect_switch(layout, 3, "s1", 1, 0);
    expect_switch(layout, 4, "s2", 1, 0);
    expect_switch(layout, 5, "s3", 2, 0);
    static const int at[] = {3, 4, 1, 4, 5, 0};
    for (int i = 0; i < 6; i++)
        expect_host(layout, i, tree[i].host, at[i]);
    strag_layout_free(layout);

    static const struct strag_address grid[] = {
        {"n1", "pod1:1:0:2.n1"}, {"n2.x", "pod1:3:0:3.n2"}, {"n3", "pod1:2:0:2"}};
    assert_int_equal(strag_layout_from_addresses(grid, 3, &layout, &err), STRAG_OK);
    expect_grid(layout, STRAG_NETWORK_TORUS, 3, (int[]){3, 1, 2}, false);
    expect_host(layout, 0, "n1", 0);
    expect_host(layout, 1, "n2.x", 5);
    expect_host(layout, 2, "n3", 1);
    strag_layout_free(layout);
}

/* ---- Files ---- */

static void examples(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        enum strag_network network;
        int hosts, switches, ranks, size[3];
    } expected[] = {
        {"fat-tree.conf", STRAG_NETWORK_TREE, 64, 11, 0, {0}},
        {"oversubscribed.conf", STRAG_NETWORK_TREE, 16, 3, 0, {0}},
        {"block.conf", STRAG_NETWORK_TREE, 72, 5, 0, {0}},
        {"tree.yaml", STRAG_NETWORK_TREE, 32, 7, 0, {0}},
        {"block.yaml", STRAG_NETWORK_TREE, 16, 5, 0, {0}},
        {"torus3d.yaml", STRAG_NETWORK_TORUS, 32, 0, 0, {4, 4, 2}},
        {"torus.coordinates", STRAG_NETWORK_TORUS, 64, 0, 0, {8, 8}},
        {"ranks.coordinates", STRAG_NETWORK_TORUS, 8, 0, 16, {2, 2, 2}},
        {"hammingmesh.coordinates", STRAG_NETWORK_HAMMINGMESH, 12, 0, 0, {4, 4}},
        {"hyperx.coordinates", STRAG_NETWORK_HYPERX, 16, 0, 0, {4, 4}},
    };
    const char *top = getenv("srcdir");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct strag_error err = {""};
        struct strag_layout *layout = NULL;
        char file[4096];
        snprintf(file, sizeof file, "%s/examples/%s", top ? top : ".", expected[i].file);
        if (strag_layout_read(file, &layout, &err) != STRAG_OK)
            fail_msg("%s", err.text);
        assert_int_equal(layout->network, expected[i].network);
        assert_int_equal(layout->nhosts, expected[i].hosts);
        assert_int_equal(layout->nswitches, expected[i].switches);
        assert_int_equal(layout->nranks, expected[i].ranks);
        for (int d = 0; d < 3; d++)
            assert_int_equal(layout->grid.size[d], expected[i].size[d]);
        strag_layout_free(layout);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conf_tree),
        cmocka_unit_test(conf_one_root),
        cmocka_unit_test(conf_blocks),
        cmocka_unit_test(conf_rings),
        cmocka_unit_test(conf_large),
        cmocka_unit_test(yaml_tree),
        cmocka_unit_test(yaml_first),
        cmocka_unit_test(yaml_torus),
        cmocka_unit_test(yaml_regions),
        cmocka_unit_test(yaml_several),
        cmocka_unit_test(coordinates_of_hosts),
        cmocka_unit_test(coordinates_alone),
        cmocka_unit_test(coordinates_of_ranks),
        cmocka_unit_test(dims),
        cmocka_unit_test(trees),
        cmocka_unit_test(hosts),
        cmocka_unit_test(names),
        cmocka_unit_test(addresses),
        cmocka_unit_test(examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
