/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that share memory, where what is written once is read by all: what the model says a rank
 * copies and sums up, against what is counted in whole plans.
 */
#include "algorithms/table.h"
#include "model/cost.h"
#include "model/select.h"

#include "machines.h"
#include "support.h"

#include <math.h>

/* Copying and summing up take equally long, and bytes count only. */
static const double pace = 1e-9; /* seconds per byte */

static struct strag_model model_of(bool written_once, double alpha)
{
    return (struct strag_model){
        .alpha = 1,
        .local_alpha = alpha,
        .bandwidth = 1,
        .local_bandwidth = 1 / pace,
        .reduce_bandwidth = 1 / pace,
        .written_once = written_once,
    };
}

static struct strag_topology *host_of(int n)
{
    struct strag_topology *topology;
    struct strag_error err;
    if (strag_topology_flat(n, n, &topology, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return topology;
}

static double seconds_of(const struct strag_algorithm *algorithm, int n, double alpha, double bytes)
{
    struct strag_topology *topology = host_of(n);
    const struct strag_problem problem = {.n = n, .topology = topology};
    const struct strag_model model = model_of(true, alpha);
    struct strag_profile *profile;
    struct strag_error err;
    if (strag_profile_create(algorithm, &problem, &model, &profile, &err) != STRAG_OK)
        fail_msg("%s, n = %d: %s", algorithm->name, n, err.text);
    const double seconds = strag_profile_seconds(profile, bytes);
    strag_profile_free(profile);
    strag_topology_free(topology);
    return seconds;
}

/* Vectors that the model says a rank copies and sums up one after another. */
static double modelled(const struct strag_algorithm *algorithm, int n)
{
    return seconds_of(algorithm, n, 0, 1) / pace;
}

/* Messages that it reads one after another. */
static double messages(const char *name, int n)
{
    return seconds_of(support_algorithm(name), n, 1, 0);
}

static void assert_modelled(const char *name, int n, double expected)
{
    const double found = modelled(support_algorithm(name), n);
    if (fabs(found - expected) > 1e-6)
        fail_msg("%s, n = %d: %g vectors instead of %g", name, n, found, expected);
}

/* Of one rank's plan: what is sent twice in a row, and has not changed, is written once. */
static double counted_of(const struct strag_plan *plan)
{
    int first = 0, count = 0;
    double vectors = 0;
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        const bool sends = op->kind == STRAG_SEND;
        if (!sends || op->first != first || op->count != count)
            vectors += strag_block_fraction(&plan->bounds, op->first, op->count);
        if (sends) {
            first = op->first;
            count = op->count;
        } else if (op->first < first + count && first < op->first + op->count) {
            count = 0;
        }
    }
    return vectors;
}

/* Of the rank that has the most to do. */
static double counted(const struct strag_algorithm *algorithm, int n)
{
    struct strag_topology *topology = host_of(n);
    const struct strag_problem problem = {.n = n, .topology = topology};
    double most = 0;
    for (int r = 0; r < n; r++) {
        struct strag_plan *plan;
        struct strag_error err;
        if (strag_plan_create(algorithm, &problem, r, &plan, &err) != STRAG_OK)
            fail_msg("%s, n = %d: %s", algorithm->name, n, err.text);
        most = fmax(most, counted_of(plan));
        strag_plan_free(plan);
    }
    strag_topology_free(topology);
    return most;
}

/* Formulas for n ranks: m = (n-1)/n. */
TEST(known_counts)
{
    for (int n = 2; n <= 192; n = n < 9 ? n + 1 : 2 * n - n / 2) {
        const double m = (n - 1.0) / n;
        /* in, summed; the sum in once, and the others' out */
        assert_modelled("direct", n, 3 * m + 1.0 / n);
        assert_modelled("flexreduce", n, 3 * m + 1.0 / n);
        /* in, summed, in, out */
        assert_modelled("ring", n, 4 * m);
    }
    assert_modelled("circulant", 64, 4 * 63.0 / 64);
    assert_modelled("recursive-doubling", 64, 12);
}

/* If a range goes beyond the last block, circulant's message is two. */
TEST(messages_are_read_one_after_another)
{
    assert_true(messages("recursive-doubling", 64) == 6);
    assert_true(messages("recursive-halving", 64) == 12);
    assert_true(messages("flexreduce", 64) == 126);
    assert_true(messages("circulant", 64) == 22);
}

/* Rounds end everywhere before the next begins: no rank is counted more than the model says. */
TEST(no_less_than_is_counted)
{
    static const int sizes[] = {2, 3, 5, 8, 12, 16, 33};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct strag_topology *topology = host_of(sizes[i]);
        const struct strag_problem problem = {.n = sizes[i], .topology = topology};
        for (int a = 0; strag_algorithms[a]; a++) {
            const struct strag_algorithm *algorithm = strag_algorithms[a];
            struct strag_claim claim;
            if (algorithm->needs_straggler ||
                strag_algorithm_claim(algorithm, &problem, &claim, NULL) != STRAG_OK)
                continue;
            const double model = modelled(algorithm, sizes[i]), plan = counted(algorithm, sizes[i]);
            if (model < plan * (1 - 1e-6))
                fail_msg("%s, n = %d: modelled %g vectors, counted %g", algorithm->name, sizes[i],
                         model, plan);
        }
        strag_topology_free(topology);
    }
}

/* @return from how many bytes on a sum is written once for all; SIZE_MAX: never */
static size_t changes_at(int n, bool written_once)
{
    struct strag_topology *topology = host_of(n);
    const struct strag_problem problem = {.n = n, .topology = topology};
    struct strag_model model = model_of(written_once, 0.4e-6);
    const struct strag_select_options options = {.quick = true};
    struct strag_selection *selection;
    struct strag_error err;
    size_t from = SIZE_MAX;
    model.local_bandwidth = model.reduce_bandwidth = 20e9;
    if (strag_select(&problem, &model, &options, &selection, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    for (int e = 0; e < selection->table.entries && from == SIZE_MAX; e++) {
        const struct strag_entry *entry = &selection->table.entry[e];
        if (entry->algorithm == support_algorithm("flexreduce"))
            from = entry->from;
    }
    strag_selection_free(selection);
    strag_topology_free(topology);
    return from;
}

/* Where the bytes that are not copied are worth the messages: (2(n-1) - 2 log2(n)) 0.4 us. */
TEST(long_vectors_are_written_once)
{
    for (int n = 8; n <= 128; n *= 2) {
        const double m = (n - 1.0) / n, more = 2 * (n - 1) - 2 * log2(n);
        const double expected = more * 0.4e-6 * 20e9 / (m - 1.0 / n);
        const size_t from = changes_at(n, true);
        if (fabs((double)from - expected) > 1e-3 * expected)
            fail_msg("n = %d: from %zu bytes on, not %g", n, from, expected);
        assert_true(changes_at(n, false) == SIZE_MAX);
    }
}
