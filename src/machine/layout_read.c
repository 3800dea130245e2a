/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a layout file of any kind. The first line that is neither blank nor a comment determines
 * it.
 */
#include "machine/layout.h"

#include "base/file.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Bytes; the largest machines' files have a few MiB. */
#define FILE_MAX ((size_t)64 << 20)

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

int strag_layout_read(const char *file, struct strag_layout **layout, struct strag_error *err)
{
    char *text = NULL;
    size_t length = 0;
    int status = strag_file_read(file, FILE_MAX, &text, &length, err);
    if (status == STRAG_OK)
        status = strag_layout_parse(text, length, file, layout, err);
    free(text);
    return status;
}
