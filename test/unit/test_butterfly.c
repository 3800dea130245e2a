/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The four butterflies (torus-doubling, torus-halving, bine, bine-latency): proved on tori of many
 * shapes, with one port and with all, and held to the numbers of butterfly.h; who meets whom, with
 * which blocks (the examples in butterfly.h, torus_doubling.c and bine.c), and what that costs;
 * what is refused.
 */
#include "machines.h"
#include "model/cost.h"
#include "support.h"

static const enum strag_network torus = STRAG_NETWORK_TORUS;

static const struct butterfly {
    const char *name;
    bool whole;
} butterflies[] = {
    {"torus-doubling", true}, {"torus-halving", false}, {"bine", false}, {"bine-latency", true}};

enum { BUTTERFLIES = sizeof butterflies / sizeof *butterflies };

/* ---- The numbers of butterfly.h ---- */

struct sizes {
    int dims, steps, folds, active;
};

static void add_size(struct sizes *sizes, int size)
{
    int log = 0;
    if (size < 2)
        return;
    while (2 << log <= size)
        log++;
    sizes->dims++;
    sizes->steps += log;
    sizes->folds += size != 1 << log;
    sizes->active <<= log;
}

static struct sizes sizes_of(const struct strag_topology *topology, int n)
{
    struct sizes sizes = {0, 0, 0, 1};
    if (!topology || !topology->box)
        add_size(&sizes, n);
    else
        for (int d = 0; d < topology->box->dims; d++)
            add_size(&sizes, topology->box->size[d]);
    return sizes;
}

static void prove(const struct butterfly *butterfly, const struct strag_problem *problem, int parts)
{
    const struct sizes sizes = sizes_of(problem->topology, problem->n);
    const struct strag_measure measure = support_verified(butterfly->name, problem);
    double p = sizes.active;
    assert_int_equal(measure.rounds, (butterfly->whole ? 1 : 2) * sizes.steps + 2 * sizes.folds);
    assert_int_equal(measure.blocks, parts * (butterfly->whole ? 1 : sizes.active));
    assert_near(measure.sent_max, (butterfly->whole ? sizes.steps : 2 * (p - 1) / p) + sizes.folds);
    assert_near(measure.sent_total,
                2 * (problem->n - p) + (butterfly->whole ? p * sizes.steps : 2 * (p - 1)));
}

/* All four, with one port, with all, and with as many as they choose themselves: all, on a grid. */
static void prove_all(struct strag_topology *topology)
{
    int all = 2 * sizes_of(topology, topology->n).dims;
    struct strag_problem problem = {.n = topology->n, .topology = topology};
    for (int b = 0; b < BUTTERFLIES; b++) {
        problem.ports = 1;
        prove(&butterflies[b], &problem, 1);
        problem.ports = all;
        prove(&butterflies[b], &problem, all);
        problem.ports = 0;
        prove(&butterflies[b], &problem, topology->box ? all : 1);
    }
    strag_topology_free(topology);
}

TEST(in_one_dimension)
{
    for (int n = 2; n <= 36; n++) {
        char dims[40];
        snprintf(dims, sizeof dims, "%d", n);
        prove_all(machine_grid(torus, n % 3 > 0, dims, NULL, 1));
    }
}

TEST(in_two_dimensions)
{
    for (int cells = 1; cells < 64; cells++) {
        char dims[40];
        snprintf(dims, sizeof dims, "%dx%d", 1 + cells % 8, 1 + cells / 8);
        prove_all(machine_grid(torus, true, dims, NULL, 1));
    }
}

TEST(in_three_dimensions)
{
    for (int cells = 1; cells < 64; cells++) {
        char dims[40];
        snprintf(dims, sizeof dims, "%dx%dx%d", 1 + cells % 4, 1 + cells / 4 % 4, 1 + cells / 16);
        prove_all(machine_grid(torus, true, dims, NULL, 1));
    }
}

TEST(of_other_shapes)
{
    static const char *const dims[] = {"2x2x2x2x2x2", "3x5x7", "16x4", "1x12", "2x1x3x1x2"};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        prove_all(machine_grid(torus, true, dims[i], NULL, 1));
        prove_all(machine_grid(STRAG_NETWORK_HYPERX, true, dims[i], NULL, 1));
    }
    prove_all(machine_grid(STRAG_NETWORK_HAMMINGMESH, false, "4x8", "2x2", 1));
}

/* Boxes at random places of a torus; ranks in random order: the lower rank is not the lower cell.
 */
