/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hamiltonian rings: a torus of two dimensions has two cycles, each through all hosts, that share
 * no link. Each cycle has a ring (ring.c) in each direction, so that all four links of a host are
 * always busy in both directions. 1 port drives one of the four rings, 2 ports both rings of the
 * first cycle.
 *
 * Such cycles exist if both sizes are at least 3 (Kotzig), and on 2 x d hosts if d is even. Rows
 * are counted along the longer dimension: R rows of C columns. Start with all links of the rows for
 * the first cycle and all links of the columns for the second. A switch at (i, j) gives the four
 * links of the square between rows i, i+1 and columns j, j+1 to the other cycle:
 *
 *     first cycle     before  o---o    after  o   o    rows i and i+1 become one
 *                                             |   |
 *                             o---o           o   o
 *
 * and columns j and j+1 of the second cycle likewise. One switch in every row but the last joins
 * all rows. No two of them may have a link in common, so a switch and the next one must be in
 * different columns. Switches at (0, 0), (1, 1), .. (C-2, C-2) join all columns. For other rows:
 *
 *     R - C even     ... then the columns C-3, C-2, C-3, C-2, ...: two more switches leave one
 *                    cycle, as three strands bent at j, j+1, j run like strands bent at j only
 *     R odd          also (in this way) in the last row: a cycle that runs through the rows R-1 and
 *     (C even)       0 in the same direction stays one cycle
 *     C odd          one more column first, C-1, which bends columns C-1 and 0: they run in the
 *     (R even)       same direction; then the columns C-2, C-1, C-2, C-1, ...
 *
 * A torus of 4 x 4, switches at (0, 0), (1, 1), (2, 2); o-o and | are the first cycle, links to the
 * right and below; the second cycle has the other links. And the two cycles on 2 x d hosts:
 *
 *       o   o---o---o--         (0,0) (0,1) (1,1) (1,0) (2,0) (2,1) ..
 *       |   |                   (0,1) (0,0) (1,0) (1,1) (2,1) (2,0) ..
 *       o   o   o---o--
 *           |   |
 *     --o---o   o   o--
 *               |   |
 *     --o---o---o   o--
 *
 * In one dimension, and without a torus, all hosts are one cycle; 2 ports drive both ways round.
 *
 * Rounds 2(n-1), each rank sends 2(n-1)/n of the vector. There is one rank per host. (Hoefler et
 * al., "HammingMesh", for C dividing R and gcd(R, C-1) = 1.)
 */
#include "algorithms/ring.h"
#include "algorithms/torus.h"
#include "algorithms/tree.h"

#include <limits.h>
#include <stdlib.h>

/* Clockwise; the opposite heading is two further. */
enum heading { UP, RIGHT, DOWN, LEFT };

struct plane {
    struct strag_torus torus;
    int row, column;   /* the dimension along which rows, or columns, are counted */
    int rows, columns; /* how many there are */
    int head;          /* how many switches there are on the diagonal */
    int switches;      /* of the rows 0 .. switches - 1 */
    int parts;
};

/* Prepared for each of the two cycles: [place] has the cell there, [cell] has its place. */
struct step {
    int32_t cell, place;
};

static struct plane find_plane(const struct strag_problem *problem)
{
    struct plane plane = {.torus = strag_torus_of_ranks(problem)};
    plane.row = plane.torus.size[0] < plane.torus.size[1];
    plane.column = !plane.row;
    plane.rows = plane.torus.size[plane.row];
    plane.columns = plane.torus.dims == 2 ? plane.torus.size[plane.column] : 1;
    bool mixed = (plane.rows - plane.columns) % 2 != 0;
    plane.head = mixed && plane.columns % 2 ? plane.columns : plane.columns - 1;
    plane.switches = mixed && plane.rows % 2 ? plane.rows : plane.rows - 1;
    strag_torus_set_ports(problem, problem->n, &plane.torus);
    plane.parts = problem->ports ? problem->ports : plane.torus.parts;
    return plane;
}

static int check_topology(const struct strag_problem *problem, const struct plane *plane,
                          struct strag_error *err)
{
    const struct strag_torus *torus = &plane->torus;
    int status = strag_torus_check_hosts(problem, err);
    if (status != STRAG_OK)
        return status;
    if (torus->dims > 2 || !torus->wrap[0] || (torus->dims == 2 && !torus->wrap[1]))
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "hamiltonian needs a whole torus of one or two dimensions");
    if (plane->columns == 2 && plane->rows % 2)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "hamiltonian needs two sizes of at least 3, or 2 and an even one; on "
                          "%d x 2 hosts no two cycles are without a common link",
                          plane->rows);
    return STRAG_OK;
}

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    struct plane plane = find_plane(problem);
    int parts = plane.parts, most = plane.torus.dims == 2 ? 4 : 2;
    int status = problem->n > 1 ? check_topology(problem, &plane, err) : STRAG_OK;
    if (status != STRAG_OK)
        return status;
    if (parts > most || (parts != 1 && parts != 2 && parts != 4))
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "hamiltonian drives %s ports here, not %d",
                          most == 4 ? "1, 2 or 4" : "1 or 2", parts);
    if (problem->n > INT_MAX / 4)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "hamiltonian counts blocks of up to %d ranks, not %d", INT_MAX / 4,
                          problem->n);
    return STRAG_OK;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    struct plane plane = find_plane(problem);
    int n = problem->n;
    *claim = (struct strag_claim){
        .rounds = 2 * (n - 1),
        .blocks = n * plane.parts,
        .sent_max = 2.0 * (n - 1) / n,
        .ports = plane.parts,
    };
}

