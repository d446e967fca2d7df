/* SPDX-License-Identifier: MIT */
/* See alloc/pages/huge_pages.h. */
#include "alloc/pages/huge_pages.h"

struct huge_pages {
    bool checked;
    size_t page;                /* bytes; 0: none that we could use */
    struct sgc_huge_trials trials;
    sgc_a32_t asked;            /* the system makes huge pages of some of the heap because of us */
};

SGC_STATE static struct huge_pages huge;

static char *arena_start(uint32_t arena)
{
    sgc_assert(arena < sgc_heap.reserved / SGC_ARENA);
    return (char *)sgc_page_start(arena * SGC_ARENA_PAGES);
}

/* The memory is zero before and after. */
static uint64_t touch(char *start, size_t pages)
{
    uint64_t began = sgc_clock_ns();

    sgc_assert(pages != 0);
    for (size_t i = 0; i < pages; i++)
        *(volatile char *)(start + i * sgc_heap.os_page) = 0;
    return sgc_clock_ns() - began;
}

/* Small pages are sampled in the first half of the arena, and as long as huge pages are faster no
 * more: it costs a huge page.  All that is touched is about to be used anyway. */
static bool trial(uint32_t arena)
{
    char *large = arena_start(arena);

    sgc_assert(huge.page != 0 && huge.page <= SGC_ARENA / 2);
    if (!huge.trials.trusted) {
        huge.trials.sample_ns = touch(large, SGC_HUGE_SAMPLE);
        large += SGC_ARENA / 2;
    }
    sgc_mem_use_huge(large, SGC_ARENA / 2, true);
    sgc_huge_page_tried(&huge.trials, arena, touch(large, 1), huge.page, SGC_HUGE_SAMPLE * sgc_heap.os_page);
    if (!huge.trials.trusted)
        sgc_mem_use_huge(large, SGC_ARENA / 2, false);
    return huge.trials.trusted;
}

/* Not before a heap is large enough: most never are, and it takes reading two files. */
static bool available(void)
{
    size_t page;

    if (!huge.checked) {
        page = sgc_mem_huge_page("/sys");
        huge.page = page <= SGC_ARENA / 2 && page > SGC_HUGE_SAMPLE * sgc_heap.os_page ? page : 0;
        huge.checked = true;
    }
    return huge.page != 0;
}

static bool wanted(uint32_t arena)
{
    if (!available())
        return false;
    return sgc_heap.config.huge_pages == SGC_HUGE_ON || (arena >= huge.trials.next && trial(arena));
}

void sgc_huge_pages_grown(uint32_t first, uint32_t count, bool filled)
{
    uint32_t from = first > SGC_HUGE_FROM_ARENA ? first : SGC_HUGE_FROM_ARENA;

    sgc_assert(first + count <= sgc_heap.reserved / SGC_ARENA);
    if (sgc_heap.config.huge_pages == SGC_HUGE_OFF && count != 0)
        sgc_mem_use_huge(arena_start(first), (size_t)count * SGC_ARENA, false);
    if (sgc_heap.config.huge_pages == SGC_HUGE_OFF || !filled || from >= first + count || !wanted(from))
        return;
    sgc_a32_store(&huge.asked, 1);
    sgc_mem_use_huge(arena_start(from), (size_t)(first + count - from) * SGC_ARENA, true);
}

void sgc_huge_pages_given_back(uint32_t arena, bool last)
{
    if (arena >= SGC_HUGE_FROM_ARENA && sgc_a32_load(&huge.asked) != 0)
        sgc_mem_use_huge(arena_start(arena), SGC_ARENA, last);
}
