/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quick tables against exhaustive ones: on random machines the quick choice takes at most 1 %
 * longer than the exhaustive one, at every size; plans that take long to make are left out of both.
 * The seed is printed; STRAG_TEST_FULL=1 tries 2,000.
 *
 * And what a quick table costs, counted in operations and messages: a first call waits for it.
 */
#include "model/select.h"

#include "machines.h"
#include "support.h"

#include <math.h>

enum { RANKS_MOST = 200, MINIMUM = 8192, SIZES_PER_DOUBLING = 4 };

static int draw(struct rng *rng, int least, int most)
{
    return least + (int)(rng_next(rng) % (uint64_t)(most - least + 1));
}

/* ---- Machines ---- */

/* Switches down to `levels` above the hosts, every node with another number of children. */
static void grow_tree(struct machine_nodes *nodes, int parent, int levels, struct rng *rng)
{
    int children = draw(rng, 1, levels > 1 ? 4 : 12), ranks = draw(rng, 1, 12);
    bool equal = draw(rng, 0, 2) > 0;
    for (int c = 0; c < children && machine_ranks(nodes) < RANKS_MOST; c++) {
        int child = machine_node(nodes, parent, levels > 1 ? STRAG_LEVEL_SWITCH : STRAG_LEVEL_HOST);
        if (draw(rng, 0, 15) == 0)
            nodes->list[child].uplink = 1e9 * draw(rng, 5, 30);
        if (levels > 1) {
            grow_tree(nodes, child, levels - 1, rng);
            continue;
        }
        int on_host = equal ? ranks : draw(rng, 1, 12);
        for (int r = 0; r < on_host && machine_ranks(nodes) < RANKS_MOST; r++)
            machine_rank(nodes, child, machine_ranks(nodes));
    }
}

static struct strag_topology *random_tree(struct rng *rng)
{
    struct machine_nodes nodes = machine_nodes_create();
    int levels = draw(rng, 1, 4);
    do
        grow_tree(&nodes, 0, levels, rng);
    while (machine_ranks(&nodes) < 2);
    return machine_finish(&nodes, NULL);
}

static struct strag_topology *random_flat(struct rng *rng)
{
    return machine_flat(draw(rng, 2, RANKS_MOST), draw(rng, 1, 24));
}

static struct strag_grid random_grid(struct rng *rng)
{
    struct strag_grid grid = {
        .network = (enum strag_network)draw(rng, STRAG_NETWORK_TORUS, STRAG_NETWORK_HAMMINGMESH)};
    bool mesh = draw(rng, 0, 3) == 0;
    int positions = 1;
    grid.dims = draw(rng, 1, grid.network == STRAG_NETWORK_TORUS ? 3 : 2);
    for (int d = 0; d < grid.dims; d++) {
        grid.board[d] = draw(rng, 1, 3);
        grid.size[d] = draw(rng, 2, RANKS_MOST / positions > 16 ? 16 : RANKS_MOST / positions);
        if (grid.network == STRAG_NETWORK_HAMMINGMESH)
            grid.size[d] = grid.board[d] * (1 + grid.size[d] / 2 / grid.board[d]);
        grid.wrap[d] = grid.network != STRAG_NETWORK_TORUS || !mesh;
        positions *= grid.size[d];
        if (RANKS_MOST / positions < 2)
            grid.dims = d + 1;
    }
    return grid;
}

/* All of it, a box, or hosts here and there. */
static struct strag_topology *random_hosts(struct rng *rng)
{
    struct strag_grid grid = random_grid(rng);
    int positions[4 * RANKS_MOST], count = 0, form = draw(rng, 0, 3), limit[STRAG_DIMS_MAX] = {0};
    for (int d = 0; d < grid.dims; d++)
        limit[d] = form == 1 ? draw(rng, 1, grid.size[d]) : grid.size[d];
    for (int p = 0; p < strag_grid_positions(&grid); p++) {
        int at[STRAG_DIMS_MAX];
        bool there = form != 2 || draw(rng, 0, 3) > 0;
        strag_grid_coordinates(&grid, p, at);
        for (int d = 0; d < grid.dims; d++)
            there = there && at[d] < limit[d];
        if (there || (p < 2 && form == 2))
            positions[count++] = p;
    }
    int most = RANKS_MOST / count > 4 ? 4 : RANKS_MOST / count;
    int ranks = most > 1 && draw(rng, 0, 1) ? draw(rng, 1, most) : 1;
    return machine_hosts(&grid, positions, count, count * ranks < 2 ? 2 : ranks);
}

static struct strag_topology *random_machine(struct rng *rng)
{
    switch (draw(rng, 0, 3)) {
    case 0:
        return random_flat(rng);
    case 1:
        return random_tree(rng);
    default:
        return random_hosts(rng);
    }
}

/* Up to three slow hosts, and a late rank. */
struct disturbance {
    struct strag_slow slow[3];
    struct strag_straggler late;
    struct strag_state state;
};

static void disturb(struct disturbance *disturbance, int n, struct rng *rng)
{
    *disturbance = (struct disturbance){.late = {draw(rng, 0, n - 1), 1e-5 * draw(rng, 1, 1000)}};
    int slow = draw(rng, 0, 5);
    slow = slow > 3 ? 0 : slow;
    for (int s = 0; s < slow; s++)
        disturbance->slow[s] = (struct strag_slow){draw(rng, 0, n - 1), 1 + 0.1 * draw(rng, 1, 30)};
    disturbance->state =
        (struct strag_state){slow, disturbance->slow, draw(rng, 0, 2) == 0, &disturbance->late};
}

/* ---- Tables ---- */

