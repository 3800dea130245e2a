/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has been proved of a plan's file once, in a file next to it: FILE.proof
 * (doc/plan-format.md). Such a file is its owner's word, which is taken for a proof; the plan's
 * form is checked in any case, so that no operation is outside of the vector or of the ranks.
 */
#ifndef STRAG_PLAN_PROOF_H
#define STRAG_PLAN_PROOF_H

#include "plan/plan_file.h"

/**
 * Write FILE.proof.
 *
 * @param file     the plan's
 * @param given    that was read from it
 * @param measure  what the proof has counted
 * @param version  strag's
 * @return STRAG_OK, or STRAG_ERR_IO with "FILE.proof: why"
 */
int strag_plan_proof_write(const char *file, const struct strag_given *given,
                           const struct strag_measure *measure, const char *version,
                           struct strag_error *err);

/**
 * Read a plan's file, and find out whether FILE.proof says that just these bytes are proved.
 *
 * @param most         what reading and proving it may take, unless that says so
 * @param[out] proved  it says so; else strag_given_prove is the way to find out
 * @return as strag_plan_file_parse, or STRAG_ERR_IO
 */
int strag_plan_proof_read(const char *file, const struct strag_effort *most,
                          struct strag_given **given, bool *proved, struct strag_error *err);

#endif
