/* SPDX-License-Identifier: BSD-3-Clause */
#include "support.h"

#include "algorithms/table.h"

#include <limits.h>
#include <math.h>
#include <time.h>

uint64_t scramble(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t rng_next(struct rng *rng)
{
    return scramble(rng->state += 0x9e3779b97f4a7c15u);
}

unsigned rng_below(struct rng *rng, unsigned n)
{
    return (unsigned)((rng_next(rng) >> 32) * n >> 32);
}

bool rng_one_in(struct rng *rng, unsigned n)
{
    return rng_below(rng, n) == 0;
}

/* A number from the environment; a wrong one ends the test, for it would test something else. */
static unsigned long long setting(const char *name, unsigned long long usual)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return usual;
    char *end;
    unsigned long long value = strtoull(text, &end, 0);
    if (*end || text[0] == '-')
        fail_msg("%s=%s: a number is needed", name, text);
    return value;
}

uint64_t support_seed(const char *test)
{
    uint64_t seed = setting("STRAG_SEED", 1);
    print_message("%s: STRAG_SEED=%llu\n", test, (unsigned long long)seed);
    return seed;
}

void assert_near(double a, double b)
{
    const double most = 1e-9 * (1 + (b < 0 ? -b : b));
    if (!(a - b <= most && b - a <= most))
        fail_msg("%.15g is not %.15g", a, b);
}

double support_thread_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

bool support_is_short(void)
{
    return setting("STRAG_CASES_MOST", LONG_MAX) < LONG_MAX;
}

bool support_is_full(void)
{
    return getenv("STRAG_TEST_FULL") != NULL;
}

long support_cases(long usual)
{
    long most = (long)setting("STRAG_CASES_MOST", LONG_MAX);
    return (long)setting("STRAG_CASES", (unsigned long long)(usual < most ? usual : most));
}

const struct strag_algorithm *support_algorithm(const char *name)
{
    struct strag_error err = {""};
    const struct strag_algorithm *algorithm = strag_algorithm_find(name, &err);
    if (!algorithm)
        fail_msg("%s", err.text);
    return algorithm;
}

static void *allocated(void *memory)
{
    if (!memory)
        fail_msg("out of memory");
    return memory;
}

struct strag_problem support_problem(const struct strag_algorithm *algorithm, int n)
{
    static const struct strag_straggler straggler = {1, 1e-3};
    static const struct strag_state state = {.nstragglers = 1, .straggler = &straggler};
    return (struct strag_problem){.n = n,
                                  .state = algorithm->needs_straggler && n > 1 ? &state : NULL};
}

int support_ranks(const struct strag_algorithm *algorithm, int n)
{
    struct strag_problem problem = support_problem(algorithm, n);
    while (strag_algorithm_claim(algorithm, &problem, NULL, NULL) != STRAG_OK)
        problem = support_problem(algorithm, problem.n + 1);
    return problem.n;
}

bool support_same_model(const struct strag_model *a, const struct strag_model *b)
{
    bool same = a->ties == b->ties && a->written_once == b->written_once;
    for (int id = 0; same && id < STRAG_MODEL_NUMBERS; id++)
        same = strag_model_value(a, id) == strag_model_value(b, id);
    return same;
}

int support_create_all(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                       struct strag_plan **plans, struct strag_error *err)
{
    struct strag_instance instance;
    int status = strag_instance_open(&instance, algorithm, problem, err);
    for (int rank = 0; status == STRAG_OK && rank < problem->n; rank++) {
        status = strag_instance_plan(&instance, rank, &plans[rank], err);
        if (status != STRAG_OK)
            strag_plan_free_all(plans, rank);
    }
    strag_instance_close(&instance);
    return status;
}

/* Nodes are sorted by level: of two, the later one is not closer to the root. */
int support_ancestor(const struct strag_topology *topology, int a, int b)
{
    int x = topology->leaf_node[a], y = topology->leaf_node[b];
    while (x != y) {
        if (x > y)
            x = topology->nodes[x].parent;
        else
            y = topology->nodes[y].parent;
    }
    return x;
}

