/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans as a picture: ranks down, rounds across, one coloured bar per message, and an arrow from it
 * to the receiver's row.
 *
 * A bar stands on its sender's row and names the receiver and, if it is long enough, the blocks.
 * Where the sender's plan is not among those shown (one rank alone), the message stands in a second
 * lane of its receiver's row, as an outline, and names the sender. The length of a bar is a
 * constant, which has room for the peer's name, and a part in proportion to the message; messages
 * of one rank in one round stand side by side. A round is as wide as its widest rank, and the room
 * for the arrows behind it. show_rounds.h says which rounds are left out.
 */
#include "plan/show.h"

#include "base/c_locale.h"
#include "base/svg.h"
#include "base/units.h"
#include "plan/show_rounds.h"

#include <stdlib.h>
#include <string.h>

/* All lengths are in SVG user units, a pixel each. */
#define MARGIN        STRAG_SVG_MARGIN
#define HEADER        104.0  /* title, legend, axis */
#define FOOTER        40.0   /* the line that explains the bars */
#define ROW_NAME      64.0   /* to the left of the rows */
#define GAP           3.0    /* between the bars of neighbouring rounds */
#define BARS_WIDTH    1040.0 /* all rounds together, if the bars need no more for their labels */
#define SIZE_PART_MIN 6.0    /* of the largest message, beyond the label's room */
#define SIZE_PART_MAX 110.0
#define WIDTH_MIN     720.0 /* for the title and the legend */
#define GAP_WIDTH     46.0  /* of a column in place of rounds that are left out */
#define ARROWS_MIN    22.0  /* room for a round's arrows, and the additional room for each rank */
#define ARROWS_RANK   0.9
enum { ARROWS_MOST = 64 }; /* ranks; with more they would only be grey */

/* A stage that is used, and the first round that uses it. */
struct stage {
    const char *name;
    int round;
};

struct picture {
    FILE *out;
    struct strag_plan *const *plans;
    int count;
    const struct strag_plan *any; /* for what all plans share */

    bool *shown;          /* [rank]: its plan is here */
    struct stage *stages; /* in the order of their first rounds */
    int nstages;
    struct strag_column *columns;
    int ncolumns;
    int *column_of; /* [round]: -1: it is left out */
    double *left;   /* [column]: where it starts; one more for the end of the last */
    double arrows;  /* room for arrows in each column; 0: there are none */
    double largest; /* message, as a fraction of the vector */

    int lanes;        /* 1, or 2: sent, and received from ranks not shown */
    double row;       /* height */
    double font;      /* size of labels */
    double label;     /* the constant part of a bar */
    double size_part; /* of the largest message */
};

static double fraction(const struct strag_bounds *bounds, const struct strag_op *op)
{
    return strag_block_fraction(bounds, op->first, op->count);
}

/* The lane that the operation's message is drawn in, or -1: it is drawn elsewhere, or left out. */
static int lane_of(const struct picture *picture, const struct strag_op *op)
{
    if (picture->column_of[op->round] < 0)
        return -1;
    if (op->kind == STRAG_SEND)
        return 0;
    return picture->shown[op->peer] ? -1 : 1;
}

/* @return the number of a stage, or nstages if it is new */
static int stage_index(const struct picture *picture, const char *name)
{
    int s = 0;
    while (s < picture->nstages && strcmp(picture->stages[s].name, name) != 0)
        s++;
    return s;
}

/* Count a stage in, behind those that begin no later. */
static void use_stage(struct picture *picture, const char *name, int round)
{
    int s = stage_index(picture, name);
    if (s == picture->nstages)
        picture->nstages++;
    else if (picture->stages[s].round <= round)
        return;
    for (; s > 0 && picture->stages[s - 1].round > round; s--)
        picture->stages[s] = picture->stages[s - 1];
    picture->stages[s] = (struct stage){name, round};
}

/* What the plans need of the picture, besides widths. */
static void survey(struct picture *picture)
{
    picture->lanes = 1;
    for (int p = 0; p < picture->count; p++)
        picture->shown[picture->plans[p]->rank] = true;
    for (int p = 0; p < picture->count; p++) {
        const struct strag_plan *plan = picture->plans[p];
        for (const struct strag_op *op = plan->ops; op < plan->ops + plan->nops; op++) {
            double size = fraction(&plan->bounds, op);
            use_stage(picture, plan->stages[op->stage], op->round);
            if (lane_of(picture, op) == 1)
                picture->lanes = 2;
            if (size > picture->largest)
                picture->largest = size;
        }
    }
}

static int digits(int value)
{
    return snprintf(NULL, 0, "%d", value);
}

