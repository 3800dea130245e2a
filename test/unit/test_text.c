/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What readers share: numbers up to a limit, files up to a length, growing arrays, names, the name
 * nearest to a wrong one, YAML that is nested too deep or refers to itself.
 */
#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/yaml.h"

#include "support.h"

#include <unistd.h>

TEST(numbers)
{
    static const struct {
        const char *text;
        int64_t most, value; /* value -1: refused */
        const char *rest;
    } cases[] = {
        {"0", 9, 0, ""},
        {"12x", 12, 12, "x"},
        {"13x", 12, -1, "3x"},
        {"0012", 12, 12, ""},
        {"", 9, -1, ""},
        {"x", 9, -1, "x"},
        {"-1", 9, -1, "-1"},
        {"2147483647", INT32_MAX, INT32_MAX, ""},
        {"2147483648", INT32_MAX, -1, "8"},
        {"9223372036854775807", INT64_MAX, INT64_MAX, ""},
        {"9223372036854775808", INT64_MAX, -1, "8"},
        {"99999999999999999999", INT64_MAX, -1, "99"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        int64_t value;
        bool taken = strag_next_number(&text, text + strlen(text), cases[i].most, &value);
        assert_int_equal(taken, cases[i].value >= 0);
        assert_string_equal(text, cases[i].rest);
        assert_true(!taken || value == cases[i].value);
    }
    const char *text = "1234";
    int64_t value;
    assert_true(strag_next_number(&text, text + 2, INT64_MAX, &value));
    assert_int_equal(value, 12);
}

/* Around the limit, and around the sizes at which the buffer grows. */
TEST(files)
{
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 131072, 199999, 200000};
    char name[] = "/tmp/strag-text-XXXXXX", message[64];
    struct strag_error err;
    char *text = NULL;
    size_t length = 0;
    int file = mkstemp(name);
    assert_true(file >= 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(ftruncate(file, (off_t)sizes[i]), 0);
        assert_int_equal(strag_file_read(name, 200000, &text, &length, &err), STRAG_OK);
        assert_int_equal(length, sizes[i]);
        free(text);
    }
    text = NULL;
    assert_int_equal(ftruncate(file, 200001), 0);
    assert_int_equal(strag_file_read(name, 200000, &text, &length, &err), STRAG_ERR_ARGUMENT);
    snprintf(message, sizeof message, "%s:1: more than 200000 bytes", name);
    assert_string_equal(err.text, message);
    assert_null(text);
    close(file);
    unlink(name);
}

TEST(arrays_and_names)
{
    enum { COUNT = 1000 };
    int *array = NULL, room = 0;
    char names[COUNT][8];
    struct strag_names index = {0};
    for (int i = 0; i < COUNT; i++) {
        assert_true(strag_array_grow(&array, &room, i + 1, sizeof *array));
        assert_true(room > i && room < 2 * i + 9);
        array[i] = COUNT - i;
        snprintf(names[i], sizeof names[i], "n%d", i);
        assert_int_equal(strag_names_find(&index, names[i]), -1);
        assert_true(strag_names_add(&index, names[i], i));
    }
    qsort(array, COUNT, sizeof *array, strag_compare_int);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(array[i], i + 1);
        assert_int_equal(strag_names_find(&index, names[i]), i);
    }
    strag_names_free(&index);
    free(array);
}

TEST(pairs)
{
    struct strag_pair list[] = {{2, 1}, {-1, 7}, {2, 0}, {INT32_MIN, 0}, {INT32_MAX, 0}};
    static const struct strag_pair sorted[] = {
        {INT32_MIN, 0}, {-1, 7}, {2, 0}, {2, 1}, {INT32_MAX, 0}};
    qsort(list, 5, sizeof *list, strag_compare_pair);
    assert_memory_equal(list, sorted, sizeof list);
}

static int read_nothing(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    *(int *)target = strag_yaml_line(node);
    return STRAG_OK;
}

static int read_yaml(const char *text, bool aliases, int *line, struct strag_error *err)
{
    const struct strag_source source = {"FILE", err};
    const struct strag_yaml_format format = {read_nothing, "empty", aliases};
    return strag_yaml_read(&source, text, strlen(text), &format, line);
}

TEST(yaml)
{
    struct strag_error err;
    char deep[2 * 101 + 1] = "";
    int line = 0;
    assert_int_equal(read_yaml("\n- &a [*a]\n", true, &line, &err), STRAG_OK);
    assert_int_equal(line, 2);
    assert_int_equal(read_yaml("\n- &a [*a]\n", false, &line, &err), STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, "FILE:2: anchors (&) and aliases (*) are not accepted");
    assert_int_equal(read_yaml("# nothing\n", true, &line, &err), STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, "FILE:2: empty");
    for (int depth = 100; depth <= 101; depth++) {
        memset(deep, '[', (size_t)depth);
        memset(deep + depth, ']', (size_t)depth);
        assert_int_equal(read_yaml(deep, true, &line, &err),
                         depth == 100 ? STRAG_OK : STRAG_ERR_ARGUMENT);
    }
    assert_string_equal(err.text, "FILE:1: lists and mappings are nested more than 100 deep");
}

/* What does not fit behind a text is left out. */
TEST(appended)
{
    char text[8] = "";
    strag_append(text, sizeof text, "%s%d", "a", 1);
    strag_append(text, sizeof text, ", %d", 23);
    assert_string_equal(text, "a1, 23");
    strag_append(text, sizeof text, ", %d", 45);
    assert_string_equal(text, "a1, 23,");
    strag_append(text, sizeof text, "%d", 6);
    assert_string_equal(text, "a1, 23,");
}

TEST(quoted_in_json)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    strag_json_string("a \"b\" \\ \n\xc3", out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "\"a \\\"b\\\" \\\\ ??\"");
    free(text);
}

TEST(nearest)
{
    static const char *const names[] = {"ring", "bine", "swing", "", "direct"};
    static const struct {
        const char *wrong, *name;
        int distance;
    } cases[] = {
        {"ring", "ring", 0},  {"rign", "ring", 1}, {"rin", "ring", 1},
        {"wring", "ring", 1}, {"king", "ring", 1}, {"sbwing", "swing", 1},
        {"x", "", 1},         {"", "", 0},         {"idretc", "direct", 2},
    };
    char long_one[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strag_nearest found = {NULL, 0};
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            strag_nearest_offer(&found, cases[i].wrong, names[n]);
        assert_string_equal(found.name, cases[i].name);
        assert_int_equal(found.distance, cases[i].distance);
    }
    memset(long_one, 'x', sizeof long_one);
    long_one[sizeof long_one - 1] = '\0';
    struct strag_nearest found = {NULL, 0};
    strag_nearest_offer(&found, long_one, "y");
    assert_int_equal(found.distance, 63); /* what is compared of it */
    strag_nearest_offer(&found, long_one, long_one);
    assert_int_equal(found.distance, 0);
}
