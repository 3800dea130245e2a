/* SPDX-License-Identifier: BSD-3-Clause */
/* What users read of stragglers, slow links and the model. */
#include "learn/summary.h"

#include "support.h"

static void assert_text(const struct strag_watch_summary *summary, const char *expected)
{
    struct strag_rank_location ranks[3] = {{.host = "x"}, {.host = "y"}, {.host = "z"}};
    char text[2048];
    strag_watch_summary_text(summary, "MPI_COMM_WORLD", ranks, text, sizeof text);
    assert_string_equal(text, expected);
}

static void text(void **unused)
{
    (void)unused;
    struct strag_watch_summary summary = strag_watch_summary_none();
    summary.observed.calls = 200;
    assert_text(&summary, "strag: MPI_COMM_WORLD: no rank was late in 200 calls\n");
    summary.observed = (struct strag_observed){200, 1, 0.25, 2e-3, 0.5, 1, -2, .any_median = 0};
    summary.world = 1;
    assert_text(&summary,
                "strag: MPI_COMM_WORLD: no rank was late in most of 200 calls; most often "
                "last was rank 1 (host y), in 25 %, median 2 ms\n");
    summary.world = 9;
    summary.observed.share = 0.5;
    assert_text(&summary,
                "strag: MPI_COMM_WORLD: rank 1 (9 in MPI_COMM_WORLD) (host y) was last in 50 % of "
                "200 calls, median 2 ms, 95 % below 500 ms; it was waited for\n");
    summary.observed.share = 0.25;
    summary.ahead_from = 7;
    summary.seconds = 12;
    summary.slowest = (struct strag_slowest){2, 3, 1.5, 4, 0, 1};
    assert_text(&summary,
                "strag: MPI_COMM_WORLD: host z's link was 1.5 times slower than others, from call "
                "4; 3 hosts have slow links now\n"
                "strag: MPI_COMM_WORLD: rank 1 (9 in MPI_COMM_WORLD) (host y) was last in 25 % of "
                "200 calls, median 2 ms, 95 % below 500 ms; going ahead without it from call 7 on "
                "lost 2 s of 12 s (modelled)\n");
    summary.observed.rank = -1;
    summary.slowest.hosts = 0;
    summary.slowest.to = 90;
    assert_text(&summary,
                "strag: MPI_COMM_WORLD: host z's link was 1.5 times slower than others, from call "
                "4 to call 90\nstrag: MPI_COMM_WORLD: no rank was late in 200 calls\n");
}

/* Who came last, and calls that went ahead without. */
static void text_of_the_last(void **unused)
{
    (void)unused;
    struct strag_watch_summary summary = strag_watch_summary_none();
    summary.observed.calls = 200;
    summary.dynamic = (struct strag_dynamic_summary){.calls = 120, .ahead = 80};
    summary.observed.often[0].rank = 2;
    summary.observed.often[0].share = 0.4;
    summary.observed.often[1].rank = 0;
    summary.observed.often[1].share = 0.35;
    summary.observed.any_median = 0.1;
    summary.observed.any_percentile95 = 0.4;
    summary.observed.any_quarter = 0.05;
    summary.observed.any_three_quarters = 0.2;
    summary.observed.any_longest = 1.5;
    summary.observed.waited = 24;
    summary.observed.spent = 96;
    assert_text(&summary,
                "strag: MPI_COMM_WORLD: last was rank 2 in 40 %, rank 0 in 35 % of 200 calls; all "
                "others were there before it by 100 ms in the median, 25 % below 50 ms, 75 % below "
                "200 ms, 95 % below 400 ms, 1.5 s at most; by 24 s in all, 20 % of these calls' "
                "time (measured)\n"
                "strag: MPI_COMM_WORLD: 80 of 120 calls went ahead without the last rank; what "
                "that saves was not measured\n"
                "strag: MPI_COMM_WORLD: no rank was late in 200 calls\n");
    summary.observed.often[0].share = 0;
    summary.dynamic.saved = -2;
    summary.dynamic.saves = -0.05;
    summary.dynamic.error = 0.01;
    assert_text(&summary,
                "strag: MPI_COMM_WORLD: 80 of 120 calls went ahead without the last rank; that "
                "lost 2 s (measured: -5 % +- 1 % of the time from the last arrival on)\n"
                "strag: MPI_COMM_WORLD: no rank was late in 200 calls\n");
}

/* The sources of the model's numbers, and how well it fits. */
static void model_text(void **unused)
{
    (void)unused;
    struct strag_watch_summary summary = strag_watch_summary_none();
    struct strag_model standard = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_sourced_model model = strag_model_sourced(&standard);
    char text[2048];
    strag_model_set(&model, STRAG_MODEL_ALPHA, 45e-6, STRAG_FROM_MEASURED);
    strag_model_set(&model, STRAG_MODEL_BANDWIDTH, 12.5e6, STRAG_FROM_USER);
    strag_watch_model_text(&summary, "x", &model, NULL, text, sizeof text);
    assert_non_null(strstr(text, "strag: x: model: alpha 45 us (measured"));
    assert_non_null(strstr(text, "bandwidth 0.1 Gbit/s (user)"));
    assert_null(strstr(text, "calls take"));
    summary.model_error = 0.031;
    strag_watch_model_text(&summary, "x", &model, NULL, text, sizeof text);
    assert_non_null(strstr(text, "; calls take what it says to 3.1 %\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text),
        cmocka_unit_test(text_of_the_last),
        cmocka_unit_test(model_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
