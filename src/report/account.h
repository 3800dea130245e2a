/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator's report, as text for people and as JSON for programs: the time its allreduces
 * took, what ran them, who was last and what that cost, what strag did about it, and what to try.
 * doc/guide/report.md explains both forms.
 */
#ifndef STRAG_ACCOUNT_H
#define STRAG_ACCOUNT_H

#include "learn/summary.h"
#include "machine/job.h"
#include "model/numbers.h"
#include "report/ledger.h"
#include "report/loss.h"
#include "run/roster.h"

#include <stdio.h>

/* Why strag does not look for stragglers in a communicator's calls. */
enum strag_account_watch {
    STRAG_ACCOUNT_WATCHES,
    STRAG_ACCOUNT_NOT_YET,       /* no call has required it so far */
    STRAG_ACCOUNT_CONFIGURED_OFF /* by coll_strag_straggler, _algorithm or _reproducible */
};

struct strag_account {
    const char *name; /* the communicator's */
    int n;
    const struct strag_rank_location *ranks; /* [n]; host is "" if not known */
    double run;                              /* seconds of the job so far */
    const struct strag_ledger *ledger;       /* rank 0's */
    const struct strag_loss *loss;
    const struct strag_standstill *standstill; /* the longest; NULL if there was none */
    const char *const *outcomes; /* [STRAG_LEDGER_OUTCOMES]: an algorithm's name, or why the
                                    previous component ran the call */
    int algorithms;              /* outcomes below this are algorithms */
    const char *previous;        /* the previous component's name; NULL if not known */
    const char *declined;        /* why strag runs none of the calls; NULL if it may */
    bool not_asked;              /* ... because the user has not asked for strag */

    enum strag_account_watch watch;
    bool dynamic;                              /* calls may go ahead without the last rank */
    int needed;                                /* calls that it takes to find a straggler */
    const struct strag_watch_summary *summary; /* NULL if calls were not watched */
    const struct strag_sourced_model *model;   /* NULL if not known */
    const char *model_file;                    /* may be NULL if no number is from a file */
};

/** A few lines, each with the communicator's name in front. */
void strag_account_text(const struct strag_account *account, FILE *out);

/** One JSON object, without a line's end. */
void strag_account_json(const struct strag_account *account, FILE *out);

#endif
