/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithms that wait for a straggler, against their formulas; the matching against all
 * matchings of small graphs; and when the selector takes them. STRAG_RANKS: verify up to this many.
 */
#include "algorithms/stragglar_match.h"
#include "algorithms/table.h"
#include "exhaust.h"
#include "machines.h"
#include "model/select.h"
#include "plan/verify.h"
#include "support.h"

#include <math.h>

static int log2_ceil(int n)
{
    int q = 0;
    while (n > 1 << q)
        q++;
    return q;
}

static int ranks_to_verify(int usual)
{
    const char *text = getenv("STRAG_RANKS");
    return text && *text ? atoi(text) : usual;
}

static struct strag_measure verified(const char *name, int n, int straggler, int blocks)
{
    const struct strag_straggler one = {straggler, 1e-3};
    const struct strag_state state = {.nstragglers = 1, .straggler = &one};
    const struct strag_problem problem = {.n = n, .blocks = blocks, .state = &state};
    const struct strag_measure measure = support_verified(name, &problem);
    assert_true(measure.waits);
    return measure;
}

/* ---- straggler-pipeline ---- */

static void check_pipeline(int n, int straggler, int blocks)
{
    struct strag_measure measure = verified("straggler-pipeline", n, straggler, blocks);
    int q = log2_ceil(n), before = measure.before - measure.blocks;
    assert_int_equal(measure.blocks, blocks ? blocks : 16 * q);
    assert_int_equal(measure.rounds - measure.before, measure.blocks + q);
    if (n == 2)
        assert_int_equal(measure.before, 0);
    else
        assert_in_range(before, n == 3 ? 0 : q - 2, q - 1);
    assert_true(fabs(measure.sent_total - 2.0 * (n - 1)) < 1e-9 * n);
}

TEST(pipeline_of_any_n)
{
    int most = ranks_to_verify(48);
    for (int n = 2; n <= most; n++) {
        check_pipeline(n, n / 3, 0);
        check_pipeline(n, n - 1, 1 + n % 7);
    }
    check_pipeline(257, 200, 20);
}

TEST(pipeline_of_any_rank_and_blocks)
{
    int most = ranks_to_verify(12);
    for (int n = 2; n <= most && n <= 32; n++) {
        for (int straggler = 0; straggler < n; straggler++) {
            for (int blocks = 1; blocks <= 3 * log2_ceil(n) + 1; blocks++)
                check_pipeline(n, straggler, blocks);
        }
    }
}

/* ---- straggler-direct ---- */

/* A problem with its state. Do not copy it. */
struct late {
    struct strag_straggler straggler[STRAG_STRAGGLERS_MAX];
    struct strag_state state;
    struct strag_problem problem;
};

/* `count` different ranks, from this one on, `step` apart; the later ones are later by `more`. */
static void late_make(struct late *late, int n, int count, int first, int step, double more)
{
    *late = (struct late){.state = {.nstragglers = count}};
    for (int i = 0; i < count; i++)
        late->straggler[i] = (struct strag_straggler){(first + i * step) % n, 1e-3 + i * more};
    late->state.straggler = late->straggler;
    late->problem = (struct strag_problem){.n = n, .state = &late->state};
}

static void check_direct(struct late *late, int segments)
{
    const int n = late->problem.n, owners = n - late->state.nstragglers;
    late->problem.blocks = segments * owners;
    const struct strag_measure measure = support_verified("straggler-direct", &late->problem);
    assert_true(measure.waits);
    assert_int_equal(measure.blocks, (segments ? segments : 8) * owners);
    assert_int_equal(measure.before, owners - 1);
    assert_int_equal(measure.rounds, owners + (segments ? segments : 8));
    assert_true(fabs(measure.sent_max - (double)(owners + n - 2) / owners) < 1e-9);
    assert_true(fabs(measure.sent_total - 2.0 * (n - 1)) < 1e-9 * n);
}

