/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll/strag: MPI_Allreduce by plans.
 *
 *     coll_strag_component.c      opening and closing, companions of `--mca coll strag`
 *     coll_strag_parameters.c     parameters and counters
 *     coll_strag_module.c         one per communicator: take it or decline it
 *     coll_strag_allreduce.c      the entry point: choose an algorithm, or hand the call on
 *     coll_strag_locality.c       where the ranks are: told to rank 0, whose answer all share
 *     coll_strag_place.c          rank 0: the topology, from the layout and the hosts' names
 *     coll_strag_table.c          rank 0: which algorithm for which size
 *     coll_strag_links.[ch]       probes of the hosts' links
 *     coll_strag_watch.[ch]       every rank notes its calls; rank 0 sends what follows
 *     coll_strag_report.[ch]      which rank slows the job down, for the user
 *     coll_strag_tell.c           lines for users who want to know what runs, and why
 *     coll_strag_transport_pml.c  the engine's messages over the PML
 *     coll_strag_transport_ucp.c  the same over UCX (coll_strag_ucp.h)
 *     coll_strag_transport_shm.c  ... and through memory that the ranks of a host share
 *     coll_strag_shm.c            that memory
 *     coll_strag_reducer.c        the engine's arithmetic over MPI's operators
 *     coll_strag_device.c         buffers in a device's memory (coll_strag_device.h)
 *     compat/                     what differs between Open MPI's versions
 */
#ifndef COLL_STRAG_H
#define COLL_STRAG_H

#include "compat/compat.h"

#include "algorithms/table.h"

#include "machine/job.h"
#include "machine/state.h"
#include "model/rules.h"
#include "model/select.h"
#include "plan/algorithm.h"
#include "run/engine.h"
#include "watch/meter.h"

#include <pthread.h>
#include <stdbool.h>

/* Algorithms are told apart by their index in strag_algorithms. */
#define COLL_STRAG_ALGORITHMS_MAX STRAG_ALGORITHMS_MAX

/* Why a call goes to the previous component. */
enum coll_strag_reason {
    COLL_STRAG_NOT_COMMUTATIVE = COLL_STRAG_ALGORITHMS_MAX,
    COLL_STRAG_NO_BYTES,
    COLL_STRAG_EXTENT,
    COLL_STRAG_TOO_SHORT,
    COLL_STRAG_RULE,      /* a rule says so */
    COLL_STRAG_UNPLANNED, /* the pinned algorithm cannot be planned, or none can */
    COLL_STRAG_BUSY,      /* the call comes out of our own exchange */
};

/* No algorithm is pinned. */
enum { COLL_STRAG_AUTO = -1 };

/* The numbers of the cost model. */
enum coll_strag_number {
    COLL_STRAG_ALPHA,
    COLL_STRAG_LOCAL_ALPHA,
    COLL_STRAG_BANDWIDTH,
    COLL_STRAG_LOCAL_BANDWIDTH,
    COLL_STRAG_LINK_LATENCY,
    COLL_STRAG_HOP_LATENCY,
    COLL_STRAG_REDUCE_BANDWIDTH,
    COLL_STRAG_NUMBERS,
};

/* What a process warns of once. */
enum coll_strag_warning {
    COLL_STRAG_WARN_PARAMETERS,
    COLL_STRAG_WARN_DIFFERENT,
    COLL_STRAG_WARN_LAYOUT,
    COLL_STRAG_WARN_TORUS,
    COLL_STRAG_WARN_RULES,
    COLL_STRAG_WARN_PINNED,
    COLL_STRAG_WARN_NO_UCP,
    COLL_STRAG_WARN_LOST,
    COLL_STRAG_WARN_NOT_SHARED,
    COLL_STRAG_WARN_NO_PLUGIN,
    COLL_STRAG_WARN_STAGED,
    COLL_STRAG_WARN_NO_KERNELS,
};

