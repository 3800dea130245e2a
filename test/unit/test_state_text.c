/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stragglers and slow links as users name them: what is read, and whom it means.
 */
#include "machine/state_text.h"
#include "support.h"

enum { JOB = 12 };

/* Ranks 4, 2, 9 of a job of 12, on hosts "a.x", "b" and "7". */
static struct strag_rank_location ranks[3];

static int make_ranks(void **state)
{
    static const char *const hosts[] = {"a.x", "b", "7"};
    static const int32_t world[] = {4, 2, 9};
    for (int r = 0; r < 3; r++) {
        strcpy(ranks[r].host, hosts[r]);
        ranks[r].world = world[r];
    }
    return 0;
}

static void straggler_is(const char *text, int nstragglers, int rank, double delay)
{
    struct strag_state_record record = {.nstragglers = 0};
    struct strag_error err = {""};
    if (strag_state_read_straggler(text, ranks, 3, &record, &err) != STRAG_OK)
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(record.nstragglers, nstragglers);
    assert_int_equal(record.nslow, 0);
    if (nstragglers) {
        assert_int_equal(record.straggler[0].rank, rank);
        assert_true(record.straggler[0].delay > 0.999999 * delay &&
                    record.straggler[0].delay < 1.000001 * delay);
    }
    assert_int_equal(strag_state_check_straggler(text, JOB, &err), STRAG_OK);
}

static void refused(int (*check)(const char *, int, struct strag_error *), const char *text,
                    const char *why)
{
    struct strag_error err = {""};
    assert_int_equal(check(text, JOB, &err), STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, why);
}

static void straggler(void **state)
{
    straggler_is("2", 1, 1, 1);
    straggler_is("9:250", 1, 2, 250e-6);
    straggler_is("4:1.5e3", 1, 0, 1.5e-3);
    straggler_is("0:250", 0, 0, 0); /* of the job, but not here */
    straggler_is("auto", 0, 0, 0);
    straggler_is("none", 0, 0, 0);
    straggler_is("dynamic", 0, 0, 0);
    assert_true(strag_state_is_dynamic("dynamic"));
    assert_false(strag_state_is_dynamic("auto"));
    assert_false(strag_state_names_straggler("dynamic"));
    straggler_is("", 0, 0, 0);
    refused(strag_state_check_straggler, "x", "'x' is not an integer from 0 to 2147483646");
    refused(strag_state_check_straggler,
            "1:", "'' is not a number of microseconds from 0 to 1e+12");
    refused(strag_state_check_straggler, "1:-2",
            "'-2' is not a number of microseconds from 0 to 1e+12");
    refused(strag_state_check_straggler, "00000000000000000000000000000000",
            "'00000000000000000000' is too long for a rank or a delay");
    refused(strag_state_check_straggler, "12", "there is no rank 12; the job's are 0 to 11");
    straggler_is("11:1", 0, 0, 0);
    assert_true(strag_state_names_straggler("11:1"));
    assert_false(strag_state_names_straggler("auto"));
    assert_false(strag_state_names_straggler("none"));
}

/* The last to arrive comes first; ranks of the job that are not here are left out. */
static void several(void **state)
{
    struct strag_state_record record = {.nstragglers = 0};
    straggler_is("4:250,9:1500,2:500", 3, 2, 1500e-6);
    assert_int_equal(strag_state_read_straggler("4:250,9:1500,2:500", ranks, 3, &record, NULL),
                     STRAG_OK);
    assert_int_equal(record.straggler[1].rank, 1);
    assert_int_equal(record.straggler[2].rank, 0);
    strag_state_add_straggler(&record, (struct strag_straggler){7, 600e-6});
    assert_int_equal(record.nstragglers, 3);
    assert_int_equal(record.straggler[1].rank, 7);
    assert_int_equal(record.straggler[2].rank, 1);
    straggler_is("4:250,0", 1, 0, 250e-6);
    straggler_is("9,2", 2, 2, 1);
    refused(strag_state_check_straggler, "9,2:3,9", "rank 9 is named twice");
    refused(strag_state_check_straggler, "1,2,3,4", "at most 3 stragglers are accepted");
    refused(strag_state_check_straggler, "1,", "'' is not an integer from 0 to 2147483646");
    refused(strag_state_check_straggler, "1,12:5", "there is no rank 12; the job's are 0 to 11");
}

