/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans in the compact form of doc/plan-format.md: what ranks and rounds repeat is there once.
 */
#ifndef STRAG_TOOLS_COMPACT_H
#define STRAG_TOOLS_COMPACT_H

#include "plan/given.h"

#include <stdio.h>

/**
 * All ranks' plans in as few groups and loops as are found. What they say is the same, operation by
 * operation.
 *
 * @param progress    is given how many ranks are done; may be NULL
 * @param[out] given  closed; the caller's to free; untouched on failure
 * @return STRAG_OK; STRAG_ERR_UNSUPPORTED: it is more than is accepted; or as strag_instance_plan
 */
int compact_plans(const struct strag_instance *instance, const struct strag_progress *progress,
                  struct strag_given **given, struct strag_error *err);

/** Write them so. @return as compact_plans, or STRAG_ERR_IO */
int write_compact(FILE *out, const struct strag_instance *instance,
                  const struct strag_progress *progress, struct strag_error *err);

#endif
