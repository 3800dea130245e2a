/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two ways of setting a communicator up (setup.c) are made of.
 *
 * A way is a list of steps. A step does what can be done without others, and at its end may begin
 * an exchange (run/exchange.h); the next step comes once that is done. What a step begins only
 * under a condition the next one asks for under the same.
 *
 * Errors are recorded in `code` of struct setup. One of a message ends setup on this rank; a rank
 * that is out of memory goes on, so that no other rank waits for it, until
 * coll_strag_setup_conclude.
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

/* The result of the roll call. Rank 0 sends it to all, and the entries if they share memory. */
struct coll_strag_reply {
    struct coll_strag_answer answer;
    struct coll_strag_decision decision; /* if it is derived, and not over UCX; else all 0 */
    struct coll_strag_entry entries[];   /* [rank] */
};

/* setup/derive.c's. */
struct coll_strag_setup_derive {
    struct coll_strag_shared_setup *origin; /* the module's shared setup has the reference; NULL:
                                               none, so all ranks are asked */
    int32_t *rank_of;                       /* [rank]: its rank there; owned */
    struct coll_strag_reply *reply;         /* behind the struct setup */
};

/* setup/ask.c's. */
struct coll_strag_setup_ask {
    struct coll_strag_rank_info own, *info; /* info: [rank], on rank 0; behind the struct setup */
    struct coll_strag_hosts hosts;
    void *packed; /* the topology; owned; NULL: there is none, or the shared setup has it */
};

/* setup/memory.c's. */
struct coll_strag_setup_memory {
    bool joins;
    struct strag_shm *shm;        /* owned until it is the module's */
    struct strag_shm_info *infos; /* [rank]; behind the struct setup */
};

/* On one rank, while it lasts, with room behind it for what all ranks say: untouched until they do.
 */
struct setup {
    struct coll_strag_module *module;
    ompi_communicator_t *comm;
    coll_strag_setup_step *const *next; /* in a list that ends with NULL */
    int code;      /* how it went so far; OMPI_ERR_OUT_OF_RESOURCE: this rank still takes part */
    bool blocking; /* a blocking call began it, so all ranks are in one until it is done */
    bool attached; /* the communicator has its attribute, and is not being freed */

    struct coll_strag_exchange messages;
    int32_t number; /* to be agreed upon, or rank 0's; in the end: less than 0 by the number of the
                       first nonblocking call that strag runs */

    const struct coll_strag_hosts *hosts; /* rank 0's, once it has sent them */
    struct strag_rank_location *ranks;    /* [rank]: where they are; behind this; rank 0's */
    struct strag_topology
        *unpacked; /* on others: the module's while it is set up; owned; or NULL */
    char *given;   /* plans from files, as bytes; owned; NULL: there are none */

    struct coll_strag_setup_derive derive;
    struct coll_strag_setup_ask ask;
    struct coll_strag_ucp_joining ucp; /* on its way to the module */
    struct coll_strag_setup_memory memory;
};

/** Record how a step ended. @return whether this rank goes on after a step that ended with `code`
 */
bool coll_strag_setup_may_continue(struct setup *setup, int code);

/** Rank 0: which transports the ranks shall use, once their hosts are known. */
void coll_strag_setup_fill_in_hosts(const struct setup *setup, struct coll_strag_hosts *hosts);

/** Rank 0: with which rank to measure the network, if its speed is not known.
 * @param hosts  with the transport @return 0: with none */
int coll_strag_setup_find_ping(const struct setup *setup, const struct coll_strag_hosts *hosts);

/** Calls that are never strag's are delegated at once from now on. */
void coll_strag_setup_find_shortest(struct coll_strag_module *module);

/** The previous component runs all calls from now on. The same on all ranks. */
void coll_strag_setup_give_up(struct coll_strag_module *module, enum coll_strag_reason reason);

/* ---- The roll call, and what follows from an origin ---- */

coll_strag_setup_step coll_strag_setup_call_roll, coll_strag_setup_answer,
    coll_strag_setup_show_places, coll_strag_setup_join_derived, coll_strag_setup_end_derive;

/** The roll call is done. @param[out] here  have all ranks the same strag?
 * @return whether they have the same origin, too: the rest of the derived way follows. Else
 *         nothing of it is left. The same on all ranks */
bool coll_strag_setup_is_derived(struct setup *setup, bool *here);

/* ---- Asking all ranks ---- */

coll_strag_setup_step coll_strag_setup_tell_own, coll_strag_setup_tell_hosts,
    coll_strag_setup_tell_topology, coll_strag_setup_keep_topology, coll_strag_setup_ping,
    coll_strag_setup_end_ask;

/* ---- The network's transport, which setup->hosts names ---- */

/* Of which `connect` comes three times. */
coll_strag_setup_step coll_strag_setup_open_network, coll_strag_setup_connect,
    coll_strag_setup_end_network;

/* ---- Shared memory ---- */

/* The first time; setup->hosts says whether it is wanted. */
coll_strag_setup_step coll_strag_setup_make_memory, coll_strag_setup_join_memory,
    coll_strag_setup_end_memory;

/** Again: all ranks' places are in setup->derive.reply, and setup->hosts says whether memory is
 * wanted. */
void coll_strag_setup_rejoin_memory(struct setup *setup);

/** Memory is not shared: give this rank's place back, if it has one. */
void coll_strag_setup_leave_place(struct setup *setup);

/** Setup has failed, and others may have got to know the place: no other communicator may have it
 * before this one is freed. */
void coll_strag_setup_keep_place(struct setup *setup);

/* ---- Rank 0's decision ---- */

/** On rank 0: its decision is the shared setup's, as it is sent. */
void coll_strag_setup_make_decision(struct setup *setup);

coll_strag_setup_step coll_strag_setup_decide, coll_strag_setup_take_decision,
    coll_strag_setup_take_given;

/* ---- The end ---- */

/* Has each rank all that it needs? If so, others may use the shared setup; if not, all give up. */
coll_strag_setup_step coll_strag_setup_ask_all_well, coll_strag_setup_tell_conclusion,
    coll_strag_setup_conclude;

#endif
