/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job saved: a topology, and all that a choice rests on, are read back as they were, bit by
 * bit, and lead to the same choice; what is refused, and in which line.
 */
#include "machines.h"
#include "memory.h"
#include "model/saved.h"
#include "support.h"

static struct strag_topology *parsed(const char *text, const struct strag_grid *grid)
{
    struct machine_nodes nodes = machine_parse(text);
    return machine_finish(&nodes, grid);
}

enum { SAMPLES = 11 };

static struct strag_topology *sample(int number)
{
    struct strag_grid grid = machine_grid_of(STRAG_NETWORK_TORUS, true, "5x4", NULL);
    switch (number) {
    case 0:
        return machine_flat(1, 1);
    case 1:
        return machine_flat(7, 3);
    case 2:
        return machine_tree("((2,3@50),(4,1))@200,5");
    case 3:
        return parsed("N=net(S=leaf1@4(H=n1@2(P(0 4) P(2 6)) H=n2(1)) S=s2(H=n\"4(3) H=n-03(5)))",
                      NULL);
    case 4:
        return parsed("N(S@9(H(0)) S@3(H@8(P(1@4 2) P@6(U(3 4)))))", NULL);
    case 5:
        return parsed("N(H=a#4(0 3) H=b#9(1 5) H=c#0(4 2) H=dd#5(7 6))", &grid);
    case 6: /* a cache of two next to cores of their own, between them */
        return parsed("N(H(0 C(1 4) 2 C(3 5) 6) H(7))", NULL);
    case 7:
        return machine_tree("3@7,2@11,1@123");
    case 8:
        return machine_grid(STRAG_NETWORK_TORUS, false, "2x3x2x2", NULL, 1);
    case 9:
        return machine_grid(STRAG_NETWORK_HYPERX, false, "3x4", NULL, 2);
    default:
        return machine_grid(STRAG_NETWORK_HAMMINGMESH, false, "4x3", "2x3", 1);
    }
}

/* ---- There and back ---- */

static char *written(const struct strag_saved *saved, size_t *length)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    assert_non_null(stream);
    assert_true(strag_saved_write(saved, stream));
    assert_int_equal(fclose(stream), 0);
    return text;
}

static const struct strag_saved *parse(const char *text)
{
    const struct strag_saved *saved = NULL;
    struct strag_error err = {""};
    if (strag_saved_parse(text, strlen(text), "folder/FILE", &saved, &err) != STRAG_OK)
        fail_msg("%s\n%s", err.text, text);
    return saved;
}

