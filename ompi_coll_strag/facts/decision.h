/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of setup: each rank's to rank 0, and rank 0's decision. All are plain data, sent as they
 * are in memory (setup/ask.c, setup/decide.c); only a table is packed first (choice/table.h).
 */
#ifndef COLL_STRAG_DECISION_H
#define COLL_STRAG_DECISION_H

#include "model.h"
#include "user/settings.h"
#include "wire/transport.h"

#include "algorithms/table.h"
#include "detect/dynamic.h"
#include "machine/job.h"
#include "machine/state.h"
#include "model/select.h"
#include "run/engine.h"
#include "shm/shm.h"

/* Why the previous component runs a call. */
enum coll_strag_reason {
    COLL_STRAG_NOT_COMMUTATIVE,
    COLL_STRAG_NO_BYTES,
    COLL_STRAG_EXTENT,
    COLL_STRAG_TOO_SHORT,
    COLL_STRAG_OFF,        /* coll_strag_algorithm is previous */
    COLL_STRAG_RULE,       /* a rule says so */
    COLL_STRAG_UNPLANNED,  /* the pinned algorithm cannot be planned, or none can */
    COLL_STRAG_NOT_SET_UP, /* a nonblocking call before the communicator is set up */
    COLL_STRAG_STRANGER,   /* a rank has no strag, or another build of it */
    COLL_STRAG_NO_MEMORY,  /* a rank was out of memory during setup */
    COLL_STRAG_NO_ROOM,    /* a rank cannot have one more persistent request */
    COLL_STRAG_GIVEN,      /* why strag runs it: there is a user plan (choice/user_plans.h) */
    COLL_STRAG_DECLINED,   /* strag does not run this communicator's calls */
    COLL_STRAG_MEASURED,   /* an experiment, or its result */
    COLL_STRAG_FIRST,      /* one of the first calls, delegated before setup (setup/setup.c) */
    COLL_STRAG_REASONS
};

/* Every rank sends this to rank 0. */
struct coll_strag_rank_info {
    struct strag_rank_location location;
    int64_t pinned;                 /* its setting, as in struct coll_strag_decision */
    uint64_t segments[STRAG_LANES]; /* best for its messages, bytes, by enum coll_strag_lane */
};

/* Rank 0 sends this to all ranks before it decides. */
struct coll_strag_hosts {
    uint64_t topology_bytes; /* of the packed topology, which follows; 0 if there is none */
    int32_t transport;       /* enum coll_strag_transport_kind: the configured one */
    int32_t shared_memory;   /* enum coll_strag_shared_memory; AUTO means unless UCX is used */
    int32_t ping;            /* the rank with which rank 0 measures the network; 0 for none */
    uint64_t id;             /* a random number, not 0 */
};

/* The ranks agree on this in a roll call, in addition to their presence. */
struct coll_strag_offer {
    uint64_t origin;               /* id of the setup that all can derive theirs from; 0 if none */
    int64_t pinned;                /* with an origin: as in struct coll_strag_rank_info */
    struct coll_strag_hosts hosts; /* with an origin: rank 0's */
};

/* The result of a roll call: the lowest rank of each kind; INT32_MAX if there is none. */
struct coll_strag_presence {
    int32_t missing; /* has no strag, or another build of it */
    int32_t varies;  /* has other parameters than rank 0 */
    int32_t few;     /* has few tags (compat/tags.h) */
};

/* One rank's answer in a roll call. */
struct coll_strag_entry {
    struct coll_strag_presence presence;
    uint64_t origin; /* this and pinned: from its offer */
    int64_t pinned;
    struct strag_shm_info info; /* if the origin shares memory: the rank's place in it */
};

/* Are calls watched? */
enum coll_strag_watching {
    COLL_STRAG_WATCH_NOT,
    COLL_STRAG_WATCH_ONLY,   /* but no table is made for a straggler */
    COLL_STRAG_WATCH_SWITCH, /* and a straggler may lead to another table */
};

/* Rank 0's decision, which all ranks follow. */
struct coll_strag_decision {
    int32_t pinned;   /* index in strag_algorithms, or COLL_STRAG_AUTO */
    int32_t reason;   /* enum coll_strag_reason: why the previous component runs some sizes */
    int32_t line;     /* of the rules file; 0 if no rule holds */
    int32_t ports;    /* as in struct strag_problem */
    int32_t watching; /* enum coll_strag_watching */
    int32_t window;   /* calls, at most STRAG_WINDOW_CALLS */
    int32_t dynamic;  /* enum strag_dynamic_use, if calls are watched */
    int32_t links;    /* hosts' links are watched, too */
    int32_t learning; /* the model's numbers are learnt from calls; experiments (learn/judge.h) */
    int32_t same_window; /* all windows have `window` calls */
    int32_t report;
    int32_t reproducible; /* enum strag_reproducible */
    int32_t slow_found;   /* the state's slow hosts were found, not named by the user */
    uint64_t given_bytes; /* of the user plans, which follow; 0 if there are none */
    uint64_t watch_from;  /* bytes: shorter calls are not watched */
    uint64_t segments[COLL_STRAG_TRANSPORTS][STRAG_LANES]; /* bytes, by enum coll_strag_lane */
    struct coll_strag_measured measured;
    struct strag_state_record state;
    struct strag_table table;
};

#endif
