/* SPDX-License-Identifier: MIT */
/*
 * Address ranges in memory of their own, which grows in place: as a sorted set of disjoint ranges, or as a
 * plain list of what the client gave.  No locks: the caller has one.
 */
#ifndef SGC_GC_RANGES_H
#define SGC_GC_RANGES_H

#include <stdbool.h>

#include "platform/platform.h"

struct sgc_ranges {
    struct sgc_range *of;           /* sets: ascending, disjoint, not touching */
    size_t count, committed, reserved;
};

/* Into a set; what overlaps or touches becomes one range.  False when memory runs out; the set is then as
 * before. */
bool sgc_ranges_add(struct sgc_ranges *set, struct sgc_range range);

/* Into a list, unless a range of the list covers it; a range with the same start is extended. */
bool sgc_ranges_append(struct sgc_ranges *list, struct sgc_range range);

/* Out of a list: the ranges that lie wholly inside. */
void sgc_ranges_drop_inside(struct sgc_ranges *list, struct sgc_range range);

void sgc_ranges_clear(struct sgc_ranges *set);

/* Set or list: does a range contain the address? */
bool sgc_ranges_contain(const struct sgc_ranges *list, uintptr_t address);

/* The first range of a set that ends after `address`: its index, or count. */
size_t sgc_ranges_first_after(const struct sgc_ranges *set, uintptr_t address);

void sgc_ranges_check(const struct sgc_ranges *set);

#endif
