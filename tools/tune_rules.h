/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What strag-tune measured, as a rule in a rules file (src/model/rules.h).
 */
#ifndef STRAG_TUNE_RULES_H
#define STRAG_TUNE_RULES_H

#include "base/status.h"

#include <stddef.h>

/* The job that was measured. */
struct tune_job {
    int ranks, hosts;
    int ranks_per_host; /* 0: not all equal */
};

/* Medians in seconds. Contender 0 is the previous component; the last ones are other components of
 * Open MPI, to which no rule can lead: they are shown. */
struct tune_results {
    int contenders, shown, sizes;
    const char *const *names; /* [contender], as a rules file calls them */
    const size_t *bytes;      /* [size], ascending */
    const double *seconds;    /* [size * contenders + contender] */
};

/**
 * The text of a rules file: the rule of these results, and those of `old` for other jobs. For each
 * size the rule has the fastest contender; but the one for the next smaller size, and the previous
 * component at first, stays unless another one is better by more than 3 %.
 *
 * @param old    text of a rules file to be kept but for a rule for the same job of strag-tune's
 * own; NULL: none
 * @param name   what messages call it
 * @param[out] text  the caller's to free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_ARGUMENT (old is not to be merged with, FILE:LINE), STRAG_ERR_MEMORY
 */
int tune_write(const struct tune_job *job, const struct tune_results *results, const char *old,
               const char *name, char **text, struct strag_error *err);

#endif
