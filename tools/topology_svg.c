/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *     tree    a row of nodes for each level, parents above the middle of their children
 *     grid    the first two dimensions to the right and down, the others as pictures side by side,
 *             whose links are not drawn; links round the back, and to a HammingMesh's switches, end
 *             there, dashed
 *
 * Both directions of a link are lines side by side. How busy one is is the time that the plan's
 * bytes take on it, over the busiest one's.
 */
#include "topology_svg.h"

#include "base/svg.h"
#include "model/loads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All lengths are in SVG user units, a pixel each. */
#define MARGIN    32.0
#define HEADER    96.0
#define FOOTER    30.0
#define STEP      96.0 /* from one position of a grid to the next */
#define NODE      15.0 /* half a node's width */
#define APART     4.0  /* of a link's two directions, from its middle */
#define LOOSE_END 26.0
#define ROW       92.0 /* of a tree */
#define LEAF      76.0 /* a host's share of the width */
#define CHARS     6.4  /* a letter */
#define WIDE_MIN  640.0

enum { NODES_MAX = 1024 };

struct point {
    double x, y;
};

struct picture {
    const struct machine *machine;
    const struct strag_topology *topology;
    struct strag_links *links;
    double *load;       /* [link]: vectors; NULL: no algorithm */
    double busiest;     /* seconds for each byte of the vector */
    int hottest;        /* a link; -1: none carries anything */
    struct point *node; /* [node of the tree], or [position] */
    int32_t *host_at;   /* [position]: its node; -1: none; NULL: a tree */
    int lowest;         /* level of a tree that is still drawn */
    double width, height;
};

/* ---- Where everything is ---- */

static int positions_of(const struct picture *picture)
{
    return strag_grid_positions(&picture->topology->grid);
}

static void place_grid(struct picture *picture)
{
    const struct strag_grid *grid = &picture->topology->grid;
    const double column = STEP * grid->size[0] + LOOSE_END;
    int at[STRAG_DIMS_MAX], rows = grid->dims > 1 ? grid->size[1] : 1, panels = 1;
    for (int p = 0; p < positions_of(picture); p++) {
        int panel = 0;
        strag_grid_coordinates(grid, p, at);
        for (int d = grid->dims - 1; d >= 2; d--)
            panel = panel * grid->size[d] + at[d];
        panels = panel + 1 > panels ? panel + 1 : panels;
        picture->node[p] =
            (struct point){MARGIN + LOOSE_END + NODE + column * panel + STEP * at[0],
                           HEADER + LOOSE_END + NODE + STEP * (grid->dims > 1 ? at[1] : 0)};
    }
    picture->width = 2 * MARGIN + LOOSE_END + column * panels - STEP + 4 * NODE;
    picture->height = HEADER + 2 * LOOSE_END + STEP * (rows - 1) + 2 * NODE + FOOTER;
}

static bool is_drawn(const struct picture *picture, int node)
{
    return picture->topology->nodes[node].level >= picture->lowest;
}

/* Nodes are level by level: children have higher indices. */
static void place_tree(struct picture *picture)
{
    const struct strag_topology *topology = picture->topology;
    const struct strag_node *nodes = topology->nodes;
    int deepest = 0, leaves = 0;
    int *depth = calloc((size_t)topology->nnodes, sizeof *depth);
    for (int i = 0; depth && i < topology->nnodes; i++) {
        depth[i] = i > 0 ? depth[nodes[i].parent] + 1 : 0;
        if (is_drawn(picture, i) && depth[i] > deepest)
            deepest = depth[i];
    }
    /* Those at the bottom in the order of their ranks, then each above the middle of its own. */
    for (int i = 0; i < topology->nnodes; i++)
        picture->node[i].x = NAN;
    for (int leaf = 0; leaf < topology->n; leaf++) {
        int i = topology->leaf_node[topology->leaf_rank[leaf]];
        while (!is_drawn(picture, i))
            i = nodes[i].parent;
        if (isnan(picture->node[i].x))
            picture->node[i].x = MARGIN + LEAF * (leaves++ + 0.5);
    }
    for (int i = topology->nnodes - 1; i >= 0; i--) {
        const int first = nodes[i].first_child, last = first + nodes[i].children - 1;
        if (is_drawn(picture, i) && isnan(picture->node[i].x))
            picture->node[i].x = (picture->node[first].x + picture->node[last].x) / 2;
        if (depth)
            picture->node[i].y = HEADER + NODE + ROW * depth[i];
    }
    picture->width = 2 * MARGIN + LEAF * leaves;
    picture->height = HEADER + ROW * deepest + 4 * NODE + FOOTER;
    free(depth);
}

