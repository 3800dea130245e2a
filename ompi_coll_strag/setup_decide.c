/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup_decide.h"

#include "info_keys.h"
#include "log.h"
#include "report.h"
#include "save.h"
#include "segments.h"
#include "setup_steps.h"
#include "state.h"
#include "table_cache.h"

#include <stdlib.h>
#include <string.h>

/* So many calls are not watched: most communicators live shorter. Where there is something to be
 * learnt they are fewer. */
enum { WATCHED_AFTER = 16, LEARNT_AFTER = 4 };

/* ---- Rank 0's decision ---- */

/* All ranks share memory. Where it is not known how many processors they have, they are no crowd.
 */
static struct strag_crowd crowd_of(const struct strag_shm *shm, int n)
{
    const int processors = strag_shm_processors(shm);
    if (processors == 0)
        return (struct strag_crowd){.n = 0};
    return (struct strag_crowd){n, processors, strag_shm_window(shm)};
}

static struct coll_strag_table_inputs inputs_of(const struct setup *setup, int pinned,
                                                bool reproducible)
{
    const struct coll_strag_module *module = setup->module;
    const bool shared = module->shm && !reproducible;
    const bool all_shared = shared && strag_shm_is_alone(module->shm);
    const struct strag_topology *topology = reproducible ? NULL : module->topology;
    struct coll_strag_table_inputs inputs = {
        .comm = setup->comm,
        .topology = topology,
        .pinned = pinned,
        .shared = shared,
        .all_shared = all_shared,
        .crowd = all_shared ? crowd_of(module->shm, ompi_comm_size(setup->comm))
                            : (struct strag_crowd){.n = 0},
    };
    if (ompi_comm_rank(setup->comm) == 0)
        inputs.model = coll_strag_make_model(
            topology, shared, reproducible ? COLL_STRAG_TRANSPORTS : (int)module->transport->kind);
    return inputs;
}

/* Hosts that the origin's setup found to be slow. */
static void derive_slow(const struct setup *setup, struct strag_state_record *state)
{
    const struct strag_state_record *found = &setup->origin->decision.state;
    const struct strag_topology *whole = NULL;
    struct strag_topology *unpacked = NULL;
    if (found->nslow > 0 &&
        coll_strag_heritage_topology(setup->origin, &whole, &unpacked) != STRAG_OK)
        coll_strag_log(setup->comm, "out of memory: slow hosts that are known are left out");
    for (int i = 0; whole && i < found->nslow; i++) {
        int rank = 0;
        while (rank < ompi_comm_size(setup->comm) &&
               !strag_topology_same_host(whole, found->slow[i].rank, setup->rank_of[rank]))
            rank++;
        if (rank < ompi_comm_size(setup->comm))
            strag_state_add_slow(state, rank, found->slow[i].factor);
    }
    strag_topology_free(unpacked);
}

/* What the ranks themselves know: from what they sent, or from what they sent to the origin. */
static void decide_from_ranks(const struct setup *setup, struct coll_strag_decision *decision)
{
    const struct coll_strag_decision *before = setup->origin ? &setup->origin->decision : NULL;
    if (!before) {
        coll_strag_least_segments(setup->info, ompi_comm_size(setup->comm), decision->segments);
        return;
    }
    memcpy(decision->segments, before->segments, sizeof decision->segments);
    if (decision->slow_found && before->slow_found && !decision->reproducible)
        derive_slow(setup, &decision->state);
}

static void decide(const struct setup *setup, struct coll_strag_table_inputs *inputs,
                   struct coll_strag_decision *decision)
{
    struct coll_strag_module *module = setup->module;
    const int pinned = module->decision.pinned;
    coll_strag_decide_watching(setup->comm, pinned != COLL_STRAG_AUTO, module->topology, decision);
    *inputs = inputs_of(setup, pinned, decision->reproducible);
    coll_strag_read_state(setup->comm, setup->ranks, inputs->topology, &decision->state);
    decision->slow_found = coll_strag_finds_slow(setup->comm);
    decision->ports = coll_strag_ports(setup->comm);
    decide_from_ranks(setup, decision);
    coll_strag_setup_log_within_hosts(setup);
    decision->measured = coll_strag_measured_of(&inputs->model);
    coll_strag_explain_model(setup->comm, &inputs->model);
    if (setup->origin && !coll_strag_logging)
        coll_strag_decide_once(inputs, decision);
    else
        coll_strag_decide(inputs, decision, &module->selection);
    coll_strag_save(inputs, decision);
}

