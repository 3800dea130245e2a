/* SPDX-License-Identifier: BSD-3-Clause */
/* A packed topology is unpacked as it was; other bytes are refused, or at least do no harm. */
#include "machines.h"
#include "support.h"

enum { SAMPLES = 13 };

static struct strag_topology *parsed(const char *text, const struct strag_grid *grid)
{
    struct machine_nodes nodes = machine_parse(text);
    return machine_finish(&nodes, grid);
}

static struct strag_topology *sample(int number)
{
    struct strag_grid grid = machine_grid_of(STRAG_NETWORK_TORUS, true, "5x4", NULL);
    switch (number) {
    case 0:
        return machine_flat(1, 1);
    case 1:
        return machine_flat(7, 3);
    case 2:
        return machine_tree("((2,3@50),(4,1))@200,5");
    case 3:
        return parsed("N=net(S=leaf1@4(H=n1@2(P(0 4) P(2 6)) H=n2(1)) S=s2(H=(3) H=n-03(5)))",
                      NULL);
    case 4:
        return parsed("N(S@9(H(0)) S@3(H@8(P(1@4 2) P@6(U(3 4)))))", NULL);
    case 5:
        return parsed("N(H=a#4(0 3) H=b#9(1 5) H=c#0(4 2) H=dd#5(7 6))", &grid);
    case 6:
        return parsed("N(H=a#4(0) H=b#9(1))", &grid);
    case 7:
        return parsed("N(H#4(0) H#10(1 2))", &grid);
    case 8:
        return machine_grid(STRAG_NETWORK_TORUS, false, "2x3x2x2", NULL, 1);
    case 9:
        return machine_grid(STRAG_NETWORK_HYPERX, false, "3x4", NULL, 2);
    case 10: /* names that count on, and some that only seem to */
        return parsed(
            "N(S=a(H=n008-x(0) H=n009-x(1) H=n010-x(2) H(3) H=n011-x(4)) S=b98(H=9(5) H=10(6)"
            " H=99(7) H=00(8) H=01(9) H=z(10) H=zz(11) H=zz1z(12) H=zz2z(13)))",
            NULL);
    case 11: /* ranks without any order */
        return parsed("N(H=b(5 1 9) H=a(0 7) H=c(2 8 3 6 4))", NULL);
    default:
        return machine_grid(STRAG_NETWORK_HAMMINGMESH, false, "4x3", "2x3", 1);
    }
}

/* ---- Equality ---- */

static void assert_same_grid(const struct strag_grid *a, const struct strag_grid *b)
{
    assert_int_equal(a->network, b->network);
    assert_int_equal(a->dims, b->dims);
    for (int d = 0; d < a->dims; d++) {
        assert_int_equal(a->size[d], b->size[d]);
        assert_int_equal(a->wrap[d], b->wrap[d]);
        assert_int_equal(a->board[d], b->board[d]);
    }
}

static void assert_same_node(const struct strag_node *a, const struct strag_node *b)
{
    assert_int_equal(a->level, b->level);
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->first_child, b->first_child);
    assert_int_equal(a->children, b->children);
    assert_int_equal(a->first_leaf, b->first_leaf);
    assert_int_equal(a->leaves, b->leaves);
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->position, b->position);
    assert_true(a->uplink == b->uplink);
    assert_int_equal(a->name == NULL, b->name == NULL);
    if (a->name)
        assert_string_equal(a->name, b->name);
}

static void assert_same_box(const struct strag_box *a, const struct strag_box *b, int n)
{
    assert_int_equal(a == NULL, b == NULL);
    if (!a)
        return;
    assert_int_equal(a->dims, b->dims);
    assert_int_equal(a->cells, b->cells);
    assert_int_equal(a->ranks_per_host, b->ranks_per_host);
    for (int d = 0; d < a->dims; d++) {
        assert_int_equal(a->size[d], b->size[d]);
        assert_int_equal(a->first[d], b->first[d]);
        assert_int_equal(a->wrap[d], b->wrap[d]);
    }
    assert_memory_equal(a->rank_at, b->rank_at, (size_t)n * sizeof *a->rank_at);
    assert_memory_equal(a->cell_of, b->cell_of, (size_t)n * sizeof *a->cell_of);
}

static void assert_same(const struct strag_topology *a, const struct strag_topology *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->network, b->network);
    assert_int_equal(a->nnodes, b->nnodes);
    assert_int_equal(a->hosts, b->hosts);
    assert_int_equal(a->ranks_per_host, b->ranks_per_host);
    if (a->network != STRAG_NETWORK_TREE)
        assert_same_grid(&a->grid, &b->grid);
    for (int i = 0; i < a->nnodes; i++)
        assert_same_node(&a->nodes[i], &b->nodes[i]);
    assert_memory_equal(a->leaf_rank, b->leaf_rank, (size_t)a->n * sizeof *a->leaf_rank);
    assert_memory_equal(a->leaf_node, b->leaf_node, (size_t)a->n * sizeof *a->leaf_node);
    assert_memory_equal(a->host_node, b->host_node, (size_t)a->n * sizeof *a->host_node);
    assert_same_box(a->box, b->box, a->n);
}

