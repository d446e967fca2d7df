/* SPDX-License-Identifier: MIT */
/* sgc-snapshot compare: groups that grew, with the roots that hold what is new; as text or JSON. */
#include "snapshot/tools/views_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/view/compare.h"
#include "snapshot/view/text.h"

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

struct sums {
    struct sgc_held_sum before, now, fresh;
};

static struct sums sums_of(const struct sgc_comparison *c)
{
    struct sums sums = { { 0 }, { 0 }, { 0 } };

    for (uint32_t i = 0; i < c->count; i++) {
        sums.before.objects += c->growth[i].before.objects;
        sums.before.bytes += c->growth[i].before.bytes;
        sums.now.objects += c->growth[i].now.objects;
        sums.now.bytes += c->growth[i].now.bytes;
        sums.fresh.objects += c->growth[i].fresh.objects;
        sums.fresh.bytes += c->growth[i].fresh.bytes;
    }
    sgc_assert(sums.fresh.bytes <= sums.now.bytes);
    return sums;
}

static void print_sums(const struct sgc_comparison *c)
{
    struct sums sums = sums_of(c);
    char shown[SGC_VIEWS_NAME], old[SGC_VIEWS_NAME];

    printf("before: %" PRIu64 " bytes in %" PRIu64 " objects; now: %" PRIu64 " in %" PRIu64 "; new: %" PRIu64 " in %" PRIu64
           "\nan object is the same if its address, size and group are\n", sums.before.bytes, sums.before.objects,
           sums.now.bytes, sums.now.objects, sums.fresh.bytes, sums.fresh.objects);
    if (c->renamed.objects != 0)
        printf("%" PRIu64 " bytes in %" PRIu64 " objects are the same under other names, which is no growth: %s was %s\n",
               c->renamed.bytes, c->renamed.objects, sgc_views_quoted(c->new_name, shown), sgc_views_quoted(c->old_name, old));
    printf("\n%15s %14s %14s %12s  %s\n", "grown by", "before", "now", "new objects", "group");
}

static uint64_t bytes_before(const struct sgc_growth *growth)
{
    return growth->now.bytes - (uint64_t)sgc_growth_bytes(growth);
}

static void print_growth(const struct sgc_view *v, const struct sgc_growth *growth)
{
    char shown[SGC_VIEWS_NAME];

    printf("%+15" PRId64 " %14" PRIu64 " %14" PRIu64 " %12" PRIu64 "  %s\n", sgc_growth_bytes(growth), bytes_before(growth),
           growth->now.bytes, growth->fresh.objects, sgc_views_quoted(growth->name, shown));
    print_roots(v, growth);
}

/* The groups that have grown come first, and have holders. */
static uint32_t grown(const struct sgc_comparison *c, const struct sgc_views_settings *s)
{
    uint32_t count = 0;

    while (count < c->count && count < s->top && c->growth[count].held != NULL)
        count++;
    return count;
}

bool sgc_views_print_compare(const struct sgc_view *older, const struct sgc_view *newer, const struct sgc_views_settings *s)
{
    struct sgc_comparison c;
    bool done = sgc_compare(&c, older, newer, s->top);
    uint32_t count = done ? grown(&c, s) : 0;

    if (done)
        print_sums(&c);
    for (uint32_t i = 0; i < count; i++)
        print_growth(newer, &c.growth[i]);
    if (done && count == 0)
        printf("no group has grown\n");
    sgc_comparison_release(&c);
    return done;
}

/* ---- as JSON ---- */

static void write_sum(const char *name, const struct sgc_held_sum *sum)
{
    printf(",\"%s\":{\"bytes\":%" PRIu64 ",\"objects\":%" PRIu64 "}", name, sum->bytes, sum->objects);
}

static void write_roots(const struct sgc_view *v, const struct sgc_growth *growth)
{
    uint32_t written[ROOTS];

    for (int i = 0; i < ROOTS; i++) {
        const struct sgc_held_sum *held;

        written[i] = next_holder(v, growth, written, i);
        if (written[i] == sgc_view_holders(v))
            return;
        held = &growth->held[written[i]];
        sgc_assert(held->first < v->g->objects);
        printf("%s\n {\"root\":", i == 0 ? "" : ",");
        sgc_text_json(stdout, sgc_view_holder_name(v, written[i]));
        printf(",\"bytes\":%" PRIu64 ",\"objects\":%" PRIu64 ",\"first\":\"%#" PRIx64 "\"}", held->bytes, held->objects,
               sgc_graph_address(v->g, held->first));
    }
}

static void write_growth(const struct sgc_view *v, const struct sgc_growth *growth)
{
    printf("\n{\"name\":");
    sgc_text_json(stdout, growth->name);
    printf(",\"grown_by\":%" PRId64 ",\"before\":%" PRIu64 ",\"now\":%" PRIu64 ",\"new_objects\":%" PRIu64 ",\"held_by\":[",
           sgc_growth_bytes(growth), bytes_before(growth), growth->now.bytes, growth->fresh.objects);
    write_roots(v, growth);
    printf("]}");
}

bool sgc_views_write_compare(const struct sgc_view *older, const struct sgc_view *newer, const struct sgc_views_settings *s)
{
    struct sgc_comparison c;
    bool done = sgc_compare(&c, older, newer, s->top);
    uint32_t count = done ? grown(&c, s) : 0;
    struct sums sums;

    if (done) {
        sums = sums_of(&c);
        printf("{\"version\":1,\"process_before\":%" PRIu64 ",\"process\":%" PRIu64, older->g->process, newer->g->process);
        write_sum("before", &sums.before);
        write_sum("now", &sums.now);
        write_sum("new", &sums.fresh);
        write_sum("renamed", &c.renamed);
        printf(",\"groups\":[");
    }
    for (uint32_t i = 0; i < count; i++) {
        printf("%s", i == 0 ? "" : ",");
        write_growth(newer, &c.growth[i]);
    }
    if (done)
        printf("]}\n");
    sgc_comparison_release(&c);
    return done;
}
