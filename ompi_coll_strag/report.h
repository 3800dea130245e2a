/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank slows the job down: a line at the end, and performance variables at any time. */
#ifndef COLL_STRAG_REPORT_H
#define COLL_STRAG_REPORT_H

#include "watch.h"

/** The line, on stderr. */
coll_strag_watch_report coll_strag_report;

void coll_strag_report_register(const mca_base_component_t *component);

#endif
