/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * straggler-trees: proofs on one switch, grids and trees of hosts; which links it loads; its
 * modelled times against the lower bounds, and what is chosen.
 */
#include "algorithms/table.h"
#include "algorithms/torus.h"
#include "machines.h"
#include "model/bounds.h"
#include "model/select.h"
#include "plan/verify.h"
#include "support.h"
#include "trees.h"

#include <math.h>

enum { LATE_MAX = 3 };

/* A problem with its state. Do not copy it. */
struct late {
    struct strag_straggler straggler[LATE_MAX];
    struct strag_slow slow;
    struct strag_state state;
    struct strag_problem problem;
};

static void late_make(struct late *late, const struct strag_topology *topology, int n, int rank,
                      double delay)
{
    *late = (struct late){.straggler = {{rank, delay}}};
    late->state = (struct strag_state){.nstragglers = 1, .straggler = late->straggler};
    late->problem = (struct strag_problem){.n = n, .topology = topology, .state = &late->state};
}

static void late_add(struct late *late, int rank, double delay)
{
    late->straggler[late->state.nstragglers++] = (struct strag_straggler){rank, delay};
}

static void late_slow(struct late *late, int rank, double factor)
{
    late->slow = (struct strag_slow){rank, factor};
    late->state.slow = &late->slow;
    late->state.nslow = 1;
}

/* ---- Proofs ---- */

static struct strag_measure proved(const struct late *late, const char *what)
{
    struct strag_measure measure;
    struct strag_error err;
    if (strag_verify(support_algorithm("straggler-trees"), &late->problem, &measure, NULL, &err) !=
        STRAG_OK)
        fail_msg("%s, n = %d, rank %d late, %d blocks: %s", what, late->problem.n,
                 late->straggler[0].rank, late->problem.blocks, err.text);
    assert_true(measure.waits);
    assert_true(fabs(measure.sent_total - 2.0 * (late->problem.n - 1)) < 1e-9 * late->problem.n ||
                measure.sent_total > 2.0 * (late->problem.n - 1));
    return measure;
}

static int refused(const struct late *late)
{
    struct strag_measure measure;
    struct strag_error err;
    return strag_verify(support_algorithm("straggler-trees"), &late->problem, &measure, NULL, &err);
}

TEST(on_one_switch)
{
    for (int n = 2; n <= 64; n++) {
        for (int rank = 0; rank < n; rank++) {
            struct late late;
            late_make(&late, NULL, n, rank, 1e-3);
            late.problem.blocks = 1 + (n + rank) % 5;
            const struct strag_measure measure = proved(&late, "one switch");
            assert_int_equal(measure.rounds - measure.before, late.problem.blocks + n - 1);
            if (n > 2)
                late_add(&late, (rank + n / 2) % n, 1e-4);
            if (n > 3)
                late_add(&late, (rank + 1) % n, 2e-4);
            proved(&late, "several late on one switch");
        }
    }
}

/* Every rank late; and with it every host slow, in turn if there are many. */
static void prove_all_ranks(const struct strag_topology *topology, const char *what)
{
    const int n = topology->n, step = n <= 16 ? 1 : n / 4 + 1;
    for (int rank = 0; rank < n; rank++) {
        struct late late;
        late_make(&late, topology, n, rank, 1e-3);
        proved(&late, what);
        for (int slow = rank % step; slow < n; slow += step) {
            late_slow(&late, slow, 2);
            proved(&late, what);
        }
    }
}