/* coll_strag_device_buffers */
enum coll_strag_choice { COLL_STRAG_IF_ANY, COLL_STRAG_YES, COLL_STRAG_NO };

/* What messages go over. */
enum coll_strag_carrier { COLL_STRAG_PML, COLL_STRAG_UCP, COLL_STRAG_CARRIERS };

/* Where a call's buffers are; ANYWHERE: each of them may be elsewhere, UCX has to look. */
enum coll_strag_buffers { COLL_STRAG_HOST, COLL_STRAG_DEVICE, COLL_STRAG_ANYWHERE };

/* What every rank tells rank 0. */
struct coll_strag_rank_info {
    struct strag_rank_location location;
    uint64_t parameters;            /* hash of those that all ranks need alike */
    uint64_t segments[STRAG_LANES]; /* bytes that suit what it sends, by enum coll_strag_lane */
};

/* From which size on what: an index in strag_algorithms, or an enum coll_strag_reason. */
struct coll_strag_table {
    int32_t entries;
    int32_t choice[STRAG_TABLE_MAX];
    int32_t blocks[STRAG_TABLE_MAX]; /* problem.blocks; 0: the algorithm's own choice */
    uint64_t from[STRAG_TABLE_MAX];
};

/* Messages to other hosts are cut in another way than those within a host. */
enum coll_strag_lane { COLL_STRAG_MEMORY, COLL_STRAG_NETWORK };

/* Do messages within a host go through memory of our own? WANTED: whoever says so wants to know if
 * not. */
enum coll_strag_shared_memory {
    COLL_STRAG_SHARED_NEVER,
    COLL_STRAG_SHARED_WANTED,
    COLL_STRAG_SHARED_AUTO,
};

/* Are calls watched, so that late ranks are found? */
enum coll_strag_watching {
    COLL_STRAG_WATCH_NOT,
    COLL_STRAG_WATCH_ONLY,   /* for the report */
    COLL_STRAG_WATCH_SWITCH, /* and for another table */
};

/* What rank 0 says of the hosts before it decides. */
struct coll_strag_hosts {
    uint64_t topology_bytes; /* packed, they follow; 0: there is none */
    int32_t shared_memory;   /* enum coll_strag_shared_memory */
};

/* What rank 0 decides, and all ranks follow. */
struct coll_strag_decision {
    int32_t pinned;   /* index in strag_algorithms, COLL_STRAG_AUTO or COLL_STRAG_UNPLANNED */
    int32_t line;     /* of the rules file; 0: no rule holds */
    int32_t ports;    /* as in struct strag_problem */
    int32_t carrier;  /* enum coll_strag_carrier: what is wanted */
    int32_t watching; /* enum coll_strag_watching */
    int32_t window;   /* calls */
    int32_t links;    /* hosts' links are watched, too */
    int32_t report, reproducible;
    uint64_t watch_from;                                 /* bytes */
    uint64_t segments[COLL_STRAG_CARRIERS][STRAG_LANES]; /* bytes, by enum coll_strag_lane */
    struct strag_state_record state;
    struct coll_strag_table table;
};

/* Temporary space that is not in use, kept for the next call of any communicator. */
struct coll_strag_space {
    struct coll_strag_space *next;
    size_t bytes;
};

struct mca_coll_strag_component_t {
    mca_coll_base_component_t super;

    /* parameters, as registered */
    bool enable;
    int priority;
    int verbose;
    char *algorithm_text;
    char *segment_text;
    char *ports_text;
    char *carrier_text;
    char *shared_memory_text;
    char *device_text;
    char *minimum_text;
    char *layout_text;
    char *torus_text;
    char *rules_text;
    char *late_text, *slow_text;
    char *watch_text;
    int window; /* calls; 0: as suits the number of ranks */
    bool report, reproducible;
    char *number_text[COLL_STRAG_NUMBERS];

