/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report: units, what a ledger keeps, what calls have lost (against seeded arrivals that are
 * known here), and the texts. STRAG_CASES: jobs with random arrivals.
 */
#include "base/text.h"
#include "base/units.h"
#include "report/account.h"

#include "exhaust.h"
#include "support.h"

#include <math.h>

enum { RANKS_MAX = 40, CALLS_MAX = 300, PREVIOUS = 48 };

TEST(units_are_for_people)
{
    assert_string_equal(strag_units_time(0).text, "0 us");
    assert_string_equal(strag_units_time(8e-7).text, "0.8 us");
    assert_string_equal(strag_units_time(999.4e-6).text, "999 us");
    assert_string_equal(strag_units_time(999.6e-6).text, "1 ms");
    assert_string_equal(strag_units_time(6.25e-3).text, "6.25 ms");
    assert_string_equal(strag_units_time(0.0842).text, "84.2 ms");
    assert_string_equal(strag_units_time(5.3).text, "5.3 s");
    assert_string_equal(strag_units_time(310.4).text, "310 s");
    assert_string_equal(strag_units_time(86400).text, "86400 s");
    assert_string_equal(strag_units_bytes(0).text, "0 B");
    assert_string_equal(strag_units_bytes(8).text, "8 B");
    assert_string_equal(strag_units_bytes(1023).text, "1023 B");
    assert_string_equal(strag_units_bytes(1536).text, "1.5 KiB");
    assert_string_equal(strag_units_bytes(262144).text, "256 KiB");
    assert_string_equal(strag_units_bytes(1e30).text, "888178419700125 PiB");
    assert_string_equal(strag_units_share(0).text, "0 %");
    assert_string_equal(strag_units_share(0.0014).text, "0.1 %");
    assert_string_equal(strag_units_share(0.0096).text, "1 %");
    assert_string_equal(strag_units_share(0.957).text, "96 %");
    assert_string_equal(strag_units_count(0, "rank").text, "0 ranks");
    assert_string_equal(strag_units_count(1, "switch").text, "1 switch");
    assert_string_equal(strag_units_count(2, "switch").text, "2 switches");
}

/* ---- The ledger ---- */

TEST(ledger_thins_out)
{
    struct strag_stay stays[8];
    struct strag_ledger ledger = strag_ledger_begin(stays, 8);
    ledger.watched_from = 100;
    for (int c = 0; c < 1000; c++) {
        const struct strag_stay stay = {c, 2 * c};
        strag_ledger_add(&ledger, STRAG_LEDGER_BLOCKING, c % 3, c % 2 ? 8 : 100, &stay);
        assert_in_range(ledger.kept, c < 8 ? c + 1 : 5, 8);
        for (int t = 0; t < ledger.kept; t++)
            assert_int_equal((long)stays[t].begin, (long)((uint64_t)t * ledger.every));
        assert_true((uint64_t)c < (uint64_t)ledger.kept * ledger.every);
    }
    strag_ledger_add(&ledger, STRAG_LEDGER_NONBLOCKING, 5, 4096, NULL);
    strag_ledger_add(&ledger, STRAG_LEDGER_PERSISTENT, 5, 0, NULL);
    assert_int_equal(ledger.every, 128);
    assert_int_equal(ledger.calls[STRAG_LEDGER_BLOCKING], 1000);
    assert_int_equal(ledger.calls[STRAG_LEDGER_NONBLOCKING], 1);
    assert_int_equal(ledger.calls[STRAG_LEDGER_PERSISTENT], 1);
    assert_int_equal(ledger.outcome[0], 334);
    assert_int_equal(ledger.outcome[5], 2);
    assert_int_equal(ledger.watched, 500);
    assert_true(ledger.seconds == 999.0 * 1000 / 2);
    assert_true(ledger.bytes == 500 * 108 + 4096);
    assert_true(ledger.shortest == 0 && ledger.longest == 4096);
}

