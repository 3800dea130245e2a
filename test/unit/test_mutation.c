/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Right plans with exactly one thing wrong. verify refuses each change that it must refuse; what it
 * lets pass does no harm, as carrying the plans out shows (executor.c): there is no false accept.
 */
#include "algorithms/table.h"
#include "executor.h"
#include "plan/verify.h"
#include "random_plan.h"
#include "support.h"

enum { MORE = 4096, RANKS_MAX = 9 };

/* One change. @return false when there is nothing of this kind to change */
typedef bool change_function(struct strag_plan *plan, struct rng *rng);

static int random_op(const struct strag_plan *plan, struct rng *rng)
{
    return (int)rng_below(rng, (unsigned)plan->nops);
}

static int random_op_of(const struct strag_plan *plan, enum strag_kind kind, struct rng *rng)
{
    for (int tries = 0; tries < 200; tries++) {
        int op = random_op(plan, rng);
        if (plan->ops[op].kind == kind)
            return op;
    }
    return -1;
}

/* Another number near `value`, or far away. */
static int32_t another(int32_t value, struct rng *rng)
{
    static const int32_t far_away[] = {INT32_MIN, -1, INT32_MAX, 1 << 20};
    int32_t other = value;
    while (other == value)
        other = rng_one_in(rng, 5) ? far_away[rng_below(rng, 4)]
                                   : value - 3 + (int32_t)rng_below(rng, 7);
    return other;
}

static bool drop_op(struct strag_plan *plan, struct rng *rng)
{
    support_drop_op(plan, random_op(plan, rng));
    return true;
}

static bool duplicate_op(struct strag_plan *plan, struct rng *rng)
{
    support_duplicate_op(plan, random_op(plan, rng));
    return true;
}

static bool swap_ops(struct strag_plan *plan, struct rng *rng)
{
    if (plan->nops < 2)
        return false;
    support_swap_ops(plan, (int)rng_below(rng, (unsigned)plan->nops - 1));
    return true;
}

static bool change_peer(struct strag_plan *plan, struct rng *rng)
{
    struct strag_op *op = &plan->ops[random_op(plan, rng)];
    op->peer = another(op->peer, rng);
    return true;
}

static bool change_first(struct strag_plan *plan, struct rng *rng)
{
    struct strag_op *op = &plan->ops[random_op(plan, rng)];
    op->first = another(op->first, rng);
    return true;
}

static bool change_count(struct strag_plan *plan, struct rng *rng)
{
    struct strag_op *op = &plan->ops[random_op(plan, rng)];
    op->count = another(op->count, rng);
    return true;
}

static bool change_round(struct strag_plan *plan, struct rng *rng)
{
    struct strag_op *op = &plan->ops[random_op(plan, rng)];
    op->round = another(op->round, rng);
    return true;
}

static bool change_kind(struct strag_plan *plan, struct rng *rng)
{
    struct strag_op *op = &plan->ops[random_op(plan, rng)];
    op->kind = (uint8_t)((op->kind + 1 + rng_below(rng, 3)) % 4);
    return op->kind <= STRAG_RECV_REDUCE || rng_one_in(rng, 2);
}

static bool change_own_left(struct strag_plan *plan, struct rng *rng)
{
    struct strag_op *op = &plan->ops[random_op(plan, rng)];
    op->own_left = !op->own_left;
    return true;
}

static bool change_from_input(struct strag_plan *plan, struct rng *rng)
{
    struct strag_op *op = &plan->ops[random_op(plan, rng)];
    op->from_input = !op->from_input;
    return true;
}

static bool change_stage(struct strag_plan *plan, struct rng *rng)
{
    struct strag_op *op = &plan->ops[random_op(plan, rng)];
    op->stage = (uint8_t)(op->stage + 1 + rng_below(rng, 3));
    return true;
}

static bool drop_wait(struct strag_plan *plan, struct rng *rng)
{
    for (int tries = 0; tries < 200; tries++) {
        int op = random_op(plan, rng), length;
        strag_plan_after(plan, op, &length);
        if (length) {
            support_drop_wait(plan, op, (int)rng_below(rng, (unsigned)length));
            return true;
        }
    }
    return false;
}