    /* what they mean */
    int stream; /* of our own for verbose lines, or -1: the coll framework's */
    int pinned; /* index in strag_algorithms, or COLL_STRAG_AUTO */
    int ports;  /* as in struct strag_problem */
    enum coll_strag_carrier carrier;
    enum coll_strag_shared_memory shared_memory;
    bool carrier_auto; /* unless device buffers are better carried by UCX */
    enum coll_strag_choice device_buffers;
    bool devices;      /* there may be buffers in a device's memory */
    size_t segment;    /* bytes; 0: as rank 0 finds best */
    size_t minimum;    /* bytes, for auto */
    bool minimum_said; /* by the user; else it is lower where shared memory is all that is used */
    size_t watch_from; /* bytes: shorter calls are not watched */
    const char *layout_file, *rules_file; /* "": none */
    const char *straggler, *slow;         /* these can be read, or say none */
    struct strag_layout *grid;            /* coll_strag_torus; NULL: none */
    bool described;                       /* any of these three */
    double number[COLL_STRAG_NUMBERS];    /* seconds or bytes per second; below 0: not said */
    bool priority_set;                    /* by the user */

    bool telling;    /* somebody wants verbose lines */
    unsigned warned; /* a bit for each enum coll_strag_warning; atomic */

    struct coll_strag_rank_info rank_info; /* of this process */

    /* The files, read by the first communicator that needs them. */
    pthread_mutex_t files_lock;
    bool layout_read, rules_read;
    struct strag_layout *layout; /* NULL after layout_read: it is of no use */
    struct strag_rules *rules;

    /* Calls are counted per communicator, without atomics; here are those of freed ones. */
    struct coll_strag_count {
        unsigned long long calls;     /* that strag has run */
        unsigned long long delegated; /* that it has handed on */
    } freed;
    pthread_mutex_t modules_lock; /* guards freed and modules */
    struct mca_coll_strag_module_t *modules;

    pthread_mutex_t space_lock;
    struct coll_strag_space *space; /* free ones, the last used first */
    int nspaces;
};
typedef struct mca_coll_strag_component_t mca_coll_strag_component_t;

OMPI_DECLSPEC extern mca_coll_strag_component_t mca_coll_strag_component;

/* What all transports have. */
struct coll_strag_transport {
    struct strag_transport super;
    ompi_communicator_t *comm;
    ompi_datatype_t *dtype;
    size_t size; /* bytes of data in an element */
    enum coll_strag_buffers buffers;
    int mpi_error;      /* the first one */
    double drain_until; /* seconds: 0 until a message of the call has to be given up */
};

/* An outstanding message of the transport over the PML. */
struct coll_strag_pml_message {
    struct strag_transfer *transfer;
    ompi_request_t *request;
    size_t bytes;
    bool send;
    int32_t host; /* of a send that the meter is told of; else -1 */
};

/* The engine's transport over the PML: for one communicator, and one call at a time. */
struct coll_strag_pml_transport {
    struct coll_strag_transport super;
    struct coll_strag_pml_message *messages;
    size_t nmessages, room;
    struct strag_meter *meter; /* NULL: nobody wants to know */
    const int32_t *host_of;    /* [rank], for the meter */
};

struct coll_strag_watch;
struct coll_strag_ucp_transport;
enum { COLL_STRAG_REDUCE_PIECE = 16384 }; /* bytes that are copied and combined at a time */

/* The engine's reducer over MPI's operators, in host memory. */
struct coll_strag_reducer {
    struct strag_reducer super;
    const char *space; /* temporary space that was allocated, */
    size_t space_bytes;
    ompi_op_t *op;
    ompi_datatype_t *dtype;
    ptrdiff_t extent;      /* bytes from one element to the next */
    ptrdiff_t true_lb;     /* where an element's data begins */
    ptrdiff_t true_extent; /* bytes from its first data to its last */
    bool in_place; /* the right operand may be a message in place, which is not ours to change */
};

struct coll_strag_shm; /* the same through shared memory: coll_strag_shm.h */

