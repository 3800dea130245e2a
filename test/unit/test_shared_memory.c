/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduces through shared memory, threads standing for ranks: results are the plans', bit by bit;
 * wrong calls return errors and leave nothing behind that harms later ones; short calls go in
 * order; and if few ranks share a processor, calls take turns with the root.
 */
#include "algorithms/table.h"
#include "shm_ranks.h"

enum { CALLS = 24, INLINE = STRAG_SHM_INLINE / sizeof(uint64_t) };

static const struct shm_host_options polls = {.yields = false}, yields = {.yields = true},
                                     few = {.yields = true, .few = true};

/* ---- Right calls ---- */

static size_t random_count(struct rng *rng, size_t segment)
{
    switch (rng_below(rng, 5)) {
    case 0:
        return 1 + rng_below(rng, 3);
    case 1:
        return INLINE - 1 + rng_below(rng, 3); /* in a cell, or just not */
    case 2:
        return segment - rng_below(rng, 2);
    case 3:
        return 1 + rng_below(rng, 600);
    default:
        return segment * (1 + rng_below(rng, 5)) + rng_below(rng, 50); /* many segments */
    }
}

static void assert_right(const struct shm_ranks *ranks, const struct shm_call *calls, int ncalls,
                         const struct shm_outcome *outcomes)
{
    for (int i = 0; i < ncalls * ranks->n; i++) {
        const struct shm_call *call = &calls[i / ranks->n];
        if (outcomes[i].status != STRAG_OK || outcomes[i].wrong)
            fail_msg("%s n=%d, call %d, %zu elements in segments of %zu, rank %d: %s, %zu wrong",
                     call->plans->plans[0]->algorithm, ranks->n, i / ranks->n, call->count,
                     call->segment, i % ranks->n, strag_status_text(outcomes[i].status),
                     outcomes[i].wrong);
    }
}

/* Calls of any length, by any of the plans, one after another through the same memory. */
static void run_mixed(const struct shm_plans *plans, int nplans, int n,
                      const struct shm_host_options *options, struct rng *rng)
{
    struct shm_call calls[CALLS];
    struct shm_outcome outcomes[CALLS * SHM_RANKS_MAX];
    struct shm_ranks ranks;
    shm_ranks_create(&ranks, n, options);
    for (int c = 0; c < CALLS; c++) {
        size_t segment = rng_one_in(rng, 2) ? 2 + rng_below(rng, 100)
                                            : strag_shm_longest(ranks.views[0]) / sizeof(uint64_t);
        calls[c] = (struct shm_call){
            .plans = &plans[rng_below(rng, (unsigned)nplans)],
            .count = random_count(rng, segment),
            .segment = segment,
            .seed = rng_next(rng),
            .contiguous = rng_one_in(rng, 2),
            .not_in_place = rng_one_in(rng, 4),
            .odd = NOBODY,
        };
    }
    shm_ranks_run(&ranks, calls, CALLS, rng, outcomes);
    assert_right(&ranks, calls, CALLS, outcomes);
    shm_ranks_free(&ranks);
}

/* From one number of ranks to the next */
static int step(void)
{
    return support_is_short() ? 3 : 1;
}

TEST(every_plan_is_right)
{
    static const int sizes[] = {2, 3, 4, 5, 6, 7, 8, 17};
    struct rng rng = {support_seed("shared memory")};
    const long rounds = support_cases(3);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s += (size_t)step()) {
        struct shm_plans plans[STRAG_ALGORITHMS_MAX + 1];
        int n = sizes[s], nplans = 0;
        for (int a = 0; strag_algorithms[a]; a++) {
            if (support_ranks(strag_algorithms[a], n) == n)
                shm_plans_make(&plans[nplans++], strag_algorithms[a]->name, n, 0, 0);
        }
        shm_plans_make(&plans[nplans++], "direct", n, 1, 0);
        for (long i = 0; i < rounds; i++) {
            const struct shm_host_options options = {
                .yields = n > 4 || i % 3,
                .few = n <= 16 && i % 3 == 1,
                .file = rng_one_in(&rng, 3),
            };
            run_mixed(plans, nplans, n, &options, &rng);
        }
        for (int p = 0; p < nplans; p++)
            shm_plans_free(&plans[p]);
    }
}

