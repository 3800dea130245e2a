/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What readers of layouts refuse, message by message; and every allocation that fails once.
 */
#include "exhaust.h"
#include "memory.h"

#include "machine/layout.h"
#include "support.h"

typedef int parse_function(const char *text, size_t length, const char *name,
                           struct strag_layout **layout, struct strag_error *err);

struct refusal {
    const char *text, *message;
};

static void refuse(parse_function *parse, const char *text, size_t length, const char *message)
{
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    memory_watch(0);
    int status = parse(text, length, "FILE", &layout, &err);
    struct memory_report report = memory_unwatch();
    if (status != STRAG_ERR_ARGUMENT || layout)
        fail_msg("%s: taken, or refused with status %d '%s'", text, status, err.text);
    if (strcmp(err.text, message) != 0)
        fail_msg("%s: '%s' instead of '%s'", text, err.text, message);
    assert_int_equal(report.live, 0);
    assert_int_equal(parse(text, length, "FILE", &layout, NULL), STRAG_ERR_ARGUMENT);
}

static void refuse_all(parse_function *parse, const struct refusal *refusals, size_t count)
{
    for (size_t i = 0; i < count; i++)
        refuse(parse, refusals[i].text, strlen(refusals[i].text), refusals[i].message);
}

#define REFUSE_ALL(parse, list) refuse_all(parse, list, sizeof(list) / sizeof *(list))

/* ---- Files ---- */

TEST(any_file)
{
    static const char nul[] = "a: 1\nb\0: 2\n";
    parse_function *const parsers[] = {strag_layout_parse, strag_layout_parse_conf,
                                       strag_layout_parse_yaml, strag_layout_parse_coordinates};
    for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++) {
        refuse(parsers[i], nul, sizeof nul - 1, "FILE:2: a NUL byte; a layout file is text");
        static const struct refusal refusals[] = {
            {"\n\n\xff: 1\n", "FILE:3: byte 0xff is not UTF-8 text"},
            {"\xc0\x80", "FILE:1: byte 0xc0 is not UTF-8 text"},     /* longer than needed */
            {"\xed\xa0\x80", "FILE:1: byte 0xed is not UTF-8 text"}, /* a surrogate */
            {"\xf4\x90\x80\x80", "FILE:1: byte 0xf4 is not UTF-8 text"},
            {"\xe2\x82", "FILE:1: byte 0xe2 is not UTF-8 text"}, /* cut off */
        };
        REFUSE_ALL(parsers[i], refusals);
    }
    static const struct refusal empty[] = {
        {"", "FILE:1: nothing is described; a topology.yaml, a topology.conf or a coordinates file "
             "(NAME: a b c) is needed"},
        {" \n# only this\n", "FILE:2: nothing is described; a topology.yaml, a topology.conf or a "
                             "coordinates file (NAME: a b c) is needed"},
        {"hello\n", "FILE:1: 'hello' where NAME: a b c is needed, with 1 to 8 coordinates"},
    };
    REFUSE_ALL(strag_layout_parse, empty);
}

TEST(unreadable_files)
{
    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    assert_int_equal(strag_layout_read("/nonexistent/file", &layout, &err), STRAG_ERR_IO);
    assert_string_equal(err.text, "/nonexistent/file: cannot be opened: No such file or directory");
    assert_int_equal(strag_layout_read("/", &layout, &err), STRAG_ERR_IO);
    assert_string_equal(err.text, "/: cannot be read: Is a directory");
    assert_null(layout);
    /* A long name leaves room for the rest of the message. */
    char name[500], text[] = "a b";
    for (size_t i = 0; i < sizeof name - 1; i++)
        name[i] = i % 10 ? 'd' : '/';
    name[sizeof name - 1] = '\0';
    assert_int_equal(strag_layout_parse(text, strlen(text), name, &layout, &err),
                     STRAG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, ":1: 'a b' where NAME: a b c is needed"));
}

