/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What calls teach, on synthetic machines: numbers, among them whether latencies overlap.
 */
#include "watch/learn.h"

#include "support.h"

#include <math.h>

enum { HOSTS = 8 };

static const struct strag_state_record nothing_wrong;

struct machine {
    struct strag_problem problem;
    struct strag_model truth;
    struct strag_learner *learner;
    struct strag_selection *selection;
};

static struct strag_selection *selection_of(const struct machine *machine)
{
    const struct strag_select_options options = {.quick = true};
    struct strag_selection *selection;
    assert_int_equal(strag_select(&machine->problem, &strag_learner_model(machine->learner)->model,
                                  &options, &selection, NULL),
                     STRAG_OK);
    return selection;
}

static struct machine machine_make(double alpha, double bandwidth, bool overlap)
{
    const struct strag_model standard = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_sourced_model sourced = strag_model_sourced(&standard);
    struct machine machine = {.problem.n = HOSTS, .truth = standard};
    strag_model_set(&sourced, STRAG_MODEL_ALPHA, 1.05 * alpha, STRAG_FROM_MEASURED);
    machine.truth.alpha = alpha;
    machine.truth.overhead = overlap ? alpha / 1000 : alpha / 4;
    machine.truth.bandwidth = bandwidth;
    machine.learner = strag_learner_create(&machine.problem, &sourced, 0);
    assert_non_null(machine.learner);
    machine.selection = selection_of(&machine);
    return machine;
}

static void machine_free(struct machine *machine)
{
    strag_selection_free(machine->selection);
    strag_learner_free(machine->learner);
}

static double truth(const struct machine *machine, const char *name, int blocks, size_t bytes)
{
    struct strag_problem problem = machine->problem;
    struct strag_profile *profile;
    problem.blocks = blocks;
    assert_int_equal(
        strag_profile_create(support_algorithm(name), &problem, &machine->truth, &profile, NULL),
        STRAG_OK);
    const double seconds = strag_profile_seconds(profile, (double)bytes);
    strag_profile_free(profile);
    return seconds;
}

static void call(struct machine *machine, const char *name, int blocks, size_t bytes)
{
    const struct strag_learned_call call = {
        .bytes = bytes,
        .what = {support_algorithm(name), blocks, 0},
        .seconds = truth(machine, name, blocks, bytes),
    };
    for (int i = 0; i < 4; i++)
        strag_learner_note(machine->learner, &call);
}

/* @return whether another table is wanted */
static bool fit(struct machine *machine)
{
    const bool moved = strag_learner_fit(machine->learner, &nothing_wrong, machine->selection);
    if (moved) {
        strag_selection_free(machine->selection);
        machine->selection = selection_of(machine);
    }
    return moved;
}

static void assert_numbers(const struct machine *machine)
{
    const struct strag_sourced_model *model = strag_learner_model(machine->learner);
    if (!(fabs(model->model.overhead - machine->truth.overhead) < 0.05 * machine->truth.alpha &&
          fabs(model->model.bandwidth / machine->truth.bandwidth - 1) < 0.05))
        fail_msg("overhead %g and bandwidth %g instead of %g and %g", model->model.overhead,
                 model->model.bandwidth, machine->truth.overhead, machine->truth.bandwidth);
    assert_true(fabs(model->model.alpha / machine->truth.alpha - 1.05) < 1e-6);
    assert_int_equal(model->origin[STRAG_MODEL_BANDWIDTH], STRAG_FROM_MEASURED);
    assert_true(model->measured_error < 0.1);
}

/* A ping has found the latency. A long line: direct's 14 messages take two latencies; and a slow
 * processor: half as long for each of the 12 others. */
static void latencies(void **state)
{
    (void)state;
    for (int overlap = 0; overlap < 2; overlap++) {
        struct machine machine = machine_make(2e-3, 11.9e6, overlap);
        call(&machine, "recursive-doubling", 0, 16 << 10);
        call(&machine, "ring", 0, 256 << 10);
        call(&machine, "direct", HOSTS, 16 << 10);
        call(&machine, "direct", HOSTS, 256 << 10);
        assert_true(fit(&machine));
        assert_numbers(&machine);
        call(&machine, "flexreduce", 0, 64 << 10);
        assert_false(fit(&machine));
        machine_free(&machine);
    }
}

