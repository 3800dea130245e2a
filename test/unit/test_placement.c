/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job's ranks placed on layouts, grids and addresses: who is on which host, and why a layout
 * cannot be used.
 */
#include "exhaust.h"
#include "machine/job.h"
#include "support.h"

enum { RANKS_MAX = 1000 };

/* A job of ranks 0, 1, ... on hosts that a text lists: "a b a". */
struct setting {
    struct strag_rank_location ranks[RANKS_MAX];
    struct strag_job job;
    struct strag_layout *layout;
};

static void put(struct setting *setting, int world, const char *host)
{
    struct strag_rank_location *rank = &setting->ranks[setting->job.n++];
    memset(rank, 0, sizeof *rank);
    snprintf(rank->host, sizeof rank->host, "%s", host);
    rank->core = (struct strag_core){-1, -1, -1};
    rank->world = world;
}

static struct setting *setting_make(const char *hosts, enum strag_job_source source)
{
    struct setting *setting = calloc(1, sizeof *setting);
    char copy[512], *rest = NULL;
    assert_non_null(setting);
    setting->job = (struct strag_job){.ranks = setting->ranks, .source = source};
    snprintf(copy, sizeof copy, "%s", hosts);
    for (char *host = strtok_r(copy, " ", &rest); host; host = strtok_r(NULL, " ", &rest))
        put(setting, setting->job.n, host);
    return setting;
}

