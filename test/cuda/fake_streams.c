/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_internal.h"

#include "host_kernels.h"
#include "kernel_table.h"

#include <stdlib.h>
#include <string.h>

enum { SLOW = 16 }; /* the driver's calls that one late copy takes */

/* Something to do: an event to be passed, a kernel, or a copy. */
struct task {
    struct task *next;
    struct fake_event *event;
    int kernel; /* or -1 */
    struct strag_job job;
    size_t threads;
    void *out;
    const void *in;
    size_t bytes;
    void *owned; /* `in`, if it is the task's own */
};

struct fake_stream {
    struct fake_stream *next;
    struct fake_context *context;
    struct task *first, *last;
};

struct fake_event {
    struct fake_event *next;
    long pending; /* times it was recorded and not passed */
};

static struct fake_stream *streams;
static struct fake_stream late; /* of fake_put_late */
static struct fake_event *events;

/* ---- Doing ---- */

static void do_copy(const struct task *task)
{
    void *out = fake_contents(task->out, task->bytes, false);
    const void *in = fake_contents(task->in, task->bytes, false);
    if (!out || !in) {
        fake_mistake(FAKE_ILLEGAL_ADDRESS, "a copy of %zu bytes from %p to %p leaves its piece",
                     task->bytes, task->in, task->out);
        return;
    }
    memmove(out, in, task->bytes);
    fake_counts.copies++;
}

/* Bytes of an element. */
static size_t element_size(int kernel)
{
#define SIZE(op, type) sizeof(strag_##type),
    static const size_t sizes[] = {STRAG_KERNELS(SIZE)};
    return sizes[kernel];
}

static void do_kernel(const struct task *task)
{
    struct strag_job job = task->job;
    size_t bytes = job.elements * element_size(task->kernel);
    job.out = fake_contents(job.out, bytes, true);
    job.left = fake_contents(job.left, bytes, true);
    job.right = fake_contents(job.right, bytes, true);
    if (!job.out || !job.left || !job.right) {
        fake_mistake(FAKE_ILLEGAL_ADDRESS, "%s of %zu elements leaves a piece: %p = %p, %p",
                     strag_kernel_names[task->kernel], job.elements, task->job.out, task->job.left,
                     task->job.right);
        return;
    }
    for (size_t thread = 0; thread < task->threads; thread++)
        host_kernel(task->kernel, &job, thread, task->threads);
    fake_counts.kernels++;
}

static void do_first(struct fake_stream *stream)
{
    struct task *task = stream->first;
    if (!task)
        return;
    stream->first = task->next;
    if (!stream->first)
        stream->last = NULL;
    if (task->event)
        task->event->pending--;
    else if (task->kernel >= 0)
        do_kernel(task);
    else
        do_copy(task);
    free(task->owned);
    free(task);
}

void fake_finish_late(void)
{
    while (late.first)
        do_first(&late);
}

void fake_advance(void)
{
    for (struct fake_stream *stream = streams; stream; stream = stream->next) {
        for (unsigned n = fake_random(4); n > 1; n--)
            do_first(stream);
    }
    if (fake_random(SLOW) == 0)
        do_first(&late);
}

void fake_finish(void)
{
    fake_finish_late();
    for (struct fake_stream *stream = streams; stream; stream = stream->next) {
        while (stream->first)
            do_first(stream);
    }
}

static int put(struct fake_stream *stream, const struct task *what)
{
    struct task *task = malloc(sizeof *task);
    if (!task)
        return FAKE_OUT_OF_MEMORY;
    *task = *what;
    task->next = NULL;
    if (stream->last)
        stream->last->next = task;
    else
        stream->first = task;
    stream->last = task;
    return FAKE_SUCCESS;
}

/* From or to memory that the driver does not know it copies at once. */
int fake_put_copy(struct fake_stream *stream, void *out, const void *in, size_t bytes)
{
    const struct task task = {.kernel = -1, .out = out, .in = in, .bytes = bytes};
    int error = put(stream, &task);
    if (error == FAKE_SUCCESS && (!fake_piece_find(out) || !fake_piece_find(in))) {
        while (stream->first)
            do_first(stream);
    }
    return error;
}

