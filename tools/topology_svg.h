/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine as a picture: the tree from the network down to its hosts (of a single host: to its
 * ranks), or the grid, each link in both directions; with an algorithm, how busy its plan makes
 * each link.
 */
#ifndef STRAG_TOPOLOGY_SVG_H
#define STRAG_TOPOLOGY_SVG_H

#include "write.h"

/**
 * @param machine    its topology is not NULL
 * @param algorithm  NULL: links are drawn in the same way
 * @return an EXIT_ code; others than EXIT_DONE have been explained on stderr, and nothing is
 * written
 */
int topology_svg(const struct command *command, const struct machine *machine,
                 const struct strag_algorithm *algorithm);

#endif
