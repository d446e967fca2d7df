/* SPDX-License-Identifier: MIT */
/* See snapshot/view/export.h: "root;group;group bytes", a line for each node. */
#include <inttypes.h>
#include <stdlib.h>

#include "snapshot/view/export.h"
#include "snapshot/view/text.h"

/* From the root down; node 0, which is in each, is left out. */
static bool write_way(FILE *out, const struct sgc_merged *m, uint32_t node)
{
    uint32_t way[SGC_MERGED_DEPTH + 2], count = 0;

    for (; node != 0; node = m->node[node].parent)
        way[count++] = node;
    sgc_assert(count <= sizeof way / sizeof way[0]);
    while (count > 0) {
        char *name = sgc_text_line(sgc_merged_name(m, way[--count]), ';');

        if (name == NULL)
            return false;
        fputs(name, out);
        putc(count > 0 ? ';' : ' ', out);
        free(name);
    }
    return true;
}

bool sgc_export_folded(FILE *out, const struct sgc_merged *m)
{
    for (uint32_t i = 1; i < m->count; i++) {
        sgc_assert(m->node[i].parent < i);
        if (m->node[i].bytes == 0)
            continue;
        if (!write_way(out, m, i))
            return false;
        fprintf(out, "%" PRIu64 "\n", m->node[i].bytes);
    }
    return true;
}
