/* SPDX-License-Identifier: MIT */
/*
 * Why an object is alive (sgc.h).  On any mutator: the search stops the world, the answer is told when it runs again.
 */
#include "gc/api/internal.h"

#include <dlfcn.h>

#include "alloc/pages/heap.h"
#include "gc/collect/cycle.h"
#include "gc/inspect/why_live.h"
#include "gc/threads/world.h"

/* ---- finding ---- */

struct question {
    struct sgc_mutator *self;
    uintptr_t address;
    uintptr_t frame;            /* of the function that the client called */
    struct sgc_way way;
    SGC_held_t held;
};

/* The object is looked up again: it may have been freed before the world stood still. */
static void find(void *raw)
{
    struct question *q = raw;
    struct sgc_object object;

    sgc_assert(sgc_stopped_by_self() && sgc_mutator_mine(q->self));
    q->held = sgc_object_find(q->address, &object) ? sgc_way_find(&q->way, &object, q->self, q->frame) : SGC_HELD_NO_OBJECT;
}

/* sgc_way_release must follow. */
static void ask(struct question *q, const void *address, const void *frame)
{
    *q = (struct question){ .self = sgc_api_self(), .address = (uintptr_t)address, .frame = (uintptr_t)frame,
                            .held = SGC_HELD_UNKNOWN };
    if (q->self == NULL)
        return;
    if (!sgc_heap_contains(q->address))
        q->held = SGC_HELD_NOT_HEAP;
    else
        sgc_external_look(q->self, find, q);
}

static void visit_way(const struct sgc_way *way, SGC_step_proc visit, void *data)
{
    uint32_t at = way->first;

    sgc_assert(sgc_way_ok(way));
    for (uint32_t i = 0; i < way->count; i++, at = way->step[at].next) {
        sgc_assert(at < way->used);
        const struct sgc_way_step *s = &way->step[at];
        struct SGC_step step = { i, (void *)s->object, s->bytes, s->kind, (void *)s->word, s->tid };

        visit(&step, data);
    }
}

SGC_held_t SGC_find_way(const void *address, SGC_step_proc visit, void *data)
{
    struct question q;

    ask(&q, address, __builtin_frame_address(0));
    if (visit != NULL)
        visit_way(&q.way, visit, data);
    sgc_way_release(&q.way);
    return q.held;
}

/* ---- telling ---- */

enum { SHOWN = 20 };            /* steps at each end of a long way */

struct telling {
    SGC_held_t held;
    size_t count;
    uintptr_t before;           /* first address of the object before */
};

/* Not asked with the world stopped: a thread that stands still may have the loader's lock, and one that does not may wait
 * with it until the world runs again. */
static bool ask_loader(const void *word, Dl_info *info)
{
    return !sgc_stopped_by_self() && dladdr(word, info) != 0 && info->dli_fname != NULL;
}

static void print_static(const void *word)
{
    Dl_info info;

    if (!ask_loader(word, &info))
        sgc_print("  static data, at %p", word);
    else if (info.dli_sname == NULL)
        sgc_print("  static data of %s, at %p", info.dli_fname, word);
    else
        sgc_print("  static data of %s, `%s`+%zu, at %p", info.dli_fname, info.dli_sname,
                (size_t)((const char *)word - (const char *)info.dli_saddr), word);
}

static void print_root(SGC_held_t held, const struct SGC_step *step)
{
    sgc_assert(step->number == 0);
    if (held == SGC_HELD_BY_STATIC)
        print_static(step->word);
    else if (held == SGC_HELD_BY_ADDED)
        sgc_print("  a range of GC_add_roots, at %p", step->word);
    else if (held == SGC_HELD_BY_STACK)
        sgc_print("  the stack or a register of thread %ld, at %p", step->thread, step->word);
    else if (held == SGC_HELD_BY_THREAD_LOCAL)
        sgc_print("  a thread-local variable of thread %ld, at %p", step->thread, step->word);
    else if (held == SGC_HELD_BY_UNCOLLECTABLE)
        sgc_print("  an uncollectable object");
    else if (held == SGC_HELD_BY_FINALIZATION)
        sgc_print("  finalization: it waits for its finalizer, or is a finalizer's data, or a strong toggle reference");
    else
        sgc_print("  only the calling thread's own stack, at %p", step->word);
}

static void describe(const struct SGC_step *step, char text[SGC_API_OBJECT_TEXT])
{
    sgc_assert(step->object != NULL && step->bytes != 0);
    if (!sgc_api_describe_object((uintptr_t)step->object, text))
        sgc_format(text, SGC_API_OBJECT_TEXT, "%zu bytes at %p, freed meanwhile", step->bytes, step->object);
}

static void print_step(const struct SGC_step *step, void *data)
{
    struct telling *t = data;
    char text[SGC_API_OBJECT_TEXT];

    sgc_assert(step->number < t->count);
    if (step->number == 0)
        print_root(t->held, step);
    if (step->number < SHOWN || t->count - step->number <= SHOWN) {
        describe(step, text);
        if (step->number == 0)
            sgc_print("  -> %s", text);
        else
            sgc_print("     word at offset %zu of that -> %s", (size_t)((uintptr_t)step->word - t->before), text);
    } else if (step->number == SHOWN) {
        sgc_print("     ... %zu objects more ...", t->count - 2 * SHOWN);
    }
    t->before = (uintptr_t)step->object;
}

static void print_no_way(SGC_held_t held, const void *address)
{
    sgc_assert(held == SGC_HELD_NOT_HEAP || held == SGC_HELD_NO_OBJECT || held == SGC_HELD_BY_NOTHING ||
               held == SGC_HELD_UNKNOWN);
    if (held == SGC_HELD_NOT_HEAP)
        sgc_print("%p is not in the collector's heap", address);
    else if (held == SGC_HELD_NO_OBJECT)
        sgc_print("there is no object at %p: it has been freed or reclaimed, or there never was one", address);
    else if (held == SGC_HELD_BY_NOTHING)
        sgc_print("nothing leads to the object at %p, but perhaps a register of the caller's: a collection reclaims it",
                  address);
    else
        sgc_print("why the object at %p is alive was not found out: no memory for the search, or a thread did not stop",
                address);
}

SGC_held_t SGC_why_live(const void *address)
{
    struct question q;
    struct telling t;

    ask(&q, address, __builtin_frame_address(0));
    t = (struct telling){ .held = q.held, .count = q.way.count };
    if (q.way.count == 0) {
        print_no_way(q.held, address);
    } else {
        sgc_print("the object at %p is alive, %zu objects from a root:", address, t.count);
        visit_way(&q.way, print_step, &t);
    }
    sgc_way_release(&q.way);
    return q.held;
}