TEST(on_a_part_of_a_torus)
{
    struct rng rng = {support_seed("a part of a torus")};
    for (long cases = support_cases(20); cases > 0; cases--)
        prove_all(machine_random_box("5x8x6", 2, 1, &rng));
}

TEST(without_a_grid)
{
    for (int n = 2; n <= 20; n++) {
        prove_all(machine_flat(n, 1));
        prove_all(machine_flat(n, 3));
        for (int b = 0; b < BUTTERFLIES; b++)
            prove(&butterflies[b], &(struct strag_problem){.n = n}, 1);
    }
    prove_all(machine_tree("((1,3,2),(4,2))"));
}

/* Ranks are a ring in the order of the tree, whatever their numbers. */
TEST(in_the_order_of_the_tree)
{
    struct machine_nodes nodes = machine_parse("N(H(0 2) H(1 3))");
    struct strag_topology *topology = machine_finish(&nodes, NULL);
    const struct strag_problem problem = {.n = 4, .topology = topology};
    for (int b = 0; b < BUTTERFLIES; b++) {
        struct strag_plan *plan = support_plan(butterflies[b].name, &problem, 0);
        bool near = false;
        for (int i = 0; i < plan->nops; i++)
            near = near || plan->ops[i].peer == 2;
        assert_true(near);
        /* The neighbour in the tree comes first, but where the farthest does. */
        int first = strcmp(butterflies[b].name, "bine-latency") == 0 ? 3 : 2;
        assert_int_equal(plan->ops[0].peer, first);
        strag_plan_free(plan);
    }
    strag_topology_free(topology);
}

/* ---- Examples: torus-doubling and torus-halving ---- */

static struct strag_plan *plan_on(const char *name, const struct strag_topology *topology,
                                  int ports, int rank)
{
    const struct strag_problem problem = {.n = topology->n, .ports = ports, .topology = topology};
    return support_plan(name, &problem, rank);
}

static void assert_op(const struct strag_op *op, struct strag_op expected)
{
    assert_int_equal(op->kind, expected.kind);
    assert_int_equal(op->round, expected.round);
    assert_int_equal(op->peer, expected.peer);
    assert_int_equal(op->first, expected.first);
    assert_int_equal(op->count, expected.count);
}

/* The table in butterfly.h, and its way back. */
TEST(halves_of_4x2)
{
    static const struct {
        int rank, peer[3], sends[3];
    } table[] = {{0, {1, 4, 2}, {4, 2, 1}}, {5, {4, 1, 7}, {0, 4, 7}}};
    static const int count[] = {4, 2, 1};
    struct strag_topology *topology = machine_grid(torus, true, "4x2", NULL, 1);
    for (int r = 0; r < 2; r++) {
        struct strag_plan *plan = plan_on("torus-halving", topology, 1, table[r].rank);
        assert_int_equal(plan->nops, 12);
        for (int i = 0; i < 3; i++) {
            int peer = table[r].peer[i], first = table[r].sends[i], kept = first ^ count[i];
            struct strag_op send = {
                .kind = STRAG_SEND, .peer = peer, .round = i, .first = first, .count = count[i]};
            struct strag_op recv = {.kind = STRAG_RECV_REDUCE,
                                    .peer = peer,
                                    .round = i,
                                    .first = kept,
                                    .count = count[i]};
            assert_op(&plan->ops[2 * i], send);
            assert_op(&plan->ops[2 * i + 1], recv);
            assert_string_equal(plan->stages[plan->ops[2 * i].stage], "reduce-scatter");
            send.round = recv.round = 5 - i;
            send.first = kept;
            recv.first = first;
            recv.kind = STRAG_RECV;
            assert_op(&plan->ops[10 - 2 * i], send);
            assert_op(&plan->ops[11 - 2 * i], recv);
            assert_string_equal(plan->stages[plan->ops[11 - 2 * i].stage], "allgather");
        }
        strag_plan_free(plan);
    }
    strag_topology_free(topology);
}

/* The table in torus_doubling.c; the parts of all ports begin in the one or the other dimension,
 * and the mirrored ones meet what the negated coordinates would. */
