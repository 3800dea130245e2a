/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures at every place: messages of each rank, reductions, each request for space. The
 * rank ends with that error, the others end, nothing stays in flight or allocated, and the engines
 * work again afterwards.
 */
#include "algorithms/table.h"
#include "run/engine.h"

#include "plan/verify.h"
#include "support.h"
#include "world.h"

/* An algorithm's engines for n ranks, and what they must compute. */
struct setting {
    const char *name;
    int n;
    struct strag_plan **plans;
    struct strag_proof *proof;
    struct strag_expressions expressions;
    struct world *world;
    struct rng *rng;
    long injected, unaffected; /* failures; ranks that ended well all the same */
};

static void set_up(struct setting *s, const struct strag_algorithm *algorithm, int n,
                   struct rng *rng)
{
    struct strag_error err = {""};
    *s = (struct setting){.name = algorithm->name, .n = n, .rng = rng};
    s->plans = support_plans(algorithm, n);
    if (strag_verify_plans(s->plans, n, NULL, NULL, &s->proof, &err) != STRAG_OK)
        fail_msg("%s n=%d: %s", algorithm->name, n, err.text);
    strag_proof_expressions(s->proof, &s->expressions);
    s->world = world_create(s->plans, n, 2);
}

static void tear_down(struct setting *s)
{
    world_free(s->world);
    strag_proof_free(s->proof);
    support_plans_free(s->plans, s->n);
}

/* Small enough to fail everywhere, large enough for several segments. */
static struct call_options usual_options(const struct setting *s)
{
    struct call_options options = world_options(3 * (size_t)s->n + 1);
    options.lanes[0].segment = 2;
    options.lanes[1] = (struct strag_lane){.segment = 3, .slots = 1};
    options.host = 2;
    options.network.max_delay = 3;
    return options;
}

static void run_well(struct setting *s, const struct call_options *options, const char *when)
{
    world_begin(s->world, options, s->rng);
    world_run_well(s->world, &s->expressions, s->rng, when);
    world_end(s->world);
}

/* Run with a failure on `rank`, which must end with `status`. A rank that ends well in spite of it
 * holds the right result. `change` may change the world before it starts. */
static void run_badly(struct setting *s, const struct call_options *options, int rank, int status,
                      void (*change)(struct member *member), const char *what)
{
    char options_text[200];
    world_begin(s->world, options, s->rng);
    world_describe(s->world, options_text, sizeof options_text);
    if (change)
        change(&s->world->members[rank]);
    if (!world_run(s->world, s->rng))
        fail_msg("%s, rank %d, %s: hang", what, rank, options_text);
    world_check_result(s->world, &s->expressions);
    world_check_clean(s->world);
    if (world_problem(s->world))
        fail_msg("%s, %s: %s", what, options_text, world_problem(s->world));
    if (s->world->members[rank].status != status)
        fail_msg("%s, %s: rank %d ended with '%s'", what, options_text, rank,
                 strag_status_text(s->world->members[rank].status));
    for (int other = 0; other < s->n; other++) {
        int how = s->world->members[other].status;
        if (other != rank && how != STRAG_OK && how != STRAG_ERR_TRANSPORT)
            fail_msg("%s, %s: rank %d ended with '%s'", what, options_text, other,
                     strag_status_text(how));
        s->unaffected += how == STRAG_OK;
    }
    s->injected++;
    world_end(s->world);
}

/* Every algorithm, n = 2, 3, 5, 8; if it takes long, as with sanitizers, each with one of them.
 */
static void everywhere(const char *test, void (*inject)(struct setting *s))
{
    static const int sizes[] = {2, 3, 5, 8};
    struct rng rng = {support_seed(test)};
    long injected = 0, unaffected = 0;
    const size_t nsizes = sizeof sizes / sizeof *sizes;
    const bool all = !support_is_short();
    for (size_t a = 0; strag_algorithms[a]; a++) {
        for (size_t i = all ? 0 : a % nsizes; i < nsizes; i += all ? 1 : nsizes) {
            struct setting s;
            struct call_options options;
            set_up(&s, strag_algorithms[a], support_ranks(strag_algorithms[a], sizes[i]), &rng);
            options = usual_options(&s);
            run_well(&s, &options, "before");
            inject(&s);
            run_well(&s, &options, "after");
            assert_true(s.injected > 0);
            injected += s.injected;
            unaffected += s.unaffected;
            tear_down(&s);
        }
    }
    print_message("%ld failures; %ld times a rank ended well all the same\n", injected, unaffected);
}

/* ---- Messages ---- */

/* From one message, or reduction, that fails to the next. With few ranks each fails, with more
 * every other one unless the run is to be long; the first one is another on each rank. */
static long step(const struct setting *s)
{
    if (support_is_short())
        return 4;
    return s->n < 5 || support_is_full() ? 1 : 2;
}

