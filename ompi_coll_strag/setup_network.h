/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What messages between hosts go over: the PML, or UCX where rank 0 wants that and all can:
 *
 *     all ranks   have all opened UCX? how long is the longest address? do all know all others,
 *                 from communicators before? an agreement
 *     all ranks   have all room for what comes? an agreement
 *     all ranks   a card of each: its number for the communicator; if they do not know each other,
 *                 also its address. An allgather
 *     all ranks   has each reached a rank on its own host, and one on another? an agreement
 *
 * ucp/connect.c has what a rank does in between.
 */
#ifndef COLL_STRAG_SETUP_NETWORK_H
#define COLL_STRAG_SETUP_NETWORK_H

#include "setup_steps.h"

/* setup->hosts says what is wanted. */
#define COLL_STRAG_SETUP_NETWORK_STEPS                                                             \
    coll_strag_setup_open_network, coll_strag_setup_room_for_cards, coll_strag_setup_show_cards,   \
        coll_strag_setup_read_cards, coll_strag_setup_end_network

coll_strag_setup_step coll_strag_setup_open_network, coll_strag_setup_room_for_cards,
    coll_strag_setup_show_cards, coll_strag_setup_read_cards, coll_strag_setup_end_network;

#endif
