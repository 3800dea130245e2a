/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag topology: the machine as it was read, and the placement of ranks.
 */
#include "draw.h"
#include "model/loads.h"
#include "write.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With more hosts than this, adjacent equal ones share a line. */
#define HOSTS_MAX 32
/* The most hosts of a picture. */
#define DRAWN_MAX 1024

static double gbit(double bytes_per_second)
{
    return bytes_per_second * 8 / 1e9;
}

/* ---- Text: what was read ---- */

static void write_sizes(const int *size, int dims)
{
    for (int d = 0; d < dims; d++)
        printf("%s%d", d ? "x" : "", size[d]);
}

static int count_wraps(const bool *wrap, int dims)
{
    int count = 0;
    for (int d = 0; d < dims; d++)
        count += wrap[d];
    return count;
}

/* "; wraps in all dimensions", "; wraps in dimensions 0,2", "; does not wrap" */
static void write_wrap(const bool *wrap, int dims)
{
    int count = count_wraps(wrap, dims);
    if (count == dims || count == 0) {
        printf(count ? "; wraps in all dimensions" : "; does not wrap");
        return;
    }
    printf("; wraps in dimension%s ", count == 1 ? "" : "s");
    for (int d = 0, written = 0; d < dims; d++) {
        if (wrap[d])
            printf("%s%d", written++ ? "," : "", d);
    }
}

static void write_network(const struct strag_topology *topology)
{
    const struct strag_grid *grid = &topology->grid;
    bool mesh =
        topology->network == STRAG_NETWORK_TORUS && count_wraps(grid->wrap, grid->dims) == 0;
    printf("network    %s", mesh ? "mesh" : strag_network_name(topology->network));
    if (topology->network != STRAG_NETWORK_TREE) {
        putchar(' ');
        write_sizes(grid->size, grid->dims);
    }
    if (topology->network == STRAG_NETWORK_HAMMINGMESH) {
        printf(" of boards ");
        write_sizes(grid->board, grid->dims);
    }
    if (topology->network == STRAG_NETWORK_TORUS && !mesh)
        write_wrap(grid->wrap, grid->dims);
    putchar('\n');
}

/* Count the switches of the description, without a root that was added to join them. */
static int count_switches(const struct machine *machine)
{
    const struct strag_layout *layout = machine->layout;
    bool added = machine->kind == OPTION_LAYOUT && !layout->switches[0].name;
    return layout->nswitches - added;
}

static void write_layout(const struct machine *machine)
{
    const struct strag_layout *layout = machine->layout;
    char title[4096];
    printf("read       %s", machine_title(machine, title, sizeof title));
    if (!layout) {
        putchar('\n');
        return;
    }
    printf(": %s", strag_units_count(layout->nhosts, "host").text);
    if (machine->kind == OPTION_HWLOC)
        printf(", %s", strag_units_count(machine->ncores, "core").text);
    else if (layout->network == STRAG_NETWORK_TREE)
        printf(", %s", strag_units_count(count_switches(machine), "switch").text);
    else
        printf(", %s", strag_units_count(strag_grid_positions(&layout->grid), "position").text);
    if (layout->nranks)
        printf(", %s placed", strag_units_count(layout->nranks, "rank").text);
    putchar('\n');
}

static void write_job(const struct strag_topology *topology)
{
    printf("job        %s on %s, ", strag_units_count(topology->n, "rank").text,
           strag_units_count(topology->hosts, "host").text);
    if (topology->ranks_per_host)
        printf("%d on each\n", topology->ranks_per_host);
    else
        puts("not the same number on each");
}

/* Why algorithms for tori do not apply, or NULL if they do. */
static const char *no_box(const struct strag_topology *topology)
{
    if (topology->box)
        return NULL;
    if (topology->network == STRAG_NETWORK_TREE)
        return "a tree has no dimensions";
    if (!topology->ranks_per_host)
        return "the hosts have different numbers of ranks";
    return "the hosts leave gaps in the grid";
}

