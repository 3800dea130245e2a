/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory with next to no room: all ranks of all communicators have one or two slots and the
 * rings in their mailboxes, and every plan must run to its end all the same, bit by bit; in one
 * communicator, and with threads in several of the same processes, of which ranks come late.
 */
#include "algorithms/table.h"
#include "memory.h"
#include "shm_ranks.h"

enum { CALLS = 10, PLANS_MAX = STRAG_ALGORITHMS_MAX + 1 };

static struct strag_shm_size size_of(unsigned rings, unsigned small, unsigned large)
{
    struct strag_shm_size size = {.rings = rings,
                                  .mailboxes = 1 << 20,
                                  .small = small,
                                  .large = large,
                                  .reserve = 16,
                                  .slot = 4096};
    size.bytes = (uint32_t)strag_shm_arena_bytes(&size);
    return size;
}

static int make_plans(struct shm_plans *plans, int n)
{
    int nplans = 0;
    for (int a = 0; strag_algorithms[a]; a++) {
        if (support_ranks(strag_algorithms[a], n) == n)
            shm_plans_make(&plans[nplans++], strag_algorithms[a]->name, n, 0, 0);
    }
    shm_plans_make(&plans[nplans++], "direct", n, 1, 0);
    return nplans;
}

/* Calls by any of the plans: vectors of one segment, which run in order, and of many. */
static void choose_calls(struct shm_call *calls, const struct shm_plans *plans, int nplans,
                         struct rng *rng)
{
    for (int c = 0; c < CALLS; c++) {
        const size_t segment = rng_one_in(rng, 3) ? 512 : 8 + rng_below(rng, 100);
        calls[c] = (struct shm_call){
            .plans = &plans[rng_below(rng, (unsigned)nplans)],
            .count = rng_one_in(rng, 3) ? 1 + rng_below(rng, 512) : 1 + rng_below(rng, 3000),
            .segment = segment,
            .seed = rng_next(rng),
            .contiguous = !rng_one_in(rng, 3),
            .not_in_place = rng_one_in(rng, 5),
            .odd = NOBODY,
        };
    }
}

static void assert_right(const struct shm_call *calls, int n, const struct shm_outcome *outcomes)
{
    for (int i = 0; i < CALLS * n; i++) {
        const struct shm_call *call = &calls[i / n];
        if (outcomes[i].status != STRAG_OK || outcomes[i].wrong)
            fail_msg("%s n=%d, call %d, %zu elements in segments of %zu, rank %d: %s, %zu wrong",
                     call->plans->plans[0]->algorithm, n, i / n, call->count, call->segment, i % n,
                     strag_status_text(outcomes[i].status), outcomes[i].wrong);
    }
}

static void free_plans(struct shm_plans *plans, int nplans)
{
    for (int p = 0; p < nplans; p++)
        shm_plans_free(&plans[p]);
}

TEST(plans_run_with_next_to_no_room)
{
    static const int ranks[] = {2, 3, 4, 5, 6, 7, 8, 11, 16};
    struct rng rng = {support_seed("no room")};
    const long rounds = support_cases(support_is_short() ? 2 : 4);
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        static struct shm_plans plans[PLANS_MAX];
        const int n = ranks[i], nplans = make_plans(plans, n);
        for (long round = 0; round < rounds; round++) {
            const struct strag_shm_size size =
                size_of(rng_below(&rng, 3), rng_below(&rng, 2), 1 + rng_below(&rng, 2));
            const struct shm_host_options options = {
                .yields = n > 3 || rng_one_in(&rng, 2),
                .few = false,
                .file = rng_one_in(&rng, 4),
                .size = &size,
            };
            struct shm_call calls[CALLS];
            struct shm_outcome outcomes[CALLS * SHM_RANKS_MAX];
            struct shm_ranks host;
            choose_calls(calls, plans, nplans, &rng);
            shm_ranks_create(&host, n, &options);
            shm_ranks_run(&host, calls, CALLS, &rng, outcomes);
            assert_right(calls, n, outcomes);
            shm_ranks_free(&host);
        }
        free_plans(plans, nplans);
    }
}

