/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank does that waits in shared memory: when it keeps its processor, when it gives it away,
 * and how often the host's other work goes on. All ranks are this one thread; sched_yield and
 * sched_getcpu are taken over by the linker (test/unit/local.mk).
 */
#include "shm/layout.h"
#include "support.h"

enum { RANKS = 4 };

/* The machine: counts, and the processor on which the acting rank runs. */
static int yielded, progressed, processor;

int __wrap_sched_yield(void);
int __wrap_sched_getcpu(void);

int __wrap_sched_yield(void)
{
    yielded++;
    return 0;
}

int __wrap_sched_getcpu(void)
{
    return processor;
}

static void progress(void)
{
    progressed++;
}

static bool failed; /* the communicator has */

struct host {
    int n;
    struct strag_shm_process *process[RANKS];
    struct strag_shm *rank[RANKS]; /* on this host */
};

static void open_host(struct host *host, int n, int elsewhere, bool yields)
{
    const struct strag_shm_host around = {NULL, NULL, progress, yields, false, &failed};
    struct strag_shm_info infos[RANKS + 1];
    uint8_t lane_of[RANKS + 1] = {0};
    if (elsewhere)
        lane_of[n] = 1;
    host->n = n;
    for (int r = 0; r < n; r++) {
        host->process[r] = strag_shm_process_create(n, (size_t)16 << 20);
        host->rank[r] = strag_shm_create(host->process[r], &around, n + elsewhere, r, lane_of, 0);
        assert_non_null(host->rank[r]);
        assert_int_equal(strag_shm_make(host->rank[r], &infos[r]), STRAG_SHM_ABLE);
    }
    for (int r = 0; r < n; r++) {
        processor = r / 2; /* two on each */
        assert_int_equal(strag_shm_join(host->rank[r], infos), STRAG_SHM_ABLE);
        strag_shm_next_call(host->rank[r], host->rank[r]->call + 1, false);
        strag_shm_begin(host->rank[r], NULL, sizeof(int), true, true);
    }
    processor = yielded = progressed = 0;
    failed = false;
}

static void close_host(struct host *host)
{
    for (int r = 0; r < host->n; r++)
        strag_shm_free(host->rank[r]);
    for (int r = 0; r < host->n; r++) {
        assert_int_equal(strag_shm_process_settle(host->process[r]), 0);
        strag_shm_process_free(host->process[r]);
    }
}

/* Look so often in vain; then compare what came of it. */
static void look(struct strag_shm *shm, int times, int yields, int progresses)
{
    yielded = progressed = 0;
    for (int i = 0; i < times; i++)
        strag_shm_wait(shm);
    assert_int_equal(yielded, yields);
    assert_int_equal(progressed, progresses);
}

/* A rank waits, on a processor, for the ranks of which the bits are set. */
static void awaits(struct host *host, int rank, int where, uint64_t ranks)
{
    int before = processor;
    processor = where;
    strag_shm_publish_wait(host->rank[rank], ranks);
    processor = before;
}

/* A message; then the sender waits for the same ranks as before. */
static void sends(struct host *host, int from, int to)
{
    struct strag_transport *transport = &host->rank[from]->super;
    const struct strag_shm_rank_status *status = host->rank[from]->mailbox.status;
    uint64_t ranks = status->awaits;
    assert_int_equal(transport->try_send(transport, to, &from, 1, 0), STRAG_OK);
    assert_int_equal(status->awaits, 0);
    awaits(host, from, status->processor, ranks);
}

static void receives(struct host *host, int rank, int from)
{
    const void *value;
    struct strag_transport *transport = &host->rank[rank]->super;
    assert_int_equal(transport->try_recv(transport, from, 1, &value), STRAG_OK);
    assert_int_equal(*(const int *)value, from);
    transport->release_recv(transport, from);
}

/* ---- A processor for each rank ---- */

TEST(with_a_processor_each_nobody_yields_soon)
{
    struct host host;
    open_host(&host, 2, 0, false);
    struct strag_shm *shm = host.rank[0];
    assert_int_equal(shm->mailbox.status->begun, 0);
    look(shm, 255, 0, 0);
    assert_int_equal(shm->mailbox.status->begun, 0);
    look(shm, 1, 0, 1);
    assert_int_equal(shm->mailbox.status->begun, 1); /* the others see in which call it is */
    look(shm, 15 * 256, 0, 15);
    look(shm, 10 * 256, 10, 10); /* after 4096 looks, too */
    shm->idle = 0;
    look(shm, 16 * 256, 0, 16); /* something has happened: from the beginning */
    close_host(&host);
}

