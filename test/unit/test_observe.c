/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Observation, in seeded simulations: ranks arrive at random, calls take the time of a symmetric
 * plan or of one that goes ahead without the rank that was found, and each rank tells how long it
 * was in the call. STRAG_CASES: simulated jobs of each kind.
 */
#include "detect/observe.h"

#include "exhaust.h"
#include "support.h"

#include <math.h>

enum { RANKS_MAX = 64, NOBODY = -1, WINDOW = STRAG_WINDOW_CALLS };

/* Of the allreduce, in seconds; half of it needs no straggler if the plan is for one. */
static const double call_time = 1e-3;

struct job {
    int n;
    struct rng *rng;
    struct strag_observer *observer;
    struct strag_call_sample sample[WINDOW]; /* of the window so far */
    int filled;
    struct strag_verdict verdict;
    long calls, decided; /* calls so far; before how many of them the verdict last changed */
    long looks;          /* calls that were examined closely */
    double jitter; /* ranks end at moments that differ by up to this part of the call's time */
    double skew[RANKS_MAX]; /* and by this, always, in seconds: so is the plan */
};

/* 0 .. 1 */
static double uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

static struct job job_create(int n, struct rng *rng)
{
    struct job job = {.n = n, .rng = rng, .verdict.rank = NOBODY};
    job.jitter = 0.04;
    job.observer = strag_observer_create();
    assert_non_null(job.observer);
    return job;
}

static void job_free(struct job *job)
{
    strag_observer_free(job->observer);
}

/* When all are done: who is late by the plan is needed for its second half only. */
static double end_of_call(const struct job *job, const double *arrival)
{
    int named = job->verdict.rank;
    double ready = 0;
    for (int rank = 0; rank < job->n; rank++)
        ready = rank != named && arrival[rank] > ready ? arrival[rank] : ready;
    if (named == NOBODY)
        return ready + call_time;
    ready += call_time / 2;
    return fmax(ready, arrival[named]) + call_time / 2;
}

static void decide(struct job *job)
{
    const struct strag_verdict verdict =
        strag_observer_decide(job->observer, job->sample, job->filled);
    if (verdict.rank != job->verdict.rank)
        job->decided = job->calls;
    job->verdict = verdict;
    job->filled = 0;
}

static void call(struct job *job, const double *arrival)
{
    const double end = end_of_call(job, arrival);
    struct strag_call_sample *sample = &job->sample[job->filled++];
    double all = 0;
    for (int rank = 0; rank < job->n; rank++)
        all = fmax(all, arrival[rank]);
    job->calls++;
    job->looks += job->verdict.look;
    *sample = strag_call_sample_none();
    for (int rank = 0; rank < job->n; rank++) {
        const double stay = end + job->jitter * call_time * uniform(job->rng) - arrival[rank];
        const double wait = all + 0.01 * call_time * uniform(job->rng) - arrival[rank];
        strag_call_sample_add(sample, rank, stay + job->skew[rank], job->verdict.look ? wait : -1);
    }
    if (job->filled == WINDOW)
        decide(job);
}

/* Everybody arrives within a tenth of the call's time; a straggler later by a delay, in a share of
 * the calls. */
struct lateness {
    int rank;
    double delay, share;
};

static void calls(struct job *job, long count, const struct lateness *straggler, int nstragglers)
{
    double arrival[RANKS_MAX];
    for (long c = 0; c < count; c++) {
        for (int rank = 0; rank < job->n; rank++)
            arrival[rank] = 0.05 * call_time * uniform(job->rng);
        for (int l = 0; l < nstragglers; l++) {
            if (uniform(job->rng) < straggler[l].share)
                arrival[straggler[l].rank] += straggler[l].delay;
        }
        call(job, arrival);
    }
}

static int some_rank(struct rng *rng, int n, int but)
{
    int rank;
    do
        rank = (int)rng_below(rng, (unsigned)n);
    while (rank == but);
    return rank;
}