static bool change_wait(struct strag_plan *plan, struct rng *rng)
{
    uint32_t waits = plan->ops[plan->nops].after;
    if (!waits)
        return false;
    int32_t *wait = &plan->after[rng_below(rng, waits)];
    *wait = another(*wait, rng);
    return true;
}

static bool drop_copy(struct strag_plan *plan, struct rng *rng)
{
    if (!plan->ncopies)
        return false;
    plan->copies[rng_below(rng, (unsigned)plan->ncopies)] = plan->copies[plan->ncopies - 1];
    plan->ncopies--;
    return true;
}

static bool change_copy(struct strag_plan *plan, struct rng *rng)
{
    if (!plan->ncopies)
        return false;
    struct strag_range *copy = &plan->copies[rng_below(rng, (unsigned)plan->ncopies)];
    int32_t *field = rng_one_in(rng, 2) ? &copy->first : &copy->count;
    *field = another(*field, rng);
    return true;
}

/* One copy more, of blocks inside the vector or not. */
static bool add_copy(struct strag_plan *plan, struct rng *rng)
{
    int blocks = plan->bounds.blocks;
    struct strag_range *copy = &plan->copies[plan->ncopies++]; /* a clone has room for one */
    copy->first = (int32_t)rng_below(rng, (unsigned)blocks + 1);
    copy->count = (int32_t)rng_below(rng, (unsigned)(blocks - copy->first) + 2) - 1;
    return true;
}

static bool change_rounds(struct strag_plan *plan, struct rng *rng)
{
    plan->rounds = another(plan->rounds, rng);
    return true;
}

static bool change_blocks(struct strag_plan *plan, struct rng *rng)
{
    /* No more than there are numerators for, and never millions, which would take memory. */
    plan->bounds.blocks += !plan->bounds.numerator && rng_one_in(rng, 2) ? 1 : -1;
    return true;
}

static bool change_rank(struct strag_plan *plan, struct rng *rng)
{
    plan->rank = another(plan->rank, rng);
    return true;
}

static bool change_n(struct strag_plan *plan, struct rng *rng)
{
    plan->n = another(plan->n, rng);
    return true;
}

/* Most waits then point forwards. */
static bool wait_for_last(struct strag_plan *plan, struct rng *rng)
{
    uint32_t waits = plan->ops[plan->nops].after;
    if (!waits)
        return false;
    plan->after[rng_below(rng, waits)] = plan->nops - 1;
    return true;
}

/* Sums that both sides of a swap reduce in the same order now differ. */
static bool turn_exchange(struct strag_plan *plan, struct rng *rng)
{
    int op = random_op_of(plan, STRAG_RECV_REDUCE, rng);
    if (op < 0)
        return false;
    plan->ops[op].own_left = !plan->ops[op].own_left;
    return true;
}

/* May a change be harmless? If not, verify has to refuse it always. If there is only one thing
 * to say, the message has to say it. */
static const struct change {
    const char *name;
    change_function *apply;
    bool may_be_harmless;
    const char *says;
} changes[] = {
    {"drop an operation", drop_op, false, NULL},
    {"duplicate an operation", duplicate_op, false, NULL},
    {"swap two operations", swap_ops, true, NULL},
    {"change a peer", change_peer, false, NULL},
    {"change a range's begin", change_first, false, NULL},
    {"change a range's length", change_count, false, NULL},
    {"change a round", change_round, false, "round"},
    {"change a kind", change_kind, true, NULL}, /* reduced or replaced: the same for stale values */
    {"change own_left", change_own_left, true, "in another order than rank 0"},
    {"change from_input", change_from_input, true, "it reads the input where it needs the output"},
    {"change a stage", change_stage, true, "no such stage"},
    {"remove a wait", drop_wait, false, "it does not wait for"},
    {"change a wait", change_wait, true, "wait"}, /* two equal waits become one */
    {"wait for the last operation", wait_for_last, true, "wait"},
    {"remove a copy", drop_copy, false, "it reads the input where it needs the output"},
    {"change a copy", change_copy, true, NULL},
    {"copy more", add_copy, true, "is outside the vector"},
    {"change the rounds", change_rounds, false, "round"},
    {"change the blocks", change_blocks, false, NULL},
    {"change the rank", change_rank, false, " is for rank "},
    {"change n", change_n, false, " is for rank "},
    {"turn an exchange", turn_exchange, true, "in another order than rank 0"},
};

enum { CHANGES = sizeof changes / sizeof *changes };

