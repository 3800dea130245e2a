/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component's parameters: one table says how each is called, what it means and what is
 * accepted; below it what their texts are turned into.
 */
#include "settings.h"

#include "log.h"

#include "algorithms/table.h"
#include "base/parse.h"
#include "machine/state_text.h"
#include "watch/observe.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#ifdef STRAG_HAVE_UCX
enum { WITH_UCX = true };
#else
enum { WITH_UCX = false };
#endif

struct coll_strag_settings coll_strag_settings;

/* What `auto` means for coll_strag_minimum_size, but where shared memory is all that is used. */
static const size_t minimum_usual = (size_t)8 << 10;

/* Parameters that are texts. */
enum {
    ALGORITHM,
    PORTS,
    TRANSPORT,
    DEVICE_BUFFERS,
    SEGMENT_SIZE,
    SHARED_MEMORY,
    WATCH_SIZE,
    MINIMUM_SIZE,
    LAYOUT,
    TORUS,
    RULES,
    STRAGGLER,
    SLOWDOWN,
    NUMBERS, /* and COLL_STRAG_NUMBERS of these */
    TEXTS = NUMBERS + COLL_STRAG_NUMBERS,
};

static char *texts[TEXTS]; /* as the user gave them */

/* A number of the cost model is a text, too, so that "" can say that the user does not know it. */
static const struct parameter {
    const char *name, *standard;
    mca_base_var_info_lvl_t level;
    const char *help;
    double low, high, scale; /* numbers: of the text; times scale: seconds or bytes per second */
} parameters[TEXTS] = {
    [ALGORITHM] = {"algorithm", "auto", OPAL_INFO_LVL_4,
                   "The algorithm: auto, which leaves vectors below coll_strag_minimum_size to the "
                   "previous component, or one for all sizes: "},
    [PORTS] = {"ports", "auto", OPAL_INFO_LVL_5,
               "How many links of a torus a host drives at the same time: 1, two for each "
               "dimension, or auto, what is best for an algorithm; also an info key"},
    [TRANSPORT] = {"transport", "auto", OPAL_INFO_LVL_5,
                   WITH_UCX
                       ? "What messages go over: pml (Open MPI's point-to-point layer), ucp (UCX, "
                         "by a worker of our own; where that is not possible, pml), or auto: ucp "
                         "where there may be buffers in a CUDA device's memory and UCX takes them, "
                         "else pml. UCX_TLS and other variables of UCX hold. All ranks use rank "
                         "0's value; also an info key"
                       : "What messages go over: pml (Open MPI's point-to-point layer), or auto: "
                         "pml. This build has no UCX, so that ucp is not accepted. All ranks use "
                         "rank 0's value; also an info key"},
    [DEVICE_BUFFERS] = {"device_buffers", "auto", OPAL_INFO_LVL_5,
                        "Whether buffers may be in a CUDA device's memory: auto (where the system "
                        "has an NVIDIA driver), yes (wherever a libcuda.so.1 is loaded), or no: "
                        "the program passes none, and they are not looked for"},
    [SEGMENT_SIZE] = {"segment_size", "auto", OPAL_INFO_LVL_5,
                      "Long messages are cut into segments of so many bytes (K, M, G allowed), so "
                      "that one travels while another is reduced. auto: 1M within a host, between "
                      "hosts what btl/tcp sends eagerly, or 256K. A call needs up to ten segments "
                      "of temporary space. All ranks use rank 0's value"},
    [SHARED_MEMORY] = {"shared_memory", "auto", OPAL_INFO_LVL_5,
                       "Whether messages within a host go through memory that its ranks share: 0 "
                       "never, 1 with a warning where that is not possible, auto without one, but "
                       "not where all goes over UCX. Up to 256 MiB of addresses for a communicator "
                       "and host. All ranks use rank 0's value"},
    [WATCH_SIZE] = {"watch_size", "64K", OPAL_INFO_LVL_5,
                    "Calls of so many bytes and more are watched to find a straggler (K, M, G "
                    "allowed). Must be the same on all ranks"},
    [MINIMUM_SIZE] = {"minimum_size", "auto", OPAL_INFO_LVL_5,
                      "auto (coll_strag_algorithm) hands shorter vectors to the previous "
                      "component; in bytes (K, M, G allowed). auto here: 8K, or less where all "
                      "ranks are on one host and share memory. Must be the same on all ranks"},
    /* What the machine looks like, and how fast it is. */
    [LAYOUT] = {"layout", "", OPAL_INFO_LVL_4,
                "A file that says how the hosts are joined: Slurm's topology.conf or "
                "topology.yaml, or a coordinates file. All ranks use the file that a "
                "communicator's rank 0 finds"},
    [TORUS] = {"torus", "", OPAL_INFO_LVL_4,
               "The hosts are a torus of these sizes, such as 8x8x4, and in the order of their "
               "lowest ranks they fill it, the first dimension fastest; mesh:8x8 and hyperx:8x8 "
               "are understood too. coll_strag_layout goes before it"},
    [RULES] = {"rules", "", OPAL_INFO_LVL_4,
               "A file with rules that say which algorithm runs for which size (strag-tune writes "
               "such files). All ranks use the file that a communicator's rank 0 finds"},
    [STRAGGLER] = {"straggler", "auto", OPAL_INFO_LVL_4,
                   "A rank of MPI_COMM_WORLD that comes late to most calls, and perhaps by how "
                   "much: RANK[:MICROSECONDS]. auto: find out whether there is one, and go ahead "
                   "without it where that helps; none: wait for all. Also an info key"},
    [SLOWDOWN] = {"slowdown", "auto", OPAL_INFO_LVL_4,
                  "Whose links are slower than the others': WHO:FACTOR between commas, WHO a host "
                  "or a rank of MPI_COMM_WORLD; none; or auto: found out while the job runs; also "
                  "an info key"},
#define NUMBER(name, standard, low, high, scale, help)                                             \
    {                                                                                              \
        name, standard, OPAL_INFO_LVL_6, help, low, high, scale                                    \
    }
#define UNKNOWN ". Empty: what suits the kind of network, or of memory"
    [NUMBERS + COLL_STRAG_ALPHA] =
        NUMBER("alpha", "", 0, 1e6, 1e-6,
               "Microseconds that a message between hosts takes, however short" UNKNOWN),
    [NUMBERS + COLL_STRAG_LOCAL_ALPHA] =
        NUMBER("local_alpha", "", 0, 1e6, 1e-6,
               "Microseconds that a message within a host takes, however short" UNKNOWN),
    [NUMBERS + COLL_STRAG_BANDWIDTH] =
        NUMBER("bandwidth", "", 1e-3, 1e6, 1e9 / 8,
               "Gbit/s of a link of the network, each direction, where the layout does not say "
               "it" UNKNOWN),
    [NUMBERS + COLL_STRAG_LOCAL_BANDWIDTH] =
        NUMBER("local_bandwidth", "", 1e-3, 1e6, 1e9 / 8,
               "Gbit/s that a rank copies to others on its host" UNKNOWN),
    [NUMBERS + COLL_STRAG_LINK_LATENCY] =
        NUMBER("link_latency", "", 0, 1e9, 1e-9,
               "Nanoseconds for each link of the network that a message crosses" UNKNOWN),
    [NUMBERS + COLL_STRAG_HOP_LATENCY] =
        NUMBER("hop_latency", "", 0, 1e9, 1e-9,
               "Nanoseconds for each host or switch that a message enters" UNKNOWN),
    [NUMBERS + COLL_STRAG_REDUCE_BANDWIDTH] =
        NUMBER("reduce_bandwidth", "", 0, 1e6, 1e9 / 8,
               "Gbit/s that a rank reduces; 0: that takes no time" UNKNOWN),
#undef UNKNOWN
#undef NUMBER
};

