/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is there? All orders of arrivals, messages and timers, with up to five ranks, and three calls
 * (two with five ranks): never two decisions for a call, all ranks get the same one, nobody waits
 * for ever, no message is left, and one late rank, whichever, keeps nobody waiting. A state that
 * was met before is not examined again; of each its hash is kept, 128 bits. STRAG_CASES_MOST: of
 * each setting this many times 20 states at most, if examining all would take minutes.
 */
#include "run/arrivals.h"

#include "support.h"

#include <limits.h>
#include <stddef.h>

enum {
    RANKS_MAX = 5,
    CALLS_MAX = 3,
    UNDER_WAY = 6, /* messages between two ranks, at most */
    BYTES_MAX = 160,
    NOBODY = -1,
};

enum phase { OUTSIDE, DECIDING, RUNNING, ENDING };

/* What is explored. */
struct setting {
    int n, calls;
    int held; /* this rank comes to call 0 when the others have gone ahead; NOBODY: any order */
    struct strag_arrivals_roles roles[CALLS_MAX];
};

struct channel {
    uint8_t count;
    struct strag_arrivals_message message[UNDER_WAY];
};

struct rank {
    uint8_t phase, calls; /* begun */
    _Alignas(8) unsigned char arrivals[BYTES_MAX];
};

struct state {
    struct rank rank[RANKS_MAX];
    struct channel channel[RANKS_MAX][RANKS_MAX]; /* from, to */
    int8_t decision[CALLS_MAX], by[CALLS_MAX];
};

/* The states met, and those whose successors are still to be examined. */
struct exploration {
    const struct setting *setting;
    struct hash {
        uint64_t a, b;
    } * met;
    size_t room, count;
    struct state *open;
    size_t open_room, nopen;
};

static struct strag_arrivals *arrivals_of(struct state *state, int rank)
{
    return (struct strag_arrivals *)state->rank[rank].arrivals;
}

/* ---- What was met ---- */

static void add(struct hash *hash, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, (const char *)data + i, bytes - i < 8 ? bytes - i : 8);
        hash->a = (hash->a ^ word) * 0x9e3779b97f4a7c15u;
        hash->b = (hash->b + word) * 0xc2b2ae3d27d4eb4fu;
        hash->a ^= hash->a >> 29;
        hash->b ^= hash->b >> 31;
    }
}

/* Of what is in use: most channels are empty. */
static struct hash hash_of(const struct state *state, int n)
{
    struct hash hash = {1, 2};
    for (int r = 0; r < n; r++) {
        const struct rank *rank = &state->rank[r];
        add(&hash, rank, offsetof(struct rank, arrivals) + strag_arrivals_bytes(n));
        for (int to = 0; to < n; to++) {
            const struct channel *channel = &state->channel[r][to];
            const uint8_t count[] = {(uint8_t)to, channel->count};
            if (!channel->count)
                continue;
            add(&hash, count, sizeof count);
            add(&hash, channel->message, channel->count * sizeof *channel->message);
        }
    }
    add(&hash, state->decision, sizeof state->decision);
    add(&hash, state->by, sizeof state->by);
    hash.a |= 1; /* 0 is an empty place */
    return hash;
}

static bool insert(struct hash *met, size_t room, struct hash hash)
{
    size_t at = (size_t)scramble(hash.a) % room;
    for (; met[at].a; at = (at + 1) % room) {
        if (met[at].a == hash.a && met[at].b == hash.b)
            return false;
    }
    met[at] = hash;
    return true;
}

static bool is_new(struct exploration *exploration, const struct state *state)
{
    if (2 * exploration->count >= exploration->room) {
        const size_t room = exploration->room ? 4 * exploration->room : 1024;
        struct hash *met = calloc(room, sizeof *met);
        assert_non_null(met);
        for (size_t i = 0; i < exploration->room; i++) {
            if (exploration->met[i].a)
                insert(met, room, exploration->met[i]);
        }
        free(exploration->met);
        exploration->met = met;
        exploration->room = room;
    }
    const bool fresh =
        insert(exploration->met, exploration->room, hash_of(state, exploration->setting->n));
    exploration->count += fresh;
    return fresh;
}

