/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps that the ways of setting a communicator up (setup.c) have in common. The setups' own
 * header: no other file needs it.
 *
 * Errors are noted in `code` of struct setup. One of a message ends setup on this rank; a rank that
 * is out of memory goes on, so that no other rank waits for it, until coll_strag_setup_conclude.
 */
#ifndef COLL_STRAG_SETUP_STEPS_H
#define COLL_STRAG_SETUP_STEPS_H

#include "communicator.h"

/** On one rank, while it lasts. What it points to is its own, and freed when it ends; module, comm
 * and origin are not. */
struct setup {
    struct coll_strag_module *module;
    ompi_communicator_t *comm;
    int code; /* how it went so far; OMPI_ERR_OUT_OF_RESOURCE: this rank still takes part */

    /* rank 0's; NULL elsewhere */
    struct coll_strag_rank_info *info; /* [rank]; NULL unless all is asked anew */
    struct strag_rank_location *ranks; /* [rank]: where they are */
    void *packed;                      /* the topology; NULL: there is none */

    /* other ranks' */
    struct strag_topology *unpacked; /* the module's topology while it is set up; NULL: none */

    /* with an origin */
    struct coll_strag_heritage *origin; /* the module's heritage has the reference to it; NULL: all
                                           is asked anew */
    int32_t *rank_of;                   /* [rank]: its rank there */
};

/** Note how a step ended. @return whether this rank goes on after a step that ended with `code` */
bool coll_strag_setup_may_continue(struct setup *setup, int code);

/** Rank 0's data to all, by the communicator's own broadcast. @return OMPI_SUCCESS, or its error */
int coll_strag_setup_broadcast(ompi_communicator_t *comm, void *data, size_t bytes);

/* ---- Where the ranks are ---- */

/** The module's from now on, until the end of setup or, on rank 0, of the heritage.
 * @param topology  taken over */
void coll_strag_setup_keep_topology(struct setup *setup, struct strag_topology *topology);

/** Host and rank in the job: from the topology, and the processes' names.
 * @param topology  NULL is allowed
 * @return [rank]; the caller's to free; NULL: out of memory, or the hosts have no names */
struct strag_rank_location *coll_strag_setup_find_locations(ompi_communicator_t *comm,
                                                            const struct strag_topology *topology);

/** How messages to every rank are cut; the heritage's. @return OMPI_SUCCESS, or out of memory */
int coll_strag_setup_find_lanes(const struct setup *setup);

/* ---- What messages go over ---- */

/** Rank 0: what is wanted, once it is known where the ranks are. */
void coll_strag_setup_fill_in_hosts(const struct setup *setup, struct coll_strag_hosts *hosts);

/** What messages between hosts go over. Collective. @return whether this rank goes on */
bool coll_strag_setup_connect_network(struct setup *setup, const struct coll_strag_hosts *hosts);

/** What those within a host go over. Collective. @return whether this rank goes on */
bool coll_strag_setup_connect_memory(struct setup *setup, const struct coll_strag_hosts *hosts);

/** On rank 0. */
void coll_strag_setup_log_within_hosts(const struct setup *setup);

/* ---- The end ---- */

/** Calls that are never ours are delegated at once from now on. */
void coll_strag_setup_find_shortest(struct coll_strag_module *module);

/** The previous component runs all calls from now on. The same on all ranks. */
void coll_strag_setup_give_up(struct coll_strag_module *module, enum coll_strag_reason reason);

/** Has each rank all that it needs? If so, others may use the heritage; if not, all give up. An
 * error of a message stays this rank's own. Collective. */
void coll_strag_setup_conclude(struct setup *setup);

#endif
