/* SPDX-License-Identifier: MIT */
/* sgc-snapshot compare: groups that grew, with the roots that hold what is new. */
#include "snapshot/tools/views_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/view/compare.h"

enum { ROOTS = 3 };                     /* of each group */

/* The holder of the larger part, but those that have been printed; the number of holders: no
 * other. */
static uint32_t next_holder(const struct sgc_view *v, const struct sgc_growth *growth, const uint32_t *printed, int count)
{
    uint32_t found = sgc_view_holders(v);

    sgc_assert(count < ROOTS);
    for (uint32_t i = 0; i < sgc_view_holders(v); i++) {
        bool before = false;

        for (int p = 0; p < count; p++)
            before |= printed[p] == i;
        if (!before && growth->held[i].bytes > (found == sgc_view_holders(v) ? 0 : growth->held[found].bytes))
            found = i;
    }
    return found;
}

static void print_roots(const struct sgc_view *v, const struct sgc_growth *growth)
{
    const struct sgc_held_sum *held;
    uint32_t printed[ROOTS];
    char shown[SGC_VIEWS_NAME];

    sgc_assert(growth->held != NULL);
    for (int i = 0; i < ROOTS; i++) {
        printed[i] = next_holder(v, growth, printed, i);
        if (printed[i] == sgc_view_holders(v))
            return;
        held = &growth->held[printed[i]];
        sgc_assert(held->objects != 0 && held->first < v->g->objects);
        printf("%16s%" PRIu64 " bytes in %" PRIu64 " objects of the new ones, as that at %#" PRIx64 ": %s\n", "", held->bytes,
               held->objects, sgc_graph_address(v->g, held->first),
               sgc_views_quoted(sgc_view_holder_name(v, printed[i]), shown));
    }
}

static void print_sums(const struct sgc_comparison *c)
{
    struct sgc_held_sum before = { 0 }, now = { 0 }, fresh = { 0 };
    char shown[SGC_VIEWS_NAME], old[SGC_VIEWS_NAME];

    for (uint32_t i = 0; i < c->count; i++) {
        before.objects += c->growth[i].before.objects;
        before.bytes += c->growth[i].before.bytes;
        now.objects += c->growth[i].now.objects;
        now.bytes += c->growth[i].now.bytes;
        fresh.objects += c->growth[i].fresh.objects;
        fresh.bytes += c->growth[i].fresh.bytes;
    }
    sgc_assert(fresh.bytes <= now.bytes);
    printf("before: %" PRIu64 " bytes in %" PRIu64 " objects; now: %" PRIu64 " in %" PRIu64 "; new: %" PRIu64 " in %" PRIu64
           "\nan object is the same if its address, size and group are\n", before.bytes, before.objects, now.bytes, now.objects,
           fresh.bytes, fresh.objects);
    if (c->renamed.objects != 0)
        printf("%" PRIu64 " bytes in %" PRIu64 " objects are the same under other names, which is no growth: %s was %s\n",
               c->renamed.bytes, c->renamed.objects, sgc_views_quoted(c->new_name, shown), sgc_views_quoted(c->old_name, old));
    printf("\n%15s %14s %14s %12s  %s\n", "grown by", "before", "now", "new objects", "group");
}

bool sgc_views_print_compare(const struct sgc_view *older, const struct sgc_view *newer, const struct sgc_views_settings *s)
{
    struct sgc_comparison c;
    bool done = sgc_compare(&c, older, newer, s->top);
    char shown[SGC_VIEWS_NAME];

    if (done)
        print_sums(&c);
    for (uint32_t i = 0; done && i < c.count && i < s->top; i++) {
        const struct sgc_growth *growth = &c.growth[i];

        if (growth->held == NULL)
            break;
        printf("%+15" PRId64 " %14" PRIu64 " %14" PRIu64 " %12" PRIu64 "  %s\n",
               sgc_growth_bytes(growth), growth->now.bytes - (uint64_t)sgc_growth_bytes(growth), growth->now.bytes,
               growth->fresh.objects,
               sgc_views_quoted(growth->name, shown));
        print_roots(newer, growth);
    }
    if (done && (c.count == 0 || c.growth[0].held == NULL))
        printf("no group has grown\n");
    sgc_comparison_release(&c);
    return done;
}
