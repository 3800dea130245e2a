/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coordinates file: a line "NAME: a b c" for every host, or "RANK: a b c" for every rank (MPICH's
 * form), and perhaps a first line that says what the grid is:
 *
 *     torus 8x8x4          mesh 4x4          hyperx 8x8          hammingmesh 2x2:8x8
 *
 * Without it the grid is the mesh that just contains the coordinates.
 */
#include "machine/layout_internal.h"

#include "base/parse.h"

#include <stdlib.h>
#include <string.h>

/* A host's or a rank's line. */
struct place {
    int line;
    char *name; /* a host's; NULL: a rank's line */
    int rank;
};

struct coordinates {
    struct strag_source source;
    bool header;
    struct strag_grid grid;
    int count, places_room, at_room;
    struct place *places;
    int *at;   /* grid.dims of each place */
    int ranks; /* how many lines are ranks' */
};

/* ---- Lines ---- */

/* The first word. @return its length */
static size_t word_length(const struct strag_line *line)
{
    size_t length = 0;
    while (length < line->length && !strag_blank(line->text[length]))
        length++;
    return length;
}

static bool is_word(const struct strag_line *line, const char *word)
{
    return word_length(line) == strlen(word) && memcmp(line->text, word, strlen(word)) == 0;
}

/* "torus 8x8x4". @param[out] found  false: the line is none of this kind */
static int read_header(struct coordinates *file, const struct strag_line *line, bool *found)
{
    struct strag_grid *grid = &file->grid;
    bool wraps = is_word(line, "torus");
    *found = true;
    grid->network = STRAG_NETWORK_TORUS;
    if (is_word(line, "hyperx"))
        grid->network = STRAG_NETWORK_HYPERX;
    else if (is_word(line, "hammingmesh"))
        grid->network = STRAG_NETWORK_HAMMINGMESH;
    else if (!wraps && !is_word(line, "mesh"))
        *found = false;
    if (!*found)
        return STRAG_OK;
    size_t skip = word_length(line);
    while (skip < line->length && strag_blank(line->text[skip]))
        skip++;
    const char *text = line->text + skip;
    size_t length = line->length - skip;
    file->header = true;
    if (grid->network == STRAG_NETWORK_HAMMINGMESH)
        return strag_source_hammingmesh(&file->source, line->number, text, length, grid);
    int status =
        strag_source_dims(&file->source, line->number, text, length, grid->size, &grid->dims);
    for (int i = 0; i < grid->dims; i++)
        grid->wrap[i] = wraps;
    return status;
}

