/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slurm's topology.conf: lines KEY=VALUE KEY=VALUE ..., one for each switch, block or ring.
 *
 * As in Slurm, keys may be in any case, `#` begins a comment, a line that ends with a backslash
 * continues in the next one, and values may stand in double quotes. LinkSpeed, which Slurm does not
 * use, is the bandwidth of the switch's uplink in Gbit/s.
 */
#include "machine/layout_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum key {
    KEY_SWITCH_NAME,
    KEY_BLOCK_NAME,
    KEY_RING_NAME,
    KEY_BLOCK_SIZES,
    KEY_SWITCHES,
    KEY_NODES,
    KEY_LINK_SPEED,
    KEYS
};

static const char *const key_name[KEYS] = {
    "SwitchName", "BlockName", "RingName", "BlockSizes", "Switches", "Nodes", "LinkSpeed",
};

/* A line's values; pieces of its text. */
struct values {
    struct value {
        const char *text; /* NULL: not given */
        size_t length;
    } of[KEYS];
};

struct conf {
    struct strag_source source;
    struct strag_records records;
    int line; /* at hand */
    bool sizes;
};

/* ---- Lines ---- */

/*
 * Take a line with those that continue it off the text.
 *
 * @param joined  has room for the whole text
 * @param[in,out] next  the number of the next line
 * @return how long it is, without a comment
 */
static size_t join_lines(const char **text, size_t *length, char *joined, int *next)
{
    size_t used = 0;
    bool more = true;
    while (more && *length) {
        const char *end = memchr(*text, '\n', *length);
        size_t all = end ? (size_t)(end - *text) : *length;
        size_t line = all;
        while (line && (*text)[line - 1] == '\r')
            line--;
        more = line && (*text)[line - 1] == '\\';
        memcpy(joined + used, *text, line);
        used += line;
        if (more)
            joined[used - 1] = ' ';
        *text += end ? all + 1 : all;
        *length -= end ? all + 1 : all;
        ++*next;
    }
    const char *comment = memchr(joined, '#', used);
    return comment ? (size_t)(comment - joined) : used;
}

static bool key_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static int find_key(const char *text, size_t length)
{
    for (int key = 0; key < KEYS; key++) {
        if (strlen(key_name[key]) == length && strncasecmp(text, key_name[key], length) == 0)
            return key;
    }
    return KEYS;
}

static const char *skip_blanks(const char *text, const char *end)
{
    while (text < end && strag_blank(*text))
        text++;
    return text;
}

/* Take a value off the text: up to a blank, or between quotes. @return false: no closing quote */
static bool read_value(const char **text, const char *end, struct value *value)
{
    bool quotes = *text < end && **text == '"';
    const char *begin = *text + quotes;
    const char *stop = begin;
    while (stop < end && (quotes ? *stop != '"' : !strag_blank(*stop)))
        stop++;
    if (quotes && stop == end)
        return false;
    *value = (struct value){begin, (size_t)(stop - begin)};
    *text = stop + quotes;
    return true;
}

/* Take KEY=VALUE off the text. */
static int read_pair(const struct conf *conf, const char **text, const char *end,
                     struct values *values)
{
    const char *name = *text;
    while (*text < end && key_character(**text))
        ++*text;
    size_t length = (size_t)(*text - name);
    *text = skip_blanks(*text, end);
    if (length == 0 || *text == end || **text != '=')
        return strag_source_fail(&conf->source, conf->line,
                                 "'%s' where KEY=VALUE is needed, like SwitchName=s1 Nodes=n[1-4]",
                                 strag_quote(name, (size_t)(end - name)).text);
    int key = find_key(name, length);
    if (key == KEYS)
        return strag_source_fail(&conf->source, conf->line,
                                 "the key %s is not known; SwitchName, Switches, Nodes, LinkSpeed, "
                                 "BlockName, BlockSizes and RingName are",
                                 strag_quote(name, length).text);
    *text = skip_blanks(*text + 1, end);
    if (values->of[key].text)
        return strag_source_fail(&conf->source, conf->line, "%s is given twice", key_name[key]);
    if (!read_value(text, end, &values->of[key]))
        return strag_source_fail(&conf->source, conf->line, "%s has an opening quote only",
                                 key_name[key]);
    if (values->of[key].length == 0)
        return strag_source_fail(&conf->source, conf->line, "%s has no value", key_name[key]);
    return STRAG_OK;
}

/* ---- The meaning of lines ---- */

static int read_sizes(struct conf *conf, const struct value *value)
{
    if (conf->sizes)
        return strag_source_fail(&conf->source, conf->line, "BlockSizes is given twice");
    conf->sizes = true;
    int sizes[32];
    int count = 0;
    const char *text = value->text, *end = value->text + value->length;
    for (bool more = true; more; text++) {
        int64_t size;
        bool good = strag_next_number(&text, end, INT32_MAX, &size) && size > 0 &&
                    count < (int)(sizeof sizes / sizeof *sizes) && (text == end || *text == ',');
        if (!good)
            return strag_source_fail(&conf->source, conf->line,
                                     "BlockSizes=%s: numbers between commas are needed, like 4,8",
                                     strag_quote(value->text, value->length).text);
        sizes[count++] = (int)size;
        more = text < end;
    }
    return strag_block_sizes_check(&conf->source, conf->line, sizes, count);
}

