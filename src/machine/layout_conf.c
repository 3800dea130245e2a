/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slurm's topology.conf: a line KEY=VALUE KEY=VALUE ... for each switch, block or ring.
 *
 * As in Slurm, keys may be in any case, `#` begins a comment, a line that ends with a backslash
 * continues in the next one, and values may stand in double quotes. LinkSpeed, which Slurm does not
 * use, is the bandwidth of a switch's uplink in Gbit/s; for the root it is that of the links
 * between each two of its children (topology.h).
 */
#include "machine/layout_internal.h"

#include <ctype.h>
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

/* A line's values, which point into its text; NULL if not given. */
struct values {
    const char *of[KEYS];
};

struct conf {
    struct strag_source source;
    struct strag_records records;
    int line; /* the current one */
    bool sizes;
};

#define fail_line(conf, ...) strag_source_fail(&(conf)->source, (conf)->line, __VA_ARGS__)

/* ---- Lines ---- */

/*
 * Take a line off the text, with the lines that continue it, and without its comment.
 *
 * @param joined  has room for the whole text and a NUL
 * @param[in,out] next  the number of the next line
 */
static void join_lines(const char **text, size_t *length, char *joined, int *next)
{
    char *end = joined;
    for (bool more = true; more && *length; ++*next) {
        const char *newline = memchr(*text, '\n', *length);
        size_t all = newline ? (size_t)(newline - *text) : *length, line = all;
        while (line && (*text)[line - 1] == '\r')
            line--;
        more = line && (*text)[line - 1] == '\\';
        memcpy(end, *text, line);
        end += line;
        if (more)
            end[-1] = ' ';
        *text += all + (newline != NULL);
        *length -= all + (newline != NULL);
    }
    *end = '\0';
    joined[strcspn(joined, "#")] = '\0';
}

static const char blanks[] = " \t\r";

/* Take a value off the text: up to a blank, or between quotes. @return NULL if not closed */
static const char *read_value(char **text)
{
    bool quotes = **text == '"';
    char *value = *text + quotes;
    size_t length = strcspn(value, quotes ? "\"" : blanks);
    if (quotes && !value[length])
        return NULL;
    *text = value + length + (value[length] != '\0');
    value[length] = '\0';
    return value;
}

/* Take KEY=VALUE off the text. */
static int read_pair(const struct conf *conf, char **text, struct values *values)
{
    const char *name = *text;
    int key = 0;
    while (isalnum((unsigned char)**text) || **text == '_')
        ++*text;
    size_t length = (size_t)(*text - name);
    *text += strspn(*text, blanks);
    if (length == 0 || **text != '=')
        return fail_line(conf, "'%s' where KEY=VALUE is needed, like SwitchName=s1 Nodes=n[1-4]",
                         strag_quoted(name).text);
    while (key < KEYS &&
           (strlen(key_name[key]) != length || strncasecmp(name, key_name[key], length) != 0))
        key++;
    if (key == KEYS)
        return fail_line(conf,
                         "the key %s is not known; SwitchName, Switches, Nodes, LinkSpeed, "
                         "BlockName, BlockSizes and RingName are",
                         strag_quote(name, length).text);
    ++*text;
    *text += strspn(*text, blanks);
    if (values->of[key])
        return fail_line(conf, "%s is given twice", key_name[key]);
    values->of[key] = read_value(text);
    if (!values->of[key])
        return fail_line(conf, "%s has an opening quote only", key_name[key]);
    if (!*values->of[key])
        return fail_line(conf, "%s has no value", key_name[key]);
    return STRAG_OK;
}

/* ---- The meaning of lines ---- */

