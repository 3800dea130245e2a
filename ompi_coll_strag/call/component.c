/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component: what is done once per process.
 */
#include "choice/store.h"
#include "collect/record.h"
#include "collect/report.h"
#include "entries.h"
#include "facts/files.h"
#include "facts/fingerprint.h"
#include "facts/rank_info.h"
#include "mpi/reducer.h"
#include "mpi/teardown.h"
#include "request.h"
#include "setup/setup.h"
#include "shared/shared_setup.h"
#include "user/counters.h"
#include "user/log.h"
#include "user/settings.h"
#include "wire/device_buffer.h"
#include "wire/transport_pml.h"
#include "wire/transport_shm.h"
#include "wire/ucp/ucp.h"

#include <stdlib.h>
#include <string.h>

enum { PRIORITY_WHEN_NAMED = 90 }; /* above every stock component */

static int component_register(void);
static int component_open(void);
static int component_close(void);

static int init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void)enable_progress_threads;
    (void)enable_mpi_threads;
    if (coll_strag_settings.enable && coll_strag_settings.priority > 0)
        coll_strag_rank_info_prepare();
    return OMPI_SUCCESS;
}

OMPI_DECLSPEC mca_coll_base_component_t mca_coll_strag_component = {
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
    .collm_comm_query = coll_strag_comm_query,
};

static int component_register(void)
{
    if (strcmp(opal_version_string, STRAG_OMPI_VERSION) != 0) {
        /* Where another version keeps the rank is not known, so the environment is read. */
        const char *rank = getenv("PMIX_RANK");
        if (NULL == rank || strcmp(rank, "0") == 0)
            coll_strag_show(COLL_STRAG_WARN_WRONG_VERSION, STRAG_OMPI_VERSION, opal_version_string);
        return OMPI_ERR_NOT_AVAILABLE;
    }
    const mca_base_component_t *self = &mca_coll_strag_component.collm_version;
    coll_strag_settings_register(self);
    coll_strag_counters_register(self);
    coll_strag_report_register(self);
    return OMPI_SUCCESS;
}

/* ---- `--mca coll strag` ---- */

/* Is strag in the list of wanted components? @param[out] alone  is it the only one there? */
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
 * With strag alone, a communicator would lack its other collectives, and Open MPI would abort. So
 * strag opens the components that stock Open MPI would have opened.
 *
 * Meanwhile the framework is walking its list of components, and points to the one after strag. New
 * components are put at the front of the list, so that it does not open them again. It closes them.
 */
static void open_companions(void)
{
    mca_base_framework_t *framework = &ompi_coll_base_framework;
    opal_list_t *list = &framework->framework_components;
    size_t before = opal_list_get_size(list);
    if (mca_base_component_find(NULL, framework, true, true) != OPAL_SUCCESS) {
        if (coll_strag_speaks())
            coll_strag_show(COLL_STRAG_WARN_NO_COMPANIONS, "they were not found", "");
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
    struct coll_strag_settings *settings = &coll_strag_settings;
    bool alone;
    if (!coll_strag_requests_open())
        return OMPI_ERR_OUT_OF_RESOURCE;
    coll_strag_ledger_open();
    coll_strag_settings_read();
    coll_strag_log_open(settings->verbose);
    coll_strag_device_prepare();
    if (is_named(&alone) && !settings->priority_set)
        settings->priority = PRIORITY_WHEN_NAMED;
    if (alone)
        open_companions();
    if (settings->enable && (settings->priority > 0 || settings->report || settings->trace_file[0]))
        coll_strag_fingerprint_publish();
    return OMPI_SUCCESS;
}

static int component_close(void)
{
    coll_strag_queues_close();
    coll_strag_requests_close();
    coll_strag_stuck_close();
    coll_strag_report_close();
    coll_strag_fingerprint_free();
    coll_strag_teardown_close();
    coll_strag_pml_close();
    coll_strag_ucp_close(); /* its worker may still write to a device's memory */
    coll_strag_device_close();
    coll_strag_shared_setup_close();
    coll_strag_given_close();
    coll_strag_store_free();
    coll_strag_shared_memory_close();
    coll_strag_spaces_free();
    coll_strag_files_free();
    coll_strag_settings_free();
    coll_strag_log_close();
    return OMPI_SUCCESS;
}
