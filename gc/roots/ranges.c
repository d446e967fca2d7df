/* SPDX-License-Identifier: MIT */
/* Sets and lists of ranges.  The caller has the lock. */
#include "gc/roots/ranges.h"

#include <string.h>

#include "platform/report.h"

enum { RANGES_MAX = 1 << 20 };      /* ranges: 16 MB of addresses, committed as needed */

static bool room_for_one(struct sgc_ranges *set)
{
    struct sgc_stretch *memory = &set->memory;
    size_t step = memory->have == 0 ? sgc_os_page_size() : memory->have;

    sgc_assert(sgc_ranges_ok(set));
    if (set->count < set->committed)
        return true;
    if (memory->start == NULL && !sgc_stretch_open(memory, RANGES_MAX * sizeof *set->of, sgc_os_page_size()))
        return false;
    if (!sgc_stretch_grow(memory, memory->have + step))
        return false;
    set->of = (void *)memory->start;
    set->committed = memory->have / sizeof *set->of;
    return true;
}

size_t sgc_ranges_first_after(const struct sgc_ranges *set, uintptr_t address)
{
    size_t lo = 0, hi = set->count;

    sgc_assert(sgc_ranges_ok(set) && set->gaps == 0);
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (set->of[mid].hi > address)
            hi = mid;
        else
            lo = mid + 1;
    }
    sgc_assert((lo == 0 || set->of[lo - 1].hi <= address) && (lo == set->count || set->of[lo].hi > address));
    return lo;
}

/* Replaces the ranges [first, last) by `with` (0 to 2 of them); there is room. */
static void replace(struct sgc_ranges *set, size_t first, size_t last, const struct sgc_range *with,
                    size_t n)
{
    sgc_assert(first <= last && last <= set->count && set->count - (last - first) + n <= set->committed);
    memmove(set->of + first + n, set->of + last, (set->count - last) * sizeof *set->of);
    memcpy(set->of + first, with, n * sizeof *with);
    set->count = set->count - (last - first) + n;
}

bool sgc_ranges_add(struct sgc_ranges *set, struct sgc_range range)
{
    size_t first, last;

    sgc_assert(range.lo < range.hi);
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
    sgc_assert(first == 0 || set->of[first - 1].hi < range.lo);
    sgc_assert(first + 1 == set->count || range.hi < set->of[first + 1].lo);
    return true;
}

void sgc_ranges_check(const struct sgc_ranges *set)
{
    sgc_verify(set->count <= set->committed);
    for (size_t i = 0; i < set->count; i++) {
        sgc_verify(set->of[i].lo < set->of[i].hi);
        sgc_verify(i == 0 || set->of[i - 1].hi < set->of[i].lo);
    }
}

/* ---- lists ---- */

static bool is_gap(struct sgc_range range)
{
    return range.lo == range.hi;
}

/* The first range that begins at `address` or later: its index, or count. */
static size_t first_from(const struct sgc_ranges *list, uintptr_t address)
{
    size_t lo = 0, hi = list->count;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (list->of[mid].lo >= address)
            hi = mid;
        else
            lo = mid + 1;
    }
    sgc_assert((lo == 0 || list->of[lo - 1].lo < address) && (lo == list->count || list->of[lo].lo >= address));
    return lo;
}

static void extend(struct sgc_ranges *list, size_t i, uintptr_t hi)
{
    sgc_assert(i < list->count);
    if (is_gap(list->of[i]))
        list->gaps--;
    if (hi > list->of[i].hi)
        list->of[i].hi = hi;
}

static void fill_gap(struct sgc_ranges *list, size_t i, struct sgc_range range)
{
    sgc_assert(i < list->count && is_gap(list->of[i]) && list->gaps > 0);
    list->of[i] = range;
    list->gaps--;
}

bool sgc_ranges_list_add(struct sgc_ranges *list, struct sgc_range range)
{
    size_t i = first_from(list, range.lo);

    sgc_assert(sgc_ranges_ok(list) && range.lo < range.hi);
    if (i < list->count && list->of[i].lo == range.lo)
        extend(list, i, range.hi);
    else if (i < list->count && is_gap(list->of[i]))
        fill_gap(list, i, range);
    else if (i > 0 && is_gap(list->of[i - 1]))
        fill_gap(list, i - 1, range);
    else if (room_for_one(list))
        replace(list, i, i, &range, 1);
    else
        return false;
    if (range.hi - range.lo > list->longest)
        list->longest = range.hi - range.lo;
    sgc_assert(sgc_ranges_ok(list));
    return true;
}

static void close_gaps(struct sgc_ranges *list)
{
    size_t kept = 0;

    sgc_assert(sgc_ranges_ok(list));
    for (size_t i = 0; i < list->count; i++)
        if (!is_gap(list->of[i]))
            list->of[kept++] = list->of[i];
    sgc_assert(kept + list->gaps == list->count);
    list->count = kept;
    list->gaps = 0;
}

void sgc_ranges_list_drop(struct sgc_ranges *list, struct sgc_range range)
{
    sgc_assert(sgc_ranges_ok(list) && range.lo < range.hi);
    for (size_t i = first_from(list, range.lo); i < list->count && list->of[i].lo < range.hi; i++)
        if (!is_gap(list->of[i]) && list->of[i].hi <= range.hi) {
            list->of[i].hi = list->of[i].lo;
            list->gaps++;
        }
    if (list->gaps > list->count / 2)
        close_gaps(list);
}

/* How many begin at `address` or earlier. */
static size_t begun_by(const struct sgc_ranges *list, uintptr_t address)
{
    return address == UINTPTR_MAX ? list->count : first_from(list, address + 1);
}

/* A range that contains the address begins at most `longest` before it. */
bool sgc_ranges_list_contain(const struct sgc_ranges *list, uintptr_t address)
{
    sgc_assert(sgc_ranges_ok(list));
    for (size_t i = begun_by(list, address); i-- > 0 && address - list->of[i].lo < list->longest;)
        if (address < list->of[i].hi)
            return true;
    return false;
}

void sgc_ranges_list_check(const struct sgc_ranges *list)
{
    size_t gaps = 0;

    sgc_verify(list->count <= list->committed);
    for (size_t i = 0; i < list->count; i++) {
        sgc_verify(list->of[i].lo <= list->of[i].hi && list->of[i].hi - list->of[i].lo <= list->longest);
        sgc_verify(i == 0 || list->of[i - 1].lo < list->of[i].lo);
        gaps += is_gap(list->of[i]);
    }
    sgc_verify(gaps == list->gaps && gaps <= list->count / 2);
}