TEST(conf)
{
    static const struct refusal refusals[] = {
        {"# x\n\n", "FILE:2: nothing is described; lines like SwitchName=s1 Nodes=n[1-4] are "
                    "needed"},
        {"SwitchName=a Nodes=n1\nSwitchName=b Node=n2\n",
         "FILE:2: the key Node is not known; SwitchName, Switches, Nodes, LinkSpeed, BlockName, "
         "BlockSizes and RingName are"},
        {"SwitchName=a \\\n x\n",
         "FILE:1: 'x' where KEY=VALUE is needed, like SwitchName=s1 Nodes=n[1-4]"},
        {"SwitchName=a nodes=n1 Nodes=n2\n", "FILE:1: Nodes is given twice"},
        {"SwitchName=a Nodes=\n", "FILE:1: Nodes has no value"},
        {"SwitchName=\"a\n", "FILE:1: SwitchName has an opening quote only"},
        {"\nNodes=n1\n", "FILE:2: a line needs one of SwitchName, BlockName and RingName"},
        {"SwitchName=a BlockName=b\n",
         "FILE:1: a line needs one of SwitchName, BlockName and RingName"},
        {"SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n",
         "FILE:2: a block next to a switch; a file describes one kind"},
        {"BlockName=b Switches=a\n", "FILE:1: a block has no Switches; it has Nodes"},
        {"SwitchName=a Nodes=n1 Switches=b\n",
         "FILE:1: switch a has both child switches and nodes; one of them is accepted"},
        {"SwitchName=a Nodes=n1 LinkSpeed=fast\n",
         "FILE:1: 'fast' is not a bandwidth; Gbit/s from 1e-6 to 1e9"},
        {"SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n",
         "FILE:2: switch a is in line 1 already; it can be in one place only"},
        {"SwitchName=a Nodes=n[1-3]\nSwitchName=b Nodes=x,n2\n",
         "FILE:2: host n2 is in line 1 already; it can be in one place only"},
        {"SwitchName=a Nodes=n1,n1\n", "FILE:1: host n1 is named twice"},
        {"SwitchName=a Nodes=n1\nSwitchName=t Switches=a,b\n",
         "FILE:2: switch t has the child b, which no line describes"},
        {"SwitchName=a Nodes=n1\nSwitchName=t Switches=a,a\n", "FILE:2: switch a is named twice"},
        {"SwitchName=a Nodes=n1\nSwitchName=t Switches=a\nSwitchName=u Switches=a\n",
         "FILE:3: switch a is below t already (line 2); switches must form a tree, so name one of "
         "several parents only"},
        {"SwitchName=a Switches=a\n",
         "FILE:1: switch a is below itself; switches must form a tree"},
        {"SwitchName=r Nodes=n1\nSwitchName=a Switches=b\nSwitchName=b Switches=c,d\n"
         "SwitchName=c Switches=a\nSwitchName=d Nodes=n2\n",
         "FILE:2: switch a is below itself; switches must form a tree"},
        {"SwitchName=s[1-2] Nodes=n1\n",
         "FILE:1: 's[1-2]' is not a name; names have no blanks, commas, brackets, quotes or "
         "backslashes"},
        {"SwitchName=a Nodes=n[1-999999999]\n",
         "FILE:1: 'n[1-999999999]' makes a list of more than 1048576 names"},
        {"SwitchName=a Nodes=n[0-1048575]\nSwitchName=b Nodes=x\n",
         "FILE:2: more than 1048576 hosts"},
        {"BlockName=b Nodes=n1\nBlockSizes=4,x\n",
         "FILE:2: BlockSizes=4,x: numbers between commas are needed, like 4,8"},
        {"BlockName=b Nodes=n1\nBlockSizes=4,12\n",
         "FILE:2: block size 12: sizes ascend, each a power of two times the first, like 4,8,32"},
        {"BlockSizes=4,4\n",
         "FILE:1: block size 4: sizes ascend, each a power of two times the first, like 4,8,32"},
        {"BlockSizes=4\nBlockSizes=4\n", "FILE:2: BlockSizes is given twice"},
        {"BlockSizes=4 BlockName=b\n",
         "FILE:1: BlockName next to BlockSizes, which needs a line of its own"},
        {"RingName=r\n", "FILE:1: ring r has no nodes"},
    };
    REFUSE_ALL(strag_layout_parse_conf, refusals);
}

