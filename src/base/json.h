/* SPDX-License-Identifier: BSD-3-Clause */
/* What writers of JSON share. */
#ifndef STRAG_JSON_H
#define STRAG_JSON_H

#include <stdio.h>

/** A text in quotes. Bytes that are not printable ASCII become '?'. */
void strag_json_string(const char *text, FILE *out);

#endif
