/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component's parameters and counters, and what the parameters' texts mean.
 */
#include "coll_strag_device.h"
#include "coll_strag_report.h"

#include "algorithms/table.h"
#include "base/parse.h"
#include "machine/state_text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char segment_default[] = "auto";
static const char minimum_default[] = "auto";

/* What auto means, but where shared memory is all that is used. */
static const size_t minimum_usual = (size_t)8 << 10;
static const char shared_memory_default[] = "auto";
static const char slow_default[] = "auto";
static const char late_default[] = "auto";
static const char watch_default[] = "64K";

/*
 * The numbers of the cost model. An empty default: strag_model_default, which knows the network.
 *
 * A wrong guess moves the size from which another algorithm runs, and no more.
 */
static const struct number {
    const char *name, *help;
    const char *standard;    /* text of the default */
    double low, high, scale; /* of the text; times scale it is in seconds or bytes per second */
} numbers[COLL_STRAG_NUMBERS] = {
    [COLL_STRAG_ALPHA] = {"alpha", "Microseconds that a message between hosts takes, however short",
                          "", 0, 1e6, 1e-6},
    [COLL_STRAG_LOCAL_ALPHA] = {"local_alpha",
                                "Microseconds that a message within a host takes, however short",
                                "", 0, 1e6, 1e-6},
    [COLL_STRAG_BANDWIDTH] = {"bandwidth",
                              "Gbit/s of a link of the network, each direction, where the layout "
                              "does not say it",
                              "", 1e-3, 1e6, 1e9 / 8},
    [COLL_STRAG_LOCAL_BANDWIDTH] = {"local_bandwidth",
                                    "Gbit/s that a rank copies to others on its host", "", 1e-3,
                                    1e6, 1e9 / 8},
    [COLL_STRAG_LINK_LATENCY] = {"link_latency",
                                 "Nanoseconds for each link of the network that a message crosses",
                                 "", 0, 1e9, 1e-9},
    [COLL_STRAG_HOP_LATENCY] = {"hop_latency",
                                "Nanoseconds for each host or switch that a message enters", "", 0,
                                1e9, 1e-9},
    [COLL_STRAG_REDUCE_BANDWIDTH] = {"reduce_bandwidth",
                                     "Gbit/s that a rank combines; 0: that takes no time", "", 0,
                                     1e6, 1e9 / 8},
};

static mca_base_component_t *self(void)
{
    return &mca_coll_strag_component.super.collm_version;
}

/*
 * Open MPI reads "abc" as the integer 0. Our integers are therefore declared as an enumeration that
 * takes any integer and nothing else, so that Open MPI itself refuses a slip of the pen.
 */
static int integer_count(mca_base_var_enum_t *type, int *count)
{
    (void)type;
    *count = 0;
    return OPAL_SUCCESS;
}

static int integer_value(mca_base_var_enum_t *type, int index, int *value, const char **text)
{
    (void)type;
    (void)index;
    (void)value;
    (void)text;
    return OPAL_ERR_VALUE_OUT_OF_BOUNDS;
}

static int integer_parse(mca_base_var_enum_t *type, const char *text, int *value)
{
    char *end;
    (void)type;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < INT_MIN || number > INT_MAX)
        return OPAL_ERR_VALUE_OUT_OF_BOUNDS;
    *value = (int)number;
    return OPAL_SUCCESS;
}

static int integer_print(mca_base_var_enum_t *type, const int value, char **text)
{
    (void)type;
    if (text && asprintf(text, "%d", value) < 0)
        return OPAL_ERR_OUT_OF_RESOURCE;
    return OPAL_SUCCESS;
}

static int integer_describe(mca_base_var_enum_t *type, char **text COLL_STRAG_DUMP_ARGUMENT)
{
    (void)type;
    *text = strdup("an integer");
    return *text ? OPAL_SUCCESS : OPAL_ERR_OUT_OF_RESOURCE;
}

static int register_integer(mca_base_var_enum_t *integer, const char *name, const char *help,
                            mca_base_var_info_lvl_t level, int *storage)
{
    return mca_base_component_var_register(self(), name, help, MCA_BASE_VAR_TYPE_INT, integer, 0, 0,
                                           level, MCA_BASE_VAR_SCOPE_READONLY, storage);
}

