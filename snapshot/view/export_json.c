/* SPDX-License-Identifier: MIT */
/* See snapshot/view/export.h: groups and the merged tree for scripts. */
#include <inttypes.h>
#include <stdlib.h>

#include "snapshot/view/export.h"
#include "snapshot/view/text.h"

static void write_head(FILE *out, const struct sgc_view *v)
{
    uint32_t objects = v->d.count[sgc_dominators_top(&v->d)];
    uint64_t bytes = v->d.retained[sgc_dominators_top(&v->d)];

    sgc_assert(objects <= v->g->objects && bytes <= v->g->bytes);
    fprintf(out, "{\"version\":1,\"process\":%" PRIu64 ",\"cycle\":%" PRIu64 ",\"objects\":%" PRIu32 ",\"bytes\":%" PRIu64
            ",\"unreachable_objects\":%" PRIu32 ",\"unreachable_bytes\":%" PRIu64, v->g->process, v->g->cycle, objects, bytes,
            v->g->objects - objects, v->g->bytes - bytes);
}

static void write_groups(FILE *out, const struct sgc_view *v, const struct sgc_group_sum *sum)
{
    const char *between = "";

    fprintf(out, ",\n\"groups\":[");
    for (uint32_t i = 0; i < v->groups.count; i++) {
        if (sum[i].objects == 0)
            continue;
        sgc_assert(sum[i].bytes <= sum[i].retained);
        fprintf(out, "%s\n{\"name\":", between);
        sgc_text_json(out, v->groups.name[i]);
        fprintf(out, ",\"objects\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"retained\":%" PRIu64 "}", sum[i].objects, sum[i].bytes,
                sum[i].retained);
        between = ",";
    }
    fprintf(out, "]");
}

static void write_tree(FILE *out, const struct sgc_merged *m)
{
    static const char *const kinds[] = { "all", "root", "several", "group", "rest" };

    fprintf(out, ",\n\"tree\":[");
    for (uint32_t i = 0; i < m->count; i++) {
        const struct sgc_merged_node *node = &m->node[i];

        sgc_assert(node->is <= SGC_MERGED_REST);
        fprintf(out, "%s\n{\"parent\":%" PRId64 ",\"kind\":\"%s\",\"name\":", i == 0 ? "" : ",",
                i == 0 ? -1 : (int64_t)node->parent, kinds[node->is]);
        sgc_text_json(out, sgc_merged_name(m, i));
        fprintf(out, ",\"objects\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"retained_objects\":%" PRIu64 ",\"retained\":%" PRIu64
                "}", node->objects, node->bytes, node->retained_objects, node->retained);
    }
    fprintf(out, "]");
}

bool sgc_export_json(FILE *out, const struct sgc_merged *m)
{
    struct sgc_group_sum *sum = sgc_view_sums(m->v);

    if (sum == NULL)
        return false;
    write_head(out, m->v);
    write_groups(out, m->v, sum);
    write_tree(out, m);
    fprintf(out, "}\n");
    free(sum);
    return true;
}
