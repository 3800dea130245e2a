/* SPDX-License-Identifier: BSD-3-Clause */
/* For topology.c alone: which part of the grid the hosts fill. */
#ifndef STRAG_TOPOLOGY_BOX_H
#define STRAG_TOPOLOGY_BOX_H

#include "machine/topology.h"

/** Set topology->box if there is one. @return STRAG_OK or STRAG_ERR_MEMORY */
int strag_topology_find_box(struct strag_topology *topology);

#endif
