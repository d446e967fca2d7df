/* SPDX-License-Identifier: MIT */
/* See platform/written/protected_pages.h. */
#include "platform/written/protected_pages.h"

#include <sys/mman.h>

#include "platform/syscall_linux.h"

enum { WORD = 64, COARSE = 64 };                /* OS pages */

SGC_STATE struct sgc_protected sgc_protected;

/* ---- pages, with the lock ---- */

static void set_bits(uint64_t *bits, uintptr_t from, uintptr_t to, bool on)
{
    sgc_assert(bits != NULL && sgc_lock_taken(sgc_protected.lock));
    sgc_assert(from <= to && to <= sgc_protected.pages);
    for (uintptr_t page = from; page < to; page++)
        if (on)
            bits[page / WORD] |= UINT64_C(1) << page % WORD;
        else
            bits[page / WORD] &= ~(UINT64_C(1) << page % WORD);
    if (on && to > sgc_protected.top)
        sgc_protected.top = to;
}

void sgc_protected_set_watched(uintptr_t from, uintptr_t to)
{
    set_bits(sgc_protected.watched, from, to, true);
}

void sgc_protected_set_kept(uintptr_t from, uintptr_t to, bool on)
{
    set_bits(sgc_protected.kept, from, to, on);
}

static bool change(uintptr_t from, uintptr_t to, int access)
{
    size_t bytes = sgc_os_page_size();

    sgc_assert(sgc_lock_taken(sgc_protected.lock) && from < to && to <= sgc_protected.pages);
    return sgc_syscall(SYS_mprotect, (long)(sgc_protected.low + from * bytes), (long)((to - from) * bytes), access, 0) == 0;
}

bool sgc_protected_open_range(uintptr_t from, uintptr_t to)
{
    if (!change(from, to, PROT_READ | PROT_WRITE))
        return false;
    sgc_protected.opened += to - from;
    set_bits(sgc_protected.watched, from, to, false);
    return true;
}

/* Opens the page, and with it watched neighbours up to `max` on each side. */
static bool open_run(uintptr_t page, uintptr_t max)
{
    uintptr_t from = page, to = page + 1;

    sgc_assert(page < sgc_protected.pages);
    while (from > 0 && page - from < max && sgc_protected_watched(from - 1))
        from--;
    while (to - page <= max && sgc_protected_watched(to))
        to++;
    return sgc_protected_open_range(from, to);
}

/* A call splits a mapping; where the process comes near the number that it may have, fewer and
 * larger ones do.  All neighbours together are a whole mapping, which splits nothing. */
bool sgc_protected_open(uintptr_t page)
{
    uintptr_t max = sgc_protected.opened < sgc_protected.maps_max / 8 ? 0 : COARSE;

    sgc_assert(sgc_protected_watched(page));
    return open_run(page, max) || open_run(page, sgc_protected.pages);
}

/* False: the system refuses, and what is still protected counts as written. */
bool sgc_protected_open_watched(uintptr_t from, uintptr_t to)
{
    sgc_assert(from <= to && to <= sgc_protected.pages);
    for (uintptr_t page = from; page < to; page++)
        if (sgc_protected_watched(page) && !open_run(page, sgc_protected.pages))
            sgc_a32_store(&sgc_protected.broken, 1);
    return !sgc_protected_broken();
}

static void forget_opened(uintptr_t from, uintptr_t to)
{
    size_t pages = 0;

    for (uintptr_t page = from; page < to; page++)
        pages += !sgc_protected_watched(page);
    sgc_protected.opened -= pages < sgc_protected.opened ? pages : sgc_protected.opened;
}

/* If the system refuses, part of it may be protected: then it is opened with all its neighbours,
 * which splits no mapping. */
bool sgc_protected_protect(uintptr_t from, uintptr_t to)
{
    sgc_assert(from < to && to <= sgc_protected.pages);
    sgc_protected.armed++;
    forget_opened(from, to);
    set_bits(sgc_protected.watched, from, to, true);
    if (change(from, to, PROT_READ))
        return true;
    sgc_protected_open_watched(from, to);
    return false;
}

/* ---- the range ---- */

void sgc_protected_set_range(uintptr_t low, uintptr_t high, uint64_t *bits)
{
    sigset_t signals;

    sgc_assert(low < high && (bits == NULL || sgc_protected.watched == NULL));
    sgc_protected_take(&signals);
    sgc_protected.low = low;
    sgc_protected.high = high;
    sgc_protected.pages = bits != NULL ? sgc_protected_page(high) : 0;
    sgc_protected.watched = bits;
    sgc_protected.kept = bits != NULL ? bits + sgc_protected_bitmap_bytes(sgc_protected.pages) / sizeof *bits : NULL;
    sgc_protected.top = sgc_protected.opened = 0;
    sgc_protected.keeps = false;
    sgc_a32_store(&sgc_protected.broken, 0);
    sgc_protected_check();
    sgc_protected_give(&signals);
}