static void write_box(const struct strag_topology *topology)
{
    const struct strag_box *box = topology->box;
    printf("box        ");
    if (!box) {
        printf("none: %s\n", no_box(topology));
        return;
    }
    write_sizes(box->size, box->dims);
    printf(" from ");
    printf("%s", strag_coordinates_text(box->first, box->dims).text);
    if (topology->network == STRAG_NETWORK_TORUS)
        write_wrap(box->wrap, box->dims);
    putchar('\n');
}

/* ---- Levels ---- */

static void write_level(const struct strag_topology *topology, int level)
{
    int nodes = 0;
    double slowest = INFINITY, fastest = 0; /* of configured uplinks, bytes per second */
    for (int i = 0; i < topology->nnodes; i++) {
        const struct strag_node *node = &topology->nodes[i];
        if (node->level != level)
            continue;
        nodes++;
        if (node->uplink > 0) {
            slowest = fmin(slowest, node->uplink);
            fastest = fmax(fastest, node->uplink);
        }
    }
    if (!nodes)
        return;
    printf("level      %-11s %d", strag_level_name((enum strag_level)level), nodes);
    if (slowest < fastest)
        printf(", uplinks %g to %g Gbit/s", gbit(slowest), gbit(fastest));
    else if (fastest > 0)
        printf(", uplinks %g Gbit/s", gbit(slowest));
    putchar('\n');
}

/* ---- Placement ---- */

/* The number of ranks from here on with a constant step: 4,5,6 or 0,8,16; at least 1. */
static int row_length(const int32_t *ranks, int count)
{
    int length = 1;
    while (length < count && ranks[length] - ranks[length - 1] == ranks[1] - ranks[0])
        length++;
    return length == 2 && ranks[1] != ranks[0] + 1 ? 1 : length;
}

/* "0-3,8,9", "0-24 by 8" */
static void write_ranks(const int32_t *ranks, int count)
{
    for (int i = 0; i < count;) {
        int length = row_length(ranks + i, count - i);
        int last = i + length - 1;
        printf("%s%d", i ? "," : "", ranks[i]);
        if (length > 1)
            printf("-%d", ranks[last]);
        if (length > 1 && ranks[i + 1] - ranks[i] != 1)
            printf(" by %d", ranks[i + 1] - ranks[i]);
        i += length;
    }
}

/* Write " at (1,0)", unless that is the host's name or the network is a tree. */
static void write_position(const struct strag_topology *topology, const struct strag_node *node)
{
    int at[STRAG_DIMS_MAX];
    if (topology->network == STRAG_NETWORK_TREE || node->position < 0)
        return;
    strag_grid_coordinates(&topology->grid, node->position, at);
    const struct strag_coordinates text = strag_coordinates_text(at, topology->grid.dims);
    if (!node->name || strcmp(node->name, text.text) != 0)
        printf(" at %s", text.text);
}

static void write_node(const struct strag_topology *topology, const struct strag_node *node,
                       int indent)
{
    printf("%*s%s", indent, "", strag_level_name((enum strag_level)node->level));
    if (node->name)
        printf(" %s", node->name);
    write_position(topology, node);
    if (node->uplink > 0)
        printf(", %g Gbit/s", gbit(node->uplink));
    printf(": rank%s ", node->leaves == 1 ? "" : "s");
    write_ranks(topology->leaf_rank + node->first_leaf, node->leaves);
    putchar('\n');
}

/* Are there only ranks below, which the node's own line lists? */
static bool is_lowest(const struct strag_node *node)
{
    return node->level == STRAG_LEVEL_RANK ||
           (node->level <= STRAG_LEVEL_HOST && node->children == node->leaves);
}

/* The number of siblings from here on that are equal hosts with consecutive ranks. */
static int identical_hosts(const struct strag_topology *topology, int first, int end)
{
    const struct strag_node *nodes = topology->nodes;
    const int32_t *ranks = topology->leaf_rank;
    int host = first;
    for (; host < end; host++) {
        const struct strag_node *node = &nodes[host];
        if (node->level != STRAG_LEVEL_HOST || !is_lowest(node) ||
            node->leaves != nodes[first].leaves || node->uplink != nodes[first].uplink)
            break;
        /* The leaves of siblings are adjacent, so this compares with the previous host, too. */
        int from = host == first ? 1 : 0;
        int leaf = node->first_leaf + from;
        while (leaf < node->first_leaf + node->leaves && ranks[leaf] == ranks[leaf - 1] + 1)
            leaf++;
        if (leaf < node->first_leaf + node->leaves)
            break;
    }
    return host - first;
}