struct tally {
    long tried, survived;
};

/* ---- Trying changes ---- */

static void judge(struct strag_plan *const *plans, int n, const struct strag_claim *claim,
                  const struct change *change, struct tally *tally, struct rng *rng)
{
    struct strag_error err = {""};
    int status = strag_verify_plans(plans, n, claim, NULL, NULL, &err);
    tally->tried++;
    if (status == STRAG_ERR_FALSE) {
        assert_true(strlen(err.text) > 10);
        assert_null(strchr(err.text, '\n'));
        if (change->says && !strstr(err.text, change->says))
            fail_msg("%s, %s n=%d: '%s' does not say '%s'", change->name, plans[0]->algorithm, n,
                     err.text, change->says);
        return;
    }
    if (status != STRAG_OK)
        fail_msg("%s, %s n=%d: %s", change->name, plans[0]->algorithm, n, err.text);
    tally->survived++;
    enum outcome outcome = execute_often(plans, n, 24, rng);
    if (outcome != OUTCOME_SUM || !change->may_be_harmless)
        fail_msg("%s, %s n=%d: verify accepts it; carried out: %s", change->name,
                 plans[0]->algorithm, n,
                 (const char *const[]){"harmless", "wrong", "hang", "malformed"}[outcome]);
}

static void free_clones(struct strag_plan **clones, int n)
{
    support_plans_free(clones, n);
}

static void try_change(struct strag_plan *const *plans, int n, const struct strag_claim *claim,
                       struct tally *tallies, struct rng *rng)
{
    int which = (int)rng_below(rng, CHANGES);
    int rank = (int)rng_below(rng, (unsigned)n);
    struct strag_plan **clones = support_clone_all(plans, n, MORE);
    if (clones[rank]->nops && changes[which].apply(clones[rank], rng))
        judge(clones, n, claim, &changes[which], &tallies[which], rng);
    free_clones(clones, n);
}

static void print_tallies(const struct tally *tallies)
{
    long tried = 0, survived = 0;
    for (int i = 0; i < CHANGES; i++) {
        tried += tallies[i].tried;
        survived += tallies[i].survived;
        if (tallies[i].survived)
            print_message("%s: %ld of %ld do no harm\n", changes[i].name, tallies[i].survived,
                          tallies[i].tried);
    }
    print_message("%ld changed plans, %ld do no harm, %ld refused\n", tried, survived,
                  tried - survived);
}

TEST(changed_plans_are_refused)
{
    struct rng rng = {support_seed("test_mutation")};
    struct tally tallies[CHANGES] = {{0, 0}};
    long cases = support_cases(5000);
    for (long i = 0; i < cases; i += 50) {
        const struct strag_algorithm *algorithm = strag_algorithms[0];
        for (unsigned a = rng_below(&rng, 4); a && strag_algorithms[a]; a = 0)
            algorithm = strag_algorithms[a];
        int n = 2 + (int)rng_below(&rng, RANKS_MAX - 1);
        const struct strag_problem problem = {.n = n};
        struct strag_claim claim;
        struct strag_instance instance;
        assert_int_equal(strag_instance_open(&instance, algorithm, &problem, NULL), STRAG_OK);
        assert_int_equal(strag_instance_claim(&instance, &claim, NULL), STRAG_OK);
        strag_instance_close(&instance);
        struct strag_plan **plans = support_plans(algorithm, n);
        assert_int_equal(strag_verify_plans(plans, n, &claim, NULL, NULL, NULL), STRAG_OK);
        for (int k = 0; k < 50; k++)
            try_change(plans, n, &claim, tallies, &rng);
        support_plans_free(plans, n);
    }
    print_tallies(tallies);
    for (int i = 0; i < CHANGES; i++) {
        if (cases >= 5000 && !tallies[i].tried)
            fail_msg("%s: never tried", changes[i].name);
    }
}

/* ---- Algorithms with one step wrong: the builder finds the waits again, so only what the plans do
 * is wrong. ---- */

struct step {
    enum strag_kind kind;
    int round, peer, first, count;
    bool exchange;
};

static int steps_of(const struct strag_plan *plan, struct step *steps)
{
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        steps[i] = (struct step){
            (enum strag_kind)op->kind, op->round, op->peer, op->first, op->count, op->own_left};
    }
    return plan->nops;
}

