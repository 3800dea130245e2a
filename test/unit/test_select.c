/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The selector's table against the estimates that it was made from: at every size it names an
 * algorithm with the least modelled time.
 */
#include "model/select.h"

#include "exhaust.h"
#include "machines.h"
#include "support.h"

#include <math.h>

static struct strag_selection *selected(const struct strag_problem *problem,
                                        const struct strag_model *model, size_t minimum)
{
    struct strag_selection *selection;
    struct strag_error err;
    const struct strag_select_options options = {.minimum = minimum, .short_plans = true};
    if (strag_select(problem, model, &options, &selection, &err) != STRAG_OK)
        fail_msg("n = %d: %s", problem->n, err.text);
    return selection;
}

/* Less far is worth some time. */
static double seconds_of_candidate(const struct strag_candidate *one, size_t bytes)
{
    const struct strag_profile *profile = one->profile;
    const double seconds = strag_profile_seconds(profile, (double)bytes);
    const double transfer = seconds - strag_profile_seconds(profile, 0);
    if (one->algorithm->needs_straggler)
        return seconds;
    return seconds + STRAG_DISTANCE_MARGIN * profile->distance * fmax(0, seconds - profile->delay) +
           STRAG_CROSSING_MARGIN * profile->crossing * transfer;
}

/* With the block count that is best. */
static double seconds_of(const struct strag_selection *selection, const char *name, size_t bytes)
{
    double least = INFINITY;
    bool known = false;
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        bool named = strcmp(candidate->algorithm->name, name) == 0;
        if (named && candidate->profile)
            least = fmin(least, seconds_of_candidate(candidate, bytes));
        known = known || named;
    }
    if (!known)
        fail_msg("%s is no candidate", name);
    return least;
}

/* A candidate's seconds as they are compared with those of other counts of blocks: one that is
 * larger is taken within STRAG_MORE_BLOCKS_MARGIN for each doubling. */
static double biased(const struct strag_selection *selection, const struct strag_candidate *one,
                     size_t bytes)
{
    double seconds = seconds_of_candidate(one, bytes);
    int fewest = one->blocks;
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *other = &selection->candidate[c];
        if (other->algorithm == one->algorithm && other->blocks < fewest)
            fewest = other->blocks;
    }
    const double doublings =
        one->algorithm->prefers_more_blocks && fewest > 0 ? log2((double)one->blocks / fewest) : 0;
    return seconds * pow(1 - STRAG_MORE_BLOCKS_MARGIN, doublings);
}

static void assert_best_blocks(const struct strag_selection *selection, size_t bytes)
{
    const struct strag_entry *entry = strag_table_entry(&selection->table, bytes);
    double mine = INFINITY, least = INFINITY;
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        if (!candidate->profile || candidate->algorithm != entry->algorithm)
            continue;
        double seconds = biased(selection, candidate, bytes);
        least = fmin(least, seconds);
        if (candidate->blocks == entry->blocks)
            mine = seconds;
    }
    if (!(mine <= least * (1 + 2e-9)))
        fail_msg("%zu bytes: %s in %d blocks is rated %.9g s, the best %.9g s", bytes,
                 entry->algorithm->name, entry->blocks, mine, least);
}

/* A steady algorithm, or a pipeline that evens out, is taken where it is within STRAG_MODEL_MARGIN
 * of the fastest one, and only there. */
static bool is_biased(const struct strag_algorithm *algorithm)
{
    return algorithm->straggler_tolerant || algorithm->prefers_more_blocks;
}