static void assert_same_topology(const struct strag_topology *a, const struct strag_topology *b)
{
    void *bytes[2];
    size_t size[2];
    assert_int_equal(strag_topology_pack(a, &bytes[0], &size[0], NULL), STRAG_OK);
    assert_int_equal(strag_topology_pack(b, &bytes[1], &size[1], NULL), STRAG_OK);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static void assert_same_state(const struct strag_state *a, const struct strag_state *b)
{
    assert_int_equal(a->nstragglers, b->nstragglers);
    assert_int_equal(a->nslow, b->nslow);
    for (int i = 0; i < a->nstragglers; i++)
        assert_true(a->straggler[i].rank == b->straggler[i].rank &&
                    a->straggler[i].delay == b->straggler[i].delay);
    for (int i = 0; i < a->nslow; i++)
        assert_true(a->slow[i].rank == b->slow[i].rank && a->slow[i].factor == b->slow[i].factor);
}

/* A choice on the topology, with random circumstances. */
static struct strag_saved random_choice(struct rng *rng, const struct strag_topology *topology,
                                        const struct strag_state *state)
{
    const struct strag_model standard = strag_model_default(topology->network);
    struct strag_saved saved = {
        .version = "9.9",
        .communicator = "a \"b\"",
        .circumstances = {.problem = {.n = topology->n,
                                      .ports = (int)rng_below(rng, 3),
                                      .topology = topology,
                                      .state = state},
                          .options = {.minimum = rng_below(rng, 2) * 8192,
                                      .strict = rng_one_in(rng, 2),
                                      .quick = rng_one_in(rng, 2),
                                      .short_plans = true}},
        .model = strag_model_sourced(&standard),
        .model_file = "m.yaml",
        .reproducible = (int)rng_below(rng, STRAG_REPRODUCIBLE_VALUES),
        .shared_memory = (int)rng_below(rng, 3),
    };
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        strag_model_set(&saved.model, id,
                        (double)(1 + rng_below(rng, 1000000)) / 997e6 *
                            strag_model_numbers[id].scale * 1e6,
                        (enum strag_origin)rng_below(rng, STRAG_ORIGINS));
    saved.model.line = 7;
    saved.model.model.written_once = rng_below(rng, 2);
    saved.circumstances.model = saved.model.model;
    if (rng_one_in(rng, 3))
        saved.circumstances.oversubscribed = (struct strag_oversubscribed){
            topology->n, 1 + (int)rng_below(rng, 3), (size_t)64 << rng_below(rng, 20)};
    else if (rng_one_in(rng, 5))
        saved.circumstances.pinned = support_algorithm("circulant");
    return saved;
}

static void choose(struct strag_saved *saved)
{
    struct strag_choice choice;
    strag_choose(&saved->circumstances, &choice);
    saved->table = choice.table;
    strag_selection_free(choice.selection);
}

TEST(read_back)
{
    struct rng rng = {support_seed("read_back")};
    long cases = support_cases(200);
    for (long i = 0; i < cases; i++) {
        struct strag_topology *topology = sample((int)(i % SAMPLES));
        const unsigned n = (unsigned)topology->n;
        const struct strag_slow slow = {(int)rng_below(&rng, n), 1 + rng_below(&rng, 700) / 311.};
        const double delay = rng_below(&rng, 999) * 1e-6;
        const struct strag_straggler late[] = {{(int)rng_below(&rng, n), delay},
                                               {(int)rng_below(&rng, n), delay / 4}};
        const struct strag_state wrong = {slow.factor > 1 && rng_one_in(&rng, 2), &slow,
                                          (int)rng_below(&rng, 3), late};
        struct strag_saved saved = random_choice(&rng, topology, &wrong);
        size_t length;
        choose(&saved);
        char *text = written(&saved, &length);
        const struct strag_saved *again = parse(text);
        struct strag_saved copy = *again;
        assert_same_topology(topology, again->circumstances.problem.topology);
        assert_same_state(&wrong, again->circumstances.problem.state);
        assert_true(support_same_model(&saved.model.model, &again->model.model));
        assert_memory_equal(saved.model.origin, again->model.origin, sizeof saved.model.origin);
        assert_int_equal(saved.circumstances.options.minimum, again->circumstances.options.minimum);
        assert_int_equal(saved.circumstances.oversubscribed.window,
                         again->circumstances.oversubscribed.window);
        assert_string_equal(again->communicator, saved.communicator);
        assert_true(strag_table_is_same(&saved.table, &again->table));
        choose(&copy);
        assert_true(strag_table_is_same(&saved.table, &copy.table));
        strag_saved_free(again);
        free(text);
        strag_topology_free(topology);
    }
}

/* The rule that holds goes with it, and holds. */
TEST(rules_go_with_it)
{
    static const char rules_text[] =
        "strag-rules: 1\nrules:\n- {ranks: 3, sizes: [{from: 0, algorithm: ring}]}\n- sizes:\n"
        "  - {from: 0, algorithm: previous}\n  - {from: 1K, algorithm: direct, blocks: 2}\n"
        "  - {from: 1M, algorithm: auto, plan: rules/p.json}\n";
    struct strag_rules_plan plans[STRAG_TABLE_MAX];
    struct rng rng = {1};
    struct strag_rules *rules = NULL;
    struct strag_topology *topology = machine_flat(8, 1);
    const struct strag_state nothing = {0};
    struct strag_saved saved = random_choice(&rng, topology, &nothing);
    struct strag_choice choice;
    size_t length;
    assert_int_equal(strag_rules_parse(rules_text, strlen(rules_text), "R", &rules, NULL),
                     STRAG_OK);
    saved.circumstances.pinned = NULL;
    saved.circumstances.rules = rules;
    saved.rules_file = "r.yaml";
    strag_choose(&saved.circumstances, &choice);
    strag_selection_free(choice.selection);
    assert_int_equal(choice.ground, STRAG_BY_RULE);
    assert_int_equal(choice.line, 4);
    saved.line = choice.line;
    saved.table = choice.table;
    char *text = written(&saved, &length);
    const struct strag_saved *again = parse(text);
    struct strag_saved copy = *again;
    assert_int_equal(again->line, 4);
    assert_int_equal(strag_rules_plans(again->circumstances.rules, 4, plans), 1);
    assert_string_equal(plans[0].file, "rules/p.json"); /* not in the folder of the saved file */
    assert_string_equal(again->rules_file, "r.yaml");
    choose(&copy);
    assert_true(strag_table_is_same(&saved.table, &copy.table));
    assert_int_equal(copy.table.entry[1].blocks, 2);
    strag_saved_free(again);
    free(text);
    strag_rules_free(rules);
    strag_topology_free(topology);
}

/* ---- What a choice is by ---- */

TEST(grounds)
{
    const struct strag_straggler late = {1, 1e-3};
    const struct strag_state straggling = {0, NULL, 1, &late}, nothing = {0};
    struct strag_topology *topology = machine_flat(8, 8);
    struct strag_circumstances rests = {
        .problem = {.n = 8, .topology = topology, .state = &nothing},
        .model = strag_model_default(STRAG_NETWORK_TREE),
        .oversubscribed = {8, 2, 256 << 10},
    };
    struct strag_choice choice;
    strag_choose(&rests, &choice);
    assert_int_equal(choice.ground, STRAG_BY_OVERSUBSCRIBED);
    assert_string_equal(choice.table.entry[0].algorithm->name, "direct");
    assert_int_equal(choice.table.entry[0].blocks, 1);
    strag_selection_free(choice.selection);
    rests.problem.state = &straggling; /* of which that rule does not know */
    strag_choose(&rests, &choice);
    assert_int_equal(choice.ground, STRAG_BY_MODEL);
    strag_selection_free(choice.selection);
    rests.problem.state = &nothing;
    rests.oversubscribed.processors = 8; /* one for each */
    strag_choose(&rests, &choice);
    assert_int_equal(choice.ground, STRAG_BY_MODEL);
    strag_selection_free(choice.selection);
    rests.pinned = support_algorithm("optcc"); /* which needs two hosts */
    strag_choose(&rests, &choice);
    assert_int_equal(choice.ground, STRAG_BY_NOTHING);
    assert_int_equal(choice.status, STRAG_ERR_UNSUPPORTED);
    assert_int_equal(choice.table.entries, 1);
    assert_null(choice.table.entry[0].algorithm);
    assert_null(choice.selection);
    strag_topology_free(topology);
}

/* ---- What is refused ---- */

#define MODEL                                                                                      \
    "model: {alpha: 1, local-alpha: 1, overhead: 0, bandwidth: 1, injection-bandwidth: 0, "        \
    "local-bandwidth: 1, link-latency: 0, "                                                        \
    "hop-latency: 0, reduce-bandwidth: 0}\n"
#define HEAD "strag-saved: 2\nranks: 4\n" MODEL "table: [{from: 0, algorithm: ring}]\n"
static const struct {
    const char *text, *message;
} refusals[] = {
    {"", "FILE:1: the file is empty; 'strag-saved: 2' is expected"},
    {"strag-saved: 1\n", "FILE:1: only version 2 is read; let the job write the file again"},
    {"strag-saved: 2\n", "FILE:1: 'strag-saved: 2', 'ranks:' from 1 to 16777216 and 'table:'"},
    {"strag-rules: 1\n", "FILE:1: a saved file has no key 'strag-rules'; it has strag-saved, "},
    {"strag-saved: 2\nranks: 4\ntable: [{from: 0}]\n", "FILE:1: the model has no 'alpha'"},
    {HEAD "pinned: rign\n", "FILE:5: pinned: unknown algorithm 'rign' (nearest: ring); "},
    {HEAD "minimum: x\n", "FILE:5: minimum: 'x' is not a size"},
    {HEAD "strict: 3\n", "FILE:5: strict: true or false is needed, not '3'"},
    {HEAD "shared-memory: some\n", "FILE:5: shared-memory: no 'some'; accepted: none, hosts, all"},
    {HEAD "origins: {alpha: me}\n",
     "FILE:5: alpha: no 'me'; accepted: default, measured, file, user"},
    {HEAD "stragglers: [{rank: 4}]\n",
     "FILE:1: there are 4 'ranks', and the stragglers, slow ranks, "},
    {HEAD "stragglers: [{rank: 0}, {rank: 1}, {rank: 2}, {rank: 3}]\n",
     "FILE:5: at most 3 stragglers are accepted"},
    {HEAD "slow: [{rank: 1, factor: 1}]\n", "FILE:5: a factor above 1 is needed"},
    {HEAD "slow: [{rank: 9, factor: 2}]\n", "FILE:1: there are 4 'ranks'"},
    {HEAD "oversubscribed: {ranks: 4}\n", "FILE:5: 'ranks', 'processors' and 'window' are needed"},
    {HEAD "oversubscribed: {ranks: 3, processors: 1, window: 1K}\n", "FILE:1: there are 4 'ranks'"},
    {HEAD "rules: []\n", "FILE:5: a list of {from: SIZE, algorithm: NAME} is needed here"},
    {HEAD "a: &x 1\n", "FILE:5: anchors (&) and aliases (*) are not accepted"},
    {"strag-saved: 2\ntable: [{from: 1, algorithm: ring}]\n", "FILE:2: sizes begin with 0 and"},
    {HEAD "topology: 5x\n", "FILE:5: topology: strag's hexadecimal digits are needed"},
    {HEAD "topology: 0\n", "FILE:5: topology: strag's hexadecimal digits are needed"},
    {HEAD "topology: [1]\n", "FILE:5: topology: strag's hexadecimal digits are needed"},
    {HEAD "topology: 0102\n", "FILE:5: topology: 2 bytes are no packed topology"},
};

TEST(refused)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const char *text = refusals[i].text, *message = refusals[i].message;
        const struct strag_saved *saved = NULL;
        struct strag_error err = {""};
        int status = strag_saved_parse(text, strlen(text), "FILE", &saved, &err);
        if (status != STRAG_ERR_ARGUMENT || saved ||
            strncmp(err.text, message, strlen(message)) != 0)
            fail_msg("%s:\n  %s (%d)\n  is not\n  %s", text, err.text, status, message);
    }
}

