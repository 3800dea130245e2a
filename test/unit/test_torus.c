/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job as algorithms for tori see it: dimensions, parts, cells and ranks, the dimensions in turn.
 */
#include "algorithms/torus.h"

#include "machines.h"
#include "support.h"

static const enum strag_network torus = STRAG_NETWORK_TORUS;

TEST(log2_of_integers)
{
    static const int expected[] = {0, 0, 1, 2, 2, 3, 3, 3, 3, 4};
    for (int n = 1; n < 10; n++)
        assert_int_equal(strag_log2_ceil(n), expected[n]);
    assert_int_equal(strag_log2_ceil(1 << 30), 30);
    assert_int_equal(strag_log2_ceil((1 << 30) + 1), 31);
    assert_int_equal(strag_log2_ceil(INT32_MAX), 31);
}

/* Ranks, cells and local numbers are the same both ways. */
static void check_places(const struct strag_torus *view, int n)
{
    assert_int_equal(view->hosts * view->local, n);
    for (int rank = 0; rank < n; rank++) {
        int local, cell = strag_torus_cell(view, rank, &local);
        assert_in_range(cell, 0, view->hosts - 1);
        assert_in_range(local, 0, view->local - 1);
        assert_int_equal(strag_torus_rank(view, cell, local), rank);
        if (view->topology && view->local > 1)
            assert_true(
                strag_topology_same_host(view->topology, rank, strag_torus_rank(view, cell, 0)));
    }
}

TEST(a_box)
{
    struct strag_topology *topology = machine_grid(torus, true, "4x1x3", NULL, 2);
    struct strag_problem problem = {.n = 24, .topology = topology};
    struct strag_torus view = strag_torus_of(&problem);
    assert_int_equal(view.dims, 2);
    assert_int_equal(view.size[0], 4);
    assert_int_equal(view.size[1], 3);
    assert_int_equal(view.stride[0], 1);
    assert_int_equal(view.stride[1], 4);
    assert_true(view.wrap[0] && view.wrap[1] && view.grid);
    assert_int_equal(view.hosts, 12);
    assert_int_equal(view.local, 2);
    assert_int_equal(view.parts, 4);
    assert_int_equal(strag_torus_coordinate(&view, 6, 0), 2);
    assert_int_equal(strag_torus_coordinate(&view, 6, 1), 1);
    assert_int_equal(strag_torus_move(&view, 6, 0, 3), 7);
    assert_int_equal(strag_torus_move(&view, 6, 1, 0), 2);
    check_places(&view, 24);
    problem.ports = 1;
    assert_int_equal(strag_torus_of(&problem).parts, 1);
    strag_topology_free(topology);
}

/* One line of cells: of hosts, or of ranks where hosts are unlike. */
static void check_line(struct strag_topology *topology, int n, int hosts)
{
    const struct strag_problem problem = {.n = n, .topology = topology};
    struct strag_torus view = strag_torus_of(&problem);
    assert_int_equal(view.dims, hosts > 1);
    assert_int_equal(view.hosts, hosts);
    assert_int_equal(view.parts, 1);
    assert_false(view.grid);
    if (hosts > 1)
        assert_true(view.size[0] == hosts && view.stride[0] == 1 && view.wrap[0]);
    check_places(&view, n);
    strag_topology_free(topology);
}

TEST(without_a_box)
{
    struct strag_grid grid = machine_grid_of(torus, true, "4x4", NULL);
    check_line(NULL, 7, 7);
    check_line(NULL, 1, 1);
    check_line(machine_flat(6, 2), 6, 3);
    check_line(machine_flat(5, 2), 5, 5);
    check_line(machine_flat(4, 4), 4, 1);
    check_line(machine_tree("(3,3),(3,3)"), 12, 4);
    check_line(machine_tree("2,3"), 5, 5);
    check_line(machine_hosts(&grid, (int[]){0, 5, 10}, 3, 2), 6, 3);
}

