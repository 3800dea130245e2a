/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file strag.h
 * libstrag for other programs. It describes a machine's layout, a job's ranks on it, and the plans
 * of an allreduce there: who sends what to whom, whether the plans are an allreduce, how long they
 * take by the model, and which algorithm is the best for which size.
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
 * `struct strag_error *` for the reason, which may be NULL. On failure, output parameters stay
 * untouched. On success, the caller frees the objects that a function made. Nothing here prints,
 * ends the process, or keeps global state: threads may use different objects at the same time, and
 * may share an object if none of them changes it.
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
    STRAG_PENDING = 1,          /**< not an error: the call is not complete yet */
    STRAG_ERR_ARGUMENT = -1,    /**< an argument names something that does not exist */
    STRAG_ERR_UNSUPPORTED = -2, /**< not available for this n, count or option */
    STRAG_ERR_MEMORY = -3,      /**< out of memory */
    STRAG_ERR_TRANSPORT = -4,   /**< a message could not be sent or received */
    STRAG_ERR_REDUCE = -5,      /**< the reducer could not reduce or copy */
    STRAG_ERR_FALSE = -6,       /**< a proof failed: the plan is not what it claims to be */
    STRAG_ERR_IO = -7,          /**< a file could not be read, or an output stream written */
    STRAG_ERR_MISMATCH = -8,    /**< ranks made a call with different lengths */
    STRAG_ERR_LIMIT = -9        /**< more time or memory is needed than is allowed */
};

/** Why something failed: one line, without a newline, that says what was wrong and what would be
 * accepted. */
struct strag_error {
    char text[1024];
};

/** A few words for a status, for use where there is no error text. Never NULL. */
const char *strag_status_text(int status);

/** The version of the library that is running: "0.1.0". */
const char *strag_version(void);

/* ---- Algorithms ---- */

/**
 * The names of all algorithms, as `strag list` has them.
 *
 * @param index  from 0
 * @return a static text, or NULL if there are no more
 */
const char *strag_algorithm_name(int index);

/** What an algorithm is good for, in one line. @return a static text; NULL if the name is unknown
 */
const char *strag_algorithm_summary(const char *name);

/* ---- Layout: the description of a machine ---- */

/** Hosts, and the switches or the grid that join them. */
struct strag_layout;

/**
 * Read a layout file of any kind, recognized by its content: Slurm's topology.yaml or
 * topology.conf, or a coordinates file (strag(1) describes them).
 *
 * @param file         its name; a FIFO or a device is refused
 * @param[out] layout  the caller's to free with strag_layout_free
 * @return STRAG_OK; STRAG_ERR_ARGUMENT with the reason, as "FILE:LINE: why"; STRAG_ERR_IO if the
 *         file cannot be read; or STRAG_ERR_MEMORY
 */
int strag_layout_read(const char *file, struct strag_layout **layout, struct strag_error *err);

/**
 * As strag_layout_read, for text in memory.
 *
 * @param length  bytes of the text; it need not end with NUL
 * @param name    what error messages call the text
 */
int strag_layout_parse(const char *text, size_t length, const char *name,
                       struct strag_layout **layout, struct strag_error *err);

/**
 * Make a layout from a short description, in the form that the command's options of the same names
 * take.
 *
 * @param kind  "torus", "mesh", "hyperx", "hammingmesh" or "tree"
 * @param text  the sizes: "8x8x4" for the first three; for a hammingmesh, BOARD:GRID, "2x2:16x16";
 *              for a tree, ranks per host, "2,3" or "((2,3),(4))", each followed by "@GBIT" if its
 *              uplink is given
 * @return as strag_layout_read
 */
int strag_layout_describe(const char *kind, const char *text, struct strag_layout **layout,
                          struct strag_error *err);

/** NULL is allowed. */
void strag_layout_free(struct strag_layout *layout);

/** How many hosts the layout has. */
int strag_layout_hosts(const struct strag_layout *layout);

/** A host's name, which lives as long as the layout. @param host  from 0 @return NULL if none */
const char *strag_layout_host(const struct strag_layout *layout, int host);

/* ---- Topology: a job's ranks on a machine ---- */

/** Ranks on hosts, and the network between them. A topology never changes once it is made. */
struct strag_topology;

/**
 * Place a job that fills a layout, host after host, or as the file places the ranks. Each host has
 * as many ranks as the layout states for it, or `ranks_per_host` if the layout states no number.
 *
 * @param n      ranks, or 0 for as many as the layout has
 * @param hosts  use only these hosts, in this order, as Slurm writes a list: "n[01-16,20],login";
 *               NULL for all hosts
 * @param[out] topology  the caller's to free with strag_topology_free
 * @return STRAG_OK, STRAG_ERR_ARGUMENT or STRAG_ERR_MEMORY
 */
