/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology as bytes, few of them: ranks keep it so while they seldom need it.
 *
 *     struct head     with the grid, in this machine's own formats: a job's processes share them
 *     columns         the nodes' levels, numbers of children, first children, ranks, positions,
 *                     uplinks, and which have names, each as runs of equal steps
 *     names           how many bytes each shares with the one before, at its beginning and at its
 *                     end, how many are between, and these; then how many names count on from it
 *
 * On machines of equal hosts a column is a few runs: 64 ranks on each of 64 hosts have the numbers
 * 0, 1, .. 4095, one run. Where ranks are numbered at random a run is two of them. A run is its
 * length less 1, its start less the number before it, and, of two or more numbers, the step, each
 * in as few bytes as it needs, 7 bits in each, those of the lowest value first.
 */
#include "machine/topology.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t magic = 0x53545256; /* changes with the format */

/* `wrap` is no bool, since any byte may arrive. */
struct head {
    uint32_t magic;
    int32_t n, nnodes, network, dims;
    int32_t size[STRAG_DIMS_MAX], board[STRAG_DIMS_MAX];
    uint8_t wrap[STRAG_DIMS_MAX];
};

static struct head pack_head(const struct strag_topology *topology)
{
    const struct strag_grid *grid = &topology->grid;
    struct head head;
    memset(&head, 0, sizeof head);
    head.magic = magic;
    head.n = topology->n;
    head.nnodes = topology->nnodes;
    head.network = (int32_t)grid->network;
    head.dims = grid->dims;
    for (int d = 0; d < grid->dims; d++) {
        head.size[d] = grid->size[d];
        head.board[d] = grid->board[d];
        head.wrap[d] = grid->wrap[d];
    }
    return head;
}

static struct strag_grid unpack_grid(const struct head *head)
{
    struct strag_grid grid = {.network = (enum strag_network)head->network, .dims = head->dims};
    for (int d = 0; d < STRAG_DIMS_MAX; d++) {
        grid.size[d] = head->size[d];
        grid.board[d] = head->board[d];
        grid.wrap[d] = head->wrap[d] != 0;
    }
    return grid;
}

/* ---- Columns ---- */

enum column { LEVEL, CHILDREN, FIRST_CHILD, RANK, POSITION, UPLINK, NAMED, COLUMNS };

/* More nodes than any job has ranks: a few bytes may stand for very many. */
enum { NODES_MOST = 1 << 22 };

static uint64_t value_of(const struct strag_node *node, enum column column)
{
    uint64_t bits;
    switch (column) {
    case LEVEL:
        return node->level;
    case CHILDREN:
        return (uint64_t)node->children;
    case FIRST_CHILD:
        return node->children ? (uint64_t)node->first_child : 0;
    case RANK:
        return (uint64_t)(int64_t)node->rank;
    case POSITION:
        return (uint64_t)(int64_t)node->position;
    case UPLINK:
        memcpy(&bits, &node->uplink, sizeof bits);
        return bits;
    default:
        return node->name != NULL;
    }
}

/* @return false: no node has such a value */
static bool set_value(struct strag_node *node, enum column column, uint64_t value)
{
    const int64_t number = (int64_t)value;
    switch (column) {
    case LEVEL:
        node->level = (uint8_t)value;
        return value <= STRAG_LEVEL_NETWORK;
    case CHILDREN:
        node->children = (int32_t)number;
        break;
    case FIRST_CHILD:
        node->first_child = (int32_t)number;
        break;
    case RANK:
        node->rank = (int32_t)number;
        break;
    case POSITION:
        node->position = (int32_t)number;
        break;
    case UPLINK:
        memcpy(&node->uplink, &value, sizeof value);
        return true;
    default: /* no leaf yet has leaves */
        node->leaves = value == 1;
        return value <= 1;
    }
    return number >= -1 && number <= INT32_MAX;
}

/* ---- Packing ---- */

struct writer {
    unsigned char *bytes; /* NULL: only count */
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

/* Differences may be below 0: their sign becomes the lowest bit. */
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

/* n0099 becomes n0100. @return false: it has no digits, or all are 9 */
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

static void write_name(struct writer *writer, const char *name, const char *before)
{
    const size_t length = strlen(name), other = strlen(before);
    size_t begin = 0, end = 0;
    while (begin < length && begin < other && name[begin] == before[begin])
        begin++;
    while (begin + end < length && begin + end < other &&
           name[length - 1 - end] == before[other - 1 - end])
        end++;
    write_number(writer, begin);
    write_number(writer, end);
    write_number(writer, length - begin - end);
    for (size_t c = begin; c < length - end; c++)
        write_byte(writer, (unsigned char)name[c]);
}

/* @return the next node with a name, from this one on; nnodes: none */
static int find_name(const struct strag_node *nodes, int nnodes, int from)
{
    while (from < nnodes && !nodes[from].name)
        from++;
    return from;
}

/* @return false: out of memory */
static bool write_names(struct writer *writer, const struct strag_topology *topology)
{
    const struct strag_node *nodes = topology->nodes;
    const int nnodes = topology->nnodes;
    const char *before = "";
    for (int i = find_name(nodes, nnodes, 0); i < nnodes;) {
        const char *name = nodes[i].name;
        char *next = strag_text_copy(name, strlen(name));
        uint64_t more = 0;
        if (!next)
            return false;
        write_name(writer, name, before);
        i = find_name(nodes, nnodes, i + 1);
        for (; i < nnodes && count_on(next) && strcmp(nodes[i].name, next) == 0; more++) {
            name = nodes[i].name;
            i = find_name(nodes, nnodes, i + 1);
        }
        write_number(writer, more);
        free(next);
        before = name;
    }
    return true;
}

/* @param bytes  NULL: only count. @return 0: out of memory */
static size_t write_all(const struct strag_topology *topology, unsigned char *bytes)
{
    struct writer writer = {bytes, 0};
    for (int column = 0; column < COLUMNS; column++)
        write_column(&writer, topology, (enum column)column);
    return write_names(&writer, topology) ? writer.length : 0;
}

int strag_topology_pack(const struct strag_topology *topology, void **bytes, size_t *size,
                        struct strag_error *err)
{
    const struct head head = pack_head(topology);
    const size_t written = topology->nnodes <= NODES_MOST ? write_all(topology, NULL) : 0;
    char *buffer = written ? malloc(sizeof head + written) : NULL;
    if (buffer && write_all(topology, (unsigned char *)buffer + sizeof head) != written) {
        free(buffer);
        buffer = NULL;
    }
    if (!buffer)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for packing %d nodes",
                          topology->nnodes);
    memcpy(buffer, &head, sizeof head);
    *bytes = buffer;
    *size = sizeof head + written;
    return STRAG_OK;
}

