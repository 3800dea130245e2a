/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trivance: threes on a ring, each of which exchanges with both neighbours at the same time. It
 * takes ceil(log3 d) steps instead of Swing's ceil(log2 d), and both directions of a link are busy.
 *
 * One dimension, of any size. A list of ranks, at first all of them in order, falls into three:
 * every third rank, from the first, the second, and the third one on. In a step each rank meets the
 * ranks beside it in the list, which belong to the two other lists; then each list goes on by
 * itself. A ring of 9:
 *
 *     step   distance   lists; rank 4 meets
 *      0        1       (0 1 2 3 4 5 6 7 8)            3 and 5
 *      1        3       (0 3 6) (1 4 7) (2 5 8)        1 and 7
 *
 * In `trivance` a rank keeps the blocks of the list that it goes to and sends both others; what the
 * ranks of a list share is one range of blocks, in the order 0 3 6 1 4 7 2 5 8. The allgather is
 * the same backwards. What rank 4 does, who owns block 4:
 *
 *     round   sends                            receives
 *       0     0 1 2 to rank 3, 6 7 8 to 5      3 4 5 from both, reduced          reduce-scatter
 *       1     3 to rank 1, 5 to 7              4 from both, reduced
 *       2     4 to both                        3 from rank 1, 5 from 7           allgather
 *       3     3 4 5 to both                    0 1 2 from rank 3, 6 7 8 from 5
 *
 * In every round a link carries a third of the vector each way, however far the ranks are apart: a
 * ninth goes three links far, and so on. That is more than Swing's (a sixth per step), in fewer
 * steps.
 *
 * `trivance-latency` swaps in the last steps, which lead the farthest, instead of dividing: the
 * ranks of a list share a range of blocks, each gets the sums of the two other lists and adds both.
 * Swaps take the opposite order,
 * the farthest first. So all who hold the same sum have it from the same three, and reduce these in
 * one order, first list, second, third: all ranks end with identical bits. (In the paper's order,
 * the nearest first, brackets would turn with the ranks.) Those of the third list have to reduce
 * what comes from both before they add their own: recv_hold and recv_join. A ring of 9, what is
 * sent whole:
 *
 *     round   from                 each rank holds the sum of
 *       0     3 links both ways    0 3 6, or 1 4 7, or 2 5 8: 4 holds (1 + 4) + 7
 *       1     1 link both ways     all: ((0 + 3) + 6 + (1 + 4) + 7) + (2 + 5) + 8
 *
 * In a list whose size 3 does not divide, the ends of the list lack a neighbour of one of the other
 * lists: the first rank takes the third one, the last rank the third last one, which then has three
 * partners (0 below meets 1 and 2; 3 meets 2 and 1):
 *
 *     list of 4: 0 1 2 3, falls into (0 3) (1) (2)      of 5: (0 3) (1 4) (2)      of 2: (0) (1)
 *
 * So any size takes ceil(log3 d) steps; but a few links carry up to twice as much. On a mesh the
 * ends of all lists do so. To even that out where some list is not divided by 3, a ring carries two
 * halves of the vector whose ranks are numbered from opposite places on (up to 256 hosts).
 *
 * Several dimensions take turns (as in torus.h), and with all ports D parts of the vector start in
 * different ones; mirrored ones are not needed, as both directions are used already. Ranks of a
 * host are a list of their own, whose steps come first and always divide.
 *
 * With q = sum ceil(log3 d_i) among hosts of g ranks, of which k divide:
 *
 *     rounds           q + k, and 2 ceil(log3 g)
 *     sent by a rank   trivance, by powers of three: 2(n-1)/n; trivance-latency 2q vectors
 *
 * (Juerss, Addanki and Schmid, "Trivance: Latency-Optimal AllReduce by Shortcutting Multiport
 * Networks", arXiv 2602.17254, of which only the abstract was at hand: this is a reconstruction.)
 */
#include "algorithms/torus.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS_MAX = STRAG_TORUS_STEPS_MAX + 20, PARTS_MAX = 2 * STRAG_DIMS_MAX, NOBODY = -1 };

/* With more hosts fewer forms are compared, and none is evened out, so that a table is made soon.
 */
enum { MANY_HOSTS = 256 };

/* ---- One list ---- */

/* A list of ranks with a common distance in a dimension. */
struct list {
    int size, index; /* of the rank */
    int offset, stride;
    bool wrap; /* the last one and the first are neighbours, and of different lists */
};

/* How many lists it falls into. */
static int lists_of(const struct list *list)
{
    return list->size < 3 ? list->size : 3;
}

/* The members of the list that the rank at an index goes to. */
static int members(const struct list *list, int which)
{
    return (list->size - which + 2) / 3;
}

/* The place in the list from which `index` gets what another list has: one beside it, if it can. */
static int source(const struct list *list, int index, int which)
{
    int step = (which - index % 3 + 3) % 3 == 1 ? 1 : -1;
    int place = index + step;
    if (list->wrap)
        return (place + list->size) % list->size;
    return place >= 0 && place < list->size ? place : index - 2 * step;
}

/* The places that get from `index` what its list has, at most 4. @return how many */
static int targets(const struct list *list, int *places)
{
    static const int away[] = {-1, 1, -2, 2};
    int count = 0;
    for (int a = 0; a < 4; a++) {
        int place = list->index + away[a];
        if (list->wrap)
            place = (place + 2 * list->size) % list->size;
        if (place < 0 || place >= list->size || place % 3 == list->index % 3)
            continue;
        bool seen = false;
        for (int i = 0; i < count; i++)
            seen = seen || places[i] == place;
        if (!seen && source(list, place, list->index % 3) == list->index)
            places[count++] = place;
    }
    return count;
}

/* ---- Dimensions ---- */

/* What all ranks of a problem share. */
struct trivance {
    struct strag_torus torus;
    int parts;
    bool halves;       /* the second half of the parts is numbered from the opposite places on */
    bool even;         /* no list lacks a neighbour, and none falls into two but the last ones */
    int steps;         /* the first local_steps of them within hosts */
    int local_steps;   /* these always divide */
    int scatter_steps; /* so many divide; if all do there is a block for each rank in every part */
    int blocks;        /* of one part */
    struct strag_torus_step step[PARTS_MAX][STEPS_MAX]; /* dim torus.dims: within the host */
};

static int log3_ceil(int n)
{
    int log = 0;
    for (int64_t power = 1; power < n; power *= 3)
        log++;
    return log;
}

static int power_of_3(int exponent)
{
    static const int powers[] = {1,        3,        9,         27,        81,
                                 243,      729,      2187,      6561,      19683,
                                 59049,    177147,   531441,    1594323,   4782969,
                                 14348907, 43046721, 129140163, 387420489, 1162261467};
    return powers[exponent];
}

static int dimension_size(const struct strag_torus *torus, int dim)
{
    return dim < torus->dims ? torus->size[dim] : torus->local;
}

/* 3^a or 2 * 3^a, round a ring: then all lists of a step are of the same size, which is divided by
 * 3 until it is 2. */
static bool is_even(const struct strag_torus *torus, int dim)
{
    int size = torus->size[dim];
    while (size % 3 == 0)
        size /= 3;
    return size <= 2 && torus->wrap[dim];
}

/* In how many ranges a step divides: the same in all lists of a dimension, or 0 if they differ. */
static int ranges_of(const struct strag_torus *torus, struct strag_torus_step step)
{
    int size = torus->size[step.dim], stride = power_of_3(step.level);
    if (size / stride >= 3)
        return 3;
    return size % stride == 0 ? size / stride : 0;
}

/* Blocks of a part where the first `scatter` steps among hosts divide; 0: they cannot. */
static int count_blocks(const struct trivance *trivance, int part, int scatter)
{
    int blocks = trivance->torus.local;
    for (int s = 0; s < scatter; s++)
        blocks *= ranges_of(&trivance->torus, trivance->step[part][trivance->local_steps + s]);
    return blocks;
}

/* The most steps, up to so many, that divide all parts into as many blocks. */
static int same_steps(const struct trivance *trivance, int scatter)
{
    for (; scatter > 0; scatter--) {
        int part = 0, blocks = count_blocks(trivance, 0, scatter);
        while (part < trivance->parts && count_blocks(trivance, part, scatter) == blocks)
            part++;
        if (blocks > 0 && part == trivance->parts)
            break;
    }
    return scatter;
}

/* @param scatter  steps among hosts that divide, or fewer if so many cannot; all of them: they can
 * in any case */
static void lay_out(const struct strag_problem *problem, int scatter, struct trivance *trivance)
{
    struct strag_torus torus = strag_torus_of(problem);
    int levels[STRAG_DIMS_MAX];
    *trivance = (struct trivance){.torus = torus, .even = torus.local <= 3};
    bool rings = false;
    for (int d = 0; d < torus.dims; d++) {
        levels[d] = log3_ceil(torus.size[d]);
        trivance->even = trivance->even && is_even(&torus, d);
        rings = rings || (torus.wrap[d] && !is_even(&torus, d));
    }
    trivance->halves = torus.parts > 1 && rings && torus.hosts <= MANY_HOSTS;
    trivance->parts = torus.parts > 1 ? torus.dims * (trivance->halves ? 2 : 1) : 1;
    trivance->local_steps = log3_ceil(torus.local);
    for (int part = 0; part < trivance->parts; part++) {
        struct strag_torus_step *step = trivance->step[part];
        for (int s = 0; s < trivance->local_steps; s++)
            step[s] = (struct strag_torus_step){torus.dims, s};
        step += trivance->local_steps;
        int count = torus.dims ? strag_torus_turns(&torus, part % torus.dims, levels, step) : 0;
        trivance->steps = trivance->local_steps + count;
    }
    bool all = scatter >= trivance->steps - trivance->local_steps;
    scatter = all ? scatter : same_steps(trivance, scatter);
    trivance->scatter_steps = all ? trivance->steps : trivance->local_steps + scatter;
    trivance->blocks = all ? problem->n : count_blocks(trivance, 0, scatter);
}

/* ---- A rank's way ---- */

/* A rank's way through all steps of one part. */
struct walk {
    const struct trivance *trivance;
    int part, cell, local;
    int at[STRAG_DIMS_MAX + 1]; /* coordinates, as the part numbers them */
    int first[STEPS_MAX + 1];   /* the blocks of its list before each step, and in the end */
    int count[STEPS_MAX + 1];
};

/* Where a part begins to count the ranks of a dimension. */
static int shift(const struct walk *walk, int dim)
{
    const struct strag_torus *torus = &walk->trivance->torus;
    bool second = walk->trivance->halves && walk->part >= torus->dims;
    return second && dim < torus->dims && torus->wrap[dim] ? torus->size[dim] / 2 : 0;
}

static struct list find_list(const struct walk *walk, int step)
{
    const struct strag_torus *torus = &walk->trivance->torus;
    struct strag_torus_step s = walk->trivance->step[walk->part][step];
    int size = dimension_size(torus, s.dim), at = walk->at[s.dim];
    struct list list = {.stride = power_of_3(s.level)};
    list.offset = at % list.stride;
    list.index = at / list.stride;
    list.size = (size - list.offset - 1) / list.stride + 1;
    list.wrap = s.dim < torus->dims && torus->wrap[s.dim] && list.size % 3 == 0;
    return list;
}

/* The blocks of one of the lists that a list falls into, while these are divided. */
static struct strag_range range_of(const struct walk *walk, int step, const struct list *list,
                                   int which)
{
    const struct trivance *trivance = walk->trivance;
    struct strag_range range = {walk->first[step], 0};
    bool by_ranks = step < trivance->local_steps || trivance->scatter_steps == trivance->steps;
    int unit = walk->count[step] / (by_ranks ? list->size : lists_of(list));
    for (int l = 0; l <= which; l++) {
        range.first += range.count;
        range.count = unit * (by_ranks ? members(list, l) : 1);
    }
    return range;
}

static void find_walk(const struct trivance *trivance, int part, int rank, struct walk *walk)
{
    const struct strag_torus *torus = &trivance->torus;
    *walk = (struct walk){.trivance = trivance, .part = part};
    walk->cell = strag_torus_cell(torus, rank, &walk->local);
    for (int d = 0; d < torus->dims; d++)
        walk->at[d] =
            (strag_torus_coordinate(torus, walk->cell, d) + shift(walk, d)) % torus->size[d];
    walk->at[torus->dims] = walk->local;
    walk->first[0] = part * trivance->blocks;
    walk->count[0] = trivance->blocks;
    for (int s = 0; s < trivance->steps; s++) {
        struct strag_range range = {walk->first[s], walk->count[s]};
        struct list list = find_list(walk, s);
        if (s < trivance->scatter_steps && list.size > 1)
            range = range_of(walk, s, &list, list.index % 3);
        walk->first[s + 1] = range.first;
        walk->count[s + 1] = range.count;
    }
}

/* The rank at a place in the list of a step. */
static int rank_at(const struct walk *walk, int step, const struct list *list, int place)
{
    const struct strag_torus *torus = &walk->trivance->torus;
    int dim = walk->trivance->step[walk->part][step].dim;
    int at = list->offset + place * list->stride;
    if (dim == torus->dims)
        return strag_torus_rank(torus, walk->cell, at);
    at = (at + torus->size[dim] - shift(walk, dim)) % torus->size[dim];
    return strag_torus_rank(torus, strag_torus_move(torus, walk->cell, dim, at), walk->local);
}

/* ---- One step ---- */

enum stage { SCATTER, SWAP, GATHER };

/* To all who want what the rank's list has. */
static void send_to_targets(const struct walk *walk, int step, const struct list *list, int round,
                            struct strag_builder *builder)
{
    int places[4], count = targets(list, places);
    for (int i = 0; i < count; i++)
        strag_send(builder, round, rank_at(walk, step, list, places[i]), walk->first[step + 1],
                   walk->count[step + 1]);
}

static void build_scatter(const struct walk *walk, int step, const struct list *list, int round,
                          struct strag_builder *builder)
{
    int places[4], count = targets(list, places);
    for (int which = 0; which < lists_of(list); which++) {
        struct strag_range range = range_of(walk, step, list, which);
        if (which != list->index % 3)
            strag_send(builder, round, rank_at(walk, step, list, source(list, list->index, which)),
                       range.first, range.count);
    }
    for (int i = 0; i < count; i++)
        strag_recv_reduce(builder, round, rank_at(walk, step, list, places[i]),
                          walk->first[step + 1], walk->count[step + 1]);
}

static void build_gather(const struct walk *walk, int step, const struct list *list, int round,
                         struct strag_builder *builder)
{
    send_to_targets(walk, step, list, round, builder);
    for (int which = 0; which < lists_of(list); which++) {
        struct strag_range range = range_of(walk, step, list, which);
        if (which != list->index % 3)
            strag_recv(builder, round, rank_at(walk, step, list, source(list, list->index, which)),
                       range.first, range.count);
    }
}

/* All add the lists' sums in the same order. */
static void build_swap(const struct walk *walk, int step, const struct list *list, int round,
                       struct strag_builder *builder)
{
    int mine = list->index % 3, first = walk->first[step], count = walk->count[step];
    int from[3] = {NOBODY, NOBODY, NOBODY};
    send_to_targets(walk, step, list, round, builder);
    for (int which = 0; which < lists_of(list); which++) {
        if (which != mine)
            from[which] = rank_at(walk, step, list, source(list, list->index, which));
    }
    if (mine == 2) {
        strag_recv_hold(builder, round, from[0], first, count);
        strag_recv_join(builder, round, from[1], first, count);
        return;
    }
    if (mine == 1)
        strag_recv_reduce(builder, round, from[0], first, count);
    else
        strag_recv_reduce_right(builder, round, from[1], first, count);
    if (from[2] != NOBODY)
        strag_recv_reduce_right(builder, round, from[2], first, count);
}

static void build_step(const struct walk *walk, int step, enum stage stage, int round,
                       struct strag_builder *builder)
{
    struct list list = find_list(walk, step);
    if (list.size == 1)
        return;
    if (stage == SCATTER)
        build_scatter(walk, step, &list, round, builder);
    else if (stage == SWAP)
        build_swap(walk, step, &list, round, builder);
    else
        build_gather(walk, step, &list, round, builder);
}

/* Steps first, first + 1 .. last, or first, first - 1 .. last, of all parts. @return the next round
 */
static int build_stage(const struct walk *walks, enum stage stage, int first, int last, int round,
                       struct strag_builder *builder)
{
    static const char *const names[] = {"reduce-scatter", "swap", "allgather"};
    const struct strag_rounds wanted = strag_rounds_wanted(builder);
    const int parts = walks[0].trivance->parts, way = stage == SCATTER ? 1 : -1;
    if (way * (last - first) >= 0)
        strag_stage(builder, names[stage]);
    for (int s = first; way * (last - s) >= 0; s += way, round++) {
        for (int part = 0; strag_is_wanted(wanted, round) && part < parts; part++)
            build_step(&walks[part], s, stage, round, builder);
    }
    return round;
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct trivance *trivance = problem->prepared;
    struct walk walks[PARTS_MAX];
    int divided = trivance->scatter_steps, part = 0;
    do /* there is one part at least */
        find_walk(trivance, part, rank, &walks[part]);
    while (++part < trivance->parts);
    int round = build_stage(walks, SCATTER, 0, divided - 1, 0, builder);
    round = build_stage(walks, SWAP, trivance->steps - 1, divided, round, builder);
    build_stage(walks, GATHER, divided - 1, 0, round, builder);
}

/* ---- What both rows share ---- */

static int prepare_form(const struct strag_problem *problem, int scatter, void **prepared,
                        struct strag_error *err)
{
    struct trivance *trivance = malloc(sizeof *trivance);
    if (!trivance)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the steps of %d ranks",
                          problem->n);
    lay_out(problem, scatter, trivance);
    *prepared = trivance;
    return STRAG_OK;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct trivance *trivance = problem->prepared;
    *claim = (struct strag_claim){
        .rounds = trivance->steps + trivance->scatter_steps,
        .blocks = trivance->parts * trivance->blocks,
        .in_step = trivance->scatter_steps > 0 && trivance->even,
    };
}

