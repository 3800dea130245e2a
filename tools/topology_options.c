/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the TOPOLOGY, STATE and MODEL options.
 */
#include "topology_options.h"

#include "base/parse.h"
#include "base/text.h"
#include "base/units.h"
#include "machine/state_text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PORTS_MAX 65536

const struct option_group topology_group = {
    .title = "TOPOLOGY, one of these (default: every rank on a host of its own, all on one switch)",
    .uses =
        (const struct option_use[]){
            {OPTION_TORUS, "DIMS", "a torus: 8x8x4"},
            {OPTION_MESH, "DIMS", "a torus without its wrap-around links"},
            {OPTION_HYPERX, "DIMS", "in every dimension all hosts are neighbours: 64x64"},
            {OPTION_HAMMINGMESH, "BOARD:GRID", "boards of 2x2 hosts, 16x16 of them: 2x2:16x16"},
            {OPTION_TREE, "TEXT", "ranks per host 2,3; with switches ((2,3),(4)); @GBIT: uplink"},
            {OPTION_LAYOUT, "FILE",
             "topology.conf, topology.yaml or a coordinates file; names:r{rack}n{}: by --hosts"},
            {OPTION_SAVED, "FILE", "what a job saved (coll_strag_save), with its state and model"},
            {OPTION_HWLOC, "[FILE]",
             "the cores of this machine, or of one that lstopo wrote as XML"},
            {OPTION_HOSTS, "LIST", "with one of these: the job's hosts only, like n[01-16,20]"},
            {OPTION_RANKS_PER_NODE, "G", "ranks on each host (default: 1, or as the layout says)"},
            {OPTION_PORTS, "N",
             "links that a host drives at once (default: the algorithm chooses)"},
            {0},
        },
};

const struct option_group state_group = {
    .title = "STATE (default: nobody is late, no link is slow)",
    .uses =
        (const struct option_use[]){
            {OPTION_STRAGGLER, "R[:US][,...]", "rank R arrives late, by US microseconds"},
            {OPTION_DELAY, "US",
             "delay of a single straggler in microseconds (default: 0; of several: 1e6)"},
            {OPTION_SLOW, "R:FACTOR[,...]", "the links of rank R's host are FACTOR times slower"},
            {0},
        },
};

#define NUMBER_USE(WITH, ID, member, name, unit, least, what, standard)                            \
    {OPTION_##ID, #unit, what " (default: " standard ")"},
const struct option_group model_group = {
    .title = "MODEL (Gbit/s are 1e9 bits a second)",
    .uses =
        (const struct option_use[]){
            {OPTION_MODEL, "FILE",
             "numbers for the options below that are not given; see strag(1)"},
            STRAG_MODEL_NUMBERS_LIST(NUMBER_USE, ){
                OPTION_TIES, "split|plus", "equally long ways round a ring (default: split)"},
            {0},
        },
};

/* "--torus, --mesh, ...": the topologies that the command takes. */
static const char *topology_names(const struct command *command, char *buffer, size_t size)
{
    buffer[0] = '\0';
    for (enum option_id id = OPTION_TORUS; id <= OPTION_HWLOC; id++) {
        if (option_of(command, id))
            strag_append(buffer, size, "%s%s", buffer[0] ? ", " : "", option_name(id));
    }
    return buffer;
}

/* Find the option that names the topology; at most one may. */
static int find_kind(struct machine *machine)
{
    char names[128];
    machine->kind = OPTIONS;
    for (enum option_id id = OPTION_TORUS; id <= OPTION_HWLOC; id++) {
        if (!machine->arguments->value[id])
            continue;
        if (machine->kind != OPTIONS)
            return complain(machine->command, STRAG_ERR_ARGUMENT,
                            "%s and %s contradict each other; give one of %s",
                            option_name(machine->kind), option_name(id),
                            topology_names(machine->command, names, sizeof names));
        machine->kind = id;
    }
    return EXIT_DONE;
}

/* The hosts of --hosts, in the groups that a pattern gives, or on one switch. */
static int read_hosts(const struct machine *machine, const char *pattern,
                      struct strag_layout **layout, struct strag_error *err)
{
    char **hosts = NULL;
    int count = 0;
    int status = strag_hosts_expand(machine->arguments->value[OPTION_HOSTS], &hosts, &count, err);
    if (status == STRAG_OK)
        status = strag_layout_from_names(pattern, (const char *const *)hosts, count, layout, err);
    strag_hosts_free(hosts, count);
    return status;
}

/* Read --layout: a file, or a pattern. */
static int read_layout_option(const struct machine *machine, const char *text,
                              struct strag_layout **layout, struct strag_error *err)
{
    const char *pattern = strag_names_pattern(text);
    const char *hosts = machine->arguments->value[OPTION_HOSTS];
    if (pattern && !hosts)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "names tell the groups of hosts; say which: --hosts LIST");
    int status = pattern ? STRAG_OK : strag_layout_read(text, layout, err);
    if (status != STRAG_OK || (!pattern && (!hosts || !strag_layout_is_flat(*layout))))
        return status;
    strag_layout_free(*layout);
    *layout = NULL;
    return read_hosts(machine, pattern, layout, err);
}

