/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading YAML event by event, with libyaml.
 */
#include "machine/layout_yaml.h"

#include "base/parse.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

/* ---- Events ---- */

int strag_yaml_line(const struct strag_yaml *yaml)
{
    return (int)yaml->event.start_mark.line + 1;
}

/* The reader runs ahead of the events: it tells a byte, not a line. */
static int line_of_byte(const struct strag_yaml *yaml, size_t offset)
{
    int line = 1;
    for (size_t i = 0; i < offset && i < yaml->length; i++)
        line += yaml->text[i] == '\n';
    return line;
}

static int fail_parser(struct strag_yaml *yaml)
{
    const yaml_parser_t *parser = &yaml->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return strag_source_memory(&yaml->source);
    int line = parser->error == YAML_READER_ERROR ? line_of_byte(yaml, parser->problem_offset)
                                                  : (int)parser->problem_mark.line + 1;
    return strag_source_fail(&yaml->source, line, "not YAML: %s",
                             parser->problem ? parser->problem : "unreadable");
}

int strag_yaml_next(struct strag_yaml *yaml)
{
    yaml_event_delete(&yaml->event);
    if (!yaml_parser_parse(&yaml->parser, &yaml->event)) {
        yaml->event = (yaml_event_t){.type = YAML_NO_EVENT};
        return fail_parser(yaml);
    }
    const yaml_event_t *event = &yaml->event;
    bool anchor = (event->type == YAML_SCALAR_EVENT && event->data.scalar.anchor) ||
                  (event->type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.anchor) ||
                  (event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.anchor);
    if (anchor || event->type == YAML_ALIAS_EVENT)
        return strag_source_fail(&yaml->source, strag_yaml_line(yaml),
                                 "anchors (&) and aliases (*) are not accepted");
    return STRAG_OK;
}

int strag_yaml_skip(struct strag_yaml *yaml, void *target)
{
    (void)target;
    for (int depth = 0;;) {
        yaml_event_type_t type = yaml->event.type;
        depth += type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT;
        depth -= type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT;
        if (depth == 0)
            return STRAG_OK;
        int status = strag_yaml_next(yaml);
        if (status != STRAG_OK)
            return status;
    }
}

/* ---- Mappings, lists, values ---- */

static const struct strag_yaml_key *find_key(const struct strag_yaml_key *keys, const char *name)
{
    for (; keys->name; keys++) {
        if (strcmp(keys->name, name) == 0)
            break;
    }
    return keys;
}

static int fail_key(const struct strag_yaml *yaml, const char *what,
                    const struct strag_yaml_key *keys, const char *name)
{
    char known[120] = "";
    size_t used = 0;
    for (; keys->name && used + strlen(keys->name) + 3 < sizeof known; keys++) {
        const char *parts[] = {used ? ", " : "", keys->name};
        for (int i = 0; i < 2; i++) {
            for (const char *c = parts[i]; *c; c++)
                known[used++] = *c;
        }
    }
    return strag_source_fail(&yaml->source, strag_yaml_line(yaml),
                             "a %s has no key '%s'; it has %s", what, strag_quoted(name).text,
                             known);
}

/* The key at hand and its value. @param[in,out] seen  a bit for each key */
static int read_key(struct strag_yaml *yaml, const char *what, const struct strag_yaml_key *keys,
                    unsigned *seen, void *target)
{
    if (yaml->event.type != YAML_SCALAR_EVENT)
        return strag_source_fail(&yaml->source, strag_yaml_line(yaml),
                                 "a key of a %s is not a word", what);
    const char *name = (const char *)yaml->event.data.scalar.value;
    const struct strag_yaml_key *key = find_key(keys, name);
    if (!key->name)
        return fail_key(yaml, what, keys, name);
    unsigned bit = 1U << (key - keys);
    if (*seen & bit)
        return strag_source_fail(&yaml->source, strag_yaml_line(yaml), "%s is given twice",
                                 key->name);
    *seen |= bit;
    yaml->key = key->name;
    int status = strag_yaml_next(yaml);
    return status == STRAG_OK ? key->read(yaml, (char *)target + key->offset) : status;
}

int strag_yaml_mapping(struct strag_yaml *yaml, const char *what, const struct strag_yaml_key *keys,
                       void *target)
{
    if (yaml->event.type != YAML_MAPPING_START_EVENT)
        return strag_source_fail(&yaml->source, strag_yaml_line(yaml),
                                 "a %s is needed here: a mapping with the key %s", what,
                                 keys->name);
    unsigned seen = 0;
    int status = strag_yaml_next(yaml);
    while (status == STRAG_OK && yaml->event.type != YAML_MAPPING_END_EVENT) {
        status = read_key(yaml, what, keys, &seen, target);
        if (status == STRAG_OK)
            status = strag_yaml_next(yaml);
    }
    return status;
}