static void write_hosts(const struct strag_topology *topology, int first, int count, int indent)
{
    const struct strag_node *from = &topology->nodes[first];
    const struct strag_node *last = &topology->nodes[first + count - 1];
    printf("%*s%d hosts", indent, "", count);
    if (from->name && last->name)
        printf(", %s to %s", from->name, last->name);
    if (from->uplink > 0)
        printf(", %g Gbit/s each", gbit(from->uplink));
    printf(": ranks ");
    write_ranks(topology->leaf_rank + from->first_leaf, count * from->leaves);
    printf(", %d on each\n", from->leaves);
}

/* The next node that is not below this one, depth first, or 0 if there is none. */
static int next_node(const struct strag_topology *topology, int i, int *depth)
{
    const struct strag_node *nodes = topology->nodes;
    while (i > 0) {
        const struct strag_node *parent = &nodes[nodes[i].parent];
        if (i + 1 < parent->first_child + parent->children)
            return i + 1;
        i = nodes[i].parent;
        --*depth;
    }
    return 0;
}

static void write_placement(const struct strag_topology *topology)
{
    const struct strag_node *nodes = topology->nodes;
    int depth = 1;
    for (int i = nodes[0].first_child; i > 0;) {
        const struct strag_node *parent = &nodes[nodes[i].parent];
        int end = parent->first_child + parent->children;
        int same = topology->hosts > HOSTS_MAX ? identical_hosts(topology, i, end) : 0;
        if (same > 1) {
            write_hosts(topology, i, same, 2 * depth);
            i = next_node(topology, i + same - 1, &depth);
            continue;
        }
        if (nodes[i].level == STRAG_LEVEL_RANK)
            printf("%*srank %d\n", 2 * depth, "", nodes[i].rank);
        else
            write_node(topology, &nodes[i], 2 * depth);
        if (is_lowest(&nodes[i])) {
            i = next_node(topology, i, &depth);
        } else {
            i = nodes[i].first_child;
            depth++;
        }
    }
}

static void write_text(const struct machine *machine)
{
    const struct strag_topology *topology = machine->topology;
    write_layout(machine);
    write_network(topology);
    write_job(topology);
    write_box(topology);
    for (int level = STRAG_LEVEL_NETWORK; level >= 0; level--)
        write_level(topology, level);
    puts("placement");
    write_placement(topology);
}

/* ---- JSON ---- */

static void write_json_integers(const char *name, const int *values, int count)
{
    printf("\"%s\":[", name);
    for (int i = 0; i < count; i++)
        printf("%s%d", i ? "," : "", values[i]);
    putchar(']');
}

static void write_json_wrap(const bool *wrap, int dims)
{
    printf("\"wrap\":[");
    for (int d = 0; d < dims; d++)
        printf("%s%s", d ? "," : "", wrap[d] ? "true" : "false");
    putchar(']');
}

static void write_json_grid(const struct strag_topology *topology)
{
    const struct strag_grid *grid = &topology->grid;
    if (topology->network == STRAG_NETWORK_TREE)
        return;
    putchar(',');
    write_json_integers("dims", grid->size, grid->dims);
    putchar(',');
    write_json_wrap(grid->wrap, grid->dims);
    if (topology->network == STRAG_NETWORK_HAMMINGMESH) {
        putchar(',');
        write_json_integers("board", grid->board, grid->dims);
    }
}

static void write_json_layout(const struct machine *machine)
{
    const struct strag_layout *layout = machine->layout;
    printf(",\"layout\":");
    if (!layout) {
        printf("null");
        return;
    }
    printf("{\"hosts\":%d", layout->nhosts);
    if (machine->kind == OPTION_HWLOC)
        printf(",\"cores\":%d", machine->ncores);
    else if (layout->network == STRAG_NETWORK_TREE)
        printf(",\"switches\":%d", count_switches(machine));
    else
        printf(",\"positions\":%d", strag_grid_positions(&layout->grid));
    putchar('}');
}