/* ---- Unpacking ---- */

struct reader {
    const unsigned char *bytes;
    size_t left;
    bool bad; /* they end too early, or mean nothing */
};

static unsigned read_byte(struct reader *reader)
{
    reader->bad = reader->bad || reader->left == 0;
    if (reader->bad)
        return 0;
    reader->left--;
    return *reader->bytes++;
}

static uint64_t read_number(struct reader *reader)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint64_t byte = read_byte(reader);
        number |= (byte & 127) << shift;
        if (byte < 128)
            return number;
    }
    reader->bad = true;
    return 0;
}

static uint64_t read_difference(struct reader *reader)
{
    const uint64_t number = read_number(reader);
    return number & 1 ? ~(number >> 1) : number >> 1;
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

/* Children know their parents then. */
static void find_parents(struct reader *reader, struct strag_node *nodes, int nnodes)
{
    int children = 0;
    for (int i = 0; i < nnodes; i++)
        nodes[i].parent = -1;
    for (int i = 0; i < nnodes && !reader->bad; i++) {
        const struct strag_node *node = &nodes[i];
        reader->bad = node->children < 0 || node->children > nnodes - 1 - children ||
                      node->first_child < 0 || node->first_child > nnodes - node->children;
        for (int c = 0; !reader->bad && c < node->children; c++)
            nodes[node->first_child + c].parent = i;
        children += reader->bad ? 0 : node->children;
    }
}

/* @param before  NULL: there is none. @return NULL: out of memory, or bad */
static char *read_name(struct reader *reader, const char *before)
{
    const uint64_t begin = read_number(reader), end = read_number(reader);
    const uint64_t more = read_number(reader);
    const size_t length = before ? strlen(before) : 0;
    reader->bad = reader->bad || begin > length || end > length - begin || more > reader->left;
    char *name = reader->bad ? NULL : malloc(begin + more + end + 1);
    if (!name)
        return NULL;
    if (begin)
        memcpy(name, before, begin);
    memcpy(name + begin, reader->bytes, more);
    if (end)
        memcpy(name + begin + more, before + length - end, end);
    name[begin + more + end] = '\0';
    reader->bytes += more;
    reader->left -= more;
    return name;
}

/* @return STRAG_OK, STRAG_ERR_MEMORY, or STRAG_ERR_ARGUMENT: they are no nodes */
static int read_nodes(struct reader *reader, struct strag_node *nodes, int nnodes)
{
    const char *before = NULL;
    uint64_t more = 0;
    for (int column = 0; column < COLUMNS; column++)
        read_column(reader, nodes, nnodes, (enum column)column);
    find_parents(reader, nodes, nnodes);
    for (int i = 0; i < nnodes && !reader->bad; i++) {
        if (!nodes[i].leaves)
            continue;
        const bool counts_on = more > 0;
        nodes[i].name =
            counts_on ? strag_text_copy(before, strlen(before)) : read_name(reader, before);
        if (!nodes[i].name)
            return reader->bad ? STRAG_ERR_ARGUMENT : STRAG_ERR_MEMORY;
        reader->bad = counts_on && !count_on(nodes[i].name);
        more = counts_on ? more - 1 : read_number(reader);
        before = nodes[i].name;
    }
    reader->bad = reader->bad || more > 0;
    return reader->bad || reader->left ? STRAG_ERR_ARGUMENT : STRAG_OK;
}

int strag_topology_unpack(const void *bytes, size_t size, struct strag_topology **topology,
                          struct strag_error *err)
{
    struct head head = {.magic = 0};
    if (size >= sizeof head)
        memcpy(&head, bytes, sizeof head);
    if (head.magic != magic || head.nnodes < 1 || head.nnodes > NODES_MOST)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%zu bytes are no packed topology", size);

    const struct strag_grid grid = unpack_grid(&head);
    struct reader reader = {(const unsigned char *)bytes + sizeof head, size - sizeof head, false};
    struct strag_node *made = calloc((size_t)head.nnodes, sizeof *made);
    int status = made ? read_nodes(&reader, made, head.nnodes) : STRAG_ERR_MEMORY;
    if (status == STRAG_ERR_MEMORY)
        strag_fail(err, status, "out of memory for %d nodes", head.nnodes);
    else if (status != STRAG_OK)
        strag_fail(err, status, "%zu bytes are no packed topology", size);
    else
        status = strag_topology_create(grid.dims ? &grid : NULL, made, head.nnodes, head.n,
                                       topology, err);
    for (int i = 0; made && i < head.nnodes; i++)
        free(made[i].name);
    free(made);
    return status;
}
