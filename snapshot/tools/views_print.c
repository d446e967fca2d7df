/* SPDX-License-Identifier: MIT */
/* See snapshot/tools/views_print.h. */
#include "snapshot/tools/views_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/text_line.h"

enum { DEPTH = 8 };

static double percent(uint64_t part, uint64_t all)
{
    sgc_assert(part <= all);
    return all == 0 ? 0 : 100.0 * (double)part / (double)all;
}

const char *sgc_views_quoted(const char *name, char shown[SGC_VIEWS_NAME])
{
    sgc_assert(name != NULL);
    return sgc_quote(name, strlen(name), shown, SGC_VIEWS_NAME);
}

static void print_name(const char *name)
{
    char shown[SGC_VIEWS_NAME];

    puts(sgc_views_quoted(name, shown));
}

static void print_unreachable(const struct sgc_view *v)
{
    uint32_t objects = v->d.count[sgc_dominators_top(&v->d)];
    uint64_t bytes = v->d.retained[sgc_dominators_top(&v->d)];

    sgc_assert(objects <= v->g->objects && bytes <= v->g->bytes);
    printf("%" PRIu64 " bytes in %" PRIu32 " objects are reachable, %" PRIu64 " bytes in %" PRIu32 " are not\n", bytes, objects,
           v->g->bytes - bytes, v->g->objects - objects);
}

/* ---- types ---- */

static int by_bytes(const void *left, const void *right)
{
    const struct sgc_group_sum *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

bool sgc_views_print_types(const struct sgc_view *v, const struct sgc_views_settings *s)
{
    struct sgc_group_sum *sum = sgc_view_sums(v);
    uint64_t all = v->d.retained[sgc_dominators_top(&v->d)];
    uint32_t shown = 0;

    if (sum == NULL)
        return false;
    qsort(sum, v->groups.count, sizeof *sum, by_bytes);
    print_unreachable(v);
    printf("\n%14s %6s %12s %14s  %s\n", "bytes", "share", "objects", "retained", "group");
    for (; shown < v->groups.count && sum[shown].objects != 0; shown++) {
        if (shown == s->top) {
            printf("... %" PRIu32 " groups more; --top N shows more\n", v->groups.count - shown);
            break;
        }
        printf("%14" PRIu64 " %5.1f%% %12" PRIu64 " %14" PRIu64 "  ", sum[shown].bytes, percent(sum[shown].bytes, all),
               sum[shown].objects, sum[shown].retained);
        print_name(v->groups.name[sum[shown].group]);
    }
    free(sum);
    return true;
}

/* ---- retained ---- */

bool sgc_views_print_retained(const struct sgc_view *v, const struct sgc_views_settings *s)
{
    uint64_t all = v->d.retained[sgc_dominators_top(&v->d)];
    uint64_t smallest = all / 100 * s->share + all % 100 * s->share / 100;
    uint32_t depth = s->depth != 0 ? s->depth : DEPTH;
    struct sgc_merged m;
    bool made = sgc_merged_make(&m, v, smallest, depth);

    if (made) {
        print_unreachable(v);
        printf("\n%14s %6s %12s\n", "retained", "share", "objects");
    }
    for (uint32_t i = 0; made && i < m.count; i++) {
        const struct sgc_merged_node *node = &m.node[i];

        sgc_assert(node->depth <= depth + 1);
        printf("%14" PRIu64 " %5.1f%% %12" PRIu64 "  %*s", node->retained, percent(node->retained, all), node->retained_objects,
               (int)node->depth * 2, "");
        print_name(sgc_merged_name(&m, i));
    }
    sgc_merged_release(&m);
    return made;
}