/* ---- Registering ---- */

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

/* @return the parameter's index in Open MPI's list */
static int register_one(const mca_base_component_t *component, const char *name, const char *help,
                        mca_base_var_info_lvl_t level, mca_base_var_type_t type,
                        mca_base_var_enum_t *enumeration, void *storage)
{
    return mca_base_component_var_register(component, name, help, type, enumeration, 0, 0, level,
                                           MCA_BASE_VAR_SCOPE_READONLY, storage);
}

/* Has the user set this parameter? */
static bool is_set(int index)
{
    mca_base_var_source_t source;
    return index >= 0 && mca_base_var_get_value(index, NULL, &source, NULL) == OPAL_SUCCESS &&
           source != MCA_BASE_VAR_SOURCE_DEFAULT;
}

static void register_integers(const mca_base_component_t *component,
                              struct coll_strag_settings *settings)
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
    int index = register_one(
        component, "priority",
        "Priority of coll/strag. It is used where it is above 0 and the highest. Default 0: "
        "installed, but not used, unless --mca coll names strag, which makes it 90",
        OPAL_INFO_LVL_6, MCA_BASE_VAR_TYPE_INT, integer, &settings->priority);
    settings->priority_set = is_set(index);
    register_one(component, "verbose",
                 "From 1 on: log which algorithm runs and why, once per communicator, size class "
                 "and outcome (so does coll_base_verbose from 10 on)",
                 OPAL_INFO_LVL_4, MCA_BASE_VAR_TYPE_INT, integer, &settings->verbose);
    register_one(component, "window",
                 "So many calls are looked at together to find a straggler, 2 to 4096; 0: 100, or "
                 "half the number of ranks",
                 OPAL_INFO_LVL_5, MCA_BASE_VAR_TYPE_INT, integer, &settings->window);
    if (NULL != integer)
        OBJ_RELEASE(integer); /* the variables keep it */
}

