/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a rules file, and puts its first rule that applies into a table.
 */
#include "model/rules.h"

#include "algorithms/table.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/yaml.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX  ((size_t)1 << 20) /* bytes of a rules file */
#define RULES_MAX 1024              /* a limit because few bytes can give many by aliases */

enum action { ACTION_NONE, ACTION_ALGORITHM, ACTION_PREVIOUS, ACTION_AUTO };

struct rule_size {
    size_t from;
    enum action action;
    const struct strag_algorithm *algorithm; /* for ACTION_ALGORITHM */
    int blocks;                              /* of the algorithm; 0 for the model's choice */
    char *plan;                              /* a file, or NULL */
};

struct rule {
    int line;    /* names the rule */
    bool copied; /* to a saved file: names of plans are not relative to that */
    struct strag_interval hosts, ranks_per_host, ranks; /* 0 .. INT_MAX for any */
    int network;                                        /* -1 for any */
    int nsizes;
    struct rule_size size[STRAG_TABLE_MAX];
};

struct strag_rules {
    char *name;           /* of the file, for messages */
    bool version, listed; /* are both keys there? */
    int count, room;
    struct rule *rule;
};

static const struct strag_interval any = {0, INT_MAX};

/* ---- Values ---- */

static int read_interval(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    char text[STRAG_YAML_VALUE_MAX];
    struct strag_error why;
    struct strag_interval *list;
    int count;
    int status = strag_yaml_value(yaml, node, text);
    if (status != STRAG_OK)
        return status;
    if (strchr(text, ','))
        return strag_yaml_fail(yaml, node, "one number or one range, like 4..8, is accepted");
    status = strag_parse_intervals(text, 1, INT_MAX, &list, &count, &why);
    if (status == STRAG_ERR_MEMORY)
        return strag_source_memory(&yaml->source);
    if (status != STRAG_OK)
        return strag_yaml_fail(yaml, node, "%s: %.160s", yaml->key, why.text);
    *(struct strag_interval *)target = list[0];
    free(list);
    return STRAG_OK;
}

static int read_network(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    return strag_yaml_word(yaml, node, strag_network_words, target);
}

/* ---- A rule's sizes: the entry that is being read is size[nsizes] ---- */

static int read_from(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    char text[STRAG_YAML_VALUE_MAX];
    struct strag_error why;
    struct rule *rule = target;
    struct rule_size *entry = &rule->size[rule->nsizes];
    int status = strag_yaml_value(yaml, node, text);
    if (status != STRAG_OK)
        return status;
    if (strag_parse_bytes(text, &entry->from, &why) != STRAG_OK)
        return strag_yaml_fail(yaml, node, "from: %.160s", why.text);
    if (rule->nsizes == 0 && entry->from != 0)
        return strag_yaml_fail(yaml, node, "the first size of a rule is 0");
    if (rule->nsizes > 0 && entry->from <= entry[-1].from)
        return strag_yaml_fail(yaml, node,
                               "sizes ascend, and this one is not above the one before");
    return STRAG_OK;
}

static int read_algorithm(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    char text[STRAG_YAML_VALUE_MAX], names[STRAG_NAMES_MAX], meant[64];
    struct strag_nearest nearest = {NULL, 0};
    struct rule *rule = target;
    struct rule_size *entry = &rule->size[rule->nsizes];
    int status = strag_yaml_value(yaml, node, text);
    if (status != STRAG_OK)
        return status;
    entry->algorithm = strag_algorithm_find(text, NULL);
    entry->action = strcmp(text, "previous") == 0 ? ACTION_PREVIOUS
                    : strcmp(text, "auto") == 0   ? ACTION_AUTO
                    : entry->algorithm            ? ACTION_ALGORITHM
                                                  : ACTION_NONE;
    if (entry->action != ACTION_NONE)
        return STRAG_OK;
    strag_algorithms_offer(&nearest, text);
    strag_nearest_offer(&nearest, text, "previous");
    strag_nearest_offer(&nearest, text, "auto");
    return strag_yaml_fail(yaml, node, "no algorithm '%.40s'%s; accepted: previous, auto, %s", text,
                           strag_nearest_text(&nearest, text, meant),
                           strag_algorithm_names(names, sizeof names));
}

static int read_blocks(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    char text[STRAG_YAML_VALUE_MAX];
    struct strag_error why;
    struct rule *rule = target;
    int status = strag_yaml_value(yaml, node, text);
    if (status != STRAG_OK)
        return status;
    if (strag_parse_integer(text, 1, INT_MAX - 1, &rule->size[rule->nsizes].blocks, &why) !=
        STRAG_OK)
        return strag_yaml_fail(yaml, node, "blocks: %.160s", why.text);
    return STRAG_OK;
}

