/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading layouts: what every format gives, value by value, and the examples. The refusals are in
 * test_layout_errors.c.
 */
#include "machine/layout.h"
#include "support.h"

#include <stdarg.h>

enum { LONGEST = 2000, SHOWN = 8 };

typedef int parse_function(const char *text, size_t length, const char *name,
                           struct strag_layout **layout, struct strag_error *err);

static void add(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char *text, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, LONGEST - used, format, args);
    va_end(args);
}

static void add_uplink(char *text, double uplink)
{
    if (uplink > 0)
        add(text, "@%g", uplink * 8 / 1e9);
}

/*
 * A layout as text. A tree has its switches, NAME<PARENT@GBIT ("-": no name), a grid its sizes,
 * each with a ~ if it wraps; then come the hosts, NAME=PLACE, with xRANKS and @GBIT; and the ranks'
 * hosts. Of many hosts the first two and the last one are shown.
 */
static void describe(const struct strag_layout *layout, char *text)
{
    static const char *const networks[] = {[STRAG_NETWORK_TREE] = "tree",
                                           [STRAG_NETWORK_TORUS] = "torus",
                                           [STRAG_NETWORK_HYPERX] = "hyperx",
                                           [STRAG_NETWORK_HAMMINGMESH] = "hammingmesh"};
    const struct strag_grid *grid = &layout->grid;
    snprintf(text, LONGEST, "%s", networks[layout->network]);
    for (int i = 0; i < layout->nswitches; i++) {
        const struct strag_switch *at = &layout->switches[i];
        add(text, " %s", at->name ? at->name : "-");
        if (at->parent >= 0)
            add(text, "<%d", at->parent);
        add_uplink(text, at->uplink);
    }
    for (int d = 0; layout->network != STRAG_NETWORK_TREE && d < grid->dims; d++)
        add(text, "%s%d%s", d ? "x" : " ", grid->size[d], grid->wrap[d] ? "~" : "");
    if (layout->network == STRAG_NETWORK_HAMMINGMESH)
        add(text, " of %dx%d", grid->board[0], grid->board[1]);
    add(text, " |");
    for (int i = 0; i < layout->nhosts; i++) {
        const struct strag_host *host = &layout->hosts[i];
        if (layout->nhosts > SHOWN && i == 2) {
            add(text, " .. of %d", layout->nhosts);
            i = layout->nhosts - 1;
            host = &layout->hosts[i];
        }
        add(text, " %s=%d", host->name, host->at);
        if (host->ranks > 0)
            add(text, "x%d", host->ranks);
        add_uplink(text, host->uplink);
    }
    for (int r = 0; r < layout->nranks; r++)
        add(text, "%s%d", r ? "," : " | ", layout->rank_host[r]);
}

/* The layout is this one; it is freed. */
static void expect(struct strag_layout *layout, const char *expected)
{
    char text[LONGEST];
    describe(layout, text);
    assert_string_equal(text, expected);
    strag_layout_free(layout);
}

static struct strag_layout *parsed_by(parse_function *parse, const char *text)
{
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    if (parse(text, strlen(text), "FILE", &layout, &err) != STRAG_OK)
        fail_msg("%s: %s", text, err.text);
    assert_non_null(layout);
    return layout;
}

/* ---- Files ---- */