static int read_description(enum option_id kind, const char *text, struct machine *machine,
                            struct strag_error *err)
{
    struct strag_layout **layout = &machine->layout;
    switch (kind) {
    case OPTION_LAYOUT:
        return read_layout_option(machine, text, layout, err);
    case OPTION_SAVED:
        return strag_saved_read(text, &machine->saved, err);
    case OPTION_HWLOC: { /* the cores of one host */
        int status = strag_hwloc_cores(*text ? text : NULL, &machine->cores, &machine->ncores, err);
        return status == STRAG_OK ? strag_layout_from_tree("1", layout, err) : status;
    }
    default: /* the options have the names of layout kinds */
        return strag_layout_describe(option_name(kind) + strlen("--"), text, layout, err);
    }
}

/* A file that cannot be read is wrong use, too, since another file would be accepted. */
static int wrong_value(const struct machine *machine, enum option_id id, int status,
                       const struct strag_error *err)
{
    return complain(machine->command, status == STRAG_ERR_IO ? STRAG_ERR_ARGUMENT : status,
                    "%s: %s", option_name(id), err->text);
}

/* Check --hosts before a layout is read, which may take long. */
static int check_hosts(const struct machine *machine)
{
    struct strag_error err;
    char **hosts, names[128];
    int count;
    const char *text = machine->arguments->value[OPTION_HOSTS];
    if (!text)
        return EXIT_DONE;
    if (machine->kind == OPTIONS || machine->kind == OPTION_HWLOC)
        return complain(machine->command, STRAG_ERR_ARGUMENT,
                        "--hosts needs a topology; add one of %s",
                        topology_names(machine->command, names, sizeof names));
    const int status = strag_hosts_expand(text, &hosts, &count, &err);
    if (status != STRAG_OK)
        return wrong_value(machine, OPTION_HOSTS, status, &err);
    strag_hosts_free(hosts, count);
    return EXIT_DONE;
}

static int check_ports(const struct machine *machine)
{
    const struct strag_layout *layout = machine->layout;
    if (!layout || layout->network == STRAG_NETWORK_TREE ||
        machine->problem.ports <= 2 * layout->grid.dims)
        return EXIT_DONE;
    return complain(machine->command, STRAG_ERR_ARGUMENT,
                    "--ports: '%d' is not an integer from 1 to %d, two for each dimension",
                    machine->problem.ports, 2 * layout->grid.dims);
}

static int read_layout(struct machine *machine)
{
    struct strag_error err;
    if (machine->kind != OPTIONS) {
        const char *text = machine->arguments->value[machine->kind];
        int status = read_description(machine->kind, text, machine, &err);
        if (status != STRAG_OK)
            return wrong_value(machine, machine->kind, status, &err);
    }
    if (machine->arguments->value[OPTION_RANKS_PER_NODE] && machine->kind == OPTION_HWLOC)
        return complain(machine->command, STRAG_ERR_ARGUMENT,
                        "--hwloc is one host; -n, not --ranks-per-node, says how many of its cores "
                        "have a rank: up to %d",
                        machine->ncores);
    return check_ports(machine);
}

static int add_slow(struct machine *machine, const struct strag_slow_item *item)
{
    struct strag_error err;
    struct strag_slow *slow = &machine->slow[machine->state.nslow];
    slow->factor = item->factor;
    int status = strag_parse_integer(item->who, 0, RANKS_MAX - 1, &slow->rank, &err);
    if (status != STRAG_OK)
        return wrong_value(machine, OPTION_SLOW, status, &err);
    for (int s = 0; s < machine->state.nslow; s++) {
        if (machine->slow[s].rank == slow->rank)
            return complain(machine->command, STRAG_ERR_ARGUMENT,
                            "--slow: rank %d is named twice; name it once", slow->rank);
    }
    machine->state.nslow++;
    return EXIT_DONE;
}