int strag_layout_fill(const struct strag_layout *layout, int n, int ranks_per_host,
                      const char *hosts, struct strag_topology **topology, struct strag_error *err);

/**
 * Place ranks on given hosts.
 *
 * @param host_of  [n]: each rank's host, 0 to strag_layout_hosts - 1
 * @param n        ranks, at least 1
 * @return as strag_layout_fill
 */
int strag_layout_place(const struct strag_layout *layout, const int *host_of, int n,
                       struct strag_topology **topology, struct strag_error *err);

/** n ranks on one switch, `ranks_per_host` on each host (the last host may have fewer).
 * @return as strag_layout_fill */
int strag_topology_flat(int n, int ranks_per_host, struct strag_topology **topology,
                        struct strag_error *err);

/** NULL is allowed. */
void strag_topology_free(struct strag_topology *topology);

/** How many ranks the topology has. */
int strag_topology_ranks(const struct strag_topology *topology);

/** How many hosts have ranks. */
int strag_topology_hosts(const struct strag_topology *topology);

/** The name of a rank's host, which lives as long as the topology. @return NULL if the host has no
 * name, or if there is no such rank */
const char *strag_topology_host(const struct strag_topology *topology, int rank);

/* ---- Allreduce: what is to be planned ---- */

/** The number of ranks, the machine, which ranks are late or slow, and the model's numbers. */
struct strag_allreduce;

/**
 * An allreduce of n ranks on an ideal machine: no rank is late, no link is slow, and the model has
 * its default numbers. The functions below change that.
 *
 * @param n         ranks, at least 1
 * @param topology  of n ranks, must live as long as the allreduce; NULL if each rank has a host of
 *                  its own, all on one switch
 * @param[out] allreduce  the caller's to free with strag_allreduce_free
 * @return STRAG_OK, STRAG_ERR_ARGUMENT or STRAG_ERR_MEMORY
 */
int strag_allreduce_create(int n, const struct strag_topology *topology,
                           struct strag_allreduce **allreduce, struct strag_error *err);

/** NULL is allowed. */
void strag_allreduce_free(struct strag_allreduce *allreduce);

/** Cut the vector into this many blocks. With 0, the initial value, the count suits the algorithm
 * and the size. @return STRAG_OK or STRAG_ERR_ARGUMENT */
int strag_allreduce_set_blocks(struct strag_allreduce *allreduce, int blocks,
                               struct strag_error *err);

/** The number of links of a grid that a host drives at the same time. With 0, the initial value,
 * the algorithm chooses the number. @return STRAG_OK or STRAG_ERR_ARGUMENT */
int strag_allreduce_set_ports(struct strag_allreduce *allreduce, int ports,
                              struct strag_error *err);

/**
 * Name the rank that arrives after the others. A second call replaces the first one's rank.
 *
 * @param rank   the straggler, or -1, the initial value, if no rank is late
 * @param delay  seconds, 0 or more
 * @return STRAG_OK or STRAG_ERR_ARGUMENT
 */
int strag_allreduce_set_straggler(struct strag_allreduce *allreduce, int rank, double delay,
                                  struct strag_error *err);

/**
 * The links of a rank's host are slower than those of other hosts. Each call adds a rank. If a rank
 * is given twice, the larger factor holds.
 *
 * @param factor  at least 1
 * @return STRAG_OK, STRAG_ERR_ARGUMENT, or STRAG_ERR_UNSUPPORTED if 64 ranks are slow already
 */
int strag_allreduce_set_slow(struct strag_allreduce *allreduce, int rank, double factor,
                             struct strag_error *err);

/**
 * Set a number of the cost model, as the command's options of the same names do: alpha also sets
 * the overhead to a fifth, unless that has been set.
 *
 * @param name   "alpha", "local-alpha" or "overhead", in microseconds; "bandwidth",
 *               "injection-bandwidth", "local-bandwidth" or "reduce-bandwidth", in Gbit/s;
 *               "link-latency" or "hop-latency", in nanoseconds
 * @param value  in the unit of its name
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

/** One rank's operations in program order. A plan depends on neither data type nor count. */
struct strag_plan;

/** An operation of a plan. A plan's operations, run one after another, do the allreduce in a buffer
 * that starts as a copy of the input. A send takes the values that the buffer has at that moment.
 * The i-th send of rank a to rank b matches the i-th receive of b from a. */
