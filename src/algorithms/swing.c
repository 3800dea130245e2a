/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swing: pairs swap halves of their remaining blocks, as in recursive halving, but with partners
 * that are close on a torus. Between few bytes and few rounds, it has forms that divide in the
 * first steps; `swing-latency` never divides.
 *
 * swing_walk.h tells which ranks meet. In a step of the reduce-scatter the ranks of the lower list
 * keep the lower blocks and send the upper ones; ranks of the upper list do the opposite. The
 * allgather is the same backwards. A ring of 4, lists (0 1) (2 3), then (0 3) and (1 2); block 0 is
 * rank 0's, block 1 rank 3's, block 2 rank 1's, block 3 rank 2's; what each rank sends:
 *
 *     round      rank 0           rank 1           rank 2           rank 3
 *       0     2 3, to rank 1   0 1, to rank 0   0 1, to rank 3   2 3, to rank 2  reduce-scatter
 *       1     1, to rank 3     3, to rank 2     2, to rank 1     0, to rank 0
 *       2     0, to rank 3     2, to rank 2     3, to rank 1     1, to rank 0    allgather
 *       3     0 1, to rank 1   2 3, to rank 0   2 3, to rank 3   0 1, to rank 2
 *
 * Half of the vector goes to a neighbour, a quarter to the other one, an eighth three links away,
 * and in D dimensions the messages to far ranks are smaller still. This is why links are hardly
 * shared. On a host of a torus with 2D links, D parts of the vector start in different dimensions,
 * and D others are mirrored, so that all links are used at the same time. If a list is odd, the
 * rank left over has many short messages in a round; see swing_walk.h.
 *
 * The last steps of the reduce-scatter go the farthest, with the shortest messages, and the
 * allgather goes the same way again. If the latency of these steps costs more than their bytes, it
 * is better to stop dividing the blocks: the ranks of a list, which then share a range of blocks,
 * swap it once, and both reduce it. (The paper has no such forms.) A ring of 8 in which the first
 * two of three steps divide; what rank 0 does:
 *
 *     round    partner    sends           receives
 *       0         1       blocks 2 3      0 1           reduced      reduce-scatter
 *       1         7       block 1         0             reduced
 *       2         3       block 0         0             reduced      swap: both have the sum
 *       3         7       block 0         1             replaced     allgather
 *       4         1       blocks 0 1      2 3           replaced
 *
 * There are five rounds instead of six, with no more bytes if only the last step swaps.
 * swing-latency swaps whole vectors in all steps; a ring of 8:
 *
 *     round    pairs                               each rank holds the sum of
 *       0      (0 3) (7 4) (1 6) (2 5)             a pair
 *       1      (0 7) (4 3) (1 2) (5 6)             0 3 7 4, or 1 6 2 5
 *       2      (0 1) (2 3) (4 5) (6 7)             all
 *
 * Swaps take the opposite order, the farthest first. So all ranks of a list have reduced the same
 * values in the same way when they meet the other list, and all ranks end with identical bits; in
 * the paper's order they would not. The lower list's sum is the left operand on both sides. In a
 * list of odd size the rank that is left over gets the lower list's sum from the list's first rank;
 * it sends nothing.
 *
 * The steps of g ranks on a host always divide: each rank then has a share of the vector, which it
 * swaps between hosts. With q = sum ceil(log2 d_i) steps among hosts, of which k divide, there are
 * B = g 2^k blocks (or n if all steps divide) in each part:
 *
 *     rounds           q + k, and 2 ceil(log2 g)
 *     sent by a rank   2(B-1)/B + (q-k)/B vectors
 *
 * The number of blocks selects the form: all steps divide, or a quarter, half or three quarters of
 * them, but none from the first list of odd size on, so that all ranges are equally long. If the
 * number of ports is not configured on a grid, n blocks select the form with 1 port, unless they
 * are one of these forms with all ports already (then bine does the same).
 *
 * (De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth Allreduce", sections 3 and 4.)
 */
#include "algorithms/swing_walk.h"

#include "base/text.h"

#include <stdlib.h>

/* ---- Steps that divide the blocks ---- */

/* A step of the reduce-scatter, or of the allgather, which is the same backwards: ranges that were
 * sent are received, and the other way round. */
struct step {
    const struct strag_swing_walk *walk;
    int number, round;
    bool reduce;
};

static void swap_ranges(const struct step *step, int peer, int away, int kept, int count,
                        struct strag_builder *builder)
{
    if (step->reduce) {
        strag_send(builder, step->round, peer, away, count);
        strag_recv_reduce(builder, step->round, peer, kept, count);
    } else {
        strag_send(builder, step->round, peer, kept, count);
        strag_recv(builder, step->round, peer, away, count);
    }
}

/* The rank left over swaps one unit with every rank of the lower list. */
static void build_left_over(const struct step *step, const struct strag_swing_meeting *meeting,
                            struct strag_builder *builder)
{
    int unit = meeting->unit, last = meeting->first + 2 * meeting->pairs * unit;
    for (int pair = 0; pair < meeting->pairs; pair++)
        swap_ranges(step, strag_swing_lower(step->walk, step->number, pair),
                    meeting->first + pair * unit, last, unit, builder);
}

static void build_step(const struct step *step, struct strag_builder *builder)
{
    struct strag_swing_meeting meeting = strag_swing_meet(step->walk, step->number);
    int unit = meeting.unit, half = meeting.low;
    int mine = meeting.first + (meeting.upper ? half : 0);
    int theirs = meeting.first + (meeting.upper ? 0 : half);
    if (meeting.pair == meeting.pairs) {
        build_left_over(step, &meeting, builder);
        return;
    }
    swap_ranges(step, meeting.peer, theirs, mine, half, builder);
    if (meeting.left_over >= 0)
        swap_ranges(step, meeting.left_over, theirs + half, mine + meeting.pair * unit, unit,
                    builder);
}

/* @return the round behind the last one */
static int build_half(const struct strag_swing *swing, const struct strag_swing_walk *walks,
                      bool reduce, int round, struct strag_builder *builder)
{
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    int last = swing->scatter_steps - 1;
    if (last >= 0)
        strag_stage(builder, reduce ? "reduce-scatter" : "allgather");
    for (int s = 0; s <= last; s++, round++) {
        for (int part = 0; strag_is_wanted(wanted, round) && part < swing->torus.parts; part++)
            build_step(&(struct step){&walks[part], reduce ? s : last - s, round, reduce}, builder);
    }
    return round;
}

/* ---- Steps that swap ---- */

/* Sends come first, since they carry the values from before the round. */
static void swap(const struct strag_swing_walk *walk, int step, int round,
                 struct strag_builder *builder)
{
    struct strag_swing_meeting meeting = strag_swing_meet(walk, step);
    int first = walk->first, count = walk->count;
    if (meeting.pairs == 0)
        return;
    if (meeting.peer < 0) {
        strag_recv_reduce(builder, round, strag_swing_lower(walk, step, 0), first, count);
        return;
    }
    strag_send(builder, round, meeting.peer, first, count);
    if (meeting.left_over >= 0 && meeting.pair == 0)
        strag_send(builder, round, meeting.left_over, first, count);
    if (meeting.upper)
        strag_recv_reduce(builder, round, meeting.peer, first, count);
    else
        strag_recv_reduce_right(builder, round, meeting.peer, first, count);
}

static int build_swaps(const struct strag_swing *swing, const struct strag_swing_walk *walks,
                       int round, struct strag_builder *builder)
{
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    if (swing->scatter_steps < swing->steps)
        strag_stage(builder, "swap");
    for (int step = swing->steps - 1; step >= swing->scatter_steps; step--, round++) {
        for (int part = 0; strag_is_wanted(wanted, round) && part < swing->torus.parts; part++)
            swap(&walks[part], step, round, builder);
    }
    return round;
}

/* ---- What all forms share ---- */

static int prepare_form(const struct strag_problem *problem, int scatter, void **prepared,
                        struct strag_error *err)
{
    struct strag_swing *swing = calloc(1, sizeof *swing);
    if (!swing)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the steps of %d ranks",
                          problem->n);
    strag_swing_lay_out(problem, scatter, swing);
    *prepared = swing;
    return STRAG_OK;
}