TEST(with_ranks_on_other_hosts_each_look_progresses)
{
    struct host host;
    open_host(&host, 2, 1, false);
    look(host.rank[1], 100, 0, 100);
    close_host(&host);
}

/* The host's work goes on in every 32nd call although no rank ever waits. */
TEST(calls_progress_without_waiting)
{
    for (int yields = 0; yields < 2; yields++) {
        struct host host;
        open_host(&host, 2, 0, yields); /* in call 1 */
        for (int i = 2; i <= 320; i++)
            strag_shm_next_call(host.rank[0], host.rank[0]->call + 1, false);
        assert_int_equal(progressed, yields ? 0 : 10);
        close_host(&host);
    }
}

/* Rank 0's first call has ended; in its second one it polls for a message of rank 1, which has not
 * got all that it wants in the first one, and would wait for ever. */
TEST(a_rank_that_polls_shows_in_which_call_it_is)
{
    for (int yields = 0; yields < 2; yields++) {
        const void *value;
        struct host host;
        open_host(&host, 2, 0, yields); /* in call 1 */
        struct strag_transport *second = &host.rank[0]->super, *first = &host.rank[1]->super;
        strag_shm_end(host.rank[0]);
        strag_shm_next_call(host.rank[0], host.rank[0]->call + 1, true);
        strag_shm_begin(host.rank[0], NULL, sizeof(int), true, true);
        for (int i = 0; i < 64; i++) {
            assert_int_equal(first->try_recv(first, 0, 1, &value), STRAG_PENDING);
            assert_int_equal(second->try_recv(second, 1, 1, &value), STRAG_PENDING);
            assert_int_equal(second->progress(second), STRAG_OK);
        }
        assert_int_equal(first->try_recv(first, 0, 1, &value), STRAG_ERR_MISMATCH);
        assert_int_equal(yielded + progressed, 0);
        close_host(&host);
    }
}

/* When the communicator has failed a rank that waits learns that soon, whether it polls or not. The
 * other one may have left before; that alone is no error. */
TEST(a_rank_that_waits_sees_that_the_communicator_has_failed)
{
    for (int polls = 0; polls < 2; polls++) {
        const void *value;
        struct host host;
        open_host(&host, 2, 0, true);
        struct strag_shm *shm = host.rank[0];
        struct strag_transport *mine = &shm->super;
        strag_shm_end(host.rank[1]);
        strag_shm_free(host.rank[1]);
        strag_shm_end(shm);
        strag_shm_next_call(shm, shm->call + 1, polls);
        strag_shm_begin(shm, NULL, sizeof(int), true, true);
        int status = STRAG_OK;
        for (int i = 0; i < 1000; i++) {
            assert_int_equal(mine->try_recv(mine, 1, 1, &value), STRAG_PENDING);
            assert_int_equal(mine->progress(mine), STRAG_OK);
        }
        failed = true;
        for (int i = 0; i < 64 && status == STRAG_OK; i++)
            status = mine->progress(mine);
        assert_int_equal(status, STRAG_ERR_TRANSPORT);
        host.n = 1;
        close_host(&host);
        assert_int_equal(strag_shm_process_settle(host.process[1]), 0);
        strag_shm_process_free(host.process[1]);
    }
}

static void complete(struct strag_transfer *transfer, int status)
{
    assert_int_equal(status, STRAG_OK);
    transfer->handle = transfer;
}

/* What polls has moved when a look has found something, until it is asked; not while it waits for
 * another host only. */