struct strag_plan **support_plans(const struct strag_algorithm *algorithm, int n)
{
    struct strag_error err = {""};
    struct strag_plan **plans = allocated(calloc((size_t)n, sizeof *plans));
    const struct strag_problem problem = support_problem(algorithm, n);
    if (support_create_all(algorithm, &problem, plans, &err) != STRAG_OK)
        fail_msg("%s n=%d: %s", algorithm->name, n, err.text);
    return plans;
}

struct strag_plan *support_plan(const char *algorithm, const struct strag_problem *problem,
                                int rank)
{
    struct strag_error err = {""};
    struct strag_plan *plan = NULL;
    if (strag_plan_create(support_algorithm(algorithm), problem, rank, &plan, &err) != STRAG_OK)
        fail_msg("%s, n=%d, rank %d: %s", algorithm, problem->n, rank, err.text);
    return plan;
}

struct strag_measure support_verified(const char *algorithm, const struct strag_problem *problem)
{
    struct strag_error err = {""};
    struct strag_measure measure = {0};
    if (strag_verify(support_algorithm(algorithm), problem, &measure, NULL, &err) != STRAG_OK)
        fail_msg("%s, n=%d, %d ports, %d blocks: %s", algorithm, problem->n, problem->ports,
                 problem->blocks, err.text);
    return measure;
}

void support_refused(const char *algorithm, struct strag_topology *topology, int ports,
                     const char *why)
{
    const struct strag_problem problem = {.n = topology->n, .ports = ports, .topology = topology};
    struct strag_error err = {""};
    struct strag_plan *plan = NULL;
    assert_int_equal(strag_plan_create(support_algorithm(algorithm), &problem, 0, &plan, &err),
                     STRAG_ERR_UNSUPPORTED);
    assert_string_equal(err.text, why);
    assert_null(plan);
    strag_topology_free(topology);
}

void support_plans_free(struct strag_plan **plans, int n)
{
    strag_plan_free_all(plans, n);
    free(plans);
}

struct visit {
    const struct strag_plan *plan;
    int next;
};

static void compare_visit(void *context, const struct strag_op *visited)
{
    struct visit *visit = context;
    assert_in_range(visit->next, 0, visit->plan->nops - 1);
    const struct strag_op *op = &visit->plan->ops[visit->next++];
    assert_int_equal(visited->kind, op->kind);
    assert_int_equal(visited->peer, op->peer);
    assert_int_equal(visited->first, op->first);
    assert_int_equal(visited->count, op->count);
}

static int first_of_round(const struct strag_plan *plan, int round)
{
    int i = 0;
    while (i < plan->nops && plan->ops[i].round < round)
        i++;
    return i;
}

void support_some_rounds(const struct strag_algorithm *algorithm,
                         const struct strag_problem *problem)
{
    struct strag_instance instance;
    struct strag_error err = {""};
    struct visit visit = {NULL, 0};
    assert_int_equal(strag_instance_open(&instance, algorithm, problem, &err), STRAG_OK);
    struct strag_builder *visitor = strag_visitor_create(&instance.shape, compare_visit, &visit);
    assert_non_null(visitor);
    for (int rank = 0; rank < problem->n; rank++) {
        struct strag_plan *plan = NULL;
        assert_int_equal(strag_plan_create(algorithm, problem, rank, &plan, &err), STRAG_OK);
        for (int first = 0; first <= instance.claim.rounds; first++) {
            for (int end = first; end <= instance.claim.rounds; end++) {
                visit = (struct visit){plan, first_of_round(plan, first)};
                strag_visitor_aim(visitor, rank, (struct strag_rounds){first, end});
                strag_instance_build(&instance, rank, visitor);
                assert_int_equal(visit.next, first_of_round(plan, end));
            }
        }
        strag_plan_free(plan);
    }
    assert_int_equal(strag_visitor_finish(visitor, &err), STRAG_OK);
    strag_instance_close(&instance);
}

