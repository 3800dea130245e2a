/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rosters of ranks that wait in a call: whichever rank is missing, rank 0 too, all that wait find
 * out who has not come, and who is elsewhere; one of them speaks, once. Messages take one exchange.
 * At 10,000 ranks and more the same, with what it costs.
 */
#include "run/roster.h"
#include "support.h"

enum {
    CALL = 41,
    BYTES = 4096,
    MISSING = -1,       /* in `since`: it is in no call */
    LIMIT = 30,         /* ticks of waiting until somebody speaks */
    PARTNERS_MOST = 40, /* of the ranks that are simulated */
};

struct post {
    int from, to;
};

/* A job whose ranks exchange messages at every tick. */
struct job {
    int n;
    struct strag_roster **rosters;       /* [n] */
    int *since;                          /* [n]: the tick at which it came, or MISSING */
    bool *answers;                       /* [n]: it is missing, but in MPI */
    int spoken, first_tick, speaker;     /* times, when first, and by whom */
    size_t sent, longest;                /* messages of a rank at a tick, and bytes of one */
    struct strag_roster_message **inbox; /* [n * PARTNERS_MOST]: of the tick before */
    int *arrived;                        /* [n] */
    struct post *posts;                  /* of a tick */
};

static struct job job_create(int n)
{
    struct job job = {.n = n, .speaker = -1, .first_tick = -1};
    job.rosters = calloc((size_t)n, sizeof(struct strag_roster *));
    job.since = calloc((size_t)n, sizeof *job.since);
    job.answers = calloc((size_t)n, sizeof *job.answers);
    job.inbox = calloc((size_t)n * PARTNERS_MOST, sizeof(struct strag_roster_message *));
    job.arrived = calloc((size_t)n, sizeof *job.arrived);
    assert_non_null(job.rosters);
    assert_non_null(job.since);
    assert_non_null(job.answers);
    assert_non_null(job.inbox);
    assert_non_null(job.arrived);
    job.posts = calloc((size_t)n * PARTNERS_MOST * 2, sizeof *job.posts);
    assert_non_null(job.posts);
    for (int rank = 0; rank < n; rank++) {
        job.rosters[rank] = strag_roster_create(n, rank);
        assert_non_null(job.rosters[rank]);
        strag_roster_begin(job.rosters[rank], CALL);
    }
    return job;
}

static void job_free(struct job *job)
{
    for (int rank = 0; rank < job->n; rank++) {
        strag_roster_free(job->rosters[rank]);
        for (int i = 0; i < job->arrived[rank]; i++)
            free(job->inbox[rank * PARTNERS_MOST + i]);
    }
    free(job->rosters);
    free(job->since);
    free(job->answers);
    free(job->inbox);
    free(job->arrived);
    free(job->posts);
}

static struct strag_roster_entry self_of(const struct job *job, int rank)
{
    const bool waits = job->since[rank] != MISSING;
    return (struct strag_roster_entry){.rank = rank,
                                       .state = waits ? STRAG_ROSTER_WAITS : STRAG_ROSTER_ELSEWHERE,
                                       .number = waits ? CALL : CALL - 1,
                                       .bytes = waits ? BYTES : 0};
}

/* A message as long as it is, so that reading behind its end is noticed. */
static void post(struct job *job, int from, int to, struct strag_roster *roster)
{
    static struct strag_roster_message message;
    const struct strag_roster_entry self = self_of(job, from);
    strag_roster_write(roster, &self, &message);
    struct strag_roster_message *copy = malloc(message.length);
    assert_non_null(copy);
    memcpy(copy, &message, message.length);
    assert_true(job->arrived[to] < PARTNERS_MOST);
    job->inbox[to * PARTNERS_MOST + job->arrived[to]++] = copy;
    if (message.length > job->longest)
        job->longest = message.length;
}

static bool has_come(const struct job *job, int rank, int tick)
{
    return job->since[rank] != MISSING && job->since[rank] <= tick;
}

static void read_all(struct job *job, int rank, bool waits)
{
    for (int i = 0; i < job->arrived[rank]; i++) {
        struct strag_roster_message *message = job->inbox[rank * PARTNERS_MOST + i];
        if (waits)
            assert_true(strag_roster_read(job->rosters[rank], message, message->length));
        free(message);
    }
    job->arrived[rank] = 0;
}

