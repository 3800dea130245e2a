/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of a model, and model files: what they mean, which model fits, what goes before what,
 * what is refused and in which line; and that what is written is read back bit by bit.
 */
#include "base/parse.h"
#include "machine/layout.h"
#include "memory.h"
#include "model/model_file.h"
#include "support.h"

#include <errno.h>
#include <unistd.h>

static const char example[] = "strag-models: 1\n"
                              "models:\n"
                              "  - name: gpu\n"
                              "    hosts: g[0-9]*,login?\n"
                              "    transport: ucp\n"
                              "    alpha: 2.5\n"
                              "    bandwidth: 200\n"
                              "  - hosts: n*\n"
                              "    alpha: 45\n"
                              "    local-alpha: 0.4\n"
                              "    bandwidth: 0.1\n"
                              "    local-bandwidth: 160\n"
                              "    link-latency: 150\n"
                              "    hop-latency: 250\n"
                              "    reduce-bandwidth: 0\n"
                              "    measured: {date: 2026-11-22, error: 0.03, ranks: 8, hosts: 4}\n"
                              "  - name: the rest\n"
                              "    transport: pml\n"
                              "    alpha: 7\n";

static struct strag_models *parse(const char *text)
{
    struct strag_models *models = NULL;
    struct strag_error err = {""};
    if (strag_models_parse(text, strlen(text), "FILE", &models, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return models;
}

/* ---- Numbers ---- */

/* One row for each member that is a number, each at its own place. */
TEST(a_row_for_each_number)
{
    const struct strag_model model = {1, 2, 3, 4, 5, 6, 7, 8, 9, STRAG_TIES_SPLIT, false};
    double sum = 0;
    assert_int_equal(STRAG_MODEL_NUMBERS, 9);
    assert_int_equal(sizeof model, STRAG_MODEL_NUMBERS * sizeof(double) + sizeof(double));
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        sum += strag_model_value(&model, id);
    assert_true(sum == 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9);
    assert_true(strag_model_value(&model, STRAG_MODEL_LOCAL_ALPHA) == 2);
    assert_true(strag_model_value(&model, STRAG_MODEL_REDUCE_BANDWIDTH) == 9);
}

TEST(units)
{
    struct strag_error err;
    double value = -1;
    assert_int_equal(strag_model_number_parse(STRAG_MODEL_ALPHA, "45", &value, &err), STRAG_OK);
    assert_true(value == 45 * 1e-6);
    assert_int_equal(strag_model_number_parse(STRAG_MODEL_BANDWIDTH, "100", &value, &err),
                     STRAG_OK);
    assert_true(value == 12.5e9);
    assert_int_equal(strag_model_number_parse(STRAG_MODEL_HOP_LATENCY, "250", &value, &err),
                     STRAG_OK);
    assert_true(value == 250 * 1e-9);
    assert_int_equal(strag_model_number_parse(STRAG_MODEL_BANDWIDTH, "0", &value, &err),
                     STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, "'0' is not a number of Gbit/s from 1e-06 to 1e+09");
    assert_true(value == 250 * 1e-9);
}

/* Texts read back as the same bits; what somebody typed stays short. */
TEST(texts_are_exact)
{
    struct rng rng = {support_seed("texts_are_exact")};
    char text[32];
    long exact = 0, cases = support_cases(20000);
    assert_string_equal(strag_real_text(45 * 1e-6, 1e-6, text), "45");
    assert_string_equal(strag_real_text(0.4e-6, 1e-6, text), "0.4");
    assert_string_equal(strag_real_text(16e9, 1e9 / 8, text), "128");
    for (long i = 0; i < cases; i++) {
        const int id = (int)rng_below(&rng, STRAG_MODEL_NUMBERS);
        const double scale = strag_model_numbers[id].scale;
        const double value = (double)(rng_below(&rng, 1u << 29) + 1) * 1e-3 * scale;
        strag_real_text(value, scale, text);
        exact += strtod(text, NULL) * scale == value;
    }
    assert_int_equal(exact, cases);
}

/* The user's number goes before a file's, that before a measured one, that before a default. */
TEST(origins)
{
    char text[1024];
    const struct strag_model standard = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_sourced_model made = strag_model_sourced(&standard);
    assert_true(support_same_model(&made.model, &standard));
    assert_true(strag_model_set(&made, STRAG_MODEL_ALPHA, 3e-6, STRAG_FROM_MEASURED));
    assert_true(strag_model_set(&made, STRAG_MODEL_ALPHA, 4e-6, STRAG_FROM_FILE));
    assert_false(strag_model_set(&made, STRAG_MODEL_ALPHA, 5e-6, STRAG_FROM_MEASURED));
    assert_true(strag_model_set(&made, STRAG_MODEL_BANDWIDTH, 1e9 / 8, STRAG_FROM_MEASURED));
    assert_true(strag_model_set(&made, STRAG_MODEL_LOCAL_ALPHA, 6e-6, STRAG_FROM_USER));
    assert_false(strag_model_set(&made, STRAG_MODEL_LOCAL_ALPHA, 7e-6, STRAG_FROM_FILE));
    assert_true(made.model.alpha == 4e-6 && made.model.local_alpha == 6e-6);
    assert_false(support_same_model(&made.model, &standard));
    made.line = 3;
    made.measured_error = 0.05;
    assert_string_equal(
        strag_model_sources(&made, "lab.yaml", text, sizeof text),
        "alpha 4 us (file lab.yaml, line 3), local-alpha 6 us (user), overhead 0.8 us (default), "
        "bandwidth 1 Gbit/s (measured, off by 5 %), injection-bandwidth 0 Gbit/s (default), "
        "local-bandwidth 160 Gbit/s (default), link-latency 0 ns (default), hop-latency 0 "
        "ns (default), reduce-bandwidth 160 Gbit/s (default)");
    assert_int_equal(strlen(strag_model_sources(&made, "lab.yaml", text, 10)), 9);
}

/* ---- Which model fits ---- */

/* @return the line of the model for hosts of these names; 0: none */
static int line_for(const struct strag_models *models, const char *tree, int transport,
                    bool lenient)
{
    struct strag_topology *topology = NULL;
    struct strag_layout *layout = NULL;
    struct strag_error err;
    if (tree && (strag_layout_parse(tree, strlen(tree), "HOSTS", &layout, &err) != STRAG_OK ||
                 strag_layout_fill(layout, 0, 1, NULL, &topology, &err) != STRAG_OK))
        fail_msg("%s", err.text);
    const struct strag_machine_kind kind = {topology, (enum strag_model_transport)transport,
                                            lenient};
    const struct strag_model_entry *entry = strag_models_find(models, &kind);
    strag_topology_free(topology);
    strag_layout_free(layout);
    return entry ? entry->line : 0;
}

TEST(first_that_fits)
{
    struct strag_models *models = parse(example);
    static const char g[] = "SwitchName=s Nodes=g[0-3],login1\n",
                      n[] = "SwitchName=s Nodes=n[0-3]\n";
    static const char mixed[] = "SwitchName=s Nodes=g1,n[1-2]\n";
    assert_int_equal(models->count, 3);
    assert_int_equal(line_for(models, g, STRAG_OVER_UCP, false), 3);
    assert_int_equal(line_for(models, g, STRAG_OVER_PML, false), 17);
    assert_int_equal(line_for(models, n, STRAG_OVER_UCP, false), 8);
    assert_int_equal(line_for(models, n, STRAG_OVER_PML, false), 8);
    assert_int_equal(line_for(models, mixed, STRAG_OVER_PML, false), 17);
    assert_int_equal(line_for(models, mixed, STRAG_OVER_UCP, false), 0);
    /* what is not known: nothing fits, or all */
    assert_int_equal(line_for(models, g, STRAG_OVER_ANY, false), 0);
    assert_int_equal(line_for(models, g, STRAG_OVER_ANY, true), 3);
    assert_int_equal(line_for(models, NULL, STRAG_OVER_PML, false), 17);
    assert_int_equal(line_for(models, NULL, STRAG_OVER_PML, true), 8);
    strag_models_free(models);
}

TEST(numbers_of_a_file)
{
    struct strag_models *models = parse(example);
    const struct strag_model_entry *entry = &models->entry[1];
    const struct strag_model standard = strag_model_default(STRAG_NETWORK_TORUS);
    struct strag_sourced_model made = strag_model_sourced(&standard);
    char text[256];
    strag_model_set(&made, STRAG_MODEL_BANDWIDTH, 1e9, STRAG_FROM_USER);
    strag_models_use(entry, &made);
    assert_int_equal(made.line, 8);
    assert_true(made.model.alpha == 45 * 1e-6 && made.model.local_alpha == 0.4 * 1e-6);
    assert_true(made.model.bandwidth == 1e9 && made.model.local_bandwidth == 20e9);
    assert_true(made.model.link_latency == 150 * 1e-9 && made.model.hop_latency == 250 * 1e-9);
    assert_true(made.model.reduce_bandwidth == 0);
    assert_int_equal(made.origin[STRAG_MODEL_REDUCE_BANDWIDTH], STRAG_FROM_FILE);
    assert_string_equal(entry->date, "2026-11-22");
    assert_true(entry->error == 0.03 && entry->ranks == 8 && entry->hosts_measured == 4);
    assert_true(models->entry[0].value[STRAG_MODEL_LOCAL_ALPHA] < 0);
    assert_true(models->entry[0].error < 0);
    assert_string_equal(strag_models_list(models, text, sizeof text),
                        "gpu (line 3, hosts g[0-9]*,login?, transport ucp), one without a name "
                        "(line 8, hosts n*), the rest (line 17, transport pml)");
    strag_models_free(models);
}

TEST(written_and_read_back)
{
    struct strag_models *models = parse(example), *again;
    char *text = NULL;
    size_t length = 0;
    models->entry[2].value[STRAG_MODEL_ALPHA] = 1. / 3 * 1e-5;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_true(strag_models_write(models, stream));
    assert_int_equal(fclose(stream), 0);
    again = parse(text);
    assert_int_equal(again->count, models->count);
    for (int m = 0; m < models->count; m++) {
        const struct strag_model_entry *a = &models->entry[m], *b = &again->entry[m];
        assert_memory_equal(a->value, b->value, sizeof a->value);
        assert_int_equal(a->transport, b->transport);
        assert_string_equal(a->date, b->date);
        assert_true(a->error == b->error && a->ranks == b->ranks);
        assert_string_equal(a->name ? a->name : "", b->name ? b->name : "");
        assert_string_equal(a->hosts ? a->hosts : "", b->hosts ? b->hosts : "");
    }
    free(text);
    strag_models_free(again);
    strag_models_free(models);
}

/* ---- What is refused ---- */

#define HEAD "strag-models: 1\nmodels:\n"
#define KEYS                                                                                       \
    "name, hosts, transport, measured, alpha, local-alpha, overhead, bandwidth, "                  \
    "injection-bandwidth, local-bandwidth, link-latency, hop-latency, reduce-bandwidth"
static const struct {
    const char *text, *message;
} refusals[] = {
    {"", "FILE:1: the file is empty; 'strag-models: 1' and 'models:' are expected"},
    {"models: []\n", "FILE:1: 'strag-models: 1' and 'models:' are expected"},
    {"strag-models: 2\nmodels: []\n", "FILE:1: only version 1"},
    {"strag-rules: 1\n", "FILE:1: a model file has no key 'strag-rules'; it has strag-models, "},
    {HEAD "- 7\n", "FILE:3: a model is needed here"},
    {HEAD "- beta: 3\n", "FILE:3: a model has no key 'beta'; it has " KEYS},
    {HEAD "- alpha: 3\n  local_alpha: 3\n", "FILE:4: a model has no key 'local_alpha'; it has "},
    {HEAD "- alpha: x\n", "FILE:3: alpha: 'x' is not a number of us from 0 to 1e+09"},
    {HEAD "- alpha: -1\n", "FILE:3: alpha: '-1' is not a number of us from 0 to 1e+09"},
    {HEAD "- alpha: 1\n  bandwidth: 0\n",
     "FILE:4: bandwidth: '0' is not a number of Gbit/s from 1e-06 to 1e+09"},
    {HEAD "- alpha: [1]\n", "FILE:3: a single value is expected here"},
    {HEAD "- alpha: 1\n  alpha: 2\n", "FILE:4: alpha is given twice"},
    {HEAD "- transport: tcp\n", "FILE:3: transport: no 'tcp'; accepted: any, pml, ucp"},
    {HEAD "- hosts: [a]\n", "FILE:3: hosts: text in printable ASCII without \" and \\ is needed"},
    {HEAD "- name: \"a\\nb\"\n", "FILE:3: name: text in printable ASCII"},
    {HEAD "- measured: 3\n", "FILE:3: a measured is needed here: a mapping with the key date"},
    {HEAD "- measured: {date: today}\n", "FILE:3: date: YYYY-MM-DD is accepted, not 'today'"},
    {HEAD "- measured: {error: x}\n", "FILE:3: error: a number is needed, not 'x'"},
    {HEAD "- measured: {who: me}\n", "FILE:3: a measured has no key 'who'; it has date, error, "},
};

TEST(refused)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const char *text = refusals[i].text, *message = refusals[i].message;
        struct strag_models *models = NULL;
        struct strag_error err = {""};
        int status = strag_models_parse(text, strlen(text), "FILE", &models, &err);
        if (status != STRAG_ERR_ARGUMENT || models ||
            strncmp(err.text, message, strlen(message)) != 0)
            fail_msg("%s:\n  %s (%d)\n  is not\n  %s", text, err.text, status, message);
    }
}

