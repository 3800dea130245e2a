/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/c_locale.h"

locale_t strag_c_locale_enter(void)
{
    /* If out of memory, the program's locale stays; glibc and musl need no memory for "C". */
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void strag_c_locale_leave(locale_t before)
{
    const locale_t entered = uselocale(before);
    if (entered != before)
        freelocale(entered);
}