static int register_text(const char *name, const char *help, mca_base_var_info_lvl_t level,
                         char **storage)
{
    return mca_base_component_var_register(self(), name, help, MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0,
                                           level, MCA_BASE_VAR_SCOPE_READONLY, storage);
}

static int read_calls(const struct mca_base_pvar_t *pvar, void *value, void *object)
{
    struct coll_strag_count total;
    (void)pvar;
    (void)object;
    coll_strag_count(&total);
    *(unsigned long long *)value = total.calls;
    return OPAL_SUCCESS;
}

static int read_delegated(const struct mca_base_pvar_t *pvar, void *value, void *object)
{
    struct coll_strag_count total;
    (void)pvar;
    (void)object;
    coll_strag_count(&total);
    *(unsigned long long *)value = total.delegated;
    return OPAL_SUCCESS;
}

static void register_counter(const char *name, const char *help, mca_base_get_value_fn_t read)
{
    mca_base_component_pvar_register(
        self(), name, help, OPAL_INFO_LVL_4, MPI_T_PVAR_CLASS_COUNTER,
        MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL, MPI_T_BIND_NO_OBJECT,
        MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, read, NULL, NULL, NULL);
}

/* Did the user set this parameter? */
static bool is_set(int index)
{
    mca_base_var_source_t source;
    return index >= 0 && mca_base_var_get_value(index, NULL, &source, NULL) == OPAL_SUCCESS &&
           source != MCA_BASE_VAR_SOURCE_DEFAULT;
}

static void register_integers(mca_coll_strag_component_t *component)
{
    mca_base_var_enum_t *integer = OBJ_NEW(mca_base_var_enum_t);
    if (NULL != integer) {
        integer->enum_name = strdup("integer");
        integer->get_count = integer_count;
        integer->get_value = integer_value;
        integer->value_from_string = integer_parse;
        integer->string_from_value = integer_print;
        integer->dump = integer_describe;
    }
    int index = register_integer(
        integer, "priority",
        "Priority of coll/strag. It is used where it is above 0 and the highest. Default 0: "
        "installed, but not used, unless --mca coll names strag, which makes it 90",
        OPAL_INFO_LVL_6, &component->priority);
    component->priority_set = is_set(index);
    register_integer(integer, "verbose",
                     "From 1 on: say which algorithm runs and why, once per communicator, size "
                     "class and outcome (so does coll_base_verbose from 10 on)",
                     OPAL_INFO_LVL_4, &component->verbose);
    register_integer(integer, "window",
                     "So many calls are looked at together to find a late rank, 2 to 4096; 0: 100, "
                     "or half the number of ranks",
                     OPAL_INFO_LVL_5, &component->window);
    if (NULL != integer)
        OBJ_RELEASE(integer); /* the variables keep it */
}

static void register_switch(const char *name, const char *help, bool *storage)
{
    mca_base_component_var_register(self(), name, help, MCA_BASE_VAR_TYPE_BOOL, NULL, 0, 0,
                                    OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_READONLY, storage);
}

