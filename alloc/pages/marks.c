/* SPDX-License-Identifier: MIT */
/*
 * The bits of a mark: pages whose marks are to be looked at when it ends, what becomes of them
 * then, and how they are cleared before the next begins.
 *
 *   next          any thread: compare-and-swap gives each arena to one      the same
 *   done          release by each thread that has cleared an arena          acquire by the thread that waits for all
 *   arenas        the collecting thread, world stopped: release, after the  acquire by any thread
 *                 others
 *   ignore_tags   the collecting thread, world stopped                      any thread that has an arena
 */
#include "alloc/pages/marks.h"

#include <limits.h>

#include "alloc/pages/survival.h"
#include "platform/faults.h"
#include "platform/section/section.h"

struct clearing {
    sgc_a32_t next, done, arenas;
    sgc_a32_t ignore_tags;    /* marks were set in this epoch, in swept pages too */
};

SGC_STATE static struct clearing clearing;

/* ---- while a mark goes on ---- */

/* Mostly it is noted already, and then its word is not written: other threads have pages of the
 * arena, too. */
void sgc_marks_note(uint32_t page)
{
    sgc_aw_t *noted = &sgc_arena_of_page(page)->noted;
    uintptr_t bit = sgc_arena_bit(page);

    sgc_assert(sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL);
    if ((sgc_aw_load(noted) & bit) == 0 && !sgc_fault(SGC_FAULT_NOTE_FORGOTTEN))
        sgc_aw_or(noted, bit);
}

/* ---- the flip ---- */

void sgc_heap_flip(void)
{
    sgc_assert(sgc_alloc_words == &sgc_heap.bits[sgc_heap.alloc_role]);
    sgc_assert(!sgc_heap_is_marking());
    sgc_survival_keep();
    sgc_heap.alloc_role ^= 1;
    sgc_alloc_words = &sgc_heap.bits[sgc_heap.alloc_role];
    sgc_heap.epoch++;
    sgc_survival_flipped();
}

/* ---- clearing ---- */

static void clear(uint32_t page, uint32_t role)
{
    size_t word = (size_t)page * SGC_PAGE_WORDS;

    sgc_assert(sgc_page_ok(page) && !sgc_heap_is_marking());
    for (size_t w = word; w < word + SGC_PAGE_WORDS; w++)
        sgc_aw_store(sgc_bits_word(w, role), 0);
}

void sgc_page_clear_marks(uint32_t page)
{
    clear(page, sgc_mark_role());
}

static void begin(bool ignore_tags)
{
    uint32_t arenas = (uint32_t)(sgc_aw_load(&sgc_heap.limit) / SGC_ARENA);

    sgc_assert(!sgc_heap_is_marking());
    sgc_a32_store(&clearing.next, 0);
    sgc_a32_store(&clearing.done, 0);
    sgc_a32_store(&clearing.ignore_tags, ignore_tags);
    sgc_a32_store_rel(&clearing.arenas, arenas);
}

void sgc_clear_begin(void)
{
    begin(false);
}

/* Between cycles nobody reads these bits, so they may be cleared once more. */
void sgc_clear_again(void)
{
    begin(true);
}

/* A page that is set up or swept meanwhile clears its own bits, which its tag says, and one that is
 * taken down clears all of them, so neither such a page nor a free one need be touched. */
static bool is_to_be_cleared(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];

    return sgc_page_state(d) == SGC_PAGE_SMALL &&
           (sgc_a32_load(&clearing.ignore_tags) != 0 || sgc_tag_epoch(sgc_aw_load_acq(&d->tag)) != sgc_heap.epoch);
}

static void clear_page(uint32_t page)
{
    if (!is_to_be_cleared(page))
        return;
    sgc_page_clear_marks(page);
    if (sgc_fault(SGC_FAULT_CLEARED_UNSWEPT))
        clear(page, sgc_heap.alloc_role);
}

static void clear_arena(uint32_t arena)
{
    sgc_assert(arena < sgc_heap.reserved / SGC_ARENA && !sgc_heap_is_marking());
    sgc_aw_store(sgc_span_word(arena * SGC_ARENA_PAGES, sgc_mark_role()), 0);
    for (uint32_t i = 0; i < SGC_ARENA_PAGES; i++)
        clear_page(arena * SGC_ARENA_PAGES + i);
}

/* A thread that reads the number of arenas, and comes late, after another clearing has begun, takes
 * an arena of that: it has as many, at least. */
static bool take_arena(uint32_t *arena)
{
    uint32_t all = sgc_a32_load_acq(&clearing.arenas);

    do {
        *arena = sgc_a32_load(&clearing.next);
        if (*arena >= all)
            return false;
        sgc_test_point();
    } while (!sgc_a32_cas(&clearing.next, *arena, *arena + 1));
    return true;
}

/* Until an arena that was taken is done there is no other beginning. */
bool sgc_clear_some(uint32_t arenas)
{
    uint32_t arena;

    for (; arenas > 0; arenas--) {
        if (!take_arena(&arena))
            return false;
        clear_arena(arena);
        if (sgc_a32_add(&clearing.done, 1) + 1 == sgc_a32_load(&clearing.arenas))
            sgc_wake(&clearing.done, INT_MAX);
    }
    return true;
}

/* A thread that waits without the GC lock may sleep over a whole cycle, and then wait for the
 * clearing that this cycle has begun. */
void sgc_clear_finish(void)
{
    uint32_t done;

    for (;;) {
        while (sgc_clear_some(UINT32_MAX))
            continue;
        done = sgc_a32_load_acq(&clearing.done);
        if (done >= sgc_a32_load_acq(&clearing.arenas))
            return;
        sgc_wait(&clearing.done, done, 1000000);
    }
}
