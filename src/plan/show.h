/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans for people (text, SVG) and for programs (JSON).
 */
#ifndef STRAG_SHOW_H
#define STRAG_SHOW_H

#include "plan/plan.h"

#include <stdio.h>

/**
 * Write plans of one collective as text: a table per rank, one operation a line.
 *
 * @param plans  one or more, of the same collective
 * @param count  how many
 * @return STRAG_OK, or STRAG_ERR_IO
 */
int strag_show_text(FILE *out, struct strag_plan *const *plans, int count);

/**
 * Write plans as JSON (the format is documented in strag(1) and stable). Each bound is the smallest
 * double that is not below the exact fraction, so floor(bound * count) is the exact first element
 * for every count below 2^50 / blocks.
 */
int strag_show_json(FILE *out, struct strag_plan *const *plans, int count);

/** Write a timeline: ranks down, rounds across, one coloured bar per message. */
int strag_show_svg(FILE *out, struct strag_plan *const *plans, int count);

#endif
