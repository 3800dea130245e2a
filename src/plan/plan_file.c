/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading plans: jansson parses the JSON, and this file checks what the format adds. Unknown keys
 * are refused, since ignoring them would not do what their author meant. The order is that of the
 * format, after the values that all parts share, for which it is one long file.
 */
#include "plan/plan_file.h"

#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "plan/show.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The largest value or repetition; no plan needs as much. */
enum { VALUE_MAX = 1 << 30 };

/* The state of reading. After an error, values that are read are ignored. */
struct reader {
    struct strag_source source;
    struct strag_given *given;
    struct strag_given_head *head;
    char place[96]; /* "ranks[3].ops[7]", or "" for the file */
    int status;     /* of the first error */
};

static bool is_good(const struct reader *reader)
{
    return reader->status == STRAG_OK;
}

/* "FILE: ranks[3].ops[7].peer: reason" @param key  NULL for the place itself */
static void refuse(struct reader *reader, const char *key, const char *format, ...)
    STRAG_PRINTF(3, 4);

static void refuse(struct reader *reader, const char *key, const char *format, ...)
{
    char what[512];
    va_list args;
    if (!is_good(reader))
        return;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    const char *dot = reader->place[0] && key ? "." : "";
    const char *colon = reader->place[0] || key ? ": " : "";
    reader->status = strag_source_fail(&reader->source, 0, "%s%s%s%s%s", reader->place, dot,
                                       key ? key : "", colon, what);
}

static void need_memory(struct reader *reader, bool there)
{
    if (is_good(reader) && !there)
        reader->status = strag_source_memory(&reader->source);
}

/* ---- Values ---- */

/* Refuse other keys than these, whose list ends with NULL. */
static void check_keys(struct reader *reader, json_t *object, const char *const *accepted)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        refuse(reader, NULL, "an object, {...}, is accepted");
    json_object_foreach(object, key, value)
    {
        struct strag_nearest nearest = {NULL, 0};
        char names[256] = "";
        int a = 0;
        while (accepted[a] && strcmp(accepted[a], key) != 0)
            a++;
        if (accepted[a])
            continue;
        for (a = 0; accepted[a]; a++) {
            strag_nearest_offer(&nearest, key, accepted[a]);
            strag_append(names, sizeof names, "%s%s", a ? ", " : "", accepted[a]);
        }
        refuse(reader, NULL, "no key '%s' (nearest: %s); accepted: %s", strag_quoted(key).text,
               nearest.name, names);
        return;
    }
}

/* @return `low` after a refusal */
static int64_t read_integer(struct reader *reader, const char *key, json_t *value, int64_t low,
                            int64_t high)
{
    const json_int_t number = json_integer_value(value);
    const char *missing = value ? "" : "is missing; ";
    if (json_is_integer(value) && number >= low && number <= high)
        return number;
    if (low == high)
        refuse(reader, key, "%s%lld is accepted", missing, (long long)low);
    else
        refuse(reader, key, "%san integer from %lld to %lld is accepted", missing, (long long)low,
               (long long)high);
    return low;
}

static int32_t read_int(struct reader *reader, json_t *object, const char *key, int low, int high)
{
    return (int32_t)read_integer(reader, key, json_object_get(object, key), low, high);
}

static int32_t read_optional_int(struct reader *reader, json_t *object, const char *key, int low,
                                 int high, int32_t otherwise)
{
    return json_object_get(object, key) ? read_int(reader, object, key, low, high) : otherwise;
}

static bool read_optional_bool(struct reader *reader, json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (value && !json_is_boolean(value))
        refuse(reader, key, "true or false is accepted");
    return json_is_true(value);
}

/* A name is printed as it is, in texts and pictures. @return NULL after a refusal */
static const char *read_name(struct reader *reader, json_t *object, const char *key,
                             const char *otherwise)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:+ ";
    const json_t *value = json_object_get(object, key);
    const char *name = value ? json_string_value(value) : otherwise;
    if (name && name[0] && strlen(name) < STRAG_GIVEN_NAME_MAX &&
        name[strspn(name, letters)] == '\0')
        return name;
    refuse(reader, key, "%sa name of 1 to %d letters, digits, blanks and -_.:+ is accepted",
           value ? "" : "is missing; ", STRAG_GIVEN_NAME_MAX - 1);
    return NULL;
}