/* In blocks. */
static int64_t sent(const struct walk *walk)
{
    const struct trivance *trivance = walk->trivance;
    int64_t blocks = 0;
    for (int s = 0; s < trivance->steps; s++) {
        struct list list = find_list(walk, s);
        int places[4];
        if (list.size == 1)
            continue;
        blocks += (int64_t)targets(&list, places) * walk->count[s + 1];
        if (s < trivance->scatter_steps)
            blocks += walk->count[s] - walk->count[s + 1];
    }
    return blocks;
}

/* At the ends of lists more than elsewhere. */
static double sent_max(const struct strag_problem *problem)
{
    const struct trivance *trivance = problem->prepared;
    int64_t most = 0;
    for (int rank = 0; rank < problem->n; rank++) {
        int64_t sum = 0;
        for (int part = 0; part < trivance->parts; part++) {
            struct walk walk;
            find_walk(trivance, part, rank, &walk);
            sum += sent(&walk);
        }
        most = sum > most ? sum : most;
    }
    return (double)most / ((double)trivance->parts * trivance->blocks);
}

/* All lists move on by one. */
static int like(const struct strag_problem *problem, enum strag_machine machine, int rank)
{
    const struct trivance *trivance = problem->prepared;
    int local;
    strag_torus_cell(&trivance->torus, rank, &local);
    if (machine != STRAG_MACHINE_TORUS || !trivance->even)
        return rank;
    return strag_torus_rank(&trivance->torus, 0, local);
}

