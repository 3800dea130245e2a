/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component's parameters, as manual/manual.h has them: registering them, and what their texts
 * are turned into.
 */
#include "settings.h"

#include "base/parse.h"
#include "detect/window.h"
#include "manual/manual.h"

#include <limits.h>
#include <string.h>

struct coll_strag_settings coll_strag_settings;

static char *texts[STRAG_PARAMETERS]; /* of those that are texts: as the user gave them */

/* ---- Registering ---- */

/* Has the user set this parameter? */
static bool is_set(int index)
{
    mca_base_var_source_t source;
    return index >= 0 && mca_base_var_get_value(index, NULL, &source, NULL) == OPAL_SUCCESS &&
           source != MCA_BASE_VAR_SOURCE_DEFAULT;
}

/* Where Open MPI puts the value of a switch; it has its default there. */
static bool *switch_of(enum strag_parameter_id id)
{
    struct coll_strag_settings *settings = &coll_strag_settings;
    bool *value = id == STRAG_SET_ENABLE ? &settings->enable : &settings->learn;
    *value = strcmp(strag_parameters[id].standard, "true") == 0;
    return value;
}

/* Integers are texts, too: Open MPI would read "abc" as 0. @return the index in Open MPI's list */
static int register_one(const mca_base_component_t *component, enum strag_parameter_id id)
{
    char help[STRAG_HELP_MAX];
    const struct strag_parameter *parameter = &strag_parameters[id];
    const bool is_switch = parameter->type == STRAG_SWITCH;
    texts[id] = (char *)parameter->standard;
    return mca_base_component_var_register(
        component, parameter->name + strlen(STRAG_PREFIX), strag_parameter_help(id, help),
        is_switch ? MCA_BASE_VAR_TYPE_BOOL : MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0,
        (mca_base_var_info_lvl_t)(OPAL_INFO_LVL_1 + parameter->level - 1),
        MCA_BASE_VAR_SCOPE_READONLY, is_switch ? (void *)switch_of(id) : (void *)&texts[id]);
}

void coll_strag_settings_register(const mca_base_component_t *component)
{
    coll_strag_settings = (struct coll_strag_settings){0};
    for (int p = 0; p < STRAG_PARAMETERS; p++) {
        const int index = register_one(component, (enum strag_parameter_id)p);
        if (p == STRAG_SET_PRIORITY)
            coll_strag_settings.priority_set = is_set(index);
    }
}

/* ---- What the texts mean ---- */

/* A text from Open MPI, which may make NULL of an empty one. */
static struct coll_strag_source source_of(int parameter, struct coll_strag_complaints *complaints)
{
    return (struct coll_strag_source){
        .name = strag_parameters[parameter].name,
        .text = texts[parameter] ? texts[parameter] : strag_parameters[parameter].standard,
        .complaints = complaints,
    };
}

static void read_sizes(struct coll_strag_settings *settings, const struct coll_strag_source *from)
{
    const struct coll_strag_source *minimum = &from[STRAG_SET_MINIMUM_SIZE];
    settings->segment =
        coll_strag_read_size(&from[STRAG_SET_SEGMENT_SIZE], "auto", 0, 1, (size_t)1 << 30,
                             "auto, or bytes from 1 to 1G, such as 1M");
    settings->minimum = coll_strag_read_size(minimum, "auto", STRAG_MINIMUM_USUAL, 0, SIZE_MAX,
                                             "bytes, such as 8K, or auto");
    settings->minimum_set = !coll_strag_source_is(minimum, "auto") &&
                            strag_parse_bytes(minimum->text, &(size_t){0}, NULL) == STRAG_OK;
    settings->watch_from = coll_strag_read_size(
        &from[STRAG_SET_WATCH_SIZE], "64K", (size_t)64 << 10, 0, SIZE_MAX, "bytes, such as 64K");
    settings->shared_memory_size = coll_strag_read_size(
        &from[STRAG_SET_SHARED_MEMORY_SIZE], "256M", (size_t)256 << 20, (size_t)1 << 20,
        (size_t)64 << 30, "bytes from 1M to 64G, such as 256M");
}