static void assert_least(const struct strag_selection *selection, size_t bytes)
{
    const struct strag_algorithm *chosen = strag_table_find(&selection->table, bytes);
    assert_non_null(chosen);
    assert_best_blocks(selection, bytes);
    double mine = seconds_of(selection, chosen->name, bytes);
    if (is_biased(chosen))
        mine *= 1 - STRAG_MODEL_MARGIN;
    for (int c = 0; c < selection->candidates; c++) {
        const char *other = selection->candidate[c].algorithm->name;
        double theirs = seconds_of(selection, other, bytes);
        if (is_biased(selection->candidate[c].algorithm))
            theirs *= 1 - STRAG_MODEL_MARGIN;
        if (mine > theirs * (1 + 2e-9))
            fail_msg("%zu bytes: %s takes %.9g s, %s %.9g s", bytes, chosen->name, mine, other,
                     theirs);
    }
}

static void assert_table(const struct strag_table *table)
{
    assert_in_range(table->entries, 1, STRAG_TABLE_MAX - 1);
    assert_int_equal(table->entry[0].from, 0);
    for (int e = 1; e < table->entries; e++) {
        assert_true(table->entry[e].from > table->entry[e - 1].from);
        assert_true(table->entry[e].algorithm != table->entry[e - 1].algorithm ||
                    table->entry[e].blocks != table->entry[e - 1].blocks);
    }
}

/* What is left out because it cannot win is not missed. */
static void assert_quick(const struct strag_problem *problem, const struct strag_model *model,
                         size_t minimum, const struct strag_table *table)
{
    struct strag_selection *quick;
    struct strag_error err = {""};
    const struct strag_select_options options = {.minimum = minimum, .quick = true};
    assert_int_equal(strag_select(problem, model, &options, &quick, &err), STRAG_OK);
    assert_int_equal(quick->table.entries, table->entries);
    for (int e = 0; e < table->entries; e++) {
        /* costs that are sampled move a boundary, but by less than anybody could measure */
        const size_t from = table->entry[e].from, rounding = e > 0 ? 1 + from / 100 : 0;
        assert_in_range(quick->table.entry[e].from, from - rounding, from + rounding);
        assert_ptr_equal(quick->table.entry[e].algorithm, table->entry[e].algorithm);
        assert_int_equal(quick->table.entry[e].blocks, table->entry[e].blocks);
    }
    strag_selection_free(quick);
}

/* Every power of two from 32 bytes to 1 GiB, sizes between them, and both sides of all changes. */
static void check_selection(struct strag_topology *topology, struct rng *rng)
{
    const struct strag_model model = machine_model(topology->network);
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    struct strag_selection *selection = selected(&problem, &model, 0);
    assert_table(&selection->table);
    assert_quick(&problem, &model, 0, &selection->table);
    for (size_t bytes = 32; bytes <= (size_t)1 << 30; bytes *= 2) {
        assert_least(selection, bytes);
        for (int i = 0; i < 4; i++)
            assert_least(selection, bytes + rng_next(rng) % bytes);
    }
    for (int e = 1; e < selection->table.entries; e++) {
        assert_least(selection, selection->table.entry[e].from);
        assert_least(selection, selection->table.entry[e].from - 1);
    }
    strag_selection_free(selection);
    strag_topology_free(topology);
}

TEST(least_at_every_size)
{
    struct rng rng = {support_seed("least_at_every_size")};
    check_selection(machine_grid(STRAG_NETWORK_TORUS, true, "8x8", NULL, 1), &rng);
    check_selection(machine_grid(STRAG_NETWORK_TORUS, true, "32x32", NULL, 1), &rng);
    check_selection(machine_grid(STRAG_NETWORK_TORUS, true, "8x8x8", NULL, 1), &rng);
    check_selection(machine_grid(STRAG_NETWORK_TORUS, false, "5x7", NULL, 1), &rng);
    check_selection(machine_grid(STRAG_NETWORK_HYPERX, true, "8x8", NULL, 1), &rng);
    check_selection(machine_grid(STRAG_NETWORK_HAMMINGMESH, true, "8x8", "2x2", 1), &rng);
    check_selection(machine_tree("((8,8,8,8),(8,8,8,8),(8,8,8,8),(8,8,8,8))"), &rng);
    check_selection(machine_flat(64, 1), &rng);
    check_selection(machine_flat(13, 1), &rng);
    check_selection(machine_flat(2, 1), &rng);
    check_selection(machine_flat(1, 1), &rng);
}

