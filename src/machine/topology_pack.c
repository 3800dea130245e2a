/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packs a topology into few bytes: ranks keep it in this form while they rarely need it.
 *
 *     numbers   a mark of the format, ranks, nodes, and the grid
 *     columns   the nodes' levels, parents, ranks, positions and uplinks, as runs of equal steps
 *     names     of inner nodes: 0 if there is none; 1 if it is the name before with its number
 *               plus 1; else how many bytes it shares with the name before, at the beginning
 *               (plus 2) and at the end, how many are between, and these
 *
 * On machines of equal hosts a column has few runs: 64 ranks on each of 64 hosts have the numbers
 * 0, 1, .. 4095, one run. If ranks are numbered at random, a run has two numbers. A run is written
 * as its length less 1, its start less the number before it, and, with two or more numbers, the
 * step. Each of these takes as few bytes as it needs, with 7 bits per byte, the lowest first.
 */
#include "machine/topology.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum column { LEVEL, PARENT, RANK, POSITION, UPLINK, COLUMNS };

enum {
    MAGIC = 0x53545257,   /* changes with the format */
    NODES_MOST = 1 << 22, /* more than any job has, since a few bytes may stand for very many */
    NAME_MOST = 256       /* bytes of a name from which another one counts on */
};

static uint64_t value_of(const struct strag_node *node, enum column column)
{
    uint64_t bits;
    switch (column) {
    case LEVEL:
        return node->level;
    case PARENT:
        return (uint64_t)(int64_t)node->parent;
    case RANK:
        return (uint64_t)(int64_t)node->rank;
    case POSITION:
        return (uint64_t)(int64_t)node->position;
    default:
        memcpy(&bits, &node->uplink, sizeof bits);
        return bits;
    }
}

/* @return false if no node can have such a value */
static bool set_value(struct strag_node *node, enum column column, uint64_t value)
{
    const int64_t number = (int64_t)value;
    switch (column) {
    case LEVEL:
        node->level = (uint8_t)value;
        return value <= STRAG_LEVEL_NETWORK;
    case PARENT:
        node->parent = (int32_t)number;
        break;
    case RANK:
        node->rank = (int32_t)number;
        break;
    case POSITION:
        node->position = (int32_t)number;
        break;
    default:
        memcpy(&node->uplink, &value, sizeof value);
        return true;
    }
    return number >= -1 && number <= INT32_MAX;
}

/* ---- Packing ---- */

struct writer {
    unsigned char *bytes; /* NULL to only count */
    size_t length;
};

static void write_byte(struct writer *writer, unsigned char byte)
{
    if (writer->bytes)
        writer->bytes[writer->length] = byte;
    writer->length++;
}

static void write_number(struct writer *writer, uint64_t number)
{
    for (; number > 127; number >>= 7)
        write_byte(writer, (unsigned char)(number & 127) | 128);
    write_byte(writer, (unsigned char)number);
}

/* Differences may be negative: their sign becomes the lowest bit. */
static void write_difference(struct writer *writer, uint64_t difference)
{
    const bool negative = difference >> 63;
    write_number(writer, (negative ? ~difference : difference) << 1 | negative);
}

static void write_column(struct writer *writer, const struct strag_topology *topology,
                         enum column column)
{
    const struct strag_node *nodes = topology->nodes;
    uint64_t before = 0;
    for (int i = 0, end; i < topology->nnodes; i = end) {
        const uint64_t start = value_of(&nodes[i], column);
        uint64_t step = 0, last = start;
        for (end = i + 1; end < topology->nnodes; end++, last += step) {
            const uint64_t next = value_of(&nodes[end], column);
            if (end == i + 1)
                step = next - start;
            else if (next - last != step)
                break;
        }
        write_number(writer, (uint64_t)(end - i - 1));
        write_difference(writer, start - before);
        if (end > i + 1)
            write_difference(writer, step);
        before = last;
    }
}