static const struct {
    parse_function *parse;
    const char *text, *expected;
} files[] = {
    /* The switch without a name joins top and empty. */
    {strag_layout_parse_conf,
     "# the cluster\nSWITCHNAME=s0 nodes=n[08-10],login LinkSpeed=100 # old\n\n"
     "SwitchName = top \\\n    Switches=\"s[0-1]\"  LinkSpeed=5\r\n"
     "switchname=s1 Nodes=m7 linkspeed=0\nSwitchName=empty",
     "tree - top<0@5 empty<0 s0<1@100 s1<1 | n08=3 n09=3 n10=3 login=3 m7=4"},
    /* The root's own LinkSpeed joins its children pair by pair. */
    {strag_layout_parse_conf,
     "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=r Switches=b,a LinkSpeed=10\n",
     "tree r@10 a<0 b<0 | n1=1 n2=2"},
    {strag_layout_parse_conf,
     "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n",
     "tree - b1<0 b2<0 | n1=1 n2=1 n3=2 n4=2"},
    {strag_layout_parse_conf, "RingName=r Nodes=n[3-1000]",
     "torus 998~ | n3=0 n4=1 .. of 998 n1000=997"},
    {strag_layout_parse_conf, "RingName=r Nodes=a[1-2]\nRingName=s Nodes=b1\n",
     "tree - r<0 s<0 | a1=1 a2=1 b1=2"},
    {strag_layout_parse_yaml,
     "---\n- topology: first\n  flat: true\n- topology: second\n  cluster_default: TRUE\n"
     "  flat: false\n  tree:\n    switches:\n      - switch: root\n        children: s[1-2]\n"
     "      - switch: s1\n        nodes: n[01-02]\n        gbit: 0.5\n"
     "      - switch: s2\n        nodes: n[03-04]\n"
     "- topology: third\n  cluster_default: true\n  flat: {}\n",
     "tree root s1<0@0.5 s2<0 | n01=1 n02=1 n03=2 n04=2"},
    {strag_layout_parse_yaml,
     "[{topology: a, block: {block_sizes: [1, 2], blocks: [{block: b, nodes: n1, gbit: 8}]}},\n"
     "{topology: b, flat: {alpha_step_rank: yes}}]\n",
     "tree b | n1=0"},
    {strag_layout_parse_yaml, "- {topology: a, flat: on}", "tree - |"},
    {strag_layout_parse_yaml,
     "- topology: t\n  torus3d:\n    toruses:\n"
     "    - name: pod\n      dims: {x: 4, y: 3, z: 2}\n      nodes: n[01-24]\n"
     "      placements: [{dims: {x: 2, y: 1, z: 1}}]\n",
     "torus 4~x3~x2~ | n01=0 n02=1 .. of 24 n24=23"},
    {strag_layout_parse_yaml,
     "- topology: t\n  torus3d:\n    toruses:\n"
     "    - name: pod\n      dims: {x: 4, y: 4, z: 2}\n      regions:\n"
     "      - anchor: {x: 2, y: 1, z: 1}\n        dims: {x: 2, y: 2, z: 1}\n        nodes: "
     "a[1-4]\n"
     "      - dims: {x: 1, y: 1, z: 2}\n        nodes: b[1-2]\n",
     "torus 4~x4~x2~ | a1=22 a2=23 a3=26 a4=27 b1=0 b2=16"},
    {strag_layout_parse_yaml,
     "- topology: t\n  torus3d:\n    toruses:\n"
     "    - {name: p, dims: {x: 2, y: 1, z: 1}, nodes: \"a1,a2\"}\n"
     "    - {name: q, dims: {x: 1, y: 1, z: 1}, nodes: b1}\n",
     "tree - p<0 q<0 | a1=1 a2=1 b1=2"},
    {strag_layout_parse_yaml,
     "- topology: t\n  ring:\n    rings:\n    - ring: r\n      nodes: n[1-5]\n",
     "torus 5~ | n1=0 n2=1 n3=2 n4=3 n5=4"},
    {strag_layout_parse_coordinates,
     "\xef\xbb\xbf# a torus\n torus 4x3 # wraps\na: 3 2\nb:\t0  1\r\nrack:7 : 1 0\n",
     "torus 4~x3~ | a=11 b=4 rack:7=1"},
    {strag_layout_parse_coordinates, "mesh 4\na: 3\n", "torus 4 | a=3"},
    {strag_layout_parse_coordinates, "hyperx 4x4\na: 3 1\n", "hyperx 4x4 | a=7"},
    {strag_layout_parse_coordinates, "hammingmesh 2x3:4x5\na: 7 14\n",
     "hammingmesh 8x15 of 2x3 | a=119"},
    {strag_layout_parse_coordinates, "a: 5 1 7\nb: 3 1 9\nc: 4 1 8\n", "torus 3x1x3 | a=2 b=6 c=4"},
    {strag_layout_parse_coordinates, "torus 2x2\n3: 1 1\n0: 0 1\n2: 0 1\n1: 1 1\n4: 0 0\n",
     "torus 2~x2~ | (0,0)=0x1 (0,1)=2x2 (1,1)=3x2 | 1,2,1,2,0"},
    /* Coordinates keep their numbers in names. */
    {strag_layout_parse_coordinates, "0: 10 20\n1: 11 20\n",
     "torus 2x1 | (10,20)=0x1 (11,20)=1x1 | 0,1"},
};

