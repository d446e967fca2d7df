/* SPDX-License-Identifier: MIT */
/* sgc-snapshot why: the way to an object as SGC_why_live prints it, and who leads there, too. */
#include "snapshot/tools/views_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/view/ways.h"

enum { SHOWN = 20 };                    /* steps at each end of a long way */
enum { ROOTS = 10, CALLS = 8 };         /* that are named, at most */

/* ---- the way ---- */

/* In the words of the headline; of a variable: which word of it. */
static void print_root(const struct sgc_view *v, struct sgc_namer *namer, uint64_t root)
{
    static const char *const others[SGC_GRAPH_ROOTS] = {
        [SGC_GRAPH_UNCOLLECTABLE] = "an uncollectable object",
        [SGC_GRAPH_FINALIZATION] = "finalization: it waits for its finalizer, or is a finalizer's data, or a strong toggle "
                                   "reference",
        [SGC_GRAPH_HOOK] = "a hook of the program's, which has pushed or marked it",
        [SGC_GRAPH_PROCEDURE] = "a mark procedure, which has found it in memory that is no object's",
        [SGC_GRAPH_FINALIZER] = "only its own finalizer, for the one collection",
        [SGC_GRAPH_DISCLAIM] = "only the disclaim procedure of its kind, for the one collection",
    };
    const struct sgc_graph_root_word *word = &v->g->root[root];
    const struct sgc_graph_range *range = &v->g->range[word->range];
    uint32_t number = v->roots.of[root];
    const char *name = others[range->root];
    char text[SGC_NAMER_TEXT], shown[SGC_VIEWS_NAME];

    sgc_assert(root < v->g->roots && range->root < SGC_GRAPH_ROOTS);
    if (v->roots.named[number])
        name = sgc_namer_root_word(namer, root, text);
    else if (name == NULL)
        name = v->roots.name[number];
    printf("  %s", sgc_views_quoted(name, shown));
    if (range->lo != 0)
        printf(", at %#" PRIx64, range->lo + word->word * v->g->geometry.word);
    printf("\n");
}

static void print_object(const struct sgc_view *v, uint32_t object)
{
    char shown[SGC_VIEWS_NAME];

    sgc_assert(v->groups.of[object] < v->groups.count);
    printf("%" PRIu64 " bytes at %#" PRIx64, sgc_graph_bytes(v->g, object), sgc_graph_address(v->g, object));
    if (v->groups.named[v->groups.of[object]])
        printf(": %s", sgc_views_quoted(v->groups.name[v->groups.of[object]], shown));
    printf("\n");
}

static void print_step(const struct sgc_view *v, const struct sgc_way *way, uint32_t i)
{
    uint32_t word = i == 0 ? 0 : sgc_way_word(way, v->g, i);

    sgc_assert(i < way->count);
    if (i == 0)
        printf("  -> ");
    else if (word == SGC_GRAPH_NO_WORD)
        printf("     a mark procedure for that -> ");
    else
        printf("     word at offset %" PRIu64 " of that -> ", (uint64_t)word * v->g->geometry.word);
    print_object(v, way->object[i]);
}

static void print_way(const struct sgc_view *v, struct sgc_namer *namer, const struct sgc_way *way)
{
    sgc_assert(way->count != 0);
    print_root(v, namer, way->root);
    for (uint32_t i = 0; i < way->count; i++) {
        if (i < SHOWN || way->count - i <= SHOWN)
            print_step(v, way, i);
        else if (i == SHOWN)
            printf("     ... %" PRIu32 " objects more ...\n", way->count - 2 * SHOWN);
    }
}

/* ---- other roots ---- */

static bool print_others(const struct sgc_view *v, const uint64_t *wanted, uint64_t first)
{
    uint32_t own = v->roots.of[first], others = 0, shown = 0;
    bool *leads = calloc((size_t)v->roots.count + 1, sizeof *leads);
    bool done = leads != NULL && sgc_ways_roots(v->g, &v->roots, wanted, own >= v->roots.begin[SGC_ROOTS_LATE], leads);
    char name[SGC_VIEWS_NAME];

    for (uint32_t i = 0; done && i < v->roots.count; i++)
        others += leads[i] && i != own;
    if (done && others == 0)
        printf("no other root leads there\n");
    else if (done)
        printf("%" PRIu32 " other root%s there, too:\n", others, others == 1 ? " leads" : "s lead");
    for (uint32_t i = 0; done && i < v->roots.count && shown <= ROOTS; i++)
        if (leads[i] && i != own && shown++ < ROOTS)
            printf("  %s\n", sgc_views_quoted(v->roots.name[i], name));
    if (done && others > ROOTS)
        printf("  ... and %" PRIu32 " more\n", others - ROOTS);
    free(leads);
    return done;
}

/* If that is known. */
static void print_calls(struct sgc_namer *namer, uint32_t object)
{
    char text[SGC_NAMER_TEXT], shown[SGC_VIEWS_NAME];

    for (uint32_t i = 0; i < CALLS && sgc_namer_call(namer, object, i, text); i++)
        printf("%s  %s\n", i == 0 ? "it was allocated by\n" : "", sgc_views_quoted(text, shown));
}

