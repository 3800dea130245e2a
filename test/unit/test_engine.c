/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine in random circumstances: every result is, bit for bit, the one that the proof of the
 * plan says; nothing else is written, sent, allocated or left behind; nothing hangs.
 */
#include "algorithms/table.h"
#include "run/engine.h"

#include "memory.h"
#include "support.h"
#include "world.h"

enum {
    RANKS_USUAL = 17,
    RANKS_MAX = 40,
};

/* Plans and their proofs, kept for the next case that needs them. */
struct proved {
    struct strag_plan **plans;
    struct strag_proof *proof;
    struct strag_expressions expressions;
};

static struct proved cache[STRAG_ALGORITHMS_MAX][RANKS_MAX + 1];

static int algorithms(void)
{
    int length = 0;
    while (strag_algorithms[length])
        length++;
    assert_in_range(length, 1, STRAG_ALGORITHMS_MAX);
    return length;
}

static struct proved *proved(int algorithm, int n)
{
    struct proved *p = &cache[algorithm][n];
    if (!p->plans) {
        struct strag_error err = {""};
        p->plans = support_plans(strag_algorithms[algorithm], n);
        if (strag_verify_plans(p->plans, n, NULL, NULL, &p->proof, &err) != STRAG_OK)
            fail_msg("%s n=%d: %s", strag_algorithms[algorithm]->name, n, err.text);
        strag_proof_expressions(p->proof, &p->expressions);
    }
    return p;
}

static int forget_plans(void **state)
{
    for (int a = 0; a < STRAG_ALGORITHMS_MAX; a++) {
        for (int n = 1; n <= RANKS_MAX; n++) {
            strag_proof_free(cache[a][n].proof);
            if (cache[a][n].plans)
                support_plans_free(cache[a][n].plans, n);
            cache[a][n] = (struct proved){0};
        }
    }
    return 0;
}

/* ---- Random cases ---- */

static size_t random_count(struct rng *rng, int n)
{
    switch (rng_below(rng, 6)) {
    case 0:
        return rng_below(rng, (unsigned)n + 2);
    case 1:
        return (size_t)n * (1 + rng_below(rng, 6));
    default:
        return rng_below(rng, 301);
    }
}

static struct call_options random_options(struct rng *rng, int n)
{
    struct call_options options = world_options(random_count(rng, n));
    for (int l = 0; l < STRAG_LANES; l++) {
        options.lanes[l].segment = 1 + rng_below(rng, rng_one_in(rng, 4) ? 4 : 64);
        if (rng_one_in(rng, 8))
            options.lanes[l].segment = rng_one_in(rng, 2) ? SIZE_MAX : 300;
        options.lanes[l].slots = 1 + (int)rng_below(rng, 5);
        options.lanes[l].in_step = rng_one_in(rng, 2);
    }
    options.host = rng_one_in(rng, 2) ? 0 : 1 + (int)rng_below(rng, (unsigned)n);
    options.in_place = rng_one_in(rng, 3);
    options.extent += rng_one_in(rng, 3) ? 1 + rng_below(rng, 12) : 0;
    options.polls = rng_one_in(rng, 3) ? 1 + rng_below(rng, 5) : 0;
    options.network.max_delay = rng_one_in(rng, 3) ? 0 : rng_below(rng, 60);
    options.network.in_order = rng_one_in(rng, 3);
    options.network.eager = rng_one_in(rng, 3) ? rng_below(rng, 70) : 0;
    options.network.in_place = rng_one_in(rng, 2);
    options.network.room = rng_one_in(rng, 2) ? 0 : 1 + (int)rng_below(rng, 8);
    options.one_in_place = rng_one_in(rng, 3);
    options.gap = rng_one_in(rng, 4) ? rng_below(rng, 5) : 0;
    if (options.network.room && rng_one_in(rng, 2)) { /* what may run in order */
        options.lanes[0].segment = options.lanes[1].segment = options.count + 1;
        options.polls = 0;
        options.one_in_place = false;
    }
    return options;
}

static int all_slots(const struct call_options *options)
{
    return options->lanes[0].slots + options->lanes[1].slots;
}

/* Allocations that the engine may make in a call: one, for more slots than ever before. */
static void check_allocations(struct world *world, int slots_before)
{
    int allowed = all_slots(&world->options) > slots_before;
    for (int rank = 0; rank < world->n; rank++) {
        const struct member *member = &world->members[rank];
        if (member->library_allocations > allowed)
            fail_msg("rank %d: the engine allocated %ld times in a call", rank,
                     member->library_allocations);
        if (world->options.count == 0)
            assert_int_equal(member->allocations, 0);
        assert_in_range(member->allocations, 0, 1);
    }
}

