/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replays plans in SimGrid's SMPI: every simulated rank builds its own plan and sends messages of
 * the plan's sizes, round by round; their content does not matter.
 *
 * usage: replay ALGORITHM BYTES --torus XxY... | --hosts RANKS/RANKS_PER_HOST | --groups LIST
 *               [--alpha US] [--local-alpha US] [--late RANK:US] [--blocks M] [--ports N]
 *
 * LIST has the hosts of every group, one rank on each, and its uplink: 4@100,2@50 (Gbit/s).
 *
 * In a round a rank posts all its receives, then all its sends, and waits for all of them. Before,
 * both ends of a message sleep for alpha: it is charged when the later of them is ready, and
 * loads no link. (A longer latency of the links would change how SimGrid shares them.)
 *
 * Prints the simulated seconds from 0 to the end of the last rank. All ranks live in one process
 * and one of them runs at a time (smpirun -no-privatize): they share static variables.
 */
#include "algorithms/table.h"
#include "base/parse.h"
#include "plan/algorithm.h"
#include "sim.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* SMPI charges these bytes for every message, in addition to its own. */
enum { ENVELOPE = 16 };

/* All ranks send from here and receive to here. */
static char *payload;

struct job {
    const struct strag_algorithm *algorithm;
    struct strag_topology *topology;
    struct strag_straggler late;
    size_t bytes;
    double alpha, local_alpha; /* seconds */
    int blocks, ports;         /* 0: the algorithm's own choice */
};

static void sleep_seconds(double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds};
    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9 + 0.5);
    if (nanosleep(&time, NULL) != 0)
        sim_give_up("nanosleep fails");
}

/* ---- Command line ---- */

/* "16/4": 16 ranks, 4 on each host. */
static int make_hosts(const char *text, struct strag_topology **topology, struct strag_error *err)
{
    int n, ranks_per_host;
    if (sscanf(text, "%d/%d", &n, &ranks_per_host) != 2)
        sim_give_up("--hosts takes RANKS/RANKS_PER_HOST");
    return strag_topology_flat(n, ranks_per_host, topology, err);
}

static int read_microseconds(const char *text, double *seconds, struct strag_error *err)
{
    int status = strag_parse_real(text, 0, 1e9, "seconds", seconds, err);
    *seconds *= status == STRAG_OK ? 1e-6 : 1;
    return status;
}

static void read_option(const char *name, const char *value, struct job *job)
{
    struct strag_error err;
    int status = STRAG_OK, at = 0;
    if (strcmp(name, "--torus") == 0)
        status = sim_torus(value, &job->topology, &err);
    else if (strcmp(name, "--hosts") == 0)
        status = make_hosts(value, &job->topology, &err);
    else if (strcmp(name, "--groups") == 0)
        status = sim_groups(value, &job->topology, &err);
    else if (strcmp(name, "--blocks") == 0)
        job->blocks = atoi(value);
    else if (strcmp(name, "--ports") == 0)
        job->ports = atoi(value);
    else if (strcmp(name, "--alpha") == 0)
        status = read_microseconds(value, &job->alpha, &err);
    else if (strcmp(name, "--local-alpha") == 0)
        status = read_microseconds(value, &job->local_alpha, &err);
    else if (strcmp(name, "--late") == 0 && sscanf(value, "%d:%n", &job->late.rank, &at) == 1)
        status = read_microseconds(value + at, &job->late.delay, &err);
    else
        sim_give_up("options: --torus, --hosts, --groups, --alpha, --local-alpha, --late RANK:US, "
                    "--blocks, --ports");
    if (status != STRAG_OK)
        sim_give_up(err.text);
}

static void read_job(int argc, char **argv, struct job *job)
{
    struct strag_error err;
    *job = (struct job){.late = {.rank = -1}};
    if (argc < 5 || argc % 2 == 0)
        sim_give_up("usage: replay ALGORITHM BYTES --torus XxY | --hosts N/G | --groups LIST "
                    "[OPTION VALUE]...");
    job->algorithm = strag_algorithm_find(argv[1], &err);
    if (!job->algorithm || strag_parse_bytes(argv[2], &job->bytes, &err) != STRAG_OK)
        sim_give_up(err.text);
    for (int i = 3; i < argc; i += 2)
        read_option(argv[i], argv[i + 1], job);
    if (!job->topology)
        sim_give_up("none of --torus, --hosts and --groups is given");
    if (job->local_alpha > job->alpha)
        sim_give_up("a message within a host takes longer than one between hosts");
}

