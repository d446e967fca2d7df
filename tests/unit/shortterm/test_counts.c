/* SPDX-License-Identifier: MIT */
/*
 * shortterm/dates/counts.c: the table of numbers of dates: its memory, what words of dates have to say, and counting anew.
 */
#include "shortterm/dates/counts.h"

#include "tests/lib/child.h"
#include "tests/lib/heap.h"
#include "tests/lib/refuse.h"

enum { ARENA_GRANULES = SGC_ARENA / SGC_GRANULE };

static size_t a_granule;

/* ---- memory ---- */

static int address_space_refused(void)
{
    if (!refuse_call(SYS_mmap))
        return CHILD_SKIPS;
    return !sgc_counts_init() && sgc_counts.of == NULL && sgc_counts_of(a_granule) == 0 ? 0 : 1;
}

static int memory_refused(void)
{
    if (!refuse_call(SYS_mprotect))
        return CHILD_SKIPS;
    return !sgc_counts_prepare(a_granule) && !sgc_counts_ready(a_granule) && sgc_counts_of(a_granule) == 0 ? 0 : 1;
}

static void check_memory(void)
{
    size_t bytes = sgc_heap.reserved >> SGC_GRANULE_LOG << 1;

    tap_ok(sgc_counts_of(a_granule) == 0, "without a table there are no dates");
    child_ok(address_space_refused, "a refused table leaves nothing behind");
    tap_ok(sgc_counts_init(), "a table is reserved");
    child_ok(memory_refused, "an arena that is refused is not ready");
    tap_ok(!sgc_counts_ready(a_granule) && sgc_counts_of(a_granule) == 0, "no arena is ready before it is asked for");
    tap_ok(sgc_mem_resident(sgc_counts.of, bytes) == 0, "or has memory");
    tap_ok(sgc_counts_prepare(a_granule) && sgc_counts_ready(a_granule) && !sgc_counts_ready(a_granule + ARENA_GRANULES),
           "then its part is, and no other");
    sgc_counts_add(a_granule, true);
    tap_ok(sgc_counts_prepare(a_granule) && sgc_counts_of(a_granule) == 1, "and stays when it is asked for again");
    sgc_counts_take(a_granule, false);
}

static void check_bounds(void)
{
    size_t last = (sgc_heap.reserved >> SGC_GRANULE_LOG) - 1, edge = ARENA_GRANULES;

    tap_ok(sgc_counts_prepare(last) && sgc_counts_add(last, true) == 0 && sgc_counts_of(last) == 1, "the heap's last granule");
    tap_ok(sgc_counts_prepare(edge) && sgc_counts_add(edge, true) == 0 && sgc_counts_add(edge - 1, true) == 0 &&
           sgc_counts_of(edge) == 1 && sgc_counts_of(edge - 1) == 1 && sgc_counts_of(edge + 1) == 0,
           "both sides of an arena's edge");
    tap_ok(sgc_counts_take(last, false) && sgc_counts_take(edge, false) && sgc_counts_take(edge - 1, false),
           "have a last date each");
}

/* ---- dates ---- */

static void check_words(void)
{
    uintptr_t own = sgc_counts_add(a_granule, true), other = sgc_counts_add(a_granule, false);

    tap_ok(own == 0 && other == SGC_DATE_OTHER && sgc_counts_of(a_granule) == 2, "the word says which side a date is of");
    tap_ok(!sgc_counts_take(a_granule, true) && sgc_counts_take(a_granule, false), "and so does who takes it off");
    sgc_counts_add(a_granule, true);
    sgc_counts_set_freeable(a_granule);
    tap_ok(sgc_counts_of(a_granule) == 1 && sgc_counts_take(a_granule, false) && sgc_counts_freeable(a_granule),
           "that an object may be freed is known after its last date");
    sgc_counts_free(a_granule);
    tap_ok(!sgc_counts_freeable(a_granule), "and no longer when it is freed");
}

static size_t gone_granule;

static bool is_gone(size_t granule)
{
    return granule == gone_granule;
}

static void check_again(void)
{
    size_t much = a_granule + 5, high = a_granule + 6, expired = a_granule + 7;

    for (int i = 0; i < 2 * SGC_COUNT_STUCK - 2; i++)
        sgc_counts_add(much, i % 2 == 0);
    sgc_counts_take(much, false);
    sgc_counts_take(much, true);
    tap_ok(!sgc_counts_doubted(), "numbers that go down are not doubted");
    for (int other = 0; other < 2; other++) {
        sgc_counts_wipe(false);
        for (int i = 0; i < SGC_COUNT_STUCK; i++)
            sgc_counts_add(much, other == 0);
        sgc_counts_take(much, other != 0);
        tap_ok(sgc_counts_doubted() && sgc_counts_of(much) == SGC_COUNT_STUCK, "one that is stuck is: %s",
               other ? "others'" : "own");
    }
    sgc_counts_add(high, true);
    sgc_counts_set_freeable(high);
    sgc_counts_note_expired(expired, true);
    sgc_counts_wipe(true);
    tap_ok(sgc_counts_of(much) == 0 && sgc_counts_of(high) == 0 && !sgc_counts_doubted(), "all begin at 0 again");
    tap_ok(sgc_counts_expired(expired), "that an object has expired is still known");
    sgc_counts_wipe(false);
    sgc_counts_add(much, false);
    sgc_counts_add(high, true);
    tap_ok(sgc_counts_take(much, true) && sgc_counts_take(high, false), "they are what is added then");
    tap_ok(!sgc_counts_freeable(high), "that one may be freed is not known any more: another may lie there");
}

static void check_forget(void)
{
    size_t kept = a_granule + 5, forgotten = a_granule + 6;

    sgc_counts_set_freeable(kept);
    sgc_counts_set_freeable(forgotten);
    sgc_counts_keep();
    gone_granule = forgotten;
    sgc_counts_forget_gone(is_gone);
    tap_ok(sgc_counts_freeable(kept) && !sgc_counts_freeable(forgotten),
           "what may be freed is still known, but of objects that are gone");
    gone_granule = kept;
    sgc_counts_forget_gone(is_gone);
    tap_ok(!sgc_counts_freeable(kept), "and of what goes later, it is known until then");
}

int main(void)
{
    tap_plan(24);
    heap_start((size_t)64 << 20, 0, false);
    a_granule = sgc_granule_number((uintptr_t)heap_alloc(sgc_self, 64, SGC_KIND_CONSERVATIVE));
    return tap_all(check_memory, check_bounds, check_words, check_again, check_forget);
}