static bool place(struct picture *picture)
{
    const struct strag_topology *topology = picture->topology;
    const bool tree = topology->network == STRAG_NETWORK_TREE;
    const int count = tree ? topology->nnodes : positions_of(picture);
    picture->node = calloc((size_t)count, sizeof *picture->node);
    picture->host_at = tree ? NULL : calloc((size_t)count, sizeof *picture->host_at);
    if (!picture->node || (!tree && !picture->host_at))
        return false;
    if (tree) {
        picture->lowest = topology->hosts > 1 ? STRAG_LEVEL_HOST : STRAG_LEVEL_RANK;
        place_tree(picture);
        return true;
    }
    for (int p = 0; p < count; p++)
        picture->host_at[p] = -1;
    for (int i = 0; i < topology->nnodes; i++) {
        if (topology->nodes[i].level == STRAG_LEVEL_HOST && topology->nodes[i].position >= 0)
            picture->host_at[topology->nodes[i].position] = i;
    }
    place_grid(picture);
    return true;
}

/* ---- Links ---- */

static double busy(const struct picture *picture, int link)
{
    const double bandwidth = strag_link_bandwidth(picture->links, link);
    return picture->load && isfinite(bandwidth) ? picture->load[link] / bandwidth : 0;
}

/* Is it in the picture: the ends of those that are not in the grid's first two dimensions, or are
 * below the hosts, are not. */
static bool link_is_drawn(const struct picture *picture, int link)
{
    const struct strag_link_ends ends = strag_link_ends(picture->links, link);
    if (ends.from < 0 && ends.to < 0)
        return false;
    if (picture->host_at)
        return ends.dim == 0 || ends.dim == 1;
    return is_drawn(picture, ends.from) && is_drawn(picture, ends.to);
}

static void find_hottest(struct picture *picture)
{
    picture->hottest = -1;
    for (int l = 0; l < picture->links->nlinks; l++) {
        const struct strag_link_ends ends = strag_link_ends(picture->links, l);
        const bool inside = picture->host_at ? ends.dim < 0 : !link_is_drawn(picture, l);
        if (!inside && busy(picture, l) > picture->busiest * (1 + 1e-9)) {
            picture->busiest = busy(picture, l);
            picture->hottest = l;
        }
    }
}

/* From yellow to red. @param heat  of the busiest link's time, above 0 to 1 */
static const char *heat_colour(double heat, char text[32])
{
    snprintf(text, 32, "hsl(%.0f,85%%,%.0f%%)", 50 - 50 * heat, 55 - 13 * heat);
    return text;
}

/* Grey where nothing goes. */
static void link_style(const struct picture *picture, int link)
{
    const double heat = picture->busiest > 0 ? busy(picture, link) / picture->busiest : 0;
    char colour[32];
    if (heat <= 0)
        printf(" stroke=\"#b8bfc8\" stroke-width=\"1.4\"");
    else
        printf(" stroke=\"%s\" stroke-width=\"%.1f\"", heat_colour(heat, colour), 1.6 + 2.2 * heat);
}