static void register_switches(const mca_base_component_t *component,
                              struct coll_strag_settings *settings)
{
    register_one(component, "enable", "Whether coll/strag may be used at all", OPAL_INFO_LVL_4,
                 MCA_BASE_VAR_TYPE_BOOL, NULL, &settings->enable);
    register_one(component, "report",
                 "Report at the end of each communicator which rank was late, how often and by how "
                 "much, and what going ahead without it has saved",
                 OPAL_INFO_LVL_4, MCA_BASE_VAR_TYPE_BOOL, NULL, &settings->report);
    register_one(component, "reproducible",
                 "The same bits in every run, wherever its ranks are: plans depend on their "
                 "number, the vector and the parameters alone, and stay the same during a run",
                 OPAL_INFO_LVL_4, MCA_BASE_VAR_TYPE_BOOL, NULL, &settings->reproducible);
}

void coll_strag_settings_register(const mca_base_component_t *component)
{
    struct coll_strag_settings *settings = &coll_strag_settings;
    *settings = (struct coll_strag_settings){.enable = true};
    register_switches(component, settings);
    register_integers(component, settings);
    for (int p = 0; p < TEXTS; p++) {
        char names[STRAG_NAMES_MAX] = "", help[STRAG_NAMES_MAX + 512];
        if (p == ALGORITHM)
            strag_algorithm_names(names, sizeof names);
        snprintf(help, sizeof help, "%s%s", parameters[p].help, names);
        texts[p] = (char *)parameters[p].standard;
        register_one(component, parameters[p].name, help, parameters[p].level,
                     MCA_BASE_VAR_TYPE_STRING, NULL, &texts[p]);
    }
}

/* ---- What the texts mean ---- */

/* Complaints about parameters, a line each: Open MPI shows a message once, so there is one. */
struct complaints {
    char text[3072];
    size_t length;
};

/* A text to be read: a parameter's, or an info key's. */
struct source {
    char name[64];
    const char *text;
    struct complaints *complaints;
};

static void complain(const struct source *source, const char *reason, const char *accepted,
                     const char *used)
{
    struct complaints *all = source->complaints;
    int length = snprintf(all->text + all->length, sizeof all->text - all->length,
                          "%s  %s = \"%.40s\": %s; accepted: %s; used: %s", all->length ? "\n" : "",
                          source->name, source->text, reason, accepted, used);
    if (length > 0 && (size_t)length < sizeof all->text - all->length)
        all->length += (size_t)length;
}

static void warn_of(const struct complaints *complaints)
{
    if (complaints->length)
        coll_strag_warn(COLL_STRAG_WARN_PARAMETERS, complaints->text, "");
}

static bool is(const struct source *source, const char *word)
{
    return strcmp(source->text, word) == 0;
}

static struct source parameter_source(int parameter, struct complaints *complaints)
{
    struct source source = {.text = texts[parameter], .complaints = complaints};
    if (NULL == source.text) /* Open MPI may make that of an empty text */
        source.text = parameters[parameter].standard;
    snprintf(source.name, sizeof source.name, "coll_strag_%s", parameters[parameter].name);
    return source;
}

/* @return a size within bounds; where it is `word`, or none: `otherwise` */
static size_t read_size(const struct source *source, const char *word, size_t otherwise, size_t low,
                        size_t high, const char *accepted)
{
    size_t bytes = 0;
    if (is(source, word))
        return otherwise;
    int status = strag_parse_bytes(source->text, &bytes, NULL);
    if (status == STRAG_OK && bytes >= low && bytes <= high)
        return bytes;
    complain(source, status == STRAG_OK ? "out of range" : "not a size", accepted, word);
    return otherwise;
}

/* @return the text's index in a list that ends with NULL; where it is not in it: that of "auto" */
static int read_word(const struct source *source, const char *const *words, const char *reason,
                     const char *accepted)
{
    int index = 0, automatic = 0;
    while (words[index] && !is(source, words[index]))
        index++;
    if (words[index])
        return index;
    complain(source, reason, accepted, "auto");
    while (strcmp(words[automatic], "auto") != 0)
        automatic++;
    return automatic;
}

