/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Of each block every rank's contribution is kept by exactly one rank, its keeper (it may keep
 * those of others as well); a rank that keeps nothing of a block holds a stale value there. In
 * every round messages are chosen that leave this true:
 *
 *     give    a keeper's value is reduced into another keeper's; the sender's becomes stale
 *     swap    two keepers reduce each other's value; one of them is the keeper from now on
 *     junk    any value replaces a stale one
 *
 * Each block of a rank is written at most once in a round, and is sent before it is written, so the
 * order of messages within a round is free as long as each rank's sends of a block come before its
 * receive of it.
 */
#include "random_plan.h"

enum { ROUNDS_MAX = 64, MESSAGES_MAX = 40, BATCHES_MAX = 6 };

struct message {
    int from, to, first, count;
    bool reduces, swaps;
};

struct scene {
    int n, blocks, round;
    bool keeps[RANDOM_RANKS_MAX][RANDOM_BLOCKS_MAX];
    struct message messages[ROUNDS_MAX][MESSAGES_MAX];
    int length[ROUNDS_MAX];
    struct rng *rng;

    /* this round: values that are about to be written, and keepers that have given theirs away */
    bool written[RANDOM_RANKS_MAX][RANDOM_BLOCKS_MAX], given[RANDOM_RANKS_MAX][RANDOM_BLOCKS_MAX];
};

/* Is it a keeper before this round, free to give away or to take in? */
static bool free_keeper(const struct scene *scene, int rank, int block)
{
    return scene->keeps[rank][block] && !scene->written[rank][block] && !scene->given[rank][block];
}

/* Does the block hold a stale value that may be replaced in this round? A keeper that has given its
 * value away in this round holds one, too. */
static bool replaceable(const struct scene *scene, int rank, int block)
{
    return !scene->written[rank][block] &&
           (!scene->keeps[rank][block] || scene->given[rank][block]);
}

static void add(struct scene *scene, struct message message)
{
    int *length = &scene->length[scene->round];
    if (*length < MESSAGES_MAX)
        scene->messages[scene->round][(*length)++] = message;
}

static bool has_room(const struct scene *scene)
{
    return scene->length[scene->round] + 2 <= MESSAGES_MAX;
}

static bool can_give(const struct scene *scene, int from, int to, int block)
{
    return free_keeper(scene, from, block) && free_keeper(scene, to, block);
}

static bool can_junk(const struct scene *scene, int from, int to, int block)
{
    return replaceable(scene, to, block);
}

/* The longest range from `first` on in which every block allows it, cut at random. */
static int range(const struct scene *scene,
                 bool (*allows)(const struct scene *scene, int from, int to, int block), int from,
                 int to, int first)
{
    int count = 0;
    while (first + count < scene->blocks && allows(scene, from, to, first + count))
        count++;
    return count > 1 && rng_one_in(scene->rng, 2) ? 1 + (int)rng_below(scene->rng, (unsigned)count)
                                                  : count;
}

static void give(struct scene *scene, int from, int to, int first, int count, bool swap)
{
    add(scene, (struct message){from, to, first, count, true, swap});
    if (swap)
        add(scene, (struct message){to, from, first, count, true, true});
    for (int b = first; b < first + count; b++) {
        scene->given[from][b] = true;
        scene->written[to][b] = true;
        scene->written[from][b] |= swap;
    }
}

static void choose(struct scene *scene)
{
    int from = (int)rng_below(scene->rng, (unsigned)scene->n);
    int to = (from + 1 + (int)rng_below(scene->rng, (unsigned)scene->n - 1)) % scene->n;
    int first = (int)rng_below(scene->rng, (unsigned)scene->blocks);
    bool junk = rng_one_in(scene->rng, 3);
    int count = range(scene, junk ? can_junk : can_give, from, to, first);
    if (count == 0 || !has_room(scene))
        return;
    if (!junk) {
        give(scene, from, to, first, count, rng_one_in(scene->rng, 4));
        return;
    }
    add(scene, (struct message){from, to, first, count, false, false});
    for (int b = first; b < first + count; b++)
        scene->written[to][b] = true;
}

/* The round's messages have taken place. */
static void end_round(struct scene *scene)
{
    for (int rank = 0; rank < scene->n; rank++) {
        for (int b = 0; b < scene->blocks; b++)
            scene->keeps[rank][b] &= !scene->given[rank][b];
    }
    memset(scene->written, 0, sizeof scene->written);
    memset(scene->given, 0, sizeof scene->given);
    if (scene->length[scene->round])
        scene->round++;
}

static int keepers(const struct scene *scene, int block)
{
    int all = 0;
    for (int rank = 0; rank < scene->n; rank++)
        all += scene->keeps[rank][block];
    return all;
}