/* "host n3", "(0,1)", "switch" */
static const char *end_text(const struct picture *picture, int end, char text[192])
{
    const struct strag_topology *topology = picture->topology;
    int at[STRAG_DIMS_MAX], node = end;
    if (end < 0)
        return "a row's switch";
    if (picture->host_at) {
        strag_grid_coordinates(&topology->grid, end, at);
        snprintf(text, 192, "%s", strag_coordinates_text(at, topology->grid.dims).text);
        node = picture->host_at[end];
    } else {
        snprintf(text, 192, "%s", strag_level_name((enum strag_level)topology->nodes[end].level));
    }
    const size_t length = strlen(text);
    const char *name = node >= 0 ? topology->nodes[node].name : NULL;
    if (name && strcmp(name, text) != 0)
        snprintf(text + length, 192 - length, " %.120s", name);
    else if (node >= 0 && !name && topology->nodes[node].leaves == 1)
        snprintf(text + length, 192 - length, " of rank %d",
                 topology->leaf_rank[topology->nodes[node].first_leaf]);
    return text;
}

static void link_title(const struct picture *picture, int link)
{
    const struct strag_link_ends ends = strag_link_ends(picture->links, link);
    const double bandwidth = strag_link_bandwidth(picture->links, link);
    char from[192], to[192];
    strag_svg_words(stdout, end_text(picture, ends.from, from));
    printf(" to ");
    strag_svg_words(stdout, end_text(picture, ends.to, to));
    if (picture->load)
        printf(": %.4g of the vector", picture->load[link]);
    if (isfinite(bandwidth))
        printf(", %.4g Gbit/s", bandwidth * 8 / 1e9);
}

/* From one point to another, to the right of the line between them as seen on the way. */
static void draw_straight(struct point from, struct point to)
{
    const double dx = to.x - from.x, dy = to.y - from.y, length = hypot(dx, dy);
    const double ox = -APART * dy / length, oy = APART * dx / length;
    printf("d=\"M%.1f %.1fL%.1f %.1f\"", from.x + ox, from.y + oy, to.x + ox, to.y + oy);
}

/* Over what lies between, the further the higher. */
static void draw_arc(struct point from, struct point to)
{
    const double dx = to.x - from.x, dy = to.y - from.y, length = hypot(dx, dy);
    const double bend = 0.22 * length;
    printf("d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\"", from.x, from.y,
           (from.x + to.x) / 2 - bend * dy / length, (from.y + to.y) / 2 + bend * dx / length, to.x,
           to.y);
}

/* Out of the picture, or into it. @param sign  1: towards larger coordinates */
static void draw_loose_end(struct point node, int dim, int sign, bool out)
{
    const double side = (out ? 1 : -1) * sign * APART;
    const struct point edge = {node.x + (dim == 0 ? sign * (NODE + LOOSE_END) : -side),
                               node.y + (dim == 1 ? sign * (NODE + LOOSE_END) : side)};
    printf("d=\"M%.1f %.1fL%.1f %.1f\" stroke-dasharray=\"3 2\"", node.x - (dim == 1 ? side : 0),
           node.y + (dim == 0 ? side : 0), edge.x, edge.y);
}

static void draw_grid_link(const struct picture *picture, const struct strag_link_ends *ends)
{
    const struct strag_grid *grid = &picture->topology->grid;
    const int known = ends->from >= 0 ? ends->from : ends->to;
    int a[STRAG_DIMS_MAX], b[STRAG_DIMS_MAX];
    strag_grid_coordinates(grid, known, a);
    strag_grid_coordinates(grid, ends->to >= 0 ? ends->to : known, b);
    const int step = b[ends->dim] - a[ends->dim], d = ends->dim;
    const bool boards = grid->network == STRAG_NETWORK_HAMMINGMESH;
    const int inside = boards ? a[d] % grid->board[d] : a[d];
    if (ends->from < 0 || ends->to < 0) {
        draw_loose_end(picture->node[known], d, inside > 0 || grid->board[d] == 1 ? 1 : -1,
                       ends->to < 0);
    } else if (abs(step) == 1) {
        draw_straight(picture->node[ends->from], picture->node[ends->to]);
    } else if (grid->network == STRAG_NETWORK_HYPERX) {
        draw_arc(picture->node[ends->from], picture->node[ends->to]);
    } else {
        draw_loose_end(picture->node[ends->from], d, step < 0 ? 1 : -1, true);
    }
}

