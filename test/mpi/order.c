/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A serial reduction in the order of a plan; see order.h.
 */
#include "order.h"

#include "common.h"

#include "algorithms/table.h"

/* What stays the same while one range of one block is evaluated. */
struct evaluation {
    const struct order *order;
    const struct order_input *input;
    size_t first, count;
    char *scratch; /* one stripe of `stripe` bytes per depth of the tree */
    size_t stripe;
};

void order_create(struct order *order, const char *algorithm, int n)
{
    struct strag_error err;
    struct strag_problem problem = {.n = n};
    struct strag_topology *topology = NULL;
    memset(order, 0, sizeof(*order));
    order->n = n;
    if (1 == n)
        return;
    /* These tests run on one host. */
    if (STRAG_OK != strag_topology_flat(n, n, &topology, &err))
        test_die("no topology of %d ranks: %s", n, err.text);
    problem.topology = topology;
    const struct strag_algorithm *found = strag_algorithm_find(algorithm, &err);
    if (NULL == found || STRAG_OK != strag_verify(found, &problem, NULL, &order->proof, &err) ||
        STRAG_OK != strag_plan_create(found, &problem, 0, &order->plan, &err))
        test_die("no order of %s for %d ranks: %s", algorithm, n, err.text);
    strag_topology_free(topology);
}

void order_free(struct order *order)
{
    strag_proof_free(order->proof);
    strag_plan_free(order->plan);
}

/* out = left op out */
static void reduce(const struct order_input *input, const void *left, void *out, size_t count)
{
    TEST_MPI(MPI_Reduce_local(left, out, (int)count, input->type, input->op));
}

/* Write a node's value to out; deeper nodes use the stripes from `depth` on. */
static void evaluate(const struct evaluation *e, int node, int depth, char *out)
{
    const struct strag_proof *proof = e->order->proof;
    if (node < proof->n) {
        e->input->fill(e->input->context, node, e->first, e->count, out);
        return;
    }
    char *left = e->scratch + (size_t)depth * e->stripe + e->input->below;
    int32_t left_node, right_node;
    strag_expression_operands(proof->table, node, &left_node, &right_node);
    evaluate(e, left_node, depth + 1, left);
    evaluate(e, right_node, depth + 1, out);
    reduce(e->input, left, out, e->count);
}

/* One rank's input after another. */
static void evaluate_in_turn(const struct evaluation *e, enum order_kind kind, char *out)
{
    const int n = e->order->n;
    char *left = e->scratch + e->input->below;
    for (int i = 0; i < n; i++) {
        const int rank = ORDER_UPWARDS == kind ? n - 1 - i : i;
        e->input->fill(e->input->context, rank, e->first, e->count, 0 == i ? out : left);
        if (i > 0)
            reduce(e->input, left, out, e->count);
    }
}

void order_reduce(const struct order *order, const struct order_input *input, enum order_kind kind,
                  size_t total, size_t first, size_t count, void *out)
{
    if (1 == order->n) {
        input->fill(input->context, 0, first, count, out);
        return;
    }
    struct evaluation e = {.order = order, .input = input};
    e.stripe = input->below + count * (size_t)input->extent + input->footprint;
    e.scratch = test_allocate((size_t)order->n * e.stripe);

    const struct strag_bounds *bounds = &order->plan->bounds;
    for (int block = 0; block < bounds->blocks; block++) {
        size_t begin = strag_block_start(bounds, block, total);
        size_t end = strag_block_start(bounds, block + 1, total);
        begin = begin > first ? begin : first;
        end = end < first + count ? end : first + count;
        if (begin >= end)
            continue;
        e.first = begin;
        e.count = end - begin;
        char *at = (char *)out + (ptrdiff_t)(begin - first) * input->extent;
        if (ORDER_PLANNED == kind)
            evaluate(&e, order->proof->held[block], 0, at);
        else
            evaluate_in_turn(&e, kind, at);
    }
    free(e.scratch);
}