static int read_slow(struct machine *machine)
{
    const char *text = machine->arguments->value[OPTION_SLOW];
    struct strag_error err;
    struct strag_slow_item item;
    int result = EXIT_DONE;
    size_t entries = 1;
    if (!text)
        return EXIT_DONE;
    for (const char *c = text; *c; c++)
        entries += *c == ',';
    machine->state.slow = machine->slow = calloc(entries, sizeof *machine->slow);
    if (!machine->slow)
        return complain(machine->command, STRAG_ERR_MEMORY, "out of memory for %zu slow ranks",
                        entries);
    while (text && result == EXIT_DONE) {
        int status =
            strag_state_next_slow(&text, 1e9, "R:FACTOR, like 3:2 or 3:1.5,5:4", &item, &err);
        result = status == STRAG_OK ? add_slow(machine, &item)
                                    : wrong_value(machine, OPTION_SLOW, status, &err);
    }
    return result;
}

static int read_one(struct machine *machine)
{
    struct strag_error err;
    double delay_us = 0;
    struct strag_straggler *late = &machine->late.straggler[0];
    const char *delay = machine->arguments->value[OPTION_DELAY];
    if (!read_integer(machine->command, machine->arguments, OPTION_STRAGGLER, 0, RANKS_MAX - 1,
                      &late->rank))
        return EXIT_USAGE;
    const int status =
        delay ? strag_parse_real(delay, 0, 1e12, "microseconds", &delay_us, &err) : STRAG_OK;
    if (status != STRAG_OK)
        return wrong_value(machine, OPTION_DELAY, status, &err);
    late->delay = delay_us * 1e-6;
    machine->late.nstragglers = 1;
    return EXIT_DONE;
}

static int read_several(struct machine *machine)
{
    struct strag_error err;
    const char *text = machine->arguments->value[OPTION_STRAGGLER];
    if (machine->arguments->value[OPTION_DELAY])
        return complain(machine->command, STRAG_ERR_ARGUMENT,
                        "--delay is for one rank whose delay --straggler does not name; of "
                        "several: --straggler R:US,R:US");
    const int status = strag_state_parse_stragglers(text, &machine->late, &err);
    return status == STRAG_OK ? EXIT_DONE : wrong_value(machine, OPTION_STRAGGLER, status, &err);
}

static int read_late(struct machine *machine)
{
    const struct arguments *arguments = machine->arguments;
    if (arguments->value[OPTION_DELAY] && !arguments->value[OPTION_STRAGGLER])
        return complain(machine->command, STRAG_ERR_ARGUMENT,
                        "--delay needs --straggler R, the rank that is late");
    if (!arguments->value[OPTION_STRAGGLER])
        return EXIT_DONE;
    const int result = strpbrk(arguments->value[OPTION_STRAGGLER], ",:") ? read_several(machine)
                                                                         : read_one(machine);
    machine->state.nstragglers = machine->late.nstragglers;
    machine->state.straggler = machine->late.straggler;
    return result;
}

#define NUMBER_OPTION(WITH, ID, ...) [STRAG_MODEL_##ID] = OPTION_##ID,
static const enum option_id number_options[STRAG_MODEL_NUMBERS] = {
    STRAG_MODEL_NUMBERS_LIST(NUMBER_OPTION, )};

static int read_model_file(struct machine *machine)
{
    struct strag_error err;
    const char *file = machine->arguments->value[OPTION_MODEL];
    const int status = file ? strag_models_read(file, &machine->models, &err) : STRAG_OK;
    return status == STRAG_OK ? EXIT_DONE : wrong_value(machine, OPTION_MODEL, status, &err);
}

/* Only a layout file has the names of the job's hosts; any entry fits unknown ones. */
static int use_model_file(struct machine *machine)
{
    char list[512];
    const struct strag_machine_kind kind = {
        machine->kind == OPTION_LAYOUT ? machine->topology : NULL, STRAG_OVER_ANY, true};
    if (!machine->models)
        return EXIT_DONE;
    const struct strag_model_entry *entry = strag_models_find(machine->models, &kind);
    if (!entry)
        return complain(machine->command, STRAG_ERR_ARGUMENT,
                        "--model: %s has no model for these hosts; it has: %s",
                        machine->arguments->value[OPTION_MODEL],
                        strag_models_list(machine->models, list, sizeof list));
    strag_models_use(entry, &machine->sourced);
    return EXIT_DONE;
}

