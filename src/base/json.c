/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/json.h"

void strag_json_string(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text >= ' ' && *text <= '~' ? *text : '?', out);
    }
    fputc('"', out);
}
