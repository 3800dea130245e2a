/* SPDX-License-Identifier: BSD-3-Clause */
#include "manual/manual.h"

#include "algorithms/table.h"

#include <stdio.h>

const struct strag_parameter strag_parameters[STRAG_PARAMETERS] = {
    [STRAG_SET_PRIORITY] = {STRAG_PREFIX "priority", "0", STRAG_INTEGER, 6, false,
                            "Priority of coll/strag, which is used if this is above 0 and "
                            "above the priorities of other components. The default 0 means "
                            "installed, but not used; --mca coll strag makes it 90"},
    [STRAG_SET_ENABLE] = {STRAG_PREFIX "enable", "true", STRAG_SWITCH, 4, false,
                          "Whether coll/strag may be used at all"},
    [STRAG_SET_ALGORITHM] = {STRAG_PREFIX "algorithm", "auto", STRAG_TEXT, 4, true,
                             "The algorithm: auto (the fastest by the model for each size; shorter "
                             "vectors than coll_strag_minimum_size are left to the previous "
                             "component), previous (the previous component runs all calls), or "
                             "one algorithm for all sizes"},
    [STRAG_SET_MINIMUM_SIZE] = {STRAG_PREFIX "minimum_size", "auto", STRAG_TEXT, 5, false,
                                "Bytes (K, M, G allowed). With coll_strag_algorithm=auto the "
                                "previous component runs shorter vectors. auto: 0 if all ranks "
                                "share memory; between hosts 64K until the time of a message is "
                                "known, then 8K. All ranks use rank 0's value"},
    [STRAG_SET_RULES] = {STRAG_PREFIX "rules", "", STRAG_TEXT, 4, false,
                         "A file that sets the algorithm for each size; strag-tune writes such "
                         "files. All ranks use the file that the communicator's rank 0 reads"},
    [STRAG_SET_PLAN] =
        {STRAG_PREFIX "plan", "", STRAG_TEXT, 4, true,
         "Plans from files: FILE, or FILE:FROM-TO for vectors of FROM to TO bytes "
         "(K, M, G allowed), several separated by commas. A communicator runs the first "
         "one that is for its number of ranks and for the vector's size, if rank 0 "
         "can prove it; the plan takes precedence over coll_strag_rules and "
         "coll_strag_algorithm. strag plan --format json writes such files. All "
         "ranks use the files that the communicator's rank 0 reads"},
    [STRAG_SET_LEARN] = {STRAG_PREFIX "learn", "true", STRAG_SWITCH, 4, false,
                         "Between hosts: measure from the first calls how fast the network is, "
                         "and by experiments whether another algorithm is faster than the "
                         "model's choice. If this is false, or coll_strag_reproducible is not "
                         "no, the cost model uses only defaults and configured numbers"},
    [STRAG_SET_REPRODUCIBLE] =
        {STRAG_PREFIX "reproducible", "no", STRAG_TEXT, 4, false,
         "Whether results have the same bits in every run. no (or 0): "
         "measurements during a job may change a plan, and with it the bits. "
         "mapping: the same bits in every run of the same ranks on the same "
         "hosts; the topology and the parameters decide, and no measurement. "
         "ranks (or 1): the same bits on any hosts; the number of ranks, the "
         "vector and the parameters decide. All ranks use rank 0's value"},
    [STRAG_SET_VERBOSE] = {STRAG_PREFIX "verbose", "0", STRAG_INTEGER, 4, false,
                           "1: log which algorithm runs and why, once per communicator, size class "
                           "and outcome; 2: also the topology and the model's numbers. "
                           "coll_base_verbose of 10 and more does the same"},
    [STRAG_SET_REPORT] = {STRAG_PREFIX "report", "0", STRAG_TEXT, 4, true,
                          "1: report at the end of each communicator how long its allreduces took, "
                          "what ran them, which rank was last and what that cost, also if other "
                          "components ran them; a file name with a dot or a slash, such as "
                          "report.json: write the same as JSON; 0: no report. All ranks use rank "
                          "0's value"},
    [STRAG_SET_TRACE] = {STRAG_PREFIX "trace", "", STRAG_TEXT, 4, false,
                         "A file to write: the last calls of the job's largest communicator, with "
                         "all messages of each rank, as Chrome trace JSON (for ui.perfetto.dev). "
                         "With %c in the name, each communicator has a file of its own, and %c "
                         "stands for its name. All ranks use rank 0's value"},
    [STRAG_SET_SAVE] = {STRAG_PREFIX "save", "", STRAG_TEXT, 4, false,
                        "A file to write: what rank 0 of the job chose for its largest "
                        "communicator so far, and everything that the choice depends on, for "
                        "strag explain --saved FILE. With %c in the name, each communicator has "
                        "a file of its own, and %c stands for its name"},
    [STRAG_SET_SHARED_MEMORY] = {STRAG_PREFIX "shared_memory", "auto", STRAG_TEXT, 5, false,
                                 "Whether messages within a host go through shared memory. 0: "
                                 "never; 1: yes, with a warning if that fails; auto: yes, without "
                                 "a warning, unless messages go over UCX. All ranks use rank 0's "
                                 "value"},
    [STRAG_SET_SHARED_MEMORY_SIZE] =
        {STRAG_PREFIX "shared_memory_size", "256M", STRAG_TEXT, 6, false,
         "Bytes of address space (K, M, G allowed) that a process may "
         "use for the shared memory of its host, for all communicators "
         "together. At most an eighth is touched. strag uses less if "
         "the limits of the process or its cgroup are low"},
    [STRAG_SET_SEGMENT_SIZE] = {STRAG_PREFIX "segment_size", "auto", STRAG_TEXT, 5, false,
                                "Bytes (K, M, G allowed) of the segments into which long messages "
                                "are cut, so that one travels while another is reduced. auto: 1M "
                                "within a host; between hosts btl/tcp's eager limit, or 256K on "
                                "other networks; 16M and 4M over a UCX that sends from CUDA "
                                "devices. A call needs up to ten segments of temporary space. All "
                                "ranks use rank 0's value"},
    [STRAG_SET_TRANSPORT] =
        {STRAG_PREFIX "transport", "auto", STRAG_TEXT, 5, true,
         "The transport of messages: pml (Open MPI's point-to-point layer), ucp "
         "(UCX, through a worker of strag; pml if UCX cannot be used; needs a "
         "component built with UCX), or auto: ucp if buffers may be in a CUDA "
         "device's memory and UCX supports that, else pml. UCX_TLS and other "
         "variables of UCX apply. All ranks use rank 0's value"},
    [STRAG_SET_DEVICE_BUFFERS] = {STRAG_PREFIX "device_buffers", "auto", STRAG_TEXT, 5, false,
                                  "Whether buffers may be in a CUDA device's memory: auto (if the "
                                  "system has an NVIDIA driver), yes (and short vectors, too, are "
                                  "reduced on the device where UCX supports that, not in copies), "
                                  "or no (the program passes none, and strag does not check)"},
    [STRAG_SET_LAYOUT] = {STRAG_PREFIX "layout", "", STRAG_TEXT, 4, false,
                          "A file that describes how the hosts are joined: Slurm's topology.conf "
                          "or topology.yaml, or a coordinates file. Or a pattern of host names "
                          "that tells their groups: names:r{rack}n{}, or names:xname for "
                          "Slingshot's. All ranks use the file that the communicator's rank 0 "
                          "reads"},
    [STRAG_SET_TORUS] = {STRAG_PREFIX "torus", "", STRAG_TEXT, 4, false,
                         "Sizes of the torus that the job's hosts fill, such as 8x8x4; also "
                         "mesh:8x8 and hyperx:8x8. Hosts are in the order of their lowest ranks, "
                         "and the first dimension varies fastest. coll_strag_layout takes "
                         "precedence"},
    [STRAG_SET_PORTS] = {STRAG_PREFIX "ports", "auto", STRAG_TEXT, 5, true,
                         "How many links of a torus a host uses at the same time: from 1 to two "
                         "for each dimension; auto: the best number for each size"},
    [STRAG_SET_STRAGGLER] = {STRAG_PREFIX "straggler", "auto", STRAG_TEXT, 4, true,
                             "Up to three ranks of MPI_COMM_WORLD that are late in most "
                             "calls, and optionally their delays: RANK[:MICROSECONDS][,...]. "
                             "auto: detect stragglers, or a different one in each call, and go "
                             "ahead without them if that saves time; dynamic: detect in "
                             "each call who arrives last; "
                             "none: wait for all ranks"},
    [STRAG_SET_SLOWDOWN] = {STRAG_PREFIX "slowdown", "auto", STRAG_TEXT, 4, true,
                            "Hosts whose links are slower than others: a list of WHO:FACTOR, "
                            "separated by commas, WHO a host or a rank of MPI_COMM_WORLD; none; "
                            "or auto: detect them while the job runs"},
    [STRAG_SET_WINDOW] = {STRAG_PREFIX "window", "0", STRAG_INTEGER, 5, false,
                          "Calls in a window of the watch for stragglers and slow links, 1 to 8, "
                          "without pauses between windows; 0: 2, then 4, then 8 calls, with "
                          "pauses so that watching takes at most 1/500 of the time in calls"},
    [STRAG_SET_WATCH_SIZE] = {STRAG_PREFIX "watch_size", "64K", STRAG_TEXT, 5, false,
                              "Bytes (K, M, G allowed) from which on calls are watched for "
                              "stragglers. All ranks use rank 0's value"},
    [STRAG_SET_STUCK] = {STRAG_PREFIX "stuck", "30", STRAG_INTEGER, 4, false,
                         "Seconds after which one rank reports on standard error that an "
                         "allreduce waits, and for which ranks; again after twice, four times as "
                         "many, and so on. 0: never"},
    [STRAG_SET_MODEL] = {STRAG_PREFIX "model", "", STRAG_TEXT, 4, false,
                         "A file with the numbers of the cost model for each kind of machine; "
                         "strag-tune --model writes such files. Parameters such as "
                         "coll_strag_alpha take precedence. All ranks use the file that the "
                         "communicator's rank 0 reads"},
#define NUMBER(WITH, ID, member, name, unit, least, what, standard)                                \
    [STRAG_SET_NUMBERS + STRAG_MODEL_##ID] = {STRAG_PREFIX #member,                                \
                                              "",                                                  \
                                              STRAG_TEXT,                                          \
                                              6,                                                   \
                                              false,                                               \
                                              "Cost model: " what                                  \
                                              ". Empty: a default for the kind of network or "     \
                                              "memory"},
    STRAG_MODEL_NUMBERS_LIST(NUMBER, )
#undef NUMBER
};

