/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hamiltonian rings: on a torus of two dimensions two cycles, each through all hosts, that share no
 * link; a ring (ring.c) in each direction of each, so that all four links of a host are always busy
 * in both directions. With 1 port one of the four rings, with 2 both directions of the first cycle.
 *
 * Such cycles exist wherever both sizes are at least 3 (Kotzig), and on 2 x d hosts if d is even.
 * Rows are the longer dimension: R rows of C columns. Start with all links of the rows for the
 * first cycle and all links of the columns for the second. A switch at (i, j) gives the four links
 * of the square between rows i, i+1 and columns j, j+1 to the other cycle:
 *
 *     first cycle     before  o---o    after  o   o    rows i and i+1 become one
 *                                             |   |
 *                             o---o           o   o
 *
 * and columns j and j+1 of the second cycle likewise. One switch in every row but the last joins
 * all rows; no two of them may have a link in common, so that the columns of one and the next must
 * differ. Switches at (0, 0), (1, 1), .. (C-2, C-2) join all columns. For the rows that are left:
 *
 *     R - C even     ... then the columns C-3, C-2, C-3, C-2, ...: two switches more leave one
 *                    cycle, as three strands that are bent at j, j+1, j are only bent at j
 *     R odd          also (in this way) in the last row: a cycle that runs through the rows R-1 and
 *     (C even)       0 the same way stays one
 *     C odd          one more column first, C-1, which bends columns C-1 and 0: they run the same
 *     (R even)       way; then the columns C-2, C-1, C-2, C-1, ...
 *
 * A torus of 4 x 4, switches at (0, 0), (1, 1), (2, 2); o-o and | are the first cycle, links to the
 * right and below; the second cycle has the other links:
 *
 *       o   o---o---o--         Rows take turns in going right and left, columns in going down and
 *       |   |                   up, and the switches' links follow. Only where R or C alone is odd
 *       o   o   o---o--         one of the cycles (the first or the second) does not run so: there
 * a |   |               rank walks the cycle up to host 0 to see which way it is. So it does
 *     --o---o   o   o--         on 2 x d hosts, where the two cycles are
 *               |   |
 *     --o---o---o   o--         (0,0) (0,1) (1,1) (1,0) (2,0) ..  and  (0,1) (0,0) (1,0) (1,1) ..
 *
 * Each ring has a block for each host, named after the host that sends it first; a rank finds the
 * block of a round by walking its ring backwards.
 *
 * Rounds 2(n-1), each rank sends 2(n-1)/n of the vector. One rank per host. (Hoefler et al.,
 * "HammingMesh", for C dividing R and gcd(R, C-1) = 1; ALGORITHMS.md section 0.)
 */
#include "algorithm.h"

#include <limits.h>

/* Clockwise; the opposite is two further. */
enum heading { UP, RIGHT, DOWN, LEFT };

struct torus {
    const struct strag_box *box;
    int dims; /* with more than one host */
    int rows, columns;
    int row_stride, column_stride; /* in cells */
    int head;                      /* how many switches there are on the diagonal */
    int switches;                  /* of the rows 0 .. switches - 1 */
    int parts;
};

static struct torus find_torus(const struct strag_problem *problem)
{
    struct torus torus = {.rows = 1, .columns = 1};
    torus.box = problem->topology ? problem->topology->box : NULL;
    int stride = 1;
    for (int d = 0; torus.box && d < torus.box->dims; d++) {
        int size = torus.box->size[d];
        if (size > torus.rows) {
            torus.columns = torus.rows;
            torus.column_stride = torus.row_stride;
            torus.rows = size;
            torus.row_stride = stride;
        } else if (size > 1) {
            torus.columns = size;
            torus.column_stride = stride;
        }
        torus.dims += size > 1;
        stride *= size;
    }
    bool mixed = (torus.rows - torus.columns) % 2 != 0;
    torus.head = mixed && torus.columns % 2 ? torus.columns : torus.columns - 1;
    torus.switches = mixed && torus.rows % 2 ? torus.rows : torus.rows - 1;
    torus.parts = problem->ports ? problem->ports : 4;
    return torus;
}

static bool wraps(const struct strag_box *box)
{
    for (int d = 0; d < box->dims; d++) {
        if (box->size[d] > 1 && !box->wrap[d])
            return false;
    }
    return true;
}