/* @return its length; 0 after a refusal */
static int64_t read_array(struct reader *reader, json_t *object, const char *key, json_t **array)
{
    *array = json_object_get(object, key);
    if (!json_is_array(*array))
        refuse(reader, key, "%sa list, [...], is accepted", *array ? "" : "is missing; ");
    return (int64_t)json_array_size(*array);
}

/* ---- Operations ---- */

static uint8_t read_kind(struct reader *reader, json_t *object)
{
    const char *kind = json_string_value(json_object_get(object, "kind"));
    uint8_t found = STRAG_SEND;
    while (kind && found <= STRAG_RECV_REDUCE &&
           strcmp(kind, strag_kind_name((enum strag_kind)found)) != 0)
        found++;
    if (!kind || found > STRAG_RECV_REDUCE)
        refuse(reader, "kind", "send, recv or recv_reduce is accepted");
    return found;
}

/* The members of an operation that both forms write in the same way. */
static struct strag_given_op read_common(struct reader *reader, json_t *object)
{
    struct strag_given_op op = {.kind = read_kind(reader, object)};
    op.count = read_int(reader, object, "count", 1, reader->head->blocks);
    op.own_left = read_optional_bool(reader, object, "own_left");
    if (op.own_left && op.kind != STRAG_RECV_REDUCE)
        refuse(reader, "own_left", "only recv_reduce has operands");
    const char *name = read_name(reader, object, "stage", "plan");
    const int stage = name ? strag_given_stage(reader->given, name) : 0;
    if (stage < 0)
        refuse(reader, "stage", "at most %d stages are accepted", STRAG_STAGES_MAX);
    op.stage = (uint8_t)stage;
    return op;
}

static void add_op(struct reader *reader, const struct strag_given_op *op)
{
    need_memory(reader, is_good(reader) && strag_given_add_op(reader->given, op));
}

static void add_loop(struct reader *reader, int times)
{
    need_memory(reader, is_good(reader) && strag_given_add_loop(reader->given, times));
}

static void add_group(struct reader *reader, int first, int count, int step)
{
    need_memory(reader,
                is_good(reader) && strag_given_add_group(reader->given, first, count, step));
}

/* An operation of the plain form. */
static void read_op(struct reader *reader, json_t *object, int index)
{
    static const char *const keys[] = {"id",    "kind",  "peer",     "first", "count",
                                       "round", "stage", "own_left", "after", NULL};
    const struct strag_given_head *head = reader->head;
    check_keys(reader, object, keys);
    read_optional_int(reader, object, "id", index, index, index);
    struct strag_given_op op = read_common(reader, object);
    op.peer.start = read_int(reader, object, "peer", 0, head->n - 1);
    op.first.start = read_int(reader, object, "first", 0, head->blocks - op.count);
    op.round.start = read_int(reader, object, "round", 0, STRAG_GIVEN_ROUNDS_MAX - 1);
    add_op(reader, &op);
}

/* 5; or [5, FOR EACH RANK]; or [5, FOR EACH RANK, FOR EACH TURN] */
static struct strag_given_value read_value(struct reader *reader, json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    const size_t length = json_array_size(value); /* 0 if it is no array */
    int32_t parts[3] = {0};
    if (!json_is_array(value))
        return (struct strag_given_value){.start =
                                              read_int(reader, object, key, -VALUE_MAX, VALUE_MAX)};
    if (length < 2 || length > 3)
        refuse(reader, key,
               "an integer, or a list of 2 or 3, [START, FOR EACH RANK, FOR EACH TURN], is "
               "accepted");
    for (size_t i = 0; i < length && i < 3; i++)
        parts[i] =
            (int32_t)read_integer(reader, key, json_array_get(value, i), -VALUE_MAX, VALUE_MAX);
    return (struct strag_given_value){parts[0], parts[1], parts[2]};
}

