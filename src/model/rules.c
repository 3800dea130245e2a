/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a rules file with libyaml, and putting its first rule that holds into a table.
 *
 * Only what the format knows is looked at, to a fixed depth: an alias that refers to a node that
 * contains it cannot lead astray.
 */
#include "model/rules.h"

#include "algorithms/table.h"

#include "base/parse.h"
#include "machine/layout_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define FILE_MAX  ((size_t)1 << 20) /* bytes of a rules file */
#define RULES_MAX 1024              /* also where aliases make many out of few bytes */
#define VALUE_MAX 64                /* bytes of a value, and the end */

enum action { ACTION_ALGORITHM, ACTION_PREVIOUS, ACTION_AUTO };

struct rule_size {
    size_t from;
    enum action action;
    const struct strag_algorithm *algorithm; /* for ACTION_ALGORITHM */
    int blocks;                              /* of it; 0: what the model finds best */
};

struct rule {
    int line;
    struct strag_interval hosts, ranks_per_host, ranks; /* 0 .. INT_MAX: any */
    int network;                                        /* -1: any */
    int nsizes;
    struct rule_size size[STRAG_TABLE_MAX];
};

struct strag_rules {
    char *name; /* of the file, for messages */
    int count;
    struct rule *rule;
};

static const struct strag_interval any = {0, INT_MAX};

/* ---- Nodes of the YAML document ---- */

struct reader {
    const char *name;
    yaml_document_t *document;
    struct strag_error *err;
};

static int line_of(const yaml_node_t *node)
{
    return node->start_mark.line < INT_MAX ? (int)node->start_mark.line + 1 : INT_MAX;
}

static int refuse(const struct reader *reader, const yaml_node_t *node, const char *what)
{
    return strag_fail(reader->err, STRAG_ERR_ARGUMENT, "%s:%d: %s", reader->name, line_of(node),
                      what);
}

/* A scalar as text, with '?' for what would spoil a message. */
static int read_scalar(const struct reader *reader, const yaml_node_t *node, char *text)
{
    if (node->type != YAML_SCALAR_NODE)
        return refuse(reader, node, "a single value is expected here, not a list or a mapping");
    if (node->data.scalar.length >= VALUE_MAX)
        return refuse(reader, node, "the value is too long");
    for (size_t i = 0; i < node->data.scalar.length; i++) {
        unsigned char byte = node->data.scalar.value[i];
        text[i] = (char)(byte < ' ' || byte == 0x7f ? '?' : byte);
    }
    text[node->data.scalar.length] = '\0';
    return STRAG_OK;
}

/* The keys of a mapping, and the nodes that they were found to have. */
struct key {
    const char *name;
    yaml_node_t *value; /* NULL: absent */
};

static int find_key(const struct reader *reader, struct key *keys, const yaml_node_pair_t *pair)
{
    char text[VALUE_MAX], accepted[160] = "";
    yaml_node_t *node = yaml_document_get_node(reader->document, pair->key);
    int status = read_scalar(reader, node, text);
    if (status != STRAG_OK)
        return status;
    for (struct key *key = keys; key->name; key++) {
        size_t length = strlen(accepted);
        snprintf(accepted + length, sizeof accepted - length, "%s%s", length ? ", " : "",
                 key->name);
        if (strcmp(key->name, text) != 0)
            continue;
        if (key->value)
            return strag_fail(reader->err, STRAG_ERR_ARGUMENT, "%s:%d: '%s' stands here twice",
                              reader->name, line_of(node), text);
        key->value = yaml_document_get_node(reader->document, pair->value);
        return STRAG_OK;
    }
    return strag_fail(reader->err, STRAG_ERR_ARGUMENT, "%s:%d: unknown key '%s'; accepted: %s",
                      reader->name, line_of(node), text, accepted);
}

/* @param what  the mapping, in messages */
static int read_mapping(const struct reader *reader, const yaml_node_t *node, const char *what,
                        struct key *keys)
{
    if (node->type != YAML_MAPPING_NODE)
        return strag_fail(reader->err, STRAG_ERR_ARGUMENT, "%s:%d: %s is expected here",
                          reader->name, line_of(node), what);
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        int status = find_key(reader, keys, pair);
        if (status != STRAG_OK)
            return status;
    }
    return STRAG_OK;
}

/* ---- Rules ---- */