/* What the ranks send and receive in each round, as a number that does not depend on the order. */
struct traffic {
    const struct strag_bounds *bounds;
    int rank;
    uint64_t *sum; /* [rounds] */
};

static void add_traffic(void *context, const struct strag_op *op)
{
    struct traffic *traffic = context;
    const double part = strag_block_fraction(traffic->bounds, op->first, op->count);
    traffic->sum[op->round] += scramble(scramble((uint64_t)llround(1e9 * part) * 4 + op->kind) +
                                        (uint64_t)traffic->rank * 65536 + (uint64_t)op->peer);
}

struct same_rounds support_same_rounds(const struct strag_algorithm *algorithm,
                                       const struct strag_problem *problem)
{
    struct strag_instance instance;
    struct strag_error err = {""};
    if (strag_instance_open(&instance, algorithm, problem, &err) != STRAG_OK)
        fail_msg("%s, n=%d: %s", algorithm->name, problem->n, err.text);
    const int rounds = instance.claim.rounds;
    struct same_rounds found = {.rounds = rounds, .period = 1};
    struct traffic traffic = {.bounds = &instance.shape.bounds,
                              .sum = allocated(calloc((size_t)rounds + 1, sizeof(uint64_t)))};
    struct strag_builder *visitor = strag_visitor_create(&instance.shape, add_traffic, &traffic);
    assert_non_null(visitor);
    for (traffic.rank = 0; traffic.rank < problem->n; traffic.rank++) {
        strag_visitor_aim(visitor, traffic.rank, (struct strag_rounds){0, rounds});
        strag_instance_build(&instance, traffic.rank, visitor);
    }
    assert_int_equal(strag_visitor_finish(visitor, &err), STRAG_OK);
    for (int round = 0, next = 0; round < rounds; round++) {
        int period, same = strag_instance_same_rounds(&instance, round, &period);
        assert_in_range(round + same * period, round + 1, same > 1 ? rounds : rounds + period);
        for (int other = round + period; other < round + same * period; other++)
            assert_true(traffic.sum[other] == traffic.sum[other - period]);
        if (round < next)
            continue;
        found.runs++;
        found.period = same > 1 && period > found.period ? period : found.period;
        next = same > 1 ? round + same * period : round + 1;
    }
    free(traffic.sum);
    strag_instance_close(&instance);
    return found;
}

/* A copy of `used` bytes in `size`. */
static void *copied(const void *from, size_t used, size_t size)
{
    char *to = allocated(calloc(1, size + 1));
    if (used)
        memcpy(to, from, used);
    return to;
}

struct strag_plan *support_clone(const struct strag_plan *plan, int more)
{
    struct strag_plan *clone = copied(plan, sizeof *plan, sizeof *plan);
    size_t ops = ((size_t)plan->nops + 1) * sizeof *plan->ops;
    size_t waits = plan->ops[plan->nops].after * sizeof *plan->after;
    size_t copies = (size_t)plan->ncopies * sizeof *plan->copies;
    clone->ops = copied(plan->ops, ops, ops + (size_t)more * sizeof *plan->ops);
    clone->after = copied(plan->after, waits, waits + (size_t)more * sizeof *plan->after);
    clone->copies = copied(plan->copies, copies, copies + sizeof *plan->copies);
    if (plan->bounds.numerator) {
        size_t bounds = ((size_t)plan->bounds.blocks + 1) * sizeof *plan->bounds.numerator;
        clone->bounds.numerator = copied(plan->bounds.numerator, bounds, bounds);
    }
    return clone;
}

struct strag_plan **support_clone_all(struct strag_plan *const *plans, int n, int more)
{
    struct strag_plan **clones = allocated(calloc((size_t)n, sizeof *clones));
    for (int rank = 0; rank < n; rank++)
        clones[rank] = support_clone(plans[rank], more);
    return clones;
}

