/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Proofs of user plans: if one rank stands for all, the verdict is that of all ranks together,
 * also of plans that were changed at random; what a proof may take is kept; and what FILE.proof
 * says is taken for a proof of just that file.
 */
#include "memory.h"
#include "plan/given.h"
#include "plan/plan_proof.h"
#include "support.h"

#include "../../tools/compact.h"

#include <unistd.h>

/* ---- Plans in which all ranks do the same, turned ---- */

/* Chunk c of the n begins at block shift * c; a rank's operations are in terms of chunks. */
struct made {
    int n, chunk, shift; /* chunk: blocks */
    struct strag_given_op op[64];
    int loop_end[16], times[16];
    int ops, loops;
};

static void add(struct made *made, enum strag_kind kind, int peer, int chunk, int next_chunk,
                int round, int next_round)
{
    made->op[made->ops++] = (struct strag_given_op){
        .kind = (uint8_t)kind,
        .count = made->chunk,
        .peer = {peer, 1, 0},
        .first = {made->shift * chunk, made->shift, made->shift * next_chunk},
        .round = {round, 0, next_round},
    };
}

static void end_loop(struct made *made, int times)
{
    made->times[made->loops] = times;
    made->loop_end[made->loops++] = made->ops;
}

/* A ring of steps of `step` ranks. */
static void make_ring(struct made *made, int step)
{
    const int n = made->n;
    add(made, STRAG_SEND, step, 0, -step, 0, 1);
    add(made, STRAG_RECV_REDUCE, -step, -step, -step, 0, 1);
    end_loop(made, n - 1);
    add(made, STRAG_SEND, step, step, -step, n - 1, 1);
    add(made, STRAG_RECV, -step, 0, -step, n - 1, 1);
    end_loop(made, n - 1);
}

/* Everybody sends everybody's chunk to it, and later its own to everybody. */
static void make_direct(struct made *made)
{
    for (int far = 1; far < made->n; far++) {
        add(made, STRAG_SEND, far, far, 0, far - 1, 0);
        add(made, STRAG_RECV_REDUCE, -far, 0, 0, far - 1, 0);
        end_loop(made, 1);
    }
    for (int far = 1; far < made->n; far++) {
        add(made, STRAG_SEND, far, 0, 0, made->n + far - 2, 0);
        add(made, STRAG_RECV, -far, -far, 0, made->n + far - 2, 0);
        end_loop(made, 1);
    }
}

/* Of each chunk two ranks add up all values, in different orders, so that their bits differ. */
static void make_two_sums(struct made *made)
{
    add(made, STRAG_SEND, 1, 0, 0, 0, 0);
    add(made, STRAG_SEND, -1, -1, 0, 0, 0);
    add(made, STRAG_RECV_REDUCE, -1, -1, 0, 0, 0); /* 0 + 1 */
    add(made, STRAG_RECV_REDUCE, 1, 0, 0, 0, 0);
    add(made, STRAG_RECV_REDUCE, 2, 0, 0, 0, 0); /* 2 + (1 + 0) */
    add(made, STRAG_SEND, -2, -2, 0, 0, 0);
    int round = 0;
    for (int far = 2; far < made->n; far++) {
        round++;
        add(made, STRAG_SEND, 1 - far, -far, 0, round, 0);
        add(made, STRAG_RECV_REDUCE, far - 1, -1, 0, round, 0);
        if (far == 2)
            continue;
        round++;
        add(made, STRAG_SEND, -far, -far, 0, round, 0);
        add(made, STRAG_RECV_REDUCE, far, 0, 0, round, 0);
    }
    for (int far = 2; far < made->n; far++) {
        round++;
        add(made, STRAG_SEND, far, 0, 0, round, 0);
        add(made, STRAG_RECV, -far, -far, 0, round, 0);
    }
    end_loop(made, 1);
}

static int coprime(struct rng *rng, int n)
{
    for (;;) {
        const int a = 1 + (int)rng_below(rng, (unsigned)n - 1);
        int x = a, y = n;
        while (y) {
            const int rest = x % y;
            x = y;
            y = rest;
        }
        if (x == 1)
            return a;
    }
}

static void change(struct made *made, struct rng *rng)
{
    struct strag_given_op *op = &made->op[rng_below(rng, (unsigned)made->ops)];
    struct strag_given_op *other = &made->op[rng_below(rng, (unsigned)made->ops)];
    const struct strag_given_op before = *op;
    const int step = rng_below(rng, 2) ? 1 : -1;
    switch (rng_below(rng, 10)) {
    case 0:
        op->kind = (uint8_t)rng_below(rng, STRAG_RECV_REDUCE + 1);
        break;
    case 1:
        op->own_left = op->kind == STRAG_RECV_REDUCE && !op->own_left;
        break;
    case 2:
        op->peer.start += step;
        break;
    case 3:
        op->first.start += made->shift * step;
        break;
    case 4:
        op->first.turn += made->shift * step;
        break;
    case 5:
        op->count = op->count + step ? op->count + step : 1;
        op->first.start += (int)rng_below(rng, 2);
        break;
    case 6:
        op->round.start += op->round.start || step > 0 ? step : 0;
        break;
    case 7:
        made->times[rng_below(rng, (unsigned)made->loops)] += step;
        break;
    case 8: /* both sides of a loop's messages move on */
        op->peer.turn += step;
        other->peer.turn -= step;
        break;
    default: /* another order */
        *op = *other;
        *other = before;
    }
}

