/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FlexReduce, direct: every level of a tree is one round. A rank sends all its values there at the
 * same time, straight to the ranks that sum them up, and the sums come straight back.
 *
 * There are few rounds, and no more bytes than necessary. FlexReduce's plan (flex_plan.h) decides
 * which rank owns what. `flexreduce` takes a round for each of the d - 1 other children of a node;
 * here they share one round. Hosts of 2 and 3 ranks, 12 items; what rank 1 does, blocks given as
 * items:
 *
 *     round   level   sends to                        receives from
 *       0       0     0..6, r0                        6..12 of r0, reduced      reduce-scatter
 *       1       1     6..7, r3; 10..12, r4            7..8 of r3, 8..10 of r4, reduced
 *       2       1     7..8, r3; 8..10, r4             6..7 of r3, 10..12 of r4  allgather
 *       3       0     6..12, r0                       0..6 of r0
 *
 * With one segment, shares are equal, and a slow link has to carry as much as the others. But the
 * vector may also be cut into segments, each a round behind the one before: while contributions to
 * one segment travel, so do the sums of the one before. Hosts on one switch, in k segments:
 *
 *     round        0            1            2         ..       k
 *     segment 0    contribute   sums
 *     segment 1                 contribute   sums
 *     segment 2                              contribute ..      sums
 *
 * So on a tree every link is busy in every round, however uneven the tree is: a group of few hosts
 * has long messages on the uplinks, and a group of many has them between its hosts, but both at the
 * same time, for different segments. In `flexreduce` each waits for the other.
 *
 * Segments are equally long if their number is a power of two, or if the tree has one level. Others
 * grow by one unit each and shrink again: 1 2 3 .. 3 2 1. With L levels, a host of a large group is
 * busy with segments s and s - (2L-1), a host of a small group with those between. If lengths grow
 * evenly, both sums are the same, so that little is lost at the ends: about 1/k^2 of the time
 * instead of 1/k.
 *
 * Shares follow the uplinks' rates (flex_shares.h): a host with a slow link owns less, or nothing.
 * 5 hosts, rank 0's at half the rate, and what its link carries, both ways at the same time:
 *
 *     segments   rounds   vectors over the slow link, one way after the other
 *         1         2     0.8 + 0.8       = 1.6
 *         2         3     0.5 + 0.5 + 0.5 = 1.5
 *         k        k+1    (k+1)/k, if segments are equally long
 *
 * `weighted` carries as little in (k+1)(h-1) rounds, in which no rank has to deal with more than
 * two others at once.
 *
 *     rounds           k - 1 + 2 levels
 *     sent by a rank   about 2(n-1)/n with one segment
 */
#include "algorithms/flex_shares.h"
#include "algorithms/flex_step.h"
#include "algorithms/uplinks.h"

#include <stdlib.h>

/* Segments that a user may ask for. */
enum { NONE = -1, SEGMENTS_MAX = 512 };

/* With more segments, the first and the last are short anyway. The sum of all lengths, times the
 * ranges' denominator, stays below the 2^62 that strag_bounds allows. */
enum { GROWING_MAX = 55 };

/* With more ranks, fewer numbers of segments are compared. */
enum { MANY_RANKS = 256 };

/* Shared by all counts of segments. */
struct shares {
    struct strag_flex *equal; /* for one segment */
    struct strag_flex *rated; /* for more; `equal` if the uplinks are equal */
};

struct prepared {
    const struct strag_flex *flex;
    int segments, stages; /* stages: levels, there and back */
};

/* ---- Lengths of segments ---- */

/* Are segments of different lengths? */
static bool grows(const struct strag_flex *flex, int segments)
{
    const bool power = (segments & (segments - 1)) == 0;
    return flex->tree->levels > 1 && !power && segments <= GROWING_MAX;
}

/* A segment's length, in units. */
static int find_length(const struct prepared *prepared, int segment)
{
    const int from_end = prepared->segments - 1 - segment;
    if (!grows(prepared->flex, prepared->segments))
        return 1;
    return 1 + (segment < from_end ? segment : from_end);
}

