/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network that the other tests rely on is as unhelpful as loopback.h says: messages overtake
 * others, and buffers are read late. (That messages arrive, fail and are cancelled is what those
 * tests assert.)
 */
#include "loopback.h"

#include "base/status.h"
#include "support.h"

enum { WAITING = 99, MESSAGES = 40 };

/* A transfer that notes how and when it completed. */
struct recorded {
    struct strag_transfer transfer;
    int status;
    int turn; /* the how-manieth completion of the test it was */
};

static int completions;

static void note(struct strag_transfer *transfer, int status)
{
    struct recorded *recorded = (struct recorded *)transfer;
    assert_int_equal(recorded->status, WAITING); /* once only */
    recorded->status = status;
    recorded->turn = completions++;
}

static struct recorded fresh(void)
{
    return (struct recorded){{.complete = note}, WAITING, -1};
}

static struct strag_loopback *network_of(int n, struct strag_loopback_options options)
{
    struct strag_loopback *network = strag_loopback_create(n, sizeof(int), &options);
    assert_non_null(network);
    completions = 0;
    return network;
}

static int post_send(struct strag_loopback *network, int from, int to, struct recorded *recorded,
                     const int *values, size_t elements)
{
    struct strag_transport *transport = strag_loopback_endpoint(network, from);
    *recorded = fresh();
    return transport->send(transport, &recorded->transfer, to, values, elements);
}

static int post_recv(struct strag_loopback *network, int from, int to, struct recorded *recorded,
                     int *values, size_t elements)
{
    struct strag_transport *transport = strag_loopback_endpoint(network, to);
    *recorded = fresh();
    return transport->recv(transport, &recorded->transfer, from, values, elements);
}

static void progress(struct strag_loopback *network, int rank, int times)
{
    struct strag_transport *transport = strag_loopback_endpoint(network, rank);
    for (; times; times--)
        assert_int_equal(transport->progress(transport), STRAG_OK);
}

