/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the fake driver share: fake_driver.c (the calls), fake_memory.c (pieces of
 * memory), fake_streams.c (what is put on streams, and when it is done).
 */
#ifndef TEST_CUDA_FAKE_INTERNAL_H
#define TEST_CUDA_FAKE_INTERNAL_H

#include "fake_driver.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    FAKE_SUCCESS = 0,
    FAKE_INVALID_VALUE = 1,
    FAKE_OUT_OF_MEMORY = 2,
    FAKE_NOT_INITIALIZED = 3,
    FAKE_NO_DEVICE = 100,
    FAKE_INVALID_DEVICE = 101,
    FAKE_INVALID_CONTEXT = 201,
    FAKE_NO_BINARY = 209,
    FAKE_INVALID_HANDLE = 400,
    FAKE_NOT_FOUND = 500,
    FAKE_NOT_READY = 600,
    FAKE_ILLEGAL_ADDRESS = 700,
    FAKE_UNKNOWN = 999,
};

enum fake_kind { FAKE_PINNED = 1, FAKE_DEVICE = 2, FAKE_MANAGED = 3 };

struct fake_context {
    int device;
    int retained;
    unsigned long long id;
};

/* A piece of memory. */
struct fake_piece {
    struct fake_piece *next;
    enum fake_kind kind;
    struct fake_context *context;
    char *address; /* as the program sees it */
    char *bytes;   /* where its contents are */
    size_t size, mapped;
    bool synchronous; /* copies to it are done on return */
};

/* memory; the lock is held */
int fake_piece_make(enum fake_kind kind, struct fake_context *context, size_t size,
                    struct fake_piece **piece);
int fake_piece_free(enum fake_kind kind, const void *address);
struct fake_piece *fake_piece_find(const void *address);
void fake_pieces_forget(void);

/** Where the contents of a range are. `device`: a kernel asks. @return NULL: nowhere */
void *fake_contents(const void *address, size_t bytes, bool device);

/* streams; the lock is held */
struct fake_stream;
struct fake_event;

int fake_stream_make(struct fake_context *context, struct fake_stream **stream);
int fake_stream_destroy(struct fake_stream *stream);
bool fake_stream_is(const struct fake_stream *stream, const struct fake_context *context);
int fake_event_make(struct fake_event **event);
int fake_event_destroy(struct fake_event *event);
int fake_event_record(struct fake_event *event, struct fake_stream *stream);
int fake_event_query(struct fake_event *event);
int fake_event_wait(struct fake_event *event);
int fake_put_copy(struct fake_stream *stream, void *out, const void *in, size_t bytes);
/** From memory that the driver does not know to a device's: on return the source may be changed,
 * but the copy may not be done. */
int fake_put_late(void *out, const void *in, size_t bytes);
/** All of these copies are done. */
void fake_finish_late(void);
int fake_put_kernel(struct fake_stream *stream, int kernel, const void *job, size_t threads);
void fake_streams_forget(void);

/** Do some of what is on streams; or all. */
void fake_advance(void);
void fake_finish(void);

/* What is counted and checked; in fake_driver.c. */
extern struct fake_counts fake_counts;

/** Report a fault; from now on every call fails. @return error */
int fake_mistake(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

unsigned fake_random(unsigned below);

#endif
