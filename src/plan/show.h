/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans for people (text) and for programs (JSON).
 */
#ifndef STRAG_SHOW_H
#define STRAG_SHOW_H

#include "plan/algorithm.h"

#include <stdio.h>

/* Ranks [first, end). */
struct strag_ranks {
    int first, end;
};

/**
 * Write ranks' plans as text: a table per rank, one operation a line. The plans are made one after
 * the other, twice each, so that tables have the same layout and only one plan is in memory.
 *
 * @param ranks     at least one
 * @param progress  reports how many ranks are done; may be NULL
 * @return STRAG_OK, STRAG_ERR_IO, or as strag_instance_plan with the reason in err
 */
int strag_show_text(FILE *out, const struct strag_instance *instance, struct strag_ranks ranks,
                    const struct strag_progress *progress, struct strag_error *err);

/* The version of the format in doc/plan-format.md. */
enum { STRAG_PLAN_VERSION = 1 };

/**
 * Write ranks' plans as JSON (doc/plan-format.md; the format is stable). Each bound is the smallest
 * double that is not below the exact fraction, so floor(bound * count) is the exact first element
 * for every count below 2^50 / blocks. Otherwise as strag_show_text; each plan is made once.
 */
int strag_show_json(FILE *out, const struct strag_instance *instance, struct strag_ranks ranks,
                    const struct strag_progress *progress, struct strag_error *err);

/** The members that both forms of the format begin with, from the opening brace to the comma
 * before `bounds` or `groups`. */
void strag_show_json_head(FILE *out, const struct strag_instance *instance);

#endif
