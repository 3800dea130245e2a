/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank that is not rank 0 keeps for a communicator, beyond its plans and without shared
 * memory: at most 16 KiB with 16 ranks, 32 KiB with 1,024, 64 KiB with 4,096 and 128 KiB with
 * 10,000, whatever the machine and the order of the ranks (doc/guide/administrators.md states
 * them). The same functions are called as by the component, and their memory is counted:
 *
 *     first     all ranks were asked: the packed topology, the names of processes out of order
 *     dup       nothing of its own but the watch
 *     split     the packed topology, of ranks with new numbers
 *     half      the same, of every other rank
 *
 * all of them watched, with links, while messages go to 24 partners. What comes on top, and is
 * within the limit:
 *
 *     last      between hosts, once the dynamic mode has begun
 *     UCX       the processes' numbers, in the order in which they were met, that is of the ranks
 *               of the first communicator, and what number each gave to this one
 */
#include "base/compact.h"
#include "detect/meter.h"
#include "detect/slowdown.h"
#include "machine/topology.h"
#include "run/arrivals.h"

#include "machines.h"
#include "memory.h"
#include "support.h"

#include <math.h>

enum {
    KIB = 1024,
    PARTNERS = 24, /* 12 rounds, each with another one to send to and to receive from */

    /* The component's own structures: call/query.c, watch/watch.h and watch/last_arrival.c
     * assert that they are no larger. */
    FIXED = 7 * KIB + 512 + 2688,
    LAST_FIXED = 2560,
};

enum kind { FIRST, DUP, SPLIT, HALF, KINDS };

/* ---- What is kept ---- */

struct kept {
    void *packed;
    uint8_t *lane_of;
    struct strag_compact vpids;
    struct strag_compact host_of;
    struct strag_meter meter;
};

static void watch(struct kept *kept, const struct strag_topology *topology)
{
    struct strag_probe_hosts hosts;
    const int n = topology->n;
    assert_true(strag_probe_hosts_make(topology, &hosts));
    assert_true(strag_compact_make(hosts.host_of, n, &kept->host_of));
    strag_probe_hosts_free(&hosts);
    for (int i = 1; i <= PARTNERS; i++)
        strag_meter_begin(&kept->meter, strag_compact_at(&kept->host_of, i * (n / (PARTNERS + 1))));
}

/* The state for the last rank. @return bytes */
static long keep_last(int n)
{
    memory_watch(0);
    struct strag_arrivals *state = malloc(strag_arrivals_bytes(n));
    assert_non_null(state);
    strag_arrivals_init(state, n, 1);
    const long bytes = memory_unwatch().bytes;
    free(state);
    return bytes + LAST_FIXED;
}

/* @param rank_of  [n]: in the first communicator; NULL: this is that one  @return bytes */
static long keep_ucx(const int32_t *rank_of, int n)
{
    struct strag_compact peers, ids;
    int32_t *numbers = calloc((size_t)n, sizeof *numbers);
    assert_non_null(numbers);
    memory_watch(0);
    assert_true(strag_compact_make(numbers, n, &ids));
    for (int i = 0; i < n; i++)
        numbers[i] = rank_of ? rank_of[i] : i;
    assert_true(strag_compact_make(numbers, n, &peers));
    for (int i = 0; i < n; i += n / 7)
        assert_int_equal(strag_compact_at(&peers, i), numbers[i]);
    const long bytes = memory_unwatch().bytes;
    strag_compact_free(&peers);
    strag_compact_free(&ids);
    free(numbers);
    return bytes;
}

/* @return bytes */
static long keep(const struct strag_topology *topology, enum kind kind, bool in_order)
{
    struct kept kept = {0};
    size_t size, n = (size_t)topology->n;
    memory_watch(0);
    if (kind != DUP) {
        assert_int_equal(strag_topology_pack(topology, &kept.packed, &size, NULL), STRAG_OK);
        kept.lane_of = malloc(n);
        assert_non_null(kept.lane_of);
    }
    if (kind != DUP && !in_order)
        assert_true(strag_compact_make(topology->leaf_rank, topology->n, &kept.vpids));
    watch(&kept, topology);
    const long bytes = memory_unwatch().bytes;
    free(kept.packed);
    free(kept.lane_of);
    strag_compact_free(&kept.vpids);
    strag_compact_free(&kept.host_of);
    return bytes + FIXED;
}

/* ---- Machines ---- */

/* Hosts in order, with names; the last one has the ranks that are left. */
static struct strag_topology *make_hosts(int n, int ranks_per_host)
{
    struct machine_nodes nodes = machine_nodes_create();
    for (int rank = 0, host = 0; rank < n; rank++) {
        if (rank % ranks_per_host == 0) {
            char name[40];
            host = machine_node(&nodes, 0, STRAG_LEVEL_HOST);
            snprintf(name, sizeof name, "node%04d.cluster.example.org", rank / ranks_per_host);
            nodes.list[host].name = strdup(name);
        }
        machine_rank(&nodes, host, rank);
    }
    return machine_finish(&nodes, NULL);
}