/* Threads of the same processes: each communicator's calls must end whatever the others do. */
TEST(communicators_do_not_starve_each_other)
{
    enum { COMMUNICATORS = 3 };
    struct rng rng = {support_seed("threads")};
    const long rounds = support_cases(support_is_short() ? 3 : 8);
    for (int n = 2; n <= 5; n++) {
        static struct shm_plans plans[PLANS_MAX];
        const int nplans = make_plans(plans, n);
        for (long round = 0; round < rounds; round++) {
            const struct strag_shm_size size = size_of(rng_below(&rng, 3), 0, 1);
            const struct shm_host_options options = {
                .yields = true, .threads = true, .size = &size};
            static struct shm_call calls[COMMUNICATORS][CALLS];
            static struct shm_outcome outcomes[COMMUNICATORS][CALLS * SHM_RANKS_MAX];
            struct shm_ranks communicators[COMMUNICATORS];
            shm_ranks_create(&communicators[0], n, &options);
            for (int c = 1; c < COMMUNICATORS; c++)
                shm_ranks_dup(&communicators[c], &communicators[0]);
            for (int c = 0; c < COMMUNICATORS; c++) {
                choose_calls(calls[c], plans, nplans, &rng);
                shm_ranks_start(&communicators[c], calls[c], CALLS, &rng, outcomes[c]);
            }
            for (int c = 0; c < COMMUNICATORS; c++)
                shm_ranks_finish(&communicators[c]);
            for (int c = COMMUNICATORS - 1; c >= 0; c--)
                assert_right(calls[c], n, outcomes[c]);
            for (int c = COMMUNICATORS - 1; c > 0; c--)
                shm_ranks_leave(&communicators[c]);
            shm_ranks_free(&communicators[0]);
        }
        free_plans(plans, nplans);
    }
}

/* ---- The rules, one by one ---- */

enum { BYTES = 2500 }; /* more than half of a slot */

static struct strag_transport *begin(struct shm_ranks *ranks, int rank)
{
    strag_shm_next_call(ranks->views[rank], ranks->views[rank]->call + 1, false);
    return strag_shm_begin(ranks->views[rank], NULL, 1, true, true);
}

static void begin_all(struct shm_ranks *ranks)
{
    for (int r = 0; r < ranks->n; r++)
        begin(ranks, r);
}

/* Ranks that share processors, all in their first call.
 * @param slots  of each rank, for messages that a cell has no room for */
static void start(struct shm_ranks *ranks, int n, unsigned rings, unsigned slots)
{
    const struct strag_shm_size size = size_of(rings, 0, slots);
    const struct shm_host_options options = {.yields = true, .size = &size};
    shm_ranks_create(ranks, n, &options);
    begin_all(ranks);
}

/* Some may have ended their call before. */
static void end_all(struct shm_ranks *ranks)
{
    for (int r = 0; r < ranks->n; r++)
        strag_shm_end(ranks->views[r]);
}

static void finish(struct shm_ranks *ranks)
{
    end_all(ranks);
    shm_ranks_free(ranks);
}

static void give_up(struct shm_ranks *ranks, int rank)
{
    strag_shm_end(ranks->views[rank]);
    strag_shm_abandon(ranks->views[rank]);
}

/* A rank that waits drains. */
static void wait_for_nothing(struct shm_ranks *ranks, int rank)
{
    struct strag_transport *transport = &ranks->views[rank]->super;
    for (int i = 0; i < 100; i++)
        transport->progress(transport);
}

/* @param content  as in struct strag_transfer */
static int try_send_content(struct shm_ranks *ranks, int from, int to, uint64_t content)
{
    struct strag_transport *transport = &ranks->views[from]->super;
    static char values[BYTES];
    memset(values, from, sizeof values);
    return transport->try_send(transport, to, values, sizeof values, content);
}

static int try_send(struct shm_ranks *ranks, int from, int to)
{
    return try_send_content(ranks, from, to, 0);
}

/* @return whether there was one, and it was right */
static bool receives(struct shm_ranks *ranks, int rank, int from)
{
    struct strag_transport *transport = &ranks->views[rank]->super;
    const void *values;
    if (transport->try_recv(transport, from, BYTES, &values) != STRAG_OK)
        return false;
    bool right = true;
    for (int i = 0; i < BYTES; i++)
        right = right && ((const char *)values)[i] == from;
    transport->release_recv(transport, from);
    return right;
}