/* Numbers that are given as options override the file's. */
static bool read_numbers(struct machine *machine)
{
    struct strag_error err;
    double value;
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++) {
        const char *text = machine->arguments->value[number_options[id]];
        int status = text ? strag_model_number_parse(id, text, &value, &err) : STRAG_OK;
        if (status != STRAG_OK)
            return refuse_value(machine->command, number_options[id], status, &err);
        if (text)
            strag_model_set(&machine->sourced, id, value, STRAG_FROM_USER);
    }
    return true;
}

/* The defaults are those of the layout's network. */
static int read_model(struct machine *machine)
{
    static const char *const ties[] = {"split", "plus", NULL};
    struct strag_model standard =
        strag_model_default(machine->layout ? machine->layout->network : STRAG_NETWORK_TREE);
    int chosen;
    machine->sourced = strag_model_sourced(&standard);
    if (!read_numbers(machine) ||
        !read_word(machine->command, machine->arguments, OPTION_TIES, ties, &chosen))
        return EXIT_USAGE;
    if (machine->arguments->value[OPTION_TIES])
        machine->sourced.model.ties = chosen == 0 ? STRAG_TIES_SPLIT : STRAG_TIES_PLUS;
    return EXIT_DONE;
}

/* A saved file already has what these options would say. */
static int check_saved(const struct machine *machine)
{
    static const enum option_id own[] = {OPTION_RANKS,     OPTION_MINIMUM,        OPTION_RULES,
                                         OPTION_HOSTS,     OPTION_RANKS_PER_NODE, OPTION_PORTS,
                                         OPTION_EXHAUSTIVE};
    const struct option_group *const groups[] = {&state_group, &model_group};
    const char *const *value = machine->arguments->value;
    int found = -1;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        found = value[own[i]] ? (int)own[i] : found;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (const struct option_use *use = groups[g]->uses; use->value; use++)
            found = value[use->id] ? (int)use->id : found;
    if (found < 0)
        return EXIT_DONE;
    return complain(machine->command, STRAG_ERR_ARGUMENT,
                    "--saved already has the settings of the job; omit %s",
                    option_name((enum option_id)found));
}

static int fill_saved(struct machine *machine)
{
    const struct strag_problem *problem = &machine->saved->circumstances.problem;
    machine->topology = (struct strag_topology *)problem->topology;
    machine->state = *problem->state;
    machine->sourced = machine->saved->model;
    machine->problem.n = problem->n;
    machine->problem.ports = problem->ports;
    machine->problem.topology = problem->topology;
    machine->problem.state =
        machine->state.nstragglers || machine->state.nslow ? &machine->state : NULL;
    return EXIT_DONE;
}

/* Read what takes no time, so that mistakes in it are found before a large layout is read. */
static int read_values(const struct command *command, const struct arguments *arguments,
                       struct machine *machine)
{
    *machine = (struct machine){.command = command, .arguments = arguments, .kind = OPTIONS};
    if (!read_integer(command, arguments, OPTION_PORTS, 1, PORTS_MAX, &machine->problem.ports) ||
        !read_integer(command, arguments, OPTION_RANKS_PER_NODE, 1, RANKS_MAX,
                      &machine->ranks_per_node) ||
        !read_integer(command, arguments, OPTION_BLOCKS, 1, INT_MAX - 1,
                      &machine->problem.blocks) ||
        !read_integer(command, arguments, OPTION_ROOT, 0, RANKS_MAX - 1, &machine->problem.root))
        return EXIT_USAGE;
    int result = find_kind(machine);
    if (machine->kind == OPTION_SAVED) /* it has all of the following */
        return result;
    if (result == EXIT_DONE)
        result = check_hosts(machine);
    if (result == EXIT_DONE)
        result = read_model(machine);
    if (result == EXIT_DONE)
        result = read_late(machine);
    if (result == EXIT_DONE)
        result = read_slow(machine);
    return result == EXIT_DONE ? read_model_file(machine) : result;
}

static int open_layout(struct machine *machine)
{
    const int result = read_layout(machine);
    if (result != EXIT_DONE)
        return result;
    return machine->saved ? check_saved(machine) : read_model(machine);
}

