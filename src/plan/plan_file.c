/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading plans by jansson: it knows JSON, here is what the format adds. Nothing that is not known
 * is passed over, since what was meant by it would not be done. From top to bottom in the order of
 * the format, values first; one long file, since all of it reads by the same few functions.
 */
#include "plan/plan_file.h"

#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "plan/given_parts.h"
#include "plan/show.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* How far values may be from 0, and loops go: far more than any plan has. */
enum { VALUE_MAX = 1 << 30 };

struct reader {
    struct strag_source source;
    struct strag_given *given;
    struct strag_given_head *head;
    char place[96]; /* "ranks[3].ops[7]"; "": the file */
};

/* "FILE: ranks[3].ops[7].peer: reason" @param key  NULL: the place itself */
static int refuse(const struct reader *reader, const char *key, const char *format, ...)
    STRAG_PRINTF(3, 4);

static int refuse(const struct reader *reader, const char *key, const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    const char *dot = reader->place[0] && key ? "." : "";
    const char *colon = reader->place[0] || key ? ": " : "";
    return strag_source_fail(&reader->source, 0, "%s%s%s%s%s", reader->place, dot, key ? key : "",
                             colon, what);
}

/* ---- Values ---- */

/* An object with no other keys than these, which a NULL ends. */
static int check_keys(const struct reader *reader, json_t *object, const char *const *accepted)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return refuse(reader, NULL, "an object, {...}, is accepted");
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
            const size_t used = strlen(names);
            strag_nearest_offer(&nearest, key, accepted[a]);
            snprintf(names + used, sizeof names - used, "%s%s", a ? ", " : "", accepted[a]);
        }
        return refuse(reader, NULL, "no key '%s' (nearest: %s); accepted: %s",
                      strag_quoted(key).text, nearest.name, names);
    }
    return STRAG_OK;
}

static int read_integer(const struct reader *reader, const char *key, json_t *value, int64_t low,
                        int64_t high, int64_t *target)
{
    const bool integer = json_is_integer(value);
    const json_int_t number = integer ? json_integer_value(value) : 0;
    const char *missing = value ? "" : "is missing; ";
    if (!integer || number < low || number > high)
        return low == high ? refuse(reader, key, "%s%lld is accepted", missing, (long long)low)
                           : refuse(reader, key, "%san integer from %lld to %lld is accepted",
                                    missing, (long long)low, (long long)high);
    *target = number;
    return STRAG_OK;
}

static int read_int(const struct reader *reader, json_t *object, const char *key, int low, int high,
                    int32_t *target)
{
    int64_t value = 0;
    const int status = read_integer(reader, key, json_object_get(object, key), low, high, &value);
    if (status == STRAG_OK)
        *target = (int32_t)value;
    return status;
}

/* One that may be left out. */
static int read_optional_int(const struct reader *reader, json_t *object, const char *key, int low,
                             int high, int32_t *target)
{
    return json_object_get(object, key) ? read_int(reader, object, key, low, high, target)
                                        : STRAG_OK;
}

static int read_optional_bool(const struct reader *reader, json_t *object, const char *key,
                              bool *target)
{
    const json_t *value = json_object_get(object, key);
    if (value && !json_is_boolean(value))
        return refuse(reader, key, "true or false is accepted");
    *target = json_is_true(value);
    return STRAG_OK;
}