TEST(files)
{
    char name[] = "/tmp/strag-models-XXXXXX", message[128];
    struct strag_models *models = NULL;
    struct strag_error err;
    int file = mkstemp(name);
    assert_true(file >= 0);
    assert_int_equal(write(file, example, strlen(example)), strlen(example));
    assert_int_equal(strag_models_read(name, &models, &err), STRAG_OK);
    assert_string_equal(models->file, name);
    strag_models_free(models);
    models = NULL;
    assert_int_equal(ftruncate(file, (1 << 20) + 1), 0);
    assert_int_equal(strag_models_read(name, &models, &err), STRAG_ERR_ARGUMENT);
    close(file);
    unlink(name);
    assert_int_equal(strag_models_read(name, &models, &err), STRAG_ERR_IO);
    snprintf(message, sizeof message, "%s: cannot be opened: %s", name, strerror(ENOENT));
    assert_string_equal(err.text, message);
    assert_null(models);
}

TEST(out_of_memory)
{
    long fail_at = 1;
    for (bool failed = true; failed; fail_at++) {
        struct strag_models *models = NULL;
        struct strag_error err = {""};
        memory_watch(fail_at);
        int status = strag_models_parse(example, strlen(example), "FILE", &models, &err);
        bool made = models != NULL;
        strag_models_free(models);
        struct memory_report report = memory_unwatch();
        failed = report.failed;
        assert_int_equal(report.live, 0);
        assert_int_equal(status, failed ? STRAG_ERR_MEMORY : STRAG_OK);
        assert_int_equal(made, !failed);
    }
    assert_true(fail_at > 4);
}
