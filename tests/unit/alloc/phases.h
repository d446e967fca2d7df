/* SPDX-License-Identifier: MIT */
/*
 * A program in phases: it allocates objects of some sizes, frees all of them, and goes on with other sizes.  No cycle comes.
 */
#ifndef TESTS_UNIT_ALLOC_PHASES_H
#define TESTS_UNIT_ALLOC_PHASES_H

#include "alloc/free.h"
#include "tests/lib/heap.h"

enum { PHASE_OBJECTS = 1 << 18 };

struct phases {
    struct sgc_cache *cache;
    uintptr_t *object;              /* PHASE_OBJECTS */
    bool drops;
    int wrong;
};

TEST_UNUSED static struct phases phases_begin(struct sgc_cache *cache, bool drops)
{
    return (struct phases){ cache, heap_map(PHASE_OBJECTS * sizeof(uintptr_t)), drops, 0 };
}

/* In use by objects, or free with contents. */
TEST_UNUSED static size_t phases_pages(void)
{
    return sgc_pool_heap_bytes() / SGC_PAGE;
}

/* Objects of sizes from `least` to `most`, as many bytes of them as are said; each has its own address in it. */
TEST_UNUSED static size_t phase_allocate(struct phases *p, size_t bytes, size_t least, size_t most)
{
    size_t n = 0, size = least;

    for (size_t got = 0; got < bytes && n < PHASE_OBJECTS; got += size) {
        size = least + n * 48 % (most - least + 1);
        p->object[n] = (uintptr_t)heap_small(p->cache, size, n % 3 == 0 ? SGC_KIND_CONSERVATIVE : SGC_KIND_POINTER_FREE);
        if (p->object[n] == 0)
            tap_bail("the heap of the test is too small");
        *(uintptr_t *)p->object[n] = p->object[n];
        n++;
    }
    return n;
}

/* As a program frees it: where nothing marks, a bin whose list is full is looked through by that. */
TEST_UNUSED static enum sgc_free_result phase_free_one(struct sgc_cache *cache, uintptr_t object)
{
    return SGC_TRACES ? heap_free_local(cache, (void *)object) : sgc_object_free(cache, (void *)object);
}

TEST_UNUSED static void phase_free(struct phases *p, size_t n)
{
    struct sgc_dropped dropped;

    for (size_t i = 0; i < n; i++)
        p->wrong += *(uintptr_t *)p->object[i] != p->object[i];
    if (p->drops) {
        dropped = sgc_drop(p->cache, p->object, n);
        p->wrong += dropped.objects != n;
        return;
    }
    for (size_t i = 0; i < n; i++)
        p->wrong += phase_free_one(p->cache, p->object[i]) != SGC_FREE_DONE;
}

/* One phase. */
TEST_UNUSED static void phase(struct phases *p, size_t bytes, size_t least, size_t most)
{
    phase_free(p, phase_allocate(p, bytes, least, most));
}

#endif