/* A name goes into texts and pictures as it is. @return NULL after a refusal */
static const char *read_name(const struct reader *reader, json_t *object, const char *key,
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

/* @return its length; -1 after a refusal */
static int64_t read_array(const struct reader *reader, json_t *object, const char *key,
                          json_t **array)
{
    *array = json_object_get(object, key);
    if (json_is_array(*array))
        return (int64_t)json_array_size(*array);
    refuse(reader, key, "%sa list, [...], is accepted", *array ? "" : "is missing; ");
    return -1;
}

/* ---- Operations ---- */

static int read_kind(const struct reader *reader, json_t *object, struct strag_given_op *op)
{
    const char *kind = json_string_value(json_object_get(object, "kind"));
    op->kind = STRAG_SEND;
    while (kind && op->kind <= STRAG_RECV_REDUCE &&
           strcmp(kind, strag_kind_name((enum strag_kind)op->kind)) != 0)
        op->kind++;
    if (!kind || op->kind > STRAG_RECV_REDUCE)
        return refuse(reader, "kind", "send, recv or recv_reduce is accepted");
    return STRAG_OK;
}

/* What an operation is but for its peer, range and round. */
static int read_common(const struct reader *reader, json_t *object, struct strag_given_op *op)
{
    int status = read_kind(reader, object, op);
    if (status == STRAG_OK)
        status = read_int(reader, object, "count", 1, reader->head->blocks, &op->count);
    if (status == STRAG_OK)
        status = read_optional_bool(reader, object, "own_left", &op->own_left);
    if (status == STRAG_OK && op->own_left && op->kind != STRAG_RECV_REDUCE)
        status = refuse(reader, "own_left", "only recv_reduce has operands");
    if (status != STRAG_OK)
        return status;
    const char *name = read_name(reader, object, "stage", "plan");
    const int stage = name ? strag_given_stage(reader->given, name) : 0;
    if (stage < 0)
        return refuse(reader, "stage", "at most %d stages are accepted", STRAG_STAGES_MAX);
    op->stage = (uint8_t)stage;
    return name ? STRAG_OK : STRAG_ERR_ARGUMENT;
}

static int add_op(const struct reader *reader, const struct strag_given_op *op)
{
    return strag_given_add_op(reader->given, op) ? STRAG_OK : strag_source_memory(&reader->source);
}

static int add_loop(const struct reader *reader, int times)
{
    return strag_given_add_loop(reader->given, times) ? STRAG_OK
                                                      : strag_source_memory(&reader->source);
}

/* One of the plain form. */
static int read_op(struct reader *reader, json_t *object, int index)
{
    static const char *const keys[] = {"id",    "kind",  "peer",     "first", "count",
                                       "round", "stage", "own_left", "after", NULL};
    struct strag_given_op op = {.kind = 0};
    int32_t id = index;
    int status = check_keys(reader, object, keys);
    if (status == STRAG_OK)
        status = read_optional_int(reader, object, "id", index, index, &id);
    if (status == STRAG_OK)
        status = read_common(reader, object, &op);
    if (status == STRAG_OK)
        status = read_int(reader, object, "peer", 0, reader->head->n - 1, &op.peer.start);
    if (status == STRAG_OK)
        status =
            read_int(reader, object, "first", 0, reader->head->blocks - op.count, &op.first.start);
    if (status == STRAG_OK)
        status = read_int(reader, object, "round", 0, STRAG_GIVEN_ROUNDS_MAX - 1, &op.round.start);
    return status == STRAG_OK ? add_op(reader, &op) : status;
}

/* 5; or [5, for each rank], or [5, for each rank, for each turn]. */
static int read_value(const struct reader *reader, json_t *object, const char *key,
                      struct strag_given_value *target)
{
    json_t *value = json_object_get(object, key);
    const size_t length = json_array_size(value); /* 0: no array */
    int32_t *const parts[] = {&target->start, &target->rank, &target->turn};
    int status = STRAG_OK;
    if (!json_is_array(value))
        return read_int(reader, object, key, -VALUE_MAX, VALUE_MAX, &target->start);
    if (length < 2 || length > 3)
        return refuse(reader, key,
                      "an integer, or a list of 2 or 3, [START, FOR EACH RANK, FOR EACH TURN], is "
                      "accepted");
    for (size_t i = 0; status == STRAG_OK && i < length; i++) {
        int64_t part = 0;
        status = read_integer(reader, key, json_array_get(value, i), -VALUE_MAX, VALUE_MAX, &part);
        *parts[i] = (int32_t)part;
    }
    return status;
}

/* One of the compact form. */
static int read_compact_op(struct reader *reader, json_t *object)
{
    static const char *const keys[] = {"kind",  "peer",  "first",    "count",
                                       "round", "stage", "own_left", NULL};
    struct strag_given_op op = {.kind = 0};
    int status = check_keys(reader, object, keys);
    if (status == STRAG_OK)
        status = read_common(reader, object, &op);
    if (status == STRAG_OK)
        status = read_value(reader, object, "peer", &op.peer);
    if (status == STRAG_OK)
        status = read_value(reader, object, "first", &op.first);
    if (status == STRAG_OK)
        status = read_value(reader, object, "round", &op.round);
    return status == STRAG_OK ? add_op(reader, &op) : status;
}

/* {"repeat": 7, "ops": [...]}, at a place that comes back when it is read. */
static int read_repeat(struct reader *reader, json_t *object)
{
    static const char *const keys[] = {"repeat", "ops", NULL};
    json_t *ops;
    int32_t times = 0;
    char here[sizeof reader->place];
    int status = check_keys(reader, object, keys);
    if (status == STRAG_OK)
        status = read_int(reader, object, "repeat", 1, VALUE_MAX, &times);
    if (status != STRAG_OK)
        return status;
    const int64_t length = read_array(reader, object, "ops", &ops);
    if (length == 0)
        return refuse(reader, "ops", "at least one operation is repeated");
    status = length < 0 ? STRAG_ERR_ARGUMENT : add_loop(reader, times);
    memcpy(here, reader->place, sizeof here);
    for (int64_t i = 0; status == STRAG_OK && i < length; i++) {
        snprintf(reader->place, sizeof reader->place, "%.60s.ops[%lld]", here, (long long)i);
        status = read_compact_op(reader, json_array_get(ops, (size_t)i));
    }
    if (status == STRAG_OK)
        memcpy(reader->place, here, sizeof here);
    return status;
}

/* ---- Ranks ---- */

static int add_group(const struct reader *reader, int first, int count, int step)
{
    return strag_given_add_group(reader->given, first, count, step)
               ? STRAG_OK
               : strag_source_memory(&reader->source);
}

/* {"rank": 3, "ops": [...]} */
static int read_rank(struct reader *reader, json_t *object, int index)
{
    static const char *const keys[] = {"rank", "ops", NULL};
    json_t *ops;
    int32_t rank = 0;
    int status = check_keys(reader, object, keys);
    if (status == STRAG_OK)
        status = read_int(reader, object, "rank", 0, reader->head->n - 1, &rank);
    if (status != STRAG_OK)
        return status;
    const int64_t length = read_array(reader, object, "ops", &ops);
    status = length < 0 ? STRAG_ERR_ARGUMENT : add_group(reader, rank, 1, 1);
    if (status == STRAG_OK && length)
        status = add_loop(reader, 1);
    for (int64_t i = 0; status == STRAG_OK && i < length; i++) {
        snprintf(reader->place, sizeof reader->place, "ranks[%d].ops[%lld]", index, (long long)i);
        status = read_op(reader, json_array_get(ops, (size_t)i), (int)i);
    }
    return status;
}

/* [FIRST, COUNT, STEP] */
static int read_members(const struct reader *reader, json_t *object)
{
    json_t *list;
    int64_t parts[3] = {0, 1, 1};
    const int64_t length = read_array(reader, object, "ranks", &list);
    int status = length < 0 ? STRAG_ERR_ARGUMENT : STRAG_OK;
    if (status == STRAG_OK && (length < 1 || length > 3))
        status = refuse(reader, "ranks", "a list of up to 3, [FIRST, COUNT, STEP], is accepted");
    for (int64_t i = 0; status == STRAG_OK && i < length; i++)
        status = read_integer(reader, "ranks", json_array_get(list, (size_t)i), i > 0,
                              reader->head->n - (i == 0), &parts[i]);
    return status == STRAG_OK ? add_group(reader, (int)parts[0], (int)parts[1], (int)parts[2])
                              : status;
}

/* {"ranks": [FIRST, COUNT, STEP], "ops": [...]} */
static int read_group(struct reader *reader, json_t *object, int index)
{
    static const char *const keys[] = {"ranks", "ops", NULL};
    json_t *ops;
    bool single = false; /* the last loop is one of operations that are not repeated */
    int status = check_keys(reader, object, keys);
    if (status == STRAG_OK)
        status = read_members(reader, object);
    if (status != STRAG_OK)
        return status;
    const int64_t length = read_array(reader, object, "ops", &ops);
    status = length < 0 ? STRAG_ERR_ARGUMENT : STRAG_OK;
    for (int64_t i = 0; status == STRAG_OK && i < length; i++) {
        json_t *item = json_array_get(ops, (size_t)i);
        snprintf(reader->place, sizeof reader->place, "groups[%d].ops[%lld]", index, (long long)i);
        if (json_object_get(item, "repeat")) {
            status = read_repeat(reader, item);
            single = false;
            continue;
        }
        if (!single)
            status = add_loop(reader, 1);
        single = true;
        if (status == STRAG_OK)
            status = read_compact_op(reader, item);
    }
    return status;
}

static int read_ranks(struct reader *reader, json_t *root)
{
    const bool plain = json_object_get(root, "ranks");
    const char *key = plain ? "ranks" : "groups";
    json_t *list;
    if (plain && json_object_get(root, "groups"))
        return refuse(reader, "groups", "either 'ranks' or 'groups' is accepted");
    const int64_t length = read_array(reader, root, key, &list);
    if (length < 0)
        return STRAG_ERR_ARGUMENT;
    if (length < 1 || length > reader->head->n)
        return refuse(reader, key, "%lld of them; 1 to %d are accepted, one for each rank at most",
                      (long long)length, reader->head->n);
    int status = STRAG_OK;
    for (int64_t i = 0; status == STRAG_OK && i < length; i++) {
        json_t *item = json_array_get(list, (size_t)i);
        snprintf(reader->place, sizeof reader->place, "%s[%lld]", key, (long long)i);
        status = plain ? read_rank(reader, item, (int)i) : read_group(reader, item, (int)i);
    }
    if (status == STRAG_OK)
        reader->place[0] = '\0';
    return status;
}

/* ---- The head ---- */

static int read_claim(struct reader *reader, json_t *root)
{
    static const char *const keys[] = {"rounds",     "chain",   "straggler", "before",
                                       "one_ported", "in_step", NULL};
    struct strag_given_head *head = reader->head;
    json_t *claim = json_object_get(root, "claim");
    if (!claim)
        return STRAG_OK;
    snprintf(reader->place, sizeof reader->place, "claim");
    int status = check_keys(reader, claim, keys);
    if (status == STRAG_OK)
        status = read_optional_int(reader, claim, "rounds", head->n > 1, STRAG_GIVEN_ROUNDS_MAX,
                                   &head->rounds);
    if (status == STRAG_OK)
        status = read_optional_int(reader, claim, "chain", 0, STRAG_GIVEN_ROUNDS_MAX, &head->chain);
    if (status == STRAG_OK)
        status = read_optional_bool(reader, claim, "one_ported", &head->one_ported);
    if (status == STRAG_OK)
        status = read_optional_bool(reader, claim, "in_step", &head->in_step);
    head->waits = json_object_get(claim, "straggler") || json_object_get(claim, "before");
    if (status == STRAG_OK && head->waits)
        status = read_int(reader, claim, "straggler", 0, head->n - 1, &head->straggler);
    if (status == STRAG_OK && head->waits)
        status = read_int(reader, claim, "before", 0, STRAG_GIVEN_ROUNDS_MAX, &head->before);
    reader->place[0] = '\0';
    return status;
}

/* A list of blocks + 1. */
static int read_edges(const struct reader *reader, json_t *root, const char *key, json_t **list)
{
    const int64_t length = read_array(reader, root, key, list);
    if (length < 0)
        return STRAG_ERR_ARGUMENT;
    if (length != reader->head->blocks + 1)
        return refuse(reader, key, "%lld numbers; %d, one more than there are blocks, are accepted",
                      (long long)length, reader->head->blocks + 1);
    return STRAG_OK;
}

static int read_numerators(struct reader *reader, json_t *root)
{
    const int64_t most = INT64_C(1) << 62;
    json_t *list;
    int64_t denominator = 0;
    if (!json_object_get(root, "denominator") && !json_object_get(root, "numerators"))
        return STRAG_OK;
    int status = read_integer(reader, "denominator", json_object_get(root, "denominator"), 1, most,
                              &denominator);
    if (status == STRAG_OK)
        status = read_edges(reader, root, "numerators", &list);
    if (status != STRAG_OK)
        return status;
    int64_t *numerator = strag_given_numerators(reader->given, denominator);
    if (!numerator)
        return strag_source_memory(&reader->source);
    for (int b = 0; status == STRAG_OK && b <= reader->head->blocks; b++)
        status = read_integer(reader, "numerators", json_array_get(list, (size_t)b), 0, denominator,
                              &numerator[b]);
    return status;
}

/* What the numerators say, for programs that would rather have it so. */
static int check_bounds(const struct reader *reader, json_t *root)
{
    const struct strag_given_head *head;
    const struct strag_given_group *group;
    const struct strag_given_loop *loop;
    const struct strag_given_op *op;
    json_t *list;
    if (!json_object_get(root, "bounds"))
        return STRAG_OK;
    const int status = read_edges(reader, root, "bounds", &list);
    const int64_t *numerator = strag_given_parts(reader->given, &head, &group, &loop, &op);
    for (int b = 0; status == STRAG_OK && b <= head->blocks; b++) {
        const double exact =
            numerator ? (double)numerator[b] / (double)head->denominator : (double)b / head->blocks;
        const json_t *value = json_array_get(list, (size_t)b);
        if (!json_is_number(value) || !(fabs(json_number_value(value) - exact) < 1e-9))
            return refuse(reader, "bounds",
                          "the one at %d is not %.9g, which %s; 'bounds' may be left out", b, exact,
                          numerator ? "numerators[] / denominator is"
                                    : "it is where 'denominator' and 'numerators' are left out");
    }
    return status;
}

static int read_head(struct reader *reader, json_t *root)
{
    static const char *const keys[] = {"strag-plan", "comment", "claim",  "algorithm",
                                       "n",          "blocks",  "bounds", "denominator",
                                       "numerators", "ranks",   "groups", NULL};
    struct strag_given_head *head = reader->head;
    int32_t version = 0;
    int status = check_keys(reader, root, keys);
    if (status == STRAG_OK)
        status =
            read_int(reader, root, "strag-plan", STRAG_PLAN_VERSION, STRAG_PLAN_VERSION, &version);
    const json_t *comment = json_object_get(root, "comment");
    if (status == STRAG_OK && comment && !json_is_string(comment))
        status = refuse(reader, "comment", "a text is accepted");
    if (status == STRAG_OK)
        status = read_int(reader, root, "n", 1, STRAG_GIVEN_RANKS_MAX, &head->n);
    if (status == STRAG_OK)
        status = read_int(reader, root, "blocks", 1, STRAG_GIVEN_BLOCKS_MAX, &head->blocks);
    const char *name = status == STRAG_OK ? read_name(reader, root, "algorithm", NULL) : NULL;
    if (!name)
        return status == STRAG_OK ? STRAG_ERR_ARGUMENT : status;
    snprintf(head->name, sizeof head->name, "%s", name);
    status = read_claim(reader, root);
    if (status == STRAG_OK)
        status = read_numerators(reader, root);
    return status == STRAG_OK ? check_bounds(reader, root) : status;
}

/* ---- Waits ---- */

/* A list of `length` integers in ascending order. @return false: it is another list */
static bool sort_list(json_t *list, int *number, int length)
{
    if (!json_is_array(list) || json_array_size(list) != (size_t)length)
        return false;
    for (int i = 0; i < length; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        const json_int_t integer = json_is_integer(value) ? json_integer_value(value) : -1;
        if (integer < 0 || integer > INT32_MAX)
            return false;
        number[i] = (int)integer;
    }
    qsort(number, (size_t)length, sizeof *number, strag_compare_int);
    return true;
}

/* Is it what the order of operations says? Waits come in any order. @param room  for two such lists
 */
static bool same_waits(json_t *after, const int32_t *needed, int length, int *room)
{
    int *own = room + length;
    if (!sort_list(after, room, length))
        return false;
    if (length == 0) /* then `needed` may be NULL */
        return true;
    memcpy(own, needed, (size_t)length * sizeof *own);
    qsort(own, (size_t)length, sizeof *own, strag_compare_int);
    return memcmp(own, room, (size_t)length * sizeof *own) == 0;
}

static int check_after(const struct reader *reader, json_t *after, const struct strag_plan *plan,
                       int op)
{
    int length;
    char text[128] = "";
    const int32_t *needed = strag_plan_after(plan, op, &length);
    int *room = malloc((2 * (size_t)length + 1) * sizeof *room);
    if (!room)
        return strag_source_memory(&reader->source);
    const bool same = same_waits(after, needed, length, room);
    free(room);
    if (same)
        return STRAG_OK;
    for (int w = 0; w < length; w++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%d", w ? "," : "", needed[w]);
    }
    return refuse(reader, "after", "from the order of operations it is [%s]; it may be left out",
                  text);
}

static int check_waits_of(struct reader *reader, json_t *ops, int index, int rank,
                          const struct strag_instance *instance)
{
    struct strag_plan *plan;
    struct strag_error why;
    bool any = false;
    for (size_t i = 0; !any && i < json_array_size(ops); i++)
        any = json_object_get(json_array_get(ops, i), "after");
    if (!any)
        return STRAG_OK;
    int status = strag_instance_plan(instance, rank, &plan, &why);
    if (status != STRAG_OK)
        return strag_fail(reader->source.err, status, "%s: %.900s", reader->source.name, why.text);
    for (int i = 0; status == STRAG_OK && i < plan->nops; i++) {
        json_t *after = json_object_get(json_array_get(ops, (size_t)i), "after");
        snprintf(reader->place, sizeof reader->place, "ranks[%d].ops[%d]", index, i);
        if (after)
            status = check_after(reader, after, plan, i);
    }
    strag_plan_free(plan);
    return status;
}

/* In the plain form. */
static int check_waits(struct reader *reader, json_t *root)
{
    struct strag_instance instance;
    struct strag_error why;
    const struct strag_problem problem = {.n = reader->head->n};
    json_t *ranks = json_object_get(root, "ranks");
    if (!ranks)
        return STRAG_OK;
    int status =
        strag_instance_open(&instance, strag_given_algorithm(reader->given), &problem, &why);
    if (status != STRAG_OK)
        return strag_fail(reader->source.err, status, "%s: %.900s", reader->source.name, why.text);
    for (size_t i = 0; status == STRAG_OK && i < json_array_size(ranks); i++) {
        json_t *item = json_array_get(ranks, i);
        const int rank = (int)json_integer_value(json_object_get(item, "rank"));
        status = check_waits_of(reader, json_object_get(item, "ops"), (int)i, rank, &instance);
    }
    strag_instance_close(&instance);
    return status;
}

/* ---- All ---- */

static int read_root(struct reader *reader, json_t *root, const struct strag_effort *most)
{
    struct strag_error why;
    int status = read_head(reader, root);
    if (status == STRAG_OK)
        status = read_ranks(reader, root);
    if (status == STRAG_OK && (status = strag_given_close(reader->given, most, &why)) != STRAG_OK)
        return strag_fail(reader->source.err, status, "%s: %.900s", reader->source.name, why.text);
    return status == STRAG_OK ? check_waits(reader, root) : status;
}

/* Bytes of what jansson makes of a text, at most: up to 80 times as long. */
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
    if (reader.given) {
        reader.given->hash = strag_hash(STRAG_HASH_START, text, length);
        reader.given->bytes = length;
        reader.head = strag_given_head(reader.given);
        status = read_root(&reader, root, most);
    } else {
        status = strag_source_memory(&reader.source);
    }
    json_decref(root);
    if (status == STRAG_OK)
        *given = reader.given;
    else
        strag_given_free(reader.given);
    return status;
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