static void choose_heights(struct picture *picture)
{
    double lane = picture->count <= 16 ? 26 : picture->count <= 32 ? 20 : 16;
    picture->row = lane * picture->lanes;
    picture->font = lane >= 26 ? 12 : lane >= 20 ? 11 : 10;
    /* A digit is 0.6 of the font's size wide, the arrow 0.9. */
    picture->label = picture->font * (0.6 * digits(picture->any->n - 1) + 0.9) + 5;
    if (picture->count == picture->any->n && picture->count > 1 && picture->count <= ARROWS_MOST)
        picture->arrows = ARROWS_MIN + ARROWS_RANK * picture->count;
}

static double bar_width(const struct picture *picture, const struct strag_op *op)
{
    return picture->label +
           picture->size_part * fraction(&picture->any->bounds, op) / picture->largest;
}

/* Set the widths of the columns to what the widest rank needs, with `left` as [column + 1].
 * @return all together */
static double measure_columns(struct picture *picture)
{
    double *width = picture->left + 1, sum = 0;
    for (int c = 0; c < picture->ncolumns; c++)
        width[c] = picture->columns[c].left_out ? GAP_WIDTH : picture->label + GAP;
    for (int p = 0; p < picture->count; p++) {
        const struct strag_plan *plan = picture->plans[p];
        double used[2] = {0, 0};
        for (int i = 0; i < plan->nops; i++) {
            const struct strag_op *op = &plan->ops[i];
            int lane = lane_of(picture, op), c = picture->column_of[op->round];
            if (i > 0 && op[-1].round != op->round)
                used[0] = used[1] = 0;
            if (lane < 0)
                continue;
            used[lane] += bar_width(picture, op) + GAP;
            if (used[lane] > width[c])
                width[c] = used[lane];
        }
    }
    for (int c = 0; c < picture->ncolumns; c++) {
        width[c] += picture->columns[c].left_out ? 0 : picture->arrows;
        sum += width[c];
    }
    return sum;
}

/* Where the columns start: the bars' constant parts first, then what is left for their sizes. */
static void place_columns(struct picture *picture)
{
    double constant = measure_columns(picture);
    picture->size_part = 1;
    double all = measure_columns(picture);
    double room = BARS_WIDTH + picture->arrows * picture->ncolumns;
    double part = all > constant ? (room - constant) / (all - constant) : 0;
    part = part > SIZE_PART_MAX ? SIZE_PART_MAX : part;
    picture->size_part = part < SIZE_PART_MIN ? SIZE_PART_MIN : part;
    measure_columns(picture);
    picture->left[0] = MARGIN + ROW_NAME;
    for (int c = 0; c < picture->ncolumns; c++)
        picture->left[c + 1] += picture->left[c];
}

static const char style[] = ".number{fill:#666}\n"
                            ".number,.m text{text-anchor:middle}\n"
                            ".legend text{font-size:12px}\n"
                            ".m text{fill:#fff}\n"
                            ".m .in{fill:#fff;stroke-width:1.5}\n"
                            ".b{fill-opacity:.8}\n"
                            ".m path{fill:none;stroke-opacity:.6}\n"
                            ".m:hover{opacity:.6}\n"
                            ".m:hover path{stroke-opacity:1}\n"
                            ".band{fill:#f4f6f8}\n";

/* How each stage looks, its arrows too. */
static void draw_stages(const struct picture *picture)
{
    fputs("<style>\n", picture->out);
    for (int s = 0; s < picture->nstages; s++) {
        const char *colour = strag_svg_colour(s);
        fprintf(picture->out,
                ".s%d rect{fill:%s;stroke:%s}.s%d .from{fill:%s}.s%d path{stroke:%s;"
                "marker-end:url(#h%d)}\n",
                s, colour, colour, s, colour, s, colour, s);
    }
    fputs("</style>\n", picture->out);
    for (int s = 0; s < picture->nstages && picture->arrows > 0; s++)
        fprintf(picture->out,
                "<marker id=\"h%d\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"6\" "
                "markerHeight=\"6\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
                "<polygon points=\"0,0 6,3 0,6\" fill=\"%s\"/></marker>\n",
                s, strag_svg_colour(s));
}

static void draw_legend(const struct picture *picture)
{
    double x = MARGIN;
    for (int s = 0; s < picture->nstages; s++) {
        fprintf(picture->out,
                "<g class=\"legend s%d\"><rect x=\"%g\" y=\"%g\" width=\"14\" height=\"14\" "
                "rx=\"3\"/>",
                s, x, MARGIN + 28);
        strag_svg_text(picture->out, "", x + 20, MARGIN + 39.5, "%s", picture->stages[s].name);
        fputs("</g>\n", picture->out);
        x += 20 + 7 * (double)strlen(picture->stages[s].name) + 24;
    }
}

