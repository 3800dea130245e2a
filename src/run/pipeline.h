/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running a plan as a pipeline: operations of several rounds are active at the same time, cut into
 * segments. engine.h describes its memory and why it makes progress.
 */
#ifndef STRAG_PIPELINE_H
#define STRAG_PIPELINE_H

#include "run/engine.h"

struct strag_pipeline;

/**
 * Prepare to run a plan. The plan must outlive the result.
 *
 * @param content  per operation: as in struct strag_transfer; must outlive the result, too
 * @param depth    messages in flight for one operation, at least 1
 * @return NULL if out of memory
 */
struct strag_pipeline *strag_pipeline_create(const struct strag_plan *plan, const int32_t *content,
                                             int depth);

/** `pipeline` may be NULL. */
void strag_pipeline_free(struct strag_pipeline *pipeline);

/**
 * Begin a call; `call` must live until it has ended. Every lane has a transport.
 *
 * @return STRAG_OK; or STRAG_ERR_MEMORY, and nothing has begun
 */
int strag_pipeline_start(struct strag_pipeline *pipeline, const struct strag_call *call);

/** Do what can be done now. @return as strag_engine_progress */
int strag_pipeline_progress(struct strag_pipeline *pipeline);

#endif
