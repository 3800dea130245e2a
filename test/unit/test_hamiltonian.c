/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hamiltonian: on every torus of up to 20 x 20 hosts the rings are cycles through all hosts along
 * links that no two of them share; proved on many shapes; what is refused.
 */
#include "machines.h"
#include "model/network.h"
#include "support.h"

static const enum strag_network torus = STRAG_NETWORK_TORUS, hyperx = STRAG_NETWORK_HYPERX,
                                boards = STRAG_NETWORK_HAMMINGMESH;

enum { HOSTS_MAX = 400, PARTS = 4 };

static const struct strag_algorithm *hamiltonian(void)
{
    return support_algorithm("hamiltonian");
}

static struct strag_topology *torus_of(int x, int y)
{
    char dims[40];
    snprintf(dims, sizeof dims, "%dx%d", x, y);
    return machine_grid(torus, true, dims, NULL, 1);
}

/* Kotzig: all products of two cycles; of the ring of two hosts with a double link, every other. */
static bool exists(int x, int y)
{
    if (x < 2 || y < 2)
        return false;
    return (x > 2 && y > 2) || (x % 2 == 0 && y % 2 == 0);
}

/* ---- The rings: whom each rank sends to in round 0, part by part ---- */

struct rings {
    int n, rank, part;
    int next[PARTS][HOSTS_MAX], block[PARTS][HOSTS_MAX];
};

static void note_next(void *context, const struct strag_op *visited)
{
    struct rings *rings = context;
    if (visited->kind != STRAG_SEND)
        return;
    assert_int_equal(visited->count, 1);
    assert_int_equal(visited->first / rings->n, rings->part);
    rings->block[rings->part][rings->rank] = visited->first % rings->n;
    rings->next[rings->part++][rings->rank] = visited->peer;
}

static void find_rings(struct strag_topology *topology, struct rings *rings)
{
    const struct strag_problem problem = {.n = topology->n, .ports = PARTS, .topology = topology};
    struct strag_instance instance;
    struct strag_error err = {""};
    assert_int_equal(strag_instance_open(&instance, hamiltonian(), &problem, &err), STRAG_OK);
    struct strag_builder *visitor = strag_visitor_create(&instance.shape, note_next, rings);
    assert_non_null(visitor);
    *rings = (struct rings){.n = topology->n};
    for (rings->rank = 0; rings->rank < rings->n; rings->rank++) {
        rings->part = 0;
        strag_visitor_aim(visitor, rings->rank, (struct strag_rounds){0, 1});
        strag_instance_build(&instance, rings->rank, visitor);
        assert_int_equal(rings->part, PARTS);
    }
    assert_int_equal(strag_visitor_finish(visitor, &err), STRAG_OK);
    strag_instance_close(&instance);
}

static void assert_single_cycle(const struct rings *rings, int part)
{
    int at = 0, length = 0;
    do {
        int to = rings->next[part][at];
        assert_int_equal(rings->block[part][to], (rings->block[part][at] + 1) % rings->n);
        at = to;
        length++;
    } while (at != 0 && length <= rings->n);
    if (length != rings->n)
        fail_msg("part %d of %d hosts: a cycle of %d", part, rings->n, length);
}

/* @return how many links lead from a to b: 1, 2 if both ways round a ring of two do, or 0 */
static int links_between(int a, int b, int x, int y)
{
    int dx = (b % x - a % x + x) % x, dy = (b / x - a / x + y) % y;
    int across = (dy == 0) * ((dx == 1) + (dx == x - 1));
    return across + (dx == 0) * ((dy == 1) + (dy == y - 1));
}

static void assert_no_shared_link(const struct rings *rings, int x, int y)
{
    for (int a = 0; a < rings->n; a++) {
        for (int part = 0; part < PARTS; part++) {
            int b = rings->next[part][a], used = 0;
            for (int other = 0; other < PARTS; other++)
                used += rings->next[other][a] == b;
            if (used > links_between(a, b, x, y))
                fail_msg("%dx%d: %d rings from %d to %d", x, y, used, a, b);
        }
        assert_int_equal(rings->next[1][rings->next[0][a]], a);
        assert_int_equal(rings->next[3][rings->next[2][a]], a);
    }
}

