/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who meets whom in Swing: the paper's peers, the examples of swing.c and swing_walk.h, one range
 * per message, and how the links of a torus are loaded.
 */
#include "algorithms/swing_walk.h"
#include "executor.h"
#include "machines.h"
#include "model/cost.h"
#include "support.h"

#include <limits.h>

static const enum strag_network torus = STRAG_NETWORK_TORUS;

/* ---- Peers ---- */

static int power(int base, int exponent)
{
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

/* The paper's formula. */
static int paper_peer(int rank, int step, int n)
{
    int rho = (1 - power(-2, step + 1)) / 3;
    int peer = rank % 2 ? rank - rho : rank + rho;
    return (peer % n + n) % n;
}

static void assert_send(const struct strag_op *op, int round, int peer, int count)
{
    assert_int_equal(op->kind, STRAG_SEND);
    assert_int_equal(op->round, round);
    assert_int_equal(op->peer, peer);
    assert_int_equal(op->count, count);
}

/* On a ring of a power of two: halves with the paper's peers, then back. */
TEST(peers_on_a_ring)
{
    for (int n = 2, steps = 1; n <= 256; n *= 2, steps++) {
        const struct strag_problem problem = {.n = n};
        for (int rank = 0; rank < n; rank++) {
            struct strag_plan *plan = support_plan("swing", &problem, rank);
            struct strag_plan *swaps = support_plan("swing-latency", &problem, rank);
            assert_int_equal(plan->nops, 4 * steps); /* a send and a receive each round */
            assert_int_equal(swaps->nops, 2 * steps);
            for (int step = 0; step < steps; step++) {
                int peer = paper_peer(rank, step, n), back = 2 * steps - 1 - step;
                assert_send(&plan->ops[2 * step], step, peer, n >> (step + 1));
                assert_send(&plan->ops[2 * back], back, peer, n >> (step + 1));
                assert_send(&swaps->ops[2 * (steps - 1 - step)], steps - 1 - step, peer, 1);
            }
            strag_plan_free(plan);
            strag_plan_free(swaps);
        }
    }
}

/* Part p starts in dimension p; parts 2 and 3 go the other way round. 8 x 8, from rank (x, y). */
TEST(peers_on_a_torus)
{
    struct strag_topology *topology = machine_grid(torus, true, "8x8", NULL, 1);
    const struct strag_problem problem = {.n = 64, .ports = 4, .topology = topology};
    for (int rank = 0; rank < 64; rank++) {
        struct strag_plan *plan = support_plan("swing", &problem, rank);
        assert_int_equal(plan->nops, 4 * 12 * 2);
        for (int step = 0; step < 6; step++) {
            for (int part = 0; part < 4; part++) {
                int at[] = {rank % 8, rank / 8}, d = (part + step) % 2;
                int plain = part < 2 ? at[d] : (8 - at[d]) % 8;
                int peer = paper_peer(plain, step / 2, 8);
                at[d] = part < 2 ? peer : (8 - peer) % 8;
                assert_send(&plan->ops[(step * 4 + part) * 2], step, at[0] + 8 * at[1], 32 >> step);
            }
        }
        strag_plan_free(plan);
    }
    strag_topology_free(topology);
}

/* The blocks' owners in the example of 8 in swing_walk.h. */
TEST(order_of_blocks)
{
    static const int owner[] = {0, 3, 7, 4, 1, 6, 2, 5};
    const struct strag_problem problem = {.n = 8};
    struct strag_swing swing;
    struct strag_swing_walk walk;
    strag_swing_lay_out(&problem, INT_MAX, &swing);
    for (int block = 0; block < 8; block++) {
        strag_swing_walk(&swing, 0, owner[block], &walk);
        assert_int_equal(walk.first, block);
        assert_int_equal(walk.count, 1);
    }
}

/* ---- The examples, message by message ---- */

struct sent {
    int round, peer, first, count;
};

/* @param blocks  of the form; 0: all steps divide */
static void assert_sends(int n, int blocks, int rank, const struct sent *expected, int count)
{
    const struct strag_problem problem = {.n = n, .blocks = blocks};
    struct strag_plan *plan = support_plan("swing", &problem, rank);
    int next = 0;
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        if (op->kind != STRAG_SEND)
            continue;
        assert_true(next < count);
        assert_send(op, expected[next].round, expected[next].peer, expected[next].count);
        assert_int_equal(op->first, expected[next++].first);
    }
    assert_int_equal(next, count);
    strag_plan_free(plan);
}

