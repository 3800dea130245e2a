/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduces in which one rank, another one each time, is not waited for: what run/arrivals.h
 * agrees upon is what the engines run, over the loopback, with up to 64 ranks. Ranks arrive and
 * time runs out at random; who has finished a call is in the next one while others are still in
 * this one. Every result is, bit for bit, the one that the proof of the plan says.
 * STRAG_CASES: jobs; STRAG_SEED: their seed.
 */
#include "run/arrivals.h"

#include "support.h"
#include "world.h"

enum { RANKS_MAX = 64, CALLS = 6, UNDER_WAY = 8, DEPTH = 2 };

enum phase { OUTSIDE, DECIDING, RUNNING, ENDING };

struct channel {
    int count;
    struct strag_arrivals_message message[UNDER_WAY];
};

/* A call, from the first decision until all have the result. */
struct call {
    int decision, ended;
    struct strag_plan *plans[RANKS_MAX];
    struct strag_proof *proof;
    struct world *world;
};

struct rank {
    enum phase phase;
    int calls;       /* begun */
    unsigned rarely; /* it arrives once in this many turns; drawn for each call */
    struct strag_arrivals *arrivals;
};

struct job {
    int n;
    struct rng *rng;
    struct rank rank[RANKS_MAX];
    struct channel channel[RANKS_MAX][RANKS_MAX]; /* from, to */
    struct call call[2];                          /* call c: c % 2 */
    unsigned wait_limit;
    int without; /* calls */
};

struct sender {
    struct job *job;
    int rank;
};

static void send(void *context, int to, const struct strag_arrivals_message *message)
{
    const struct sender *sender = context;
    struct channel *channel = &sender->job->channel[sender->rank][to];
    assert_true(channel->count < UNDER_WAY);
    channel->message[channel->count++] = *message;
}

/* ---- A call ---- */

static void begin_call(struct job *job, struct call *call, int decision)
{
    const char *name = decision < 0 ? "ring" : "straggler-pipeline";
    const struct strag_straggler straggler = {decision, 0};
    const struct strag_state state = {.nstragglers = decision >= 0, .straggler = &straggler};
    const struct strag_problem problem = {.n = job->n, .state = &state};
    struct strag_error err;
    struct call_options options = world_options(rng_below(job->rng, 400));
    options.lanes[0].segment = options.lanes[1].segment = 1 + rng_below(job->rng, 64);
    options.network.max_delay = rng_below(job->rng, 40);
    options.network.eager = rng_below(job->rng, 70);
    call->decision = decision;
    call->ended = 0;
    if (support_create_all(support_algorithm(name), &problem, call->plans, &err) != STRAG_OK ||
        strag_verify_plans(call->plans, job->n, NULL, NULL, &call->proof, &err) != STRAG_OK)
        fail_msg("%s, %d ranks, without %d: %s", name, job->n, decision, err.text);
    call->world = world_create(call->plans, job->n, DEPTH);
    world_begin(call->world, &options, job->rng);
    job->without += decision >= 0;
}

static void end_call(struct job *job, struct call *call)
{
    struct strag_expressions expressions;
    strag_proof_expressions(call->proof, &expressions);
    world_check_result(call->world, &expressions);
    world_check_traffic(call->world);
    world_check_clean(call->world);
    world_assert_good(call->world, true, "an allreduce without a rank");
    world_end(call->world);
    world_free(call->world);
    strag_proof_free(call->proof);
    strag_plan_free_all(call->plans, job->n);
    *call = (struct call){.world = NULL};
}

/* ---- A rank's turn ---- */

static struct call *call_of(struct job *job, const struct rank *rank)
{
    return &job->call[(rank->calls - 1) % 2];
}

/* A message, of a random rank that sent one, or none. */
static void receive(struct job *job, int r, const struct strag_arrivals_port *port)
{
    const int first = (int)rng_below(job->rng, (unsigned)job->n);
    for (int i = 0; i < job->n; i++) {
        const int from = (first + i) % job->n;
        struct channel *channel = &job->channel[from][r];
        if (channel->count == 0 || rng_one_in(job->rng, 3))
            continue;
        const struct strag_arrivals_message message = channel->message[0];
        memmove(channel->message, channel->message + 1, (size_t)--channel->count * sizeof message);
        strag_arrivals_receive(job->rank[r].arrivals, from, &message, port);
        return;
    }
}

