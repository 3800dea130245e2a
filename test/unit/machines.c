/* SPDX-License-Identifier: BSD-3-Clause */
#include "machines.h"

#include "support.h"

#include <limits.h>

/* ---- Nodes ---- */

static struct strag_node *append(struct machine_nodes *nodes)
{
    if (nodes->count == nodes->room) {
        nodes->room = nodes->room ? 2 * nodes->room : 16;
        nodes->list = realloc(nodes->list, (size_t)nodes->room * sizeof *nodes->list);
        if (!nodes->list)
            fail_msg("out of memory");
    }
    return &nodes->list[nodes->count++];
}

struct machine_nodes machine_nodes_create(void)
{
    struct machine_nodes nodes = {0, 0, NULL};
    *append(&nodes) = (struct strag_node){.level = STRAG_LEVEL_NETWORK, .parent = -1};
    return nodes;
}

int machine_node(struct machine_nodes *nodes, int parent, enum strag_level level)
{
    *append(nodes) =
        (struct strag_node){.level = (uint8_t)level, .parent = parent, .rank = -1, .position = -1};
    return nodes->count - 1;
}

void machine_rank(struct machine_nodes *nodes, int parent, int rank)
{
    int leaf = machine_node(nodes, parent, STRAG_LEVEL_RANK);
    nodes->list[leaf].rank = rank;
}

int machine_ranks(const struct machine_nodes *nodes)
{
    int n = 0;
    for (int i = 0; i < nodes->count; i++)
        n += nodes->list[i].level == STRAG_LEVEL_RANK;
    return n;
}

struct strag_topology *machine_finish(struct machine_nodes *nodes, const struct strag_grid *grid)
{
    struct strag_error err = {""};
    struct strag_topology *topology = NULL;
    int n = machine_ranks(nodes);
    if (strag_topology_create(grid, nodes->list, nodes->count, n, &topology, &err) != STRAG_OK)
        fail_msg("a topology of %d nodes: %s", nodes->count, err.text);
    assert_non_null(topology);
    machine_nodes_free(nodes);
    return topology;
}

void machine_nodes_free(struct machine_nodes *nodes)
{
    for (int i = 0; i < nodes->count; i++)
        free(nodes->list[i].name);
    free(nodes->list);
    *nodes = (struct machine_nodes){0, 0, NULL};
}

/* ---- Text ---- */

static const char level_letters[] = "?CUPHSN";

static void parse_node(struct machine_nodes *nodes, int parent, const char **rest);

/* "(" node node ... ")" */
static void parse_children(struct machine_nodes *nodes, int parent, const char **rest)
{
    if (**rest != '(')
        return;
    do {
        (*rest)++;
        parse_node(nodes, parent, rest);
    } while (**rest == ' ');
    if (**rest != ')')
        fail_msg("')' is needed at '%s'", *rest);
    (*rest)++;
}

static void parse_name(struct strag_node *node, const char **rest)
{
    size_t length = strcspn(++*rest, "#@( )");
    node->name = calloc(1, length + 1);
    if (!node->name)
        fail_msg("out of memory");
    for (size_t i = 0; i < length; i++)
        node->name[i] = *(*rest)++;
}

static void parse_node(struct machine_nodes *nodes, int parent, const char **rest)
{
    const char *letter = **rest ? strchr(level_letters + 1, **rest) : NULL;
    char *end = (char *)*rest + 1;
    long rank = letter ? -1 : strtol(*rest, &end, 10);
    if (end == *rest)
        fail_msg("a level or a rank is needed at '%s'", *rest);
    int i = machine_node(nodes, parent, letter ? (enum strag_level)(letter - level_letters) : 0);
    nodes->list[i].rank = (int32_t)rank;
    *rest = end;
    if (**rest == '=')
        parse_name(&nodes->list[i], rest);
    if (**rest == '#') {
        nodes->list[i].position = (int32_t)strtol(*rest + 1, &end, 10);
        *rest = end;
    }
    if (**rest == '@') {
        nodes->list[i].uplink = strtod(*rest + 1, &end);
        *rest = end;
    }
    parse_children(nodes, i, rest);
}

struct machine_nodes machine_parse(const char *text)
{
    struct machine_nodes nodes = {0, 0, NULL};
    const char *rest = text;
    parse_node(&nodes, -1, &rest);
    if (*rest)
        fail_msg("'%s': the end is needed at '%s'", text, rest);
    return nodes;
}

