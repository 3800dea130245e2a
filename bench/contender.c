/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contenders: communicators on which Open MPI uses one component or algorithm.
 */
#include "common.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* An integer control variable while it has another value. */
struct variable {
    MPI_T_cvar_handle handle;
    int before;
};

static void set_variable(struct variable *variable, const char *name, const char *value)
{
    char *end;
    int index, count, number = (int)strtol(value, &end, 10);
    if (end == value || *end != '\0')
        bench_die(name, "its value must be an integer");
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, NULL, &variable->handle, &count) != MPI_SUCCESS ||
        count != 1)
        bench_die(name, "no such control variable");
    if (MPI_T_cvar_read(variable->handle, &variable->before) != MPI_SUCCESS ||
        MPI_T_cvar_write(variable->handle, &number) != MPI_SUCCESS)
        bench_die(name, "cannot be set");
}

static void restore_variable(struct variable *variable)
{
    if (MPI_T_cvar_write(variable->handle, &variable->before) != MPI_SUCCESS)
        bench_die("a control variable", "cannot be set back");
    MPI_T_cvar_handle_free(&variable->handle);
}

static void set_info(MPI_Info info, const char *key, char *value)
{
    for (char *plus; (plus = strchr(value, '+'));)
        *plus = ',';
    MPI_Info_set(info, key, value);
}

static enum contender_call call_named(const char *name)
{
    if (strcmp(name, "nonblocking") != 0 && strcmp(name, "persistent") != 0)
        bench_die("--contender: call", "nonblocking and persistent are accepted");
    return *name == 'n' ? CALL_NONBLOCKING : CALL_PERSISTENT;
}

/* @return  false: it is not about the calls that it takes part in */
static bool read_calls(struct contender *contender, const char *key, const char *value)
{
    if (strcmp(key, "most") == 0)
        contender->most = (size_t)strtoull(value, NULL, 10);
    else if (strcmp(key, "from") == 0)
        contender->from = bench_integer("--contender: from", value, 0, 1000000);
    else if (strcmp(key, "call") == 0)
        contender->call = call_named(value);
    else if (strcmp(key, "late") == 0)
        contender->late = bench_real("--contender: late", value, 0, 1000);
    else
        return false;
    return true;
}

void contender_create(struct contender *contender, const char *text)
{
    enum { VARIABLES_MAX = 4 };
    struct variable variables[VARIABLES_MAX];
    int set = 0;
    char *rest = NULL, *value;
    MPI_Info info;
    MPI_Info_create(&info);
    *contender = (struct contender){.most = SIZE_MAX, .text = strdup(text)};
    if (!contender->text)
        bench_die("--contender", "out of memory");
    contender->name = strtok_r(contender->text, ",", &rest);
    if (!contender->name)
        bench_die("--contender", "needs a name");
    for (char *key; (key = strtok_r(NULL, ",", &rest));) {
        value = strchr(key, '=');
        if (!value)
            bench_die(key, "KEY=VALUE is expected");
        *value++ = '\0';
        if (read_calls(contender, key, value))
            continue;
        if (strcmp(key, "coll_strag_algorithm") == 0)
            contender->pinned = true;
        const bool component = strcmp(key, "component") == 0;
        if (component)
            contender->component = value;
        if (strncmp(key, "cvar:", 5) != 0)
            set_info(info, component ? "ompi_comm_coll_preference" : key, value);
        else if (set < VARIABLES_MAX)
            set_variable(&variables[set++], key + 5, value);
        else
            bench_die(key, "too many control variables");
    }
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &contender->comm);
    MPI_Info_free(&info);
    while (set > 0)
        restore_variable(&variables[--set]);
}

void contender_settle(const struct contender *contender)
{
    enum { FIRST_SHORT_CALLS = 32 };
    for (int i = 0; contender->pinned && i <= FIRST_SHORT_CALLS; i++) {
        const float mine = 1;
        float sum;
        MPI_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, contender->comm);
    }
}

bool contender_runs(const struct contender *contender, MPI_Comm sync)
{
    const struct strag_count before = strag_count_read();
    const float mine = 1;
    float sum;
    char variable[128];
    int index;
    if (!contender->component)
        return true;
    snprintf(variable, sizeof variable, "coll_%s_priority", contender->component);
    MPI_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, contender->comm);
    const struct strag_count after = strag_count_read();
    int runs = MPI_T_cvar_get_index(variable, &index) == MPI_SUCCESS &&
               after.calls == before.calls && after.delegated == before.delegated;
    MPI_Allreduce(MPI_IN_PLACE, &runs, 1, MPI_INT, MPI_MIN, sync);
    return runs;
}

void contender_free(struct contender *contender)
{
    MPI_Comm_free(&contender->comm);
    free(contender->text);
}

/* ---- strag's counters ---- */

static MPI_T_pvar_session session;
static MPI_T_pvar_handle calls = MPI_T_PVAR_HANDLE_NULL, delegated = MPI_T_PVAR_HANDLE_NULL;

static void open_counter(const char *name, MPI_T_pvar_handle *handle)
{
    int index, count;
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS)
        return;
    if (MPI_T_pvar_handle_alloc(session, index, NULL, handle, &count) != MPI_SUCCESS)
        bench_die(name, "cannot be opened");
}

void strag_count_open(void)
{
    MPI_T_pvar_session_create(&session);
    open_counter("coll_strag_calls", &calls);
    open_counter("coll_strag_delegated", &delegated);
}

bool strag_count_found(void)
{
    return calls != MPI_T_PVAR_HANDLE_NULL && delegated != MPI_T_PVAR_HANDLE_NULL;
}

struct strag_count strag_count_read(void)
{
    struct strag_count now = {0, 0};
    if (!strag_count_found())
        return now;
    if (MPI_T_pvar_read(session, calls, &now.calls) != MPI_SUCCESS ||
        MPI_T_pvar_read(session, delegated, &now.delegated) != MPI_SUCCESS)
        bench_die("strag's counters", "cannot be read");
    return now;
}
