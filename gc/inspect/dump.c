/* SPDX-License-Identifier: MIT */
/*
 * Dumps of the heap for people.  With the world stopped, so that pages stand still; lines are
 * written by raw system calls.
 */
#include "gc/api/api.h"

#include "alloc/pages/pool.h"
#include "alloc/large/span.h"
#include "gc/collect/collect.h"
#include "gc/pacing/heap_size.h"
#include "gc/pacing/counts.h"
#include "gc/roots/roots.h"

static const char *name_of(uint32_t kind)
{
    static const char *const name[SGC_KINDS_BUILT_IN] = {
        "pointer-free", "conservative", "uncollectable", "pointer-free uncollectable",
    };

    sgc_assert(kind < sgc_kind_count());
    return kind < SGC_KINDS_BUILT_IN ? name[kind] : "of the program's kinds";
}

/* ---- the parts of a dump: world stopped ---- */

static void dump_heap(const char *name)
{
    sgc_assert(sgc_stopped_by_self());
    sgc_print("dump %s: heap %zu bytes of %zu committed, %zu live after the last collection, %zu allocated and %zu "
            "freed since; %lu collections", name, sgc_heap_size(), sgc_heap_committed(), sgc_counts_live(),
            sgc_counts_allocated_since(), sgc_counts_freed_since(), (unsigned long)sgc_cycles_finished());
}

static void dump_threads(void)
{
    sgc_assert(sgc_stopped_by_self());
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        sgc_print("thread %d%s: stack %p to %p, used from %p", m->tid, m->service ? " (SGC's own)" : "",
                (void *)m->stack.low, (void *)m->bottom, (void *)m->sp);
}

struct tally {
    size_t pages, objects;
};

static void tally_page(uint32_t page, uint32_t kind, uint32_t cls, struct tally *t)
{
    const struct sgc_page *d = &sgc_heap.pages[page];

    if (sgc_page_state(d) != SGC_PAGE_SMALL || d->kind != kind || d->cls != cls)
        return;
    sgc_assert(sgc_page_live(page) <= SGC_PAGE / sgc_class_bytes(cls));
    t->pages++;
    t->objects += sgc_page_live(page);
}

static void dump_class(uint32_t kind, uint32_t cls)
{
    uint32_t pages = sgc_pool.committed * SGC_ARENA_PAGES;
    struct tally t = { 0, 0 };

    sgc_assert(cls < sgc_size_classes.count && sgc_stopped_by_self());
    for (uint32_t page = 1; page < pages; page++)
        tally_page(page, kind, cls, &t);
    if (t.pages != 0)
        sgc_print("pages of %u bytes, %s: %zu, with %zu objects", sgc_class_bytes(cls), name_of(kind), t.pages,
                t.objects);
}

static void dump_spans(uint32_t kind)
{
    uint32_t pages = sgc_pool.committed * SGC_ARENA_PAGES;
    size_t count = 0, bytes = 0;

    sgc_assert(kind < sgc_kind_count() && sgc_stopped_by_self());
    for (uint32_t page = 1; page < pages; page++)
        if (sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN && sgc_span_bit(page) && sgc_heap.pages[page].kind == kind) {
            count++;
            bytes += sgc_span_bytes(page);
        }
    if (count != 0)
        sgc_print("spans, %s: %zu, with %zu bytes", name_of(kind), count, bytes);
}

static void dump_pages(void)
{
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++) {
        for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++)
            dump_class(kind, cls);
        dump_spans(kind);
    }
}

static void dump_regions(const char *name)
{
    sgc_assert(sgc_stopped_by_self());
    (void)name;
    for (uint32_t a = 0; a < sgc_pool.committed; a++) {
        const struct sgc_arena *arena = &sgc_heap.arenas[a];

        sgc_assert((arena->dirty & ~arena->free) == 0);         /* only free pages are counted so */
        sgc_print("region %u at %p: %d pages free, %d of them with contents", a,
                (void *)sgc_page_start(a * SGC_ARENA_PAGES), __builtin_popcountll(arena->free),
                __builtin_popcountll(arena->dirty));
    }
}

static void dump_all(const char *name)
{
    dump_heap(name);
    dump_threads();
    sgc_roots_dump();
    dump_pages();
}

/* ---- stopping the world for it ---- */

static void with_world_stopped(void (*dump)(const char *name), const char *name)
{
    struct sgc_mutator *self = sgc_api_self();

    if (self == NULL || !sgc_external_stop(self))
        return;
    sgc_assert(sgc_stopped_by_self());
    dump(name);
    sgc_external_resume(self);
}

void GC_dump_named(const char *name)
{
    char number[24];

    sgc_format(number, sizeof number, "%lu", (unsigned long)sgc_cycles_finished());
    with_world_stopped(dump_all, name != NULL ? name : number);
}

void GC_dump(void)
{
    GC_dump_named(NULL);
}

void GC_dump_regions(void)
{
    with_world_stopped(dump_regions, "");
}