static void draw_link(const struct picture *picture, int link)
{
    const struct strag_link_ends ends = strag_link_ends(picture->links, link);
    printf("<path class=\"link\" ");
    if (picture->host_at)
        draw_grid_link(picture, &ends);
    else
        draw_straight(picture->node[ends.from], picture->node[ends.to]);
    link_style(picture, link);
    printf("><title>");
    link_title(picture, link);
    puts("</title></path>");
}

/* The busiest last, so that no other one hides it. */
static void draw_links(const struct picture *picture)
{
    for (int pass = 0; pass < 3; pass++) {
        for (int l = 0; l < picture->links->nlinks; l++) {
            const double heat = picture->busiest > 0 ? busy(picture, l) / picture->busiest : 0;
            if ((heat > 0.5) + (heat > 0.95) == pass && link_is_drawn(picture, l))
                draw_link(picture, l);
        }
    }
}

/* ---- Nodes ---- */

/* "3", "0..3", "0,8..9"; of many the first. */
static void ranks_text(const struct picture *picture, const struct strag_node *node, char text[24])
{
    const int32_t *rank = picture->topology->leaf_rank + node->first_leaf;
    if (node->leaves == 1)
        snprintf(text, 24, "%d", rank[0]);
    else if (rank[node->leaves - 1] - rank[0] == node->leaves - 1)
        snprintf(text, 24, "%d..%d", rank[0], rank[node->leaves - 1]);
    else
        snprintf(text, 24, "%d,%d..", rank[0], rank[1]);
}

/* Next to the lines: below a host of a tree, else to the right. */
static void draw_name(const struct picture *picture, struct point at, const char *name, bool bottom)
{
    const bool below = bottom && !picture->host_at;
    const double x = at.x + (below ? 0 : bottom ? APART + 5 : NODE + 6);
    const double y = at.y + (bottom ? NODE + 9 : -NODE);
    strag_svg_text(stdout, below ? "name middle" : "name", x, y, "%s", name);
}

static void draw_node(const struct picture *picture, struct point at, int node)
{
    const struct strag_node *nodes = picture->topology->nodes;
    char text[24] = "";
    const bool bottom = node >= 0 && (picture->host_at || nodes[node].level == picture->lowest);
    if (bottom)
        ranks_text(picture, &nodes[node], text);
    const double half = fmax(NODE, CHARS * (double)strlen(text) / 2 + 3);
    printf("<g class=\"%s\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"4\"/>",
           node < 0 ? "free"
           : bottom ? "host"
                    : "switch",
           at.x - half, at.y - NODE * 0.7, 2 * half, NODE * 1.4);
    strag_svg_text(stdout, "middle", at.x, at.y + 4, "%s", text);
    if (node >= 0 && nodes[node].name)
        draw_name(picture, at, nodes[node].name, bottom);
    puts("</g>");
}

static void draw_nodes(const struct picture *picture)
{
    if (picture->host_at) {
        for (int p = 0; p < positions_of(picture); p++)
            draw_node(picture, picture->node[p], picture->host_at[p]);
        return;
    }
    for (int i = 0; i < picture->topology->nnodes; i++) {
        if (is_drawn(picture, i))
            draw_node(picture, picture->node[i], i);
    }
}

/* ---- The whole ---- */

static const char style[] = ".name{fill:#666;font-size:10px}\n"
                            ".link{fill:none}\n.link:hover{stroke:#000}\n"
                            ".host rect{fill:#fff;stroke:#2f6db3;stroke-width:1.5}\n"
                            ".switch rect{fill:#2f6db3}\n"
                            ".free rect{fill:#f4f6f8;stroke:#d5dae0}\n";