/* ---- Following it ---- */

void coll_strag_setup_follow(struct coll_strag_module *module,
                             const struct coll_strag_decision *decision)
{
    module->decision = *decision;
    memcpy(module->segments, decision->segments[module->transport->kind], sizeof module->segments);
    coll_strag_setup_find_shortest(module);
}

static void watch(struct setup *setup, const struct coll_strag_table_inputs *inputs)
{
    struct coll_strag_module *module = setup->module;
    const struct strag_topology *topology = module->topology;
    struct strag_topology *unpacked = NULL;
    if (NULL == topology &&
        coll_strag_heritage_topology(module->heritage, &topology, &unpacked) != STRAG_OK)
        setup->code = OMPI_ERR_OUT_OF_RESOURCE;
    const struct coll_strag_watch_options options = {
        .comm = setup->comm,
        .previous = &module->previous,
        .topology = topology,
        .shared = NULL != module->shm,
        .decision = &module->decision,
        .ranks = setup->ranks,
        .selection = &module->selection,
        .inputs = *inputs,
        .report = coll_strag_report,
    };
    coll_strag_setup_may_continue(
        setup, coll_strag_watch_create(&options, setup->code == OMPI_SUCCESS, &module->watch));
    strag_topology_free(unpacked);
    const struct coll_strag_links *links =
        module->watch ? coll_strag_watch_links(module->watch) : NULL;
    if (links) {
        module->pml.meter = links->meter;
        module->pml.host_of = &links->host_of;
    }
}

void coll_strag_setup_share_decision(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    struct coll_strag_table_inputs inputs = {.comm = setup->comm};
    struct coll_strag_decision decision;
    memset(&decision, 0, sizeof decision);
    if (setup->ranks)
        decide(setup, &inputs, &decision);
    coll_strag_table_pack(&decision.table);
    if (!coll_strag_setup_may_continue(
            setup, coll_strag_setup_broadcast(setup->comm, &decision, sizeof decision)))
        return;
    coll_strag_table_unpack(&decision.table);
    coll_strag_setup_follow(module, &decision);
    coll_strag_measured_keep(&decision.measured, module->shm != NULL);
    module->heritage->decision = decision;
    if (decision.watching != COLL_STRAG_WATCH_NOT && !setup->origin)
        watch(setup, &inputs);
}

void coll_strag_apply_change(struct coll_strag_module *module, enum strag_change change)
{
    if (change == STRAG_CHANGE_NOTHING)
        return;
    if (change != STRAG_CHANGE_TABLE)
        coll_strag_plans_free(&module->plans, change == STRAG_CHANGE_STRAGGLER);
    memset(&module->explained, 0, sizeof module->explained);
    coll_strag_setup_find_shortest(module);
}

/* ---- Watching later ---- */

int coll_strag_setup_watch(struct coll_strag_module *module, ompi_communicator_t *comm,
                           size_t bytes)
{
    struct setup setup = {.module = module, .comm = comm};
    const size_t from = module->decision.learning ? COLL_STRAG_LEARN_FROM : SIZE_MAX;
    if ((bytes < module->decision.watch_from && bytes < from) || --module->watch_in > 0)
        return OMPI_SUCCESS;
    struct coll_strag_table_inputs inputs =
        inputs_of(&setup, module->decision.pinned, module->decision.reproducible);
    if (ompi_comm_rank(comm) == 0) {
        struct coll_strag_decision again = module->decision; /* for the candidates' times */
        setup.ranks = coll_strag_setup_find_locations(comm, module->topology);
        if (setup.ranks && !module->selection)
            coll_strag_decide(&inputs, &again, &module->selection);
        if (!setup.ranks) {
            coll_strag_log(comm, "not watched: out of memory, or its hosts are not known");
            setup.code = OMPI_ERR_OUT_OF_RESOURCE;
        }
    }
    watch(&setup, &inputs);
    free(setup.ranks);
    return setup.code == OMPI_ERR_OUT_OF_RESOURCE ? OMPI_SUCCESS : setup.code;
}

int coll_strag_setup_watch_later(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    const bool now = module->decision.report;
    if (module->decision.watching == COLL_STRAG_WATCH_NOT)
        return setup->code;
    module->watch_in = now ? 1 : module->decision.learning ? LEARNT_AFTER : WATCHED_AFTER;
    return now ? coll_strag_setup_watch(module, setup->comm, SIZE_MAX) : setup->code;
}
