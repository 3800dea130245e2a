/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive multiplying: recursive doubling whose ranks meet in threes and fours, for short vectors
 * where a message costs its ranks less time than it takes on its way.
 *
 * In a round of radix f the f ranks of a group send all they have to each other: f - 1 messages
 * each, and one latency. With n = 12 = 4 x 3, who sends to whom:
 *
 *     round 0    0 1 2 3   4 5 6 7   8 9 10 11    each holds the sum of 4
 *     round 1    0 4 8   1 5 9   2 6 10   3 7 11  of 12
 *
 * For the same bits all ranks of a group reduce its values v0, v1, .. in the same order, that of
 * (v0 + v1) + (v2 + v3), or of (v0 + v1) + v2. So a rank first takes the value of the other one of
 * its pair, and keeps the two of the other pair aside until they are added up (recv_hold and
 * recv_join). What rank 1 of the four above does:
 *
 *     sends           v1 to ranks 3, 2 and 0
 *     from 0          own value = v0 + v1
 *     from 2 and 3    own value = (v0 + v1) + (v2 + v3)
 *
 * The radix k, 3 or 4, is the highest f; it is also the number of blocks, although these always
 * travel together, so that the model can compare both. With an overhead o for each further message
 * of a round, as a share of its latency, and per doubling, a round takes
 *
 *     k            2    3                4              8
 *     latencies    1    .63 (1 + 2 o)    .5 (1 + 4 o)   .33 (1 + 12 o)
 *
 * so that more than four would be worth it by 2 % at o = .1, and by 11 % at o = .05.
 *
 * If n is a product of numbers up to k, the rounds are these factors, the largest first. Otherwise,
 * or if that is shorter, p = k^l ranks meet, with the highest l that is possible, and each of them
 * first takes the values of n/p - 1 ranks above it, to which it sends the result at the end. n =
 * 10, k = 4, so p = 4:
 *
 *     round 0    1->0 2->0   4->3 5->3   7->6   9->8
 *     round 1    0 3 6 8
 *     round 2    0->1 0->2   3->4 3->5   6->7   8->9
 *
 * Rounds: the factors, or l + 2. Each rank sends the sum of (f - 1) vectors, and those with others'
 * values one for each of these. (A. Ruefenacht, M. Bull and S. Booth, "Generalisation of recursive
 * doubling for AllReduce: Now with simulation".)
 */
#include "plan/algorithm.h"

#include <string.h>

enum { RADIX_LEAST = 2, RADIX_MOST = 4, ROUNDS_MAX = 32 };

/* How n ranks meet. */
struct meetings {
    int p;      /* ranks that meet */
    int rounds; /* in which they do */
    int radix[ROUNDS_MAX];
    int each, one_more; /* ranks for whom one of those stands, and how many stand for one more */
};

static int radix_of(const struct strag_problem *problem)
{
    return problem->blocks ? problem->blocks : RADIX_MOST;
}

/* The factors of n up to k. @return what is left of n */
static int factorize(int n, int k, struct meetings *meetings)
{
    for (int f = k; f > 1; f--) {
        for (; n % f == 0; n /= f)
            meetings->radix[meetings->rounds++] = f;
    }
    return n;
}

static struct meetings find_meetings(int n, int k)
{
    struct meetings meetings = {.p = n};
    int power = 1, log = 0;
    for (; power <= n / k; power *= k)
        log++;
    if (factorize(n, k, &meetings) > 1 || meetings.rounds > log + 2) {
        meetings = (struct meetings){.p = power, .rounds = log};
        for (int i = 0; i < log; i++)
            meetings.radix[i] = k;
    }
    meetings.each = n / meetings.p;
    meetings.one_more = n % meetings.p;
    return meetings;
}

static bool folds(const struct meetings *meetings)
{
    return meetings->each > 1 || meetings->one_more > 0;
}

/* The first of the ranks for whom it stands. */
static int rank_of(const struct meetings *meetings, int number)
{
    const int more = number < meetings->one_more ? number : meetings->one_more;
    return number * meetings->each + more;
}

static int number_of(const struct meetings *meetings, int rank)
{
    const int wide = meetings->each + 1;
    return rank < meetings->one_more * wide ? rank / wide
                                            : (rank - meetings->one_more) / meetings->each;
}

/* ---- The row ---- */

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    const int k = radix_of(problem);
    if (k < RADIX_LEAST || k > RADIX_MOST)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "recursive-multiplying: %d blocks; they are its radix, %d to %d", k,
                          RADIX_LEAST, RADIX_MOST);
    return STRAG_OK;
}

/* The model counts no overhead for messages through memory. */
static bool on_request(const struct strag_problem *problem)
{
    const struct strag_topology *topology = problem->topology;
    return topology && topology->hosts < topology->n;
}