static int check_torus(const struct torus *torus, struct strag_error *err)
{
    if (!torus->box || torus->dims != 2 || !wraps(torus->box))
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "hamiltonian needs a whole torus of two dimensions");
    if (torus->columns == 2 && torus->rows % 2)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "hamiltonian needs two sizes of at least 3, or 2 and an even one; on "
                          "%d x 2 hosts no two cycles are without a common link",
                          torus->rows);
    if (torus->box->ranks_per_host > 1)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "hamiltonian needs one rank per host, not %d",
                          torus->box->ranks_per_host);
    return STRAG_OK;
}

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    struct torus torus = find_torus(problem);
    int status = problem->n > 1 ? check_torus(&torus, err) : STRAG_OK;
    if (status != STRAG_OK)
        return status;
    if (torus.parts != 1 && torus.parts != 2 && torus.parts != 4)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "hamiltonian drives 1, 2 or 4 ports, not %d",
                          torus.parts);
    if (problem->n > INT_MAX / 4)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "hamiltonian counts blocks of up to %d ranks, not %d", INT_MAX / 4,
                          problem->n);
    return STRAG_OK;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    struct torus torus = find_torus(problem);
    int n = problem->n;
    *claim = (struct strag_claim){
        .rounds = 2 * (n - 1),
        .blocks = n * torus.parts,
        .sent_max = 2.0 * (n - 1) / n,
        .one_ported = torus.parts == 1,
    };
}

/* ---- The cycles ---- */

struct place {
    int row, column;
};

static struct place moved(const struct torus *torus, struct place place, enum heading heading)
{
    int down = heading == DOWN ? 1 : heading == UP ? torus->rows - 1 : 0;
    int right = heading == RIGHT ? 1 : heading == LEFT ? torus->columns - 1 : 0;
    return (struct place){(place.row + down) % torus->rows,
                          (place.column + right) % torus->columns};
}

/* The left column of the switch between a row and the next, or -1. */
static int switch_column(const struct torus *torus, int row)
{
    if (row >= torus->switches)
        return -1;
    return row < torus->head ? row : torus->head - 2 + (row - torus->head) % 2;
}

/* 2 x d: the first cycle's two links at a place. */
static bool zigzag_has(struct place place, enum heading heading)
{
    if (place.row % 2 == 0)
        return place.column == 0 ? heading == UP || heading == RIGHT
                                 : heading == LEFT || heading == DOWN;
    return place.column == 1 ? heading == UP || heading == LEFT
                             : heading == RIGHT || heading == DOWN;
}

/* Does the first cycle have this link? If not, the second one has. */
static bool first_has(const struct torus *torus, struct place place, enum heading heading)
{
    if (torus->columns == 2)
        return zigzag_has(place, heading);
    struct place left = heading == LEFT ? moved(torus, place, LEFT) : place;
    struct place above = moved(torus, place, UP);
    int here = switch_column(torus, heading == UP ? above.row : place.row);
    if (heading == UP || heading == DOWN)
        return here >= 0 && (place.column == here || place.column == (here + 1) % torus->columns);
    return left.column != here && left.column != switch_column(torus, above.row);
}

/* A cycle's two links at a place: in this order around the clock. */
static enum heading any_heading(const struct torus *torus, int cycle, struct place place)
{
    int heading = UP;
    while (first_has(torus, place, (enum heading)heading) == (cycle == 1))
        heading++;
    return (enum heading)heading;
}

static enum heading other_heading(const struct torus *torus, int cycle, struct place place,
                                  enum heading not_this)
{
    int heading = UP;
    while (heading == (int)not_this ||
           first_has(torus, place, (enum heading)heading) == (cycle == 1))
        heading++;
    return (enum heading)heading;
}

/* One step on; the heading becomes the one that leads further. */
static void walk(const struct torus *torus, int cycle, struct place *place, enum heading *heading)
{
    *place = moved(torus, *place, *heading);
    *heading = other_heading(torus, cycle, *place, (enum heading)((*heading + 2) % 4));
}