TEST(pairs_on_4x4)
{
    static const int change[2][4][2] = {{{1, 0}, {0, 1}, {2, 0}, {0, 2}},
                                        {{0, 1}, {1, 0}, {0, 2}, {2, 0}}};
    struct strag_topology *topology = machine_grid(torus, true, "4x4", NULL, 1);
    for (int rank = 0; rank < 16; rank++) {
        struct strag_plan *plan = plan_on("torus-doubling", topology, 4, rank);
        assert_int_equal(plan->nops, 4 * 4 * 2);
        for (int i = 0; i < plan->nops; i++) {
            const struct strag_op *op = &plan->ops[i];
            int part = i / 2 % 4, sign = part < 2 ? 1 : 3;
            const int *with = change[part % 2][op->round];
            int x = sign * (rank % 4) % 4 ^ with[0], y = sign * (rank / 4) % 4 ^ with[1];
            struct strag_op expected = {.kind = i % 2 ? STRAG_RECV_REDUCE : STRAG_SEND,
                                        .round = i / 8,
                                        .peer = sign * x % 4 + sign * y % 4 * 4,
                                        .first = part,
                                        .count = 1};
            assert_op(op, expected);
        }
        strag_plan_free(plan);
    }
    strag_topology_free(topology);
}

/* On a ring of 6 ranks 0 and 2 are folded; 1, 3, 4, 5 are numbers 0 to 3. */
TEST(folded_ring)
{
    static const int peers[6][4] = {{1, 1}, {0, 3, 4, 0}, {3, 3}, {2, 1, 5, 2}, {5, 1}, {4, 3}};
    struct strag_topology *topology = machine_grid(torus, true, "6", NULL, 1);
    for (int rank = 0; rank < 6; rank++) {
        struct strag_plan *plan = plan_on("torus-doubling", topology, 1, rank);
        int met[8], count = 0;
        for (int i = 0; i < plan->nops; i++) {
            if (count == 0 || plan->ops[i].round != plan->ops[i - 1].round)
                met[count++] = plan->ops[i].peer;
        }
        assert_int_equal(count, rank == 1 || rank == 3 ? 4 : 2);
        for (int i = 0; i < count; i++)
            assert_int_equal(met[i], peers[rank][i]);
        strag_plan_free(plan);
    }
    strag_topology_free(topology);
}

/* ---- Examples: bine and bine-latency ---- */

/* The only send of a round. */
static const struct strag_op *send_of(const struct strag_plan *plan, int round)
{
    const struct strag_op *found = NULL;
    for (int i = 0; i < plan->nops; i++) {
        if (plan->ops[i].kind == STRAG_SEND && plan->ops[i].round == round) {
            assert_null(found);
            found = &plan->ops[i];
        }
    }
    assert_non_null(found);
    return found;
}

/* The table in bine.c. */
TEST(pairs_of_8)
{
    static const int meets[3][8] = {
        {1, 0, 3, 2, 5, 4, 7, 6}, {7, 2, 1, 4, 3, 6, 5, 0}, {3, 6, 5, 0, 7, 2, 1, 4}};
    for (int rank = 0; rank < 8; rank++) {
        struct strag_plan *halves = support_plan("bine", &(struct strag_problem){.n = 8}, rank);
        struct strag_plan *whole =
            support_plan("bine-latency", &(struct strag_problem){.n = 8}, rank);
        for (int t = 0; t < 3; t++) {
            assert_int_equal(send_of(halves, t)->peer, meets[t][rank]);
            assert_int_equal(send_of(halves, 5 - t)->peer, meets[t][rank]);
            assert_int_equal(send_of(whole, 2 - t)->peer, meets[t][rank]);
            assert_int_equal(send_of(halves, t)->count, 4 >> t);
            assert_int_equal(send_of(halves, 5 - t)->count, 4 >> t);
        }
        strag_plan_free(halves);
        strag_plan_free(whole);
    }
}

/* 1, 1, 3, 5, 11, ... apart, in both directions; none farther than a third of the ring and one. */
TEST(distances)
{
    for (int log = 1; log <= 10; log++) {
        int n = 1 << log;
        for (int rank = 0; rank < n; rank++) {
            struct strag_plan *plan = support_plan("bine", &(struct strag_problem){.n = n}, rank);
            int distance = 1, sign = rank % 2 ? -1 : 1;
            for (int t = 0; t < log; t++) {
                int to = rank + sign * distance;
                assert_int_equal(send_of(plan, t)->peer, (to % n + n) % n);
                assert_true(n == 2 || 3 * distance <= n + 3);
                sign = -sign;
                distance = 2 * distance + (t % 2 ? 1 : -1);
            }
            strag_plan_free(plan);
        }
    }
}

/* ---- What links carry ---- */

