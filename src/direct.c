/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct: every rank sends each block straight to the one that sums it up, which sends the sum
 * straight back.
 *
 * The fewest rounds there can be with sums in one place, and many messages in each: for ranks that
 * share memory, where a message is a copy, and a rank that sends one value to several copies it
 * once. Block b belongs to rank b; with fewer blocks than ranks, only the first ranks sum up. n =
 * 4, what rank 1 does:
 *
 *     round   sends               receives
 *       0     block 2 to rank 2   block 1 of rank 0, combined         reduce-scatter
 *             block 3 to rank 3   block 1 of rank 3, combined
 *             block 0 to rank 0   block 1 of rank 2, combined
 *       1     block 1 to rank 2   block 0 of rank 0                   allgather
 *             block 1 to rank 3   block 3 of rank 3
 *             block 1 to rank 0   block 2 of rank 2
 *
 * With one block, rank 0 sums up everything: least to do for a short vector, in which messages cost
 * more than bytes. With n blocks all ranks do the same, and send the least there is:
 *
 *     rounds 2        sent 2(n-1)/n with n blocks; with m of them (m+n-2)/m, or 1 if that is more
 *
 * Where ranks have links of their own a round of n-1 messages takes as long as n-1 rounds, which
 * the cost model does not see: across hosts it runs only where it is named.
 */
#include "algorithm.h"

enum { RANKS_MOST = 1024 }; /* a plan has about 4n operations, and a look at it 2 n^2 messages */

static int blocks_of(const struct strag_problem *problem)
{
    return problem->blocks ? problem->blocks : problem->n;
}

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    if (problem->n > RANKS_MOST)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "direct: n = %d ranks; up to %d are possible",
                          problem->n, RANKS_MOST);
    if (problem->blocks < 0 || problem->blocks > problem->n)
        return strag_fail(
            err, STRAG_ERR_UNSUPPORTED,
            "direct: %d blocks; with %d ranks it is 1 to %d, one for each that sums up",
            problem->blocks, problem->n, problem->n);
    return STRAG_OK;
}

static bool on_request(const struct strag_problem *problem)
{
    return !problem->topology || problem->topology->hosts > 1;
}

/* One rank that sums up, or all of them. */
static int choices(const struct strag_problem *problem, int *blocks)
{
    blocks[0] = 1;
    blocks[1] = problem->n;
    return 2;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    int n = problem->n, m = n > 1 ? blocks_of(problem) : 1;
    double owner = (double)(m + n - 2) / m;
    *claim = (struct strag_claim){
        .rounds = n > 1 ? 2 : 0,
        .blocks = m,
        .sent_max = m < n && owner < 1 ? 1 : owner,
        .one_ported = n <= 2,
    };
}

/* In step t of a round a rank sends to the one t above it, and receives from the one t below. */
static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    int n = problem->n, m = blocks_of(problem);
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    strag_stage(builder, "reduce-scatter");
    for (int t = 1; t < n && strag_is_wanted(wanted, 0); t++) {
        int above = (rank + t) % n, below = (rank + n - t) % n;
        if (above < m)
            strag_send(builder, 0, above, above, 1);
        if (rank < m)
            strag_recv_reduce(builder, 0, below, rank, 1);
    }
    strag_stage(builder, "allgather");
    for (int t = 1; t < n && rank < m && strag_is_wanted(wanted, 1); t++)
        strag_send(builder, 1, (rank + t) % n, rank, 1);
    for (int t = 1; t < n && strag_is_wanted(wanted, 1); t++) {
        int below = (rank + n - t) % n;
        if (below < m)
            strag_recv(builder, 1, below, below, 1);
    }
}

const struct strag_algorithm strag_direct = {
    .name = "direct",
    .summary = "straight to the rank that sums a block up, and back; for ranks that share memory",
    .rounds = "2",
    .sent = "2(n-1)/n",
    .check = check,
    .on_request = on_request,
    .choices = choices,
    .claim = claim,
    .build = build,
};