TEST(cycles_of_all_shapes)
{
    static struct rings rings;
    int shapes = 0;
    for (int x = 2; x <= 20; x++) {
        for (int y = 2; y <= 20; y++) {
            if (!exists(x, y))
                continue;
            struct strag_topology *topology = torus_of(x, y);
            find_rings(topology, &rings);
            for (int part = 0; part < PARTS; part++)
                assert_single_cycle(&rings, part);
            assert_no_shared_link(&rings, x, y);
            strag_topology_free(topology);
            shapes++;
        }
    }
    assert_int_equal(shapes, 18 * 18 + 19);
}

/* ---- The proof ---- */

static void prove(const struct strag_problem *problem, int parts)
{
    const struct strag_measure measure = support_verified("hamiltonian", problem);
    int n = problem->n;
    assert_int_equal(measure.rounds, 2 * (n - 1));
    assert_int_equal(measure.blocks, n * parts);
    assert_near(measure.sent_max, 2.0 * (n - 1) / n);
    assert_near(measure.sent_total, 2.0 * (n - 1));
    assert_near(measure.reduce_max, 1.0 * (n - 1) / n);
}

static void prove_all(struct strag_topology *topology)
{
    struct strag_problem problem = {.n = topology->n, .topology = topology};
    prove(&problem, 4);
    for (problem.ports = 1; problem.ports <= 4; problem.ports *= 2)
        prove(&problem, problem.ports);
    strag_topology_free(topology);
}

TEST(of_small_shapes)
{
    for (int x = 2; x <= 7; x++) {
        for (int y = 2; y <= 7; y++) {
            if (exists(x, y))
                prove_all(torus_of(x, y));
        }
    }
    prove_all(machine_grid(torus, true, "4x1x5", NULL, 1));
    prove_all(machine_grid(hyperx, true, "5x4", NULL, 1));
    prove_all(machine_grid(boards, false, "6x4", "3x2", 1));
}

/* STRAG_CASES as large as it takes proves all up to 20 x 20. */
TEST(of_random_shapes)
{
    struct rng rng = {support_seed("hamiltonian")};
    for (long cases = support_cases(4); cases > 0; cases--) {
        int x = 3 + (int)rng_below(&rng, 18), y = 3 + (int)rng_below(&rng, 18);
        struct strag_topology *topology = torus_of(x, y);
        prove(&(struct strag_problem){.n = x * y, .topology = topology}, 4);
        strag_topology_free(topology);
    }
}

/* One cycle: a ring, or one each way round. */
TEST(in_one_dimension)
{
    for (int n = 2; n <= 12; n++) {
        struct strag_topology *rings[] = {NULL, machine_flat(n, 1), machine_flat(n, 3),
                                          torus_of(1, n), torus_of(n, 1)};
        for (int t = 0; t < 5; t++) {
            for (int ports = 0; ports <= 2; ports++)
                prove(&(struct strag_problem){.n = n, .ports = ports, .topology = rings[t]},
                      ports   ? ports
                      : t < 3 ? 1
                              : 2);
            strag_topology_free(rings[t]);
        }
    }
}

/* Ranks in random order. */
TEST(of_shuffled_ranks)
{
    struct rng rng = {support_seed("hamiltonian, shuffled")};
    struct strag_grid grid = machine_grid_of(torus, true, "6x5", NULL);
    int positions[30] = {0};
    for (int i = 0; i < 30; i++) {
        int other = (int)rng_below(&rng, (unsigned)i + 1);
        positions[i] = positions[other];
        positions[other] = i;
    }
    prove_all(machine_hosts(&grid, positions, 30, 1));
}

/* ---- Links ---- */

/* @return the most messages that a link carries in a round */
static double busiest(const struct strag_problem *problem, int round)
{
    struct strag_model model = strag_model_default(problem->topology->network);
    struct strag_links *links = NULL;
    struct strag_error err = {""};
    assert_int_equal(strag_links_create(problem->topology, &model, NULL, &links, &err), STRAG_OK);
    float *load = calloc((size_t)links->nlinks, sizeof *load);
    double most = 0;
    assert_non_null(load);
    for (int rank = 0; rank < problem->n; rank++) {
        struct strag_plan *plan = support_plan("hamiltonian", problem, rank);
        for (int i = 0; i < plan->nops; i++) {
            struct strag_hop hops[20];
            assert_in_range(links->longest, 1, 20);
            if (plan->ops[i].round != round || plan->ops[i].kind != STRAG_SEND)
                continue;
            struct strag_route route = strag_links_route(links, rank, plan->ops[i].peer, hops);
            for (int h = 0; h < route.nhops; h++) {
                load[hops[h].link] += hops[h].share;
                most = load[hops[h].link] > most ? load[hops[h].link] : most;
            }
        }
        strag_plan_free(plan);
    }
    free(load);
    strag_links_free(links);
    return most;
}

