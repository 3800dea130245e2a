/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * torus-doubling and torus-halving: who meets whom, with which blocks (the examples in butterfly.h
 * and torus_doubling.c), and what they cost. The proofs are in test_butterfly.c.
 */
#include "machines.h"
#include "model/cost.h"
#include "support.h"

static const enum strag_network torus = STRAG_NETWORK_TORUS;

static struct strag_plan *plan_of(const char *name, const struct strag_topology *topology,
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
static void halves_of_4x2(void **state)
{
    (void)state;
    static const struct {
        int rank, peer[3], sends[3];
    } table[] = {{0, {1, 4, 2}, {4, 2, 1}}, {5, {4, 1, 7}, {0, 4, 7}}};
    static const int count[] = {4, 2, 1};
    struct strag_topology *topology = machine_grid(torus, true, "4x2", NULL, 1);
    for (int r = 0; r < 2; r++) {
        struct strag_plan *plan = plan_of("torus-halving", topology, 1, table[r].rank);
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
static void pairs_on_4x4(void **state)
{
    (void)state;
    static const int change[2][4][2] = {{{1, 0}, {0, 1}, {2, 0}, {0, 2}},
                                        {{0, 1}, {1, 0}, {0, 2}, {2, 0}}};
    struct strag_topology *topology = machine_grid(torus, true, "4x4", NULL, 1);
    for (int rank = 0; rank < 16; rank++) {
        struct strag_plan *plan = plan_of("torus-doubling", topology, 4, rank);
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
static void folded_ring(void **state)
{
    (void)state;
    static const int peers[6][4] = {{1, 1}, {0, 3, 4, 0}, {3, 3}, {2, 1, 5, 2}, {5, 1}, {4, 3}};
    struct strag_topology *topology = machine_grid(torus, true, "6", NULL, 1);
    for (int rank = 0; rank < 6; rank++) {
        struct strag_plan *plan = plan_of("torus-doubling", topology, 1, rank);
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

/* Seconds for `bytes` bytes over links of one byte per second, without latency. */
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
static void busiest_links(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_of_4x2),
        cmocka_unit_test(pairs_on_4x4),
        cmocka_unit_test(folded_ring),
        cmocka_unit_test(busiest_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