TEST(room_is_bounded)
{
    for (int n = 2; n <= 1 << 20; n += 1 + n / 3) {
        const int room = strag_ledger_room(n);
        assert_int_equal(room % 2, 0);
        assert_in_range(room, 64, 4096);
        assert_true(room == 64 || (size_t)n * (size_t)room * sizeof(struct strag_stay) <= 16 << 20);
    }
    assert_int_equal(strag_ledger_room(256), 4096);
    assert_int_equal(strag_ledger_room(4096), 256);
    struct strag_ledger none = strag_ledger_begin(NULL, 64);
    strag_ledger_add(&none, STRAG_LEDGER_BLOCKING, 1, 8, &(struct strag_stay){1, 2});
    assert_int_equal(none.kept, 0);
    assert_int_equal(none.calls[STRAG_LEDGER_BLOCKING], 1);
}

/* ---- The loss ---- */

/* A job of which all is known. */
struct job {
    int n, calls;
    struct strag_stay stays[RANKS_MAX][CALLS_MAX];
    struct strag_stays ranks[RANKS_MAX];
    double lost, cost[RANKS_MAX];
    int last[RANKS_MAX]; /* calls */
};

static double uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

/* What a clock says: each has its own zero, and drifts. */
static double read_clock(uint64_t clock, double time)
{
    return 1000 * (double)clock + time * (1 + 1e-4 * (double)clock);
}

/* Rank `late` comes late by `delay` to most calls, all others within a millisecond. They are on
 * `hosts` hosts. */
static void run(struct job *job, struct rng *rng, int late, double delay, int hosts)
{
    double arrival[RANKS_MAX], sorted[RANKS_MAX], now = 5;
    for (int c = 0; c < job->calls; c++) {
        const double own = 1e-3 * (1 + uniform(rng));
        int last = 0;
        for (int r = 0; r < job->n; r++) {
            arrival[r] = now + 1e-3 * uniform(rng);
            if (r == late && !rng_one_in(rng, 10))
                arrival[r] += delay;
            if (arrival[r] > arrival[last])
                last = r;
            sorted[r] = arrival[r];
        }
        qsort(sorted, (size_t)job->n, sizeof *sorted, strag_compare_double);
        now = arrival[last] + own;
        for (int r = 0; r < job->n; r++)
            job->stays[r][c] = (struct strag_stay){read_clock((uint64_t)(r % hosts), arrival[r]),
                                                   read_clock((uint64_t)(r % hosts), now)};
        const double lost = arrival[last] - sorted[(job->n - 1) / 2];
        if (lost <= 0.1 * own)
            continue;
        job->lost += lost;
        job->cost[last] += lost;
        job->last[last]++;
    }
    for (int r = 0; r < job->n; r++) {
        job->ranks[r] =
            (struct strag_stays){job->stays[r], job->calls, 1, (uint64_t)(r % hosts), 0};
        for (int c = 0; c < job->calls; c++)
            job->ranks[r].seconds += job->stays[r][c].end - job->stays[r][c].begin;
    }
}

