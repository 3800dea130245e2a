/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Costs as a picture: what each algorithm takes over the fastest, at every size, and where another
 * one becomes the fastest.
 */
#ifndef STRAG_COST_SVG_H
#define STRAG_COST_SVG_H

#include <stdbool.h>
#include <stddef.h>

struct curve {
    const char *name;
    const double *seconds; /* [size] */
};

/**
 * Write the picture to standard output. Of many curves those are drawn that are the fastest
 * somewhere, then those that come nearest to it; the others are counted.
 *
 * @param title   "n = 64, torus 8x8, ..."
 * @param bytes   [sizes]: two or more, above 0 and ascending
 * @param curves  [ncurves]: at least one; all times above 0
 * @return whether there was memory
 */
bool cost_svg(const char *title, const size_t *bytes, int sizes, const struct curve *curves,
              int ncurves);

#endif