/* Late by twice the call's time in 90 % of the calls: named, and no other ever. */
static void a_late_rank_is_found(void **state)
{
    (void)state;
    struct rng rng = {support_seed("a_late_rank_is_found")};
    for (long i = support_cases(100); i > 0; i--) {
        int n = 2 + (int)rng_below(&rng, RANKS_MAX - 1);
        struct job job = job_create(n, &rng);
        const struct lateness straggler = {some_rank(&rng, n, NOBODY), 2 * call_time, 0.9};
        calls(&job, 12L * WINDOW, &straggler, 1);
        assert_int_equal(job.verdict.rank, straggler.rank);
        assert_true(fabs(job.verdict.delay - 2 * call_time) < 0.1 * call_time);
        /* It stays so while the plan is another one. */
        long decided = job.decided;
        calls(&job, 8L * WINDOW, &straggler, 1);
        assert_int_equal(job.verdict.rank, straggler.rank);
        assert_int_equal(job.decided, decided);
        /* Then nobody is late any more. */
        calls(&job, 3L * WINDOW, NULL, 0);
        assert_int_equal(job.verdict.rank, NOBODY);
        job_free(&job);
    }
}

/* Each rank late at random, by up to twice the call's time. @return whether one was ever named */
static bool noise(struct rng *rng, int n, double scale, double exponent)
{
    struct job job = job_create(n, rng);
    double arrival[RANKS_MAX];
    for (long c = 0; c < 20L * WINDOW; c++) {
        for (int rank = 0; rank < n; rank++)
            arrival[rank] = scale * pow(uniform(rng), exponent);
        call(&job, arrival);
    }
    const bool named = strag_observer_report(job.observer).switches > 0;
    job_free(&job);
    return named;
}

/* Of two ranks chance makes one last in all of 8 calls now and then. */
static void noise_changes_nothing(void **state)
{
    (void)state;
    struct rng rng = {support_seed("noise_changes_nothing")};
    const long jobs = support_cases(300);
    int named = 0, of_two = 0;
    for (long i = jobs; i > 0; i--) {
        named += noise(&rng, 3 + (int)rng_below(&rng, 15), 2 * call_time * uniform(&rng),
                       1 + rng_below(&rng, 4));
        of_two += noise(&rng, 2, 2 * call_time, 1 + rng_below(&rng, 8));
    }
    print_message("named by chance in 160 calls: %d jobs of %ld, with two ranks %d\n", named, jobs,
                  of_two);
    assert_true(named <= 1 + jobs / 100);
    assert_true(of_two <= 1 + jobs / 10);
}

static void another_rank_is_followed(void **state)
{
    (void)state;
    struct rng rng = {support_seed("another_rank_is_followed")};
    for (long i = support_cases(100); i > 0; i--) {
        int n = 2 + (int)rng_below(&rng, RANKS_MAX - 1);
        struct job job = job_create(n, &rng);
        struct lateness straggler = {some_rank(&rng, n, NOBODY), 2 * call_time, 0.9};
        calls(&job, 12L * WINDOW, &straggler, 1);
        for (int change = 0; change < 3; change++) {
            straggler.rank = some_rank(&rng, n, straggler.rank);
            calls(&job, 12L * WINDOW, &straggler, 1);
            assert_int_equal(job.verdict.rank, straggler.rank);
        }
        /* At once, or by way of nobody. */
        assert_in_range(strag_observer_report(job.observer).switches, 4, 7);
        job_free(&job);
    }
}

