/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this rank records of a communicator's calls, if its rank 0 wants a report (report/ledger.h)
 * or a trace. When the communicator or MPI comes to its end, all ranks' records go to rank 0, which
 * writes both.
 */
#ifndef COLL_STRAG_RECORD_H
#define COLL_STRAG_RECORD_H

#include "collect.h"
#include "shared/module.h"

#include "plan/trace.h"
#include "report/ledger.h"

#include <pthread.h>

struct coll_strag_ledger {
    struct strag_ledger notes;
    int outcome;               /* of the pending call (coll_strag_outcome) */
    int noting;                /* what calls are recorded for: COLL_STRAG_NOTES_... */
    uint32_t number, entered;  /* of the pending call; calls so far */
    struct strag_trace *trace; /* NULL if there is none */
    coll_strag_module_t *module;
    ompi_communicator_t *comm;
    const char *declined; /* why strag runs none of its calls; NULL if it may */
    bool not_asked;       /* ... because the user has not asked for it */
    const char *previous; /* the component that runs what strag does not; NULL if not known */
    char why[128];        /* room for `declined` */

    /* collect/record.c's */
    bool attached, collecting;
    struct coll_strag_teardown teardown;
    struct coll_strag_collect collect;
    pthread_mutex_t lock; /* of notes; with threads only */
};

/** Record when the job begins. */
void coll_strag_ledger_open(void);

/** Begin to record, in a blocking call, the same one on all ranks: rank 0's info key wants a
 * report. If out of memory, calls are not recorded. */
void coll_strag_ledger_begin_late(coll_strag_module_t *module, ompi_communicator_t *comm);

/** @param noting  what for: COLL_STRAG_NOTES_... @return NULL if out of memory */
struct coll_strag_ledger *coll_strag_ledger_create(coll_strag_module_t *module,
                                                   ompi_communicator_t *comm, int noting);

/** NULL is allowed. */
void coll_strag_ledger_free(struct coll_strag_ledger *ledger);

/** A call of the user's begins. @return its number */
uint32_t coll_strag_ledger_enter(struct coll_strag_ledger *ledger);

/** A blocking call has ended. @param number  as coll_strag_ledger_enter returned it */
void coll_strag_ledger_leave(struct coll_strag_ledger *ledger, uint32_t number, size_t bytes,
                             const struct strag_stay *stay);

/** As strag_ledger_add, but several threads may call it at the same time. */
void coll_strag_ledger_note(struct coll_strag_ledger *ledger, enum strag_ledger_kind kind,
                            int outcome, size_t bytes, const struct strag_stay *stay);

#endif
