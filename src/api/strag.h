/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file strag.h
 * libstrag for other programs: a machine's layout, a job's ranks on it, and the plans of an
 * allreduce there: who sends what to whom, whether that is an allreduce, how long it takes by the
 * model, and which algorithm is the best for which size.
 *
 *     struct strag_error err;
 *     struct strag_layout *layout;
 *     struct strag_topology *topology;
 *     struct strag_allreduce *allreduce;
 *     if (strag_layout_read("topology.conf", &layout, &err) ||
 *         strag_layout_fill(layout, 64, 1, NULL, &topology, &err) ||
 *         strag_allreduce_create(64, topology, &allreduce, &err))
 *             fprintf(stderr, "%s\n", err.text);
 *
 * Build with `pkg-config --cflags --libs strag`; examples/library.c is a whole program.
 *
 * Functions that can fail return an enum strag_status, negative for errors, and take a
 * `struct strag_error *` for the reason, which may be NULL. What they make is untouched on failure,
 * and else the caller's to free. Nothing here prints, ends the process, or keeps global state:
 * threads may use different objects at the same time, and one object if none of them changes it.
 *
 * Ranks count from 0. Sizes are bytes, times seconds, unless a function says otherwise.
 */
#ifndef STRAG_H
#define STRAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ---- */

enum strag_status {
    STRAG_OK = 0,
    STRAG_PENDING = 1,          /**< not an error: not complete yet */
    STRAG_ERR_ARGUMENT = -1,    /**< the caller asked for something that does not exist */
    STRAG_ERR_UNSUPPORTED = -2, /**< it exists, but not for this n, count or option */
    STRAG_ERR_MEMORY = -3,      /**< out of memory */
    STRAG_ERR_TRANSPORT = -4,   /**< a message could not be sent or received */
    STRAG_ERR_REDUCE = -5,      /**< the reducer could not reduce or copy */
    STRAG_ERR_FALSE = -6,       /**< a proof failed: the plan is not what it claims to be */
    STRAG_ERR_IO = -7,          /**< a file could not be read, or an output stream written */
    STRAG_ERR_MISMATCH = -8,    /**< ranks made a call with different lengths */
    STRAG_ERR_LIMIT = -9        /**< it takes more time or memory than it may */
};

/** Why something failed: one line, without a newline, that says what was wrong and what would be
 * accepted. */
struct strag_error {
    char text[1024];
};

/** A few words for a status, for where there is no text. Never NULL. */
const char *strag_status_text(int status);

/** The version of the library that runs: "0.1.0". */
const char *strag_version(void);

/* ---- Algorithms ---- */

/**
 * The names of all algorithms, as `strag list` has them.
 *
 * @param index  from 0
 * @return a static text; NULL: there are no more
 */
const char *strag_algorithm_name(int index);

/** What an algorithm is good for, in one line. @return a static text; NULL: there is no such name
 */
const char *strag_algorithm_summary(const char *name);

/* ---- Layout: a machine as somebody describes it ---- */

/** Hosts, and the switches or the grid that join them. */
struct strag_layout;

/**
 * Read a layout file of any kind, recognized by its content: Slurm's topology.yaml or
 * topology.conf, or a coordinates file (strag(1) describes them).
 *
 * @param file         its name; a FIFO or a device is refused
 * @param[out] layout  the caller's to free with strag_layout_free
 * @return STRAG_OK; STRAG_ERR_ARGUMENT with the reason, as "FILE:LINE: why"; STRAG_ERR_IO (the
 *         file); or STRAG_ERR_MEMORY
 */
int strag_layout_read(const char *file, struct strag_layout **layout, struct strag_error *err);

/**
 * The same for text in memory.
 *
 * @param length  bytes of the text; it need not end with NUL
 * @param name    what messages call it
 */
int strag_layout_parse(const char *text, size_t length, const char *name,
                       struct strag_layout **layout, struct strag_error *err);

/**
 * A layout in a few words, as the command's options of the same names take them.
 *
 * @param kind  "torus", "mesh" or "hyperx", with sizes: "8x8x4"; "hammingmesh", with BOARD:GRID:
 *              "2x2:16x16"; or "tree", with ranks per host: "2,3" or "((2,3),(4))", each with
 *              "@GBIT" for its uplink
 * @param text  the sizes
 * @return as strag_layout_read
 */