int open_machine(const struct command *command, const struct arguments *arguments,
                 struct machine *machine)
{
    const int result = read_values(command, arguments, machine);
    return result == EXIT_DONE ? open_layout(machine) : result;
}

/* Does the description put ranks on its hosts? */
static bool states_ranks(const struct strag_layout *layout)
{
    bool states = layout->rank_host != NULL;
    for (int h = 0; h < layout->nhosts && !states; h++)
        states = layout->hosts[h].ranks > 0;
    return states;
}

/* Compare the topology's ranks with the options'. @param ranks_per_host  0 if hosts differ */
static int check_agreement(const struct machine *machine, int of_hosts, int ranks,
                           int ranks_per_host, int n)
{
    const struct strag_units hosts = strag_units_count(of_hosts, "host");
    char kind[120];
    snprintf(kind, sizeof kind, "%s %.80s", option_name(machine->kind),
             machine->arguments->value[machine->kind]);
    if (machine->ranks_per_node && ranks_per_host != machine->ranks_per_node)
        return complain(
            machine->command, STRAG_ERR_ARGUMENT,
            "%s already gives the number of ranks of each host; omit --ranks-per-node %d", kind,
            machine->ranks_per_node);
    if (!n || n == ranks)
        return EXIT_DONE;
    if (ranks_per_host == 1)
        return complain(machine->command, STRAG_ERR_ARGUMENT,
                        "%s has %s, -n %d does not fit; give -n %d or omit it, or give "
                        "--ranks-per-node or --hosts",
                        kind, hosts.text, n, ranks);
    return complain(machine->command, STRAG_ERR_ARGUMENT,
                    "%s has %s with %s, -n %d does not fit; give -n %d or omit it", kind,
                    hosts.text, strag_units_count(ranks, "rank").text, n, ranks);
}

static int fill_flat(struct machine *machine, int n, int ranks_per_host)
{
    struct strag_error err;
    int status = strag_topology_flat(n, ranks_per_host, &machine->topology, &err);
    return status == STRAG_OK ? EXIT_DONE : complain(machine->command, status, "%s", err.text);
}

/* A file may describe a larger machine than the job uses; the other forms describe the job. */
static int fill_layout(struct machine *machine, int n)
{
    struct strag_error err;
    if (n && strag_layout_is_flat(machine->layout))
        return fill_flat(machine, n, machine->ranks_per_node ? machine->ranks_per_node : 1);
    bool exact = machine->kind != OPTION_LAYOUT || states_ranks(machine->layout);
    int per_host = machine->ranks_per_node ? machine->ranks_per_node : 1;
    int status =
        strag_layout_fill(machine->layout, exact ? 0 : n, per_host,
                          machine->arguments->value[OPTION_HOSTS], &machine->topology, &err);
    if (status != STRAG_OK)
        return complain(machine->command, status, "%s", err.text);
    const struct strag_topology *topology = machine->topology;
    return exact
               ? check_agreement(machine, topology->hosts, topology->n, topology->ranks_per_host, n)
               : EXIT_DONE;
}

/* One host, with rank r on core r. More ranks than cores are not bound to cores, as in a job. */
static int fill_cores(struct machine *machine, int n)
{
    struct strag_error err;
    n = n ? n : machine->ncores;
    if (n > machine->ncores)
        return fill_flat(machine, n, n);
    struct strag_location *places = calloc((size_t)n, sizeof *places);
    if (!places)
        return complain(machine->command, STRAG_ERR_MEMORY, "out of memory for %d ranks", n);
    for (int rank = 0; rank < n; rank++)
        places[rank].core = machine->cores[rank];
    int status = strag_layout_locate(machine->layout, places, n, &machine->topology, &err);
    free(places);
    return status == STRAG_OK ? EXIT_DONE : complain(machine->command, status, "%s", err.text);
}

static int check_rank(const struct machine *machine, enum option_id id, int rank)
{
    if (rank < machine->problem.n)
        return EXIT_DONE;
    return complain(machine->command, STRAG_ERR_ARGUMENT,
                    "%s: rank %d does not exist; with %s it must be 0 to %d", option_name(id), rank,
                    strag_units_count(machine->problem.n, "rank").text, machine->problem.n - 1);
}

