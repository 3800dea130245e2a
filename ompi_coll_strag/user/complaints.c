/* SPDX-License-Identifier: BSD-3-Clause */
#include "complaints.h"

#include "base/text.h"

#include <string.h>

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
