/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include "compat/world.h"
#include "user/log.h"
#include "user/settings.h"

#include "base/file.h"
#include "manual/manual.h"

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- The file ---- */

/* The file is a whole JSON text after each communicator: the next one is written over this end. */
static const char end_of_file[] = "\n]}\n";

static struct {
    pthread_mutex_t lock;
    char name[PATH_MAX];
    struct strag_output output; /* without a stream if it could not be opened */
    bool tried;
} file = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Rank 0 of the job writes the file that is named. Another process that is rank 0 of a communicator
 * writes a file of its own, report-of-rank-4.json. @return false if the name is too long */
static bool name_file(void)
{
    const char *wanted = coll_strag_settings.report_file;
    const char *dot = strrchr(wanted, '.');
    const unsigned rank = OPAL_PROC_MY_NAME.vpid;
    const int stem = dot && !strchr(dot, '/') ? (int)(dot - wanted) : (int)strlen(wanted);
    const size_t size = sizeof file.name;
    int length = snprintf(file.name, size, "%s", wanted);
    if (!coll_strag_speaks())
        length = snprintf(file.name, size, "%.*s-of-%srank-%u%s", stem, wanted,
                          rank == 0 ? "another-job-" : "", rank, wanted + stem);
    return length > 0 && (size_t)length < size;
}

/* With the lock held: begin the file, which has no communicator yet. */
static void open_file(void)
{
    struct strag_error err = {"the name is too long"};
    FILE *stream;
    file.tried = true;
    if (!name_file() || strag_output_open(&file.output, file.name, &err) != STRAG_OK) {
        coll_strag_warn(COLL_STRAG_WARN_NOT_WRITTEN, file.name, err.text);
        return;
    }
    stream = file.output.stream;
    fprintf(stream, "{\"format\":1,\"strag\":\"%s\",\"open_mpi\":\"%s\",\"job_ranks\":%d,",
            coll_strag_version, opal_version_string, coll_strag_world_size());
    fprintf(stream, "\"communicators\":[%s", end_of_file);
}

static void write_to_file(const struct strag_account *account)
{
    struct strag_error err;
    pthread_mutex_lock(&file.lock);
    const bool first = !file.tried;
    if (first)
        open_file();
    FILE *stream = file.output.stream;
    if (stream && fseek(stream, 1 - (long)sizeof end_of_file, SEEK_END) == 0) {
        fputs(first ? "\n" : ",\n", stream);
        strag_account_json(account, stream);
        fputs(end_of_file, stream);
        if (strag_output_place(&file.output, &err) != STRAG_OK)
            coll_strag_warn(COLL_STRAG_WARN_NOT_WRITTEN, file.name, err.text);
    }
    pthread_mutex_unlock(&file.lock);
}

void coll_strag_report_close(void)
{
    if (file.output.stream)
        strag_output_close(&file.output, true, NULL);
    file.tried = false;
}

/* Written in one piece, so that several processes' reports do not mix. */
static void write_text(const struct strag_account *account)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    if (NULL == stream)
        return;
    strag_account_text(account, stream);
    if (fclose(stream) == 0)
        fputs(text, stderr);
    free(text);
}

void coll_strag_report(const struct strag_account *account)
{
    if (coll_strag_settings.report_file[0])
        write_to_file(account);
    else
        write_text(account);
}

/* ---- Performance variables ---- */

struct values {
    int late_rank, slow_rank;
    double late_delay, late_saved, last_saved, slow_factor, model_error;
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
    {FIELD(LATE_SWITCHES, late_switches), MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG},
    {FIELD(LATE_SAVED, late_saved), MCA_BASE_VAR_TYPE_DOUBLE},
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
        .late_rank = summary.late.count ? summary.late.rank[0].rank : -1,
        .late_delay = summary.late.rank[0].delay,
        .late_switches = (unsigned long long)summary.switches,
        .late_saved = summary.saved,
        .last_calls = (unsigned long long)summary.dynamic.calls,
        .last_ahead = (unsigned long long)summary.dynamic.ahead,
        .last_saved = summary.dynamic.saved,
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
