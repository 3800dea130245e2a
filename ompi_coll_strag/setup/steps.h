/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of the two ways of setting up a communicator (setup.c).
 *
 * A way is a list of steps. A step does what can be done without other ranks, and may begin an
 * exchange at its end (run/exchange.h); the next step is taken once that is done. If a step begins
 * an exchange under a condition, the next step uses the result under the same condition.
 *
 * Errors are recorded in `code` of struct setup. An error of a message ends setup on this rank. A
 * rank that is out of memory goes on until coll_strag_setup_conclude, so that no rank waits for it.
 */
#ifndef COLL_STRAG_SETUP_STEPS_H
#define COLL_STRAG_SETUP_STEPS_H

#include "facts/rank_info.h"
#include "shared/module.h"
#include "shared/roll_call.h"
#include "wire/exchange.h"
#include "wire/ucp/ucp.h"

#include "run/exchange.h"

typedef void coll_strag_setup_step(struct setup *setup);

/* The result of the roll call. Rank 0 sends it to all, with the entries if ranks share memory. */
struct coll_strag_reply {
    struct coll_strag_answer answer;
    struct coll_strag_decision decision; /* if setup is derived, not over UCX; else 0 */
    struct coll_strag_entry entries[];   /* [rank] */
};

/* setup/derive.c's. */
struct coll_strag_setup_derive {
    struct coll_strag_shared_setup *origin; /* the module's shared setup has the reference; NULL if
                                               there is none: all ranks are asked */
    int32_t *rank_of;                       /* [rank]: its rank in the origin; owned */
    struct coll_strag_reply *reply;         /* behind the struct setup */
};

/* setup/ask.c's. */
struct coll_strag_setup_ask {
    struct coll_strag_rank_info own, *info; /* info: [rank], on rank 0; behind the struct setup */
    struct coll_strag_hosts hosts;
    void *packed; /* the topology; owned; NULL if there is none, or the shared setup has it */
};

/* setup/memory.c's. */
struct coll_strag_setup_memory {
    bool joins;
    struct strag_shm *shm;        /* owned until it is the module's */
    struct strag_shm_info *infos; /* [rank]; behind the struct setup */
};

/* One rank's setup, while it lasts. Behind it is room, untouched so far, for what all ranks send.
 */
struct setup {
    struct coll_strag_module *module;
    ompi_communicator_t *comm;
    coll_strag_setup_step *const *next; /* in a list that ends with NULL */
    int code;      /* the error, if any; with OMPI_ERR_OUT_OF_RESOURCE this rank still takes part */
    bool blocking; /* a blocking call began setup, so all ranks are in that call until it is done */
    bool attached; /* the communicator has its attribute, and is not being freed */

    struct coll_strag_exchange messages;
    int32_t number; /* to be agreed upon, or rank 0's; in the end: the number of the first
                       nonblocking call that strag runs, negated */

    const struct coll_strag_hosts *hosts; /* rank 0's, once it has sent them */
    struct strag_rank_location *ranks;    /* [rank]: where they are; on rank 0, behind this */
    struct strag_topology
        *unpacked; /* on others: the module's topology during setup; owned; or NULL */
    char *given;   /* plans from files, as bytes; owned; NULL if there are none */

    struct coll_strag_setup_derive derive;
    struct coll_strag_setup_ask ask;
    struct coll_strag_ucp_joining ucp; /* to become the module's */
    struct coll_strag_setup_memory memory;
};

/** Record that a step ended with `code`. @return whether this rank goes on */
bool coll_strag_setup_may_continue(struct setup *setup, int code);

/** On rank 0, once the ranks' hosts are known: set which transports they shall use. */
void coll_strag_setup_fill_in_hosts(const struct setup *setup, struct coll_strag_hosts *hosts);

/** On rank 0: with which rank to measure the network, if its speed is not known.
 * @param hosts  has the transport @return 0 if nothing is to be measured */
int coll_strag_setup_find_ping(const struct setup *setup, const struct coll_strag_hosts *hosts);

/** From now on, calls that strag never runs are delegated at once. */
void coll_strag_setup_find_shortest(struct coll_strag_module *module);

/** The previous component runs all calls from now on. All ranks must do this, or none. */
void coll_strag_setup_give_up(struct coll_strag_module *module, enum coll_strag_reason reason);

/* ---- The roll call, and what follows from an origin ---- */

coll_strag_setup_step coll_strag_setup_call_roll, coll_strag_setup_answer,
    coll_strag_setup_show_places, coll_strag_setup_join_derived, coll_strag_setup_end_derive;

/** Evaluate the roll call. @param[out] here  have all ranks the same strag?
 * @return whether they have the same origin, too, so that the derived way goes on; if not, the
 *         origin is forgotten. The same on all ranks */
bool coll_strag_setup_is_derived(struct setup *setup, bool *here);

/* ---- Asking all ranks ---- */

coll_strag_setup_step coll_strag_setup_tell_own, coll_strag_setup_tell_hosts,
    coll_strag_setup_tell_topology, coll_strag_setup_keep_topology, coll_strag_setup_ping,
    coll_strag_setup_end_ask;

/* ---- The network's transport, which setup->hosts names ---- */

/* `connect` is taken three times. */
coll_strag_setup_step coll_strag_setup_open_network, coll_strag_setup_connect,
    coll_strag_setup_end_network;

/* ---- Shared memory ---- */

/* If all ranks are asked; setup->hosts says whether shared memory is wanted. */
coll_strag_setup_step coll_strag_setup_make_memory, coll_strag_setup_join_memory,
    coll_strag_setup_end_memory;

/** If setup is derived: all ranks' places are in setup->derive.reply, and setup->hosts says whether
 * shared memory is wanted. */
void coll_strag_setup_rejoin_memory(struct setup *setup);

/** Memory is not shared: give this rank's place back, if it has one. */
void coll_strag_setup_leave_place(struct setup *setup);

/** Setup has failed, and other ranks may know this rank's place: no other communicator may use it
 * before this one is freed. */
void coll_strag_setup_keep_place(struct setup *setup);

/* ---- Rank 0's decision ---- */

/** Make rank 0's decision, in the shared setup, packed for sending; on other ranks it is all 0. */
void coll_strag_setup_make_decision(struct setup *setup);

coll_strag_setup_step coll_strag_setup_decide, coll_strag_setup_take_decision,
    coll_strag_setup_take_given;

/* ---- The end ---- */

/* Has each rank all that it needs? If so, others may use the shared setup; if not, all give up. */
coll_strag_setup_step coll_strag_setup_ask_all_well, coll_strag_setup_tell_conclusion,
    coll_strag_setup_conclude;

#endif