static void open_state(struct exploration *exploration, const struct state *state)
{
    if (!is_new(exploration, state))
        return;
    if (exploration->nopen == exploration->open_room) {
        exploration->open_room = exploration->open_room ? 2 * exploration->open_room : 64;
        exploration->open =
            realloc(exploration->open, exploration->open_room * sizeof *exploration->open);
        assert_non_null(exploration->open);
    }
    exploration->open[exploration->nopen++] = *state;
}

/* ---- Steps ---- */

struct sender {
    struct state *state;
    int rank;
};

static void send(void *context, int to, const struct strag_arrivals_message *message)
{
    const struct sender *sender = context;
    struct channel *channel = &sender->state->channel[sender->rank][to];
    assert_int_not_equal(to, sender->rank);
    assert_true(channel->count < UNDER_WAY);
    channel->message[channel->count++] = *message;
    if (message->kind != STRAG_ARRIVALS_DECIDE)
        return;
    int8_t *by = &sender->state->by[message->call];
    if (*by != NOBODY && *by != sender->rank)
        fail_msg("ranks %d and %d both decide call %u", *by, sender->rank, message->call);
    *by = (int8_t)sender->rank;
}

/* What a rank does at once: run as soon as there is a decision, leave as soon as all has come. */
static void follow(struct state *state, int r)
{
    struct rank *rank = &state->rank[r];
    const struct strag_arrivals *arrivals = arrivals_of(state, r);
    const int decision = strag_arrivals_decision(arrivals);
    if (rank->phase == DECIDING && decision != STRAG_ARRIVALS_UNDECIDED) {
        int8_t *first = &state->decision[rank->calls - 1];
        if (*first == STRAG_ARRIVALS_UNDECIDED)
            *first = (int8_t)decision;
        assert_int_equal(decision, *first);
        rank->phase = RUNNING;
    }
    if (rank->phase == ENDING && !strag_arrivals_wants(arrivals))
        rank->phase = OUTSIDE;
}

static bool has_started(const struct state *state, int rank, int calls)
{
    const struct rank *other = &state->rank[rank];
    return other->calls > calls || (other->calls == calls && other->phase != DECIDING);
}

/* The held rank comes when the others have started, with a decision that is "without it". */
static bool may_arrive(const struct setting *setting, const struct state *state, int r)
{
    if (state->rank[r].phase != OUTSIDE || state->rank[r].calls == setting->calls)
        return false;
    if (r != setting->held || state->rank[r].calls > 0)
        return true;
    for (int other = 0; other < setting->n; other++) {
        if (other != r && !has_started(state, other, 1))
            return false;
    }
    assert_int_equal(state->decision[0], r);
    return true;
}

static bool may_receive(struct state *state, int r)
{
    const uint8_t phase = state->rank[r].phase;
    return (phase == DECIDING || phase == ENDING) && strag_arrivals_wants(arrivals_of(state, r));
}

/* Nobody has the sum before all have started. */
static bool may_finish(const struct setting *setting, const struct state *state, int r)
{
    bool all = state->rank[r].phase == RUNNING;
    for (int other = 0; other < setting->n && all; other++)
        all = has_started(state, other, state->rank[r].calls);
    return all;
}

static void arrive(const struct setting *setting, struct state *state, int r)
{
    struct sender sender = {state, r};
    const struct strag_arrivals_port port = {send, &sender};
    const int call = state->rank[r].calls++;
    state->rank[r].phase = DECIDING;
    strag_arrivals_begin(arrivals_of(state, r), &setting->roles[call], &port);
}

static void receive(struct state *state, int from, int to)
{
    struct sender sender = {state, to};
    const struct strag_arrivals_port port = {send, &sender};
    struct channel *channel = &state->channel[from][to];
    const struct strag_arrivals_message message = channel->message[0];
    channel->count--;
    memmove(channel->message, channel->message + 1, channel->count * sizeof message);
    memset(channel->message + channel->count, 0, sizeof message);
    strag_arrivals_receive(arrivals_of(state, to), from, &message, &port);
}

