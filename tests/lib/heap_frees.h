/* SPDX-License-Identifier: MIT */
/*
 * What tests expect of a cycle, by frees alone: for tests that are built without what marks, too
 * (SGC_TRACES 0; tests/list.txt, "plain").  Objects are not looked into: those stay that the roots
 * themselves lead to.
 *
 * For moments at which the test's other threads stand still.
 */
#ifndef TESTS_LIB_HEAP_FREES_H
#define TESTS_LIB_HEAP_FREES_H

#include <stdlib.h>

#include "alloc/free.h"
#include "alloc/large/span.h"
#include "alloc/release.h"
#include "alloc/small/orphan.h"
#include "alloc/small/remote_free.h"
#include "alloc/whole_heap.h"
#include "platform/platform.h"
#include "tests/lib/tap.h"

enum { FREES_MAX = 1 << 20 };

/* Addresses; the system's memory, since a test's malloc may be the heap itself. */
struct frees_list {
    uintptr_t *object;
    size_t count;
};

TEST_UNUSED static struct frees_list frees_list(void)
{
    struct frees_list l = { sgc_mem_reserve(FREES_MAX * sizeof(uintptr_t), sgc_os_page_size()), 0 };

    if (l.object == NULL || !sgc_mem_commit(l.object, FREES_MAX * sizeof(uintptr_t)))
        tap_bail("no memory for a list of objects");
    return l;
}

static void frees_add(struct frees_list *l, uintptr_t object)
{
    if (l->count == FREES_MAX)
        tap_bail("more than %d objects", FREES_MAX);
    l->object[l->count++] = object;
}

static int frees_by_address(const void *a, const void *b)
{
    const uintptr_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void frees_note(const struct sgc_object *o, void *list)
{
    frees_add(list, o->start);
}

/* The objects that words lead to, sorted. */
static void frees_find(struct frees_list *l, const uintptr_t *roots, size_t words)
{
    struct sgc_object o;

    for (size_t i = 0; i < words; i++)
        if (sgc_object_find(roots[i], &o))
            frees_add(l, o.start);
    qsort(l->object, l->count, sizeof *l->object, frees_by_address);
}

/* The open cache that owns the object's page, else the calling thread's. */
static struct sgc_cache *frees_owner(uintptr_t object, struct sgc_cache *const *cache, const bool *open, int count)
{
    for (int i = 0; i < count; i++)
        if (open[i] && cache[i]->id == sgc_page_owner(sgc_page_number(object)))
            return cache[i];
    return sgc_self;
}

/* Frees all objects that the roots do not lead to, those of a cache's pages by that cache. */
TEST_UNUSED static void frees_all_but(const void *roots, size_t words, struct sgc_cache *const *cache, const bool *open,
                                      int count)
{
    static struct frees_list all, kept;

    if (all.object == NULL) {
        all = frees_list();
        kept = frees_list();
    }
    all.count = kept.count = 0;
    frees_find(&kept, roots, words);
    sgc_walk_objects(frees_note, &all);
    for (size_t i = 0; i < all.count; i++)
        if (bsearch(&all.object[i], kept.object, kept.count, sizeof *kept.object, frees_by_address) == NULL &&
            sgc_object_free(frees_owner(all.object[i], cache, open, count), (void *)all.object[i]) != SGC_FREE_DONE)
            tap_bail("an object cannot be freed");
}

/* The cache leaves all its free slots to their pages, and the empty ones of these to the pool. */
TEST_UNUSED static void frees_give_up(struct sgc_cache *cache)
{
    bool more;

    do {
        sgc_lock(cache->lock, &cache->section);
        more = sgc_cache_drain(cache);
        sgc_unlock(cache->lock, &cache->section);
    } while (more);
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++)
            sgc_emptied_give_up(cache, kind, cls);
    sgc_span_give_cached(cache->id, &cache->section);
}

#endif
