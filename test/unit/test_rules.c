/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules files: what they mean, what is refused and in which line, and that no allocation that fails
 * and no changed byte does harm.
 */
#include "machines.h"
#include "memory.h"
#include "model/rules.h"
#include "support.h"

#include <errno.h>
#include <unistd.h>

static const char example[] = "strag-rules: 1\n"
                              "rules:\n"
                              "  - hosts: 4..8\n"
                              "    ranks-per-host: 2\n"
                              "    ranks: 8..16\n"
                              "    network: torus\n"
                              "    sizes:\n"
                              "      - {from: 0, algorithm: ring}\n"
                              "  - hosts: 3\n"
                              "    ranks-per-host: 2\n"
                              "    sizes:\n"
                              "      - {from: 0, algorithm: previous}\n"
                              "      - {from: 16K, algorithm: recursive-doubling}\n"
                              "      - {from: 1M, algorithm: circulant}\n"
                              "  - ranks: 6\n"
                              "    sizes: [{from: 0, algorithm: auto, plan: x}]\n";

static struct strag_rules *parse(const char *text)
{
    struct strag_rules *rules = NULL;
    struct strag_error err = {""};
    if (strag_rules_parse(text, strlen(text), "FILE", &rules, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return rules;
}

/* A table as a text: "0 previous, 16384 ring". */
static const char *show(const struct strag_table *table)
{
    static char text[4096];
    size_t length = 0;
    for (int i = 0; i < table->entries; i++) {
        const struct strag_entry *entry = &table->entry[i];
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%s%zu %s", i ? ", " : "",
                             entry->from, entry->algorithm ? entry->algorithm->name : "previous");
        if (entry->blocks)
            length +=
                (size_t)snprintf(text + length, sizeof text - length, " in %d", entry->blocks);
    }
    return text;
}

static struct strag_model costs; /* the command's */

static struct strag_table model(void)
{
    return (struct strag_table){.entries = 2,
                                .entry = {{0, support_algorithm("recursive-doubling")},
                                          {4096, support_algorithm("circulant")}}};
}

/* Apply rules to n ranks, this many per host, and compare the table and the line. */
static void expect(const char *text, int n, int ranks_per_host, int line, const char *table)
{
    struct strag_rules *rules = parse(text);
    struct strag_topology *topology = NULL;
    struct strag_error err = {""};
    struct strag_table got = model();
    int at = -1;
    if (ranks_per_host > 0)
        assert_int_equal(strag_topology_flat(n, ranks_per_host, &topology, &err), STRAG_OK);
    const struct strag_problem problem = {.n = n, .topology = topology};
    if (strag_rules_apply(rules, &problem, &costs, &got, &at, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(at, line);
    assert_string_equal(show(&got), table);
    strag_topology_free(topology);
    strag_rules_free(rules);
}

static const char models[] = "0 recursive-doubling, 4096 circulant";

static void first_that_holds(void **state)
{
    expect(example, 6, 2, 9, "0 previous, 16384 recursive-doubling, 1048576 circulant");
    expect(example, 6, 1, 15, models);
    expect(example, 6, 0, 15, models); /* no topology: each on a host of its own */
    expect(example, 8, 2, 0, models);  /* hosts 4, but the network is a tree */
    expect(example, 5, 2, 0, models);  /* 3 hosts, not all equal */
    expect("strag-rules: 1\nrules: []\n", 4, 1, 0, models);
}

static void conditions(void **state)
{
    static const char format[] = "strag-rules: 1\nrules:\n- %s\n  sizes: [{from: 0, algorithm: "
                                 "ring}]\n";
    static const struct {
        const char *condition;
        int n, ranks_per_host;
        bool holds;
    } cases[] = {
        {"hosts: 4", 8, 2, true},
        {"hosts: 4", 8, 1, false},
        {"hosts: 4..8", 8, 1, true},
        {"hosts: 4..7", 8, 1, false},
        {"hosts: 9..20", 8, 1, false},
        {"ranks-per-host: 2", 8, 2, true},
        {"ranks-per-host: 2..3", 8, 4, false},
        {"ranks-per-host: 1..9", 7, 2, false},
        {"ranks: 8", 8, 3, true},
        {"ranks: 9", 8, 3, false},
        {"network: tree", 8, 3, true},
        {"network: torus", 8, 2, false},
        {"network: hyperx", 8, 2, false},
        {"network: hammingmesh", 8, 2, false},
        {"hosts: \"4\"", 8, 2, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, format, cases[i].condition);
        expect(text, cases[i].n, cases[i].ranks_per_host, cases[i].holds ? 3 : 0,
               cases[i].holds ? "0 ring" : models);
    }
}

static void from_the_model(void **state)
{
    static const char head[] = "{strag-rules: 1, rules: [{sizes: [";
    static const struct {
        const char *sizes, *table;
    } cases[] = {
        {"{from: 0, algorithm: auto}", "0 recursive-doubling, 4096 circulant"},
        {"{from: 0, algorithm: previous}, {from: 1K, algorithm: auto}",
         "0 previous, 1024 recursive-doubling, 4096 circulant"},
        {"{from: 0, algorithm: previous}, {from: 4K, algorithm: auto}",
         "0 previous, 4096 circulant"},
        {"{from: 0, algorithm: auto}, {from: 2K, algorithm: ring}",
         "0 recursive-doubling, 2048 ring"},
        {"{from: 0, algorithm: auto}, {from: 1M, algorithm: circulant}",
         "0 recursive-doubling, 4096 circulant"}, /* the same one again adds nothing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s]}]}", head, cases[i].sizes);
        expect(text, 4, 1, 1, cases[i].table);
    }
}

/* Blocks that are named; and left out, what the model finds best for the algorithm. */
static void blocks(void **state)
{
#define SIZES(sizes) "strag-rules: 1\nrules: [{sizes: [" sizes "]}]\n"
    expect(SIZES("{from: 0, algorithm: swing, blocks: 4}"), 16, 1, 2, "0 swing in 4");
    expect(SIZES("{blocks: 16, from: 0, algorithm: swing}"), 16, 1, 2, "0 swing in 16");
    expect(SIZES("{from: 0, algorithm: ring, blocks: 16}"), 16, 1, 2, "0 ring in 16");
    /* 5 us + 5/2 x in 2 blocks, 6 us + 2 x in 4, 7 us + 15/8 x in 8: as fast at x = 2 and 8 us, 80
     * ps a byte. */
    expect(SIZES("{from: 0, algorithm: previous}, {from: 9, algorithm: swing}"), 16, 1, 2,
           "0 previous, 9 swing in 2, 24555 swing in 4, 98386 swing in 8");
#undef SIZES
}

/* What cannot be put into the table leaves it alone. */
static void expect_unsupported(const char *text, struct strag_table table, const char *what)
{
    struct strag_rules *rules = parse(text);
    struct strag_error err = {""};
    int line = -1;
    const struct strag_problem problem = {.n = 6};
    struct strag_table before = table;
    assert_int_equal(strag_rules_apply(rules, &problem, &costs, &table, &line, &err),
                     STRAG_ERR_UNSUPPORTED);
    if (!strstr(err.text, what))
        fail_msg("'%s' does not say '%s'", err.text, what);
    assert_int_equal(strncmp(err.text, "FILE:3: ", 8), 0);
    assert_memory_equal(&before, &table, sizeof table);
    strag_rules_free(rules);
}

static void too_many_sizes_together(void **state)
{
    struct strag_table full = {.entries = STRAG_TABLE_MAX};
    for (int i = 0; i < STRAG_TABLE_MAX; i++)
        full.entry[i] = (struct strag_entry){
            .from = (size_t)i * 100, .algorithm = support_algorithm(i % 2 ? "ring" : "circulant")};
    expect_unsupported("strag-rules: 1\nrules:\n- sizes:\n  - {from: 0, algorithm: previous}\n"
                       "  - {from: 1, algorithm: auto}\n",
                       full, "more than 48 sizes");
    expect_unsupported(
        "strag-rules: 1\nrules:\n- sizes:\n  - {from: 0, algorithm: swing, blocks: 5}\n", model(),
        "swing cannot run here: swing cuts the vector of 6 ranks into 2 or 6 "
        "blocks, not 5");
}

/* ---- What is refused ---- */

static void refused(void **state)
{
#define HEAD "strag-rules: 1\nrules:\n"
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "FILE:1: the file is empty"},
        {"# nothing\n", "FILE:2: the file is empty; 'strag-rules: 1' and 'rules:' are expected"},
        {"hello\n", "FILE:1: a rules file is needed here: a mapping with the key strag-rules"},
        {"\nrules: []\n", "FILE:2: 'strag-rules: 1' and 'rules:' are expected"},
        {"strag-rules: 1\n", "FILE:1: 'strag-rules: 1' and 'rules:' are expected"},
        {"strag-rules: 2\nrules: []\n", "FILE:1: only version 1"},
        {"strag-rules: 1\nrules: []\nfoo: 1\n",
         "FILE:3: a rules file has no key 'foo'; it has strag-rules, rules"},
        {"strag-rules: 1\nrules: []\nrules: []\n", "FILE:3: rules is given twice"},
        {"strag-rules: 1\nrules: 7\n", "FILE:2: a list of rules is needed here"},
        {"strag-rules: 1\nrules: []\n---\nmore: 1\n", "FILE:3: a second document; one is accepted"},
        {"strag-rules: 1\nrules: [\n", "FILE:3: not YAML: "},
        {"strag-rules: 1\n\trules: []\n", "FILE:2: not YAML: "},
        {"strag-rules: 1\n\n\xff\xfe\n", "FILE:3: not YAML: "},
        {"{\"strag-rules\":1,\"rules\":[{\"sizes\":[{\"from\":0,\"algorithm\":\"ring\"}]},"
         "{\"sizes\":[{\"from\":0,\"algorithm\":\"ring\"}]}]}",
         "FILE:1: each rule must begin on a line of its own"},
        {HEAD "- 7\n", "FILE:3: a rule is needed here: a mapping with the key sizes"},
        {HEAD "- hosts: 4\n", "FILE:3: the rule has no 'sizes'"},
        {HEAD "- hosts: x\n  sizes: []\n", "FILE:3: hosts: 'x' is neither an integer from 1"},
        {HEAD "- hosts: 0\n  sizes: []\n", "FILE:3: hosts: '0' is neither an integer from 1"},
        {HEAD "- hosts: 8..4\n  sizes: []\n", "FILE:3: hosts: '8..4' runs downwards"},
        {HEAD "- hosts: 1,2\n  sizes: []\n", "FILE:3: one number or one range"},
        {HEAD "- hosts: [1]\n  sizes: []\n", "FILE:3: a single value is expected"},
        {HEAD "- ranks: -1\n  sizes: []\n", "FILE:3: ranks: '-1' is neither an integer from 1"},
        {HEAD "- network: ring\n  sizes: []\n", "FILE:3: network: no 'ring'; accepted: tree, "},
        {HEAD "- sizes: []\n", "FILE:3: a list of {from: SIZE, algorithm: NAME}"},
        {HEAD "- sizes:\n  - ring\n", "FILE:4: a size is needed here: a mapping with the key from"},
        {HEAD "- sizes:\n  - {from: 0}\n", "FILE:4: 'from', and 'algorithm' or 'plan', are needed"},
        {HEAD "- sizes:\n  - {from: 0, plan: ''}\n", "FILE:4: "},
        {HEAD "- sizes:\n  - {from: 0, plan: x, blocks: 2}\n",
         "FILE:4: 'blocks' goes with the name of an algorithm"},
        {HEAD "- sizes:\n  - {from: 1, algorithm: ring}\n", "FILE:4: the first size"},
        {HEAD "- sizes:\n  - {from: 1X, algorithm: ring}\n", "FILE:4: from: '1X' is not a size"},
        {HEAD "- sizes:\n  - {from: 0, algorithm: ring}\n  - {from: 0, algorithm: ring}\n",
         "FILE:5: sizes ascend"},
        {HEAD "- sizes:\n  - {from: 0, algorithm: rign}\n",
         "FILE:4: no algorithm 'rign' (nearest: ring); accepted: previous, auto, "
         "recursive-doubling, "},
        {HEAD "- sizes:\n  - {from: 0, algorithm: ring, blocks: 0}\n",
         "FILE:4: blocks: '0' is not an integer"},
        {HEAD "- sizes:\n  - {from: 0, algorithm: ring,\n     blocks: x}\n",
         "FILE:5: blocks: 'x' is not an integer"},
        {HEAD "- sizes:\n  - {from: 0, algorithm: ring, blocks: [4]}\n",
         "FILE:4: a single value is expected"},
        {HEAD "- sizes:\n  - {from: 0, algorithm: auto, blocks: 4}\n",
         "FILE:4: 'blocks' goes with the name of an algorithm"},
        {HEAD "- sizes:\n  - {from: 0, algorithm: previous, blocks: 4}\n",
         "FILE:4: 'blocks' goes with the name of an algorithm"},
        {HEAD "- sizes:\n  - {from: 0, algorithm: ring, block: 4}\n",
         "FILE:4: a size has no key 'block'; it has from, algorithm, blocks"},
        {HEAD "- sizes:\n  - {from: 0, algorithm: \"a\\nb\"}\n", "FILE:4: no algorithm 'a?b'"},
        {HEAD "- &a\n  sizes: *a\n", "FILE:3: a list of {from"},
        {HEAD "- sizes:\n  - {from: 0, algorithm: ring}\n  color: red\n",
         "FILE:5: a rule has no key 'color'; it has sizes, hosts, ranks-per-host, ranks, network"},
        {HEAD "- {ranks: 2, ranks: 3}\n", "FILE:3: ranks is given twice"},
        {HEAD "- {[a]: 2}\n", "FILE:3: a key of a rule is not a word"},
    };
#undef HEAD
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strag_rules *rules = NULL;
        struct strag_error err = {""};
        int status = strag_rules_parse(cases[i].text, strlen(cases[i].text), "FILE", &rules, &err);
        if (status != STRAG_ERR_ARGUMENT || rules ||
            strncmp(err.text, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s:\n  %s (%d)\n  is not\n  %s", cases[i].text, err.text, status,
                     cases[i].message);
    }
}

/* One more than a table can have; and more rules than anybody writes, out of an alias. */
static void too_many(void **state)
{
    static char text[1 << 16];
    struct strag_rules *rules = NULL;
    struct strag_error err;
    size_t length = (size_t)sprintf(text, "strag-rules: 1\nrules:\n- sizes:\n");
    for (int i = 0; i <= STRAG_TABLE_MAX; i++)
        length += (size_t)sprintf(text + length, "  - {from: %d, algorithm: ring}\n", i);
    assert_int_equal(strag_rules_parse(text, length, "FILE", &rules, &err), STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, "FILE:52: a rule has 48 sizes at most");
    static const char rule[] = "- {sizes: [{from: 0, algorithm: ring}]}\n";
    length = (size_t)sprintf(text, "strag-rules: 1\nrules:\n");
    for (int i = 0; i < 1025; i++)
        length += (size_t)sprintf(text + length, "%s", rule);
    assert_int_equal(strag_rules_parse(text, length, "FILE", &rules, &err), STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, "FILE:1027: more than 1024 rules");
    length -= strlen(rule);
    assert_int_equal(strag_rules_parse(text, length, "FILE", &rules, &err), STRAG_OK);
    strag_rules_free(rules);
}

/* Plans from files stand next to an algorithm, or in its place; their names are from the folder
 * where the rules are. */
static void plans(void **state)
{
    static const char text[] = "strag-rules: 1\nrules:\n"
                               "- ranks: 4\n  sizes: [{from: 0, algorithm: ring}]\n"
                               "- sizes:\n"
                               "  - {from: 0, plan: a.json}\n"
                               "  - {from: 1K, algorithm: ring, plan: /b/c.json}\n"
                               "  - {from: 1M, algorithm: previous}\n"
                               "  - {from: 2M, plan: d/e.json}\n";
    struct strag_rules_plan found[STRAG_TABLE_MAX];
    struct strag_rules *rules = NULL;
    char *written = NULL;
    size_t length = 0;
    expect(text, 8, 1, 5, "0 recursive-doubling, 1024 ring, 1048576 previous, 2097152 circulant");
    assert_int_equal(strag_rules_parse(text, strlen(text), "some/where/rules", &rules, NULL),
                     STRAG_OK);
    assert_int_equal(strag_rules_plans(rules, 3, found), 0);
    assert_int_equal(strag_rules_plans(rules, 4, found), 0); /* no rule begins there */
    assert_int_equal(strag_rules_plans(rules, 5, found), 3);
    assert_string_equal(found[0].file, "some/where/a.json");
    assert_true(found[0].from == 0 && found[0].to == 1023);
    assert_string_equal(found[1].file, "/b/c.json");
    assert_true(found[1].from == 1024 && found[1].to == (1 << 20) - 1);
    assert_string_equal(found[2].file, "some/where/d/e.json");
    assert_true(found[2].from == 2 << 20 && found[2].to == SIZE_MAX);
    FILE *out = open_memstream(&written, &length);
    assert_non_null(out);
    strag_rules_write_sizes(rules, 5, out, 0);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(written,
                        "- {from: 0, algorithm: auto, plan: \"some/where/a.json\"}\n"
                        "- {from: 1024, algorithm: ring, plan: \"/b/c.json\"}\n"
                        "- {from: 1048576, algorithm: previous}\n"
                        "- {from: 2097152, algorithm: auto, plan: \"some/where/d/e.json\"}\n");
    free(written);
    strag_rules_free(rules);
}

static void files(void **state)
{
    char name[] = "/tmp/strag-rules-XXXXXX", message[128];
    struct strag_rules *rules = NULL;
    struct strag_error err;
    int file = mkstemp(name);
    assert_true(file >= 0);
    assert_int_equal(write(file, example, strlen(example)), strlen(example));
    assert_int_equal(strag_rules_read(name, &rules, &err), STRAG_OK);
    strag_rules_free(rules);
    rules = NULL;
    assert_int_equal(ftruncate(file, (1 << 20) + 1), 0);
    assert_int_equal(strag_rules_read(name, &rules, &err), STRAG_ERR_ARGUMENT);
    snprintf(message, sizeof message, "%s:1: more than 1048576 bytes", name);
    assert_string_equal(err.text, message);
    close(file);
    unlink(name);
    assert_int_equal(strag_rules_read(name, &rules, &err), STRAG_ERR_IO);
    snprintf(message, sizeof message, "%s: cannot be opened: %s", name, strerror(ENOENT));
    assert_string_equal(err.text, message);
    assert_int_equal(strag_rules_read("/", &rules, &err), STRAG_ERR_IO);
    assert_null(rules);
}

/* ---- Memory and mutations ---- */

static void out_of_memory(void **state)
{
    long fail_at = 1;
    for (bool failed = true; failed; fail_at++) {
        struct strag_rules *rules = NULL;
        struct strag_error err = {""};
        memory_watch(fail_at);
        int status = strag_rules_parse(example, strlen(example), "FILE", &rules, &err);
        bool made = rules != NULL;
        strag_rules_free(rules);
        struct memory_report report = memory_unwatch();
        failed = report.failed;
        assert_int_equal(report.live, 0);
        assert_int_equal(status, failed ? STRAG_ERR_MEMORY : STRAG_OK);
        assert_int_equal(made, !failed);
        assert_true(!failed || strstr(err.text, "out of memory"));
    }
    assert_true(fail_at > 4);
}

/* Change, drop or double bytes of a good text: it is refused with a place, or it makes a table. */
static void mutations(void **state)
{
    struct rng rng = {support_seed("mutations")};
    static const char bytes[] = "{}[]-:,&*!|>'\"%@#\n\t 01K.x\xc3\x00";
    long cases = support_cases(20000), good = 0;
    for (long i = 0; i < cases; i++) {
        char text[sizeof example];
        memcpy(text, example, sizeof text);
        for (unsigned k = rng_below(&rng, 4) + 1; k > 0; k--)
            text[rng_below(&rng, sizeof example - 1)] = bytes[rng_below(&rng, sizeof bytes)];
        struct strag_rules *rules = NULL;
        struct strag_error err = {""};
        int status = strag_rules_parse(
            text, rng_below(&rng, 8) ? strlen(example) : rng_below(&rng, sizeof text), "FILE",
            &rules, &err);
        if (status != STRAG_OK) {
            assert_int_equal(status, STRAG_ERR_ARGUMENT);
            assert_null(rules);
            assert_true(strncmp(err.text, "FILE:", 5) == 0 && strtol(err.text + 5, NULL, 10) > 0);
            assert_null(strchr(err.text, '\n'));
            continue;
        }
        struct strag_table table = model();
        int line;
        const struct strag_problem problem = {.n = 6};
        (void)strag_rules_apply(rules, &problem, &costs, &table, &line, &err);
        assert_int_equal(table.entry[0].from, 0);
        for (int e = 1; e < table.entries; e++)
            assert_true(table.entry[e].from > table.entry[e - 1].from);
        strag_rules_free(rules);
        good++;
    }
    if (cases >= 1000) /* of both kinds there are some */
        assert_true(good > 0 && good < cases);
}

int main(void)
{
    costs = machine_model(STRAG_NETWORK_TREE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_that_holds),
        cmocka_unit_test(conditions),
        cmocka_unit_test(from_the_model),
        cmocka_unit_test(blocks),
        cmocka_unit_test(too_many_sizes_together),
        cmocka_unit_test(refused),
        cmocka_unit_test(too_many),
        cmocka_unit_test(plans),
        cmocka_unit_test(files),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
