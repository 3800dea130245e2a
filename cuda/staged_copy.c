/* SPDX-License-Identifier: BSD-3-Clause */
/* Pinned memory, and copies of elements between it and a device. */
#include "staging_internal.h"

enum { PIECE = 1 << 20 }; /* bytes copied at a time where there are gaps */

size_t staging_bytes(const struct strag_staging *staging, size_t elements)
{
    const struct strag_span *span = &staging->options.span;
    return (elements - 1) * (size_t)span->extent + (size_t)span->true_extent;
}

bool staging_on_host(const struct strag_staging *staging, const void *element)
{
    const char *first = (const char *)element + staging->options.span.true_lb;
    return staging->host_begin && first >= staging->host_begin && first < staging->host_end;
}

void *staging_take(struct strag_staging *staging, size_t elements)
{
    const struct strag_staging_options *options = &staging->options;
    char *space = options->cuda->allocate(options->device, STRAG_CUDA_PINNED,
                                          staging_bytes(staging, elements));
    return space ? space - options->span.true_lb : NULL;
}

void staging_give(struct strag_staging *staging, void *chunk, bool lost)
{
    const struct strag_staging_options *options = &staging->options;
    if (chunk)
        options->cuda->release(options->device, (char *)chunk + options->span.true_lb, lost);
}

int staging_copy(struct strag_staging *staging, enum strag_cuda_way way, void *out, const void *in,
                 size_t elements, uint64_t *ticket)
{
    const struct strag_staging_options *options = &staging->options;
    return options->cuda->copy(options->device, way, (char *)out + options->span.true_lb,
                               (const char *)in + options->span.true_lb,
                               staging_bytes(staging, elements), ticket);
}

static int copy_and_wait(struct strag_staging *staging, enum strag_cuda_way way, void *out,
                         const void *in, size_t elements)
{
    const struct strag_staging_options *options = &staging->options;
    uint64_t ticket;
    int status = staging_copy(staging, way, out, in, elements, &ticket);
    return status == STRAG_OK ? options->cuda->wait(options->device, ticket) : status;
}

/* `out` goes to the host and back, to keep its gaps. */
static int copy_piece(struct strag_staging *staging, void *out, const void *in, void *there,
                      void *here, size_t elements)
{
    struct strag_reducer *host = staging->options.host;
    int status = copy_and_wait(staging, STRAG_CUDA_FROM_DEVICE, there, in, elements);
    if (status == STRAG_OK)
        status = copy_and_wait(staging, STRAG_CUDA_FROM_DEVICE, here, out, elements);
    if (status == STRAG_OK)
        status = host->copy(host, here, there, elements);
    return status == STRAG_OK ? copy_and_wait(staging, STRAG_CUDA_TO_DEVICE, out, here, elements)
                              : status;
}

int strag_staging_copy(struct strag_staging *staging, void *out, const void *in, size_t elements)
{
    const struct strag_span *span = &staging->options.span;
    int status = STRAG_OK;
    if (elements == 0)
        return STRAG_OK;
    if (!span->gaps)
        return copy_and_wait(staging, STRAG_CUDA_WITHIN, out, in, elements);
    size_t piece = PIECE / (size_t)span->extent + 1;
    piece = piece < elements ? piece : elements;
    void *there = staging_take(staging, piece), *here = staging_take(staging, piece);
    if (!there || !here)
        status = STRAG_ERR_MEMORY;
    for (size_t done = 0; done < elements && status == STRAG_OK; done += piece) {
        ptrdiff_t offset = (ptrdiff_t)done * span->extent;
        size_t count = elements - done < piece ? elements - done : piece;
        status = copy_piece(staging, (char *)out + offset, (const char *)in + offset, there, here,
                            count);
    }
    staging_give(staging, there, false);
    staging_give(staging, here, false);
    return status;
}
