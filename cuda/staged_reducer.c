/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reducing values in device memory: by the device, or on the host.
 *
 * On the host, a segment received into pinned memory is reduced with a copy of the rank's own
 * values, and the result is copied back; the engine polls:
 *
 *     reduce          own values > chunk starts
 *     test   ...      pending
 *     test            copied: chunk = chunk (op) received; chunk > device starts
 *     test   ...      pending
 *     test            done
 */
#include "staging_internal.h"

#include <stdlib.h>

struct staged_job {
    char *out, *chunk;
    const char *received;
    size_t elements;
    bool own_left, reduced;
    uint64_t ticket; /* of the pending copy */
};

/* ---- By the device ---- */

static void *device_allocate(struct strag_reducer *base, size_t elements)
{
    const struct strag_staging *staging = STAGING_OF(base);
    const struct strag_staging_options *options = &staging->options;
    return options->cuda->allocate(options->device, STRAG_CUDA_DEVICE,
                                   staging_bytes(staging, elements));
}

static void device_release(struct strag_reducer *base, void *buffer, int lost)
{
    const struct strag_staging_options *options = &STAGING_OF(base)->options;
    options->cuda->release(options->device, buffer, lost);
}

static int device_reduce(struct strag_reducer *base, void *out, const void *left, const void *right,
                         size_t elements, uint64_t *ticket)
{
    const struct strag_staging_options *options = &STAGING_OF(base)->options;
    int status = options->cuda->reduce(options->device, options->op, options->type, out, left,
                                       right, elements, ticket);
    return status == STRAG_OK ? STRAG_PENDING : status;
}

static int device_test(struct strag_reducer *base, uint64_t ticket)
{
    const struct strag_staging_options *options = &STAGING_OF(base)->options;
    return options->cuda->test(options->device, ticket);
}

static int any_copy(struct strag_reducer *base, void *out, const void *in, size_t elements)
{
    return strag_staging_copy(STAGING_OF(base), out, in, elements);
}

/* ---- On the host ---- */

static void *host_allocate(struct strag_reducer *base, size_t elements)
{
    struct strag_staging *staging = STAGING_OF(base);
    char *space = staging_take(staging, elements);
    if (space) {
        staging->host_begin = space + staging->options.span.true_lb;
        staging->host_end = staging->host_begin + staging_bytes(staging, elements);
    }
    return space;
}

static void host_release(struct strag_reducer *base, void *buffer, int lost)
{
    struct strag_staging *staging = STAGING_OF(base);
    staging_give(staging, buffer, lost);
    staging->host_begin = staging->host_end = NULL;
}

/* @return status */
static int end_job(struct strag_staging *staging, struct staged_job *job, int status)
{
    staging_give(staging, job->chunk, false);
    free(job);
    return status;
}

static int host_reduce(struct strag_reducer *base, void *out, const void *left, const void *right,
                       size_t elements, uint64_t *ticket)
{
    struct strag_staging *staging = STAGING_OF(base);
    struct staged_job *job = calloc(1, sizeof *job);
    if (!job)
        return STRAG_ERR_MEMORY;
    job->out = out;
    job->own_left = left == out;
    job->received = job->own_left ? right : left;
    job->elements = elements;
    job->chunk = staging_take(staging, elements);
    int status = job->chunk ? staging_copy(staging, STRAG_CUDA_FROM_DEVICE, job->chunk, out,
                                           elements, &job->ticket)
                            : STRAG_ERR_MEMORY;
    if (status != STRAG_OK)
        return end_job(staging, job, status);
    *ticket = (uint64_t)(uintptr_t)job;
    return STRAG_PENDING;
}

static int reduce_chunk(struct strag_staging *staging, struct staged_job *job)
{
    struct strag_reducer *host = staging->options.host;
    uint64_t unused;
    int status = host->reduce(host, job->chunk, job->own_left ? job->chunk : job->received,
                              job->own_left ? job->received : job->chunk, job->elements, &unused);
    if (status == STRAG_OK)
        status = staging_copy(staging, STRAG_CUDA_TO_DEVICE, job->out, job->chunk, job->elements,
                              &job->ticket);
    job->reduced = true;
    return status;
}

static int host_test(struct strag_reducer *base, uint64_t ticket)
{
    struct strag_staging *staging = STAGING_OF(base);
    const struct strag_staging_options *options = &staging->options;
    struct staged_job *job = (struct staged_job *)(uintptr_t)ticket;
    int status = options->cuda->test(options->device, job->ticket);
    if (status == STRAG_OK && !job->reduced) {
        status = reduce_chunk(staging, job);
        if (status == STRAG_OK)
            return STRAG_PENDING;
    }
    return status == STRAG_PENDING ? STRAG_PENDING : end_job(staging, job, status);
}

void staged_reducer_init(struct strag_staging *staging)
{
    if (staging->options.on_device)
        staging->reducer = (struct strag_reducer){device_allocate, device_release, device_reduce,
                                                  any_copy, device_test};
    else
        staging->reducer =
            (struct strag_reducer){host_allocate, host_release, host_reduce, any_copy, host_test};
}
