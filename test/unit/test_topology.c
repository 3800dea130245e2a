/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topologies: what is left out and what stays, the order of nodes and ranks, what is refused, and
 * running out of memory. Trees are written as text (machines.h): N(S(H(0 1) H(2))).
 */
#include "exhaust.h"
#include "machines.h"
#include "support.h"

#include <math.h>

/* ---- What becomes of trees ---- */

static void assert_becomes(const char *given, const char *expected)
{
    struct machine_nodes nodes = machine_parse(given);
    struct strag_topology *topology = machine_finish(&nodes, NULL);
    char text[400];
    machine_check(topology);
    assert_string_equal(machine_describe(topology, text, sizeof text), expected);
    assert_int_equal(topology->network, STRAG_NETWORK_TREE);
    assert_null(topology->box);
    strag_topology_free(topology);
}

TEST(what_stays)
{
    static const char *const same[] = {
        "N(H(0))",
        "N(H(0 1 2))",
        "N(H(0) H(1))",
        "N(S(H(0 1) H(2)) S(H(3) H(4)))",
        "N=net(S=a@9(H=n1@2(0 1) H=n2@3(2)) S=b@8(H=n3@2(3) H=n4(4)))",
        "N(S(S(H(0) H(1)) S(H(2) H(3))) H(4))",
        "N(H(P(U(C(0 1) C(2 3)) U(C(4 5) C(6 7))) P(8 9)))",
        "N(H@5(P@4(U@3(0@1 1@2) 2) P(3 4)) H(5))",
        "N(H(5 3) H(0 4) H(2 1))",       /* ranks in any order */
        "N(H(0 3 6) H(1 4 7) H(2 5 8))", /* interleaved over hosts */
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_becomes(same[i], same[i]);
}

TEST(what_is_left_out)
{
    /* chains; the lower of two bandwidths stays */
    assert_becomes("N(S@9(H@2(0)) S@3(H@8(1)) S(H@5(2)) S(H(3)))", "N(H@2(0) H@3(1) H@5(2) H(3))");
    assert_becomes("N(S@9(S@4(S@7(H(0) H(1)))) H(2))", "N(S@4(H(0) H(1)) H(2))");
    assert_becomes("N(H(P@3(U@1(C@2(0@7))) 1))", "N(H(0@1 1))");
    assert_becomes("N(H(P(C@3(0 1)) P@2(C@3(2 3))))", "N(H(C@3(0 1) C@2(2 3)))");

    /* but if only the upper one is said, the lower one is not known */
    assert_becomes("N(S@6(H(0)) H(1))", "N(S@6(H(0)) H(1))");
    assert_becomes("N(S@5(S@6(S(H(0)))) H(1))", "N(S@5(H(0)) H(1))");
    assert_becomes("N(H(P@3(U(C(0))) 1))", "N(H(P@3(0) 1))");
    assert_becomes("N(H(P@3(U(C(0)))) H(1))", "N(H(0) H(1))");

    /* an only child of a host or of the network: its children move up with their own uplinks */
    assert_becomes("N(H(P@9(0@1 1)))", "N(H(0@1 1))");
    assert_becomes("N(H(P(U@2(0 1) U(2))) H(3))", "N(H(U@2(0 1) 2) H(3))");
    assert_becomes("N(S@9(H@1(0) S@2(H(1) H(2))))", "N(H@1(0) S@2(H(1) H(2)))");
    assert_becomes("N(S(S(S(H(0) H(1)))))", "N(H(0) H(1))");
    assert_becomes("N(S(H@4(P(0 1))))", "N(H@4(0 1))");
    assert_becomes("N(H(P(0)))", "N(H(0))");

    /* nodes without ranks, and what they leave behind */
    assert_becomes("N(H(0) H H(1) S S(H S(S)))", "N(H(0) H(1))");
    assert_becomes("N(S(H(0) H) S(H(1) H(2) S) S)", "N(H(0) S(H(1) H(2)))");
    assert_becomes("N(H(P P(U U(0) U(1)) C) H(2 C))", "N(H(0 1) H(2))");

    /* a level in the middle that only some have */
    assert_becomes("N(H(P(0 1) P(2)) H(C(3 4) 5))", "N(H(P(0 1) 2) H(C(3 4) 5))");
}

/* The text is read depth first; the order that counts is level by level. */
TEST(level_by_level)
{
    struct machine_nodes nodes = machine_parse("N(S(H(4 2) H(0)) H(P(1 3) P(5 6)))");
    struct strag_topology *topology = machine_finish(&nodes, NULL);
    static const int levels[] = {6, 5, 4, 4, 4, 3, 3, 0, 0, 0, 0, 0, 0, 0};
    static const int leaf_rank[] = {4, 2, 0, 1, 3, 5, 6};
    assert_int_equal(topology->nnodes, 14);
    assert_int_equal(topology->n, 7);
    for (int i = 0; i < 14; i++)
        assert_int_equal(topology->nodes[i].level, levels[i]);
    assert_memory_equal(topology->leaf_rank, leaf_rank, sizeof leaf_rank);
    assert_int_equal(topology->host_node[0], 4);
    assert_int_equal(topology->host_node[6], 2);
    assert_int_equal(topology->hosts, 3);
    assert_int_equal(topology->ranks_per_host, 0);
    assert_true(strag_topology_same_host(topology, 1, 6));
    assert_false(strag_topology_same_host(topology, 0, 2));
    assert_int_equal(support_ancestor(topology, 3, 1), 5);
    assert_int_equal(support_ancestor(topology, 3, 6), 2);
    assert_int_equal(support_ancestor(topology, 0, 4), 1);
    assert_int_equal(support_ancestor(topology, 0, 5), 0);
    assert_int_equal(support_ancestor(topology, 2, 2), topology->leaf_node[2]);
    strag_topology_free(topology);
}

TEST(flat)
{
    for (int n = 1; n <= 20; n++) {
        for (int per_host = 1; per_host <= n + 1; per_host++) {
            struct strag_topology *topology = NULL;
            struct strag_error err = {""};
            char text[400], expected[400];
            assert_int_equal(strag_topology_flat(n, per_host, &topology, &err), STRAG_OK);
            machine_check(topology);
            struct strag_topology *same = machine_flat(n, per_host);
            machine_describe(same, expected, sizeof expected);
            assert_string_equal(machine_describe(topology, text, sizeof text), expected);
            assert_int_equal(topology->hosts, (n + per_host - 1) / per_host);
            strag_topology_free(same);
            strag_topology_free(topology);
        }
    }
}

TEST(names)
{
    static const char *const levels[] = {"rank", "cache",  "NUMA domain", "package",
                                         "host", "switch", "network"};
    static const char *const networks[] = {"tree", "torus", "HyperX", "HammingMesh"};
    for (int level = STRAG_LEVEL_RANK; level <= STRAG_LEVEL_NETWORK; level++)
        assert_string_equal(strag_level_name((enum strag_level)level), levels[level]);
    for (int network = STRAG_NETWORK_TREE; network <= STRAG_NETWORK_HAMMINGMESH; network++)
        assert_string_equal(strag_network_name((enum strag_network)network), networks[network]);
}

/* ---- Random trees, against what their nodes say ---- */

/* A tree of up to `room` nodes: chains, empty nodes and leaves at any depth. Its ranks are in no
 * order. */
static struct machine_nodes random_nodes(struct rng *rng, int room)
{
    struct machine_nodes nodes = machine_nodes_create();
    machine_node(&nodes, 0, STRAG_LEVEL_HOST);
    machine_rank(&nodes, 1, 0);
    int n = 1;
    while (nodes.count < room) {
        int parent = (int)rng_below(rng, (unsigned)nodes.count);
        int above = nodes.list[parent].level;
        if (above == STRAG_LEVEL_RANK)
            continue;
        int lowest = above > STRAG_LEVEL_HOST ? STRAG_LEVEL_HOST : STRAG_LEVEL_RANK;
        int highest = above == STRAG_LEVEL_SWITCH ? above : above - 1;
        int level = lowest + (int)rng_below(rng, (unsigned)(highest - lowest + 1));
        int node = machine_node(&nodes, parent, (enum strag_level)level);
        nodes.list[node].uplink = rng_one_in(rng, 3) ? 0 : 1 + rng_below(rng, 9);
        if (level == STRAG_LEVEL_RANK) {
            int other = (int)rng_below(rng, (unsigned)node); /* change places with a random leaf */
            nodes.list[node].rank = n++;
            if (nodes.list[other].level == STRAG_LEVEL_RANK) {
                int rank = nodes.list[other].rank;
                nodes.list[other].rank = nodes.list[node].rank;
                nodes.list[node].rank = rank;
            }
        }
    }
    return nodes;
}

static int given_leaf(const struct machine_nodes *nodes, int rank)
{
    int i = 0;
    while (nodes->list[i].level != STRAG_LEVEL_RANK || nodes->list[i].rank != rank)
        i++;
    return i;
}

static int given_leaves(const struct machine_nodes *nodes, int top)
{
    int leaves = 0;
    for (int i = 0; i < nodes->count; i++) {
        int node = i;
        while (node > top)
            node = nodes->list[node].parent;
        leaves += node == top && nodes->list[i].level == STRAG_LEVEL_RANK;
    }
    return leaves;
}

/* The lowest node that stays of those which have the same ranks below as `low`: the host or the
 * network if it is one of them, else `low`. @param[out] uplink  the lowest said, as far up as nodes
 * are merged */
static int given_node(const struct machine_nodes *nodes, int low, double *uplink)
{
    int leaves = given_leaves(nodes, low), stays = low;
    bool merges = true;
    *uplink = nodes->list[low].uplink;
    for (int i = nodes->list[low].parent; i >= 0 && given_leaves(nodes, i) == leaves;
         i = nodes->list[i].parent) {
        int level = nodes->list[i].level;
        double said = nodes->list[i].uplink;
        if (level == STRAG_LEVEL_NETWORK)
            return nodes->list[stays].level == STRAG_LEVEL_HOST ? stays : 0;
        if (level == STRAG_LEVEL_HOST && nodes->list[stays].level == STRAG_LEVEL_RANK)
            return stays; /* a single rank: the leaf and its host both stay */
        if (level == STRAG_LEVEL_HOST) {
            stays = i;
            merges = true;
            *uplink = said; /* nothing passes from inside */
        }
        bool a_switch = nodes->list[stays].level == STRAG_LEVEL_SWITCH;
        merges = merges && (said == 0 || *uplink > 0 || a_switch);
        if (merges && said > 0 && (*uplink == 0 || said < *uplink))
            *uplink = said;
    }
    return stays;
}

/* The lowest of the given nodes that has both below. */
static int given_ancestor(const struct machine_nodes *nodes, int a, int b)
{
    int x = given_leaf(nodes, a), y = given_leaf(nodes, b);
    while (x != y) {
        if (x > y)
            x = nodes->list[x].parent;
        else
            y = nodes->list[y].parent;
    }
    return x;
}

static void check_against(const struct strag_topology *topology, const struct machine_nodes *nodes)
{
    machine_check(topology);
    for (int a = 0; a < topology->n; a++) {
        for (int b = 0; b < topology->n; b++) {
            double uplink;
            int given = given_ancestor(nodes, a, b);
            int expected = given_node(nodes, given, &uplink);
            const struct strag_node *node = &topology->nodes[support_ancestor(topology, a, b)];
            assert_int_equal(node->level, nodes->list[expected].level);
            assert_int_equal(node->leaves, given_leaves(nodes, given));
            if (expected > 0 && node->uplink != uplink)
                fail_msg("ranks %d and %d: uplink %g, not %g", a, b, node->uplink, uplink);
        }
    }
}

TEST(random_trees)
{
    struct rng rng = {support_seed("random trees")};
    for (long cases = support_cases(400); cases > 0; cases--) {
        struct machine_nodes nodes = random_nodes(&rng, 3 + (int)rng_below(&rng, 60));
        struct strag_topology *topology = NULL;
        struct strag_error err = {""};
        int n = machine_ranks(&nodes);
        if (strag_topology_create(NULL, nodes.list, nodes.count, n, &topology, &err) != STRAG_OK)
            fail_msg("%s", err.text);
        check_against(topology, &nodes);
        strag_topology_free(topology);
        machine_nodes_free(&nodes);
    }
}

/* ---- What is refused ---- */

enum { N = STRAG_LEVEL_NETWORK, S = STRAG_LEVEL_SWITCH, H = STRAG_LEVEL_HOST };
enum { P = STRAG_LEVEL_PACKAGE, R = STRAG_LEVEL_RANK };

struct refusal {
    const char *why;
    int n, nnodes;
    struct strag_node nodes[5];
};

#define TORUS  .network = STRAG_NETWORK_TORUS
#define BOARDS .network = STRAG_NETWORK_HAMMINGMESH
#define ROOT                                                                                       \
    {                                                                                              \
        .level = N, .parent = -1                                                                   \
    }
#define HOST(p)                                                                                    \
    {                                                                                              \
        .level = H, .parent = (p)                                                                  \
    }
#define RANK(p, r)                                                                                 \
    {                                                                                              \
        .level = R, .parent = (p), .rank = (r)                                                     \
    }

static const struct refusal refusals[] = {
    {"a topology needs a rank, and a network as its first node", 0, 1, {ROOT}},
    {"a topology needs a rank, and a network as its first node", 1, 0, {ROOT}},
    {"a topology needs a rank, and a network as its first node",
     1,
     1,
     {{.level = H, .parent = -1}}},
    {"a topology needs a rank, and a network as its first node", 1, 1, {{.level = N, .parent = 0}}},
    {"node 1: its parent 1 is not one before it", 1, 3, {ROOT, HOST(1), RANK(1, 0)}},
    {"node 1: its parent 2 is not one before it", 1, 3, {ROOT, RANK(2, 0), HOST(0)}},
    {"node 1: its parent -1 is not one before it", 1, 3, {ROOT, HOST(-1), RANK(1, 0)}},
    {"node 2: a host below a host", 1, 4, {ROOT, HOST(0), HOST(1), RANK(2, 0)}},
    {"node 1: a network below a network", 1, 2, {ROOT, {.level = N}}},
    {"node 3: a package below a rank",
     1,
     4,
     {ROOT, HOST(0), RANK(1, 0), {.level = P, .parent = 2}}},
    {"node 2: a switch below a host", 1, 3, {ROOT, HOST(0), {.level = S, .parent = 1}}},
    {"node 1: a ? below a network", 1, 2, {ROOT, {.level = 200}}},
    {"node 1: a rank that is in no host", 1, 2, {ROOT, RANK(0, 0)}},
    {"node 2: a package that is in no host", 1, 3, {ROOT, {.level = S}, {.level = P, .parent = 1}}},
    {"node 0: an uplink of -1 bytes per second", 1, 1, {{.level = N, .parent = -1, .uplink = -1}}},
    {"node 1: an uplink of -1 bytes per second", 1, 2, {ROOT, {.level = H, .uplink = -1}}},
    {"node 1: an uplink of inf bytes per second", 1, 2, {ROOT, {.level = H, .uplink = INFINITY}}},
    {"node 1: an uplink of nan bytes per second", 1, 2, {ROOT, {.level = H, .uplink = NAN}}},
    {"node 3: rank 0, which exists twice or is not below 2",
     2,
     4,
     {ROOT, HOST(0), RANK(1, 0), RANK(1, 0)}},
    {"node 3: rank 2, which exists twice or is not below 2",
     2,
     4,
     {ROOT, HOST(0), RANK(1, 0), RANK(1, 2)}},
    {"node 2: rank -1, which exists twice or is not below 1", 1, 3, {ROOT, HOST(0), RANK(1, -1)}},
    {"2 of 3 ranks have no place", 3, 3, {ROOT, HOST(0), RANK(1, 1)}},
};

static void assert_refused(const struct strag_grid *grid, const struct strag_node *nodes,
                           int nnodes, int n, const char *why)
{
    struct strag_topology *topology = NULL;
    struct strag_error err = {""};
    assert_int_equal(strag_topology_create(grid, nodes, nnodes, n, &topology, &err),
                     STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, why);
    assert_null(topology);
    assert_int_equal(strag_topology_create(grid, nodes, nnodes, n, &topology, NULL),
                     STRAG_ERR_ARGUMENT);
}

TEST(nodes_that_are_refused)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        assert_refused(NULL, refusals[i].nodes, refusals[i].nnodes, refusals[i].n, refusals[i].why);
}