/* Seconds for a byte over links of one byte per second, without latency. */
static double bytes_time(const char *name, const char *dims, int ports)
{
    struct strag_topology *topology = machine_grid(torus, true, dims, NULL, 1);
    const struct strag_problem problem = {.n = topology->n, .ports = ports, .topology = topology};
    struct strag_model model = strag_model_default(torus);
    struct strag_profile *profile = NULL;
    struct strag_error err = {""};
    model.alpha = model.overhead = model.link_latency = model.hop_latency = 0;
    model.bandwidth = 1;
    assert_int_equal(
        strag_profile_create(support_algorithm(name), &problem, &model, &profile, &err), STRAG_OK);
    double seconds = strag_profile_seconds(profile, 1);
    strag_profile_free(profile);
    strag_topology_free(topology);
    return seconds;
}

/* One port on a d x d torus: in step t of each dimension 2^t messages share a link, in the last one
 * half as many, since both ways round are equally long. */
TEST(busiest_links)
{
    static const char *const dims[] = {"4x4", "8x8", "16x16", "32x32"};
    for (int log = 2; log <= 5; log++) {
        double whole = 0, halves = 0, part = 1;
        for (int step = 0; step < 2 * log; step++) {
            int t = step / 2;
            double load = t == log - 1 ? (1 << t) / 2.0 : 1 << t;
            part /= 2;
            whole += load;
            halves += 2 * load * part;
        }
        assert_float_equal(bytes_time("torus-doubling", dims[log - 2], 1), whole, 1e-9);
        assert_float_equal(bytes_time("torus-halving", dims[log - 2], 1), halves, 1e-9);
        assert_true(bytes_time("torus-doubling", dims[log - 2], 4) < 0.76 * whole);
        assert_true(bytes_time("torus-halving", dims[log - 2], 4) < 0.76 * halves);
    }
}

/* With all ports of a square torus: s/2D for each of the two phases, times the sum of distance /
 * 2^k over the k-th steps; 1.19 and 1.03 times the optimum s/D. */
TEST(congestion)
{
    static const struct {
        const char *dims;
        int count, log;
        double bound;
    } cases[] = {{"16x16", 2, 4, 1.20}, {"64x64", 2, 6, 1.20}, {"8x8x8", 3, 3, 1.035}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int steps = cases[i].count * cases[i].log;
        double sum = 0, share = 1;
        for (int k = 0; k < steps; k++) {
            int t = k / cases[i].count;
            double rho = (1 - (t % 2 ? 1.0 : -1.0) * (2 << t)) / 3;
            share /= 2;
            sum += (rho < 0 ? -rho : rho) * share;
        }
        const double seconds = bytes_time("bine", cases[i].dims, 0);
        assert_float_equal(seconds, sum / cases[i].count, 1e-6);
        assert_true(seconds * cases[i].count < cases[i].bound);
        assert_true(seconds < bytes_time("torus-halving", cases[i].dims, 0));
    }
}

/* ---- Some rounds only ---- */

TEST(rounds_that_are_wanted)
{
    struct strag_topology *topology = machine_grid(torus, true, "6x4", NULL, 1);
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    for (int b = 0; b < BUTTERFLIES; b++)
        support_some_rounds(support_algorithm(butterflies[b].name), &problem);
    strag_topology_free(topology);
}

/* ---- What is refused ---- */

static void assert_refused(struct strag_topology *topology, int ports, const char *why)
{
    const struct strag_problem problem = {.n = topology->n, .ports = ports, .topology = topology};
    for (int b = 0; b < BUTTERFLIES; b++) {
        char text[200];
        struct strag_error err = {""};
        struct strag_plan *plan = NULL;
        snprintf(text, sizeof text, "%s %s", butterflies[b].name, why);
        assert_int_equal(
            strag_plan_create(support_algorithm(butterflies[b].name), &problem, 0, &plan, &err),
            STRAG_ERR_UNSUPPORTED);
        assert_string_equal(err.text, text);
        assert_null(plan);
    }
    strag_topology_free(topology);
}

TEST(refusals)
{
    struct strag_grid grid = machine_grid_of(torus, true, "4x4", NULL);
    assert_refused(machine_grid(torus, true, "3x3", NULL, 2), 0, "needs one rank per host, not 2");
    assert_refused(machine_hosts(&grid, (int[]){0, 5}, 2, 1), 0,
                   "needs hosts that fill a box of the torus");
    assert_refused(
        machine_grid(torus, true, "3x1x3", NULL, 1), 6,
        "drives up to 2 ports for each dimension with more than one host, here 4; not 6");
    assert_refused(
        machine_flat(5, 1), 4,
        "drives up to 2 ports for each dimension with more than one host, here 2; not 4");
}