int strag_layout_describe(const char *kind, const char *text, struct strag_layout **layout,
                          struct strag_error *err);

/** NULL is allowed. */
void strag_layout_free(struct strag_layout *layout);

/** How many hosts it has. */
int strag_layout_hosts(const struct strag_layout *layout);

/** A host's name, which lives as long as the layout. @param host  from 0 @return NULL: no such host
 */
const char *strag_layout_host(const struct strag_layout *layout, int host);

/* ---- Topology: a job's ranks on a machine ---- */

/** Ranks on hosts, and the network between them. It never changes once it is made. */
struct strag_topology;

/**
 * Place a job that fills a layout, host after host (or as the file places the ranks): each host has
 * as many ranks as the layout gives it, else `ranks_per_host`.
 *
 * @param n      ranks; 0: as many as the layout has
 * @param hosts  only these hosts, in this order, as Slurm writes a list: "n[01-16,20],login"; NULL:
 *               all
 * @param[out] topology  the caller's to free with strag_topology_free
 * @return STRAG_OK, STRAG_ERR_ARGUMENT or STRAG_ERR_MEMORY
 */
int strag_layout_fill(const struct strag_layout *layout, int n, int ranks_per_host,
                      const char *hosts, struct strag_topology **topology, struct strag_error *err);

/**
 * Place ranks whose hosts are known one by one.
 *
 * @param host_of  [n]: each rank's host, 0 to strag_layout_hosts - 1
 * @param n        ranks, at least 1
 * @return as strag_layout_fill
 */
int strag_layout_place(const struct strag_layout *layout, const int *host_of, int n,
                       struct strag_topology **topology, struct strag_error *err);

/** n ranks on one switch, a host for each `ranks_per_host` of them (the last may have fewer).
 * @return as strag_layout_fill */
int strag_topology_flat(int n, int ranks_per_host, struct strag_topology **topology,
                        struct strag_error *err);

/** NULL is allowed. */
void strag_topology_free(struct strag_topology *topology);

/** How many ranks it has. */
int strag_topology_ranks(const struct strag_topology *topology);

/** How many hosts have ranks. */
int strag_topology_hosts(const struct strag_topology *topology);

/** The name of a rank's host, which lives as long as the topology. @return NULL: the host has no
 * name, or there is no such rank */
const char *strag_topology_host(const struct strag_topology *topology, int rank);

/* ---- Allreduce: what is to be planned ---- */

/** How many ranks, on which machine, the ranks that are late or slow, and the model's numbers.
 */
struct strag_allreduce;

/**
 * An allreduce of n ranks on an ideal machine: nobody is late, no link is slow, and the model has
 * its usual numbers. The functions below change that.
 *
 * @param n         ranks, at least 1
 * @param topology  of n ranks, must live as long as the allreduce; NULL: each on a host of its own,
 *                  all on one switch
 * @param[out] allreduce  the caller's to free with strag_allreduce_free
 * @return STRAG_OK, STRAG_ERR_ARGUMENT or STRAG_ERR_MEMORY
 */
int strag_allreduce_create(int n, const struct strag_topology *topology,
                           struct strag_allreduce **allreduce, struct strag_error *err);

/** NULL is allowed. */
void strag_allreduce_free(struct strag_allreduce *allreduce);

/** Cut the vector into this many blocks; 0, the initial value: a count that suits the algorithm and
 * size.
 * @return STRAG_OK or STRAG_ERR_ARGUMENT */
int strag_allreduce_set_blocks(struct strag_allreduce *allreduce, int blocks,
                               struct strag_error *err);

/** The number of links of a grid that a host drives at the same time; 0, the initial value: chosen
 * by the algorithm. @return STRAG_OK or STRAG_ERR_ARGUMENT */
int strag_allreduce_set_ports(struct strag_allreduce *allreduce, int ports,
                              struct strag_error *err);

/**
 * Name the rank that arrives after the others; one at a time.
 *
 * @param rank   the straggler; -1, as at first: nobody is late
 * @param delay  seconds, 0 or more
 * @return STRAG_OK or STRAG_ERR_ARGUMENT
 */
int strag_allreduce_set_straggler(struct strag_allreduce *allreduce, int rank, double delay,
                                  struct strag_error *err);

