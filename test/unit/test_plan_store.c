/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A store makes each plan once, whichever user asks first; it lives as long as its last user; and
 * what runs a plan changes nothing in it.
 */
#include "plan/plan_store.h"

#include "algorithms/table.h"
#include "memory.h"
#include "support.h"
#include "world.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS = 4, RANKS = 12 };

static const struct strag_plan *make(struct strag_plan_store *store, const char *name, int blocks,
                                     int root, bool *made)
{
    const struct strag_algorithm *algorithm = strag_algorithm_find(name, NULL);
    const struct strag_problem problem = {.n = RANKS, .blocks = blocks, .root = root};
    const struct strag_plan *plan = NULL;
    struct strag_error err;
    if (strag_plan_store_make(store, algorithm, &problem, 3, &plan, made, &err) != STRAG_OK)
        fail_msg("%s: %s", name, err.text);
    return plan;
}

TEST(makes_each_once)
{
    struct strag_plan_store *store = strag_plan_store_create();
    bool made;
    assert_non_null(store);
    assert_null(strag_plan_store_find(store, strag_algorithm_find("ring", NULL), 0, 0));
    const struct strag_plan *ring = make(store, "ring", 0, 0, &made);
    assert_true(made);
    assert_int_equal(ring->rank, 3);
    assert_int_equal(ring->nops, 4 * (RANKS - 1));
    assert_ptr_equal(make(store, "ring", 0, 0, &made), ring);
    assert_false(made);
    assert_ptr_equal(strag_plan_store_find(store, strag_algorithm_find("ring", NULL), 0, 0), ring);

    const struct strag_plan *direct = make(store, "direct", 1, 0, &made);
    assert_true(made);
    const struct strag_plan *rooted = make(store, "direct", 1, 1, &made);
    assert_true(made && direct != rooted && direct != ring);
    assert_ptr_equal(make(store, "direct", 1, 1, &made), rooted);
    assert_ptr_equal(make(store, "ring", 0, 0, &made), ring);
    assert_false(made);
    strag_plan_store_release(store);
    strag_plan_store_release(NULL);
}

/* One that cannot be planned leaves nothing. */
TEST(refuses)
{
    struct strag_plan_store *store = strag_plan_store_create();
    const struct strag_problem problem = {.n = RANKS, .root = 1};
    const struct strag_plan *plan = NULL;
    struct strag_error err;
    bool made = true;
    assert_int_equal(strag_plan_store_make(store, strag_algorithm_find("ring", NULL), &problem, 0,
                                           &plan, &made, &err),
                     STRAG_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "ring has no root, and 1 was given");
    assert_true(plan == NULL && !made);
    assert_null(strag_plan_store_find(store, strag_algorithm_find("ring", NULL), 0, 1));
    strag_plan_store_release(store);
}

/* Whatever allocation fails, nothing is kept that is not whole, and all is given back. */
TEST(runs_out_of_memory)
{
    const struct strag_problem problem = {.n = RANKS};
    const struct strag_algorithm *ring = strag_algorithm_find("ring", NULL);
    bool failed = true;
    int tries = 0;
    for (; failed; tries++) {
        const struct strag_plan *plan = NULL;
        struct strag_error err;
        bool made = false;
        memory_watch(tries + 1);
        struct strag_plan_store *store = strag_plan_store_create();
        int status = store ? strag_plan_store_make(store, ring, &problem, 0, &plan, &made, &err)
                           : STRAG_ERR_MEMORY;
        const bool kept = store && strag_plan_store_find(store, ring, 0, 0);
        strag_plan_store_release(store);
        const struct memory_report report = memory_unwatch();
        failed = report.failed;
        assert_int_equal(report.live, 0);
        assert_int_equal(status, failed ? STRAG_ERR_MEMORY : STRAG_OK);
        assert_true(kept == !failed);
        assert_true(made == !failed);
    }
    assert_true(tries > 4);
}

/* ---- Several users ---- */

struct user {
    struct strag_plan_store *store; /* a reference of its own */
    const struct strag_plan *plans[3];
    int made;
};

/* cmocka's assertions belong to the main thread. */
static void *use(void *argument)
{
    static const char *const names[] = {"ring", "circulant", "recursive-doubling"};
    struct user *user = argument;
    for (int i = 0; i < 3; i++) {
        const struct strag_problem problem = {.n = RANKS};
        bool made = false;
        (void)strag_plan_store_make(user->store, strag_algorithm_find(names[i], NULL), &problem, 5,
                                    &user->plans[i], &made, NULL);
        user->made += made;
    }
    return NULL;
}