/* A plan of this rank, and the engine that runs it. */
struct coll_strag_planned {
    struct coll_strag_planned *next;
    int choice, blocks; /* as in struct coll_strag_table */
    int root;           /* problem.root */
    struct strag_plan *plan;
    struct strag_engine *engine;
};

struct mca_coll_strag_module_t {
    mca_coll_base_module_t super;

    bool enabled;
    size_t too_short;            /* bytes: shorter calls are handed on at once, untold, */
    unsigned long long patience; /* while no more than this have been delegated */
    struct coll_strag_count count;
    mca_coll_base_module_allreduce_fn_t previous_allreduce;
    mca_coll_base_module_t *previous_allreduce_module;

    /* What holds here; until the exchange, as this process has it. */
    int pinned;                     /* as in struct coll_strag_decision */
    int ports;                      /* as in struct strag_problem */
    size_t minimum;                 /* bytes */
    size_t locate_from;             /* bytes of the shortest call that needs the exchange */
    size_t watch_from;              /* bytes of the shortest call that is watched */
    uint64_t segments[STRAG_LANES]; /* bytes, by enum coll_strag_lane */

    /* The exchange of the first call that needs it (coll_strag_locality.c). */
    bool located;
    bool locating;                   /* it is under way */
    int locate_error;                /* of this rank alone: all its later calls fail, too */
    int line;                        /* of the rule in the rules file; 0: none holds */
    struct strag_topology *topology; /* NULL: it could not be made */
    uint8_t *lane_of;                /* [rank]: enum coll_strag_lane */
    struct strag_state_record state;
    bool reproducible;                 /* nothing that differs between runs counts */
    struct coll_strag_watch *watch;    /* NULL: calls are not watched */
    struct coll_strag_table table;     /* unless what is pinned cannot be planned */
    struct strag_selection *selection; /* rank 0's, if somebody wants to know; or the watch's */

    struct coll_strag_planned *planned; /* made when first used */
    struct coll_strag_pml_transport pml;
    struct coll_strag_ucp_transport *ucp;   /* NULL: nothing goes over UCX here */
    struct coll_strag_transport *transport; /* one of these two */
    struct coll_strag_shm *shm;             /* NULL: messages within a host go over it, too */

    struct mca_coll_strag_module_t *next, **link; /* in the component's list */

    /* by size class: which outcomes (algorithm or reason) were told to the user, one bit each */
    uint64_t told[65];
};
typedef struct mca_coll_strag_module_t mca_coll_strag_module_t;

OBJ_CLASS_DECLARATION(mca_coll_strag_module_t);

/* module */
mca_coll_base_module_t *mca_coll_strag_comm_query(ompi_communicator_t *comm, int *priority);

/* allreduce */

/** Free all plans and engines of a communicator. */
void coll_strag_planned_free(mca_coll_strag_module_t *module);

/** Free those that are for a late rank. */
void coll_strag_planned_forget(mca_coll_strag_module_t *module);

int mca_coll_strag_allreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                             ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                             mca_coll_base_module_t *module);

/** The calls of this process so far. */
void coll_strag_count(struct coll_strag_count *total);

/** A line for users who asked for it (coll_strag_verbose, coll_base_verbose). */
void coll_strag_tell(const char *format, ...) STRAG_PRINTF(1, 2);

/** Warn once per process and kind. @param what, why  go into the text of the help file */
void coll_strag_warn(enum coll_strag_warning warning, const char *what, const char *why);

extern const char coll_strag_help[];

/** The index of an algorithm in strag_algorithms. */
int coll_strag_index(const struct strag_algorithm *algorithm);

/* parameters */
void coll_strag_parameters_register(void);
void coll_strag_parameters_read(void);

/** What is pinned for a communicator: its info key coll_strag_algorithm, or the parameter. */
int coll_strag_pinned(ompi_communicator_t *comm);