/* ---- Preparing ---- */

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    int status = strag_tree_check(problem, err);
    return status == STRAG_OK ? strag_flex_check_messages(problem, 1, err) : status;
}

/* Without levels and slow links it does what flexreduce does. */
static bool adds_nothing(const struct strag_problem *problem)
{
    return strag_tree_is_flat(problem) && strag_uplinks_equal(problem);
}

static bool takes_long(const struct strag_problem *problem)
{
    return problem->n > MANY_RANKS && !strag_flex_has_few_messages(problem);
}

static void unshare(void *shared)
{
    struct shares *shares = shared;
    if (!shares)
        return;
    if (shares->rated != shares->equal)
        strag_flex_free(shares->rated);
    strag_flex_free(shares->equal);
    free(shares);
}

static int share(const struct strag_problem *problem, void **out, struct strag_error *err)
{
    struct shares *shares = calloc(1, sizeof *shares);
    struct strag_tree *tree;
    if (!shares)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the plan of a tree");
    int status = strag_tree_create(problem, &tree, err);
    bool equal = status == STRAG_OK && strag_flex_is_equal(tree);
    if (status == STRAG_OK)
        status =
            strag_flex_create(tree, (struct strag_flex_form){false, true}, &shares->equal, err);
    if (status == STRAG_OK && !equal)
        status = strag_tree_create(problem, &tree, err);
    if (status == STRAG_OK && !equal)
        status = strag_flex_create(tree, (struct strag_flex_form){true, true}, &shares->rated, err);
    if (status != STRAG_OK) {
        unshare(shares);
        return status;
    }
    if (equal)
        shares->rated = shares->equal;
    *out = shares;
    return STRAG_OK;
}

/* How many segments this number of blocks makes, or 0 if it makes none. */
static int segments_of(const struct shares *shares, int blocks)
{
    if (blocks == 0 || blocks == shares->equal->blocks)
        return 1;
    int segments = blocks / shares->rated->blocks;
    return blocks % shares->rated->blocks || segments < 2 || segments > SEGMENTS_MAX ? 0 : segments;
}

static int prepare(const struct strag_problem *problem, void **out, struct strag_error *err)
{
    const struct shares *shares = problem->shared;
    const int segments = segments_of(shares, problem->blocks);
    if (segments == 0)
        return strag_fail(
            err, STRAG_ERR_UNSUPPORTED,
            "flexreduce-direct cuts this tree's vector into %d blocks, or 2 to %d times %d, not %d",
            shares->equal->blocks, SEGMENTS_MAX, shares->rated->blocks, problem->blocks);
    const struct strag_flex *flex = segments == 1 ? shares->equal : shares->rated;
    if (!flex->split)
        return strag_fail(
            err, STRAG_ERR_UNSUPPORTED,
            "flexreduce-direct cannot cut the vector for a tree as deep and uneven as this; "
            "flexreduce can");
    int status = strag_flex_check_messages(problem, segments, err);
    if (status != STRAG_OK)
        return status;
    struct prepared *prepared = malloc(sizeof *prepared);
    if (!prepared)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the plan of a tree");
    *prepared = (struct prepared){flex, segments, 2 * flex->tree->levels};
    *out = prepared;
    return STRAG_OK;
}

/* Among equal hosts on one switch a second segment saves nothing. */
static int choices(const struct strag_problem *problem, int *blocks)
{
    static const int few[] = {2, 3, 4, 5, 6, 7, 8, 11, 12, 15, 16, 23, 24, 31, 32};
    static const int many[] = {4, 8, 16, 32, 64};
    const bool is_many = problem->n > MANY_RANKS;
    const int *segments = is_many ? many : few;
    const size_t most = is_many ? sizeof many / sizeof *many : sizeof few / sizeof *few;
    const struct shares *shares = problem->shared;
    int count = 0;
    if (!is_many)
        blocks[count++] = shares->equal->blocks;
    if (shares->rated == shares->equal && shares->equal->tree->levels == 1)
        return count;
    for (size_t i = 0; i < most; i++) {
        const int64_t cut = (int64_t)segments[i] * shares->rated->blocks;
        if (cut > shares->equal->blocks && cut < INT32_MAX &&
            strag_flex_check_messages(problem, segments[i], NULL) == STRAG_OK)
            blocks[count++] = (int)cut;
    }
    if (count == 0)
        blocks[count++] = shares->equal->blocks;
    return count;
}