/* ---- Changing a clone: its waits are taken apart, changed, and put together again. ---- */

struct waits {
    int length;
    int32_t *list;
};

static struct waits *take_apart(const struct strag_plan *plan)
{
    struct waits *waits = allocated(calloc((size_t)plan->nops + 2, sizeof *waits));
    for (int i = 0; i < plan->nops; i++) {
        const int32_t *after = strag_plan_after(plan, i, &waits[i].length);
        size_t used = (size_t)waits[i].length * sizeof *after;
        waits[i].list = copied(after, used, used + sizeof *after);
    }
    return waits;
}

static void put_together(struct strag_plan *plan, struct waits *waits)
{
    uint32_t used = 0;
    for (int i = 0; i < plan->nops; i++) {
        plan->ops[i].after = used;
        for (int w = 0; w < waits[i].length; w++)
            plan->after[used++] = waits[i].list[w];
        free(waits[i].list);
    }
    plan->ops[plan->nops].after = used;
    free(waits);
}

static void remove_wait(struct waits *waits, int index)
{
    waits->length--;
    for (int w = index; w < waits->length; w++)
        waits->list[w] = waits->list[w + 1];
}

void support_drop_op(struct strag_plan *plan, int op)
{
    struct waits *waits = take_apart(plan);
    free(waits[op].list);
    for (int i = op; i < plan->nops; i++) {
        plan->ops[i] = plan->ops[i + 1];
        waits[i] = waits[i + 1];
    }
    plan->nops--;
    for (int i = 0; i < plan->nops; i++) {
        for (int w = waits[i].length - 1; w >= 0; w--) {
            if (waits[i].list[w] == op)
                remove_wait(&waits[i], w);
            else
                waits[i].list[w] -= waits[i].list[w] > op;
        }
    }
    put_together(plan, waits);
}

void support_duplicate_op(struct strag_plan *plan, int op)
{
    struct waits *waits = take_apart(plan);
    for (int i = plan->nops; i > op; i--) {
        plan->ops[i + 1] = plan->ops[i];
        waits[i] = waits[i - 1];
    }
    plan->ops[op + 1] = plan->ops[op];
    plan->nops++;

    /* The copy waits for the same operations, and for the original. */
    size_t used = (size_t)waits[op].length * sizeof *waits[op].list;
    waits[op + 1].list = copied(waits[op].list, used, used + 2 * sizeof *waits[op].list);
    waits[op + 1].length = waits[op].length;
    waits[op + 1].list[waits[op + 1].length++] = op;

    for (int i = op + 2; i < plan->nops; i++) {
        bool waits_for_it = false;
        for (int w = 0; w < waits[i].length; w++) {
            waits_for_it |= waits[i].list[w] == op;
            waits[i].list[w] += waits[i].list[w] > op;
        }
        if (waits_for_it) /* take_apart left room for one */
            waits[i].list[waits[i].length++] = op + 1;
    }
    put_together(plan, waits);
}

void support_swap_ops(struct strag_plan *plan, int op)
{
    struct waits *waits = take_apart(plan);
    struct strag_op first = plan->ops[op];
    struct waits first_waits = waits[op];
    plan->ops[op] = plan->ops[op + 1];
    plan->ops[op + 1] = first;
    waits[op] = waits[op + 1];
    waits[op + 1] = first_waits;
    for (int i = op; i < plan->nops; i++) {
        for (int w = 0; w < waits[i].length; w++) {
            int32_t *wait = &waits[i].list[w];
            *wait = *wait == op ? op + 1 : *wait == op + 1 ? op : *wait;
        }
    }
    put_together(plan, waits);
}

void support_drop_wait(struct strag_plan *plan, int op, int index)
{
    struct waits *waits = take_apart(plan);
    remove_wait(&waits[op], index);
    put_together(plan, waits);
}
