/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzing what reads a user's text (parse.c). Whatever the text is, a function either takes it and
 * gives what a second, simpler reading gives, or refuses it with a message and leaves the result
 * alone.
 *
 * With libFuzzer:  clang -g -fsanitize=fuzzer,address,undefined -Isrc test/fuzz/fuzz_parse.c
 *                  src/base/parse.c src/base/status.c
 * Without:         fuzz_main.c makes the texts. (test/fuzz/run.sh does the former.)
 */
#include "fuzz.h"

#include "base/parse.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    "0",         "1",      "2",          "7",          "8",
    "9",         "16",     "32",         "255",        "256",
    "1000",      "1024",   "2147483647", "2147483648", "K",
    "M",         "G",      "T",          "k",          "t",
    "..",        "..",     ",",          ",",          ".",
    "-",         "+",      "e",          "E3",         "0x10",
    "inf",       "nan",    " ",          "\n",         "1e3",
    "0.5",       "1e-9",   "1e999",      "16777216T",  "P",
    "\t",        "2..256", "1..1",       "8..32",      "3..5",
    "16777215T", "%s",     "%n",         "\xff",       "000",
    "1K..1G",    "1..8T",  "32K..1M",    "9..2",       "18446744073709551615",
    "iB",        "B",      "1MiB",       "8 B",        "256 KiB",
};

const struct fuzz_target fuzz_target = {"parse", 300000, words, sizeof words / sizeof *words};

/* For a fuzzer a crash is the finding. */
static void check(bool good, const char *what, const char *text)
{
    if (good)
        return;
    fprintf(stderr, "fuzz_parse: %s: '%s'\n", what, text);
    abort();
}

/* A refusal has a message: one line, not empty. */
static void check_refusal(int status, const struct strag_error *err, const char *text)
{
    check(status == STRAG_ERR_ARGUMENT, "another status than STRAG_ERR_ARGUMENT", text);
    check(memchr(err->text, '\0', sizeof err->text) != NULL, "an unfinished message", text);
    check(strlen(err->text) > 10, "no message", text);
    check(strlen(text) > 20 || strchr(text, '\n') || !strchr(err->text, '\n'),
          "a message of two lines", text);
}

/* ---- Second readings ---- */

/* Digits only, below 2^80 or so. @return whether it is a number */
static bool read_digits(const char *text, size_t length, long double *value)
{
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *value = 10 * *value + (text[i] - '0');
    }
    return length > 0;
}

/* long double holds 64 bits exactly where it has them. @return whether it is a size that fits */
static bool read_size(const char *text, size_t length, long double *value)
{
    static const char suffixes[] = "kKmMgGtT";
    const size_t digits = strspn(text, "0123456789") < length ? strspn(text, "0123456789") : length;
    const char *unit = text + digits, *end = text + length;
    if (!read_digits(text, digits, value))
        return false;
    unit += end - unit > 1 && *unit == ' ';
    const char *suffix = unit < end ? strchr(suffixes, *unit) : NULL;
    for (long i = 0; suffix && i <= (suffix - suffixes) / 2; i++)
        *value *= 1024;
    unit += suffix != NULL;
    const bool bytes = (!suffix && end - unit == 1 && *unit == 'B') ||
                       (suffix && end - unit == 2 && strncmp(unit, "iB", 2) == 0);
    return (bytes || unit == end) && *value < 18446744073709551616.0L;
}

/* ---- One function after the other ---- */

static void fuzz_bytes(const char *text)
{
    struct strag_error err = {""};
    size_t bytes = 4711;
    long double expected;
    int status = strag_parse_bytes(text, &bytes, &err);
    bool good = read_size(text, strlen(text), &expected);
    check(good == (status == STRAG_OK), "a size taken or refused wrongly", text);
    if (status != STRAG_OK) {
        check_refusal(status, &err, text);
        check(bytes == 4711, "a refused size changed the result", text);
    } else if (sizeof(long double) > 8) {
        check((long double)bytes == expected, "a wrong size", text);
    }
    check(strag_parse_bytes(text, &bytes, NULL) == status, "err matters", text);
}

