/* SPDX-License-Identifier: BSD-3-Clause */
/* verify accepts what is right, with the right numbers, and reports the fault of the rest. */
#include "algorithms/table.h"
#include "plan/verify.h"

#include "executor.h"
#include "machines.h"
#include "support.h"

/* ---- What is right: test/cli/verify.sh has the numbers of all algorithms ---- */

TEST(the_executor_agrees)
{
    struct rng rng = {support_seed("test_verify")};
    const int times = support_is_short() ? 4 : 12;
    for (int a = 0; strag_algorithms[a]; a++) {
        for (int n = 1; n <= 12; n++) {
            n = support_ranks(strag_algorithms[a], n);
            struct strag_plan **plans = support_plans(strag_algorithms[a], n);
            assert_int_equal(execute_often(plans, n, times, &rng), OUTCOME_SUM);
            support_plans_free(plans, n);
        }
    }
}

/* A switch, a tree, a torus and a mesh of n hosts. */
static struct strag_topology *network_of(int kind, int n)
{
    static const char *const trees[] = {"(1,1),(1)", "(1,1),(1,1)", "(1,1,1),(1,1,1)"};
    static const char *const dims[] = {"3", "2x2", "3x2"};
    const int size = n == 3 ? 0 : n == 4 ? 1 : 2;
    if (kind == 0)
        return machine_flat(n, 1);
    if (kind == 1)
        return machine_tree(trees[size]);
    return machine_grid(STRAG_NETWORK_TORUS, kind == 2, dims[size], NULL, 1);
}

/* @return whether there are such plans */
static bool executed(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                     struct rng *rng)
{
    struct strag_plan *plans[EXECUTOR_RANKS_MAX];
    struct strag_error err = {""};
    const int status = support_create_all(algorithm, problem, plans, &err);
    if (status == STRAG_ERR_UNSUPPORTED)
        return false;
    assert_int_equal(status, STRAG_OK);
    const int times = plans[0]->nops < 300 ? 4 : 1;
    if (execute_often(plans, problem->n, times, rng) != OUTCOME_SUM)
        fail_msg("%s n=%d", algorithm->name, problem->n);
    strag_plan_free_all(plans, problem->n);
    return true;
}

/* On each network, and with a late rank and a slow link, for which some plan otherwise. */
TEST(the_executor_agrees_on_networks)
{
    struct rng rng = {support_seed("networks")};
    for (int a = 0; strag_algorithms[a]; a++) {
        int undisturbed = 0, disturbed = 0;
        for (int cell = 0; cell < 3 * 4; cell++) {
            const int n = cell % 3 == 2 ? 6 : 3 + cell % 3;
            const struct strag_straggler late = {(int)rng_below(&rng, (unsigned)n),
                                                 rng_one_in(&rng, 2) ? 5e-6 : 2e-4};
            const struct strag_slow slow = {(int)rng_below(&rng, (unsigned)n),
                                            rng_one_in(&rng, 2) ? 1.5 : 4};
            const struct strag_state state = {
                .nstragglers = 1, .straggler = &late, .nslow = 1, .slow = &slow};
            struct strag_problem problem = {.n = n, .topology = network_of(cell / 3, n)};
            undisturbed += executed(strag_algorithms[a], &problem, &rng);
            problem.state = &state;
            disturbed += executed(strag_algorithms[a], &problem, &rng);
            strag_topology_free((struct strag_topology *)problem.topology);
        }
        assert_true(disturbed && (undisturbed || strag_algorithms[a]->needs_straggler));
    }
}

TEST(results_may_be_left_out)
{
    const struct strag_problem problem = {.n = 6}, wrong = {.n = 6, .blocks = 99};
    const struct strag_algorithm *ring = support_algorithm("ring");
    struct strag_measure measure = {.n = -7};
    struct strag_proof *proof = NULL;
    struct strag_error err = {""};
    assert_int_equal(strag_verify(ring, &problem, NULL, NULL, NULL), STRAG_OK);
    assert_int_equal(strag_verify(ring, &wrong, &measure, &proof, &err), STRAG_ERR_UNSUPPORTED);
    assert_int_equal(measure.n, -7);
    assert_null(proof);
    assert_non_null(strstr(err.text, "99"));
    strag_proof_free(NULL);
}

