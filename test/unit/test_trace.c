/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces: what a ring keeps, what is written of it, and what the engine notes. STRAG_CASES: seeded
 * traces whose threads must not overlap.
 */
#include "plan/trace.h"

#include "support.h"

static double time_now;

static double now(void)
{
    return time_now += 1;
}

TEST(ring_keeps_the_last)
{
    struct strag_trace_event events[8];
    const struct strag_op op = {.kind = STRAG_RECV, .peer = 7, .round = 3};
    struct strag_trace *trace = strag_trace_create(8, now);
    assert_non_null(trace);
    time_now = 0;
    assert_true(strag_trace_plan(trace, 2));
    trace->size = 8;
    for (uint32_t c = 0; c < 10; c++) {
        trace->call = c;
        strag_trace_began(trace, 1);
        strag_trace_ended(trace, &op, 1, 100);
        strag_trace_call(trace, time_now - 2, time_now, 800, 5);
        const size_t kept = c < 4 ? 2 * (size_t)c + 2 : 8;
        assert_int_equal(strag_trace_read(trace, events), kept);
        for (size_t e = 0; e < kept; e++)
            assert_int_equal(events[e].call, c + 1 - (uint32_t)(kept - e + 1) / 2);
    }
    assert_true(events[6].begin == 19 && events[6].end == 20 && events[6].bytes == 800);
    assert_true(events[6].peer == 7 && events[6].round == 3 && events[6].kind == STRAG_RECV);
    assert_true(events[7].begin == 18 && events[7].kind == STRAG_TRACE_CALL);
    strag_trace_free(trace);
    strag_trace_free(NULL);
    for (int n = 2; n < 1 << 20; n += 1 + n / 2)
        assert_in_range(strag_trace_room(n), 64, 16384);
    for (int n = 2; n <= 16384; n++)
        assert_in_range((size_t)n * strag_trace_room(n) * sizeof *events, 0, 40 << 20);
    assert_int_equal(strag_trace_room(256), 4096);
}

/* ---- What is written ---- */

static const char *const outcomes[] = {"ring", "below <1K> & \"short\""};

static char *written(const struct strag_trace_job *job)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    strag_trace_sort(job);
    strag_trace_json(job, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static struct strag_trace_event call_event(double begin, double end)
{
    return (struct strag_trace_event){
        .begin = begin, .end = end, .bytes = 64, .call = 9, .kind = STRAG_TRACE_CALL};
}

TEST(json_is_exact)
{
    struct strag_trace_event first[] = {
        {1.5, 2, 32, 9, 1, 0, STRAG_SEND, 0, {0}},
        call_event(1, 3),
        {1.6, 2.5, 32, 9, 1, 1, STRAG_SEND, 0, {0}},
        {1.5, 2.25, 32, 9, 1, 0, STRAG_RECV_REDUCE, 0, {0}},
    };
    struct strag_trace_rank ranks[] = {{"n\"0", first, 4}, {"", NULL, 0}};
    const struct strag_trace_job job = {"a\\b", ranks, 2, outcomes};
    char *text = written(&job);
    assert_string_equal(
        text,
        "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"communicator\":\"a\\\\b\",\"ranks\":2},"
        "\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"name\":\"trace\",\"pid\":0,\"args\":{}},\n"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"rank 0 "
        "(n\\\"0)\"}},\n"
        "{\"ph\":\"X\",\"name\":\"ring\",\"cat\":\"allreduce\",\"ts\":0.000,\"dur\":2000000.000,"
        "\"pid\":0,\"tid\":0,\"args\":{\"call\":9,\"bytes\":64}},\n"
        "{\"ph\":\"X\",\"name\":\"reduce from 1\",\"cat\":\"operation\",\"ts\":500000.000,\"dur\":"
        "750000.000,\"pid\":0,\"tid\":100,\"args\":{\"call\":9,\"bytes\":32,\"round\":0,\"peer\":1}"
        "},\n"
        "{\"ph\":\"X\",\"name\":\"send to 1\",\"cat\":\"operation\",\"ts\":500000.000,\"dur\":"
        "500000.000,\"pid\":0,\"tid\":1,\"args\":{\"call\":9,\"bytes\":32,\"round\":0,\"peer\":1}}"
        ",\n"
        "{\"ph\":\"X\",\"name\":\"send to 1\",\"cat\":\"operation\",\"ts\":600000.000,\"dur\":"
        "900000.000,\"pid\":0,\"tid\":2,\"args\":{\"call\":9,\"bytes\":32,\"round\":1,\"peer\":1}}"
        ",\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"calls\"}"
        "},\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":1,\"args\":{\"name\":\"sends\"}"
        "},\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":2,\"args\":{\"name\":\"sends\"}"
        "},\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":100,\"args\":{\"name\":"
        "\"receives\"}},\n"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"rank 1\"}"
        "}\n"
        "]}\n");
    free(text);
}

/* What is written of an operation of each kind. */
TEST(all_kinds_have_words)
{
    static const char *const names[] = {"send to 3", "recv from 3", "reduce from 3"};
    struct strag_trace_event events[] = {call_event(1, 3),
                                         {1.5, 2, 32, 9, 3, 0, STRAG_SEND, 0, {0}}};
    struct strag_trace_rank rank = {"", events, 2};
    const struct strag_trace_job job = {"x", &rank, 1, outcomes};
    for (int kind = STRAG_SEND; kind <= STRAG_RECV_REDUCE; kind++) {
        events[1].kind = (uint8_t)kind;
        char *text = written(&job);
        assert_non_null(strstr(text, names[kind]));
        free(text);
    }
}

/* Threads of a rank never have two events at a time, as long as there are threads. */
TEST(threads_do_not_overlap)
{
    enum { EVENTS = 200 };
    struct rng rng = {support_seed("test_trace")};
    struct strag_trace_event events[EVENTS];
    for (long i = support_cases(100); i > 0; i--) {
        struct strag_trace_rank rank = {"", events, EVENTS};
        const struct strag_trace_job job = {"x", &rank, 1, outcomes};
        double end_of[200];
        for (int e = 0; e < EVENTS; e++) {
            const double begin = (double)rng_below(&rng, 1000);
            events[e] = (struct strag_trace_event){begin,
                                                   begin + (double)rng_below(&rng, 100),
                                                   1,
                                                   0,
                                                   0,
                                                   0,
                                                   (uint8_t)rng_below(&rng, STRAG_RECV_REDUCE + 1),
                                                   0,
                                                   {0}};
        }
        for (int t = 0; t < 200; t++)
            end_of[t] = -1;
        char *text = written(&job), *rest = NULL;
        int seen = 0;
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            double ts, duration;
            int thread;
            const char *at = strstr(line, "\"ts\":");
            if (!at || sscanf(at, "\"ts\":%lf,\"dur\":%lf,\"pid\":0,\"tid\":%d", &ts, &duration,
                              &thread) != 3)
                continue;
            assert_in_range(thread, 1, 199);
            assert_true(ts >= end_of[thread] - 0.01);
            end_of[thread] = ts + duration;
            seen++;
        }
        assert_int_equal(seen, EVENTS);
        free(text);
    }
}
