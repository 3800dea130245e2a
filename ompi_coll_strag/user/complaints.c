/* SPDX-License-Identifier: BSD-3-Clause */
#include "complaints.h"

#include "base/text.h"
#include "manual/manual.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

static const char prefix[] = STRAG_PREFIX, in_environment[] = "OMPI_MCA_";

bool coll_strag_source_is(const struct coll_strag_source *source, const char *word)
{
    return strcmp(source->text, word) == 0;
}

void coll_strag_complain(const struct coll_strag_source *source, const char *reason,
                         const char *nearest, const char *accepted, const char *used)
{
    struct coll_strag_complaints *all = source->complaints;
    if (NULL == all)
        return;
    const size_t room = sizeof all->text - all->length;
    int length = snprintf(
        all->text + all->length, room, "%s  %s = \"%s\": %s%s%s%s; accepted: %s; used: %s",
        all->length ? "\n" : "", source->name, strag_quoted(source->text).text, reason,
        nearest ? " (nearest: " : "", nearest ? nearest : "", nearest ? ")" : "", accepted, used);
    if (length > 0 && (size_t)length < room)
        all->length += (size_t)length;
    else
        all->text[all->length] = '\0'; /* no room for this line */
}

/* ---- Parameters that do not exist ---- */

/* Open MPI adds parameters to every component, such as coll_strag_major_version, so ask it which
 * names exist. */
static void check(struct coll_strag_complaints *complaints, const char *name, const char *value)
{
    const struct strag_quote whole = strag_quoted(name);
    struct strag_nearest nearest = {NULL, 0};
    int index;
    if (strncmp(name, prefix, strlen(prefix)) != 0 ||
        mca_base_var_find_by_name(name, &index) == OPAL_SUCCESS)
        return;
    for (int p = 0; p < STRAG_PARAMETERS; p++)
        strag_nearest_offer(&nearest, whole.text, strag_parameters[p].name);
    coll_strag_complain(&(struct coll_strag_source){whole.text, value, complaints},
                        "no such parameter", nearest.name,
                        "what `ompi_info --param coll strag --level 9` lists", "nothing");
}

static void check_environment(struct coll_strag_complaints *complaints)
{
    char name[128];
    for (char **variable = environ; variable && *variable; variable++) {
        const char *end = strchr(*variable, '=');
        if (!end || strncmp(*variable, in_environment, strlen(in_environment)) != 0)
            continue;
        const char *begin = *variable + strlen(in_environment);
        snprintf(name, sizeof name, "%.*s", (int)(end - begin), begin);
        check(complaints, name, end + 1);
    }
}

static struct coll_strag_complaints *of_files;

/* A name that is also in the environment has its value from there, and was checked before. */
static void check_entry(const char *name, const char *value)
{
    char variable[128];
    snprintf(variable, sizeof variable, "%s%s", in_environment, name);
    if (!getenv(variable))
        check(of_files, name, value ? value : "");
}

/* Check the files that Open MPI has read. @param parameter  lists them, between commas */
static void check_files(struct coll_strag_complaints *complaints, const char *parameter)
{
    const mca_base_var_storage_t *files = NULL;
    int index;
    if (mca_base_var_find_by_name(parameter, &index) != OPAL_SUCCESS ||
        mca_base_var_get_value(index, &files, NULL, NULL) != OPAL_SUCCESS || !files->stringval)
        return;
    for (const char *at = files->stringval; *at; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        char *file = strag_text_copy(at, length);
        of_files = complaints;
        if (file)
            (void)opal_util_keyval_parse(file, check_entry);
        free(file);
        at += length;
    }
}

void coll_strag_find_unknown(struct coll_strag_complaints *complaints)
{
    check_environment(complaints);
    check_files(complaints, "mca_base_param_files");
    check_files(complaints, "mca_base_envar_file_prefix"); /* mpirun --tune */
    check_files(complaints, "mca_base_override_param_file");
}
