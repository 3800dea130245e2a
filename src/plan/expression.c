/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/expression.h"

#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Effort of finding a number, in steps. */
enum { NUMBER_STEPS = 10 };

/* Numbers for 64-bit keys: the first key gets 1, and a key that comes again keeps its number. */
struct numbering {
    struct strag_effort *left;
    uint64_t *keys;  /* by number; keys[0] is unused */
    uint32_t *slots; /* a hash table with open addressing: numbers, or 0 if the slot is free */
    uint32_t used, room, mask;
};

static uint32_t hash(uint64_t key)
{
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
    return (uint32_t)(key >> 32);
}

static void place(struct numbering *table, uint32_t number)
{
    uint32_t slot = hash(table->keys[number]) & table->mask;
    while (table->slots[slot])
        slot = (slot + 1) & table->mask;
    table->slots[slot] = number;
}

/* Double the room. The table of slots stays at most half full. */
static bool enlarge(struct numbering *table)
{
    uint32_t room = table->room ? 2 * table->room : 64;
    const size_t added =
        (size_t)(room - table->room) * (sizeof *table->keys + 2 * sizeof *table->slots);
    if (room > UINT32_MAX / 4 || !strag_effort_take(table->left, 0, (int64_t)added))
        return false;
    uint64_t *keys = realloc(table->keys, room * sizeof *keys);
    if (!keys)
        return false;
    table->keys = keys;
    uint32_t *slots = calloc((size_t)room * 2, sizeof *slots);
    if (!slots)
        return false;
    free(table->slots);
    table->slots = slots;
    table->room = room;
    table->mask = 2 * room - 1;
    for (uint32_t i = 1; i <= table->used; i++)
        place(table, i);
    return true;
}

/* @return the key's number, 0 when out of memory or effort. @param[out] fresh  the key is new */
static uint32_t number(struct numbering *table, uint64_t key, bool *fresh)
{
    *fresh = false;
    if (!strag_effort_take(table->left, NUMBER_STEPS, 0))
        return 0;
    if (table->room) {
        uint32_t slot = hash(key) & table->mask;
        for (; table->slots[slot]; slot = (slot + 1) & table->mask) {
            if (table->keys[table->slots[slot]] == key)
                return table->slots[slot];
        }
    }
    if (table->used + 1 >= table->room && !enlarge(table))
        return 0;
    *fresh = true;
    table->keys[++table->used] = key;
    place(table, table->used);
    return table->used;
}

static void numbering_free(struct numbering *table)
{
    free(table->keys);
    free(table->slots);
}

#define LEVELS_MAX 26 /* 64 * 2^25 ranks */

struct strag_expression_table {
    int n;
    int levels;                        /* of the set trees; level 0 are the leaves */
    struct numbering sets[LEVELS_MAX]; /* level 0: 64 bits; above: two numbers of the level below */
    struct numbering pairs;            /* expression n + i - 1 is pair i */
    uint32_t *set;                     /* by expression: number of its set at the top level */
    int set_room;
    struct turned *turned; /* NULL if expressions are not turned; else it has all but n and pairs */
};