/* ---- The cycles ---- */

struct place {
    int row, column;
};

static struct place moved(const struct plane *plane, struct place place, enum heading heading)
{
    int down = heading == DOWN ? 1 : heading == UP ? plane->rows - 1 : 0;
    int right = heading == RIGHT ? 1 : heading == LEFT ? plane->columns - 1 : 0;
    return (struct place){(place.row + down) % plane->rows,
                          (place.column + right) % plane->columns};
}

/* The left column of the switch between a row and the next, or -1. */
static int switch_column(const struct plane *plane, int row)
{
    if (row >= plane->switches)
        return -1;
    return row < plane->head ? row : plane->head - 2 + (row - plane->head) % 2;
}

/* On 2 x d hosts: is this one of the first cycle's two links at a place? */
static bool zigzag_has(struct place place, enum heading heading)
{
    if (place.row % 2 == 0)
        return place.column == 0 ? heading == UP || heading == RIGHT
                                 : heading == LEFT || heading == DOWN;
    return place.column == 1 ? heading == UP || heading == LEFT
                             : heading == RIGHT || heading == DOWN;
}

/* Does the first cycle have this link? If not, the second one has. */
static bool first_has(const struct plane *plane, struct place place, enum heading heading)
{
    if (plane->columns == 2)
        return zigzag_has(place, heading);
    struct place left = heading == LEFT ? moved(plane, place, LEFT) : place;
    struct place above = moved(plane, place, UP);
    int here = switch_column(plane, heading == UP ? above.row : place.row);
    if (heading == UP || heading == DOWN)
        return here >= 0 && (place.column == here || place.column == (here + 1) % plane->columns);
    return left.column != here && left.column != switch_column(plane, above.row);
}

/* The heading of the cycle's first link, clockwise from the top, except the heading behind. */
static enum heading next_heading(const struct plane *plane, int cycle, struct place place,
                                 int behind)
{
    int heading = UP;
    while (heading == behind || first_has(plane, place, (enum heading)heading) == (cycle == 1))
        heading++;
    return (enum heading)heading;
}

static void walk(const struct plane *plane, int cycle, struct step *steps)
{
    const struct strag_torus *torus = &plane->torus;
    struct place place = {0, 0};
    enum heading heading = torus->dims == 2 ? next_heading(plane, cycle, place, -1) : DOWN;
    for (int i = 0; i < torus->hosts; i++) {
        int cell =
            place.row * torus->stride[plane->row] + place.column * torus->stride[plane->column];
        steps[i].cell = cell;
        steps[cell].place = i;
        place = moved(plane, place, heading);
        if (torus->dims == 2)
            heading = next_heading(plane, cycle, place, (int)(heading + 2) % 4);
    }
}

static int prepare(const struct strag_problem *problem, void **prepared, struct strag_error *err)
{
    struct plane plane = find_plane(problem);
    size_t n = (size_t)problem->n;
    struct step *steps = malloc(2 * n * sizeof *steps);
    if (!steps)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for two cycles of %zu hosts", n);
    walk(&plane, 0, steps);
    walk(&plane, 1, steps + n);
    *prepared = steps;
    return STRAG_OK;
}

/* ---- The rings ---- */

/* A rank's place in the ring of one part. */
static struct strag_ring_place find_place(const struct plane *plane, const struct step *steps,
                                          int rank, int part)
{
    int local, n = plane->torus.hosts;
    steps += part / 2 ? n : 0;
    int place = steps[strag_torus_cell(&plane->torus, rank, &local)].place;
    int up = strag_torus_rank(&plane->torus, steps[(place + 1) % n].cell, 0);
    int down = strag_torus_rank(&plane->torus, steps[(place + n - 1) % n].cell, 0);
    bool backwards = part % 2;
    return (struct strag_ring_place){
        .at = backwards ? n - 1 - place : place,
        .size = n,
        .next = backwards ? down : up,
        .previous = backwards ? up : down,
        .first = part * n,
        .chunk = 1,
    };
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    struct plane plane = find_plane(problem);
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    struct strag_ring_place places[4];
    int half = problem->n - 1;
    for (int part = 0; part < plane.parts; part++)
        places[part] = find_place(&plane, problem->prepared, rank, part);
    for (int t = wanted.first; t < 2 * half && t < wanted.end; t++) {
        for (int part = 0; part < plane.parts; part++)
            strag_ring_step(&places[part], t % half, t >= half, t, builder);
    }
}

static int choices(const struct strag_problem *problem, int *blocks)
{
    const struct strag_torus torus = strag_torus_of_ranks(problem);
    return strag_torus_choices(problem, &torus, problem->n, blocks);
}

static int same_rounds(const struct strag_problem *problem, int round, int *period)
{
    (void)period;
    return strag_ring_same_rounds(problem->n, round);
}

const struct strag_algorithm strag_hamiltonian = {
    .name = "hamiltonian",
    .summary = "rings through all hosts; on a 2D torus four, on two cycles that share no link",
    .rounds = "2(n-1)",
    .sent = "2(n-1)/n",
    .check = check,
    .choices = choices,
    .prepare = prepare,
    .release = free,
    .adds_nothing = strag_tree_is_one_switch,
    .claim = claim,
    .build = build,
    .same_rounds = same_rounds,
};