static void register_texts(mca_coll_strag_component_t *component)
{
    char names[STRAG_NAMES_MAX], help[STRAG_NAMES_MAX + 256];
    component->algorithm_text = (char *)"auto";
    snprintf(help, sizeof help,
             "The algorithm: auto, or one for all sizes: %s. auto leaves vectors below "
             "coll_strag_minimum_size to the previous component",
             strag_algorithm_names(names, sizeof names));
    register_text("algorithm", help, OPAL_INFO_LVL_4, &component->algorithm_text);
    component->ports_text = (char *)"auto";
    register_text("ports",
                  "How many links of a torus a host drives at the same time: 1, two for each "
                  "dimension, or auto, what is best for an algorithm; also an info key",
                  OPAL_INFO_LVL_5, &component->ports_text);
    component->carrier_text = (char *)"auto";
    register_text(
        "transport",
        coll_strag_ucp_built
            ? "What messages go over: pml (Open MPI's point-to-point layer), ucp (UCX, by "
              "a worker of our own; where that is not possible, pml), or auto: ucp where "
              "there may be buffers in a CUDA device's memory and UCX takes them, else pml. "
              "UCX_TLS and other variables of UCX hold. Rank 0's word counts; also an "
              "info key"
            : "What messages go over: pml (Open MPI's point-to-point layer), or auto: "
              "pml. This build has no UCX, so that ucp is not accepted. Rank 0's word "
              "counts; also an info key",
        OPAL_INFO_LVL_5, &component->carrier_text);
    component->device_text = (char *)"auto";
    register_text("device_buffers",
                  "Whether buffers may be in a CUDA device's memory: auto (where the system has an "
                  "NVIDIA driver), yes (wherever a libcuda.so.1 is loaded), or no: the program "
                  "passes none, and they are not looked for",
                  OPAL_INFO_LVL_5, &component->device_text);
    component->segment_text = (char *)segment_default;
    register_text("segment_size",
                  "Long messages are cut into segments of so many bytes (K, M, G allowed), so that "
                  "one travels while another is reduced. auto: 1M within a host, between hosts "
                  "what btl/tcp sends eagerly, or 256K. A call needs up to ten segments of "
                  "temporary space. Rank 0's word counts",
                  OPAL_INFO_LVL_5, &component->segment_text);
    component->shared_memory_text = (char *)shared_memory_default;
    register_text(
        "shared_memory",
        "Whether messages within a host go through memory that its ranks share: 0 never, "
        "1 with a warning where that is not possible, auto without one, but not where all "
        "goes over UCX. Up to 256 MiB of addresses for a communicator and host. Rank 0's "
        "word counts",
        OPAL_INFO_LVL_5, &component->shared_memory_text);
    component->watch_text = (char *)watch_default;
    register_text("watch_size",
                  "Calls of so many bytes and more are looked at to find a late rank (K, M, G "
                  "allowed). Must be the same on all ranks",
                  OPAL_INFO_LVL_5, &component->watch_text);
    component->minimum_text = (char *)minimum_default;
    register_text("minimum_size",
                  "auto (coll_strag_algorithm) hands shorter vectors to the previous component; in "
                  "bytes (K, M, G allowed). auto here: 8K, or less where all ranks are on one host "
                  "and share memory. Must be the same on all ranks",
                  OPAL_INFO_LVL_5, &component->minimum_text);
}

/* What the machine looks like, and how fast it is. Rank 0 of a communicator decides for all. */
static void register_machine(mca_coll_strag_component_t *component)
{
    component->layout_text = (char *)"";
    register_text("layout",
                  "A file that says how the hosts are joined: Slurm's topology.conf or "
                  "topology.yaml, or a coordinates file. The file that a communicator's rank 0 "
                  "finds counts",
                  OPAL_INFO_LVL_4, &component->layout_text);
    component->torus_text = (char *)"";
    register_text("torus",
                  "The hosts are a torus of these sizes, such as 8x8x4, and in the order of their "
                  "lowest ranks they fill it, the first dimension fastest; mesh:8x8 and "
                  "hyperx:8x8 are understood too. coll_strag_layout goes before it",
                  OPAL_INFO_LVL_4, &component->torus_text);
    component->rules_text = (char *)"";
    register_text("rules",
                  "A file with rules that say which algorithm runs for which size (strag-tune "
                  "writes such files). The file that a communicator's rank 0 finds counts",
                  OPAL_INFO_LVL_4, &component->rules_text);
    component->late_text = (char *)late_default;
    register_text(
        "straggler",
        "A rank of MPI_COMM_WORLD that comes late to most calls, and perhaps by how much: "
        "RANK[:MICROSECONDS]. auto: find out whether there is one, and go ahead without "
        "it where that helps; none: wait for all. Also an info key",
        OPAL_INFO_LVL_4, &component->late_text);
    component->slow_text = (char *)slow_default;
    register_text("slowdown",
                  "Whose links are slower than the others': WHO:FACTOR between commas, WHO a host "
                  "or a rank of MPI_COMM_WORLD; none; or auto: found out while the job runs; also "
                  "an info key",
                  OPAL_INFO_LVL_4, &component->slow_text);
    for (int i = 0; i < COLL_STRAG_NUMBERS; i++) {
        char help[256];
        snprintf(help, sizeof help, "%s%s", numbers[i].help,
                 numbers[i].standard[0] ? ""
                                        : ". Empty: what suits the kind of network, or of memory");
        component->number_text[i] = (char *)numbers[i].standard;
        register_text(numbers[i].name, help, OPAL_INFO_LVL_6, &component->number_text[i]);
    }
}