static void write_json_box(const struct strag_topology *topology)
{
    const struct strag_box *box = topology->box;
    printf(",\"box\":");
    if (!box) {
        printf("null,\"no_box\":\"%s\"", no_box(topology));
        return;
    }
    putchar('{');
    write_json_integers("dims", box->size, box->dims);
    putchar(',');
    write_json_integers("first", box->first, box->dims);
    putchar(',');
    write_json_wrap(box->wrap, box->dims);
    printf(",\"ranks_per_host\":%d}", box->ranks_per_host);
}

static void write_json_node(const struct strag_topology *topology, int index)
{
    const struct strag_node *node = &topology->nodes[index];
    int at[STRAG_DIMS_MAX];
    printf("{\"id\":%d,\"level\":\"%s\",\"parent\":%d", index,
           strag_level_name((enum strag_level)node->level), node->parent);
    if (node->name) {
        printf(",\"name\":");
        write_json_string(node->name);
    }
    if (topology->network != STRAG_NETWORK_TREE && node->position >= 0) {
        strag_grid_coordinates(&topology->grid, node->position, at);
        putchar(',');
        write_json_integers("at", at, topology->grid.dims);
    }
    if (node->uplink > 0)
        printf(",\"uplink_gbit\":%.9g", gbit(node->uplink));
    printf(",\"ranks\":[");
    for (int l = 0; l < node->leaves; l++)
        printf("%s%d", l ? "," : "", topology->leaf_rank[node->first_leaf + l]);
    printf("]}");
}

/* What a picture needs in addition. */
struct drawn {
    const struct machine *machine;
    const struct strag_algorithm *algorithm; /* NULL if all links are drawn in the same way */
    struct strag_links *links;
    double *load; /* [link]: vectors */
};

/* Write the links that exist, each as ends, dimension, bytes a second and load
 * (pictures/machine.py). */
static void write_json_links(const struct drawn *drawn)
{
    const char *comma = "";
    printf("],\"algorithm\":");
    if (drawn->algorithm)
        write_json_string(drawn->algorithm->name);
    else
        printf("null");
    printf(",\"links\":[");
    for (int l = 0; l < drawn->links->nlinks; l++) {
        const struct strag_link_ends ends = strag_link_ends(drawn->links, l);
        const double bandwidth = strag_link_bandwidth(drawn->links, l);
        if (ends.from < 0 && ends.to < 0)
            continue;
        printf("%s\n[%d,%d,%d,", comma, ends.from, ends.to, ends.dim);
        if (isfinite(bandwidth))
            printf("%.17g,%.17g]", bandwidth, drawn->load[l]);
        else
            printf("null,%.17g]", drawn->load[l]);
        comma = ",";
    }
}

/* @param drawn  NULL if the JSON is for a program, not for a picture */
static void write_json(const struct machine *machine, const struct drawn *drawn)
{
    const struct strag_topology *topology = machine->topology;
    char title[4096];
    printf("{\"topology\":");
    write_json_string(machine_title(machine, title, sizeof title));
    printf(",\"network\":\"%s\"", strag_network_name(topology->network));
    write_json_grid(topology);
    write_json_layout(machine);
    printf(",\"n\":%d,\"hosts\":%d,\"ranks_per_host\":%d", topology->n, topology->hosts,
           topology->ranks_per_host);
    write_json_box(topology);
    printf(",\"nodes\":[");
    const char *comma = "";
    for (int i = 0; i < topology->nnodes; i++) {
        if (topology->nodes[i].level == STRAG_LEVEL_RANK && !drawn)
            continue;
        printf("%s\n", comma);
        write_json_node(topology, i);
        comma = ",";
    }
    if (drawn)
        write_json_links(drawn);
    puts("]}");
}

/* ---- A picture ---- */

static int write_drawn(const void *what)
{
    const struct drawn *drawn = what;
    write_json(drawn->machine, drawn);
    return EXIT_DONE;
}

