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
    int switches;        /* how often it did */
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
    struct job job = {.n = n, .rng = rng};
    job.jitter = 0.04;
    job.observer = strag_observer_create(n);
    assert_non_null(job.observer);
    return job;
}

static void job_free(struct job *job)
{
    strag_observer_free(job->observer);
}

static int named(const struct job *job)
{
    return job->verdict.late.count ? job->verdict.late.rank[0].rank : NOBODY;
}

static double delay_of(const struct job *job)
{
    return job->verdict.late.rank[0].delay;
}

/* When all are done: who is late by the plan is needed for its second half only. */
static double end_of_call(const struct job *job, const double *arrival)
{
    const struct strag_late *late = &job->verdict.late;
    double ready = 0, last = 0;
    for (int rank = 0; rank < job->n; rank++) {
        bool waited = true;
        for (int i = 0; i < late->count; i++)
            waited = waited && late->rank[i].rank != rank;
        ready = waited ? fmax(ready, arrival[rank]) : ready;
        last = fmax(last, arrival[rank]);
    }
    return late->count ? fmax(ready + call_time / 2, last) + call_time / 2 : ready + call_time;
}

static void decide(struct job *job)
{
    const struct strag_verdict verdict =
        strag_observer_decide(job->observer, job->sample, job->filled);
    if (!strag_late_is_same(&verdict.late, &job->verdict.late)) {
        job->decided = job->calls;
        job->switches++;
    }
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
    job->looks += job->verdict.look > 0;
    *sample = strag_call_sample_none();
    for (int rank = 0; rank < job->n; rank++) {
        const double stay = end + job->jitter * call_time * uniform(job->rng) - arrival[rank];
        const double wait = all + 0.01 * call_time * uniform(job->rng) - arrival[rank];
        strag_call_sample_add(sample, rank, stay + job->skew[rank],
                              job->verdict.look > 0 ? wait : -1);
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
TEST(a_late_rank_is_found)
{
    struct rng rng = {support_seed("a_late_rank_is_found")};
    for (long i = support_cases(100); i > 0; i--) {
        int n = 2 + (int)rng_below(&rng, RANKS_MAX - 1);
        struct job job = job_create(n, &rng);
        const struct lateness straggler = {some_rank(&rng, n, NOBODY), 2 * call_time, 0.9};
        calls(&job, 16L * WINDOW, &straggler, 1);
        assert_int_equal(named(&job), straggler.rank);
        assert_true(fabs(delay_of(&job) - 2 * call_time) < 0.1 * call_time);
        /* It stays so while the plan is another one. */
        long decided = job.decided;
        calls(&job, 8L * WINDOW, &straggler, 1);
        assert_int_equal(named(&job), straggler.rank);
        assert_int_equal(job.decided, decided);
        /* Then nobody is late any more. */
        calls(&job, 3L * WINDOW, NULL, 0);
        assert_int_equal(named(&job), NOBODY);
        job_free(&job);
    }
}

/* ---- Chance ---- */

enum kind { EXPONENTIAL, LOGNORMAL, HEAVY, TURNS, KINDS };

static const char *const kinds[KINDS] = {"exponential", "lognormal", "lognormal, heavy",
                                         "two ranks in turn"};

/* Of a standard normal distribution; by bisection. */
static double normal_quantile(double u)
{
    double low = -9, high = 9;
    for (int step = 0; step < 40; step++) {
        const double middle = (low + high) / 2;
        if (erfc(-middle / sqrt(2)) / 2 < u)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* How late the rank is that `u` of all ranks come before, in call times. */
static double quantile(enum kind kind, double u)
{
    return kind == EXPONENTIAL ? -log1p(-u) : exp((kind == HEAVY ? 2 : 0.5) * normal_quantile(u));
}

/* The last four of n ranks, drawn as what is largest of n: so a call takes as long with 10,000. */
static void draw_last(struct rng *rng, int n, enum kind kind, double scale,
                      struct strag_time last[STRAG_SHORTEST])
{
    double u = 1;
    for (int i = 0; i < STRAG_SHORTEST && i < n; i++) {
        bool again = true;
        u *= pow(1 - uniform(rng), 1.0 / (n - i));
        last[i].seconds = (float)(scale * quantile(kind, fmin(u, 1 - 1e-15)));
        while (again) {
            last[i].rank = (int)rng_below(rng, (unsigned)n);
            again = false;
            for (int j = 0; j < i; j++)
                again = again || last[j].rank == last[i].rank;
        }
    }
}

static struct strag_call_sample draw_call(struct rng *rng, int n, enum kind kind, double scale,
                                          bool close, long call)
{
    struct strag_time last[STRAG_SHORTEST] = {0};
    struct strag_call_sample sample = strag_call_sample_none();
    draw_last(rng, n, kind == TURNS ? EXPONENTIAL : kind, scale, last);
    if (kind == TURNS) {
        last[0].rank = (int)(call % 2);
        last[0].seconds += (float)(2 * scale);
        last[1].rank = n > 2 ? 2 : 1 - last[0].rank;
    }
    for (int i = 0; i < STRAG_SHORTEST && i < n; i++) {
        const double wait = (double)last[0].seconds - (double)last[i].seconds;
        const double end = 1 + 0.02 * uniform(rng);
        strag_call_sample_add(&sample, last[i].rank, wait + end, close ? wait : -1);
    }
    return sample;
}

/* 400 calls in windows as the judge orders them (learn/judge.c), without a pause.
 * @return whether one was ever named */
static bool names_by_chance(struct rng *rng, int n, enum kind kind, double scale)
{
    struct strag_observer *observer = strag_observer_create(n);
    struct strag_verdict verdict = {.look = 0};
    bool named = false;
    assert_non_null(observer);
    for (int call = 0, size = 2; call < 400 && !named;) {
        struct strag_call_sample sample[WINDOW];
        for (int c = 0; c < size; c++)
            sample[c] = draw_call(rng, n, kind, scale, verdict.look > 0, call++);
        call++;
        verdict = strag_observer_decide(observer, sample, size);
        named = verdict.late.count > 0;
        const int wanted = verdict.look ? verdict.look : 2 * size;
        size = wanted < WINDOW ? wanted : WINDOW;
    }
    strag_observer_free(observer);
    return named;
}

TEST(noise_changes_nothing)
{
    static const int ranks[] = {2, 3, 4, 5, 6, 8, 11, 16, 64, 1000, 10000};
    struct rng rng = {support_seed("noise_changes_nothing")};
    const long jobs = support_cases(100);
    long all = 0, named = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
            long wrong = 0;
            for (long j = 0; j < jobs; j++)
                wrong += names_by_chance(&rng, ranks[i], (enum kind)kind, 0.3 + (double)(j % 3));
            if (wrong > 0)
                print_message("%s, %d ranks: named in %ld jobs of %ld\n", kinds[kind], ranks[i],
                              wrong, jobs);
            named += wrong;
            all += jobs;
        }
    }
    print_message("named by chance in %ld jobs of %ld\n", named, all);
    assert_true(named <= 2 + all / 1000);
}

/* ---- Who is late ---- */

TEST(another_rank_is_followed)
{
    struct rng rng = {support_seed("another_rank_is_followed")};
    for (long i = support_cases(100); i > 0; i--) {
        int n = 2 + (int)rng_below(&rng, RANKS_MAX - 1);
        struct job job = job_create(n, &rng);
        struct lateness straggler = {some_rank(&rng, n, NOBODY), 2 * call_time, 0.9};
        calls(&job, 12L * WINDOW, &straggler, 1);
        for (int change = 0; change < 3; change++) {
            straggler.rank = some_rank(&rng, n, straggler.rank);
            calls(&job, 12L * WINDOW, &straggler, 1);
            assert_int_equal(named(&job), straggler.rank);
        }
        /* At once, or by way of nobody. */
        assert_in_range(job.switches, 4, 7);
        job_free(&job);
    }
}

static bool is_named(const struct job *job, const struct lateness *straggler, int count)
{
    bool right = job->verdict.late.count == count;
    for (int i = 0; right && i < count; i++) {
        const struct strag_straggler *late = &job->verdict.late.rank[i];
        right = late->rank == straggler[i].rank &&
                fabs(late->delay - straggler[i].delay) < 0.1 * call_time;
    }
    return right;
}

/* Two or three are named together, in the order of their arrival; if they are half of the ranks,
 * the last one alone, by the part for which the other one is there. */
TEST(several)
{
    struct rng rng = {support_seed("several")};
    for (long i = support_cases(100); i > 0; i--) {
        const int n = 4 + (int)rng_below(&rng, 20);
        const int latest = some_rank(&rng, n, NOBODY), other = (latest + 1) % n;
        struct lateness straggler[] = {{latest, 3 * call_time, 1},
                                       {other, 2 * call_time, 1},
                                       {(latest + 2) % n, call_time, 1}};
        const int most = n > 6 ? 3 : n > 4 ? 2 : 1, late = n > 4 ? most : 2;
        struct job job = job_create(n, &rng);
        calls(&job, 4L * WINDOW, straggler, late);
        if (n > 4)
            assert_true(is_named(&job, straggler, most));
        else
            assert_true(named(&job) == latest &&
                        fabs(delay_of(&job) - call_time) < 0.1 * call_time);
        /* One that comes in time again is waited for again. */
        calls(&job, 5L * WINDOW, straggler, late - 1);
        assert_true(is_named(&job, straggler, late - 1));
        job_free(&job);
    }
}

/* Equally late: named together, or nobody is. */
TEST(equally_late)
{
    struct rng rng = {support_seed("equally_late")};
    for (long i = support_cases(100); i > 0; i--) {
        const int n = 3 + (int)rng_below(&rng, 20), one = some_rank(&rng, n, NOBODY);
        const struct lateness straggler[] = {{one, 2 * call_time, 1},
                                             {(one + 1) % n, 2 * call_time, 1}};
        struct job job = job_create(n, &rng);
        calls(&job, 10L * WINDOW, straggler, 2);
        assert_int_equal(job.verdict.late.count, n > 4 ? 2 : 0);
        assert_int_equal(job.switches, n > 4);
        job_free(&job);
    }
}

/* In 0.4 of the calls: not enough to be named. In 0.8: enough to stay named. */
TEST(between_the_shares_nothing_changes)
{
    struct rng rng = {support_seed("between_the_shares_nothing_changes")};
    struct job job = job_create(8, &rng);
    struct lateness straggler = {5, 2 * call_time, 0.4};
    calls(&job, 20L * WINDOW, &straggler, 1);
    assert_int_equal(named(&job), NOBODY);
    job_free(&job);
    job = job_create(8, &rng);
    straggler.share = 1;
    calls(&job, 3L * WINDOW, &straggler, 1);
    assert_int_equal(named(&job), 5);
    straggler.share = 0.8;
    calls(&job, 20L * WINDOW, &straggler, 1);
    assert_int_equal(named(&job), 5);
    straggler.share = 0.05;
    calls(&job, 3L * WINDOW, &straggler, 1);
    assert_int_equal(named(&job), NOBODY);
    job_free(&job);
}

/* Lateness that is small relative to the call's time is none. */
TEST(a_little_late_is_not_late)
{
    struct rng rng = {support_seed("a_little_late_is_not_late")};
    struct job job = job_create(6, &rng);
    struct lateness straggler = {2, 0.04 * call_time, 1};
    job.jitter = 0;
    calls(&job, 10L * WINDOW, &straggler, 1);
    assert_int_equal(named(&job), NOBODY);
    straggler.delay = 0.3 * call_time;
    calls(&job, 3L * WINDOW, &straggler, 1);
    assert_int_equal(named(&job), 2);
    /* A plan for rank 2 hides the delay; it is still seen. */
    calls(&job, 10L * WINDOW, &straggler, 1);
    assert_int_equal(named(&job), 2);
    /* A delay that is much the same is not followed, another one is. */
    double delay = delay_of(&job);
    straggler.delay = 0.35 * call_time;
    calls(&job, 4L * WINDOW, &straggler, 1);
    assert_true(delay_of(&job) == delay);
    straggler.delay = 2 * call_time;
    calls(&job, 4L * WINDOW, &straggler, 1);
    assert_true(fabs(delay_of(&job) - straggler.delay) < 0.1 * call_time);
    assert_int_equal(job.switches, 1);
    job_free(&job);
}

/* Plans where ranks end at different times: that is examined once, and then no more. */
TEST(ends_that_differ_are_not_lateness)
{
    struct rng rng = {support_seed("ends_that_differ_are_not_lateness")};
    for (long i = support_cases(100); i > 0; i--) {
        int n = 2 + (int)rng_below(&rng, RANKS_MAX - 1);
        struct job job = job_create(n, &rng);
        for (int rank = 0; rank < n; rank++)
            job.skew[rank] = call_time * uniform(&rng) * (rng_one_in(&rng, 2) ? 1 : 0.1);
        for (int window = 0; window < 40; window++) {
            calls(&job, WINDOW, NULL, 0);
            assert_int_equal(named(&job), NOBODY);
        }
        assert_in_range(job.looks, 0, 3L * WINDOW);
        assert_int_equal(job.switches, 0);
        /* Who is really late is still found. */
        const struct lateness straggler = {some_rank(&rng, n, NOBODY), 2 * call_time, 0.9};
        calls(&job, 12L * WINDOW, &straggler, 1);
        assert_int_equal(named(&job), straggler.rank);
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
TEST(by_hand)
{
    struct strag_observer *observer = strag_observer_create(3);
    static const double stay[4][3] = {{10, 8, 9}, {10, 7, 9}, {10, 6, 9}, {9, 9, 9}};
    static const double same[4][3] = {{5, 5, 5}, {5, 5, 5}, {5, 5, 5}, {5, 5, 5}};
    static const double wait[4][3] = {{10, 8, 9}, {10, 7, 9}, {10, 6, 9}, {10, 8, 9}};
    assert_non_null(observer);
    struct strag_verdict verdict = window_of(observer, stay, NULL, 4);
    assert_int_equal(verdict.look, 8); /* a suspicion: of three ranks as many calls are needed */
    verdict = window_of(observer, stay, NULL, 4);
    assert_int_equal(verdict.late.count, 0); /* durations are no more than that */
    verdict = window_of(observer, same, wait, 4);
    assert_int_equal(verdict.late.count, 0); /* 4 calls may be chance */
    assert_int_equal(verdict.look, 8);
    verdict = window_of(observer, same, wait, 4);
    assert_int_equal(verdict.late.count, 1);
    assert_true(verdict.late.rank[0].rank == 1 && verdict.late.rank[0].delay == 2);
    assert_int_equal(verdict.look, 8);
    const struct strag_last *last = strag_observer_call(observer, 2);
    assert_true(last->order[0].rank == 1 && last->seconds == 5 && last->close);
    assert_true(strag_last_delay(last, &verdict.late) == 3);
    assert_true(strag_last_delay(last, &(struct strag_late){1, {{2, 0}}}) == 0);
    assert_true(strag_last_delay(last, &(struct strag_late){.count = 0}) == 0);
    const struct strag_late before = verdict.late;
    verdict = window_of(observer, same, wait, 4);
    assert_true(strag_late_is_same(&verdict.late, &before));
    strag_observer_free(observer);
    strag_observer_free(NULL);
}

/* 1/4000 by chance: 3^8 is the first power of 3 above 4000, 4^6 of 4, 5^6 of 5; from 6 ranks on 5.
 */
TEST(calls_to_name)
{
    static const int expected[] = {[3] = 12, 10, 10, 9, 9, 9};
    for (int n = 3; n < 9; n++)
        assert_int_equal(strag_calls_to_name(n), expected[n]);
    assert_int_equal(strag_calls_to_name(10000), STRAG_CALLS_TO_NAME);
}

static int try_create(const void *what, struct strag_error *err, bool *made)
{
    struct strag_observer *observer = strag_observer_create(8);
    *made = observer != NULL;
    strag_observer_free(observer);
    return *made ? STRAG_OK : strag_fail(err, STRAG_ERR_MEMORY, "out of memory");
}

TEST(memory_runs_out)
{
    assert_int_equal(exhaust("an observer", try_create, NULL), 1);
}