static void run(struct job *job, int r)
{
    struct rank *rank = &job->rank[r];
    struct call *call = call_of(job, rank);
    const int status = world_step(&call->world->members[r]);
    if (status == STRAG_PENDING)
        return;
    assert_int_equal(status, STRAG_OK);
    rank->phase = ENDING;
    if (++call->ended == job->n)
        end_call(job, call);
}

static void follow(struct job *job, int r)
{
    struct rank *rank = &job->rank[r];
    const int decision = strag_arrivals_decision(rank->arrivals);
    if (rank->phase == DECIDING && decision != STRAG_ARRIVALS_UNDECIDED) {
        struct call *call = call_of(job, rank);
        if (!call->world)
            begin_call(job, call, decision);
        assert_int_equal(decision, call->decision);
        rank->phase = RUNNING;
    }
    if (rank->phase == ENDING && !strag_arrivals_wants(rank->arrivals))
        rank->phase = OUTSIDE;
}

static void take_turn(struct job *job, int r, const struct strag_arrivals_roles *roles)
{
    struct rank *rank = &job->rank[r];
    struct sender sender = {job, r};
    const struct strag_arrivals_port port = {send, &sender};
    if (rank->phase == OUTSIDE && rank->calls < CALLS && rng_one_in(job->rng, rank->rarely)) {
        strag_arrivals_begin(rank->arrivals, &roles[rank->calls++], &port);
        rank->phase = DECIDING;
        rank->rarely = rng_one_in(job->rng, 4) ? 200 : 1 + rng_below(job->rng, 8);
    } else if (rank->phase == DECIDING && strag_arrivals_waits_for_one(rank->arrivals) &&
               rng_one_in(job->rng, job->wait_limit)) {
        strag_arrivals_expire(rank->arrivals, &port);
    } else if (rank->phase == RUNNING) {
        run(job, r);
    } else if (rank->phase != OUTSIDE) {
        receive(job, r, &port);
    }
    follow(job, r);
}

/* ---- A job ---- */

static void draw_roles(struct job *job, struct strag_arrivals_roles *roles)
{
    const unsigned n = (unsigned)job->n;
    for (int c = 0; c < CALLS; c++) {
        const int first = (int)rng_below(job->rng, n);
        const int second = (first + 1 + (int)rng_below(job->rng, n - 2)) % job->n;
        const int third = (first + job->n - 1) % job->n;
        roles[c] = (struct strag_arrivals_roles){first, second, third};
    }
}

static bool is_over(const struct job *job)
{
    for (int r = 0; r < job->n; r++) {
        if (job->rank[r].calls < CALLS || job->rank[r].phase != OUTSIDE)
            return false;
    }
    return true;
}

/* @return in how many calls a rank was not waited for */
static int run_job(int n, struct rng *rng)
{
    struct job *job = calloc(1, sizeof *job);
    struct strag_arrivals_roles roles[CALLS];
    assert_non_null(job);
    job->n = n;
    job->rng = rng;
    job->wait_limit = 1 + rng_below(rng, 60);
    draw_roles(job, roles);
    for (int r = 0; r < n; r++) {
        job->rank[r].arrivals = malloc(strag_arrivals_bytes(n));
        assert_non_null(job->rank[r].arrivals);
        strag_arrivals_init(job->rank[r].arrivals, n, r);
        job->rank[r].rarely = 1;
    }
    for (long turns = 0; !is_over(job); turns++) {
        if (turns > 20000000L)
            fail_msg("%d ranks wait for ever", n);
        for (int i = 0; i < n; i++)
            take_turn(job, (int)rng_below(rng, (unsigned)n), roles);
    }
    const int without = job->without;
    for (int r = 0; r < n; r++) {
        free(job->rank[r].arrivals);
        for (int to = 0; to < n; to++)
            assert_int_equal(job->channel[r][to].count, 0);
    }
    free(job);
    return without;
}

TEST(results_are_right_whoever_comes_last)
{
    struct rng rng = {support_seed("results_are_right_whoever_comes_last")};
    const long cases = support_cases(support_is_short() ? 20 : 60);
    int without = 0;
    for (long c = 0; c < cases; c++)
        without += run_job(3 + (int)rng_below(&rng, c % 8 ? 14 : RANKS_MAX - 2), &rng);
    without += run_job(RANKS_MAX, &rng);
    printf("%ld jobs of %d calls, %d of them without a rank\n", cases + 1, CALLS, without);
    assert_true(without > cases);
}
