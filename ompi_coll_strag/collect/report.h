/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank slows the job down: a few lines at the end, and performance variables at any time. */
#ifndef COLL_STRAG_REPORT_H
#define COLL_STRAG_REPORT_H

#include "watch/watch.h"

#include "report/account.h"

/** Write a communicator's report, on the process that is its rank 0: on stderr, or into the file
 * that coll_strag_report names. */
void coll_strag_report(const struct strag_account *account);

/** At the end: close the file. */
void coll_strag_report_close(void);

void coll_strag_report_register(const mca_base_component_t *component);

#endif