/* ---- Claim and bounds ---- */

static double sent_max(const struct strag_problem *problem)
{
    const struct prepared *prepared = problem->prepared;
    return strag_flex_sent_max(prepared->flex);
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct prepared *prepared = problem->prepared;
    *claim = (struct strag_claim){
        .rounds = prepared->segments - 1 + prepared->stages,
        .blocks = prepared->flex->blocks * prepared->segments,
    };
}

static void bounds(const struct strag_problem *problem, struct strag_bounds *bounds)
{
    const struct prepared *prepared = problem->prepared;
    const struct strag_flex *flex = prepared->flex;
    int64_t before = 0;
    for (int s = 0, b = 0; s < prepared->segments; s++) {
        const int length = find_length(prepared, s);
        for (int i = 0; i < flex->blocks; i++)
            bounds->numerator[b++] = before + length * flex->cuts[i];
        before += length * flex->whole;
    }
    bounds->numerator[bounds->blocks] = bounds->denominator = before;
}

/* ---- Building ---- */

/* Append a level in its round, beginning with the children next to the rank's own. */
static void build_level(struct strag_flex_step *step, int stage, int stages)
{
    const struct strag_tree *tree = step->flex->tree;
    step->gather = stage >= stages / 2;
    step->level = step->gather ? stages - 1 - stage : stage;
    strag_stage(step->builder, step->gather ? "allgather" : "reduce-scatter");
    for (int distance = 1; distance < tree->degree[step->level]; distance++)
        strag_flex_step_build(step, distance);
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct prepared *prepared = problem->prepared;
    const struct strag_flex *flex = prepared->flex;
    const struct strag_rounds wanted = strag_rounds_wanted(builder);
    struct strag_flex_step step = {
        .flex = flex, .builder = builder, .position = flex->tree->position_of[rank]};
    const int rounds = prepared->segments - 1 + prepared->stages;
    const int end = wanted.end < rounds ? wanted.end : rounds;
    for (step.round = wanted.first; step.round < end; step.round++) {
        for (int stage = 0; stage < prepared->stages; stage++) {
            const int segment = step.round - stage;
            step.shift = segment * flex->blocks;
            if (segment >= 0 && segment < prepared->segments)
                build_level(&step, stage, prepared->stages);
        }
    }
}

/* ---- Identical rounds and equivalent ranks ---- */

/* Rounds are identical once all stages are busy, until the first one runs out of segments. */
static int same_rounds(const struct strag_problem *problem, int round, int *period)
{
    (void)period;
    const struct prepared *prepared = problem->prepared;
    const int segments = prepared->segments;
    const bool steady =
        !grows(prepared->flex, segments) && round >= prepared->stages - 1 && round < segments;
    return steady ? segments - round : 1;
}

/* The blocks of a segment. */
static int unit(const struct strag_problem *problem)
{
    const struct prepared *prepared = problem->prepared;
    return prepared->flex->blocks;
}

/* There is one form with several identical rounds: segments of equal length. */
static int form_of(const struct strag_problem *problem, int blocks)
{
    const struct shares *shares = problem->shared;
    const int segments = segments_of(shares, blocks);
    const int stages = 2 * shares->rated->tree->levels;
    return grows(shares->rated, segments) || segments < stages + 1 ? NONE : 0;
}

const struct strag_algorithm strag_flexreduce_direct = {
    .name = "flexreduce-direct",
    .summary = "a level is one round, all directly; in k segments shares follow uplinks' rates",
    .rounds = "k-1+2L",
    .sent = "about 2(n-1)/n",
    .check = check,
    .adds_nothing = adds_nothing,
    .takes_long = takes_long,
    .share = share,
    .unshare = unshare,
    .prepare = prepare,
    .release = free,
    .choices = choices,
    .claim = claim,
    .sent_max = sent_max,
    .build = build,
    .bounds = bounds,
    .same_rounds = same_rounds,
    .unit = unit,
    .form_of = form_of,
};