/* In each part a rank ends with one of swing->blocks blocks, or of n. */
static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct strag_swing *swing = problem->prepared;
    int blocks = swing->blocks;
    double swaps = 0;
    for (int d = 0; swing->scatter_steps < swing->steps && d < swing->torus.dims; d++)
        swaps += strag_swing_messages(swing, d);
    *claim = (struct strag_claim){
        .rounds = swing->steps + swing->scatter_steps,
        .blocks = swing->torus.parts * blocks,
        .sent_max = (2.0 * (blocks - 1) + swaps) / blocks,
        .ports = strag_swing_is_even(swing) ? swing->torus.parts : 0,
        /* measured: with a rank left over it loses more than it saves */
        .in_step = swing->scatter_steps > 0 && strag_swing_is_even(swing),
    };
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct strag_swing *swing = problem->prepared;
    struct strag_swing_walk walks[STRAG_SWING_PARTS_MAX];
    for (int part = 0; part < swing->torus.parts; part++)
        strag_swing_walk(swing, part, rank, &walks[part]);
    int round = build_half(swing, walks, true, 0, builder);
    round = build_swaps(swing, walks, round, builder);
    build_half(swing, walks, false, round, builder);
}

/* ---- swing: the number of blocks selects the form ---- */

enum { FORMS = 4, ALL_QUARTERS = 4 };