static uint64_t two(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* The union of two sets. Set 0 is the empty set at every level; a result of 0 is a failure if
 * *status is set. */
static uint32_t unite(struct strag_expression_table *table, int level, uint32_t a, uint32_t b,
                      int *status)
{
    bool fresh;
    uint32_t result;
    if (!a || !b)
        return a ? a : b;
    uint64_t x = table->sets[level].keys[a], y = table->sets[level].keys[b];
    if (level == 0) {
        if (x & y) {
            *status = STRAG_EXPRESSION_TWICE;
            return 0;
        }
        result = number(&table->sets[0], x | y, &fresh);
    } else {
        uint32_t high = unite(table, level - 1, (uint32_t)(x >> 32), (uint32_t)(y >> 32), status);
        if (*status)
            return 0;
        uint32_t low = unite(table, level - 1, (uint32_t)x, (uint32_t)y, status);
        if (*status)
            return 0;
        result = number(&table->sets[level], two(high, low), &fresh);
    }
    if (!result)
        *status = STRAG_EXPRESSION_MEMORY;
    return result;
}

/* The set of one rank. Bit level+5 of a rank's number says which half of the tree it is in. */
static uint32_t single(struct strag_expression_table *table, int rank)
{
    bool fresh;
    uint32_t set = number(&table->sets[0], UINT64_C(1) << (rank & 63), &fresh);
    for (int level = 1; set && level < table->levels; level++) {
        bool high = rank >> (level + 5) & 1;
        set = number(&table->sets[level], high ? two(set, 0) : two(0, set), &fresh);
    }
    return set;
}

/* A table that is empty but for n. */
static struct strag_expression_table *create(int n, struct strag_effort *left)
{
    struct strag_expression_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->n = n;
    table->pairs.left = left;
    for (int level = 0; level < LEVELS_MAX; level++)
        table->sets[level].left = left;
    return table;
}

struct strag_expression_table *strag_expressions_create(int n, struct strag_effort *left)
{
    struct strag_expression_table *table = create(n, left);
    if (!table)
        return NULL;
    table->levels = 1;
    while ((64ll << (table->levels - 1)) < n)
        table->levels++;
    bool good = strag_array_grow(&table->set, &table->set_room, n, sizeof *table->set);
    for (int rank = 0; good && rank < n; rank++) {
        table->set[rank] = single(table, rank);
        good = table->set[rank] != 0;
    }
    if (good)
        return table;
    strag_expressions_free(table);
    return NULL;
}

/* ---- Turned expressions ---- */

/* Expression e is number e + 1 of the table's pairs, whose keys are two(shape, the distance it is
 * turned by). Shape 0 is a single input. */
struct turned {
    /* key: two(left's shape, the right expression turned back by left's turn); number: shape */
    struct numbering shapes;
    uint64_t *bits; /* by shape, `words` for each: the inputs in it */
    int32_t *size;  /* by shape: how many inputs, or 0 if one of them comes twice */
    int words, bits_room, size_room;
};

static void turned_free(struct turned *turned)
{
    if (!turned)
        return;
    numbering_free(&turned->shapes);
    free(turned->bits);
    free(turned->size);
    free(turned);
}

/* Room for a shape. @return its bits, all 0; NULL when out of memory or effort */
static uint64_t *add_shape(struct turned *turned, uint32_t shape)
{
    const size_t words = (size_t)turned->words, at = shape * words;
    if (at + words > INT32_MAX ||
        !strag_effort_take(turned->shapes.left, turned->words,
                           (int64_t)(2 * words * sizeof(uint64_t))) ||
        !strag_array_grow(&turned->bits, &turned->bits_room, (int)(at + words),
                          sizeof *turned->bits) ||
        !strag_array_grow(&turned->size, &turned->size_room, (int)shape + 1, sizeof *turned->size))
        return NULL;
    turned->size[shape] = 0;
    return memset(turned->bits + at, 0, words * sizeof *turned->bits);
}

/* @return the expression, or STRAG_EXPRESSION_MEMORY */
static int32_t turned_expression(struct strag_expression_table *table, uint32_t shape, uint32_t by)
{
    bool fresh;
    const uint32_t found = number(&table->pairs, two(shape, by), &fresh);
    return found && found <= INT32_MAX ? (int32_t)found - 1 : STRAG_EXPRESSION_MEMORY;
}

struct strag_expression_table *strag_expressions_create_turned(int n, struct strag_effort *left)
{
    struct strag_expression_table *table = create(n, left);
    if (!table)
        return NULL;
    struct turned *turned = table->turned = calloc(1, sizeof *turned);
    if (turned) {
        turned->shapes.left = left;
        turned->words = (n + 63) / 64;
        uint64_t *bits = add_shape(turned, 0);
        if (bits && turned_expression(table, 0, 0) == 0) {
            bits[0] = 1;
            turned->size[0] = 1;
            return table;
        }
    }
    strag_expressions_free(table);
    return NULL;
}

/* 64 bits of a set from a bit on. Bits outside of the set are 0. */
static uint64_t bits_from(const uint64_t *set, int words, int64_t bit)
{
    const int64_t word = bit < 0 ? -((63 - bit) / 64) : bit / 64;
    const int beyond = (int)(bit - 64 * word);
    const uint64_t low = word >= 0 && word < words ? set[word] : 0;
    const uint64_t high = word >= -1 && word < words - 1 ? set[word + 1] : 0;
    return low >> beyond | (beyond ? high << (64 - beyond) : 0);
}

/* Unite the sets of a shape's operands. @param by  how far the right one is turned
 * @return how many inputs there are, or 0 if one comes twice */
static int32_t unite_turned(const struct turned *turned, int n, uint64_t *bits, uint32_t left,
                            uint32_t right, uint32_t by)
{
    const int words = turned->words;
    const uint64_t *one = turned->bits + (size_t)left * (size_t)words;
    const uint64_t *other = turned->bits + (size_t)right * (size_t)words;
    for (int w = 0; w < words; w++) {
        const int64_t from = INT64_C(64) * w - by;
        uint64_t moved = bits_from(other, words, from) | bits_from(other, words, from + n);
        if (w == words - 1 && n % 64) /* no bits behind the last input */
            moved &= (UINT64_C(1) << n % 64) - 1;
        if (one[w] & moved)
            return 0;
        bits[w] = one[w] | moved;
    }
    return turned->size[left] + turned->size[right];
}

static int32_t pair_turned(struct strag_expression_table *table, int32_t left, int32_t right)
{
    struct turned *turned = table->turned;
    const uint64_t one = table->pairs.keys[left + 1], other = table->pairs.keys[right + 1];
    const uint32_t n = (uint32_t)table->n, turn = (uint32_t)one;
    const uint32_t by = ((uint32_t)other + n - turn) % n;
    const uint32_t left_shape = (uint32_t)(one >> 32), right_shape = (uint32_t)(other >> 32);
    const int32_t moved = turned_expression(table, right_shape, by);
    bool fresh = false;
    const uint32_t shape =
        moved < 0 ? 0 : number(&turned->shapes, two(left_shape, (uint32_t)moved), &fresh);
    if (!shape)
        return STRAG_EXPRESSION_MEMORY;
    if (fresh) {
        uint64_t *bits = add_shape(turned, shape);
        if (!bits)
            return STRAG_EXPRESSION_MEMORY;
        turned->size[shape] = unite_turned(turned, table->n, bits, left_shape, right_shape, by);
    }
    return turned->size[shape] ? turned_expression(table, shape, turn) : STRAG_EXPRESSION_TWICE;
}

int32_t strag_expression_turn(struct strag_expression_table *table, int32_t expression, int by)
{
    const uint64_t key = table->pairs.keys[expression + 1];
    return turned_expression(table, (uint32_t)(key >> 32),
                             ((uint32_t)key + (uint32_t)by) % (uint32_t)table->n);
}

static bool has_input(const struct strag_expression_table *table, int32_t expression, int input)
{
    const uint64_t key = table->pairs.keys[expression + 1];
    const int bit = (input - (int)(uint32_t)key + table->n) % table->n;
    const size_t first = (size_t)(key >> 32) * (size_t)table->turned->words;
    return table->turned->bits[first + (size_t)bit / 64] >> bit % 64 & 1;
}

static int common_turned(const struct strag_expression_table *table, int32_t a, int32_t b)
{
    int input = 0;
    while (input < table->n && !(has_input(table, a, input) && has_input(table, b, input)))
        input++;
    return input < table->n ? input : -1;
}

/* ---- All ---- */

void strag_expressions_free(struct strag_expression_table *table)
{
    if (!table)
        return;
    for (int level = 0; level < LEVELS_MAX; level++)
        numbering_free(&table->sets[level]);
    numbering_free(&table->pairs);
    turned_free(table->turned);
    free(table->set);
    free(table);
}

int32_t strag_expression_pair(struct strag_expression_table *table, int32_t left, int32_t right)
{
    int status = 0;
    bool fresh;
    if (table->turned)
        return pair_turned(table, left, right);
    uint32_t pair = number(&table->pairs, two((uint32_t)left, (uint32_t)right), &fresh);
    if (!pair)
        return STRAG_EXPRESSION_MEMORY;
    uint32_t expression = (uint32_t)table->n + pair - 1;
    if (!fresh)
        return table->set[expression] ? (int32_t)expression : STRAG_EXPRESSION_TWICE;
    if (expression >= INT32_MAX ||
        !strag_effort_take(table->pairs.left, 0, 2 * (int64_t)sizeof *table->set) ||
        !strag_array_grow(&table->set, &table->set_room, (int)expression + 1, sizeof *table->set))
        return STRAG_EXPRESSION_MEMORY;
    table->set[expression] =
        unite(table, table->levels - 1, table->set[left], table->set[right], &status);
    return status ? status : (int32_t)expression;
}

int32_t strag_expression_count(const struct strag_expression_table *table)
{
    return table->n + (int32_t)table->pairs.used;
}

void strag_expression_operands(const struct strag_expression_table *table, int32_t expression,
                               int32_t *left, int32_t *right)
{
    uint64_t key = table->pairs.keys[expression - table->n + 1];
    *left = (int32_t)(key >> 32);
    *right = (int32_t)(uint32_t)key;
}

static int members(const struct strag_expression_table *table, int level, uint32_t set)
{
    if (!set)
        return 0;
    uint64_t key = table->sets[level].keys[set];
    if (level == 0)
        return __builtin_popcountll(key);
    return members(table, level - 1, (uint32_t)(key >> 32)) +
           members(table, level - 1, (uint32_t)key);
}

int strag_expression_ranks(const struct strag_expression_table *table, int32_t expression)
{
    if (table->turned)
        return table->turned->size[table->pairs.keys[expression + 1] >> 32];
    return members(table, table->levels - 1, table->set[expression]);
}

static int common(const struct strag_expression_table *table, int level, uint32_t a, uint32_t b)
{
    if (!a || !b)
        return -1;
    uint64_t x = table->sets[level].keys[a], y = table->sets[level].keys[b];
    if (level == 0)
        return x & y ? __builtin_ctzll(x & y) : -1;
    int rank = common(table, level - 1, (uint32_t)x, (uint32_t)y);
    if (rank >= 0)
        return rank;
    rank = common(table, level - 1, (uint32_t)(x >> 32), (uint32_t)(y >> 32));
    return rank >= 0 ? rank + (32 << level) : -1;
}

int strag_expression_common(const struct strag_expression_table *table, int32_t a, int32_t b)
{
    if (table->turned)
        return common_turned(table, a, b);
    return common(table, table->levels - 1, table->set[a], table->set[b]);
}
