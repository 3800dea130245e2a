/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup.h"

#include "choice/explain.h"
#include "choice/store.h"
#include "choice/table.h"
#include "facts/files.h"
#include "facts/state.h"
#include "steps.h"
#include "user/info_keys.h"
#include "user/log.h"
#include "wire/exchange.h"

#include <stdlib.h>
#include <string.h>

/* Calls are watched from this call of a derived communicator on: most communicators make fewer. It
 * is an earlier call if there is something to be learnt. */
enum { WATCHED_AFTER = 16, LEARNT_AFTER = 4 };

/* ---- Rank 0's decision ---- */

/* For ranks that all share memory; n is 0 if it is unknown how many processors they have. */
static struct strag_oversubscribed oversubscribed_of(const struct strag_shm *shm, int n)
{
    const int processors = strag_shm_processors(shm);
    if (processors == 0)
        return (struct strag_oversubscribed){.n = 0};
    return (struct strag_oversubscribed){n, processors, strag_shm_window(shm)};
}

/* @param reproducible  enum strag_reproducible */
static struct coll_strag_table_inputs inputs_of(const struct coll_strag_module *module,
                                                ompi_communicator_t *comm, int pinned,
                                                int reproducible)
{
    const bool any_hosts = reproducible == STRAG_REPRODUCIBLE_RANKS;
    const bool shared = module->shm && !any_hosts;
    const bool all_shared = shared && strag_shm_is_alone(module->shm);
    const struct strag_topology *topology = any_hosts ? NULL : module->topology;
    struct coll_strag_table_inputs inputs = {
        .comm = comm,
        .topology = topology,
        .pinned = pinned,
        .shared = shared,
        .all_shared = all_shared,
        .transport = module->transport->kind,
        .oversubscribed = all_shared ? oversubscribed_of(module->shm, ompi_comm_size(comm))
                                     : (struct strag_oversubscribed){.n = 0},
    };
    if (ompi_comm_rank(comm) == 0)
        inputs.model = coll_strag_make_model(
            topology, shared, any_hosts ? COLL_STRAG_TRANSPORTS : (int)module->transport->kind);
    return inputs;
}

/* Add the hosts that were found to be slow in the origin. */
static void derive_slow(const struct setup *setup, struct strag_state_record *state)
{
    const struct coll_strag_shared_setup *origin = setup->derive.origin;
    const struct strag_state_record *found = &origin->decision.state;
    const struct strag_topology *whole = NULL;
    struct strag_topology *unpacked = NULL;
    if (found->nslow > 0 && coll_strag_shared_setup_topology(origin, &whole, &unpacked) != STRAG_OK)
        coll_strag_log(setup->comm, "out of memory: slow hosts that are known are left out");
    for (int i = 0; whole && i < found->nslow; i++) {
        int rank = 0;
        while (rank < ompi_comm_size(setup->comm) &&
               !strag_topology_same_host(whole, found->slow[i].rank, setup->derive.rank_of[rank]))
            rank++;
        if (rank < ompi_comm_size(setup->comm))
            strag_state_add_slow(state, rank, found->slow[i].factor);
    }
    strag_topology_free(unpacked);
}

/* Decide from what the ranks have sent, or from what was decided in the origin. */
static void decide_from_ranks(const struct setup *setup, struct coll_strag_decision *decision)
{
    const struct coll_strag_shared_setup *origin = setup->derive.origin;
    const struct coll_strag_decision *before = origin ? &origin->decision : NULL;
    if (!before) {
        coll_strag_least_segments(setup->ask.info, ompi_comm_size(setup->comm), decision->segments);
        return;
    }
    memcpy(decision->segments, before->segments, sizeof decision->segments);
    if (decision->slow_found && before->slow_found &&
        decision->reproducible == STRAG_REPRODUCIBLE_NO)
        derive_slow(setup, &decision->state);
}

