/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trials, simulated: jobs whose calls scatter by 1, 5 and 20 %, with algorithms of which the model
 * knows the times only roughly. How close to the best comes what runs, how often does it change,
 * and what do trials cost?
 *
 * STRAG_CASES: random jobs of each kind.
 */
#include "watch/judge.h"
#include "watch/trials.h"
#include "watch/trials_class.h"

#include "model/table_put.h"
#include "support.h"

#include <math.h>

enum { MOST = 12 };

/* One size; what could run, what that takes, and what it is modelled to take. */
struct job {
    struct rng rng;
    struct strag_trials *trials;
    size_t bytes;
    double noise; /* of a call, relative */
    int count;
    double truth[MOST];
    struct strag_offer offers[MOST];
    struct strag_trial trial;
    int tried;
    struct strag_table table;
    int changes, calls, first_window;
    bool lags;      /* a trial begins with the next call but one, as in a job */
    double seconds; /* in expectation */
};

/* Twelve sums make a normal distribution; a call never takes less than half. */
static double scatter(struct job *job)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_below(&job->rng, 10001) / 10000.0;
    return fmax(0.5, 1 + job->noise * sum);
}

static struct job job_make(uint64_t seed, double noise, int count)
{
    struct job job = {
        .rng = {seed}, .bytes = 1 << 20, .noise = noise, .count = count, .first_window = 4};
    job.trials = strag_trials_create(0);
    assert_non_null(job.trials);
    for (int i = 0; i < count; i++)
        job.offers[i] = (struct strag_offer){strag_algorithms[i], 0, 1e-3 + 1e-5 * i, 0};
    job.table = (struct strag_table){1, {{0, strag_algorithms[0], 0}}};
    return job;
}

static int find(const struct job *job, const struct strag_algorithm *algorithm)
{
    int i = 0;
    while (job->offers[i].algorithm != algorithm)
        i++;
    return i;
}

static const struct strag_algorithm *choice(const struct job *job)
{
    return strag_table_find(&job->table, job->bytes);
}

static void call(struct job *job)
{
    struct strag_trial_run run = {choice(job), 0, 0};
    const struct strag_trial_run *tried =
        job->trial.runs > 0 ? strag_trial_find(&job->trial, job->tried) : NULL;
    if (tried) {
        run = *tried;
        job->tried++;
    }
    const double truth = job->truth[find(job, run.algorithm)];
    strag_trials_note(job->trials, job->bytes, &run, tried != NULL, truth * scatter(job));
    job->seconds += truth;
    job->calls++;
}

/* Offers are the table's choice, then all others. */
static void window(struct job *job, int calls)
{
    struct strag_offer offers[MOST];
    const struct strag_algorithm *before = choice(job);
    struct strag_trial next;
    for (int c = 0; c < calls; c++)
        call(job);
    const int usual = find(job, before);
    offers[0] = job->offers[usual];
    for (int i = 0, to = 1; i < job->count; i++) {
        if (i != usual)
            offers[to++] = job->offers[i];
    }
    if (strag_trials_next(job->trials, job->bytes, offers, job->count, &next)) {
        job->trial.runs = 0;
        if (job->lags)
            call(job);
        job->trial = next;
        job->tried = 0;
    }
    strag_trials_apply(job->trials, &job->table);
    job->changes += choice(job) != before;
}

static void run(struct job *job, int calls)
{
    while (job->calls < calls) {
        int left = strag_trials_left(job->trials, job->bytes);
        window(job, left > 0 ? left : job->first_window);
    }
}

static double best(const struct job *job)
{
    double least = INFINITY;
    for (int i = 0; i < job->count; i++)
        least = fmin(least, job->truth[i]);
    return least;
}

/* ---- One job ---- */

static void finds_the_best(void **state)
{
    (void)state;
    struct job job = job_make(1, 0.005, 5);
    static const double truth[] = {1.3e-3, 1.1e-3, 1e-3, 1.02e-3, 5e-3};
    char text[256];
    memcpy(job.truth, truth, sizeof truth);
    job.offers[4].seconds = 1.3e-3; /* not tried */
    run(&job, 3);
    assert_int_equal(job.trial.runs, 4); /* the first has two calls that count */
    run(&job, 30);
    assert_ptr_equal(choice(&job), strag_algorithms[2]);
    assert_int_equal(job.changes, 1);
    assert_ptr_equal(strag_table_find(&job.table, 1500000), strag_algorithms[0]);
    assert_ptr_equal(strag_table_find(&job.table, 1400000), strag_algorithms[2]);
    assert_ptr_equal(strag_table_find(&job.table, 700000), strag_algorithms[0]);
    strag_trials_text(job.trials, job.bytes, text, sizeof text);
    assert_non_null(strstr(text, "runs"));
    run(&job, 300);
    assert_int_equal(job.changes, 1);
    strag_trials_forget(job.trials);
    assert_true(strag_trials_settled(job.trials) == 0);
    assert_string_equal(strag_trials_text(job.trials, job.bytes, text, sizeof text), "");
    strag_trials_free(job.trials);
}

