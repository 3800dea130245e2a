/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component: its parameters, and what is done once per process.
 */
#include "coll_strag.h"

#include "parse.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    PRIORITY_WHEN_NAMED = 90,     /* above every stock component */
    FRAMEWORK_VERBOSE_LEVEL = 10, /* coll_base_verbose from which we speak there */
};

static const char segment_default[] = "1M";
static const char minimum_default[] = "8K";
static const char help_file[] = "help-mca-coll-strag.txt";

static int component_register(void);
static int component_open(void);
static int component_close(void);

static int init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void)enable_progress_threads;
    (void)enable_mpi_threads;
    return OMPI_SUCCESS;
}

mca_coll_strag_component_t mca_coll_strag_component = {
    .super =
        {
            .collm_version =
                {
                    COLL_STRAG_FRAMEWORK_VERSION,
                    .mca_component_name = "strag",
                    MCA_BASE_MAKE_VERSION(component, STRAG_VERSION_MAJOR, STRAG_VERSION_MINOR,
                                          STRAG_VERSION_RELEASE),
                    .mca_open_component = component_open,
                    .mca_close_component = component_close,
                    .mca_register_component_params = component_register,
                },
            .collm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
            .collm_init_query = init_query,
            .collm_comm_query = mca_coll_strag_comm_query,
        },
    .modules_lock = PTHREAD_MUTEX_INITIALIZER,
    .space_lock = PTHREAD_MUTEX_INITIALIZER,
};

static mca_base_component_t *self(void)
{
    return &mca_coll_strag_component.super.collm_version;
}

/* ---- Telling ---- */

/* Open a stream of our own, or speak on the framework's if that is to be heard. */
static void open_stream(mca_coll_strag_component_t *component)
{
    int framework = ompi_coll_base_framework.framework_output;
    component->telling =
        component->verbose > 0 || opal_output_get_verbosity(framework) >= FRAMEWORK_VERBOSE_LEVEL;
    if (component->verbose > 0) {
        component->stream = opal_output_open(NULL);
        opal_output_set_verbosity(component->stream, component->verbose);
    }
}

void coll_strag_tell(const char *format, ...)
{
    va_list args;
    if (!mca_coll_strag_component.telling)
        return;
    va_start(args, format);
    int stream = mca_coll_strag_component.stream;
    opal_output_vverbose(0, stream >= 0 ? stream : ompi_coll_base_framework.framework_output,
                         format, args);
    va_end(args);
}

/* Our help texts are beside the plug-in, wherever that was installed. */
static void find_help(void)
{
    Dl_info info;
    char folder[PATH_MAX];
    if (!dladdr(&mca_coll_strag_component, &info) || !info.dli_fname)
        return;
    const char *slash = strrchr(info.dli_fname, '/');
    size_t length = slash ? (size_t)(slash - info.dli_fname) : 0;
    if (length == 0 || length >= sizeof folder)
        return;
    memcpy(folder, info.dli_fname, length);
    folder[length] = '\0';
    opal_show_help_add_dir(folder);
}

/* ---- Parameters ---- */

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
    if (NULL != integer)
        OBJ_RELEASE(integer); /* the variables keep it */
}

static void register_texts(mca_coll_strag_component_t *component)
{
    char names[160], help[512];
    component->algorithm_text = (char *)"auto";
    snprintf(help, sizeof help,
             "The algorithm: auto, or one for all sizes: %s. auto leaves vectors below "
             "coll_strag_minimum_size to the previous component",
             strag_algorithm_names(names, sizeof names));
    register_text("algorithm", help, OPAL_INFO_LVL_4, &component->algorithm_text);
    component->segment_text = (char *)segment_default;
    register_text("segment_size",
                  "Long messages are cut into segments of so many bytes (K, M, G allowed), so that "
                  "one travels while another is reduced. A call needs two segments of temporary "
                  "space. Must be the same on all ranks",
                  OPAL_INFO_LVL_5, &component->segment_text);
    component->minimum_text = (char *)minimum_default;
    register_text("minimum_size",
                  "auto hands shorter vectors to the previous component; in bytes (K, M, G "
                  "allowed). Must be the same on all ranks",
                  OPAL_INFO_LVL_5, &component->minimum_text);
}

static int component_register(void)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    find_help();
    const char *built = STRAG_OMPI_VERSION;
    if (strcmp(opal_version_string, built) != 0) {
        opal_show_help(help_file, "wrong version", true, built, opal_version_string);
        return OMPI_ERR_NOT_AVAILABLE;
    }
    component->enable = true;
    component->priority = 0;
    component->verbose = 0;
    component->stream = -1;
    mca_base_component_var_register(self(), "enable", "Whether coll/strag may be used at all",
                                    MCA_BASE_VAR_TYPE_BOOL, NULL, 0, 0, OPAL_INFO_LVL_4,
                                    MCA_BASE_VAR_SCOPE_READONLY, &component->enable);
    register_integers(component);
    register_texts(component);
    register_counter("calls", "MPI_Allreduce calls of this process that coll/strag has run",
                     read_calls);
    register_counter("delegated",
                     "MPI_Allreduce calls of this process that coll/strag has handed to the "
                     "previous component",
                     read_delegated);
    return OMPI_SUCCESS;
}