/* n0099 becomes n0100. @return false if the name has no digits, or all are 9 */
static bool count_on(char *name)
{
    size_t end = strlen(name);
    while (end > 0 && !isdigit((unsigned char)name[end - 1]))
        end--;
    for (; end > 0 && name[end - 1] == '9'; end--)
        name[end - 1] = '0';
    if (end == 0 || !isdigit((unsigned char)name[end - 1]))
        return false;
    name[end - 1]++;
    return true;
}

/* @param name  NULL if the node has none */
static void write_name(struct writer *writer, const char *name, const char *before)
{
    const size_t length = name ? strlen(name) : 0, other = strlen(before);
    size_t begin = 0, end = 0;
    char next[NAME_MOST] = "";
    if (name && other < sizeof next)
        memcpy(next, before, other + 1);
    if (!name || (count_on(next) && strcmp(next, name) == 0)) {
        write_number(writer, name != NULL);
        return;
    }
    while (begin < length && begin < other && name[begin] == before[begin])
        begin++;
    while (begin + end < length && begin + end < other &&
           name[length - 1 - end] == before[other - 1 - end])
        end++;
    write_number(writer, begin + 2);
    write_number(writer, end);
    write_number(writer, length - begin - end);
    for (size_t c = begin; c < length - end; c++)
        write_byte(writer, (unsigned char)name[c]);
}

/* @param bytes  NULL to only count */
static size_t write_all(const struct strag_topology *topology, unsigned char *bytes)
{
    const struct strag_grid *grid = &topology->grid;
    struct writer writer = {bytes, 0};
    const char *before = "";
    write_number(&writer, MAGIC);
    write_number(&writer, (uint64_t)topology->n);
    write_number(&writer, (uint64_t)topology->nnodes);
    write_number(&writer, grid->network);
    write_number(&writer, (uint64_t)grid->dims);
    for (int d = 0; d < grid->dims; d++) {
        write_number(&writer, (uint64_t)grid->size[d]);
        write_number(&writer, (uint64_t)grid->board[d]);
        write_number(&writer, grid->wrap[d]);
    }
    for (int column = 0; column < COLUMNS; column++)
        write_column(&writer, topology, (enum column)column);
    for (int i = 0; i < topology->nnodes; i++) {
        const struct strag_node *node = &topology->nodes[i];
        if (node->level == STRAG_LEVEL_RANK)
            continue;
        write_name(&writer, node->name, before);
        before = node->name ? node->name : before;
    }
    return writer.length;
}

int strag_topology_pack(const struct strag_topology *topology, void **bytes, size_t *size,
                        struct strag_error *err)
{
    const bool fits = topology->nnodes <= NODES_MOST;
    unsigned char *buffer = fits ? malloc(write_all(topology, NULL)) : NULL;
    if (!buffer)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for packing %d nodes",
                          topology->nnodes);
    *size = write_all(topology, buffer);
    *bytes = buffer;
    return STRAG_OK;
}

/* ---- Unpacking ---- */

struct reader {
    const unsigned char *bytes;
    size_t left;
    bool bad; /* the bytes end too early, or are not valid */
};

static uint64_t read_number(struct reader *reader)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && reader->left > 0; shift += 7) {
        const uint64_t byte = *reader->bytes++;
        reader->left--;
        number |= (byte & 127) << shift;
        if (byte < 128)
            return number;
    }
    reader->bad = true;
    return 0;
}

/* Read a number up to `most`. @return 0 if the bytes are bad */
static int read_integer(struct reader *reader, int most)
{
    const uint64_t number = read_number(reader);
    reader->bad = reader->bad || number > (uint64_t)most;
    return reader->bad ? 0 : (int)number;
}

static uint64_t read_difference(struct reader *reader)
{
    const uint64_t number = read_number(reader);
    return number & 1 ? ~(number >> 1) : number >> 1;
}

