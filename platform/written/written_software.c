/* SPDX-License-Identifier: MIT */
/*
 * The source of programs that report their own writes: a byte for each OS page, a card, says
 * whether one was reported since the page was armed.
 *
 *   what       written by                      read by     ordering
 *   a card     the collector, arming and       both        release / acquire; between the store
 *              collecting: WATCHED; a                      of WATCHED and the reading of the
 *              reporter that finds it so:                  page lies a barrier of all threads
 *              WRITTEN
 *   bytes      the collector, opening and      reporters   release / acquire
 *              closing
 *   the rest   the collector, opening,         reporters   by `bytes`
 *              before `bytes`
 *
 * A program stores, then reports.  A thread that finds the card WRITTEN leaves it, so that threads
 * which report writes to neighbouring pages do not fight for a line; but then the thread writes
 * nothing that shows that its store has happened.  The barrier does: a thread passes it either
 * after it has read the card, and then the thread that reads the page afterwards sees the store; or
 * before, and then it has read WATCHED.  A report that finds the card WATCHED is ordered by its
 * release.  The model is tests/model/cards.pml.
 *
 * Cards stay in memory when the source is closed, since a thread may be about to write one.
 */
#include <errno.h>

#include "platform/platform.h"
#include "platform/report.h"
#include "platform/written/written.h"

SGC_STATE struct sgc_cards sgc_cards;

static size_t card_count(uintptr_t low, uintptr_t high)
{
    sgc_assert(low <= high && sgc_cards.shift != 0);
    return (high - low) >> sgc_cards.shift;
}

static sgc_a8_t *card_of(uintptr_t page)
{
    sgc_assert(sgc_cards.of != NULL);
    sgc_assert(page >= sgc_aw_load(&sgc_cards.low) && page - sgc_aw_load(&sgc_cards.low) <= sgc_cards.covered);
    return &sgc_cards.of[card_count(sgc_aw_load(&sgc_cards.low), page)];
}

static void set_cards(uintptr_t low, uintptr_t high, enum sgc_card value)
{
    sgc_a8_t *card = card_of(low);

    sgc_assert(low < high && high - sgc_aw_load(&sgc_cards.low) <= sgc_cards.covered);
    sgc_assert(value == SGC_CARD_WRITTEN || value == SGC_CARD_WATCHED);
    for (size_t n = 0, count = card_count(low, high); n < count; n++)
        sgc_a8_store_rel(&card[n], (uint8_t)value);
}

/* ---- opening and closing ---- */

static bool covers(uintptr_t low, uintptr_t high)
{
    return sgc_cards.of != NULL && sgc_aw_load(&sgc_cards.low) == low && sgc_cards.covered == high - low;
}

/* Of another range than the last time only where nobody reports. */
static bool make_cards(uintptr_t low, uintptr_t high)
{
    sgc_assert(sgc_aw_load(&sgc_cards.bytes) == 0);
    if (sgc_cards.of != NULL)
        sgc_mem_release(sgc_cards.of, sgc_cards.covered >> sgc_cards.shift);
    sgc_cards.shift = (uint32_t)__builtin_ctzll(sgc_os_page_size());
    sgc_aw_store(&sgc_cards.low, low);
    sgc_cards.covered = high - low;
    sgc_cards.of = sgc_mem_obtain(card_count(low, high));
    return sgc_cards.of != NULL;
}

static bool software_open(uintptr_t low, uintptr_t high, struct sgc_written_refusal *why)
{
    sgc_assert(low < high && sgc_aw_load(&sgc_cards.bytes) == 0);
    *why = (struct sgc_written_refusal){ "memory for a byte an OS page", ENOMEM };
    if (!covers(low, high) && !make_cards(low, high))
        return false;
    sgc_aw_store_rel(&sgc_cards.bytes, high - low);
    return true;
}

static void software_close(void)
{
    uintptr_t low = sgc_aw_load(&sgc_cards.low), bytes = sgc_aw_load(&sgc_cards.bytes);

    if (bytes == 0)
        return;
    sgc_aw_store_rel(&sgc_cards.bytes, 0);
    if (!sgc_mem_discard(sgc_cards.of, card_count(low, low + bytes)))
        set_cards(low, low + bytes, SGC_CARD_WRITTEN);
}

/* ---- arming and collecting ---- */

static bool software_arm(uintptr_t low, uintptr_t high)
{
    sgc_assert(low < high);
    if (!sgc_written_is_reported())
        return false;
    set_cards(low, high, SGC_CARD_WATCHED);
    return true;
}

static bool software_collect(uintptr_t low, uintptr_t high, bool rearm, uint64_t *written)
{
    size_t count = (high - low) / sgc_os_page_size();
    bool open = sgc_written_is_reported();
    sgc_a8_t *card = open ? card_of(low) : NULL;

    sgc_assert(low <= high && (high - low) % sgc_os_page_size() == 0);
    for (size_t n = 0; n < count; n++) {
        if (open && sgc_a8_load_acq(&card[n]) == SGC_CARD_WATCHED)
            continue;
        sgc_written_set(written, n, n + 1);
        if (open && rearm)
            sgc_a8_store_rel(&card[n], SGC_CARD_WATCHED);
    }
    return open;
}

const struct sgc_written_source sgc_written_software = {
    .name = "software",
    .rearms_running = true,
    .kernel_writes = true,
    .reported = true,
    .open = software_open,
    .close = software_close,
    .arm = software_arm,
    .collect = software_collect,
};

/* ---- reporting ---- */

void sgc_written_report_range(uintptr_t start, size_t bytes)
{
    uintptr_t all = sgc_aw_load_acq(&sgc_cards.bytes), low = sgc_aw_load(&sgc_cards.low), end;

    if (__builtin_add_overflow(start, bytes, &end))
        end = UINTPTR_MAX;
    start = start > low ? start : low;
    end = end < low + all ? end : low + all;
    for (; start < end; start = (start | ((UINT64_C(1) << sgc_cards.shift) - 1)) + 1)
        sgc_written_report((void *)start);
}