/* The table in swing.c. */
TEST(the_example_of_4)
{
    static const struct sent expected[4][4] = {
        {{0, 1, 2, 2}, {1, 3, 1, 1}, {2, 3, 0, 1}, {3, 1, 0, 2}},
        {{0, 0, 0, 2}, {1, 2, 3, 1}, {2, 2, 2, 1}, {3, 0, 2, 2}},
        {{0, 3, 0, 2}, {1, 1, 2, 1}, {2, 1, 3, 1}, {3, 3, 2, 2}},
        {{0, 2, 2, 2}, {1, 0, 0, 1}, {2, 0, 1, 1}, {3, 2, 0, 2}},
    };
    for (int rank = 0; rank < 4; rank++)
        assert_sends(4, 0, rank, expected[rank], 4);
}

/* The lists in swing_walk.h: 0 3 | 1 2 4, then 0 | 3 | 1 | 2 4. */
TEST(the_example_of_5)
{
    static const struct sent of_0[] = {{0, 1, 2, 2}, {0, 4, 4, 1}, {1, 3, 1, 1},
                                       {4, 3, 0, 1}, {5, 1, 0, 2}, {5, 4, 0, 1}};
    static const struct sent of_1[] = {{0, 0, 0, 2}, {1, 2, 3, 1}, {1, 4, 4, 1},
                                       {4, 2, 2, 1}, {4, 4, 2, 1}, {5, 0, 2, 2}};
    static const struct sent of_4[] = {{0, 0, 0, 1}, {0, 3, 1, 1}, {1, 1, 2, 1}, {2, 2, 3, 1},
                                       {3, 2, 4, 1}, {4, 1, 4, 1}, {5, 0, 4, 1}, {5, 3, 4, 1}};
    assert_sends(5, 0, 0, of_0, 6);
    assert_sends(5, 0, 1, of_1, 6);
    assert_sends(5, 0, 4, of_4, 8);
}

/* The table in swing.c of a ring where two of three steps divide. */
TEST(the_example_of_8)
{
    static const struct sent expected[] = {
        {0, 1, 2, 2}, {1, 7, 1, 1}, {2, 3, 0, 1}, {3, 7, 0, 1}, {4, 1, 0, 2}};
    assert_sends(8, 4, 0, expected, 5);
}

/* ---- One range per message ---- */

/* No rank sends to another one twice in a round and part, whatever the sizes. */
TEST(one_range_per_message)
{
    static const char *const dims[] = {"3x5", "7x6", "9", "12x5", "3x3x3", "18"};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        struct strag_topology *topology = machine_grid(torus, true, dims[i], NULL, 1);
        const struct strag_problem problem = {.n = topology->n, .ports = 1, .topology = topology};
        for (int rank = 0; rank < topology->n; rank++) {
            struct strag_plan *plan = support_plan("swing", &problem, rank);
            for (int a = 0; a < plan->nops; a++) {
                for (int b = a + 1; b < plan->nops; b++) {
                    const struct strag_op *one = &plan->ops[a], *other = &plan->ops[b];
                    assert_false(one->kind == STRAG_SEND && other->kind == STRAG_SEND &&
                                 one->round == other->round && one->peer == other->peer);
                }
            }
            strag_plan_free(plan);
        }
        strag_topology_free(topology);
    }
}

/* ---- Carried out in random order, by a judge that shares nothing with verify ---- */

static void carry_out(struct strag_topology *topology, int ports, struct rng *rng)
{
    struct strag_problem problem = {.n = topology->n, .ports = ports, .topology = topology};
    int blocks[STRAG_CHOICES_MAX + 1] = {0}; /* the first for swing-latency */
    int forms = 1 + strag_algorithm_choices(support_algorithm("swing"), &problem, blocks + 1);
    for (int i = 0; i < forms; i++) {
        struct strag_plan *plans[EXECUTOR_RANKS_MAX];
        problem.blocks = blocks[i];
        for (int rank = 0; rank < topology->n; rank++)
            plans[rank] = support_plan(i ? "swing" : "swing-latency", &problem, rank);
        assert_int_equal(execute_often(plans, topology->n, 3, rng), OUTCOME_SUM);
        strag_plan_free_all(plans, topology->n);
    }
    strag_topology_free(topology);
}

