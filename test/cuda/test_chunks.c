/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks of pinned memory between a device and transports for host memory: what several ranks are
 * sent is in one chunk, also over two transports; and though a chunk is used again, for values that
 * the engine gives the same number, no transport takes what was in it for what is.
 */
#include "carrier.h"
#include "loopback.h"
#include "memory.h"
#include "plugin_support.h"
#include "staging.h"
#include "support.h"

enum { RANKS = 7, ELEMENTS = 10, PIECES = 3 };

static struct gpu gpu;
static const struct strag_cuda *cuda;
static float *vector; /* on a device: PIECES times 10 elements, 100, 101, ... */
static struct strag_staging *staging;
static struct strag_loopback *network;
static struct carrier carriers[2];            /* rank 0's, like shared memory */
static struct strag_transport *transports[2]; /* with chunks before them */

static int begin(void **state)
{
    struct rng rng = {support_seed("chunks")};
    struct strag_loopback_options options = {.seed = rng_next(&rng), .max_delay = 3};
    struct strag_cuda_location place;
    struct strag_error err = {""};
    float values[PIECES * ELEMENTS];
    plugin_driver(&gpu, (unsigned)rng_next(&rng));
    cuda = plugin_open(&gpu, PLUGIN_FAKE_KERNELS);
    for (int e = 0; e < PIECES * ELEMENTS; e++)
        values[e] = 100.0f + (float)e;
    vector = gpu_allocate(&gpu, 0, GPU_DEVICE, sizeof values);
    network = strag_loopback_create(RANKS, sizeof(float), &options);
    assert_true(vector && network && gpu_copy(&gpu, vector, values, sizeof values));
    cuda->locate(vector, &place);
    const struct strag_staging_options how = {
        .cuda = cuda,
        .device = cuda->device(&place, &err),
        .span = {sizeof(float), 0, sizeof(float), false},
        .on_device = true,
        .op = STRAG_CUDA_SUM,
        .type = STRAG_CUDA_FLOAT,
    };
    assert_non_null(how.device);
    staging = strag_staging_create(&how);
    assert_non_null(staging);
    for (int t = 0; t < 2; t++) {
        carrier_init(&carriers[t], strag_loopback_endpoint(network, 0), NULL, sizeof(float));
        transports[t] = strag_staging_transport(staging, &carriers[t].super);
    }
    return 0;
}

static int end(void **state)
{
    strag_staging_free(staging);
    strag_loopback_free(network);
    for (int t = 0; t < 2; t++)
        carrier_clear(&carriers[t]);
    gpu_free(&gpu, 0, GPU_DEVICE, vector);
    plugin_close(&gpu, cuda);
    return 0;
}

/* ---- Sending ---- */

struct posted {
    struct strag_transfer transfer; /* first */
    bool complete;
};

static void posted_complete(struct strag_transfer *transfer, int status)
{
    assert_int_equal(status, STRAG_OK);
    ((struct posted *)transfer)->complete = true;
}

/* Until it is complete, with rank 0 and another one at work. */
static void await(const struct posted *posted, int rank)
{
    struct strag_transport *other = strag_loopback_endpoint(network, rank);
    for (int step = 0; step < 10000 && !posted->complete; step++) {
        for (int t = 0; t < 2; t++)
            assert_int_equal(transports[t]->progress(transports[t]), STRAG_OK);
        assert_int_equal(other->progress(other), STRAG_OK);
    }
    assert_true(posted->complete);
}

/* Rank 0 sends a piece to this many others, over one transport and the other in turn; all get it.
 * @return copies between the host and the device */
static long send_piece(int piece, int receivers, uint64_t content)
{
    struct fake_counts before, after;
    struct posted send[RANKS], recv[RANKS];
    float got[RANKS][ELEMENTS];
    gpu.fake_counts(&before);
    for (int rank = 1; rank <= receivers; rank++) {
        struct strag_transport *from = transports[rank % 2];
        struct strag_transport *to = strag_loopback_endpoint(network, rank);
        send[rank] = (struct posted){{.complete = posted_complete, .content = content}, false};
        recv[rank] = (struct posted){{.complete = posted_complete}, false};
        assert_int_equal(from->send(from, &send[rank].transfer, rank,
                                    vector + (ptrdiff_t)piece * ELEMENTS, ELEMENTS),
                         STRAG_OK);
        assert_int_equal(to->recv(to, &recv[rank].transfer, 0, got[rank], ELEMENTS), STRAG_OK);
    }
    for (int rank = 1; rank <= receivers; rank++) {
        await(&send[rank], rank);
        await(&recv[rank], rank);
        for (int e = 0; e < ELEMENTS; e++)
            assert_true(got[rank][e] == 100.0f + (float)(piece * ELEMENTS + e));
    }
    gpu.fake_counts(&after);
    return after.copies - before.copies;
}

static void one_transport_once(void **state)
{
    assert_ptr_equal(strag_staging_transport(staging, &carriers[0].super), transports[0]);
    assert_ptr_equal(strag_staging_transport(staging, &carriers[1].super), transports[1]);
    assert_ptr_not_equal(transports[0], transports[1]);
    assert_null(transports[0]->recv_in_place);
}

static void one_copy_for_several(void **state)
{
    assert_int_equal(send_piece(0, 6, 7), 1);
    assert_int_equal(carriers[0].shared, 2); /* three were sent it: it was read once */
    assert_int_equal(carriers[1].shared, 2);
    assert_int_equal(send_piece(1, 4, 7), 1);
    assert_int_equal(send_piece(2, 6, 8), 1);
    assert_int_equal(carriers[0].shared, 5);
    assert_int_equal(send_piece(0, 6, 7), 1);
}

/* The engine says nothing of what others are sent. */
static void copies_without_a_number(void **state)
{
    assert_int_equal(send_piece(0, 3, 0), 3);
    assert_int_equal(send_piece(1, 3, 0), 3);
    assert_int_equal(carriers[0].shared + carriers[1].shared, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_transport_once, begin, end),
        cmocka_unit_test_setup_teardown(one_copy_for_several, begin, end),
        cmocka_unit_test_setup_teardown(copies_without_a_number, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