static void speak(struct job *job, int rank, int tick)
{
    struct strag_roster *roster = job->rosters[rank];
    const int still = tick - job->since[rank];
    if (roster->said > 0)
        return;
    const int exchanges = strag_roster_exchanges(job->n);
    if (still >= LIMIT - 2 * exchanges)
        strag_roster_claim(roster);
    if (still < LIMIT || (!strag_roster_speaks(roster) && still < LIMIT + 2 * exchanges))
        return;
    strag_roster_has_said(roster, 1);
    if (job->spoken++ == 0) {
        job->first_tick = tick;
        job->speaker = rank;
    }
}

/* Messages that are sent at a tick are read at the next one. */
static void run_tick(struct job *job, int tick)
{
    struct post *posts = job->posts;
    size_t nposts = 0;
    for (int rank = 0; rank < job->n; rank++) {
        int partners[STRAG_ROSTER_PARTNERS];
        const bool waits = has_come(job, rank, tick);
        const int count = strag_roster_partners(job->n, rank, partners);
        for (int i = 0; !waits && job->answers[rank] && i < job->arrived[rank]; i++) {
            posts[nposts].from = rank;
            posts[nposts++].to = job->inbox[rank * PARTNERS_MOST + i]->self.rank;
        }
        read_all(job, rank, waits);
        if (!waits)
            continue;
        strag_roster_tick(job->rosters[rank]);
        speak(job, rank, tick);
        if ((size_t)count > job->sent)
            job->sent = (size_t)count;
        for (int p = 0; p < count; p++) {
            posts[nposts].from = rank;
            posts[nposts++].to = partners[p];
        }
    }
    for (size_t i = 0; i < nposts; i++)
        post(job, posts[i].from, posts[i].to,
             has_come(job, posts[i].from, tick) ? job->rosters[posts[i].from] : NULL);
}

/* Every rank that waits knows who has not come, and of up to OTHERS where they are. */
static void check_known(const struct job *job, int tick)
{
    int missing = 0, answering = 0;
    for (int rank = 0; rank < job->n; rank++) {
        missing += !has_come(job, rank, tick);
        answering += !has_come(job, rank, tick) && job->answers[rank];
    }
    for (int rank = 0; rank < job->n; rank++) {
        int found[STRAG_ROSTER_OTHERS];
        if (!has_come(job, rank, tick))
            continue;
        const struct strag_roster *roster = job->rosters[rank];
        assert_int_equal(strag_roster_missing(roster, found, STRAG_ROSTER_OTHERS), missing);
        for (int i = 0; i < missing && i < STRAG_ROSTER_OTHERS; i++)
            assert_false(has_come(job, found[i], tick));
        if (answering > STRAG_ROSTER_OTHERS)
            continue;
        assert_int_equal(roster->nothers, answering);
        for (int i = 0; i < roster->nothers; i++) {
            assert_true(job->answers[roster->others[i].rank]);
            assert_int_equal(roster->others[i].state, STRAG_ROSTER_ELSEWHERE);
            assert_int_equal(roster->others[i].number, CALL - 1);
        }
    }
}

/* ---- The tests ---- */

TEST(partners_are_mutual)
{
    for (int n = 2; n <= 70; n++) {
        for (int rank = 0; rank < n; rank++) {
            int partners[STRAG_ROSTER_PARTNERS], theirs[STRAG_ROSTER_PARTNERS];
            const int count = strag_roster_partners(n, rank, partners);
            for (int p = 0; p < count; p++) {
                bool mutual = false;
                const int others = strag_roster_partners(n, partners[p], theirs);
                assert_int_not_equal(partners[p], rank);
                for (int q = 0; q < others; q++)
                    mutual = mutual || theirs[q] == rank;
                assert_true(mutual);
            }
        }
    }
}

/* All ranks but some come within a few ticks of each other, at most as many as they speak together
 * for; or at any time before the limit. */