TEST(yaml)
{
    static const struct refusal refusals[] = {
        {"# x\n", "FILE:2: nothing is described"},
        {"[]\n", "FILE:1: no topology is described"},
        {"topology: a\n", "FILE:1: a list of topologies is needed here"},
        {"- topology: a\n  flat: true\n- b\n",
         "FILE:3: a topology is needed here: a mapping with the key topology"},
        {"- topology: a\n  shape: round\n",
         "FILE:2: a topology has no key 'shape'; it has topology, cluster_default, tree, block, "
         "ring, torus3d, flat"},
        {"- topology: a\n  flat: true\n  flat: true\n", "FILE:3: flat is given twice"},
        {"- {[a]: b}\n", "FILE:1: a key of a topology is not a word"},
        {"- topology: [a]\n", "FILE:1: topology: text is needed, not 'a list or a mapping'"},
        {"- topology: \"\"\n", "FILE:1: topology: text is needed, not ''"},
        {"- topology: \"a\\0b\"\n", "FILE:1: topology: text is needed, not 'a list or a mapping'"},
        {"- topology: a\n  flat: maybe\n", "FILE:2: flat: true or false is needed, not 'maybe'"},
        {"- flat: true\n", "FILE:1: a topology without a name; the key topology gives it"},
        {"-\n  topology: a\n",
         "FILE:2: topology a needs exactly one of tree, block, ring, torus3d and flat"},
        {"- topology: a\n  flat: true\n  tree: {switches: [{switch: s}]}\n",
         "FILE:1: topology a needs exactly one of tree, block, ring, torus3d and flat"},
        {"- topology: a\n  tree: {}\n", "FILE:1: topology a is empty"},
        {"- topology: a\n  flat: true\n- topology: a\n  flat: true\n",
         "FILE:3: a second topology with the name a"},
        {"- topology: a\n  tree:\n    switches:\n    - nodes: n1\n",
         "FILE:4: a switch without a name; the key switch gives it"},
        {"- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: n1\n"
         "      children: t\n",
         "FILE:5: switch s has both child switches and nodes; one of them is accepted"},
        {"- topology: a\n  tree:\n    switches:\n    - switch: s\n      children: t\n",
         "FILE:5: switch s has the child t, which no line describes"},
        {"- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: n[2-1]\n",
         "FILE:5: '[2-1]' is not a range; write [1-4,7], the smaller first"},
        {"- topology: a\n  tree:\n    switches:\n    - switch: s\n      gbit: -1\n",
         "FILE:5: '-1' is not a bandwidth; Gbit/s from 1e-6 to 1e9"},
        {"- topology: a\n  tree:\n    switches:\n    - switch: s\n      link: 1\n",
         "FILE:5: a switch has no key 'link'; it has switch, children, nodes, gbit"},
        {"- topology: a\n  block:\n    block_sizes: 4\n", "FILE:3: a list of block sizes is needed "
                                                          "here"},
        {"- topology: a\n  block:\n    block_sizes:\n    - four\n",
         "FILE:4: block_sizes: a number is needed, not 'four'"},
        {"- topology: a\n  block:\n    block_sizes: [0]\n",
         "FILE:3: a block size of 0; must be at least 1"},
        {"- topology: a\n  block:\n    block_sizes: [2, 6]\n",
         "FILE:3: block size 6: sizes ascend, each a power of two times the first, like 4,8,32"},
        {"- topology: a\n  torus3d:\n    toruses:\n    - dims: {x: 1, y: 1, z: 1}\n",
         "FILE:4: a torus without a name"},
        {"- topology: a\n  torus3d:\n    toruses:\n    - {name: p, dims: {x: 1, y: 1}}\n",
         "FILE:4: torus p: its dims need x, y and z from 1 to 65535"},
        {"- topology: a\n  torus3d:\n    toruses:\n    - {name: p, dims: {x: 2000, y: 2000, z: "
         "2000}}\n",
         "FILE:4: torus p has more than 16777216 positions"},
        {"- topology: a\n  torus3d:\n    toruses:\n    - {name: p, dims: {x: 2, y: 2, z: 2}}\n",
         "FILE:4: torus p has no hosts; nodes or regions are needed"},
        {"- topology: a\n  torus3d:\n    toruses:\n    - name: p\n      dims: {x: 2, y: 2, z: 2}\n"
         "      nodes: n[1-7]\n",
         "FILE:6: 7 hosts for the 2x2x2 positions"},
        {"- topology: a\n  torus3d:\n    toruses:\n    - name: p\n      dims: {x: 2, y: 2, z: 2}\n"
         "      regions:\n      - {anchor: {x: 1}, dims: {x: 2, y: 1, z: 1}, nodes: \"n[1-2]\"}\n",
         "FILE:7: the region is empty or outside of the torus of 2x2x2"},
        {"- topology: a\n  torus3d:\n    toruses:\n    - name: p\n      dims: {x: 2, y: 2, z: 2}\n"
         "      regions:\n      - {dims: {x: 1, y: 1, z: 1}, nodes: n1}\n"
         "      - {dims: {x: 1, y: 1, z: 1}, nodes: n2}\n",
         "FILE:8: hosts n1 and n2 are at the same position; one host each is needed"},
        {"- topology: a\n  torus3d:\n    toruses:\n    - name: p\n      dims: {x: 1, y: 1, z: 1}\n"
         "      regions:\n      - {dims: {x: 1, y: 1, z: 1}}\n",
         "FILE:7: a region without nodes"},
        {"- topology: a\n  torus3d:\n    toruses:\n    - name: p\n      dims: {x: 1, y: 1, z: 1}\n"
         "      nodes: n1\n      regions:\n      - {dims: {x: 1, y: 1, z: 1}, nodes: n1}\n",
         "FILE:6: both nodes and regions; one of them is accepted"},
        {"- topology: &x a\n", "FILE:1: anchors (&) and aliases (*) are not accepted"},
        {"- topology: a\n  flat: *x\n", "FILE:2: anchors (&) and aliases (*) are not accepted"},
        {"- topology: a\n  flat: true\n---\n- topology: b\n",
         "FILE:3: a second document; one is accepted"},
        {"- topology: a\n  flat: true\n }\n",
         "FILE:3: not YAML: did not find expected '-' indicator"},
        {"- topology: \"a\n", "FILE:2: not YAML: found unexpected end of stream"},
        {"- topology: a\n  \x01: b\n", "FILE:2: not YAML: control characters are not allowed"},
    };
    REFUSE_ALL(strag_layout_parse_yaml, refusals);

    enum { DEPTH = 100000 };
    char *deep = malloc(DEPTH + 1);
    assert_non_null(deep);
    for (int i = 0; i < DEPTH; i++)
        deep[i] = '[';
    deep[DEPTH] = '\0';
    refuse(strag_layout_parse_yaml, deep, DEPTH,
           "FILE:1: lists and mappings are nested more than 100 deep");
    free(deep);
}

