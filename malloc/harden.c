/* SPDX-License-Identifier: MIT */
/* Messages about wrong frees: malloc/harden.h.  On any thread, outside sections. */
#include "malloc/harden.h"

#include "alloc/object.h"
#include "malloc/options.h"
#include "malloc/start.h"
#include "platform/report.h"

enum sort { SORT_OUTSIDE, SORT_FREED, SORT_INSIDE, SORT_NOTHING };

SGC_STATE static sgc_a32_t known;       /* sorts of which a message was written: a bit each */

static bool goes_on(void)
{
    return sgc_malloc_options.harden == 0 || sgc_malloc_options.action == SGC_HARDEN_REPORT;
}

/* Shall there be a message? */
static bool is_news(enum sort sort)
{
    uint32_t bit = UINT32_C(1) << sort;

    sgc_assert(sort <= SORT_NOTHING);
    return sgc_malloc_options.harden != 0 || (sgc_a32_or(&known, bit) & bit) == 0;
}

#define SGC_TELL(...) (goes_on() ? sgc_error(__VA_ARGS__) : sgc_fatal(__VA_ARGS__))

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

static void tell_nothing(const char *function, const void *address)
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
        if (sgc_malloc_reached())
            tell_outside(function, address);
    } else if (!sgc_object_slot((uintptr_t)address, &o)) {
        tell_nothing(function, address);
    } else if (o.start == (uintptr_t)address) {
        tell_freed(function, address, &o);
    } else {
        tell_inside(function, address, &o);
    }
}
