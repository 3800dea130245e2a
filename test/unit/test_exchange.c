/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges among 1 to 80 ranks over the loopback: several one after another, of all kinds and
 * sizes, each rank going on when it likes, with messages that are delayed and complete in any
 * order. Then with ranks that let broadcasts pass, that do not take part, or whose messages fail.
 * STRAG_CASES: jobs; STRAG_SEED: their seed.
 */
#include "run/exchange.h"

#include "base/status.h"
#include "loopback.h"
#include "support.h"

enum { RANKS_MAX = 80, STEPS_MAX = 6, BYTES_MAX = 30000, ABSENT = 1 << 20 };

enum kind { GATHER, BROADCAST, ALLGATHER, MINIMUM, COLLECT, MERGE, BARRIER, KINDS };

/* What all ranks do. */
struct step {
    enum kind kind;
    size_t bytes; /* of an entry, or of all; or numbers; of a barrier none count */
    int deaf;     /* lets a broadcast pass; -1: nobody */
};

struct job {
    int n, steps;
    struct step step[STEPS_MAX];
    uint64_t salt; /* of all values */
    struct strag_loopback *network;
    struct member {
        struct strag_exchange exchange;
        int at, status; /* at: the step that it is in */
        bool spreads;   /* the second half of a collection */
        unsigned char *data, *own;
        int32_t numbers[STRAG_EXCHANGE_PIECE / 4];
    } member[RANKS_MAX];
};

static unsigned char value_at(const struct job *job, int step, int rank, size_t byte)
{
    return (unsigned char)scramble(job->salt + (uint64_t)step * 131 + (uint64_t)rank * 7919 + byte);
}

static int32_t number_of(const struct job *job, int step, int rank, size_t i)
{
    return (int32_t)(scramble(job->salt + (uint64_t)step * 131 + (uint64_t)rank * 7919 + i) >> 32);
}

static bool has_numbers(const struct step *step)
{
    return step->kind == MINIMUM || step->kind == MERGE;
}

static size_t room_of(const struct job *job, const struct step *step)
{
    return step->kind == BROADCAST ? step->bytes : step->bytes * (size_t)job->n;
}

/* ---- One rank ---- */

/* As in struct strag_agreement: the least of each number. */
static void keep_least(void *context, void *value, const void *other)
{
    const size_t *count = context;
    int32_t *own = value;
    const int32_t *theirs = other;
    for (size_t i = 0; i < *count; i++)
        own[i] = theirs[i] < own[i] ? theirs[i] : own[i];
}

static void begin_step(struct job *job, int rank)
{
    struct member *member = &job->member[rank];
    const int at = member->at;
    struct step *step = &job->step[at];
    const struct strag_agreement least = {.add = keep_least, .context = &step->bytes};
    const bool root = rank == 0, all = root || step->kind == ALLGATHER || step->kind == COLLECT;
    const bool deaf = step->kind == BROADCAST && step->deaf == rank;
    const bool whole = step->kind == BROADCAST ? !deaf : all;
    for (size_t i = 0; has_numbers(step) && i < step->bytes; i++)
        member->numbers[i] = number_of(job, at, rank, i);
    if (step->kind == MINIMUM)
        strag_exchange_minimum(&member->exchange, member->numbers, (int)step->bytes);
    else if (step->kind == MERGE)
        strag_exchange_merge(&member->exchange, member->numbers, 4 * step->bytes, &least);
    else if (step->kind == BARRIER)
        strag_exchange_barrier(&member->exchange);
    if (has_numbers(step) || step->kind == BARRIER)
        return;
    member->data = whole ? malloc(room_of(job, step)) : NULL;
    member->own = malloc(step->bytes);
    for (size_t b = 0; b < step->bytes; b++)
        member->own[b] = value_at(job, at, rank, b);
    if (step->kind == GATHER) {
        strag_exchange_gather(&member->exchange, member->own, step->bytes, member->data);
    } else if (step->kind == BROADCAST) {
        if (root)
            memcpy(member->data, member->own, step->bytes);
        strag_exchange_broadcast(&member->exchange, member->data, step->bytes);
    } else {
        memcpy(member->data + (size_t)rank * step->bytes, member->own, step->bytes);
        if (step->kind == COLLECT)
            strag_exchange_collect(&member->exchange, member->data, step->bytes, NULL, NULL);
        else
            strag_exchange_allgather(&member->exchange, member->data, step->bytes);
    }
}