void coll_strag_parameters_register(void)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    component->enable = true;
    component->priority = 0;
    component->verbose = 0;
    component->window = 0;
    component->report = component->reproducible = false;
    register_switch("enable", "Whether coll/strag may be used at all", &component->enable);
    register_switch("report",
                    "Say at the end of each communicator which rank was late, how often and by how "
                    "much, and what going ahead without it has saved",
                    &component->report);
    register_switch("reproducible",
                    "The same bits in every run, wherever its ranks are: plans depend on their "
                    "number, the vector and the parameters alone, and stay the same during a run",
                    &component->reproducible);
    register_integers(component);
    register_texts(component);
    register_machine(component);
    coll_strag_report_register();
    register_counter("calls", "MPI_Allreduce calls of this process that coll/strag has run",
                     read_calls);
    register_counter("delegated",
                     "MPI_Allreduce calls of this process that coll/strag has handed to the "
                     "previous component",
                     read_delegated);
}

/* ---- What the texts mean ---- */

/* Complaints about parameters, a line each: Open MPI shows a message once, so there is one. */
struct complaints {
    char text[3072];
    size_t length;
};

static void complain(struct complaints *all, const char *parameter, const char *value,
                     const char *reason, const char *accepted, const char *used)
{
    int length = snprintf(all->text + all->length, sizeof all->text - all->length,
                          "%s  %s = \"%.40s\": %s; accepted: %s; used: %s", all->length ? "\n" : "",
                          parameter, value, reason, accepted, used);
    if (length > 0 && (size_t)length < sizeof all->text - all->length)
        all->length += (size_t)length;
}

static size_t read_size(const char *parameter, const char *text, size_t low, size_t high,
                        const char *accepted, const char *fallback, struct complaints *complaints)
{
    struct strag_error err;
    size_t bytes = 0;
    int status = strag_parse_bytes(text ? text : "", &bytes, &err);
    if (status == STRAG_OK && bytes >= low && bytes <= high)
        return bytes;
    complain(complaints, parameter, text ? text : "",
             status == STRAG_OK ? "out of range" : "not a size", accepted, fallback);
    return strag_parse_bytes(fallback, &bytes, NULL) == STRAG_OK ? bytes : 0; /* 0: auto */
}

/* @return bytes, 0 for auto */
static size_t read_segment(const char *text, struct complaints *complaints)
{
    if (!text || strcmp(text, segment_default) == 0)
        return 0;
    return read_size("coll_strag_segment_size", text, 1, (size_t)1 << 30,
                     "auto, or bytes from 1 to 1G, such as 1M", segment_default, complaints);
}

/* @return whether the user has said it */
static bool read_minimum(mca_coll_strag_component_t *component, struct complaints *complaints)
{
    struct strag_error err;
    const char *text = component->minimum_text;
    component->minimum = minimum_usual;
    if (!text || strcmp(text, minimum_default) == 0)
        return false;
    if (strag_parse_bytes(text, &component->minimum, &err) == STRAG_OK)
        return true;
    complain(complaints, "coll_strag_minimum_size", text, "not a size",
             "bytes, such as 8K, or auto", minimum_default);
    component->minimum = minimum_usual;
    return false;
}

/* @return 0 for auto */
static int read_ports(const char *parameter, const char *text, struct complaints *complaints)
{
    struct strag_error err;
    int ports;
    if (!text || strcmp(text, "auto") == 0)
        return 0;
    if (strag_parse_integer(text, 1, 2 * STRAG_DIMS_MAX, &ports, &err) == STRAG_OK)
        return ports;
    complain(complaints, parameter, text, "not a number of links", "auto, or 1 to 16", "auto");
    return 0;
}

static enum coll_strag_carrier read_carrier(const char *parameter, const char *text,
                                            struct complaints *complaints)
{
    bool ucp = text && strcmp(text, "ucp") == 0;
    if (ucp && coll_strag_ucp_built)
        return COLL_STRAG_UCP;
    if (text && strcmp(text, "auto") != 0 && strcmp(text, "pml") != 0)
        complain(complaints, parameter, text,
                 ucp ? "strag was built without UCX" : "no such transport",
                 coll_strag_ucp_built ? "auto, pml, ucp" : "auto, pml", "auto");
    return COLL_STRAG_PML;
}