/* Which colour is how busy. */
static void draw_scale(void)
{
    enum { STEPS = 20 };
    const double left = STRAG_SVG_MARGIN + 28, top = 74, step = 7;
    char colour[32];
    strag_svg_text(stdout, "note", STRAG_SVG_MARGIN, top + 10, "0 %%");
    for (int s = 1; s <= STEPS; s++)
        printf("<rect class=\"scale\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"12\" "
               "fill=\"%s\"/>\n",
               left + step * (s - 1), top, step, heat_colour((double)s / STEPS, colour));
    strag_svg_text(stdout, "note", left + step * STEPS + 6, top + 10,
                   "100 %% of the time of the busiest link; grey: not used");
}

static void draw_head(const struct picture *picture, const struct strag_algorithm *algorithm)
{
    char machine[4096], title[4096 + 128];
    machine_title(picture->machine, machine, sizeof machine);
    snprintf(title, sizeof title, "n = %d, %s%s%s", picture->topology->n, machine,
             algorithm ? ": " : "", algorithm ? algorithm->name : "");
    strag_svg_begin(stdout, fmax(picture->width, WIDE_MIN), picture->height, 11, style, title);
    strag_svg_text(stdout, "note", STRAG_SVG_MARGIN, STRAG_SVG_BELOW,
                   "Boxes are hosts, with their ranks; each link has a line in each direction");
    if (picture->hottest >= 0) {
        printf("<text class=\"note\" x=\"%g\" y=\"66\">Busiest (red): ", STRAG_SVG_MARGIN);
        link_title(picture, picture->hottest);
        puts("</text>");
        draw_scale();
    }
}

static void draw_foot(const struct picture *picture)
{
    if (picture->host_at && picture->topology->grid.dims > 2)
        strag_svg_text(stdout, "note", STRAG_SVG_MARGIN, picture->height - 12,
                       "Links of dimensions 2 and up join the pictures; they are not drawn.");
    strag_svg_end(stdout);
}

/* @return NULL, or why there is no picture */
static const char *no_picture(const struct strag_topology *topology)
{
    const bool tree = topology->network == STRAG_NETWORK_TREE;
    const int count = !tree                 ? strag_grid_positions(&topology->grid)
                      : topology->hosts > 1 ? topology->hosts
                                            : topology->n;
    return count > NODES_MAX ? "--format svg draws at most 1024 hosts" : NULL;
}

int topology_svg(const struct command *command, const struct machine *machine,
                 const struct strag_algorithm *algorithm)
{
    struct picture picture = {.machine = machine, .topology = machine->topology, .hottest = -1};
    struct strag_problem problem = machine->problem;
    struct strag_error err;
    if (no_picture(picture.topology))
        return complain(command, STRAG_ERR_ARGUMENT, "%s", no_picture(picture.topology));
    problem.topology = machine->topology;
    int status = strag_links_create(machine->topology, &machine->sourced.model, problem.state,
                                    &picture.links, &err);
    if (status == STRAG_OK && !place(&picture))
        status = strag_fail(&err, STRAG_ERR_MEMORY, "out of memory for a picture");
    if (status == STRAG_OK && algorithm) {
        picture.load = calloc((size_t)picture.links->nlinks, sizeof *picture.load);
        status = picture.load
                     ? strag_link_loads(algorithm, &problem, picture.links, picture.load, &err)
                     : strag_fail(&err, STRAG_ERR_MEMORY, "out of memory for a picture");
    }
    if (status == STRAG_OK) {
        find_hottest(&picture);
        draw_head(&picture, algorithm);
        draw_links(&picture);
        draw_nodes(&picture);
        draw_foot(&picture);
    }
    strag_links_free(picture.links);
    free(picture.load);
    free(picture.node);
    free(picture.host_at);
    return status == STRAG_OK ? EXIT_DONE : complain(command, status, "%s", err.text);
}