/* On a switch the estimates are simple enough to say where one algorithm overtakes another:
 * swing-latency 3 alpha + 3 s / B, swing in 2 blocks 4 alpha + 2 s / B, in 4 blocks 5 alpha +
 * 7/4 s / B, circulant and halving 6 alpha + 7/4 s / B, ring, which may be 2 % slower, 14 alpha +
 * 7/4 s / B. */
TEST(where_it_changes)
{
    const struct strag_problem problem = {.n = 8};
    struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    model.alpha = 1e-6;
    model.bandwidth = 1e9;
    struct strag_selection *selection = selected(&problem, &model, 0);
    assert_int_equal(selection->table.entries, 4);
    assert_string_equal(selection->table.entry[0].algorithm->name, "swing-latency");
    assert_string_equal(selection->table.entry[1].algorithm->name, "swing");
    assert_int_equal(selection->table.entry[1].blocks, 2);
    assert_in_range(selection->table.entry[1].from, 980, 1020); /* alpha B / 1 = 1000: equal */
    assert_string_equal(selection->table.entry[2].algorithm->name, "swing");
    assert_int_equal(selection->table.entry[2].blocks, 4);
    assert_in_range(selection->table.entry[2].from, 3800, 4200); /* alpha B / (1/4) = 4000 */
    assert_string_equal(selection->table.entry[3].algorithm->name, "ring");
    assert_in_range(selection->table.entry[3].from, 200000,
                    249144); /* 0.98 (14 + 7/4 s) = 5 + 7/4 s, or sooner: it goes less far */
    strag_selection_free(selection);
}

static double crossing_of(const char *name, struct strag_topology *topology)
{
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    const struct strag_model model = machine_model(topology->network);
    struct strag_profile *profile;
    struct strag_error err;
    if (strag_profile_create(support_algorithm(name), &problem, &model, &profile, &err) != STRAG_OK)
        fail_msg("%s: %s", name, err.text);
    const double crossing = profile->crossing;
    strag_profile_free(profile);
    strag_topology_free(topology);
    return crossing;
}

/* Between two groups of two hosts at least 2 vectors move: a ring's two links between them carry
 * 3/2 each. Halving begins with the neighbour, and sends a quarter across from each rank, twice. */
TEST(what_crosses_between_groups)
{
    assert_near(crossing_of("flexreduce", machine_tree("((1,1),(1,1))")), 0);
    assert_near(crossing_of("flexreduce-direct", machine_tree("((1,1),(1,1))")), 0);
    assert_near(crossing_of("ring", machine_tree("((1,1),(1,1))")), 0.5);
    assert_near(crossing_of("recursive-halving", machine_tree("((1,1),(1,1))")), 0);
    assert_near(crossing_of("circulant", machine_tree("((1,1),(1,1))")), 1);
    /* not more than 1; and where there are no groups of hosts, nothing is counted */
    assert_near(crossing_of("recursive-doubling", machine_tree("((1,1),(1,1))")), 1);
    assert_near(crossing_of("circulant", machine_tree("(2,2)")), 0);
    assert_near(crossing_of("circulant", machine_tree("(1,1,1,1)")), 0);
    struct strag_topology *torus = machine_grid(STRAG_NETWORK_TORUS, true, "2x2", NULL, 1);
    assert_near(crossing_of("circulant", torus), 0);
}

/* Uplinks at half of what two groups of hosts could send together: by rounds a ring is a little
 * faster, but sends nearly twice as much between them. */