TEST(coordinates)
{
    static const struct refusal refusals[] = {
        {"# x\n", "FILE:1: no host or rank has coordinates; lines NAME: a b c are needed"},
        {"torus 4x4\n", "FILE:1: no host or rank has coordinates; lines NAME: a b c are needed"},
        {"torus 4xx4\n",
         "FILE:1: '4xx4' is not a grid; 1 to 8 sizes with x between them are, like 8x8x4"},
        {"mesh 1x1x1x1x1x1x1x1x1\n", "FILE:1: '1x1x1x1x1x1x1x1x1' is not a grid; 1 to 8 sizes with "
                                     "x between them are, like 8x8x4"},
        {"hyperx 0x4\n",
         "FILE:1: '0x4' is not a grid; 1 to 8 sizes with x between them are, like 8x8x4"},
        {"torus 65536x65536\n", "FILE:1: the grid 65536x65536 has more than 16777216 positions"},
        {"hammingmesh 2x2\n",
         "FILE:1: '2x2' is not a HammingMesh; the sizes of a board and as many "
         "numbers of boards are, like 2x2:16x16"},
        {"hammingmesh 65536x1:65536x1\n",
         "FILE:1: the grid 65536x1:65536x1 has more than 16777216 positions"},
        {"torus 4x4\na: 1 4\n",
         "FILE:2: coordinate 4 is outside of the grid, whose dimension 1 is 0 to 3"},
        {"torus 4x4\na: 1\n", "FILE:2: 1 coordinates, but the grid has 2"},
        {"a: 1 2\nb: 1 2 3\n", "FILE:2: 3 coordinates, but the grid has 2"},
        {"a: 1\na: 2\n", "FILE:2: host a is in line 1 already; it can be in one place only"},
        {"a: 1\n# x\nb: 2\nc: 1\n",
         "FILE:4: hosts a and c are at the same position; one host each is needed"},
        {"a: 1 -1\n", "FILE:1: 'a: 1 -1' where NAME: a b c is needed, with 1 to 8 coordinates"},
        {"a: 1.5\n", "FILE:1: 'a: 1.5' where NAME: a b c is needed, with 1 to 8 coordinates"},
        {"a:\n", "FILE:1: 'a:' where NAME: a b c is needed, with 1 to 8 coordinates"},
        {"a: 2147483647\n",
         "FILE:1: 'a: 2147483647' where NAME: a b c is needed, with 1 to 8 coordinates"},
        {"a: 0 0\nb: 100000 100000\n",
         "FILE: the mesh that contains all coordinates has more than 16777216 positions"},
        {": 1\n", "FILE:1: an empty name; hosts and switches need names"},
        {"a b: 1\n",
         "FILE:1: 'a b' is not a name; names have no blanks, commas, brackets, quotes or "
         "backslashes"},
        {"a: 1\n0: 2\n", "FILE:2: '0': either all lines begin with a rank or all with a host"},
        {"0: 1\na: 2\n", "FILE:2: 'a': either all lines begin with a rank or all with a host"},
        {"0: 1\n1: 2\n0: 3\n", "FILE:3: rank 0 is in line 1 already; it can be in one place only"},
        {"0: 1\n2: 2\n", "FILE:2: rank 1 is missing; every rank from 0 on needs a line"},
        {"9999999999: 2\n", "FILE:1: '9999999999' is not a rank from 0 to 1048575"},
        {"a: 1\ntorus 4\n",
         "FILE:2: 'torus 4' where NAME: a b c is needed, with 1 to 8 coordinates"},
    };
    REFUSE_ALL(strag_layout_parse_coordinates, refusals);
}