TEST(losses_are_those_of_arrivals)
{
    struct rng rng = {support_seed("test_account")};
    for (long i = support_cases(300); i > 0; i--) {
        struct job job = {.n = 2 + (int)rng_below(&rng, RANKS_MAX - 1),
                          .calls = 1 + (int)rng_below(&rng, CALLS_MAX)};
        const int late = (int)rng_below(&rng, (unsigned)job.n);
        const double delay = rng_one_in(&rng, 4) ? 0 : 0.05 * uniform(&rng);
        /* a call whose loss is just at the limit may count or not */
        const int several = 1 + job.calls / 50;
        const double few = 2e-4 * several;
        struct strag_loss loss;
        const int hosts = 1 + (int)rng_below(&rng, 4);
        run(&job, &rng, late, delay, hosts);
        assert_int_equal(strag_loss_find(job.ranks, job.n, &loss), STRAG_OK);
        assert_int_equal(loss.ranks, job.n);
        assert_int_equal(loss.calls, job.calls);
        assert_true(fabs(loss.lost - job.lost) <= few + 0.01 * job.lost);
        assert_true(loss.seconds >= 0.99 * (loss.own + loss.lost));
        for (int o = 0; o < STRAG_LOSS_OFTEN && loss.of[o].calls > 0; o++) {
            const struct strag_loss_of *of = &loss.of[o];
            /* between hosts one of two that come at the same time may be the last one */
            if (hosts == 1 || (of->rank == late && delay > 0.01)) {
                assert_true(abs((int)of->calls - job.last[of->rank]) <= 1 + job.calls / 50);
                assert_true(fabs(of->cost - job.cost[of->rank]) <= few + 0.01 * job.cost[of->rank]);
            }
            assert_true(of->alone <= of->cost + 1e-6);
            assert_true(o == 0 || of->cost <= loss.of[o - 1].cost);
        }
        if (delay > 0.01 && job.calls > 50) {
            assert_int_equal(loss.of[0].rank, late);
            assert_true(fabs(loss.of[0].median - delay) <= 1e-3);
        }
    }
}

/* One of 4 ranks is late by 3 s in all of 8 calls: the times of some calls are enough. */
TEST(what_is_left_out_is_scaled)
{
    struct strag_stay all[8], some[4], late[2];
    struct strag_loss loss;
    for (int c = 0; c < 8; c++)
        all[c] = (struct strag_stay){10 * c, 10 * c + 4};
    for (int c = 0; c < 4; c++)
        some[c] = all[(size_t)2 * (size_t)c];
    for (int c = 0; c < 2; c++)
        late[c] = (struct strag_stay){40 * c + 3, 40 * c + 4};
    const struct strag_stays ranks[] = {{all, 8, 1, 7, 32},
                                        {some, 4, 2, 7, 32},
                                        {late, 2, 4, 7, 8},
                                        {NULL, 0, 1, 0, 0},
                                        {all, 8, 1, 7, 32}};
    assert_int_equal(strag_loss_find(ranks, 5, &loss), STRAG_OK);
    assert_int_equal(loss.ranks, 4);
    assert_int_equal(loss.calls, 2);
    assert_true(loss.lost == 24 && loss.own == 8 && loss.seconds == 32);
    assert_int_equal(loss.of[0].rank, 2);
    assert_int_equal(loss.of[0].calls, 2);
    assert_true(loss.of[0].cost == 24 && loss.of[0].alone == 24 && loss.of[0].median == 3);
    assert_int_equal(loss.of[1].calls, 0);
    assert_int_equal(strag_loss_find(ranks + 2, 2, &loss), STRAG_OK);
    assert_int_equal(loss.ranks, 1);
    assert_int_equal(loss.calls, 0);
}

/* ---- Texts ---- */

struct page {
    char *text;
    size_t length;
    const char *outcomes[STRAG_LEDGER_OUTCOMES];
    struct strag_rank_location ranks[4];
    struct strag_ledger ledger;
    struct strag_loss loss;
    struct strag_account account;
};

static void begin(struct page *page)
{
    *page = (struct page){.ledger = strag_ledger_begin(NULL, 0)};
    for (int r = 0; r < 4; r++) {
        snprintf(page->ranks[r].host, sizeof page->ranks[r].host, "n%d", r / 2);
        page->ranks[r].world = r;
    }
    page->outcomes[3] = "ring";
    page->outcomes[PREVIOUS] = "below coll_strag_minimum_size";
    page->ledger.watched_from = 65536;
    page->loss = (struct strag_loss){.ranks = 4,
                                     .calls = 100,
                                     .seconds = 5.3,
                                     .own = 0.3,
                                     .lost = 5,
                                     .of[0] = {2, 98, 4.9, 4.8, 0.05}};
    page->account = (struct strag_account){.name = "grid",
                                           .n = 4,
                                           .ranks = page->ranks,
                                           .run = 5.5,
                                           .ledger = &page->ledger,
                                           .loss = &page->loss,
                                           .outcomes = page->outcomes,
                                           .algorithms = PREVIOUS,
                                           .previous = "tuned",
                                           .needed = 200};
}

