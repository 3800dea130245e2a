/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct: every rank sends each block straight to the one that sums it up, which sends the sum
 * straight back.
 *
 * Many messages, and none of them waits for another of its half: for ranks that share memory, where
 * a message is a copy, and a rank that sends one value to several copies it once. Block b belongs
 * to rank b; with fewer blocks than ranks, only the first ranks sum up. In step t of either half a
 * rank sends to the one t above it, and receives from the one t below. n = 4, what rank 1 does:
 *
 *     round   sends               receives
 *       0     block 2 to rank 2   block 1 of rank 0, combined         reduce-scatter
 *       1     block 3 to rank 3   block 1 of rank 3, combined
 *       2     block 0 to rank 0   block 1 of rank 2, combined
 *       3     block 1 to rank 2   block 0 of rank 0                   allgather
 *       4     block 1 to rank 3   block 3 of rank 3
 *       5     block 1 to rank 0   block 2 of rank 2
 *
 * With one block, rank 0 sums up everything: the fewest messages, and each other rank waits once.
 * That is best where ranks share processors, which the component knows and the cost model does not.
 *
 *     rounds 2(n-1)        sent 2(n-1)/n with n blocks; with m of them (m+n-2)/m, or 1 if more
 */
#include "algorithm.h"

enum {
    RANKS_MOST = 1024, /* a plan has up to 4n operations, and all of them 2n^2 messages */
    RANKS_SOON = 128,  /* looked at in no time */
};

static int blocks_of(const struct strag_problem *problem)
{
    return problem->blocks ? problem->blocks : problem->n;
}

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    if (problem->n > RANKS_MOST)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "direct: n = %d ranks; up to %d are possible",
                          problem->n, RANKS_MOST);
    if (problem->blocks > problem->n)
        return strag_fail(
            err, STRAG_ERR_UNSUPPORTED,
            "direct: %d blocks; with %d ranks it is 1 to %d, one for each that sums up",
            problem->blocks, problem->n, problem->n);
    return STRAG_OK;
}

static bool on_request(const struct strag_problem *problem)
{
    return problem->n > RANKS_SOON;
}

/* By the cost model, ring and flexreduce take no longer; but for some hundred bytes with a late
 * rank, which is not worth pricing it at every communicator's first call. */
static bool adds_nothing(const struct strag_problem *problem)
{
    (void)problem;
    return true;
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
        .rounds = 2 * (n - 1),
        .blocks = m,
        .sent_max = m < n && owner < 1 ? 1 : owner,
        .one_ported = true,
    };
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    int n = problem->n, m = blocks_of(problem), round = 0;
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    strag_stage(builder, "reduce-scatter");
    for (int t = 1; t < n; t++, round++) {
        int above = (rank + t) % n, below = (rank + n - t) % n;
        if (strag_is_wanted(wanted, round) && above < m)
            strag_send(builder, round, above, above, 1);
        if (strag_is_wanted(wanted, round) && rank < m)
            strag_recv_reduce(builder, round, below, rank, 1);
    }
    strag_stage(builder, "allgather");
    for (int t = 1; t < n; t++, round++) {
        int above = (rank + t) % n, below = (rank + n - t) % n;
        if (strag_is_wanted(wanted, round) && rank < m)
            strag_send(builder, round, above, rank, 1);
        if (strag_is_wanted(wanted, round) && below < m)
            strag_recv(builder, round, below, below, 1);
    }
}

const struct strag_algorithm strag_direct = {
    .name = "direct",
    .summary = "straight to the rank that sums a block up, and back; for ranks that share memory",
    .rounds = "2(n-1)",
    .sent = "2(n-1)/n",
    .check = check,
    .adds_nothing = adds_nothing,
    .on_request = on_request,
    .choices = choices,
    .claim = claim,
    .build = build,
};