/* @return NULL: it is not well formed */
static struct strag_given *give(const struct made *made)
{
    struct strag_given *given = strag_given_create();
    assert_non_null(given);
    struct strag_given_head *head = &given->head;
    strcpy(head->name, "turned");
    head->n = made->n;
    head->blocks = made->n * made->chunk;
    assert_int_equal(strag_given_stage(given, "plan"), 0);
    assert_true(strag_given_add_group(given, 0, made->n, 1));
    for (int l = 0; l < made->loops; l++) {
        assert_true(strag_given_add_loop(given, made->times[l]));
        for (int o = l ? made->loop_end[l - 1] : 0; o < made->loop_end[l]; o++)
            assert_true(strag_given_add_op(given, &made->op[o]));
    }
    if (strag_given_close(given, NULL, NULL) == STRAG_OK)
        return given;
    strag_given_free(given);
    return NULL;
}

/* The plans of all ranks, proved as any others. */
static int prove_all(const struct strag_given *given, struct strag_measure *measure,
                     struct strag_error *err)
{
    const int n = strag_given_ranks(given);
    const struct strag_problem problem = {.n = n};
    struct strag_plan **plans = calloc((size_t)n, sizeof *plans);
    struct strag_instance instance;
    struct strag_claim claim;
    assert_non_null(plans);
    assert_int_equal(strag_instance_open(&instance, &given->row, &problem, NULL), STRAG_OK);
    assert_int_equal(strag_instance_claim(&instance, &claim, NULL), STRAG_OK);
    assert_int_equal(support_create_all(instance.algorithm, &problem, plans, NULL), STRAG_OK);
    const int status = strag_verify_plans(plans, n, &claim, measure, NULL, err);
    support_plans_free(plans, n);
    strag_instance_close(&instance);
    return status;
}

struct tally {
    long turned, proved, wrong, otherwise;
};

static void same_verdict(const struct strag_given *given, struct tally *tally)
{
    struct strag_measure one = {0}, all = {0};
    struct strag_error err = {""}, other = {""};
    const int status = strag_given_prove(given, &strag_given_asked, NULL, &one, &err);
    const int expected = prove_all(given, &all, &other);
    if (status != expected)
        fail_msg("by one rank %d (%s), by all %d (%s)", status, err.text, expected, other.text);
    if (strag_given_kinds(given) > 1) {
        tally->otherwise++;
        return;
    }
    tally->turned++;
    tally->proved += status == STRAG_OK;
    tally->wrong += status == STRAG_ERR_FALSE;
    if (status != STRAG_OK)
        return;
    assert_int_equal(one.rounds, all.rounds);
    assert_int_equal(one.chain, all.chain);
    assert_true(one.sent_max == all.sent_max && one.sent_total == all.sent_total &&
                one.reduce_max == all.reduce_max);
}

TEST(one_rank_stands_for_all)
{
    struct rng rng = {support_seed("test_given_proof")};
    struct tally tally = {0, 0, 0, 0};
    const long cases = support_cases(10000);
    for (long c = 0; c < cases; c++) {
        struct made made = {.n = 3 + (int)rng_below(&rng, 7), .chunk = 1 + (int)rng_below(&rng, 2)};
        made.shift = made.chunk * coprime(&rng, made.n);
        if (rng_one_in(&rng, 20))
            made.shift = (int)rng_below(&rng, (unsigned)(made.n * made.chunk));
        if (rng_one_in(&rng, 3))
            make_two_sums(&made);
        else if (made.n < 8 && rng_one_in(&rng, 2))
            make_direct(&made);
        else
            make_ring(&made, coprime(&rng, made.n));
        for (unsigned changes = rng_below(&rng, 4); changes; changes--)
            change(&made, &rng);
        struct strag_given *given = give(&made);
        if (given)
            same_verdict(given, &tally);
        strag_given_free(given);
    }
    print_message("%ld plans: %ld proved by one rank (%ld proved, %ld wrong), %ld by all\n", cases,
                  tally.turned, tally.proved, tally.wrong, tally.otherwise);
    assert_true(cases < 1000 || (tally.proved > cases / 10 && tally.wrong > cases / 10 &&
                                 tally.otherwise > cases / 50));
}

