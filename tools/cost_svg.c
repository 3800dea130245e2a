/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost_svg.h"

#include "base/svg.h"
#include "write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All lengths are in SVG user units, a pixel each. */
#define LEFT    60.0
#define TOP     86.0
#define WIDTH   760.0 /* of the axes */
#define HEIGHT  330.0
#define NAMES   190.0 /* to the right of them */
#define BOTTOM  64.0
#define BAND    18.0 /* the fastest's name, above the axes */
#define HIGHEST 8.0  /* times as long as the fastest: the upper edge */

#define SAME    2e-3 /* of each other: two curves are one line */

enum { CURVES = 8, TICKS = 10 };

static const double ratios[] = {1, 1.2, 1.5, 2, 3, 4, 6, HIGHEST};

struct chart {
    const struct curve *curves;
    const size_t *bytes; /* [size] */
    int sizes;
    int *fastest;      /* [size]: a curve */
    int drawn[CURVES]; /* curves, in the order of colours */
    int ndrawn;
};

static double x_of(const struct chart *chart, double bytes)
{
    const double low = log2((double)chart->bytes[0]);
    const double high = log2((double)chart->bytes[chart->sizes - 1]);
    return LEFT + WIDTH * (log2(bytes) - low) / (high - low);
}

static double y_of(double ratio)
{
    return TOP + HEIGHT * (1 - log2(fmin(ratio, HIGHEST)) / log2(HIGHEST));
}

static double least(const struct chart *chart, int size)
{
    return chart->curves[chart->fastest[size]].seconds[size];
}

/* ---- Which ---- */

/* Of equals the first. */
static void find_fastest(struct chart *chart, int ncurves)
{
    for (int s = 0; s < chart->sizes; s++) {
        int best = 0;
        for (int c = 1; c < ncurves; c++) {
            if (chart->curves[c].seconds[s] < chart->curves[best].seconds[s] * (1 - 1e-9))
                best = c;
        }
        chart->fastest[s] = best;
    }
}

/* How near it comes to the fastest at any size; 0: at some it is the fastest. */
static double distance(const struct chart *chart, int curve)
{
    double nearest = INFINITY;
    for (int s = 0; s < chart->sizes; s++) {
        if (chart->fastest[s] == curve)
            return 0;
        nearest = fmin(nearest, chart->curves[curve].seconds[s] / least(chart, s));
    }
    return nearest;
}

static bool are_one_line(const struct chart *chart, int a, int b)
{
    int s = 0;
    while (s < chart->sizes &&
           fabs(chart->curves[a].seconds[s] / chart->curves[b].seconds[s] - 1) < SAME)
        s++;
    return s == chart->sizes;
}

/* The drawn curve that it is, or lies on. @return ndrawn: none */
static int colour_of(const struct chart *chart, int curve)
{
    int c = 0;
    while (c < chart->ndrawn && !are_one_line(chart, curve, chart->drawn[c]))
        c++;
    return c;
}

static void choose_curves(struct chart *chart, int ncurves)
{
    for (int nearest = 0; nearest >= 0 && chart->ndrawn < CURVES;) {
        nearest = -1;
        for (int c = 0; c < ncurves; c++) {
            if (colour_of(chart, c) == chart->ndrawn &&
                (nearest < 0 || distance(chart, c) < distance(chart, nearest)))
                nearest = c;
        }
        if (nearest >= 0)
            chart->drawn[chart->ndrawn++] = nearest;
    }
}

/* ---- Drawing ---- */

static const char style[] = ".grey{fill:#666}\n.white{fill:#fff}\n"
                            ".cross{stroke:#888;stroke-dasharray:4 3}\n"
                            ".curve{fill:none;stroke-width:2}\n";

/* Sizes, with what the fastest takes there; and times over it. */
static void draw_axes(const struct chart *chart)
{
    const int step = (chart->sizes + TICKS - 1) / TICKS;
    char text[48];
    for (int s = 0; s < chart->sizes; s += step) {
        const double x = x_of(chart, (double)chart->bytes[s]);
        strag_svg_line(stdout, "rule", x, TOP, x, TOP + HEIGHT);
        strag_svg_text(stdout, "middle", x, TOP + HEIGHT + 18, "%s",
                       size_text(chart->bytes[s], text));
        strag_svg_text(stdout, "middle grey", x, TOP + HEIGHT + 36, "%s us",
                       time_text(least(chart, s), text));
    }
    for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
        const double y = y_of(ratios[r]);
        strag_svg_line(stdout, "rule", LEFT, y, LEFT + WIDTH, y);
        strag_svg_text(stdout, "end", LEFT - 8, y + 4, "%g%s", ratios[r],
                       ratios[r] < HIGHEST ? "" : " up");
    }
}