/* Writes behind what is there; cuts it at the end of the buffer. */
static void add(char *buffer, size_t size, const char *format, ...) STRAG_PRINTF(3, 4);
static void add(char *buffer, size_t size, const char *format, ...)
{
    size_t used = strlen(buffer);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer + used, size - used, format, arguments);
    va_end(arguments);
}

static void describe(const struct strag_topology *topology, int i, char *buffer, size_t size)
{
    const struct strag_node *node = &topology->nodes[i];
    if (node->level == STRAG_LEVEL_RANK)
        add(buffer, size, "%d", node->rank);
    else
        add(buffer, size, "%c", level_letters[node->level]);
    if (node->name)
        add(buffer, size, "=%s", node->name);
    if (node->position >= 0)
        add(buffer, size, "#%d", node->position);
    if (node->uplink > 0)
        add(buffer, size, "@%g", node->uplink);
    for (int c = 0; c < node->children; c++) {
        add(buffer, size, c ? " " : "(");
        describe(topology, node->first_child + c, buffer, size);
    }
    if (node->children)
        add(buffer, size, ")");
}

char *machine_describe(const struct strag_topology *topology, char *buffer, size_t size)
{
    buffer[0] = '\0';
    describe(topology, 0, buffer, size);
    return buffer;
}

/* ---- Grids ---- */

/* "8x8x4" @return how many sizes */
static int read_sizes(const char *text, int *sizes)
{
    int count = 0;
    for (const char *rest = text;; rest++) {
        char *end;
        long size = strtol(rest, &end, 10);
        if (end == rest || size < 1 || size > 1 << 20 || (*end && *end != 'x') ||
            count == STRAG_DIMS_MAX) {
            fail_msg("'%s' are no sizes of a grid", text);
            return 0;
        }
        sizes[count++] = (int)size;
        if (!*end)
            return count;
        rest = end;
    }
}

struct strag_grid machine_grid_of(enum strag_network network, bool wrap, const char *dims,
                                  const char *board)
{
    struct strag_grid grid = {.network = network};
    grid.dims = read_sizes(dims, grid.size);
    for (int d = 0; d < grid.dims; d++)
        grid.wrap[d] = wrap;
    if (board)
        assert_int_equal(read_sizes(board, grid.board), grid.dims);
    return grid;
}

struct strag_topology *machine_hosts(const struct strag_grid *grid, const int *positions, int hosts,
                                     int ranks_per_host)
{
    struct machine_nodes nodes = machine_nodes_create();
    for (int h = 0; h < hosts; h++) {
        int host = machine_node(&nodes, 0, STRAG_LEVEL_HOST);
        nodes.list[host].position = positions[h];
        for (int i = 0; i < ranks_per_host; i++)
            machine_rank(&nodes, host, h * ranks_per_host + i);
    }
    return machine_finish(&nodes, grid);
}

struct strag_topology *machine_grid(enum strag_network network, bool wrap, const char *dims,
                                    const char *board, int ranks_per_host)
{
    struct strag_grid grid = machine_grid_of(network, wrap, dims, board);
    int hosts = 1;
    for (int d = 0; d < grid.dims; d++)
        hosts *= grid.size[d];
    int *positions = malloc((size_t)hosts * sizeof *positions);
    if (!positions)
        fail_msg("out of memory");
    for (int h = 0; h < hosts; h++)
        positions[h] = h;
    struct strag_topology *topology = machine_hosts(&grid, positions, hosts, ranks_per_host);
    free(positions);
    return topology;
}

struct strag_topology *machine_random_box(const char *dims, int least, int ranks_per_host,
                                          struct rng *rng)
{
    struct strag_grid grid = machine_grid_of(STRAG_NETWORK_TORUS, true, dims, NULL);
    int first[3], size[3], positions[MACHINE_BOX_MOST], hosts = 0;
    assert_int_equal(grid.dims, 3);
    for (int d = 0; d < 3; d++) {
        first[d] = (int)rng_below(rng, (unsigned)grid.size[d]);
        size[d] = least + (int)rng_below(rng, 4);
    }
    for (int cell = 0; cell < size[0] * size[1] * size[2]; cell++) {
        const int at[] = {(first[0] + cell % size[0]) % grid.size[0],
                          (first[1] + cell / size[0] % size[1]) % grid.size[1],
                          (first[2] + cell / size[0] / size[1]) % grid.size[2]};
        const int other = (int)rng_below(rng, (unsigned)hosts + 1);
        positions[hosts++] = positions[other];
        positions[other] = strag_grid_position(&grid, at);
    }
    return machine_hosts(&grid, positions, hosts, ranks_per_host);
}