/* ---- Wrong calls ---- */

/* Every rank is the odd one in turn; then come right calls. */
static void run_wrong(const struct shm_plans *plans, const struct shm_host_options *options,
                      size_t count, size_t segment, enum shm_wrong wrong, struct rng *rng)
{
    struct shm_call calls[CALLS];
    struct shm_outcome outcomes[CALLS * SHM_RANKS_MAX];
    const int n = plans->n, nwrong = CALLS / 2;
    const char *name = plans->plans[0]->algorithm;
    struct shm_ranks ranks;
    shm_ranks_create(&ranks, n, options);
    for (int c = 0; c < CALLS; c++)
        calls[c] = (struct shm_call){
            .plans = plans,
            .count = count,
            .segment = segment,
            .seed = rng_next(rng),
            .contiguous = rng_one_in(rng, 2),
            .odd = c < nwrong ? c % n : NOBODY,
            .wrong = wrong,
        };
    shm_ranks_run(&ranks, calls, CALLS, rng, outcomes);
    for (int c = 0; c < nwrong; c++) {
        int errors = 0;
        for (int r = 0; r < n; r++)
            errors += outcomes[c * n + r].status < 0;
        /* Nobody can have the result without the odd rank's part; but if a vector has several
         * blocks, some are of equal length although the vectors are not. */
        bool all = wrong != CALLS_LONGER || plans->plans[0]->bounds.blocks == 1;
        if (errors < (all ? n : 1))
            fail_msg("%s n=%d, wrong call %d of kind %d, %zu elements: %d errors", name, n, c,
                     wrong, count, errors);
    }
    assert_right(&ranks, calls + nwrong, CALLS - nwrong, outcomes + nwrong * n);
    shm_ranks_free(&ranks);
}

/* As test/mpi/mismatch.c says, no count is so small that blocks are empty on some ranks only. */
TEST(wrong_calls_fail_and_right_ones_follow)
{
    static const char *const names[] = {"direct", "circulant", "recursive-doubling", "ring"};
    static const size_t counts[] = {7, 300, 20000};
    struct rng rng = {support_seed("wrong calls")};
    for (int n = 2; n <= 5; n += step()) {
        for (size_t a = 0; a < sizeof names / sizeof *names; a++) {
            struct shm_plans plans;
            shm_plans_make(&plans, names[a], n, a == 0, 0);
            for (int i = 0; i < 9; i++) {
                const struct shm_host_options *options =
                    n > 3 || rng_one_in(&rng, 2) ? (rng_one_in(&rng, 2) ? &yields : &few) : &polls;
                run_wrong(&plans, options, counts[i % 3], rng_one_in(&rng, 2) ? 64 : 4096,
                          (enum shm_wrong)(i / 3), &rng);
            }
            shm_plans_free(&plans);
        }
    }
}

/* ---- Short calls ---- */

/* Messages that a rank sends in a call. */
static long sends_of(const struct strag_plan *plan, size_t count)
{
    long sends = 0;
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        size_t begin = strag_block_start(&plan->bounds, op->first, count);
        sends += op->kind == STRAG_SEND &&
                 strag_block_start(&plan->bounds, op->first + op->count, count) > begin;
    }
    return sends;
}

/* A call runs in order if it is one segment of contiguous elements, and then sends nothing by way
 * of the pipeline; any other sends everything by way of it. */