static struct strag_selection *make(const struct strag_problem *problem,
                                    const struct strag_model *model, bool quick)
{
    const struct strag_select_options options = {
        .minimum = MINIMUM, .quick = quick, .short_plans = true};
    struct strag_selection *selection = NULL;
    struct strag_error err = {""};
    if (strag_select(problem, model, &options, &selection, &err) != STRAG_OK)
        fail_msg("n = %d: %s", problem->n, err.text);
    return selection;
}

/* By the exhaustive estimates: of an entry, or if it is left to the previous component, of the
 * best that this is estimated to have. */
static double exact_seconds(const struct strag_selection *exhaustive,
                            const struct strag_entry *entry, size_t bytes)
{
    double least = INFINITY;
    for (int c = 0; c < exhaustive->candidates; c++) {
        const struct strag_candidate *candidate = &exhaustive->candidate[c];
        bool it = entry->algorithm ? candidate->algorithm == entry->algorithm &&
                                         candidate->blocks == entry->blocks
                                   : candidate->algorithm->stock;
        if (it && candidate->profile)
            least = fmin(least, strag_profile_seconds(candidate->profile, (double)bytes));
    }
    return least;
}

/* Below the minimum the choice is the previous component's unless strag is faster by a fifth: there
 * both may be on either side of that. */
static double compare(const struct strag_selection *exhaustive, const struct strag_table *quick,
                      size_t bytes)
{
    const struct strag_entry *best = strag_table_entry(&exhaustive->table, bytes);
    const struct strag_entry *mine = strag_table_entry(quick, bytes);
    double loss = exact_seconds(exhaustive, mine, bytes) / exact_seconds(exhaustive, best, bytes);
    return best->algorithm && !mine->algorithm ? loss / STRAG_MINIMUM_GAIN : loss;
}

/* Where the loss is the largest. */
struct worst {
    double loss;
    size_t bytes;
    struct strag_entry mine, best;
};

static struct worst find_worst(const struct strag_problem *problem)
{
    const struct strag_model model = strag_model_default(problem->topology->network);
    struct strag_selection *exhaustive = make(problem, &model, false);
    struct strag_selection *quick = make(problem, &model, true);
    struct worst worst = {.loss = 0};
    for (double size = 1; size <= (double)STRAG_SELECT_BYTES_MAX;
         size *= exp2(1.0 / SIZES_PER_DOUBLING)) {
        size_t bytes = (size_t)size;
        double loss = compare(exhaustive, &quick->table, bytes);
        if (!(loss <= worst.loss))
            worst = (struct worst){loss, bytes, *strag_table_entry(&quick->table, bytes),
                                   *strag_table_entry(&exhaustive->table, bytes)};
    }
    strag_selection_free(exhaustive);
    strag_selection_free(quick);
    return worst;
}

static const char *name_of(const struct strag_entry *entry)
{
    return entry->algorithm ? entry->algorithm->name : "the previous component";
}

/* @return is it well? */
static bool check_machine(uint64_t seed)
{
    struct rng rng = {seed};
    struct disturbance disturbance;
    struct strag_topology *topology = random_machine(&rng);
    disturb(&disturbance, topology->n, &rng);
    const struct strag_problem problem = {
        .n = topology->n, .topology = topology, .state = &disturbance.state};
    struct worst worst = find_worst(&problem);
    bool good = worst.loss <= 1.01;
    if (!good)
        print_error("STRAG_SEED=%llu: %s, %d ranks on %d hosts, %d slow, %d late; %zu bytes: %s in "
                    "%d blocks takes %.2f %% longer than %s in %d\n",
                    (unsigned long long)seed, strag_network_name(topology->network), topology->n,
                    topology->hosts, disturbance.state.nslow, disturbance.state.nstragglers,
                    worst.bytes, name_of(&worst.mine), worst.mine.blocks, 100 * (worst.loss - 1),
                    name_of(&worst.best), worst.best.blocks);
    strag_topology_free(topology);
    return good;
}

TEST(quick_is_as_good)
{
    const uint64_t seed = support_seed("quick_is_as_good");
    long machines = support_cases(support_is_full() ? 2000 : 40);
    int failed = 0;
    for (long m = 0; m < machines; m++)
        failed += !check_machine(seed + (uint64_t)m);
    assert_int_equal(failed, 0);
}

/* A processor examines 15 to 40 operations or messages in a microsecond. */
static const struct expense {
    int hosts, ranks; /* of each host */
    int64_t most;     /* operations and messages, in any state; a fifth more than today's */
} expenses[] = {
    {200, 1, 6300000}, {256, 1, 2900000}, {512, 1, 1800000},
    {4096, 1, 460000}, {64, 16, 950000},  {64, 64, 710000},
};

static void check_expense(const struct expense *expense, const struct strag_state *state)
{
    const int hosts = expense->hosts, ranks = expense->ranks;
    struct strag_topology *topology = machine_flat(hosts * ranks, ranks);
    const struct strag_model model = strag_model_default(topology->network);
    const struct strag_problem problem = {.n = topology->n, .topology = topology, .state = state};
    struct strag_selection *selection = make(&problem, &model, true);
    if (selection->examined > expense->most)
        fail_msg("%d hosts of %d ranks, %d slow, %d late: %lld operations and messages", hosts,
                 ranks, state->nslow, state->nstragglers, (long long)selection->examined);
    strag_selection_free(selection);
    strag_topology_free(topology);
}

TEST(quick_is_cheap)
{
    static const struct strag_slow slow[] = {{5, 1.5}, {77, 2}, {130, 4}};
    static const struct strag_straggler late[] = {{99, 5e-3}};
    for (size_t e = 0; e < sizeof expenses / sizeof *expenses; e++)
        for (int s = 0; s <= 3; s++)
            for (int l = 0; l <= 1; l++)
                check_expense(&expenses[e], &(struct strag_state){s, slow, l, late});
}
