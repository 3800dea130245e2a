/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Experiments, on simulated jobs: how often a slower rival is adopted, whether a faster one is, and
 * what trying costs. 2,000 jobs a row.
 */
#include "learn/experiment.h"

#include "model/numbers.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 8, CALLS = 400, FIRST_TRY = 20, MANY_CALLS = 4000 };

static const size_t bytes = 1 << 20;
static const double usual_takes = 5e-3; /* seconds */

/* What calls are like. */
struct job {
    const char *name;
    double rival;     /* takes this many times as long */
    double scatter;   /* standard deviation of a call's logarithm */
    double disturbed; /* share of calls that take 3 times as long */
    int kinds;        /* 1: calls of two kinds in turn, 2: two by two; one takes twice as long */
    double drift;     /* over 1,000 calls */
    double first;     /* calls' time that each rival's first call takes in addition */
    int calls;        /* 0: CALLS */
};

static double normal(struct rng *rng)
{
    const double u = (rng_below(rng, 1u << 30) + 1.0) / (1u << 30);
    const double v = rng_below(rng, 1u << 30) / (double)(1u << 30);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static double takes(const struct job *job, struct rng *rng, int call, int phase, bool rival)
{
    double seconds = usual_takes * (rival ? job->rival : 1) * exp(job->scatter * normal(rng));
    if (rng_below(rng, 1000) < (unsigned)(1000 * job->disturbed))
        seconds *= 3;
    if (job->kinds > 0 && (call + phase) / job->kinds % 2)
        seconds *= 2;
    return seconds * (1 + job->drift * call / 1000.0);
}

struct result {
    int adopted_after; /* calls; 0: it was not */
    double lost;       /* calls' time */
};

static struct strag_selection *selection;

static struct strag_experiment_inputs inputs_of(const struct strag_table *table, double left)
{
    return (struct strag_experiment_inputs){selection, table, bytes, 1, usual_takes, left};
}

static struct result run(const struct job *job, struct rng *rng)
{
    struct strag_experiments *experiments = strag_experiments_create(4096, rng_next(rng));
    struct result result = {0};
    double total = 0, spent = 0;
    const int phase = (int)rng_below(rng, 4);
    assert_non_null(experiments);
    int made = 0; /* rivals whose plan is made */
    for (int call = 0; call < (job->calls ? job->calls : CALLS);) {
        struct strag_table table = selection->table;
        struct strag_window_order order;
        strag_experiments_apply(experiments, &table);
        if (!result.adopted_after && strag_experiments_findings(experiments)->of[20].found)
            result.adopted_after = call;
        const double left = 2 * usual_takes + total / 500 - spent;
        const struct strag_experiment_inputs inputs = inputs_of(&table, left);
        if (call >= FIRST_TRY && strag_experiments_next(experiments, &inputs, &order)) {
            struct strag_experiment_call calls[STRAG_WINDOW_CALLS];
            const struct strag_entry *entry = strag_table_entry(&table, bytes);
            const struct strag_variant runs[] = {{entry->algorithm, entry->blocks},
                                                 {order.rival, order.blocks}};
            for (int c = 0; c < order.calls; c++, call++) {
                const bool rival = order.rival_runs >> c & 1;
                calls[c].ran = runs[rival];
                calls[c].seconds = takes(job, rng, call, phase, rival);
                if (rival && made < strag_experiments_findings(experiments)->of[20].tried) {
                    made++;
                    calls[c].seconds += job->first * usual_takes;
                    result.lost += job->first;
                }
                total += calls[c].seconds;
                result.lost += rival ? job->rival - 1 : 0;
            }
            spent += strag_experiments_add(experiments, calls, order.calls);
        }
        total += takes(job, rng, call, phase, false);
        call++;
    }
    strag_experiments_free(experiments);
    return result;
}

/* A row of jobs. @param[out] after  the call after which nine jobs of ten have adopted the rival
 * @param[out] lost  in the mean @return the share of jobs that have */
static double simulate(const struct job *job, struct rng *rng, int *after, struct result *lost)
{
    const int jobs = 2000;
    int adopted = 0, by[MANY_CALLS + 1] = {0};
    double most = 0;
    *lost = (struct result){0};
    for (int j = 0; j < jobs; j++) {
        const struct result result = run(job, rng);
        adopted += result.adopted_after > 0;
        by[result.adopted_after]++;
        lost->lost += result.lost / jobs;
        most = fmax(most, result.lost);
    }
    int sum = 0;
    *after = 0;
    for (int c = 1; c <= MANY_CALLS && *after == 0; c++) {
        sum += by[c];
        *after = 10 * sum >= 9 * jobs ? c : 0;
    }
    print_message("%s: a rival of %.2f times the time is adopted in %.2f %% of %d jobs (90 %%: "
                  "after %d calls); lost %.1f calls, %.1f at most\n",
                  job->name, job->rival, 100.0 * adopted / jobs, jobs, *after, lost->lost, most);
    return (double)adopted / jobs;
}

static const struct job circumstances[] = {
    {"scatter 5 %", 1, 0.05, 0, 0, 0, 0, 0},
    {"scatter 10 %", 1, 0.1, 0, 0, 0, 0, 0},
    {"scatter 20 %", 1, 0.2, 0, 0, 0, 0, 0},
    {"scatter 30 %", 1, 0.3, 0, 0, 0, 0, 0},
    {"a tenth of calls times 3", 1, 0.05, 0.1, 0, 0, 0, 0},
    {"two kinds in turn", 1, 0.05, 0, 1, 0, 0, 0},
    {"two kinds, two by two", 1, 0.05, 0, 2, 0, 0, 0},
    {"drift", 1, 0.1, 0, 0, 0.2, 0, 0},
};
enum { CIRCUMSTANCES = sizeof circumstances / sizeof *circumstances };

static void losers(void **unused)
{
    static const double slower[] = {1.1, 1.3};
    struct rng rng = {support_seed("losers")};
    for (int c = 0; c < CIRCUMSTANCES; c++) {
        for (int s = 0; s < 2; s++) {
            struct job job = circumstances[c];
            struct result lost;
            int after;
            job.rival = slower[s];
            assert_true(simulate(&job, &rng, &after, &lost) <= 0.01);
        }
    }
}

static void winner(void **unused)
{
    struct rng rng = {support_seed("winner")};
    const struct job job = {"scatter 10 %", 1 / 1.3, 0.1, 0, 0, 0, 0, 0};
    struct result lost;
    int after;
    assert_true(simulate(&job, &rng, &after, &lost) >= 0.9);
    assert_in_range(after, FIRST_TRY, 100);
}

/* A rival's first call takes longer, as its plan is made. It is found all the same, later if that
 * takes the time of more calls than may be lost at first. */
static void slow_first_call(void **unused)
{
    static const struct {
        double first;
        int after;
    } cases[] = {{1, 100}, {3, 1200}, {6, 3000}};
    struct rng rng = {support_seed("slow_first_call")};
    for (int c = 0; c < 3; c++) {
        const struct job job = {.name = "a slow first call",
                                .rival = 1 / 1.3,
                                .scatter = 0.1,
                                .first = cases[c].first,
                                .calls = MANY_CALLS};
        struct result lost;
        int after;
        assert_true(simulate(&job, &rng, &after, &lost) >= 0.9);
        assert_in_range(after, FIRST_TRY, cases[c].after);
    }
}

/* Two calls show it; after a rival that takes 5 times as long there is no time left for others. */
static void hopeless(void **unused)
{
    static const double slower[] = {3, 5};
    struct rng rng = {support_seed("hopeless")};
    for (int s = 0; s < 2; s++) {
        const struct job job = {"scatter 10 %", slower[s], 0.1, 0, 0, 0, 0, 0};
        struct result lost;
        int after;
        assert_true(simulate(&job, &rng, &after, &lost) <= 0);
        assert_true(lost.lost <= 2 * (slower[s] - 1) + 0.2);
    }
}

/* While an experiment waits, windows of another size and operation end. It goes on in calls of its
 * own, and ends if the table has another choice for them. */
static void waits_for_its_calls(void **unused)
{
    struct strag_experiments *experiments = strag_experiments_create(4096, 1);
    struct strag_table table = selection->table;
    struct strag_window_order order;
    struct strag_experiment_inputs here = inputs_of(&table, 2 * usual_takes), there = here;
    assert_non_null(experiments);
    assert_true(strag_experiments_next(experiments, &here, &order));
    const struct strag_algorithm *rival = order.rival;
    const struct strag_entry *usual = strag_table_entry(&table, bytes);
    struct strag_experiment_call calls[STRAG_WINDOW_CALLS];
    for (int c = 0; c < order.calls; c++) {
        calls[c].ran = (struct strag_variant){usual->algorithm, usual->blocks};
        if (order.rival_runs >> c & 1)
            calls[c].ran = (struct strag_variant){order.rival, order.blocks};
        calls[c].seconds = usual_takes;
    }
    strag_experiments_add(experiments, calls, order.calls);
    there.bytes = 4 * bytes;
    there.operation = 2;
    there.left = 0;
    assert_false(strag_experiments_next(experiments, &there, &order));
    assert_true(strag_experiments_add(experiments, calls, 1) <= 0); /* of no experiment */
    there.left = 2 * usual_takes;
    assert_true(strag_experiments_next(experiments, &there, &order));
    assert_int_equal(order.bytes, bytes);
    assert_int_equal(order.operation, here.operation);
    assert_ptr_equal(order.rival, rival);
    assert_int_equal(order.calls, 4);
    const struct strag_entry other = {.algorithm = rival, .blocks = 1};
    strag_table_put(&table, bytes, 2 * bytes, &other);
    assert_true(strag_experiments_next(experiments, &there, &order));
    assert_int_equal(order.bytes, 4 * bytes);
    strag_experiments_free(experiments);
}

/* Without a verdict a rival is tried again, what its calls lost is counted, and other slow hosts
 * make all findings void. */
static void without_a_verdict(void **unused)
{
    struct strag_experiments *experiments = strag_experiments_create(4096, 1);
    struct strag_table table = selection->table;
    struct strag_window_order order;
    const struct strag_experiment_inputs inputs = inputs_of(&table, 9 * usual_takes);
    const struct strag_entry *usual = strag_table_entry(&table, bytes);
    assert_non_null(experiments);
    assert_true(strag_experiments_next(experiments, &inputs, &order));
    const struct strag_algorithm *rival = order.rival;
    const struct strag_experiment_call calls[] = {
        {{rival, order.blocks}, 3 * usual_takes},
        {{usual->algorithm, usual->blocks}, usual_takes},
    };
    /* of CCU or CUC: the second call is the rival's, or the table's choice */
    const double lost = strag_experiments_add(experiments, calls, 1 + !(order.rival_runs & 2));
    assert_true(order.rival_runs & 2 ? lost <= 0 : lost > 1.9 * usual_takes);
    for (int times = 0; times < 2; times++) {
        assert_true(strag_experiments_next(experiments, &inputs, &order));
        assert_ptr_equal(order.rival, rival);
        assert_int_equal(strag_experiments_findings(experiments)->of[20].tried, 1);
        strag_experiments_stop(experiments);
    }
    strag_experiments_findings(experiments)->of[20].found = true;
    strag_experiments_forget(experiments);
    assert_false(strag_experiments_findings(experiments)->of[20].found);
    strag_experiments_free(experiments);
}

static int setup(void **unused)
{
    struct strag_topology *topology;
    const struct strag_model model = strag_model_default(STRAG_NETWORK_TREE);
    const struct strag_select_options options = {.quick = false};
    assert_int_equal(strag_topology_flat(RANKS, 1, &topology, NULL), STRAG_OK);
    const struct strag_problem problem = {.n = RANKS, .topology = topology};
    assert_int_equal(strag_select(&problem, &model, &options, &selection, NULL), STRAG_OK);
    strag_topology_free(topology);
    return 0;
}

static int teardown(void **unused)
{
    strag_selection_free(selection);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losers),
        cmocka_unit_test(winner),
        cmocka_unit_test(slow_first_call),
        cmocka_unit_test(hopeless),
        cmocka_unit_test(waits_for_its_calls),
        cmocka_unit_test(without_a_verdict),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