TEST(direct_of_any_n_and_ranks)
{
    struct late late;
    for (int n = 2; n <= ranks_to_verify(24); n++) {
        for (int straggler = 0; straggler < n; straggler++) {
            late_make(&late, n, 1, straggler, 1, 0);
            check_direct(&late, straggler % 4);
        }
    }
    late_make(&late, 97, 1, 50, 1, 0);
    check_direct(&late, 3);
}

TEST(direct_of_several)
{
    struct late late;
    for (int n = 3; n <= ranks_to_verify(20); n++) {
        for (int count = 2; count <= STRAG_STRAGGLERS_MAX && count < n; count++) {
            for (int first = 0; first < n; first++) {
                late_make(&late, n, count, first, 1, (first % 3 - 1) * 1e-4);
                check_direct(&late, 1 + first % 3);
            }
        }
    }
}

TEST(direct_refuses)
{
    struct strag_error err;
    struct late late;
    late_make(&late, 2, 2, 0, 1, 0);
    assert_int_equal(
        strag_algorithm_claim(support_algorithm("straggler-direct"), &late.problem, NULL, &err),
        STRAG_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "straggler-direct needs a rank that is not late, all 2 are");
    late_make(&late, 6, 2, 0, 1, 0);
    late.problem.blocks = 6;
    assert_int_equal(
        strag_algorithm_claim(support_algorithm("straggler-direct"), &late.problem, NULL, &err),
        STRAG_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "straggler-direct cuts into a multiple of 4 blocks, up to "
                                  "536870911, not 6");
}

/* ---- stragglar ---- */

static int check_stragglar(int n, int straggler)
{
    struct strag_measure measure = verified("stragglar", n, straggler, 0);
    assert_int_equal(measure.blocks, n - 1);
    assert_int_equal(measure.before, log2_ceil(n - 1));
    return measure.rounds - measure.before;
}

TEST(stragglar_of_powers_of_two)
{
    int most = ranks_to_verify(128);
    for (int n = 2, q = 1; n <= most; n *= 2, q++) {
        for (int straggler = 0; straggler < n; straggler += 1 + n / 8)
            assert_int_equal(check_stragglar(n, straggler), n - 2 + q);
        assert_int_equal(check_stragglar(n, n - 1), n - 2 + q);
    }
}

TEST(stragglar_of_even_n)
{
    int most = ranks_to_verify(28);
    for (int n = 2; n <= most && n <= 128; n += 2) {
        int least = n - 2 + log2_ceil(n);
        assert_in_range(check_stragglar(n, n / 2), least, n <= 64 ? least + 1 : least + 2);
    }
}

