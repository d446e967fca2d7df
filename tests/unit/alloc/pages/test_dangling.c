/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/dangling.c: granules that are noted while a mark goes on beside the program, and objects that are freed then.
 */
#include "alloc/pages/dangling.h"

#include <gc/gc.h>

#include "tests/lib/child.h"
#include "tests/lib/white.h"

enum { SMALL_BYTES = 48, SPAN_BYTES = 200000 };

static void test_granules(uintptr_t start)
{
    sgc_dangling_end();
    sgc_dangling_note(sgc_granule_number(start));
    tap_ok(sgc_dangling_begin() && !sgc_dangling_any(start, SPAN_BYTES), "nothing is noted at first");
    sgc_dangling_note(sgc_granule_number(start + 1000 * SGC_GRANULE));
    tap_ok(sgc_dangling_any(start, SPAN_BYTES) && sgc_dangling_any(start + 1000 * SGC_GRANULE, 1),
           "a granule that was noted is found");
    tap_ok(!sgc_dangling_any(start, 1000 * SGC_GRANULE) && !sgc_dangling_any(start + 1001 * SGC_GRANULE, SGC_GRANULE),
           "its neighbours are not");
    sgc_dangling_note(sgc_aw_load(&sgc_heap.granules) + 1000000);
    tap_ok(sgc_dangling_begin() && !sgc_dangling_any(start, SPAN_BYTES),
           "a new beginning forgets it; what lies beyond the heap is no matter");
}

/* As the mark of a concurrent cycle has it. */
static bool freed_is_noted(size_t bytes, bool marking)
{
    uintptr_t object = (uintptr_t)GC_malloc(bytes);
    bool found;

    sgc_dangling_begin();
    sgc_a32_store(&sgc_heap.marking, marking);
    sgc_cache_set_tag(sgc_self, sgc_self->tag);
    GC_free((void *)object);
    found = sgc_dangling_any(object, 1);
    sgc_a32_store(&sgc_heap.marking, false);
    sgc_cache_set_tag(sgc_self, sgc_self->tag);
    return found;
}

int main(void)
{
    setenv("SGC_BACKGROUND_THREAD", "off", 1);
    white_init();
    test_granules((uintptr_t)GC_malloc(SPAN_BYTES));
    tap_ok(freed_is_noted(SMALL_BYTES, true), "an object that is freed beside a mark is noted");
    tap_ok(freed_is_noted(SPAN_BYTES, true), "and a large one");
    tap_ok(!freed_is_noted(SMALL_BYTES, false) && !freed_is_noted(SPAN_BYTES, false), "at other times they are not");
    return tap_done();
}
