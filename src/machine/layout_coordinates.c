/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coordinates file: a line "NAME: a b c" for every host, or "RANK: a b c" for every rank (MPICH's
 * form), and optionally a first line with the kind and the sizes of the grid:
 *
 *     torus 8x8x4          mesh 4x4          hyperx 8x8          hammingmesh 2x2:8x8
 *
 * Without such a line the grid is the smallest mesh that contains the coordinates.
 */
#include "machine/layout_internal.h"

#include <stdlib.h>
#include <string.h>

/* A host's or a rank's line. */
struct entry {
    int line;
    char *name; /* a host's; NULL in a rank's line */
    int rank;
};

struct coordinates {
    struct strag_source source;
    bool header; /* there is a first line with the grid */
    struct strag_grid grid;
    int count, entries_room, at_room;
    struct entry *entries;
    int *at;                 /* grid.dims of each entry */
    int low[STRAG_DIMS_MAX]; /* the file's coordinates of the grid's first position */
    int ranks;               /* how many lines are ranks' */
};

/* ---- Lines ---- */

/* @return the length of the first word */
static size_t word_length(const struct strag_line *line)
{
    size_t length = 0;
    while (length < line->length && !strag_blank(line->text[length]))
        length++;
    return length;
}

/* "torus 8x8x4". @param[out] file->header  whether the line has this form */
static int read_header(struct coordinates *file, const struct strag_line *line)
{
    size_t skip = word_length(line);
    const struct strag_grid_kind *kind = strag_grid_kind_find(line->text, skip);
    file->header = kind;
    if (!kind)
        return STRAG_OK;
    while (skip < line->length && strag_blank(line->text[skip]))
        skip++;
    file->grid.network = kind->network;
    return strag_source_grid(&file->source, line->number, line->text + skip, line->length - skip,
                             kind->wrap, STRAG_POSITIONS_MAX, &file->grid);
}

/* "1 0 2". @return how many; -1 if there is anything else */
static int read_numbers(const char *text, size_t length, int *at)
{
    const char *end = text + length;
    int count = 0;
    while (text < end) {
        int64_t value;
        if (strag_blank(*text)) {
            text++;
            continue;
        }
        if (!strag_next_number(&text, end, INT32_MAX - 1, &value) || count == STRAG_DIMS_MAX ||
            (text < end && !strag_blank(*text)))
            return -1;
        at[count++] = (int)value;
    }
    return count;
}

static int check_inside(const struct coordinates *file, int line, const int *at, int dims)
{
    if (file->grid.dims != dims)
        return strag_source_fail(&file->source, line, "%d coordinates, but the grid has %d", dims,
                                 file->grid.dims);
    for (int i = 0; i < dims && file->header; i++) {
        if (at[i] >= file->grid.size[i])
            return strag_source_fail(&file->source, line,
                                     "coordinate %d is outside of the grid, whose dimension %d is "
                                     "0 to %d",
                                     at[i], i, file->grid.size[i] - 1);
    }
    return STRAG_OK;
}

static int add_entry(struct coordinates *file, const struct entry *entry, const int *at)
{
    int dims = file->grid.dims;
    if (!strag_array_grow(&file->entries, &file->entries_room, file->count + 1,
                          sizeof *file->entries) ||
        !strag_array_grow(&file->at, &file->at_room, (file->count + 1) * dims, sizeof *file->at))
        return strag_source_memory(&file->source);
    for (int i = 0; i < dims; i++)
        file->at[(size_t)file->count * (size_t)dims + (size_t)i] = at[i];
    file->entries[file->count++] = *entry;
    return STRAG_OK;
}

/* Read a host's name, or a rank's number; all lines must have the same kind. */
static int read_name(struct coordinates *file, const struct strag_line *line, size_t length,
                     struct entry *entry)
{
    bool rank = length > 0;
    for (size_t i = 0; i < length; i++)
        rank = rank && line->text[i] >= '0' && line->text[i] <= '9';
    if (file->count && rank != (file->ranks > 0))
        return strag_source_fail(&file->source, line->number,
                                 "'%s': either all lines begin with a rank or all with a host",
                                 strag_quote(line->text, length).text);
    if (file->count == STRAG_LAYOUT_MAX)
        return strag_source_fail(&file->source, line->number, "more than %d hosts or ranks",
                                 STRAG_LAYOUT_MAX);
    entry->line = line->number;
    if (rank) {
        const char *text = line->text;
        int64_t number;
        if (!strag_next_number(&text, text + length, STRAG_LAYOUT_MAX - 1, &number))
            return strag_source_fail(&file->source, line->number, "'%s' is not a rank from 0 to %d",
                                     strag_quote(line->text, length).text, STRAG_LAYOUT_MAX - 1);
        entry->rank = (int)number;
        file->ranks++;
        return STRAG_OK;
    }
    entry->name = strag_text_copy(line->text, length);
    return entry->name ? strag_source_name(&file->source, line->number, entry->name)
                       : strag_source_memory(&file->source);
}

static int read_entry(struct coordinates *file, const struct strag_line *line)
{
    /* Find the last colon: names may contain colons. */
    size_t colon = line->length;
    while (colon && line->text[colon - 1] != ':')
        colon--;
    int at[STRAG_DIMS_MAX];
    int dims = colon ? read_numbers(line->text + colon, line->length - colon, at) : -1;
    if (dims < 1)
        return strag_source_fail(&file->source, line->number,
                                 "'%s' where NAME: a b c is needed, with 1 to %d coordinates",
                                 strag_quote(line->text, line->length).text, STRAG_DIMS_MAX);
    size_t length = colon - 1;
    while (length && strag_blank(line->text[length - 1]))
        length--;
    if (file->grid.dims == 0)
        file->grid.dims = dims;
    struct entry entry = {0};
    int status = check_inside(file, line->number, at, dims);
    if (status == STRAG_OK)
        status = read_name(file, line, length, &entry);
    if (status == STRAG_OK)
        status = add_entry(file, &entry, at);
    if (status != STRAG_OK)
        free(entry.name);
    return status;
}