static const char *text_of(struct page *page, void (*write)(const struct strag_account *, FILE *))
{
    free(page->text);
    FILE *out = open_memstream(&page->text, &page->length);
    assert_non_null(out);
    write(&page->account, out);
    assert_int_equal(fclose(out), 0);
    return page->text;
}

static void add_calls(struct page *page, int calls, int outcome, size_t bytes)
{
    for (int c = 0; c < calls; c++)
        strag_ledger_add(&page->ledger, STRAG_LEDGER_BLOCKING, outcome, bytes,
                         &(struct strag_stay){1, 1.05});
}

static void has(struct page *page, const char *part)
{
    if (!strstr(text_of(page, strag_account_text), part))
        fail_msg("not in the text: %s\n%s", part, page->text);
}

TEST(text_names_the_loss)
{
    struct page page;
    begin(&page);
    add_calls(&page, 60, 3, 262144);
    add_calls(&page, 40, PREVIOUS, 8);
    assert_string_equal(
        text_of(&page, strag_account_text),
        "strag: grid: 4 ranks on 2 hosts: 100 blocking allreduces of 8 B to 256 KiB, 15 MiB in "
        "all; they took 5.3 s of 5.5 s (96 %)\n"
        "strag: grid: run by ring: 60; the previous component, tuned: 40 (below "
        "coll_strag_minimum_size)\n"
        "strag: grid: rank 2 (host n1) was last in 98 of 100 calls, by 50 ms in the median: that "
        "cost about 4.9 s of 5.5 s\n"
        "strag: grid: strag has not acted: only 60 calls of 64 KiB and more seen, 200 needed\n"
        "strag: grid: try: look at what rank 2 does before these calls; going ahead without it can "
        "save at most the allreduces' own time, 300 ms\n");
    page.ranks[2].world = 7;
    has(&page, "rank 2 (7 in MPI_COMM_WORLD) (host n1) was last");
    page.loss.of[0].alone = 0.1;
    has(&page, "of 5.5 s, but others came nearly as late\n");
    page.loss.calls = 50;
    page.loss.ranks = 3;
    has(&page, " (from 50 of 100 calls) (from the times of 3 of 4 ranks)\n");
    page.loss.calls = 0;
    has(&page, "who was last is not known: the times of 3 of 4 ranks are\n");
    free(page.text);
}

TEST(text_without_a_cause)
{
    struct page page;
    begin(&page);
    add_calls(&page, 250, 3, 262144);
    page.loss.of[0] = (struct strag_loss_of){1, 40, 2, 1, 0.05};
    page.loss.of[1] = (struct strag_loss_of){3, 35, 1.9, 1, 0.05};
    has(&page, "waiting for the last rank cost about 5 s of 5.5 s; last was rank 1 (host n0) in "
               "40 %, rank 3 (host n1) in 35 %");
    has(&page, "try: coll_strag_straggler=dynamic");
    page.loss.lost = 0.1;
    has(&page,
        "no rank slows the job down: waiting for the last one cost 100 ms of 5.5 s; last was "
        "rank 1");
    assert_null(strstr(page.text, "try:"));
    page.loss.of[0].calls = 0;
    page.loss.calls = 250;
    has(&page, "strag: grid: no rank was late in 250 calls\n");
    free(page.text);
}

