/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast this host's links to the network are, as the system's own files report it.
 *
 *     class/infiniband/DEVICE/ports/N/state   "4: ACTIVE"
 *     class/infiniband/DEVICE/ports/N/rate    "100 Gb/sec (4X EDR)"
 *     class/net/NAME/operstate                "up"; loopback, tunnels and the like: "unknown"
 *     class/net/NAME/speed                    25000, in Mbit/s; -1: not known
 *     class/net/NAME/device                   it is hardware, or what a hypervisor shows as such
 *     class/net/NAME/bonding                  it is several in one; its speed is that of all
 *     class/net/NAME/master                   it is one of these
 *
 * Ports of InfiniBand that are active count, all together: a cable that runs at half its width or a
 * rail that is down makes the host slower than others of its kind. Where there are none, network
 * interfaces do that are up: hardware and bonds, but no interface within a bond. In a container
 * there may be neither; then whatever is up there and knows its speed.
 *
 * Only the ratio between hosts is used. So it does no harm that links are counted over which
 * nothing is sent, or that virtual ones all report the same.
 */
#ifndef STRAG_LINK_SPEED_H
#define STRAG_LINK_SPEED_H

#include "machine/job.h"
#include "machine/state.h"

/**
 * @param root  "/sys"
 * @return bytes per second; 0: not known
 */
double strag_link_speed(const char *root);

/**
 * What is usual among several: the median of those that are known, so that one with a faster link
 * does not make all others slow.
 *
 * @param speeds  0: not known; put in order
 * @param count   how many
 * @return the usual one, or 0: less than half are known
 */
double strag_link_speed_usual(double *speeds, int count);

/**
 * Add the hosts whose reported speed is below the usual one to a state; none where the topology
 * itself says how fast hosts' links are.
 *
 * @param ranks  one per rank of the topology
 */
void strag_link_speed_compare(const struct strag_topology *topology,
                              const struct strag_rank_location *ranks,
                              struct strag_state_record *state);

#endif
