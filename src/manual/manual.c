/* SPDX-License-Identifier: BSD-3-Clause */
#include "manual/manual.h"

#include "algorithms/table.h"

#include <stdio.h>

const struct strag_parameter strag_parameters[STRAG_PARAMETERS] = {
    [STRAG_SET_PRIORITY] = {STRAG_PREFIX "priority", "0", STRAG_INTEGER, 6, false,
                            "Priority of coll/strag. It is used where it is above 0 and the "
                            "highest. Default 0: installed, but not used, unless --mca coll names "
                            "strag, which makes it 90"},
    [STRAG_SET_ENABLE] = {STRAG_PREFIX "enable", "true", STRAG_SWITCH, 4, false,
                          "Whether coll/strag may be used at all"},
    [STRAG_SET_ALGORITHM] = {STRAG_PREFIX "algorithm", "auto", STRAG_TEXT, 4, true,
                             "The algorithm: auto, which leaves vectors below "
                             "coll_strag_minimum_size to the previous component; previous, which "
                             "leaves all to it; or one for all sizes"},
    [STRAG_SET_MINIMUM_SIZE] = {STRAG_PREFIX "minimum_size", "auto", STRAG_TEXT, 5, false,
                                "auto (coll_strag_algorithm) hands shorter vectors to the "
                                "previous component; in bytes (K, M, G allowed). auto here: 8K; "
                                "64K between hosts as long as nothing says what a message takes "
                                "there; 0 if all ranks share memory. All ranks use rank 0's "
                                "value"},
    [STRAG_SET_RULES] = {STRAG_PREFIX "rules", "", STRAG_TEXT, 4, false,
                         "A file with rules that say which algorithm runs for which size "
                         "(strag-tune writes such files). All ranks use the file that a "
                         "communicator's rank 0 finds"},
    [STRAG_SET_PLAN] = {STRAG_PREFIX "plan", "", STRAG_TEXT, 4, true,
                        "A plan from a file, FILE or FILE:FROM-TO for vectors of so many bytes "
                        "(K, M, G allowed): it runs on communicators of as many ranks as it is "
                        "for, if rank 0 can prove it, and goes before coll_strag_rules and "
                        "coll_strag_algorithm. strag plan --format json writes such files. All "
                        "ranks use the file that a communicator's rank 0 finds"},
    [STRAG_SET_LEARN] = {STRAG_PREFIX "learn", "true", STRAG_SWITCH, 4, false,
                         "Between hosts: find out from the first calls how fast the network is, "
                         "and by experiments whether another algorithm is faster than the one "
                         "that is modelled to be the fastest. Without it, and where "
                         "coll_strag_reproducible is not no, the cost model's numbers are those "
                         "that were set"},
    [STRAG_SET_REPRODUCIBLE] =
        {STRAG_PREFIX "reproducible", "no", STRAG_TEXT, 4, false,
         "Whether every run has the same bits. no (or 0): what is measured "
         "while a job runs may change a plan, and with it the bits. mapping: "
         "the same bits wherever the same ranks are on the same hosts: the "
         "topology and the parameters decide, and nothing that is measured. "
         "ranks (or 1): wherever the ranks are: their number, the vector and "
         "the parameters decide. All ranks use rank 0's value"},
    [STRAG_SET_VERBOSE] = {STRAG_PREFIX "verbose", "0", STRAG_INTEGER, 4, false,
                           "From 1 on: log which algorithm runs and why, once per communicator, "
                           "size class and outcome (so does coll_base_verbose from 10 on)"},
    [STRAG_SET_REPORT] = {STRAG_PREFIX "report", "0", STRAG_TEXT, 4, true,
                          "1: report at the end of each communicator what its allreduces took, "
                          "what ran them, which rank was last and what that cost, also where strag "
                          "does not run them; a file's name with a dot or a slash, such as "
                          "report.json: the same as JSON; 0: no report. All ranks use rank 0's "
                          "value"},
    [STRAG_SET_TRACE] = {STRAG_PREFIX "trace", "", STRAG_TEXT, 4, false,
                         "A file to write: the last calls of the job's largest communicator, with "
                         "all messages of each rank, as Chrome trace JSON (for ui.perfetto.dev). "
                         "With %c in its name one file for each communicator; its name takes the "
                         "place of %c. All ranks use rank 0's value"},
    [STRAG_SET_SAVE] = {STRAG_PREFIX "save", "", STRAG_TEXT, 4, false,
                        "A file to write: what rank 0 of the job chose for its largest "
                        "communicator so far, and all that the choice rests on, for strag explain "
                        "--saved FILE. With %c in its name one file for each communicator; its "
                        "name takes the place of %c"},
    [STRAG_SET_SHARED_MEMORY] = {STRAG_PREFIX "shared_memory", "auto", STRAG_TEXT, 5, false,
                                 "Whether messages within a host go through memory that its ranks "
                                 "share: 0 never, 1 with a warning where that is not possible, "
                                 "auto without one, but not where all goes over UCX. All ranks "
                                 "use rank 0's value"},
    [STRAG_SET_SHARED_MEMORY_SIZE] = {STRAG_PREFIX "shared_memory_size", "256M", STRAG_TEXT, 6,
                                      false,
                                      "Bytes of addresses (K, M, G allowed) that a process may "
                                      "use for the memory of all ranks of its host, whatever the "
                                      "number of communicators. An eighth may be touched. Less "
                                      "where the limits of the process or its cgroup are low"},
    [STRAG_SET_SEGMENT_SIZE] = {STRAG_PREFIX "segment_size", "auto", STRAG_TEXT, 5, false,
                                "Long messages are cut into segments of so many bytes (K, M, G "
                                "allowed), so that one travels while another is reduced. auto: 1M "
                                "within a host, between hosts what btl/tcp sends eagerly, or "
                                "256K. A call needs up to ten segments of temporary space. All "
                                "ranks use rank 0's value"},
    [STRAG_SET_TRANSPORT] = {STRAG_PREFIX "transport", "auto", STRAG_TEXT, 5, true,
                             "What messages go over: pml (Open MPI's point-to-point layer), ucp "
                             "(UCX, by a worker of our own; where that is not possible, pml; not "
                             "accepted by a component that was built without UCX), or auto: ucp "
                             "where there may be buffers in a CUDA device's memory and UCX takes "
                             "them, else pml. UCX_TLS and other variables of UCX hold. All ranks "
                             "use rank 0's value"},
    [STRAG_SET_DEVICE_BUFFERS] = {STRAG_PREFIX "device_buffers", "auto", STRAG_TEXT, 5, false,
                                  "Whether buffers may be in a CUDA device's memory: auto (where "
                                  "the system has an NVIDIA driver), yes (wherever a libcuda.so.1 "
                                  "is loaded), or no: the program passes none, and they are not "
                                  "looked for"},
    [STRAG_SET_LAYOUT] = {STRAG_PREFIX "layout", "", STRAG_TEXT, 4, false,
                          "A file that says how the hosts are joined: Slurm's topology.conf or "
                          "topology.yaml, or a coordinates file. All ranks use the file that a "
                          "communicator's rank 0 finds. names:r{rack}n{}: groups by the hosts' "
                          "names; names:xname those of Slingshot"},
    [STRAG_SET_TORUS] = {STRAG_PREFIX "torus", "", STRAG_TEXT, 4, false,
                         "The hosts are a torus of these sizes, such as 8x8x4, and in the order "
                         "of their lowest ranks they fill it, the first dimension fastest; "
                         "mesh:8x8 and hyperx:8x8 are understood too. coll_strag_layout goes "
                         "before it"},
    [STRAG_SET_PORTS] = {STRAG_PREFIX "ports", "auto", STRAG_TEXT, 5, true,
                         "How many links of a torus a host drives at the same time: 1, two for "
                         "each dimension, or auto, what is best for an algorithm"},
    [STRAG_SET_STRAGGLER] = {STRAG_PREFIX "straggler", "auto", STRAG_TEXT, 4, true,
                             "A rank of MPI_COMM_WORLD that comes late to most calls, and perhaps "
                             "by how much: RANK[:MICROSECONDS]. auto: find out whether there is "
                             "one, or another one in each call, and go ahead without it where "
                             "that helps; dynamic: find out in each call who comes last; none: "
                             "wait for all"},
    [STRAG_SET_SLOWDOWN] = {STRAG_PREFIX "slowdown", "auto", STRAG_TEXT, 4, true,
                            "Whose links are slower than the others': WHO:FACTOR between commas, "
                            "WHO a host or a rank of MPI_COMM_WORLD; none; or auto: found out "
                            "while the job runs"},
    [STRAG_SET_WINDOW] = {STRAG_PREFIX "window", "0", STRAG_INTEGER, 5, false,
                          "So many calls are looked at together to find a straggler, 2 to 4096; "
                          "0: 100, or half the number of ranks, fewer at first"},
    [STRAG_SET_WATCH_SIZE] = {STRAG_PREFIX "watch_size", "64K", STRAG_TEXT, 5, false,
                              "Calls of so many bytes and more are watched to find a straggler "
                              "(K, M, G allowed). All ranks use rank 0's value"},
    [STRAG_SET_STUCK] = {STRAG_PREFIX "stuck", "30", STRAG_INTEGER, 4, false,
                         "Seconds after which one rank says on standard error that an allreduce "
                         "waits, and for which ranks; again after twice as many, and so on. 0: "
                         "never"},
    [STRAG_SET_MODEL] = {STRAG_PREFIX "model", "", STRAG_TEXT, 4, false,
                         "A file with the numbers of the cost model for each kind of machine "
                         "(strag-tune --model writes such files); the parameters of these numbers "
                         "go before it. All ranks use the file that a communicator's rank 0 "
                         "finds"},
#define NUMBER(WITH, ID, member, name, unit, least, what, standard)                                \
    [STRAG_SET_NUMBERS + STRAG_MODEL_##ID] = {STRAG_PREFIX #member,                                \
                                              "",                                                  \
                                              STRAG_TEXT,                                          \
                                              6,                                                   \
                                              false,                                               \
                                              "Cost model: " what                                  \
                                              ". Empty: what suits the kind of network, or of "    \
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
                                  "communicators whose ranks have told rank 0 where they are"},
    [STRAG_COUNT_SETUPS_DERIVED] = {STRAG_PREFIX "setups_derived",
                                    "communicators that were set up from what "
                                    "another one's ranks had told"},
    [STRAG_SAY_LATE_RANK] = {STRAG_PREFIX "late_rank",
                             "The rank of the communicator that is late now; -1: none"},
    [STRAG_SAY_LATE_DELAY] = {STRAG_PREFIX "late_delay", "Seconds that it is late by; 0: none is"},
    [STRAG_SAY_LATE_MOST] = {STRAG_PREFIX "late_most",
                             "The one that was last most often, so far; -1: none ever was"},
    [STRAG_SAY_LATE_SHARE] = {STRAG_PREFIX "late_share",
                              "In which share of the calls that were looked at closely it was"},
    [STRAG_SAY_LATE_MEDIAN] = {STRAG_PREFIX "late_median",
                               "Seconds that it was late by, in the median of these calls"},
    [STRAG_SAY_LATE_SWITCHES] = {STRAG_PREFIX "late_switches",
                                 "How often another rank, or none, was found to be late"},
    [STRAG_SAY_LATE_SAVED] = {STRAG_PREFIX "late_saved",
                              "Seconds that going ahead without stragglers has "
                              "saved, as modelled; below 0: lost"},
    [STRAG_SAY_LATE_WAITED] = {STRAG_PREFIX "late_waited",
                               "Seconds for which all other ranks were there before the last one, "
                               "in the calls that were looked at closely, as measured"},
    [STRAG_SAY_LAST_CALLS] = {STRAG_PREFIX "last_calls",
                              "Calls in which it was found out who is there, as far "
                              "as windows have ended"},
    [STRAG_SAY_LAST_AHEAD] = {STRAG_PREFIX "last_ahead",
                              "... and that the others began without whoever came last"},
    [STRAG_SAY_LAST_SAVED] = {STRAG_PREFIX "last_saved",
                              "Seconds that this has saved, as measured where it "
                              "was; below 0: lost"},
    [STRAG_SAY_SLOW_RANK] = {STRAG_PREFIX "slow_rank",
                             "A rank on the host with the slowest link now; -1: none is slow"},
    [STRAG_SAY_SLOW_FACTOR] = {STRAG_PREFIX "slow_factor",
                               "How many times slower than others that link is; 1: none is"},
    [STRAG_SAY_SLOW_PROBES] = {STRAG_PREFIX "slow_probes",
                               "How often the links of all hosts were probed"},
    [STRAG_SAY_MODEL_ERROR] = {STRAG_PREFIX "model_error",
                               "How far calls are from what they are modelled to "
                               "take, relative; below 0: not known"},
};

