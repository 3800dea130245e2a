/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include "base/c_locale.h"
#include "base/parse.h"
#include "detect/window.h"
#include "manual/manual.h"

#include <limits.h>
#include <string.h>

struct coll_strag_settings coll_strag_settings;

static char *texts[STRAG_PARAMETERS]; /* of all parameters but switches, as the user gave them */

/* ---- Registering ---- */

/* Has the user set this parameter? */
static bool is_set(int index)
{
    mca_base_var_source_t source;
    return index >= 0 && mca_base_var_get_value(index, NULL, &source, NULL) == OPAL_SUCCESS &&
           source != MCA_BASE_VAR_SOURCE_DEFAULT;
}

/* The address at which Open MPI puts the value of a switch; the default is stored there. */
static bool *switch_of(enum strag_parameter_id id)
{
    struct coll_strag_settings *settings = &coll_strag_settings;
    bool *value = id == STRAG_SET_ENABLE ? &settings->enable : &settings->learn;
    *value = strcmp(strag_parameters[id].standard, "true") == 0;
    return value;
}

/* Integers are registered as texts: Open MPI would read "abc" as 0.
 * @return the index in Open MPI's list */
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

/* ---- Reading the texts ---- */

/* A text from Open MPI, which may make NULL of an empty one. */
static struct coll_strag_source source_of(int parameter, struct coll_strag_complaints *complaints)
{
    return (struct coll_strag_source){
        .name = strag_parameters[parameter].name,
        .text = texts[parameter] ? texts[parameter] : strag_parameters[parameter].standard,
        .complaints = complaints,
    };
}

/* @return bytes, low to high; `otherwise` if the text is `word` or not such a size */
static size_t read_size(const struct coll_strag_source *source, const char *word, size_t otherwise,
                        size_t low, size_t high, const char *accepted)
{
    size_t bytes = 0;
    if (coll_strag_source_is(source, word))
        return otherwise;
    int status = strag_parse_bytes(source->text, &bytes, NULL);
    if (status == STRAG_OK && bytes >= low && bytes <= high)
        return bytes;
    coll_strag_complain(source, status == STRAG_OK ? "out of range" : "not a size", NULL, accepted,
                        word);
    return otherwise;
}

/* A number of the cost model. @param id  enum strag_model_id @return seconds, or bytes per second;
 * below 0 if the text is empty, or not such a number */
static double read_number(const struct coll_strag_source *source, int id)
{
    char accepted[64];
    double value;
    if (coll_strag_source_is(source, ""))
        return -1;
    if (strag_model_number_parse(id, source->text, &value, NULL) == STRAG_OK)
        return value;
    const locale_t before = strag_c_locale_enter();
    const struct strag_model_number *number = &strag_model_numbers[id];
    snprintf(accepted, sizeof accepted, "numbers from %g to %g, in %s", number->least,
             STRAG_MODEL_NUMBER_MOST, number->unit);
    strag_c_locale_leave(before);
    coll_strag_complain(source, "not a number in this range", NULL, accepted,
                        "a default for the network");
    return -1;
}

/* @return an integer from 0 to `most`; `otherwise` if the text is not such an integer */
static int read_integer(const struct coll_strag_source *source, int most, int otherwise)
{
    char accepted[64] = "an integer, 0 or more", used[16];
    int value;
    if (strag_parse_integer(source->text, 0, most, &value, NULL) == STRAG_OK)
        return value;
    if (most < INT_MAX)
        snprintf(accepted, sizeof accepted, "an integer from 0 to %d", most);
    snprintf(used, sizeof used, "%d", otherwise);
    coll_strag_complain(source, "not such an integer", NULL, accepted, used);
    return otherwise;
}

static enum coll_strag_device_buffers read_device_buffers(const struct coll_strag_source *source)
{
    static const char *const words[] = {
        [COLL_STRAG_IF_ANY] = "auto", [COLL_STRAG_YES] = "yes", [COLL_STRAG_NO] = "no", NULL};
    return (enum coll_strag_device_buffers)coll_strag_read_word(source, words, "auto, yes, no",
                                                                COLL_STRAG_IF_ANY);
}

static enum coll_strag_shared_memory read_shared_memory(const struct coll_strag_source *source)
{
    static const char *const words[] = {
        [COLL_STRAG_SHARED_NEVER] = "0",
        [COLL_STRAG_SHARED_WANTED] = "1",
        [COLL_STRAG_SHARED_AUTO] = "auto",
        NULL,
    };
    return (enum coll_strag_shared_memory)coll_strag_read_word(source, words, "auto, 0 or 1",
                                                               COLL_STRAG_SHARED_AUTO);
}