static void run_case(struct world *world, const struct proved *p,
                     const struct call_options *options, int slots_before, struct rng *rng,
                     const char *name)
{
    world_begin(world, options, rng);
    world_run_well(world, &p->expressions, rng, name);
    check_allocations(world, slots_before);
    world_end(world);
}

/* The same engines run a few calls, each of them a case. @return how many */
static long run_cases(struct rng *rng, long from, long most)
{
    int algorithm = (int)rng_below(rng, (unsigned)algorithms());
    int n = 1 + (int)rng_below(rng, rng_one_in(rng, 20) ? RANKS_MAX : RANKS_USUAL);
    int depth = 1 + (int)rng_below(rng, 4), slots = 0;
    long calls = 1 + rng_below(rng, 4);
    n = support_ranks(strag_algorithms[algorithm], n);
    const struct proved *p = proved(algorithm, n);
    struct world *world = world_create(p->plans, n, depth);
    calls = calls < most ? calls : most;
    for (long i = 0; i < calls; i++) {
        struct call_options options = random_options(rng, n);
        char name[60];
        snprintf(name, sizeof name, "case %ld, depth %d", from + i, depth);
        run_case(world, p, &options, slots, rng, name);
        if (options.network.room == 0 && all_slots(&options) > slots)
            slots = all_slots(&options); /* else some ranks may have needed none */
    }
    world_free(world);
    return calls;
}

static void random_cases(void **state)
{
    struct rng rng = {support_seed("test_engine")};
    long cases = support_cases(support_is_full() ? 5000 : 3000);
    for (long done = 0; done < cases;)
        done += run_cases(&rng, done, cases - done);
    print_message("%ld cases\n", cases);
}

/* ---- Chosen cases ---- */

static void run_chosen(const char *name, int n, const struct call_options *options, int depth)
{
    struct rng rng = {support_seed(name)};
    int algorithm = 0;
    while (strcmp(strag_algorithms[algorithm]->name, "circulant") != 0)
        algorithm++;
    const struct proved *p = proved(algorithm, n);
    struct world *world = world_create(p->plans, n, depth);
    run_case(world, p, options, 0, &rng, name);
    world_free(world);
}

static void one_rank(void **state)
{
    struct call_options options = world_options(100);
    run_chosen("one rank", 1, &options, 1);
    options.in_place = true;
    run_chosen("one rank in place", 1, &options, 1);
    options.count = 0;
    run_chosen("one rank, no elements", 1, &options, 1);
}

static void a_segment_of_any_length(void **state)
{
    static const size_t segments[] = {1, 100, SIZE_MAX / 2, SIZE_MAX - 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof segments / sizeof *segments; i++) {
        struct call_options options = world_options(100);
        options.lanes[0].segment = segments[i];
        run_chosen("segments of any length", 5, &options, 2);
    }
}

/* Many elements: 40 ranks, each with a slot of one element. */
static void long_vectors_in_little_space(void **state)
{
    struct call_options options = world_options(2000);
    options.lanes[0] = (struct strag_lane){.segment = 1, .slots = 1};
    options.network.max_delay = 7;
    run_chosen("little space", 9, &options, 3);
}

static void messages_in_place_need_no_space(void **state)
{
    struct call_options options = world_options(1000);
    options.network.in_place = true;
    options.network.max_delay = 7;
    struct rng rng = {support_seed("in place")};
    const struct proved *p = proved(0, 6);
    struct world *world = world_create(p->plans, 6, 2);
    run_case(world, p, &options, 0, &rng, "in place");
    for (int rank = 0; rank < 6; rank++)
        assert_int_equal(world->members[rank].allocations, 0);
    world_free(world);
}

/* ---- What several sends carry ---- */

/* A transport that notes what is sent; every message is complete at once. */
struct noting {
    struct strag_transport base;
    const char *buffer;
    int sends[2][5];            /* [block][peer] */
    uint64_t contents[2][5][2]; /* of these sends */
};

static int note_send(struct strag_transport *transport, struct strag_transfer *transfer, int peer,
                     const void *buffer, size_t elements)
{
    struct noting *noting = (struct noting *)transport;
    ptrdiff_t block = (const char *)buffer - noting->buffer;
    assert_in_range(block, 0, 1);
    assert_int_equal(elements, 1);
    int *sends = &noting->sends[block][peer];
    assert_in_range(*sends, 0, 1);
    noting->contents[block][peer][(*sends)++] = transfer->content;
    transfer->complete(transfer, STRAG_OK);
    return STRAG_OK;
}