/* ---- Options ---- */

/* In the form of a file's parser. */
static int parse_torus(const char *text, size_t length, const char *name,
                       struct strag_layout **layout, struct strag_error *err)
{
    return strag_layout_from_dims(text, STRAG_NETWORK_TORUS, true, layout, err);
}

static int parse_hammingmesh(const char *text, size_t length, const char *name,
                             struct strag_layout **layout, struct strag_error *err)
{
    return strag_layout_from_dims(text, STRAG_NETWORK_HAMMINGMESH, false, layout, err);
}

static int parse_tree(const char *text, size_t length, const char *name,
                      struct strag_layout **layout, struct strag_error *err)
{
    return strag_layout_from_tree(text, layout, err);
}

static int parse_hosts(const char *text, size_t length, const char *name,
                       struct strag_layout **layout, struct strag_error *err)
{
    char **names = NULL;
    int count = -1;
    int status = strag_hosts_expand(text, &names, &count, err);
    assert_true(!names && count == -1);
    return status;
}

#define NOT_A_GRID " is not a grid; 1 to 8 sizes with x between them are, like 8x8x4"
#define NOT_A_TREE                                                                                 \
    ": ranks per host between commas are needed, brackets around those on one switch, like 2,3 "   \
    "or "                                                                                          \
    "((2,3),4@50)@100"

TEST(options)
{
    static const struct refusal grids[] = {
        {"", "''" NOT_A_GRID},
        {"8x", "'8x'" NOT_A_GRID},
        {"8 x8", "'8 x8'" NOT_A_GRID},
        {"-8", "'-8'" NOT_A_GRID},
        {"99999999999999999999", "'99999999999999999999'" NOT_A_GRID},
        {"2147483647x2", "the grid 2147483647x2 has more than 1048576 positions"},
        {"1024x1025", "the grid 1024x1025 has more than 1048576 positions"},
    };
    REFUSE_ALL(parse_torus, grids);
    static const struct refusal hammingmeshes[] = {
        {"2x2:4",
         "'2x2:4' is not a HammingMesh; the sizes of a board and as many numbers of boards "
         "are, like 2x2:16x16"},
        {"2x2:1024x1024", "the grid 2x2:1024x1024 has more than 1048576 positions"},
    };
    REFUSE_ALL(parse_hammingmesh, hammingmeshes);
    static const struct refusal trees[] = {
        {"", "'', at 'the end'" NOT_A_TREE},
        {"2,", "'2,', at 'the end'" NOT_A_TREE},
        {"(2,3", "'(2,3', at 'the end'" NOT_A_TREE},
        {"2)", "'2)', at ')'" NOT_A_TREE},
        {"()", "'()', at ')'" NOT_A_TREE},
        {"2(3)", "'2(3)', at '(3)'" NOT_A_TREE},
        {"0", "'0' is not a number of ranks on a host; must be 1 to 1048576"},
        {"1048577", "'1048577' is not a number of ranks on a host; must be 1 to 1048576"},
        {"2@", "'2@', at '@'" NOT_A_TREE},
        {"2@0", "'0' is not a bandwidth; Gbit/s from 1e-6 to 1e9"},
        {"2@1@1", "'2@1@1', at '@1'" NOT_A_TREE},
    };
    REFUSE_ALL(parse_tree, trees);

    struct strag_error err = {""};
    struct strag_layout *layout = NULL;
    assert_int_equal(strag_layout_from_dims("4", STRAG_NETWORK_TREE, true, &layout, &err),
                     STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, "sizes make a grid, not a tree");
}