static int read_algorithm(const struct source *source)
{
    char accepted[STRAG_NAMES_MAX + 16] = "auto, ";
    size_t length = strlen(accepted);
    if (is(source, "auto"))
        return COLL_STRAG_AUTO;
    for (int a = 0; strag_algorithms[a]; a++) {
        if (is(source, strag_algorithms[a]->name))
            return a;
    }
    strag_algorithm_names(accepted + length, sizeof accepted - length);
    complain(source, "no such algorithm", accepted, "auto");
    return COLL_STRAG_AUTO;
}

/* @return 0 for auto */
static int read_ports(const struct source *source)
{
    int ports;
    if (is(source, "auto"))
        return 0;
    if (strag_parse_integer(source->text, 1, 2 * STRAG_DIMS_MAX, &ports, NULL) == STRAG_OK)
        return ports;
    complain(source, "not a number of links", "auto, or 1 to 16", "auto");
    return 0;
}

/* @return enum coll_strag_transport_kind; COLL_STRAG_TRANSPORTS for auto */
static int read_transport(const struct source *source)
{
    static const char *const words[] = {
        [COLL_STRAG_PML] = "pml",
        [COLL_STRAG_UCP] = "ucp",
        [COLL_STRAG_TRANSPORTS] = "auto",
        NULL,
    };
    if (!WITH_UCX && is(source, "ucp")) {
        complain(source, "strag was built without UCX", "auto, pml", "auto");
        return COLL_STRAG_TRANSPORTS;
    }
    return read_word(source, words, "no such transport", WITH_UCX ? "auto, pml, ucp" : "auto, pml");
}

/* A text that is read for each communicator. @return it, or "auto" where it cannot be read */
static const char *check_text(const struct source *source,
                              int (*check)(const char *text, struct strag_error *err),
                              const char *accepted)
{
    struct strag_error err;
    if (check(source->text, &err) == STRAG_OK)
        return source->text;
    complain(source, err.text, accepted, "auto");
    return "auto";
}

/* @return 0: as suits the number of ranks */
static int read_window(int window, struct complaints *complaints)
{
    char text[16];
    const struct source source = {"coll_strag_window", text, complaints};
    if (window == 0 || (window >= 2 && window <= STRAG_WINDOW_MAX))
        return window;
    snprintf(text, sizeof text, "%d", window);
    complain(&source, "out of range", "0, or 2 to 4096 calls", "0");
    return 0;
}

/* @return what it means in seconds or bytes per second; below 0: nothing was said */
static double read_number(const struct parameter *parameter, const struct source *source)
{
    char accepted[64];
    double value;
    if (is(source, ""))
        return -1;
    if (strag_parse_real(source->text, parameter->low, parameter->high, &value, NULL) == STRAG_OK)
        return value * parameter->scale;
    snprintf(accepted, sizeof accepted, "numbers from %g to %g", parameter->low, parameter->high);
    complain(source, "not such a number", accepted, "what suits the network");
    return -1;
}

/* The grid of coll_strag_torus. @return NULL: none, or a bad one */
static struct strag_layout *read_grid(const struct source *source)
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
    if (is(source, ""))
        return NULL;
    while (strncmp(source->text, kinds[kind].prefix, strlen(kinds[kind].prefix)) != 0)
        kind++;
    if (strag_layout_from_dims(source->text + strlen(kinds[kind].prefix), kinds[kind].network,
                               kinds[kind].wrap, &grid, &err) != STRAG_OK)
        complain(source, err.text, "sizes such as 8x8x4, also mesh:8x8 and hyperx:8x8", "none");
    return grid;
}

/* How the machine is described, and what is known of its ranks and links. */
static void read_machine(struct coll_strag_settings *settings, const struct source *from)
{
    settings->layout_file = from[LAYOUT].text;
    settings->rules_file = from[RULES].text;
    settings->grid = read_grid(&from[TORUS]);
    settings->grid_text = from[TORUS].text;
    settings->has_layout_or_rules =
        settings->layout_file[0] || settings->rules_file[0] || NULL != settings->grid;
    settings->straggler =
        check_text(&from[STRAGGLER], strag_state_check_straggler, strag_straggler_accepted);
    settings->slowdown = check_text(&from[SLOWDOWN], strag_state_check_slow, strag_slow_accepted);
    for (int i = 0; i < COLL_STRAG_NUMBERS; i++)
        settings->number[i] = read_number(&parameters[NUMBERS + i], &from[NUMBERS + i]);
}