static enum coll_strag_shared_memory read_shared_memory(const char *text,
                                                        struct complaints *complaints)
{
    static const char *const accepted[] = {
        [COLL_STRAG_SHARED_NEVER] = "0",
        [COLL_STRAG_SHARED_WANTED] = "1",
        [COLL_STRAG_SHARED_AUTO] = shared_memory_default,
    };
    for (int i = COLL_STRAG_SHARED_NEVER; text && i <= COLL_STRAG_SHARED_AUTO; i++) {
        if (strcmp(text, accepted[i]) == 0)
            return (enum coll_strag_shared_memory)i;
    }
    if (text)
        complain(complaints, "coll_strag_shared_memory", text, "not one of its values",
                 "auto, 0 or 1", shared_memory_default);
    return COLL_STRAG_SHARED_AUTO;
}

static enum coll_strag_choice read_choice(const char *parameter, const char *text,
                                          struct complaints *complaints)
{
    if (!text || strcmp(text, "auto") == 0)
        return COLL_STRAG_IF_ANY;
    if (strcmp(text, "yes") == 0)
        return COLL_STRAG_YES;
    if (strcmp(text, "no") != 0)
        complain(complaints, parameter, text, "not a choice", "auto, yes, no", "auto");
    return strcmp(text, "no") == 0 ? COLL_STRAG_NO : COLL_STRAG_IF_ANY;
}

/* A text that is read for each communicator. @return it, or `fallback` where it cannot be read */
static const char *check_text(const char *parameter, const char *text,
                              int (*check)(const char *text, struct strag_error *err),
                              const char *accepted, const char *fallback,
                              struct complaints *complaints)
{
    struct strag_error err;
    if (!text || check(text, &err) == STRAG_OK)
        return text ? text : fallback;
    complain(complaints, parameter, text, err.text, accepted, fallback);
    return fallback;
}

/* @return 0: as suits the number of ranks */
static int read_window(int window, struct complaints *complaints)
{
    char text[16];
    if (window == 0 || (window >= 2 && window <= STRAG_WINDOW_MAX))
        return window;
    snprintf(text, sizeof text, "%d", window);
    complain(complaints, "coll_strag_window", text, "out of range", "0, or 2 to 4096 calls", "0");
    return 0;
}

/* @return its index, or COLL_STRAG_AUTO */
static int read_algorithm(const char *parameter, const char *text, struct complaints *complaints)
{
    char accepted[STRAG_NAMES_MAX + 16] = "auto, ";
    if (!text || strcmp(text, "auto") == 0)
        return COLL_STRAG_AUTO;
    const struct strag_algorithm *algorithm = strag_algorithm_find(text, NULL);
    if (algorithm)
        return coll_strag_index(algorithm);
    size_t length = strlen(accepted);
    strag_algorithm_names(accepted + length, sizeof accepted - length);
    complain(complaints, parameter, text, "no such algorithm", accepted, "auto");
    return COLL_STRAG_AUTO;
}

/* @return what it means in seconds or bytes per second; below 0: nothing was said */
static double read_one_number(const struct number *number, const char *text,
                              struct complaints *complaints)
{
    char parameter[64], accepted[64];
    double value;
    if (!text || text[0] == '\0')
        text = number->standard;
    if (text[0] == '\0')
        return -1;
    if (strag_parse_real(text, number->low, number->high, &value, NULL) == STRAG_OK)
        return value * number->scale;
    snprintf(parameter, sizeof parameter, "coll_strag_%s", number->name);
    snprintf(accepted, sizeof accepted, "numbers from %g to %g", number->low, number->high);
    complain(complaints, parameter, text, "not such a number", accepted,
             number->standard[0] ? number->standard : "what suits the network");
    return read_one_number(number, NULL, complaints);
}

