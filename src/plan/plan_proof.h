/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A record that a plan's file was proved, in a file next to it: FILE.proof (doc/plan-format.md).
 * The record is trusted. The plan's form is checked in any case, so that no operation is outside of
 * the vector or of the ranks.
 */
#ifndef STRAG_PLAN_PROOF_H
#define STRAG_PLAN_PROOF_H

#include "plan/plan_file.h"

/**
 * Write FILE.proof.
 *
 * @param file     the plan's file
 * @param given    the plan that was read from it
 * @param measure  what the proof has counted
 * @param version  of strag
 * @return STRAG_OK, or STRAG_ERR_IO with "FILE.proof: why"
 */
int strag_plan_proof_write(const char *file, const struct strag_given *given,
                           const struct strag_measure *measure, const char *version,
                           struct strag_error *err);

/**
 * Read a plan's file, and find out whether FILE.proof says that exactly these bytes were proved.
 *
 * @param most         the effort that reading and proving may take, if there is no such record
 * @param[out] proved  there is such a record; otherwise strag_given_prove has to prove the plan
 * @return as strag_plan_file_parse, or STRAG_ERR_IO
 */
int strag_plan_proof_read(const char *file, const struct strag_effort *most,
                          struct strag_given **given, bool *proved, struct strag_error *err);

#endif
