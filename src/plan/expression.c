/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/expression.h"

#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Numbers for 64-bit keys: the first key gets 1, and a key that comes again the same number. */
struct numbering {
    uint64_t *keys;  /* by number; keys[0] is unused */
    uint32_t *slots; /* open addressing: numbers, 0 is free */
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

/* Twice the room; the table of slots is kept at most half full. */
static bool enlarge(struct numbering *table)
{
    uint32_t room = table->room ? 2 * table->room : 64;
    if (room > UINT32_MAX / 4)
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

/* @return the key's number, 0 when out of memory; *fresh: it was not there before */
static uint32_t number(struct numbering *table, uint64_t key, bool *fresh)
{
    *fresh = false;
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
};

static uint64_t two(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* Set number 0 is the empty set at every level; the other results of 0 are failures, told apart by
 * *status. */
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

void strag_expressions_free(struct strag_expression_table *table)
{
    if (!table)
        return;
    for (int level = 0; level < LEVELS_MAX; level++)
        numbering_free(&table->sets[level]);
    numbering_free(&table->pairs);
    free(table->set);
    free(table);
}

struct strag_expression_table *strag_expressions_create(int n)
{
    struct strag_expression_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->n = n;
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

int32_t strag_expression_pair(struct strag_expression_table *table, int32_t left, int32_t right)
{
    int status = 0;
    bool fresh;
    uint32_t pair = number(&table->pairs, two((uint32_t)left, (uint32_t)right), &fresh);
    if (!pair)
        return STRAG_EXPRESSION_MEMORY;
    uint32_t expression = (uint32_t)table->n + pair - 1;
    if (!fresh)
        return table->set[expression] ? (int32_t)expression : STRAG_EXPRESSION_TWICE;
    if (expression >= INT32_MAX ||
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
    return common(table, table->levels - 1, table->set[a], table->set[b]);
}