static void of_several_the_latest(void **state)
{
    (void)state;
    struct rng rng = {support_seed("of_several_the_latest")};
    for (long i = support_cases(100); i > 0; i--) {
        int n = 4 + (int)rng_below(&rng, 20);
        int latest = some_rank(&rng, n, NOBODY), other = some_rank(&rng, n, latest);
        struct lateness straggler[] = {{latest, 3 * call_time, 1}, {other, 2 * call_time, 1}};
        struct job job = job_create(n, &rng);
        calls(&job, 4L * WINDOW, straggler, 2);
        assert_int_equal(job.verdict.rank, latest);
        /* Only the part for which the other one is there counts. */
        assert_true(fabs(job.verdict.delay - call_time) < 0.1 * call_time);
        straggler[1].delay =
            straggler[0].delay; /* equally late: nothing is gained by going ahead */
        calls(&job, 4L * WINDOW, straggler, 2);
        assert_int_equal(job.verdict.rank, NOBODY);
        job_free(&job);
        job = job_create(n, &rng);
        calls(&job, 10L * WINDOW, straggler, 2);
        assert_int_equal(job.verdict.rank, NOBODY);
        assert_int_equal(strag_observer_report(job.observer).switches, 0);
        job_free(&job);
    }
}

/* In half of the calls: not enough to be named, enough to stay named. */
static void between_the_shares_nothing_changes(void **state)
{
    (void)state;
    struct rng rng = {support_seed("between_the_shares_nothing_changes")};
    struct job job = job_create(8, &rng);
    struct lateness straggler = {5, 2 * call_time, 0.5};
    calls(&job, 20L * WINDOW, &straggler, 1);
    assert_int_equal(job.verdict.rank, NOBODY);
    job_free(&job);
    job = job_create(8, &rng);
    straggler.share = 1;
    calls(&job, 3L * WINDOW, &straggler, 1);
    assert_int_equal(job.verdict.rank, 5);
    straggler.share = 0.6;
    calls(&job, 20L * WINDOW, &straggler, 1);
    assert_int_equal(job.verdict.rank, 5);
    straggler.share = 0.05;
    calls(&job, 3L * WINDOW, &straggler, 1);
    assert_int_equal(job.verdict.rank, NOBODY);
    job_free(&job);
}

/* Lateness that is small relative to the call's time is none. */
static void a_little_late_is_not_late(void **state)
{
    (void)state;
    struct rng rng = {support_seed("a_little_late_is_not_late")};
    struct job job = job_create(6, &rng);
    struct lateness straggler = {2, 0.04 * call_time, 1};
    job.jitter = 0;
    calls(&job, 10L * WINDOW, &straggler, 1);
    assert_int_equal(job.verdict.rank, NOBODY);
    straggler.delay = 0.3 * call_time;
    calls(&job, 3L * WINDOW, &straggler, 1);
    assert_int_equal(job.verdict.rank, 2);
    /* A plan for rank 2 hides the delay; it is still seen. */
    calls(&job, 10L * WINDOW, &straggler, 1);
    assert_int_equal(job.verdict.rank, 2);
    /* A delay that is much the same is not followed, another one is. */
    double delay = job.verdict.delay;
    straggler.delay = 0.35 * call_time;
    calls(&job, 4L * WINDOW, &straggler, 1);
    assert_true(job.verdict.delay == delay);
    straggler.delay = 2 * call_time;
    calls(&job, 4L * WINDOW, &straggler, 1);
    assert_true(fabs(job.verdict.delay - straggler.delay) < 0.1 * call_time);
    assert_int_equal(strag_observer_report(job.observer).switches, 1);
    job_free(&job);
}

/* Plans where ranks end at different times: that is examined once, and then no more. */
static void ends_that_differ_are_not_lateness(void **state)
{
    (void)state;
    struct rng rng = {support_seed("ends_that_differ_are_not_lateness")};
    for (long i = support_cases(100); i > 0; i--) {
        int n = 2 + (int)rng_below(&rng, RANKS_MAX - 1);
        struct job job = job_create(n, &rng);
        for (int rank = 0; rank < n; rank++)
            job.skew[rank] = call_time * uniform(&rng) * (rng_one_in(&rng, 2) ? 1 : 0.1);
        for (int window = 0; window < 40; window++) {
            calls(&job, WINDOW, NULL, 0);
            assert_int_equal(job.verdict.rank, NOBODY);
        }
        assert_in_range(job.looks, 0, 3L * WINDOW);
        assert_int_equal(strag_observer_report(job.observer).switches, 0);
        /* Who is really late is still found. */
        const struct lateness straggler = {some_rank(&rng, n, NOBODY), 2 * call_time, 0.9};
        calls(&job, 12L * WINDOW, &straggler, 1);
        assert_int_equal(job.verdict.rank, straggler.rank);
        job_free(&job);
    }
}