TEST(grids_that_are_refused)
{
    static const struct {
        const char *why;
        struct strag_grid grid;
    } bad[] = {
        {"a grid is a torus, HyperX or HammingMesh", {.dims = 1, .size = {2}}},
        {"a grid is a torus, HyperX or HammingMesh",
         {.network = STRAG_NETWORK_HAMMINGMESH + 1, .dims = 1, .size = {2}}},
        {"a grid of 0 dimensions; must be 1 to 8", {TORUS}},
        {"a grid of 9 dimensions; must be 1 to 8", {TORUS, .dims = 9}},
        {"a grid of -1 dimensions; must be 1 to 8", {TORUS, .dims = -1}},
        {"a dimension of size 0; must be at least 1", {TORUS, .dims = 2, .size = {4, 0}}},
        {"a dimension of size -4; must be at least 1", {TORUS, .dims = 1, .size = {-4}}},
        {"a grid of more than 2147483647 positions",
         {TORUS, .dims = 2, .size = {INT32_MAX, INT32_MAX}}},
        {"a grid of more than 2147483647 positions", {TORUS, .dims = 2, .size = {65536, 32768}}},
        {"boards of size 3 do not fill a dimension of size 4",
         {BOARDS, .dims = 2, .size = {4, 4}, .board = {2, 3}}},
        {"boards of size 0 do not fill a dimension of size 4", {BOARDS, .dims = 1, .size = {4}}},
    };
    static const struct strag_node nodes[] = {ROOT, HOST(0), RANK(1, 0)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(&bad[i].grid, nodes, 3, 1, bad[i].why);
}

TEST(places_that_are_refused)
{
    struct strag_grid grid = machine_grid_of(STRAG_NETWORK_HYPERX, false, "2x2", NULL);
    struct strag_node nodes[] = {ROOT,       HOST(0),   HOST(0), {.level = S, .parent = 0},
                                 RANK(1, 0), RANK(2, 1)};
    nodes[1].position = 4;
    assert_refused(&grid, nodes, 3, 2, "node 1: a host at position 4; the grid has 0 to 3");
    nodes[1].position = -1;
    assert_refused(&grid, nodes, 3, 2, "node 1: a host at position -1; the grid has 0 to 3");
    nodes[1].position = 3;
    assert_refused(&grid, nodes, 6, 2, "node 3: a switch in a HyperX");
    nodes[2].position = 3;
    nodes[3] = (struct strag_node){.level = P, .parent = 1};
    assert_refused(&grid, nodes, 6, 2, "two hosts are at position 3");
}

TEST(flat_is_refused)
{
    struct strag_topology *topology = NULL;
    struct strag_error err = {""};
    assert_int_equal(strag_topology_flat(0, 1, &topology, &err), STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, "0 ranks, 1 per host; both must be at least 1");
    assert_int_equal(strag_topology_flat(3, 0, &topology, &err), STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, "3 ranks, 0 per host; both must be at least 1");
    assert_null(topology);
    strag_topology_free(NULL);
}

/* ---- Out of memory ---- */

struct wanted {
    struct machine_nodes nodes;
    const struct strag_grid *grid;
};

static int create(const void *what, struct strag_error *err, bool *made)
{
    const struct wanted *wanted = what;
    struct strag_topology *topology = NULL;
    int status = strag_topology_create(wanted->grid, wanted->nodes.list, wanted->nodes.count,
                                       machine_ranks(&wanted->nodes), &topology, err);
    *made = topology != NULL;
    strag_topology_free(topology);
    return status;
}

static int create_flat(const void *what, struct strag_error *err, bool *made)
{
    struct strag_topology *topology = NULL;
    int status = strag_topology_flat(3, 2, &topology, err);
    *made = topology != NULL;
    strag_topology_free(topology);
    return status;
}

static int pack(const void *what, struct strag_error *err, bool *made)
{
    void *bytes = NULL;
    size_t size = 0;
    int status = strag_topology_pack(what, &bytes, &size, err);
    *made = bytes != NULL || size != 0;
    free(bytes);
    return status;
}

struct packed {
    void *bytes;
    size_t size;
};

static int unpack(const void *what, struct strag_error *err, bool *made)
{
    const struct packed *packed = what;
    struct strag_topology *topology = NULL;
    int status = strag_topology_unpack(packed->bytes, packed->size, &topology, err);
    *made = topology != NULL;
    strag_topology_free(topology);
    return status;
}

TEST(out_of_memory)
{
    static const char *const texts[] = {"N(H(0 1) H(2))", "N(H=a(0 1) H=b(2))", "N(H#3(0) H#0(1))"};
    struct strag_grid ring = machine_grid_of(STRAG_NETWORK_TORUS, true, "4", NULL);
    long created[3];
    for (int i = 0; i < 3; i++) {
        struct strag_error err = {""};
        struct wanted wanted = {machine_parse(texts[i]), i == 2 ? &ring : NULL};
        created[i] = exhaust("a topology", create, &wanted);
        struct strag_topology *topology = machine_finish(&wanted.nodes, wanted.grid);
        struct packed packed;
        assert_int_equal(exhaust("packing", pack, topology), 1);
        assert_int_equal(strag_topology_pack(topology, &packed.bytes, &packed.size, &err),
                         STRAG_OK);
        strag_topology_free(topology);
        const long names = i == 1 ? 2 : 0;
        assert_int_equal(exhaust("unpacking", unpack, &packed), created[i] + 1 + names);
        free(packed.bytes);
    }
    assert_true(created[0] >= 9);
    assert_int_equal(created[1], created[0] + 2);
    assert_true(created[2] >= created[0] + 4); /* the box, its two lists, what finds it */
    assert_int_equal(exhaust("a flat topology", create_flat, NULL), created[0] + 1);
}

/* ---- Some of the ranks ---- */

static void assert_part(const char *whole, const int32_t *rank_of, int n, const char *expected)
{
    struct machine_nodes nodes = machine_parse(whole);
    struct strag_topology *topology = machine_finish(&nodes, NULL), *part = NULL;
    char text[400];
    assert_int_equal(strag_topology_part(topology, rank_of, n, &part, NULL), STRAG_OK);
    strag_topology_free(topology);
    machine_check(part);
    assert_string_equal(machine_describe(part, text, sizeof text), expected);
    strag_topology_free(part);
}

TEST(parts)
{
    static const char two_switches[] = "N(S(H=a(0 1) H=b(2)) S(H=c(3) H=d(4)))";
    assert_part(two_switches, (const int32_t[]){0, 1, 2, 3, 4}, 5, two_switches);
    assert_part(two_switches, (const int32_t[]){4, 3, 2, 1, 0}, 5,
                "N(S(H=a(4 3) H=b(2)) S(H=c(1) H=d(0)))");
    assert_part(two_switches, (const int32_t[]){4, 0, 1}, 3, "N(H=a(1 2) H=d(0))");
    assert_part(two_switches, (const int32_t[]){2}, 1, "N(H=b(0))");
    assert_part("N(H(P(0 1) P(2 3)) H(P(4 5) P(6 7)))", (const int32_t[]){6, 7, 0, 2}, 4,
                "N(H(2 3) H(0 1))");
}

static int create_part(const void *what, struct strag_error *err, bool *made)
{
    struct strag_topology *part = NULL;
    const int status = strag_topology_part(what, (const int32_t[]){3, 1, 0}, 3, &part, err);
    *made = part != NULL;
    strag_topology_free(part);
    return status;
}

TEST(part_out_of_memory)
{
    struct strag_topology *whole = NULL;
    assert_int_equal(strag_topology_flat(4, 2, &whole, NULL), STRAG_OK);
    assert_true(exhaust("a part", create_part, whole) > 3);
    strag_topology_free(whole);
}
