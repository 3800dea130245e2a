/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain.h"

#include "user/log.h"

#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line. Text that does not fit is cut off. */
struct line {
    char text[512];
};

#define add(line, ...) strag_append((line)->text, sizeof(line)->text, __VA_ARGS__)

/* ---- The topology ---- */

static void add_sizes(struct line *line, int dims, const int *size)
{
    for (int d = 0; d < dims; d++)
        add(line, "%s%d", d ? "x" : " ", size[d]);
}

static void add_network(struct line *line, const struct strag_topology *topology)
{
    add(line, "%s", strag_network_name(topology->network));
    if (topology->network == STRAG_NETWORK_TREE)
        return;
    add_sizes(line, topology->grid.dims, topology->grid.size);
    bool wraps = true;
    for (int d = 0; d < topology->grid.dims; d++)
        wraps = wraps && topology->grid.wrap[d];
    if (topology->network == STRAG_NETWORK_TORUS && !wraps)
        add(line, " (not all dimensions wrap)");
    if (topology->box) {
        add(line, ", box");
        add_sizes(line, topology->box->dims, topology->box->size);
    }
}

/* "2 hosts, 4 packages, 8 ranks" */
static void add_levels(struct line *line, const struct strag_topology *topology)
{
    int count[STRAG_LEVEL_NETWORK + 1] = {0};
    for (int i = 0; i < topology->nnodes; i++)
        count[topology->nodes[i].level]++;
    for (int level = STRAG_LEVEL_SWITCH; level >= STRAG_LEVEL_RANK; level--)
        if (count[level] > 0)
            add(line, ", %s",
                strag_units_count(count[level], strag_level_name((enum strag_level)level)).text);
    if (topology->ranks_per_host > 0)
        add(line, ", %d per host", topology->ranks_per_host);
    else
        add(line, ", hosts differ");
}

void coll_strag_explain_topology(ompi_communicator_t *comm, const struct strag_topology *topology)
{
    struct line line = {""};
    if (coll_strag_settings.verbose < 2)
        return;
    if (topology) {
        add_network(&line, topology);
        add_levels(&line, topology);
    } else {
        add(&line, "not known (out of memory)");
    }
    coll_strag_log(comm, "topology: %s", line.text);
}

void coll_strag_explain_model(ompi_communicator_t *comm, const struct strag_sourced_model *model)
{
    char text[1024];
    if (coll_strag_settings.verbose >= 2)
        coll_strag_log(
            comm, "model: %s",
            strag_model_sources(model, coll_strag_settings.model_file, text, sizeof text));
}

/* ---- The choice ---- */

/* Add the choice's modelled time, and the best other candidate. */
static void add_model(struct line *line, const struct strag_selection *selection, size_t bytes,
                      const struct coll_strag_choice *choice)
{
    const struct strag_candidate *chosen = NULL, *next = NULL;
    double least = INFINITY;
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *other = &selection->candidate[c];
        bool same = other->algorithm == choice->algorithm;
        if (same && other->blocks == choice->blocks)
            chosen = other;
        if (same || !other->profile)
            continue;
        double seconds = strag_profile_seconds(other->profile, (double)bytes);
        if (seconds < least) {
            least = seconds;
            next = other;
        }
    }
    add(line, "auto");
    if (chosen)
        add(line, ": modelled %s",
            strag_units_time(strag_profile_seconds(chosen->profile, (double)bytes)).text);
    if (next)
        add(line, ", next best %s %s", next->algorithm->name, strag_units_time(least).text);
}