TEST(stragglar_of_others_is_refused)
{
    static const struct {
        int n;
        const char *why;
    } cases[] = {
        {7, "stragglar pairs the ranks, so it needs an even number of them, not 7; "
            "straggler-pipeline takes any"},
        {258, "stragglar looks for pairs of up to 256 ranks, or of a power of two up to 1024, not "
              "of 258; straggler-pipeline takes any"},
        {2048, "stragglar looks for pairs of up to 256 ranks, or of a power of two up to 1024, not "
               "of 2048; straggler-pipeline takes any"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct strag_algorithm *algorithm = support_algorithm("stragglar");
        struct strag_problem problem = support_problem(algorithm, cases[i].n);
        struct strag_error err;
        assert_int_equal(strag_algorithm_claim(algorithm, &problem, NULL, &err),
                         STRAG_ERR_UNSUPPORTED);
        assert_string_equal(err.text, cases[i].why);
    }
}

/* ---- broadcast-after, and all of them ---- */

TEST(broadcast_after)
{
    for (int n = 2; n <= ranks_to_verify(40); n++) {
        for (int straggler = 0; straggler < n; straggler += 1 + n / 3) {
            struct strag_measure measure = verified("broadcast-after", n, straggler, 0);
            assert_int_equal(measure.before, 2 * log2_ceil(n - 1));
            assert_int_equal(measure.rounds - measure.before, log2_ceil(n));
        }
    }
}

TEST(somebody_must_be_late)
{
    static const char *const names[] = {"straggler-pipeline", "straggler-trees", "straggler-direct",
                                        "stragglar", "broadcast-after"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct strag_algorithm *algorithm = support_algorithm(names[i]);
        const struct strag_problem problem = {.n = 6};
        struct strag_error err;
        char why[96];
        assert_int_equal(strag_algorithm_claim(algorithm, &problem, NULL, &err),
                         STRAG_ERR_UNSUPPORTED);
        snprintf(why, sizeof why, "%s is for a rank that arrives late, and none is named",
                 names[i]);
        assert_string_equal(err.text, why);
    }
}

/* Of several stragglers the latest, of equal ones the lowest. */
TEST(the_latest_is_waited_for)
{
    static const struct {
        struct strag_straggler straggler[3];
        int rank;
    } cases[] = {
        {{{4, 1e-3}, {2, 5e-3}, {0, 2e-3}}, 2},
        {{{5, 1e-3}, {3, 1e-3}, {4, 1e-3}}, 3},
        {{{1, 0}, {1, 0}, {1, 0}}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct strag_state late_state = {.nstragglers = 3, .straggler = cases[i].straggler};
        const struct strag_problem problem = {.n = 6, .state = &late_state};
        for (int a = 0; strag_algorithms[a]; a++) {
            struct strag_claim claim;
            if (!strag_algorithms[a]->needs_straggler)
                continue;
            assert_int_equal(strag_algorithm_claim(strag_algorithms[a], &problem, &claim, NULL),
                             STRAG_OK);
            assert_int_equal(claim.straggler, cases[i].rank);
        }
    }
}

/* ---- Matching ---- */

/* The weight of the best matching of the nodes that are not used. */
static int best_matching(int n, const int32_t *weight, unsigned used)
{
    int first = 0;
    while (first < n && (used >> first & 1))
        first++;
    if (first == n)
        return 0;
    int best = best_matching(n, weight, used | 1u << first);
    for (int other = first + 1; other < n; other++) {
        int pair = weight[first * n + other];
        if (pair == 0 || (used >> other & 1))
            continue;
        int sum = pair + best_matching(n, weight, used | 1u << first | 1u << other);
        best = sum > best ? sum : best;
    }
    return best;
}

TEST(matchings_are_the_best)
{
    enum { MOST = 10 };
    struct rng rng = {support_seed("matchings_are_the_best")};
    struct strag_matching *matching = strag_matching_create();
    assert_non_null(matching);
    for (long i = support_cases(3000); i > 0; i--) {
        int n = 2 + 2 * (int)rng_below(&rng, MOST / 2), sum = 0;
        unsigned sparse = 1 + rng_below(&rng, 6), heaviest = 1 + rng_below(&rng, 20);
        int32_t weight[MOST * MOST] = {0}, partner[MOST];
        for (int a = 0; a < n; a++) {
            for (int b = 0; b < a; b++) {
                if (!rng_one_in(&rng, sparse + 1))
                    weight[a * n + b] = weight[b * n + a] = 1 + (int)rng_below(&rng, heaviest);
            }
        }
        strag_matching_solve(matching, n, weight, partner);
        for (int a = 0; a < n; a++) {
            if (partner[a] < 0)
                continue;
            assert_int_equal(partner[partner[a]], a);
            assert_true(weight[a * n + partner[a]] > 0);
            sum += weight[a * n + partner[a]];
        }
        assert_int_equal(sum, 2 * best_matching(n, weight, 0));
    }
    free(matching);
}

/* ---- Time ---- */

static double seconds_of(const char *name, const struct strag_problem *problem,
                         const struct strag_model *model, double bytes)
{
    struct strag_profile *profile;
    struct strag_error err;
    if (strag_profile_create(support_algorithm(name), problem, model, &profile, &err) != STRAG_OK)
        fail_msg("%s: %s", name, err.text);
    double seconds = strag_profile_seconds(profile, bytes);
    strag_profile_free(profile);
    return seconds;
}

static void assert_seconds(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * expected))
        fail_msg("%.12g s instead of %.12g s", found, expected);
}

