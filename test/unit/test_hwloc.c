/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cores of machines that hwloc makes up, writes as XML, and reads back; malformed files; and
 * the machine that runs.
 */
#include <hwloc.h>

#include "machine/layout.h"
#include "memory.h"
#include "support.h"

#include <unistd.h>

static char xml[64];

static void write_file(const char *text, size_t length)
{
    FILE *stream = fopen(xml, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(text, 1, length, stream), length);
    assert_int_equal(fclose(stream), 0);
}

static void write_machine(const char *synthetic)
{
    hwloc_topology_t topology;
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, synthetic), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    assert_int_equal(hwloc_topology_export_xml(topology, xml, 0), 0);
    hwloc_topology_destroy(topology);
}

/* All cores as "package numa cache", one after the other. */
static const char *read_back(void)
{
    static char text[4096];
    struct strag_core *cores = NULL;
    struct strag_error err = {""};
    int count = 0;
    size_t length = 0;
    if (strag_hwloc_cores(xml, &cores, &count, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%d %d %d", i ? ", " : "",
                                   cores[i].package, cores[i].numa, cores[i].cache);
    free(cores);
    return text;
}

static void machines(void **state)
{
    static const struct {
        const char *synthetic, *cores;
    } cases[] = {
        {"pack:2 core:2 pu:2", "0 0 -1, 0 0 -1, 1 0 -1, 1 0 -1"},
        {"pack:2 [numa] core:2 pu:1", "0 0 -1, 0 0 -1, 1 1 -1, 1 1 -1"},
        {"pack:2 group:2 [numa] core:1 pu:1", "0 0 -1, 0 1 -1, 1 2 -1, 1 3 -1"},
        {"pack:2 [numa] l3:2 l2:1 core:2 pu:1",
         "0 0 0, 0 0 0, 0 0 1, 0 0 1, 1 1 2, 1 1 2, 1 1 3, 1 1 3"},
        {"[numa] pack:1 l2:2 core:1 pu:2", "0 0 0, 0 0 1"},
        {"[numa] l3:2 core:2 pu:1", "-1 0 0, -1 0 0, -1 0 1, -1 0 1"},
        /* memory of a second kind for the whole package: the nearer one counts */
        {"pack:2 [numa] group:2 [numa] core:1 pu:1", "0 0 -1, 0 1 -1, 1 3 -1, 1 4 -1"},
        {"pu:3", "-1 0 -1, -1 0 -1, -1 0 -1"}, /* no cores: hardware threads */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_machine(cases[i].synthetic);
        print_message("%s\n", cases[i].synthetic);
        assert_string_equal(read_back(), cases[i].cores);
    }
}

static void expect_refusal(int status, const char *what)
{
    struct strag_core *cores = NULL;
    struct strag_error err = {""};
    int count = -7;
    assert_int_equal(strag_hwloc_cores(xml, &cores, &count, &err), status);
    assert_null(cores);
    assert_int_equal(count, -7);
    assert_int_equal(strncmp(err.text, xml, strlen(xml)), 0);
    if (!strstr(err.text, what))
        fail_msg("'%s' does not say '%s'", err.text, what);
}

static void malformed(void **state)
{
    static const char *const texts[] = {"",        "hello",         "<topology",
                                        "<a></a>", "<topology/>\n", "<?xml version=\"1.0\"?>"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_file(texts[i], strlen(texts[i]));
        expect_refusal(STRAG_ERR_ARGUMENT, "lstopo --of xml");
    }
    assert_int_equal(unlink(xml), 0);
    expect_refusal(STRAG_ERR_IO, "No such file");
}

/* Cut and changed files are refused or read; both without harm. */
static void mutations(void **state)
{
    struct rng rng = {support_seed("mutations")};
    static char good[1 << 16], text[1 << 16];
    write_machine("pack:2 [numa] l3:1 core:2 pu:1");
    FILE *stream = fopen(xml, "r");
    assert_non_null(stream);
    size_t length = fread(good, 1, sizeof good, stream);
    fclose(stream);
    assert_true(length > 1000 && length < sizeof good);
    long cases = support_cases(150), refused = 0;
    for (long i = 0; i < cases; i++) {
        struct strag_core *cores = NULL;
        struct strag_error err = {""};
        int count = 0;
        memcpy(text, good, length);
        for (unsigned k = rng_below(&rng, 3); k > 0; k--)
            text[rng_below(&rng, (unsigned)length)] = "0x<>\"/ a7"[rng_below(&rng, 9)];
        write_file(text, rng_one_in(&rng, 3) ? rng_below(&rng, (unsigned)length) : length);
        int status = strag_hwloc_cores(xml, &cores, &count, &err);
        if (status == STRAG_OK) {
            assert_true(count > 0 && cores);
        } else {
            assert_null(cores);
            assert_true(err.text[0]);
            refused++;
        }
        free(cores);
    }
    assert_true(refused > 0 && refused < cases);
}

static void this_machine(void **state)
{
    struct strag_core *cores = NULL;
    struct strag_error err = {""};
    int count = 0;
    hwloc_topology_t topology;
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    int known = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    if (known <= 0)
        known = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    int packages = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
    int domains = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    hwloc_topology_destroy(topology);
    assert_int_equal(strag_hwloc_cores(NULL, &cores, &count, &err), STRAG_OK);
    assert_int_equal(count, known);
    for (int i = 0; i < count; i++) {
        assert_in_range(cores[i].package + 1, packages > 0, packages);
        assert_in_range(cores[i].numa, 0, domains - 1);
    }
    free(cores);
}

static void out_of_memory(void **state)
{
    struct strag_core *cores = NULL;
    struct strag_error err = {""};
    int count = 0;
    memory_watch(1);
    int status = strag_hwloc_cores(NULL, &cores, &count, &err);
    struct memory_report report = memory_unwatch();
    assert_true(report.failed);
    assert_int_equal(report.live, 0);
    assert_int_equal(status, STRAG_ERR_MEMORY);
    assert_null(cores);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines),      cmocka_unit_test(malformed),
        cmocka_unit_test(mutations),     cmocka_unit_test(this_machine),
        cmocka_unit_test(out_of_memory),
    };
    snprintf(xml, sizeof xml, "/tmp/strag-test-hwloc-%ld.xml", (long)getpid());
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(xml);
    return failed;
}