static struct strag_topology *part(const struct strag_topology *whole, const int32_t *rank_of,
                                   int n)
{
    struct strag_topology *made = NULL;
    assert_int_equal(strag_topology_part(whole, rank_of, n, &made, NULL), STRAG_OK);
    return made;
}

enum order { AS_THEY_ARE, REVERSED, CYCLIC, RANDOM, ORDERS };

/* @param n  a square */
static void fill_order(int32_t *rank_of, int n, enum order order, struct rng *rng)
{
    const int side = (int)lround(sqrt(n));
    for (int i = 0; i < n; i++)
        rank_of[i] = order == REVERSED ? n - 1 - i
                     : order == CYCLIC ? i % side * side + i / side
                                       : i;
    for (int i = n - 1; order == RANDOM && i > 0; i--) {
        const int j = (int)rng_below(rng, (unsigned)i + 1);
        const int32_t other = rank_of[i];
        rank_of[i] = rank_of[j];
        rank_of[j] = other;
    }
}

/* ---- Tests ---- */

/* @param most  KiB */
static void check(const char *machine, const struct strag_topology *whole, int most,
                  struct rng *rng)
{
    const int n = whole->n;
    static const char *const orders[] = {"in order", "reversed", "cyclic", "random"};
    static const char *const kinds[] = {"first", "dup", "split", "half"};
    int32_t *rank_of = malloc((size_t)n * sizeof *rank_of);
    int32_t *half = malloc((size_t)n * sizeof *half);
    assert_true(rank_of && half);
    for (int order = 0; order < ORDERS; order++) {
        fill_order(rank_of, n, (enum order)order, rng);
        for (int i = 0; i < n / 2; i++)
            half[i] = rank_of[2 * i];
        struct strag_topology *all = part(whole, rank_of, n);
        struct strag_topology *some = part(whole, half, n / 2);
        const long last = keep_last(n), ucx = keep_ucx(order ? rank_of : NULL, n);
        print_message("%-30s %-9s", machine, orders[order]);
        for (int kind = 0; kind < KINDS; kind++) {
            const long bytes =
                keep(kind == HALF ? some : all, (enum kind)kind, order == AS_THEY_ARE);
            print_message(" %s %5.1f KiB", kinds[kind], (double)bytes / KIB);
            assert_in_range(bytes + last + (kind >= SPLIT ? ucx : 0), FIXED, most * KIB);
        }
        print_message(" last +%.1f, UCX +%.1f\n", (double)last / KIB, (double)ucx / KIB);
        assert_in_range(last, LAST_FIXED, LAST_FIXED + n / 4 + KIB / 4);
        assert_in_range(ucx, 0, order == RANDOM || order == CYCLIC ? 2 * n + 64 : 0);
        strag_topology_free(all);
        strag_topology_free(some);
    }
    free(rank_of);
    free(half);
}

/* Hosts of different sizes, and a torus. */
static void check_all(int n, const char *torus, int most)
{
    struct rng rng = {support_seed("test_footprint")};
    const int ranks_per_host[] = {n, 128, 64, 60, 4, 1};
    for (size_t i = 0; i < sizeof ranks_per_host / sizeof *ranks_per_host; i++) {
        char machine[60];
        struct strag_topology *hosts = make_hosts(n, ranks_per_host[i]);
        snprintf(machine, sizeof machine, "%d ranks, %d per host", n, ranks_per_host[i]);
        check(machine, hosts, most, &rng);
        strag_topology_free(hosts);
    }
    struct strag_topology *grid = machine_grid(STRAG_NETWORK_TORUS, true, torus, NULL, 1);
    check(torus, grid, most, &rng);
    strag_topology_free(grid);
}

TEST(ranks_16)
{
    check_all(16, "4x2x2", 16);
}

TEST(ranks_1024)
{
    check_all(1024, "16x8x8", 32);
}

TEST(ranks_4096)
{
    check_all(4096, "16x16x16", 64);
}

TEST(ranks_10000)
{
    check_all(10000, "25x20x20", 128);
}

/* Two bytes each where they do, else four; none where each is the one before it and a constant. */
TEST(numbers)
{
    const int32_t few[] = {0, 65535, 7}, many[] = {1, 65536, INT32_MAX}, back[] = {9, 6, 3, 0};
    struct strag_compact made;
    assert_true(strag_compact_make(few, 3, &made));
    assert_true(made.narrow && !made.wide);
    for (int i = 0; i < 3; i++)
        assert_int_equal(strag_compact_at(&made, i), few[i]);
    strag_compact_free(&made);
    assert_true(strag_compact_make(many, 3, &made));
    assert_true(made.wide && !made.narrow);
    for (int i = 0; i < 3; i++)
        assert_int_equal(strag_compact_at(&made, i), many[i]);
    strag_compact_free(&made);
    assert_true(strag_compact_make(back, 4, &made));
    assert_true(!made.wide && !made.narrow);
    for (int i = 0; i < 4; i++)
        assert_int_equal(strag_compact_at(&made, i), back[i]);
    memory_watch(1);
    const bool failed = !strag_compact_make(few, 3, &made);
    assert_int_equal(memory_unwatch().live, 0);
    assert_true(failed && !made.narrow && !made.wide);
}