TEST(on_grids)
{
    static const struct {
        enum strag_network network;
        const char *dims;
        bool wrap;
        int ranks;
    } cases[] = {
        {STRAG_NETWORK_TORUS, "2", true, 1},         {STRAG_NETWORK_TORUS, "3", true, 1},
        {STRAG_NETWORK_TORUS, "8", true, 1},         {STRAG_NETWORK_TORUS, "7", false, 1},
        {STRAG_NETWORK_TORUS, "16", true, 1},        {STRAG_NETWORK_TORUS, "8", true, 3},
        {STRAG_NETWORK_TORUS, "2x2", true, 1},       {STRAG_NETWORK_TORUS, "1x5", true, 1},
        {STRAG_NETWORK_TORUS, "3x2", true, 1},       {STRAG_NETWORK_TORUS, "3x5", true, 1},
        {STRAG_NETWORK_TORUS, "4x4", true, 1},       {STRAG_NETWORK_TORUS, "8x8", true, 1},
        {STRAG_NETWORK_TORUS, "4x3", false, 1},      {STRAG_NETWORK_TORUS, "2x2x2", true, 1},
        {STRAG_NETWORK_TORUS, "3x2x4", true, 1},     {STRAG_NETWORK_TORUS, "4x4x4", true, 1},
        {STRAG_NETWORK_TORUS, "2x2x5", true, 1},     {STRAG_NETWORK_TORUS, "2x3x2x3", true, 1},
        {STRAG_NETWORK_TORUS, "3x3", true, 2},       {STRAG_NETWORK_TORUS, "2x1x3", true, 3},
        {STRAG_NETWORK_TORUS, "3x3x2", false, 1},    {STRAG_NETWORK_HYPERX, "3x4", true, 1},
        {STRAG_NETWORK_HAMMINGMESH, "4x4", true, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool boards = cases[i].network == STRAG_NETWORK_HAMMINGMESH;
        struct strag_topology *grid = machine_grid(cases[i].network, cases[i].wrap, cases[i].dims,
                                                   boards ? "2x2" : NULL, cases[i].ranks);
        prove_all_ranks(grid, cases[i].dims);
        for (int ports = 1; ports <= 4; ports++) {
            struct late late;
            late_make(&late, grid, grid->n, grid->n / 2, 1e-3);
            late.problem.ports = ports;
            if (ports > 1 && ports > 2 * strag_torus_of(&late.problem).dims) {
                assert_int_equal(refused(&late), STRAG_ERR_UNSUPPORTED);
                continue;
            }
            proved(&late, "on some ports");
            late.problem.blocks = ports; /* a segment a tree, fewer than go through mirror images */
            proved(&late, "one segment");
        }
        strag_topology_free(grid);
    }
}

TEST(on_trees)
{
    static const char *const trees[] = {"N(H(0 1 2 3) H(4 5 6 7) H(8 9 10))", "N(H(0 1 2))",
                                        "N(S(H(0) H(1 2)) S(H(3 4 5) H(6) H(7)) H(8 9))"};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        struct machine_nodes nodes = machine_parse(trees[i]);
        struct strag_topology *tree = machine_finish(&nodes, NULL);
        prove_all_ranks(tree, trees[i]);
        strag_topology_free(tree);
    }
    struct strag_topology *hosts = machine_flat(64, 8);
    prove_all_ranks(hosts, "8 hosts of 8");
    strag_topology_free(hosts);
}

/* Any tree, up to three late ranks, one slow. */
TEST(random_states_on_random_trees)
{
    struct rng rng = {support_seed("random_states_on_random_trees")};
    for (long i = support_cases(2000); i > 0; i--) {
        const int n = 2 + (int)rng_below(&rng, 20);
        int *ranks = trees_ranks(&rng, n);
        struct strag_topology *tree = trees_random(&rng, n, 1 + (int)rng_below(&rng, 4), ranks);
        struct late late;
        late_make(&late, tree, n, (int)rng_below(&rng, (unsigned)n), 1e-3);
        while (late.state.nstragglers < LATE_MAX && !rng_one_in(&rng, 3))
            late_add(&late, (int)rng_below(&rng, (unsigned)n), 1e-6 * rng_below(&rng, 2000));
        if (rng_one_in(&rng, 2))
            late_slow(&late, (int)rng_below(&rng, (unsigned)n), 2);
        late.problem.blocks = 1 + (int)rng_below(&rng, 9);
        proved(&late, "a random tree");
        free(ranks);
        strag_topology_free(tree);
    }
}

/* ---- Links ---- */

