/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking and persistent calls that the previous component runs on copies in host memory, since
 * a buffer is in a device's memory, which it may not support. The user holds a strag request;
 * its job waits for the previous component's request, and copies the result back.
 */
#ifndef COLL_STRAG_ON_COPIES_H
#define COLL_STRAG_ON_COPIES_H

#include "call.h"

/** MPI_Iallreduce or MPI_Allreduce_init. @param info  the user's; NULL for MPI_Iallreduce
 * @return OMPI_SUCCESS, or an error: then there is no request */
int coll_strag_on_copies(const struct coll_strag_call *call, struct ompi_info_t *info,
                         ompi_request_t **request);

#endif
