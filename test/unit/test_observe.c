/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Observation, in seeded simulations: ranks arrive at random, calls take the time of a symmetric
 * plan or of one that goes ahead without the rank that was found, and each rank tells how long it
 * was in the call. STRAG_CASES: simulated jobs of each kind.
 */
#include "watch/observe.h"

#include "exhaust.h"
#include "support.h"

#include <math.h>

enum { RANKS_MAX = 64, WINDOW = 100, NOBODY = -1 };

/* Of the allreduce, in seconds; half of it needs no straggler if the plan is for one. */
static const double call_time = 1e-3;

struct job {
    int n;
    struct rng *rng;
    struct strag_observer *observers[RANKS_MAX]; /* one per rank */
    struct strag_note *gathered;                 /* what is under way */
    struct strag_verdict verdict;
    long calls, decided; /* calls so far; before how many of them the verdict last changed */
    long looks;          /* calls that were looked at closely */
    double jitter;       /* ranks end at moments that differ by up to so much of the call's time */
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
    job.gathered = calloc((size_t)n * (size_t)WINDOW, sizeof *job.gathered);
    assert_non_null(job.gathered);
    for (int rank = 0; rank < n; rank++) {
        struct strag_error err;
        if (strag_observer_create(n, WINDOW, 0, &job.observers[rank], &err) != STRAG_OK)
            fail_msg("%s", err.text);
    }
    return job;
}

static void job_free(struct job *job)
{
    for (int rank = 0; rank < job->n; rank++)
        strag_observer_free(job->observers[rank]);
    free(job->gathered);
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

static void gather(struct job *job)
{
    for (int rank = 0; rank < job->n; rank++) {
        size_t bytes;
        const struct strag_note *notes = strag_observer_notes(job->observers[rank], &bytes);
        assert_int_equal(bytes, (size_t)WINDOW * sizeof *notes);
        memcpy(job->gathered + rank * WINDOW, notes, bytes);
    }
}

static void decide(struct job *job)
{
    const size_t stride = (size_t)WINDOW * sizeof *job->gathered;
    struct strag_verdict first = strag_observer_decide(job->observers[0], job->gathered, stride);
    for (int rank = 1; rank < job->n; rank++) {
        struct strag_verdict other =
            strag_observer_decide(job->observers[rank], job->gathered, stride);
        assert_int_equal(other.rank, first.rank);
        assert_true(other.delay == first.delay);
        assert_int_equal(other.changed, first.changed);
        assert_int_equal(other.look, first.look);
    }
    if (first.rank != job->verdict.rank)
        job->decided = job->calls;
    job->verdict = first;
}

/* One call. All ranks are told the same step. */
static void call(struct job *job, const double *arrival)
{
    double end = end_of_call(job, arrival);
    enum strag_observe_step step = STRAG_OBSERVE_NOTHING;
    double all = 0;
    for (int rank = 0; rank < job->n; rank++)
        all = fmax(all, arrival[rank]);
    job->calls++;
    job->looks += job->verdict.look;
    for (int rank = 0; rank < job->n; rank++) {
        double seconds = end + job->jitter * call_time * uniform(job->rng) - arrival[rank];
        double wait = all + 0.01 * call_time * uniform(job->rng) - arrival[rank];
        const struct strag_note note = {(float)(seconds + job->skew[rank]),
                                        job->verdict.look ? (float)wait : -1};
        enum strag_observe_step mine = strag_observer_add(job->observers[rank], note);
        assert_true(rank == 0 || mine == step);
        step = mine;
    }
    if (step == STRAG_OBSERVE_SEND)
        gather(job);
    if (step == STRAG_OBSERVE_DECIDE)
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
        long window = WINDOW;
        calls(&job, 3 * window, &straggler, 1);
        assert_int_equal(job.verdict.rank, straggler.rank);
        assert_in_range(job.decided, 1, 3 * window);
        assert_true(fabs(job.verdict.delay - 2 * call_time) < 0.1 * call_time);
        /* It stays so while the plan is another one. */
        long decided = job.decided;
        calls(&job, 8 * window, &straggler, 1);
        assert_int_equal(job.verdict.rank, straggler.rank);
        assert_int_equal(job.decided, decided);
        /* Then nobody is late any more. */
        calls(&job, 3 * window, NULL, 0);
        assert_int_equal(job.verdict.rank, NOBODY);
        job_free(&job);
    }
}

