/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans from files: what is written is read back as the same plans, operation by operation and wait
 * by wait, in both forms and through what is sent; its bounds are exact; every field is checked;
 * and of texts that were changed none makes it past reader and proof that does not add up when it
 * is carried out.
 */
#include "algorithms/table.h"
#include "executor.h"
#include "memory.h"
#include "plan/plan_file.h"
#include "plan/show.h"
#include "support.h"

#include "../../tools/compact.h"

#include <math.h>

/* ---- Writing ---- */

struct text {
    char *text;
    size_t length;
};

static struct text write_ranks(const struct strag_instance *instance, struct strag_ranks ranks,
                               bool compact)
{
    struct text text = {NULL, 0};
    struct strag_error err = {""};
    FILE *out = open_memstream(&text.text, &text.length);
    assert_non_null(out);
    int status = compact ? write_compact(out, instance, NULL, &err)
                         : strag_show_json(out, instance, ranks, NULL, &err);
    if (status != STRAG_OK)
        fail_msg("%s n=%d: %s", instance->shape.algorithm, instance->problem.n, err.text);
    assert_int_equal(fclose(out), 0);
    return text;
}

static struct text write_plan(const struct strag_instance *instance, bool compact)
{
    return write_ranks(instance, (struct strag_ranks){0, instance->problem.n}, compact);
}