/* Several messages leave by one link at once, which takes as long as one after the other, but the
 * model counts one latency for all. */
static bool has_one_port(const struct strag_problem *problem)
{
    return strag_torus_of(problem).parts == 1;
}

/* Where all dimensions are 16, 32, 64, .. Swing has no list of odd size, and here the ends of lists
 * lead as far as what its additional steps cost. */
static bool adds_nothing(const struct strag_problem *problem)
{
    struct strag_torus torus = strag_torus_of(problem);
    int d = 0;
    while (d < torus.dims && torus.size[d] >= 16 && (torus.size[d] & (torus.size[d] - 1)) == 0)
        d++;
    return d == torus.dims || has_one_port(problem);
}

/* ---- trivance: the number of blocks selects the form ---- */

enum { ALL_QUARTERS = 4 };

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    return strag_torus_check(problem, problem->algorithm->name, problem->n, err);
}

/* So many quarters of the steps among hosts divide, rounded. */
static int dividing_steps(const struct strag_problem *problem, int quarters)
{
    struct strag_torus torus = strag_torus_of(problem);
    int steps = 0;
    for (int d = 0; d < torus.dims; d++)
        steps += log3_ceil(torus.size[d]);
    return (steps * quarters + 2) / ALL_QUARTERS;
}

static int blocks_of_form(const struct strag_problem *problem, int scatter)
{
    struct trivance trivance;
    lay_out(problem, scatter, &trivance);
    return trivance.parts * trivance.blocks;
}