/* Each rank late at random, by up to twice the call's time. */
static void noise(struct rng *rng, int n, double scale, double exponent)
{
    struct job job = job_create(n, rng);
    double arrival[RANKS_MAX];
    for (long c = 0; c < 20L * WINDOW; c++) {
        for (int rank = 0; rank < n; rank++)
            arrival[rank] = scale * pow(uniform(rng), exponent);
        call(&job, arrival);
        assert_int_equal(job.verdict.rank, NOBODY);
    }
    struct strag_observed report = strag_observer_report(job.observers[0]);
    assert_int_equal(report.switches, 0);
    job_free(&job);
}

static void noise_changes_nothing(void **state)
{
    (void)state;
    struct rng rng = {support_seed("noise_changes_nothing")};
    for (long i = support_cases(100); i > 0; i--) {
        noise(&rng, 2 + (int)rng_below(&rng, 15), 2 * call_time * uniform(&rng),
              1 + rng_below(&rng, 4));
        noise(&rng, 2, 2 * call_time, 1 + rng_below(&rng, 8));
    }
}

static void another_rank_is_followed(void **state)
{
    (void)state;
    struct rng rng = {support_seed("another_rank_is_followed")};
    for (long i = support_cases(100); i > 0; i--) {
        int n = 2 + (int)rng_below(&rng, RANKS_MAX - 1);
        struct job job = job_create(n, &rng);
        struct lateness straggler = {some_rank(&rng, n, NOBODY), 2 * call_time, 0.9};
        long window = WINDOW;
        calls(&job, 5 * window, &straggler, 1);
        for (int change = 0; change < 3; change++) {
            straggler.rank = some_rank(&rng, n, straggler.rank);
            calls(&job, 3 * window, &straggler, 1);
            assert_int_equal(job.verdict.rank, straggler.rank);
        }
        /* At once, or by way of nobody. */
        assert_in_range(strag_observer_report(job.observers[n - 1]).switches, 4, 7);
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
        assert_int_equal(strag_observer_report(job.observers[0]).switches, 0);
        job_free(&job);
    }
}

/* In 60 % of the calls: not enough to be named, enough to stay named. */
static void between_the_shares_nothing_changes(void **state)
{
    (void)state;
    struct rng rng = {support_seed("between_the_shares_nothing_changes")};
    struct job job = job_create(8, &rng);
    struct lateness straggler = {5, 2 * call_time, 0.6};
    calls(&job, 20L * WINDOW, &straggler, 1);
    assert_int_equal(job.verdict.rank, NOBODY);
    straggler.share = 1;
    calls(&job, 3L * WINDOW, &straggler, 1);
    assert_int_equal(job.verdict.rank, 5);
    straggler.share = 0.6;
    calls(&job, 20L * WINDOW, &straggler, 1);
    assert_int_equal(job.verdict.rank, 5);
    straggler.share = 0.2;
    calls(&job, 3L * WINDOW, &straggler, 1);
    assert_int_equal(job.verdict.rank, NOBODY);
    job_free(&job);
}

/* Lateness that is small beside the call's time is none. */
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
    assert_int_equal(strag_observer_report(job.observers[0]).switches, 1);
    job_free(&job);
}

/* Plans where ranks end at different times: that is looked at once, and then no more. */
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
        assert_int_equal(strag_observer_report(job.observers[0]).switches, 0);
        /* Who is really late is still found. */
        const struct lateness straggler = {some_rank(&rng, n, NOBODY), 2 * call_time, 0.9};
        calls(&job, 3L * WINDOW, &straggler, 1);
        assert_int_equal(job.verdict.rank, straggler.rank);
        job_free(&job);
    }
}