static int note_recv(struct strag_transport *transport, struct strag_transfer *transfer, int peer,
                     void *buffer, size_t elements)
{
    transfer->complete(transfer, STRAG_OK);
    return STRAG_OK;
}

static int note_progress(struct strag_transport *transport)
{
    return STRAG_OK;
}

/* Rank 0 of 5: block 0 to three ranks, then once more after it has changed, block 1 to two. */
static struct strag_plan *plan_of_sends(void)
{
    const struct strag_shape shape = {
        .algorithm = "test", .n = 5, .rounds = 7, .bounds = {.blocks = 2, .denominator = 2}};
    struct strag_builder *builder = strag_builder_create(&shape, 0);
    struct strag_plan *plan = NULL;
    struct strag_error err = {""};
    for (int peer = 1; peer <= 3; peer++)
        strag_send(builder, peer - 1, peer, 0, 1);
    strag_recv(builder, 3, 4, 1, 1); /* of another block */
    strag_send(builder, 4, 4, 0, 1);
    strag_recv(builder, 5, 1, 0, 1);
    strag_send(builder, 5, 1, 0, 1);
    strag_send(builder, 5, 2, 1, 1);
    strag_send(builder, 6, 3, 1, 1);
    assert_int_equal(strag_builder_finish(builder, &plan, &err), STRAG_OK);
    return plan;
}

static void sends_of_the_same_values_are_numbered_the_same(void **state)
{
    struct strag_plan *plan = plan_of_sends();
    struct strag_engine *engine = NULL;
    struct strag_reducer reducer = {NULL, NULL, NULL, NULL, NULL};
    char buffer[2] = {0};
    struct noting noting = {
        .base = {.send = note_send, .recv = note_recv, .progress = note_progress},
        .buffer = buffer,
    };
    const struct strag_call call = {
        .input = buffer,
        .output = buffer,
        .count = 2,
        .extent = 1,
        .lanes = {{.segment = 1, .slots = 1}, {.segment = 1, .slots = 1}},
        .transport = &noting.base,
        .reducer = &reducer,
    };
    assert_int_equal(strag_engine_create(plan, 1, &engine, NULL), STRAG_OK);
    assert_int_equal(strag_engine_start(engine, &call), STRAG_OK);
    assert_int_equal(strag_engine_progress(engine), STRAG_OK);
    const uint64_t first = noting.contents[0][1][0], second = noting.contents[1][2][0];
    assert_int_not_equal(first, 0);
    for (int peer = 2; peer <= 4; peer++)
        assert_int_equal(noting.contents[0][peer][0], first);
    assert_int_equal(noting.sends[0][1], 2);
    assert_int_equal(noting.contents[0][1][1], 0);
    assert_int_not_equal(second, 0);
    assert_int_not_equal(second, first);
    assert_int_equal(noting.contents[1][3][0], second);
    strag_engine_free(engine);
    strag_plan_free(plan);
}

/* ---- Where ranges are cut ---- */

/* A transport that notes how long messages are; every one is complete at once. */
struct measuring {
    struct strag_transport base;
    const char *buffer;
    size_t sent, longest; /* elements */
    bool cut_anywhere;    /* one began at another place than after 64, 128, ... elements */
};

static int measure_send(struct strag_transport *transport, struct strag_transfer *transfer,
                        int peer, const void *buffer, size_t elements)
{
    struct measuring *measuring = (struct measuring *)transport;
    measuring->cut_anywhere |= ((const char *)buffer - measuring->buffer) % 64 != 0;
    measuring->sent += elements;
    measuring->longest = elements > measuring->longest ? elements : measuring->longest;
    transfer->complete(transfer, STRAG_OK);
    return STRAG_OK;
}

/* Rank 0 of 2 sends a block of 1000 elements. */
static struct measuring measure(size_t segment)
{
    const struct strag_shape shape = {
        .algorithm = "test", .n = 2, .rounds = 1, .bounds = {.blocks = 1, .denominator = 1}};
    struct strag_builder *builder = strag_builder_create(&shape, 0);
    struct strag_plan *plan = NULL;
    struct strag_engine *engine = NULL;
    struct strag_error err = {""};
    struct strag_reducer reducer = {NULL, NULL, NULL, NULL, NULL};
    char buffer[1000] = {0};
    struct measuring measuring = {
        .base = {.send = measure_send, .recv = note_recv, .progress = note_progress},
        .buffer = buffer,
    };
    const struct strag_call call = {
        .input = buffer,
        .output = buffer,
        .count = sizeof buffer,
        .extent = 1,
        .lanes = {{.segment = segment, .slots = 1}, {.segment = segment, .slots = 1}},
        .transport = &measuring.base,
        .reducer = &reducer,
    };
    strag_send(builder, 0, 1, 0, 1);
    assert_int_equal(strag_builder_finish(builder, &plan, &err), STRAG_OK);
    assert_int_equal(strag_engine_create(plan, 1, &engine, NULL), STRAG_OK);
    assert_int_equal(strag_engine_start(engine, &call), STRAG_OK);
    assert_int_equal(strag_engine_progress(engine), STRAG_OK);
    strag_engine_free(engine);
    strag_plan_free(plan);
    measuring.buffer = NULL;
    return measuring;
}

