/* SPDX-License-Identifier: BSD-3-Clause */
/* On rank 0: the algorithm for each size, by the cost model and the rules file. */
#ifndef COLL_STRAG_TABLE_H
#define COLL_STRAG_TABLE_H

#include "facts/decision.h"
#include "facts/model.h"

#include "model/choice.h"
#include "model/select.h"

/* The inputs of a table, in addition to the state of ranks and links. */
struct coll_strag_table_inputs {
    ompi_communicator_t *comm;
    const struct strag_topology *topology; /* NULL if it is not known, or must not count */
    int pinned;      /* as configured: index in strag_algorithms, or COLL_STRAG_AUTO */
    bool shared;     /* messages within hosts go through shared memory, */
    bool all_shared; /* and all messages do */
    struct strag_oversubscribed
        oversubscribed; /* if all_shared: ranks may share processors; else n is 0 */
    struct strag_sourced_model model;
    int transport; /* enum coll_strag_transport_kind, for messages between hosts */
};

/**
 * Fill in pinned, reason, line and table of a decision. Its state, ports, reproducible and watching
 * are inputs.
 *
 * @param[out] selection  the candidates with their times, the caller's to free, if verbose lines
 *                        are configured or calls are watched; else NULL
 */
void coll_strag_decide(const struct coll_strag_table_inputs *inputs,
                       struct coll_strag_decision *decision, struct strag_selection **selection);

/** Write the choice and all its inputs into a file, if coll_strag_save names one.
 * @param inputs, decision  as after coll_strag_decide */
void coll_strag_save(const struct coll_strag_table_inputs *inputs,
                     const struct coll_strag_decision *decision);

/** The candidates that go ahead without a late rank, whichever it is; the state names one.
 * @param[out] selection  the caller's to free; NULL if there are none
 * @return modelled seconds of a short message */
double coll_strag_select_without(const struct coll_strag_table_inputs *inputs,
                                 const struct coll_strag_decision *decision,
                                 const struct strag_state_record *state,
                                 struct strag_selection **selection);

/** The length of the shortest vectors that strag runs, bytes. SIZE_MAX if it runs none */
size_t coll_strag_table_shortest(const struct strag_table *table);

/** Before and after a table is sent. Processes have algorithms at different addresses, so a message
 * has an algorithm's number in strag_algorithms instead of its pointer. */
void coll_strag_table_pack(struct strag_table *table);
void coll_strag_table_unpack(struct strag_table *table);

/** The same for one algorithm; NULL stays NULL. */
const struct strag_algorithm *coll_strag_algorithm_pack(const struct strag_algorithm *algorithm);
const struct strag_algorithm *coll_strag_algorithm_unpack(const struct strag_algorithm *packed);

#endif