/* ---- Packing and unpacking ---- */

static char *packed(const struct strag_topology *topology, size_t *size)
{
    struct strag_error err = {""};
    void *bytes = NULL;
    if (strag_topology_pack(topology, &bytes, size, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return bytes;
}

/* Unpack bytes that lie in memory of just their size, so that reading on would be noticed. */
static int unpack(const char *bytes, size_t size, struct strag_topology **topology,
                  struct strag_error *err)
{
    char *exact = malloc(size ? size : 1);
    if (!exact)
        fail_msg("out of memory");
    for (size_t i = 0; i < size; i++)
        exact[i] = bytes[i];
    *err = (struct strag_error){""};
    *topology = NULL;
    int status = strag_topology_unpack(exact, size, topology, err);
    free(exact);
    assert_int_equal(*topology != NULL, status == STRAG_OK);
    assert_int_equal(*err->text != '\0', status != STRAG_OK);
    return status;
}

TEST(round_trips)
{
    for (int s = 0; s < SAMPLES; s++) {
        struct strag_topology *topology = sample(s), *again;
        struct strag_error err;
        size_t size, size_again;
        char *bytes = packed(topology, &size);
        if (unpack(bytes, size, &again, &err) != STRAG_OK)
            fail_msg("sample %d: %s", s, err.text);
        machine_check(again);
        assert_same(topology, again);
        char *bytes_again = packed(again, &size_again);
        assert_int_equal(size, size_again);
        free(bytes_again);
        free(bytes);
        strag_topology_free(again);
        strag_topology_free(topology);
    }
}

TEST(truncations)
{
    for (int s = 0; s < SAMPLES; s++) {
        struct strag_topology *topology = sample(s), *again;
        struct strag_error err;
        size_t size;
        char *bytes = packed(topology, &size);
        strag_topology_free(topology);
        for (size_t length = 0; length < size; length++) {
            char why[80];
            assert_int_equal(unpack(bytes, length, &again, &err), STRAG_ERR_ARGUMENT);
            snprintf(why, sizeof why, "%zu bytes are no packed topology", length);
            assert_string_equal(err.text, why);
        }
        char *longer = calloc(1, size + 1);
        assert_non_null(longer);
        memcpy(longer, bytes, size);
        assert_int_equal(unpack(longer, size + 1, &again, &err), STRAG_ERR_ARGUMENT);
        free(longer);
        free(bytes);
    }
}

/* Change one to four bytes, mostly of the grid and the nodes; half the time a bit, else a byte. */
static void damage(char *bytes, size_t size, struct rng *rng)
{
    for (unsigned changes = 1 + rng_below(rng, 4); changes > 0; changes--) {
        char *byte = &bytes[rng_below(rng, (unsigned)size)];
        unsigned bit = 1u << rng_below(rng, 8);
        *byte = (char)(rng_one_in(rng, 2) ? *byte ^ (char)bit : (char)rng_below(rng, 256));
    }
}

TEST(damaged_bytes)
{
    struct rng rng = {support_seed("damaged bytes")};
    long cases = support_cases(500), refused = 0;
    for (int s = 0; s < SAMPLES; s++) {
        struct strag_topology *topology = sample(s), *again;
        struct strag_error err;
        size_t size;
        char *bytes = packed(topology, &size);
        char *damaged = malloc(size);
        assert_non_null(damaged);
        strag_topology_free(topology);
        for (long i = 0; i < cases; i++) {
            memcpy(damaged, bytes, size);
            damage(damaged, size, &rng);
            int status = unpack(damaged, size, &again, &err);
            if (status == STRAG_OK)
                machine_check(again);
            else if (status != STRAG_ERR_ARGUMENT)
                fail_msg("sample %d, change %ld: %s", s, i, err.text);
            refused += status != STRAG_OK;
            strag_topology_free(again);
        }
        free(damaged);
        free(bytes);
    }
    assert_in_range(refused, cases, SAMPLES * cases - cases / 2);
}

/* Equal hosts take a few bytes each, however many ranks they have. */
TEST(equal_hosts_are_short)
{
    struct machine_nodes nodes = machine_nodes_create();
    for (int h = 0; h < 200; h++) {
        char name[32];
        const int host = machine_node(&nodes, 0, STRAG_LEVEL_HOST);
        snprintf(name, sizeof name, "node%04d.example.org", h + 950);
        nodes.list[host].name = strdup(name);
        for (int r = 0; r < 50; r++)
            machine_rank(&nodes, host, 50 * h + r);
    }
    struct strag_topology *topology = machine_finish(&nodes, NULL), *again;
    struct strag_error err;
    size_t size;
    char *bytes = packed(topology, &size);
    print_message("200 hosts of 50 ranks: %zu bytes\n", size);
    assert_in_range(size, 200 * 2, 200 * 6);
    assert_int_equal(unpack(bytes, size, &again, &err), STRAG_OK);
    assert_same(topology, again);
    free(bytes);
    strag_topology_free(again);
    strag_topology_free(topology);
}