TEST(fewest_bytes_between_groups)
{
    struct strag_topology *topology = machine_tree("((1,1,1,1,1,1,1,1)@400,(1,1,1,1,1,1,1)@350)");
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    struct strag_selection *selection = selected(&problem, &model, 0);
    for (size_t bytes = (size_t)4 << 20; bytes <= (size_t)64 << 20; bytes *= 4) {
        const struct strag_algorithm *chosen = strag_table_find(&selection->table, bytes);
        for (int c = 0; c < selection->candidates; c++) {
            if (selection->candidate[c].algorithm == chosen && selection->candidate[c].profile)
                assert_near(selection->candidate[c].profile->crossing, 0);
        }
    }
    strag_selection_free(selection);
    strag_topology_free(topology);
}

/* 3, 3 and 4 ranks, 100 Mbit/s: what is taken as more segments are worth more of the time. */
TEST(more_segments)
{
    struct strag_topology *topology = machine_tree("(3,3,4)");
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    model.alpha = 1e-4;
    model.bandwidth = 100e6 / 8;
    model.local_bandwidth = 20e9;
    struct strag_selection *selection = selected(&problem, &model, 0);
    const size_t mib = (size_t)1 << 20, sizes[] = {mib, 4 * mib, 16 * mib};
    const int segments[] = {8, 32, 64};
    for (int i = 0; i < 3; i++) {
        const struct strag_entry *entry = strag_table_entry(&selection->table, sizes[i]);
        assert_string_equal(entry->algorithm->name, "flexreduce-pipelined");
        assert_int_equal(entry->blocks, 14 * segments[i]);
    }
    strag_selection_free(selection);
    strag_topology_free(topology);
}

static const struct strag_slow one_slow[] = {{1, 2}}, two_slow[] = {{0, 1.5}, {3, 4}};
static const struct strag_straggler one_late[] = {{1, 1e-4}};
static const struct strag_state quiet,
    slow = {.nslow = 1, .slow = one_slow}, slower = {.nslow = 2, .slow = two_slow},
    one_is_late = {.nstragglers = 1, .straggler = one_late}, both = {1, one_slow, 1, one_late};
static const struct strag_state *const all_states[] = {&quiet,       &slow, &slower,
                                                       &one_is_late, &both, NULL};
static const struct strag_state *const quiet_only[] = {&quiet, NULL};

/* With and without reducing, with and without a minimum; the topology is freed. */
static void check_quick(struct strag_topology *topology, const struct strag_state *const *states)
{
    struct strag_model model = machine_model(topology->network);
    struct strag_problem problem = {.n = topology->n, .topology = topology};
    for (; *states && (topology->n > 3 || !(*states)->nslow); states++) {
        problem.state = *states;
        for (int i = 0; i < 4; i++) {
            model.reduce_bandwidth = i % 2 ? 16e9 : 0;
            struct strag_selection *selection = selected(&problem, &model, i / 2 ? 8192 : 0);
            assert_quick(&problem, &model, i / 2 ? 8192 : 0, &selection->table);
            strag_selection_free(selection);
        }
    }
    strag_topology_free(topology);
}

TEST(quick_tables_are_the_same)
{
    const long most = support_cases(support_is_full() ? 40 : 12); /* test_scale has more */
    for (int n = 2; n <= most; n++) {
        check_quick(machine_flat(n, 1), n <= 12 ? all_states : quiet_only);
        check_quick(machine_flat(n, 3), n <= 12 ? all_states : quiet_only);
    }
    check_quick(machine_tree("1@40,1@100,1@100,1@100,1@100,1@100"), all_states);
    check_quick(machine_tree("(1,1,1)@50,(1,1)@50"), all_states);
    check_quick(machine_tree("2,3,1"), all_states);
    struct machine_nodes dragonfly =
        machine_parse("N@3e9(S(H(0) H(1) H(2)) S(H(3) H(4)) S@2e9(H(5) H(6) H(7)))");
    check_quick(machine_finish(&dragonfly, NULL), all_states);
    check_quick(machine_tree("((4,4),(4,4))"), all_states);
    check_quick(machine_grid(STRAG_NETWORK_TORUS, true, "5x3", NULL, 1), all_states);
    check_quick(machine_grid(STRAG_NETWORK_TORUS, true, "6x5", NULL, 1), all_states);
    check_quick(machine_grid(STRAG_NETWORK_TORUS, true, "4x4", NULL, 1), all_states);
    check_quick(machine_grid(STRAG_NETWORK_TORUS, true, "4x4", NULL, 2), all_states);
    check_quick(machine_grid(STRAG_NETWORK_TORUS, true, "16x16", NULL, 1), quiet_only);
    if (!support_is_full())
        return;
    check_quick(machine_flat(1024, 1), quiet_only);
    check_quick(machine_grid(STRAG_NETWORK_TORUS, true, "32x32", NULL, 1), quiet_only);
}