static void a_range_is_cut_at_multiples_of_64(void **state)
{
    static const size_t segments[] = {1, 63, 64, 65, 127, 300, 333, 999, 1000, 1001};
    for (size_t i = 0; i < sizeof segments / sizeof *segments; i++) {
        const struct measuring measuring = measure(segments[i]);
        assert_int_equal(measuring.sent, 1000);
        assert_in_range(measuring.longest, 1, segments[i]);
        assert_int_equal(measuring.cut_anywhere, segments[i] < 64);
    }
    assert_int_equal(measure(300).longest, 256); /* 4 segments of about 250 */
    assert_int_equal(measure(999).longest, 512);
}

/* ---- In step ---- */

/* A transport where nothing arrives until the test says so. */
struct holding {
    struct strag_transport base;
    struct strag_transfer *expected; /* the last receive that was posted */
    int sends[4];                    /* [peer] */
};

static int hold_send(struct strag_transport *transport, struct strag_transfer *transfer, int peer,
                     const void *buffer, size_t elements)
{
    ((struct holding *)transport)->sends[peer]++;
    transfer->complete(transfer, STRAG_OK);
    return STRAG_OK;
}

static int hold_recv(struct strag_transport *transport, struct strag_transfer *transfer, int peer,
                     void *buffer, size_t elements)
{
    ((struct holding *)transport)->expected = transfer;
    return STRAG_OK;
}

/* Rank 0 of 4 swaps block 0 for block 1 of rank 1 in round 0, and sends block 2 to ranks 2 and 3 in
 * round 1, for which it needs nothing that it receives. */
static struct strag_plan *plan_in_step(bool in_step)
{
    const struct strag_shape shape = {
        "test", 4, 2, {.blocks = 3, .denominator = 3}, .in_step = in_step};
    struct strag_builder *builder = strag_builder_create(&shape, 0);
    struct strag_plan *plan = NULL;
    struct strag_error err = {""};
    strag_send(builder, 0, 1, 0, 1);
    strag_recv(builder, 0, 1, 1, 1);
    strag_send(builder, 1, 2, 2, 1);
    strag_send(builder, 1, 3, 2, 1);
    assert_int_equal(strag_builder_finish(builder, &plan, &err), STRAG_OK);
    return plan;
}

/* @param peer3  the lane of rank 3; all others are in lane 0
 * @return sends to ranks 2 (tens) and 3 (ones) before the message of rank 1 has arrived */
static int sends_ahead(bool plan_wants, bool lane_wants, uint8_t peer3)
{
    struct strag_plan *plan = plan_in_step(plan_wants);
    struct strag_engine *engine = NULL;
    struct strag_reducer reducer = {NULL, NULL, NULL, NULL, NULL};
    char buffer[3] = {0};
    const uint8_t lane_of[4] = {0, 0, 0, peer3};
    struct holding holding = {
        .base = {.send = hold_send, .recv = hold_recv, .progress = note_progress}};
    const struct strag_call call = {
        .input = buffer,
        .output = buffer,
        .count = 3,
        .extent = 1,
        .lanes = {{.segment = 1, .slots = 1, .in_step = lane_wants}, {.segment = 1, .slots = 1}},
        .lane_of = lane_of,
        .transport = &holding.base,
        .reducer = &reducer,
    };
    assert_int_equal(strag_engine_create(plan, 1, &engine, NULL), STRAG_OK);
    assert_int_equal(strag_engine_start(engine, &call), STRAG_OK);
    assert_int_equal(strag_engine_progress(engine), STRAG_PENDING);
    assert_int_equal(holding.sends[1], 1);
    const int ahead = 10 * holding.sends[2] + holding.sends[3];
    holding.expected->complete(holding.expected, STRAG_OK);
    assert_int_equal(strag_engine_progress(engine), STRAG_OK);
    assert_int_equal(holding.sends[2], 1);
    assert_int_equal(holding.sends[3], 1);
    strag_engine_free(engine);
    strag_plan_free(plan);
    return ahead;
}

