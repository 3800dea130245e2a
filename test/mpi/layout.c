/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that layout.sh runs with all kinds of layouts and mappings: allreduces on
 * MPI_COMM_WORLD, a duplicate, its first 2 to 5 ranks, halves, a reversed order, and a Cartesian
 * communicator with its rows, all elements checked.
 *
 *     layout [--algorithms A,B,..]    also on duplicates of MPI_COMM_WORLD, halves and the reversed
 *                                     order on which these are pinned in turn: "A on world", ...
 *
 * Every communicator's rank 0 also prints the ranks' locations by hwloc, for the script to compare
 * with strag's:
 *
 *     layout: world: hosts 1, inner nodes 2
 *
 * An inner node is a package, NUMA domain or cache within a host that has two ranks or more, but
 * not all of the host's; two that have the same ranks are one.
 */
#include <hwloc.h>

#include "suite.h"

enum { LEVELS = 3, RANKS_MAX = 64 };

struct where {
    char host[MPI_MAX_PROCESSOR_NAME];
    int at[LEVELS]; /* number of the package, NUMA domain, L3 cache; -1: not bound within one */
};

static struct where here;

/* The object of a type that the process is bound to, by its number. */
static int bound_within(hwloc_topology_t topology, hwloc_const_cpuset_t cpus, hwloc_obj_type_t type)
{
    int count = hwloc_get_nbobjs_by_type(topology, type), found = -1;
    for (int i = 0; i < count; i++) {
        hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, (unsigned)i);
        hwloc_bitmap_t outside = hwloc_bitmap_alloc();
        hwloc_bitmap_andnot(outside, cpus, object->cpuset);
        if (hwloc_bitmap_iszero(outside))
            found = i;
        hwloc_bitmap_free(outside);
    }
    return found;
}

static void find_place(void)
{
    static const hwloc_obj_type_t types[LEVELS] = {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_NUMANODE,
                                                   HWLOC_OBJ_L3CACHE};
    hwloc_topology_t topology;
    int length;
    TEST_MPI(MPI_Get_processor_name(here.host, &length));
    if (0 != hwloc_topology_init(&topology) || 0 != hwloc_topology_load(topology))
        test_die("hwloc cannot load this machine");
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    if (0 != hwloc_get_cpubind(topology, cpus, HWLOC_CPUBIND_PROCESS))
        test_die("hwloc does not know to what this process is bound");
    for (int level = 0; level < LEVELS; level++)
        here.at[level] = bound_within(topology, cpus, types[level]);
    hwloc_bitmap_free(cpus);
    hwloc_topology_destroy(topology);
}

/* A set of ranks; false if it is not new. */
static int add_set(uint64_t *sets, int *count, uint64_t set)
{
    for (int i = 0; i < *count; i++)
        if (sets[i] == set)
            return 0;
    sets[(*count)++] = set;
    return 1;
}

/* The ranks that are on a rank's host, and at a level in the same object. */
static uint64_t set_of(const struct where *all, int n, int rank, int level)
{
    uint64_t set = 0;
    for (int other = 0; other < n; other++)
        if (0 == strcmp(all[other].host, all[rank].host) &&
            (level < 0 || all[other].at[level] == all[rank].at[level]))
            set |= UINT64_C(1) << other;
    return set;
}

static int all_know(const struct where *all, uint64_t host, int level)
{
    for (int rank = 0; rank < RANKS_MAX; rank++)
        if ((host >> rank & 1) && all[rank].at[level] < 0)
            return 0;
    return 1;
}