static struct setting *on_file(const char *hosts, const char *text)
{
    struct strag_error err = {""};
    struct setting *setting = setting_make(hosts, STRAG_JOB_ON_FILE);
    if (strag_layout_parse(text, strlen(text), "FILE", &setting->layout, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    setting->job.layout = setting->layout;
    return setting;
}

static struct setting *on_grid(const char *hosts, const char *dims)
{
    struct setting *setting = setting_make(hosts, STRAG_JOB_ON_GRID);
    assert_int_equal(
        strag_layout_from_dims(dims, STRAG_NETWORK_TORUS, true, &setting->layout, NULL), STRAG_OK);
    setting->job.layout = setting->layout;
    return setting;
}

static void setting_free(struct setting *setting)
{
    strag_layout_free(setting->layout);
    free(setting);
}

static struct strag_topology *placed(const struct setting *setting, const char *why)
{
    struct strag_error err = {"not set"};
    struct strag_topology *topology = NULL;
    assert_int_equal(strag_job_topology(&setting->job, &topology, &err), STRAG_OK);
    assert_string_equal(err.text, why);
    assert_int_equal(topology->n, setting->job.n);
    return topology;
}

static const struct strag_node *host_of(const struct strag_topology *topology, int rank)
{
    return &topology->nodes[topology->host_node[rank]];
}

/* The hosts' names, rank by rank, as the topology has them. */
static void assert_hosts(const struct strag_topology *topology, const char *names)
{
    char text[512] = "";
    for (int rank = 0; rank < topology->n; rank++) {
        size_t used = strlen(text);
        const char *name = host_of(topology, rank)->name;
        snprintf(text + used, sizeof text - used, "%s%s", rank ? " " : "", name ? name : "-");
    }
    assert_string_equal(text, names);
}

/* Place, compare, free. @param switches  with several hosts or switches below, but the root */
static void check(struct setting *setting, const char *why, const char *names, int switches)
{
    struct strag_topology *topology = placed(setting, why);
    int count = 0;
    for (int i = 0; i < topology->nnodes; i++)
        count += topology->nodes[i].level == STRAG_LEVEL_SWITCH;
    assert_hosts(topology, names);
    assert_int_equal(count, switches);
    strag_topology_free(topology);
    setting_free(setting);
}

/* ---- Names ---- */

static const char two_switches[] = "SwitchName=s Nodes=a,b.x.org\nSwitchName=t Nodes=c.x,c.y,d\n"
                                   "SwitchName=top Switches=s,t\n";

TEST(names)
{
    check(on_file("a b.x.org a d", two_switches), "", "a b.x.org a d", 1);
    check(on_file("a.far.org b d", two_switches), "", "a b.x.org d", 1); /* with and without */
    check(on_file("c.y c.x", two_switches), "", "c.y c.x", 0);
    check(on_file("a e f.z a", two_switches), "these hosts of the job are not in it: e, f.z",
          "a e f.z a", 0);
    check(on_file("b.y a", two_switches), "these hosts of the job are not in it: b.y", "b.y a", 0);
    check(on_file("c a", two_switches), "these hosts of the job cannot be distinguished there: c",
          "c a", 0);
    check(on_file("c a.x a.y", two_switches),
          "these hosts of the job cannot be distinguished there: c, a.y", "c a.x a.y", 0);
    check(on_file("x c", two_switches),
          "these hosts of the job are not in it: x\n  "
          "these hosts of the job cannot be distinguished there: c",
          "x c", 0);
    check(on_file("1 2 3 4 5 6 7", two_switches),
          "these hosts of the job are not in it: 1, 2, 3, 4, 5 and 2 more", "1 2 3 4 5 6 7", 0);
}

TEST(same_names)
{
    assert_true(strag_same_host_name("a", "a"));
    assert_true(strag_same_host_name("a", "a.x.org"));
    assert_true(strag_same_host_name("a.x.org", "a"));
    assert_false(strag_same_host_name("a.x", "a.y"));
    assert_false(strag_same_host_name("a", "ab"));
    assert_false(strag_same_host_name("a", "ab.x"));
}

/* Longer than a message, and each as long as a name may be. */
TEST(long_names)
{
    struct strag_error why;
    struct setting *setting = on_file("a", two_switches);
    for (int i = 0; i < 7; i++) {
        char name[STRAG_HOST_MAX];
        memset(name, 'x', sizeof name - 1);
        name[0] = (char)('A' + i);
        name[sizeof name - 1] = '\0';
        put(setting, 1 + i, name);
    }
    struct strag_topology *topology = NULL;
    assert_int_equal(strag_job_topology(&setting->job, &topology, &why), STRAG_OK);
    assert_string_equal(why.text + strlen(why.text) - strlen("xxx and 2 more"), "xxx and 2 more");
    assert_int_equal(topology->hosts, 8);
    strag_topology_free(topology);
    setting_free(setting);
}

/* ---- Where ranks are ---- */

TEST(interleaved)
{
    struct setting *setting = on_file("a d b.x.org a d b.x.org d", two_switches);
    setting->ranks[0].core.numa = 1;
    setting->ranks[3].core.numa = 0;
    struct strag_topology *topology = placed(setting, "");
    assert_int_equal(topology->hosts, 3);
    assert_true(strag_topology_same_host(topology, 1, 6));
    assert_false(strag_topology_same_host(topology, 0, 2));
    /* Leaves are in the tree's order: a's domains 0 and 1, b, d. */
    static const int order[] = {3, 0, 2, 5, 1, 4, 6};
    for (int i = 0; i < 7; i++)
        assert_int_equal(topology->leaf_rank[i], order[i]);
    strag_topology_free(topology);
    setting_free(setting);
}

static const char coordinates[] = "0: 0 0\n1: 1 1\n2: 0 1\n3: 1 0\n";

TEST(by_rank)
{
    struct setting *setting = on_file("", coordinates);
    put(setting, 3, "x"); /* a part of the job, in another order */
    put(setting, 1, "x");
    struct strag_topology *topology = placed(setting, "");
    assert_int_equal(topology->network, STRAG_NETWORK_TORUS);
    assert_int_not_equal(host_of(topology, 0)->position, host_of(topology, 1)->position);
    assert_string_equal(host_of(topology, 0)->name,
                        setting->layout->hosts[setting->layout->rank_host[3]].name);
    strag_topology_free(topology);
    put(setting, 4, "y");
    check(setting, "rank 4 is not in it", "x x y", 0);
}

TEST(grid)
{
    /* Hosts in the order of their lowest ranks of the job, not of the communicator. */
    struct setting *setting = on_grid("", "2x2");
    static const struct {
        int world;
        const char *host;
        int position;
    } ranks[] = {{5, "b", 1}, {0, "d", 0}, {7, "a", 3}, {2, "b", 1}, {6, "c", 2}};
    for (int i = 0; i < 5; i++)
        put(setting, ranks[i].world, ranks[i].host);
    struct strag_topology *topology = placed(setting, "");
    assert_int_equal(topology->network, STRAG_NETWORK_TORUS);
    for (int i = 0; i < 5; i++)
        assert_int_equal(host_of(topology, i)->position, ranks[i].position);
    strag_topology_free(topology);
    setting_free(setting);

    check(on_grid("a b c", "2x2"), "it has 4 positions, and the job has 3 hosts", "a b c", 0);
    check(on_grid("a b c", "2"), "it has 2 positions, and the job has 3 hosts", "a b c", 0);
    setting = on_grid("a b c", "2x2");
    setting->job.part = true;
    check(setting, "", "a b c", 0);
    setting = on_grid("a b c", "2");
    setting->job.part = true;
    check(setting, "it has 2 positions, and the job has 3 hosts", "a b c", 0);
}

/* ---- Addresses ---- */

static struct setting *addressed(const char *hosts, const char *const *addresses)
{
    struct setting *setting = setting_make(hosts, STRAG_JOB_BY_ADDRESSES);
    for (int rank = 0; rank < setting->job.n; rank++)
        snprintf(setting->ranks[rank].address, sizeof setting->ranks[rank].address, "%s",
                 addresses[rank]);
    return setting;
}

TEST(by_addresses)
{
    static const char *const all[] = {"top.s.a", "top.t.b", "top.s.c"};
    static const char *const some[] = {"top.s.a", "", "top.s.c"};
    static const char *const others[] = {"top.s.a", "torus:1:0", "top.s.c"};
    check(addressed("a b c", all), "", "a b c", 1);
    check(addressed("a b c", some), "", "a b c", 0); /* no word, no switches */
    struct setting *setting = addressed("a b c", others);
    struct strag_error why;
    struct strag_topology *topology = NULL;
    assert_int_equal(strag_job_topology(&setting->job, &topology, &why), STRAG_OK);
    assert_true(why.text[0] != '\0');
    assert_hosts(topology, "a b c");
    strag_topology_free(topology);
    setting_free(setting);
    check(setting_make("b a b", STRAG_JOB_FLAT), "", "b a b", 0);
}

/* ---- Limits ---- */

static int attempt(const void *what, struct strag_error *err, bool *made)
{
    struct strag_topology *topology = NULL;
    int status = strag_job_topology(what, &topology, err);
    *made = topology != NULL;
    strag_topology_free(topology);
    return status;
}

TEST(out_of_memory)
{
    static const char *const addresses[] = {"top.s.a", "top.t.b", "top.s.a"};
    struct setting *all[] = {on_file("a d a", two_switches), on_file("a b c", coordinates),
                             on_file("a e a", two_switches), on_grid("a b a", "2"),
                             on_grid("a b c", "2"),          addressed("a b a", addresses)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_in_range(exhaust("strag_job_place", attempt, &all[i]->job), 5, 200);
        setting_free(all[i]);
    }
}

TEST(many)
{
    struct setting *setting =
        on_file("", "SwitchName=s Nodes=n[000-499].x\nSwitchName=t Nodes=n[500-999]\n"
                    "SwitchName=top Switches=s,t\n");
    for (int rank = 0; rank < RANKS_MAX; rank++) {
        char name[16];
        snprintf(name, sizeof name, "n%03d", rank * 7 % RANKS_MAX);
        put(setting, RANKS_MAX - 1 - rank, name);
    }
    struct strag_topology *topology = placed(setting, "");
    assert_int_equal(topology->hosts, RANKS_MAX);
    for (int rank = 0; rank < RANKS_MAX; rank++) {
        int number = rank * 7 % RANKS_MAX;
        char name[16];
        snprintf(name, sizeof name, "n%03d%s", number, number < 500 ? ".x" : "");
        assert_string_equal(host_of(topology, rank)->name, name);
    }
    strag_topology_free(topology);
    setting_free(setting);
}