/* An operation of the compact form. */
static void read_compact_op(struct reader *reader, json_t *object)
{
    static const char *const keys[] = {"kind",  "peer",  "first",    "count",
                                       "round", "stage", "own_left", NULL};
    check_keys(reader, object, keys);
    struct strag_given_op op = read_common(reader, object);
    op.peer = read_value(reader, object, "peer");
    op.first = read_value(reader, object, "first");
    op.round = read_value(reader, object, "round");
    add_op(reader, &op);
}

/* {"repeat": 7, "ops": [...]}. The reader's place is restored at the end. */
static void read_repeat(struct reader *reader, json_t *object)
{
    static const char *const keys[] = {"repeat", "ops", NULL};
    json_t *ops;
    char here[sizeof reader->place];
    check_keys(reader, object, keys);
    const int32_t times = read_int(reader, object, "repeat", 1, VALUE_MAX);
    const int64_t length = read_array(reader, object, "ops", &ops);
    if (length == 0)
        refuse(reader, "ops", "at least one operation is repeated");
    add_loop(reader, times);
    memcpy(here, reader->place, sizeof here);
    for (int64_t i = 0; is_good(reader) && i < length; i++) {
        snprintf(reader->place, sizeof reader->place, "%.60s.ops[%lld]", here, (long long)i);
        read_compact_op(reader, json_array_get(ops, (size_t)i));
    }
    memcpy(reader->place, here, sizeof here);
}

/* ---- Ranks ---- */

/* {"rank": 3, "ops": [...]} */
static void read_rank(struct reader *reader, json_t *object, int index)
{
    static const char *const keys[] = {"rank", "ops", NULL};
    json_t *ops;
    check_keys(reader, object, keys);
    const int32_t rank = read_int(reader, object, "rank", 0, reader->head->n - 1);
    const int64_t length = read_array(reader, object, "ops", &ops);
    add_group(reader, rank, 1, 1);
    if (length)
        add_loop(reader, 1);
    for (int64_t i = 0; is_good(reader) && i < length; i++) {
        snprintf(reader->place, sizeof reader->place, "ranks[%d].ops[%lld]", index, (long long)i);
        read_op(reader, json_array_get(ops, (size_t)i), (int)i);
    }
}

/* [FIRST, COUNT, STEP] */
static void read_members(struct reader *reader, json_t *object)
{
    json_t *list;
    int parts[3] = {0, 1, 1};
    const int64_t length = read_array(reader, object, "ranks", &list);
    if (length < 1 || length > 3)
        refuse(reader, "ranks", "a list of up to 3, [FIRST, COUNT, STEP], is accepted");
    for (int64_t i = 0; i < length && i < 3; i++)
        parts[i] = (int)read_integer(reader, "ranks", json_array_get(list, (size_t)i), i > 0,
                                     reader->head->n - (i == 0));
    add_group(reader, parts[0], parts[1], parts[2]);
}

/* {"ranks": [FIRST, COUNT, STEP], "ops": [...]} */
static void read_group(struct reader *reader, json_t *object, int index)
{
    static const char *const keys[] = {"ranks", "ops", NULL};
    json_t *ops;
    bool single = false; /* the last loop has operations that are not repeated */
    check_keys(reader, object, keys);
    read_members(reader, object);
    const int64_t length = read_array(reader, object, "ops", &ops);
    for (int64_t i = 0; is_good(reader) && i < length; i++) {
        json_t *item = json_array_get(ops, (size_t)i);
        const bool repeats = json_object_get(item, "repeat");
        snprintf(reader->place, sizeof reader->place, "groups[%d].ops[%lld]", index, (long long)i);
        if (!repeats && !single)
            add_loop(reader, 1);
        single = !repeats;
        if (repeats)
            read_repeat(reader, item);
        else
            read_compact_op(reader, item);
    }
}