/* A rank that waits takes what is in the way of others, but only then. */
TEST(a_starved_rank_is_helped)
{
    struct shm_ranks ranks;
    start(&ranks, 3, 4, 1);
    assert_int_equal(try_send(&ranks, 0, 1), STRAG_OK);
    wait_for_nothing(&ranks, 1);
    assert_null(ranks.views[1]->peers[0].drained);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_PENDING);
    wait_for_nothing(&ranks, 1);
    assert_non_null(ranks.views[1]->peers[0].drained);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_OK);
    assert_false(ranks.views[0]->starved);
    assert_true(receives(&ranks, 1, 0)); /* from where it was put */
    assert_null(ranks.views[1]->peers[0].drained);
    assert_true(receives(&ranks, 2, 0));
    assert_int_equal(try_send(&ranks, 0, 1), STRAG_OK);
    assert_true(receives(&ranks, 1, 0)); /* and then in place, again */
    finish(&ranks);
}

/* There is no memory to take it to: that is tried again. */
TEST(a_starved_rank_is_helped_later)
{
    struct shm_ranks ranks;
    start(&ranks, 3, 4, 1);
    assert_int_equal(try_send(&ranks, 0, 1), STRAG_OK);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_PENDING);
    memory_watch(1);
    for (int i = 0; i < 100; i++)
        assert_int_equal(ranks.views[1]->super.progress(&ranks.views[1]->super), STRAG_OK);
    assert_true(memory_unwatch().failed);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_PENDING);
    wait_for_nothing(&ranks, 1);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_OK);
    assert_true(receives(&ranks, 1, 0));
    assert_true(receives(&ranks, 2, 0));
    finish(&ranks);
}

/* @return where the next message is, which is taken */
static const void *arrives_at(struct shm_ranks *ranks, int rank, int from)
{
    struct strag_transport *transport = &ranks->views[rank]->super;
    const void *values = NULL;
    assert_int_equal(transport->try_recv(transport, from, BYTES, &values), STRAG_OK);
    transport->release_recv(transport, from);
    return values;
}

/* @return in how many places a message after another is, before one is used again */
static int places_of(bool yields, int slots)
{
    const struct strag_shm_size size = size_of(4, 0, (unsigned)slots);
    const struct shm_host_options options = {.yields = yields, .size = &size};
    const void *places[64];
    struct shm_ranks ranks;
    int used = 0;
    shm_ranks_create(&ranks, 2, &options);
    begin_all(&ranks);
    for (int message = 0; message < 4 * slots; message++) {
        assert_int_equal(try_send(&ranks, 0, 1), STRAG_OK);
        const void *place = arrives_at(&ranks, 1, 0);
        if (used > 0 && place == places[0])
            break;
        assert_true(used < 64);
        places[used++] = place;
    }
    for (int message = 1; message <= 4 * used; message++) { /* and so on */
        assert_int_equal(try_send(&ranks, 0, 1), STRAG_OK);
        assert_ptr_equal(arrives_at(&ranks, 1, 0), places[message % used]);
    }
    finish(&ranks);
    return used;
}

/* What was read is out of the reader's cache when it is written again, unless ranks share caches.
 */
TEST(long_messages_go_round)
{
    assert_int_equal(places_of(false, 30), 30);
    assert_int_equal(places_of(false, STRAG_SHM_CELLS), STRAG_SHM_CELLS);
    assert_int_equal(places_of(true, 30), STRAG_SHM_CELLS);
}

/* A slot that was never used costs the kernel its pages. */
TEST(ranks_that_share_processors_use_a_slot_again)
{
    const struct strag_shm_size size = size_of(4, 0, 30);
    for (int yields = 0; yields <= 1; yields++) {
        const struct shm_host_options options = {.yields = yields, .size = &size};
        struct shm_ranks ranks;
        shm_ranks_create(&ranks, 2, &options);
        struct strag_shm *shm = ranks.views[0];
        begin_all(&ranks);
        const unsigned slot = strag_shm_take_slot(shm, BYTES);
        strag_shm_put_slot(shm, slot);
        const unsigned next = strag_shm_take_slot(shm, BYTES);
        assert_int_equal(next == slot, yields);
        strag_shm_put_slot(shm, next);
        finish(&ranks);
    }
}