const char *strag_parameter_type_name(enum strag_parameter_type type)
{
    return type == STRAG_SWITCH ? "switch" : type == STRAG_INTEGER ? "integer" : "text";
}

const char *strag_parameter_help(enum strag_parameter_id id, char text[STRAG_HELP_MAX])
{
    const struct strag_parameter *parameter = &strag_parameters[id];
    char names[STRAG_NAMES_MAX] = "";
    if (id == STRAG_SET_ALGORITHM)
        strag_algorithm_names(names, sizeof names);
    snprintf(text, STRAG_HELP_MAX, "%s%s%s%s", parameter->help, names[0] ? ": " : "", names,
             parameter->info_key ? ". Also an info key" : "");
    return text;
}

const struct strag_variable strag_variables[STRAG_VARIABLES] = {
    [STRAG_COUNT_CALLS] = {STRAG_PREFIX "calls",
                           "allreduces of this process that coll/strag has run: blocking, "
                           "nonblocking and persistent ones"},
    [STRAG_COUNT_DELEGATED] = {STRAG_PREFIX "delegated",
                               "allreduces of this process that coll/strag has "
                               "delegated, persistent ones counted once"},
    [STRAG_COUNT_NONBLOCKING] = {STRAG_PREFIX "nonblocking",
                                 "MPI_Iallreduce calls of this process that coll/strag has run"},
    [STRAG_COUNT_PERSISTENT] = {STRAG_PREFIX "persistent",
                                "starts of persistent allreduces of this process "
                                "that coll/strag has run"},
    [STRAG_COUNT_SETUPS_ASKED] = {STRAG_PREFIX "setups_asked",
                                  "communicators whose ranks have sent rank 0 their locations"},
    [STRAG_COUNT_SETUPS_DERIVED] = {STRAG_PREFIX "setups_derived",
                                    "communicators that were set up from the "
                                    "locations of another one's ranks"},
    [STRAG_SAY_LATE_RANK] = {STRAG_PREFIX "late_rank",
                             "The communicator's straggler now, a rank, of several the last to "
                             "arrive; -1: none"},
    [STRAG_SAY_LATE_DELAY] = {STRAG_PREFIX "late_delay",
                              "The straggler's delay, in seconds; 0: none"},
    [STRAG_SAY_LATE_SWITCHES] = {STRAG_PREFIX "late_switches",
                                 "How often the stragglers have changed"},
    [STRAG_SAY_LATE_SAVED] = {STRAG_PREFIX "late_saved",
                              "Seconds saved by going ahead without stragglers, "
                              "as modelled; negative: lost"},
    [STRAG_SAY_LAST_CALLS] = {STRAG_PREFIX "last_calls",
                              "Calls that determined who had arrived, in windows "
                              "that have ended"},
    [STRAG_SAY_LAST_AHEAD] = {STRAG_PREFIX "last_ahead",
                              "Of these, calls that began without the last rank"},
    [STRAG_SAY_LAST_SAVED] = {STRAG_PREFIX "last_saved",
                              "Seconds that this has saved, as measured; "
                              "negative: lost"},
    [STRAG_SAY_SLOW_RANK] = {STRAG_PREFIX "slow_rank",
                             "A rank on the host whose link is slowest now; -1: none is slow"},
    [STRAG_SAY_SLOW_FACTOR] = {STRAG_PREFIX "slow_factor",
                               "How many times slower than others that link is; 1: none is slow"},
    [STRAG_SAY_SLOW_PROBES] = {STRAG_PREFIX "slow_probes",
                               "How often the links of all hosts were probed"},
    [STRAG_SAY_MODEL_ERROR] = {STRAG_PREFIX "model_error",
                               "Relative difference between measured and "
                               "modelled times of calls; negative: unknown"},
};