static bool is_too_large(const struct strag_topology *topology)
{
    const int count = topology->network != STRAG_NETWORK_TREE
                          ? strag_grid_positions(&topology->grid)
                      : topology->hosts > 1 ? topology->hosts
                                            : topology->n;
    return count > DRAWN_MAX;
}

static int refuse_large(const struct command *command)
{
    return complain(command, STRAG_ERR_ARGUMENT, "--format svg draws at most %d hosts", DRAWN_MAX);
}

static int draw(const struct command *command, const struct machine *machine,
                const struct strag_algorithm *algorithm)
{
    struct drawn drawn = {.machine = machine, .algorithm = algorithm};
    struct strag_problem problem = machine->problem;
    struct strag_error err;
    if (is_too_large(machine->topology))
        return refuse_large(command);
    problem.topology = machine->topology;
    int status = strag_links_create(machine->topology, &machine->sourced.model, problem.state,
                                    &drawn.links, &err);
    if (status == STRAG_OK) {
        drawn.load = calloc((size_t)drawn.links->nlinks, sizeof *drawn.load);
        if (!drawn.load)
            status = strag_fail(&err, STRAG_ERR_MEMORY, "out of memory for a picture");
        else if (algorithm)
            status = strag_link_loads(algorithm, &problem, drawn.links, drawn.load, &err);
    }
    int result = status == STRAG_OK ? draw_json(command, write_drawn, &drawn)
                                    : complain(command, status, "%s", err.text);
    strag_links_free(drawn.links);
    free(drawn.load);
    return result;
}

/* ---- The command ---- */

enum { TEXT, JSON, SVG };

static const char *const formats[] = {"text", "json", "svg", NULL};

/* Without a named machine, this machine is meant. */
static struct arguments with_machine(const struct arguments *arguments)
{
    struct arguments meant = *arguments;
    if (!says_ranks(arguments) && !arguments->value[OPTION_RANKS_PER_NODE])
        meant.value[OPTION_HWLOC] = "";
    return meant;
}

static int run(const struct command *command, const struct arguments *given)
{
    const struct arguments meant = with_machine(given), *arguments = &meant;
    struct machine machine;
    const struct strag_algorithm *algorithm = NULL;
    int format;
    if (!read_word(command, arguments, OPTION_FORMAT, formats, &format))
        return EXIT_USAGE;
    if (arguments->algorithm) {
        const struct file_plan named = {.arguments = *arguments};
        algorithm = need_algorithm(command, &named);
        if (!algorithm)
            return EXIT_USAGE;
    }
    if (algorithm && format != SVG)
        return complain(command, STRAG_ERR_ARGUMENT,
                        "ALGORITHM selects whose traffic a picture shows: add --format svg");
    if (format == SVG && grid_hosts(arguments) > DRAWN_MAX)
        return refuse_large(command);
    int result = read_machine(command, arguments, &machine);
    if (result == EXIT_DONE && !machine.topology)
        result = place_on_one_switch(&machine);
    if (result == EXIT_DONE && format == SVG)
        result = draw(command, &machine, algorithm);
    else if (result == EXIT_DONE && format == JSON)
        write_json(&machine, NULL);
    else if (result == EXIT_DONE)
        write_text(&machine);
    close_machine(&machine);
    return result;
}

const struct command topology_command = {
    .name = "topology",
    .usage = " [ALGORITHM] [TOPOLOGY] [-n RANKS] [--format text|json|svg]",
    .summary = "Show how a description of the machine was read, and where ranks are.",
    .details =
        "Without TOPOLOGY and -n: this machine, as with --hwloc.\n"
        "Ranks fill the hosts one after another. Uplinks are shown where the layout says them.\n"
        "svg is a picture; with ALGORITHM it shows how busy its plan makes every link.",
    .takes_algorithm = true,
    .options =
        {
            {OPTION_RANKS, "RANKS", "how many ranks, from 1 (default: as the topology says)"},
            {OPTION_FORMAT, "text|json|svg", "how to show it (default: text)"},
        },
    .groups = {&topology_group},
    .run = run,
};