/* The grid of coll_strag_torus. @return NULL: none, or a bad one */
static struct strag_layout *read_grid(const char *text, struct complaints *complaints)
{
    static const struct {
        const char *prefix;
        enum strag_network network;
        bool wrap;
    } kinds[] = {{"torus:", STRAG_NETWORK_TORUS, true},
                 {"mesh:", STRAG_NETWORK_TORUS, false},
                 {"hyperx:", STRAG_NETWORK_HYPERX, false},
                 {"", STRAG_NETWORK_TORUS, true}};
    struct strag_layout *grid = NULL;
    struct strag_error err;
    int kind = 0;
    if (!text || text[0] == '\0')
        return NULL;
    while (strncmp(text, kinds[kind].prefix, strlen(kinds[kind].prefix)) != 0)
        kind++;
    if (strag_layout_from_dims(text + strlen(kinds[kind].prefix), kinds[kind].network,
                               kinds[kind].wrap, &grid, &err) != STRAG_OK)
        complain(complaints, "coll_strag_torus", text, err.text,
                 "sizes such as 8x8x4, also mesh:8x8 and hyperx:8x8", "none");
    return grid;
}

void coll_strag_parameters_read(void)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    struct complaints complaints = {.length = 0};
    component->pinned =
        read_algorithm("coll_strag_algorithm", component->algorithm_text, &complaints);
    component->ports = read_ports("coll_strag_ports", component->ports_text, &complaints);
    component->carrier = read_carrier("coll_strag_transport", component->carrier_text, &complaints);
    component->carrier_auto =
        !component->carrier_text || strcmp(component->carrier_text, "auto") == 0;
    component->device_buffers =
        read_choice("coll_strag_device_buffers", component->device_text, &complaints);
    component->segment = read_segment(component->segment_text, &complaints);
    component->shared_memory = read_shared_memory(component->shared_memory_text, &complaints);
    component->minimum_said = read_minimum(component, &complaints);
    for (int i = 0; i < COLL_STRAG_NUMBERS; i++)
        component->number[i] = read_one_number(&numbers[i], component->number_text[i], &complaints);
    component->straggler =
        check_text("coll_strag_straggler", component->late_text, strag_state_check_straggler,
                   strag_straggler_accepted, late_default, &complaints);
    component->slow =
        check_text("coll_strag_slowdown", component->slow_text, strag_state_check_slow,
                   strag_slow_accepted, slow_default, &complaints);
    component->watch_from = read_size("coll_strag_watch_size", component->watch_text, 0, SIZE_MAX,
                                      "bytes, such as 64K", watch_default, &complaints);
    component->window = read_window(component->window, &complaints);
    component->grid = read_grid(component->torus_text, &complaints);
    component->layout_file = component->layout_text ? component->layout_text : "";
    component->rules_file = component->rules_text ? component->rules_text : "";
    component->described = component->layout_file[0] || component->rules_file[0] || component->grid;
    if (complaints.length)
        coll_strag_warn(COLL_STRAG_WARN_PARAMETERS, complaints.text, "");
}

/* What an info key of the communicator says. @return `otherwise` where there is none */
static int read_key(ompi_communicator_t *comm, const char *key, int otherwise,
                    int (*read)(const char *parameter, const char *text,
                                struct complaints *complaints))
{
    char text[64], parameter[64];
    struct complaints complaints = {.length = 0};
    if (!coll_strag_info(comm, key, text, sizeof text))
        return otherwise;
    snprintf(parameter, sizeof parameter, "%s (info key)", key);
    int value = read(parameter, text, &complaints);
    if (complaints.length)
        coll_strag_warn(COLL_STRAG_WARN_PARAMETERS, complaints.text, "");
    return value;
}

int coll_strag_ports(ompi_communicator_t *comm)
{
    return read_key(comm, "coll_strag_ports", mca_coll_strag_component.ports, read_ports);
}

enum coll_strag_carrier coll_strag_carrier(ompi_communicator_t *comm)
{
    char text[64];
    struct complaints complaints = {.length = 0};
    if (!coll_strag_info(comm, "coll_strag_transport", text, sizeof text))
        return mca_coll_strag_component.carrier_auto && coll_strag_device_open() &&
                       coll_strag_ucp_takes_device()
                   ? COLL_STRAG_UCP
                   : mca_coll_strag_component.carrier;
    enum coll_strag_carrier carrier =
        read_carrier("coll_strag_transport (info key)", text, &complaints);
    if (complaints.length)
        coll_strag_warn(COLL_STRAG_WARN_PARAMETERS, complaints.text, "");
    return carrier;
}

int coll_strag_pinned(ompi_communicator_t *comm)
{
    return read_key(comm, "coll_strag_algorithm", mca_coll_strag_component.pinned, read_algorithm);
}
