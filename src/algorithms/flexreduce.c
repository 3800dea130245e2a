/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FlexReduce: the least traffic over the uplinks of any tree, however uneven; and the same in
 * segments that follow each other through the levels.
 *
 * The reduce-scatter goes through the levels from the bottom up. Each starts from the ranges that
 * the leaves below a node's children hold, and leaves each leaf with a smaller range that is summed
 * up over all of the node (flex_plan.h, with an example). The allgather is the same backwards, with
 * broadcasts. Hosts of 2 and 3 ranks, 12 items; what rank 1 does, blocks given as items:
 *
 *     round   level   sends to          receives from
 *       0       0     0..6, r0          6..12 of r0, reduced         reduce-scatter
 *       1       0     (hosts of 3 ranks only)
 *       2       1     6..7, r3          7..8 of r3, reduced
 *                     10..12, r4        8..10 of r4, reduced
 *       3       1     7..8, r3          6..7 of r3, replaced         allgather
 *                     8..10, r4         10..12 of r4, replaced
 *       4       0     (hosts of 3 ranks only)
 *       5       0     6..12, r0         0..6 of r0, replaced
 *
 * A call of reduce consists of messages straight from its holders to the owner: each partial sum
 * crosses an uplink once, whatever the shares (a ring of holders would send every share but one
 * through a slow uplink). Messages are not sent all at once: in step t of a level, values held
 * below child c go to owners below child c+t, so that every child receives from one other child at
 * a time, at its full rate, and no receiver is flooded. All calls of a level run at the same time.
 * Values that an owner lacks are handed over by its child's holder before the first step
 * (flex_plan.h).
 *
 *     rounds           2 sum over levels of (d - 1), d being the largest degree
 *     over an uplink   2(d-1)/d of the vector each way, at the level of the node above it
 *     sent by a rank   about 2(n-1)/n
 *
 * `flexreduce` is the paper's form, with equal shares. `flexreduce-pipelined` cuts the vector into
 * segments. While one is at a level, the next is at the level below, so that local and uplink
 * phases overlap, and so do the reduce-scatter of one segment and the allgather of the one before:
 *
 *     period      0    1    2    3    4    5       hosts of any size below one switch:
 *     segment 0   L    U    U'   L'                L local reduce-scatter, U over the uplinks,
 *     segment 1        L    U    U'   L'           U' allgather over the uplinks, L' local
 *     segment 2             L    U    U'   L'
 *
 * A period has as many rounds as the longest level outside of hosts has steps. Levels within hosts,
 * where messages are copies in memory, fit several steps into a round if needed. Unequal shares are
 * worth it only with this overlap: a child with share f, one of q, sends 1 - f and receives (q-1) f
 * in the reduce-scatter, the reverse in the allgather. One after the other takes longer for any f
 * but 1/q; both at the same time take 1 + (q-2) f. So this form shares by the uplinks' rates if
 * they differ. It also lets a leaf have several ranges if that saves handing over, so that every
 * uplink of the tree carries what equation 6 says (not in the most uneven ones, see flex_plan.h).
 *
 * Segments are equally long if their number is a power of two. Otherwise they grow and shrink if
 * there is more than one level: 1 2 4 4 .. 4 2 1 units of length. Short segments fill and empty the
 * pipeline, and the long ones between cost few latencies. While a segment is at the level within
 * hosts, the one before it, half as long, is on the uplinks, which need not wait if memory is fast
 * enough. The cost model decides which form is faster: equal segments are if memory is slow, or if
 * shares by rates need as much of the reduce-scatter as of the allgather at the same time.
 *
 * (Lee, Hwang, Shah, Cho, "FlexReduce: Flexible All-reduce for Distributed Deep Learning on
 * Asymmetric Network Topology".)
 */
#include "algorithms/flex_step.h"
#include "algorithms/uplinks.h"

#include <stdlib.h>

/* The segments that a user may ask for, and the bounds of the algorithm's own choice if the
 * vector's size is not known. The first and the last segment cost about a period each in which the
 * uplinks are not busy both ways, and every segment costs the latency of its rounds. */
enum { NONE = -1, SEGMENTS_MAX = 512, SEGMENTS_MOST = 32, SEGMENTS_LEAST = 4 };

/* How many times lengths double, and up to how many segments they do: with more, the first and the
 * last are short anyway. */
enum { DOUBLINGS = 2, GROWING_MAX = 128 };

/* With more than MANY_RANKS, fewer numbers of segments are compared. */
enum { MANY_RANKS = 256, FLAT_RANKS = 64 };

/* A level of the reduce-scatter or of the allgather. */
struct stage {
    int level;
    bool gather;
    int steps;
    int start, rounds; /* of segment 0; with fewer rounds than steps, a round has several steps */
};

struct prepared {
    const struct strag_flex *flex; /* shared by all counts of segments */
    int segments;
    int doublings; /* of the segments' lengths, from either end; 0 if they are equal */
    int period;    /* rounds from one segment to the next */
    int rounds;
    bool joined; /* some stages have fewer rounds than steps */
    int nstages;
    struct stage stages[];
};

/* The form of flexreduce-pipelined; the other row has none. */
static const bool pipelined_form = true;

static bool is_pipelined(const struct strag_problem *problem)
{
    return problem->algorithm->form != NULL;
}

/* ---- Preparing ---- */

/* The rounds of a period: the steps of the longest level that has uplinks of hosts or switches. */
static int find_period(const struct strag_tree *tree)
{
    int longest = 1;
    for (int i = 0; i < tree->nnodes; i++) {
        const struct strag_tree_node *node = &tree->nodes[i];
        bool counts = node->network || !tree->nodes[0].network;
        if (counts && node->children - 1 > longest)
            longest = node->children - 1;
    }
    return longest;
}

static void schedule(struct prepared *prepared, bool pipelined)
{
    const struct strag_flex *flex = prepared->flex;
    int levels = flex->tree->levels, start = 0;
    prepared->nstages = 2 * levels;
    prepared->period = pipelined ? find_period(flex->tree) : 0;
    for (int s = 0; s < prepared->nstages; s++) {
        struct stage *stage = &prepared->stages[s];
        *stage = (struct stage){.gather = s >= levels, .start = start};
        stage->level = stage->gather ? prepared->nstages - 1 - s : s;
        stage->steps = stage->rounds = flex->tree->degree[stage->level] - 1;
        if (pipelined && stage->rounds > prepared->period) {
            stage->rounds = prepared->period;
            prepared->joined = true;
        }
        start += pipelined ? prepared->period : stage->rounds;
    }
    const struct stage *last = &prepared->stages[prepared->nstages - 1];
    prepared->rounds = last->start + last->rounds + (prepared->segments - 1) * prepared->period;
}

/* How many segments: as configured, or by default fewer if a period has many rounds. */
static int find_segments(struct prepared *prepared, const struct strag_problem *problem,
                         struct strag_error *err)
{
    int blocks = prepared->flex->blocks;
    int segments = 2 * SEGMENTS_MOST / find_period(prepared->flex->tree);
    segments = segments > SEGMENTS_MOST ? SEGMENTS_MOST : segments;
    segments = segments < SEGMENTS_LEAST ? SEGMENTS_LEAST : segments;
    if (problem->blocks)
        segments = problem->blocks / blocks;
    if (problem->blocks % blocks || segments < 1 || segments > SEGMENTS_MAX)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "flexreduce-pipelined cuts this tree's vector into 1 to %d times %d "
                          "blocks, not %d",
                          SEGMENTS_MAX, blocks, problem->blocks);
    prepared->segments = segments;
    return STRAG_OK;
}