static const char *const reasons[COLL_STRAG_REASONS] = {
    [COLL_STRAG_NOT_COMMUTATIVE] = "the operator is not commutative",
    [COLL_STRAG_NO_BYTES] = "the type has no data",
    [COLL_STRAG_EXTENT] = "the type's extent is not positive",
    [COLL_STRAG_TOO_SHORT] = "below coll_strag_minimum_size",
    [COLL_STRAG_OFF] = "coll_strag_algorithm is previous",
    [COLL_STRAG_RULE] = "a rule in coll_strag_rules",
    [COLL_STRAG_UNPLANNED] = "the algorithm cannot be planned here",
    [COLL_STRAG_NOT_SET_UP] = "a nonblocking call before strag is set up",
    [COLL_STRAG_STRANGER] = "a rank has no strag, or another one",
    [COLL_STRAG_NO_MEMORY] = "a rank had no memory left to set strag up",
    [COLL_STRAG_NO_ROOM] = "a rank has no room, or no tag, for one more persistent request",
    [COLL_STRAG_GIVEN] = "a plan from a file",
    [COLL_STRAG_DECLINED] = "strag is not used here",
    [COLL_STRAG_MEASURED] = "an experiment, or below coll_strag_minimum_size",
    [COLL_STRAG_FIRST] = "one of the communicator's first calls",
};

static void add_reason(struct line *line, const struct coll_strag_decision *decision,
                       const struct strag_selection *selection, size_t bytes,
                       const struct coll_strag_choice *choice)
{
    if (!choice->algorithm && choice->reason != COLL_STRAG_RULE)
        add(line, "%s", reasons[choice->reason]);
    else if (choice->reason == COLL_STRAG_GIVEN)
        add(line, "a plan from a file");
    else if (decision->pinned != COLL_STRAG_AUTO)
        add(line, "pinned by coll_strag_algorithm");
    else if (decision->line)
        add(line, "rule in %s, line %d", coll_strag_settings.rules_file, (int)decision->line);
    else if (selection)
        add_model(line, selection, bytes, choice);
    else
        add(line, "auto");
}

/* The number of user plans follows those of the algorithms. */
int coll_strag_outcome(const struct coll_strag_choice *choice)
{
    int index = 0;
    if (!choice->algorithm)
        return COLL_STRAG_OUTCOME_PREVIOUS + (int)choice->reason;
    while (strag_algorithms[index] && strag_algorithms[index] != choice->algorithm)
        index++;
    return index;
}

void coll_strag_outcome_names(const char *names[COLL_STRAG_OUTCOMES])
{
    for (int o = 0; o < COLL_STRAG_OUTCOMES; o++)
        names[o] = "";
    int given = 0;
    while (strag_algorithms[given]) {
        names[given] = strag_algorithms[given]->name;
        given++;
    }
    names[given] = reasons[COLL_STRAG_GIVEN];
    for (int r = 0; r < COLL_STRAG_REASONS; r++)
        names[COLL_STRAG_OUTCOME_PREVIOUS + r] = reasons[r];
}

void coll_strag_explain_choice(ompi_communicator_t *comm, uint64_t **explained,
                               const struct coll_strag_decision *decision,
                               const struct strag_selection *selection, size_t bytes,
                               const struct coll_strag_choice *choice)
{
    struct line cut = {""}, reason = {""};
    int class = bytes ? 64 - __builtin_clzll(bytes) : 0;
    uint64_t bit = UINT64_C(1) << coll_strag_outcome(choice);
    if (ompi_comm_rank(comm) != 0)
        return;
    if (NULL == *explained)
        *explained = calloc(65, sizeof **explained);
    if (NULL == *explained || ((*explained)[class] & bit))
        return;
    (*explained)[class] |= bit;
    unsigned long long low = class ? 1ull << (class - 1) : 0;
    add_reason(&reason, decision, selection, bytes, choice);
    if (choice->algorithm && choice->blocks)
        add(&cut, " in %s", strag_units_count(choice->blocks, "block").text);
    coll_strag_log(
        comm, "allreduce of %llu .. %llu bytes: %s%s (%s)", low, class ? low + (low - 1) : 0,
        choice->algorithm ? choice->algorithm->name : "previous component", cut.text, reason.text);
}

void coll_strag_explain_anew(uint64_t **explained)
{
    free(*explained);
    *explained = NULL;
}