/* The previous component may be it, too. Where calls are short it is tried however slow it is
 * thought to be, up to a limit. */
static void previous(void **state)
{
    (void)state;
    static const struct {
        double call, modelled;
        bool tried;
    } cases[] = {{1e-3, 1, true}, {1e-3, 3.4, true}, {1e-3, 3.6, false}, {30e-3, 3.4, false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct job job = job_make(2, 0.01, 3);
        job.offers[2].algorithm = NULL;
        for (int i = 0; i < 3; i++) {
            job.truth[i] = (i < 2 ? 1 : 0.8) * cases[c].call;
            job.offers[i].seconds = (i < 2 ? 1 : cases[c].modelled) * cases[c].call;
        }
        run(&job, 40);
        assert_ptr_equal(choice(&job), cases[c].tried ? NULL : strag_algorithms[0]);
        strag_trials_free(job.trials);
    }
}

/* Where the table's choice has run as often as others will have, these alone run in the final. */
static void short_final(void **state)
{
    (void)state;
    for (int lags = 0; lags <= 1; lags++) {
        struct job job = job_make(3, 0, 2);
        job.truth[0] = 1e-3;
        job.truth[1] = 0.99e-3;
        job.lags = lags;
        run(&job, 4);
        assert_int_equal(job.trial.runs, 1);
        run(&job, 6 + lags);
        assert_int_equal(job.trial.runs, lags ? 1 : 2);
        assert_ptr_equal(job.trial.run[job.trial.runs - 1].algorithm, strag_algorithms[1]);
        strag_trials_free(job.trials);
    }
}

/* The first call has made connections: the others are short all the same. */
static void long_first_call(void **state)
{
    (void)state;
    struct job job = job_make(5, 0, 4);
    const struct strag_trial_run usual = {choice(&job), 0, 0};
    for (int i = 0; i < 4; i++)
        job.truth[i] = 1e-3;
    strag_trials_note(job.trials, job.bytes, &usual, false, 0.45);
    run(&job, 2);
    assert_int_equal(job.trial.runs, 3);
    for (int r = 0; r < 3; r++)
        assert_int_equal(job.trial.run[r].calls, 2);
    strag_trials_free(job.trials);
}

/* Of short calls the first one does not count, however long it took; of long ones it does. */
static void first_sample(void **state)
{
    (void)state;
    double scatter;
    const struct strag_trial_form connected = {.count = 2, .seconds = {0.45F, 1e-3F}},
                                  all_long = {.count = 2, .seconds = {0.45F, 0.4F}},
                                  alone = {.count = 1, .seconds = {0.45F}};
    assert_true(strag_trial_median(&connected, &scatter) == (double)1e-3F);
    assert_true(strag_trial_shortest(&connected) == (double)1e-3F);
    assert_true(strag_trial_median(&all_long, &scatter) == (double)((0.45F + 0.4F) / 2));
    assert_true(strag_trial_median(&alone, &scatter) == (double)0.45F);
}

/* All take a fifth of what is modelled: that is no reason to try nobody. */
static void faster_than_modelled(void **state)
{
    (void)state;
    struct job job = job_make(9, 0.01, 4);
    for (int i = 0; i < 4; i++)
        job.truth[i] = 0.2e-3 * (1 - 0.1 * i);
    run(&job, 40);
    assert_ptr_equal(choice(&job), strag_algorithms[3]);
    strag_trials_free(job.trials);
}

/* Where the model sees one candidate only, nothing is tried. */
static void nobody(void **state)
{
    (void)state;
    struct job job = job_make(3, 0.05, 3);
    for (int i = 0; i < 3; i++)
        job.truth[i] = job.offers[i].seconds = 1e-3 * (1 + 0.25 * i);
    run(&job, 100);
    assert_int_equal(job.trial.runs, 0);
    assert_int_equal(job.changes, 0);
    strag_trials_free(job.trials);
}

/* A class whose first calls nobody looked at waits until a trial costs little. */
static void late(void **state)
{
    (void)state;
    struct job job = job_make(4, 0.01, 8);
    const struct strag_trial_run usual = {strag_algorithms[0], 0, 0};
    for (int i = 0; i < 8; i++)
        job.truth[i] = 1e-3;
    for (int c = 0; c < 50; c++)
        strag_trials_note(job.trials, job.bytes, &usual, false, 1e-3);
    window(&job, 1);
    assert_int_equal(job.trial.runs, 0);
    for (int c = 0; c < 100; c++)
        strag_trials_note(job.trials, job.bytes, &usual, false, 1e-3);
    window(&job, 1);
    assert_int_equal(job.trial.runs, 7);
    strag_trials_free(job.trials);
}

/* Thought to take three times as long as the best, though in less time if latencies overlap: tried
 * if they are to be found nearly as good then, as long as that does not cost too much. */
static void overlapping(void **state)
{
    (void)state;
    struct job job = job_make(6, 0.01, 4);
    for (int i = 0; i < 4; i++)
        job.truth[i] = 1e-3;
    job.truth[1] = 0.7e-3;
    job.truth[2] = job.truth[3] = 9e-3;
    job.offers[1].seconds = 3e-3;
    job.offers[1].spare = 2.2e-3;
    job.offers[2].seconds = 3e-3;
    job.offers[2].spare = 1.7e-3; /* still too long */
    job.offers[3].seconds = 7e-3; /* might lose 12 calls' time */
    job.offers[3].spare = 6.5e-3;
    run(&job, 5);
    assert_int_equal(job.trial.runs, 1);
    assert_ptr_equal(job.trial.run[0].algorithm, strag_algorithms[1]);
    run(&job, 20);
    assert_ptr_equal(choice(&job), strag_algorithms[1]);
    strag_trials_free(job.trials);
}

/* Of those that the model cannot tell apart two are tried, the table's choice among them; those
 * whose latencies may overlap are others, and so is the previous component. */
static void alike(void **state)
{
    (void)state;
    struct job job = job_make(12, 0.01, 8);
    for (int i = 0; i < 8; i++) {
        job.truth[i] = 1e-3;
        job.offers[i].seconds = 1e-3 + 1e-8 * i;
        job.offers[i].spare = i < 4 ? 0 : 0.3e-3;
    }
    job.offers[7].algorithm = NULL;
    run(&job, 3);
    assert_int_equal(job.trial.runs, 4);
    assert_null(job.trial.run[0].algorithm);
    assert_ptr_equal(job.trial.run[1].algorithm, strag_algorithms[4]);
    assert_ptr_equal(job.trial.run[2].algorithm, strag_algorithms[5]);
    assert_ptr_equal(job.trial.run[3].algorithm, strag_algorithms[1]);
    strag_trials_free(job.trials);
}

/* At first the model takes the one for as slow as the other's messages are long; after the heats it
 * knows that there are latencies, which might overlap: then it is tried. */
static void hoped_for_later(void **state)
{
    (void)state;
    struct job job = job_make(13, 0.01, 4);
    static const double truth[] = {1e-3, 1.02e-3, 0.8e-3, 1.3e-3};
    memcpy(job.truth, truth, sizeof truth);
    job.offers[2].seconds = job.offers[3].seconds = 1.3e-3;
    run(&job, 3);
    assert_int_equal(job.trial.runs, 1);
    job.offers[2].seconds = 2.5e-3;
    job.offers[2].spare = 1.8e-3;
    job.offers[3].seconds = 7e-3; /* might lose 12 calls' time */
    job.offers[3].spare = 6.5e-3;
    run(&job, 40);
    assert_ptr_equal(choice(&job), strag_algorithms[2]);
    assert_true(job.seconds < 40 * 1e-3 + 2e-3);
    strag_trials_free(job.trials);
}

/* Trials of very long calls begin when they have little to lose, and end when they have lost that:
 * the model is wrong by a factor of three here. */
static void very_long(void **state)
{
    (void)state;
    struct job job = job_make(7, 0.01, 7);
    for (int i = 0; i < 7; i++) {
        job.truth[i] = i == 0 ? 1 : 3;
        job.offers[i].seconds = 1 + 0.01 * i;
    }
    run(&job, 4);
    assert_int_equal(job.trial.runs, 2);
    run(&job, 8);
    assert_int_equal(job.trial.runs, 2); /* 4 calls' time are lost: no more than that is granted */
    run(&job, 40);
    assert_true(job.seconds <= 40 + 3 * 2 + 0.01);
    assert_ptr_equal(choice(&job), strag_algorithms[0]);
    assert_true(strag_trials_is_over(job.trials, job.bytes));
    assert_true(strag_trials_settled(job.trials) == (uint64_t)1 << strag_size_class(job.bytes));
    strag_trials_free(job.trials);

    job = job_make(8, 0.01, 7);
    for (int i = 0; i < 7; i++)
        job.truth[i] = job.offers[i].seconds = 1 + 0.01 * (6 - i);
    run(&job, 28);
    assert_ptr_equal(choice(&job), strag_algorithms[6]);
    strag_trials_free(job.trials);
}

/* What was found is another one's from its first window on, who tries nothing of that size; of
 * others, and below its least size, all is as it was. */
static void adopted(void **state)
{
    (void)state;
    struct job job = job_make(10, 0.01, 4);
    struct strag_trials_outcome outcome, merged = {.size[3] = 8};
    for (int i = 0; i < 4; i++)
        job.truth[i] = 1e-3 * (1 - 0.1 * i);
    assert_false(strag_trials_find_outcome(job.trials, &outcome));
    run(&job, 40);
    assert_true(strag_trials_find_outcome(job.trials, &outcome));
    strag_trials_free(job.trials);
    strag_trials_merge(&merged, &outcome);
    assert_true(merged.size[3] == 8 && merged.size[20] == 1 << 20);

    job = job_make(11, 0.01, 4);
    for (int i = 0; i < 4; i++)
        job.truth[i] = 1e-3 * (1 - 0.1 * i);
    strag_trials_adopt(job.trials, &outcome);
    window(&job, 1);
    assert_ptr_equal(choice(&job), strag_algorithms[3]);
    assert_ptr_equal(strag_table_find(&job.table, 1500000), strag_algorithms[0]);
    run(&job, 60);
    assert_int_equal(job.trial.runs, 0);
    assert_false(strag_trials_find_outcome(job.trials, &merged)); /* of its own */
    strag_trials_free(job.trials);

    struct strag_trials *none = strag_trials_create(2 << 20);
    strag_trials_adopt(none, &outcome);
    assert_false(strag_trials_is_over(none, 1 << 20));
    strag_trials_free(none);
}

/* Calls of other sizes in the class do not count. */
static void sizes(void **state)
{
    (void)state;
    struct job job = job_make(5, 0.01, 4);
    const struct strag_trial_run usual = {strag_algorithms[0], 0, 0};
    for (int i = 0; i < 4; i++)
        job.truth[i] = 1e-3 * (1 + 0.1 * (3 - i));
    strag_trials_note(job.trials, 900000, &usual, false, 1e-5);
    run(&job, 8);
    assert_int_equal(strag_trials_size(job.trials, strag_size_class(job.bytes)), job.bytes);
    strag_trials_note(job.trials, 900000, &usual, false, 1e-9);
    run(&job, 60);
    assert_ptr_equal(choice(&job), strag_algorithms[3]);
    assert_true(job.trial.from <= job.bytes && job.bytes < job.trial.to);
    assert_int_equal(strag_size_class(0), 0);
    assert_int_equal(strag_size_class(1 << 20), 20);
    assert_int_equal(strag_size_class(SIZE_MAX), STRAG_SIZE_CLASSES - 1);
    strag_trials_free(job.trials);
}

/* ---- On every rank ---- */

/* Each rank counts the calls of two trials, of different sizes, by itself. */
static void running(void **state)
{
    (void)state;
    struct strag_trials_running running = {.calls = {0}};
    const struct strag_trial trial = {
        1000, 2000, 2, {{strag_algorithms[0], 0, 1}, {strag_algorithms[1], 4, 2}}};
    const struct strag_trial other = {5000, 6000, 1, {{NULL, 0, 1}}};
    assert_int_equal(strag_trial_calls(&trial), 3);
    assert_false(strag_trial_has(&running, 1500));
    strag_trial_begin(&running, 1, &trial);
    strag_trial_begin(&running, 0, &other);
    assert_true(strag_trial_has(&running, 1000) && strag_trial_has(&running, 5999));
    assert_false(strag_trial_has(&running, 2000) || strag_trial_has(&running, 999));
    assert_null(strag_trial_next(&running, 3000));
    assert_ptr_equal(strag_trial_next(&running, 1500)->algorithm, strag_algorithms[0]);
    assert_null(strag_trial_next(&running, 5500)->algorithm);
    assert_int_equal(strag_trial_next(&running, 1500)->blocks, 4);
    assert_int_equal(strag_trial_next(&running, 1500)->blocks, 4);
    assert_null(strag_trial_next(&running, 1500));
    assert_false(strag_trial_has(&running, 1500));
    assert_null(strag_trial_next(&running, 5500));
}

/* In the middle, at an entry's beginning, and as what is there already. */
static void table(void **state)
{
    (void)state;
    const struct strag_algorithm *a = strag_algorithms[0], *b = strag_algorithms[1],
                                 *c = strag_algorithms[2];
    struct strag_table table = {2, {{0, a, 0}, {1000, b, 8}}};
    strag_table_put(&table, 400, 600, &(struct strag_entry){0, c, 2});
    assert_int_equal(table.entries, 4);
    assert_ptr_equal(strag_table_find(&table, 399), a);
    assert_ptr_equal(strag_table_find(&table, 400), c);
    assert_ptr_equal(strag_table_find(&table, 599), c);
    assert_ptr_equal(strag_table_find(&table, 600), a);
    strag_table_put(&table, 600, 1000, &(struct strag_entry){0, b, 8});
    assert_int_equal(table.entries, 3);
    assert_ptr_equal(strag_table_find(&table, 600), b);
    strag_table_put(&table, 400, 600, &(struct strag_entry){0, a, 0});
    assert_int_equal(table.entries, 2);
    assert_int_equal(table.entry[1].from, 600);
    struct strag_table full = {.entries = STRAG_TABLE_MAX};
    for (int e = 0; e < STRAG_TABLE_MAX; e++)
        full.entry[e] = (struct strag_entry){(size_t)e * 100, e % 2 ? a : b, 0};
    const struct strag_table before = full;
    strag_table_put(&full, 110, 120, &(struct strag_entry){0, c, 0});
    assert_memory_equal(&before, &full, sizeof full);
}

/* ---- Many jobs ---- */

/* Up to twelve algorithms whose times differ by up to 40 %, of which the model knows nothing. */
static void many(double noise, double mean_most, double worst_most)
{
    char name[48];
    snprintf(name, sizeof name, "calls that scatter by %g %%", 100 * noise);
    struct rng rng = {support_seed(name)};
    const long cases = support_cases(1000);
    double mean = 0, worst = 0, cost = 0, untried = 0;
    for (long c = 0; c < cases; c++) {
        struct job job = job_make(rng_next(&rng), noise, 2 + (int)rng_below(&rng, 7));
        for (int i = 0; i < job.count; i++) {
            job.truth[i] = 1e-3 * (1 + 0.4 * rng_below(&rng, 1000) / 1000);
            job.offers[i].seconds = 1e-3 * (1 + (i + 0.9 * rng_below(&rng, 1000) / 1000) / 80);
        }
        job.lags = true;
        job.first_window = STRAG_FIRST_WINDOW;
        run(&job, 36);
        assert_true(job.changes <= 1);
        double lost = job.truth[find(&job, choice(&job))] / best(&job) - 1;
        cost += job.seconds / (job.calls * best(&job)) - 1;
        untried += job.truth[0] / best(&job) - 1;
        mean += lost;
        worst = fmax(worst, lost);
        run(&job, 500);
        assert_true(strag_trials_is_over(job.trials, job.bytes) && job.changes <= 1);
        strag_trials_free(job.trials);
    }
    print_message("above the best: %.2g %% in the mean, %.2g %% at worst, untried %.2g %%; the "
                  "first calls took %.2g %% more than the best\n",
                  100 * mean / (double)cases, 100 * worst, 100 * untried / (double)cases,
                  100 * cost / (double)cases);
    assert_true(mean / (double)cases <= mean_most);
    assert_true(worst <= worst_most);
}

static void one_percent(void **state)
{
    (void)state;
    many(0.01, 0.005, 0.06);
}

static void five_percent(void **state)
{
    (void)state;
    many(0.05, 0.01, 0.25);
}

static void twenty_percent(void **state)
{
    (void)state;
    many(0.2, 0.08, 0.45);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_best),
        cmocka_unit_test(previous),
        cmocka_unit_test(short_final),
        cmocka_unit_test(long_first_call),
        cmocka_unit_test(first_sample),
        cmocka_unit_test(alike),
        cmocka_unit_test(hoped_for_later),
        cmocka_unit_test(nobody),
        cmocka_unit_test(faster_than_modelled),
        cmocka_unit_test(late),
        cmocka_unit_test(running),
        cmocka_unit_test(table),
        cmocka_unit_test(overlapping),
        cmocka_unit_test(adopted),
        cmocka_unit_test(very_long),
        cmocka_unit_test(sizes),
        cmocka_unit_test(one_percent),
        cmocka_unit_test(five_percent),
        cmocka_unit_test(twenty_percent),
    };
    return cmocka_run_group_tests_name("trials", tests, NULL, NULL);
}