static int read_lines(struct coordinates *file, const char *text, size_t length)
{
    struct strag_line line = {.number = 0};
    while (strag_next_line(&text, &length, &line)) {
        bool first = file->count == 0 && !file->header;
        int status = first ? read_header(file, &line) : STRAG_OK;
        if (status == STRAG_OK && !(first && file->header))
            status = read_entry(file, &line);
        if (status != STRAG_OK)
            return status;
    }
    if (file->count == 0)
        return strag_source_fail(&file->source, line.number > 0 ? line.number : 1,
                                 "no host or rank has coordinates; lines NAME: a b c are needed");
    return STRAG_OK;
}

static const int *entry_at(const struct coordinates *file, int entry)
{
    return file->at + (size_t)entry * (size_t)file->grid.dims;
}

static int add_hosts(const struct coordinates *file, struct strag_draft *draft)
{
    int status = STRAG_OK;
    for (int i = 0; i < file->count && status == STRAG_OK; i++)
        status = strag_draft_host(draft, file->entries[i].name, file->entries[i].line,
                                  strag_grid_position(&file->grid, entry_at(file, i)));
    return status;
}

/* A position in the file's coordinates. */
static struct strag_coordinates position_name(const struct coordinates *file, const int *at)
{
    int called[STRAG_DIMS_MAX];
    for (int d = 0; d < file->grid.dims; d++)
        called[d] = at[d] + file->low[d];
    return strag_coordinates_text(called, file->grid.dims);
}

/* ---- Ranks with coordinates: a host for each position that is used ---- */

/* Check that each rank from 0 to count - 1 has one line. @param line_of  zero on entry, [rank] */
static int check_ranks(const struct coordinates *file, int *line_of)
{
    for (int i = 0; i < file->count; i++) {
        const struct entry *entry = &file->entries[i];
        if (entry->rank >= file->count)
            continue; /* then another rank is missing */
        if (line_of[entry->rank])
            return strag_source_fail(&file->source, entry->line,
                                     "rank %d is in line %d already; it can be in one place only",
                                     entry->rank, line_of[entry->rank]);
        line_of[entry->rank] = entry->line;
    }
    for (int rank = 0; rank < file->count; rank++) {
        if (!line_of[rank])
            return strag_source_fail(&file->source, file->entries[file->count - 1].line,
                                     "rank %d is missing; every rank from 0 on needs a line", rank);
    }
    return STRAG_OK;
}

/* @param positions  scratch, [entry]: the position and the entry */
static int add_positions(const struct coordinates *file, struct strag_draft *draft,
                         struct strag_pair *positions)
{
    struct strag_layout *layout = draft->layout;
    int status = STRAG_OK;
    for (int i = 0; i < file->count; i++)
        positions[i] = (struct strag_pair){strag_grid_position(&file->grid, entry_at(file, i)), i};
    qsort(positions, (size_t)file->count, sizeof *positions, strag_compare_pair);
    for (int i = 0; i < file->count && status == STRAG_OK; i++) {
        const struct entry *entry = &file->entries[positions[i].second];
        const int *at = entry_at(file, positions[i].second);
        if (i == 0 || positions[i].first != positions[i - 1].first)
            status = strag_draft_host(draft, position_name(file, at).text, entry->line,
                                      positions[i].first);
        if (status == STRAG_OK) {
            layout->rank_host[entry->rank] = layout->nhosts - 1;
            layout->hosts[layout->nhosts - 1].ranks++;
        }
    }
    layout->nranks = file->count;
    return status;
}

static int add_ranks(const struct coordinates *file, struct strag_draft *draft)
{
    size_t count = (size_t)file->count;
    struct strag_pair *positions = calloc(count, sizeof *positions);
    /* rank_host has the ranks' lines at first, and then their hosts. */
    int *rank_host = draft->layout->rank_host = calloc(count, sizeof *rank_host);
    int status =
        positions && rank_host ? check_ranks(file, rank_host) : strag_source_memory(&draft->source);
    if (status == STRAG_OK)
        status = add_positions(file, draft, positions);
    free(positions);
    return status;
}

static int fill(struct strag_draft *draft, void *from)
{
    struct coordinates *file = from;
    int status = STRAG_OK;
    if (!file->header)
        status = strag_source_contain(&file->source, file->at, file->count, &file->grid, file->low);
    draft->layout->grid = file->grid;
    if (status != STRAG_OK)
        return status;
    return file->ranks ? add_ranks(file, draft) : add_hosts(file, draft);
}

int strag_layout_parse_coordinates(const char *text, size_t length, const char *name,
                                   struct strag_layout **layout, struct strag_error *err)
{
    struct coordinates file = {.source = {name, err}};
    int status = strag_source_text(&file.source, &text, &length);
    if (status == STRAG_OK)
        status = read_lines(&file, text, length);
    if (status == STRAG_OK)
        status =
            strag_layout_build(&file.source, file.header ? file.grid.network : STRAG_NETWORK_TORUS,
                               fill, &file, layout);
    for (int i = 0; i < file.count; i++)
        free(file.entries[i].name);
    free(file.entries);
    free(file.at);
    return status;
}
