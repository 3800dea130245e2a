/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every function of the installed strag.h, what it returns and what it refuses. The plans of all
 * ranks are run here one operation after another, with messages in a queue for each pair.
 */
#include <strag.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 6, COUNT = 29, WAITING_MAX = 64 };

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("FAIL: line %d: %s\n", __LINE__, #condition);                                   \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

#define REFUSED(status, call, words)                                                               \
    do {                                                                                           \
        strcpy(err.text, "");                                                                      \
        CHECK((call) == (status));                                                                 \
        CHECK(strstr(err.text, words));                                                            \
    } while (0)

static struct strag_error err;

/* ---- Running plans ---- */

struct message {
    long value[COUNT];
    int first, end;
};

static struct {
    struct message waiting[WAITING_MAX];
    int head, tail;
} queue[RANKS][RANKS];

struct runner {
    struct strag_plan *plan;
    long value[COUNT];
    int next;
};

/* @return whether the next operation could be done */
static bool step(struct runner *runners, int rank)
{
    struct runner *runner = &runners[rank];
    struct strag_operation op;
    if (!strag_plan_operation(runner->plan, runner->next, &op))
        return false;
    const int first = (int)strag_plan_block_start(runner->plan, op.first, COUNT);
    const int end = (int)strag_plan_block_start(runner->plan, op.first + op.count, COUNT);
    if (op.kind == STRAG_SEND) {
        struct message *message = &queue[rank][op.peer].waiting[queue[rank][op.peer].tail++];
        message->first = first;
        message->end = end;
        memcpy(message->value, runner->value, sizeof message->value);
    } else {
        if (queue[op.peer][rank].head == queue[op.peer][rank].tail)
            return false;
        const struct message *message = &queue[op.peer][rank].waiting[queue[op.peer][rank].head++];
        CHECK(message->first == first && message->end == end);
        for (int i = first; i < end; i++)
            runner->value[i] =
                message->value[i] + (op.kind == STRAG_RECV_REDUCE ? runner->value[i] : 0);
    }
    runner->next++;
    return true;
}

static void run_plans(const struct strag_allreduce *allreduce, const char *algorithm)
{
    struct runner runners[RANKS];
    bool moved = true;
    memset(queue, 0, sizeof queue);
    for (int rank = 0; rank < RANKS; rank++) {
        runners[rank].next = 0;
        CHECK(strag_allreduce_plan(allreduce, algorithm, rank, &runners[rank].plan, &err) == 0);
        for (int i = 0; i < COUNT; i++)
            runners[rank].value[i] = (rank + 1) * 100 + i;
    }
    while (moved) {
        moved = false;
        for (int rank = 0; rank < RANKS; rank++)
            moved |= step(runners, rank);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        CHECK(runners[rank].next == strag_plan_operations(runners[rank].plan));
        for (int i = 0; i < COUNT; i++)
            CHECK(runners[rank].value[i] == 2100 + RANKS * i);
        strag_plan_free(runners[rank].plan);
    }
}

/* ---- What there is ---- */

static void check_algorithms(void)
{
    int count = 0;
    while (strag_algorithm_name(count))
        CHECK(strag_algorithm_summary(strag_algorithm_name(count++)) != NULL);
    CHECK(count >= 23);
    CHECK(strcmp(strag_algorithm_name(0), "recursive-doubling") == 0);
    CHECK(!strag_algorithm_name(-1) && !strag_algorithm_summary("rign"));
    CHECK(strcmp(strag_status_text(STRAG_ERR_MEMORY), "out of memory") == 0);
}

static void check_layouts(void)
{
    static const char text[] = "SwitchName=s Nodes=a,b,c\n";
    const int host_of[4] = {2, 0, 2, 0}, wrong[1] = {3};
    struct strag_layout *layout;
    struct strag_topology *topology;
    CHECK(strag_layout_parse(text, sizeof text - 1, "here", &layout, &err) == 0);
    CHECK(strag_layout_hosts(layout) == 3 && strcmp(strag_layout_host(layout, 1), "b") == 0);
    CHECK(!strag_layout_host(layout, 3));
    CHECK(strag_layout_place(layout, host_of, 4, &topology, &err) == 0);
    CHECK(strag_topology_ranks(topology) == 4 && strag_topology_hosts(topology) == 2);
    CHECK(strcmp(strag_topology_host(topology, 2), "c") == 0);
    CHECK(strcmp(strag_topology_host(topology, 3), "a") == 0);
    CHECK(!strag_topology_host(topology, 4));
    strag_topology_free(topology);
    REFUSED(STRAG_ERR_ARGUMENT, strag_layout_place(layout, wrong, 1, &topology, &err), "0 to 2");
    strag_layout_free(layout);
    REFUSED(STRAG_ERR_ARGUMENT, strag_layout_parse("x", 1, "here", &layout, &err), "here:1: ");
    REFUSED(STRAG_ERR_IO, strag_layout_read("/nowhere", &layout, &err), "/nowhere");
    REFUSED(STRAG_ERR_ARGUMENT, strag_layout_describe("cube", "2", &layout, &err), "torus, mesh");
    static const char *const kinds[][3] = {{"torus", "2x3", "6"},
                                           {"mesh", "2x3", "6"},
                                           {"hyperx", "2x2", "4"},
                                           {"hammingmesh", "2x2:2x1", "8"},
                                           {"tree", "((2,3),(4))", "3"}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        CHECK(strag_layout_describe(kinds[k][0], kinds[k][1], &layout, &err) == 0);
        CHECK(strag_layout_hosts(layout) == atoi(kinds[k][2]));
        strag_layout_free(layout);
    }
}

/* ---- What is planned ---- */

static double seconds_of(const struct strag_allreduce *allreduce, const char *algorithm)
{
    const size_t bytes = 1000000;
    double seconds = -1;
    CHECK(strag_allreduce_seconds(allreduce, algorithm, &bytes, 1, &seconds, &err) == 0);
    return seconds;
}

static void check_refusals(struct strag_allreduce *allreduce)
{
    struct strag_plan *plan;
    struct strag_topology *topology;
    struct strag_allreduce *none;
    REFUSED(STRAG_ERR_ARGUMENT, strag_allreduce_create(0, NULL, &none, &err), "at least 1");
    CHECK(strag_topology_flat(4, 2, &topology, &err) == 0);
    REFUSED(STRAG_ERR_ARGUMENT, strag_allreduce_create(5, topology, &none, &err), "4 ranks");
    strag_topology_free(topology);
    REFUSED(STRAG_ERR_ARGUMENT, strag_allreduce_plan(allreduce, "rign", 0, &plan, &err), "ring");
    REFUSED(STRAG_ERR_ARGUMENT, strag_allreduce_plan(allreduce, "ring", RANKS, &plan, &err),
            "0 to 5");
    REFUSED(STRAG_ERR_UNSUPPORTED, strag_allreduce_plan(allreduce, "stragglar", 0, &plan, &err),
            "late");
    REFUSED(STRAG_ERR_ARGUMENT, strag_allreduce_set_blocks(allreduce, -1, &err), "blocks");
    REFUSED(STRAG_ERR_ARGUMENT, strag_allreduce_set_ports(allreduce, -1, &err), "ports");
    REFUSED(STRAG_ERR_ARGUMENT, strag_allreduce_set_straggler(allreduce, 6, 0, &err), "0 to 5");
    REFUSED(STRAG_ERR_ARGUMENT, strag_allreduce_set_straggler(allreduce, 0, NAN, &err), "delay");
    REFUSED(STRAG_ERR_ARGUMENT, strag_allreduce_set_slow(allreduce, 0, 0.5, &err), "at least 1");
    REFUSED(STRAG_ERR_ARGUMENT, strag_allreduce_set_number(allreduce, "beta", 1, &err), "beta");
    REFUSED(STRAG_ERR_ARGUMENT, strag_allreduce_set_number(allreduce, "bandwidth", 0, &err),
            "Gbit/s");
    /* A reason need not be asked for. */
    CHECK(strag_allreduce_set_ports(allreduce, -1, NULL) == STRAG_ERR_ARGUMENT);
}

static void check_numbers(struct strag_allreduce *allreduce)
{
    /* 10 messages in a row of 1 us each, 10/6 of 1 MB at 8 Gbit/s, reduced for free. */
    CHECK(strag_allreduce_set_number(allreduce, "reduce-bandwidth", 0, &err) == 0);
    CHECK(strag_allreduce_set_number(allreduce, "bandwidth", 8, &err) == 0);
    CHECK(fabs(seconds_of(allreduce, "ring") - (10e-6 + 1e-3 * 10 / 6)) < 1e-9);
    CHECK(strag_allreduce_set_slow(allreduce, 2, 3, &err) == 0);
    CHECK(fabs(seconds_of(allreduce, "ring") - (10e-6 + 3e-3 * 10 / 6)) < 1e-9);
    CHECK(strag_allreduce_set_straggler(allreduce, 1, 0.5, &err) == 0);
    CHECK(seconds_of(allreduce, "ring") > 0.5);
    CHECK(strag_allreduce_verify(allreduce, "straggler-pipeline", NULL, &err) == 0);
    CHECK(strag_allreduce_set_straggler(allreduce, -1, 0, &err) == 0);
    CHECK(seconds_of(allreduce, "ring") < 0.1);
}

static void check_plan(const struct strag_allreduce *allreduce)
{
    struct strag_plan *plan;
    struct strag_operation op;
    int length;
    CHECK(strag_allreduce_plan(allreduce, "ring", 0, &plan, &err) == 0);
    CHECK(strag_plan_rounds(plan) == 10 && strag_plan_blocks(plan) == 6);
    CHECK(strag_plan_operations(plan) == 20);
    CHECK(strag_plan_operation(plan, 0, &op) && op.round == 0 && op.count == 1);
    CHECK(strcmp(op.stage, "reduce-scatter") == 0);
    CHECK(!strag_plan_operation(plan, 20, &op) && !strag_plan_operation(plan, -1, &op));
    CHECK(strag_plan_waits(plan, 0, &length) && length == 0);
    const int32_t *waits = strag_plan_waits(plan, 19, &length);
    CHECK(waits && length >= 1 && waits[0] < 19);
    CHECK(!strag_plan_waits(plan, 20, &length));
    CHECK(strag_plan_block_start(plan, 6, COUNT) == COUNT);
    strag_plan_free(plan);
}

static void check_shown(const struct strag_allreduce *allreduce)
{
    static const char *const begins[] = {
        [STRAG_FORMAT_TEXT] = "ring n=6", [STRAG_FORMAT_JSON] = "{\"strag-plan\":1,"};
    for (int format = STRAG_FORMAT_TEXT; format <= STRAG_FORMAT_JSON; format++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        if (!out)
            exit(1);
        CHECK(strag_allreduce_show(allreduce, "ring", (enum strag_format)format, out, &err) == 0);
        fclose(out);
        CHECK(strncmp(text, begins[format], strlen(begins[format])) == 0);
        free(text);
    }
    REFUSED(STRAG_ERR_ARGUMENT,
            strag_allreduce_show(allreduce, "ring", (enum strag_format)9, stdout, &err), "9");
}

/* Written, read and proved, a plan has the same operations; what is not there or wrong is refused.
 */
static void check_given(const struct strag_allreduce *allreduce, const char *folder)
{
    char name[4096];
    struct strag_given *given = NULL;
    struct strag_plan *plan, *read;
    struct strag_verified verified = {0};
    snprintf(name, sizeof name, "%s/ring.json", folder);
    REFUSED(STRAG_ERR_IO, strag_plan_file_read(name, &given, &err), "ring.json");
    FILE *file = fopen(name, "w");
    if (!file)
        exit(1);
    CHECK(strag_allreduce_show(allreduce, "ring", STRAG_FORMAT_JSON, file, &err) == 0);
    CHECK(fclose(file) == 0);
    CHECK(strag_plan_file_read(name, &given, &err) == 0);
    CHECK(strag_given_ranks(given) == RANKS);
    CHECK(strag_given_verify(given, &verified, &err) == 0 && verified.rounds == 10);
    REFUSED(STRAG_ERR_ARGUMENT, strag_given_plan(given, RANKS, &read, &err), "rank");
    CHECK(strag_given_plan(given, 1, &read, &err) == 0);
    CHECK(strag_allreduce_plan(allreduce, "ring", 1, &plan, &err) == 0);
    CHECK(strag_plan_operations(read) == strag_plan_operations(plan));
    for (int i = 0; i < strag_plan_operations(plan); i++) {
        struct strag_operation a, b;
        CHECK(strag_plan_operation(plan, i, &a) && strag_plan_operation(read, i, &b));
        CHECK(a.kind == b.kind && a.peer == b.peer && a.first == b.first && a.count == b.count &&
              a.round == b.round && a.own_left == b.own_left);
    }
    strag_plan_free(plan);
    strag_plan_free(read);
    strag_given_free(given);
    strag_given_free(NULL);
}

int main(int argc, char **argv)
{
    struct strag_allreduce *allreduce;
    struct strag_selected selected[STRAG_SELECTED_MAX];
    struct strag_verified verified;
    int count = 0;
    printf("libstrag %s\n", strag_version());
    check_algorithms();
    check_layouts();
    CHECK(strag_allreduce_create(RANKS, NULL, &allreduce, &err) == 0);
    check_refusals(allreduce);
    CHECK(strag_allreduce_verify(allreduce, "ring", &verified, &err) == 0);
    CHECK(verified.rounds == 10 && verified.blocks == 6);
    CHECK(fabs(verified.sent_max - 10.0 / 6) < 1e-12 && fabs(verified.sent_total - 10) < 1e-12);
    check_plan(allreduce);
    check_shown(allreduce);
    check_given(allreduce, argc > 1 ? argv[1] : ".");
    CHECK(strag_allreduce_select(allreduce, selected, &count, &err) == 0);
    CHECK(count >= 2 && selected[0].from == 0 && selected[1].from > 0);
    for (int e = 0; e < count; e++)
        run_plans(allreduce, selected[e].algorithm);
    run_plans(allreduce, "ring");
    check_numbers(allreduce);
    strag_allreduce_free(allreduce);
    return failures ? 1 : 0;
}
