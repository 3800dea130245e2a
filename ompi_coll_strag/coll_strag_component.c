/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component: what is done once per process.
 */
#include "coll_strag_device.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    PRIORITY_WHEN_NAMED = 90,     /* above every stock component */
    FRAMEWORK_VERBOSE_LEVEL = 10, /* coll_base_verbose from which we speak there */
};

const char coll_strag_help[] = "help-mca-coll-strag.txt";

static int component_register(void);
static int component_open(void);
static int component_close(void);

static int init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void)enable_progress_threads;
    (void)enable_mpi_threads;
    if (mca_coll_strag_component.enable && mca_coll_strag_component.priority > 0)
        coll_strag_find_rank_info();
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
    .files_lock = PTHREAD_MUTEX_INITIALIZER,
    .space_lock = PTHREAD_MUTEX_INITIALIZER,
};

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

void coll_strag_warn(enum coll_strag_warning warning, const char *what, const char *why)
{
    static const char *const topics[] = {
        [COLL_STRAG_WARN_PARAMETERS] = "bad parameters",
        [COLL_STRAG_WARN_DIFFERENT] = "different parameters",
        [COLL_STRAG_WARN_LAYOUT] = "no layout",
        [COLL_STRAG_WARN_TORUS] = "no layout",
        [COLL_STRAG_WARN_RULES] = "no rules",
        [COLL_STRAG_WARN_PINNED] = "cannot be planned",
        [COLL_STRAG_WARN_NO_UCP] = "no ucp",
        [COLL_STRAG_WARN_LOST] = "lost",
        [COLL_STRAG_WARN_NOT_SHARED] = "not shared",
        [COLL_STRAG_WARN_NO_PLUGIN] = "no plug-in",
        [COLL_STRAG_WARN_STAGED] = "device buffers",
        [COLL_STRAG_WARN_NO_KERNELS] = "no kernels",
    };
    unsigned bit = 1u << warning;
    if (__atomic_fetch_or(&mca_coll_strag_component.warned, bit, __ATOMIC_RELAXED) & bit)
        return;
    opal_show_help(coll_strag_help, topics[warning], true, what, why);
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

static int component_register(void)
{
    find_help();
    const char *built = STRAG_OMPI_VERSION;
    if (strcmp(opal_version_string, built) != 0) {
        opal_show_help(coll_strag_help, "wrong version", true, built, opal_version_string);
        return OMPI_ERR_NOT_AVAILABLE;
    }
    mca_coll_strag_component.stream = -1;
    coll_strag_parameters_register();
    return OMPI_SUCCESS;
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
        opal_show_help(coll_strag_help, "no companions", true, "they were not found");
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
    coll_strag_parameters_read();
    coll_strag_device_prepare();
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
    coll_strag_device_close();
    coll_strag_ucp_close();
    coll_strag_spaces_free();
    coll_strag_files_free();
    return OMPI_SUCCESS;
}
