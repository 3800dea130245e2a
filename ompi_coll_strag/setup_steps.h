/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ways of setting a communicator up (setup.c) have in common. The setups' own header: no
 * other file needs it.
 *
 * A way is a list of steps. A step does what can be done without others, and at its end may begin
 * an exchange (run/exchange.h); the next step comes once that is over. What a step begins only
 * under a condition the next one asks for under the same.
 *
 * Errors are recorded in `code` of struct setup. One of a message ends setup on this rank; a rank
 * that is out of memory goes on, so that no other rank waits for it, until
 * coll_strag_setup_conclude.
 */
#ifndef COLL_STRAG_SETUP_STEPS_H
#define COLL_STRAG_SETUP_STEPS_H

#include "communicator.h"
#include "rank_info.h"
#include "roll_call.h"
#include "ucp/ucp.h"

#include "run/exchange.h"

typedef void coll_strag_setup_step(struct setup *setup);

/* Up to so many ranks there is room from the beginning for what they tell each other of shared
 * memory: no rank can be without. */
enum { COLL_STRAG_SETUP_FEW_RANKS = 128 };

/* On one rank, while it lasts: made with the communicator, so that no rank can be without it. What
 * it points to is its own, and freed when it ends; module, comm, hosts, lane_of and origin are not.
 */
struct setup {
    struct coll_strag_module *module;
    ompi_communicator_t *comm;
    bool blocking; /* a blocking call began it, so all ranks are in one until it is done */
    int code;      /* how it went so far; OMPI_ERR_OUT_OF_RESOURCE: this rank still takes part */
    coll_strag_setup_step *const *next; /* in a list that ends with NULL */

    /* its messages */
    struct coll_strag_pml_transport pml;
    struct coll_strag_message under_way[STRAG_EXCHANGE_UNDER_WAY];
    struct strag_exchange exchange;
    struct setup *next_running;              /* in setup.c's list */
    int32_t numbers[COLL_STRAG_UCP_NUMBERS]; /* to be agreed upon, or rank 0's */
    struct coll_strag_roll_call roll_call;
    struct coll_strag_at_once *at_once; /* part of this one's memory; NULL: too many ranks */
    struct coll_strag_rank_info own;

    const struct coll_strag_hosts *hosts; /* what rank 0 wants, once that is known */

    /* rank 0's; NULL elsewhere */
    struct coll_strag_rank_info *info; /* [rank]; NULL unless all is asked anew */
    struct strag_rank_location *ranks; /* [rank]: where they are */
    struct coll_strag_table_inputs inputs;

    void *given;  /* plans from files, as bytes; NULL: there are none */
    void *packed; /* the topology; NULL: there is none, or the heritage has it */

    /* other ranks' */
    struct strag_topology *unpacked; /* the module's topology while it is set up; NULL: none */

    /* with an origin, or a parent */
    struct coll_strag_heritage *origin; /* the module's heritage has the reference to it; NULL: all
                                           is asked anew */
    int32_t *rank_of;                   /* [rank]: its rank there */
    struct coll_strag_heritage *parent; /* a reference, until the module's heritage has it */

    bool attached;  /* dups will have the heritage */
    bool concludes; /* there is a conclusion */
    bool asked_first_call;

    /* setup_network.c's */
    bool connects;
    struct coll_strag_ucp_joining ucp;

    /* setup_memory.c's */
    bool joins, rejoins, stop;
    const uint8_t *lane_of;
    struct strag_shm *shm; /* until it is the module's */
    struct strag_shm_info own_info, *infos;

    struct strag_shm_info few_infos[]; /* [rank]; none with more than COLL_STRAG_SETUP_FEW_RANKS */
};

/** Note how a step ended. @return whether this rank goes on after a step that ended with `code` */
bool coll_strag_setup_may_continue(struct setup *setup, int code);

/* ---- Where the ranks are ---- */

/** The module's from now on, until the end of setup or, on rank 0, of the heritage.
 * @param topology  taken over */
void coll_strag_setup_keep_topology(struct setup *setup, struct strag_topology *topology);

/** Host and rank in the job: from the topology, and the processes' names.
 * @param topology  NULL is allowed
 * @return [rank]; the caller's to free; NULL: out of memory, or the hosts have no names */
struct strag_rank_location *coll_strag_setup_find_locations(ompi_communicator_t *comm,
                                                            const struct strag_topology *topology);

/** How messages to every rank are cut.
 * @param topology  NULL: it is not known
 * @return [n]: enum coll_strag_lane; the caller's to free; NULL: out of memory */
uint8_t *coll_strag_setup_find_lanes(const struct strag_topology *topology, int n, int me);

/* ---- What messages go over ---- */

/** Rank 0: what is wanted, once it is known where the ranks are. */
void coll_strag_setup_fill_in_hosts(const struct setup *setup, struct coll_strag_hosts *hosts);

/** On rank 0. */
void coll_strag_setup_log_within_hosts(const struct setup *setup);

/* ---- The end ---- */

/** Calls that are never ours are delegated at once from now on. */
void coll_strag_setup_find_shortest(struct coll_strag_module *module);

/** The previous component runs all calls from now on. The same on all ranks. */
void coll_strag_setup_give_up(struct coll_strag_module *module, enum coll_strag_reason reason);

/* Has each rank all that it needs? If so, others may use the heritage; if not, all give up. An
 * error of a message stays this rank's own. Nothing is asked unless setup->concludes. */
#define COLL_STRAG_SETUP_CONCLUDE_STEPS coll_strag_setup_ask_all_well, coll_strag_setup_conclude

coll_strag_setup_step coll_strag_setup_ask_all_well, coll_strag_setup_conclude;

#endif