/* The way to one of the objects that are wanted. */
static bool print_answer(const struct sgc_view *v, struct sgc_namer *namer, const uint64_t *wanted, const char *asked)
{
    struct sgc_way way;
    bool done = sgc_way_find(&way, v->g, wanted);
    uint32_t last = way.count > 0 ? way.object[way.count - 1] : 0;

    if (done && way.count == 0) {
        printf("nothing leads to the object at %s: the collection reclaims it\n", asked);
    } else if (done) {
        if (asked == NULL)
            printf("the nearest one, at %#" PRIx64 ", is alive", sgc_graph_address(v->g, last));
        else
            printf("the object at %s is alive", asked);
        printf(", %" PRIu32 " objects from a root:\n", way.count);
        print_way(v, namer, &way);
        printf("it retains %" PRIu64 " bytes in %" PRIu32 " objects\n", v->d.retained[last], v->d.count[last]);
        done = print_others(v, wanted, way.root);
        print_calls(namer, last);
    }
    sgc_way_release(&way);
    return done;
}

static uint64_t *no_objects(const struct sgc_view *v)
{
    return calloc((size_t)v->g->objects / 64 + 1, sizeof(uint64_t));
}

enum sgc_views_result sgc_views_print_why(const struct sgc_view *v, struct sgc_namer *namer, const char *text,
                                          uint64_t address)
{
    uint64_t offset = address - v->g->geometry.base, *wanted = no_objects(v);
    enum sgc_views_result result = SGC_VIEWS_NO_MEMORY;
    uint32_t object;

    if (wanted == NULL)
        return result;
    object = sgc_graph_object_at(v->g, offset);
    if (offset >= v->g->geometry.limit)
        result = SGC_VIEWS_NOT_HEAP;
    else if (object == SGC_GRAPH_NONE)
        result = SGC_VIEWS_NO_OBJECT;
    else {
        sgc_assert(object < v->g->objects);
        wanted[object / 64] |= UINT64_C(1) << object % 64;
        result = print_answer(v, namer, wanted, text) ? SGC_VIEWS_DONE : SGC_VIEWS_NO_MEMORY;
    }
    free(wanted);
    return result;
}

/* ---- groups ---- */

/* The holder of the larger part of the group. */
static uint32_t main_holder(const struct sgc_view *v, uint32_t group, struct sgc_held_sum *sum)
{
    struct sgc_held_sum *held = calloc((size_t)sgc_view_holders(v) + 1, sizeof *held);
    uint32_t *row = malloc(((size_t)v->groups.count + 1) * sizeof *row), found = 0;

    sgc_assert(group < v->groups.count);
    *sum = (struct sgc_held_sum){ 0 };
    if (held != NULL && row != NULL) {
        memset(row, 0xff, ((size_t)v->groups.count + 1) * sizeof *row);
        row[group] = 0;
        sgc_view_held(v, NULL, row, held);
        for (uint32_t i = 1; i < sgc_view_holders(v); i++)
            found = held[i].bytes > held[found].bytes ? i : found;
        *sum = held[found];
    }
    free(held);
    free(row);
    return found;
}

/* The objects of the group which that holder has. */
static void want(const struct sgc_view *v, uint32_t group, uint32_t holder, uint64_t *wanted)
{
    const struct sgc_dominators *d = &v->d;
    uint32_t objects = v->g->objects, now = 0;

    for (uint32_t top = d->child[sgc_dominators_top(d)]; top != SGC_GRAPH_NONE; top = d->sibling[top]) {
        now = sgc_view_holder(v, top, now);
        if (now != holder)
            continue;
        for (uint32_t at = top; at != SGC_GRAPH_NONE; at = sgc_dominators_next(d, at, top, true))
            if (at < objects && v->groups.of[at] == group)
                wanted[at / 64] |= UINT64_C(1) << at % 64;
    }
}

static bool print_group(const struct sgc_view *v, struct sgc_namer *namer, uint32_t group)
{
    uint64_t *wanted = no_objects(v);
    struct sgc_held_sum sum;
    uint32_t holder = main_holder(v, group, &sum);
    bool done = wanted != NULL && sum.objects != 0;
    char shown[SGC_VIEWS_NAME];

    sgc_assert(group < v->groups.count);
    if (done) {
        want(v, group, holder, wanted);
        printf("%s: %" PRIu64 " objects, %" PRIu64 " bytes are kept by ", sgc_views_quoted(v->groups.name[group], shown),
               sum.objects, sum.bytes);
        printf("%s\n", sgc_views_quoted(sgc_view_holder_name(v, holder), shown));
        done = print_answer(v, namer, wanted, NULL);
    }
    free(wanted);
    return done;
}

static bool is_called(const struct sgc_view *v, uint32_t group, const char *name)
{
    char shown[SGC_VIEWS_NAME];

    sgc_assert(group < v->groups.count);
    return strcmp(v->groups.name[group], name) == 0 || strcmp(sgc_views_quoted(v->groups.name[group], shown), name) == 0;
}

/* Of several groups of that name one that can be reached. */
enum sgc_views_result sgc_views_print_why_type(const struct sgc_view *v, struct sgc_namer *namer, const char *name)
{
    struct sgc_group_sum *sum = sgc_view_sums(v);
    enum sgc_views_result result = sum == NULL ? SGC_VIEWS_NO_MEMORY : SGC_VIEWS_NO_GROUP;

    for (uint32_t i = 0; sum != NULL && i < v->groups.count && result != SGC_VIEWS_DONE; i++) {
        if (!is_called(v, i, name))
            continue;
        result = SGC_VIEWS_NOT_REACHED;
        if (sum[i].objects != 0) {
            result = print_group(v, namer, i) ? SGC_VIEWS_DONE : SGC_VIEWS_NO_MEMORY;
            break;
        }
    }
    free(sum);
    return result;
}