TEST(carried_out)
{
    static const char *const dims[] = {"8", "7", "4x4", "3x5", "6x2", "3x2x2"};
    struct rng rng = {support_seed("carried out")};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        carry_out(machine_grid(torus, true, dims[i], NULL, 1), 0, &rng);
        carry_out(machine_grid(torus, false, dims[i], NULL, 2), 1, &rng);
    }
    carry_out(machine_flat(15, 3), 2, &rng);
}

/* ---- Some rounds only ---- */

static void check_rounds(const char *name, const char *dims, int blocks)
{
    struct strag_topology *topology = machine_grid(torus, true, dims, NULL, 2);
    const struct strag_problem problem = {.n = topology->n, .blocks = blocks, .topology = topology};
    support_some_rounds(support_algorithm(name), &problem);
    strag_topology_free(topology);
}

TEST(rounds_that_are_wanted)
{
    check_rounds("swing", "5x4", 0);
    check_rounds("swing-latency", "5x4", 0);
    check_rounds("swing", "8x4", 4 * 2 * 8);
}

/* ---- Links ---- */

/* How many times longer than at its 2D links' full speed a rank needs to send twice the vector. */
static double congestion(const char *name, const char *dims, int ports)
{
    struct strag_topology *topology = machine_grid(torus, true, dims, NULL, 1);
    const struct strag_problem problem = {.n = topology->n, .ports = ports, .topology = topology};
    const struct strag_model model = {.bandwidth = 1, .local_bandwidth = 1};
    struct strag_profile *profile = NULL;
    struct strag_error err = {""};
    if (strag_profile_create(support_algorithm(name), &problem, &model, &profile, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    double seconds = strag_profile_seconds(profile, 1);
    int links = 0;
    for (int d = 0; d < topology->box->dims; d++)
        links += topology->box->size[d] > 1 ? 2 : 0;
    strag_profile_free(profile);
    strag_topology_free(topology);
    return seconds * links / 2;
}

/* The paper's sum of distance / 2^(step + 1) over the steps, section 4.1. */
static double paper_congestion(int dims, int steps)
{
    double sum = 0;
    for (int step = 0; step < dims * steps; step++) {
        int distance = abs((1 - power(-2, step / dims + 1)) / 3);
        sum += 1.0 * distance / power(2, step + 1);
    }
    return sum;
}

static void assert_congestion(const char *dims, int count, int steps, double most)
{
    double found = congestion("swing", dims, 0), expected = paper_congestion(count, steps);
    if (!(found < expected + 1e-6 && found > expected - 1e-6 && found < most))
        fail_msg("%s: congestion %.9g, expected %.9g, below %g", dims, found, expected, most);
}

TEST(congestion_on_square_tori)
{
    assert_congestion("4x4", 2, 2, 1.19);
    assert_congestion("16x16", 2, 4, 1.19);
    assert_congestion("32x32", 2, 5, 1.19);
    assert_congestion("4x4x4", 3, 2, 1.03);
    assert_congestion("8x8x8", 3, 3, 1.03);
    assert_congestion("4x4x4x4", 4, 2, 1.008);
}

/* Never above recursive halving, whatever the shape. */
TEST(congestion_on_other_shapes)
{
    static const char *const dims[] = {
        "3",   "5",   "7",   "9",    "16",  "17",   "31",   "33",  "3x3",   "4x16",  "5x5",  "6x6",
        "7x7", "2x9", "9x9", "12x5", "8x2", "15x2", "3x17", "2x4", "3x5x7", "2x3x4", "5x5x5"};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        double halving = congestion("recursive-halving", dims[i], 0);
        for (int ports = 0; ports <= 1; ports++) {
            double found = congestion("swing", dims[i], ports);
            if (!(found > 0.6 && found <= halving + 1e-6))
                fail_msg("%s: congestion %.9g; recursive halving %.9g", dims[i], found, halving);
        }
    }
}