/* Candidates are really given up, and those that tell what Open MPI takes only if nobody asks. */
TEST(quick_tables_price_less)
{
    struct strag_topology *topology = machine_flat(63, 1);
    const struct strag_problem problem = {.n = 63, .topology = topology};
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    struct strag_error err;
    for (size_t minimum = 0; minimum <= 8192; minimum += 8192) {
        const struct strag_select_options options = {.minimum = minimum, .quick = true};
        struct strag_selection *quick, *full = selected(&problem, &model, minimum);
        int stock = 0;
        assert_int_equal(strag_select(&problem, &model, &options, &quick, &err), STRAG_OK);
        assert_in_range(quick->candidates, 2, full->candidates / 2 + 2);
        for (int c = 0; c < quick->candidates; c++) {
            stock += quick->candidate[c].algorithm->stock;
            assert_non_null(quick->candidate[c].profile);
        }
        if (minimum > 0)
            assert_int_equal(stock, 3);
        else
            assert_in_range(stock, 0, 2);
        strag_selection_free(quick);
        strag_selection_free(full);
    }
    strag_topology_free(topology);
}

TEST(short_vectors_stay_with_the_previous_component)
{
    const struct strag_problem problem = {.n = 8};
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    struct strag_selection *selection = selected(&problem, &model, 8192);
    assert_table(&selection->table);
    assert_null(strag_table_find(&selection->table, 0));
    assert_null(strag_table_find(&selection->table, 8191));
    assert_non_null(strag_table_find(&selection->table, 8192));
    assert_int_equal(selection->table.entry[1].from, 8192);
    strag_selection_free(selection);
}

/* If strag is much faster than what Open MPI has, it runs below the minimum too. */
TEST(but_not_where_they_lose_much)
{
    const size_t minimum = (size_t)1 << 30;
    struct strag_topology *topology = machine_grid(STRAG_NETWORK_TORUS, true, "4x2", NULL, 1);
    const struct strag_problem problem = {.n = 8, .topology = topology};
    const struct strag_model model = machine_model(STRAG_NETWORK_TORUS);
    struct strag_selection *selection = selected(&problem, &model, minimum);
    assert_table(&selection->table);
    assert_null(strag_table_find(&selection->table, 32));
    assert_string_equal(strag_table_find(&selection->table, minimum - 1)->name, "hamiltonian");
    for (size_t bytes = 32; bytes < minimum; bytes *= 2) {
        double stock = fmin(fmin(seconds_of(selection, "recursive-doubling", bytes),
                                 seconds_of(selection, "recursive-halving", bytes)),
                            seconds_of(selection, "ring", bytes));
        const struct strag_algorithm *chosen = strag_table_find(&selection->table, bytes);
        if (chosen)
            assert_true(STRAG_MINIMUM_GAIN * seconds_of(selection, chosen->name, bytes) < stock);
        for (int c = 0; !chosen && c < selection->candidates; c++) {
            const struct strag_profile *profile = selection->candidate[c].profile;
            if (profile)
                assert_true(STRAG_MINIMUM_GAIN * strag_profile_seconds(profile, (double)bytes) >=
                            stock);
        }
    }
    strag_selection_free(selection);
    strag_topology_free(topology);
}