/* ---- Running the plan ---- */

/* Bytes of an operation's range. */
static size_t bytes_of(const struct job *job, const struct strag_plan *plan,
                       const struct strag_op *op)
{
    return strag_block_start(&plan->bounds, op->first + op->count, job->bytes) -
           strag_block_start(&plan->bounds, op->first, job->bytes);
}

/* Is the operation a message at all, either within the host or between hosts? */
static bool counts(const struct job *job, const struct strag_plan *plan, const struct strag_op *op,
                   bool local)
{
    return bytes_of(job, plan, op) > 0 &&
           strag_topology_same_host(job->topology, plan->rank, op->peer) == local;
}

static bool any_counts(const struct job *job, const struct strag_plan *plan,
                       const struct strag_op *op, const struct strag_op *end, bool local)
{
    while (op < end && !counts(job, plan, op, local))
        op++;
    return op < end;
}

/* Post the receives or the sends among [op, end), either within the host or between hosts. */
static int post(const struct job *job, const struct strag_plan *plan, const struct strag_op *op,
                const struct strag_op *end, bool sends, bool local, MPI_Request *requests)
{
    int posted = 0;
    for (; op < end; op++) {
        if ((op->kind == STRAG_SEND) != sends || !counts(job, plan, op, local))
            continue;
        int bytes = (int)bytes_of(job, plan, op) - ENVELOPE;
        if (bytes < 0)
            bytes = 0; /* less than 16 bytes more */
        MPI_Request *request = &requests[posted++];
        if (sends)
            MPI_Isend(payload, bytes, MPI_BYTE, op->peer, 0, MPI_COMM_WORLD, request);
        else
            MPI_Irecv(payload, bytes, MPI_BYTE, op->peer, 0, MPI_COMM_WORLD, request);
    }
    return posted;
}

/* One round, the operations [op, end). A message's alpha counts from the beginning of the round:
 * the short ones, within the host, come first. */
static void run_round(const struct job *job, const struct strag_plan *plan,
                      const struct strag_op *op, const struct strag_op *end, MPI_Request *requests)
{
    double slept = 0;
    int posted = 0;
    for (int far = 0; far < 2; far++) {
        if (!any_counts(job, plan, op, end, !far))
            continue;
        double alpha = far ? job->alpha : job->local_alpha;
        if (alpha > slept)
            sleep_seconds(alpha - slept);
        slept = alpha;
        posted += post(job, plan, op, end, false, !far, requests + posted);
        posted += post(job, plan, op, end, true, !far, requests + posted);
    }
    MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
}

static void run_plan(const struct job *job, const struct strag_plan *plan)
{
    MPI_Request *requests = malloc(((size_t)plan->nops + 1) * sizeof(MPI_Request));
    if (!requests)
        sim_give_up("out of memory for requests");
    const struct strag_op *op = plan->ops, *last = plan->ops + plan->nops;
    while (op < last) {
        const struct strag_op *end = op;
        while (end < last && end->round == op->round)
            end++;
        run_round(job, plan, op, end, requests);
        op = end;
    }
    free(requests);
}

/* The last rank to arrive here prints the time: simulated time never runs backwards. */
static void report(int n)
{
    static int finished;
    if (++finished == n)
        printf("%.12e\n", MPI_Wtime());
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    struct job job;
    read_job(argc, argv, &job);
    int rank, n;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (n != job.topology->n)
        sim_give_up("the job's ranks are not the topology's");
    if (!payload && !(payload = SMPI_SHARED_MALLOC(job.bytes))) /* nothing is copied */
        sim_give_up("out of memory for the payload");

    struct strag_state state = {.nstragglers = job.late.rank >= 0, .straggler = &job.late};
    struct strag_problem problem = {.n = n,
                                    .topology = job.topology,
                                    .state = &state,
                                    .blocks = job.blocks,
                                    .ports = job.ports};
    struct strag_plan *plan;
    struct strag_error err;
    if (strag_plan_create(job.algorithm, &problem, rank, &plan, &err) != STRAG_OK)
        sim_give_up(err.text);
    if (rank == job.late.rank)
        sleep_seconds(job.late.delay);
    run_plan(&job, plan);
    report(n);
    strag_plan_free(plan);
    strag_topology_free(job.topology);
    MPI_Finalize();
    return 0;
}