/* On a switch a round of 1/m takes alpha + s/m/B. What the others do first costs nothing while they
 * wait anyway. */
TEST(rounds_before_cost_nothing_while_waiting)
{
    static const double alpha = 2e-6, bandwidth = 1e9, bytes = 1e6;
    struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    model.alpha = alpha;
    model.bandwidth = bandwidth;
    for (int n = 4; n <= 9; n++) {
        for (int blocks = 1; blocks <= 60; blocks += 1 + blocks / 3) {
            int q = log2_ceil(n);
            struct strag_measure measure = verified("straggler-pipeline", n, 2, blocks);
            double round = alpha + bytes / blocks / bandwidth;
            const double delays[] = {0, 1e-5, measure.before * round, 1};
            for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
                const struct strag_straggler straggler = {2, delays[i]};
                const struct strag_state late_state = {.nstragglers = 1, .straggler = &straggler};
                const struct strag_problem problem = {
                    .n = n, .blocks = blocks, .state = &late_state};
                assert_seconds(seconds_of("straggler-pipeline", &problem, &model, bytes),
                               fmax(measure.before * round, delays[i]) + (blocks + q) * round);
            }
        }
    }
}

/* The period that the profile relies on: with and without it the same time, on a torus as well. */
TEST(rounds_that_take_turns)
{
    struct strag_algorithm plain = *support_algorithm("straggler-pipeline");
    plain.same_rounds = NULL;
    struct strag_topology *torus = machine_grid(STRAG_NETWORK_TORUS, true, "4x3", NULL, 1);
    const struct strag_straggler straggler = {7, 1e-4};
    const struct strag_state late_state = {.nstragglers = 1, .straggler = &straggler};
    const struct strag_model model = machine_model(STRAG_NETWORK_TORUS);
    for (int n = 2; n <= 12; n++) {
        for (int blocks = 1; blocks <= 60; blocks++) {
            const struct strag_problem problem = {.n = n == 12 ? 12 : n + 7,
                                                  .blocks = blocks,
                                                  .topology = n == 12 ? torus : NULL,
                                                  .state = &late_state};
            struct strag_profile *one, *other;
            struct strag_error err;
            assert_int_equal(strag_profile_create(support_algorithm("straggler-pipeline"), &problem,
                                                  &model, &one, &err),
                             STRAG_OK);
            assert_int_equal(strag_profile_create(&plain, &problem, &model, &other, &err),
                             STRAG_OK);
            for (double bytes = 1; bytes < 1e10; bytes *= 100)
                assert_seconds(strag_profile_seconds(one, bytes),
                               strag_profile_seconds(other, bytes));
            assert_true(fabs(one->busiest - other->busiest) < 1e-9 * other->busiest);
            assert_true(blocks < 40 || one->nparts < other->nparts);
            strag_profile_free(one);
            strag_profile_free(other);
        }
    }
    strag_topology_free(torus);
}

/* ---- Selection ---- */