/* ---- Faults: small plans by hand ---- */

#define CIRCLE "deadlock: it waits in a circle"

struct hand {
    int n, rounds, blocks;
    struct strag_builder *builders[4];
};

static struct hand hand_create(int n, int rounds, int blocks)
{
    struct hand hand = {n, rounds, blocks, {NULL}};
    const struct strag_shape shape = {
        .algorithm = "by hand",
        .n = n,
        .rounds = rounds,
        .bounds = {.blocks = blocks, .denominator = blocks},
    };
    for (int rank = 0; rank < n; rank++) {
        hand.builders[rank] = strag_builder_create(&shape, rank);
        assert_non_null(hand.builders[rank]);
    }
    return hand;
}

static void hand_finish(struct hand *hand, struct strag_plan **plans)
{
    for (int rank = 0; rank < hand->n; rank++) {
        struct strag_error err = {""};
        if (strag_builder_finish(hand->builders[rank], &plans[rank], &err) != STRAG_OK)
            fail_msg("%s", err.text);
    }
}

/* verify says `why`, the whole text; "" when the plans are right. */
static void assert_verdict(struct strag_plan *const *plans, int n, const char *why)
{
    struct strag_error err = {""};
    struct strag_measure measure = {.n = -7};
    struct strag_proof *proof = NULL;
    int status = strag_verify_plans(plans, n, NULL, &measure, &proof, &err);
    assert_int_equal(status, *why ? STRAG_ERR_FALSE : STRAG_OK);
    assert_string_equal(err.text, why);
    assert_int_equal(proof == NULL, *why != '\0');
    assert_int_equal(measure.n, *why ? -7 : n);
    strag_proof_free(proof);
}

/*
 * The operations of all ranks, which `|` parts; each is a letter for what it does (send, recv,
 * `a`dd: recv_reduce, e`x`change_reduce) and four digits: round, peer, first block, blocks.
 */
static void hand_add(struct hand *hand, const char *operations)
{
    int rank = 0;
    for (const char *at = operations; *at; at++) {
        if ('|' == *at)
            rank++;
        if ('|' == *at || ' ' == *at)
            continue;
        const int round = at[1] - '0', peer = at[2] - '0', first = at[3] - '0', count = at[4] - '0';
        struct strag_builder *builder = hand->builders[rank];
        if ('s' == *at)
            strag_send(builder, round, peer, first, count);
        else if ('r' == *at)
            strag_recv(builder, round, peer, first, count);
        else if ('a' == *at)
            strag_recv_reduce(builder, round, peer, first, count);
        else
            strag_exchange_reduce(builder, round, peer, first, count);
        at += 4;
    }
}