static void read_ranks(struct reader *reader, json_t *root)
{
    const bool plain = json_object_get(root, "ranks");
    const char *key = plain ? "ranks" : "groups";
    json_t *list;
    if (plain && json_object_get(root, "groups"))
        refuse(reader, "groups", "either 'ranks' or 'groups' is accepted");
    const int64_t length = read_array(reader, root, key, &list);
    if (length < 1 || length > reader->head->n)
        refuse(reader, key, "%lld of them; 1 to %d are accepted, one for each rank at most",
               (long long)length, reader->head->n);
    for (int64_t i = 0; is_good(reader) && i < length; i++) {
        json_t *item = json_array_get(list, (size_t)i);
        snprintf(reader->place, sizeof reader->place, "%s[%lld]", key, (long long)i);
        if (plain)
            read_rank(reader, item, (int)i);
        else
            read_group(reader, item, (int)i);
    }
    reader->place[0] = '\0';
}

/* ---- The head ---- */

static void read_claim(struct reader *reader, json_t *root)
{
    static const char *const keys[] = {"rounds", "chain",   "straggler", "before",
                                       "ports",  "in_step", NULL};
    const int most = STRAG_GIVEN_ROUNDS_MAX;
    struct strag_given_head *head = reader->head;
    json_t *claim = json_object_get(root, "claim");
    if (!claim)
        return;
    snprintf(reader->place, sizeof reader->place, "claim");
    check_keys(reader, claim, keys);
    head->rounds = read_optional_int(reader, claim, "rounds", head->n > 1, most, 0);
    head->chain = read_optional_int(reader, claim, "chain", 0, most, 0);
    head->ports = read_optional_int(reader, claim, "ports", 1, STRAG_PORTS_MAX, 0);
    head->in_step = read_optional_bool(reader, claim, "in_step");
    head->waits = json_object_get(claim, "straggler") || json_object_get(claim, "before");
    if (head->waits) {
        head->straggler = read_int(reader, claim, "straggler", 0, head->n - 1);
        head->before = read_int(reader, claim, "before", 0, most);
    }
    reader->place[0] = '\0';
}

/* A list of blocks + 1. */
static json_t *read_edges(struct reader *reader, json_t *root, const char *key)
{
    json_t *list;
    const int64_t length = read_array(reader, root, key, &list);
    if (length != reader->head->blocks + 1)
        refuse(reader, key, "%lld numbers; %d, one more than there are blocks, are accepted",
               (long long)length, reader->head->blocks + 1);
    return list;
}

static void read_numerators(struct reader *reader, json_t *root)
{
    json_t *value = json_object_get(root, "denominator");
    if (!value && !json_object_get(root, "numerators"))
        return;
    const int64_t denominator = read_integer(reader, "denominator", value, 1, INT64_C(1) << 62);
    json_t *list = read_edges(reader, root, "numerators");
    int64_t *numerator =
        is_good(reader) ? strag_given_numerators(reader->given, denominator) : NULL;
    need_memory(reader, numerator);
    for (int b = 0; is_good(reader) && b <= reader->head->blocks; b++)
        numerator[b] =
            read_integer(reader, "numerators", json_array_get(list, (size_t)b), 0, denominator);
}

/* Bounds repeat the numerators as fractions, for programs that prefer these. */
static void check_bounds(struct reader *reader, json_t *root)
{
    const struct strag_given_head *head = reader->head;
    const int64_t *numerator = reader->given->numerator;
    if (!json_object_get(root, "bounds"))
        return;
    json_t *list = read_edges(reader, root, "bounds");
    for (int b = 0; is_good(reader) && b <= head->blocks; b++) {
        const double exact =
            numerator ? (double)numerator[b] / (double)head->denominator : (double)b / head->blocks;
        const json_t *value = json_array_get(list, (size_t)b);
        if (!json_is_number(value) || !(fabs(json_number_value(value) - exact) < 1e-9))
            refuse(reader, "bounds",
                   "the one at %d is not %.9g, which %s; 'bounds' may be left out", b, exact,
                   numerator ? "numerators[] / denominator is"
                             : "it is where 'denominator' and 'numerators' are left out");
    }
}

