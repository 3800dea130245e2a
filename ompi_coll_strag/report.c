/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include "manual/manual.h"

#include <stddef.h>
#include <string.h>

void coll_strag_report(const ompi_communicator_t *comm, const struct strag_watch_summary *summary,
                       const struct strag_rank_location *ranks,
                       const struct strag_sourced_model *model)
{
    char cid[32], name[MPI_MAX_OBJECT_NAME + 32], text[2048];
    if (comm->c_name[0])
        snprintf(name, sizeof name, "%s", comm->c_name);
    else
        snprintf(name, sizeof name, "communicator %s", coll_strag_cid(comm, cid, sizeof cid));
    strag_watch_summary_text(summary, name, ranks, text, sizeof text);
    fputs(text, stderr);
    strag_watch_model_text(summary, name, model, coll_strag_settings.model_file, text, sizeof text);
    fputs(text, stderr);
}

/* ---- Performance variables ---- */

struct values {
    int late_rank, late_most, slow_rank;
    double late_delay, late_share, late_median, late_saved, late_waited, last_saved, slow_factor,
        model_error;
    unsigned long long late_switches, last_calls, last_ahead, slow_probes;
};

#define FIELD(ID, NAME)                                                                            \
    STRAG_SAY_##ID, offsetof(struct values, NAME), sizeof(((struct values *)0)->NAME)

static const struct variable {
    enum strag_variable_id id;
    size_t offset, size;
    mca_base_var_type_t type;
} variables[] = {
    {FIELD(LATE_RANK, late_rank), MCA_BASE_VAR_TYPE_INT},
    {FIELD(LATE_DELAY, late_delay), MCA_BASE_VAR_TYPE_DOUBLE},
    {FIELD(LATE_MOST, late_most), MCA_BASE_VAR_TYPE_INT},
    {FIELD(LATE_SHARE, late_share), MCA_BASE_VAR_TYPE_DOUBLE},
    {FIELD(LATE_MEDIAN, late_median), MCA_BASE_VAR_TYPE_DOUBLE},
    {FIELD(LATE_SWITCHES, late_switches), MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG},
    {FIELD(LATE_SAVED, late_saved), MCA_BASE_VAR_TYPE_DOUBLE},
    {FIELD(LATE_WAITED, late_waited), MCA_BASE_VAR_TYPE_DOUBLE},
    {FIELD(LAST_CALLS, last_calls), MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG},
    {FIELD(LAST_AHEAD, last_ahead), MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG},
    {FIELD(LAST_SAVED, last_saved), MCA_BASE_VAR_TYPE_DOUBLE},
    {FIELD(SLOW_RANK, slow_rank), MCA_BASE_VAR_TYPE_INT},
    {FIELD(SLOW_FACTOR, slow_factor), MCA_BASE_VAR_TYPE_DOUBLE},
    {FIELD(SLOW_PROBES, slow_probes), MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG},
    {FIELD(MODEL_ERROR, model_error), MCA_BASE_VAR_TYPE_DOUBLE},
};

static int read_variable(const struct mca_base_pvar_t *pvar, void *value, void *comm)
{
    const struct variable *variable = pvar->ctx;
    struct strag_watch_summary summary = strag_watch_summary_none();
    (void)coll_strag_watch_summary(comm, &summary);
    const bool slow = summary.slowest.hosts > 0;
    const struct values values = {
        .late_rank = summary.straggler,
        .late_delay = summary.delay,
        .late_most = summary.observed.rank,
        .late_share = summary.observed.share,
        .late_median = summary.observed.median,
        .late_switches = (unsigned long long)summary.observed.switches,
        .late_saved = summary.observed.saved,
        .late_waited = summary.observed.waited,
        .last_calls = (unsigned long long)summary.dynamic.calls,
        .last_ahead = (unsigned long long)summary.dynamic.ahead,
        .last_saved = summary.dynamic.saved + summary.dynamic.modelled,
        .slow_rank = slow ? summary.slowest.rank : -1,
        .slow_factor = slow ? summary.slowest.factor : 1,
        .slow_probes = summary.slowest.probes,
        .model_error = summary.model_error,
    };
    memcpy(value, (const char *)&values + variable->offset, variable->size);
    return OPAL_SUCCESS;
}

void coll_strag_report_register(const mca_base_component_t *component)
{
    for (size_t v = 0; v < sizeof variables / sizeof *variables; v++) {
        const struct strag_variable *variable = &strag_variables[variables[v].id];
        mca_base_component_pvar_register(
            component, variable->name + strlen(STRAG_PREFIX), variable->help, OPAL_INFO_LVL_4,
            MPI_T_PVAR_CLASS_GENERIC, variables[v].type, NULL, MPI_T_BIND_MPI_COMM,
            MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, read_variable, NULL, NULL,
            (void *)&variables[v]);
    }
}