static int prepare(const struct strag_problem *problem, void **prepared, struct strag_error *err)
{
    char list[ALL_QUARTERS * 16] = "";
    for (int quarters = ALL_QUARTERS, before = 0, length = 0; quarters > 0; quarters--) {
        int scatter = dividing_steps(problem, quarters);
        int blocks = blocks_of_form(problem, scatter);
        if (problem->blocks == 0 || problem->blocks == blocks)
            return prepare_form(problem, scatter, prepared, err);
        if (blocks != before)
            length += snprintf(list + length, sizeof list - (size_t)length, "%s%d",
                               length ? " or " : "", blocks);
        before = blocks;
    }
    return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                      "trivance cuts the vector of %d ranks into %s blocks; %d is not possible",
                      problem->n, list, problem->blocks);
}

/* All steps; and each of the other forms once, but for the one that is trivance-latency. Where
 * hosts are many, and none stands for all, half of the steps only. */
static int choices(const struct strag_problem *problem, int *blocks)
{
    struct trivance all;
    lay_out(problem, dividing_steps(problem, ALL_QUARTERS), &all);
    const int most = all.parts * all.blocks;
    const bool few = all.torus.hosts > MANY_HOSTS && !all.even;
    int count = 0, last = blocks_of_form(problem, 0);
    if (!few)
        blocks[count++] = 0;
    for (int quarters = few ? 2 : 1; quarters < (few ? 3 : ALL_QUARTERS); quarters++) {
        int form = blocks_of_form(problem, dividing_steps(problem, quarters));
        if (form > last && form < most)
            blocks[count++] = last = form;
    }
    if (count == 0)
        blocks[count++] = 0;
    return count;
}