/* What parse.h refuses gets the place in the file put in front. */
static int refuse_text(const struct reader *reader, const yaml_node_t *node, const char *key,
                       const struct strag_error *why)
{
    return strag_fail(reader->err, STRAG_ERR_ARGUMENT, "%s:%d: %s: %.160s", reader->name,
                      line_of(node), key, why->text);
}

static int read_interval(const struct reader *reader, const struct key *key,
                         struct strag_interval *interval)
{
    char text[VALUE_MAX];
    struct strag_error why;
    struct strag_interval *list;
    int count;
    *interval = any;
    if (!key->value)
        return STRAG_OK;
    int status = read_scalar(reader, key->value, text);
    if (status != STRAG_OK)
        return status;
    if (strchr(text, ','))
        return refuse(reader, key->value, "one number or one range, like 4..8, is accepted");
    status = strag_parse_intervals(text, 1, INT_MAX, &list, &count, &why);
    if (status == STRAG_ERR_MEMORY)
        return strag_fail(reader->err, status, "%s", why.text);
    if (status != STRAG_OK)
        return refuse_text(reader, key->value, key->name, &why);
    *interval = list[0];
    free(list);
    return STRAG_OK;
}

static int read_network(const struct reader *reader, const yaml_node_t *node, int *network)
{
    static const char *const names[] = {
        [STRAG_NETWORK_TREE] = "tree",
        [STRAG_NETWORK_TORUS] = "torus",
        [STRAG_NETWORK_HYPERX] = "hyperx",
        [STRAG_NETWORK_HAMMINGMESH] = "hammingmesh",
    };
    char text[VALUE_MAX];
    *network = -1;
    if (!node)
        return STRAG_OK;
    int status = read_scalar(reader, node, text);
    if (status != STRAG_OK)
        return status;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], text) == 0)
            *network = (int)i;
    if (*network >= 0)
        return STRAG_OK;
    return strag_fail(reader->err, STRAG_ERR_ARGUMENT,
                      "%s:%d: no network '%s'; accepted: tree, torus, hyperx, hammingmesh",
                      reader->name, line_of(node), text);
}

static int read_action(const struct reader *reader, const yaml_node_t *node,
                       struct rule_size *entry)
{
    char text[VALUE_MAX], names[STRAG_NAMES_MAX];
    int status = read_scalar(reader, node, text);
    if (status != STRAG_OK)
        return status;
    entry->algorithm = NULL;
    if (strcmp(text, "previous") == 0) {
        entry->action = ACTION_PREVIOUS;
    } else if (strcmp(text, "auto") == 0) {
        entry->action = ACTION_AUTO;
    } else {
        entry->action = ACTION_ALGORITHM;
        entry->algorithm = strag_algorithm_find(text, NULL);
        if (!entry->algorithm)
            return strag_fail(reader->err, STRAG_ERR_ARGUMENT,
                              "%s:%d: no algorithm '%.40s'; accepted: previous, auto, %s",
                              reader->name, line_of(node), text,
                              strag_algorithm_names(names, sizeof names));
    }
    return STRAG_OK;
}

static int read_blocks(const struct reader *reader, const yaml_node_t *node,
                       struct rule_size *entry)
{
    char text[VALUE_MAX];
    struct strag_error why;
    entry->blocks = 0;
    if (!node)
        return STRAG_OK;
    if (entry->action != ACTION_ALGORITHM)
        return refuse(reader, node, "'blocks' goes with the name of an algorithm");
    int status = read_scalar(reader, node, text);
    if (status != STRAG_OK)
        return status;
    if (strag_parse_integer(text, 1, INT_MAX - 1, &entry->blocks, &why) != STRAG_OK)
        return refuse_text(reader, node, "blocks", &why);
    return STRAG_OK;
}

static int read_from(const struct reader *reader, const yaml_node_t *node, struct rule *rule)
{
    char text[VALUE_MAX];
    struct strag_error why;
    struct rule_size *entry = &rule->size[rule->nsizes];
    int status = read_scalar(reader, node, text);
    if (status != STRAG_OK)
        return status;
    if (strag_parse_bytes(text, &entry->from, &why) != STRAG_OK)
        return refuse_text(reader, node, "from", &why);
    if (rule->nsizes == 0 && entry->from != 0)
        return refuse(reader, node, "the first size of a rule is 0");
    if (rule->nsizes > 0 && entry->from <= entry[-1].from)
        return refuse(reader, node, "sizes ascend, and this one is not above the one before");
    return STRAG_OK;
}