/* A file's name, relative to the folder of the rules file. */
static int read_plan(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct rule *rule = target;
    struct rule_size *entry = &rule->size[rule->nsizes];
    struct strag_text name = {NULL, 0};
    const char *slash = strrchr(yaml->source.name, '/');
    int status = strag_yaml_text(yaml, node, &name);
    if (status != STRAG_OK || !slash || name.text[0] == '/' || rule->copied) {
        entry->plan = name.text;
        return status;
    }
    const size_t folder = (size_t)(slash + 1 - yaml->source.name), length = strlen(name.text);
    entry->plan = malloc(folder + length + 1);
    if (entry->plan) {
        memcpy(entry->plan, yaml->source.name, folder);
        memcpy(entry->plan + folder, name.text, length + 1);
    }
    free(name.text);
    return entry->plan ? STRAG_OK : strag_source_memory(&yaml->source);
}

static int read_size(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const struct strag_yaml_key keys[] = {
        {"from", read_from, 0},
        {"algorithm", read_algorithm, 0},
        {"blocks", read_blocks, 0},
        {"plan", read_plan, 0},
        {NULL, NULL, 0},
    };
    struct rule *rule = target;
    if (rule->nsizes == STRAG_TABLE_MAX)
        return strag_yaml_fail(yaml, node, "a rule has %d sizes at most", STRAG_TABLE_MAX);
    struct rule_size *entry = &rule->size[rule->nsizes];
    *entry = (struct rule_size){.from = SIZE_MAX};
    int status = strag_yaml_mapping(yaml, node, "size", keys, rule);
    rule->nsizes++;
    if (entry->plan && entry->action == ACTION_NONE)
        entry->action = ACTION_AUTO;
    if (status == STRAG_OK && (entry->from == SIZE_MAX || entry->action == ACTION_NONE))
        return strag_yaml_fail(yaml, node, "'from', and 'algorithm' or 'plan', are needed");
    if (status == STRAG_OK && entry->blocks && entry->action != ACTION_ALGORITHM)
        return strag_yaml_fail(yaml, node, "'blocks' goes with the name of an algorithm");
    return status;
}

static int read_sizes(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const char what[] = "{from: SIZE, algorithm: NAME}"; /* or plan: FILE */
    int status = strag_yaml_list(yaml, node, what, read_size, target);
    if (status == STRAG_OK && ((struct rule *)target)->nsizes == 0)
        return strag_yaml_fail(yaml, node, "a list of %s is needed here", what);
    return status;
}

/* ---- Rules ---- */

/* Add a rule that always applies. @return NULL if out of memory */
static struct rule *add_rule(struct strag_rules *rules, int line)
{
    if (!strag_array_grow(&rules->rule, &rules->room, rules->count + 1, sizeof *rules->rule))
        return NULL;
    struct rule *rule = &rules->rule[rules->count++];
    *rule = (struct rule){
        .line = line,
        .hosts = any,
        .ranks_per_host = any,
        .ranks = any,
        .network = -1,
    };
    return rule;
}

static int read_rule(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const struct strag_yaml_key keys[] = {
        {"sizes", read_sizes, 0},
        {"hosts", read_interval, offsetof(struct rule, hosts)},
        {"ranks-per-host", read_interval, offsetof(struct rule, ranks_per_host)},
        {"ranks", read_interval, offsetof(struct rule, ranks)},
        {"network", read_network, offsetof(struct rule, network)},
        {NULL, NULL, 0},
    };
    struct strag_rules *rules = target;
    if (rules->count == RULES_MAX)
        return strag_yaml_fail(yaml, node, "more than %d rules", RULES_MAX);
    const int line = strag_yaml_line(node);
    if (rules->count && rules->rule[rules->count - 1].line == line)
        return strag_yaml_fail(yaml, node,
                               "each rule must begin on a line of its own, which names it");
    struct rule *rule = add_rule(rules, line);
    if (!rule)
        return strag_source_memory(&yaml->source);
    int status = strag_yaml_mapping(yaml, node, "rule", keys, rule);
    if (status == STRAG_OK && rule->nsizes == 0)
        return strag_yaml_fail(yaml, node, "the rule has no 'sizes'");
    return status;
}

static int read_rules(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    ((struct strag_rules *)target)->listed = true;
    return strag_yaml_list(yaml, node, "rules", read_rule, target);
}

#define EXPECTED "'strag-rules: 1' and 'rules:' are expected"

static int read_file(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    static const struct strag_yaml_key keys[] = {
        {"strag-rules", strag_yaml_version, offsetof(struct strag_rules, version)},
        {"rules", read_rules, 0},
        {NULL, NULL, 0},
    };
    struct strag_rules *rules = target;
    int status = strag_yaml_mapping(yaml, node, "rules file", keys, rules);
    if (status == STRAG_OK && (!rules->version || !rules->listed))
        return strag_yaml_fail(yaml, node, EXPECTED);
    return status;
}

int strag_rules_parse(const char *text, size_t length, const char *name, struct strag_rules **rules,
                      struct strag_error *err)
{
    static const struct strag_yaml_format format = {read_file, "the file is empty; " EXPECTED,
                                                    true};
    const struct strag_source source = {name, err};
    struct strag_rules *made = calloc(1, sizeof *made);
    if (made)
        made->name = strag_text_copy(name, strlen(name));
    int status = made && made->name ? strag_yaml_read(&source, text, length, &format, made)
                                    : strag_source_memory(&source);
    if (status == STRAG_OK)
        *rules = made;
    else
        strag_rules_free(made);
    return status;
}