TEST(messages_arrive_in_the_order_of_posting)
{
    struct strag_loopback *network = network_of(2, (struct strag_loopback_options){.seed = 1});
    struct recorded send[3], recv[3];
    int values[3] = {10, 11, 12}, got[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        assert_int_equal(post_send(network, 0, 1, &send[i], &values[i], 1), STRAG_OK);
    progress(network, 0, 5);
    for (int i = 0; i < 3; i++)
        assert_int_equal(send[i].status, WAITING); /* nobody receives yet */
    assert_int_equal(strag_loopback_pending(network), 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(post_recv(network, 0, 1, &recv[i], &got[i], 1), STRAG_OK);
        assert_int_equal(got[i], (int)0xa5a5a5a5); /* nothing to be read before completion */
    }
    progress(network, 1, 1);
    values[0] = 20; /* the first receive has taken 10 already */
    progress(network, 0, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(send[i].status, STRAG_OK);
        assert_int_equal(recv[i].status, STRAG_OK);
        assert_int_equal(got[i], 10 + i);
    }
    assert_int_equal(strag_loopback_pending(network), 0);
    size_t elements, messages;
    strag_loopback_sent(network, 0, &elements, &messages);
    assert_int_equal(elements, 3);
    assert_int_equal(messages, 3);
    strag_loopback_sent(network, 1, &elements, &messages);
    assert_int_equal(elements + messages, 0);
    strag_loopback_free(network);
}

TEST(a_send_reads_its_buffer_late)
{
    struct strag_loopback *network = network_of(2, (struct strag_loopback_options){.seed = 1});
    struct recorded send, recv;
    int value = 1, got = 0;
    assert_int_equal(post_send(network, 0, 1, &send, &value, 1), STRAG_OK);
    assert_int_equal(post_recv(network, 0, 1, &recv, &got, 1), STRAG_OK);
    value = 2; /* the sender should not; here it shows */
    progress(network, 1, 1);
    assert_int_equal(got, 2);
    strag_loopback_free(network);
}

TEST(short_sends_are_eager)
{
    struct strag_loopback *network =
        network_of(2, (struct strag_loopback_options){.seed = 1, .eager = 2});
    struct recorded send_short, send_long, recv_short, recv_long;
    int values[3] = {1, 2, 3}, got[3] = {0, 0, 0}, more[3] = {0, 0, 0};
    assert_int_equal(post_send(network, 0, 1, &send_short, values, 2), STRAG_OK);
    assert_int_equal(post_send(network, 0, 1, &send_long, values, 3), STRAG_OK);
    progress(network, 0, 3);
    assert_int_equal(send_short.status, STRAG_OK);
    assert_int_equal(send_long.status, WAITING);
    values[0] = 7; /* the short one has left; the long one has not */
    assert_int_equal(post_recv(network, 0, 1, &recv_short, got, 2), STRAG_OK);
    assert_int_equal(post_recv(network, 0, 1, &recv_long, more, 3), STRAG_OK);
    progress(network, 1, 1);
    assert_int_equal(got[0], 1);
    assert_int_equal(got[1], 2);
    assert_int_equal(more[0], 7);
    progress(network, 0, 1);
    assert_int_equal(send_long.status, STRAG_OK);
    strag_loopback_free(network);
}

TEST(messages_can_be_read_in_place)
{
    struct strag_loopback *network =
        network_of(2, (struct strag_loopback_options){.seed = 1, .in_place = true, .eager = 9});
    struct strag_transport *receiver = strag_loopback_endpoint(network, 1);
    struct recorded send[2], recv[2];
    int values[3] = {1, 2, 3};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(post_send(network, 0, 1, &send[i], values, 3), STRAG_OK);
        progress(network, 0, 1);
        values[0] += 10;
    }
    for (int i = 0; i < 2; i++) {
        recv[i] = fresh();
        assert_int_equal(receiver->recv_in_place(receiver, &recv[i].transfer, 0, 3 - (size_t)i),
                         STRAG_OK);
        assert_null(recv[i].transfer.arrived);
    }
    progress(network, 1, 1);
    const int *arrived = recv[0].transfer.arrived;
    assert_int_equal(recv[0].status, STRAG_OK);
    assert_int_equal(arrived[0], 1);
    assert_int_equal(arrived[2], 3);
    assert_int_equal(strag_loopback_pending(network), 1); /* not released */
    receiver->release(receiver, &recv[0].transfer);
    assert_int_equal(recv[1].status, STRAG_ERR_TRANSPORT); /* another length */
    assert_null(recv[1].transfer.arrived);
    assert_int_equal(strag_loopback_pending(network), 0);
    strag_loopback_free(network);
}

/* Post many messages, let both sides move, and see in which order the receives completed.
 * @return how many completed before one that was posted earlier */
static int overtakings(uint64_t seed, unsigned max_delay, bool in_order, int turns[MESSAGES])
{
    struct strag_loopback *network =
        network_of(2, (struct strag_loopback_options){
                          .seed = seed, .max_delay = max_delay, .in_order = in_order});
    struct recorded send[MESSAGES], recv[MESSAGES];
    int values[MESSAGES], got[MESSAGES], overtaken = 0;
    for (int i = 0; i < MESSAGES; i++) {
        values[i] = i;
        assert_int_equal(post_send(network, 0, 1, &send[i], &values[i], 1), STRAG_OK);
        assert_int_equal(post_recv(network, 0, 1, &recv[i], &got[i], 1), STRAG_OK);
    }
    for (unsigned i = 0; i <= max_delay; i++) { /* each of the two is a tick */
        progress(network, 1, 1);
        progress(network, 0, 1);
    }
    for (int i = 0; i < MESSAGES; i++) {
        assert_int_equal(send[i].status, STRAG_OK);
        assert_int_equal(recv[i].status, STRAG_OK);
        assert_int_equal(got[i], i);
        turns[i] = recv[i].turn;
        overtaken += i && recv[i].turn < recv[i - 1].turn;
    }
    strag_loopback_free(network);
    return overtaken;
}

TEST(delays_reorder_completions)
{
    int turns[MESSAGES], again[MESSAGES];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        assert_int_equal(overtakings(seed, 0, false, turns), 0);
        assert_int_equal(overtakings(seed, 30, true, turns), 0);
        assert_true(overtakings(seed, 30, false, turns) > 0);
        overtakings(seed, 30, false, again);
        assert_memory_equal(turns, again, sizeof turns);
        overtakings(seed + 1, 30, false, again);
        assert_memory_not_equal(turns, again, sizeof turns);
    }
}
