/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of one host with a processor each: what a call copies, counted.
 *
 *     host
 *
 * Such hosts cannot be timed everywhere; but what every rank does follows from its plan. A line for
 * each number of ranks, size and contender, as CSV, with what the busiest rank does:
 *
 *     strag    the plan that the component would run, through the memory that it shares
 *     tuned    Open MPI 4.1's own: the algorithm of its fixed decision
 *              (in coll_tuned_decision_fixed) for an operator that commutes, over btl vader. Up to
 *              4 KiB (its eager limit) a message is copied in and out; above, the kernel copies it
 *              once for the receiver (CMA). The vector is first copied to the receive buffer.
 *     xhc      of Open MPI 6 (in coll_xhc_allreduce), on one level, which runs only if its
 *              priority is raised, and above 4 KiB only with XPMEM: then each rank sums up a part
 *              of all vectors where they are, and copies the sum. Parts have 4 KiB at least.
 *
 * `copied`, `kernel` and `summed` are vectors; `lines` are cache lines that it reads after another
 * rank has written them, of data and of announcements; `messages` those that it sends and receives,
 * or ranks whose flags it looks at. `us` is reckoned from measurements with 2 ranks that have a
 * processor each: what a message takes, and the bytes.
 */
#include "algorithms/table.h"
#include "model/select.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 64, INLINE = 48, EAGER = 4096, SLOT = 32768, XHC_PART = 4096 };

/* As strag-tune measured them (ompi_coll_strag/choice/table.c), but for the shortest messages and
 * the PML's short ones: an MPI_Allreduce of 8 bytes takes one. */
static const struct way {
    double inline_message, message, long_message; /* seconds: up to INLINE bytes, up to EAGER */
    double bandwidth;                             /* bytes per second */
} through_slots = {0.23e-6, 0.4e-6, 0.4e-6, 20e9}, over_pml = {0.35e-6, 0.35e-6, 4e-6, 16e9};

/* Of a rank, or of the busiest one. */
struct counts {
    double copied, kernel, summed; /* vectors */
    double messages, lines;
    double seconds; /* 0: not known */
};

static double touched(const struct counts *counts)
{
    return counts->copied + counts->kernel + counts->summed;
}

/* A message of `bytes` bytes arrives in pieces, which the bandwidth includes. */
static void add_arrival(struct counts *counts, const struct way *way, double bytes, double pieces)
{
    counts->messages += pieces;
    counts->lines += bytes <= INLINE ? 1 : ceil(bytes / LINE) + pieces;
    counts->seconds += bytes <= INLINE  ? way->inline_message
                       : bytes <= EAGER ? way->message
                                        : way->long_message;
}

/* ---- Plans ---- */

/* What is sent again and has not changed is not written again. */
static struct counts through_memory(const struct strag_plan *plan, double bytes)
{
    struct counts counts = {0};
    int first = 0, count = 0;
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        const double part = strag_block_fraction(&plan->bounds, op->first, op->count);
        const double pieces = fmax(1, ceil(part * bytes / SLOT));
        if (op->kind != STRAG_SEND) {
            *(op->kind == STRAG_RECV_REDUCE ? &counts.summed : &counts.copied) += part;
            add_arrival(&counts, &through_slots, part * bytes, pieces);
            if (op->first < first + count && first < op->first + op->count)
                count = 0;
            continue;
        }
        counts.messages += pieces;
        counts.copied += op->first == first && op->count == count ? 0 : part;
        first = op->first;
        count = op->count;
    }
    counts.seconds += touched(&counts) * bytes / through_slots.bandwidth;
    return counts;
}

static struct counts over_vader(const struct strag_plan *plan, double bytes)
{
    struct counts counts = {.copied = 1};
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        const double part = strag_block_fraction(&plan->bounds, op->first, op->count);
        const bool eager = part * bytes <= EAGER;
        if (op->kind == STRAG_SEND) {
            counts.messages++;
            counts.copied += eager ? part : 0;
            continue;
        }
        *(eager ? &counts.copied : &counts.kernel) += part;
        counts.summed += op->kind == STRAG_RECV_REDUCE ? part : 0;
        add_arrival(&counts, &over_pml, part * bytes, 1);
    }
    counts.seconds += touched(&counts) * bytes / over_pml.bandwidth;
    return counts;
}

typedef struct counts count_fn(const struct strag_plan *plan, double bytes);

/* Of the rank that touches the most, or has the most messages. @return false: no such plan */
static bool count_plans(const struct strag_algorithm *algorithm,
                        const struct strag_problem *problem, double bytes, count_fn *count,
                        struct counts *busiest)
{
    struct strag_error err;
    *busiest = (struct counts){0};
    for (int r = 0; r < problem->n; r++) {
        struct strag_plan *plan;
        if (strag_plan_create(algorithm, problem, r, &plan, &err) != STRAG_OK) {
            fprintf(stderr, "host: %s\n", err.text);
            return false;
        }
        const struct counts one = count(plan, bytes);
        if (one.seconds > busiest->seconds)
            *busiest = one;
        strag_plan_free(plan);
    }
    return true;
}