/* "1 0 2". @return how many; -1: that is something else */
static int read_numbers(const char *text, size_t length, int *at)
{
    int count = 0;
    for (size_t i = 0; i < length;) {
        if (strag_blank(text[i])) {
            i++;
            continue;
        }
        int64_t value = 0;
        size_t begin = i;
        for (; i < length && text[i] >= '0' && text[i] <= '9' && value <= INT32_MAX; i++)
            value = 10 * value + (text[i] - '0');
        if (i == begin || value > INT32_MAX - 1 || count == STRAG_DIMS_MAX ||
            (i < length && !strag_blank(text[i])))
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

static int add_place(struct coordinates *file, const struct place *place, const int *at)
{
    int dims = file->grid.dims;
    struct place *places =
        strag_array_grow(file->places, &file->places_room, file->count + 1, sizeof *places);
    file->places = places ? places : file->places;
    int *all = strag_array_grow(file->at, &file->at_room, (file->count + 1) * dims, sizeof *all);
    file->at = all ? all : file->at;
    if (!places || !all) {
        free(place->name);
        return strag_source_memory(&file->source);
    }
    for (int i = 0; i < dims; i++)
        file->at[(size_t)file->count * (size_t)dims + (size_t)i] = at[i];
    file->places[file->count++] = *place;
    return STRAG_OK;
}

/* A host's name, or a rank's number; all lines are of one kind. */
static int read_name(struct coordinates *file, const struct strag_line *line, size_t length,
                     struct place *place)
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
    place->line = line->number;
    if (!rank) {
        int status = strag_source_name(&file->source, line->number, line->text, length);
        if (status != STRAG_OK)
            return status;
    }
    place->name = strag_text_copy(line->text, length);
    if (!place->name)
        return strag_source_memory(&file->source);
    if (!rank)
        return STRAG_OK;
    int status = strag_parse_integer(place->name, 0, STRAG_LAYOUT_MAX - 1, &place->rank, NULL);
    free(place->name);
    place->name = NULL;
    file->ranks++;
    if (status != STRAG_OK)
        return strag_source_fail(&file->source, line->number, "'%s' is not a rank from 0 to %d",
                                 strag_quote(line->text, length).text, STRAG_LAYOUT_MAX - 1);
    return STRAG_OK;
}

static int read_place(struct coordinates *file, const struct strag_line *line)
{
    /* The last colon, for names may contain others. */
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
    int status = check_inside(file, line->number, at, dims);
    if (status != STRAG_OK)
        return status;
    struct place place = {0};
    status = read_name(file, line, length, &place);
    return status == STRAG_OK ? add_place(file, &place, at) : status;
}

static int read_lines(struct coordinates *file, const char *text, size_t length)
{
    struct strag_line line = {.number = 0};
    while (strag_next_line(&text, &length, &line)) {
        bool header = false;
        int status = STRAG_OK;
        if (file->count == 0 && !file->header)
            status = read_header(file, &line, &header);
        if (status == STRAG_OK && !header)
            status = read_place(file, &line);
        if (status != STRAG_OK)
            return status;
    }
    if (file->count == 0)
        return strag_source_fail(&file->source, line.number > 0 ? line.number : 1,
                                 "no host or rank has coordinates; lines NAME: a b c are needed");
    return STRAG_OK;
}

static int position_of(const struct coordinates *file, const int *low, int place)
{
    return strag_grid_place(&file->grid, low, file->at + (size_t)place * (size_t)file->grid.dims);
}

/* ---- Hosts with coordinates ---- */

static int place_hosts(struct coordinates *file, const int *low, struct strag_draft *draft)
{
    for (int i = 0; i < file->count; i++) {
        char *name = file->places[i].name;
        file->places[i].name = NULL; /* the draft's */
        int status = strag_draft_host(draft, name, file->places[i].line, position_of(file, low, i));
        if (status != STRAG_OK)
            return status;
    }
    return STRAG_OK;
}

/* ---- Ranks with coordinates: a host for each position that is used ---- */

struct seat {
    int position, rank, place;
};

static int compare_seats(const void *a, const void *b)
{
    const struct seat *left = a, *right = b;
    if (left->position != right->position)
        return left->position < right->position ? -1 : 1;
    return left->rank < right->rank ? -1 : left->rank > right->rank;
}

/* Every rank from 0 to count - 1 has one line. @param line_of  zero on entry, [rank] */
static int check_ranks(const struct coordinates *file, int *line_of)
{
    for (int i = 0; i < file->count; i++) {
        const struct place *place = &file->places[i];
        if (place->rank >= file->count)
            continue; /* then another one is missing */
        if (line_of[place->rank])
            return strag_source_fail(&file->source, place->line,
                                     "rank %d is in line %d already; it can be in one place only",
                                     place->rank, line_of[place->rank]);
        line_of[place->rank] = place->line;
    }
    for (int rank = 0; rank < file->count; rank++) {
        if (!line_of[rank])
            return strag_source_fail(&file->source, file->places[file->count - 1].line,
                                     "rank %d is missing; every rank from 0 on needs a line", rank);
    }
    return STRAG_OK;
}

static int seat_ranks(const struct coordinates *file, const int *low, struct strag_draft *draft,
                      struct seat *seats)
{
    struct strag_layout *layout = draft->layout;
    int dims = file->grid.dims;
    for (int i = 0; i < file->count; i++)
        seats[i] = (struct seat){position_of(file, low, i), file->places[i].rank, i};
    qsort(seats, (size_t)file->count, sizeof *seats, compare_seats);
    for (int i = 0; i < file->count; i++) {
        if (i == 0 || seats[i].position != seats[i - 1].position) {
            char *name = strag_coordinates_name(&file->at[seats[i].place * dims], dims);
            int status =
                strag_draft_host(draft, name, file->places[seats[i].place].line, seats[i].position);
            if (status != STRAG_OK)
                return status;
        }
        layout->rank_host[seats[i].rank] = layout->nhosts - 1;
        layout->hosts[layout->nhosts - 1].ranks++;
    }
    layout->nranks = file->count;
    return STRAG_OK;
}

static int place_ranks(const struct coordinates *file, const int *low, struct strag_draft *draft)
{
    size_t count = (size_t)file->count;
    struct seat *seats = calloc(count, sizeof *seats);
    /* Lines first, then each rank's host. */
    int *rank_host = draft->layout->rank_host = calloc(count, sizeof *rank_host);
    int status =
        seats && rank_host ? check_ranks(file, rank_host) : strag_source_memory(&draft->source);
    if (status == STRAG_OK)
        status = seat_ranks(file, low, draft, seats);
    free(seats);
    return status;
}

static int build(struct coordinates *file, struct strag_layout **layout)
{
    int low[STRAG_DIMS_MAX] = {0};
    int status = STRAG_OK;
    if (!file->header)
        status = strag_source_contain(&file->source, file->at, file->count, &file->grid, low);
    if (status != STRAG_OK)
        return status;
    struct strag_draft draft;
    status = strag_draft_start(&draft, &file->source, file->grid.network);
    if (status == STRAG_OK) {
        draft.layout->grid = file->grid;
        status = file->ranks ? place_ranks(file, low, &draft) : place_hosts(file, low, &draft);
    }
    if (status == STRAG_OK)
        status = strag_draft_finish_grid(&draft, layout);
    strag_draft_free(&draft);
    return status;
}

int strag_layout_parse_coordinates(const char *text, size_t length, const char *name,
                                   struct strag_layout **layout, struct strag_error *err)
{
    struct coordinates file = {.source = {name, err}};
    int status = strag_source_text(&file.source, &text, &length);
    if (status == STRAG_OK)
        status = read_lines(&file, text, length);
    if (status == STRAG_OK)
        status = build(&file, layout);
    for (int i = 0; i < file.count; i++)
        free(file.places[i].name);
    free(file.places);
    free(file.at);
    return status;
}
