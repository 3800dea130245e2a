/* SPDX-License-Identifier: BSD-3-Clause */
/* On rank 0: which algorithm runs for which size, from the cost model and the rules file. */
#ifndef COLL_STRAG_TABLE_H
#define COLL_STRAG_TABLE_H

#include "facts/decision.h"
#include "facts/model.h"

#include "model/choice.h"
#include "model/select.h"

/* What a table rests on, in addition to the state of ranks and links. */
struct coll_strag_table_inputs {
    ompi_communicator_t *comm;
    const struct strag_topology *topology; /* NULL: it is not known, or must not count */
    int pinned;      /* what is asked for: index in strag_algorithms, or COLL_STRAG_AUTO */
    bool shared;     /* messages within hosts go through shared memory, */
    bool all_shared; /* and so do all of them */
    struct strag_oversubscribed
        oversubscribed; /* in which case they may share processors; else n is 0 */
    struct strag_sourced_model model;
    int transport; /* enum coll_strag_transport_kind: of messages between hosts */
};

/**
 * Fill in what runs: pinned, reason, line and table of a decision in which state, ports,
 * reproducible and watching are there.
 *
 * @param[out] selection  the candidates with their times, the caller's to free: where a user
 * wants verbose lines and where calls are watched; else NULL
 */
void coll_strag_decide(const struct coll_strag_table_inputs *inputs,
                       struct coll_strag_decision *decision, struct strag_selection **selection);

/** Write the choice, and all that it rests on, into a file, if one is wanted of this communicator
 * (coll_strag_save). @param inputs, decision  as coll_strag_decide had and left them */
void coll_strag_save(const struct coll_strag_table_inputs *inputs,
                     const struct coll_strag_decision *decision);

/** The candidates that go ahead without the straggler of a state, as without any other rank.
 * @param[out] selection  the caller's to free; NULL: there are none
 * @return modelled seconds of a short message */
double coll_strag_select_without(const struct coll_strag_table_inputs *inputs,
                                 const struct coll_strag_decision *decision,
                                 const struct strag_state_record *state,
                                 struct strag_selection **selection);

/** How long the shortest vectors are that a plan runs. SIZE_MAX: none are */
size_t coll_strag_table_shortest(const struct strag_table *table);

/** Before and after a table is sent: processes have their algorithms at different addresses, so
 * they travel as their number in strag_algorithms. */
void coll_strag_table_pack(struct strag_table *table);
void coll_strag_table_unpack(struct strag_table *table);

/** The same for one algorithm; NULL stays NULL. */
const struct strag_algorithm *coll_strag_algorithm_pack(const struct strag_algorithm *algorithm);
const struct strag_algorithm *coll_strag_algorithm_unpack(const struct strag_algorithm *packed);

#endif