static int read_sizes(struct conf *conf, const char *value)
{
    if (conf->sizes)
        return fail_line(conf, "BlockSizes is given twice");
    conf->sizes = true;
    struct strag_block_sizes sizes = {0, 0};
    const char *text = value, *end = value + strlen(value);
    for (bool more = true; more; text++) {
        int64_t size;
        if (!strag_next_number(&text, end, INT32_MAX, &size) || size == 0 ||
            (text < end && *text != ','))
            return fail_line(conf, "BlockSizes=%s: numbers between commas are needed, like 4,8",
                             strag_quoted(value).text);
        int status = strag_block_sizes_add(&conf->source, conf->line, &sizes, (int)size);
        if (status != STRAG_OK)
            return status;
        more = text < end;
    }
    return STRAG_OK;
}

/* Check that all lines have the kind of the first one: switches, blocks or rings. */
static int check_kind(struct conf *conf, const struct values *values, enum key *kind)
{
    static const char *const what[] = {"switch", "block", "ring"};
    int given = 0;
    for (int key = KEY_SWITCH_NAME; key <= KEY_RING_NAME; key++) {
        if (values->of[key]) {
            given++;
            *kind = (enum key)key;
        }
    }
    if (given != 1)
        return fail_line(conf, "a line needs one of SwitchName, BlockName and RingName");
    if (conf->records.what && conf->records.what != what[*kind])
        return fail_line(conf, "a %s next to a %s; a file describes one kind", what[*kind],
                         conf->records.what);
    conf->records.what = what[*kind];
    if (*kind != KEY_SWITCH_NAME && values->of[KEY_SWITCHES])
        return fail_line(conf, "a %s has no Switches; it has Nodes", what[*kind]);
    return STRAG_OK;
}

/* Copy a value; sets *failed if out of memory. */
static struct strag_text copy_value(const struct conf *conf, const char *value, bool *failed)
{
    char *copy = value ? strag_text_copy(value, strlen(value)) : NULL;
    *failed |= value && !copy;
    return (struct strag_text){copy, value ? conf->line : 0};
}

static int add_record(struct conf *conf, const struct values *values)
{
    enum key kind = KEY_SWITCH_NAME;
    int status = check_kind(conf, values, &kind);
    double uplink = 0;
    const char *speed = values->of[KEY_LINK_SPEED];
    if (status == STRAG_OK && speed && strcmp(speed, "0") != 0) /* 0 counts as not given */
        status = strag_source_gbit(&conf->source, conf->line, speed, &uplink);
    if (status != STRAG_OK)
        return status;

    bool failed = false;
    struct strag_record record = {
        .name = copy_value(conf, values->of[kind], &failed),
        .children = copy_value(conf, values->of[KEY_SWITCHES], &failed),
        .nodes = copy_value(conf, values->of[KEY_NODES], &failed),
        .uplink = uplink,
    };
    if (!failed)
        return strag_records_add(&conf->records, &conf->source, &record);
    strag_record_free(&record);
    return strag_source_memory(&conf->source);
}

static int read_line(struct conf *conf, char *text)
{
    struct values values = {0};
    text += strspn(text, blanks);
    if (!*text)
        return STRAG_OK;
    while (*text) {
        int status = read_pair(conf, &text, &values);
        if (status != STRAG_OK)
            return status;
        text += strspn(text, blanks);
    }
    const char *sizes = values.of[KEY_BLOCK_SIZES];
    for (int key = 0; key < KEYS; key++) {
        if (sizes && key != KEY_BLOCK_SIZES && values.of[key])
            return fail_line(conf, "%s next to BlockSizes, which needs a line of its own",
                             key_name[key]);
    }
    return sizes ? read_sizes(conf, sizes) : add_record(conf, &values);
}

static int read_lines(struct conf *conf, const char *text, size_t length)
{
    char *joined = malloc(length + 1);
    if (!joined)
        return strag_source_memory(&conf->source);
    int status = STRAG_OK;
    for (int next = 1; length && status == STRAG_OK;) {
        conf->line = next;
        join_lines(&text, &length, joined, &next);
        status = read_line(conf, joined);
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
