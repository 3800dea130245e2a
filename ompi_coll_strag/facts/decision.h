/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a communicator's ranks send to rank 0, and what rank 0 decides for all: plain data, sent as
 * it stands in memory (setup/ask.c, setup/decide.c); only a table is packed first (choice/table.h).
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
    COLL_STRAG_STRANGER,   /* a rank has no strag, or another one */
    COLL_STRAG_NO_MEMORY,  /* a rank had none left during setup */
    COLL_STRAG_NO_ROOM,    /* a rank cannot have one more persistent request */
    COLL_STRAG_GIVEN,      /* or why an algorithm runs: a plan from a file (choice/user_plans.h) */
    COLL_STRAG_DECLINED,   /* strag does not run this communicator's calls */
    COLL_STRAG_FIRST,      /* one of the first calls, delegated before setup (setup/setup.c) */
    COLL_STRAG_REASONS
};

/* What every rank sends to rank 0. */
struct coll_strag_rank_info {
    struct strag_rank_location location;
    int64_t pinned;                 /* what it takes to be pinned, as below */
    uint64_t segments[STRAG_LANES]; /* bytes that suit what it sends, by enum coll_strag_lane */
};

/* What rank 0 says of the hosts before it decides. */
struct coll_strag_hosts {
    uint64_t topology_bytes; /* packed, they follow; 0: there is none */
    int32_t transport;       /* enum coll_strag_transport_kind: the configured one */
    int32_t shared_memory;   /* enum coll_strag_shared_memory; AUTO: unless UCX is used */
    int32_t ping;            /* the rank that rank 0 exchanges messages with; 0: none */
    uint64_t id;             /* a random number, not 0 */
};

/* What the roll call agrees upon, in addition to who is there. */
struct coll_strag_offer {
    uint64_t origin;               /* id of what all ranks can derive their setup from; 0: none */
    int64_t pinned;                /* with an origin: as in struct coll_strag_rank_info */
    struct coll_strag_hosts hosts; /* with an origin; rank 0's */
};

/* What a roll call finds: the lowest rank of each kind; INT32_MAX: none. */
struct coll_strag_presence {
    int32_t missing; /* has no strag, or another one */
    int32_t varies;  /* has other parameters than rank 0 */
    int32_t few;     /* has few tags (compat/tags.h) */
};

/* What one rank answers in a roll call. */
struct coll_strag_entry {
    struct coll_strag_presence presence;
    uint64_t origin; /* of its offer, as what follows */
    int64_t pinned;
    struct strag_shm_info info; /* with an origin that shares memory: its place there */
};

/* Are calls watched, so that stragglers are found? */
enum coll_strag_watching {
    COLL_STRAG_WATCH_NOT,
    COLL_STRAG_WATCH_ONLY,   /* for the report */
    COLL_STRAG_WATCH_SWITCH, /* and for another table */
};

/* What rank 0 decides, and all ranks follow. */
struct coll_strag_decision {
    int32_t pinned;   /* index in strag_algorithms, or COLL_STRAG_AUTO */
    int32_t reason;   /* enum coll_strag_reason: why the table leaves sizes to the previous one */
    int32_t line;     /* of the rules file; 0: no rule holds */
    int32_t ports;    /* as in struct strag_problem */
    int32_t watching; /* enum coll_strag_watching */
    int32_t window;   /* calls, at most STRAG_WINDOW_CALLS */
    int32_t dynamic;  /* enum strag_dynamic_use, where they are */
    int32_t links;    /* hosts' links are watched, too */
    int32_t learning; /* of calls: the model's numbers, and experiments (learn/judge.h) */
    int32_t same_window; /* all windows have as many calls */
    int32_t report;
    int32_t reproducible; /* enum strag_reproducible */
    int32_t slow_found;   /* the slow hosts in the state were not named by the user, but found */
    uint64_t given_bytes; /* of plans from files, which follow; 0: there are none */
    uint64_t watch_from;  /* bytes: shorter calls are not watched */
    uint64_t segments[COLL_STRAG_TRANSPORTS][STRAG_LANES]; /* bytes, by enum coll_strag_lane */
    struct coll_strag_measured measured;
    struct strag_state_record state;
    struct strag_table table;
};

#endif
