/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists that are split in two again and again (swing_walk.h).
 */
#include "algorithms/swing_walk.h"

/* ---- One list ---- */

/* The pair of a place in the lower list of a ring, which runs backwards. With an even number of
 * pairs the first stays first, since the next step pairs it round the end. Self-inverse. */
static int turn(int pairs, int number)
{
    return pairs % 2 ? pairs - 1 - number : (pairs - number) % pairs;
}

static bool is_left_over(int size, int index)
{
    return size % 2 && index == size - 1;
}

static bool is_upper(int size, int index)
{
    if (is_left_over(size, index))
        return true;
    return (index / 2 + index) % 2;
}

/* Turn a place in a list into a place in the lower or upper list that it goes to. */
static int fall(int size, int index)
{
    bool lower = !is_upper(size, index);
    return lower ? turn(size / 2, index / 2) : index / 2;
}

/* The inverse of `fall`. */
static int rise(int size, bool upper, int index)
{
    int pairs = size / 2;
    if (index == pairs)
        return size - 1;
    int pair = upper ? index : turn(pairs, index);
    return 2 * pair + (upper ? 1 - pair % 2 : pair % 2);
}

/* How many of a list's blocks belong to the lower list: half of them, or in a list of odd size the
 * blocks of as many ranks as that has. */
static int lower_blocks(int size, int count)
{
    return size % 2 ? count / size * (size / 2) : count / 2;
}

/* ---- Dimensions ---- */

static int dimension_size(const struct strag_torus *torus, int dim)
{
    return dim < torus->dims ? torus->size[dim] : torus->local;
}

/* Turn a coordinate into a place in the list, or back. Mirrored parts use the links that plain ones
 * leave idle: on a ring of even size they pair 0 with the last rank; on one of odd size the rank at
 * the other end is left over. */
static int mirror(const struct strag_swing *swing, int part, int dim, int coordinate)
{
    const struct strag_torus *torus = &swing->torus;
    int size = dimension_size(torus, dim);
    if (part < torus->dims || dim == torus->dims || torus->parts == 1)
        return coordinate;
    return size % 2 ? size - 1 - coordinate : (size - coordinate) % size;
}

/* How many steps among hosts there are, up to `most`, before any part has a list of odd size. */
static int even_steps(const struct strag_swing *swing, int most)
{
    const struct strag_torus *torus = &swing->torus;
    for (int part = 0; part < torus->parts; part++) {
        int size[STRAG_DIMS_MAX];
        for (int d = 0; d < torus->dims; d++)
            size[d] = torus->size[d];
        for (int s = 0; s < most; s++) {
            int d = swing->dim[part][swing->local_steps + s];
            if (size[d] % 2)
                most = s;
            size[d] /= 2;
        }
    }
    return most;
}

void strag_swing_lay_out(const struct strag_problem *problem, int scatter,
                         struct strag_swing *swing)
{
    struct strag_torus_step order[STRAG_TORUS_STEPS_MAX];
    struct strag_torus torus = strag_torus_of(problem);
    swing->torus = torus;
    swing->local_steps = strag_log2_ceil(torus.local);
    for (int part = 0; part < torus.parts; part++) {
        int count = torus.dims ? strag_torus_steps(&torus, part % torus.dims, order) : 0;
        for (int s = 0; s < swing->local_steps; s++)
            swing->dim[part][s] = (uint8_t)torus.dims;
        for (int s = 0; s < count; s++)
            swing->dim[part][swing->local_steps + s] = (uint8_t)order[s].dim;
        swing->steps = swing->local_steps + count;
    }
    bool all = scatter >= swing->steps - swing->local_steps;
    int even = all ? scatter : even_steps(swing, scatter);
    swing->blocks = all ? problem->n : torus.local << even;
    swing->scatter_steps = all ? swing->steps : swing->local_steps + even;
}

bool strag_swing_is_even(const struct strag_swing *swing)
{
    const struct strag_torus *torus = &swing->torus;
    bool even = true;
    for (int d = 0; d <= torus->dims; d++) {
        int size = dimension_size(torus, d);
        even = even && (size & (size - 1)) == 0;
    }
    return even;
}

/* How many steps of a part's dimension divide the blocks; these come first. */
static int divided(const struct strag_swing *swing, int part, int dim)
{
    int count = 0;
    for (int s = 0; s < swing->scatter_steps; s++)
        count += swing->dim[part][s] == dim;
    return count;
}