static int read_sizes(const struct reader *reader, const yaml_node_t *node, struct rule *rule)
{
    if (node->type != YAML_SEQUENCE_NODE ||
        node->data.sequence.items.start == node->data.sequence.items.top)
        return refuse(reader, node, "a list of {from: SIZE, algorithm: NAME} is expected here");
    for (const yaml_node_item_t *item = node->data.sequence.items.start;
         item < node->data.sequence.items.top; item++) {
        struct key keys[] = {{"from", NULL}, {"algorithm", NULL}, {"blocks", NULL}, {NULL, NULL}};
        const yaml_node_t *entry = yaml_document_get_node(reader->document, *item);
        if (rule->nsizes == STRAG_TABLE_MAX)
            return strag_fail(reader->err, STRAG_ERR_ARGUMENT, "%s:%d: a rule has %d sizes at most",
                              reader->name, line_of(entry), STRAG_TABLE_MAX);
        int status = read_mapping(reader, entry, "{from: SIZE, algorithm: NAME}", keys);
        if (status == STRAG_OK && (!keys[0].value || !keys[1].value))
            status = refuse(reader, entry, "both 'from' and 'algorithm' are needed");
        if (status == STRAG_OK)
            status = read_from(reader, keys[0].value, rule);
        if (status == STRAG_OK)
            status = read_action(reader, keys[1].value, &rule->size[rule->nsizes]);
        if (status == STRAG_OK)
            status = read_blocks(reader, keys[2].value, &rule->size[rule->nsizes]);
        if (status != STRAG_OK)
            return status;
        rule->nsizes++;
    }
    return STRAG_OK;
}

static int read_rule(const struct reader *reader, const yaml_node_t *node, struct rule *rule)
{
    struct key keys[] = {{"hosts", NULL},   {"ranks-per-host", NULL}, {"ranks", NULL},
                         {"network", NULL}, {"sizes", NULL},          {NULL, NULL}};
    int status =
        read_mapping(reader, node, "a rule (hosts, ranks-per-host, ranks, network, sizes)", keys);
    rule->line = line_of(node);
    rule->nsizes = 0;
    if (status == STRAG_OK)
        status = read_interval(reader, &keys[0], &rule->hosts);
    if (status == STRAG_OK)
        status = read_interval(reader, &keys[1], &rule->ranks_per_host);
    if (status == STRAG_OK)
        status = read_interval(reader, &keys[2], &rule->ranks);
    if (status == STRAG_OK)
        status = read_network(reader, keys[3].value, &rule->network);
    if (status == STRAG_OK && !keys[4].value)
        status = refuse(reader, node, "the rule has no 'sizes'");
    if (status == STRAG_OK)
        status = read_sizes(reader, keys[4].value, rule);
    return status;
}

static int read_list(const struct reader *reader, const yaml_node_t *node,
                     struct strag_rules *rules)
{
    if (node->type != YAML_SEQUENCE_NODE)
        return refuse(reader, node, "a list of rules is expected here");
    size_t count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    if (count > RULES_MAX)
        return strag_fail(reader->err, STRAG_ERR_ARGUMENT, "%s:%d: more than %d rules",
                          reader->name, line_of(node), RULES_MAX);
    rules->rule = calloc(count ? count : 1, sizeof *rules->rule);
    if (!rules->rule)
        return strag_fail(reader->err, STRAG_ERR_MEMORY, "out of memory for %zu rules", count);
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *rule =
            yaml_document_get_node(reader->document, node->data.sequence.items.start[i]);
        int status = read_rule(reader, rule, &rules->rule[i]);
        if (status != STRAG_OK)
            return status;
        rules->count++;
    }
    return STRAG_OK;
}

static int read_document(const struct reader *reader, struct strag_rules *rules)
{
    static const char expected[] = "'strag-rules: 1' and 'rules:' are expected";
    struct key keys[] = {{"strag-rules", NULL}, {"rules", NULL}, {NULL, NULL}};
    char version[VALUE_MAX];
    const yaml_node_t *root = yaml_document_get_root_node(reader->document);
    if (!root)
        return strag_fail(reader->err, STRAG_ERR_ARGUMENT, "%s:1: the file is empty; %s",
                          reader->name, expected);
    int status = read_mapping(reader, root, "'strag-rules: 1' with 'rules:'", keys);
    if (status == STRAG_OK && (!keys[0].value || !keys[1].value))
        status = refuse(reader, root, expected);
    if (status == STRAG_OK)
        status = read_scalar(reader, keys[0].value, version);
    if (status == STRAG_OK && strcmp(version, "1") != 0)
        status = refuse(reader, keys[0].value, "only version 1 of the format is known");
    if (status == STRAG_OK)
        status = read_list(reader, keys[1].value, rules);
    return status;
}