TEST(text_says_what_strag_did)
{
    struct page page;
    struct strag_watch_summary summary = strag_watch_summary_none();
    begin(&page);
    add_calls(&page, 100, PREVIOUS, 8);
    has(&page,
        "strag delegated all calls to the previous component: below coll_strag_minimum_size\n");
    page.account.declined = "not selected";
    page.account.not_asked = true;
    has(&page, "strag ran none of these calls: not selected\n");
    has(&page, "(mpirun --mca coll strag)\n");
    page.account.declined = NULL;
    add_calls(&page, 10, 3, 1024);
    has(&page, "strag does not look for stragglers in calls below 64 KiB (coll_strag_watch_size)");
    add_calls(&page, 300, 3, 65536);
    has(&page, "strag did not look for stragglers\n");
    page.account.summary = &summary;
    has(&page, "strag waited: no rank was last in most of 200 calls in a row\n");
    summary.late = (struct strag_late){1, {{2, 1e-3}}};
    has(&page, "strag waited for rank 2: the model cannot say here what going ahead saves\n"
               "strag: grid: try: look at what rank 2 does before these calls; going ahead");
    summary.judged = true;
    has(&page, "strag waited for rank 2: by the model going ahead saves nothing\n"
               "strag: grid: try: look at what rank 2 does before these calls (mpirun --mca coll "
               "strag)\n");
    page.account.watch = STRAG_ACCOUNT_CONFIGURED_OFF; /* nobody has asked the model */
    has(&page, "strag is configured to wait for all");
    has(&page, "before these calls; going ahead without it can save at most");
    page.account.watch = STRAG_ACCOUNT_WATCHES;
    summary.late = (struct strag_late){3, {{2, 1e-3}, {0, 5e-4}, {1, 5e-4}}};
    has(&page, "strag waited for rank 2 and rank 0 and rank 1: by the model going ahead saves");
    summary.ahead_from = 150;
    summary.saved = 2;
    has(&page, "strag went ahead without the straggler from call 150 on, which saved about 2 s "
               "(modelled)\n");
    summary.saved = -2;
    has(&page, ", which lost about 2 s (modelled)\n");
    summary.dynamic = (struct strag_dynamic_summary){.calls = 120, .ahead = 33};
    has(&page, "strag went ahead without the last rank in 33 of 120 calls, what that saves was not "
               "measured\n");
    summary.dynamic = (struct strag_dynamic_summary){1, 1, -2, -0.05, 0.01};
    has(&page, "strag went ahead without the last rank in 1 of 1 call, which lost 2 s (measured: "
               "-5 % +- 1 % of the time from the last arrival on)\n");
    page.loss.lost = 0.1; /* what was done is said, whatever is left to gain */
    has(&page, "strag went ahead without the last rank");
    page.account.watch = STRAG_ACCOUNT_CONFIGURED_OFF;
    has(&page, "strag is configured to wait for all");
    free(page.text);
}

/* The slowest link, and the model: its numbers, their sources, and how well it fits. */
TEST(text_of_links_and_model)
{
    struct page page;
    struct strag_watch_summary summary = strag_watch_summary_none();
    const struct strag_model standard = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_sourced_model model = strag_model_sourced(&standard);
    begin(&page);
    add_calls(&page, 100, 3, 262144);
    page.account.summary = &summary;
    page.account.model = &model;
    summary.slowest = (struct strag_slowest){2, 3, 1.5, 4, 0, 1};
    has(&page, "strag: grid: host n1's link was 1.5 times slower than others, from call 4; 3 hosts "
               "have slow links now\n");
    assert_null(strstr(page.text, "model:")); /* no call was watched */
    summary.slowest.hosts = 0;
    summary.slowest.to = 90;
    has(&page, "slower than others, from call 4 to call 90\n");
    summary.calls = 100;
    strag_model_set(&model, STRAG_MODEL_ALPHA, 45e-6, STRAG_FROM_MEASURED);
    strag_model_set(&model, STRAG_MODEL_BANDWIDTH, 12.5e6, STRAG_FROM_USER);
    has(&page, "strag: grid: model: alpha 45 us (measured");
    has(&page, "bandwidth 0.1 Gbit/s (user)");
    assert_null(strstr(page.text, "predictions"));
    summary.model_error = 0.23;
    has(&page, "; predictions are off by 23 %\n");
    free(page.text);
}

