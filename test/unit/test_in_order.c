/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans run in order: which ones are, that the results are the proof's whatever the delays, and
 * which calls are left to the pipeline. (test_engine and test_random_plans do so at random, too,
 * and test_failure lets each message fail.)
 */
#include "algorithms/table.h"
#include "run/in_order.h"

#include "plan/verify.h"
#include "support.h"
#include "wires.h"
#include "world.h"

enum { ROOM = 8, RANKS_MOST = 12 }; /* as through shared memory */

static struct call_options whole_options(size_t count)
{
    struct call_options options = world_options(count);
    options.lanes[0].segment = options.lanes[1].segment = count ? count : 1;
    options.network.room = ROOM;
    return options;
}

/* Messages sent by try_send; the others went through the pipeline. */
static long try_sends_of(const struct world *world)
{
    long try_sends = 0;
    for (int rank = 0; rank < world->n; rank++)
        try_sends += world->members[rank].try_sends;
    return try_sends;
}

/* Run a call, which must be right. @return messages sent in order */
static long run_call(struct world *world, const struct call_options *options,
                     const struct strag_proof *proof, struct rng *rng, const char *name)
{
    struct strag_expressions expressions;
    strag_proof_expressions(proof, &expressions);
    world_begin(world, options, rng);
    world_run_well(world, &expressions, rng, name);
    long try_sends = try_sends_of(world);
    world_end(world);
    return try_sends;
}

static long run_plans(struct strag_plan *const *plans, int n, const struct call_options *options,
                      struct rng *rng, const char *name)
{
    struct strag_proof *proof = NULL;
    struct strag_error err = {""};
    if (strag_verify_plans(plans, n, NULL, NULL, &proof, &err) != STRAG_OK)
        fail_msg("%s n=%d: %s", name, n, err.text);
    struct world *world = world_create(plans, n, 2);
    long try_sends = run_call(world, options, proof, rng, name);
    world_free(world);
    strag_proof_free(proof);
    return try_sends;
}

/* ---- Algorithms ---- */

static long run_algorithm(const struct strag_algorithm *algorithm, int n,
                          const struct call_options *options, struct rng *rng)
{
    struct strag_plan **plans = support_plans(algorithm, n);
    long try_sends = run_plans(plans, n, options, rng, algorithm->name);
    support_plans_free(plans, n);
    return try_sends;
}

TEST(every_algorithm_is_right)
{
    struct rng rng = {support_seed("in order")};
    for (int a = 0; strag_algorithms[a]; a++) {
        long try_sends = 0;
        for (int i = 2; i <= RANKS_MOST; i++) {
            int n = support_ranks(strag_algorithms[a], i);
            struct call_options options = whole_options(rng_below(&rng, 40));
            options.network.max_delay = rng_below(&rng, 20);
            options.in_place = rng_one_in(&rng, 2);
            options.extent += rng_one_in(&rng, 2) ? 5 : 0;
            options.host = rng_one_in(&rng, 2) ? 2 : 0;
            try_sends += run_algorithm(strag_algorithms[a], n, &options, &rng);
        }
        print_message("%s: %ld messages in order\n", strag_algorithms[a]->name, try_sends);
        /* Pipelines of many short blocks have no room. */
        assert_int_equal(try_sends == 0, strstr(strag_algorithms[a]->name, "pipeline") != NULL);
    }
}

static int send_nothing(struct strag_transport *transport, int peer, const void *buffer,
                        size_t elements, uint64_t content)
{
    return STRAG_PENDING;
}

/* What short vectors are run by within a host goes in order, on every rank that can. */
TEST(short_forms_go_in_order)
{
    static const char *const names[] = {"recursive-doubling", "direct", "circulant"};
    struct rng rng = {support_seed("short forms")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct strag_plan **plans = support_plans(support_algorithm(names[i]), 8);
        struct call_options options = whole_options(40);
        static const int32_t content[64];
        for (int rank = 0; rank < 8; rank++) {
            struct strag_in_order *run = strag_in_order_create(plans[rank], content);
            struct strag_transport transport = {.try_send_max = 40, .try_send_depth = ROOM};
            struct strag_reducer reducer = {NULL, NULL, NULL, NULL, NULL};
            struct strag_call call = {
                .count = 40,
                .lanes = {options.lanes[0], options.lanes[1]},
                .reducer = &reducer,
            };
            assert_false(strag_in_order_suits(run, &call, &transport)); /* there is no try_send */
            transport.try_send = send_nothing;
            assert_true(strag_in_order_suits(run, &call, &transport));
            call.count = 41; /* a segment more */
            transport.try_send_max = 41;
            assert_false(strag_in_order_suits(run, &call, &transport));
            call.lanes[0].segment = call.lanes[1].segment = 41;
            assert_true(strag_in_order_suits(run, &call, &transport));
            transport.try_send_max = 40; /* longer than can be sent in order */
            assert_false(strag_in_order_suits(run, &call, &transport));
            strag_in_order_free(run);
        }
        assert_true(run_plans(plans, 8, &options, &rng, names[i]) > 0);
        support_plans_free(plans, 8);
    }
}