/* ---- Trees ---- */

struct strag_topology *machine_flat(int n, int ranks_per_host)
{
    struct machine_nodes nodes = machine_nodes_create();
    int host = 0;
    for (int rank = 0; rank < n; rank++) {
        if (rank % ranks_per_host == 0)
            host = machine_node(&nodes, 0, STRAG_LEVEL_HOST);
        machine_rank(&nodes, host, rank);
    }
    return machine_finish(&nodes, NULL);
}

struct tree_text {
    const char *all, *rest;
    struct machine_nodes nodes;
    int n; /* ranks so far */
};

static long read_number(struct tree_text *text)
{
    char *end;
    long number = strtol(text->rest, &end, 10);
    if (end == text->rest || number < 1)
        fail_msg("'%s' is no tree: a number is needed at '%s'", text->all, text->rest);
    text->rest = end;
    return number;
}

/* Elements between commas, each a number or a bracket, to the end or the closing bracket. */
static void read_children(struct tree_text *text, int parent)
{
    for (;;) {
        bool is_switch = *text->rest == '(';
        int node =
            machine_node(&text->nodes, parent, is_switch ? STRAG_LEVEL_SWITCH : STRAG_LEVEL_HOST);
        if (is_switch) {
            text->rest++;
            read_children(text, node);
            if (*text->rest != ')')
                fail_msg("'%s' is no tree: ')' is needed at '%s'", text->all, text->rest);
            text->rest++;
        } else {
            for (long left = read_number(text); left > 0; left--)
                machine_rank(&text->nodes, node, text->n++);
        }
        if (*text->rest == '@') {
            text->rest++;
            text->nodes.list[node].uplink = (double)read_number(text) * 1e9 / 8;
        }
        if (*text->rest != ',')
            return;
        text->rest++;
    }
}

struct strag_topology *machine_tree(const char *text)
{
    struct tree_text tree = {.all = text, .rest = text, .nodes = machine_nodes_create()};
    read_children(&tree, 0);
    if (*tree.rest)
        fail_msg("'%s' is no tree: the end is needed at '%s'", text, tree.rest);
    return machine_finish(&tree.nodes, NULL);
}

/* ---- What holds for every topology ---- */

static bool is_dispensable(int level)
{
    return level == STRAG_LEVEL_SWITCH || (level > STRAG_LEVEL_RANK && level < STRAG_LEVEL_HOST);
}

/* Level by level, children side by side, and nothing in it that tells no ranks apart. */
static void check_order(const struct strag_topology *topology)
{
    const struct strag_node *nodes = topology->nodes;
    int next = 1;
    assert_int_equal(nodes[0].level, STRAG_LEVEL_NETWORK);
    assert_int_equal(nodes[0].parent, -1);
    assert_true(nodes[0].uplink >= 0);
    for (int i = 0; i < topology->nnodes; i++) {
        assert_int_equal(nodes[i].first_child, next);
        next += nodes[i].children;
        for (int c = nodes[i].first_child; c < next; c++) {
            bool switches =
                nodes[i].level == STRAG_LEVEL_SWITCH && nodes[c].level == nodes[i].level;
            assert_int_equal(nodes[c].parent, i);
            assert_true(nodes[c].level < nodes[i].level || switches);
        }
        assert_int_equal(nodes[i].children == 0, nodes[i].level == STRAG_LEVEL_RANK);
        if (nodes[i].children == 1 && is_dispensable(nodes[i].level)) {
            assert_true(nodes[i].uplink > 0); /* it may be slower than what is below */
            assert_true(nodes[nodes[i].first_child].uplink == 0);
        }
        bool top = nodes[i].level == STRAG_LEVEL_HOST || i == 0;
        if (nodes[i].children == 1 && top)
            assert_false(is_dispensable(nodes[nodes[i].first_child].level));
        assert_int_equal(nodes[i].rank >= 0, nodes[i].level == STRAG_LEVEL_RANK);
        bool placed = topology->network != STRAG_NETWORK_TREE && nodes[i].level == STRAG_LEVEL_HOST;
        assert_int_equal(nodes[i].position >= 0, placed);
    }
    assert_int_equal(next, topology->nnodes);
}

