/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/trace.h"

#include "base/c_locale.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_MOST = 16384, ROOM_LEAST = 64, ROOM_OF_ALL = 1 << 20 };

size_t strag_trace_room(int n)
{
    const int room = ROOM_OF_ALL / n;
    return (size_t)(room > ROOM_MOST ? ROOM_MOST : room < ROOM_LEAST ? ROOM_LEAST : room);
}

struct strag_trace *strag_trace_create(size_t room, double (*now)(void))
{
    struct strag_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return NULL;
    trace->events = calloc(room, sizeof *trace->events);
    trace->room = room;
    trace->now = now;
    if (trace->events)
        return trace;
    free(trace);
    return NULL;
}

void strag_trace_free(struct strag_trace *trace)
{
    if (!trace)
        return;
    free(trace->events);
    free(trace->began);
    free(trace);
}

bool strag_trace_plan(struct strag_trace *trace, int ops)
{
    return strag_array_grow(&trace->began, &trace->ops, ops, sizeof *trace->began);
}

static struct strag_trace_event *next_event(struct strag_trace *trace)
{
    return &trace->events[trace->written++ % trace->room];
}

void strag_trace_ended(struct strag_trace *trace, const struct strag_op *op, int index,
                       size_t elements)
{
    *next_event(trace) = (struct strag_trace_event){
        .begin = trace->began[index],
        .end = trace->now(),
        .bytes = elements * trace->size,
        .call = trace->call,
        .peer = op->peer,
        .round = op->round,
        .kind = op->kind,
    };
}

void strag_trace_call(struct strag_trace *trace, double begin, double end, uint64_t bytes,
                      int outcome)
{
    *next_event(trace) = (struct strag_trace_event){.begin = begin,
                                                    .end = end,
                                                    .bytes = bytes,
                                                    .call = trace->call,
                                                    .peer = -1,
                                                    .round = -1,
                                                    .kind = STRAG_TRACE_CALL,
                                                    .outcome = (uint8_t)outcome};
}

size_t strag_trace_read(const struct strag_trace *trace, struct strag_trace_event *to)
{
    const uint64_t first = trace->written > trace->room ? trace->written - trace->room : 0;
    for (uint64_t e = first; e < trace->written; e++)
        to[e - first] = trace->events[e % trace->room];
    return (size_t)(trace->written - first);
}

/* ---- All ranks ---- */

/* If two events begin together, the longer one is first, since it may contain the other one. */
static int compare(const void *a, const void *b)
{
    const struct strag_trace_event *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end);
}

void strag_trace_sort(const struct strag_trace_job *job)
{
    for (int r = 0; r < job->n; r++)
        if (job->ranks[r].count > 1)
            qsort(job->ranks[r].events, job->ranks[r].count, sizeof *job->ranks[r].events, compare);
}

/* ---- Chrome trace JSON ---- */

enum { LANES = 99, SENDS = 1, RECEIVES = 100, THREADS = 200 };

/* The output, and when each thread of a rank is free again. */
struct json {
    FILE *out;
    const struct strag_trace_job *job;
    double start;
    double free_at[THREADS];
    bool used[THREADS];
};

/* A thread for an event: events of one thread do not overlap, as far as there are threads. */
static int thread_of(struct json *json, const struct strag_trace_event *event)
{
    if (event->kind == STRAG_TRACE_CALL)
        return 0;
    const int first = event->kind == STRAG_SEND ? SENDS : RECEIVES;
    int lane = 0;
    while (lane < LANES - 1 && json->free_at[first + lane] > event->begin)
        lane++;
    json->free_at[first + lane] = event->end;
    return first + lane;
}

static void write_event(struct json *json, int rank, const struct strag_trace_event *event)
{
    static const char *const names[] = {
        [STRAG_SEND] = "send to", [STRAG_RECV] = "recv from", [STRAG_RECV_REDUCE] = "reduce from"};
    const int thread = thread_of(json, event);
    json->used[thread] = true;
    fputs(",\n{\"ph\":\"X\",\"name\":", json->out);
    if (event->kind == STRAG_TRACE_CALL)
        strag_json_string(json->job->outcomes[event->outcome], json->out);
    else
        fprintf(json->out, "\"%s %d\"", names[event->kind], (int)event->peer);
    fprintf(json->out, ",\"cat\":\"%s\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%d,\"tid\":%d,\"args\":{",
            event->kind == STRAG_TRACE_CALL ? "allreduce" : "operation",
            1e6 * (event->begin - json->start), 1e6 * (event->end - event->begin), rank, thread);
    fprintf(json->out, "\"call\":%u,\"bytes\":%llu", (unsigned)event->call,
            (unsigned long long)event->bytes);
    if (event->kind != STRAG_TRACE_CALL)
        fprintf(json->out, ",\"round\":%d,\"peer\":%d", (int)event->round, (int)event->peer);
    fputs("}}", json->out);
}

static void write_name(struct json *json, const char *what, int rank, int thread, const char *name)
{
    fprintf(json->out,
            ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":", what,
            rank, thread);
    strag_json_string(name, json->out);
    fputs("}}", json->out);
}

static void write_rank(struct json *json, int rank)
{
    const struct strag_trace_rank *events = &json->job->ranks[rank];
    char name[320];
    for (int t = 0; t < THREADS; t++) {
        json->free_at[t] = -INFINITY;
        json->used[t] = false;
    }
    snprintf(name, sizeof name, events->host[0] ? "rank %d (%s)" : "rank %d", rank, events->host);
    write_name(json, "process_name", rank, 0, name);
    for (size_t e = 0; e < events->count; e++)
        write_event(json, rank, &events->events[e]);
    for (int t = 0; t < THREADS; t++)
        if (json->used[t])
            write_name(json, "thread_name", rank, t,
                       t == 0         ? "calls"
                       : t < RECEIVES ? "sends"
                                      : "receives");
}

void strag_trace_json(const struct strag_trace_job *job, FILE *out)
{
    struct json json = {.out = out, .job = job, .start = INFINITY};
    for (int r = 0; r < job->n; r++)
        if (job->ranks[r].count > 0)
            json.start = fmin(json.start, job->ranks[r].events[0].begin);
    fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"communicator\":", out);
    strag_json_string(job->name, out);
    fprintf(out, ",\"ranks\":%d},\"traceEvents\":[\n", job->n);
    fputs("{\"ph\":\"M\",\"name\":\"trace\",\"pid\":0,\"args\":{}}", out);
    const locale_t before = strag_c_locale_enter();
    for (int r = 0; r < job->n; r++)
        write_rank(&json, r);
    strag_c_locale_leave(before);
    fputs("\n]}\n", out);
}
