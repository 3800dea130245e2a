/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/yaml.h"

#include "base/parse.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

/* The deepest nesting of lists and mappings: far more than any format needs, and safe with versions
 * of libyaml that recurse. */
enum { DEPTH_MAX = 100 };

static const double REAL_MAX = 1e18;

int strag_yaml_line(const yaml_node_t *node)
{
    return node->start_mark.line < INT_MAX ? (int)node->start_mark.line + 1 : INT_MAX;
}

/* ---- Values ---- */

const char *strag_yaml_scalar(const yaml_node_t *node)
{
    if (node->type != YAML_SCALAR_NODE)
        return NULL;
    const char *value = (const char *)node->data.scalar.value;
    return strlen(value) == node->data.scalar.length ? value : NULL;
}

int strag_yaml_fail_value(const struct strag_yaml *yaml, const yaml_node_t *node,
                          const char *needed)
{
    const char *value = strag_yaml_scalar(node);
    return strag_yaml_fail(yaml, node, "%s: %s is needed, not '%s'", yaml->key, needed,
                           value ? strag_quoted(value).text : "a list or a mapping");
}

int strag_yaml_skip(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    (void)yaml;
    (void)node;
    (void)target;
    return STRAG_OK;
}

int strag_yaml_text(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct strag_text *text = target;
    const char *value = strag_yaml_scalar(node);
    if (!value || !*value)
        return strag_yaml_fail_value(yaml, node, "text");
    text->line = strag_yaml_line(node);
    text->text = strag_text_copy(value, strlen(value));
    return text->text ? STRAG_OK : strag_source_memory(&yaml->source);
}

int strag_yaml_integer(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    const char *value = strag_yaml_scalar(node);
    if (value && strag_parse_integer(value, 0, INT32_MAX, target, NULL) == STRAG_OK)
        return STRAG_OK;
    return strag_yaml_fail_value(yaml, node, "a number");
}

int strag_yaml_value(const struct strag_yaml *yaml, const yaml_node_t *node, char *text)
{
    if (node->type != YAML_SCALAR_NODE)
        return strag_yaml_fail(yaml, node,
                               "a single value is expected here, not a list or a mapping");
    if (node->data.scalar.length >= STRAG_YAML_VALUE_MAX)
        return strag_yaml_fail(yaml, node, "the value is too long");
    for (size_t i = 0; i < node->data.scalar.length; i++) {
        unsigned char byte = node->data.scalar.value[i];
        text[i] = (char)(byte < ' ' || byte == 0x7f ? '?' : byte);
    }
    text[node->data.scalar.length] = '\0';
    return STRAG_OK;
}

int strag_yaml_word(struct strag_yaml *yaml, const yaml_node_t *node, const char *const *words,
                    int *found)
{
    char text[STRAG_YAML_VALUE_MAX], accepted[160] = "";
    int status = strag_yaml_value(yaml, node, text);
    if (status != STRAG_OK)
        return status;
    for (int w = 0; words[w]; w++) {
        if (strcmp(words[w], text) == 0) {
            *found = w;
            return STRAG_OK;
        }
        strag_append(accepted, sizeof accepted, "%s%s", w ? ", " : "", words[w]);
    }
    return strag_yaml_fail(yaml, node, "%s: no '%s'; accepted: %s", yaml->key, text, accepted);
}

int strag_yaml_real(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    const char *value = strag_yaml_scalar(node);
    if (value && strag_parse_real(value, 0, REAL_MAX, NULL, target, NULL) == STRAG_OK)
        return STRAG_OK;
    return strag_yaml_fail_value(yaml, node, "a number");
}

int strag_yaml_bool(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    const char *value = strag_yaml_scalar(node);
    for (size_t i = 0; value && i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(value, words[i]) == 0) {
            *(bool *)target = i % 2;
            return STRAG_OK;
        }
    }
    return strag_yaml_fail_value(yaml, node, "true or false");
}

int strag_yaml_version(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    char text[STRAG_YAML_VALUE_MAX];
    int status = strag_yaml_value(yaml, node, text);
    if (status == STRAG_OK && strcmp(text, "1") != 0)
        return strag_yaml_fail(yaml, node, "only version 1 of the format is known");
    *(bool *)target = true;
    return status;
}

/* ---- Mappings and lists ---- */

static int fail_key(const struct strag_yaml *yaml, const yaml_node_t *node, const char *what,
                    const struct strag_yaml_key *keys, const char *name)
{
    char known[320] = "";
    for (const struct strag_yaml_key *key = keys; key->name; key++)
        strag_append(known, sizeof known, "%s%s", key == keys ? "" : ", ", key->name);
    return strag_yaml_fail(yaml, node, "a %s has no key '%s'; it has %s", what,
                           strag_quoted(name).text, known);
}