TEST(hosts)
{
    static const struct refusal refusals[] = {
        {"", "'' has an empty name; write n[01-16,20],login"},
        {"a,,b", "'a,,b' has an empty name; write n[01-16,20],login"},
        {"a,", "'a,' has an empty name; write n[01-16,20],login"},
        {"n[1-4", "'n[1-4' has a [ without ]; write n[01-16,20]"},
        {"n1-4]", "'n1-4]' has a ] without [; write n[01-16,20]"},
        {"n[]", "'[]' is not a range; write [1-4,7], the smaller first"},
        {"n[1-]", "'[1-]' is not a range; write [1-4,7], the smaller first"},
        {"n[1,]", "'[1,]' is not a range; write [1-4,7], the smaller first"},
        {"n[a]", "'[a]' is not a range; write [1-4,7], the smaller first"},
        {"n[4-1]", "'[4-1]' is not a range; write [1-4,7], the smaller first"},
        {"n[1-99999999999999999999]",
         "'[1-99999999999999999999]' is not a range; write [1-4,7], the smaller first"},
        {"n[1-2000][1-2000]", "'n[1-2000][1-2000]' makes a list of more than 1048576 names"},
        {"x,n[0-1048575]", "'n[0-1048575]' makes a list of more than 1048576 names"},
        {"[1][1][1][1][1][1][1][1][1]", "'[1][1][1][1][1][1][1][1][1]' has more than 8 brackets"},
        {"a b", "'a b' is not a name; names have no blanks, commas, brackets, quotes or "
                "backslashes"},
        {"switch{s1}", "'switch{s1}' is not a name; names have no blanks, commas, brackets, quotes "
                       "or backslashes"},
        {"a\nb", "'a?b' is not a name; names have no blanks, commas, brackets, quotes or "
                 "backslashes"},
    };
    REFUSE_ALL(parse_hosts, refusals);
    char name[300] = "";
    for (int i = 0; i < 256; i++)
        name[i] = 'n';
    refuse(parse_hosts, name, 256,
           "the name 'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...' is longer than 255 bytes");
}

TEST(names)
{
    static const struct {
        const char *pattern, *message;
    } refusals[] = {
        {"", "the pattern '' names no group of hosts, as r{rack}n{} does"},
        {"r{}n{node}", "the pattern 'r{}n{node}' names no group of hosts, as r{rack}n{} does"},
        {"r{rack}{}", "the pattern 'r{rack}{}' has a number that nothing divides from the digits "
                      "behind it; say how many digits it has, like {rack:2}"},
        {"r{rack}0n{}", "the pattern 'r{rack}0n{}' has a number that nothing divides from the "
                        "digits behind it; say how many digits it has, like {rack:2}"},
        {"r{rack:0}n{}", "the pattern 'r{rack:0}n{}' is wrong from '{rack:0}n{}' on; letters, "
                         "digits, - and _ stand for themselves, {} for a number, {rack} for one "
                         "that names a group, {rack:2} for one of 2 digits"},
        {"r{rack", "the pattern 'r{rack' is wrong from '{rack' on; letters, digits, - and _ stand "
                   "for themselves, {} for a number, {rack} for one that names a group, {rack:2} "
                   "for one of 2 digits"},
        {"r{rack}n{}", "host login: its name is not like 'r{rack}n{}', so that its group is not "
                       "known"},
        {"l{rack:1}n{}", "host login: its name is not like 'l{rack:1}n{}', so that its group is "
                         "not known"},
    };
    static const char *const hosts[] = {"login"};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct strag_error err = {""};
        struct strag_layout *layout = NULL;
        assert_int_equal(strag_layout_from_names(refusals[i].pattern, hosts, 1, &layout, &err),
                         STRAG_ERR_ARGUMENT);
        assert_null(layout);
        assert_string_equal(err.text, refusals[i].message);
    }
}