/* Build the steps; an exchange puts the own value left only on the lower rank, as ever. */
static int rebuild(const struct strag_plan *model, const struct step *steps, int length,
                   bool exchanges, struct strag_plan **plan)
{
    const struct strag_shape shape = {
        .algorithm = model->algorithm,
        .n = model->n,
        .rounds = model->rounds,
        .bounds = model->bounds,
    };
    struct strag_builder *builder = strag_builder_create(&shape, model->rank);
    assert_non_null(builder);
    for (int i = 0; i < length; i++) {
        const struct step *s = &steps[i];
        if (s->kind == STRAG_SEND)
            strag_send(builder, s->round, s->peer, s->first, s->count);
        else if (s->kind == STRAG_RECV)
            strag_recv(builder, s->round, s->peer, s->first, s->count);
        else if (exchanges)
            strag_exchange_reduce(builder, s->round, s->peer, s->first, s->count);
        else
            strag_recv_reduce(builder, s->round, s->peer, s->first, s->count);
    }
    return strag_builder_finish(builder, plan, NULL);
}

/* One wrong step. @return the new length */
static int misstep(struct step *steps, int length, struct rng *rng)
{
    int at = (int)rng_below(rng, (unsigned)length);
    struct step *s = &steps[at];
    switch (rng_below(rng, 7)) {
    case 0:
        memmove(s, s + 1, (size_t)(length - at - 1) * sizeof *s);
        return length - 1;
    case 1:
        memmove(s + 1, s, (size_t)(length - at) * sizeof *s);
        return length + 1;
    case 2:
        s->kind = (enum strag_kind)((s->kind + 1 + rng_below(rng, 2)) % 3);
        return length;
    case 3:
        s->peer = another(s->peer, rng);
        return length;
    case 4:
        s->first = another(s->first, rng);
        return length;
    case 5:
        s->count = another(s->count, rng);
        return length;
    default:
        if (at + 1 < length) {
            struct step first = *s;
            *s = s[1];
            s[1] = first;
        }
        return length;
    }
}

TEST(wrong_steps_are_refused)
{
    static const struct change change = {"a wrong step", NULL, true, NULL};
    struct rng rng = {support_seed("test_mutation")};
    struct tally tally = {0, 0};
    long cases = support_cases(5000), unbuilt = 0;
    for (long i = 0; i < cases; i++) {
        const struct strag_algorithm *algorithm = strag_algorithms[i % 4];
        int n = 2 + (int)rng_below(&rng, RANKS_MAX - 1), rank = (int)rng_below(&rng, (unsigned)n);
        bool exchanges = strcmp(algorithm->name, "recursive-doubling") == 0 && (n & (n - 1)) == 0;
        struct strag_plan **plans = support_plans(algorithm, n);
        struct step *steps = calloc((size_t)plans[rank]->nops + 2, sizeof *steps);
        assert_non_null(steps);
        int length = misstep(steps, steps_of(plans[rank], steps), &rng);
        struct strag_plan *wrong = NULL;
        if (rebuild(plans[rank], steps, length, exchanges, &wrong) == STRAG_OK) {
            strag_plan_free(plans[rank]);
            plans[rank] = wrong;
            judge(plans, n, NULL, &change, &tally, &rng);
        } else {
            unbuilt++;
        }
        free(steps);
        support_plans_free(plans, n);
    }
    print_message("%ld wrong steps: %ld refused by the builder, %ld by verify, %ld do no harm\n",
                  cases, unbuilt, tally.tried - tally.survived, tally.survived);
}

/* ---- Random plans: more shapes than the algorithms have. ---- */

TEST(changed_random_plans_are_refused)
{
    struct rng rng = {support_seed("test_mutation")};
    struct tally tallies[CHANGES] = {{0, 0}};
    long cases = support_cases(5000), done = 0;
    while (done < cases) {
        int n = 2 + (int)rng_below(&rng, RANDOM_RANKS_MAX - 1);
        struct strag_plan **plans = random_plans(n, &rng);
        bool right = strag_verify_plans(plans, n, NULL, NULL, NULL, NULL) == STRAG_OK;
        for (int k = 0; right && k < 20; k++, done++)
            try_change(plans, n, NULL, tallies, &rng);
        support_plans_free(plans, n);
    }
    print_tallies(tallies);
}