static void run_job(struct rng *rng, int n, int missing, int spread)
{
    struct job job = job_create(n);
    for (int rank = 0; rank < n; rank++)
        job.since[rank] = (int)rng_below(rng, (unsigned)spread + 1);
    for (int m = 0; m < missing; m++) {
        const int rank = m == 0 && rng_one_in(rng, 3) ? 0 : (int)rng_below(rng, (unsigned)n);
        job.since[rank] = MISSING;
        job.answers[rank] = rng_one_in(rng, 2);
    }
    int first = LIMIT;
    for (int rank = 0; rank < n; rank++) {
        if (job.since[rank] != MISSING && job.since[rank] < first)
            first = job.since[rank];
    }
    const int exchanges = strag_roster_exchanges(n);
    for (int tick = 0; tick <= first + LIMIT + 2 * exchanges + 1; tick++) {
        run_tick(&job, tick);
        if (tick >= spread + exchanges + 2)
            check_known(&job, tick);
    }
    assert_int_equal(job.spoken, 1);
    assert_in_range(job.first_tick, first + LIMIT, first + LIMIT + exchanges);
    job_free(&job);
}

TEST(one_speaks_and_all_know)
{
    struct rng rng = {support_seed("roster")};
    for (long i = support_cases(400); i > 0; i--) {
        const int n = 2 + (int)rng_below(&rng, i % 10 ? 20 : 300);
        const unsigned most = n > 4 ? (unsigned)n / 4 : 1;
        run_job(&rng, n, 1 + (int)rng_below(&rng, most), i % 2 ? 0 : LIMIT / 3);
    }
}

/* What it costs: a rank sends 2 log2(n) messages of n/8 bytes and some, up to 3.5 KiB. */
TEST(at_ten_thousand_ranks)
{
    const int n = support_is_short() ? 500 : 10000;
    struct job job = job_create(n);
    job.since[0] = job.since[7] = job.since[n - 1] = MISSING;
    job.answers[7] = true;
    for (int tick = 0; tick < strag_roster_exchanges(job.n); tick++)
        run_tick(&job, tick);
    check_known(&job, LIMIT);
    printf("%d ranks: %zu messages of %zu bytes from a rank at a tick, %d ticks\n", n, job.sent,
           job.longest, strag_roster_exchanges(job.n));
    assert_in_range(job.sent, 1, 28);
    assert_in_range(job.longest, n / 8, n / 8 + 550);
    job_free(&job);
}

/* Chunks of 24,576 ranks, each in its turn. */
TEST(a_long_roster_goes_in_parts)
{
    const int n = 60000;
    struct strag_roster *from = strag_roster_create(n, 59999), *to = strag_roster_create(n, 1);
    struct strag_roster_message *message = malloc(sizeof *message);
    const struct strag_roster_entry self = {59999, STRAG_ROSTER_WAITS, 0, CALL, BYTES, 0, 0};
    int missing;
    strag_roster_begin(from, CALL);
    strag_roster_begin(to, CALL);
    for (int rank = 0; rank < n - 1; rank++) {
        if (rank % 1000 != 0)
            strag_roster_note(
                from, &(struct strag_roster_entry){rank, STRAG_ROSTER_RUNS, 0, CALL, BYTES, 0, 0});
    }
    for (int part = 0; part < 3; part++) {
        strag_roster_write(from, &self, message);
        assert_true(message->length < 3584);
        assert_true(strag_roster_read(to, message, message->length));
    }
    assert_int_equal(strag_roster_missing(to, &missing, 1), 60);
    assert_int_equal(missing, 0);
    free(message);
    strag_roster_free(from);
    strag_roster_free(to);
}

TEST(strange_messages_are_refused)
{
    struct rng rng = {support_seed("strange messages")};
    struct strag_roster *roster = strag_roster_create(100, 3);
    struct strag_roster_message message;
    const struct strag_roster_entry self = {5, STRAG_ROSTER_WAITS, 0, CALL, BYTES, 0, 0};
    strag_roster_begin(roster, CALL);
    for (long i = support_cases(20000); i > 0; i--) {
        strag_roster_write(roster, &self, &message);
        const size_t bytes = message.length;
        for (unsigned k = rng_below(&rng, 4) + 1; k > 0; k--)
            ((unsigned char *)&message)[rng_below(&rng, (unsigned)bytes)] =
                (unsigned char)rng_next(&rng);
        (void)strag_roster_read(roster, &message, rng_one_in(&rng, 3) ? bytes - 8 : bytes);
        assert_in_range(roster->nothers, 0, STRAG_ROSTER_OTHERS);
    }
    strag_roster_free(roster);
}