static int check_state(struct machine *machine)
{
    const struct strag_state *state = &machine->state;
    int result = EXIT_DONE;
    for (int i = 0; i < state->nstragglers && result == EXIT_DONE; i++)
        result = check_rank(machine, OPTION_STRAGGLER, state->straggler[i].rank);
    for (int s = 0; s < state->nslow && result == EXIT_DONE; s++)
        result = check_rank(machine, OPTION_SLOW, state->slow[s].rank);
    machine->problem.state = state->nstragglers || state->nslow ? state : NULL;
    return result;
}

int place_ranks(struct machine *machine, int n)
{
    int result = EXIT_DONE;
    if (machine->saved)
        return fill_saved(machine);
    strag_topology_free(machine->topology);
    machine->topology = NULL;
    if (machine->kind == OPTION_HWLOC)
        result = fill_cores(machine, n);
    else if (machine->layout)
        result = fill_layout(machine, n);
    else if (machine->ranks_per_node)
        result = fill_flat(machine, n, machine->ranks_per_node);
    if (result != EXIT_DONE)
        return result;
    machine->problem.n = machine->topology ? machine->topology->n : n;
    machine->problem.topology = machine->topology;
    if (machine->kind == OPTION_HWLOC)
        machine->sourced.model.written_once =
            strag_model_is_written_once(machine->problem.n, machine->ncores);
    result = check_state(machine);
    return result == EXIT_DONE ? use_model_file(machine) : result;
}

int place_on_one_switch(struct machine *machine)
{
    return fill_flat(machine, machine->problem.n, 1);
}

int grid_hosts(const struct arguments *arguments)
{
    int hosts = 0;
    for (int id = OPTION_TORUS; id < OPTION_TREE && !hosts; id++)
        if (arguments->value[id])
            hosts = strag_layout_dims_hosts(option_name((enum option_id)id) + strlen("--"),
                                            arguments->value[id]);
    return hosts;
}

/* Make the checks of place_ranks for a grid before it is made, since it may be large. */
static int check_grid(struct machine *machine, int n)
{
    const int per_host = machine->ranks_per_node ? machine->ranks_per_node : 1;
    const int hosts = machine->arguments->value[OPTION_HOSTS] ? 0 : grid_hosts(machine->arguments);
    if (!hosts || hosts > RANKS_MAX / per_host)
        return EXIT_DONE;
    machine->problem.n = hosts * per_host;
    const int result = check_agreement(machine, hosts, machine->problem.n, per_host, n);
    return result == EXIT_DONE ? check_state(machine) : result;
}

int read_machine(const struct command *command, const struct arguments *arguments,
                 struct machine *machine)
{
    int n = 0;
    int result = read_values(command, arguments, machine);
    if (result != EXIT_DONE)
        return result;
    if (machine->kind == OPTIONS && !need_option(command, arguments, OPTION_RANKS))
        return EXIT_USAGE;
    if (!read_integer(command, arguments, OPTION_RANKS, 1, RANKS_MAX, &n))
        return EXIT_USAGE;
    result = check_grid(machine, n);
    if (result == EXIT_DONE)
        result = open_layout(machine);
    return result == EXIT_DONE ? place_ranks(machine, n) : result;
}

const char *straggler_wanted(const struct machine *machine, const struct strag_algorithm *algorithm)
{
    return algorithm->needs_straggler && machine->problem.n > 1 && !machine->state.nstragglers
               ? "; say which: --straggler R"
               : "";
}

const char *model_file_name(const struct machine *machine)
{
    return machine->saved ? machine->saved->model_file : machine->arguments->value[OPTION_MODEL];
}

void close_machine(struct machine *machine)
{
    if (!machine->saved || machine->topology != machine->saved->circumstances.problem.topology)
        strag_topology_free(machine->topology);
    strag_saved_free(machine->saved);
    machine->saved = NULL;
    strag_layout_free(machine->layout);
    strag_models_free(machine->models);
    machine->models = NULL;
    free(machine->cores);
    free(machine->slow);
    machine->topology = NULL;
    machine->layout = NULL;
    machine->cores = NULL;
    machine->slow = NULL;
}

const char *machine_title(const struct machine *machine, char *buffer, size_t size)
{
    const char *name = machine->kind == OPTIONS ? NULL : option_name(machine->kind) + 2;
    const char *value = name ? machine->arguments->value[machine->kind] : NULL;
    if (!name)
        snprintf(buffer, size, "one switch");
    else
        snprintf(buffer, size, "%s%s%s", name, *value ? " " : "", value);
    return buffer;
}
