/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a layout file of any kind, and what all readers need for it.
 */
#include "machine/layout.h"

#include "machine/layout_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a file; the largest machines' files are a few MiB. */
#define FILE_MAX ((size_t)64 << 20)

/* How much of a file's name a message repeats: its end. */
#define SOURCE_MAX 80

void strag_layout_free(struct strag_layout *layout)
{
    if (!layout)
        return;
    for (int i = 0; i < layout->nswitches; i++)
        free(layout->switches[i].name);
    for (int i = 0; i < layout->nhosts; i++)
        free(layout->hosts[i].name);
    free(layout->switches);
    free(layout->hosts);
    free(layout->rank_host);
    free(layout);
}

/* ---- Messages ---- */

static const char *short_name(const char *name)
{
    size_t length = strlen(name);
    return length > SOURCE_MAX ? name + length - SOURCE_MAX : name;
}

int strag_source_fail(const struct strag_source *source, int line, const char *format, ...)
{
    char text[sizeof source->err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!source->name)
        return strag_fail(source->err, STRAG_ERR_ARGUMENT, "%s", text);
    if (line == 0)
        return strag_fail(source->err, STRAG_ERR_ARGUMENT, "%s: %s", short_name(source->name),
                          text);
    return strag_fail(source->err, STRAG_ERR_ARGUMENT, "%s:%d: %s", short_name(source->name), line,
                      text);
}

int strag_source_memory(const struct strag_source *source)
{
    if (!source->name)
        return strag_fail(source->err, STRAG_ERR_MEMORY, "out of memory for the layout");
    return strag_fail(source->err, STRAG_ERR_MEMORY, "%s: out of memory for the layout",
                      short_name(source->name));
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

/* ---- Text ---- */

/* How long the UTF-8 character at `text` is; 0: it is none. */
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

int strag_source_name(const struct strag_source *source, int line, const char *name, size_t length)
{
    if (length == 0)
        return strag_source_fail(source, line, "an empty name; hosts and switches need names");
    if (length > STRAG_NAME_MAX)
        return strag_source_fail(source, line, "the name '%s' is longer than %d bytes",
                                 strag_quote(name, length).text, STRAG_NAME_MAX);
    bool round = false; /* inside of round brackets, for coordinates may be names */
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        round = c == '(' || (round && c != ')');
        if (c <= ' ' || c == 0x7f || strchr("[]{}\"\\", c) || (c == ',' && !round))
            return strag_source_fail(
                source, line,
                "'%s' is not a name; names have no blanks, commas, brackets, quotes or backslashes",
                strag_quote(name, length).text);
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

/* ---- Files ---- */

int strag_layout_parse(const char *text, size_t length, const char *name,
                       struct strag_layout **layout, struct strag_error *err)
{
    const struct strag_source source = {name, err};
    const char *rest = text;
    size_t left = length;
    int status = strag_source_text(&source, &rest, &left);
    if (status != STRAG_OK)
        return status;
    struct strag_line line = {.number = 0};
    if (!strag_next_line(&rest, &left, &line))
        return strag_source_fail(&source, line.number > 0 ? line.number : 1,
                                 "nothing is described; a topology.yaml, a topology.conf or a "
                                 "coordinates file (NAME: a b c) is needed");
    if (strchr("-[{%", line.text[0]))
        return strag_layout_parse_yaml(text, length, name, layout, err);
    if (memchr(line.text, '=', line.length))
        return strag_layout_parse_conf(text, length, name, layout, err);
    return strag_layout_parse_coordinates(text, length, name, layout, err);
}

/* Everything in a stream. @return NULL, and errno says why */
static char *read_all(FILE *stream, size_t *length)
{
    size_t room = 1 << 16, used = 0;
    char *text = NULL;
    do {
        char *grown = realloc(text, room);
        if (!grown) {
            free(text);
            errno = ENOMEM;
            return NULL;
        }
        text = grown;
        used += fread(text + used, 1, room - used, stream);
        if (used < room)
            break;
        room *= 2;
    } while (room <= 2 * FILE_MAX);
    if (ferror(stream) || used > FILE_MAX) {
        int error = ferror(stream) ? errno : EFBIG;
        free(text);
        errno = error;
        return NULL;
    }
    *length = used;
    return text;
}

int strag_layout_read(const char *file, struct strag_layout **layout, struct strag_error *err)
{
    FILE *stream = fopen(file, "rb");
    if (!stream)
        return strag_fail(err, STRAG_ERR_IO, "%s: cannot be opened: %s", short_name(file),
                          strerror(errno));
    size_t length = 0;
    char *text = read_all(stream, &length);
    int error = errno;
    fclose(stream);
    if (!text && error == ENOMEM)
        return strag_fail(err, STRAG_ERR_MEMORY, "%s: out of memory", short_name(file));
    if (!text)
        return strag_fail(err, STRAG_ERR_IO, "%s: cannot be read: %s", short_name(file),
                          strerror(error));
    int status = strag_layout_parse(text, length, file, layout, err);
    free(text);
    return status;
}
