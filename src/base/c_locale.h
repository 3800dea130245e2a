/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers with a decimal point in programs of any locale: JSON, YAML and users' input need it.
 * Lines for people follow the program's locale.
 */
#ifndef STRAG_C_LOCALE_H
#define STRAG_C_LOCALE_H

#include <locale.h>

/** Set this thread's locale to "C" until strag_c_locale_leave. Pairs may be nested. @return the
 * argument for strag_c_locale_leave */
locale_t strag_c_locale_enter(void);

/** Restore the locale. */
void strag_c_locale_leave(locale_t before);

#endif
