/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model's numbers from what calls took: on synthetic machines, of which the numbers are known.
 *
 * STRAG_CASES: random machines.
 */
#include "watch/calibrate.h"

#include "base/text.h"
#include "model/cost.h"
#include "support.h"

#include <math.h>

enum { MOST = STRAG_FIT_CALLS_MAX };

/* Calls of some plans on a machine, each as a kind. */
struct machine {
    struct strag_topology *topology;
    struct strag_model truth;
    int count;
    const struct strag_algorithm *algorithm[MOST];
    size_t bytes[MOST];
    struct strag_fit_call calls[MOST];
};

static double price(void *context, int call, const struct strag_model *model)
{
    const struct machine *machine = context;
    const struct strag_problem problem = {.n = machine->topology->n, .topology = machine->topology};
    struct strag_profile *profile;
    struct strag_error err;
    if (strag_profile_create(machine->algorithm[call], &problem, model, &profile, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    double seconds = strag_profile_seconds(profile, (double)machine->bytes[call]);
    strag_profile_free(profile);
    return seconds;
}

static struct machine machine_make(int hosts, int ranks, double alpha, double bandwidth)
{
    struct machine machine = {.truth = strag_model_default(STRAG_NETWORK_TREE)};
    struct strag_error err;
    machine.truth.alpha = alpha;
    machine.truth.bandwidth = bandwidth;
    if (strag_topology_flat(hosts * ranks, ranks, &machine.topology, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return machine;
}

static void machine_free(struct machine *machine)
{
    strag_topology_free(machine->topology);
}

static void add(struct machine *machine, const char *algorithm, size_t bytes)
{
    machine->algorithm[machine->count] = support_algorithm(algorithm);
    machine->bytes[machine->count] = bytes;
    const double seconds = price(machine, machine->count, &machine->truth);
    machine->calls[machine->count++] = (struct strag_fit_call){seconds, 4};
}

/* Network numbers are unknown, the others certain. */
static void doubt_network(double *doubt)
{
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        doubt[id] = id == STRAG_MODEL_ALPHA || id == STRAG_MODEL_BANDWIDTH ? 7 : 0;
}

static struct strag_fit fit_network(struct machine *machine, struct strag_model *model)
{
    const struct strag_model before = strag_model_default(STRAG_NETWORK_TREE);
    double doubt[STRAG_MODEL_NUMBERS];
    doubt_network(doubt);
    *model = before;
    return strag_calibrate(machine->calls, machine->count, price, machine, &before, doubt, model);
}

static void assert_close(const char *what, double value, double truth, double most)
{
    if (!(fabs(value / truth - 1) <= most))
        fail_msg("%s: %g instead of %g", what, value, truth);
}

/* ---- Known machines ---- */

static void exact(void **state)
{
    (void)state;
    struct machine machine = machine_make(8, 1, 60e-6, 11.9e6);
    struct strag_model model;
    add(&machine, "ring", 1 << 20);
    add(&machine, "recursive-doubling", 4 << 10);
    add(&machine, "circulant", 64 << 10);
    const struct strag_fit fit = fit_network(&machine, &model);
    assert_int_equal(fit.calls, 3);
    assert_true(fit.before > 0.9);
    assert_true(fit.error < 0.01);
    assert_close("alpha", model.alpha, 60e-6, 0.01);
    assert_close("bandwidth", model.bandwidth, 11.9e6, 0.01);
    assert_true(fit.known[STRAG_MODEL_ALPHA]);
    assert_true(fit.known[STRAG_MODEL_BANDWIDTH]);
    assert_false(fit.known[STRAG_MODEL_LOCAL_ALPHA]);
    machine_free(&machine);
}

/* A ping has told the latency, and the bandwidth is anything: 64 ms of three rounds are the link's.
 * And the other way round. */
static void either_number(void **state)
{
    (void)state;
    struct machine machine = machine_make(8, 1, 2e-3, 11.9e6);
    struct strag_model before = strag_model_default(STRAG_NETWORK_TREE), model;
    double doubt[STRAG_MODEL_NUMBERS];
    doubt_network(doubt);
    doubt[STRAG_MODEL_ALPHA] = 1;
    before.alpha = 2.1e-3;
    model = before;
    add(&machine, "recursive-doubling", 256 << 10);
    struct strag_fit fit =
        strag_calibrate(machine.calls, 1, price, &machine, &before, doubt, &model);
    assert_int_equal(fit.calls, 1);
    assert_true(fit.error < 0.01);
    assert_close("alpha", model.alpha, 2e-3, 0.15);
    assert_close("bandwidth", model.bandwidth, 11.9e6, 0.15);
    machine_free(&machine);

    machine = machine_make(8, 1, 2e-3, 11.9e6);
    doubt_network(doubt);
    doubt[STRAG_MODEL_BANDWIDTH] = 1;
    before = strag_model_default(STRAG_NETWORK_TREE);
    before.bandwidth = 11e6;
    model = before;
    add(&machine, "ring", 64 << 10);
    fit = strag_calibrate(machine.calls, 1, price, &machine, &before, doubt, &model);
    assert_true(fit.error < 0.01);
    assert_close("alpha", model.alpha, 2e-3, 0.15);
    assert_close("bandwidth", model.bandwidth, 11.9e6, 0.15);
    machine_free(&machine);
}

/* Random machines, calls that scatter by 5 %, and one kind in five that somebody disturbed. */
static void noisy(void **state)
{
    static const char *const algorithms[] = {"ring", "recursive-halving", "circulant",
                                             "recursive-doubling"};
    struct rng rng = {support_seed("noisy machines")};
    double alphas[1000] = {0}, bandwidths[1000] = {0};
    int nalphas = 0, nbandwidths = 0;
    long cases = support_cases(100);
    (void)state;
    cases = cases < 1000 ? cases : 1000;
    for (long i = 0; i < cases; i++) {
        const double alpha = 1e-6 * exp2(rng_below(&rng, 1000) / 100.0);
        const double bandwidth = 1e6 * exp2(rng_below(&rng, 1300) / 100.0);
        struct machine machine = machine_make(2 + (int)rng_below(&rng, 14), 1, alpha, bandwidth);
        struct strag_model model;
        for (int size = 10; size <= 24; size += 2)
            add(&machine, algorithms[rng_below(&rng, 4)], (size_t)1 << size);
        for (int c = 0; c < machine.count; c++) {
            const double noise = 0.05 * (rng_below(&rng, 2001) / 1000.0 - 1);
            machine.calls[c].seconds *= (1 + noise) * (c == 2 || c == 5 ? 1.5 : 1);
        }
        const struct strag_fit fit = fit_network(&machine, &model);
        assert_int_equal(fit.calls, machine.count);
        assert_true(fit.error < 0.2);
        if (fit.known[STRAG_MODEL_ALPHA])
            alphas[nalphas++] = fabs(model.alpha / alpha - 1);
        if (fit.known[STRAG_MODEL_BANDWIDTH])
            bandwidths[nbandwidths++] = fabs(model.bandwidth / bandwidth - 1);
        machine_free(&machine);
    }
    qsort(alphas, (size_t)nalphas, sizeof *alphas, strag_compare_double);
    qsort(bandwidths, (size_t)nbandwidths, sizeof *bandwidths, strag_compare_double);
    assert_true(2 * nalphas > cases && 2 * nbandwidths > cases);
    print_message(
        "alpha is known on %d of %ld machines, 90 %% of these to %.3g %%; bandwidth on %d, "
        "to %.3g %%\n",
        nalphas, cases, 100 * alphas[nalphas * 9 / 10], nbandwidths,
        100 * bandwidths[nbandwidths * 9 / 10]);
    assert_true(alphas[nalphas * 9 / 10] < 0.25);
    assert_true(bandwidths[nbandwidths * 9 / 10] < 0.1);
}

/* Numbers within hosts, too. */
static void hosts(void **state)
{
    (void)state;
    struct machine machine = machine_make(4, 4, 30e-6, 1e9);
    const struct strag_model before = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_model model = before;
    double doubt[STRAG_MODEL_NUMBERS];
    machine.truth.local_alpha = 5e-6;
    machine.truth.local_bandwidth = 4e9;
    doubt_network(doubt);
    doubt[STRAG_MODEL_LOCAL_ALPHA] = doubt[STRAG_MODEL_LOCAL_BANDWIDTH] = 1.5;
    for (int size = 10; size <= 24; size += 2) {
        add(&machine, "leaders", (size_t)1 << size);
        add(&machine, "recursive-doubling", (size_t)1 << size);
        add(&machine, "ring", (size_t)1 << size);
    }
    const struct strag_fit fit =
        strag_calibrate(machine.calls, machine.count, price, &machine, &before, doubt, &model);
    assert_true(fit.error < 0.01);
    assert_close("alpha", model.alpha, 30e-6, 0.02);
    assert_close("bandwidth", model.bandwidth, 1e9, 0.02);
    assert_close("local alpha", model.local_alpha, 5e-6, 0.05);
    assert_close("local bandwidth", model.local_bandwidth, 4e9, 0.05);
    machine_free(&machine);
}

/* ---- What calls do not tell ---- */

/* Of one long vector the bandwidth, of one short vector the latency; the other number stays. */
static void one_kind(void **state)
{
    (void)state;
    const struct strag_model usual = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_model model;
    struct machine large = machine_make(8, 1, usual.alpha, 10e6);
    add(&large, "ring", 16 << 20);
    struct strag_fit fit = fit_network(&large, &model);
    assert_close("bandwidth", model.bandwidth, 10e6, 0.02);
    assert_true(model.alpha < 3 * usual.alpha);
    assert_true(fit.known[STRAG_MODEL_BANDWIDTH]);
    assert_false(fit.known[STRAG_MODEL_ALPHA]);
    machine_free(&large);

    struct machine tiny = machine_make(8, 1, 50e-6, usual.bandwidth);
    add(&tiny, "recursive-doubling", 8);
    fit = fit_network(&tiny, &model);
    assert_close("alpha", model.alpha, 50e-6, 0.02);
    assert_close("bandwidth", model.bandwidth, usual.bandwidth, 0.1);
    assert_true(fit.known[STRAG_MODEL_ALPHA]);
    assert_false(fit.known[STRAG_MODEL_BANDWIDTH]);
    machine_free(&tiny);
}

/* What is certain stays, though the calls say otherwise. */
static void told(void **state)
{
    (void)state;
    struct machine machine = machine_make(4, 1, 80e-6, 10e6);
    const struct strag_model before = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_model model = before;
    double doubt[STRAG_MODEL_NUMBERS];
    doubt_network(doubt);
    doubt[STRAG_MODEL_BANDWIDTH] = 0;
    add(&machine, "ring", 1 << 20);
    add(&machine, "recursive-doubling", 1 << 10);
    strag_calibrate(machine.calls, machine.count, price, &machine, &before, doubt, &model);
    assert_true(model.bandwidth == before.bandwidth);
    assert_true(model.alpha > 80e-6);
    memset(doubt, 0, sizeof doubt);
    model = before;
    const struct strag_fit fit =
        strag_calibrate(machine.calls, machine.count, price, &machine, &before, doubt, &model);
    assert_true(strag_model_is_same(&model, &before));
    assert_int_equal(fit.calls, 2); /* the error is told all the same */
    assert_true(fit.error > 0.5);
    machine_free(&machine);
}

static void nonsense(void **state)
{
    (void)state;
    struct machine machine = machine_make(8, 1, 60e-6, 11.9e6);
    struct strag_model model, again;
    static const double wrong[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        add(&machine, "ring", 1 << 20);
        machine.calls[i].seconds = wrong[i];
    }
    struct strag_fit fit = fit_network(&machine, &model);
    const struct strag_model usual = strag_model_default(STRAG_NETWORK_TREE);
    assert_int_equal(fit.calls, 0);
    assert_true(strag_model_is_same(&model, &usual));
    add(&machine, "ring", 1 << 20);
    add(&machine, "ring", 1 << 10);
    fit = fit_network(&machine, &model);
    assert_int_equal(fit.calls, 2);
    assert_close("alpha", model.alpha, 60e-6, 1e-2);
    fit_network(&machine, &again);
    assert_true(strag_model_is_same(&model, &again));
    machine_free(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact),    cmocka_unit_test(either_number), cmocka_unit_test(noisy),
        cmocka_unit_test(hosts),    cmocka_unit_test(one_kind),      cmocka_unit_test(told),
        cmocka_unit_test(nonsense),
    };
    return cmocka_run_group_tests_name("calibrate", tests, NULL, NULL);
}