/* Each communicator has a slot whatever others have, and no more than that. */
TEST(each_communicator_has_a_slot)
{
    struct shm_ranks first, second, third;
    start(&first, 2, 4, 1);
    shm_ranks_dup(&second, &first);
    shm_ranks_dup(&third, &first);
    begin_all(&second);
    begin_all(&third);
    struct shm_ranks *const all[] = {&first, &second, &third};
    for (int c = 0; c < 3; c++) {
        assert_int_equal(try_send(all[c], 0, 1), STRAG_OK);
        assert_int_equal(try_send(all[c], 0, 1), STRAG_PENDING);
    }
    assert_int_equal(first.processes[0]->large_used, 3);
    for (int c = 0; c < 3; c++)
        assert_true(receives(all[c], 1, 0));
    assert_int_equal(try_send(&second, 0, 1), STRAG_OK); /* what others have done with comes back */
    assert_int_equal(first.processes[0]->large_used, 1);
    assert_true(receives(&second, 1, 0));
    for (int c = 2; c >= 0; c--)
        end_all(all[c]);
    shm_ranks_leave(&third);
    shm_ranks_leave(&second);
    shm_ranks_free(&first);
}

/* If the slot in which values were first has come back, they are found where they are now. */
TEST(values_are_shared_where_they_are)
{
    enum { CONTENT = 1 };
    struct shm_ranks ranks;
    start(&ranks, 5, 4, 1);
    assert_int_equal(try_send_content(&ranks, 0, 1, CONTENT), STRAG_OK);
    assert_true(receives(&ranks, 1, 0));
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_OK); /* in the only slot */
    assert_true(receives(&ranks, 2, 0));
    assert_int_equal(try_send_content(&ranks, 0, 3, CONTENT), STRAG_OK); /* there again */
    assert_int_equal(try_send(&ranks, 0, 4), STRAG_PENDING);
    assert_int_equal(try_send_content(&ranks, 0, 4, CONTENT), STRAG_OK);
    assert_true(receives(&ranks, 3, 0));
    assert_true(receives(&ranks, 4, 0));
    finish(&ranks);
}

/* A call whose elements are too long does not enter: the rank that looks after the communicator at
 * the time is left alone. */
TEST(who_looks_after_is_not_thrown_out)
{
    const struct strag_shm_size size = size_of(4, 0, 1);
    const struct shm_host_options options = {.yields = true, .threads = true, .size = &size};
    struct shm_ranks ranks;
    shm_ranks_create(&ranks, 2, &options);
    struct strag_shm *shm = ranks.views[0];
    strag_shm_enter(shm); /* as another thread */
    strag_shm_next_call(shm, shm->call + 1, false);
    assert_null(strag_shm_begin(shm, NULL, strag_shm_longest(shm) + 1, true, true));
    strag_shm_end(shm);
    assert_true(shm->in_call);
    strag_shm_leave(shm);
    assert_non_null(begin(&ranks, 0));
    assert_true(shm->in_call);
    strag_shm_end(shm);
    assert_false(shm->in_call);
    strag_shm_enter(shm); /* and after a call that did enter */
    strag_shm_end(shm);
    assert_true(shm->in_call);
    strag_shm_leave(shm);
    shm_ranks_free(&ranks);
}

/* A rank that has given the call up takes nothing more, but keeps nobody from sending to others. */
TEST(who_gives_up_is_in_nobodys_way)
{
    struct shm_ranks ranks;
    start(&ranks, 3, 4, 1);
    assert_int_equal(try_send(&ranks, 0, 1), STRAG_OK);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_PENDING);
    give_up(&ranks, 1);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_OK);
    assert_true(receives(&ranks, 2, 0));
    end_all(&ranks);
    begin_all(&ranks);
    assert_int_equal(try_send(&ranks, 0, 1), STRAG_OK);
    assert_true(receives(&ranks, 1, 0)); /* of this call; the other one is dropped */
    finish(&ranks);
}

/* Nothing is wrong where a rank has taken all that it was sent, has gone on to its next call, and
 * the sender has not looked since: it looks at 32 rings at a time. */
TEST(who_has_gone_on_took_all)
{
    enum { RINGS = 33, LAST = RINGS + 1, N = LAST + 2 };
    const int value = 17;
    const void *arrived;
    struct shm_ranks ranks;
    start(&ranks, N, RINGS, 1);
    struct strag_transport *sender = &ranks.views[0]->super, *last = &ranks.views[LAST]->super;
    for (int r = 1; r <= LAST; r++) /* the mailbox's ring, and all others */
        assert_int_equal(sender->try_send(sender, r, &value, sizeof value, 0), STRAG_OK);
    assert_int_equal(last->try_recv(last, 0, sizeof value, &arrived), STRAG_OK);
    last->release_recv(last, 0);
    strag_shm_end(ranks.views[LAST]);
    strag_shm_publish_call(ranks.views[LAST], ranks.views[LAST]->call + 1);
    assert_int_equal(sender->try_send(sender, LAST + 1, &value, sizeof value, 0), STRAG_PENDING);
    assert_int_equal(sender->try_send(sender, LAST + 1, &value, sizeof value, 0), STRAG_OK);
    finish(&ranks);
}