/* A ring of 6, with one thing that turning does not take to itself. */
TEST(others_are_proved_by_all)
{
    for (int wrong = 0; wrong < 9; wrong++) {
        struct made made = {.n = 6, .chunk = 2, .shift = 2};
        make_ring(&made, 1);
        struct strag_given_op *op = &made.op[1];
        switch (wrong) {
        case 1: /* runs over the last block on some ranks */
            op->count = 3;
            break;
        case 2:
            op->first.start++;
            break;
        case 3:
            op->first.turn++;
            break;
        case 4: /* other blocks from rank to rank */
            op->first.rank = 4;
            break;
        case 5: /* six turns do not take the blocks to themselves */
            for (int o = 0; o < made.ops; o++) {
                made.op[o].first.rank = 3;
                made.op[o].count = 1;
            }
            break;
        case 6: /* the rank opposite */
            op->peer.start = 3;
            break;
        case 7:
            op->peer.rank = 3;
            break;
        case 8:
            for (int o = 0; o < made.ops; o++)
                made.op[o].round.rank = 1;
            break;
        default: /* none: a ring */
            break;
        }
        struct strag_given *given = give(&made);
        assert_non_null(given);
        assert_int_equal(strag_given_kinds(given), wrong ? 6 : 1);
        strag_given_free(given);
    }
}

/* ---- What a proof may take ---- */