/* The trial of a size tries flexreduce (or direct, which is the same here), which a quick table has
 * not, and finds that it is the best. Who adopts that has it in the table. */
static void trial(void **state)
{
    (void)state;
    struct machine machine = machine_make(2e-3, 11.9e6, true);
    struct strag_trial trials[STRAG_TRIALS_AT_ONCE] = {{.runs = 0}};
    struct strag_trials_outcome outcome;
    bool begun[STRAG_TRIALS_AT_ONCE], tried = false, found = false;
    const size_t bytes = 16 << 10;
    struct strag_table table = machine.selection->table;
    for (int window = 0, at = 0; window < 40 && !found; window++) {
        const struct strag_trial_run *run =
            trials[0].runs > 0 ? strag_trial_find(&trials[0], at++) : NULL;
        const struct strag_entry *entry = strag_table_entry(&table, bytes);
        struct strag_learned_call one = {
            .bytes = bytes, .what = {entry->algorithm, entry->blocks, 1}, .tried = run != NULL};
        if (run)
            one.what = *run;
        const char *name = one.what.algorithm ? one.what.algorithm->name : "recursive-doubling";
        tried = tried || (run && (strcmp(name, "direct") == 0 || strcmp(name, "flexreduce") == 0));
        one.seconds = truth(&machine, name, one.what.blocks, bytes);
        strag_learner_note(machine.learner, &one);
        if (fit(&machine))
            table = machine.selection->table;
        strag_learner_try(machine.learner, &nothing_wrong, machine.selection, &table, trials,
                          begun);
        at = begun[0] ? 0 : at;
        found = strag_learner_found(machine.learner);
    }
    assert_true(tried && found);
    strag_learner_apply(machine.learner, &table);
    const char *winner = strag_table_find(&table, bytes)->name;
    assert_true(strcmp(winner, "direct") == 0 || strcmp(winner, "flexreduce") == 0);
    assert_true(strag_learner_outcome(machine.learner, &outcome));

    struct machine second = machine_make(2e-3, 11.9e6, true);
    strag_learner_adopt(second.learner, &outcome);
    table = second.selection->table;
    strag_learner_apply(second.learner, &table);
    assert_string_equal(strag_table_find(&table, bytes)->name, winner);
    machine_free(&second);
    machine_free(&machine);
}

static void took(struct machine *machine, const char *name, int calls, double seconds)
{
    const struct strag_learned_call call = {
        .bytes = 16 << 10, .what = {support_algorithm(name), 0, 0}, .seconds = seconds};
    for (int c = 0; c < calls; c++)
        strag_learner_note(machine->learner, &call);
}

/* Measured in the lab: 2 ms of latency, of which a ping knows, and a shaper that lets messages of
 * 16 KiB pass at once, so that flexreduce is faster than the model can be with that latency. It
 * would be as fast as that on links of two thirds of the bandwidth with a tenth of a millisecond.
 */
static void pinged(void **state)
{
    (void)state;
    static const char *const three_rounds[] = {"recursive-doubling", "swing-latency",
                                               "bine-latency", "hierarchical-doubling"};
    struct machine machine = machine_make(2.1e-3, 11.9e6, true);
    const struct strag_model standard = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_sourced_model known = strag_model_sourced(&standard);
    strag_model_set(&known, STRAG_MODEL_ALPHA, 2.1e-3, STRAG_FROM_MEASURED);
    strag_model_set(&known, STRAG_MODEL_BANDWIDTH, 1e9, STRAG_FROM_MEASURED);
    strag_learner_free(machine.learner);
    machine.learner = strag_learner_create(&machine.problem, &known, 0);
    assert_non_null(machine.learner);
    for (int i = 0; i < 4; i++)
        took(&machine, three_rounds[i], 3, 6.48e-3);
    took(&machine, "flexreduce", 12, 4.84e-3);
    (void)fit(&machine);
    const double alpha = strag_learner_model(machine.learner)->model.alpha;
    assert_true(alpha > 1e-3 && alpha < 3e-3);
    machine_free(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies),
        cmocka_unit_test(trial),
        cmocka_unit_test(pinged),
    };
    return cmocka_run_group_tests_name("learn", tests, NULL, NULL);
}