/** How many links a host drives at the same time: the info key coll_strag_ports, or the parameter.
 * Rank 0's word counts. */
int coll_strag_ports(ompi_communicator_t *comm);

/* locality */

/** Find out where this process is; nothing is sent. */
void coll_strag_find_rank_info(void);

/**
 * Tell rank 0 where every rank is, and take over its decision. Collective.
 *
 * @return OMPI_SUCCESS, or an error; where only this rank has it, module->locate_error
 */
int coll_strag_locate(mca_coll_strag_module_t *module, ompi_communicator_t *comm);

/** How long the calls are that are handed on before anything else. */
size_t coll_strag_too_short(const mca_coll_strag_module_t *module);

/** The topology that plans and their choice may depend on. NULL: none */
const struct strag_topology *coll_strag_planning_topology(const mca_coll_strag_module_t *module);

/** The table's word for a size. @param[out] blocks  as in struct coll_strag_table */
int coll_strag_table_find(const struct coll_strag_table *table, size_t bytes, int *blocks);

/** NULL stands for whatever the previous component runs. */
struct strag_table coll_strag_table_decode(const struct coll_strag_table *encoded);

/**
 * On rank 0: the topology of a communicator.
 *
 * @param ranks  one per rank
 * @return NULL: out of memory
 */
struct strag_topology *coll_strag_place(ompi_communicator_t *comm,
                                        const struct strag_rank_location *ranks);

/** Free what was read from files, and the grid. */
void coll_strag_files_free(void);

/* state */

/** On rank 0: are calls to be watched, and how? @param pinned  one algorithm runs everything */
void coll_strag_find_watching(ompi_communicator_t *comm, bool pinned,
                              const struct strag_topology *topology,
                              struct coll_strag_decision *decision);

/** On rank 0: the straggler and the slow links that the user names, or else what the system reports
 * of links. @param ranks  one per rank
 * @param topology  NULL: nothing that is reported counts */
void coll_strag_find_state(ompi_communicator_t *comm, const struct strag_rank_location *ranks,
                           const struct strag_topology *topology, struct strag_state_record *state);

/* segments */

/** How long segments are best for what this rank sends. @param[out] segments  bytes, by lane */
void coll_strag_find_segments(ompi_communicator_t *comm, uint64_t *segments);

/** On rank 0: what the user wants, or what suits all ranks. @param info  one per rank
 * @param[out] segments  by enum coll_strag_carrier, and lane */
void coll_strag_least_segments(const struct coll_strag_rank_info *info, int n,
                               uint64_t segments[][STRAG_LANES]);

/**
 * On rank 0: fill in what runs; state, ports, segments and what is watched are there, and in the
 * module what goes through shared memory.
 *
 * @param topology  NULL is allowed
 * @param[out] selection  with coll_strag_verbose and where calls are watched, else NULL; the
 * caller's to free
 */
void coll_strag_decide(const mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                       const struct strag_topology *topology, struct coll_strag_decision *decision,
                       struct strag_selection **selection);

/* tell */

/** On rank 0: what a communicator's messages go over. */
void coll_strag_tell_carrier(const mca_coll_strag_module_t *module, ompi_communicator_t *comm);
/** On rank 0: do messages within a host go through shared memory? */
void coll_strag_tell_shared_memory(const mca_coll_strag_module_t *module,
                                   ompi_communicator_t *comm);

/** On rank 0, from coll_strag_verbose 2 on: the topology. */
void coll_strag_tell_topology(ompi_communicator_t *comm, const struct strag_topology *topology);

/** On rank 0, once per communicator, size class and outcome: what runs, and why. */
void coll_strag_tell_choice(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                            size_t bytes, int choice, int blocks);

/** What a communicator's messages are to go over: its info key coll_strag_transport, or the
 * parameter. Rank 0's word counts. */
enum coll_strag_carrier coll_strag_carrier(ompi_communicator_t *comm);

/* transport */