static void check_step(struct job *job, int rank)
{
    const struct member *member = &job->member[rank];
    const int at = member->at, below = rank ? rank & -rank : job->n;
    const struct step *step = &job->step[at];
    const int first = step->kind == MERGE ? rank : 0; /* those below the rank in the tree */
    const int last = step->kind == MERGE && rank + below < job->n ? rank + below : job->n;
    for (int r = 0; step->kind == BARRIER && r < job->n; r++)
        assert_true(job->member[r].at >= at || job->member[r].status != STRAG_OK);
    for (size_t i = 0; has_numbers(step) && i < step->bytes; i++) {
        int32_t least = INT32_MAX;
        for (int r = first; r < last; r++)
            if (number_of(job, at, r, i) < least)
                least = number_of(job, at, r, i);
        assert_int_equal(member->numbers[i], least);
    }
    if (has_numbers(step) || step->kind == BARRIER)
        return;
    const int ranks = step->kind == BROADCAST ? 1 : job->n;
    for (int r = 0; member->data && r < ranks; r++)
        for (size_t b = 0; b < step->bytes; b++)
            assert_int_equal(member->data[(size_t)r * step->bytes + b], value_at(job, at, r, b));
}

static void free_step(struct member *member)
{
    free(member->data);
    free(member->own);
    member->data = member->own = NULL;
}

/* What was collected goes to all, so that in the end it is there as after an allgather. */
static void begin_spread(struct job *job, int rank)
{
    struct member *member = &job->member[rank];
    const size_t bytes = job->step[member->at].bytes;
    const int below = strag_exchange_collected(&member->exchange);
    for (int r = rank; r < rank + below; r++)
        for (size_t b = 0; b < bytes; b++)
            assert_int_equal(member->data[(size_t)r * bytes + b], value_at(job, member->at, r, b));
    member->spreads = true;
    strag_exchange_spread(&member->exchange, member->data, bytes * (size_t)job->n);
}

/* @return whether the rank has something left to do */
static bool advance(struct job *job, int rank)
{
    struct member *member = &job->member[rank];
    if (member->at == job->steps || member->status != STRAG_OK)
        return false;
    const int status = strag_exchange_progress(&member->exchange);
    if (status == STRAG_PENDING)
        return true;
    if (status != STRAG_OK) {
        member->status = status;
        assert_int_equal(strag_exchange_stop(&member->exchange), STRAG_OK);
        free_step(member);
        strag_loopback_kill(job->network, rank);
        return false;
    }
    if (job->step[member->at].kind == COLLECT && !member->spreads) {
        begin_spread(job, rank);
        return true;
    }
    check_step(job, rank);
    free_step(member);
    member->spreads = false;
    if (++member->at < job->steps)
        begin_step(job, rank);
    return member->at < job->steps;
}

/* ---- A job ---- */

static void draw_job(struct job *job, struct rng *rng)
{
    memset(job, 0, sizeof *job);
    job->n = 1 + (int)rng_below(rng, rng_one_in(rng, 4) ? RANKS_MAX : 20);
    job->steps = 1 + (int)rng_below(rng, STEPS_MAX);
    job->salt = rng_next(rng);
    for (int s = 0; s < job->steps; s++) {
        struct step *step = &job->step[s];
        step->kind = (enum kind)rng_below(rng, KINDS);
        const unsigned most = step->kind == MINIMUM     ? STRAG_EXCHANGE_VALUE / 4
                              : step->kind == MERGE     ? STRAG_EXCHANGE_PIECE / 4
                              : step->kind == BROADCAST ? BYTES_MAX
                                                        : 2 * STRAG_EXCHANGE_PIECE;
        step->bytes = 1 + rng_below(rng, rng_one_in(rng, 3) ? most : most < 200 ? most : 200);
        step->deaf = job->n > 1 ? (int)rng_below(rng, (unsigned)job->n) : 0;
        if (step->deaf == 0)
            step->deaf = -1; /* rank 0 has what is broadcast */
    }
}