/* Its digits may be changed: it is another topology, or refused. */
TEST(changed_topologies)
{
    struct rng rng = {support_seed("changed_topologies")};
    struct strag_topology *topology = sample(3);
    const struct strag_state nothing = {0};
    struct strag_saved saved = random_choice(&rng, topology, &nothing);
    size_t length;
    int refused = 0;
    choose(&saved);
    char *text = written(&saved, &length);
    char *digits = strstr(text, "\ntopology: ") + strlen("\ntopology: ");
    for (char *digit = digits; *digit != '\n'; digit++) {
        const struct strag_saved *again = NULL;
        struct strag_error err = {""};
        const char before = *digit;
        *digit = "0123456789abcdef"[rng_below(&rng, 16)];
        const int status = strag_saved_parse(text, length, "FILE", &again, &err);
        assert_true(status == STRAG_OK || status == STRAG_ERR_ARGUMENT);
        assert_int_equal(again == NULL, status != STRAG_OK);
        refused += status != STRAG_OK;
        strag_saved_free(again);
        *digit = before;
    }
    assert_true(refused > 10);
    free(text);
    strag_topology_free(topology);
}

TEST(out_of_memory)
{
    struct rng rng = {support_seed("out_of_memory")};
    struct strag_topology *topology = sample(3);
    const struct strag_state nothing = {0};
    struct strag_saved saved = random_choice(&rng, topology, &nothing);
    size_t length;
    long fail_at = 1;
    choose(&saved);
    char *text = written(&saved, &length);
    for (bool failed = true; failed; fail_at++) {
        const struct strag_saved *again = NULL;
        struct strag_error err = {""};
        memory_watch(fail_at);
        int status = strag_saved_parse(text, length, "FILE", &again, &err);
        bool made = again != NULL;
        strag_saved_free(again);
        struct memory_report report = memory_unwatch();
        failed = report.failed;
        assert_int_equal(report.live, 0);
        assert_int_equal(status, failed ? STRAG_ERR_MEMORY : STRAG_OK);
        assert_int_equal(made, !failed);
    }
    assert_true(fail_at > 10);
    free(text);
    strag_topology_free(topology);
}