TEST(kinds_are_distinguished)
{
    struct page page;
    begin(&page);
    page.loss = (struct strag_loss){.ranks = 0};
    strag_ledger_add(&page.ledger, STRAG_LEDGER_NONBLOCKING, 3, 1024, NULL);
    has(&page, "1 nonblocking allreduce of 1 KiB; how long they took is not known\n");
    strag_ledger_add(&page.ledger, STRAG_LEDGER_PERSISTENT, 3, 1024, NULL);
    add_calls(&page, 2, 3, 1024);
    has(&page, "2 blocking, 1 nonblocking, 1 persistent allreduces of 1 KiB; blocking ones took "
               "100 ms of 5.5 s (2 %)\n");
    free(page.text);
}

TEST(a_standstill_names_the_missing)
{
    const struct strag_standstill standstill = {
        .times = 2, .number = 41, .bytes = 4096, .seconds = 60, .missing = 9, .first = {0, 2}};
    const struct strag_standstill one = {
        .times = 1, .number = 7, .bytes = 8, .seconds = 30, .missing = 1, .first = {2}};
    struct page page;
    begin(&page);
    add_calls(&page, 100, 3, 8);
    page.account.standstill = &one;
    has(&page, "strag: grid: call 7, of 8 B, stood still for 30 s at least; not called by rank 2 "
               "(host n1)\n");
    page.account.standstill = &standstill;
    has(&page, ", and 1 more\n");
    const char *json = text_of(&page, strag_account_json);
    assert_non_null(strstr(json, ",\"standstill\":{\"call\":41,\"bytes\":4096,\"seconds\":60,"
                                 "\"missing\":9,\"first_missing\":[0,2,0,0,0,0,0,0]}}"));
    free(page.text);
}

TEST(json_is_exact)
{
    struct page page;
    begin(&page);
    page.account.name = "a \"b\" \\ \n\xc3\xa4";
    add_calls(&page, 100, 3, 8);
    assert_string_equal(
        text_of(&page, strag_account_json),
        "{\"communicator\":\"a \\\"b\\\" \\\\ ???\",\"ranks\":4,\"hosts\":2,\"blocking\":100,"
        "\"nonblocking\":0,\"persistent\":0,\"bytes\":800,\"shortest_bytes\":8,\"longest_bytes\":8,"
        "\"run_seconds\":5.5,\"seconds\":5.3,\"previous_component\":\"tuned\",\"ran\":[{\"calls\":"
        "100,\"algorithm\":\"ring\",\"why_previous\":null}],\"looked_at\":100,\"ranks_known\":4,"
        "\"own_seconds\":0.3,\"lost_seconds\":5,\"last\":[{\"rank\":2,\"world_rank\":2,\"calls\":"
        "98,"
        "\"host\":\"n1\",\"cost_seconds\":4.9,\"alone_seconds\":4.8,\"median_seconds\":0.05}],"
        "\"cause\":2,\"strag\":\"strag does not look for stragglers in calls below 64 KiB "
        "(coll_strag_watch_size)\",\"try\":\"look at what rank 2 does before these calls; going "
        "ahead without it can save at most the allreduces' own time, 300 "
        "ms\",\"watch\":null,\"standstill\":null}");
    free(page.text);
}

/* As attempt_function. */
static int attempt(const void *what, struct strag_error *err, bool *made)
{
    const struct job *job = what;
    struct strag_loss loss;
    const int status = strag_loss_find(job->ranks, job->n, &loss);
    strag_fail(err, status, "out of memory");
    *made = status == STRAG_OK;
    return status;
}

TEST(memory_runs_out)
{
    struct rng rng = {1};
    struct job job = {.n = 5, .calls = 9};
    run(&job, &rng, 2, 0.1, 2);
    assert_int_equal(exhaust("strag_loss_find", attempt, &job), 9);
}
