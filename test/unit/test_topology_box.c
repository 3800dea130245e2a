/* SPDX-License-Identifier: BSD-3-Clause */
/* Boxes: hosts that fill a part of a grid are found, and nothing else is taken for one. */
#include "machines.h"
#include "support.h"

static const enum strag_network torus = STRAG_NETWORK_TORUS, hyperx = STRAG_NETWORK_HYPERX,
                                boards = STRAG_NETWORK_HAMMINGMESH;

static void assert_list(const int32_t *list, const int *expected, int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(list[i], expected[i]);
}

/* ---- By hand ---- */

TEST(a_full_grid)
{
    static const char *const dims[] = {"1", "7", "1x1x1", "4x3", "3x1x4", "2x3x2x2"};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        for (int wrap = 0; wrap < 2; wrap++) {
            struct strag_topology *topology = machine_grid(torus, wrap, dims[i], NULL, 2);
            machine_check(topology);
            const struct strag_grid *grid = &topology->grid;
            const struct strag_box *box = topology->box;
            assert_non_null(box);
            assert_int_equal(box->dims, grid->dims);
            assert_int_equal(box->cells, topology->n / 2);
            assert_int_equal(box->ranks_per_host, 2);
            for (int d = 0; d < grid->dims; d++) {
                assert_int_equal(box->size[d], grid->size[d]);
                assert_int_equal(box->first[d], 0);
                assert_int_equal(box->wrap[d], wrap);
            }
            for (int rank = 0; rank < topology->n; rank++) {
                assert_int_equal(box->rank_at[rank], rank);
                assert_int_equal(box->cell_of[rank], rank / 2);
            }
            strag_topology_free(topology);
        }
    }
}

TEST(a_part_of_a_grid)
{
    struct strag_grid grid = machine_grid_of(torus, true, "5x4", NULL);
    static const int positions[] = {12, 6, 8, 11, 13, 7}; /* x 1..3, y 1..2 */
    static const int rank_at[] = {1, 5, 2, 3, 0, 4}, cell_of[] = {4, 0, 2, 3, 5, 1};
    struct strag_topology *topology = machine_hosts(&grid, positions, 6, 1);
    const struct strag_box *box = topology->box;
    assert_non_null(box);
    assert_list(box->size, (int[]){3, 2}, 2);
    assert_list(box->first, (int[]){1, 1}, 2);
    assert_list(box->rank_at, rank_at, 6);
    assert_list(box->cell_of, cell_of, 6);
    assert_false(box->wrap[0] || box->wrap[1]);
    strag_topology_free(topology);
}

/* x 4, 0, 1 of 5 and all of y, of 3: over the end of x; y is a ring. */
TEST(over_the_end)
{
    static const int positions[] = {0, 1, 4, 5, 6, 9, 10, 11, 14};
    static const int rank_at[] = {2, 0, 1, 5, 3, 4, 8, 6, 7};
    struct strag_grid grid = machine_grid_of(torus, true, "5x3", NULL);
    struct strag_topology *topology = machine_hosts(&grid, positions, 9, 1);
    const struct strag_box *box = topology->box;
    assert_non_null(box);
    assert_list(box->size, (int[]){3, 3}, 2);
    assert_list(box->first, (int[]){4, 0}, 2);
    assert_list(box->rank_at, rank_at, 9);
    assert_false(box->wrap[0]);
    assert_true(box->wrap[1]);
    strag_topology_free(topology);

    grid.wrap[0] = false;
    topology = machine_hosts(&grid, positions, 9, 1);
    assert_null(topology->box);
    strag_topology_free(topology);
}

static struct strag_topology *parsed(const char *text, const struct strag_grid *grid)
{
    struct machine_nodes nodes = machine_parse(text);
    struct strag_topology *topology = machine_finish(&nodes, grid);
    machine_check(topology);
    return topology;
}

TEST(several_ranks_per_host)
{
    struct strag_grid grid = machine_grid_of(torus, false, "4x2", NULL);
    struct strag_topology *topology =
        parsed("N(H#1(0 5) H#6(7 3) H#2(4 2) H#5(P(6) P(1)) H#0 H#7)", &grid);
    const struct strag_box *box = topology->box;
    assert_non_null(box);
    assert_int_equal(box->ranks_per_host, 2);
    assert_int_equal(box->cells, 4);
    assert_list(box->size, (int[]){2, 2}, 2);
    assert_list(box->rank_at, (int[]){0, 5, 2, 4, 1, 6, 3, 7}, 8);
    assert_list(box->cell_of, (int[]){0, 2, 1, 3, 1, 0, 2, 3}, 8);
    strag_topology_free(topology);
}