/* The previous component runs all calls. */
static void decide_off(struct coll_strag_decision *decision)
{
    decision->pinned = COLL_STRAG_AUTO;
    decision->reason = COLL_STRAG_OFF;
    decision->table = (struct strag_table){.entries = 1};
    decision->watching = COLL_STRAG_WATCH_NOT;
}

static void log_within_hosts(const struct setup *setup)
{
    const struct coll_strag_module *module = setup->module;
    if (module->topology && module->topology->hosts < ompi_comm_size(setup->comm))
        coll_strag_log(setup->comm, "within hosts: %s",
                       module->shm   ? "shared memory"
                       : module->ucp ? "UCX"
                                     : "the PML");
}

/* Decide, on rank 0. */
static void decide(struct setup *setup, struct coll_strag_decision *decision)
{
    struct coll_strag_module *module = setup->module;
    const int pinned = coll_strag_key(setup->comm, COLL_STRAG_KEY_ALGORITHM, module->first.pinned);
    coll_strag_note_keys(setup->comm, &module->keys); /* those that count from here on */
    coll_strag_decide_watching(setup->comm, pinned != COLL_STRAG_AUTO, module->topology, decision);
    const struct coll_strag_table_inputs inputs =
        inputs_of(module, setup->comm, pinned, decision->reproducible);
    coll_strag_read_state(setup->comm, setup->ranks, inputs.topology, &decision->state);
    decision->ports = coll_strag_key(setup->comm, COLL_STRAG_KEY_PORTS, coll_strag_settings.ports);
    decide_from_ranks(setup, decision);
    log_within_hosts(setup);
    decision->measured = coll_strag_measured_of(&inputs.model);
    coll_strag_explain_model(setup->comm, &inputs.model);
    if (pinned == COLL_STRAG_PREVIOUS) {
        decide_off(decision);
        return;
    }
    coll_strag_decide_once(&inputs, decision,
                           setup->derive.origin && !coll_strag_logging ? NULL : &module->selection);
    coll_strag_save(&inputs, decision);
}

/* On rank 0: read the plan files that are asked for, by the communicator first, then by a rule. */
static void decide_given(struct setup *setup, struct coll_strag_decision *decision)
{
    struct strag_rules_plan plans[STRAG_TABLE_MAX];
    struct coll_strag_file_range range;
    char buffer[COLL_STRAG_KEY_MAX];
    size_t bytes = 0;
    const char *text = coll_strag_key_text(setup->comm, COLL_STRAG_KEY_PLAN, buffer);
    const bool keyed = text == buffer;
    while (*text) {
        text = coll_strag_next_file_range(text, &range); /* its syntax was checked */
        const struct coll_strag_wanted_plan wanted = {
            range.file, range.from, range.to,
            keyed ? "info key coll_strag_plan" : "coll_strag_plan", keyed};
        coll_strag_given_add(setup->comm, &wanted, &setup->given, &bytes);
    }
    const int ruled =
        decision->line ? strag_rules_plans(coll_strag_rules(), decision->line, plans) : 0;
    for (int p = 0; p < ruled; p++) {
        const struct coll_strag_wanted_plan wanted = {plans[p].file, plans[p].from, plans[p].to,
                                                      coll_strag_settings.rules_file, false};
        coll_strag_given_add(setup->comm, &wanted, &setup->given, &bytes);
    }
    decision->given_bytes = bytes;
}

void coll_strag_setup_make_decision(struct setup *setup)
{
    struct coll_strag_decision *decision = &setup->module->shared_setup->decision;
    memset(decision, 0, sizeof *decision); /* it is sent, padding and all */
    if (setup->ranks) {
        decide(setup, decision);
        if (decision->reason != COLL_STRAG_OFF)
            decide_given(setup, decision);
    }
    coll_strag_table_pack(&decision->table);
}

void coll_strag_setup_decide(struct setup *setup)
{
    struct coll_strag_decision *decision = &setup->module->shared_setup->decision;
    coll_strag_setup_make_decision(setup);
    strag_exchange_broadcast(&setup->messages.exchange, decision, sizeof *decision);
}

/* ---- Following it ---- */