/* ---- Contenders ---- */

static void print(int n, size_t bytes, const char *who, const char *algorithm,
                  const struct counts *counts)
{
    printf("%d,%zu,%s,%s,%.0f,%.3f,%.3f,%.3f,%.0f,", n, bytes, who, algorithm, counts->messages,
           counts->copied, counts->kernel, counts->summed, counts->lines);
    if (counts->seconds > 0)
        printf("%.3f", 1e6 * counts->seconds);
    printf("\n");
}

static bool print_strag(const struct strag_problem *problem, const struct strag_table *table,
                        size_t bytes)
{
    const struct strag_entry *entry = strag_table_entry(table, bytes);
    struct strag_problem cut = *problem;
    struct counts counts;
    cut.blocks = entry->blocks;
    if (!count_plans(entry->algorithm, &cut, (double)bytes, through_memory, &counts))
        return false;
    print(problem->n, bytes, "strag", entry->algorithm->name, &counts);
    return true;
}

/* A reduction along a binomial tree, then a broadcast: the root's. */
static struct counts reduce_and_broadcast(int n, double bytes)
{
    enum { LINEAR_FROM = 16384, LINEAR_TO = 32768, KNOMIAL_FROM = 65536, CHILDREN = 3 };
    const double rounds = ceil(log2(n)), eager = bytes <= EAGER;
    const double sends = bytes >= LINEAR_FROM && bytes < LINEAR_TO ? n - 1
                         : bytes >= KNOMIAL_FROM                   ? CHILDREN * ceil(log2(n) / 2)
                                                                   : 2;
    struct counts counts = {.copied = 1 + eager * (rounds + sends),
                            .kernel = !eager * rounds,
                            .summed = rounds,
                            .messages = sends};
    for (int r = 0; r < rounds; r++)
        add_arrival(&counts, &over_pml, bytes, 1);
    counts.seconds += sends * (eager ? over_pml.message : over_pml.long_message) +
                      touched(&counts) * bytes / over_pml.bandwidth;
    return counts;
}

/* The fixed decision's, for 8 ranks or more and up to 255. */
static const char *tuned_algorithm(int n, size_t bytes)
{
    const size_t halving_from = n < 16 ? 8192 : n < 32 ? 4096 : n < 64 ? 128 : 262144;
    if (n >= 128 && bytes < 131072)
        return "reduce and broadcast";
    return bytes < halving_from ? "recursive-doubling" : "recursive-halving";
}

static bool print_tuned(const struct strag_problem *problem, size_t bytes)
{
    struct strag_error err;
    const char *name = tuned_algorithm(problem->n, bytes);
    const struct strag_algorithm *algorithm = strag_algorithm_find(name, &err);
    struct counts counts;
    if (!algorithm)
        counts = reduce_and_broadcast(problem->n, (double)bytes);
    else if (!count_plans(algorithm, problem, (double)bytes, over_vader, &counts))
        return false;
    print(problem->n, bytes, "tuned", name, &counts);
    return true;
}

static void print_xhc(int n, size_t bytes)
{
    const double copied_in = bytes <= EAGER, parts = floor((double)bytes / XHC_PART);
    const double workers = fmax(1, fmin(parts, n)), summed = (n - 1) / workers;
    const struct counts counts = {
        .copied = 1 + copied_in,
        .summed = summed,
        .messages = n,
        .lines = ceil((summed + 1) * (double)bytes / LINE) + n,
    };
    print(n, bytes, "xhc", "one level", &counts);
}

static bool run(int n)
{
    static const size_t sizes[] = {8, 4096, 65536, 262144, 1048576, 16777216};
    struct strag_topology *topology;
    struct strag_selection *selection;
    struct strag_error err;
    bool good = true;
    if (strag_topology_flat(n, n, &topology, &err) != STRAG_OK) {
        fprintf(stderr, "host: %s\n", err.text);
        return false;
    }
    struct strag_model model = strag_model_default(topology->network);
    model.local_alpha = through_slots.long_message;
    model.local_bandwidth = model.reduce_bandwidth = through_slots.bandwidth;
    model.written_once = true;
    const struct strag_select_options options = {.quick = true};
    const struct strag_problem problem = {.n = n, .topology = topology};
    if (strag_select(&problem, &model, &options, &selection, &err) != STRAG_OK) {
        fprintf(stderr, "host: %s\n", err.text);
        strag_topology_free(topology);
        return false;
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && good; s++) {
        good =
            print_strag(&problem, &selection->table, sizes[s]) && print_tuned(&problem, sizes[s]);
        print_xhc(n, sizes[s]);
    }
    strag_selection_free(selection);
    strag_topology_free(topology);
    return good;
}

int main(void)
{
    static const int ranks[] = {8, 16, 32, 64, 96, 128, 192};
    bool good = true;
    printf("ranks,bytes,who,algorithm,messages,copied,kernel,summed,lines,us\n");
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks && good; i++)
        good = run(ranks[i]);
    return good ? 0 : 1;
}