int fake_put_late(void *out, const void *in, size_t bytes)
{
    struct task task = {.kernel = -1, .out = out, .bytes = bytes, .owned = malloc(bytes + 1)};
    if (!task.owned)
        return FAKE_OUT_OF_MEMORY;
    task.in = memcpy(task.owned, in, bytes);
    int error = put(&late, &task);
    if (error != FAKE_SUCCESS)
        free(task.owned);
    return error;
}

int fake_put_kernel(struct fake_stream *stream, int kernel, const void *job, size_t threads)
{
    struct task task = {.kernel = kernel, .threads = threads};
    memcpy(&task.job, job, sizeof task.job);
    return put(stream, &task);
}

/* ---- Streams and events ---- */

int fake_stream_make(struct fake_context *context, struct fake_stream **out)
{
    struct fake_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return FAKE_OUT_OF_MEMORY;
    stream->context = context;
    stream->next = streams;
    streams = stream;
    fake_counts.streams++;
    *out = stream;
    return FAKE_SUCCESS;
}

bool fake_stream_is(const struct fake_stream *stream, const struct fake_context *context)
{
    const struct fake_stream *s = streams;
    while (s && s != stream)
        s = s->next;
    return s && s->context == context;
}

int fake_stream_destroy(struct fake_stream *stream)
{
    struct fake_stream **link = &streams;
    while (*link && *link != stream)
        link = &(*link)->next;
    if (!*link)
        return fake_mistake(FAKE_INVALID_HANDLE, "destroyed a stream that does not exist");
    while (stream->first)
        do_first(stream);
    *link = stream->next;
    free(stream);
    fake_counts.streams--;
    return FAKE_SUCCESS;
}

static bool is_event(const struct fake_event *event)
{
    const struct fake_event *e = events;
    while (e && e != event)
        e = e->next;
    return e;
}

int fake_event_make(struct fake_event **out)
{
    struct fake_event *event = calloc(1, sizeof *event);
    if (!event)
        return FAKE_OUT_OF_MEMORY;
    event->next = events;
    events = event;
    fake_counts.events++;
    *out = event;
    return FAKE_SUCCESS;
}

int fake_event_destroy(struct fake_event *event)
{
    struct fake_event **link = &events;
    while (*link && *link != event)
        link = &(*link)->next;
    if (!*link)
        return fake_mistake(FAKE_INVALID_HANDLE, "destroyed an event that does not exist");
    while (event->pending > 0)
        fake_finish();
    *link = event->next;
    free(event);
    fake_counts.events--;
    return FAKE_SUCCESS;
}

int fake_event_record(struct fake_event *event, struct fake_stream *stream)
{
    const struct task task = {.kernel = -1, .event = event};
    if (!is_event(event))
        return fake_mistake(FAKE_INVALID_HANDLE, "recorded an event that does not exist");
    if (event->pending)
        return fake_mistake(FAKE_INVALID_HANDLE, "recorded an event that is waited for");
    event->pending++;
    return put(stream, &task);
}

int fake_event_query(struct fake_event *event)
{
    if (!is_event(event))
        return fake_mistake(FAKE_INVALID_HANDLE, "asked for an event that does not exist");
    return event->pending ? FAKE_NOT_READY : FAKE_SUCCESS;
}

int fake_event_wait(struct fake_event *event)
{
    if (!is_event(event))
        return fake_mistake(FAKE_INVALID_HANDLE, "waited for an event that does not exist");
    while (event->pending)
        fake_advance();
    return FAKE_SUCCESS;
}

/* What is on it is not done. */
static void forget(struct fake_stream *stream)
{
    while (stream->first) {
        struct task *task = stream->first;
        stream->first = task->next;
        free(task->owned);
        free(task);
    }
    stream->last = NULL;
}

void fake_streams_forget(void)
{
    forget(&late);
    while (streams) {
        struct fake_stream *stream = streams;
        streams = stream->next;
        forget(stream);
        free(stream);
    }
    while (events) {
        struct fake_event *event = events;
        events = event->next;
        free(event);
    }
}
