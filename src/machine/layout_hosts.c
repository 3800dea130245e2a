/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of hosts as Slurm writes them: "n[01-16,20],rack[1-2]node[0-7]-ib,login".
 */
#include "machine/layout_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most brackets in one name. */
#define BRACKETS_MAX 8

struct expansion {
    struct strag_source source;
    int line;
    const char *entry; /* the one being expanded */
    size_t entry_length;
    char **names;
    int count, room;
    char name[STRAG_NAME_MAX + 2]; /* a name that is too long remains so */
};

static int fail_entry(const struct expansion *list, const char *what)
{
    return strag_source_fail(&list->source, list->line, "'%s' %s",
                             strag_quote(list->entry, list->entry_length).text, what);
}

static int fail_count(const struct expansion *list)
{
    return strag_source_fail(&list->source, list->line, "'%s' makes a list of more than %d names",
                             strag_quote(list->entry, list->entry_length).text, STRAG_LAYOUT_MAX);
}

/* Read a number of at most 18 digits after leading zeros. @return the digits with zeros, or 0 */
static int read_digits(const char **text, const char *end, int64_t *value)
{
    const char *begin = *text;
    if (!strag_next_number(text, end, INT64_C(999999999999999999), value))
        return 0;
    return *text - begin <= STRAG_NAME_MAX ? (int)(*text - begin) : 0;
}

/* Take "01-16" or "20" off a bracket's text, with the comma after it.
 * @param[in,out] text  NULL after the last one
 * @return the digits of the first number; 0 if it is not a range */
static int next_range(const char **text, const char *end, int64_t *first, int64_t *last)
{
    int width = read_digits(text, end, first);
    *last = *first;
    if (width && *text < end && **text == '-') {
        ++*text;
        width = read_digits(text, end, last) && *last >= *first ? width : 0;
    }
    if (*text < end && *(*text)++ != ',')
        return 0;
    if (*text == end && (*text)[-1] != ',')
        *text = NULL;
    return width;
}

static int add_name(struct expansion *list)
{
    int status = strag_source_name(&list->source, list->line, list->name);
    if (status != STRAG_OK)
        return status;
    if (list->count == STRAG_LAYOUT_MAX)
        return fail_count(list);
    char *copy = strag_text_copy(list->name, strlen(list->name));
    if (!copy || !strag_array_grow(&list->names, &list->room, list->count + 1, sizeof copy)) {
        free(copy);
        return strag_source_memory(&list->source);
    }
    list->names[list->count++] = copy;
    return STRAG_OK;
}

/* Add snprintf's result to the length of the name, which was cut if it is too long. */
static size_t extend(const struct expansion *list, size_t used, int printed)
{
    used += (size_t)printed;
    return used < sizeof list->name ? used : sizeof list->name - 1;
}

/* Append the rest of an entry to the first `used` bytes of a name, with all values of its ranges;
 * those of the last bracket run fastest. */
static int expand(struct expansion *list, const char *text, size_t used, int brackets)
{
    const char *end = list->entry + list->entry_length, *open = text;
    const size_t size = sizeof list->name;
    while (open < end && *open != '[' && *open != ']')
        open++;
    int length = snprintf(list->name + used, size - used, "%.*s", (int)(open - text), text);
    used = extend(list, used, length);
    if (open == end)
        return add_name(list);
    const char *close = memchr(open, ']', (size_t)(end - open));
    if (*open == ']')
        return fail_entry(list, "has a ] without [; write n[01-16,20]");
    if (!close)
        return fail_entry(list, "has a [ without ]; write n[01-16,20]");
    if (brackets == BRACKETS_MAX)
        return fail_entry(list, "has more than 8 brackets");
    for (const char *range = open + 1; range;) {
        int64_t value, last;
        int width = next_range(&range, close, &value, &last);
        if (!width)
            return strag_source_fail(&list->source, list->line,
                                     "'%s' is not a range; write [1-4,7], the smaller first",
                                     strag_quote(open, (size_t)(close + 1 - open)).text);
        if (last - value >= STRAG_LAYOUT_MAX - list->count)
            return fail_count(list);
        for (; value <= last; value++) {
            int digits =
                snprintf(list->name + used, size - used, "%0*lld", width, (long long)value);
            int status = expand(list, close + 1, extend(list, used, digits), brackets + 1);
            if (status != STRAG_OK)
                return status;
        }
    }
    return STRAG_OK;
}

/* @return the distance to the next comma outside of brackets, or to the end. Round brackets are in
 * the names of hosts that are named by their coordinates, "(1,0)". */
static size_t entry_length(const char *text)
{
    size_t length = 0;
    char close = '\0'; /* of the bracket that is open */
    for (; text[length] && (close || text[length] != ','); length++) {
        if (text[length] == close)
            close = '\0';
        else if (!close && text[length] == '[')
            close = ']';
        else if (!close && text[length] == '(')
            close = ')';
    }
    return length;
}

int strag_source_hosts(const struct strag_source *source, int line, const char *list, char ***names,
                       int *count)
{
    struct expansion expansion = {.source = *source, .line = line};
    int status = STRAG_OK;
    for (const char *rest = list; rest && status == STRAG_OK;) {
        expansion.entry = rest;
        expansion.entry_length = entry_length(rest);
        rest += expansion.entry_length;
        status =
            expansion.entry_length
                ? expand(&expansion, expansion.entry, 0, 0)
                : strag_source_fail(source, line, "'%s' has an empty name; write n[01-16,20],login",
                                    strag_quoted(list).text);
        rest = *rest ? rest + 1 : NULL;
    }
    if (status != STRAG_OK) {
        strag_hosts_free(expansion.names, expansion.count);
        return status;
    }
    *names = expansion.names;
    *count = expansion.count;
    return STRAG_OK;
}

int strag_hosts_expand(const char *list, char ***names, int *count, struct strag_error *err)
{
    const struct strag_source source = {NULL, err};
    return strag_source_hosts(&source, 0, list, names, count);
}

void strag_hosts_free(char **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}