static const char *const device_words[] = {
    [COLL_STRAG_IF_ANY] = "auto", [COLL_STRAG_YES] = "yes", [COLL_STRAG_NO] = "no", NULL};

static const char *const shared_memory_words[] = {[COLL_STRAG_SHARED_NEVER] = "0",
                                                  [COLL_STRAG_SHARED_WANTED] = "1",
                                                  [COLL_STRAG_SHARED_AUTO] = "auto",
                                                  NULL};

void coll_strag_settings_read(void)
{
    struct coll_strag_settings *settings = &coll_strag_settings;
    struct complaints complaints = {.length = 0};
    struct source from[TEXTS];
    for (int p = 0; p < TEXTS; p++)
        from[p] = parameter_source(p, &complaints);
    settings->pinned = read_algorithm(&from[ALGORITHM]);
    settings->ports = read_ports(&from[PORTS]);
    settings->transport = read_transport(&from[TRANSPORT]);
    settings->device_buffers = (enum coll_strag_device_buffers)read_word(
        &from[DEVICE_BUFFERS], device_words, "not a choice", "auto, yes, no");
    settings->segment = read_size(&from[SEGMENT_SIZE], "auto", 0, 1, (size_t)1 << 30,
                                  "auto, or bytes from 1 to 1G, such as 1M");
    settings->shared_memory = (enum coll_strag_shared_memory)read_word(
        &from[SHARED_MEMORY], shared_memory_words, "not one of its values", "auto, 0 or 1");
    settings->minimum = read_size(&from[MINIMUM_SIZE], "auto", minimum_usual, 0, SIZE_MAX,
                                  "bytes, such as 8K, or auto");
    settings->minimum_set =
        !is(&from[MINIMUM_SIZE], "auto") &&
        strag_parse_bytes(from[MINIMUM_SIZE].text, &(size_t){0}, NULL) == STRAG_OK;
    settings->watch_from =
        read_size(&from[WATCH_SIZE], "64K", (size_t)64 << 10, 0, SIZE_MAX, "bytes, such as 64K");
    settings->window = read_window(settings->window, &complaints);
    read_machine(settings, from);
    warn_of(&complaints);
}

void coll_strag_settings_free(void)
{
    strag_layout_free(coll_strag_settings.grid);
    coll_strag_settings.grid = NULL;
}

/* ---- A communicator's info keys ---- */

/* @return as `read`, or `otherwise` where there is no such key */
static int read_key(ompi_communicator_t *comm, int parameter, int otherwise,
                    int (*read)(const struct source *source))
{
    char text[64], key[64];
    struct complaints complaints = {.length = 0};
    struct source source = {.text = text, .complaints = &complaints};
    snprintf(key, sizeof key, "coll_strag_%s", parameters[parameter].name);
    if (!coll_strag_info(comm, key, text, sizeof text))
        return otherwise;
    snprintf(source.name, sizeof source.name, "%.50s (info key)", key);
    int value = read(&source);
    warn_of(&complaints);
    return value;
}

void coll_strag_settings_bad_key(const char *key, const char *text, const char *reason,
                                 const char *accepted, const char *used)
{
    struct complaints complaints = {.length = 0};
    struct source source = {.text = text, .complaints = &complaints};
    snprintf(source.name, sizeof source.name, "%.50s (info key)", key);
    complain(&source, reason, accepted, used);
    warn_of(&complaints);
}

int coll_strag_pinned(ompi_communicator_t *comm, int otherwise)
{
    return read_key(comm, ALGORITHM, otherwise, read_algorithm);
}

int coll_strag_ports(ompi_communicator_t *comm)
{
    return read_key(comm, PORTS, coll_strag_settings.ports, read_ports);
}

enum coll_strag_transport_kind coll_strag_transport_wanted(ompi_communicator_t *comm,
                                                           bool (*ucp_takes_device)(void))
{
    int kind = read_key(comm, TRANSPORT, coll_strag_settings.transport, read_transport);
    if (kind == COLL_STRAG_TRANSPORTS)
        return ucp_takes_device() ? COLL_STRAG_UCP : COLL_STRAG_PML;
    return (enum coll_strag_transport_kind)kind;
}

bool coll_strag_report_wanted(ompi_communicator_t *comm)
{
    char text[8];
    if (!coll_strag_info(comm, "coll_strag_report", text, sizeof text))
        return coll_strag_settings.report;
    return strcmp(text, "0") != 0;
}
