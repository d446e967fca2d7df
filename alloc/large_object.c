/* SPDX-License-Identifier: MIT */
/* See alloc/large_object.h.  On any mutator. */
#include "alloc/large_object.h"

#include "alloc/large/span.h"
#include "alloc/page_supply.h"
#include "alloc/small/cache.h"

enum { SWEEP_FOR = 256 };       /* spans swept for one request, if none of them serves */

/* Takes pages such that the first lies at a multiple of `align`; what was taken too much goes
 * back. */
static uint32_t take_aligned(struct sgc_section *self, size_t count, size_t align, bool *zero)
{
    size_t extra = align > SGC_PAGE ? align / SGC_PAGE - 1 : 0;
    uint32_t got, first;

    sgc_assert(count != 0 && (align & (align - 1)) == 0);
    if (count + extra < count || count + extra > sgc_heap.reserved / SGC_PAGE)
        return SGC_NO_PAGE;
    got = sgc_policy_take_pages((uint32_t)(count + extra), self, zero);
    if (got == SGC_NO_PAGE || extra == 0)
        return got;
    first = sgc_page_number(sgc_round_up(sgc_page_start(got), align));
    if (first > got)
        sgc_pool_give(got, first - got, self);
    if (got + count + extra > first + count)
        sgc_pool_give(first + (uint32_t)count, (uint32_t)(got + extra - first), self);
    return first;
}

static void *make(struct sgc_section *self, size_t bytes, uint32_t kind, size_t align)
{
    bool zero;
    uint32_t first = take_aligned(self, sgc_span_pages_for(bytes), align, &zero);

    return first != SGC_NO_PAGE ? sgc_span_make(first, bytes, kind, zero, self) : NULL;
}

/* Under a guard: a span that is being made is on no list. */
static void *make_or_find(struct sgc_section *self, size_t bytes, uint32_t kind, size_t align, bool spare)
{
    uint32_t owner = sgc_section_owner(self);
    void *object = NULL;

    if (spare && sgc_span_sweep_for(owner, (uint32_t)sgc_span_pages_for(bytes), SWEEP_FOR, self))
        object = sgc_span_use_cached(owner, bytes, kind, self);
    return object != NULL ? object : make(self, bytes, kind, align);
}

void *sgc_span_alloc(struct sgc_section *self, size_t bytes, uint32_t kind, size_t align)
{
    bool spare = align <= SGC_PAGE && !sgc_kind_uncollectable(kind) &&
                 bytes <= (size_t)sgc_heap.config.spare_pages * SGC_PAGE;
    void *object = spare ? sgc_span_use_cached(sgc_section_owner(self), bytes, kind, self) : NULL;

    sgc_assert(bytes != 0 && sgc_kind_ok(kind));
    if (object != NULL)
        return object;
    sgc_guard_enter(self);
    object = make_or_find(self, bytes, kind, align, spare);
    sgc_guard_leave(self);
    return object;
}

bool sgc_span_free(struct sgc_section *self, uint32_t page)
{
    sgc_assert(sgc_page_ok(page));
    return sgc_span_release(sgc_section_owner(self), page, self);
}