/* ---- The file ---- */

/* The text of a file. */
struct text {
    const char *name;
    const char *bytes;
    size_t length;
};

/* What libyaml says of a malformed text. */
static int refuse_yaml(const yaml_parser_t *parser, const struct text *text,
                       struct strag_error *err)
{
    size_t line = parser->problem_mark.line;
    if (parser->error == YAML_MEMORY_ERROR)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the rules file");
    if (parser->error == YAML_READER_ERROR) {
        line = 0; /* it knows the byte only */
        for (size_t i = 0; i < parser->problem_offset && i < text->length; i++)
            line += text->bytes[i] == '\n';
    }
    return strag_fail(err, STRAG_ERR_ARGUMENT, "%s:%zu: not YAML: %s", text->name, line + 1,
                      parser->problem ? parser->problem : "malformed");
}

/* There must be nothing behind the first document. */
static int check_end(yaml_parser_t *parser, const struct text *text, struct strag_error *err)
{
    yaml_document_t second;
    if (!yaml_parser_load(parser, &second))
        return refuse_yaml(parser, text, err);
    const yaml_node_t *root = yaml_document_get_root_node(&second);
    int status = STRAG_OK;
    if (root)
        status = strag_fail(err, STRAG_ERR_ARGUMENT, "%s:%d: a second document begins here",
                            text->name, line_of(root));
    yaml_document_delete(&second);
    return status;
}

static int parse(yaml_parser_t *parser, const struct text *text, struct strag_rules *rules,
                 struct strag_error *err)
{
    yaml_document_t document;
    if (!yaml_parser_load(parser, &document))
        return refuse_yaml(parser, text, err);
    const struct reader reader = {text->name, &document, err};
    int status = read_document(&reader, rules);
    yaml_document_delete(&document);
    return status == STRAG_OK ? check_end(parser, text, err) : status;
}