static struct strag_grid read_grid(struct reader *reader)
{
    struct strag_grid grid = {.network = (enum strag_network)read_integer(reader, INT8_MAX)};
    grid.dims = read_integer(reader, STRAG_DIMS_MAX);
    for (int d = 0; d < grid.dims; d++) {
        grid.size[d] = read_integer(reader, INT32_MAX);
        grid.board[d] = read_integer(reader, INT32_MAX);
        grid.wrap[d] = read_integer(reader, 1);
    }
    return grid;
}

static void read_column(struct reader *reader, struct strag_node *nodes, int nnodes,
                        enum column column)
{
    uint64_t value = 0;
    for (int i = 0; i < nnodes && !reader->bad;) {
        const uint64_t more = read_number(reader);
        value += read_difference(reader);
        const uint64_t step = more ? read_difference(reader) : 0;
        reader->bad =
            reader->bad || more >= (uint64_t)(nnodes - i) || !set_value(&nodes[i++], column, value);
        for (uint64_t k = 0; k < more && !reader->bad; k++)
            reader->bad = !set_value(&nodes[i++], column, value += step);
    }
}

/* @param kind  1 if the name counts on; from 2 on with the beginning of the name before @return
 * NULL if out of memory, or if the bytes are bad */
static char *read_name(struct reader *reader, uint64_t kind, const char *before)
{
    const size_t length = strlen(before);
    const uint64_t begin = kind > 1 ? kind - 2 : length;
    const uint64_t end = kind > 1 ? read_number(reader) : 0;
    const uint64_t more = kind > 1 ? read_number(reader) : 0;
    reader->bad = reader->bad || begin > length || end > length - begin || more > reader->left;
    char *name = reader->bad ? NULL : malloc(begin + more + end + 1);
    if (!name)
        return NULL;
    memcpy(name, before, begin);
    memcpy(name + begin, reader->bytes, more);
    memcpy(name + begin + more, before + length - end, end + 1);
    reader->bytes += more;
    reader->left -= more;
    reader->bad = kind == 1 && !count_on(name);
    return name;
}

/* @return STRAG_OK, STRAG_ERR_MEMORY, or STRAG_ERR_ARGUMENT if the bytes are bad */
static int read_nodes(struct reader *reader, struct strag_node *nodes, int nnodes)
{
    const char *before = "";
    for (int column = 0; column < COLUMNS; column++)
        read_column(reader, nodes, nnodes, (enum column)column);
    for (int i = 0; i < nnodes && !reader->bad; i++) {
        const uint64_t kind = nodes[i].level == STRAG_LEVEL_RANK ? 0 : read_number(reader);
        if (kind == 0)
            continue;
        nodes[i].name = read_name(reader, kind, before);
        if (!nodes[i].name)
            return reader->bad ? STRAG_ERR_ARGUMENT : STRAG_ERR_MEMORY;
        before = nodes[i].name;
    }
    return reader->bad || reader->left ? STRAG_ERR_ARGUMENT : STRAG_OK;
}

int strag_topology_unpack(const void *bytes, size_t size, struct strag_topology **topology,
                          struct strag_error *err)
{
    struct reader reader = {bytes, size, false};
    reader.bad = read_number(&reader) != MAGIC;
    const int n = read_integer(&reader, NODES_MOST), nnodes = read_integer(&reader, NODES_MOST);
    const struct strag_grid grid = read_grid(&reader);
    if (reader.bad || nnodes < 1)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%zu bytes are no packed topology", size);

    struct strag_node *made = calloc((size_t)nnodes, sizeof *made);
    int status = made ? read_nodes(&reader, made, nnodes) : STRAG_ERR_MEMORY;
    if (status == STRAG_ERR_MEMORY)
        strag_fail(err, status, "out of memory for %d nodes", nnodes);
    else if (status != STRAG_OK)
        strag_fail(err, status, "%zu bytes are no packed topology", size);
    else
        status = strag_topology_create(grid.dims ? &grid : NULL, made, nnodes, n, topology, err);
    for (int i = 0; made && i < nnodes; i++)
        free(made[i].name);
    free(made);
    return status;
}