TEST(no_box)
{
    static const char *const lists[] = {
        "N(H#0(0) H#2(1))",                                                  /* a gap */
        "N(H#0(0) H#5(1))",                                                  /* a diagonal */
        "N(H#0(0) H#1(1) H#4(2))",                                           /* an L */
        "N(H#0(0 1) H#1(2))",                                                /* unequal ranks */
        "N(H#0(0) H#1(1) H#2(2) H#4(3) H#6(4) H#8(5) H#9(6) H#10(7))",       /* a hole */
        "N(H#0(0) H#1(1) H#2(2) H#4(3) H#5(4) H#6(5) H#8(6) H#9(7) H#15(8))" /* one next to it */
    };
    for (int wrap = 0; wrap < 2; wrap++) {
        struct strag_grid grid = machine_grid_of(torus, wrap, "4x4", NULL);
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
            struct strag_topology *topology = parsed(lists[i], &grid);
            assert_null(topology->box);
            strag_topology_free(topology);
        }
    }
}

/* Of a HyperX all hosts of a row are neighbours, however many of them the job has. */
TEST(in_a_hyperx)
{
    struct strag_grid grid = machine_grid_of(hyperx, false, "6x5", NULL);
    struct strag_topology *topology = machine_hosts(&grid, (int[]){14, 15, 16, 20, 21, 22}, 6, 1);
    assert_non_null(topology->box);
    assert_list(topology->box->size, (int[]){3, 2}, 2);
    assert_list(topology->box->first, (int[]){2, 2}, 2);
    assert_true(topology->box->wrap[0] && topology->box->wrap[1]);
    strag_topology_free(topology);
}

