/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Temporary space is kept for the next call, of whatever communicator: a call takes a piece that is
 * large enough, or makes one.
 */
#include "reducer.h"

#include "base/status.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPACES_KEPT = 4,
    ALIGNMENT = 64,
    SMALLEST = 4096, /* bytes of a piece of space */
    PIECE = COLL_STRAG_REDUCE_PIECE,
};

/* Temporary space that is not in use. */
struct space {
    struct space *next;
    size_t bytes;
};

static struct {
    pthread_mutex_t lock;
    struct space *first; /* the last used first */
    int count;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct coll_strag_reducer *own(struct strag_reducer *reducer)
{
    return (struct coll_strag_reducer *)reducer;
}

/* ---- Temporary space: a header, and ALIGNMENT bytes later the piece ---- */

static struct space *take_kept(size_t bytes)
{
    struct space *found = NULL;
    pthread_mutex_lock(&kept.lock);
    for (struct space **link = &kept.first; *link; link = &(*link)->next) {
        if ((*link)->bytes >= bytes) {
            found = *link;
            *link = found->next;
            kept.count--;
            break;
        }
    }
    pthread_mutex_unlock(&kept.lock);
    return found;
}

static struct space *make_space(size_t bytes)
{
    void *memory = NULL;
    if (bytes < SMALLEST)
        bytes = SMALLEST;
    if (bytes > SIZE_MAX - ALIGNMENT || posix_memalign(&memory, ALIGNMENT, bytes + ALIGNMENT) != 0)
        return NULL;
    struct space *space = memory;
    space->bytes = bytes;
    return space;
}

/* Keep a piece; if that is one too many, free the one that was not used for longest. */
static void keep(struct space *space)
{
    struct space *oldest = NULL;
    pthread_mutex_lock(&kept.lock);
    space->next = kept.first;
    kept.first = space;
    if (++kept.count > SPACES_KEPT) {
        struct space **link = &kept.first;
        while ((*link)->next)
            link = &(*link)->next;
        oldest = *link;
        *link = NULL;
        kept.count--;
    }
    pthread_mutex_unlock(&kept.lock);
    free(oldest);
}

void coll_strag_spaces_free(void)
{
    while (kept.first) {
        struct space *space = kept.first;
        kept.first = space->next;
        free(space);
    }
    kept.count = 0;
}

/* ---- The reducer ---- */

static void *host_allocate(struct strag_reducer *base, size_t elements)
{
    struct coll_strag_reducer *reducer = own(base);
    size_t extent = (size_t)reducer->extent, true_extent = (size_t)reducer->true_extent;
    if (elements - 1 > (SIZE_MAX / 2 - true_extent) / extent)
        return NULL;
    size_t bytes = (elements - 1) * extent + true_extent;
    struct space *space = take_kept(bytes);
    if (NULL == space)
        space = make_space(bytes);
    if (NULL == space)
        return NULL;
    reducer->space = (char *)space + ALIGNMENT;
    reducer->space_bytes = bytes;
    /* The address of an element is that of its origin, from which the data is true_lb away. */
    return (char *)space + ALIGNMENT - reducer->true_lb;
}

static void host_release(struct strag_reducer *base, void *buffer, int lost)
{
    if (!lost)
        keep((struct space *)((char *)buffer + own(base)->true_lb - ALIGNMENT));
}

static int host_copy(struct strag_reducer *base, void *out, const void *in, size_t elements)
{
    return ompi_datatype_copy_content_same_ddt(own(base)->dtype, elements, out, (char *)in) < 0
               ? STRAG_ERR_REDUCE
               : STRAG_OK;
}

/* target = source (op) target */
static void apply(const struct coll_strag_reducer *reducer, const void *source, void *target,
                  size_t elements)
{
    ompi_op_reduce(reducer->op, (void *)source, target, (int)elements, reducer->dtype);
}

/* Are the elements in temporary space, whose values may be destroyed? */
static bool is_temporary(const struct coll_strag_reducer *reducer, const char *elements)
{
    uintptr_t at = (uintptr_t)elements + (uintptr_t)reducer->true_lb;
    uintptr_t space = (uintptr_t)reducer->space;
    return reducer->space && at >= space && at < space + reducer->space_bytes;
}

/* out = left (op) right. The operator gets `out` and a copy of `right`, so that neither operand is
 * changed, unless it is `out`. Elements have up to PIECE bytes, and no gaps. */
static int reduce_with_copy(struct coll_strag_reducer *reducer, char *out, const char *left,
                            const char *right, size_t elements)
{
    _Alignas(ALIGNMENT) char piece[PIECE];
    const size_t most = PIECE / (size_t)reducer->extent;
    for (size_t done = 0; done < elements; done += most) {
        const ptrdiff_t offset = (ptrdiff_t)done * reducer->extent;
        const size_t count = elements - done < most ? elements - done : most;
        const size_t bytes = count * (size_t)reducer->extent;
        memcpy(piece, right + offset, bytes);
        if (out != left)
            memcpy(out + offset, left + offset, bytes);
        apply(reducer, out + offset, piece, count);
        memcpy(out + offset, piece, bytes);
    }
    return STRAG_OK;
}

/* out = out (op) right */
static int reduce_into_left(struct coll_strag_reducer *reducer, char *out, const char *right,
                            size_t elements)
{
    if (reducer->in_place && !is_temporary(reducer, right))
        return reduce_with_copy(reducer, out, out, right, elements);
    apply(reducer, out, (void *)(uintptr_t)right, elements);
    return host_copy(&reducer->super, out, right, elements);
}

/* out = left (op) right, in three buffers. A copy and the operator on two buffers, a piece at a
 * time so that it stays in the cache, take less time than Open MPI's operators on three buffers. */
static int reduce_apart(struct coll_strag_reducer *reducer, char *out, const char *left,
                        const char *right, size_t elements)
{
    const size_t most = PIECE / (size_t)reducer->extent;
    const size_t piece = most ? most : 1;
    for (size_t done = 0; done < elements; done += piece) {
        ptrdiff_t offset = (ptrdiff_t)done * reducer->extent;
        size_t count = elements - done < piece ? elements - done : piece;
        int status = host_copy(&reducer->super, out + offset, right + offset, count);
        if (status != STRAG_OK)
            return status;
        apply(reducer, left + offset, out + offset, count);
    }
    return STRAG_OK;
}

/* out = left (op) right by an operator that may write its first argument, if `left` is not
 * temporary: it is the call's input, or a message in place, which other ranks read, too. */
static int reduce_guarded(struct coll_strag_reducer *reducer, char *out, const char *left,
                          const char *right, size_t elements)
{
    if (reducer->in_place)
        return reduce_with_copy(reducer, out, left, right, elements);
    int status = host_copy(&reducer->super, out, left, elements);
    return status == STRAG_OK ? reduce_into_left(reducer, out, right, elements) : status;
}

static int host_reduce(struct strag_reducer *base, void *out, const void *left, const void *right,
                       size_t elements, uint64_t *ticket)
{
    struct coll_strag_reducer *reducer = own(base);
    (void)ticket;
    if (out == left)
        return reduce_into_left(reducer, out, right, elements);
    if (reducer->writes_both && !is_temporary(reducer, left))
        return reduce_guarded(reducer, out, left, right, elements);
    if (out != right)
        return reduce_apart(reducer, out, left, right, elements);
    apply(reducer, left, out, elements);
    return STRAG_OK;
}

int coll_strag_reducer_init(struct coll_strag_reducer *reducer, ompi_op_t *op,
                            ompi_datatype_t *dtype)
{
    ptrdiff_t lb;
    *reducer = (struct coll_strag_reducer){
        .super = {host_allocate, host_release, host_reduce, host_copy, NULL},
        .op = op,
        .dtype = dtype,
        .writes_both = !ompi_op_is_intrinsic(op),
    };
    if (ompi_datatype_get_extent(dtype, &lb, &reducer->extent) != OMPI_SUCCESS ||
        ompi_datatype_get_true_extent(dtype, &reducer->true_lb, &reducer->true_extent) !=
            OMPI_SUCCESS)
        return STRAG_ERR_REDUCE;
    return STRAG_OK;
}
