/* SPDX-License-Identifier: MIT */
/*
 * Sets of the system's numbers of processors or memory nodes, as its calls take them: a bit each.
 * The functions are [any] in the sense of platform/platform.h; a set belongs to its caller.
 */
#ifndef SGC_PLATFORM_NODES_NUMBER_SET_H
#define SGC_PLATFORM_NODES_NUMBER_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SGC_NUMBERS = 8192 };            /* 0 to this less one: Linux can be built for no more
                                           processors */

struct sgc_number_set {
    unsigned long bits[SGC_NUMBERS / 8 / sizeof(unsigned long)];
};

void sgc_number_set_clear(struct sgc_number_set *set);

/* False for a number that is too large; it is left out. */
bool sgc_number_set_add(struct sgc_number_set *set, uint64_t number);
bool sgc_number_set_has(const struct sgc_number_set *set, uint64_t number);

int sgc_number_set_count(const struct sgc_number_set *set);

/* The lowest that is not below `from`; -1 if there is none. */
int sgc_number_set_next(const struct sgc_number_set *set, int from);

/* From a list such as "0-3,8", which ends at nonsense; numbers that are too large are left out. */
void sgc_number_set_parse(struct sgc_number_set *set, const char *list);

#endif
