/* SPDX-License-Identifier: MIT */
/* Messages about wrong frees: malloc/harden.h.  On any thread, outside sections. */
#include "malloc/harden.h"

#include "alloc/object.h"

enum sort { SORT_OUTSIDE, SORT_FREED, SORT_INSIDE, SORT_NOTHING };

SGC_STATE static sgc_a32_t known;       /* sorts of which a message was written: a bit each */

SGC_STATE sgc_a32_t sgc_constructors_run;

/* Shall there be a message? */
static bool is_news(enum sort sort)
{
    uint32_t bit = UINT32_C(1) << sort;

    sgc_assert(sort <= SORT_NOTHING);
    return sgc_malloc_options.harden != 0 || (sgc_a32_or(&known, bit) & bit) == 0;
}

static void tell_outside(const char *function, const void *address)
{
    if (is_news(SORT_OUTSIDE))
        SGC_TELL("%s(%p): no block of this malloc lies there; it is another malloc's, a variable, or the stack. "
                 "A module that was loaded with RTLD_DEEPBIND has the C library's malloc: load it without",
                 function, address);
}

static void tell_freed(const char *function, const void *address, const struct sgc_object *o)
{
    sgc_assert(o->start == (uintptr_t)address);
    if (is_news(SORT_FREED))
        SGC_TELL("%s(%p): the block of %zu bytes there has been freed already, or was never handed out; free it once",
                 function, address, o->bytes);
}

static void tell_inside(const char *function, const void *address, const struct sgc_object *o)
{
    const char *is = sgc_object_allocated(o) ? "the middle of a block" : "the middle of what is no block";

    sgc_assert(o->start != (uintptr_t)address);
    if (is_news(SORT_INSIDE))
        SGC_TELL("%s(%p): %s, %zu bytes behind its beginning; pass the address that malloc has returned",
                 function, address, is, (size_t)((uintptr_t)address - o->start));
}

void sgc_tell_nothing(const char *function, const void *address)
{
    if (is_news(SORT_NOTHING))
        SGC_TELL("%s(%p): there is no block; it has been freed, or was never handed out. Free a block once",
                 function, address);
}

void sgc_tell_wrong(const char *function, const void *address)
{
    struct sgc_object o;

    sgc_assert(function != NULL && address != NULL);
    if (!sgc_heap_contains((uintptr_t)address)) {
        if (sgc_a32_load(&sgc_constructors_run) != 0)
            tell_outside(function, address);
    } else if (!sgc_object_slot((uintptr_t)address, &o)) {
        sgc_tell_nothing(function, address);
    } else if (o.start == (uintptr_t)address) {
        tell_freed(function, address, &o);
    } else {
        tell_inside(function, address, &o);
    }
}