static void read_head(struct reader *reader, json_t *root)
{
    static const char *const keys[] = {"strag-plan", "comment", "claim",  "algorithm",
                                       "n",          "blocks",  "bounds", "denominator",
                                       "numerators", "ranks",   "groups", NULL};
    struct strag_given_head *head = reader->head;
    const json_t *comment = json_object_get(root, "comment");
    check_keys(reader, root, keys);
    read_int(reader, root, "strag-plan", STRAG_PLAN_VERSION, STRAG_PLAN_VERSION);
    if (comment && !json_is_string(comment))
        refuse(reader, "comment", "a text is accepted");
    head->n = read_int(reader, root, "n", 1, STRAG_GIVEN_RANKS_MAX);
    head->blocks = read_int(reader, root, "blocks", 1, STRAG_GIVEN_BLOCKS_MAX);
    const char *name = read_name(reader, root, "algorithm", NULL);
    snprintf(head->name, sizeof head->name, "%s", name ? name : "");
    read_claim(reader, root);
    read_numerators(reader, root);
    check_bounds(reader, root);
}

/* ---- All ---- */

static void read_root(struct reader *reader, json_t *root, const struct strag_effort *most)
{
    struct strag_error why;
    read_head(reader, root);
    if (is_good(reader))
        read_ranks(reader, root);
    const int status = is_good(reader) ? strag_given_close(reader->given, most, &why) : STRAG_OK;
    if (status != STRAG_OK)
        reader->status =
            strag_fail(reader->source.err, status, "%s: %.900s", reader->source.name, why.text);
}

/* The most memory of jansson's values for a text, in bytes: up to 80 times the text's length. */
static int64_t bytes_of_json(const char *text, size_t length)
{
    static const uint8_t more[256] = {['{'] = 200, ['['] = 128, [','] = 48, [':'] = 32, ['"'] = 20};
    int64_t bytes = 3 * (int64_t)length;
    for (size_t i = 0; i < length; i++)
        bytes += more[(unsigned char)text[i]];
    return bytes;
}

static int check_length(const struct strag_source *source, const char *text, size_t length,
                        const struct strag_effort *most)
{
    static const char advice[] = "the compact form is shorter (strag plan --plan FILE --compact)";
    const int64_t bytes = most && length <= STRAG_PLAN_FILE_MAX ? bytes_of_json(text, length) : 0;
    if (length > STRAG_PLAN_FILE_MAX)
        return strag_source_fail(source, 0, "more than %zu MiB; %s", STRAG_PLAN_FILE_MAX >> 20,
                                 advice);
    if (!most || bytes <= most->bytes)
        return STRAG_OK;
    strag_source_fail(source, 0, "reading it takes %lld MiB, and at most %lld are accepted; %s",
                      (long long)bytes >> 20, (long long)most->bytes >> 20, advice);
    return STRAG_ERR_LIMIT;
}

int strag_plan_file_parse(const char *text, size_t length, const char *name,
                          const struct strag_effort *most, struct strag_given **given,
                          struct strag_error *err)
{
    struct reader reader = {.source = {name, err}};
    json_error_t error;
    int status = check_length(&reader.source, text, length, most);
    if (status != STRAG_OK)
        return status;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!root && json_error_code(&error) == json_error_out_of_memory)
        return strag_source_memory(&reader.source);
    for (char *c = error.text; *c; c++) /* it quotes the file */
        *c = *c >= ' ' && *c <= '~' ? *c : '?';
    if (!root)
        return strag_source_fail(&reader.source, error.line > 0 ? error.line : 0,
                                 "no JSON: %.160s, at column %d", error.text, error.column);
    reader.given = strag_given_create();
    need_memory(&reader, reader.given);
    if (reader.given) {
        reader.given->hash = strag_hash(STRAG_HASH_START, text, length);
        reader.given->bytes = length;
        reader.head = &reader.given->head;
        read_root(&reader, root, most);
    }
    json_decref(root);
    if (is_good(&reader))
        *given = reader.given;
    else
        strag_given_free(reader.given);
    return reader.status;
}

int strag_plan_file_read(const char *file, struct strag_given **given, struct strag_error *err)
{
    char *text = NULL;
    size_t length = 0;
    int status = strag_file_read(file, STRAG_PLAN_FILE_MAX, &text, &length, err);
    if (status == STRAG_OK)
        status = strag_plan_file_parse(text, length, file, NULL, given, err);
    free(text);
    return status;
}
