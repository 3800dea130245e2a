/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model's latency and bandwidth from what calls took: on synthetic machines, of which the
 * numbers are known.
 *
 * STRAG_CASES: random machines of each kind.
 */
#include "learn/fit.h"

#include "base/text.h"
#include "exhaust.h"
#include "support.h"

#include <math.h>

static const struct strag_state_record quiet;

struct machine {
    struct strag_topology *topology;
    struct strag_problem problem;
    struct strag_model truth;
    struct strag_fit *fit;
};

/* @param before  its known numbers; NULL: defaults */
static struct machine machine_make(int hosts, int ranks, double alpha, double bandwidth,
                                   const struct strag_sourced_model *before)
{
    const struct strag_model standard = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_sourced_model sourced = strag_model_sourced(&standard);
    struct machine machine = {.problem.n = hosts * ranks};
    assert_int_equal(strag_topology_flat(hosts * ranks, ranks, &machine.topology, NULL), STRAG_OK);
    machine.problem.topology = machine.topology;
    machine.fit = strag_fit_create(&machine.problem, before ? before : &sourced);
    assert_non_null(machine.fit);
    strag_model_set(&sourced, hosts > 1 ? STRAG_MODEL_ALPHA : STRAG_MODEL_LOCAL_ALPHA, alpha,
                    STRAG_FROM_DEFAULT);
    strag_model_set(&sourced, hosts > 1 ? STRAG_MODEL_BANDWIDTH : STRAG_MODEL_LOCAL_BANDWIDTH,
                    bandwidth, STRAG_FROM_DEFAULT);
    machine.truth = sourced.model;
    return machine;
}

static void machine_free(struct machine *machine)
{
    strag_fit_free(machine->fit);
    strag_topology_free(machine->topology);
}