static struct strag_verdict window_of(struct strag_observer *observer, const double (*stay)[3],
                                      const double (*wait)[3], int count)
{
    struct strag_call_sample sample[WINDOW];
    for (int c = 0; c < count; c++) {
        sample[c] = strag_call_sample_none();
        for (int rank = 0; rank < 3; rank++)
            strag_call_sample_add(&sample[c], rank, stay[c][rank], wait ? wait[c][rank] : -1);
    }
    return strag_observer_decide(observer, sample, count);
}

/* Windows of 4 calls of 3 ranks, by hand: rank 1 is last by 1, 2, 3 and not at all. */
static void what_is_reported(void **state)
{
    (void)state;
    struct strag_observer *observer = strag_observer_create();
    static const double stay[4][3] = {{10, 8, 9}, {10, 7, 9}, {10, 6, 9}, {9, 9, 9}};
    static const double same[4][3] = {{5, 5, 5}, {5, 5, 5}, {5, 5, 5}, {5, 5, 5}};
    static const double wait[4][3] = {{10, 8, 9}, {10, 7, 9}, {10, 6, 9}, {10, 8, 9}};
    assert_non_null(observer);
    assert_int_equal(strag_observer_report(observer).rank, -1);
    struct strag_verdict verdict = window_of(observer, stay, NULL, 4);
    assert_true(verdict.look); /* a suspicion */
    verdict = window_of(observer, stay, NULL, 4);
    assert_int_equal(verdict.rank, -1); /* durations are no more than that */
    assert_false(verdict.changed);
    assert_int_equal(strag_observer_report(observer).calls, 0);
    verdict = window_of(observer, same, wait, 4);
    assert_int_equal(verdict.rank, -1); /* 4 calls may be chance */
    assert_true(verdict.look);
    verdict = window_of(observer, same, wait, 4);
    assert_int_equal(verdict.rank, 1);
    assert_true(verdict.changed && verdict.delay == 2 && verdict.look);
    const struct strag_last last = strag_observer_call(observer, 2);
    assert_true(last.rank == 1 && last.delay == 3 && last.seconds == 5 && last.close);
    verdict = window_of(observer, same, wait, 4);
    assert_true(verdict.rank == 1 && !verdict.changed);
    struct strag_observed report = strag_observer_report(observer);
    assert_int_equal(report.calls, 12);
    assert_int_equal(report.rank, 1);
    assert_true(report.share == 1 && report.median == 1 && report.waited == 21);
    strag_observer_saved(observer, 0.5);
    strag_observer_saved(observer, -0.125);
    report = strag_observer_report(observer);
    assert_true(report.saved == 0.375);
    assert_int_equal(report.switches, 1);
    strag_observer_free(observer);
    strag_observer_free(NULL);
}

static int try_create(const void *what, struct strag_error *err, bool *made)
{
    struct strag_observer *observer = strag_observer_create();
    (void)what;
    *made = observer != NULL;
    strag_observer_free(observer);
    return *made ? STRAG_OK : strag_fail(err, STRAG_ERR_MEMORY, "out of memory");
}

static void memory_runs_out(void **state)
{
    (void)state;
    assert_int_equal(exhaust("an observer", try_create, NULL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_rank_is_found),
        cmocka_unit_test(noise_changes_nothing),
        cmocka_unit_test(another_rank_is_followed),
        cmocka_unit_test(of_several_the_latest),
        cmocka_unit_test(between_the_shares_nothing_changes),
        cmocka_unit_test(a_little_late_is_not_late),
        cmocka_unit_test(ends_that_differ_are_not_lateness),
        cmocka_unit_test(what_is_reported),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
