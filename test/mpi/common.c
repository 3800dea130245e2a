/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the MPI test programs; see common.h.
 */
#include "common.h"

#include <errno.h>
#include <stdarg.h>

#define PRINTED_MAX  20
#define SEED_DEFAULT "20240229"

struct test test;

static int counter_calls = -1, counter_delegated = -1; /* indices of the performance variables */
static MPI_T_pvar_session counter_session;
static MPI_T_pvar_handle handle_calls, handle_delegated;

void test_die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: rank %d of %d: ", test.program, test.rank, test.n);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void test_mpi_result(int code, const char *call, const char *file, int line)
{
    if (MPI_SUCCESS != code) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        test_die("%s:%d: %s: %s", file, line, call, text);
    }
}

void test_fail(const char *format, ...)
{
    test.checks++;
    test.failures++;
    if (test.failures > PRINTED_MAX)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "%s: rank %d of %d: FAIL: %s%s\n", test.program, test.rank, test.n, text,
            test.failures == PRINTED_MAX ? " (no more of this rank is shown)" : "");
}

void *test_allocate(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (NULL == memory)
        test_die("out of memory: %zu bytes", bytes);
    return memory;
}

long test_number(const char *name, const char *text, long low, long high)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || '\0' != *end || 0 != errno || number < low || number > high)
        test_die("--%s %s: a number from %ld to %ld is accepted", name, text, low, high);
    return number;
}

/* Take `--name VALUE` pairs from the command line. */
static void read_options(int argc, char **argv, const struct test_option *options)
{
    for (int i = 1; i < argc; i += 2) {
        const struct test_option *option = options;
        while (NULL != option->name &&
               (0 != strncmp(argv[i], "--", 2) || 0 != strcmp(argv[i] + 2, option->name)))
            option++;
        if (NULL == option->name || i + 1 == argc)
            test_die("%s: unknown, or its value is missing", argv[i]);
        *option->value = argv[i + 1];
    }
}

static MPI_T_pvar_handle counter_open(const char *name, int *index)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = 1;
    if (MPI_SUCCESS != MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, index)) {
        *index = -1;
        if (test.expect_strag)
            test_die("no performance variable %s: strag was not loaded", name);
        return handle;
    }
    TEST_MPI(MPI_T_pvar_handle_alloc(counter_session, *index, NULL, &handle, &count));
    int code = MPI_T_pvar_start(counter_session, handle);
    if (MPI_SUCCESS != code && MPI_T_ERR_PVAR_NO_STARTSTOP != code)
        test_die("performance variable %s cannot be started", name);
    return handle;
}

static unsigned long long counter_read(MPI_T_pvar_handle handle, int index)
{
    if (index < 0)
        return 0;
    char name[128];
    int length = (int)sizeof(name), verbosity, class, bind, readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    TEST_MPI(MPI_T_pvar_get_info(index, name, &length, &verbosity, &class, &type, &enumeration,
                                 NULL, NULL, &bind, &readonly, &continuous, &atomic));
    if (MPI_UNSIGNED == type) {
        unsigned value;
        TEST_MPI(MPI_T_pvar_read(counter_session, handle, &value));
        return value;
    }
    if (MPI_UNSIGNED_LONG != type && MPI_UNSIGNED_LONG_LONG != type)
        test_die("performance variable %s: an unsigned integer was expected", name);
    unsigned long long value; /* as long as unsigned long on every 64-bit Linux */
    TEST_MPI(MPI_T_pvar_read(counter_session, handle, &value));
    return value;
}

/* There Open MPI 6.0 loses messages of processes in which several threads send
 * (doc/upstream/fast-boxes.md). */
static void keep_clear_of_fast_boxes(void)
{
#if OMPI_MAJOR_VERSION == 6
    setenv("OMPI_MCA_btl_sm_fbox_max", "0", 0);
#endif
}

void test_start(int *argc, char ***argv, const char *program, int level,
                const struct test_option *options)
{
    test.program = program;
    int provided, ignored;
    if (level == MPI_THREAD_MULTIPLE)
        keep_clear_of_fast_boxes();
    TEST_MPI(MPI_Init_thread(argc, argv, level, &provided));
    TEST_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &test.rank));
    TEST_MPI(MPI_Comm_size(MPI_COMM_WORLD, &test.n));
    if (provided < level)
        test_die("MPI's thread support is %d, %d is needed", provided, level);

    const char *seed = SEED_DEFAULT, *expect = "1";
    struct test_option all[16] = {{"seed", &seed}, {"expect-strag", &expect}};
    for (int i = 0; NULL != options && NULL != options[i].name; i++)
        all[2 + i] = options[i];
    read_options(*argc, *argv, all);
    test.seed = (uint64_t)test_number("seed", seed, 0, INT32_MAX);
    test.expect_strag = 1 == test_number("expect-strag", expect, 0, 1);
    if (0 == test.rank)
        printf("%s: np %d, --seed %llu\n", program, test.n, (unsigned long long)test.seed);

    /* Open MPI 4.1 and 5.0 take this for the level of all of MPI (doc/upstream/thread-level.md). */
    TEST_MPI(MPI_T_init_thread(provided, &ignored));
    TEST_MPI(MPI_T_pvar_session_create(&counter_session));
    handle_calls = counter_open("coll_strag_calls", &counter_calls);
    handle_delegated = counter_open("coll_strag_delegated", &counter_delegated);
}