/* That of the deepest tree, where all dimensions have three hosts or more. */
static int depth_of(const struct strag_box *box)
{
    int deepest = 0;
    for (int own = 0; own < box->dims; own++) {
        int depth = box->size[own] - 2;
        for (int d = 0; d < box->dims; d++)
            depth += d == own ? 0 : box->size[d] / 2;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

/* Rounds from the last segment's hand-in on: half of what is left of a tree's own dimension, and
 * the shorter way in all others. */
static int after_of(const struct strag_box *box)
{
    int longest = 0;
    for (int own = 0; own < box->dims; own++) {
        int rounds = (box->size[own] - 1) / 2;
        for (int d = 0; d < box->dims; d++)
            rounds += d == own ? 0 : box->size[d] / 2;
        longest = rounds > longest ? rounds : longest;
    }
    return longest;
}

/* On a torus every link carries two parts of the vector at most in all, one before and one after,
 * and the last segments of the mirror image; trees take the shorter way in all dimensions but their
 * own. */
TEST(links_of_tori_are_shared_out)
{
    static const char *const dims[] = {"5", "3x5", "4x4", "8x8", "3x4x5", "3x3x3x3"};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        struct strag_topology *torus = machine_grid(STRAG_NETWORK_TORUS, true, dims[i], NULL, 1);
        const struct strag_model model = machine_model(STRAG_NETWORK_TORUS);
        for (int rank = 0; rank < torus->n; rank += 1 + torus->n / 7) {
            struct late late;
            struct strag_profile *profile;
            struct strag_error err;
            late_make(&late, torus, torus->n, rank, 1e-3);
            /* As many segments as the trees are deep. */
            const struct strag_measure measure = proved(&late, dims[i]);
            const int segments = depth_of(torus->box), after = after_of(torus->box);
            assert_int_equal(measure.rounds - measure.before, segments + after);
            if (strag_profile_create(support_algorithm("straggler-trees"), &late.problem, &model,
                                     &profile, &err) != STRAG_OK)
                fail_msg("%s", err.text);
            assert_true(profile->busiest * 2 * torus->box->dims <
                        2 + (double)(segments - after) / segments + 1e-9);
            strag_profile_free(profile);
        }
        strag_topology_free(torus);
    }
}

/* The stretches of identical rounds that the profile relies on. */
TEST(identical_rounds)
{
    struct strag_algorithm plain = *support_algorithm("straggler-trees");
    plain.same_rounds = NULL;
    struct strag_topology *torus = machine_grid(STRAG_NETWORK_TORUS, true, "3x4", NULL, 1);
    struct strag_topology *hosts = machine_flat(12, 3);
    const struct strag_model model = machine_model(STRAG_NETWORK_TORUS);
    for (int blocks = 4; blocks <= 80; blocks += 4) {
        for (int tree = 0; tree < 2; tree++) {
            struct late late;
            struct strag_profile *one, *other;
            struct strag_error err;
            late_make(&late, tree ? hosts : torus, 12, 5, 1e-4);
            late.problem.blocks = blocks;
            assert_int_equal(strag_profile_create(support_algorithm("straggler-trees"),
                                                  &late.problem, &model, &one, &err),
                             STRAG_OK);
            assert_int_equal(strag_profile_create(&plain, &late.problem, &model, &other, &err),
                             STRAG_OK);
            for (double bytes = 1; bytes < 1e10; bytes *= 100) {
                const double seconds = strag_profile_seconds(other, bytes);
                assert_true(fabs(strag_profile_seconds(one, bytes) - seconds) <= 1e-9 * seconds);
            }
            assert_true(blocks < 80 || one->nparts < other->nparts);
            strag_profile_free(one);
            strag_profile_free(other);
        }
    }
    strag_topology_free(torus);
    strag_topology_free(hosts);
}

/* ---- Times ---- */

/* Seconds of what is chosen. @param[out] together  of the best one that waits for all */
static double seconds_of_chosen(const struct strag_problem *problem,
                                const struct strag_model *model, double bytes, double *together)
{
    const struct strag_select_options options = {.minimum = 0};
    struct strag_selection *selection;
    struct strag_error err;
    if (strag_select(problem, model, &options, &selection, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    const struct strag_entry *entry = strag_table_entry(&selection->table, (size_t)bytes);
    double seconds = NAN;
    *together = INFINITY;
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        if (!candidate->profile)
            continue;
        const double takes = strag_profile_seconds(candidate->profile, bytes);
        if (!candidate->algorithm->needs_straggler)
            *together = fmin(*together, takes);
        if (candidate->algorithm == entry->algorithm && candidate->blocks == entry->blocks)
            seconds = takes;
    }
    strag_selection_free(selection);
    return seconds;
}

/* From the arrival on. @param[out] bound  likewise */
static double seconds_after(const struct late *late, const struct strag_model *model, double bytes,
                            double *bound)
{
    const double delay = strag_state_delay(&late->state);
    struct strag_lower_bound lower;
    struct strag_error err;
    if (strag_lower_bound(&late->problem, model, &lower, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    *bound = strag_lower_bound_seconds(&lower, bytes, NULL) - delay;
    double together;
    return seconds_of_chosen(&late->problem, model, bytes, &together) - delay;
}

static void assert_near_bound(const struct late *late, const struct strag_model *model,
                              double bytes, double most)
{
    double bound;
    const double ratio = seconds_after(late, model, bytes, &bound) / bound;
    print_message("n = %d, %.0f MiB: %.3f\n", late->problem.n, bytes / (1 << 20), ratio);
    if (!(ratio >= 1 && ratio <= most))
        fail_msg("n = %d, %.0f bytes: %.4f of the bound instead of %.4f", late->problem.n, bytes,
                 ratio, most);
}

static const double mib = 1 << 20;

TEST(near_the_bounds_on_tori)
{
    static const struct {
        const char *dims;
        double most; /* of the bound at 16 MiB, where posting shows */
    } cases[] = {{"4x4", 1.16}, {"3x5", 1.16}, {"3x4", 1.15}, {"8x8", 1.26}, {"4x4x4", 1.28}};
    const struct strag_model model = machine_model(STRAG_NETWORK_TORUS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strag_topology *torus =
            machine_grid(STRAG_NETWORK_TORUS, true, cases[i].dims, NULL, 1);
        struct late late;
        late_make(&late, torus, torus->n, torus->n / 2, 10);
        for (double bytes = 16 * mib; bytes < 2000 * mib; bytes *= 8)
            assert_near_bound(&late, &model, bytes, bytes < 17 * mib ? cases[i].most : 1.1);
        strag_topology_free(torus);
    }
}

TEST(near_the_bounds_on_trees)
{
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    struct machine_nodes nodes = machine_parse("N(H(0 1 2 3) H(4 5 6 7) H(8 9 10))");
    struct strag_topology *tree = machine_finish(&nodes, NULL), *hosts = machine_flat(64, 8);
    for (double bytes = 16 * mib; bytes < 2000 * mib; bytes *= 8) {
        struct late late;
        late_make(&late, tree, 11, 5, 10);
        assert_near_bound(&late, &model, bytes, 1.15);
        late_make(&late, hosts, 64, 20, 10);
        assert_near_bound(&late, &model, bytes, 1.15);
        static const int together[][3] = {{3, 7, -1}, {2, 3, -1}, {7, 10, -1}, {0, 4, 5}};
        for (int i = 0; i < 4; i++) {
            late_make(&late, tree, 11, together[i][0], 10);
            for (int l = 1; l < 3 && together[i][l] >= 0; l++)
                late_add(&late, together[i][l], 10);
            assert_near_bound(&late, &model, bytes, 1.15);
        }
    }
    strag_topology_free(tree);
    strag_topology_free(hosts);
}

/* Late and slow, the same rank or two; two late ones. */
TEST(near_the_bounds_in_mixed_states)
{
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    static const int ranks[] = {6, 8, 16};
    for (double bytes = 16 * mib; bytes < 2000 * mib; bytes *= 8) {
        struct late late;
        for (int i = 0; i < 6; i++) {
            late_make(&late, NULL, ranks[i / 2], 1, 10);
            late_slow(&late, i % 2 ? 1 : 3, 2);
            assert_near_bound(&late, &model, bytes, 1.15);
        }
        late_make(&late, NULL, 8, 1, 10);
        late_add(&late, 4, 5);
        assert_near_bound(&late, &model, bytes, 1.25);
        late_make(&late, NULL, 8, 1, 10);
        late_add(&late, 4, 10); /* an owner sends and receives 7/6 of the vector */
        assert_near_bound(&late, &model, bytes, 1.25);
    }
}

/* ... than without going ahead, however short the delay. */
TEST(never_much_slower)
{
    struct strag_topology *topologies[] = {machine_grid(STRAG_NETWORK_TORUS, true, "3x4", NULL, 1),
                                           machine_flat(12, 3), machine_flat(8, 1)};
    static const double delays[] = {0, 0.1, 0.25, 0.5, 1, 2, 3}; /* of bytes / bandwidth */
    for (int i = 0; i < 9; i++) {
        struct strag_topology *topology = topologies[i / 3];
        const struct strag_model model = machine_model(topology->network);
        for (size_t d = 0; d < sizeof delays / sizeof *delays; d++) {
            const double bytes = mib * (1 << 6 * (i % 3) >> 2);
            struct late late;
            double together;
            late_make(&late, topology, topology->n, 2, delays[d] * bytes / model.bandwidth);
            if (d % 2)
                late_slow(&late, 3, 2);
            const double seconds = seconds_of_chosen(&late.problem, &model, bytes, &together);
            if (!(seconds <= 1.03 * together))
                fail_msg("n = %d, delay %g, %.0f bytes: %g s, together %g s", topology->n,
                         delays[d], bytes, seconds, together);
        }
    }
    for (int i = 0; i < 3; i++)
        strag_topology_free(topologies[i]);
}