static void expire(struct state *state, int r)
{
    struct sender sender = {state, r};
    const struct strag_arrivals_port port = {send, &sender};
    strag_arrivals_expire(arrivals_of(state, r), &port);
}

/* ---- All of them ---- */

/* Everything that can happen next to a rank. @return how much */
static int successors(struct exploration *exploration, struct state *state, int r)
{
    const struct setting *setting = exploration->setting;
    struct state next;
    int count = 0;
    if (may_arrive(setting, state, r)) {
        next = *state;
        arrive(setting, &next, r);
        follow(&next, r);
        open_state(exploration, &next);
        count++;
    }
    for (int from = 0; from < setting->n; from++) {
        if (!state->channel[from][r].count || !may_receive(state, r))
            continue;
        next = *state;
        receive(&next, from, r);
        follow(&next, r);
        open_state(exploration, &next);
        count++;
    }
    if (state->rank[r].phase == DECIDING && strag_arrivals_waits_for_one(arrivals_of(state, r))) {
        next = *state;
        expire(&next, r);
        follow(&next, r);
        open_state(exploration, &next);
        count++;
    }
    if (may_finish(setting, state, r)) {
        next = *state;
        next.rank[r].phase = ENDING;
        follow(&next, r);
        open_state(exploration, &next);
        count++;
    }
    return count;
}

static void check_over(const struct setting *setting, const struct state *state)
{
    for (int r = 0; r < setting->n; r++) {
        if (state->rank[r].phase != OUTSIDE || state->rank[r].calls < setting->calls)
            fail_msg("rank %d of %d waits for ever in call %d", r, setting->n,
                     state->rank[r].calls - 1);
        for (int to = 0; to < setting->n; to++)
            assert_int_equal(state->channel[r][to].count, 0);
    }
}

static struct state first_state(const struct setting *setting)
{
    struct state state;
    memset(&state, 0, sizeof state);
    assert_true(strag_arrivals_bytes(setting->n) <= BYTES_MAX);
    for (int r = 0; r < setting->n; r++)
        strag_arrivals_init(arrivals_of(&state, r), setting->n, r);
    for (int c = 0; c < CALLS_MAX; c++) {
        state.decision[c] = STRAG_ARRIVALS_UNDECIDED;
        state.by[c] = NOBODY;
    }
    return state;
}

static void explore(const struct setting *setting)
{
    struct exploration exploration = {.setting = setting};
    const struct state first = first_state(setting);
    const struct strag_arrivals_roles *roles = setting->roles;
    size_t ends = 0, most = (size_t)support_cases(LONG_MAX / 20) * 20;
    open_state(&exploration, &first);
    for (; exploration.nopen > 0 && most > 0; most--) {
        struct state state = exploration.open[--exploration.nopen];
        int count = 0;
        for (int r = 0; r < setting->n; r++)
            count += successors(&exploration, &state, r);
        if (count > 0)
            continue;
        check_over(setting, &state);
        ends++;
    }
    printf("%d ranks, %d calls, coordinator, deputy, witness %d %d %d, then %d %d %d, held %d: %zu "
           "states, "
           "%zu ends\n",
           setting->n, setting->calls, roles[0].coordinator, roles[0].deputy, roles[0].witness,
           roles[1].coordinator, roles[1].deputy, roles[1].witness, setting->held,
           exploration.count, ends);
    free(exploration.met);
    free(exploration.open);
}

TEST(all_orders_with_up_to_five_ranks)
{
    static const struct strag_arrivals_roles second[] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0},
                                                         {1, 2, 0}, {3, 0, 1}, {3, 4, 1}};
    for (int n = 3; n <= RANKS_MAX; n++) {
        for (int i = 0; i < n + 1; i++) {
            const struct setting setting = {
                n, n < RANKS_MAX ? 3 : 2, NOBODY, {{0, 1, 2}, second[i], {0, 2, 1}}};
            explore(&setting);
        }
    }
}

TEST(one_late_rank_keeps_nobody_waiting)
{
    for (int n = 3; n <= RANKS_MAX; n++) {
        for (int held = 0; held < n; held++) {
            const struct setting setting = {n, 2, held, {{0, 1, 2}, {0, 1, 2}}};
            explore(&setting);
        }
    }
}
