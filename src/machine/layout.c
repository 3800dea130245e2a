/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/layout.h"

#include <stdlib.h>

void strag_layout_free(struct strag_layout *layout)
{
    if (!layout)
        return;
    for (int i = 0; i < layout->nswitches; i++)
        free(layout->switches[i].name);
    for (int i = 0; i < layout->nhosts; i++)
        free(layout->hosts[i].name);
    free(layout->switches);
    free(layout->hosts);
    free(layout->rank_host);
    free(layout);
}

bool strag_layout_is_flat(const struct strag_layout *layout)
{
    return layout->nhosts == 0 && layout->nswitches == 1 && !layout->switches[0].name;
}