/* A file has switches, blocks or rings, as its first line does. */
static int check_kind(struct conf *conf, const struct values *values, enum key *kind)
{
    static const char *const what[] = {"switch", "block", "ring"};
    int given = 0;
    for (int key = KEY_SWITCH_NAME; key <= KEY_RING_NAME; key++) {
        if (values->of[key].text) {
            given++;
            *kind = (enum key)key;
        }
    }
    if (given != 1)
        return strag_source_fail(&conf->source, conf->line,
                                 "a line needs one of SwitchName, BlockName and RingName");
    if (conf->records.what && conf->records.what != what[*kind])
        return strag_source_fail(&conf->source, conf->line,
                                 "a %s beside a %s; a file describes one kind", what[*kind],
                                 conf->records.what);
    conf->records.what = what[*kind];
    if (*kind != KEY_SWITCH_NAME && (values->of[KEY_SWITCHES].text))
        return strag_source_fail(&conf->source, conf->line, "a %s has no Switches; it has Nodes",
                                 what[*kind]);
    return STRAG_OK;
}

/* A copy; *failed says whether memory ran out. */
static struct strag_text copy_value(const struct conf *conf, const struct value *value,
                                    bool *failed)
{
    if (!value->text)
        return (struct strag_text){NULL, 0};
    char *copy = strag_text_copy(value->text, value->length);
    *failed |= !copy;
    return (struct strag_text){copy, conf->line};
}

static int add_record(struct conf *conf, const struct values *values)
{
    enum key kind = KEY_SWITCH_NAME;
    int status = check_kind(conf, values, &kind);
    double uplink = 0;
    const struct value *speed = &values->of[KEY_LINK_SPEED];
    if (status == STRAG_OK && speed->text) {
        char number[40];
        snprintf(number, sizeof number, "%.*s", (int)speed->length, speed->text);
        if (strcmp(number, "0") != 0) /* not given */
            status = strag_source_gbit(&conf->source, conf->line, number, &uplink);
    }
    if (status != STRAG_OK)
        return status;

    bool failed = false;
    struct strag_record record = {
        .name = copy_value(conf, &values->of[kind], &failed),
        .children = copy_value(conf, &values->of[KEY_SWITCHES], &failed),
        .nodes = copy_value(conf, &values->of[KEY_NODES], &failed),
        .uplink = uplink,
    };
    if (!failed)
        return strag_records_add(&conf->records, &conf->source, &record);
    strag_record_free(&record);
    return strag_source_memory(&conf->source);
}

static int read_line(struct conf *conf, const char *text, size_t length)
{
    const char *end = text + length;
    struct values values = {0};
    text = skip_blanks(text, end);
    if (text == end)
        return STRAG_OK;
    while (text < end) {
        int status = read_pair(conf, &text, end, &values);
        if (status != STRAG_OK)
            return status;
        text = skip_blanks(text, end);
    }
    bool sizes = values.of[KEY_BLOCK_SIZES].text != NULL;
    for (int key = 0; key < KEYS; key++) {
        if (sizes && key != KEY_BLOCK_SIZES && values.of[key].text)
            return strag_source_fail(&conf->source, conf->line,
                                     "%s beside BlockSizes, which needs a line of its own",
                                     key_name[key]);
    }
    return sizes ? read_sizes(conf, &values.of[KEY_BLOCK_SIZES]) : add_record(conf, &values);
}

static int read_lines(struct conf *conf, const char *text, size_t length)
{
    char *joined = malloc(length + 1);
    if (!joined)
        return strag_source_memory(&conf->source);
    int status = STRAG_OK;
    for (int next = 1; length && status == STRAG_OK;) {
        conf->line = next;
        size_t used = join_lines(&text, &length, joined, &next);
        status = read_line(conf, joined, used);
    }
    free(joined);
    if (status == STRAG_OK && conf->records.count == 0)
        return strag_source_fail(&conf->source, conf->line > 0 ? conf->line : 1,
                                 "nothing is described; lines like SwitchName=s1 Nodes=n[1-4] are "
                                 "needed");
    return status;
}

int strag_layout_parse_conf(const char *text, size_t length, const char *name,
                            struct strag_layout **layout, struct strag_error *err)
{
    struct conf conf = {.source = {name, err}};
    int status = strag_source_text(&conf.source, &text, &length);
    if (status == STRAG_OK)
        status = read_lines(&conf, text, length);
    if (status == STRAG_OK)
        status = strag_records_build(&conf.records, &conf.source, layout);
    strag_records_free(&conf.records);
    return status;
}
