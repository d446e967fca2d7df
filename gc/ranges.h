/* SPDX-License-Identifier: MIT */
/*
 * A sorted set of disjoint address ranges in memory of its own, which grows in place.
 * No locks: the caller has one.
 */
#ifndef SGC_GC_RANGES_H
#define SGC_GC_RANGES_H

#include <stdbool.h>

#include "platform/platform.h"

struct sgc_ranges {
    struct sgc_range *of;           /* ascending, disjoint, not touching */
    size_t count, committed, reserved;
};

/* False when memory runs out; the set is then as before. */
bool sgc_ranges_add(struct sgc_ranges *set, struct sgc_range range);
bool sgc_ranges_remove(struct sgc_ranges *set, struct sgc_range range);
void sgc_ranges_clear(struct sgc_ranges *set);
bool sgc_ranges_contain(const struct sgc_ranges *set, uintptr_t address);

/* The first range that ends after `address`: its index, or count. */
size_t sgc_ranges_first_after(const struct sgc_ranges *set, uintptr_t address);

void sgc_ranges_check(const struct sgc_ranges *set);

#endif