TEST(refused_candidates_say_why)
{
    struct strag_topology *topology = machine_grid(STRAG_NETWORK_TORUS, true, "4x4", NULL, 2);
    const struct strag_problem problem = {.n = 32, .topology = topology};
    const struct strag_model model = machine_model(STRAG_NETWORK_TORUS);
    struct strag_selection *selection = selected(&problem, &model, 0);
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        const char *name = candidate->algorithm->name;
        bool flex = strncmp(name, "flexreduce", 10) == 0;
        bool trees = flex || strcmp(name, "blueconnect") == 0;
        bool refused = strcmp(name, "bucket") == 0 || strcmp(name, "hamiltonian") == 0 ||
                       strncmp(name, "torus-", 6) == 0 || strncmp(name, "bine", 4) == 0;
        if (strcmp(name, "torus-trees") == 0)
            continue; /* in some counts of blocks it has too many operations */
        assert_int_equal(candidate->profile == NULL, refused || trees);
        char why[80];
        if (flex) {
            snprintf(why, sizeof why, "%s needs a tree, not a torus", name);
            assert_string_equal(candidate->refusal.text, why);
        }
        if (refused) {
            snprintf(why, sizeof why, "%s needs one rank per host, not 2", name);
            assert_string_equal(candidate->refusal.text, why);
        }
    }
    strag_selection_free(selection);
    strag_topology_free(topology);
}

/* What a candidate takes, by its profile, or the best of Open MPI's own. */
TEST(seconds_of_what_runs)
{
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    const struct strag_problem problem = {.n = 6, .state = &one_is_late};
    const size_t bytes = 1 << 20;
    double previous = INFINITY;
    struct strag_selection *selection = selected(&problem, &model, 0);
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        if (!candidate->profile)
            continue;
        const double all = strag_profile_seconds(candidate->profile, (double)bytes);
        const double alone =
            strag_selection_seconds(selection, candidate->algorithm, candidate->blocks, bytes, -1);
        assert_true(fabs(alone - (all - one_late[0].delay)) < 1e-12);
        if (candidate->algorithm->stock)
            previous = fmin(previous, alone);
        if (!candidate->algorithm->needs_straggler)
            assert_true(alone <= 1e-12 + strag_selection_seconds(selection, candidate->algorithm,
                                                                 candidate->blocks, bytes, 0));
    }
    assert_true(previous < INFINITY);
    assert_true(strag_selection_seconds(selection, NULL, 0, bytes, -1) == previous);
    assert_true(strag_selection_seconds(selection, selection->candidate[0].algorithm, 12345, bytes,
                                        0) == INFINITY);
    assert_true(strag_selection_seconds(NULL, NULL, 0, bytes, 0) == INFINITY);
    strag_selection_free(selection);
}

TEST(a_late_rank_that_does_not_exist)
{
    const struct strag_straggler straggler[] = {{-1, 1}};
    const struct strag_state bad = {.nstragglers = 1, .straggler = straggler};
    const struct strag_problem problem = {.n = 4, .state = &bad};
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    const struct strag_select_options options = {.minimum = 0};
    struct strag_selection *selection = NULL;
    struct strag_error err;
    assert_int_equal(strag_select(&problem, &model, &options, &selection, &err),
                     STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, "straggler -1; with 4 ranks it is 0 to 3");
    assert_null(selection);
}

static int try_select(const void *what, struct strag_error *err, bool *made)
{
    const struct strag_problem *problem = what;
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    const struct strag_select_options options = {.minimum = 1000};
    struct strag_selection *selection = NULL;
    int status = strag_select(problem, &model, &options, &selection, err);
    *made = selection != NULL;
    strag_selection_free(selection);
    return status;
}

TEST(memory_runs_out)
{
    const struct strag_problem problem = {.n = 5};
    assert_true(exhaust("a selection", try_select, &problem) > 20);
}
