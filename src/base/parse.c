/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/parse.h"

#include "base/c_locale.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of a wrong text that a message quotes. */
#define QUOTE_MAX 40

/* Part of the text, not NUL-terminated. */
struct piece {
    const char *text;
    size_t length;
};

static int quoted(struct piece piece)
{
    return piece.length < QUOTE_MAX ? (int)piece.length : QUOTE_MAX;
}

static struct piece whole(const char *text)
{
    return (struct piece){text, strlen(text)};
}

/* An entry of a list: LOW or LOW..HIGH; without dots low and high are the same. */
struct entry {
    struct piece all, low, high;
    bool range;
};

/* Take the next entry off the list. @return false at the end */
static bool next_entry(const char **rest, struct entry *entry)
{
    if (!*rest)
        return false;
    const char *comma = strchr(*rest, ',');
    entry->all = comma ? (struct piece){*rest, (size_t)(comma - *rest)} : whole(*rest);
    *rest = comma ? comma + 1 : NULL;

    entry->low = entry->high = entry->all;
    entry->range = false;
    for (size_t i = 0; i + 1 < entry->all.length; i++) {
        if (entry->all.text[i] == '.' && entry->all.text[i + 1] == '.') {
            entry->low.length = i;
            entry->high.text += i + 2;
            entry->high.length -= i + 2;
            entry->range = true;
            break;
        }
    }
    return true;
}

/* Refuse an empty entry between commas. An empty list gets the message for a wrong entry. */
static int refuse_empty(const char *list, const struct entry *entry, const char *form,
                        struct strag_error *err)
{
    const struct piece piece = whole(list);
    if (entry->all.length || !piece.length)
        return STRAG_OK;
    return strag_fail(err, STRAG_ERR_ARGUMENT, "'%.*s' has an empty entry; accepted: %s",
                      quoted(piece), list, form);
}

static size_t count_entries(const char *text)
{
    size_t count = 1;
    for (; *text; text++)
        count += *text == ',';
    return count;
}

enum number { NUMBER_GOOD, NUMBER_MALFORMED, NUMBER_TOO_LARGE };

/* Read digits and nothing else. */
static enum number read_number(struct piece piece, uint64_t *value)
{
    *value = 0;
    if (piece.length == 0)
        return NUMBER_MALFORMED;
    bool too_large = false;
    for (size_t i = 0; i < piece.length; i++) {
        if (piece.text[i] < '0' || piece.text[i] > '9')
            return NUMBER_MALFORMED;
        uint64_t digit = (uint64_t)(piece.text[i] - '0');
        too_large = too_large || *value > (UINT64_MAX - digit) / 10;
        *value = 10 * *value + digit;
    }
    return too_large ? NUMBER_TOO_LARGE : NUMBER_GOOD;
}

/* log2 of a suffix's factor; 0 if it is not a suffix */
static int suffix_shift(char suffix)
{
    static const char suffixes[] = "KMGTkmgt";
    const char *found = suffix ? strchr(suffixes, suffix) : NULL;
    return found ? 10 * (int)((found - suffixes) % 4 + 1) : 0;
}

/* Take the unit off a size: K, KiB or B, and a space before it. @return log2 of the unit */
static int take_unit(struct piece *size)
{
    const size_t whole_length = size->length;
    const bool binary = whole_length > 2 && memcmp(size->text + whole_length - 2, "iB", 2) == 0;
    size_t length = whole_length - (binary ? 2 : 0);
    const int shift = length ? suffix_shift(size->text[length - 1]) : 0;
    if (binary && !shift)
        return 0;
    if (shift || (length && size->text[length - 1] == 'B'))
        length--;
    if (length && length < whole_length && size->text[length - 1] == ' ')
        length--;
    size->length = length;
    return shift;
}

static int read_size(struct piece piece, size_t *bytes, struct strag_error *err)
{
    struct piece digits = piece;
    const int shift = take_unit(&digits);
    uint64_t value;
    enum number number = read_number(digits, &value);
    if (number == NUMBER_MALFORMED)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "'%.*s' is not a size; sizes are bytes like 32, or like 2K, 512M, 1G, 1T "
                          "(times 1024, 1024^2, 1024^3, 1024^4) or 1MiB",
                          quoted(piece), piece.text);
    if (number == NUMBER_TOO_LARGE || value > (uint64_t)SIZE_MAX >> shift)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "'%.*s' is too large; the largest size is %zu",
                          quoted(piece), piece.text, (size_t)SIZE_MAX);
    *bytes = (size_t)(value << shift);
    return STRAG_OK;
}

int strag_parse_bytes(const char *text, size_t *bytes, struct strag_error *err)
{
    return read_size(whole(text), bytes, err);
}

static bool power_of_two(size_t value)
{
    return value && (value & (value - 1)) == 0;
}