static void draw_left_out(const struct picture *picture, int c, double y)
{
    const struct strag_column *column = &picture->columns[c];
    const int last = column->round + column->left_out - 1;
    char like[32] = "left out";
    if (column->same)
        snprintf(like, sizeof like, "like round %d", column->round - 1);
    fprintf(picture->out,
            "<g class=\"gap\"><title>rounds %d to %d: %s</title><text class=\"number\" x=\"%.1f\" "
            "y=\"%g\">… %d …</text></g>\n",
            column->round, last, like, picture->left[c] + GAP_WIDTH / 2, y, column->left_out);
}

/* The rounds' numbers, but for those that would run into the one before. */
static void draw_rounds(const struct picture *picture, double y, double bottom)
{
    double room = 7.0 * digits(picture->any->rounds) + 6;
    strag_svg_text(picture->out, "note end", MARGIN + ROW_NAME - 10, y, "round");
    double free_from = 0;
    for (int c = 0; c < picture->ncolumns; c++) {
        double middle = (picture->left[c] + picture->left[c + 1] - GAP) / 2;
        strag_svg_line(picture->out, "rule", picture->left[c] - GAP / 2, HEADER,
                       picture->left[c] - GAP / 2, bottom);
        if (picture->columns[c].left_out)
            draw_left_out(picture, c, y);
        if (picture->columns[c].left_out || middle - room / 2 < free_from)
            continue;
        free_from = middle + room / 2;
        strag_svg_text(picture->out, "number", middle, y, "%d", picture->columns[c].round);
    }
}

/* From the bar, past the others of its round, to the receiver's row. */
static void draw_arrow(const struct picture *picture, const struct strag_plan *plan,
                       const struct strag_op *op, double x, double y)
{
    const double end = picture->left[picture->column_of[op->round] + 1] - GAP;
    const double from = end - picture->arrows, middle = end - picture->arrows / 2;
    const double to = y + picture->row * (op->peer - plan->rank);
    fprintf(picture->out, "<path d=\"M%.1f %.1fH%.1fC%.1f %.1f %.1f %.1f %.1f %.1f\" ", x, y, from,
            middle, y, middle, to, end, to);
    fprintf(picture->out, "stroke-width=\"%.2g\"/>",
            0.8 + 1.6 * fraction(&plan->bounds, op) / picture->largest);
}

static void draw_message(const struct picture *picture, const struct strag_plan *plan, int index,
                         double x, double y)
{
    const struct strag_op *op = &plan->ops[index];
    const char *stage = plan->stages[op->stage];
    bool sends = op->kind == STRAG_SEND;
    double width = bar_width(picture, op);
    double height = picture->row / picture->lanes - 4;
    char blocks[32];
    int length = snprintf(blocks, sizeof blocks, "%d", op->first);
    if (op->count > 1)
        length = snprintf(blocks, sizeof blocks, "%d..%d", op->first, op->first + op->count - 1);

    fprintf(
        picture->out,
        "<g class=\"m s%d\"><title>round %d, %s: rank %d to rank %d, block%s %s, %.4g %% of the "
        "vector; operation %d (%s) of rank %d</title>",
        stage_index(picture, stage), op->round, stage, sends ? plan->rank : op->peer,
        sends ? op->peer : plan->rank, op->count > 1 ? "s" : "", blocks,
        100 * fraction(&plan->bounds, op), index, strag_kind_name(op->kind), plan->rank);
    fprintf(picture->out,
            "<rect%s x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"3\"/>"
            "<text%s x=\"%.1f\" y=\"%.1f\">%s%d",
            sends ? "" : " class=\"in\"", x, y + 2, width, height, sends ? "" : " class=\"from\"",
            x + width / 2, y + 2 + height / 2 + 0.36 * picture->font, sends ? "→" : "←", op->peer);
    if (picture->label + picture->font * (0.6 * length + 0.7) < width)
        fprintf(picture->out, "<tspan class=\"b\" dx=\"%g\">%s</tspan>", 0.6 * picture->font,
                blocks);
    fputs("</text>", picture->out);
    if (picture->arrows > 0)
        draw_arrow(picture, plan, op, x + width, y + picture->row / 2);
    fputs("</g>\n", picture->out);
}

static void draw_row(const struct picture *picture, int index)
{
    const struct strag_plan *plan = picture->plans[index];
    const double top = HEADER + picture->row * index;
    double x[2] = {0, 0};
    strag_svg_text(picture->out, "end", MARGIN + ROW_NAME - 10,
                   top + picture->row / 2 + 0.36 * picture->font, "rank %d", plan->rank);
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        const int lane = lane_of(picture, op), column = picture->column_of[op->round];
        if (column >= 0 && (i == 0 || op[-1].round != op->round))
            x[0] = x[1] = picture->left[column];
        if (lane < 0)
            continue;
        draw_message(picture, plan, i, x[lane], top + lane * picture->row / picture->lanes);
        x[lane] += bar_width(picture, op) + GAP;
    }
}

