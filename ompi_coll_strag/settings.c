/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component's parameters: one table says how each is called, what it means and what is
 * accepted; below it what their texts are turned into.
 */
#include "settings.h"

#include "unknown.h"

#include "algorithms/table.h"
#include "base/parse.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
    SHARED_MEMORY_SIZE,
    WATCH_SIZE,
    MINIMUM_SIZE,
    LAYOUT,
    TORUS,
    RULES,
    MODEL,
    SAVE,
    STRAGGLER,
    SLOWDOWN,
    NUMBERS, /* of the cost model, by enum strag_model_id */
    TEXTS = NUMBERS + STRAG_MODEL_NUMBERS,
    OTHERS = 7, /* integers and switches */
};

static char *texts[TEXTS]; /* as the user gave them */

/* A number of the cost model is a text, too, so that "" can say that the user does not know it. */
static const struct parameter {
    const char *name, *standard;
    mca_base_var_info_lvl_t level;
    const char *help;
} parameters[TEXTS] = {
    [ALGORITHM] = {"algorithm", "auto", OPAL_INFO_LVL_4,
                   "The algorithm: auto, which leaves vectors below coll_strag_minimum_size to the "
                   "previous component; previous, which leaves all to it; or one for all sizes, "
                   "also as an info key: "},
    [PORTS] = {"ports", "auto", OPAL_INFO_LVL_5,
               "How many links of a torus a host drives at the same time: 1, two for each "
               "dimension, or auto, what is best for an algorithm; also an info key"},
    [TRANSPORT] = {"transport", "auto", OPAL_INFO_LVL_5,
                   COLL_STRAG_WITH_UCX
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
                       "not where all goes over UCX. All ranks use rank 0's value"},
    [SHARED_MEMORY_SIZE] = {"shared_memory_size", "256M", OPAL_INFO_LVL_6,
                            "Bytes of addresses (K, M, G allowed) that a process may use for the "
                            "memory of all ranks of its host, whatever the number of "
                            "communicators. An eighth may be touched. Less where the limits of "
                            "the process or its cgroup are low"},
    [WATCH_SIZE] = {"watch_size", "64K", OPAL_INFO_LVL_5,
                    "Calls of so many bytes and more are watched to find a straggler (K, M, G "
                    "allowed). All ranks use rank 0's value"},
    [MINIMUM_SIZE] = {"minimum_size", "auto", OPAL_INFO_LVL_5,
                      "auto (coll_strag_algorithm) hands shorter vectors to the previous "
                      "component; in bytes (K, M, G allowed). auto here: 8K, or less where all "
                      "ranks are on one host and share memory. All ranks use rank 0's value"},
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
    [MODEL] = {"model", "", OPAL_INFO_LVL_4,
               "A file with the numbers of the cost model for each kind of machine (strag-tune "
               "--model writes such files); the parameters below go before it. All ranks use the "
               "file that a communicator's rank 0 finds"},
    [SAVE] = {"save", "", OPAL_INFO_LVL_4,
              "A file to write: what rank 0 of the job chose for its largest communicator so far, "
              "and all that the choice rests on, for strag explain --saved FILE. With %c in its "
              "name one file for each communicator; its name takes the place of %c"},
    [STRAGGLER] = {"straggler", "auto", OPAL_INFO_LVL_4,
                   "A rank of MPI_COMM_WORLD that comes late to most calls, and perhaps by how "
                   "much: RANK[:MICROSECONDS]. auto: find out whether there is one, or another one "
                   "in each call, and go ahead without it where that helps; dynamic: find out in "
                   "each call who comes last; none: wait for all. Also an info key"},
    [SLOWDOWN] = {"slowdown", "auto", OPAL_INFO_LVL_4,
                  "Whose links are slower than the others': WHO:FACTOR between commas, WHO a host "
                  "or a rank of MPI_COMM_WORLD; none; or auto: found out while the job runs; also "
                  "an info key"},
#define NUMBER(WITH, ID, member, name, unit, least, what, standard)                                \
    [NUMBERS + STRAG_MODEL_##ID] = {#member, "", OPAL_INFO_LVL_6,                                  \
                                    "Cost model: " what                                            \
                                    ". Empty: what suits the kind of network, or of memory"},
    STRAG_MODEL_NUMBERS_LIST(NUMBER, )
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

/* All names, without "coll_strag_". */
static struct {
    const char *name[TEXTS + OTHERS];
    int count;
} registered;

/* @return the parameter's index in Open MPI's list */
static int register_one(const mca_base_component_t *component, const char *name, const char *help,
                        mca_base_var_info_lvl_t level, mca_base_var_type_t type,
                        mca_base_var_enum_t *enumeration, void *storage)
{
    registered.name[registered.count++] = name;
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
    register_one(
        component, "learn",
        "Between hosts: find out from the first calls how fast the network is, and by a few "
        "trials which algorithm is the fastest where several are modelled to be nearly so. "
        "Without it, and with coll_strag_reproducible, the cost model's numbers are those "
        "that were set",
        OPAL_INFO_LVL_4, MCA_BASE_VAR_TYPE_BOOL, NULL, &settings->learn);
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
    *settings = (struct coll_strag_settings){.enable = true, .learn = true};
    registered.count = 0;
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

/* A text from Open MPI, which may make NULL of an empty one. */
static struct coll_strag_source source_of(int parameter, struct coll_strag_complaints *complaints,
                                          char *name, size_t size)
{
    snprintf(name, size, "coll_strag_%s", parameters[parameter].name);
    return (struct coll_strag_source){
        .name = name,
        .text = texts[parameter] ? texts[parameter] : parameters[parameter].standard,
        .complaints = complaints,
    };
}

static void read_sizes(struct coll_strag_settings *settings, const struct coll_strag_source *from)
{
    const struct coll_strag_source *minimum = &from[MINIMUM_SIZE];
    settings->segment = coll_strag_read_size(&from[SEGMENT_SIZE], "auto", 0, 1, (size_t)1 << 30,
                                             "auto, or bytes from 1 to 1G, such as 1M");
    settings->minimum = coll_strag_read_size(minimum, "auto", minimum_usual, 0, SIZE_MAX,
                                             "bytes, such as 8K, or auto");
    settings->minimum_set = !coll_strag_source_is(minimum, "auto") &&
                            strag_parse_bytes(minimum->text, &(size_t){0}, NULL) == STRAG_OK;
    settings->watch_from = coll_strag_read_size(&from[WATCH_SIZE], "64K", (size_t)64 << 10, 0,
                                                SIZE_MAX, "bytes, such as 64K");
    settings->shared_memory_size =
        coll_strag_read_size(&from[SHARED_MEMORY_SIZE], "256M", (size_t)256 << 20, (size_t)1 << 20,
                             (size_t)64 << 30, "bytes from 1M to 64G, such as 256M");
}

/* How the machine is described, and what is known of its ranks and links. */
static void read_machine(struct coll_strag_settings *settings, const struct coll_strag_source *from)
{
    settings->layout_file = from[LAYOUT].text;
    settings->rules_file = from[RULES].text;
    settings->model_file = from[MODEL].text;
    settings->save_file = from[SAVE].text;
    settings->grid = coll_strag_read_grid(&from[TORUS]);
    settings->grid_text = from[TORUS].text;
    settings->has_layout_or_rules =
        settings->layout_file[0] || settings->rules_file[0] || NULL != settings->grid;
    settings->straggler =
        coll_strag_check_straggler(&from[STRAGGLER]) ? from[STRAGGLER].text : "auto";
    settings->slowdown = coll_strag_check_slowdown(&from[SLOWDOWN]) ? from[SLOWDOWN].text : "auto";
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        settings->number[id] = coll_strag_read_number(&from[NUMBERS + id], id);
}

void coll_strag_settings_read(void)
{
    struct coll_strag_settings *settings = &coll_strag_settings;
    struct coll_strag_complaints complaints = {.length = 0};
    struct coll_strag_complaints *told = coll_strag_speaks() ? &complaints : NULL;
    struct coll_strag_source from[TEXTS];
    char names[TEXTS][48];
    for (int p = 0; p < TEXTS; p++)
        from[p] = source_of(p, told, names[p], sizeof names[p]);
    settings->pinned = coll_strag_read_algorithm(&from[ALGORITHM]);
    settings->ports = coll_strag_read_ports(&from[PORTS]);
    settings->transport = coll_strag_read_transport(&from[TRANSPORT]);
    settings->device_buffers =
        (enum coll_strag_device_buffers)coll_strag_read_device_buffers(&from[DEVICE_BUFFERS]);
    settings->shared_memory =
        (enum coll_strag_shared_memory)coll_strag_read_shared_memory(&from[SHARED_MEMORY]);
    settings->window = coll_strag_read_window(settings->window, told);
    read_sizes(settings, from);
    read_machine(settings, from);
    if (told)
        coll_strag_find_unknown(registered.name, registered.count, told);
    if (complaints.length)
        coll_strag_warn(COLL_STRAG_WARN_PARAMETERS, complaints.text, "");
}

void coll_strag_settings_free(void)
{
    strag_layout_free(coll_strag_settings.grid);
    coll_strag_settings.grid = NULL;
}