/* Windows of 4 calls of 3 ranks, by hand. */
static void what_is_reported(void **state)
{
    (void)state;
    struct strag_observer *observer;
    assert_int_equal(strag_observer_create(3, 4, 0, &observer, NULL), STRAG_OK);
    assert_int_equal(strag_observer_report(observer).rank, -1);
    static const enum strag_observe_step steps[] = {
        STRAG_OBSERVE_NOTHING, STRAG_OBSERVE_NOTHING, STRAG_OBSERVE_NOTHING, STRAG_OBSERVE_SEND,
        STRAG_OBSERVE_DECIDE,  STRAG_OBSERVE_NOTHING, STRAG_OBSERVE_NOTHING, STRAG_OBSERVE_SEND,
        STRAG_OBSERVE_DECIDE,  STRAG_OBSERVE_NOTHING,
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_int_equal(strag_observer_add(observer, (struct strag_note){(float)i, 8}), steps[i]);
    /* Rank 1 is last by 1, 2, 3 and, as nobody was measured, not at all. */
    struct strag_note notes[12] = {
        {10, -1}, {10, -1}, {10, -1}, {10, -1}, /* rank 0 */
        {8, -1},  {7, -1},  {6, -1},  {0, -1},  /* rank 1 */
        {9, -1},  {9, -1},  {9, -1},  {9, -1},  /* rank 2 */
    };
    const size_t stride = 4 * sizeof *notes;
    struct strag_verdict verdict = strag_observer_decide(observer, notes, stride);
    assert_true(verdict.look); /* a suspicion */
    verdict = strag_observer_decide(observer, notes, stride);
    assert_int_equal(verdict.rank, -1); /* durations are no more than that */
    assert_false(verdict.changed);
    assert_int_equal(strag_observer_report(observer).calls, 0);
    /* The same by waits. */
    for (int i = 0; i < 12; i++) {
        notes[i].wait = notes[i].seconds;
        notes[i].seconds = i == 7 ? 0 : 5;
    }
    verdict = strag_observer_decide(observer, notes, stride);
    assert_int_equal(verdict.rank, 1);
    assert_true(verdict.changed && verdict.delay == 2 && verdict.look);
    struct strag_last last = strag_observer_call(observer, 2);
    assert_true(last.rank == 1 && last.delay == 3 && last.seconds == 5 && last.close);
    assert_int_equal(strag_observer_call(observer, 3).rank, -1);
    verdict = strag_observer_decide(observer, notes, stride);
    assert_true(verdict.rank == 1 && !verdict.changed);
    struct strag_observed report = strag_observer_report(observer);
    assert_int_equal(report.calls, 8);
    assert_int_equal(report.rank, 1);
    assert_true(report.share == 0.75 && report.median == 2 && report.percentile95 == 3);
    assert_true(report.any_quarter == 1 && report.any_median == 2 &&
                report.any_three_quarters == 3 && report.any_longest == 3);
    assert_true(report.waited == 12 && report.spent == 30);
    notes[0].wait = 2; /* rank 0 is last by 6 */
    notes[3].seconds = 0;
    verdict = strag_observer_decide(observer, notes, stride);
    assert_int_equal(verdict.rank, 1); /* 5 of 8 */
    assert_false(verdict.changed);
    strag_observer_saved(observer, 0.5);
    strag_observer_saved(observer, -0.125);
    report = strag_observer_report(observer);
    assert_int_equal(report.calls, 12);
    assert_true(report.share == 8.0 / 12 && report.saved == 0.375);
    assert_int_equal(report.switches, 1);
    strag_observer_free(observer);
    strag_observer_free(NULL);
}

static void options_that_make_no_sense(void **state)
{
    (void)state;
    const struct {
        int n, window;
        const char *why;
    } cases[] = {
        {1, WINDOW, "1 ranks to observe; at least 2 are needed"},
        {2, 1, "a window of 1 calls; 2 to 4096 are accepted"},
        {2, 4097, "a window of 4097 calls; 2 to 4096 are accepted"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strag_observer *observer = NULL;
        struct strag_error err = {""};
        assert_int_equal(strag_observer_create(cases[i].n, cases[i].window, 0, &observer, &err),
                         STRAG_ERR_ARGUMENT);
        assert_string_equal(err.text, cases[i].why);
        assert_null(observer);
    }
}

static int try_create(const void *what, struct strag_error *err, bool *made)
{
    struct strag_observer *observer = NULL;
    int status = strag_observer_create(*(const int *)what, WINDOW, 0, &observer, err);
    *made = observer != NULL;
    strag_observer_free(observer);
    return status;
}

/* It says when to send, and what, as the others do. */
static void only_notes(void **state)
{
    (void)state;
    enum { ROOM = 40 };
    struct strag_observer *observer;
    size_t bytes;
    assert_int_equal(strag_observer_create(0, 16, ROOM, &observer, NULL), STRAG_OK);
    for (int call = 0; call < 50; call++) {
        const enum strag_observe_step step =
            strag_observer_add(observer, (struct strag_note){(float)call, -1});
        assert_int_equal(step, call % 16 == 15               ? STRAG_OBSERVE_SEND
                               : call > 16 && call % 16 == 1 ? STRAG_OBSERVE_DECIDE
                                                             : STRAG_OBSERVE_NOTHING);
        if (call < 15 || call % 16 > 1) /* a full window stays as it is until the decision */
            continue;
        const struct strag_note *notes = strag_observer_notes(observer, &bytes);
        assert_int_equal(bytes, 16 * sizeof *notes);
        const int first = call / 16 * 16 - 16;
        for (int i = 0; i < 16; i++)
            assert_true(notes[i].seconds == (float)(first + i));
    }
    memset((char *)strag_observer_notes(observer, &bytes) + 16 * sizeof(struct strag_note), 1,
           ROOM);
    strag_observer_free(observer);
}

static void memory_runs_out(void **state)
{
    (void)state;
    const int n = 5;
    assert_true(exhaust("an observer", try_create, &n) >= 8);
}

/* What observe.c takes from one call's durations. */
static double seconds_of(const float *durations, int n, double *delay, bool *brief)
{
    struct strag_note notes[32];
    double scratch[32];
    assert_true(n <= 32);
    for (int rank = 0; rank < n; rank++)
        notes[rank] = (struct strag_note){durations[rank], -1};
    return strag_observer_seconds(notes, sizeof *notes, n, 0, scratch, delay, brief);
}

static void seconds_of_calls(void **state)
{
    (void)state;
    double delay;
    bool brief;
    /* Rank 1 is late by 3: from its arrival on it took 5, rank 2 was there first, and took 6. */
    assert_true(seconds_of((const float[]){8, 5, 9}, 3, &delay, &brief) == 6 && delay == 3 &&
                !brief);
    /* Of a short call nothing is subtracted. */
    assert_true(seconds_of((const float[]){-8, -4, -9}, 3, &delay, &brief) == 9 && delay == 4 &&
                brief);
    /* Two ranks end a message later than four. */
    assert_true(seconds_of((const float[]){-6, -4, -4, -4, -4, -6}, 6, &delay, &brief) == 6);
    /* One was there long before the others: it only waited. */
    assert_true(seconds_of((const float[]){-100, -4, -4, -5, -4, -4}, 6, &delay, &brief) == 5);
    /* One of many waited for a processor. */
    float many[32];
    for (int rank = 0; rank < 32; rank++)
        many[rank] = rank < 3 ? -7.0F + (float)rank : -4; /* 7, 6, 5, 4, 4 .. */
    assert_true(seconds_of(many, 32, &delay, &brief) == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_of_calls),
        cmocka_unit_test(a_late_rank_is_found),
        cmocka_unit_test(noise_changes_nothing),
        cmocka_unit_test(another_rank_is_followed),
        cmocka_unit_test(of_several_the_latest),
        cmocka_unit_test(between_the_shares_nothing_changes),
        cmocka_unit_test(a_little_late_is_not_late),
        cmocka_unit_test(ends_that_differ_are_not_lateness),
        cmocka_unit_test(what_is_reported),
        cmocka_unit_test(options_that_make_no_sense),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(only_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