static void assert_way(const struct shm_call *call, const struct shm_outcome *outcome, int rank,
                       bool in_order)
{
    long sends = sends_of(call->plans->plans[rank], call->count);
    const char *name = call->plans->plans[0]->algorithm;
    bool right = in_order ? outcome->try_sends == sends && !outcome->sends && !outcome->receives
                          : outcome->sends >= sends && !outcome->try_sends &&
                                !outcome->try_receives && outcome->receives > 0;
    if (!right)
        fail_msg("%s, %zu elements in segments of %zu, rank %d: sent %ld in order, %ld by way of "
                 "the pipeline, of %ld",
                 name, call->count, call->segment, rank, outcome->try_sends, outcome->sends, sends);
}

TEST(short_calls_go_in_order)
{
    static const char *const names[] = {"direct", "recursive-doubling", "circulant", "swing"};
    struct rng rng = {support_seed("short calls")};
    for (int n = 2; n <= 8; n += step()) {
        for (size_t a = 0; a < sizeof names / sizeof *names; a++) {
            struct shm_plans plans;
            struct shm_ranks ranks;
            shm_plans_make(&plans, names[a], n, a == 0, 0);
            shm_ranks_create(&ranks, n, rng_one_in(&rng, 2) ? &few : &yields);
            const size_t longest = strag_shm_longest(ranks.views[0]) / sizeof(uint64_t);
            const size_t counts[] = {1, INLINE, INLINE + 1, 512, longest, longest + 1, 512, 512};
            enum { KINDS = sizeof counts / sizeof *counts, IN_ORDER = 5, CUT = 6 };
            struct shm_call calls[KINDS];
            struct shm_outcome outcomes[KINDS * 8];
            for (int c = 0; c < KINDS; c++)
                calls[c] = (struct shm_call){
                    .plans = &plans,
                    .count = counts[c],
                    .segment = c == CUT ? 511 : longest,
                    .contiguous = true,
                    .not_in_place = c > CUT,
                    .odd = NOBODY,
                };
            shm_ranks_run(&ranks, calls, KINDS, &rng, outcomes);
            assert_right(&ranks, calls, KINDS, outcomes);
            for (int i = 0; i < KINDS * n; i++)
                assert_way(&calls[i / n], &outcomes[i], i % n, i / n < IN_ORDER);
            shm_ranks_free(&ranks);
            shm_plans_free(&plans);
        }
    }
}

/* ---- Turns ---- */

/* The root of direct in one block receives from all the others, and they receive from it alone. */
TEST(few_ranks_take_turns)
{
    enum { N = 4, SHORT = 4096 / sizeof(uint64_t) };
    struct rng rng = {support_seed("turns")};
    struct shm_plans plans[2];
    for (int root = 0; root < 2; root++)
        shm_plans_make(&plans[root], "direct", N, 1, root);
    const struct shm_host_options *const options[] = {&few, &yields, &polls};
    for (int o = 0; o < 3; o++) {
        struct shm_ranks ranks;
        struct shm_call calls[CALLS];
        struct shm_outcome outcomes[CALLS * N];
        shm_ranks_create(&ranks, N, options[o]);
        for (int c = 0; c < CALLS; c++) {
            size_t count = c % 4 == 3 ? SHORT + 1 : c % 4 == 2 ? SHORT : 1;
            bool turns = o == 0 && count <= SHORT;
            calls[c] = (struct shm_call){
                .plans = &plans[turns ? (c + 1) % 2 : 0], /* calls are counted from 1 */
                .count = count,
                .segment = 4096,
                .contiguous = true,
                .odd = NOBODY,
            };
        }
        shm_ranks_run(&ranks, calls, CALLS, &rng, outcomes);
        assert_right(&ranks, calls, CALLS, outcomes);
        for (int i = 0; i < CALLS * N; i++) {
            const struct shm_call *call = &calls[i / N];
            int root = call->plans == &plans[1];
            assert_int_equal(outcomes[i].root, root);
            assert_int_equal(outcomes[i].hints, o == 0 && call->count <= SHORT);
            assert_int_equal(outcomes[i].try_receives, i % N == root ? N - 1 : 1);
        }
        shm_ranks_free(&ranks);
    }
    for (int root = 0; root < 2; root++)
        shm_plans_free(&plans[root]);
}
