/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology as YAML, for files that people read and that other machines understand (for sending
 * there is strag_topology_pack):
 *
 *     network: torus          # tree, torus, hyperx, hammingmesh
 *     size: [4, 2]            # unless a tree; all boards together
 *     wrap: [true, false]     # a torus
 *     board: [2, 1]           # a HammingMesh
 *     nodes:                  # a parent before its children, which are side by side; from 0
 *       - {level: network}
 *       - {level: host, parent: 0, name: "n0", position: 3, uplink: 100}   # Gbit/s
 *       - {level: cache, parent: 1}
 *       - {level: rank, parent: 2, ranks: "0..3,7"}    # five nodes
 */
#ifndef STRAG_TOPOLOGY_TEXT_H
#define STRAG_TOPOLOGY_TEXT_H

#include "base/yaml.h"
#include "machine/topology.h"

#include <stdio.h>

/** Write the lines above. @param indent  blanks before each of them */
void strag_topology_write(const struct strag_topology *topology, FILE *stream, int indent);

/** Read what was written. @param target  struct strag_topology **, the caller's to free; untouched
 * on failure. A strag_yaml_reader */
int strag_topology_yaml(struct strag_yaml *yaml, const yaml_node_t *node, void *target);

#endif