/* @param only  of this algorithm's candidates; NULL: of all */
static struct strag_entry chosen(int n, double delay, const struct strag_model *model, size_t bytes,
                                 const struct strag_algorithm *only)
{
    const struct strag_straggler straggler = {n / 2, delay};
    const struct strag_state late_state = {.nstragglers = 1, .straggler = &straggler};
    const struct strag_problem problem = {.n = n, .state = &late_state};
    const struct strag_select_options options = {.only = only};
    struct strag_selection *selection;
    struct strag_error err;
    if (strag_select(&problem, model, &options, &selection, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    const struct strag_entry entry = *strag_table_entry(&selection->table, bytes);
    strag_selection_free(selection);
    return entry;
}

/* From a delay of about 1/n of what the vector takes on a link, a plan for a straggler is chosen:
 * the others' reduce-scatter takes (n-2)/(n-1), and the rest 1, where all together take 2(n-1)/n.
 * (About: that takes many blocks, and ring, too, sends something far.) */
TEST(below_the_break_even_a_symmetric_plan)
{
    struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    const size_t bytes = (size_t)1 << 30;
    model.alpha = 1e-7;
    model.bandwidth = 1e9;
    for (int n = 3; n <= 33; n += 1 + n / 4) {
        double even = (2.0 / n - 1.0 / (n - 1)) * (double)bytes / model.bandwidth;
        assert_false(chosen(n, 0, &model, bytes, NULL).algorithm->needs_straggler);
        assert_false(chosen(n, 0.98 * even, &model, bytes, NULL).algorithm->needs_straggler);
        assert_true(chosen(n, 1.5 * even, &model, bytes, NULL).algorithm->needs_straggler);
        assert_true(chosen(n, 10 * even, &model, bytes, NULL).algorithm->needs_straggler);
    }
}

/* sqrt(q s beta / alpha) blocks, of those that are compared. */
TEST(blocks_come_from_the_model)
{
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    const struct strag_algorithm *pipeline = support_algorithm("straggler-pipeline");
    int before = 0;
    for (size_t bytes = (size_t)1 << 22; bytes <= (size_t)1 << (sizeof(size_t) > 4 ? 34 : 28);
         bytes *= 4) {
        struct strag_entry entry = chosen(7, 10, &model, bytes, pipeline);
        double best = sqrt(3 * (double)bytes / model.bandwidth / model.alpha);
        assert_true(entry.blocks > best / 1.5 && entry.blocks < best * 1.5);
        assert_int_equal(entry.blocks, before ? 2 * before : entry.blocks);
        before = entry.blocks;
    }
}

/* Counts that are pinned, and an algorithm alone. */
TEST(choices_can_be_narrowed)
{
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    const struct strag_algorithm *pipeline = support_algorithm("straggler-pipeline");
    struct strag_problem problem = support_problem(pipeline, 5);
    struct strag_select_options options = {.only = pipeline};
    struct strag_selection *selection;
    struct strag_error err;
    assert_int_equal(strag_select(&problem, &model, &options, &selection, NULL), STRAG_OK);
    assert_int_equal(selection->candidates, 12);
    assert_true(selection->table.entries > 8);
    for (int e = 0; e < selection->table.entries; e++) {
        assert_ptr_equal(selection->table.entry[e].algorithm, pipeline);
        assert_int_equal(selection->table.entry[e].blocks, 3 << e);
    }
    strag_selection_free(selection);
    problem.blocks = 17;
    assert_int_equal(strag_select(&problem, &model, &options, &selection, NULL), STRAG_OK);
    assert_int_equal(selection->candidates, 1);
    assert_int_equal(selection->table.entries, 1);
    assert_int_equal(selection->table.entry[0].blocks, 17);
    strag_selection_free(selection);
    problem.state = NULL;
    assert_int_equal(strag_select(&problem, &model, &options, &selection, &err),
                     STRAG_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "none is named"));
    /* If nobody is late, there is nothing to compare, and nothing to say. */
    problem.blocks = 0;
    options.only = NULL;
    assert_int_equal(strag_select(&problem, &model, &options, &selection, NULL), STRAG_OK);
    for (int c = 0; c < selection->candidates; c++)
        assert_false(selection->candidate[c].algorithm->needs_straggler);
    strag_selection_free(selection);
}

static int try_select(const void *what, struct strag_error *err, bool *made)
{
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    const struct strag_select_options options = {.minimum = 0};
    struct strag_selection *selection = NULL;
    int status = strag_select(what, &model, &options, &selection, err);
    *made = selection != NULL;
    strag_selection_free(selection);
    return status;
}

TEST(memory_runs_out)
{
    const struct strag_problem problem =
        support_problem(support_algorithm("straggler-pipeline"), 6);
    assert_true(exhaust("a selection", try_select, &problem) > 100);
}