/**
 * The links of a rank's host are slower than the others'. Said again of another rank, both are; of
 * the same one, the larger factor holds.
 *
 * @param factor  at least 1
 * @return STRAG_OK, STRAG_ERR_ARGUMENT, or STRAG_ERR_UNSUPPORTED: more than 64 ranks
 */
int strag_allreduce_set_slow(struct strag_allreduce *allreduce, int rank, double factor,
                             struct strag_error *err);

/**
 * Set a number of the cost model, as the command's options of the same names do.
 *
 * @param name   "alpha", "local-alpha" or "overhead", microseconds; "bandwidth",
 *               "injection-bandwidth", "local-bandwidth" or "reduce-bandwidth", Gbit/s;
 * "link-latency" or "hop-latency", nanoseconds
 * @param value  in that unit
 * @return STRAG_OK or STRAG_ERR_ARGUMENT
 */
int strag_allreduce_set_number(struct strag_allreduce *allreduce, const char *name, double value,
                               struct strag_error *err);

/* ---- Plan: what one rank does ---- */

enum strag_kind {
    STRAG_SEND,       /**< my current value of the blocks goes to the peer */
    STRAG_RECV,       /**< what the peer sends replaces my value of the blocks */
    STRAG_RECV_REDUCE /**< what the peer sends is reduced into my value of the blocks */
};

/** One rank's operations in program order. It knows neither data type nor count. */
struct strag_plan;

/** An operation of a plan. Run one after another, each send taking what is there at that moment,
 * a plan's operations do the allreduce in a buffer that starts as a copy of the input. The i-th
 * send of a to b is the i-th receive of b from a. */
struct strag_operation {
    int kind;         /**< enum strag_kind */
    int peer;         /**< the other rank */
    int first, count; /**< blocks [first, first + count) */
    int round;        /**< from 0, never lower than the operation's before it */
    bool own_left;    /**< STRAG_RECV_REDUCE: my value is the operator's left operand. Ranks that do
                           not keep to that end with different bits */
    const char *stage; /**< what it is part of: "reduce-scatter"; lives as long as the plan */
};

/**
 * Make one rank's plan.
 *
 * @param algorithm  its name, as strag_algorithm_name has it
 * @param rank       whose plan
 * @param[out] plan  the caller's to free with strag_plan_free
 * @return STRAG_OK; STRAG_ERR_ARGUMENT for a name or a rank that does not exist;
 *         STRAG_ERR_UNSUPPORTED with why the algorithm cannot plan this; or STRAG_ERR_MEMORY
 */
int strag_allreduce_plan(const struct strag_allreduce *allreduce, const char *algorithm, int rank,
                         struct strag_plan **plan, struct strag_error *err);

/** NULL is allowed. */
void strag_plan_free(struct strag_plan *plan);

/** How many blocks the vector is cut into. */
int strag_plan_blocks(const struct strag_plan *plan);

/** How many rounds the whole collective has. */
int strag_plan_rounds(const struct strag_plan *plan);

/** How many operations the rank has. */
int strag_plan_operations(const struct strag_plan *plan);

/** @param index  from 0 @param[out] operation  filled @return false: there is no such operation */
bool strag_plan_operation(const struct strag_plan *plan, int index,
                          struct strag_operation *operation);

/**
 * Which earlier operations one must wait for, if several run at the same time. A send
 * or a receive may start when these are done; a STRAG_RECV_REDUCE may receive (into other memory)
 * at any time, and reduces when they are done.
 *
 * @param[out] length  how many there are
 * @return their indices; they live as long as the plan. NULL: there is no such operation
 */
const int32_t *strag_plan_waits(const struct strag_plan *plan, int index, int *length);

/**
 * Where a block begins. Exact, so that all ranks cut a vector at the same elements.
 *
 * @param block  0 to strag_plan_blocks; that one gives `count`
 * @param count  elements in the vector
 * @return an element
 */
size_t strag_plan_block_start(const struct strag_plan *plan, int block, size_t count);

/* ---- Plans from files ---- */

/** The plans of all ranks, from a file: "given". */
struct strag_given;