static struct strag_given *parse(const char *text)
{
    struct strag_given *given = NULL;
    struct strag_error err = {""};
    if (strag_plan_file_parse(text, strlen(text), "FILE", NULL, &given, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return given;
}

#define HEAD(n, blocks)                                                                            \
    "{\"strag-plan\":1,\"algorithm\":\"x\",\"n\":" #n ",\"blocks\":" #blocks                       \
    ",\"groups\":[{\"ranks\":[0," #n "],\"ops\":["
#define REPEAT(times, ops) "{\"repeat\":" #times ",\"ops\":[" ops "]}"
#define OP(kind, peer, first, round)                                                               \
    "{\"kind\":\"" kind "\",\"peer\":" peer ",\"first\":" first ",\"count\":1,\"round\":" round "}"

/* A ring of 4,000 ranks has 64 million operations. */
static const char ring[] = HEAD(4000, 4000)
    REPEAT(3999, OP("send", "[1,1]", "[0,1,-1]", "[0,0,1]") "," OP(
                     "recv_reduce", "[-1,1]", "[-1,1,-1]",
                     "[0,0,1]")) "," REPEAT(3999,
                                            OP("send", "[1,1]", "[1,1,-1]", "[3999,0,1]") "," OP(
                                                "recv", "[-1,1]", "[0,1,-1]", "[3999,0,1]")) "]}]}";

/* One rank of 65536 waits for the others in a circle. */
static const char circle[] = HEAD(65536, 1)
    REPEAT(500, OP("send", "[1,1]", "0", "[0,0,1]") "," OP("recv_reduce", "[65535,1]", "0",
                                                           "[0,0,1]")) "]}]}";

/* Two ranks with 33 million operations each. */
static const char many[] = HEAD(2, 1)
    REPEAT(16777216, OP("send", "[1,1]", "0", "0") "," OP("recv", "[1,1]", "0", "0")) "]}]}";

TEST(large_plans)
{
    struct strag_error err = {""};
    struct strag_measure measure;
    struct strag_given *given = parse(ring), *none = NULL;
    assert_int_equal(given->operations, 4000 * 3999 * 4);
    assert_int_equal(strag_given_prove(given, &strag_given_in_job, NULL, &measure, &err), STRAG_OK);
    assert_int_equal(measure.rounds, 7998);
    assert_int_equal(measure.chain, 7998);
    strag_given_free(given);

    given = parse(circle);
    assert_int_equal(strag_given_prove(given, &strag_given_in_job, NULL, NULL, &err),
                     STRAG_ERR_FALSE);
    assert_string_equal(err.text, "rank 0, operation 0 (send to 1, blocks 0..0, round 0): "
                                  "deadlock: it waits in a circle");
    strag_given_free(given);

    assert_int_equal(
        strag_plan_file_parse(many, strlen(many), "FILE", &strag_given_in_job, &none, &err),
        STRAG_ERR_LIMIT);
    assert_non_null(strstr(err.text, "FILE: proving its 67108864 operations takes "));
    given = parse(many);
    assert_int_equal(strag_given_prove(given, &strag_given_asked, NULL, NULL, &err),
                     STRAG_ERR_LIMIT);
    strag_given_free(given);
}

/* What the form does not tell is counted while the proof goes on: here sums with scattered sets. */
TEST(long_proofs_end)
{
    const struct strag_problem problem = {.n = 512};
    struct strag_error err = {""};
    struct strag_given *given = NULL;
    struct strag_instance instance;
    assert_int_equal(strag_instance_open(&instance, support_algorithm("swing"), &problem, NULL),
                     STRAG_OK);
    assert_int_equal(compact_plans(&instance, NULL, &given, &err), STRAG_OK);
    strag_instance_close(&instance);
    struct strag_effort most = strag_given_effort(given);
    most.steps += 1000;
    most.bytes += 1 << 26;
    assert_int_equal(strag_given_prove(given, &most, NULL, NULL, &err), STRAG_ERR_LIMIT);
    assert_non_null(strstr(err.text, "proving it takes more than "));
    most.steps += 100000000;
    assert_int_equal(strag_given_prove(given, &most, NULL, NULL, &err), STRAG_OK);
    strag_given_free(given);
}

/* Objects take much more memory than their text. */
TEST(long_texts_are_refused)
{
    enum { LENGTH = 3 << 20 };
    struct strag_error err = {""};
    struct strag_given *given = NULL;
    char *text = malloc(LENGTH);
    assert_non_null(text);
    for (int i = 0; i < LENGTH; i++)
        text[i] = "{},"[i % 3];
    text[0] = '[';
    assert_int_equal(strag_plan_file_parse(text, LENGTH, "FILE", &strag_given_in_job, &given, &err),
                     STRAG_ERR_LIMIT);
    assert_int_equal(strncmp(err.text, "FILE: reading it takes 25", 25), 0);
    free(text);
}

TEST(out_of_memory)
{
    struct made made = {.n = 5, .chunk = 2, .shift = 4};
    make_ring(&made, 2);
    struct strag_given *given = give(&made);
    assert_non_null(given);
    assert_int_equal(strag_given_kinds(given), 1);
    long fail_at = 1;
    for (bool failed = true; failed; fail_at++) {
        struct strag_error err = {""};
        memory_watch(fail_at);
        const int status = strag_given_prove(given, &strag_given_asked, NULL, NULL, &err);
        const struct memory_report report = memory_unwatch();
        failed = report.failed;
        assert_int_equal(report.live, 0);
        assert_int_equal(status, failed ? STRAG_ERR_MEMORY : STRAG_OK);
        assert_true(!failed || strstr(err.text, "out of memory"));
    }
    assert_true(fail_at > 20);
    strag_given_free(given);
}

/* ---- FILE.proof ---- */

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Is the file taken for proved? */
static bool taken(const char *name)
{
    struct strag_given *given = NULL;
    struct strag_error err = {""};
    bool proved = false;
    const int status = strag_plan_proof_read(name, &strag_given_in_job, &given, &proved, &err);
    if (status != STRAG_OK)
        fail_msg("%s", err.text);
    strag_given_free(given);
    return proved;
}

TEST(proofs_are_of_one_text)
{
    char name[] = "/tmp/strag-proof-XXXXXX", proof[64], text[400];
    struct strag_error err = {""};
    struct strag_given *given = NULL;
    struct strag_measure measure = {.n = 2, .blocks = 1, .rounds = 1};
    const int file = mkstemp(name);
    assert_true(file >= 0);
    close(file);
    snprintf(proof, sizeof proof, "%s.proof", name);
    write_file(name, circle);
    assert_false(taken(name));

    assert_int_equal(strag_plan_file_read(name, &given, &err), STRAG_OK);
    measure.n = strag_given_ranks(given);
    assert_int_equal(strag_plan_proof_write(name, given, &measure, "1.2.3", &err), STRAG_OK);
    assert_true(taken(name));
    measure.n++;
    assert_int_equal(strag_plan_proof_write(name, given, &measure, "1.2.3", &err), STRAG_OK);
    assert_false(taken(name));

    static const char *const others[] = {
        "",
        "{",
        "[]",
        "{\"strag-proof\":1}",
        "{\"strag-proof\":1,\"plan\":7,\"bytes\":256,\"n\":65536}",
        "{\"strag-proof\":1,\"plan\":\"0000000000000000\",\"bytes\":256,\"n\":65536}",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_file(proof, others[i]);
        assert_false(taken(name));
    }
    measure.n--;
    assert_int_equal(strag_plan_proof_write(name, given, &measure, "1.2.3", &err), STRAG_OK);
    snprintf(text, sizeof text, "%s ", circle); /* a byte more */
    write_file(name, text);
    assert_false(taken(name));
    write_file(name, circle);
    assert_true(taken(name));
    strag_given_free(given);

    /* Beyond the limits of a job. */
    struct strag_given *none = NULL;
    bool proved = true;
    write_file(name, many);
    assert_int_equal(strag_plan_proof_read(name, &strag_given_in_job, &none, &proved, &err),
                     STRAG_ERR_LIMIT);
    assert_null(none);
    assert_false(proved);
    unlink(proof);
    unlink(name);
}