static void fail_every_message(struct setting *s, bool straggler, bool cannot_cancel)
{
    struct call_options options = usual_options(s);
    options.network.fail_late = straggler;
    options.network.cannot_cancel = cannot_cancel;
    s->world->options = options;
    for (int rank = 0; rank < s->n; rank++) {
        long messages = world_messages(s->world, rank);
        options.network.fail_rank = rank;
        for (long k = 1 + rank % step(s); k <= messages; k += step(s)) {
            char what[60];
            snprintf(what, sizeof what, "message %ld %s", k, straggler ? "fails" : "is refused");
            options.network.fail_post = (unsigned)k;
            options.in_place = k % 3 == 0;
            options.extent = k % 5 == 0 ? 11 : 8;
            options.lanes[0].slots = 1 + (int)(k % 3);
            options.polls = k % 4 == 0 ? 3 : 0;
            options.network.eager = k % 7 == 0 ? 2 : 0;
            options.network.in_place = k % 2 == 0;
            options.one_in_place = k % 8 == 0;
            run_badly(s, &options, rank, STRAG_ERR_TRANSPORT, NULL, what);
        }
    }
}

static void refuse_messages(struct setting *s)
{
    fail_every_message(s, false, false);
}

static void fail_messages(struct setting *s)
{
    fail_every_message(s, true, false);
}

static void refuse_messages_no_cancel(struct setting *s)
{
    fail_every_message(s, false, true);
}

static void fail_messages_no_cancel(struct setting *s)
{
    fail_every_message(s, true, true);
}

/* Plans that run in order, where nothing is ever in flight. */
static void fail_messages_at_once(struct setting *s)
{
    struct call_options options = usual_options(s);
    options.lanes[0].segment = options.lanes[1].segment = options.count;
    options.network.room = 8;
    s->world->options = options;
    for (int rank = 0; rank < s->n; rank++) {
        long messages = world_messages(s->world, rank);
        options.network.fail_rank = rank;
        for (long k = 1 + rank % step(s); k <= messages; k += step(s)) {
            options.network.fail_post = (unsigned)k;
            options.in_place = k % 3 == 0;
            options.extent = k % 5 == 0 ? 11 : 8;
            options.network.in_place = k % 2 == 0;
            run_badly(s, &options, rank, STRAG_ERR_TRANSPORT, NULL, "a message fails at once");
        }
    }
}

TEST(every_message_is_refused)
{
    everywhere("refused messages", refuse_messages);
}

TEST(every_message_fails_late)
{
    everywhere("late failures", fail_messages);
}

TEST(every_message_is_refused_and_none_can_be_cancelled)
{
    everywhere("refused messages, no cancelling", refuse_messages_no_cancel);
}

TEST(every_message_fails_late_and_none_can_be_cancelled)
{
    everywhere("late failures, no cancelling", fail_messages_no_cancel);
}

TEST(every_message_fails_at_once)
{
    everywhere("failures at once", fail_messages_at_once);
}

/* Space into which a message may still come must have been seen: otherwise the two tests before
 * would prove nothing (the watching reducer compares `lost` with what could not be cancelled). */
TEST(space_is_lost_sometimes)
{
    struct rng rng = {support_seed("lost space")};
    struct setting s;
    set_up(&s, support_algorithm("ring"), 5, &rng);
    struct call_options options = usual_options(&s);
    options.network.cannot_cancel = true;
    int lost = 0;
    for (unsigned k = 1; k <= 20; k++) {
        options.network.fail_post = k;
        world_begin(s.world, &options, &rng);
        assert_true(world_run(s.world, &rng));
        for (int rank = 0; rank < 5; rank++)
            lost += s.world->members[rank].nlost;
        assert_null(world_problem(s.world));
        world_end(s.world);
    }
    assert_true(lost > 0);
    tear_down(&s);
}

/* ---- Progress ---- */

static int calls_of_progress; /* until it fails */

static int failing_progress(struct strag_transport *transport)
{
    struct member *member = ((struct watched_transport *)transport)->member;
    if (--calls_of_progress == 0)
        return STRAG_ERR_TRANSPORT;
    return member->endpoint->progress(member->endpoint);
}

static void break_progress(struct member *member)
{
    member->transport.base.progress = failing_progress;
}

static void fail_progress(struct setting *s)
{
    struct call_options options = usual_options(s);
    for (int rank = 0; rank < s->n; rank++) {
        for (int k = 1; k <= 2; k++) { /* nobody is done before the second time */
            calls_of_progress = k;
            options.in_place = k % 2 == 0;
            run_badly(s, &options, rank, STRAG_ERR_TRANSPORT, break_progress, "progress fails");
        }
    }
}

TEST(the_transport_fails_by_itself)
{
    everywhere("failing progress", fail_progress);
}

/* ---- The reducer ---- */

