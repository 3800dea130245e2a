/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of nonblocking and persistent collectives: what differs between Open MPI's versions.
 */
#ifndef COLL_STRAG_COMPAT_REQUESTS_H
#define COLL_STRAG_COMPAT_REQUESTS_H

#include "compat.h"

#include "ompi/mca/coll/base/coll_base_util.h"

/** The operator and the type that Open MPI keeps for a nonblocking call. @return [2], NULL: none */
static inline opal_object_t **coll_strag_request_kept(ompi_coll_base_nbc_request_t *request)
{
#if OMPI_MAJOR_VERSION >= 5
    return request->data.refcounted.objs.objs;
#else
    return request->data.objs.objs;
#endif
}

#endif