int strag_rules_read(const char *file, struct strag_rules **rules, struct strag_error *err)
{
    char *text = NULL;
    size_t length = 0;
    int status = strag_file_read(file, FILE_MAX, &text, &length, err);
    if (status == STRAG_OK)
        status = strag_rules_parse(text, length, file, rules, err);
    free(text);
    return status;
}

void strag_rules_free(struct strag_rules *rules)
{
    if (!rules)
        return;
    for (int r = 0; r < rules->count; r++)
        for (int i = 0; i < rules->rule[r].nsizes; i++)
            free(rules->rule[r].size[i].plan);
    free(rules->rule);
    free(rules->name);
    free(rules);
}

/* ---- One rule in another file ---- */

int strag_rules_yaml_sizes(struct strag_yaml *yaml, const yaml_node_t *node, void *target)
{
    struct strag_rules *rules = calloc(1, sizeof *rules);
    *(struct strag_rules **)target = rules;
    struct rule *rule = rules ? add_rule(rules, strag_yaml_line(node)) : NULL;
    if (!rule)
        return strag_source_memory(&yaml->source);
    rule->copied = true;
    return read_sizes(yaml, node, rule);
}

int strag_rules_set_source(struct strag_rules *rules, const char *name, int line,
                           struct strag_error *err)
{
    char *copy = strag_text_copy(name, strlen(name));
    if (!copy)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for rules");
    free(rules->name);
    rules->name = copy;
    for (int i = 0; i < rules->count; i++)
        rules->rule[i].line = line;
    return STRAG_OK;
}

static void write_size(const struct rule_size *size, FILE *stream, int indent)
{
    fprintf(stream, "%*s- {from: %zu, algorithm: %s", indent, "", size->from,
            size->action == ACTION_AUTO       ? "auto"
            : size->action == ACTION_PREVIOUS ? "previous"
                                              : size->algorithm->name);
    if (size->blocks)
        fprintf(stream, ", blocks: %d", size->blocks);
    if (size->plan) {
        fputs(", plan: ", stream);
        strag_json_string(size->plan, stream);
    }
    fputs("}\n", stream);
}

void strag_rules_write_sizes(const struct strag_rules *rules, int line, FILE *stream, int indent)
{
    int r = 0;
    while (r < rules->count && rules->rule[r].line != line)
        r++;
    for (int i = 0; r < rules->count && i < rules->rule[r].nsizes; i++)
        write_size(&rules->rule[r].size[i], stream, indent);
}

/* ---- Applying ---- */

int strag_rules_plans(const struct strag_rules *rules, int line,
                      struct strag_rules_plan plans[STRAG_TABLE_MAX])
{
    int count = 0, r = 0;
    while (r < rules->count && rules->rule[r].line != line)
        r++;
    for (int i = 0; r < rules->count && i < rules->rule[r].nsizes; i++) {
        const struct rule_size *size = &rules->rule[r].size[i];
        const bool last = i + 1 == rules->rule[r].nsizes;
        if (size->plan)
            plans[count++] = (struct strag_rules_plan){size->plan, size->from,
                                                       last ? SIZE_MAX : size[1].from - 1};
    }
    return count;
}

static bool within(struct strag_interval interval, int value)
{
    return value >= interval.first && value <= interval.last;
}

static bool holds(const struct rule *rule, const struct strag_problem *problem)
{
    const struct strag_topology *topology = problem->topology;
    int hosts = topology ? topology->hosts : problem->n;
    int ranks_per_host = topology ? topology->ranks_per_host : 1; /* 0 if hosts differ */
    int network = topology ? (int)topology->network : STRAG_NETWORK_TREE;
    return within(rule->hosts, hosts) && within(rule->ranks_per_host, ranks_per_host) &&
           within(rule->ranks, problem->n) && (rule->network < 0 || rule->network == network);
}

/* The problem to which rules are applied, and the model's table for it. */
struct application {
    const struct strag_problem *problem;
    const struct strag_model *model;
    const struct strag_table *table;
};

/* Append the part [from, end) of an algorithm's own table, with the rule's blocks, or with those
 * that the model finds best, as for a pinned algorithm. */
static int append_algorithm(struct strag_table *table, const struct application *application,
                            const struct rule_size *size, size_t end, bool *fits,
                            struct strag_error *err)
{
    struct strag_problem problem = *application->problem;
    struct strag_table own;
    problem.blocks = size->blocks;
    int status = strag_select_one(size->algorithm, &problem, application->model, &own, err);
    if (status == STRAG_OK)
        *fits = strag_table_append_part(table, &own, size->from, end);
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
            fits = strag_table_append_part(made, application->table, size->from, end);
        else if (size->action == ACTION_PREVIOUS)
            fits = strag_table_append(made, size->from, &previous);
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