/* ---- What the texts mean ---- */

/* Complaints about parameters, a line each: Open MPI shows a message once, so there is one. */
struct complaints {
    char text[1024];
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
    strag_parse_bytes(fallback, &bytes, NULL);
    return bytes;
}

/* @return its index, or -1 for auto */
static int read_algorithm(const char *text, struct complaints *complaints)
{
    char accepted[192] = "auto, ";
    if (!text || strcmp(text, "auto") == 0)
        return -1;
    const struct strag_algorithm *algorithm = strag_algorithm_find(text, NULL);
    if (algorithm)
        return coll_strag_index(algorithm);
    size_t length = strlen(accepted);
    strag_algorithm_names(accepted + length, sizeof accepted - length);
    complain(complaints, "coll_strag_algorithm", text, "no such algorithm", accepted, "auto");
    return -1;
}

static void read_parameters(mca_coll_strag_component_t *component)
{
    struct complaints complaints = {.length = 0};
    component->pinned = read_algorithm(component->algorithm_text, &complaints);
    component->segment =
        read_size("coll_strag_segment_size", component->segment_text, 1, (size_t)1 << 30,
                  "bytes from 1 to 1G, such as 1M", segment_default, &complaints);
    component->minimum = read_size("coll_strag_minimum_size", component->minimum_text, 0, SIZE_MAX,
                                   "bytes, such as 8K", minimum_default, &complaints);
    if (complaints.length)
        opal_show_help(help_file, "bad parameters", true, complaints.text);
}

/* ---- `--mca coll strag` ---- */

/* Is the framework's selection a list of wanted components that names us; and nobody else? */
static bool is_named(bool *alone)
{
    const char *list = ompi_coll_base_framework.framework_selection;
    bool named = false;
    *alone = false;
    if (!list || list[0] == '^')
        return false;
    *alone = strcmp(list, "strag") == 0;
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ",");
        named = named || (length == 5 && strncmp(at, "strag", 5) == 0);
        at += length + (at[length] == ',');
    }
    return named;
}

static bool stands_before(const opal_list_t *list, const mca_base_component_list_item_t *item)
{
    mca_base_component_list_item_t *other;
    OPAL_LIST_FOREACH(other, list, mca_base_component_list_item_t)
    {
        if (other == item)
            return false;
        if (strcmp(other->cli_component->mca_component_name,
                   item->cli_component->mca_component_name) == 0)
            return true;
    }
    return false;
}

/* Register and open one component, as the framework would have. @return whether it is open */
static bool open_companion(const mca_base_component_t *component)
{
    if (component->mca_register_component_params &&
        component->mca_register_component_params() != OPAL_SUCCESS)
        return false;
    return !component->mca_open_component || component->mca_open_component() == OPAL_SUCCESS;
}

/*
 * Alone we would leave the communicator without its other collectives, and Open MPI would abort. So
 * we open what stock Open MPI would have opened.
 *
 * The framework is walking its list of components with a pointer to the one after us. New ones are
 * therefore put in front of us, where they are not opened a second time. It closes them itself.
 */
static void open_companions(void)
{
    mca_base_framework_t *framework = &ompi_coll_base_framework;
    opal_list_t *list = &framework->framework_components;
    size_t before = opal_list_get_size(list);
    if (mca_base_component_find(NULL, framework, true, true) != OPAL_SUCCESS) {
        opal_show_help(help_file, "no companions", true, "they were not found");
        return;
    }
    mca_base_component_list_item_t *item, *next;
    size_t position = 0;
    OPAL_LIST_FOREACH_SAFE(item, next, list, mca_base_component_list_item_t)
    {
        if (position++ < before)
            continue;
        opal_list_remove_item(list, &item->super);
        if (stands_before(list, item)) {
            OBJ_RELEASE(item); /* a statically linked one, found again */
        } else if (open_companion(item->cli_component)) {
            opal_list_prepend(list, &item->super);
        } else {
            mca_base_component_unload(item->cli_component, framework->framework_output);
            OBJ_RELEASE(item);
        }
    }
}

/* ---- Opening and closing ---- */

static int component_open(void)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    bool alone;
    open_stream(component);
    read_parameters(component);
    if (is_named(&alone) && !component->priority_set)
        component->priority = PRIORITY_WHEN_NAMED;
    if (alone)
        open_companions();
    return OMPI_SUCCESS;
}

static int component_close(void)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    if (component->stream >= 0)
        opal_output_close(component->stream);
    component->stream = -1;
    coll_strag_spaces_free();
    return OMPI_SUCCESS;
}
