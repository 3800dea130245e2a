/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans in the compact form of doc/plan-format.md: repeated operations are written once.
 */
#ifndef STRAG_TOOLS_COMPACT_H
#define STRAG_TOOLS_COMPACT_H

#include "plan/given.h"

#include <stdio.h>

/**
 * Put all ranks' plans into as few groups and loops as are found. The operations stay the same.
 *
 * @param progress    reports how many ranks are done; may be NULL
 * @param[out] given  closed; the caller's to free; untouched on failure
 * @return STRAG_OK; STRAG_ERR_UNSUPPORTED if a limit of user plans is exceeded; or as
 *         strag_instance_plan
 */
int compact_plans(const struct strag_instance *instance, const struct strag_progress *progress,
                  struct strag_given **given, struct strag_error *err);

/** Write plans in the compact form. @return as compact_plans, or STRAG_ERR_IO */
int write_compact(FILE *out, const struct strag_instance *instance,
                  const struct strag_progress *progress, struct strag_error *err);

#endif
