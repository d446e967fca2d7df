/* SPDX-License-Identifier: MIT */
/* See alloc/pages/dangling.h. */
#include "alloc/pages/dangling.h"

struct dangling {
    sgc_aw_t *noted;            /* a bit a granule; its addresses are found when it is first
                                   needed */
    struct sgc_stretch memory;
    size_t words;               /* of it that have memory; 0: nothing is noted */
};

SGC_STATE static struct dangling dangling;

static bool obtain(size_t words)
{
    size_t all = sgc_heap.reserved / SGC_GRANULE / 64 * sizeof *dangling.noted;

    sgc_assert(words * sizeof *dangling.noted <= all);
    if (dangling.memory.start == NULL && !sgc_stretch_open(&dangling.memory, all, sgc_heap.os_page))
        return false;
    dangling.noted = (void *)dangling.memory.start;
    return sgc_stretch_grow(&dangling.memory, words * sizeof *dangling.noted);
}

bool sgc_dangling_begin(void)
{
    size_t words = sgc_aw_load(&sgc_heap.granules) / 64;

    sgc_assert(!sgc_heap_is_marking());
    dangling.words = obtain(words) ? words : 0;
    for (size_t w = 0; w < dangling.words; w++)
        sgc_aw_store(&dangling.noted[w], 0);
    return dangling.words != 0;
}

void sgc_dangling_end(void)
{
    dangling.words = 0;
}

/* Arenas that come while the mark goes on have had no objects. */
void sgc_dangling_note(size_t granule)
{
    if (granule / 64 < dangling.words)
        sgc_aw_or(&dangling.noted[granule / 64], sgc_bit_mask(granule));
}

bool sgc_dangling_any(uintptr_t start, size_t bytes)
{
    size_t first = sgc_granule_number(start), end = first + (bytes + SGC_GRANULE - 1) / SGC_GRANULE;

    sgc_assert(bytes != 0 && sgc_heap_contains(start));
    for (size_t granule = first; granule < end && granule / 64 < dangling.words; granule++)
        if ((sgc_aw_load(&dangling.noted[granule / 64]) & sgc_bit_mask(granule)) != 0)
            return true;
    return false;
}