static void in_step_a_round_waits_for_what_is_to_be_received(void **state)
{
    assert_int_equal(sends_ahead(false, true, 0), 11);
    assert_int_equal(sends_ahead(true, false, 0), 11);
    assert_int_equal(sends_ahead(true, true, 0), 0);
    assert_int_equal(sends_ahead(true, true, 1), 1); /* the other lane goes on */
}

/* ---- The interface ---- */

static void wrong_arguments_are_refused(void **state)
{
    struct rng rng = {1};
    const struct proved *p = proved(0, 2);
    struct strag_engine *engine = NULL;
    struct strag_error err = {""};
    assert_int_equal(strag_engine_create(p->plans[0], 0, &engine, &err), STRAG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "at least 1"));
    assert_null(engine);
    strag_engine_free(NULL);

    struct world *world = world_create(p->plans, 2, 1);
    struct call_options options = world_options(10);
    world_begin(world, &options, &rng);
    struct member *member = &world->members[0];
    unsigned char buffer[80] = {0};
    const struct strag_call right = {
        .input = buffer,
        .output = buffer,
        .count = 10,
        .extent = 8,
        .lanes = {{.segment = 1, .slots = 1}, {.segment = 1, .slots = 1}},
        .transport = &member->transport.base,
        .reducer = &member->reducer.base,
    };
    struct strag_call call = right;
    assert_int_equal(strag_engine_progress(member->engine), STRAG_ERR_ARGUMENT);
    call.extent = 0;
    assert_int_equal(strag_engine_start(member->engine, &call), STRAG_ERR_ARGUMENT);
    call.extent = -8;
    assert_int_equal(strag_engine_start(member->engine, &call), STRAG_ERR_ARGUMENT);
    call = right;
    call.lanes[0].segment = 0;
    assert_int_equal(strag_engine_start(member->engine, &call), STRAG_ERR_ARGUMENT);
    call = right;
    call.lanes[1].slots = 0;
    assert_int_equal(strag_engine_start(member->engine, &call), STRAG_ERR_ARGUMENT);
    assert_int_equal(member->allocations, 0);

    /* A call that is running cannot be started again, and goes on unharmed. */
    assert_int_equal(world_step(member), STRAG_PENDING);
    assert_int_equal(strag_engine_start(member->engine, &right), STRAG_ERR_ARGUMENT);
    assert_true(world_run(world, &rng));
    world_check_result(world, &p->expressions);
    world_assert_good(world, true, "started twice");
    assert_int_equal(strag_engine_progress(member->engine), STRAG_ERR_ARGUMENT);
    world_end(world);
    world_free(world);
}

/* Out of memory for more slots: the call before has given its space back, nobody gives it twice. */
static void no_memory_for_more_slots(void **state)
{
    struct rng rng = {1};
    const struct proved *p = proved(0, 3);
    struct world *world = world_create(p->plans, 3, 1);
    struct call_options options = world_options(30);
    run_case(world, p, &options, 0, &rng, "before");

    options.lanes[0].slots = 50;
    world_begin(world, &options, &rng);
    struct member *member = &world->members[0];
    void *output = member->output + 32;
    const struct strag_call call = {
        .input = output,
        .output = output,
        .count = 30,
        .extent = 8,
        .lanes = {options.lanes[0], options.lanes[1]},
        .transport = &member->transport.base,
        .reducer = &member->reducer.base,
    };
    memory_watch(1);
    int status = strag_engine_start(member->engine, &call);
    assert_true(memory_unwatch().failed);
    assert_int_equal(status, STRAG_ERR_MEMORY);
    assert_int_equal(member->releases, 0);
    assert_null(world_problem(world));
    world_end(world);

    run_case(world, p, &options, 0, &rng, "after");
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(one_rank),
        cmocka_unit_test(a_segment_of_any_length),
        cmocka_unit_test(long_vectors_in_little_space),
        cmocka_unit_test(no_memory_for_more_slots),
        cmocka_unit_test(messages_in_place_need_no_space),
        cmocka_unit_test(sends_of_the_same_values_are_numbered_the_same),
        cmocka_unit_test(a_range_is_cut_at_multiples_of_64),
        cmocka_unit_test(in_step_a_round_waits_for_what_is_to_be_received),
        cmocka_unit_test(random_cases),
    };
    return cmocka_run_group_tests(tests, NULL, forget_plans);
}