int strag_yaml_list(struct strag_yaml *yaml, const char *what, strag_yaml_reader *reader,
                    void *target)
{
    if (yaml->event.type != YAML_SEQUENCE_START_EVENT)
        return strag_source_fail(&yaml->source, strag_yaml_line(yaml),
                                 "a list of %s is needed here", what);
    int status = strag_yaml_next(yaml);
    while (status == STRAG_OK && yaml->event.type != YAML_SEQUENCE_END_EVENT) {
        status = reader(yaml, target);
        if (status == STRAG_OK)
            status = strag_yaml_next(yaml);
    }
    return status;
}

/* The value at hand; NULL: it is none, or has a NUL in it. */
static const char *scalar(const struct strag_yaml *yaml)
{
    if (yaml->event.type != YAML_SCALAR_EVENT)
        return NULL;
    const char *value = (const char *)yaml->event.data.scalar.value;
    return strlen(value) == yaml->event.data.scalar.length ? value : NULL;
}

static int fail_value(const struct strag_yaml *yaml, const char *needed)
{
    const char *value = scalar(yaml);
    return strag_source_fail(&yaml->source, strag_yaml_line(yaml), "%s: %s is needed, not '%s'",
                             yaml->key, needed,
                             value ? strag_quoted(value).text : "a list or a mapping");
}

int strag_yaml_text(struct strag_yaml *yaml, void *target)
{
    struct strag_text *text = target;
    const char *value = scalar(yaml);
    if (!value || !*value)
        return fail_value(yaml, "text");
    text->line = strag_yaml_line(yaml);
    text->text = strag_text_copy(value, strlen(value));
    return text->text ? STRAG_OK : strag_source_memory(&yaml->source);
}

int strag_yaml_integer(struct strag_yaml *yaml, void *target)
{
    const char *value = scalar(yaml);
    if (value && strag_parse_integer(value, 0, INT32_MAX, target, NULL) == STRAG_OK)
        return STRAG_OK;
    return fail_value(yaml, "a number");
}

int strag_yaml_bool(struct strag_yaml *yaml, void *target)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    bool *truth = target;
    const char *value = scalar(yaml);
    for (size_t i = 0; value && i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(value, words[i]) == 0) {
            *truth = i % 2;
            return STRAG_OK;
        }
    }
    return fail_value(yaml, "true or false");
}

int strag_yaml_gbit(struct strag_yaml *yaml, void *target)
{
    const char *value = scalar(yaml);
    if (!value)
        return fail_value(yaml, "a number of Gbit/s");
    return strag_source_gbit(&yaml->source, strag_yaml_line(yaml), value, target);
}

/* ---- The file ---- */

/* Everything between the start of the stream and its end: one document. */
static int read_stream(struct strag_yaml *yaml, strag_yaml_reader *reader, void *target)
{
    int status = strag_yaml_next(yaml); /* the stream begins */
    if (status == STRAG_OK)
        status = strag_yaml_next(yaml);
    if (status == STRAG_OK && yaml->event.type != YAML_DOCUMENT_START_EVENT)
        return strag_source_fail(&yaml->source, strag_yaml_line(yaml), "nothing is described");
    if (status == STRAG_OK)
        status = strag_yaml_next(yaml);
    if (status == STRAG_OK)
        status = reader(yaml, target);
    if (status == STRAG_OK)
        status = strag_yaml_next(yaml); /* the document ends */
    if (status == STRAG_OK)
        status = strag_yaml_next(yaml);
    if (status == STRAG_OK && yaml->event.type != YAML_STREAM_END_EVENT)
        return strag_source_fail(&yaml->source, strag_yaml_line(yaml),
                                 "a second document; one is accepted");
    return status;
}

int strag_yaml_read(const struct strag_source *source, const char *text, size_t length,
                    strag_yaml_reader *reader, void *target)
{
    if (length > INT_MAX - 1)
        return strag_source_fail(source, 0, "more than %d bytes", INT_MAX - 1);
    struct strag_yaml yaml = {.source = *source, .text = text, .length = length};
    if (!yaml_parser_initialize(&yaml.parser))
        return strag_source_memory(source);
    yaml_parser_set_input_string(&yaml.parser, (const unsigned char *)text, length);
    yaml_parser_set_encoding(&yaml.parser, YAML_UTF8_ENCODING);
    int status = read_stream(&yaml, reader, target);
    yaml_event_delete(&yaml.event);
    yaml_parser_delete(&yaml.parser);
    return status;
}