/* ---- The dimensions in turn ---- */

static void assert_order(const char *dims, int start, const char *expected)
{
    struct strag_topology *topology = machine_grid(torus, true, dims, NULL, 1);
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    struct strag_torus view = strag_torus_of(&problem);
    struct strag_torus_step steps[STRAG_TORUS_STEPS_MAX];
    char text[200] = "";
    int count = strag_torus_steps(&view, start, steps);
    for (int s = 0; s < count; s++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%c%d", s ? " " : "",
                 'x' + steps[s].dim, steps[s].level);
    assert_string_equal(text, expected);
    strag_topology_free(topology);
}

TEST(in_turn)
{
    assert_order("8", 0, "x0 x1 x2");
    assert_order("4x4", 0, "x0 y0 x1 y1");
    assert_order("4x4", 1, "y0 x0 y1 x1");
    assert_order("2x8", 0, "x0 y0 y1 y2");
    assert_order("3x2x5", 2, "z0 x0 y0 z1 x1 z2");
    assert_order("1x1", 0, "");
}

/* Any number of ports from 1 to two per dimension; if it is left open, the choices are those for
 * 1 port and for one per dimension, which a count of blocks selects. */
TEST(any_number_of_ports)
{
    static const char *const names[] = {"bine",           "bine-latency", "torus-halving",
                                        "torus-doubling", "bucket",       "swing-latency"};
    static const char *const shapes[] = {"4", "4x2", "3x4", "2x2x3", "2x2x2"};
    for (size_t a = 0; a < sizeof names / sizeof *names; a++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            struct strag_topology *topology = machine_grid(torus, true, shapes[s], NULL, 1);
            struct strag_problem problem = {.n = topology->n, .topology = topology};
            const int dims = topology->box->dims;
            int blocks[STRAG_CHOICES_MAX], per_part = 0, most = 0;
            for (problem.ports = 1; problem.ports <= 2 * dims; problem.ports++) {
                most = support_verified(names[a], &problem).blocks;
                per_part = problem.ports == 1 ? most : per_part;
                assert_int_equal(most, per_part * problem.ports);
            }
            problem.ports = 0;
            assert_int_equal(support_verified(names[a], &problem).blocks, most);
            assert_int_equal(strag_algorithm_choices(support_algorithm(names[a]), &problem, blocks),
                             dims > 1 ? 3 : 2);
            assert_int_equal(blocks[0], 0);
            for (int c = 1; c < (dims > 1 ? 3 : 2); c++) {
                assert_int_equal(blocks[c], c == 1 ? per_part : dims * per_part);
                problem.blocks = blocks[c];
                const int rounds = support_verified(names[a], &problem).rounds;
                struct strag_problem pinned = {
                    .n = topology->n, .ports = c == 1 ? 1 : dims, .topology = topology};
                assert_int_equal(rounds, support_verified(names[a], &pinned).rounds);
            }
            strag_topology_free(topology);
        }
    }
}

TEST(refusals)
{
    struct strag_error err = {""};
    const struct strag_algorithm *swing = support_algorithm("swing");
    const struct strag_problem line = {.algorithm = swing, .n = 8, .ports = 2};
    const struct strag_problem many = {.algorithm = swing, .n = INT32_MAX, .ports = 2};
    const struct strag_problem three = {.algorithm = swing, .n = 8, .ports = 3};
    assert_int_equal(strag_torus_check(&line, 8, &err), STRAG_OK);
    assert_int_equal(strag_torus_check(&three, 8, &err), STRAG_ERR_UNSUPPORTED);
    assert_string_equal(
        err.text,
        "swing drives up to 2 ports for each dimension with more than one host, here 2; not 3");
    assert_int_equal(strag_torus_check(&many, INT32_MAX, &err), STRAG_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "swing cuts the vector into 1073741823 blocks at most, too few "
                                  "for 2147483647 ranks");
}
