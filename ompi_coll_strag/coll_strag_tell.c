/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines for users who want to know what runs, and why.
 */
#include "coll_strag.h"

#include "algorithms/table.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* A text that grows in a buffer, and is cut at its end. */
struct line {
    char text[512];
};

static void add(struct line *line, const char *format, ...) STRAG_PRINTF(2, 3);

static void add(struct line *line, const char *format, ...)
{
    va_list args;
    size_t length = strlen(line->text);
    va_start(args, format);
    vsnprintf(line->text + length, sizeof line->text - length, format, args);
    va_end(args);
}

/* ---- The topology ---- */

static void add_sizes(struct line *line, int dims, const int *size)
{
    for (int d = 0; d < dims; d++)
        add(line, "%s%d", d ? "x" : " ", size[d]);
}

static void add_box(struct line *line, const struct strag_box *box)
{
    add(line, ", box");
    add_sizes(line, box->dims, box->size);
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
    if (topology->box)
        add_box(line, topology->box);
}

/* "2 hosts, 4 packages, 8 ranks" */
static void add_levels(struct line *line, const struct strag_topology *topology)
{
    int count[STRAG_LEVEL_NETWORK + 1] = {0};
    for (int i = 0; i < topology->nnodes; i++)
        count[topology->nodes[i].level]++;
    for (int level = STRAG_LEVEL_SWITCH; level >= STRAG_LEVEL_RANK; level--)
        if (count[level] > 0)
            add(line, ", %d %s%s", count[level], strag_level_name((enum strag_level)level),
                count[level] == 1             ? ""
                : level == STRAG_LEVEL_SWITCH ? "es"
                                              : "s");
    if (topology->ranks_per_host > 0)
        add(line, ", %d per host", topology->ranks_per_host);
    else
        add(line, ", not all hosts alike");
}

void coll_strag_tell_topology(ompi_communicator_t *comm, const struct strag_topology *topology)
{
    char cid[32];
    struct line line = {""};
    if (mca_coll_strag_component.verbose < 2)
        return;
    if (topology) {
        add_network(&line, topology);
        add_levels(&line, topology);
    } else {
        add(&line, "not known (out of memory)");
    }
    coll_strag_tell("coll:strag: %s (cid %s, %d ranks): topology: %s", comm->c_name,
                    coll_strag_cid(comm, cid, sizeof cid), ompi_comm_size(comm), line.text);
}

/* ---- The transport ---- */

void coll_strag_tell_carrier(const mca_coll_strag_module_t *module, ompi_communicator_t *comm)
{
    char cid[32];
    if (ompi_comm_rank(comm) == 0)
        coll_strag_tell("coll:strag: %s (cid %s, %d ranks): transport: %s", comm->c_name,
                        coll_strag_cid(comm, cid, sizeof cid), ompi_comm_size(comm),
                        module->ucp ? "ucp" : "pml");
}

/* ---- Shared memory ---- */

void coll_strag_tell_shared_memory(const mca_coll_strag_module_t *module, ompi_communicator_t *comm)
{
    char cid[32];
    if (ompi_comm_rank(comm) == 0 && module->topology &&
        module->topology->hosts < ompi_comm_size(comm))
        coll_strag_tell("coll:strag: %s (cid %s, %d ranks): within hosts: %s", comm->c_name,
                        coll_strag_cid(comm, cid, sizeof cid), ompi_comm_size(comm),
                        module->shm ? "shared memory" : "the PML");
}

/* ---- The choice ---- */

/* What the model says of the choice, and which other candidate is the best. */
static void add_model(struct line *line, const struct strag_selection *selection, size_t bytes,
                      int choice, int blocks)
{
    const struct strag_candidate *chosen = NULL, *next = NULL;
    double least = INFINITY;
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *other = &selection->candidate[c];
        bool same = other->algorithm == strag_algorithms[choice];
        if (same && other->blocks == blocks)
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
        add(line, ": modelled %.3g us",
            1e6 * strag_profile_seconds(chosen->profile, (double)bytes));
    if (next)
        add(line, ", next best %s %.3g us", next->algorithm->name, 1e6 * least);
}

static void add_reason(struct line *line, const mca_coll_strag_module_t *module, size_t bytes,
                       int choice, int blocks)
{
    switch (choice) {
    case COLL_STRAG_NOT_COMMUTATIVE:
        add(line, "the operator is not commutative");
        return;
    case COLL_STRAG_NO_BYTES:
        add(line, "the type has no data");
        return;
    case COLL_STRAG_EXTENT:
        add(line, "the type's extent is not positive");
        return;
    case COLL_STRAG_TOO_SHORT:
        add(line, "below coll_strag_minimum_size");
        return;
    case COLL_STRAG_UNPLANNED:
        add(line, "what is wanted cannot be planned here");
        return;
    case COLL_STRAG_BUSY:
        add(line, "called by another collective while the ranks are being located");
        return;
    default:
        break;
    }
    if (module->pinned != COLL_STRAG_AUTO)
        add(line, "pinned by coll_strag_algorithm");
    else if (module->line)
        add(line, "rule in %s, line %d", mca_coll_strag_component.rules_file, module->line);
    else if (module->selection)
        add_model(line, module->selection, bytes, choice, blocks);
    else
        add(line, "auto");
}

void coll_strag_tell_choice(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                            size_t bytes, int choice, int blocks)
{
    char cid[32], cut[32] = "";
    struct line reason = {""};
    int class = bytes ? 64 - __builtin_clzll(bytes) : 0;
    uint64_t bit = UINT64_C(1) << choice;
    if (ompi_comm_rank(comm) != 0 || (module->told[class] & bit))
        return;
    module->told[class] |= bit;
    unsigned long long low = class ? 1ull << (class - 1) : 0;
    add_reason(&reason, module, bytes, choice, blocks);
    if (blocks)
        snprintf(cut, sizeof cut, " in %d block%s", blocks, blocks == 1 ? "" : "s");
    coll_strag_tell("coll:strag: %s (cid %s, %d ranks): allreduce of %llu .. %llu bytes: %s%s (%s)",
                    comm->c_name, coll_strag_cid(comm, cid, sizeof cid), ompi_comm_size(comm), low,
                    class ? low + (low - 1) : 0,
                    choice < COLL_STRAG_ALGORITHMS_MAX ? strag_algorithms[choice]->name
                                                       : "previous component",
                    cut, reason.text);
}
