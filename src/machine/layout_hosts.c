/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of hosts as Slurm writes them: "n[01-16,20],rack[1-2]node[0-7]-ib,login".
 */
#include "machine/layout_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Brackets in one name. */
#define BRACKETS_MAX 8

/* Numbers in a bracket, and the current one. */
struct bracket {
    const char *begin, *end; /* what is inside */
    const char *next;        /* after the current range */
    int64_t value, last;     /* in the current range */
    int width;               /* digits, with leading zeros */
};

/* One name of the list, or as many as its brackets make. */
struct entry {
    const char *text;
    size_t length;
    int brackets;
    struct bracket bracket[BRACKETS_MAX];
};

struct expansion {
    struct strag_source source;
    char **names;
    int count, room;
};

static int fail_range(const struct strag_source *source, const struct bracket *bracket)
{
    const char *begin = bracket->begin - 1;
    return strag_source_fail(source, 0, "'%s' is not a range; write [1-4,7], the smaller first",
                             strag_quote(begin, (size_t)(bracket->end + 1 - begin)).text);
}

/* A number of at most 18 digits after leading zeros. @return how many, with zeros; 0: no number */
static int read_digits(const char **text, const char *end, int64_t *value)
{
    const char *begin = *text;
    if (!strag_next_number(text, end, INT64_C(999999999999999999), value))
        return 0;
    return *text - begin <= STRAG_NAME_MAX ? (int)(*text - begin) : 0;
}

/* Take the range at bracket->next. @return false if it is none */
static bool next_range(struct bracket *bracket)
{
    const char *text = bracket->next;
    bracket->width = read_digits(&text, bracket->end, &bracket->value);
    bracket->last = bracket->value;
    bool good = bracket->width > 0;
    if (good && text < bracket->end && *text == '-') {
        text++;
        good =
            read_digits(&text, bracket->end, &bracket->last) > 0 && bracket->last >= bracket->value;
    }
    if (!good || (text < bracket->end && *text != ','))
        return false;
    bracket->next = text < bracket->end ? text + 1 : NULL;
    return true;
}

/* How many numbers a bracket has; beyond the limit it does not matter how many. */
static int count_numbers(const struct strag_source *source, struct bracket *bracket, int64_t *count)
{
    *count = 0;
    bracket->next = bracket->begin;
    while (bracket->next) {
        if (!next_range(bracket))
            return fail_range(source, bracket);
        int64_t more = bracket->last - bracket->value + 1;
        *count = more > STRAG_LAYOUT_MAX - *count ? STRAG_LAYOUT_MAX + 1 : *count + more;
        if (*count > STRAG_LAYOUT_MAX)
            break;
    }
    return STRAG_OK;
}

static int fail_entry(const struct strag_source *source, const struct entry *entry,
                      const char *what)
{
    return strag_source_fail(source, 0, "'%s' %s", strag_quote(entry->text, entry->length).text,
                             what);
}

/* Find the entry's brackets. */
static int read_brackets(const struct strag_source *source, struct entry *entry)
{
    const char *text = entry->text, *end = entry->text + entry->length;
    entry->brackets = 0;
    while (text < end) {
        if (*text == ']')
            return fail_entry(source, entry, "has a ] without [; write n[01-16,20]");
        if (*text++ != '[')
            continue;
        const char *close = memchr(text, ']', (size_t)(end - text));
        if (!close)
            return fail_entry(source, entry, "has a [ without ]; write n[01-16,20]");
        if (entry->brackets == BRACKETS_MAX)
            return fail_entry(source, entry, "has more than 8 brackets");
        entry->bracket[entry->brackets++] = (struct bracket){.begin = text, .end = close};
        text = close + 1;
    }
    return STRAG_OK;
}

