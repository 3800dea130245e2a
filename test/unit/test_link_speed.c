/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links' speeds, from folders that look like the system's /sys.
 */
#define _GNU_SOURCE
#include "machine/link_speed.h"

#include "support.h"

#include <ftw.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static int make_root(void **state)
{
    strcpy(root, "strag-sys-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int take_away(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    return remove(path);
}

static int remove_root(void **state)
{
    return nftw(root, take_away, 8, FTW_DEPTH | FTW_PHYS);
}

/* A file, with all the folders it needs; content NULL: a folder. */
static void put(const char *name, const char *content)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s%s", root, name, content ? "" : "/");
    for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    if (!content)
        return;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void put_interface(const char *name, const char *operstate, const char *speed)
{
    char path[128];
    snprintf(path, sizeof path, "class/net/%s/operstate", name);
    put(path, operstate);
    snprintf(path, sizeof path, "class/net/%s/speed", name);
    put(path, speed);
}

static void assert_gigabits(double want)
{
    double is = strag_link_speed(root) * 8e-9;
    if (fabs(is - want) > 1e-9)
        fail_msg("%g Gbit/s, not %g", is, want);
}

static void test_nothing(void **state)
{
    char path[5000];
    assert_gigabits(0);
    put("class/net", NULL);
    assert_gigabits(0);
    put_interface("lo", "unknown\n", "10000\n");
    put_interface("eth0", "up\n", "-1\n"); /* a virtual machine's */
    put_interface("eth1", "down\n", "25000\n");
    put_interface("eth2", "up\n", "fast\n");
    put("class/net/eth3/speed", "25000\n"); /* not even a state */
    put("class/net/eth4/operstate", "up\n");
    assert_gigabits(0);
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_true(strag_link_speed(path) == 0);
}

static void test_interfaces(void **state)
{
    put_interface("veth0", "up\n", "10000\n"); /* a container's; all know no better */
    put_interface("tun0", "unknown\n", "10\n");
    assert_gigabits(10.01);
    put_interface("eth0", "up\n", "25000\n");
    put("class/net/eth0/device", NULL);
    assert_gigabits(25);
    put_interface("eth1", "up\n", "25000\n");
    put("class/net/eth1/device", NULL);
    assert_gigabits(50);
    put_interface("eth1", "down\n", "25000\n");
    assert_gigabits(25);
    put_interface("eth1", "up\n", "10000\n");
    assert_gigabits(35);
}

static void test_bond(void **state)
{
    for (int i = 0; i < 2; i++) {
        char name[16], path[64];
        snprintf(name, sizeof name, "eth%d", i);
        put_interface(name, "up\n", "25000\n");
        snprintf(path, sizeof path, "class/net/eth%d/device", i);
        put(path, NULL);
        snprintf(path, sizeof path, "class/net/eth%d/master", i);
        put(path, NULL);
    }
    put_interface("bond0", "up\n", "50000\n");
    put("class/net/bond0/bonding", NULL);
    assert_gigabits(50);
    put_interface("bond0", "up\n", "25000\n"); /* one of the two is down */
    assert_gigabits(25);
}

static void test_infiniband(void **state)
{
    put_interface("eth0", "up\n", "25000\n");
    put("class/net/eth0/device", NULL);
    put("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    put("class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n");
    assert_gigabits(100);
    put("class/infiniband/mlx5_1/ports/1/state", "4: ACTIVE\n");
    put("class/infiniband/mlx5_1/ports/1/rate", "2.5 Gb/sec (1X SDR)\n"); /* a bad cable */
    assert_gigabits(102.5);
    put("class/infiniband/mlx5_1/ports/2/state", "1: DOWN\n");
    put("class/infiniband/mlx5_1/ports/2/rate", "100 Gb/sec (4X EDR)\n");
    assert_gigabits(102.5);
    put("class/infiniband/mlx5_0/ports/1/rate", "100 furlongs\n");
    assert_gigabits(2.5);
    put("class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
    assert_gigabits(25);
}

static void test_usual(void **state)
{
    assert_true(strag_link_speed_usual((double[]){5, 9, 9, 100, 9}, 5) == 9);
    assert_true(strag_link_speed_usual((double[]){0, 9, 0, 4}, 4) == 9);
    assert_true(strag_link_speed_usual((double[]){0, 9, 0}, 3) == 0);
    assert_true(strag_link_speed_usual((double[]){0, 0}, 2) == 0);
    assert_true(strag_link_speed_usual((double[]){4}, 1) == 4);
    assert_true(strag_link_speed_usual(NULL, 0) == 0);
}

/* Two ranks on each of three hosts, the second host at half the usual speed. */
static void test_compare(void **state)
{
    struct strag_rank_location ranks[6] = {0};
    struct strag_state_record found = {.nslow = 0};
    struct strag_topology *topology = NULL;
    assert_int_equal(strag_topology_flat(6, 2, &topology, NULL), STRAG_OK);
    for (int rank = 0; rank < 6; rank++)
        ranks[rank].link_speed = rank / 2 == 1 ? 5e9 : 1e10;
    strag_link_speed_compare(topology, ranks, 1.1, &found);
    assert_int_equal(found.nslow, 1);
    assert_int_equal(found.slow[0].rank, 2);
    assert_true(found.slow[0].factor == 2);

    found.nslow = 0;
    ranks[2].link_speed = ranks[3].link_speed = 9.9e9; /* hardly slower */
    strag_link_speed_compare(topology, ranks, 1.1, &found);
    assert_int_equal(found.nslow, 0);
    ranks[2].link_speed = ranks[3].link_speed = 0; /* not known */
    strag_link_speed_compare(topology, ranks, 1.1, &found);
    assert_int_equal(found.nslow, 0);

    ranks[2].link_speed = ranks[3].link_speed = 5e9;
    topology->nodes[topology->host_node[5]].uplink = 1e9; /* the layout knows better */
    strag_link_speed_compare(topology, ranks, 1.1, &found);
    assert_int_equal(found.nslow, 0);
    strag_topology_free(topology);
}

#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ROOT(test_nothing),    WITH_ROOT(test_interfaces),   WITH_ROOT(test_bond),
        WITH_ROOT(test_infiniband), cmocka_unit_test(test_usual), cmocka_unit_test(test_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