/* Messages sent by the rank at a place in a list, in all steps but the first `without`. */
static int messages(int size, int index, int without)
{
    int count = 0;
    for (int step = 0; size > 1; step++) {
        bool upper = is_upper(size, index);
        if (step >= without && !is_left_over(size, index))
            count += size % 2 && index == 0 ? 2 : 1;
        index = fall(size, index);
        size = upper ? size - size / 2 : size / 2;
    }
    return count;
}

double strag_swing_messages(const struct strag_swing *swing, int dim)
{
    int size = dimension_size(&swing->torus, dim), parts = swing->torus.parts, most = 0;
    /* With one part there are always as many as steps: the first rank of an odd list sends one
     * more, but has been alone, or will be left over, in another list. */
    if (parts == 1)
        return strag_log2_ceil(size) - divided(swing, 0, dim);
    for (int at = 0; at < size; at++) {
        int sum = 0;
        for (int part = 0; part < parts; part++)
            sum += messages(size, mirror(swing, part, dim, at), divided(swing, part, dim));
        most = sum > most ? sum : most;
    }
    return (double)most / parts;
}

/* ---- A rank's way ---- */

void strag_swing_walk(const struct strag_swing *swing, int part, int rank,
                      struct strag_swing_walk *walk)
{
    const struct strag_torus *torus = &swing->torus;
    int size[STRAG_DIMS_MAX + 1], index[STRAG_DIMS_MAX + 1];
    *walk = (struct strag_swing_walk){.swing = swing, .part = part};
    walk->cell = strag_torus_cell(torus, rank, &walk->local);
    for (int d = 0; d <= torus->dims; d++) {
        int at = d < torus->dims ? strag_torus_coordinate(torus, walk->cell, d) : walk->local;
        size[d] = dimension_size(torus, d);
        index[d] = mirror(swing, part, d, at);
    }
    int first = part * swing->blocks, count = swing->blocks;
    for (int s = 0; s < swing->steps; s++) {
        int d = swing->dim[part][s];
        walk->place[s] = (struct strag_swing_place){size[d], index[d], first, count};
        if (size[d] == 1)
            continue;
        bool upper = is_upper(size[d], index[d]);
        int low = lower_blocks(size[d], count);
        index[d] = fall(size[d], index[d]);
        size[d] = upper ? size[d] - size[d] / 2 : size[d] / 2;
        if (s < swing->scatter_steps) {
            first += upper ? low : 0;
            count = upper ? count - low : low;
        }
    }
    walk->first = first;
    walk->count = count;
}

/* The rank at a place in the list of a step. */
static int rank_at(const struct strag_swing_walk *walk, int step, int index)
{
    const struct strag_swing *swing = walk->swing;
    const struct strag_torus *torus = &swing->torus;
    int d = swing->dim[walk->part][step];
    for (int s = step - 1; s >= 0; s--) {
        const struct strag_swing_place *place = &walk->place[s];
        if (swing->dim[walk->part][s] == d)
            index = rise(place->size, is_upper(place->size, place->index), index);
    }
    int at = mirror(swing, walk->part, d, index);
    if (d == torus->dims)
        return strag_torus_rank(torus, walk->cell, at);
    return strag_torus_rank(torus, strag_torus_move(torus, walk->cell, d, at), walk->local);
}

struct strag_swing_meeting strag_swing_meet(const struct strag_swing_walk *walk, int step)
{
    const struct strag_swing_place *place = &walk->place[step];
    int size = place->size, index = place->index;
    struct strag_swing_meeting meeting = {
        .pairs = size / 2,
        .pair = index / 2,
        .upper = is_upper(size, index),
        .peer = -1,
        .left_over = -1,
        .first = place->first,
        .low = lower_blocks(size, place->count),
        .unit = place->count / size,
    };
    if (meeting.pair < meeting.pairs)
        meeting.peer = rank_at(walk, step, index ^ 1);
    if (size % 2 && !meeting.upper)
        meeting.left_over = rank_at(walk, step, size - 1);
    return meeting;
}

int strag_swing_lower(const struct strag_swing_walk *walk, int step, int pair)
{
    return rank_at(walk, step, 2 * pair + pair % 2);
}