/* How many names an entry stands for; its brackets are set to the first of them. */
static int start_entry(const struct strag_source *source, struct entry *entry, int before,
                       int *names)
{
    int status = read_brackets(source, entry);
    int64_t product = 1;
    for (int i = 0; i < entry->brackets && status == STRAG_OK; i++) {
        int64_t count;
        status = count_numbers(source, &entry->bracket[i], &count);
        product *= count; /* at most (2^20 + 1)^2 before the check */
        if (status == STRAG_OK && product > STRAG_LAYOUT_MAX)
            product = STRAG_LAYOUT_MAX + 1;
        entry->bracket[i].next = entry->bracket[i].begin;
        if (status == STRAG_OK && !next_range(&entry->bracket[i]))
            status = fail_range(source, &entry->bracket[i]);
    }
    if (status == STRAG_OK && product > STRAG_LAYOUT_MAX - before)
        return strag_source_fail(source, 0, "'%s' makes a list of more than %d names",
                                 strag_quote(entry->text, entry->length).text, STRAG_LAYOUT_MAX);
    *names = (int)product;
    return status;
}

/* The brackets' next numbers, the last bracket's first. */
static void step(struct entry *entry)
{
    for (int i = entry->brackets - 1; i >= 0; i--) {
        struct bracket *bracket = &entry->bracket[i];
        if (bracket->value < bracket->last) {
            bracket->value++;
            return;
        }
        bool more = bracket->next != NULL;
        if (!more)
            bracket->next = bracket->begin;
        if (!next_range(bracket) || more)
            return;
    }
}

/* The current name. @return its length, which may be more than the buffer holds */
static size_t write_name(const struct entry *entry, char *name, size_t size)
{
    const char *text = entry->text;
    size_t used = 0;
    for (int i = 0; i <= entry->brackets && used < size; i++) {
        const struct bracket *bracket = i < entry->brackets ? &entry->bracket[i] : NULL;
        const char *end = bracket ? bracket->begin - 1 : entry->text + entry->length;
        used += (size_t)snprintf(name + used, size - used, "%.*s", (int)(end - text), text);
        if (bracket && used < size) {
            used += (size_t)snprintf(name + used, size - used, "%0*lld", bracket->width,
                                     (long long)bracket->value);
            text = bracket->end + 1;
        }
    }
    return used;
}

static int add_names(struct expansion *list, struct entry *entry)
{
    int names = 0;
    int status = start_entry(&list->source, entry, list->count, &names);
    if (status != STRAG_OK)
        return status;
    if (!strag_array_grow(&list->names, &list->room, list->count + names, sizeof *list->names))
        return strag_source_memory(&list->source);
    for (int i = 0; i < names; i++) {
        char name[STRAG_NAME_MAX + 2];
        size_t length = write_name(entry, name, sizeof name);
        status = strag_source_name(&list->source, 0, name);
        if (status != STRAG_OK)
            return status;
        list->names[list->count] = strag_text_copy(name, length);
        if (!list->names[list->count])
            return strag_source_memory(&list->source);
        list->count++;
        step(entry);
    }
    return STRAG_OK;
}

/* The next comma outside of brackets, or the end. Round ones are those of hosts that are named by
 * their coordinates, "(1,0)". */
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

int strag_hosts_expand(const char *list, char ***names, int *count, struct strag_error *err)
{
    struct expansion expansion = {.source = {NULL, err}};
    int status = STRAG_OK;
    for (const char *rest = list; rest && status == STRAG_OK;) {
        struct entry entry = {.text = rest, .length = entry_length(rest)};
        if (entry.length == 0)
            status = strag_source_fail(&expansion.source, 0,
                                       "'%s' has an empty name; write n[01-16,20],login",
                                       strag_quoted(list).text);
        else
            status = add_names(&expansion, &entry);
        rest = rest[entry.length] ? rest + entry.length + 1 : NULL;
    }
    if (status != STRAG_OK) {
        strag_hosts_free(expansion.names, expansion.count);
        return status;
    }
    *names = expansion.names;
    *count = expansion.count;
    return STRAG_OK;
}

void strag_hosts_free(char **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

int strag_source_hosts(const struct strag_source *source, int line, const char *list, char ***names,
                       int *count)
{
    struct strag_error inner = {""};
    int status = strag_hosts_expand(list, names, count, &inner);
    if (status == STRAG_ERR_MEMORY)
        return strag_source_memory(source);
    return status == STRAG_OK ? STRAG_OK : strag_source_fail(source, line, "%s", inner.text);
}
