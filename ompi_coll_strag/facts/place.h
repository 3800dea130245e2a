/* SPDX-License-Identifier: BSD-3-Clause */
/* On rank 0: from the locations of a communicator's ranks to their topology. */
#ifndef COLL_STRAG_PLACE_H
#define COLL_STRAG_PLACE_H

#include "compat/compat.h"

#include "machine/job.h"

/** On rank 0: the topology of a communicator. @param ranks  [n]
 * @return the caller's to free; NULL: out of memory */
struct strag_topology *coll_strag_make_topology(ompi_communicator_t *comm,
                                                const struct strag_rank_location *ranks);

#endif