static void report(MPI_Comm comm, const char *name)
{
    int rank, n, hosts = 0, nodes = 0;
    uint64_t host_sets[RANKS_MAX], node_sets[LEVELS * RANKS_MAX];
    struct where all[RANKS_MAX];
    TEST_MPI(MPI_Comm_rank(comm, &rank));
    TEST_MPI(MPI_Comm_size(comm, &n));
    if (n > RANKS_MAX)
        test_die("%d ranks at most", RANKS_MAX);
    TEST_MPI(MPI_Gather(&here, sizeof(here), MPI_BYTE, all, sizeof(here), MPI_BYTE, 0, comm));
    for (int r = 0; 0 == rank && r < n; r++) {
        uint64_t host = set_of(all, n, r, -1);
        add_set(host_sets, &hosts, host);
        for (int level = 0; level < LEVELS; level++) {
            uint64_t set = set_of(all, n, r, level);
            if (all_know(all, host, level) && set != host && (set & (set - 1)))
                add_set(node_sets, &nodes, set);
        }
    }
    if (0 == rank)
        printf("layout: %s: hosts %d, inner nodes %d\n", name, hosts, nodes);
}

static const char *algorithm; /* to be pinned, or NULL */

/* 4, 40000 and 1200000 bytes, each twice. */
static void reduce(MPI_Comm comm, const char *name)
{
    static const int counts[] = {1, 10000, 300000};
    for (int k = 0; k < 3; k++)
        suite_allreduce(comm, name, counts[k], 2);
}

/* Use a communicator, or a duplicate of it where an algorithm is to be pinned. */
static void use(MPI_Comm comm, const char *name)
{
    char pinned_name[MPI_MAX_OBJECT_NAME];
    if (algorithm) {
        MPI_Comm pinned = test_pinned(comm, algorithm);
        snprintf(pinned_name, sizeof pinned_name, "%s on %s", algorithm, name);
        TEST_MPI(MPI_Comm_set_name(pinned, pinned_name));
        reduce(pinned, pinned_name);
        TEST_MPI(MPI_Comm_free(&pinned));
        return;
    }
    if (MPI_COMM_WORLD != comm)
        TEST_MPI(MPI_Comm_set_name(comm, name));
    report(comm, name);
    reduce(comm, name);
}

static void use_and_free(MPI_Comm comm, const char *name)
{
    use(comm, name);
    TEST_MPI(MPI_Comm_free(&comm));
}

static void use_grid(void)
{
    MPI_Comm grid, rows;
    int dims[2] = {0, 0};
    const int wraps[2] = {1, 0}, keep[2] = {0, 1};
    TEST_MPI(MPI_Dims_create(test.n, 2, dims));
    TEST_MPI(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, wraps, 1, &grid));
    TEST_MPI(MPI_Cart_sub(grid, keep, &rows));
    use_and_free(grid, "cart");
    use_and_free(rows, "row");
}

/* Communicators of the first ranks; a job of as many would be the same. */
static void use_first(void)
{
    MPI_Comm comm;
    char name[16];
    for (int n = 2; n <= 5 && n < test.n; n++) {
        snprintf(name, sizeof name, "first%d", n);
        TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, test.rank < n ? 0 : MPI_UNDEFINED, 0, &comm));
        if (MPI_COMM_NULL != comm)
            use_and_free(comm, name);
    }
}

static void use_all(void)
{
    MPI_Comm comm;
    use(MPI_COMM_WORLD, "world");
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, 0, &comm));
    use_and_free(comm, "half");
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comm));
    use_and_free(comm, "reversed");
    if (algorithm) /* the others are where these are */
        return;
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    use_and_free(comm, "dup");
    use_grid();
}

int main(int argc, char **argv)
{
    const char *algorithms = "";
    const struct test_option options[] = {{"algorithms", &algorithms}, {NULL, NULL}};
    test_start(&argc, &argv, "layout", MPI_THREAD_SINGLE, options);
    find_place();
    use_all();
    use_first();
    char *list = strdup(algorithms), *rest = NULL;
    for (algorithm = strtok_r(list, ",", &rest); algorithm; algorithm = strtok_r(NULL, ",", &rest))
        use_all();
    free(list);
    const struct test_counters counters = test_counters_read();
    if (0 == test.rank)
        printf("layout: calls %llu, delegated %llu\n", counters.calls, counters.delegated);
    return test_finish();
}