/* Where the line between two sizes of one curve crosses that of another one. */
static double crossing(const struct chart *chart, int s)
{
    const struct curve *old = &chart->curves[chart->fastest[s]];
    const struct curve *new = &chart->curves[chart->fastest[s + 1]];
    const double before = log(new->seconds[s] / old->seconds[s]);
    const double behind = log(old->seconds[s + 1] / new->seconds[s + 1]);
    const double part = before + behind > 0 ? before / (before + behind) : 0.5;
    const double low = log2((double)chart->bytes[s]), high = log2((double)chart->bytes[s + 1]);
    return exp2(low + part * (high - low));
}

static void draw_winner(const struct chart *chart, int curve, double left, double right)
{
    const char *name = chart->curves[curve].name;
    printf("<g class=\"fastest\"><title>%s</title><rect x=\"%.1f\" y=\"%g\" width=\"%.1f\" "
           "height=\"%g\" fill=\"%s\"/>",
           name, left, TOP - BAND - 4, right - left, BAND,
           strag_svg_colour(colour_of(chart, curve)));
    if (right - left > 7.5 * (double)strlen(name))
        strag_svg_text(stdout, "middle white", (left + right) / 2, TOP - 9, "%s", name);
    puts("</g>");
}

static void draw_winners(const struct chart *chart)
{
    const int last = chart->sizes - 1;
    double left = LEFT;
    for (int s = 0; s <= last; s++) {
        if (s < last && chart->fastest[s + 1] == chart->fastest[s])
            continue;
        const double right = s < last ? x_of(chart, crossing(chart, s)) : LEFT + WIDTH;
        draw_winner(chart, chart->fastest[s], left, right);
        if (s < last)
            strag_svg_line(stdout, "cross", right, TOP - 4, right, TOP + HEIGHT);
        left = right;
    }
}

static void draw_curve(const struct chart *chart, int index)
{
    const struct curve *curve = &chart->curves[chart->drawn[index]];
    const char *colour = strag_svg_colour(index);
    const double y = TOP + 12 + 20 * index;
    printf("<polyline class=\"curve\" stroke=\"%s\" points=\"", colour);
    for (int s = 0; s < chart->sizes; s++)
        printf("%s%.1f,%.1f", s > 0 ? " " : "", x_of(chart, (double)chart->bytes[s]),
               y_of(curve->seconds[s] / least(chart, s)));
    printf("\"><title>%s</title></polyline>\n", curve->name);
    printf("<rect x=\"%g\" y=\"%g\" width=\"14\" height=\"4\" fill=\"%s\"/>", LEFT + WIDTH + 16,
           y - 6, colour);
    strag_svg_text(stdout, "", LEFT + WIDTH + 36, y, "%s", curve->name);
}

static void draw_rest(const struct chart *chart, int ncurves)
{
    if (ncurves > chart->ndrawn)
        strag_svg_text(stdout, "grey", LEFT + WIDTH + 16, TOP + 12 + 20.0 * chart->ndrawn,
                       "%d more: slower, or the same", ncurves - chart->ndrawn);
}

bool cost_svg(const char *title, const size_t *bytes, int sizes, const struct curve *curves,
              int ncurves)
{
    struct chart chart = {.curves = curves, .bytes = bytes, .sizes = sizes};
    chart.fastest = calloc((size_t)sizes, sizeof *chart.fastest);
    if (!chart.fastest)
        return false;
    find_fastest(&chart, ncurves);
    choose_curves(&chart, ncurves);
    strag_svg_begin(stdout, LEFT + WIDTH + NAMES, TOP + HEIGHT + BOTTOM, 12, style, title);
    strag_svg_text(stdout, "note", STRAG_SVG_MARGIN, STRAG_SVG_BELOW,
                   "Modelled time over that of the fastest, which is named above, by the vector's "
                   "size");
    draw_axes(&chart);
    draw_winners(&chart);
    for (int c = chart.ndrawn - 1; c >= 0; c--)
        draw_curve(&chart, c);
    draw_rest(&chart, ncurves);
    strag_svg_end(stdout);
    free(chart.fastest);
    return true;
}
