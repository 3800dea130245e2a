/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dynamic mode: when it is entered, how long is waited for the last rank, and when it is left;
 * in simulated windows of calls whose gaps are drawn, on 4 to 64 hosts.
 *
 * STRAG_CASES: jobs of each kind.
 */
#include "detect/dynamic.h"

#include "exhaust.h"
#include "machines.h"
#include "support.h"

#include <math.h>

enum { RANKS = 8, WINDOW = 50 };

static const size_t bytes = 256 << 20;
static const double scale = 100;  /* the machine is this many times slower than the model */
static const double price = 1e-4; /* seconds */

struct job {
    struct rng rng;
    struct strag_topology *topology;
    struct strag_selection *usual, *any;
    struct strag_dynamic *dynamic;
    int ranks, window;
    double link;        /* modelled seconds of the vector on a link */
    double together;    /* of an allreduce that waits for all */
    double least, most; /* of gaps, in times of `link` */
    double mean;        /* above 0: they are exponential, of this mean */
    bool look;
    double truth; /* what going ahead really saves of what is modelled */
    uint64_t number;
    double took, together_took; /* seconds of all calls; and if all of them had waited for all */
};

static struct strag_selection *select_for(const struct job *job, bool straggler)
{
    const struct strag_straggler last = {job->ranks - 1, 1e-9};
    const struct strag_state state = {.nstragglers = straggler, .straggler = &last};
    const struct strag_problem problem = {
        .n = job->ranks, .topology = job->topology, .state = &state};
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    const struct strag_select_options options = {
        .only = straggler ? strag_algorithm_any_straggler() : NULL, .short_plans = true};
    struct strag_selection *made = NULL;
    struct strag_error err;
    if (strag_select(&problem, &model, &options, &made, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return made;
}

static double least_time(const struct strag_selection *selection)
{
    double least = INFINITY;
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_profile *profile = selection->candidate[c].profile;
        if (profile)
            least = fmin(least, strag_profile_seconds(profile, (double)bytes));
    }
    return least;
}

static void begin(struct job *job, enum strag_dynamic_use use)
{
    strag_dynamic_free(job->dynamic);
    job->look = false;
    job->number = 0;
    job->dynamic = strag_dynamic_create(job->ranks, use, bytes / 4);
    assert_non_null(job->dynamic);
    if (use == STRAG_DYNAMIC_ALWAYS)
        strag_dynamic_table(job->dynamic, job->any);
}

static struct job *job_make_of(int ranks, int calls, enum strag_dynamic_use use)
{
    struct job *job = calloc(1, sizeof *job);
    assert_non_null(job);
    job->rng = (struct rng){support_seed("test_dynamic")};
    job->ranks = ranks;
    job->window = calls;
    assert_int_equal(strag_topology_flat(ranks, 1, &job->topology, NULL), STRAG_OK);
    job->usual = select_for(job, false);
    job->any = select_for(job, true);
    job->together = least_time(job->usual);
    job->link = job->together * ranks / (2 * (ranks - 1));
    job->truth = 1;
    begin(job, use);
    return job;
}

static struct job *job_make(enum strag_dynamic_use use)
{
    return job_make_of(RANKS, WINDOW, use);
}

static void job_free(struct job *job)
{
    strag_dynamic_free(job->dynamic);
    strag_selection_free(job->usual);
    strag_selection_free(job->any);
    strag_topology_free(job->topology);
    free(job);
}

static const struct strag_dynamic_policy *policy(const struct job *job)
{
    return strag_dynamic_policy(job->dynamic);
}

static double wait_limit(const struct job *job)
{
    return policy(job)->wait_limit + policy(job)->wait_per_byte * (double)bytes;
}

/* Real seconds from the last arrival on. */
static double after(const struct job *job, double gap, double waited)
{
    struct strag_profile ahead = *strag_dynamic_ahead(job->dynamic, bytes);
    const double together = scale * job->together;
    ahead.delay = (gap - waited) / scale;
    const double saved =
        together - (waited + scale * strag_profile_seconds(&ahead, (double)bytes) - gap);
    return together - job->truth * saved;
}

/* In times of `link`. */
static double draw_gap(struct job *job)
{
    const double drawn = (double)(rng_next(&job->rng) >> 11) * 0x1p-53;
    return job->mean > 0 ? -job->mean * log1p(-drawn)
                         : job->least + (job->most - job->least) * drawn;
}

/* @return mean seconds from the last arrival on, in times of the vector on a link */
static double window(struct job *job)
{
    struct strag_dynamic_call calls[WINDOW];
    double sum = 0;
    for (int c = 0; c < job->window; c++) {
        struct strag_dynamic_call *call = &calls[c];
        *call = (struct strag_dynamic_call){
            .bytes = bytes,
            .gap = scale * job->link * draw_gap(job),
            .close = job->look,
            .turn = strag_dynamic_turn_of(policy(job), bytes, job->number++),
            .together = job->together,
        };
        call->went_ahead = call->turn == STRAG_DYNAMIC_OPEN && call->gap > wait_limit(job);
        job->took += call->gap;
        job->together_took += call->gap + scale * job->together;
        call->seconds =
            call->went_ahead ? after(job, call->gap, wait_limit(job)) : scale * job->together;
        sum += call->seconds;
        job->took += call->seconds;
    }
    job->look = strag_dynamic_suspects(job->dynamic, calls, job->window);
    if (job->look && !strag_dynamic_ahead(job->dynamic, bytes))
        strag_dynamic_table(job->dynamic, job->any);
    job->look = strag_dynamic_window(job->dynamic, calls, job->window, scale, price);
    return sum / job->window / scale / job->link;
}

/* ---- Tests ---- */

TEST(random_stragglers_are_not_waited_for)
{
    struct job *job = job_make(STRAG_DYNAMIC_AUTO);
    for (int w = 0; w < 3; w++)
        window(job);
    assert_false(policy(job)->on);
    assert_false(job->look);

    job->least = 0.2;
    job->most = 2;
    for (int w = 0; w < 4; w++)
        window(job);
    assert_true(policy(job)->on);
    assert_true(job->look);
    /* Nobody is late by less than 0.2, so there is nothing to wait for; 2/n is the break-even. */
    assert_true(wait_limit(job) > 0 && wait_limit(job) < 0.05 * scale * job->link);
    for (int w = 0; w < 4; w++)
        window(job);
    const struct strag_dynamic_summary summary = strag_dynamic_report(job->dynamic);
    assert_true(summary.error > 0 && summary.error < 0.1 * summary.saves);
    const double mean = window(job);
    assert_true(mean > 1 && mean < 1.25);
    assert_true(fabs(1 - summary.saves - mean * job->link / job->together) < 0.05);
    assert_true(summary.ahead > summary.calls / 2);
    const double before = scale * job->together * (double)summary.calls;
    assert_true(fabs(summary.saved / before - summary.saves) < 0.05);

    job->least = job->most = 0;
    for (int w = 0; w < 3; w++)
        window(job);
    assert_false(policy(job)->on);
    for (int w = 0; w < 3; w++)
        window(job);
    assert_false(job->look);
    job_free(job);
}

/* By order it is in force as soon as there is a table, and stays; the wait is a tenth of the
 * break-even delay, which is 2/n and what a pipeline adds. */
TEST(by_order_it_stays)
{
    struct job *job = job_make(STRAG_DYNAMIC_ALWAYS);
    for (int w = 0; w < 4; w++) {
        assert_true(policy(job)->on);
        window(job);
        assert_true(wait_limit(job) > 0.025 * scale * job->link);
        assert_true(wait_limit(job) < 0.035 * scale * job->link);
    }
    assert_true(policy(job)->on);
    assert_int_equal(policy(job)->from, bytes / 4);
    job_free(job);
}

/* Going ahead loses a tenth of what it should save: it is tried seldom, and more and more so. */
TEST(what_saves_nothing_is_given_up)
{
    struct job *job = job_make(STRAG_DYNAMIC_AUTO);
    job->least = 0.2;
    job->most = 2;
    job->truth = -0.1;
    int on = 0, later = 0;
    for (int w = 0; w < 128; w++) {
        window(job);
        on += policy(job)->on;
        later += w >= 64 && policy(job)->on;
    }
    assert_in_range(on, 1, 12);
    assert_in_range(later, 0, 2);
    assert_true(strag_dynamic_report(job->dynamic).saved < 0);
    job_free(job);
}

/* All ranks late by exponential times of mean 0.5: the last one is late by as much behind the
 * others. With 4 ranks going ahead loses in the long run, whatever the wait_limit; with 8 it gains.
 * @return in how many of `jobs` jobs of 50 calls, in windows of 5, the mode is entered */
static long count_entered(int ranks, long jobs)
{
    struct job *job = job_make_of(ranks, 5, STRAG_DYNAMIC_AUTO);
    long entered = 0;
    job->mean = 0.5;
    for (long j = 0; j < jobs; j++) {
        bool on = false;
        begin(job, STRAG_DYNAMIC_AUTO);
        for (int w = 0; w < 10; w++) {
            window(job);
            on = on || policy(job)->on;
        }
        entered += on;
    }
    job_free(job);
    return entered;
}

TEST(chance_does_not_count)
{
    const long jobs = support_cases(400);
    const long four = count_entered(4, jobs), eight = count_entered(8, jobs);
    printf("entered by 4 ranks in %ld, by 8 in %ld of %ld jobs\n", four, eight, jobs);
    assert_true(20 * four < jobs);
    assert_true(10 * eight > 7 * jobs);
}

/* Gaps in times of a link: from least to most, or exponential. */
struct gaps {
    const char *name;
    double least, most, mean;
    double gains, loses; /* share of the calls' time, of many jobs, at least; of any job, at most */
    long enter;          /* per cent of jobs, at most */
};

/* 512 calls in windows of 8. @return how many jobs entered the mode */
static long run_jobs(struct job *job, const struct gaps *gaps, long jobs)
{
    long entered = 0;
    double took = 0, together = 0;
    job->least = gaps->least;
    job->most = gaps->most;
    job->mean = gaps->mean;
    for (long j = 0; j < jobs; j++) {
        bool on = false;
        begin(job, STRAG_DYNAMIC_AUTO);
        job->took = job->together_took = 0;
        for (int w = 0; w < 64; w++) {
            window(job);
            on = on || policy(job)->on;
        }
        entered += on;
        took += job->took;
        together += job->together_took;
        if (!(job->took <= (1 + gaps->loses) * job->together_took))
            fail_msg("%d ranks, %s: a job loses %g", job->ranks, gaps->name,
                     job->took / job->together_took - 1);
    }
    printf("%2d ranks, gaps %s: gains %.4f, entered by %ld of %ld jobs\n", job->ranks, gaps->name,
           1 - took / together, entered, jobs);
    if (!(1 - took / together >= gaps->gains))
        fail_msg("... it gains less than %g", gaps->gains);
    return entered;
}

/* What earlier rules gained, which tried ten waits, less 1.5 % of the calls' time. */
TEST(gains)
{
    static const struct gaps of_4[] = {{"none", 0, 0.02, 0, 0, 0, 0},
                                       {"0.3", 0.3, 0.3, 0, 0, 0, 0},
                                       {"0 to 0.5", 0, 0.5, 0, 0, 0.005, 1},
                                       {"exponential, 0.5", 0, 0, 0.5, -0.001, 0.01, 5},
                                       {"1", 0.99, 1.01, 0, 0.14, 0, 100},
                                       {"0.2 to 2", 0.2, 2, 0, 0.08, 0, 100},
                                       {"exponential, 2", 0, 0, 2, 0.055, 0, 100}};
    static const struct gaps of_64[] = {{"none", 0, 0.02, 0, 0, 0, 0},
                                        {"0 to 0.1", 0, 0.1, 0, 0, 0.005, 1},
                                        {"1", 0.99, 1.01, 0, 0.27, 0, 100},
                                        {"0.2 to 2", 0.2, 2, 0, 0.21, 0, 100},
                                        {"exponential, 0.5", 0, 0, 0.5, 0.11, 0.01, 100}};
    const long jobs = support_cases(100);
    struct job *four = job_make_of(4, 8, STRAG_DYNAMIC_AUTO);
    for (size_t g = 0; g < sizeof of_4 / sizeof *of_4; g++)
        assert_true(100 * run_jobs(four, &of_4[g], jobs) <= of_4[g].enter * jobs);
    job_free(four);
    struct job *many = job_make_of(64, 8, STRAG_DYNAMIC_AUTO);
    for (size_t g = 0; g < sizeof of_64 / sizeof *of_64; g++)
        assert_true(100 * run_jobs(many, &of_64[g], jobs) <= of_64[g].enter * jobs);
    job_free(many);
}

TEST(with_two_ranks_or_by_order_it_is_off)
{
    struct job *job = job_make(STRAG_DYNAMIC_NEVER);
    job->least = job->most = 1;
    window(job);
    assert_false(job->look);
    assert_false(policy(job)->on);
    job_free(job);
    struct strag_dynamic *two = strag_dynamic_create(2, STRAG_DYNAMIC_ALWAYS, 0);
    assert_non_null(two);
    assert_false(strag_dynamic_policy(two)->on);
    strag_dynamic_free(two);
}

TEST(turns)
{
    struct job *job = job_make(STRAG_DYNAMIC_ALWAYS);
    struct strag_dynamic_policy changed = *policy(job);
    int waits = 0, of_many = 0;
    for (uint64_t number = 0; number <= 10000; number++) {
        const bool one = strag_dynamic_turn_of(&changed, bytes, number) == STRAG_DYNAMIC_WAITS;
        waits += one && number <= 64;
        of_many += one;
    }
    assert_int_equal(waits, 4);
    assert_int_equal(of_many, 50);
    assert_int_equal(strag_dynamic_turn_of(&changed, bytes / 4 - 1, 1), STRAG_DYNAMIC_OUTSIDE);
    assert_int_equal(strag_dynamic_turn_of(&changed, bytes, 0), STRAG_DYNAMIC_OPEN);
    changed.on = false;
    assert_int_equal(strag_dynamic_turn_of(&changed, bytes, 0), STRAG_DYNAMIC_OUTSIDE);
    job_free(job);
}

static int attempt(const void *what, struct strag_error *err, bool *made)
{
    struct strag_dynamic *dynamic = strag_dynamic_create(RANKS, STRAG_DYNAMIC_AUTO, 0);
    *made = dynamic != NULL;
    strag_dynamic_free(dynamic);
    return *made ? STRAG_OK : strag_fail(err, STRAG_ERR_MEMORY, "out of memory");
}

TEST(out_of_memory)
{
    assert_int_equal(exhaust("strag_dynamic_create", attempt, NULL), 1);
}