TEST(shared_by_threads)
{
    for (int round = 0; round < 50; round++) {
        struct strag_plan_store *store = strag_plan_store_create();
        pthread_t threads[THREADS];
        struct user users[THREADS];
        int made = 0;
        for (int t = 0; t < THREADS; t++) {
            users[t] = (struct user){.store = strag_plan_store_retain(store)};
            assert_int_equal(pthread_create(&threads[t], NULL, use, &users[t]), 0);
        }
        for (int t = 0; t < THREADS; t++)
            assert_int_equal(pthread_join(threads[t], NULL), 0);
        strag_plan_store_release(store); /* the users' references hold it */
        for (int t = 0; t < THREADS; t++) {
            made += users[t].made;
            for (int i = 0; i < 3; i++) {
                assert_non_null(users[t].plans[i]);
                assert_ptr_equal(users[t].plans[i], users[0].plans[i]);
                assert_int_equal(users[t].plans[i]->rank, 5);
            }
        }
        assert_int_equal(made, 3);
        for (int t = 0; t < THREADS; t++)
            strag_plan_store_release(users[t].store);
    }
}

/* ---- Plans are only read ---- */

/* A copy that nobody can write into. @return its operations, for munmap */
static void *write_protect(const struct strag_plan *plan, struct strag_plan *copy, size_t *length)
{
    const size_t ops = ((size_t)plan->nops + 1) * sizeof *plan->ops;
    const size_t after = plan->ops[plan->nops].after * sizeof *plan->after;
    *length = ops + after;
    char *pages = mmap(NULL, *length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    memcpy(pages, plan->ops, ops);
    if (after)
        memcpy(pages + ops, plan->after, after);
    *copy = *plan;
    copy->ops = (struct strag_op *)(void *)pages;
    copy->after = (int32_t *)(void *)(pages + ops);
    assert_int_equal(mprotect(pages, *length, PROT_READ), 0);
    return pages;
}

/* Two calls at the same time, with engines of their own: a few steps of the one, a few of the
 * other. */
static void run_both(struct world *const worlds[2], struct rng *rng)
{
    struct call_options options = world_options(500);
    options.lanes[0].segment = 20;
    for (int w = 0; w < 2; w++)
        world_begin(worlds[w], &options, rng);
    for (long step = 0; step < 100000L; step++) {
        struct world *world = worlds[rng_below(rng, 2)];
        struct member *member = &world->members[rng_below(rng, (unsigned)world->n)];
        if (!member->started || member->status == STRAG_PENDING)
            (void)world_step(member);
    }
}

TEST(run_from_two_engines)
{
    struct rng rng = {support_seed("test_plan_store")};
    for (int a = 0; strag_algorithms[a]; a++) {
        const int n = support_ranks(strag_algorithms[a], RANKS);
        struct strag_plan **plans = support_plans(strag_algorithms[a], n);
        struct strag_plan copies[64], *shared[64];
        void *pages[64];
        size_t length[64];
        struct strag_proof *proof = NULL;
        struct strag_expressions expressions;
        struct strag_error err;
        assert_in_range(n, 2, 64);
        for (int rank = 0; rank < n; rank++) {
            pages[rank] = write_protect(plans[rank], &copies[rank], &length[rank]);
            shared[rank] = &copies[rank];
        }
        assert_int_equal(strag_verify_plans(shared, n, NULL, NULL, &proof, &err), STRAG_OK);
        strag_proof_expressions(proof, &expressions);
        struct world *const worlds[2] = {world_create(shared, n, 2), world_create(shared, n, 2)};
        run_both(worlds, &rng);
        for (int w = 0; w < 2; w++) {
            world_check_result(worlds[w], &expressions);
            world_check_clean(worlds[w]);
            world_assert_good(worlds[w], true, strag_algorithms[a]->name);
            for (int rank = 0; rank < n; rank++)
                assert_int_equal(worlds[w]->members[rank].status, STRAG_OK);
            world_end(worlds[w]);
            world_free(worlds[w]);
        }
        strag_proof_free(proof);
        for (int rank = 0; rank < n; rank++)
            munmap(pages[rank], length[rank]);
        support_plans_free(plans, n);
    }
}