/* The ends of whole boards are joined by the row's switch. */
TEST(on_boards)
{
    static const struct {
        const char *dims, *board;
        int first[2], size[2], wrap[2];
    } cases[] = {
        {"8x6", "2x3", {0, 0}, {8, 6}, {1, 1}}, {"8x6", "2x3", {2, 3}, {4, 3}, {1, 1}},
        {"8x6", "2x3", {1, 0}, {2, 3}, {0, 1}}, {"8x6", "2x3", {2, 1}, {2, 2}, {1, 0}},
        {"8x6", "2x3", {2, 3}, {3, 2}, {0, 0}}, {"8x6", "1x1", {3, 1}, {2, 3}, {1, 1}},
        {"8x6", "8x6", {0, 0}, {8, 6}, {1, 1}}, {"8x6", "8x6", {0, 1}, {8, 5}, {1, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strag_grid grid = machine_grid_of(boards, false, cases[i].dims, cases[i].board);
        int positions[48], hosts = 0;
        for (int y = cases[i].first[1]; y < cases[i].first[1] + cases[i].size[1]; y++) {
            for (int x = cases[i].first[0]; x < cases[i].first[0] + cases[i].size[0]; x++)
                positions[hosts++] = y * grid.size[0] + x;
        }
        struct strag_topology *topology = machine_hosts(&grid, positions, hosts, 1);
        assert_non_null(topology->box);
        assert_list(topology->box->first, cases[i].first, 2);
        assert_list(topology->box->size, cases[i].size, 2);
        for (int d = 0; d < 2; d++)
            assert_int_equal(topology->box->wrap[d], cases[i].wrap[d]);
        strag_topology_free(topology);
    }
}

/* ---- All subsets of small grids, against a search of all boxes ---- */

/* Is a position in the box? */
static bool is_inside(const struct strag_grid *grid, const int *first, const int *size,
                      int position)
{
    int at[STRAG_DIMS_MAX];
    strag_grid_coordinates(grid, position, at);
    assert_int_equal(strag_grid_position(grid, at), position);
    for (int d = 0; d < grid->dims; d++) {
        if ((at[d] - first[d] + grid->size[d]) % grid->size[d] >= size[d])
            return false;
    }
    return true;
}

static bool fits(const struct strag_grid *grid, unsigned set, const int *first, const int *size)
{
    for (int position = 0; position < strag_grid_positions(grid); position++) {
        if (is_inside(grid, first, size, position) != (set >> position & 1))
            return false;
    }
    return true;
}

/* Next of all boxes of a grid, in three dimensions at most. @return false after the last one */
static bool next_box(const struct strag_grid *grid, int *first, int *size)
{
    for (int d = 0; d < grid->dims; d++) {
        bool cyclic = grid->network == STRAG_NETWORK_TORUS && grid->wrap[d];
        size[d]++;
        if (size[d] <= (cyclic ? grid->size[d] : grid->size[d] - first[d]))
            return true;
        size[d] = 1;
        first[d]++;
        if (first[d] < grid->size[d])
            return true;
        first[d] = 0;
    }
    return false;
}

static bool is_some_box(const struct strag_grid *grid, unsigned set)
{
    int first[STRAG_DIMS_MAX] = {0}, size[STRAG_DIMS_MAX] = {1, 1, 1, 1};
    do {
        if (fits(grid, set, first, size))
            return true;
    } while (next_box(grid, first, size));
    return false;
}

/* Each cell has the host that is there. */
static void check_cells(const struct strag_topology *topology, const int *positions)
{
    const struct strag_box *box = topology->box;
    const struct strag_grid *grid = &topology->grid;
    int cells = 1;
    for (int d = 0; d < grid->dims; d++)
        cells *= box->size[d];
    assert_int_equal(box->cells, topology->n);
    assert_int_equal(cells, topology->n);
    for (int cell = 0; cell < cells; cell++) {
        int at[STRAG_DIMS_MAX], rest = cell;
        for (int d = 0; d < grid->dims; d++) {
            at[d] = (box->first[d] + rest % box->size[d]) % grid->size[d];
            rest /= box->size[d];
        }
        assert_int_equal(positions[box->rank_at[cell]], strag_grid_position(grid, at));
        assert_int_equal(box->cell_of[box->rank_at[cell]], cell);
    }
}

static void check_subset(const struct strag_grid *grid, unsigned set, struct rng *rng)
{
    int positions[32], hosts = 0;
    for (int position = 0; position < strag_grid_positions(grid); position++) {
        if (set >> position & 1) { /* in random order */
            int other = (int)rng_below(rng, (unsigned)hosts + 1);
            positions[hosts++] = positions[other];
            positions[other] = position;
        }
    }
    struct strag_topology *topology = machine_hosts(grid, positions, hosts, 1);
    if ((topology->box != NULL) != is_some_box(grid, set))
        fail_msg("%s, hosts %#x: %s", strag_network_name(grid->network), set,
                 topology->box ? "not a box" : "a box");
    if (topology->box) {
        assert_true(fits(grid, set, topology->box->first, topology->box->size));
        check_cells(topology, positions);
    }
    strag_topology_free(topology);
}

TEST(all_subsets)
{
    static const char *const dims[] = {"9", "4x2", "3x3", "2x2x2", "2x1x4", "1x5x2"};
    struct rng rng = {support_seed("all subsets")};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        struct strag_grid grids[] = {
            machine_grid_of(torus, true, dims[i], NULL),
            machine_grid_of(torus, false, dims[i], NULL),
            machine_grid_of(hyperx, false, dims[i], NULL),
            machine_grid_of(boards, false, dims[i], dims[i]),
        };
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
            for (unsigned set = 1; set < 1u << strag_grid_positions(&grids[g]); set++)
                check_subset(&grids[g], set, &rng);
        }
    }
}

/* Memory and time are the job's, not the grid's. */
TEST(a_huge_grid)
{
    struct strag_grid grid = machine_grid_of(torus, true, "1", NULL);
    grid.size[0] = INT32_MAX;
    int positions[] = {INT32_MAX - 1, 1, 0, INT32_MAX - 2};
    struct strag_topology *topology = machine_hosts(&grid, positions, 4, 1);
    assert_non_null(topology->box);
    assert_int_equal(topology->box->first[0], INT32_MAX - 2);
    assert_int_equal(topology->box->size[0], 4);
    assert_list(topology->box->rank_at, (int[]){3, 0, 2, 1}, 4);
    strag_topology_free(topology);

    static const int next[] = {0, 1, 2};
    topology = machine_hosts(&grid, next, 3, 1);
    assert_non_null(topology->box);
    assert_list(topology->box->rank_at, (int[]){0, 1, 2}, 3);
    strag_topology_free(topology);
}