struct strag_operation {
    int kind;          /**< enum strag_kind */
    int peer;          /**< the other rank */
    int first, count;  /**< blocks [first, first + count) */
    int round;         /**< from 0, never lower than the operation's before it */
    bool own_left;     /**< STRAG_RECV_REDUCE: my value is the operator's left operand. If ranks
                            ignore this, they end with different bits */
    const char *stage; /**< the stage it belongs to: "reduce-scatter"; lives as long as the plan */
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

/** @param index  from 0 @param[out] operation  filled @return false if it does not exist */
bool strag_plan_operation(const struct strag_plan *plan, int index,
                          struct strag_operation *operation);

/**
 * The earlier operations that an operation must wait for, if several run at the same time. A send
 * or a receive may start when these are done. A STRAG_RECV_REDUCE may receive (into other memory)
 * at any time, and reduces when these are done.
 *
 * @param[out] length  how many there are
 * @return their indices, which live as long as the plan; may be NULL if *length is 0, and is NULL
 *         if there is no such operation
 */
const int32_t *strag_plan_waits(const struct strag_plan *plan, int index, int *length);

/**
 * Where a block begins. The result is exact, so that all ranks cut a vector at the same elements.
 *
 * @param block  0 to strag_plan_blocks, which gives `count`
 * @param count  elements in the vector
 * @return the index of the block's first element
 */
size_t strag_plan_block_start(const struct strag_plan *plan, int block, size_t count);

/* ---- Plans from files ---- */

/** A user plan: the plans of all ranks, from a file. */
struct strag_given;

/**
 * Read a file in the format that `strag plan --format json` writes and doc/plan-format.md
 * specifies. Only well-formed plans are accepted; strag_given_verify proves that they are an
 * allreduce.
 *
 * @param file        its name; a FIFO or a device is refused
 * @param[out] given  the caller's to free with strag_given_free; untouched on failure
 * @param err         "FILE:LINE: reason", or "FILE: ranks[3].ops[7].peer: reason, and
 *                    what is accepted"; may be NULL
 * @return STRAG_OK, STRAG_ERR_ARGUMENT, STRAG_ERR_IO or STRAG_ERR_MEMORY
 */
int strag_plan_file_read(const char *file, struct strag_given **given, struct strag_error *err);

/** Free it, after all plans made from it. NULL is allowed. */
void strag_given_free(struct strag_given *given);

/** How many ranks the user plan is for. */
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

/** What a proof has counted. Amounts are in vectors. */
struct strag_verified {
    int blocks, rounds;
    double sent_max;   /**< the most that one rank sends */
    double sent_total; /**< the sum of what all ranks send */
    double reduce_max; /**< the most that one rank reduces */
};

/**
 * Prove that the plans of all ranks are an allreduce: every contribution is in every block of every
 * rank exactly once, all ranks end with the same bits, nothing can hang, and rounds, bytes and
 * ports are as the algorithm claims.
 *
 * @param[out] verified  what was counted; may be NULL
 * @return STRAG_OK, STRAG_ERR_FALSE with the first error found, or as strag_allreduce_plan
 */
int strag_allreduce_verify(const struct strag_allreduce *allreduce, const char *algorithm,
                           struct strag_verified *verified, struct strag_error *err);

/** The same for plans from a file, and for the claims in the file. @return STRAG_OK,
 * STRAG_ERR_FALSE with the first error found, STRAG_ERR_LIMIT (the limits are those of `strag
 * verify`) or STRAG_ERR_MEMORY */
int strag_given_verify(const struct strag_given *given, struct strag_verified *verified,
                       struct strag_error *err);

/**
 * How long the allreduce takes by the model, which runs one round after the other: from the first
 * rank's arrival to the last rank's end, with the number of blocks that is best for each size.
 *
 * @param bytes         [sizes]: lengths of the vector
 * @param[out] seconds  [sizes]: a time for each length
 * @return as strag_allreduce_plan
 */
int strag_allreduce_seconds(const struct strag_allreduce *allreduce, const char *algorithm,
                            const size_t *bytes, int sizes, double *seconds,
                            struct strag_error *err);

/** The algorithm for sizes from `from` up to the next entry's `from`. */
struct strag_selected {
    size_t from;           /**< bytes; the first is 0 */
    const char *algorithm; /**< a static text */
    int blocks;            /**< for strag_allreduce_set_blocks; 0 for the algorithm's own choice */
};

/** Enough room for every table of strag_allreduce_select. The number is fixed for this version of
 * the library (its soname). */
#define STRAG_SELECTED_MAX 48

/**
 * Which algorithm is the best by the model, for all sizes.
 *
 * @param[out] selected  [STRAG_SELECTED_MAX]: ascending
 * @param[out] count     how many entries were filled, at least 1
 * @return STRAG_OK, STRAG_ERR_UNSUPPORTED if no algorithm can plan this, or STRAG_ERR_MEMORY
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
 * @param out  the stream; the caller flushes it
 * @return STRAG_OK, STRAG_ERR_IO if `out` could not be written, or as strag_allreduce_plan
 */
int strag_allreduce_show(const struct strag_allreduce *allreduce, const char *algorithm,
                         enum strag_format format, FILE *out, struct strag_error *err);

#ifdef __cplusplus
}
#endif

#endif
