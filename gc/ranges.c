/* SPDX-License-Identifier: MIT */
/* A sorted set of disjoint ranges.  The caller has the lock. */
#include "gc/ranges.h"

#include <string.h>

#include "alloc/verify.h"

enum { RESERVED = 1 << 20 };        /* ranges: 16 MB of address space, committed as needed */

static bool reserve(struct sgc_ranges *set)
{
    if (set->of != NULL)
        return true;
    set->of = sgc_mem_reserve(RESERVED * sizeof *set->of, sgc_os_page_size());
    set->reserved = set->of != NULL ? RESERVED : 0;
    return set->of != NULL;
}

static bool room_for_one(struct sgc_ranges *set)
{
    size_t have = set->committed * sizeof *set->of;
    size_t step = have == 0 ? sgc_os_page_size() : have;

    if (set->count < set->committed)
        return true;
    if (!reserve(set))
        return false;
    if (have + step > set->reserved * sizeof *set->of ||
        !sgc_mem_commit((char *)set->of + have, step))
        return false;
    set->committed = (have + step) / sizeof *set->of;
    return true;
}

size_t sgc_ranges_first_after(const struct sgc_ranges *set, uintptr_t address)
{
    size_t lo = 0, hi = set->count;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (set->of[mid].hi > address)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* Replaces the ranges [first, last) by `with` (0 to 2 of them); there is room. */
static void replace(struct sgc_ranges *set, size_t first, size_t last, const struct sgc_range *with,
                    size_t n)
{
    memmove(set->of + first + n, set->of + last, (set->count - last) * sizeof *set->of);
    memcpy(set->of + first, with, n * sizeof *with);
    set->count = set->count - (last - first) + n;
}

bool sgc_ranges_add(struct sgc_ranges *set, struct sgc_range range)
{
    size_t first, last;

    if (!room_for_one(set))
        return false;
    first = sgc_ranges_first_after(set, range.lo);
    if (first > 0 && set->of[first - 1].hi == range.lo)
        first--;
    for (last = first; last < set->count && set->of[last].lo <= range.hi; last++) {
        if (set->of[last].lo < range.lo)
            range.lo = set->of[last].lo;
        if (set->of[last].hi > range.hi)
            range.hi = set->of[last].hi;
    }
    replace(set, first, last, &range, 1);
    return true;
}

bool sgc_ranges_append(struct sgc_ranges *list, struct sgc_range range)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->of[i].lo <= range.lo && list->of[i].hi >= range.hi)
            return true;
        if (list->of[i].lo == range.lo) {
            list->of[i].hi = range.hi;
            return true;
        }
    }
    if (!room_for_one(list))
        return false;
    list->of[list->count++] = range;
    return true;
}

void sgc_ranges_drop_inside(struct sgc_ranges *list, struct sgc_range range)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->of[i].lo < range.lo || list->of[i].hi > range.hi)
            list->of[kept++] = list->of[i];
    list->count = kept;
}

void sgc_ranges_clear(struct sgc_ranges *set)
{
    set->count = 0;
}

bool sgc_ranges_contain(const struct sgc_ranges *list, uintptr_t address)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->of[i].lo <= address && address < list->of[i].hi)
            return true;
    return false;
}

void sgc_ranges_check(const struct sgc_ranges *set)
{
    sgc_verify(set->count <= set->committed && set->committed <= set->reserved);
    for (size_t i = 0; i < set->count; i++) {
        sgc_verify(set->of[i].lo < set->of[i].hi);
        sgc_verify(i == 0 || set->of[i - 1].hi < set->of[i].lo);
    }
}
