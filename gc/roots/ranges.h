/* SPDX-License-Identifier: MIT */
/*
 * Address ranges in memory of their own, which grows in place: as a set of disjoint ranges, or as a
 * list of what the client gave, whose ranges may overlap.  Both are sorted by the lowest address.
 * No locks: the caller has one.
 *
 * A range of a list that is removed becomes an empty one in its place: closing the gap at once
 * would move what lies behind it, for each of many removals.  Gaps are closed when they are half of
 * the list, and an added range fills one next to it.  So a reader that goes through `of` meets
 * empty ranges.
 */
#ifndef SGC_GC_ROOTS_RANGES_H
#define SGC_GC_ROOTS_RANGES_H

#include <stdbool.h>

#include "platform/platform.h"
#include "platform/report.h"
#include "platform/stretch.h"

struct sgc_ranges {
    struct sgc_range *of;           /* ascending; sets: disjoint, not touching; lists: no two with
                                       the same start */
    size_t count, committed;
    struct sgc_stretch memory;
    size_t gaps;                    /* lists: how many of `count` are empty */
    size_t longest;                 /* lists: no range has been longer since the list was cleared */
};

static inline bool sgc_ranges_ok(const struct sgc_ranges *ranges)
{
    return ranges->gaps <= ranges->count && ranges->count <= ranges->committed &&
           (ranges->of == NULL) == (ranges->committed == 0);
}

/* Into a set; what overlaps or touches becomes one range.  False when memory runs out; the set is
 * then as before. */
bool sgc_ranges_add(struct sgc_ranges *set, struct sgc_range range);

/* The first range of a set that ends after `address`: its index, or count. */
size_t sgc_ranges_first_after(const struct sgc_ranges *set, uintptr_t address);

/* Does a range of the set contain the address? */
static inline bool sgc_ranges_contain(const struct sgc_ranges *set, uintptr_t address)
{
    size_t i = sgc_ranges_first_after(set, address);

    return i < set->count && set->of[i].lo <= address;
}

void sgc_ranges_check(const struct sgc_ranges *set);

/* Into a list, as a range of its own, also if another covers it; one with the same start becomes as
 * long as the longer of the two.  False when memory runs out; the list is then as before. */
bool sgc_ranges_list_add(struct sgc_ranges *list, struct sgc_range range);

/* Out of a list: the ranges that lie wholly inside. */
void sgc_ranges_list_drop(struct sgc_ranges *list, struct sgc_range range);

bool sgc_ranges_list_contain(const struct sgc_ranges *list, uintptr_t address);

void sgc_ranges_list_check(const struct sgc_ranges *list);

/* Set or list. */
static inline void sgc_ranges_clear(struct sgc_ranges *ranges)
{
    sgc_assert(sgc_ranges_ok(ranges));
    ranges->count = ranges->gaps = ranges->longest = 0;
}

#endif