/* How often lengths double, from either end. */
static int find_doublings(int segments, int levels)
{
    bool power = (segments & (segments - 1)) == 0;
    if (power || levels < 2 || segments > GROWING_MAX)
        return 0;
    int most = (segments - 1) / 2;
    return most < DOUBLINGS ? most : DOUBLINGS;
}

/* A segment's length, in units. */
static int find_length(const struct prepared *prepared, int segment)
{
    int from_end = prepared->segments - 1 - segment;
    int doublings = segment < from_end ? segment : from_end;
    return 1 << (doublings < prepared->doublings ? doublings : prepared->doublings);
}

static int share(const struct strag_problem *problem, void **out, struct strag_error *err)
{
    const bool pipelined = is_pipelined(problem);
    struct strag_tree *tree;
    struct strag_flex *flex;
    int status = strag_tree_create(problem, &tree, err);
    if (status == STRAG_OK)
        status =
            strag_flex_create(tree, (struct strag_flex_form){pipelined, pipelined}, &flex, err);
    if (status == STRAG_OK)
        *out = flex;
    return status;
}

static void unshare(void *shared)
{
    strag_flex_free(shared);
}

static int prepare(const struct strag_problem *problem, void **out, struct strag_error *err)
{
    const struct strag_flex *flex = problem->shared;
    const bool pipelined = is_pipelined(problem);
    size_t stages = 2 * (size_t)flex->tree->levels;
    struct prepared *prepared = calloc(1, sizeof *prepared + stages * sizeof *prepared->stages);
    if (!prepared)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the plan of a tree");
    prepared->flex = flex;
    prepared->segments = 1;
    int status = pipelined ? find_segments(prepared, problem, err) : STRAG_OK;
    if (status == STRAG_OK)
        status = strag_flex_check_messages(problem, prepared->segments, err);
    if (status != STRAG_OK) {
        free(prepared);
        return status;
    }
    prepared->doublings = find_doublings(prepared->segments, flex->tree->levels);
    schedule(prepared, pipelined);
    *out = prepared;
    return STRAG_OK;
}