static void slow_is(const char *text, int nslow, const struct strag_slow *expected)
{
    struct strag_state_record record = {.nstragglers = 1, .straggler = {{5, 6}}};
    struct strag_error err = {""};
    if (strag_state_read_slow(text, ranks, 3, &record, &err) != STRAG_OK)
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(record.nslow, nslow);
    assert_int_equal(record.nstragglers, 1);
    for (int s = 0; s < nslow; s++) {
        assert_int_equal(record.slow[s].rank, expected[s].rank);
        assert_true(record.slow[s].factor == expected[s].factor);
    }
    assert_int_equal(strag_state_check_slow(text, JOB, &err), STRAG_OK);
    const struct strag_state view = strag_state_of(&record);
    assert_int_equal(view.nslow, nslow);
    assert_int_equal(view.nstragglers, 1);
    assert_ptr_equal(view.slow, record.slow);
    assert_int_equal(view.straggler->rank, 5);
}

static void slow(void **state)
{
    slow_is("4:2", 1, (struct strag_slow[]){{0, 2}});
    slow_is("a:2,b.y:1.5", 2, (struct strag_slow[]){{0, 2}, {1, 1.5}});
    slow_is("7:2", 0, NULL); /* a number is a rank, which is not here */
    slow_is("9:1,c:3", 0, NULL);
    slow_is(",2:3,,4:1000,", 2, (struct strag_slow[]){{1, 3}, {0, 1000}});
    slow_is("auto", 0, NULL);
    slow_is("none", 0, NULL);
    slow_is("", 0, NULL);
    refused(strag_state_check_slow, "4", "'4' is not WHO:FACTOR");
    refused(strag_state_check_slow, ":4", "':4' is not WHO:FACTOR");
    refused(strag_state_check_slow, "a:2,b", "'b' is not WHO:FACTOR");
    refused(strag_state_check_slow, "a:0.5", "'0.5' is not a number from 1 to 1000");
    refused(strag_state_check_slow, "a:1001", "'1001' is not a number from 1 to 1000");
    refused(strag_state_check_slow, "a:2:x", "'x' is not a number from 1 to 1000");
    refused(strag_state_check_slow, "a:2,12:3", "there is no rank 12; the job's are 0 to 11");
}

/* More than there is room for, and a refusal that must not leave half of them. */
static void room(void **state)
{
    char text[2048] = "";
    struct strag_state_record record = {.nslow = 0};
    for (int i = 0; i < STRAG_SLOW_MAX + 6; i++)
        strcat(text, "2:3,");
    assert_int_equal(strag_state_read_slow(text, ranks, 3, &record, NULL), STRAG_OK);
    assert_int_equal(record.nslow, STRAG_SLOW_MAX);
    record.nslow = 0;
    strcat(text, "x");
    assert_int_equal(strag_state_read_slow(text, ranks, 3, &record, NULL), STRAG_ERR_ARGUMENT);
    assert_int_equal(record.nslow, 0);
}

static void items(void **state)
{
    struct strag_slow_item item;
    const char *rest = "3:2,host:with:1.5";
    assert_int_equal(strag_state_next_slow(&rest, 9, "FORM", &item, NULL), STRAG_OK);
    assert_string_equal(item.who, "3");
    assert_true(item.factor == 2);
    assert_int_equal(strag_state_next_slow(&rest, 9, "FORM", &item, NULL), STRAG_OK);
    assert_string_equal(item.who, "host:with");
    assert_true(item.factor == 1.5);
    assert_null(rest);
}

/* Hosts that are not there; a number is a rank. */
static void elsewhere(void **state)
{
    struct strag_slow_item item;
    const char *rest = ",a:2,c.x:3,12:4,b.y:2,,a.y:5";
    assert_true(strag_state_next_elsewhere(&rest, ranks, 3, &item));
    assert_string_equal(item.who, "c.x");
    assert_true(item.factor == 3);
    assert_true(strag_state_next_elsewhere(&rest, ranks, 3, &item));
    assert_string_equal(item.who, "a.y");
    assert_false(strag_state_next_elsewhere(&rest, ranks, 3, &item));
    rest = NULL;
    assert_false(strag_state_next_elsewhere(&rest, ranks, 3, &item));
    rest = "auto";
    assert_false(strag_state_next_elsewhere(&rest, ranks, 3, &item));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straggler), cmocka_unit_test(several), cmocka_unit_test(slow),
        cmocka_unit_test(room),      cmocka_unit_test(items),   cmocka_unit_test(elsewhere),
    };
    return cmocka_run_group_tests(tests, make_ranks, NULL);
}