const char strag_verbose_prefix[] = "coll:strag: COMMUNICATOR (cid ID, N ranks): ";

const struct strag_verbose_line strag_verbose_lines[] = {
    {1, "allreduce of LOW .. HIGH bytes: ALGORITHM (WHY)",
     "What runs calls of these sizes, and why: chosen by the model (auto: what it is modelled to "
     "take, and which other one comes next), by a rule, or pinned; or \"previous component\" and "
     "why the call is left to it. Once for each power of two and outcome"},
    {1, "within hosts: CARRIER", "What messages within a host go through"},
    {1, "no shared memory: WHY", "Which rank cannot share memory, and what it lacks"},
    {1, "transport: CARRIER", "What messages between hosts go over: pml or ucp"},
    {1, "not used: WHY", "Why this communicator stays with the previous component"},
    {1, "set up from what is known of its ranks",
     "Another communicator's ranks have said where they are"},
    {1, "FILE: ALGORITHM is proved, N operations of N ranks",
     "A plan from a file (coll_strag_plan, or a rule's) that will run here"},
    {1, "FILE is for N ranks, and not used", "A plan from a file, for other communicators"},
    {1, "no rank is late", "What the watch for stragglers found in its last window"},
    {1, "rank RANK is late by TIME: WHAT",
     "The straggler, and whether the others go ahead without it"},
    {1, "slow links: HOSTS", "Hosts whose links are slower, each with its factor; or none"},
    {1, "saved in FILE", "coll_strag_save has written the file"},
    {2, "topology: HOSTS", "The communicator's hosts and switches as strag sees them"},
    {2, "model: NUMBERS", "The cost model's numbers, and where each of them is from"},
    {0, NULL, NULL},
};
