/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results of strag-tune as a rule in a rules file (src/model/rules.h).
 */
#ifndef STRAG_TUNE_RULES_H
#define STRAG_TUNE_RULES_H

#include "base/status.h"

#include <stddef.h>

/* The job that was measured. */
struct tune_job {
    int ranks, hosts;
    int ranks_per_host; /* 0 if not all are equal */
};

/* Medians in seconds. Contender 0 is the previous component; the last `shown` are other components
 * of Open MPI, which no rule can choose. */
struct tune_results {
    int contenders, shown, sizes;
    const char *const *names; /* [contender]: as rules files name them */
    const size_t *bytes;      /* [size], ascending */
    const double *seconds;    /* [size * contenders + contender] */
};

/**
 * Make the text of a rules file: the rule of these results, and those of `old` for other jobs. For
 * each size the rule has the fastest contender. But the one for the next smaller size (at first,
 * the previous component) stays unless another one is faster by more than 3 %.
 *
 * @param old    text of a rules file, kept except strag-tune's own rule for the same job; or NULL
 * @param name   what messages call the file
 * @param[out] text  the caller's to free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_ARGUMENT (`old` cannot be merged with, FILE:LINE), STRAG_ERR_MEMORY
 */
int tune_write(const struct tune_job *job, const struct tune_results *results, const char *old,
               const char *name, char **text, struct strag_error *err);

#endif