/* Give and give until each block has one keeper; there are fewer keepers after every round. */
static void put_together(struct scene *scene)
{
    bool more = true;
    while (more) {
        more = false;
        for (int from = 0; from < scene->n; from++) {
            for (int b = 0; b < scene->blocks; b++) {
                int to = (int)rng_below(scene->rng, (unsigned)scene->n);
                if (keepers(scene, b) > 1 && to != from && has_room(scene) &&
                    can_give(scene, from, to, b))
                    give(scene, from, to, b, range(scene, can_give, from, to, b), false);
            }
        }
        end_round(scene);
        for (int b = 0; b < scene->blocks; b++)
            more |= keepers(scene, b) > 1;
    }
}

/* Each block goes from its keeper to all others, neighbouring ones of one keeper together. */
static void spread(struct scene *scene)
{
    for (int to = 0; to < scene->n; to++) {
        for (int first = 0; first < scene->blocks;) {
            int from = 0, count = 0;
            while (!scene->keeps[from][first])
                from++;
            while (first + count < scene->blocks && scene->keeps[from][first + count])
                count++;
            if (from != to)
                add(scene, (struct message){from, to, first, count, false, false});
            first += count;
        }
        end_round(scene);
    }
}

/* ---- From messages to plans ---- */

struct side {
    const struct message *message;
    bool send;
    int key; /* decides the order within a round */
};

/* Receives of what the rank sends come after the sends; otherwise anything goes, but messages to or
 * from one peer keep their order. */
static bool must_follow(const struct side *a, const struct side *b)
{
    const struct message *x = a->message, *y = b->message;
    bool overlap = x->first < y->first + y->count && y->first < x->first + x->count;
    return a->send && !b->send && overlap;
}

static void shuffle(struct side *sides, int length, struct rng *rng)
{
    for (int turns = 0; turns < 4 * length; turns++) {
        int i = length > 1 ? (int)rng_below(rng, (unsigned)length - 1) : 0;
        if (length < 2)
            return;
        struct side first = sides[i];
        bool same_way = first.send == sides[i + 1].send;
        bool same_peer = first.send ? first.message->to == sides[i + 1].message->to
                                    : first.message->from == sides[i + 1].message->from;
        if ((same_way && same_peer) || must_follow(&first, &sides[i + 1]) ||
            must_follow(&sides[i + 1], &first))
            continue;
        sides[i] = sides[i + 1];
        sides[i + 1] = first;
    }
}

static void build_round(const struct scene *scene, int round, int rank,
                        struct strag_builder *builder)
{
    struct side sides[2 * MESSAGES_MAX];
    int length = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < scene->length[round]; i++) {
            const struct message *m = &scene->messages[round][i];
            if ((pass == 0 ? m->from : m->to) == rank)
                sides[length++] = (struct side){m, pass == 0, 0};
        }
    }
    shuffle(sides, length, scene->rng);
    for (int i = 0; i < length; i++) {
        const struct message *m = sides[i].message;
        if (sides[i].send)
            strag_send(builder, round, m->to, m->first, m->count);
        else if (!m->reduces)
            strag_recv(builder, round, m->from, m->first, m->count);
        else if (m->swaps)
            strag_exchange_reduce(builder, round, m->from, m->first, m->count);
        else
            strag_recv_reduce(builder, round, m->from, m->first, m->count);
    }
}

/* Bounds at random, empty blocks included; half of the time equal ones. */
static struct strag_bounds random_bounds(const struct scene *scene, int64_t *numerators)
{
    struct strag_bounds bounds = {.blocks = scene->blocks, .denominator = scene->blocks};
    if (rng_one_in(scene->rng, 2))
        return bounds;
    numerators[0] = 0;
    for (int b = 0; b < scene->blocks; b++)
        numerators[b + 1] = numerators[b] + rng_below(scene->rng, 8);
    numerators[scene->blocks] += numerators[scene->blocks] == 0;
    bounds.denominator = numerators[scene->blocks];
    bounds.numerator = numerators;
    return bounds;
}

struct strag_plan **random_plans(int n, struct rng *rng)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct strag_plan **plans = calloc((size_t)n, sizeof *plans);
    assert_true(scene && plans);
    scene->n = n;
    scene->blocks = 1 + (int)rng_below(rng, RANDOM_BLOCKS_MAX);
    scene->rng = rng;
    memset(scene->keeps, true, sizeof scene->keeps);
    for (unsigned batches = rng_below(rng, BATCHES_MAX); batches; batches--) {
        for (unsigned tries = rng_below(rng, 25); tries; tries--)
            choose(scene);
        end_round(scene);
    }
    put_together(scene);
    spread(scene);

    int64_t numerators[RANDOM_BLOCKS_MAX + 1];
    const struct strag_shape shape = {
        .algorithm = "random",
        .n = n,
        .rounds = scene->round,
        .bounds = random_bounds(scene, numerators),
    };
    for (int rank = 0; rank < n; rank++) {
        struct strag_error err = {""};
        struct strag_builder *builder = strag_builder_create(&shape, rank);
        assert_non_null(builder);
        for (int round = 0; round < scene->round; round++)
            build_round(scene, round, rank, builder);
        if (strag_builder_finish(builder, &plans[rank], &err) != STRAG_OK)
            fail_msg("%s", err.text);
    }
    free(scene);
    return plans;
}