static void begin_job(struct job *job, struct rng *rng, struct strag_loopback_options *options)
{
    options->seed = rng_next(rng);
    options->max_delay = rng_below(rng, 30);
    options->in_order = rng_one_in(rng, 2);
    options->eager = rng_one_in(rng, 2) ? rng_below(rng, 5000) : 0;
    job->network = strag_loopback_create(job->n, 1, options);
    assert_non_null(job->network);
    for (int rank = 0; rank < job->n; rank++) {
        struct strag_transport *endpoint = strag_loopback_endpoint(job->network, rank);
        strag_exchange_init(&job->member[rank].exchange, endpoint, job->n, rank);
        begin_step(job, rank);
    }
}

/* Ranks take their turns in any order, some of them rarely. */
static void run_job(struct job *job, struct rng *rng)
{
    const int lazy = (int)rng_below(rng, (unsigned)job->n);
    long turns = 0;
    for (int left = job->n; left > 0;) {
        left = 0;
        for (int i = 0; i < job->n; i++) {
            const int rank = (int)rng_below(rng, (unsigned)job->n);
            if (rank != lazy || rng_one_in(rng, 50))
                advance(job, rank);
        }
        for (int rank = 0; rank < job->n; rank++)
            left += job->member[rank].at < job->steps && job->member[rank].status == STRAG_OK;
        if (++turns > 1000000)
            fail_msg("%d of %d ranks wait for ever", left, job->n);
    }
}

TEST(test_right)
{
    struct rng rng = {support_seed("test_exchange: right")};
    struct job *job = malloc(sizeof *job);
    for (long c = support_cases(300); c > 0; c--) {
        struct strag_loopback_options options = {.fail_rank = -1};
        draw_job(job, &rng);
        begin_job(job, &rng, &options);
        run_job(job, &rng);
        for (int rank = 0; rank < job->n; rank++)
            assert_int_equal(job->member[rank].at, job->steps);
        assert_int_equal(strag_loopback_pending(job->network), 0);
        strag_loopback_free(job->network);
    }
    free(job);
}

/* One rank's message fails: it gives up, and so do all that need it. Nobody waits for ever, and
 * nothing is written into memory that has been freed. */
TEST(test_failure)
{
    struct rng rng = {support_seed("test_exchange: failure")};
    struct job *job = malloc(sizeof *job);
    long failed = 0;
    for (long c = support_cases(300); c > 0; c--) {
        draw_job(job, &rng);
        struct strag_loopback_options options = {
            .fail_rank = (int)rng_below(&rng, (unsigned)job->n),
            .fail_post = 1 + rng_below(&rng, 10),
            .fail_late = rng_one_in(&rng, 2),
        };
        begin_job(job, &rng, &options);
        run_job(job, &rng);
        for (int rank = 0; rank < job->n; rank++)
            failed += job->member[rank].status == STRAG_ERR_TRANSPORT;
        strag_loopback_free(job->network);
    }
    assert_true(failed > 0);
    free(job);
}

/* What cannot be stopped is reported. */
TEST(test_not_stopped)
{
    const struct strag_loopback_options options = {
        .seed = 1, .max_delay = 1000, .cannot_cancel = true, .fail_rank = -1};
    struct strag_loopback *network = strag_loopback_create(2, 1, &options);
    struct strag_exchange exchange[2];
    char data[2][100] = {{1}};
    for (int rank = 0; rank < 2; rank++) {
        strag_exchange_init(&exchange[rank], strag_loopback_endpoint(network, rank), 2, rank);
        strag_exchange_broadcast(&exchange[rank], data[rank], sizeof data[rank]);
        assert_int_equal(strag_exchange_progress(&exchange[rank]), STRAG_PENDING);
    }
    assert_int_equal(strag_exchange_stop(&exchange[1]), STRAG_PENDING);
    strag_loopback_free(network);
}

/* ---- Agreements in which some do not take part ---- */

