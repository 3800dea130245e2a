/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs whose locale has a comma in numbers: what is read and written is as ever. All of it is
 * compared where such a locale is installed; that a thread's own comes back, everywhere.
 */
#include "algorithms/table.h"
#include "base/c_locale.h"
#include "base/parse.h"
#include "model/model_file.h"
#include "plan/plan_file.h"
#include "plan/show.h"
#include "plan/trace.h"
#include "report/account.h"

#include "support.h"

#include <locale.h>

/* ---- What is written ---- */

typedef int show(FILE *, const struct strag_instance *, struct strag_ranks,
                 const struct strag_progress *, struct strag_error *);

static void write_ring(show *show_plans, FILE *out)
{
    struct strag_instance instance;
    struct strag_error err;
    const struct strag_problem problem = {.n = 5};
    assert_int_equal(
        strag_instance_open(&instance, strag_algorithm_find("ring", &err), &problem, &err),
        STRAG_OK);
    assert_int_equal(show_plans(out, &instance, (struct strag_ranks){0, 5}, NULL, &err), STRAG_OK);
    strag_instance_close(&instance);
}

static void write_json(FILE *out)
{
    write_ring(strag_show_json, out);
}

static const char *const outcomes[STRAG_LEDGER_OUTCOMES] = {"ring"};

static struct strag_trace_event events[] = {
    {.end = 1.5, .bytes = 8, .peer = -1, .round = -1, .kind = STRAG_TRACE_CALL}};
static struct strag_trace_rank ranks[] = {{"n1", events, 1}};
static const struct strag_trace_job job = {"x", ranks, 1, outcomes};

static void write_trace_json(FILE *out)
{
    strag_trace_json(&job, out);
}

static void write_account(FILE *out)
{
    static const struct strag_rank_location locations[2];
    static const struct strag_ledger ledger = {.seconds = 0.75, .bytes = 8};
    static const struct strag_loss loss;
    const struct strag_account account = {.name = "x",
                                          .n = 2,
                                          .ranks = locations,
                                          .run = 1.5,
                                          .ledger = &ledger,
                                          .loss = &loss,
                                          .outcomes = outcomes,
                                          .algorithms = 1,
                                          .previous = "tuned"};
    strag_account_json(&account, out);
}

static void write_models(FILE *out)
{
    static const char text[] = "strag-models: 1\nmodels:\n  - name: \"x\"\n"
                               "    measured: {error: 0.25}\n    alpha: 1.5\n";
    struct strag_models *models;
    struct strag_error err;
    if (strag_models_parse(text, strlen(text), "FILE", &models, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    assert_true(strag_models_write(models, out));
    strag_models_free(models);
}

static void (*const writers[])(FILE *) = {write_json, write_trace_json, write_account,
                                          write_models};
enum { WRITERS = sizeof writers / sizeof *writers };

static void write_all(char *texts[WRITERS])
{
    for (int w = 0; w < WRITERS; w++) {
        size_t length;
        FILE *out = open_memstream(&texts[w], &length);
        assert_non_null(out);
        writers[w](out);
        assert_int_equal(fclose(out), 0);
    }
}

/* ---- The tests ---- */

/* @return whether one is installed; it is the program's from now on */
static bool set_comma(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8", "it_IT.UTF-8",
                                        "pt_BR.UTF-8", "ru_RU.UTF-8", "de_AT.UTF-8", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) && *localeconv()->decimal_point == ',')
            return true;
    setlocale(LC_ALL, "C");
    return false;
}

static void check_readers(const char *plan)
{
    struct strag_error err;
    struct strag_given *given;
    double value;
    char text[32];
    assert_int_equal(strag_parse_real("0.25", 0, 1, NULL, &value, &err), STRAG_OK);
    assert_true(value == 0.25);
    assert_string_equal(strag_real_text(0.25, 1, text), "0.25");
    assert_int_equal(strag_parse_real("2", 0, 0.5, "s", &value, &err), STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, "'2' is not a number of s from 0 to 0.5");
    if (strag_plan_file_parse(plan, strlen(plan), "FILE", NULL, &given, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    strag_given_free(given);
}

TEST(numbers_have_points)
{
    char *with_point[WRITERS], *with_comma[WRITERS];
    write_all(with_point);
    check_readers(with_point[0]);
    const bool comma = set_comma();
    write_all(with_comma);
    check_readers(with_comma[0]);
    setlocale(LC_ALL, "C");
    for (int w = 0; w < WRITERS; w++) {
        assert_string_equal(with_comma[w], with_point[w]);
        free(with_comma[w]);
        free(with_point[w]);
    }
    if (!comma)
        print_message("no locale with a comma is installed: only points were compared\n");
}

TEST(own_locale_comes_back)
{
    char *texts[WRITERS];
    const locale_t own = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
    for (int set = 0; set < 2; set++) {
        if (set && own)
            uselocale(own);
        const locale_t expected = uselocale((locale_t)0), first = strag_c_locale_enter();
        const locale_t second = strag_c_locale_enter();
        assert_string_equal(localeconv()->decimal_point, ".");
        strag_c_locale_leave(second);
        strag_c_locale_leave(first);
        assert_true(first == expected && uselocale((locale_t)0) == expected);
        write_all(texts);
        check_readers(texts[0]);
        for (int w = 0; w < WRITERS; w++)
            free(texts[w]);
        assert_true(uselocale((locale_t)0) == expected);
    }
    uselocale(LC_GLOBAL_LOCALE);
    if (own)
        freelocale(own);
}
