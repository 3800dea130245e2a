/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of a file's name, from its end, in a message. */
#define SOURCE_MAX 80

/* ---- Messages ---- */

const char *strag_name_end(const char *name)
{
    size_t length = strlen(name);
    return length > SOURCE_MAX ? name + length - SOURCE_MAX : name;
}

int strag_source_fail(const struct strag_source *source, int line, const char *format, ...)
{
    struct strag_error message;
    char where[SOURCE_MAX + 16] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(message.text, sizeof message.text, format, args);
    va_end(args);
    if (source->name && line)
        snprintf(where, sizeof where, "%s:%d: ", strag_name_end(source->name), line);
    else if (source->name)
        snprintf(where, sizeof where, "%s: ", strag_name_end(source->name));
    return strag_fail(source->err, STRAG_ERR_ARGUMENT, "%s%s", where, message.text);
}

int strag_source_memory(const struct strag_source *source)
{
    return strag_fail(source->err, STRAG_ERR_MEMORY, "%s%sout of memory",
                      source->name ? strag_name_end(source->name) : "", source->name ? ": " : "");
}

struct strag_quote strag_quote(const char *text, size_t length)
{
    struct strag_quote quote;
    size_t used = 0;
    for (; used < length && used < sizeof quote.text - 4; used++)
        quote.text[used] = text[used] >= ' ' && text[used] <= '~' ? text[used] : '?';
    for (int dots = 0; used < length && dots < 3; dots++)
        quote.text[used++] = '.';
    quote.text[used] = '\0';
    return quote;
}

struct strag_quote strag_quoted(const char *text)
{
    return strag_quote(text, strlen(text));
}

void strag_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

void strag_json_string(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text >= ' ' && *text <= '~' ? *text : '?', out);
    }
    fputc('"', out);
}

/* ---- Text ---- */

/* The bytes of the UTF-8 character at `text`; 0 if invalid */
static size_t utf8_length(const unsigned char *text, size_t left)
{
    static const struct {
        unsigned char mask, lead;
        unsigned long least; /* of the code points that need this length */
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t more = 0; more < sizeof forms / sizeof *forms; more++) {
        if ((text[0] & forms[more].mask) != forms[more].lead)
            continue;
        if (more >= left)
            return 0;
        unsigned long code = text[0] & (unsigned char)~forms[more].mask;
        for (size_t i = 1; i <= more; i++) {
            if ((text[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[i] & 0x3f);
        }
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        return code >= forms[more].least && code <= 0x10ffff && !surrogate ? more + 1 : 0;
    }
    return 0;
}

int strag_source_text(const struct strag_source *source, const char **text, size_t *length)
{
    if (*length >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0) {
        *text += 3;
        *length -= 3;
    }
    int line = 1;
    for (size_t i = 0; i < *length;) {
        if ((*text)[i] == '\0')
            return strag_source_fail(source, line, "a NUL byte; a layout file is text");
        size_t step = utf8_length((const unsigned char *)*text + i, *length - i);
        if (step == 0)
            return strag_source_fail(source, line, "byte 0x%02x is not UTF-8 text",
                                     (unsigned char)(*text)[i]);
        line += (*text)[i] == '\n';
        i += step;
    }
    return STRAG_OK;
}

bool strag_next_line(const char **text, size_t *length, struct strag_line *line)
{
    while (*length) {
        const char *end = memchr(*text, '\n', *length);
        size_t all = end ? (size_t)(end - *text) : *length;
        line->text = *text;
        line->length = all;
        line->number++;
        *text += end ? all + 1 : all;
        *length -= end ? all + 1 : all;

        const char *comment = memchr(line->text, '#', line->length);
        if (comment)
            line->length = (size_t)(comment - line->text);
        while (line->length && strag_blank(line->text[0])) {
            line->text++;
            line->length--;
        }
        while (line->length && strag_blank(line->text[line->length - 1]))
            line->length--;
        if (line->length)
            return true;
    }
    return false;
}

bool strag_next_number(const char **text, const char *end, int64_t most, int64_t *value)
{
    const char *begin = *text;
    *value = 0;
    for (; *text < end && **text >= '0' && **text <= '9'; ++*text) {
        int digit = **text - '0';
        if (*value > (most - digit) / 10)
            return false;
        *value = 10 * *value + digit;
    }
    return *text > begin;
}

char *strag_text_copy(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (!copy)
        return NULL;
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* ---- Arrays ---- */

bool strag_array_grow(void *array, int *room, int need, size_t element)
{
    void *old;
    memcpy(&old, array, sizeof old); /* the pointer may be of any type */
    if (old && need <= *room)
        return true;
    int more = *room < 8 ? 8 : *room;
    while (more < need)
        more = more > INT32_MAX / 2 ? INT32_MAX : 2 * more;
    void *grown = realloc(old, (size_t)more * element);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    *room = more;
    return true;
}

int strag_compare_int(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int strag_compare_float(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

int strag_compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int strag_compare_pair(const void *a, const void *b)
{
    const struct strag_pair *x = a, *y = b;
    int first = strag_compare_int(&x->first, &y->first);
    return first ? first : strag_compare_int(&x->second, &y->second);
}

/* ---- Hashes ---- */

uint64_t strag_hash(uint64_t before, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++)
        before = (before ^ at[i]) * UINT64_C(0x100000001b3);
    return before;
}

/* ---- Names: open addressing, at most half full ---- */

static uint64_t hash(const char *name)
{
    const uint64_t h = strag_hash(STRAG_HASH_START, name, strlen(name));
    return h ^ h >> 32;
}

/* The name's slot, or a free one for it, which always exists. */
static struct strag_names_slot *slot(const struct strag_names *names, const char *name)
{
    uint64_t mask = (uint64_t)names->room - 1;
    uint64_t i = hash(name) & mask;
    while (names->slots[i].name && strcmp(names->slots[i].name, name) != 0)
        i = (i + 1) & mask;
    return &names->slots[i];
}

int strag_names_find(const struct strag_names *names, const char *name)
{
    if (names->room == 0)
        return -1;
    const struct strag_names_slot *found = slot(names, name);
    return found->name ? found->value : -1;
}

static bool widen(struct strag_names *names)
{
    struct strag_names wider = {.room = names->room ? 2 * names->room : 64, .count = names->count};
    wider.slots = calloc((size_t)wider.room, sizeof *wider.slots);
    if (!wider.slots)
        return false;
    for (int i = 0; i < names->room; i++) {
        if (names->slots[i].name)
            *slot(&wider, names->slots[i].name) = names->slots[i];
    }
    free(names->slots);
    *names = wider;
    return true;
}

bool strag_names_add(struct strag_names *names, const char *name, int value)
{
    if (2 * (names->count + 1) > names->room && !widen(names))
        return false;
    *slot(names, name) = (struct strag_names_slot){name, value};
    names->count++;
    return true;
}

void strag_names_free(struct strag_names *names)
{
    free(names->slots);
    *names = (struct strag_names){0};
}
