/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers with a point, whatever locale the program has that the library or the component is in:
 * JSON, YAML and what users type know nothing else. Lines for people follow the program.
 */
#ifndef STRAG_C_LOCALE_H
#define STRAG_C_LOCALE_H

#include <locale.h>

/** This thread's locale is "C" until strag_c_locale_leave. Pairs may be nested.
 * @return what strag_c_locale_leave takes */
locale_t strag_c_locale_enter(void);

/** As before. */
void strag_c_locale_leave(locale_t before);

#endif