TEST(addresses)
{
    static const struct {
        struct strag_address list[2];
        const char *message;
    } refusals[] = {
        {{{"n1", "s0.n1"}, {"n2", "s0.n1"}},
         "host n2: its address 's0.n1' does not end with the host's name, like s0.s1.n7"},
        {{{"n1", "s0.s1.n1"}, {"n2", "s1.n2"}},
         "host n2: its address 's1.n2' puts a switch elsewhere than other addresses do"},
        {{{"n1", "s0.n1"}, {"n1", "s0.n1"}}, "host n1 is named twice"},
        {{{"n1", "p:1:2.n1"}, {"n2", "p:1:2.n1"}},
         "host n2: its address 'p:1:2.n1' is not like pod1:1:0:2.n7, with this host's name or "
         "none"},
        {{{"n1", "p:1:2.n1"}, {"n2", "p:1.n2"}},
         "host n2: its address 'p:1.n2' has more or fewer coordinates than others"},
        {{{"n1", "p:1:2.n1"}, {"n2", "q:1:3.n2"}},
         "host n2: its address 'q:1:3.n2' is in another torus than other hosts"},
        {{{"n1", "p:1:2.n1"}, {"n2", "p:1:2.n2"}},
         "hosts n1 and n2 are at the same position; one host each is needed"},
        {{{"n1", "p:1:2.n1"}, {"n2", "s0.n2"}},
         "host n2: its address 's0.n2' is not like pod1:1:0:2.n7, with this host's name or none"},
        {{{"n1", "p:1:2147483647"}, {"n2", ""}},
         "host n1: its address 'p:1:2147483647' is not like pod1:1:0:2.n7, with this host's name "
         "or "
         "none"},
        {{{"", ""}, {"n2", "n2"}},
         "host : its address '' does not end with the host's name, like s0.s1.n7"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct strag_error err = {""};
        struct strag_layout *layout = NULL;
        assert_int_equal(strag_layout_from_addresses(refusals[i].list, 2, &layout, &err),
                         STRAG_ERR_ARGUMENT);
        assert_string_equal(err.text, refusals[i].message);
        assert_null(layout);
    }
}

/* ---- Memory ---- */

struct reading {
    parse_function *parse;
    const char *text;
};

static int attempt(const void *what, struct strag_error *err, bool *made)
{
    const struct reading *reading = what;
    struct strag_layout *layout = NULL;
    int status = reading->parse(reading->text, strlen(reading->text), "FILE", &layout, err);
    *made = layout != NULL;
    strag_layout_free(layout);
    return status;
}

/* @return how many allocations there are */
static long exhausted(parse_function *parse, const char *text)
{
    const struct reading reading = {parse, text};
    return exhaust(text, attempt, &reading);
}

static int expand(const void *what, struct strag_error *err, bool *made)
{
    char **names = NULL;
    int count = 0;
    int status = strag_hosts_expand(what, &names, &count, err);
    *made = names != NULL;
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return status;
}

/* Addresses of three hosts; the text says of which kind. */
static int from_names(const char *text, size_t length, const char *name,
                      struct strag_layout **layout, struct strag_error *err)
{
    static const char *const hosts[] = {"r1c1n1", "r1c2n2", "r2c1n1"};
    return strag_layout_from_names(text, hosts, 3, layout, err);
}

static int from_addresses(const char *text, size_t length, const char *name,
                          struct strag_layout **layout, struct strag_error *err)
{
    static const struct strag_address grid[] = {
        {"n1", "p:1:0.n1"}, {"n2", "p:1:1.n2"}, {"n3", "p:4:4.n3"}};
    static const struct strag_address tree[] = {
        {"n1", "s0.s1.n1"}, {"n2", "s0.s2.n2"}, {"n3", "t.n3"}};
    return strag_layout_from_addresses(*text == 'g' ? grid : tree, 3, layout, err);
}

static int fill(const char *text, size_t length, const char *name, struct strag_layout **layout,
                struct strag_error *err)
{
    struct strag_topology *topology = NULL;
    int status = strag_layout_parse(text, length, name, layout, err);
    if (status == STRAG_OK)
        status = strag_layout_fill(*layout, 0, 3, NULL, &topology, err);
    if (status == STRAG_OK) {
        strag_topology_free(topology);
        topology = NULL;
        if (!(*layout)->rank_host)
            status = strag_layout_fill(*layout, 2, 1, "n[1-2]", &topology, err);
    }
    strag_topology_free(topology);
    if (status != STRAG_OK) {
        strag_layout_free(*layout);
        *layout = NULL;
    }
    return status;
}

static int read_file(const char *text, size_t length, const char *name,
                     struct strag_layout **layout, struct strag_error *err)
{
    return strag_layout_read(text, layout, err);
}

TEST(memory)
{
    static const char conf_text[] = "SwitchName=a Nodes=n[1-40]\nSwitchName=b Nodes=m[1-3]\n"
                                    "SwitchName=t Switches=a,b\nSwitchName=u Nodes=x\n";
    assert_true(exhausted(strag_layout_parse_conf, conf_text) > 60);
    assert_true(exhausted(strag_layout_parse_conf, "RingName=r Nodes=n[1-4]") > 8);
    assert_true(exhausted(strag_layout_parse_yaml,
                          "- topology: a\n  flat: true\n- topology: b\n  cluster_default: true\n"
                          "  tree: {switches: [{switch: r, children: \"s[1-9]\"}, {switch: s1}, "
                          "{switch: s2}, {switch: s3}, {switch: s4}, {switch: s5}, {switch: s6}, "
                          "{switch: s7}, {switch: s8}, {switch: s9, nodes: \"n[1-9]\"}]}\n") > 60);
    assert_true(exhausted(strag_layout_parse_yaml,
                          "- topology: t\n  torus3d:\n    toruses:\n    - name: p\n"
                          "      dims: {x: 2, y: 2, z: 1}\n      regions:\n"
                          "      - {dims: {x: 2, y: 1, z: 1}, nodes: \"n[1-2]\"}\n"
                          "      - {anchor: {y: 1}, dims: {x: 1, y: 1, z: 1}, nodes: m}\n") > 15);
    assert_true(exhausted(strag_layout_parse_yaml,
                          "- topology: t\n  torus3d:\n    toruses:\n"
                          "    - {name: p, dims: {x: 1, y: 1, z: 1}, nodes: a}\n"
                          "    - {name: q, dims: {x: 1, y: 1, z: 1}, nodes: b}\n") > 15);
    assert_true(exhausted(strag_layout_parse_coordinates,
                          "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\ng: 7\nh: 8\ni: 9\n") > 15);
    assert_true(exhausted(strag_layout_parse_coordinates, "0: 1\n1: 1\n2: 3\n") > 8);
    assert_true(exhausted(parse_torus, "4x3") > 14);
    assert_true(exhausted(parse_hammingmesh, "2x2:1x2") > 10);
    assert_true(exhausted(parse_tree, "((2,3),(4,5,6,7,8,9,1),1)") > 12);
    assert_true(exhaust("a list", expand, "n[1-20],m") > 20);
    assert_true(exhausted(from_addresses, "grid") > 6);
    assert_true(exhausted(from_addresses, "tree") > 12);
    assert_true(exhausted(from_names, "r{rack}c{chassis}n{}") > 16);
    const char *top = getenv("srcdir");
    char file[4096];
    snprintf(file, sizeof file, "%s/examples/block.conf", top ? top : ".");
    assert_true(exhausted(read_file, file) > 100);
}

TEST(memory_of_places)
{
    assert_true(exhausted(fill, "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n3\n") > 30);
    assert_true(exhausted(fill, "torus 4\nn1: 0\nn2: 2\n") > 20);
    assert_true(exhausted(fill, "0: 0\n1: 2\n") > 15);
}
