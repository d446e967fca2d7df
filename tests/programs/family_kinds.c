/* SPDX-License-Identifier: MIT */
/* The gc.h family in a client's program: sizes, kinds by number, uncollectable objects, the heap, roots, hidden pointers.
 * tests/check/check_family runs it on both libraries. */
#include <gc.h>
#include <gc/gc_mark.h>
#include <gc/gc_tiny_fl.h>
#include <gc/gc_version.h>

#include <stdio.h>
#include <stdlib.h>

static int events;

static void GC_CALLBACK count(GC_EventType event)
{
    events += event == GC_EVENT_START || event == GC_EVENT_END;
}

static void *GC_CALLBACK collections(void *unused)
{
    (void)unused;
    return (void *)GC_get_gc_no();
}

int main(void)
{
    GC_hidden_pointer hidden;
    void **outside = (void **)malloc(sizeof(*outside));
    GC_word before;
    size_t bytes = 0;
    void *list;
    int length = 0;

    GC_INIT();
    printf("major version 8: %d\n", (int)(GC_get_version() >> 16) == GC_VERSION_MAJOR);
    GC_add_roots(outside, outside + 1);
    *outside = GC_MALLOC(5000);
    hidden = GC_HIDE_POINTER(*outside);
    before = (GC_word)GC_call_with_alloc_lock(collections, NULL);
    GC_set_on_collection_event(count);
    GC_gcollect();
    GC_set_on_collection_event(NULL);
    printf("collected: %d, events: %d\n", GC_get_gc_no() > before, events);
    printf("held by an added root: %d\n", GC_base(GC_REVEAL_POINTER(hidden)) == *outside);
    printf("kinds: %d", GC_get_kind_and_size(GC_MALLOC(100), &bytes));
    printf(" %d", GC_get_kind_and_size(GC_MALLOC_ATOMIC(100), NULL));
    printf(" %d, large enough: %d\n", GC_get_kind_and_size(GC_MALLOC_UNCOLLECTABLE(100), NULL), bytes >= 100);
    for (list = GC_malloc_many(40); list != NULL && length < 2; list = GC_NEXT(list))
        length++;
    printf("a list of objects: %d\n", length > 0);
    GC_disable();
    printf("disabled: %d\n", GC_is_disabled());
    GC_enable();
    printf("expanded: %d, heap: %d\n", GC_expand_hp(1 << 20), GC_get_heap_size() >= 1 << 20);
    printf("heap pointers: %d %d\n", GC_is_heap_ptr(*outside), GC_is_heap_ptr(outside));
    GC_remove_roots(outside, outside + 1);
    free(outside);
    return 0;
}