static void follow(struct coll_strag_module *module, const struct coll_strag_decision *decision)
{
    module->decision = *decision;
    module->given = module->shared_setup->given;
    if (decision->watching != COLL_STRAG_WATCH_NOT)
        module->watch_in = decision->report ? 1 : decision->learning ? LEARNT_AFTER : WATCHED_AFTER;
    memcpy(module->segments, decision->segments[module->transport->kind], sizeof module->segments);
    coll_strag_setup_find_shortest(module);
}

void coll_strag_setup_take_decision(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    struct coll_strag_decision *decision = &module->shared_setup->decision;
    coll_strag_table_unpack(&decision->table);
    follow(module, decision);
    coll_strag_measured_keep(&decision->measured, module->shm != NULL);
    if (!decision->given_bytes)
        return;
    if (ompi_comm_rank(setup->comm) != 0)
        setup->given = malloc(decision->given_bytes);
    strag_exchange_broadcast(&setup->messages.exchange, setup->given, decision->given_bytes);
}

/* If a rank cannot have the plans, coll_strag_setup_ask_all_well lets all ranks know. */
void coll_strag_setup_take_given(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    const size_t bytes = module->shared_setup->decision.given_bytes;
    if (!bytes)
        return;
    if (setup->given)
        module->shared_setup->given = coll_strag_given_unpack(setup->comm, setup->given, bytes);
    if (!module->shared_setup->given)
        setup->code = OMPI_ERR_OUT_OF_RESOURCE;
    module->given = module->shared_setup->given;
    free(setup->given);
    setup->given = NULL;
    coll_strag_setup_find_shortest(module);
}

void coll_strag_apply_change(struct coll_strag_module *module, enum strag_change change)
{
    if (change == STRAG_CHANGE_NOTHING)
        return;
    if (change != STRAG_CHANGE_TABLE)
        coll_strag_plans_free(&module->plans, change == STRAG_CHANGE_STRAGGLER);
    coll_strag_explain_anew(&module->explained);
    coll_strag_setup_find_shortest(module);
}

/* ---- Watching ---- */

/* @return NULL if out of memory */
static struct coll_strag_watch *make_watch(struct coll_strag_module *module,
                                           ompi_communicator_t *comm)
{
    const struct coll_strag_decision *decision = &module->decision;
    const struct strag_topology *topology = module->topology;
    struct strag_topology *unpacked = NULL;
    if (NULL == topology &&
        coll_strag_shared_setup_topology(module->shared_setup, &topology, &unpacked) != STRAG_OK)
        return NULL;
    const struct coll_strag_watch_options options = {
        .comm = comm,
        .failure = &module->failure,
        .topology = topology,
        .decision = &module->decision,
        .inputs = inputs_of(module, comm, decision->pinned, decision->reproducible),
        .selection = &module->selection,
    };
    struct coll_strag_decision again = *decision; /* for the candidates' times */
    if (ompi_comm_rank(comm) == 0 && !module->selection)
        coll_strag_decide(&options.inputs, &again, &module->selection);
    struct coll_strag_watch *watch = coll_strag_watch_make(&options);
    strag_topology_free(unpacked);
    return watch;
}

/* The ranks agree whether all can watch: rank 0 would wait for the notes of one that cannot. */
int coll_strag_setup_watch(struct coll_strag_module *module, ompi_communicator_t *comm,
                           size_t bytes)
{
    if (bytes < module->decision.watch_from || --module->watch_in > 0)
        return OMPI_SUCCESS;
    struct coll_strag_watch *watch = module->attribute ? make_watch(module, comm) : NULL;
    int32_t able = NULL != watch;
    const int code = coll_strag_minimum(&module->failure, &able);
    if (code != OMPI_SUCCESS || !able) {
        coll_strag_watch_free(watch);
        return code;
    }
    module->watch = watch;
    if (watch->links) {
        module->pml.meter = &watch->links->meter;
        module->pml.host_of = &watch->links->host_of;
    }
    return code;
}
