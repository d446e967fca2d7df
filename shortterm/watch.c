/* SPDX-License-Identifier: MIT */
/* Pages in which GC_free asks for dates: shortterm/watch.h. */
#include "shortterm/watch.h"

#include "gc/threads/gc_lock.h"
#include "shortterm/dates/counts.h"
#include "shortterm/holds.h"
#include "shortterm/settings.h"

/* Vain questions: a look at a page's 8 KB of numbers is a small part of what these take. */
enum { CHECK_EACH = 64 };

SGC_STATE static sgc_a32_t due, vain;

/* In a section, or world stopped. */
static bool is_watched_in_vain(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];

    sgc_assert(sgc_page_ok(page));
    return sgc_page_state(d) == SGC_PAGE_SMALL && sgc_page_is_watched(d, SGC_WATCH_DATED_HERE) && !sgc_counts_in_page(page);
}

void sgc_watch_in_vain(struct sgc_mutator *self, uint32_t page)
{
    uint32_t count = sgc_a32_load(&vain) + 1;

    sgc_assert(sgc_mutator_mine(self) && sgc_page_ok(page));
    sgc_a32_store(&vain, count);
    if (count % CHECK_EACH != 0)
        return;
    sgc_section_enter(sgc_section_of(self));
    if (is_watched_in_vain(page)) {
        if (sgc_page_owner(page) == self->cache.id)
            sgc_page_unwatch(page, SGC_WATCH_DATED_HERE);
        sgc_a32_store(&due, 1);
    }
    sgc_section_leave(sgc_section_of(self));
}

/* Holds are not counted where dates are not. */
static void watch_held(void *unused, struct sgc_range range)
{
    (void)unused;
    sgc_assert(sgc_heap_contains(*(const uintptr_t *)range.lo));
    sgc_page_watch(sgc_page_number(*(const uintptr_t *)range.lo), SGC_WATCH_DATED);
}

void sgc_watch_stopped(void)
{
    uint32_t end = (uint32_t)(sgc_aw_load(&sgc_heap.granules) / SGC_PAGE_GRANULES);

    sgc_assert(sgc_stopped_by_self());
    if (sgc_a32_load(&due) == 0)
        return;
    sgc_a32_store(&due, 0);
    for (uint32_t page = 1; page < end; page++)
        if (is_watched_in_vain(page)) {
            sgc_page_unwatch(page, SGC_WATCH_DATED);
            sgc_page_unwatch(page, SGC_WATCH_DATED_HERE);
        }
    sgc_holds_visit(watch_held, NULL);
}