/* Every other row is shaded. */
static void draw_bands(const struct picture *picture)
{
    for (int p = 0; p < picture->count; p += 2)
        fprintf(picture->out,
                "<rect class=\"band\" x=\"%g\" y=\"%g\" width=\"%.1f\" height=\"%g\"/>\n", MARGIN,
                HEADER + picture->row * p, picture->left[picture->ncolumns] - MARGIN, picture->row);
}

/* What the bars say. */
static void draw_note(const struct picture *picture, double y)
{
    const char *left_out =
        picture->ncolumns < picture->any->rounds ? " … 5 …: five rounds are left out." : "";
    if (picture->nstages == 0)
        strag_svg_text(picture->out, "note", MARGIN, y, "No rank sends anything.");
    else
        strag_svg_text(picture->out, "note", MARGIN, y,
                       "A bar is a message%s. →3 4..7: to rank 3, blocks 4 to 7%s. Longer bars are "
                       "larger messages.%s",
                       picture->lanes == 1 ? " in its sender's row" : "",
                       picture->lanes == 1 ? "" : "; ←3: from rank 3", left_out);
}

static void draw(const struct picture *picture)
{
    const struct strag_plan *any = picture->any;
    const double bottom = HEADER + picture->row * picture->count;
    const double width = picture->left[picture->ncolumns] + MARGIN;
    char rank[24] = "", title[160];
    if (picture->count == 1 && any->n > 1)
        snprintf(rank, sizeof rank, ", rank %d", any->rank);
    snprintf(title, sizeof title, "%s, n = %d%s: %s, %s", any->algorithm, any->n, rank,
             strag_units_count(any->rounds, "round").text,
             strag_units_count(any->bounds.blocks, "block").text);
    strag_svg_begin(picture->out, width < WIDTH_MIN ? WIDTH_MIN : width, bottom + FOOTER,
                    picture->font, style, title);
    draw_stages(picture);
    draw_legend(picture);
    draw_bands(picture);
    for (int p = 0; p < picture->count && !ferror(picture->out); p++)
        draw_row(picture, p);
    draw_rounds(picture, HEADER - 8, bottom);
    draw_note(picture, bottom + 24);
    strag_svg_end(picture->out);
}

/* @return whether there was memory */
static bool choose_rounds(struct picture *picture)
{
    const int rounds = picture->any->rounds;
    picture->ncolumns = strag_show_rounds(picture->plans, picture->count, &picture->columns);
    picture->column_of = calloc((size_t)rounds + 1, sizeof *picture->column_of);
    picture->left = calloc((size_t)rounds + 1, sizeof *picture->left);
    if (!picture->columns || !picture->column_of || !picture->left)
        return false;
    for (int r = 0; r < rounds; r++)
        picture->column_of[r] = -1;
    for (int c = 0; c < picture->ncolumns; c++) {
        if (!picture->columns[c].left_out)
            picture->column_of[picture->columns[c].round] = c;
    }
    return true;
}

/* Of all plans, in memory. */
static int draw_plans(FILE *out, struct strag_plan *const *plans, int count,
                      struct strag_error *err)
{
    struct picture picture = {.out = out, .plans = plans, .count = count, .any = plans[0]};
    int status = STRAG_OK;
    picture.shown = calloc((size_t)picture.any->n, sizeof *picture.shown);
    picture.stages = calloc((size_t)count * STRAG_STAGES_MAX, sizeof *picture.stages);
    if (picture.shown && picture.stages && choose_rounds(&picture)) {
        survey(&picture);
        choose_heights(&picture);
        place_columns(&picture);
        const locale_t before = strag_c_locale_enter();
        draw(&picture);
        strag_c_locale_leave(before);
        if (ferror(out))
            status = strag_fail(err, STRAG_ERR_IO, "the output could not be written");
    } else {
        status =
            strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a picture of %d ranks", count);
    }
    free(picture.shown);
    free(picture.stages);
    free(picture.columns);
    free(picture.column_of);
    free(picture.left);
    return status;
}

int strag_show_svg(FILE *out, const struct strag_instance *instance, struct strag_ranks ranks,
                   const struct strag_progress *progress, struct strag_error *err)
{
    int count = ranks.end - ranks.first;
    struct strag_plan **plans = calloc((size_t)count, sizeof *plans);
    if (!plans)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d plans", count);
    strag_progress_step(progress, "planning", 0, 2);
    int status = strag_instance_plans(instance, ranks, progress, plans, err);
    if (status == STRAG_OK) {
        strag_progress_step(progress, "drawing", 1, 2);
        status = draw_plans(out, plans, count, err);
        strag_plan_free_all(plans, count);
    }
    free(plans);
    return status;
}
