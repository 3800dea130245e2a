/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_strag_trace: a communicator's calls, on all ranks, into files. */
#ifndef COLL_STRAG_WRITE_TRACE_H
#define COLL_STRAG_WRITE_TRACE_H

#include "compat/compat.h"

#include "plan/trace.h"

/** On rank 0, at the communicator's end: write its trace, if it is among those that are wanted.
 * @param job  sorted */
void coll_strag_trace_write(const ompi_communicator_t *comm, const struct strag_trace_job *job);

#endif