static double seconds_of(const struct machine *machine, const struct strag_model *model,
                         const struct strag_algorithm *algorithm, int blocks, size_t bytes)
{
    struct strag_problem problem = machine->problem;
    struct strag_profile *profile;
    struct strag_error err;
    problem.blocks = blocks;
    if (strag_profile_create(algorithm, &problem, model, &profile, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    const double seconds = strag_profile_seconds(profile, (double)bytes);
    strag_profile_free(profile);
    return seconds;
}

static void call(struct machine *machine, const char *name, size_t bytes)
{
    const struct strag_algorithm *algorithm = support_algorithm(name);
    const double seconds = seconds_of(machine, &machine->truth, algorithm, 0, bytes);
    for (int c = 0; c < 4; c++)
        strag_fit_note(machine->fit, bytes, algorithm, 0, seconds);
}

static const struct strag_model *fitted(const struct machine *machine)
{
    return &strag_fit_model(machine->fit)->model;
}

static bool update(struct machine *machine)
{
    return strag_fit_update(machine->fit, &quiet, NULL);
}

static void assert_close(const char *what, double value, double truth, double most)
{
    if (!(fabs(value / truth - 1) <= most))
        fail_msg("%s: %g instead of %g", what, value, truth);
}

/* ---- Known machines ---- */

TEST(exact)
{
    struct machine machine = machine_make(8, 1, 60e-6, 11.9e6, NULL);
    call(&machine, "ring", 1 << 20);
    call(&machine, "recursive-doubling", 1 << 10);
    call(&machine, "circulant", 64 << 10);
    assert_true(update(&machine));
    const struct strag_sourced_model *model = strag_fit_model(machine.fit);
    assert_close("alpha", model->model.alpha, 60e-6, 0.01);
    assert_close("overhead", model->model.overhead, 12e-6, 0.01);
    assert_close("bandwidth", model->model.bandwidth, 11.9e6, 0.01);
    assert_int_equal(model->origin[STRAG_MODEL_ALPHA], STRAG_FROM_MEASURED);
    assert_int_equal(model->origin[STRAG_MODEL_BANDWIDTH], STRAG_FROM_MEASURED);
    assert_int_equal(model->origin[STRAG_MODEL_LOCAL_ALPHA], STRAG_FROM_DEFAULT);
    assert_true(model->measured_error < 0.01);
    assert_non_null(strstr(strag_fit_log(machine.fit), "model fitted to 3 kinds of calls: alpha "));
    machine_free(&machine);
}

/* Ranks of one host: its own numbers. */
TEST(one_host)
{
    struct machine machine = machine_make(1, 8, 5e-6, 4e9, NULL);
    for (int size = 10; size <= 24; size += 7) {
        call(&machine, "recursive-doubling", (size_t)1 << size);
        call(&machine, "ring", (size_t)1 << size);
    }
    const double alpha = fitted(&machine)->alpha;
    assert_true(update(&machine));
    assert_close("local alpha", fitted(&machine)->local_alpha, 5e-6, 0.02);
    assert_close("local bandwidth", fitted(&machine)->local_bandwidth, 4e9, 0.02);
    assert_true(fitted(&machine)->alpha == alpha);
    machine_free(&machine);
}

/* A ping has found the latency, and the bandwidth is anything: 64 ms of three rounds are the
 * link's. And the other way round, with a bandwidth from a file. */
TEST(either_number)
{
    const struct strag_model standard = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_sourced_model before = strag_model_sourced(&standard);
    strag_model_set(&before, STRAG_MODEL_ALPHA, 2.1e-3, STRAG_FROM_MEASURED);
    struct machine machine = machine_make(8, 1, 2e-3, 11.9e6, &before);
    call(&machine, "recursive-doubling", 256 << 10);
    assert_true(update(&machine));
    assert_true(fitted(&machine)->alpha == 2.1e-3);
    assert_close("bandwidth", fitted(&machine)->bandwidth, 11.9e6, 0.05);
    machine_free(&machine);

    before = strag_model_sourced(&standard);
    strag_model_set(&before, STRAG_MODEL_BANDWIDTH, 11e6, STRAG_FROM_FILE);
    machine = machine_make(8, 1, 2e-3, 11.9e6, &before);
    call(&machine, "ring", 64 << 10);
    assert_true(update(&machine));
    assert_close("alpha", fitted(&machine)->alpha, 2e-3, 0.1);
    assert_true(fitted(&machine)->bandwidth == 11e6);
    assert_int_equal(strag_fit_model(machine.fit)->origin[STRAG_MODEL_BANDWIDTH], STRAG_FROM_FILE);
    machine_free(&machine);
}

/* ---- What calls do not say ---- */

/* Of one long vector the bandwidth, of one short vector the latency; the other number stays. */
TEST(one_kind)
{
    const struct strag_model usual = strag_model_default(STRAG_NETWORK_TREE);
    struct machine machine = machine_make(8, 1, usual.alpha, 10e6, NULL);
    call(&machine, "ring", 16 << 20);
    assert_true(update(&machine));
    const enum strag_origin *origin = strag_fit_model(machine.fit)->origin;
    assert_close("bandwidth", fitted(&machine)->bandwidth, 10e6, 0.02);
    assert_close("alpha", fitted(&machine)->alpha, usual.alpha, 0.01);
    assert_int_equal(origin[STRAG_MODEL_BANDWIDTH], STRAG_FROM_MEASURED);
    assert_int_equal(origin[STRAG_MODEL_ALPHA], STRAG_FROM_DEFAULT);
    machine_free(&machine);

    machine = machine_make(8, 1, 50e-6, usual.bandwidth, NULL);
    call(&machine, "recursive-doubling", 8);
    assert_true(update(&machine));
    origin = strag_fit_model(machine.fit)->origin;
    assert_close("alpha", fitted(&machine)->alpha, 50e-6, 0.02);
    assert_close("bandwidth", fitted(&machine)->bandwidth, usual.bandwidth, 0.1);
    assert_int_equal(origin[STRAG_MODEL_ALPHA], STRAG_FROM_MEASURED);
    assert_int_equal(origin[STRAG_MODEL_BANDWIDTH], STRAG_FROM_DEFAULT);
    machine_free(&machine);
}

/* What the user said stays, though the calls say otherwise. */
TEST(user)
{
    const struct strag_model standard = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_sourced_model before = strag_model_sourced(&standard);
    strag_model_set(&before, STRAG_MODEL_ALPHA, standard.alpha, STRAG_FROM_USER);
    strag_model_set(&before, STRAG_MODEL_BANDWIDTH, standard.bandwidth, STRAG_FROM_USER);
    struct machine machine = machine_make(4, 1, 80e-6, 10e6, &before);
    call(&machine, "ring", 1 << 20);
    call(&machine, "recursive-doubling", 1 << 10);
    assert_false(update(&machine));
    assert_true(support_same_model(fitted(&machine), &before.model));
    assert_true(strag_fit_model(machine.fit)->measured_error > 0.5); /* but it is found out */
    assert_string_equal(strag_fit_log(machine.fit), "");
    machine_free(&machine);
}

TEST(nonsense)
{
    static const double wrong[] = {0, -1, NAN, INFINITY};
    struct machine machine = machine_make(8, 1, 60e-6, 11.9e6, NULL);
    for (int i = 0; i < 4; i++)
        strag_fit_note(machine.fit, 1 << 20, support_algorithm("ring"), 0, wrong[i]);
    assert_false(update(&machine));
    call(&machine, "ring", 1 << 20);
    call(&machine, "ring", 1 << 10);
    assert_true(update(&machine));
    assert_close("alpha", fitted(&machine)->alpha, 60e-6, 0.02);
    machine_free(&machine);
}

/* It ends once it moves neither number, until a size comes that was not there, or links change. But
 * not before each kind has had as many calls as are kept, which may be older than the links. */
TEST(it_ends)
{
    const struct strag_model usual = strag_model_default(STRAG_NETWORK_TREE);
    struct machine machine = machine_make(8, 1, usual.alpha, 10e6, NULL);
    call(&machine, "ring", 16 << 20);
    assert_true(update(&machine));
    call(&machine, "ring", 16 << 20);
    call(&machine, "ring", 16 << 20);
    assert_false(update(&machine));
    machine.truth.bandwidth /= 2;
    for (int w = 0; w < 100; w++) {
        call(&machine, "ring", 16 << 20);
        assert_false(update(&machine));
    }
    call(&machine, "ring", 1 << 20);
    assert_true(update(&machine));
    machine.truth.bandwidth *= 4;
    strag_fit_again(machine.fit, &quiet);
    for (int w = 0; w < 4; w++) {
        call(&machine, "ring", 16 << 20);
        call(&machine, "ring", 1 << 20);
        update(&machine);
    }
    assert_close("bandwidth", fitted(&machine)->bandwidth, 20e6, 0.02);
    machine_free(&machine);
}

/* ---- Random machines ---- */

static double draw(struct rng *rng)
{
    return ((double)(rng_next(rng) >> 11) + 0.5) * 0x1p-53;
}

/* Normally distributed. */
static double draw_normal(struct rng *rng)
{
    return sqrt(-2 * log(draw(rng))) * cos(6.2832 * draw(rng));
}

static struct strag_selection *select_with(const struct strag_problem *problem,
                                           const struct strag_model *model)
{
    const struct strag_select_options options = {.quick = true};
    struct strag_selection *selection;
    assert_int_equal(strag_select(problem, model, &options, &selection, NULL), STRAG_OK);
    return selection;
}

static struct strag_selection *selection_of(const struct machine *machine)
{
    return select_with(&machine->problem, fitted(machine));
}

/* 126 calls of three sizes, in windows of 2, 4, 8 to 64, with the table of the numbers by then.
 * @param[out] errors  [3]: of modelled times in the end, relative  @return how many tables */
static int run_job(struct machine *machine, double noise, struct rng *rng, double *errors)
{
    struct strag_selection *selection = selection_of(machine);
    int tables = 0, calls = 0;
    const double at = 12 + 6 * draw(rng);
    const size_t size[] = {(size_t)exp2(at), (size_t)exp2(at + 3), (size_t)exp2(at + 6)};
    for (int window = 2; window <= 64; window *= 2) {
        for (int c = 0; c < window; c++) {
            const size_t bytes = size[calls++ % 3];
            const struct strag_entry *entry = strag_table_entry(&selection->table, bytes);
            const double seconds =
                seconds_of(machine, &machine->truth, entry->algorithm, entry->blocks, bytes) *
                exp(noise * draw_normal(rng));
            strag_fit_note(machine->fit, bytes, entry->algorithm, entry->blocks,
                           draw(rng) < 0.1 ? 3 * seconds : seconds);
        }
        if (!strag_fit_update(machine->fit, &quiet, selection))
            continue;
        strag_selection_free(selection);
        selection = selection_of(machine);
        tables++;
    }
    for (int i = 0; i < 3; i++) {
        const struct strag_entry *entry = strag_table_entry(&selection->table, size[i]);
        const double is =
            seconds_of(machine, &machine->truth, entry->algorithm, entry->blocks, size[i]);
        errors[i] = fabs(
            seconds_of(machine, fitted(machine), entry->algorithm, entry->blocks, size[i]) / is -
            1);
    }
    strag_selection_free(selection);
    return tables;
}

/* Numbers that are up to a hundred times more or less than the defaults; a tenth of the calls takes
 * three times as long as it should. */
TEST(random_machines)
{
    static const struct {
        int hosts, ranks;
        double noise, median, most; /* of errors; 90 % are below the most */
    } rows[] = {{8, 1, 0.05, 0.03, 0.1}, {8, 1, 0.3, 0.15, 0.5}, {4, 4, 0.1, 0.06, 0.2}};
    const struct strag_model usual = strag_model_default(STRAG_NETWORK_TREE);
    struct rng rng = {support_seed("random machines")};
    const long cases = support_cases(40);
    double *errors = calloc((size_t)cases, 3 * sizeof *errors);
    assert_non_null(errors);
    for (int r = 0; r < 3; r++) {
        long tables = 0;
        for (long c = 0; c < cases; c++) {
            const double alpha = usual.alpha * pow(100, 2 * draw(&rng) - 1);
            const double bandwidth = usual.bandwidth * pow(100, 2 * draw(&rng) - 1);
            struct machine machine =
                machine_make(rows[r].hosts, rows[r].ranks, alpha, bandwidth, NULL);
            tables += run_job(&machine, rows[r].noise, &rng, &errors[3 * c]);
            machine_free(&machine);
        }
        qsort(errors, (size_t)(3 * cases), sizeof *errors, strag_compare_double);
        const double median = errors[3 * cases / 2], most = errors[27 * cases / 10];
        printf("%d x %d ranks, noise %g: errors %.3f in the median, 90 %% below %.3f, %.1f "
               "tables\n",
               rows[r].hosts, rows[r].ranks, rows[r].noise, median, most,
               (double)tables / (double)cases);
        assert_true(median < rows[r].median && most < rows[r].most);
        assert_true(tables <= 6 * cases);
    }
    free(errors);
}

/* ---- What is chosen with the numbers ---- */

/* A job whose ping was wrong, and the host that gets slow in it. */
struct job {
    struct machine machine;
    struct strag_slow slow;
    struct strag_state state; /* known or not */
    struct strag_state_record known;
    struct strag_model ping;
    size_t sizes[3];
    int nsizes, calls;
};

/* A shaped network or a cluster. A ping may have measured a burst; overheads are off by half. */
static void job_make(struct job *job, bool shaped, bool burst, int nsizes, struct rng *rng)
{
    static const int hosts[] = {4, 6, 8};
    const double alpha = (shaped ? 50e-6 : 1e-6) * exp(1.8 * draw(rng));
    const double bandwidth = (shaped ? 3e6 : 3e9) * exp(1.4 * draw(rng));
    const double overhead = alpha * (0.03 + 0.3 * draw(rng));
    const struct strag_model standard = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_sourced_model ping = strag_model_sourced(&standard);
    strag_model_set(&ping, STRAG_MODEL_ALPHA, alpha * exp(0.2 * draw(rng)), STRAG_FROM_MEASURED);
    strag_model_set(&ping, STRAG_MODEL_OVERHEAD, overhead * exp(0.4 * draw_normal(rng)),
                    STRAG_FROM_MEASURED);
    strag_model_set(&ping, STRAG_MODEL_BANDWIDTH, bandwidth * exp(burst ? 3 * draw(rng) : 0.1),
                    STRAG_FROM_MEASURED);
    *job = (struct job){.ping = ping.model, .nsizes = nsizes};
    job->machine = machine_make(hosts[rng_below(rng, 3)], 1, alpha, bandwidth, &ping);
    job->machine.truth.overhead = overhead;
    job->slow = (struct strag_slow){(int)rng_below(rng, (unsigned)job->machine.problem.n),
                                    1.3 + 1.7 * draw(rng)};
    for (int i = 0; i < nsizes; i++)
        job->sizes[i] = (size_t)1 << (nsizes == 1 ? 14 + rng_below(rng, 9)
                                                  : 12 + 2 * (unsigned)i + rng_below(rng, 5));
}

/* @return what a call takes, and in `least` what the best one would */
static double job_call(struct job *job, const struct strag_selection *table,
                       const struct strag_selection *best, struct rng *rng, double *least)
{
    const size_t bytes = job->sizes[job->calls++ % job->nsizes];
    const struct strag_entry *runs = strag_table_entry(&table->table, bytes);
    const struct strag_entry *ideal = strag_table_entry(&best->table, bytes);
    struct machine *machine = &job->machine;
    const double seconds =
        seconds_of(machine, &machine->truth, runs->algorithm, runs->blocks, bytes);
    *least = seconds_of(machine, &machine->truth, ideal->algorithm, ideal->blocks, bytes);
    strag_fit_note(machine->fit, bytes, runs->algorithm, runs->blocks,
                   seconds * exp(0.05 * draw_normal(rng)) * (draw(rng) < 0.1 ? 3 : 1));
    return seconds;
}

/* Windows of calls; a host is slow from window `from` on, which is known after `found`. @return
 * the mean of the times over the best ones, from then on */
static double job_run(struct job *job, int from, int found, struct rng *rng)
{
    static const int windows[] = {1, 2, 2, 2, 4, 4, 2, 2, 2, 2, 2};
    struct machine *machine = &job->machine;
    const struct strag_problem quiet_problem = machine->problem;
    struct strag_selection *table = select_with(&quiet_problem, &job->ping), *best = NULL;
    double sum = 0;
    int count = 0;
    job->state = (struct strag_state){.nslow = 1, .slow = &job->slow};
    for (int w = 0; w < (int)(sizeof windows / sizeof *windows); w++) {
        machine->problem.state = w >= from ? &job->state : NULL;
        strag_selection_free(best);
        best = select_with(&machine->problem, &machine->truth);
        for (int c = 0; c < windows[w]; c++) {
            double least;
            const double seconds = job_call(job, table, best, rng, &least);
            sum += w > found ? seconds / least : 0;
            count += w > found;
        }
        bool renew = strag_fit_update(machine->fit, &job->known, table);
        if (w == found) {
            job->known.slow[job->known.nslow++] = job->slow;
            strag_fit_again(machine->fit, &job->known);
            renew = true;
        }
        if (renew) {
            machine->problem.state = w >= found ? &job->state : NULL;
            strag_selection_free(table);
            table = selection_of(machine);
        }
    }
    strag_selection_free(table);
    strag_selection_free(best);
    return sum / count;
}

/* From the time on when a slow host is known, calls take hardly longer than the best ones, though
 * the slow calls before were put down to something else. */
TEST(regret)
{
    static const struct {
        bool shaped, burst;
        int sizes, from, found;
    } rows[] = {{true, true, 1, 0, 2},   {true, true, 3, 0, 2},   {true, false, 1, 0, 2},
                {true, true, 1, 5, 6},   {true, true, 3, 5, 6},   {false, false, 1, 0, 2},
                {false, false, 3, 0, 2}, {false, false, 1, 5, 6}, {false, false, 3, 5, 6}};
    struct rng rng = {support_seed("regret")};
    const long cases = support_cases(10);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double sum = 0;
        for (long c = 0; c < cases; c++) {
            struct job job;
            job_make(&job, rows[r].shaped, rows[r].burst, rows[r].sizes, &rng);
            sum += job_run(&job, rows[r].from, rows[r].found, &rng);
            machine_free(&job.machine);
        }
        printf("%s, %s, %d sizes, slow from window %d: %.3f of the best\n",
               rows[r].shaped ? "shaped" : "cluster", rows[r].burst ? "a burst" : "a good ping",
               rows[r].sizes, rows[r].from, sum / (double)cases);
        assert_true(sum / (double)cases < 1.03);
    }
}

static int attempt(const void *what, struct strag_error *err, bool *made)
{
    const struct strag_model standard = strag_model_default(STRAG_NETWORK_TREE);
    const struct strag_sourced_model sourced = strag_model_sourced(&standard);
    struct strag_fit *fit = strag_fit_create(what, &sourced);
    *made = fit != NULL;
    strag_fit_free(fit);
    return *made ? STRAG_OK : strag_fail(err, STRAG_ERR_MEMORY, "out of memory");
}

TEST(out_of_memory)
{
    const struct strag_problem problem = {.n = 8};
    assert_int_equal(exhaust("strag_fit_create", attempt, &problem), 1);
}