int test_finish(void)
{
    long mine[2] = {test.checks, test.failures};
    long *all = test_allocate((size_t)test.n * sizeof(mine));
    TEST_MPI(MPI_Gather(mine, 2, MPI_LONG, all, 2, MPI_LONG, 0, MPI_COMM_WORLD));
    long checks = 0, failures = 0;
    for (int i = 0; 0 == test.rank && i < test.n; i++) {
        checks += all[2 * i];
        failures += all[2 * i + 1];
    }
    free(all);
    TEST_MPI(MPI_Bcast(&failures, 1, MPI_LONG, 0, MPI_COMM_WORLD));
    if (0 == test.rank)
        printf("%s: np %d: %ld checks, %ld failed\n", test.program, test.n, checks, failures);
    MPI_T_pvar_session_free(&counter_session);
    MPI_T_finalize();
    TEST_MPI(MPI_Finalize());
    return failures > 0 ? 1 : 0;
}

struct test_counters test_counters_read(void)
{
    struct test_counters counters = {counter_read(handle_calls, counter_calls),
                                     counter_read(handle_delegated, counter_delegated)};
    return counters;
}

void test_counters_moved(struct test_counters before, unsigned long long calls,
                         unsigned long long delegated, const char *what)
{
    struct test_counters now = test_counters_read();
    now.calls -= before.calls;
    now.delegated -= before.delegated;
    if (!test.expect_strag) {
        calls = 0;
        delegated = 0;
    }
    TEST_CHECK(now.calls == calls && now.delegated == delegated,
               "%s: coll_strag_calls moved by %llu, %llu expected; coll_strag_delegated by %llu, "
               "%llu expected",
               what, now.calls, calls, now.delegated, delegated);
}

unsigned long long test_counter_read(const char *name)
{
    static struct {
        const char *name;
        MPI_T_pvar_handle handle;
        int index;
    } open[8];
    int i = 0;
    while (NULL != open[i].name && strcmp(open[i].name, name) != 0)
        i++;
    if (NULL == open[i].name) {
        open[i].name = name;
        open[i].handle = counter_open(name, &open[i].index);
    }
    return counter_read(open[i].handle, open[i].index);
}

double test_variable_read(const char *name, MPI_Comm comm)
{
    /* Open MPI 6.0 takes the address of a handle for that of the communicator, and looks at its
     * flags: they must be 0 (doc/upstream/mpit-bound.md). */
    static struct {
        MPI_Comm handle;
        char zeros[4096];
    } bound;
    MPI_T_pvar_handle handle;
    char text[128];
    int index, count, length = (int)sizeof(text), verbosity, class, bind, readonly, continuous,
                      atomic;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    if (MPI_SUCCESS != MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_GENERIC, &index)) {
        if (test.expect_strag)
            test_die("no performance variable %s: strag was not loaded", name);
        return -1;
    }
    TEST_MPI(MPI_T_pvar_get_info(index, text, &length, &verbosity, &class, &type, &enumeration,
                                 NULL, NULL, &bind, &readonly, &continuous, &atomic));
    bound.handle = comm;
    TEST_MPI(MPI_T_pvar_handle_alloc(counter_session, index, &bound.handle, &handle, &count));
    union {
        int number;
        double real;
        unsigned long long natural;
    } value;
    TEST_MPI(MPI_T_pvar_read(counter_session, handle, &value));
    TEST_MPI(MPI_T_pvar_handle_free(counter_session, &handle));
    return MPI_INT == type ? value.number : MPI_DOUBLE == type ? value.real : (double)value.natural;
}

void test_pass_first_calls(MPI_Comm comm)
{
    for (int call = 0; call < 2; call++) {
        int one = 1;
        TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, comm));
    }
}

MPI_Comm test_with_key(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Comm made;
    MPI_Info info;
    TEST_MPI(MPI_Info_create(&info));
    TEST_MPI(MPI_Info_set(info, key, value));
    TEST_MPI(MPI_Comm_dup_with_info(comm, info, &made));
    TEST_MPI(MPI_Info_free(&info));
    test_pass_first_calls(made);
    return made;
}

MPI_Comm test_pinned(MPI_Comm comm, const char *algorithm)
{
    return test_with_key(comm, "coll_strag_algorithm", algorithm);
}

uint64_t test_hash(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t lanes[4] = {bytes, 1, 2, 3}, word[4];
    for (; bytes >= sizeof(word); bytes -= sizeof(word), at += sizeof(word)) {
        memcpy(word, at, sizeof(word));
        for (int i = 0; i < 4; i++) {
            uint64_t mixed = (lanes[i] ^ word[i]) * 0x9fb21c651e98df25u;
            lanes[i] = mixed ^ (mixed >> 29);
        }
    }
    memset(word, 0, sizeof(word));
    memcpy(word, at, bytes);
    uint64_t hash = 0;
    for (int i = 0; i < 4; i++)
        hash = test_mix(hash ^ test_mix(lanes[i] ^ word[i]) ^ (uint64_t)i);
    return hash;
}