/** Get ready for one call. */
void coll_strag_transport_begin(struct coll_strag_transport *transport, ompi_datatype_t *dtype,
                                size_t size, enum coll_strag_buffers buffers);

/** Take note of the first error. @return STRAG_ERR_TRANSPORT */
int coll_strag_transport_failed(struct coll_strag_transport *transport, int mpi_error);

/** Seconds of a clock that only goes forward. */
double coll_strag_seconds(void);

/** After an error: is there time left to wait for messages that cannot be cancelled any more? For
 * all of a call together. */
bool coll_strag_transport_drains(struct coll_strag_transport *transport);

void coll_strag_pml_init(struct coll_strag_pml_transport *transport, ompi_communicator_t *comm);
void coll_strag_pml_free(struct coll_strag_pml_transport *transport);

/* transport over UCX: on a build without it there is none (coll_strag_ucp_none.c) */

extern const bool coll_strag_ucp_built;

/**
 * Let a communicator's messages go over UCX; or over the PML, if that is not possible on any rank.
 * Collective.
 *
 * @param able  false: this rank is out of memory
 * @return OMPI_SUCCESS, or an error of a message; module->ucp is NULL on all ranks, or on none
 */
int coll_strag_ucp_connect(mca_coll_strag_module_t *module, ompi_communicator_t *comm, bool able);

/** NULL is allowed. */
void coll_strag_ucp_free(struct coll_strag_ucp_transport *transport);

/** At the end: leave all peers, and close the library. */
void coll_strag_ucp_close(void);

/** Does UCX carry messages from and to a CUDA device's memory? */
bool coll_strag_ucp_takes_device(void);

/* transport through shared memory */

/**
 * Let messages within a host go through shared memory, if that is possible on all ranks.
 * Collective; module->lane_of is there.
 *
 * @param able    false: this rank is out of memory
 * @param wanted  warn if it is not possible
 * @return OMPI_SUCCESS, or an error of a message; module->shm is NULL on all ranks, or on none
 */
int coll_strag_shm_connect(mca_coll_strag_module_t *module, ompi_communicator_t *comm, bool able,
                           bool wanted);

/** NULL is allowed. */
void coll_strag_shm_free(struct coll_strag_shm *shm);

/** A call begins. All ranks count all calls that they run, whether these go through shared memory
 * or not. */
void coll_strag_shm_next_call(struct coll_strag_shm *shm);

/** The call has failed: nobody is to wait for this rank in it. */
void coll_strag_shm_give_up(struct coll_strag_shm *shm);

/**
 * Get ready for the call.
 *
 * @param size  bytes of data in an element
 * @return the transport; NULL: its messages are too short for such an element
 */
struct strag_transport *coll_strag_shm_begin(struct coll_strag_shm *shm, ompi_datatype_t *dtype,
                                             const struct coll_strag_reducer *reducer, size_t size);

/** The longest message, in bytes. */
size_t coll_strag_shm_longest(const struct coll_strag_shm *shm);

/** Does everything go through it? */
bool coll_strag_shm_is_alone(const struct coll_strag_shm *shm);

/**
 * For a call, after its begin, that takes no longer than a change of processes: where few ranks
 * share a processor, those that wait look who can go on there. (With many ranks it takes as long
 * for all of them to come by.)
 *
 * @return whether they do; then calls had better take turns with the rank that works for all
 */
bool coll_strag_shm_take_turns(struct coll_strag_shm *shm);

/** Whose turn it is: 0 or 1. The same on all ranks. */
int coll_strag_shm_root(const struct coll_strag_shm *shm);

/** What went wrong in the call: an MPI error. */
int coll_strag_shm_error(const struct coll_strag_shm *shm);

/* reducer */
int coll_strag_reducer_init(struct coll_strag_reducer *reducer, ompi_op_t *op,
                            ompi_datatype_t *dtype);

/** Free all temporary space that is kept. */
void coll_strag_spaces_free(void);

#endif
