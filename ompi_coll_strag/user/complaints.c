/* SPDX-License-Identifier: BSD-3-Clause */
#include "complaints.h"

#include "base/file.h"
#include "base/text.h"
#include "manual/manual.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

enum { LONGEST_FILE = 1 << 20 }; /* bytes */

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
        all->text[all->length] = '\0'; /* no room for one more */
}

/* ---- Parameters that do not exist ---- */

/* Part of a text; no NUL at its end. */
struct part {
    const char *text;
    size_t length;
};

static bool is_ours(struct part name)
{
    return name.length >= strlen(prefix) && strncmp(name.text, prefix, strlen(prefix)) == 0;
}

/* Open MPI itself has some parameters for every component, such as coll_strag_major_version: it
 * knows all that exist. */
static void check(struct coll_strag_complaints *complaints, struct part name, struct part value)
{
    const struct strag_quote whole = strag_quote(name.text, name.length),
                             text = strag_quote(value.text, value.length);
    struct strag_nearest nearest = {NULL, 0};
    int index;
    if (!is_ours(name) || mca_base_var_find_by_name(whole.text, &index) == OPAL_SUCCESS)
        return;
    for (int p = 0; p < STRAG_PARAMETERS; p++)
        strag_nearest_offer(&nearest, whole.text, strag_parameters[p].name);
    coll_strag_complain(&(struct coll_strag_source){whole.text, text.text, complaints},
                        "no such parameter", nearest.name,
                        "what `ompi_info --param coll strag --level 9` lists", "nothing");
}

static void check_environment(struct coll_strag_complaints *complaints)
{
    for (char **variable = environ; variable && *variable; variable++) {
        if (strncmp(*variable, in_environment, strlen(in_environment)) != 0)
            continue;
        const char *name = *variable + strlen(in_environment), *end = strchr(name, '=');
        if (end)
            check(complaints, (struct part){name, (size_t)(end - name)},
                  (struct part){end + 1, strlen(end + 1)});
    }
}

/* Take the next word off a line. @return length 0: there is none */
static struct part next_word(struct part *line)
{
    static const char between[] = " \t\r=\"'";
    struct part word;
    while (line->length && strchr(between, *line->text)) {
        line->text++;
        line->length--;
    }
    word = (struct part){line->text, 0};
    while (line->length && !strchr(between, *line->text)) {
        line->text++;
        line->length--;
        word.length++;
    }
    return word;
}

/* A parameter file has lines NAME = VALUE; those of mpirun --tune may have several --mca NAME
 * VALUE. What the environment has, too, goes before it, and was read before. */
static void check_line(struct coll_strag_complaints *complaints, struct part line)
{
    char variable[128];
    for (struct part word = next_word(&line); word.length; word = next_word(&line)) {
        if (word.text[0] == '-')
            continue;
        const struct part value = next_word(&line);
        snprintf(variable, sizeof variable, "%s%.*s", in_environment,
                 (int)(word.length < 100 ? word.length : 100), word.text);
        if (!getenv(variable))
            check(complaints, word, value);
    }
}

static void check_file(struct coll_strag_complaints *complaints, const char *file)
{
    struct strag_line line = {.number = 0};
    char *text;
    size_t length;
    if (strag_file_read(file, LONGEST_FILE, &text, &length, NULL) != STRAG_OK)
        return;
    const char *rest = text;
    while (strag_next_line(&rest, &length, &line))
        check_line(complaints, (struct part){line.text, line.length});
    free(text);
}

/* The files that Open MPI has read: a parameter of its own names them, between commas. */
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
        if (file)
            check_file(complaints, file);
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