const struct strag_algorithm strag_trivance = {
    .name = "trivance",
    .summary = "threes on rings swap both ways; at middle sizes they divide in the first steps",
    .rounds = "2 sum ceil(log3 d_i)",
    .sent = "2(n-1)/n, d_i = 3^k",
    .check = check,
    .adds_nothing = adds_nothing,
    .on_request = has_one_port,
    .prepare = prepare,
    .release = free,
    .choices = choices,
    .claim = claim,
    .sent_max = sent_max,
    .build = build,
    .like = like,
};

/* ---- trivance-latency: only the steps within hosts divide ---- */

static int prepare_latency(const struct strag_problem *problem, void **prepared,
                           struct strag_error *err)
{
    return prepare_form(problem, 0, prepared, err);
}

const struct strag_algorithm strag_trivance_latency = {
    .name = "trivance-latency",
    .summary = "threes on rings swap whole vectors both ways; fewest rounds on a torus",
    .rounds = "sum ceil(log3 d_i)",
    .sent = "2 sum ceil(log3 d_i)",
    .check = check,
    .adds_nothing = adds_nothing,
    .on_request = has_one_port,
    .prepare = prepare_latency,
    .release = free,
    .claim = claim,
    .sent_max = sent_max,
    .build = build,
    .like = like,
};