/* Rank 1 takes nothing of what rank 0 sends it in the first call, and all go on to the second. */
static void leave_one_behind(struct shm_ranks *ranks, unsigned rings, unsigned slots)
{
    start(ranks, 3, rings, slots);
    assert_int_equal(try_send(ranks, 0, 1), STRAG_OK);
    end_all(ranks);
    begin_all(ranks);
}

/* What a rank has not taken in an earlier call keeps its ring, but not for ever: that is no
 * mismatch, although this call has ended for that rank. */
TEST(earlier_messages_are_no_mismatch)
{
    struct shm_ranks ranks;
    leave_one_behind(&ranks, 0, 2);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_PENDING);
    strag_shm_end(ranks.views[1]);
    begin(&ranks, 1);
    strag_shm_publish_call(ranks.views[1], ranks.views[1]->call);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_PENDING);
    assert_true(ranks.views[0]->starved);
    wait_for_nothing(&ranks, 1);
    assert_null(ranks.views[1]->peers[0].drained);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_OK);
    assert_true(receives(&ranks, 2, 0));
    finish(&ranks);
}

/* ... but who has given up may never come back to take them out of the way, ... */
TEST(nobody_waits_for_who_gives_up)
{
    struct shm_ranks ranks;
    leave_one_behind(&ranks, 0, 2);
    give_up(&ranks, 1);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_ERR_MISMATCH);
    begin(&ranks, 1);
    strag_shm_end(ranks.views[1]);
    begin(&ranks, 1); /* it goes on, and waits */
    strag_shm_publish_call(ranks.views[1], ranks.views[1]->call);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_PENDING);
    give_up(&ranks, 1); /* once more */
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_ERR_MISMATCH);
    finish(&ranks);
}

/* ... and who has left reads nothing. */
TEST(nobody_waits_for_who_has_left)
{
    struct shm_ranks ranks;
    leave_one_behind(&ranks, 0, 2);
    strag_shm_end(ranks.views[1]);
    strag_shm_publish_call(ranks.views[1], STRAG_SHM_LEFT);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_OK);
    assert_true(receives(&ranks, 2, 0));
    finish(&ranks);
}

/* Slots of messages that will never be read come back at once, also in a later call. */
TEST(earlier_messages_keep_no_slots)
{
    struct shm_ranks ranks;
    leave_one_behind(&ranks, 4, 1);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_PENDING); /* rank 1 may still read it */
    strag_shm_publish_call(ranks.views[1], ranks.views[1]->call);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_OK);
    assert_true(receives(&ranks, 2, 0));
    assert_int_equal(try_send(&ranks, 0, 1), STRAG_OK);
    assert_int_equal(try_send(&ranks, 0, 2), STRAG_PENDING); /* of this call: it is to be read */
    assert_true(receives(&ranks, 1, 0));
    finish(&ranks);
}

/* A rank that has given a call up looks for what is left of it as long as some may come. */
TEST(who_gave_up_looks_until_all_go_on)
{
    struct shm_ranks ranks;
    start(&ranks, 3, 4, 4);
    struct strag_shm *const shm = ranks.views[1], *const late = ranks.views[0];
    give_up(&ranks, 1);
    begin(&ranks, 1);
    shm->super.progress(&shm->super);
    assert_true(shm->has_stale);
    strag_shm_end(ranks.views[2]);
    begin(&ranks, 2);
    assert_int_equal(try_send(&ranks, 2, 1), STRAG_OK); /* of the second call */
    shm->super.progress(&shm->super);
    assert_true(shm->has_stale);
    assert_int_equal(try_send(&ranks, 0, 1), STRAG_OK); /* of the first one */
    strag_shm_end(late);
    begin(&ranks, 0);
    strag_shm_publish_call(late, late->call);
    shm->super.progress(&shm->super);
    strag_shm_see_taken(&late->peers[1]);
    assert_int_equal(late->peers[1].taken, 1);
    assert_false(shm->has_stale);
    assert_true(receives(&ranks, 1, 2));
    finish(&ranks);
}