/* Numbers of segments that do not make too many messages. Fewer than four are worth it if levels
 * take turns; with one level they would equal `flexreduce`. */
static int choices(const struct strag_problem *problem, int *blocks)
{
    static const int few[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 32, 48, 64};
    static const int many[] = {4, 8, 16, 32, 64};
    const struct strag_flex *flex = problem->shared;
    const bool is_many = problem->n > MANY_RANKS;
    const size_t most = is_many ? sizeof many / sizeof *many : sizeof few / sizeof *few;
    int count = 0;
    for (size_t i = 0; i < most; i++) {
        const int segments = is_many ? many[i] : few[i];
        const bool power = (segments & (segments - 1)) == 0;
        const bool few_help = flex->tree->levels > 1 || segments >= SEGMENTS_LEAST;
        if (few_help && (power || find_doublings(segments, flex->tree->levels) > 0) &&
            strag_flex_check_messages(problem, segments, NULL) == STRAG_OK)
            blocks[count++] = flex->blocks * segments;
    }
    if (count == 0)
        blocks[count++] = 0; /* prepare refuses it */
    return count;
}

/* Refuse before anything is prepared if no count of segments makes the messages few enough. */
static int check(const struct strag_problem *problem, struct strag_error *err)
{
    int status = strag_tree_check(problem, err);
    if (status != STRAG_OK || problem->n < 2)
        return status;
    int segments = is_pipelined(problem) && problem->blocks == 0 ? SEGMENTS_LEAST : 1;
    return strag_flex_check_messages(problem, segments, err);
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
    const struct strag_flex *flex = prepared->flex;
    *claim = (struct strag_claim){
        .rounds = prepared->rounds,
        .blocks = flex->blocks * prepared->segments,
        .ports = prepared->segments == 1 && !prepared->joined && strag_tree_symmetric(flex->tree),
        .chain = prepared->segments == 1 ? prepared->nstages : 0,
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

/* The steps of a stage that fall into one of its rounds. */
static void build_stage(const struct stage *stage, int64_t into, struct strag_flex_step *step)
{
    int first = (int)((into * stage->steps + stage->rounds - 1) / stage->rounds);
    int end = (int)(((into + 1) * stage->steps + stage->rounds - 1) / stage->rounds);
    step->level = stage->level;
    step->gather = stage->gather;
    strag_stage(step->builder, stage->gather ? "allgather" : "reduce-scatter");
    for (int s = first; s < end; s++)
        strag_flex_step_build(step, stage->gather ? stage->steps - s : s + 1);
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct prepared *prepared = problem->prepared;
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    struct strag_flex_step step = {.flex = prepared->flex,
                                   .builder = builder,
                                   .position = prepared->flex->tree->position_of[rank]};
    int end = wanted.end < prepared->rounds ? wanted.end : prepared->rounds;
    for (step.round = wanted.first; step.round < end; step.round++) {
        for (int s = 0; s < prepared->nstages; s++) {
            const struct stage *stage = &prepared->stages[s];
            int into = step.round - stage->start, segment = 0;
            if (into >= 0 && prepared->period) {
                segment = into / prepared->period;
                into %= prepared->period;
            }
            step.shift = segment * prepared->flex->blocks;
            if (into >= 0 && into < stage->rounds && segment < prepared->segments)
                build_stage(stage, into, &step);
        }
    }
}

/* ---- Identical rounds ---- */

/* Once all stages are busy with segments of full length, every period is identical to the next,
 * until the first stage runs out of these segments. */
static int same_rounds(const struct strag_problem *problem, int round, int *period)
{
    const struct prepared *prepared = problem->prepared;
    const int number = round / prepared->period;
    const int first = prepared->doublings + prepared->nstages - 1;
    const int end = prepared->segments - prepared->doublings;
    if (round % prepared->period || number < first || number >= end - 1)
        return 1;
    *period = prepared->period;
    return end - number;
}

/* 0 for segments of equal length, 1 for those that grow; NONE if no two rounds are identical. */
static int form_of(const struct strag_problem *problem, int blocks)
{
    const struct strag_flex *flex = problem->shared;
    const int segments = blocks / flex->blocks, levels = flex->tree->levels;
    const int doublings = find_doublings(segments, levels);
    const int same = segments - 2 * doublings - (2 * levels - 1);
    return same < 2 ? NONE : doublings > 0;
}

/* The blocks of a segment. */
static int unit(const struct strag_problem *problem)
{
    const struct prepared *prepared = problem->prepared;
    return prepared->flex->blocks;
}

/* With one level and many ranks, two messages for each other rank take longer than a few rounds. */
static bool adds_nothing(const struct strag_problem *problem)
{
    return strag_tree_is_flat(problem) && problem->n > FLAT_RANKS;
}

static bool adds_nothing_pipelined(const struct strag_problem *problem)
{
    return strag_tree_is_flat(problem) && strag_uplinks_equal(problem);
}

/* flexreduce-direct is priced in these cases, and is not slower by the model. */
static bool takes_long_pipelined(const struct strag_problem *problem)
{
    return problem->n > MANY_RANKS && strag_flex_has_few_messages(problem);
}

const struct strag_algorithm strag_flexreduce = {
    .name = "flexreduce",
    .summary = "level by level through any tree; least traffic over every uplink",
    .rounds = "2 sum(d_l - 1)",
    .sent = "about 2(n-1)/n",
    .check = check,
    .share = share,
    .unshare = unshare,
    .prepare = prepare,
    .release = free,
    .adds_nothing = adds_nothing,
    .claim = claim,
    .sent_max = sent_max,
    .build = build,
    .bounds = bounds,
};

const struct strag_algorithm strag_flexreduce_pipelined = {
    .name = "flexreduce-pipelined",
    .summary = "flexreduce in k segments: its L levels overlap; shares by uplinks' rates",
    .rounds = "(k+2L-1)(d_max-1)",
    .sent = "about 2(n-1)/n",
    .form = &pipelined_form,
    .prefers_more_blocks = true,
    .check = check,
    .share = share,
    .unshare = unshare,
    .prepare = prepare,
    .release = free,
    .adds_nothing = adds_nothing_pipelined,
    .takes_long = takes_long_pipelined,
    .choices = choices,
    .claim = claim,
    .sent_max = sent_max,
    .build = build,
    .bounds = bounds,
    .same_rounds = same_rounds,
    .unit = unit,
    .form_of = form_of,
};