static const struct {
    int n, rounds, blocks;
    const char *operations, *why; /* "": they are right */
} by_hand[] = {
    {2, 1, 1, "s0101 x0101|s0001 x0001", ""}, /* two ranks swap */
    {2, 1, 1, "s0101 a0101|s0001 a0001",
     "rank 1 sums up block 0 in another order than rank 0, so its bits may differ"},
    /* Both receive before they send; three ranks send on what they are to receive first. */
    {2, 1, 1, "r0101 s0101|r0001 s0001",
     "rank 0, operation 0 (recv from 1, blocks 0..0, round 0): " CIRCLE},
    {3, 1, 1, "a0201 s0101|a0001 s0201|a0101 s0001",
     "rank 0, operation 0 (recv_reduce from 2, blocks 0..0, round 0): " CIRCLE},
    /* There may be temporary space for one message only: in the second case rank 0 takes rank
     * 1's first, which comes only after rank 2 has got rid of its own. */
    {3, 2, 1, "a0201 a0101 s1101 s1201|s0201 r0201 s0001 r1001|s0001 r0101 s0101 r1001", ""},
    {3, 2, 1, "a0101 a0201 s1101 s1201|s0201 r0201 s0001 r1001|s0001 r0101 s0101 r1001",
     "rank 0, operation 0 (recv_reduce from 1, blocks 0..0, round 0): " CIRCLE},
    /* The i-th message is the i-th message, whatever fits better. */
    {2, 2, 4, "s0102 s0122|r0022 r0002",
     "rank 1, operation 0 (recv from 0, blocks 2..3, round 0): "
     "the peer's message has another range"},
    {2, 2, 4, "s0102|r0003",
     "rank 1, operation 0 (recv from 0, blocks 0..2, round 0): "
     "the peer's message has another range"},
    {2, 2, 4, "s0104|a1004",
     "rank 1, operation 0 (recv_reduce from 0, blocks 0..3, round 1): "
     "the peer's message has another round"},
    /* Contributions that are missing, or come twice. */
    {3, 2, 2, "a0102 s1102|s0002 r1002|", "rank 0 ends with 2 of 3 contributions in block 0"},
    {2, 1, 2, "a0102|s0002", "rank 1 ends with 1 of 2 contributions in block 0"},
    {3, 3, 4, "a0104 a1204 a2131|s0004 s2031|s1004",
     "rank 0, round 2, block 3: rank 1's contribution comes twice"},
    /* Messages without another side. */
    {3, 2, 4, "a0104||",
     "rank 0, operation 0 (recv_reduce from 1, blocks 0..3, round 0): the peer never sends it"},
    {3, 2, 4, "||s1012",
     "rank 2, operation 0 (send to 0, blocks 1..2, round 1): the peer never receives it"},
    {3, 2, 4, "r1112||s1012",
     "rank 0, operation 0 (recv from 1, blocks 1..2, round 1): the peer never sends it"},
    {2, 3, 1, "s0101 x0101|s0001 x0001", "the plans have 3 rounds, but only 1 are used"},
    /* What the engine could not run with little temporary space: rank 1 receives block 1 only
     * after all it sends has arrived, and rank 0 makes room for that only after block 1 has
     * left. */
    {2, 2, 2, "s0111 a0102 s1102|s0002 r0011 r1002",
     "rank 0, operation 0 (send to 1, blocks 1..1, round 0): " CIRCLE},
    /* Ranks 0 and 1 swap the same range, which they may do piece by piece; but what comes to
     * rank 0 has to wait for rank 2's block as well, and that for the end of what rank 0 sends.
     */
    {3, 1, 2, "s0102 r0211 x0102|s0002 x0002|s0011",
     "rank 0, operation 0 (send to 1, blocks 0..1, round 0): " CIRCLE},
};

TEST(plans_by_hand)
{
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        struct hand hand = hand_create(by_hand[i].n, by_hand[i].rounds, by_hand[i].blocks);
        struct strag_plan *plans[4] = {NULL};
        hand_add(&hand, by_hand[i].operations);
        hand_finish(&hand, plans);
        assert_verdict(plans, hand.n, by_hand[i].why);
        strag_plan_free_all(plans, hand.n);
    }
}

/* ---- Faults: bounds, and whole plans ---- */