/* 0 and 1 are the values of earlier versions. */
static enum strag_reproducible read_reproducible(const struct coll_strag_source *source)
{
    if (coll_strag_source_is(source, "0"))
        return STRAG_REPRODUCIBLE_NO;
    if (coll_strag_source_is(source, "1"))
        return STRAG_REPRODUCIBLE_RANKS;
    return (enum strag_reproducible)coll_strag_read_word(source, strag_reproducible_names,
                                                         "no (or 0), mapping, ranks (or 1)",
                                                         STRAG_REPRODUCIBLE_NO);
}

/* @param[out] file  the report's file; "" if none is named @return whether a report is wanted */
static bool read_report(const struct coll_strag_source *source, const char **file)
{
    static const char *const words[] = {"0", "1", "false", "true", "no", "yes", NULL};
    *file = strpbrk(source->text, "./") ? source->text : "";
    return **file || coll_strag_read_word(source, words,
                                          "0, 1, or a file's name with a dot or a slash in it", 0) %
                         2;
}

/* @return the caller's to free; NULL if none is configured, or an invalid one */
static struct strag_layout *read_grid(const struct coll_strag_source *source)
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
    if (coll_strag_source_is(source, ""))
        return NULL;
    while (strncmp(source->text, kinds[kind].prefix, strlen(kinds[kind].prefix)) != 0)
        kind++;
    if (strag_layout_from_dims(source->text + strlen(kinds[kind].prefix), kinds[kind].network,
                               kinds[kind].wrap, &grid, &err) != STRAG_OK)
        coll_strag_complain(source, err.text, NULL,
                            "sizes such as 8x8x4, also mesh:8x8 and hyperx:8x8", "none");
    return grid;
}

static void read_sizes(struct coll_strag_settings *settings, const struct coll_strag_source *from)
{
    const struct coll_strag_source *minimum = &from[STRAG_SET_MINIMUM_SIZE];
    settings->segment = read_size(&from[STRAG_SET_SEGMENT_SIZE], "auto", 0, 1, (size_t)1 << 30,
                                  "auto, or bytes from 1 to 1G, such as 1M");
    settings->minimum =
        read_size(minimum, "auto", STRAG_MINIMUM_USUAL, 0, SIZE_MAX, "bytes, such as 8K, or auto");
    settings->minimum_set = !coll_strag_source_is(minimum, "auto") &&
                            strag_parse_bytes(minimum->text, &(size_t){0}, NULL) == STRAG_OK;
    settings->watch_from = read_size(&from[STRAG_SET_WATCH_SIZE], "64K", (size_t)64 << 10, 0,
                                     SIZE_MAX, "bytes, such as 64K");
    settings->shared_memory_size =
        read_size(&from[STRAG_SET_SHARED_MEMORY_SIZE], "256M", (size_t)256 << 20, (size_t)1 << 20,
                  (size_t)64 << 30, "bytes from 1M to 64G, such as 256M");
}

/* Read the parameters that describe the machine, its slow ranks and its slow links; and files. */
static void read_machine(struct coll_strag_settings *settings, const struct coll_strag_source *from)
{
    settings->layout_file = from[STRAG_SET_LAYOUT].text;
    settings->rules_file = from[STRAG_SET_RULES].text;
    settings->model_file = from[STRAG_SET_MODEL].text;
    settings->save_file = from[STRAG_SET_SAVE].text;
    settings->plan = coll_strag_check_plan(&from[STRAG_SET_PLAN]) ? from[STRAG_SET_PLAN].text : "";
    settings->trace_file = from[STRAG_SET_TRACE].text;
    settings->report = read_report(&from[STRAG_SET_REPORT], &settings->report_file);
    settings->grid = read_grid(&from[STRAG_SET_TORUS]);
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
        settings->number[id] = read_number(&from[STRAG_SET_NUMBERS + id], id);
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
    settings->device_buffers = read_device_buffers(&from[STRAG_SET_DEVICE_BUFFERS]);
    settings->shared_memory = read_shared_memory(&from[STRAG_SET_SHARED_MEMORY]);
    settings->reproducible = read_reproducible(&from[STRAG_SET_REPRODUCIBLE]);
    settings->priority = read_integer(&from[STRAG_SET_PRIORITY], INT_MAX, 0);
    settings->verbose = read_integer(&from[STRAG_SET_VERBOSE], INT_MAX, 0);
    settings->window = read_integer(&from[STRAG_SET_WINDOW], STRAG_WINDOW_CALLS, 0);
    settings->stuck = read_integer(&from[STRAG_SET_STUCK], INT_MAX, 30);
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