/**
 * Read a file as `strag plan --format json` writes it, and doc/plan-format.md specifies it. What is
 * read is well formed; whether it is an allreduce, strag_given_verify says.
 *
 * @param file        its name; a FIFO or a device is refused
 * @param[out] given  the caller's to free with strag_given_free; untouched on failure
 * @param err         "FILE:LINE: reason", or "FILE: ranks[3].ops[7].peer: reason, and
 *                    what is accepted"; may be NULL
 * @return STRAG_OK, STRAG_ERR_ARGUMENT, STRAG_ERR_IO or STRAG_ERR_MEMORY
 */
int strag_plan_file_read(const char *file, struct strag_given **given, struct strag_error *err);

/** NULL is allowed. All plans made of it must be gone. */
void strag_given_free(struct strag_given *given);

/** For how many ranks it is. */
int strag_given_ranks(const struct strag_given *given);

/**
 * Make one rank's plan.
 *
 * @param[out] plan  the caller's to free with strag_plan_free, before `given` is freed
 * @return STRAG_OK, STRAG_ERR_ARGUMENT for a rank that does not exist, or STRAG_ERR_MEMORY
 */
int strag_given_plan(const struct strag_given *given, int rank, struct strag_plan **plan,
                     struct strag_error *err);

/* ---- Verify, cost, select, show ---- */

/** What a proof has counted. A vector is 1. */
struct strag_verified {
    int blocks, rounds;
    double sent_max;   /**< the most that one rank sends */
    double sent_total; /**< what all send together */
    double reduce_max; /**< the most that one rank reduces */
};

/**
 * Prove that the plans of all ranks are an allreduce: every contribution is in every block of every
 * rank once, all ranks end with the same bits, nothing can hang, and rounds, bytes and ports are as
 * the algorithm claims.
 *
 * @param[out] verified  what was counted; may be NULL
 * @return STRAG_OK, STRAG_ERR_FALSE with the first thing found wrong, or as strag_allreduce_plan
 */
int strag_allreduce_verify(const struct strag_allreduce *allreduce, const char *algorithm,
                           struct strag_verified *verified, struct strag_error *err);

/** The same for plans from a file, and what that claims. @return STRAG_OK, STRAG_ERR_FALSE with the
 * first thing found wrong, STRAG_ERR_LIMIT (as `strag verify` limits it) or STRAG_ERR_MEMORY */
int strag_given_verify(const struct strag_given *given, struct strag_verified *verified,
                       struct strag_error *err);

/**
 * How long the allreduce takes by the model: from the first rank's arrival to the last one's end,
 * round after round, with the blocks that suit each size.
 *
 * @param bytes         [sizes]: lengths of the vector
 * @param[out] seconds  [sizes]
 * @return as strag_allreduce_plan
 */
int strag_allreduce_seconds(const struct strag_allreduce *allreduce, const char *algorithm,
                            const size_t *bytes, int sizes, double *seconds,
                            struct strag_error *err);

/** From a size on, up to the next one's: */
struct strag_selected {
    size_t from;           /**< bytes; the first is 0 */
    const char *algorithm; /**< a static text */
    int blocks;            /**< for strag_allreduce_set_blocks; 0: the algorithm's own choice */
};

/** Room that is enough for every table of strag_allreduce_select. It stays in this version of the
 * library (its soname): one that needed more would be another. */
#define STRAG_SELECTED_MAX 48

/**
 * Which algorithm is the best by the model, for all sizes.
 *
 * @param[out] selected  [STRAG_SELECTED_MAX]: ascending
 * @param[out] count     how many were filled, at least 1
 * @return STRAG_OK, STRAG_ERR_UNSUPPORTED where no algorithm can plan this, or STRAG_ERR_MEMORY
 */
int strag_allreduce_select(const struct strag_allreduce *allreduce, struct strag_selected *selected,
                           int *count, struct strag_error *err);

enum strag_format {
    STRAG_FORMAT_TEXT, /**< a table for each rank */
    STRAG_FORMAT_JSON  /**< documented in strag(1), and stable; `strag plan --plan` draws it */
};

/**
 * Write the plans of all ranks, as `strag plan` does.
 *
 * @param out  is flushed by the caller
 * @return STRAG_OK, STRAG_ERR_IO where it could not be written, or as strag_allreduce_plan
 */
int strag_allreduce_show(const struct strag_allreduce *allreduce, const char *algorithm,
                         enum strag_format format, FILE *out, struct strag_error *err);

#ifdef __cplusplus
}
#endif

#endif
