/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bandwidth of this host's links to the network, as the system's files report it.
 *
 *     class/infiniband/DEVICE/ports/N/state   "4: ACTIVE"
 *     class/infiniband/DEVICE/ports/N/rate    "100 Gb/sec (4X EDR)"
 *     class/net/NAME/operstate                "up"; "unknown" for loopback, tunnels and the like
 *     class/net/NAME/speed                    Mbit/s: 25000; -1 if unknown
 *     class/net/NAME/device                   exists for hardware, also if emulated
 *     class/net/NAME/bonding                  exists for a bond; its speed is the sum
 *     class/net/NAME/master                   exists for an interface in a bond
 *
 * The bandwidth is the sum over all active InfiniBand ports, so a cable at half its width or a rail
 * that is down makes the host slower than its peers. Without such ports, it is the sum over the
 * network interfaces that are up: hardware and bonds, without the interfaces in a bond. Without
 * these (in a container), it is the sum over all interfaces that are up and have a speed.
 *
 * Only ratios between hosts are used, so it does not matter if unused links are counted, or if all
 * virtual ones report the same.
 */
#ifndef STRAG_LINK_SPEED_H
#define STRAG_LINK_SPEED_H

#include "machine/job.h"
#include "machine/state.h"

/**
 * @param root  "/sys"
 * @return bytes per second; 0 if unknown
 */
double strag_link_speed(const char *root);

/**
 * The median of the known speeds: with it a single faster link does not make the others slow.
 *
 * @param speeds  0 if unknown; sorted on return
 * @return 0 if less than half are known
 */
double strag_link_speed_usual(double *speeds, int count);

/**
 * Add the hosts whose reported speed is below the usual one to a state; none if the topology has
 * the bandwidths of hosts' links.
 *
 * @param ranks  one per rank of the topology
 * @param slow   the factor from which on a host is slow
 */
void strag_link_speed_compare(const struct strag_topology *topology,
                              const struct strag_rank_location *ranks, double slow,
                              struct strag_state_record *state);

#endif