TEST(a_rank_that_polls_knows_whether_it_has_moved)
{
    struct host host;
    open_host(&host, 2, 1, true);
    struct strag_shm *shm = host.rank[0];
    struct strag_transport *mine = &shm->super, *theirs = &host.rank[1]->super;
    struct strag_transfer received[2] = {{.complete = complete}, {.complete = complete}}, sent;
    int values[2] = {0, 0};
    strag_shm_end(shm);
    strag_shm_end(host.rank[1]);
    for (int r = 0; r < 2; r++) {
        strag_shm_next_call(host.rank[r], host.rank[r]->call + 1, true);
        strag_shm_begin(host.rank[r], NULL, sizeof(int), true, true);
    }
    assert_int_equal(mine->progress(mine), STRAG_OK);
    assert_false(strag_shm_has_moved(shm));
    for (int i = 0; i < 2; i++)
        assert_int_equal(mine->recv(mine, &received[i], 1, &values[i], 1), STRAG_OK);
    for (int i = 0; i < 2; i++) {
        const int value = 7 + i;
        assert_int_equal(mine->progress(mine), STRAG_OK);
        assert_false(strag_shm_has_moved(shm));
        sent = (struct strag_transfer){.complete = complete};
        assert_int_equal(theirs->send(theirs, &sent, 0, &value, 1), STRAG_OK);
        assert_int_equal(mine->progress(mine), STRAG_OK);
        assert_true(strag_shm_has_moved(shm));
        assert_false(strag_shm_has_moved(shm));
        assert_ptr_equal(received[i].handle, &received[i]);
        assert_int_equal(values[i], value);
    }
    assert_int_equal(yielded, 0);
    close_host(&host);
}

/* ---- Shared processors ---- */

/* One look, then the processor is given away: by the host's progress once in 32 looks. */
TEST(an_unpublished_wait_yields)
{
    struct host host;
    open_host(&host, 2, 0, true);
    struct strag_shm *shm = host.rank[0];
    look(shm, 1, 0, 0);
    look(shm, 319, 319 - 10, 10);
    for (int i = 0; i < 199; i++) { /* what it waits for is there at the second look each time */
        shm->idle = 0;
        look(shm, 1, 0, i == 198); /* and this is the 200th time that it has kept it */
    }
    close_host(&host);
}

/* The drawing of shm/wait.c: A B on a processor, C D on the other. */
static void open_drawing(struct host *host)
{
    open_host(host, RANKS, 0, true);
    awaits(host, 0, 0, 0xe);
    awaits(host, 1, 0, 0x1);
    awaits(host, 2, 1, 0x1);
}

TEST(where_nobody_could_go_on_the_processor_is_kept)
{
    struct host host;
    open_drawing(&host);
    look(host.rank[0], 199, 0, 0); /* B is stuck; D could go on, but elsewhere */
    look(host.rank[0], 1, 0, 1);
    look(host.rank[0], 800, 0, 4); /* once in 200 looks it is given away all the same */
    processor = 1;
    look(host.rank[2], 32, 31, 1); /* C to D */
    awaits(&host, 3, 1, 0x1);
    look(host.rank[2], 1000, 0, 5); /* D is stuck now */
    close_host(&host);
}

TEST(who_has_what_it_waits_for_gets_the_processor)
{
    struct host host;
    open_drawing(&host);
    awaits(&host, 1, 0, 0x5); /* B waits for A and C */
    look(host.rank[0], 10, 0, 0);
    sends(&host, 0, 1);
    look(host.rank[0], 10, 0, 0); /* one of the two is not there */
    sends(&host, 2, 1);
    look(host.rank[0], 3, 0, 0); /* a few looks more, after nobody could go on */
    look(host.rank[0], 7, 7, 0);
    host.rank[0]->idle = 0; /* A has received: now B can go on from the first look */
    look(host.rank[0], 1, 1, 0);
    close_host(&host);
}

/* What B has taken it does not wait for; then it waits for the next one. */
TEST(messages_count_until_they_are_taken)
{
    struct host host;
    open_drawing(&host);
    sends(&host, 0, 1);
    look(host.rank[0], 2, 2, 0);
    receives(&host, 1, 0);
    assert_false(host.rank[1]->published);
    assert_int_equal(host.rank[1]->mailbox.status->awaits, 0);
    look(host.rank[0], 2, 2, 0); /* B runs: who does not wait can go on */
    awaits(&host, 1, 0, 0x1);
    look(host.rank[0], 10, 0, 0); /* for A's next one */
    sends(&host, 0, 1);
    look(host.rank[0], 5, 5, 0);
    close_host(&host);
}

TEST(a_rank_that_moved_looks_at_its_new_neighbours)
{
    struct host host;
    open_drawing(&host);
    look(host.rank[0], 10, 0, 0);
    processor = 1; /* to D, who could go on */
    look(host.rank[0], 3 + 5, 5, 0);
    assert_int_equal(host.rank[0]->mailbox.status->processor, 1);
    processor = 0;
    strag_shm_publish_processor(host.rank[3]); /* D moves, too, and C is stuck */
    processor = 1;
    look(host.rank[0], 10, 0, 0);
    close_host(&host);
}