/* ---- What the transport gets ---- */

/* A transport that has room, and messages, of some ranks only. */
struct sparse {
    struct strag_transport base;
    uint64_t room, messages; /* bit r: of rank r */
    uint64_t expected;       /* what it got last, */
    int times;               /* and how often */
};

static int sparse_try_send(struct strag_transport *base, int peer, const void *buffer,
                           size_t elements, uint64_t content)
{
    return ((struct sparse *)base)->room >> peer & 1 ? STRAG_OK : STRAG_PENDING;
}

static int sparse_try_recv(struct strag_transport *base, int peer, size_t elements,
                           const void **arrived)
{
    *arrived = base;
    return ((struct sparse *)base)->messages >> peer & 1 ? STRAG_OK : STRAG_PENDING;
}

static void sparse_release(struct strag_transport *base, int peer)
{
}

static void sparse_hint_wait(struct strag_transport *base, uint64_t ranks)
{
    ((struct sparse *)base)->expected = ranks;
    ((struct sparse *)base)->times++;
}

static int sparse_progress(struct strag_transport *base)
{
    return STRAG_OK;
}

/* Run on with what is there now. */
static void go_on(struct strag_in_order *run, struct sparse *sparse, uint64_t messages, int status,
                  uint64_t expected, int times)
{
    sparse->messages = messages;
    assert_int_equal(strag_in_order_progress(run), status);
    assert_int_equal(sparse->expected, expected);
    assert_int_equal(sparse->times, times);
}

/* Of rank 0's messages of direct, which are the ones that it waits for? Each time it has to wait
 * it tells all of them up to its next send, once; and none of blocks without elements. */
TEST(a_rank_tells_for_whom_it_waits)
{
    static const int32_t content[16];
    for (int blocks = 1; blocks <= 4; blocks += 3) {
        const struct strag_problem problem = {.n = 4, .blocks = blocks};
        struct strag_plan *plan = support_plan("direct", &problem, 0);
        struct sparse sparse = {
            .base = {.try_send = sparse_try_send,
                     .try_recv = sparse_try_recv,
                     .release_recv = sparse_release,
                     .hint_wait = sparse_hint_wait,
                     .progress = sparse_progress},
        };
        int value = 0;
        struct strag_call call = {
            .input = &value, .output = &value, .count = 1, .extent = 4, .reducer = &wires_nothing};
        struct strag_in_order *run = strag_in_order_create(plan, content);
        assert_non_null(run);
        strag_in_order_start(run, &call, &sparse.base);
        if (blocks == 1) { /* all send to rank 0 */
            go_on(run, &sparse, 0x0, STRAG_PENDING, 0xe, 1);
            go_on(run, &sparse, 0xc, STRAG_PENDING, 0xe, 1); /* 1 is the first */
            go_on(run, &sparse, 0x2, STRAG_PENDING, 0xc, 2);
            go_on(run, &sparse, 0xc, STRAG_PENDING, 0x0, 3); /* no room to send the sum */
            sparse.room = 0xf;
            go_on(run, &sparse, 0x0, STRAG_OK, 0x0, 3);
        } else { /* the last block has the only element: rank 3 sums up */
            go_on(run, &sparse, 0x8, STRAG_PENDING, 0x0, 1);
            sparse.room = 0x8;
            go_on(run, &sparse, 0x0, STRAG_PENDING, 0x8, 2);
            go_on(run, &sparse, 0x0, STRAG_PENDING, 0x8, 2);
            go_on(run, &sparse, 0x8, STRAG_OK, 0x8, 2);
        }
        strag_in_order_free(run);
        strag_plan_free(plan);
    }
}

/* ---- Chosen plans ---- */

static struct strag_builder *builder_of(int n, int rank, int rounds, int blocks)
{
    const struct strag_shape shape = {.algorithm = "test",
                                      .n = n,
                                      .rounds = rounds,
                                      .bounds = {.blocks = blocks, .denominator = blocks}};
    struct strag_builder *builder = strag_builder_create(&shape, rank);
    assert_non_null(builder);
    return builder;
}