/* How the machine is described, and its slow ranks and links. */
static void read_machine(struct coll_strag_settings *settings, const struct coll_strag_source *from)
{
    settings->layout_file = from[STRAG_SET_LAYOUT].text;
    settings->rules_file = from[STRAG_SET_RULES].text;
    settings->model_file = from[STRAG_SET_MODEL].text;
    settings->save_file = from[STRAG_SET_SAVE].text;
    settings->plan = coll_strag_check_plan(&from[STRAG_SET_PLAN]) ? from[STRAG_SET_PLAN].text : "";
    settings->trace_file = from[STRAG_SET_TRACE].text;
    settings->report = coll_strag_read_report(&from[STRAG_SET_REPORT], &settings->report_file);
    settings->grid = coll_strag_read_grid(&from[STRAG_SET_TORUS]);
    settings->grid_text = from[STRAG_SET_TORUS].text;
    settings->has_layout_or_rules = settings->layout_file[0] || settings->rules_file[0] ||
                                    settings->plan[0] || NULL != settings->grid;
    settings->straggler = coll_strag_check_straggler(&from[STRAG_SET_STRAGGLER])
                              ? from[STRAG_SET_STRAGGLER].text
                              : "auto";
    settings->slowdown = coll_strag_check_slowdown(&from[STRAG_SET_SLOWDOWN])
                             ? from[STRAG_SET_SLOWDOWN].text
                             : "auto";
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        settings->number[id] = coll_strag_read_number(&from[STRAG_SET_NUMBERS + id], id);
}

void coll_strag_settings_read(void)
{
    struct coll_strag_settings *settings = &coll_strag_settings;
    struct coll_strag_complaints complaints = {.length = 0};
    struct coll_strag_complaints *report_to = coll_strag_speaks() ? &complaints : NULL;
    struct coll_strag_source from[STRAG_PARAMETERS];
    for (int p = 0; p < STRAG_PARAMETERS; p++)
        from[p] = source_of(p, report_to);
    settings->pinned = coll_strag_read_algorithm(&from[STRAG_SET_ALGORITHM]);
    settings->ports = coll_strag_read_ports(&from[STRAG_SET_PORTS]);
    settings->transport = coll_strag_read_transport(&from[STRAG_SET_TRANSPORT]);
    settings->device_buffers = (enum coll_strag_device_buffers)coll_strag_read_device_buffers(
        &from[STRAG_SET_DEVICE_BUFFERS]);
    settings->shared_memory = (enum coll_strag_shared_memory)coll_strag_read_shared_memory(
        &from[STRAG_SET_SHARED_MEMORY]);
    /* Device memory is staged for it in more and shorter pieces than for the PML, which is twice as
     * fast (doc/guide/gpus.md). */
    if (settings->device_buffers == COLL_STRAG_YES &&
        settings->shared_memory == COLL_STRAG_SHARED_AUTO)
        settings->shared_memory = COLL_STRAG_SHARED_NEVER;
    settings->reproducible =
        (enum strag_reproducible)coll_strag_read_reproducible(&from[STRAG_SET_REPRODUCIBLE]);
    settings->priority = coll_strag_read_integer(&from[STRAG_SET_PRIORITY], INT_MAX, 0);
    settings->verbose = coll_strag_read_integer(&from[STRAG_SET_VERBOSE], INT_MAX, 0);
    settings->window = coll_strag_read_integer(&from[STRAG_SET_WINDOW], STRAG_WINDOW_CALLS, 0);
    settings->stuck = coll_strag_read_integer(&from[STRAG_SET_STUCK], INT_MAX, 30);
    read_sizes(settings, from);
    read_machine(settings, from);
    if (report_to)
        coll_strag_find_unknown(report_to);
    if (complaints.length)
        coll_strag_warn(COLL_STRAG_WARN_PARAMETERS, complaints.text, "");
}

void coll_strag_settings_free(void)
{
    strag_layout_free(coll_strag_settings.grid);
    coll_strag_settings.grid = NULL;
}
