/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several calls of one communicator, begun before those before them have ended. Each rank runs its
 * calls in the order in which it began them, one at a time, over one transport: as the component's
 * queues do with nonblocking calls. When a rank begins its calls, between whichever events on other
 * ranks, must not matter: each result is right, and no order hangs.
 *
 * All orders of the 9 beginnings of 3 calls on 3 ranks are tried (1,680), and of the 369,600 on 4
 * ranks as many as STRAG_CASES says, spread evenly; 369600: all.
 */
#include "loopback.h"
#include "run/engine.h"
#include "support.h"
#include "wires.h"

enum { CALLS = 3, RANKS_MOST = 4, COUNT_MOST = 24, STEPS_MOST = 100000 };

/* Different plans, lengths and segments: none may take another one's message. */
static const struct {
    const char *algorithm;
    size_t count, segment;
} shapes[CALLS] = {{"ring", 24, 2}, {"recursive-doubling", 5, 5}, {"direct", 24, 3}};

struct rank {
    struct strag_transport *endpoint;
    struct strag_engine *engines[CALLS];
    uint64_t input[CALLS][COUNT_MOST], output[CALLS][COUNT_MOST];
    int begun, ended; /* calls */
    bool running;     /* call `ended` */
};

static struct {
    int n;
    struct strag_plan **plans[CALLS];
    struct rank ranks[RANKS_MOST];
    struct strag_loopback *network;
    long orders, every, tried;
    uint64_t seed;
} world;

/* ---- A rank ---- */

static void start(struct rank *rank, int c)
{
    struct strag_call call = {
        .input = rank->input[c],
        .output = rank->output[c],
        .count = shapes[c].count,
        .extent = sizeof(uint64_t),
        .transport = rank->endpoint,
        .reducer = &wires_sums,
    };
    for (int l = 0; l < STRAG_LANES; l++)
        call.lanes[l] = (struct strag_lane){.segment = shapes[c].segment, .slots = 2};
    assert_int_equal(strag_engine_start(rank->engines[c], &call), STRAG_OK);
    rank->running = true;
}

/* @return whether a call ended */
static bool poll_rank(struct rank *rank)
{
    if (rank->ended == rank->begun)
        return false;
    if (!rank->running)
        start(rank, rank->ended);
    const int status = strag_engine_progress(rank->engines[rank->ended]);
    if (status == STRAG_PENDING)
        return false;
    assert_int_equal(status, STRAG_OK);
    rank->running = false;
    rank->ended++;
    return true;
}

static uint64_t value(int rank, int c, size_t i)
{
    return scramble(world.seed + (uint64_t)(rank * CALLS + c) * COUNT_MOST + i);
}

/* ---- An order ---- */

static void prepare(void)
{
    const struct strag_loopback_options options = {
        .seed = world.seed, .max_delay = (unsigned)(world.tried % 4), .eager = COUNT_MOST};
    world.network = strag_loopback_create(world.n, sizeof(uint64_t), &options);
    assert_non_null(world.network);
    for (int r = 0; r < world.n; r++) {
        struct rank *rank = &world.ranks[r];
        rank->endpoint = strag_loopback_endpoint(world.network, r);
        rank->begun = rank->ended = 0;
        for (int c = 0; c < CALLS; c++) {
            for (size_t i = 0; i < shapes[c].count; i++)
                rank->input[c][i] = value(r, c, i);
        }
    }
}

static void check(const char *text)
{
    for (int c = 0; c < CALLS; c++) {
        for (size_t i = 0; i < shapes[c].count; i++) {
            uint64_t sum = 0;
            for (int r = 0; r < world.n; r++)
                sum += value(r, c, i);
            for (int r = 0; r < world.n; r++) {
                if (world.ranks[r].output[c][i] != sum)
                    fail_msg("%s: call %d, rank %d: element %zu is wrong", text, c, r, i);
            }
        }
    }
    assert_int_equal(strag_loopback_pending(world.network), 0);
}

/* @param order  [n * CALLS]: the ranks that begin their next call */
static void run_order(const int *order)
{
    char text[64] = "order ";
    struct rng rng = {scramble(world.seed + (uint64_t)world.tried)};
    const int events = world.n * CALLS;
    for (int e = 0; e < events; e++)
        text[6 + e] = (char)('0' + order[e]);
    text[6 + events] = '\0';
    prepare();
    for (int e = 0; e < events; e++) {
        world.ranks[order[e]].begun++;
        for (unsigned looks = rng_below(&rng, 8); looks > 0; looks--)
            poll_rank(&world.ranks[rng_below(&rng, (unsigned)world.n)]);
    }
    int ended = 0, steps = 0;
    while (ended < events && steps++ < STEPS_MOST) {
        ended = 0;
        for (int r = 0; r < world.n; r++) {
            poll_rank(&world.ranks[r]);
            ended += world.ranks[r].ended;
        }
    }
    if (ended < events)
        fail_msg("%s: hangs, %d of %d calls have ended", text, ended, events);
    check(text);
    strag_loopback_free(world.network);
}

/* All orders from here on, or every n-th. */
static void run_orders(int *order, int events, int *begun)
{
    if (events == world.n * CALLS) {
        if (world.orders++ % world.every == 0) {
            run_order(order);
            world.tried++;
        }
        return;
    }
    for (int r = 0; r < world.n; r++) {
        if (begun[r] == CALLS)
            continue;
        order[events] = r;
        begun[r]++;
        run_orders(order, events + 1, begun);
        begun[r]--;
    }
}

static void run_ranks(int n, long every)
{
    int order[RANKS_MOST * CALLS], begun[RANKS_MOST] = {0};
    struct strag_error err;
    world.n = n;
    world.orders = world.tried = 0;
    world.every = every;
    for (int c = 0; c < CALLS; c++) {
        world.plans[c] = support_plans(support_algorithm(shapes[c].algorithm), n);
        for (int r = 0; r < n; r++)
            assert_int_equal(
                strag_engine_create(world.plans[c][r], 2, &world.ranks[r].engines[c], &err),
                STRAG_OK);
    }
    run_orders(order, 0, begun);
    print_message("%d ranks: %ld of %ld orders\n", n, world.tried, world.orders);
    for (int c = 0; c < CALLS; c++) {
        for (int r = 0; r < n; r++)
            strag_engine_free(world.ranks[r].engines[c]);
        support_plans_free(world.plans[c], n);
    }
}

static void all_orders_of_three_ranks(void **state)
{
    run_ranks(3, 1);
    assert_int_equal(world.tried, 1680);
}

static void orders_of_four_ranks(void **state)
{
    const long all = 369600, cases = support_cases(10000);
    run_ranks(4, cases >= all ? 1 : all / cases);
    assert_int_equal(world.orders, all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_orders_of_three_ranks),
        cmocka_unit_test(orders_of_four_ranks),
    };
    world.seed = support_seed("test_calls");
    return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
