/* SPDX-License-Identifier: MIT */
/* The numbers of dates of all objects: shortterm/dates/counts.h. */
#include "shortterm/dates/counts.h"

#include "platform/platform.h"

SGC_STATE struct sgc_counts sgc_counts;

enum {
    ARENA_COUNTS = 1 << SGC_ARENA_GRANULES_LOG,
    ARENA_COUNT_BYTES = ARENA_COUNTS * (int)sizeof(struct sgc_count),
    WORD_COUNTS = sizeof(sgc_aw_t) / sizeof(struct sgc_count),
};

/* ---- memory ---- */

static size_t arenas(void)
{
    return sgc_heap.reserved / SGC_ARENA;
}

static struct sgc_count *counts_of_arena(size_t arena)
{
    sgc_assert(sgc_counts.of != NULL && arena < arenas());
    return &sgc_counts.of[arena << SGC_ARENA_GRANULES_LOG];
}

bool sgc_counts_init(void)
{
    size_t bytes = arenas() * ARENA_COUNT_BYTES;
    void *of = sgc_mem_reserve(bytes, sgc_heap.os_page), *ready;

    sgc_assert(sgc_counts.of == NULL && bytes % sgc_heap.os_page == 0);
    if (of == NULL)
        return false;
    ready = sgc_mem_obtain(arenas() * sizeof(sgc_a8_t));
    if (ready == NULL) {
        sgc_mem_release(of, bytes);
        return false;
    }
    sgc_counts.ready = ready;
    sgc_counts.of = of;
    return true;
}

/* Several threads may do so at a time: each leaves what is there. */
bool sgc_counts_prepare(size_t granule)
{
    size_t arena = granule >> SGC_ARENA_GRANULES_LOG;

    if (sgc_counts_ready(granule))
        return true;
    if (!sgc_mem_commit(counts_of_arena(arena), ARENA_COUNT_BYTES))
        return false;
    sgc_a8_store_rel(&sgc_counts.ready[arena], 1);
    return true;
}

int sgc_counts_of(size_t granule)
{
    if (sgc_counts.of == NULL || !sgc_counts_ready(granule))
        return 0;
    return sgc_count_dates(&sgc_counts.of[granule]);
}

bool sgc_counts_in_page(uint32_t page)
{
    const struct sgc_count *count = &sgc_counts.of[(size_t)page * SGC_PAGE_GRANULES];

    sgc_assert(sgc_page_ok(page));
    if (sgc_counts.of == NULL || !sgc_counts_ready((size_t)page * SGC_PAGE_GRANULES))
        return false;
    for (size_t i = 0; i < SGC_PAGE_GRANULES; i += WORD_COUNTS)
        if (sgc_aw_load((const sgc_aw_t *)(const void *)&count[i]) != 0)
            return true;
    return false;
}

/* ---- counting anew ---- */

/* Calls fn for all that have ever been used, four at a time if these have not. */
static void each_count(void (*fn)(struct sgc_count *count))
{
    for (size_t arena = 0; arena < arenas(); arena++) {
        struct sgc_count *count = counts_of_arena(arena), *end = count + ARENA_COUNTS;

        if (sgc_a8_load_acq(&sgc_counts.ready[arena]) == 0)
            continue;
        for (; count < end; count += WORD_COUNTS)
            if (sgc_aw_load((sgc_aw_t *)(void *)count) != 0)
                for (size_t i = 0; i < WORD_COUNTS; i++)
                    fn(&count[i]);
    }
}

static void wipe(struct sgc_count *count)
{
    sgc_a8_store(&count->own, 0);
    sgc_a8_store(&count->others, 0);
}

static void wipe_numbers(struct sgc_count *count)
{
    sgc_a8_store(&count->own, sgc_a8_load(&count->own) & SGC_COUNT_EXPIRED);
    sgc_a8_store(&count->others, 0);
}

void sgc_counts_wipe(bool expired)
{
    sgc_assert(sgc_counts.of != NULL);
    sgc_a32_store(&sgc_counts.doubt, 0);
    each_count(expired ? wipe_numbers : wipe);
}

/* The is_gone of sgc_counts_forget_gone, for forget_gone.  The world is stopped, so no other thread
 * sets `kept` meanwhile. */
SGC_STATE static bool (*gone)(size_t granule);

static void forget_gone(struct sgc_count *count)
{
    if (sgc_a8_load(&count->own) != SGC_COUNT_FREEABLE || sgc_a8_load(&count->others) != 0)
        return;
    if (gone((size_t)(count - sgc_counts.of)))
        sgc_a8_store(&count->own, 0);
    else
        sgc_counts_keep();
}

void sgc_counts_forget_gone(bool (*is_gone)(size_t granule))
{
    sgc_assert(sgc_counts.of != NULL && is_gone != NULL);
    if (sgc_a32_load(&sgc_counts.kept) == 0)
        return;
    sgc_a32_store(&sgc_counts.kept, 0);
    gone = is_gone;
    each_count(forget_gone);
}