int strag_rules_parse(const char *text, size_t length, const char *name, struct strag_rules **rules,
                      struct strag_error *err)
{
    yaml_parser_t parser;
    if (length > FILE_MAX)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%s:1: more than %zu bytes", name, FILE_MAX);
    struct strag_rules *made = calloc(1, sizeof *made);
    if (made)
        made->name = strag_text_copy(name, strlen(name));
    if (!made || !made->name || !yaml_parser_initialize(&parser)) {
        strag_rules_free(made);
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the rules file");
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    int status = parse(&parser, &(const struct text){name, text, length}, made, err);
    yaml_parser_delete(&parser);
    if (status != STRAG_OK) {
        strag_rules_free(made);
        return status;
    }
    *rules = made;
    return STRAG_OK;
}

int strag_rules_read(const char *file, struct strag_rules **rules, struct strag_error *err)
{
    FILE *stream = fopen(file, "rb");
    if (!stream)
        return strag_fail(err, STRAG_ERR_IO, "%s: %s", file, strerror(errno));
    char *text = malloc(FILE_MAX + 1);
    if (!text) {
        fclose(stream);
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the rules file");
    }
    errno = 0;
    size_t length = fread(text, 1, FILE_MAX + 1, stream);
    int status = STRAG_OK;
    if (ferror(stream))
        status = strag_fail(err, STRAG_ERR_IO, "%s: %s", file, strerror(errno));
    fclose(stream);
    if (status == STRAG_OK)
        status = strag_rules_parse(text, length, file, rules, err);
    free(text);
    return status;
}

void strag_rules_free(struct strag_rules *rules)
{
    if (!rules)
        return;
    free(rules->rule);
    free(rules->name);
    free(rules);
}

/* ---- Applying ---- */

static bool within(struct strag_interval interval, int value)
{
    return value >= interval.first && value <= interval.last;
}

static bool holds(const struct rule *rule, const struct strag_problem *problem)
{
    const struct strag_topology *topology = problem->topology;
    int hosts = topology ? topology->hosts : problem->n;
    int ranks_per_host = topology ? topology->ranks_per_host : 1; /* 0: not all alike */
    int network = topology ? (int)topology->network : STRAG_NETWORK_TREE;
    return within(rule->hosts, hosts) && within(rule->ranks_per_host, ranks_per_host) &&
           within(rule->ranks, problem->n) && (rule->network < 0 || rule->network == network);
}

/* @return false where the table is full */
static bool append(struct strag_table *table, size_t from, const struct strag_entry *what)
{
    const struct strag_entry *last = table->entries ? &table->entry[table->entries - 1] : NULL;
    if (last && last->algorithm == what->algorithm && last->blocks == what->blocks)
        return true;
    if (table->entries == STRAG_TABLE_MAX)
        return false;
    table->entry[table->entries++] = (struct strag_entry){from, what->algorithm, what->blocks};
    return true;
}

/* The part [from, end) of the model's table. */
static bool append_model(struct strag_table *table, const struct strag_table *model, size_t from,
                         size_t end)
{
    bool fits = append(table, from, strag_table_entry(model, from));
    for (int i = 0; fits && i < model->entries; i++)
        if (model->entry[i].from > from && model->entry[i].from < end)
            fits = append(table, model->entry[i].from, &model->entry[i]);
    return fits;
}

/* What is to be applied, and the model's table. */
struct application {
    const struct strag_problem *problem;
    const struct strag_model *model;
    const struct strag_table *table;
};

/* The part [from, end) of an algorithm's own table: with the blocks that are named, or those that
 * the model finds best, as where the algorithm is pinned. */
static int append_algorithm(struct strag_table *table, const struct application *application,
                            const struct rule_size *size, size_t end, bool *fits,
                            struct strag_error *err)
{
    const struct strag_select_options options = {.only = size->algorithm};
    struct strag_problem problem = *application->problem;
    struct strag_selection *selection;
    problem.blocks = size->blocks;
    if (!size->algorithm->choices || size->blocks) {
        const struct strag_entry named = {.algorithm = size->algorithm, .blocks = size->blocks};
        *fits = append(table, size->from, &named);
        return strag_algorithm_claim(size->algorithm, &problem, NULL, err);
    }
    int status = strag_select(&problem, application->model, &options, &selection, err);
    if (status == STRAG_OK) {
        *fits = append_model(table, &selection->table, size->from, end);
        strag_selection_free(selection);
    }
    return status;
}

static int apply(const struct strag_rules *rules, const struct rule *rule,
                 const struct application *application, struct strag_table *made,
                 struct strag_error *err)
{
    for (int i = 0; i < rule->nsizes; i++) {
        const struct rule_size *size = &rule->size[i];
        static const struct strag_entry previous = {.algorithm = NULL};
        size_t end = i + 1 < rule->nsizes ? size[1].from : SIZE_MAX;
        struct strag_error why;
        bool fits = true;
        int status = STRAG_OK;
        if (size->action == ACTION_AUTO)
            fits = append_model(made, application->table, size->from, end);
        else if (size->action == ACTION_PREVIOUS)
            fits = append(made, size->from, &previous);
        else
            status = append_algorithm(made, application, size, end, &fits, &why);
        if (status != STRAG_OK)
            return strag_fail(err, status == STRAG_ERR_MEMORY ? status : STRAG_ERR_UNSUPPORTED,
                              "%s:%d: %s cannot run here: %.120s", rules->name, rule->line,
                              size->algorithm->name, why.text);
        if (!fits)
            return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                              "%s:%d: together with the model's the rule has more than %d sizes",
                              rules->name, rule->line, STRAG_TABLE_MAX);
    }
    return STRAG_OK;
}

int strag_rules_apply(const struct strag_rules *rules, const struct strag_problem *problem,
                      const struct strag_model *model, struct strag_table *table, int *line,
                      struct strag_error *err)
{
    const struct application application = {problem, model, table};
    int i = 0, status = STRAG_OK;
    while (i < rules->count && !holds(&rules->rule[i], problem))
        i++;
    *line = i < rules->count ? rules->rule[i].line : 0;
    if (i < rules->count) {
        struct strag_table made = {.entries = 0};
        status = apply(rules, &rules->rule[i], &application, &made, err);
        if (status == STRAG_OK)
            *table = made;
    }
    return status;
}