struct asked {
    uint64_t absent[2]; /* bits of ranks */
    int times[RANKS_MAX];
};

static void add_up(void *context, void *value, const void *other)
{
    *(int32_t *)value |= *(const int32_t *)other;
}

static bool is_absent(const struct asked *asked, int rank)
{
    return asked->absent[rank / 64] >> (rank % 64) & 1;
}

static bool takes_part(void *context, void *value, int neighbour)
{
    struct asked *asked = context;
    asked->times[neighbour]++;
    if (!is_absent(asked, neighbour))
        return true;
    *(int32_t *)value |= ABSENT;
    return false;
}

struct absences {
    uint64_t absent[2]; /* bits of ranks */
    struct asked asked[RANKS_MAX];
    int32_t value[RANKS_MAX];
    int32_t entries[RANKS_MAX][RANKS_MAX];
};

/* A job in which all ranks are there, and have begun nothing. */
static void begin_absences(struct job *job, struct absences *all, struct rng *rng)
{
    struct strag_loopback_options options = {.fail_rank = -1};
    memset(all, 0, sizeof *all);
    draw_job(job, rng);
    job->steps = 1;
    job->step[0].kind = BROADCAST;
    job->step[0].bytes = 0;
    begin_job(job, rng, &options);
    for (unsigned i = rng_below(rng, 3); i > 0; i--) {
        const int rank = (int)rng_below(rng, (unsigned)job->n);
        all->absent[rank / 64] |= (uint64_t)1 << (rank % 64);
    }
    for (int rank = 0; rank < job->n; rank++) {
        memcpy(all->asked[rank].absent, all->absent, sizeof all->absent);
        free_step(&job->member[rank]);
        all->value[rank] = 1 << (rank % 16);
    }
}

/* Rank by rank, those that are there. @param spreads  what was collected */
static void begin_asking(struct job *job, struct absences *all, bool collects, bool spreads)
{
    for (int rank = 0; rank < job->n; rank++) {
        struct member *member = &job->member[rank];
        const struct strag_agreement agreement = {add_up, takes_part, &all->asked[rank]};
        const int below = strag_exchange_collected(&member->exchange);
        member->at = is_absent(all->asked, rank);
        if (member->at)
            continue;
        if (!collects) {
            strag_exchange_agree(&member->exchange, &all->value[rank], sizeof(int32_t), &agreement);
        } else if (!spreads) {
            all->entries[rank][rank] = all->value[rank];
            strag_exchange_collect(&member->exchange, all->entries[rank], sizeof(int32_t),
                                   takes_part, &all->asked[rank]);
        } else {
            for (int r = rank; r < rank + below; r++)
                all->value[rank] |= all->entries[rank][r];
            strag_exchange_spread(&member->exchange, &all->value[rank], sizeof(int32_t));
        }
    }
}

/* All that take part learn whether one does not; if none is absent, all values are added. So in
 * an agreement, and if values are collected, added up and spread. */
TEST(test_absent)
{
    struct rng rng = {support_seed("test_exchange: absent")};
    struct job *job = malloc(sizeof *job);
    struct absences *all = malloc(sizeof *all);
    for (long c = support_cases(300); c > 0; c--) {
        const bool collects = c % 2 == 0;
        int32_t sum = 0;
        begin_absences(job, all, &rng);
        const bool some = all->absent[0] | all->absent[1];
        for (int rank = 0; rank < job->n; rank++)
            sum |= all->value[rank];
        begin_asking(job, all, collects, false);
        run_job(job, &rng);
        if (collects) {
            begin_asking(job, all, true, true);
            run_job(job, &rng);
        }
        for (int rank = 0; rank < job->n; rank++) {
            if (is_absent(all->asked, rank))
                continue;
            assert_int_equal(all->value[rank] & ABSENT, some && job->n > 1 ? ABSENT : 0);
            if (!some)
                assert_int_equal(all->value[rank], sum);
            for (int r = 0; r < job->n; r++)
                assert_true(all->asked[rank].times[r] <= 1);
        }
        assert_int_equal(strag_loopback_pending(job->network), 0);
        strag_loopback_free(job->network);
    }
    free(job);
    free(all);
}