const char strag_verbose_prefix[] = "coll:strag: COMMUNICATOR (cid ID, N ranks): ";

const struct strag_verbose_line strag_verbose_lines[] = {
    {1, "allreduce of LOW .. HIGH bytes: ALGORITHM (WHY)",
     "What runs calls of these sizes, and why: chosen by the model (auto: its modelled time, and "
     "the next best algorithm), by a rule, or pinned; or \"previous component\", and why the "
     "call is delegated to it. Once for each power of two and outcome"},
    {1, "within hosts: CARRIER", "The transport of messages within a host"},
    {1, "no shared memory: WHY", "Which rank cannot share memory, and what it lacks"},
    {1, "transport: CARRIER", "The transport of messages between hosts: pml or ucp"},
    {1, "not used: WHY", "Why this communicator stays with the previous component"},
    {1, "set up from the locations of another communicator's ranks",
     "The ranks' locations were known from another communicator"},
    {1, "FILE: ALGORITHM is proved, N operations of N ranks",
     "A plan from a file (coll_strag_plan, or a rule) that will run here"},
    {1, "FILE is not used: it is for N ranks", "A plan from a file for another number of ranks"},
    {1, "no rank is late", "The last window of calls had no straggler"},
    {1, "rank RANK is late by TIME, rank RANK by TIME: WHAT",
     "One straggler or several, and whether the other ranks go ahead without them"},
    {1, "slow links: HOSTS", "The hosts whose links are slower, each with its factor; or none"},
    {1, "another rank is late in each call: the others go ahead after TIME and TIME per MiB",
     "The dynamic mode begins: calls wait this long for the last rank"},
    {1, "all ranks are waited for again", "The dynamic mode has ended"},
    {1, "model fitted to COUNT kinds of calls: NUMBERS, error SHARE (before: SHARE)",
     "The network's latency and bandwidth, from the times of calls"},
    {1,
     "experiment with BYTES bytes: ALGORITHM takes RATIO of the time of ALGORITHM: ALGORITHM runs",
     "Another algorithm was compared with the model's choice, and which of them runs from now on"},
    {1, "saved in FILE", "coll_strag_save has written the file"},
    {2, "topology: HOSTS", "The communicator's hosts and switches as strag sees them"},
    {2, "model: NUMBERS", "The cost model's numbers, and the source of each"},
    {0, NULL, NULL},
};