TEST(wrong_bounds)
{
    struct strag_plan **plans = support_plans(support_algorithm("ring"), 3);
    int64_t *numbers[3];
    for (int rank = 0; rank < 3; rank++) {
        numbers[rank] = malloc(4 * sizeof **numbers);
        assert_non_null(numbers[rank]);
        for (int b = 0; b < 4; b++)
            numbers[rank][b] = 4 * b - (b == 1);
        plans[rank]->bounds.numerator = numbers[rank];
        plans[rank]->bounds.denominator = 12;
    }
    assert_verdict(plans, 3, "");
    numbers[2][1]++;
    assert_verdict(plans, 3, "rank 2 has other rounds or other blocks than rank 0");
    numbers[2][1]--;
    plans[1]->rounds++;
    assert_verdict(plans, 3, "rank 1 has other rounds or other blocks than rank 0");
    plans[1]->rounds--;
    plans[1]->bounds.denominator = 13;
    assert_verdict(plans, 3, "rank 1 has other rounds or other blocks than rank 0");
    plans[1]->bounds.denominator = 12;
    plans[1]->bounds.numerator = NULL;
    assert_verdict(plans, 3, "rank 1 has other rounds or other blocks than rank 0");
    plans[1]->bounds.numerator = numbers[1];
    plans[1]->bounds.blocks = 2;
    assert_verdict(plans, 3, "rank 1 has other rounds or other blocks than rank 0");
    plans[1]->bounds.blocks = 3;

    static const struct {
        int64_t numbers[4], denominator;
        const char *why;
    } wrong[] = {
        {{0, 4, 8, 11}, 12, "rank 0: the bounds do not span the vector"},
        {{1, 4, 8, 12}, 12, "rank 0: the bounds do not span the vector"},
        {{0, 8, 4, 12}, 12, "rank 0: block 1 ends before it begins"},
        {{0, 4, 13, 12}, 12, "rank 0: block 2 ends before it begins"},
        {{0, -1, 8, 12}, 12, "rank 0: block 0 ends before it begins"},
        {{0, 0, 0, 0}, 0, "rank 0: the bounds' denominator is out of range"},
        {{0, 0, 0, INT64_MAX}, INT64_MAX, "rank 0: the bounds' denominator is out of range"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        for (int rank = 0; rank < 3; rank++) {
            memcpy(numbers[rank], wrong[i].numbers, sizeof wrong[i].numbers);
            plans[rank]->bounds.denominator = wrong[i].denominator;
        }
        assert_verdict(plans, 3, wrong[i].why);
    }
    support_plans_free(plans, 3);
}

TEST(uneven_blocks_are_measured)
{
    struct strag_plan **plans = support_plans(support_algorithm("ring"), 2);
    for (int rank = 0; rank < 2; rank++) {
        int64_t *numbers = malloc(3 * sizeof *numbers);
        assert_non_null(numbers);
        numbers[0] = 0;
        numbers[1] = 1;
        numbers[2] = 4;
        plans[rank]->bounds.numerator = numbers;
        plans[rank]->bounds.denominator = 4;
    }
    struct strag_measure measure;
    assert_int_equal(strag_verify_plans(plans, 2, NULL, &measure, NULL, NULL), STRAG_OK);
    assert_near(measure.sent_max, 1);
    assert_near(measure.sent_total, 2);
    assert_near(measure.reduce_max, 0.75);
    support_plans_free(plans, 2);
}

TEST(plans_of_others)
{
    struct strag_plan **plans = support_plans(support_algorithm("circulant"), 5);
    struct strag_plan *three = plans[3];
    plans[3] = plans[4];
    assert_verdict(plans, 5, "plan 3 of 5 is for rank 4 of 5");
    plans[3] = three;
    assert_verdict(plans, 4, "plan 0 of 4 is for rank 0 of 5");
    support_plans_free(plans, 5);
}

TEST(a_stage_without_a_name)
{
    struct strag_plan **plans = support_plans(support_algorithm("ring"), 3);
    plans[1]->ops[2].stage = (uint8_t)plans[1]->nstages;
    assert_verdict(plans, 3,
                   "rank 1, operation 2 (send to 2, blocks 0..0, round 1): "
                   "no such stage");
    support_plans_free(plans, 3);
}

/* With a single rank nothing is received: the value comes into the output by a copy alone. */
TEST(a_block_that_nobody_writes)
{
    struct strag_plan **plans = support_plans(support_algorithm("ring"), 1);
    assert_verdict(plans, 1, "");
    plans[0]->ncopies = 0;
    assert_verdict(plans, 1, "rank 0: nothing puts block 0 into the output");
    support_plans_free(plans, 1);
}

/* ---- Claims ---- */

static void assert_claim_refused(struct strag_plan *const *plans, int n,
                                 const struct strag_claim *claim, const char *why)
{
    struct strag_error err = {""};
    assert_int_equal(strag_verify_plans(plans, n, claim, NULL, NULL, &err), STRAG_ERR_FALSE);
    assert_string_equal(err.text, why);
}

TEST(claims_are_held_against_the_plans)
{
    struct strag_plan **plans = support_plans(support_algorithm("ring"), 4);
    const struct strag_claim right = {.rounds = 6, .blocks = 4, .sent_max = 1.5, .ports = 1};
    struct strag_claim claim = right;
    assert_int_equal(strag_verify_plans(plans, 4, &claim, NULL, NULL, NULL), STRAG_OK);
    claim.rounds = 7;
    assert_claim_refused(plans, 4, &claim, "ring n=4: 6 rounds; it claims 7");
    claim = right;
    claim.blocks = 5;
    assert_claim_refused(plans, 4, &claim, "ring n=4: 4 blocks; it claims 5");
    claim = right;
    claim.sent_max = 1.25;
    assert_claim_refused(plans, 4, &claim, "ring n=4: a rank sends 1.5 vectors; it claims 1.25");
    claim.sent_max = 1.75;
    assert_claim_refused(plans, 4, &claim, "ring n=4: a rank sends 1.5 vectors; it claims 1.75");
    support_plans_free(plans, 4);
}

TEST(two_peers_in_a_round_are_two_ports)
{
    struct hand hand = hand_create(3, 2, 1);
    struct strag_plan *plans[4] = {NULL};
    hand_add(&hand, "a0101 a0201 s1101 s1201|s0001 r1001|s0001 r1001");
    hand_finish(&hand, plans);
    struct strag_claim claim = {.rounds = 2, .blocks = 1, .sent_max = 2};
    assert_int_equal(strag_verify_plans(plans, 3, &claim, NULL, NULL, NULL), STRAG_OK);
    claim.ports = 1;
    assert_claim_refused(plans, 3, &claim,
                         "rank 0, operation 1 (recv_reduce from 2, blocks 0..0, "
                         "round 0): more than 1 peer in the same round");
    strag_plan_free_all(plans, 3);
}

static void assert_turned(struct strag_plan **plans, int n, int shift)
{
    for (int r = 1; r < n; r++) {
        assert_int_equal(plans[r]->nops, plans[0]->nops);
        for (int o = 0; o < plans[0]->nops; o++) {
            const struct strag_op *zero = &plans[0]->ops[o], *op = &plans[r]->ops[o];
            assert_int_equal(op->kind, zero->kind);
            assert_int_equal(op->own_left, zero->own_left);
            assert_int_equal(op->round, zero->round);
            assert_int_equal(op->peer, (zero->peer + r) % n);
            assert_int_equal(op->first, (zero->first + r * shift) % plans[0]->bounds.blocks);
            assert_int_equal(op->count, zero->count);
        }
    }
}

/* A proof of rank 0 holds for all if they do what it does, turned: do they? */
TEST(what_turns)
{
    int found = 0;
    for (int a = 0; strag_algorithms[a]; a++) {
        for (int n = 2; n <= 40 && strag_algorithms[a]->turns; n++) {
            struct strag_topology *topology = machine_flat(n, 1);
            struct strag_problem problem = {.n = n, .topology = topology};
            struct strag_plan **plans = support_plans(strag_algorithms[a], n);
            int shift;
            found++;
            if (!strag_algorithms[a]->turns(&problem, &shift))
                assert_int_equal(n, 2); /* the next rank is the one before */
            else
                assert_turned(plans, n, shift);
            support_plans_free(plans, n);
            strag_topology_free(topology);
        }
    }
    assert_true(found > 0);
}

/* Ranks 0 and 1 sum up first; rank 2 comes in round 1. */
TEST(the_late_rank_comes_when_it_is_claimed)
{
    struct hand hand = hand_create(3, 3, 1);
    struct strag_plan *plans[4] = {NULL};
    hand_add(&hand, "a0101 x1201 s2201 s2101|s0001 r2001|s1001 r2001");
    hand_finish(&hand, plans);
    struct strag_claim claim = {
        .rounds = 3, .blocks = 1, .sent_max = 2, .waits = true, .straggler = 2, .before = 1};
    struct strag_measure measure;
    assert_int_equal(strag_verify_plans(plans, 3, &claim, &measure, NULL, NULL), STRAG_OK);
    assert_true(measure.waits);
    assert_int_equal(measure.before, 1);
    claim.before = 2;
    assert_claim_refused(
        plans, 3, &claim,
        "by hand n=3: rank 2, which is late, takes part from round 1 on; it claims 2");
    claim.before = 0;
    assert_claim_refused(
        plans, 3, &claim,
        "by hand n=3: rank 2, which is late, takes part from round 1 on; it claims 0");
    claim.straggler = 1;
    assert_int_equal(strag_verify_plans(plans, 3, &claim, NULL, NULL, NULL), STRAG_OK);
    claim.waits = false;
    claim.before = 7;
    assert_int_equal(strag_verify_plans(plans, 3, &claim, &measure, NULL, NULL), STRAG_OK);
    assert_false(measure.waits);
    strag_plan_free_all(plans, 3);
}