/* Two ranks are a pair. */
static bool adds_nothing(const struct strag_problem *problem)
{
    return problem->n < 3;
}

static int choices(const struct strag_problem *problem, int *blocks)
{
    const struct meetings threes = find_meetings(problem->n, 3),
                          fours = find_meetings(problem->n, 4);
    int count = 0;
    if (memcmp(&threes, &fours, sizeof threes) != 0)
        blocks[count++] = 3;
    blocks[count++] = 4;
    return count;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const int k = radix_of(problem);
    const struct meetings meetings = find_meetings(problem->n, k);
    int sent = meetings.each - 1 + (meetings.one_more > 0);
    for (int i = 0; i < meetings.rounds; i++)
        sent += meetings.radix[i] - 1;
    *claim = (struct strag_claim){
        .rounds = meetings.rounds + 2 * folds(&meetings),
        .blocks = k,
        .sent_max = sent,
    };
}

/* ---- One rank ---- */

/* The values of the ranks for whom it stands, or the result for them. */
static void build_fold(const struct strag_problem *problem, const struct meetings *meetings,
                       int rank, bool out, int round, struct strag_builder *builder)
{
    const int number = number_of(meetings, rank), k = radix_of(problem);
    const int first = rank_of(meetings, number);
    strag_stage(builder, out ? "unfold" : "fold");
    if (rank != first && out)
        strag_recv(builder, round, first, 0, k);
    else if (rank != first)
        strag_send(builder, round, first, 0, k);
    for (int other = first + 1; rank == first && other < rank_of(meetings, number + 1); other++) {
        if (out)
            strag_send(builder, round, other, 0, k);
        else
            strag_recv_reduce_right(builder, round, other, 0, k);
    }
}

/* A group: its ranks' numbers are `stride` apart. */
struct group {
    const struct meetings *meetings;
    int first, stride;
};

static int member(const struct group *group, int place)
{
    return rank_of(group->meetings, group->first + place * group->stride);
}

/* One round, of a rank at a place in its group of f. The other one of its pair is sent to last:
 * then nothing but their swap is left to wait for. */
static void build_round(const struct group *group, int place, int f, int round, int k,
                        struct strag_builder *builder)
{
    const int half = (f + 1) / 2;
    const bool lower = place<half, paired = f> 2 && (place ^ 1) < f;
    const int other = lower ? half : 0, others = lower ? f - half : half; /* the other half */
    for (int i = 0; i < others; i++)
        strag_send(builder, round, member(group, other + (place + i) % others), 0, k);
    if (paired) {
        strag_send(builder, round, member(group, place ^ 1), 0, k);
        strag_exchange_reduce(builder, round, member(group, place ^ 1), 0, k);
    }
    if (others == 1) {
        strag_exchange_reduce(builder, round, member(group, other), 0, k);
        return;
    }
    strag_recv_hold(builder, round, member(group, other), 0, k);
    if (lower)
        strag_recv_join_right(builder, round, member(group, other + 1), 0, k);
    else
        strag_recv_join(builder, round, member(group, other + 1), 0, k);
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const int k = radix_of(problem);
    const struct meetings meetings = find_meetings(problem->n, k);
    const int number = number_of(&meetings, rank);
    const bool meets = rank == rank_of(&meetings, number);
    int round = 0;
    if (folds(&meetings))
        build_fold(problem, &meetings, rank, false, round++, builder);
    strag_stage(builder, "multiplying");
    for (int i = 0, stride = 1; meets && i < meetings.rounds; stride *= meetings.radix[i++]) {
        const int place = number / stride % meetings.radix[i];
        const struct group group = {&meetings, number - place * stride, stride};
        build_round(&group, place, meetings.radix[i], round + i, k, builder);
    }
    round += meetings.rounds;
    if (folds(&meetings))
        build_fold(problem, &meetings, rank, true, round, builder);
}

/* In a group all are alike. */
static int like(const struct strag_problem *problem, enum strag_machine machine, int rank)
{
    const struct meetings meetings = find_meetings(problem->n, radix_of(problem));
    return machine == STRAG_MACHINE_SWITCH && !on_request(problem) && !folds(&meetings) ? 0 : rank;
}

const struct strag_algorithm strag_recursive_multiplying = {
    .name = "recursive-multiplying",
    .summary = "threes or fours swap whole vectors; fewer rounds, more messages; k blocks: radix k",
    .rounds = "about log_k n (+2 if folded)",
    .sent = "about (k-1) log_k n",
    .doubts_overhead = true,
    .check = check,
    .on_request = on_request,
    .adds_nothing = adds_nothing,
    .choices = choices,
    .claim = claim,
    .build = build,
    .like = like,
};