/* Rows, or columns, that take turns: does the cycle leave the place by this link of it? */
static bool leaves(const struct torus *torus, int cycle, struct place place, enum heading heading)
{
    bool odd = (cycle == 0 ? place.row : place.column) % 2;
    bool across =
        cycle == 0 ? heading == UP || heading == DOWN : heading == LEFT || heading == RIGHT;
    if (!across)
        return (heading == RIGHT || heading == DOWN) != odd;
    /* Where a row (column) that goes right (down) has lost a link, it goes on from the left (upper)
     * end of that. */
    int above = moved(torus, place, UP).row;
    if (cycle == 0) {
        bool left = place.column == switch_column(torus, heading == UP ? above : place.row);
        return left != odd;
    }
    bool upper = (heading == LEFT ? moved(torus, place, LEFT).column : place.column) ==
                 switch_column(torus, place.row);
    return upper != odd;
}

/* The way round a cycle, the same for all ranks. */
static enum heading forward(const struct torus *torus, int cycle, struct place start)
{
    enum heading first = any_heading(torus, cycle, start);
    bool turns = cycle == 0 ? torus->switches < torus->rows : torus->head < torus->columns;
    if (turns && torus->columns > 2)
        return leaves(torus, cycle, start, first) ? first
                                                  : other_heading(torus, cycle, start, first);
    struct place place = start;
    enum heading heading = first;
    while (place.row || place.column)
        walk(torus, cycle, &place, &heading);
    return heading == any_heading(torus, cycle, place) ? first
                                                       : other_heading(torus, cycle, start, first);
}

/* ---- The rings ---- */

/* A rank in one part: its neighbours on the ring, and where it has walked to. */
struct walker {
    int cycle, part;
    int next, previous; /* ranks */
    struct place place; /* whose block the rank sends now */
    enum heading heading;
};

static int cell_at(const struct torus *torus, struct place place)
{
    return place.row * torus->row_stride + place.column * torus->column_stride;
}

static int rank_at(const struct torus *torus, struct place place)
{
    return torus->box->rank_at[cell_at(torus, place)];
}

/* At the block of a round: the host so many steps behind, or the rest of the cycle ahead. */
static struct walker find_walker(const struct torus *torus, int rank, int part, int round)
{
    int n = torus->rows * torus->columns, cell = torus->box->cell_of[rank];
    struct walker walker = {.cycle = part / 2, .part = part};
    struct place start = {cell / torus->row_stride % torus->rows,
                          cell / torus->column_stride % torus->columns};
    enum heading on = forward(torus, walker.cycle, start);
    enum heading back = other_heading(torus, walker.cycle, start, on);
    if (part % 2) {
        enum heading swapped = on;
        on = back;
        back = swapped;
    }
    walker.next = rank_at(torus, moved(torus, start, on));
    walker.previous = rank_at(torus, moved(torus, start, back));
    walker.place = start;
    walker.heading = back;
    int steps = round % n;
    if (steps > n / 2) {
        steps = n - steps;
        walker.heading = on;
    }
    for (int s = 0; s < steps; s++)
        walk(torus, walker.cycle, &walker.place, &walker.heading);
    if (round % n > n / 2) /* turn round */
        walker.heading = other_heading(torus, walker.cycle, walker.place, walker.heading);
    return walker;
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    struct torus torus = find_torus(problem);
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    struct walker walkers[4];
    int n = problem->n;
    for (int part = 0; part < torus.parts; part++)
        walkers[part] = find_walker(&torus, rank, part, wanted.first);
    for (int t = wanted.first; t < 2 * (n - 1) && t < wanted.end; t++) {
        strag_stage(builder, t < n - 1 ? "reduce-scatter" : "allgather");
        for (int part = 0; part < torus.parts; part++) {
            struct walker *walker = &walkers[part];
            int block = part * n + cell_at(&torus, walker->place);
            walk(&torus, walker->cycle, &walker->place, &walker->heading);
            int behind = part * n + cell_at(&torus, walker->place);
            strag_send(builder, t, walker->next, block, 1);
            if (t < n - 1)
                strag_recv_reduce(builder, t, walker->previous, behind, 1);
            else
                strag_recv(builder, t, walker->previous, behind, 1);
        }
    }
}

/* Two halves: the first combines what it receives, the second does not. */
static int alike(const struct strag_problem *problem, int round)
{
    int half = problem->n - 1;
    return round < half ? half - round : 2 * half - round;
}

const struct strag_algorithm strag_hamiltonian = {
    .name = "hamiltonian",
    .summary = "rings through all hosts of a 2D torus, on two cycles that share no link",
    .rounds = "2(n-1)",
    .sent = "2(n-1)/n",
    .check = check,
    .claim = claim,
    .build = build,
    .alike = alike,
};