/* How many times the rank reduces something in a call. */
static long reductions(struct setting *s, const struct call_options *options, int rank)
{
    world_begin(s->world, options, s->rng);
    assert_true(world_run(s->world, s->rng));
    long all = s->world->members[rank].reductions;
    world_end(s->world);
    return all;
}

static void fail_every_reduction(struct setting *s)
{
    struct call_options options = usual_options(s);
    for (int rank = 0; rank < s->n; rank++) {
        options.fail_reduction = 0;
        long all = reductions(s, &options, rank);
        options.reducer_fails_on = rank;
        for (long k = 1 + rank % step(s); k <= all; k += step(s)) {
            options.fail_reduction = k;
            for (int variant = 0; variant < 3; variant++) {
                options.polls = variant ? 3 : 0;
                options.fail_late = variant == 2;
                options.in_place = k % 2 == 0;
                options.network.cannot_cancel = k % 3 == 0;
                options.network.in_place = (k + variant) % 2 == 0;
                run_badly(s, &options, rank, STRAG_ERR_REDUCE, NULL, "a reduction fails");
            }
        }
    }
}

TEST(every_reduction_fails)
{
    everywhere("reductions", fail_every_reduction);
}

static bool reduces(const struct strag_plan *plan)
{
    for (int op = 0; op < plan->nops; op++) {
        if (plan->ops[op].kind == STRAG_RECV_REDUCE)
            return true;
    }
    return false;
}

static void fail_allocations(struct setting *s)
{
    struct call_options options = usual_options(s);
    options.fail_allocate = true;
    for (int rank = 0; rank < s->n; rank++) {
        options.reducer_fails_on = rank;
        bool needs_space = reduces(s->plans[rank]);
        run_badly(s, &options, rank, needs_space ? STRAG_ERR_MEMORY : STRAG_OK, NULL, "no space");
    }
}

TEST(there_is_no_temporary_space)
{
    everywhere("temporary space", fail_allocations);
}

/* Only plans that copy: circulant for n = 7, but for ranks whose ranges the vector's end cuts. */
TEST(the_first_copy_fails)
{
    struct rng rng = {support_seed("copies")};
    struct setting s;
    set_up(&s, support_algorithm("circulant"), 7, &rng);
    struct call_options options = usual_options(&s);
    options.fail_copy = true;
    int copy = 0;
    for (int rank = 0; rank < s.n; rank++) {
        bool copies = s.plans[rank]->ncopies > 0;
        copy += copies;
        options.reducer_fails_on = rank;
        options.in_place = false;
        run_badly(&s, &options, rank, copies ? STRAG_ERR_REDUCE : STRAG_OK, NULL, "a copy fails");
        options.in_place = true; /* nothing to copy */
        run_badly(&s, &options, rank, STRAG_OK, NULL, "a copy would fail");
    }
    assert_true(copy > 0);
    tear_down(&s);
}

/* ---- A rank that is lost in the middle ---- */

/* Let any of the ranks that have not ended move on `steps` times, or until none is left. A rank
 * that ends with an error is gone for the others. */
static void move_on(struct setting *s, long steps)
{
    for (; steps > 0; steps--) {
        struct member *member = &s->world->members[rng_below(s->rng, (unsigned)s->n)];
        if (member->status == STRAG_PENDING && world_step(member) < 0)
            strag_loopback_kill(s->world->network, member->rank);
    }
}

/* Others see errors on their messages with it; it sees errors on all of its own. */
TEST(a_rank_is_killed_while_it_runs)
{
    struct rng rng = {support_seed("killed ranks")};
    struct setting s;
    long cases = support_cases(300), failed = 0;
    set_up(&s, support_algorithm("circulant"), 6, &rng);
    struct call_options options = usual_options(&s);
    for (long i = 0; i < cases; i++) {
        options.network.in_place = i % 2 == 0;
        world_begin(s.world, &options, &rng);
        move_on(&s, (long)rng_below(&rng, 200));
        int killed = (int)rng_below(&rng, 6);
        bool running = s.world->members[killed].status == STRAG_PENDING;
        strag_loopback_kill(s.world->network, killed);
        move_on(&s, 5000);
        world_check_result(s.world, &s.expressions);
        world_check_clean(s.world);
        if (world_problem(s.world))
            fail_msg("case %ld: %s", i, world_problem(s.world));
        for (int rank = 0; rank < 6; rank++) {
            int status = s.world->members[rank].status;
            if (status != STRAG_OK && status != STRAG_ERR_TRANSPORT)
                fail_msg("case %ld: rank %d: %s", i, rank, strag_status_text(status));
            failed += status != STRAG_OK;
        }
        if (running)
            assert_int_equal(s.world->members[killed].status, STRAG_ERR_TRANSPORT);
        world_end(s.world);
    }
    assert_true(failed > 0);
    run_well(&s, &options, "after");
    tear_down(&s);
}