int strag_yaml_mapping(struct strag_yaml *yaml, const yaml_node_t *node, const char *what,
                       const struct strag_yaml_key *keys, void *target)
{
    if (node->type != YAML_MAPPING_NODE)
        return strag_yaml_fail(yaml, node, "a %s is needed here: a mapping with the key %s", what,
                               keys->name);
    unsigned seen = 0; /* a bit for each key */
    int status = STRAG_OK;
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         status == STRAG_OK && pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name_node = yaml_document_get_node(&yaml->document, pair->key);
        const char *name = strag_yaml_scalar(name_node);
        if (!name)
            return strag_yaml_fail(yaml, name_node, "a key of a %s is not a word", what);
        const struct strag_yaml_key *key = keys;
        while (key->name && strcmp(key->name, name) != 0)
            key++;
        if (!key->name)
            return fail_key(yaml, name_node, what, keys, name);
        unsigned bit = 1U << (key - keys);
        if (seen & bit)
            return strag_yaml_fail(yaml, name_node, "%s is given twice", key->name);
        seen |= bit;
        yaml->key = key->name;
        status = key->read(yaml, yaml_document_get_node(&yaml->document, pair->value),
                           (char *)target + key->offset);
    }
    return status;
}

int strag_yaml_list(struct strag_yaml *yaml, const yaml_node_t *node, const char *what,
                    strag_yaml_reader *reader, void *target)
{
    if (node->type != YAML_SEQUENCE_NODE)
        return strag_yaml_fail(yaml, node, "a list of %s is needed here", what);
    int status = STRAG_OK;
    for (const yaml_node_item_t *item = node->data.sequence.items.start;
         status == STRAG_OK && item < node->data.sequence.items.top; item++)
        status = reader(yaml, yaml_document_get_node(&yaml->document, *item), target);
    return status;
}

/* ---- The file ---- */

struct file {
    const struct strag_source *source;
    const struct strag_yaml_format *format;
    const char *text;
    size_t length;
};

static int fail_parser(const struct file *file, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return strag_source_memory(file->source);
    int line = (int)parser->problem_mark.line + 1;
    if (parser->error == YAML_READER_ERROR) { /* its mark has no line: count to the byte */
        line = 1;
        for (size_t i = 0; i < parser->problem_offset && i < file->length; i++)
            line += file->text[i] == '\n';
    }
    return strag_source_fail(file->source, line, "not YAML: %s",
                             parser->problem ? parser->problem : "unreadable");
}

/* The change of depth by a token. */
static int step(yaml_token_type_t type)
{
    int opens = type == YAML_BLOCK_SEQUENCE_START_TOKEN || type == YAML_BLOCK_MAPPING_START_TOKEN ||
                type == YAML_FLOW_SEQUENCE_START_TOKEN || type == YAML_FLOW_MAPPING_START_TOKEN;
    int closes = type == YAML_BLOCK_END_TOKEN || type == YAML_FLOW_SEQUENCE_END_TOKEN ||
                 type == YAML_FLOW_MAPPING_END_TOKEN;
    return opens - closes;
}

/* Before libyaml loads the document, refuse great depth, and anchors and aliases, which a loaded
 * document does not show. */
static int check_tokens(const struct file *file, yaml_parser_t *parser, void *target)
{
    (void)target;
    int status = STRAG_OK, depth = 0;
    for (bool more = true; more && status == STRAG_OK;) {
        yaml_token_t token;
        if (!yaml_parser_scan(parser, &token))
            return fail_parser(file, parser);
        int line = (int)token.start_mark.line + 1;
        depth += step(token.type);
        more = token.type != YAML_STREAM_END_TOKEN;
        if (depth > DEPTH_MAX)
            status = strag_source_fail(
                file->source, line, "lists and mappings are nested more than %d deep", DEPTH_MAX);
        else if (!file->format->aliases &&
                 (token.type == YAML_ANCHOR_TOKEN || token.type == YAML_ALIAS_TOKEN))
            status = strag_source_fail(file->source, line,
                                       "anchors (&) and aliases (*) are not accepted");
        yaml_token_delete(&token);
    }
    return status;
}

/* Refuse a second document. */
static int check_end(const struct file *file, yaml_parser_t *parser)
{
    yaml_document_t second;
    if (!yaml_parser_load(parser, &second))
        return fail_parser(file, parser);
    bool found = yaml_document_get_root_node(&second);
    int line = (int)second.start_mark.line + 1;
    yaml_document_delete(&second);
    return found ? strag_source_fail(file->source, line, "a second document; one is accepted")
                 : STRAG_OK;
}

static int read_document(const struct file *file, yaml_parser_t *parser, void *target)
{
    struct strag_yaml yaml = {.source = *file->source};
    if (!yaml_parser_load(parser, &yaml.document))
        return fail_parser(file, parser);
    const yaml_node_t *root = yaml_document_get_root_node(&yaml.document);
    int status = root ? file->format->read(&yaml, root, target)
                      : strag_source_fail(file->source, (int)parser->mark.line + 1, "%s",
                                          file->format->empty);
    yaml_document_delete(&yaml.document);
    return status == STRAG_OK ? check_end(file, parser) : status;
}

typedef int file_pass(const struct file *file, yaml_parser_t *parser, void *target);

static int pass(const struct file *file, file_pass *go, void *target)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return strag_source_memory(file->source);
    yaml_parser_set_input_string(&parser, (const unsigned char *)file->text, file->length);
    int status = go(file, &parser, target);
    yaml_parser_delete(&parser);
    return status;
}

int strag_yaml_read(const struct strag_source *source, const char *text, size_t length,
                    const struct strag_yaml_format *format, void *target)
{
    const struct file file = {source, format, text, length};
    if (length > INT_MAX - 1)
        return strag_source_fail(source, 0, "more than %d bytes", INT_MAX - 1);
    int status = pass(&file, check_tokens, NULL);
    return status == STRAG_OK ? pass(&file, read_document, target) : status;
}