static struct strag_plan *finish(struct strag_builder *builder)
{
    struct strag_plan *plan = NULL;
    struct strag_error err = {""};
    if (strag_builder_finish(builder, &plan, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return plan;
}

/* Two ranks; the receive stands before the send on both, so the list itself would hang. */
TEST(receives_may_stand_first)
{
    struct rng rng = {support_seed("receives first")};
    struct strag_plan *plans[2];
    for (int rank = 0; rank < 2; rank++) {
        struct strag_builder *builder = builder_of(2, rank, 2, 2);
        strag_recv_reduce(builder, 0, 1 - rank, rank, 1);
        strag_send(builder, 0, 1 - rank, 1 - rank, 1);
        strag_recv(builder, 1, 1 - rank, 1 - rank, 1);
        strag_send(builder, 1, 1 - rank, rank, 1);
        plans[rank] = finish(builder);
    }
    struct call_options options = whole_options(10);
    options.network.max_delay = 9;
    long try_sends = 0;
    for (int i = 0; i < 50; i++)
        try_sends += run_plans(plans, 2, &options, &rng, "receives first");
    assert_in_range(try_sends, 4 * 50 / 2, 4 * 50); /* nearly all ranks can */
    for (int rank = 0; rank < 2; rank++)
        strag_plan_free(plans[rank]);
}

/* Three ranks in a row: what came is passed on in the same round. Rank 1 is left to the pipeline.
 */
TEST(a_send_that_waits_within_its_round_is_left_to_the_pipeline)
{
    struct rng rng = {support_seed("tied")};
    struct strag_plan *plans[3];
    for (int rank = 0; rank < 3; rank++) {
        struct strag_builder *builder = builder_of(3, rank, 2, 1);
        if (rank > 0)
            strag_recv_reduce(builder, 0, rank - 1, 0, 1);
        if (rank < 2)
            strag_send(builder, 0, rank + 1, 0, 1);
        if (rank < 2)
            strag_recv(builder, 1, 2, 0, 1);
        for (int peer = 0; rank == 2 && peer < 2; peer++)
            strag_send(builder, 1, peer, 0, 1);
        plans[rank] = finish(builder);
    }
    struct strag_proof *proof = NULL;
    struct strag_error err = {""};
    assert_int_equal(strag_verify_plans(plans, 3, NULL, NULL, &proof, &err), STRAG_OK);
    struct world *world = world_create(plans, 3, 2);
    struct call_options options = whole_options(10);
    long try_sends = 0;
    for (int i = 0; i < 50; i++) {
        options.network.max_delay = (unsigned)i % 10;
        try_sends += run_call(world, &options, proof, &rng, "tied");
        assert_int_equal(world->members[1].try_sends, 0);
    }
    assert_in_range(try_sends, 3 * 50 / 2, 3 * 50);
    world_free(world);
    strag_proof_free(proof);
    for (int rank = 0; rank < 3; rank++)
        strag_plan_free(plans[rank]);
}

/* Five messages one way before an answer: with room for four the pipeline has to do it. */
TEST(without_room_for_a_call_nothing_goes_in_order)
{
    struct rng rng = {support_seed("room")};
    struct strag_plan *plans[2];
    for (int rank = 0; rank < 2; rank++) {
        struct strag_builder *builder = builder_of(2, rank, 10, 5);
        for (int b = 0; b < 5; b++) {
            if (rank == 0)
                strag_send(builder, b, 1, b, 1);
            else
                strag_recv_reduce(builder, b, 0, b, 1);
        }
        for (int b = 0; b < 5; b++) {
            if (rank == 0)
                strag_recv(builder, 5 + b, 1, b, 1);
            else
                strag_send(builder, 5 + b, 0, b, 1);
        }
        plans[rank] = finish(builder);
    }
    struct call_options options = whole_options(10);
    options.network.room = 4;
    for (int i = 0; i < 20; i++)
        assert_int_equal(run_plans(plans, 2, &options, &rng, "room"), 0);
    options.network.room = 5;
    long try_sends = 0;
    for (int i = 0; i < 20; i++)
        try_sends += run_plans(plans, 2, &options, &rng, "room");
    assert_in_range(try_sends, 10 * 20 / 2, 10 * 20);
    for (int rank = 0; rank < 2; rank++)
        strag_plan_free(plans[rank]);
}
