/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct: every rank sends each block straight to the rank that sums it up, which sends the sum
 * straight back.
 *
 * There are many messages, and none waits for another one of its half. It is for ranks that share
 * memory: there a message is a copy, and a rank copies a value that it sends to several ranks once.
 * Block b belongs to rank b; with fewer blocks than ranks, only the first ranks sum up. In step t
 * of either half rank r sends to r + t and receives from r - t. n = 4, what rank 1 does:
 *
 *     round   sends               receives
 *       0     block 2 to rank 2   block 1 of rank 0, reduced          reduce-scatter
 *       1     block 3 to rank 3   block 1 of rank 3, reduced
 *       2     block 0 to rank 0   block 1 of rank 2, reduced
 *       3     block 1 to rank 2   block 0 of rank 0                   allgather
 *       4     block 1 to rank 3   block 3 of rank 3
 *       5     block 1 to rank 0   block 2 of rank 2
 *
 * With one block, one rank, the root, sums up everything. This takes the fewest messages, and each
 * other rank waits once. A root begins with its own value. For identical bits, all roots must
 * reduce in the same order, which ranks 0 and 1 can: both do v1+v0, then v2+, v3+ (to the left of
 * the sum, which stays where it is). n = 4:
 *
 *     round   root 0                root 1
 *       0     1 sends to 0: v1+v0   0 sends to 1: v1+v0
 *       1     2 sends to 0: v2+     2 sends to 1: v2+
 *       2     3 sends to 0: v3+     3 sends to 1: v3+
 *      3-5    0 sends to 2, 3, 1    1 sends to 2, 3, 0
 *
 * This is best if ranks share processors, which the component knows and the cost model does not,
 * and better still if the root alternates from call to call. If A and B share a processor, and A is
 * always the root, the processor switches twice per call: B waits for A's sum, and A for B's next
 * value. With alternating roots it switches once: A sums up call 0, sends its value for call 1, and
 * waits; B then has both values, sums up call 1, sends its value for call 2, and waits:
 *
 *     always A    | B value 0 | A sum 0 | B value 1 | A sum 1 | B value 2 | A sum 2 |
 *     in turns    | B value 0 | A sum 0, value 1 | B sum 1, value 2 | A sum 2, value 3 |
 *
 * The next root gets the sum last: it needs the others' next values, so they get the sum first.
 *
 *     rounds 2(n-1)        sent 2(n-1)/n with n blocks; with m of them (m+n-2)/m, or 1 if more
 */
#include "algorithms/tree.h"

enum {
    RANKS_MOST = 1024, /* a plan has up to 4n operations, and all of them 2n^2 messages */
    RANKS_SOON = 128,  /* with more, planning takes too long */
    TREE_RANKS = 16,   /* with more it adds nothing on trees, */
    GRID_RANKS = 64,   /* or on grids */
};

static int blocks_of(const struct strag_problem *problem)
{
    return problem->blocks ? problem->blocks : problem->n;
}

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    if (problem->n > RANKS_MOST)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "direct: n = %d ranks; must be at most %d",
                          problem->n, RANKS_MOST);
    if (problem->blocks > problem->n)
        return strag_fail(
            err, STRAG_ERR_UNSUPPORTED,
            "direct: %d blocks; with %d ranks it is 1 to %d, one for each that sums up",
            problem->blocks, problem->n, problem->n);
    if (problem->root > 1 || (problem->root == 1 && problem->blocks != 1))
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "direct: root %d; it is 0, or with one block 0 or 1", problem->root);
    return STRAG_OK;
}

static bool on_request(const struct strag_problem *problem)
{
    return problem->n > RANKS_SOON;
}

/* With more ranks, two messages for each other rank take longer than a few rounds. On trees
 * flexreduce takes no longer, except with few ranks and several of them on a host. */
static bool adds_nothing(const struct strag_problem *problem)
{
    const bool tree = !problem->topology || problem->topology->network == STRAG_NETWORK_TREE;
    return strag_tree_is_one_switch(problem) || problem->n > (tree ? TREE_RANKS : GRID_RANKS);
}

/* 1, 2, 4, ... ranks that sum up, and all of them. */
static int choices(const struct strag_problem *problem, int *blocks)
{
    int count = 0;
    for (int m = 1; m < problem->n; m *= 2)
        blocks[count++] = m;
    blocks[count++] = problem->n;
    return count;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    int n = problem->n, m = n > 1 ? blocks_of(problem) : 1;
    double owner = (double)(m + n - 2) / m;
    *claim = (struct strag_claim){
        .rounds = 2 * (n - 1),
        .blocks = m,
        .sent_max = m < n && owner < 1 ? 1 : owner,
        .ports = 1,
        .chain = 2,
    };
}

/* Number t, from 0, of the ranks other than the root. */
static int other(int root, int t)
{
    return t < root ? t : t + 1;
}

/* The root's operations. Values that come stand left of the sum, except for rank 0's. */
static void lead(int n, int root, struct strag_builder *builder)
{
    int round = 0;
    strag_stage(builder, "reduce-scatter");
    for (int t = 0; t < n - 1; t++, round++) {
        if (other(root, t) == 0)
            strag_recv_reduce_right(builder, round, 0, 0, 1);
        else
            strag_recv_reduce(builder, round, other(root, t), 0, 1);
    }
    strag_stage(builder, "allgather");
    for (int t = 1; t < n; t++, round++)
        strag_send(builder, round, other(root, t % (n - 1)), 0, 1);
}

static void follow(int n, int root, int rank, struct strag_builder *builder)
{
    int t = rank < root ? rank : rank - 1;
    strag_stage(builder, "reduce-scatter");
    strag_send(builder, t, root, 0, 1);
    strag_stage(builder, "allgather");
    strag_recv(builder, n - 1 + (t + n - 2) % (n - 1), root, 0, 1);
}

static void build_spread(const struct strag_problem *problem, int rank,
                         struct strag_builder *builder)
{
    int n = problem->n, m = blocks_of(problem), round = 0;
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    for (int gather = 0; gather < 2; gather++) {
        strag_stage(builder, gather ? "allgather" : "reduce-scatter");
        for (int t = 1; t < n; t++, round++) {
            int above = (rank + t) % n, below = (rank + n - t) % n;
            int sent = gather ? rank : above, received = gather ? below : rank;
            if (strag_is_wanted(wanted, round) && sent < m)
                strag_send(builder, round, above, sent, 1);
            if (strag_is_wanted(wanted, round) && received < m)
                strag_cyclic(builder, gather ? STRAG_RECV : STRAG_RECV_REDUCE, round, below,
                             received, 1);
        }
    }
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    if (blocks_of(problem) > 1)
        build_spread(problem, rank, builder);
    else if (rank == problem->root)
        lead(problem->n, rank, builder);
    else
        follow(problem->n, problem->root, rank, builder);
}

const struct strag_algorithm strag_direct = {
    .name = "direct",
    .summary = "to the rank that sums a block up, and back; for ranks that share memory",
    .rounds = "2(n-1)",
    .sent = "2(n-1)/n",
    .fewest_switches = true,
    .rooted = true,
    .check = check,
    .adds_nothing = adds_nothing,
    .on_request = on_request,
    .choices = choices,
    .claim = claim,
    .build = build,
};
