/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLL_STRAG_QUERY_H
#define COLL_STRAG_QUERY_H

#include "compat/compat.h"

/** Take a communicator that is being made. @return NULL: declined, and the reason is logged */
mca_coll_base_module_t *coll_strag_comm_query(ompi_communicator_t *comm, int *priority);

#endif