/* Each by its own reader and by the one that finds out what it is. */
TEST(texts)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        expect(parsed_by(files[i].parse, files[i].text), files[i].expected);
        expect(parsed_by(strag_layout_parse, files[i].text), files[i].expected);
    }
    struct strag_layout *flat = parsed_by(strag_layout_parse_yaml, "- {topology: a, flat: on}");
    assert_true(strag_layout_is_flat(flat));
    strag_layout_free(flat);
}

/* 100 000 hosts on 1000 switches, and as many levels: neither time nor stack is quadratic. */
TEST(conf_large)
{
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
    assert_string_equal(layout->switches[0].name, "up999");
    int depth = 0;
    for (int i = layout->nswitches - 1; i > 0; i = layout->switches[i].parent)
        depth++;
    assert_int_equal(depth, SWITCHES);
    strag_layout_free(layout);
    free(text);
}

/* ---- Options ---- */

TEST(dims)
{
    static const struct {
        const char *dims;
        enum strag_network network;
        bool wrap;
        const char *expected;
    } cases[] = {
        {"8x1x4", STRAG_NETWORK_TORUS, true,
         "torus 8~x1~x4~ | (0,0,0)=0 (1,0,0)=1 .. of 32 (7,0,3)=31"},
        {"5", STRAG_NETWORK_TORUS, false, "torus 5 | (0)=0 (1)=1 (2)=2 (3)=3 (4)=4"},
        {"3x2", STRAG_NETWORK_HYPERX, true,
         "hyperx 3x2 | (0,0)=0 (1,0)=1 (2,0)=2 (0,1)=3 (1,1)=4 (2,1)=5"},
        {"2x2:16x8", STRAG_NETWORK_HAMMINGMESH, false,
         "hammingmesh 32x16 of 2x2 | (0,0)=0 (1,0)=1 .. of 512 (31,15)=511"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strag_error err = {""};
        struct strag_layout *layout = NULL;
        if (strag_layout_from_dims(cases[i].dims, cases[i].network, cases[i].wrap, &layout, &err) !=
            STRAG_OK)
            fail_msg("%s", err.text);
        expect(layout, cases[i].expected);
    }
}

static struct strag_layout *tree_of(const char *text)
{
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    if (strag_layout_from_tree(text, &layout, &err) != STRAG_OK)
        fail_msg("%s: %s", text, err.text);
    return layout;
}

TEST(trees)
{
    expect(tree_of("2,3"), "tree - | 0=0x2 1=0x3");
    expect(tree_of("((2@50,3),4@1e2)@400,(5)@25"),
           "tree - -<0@400 -<0@25 -<1 | 0=3x2@50 1=3x3 2=1x4@100 3=2x5");
    /* The outer bracket is the root. */
    expect(tree_of("((2,3),(4))"), "tree - -<0 -<0 | 0=1x2 1=1x3 2=2x4");
    expect(tree_of("((2,3)@5,(4))@50"), "tree -@50 -<0@5 -<0 | 0=1x2 1=1x3 2=2x4");

    enum { DEPTH = 100000 };
    char *deep = malloc(2 * DEPTH + 2);
    assert_non_null(deep);
    for (int i = 0; i < DEPTH; i++) {
        deep[i] = '(';
        deep[DEPTH + 1 + i] = ')';
    }
    deep[DEPTH] = '1';
    deep[2 * DEPTH + 1] = '\0';
    struct strag_layout *layout = tree_of(deep);
    assert_int_equal(layout->nswitches, DEPTH);
    assert_int_equal(layout->hosts[0].at, DEPTH - 1);
    strag_layout_free(layout);
    free(deep);
}

TEST(hosts)
{
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

static void expect_names(const char *pattern, const char *const *hosts, int count,
                         const char *expected)
{
    struct strag_layout *layout = NULL;
    struct strag_error err = {""};
    if (strag_layout_from_names(strag_names_pattern(pattern), hosts, count, &layout, &err) !=
        STRAG_OK)
        fail_msg("%s", err.text);
    expect(layout, expected);
}

TEST(names)
{
    static const char *const racks[] = {"i02r13n07", "i02r13n8.site", "i1r13n07", "i02r5n1"};
    static const char *const digits[] = {"n1201-ib", "n1202-ib", "n1301-ib"};
    static const char *const slingshot[] = {"x1000c0s0b0n0", "x1000c0s7b1n0", "x1000c3s0b0n0",
                                            "x1203c3s0b0n1"};
    expect_names("names:i{island}r{rack}n{node}", racks, 4, /* a host is no group */
                 "tree - i02<0 i1<0 i02r13<1 i1r13<2 i02r5<1 | i02r13n07=3 i02r13n8.site=3 "
                 "i1r13n07=4 i02r5n1=5");
    expect_names("names:n{hall:1}{rack:1}{:2}-ib", digits, 3,
                 "tree n1 n12<0 n13<0 | n1201-ib=1 n1202-ib=1 n1301-ib=2");
    expect_names("names:xname", slingshot, 4,
                 "tree - x1000<0 x1203<0 x1000c0<1 x1000c3<1 x1203c3<2 | x1000c0s0b0n0=3 "
                 "x1000c0s7b1n0=3 x1000c3s0b0n0=4 x1203c3s0b0n1=5");
    expect_names("a file", racks, 4, /* no pattern */
                 "tree - | i02r13n07=0 i02r13n8.site=0 i1r13n07=0 i02r5n1=0");

    assert_null(strag_names_pattern("name.conf"));
    char *address = NULL;
    struct strag_error err;
    assert_int_equal(strag_names_address(strag_names_pattern("names:xname"), "x1000c3s0b1n0",
                                         "nid001234", &address, &err),
                     STRAG_OK);
    assert_string_equal(address, "x1000.x1000c3.nid001234");
    free(address);
}

TEST(addresses)
{
    /* Slurm leaves a level without switch empty, and joins the names of parallel switches. */
    static const struct strag_address tree[] = {
        {"n1", "s0.s1.n1"}, {"n2.example.org", "s0.s2.n2"}, {"n3.a", "s0..n3.a"},
        {"n4", "s0.s2.n4"}, {"n5", "s[7-8].s3.n5"},         {"n6", "n6"},
    };
    static const struct strag_address grid[] = {
        {"n1", "pod1:1:0:2.n1"}, {"n2.x", "pod1:3:0:3.n2"}, {"n3", "pod1:2:0:2"}};
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    if (strag_layout_from_addresses(tree, 6, &layout, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    expect(layout,
           "tree - s0<0 s[7-8]<0 s1<1 s2<1 s3<2 | n1=3 n2.example.org=4 n3.a=1 n4=4 n5=5 n6=0");
    assert_int_equal(strag_layout_from_addresses(grid, 3, &layout, &err), STRAG_OK);
    expect(layout, "torus 3x1x2 | n1=0 n2.x=5 n3=1");
}

/* ---- The examples ---- */

TEST(examples)
{
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