/* How many steps among hosts divide: the given number of quarters of them, rounded. */
static int dividing_steps(const struct strag_problem *problem, int quarters)
{
    struct strag_torus torus = strag_torus_of(problem);
    int steps = 0;
    for (int d = 0; d < torus.dims; d++)
        steps += strag_log2_ceil(torus.size[d]);
    return (steps * quarters + 2) / ALL_QUARTERS;
}

static int blocks_of_form(const struct strag_problem *problem, int scatter)
{
    struct strag_swing swing;
    strag_swing_lay_out(problem, scatter, &swing);
    return swing.torus.parts * swing.blocks;
}

/* Are n blocks the form with 1 port? */
static bool has_one_port(const struct strag_problem *problem)
{
    bool one = problem->ports == 0 && strag_torus_of(problem).parts > 1;
    for (int quarters = 1; one && quarters <= ALL_QUARTERS; quarters++)
        one = blocks_of_form(problem, dividing_steps(problem, quarters)) != problem->n;
    return one;
}

/* The counts of blocks that select a form: ascending, each once; with the last, all steps
 * divide. */
static int find_forms(const struct strag_problem *problem, int forms[FORMS + 1])
{
    int count = 0;
    bool one = has_one_port(problem);
    for (int quarters = 1; quarters <= ALL_QUARTERS; quarters++) {
        const int form = blocks_of_form(problem, dividing_steps(problem, quarters));
        if (one && problem->n < form)
            forms[count++] = problem->n;
        one = one && problem->n > form;
        if (count == 0 || form != forms[count - 1])
            forms[count++] = form;
    }
    return count;
}

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    return strag_torus_check(problem, problem->n, err);
}

/* The accepted counts: "3, 6 or 12". */
static int refuse_blocks(const struct strag_problem *problem, struct strag_error *err)
{
    char list[(FORMS + 1) * 16] = "";
    int forms[FORMS + 1], count = find_forms(problem, forms);
    for (int f = 0; f < count; f++)
        strag_append(list, sizeof list, "%s%d",
                     f == 0           ? ""
                     : f == count - 1 ? " or "
                                      : ", ",
                     forms[f]);
    return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                      "swing cuts the vector of %d ranks into %s blocks, not %d", problem->n, list,
                      problem->blocks);
}

static int prepare(const struct strag_problem *problem, void **prepared, struct strag_error *err)
{
    for (int quarters = ALL_QUARTERS; quarters > 0; quarters--) {
        int scatter = dividing_steps(problem, quarters);
        if (problem->blocks == 0 || problem->blocks == blocks_of_form(problem, scatter))
            return prepare_form(problem, scatter, prepared, err);
    }
    if (problem->blocks == problem->n && has_one_port(problem)) {
        struct strag_problem one = *problem;
        one.ports = 1;
        return prepare_form(&one, dividing_steps(problem, ALL_QUARTERS), prepared, err);
    }
    return refuse_blocks(problem, err);
}

/* The form with all steps, and each of the others once, except swing-latency's. */
static int choices(const struct strag_problem *problem, int *blocks)
{
    const int latency = blocks_of_form(problem, 0);
    const bool one = has_one_port(problem);
    int forms[FORMS + 1], last = find_forms(problem, forms) - 1, count = 0;
    blocks[count++] = 0;
    for (int f = 0; f < last; f++) {
        if (forms[f] > latency || (one && forms[f] == problem->n))
            blocks[count++] = forms[f];
    }
    return count;
}

const struct strag_algorithm strag_swing = {
    .name = "swing",
    .summary = "pairs close on a torus swap halves; at middle sizes in the first steps only",
    .rounds = "2 sum ceil(log2 d_i)",
    .sent = "2(n-1)/n",
    .check = check,
    .prepare = prepare,
    .release = free,
    .choices = choices,
    .claim = claim,
    .build = build,
};

/* ---- swing-latency: only the steps within hosts divide ---- */

static int check_latency(const struct strag_problem *problem, struct strag_error *err)
{
    return strag_torus_check(problem, strag_torus_of(problem).local, err);
}

static int prepare_latency(const struct strag_problem *problem, void **prepared,
                           struct strag_error *err)
{
    struct strag_torus torus = strag_torus_of(problem);
    struct strag_problem ported = *problem;
    strag_torus_set_ports(problem, torus.local, &torus);
    ported.ports = torus.parts;
    return prepare_form(&ported, 0, prepared, err);
}

static int choices_latency(const struct strag_problem *problem, int *blocks)
{
    const struct strag_torus torus = strag_torus_of(problem);
    return strag_torus_choices(problem, &torus, torus.local, blocks);
}

const struct strag_algorithm strag_swing_latency = {
    .name = "swing-latency",
    .summary = "pairs close on a torus swap whole vectors; fewest rounds for any n",
    .rounds = "sum ceil(log2 d_i)",
    .sent = "sum ceil(log2 d_i)",
    .check = check_latency,
    .choices = choices_latency,
    .prepare = prepare_latency,
    .release = free,
    .claim = claim,
    .build = build,
};