static int read_size_range(const struct entry *entry, size_t *low, size_t *high,
                           struct strag_error *err)
{
    const bool open = entry->range && !(entry->low.length && entry->high.length);
    *low = *high = 0;
    int status = open ? STRAG_OK : read_size(entry->low, low, err);
    if (status == STRAG_OK && !open)
        status = read_size(entry->high, high, err);
    if (status != STRAG_OK || !entry->range)
        return status;
    if (!power_of_two(*low) || !power_of_two(*high))
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "'%.*s' needs a power of two at both ends, like 32..1G",
                          quoted(entry->all), entry->all.text);
    if (*low > *high)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "'%.*s' runs downwards; put the smaller size first, like 32..1G",
                          quoted(entry->all), entry->all.text);
    return STRAG_OK;
}

int strag_parse_bytes_list(const char *text, size_t **bytes, int *count, struct strag_error *err)
{
    /* A range has at most one size for each bit. */
    const size_t most = sizeof(size_t) * 8;
    const char *rest = text;
    struct entry entry;
    size_t used = 0;
    size_t *list = calloc(count_entries(text), most * sizeof *list);
    if (!list)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the list of sizes");
    while (next_entry(&rest, &entry)) {
        size_t low, high;
        int status = refuse_empty(text, &entry, "sizes between commas, like 1K,32..1G", err);
        if (status == STRAG_OK)
            status = read_size_range(&entry, &low, &high, err);
        if (status != STRAG_OK) {
            free(list);
            return status;
        }
        list[used++] = low;
        for (; low < high; used++)
            list[used] = low *= 2;
    }
    *bytes = list;
    *count = (int)used;
    return STRAG_OK;
}

static bool read_integer(struct piece piece, int low, int high, int *value)
{
    uint64_t number;
    if (read_number(piece, &number) != NUMBER_GOOD || number < (uint64_t)low ||
        number > (uint64_t)high)
        return false;
    *value = (int)number;
    return true;
}

int strag_parse_integer(const char *text, int low, int high, int *value, struct strag_error *err)
{
    const struct piece piece = whole(text);
    if (!read_integer(piece, low, high, value))
        return strag_fail(err, STRAG_ERR_ARGUMENT, "'%.*s' is not an integer from %d to %d",
                          quoted(piece), text, low, high);
    return STRAG_OK;
}

static int read_interval(const struct entry *entry, int low, int high,
                         struct strag_interval *interval, struct strag_error *err)
{
    if (!read_integer(entry->low, low, high, &interval->first) ||
        !read_integer(entry->high, low, high, &interval->last))
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "'%.*s' is neither an integer from %d to %d nor a range like 2..8",
                          quoted(entry->all), entry->all.text, low, high);
    if (interval->first > interval->last)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "'%.*s' runs downwards; put the smaller number first, like 2..8",
                          quoted(entry->all), entry->all.text);
    return STRAG_OK;
}

int strag_parse_intervals(const char *text, int low, int high, struct strag_interval **intervals,
                          int *count, struct strag_error *err)
{
    const char *rest = text;
    struct entry entry;
    int used = 0;
    struct strag_interval *list = calloc(count_entries(text), sizeof *list);
    if (!list)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the list of numbers");
    while (next_entry(&rest, &entry)) {
        int status = refuse_empty(text, &entry, "numbers between commas, like 2..8,16", err);
        if (status == STRAG_OK)
            status = read_interval(&entry, low, high, &list[used++], err);
        if (status != STRAG_OK) {
            free(list);
            return status;
        }
    }
    *intervals = list;
    *count = used;
    return STRAG_OK;
}

int strag_parse_real(const char *text, double low, double high, const char *unit, double *value,
                     struct strag_error *err)
{
    /* strtod also accepts spaces, signs, hexadecimal, "inf" and "nan". */
    bool decimal =
        *text && strspn(text, "0123456789.eE+-") == strlen(text) && *text != '+' && *text != '-';
    char *end = NULL;
    const locale_t before = strag_c_locale_enter();
    double number = decimal ? strtod(text, &end) : 0;
    strag_c_locale_leave(before);
    if (!decimal || *end || !(number >= low && number <= high))
        return strag_fail(err, STRAG_ERR_ARGUMENT, "'%.*s' is not a number%s%s from %g to %g",
                          quoted(whole(text)), text, unit ? " of " : "", unit ? unit : "", low,
                          high);
    *value = number;
    return STRAG_OK;
}

/* The nearest text with this number of digits. @return whether it reads back as the value */
static bool try_text(double number, double value, double scale, int digits, char text[32])
{
    snprintf(text, 32, "%.*g", digits, number);
    if (strchr(text, 'e') && number >= 1 && number < 1e15) /* 100, not 1e+02 */
        snprintf(text, 32, "%.0f", strtod(text, NULL));
    return strtod(text, NULL) * scale == value;
}

/* Find the shortest text that reads back as the value. */
static void find_text(double value, double scale, char text[32])
{
    const double number = value / scale;
    for (int digits = 1; digits <= 17; digits++)
        if (try_text(number, value, scale, digits, text))
            return;
    /* value / scale was rounded: one of its neighbours may read back as the value */
    if (!try_text(nextafter(number, 0), value, scale, 17, text) &&
        !try_text(nextafter(number, INFINITY), value, scale, 17, text))
        (void)try_text(number, value, scale, 17, text);
}

const char *strag_real_text(double value, double scale, char text[32])
{
    const locale_t before = strag_c_locale_enter();
    find_text(value, scale, text);
    strag_c_locale_leave(before);
    return text;
}
