/* SPDX-License-Identifier: MIT */
/* See platform/nodes/number_set.h. */
#include "platform/nodes/number_set.h"

#include <limits.h>
#include <string.h>

#include "platform/file_linux.h"
#include "platform/report.h"

enum { BITS = 8 * sizeof(unsigned long) };

void sgc_number_set_clear(struct sgc_number_set *set)
{
    sgc_assert(set != NULL);
    memset(set, 0, sizeof *set);
}

bool sgc_number_set_add(struct sgc_number_set *set, uint64_t number)
{
    if (number >= SGC_NUMBERS)
        return false;
    set->bits[number / BITS] |= 1ul << number % BITS;
    return true;
}

bool sgc_number_set_has(const struct sgc_number_set *set, uint64_t number)
{
    return number < SGC_NUMBERS && (set->bits[number / BITS] >> number % BITS & 1) != 0;
}

int sgc_number_set_count(const struct sgc_number_set *set)
{
    int count = 0;

    for (size_t i = 0; i < sizeof set->bits / sizeof set->bits[0]; i++)
        count += __builtin_popcountl(set->bits[i]);
    sgc_assert(count >= 0 && count <= SGC_NUMBERS);
    return count;
}

int sgc_number_set_next(const struct sgc_number_set *set, int from)
{
    sgc_assert(set != NULL && from >= 0);
    for (int i = from; i < SGC_NUMBERS; i++)
        if (set->bits[i / BITS] == 0)
            i |= BITS - 1;
        else if (sgc_number_set_has(set, (uint64_t)i))
            return i;
    return -1;
}

/* One "7" or "0-3" of a list; false at its end or at nonsense. */
static bool next_range(const char **at, uint64_t *first, uint64_t *last)
{
    if (!sgc_parse_number(at, 10, first))
        return false;
    *last = *first;
    if (**at == '-') {
        ++*at;
        if (!sgc_parse_number(at, 10, last))
            return false;
    }
    *at += **at == ',';
    return *last >= *first && *last < INT_MAX;
}

void sgc_number_set_parse(struct sgc_number_set *set, const char *list)
{
    uint64_t first, last;

    sgc_assert(list != NULL);
    sgc_number_set_clear(set);
    while (next_range(&list, &first, &last))
        for (uint64_t i = first; i <= last && sgc_number_set_add(set, i); i++)
            continue;
}
