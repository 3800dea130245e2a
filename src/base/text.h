/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For reading and writing texts: lines, numbers, messages that begin with FILE:LINE, growing
 * arrays, an index of names.
 */
#ifndef STRAG_TEXT_H
#define STRAG_TEXT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- Messages ---- */

/* Where a text is from. */
struct strag_source {
    const char *name; /* the file; NULL for an option, whose messages have no FILE:LINE */
    struct strag_error *err;
};

/** A file's name for messages: the end of a long name. */
const char *strag_name_end(const char *name);

/** Refuse: "NAME:LINE: message". @param line  0 if there is none @return STRAG_ERR_ARGUMENT */
int strag_source_fail(const struct strag_source *source, int line, const char *format, ...)
    STRAG_PRINTF(3, 4);

/** "NAME: out of memory". @return STRAG_ERR_MEMORY */
int strag_source_memory(const struct strag_source *source);

/* The beginning of a text for a message, in printable ASCII. */
struct strag_quote {
    char text[48];
};

struct strag_quote strag_quote(const char *text, size_t length);

/** The same for a NUL-terminated text. */
struct strag_quote strag_quoted(const char *text);

/** Append to a text, cut at the buffer's end. */
void strag_append(char *text, size_t size, const char *format, ...) STRAG_PRINTF(3, 4);

/** Write a text in quotes, for JSON and YAML. Bytes that are not printable ASCII become '?'. */
void strag_json_string(const char *text, FILE *out);

/* ---- Text ---- */

/** Refuse NUL bytes and invalid UTF-8; skip a byte order mark. */
int strag_source_text(const struct strag_source *source, const char **text, size_t *length);

struct strag_line {
    const char *text; /* without surrounding blanks; not NUL-terminated */
    size_t length;
    int number; /* from 1 */
};

/** Take the next line that is neither blank nor a comment off the text. @return false at the end */
bool strag_next_line(const char **text, size_t *length, struct strag_line *line);

static inline bool strag_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/**
 * Take decimal digits off the text.
 *
 * @param most  the largest value that is accepted, at least 9
 * @return false if there is no digit, or if the value is larger
 */
bool strag_next_number(const char **text, const char *end, int64_t most, int64_t *value);

struct strag_text {
    char *text; /* NULL if not given */
    int line;
};

/** A NUL-terminated copy; NULL if out of memory. */
char *strag_text_copy(const char *text, size_t length);

/* ---- Hashes ---- */

#define STRAG_HASH_START UINT64_C(0xcbf29ce484222325)

/** FNV-1a. @param before  the hash of the bytes before these, or STRAG_HASH_START */
uint64_t strag_hash(uint64_t before, const void *bytes, size_t length);

/* ---- Arrays ---- */

/**
 * Make room for at least `need` elements.
 *
 * @param array  the address of the pointer to the array; NULL at first
 * @param[in,out] room  its capacity in elements; doubled when needed
 * @return false if out of memory; then the array is unchanged
 */
bool strag_array_grow(void *array, int *room, int need, size_t element);

/* For qsort: ascending. */
int strag_compare_int(const void *a, const void *b);
int strag_compare_float(const void *a, const void *b);
int strag_compare_double(const void *a, const void *b);

/* A sort key; longer structures may begin with one. */
struct strag_pair {
    int first, second;
};

/** For qsort: by `first`, then by `second`, ascending. */
int strag_compare_pair(const void *a, const void *b);

/* ---- Names ---- */

/* A map from names, which the caller keeps, to numbers. It is empty if zeroed. */
struct strag_names {
    struct strag_names_slot {
        const char *name;
        int value;
    } * slots;
    int room, count;
};

/** @return the number, or -1 */
int strag_names_find(const struct strag_names *names, const char *name);

/** Add a name that is not in the map. @return false if out of memory */
bool strag_names_add(struct strag_names *names, const char *name, int value);

void strag_names_free(struct strag_names *names);

#endif