static struct strag_given *parse(struct text text)
{
    struct strag_given *given = NULL;
    struct strag_error err = {""};
    if (strag_plan_file_parse(text.text, text.length, "FILE", NULL, &given, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return given;
}

/* ---- The same plans ---- */

static void same_bounds(const struct strag_bounds *a, const struct strag_bounds *b)
{
    assert_int_equal(a->blocks, b->blocks);
    assert_int_equal(!a->numerator, !b->numerator);
    if (!a->numerator)
        return;
    assert_true(a->denominator == b->denominator);
    assert_memory_equal(a->numerator, b->numerator, ((size_t)a->blocks + 1) * sizeof *a->numerator);
}

static void same_op(const struct strag_plan *a, const struct strag_plan *b, int op)
{
    int waits, same;
    const struct strag_op *x = &a->ops[op], *y = &b->ops[op];
    assert_int_equal(x->kind, y->kind);
    assert_int_equal(x->own_left, y->own_left);
    assert_int_equal(x->from_input, y->from_input);
    assert_int_equal(x->peer, y->peer);
    assert_int_equal(x->first, y->first);
    assert_int_equal(x->count, y->count);
    assert_int_equal(x->round, y->round);
    assert_string_equal(a->stages[x->stage], b->stages[y->stage]);
    const int32_t *after = strag_plan_after(a, op, &waits);
    const int32_t *again = strag_plan_after(b, op, &same);
    assert_int_equal(waits, same);
    assert_memory_equal(after, again, (size_t)waits * sizeof *after);
}

static void same_plan(const struct strag_instance *one, const struct strag_instance *other,
                      int rank)
{
    struct strag_plan *a, *b;
    assert_int_equal(strag_instance_plan(one, rank, &a, NULL), STRAG_OK);
    assert_int_equal(strag_instance_plan(other, rank, &b, NULL), STRAG_OK);
    assert_string_equal(a->algorithm, b->algorithm);
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->rounds, b->rounds);
    assert_int_equal(a->in_step, b->in_step);
    same_bounds(&a->bounds, &b->bounds);
    assert_int_equal(a->nops, b->nops);
    for (int op = 0; op < a->nops; op++)
        same_op(a, b, op);
    assert_int_equal(a->ncopies, b->ncopies);
    for (int c = 0; c < a->ncopies; c++) {
        assert_int_equal(a->copies[c].first, b->copies[c].first);
        assert_int_equal(a->copies[c].count, b->copies[c].count);
    }
    strag_plan_free(a);
    strag_plan_free(b);
}

/* @param rank  it alone; -1: all */
static void same_plans(const struct strag_instance *instance, const struct strag_given *given,
                       int rank)
{
    struct strag_instance again;
    struct strag_error err = {""};
    const struct strag_problem problem = {.n = instance->problem.n};
    if (strag_instance_open(&again, &given->row, &problem, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    for (int r = rank < 0 ? 0 : rank; r < (rank < 0 ? problem.n : rank + 1); r++)
        same_plan(instance, &again, r);
    strag_instance_close(&again);
}

static void same_measure(const struct strag_instance *instance, const struct strag_given *given)
{
    struct strag_measure a, b;
    struct strag_error err = {""};
    const struct strag_problem problem = {
        .n = instance->problem.n,
        .topology = instance->problem.topology,
        .state = instance->problem.state,
    };
    assert_int_equal(strag_verify(instance->algorithm, &problem, &a, NULL, &err), STRAG_OK);
    if (strag_given_prove(given, &strag_given_asked, NULL, &b, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(a.rounds, b.rounds);
    assert_int_equal(a.before, b.before);
    assert_int_equal(a.chain, b.chain);
    assert_true(a.sent_max == b.sent_max && a.sent_total == b.sent_total);
}

/* Through what is sent: each rank's part, and all. */
static void same_when_sent(const struct strag_instance *instance, const struct strag_given *given)
{
    void *bytes;
    size_t size;
    const int n = instance->problem.n;
    assert_int_equal(strag_given_pack(given, &bytes, &size), STRAG_OK);
    assert_int_equal(size % 8, 0);
    for (int rank = 0; rank < n; rank++) {
        struct strag_given *part = NULL;
        assert_int_equal(strag_given_unpack(bytes, size, rank, &part, NULL), STRAG_OK);
        same_plans(instance, part, rank);
        strag_given_free(part);
    }
    struct strag_given *none = NULL, *all = NULL;
    assert_int_equal(strag_given_unpack(bytes, size, -1, &all, NULL), STRAG_OK);
    for (int rank = 0; rank < n; rank++)
        same_plans(instance, all, rank);
    strag_given_free(all);
    assert_int_equal(strag_given_unpack(bytes, size - 8, 0, &none, NULL), STRAG_ERR_ARGUMENT);
    free(bytes);
}

/* Each is the smallest double that is not below the fraction; so floor(bound * count) is exact. */
static void exact_bounds(const struct strag_bounds *bounds, const char *text)
{
    const char *at = strstr(text, "\"bounds\":[") + strlen("\"bounds\":[");
    const double whole = bounds->numerator ? (double)bounds->denominator : bounds->blocks;
    for (int b = 0; b <= bounds->blocks; b++) {
        char *end;
        const double bound = strtod(at, &end), part = bounds->numerator ? bounds->numerator[b] : b;
        at = end + 1;
        assert_true(whole < 0x1p53 && fma(bound, whole, -part) >= 0);
        assert_true(b == 0 || fma(nextafter(bound, 0), whole, -part) < 0);
        for (size_t count = (size_t)(0x1p50 / whole) - 1; count; count /= 3)
            assert_true(floor(bound * (double)count) == strag_block_start(bounds, b, count));
    }
}

/* A rank alone has the same head, and the same text as among all. */
static void one_rank_alone(const struct strag_instance *instance, const char *all)
{
    const int rank = instance->problem.n / 2;
    struct text alone = write_ranks(instance, (struct strag_ranks){rank, rank + 1}, false);
    const size_t head = (size_t)(strstr(all, "\"ranks\":[") - all) + strlen("\"ranks\":[");
    assert_memory_equal(alone.text, all, head);
    assert_string_equal(alone.text + alone.length - 3, "]}\n");
    alone.text[alone.length - 3] = '\0';
    assert_non_null(strstr(all, alone.text + head));
    free(alone.text);
}

static void round_trip(const struct strag_instance *instance)
{
    for (int compact = 0; compact < 2; compact++) {
        struct text text = write_plan(instance, compact);
        struct strag_given *given = parse(text), *shorter = NULL;
        if (!compact) {
            exact_bounds(&instance->shape.bounds, text.text);
            one_rank_alone(instance, text.text);
        }
        struct strag_instance again;
        const struct strag_problem problem = {.n = instance->problem.n};
        same_plans(instance, given, -1);
        same_measure(instance, given);
        same_when_sent(instance, given);
        assert_int_equal(strag_instance_open(&again, &given->row, &problem, NULL), STRAG_OK);
        struct text second = write_plan(&again, compact);
        assert_string_equal(text.text, second.text);
        assert_int_equal(compact_plans(&again, NULL, &shorter, NULL), STRAG_OK);
        same_plans(instance, shorter, -1);
        strag_given_free(shorter);
        strag_instance_close(&again);
        strag_given_free(given);
        free(text.text);
        free(second.text);
    }
}

static int try_round_trip(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem)
{
    struct strag_instance instance;
    int status = strag_instance_open(&instance, algorithm, problem, NULL);
    if (status != STRAG_OK)
        return 0;
    round_trip(&instance);
    strag_instance_close(&instance);
    return 1;
}

/* All of them; where a test is to be short (under valgrind) one in some. */
TEST(algorithms_come_back)
{
    enum { PLANS = 510 };
    const long step = PLANS / support_cases(PLANS);
    long problems = 0;
    int tried = 0;
    for (int a = 0; strag_algorithms[a]; a++) {
        for (int n = 1; n <= 17; n++) {
            const struct strag_problem problem = support_problem(strag_algorithms[a], n);
            if (problems++ % step == 0)
                tried += try_round_trip(strag_algorithms[a], &problem);
        }
        static const int shapes[][2] = {{12, 3}, {10, 4}, {8, 8}};
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            struct strag_topology *topology;
            struct strag_problem problem = support_problem(strag_algorithms[a], shapes[s][0]);
            assert_int_equal(strag_topology_flat(shapes[s][0], shapes[s][1], &topology, NULL),
                             STRAG_OK);
            problem.topology = topology;
            tried += try_round_trip(strag_algorithms[a], &problem);
            strag_topology_free(topology);
        }
    }
    print_message("%d plans came back\n", tried);
    assert_true(step == 1 ? tried > 300 : tried > 5);
}

/* How short what repeats itself is. */
TEST(repetition_is_found)
{
    static const struct {
        const char *algorithm;
        int n;
        size_t most; /* bytes */
    } cases[] = {{"ring", 1024, 1000}, {"circulant", 100, 3000}, {"direct", 64, 1000}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const struct strag_problem problem = {.n = cases[c].n};
        struct strag_instance instance;
        assert_int_equal(
            strag_instance_open(&instance, support_algorithm(cases[c].algorithm), &problem, NULL),
            STRAG_OK);
        struct text text = write_plan(&instance, true);
        if (text.length > cases[c].most)
            fail_msg("%s n=%d: %zu bytes", cases[c].algorithm, cases[c].n, text.length);
        struct strag_given *given = parse(text);
        same_plans(&instance, given, cases[c].n / 3);
        strag_given_free(given);
        free(text.text);
        strag_instance_close(&instance);
    }
}

/* ---- Refusals ---- */

#define HEAD     "{\"strag-plan\":1,\"algorithm\":\"a\",\"n\":2,\"blocks\":2,"
#define OPS(ops) HEAD "\"ranks\":[{\"rank\":0,\"ops\":[" ops "]},{\"rank\":1,\"ops\":[]}]}"
#define SEND     "{\"kind\":\"send\",\"peer\":1,\"first\":0,\"count\":1,\"round\":0}"
#define GROUP(x) HEAD "\"groups\":[{\"ranks\":[0,2],\"ops\":[" x "]}]}"

static const struct {
    const char *text, *why;
} refusals[] = {
    {"", "FILE:1: no JSON: "},
    {"[1", "FILE:1: no JSON: "},
    {"{\"strag-plan\":1,\"strag-plan\":1}", "FILE:1: no JSON: duplicate object key"},
    {"[]", "FILE: an object, {...}, is accepted"},
    {"{}", "FILE: strag-plan: is missing; 1 is accepted"},
    {"{\"strag-plan\":2}", "FILE: strag-plan: 1 is accepted"},
    {"{\"strag-plan\":1,\"n\":0}", "FILE: n: an integer from 1 to 65536 is accepted"},
    {"{\"strag-plan\":1,\"n\":2,\"blocks\":1}", "FILE: algorithm: is missing; a name of 1 to 31"},
    {HEAD "\"bloks\":1}", "FILE: no key 'bloks' (nearest: blocks); accepted: strag-plan, comment,"},
    {HEAD "\"comment\":1}", "FILE: comment: a text is accepted"},
    {HEAD "\"claim\":{\"chain\":-1}}", "FILE: claim.chain: an integer from 0 to 1048576"},
    {HEAD "\"claim\":{\"straggler\":0}}", "FILE: claim.before: is missing; an integer from 0"},
    {HEAD "\"claim\":{\"in_step\":1}}", "FILE: claim.in_step: true or false is accepted"},
    {HEAD "\"denominator\":4}", "FILE: numerators: is missing; a list"},
    {HEAD "\"denominator\":4,\"numerators\":[0,4]}", "FILE: numerators: 2 numbers; 3, one more"},
    {HEAD "\"bounds\":[0,0.25,1]}", "FILE: bounds: the one at 1 is not 0.5"},
    {HEAD "\"ranks\":[],\"groups\":[]}", "FILE: groups: either 'ranks' or 'groups'"},
    {HEAD "\"x\":1}", "FILE: no key 'x' (nearest: n)"},
    {HEAD "\"ranks\":[]}", "FILE: ranks: 0 of them; 1 to 2 are accepted"},
    {HEAD "\"ranks\":[{\"rank\":0,\"ops\":[]}]}", "FILE: rank 1 is missing; all ranks from 0 to 1"},
    {HEAD "\"ranks\":[{\"rank\":0,\"ops\":[]},{\"rank\":0,\"ops\":[]}]}",
     "FILE: rank 0 is there twice"},
    {HEAD "\"denominator\":4,\"numerators\":[0,5,4],\"ranks\":[]}", "FILE: numerators: an integer"},
    {HEAD "\"denominator\":4,\"numerators\":[0,3,3],\"groups\":[{\"ranks\":[0,2],\"ops\":[]}]}",
     "FILE: numerators begin with 0 and end with the denominator"},
    {OPS("{\"kind\":\"sent\"}"),
     "FILE: ranks[0].ops[0].kind: send, recv or recv_reduce is accepted"},
    {OPS("{\"kind\":\"recv_hold\",\"peer\":1,\"first\":0,\"count\":1,\"round\":0}"),
     "FILE: ranks[0].ops[0].kind: send, recv or recv_reduce is accepted"},
    {OPS("{\"kind\":\"recv_join\",\"peer\":1,\"first\":0,\"count\":1,\"round\":0}"),
     "FILE: ranks[0].ops[0].kind: send, recv or recv_reduce is accepted"},
    {OPS("{\"kind\":\"send\",\"count\":3}"), "FILE: ranks[0].ops[0].count: an integer from 1 to 2"},
    {OPS("{\"kind\":\"send\",\"count\":1,\"own_left\":true}"),
     "FILE: ranks[0].ops[0].own_left: only recv_reduce has operands"},
    {OPS("{\"id\":1,\"kind\":\"send\"}"), "FILE: ranks[0].ops[0].id: 0 is accepted"},
    {OPS("{\"kind\":\"send\",\"peer\":2,\"first\":0,\"count\":1,\"round\":0}"),
     "FILE: ranks[0].ops[0].peer: an integer from 0 to 1 is accepted"},
    {OPS("{\"kind\":\"send\",\"peer\":0,\"first\":0,\"count\":1,\"round\":0}"),
     "FILE: rank 0, operation 0 (send, peer 0, block 0): the peer is the rank itself"},
    {OPS("{\"kind\":\"send\",\"peer\":1,\"first\":1,\"count\":2,\"round\":0}"),
     "FILE: ranks[0].ops[0].first: 0 is accepted"},
    {OPS("{\"kind\":\"send\",\"peer\":1,\"first\":0,\"count\":1,\"round\":-1}"),
     "FILE: ranks[0].ops[0].round: an integer from 0 to 1048575"},
    {OPS("{\"kind\":\"send\",\"peer\":1,\"first\":0,\"count\":1,\"round\":1}," SEND),
     "FILE: rank 0, operation 1 (send, peer 1, block 0): a round before that of"},
    {OPS("{\"kind\":\"send\",\"peer\":1,\"first\":0,\"count\":1,\"round\":0,\"stage\":\"\\\"\"}"),
     "FILE: ranks[0].ops[0].stage: a name of 1 to 31 letters"},
    {GROUP("{\"kind\":\"send\",\"count\":1,\"peer\":[1],\"first\":0,\"round\":0}"),
     "FILE: groups[0].ops[0].peer: an integer, or a list of 2 or 3"},
    {GROUP("{\"repeat\":2,\"ops\":[{\"repeat\":2,\"ops\":[]}]}"),
     "FILE: groups[0].ops[0].ops[0]: no key 'repeat' (nearest: peer); accepted: kind, peer"},
    {GROUP("{\"repeat\":1073741824,\"ops\":[]}"),
     "FILE: groups[0].ops[0].ops: at least one operation is repeated"},
    {GROUP("{\"repeat\":0,\"ops\":[]}"), "FILE: groups[0].ops[0].repeat: an integer from 1 to"},
    {GROUP("{\"repeat\":1000000000,\"ops\":[{\"kind\":\"send\",\"count\":1,\"peer\":[1,1],"
           "\"first\":0,\"round\":0}]}"),
     "FILE: operations of all ranks: at most 67108864 are accepted"},
    {GROUP("{\"repeat\":1000000,\"ops\":[{\"kind\":\"send\",\"count\":1,\"peer\":[1,1],"
           "\"first\":0,\"round\":[0,0,2]}]}"),
     "FILE: rank 0, operation 524288 (send, peer 1, block 0): a round out of range"},
    {HEAD "\"groups\":[{\"ranks\":[0,2,2],\"ops\":[]}]}", "FILE: group 0: ranks from 0, 2 of them"},
    {"{\"strag-plan\":1,\"algorithm\":\"a\",\"n\":65536,\"blocks\":4096,\"groups\":[{\"ranks\":"
     "[0,65536],\"ops\":[]}]}",
     "FILE: ranks times blocks: at most 134217728 are accepted"},
};

TEST(mistakes_are_named)
{
    for (size_t r = 0; r < sizeof refusals / sizeof *refusals; r++) {
        struct strag_given *given = NULL;
        struct strag_error err = {""};
        const char *text = refusals[r].text;
        int status = strag_plan_file_parse(text, strlen(text), "FILE", NULL, &given, &err);
        if (status != STRAG_ERR_ARGUMENT ||
            strncmp(err.text, refusals[r].why, strlen(refusals[r].why)) != 0)
            fail_msg("%s\n    %d: %s\n    expected: %s", text, status, err.text, refusals[r].why);
        assert_null(given);
    }
}

/* ---- Made by calls ---- */

static struct strag_given *begin_given(int blocks)
{
    struct strag_given *given = strag_given_create();
    assert_non_null(given);
    struct strag_given_head *head = &given->head;
    strcpy(head->name, "made");
    head->n = 2;
    head->blocks = blocks;
    assert_int_equal(strag_given_stage(given, "plan"), 0);
    return given;
}

/* A loop of operations of one block, turn after turn with the next block or two rounds later. */
static void add_op(struct strag_given *given, enum strag_kind kind, int peer, int next_block,
                   int round, int rounds)
{
    const struct strag_given_op op = {
        .kind = (uint8_t)kind,
        .own_left = kind == STRAG_RECV_REDUCE && peer == 1,
        .count = 1,
        .peer = {.start = peer},
        .first = {.turn = next_block},
        .round = {.start = round, .turn = rounds},
    };
    assert_true(strag_given_add_op(given, &op));
}

static void close_given(struct strag_given *given)
{
    struct strag_error err;
    if (strag_given_close(given, NULL, &err) != STRAG_OK)
        fail_msg("%s", err.text);
}

TEST(empty_loops_are_refused)
{
    struct strag_error err;
    struct strag_given *given = begin_given(1);
    assert_true(strag_given_add_group(given, 0, 2, 1));
    assert_true(strag_given_add_loop(given, 1 << 30));
    assert_int_equal(strag_given_close(given, NULL, &err), STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, "group 0: a loop without operations");
    strag_given_free(given);
}

/* However many operations are in a round, each is examined a few times only. */
TEST(long_rounds_are_proved)
{
    enum { BLOCKS = 50000 };
    struct strag_measure measure;
    struct strag_error err;
    struct strag_given *given = begin_given(BLOCKS);
    for (int rank = 0; rank < 2; rank++) {
        assert_true(strag_given_add_group(given, rank, 1, 1));
        for (int receives = 0; receives < 2; receives++) {
            assert_true(strag_given_add_loop(given, BLOCKS));
            add_op(given, receives ? STRAG_RECV_REDUCE : STRAG_SEND, 1 - rank, 1, 0, 0);
        }
    }
    close_given(given);
    if (strag_given_prove(given, &strag_given_asked, NULL, &measure, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(measure.rounds, 1);
    assert_int_equal(measure.chain, 1);
    strag_given_free(given);
}

/* The sum goes to and fro: a chain of more messages than 16 bits count. */
TEST(long_chains_are_counted)
{
    enum { TURNS = 35000 };
    struct strag_measure measure;
    struct strag_error err;
    struct strag_given *given = begin_given(1);
    for (int rank = 0; rank < 2; rank++) {
        assert_true(strag_given_add_group(given, rank, 1, 1));
        assert_true(strag_given_add_loop(given, 1));
        add_op(given, rank ? STRAG_SEND : STRAG_RECV_REDUCE, 1 - rank, 0, 0, 0);
        assert_true(strag_given_add_loop(given, TURNS));
        add_op(given, rank ? STRAG_RECV : STRAG_SEND, 1 - rank, 0, 1, 2);
        add_op(given, rank ? STRAG_SEND : STRAG_RECV, 1 - rank, 0, 2, 2);
    }
    given->head.chain = UINT16_MAX;
    close_given(given);
    assert_int_equal(strag_given_prove(given, &strag_given_asked, NULL, &measure, &err),
                     STRAG_ERR_FALSE);
    assert_string_equal(err.text,
                        "made n=2: 70001 messages need one another in a row; it claims 65535");
    given->head.chain = 2 * TURNS + 1;
    assert_int_equal(strag_given_prove(given, &strag_given_asked, NULL, &measure, &err), STRAG_OK);
    assert_int_equal(measure.chain, 2 * TURNS + 1);
    strag_given_free(given);
}

/* ---- Without memory ---- */

/* Read, make compact, and send. */
static int read_and_send(struct text text, struct strag_given **given, struct strag_error *err)
{
    struct strag_given *read = NULL, *compact = NULL;
    struct strag_instance instance;
    void *bytes = NULL;
    size_t size;
    int status = strag_plan_file_parse(text.text, text.length, "FILE", NULL, &read, err);
    if (status != STRAG_OK)
        return status;
    const struct strag_problem problem = {.n = read->head.n};
    status = strag_instance_open(&instance, &read->row, &problem, err);
    if (status == STRAG_OK) {
        status = compact_plans(&instance, NULL, &compact, err);
        strag_instance_close(&instance);
    }
    if (status == STRAG_OK) {
        status = strag_given_pack(compact, &bytes, &size);
        snprintf(err->text, sizeof err->text, "out of memory");
    }
    if (status == STRAG_OK)
        status = strag_given_unpack(bytes, size, 1, given, err);
    free(bytes);
    strag_given_free(compact);
    strag_given_free(read);
    return status;
}

TEST(out_of_memory)
{
    const struct strag_problem problem = {.n = 3};
    struct strag_instance instance;
    assert_int_equal(strag_instance_open(&instance, support_algorithm("weighted"), &problem, NULL),
                     STRAG_OK);
    for (int compact = 0; compact < 2; compact++) {
        struct text text = write_plan(&instance, compact);
        const long step = support_is_short() ? 5 : 1;
        long fail_at = 1;
        for (bool failed = true; failed; fail_at += step) {
            struct strag_given *given = NULL;
            struct strag_error err = {""};
            memory_watch(fail_at);
            int status = read_and_send(text, &given, &err);
            bool made = given != NULL;
            strag_given_free(given);
            struct memory_report report = memory_unwatch();
            failed = report.failed;
            assert_int_equal(report.live, 0);
            /* jansson does not always tell it from a mistake in the text */
            const bool no_json = status == STRAG_ERR_ARGUMENT && strstr(err.text, ": no JSON: ");
            if (!no_json)
                assert_int_equal(status, failed ? STRAG_ERR_MEMORY : STRAG_OK);
            assert_true(!no_json || failed);
            assert_int_equal(made, !failed);
            assert_true(!failed || no_json || strstr(err.text, "out of memory"));
        }
        assert_true(fail_at > 20);
        free(text.text);
    }
    strag_instance_close(&instance);
}

/* ---- Changed texts ---- */

enum { LONGEST = 1 << 16 };

/* The part [from, to) of a text becomes something else. */
static void replace(char *text, size_t from, size_t to, const char *by)
{
    const size_t length = strlen(by), rest = strlen(text + to) + 1;
    if (from + length + rest > LONGEST)
        return;
    memmove(text + from + length, text + to, rest);
    for (size_t i = 0; i < length; i++)
        text[from + i] = by[i];
}

/* A random place where a text begins that has one of these letters first. */
static size_t find_any(const char *text, const char *letters, struct rng *rng)
{
    const size_t length = strlen(text), from = rng_below(rng, (unsigned)length + 1);
    size_t at = from + strcspn(text + from, letters);
    return at < length ? at : strcspn(text, letters);
}

static void change_number(char *text, struct rng *rng)
{
    static const char *const far_away[] = {"-1", "2147483647", "4294967296", "0.5", "1e3", "[0,1]"};
    char number[32];
    const size_t at = find_any(text, "0123456789", rng);
    const size_t end = at + strspn(text + at, "0123456789");
    const int near = atoi(text + at) - 2 + (int)rng_below(rng, 5);
    snprintf(number, sizeof number, "%d", near);
    replace(text, at, end, rng_one_in(rng, 5) ? far_away[rng_below(rng, 6)] : number);
}

static void change_word(char *text, struct rng *rng)
{
    static const char *const words[] = {"send",   "recv", "recv_reduce", "peer",
                                        "first",  "true", "round",       "own_left",
                                        "repeat", "ops",  "count",       "rank"};
    const size_t at = find_any(text, "abcdefghijklmnopqrstuvwxyz", rng);
    replace(text, at, at + strspn(text + at, "abcdefghijklmnopqrstuvwxyz_"),
            words[rng_below(rng, sizeof words / sizeof *words)]);
}

/* A line goes, or comes twice. */
static void change_line(char *text, struct rng *rng)
{
    char line[512] = "";
    const size_t at = find_any(text, "\n", rng);
    const size_t end = text[at] ? at + 1 + strcspn(text + at + 1, "\n") : at;
    if (rng_one_in(rng, 2) && end - at < sizeof line)
        snprintf(line, sizeof line, "%.*s", (int)(end - at), text + at);
    replace(text, at, line[0] ? at : end, line);
}

static void change_bit(char *text, struct rng *rng)
{
    const size_t at = rng_below(rng, (unsigned)strlen(text));
    text[at] = (char)(text[at] ^ 1 << rng_below(rng, 7));
}

/* ,"after":[..] of all operations: then waits follow from the rest, and more is left to the proof.
 */
static void drop_waits(char *text)
{
    char *wait;
    while ((wait = strstr(text, ",\"after\":["))) {
        const size_t at = (size_t)(wait - text);
        replace(text, at, at + strcspn(wait, "]") + 1, "");
    }
}

struct tally {
    long refused, disproved, proved;
};

/* Reader and proof say what it is; what they let pass adds up. */
static void judge(const char *text, struct tally *tally, struct rng *rng)
{
    struct strag_given *given = NULL;
    struct strag_error err = {""};
    int status = strag_plan_file_parse(text, strlen(text), "FILE", NULL, &given, &err);
    if (status != STRAG_OK) {
        assert_int_equal(status, STRAG_ERR_ARGUMENT);
        assert_int_equal(strncmp(err.text, "FILE:", 5), 0);
        assert_null(strchr(err.text, '\n'));
        tally->refused++;
        return;
    }
    if (given->operations > 4096) { /* a large number by chance: read, that is enough */
        strag_given_free(given);
        return;
    }
    const int n = given->head.n;
    status = strag_given_prove(given, &strag_given_asked, NULL, NULL, &err);
    if (status == STRAG_ERR_FALSE) {
        assert_true(strlen(err.text) > 10);
        tally->disproved++;
    } else {
        const struct strag_problem problem = {.n = n};
        struct strag_plan **plans = calloc((size_t)n, sizeof *plans);
        assert_non_null(plans);
        assert_int_equal(status, STRAG_OK);
        assert_int_equal(support_create_all(&given->row, &problem, plans, NULL), STRAG_OK);
        if (execute_often(plans, n, 8, rng) != OUTCOME_SUM)
            fail_msg("proved, and wrong: %s", text);
        support_plans_free(plans, n);
        tally->proved++;
    }
    strag_given_free(given);
}

TEST(changed_texts_are_refused_or_right)
{
    static void (*const changes[])(char *text, struct rng *rng) = {
        change_number, change_number, change_word, change_line, change_bit};
    static char text[LONGEST + 1];
    struct rng rng = {support_seed("test_plan_file")};
    struct tally tally = {0, 0, 0};
    long cases = support_cases(2000), tried = 0;
    while (tried < cases) {
        int a = 0, n = 2 + (int)rng_below(&rng, 8);
        while (strag_algorithms[a + 1] && !rng_one_in(&rng, 8))
            a++;
        struct strag_instance instance;
        const struct strag_problem problem = support_problem(strag_algorithms[a], n);
        if (strag_instance_open(&instance, strag_algorithms[a], &problem, NULL) != STRAG_OK)
            continue;
        struct text written = write_plan(&instance, rng_one_in(&rng, 2));
        strag_instance_close(&instance);
        for (int i = 0; i < 20 && written.length < LONGEST / 2 && tried < cases; i++, tried++) {
            memcpy(text, written.text, written.length + 1);
            if (i % 2)
                drop_waits(text);
            for (unsigned more = 1 + rng_below(&rng, 2); more; more--)
                changes[rng_below(&rng, sizeof changes / sizeof *changes)](text, &rng);
            judge(text, &tally, &rng);
        }
        free(written.text);
    }
    print_message("%ld changed texts: %ld refused by the reader, %ld by the proof, %ld proved\n",
                  cases, tally.refused, tally.disproved, tally.proved);
    assert_true(cases < 1000 || (tally.refused && tally.disproved && tally.proved));
}