/* Who was elsewhere has come; who was in the call does not run any more, and runs again. */
TEST(the_last_news_count)
{
    struct strag_roster *roster = strag_roster_create(9, 4);
    int ranks[STRAG_ROSTER_OTHERS];
    strag_roster_begin(roster, CALL);
    const struct strag_roster_entry elsewhere = {2, STRAG_ROSTER_ELSEWHERE, 0, CALL - 1, 0, 0, 0};
    const struct strag_roster_entry came = {2, STRAG_ROSTER_RUNS, 0, CALL, BYTES, 0, 0};
    const struct strag_roster_entry stopped = {2, STRAG_ROSTER_STOPPED, 0, CALL, BYTES, 0, 0};
    const struct strag_roster_entry later = {7, STRAG_ROSTER_WAITS, 0, CALL + 1, 2 * BYTES, 0, 0};
    strag_roster_note(roster, &elsewhere);
    assert_int_equal(strag_roster_missing(roster, ranks, 8), 8);
    assert_int_equal(strag_roster_other(roster, 2)->state, STRAG_ROSTER_ELSEWHERE);
    strag_roster_note(roster, &came);
    strag_roster_note(roster, &elsewhere); /* an old one, by way of another rank */
    assert_null(strag_roster_other(roster, 2));
    assert_int_equal(strag_roster_missing(roster, ranks, 8), 7);
    strag_roster_note(roster, &stopped);
    strag_roster_note(roster, &later);
    assert_int_equal(strag_roster_missing(roster, ranks, 8), 6);
    assert_int_equal(strag_roster_called(roster, ranks), 2);
    strag_roster_note(roster, &came);
    assert_int_equal(strag_roster_called(roster, ranks), 1);
    assert_int_equal(ranks[0], 7);
    strag_roster_note(roster,
                      &(struct strag_roster_entry){3, STRAG_ROSTER_ELSEWHERE, 0, 0, 0, 0, 0});
    assert_non_null(strag_roster_other(roster, 3));
    strag_roster_forget(roster, 3); /* it has left MPI */
    strag_roster_forget(roster, 3);
    assert_null(strag_roster_other(roster, 3));
    for (int tick = 0; tick <= 2 * strag_roster_exchanges(9); tick++)
        strag_roster_tick(roster);
    assert_int_equal(strag_roster_called(roster, ranks), 0); /* it has said nothing for long */
    assert_int_equal(strag_roster_missing(roster, ranks, 8), 6);
    strag_roster_free(roster);
}

/* Of more missing ranks than there is room for it keeps the lowest, which will be named. */
TEST(the_lowest_ranks_are_kept)
{
    enum { N = 40, STOPPED = 33 };
    struct strag_roster *roster = strag_roster_create(N, 39);
    struct rng rng = {support_seed("roster: the lowest ranks")};
    int order[N - 1] = {0}, ranks[STRAG_ROSTER_OTHERS];
    strag_roster_begin(roster, CALL);
    for (int i = 0; i < N - 1; i++) {
        const int other = (int)rng_below(&rng, (uint64_t)i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (int i = 0; i < N - 1; i++) {
        const bool in = order[i] == STOPPED;
        const struct strag_roster_entry entry = {order[i],
                                                 in ? STRAG_ROSTER_STOPPED : STRAG_ROSTER_ELSEWHERE,
                                                 0,
                                                 in ? CALL : CALL - 1,
                                                 in ? BYTES : 0,
                                                 0,
                                                 0};
        strag_roster_note(roster, &entry);
    }
    const int called = strag_roster_called(roster, ranks);
    assert_int_equal(strag_roster_missing(roster, ranks, 8), N - 2);
    for (int rank = 0; rank < STRAG_ROSTER_OTHERS - called; rank++)
        assert_int_equal(strag_roster_other(roster, rank)->state, STRAG_ROSTER_ELSEWHERE);
    strag_roster_free(roster);
}
