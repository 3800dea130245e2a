/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static struct fake_piece *pieces;
static size_t device_bytes, pinned_bytes;

static char *map(size_t size, int protection)
{
    void *address = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return address == MAP_FAILED ? NULL : address;
}

/* Counts it. @param sign  1: it is new, -1: it goes */
static void count(const struct fake_piece *piece, int sign)
{
    bool pinned = piece->kind == FAKE_PINNED;
    size_t *bytes = pinned ? &pinned_bytes : &device_bytes;
    size_t *most = pinned ? &fake_counts.pinned_bytes_most : &fake_counts.device_bytes_most;
    *(pinned ? &fake_counts.pinned_pieces : &fake_counts.device_pieces) += sign;
    *bytes = sign > 0 ? *bytes + piece->size : *bytes - piece->size;
    *most = *bytes > *most ? *bytes : *most;
}

int fake_piece_make(enum fake_kind kind, struct fake_context *context, size_t size,
                    struct fake_piece **out)
{
    struct fake_piece *piece = calloc(1, sizeof *piece);
    if (!piece || size == 0 || size > SIZE_MAX / 2) {
        free(piece);
        return size ? FAKE_OUT_OF_MEMORY : FAKE_INVALID_VALUE;
    }
    piece->kind = kind;
    piece->context = context;
    piece->size = size;
    piece->mapped = (size + PAGE - 1) / PAGE * PAGE;
    piece->bytes = map(piece->mapped, PROT_READ | PROT_WRITE);
    piece->address = kind == FAKE_DEVICE ? map(piece->mapped, PROT_NONE) : piece->bytes;
    if (!piece->bytes || !piece->address) {
        if (piece->bytes)
            munmap(piece->bytes, piece->mapped);
        free(piece);
        return FAKE_OUT_OF_MEMORY;
    }
    memset(piece->bytes, 0xdb, piece->mapped); /* never zeros by chance */
    piece->next = pieces;
    pieces = piece;
    count(piece, 1);
    *out = piece;
    return FAKE_SUCCESS;
}

static void discard(struct fake_piece *piece)
{
    munmap(piece->bytes, piece->mapped);
    if (piece->address != piece->bytes)
        munmap(piece->address, piece->mapped);
    free(piece);
}

int fake_piece_free(enum fake_kind kind, const void *address)
{
    struct fake_piece **link = &pieces;
    while (*link && (*link)->address != address)
        link = &(*link)->next;
    struct fake_piece *piece = *link;
    if (!piece || (piece->kind == FAKE_PINNED) != (kind == FAKE_PINNED))
        return fake_mistake(FAKE_INVALID_VALUE, "freed %p, which is no piece", address);
    fake_finish(); /* as with a real one: freeing waits */
    *link = piece->next;
    count(piece, -1);
    discard(piece);
    return FAKE_SUCCESS;
}

struct fake_piece *fake_piece_find(const void *address)
{
    struct fake_piece *piece = pieces;
    while (piece && ((const char *)address < piece->address ||
                     (const char *)address >= piece->address + piece->size))
        piece = piece->next;
    return piece;
}

void *fake_contents(const void *address, size_t bytes, bool device)
{
    const struct fake_piece *piece = fake_piece_find(address);
    if (!piece)
        return device ? NULL : (void *)(uintptr_t)address;
    size_t offset = (size_t)((const char *)address - piece->address);
    return bytes <= piece->size - offset ? piece->bytes + offset : NULL;
}

void fake_pieces_forget(void)
{
    while (pieces) {
        struct fake_piece *piece = pieces;
        pieces = piece->next;
        discard(piece);
    }
    device_bytes = pinned_bytes = 0;
}