TEST(links_are_not_shared)
{
    static const int shapes[][2] = {{3, 3}, {4, 4}, {5, 4}, {4, 5}, {2, 6}, {2, 2}, {6, 3}, {3, 7}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct strag_topology *topology = torus_of(shapes[i][0], shapes[i][1]);
        for (int ports = 1; ports <= 4; ports *= 2) {
            const struct strag_problem problem = {
                .n = topology->n, .ports = ports, .topology = topology};
            for (int round = 0; round < 2 * (topology->n - 1); round += topology->n - 2)
                assert_in_range(100 * busiest(&problem, round) + 0.5, 50, 100);
        }
        strag_topology_free(topology);
    }
}

/* ---- Some rounds only ---- */

/* Every round by itself; and those that are said to be identical are. */
TEST(rounds_that_are_wanted)
{
    struct strag_topology *topology = torus_of(5, 4);
    const struct strag_problem problem = {.n = 20, .topology = topology};
    struct strag_instance instance;
    struct strag_error err = {""};
    support_some_rounds(hamiltonian(), &problem);
    assert_int_equal(strag_instance_open(&instance, hamiltonian(), &problem, &err), STRAG_OK);
    for (int rank = 0; rank < 20; rank++) {
        struct strag_plan *plan = support_plan("hamiltonian", &problem, rank);
        for (int round = 0; round < instance.claim.rounds; round++) {
            for (int i = 0; i < 8; i++) {
                assert_int_equal(plan->ops[8 * round + i].round, round);
                assert_int_equal(plan->ops[8 * round + i].peer, plan->ops[i].peer);
                assert_int_equal(plan->ops[8 * round + i].kind == STRAG_RECV,
                                 i % 2 == 1 && round >= 19);
            }
        }
        strag_plan_free(plan);
    }
    for (int round = 0; round < instance.claim.rounds; round++)
        assert_int_equal(strag_instance_same_rounds(&instance, round, NULL), 19 - round % 19);
    strag_instance_close(&instance);
    strag_topology_free(topology);
}

/* ---- What is refused ---- */

TEST(refusals)
{
    static const char *const whole = "hamiltonian needs a whole torus of one or two dimensions";
    struct strag_grid grid = machine_grid_of(torus, true, "4x4", NULL);
    support_refused("hamiltonian", machine_grid(torus, true, "3x3x3", NULL, 1), 0, whole);
    support_refused("hamiltonian", machine_grid(torus, false, "3x3", NULL, 1), 0, whole);
    support_refused("hamiltonian", machine_grid(torus, false, "5", NULL, 1), 0, whole);
    support_refused("hamiltonian", machine_hosts(&grid, (int[]){0, 1, 4, 5}, 4, 1), 0, whole);
    support_refused("hamiltonian", machine_hosts(&grid, (int[]){0, 5}, 2, 1), 0,
                    "hamiltonian needs hosts that fill a box of the torus");
    support_refused("hamiltonian", torus_of(2, 5), 0,
                    "hamiltonian needs two sizes of at least 3, or 2 and an even one; on 5 x 2 "
                    "hosts no two cycles are without a common link");
    support_refused("hamiltonian", machine_grid(torus, true, "3x3", NULL, 2), 0,
                    "hamiltonian needs one rank per host, not 2");
    support_refused("hamiltonian", torus_of(3, 3), 3,
                    "hamiltonian drives 1, 2 or 4 ports here, not 3");
    support_refused("hamiltonian", torus_of(3, 3), 6,
                    "hamiltonian drives 1, 2 or 4 ports here, not 6");
    support_refused("hamiltonian", torus_of(1, 3), 4,
                    "hamiltonian drives 1 or 2 ports here, not 4");
    support_refused("hamiltonian", machine_flat(9, 1), 3,
                    "hamiltonian drives 1 or 2 ports here, not 3");
}