static void fuzz_bytes_list(const char *text)
{
    struct strag_error err = {""};
    size_t *list = NULL;
    int count = -1;
    int status = strag_parse_bytes_list(text, &list, &count, &err);
    if (status != STRAG_OK) {
        check_refusal(status, &err, text);
        check(!list && count == -1, "a refused list changed the result", text);
        return;
    }
    check(count >= 1, "an empty list", text);
    const char *rest = text;
    int i = 0;
    while (rest) { /* entry by entry: one size, or powers of two from LOW to HIGH */
        size_t length = strcspn(rest, ",");
        const char *dots = strstr(rest, "..");
        long double low, high;
        bool range = dots && dots < rest + length;
        size_t head = range ? (size_t)(dots - rest) : length;
        check(read_size(rest, head, &low), "a list with no size in it", text);
        high = low;
        if (range)
            check(read_size(dots + 2, length - head - 2, &high), "a range without an end", text);
        for (long double size = low; size <= high; size *= 2) {
            check(i < count && (long double)list[i] == size, "a wrong list", text);
            i++;
            if (size == 0) /* 0 is a size, but the powers of two begin with 1 */
                break;
        }
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    check(i == count, "a list that is too long", text);
    free(list);
}

static void fuzz_integer(const char *text, int low, int high)
{
    struct strag_error err = {""};
    int value = -4711;
    long double expected;
    int status = strag_parse_integer(text, low, high, &value, &err);
    bool good = read_digits(text, strlen(text), &expected) && expected >= low && expected <= high;
    check(good == (status == STRAG_OK), "an integer taken or refused wrongly", text);
    if (status == STRAG_OK) {
        check(value == (int)expected, "a wrong integer", text);
        return;
    }
    check_refusal(status, &err, text);
    check(value == -4711, "a refused integer changed the result", text);
}

static void fuzz_intervals(const char *text, int low, int high)
{
    struct strag_error err = {""};
    struct strag_interval *list = NULL;
    int count = -1;
    int status = strag_parse_intervals(text, low, high, &list, &count, &err);
    if (status != STRAG_OK) {
        check_refusal(status, &err, text);
        check(!list && count == -1, "refused intervals changed the result", text);
        return;
    }
    int commas = 0;
    for (const char *c = text; *c; c++)
        commas += *c == ',';
    check(count == commas + 1, "more or fewer intervals than entries", text);
    for (int i = 0; i < count; i++)
        check(list[i].first >= low && list[i].last <= high && list[i].first <= list[i].last,
              "an interval out of bounds", text);
    free(list);
}

static void fuzz_real(const char *text, double low, double high)
{
    struct strag_error err = {""};
    double value = -4711;
    int status = strag_parse_real(text, low, high, NULL, &value, &err);
    if (status != STRAG_OK) {
        check_refusal(status, &err, text);
        check(value == -4711, "a refused number changed the result", text);
        return;
    }
    char *end;
    double expected = strtod(text, &end);
    check(!*end && value >= low && value <= high, "a number out of bounds", text);
    check(value >= expected && value <= expected, "a wrong number", text);
    check(strpbrk(text, " \t\n+xXnNiI") == NULL || strpbrk(text, "eE") != NULL,
          "a number with more than a number", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    fuzz_bytes(text);
    fuzz_bytes_list(text);
    fuzz_integer(text, 0, INT32_MAX);
    fuzz_integer(text, 2, 255);
    fuzz_intervals(text, 0, INT32_MAX);
    fuzz_intervals(text, 1, 1000);
    fuzz_real(text, 0, 1e6);
    fuzz_real(text, 0.5, 2);
    free(text);
    return 0;
}