/* Is rank below node i, as the parents tell? */
static bool is_below(const struct strag_topology *topology, int rank, int i)
{
    int node = topology->leaf_node[rank];
    while (node > i)
        node = topology->nodes[node].parent;
    return node == i;
}

/* A node's ranks are leaf_rank[first_leaf ..), and every rank knows its leaf and its host. */
static void check_ranks(const struct strag_topology *topology)
{
    int hosts = 0, fewest = INT_MAX, most = 0;
    for (int rank = 0; rank < topology->n; rank++) {
        assert_int_equal(topology->nodes[topology->leaf_node[rank]].rank, rank);
        assert_int_equal(topology->nodes[topology->host_node[rank]].level, STRAG_LEVEL_HOST);
        assert_true(is_below(topology, rank, topology->host_node[rank]));
    }
    for (int i = 0; i < topology->nnodes; i++) {
        const struct strag_node *node = &topology->nodes[i];
        int below = 0;
        for (int rank = 0; rank < topology->n; rank++)
            below += is_below(topology, rank, i);
        assert_int_equal(node->leaves, below);
        assert_in_range(node->first_leaf, 0, topology->n - below);
        for (int l = 0; l < below; l++)
            assert_true(is_below(topology, topology->leaf_rank[node->first_leaf + l], i));
        if (node->level != STRAG_LEVEL_HOST)
            continue;
        hosts++;
        fewest = below < fewest ? below : fewest;
        most = below > most ? below : most;
    }
    assert_int_equal(topology->hosts, hosts);
    assert_int_equal(topology->ranks_per_host, fewest == most ? most : 0);
}

void machine_check(const struct strag_topology *topology)
{
    check_order(topology);
    check_ranks(topology);
}

/* ---- Links ---- */

static int rank_below(const struct strag_topology *topology, int node)
{
    return topology->leaf_rank[topology->nodes[node].first_leaf];
}

static void name_tree_link(const struct strag_links *links, int link, char *buffer, size_t size)
{
    if (link >= 2 * links->topology->nnodes) {
        const struct strag_link_ends ends = strag_link_ends(links, link);
        snprintf(buffer, size, "from the group of rank %d to that of rank %d",
                 rank_below(links->topology, ends.from), rank_below(links->topology, ends.to));
        return;
    }
    const struct strag_node *node = &links->topology->nodes[link / 2];
    const char *direction = link % 2 ? "down" : "up";
    const char *level = strag_level_name(node->level);
    if (node->name)
        snprintf(buffer, size, "%s %s %s", level, node->name, direction);
    else if (node->rank >= 0)
        snprintf(buffer, size, "rank %d %s", node->rank, direction);
    else
        snprintf(buffer, size, "%s of rank %d %s", level, rank_below(links->topology, link / 2),
                 direction);
}

static void name_grid_link(const struct strag_links *links, int link, char *buffer, size_t size)
{
    static const char *const ways[] = {"+", "-", "from +", "from -"};
    const struct strag_grid *grid = &links->topology->grid;
    int at[STRAG_DIMS_MAX], d = grid->dims - 1;
    int rest = link - 2 * links->topology->nnodes;
    strag_grid_coordinates(grid, rest / links->per_position, at);
    rest %= links->per_position;
    while (links->before[d] > rest)
        d--;
    rest -= links->before[d];
    size_t used = 0;
    for (int e = 0; e < grid->dims; e++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%d", e ? "," : "(", at[e]);
    if (grid->network == STRAG_NETWORK_HYPERX)
        snprintf(buffer + used, size - used, ") dimension %d to %d", d, rest);
    else
        snprintf(buffer + used, size - used, ") dimension %d %s", d, ways[rest]);
}

char *machine_link_name(const struct strag_links *links, int link, char *buffer, size_t size)
{
    assert_in_range(size, 100, SIZE_MAX);
    if (link < links->in_tree)
        name_tree_link(links, link, buffer, size);
    else
        name_grid_link(links, link, buffer, size);
    return buffer;
}
