/* SPDX-License-Identifier: MIT */
/*
 * Starting and ending the collector, and what the files of the public interface share.  On any
 * thread.
 */
#include "gc/api/api.h"

#include <string.h>

#include "gc/api/objects.h"
#include "gc/config/public_vars.h"
#include "gc/collect/collect.h"
#include "gc/collect/start.h"
#include "gc/collect/start_state.h"
#include "gc/config/option_set.h"

/* ---- shared ---- */

struct sgc_mutator *sgc_api_self(void)
{
    struct sgc_mutator *self = sgc_mutator_self();

    sgc_assert(self == NULL || sgc_mutator_ok(self));
    return self != NULL ? self : sgc_mutator_adopt();
}

bool sgc_api_too_late(const char *function, bool same)
{
    if (!sgc_init_begun())
        return false;
    if (!same)
        sgc_warn("%s has no effect, because the collector has started already; call it before GC_INIT() and before "
                 "the first allocation", function);
    return true;
}

bool sgc_api_set_option(const char *option, long value)
{
    char text[24];

    sgc_assert(sgc_option_find(option, strlen(option)) >= 0);
    sgc_format(text, sizeof text, "%ld", value);
    return sgc_option_set(option, text);
}

void sgc_api_set_hook(sgc_aw_t *hook, uintptr_t value)
{
    bool closed = sgc_gc_lock_enter(sgc_mutator_self());

    sgc_assert(sgc_gc_lock_held());

    sgc_aw_store_rel(hook, value);
    sgc_gc_lock_leave(closed);
}

void sgc_api_count_uncollectable(intptr_t bytes)
{
    sgc_aw_add_relaxed(&sgc_client_non_gc_bytes, (uintptr_t)bytes);
}

/* ---- start ---- */

unsigned GC_get_version(void)
{
    return (unsigned)(GC_VERSION_MAJOR << 16 | GC_VERSION_MINOR << 8 | GC_VERSION_MICRO);
}

void GC_init(void)
{
    if (!sgc_init_done() && !sgc_init_mine() && !sgc_init_ended() && !sgc_init_now())
        sgc_fatal("the collector cannot start, for the reason given above");
}

int GC_is_init_called(void)
{
    return sgc_init_begun();
}

void GC_noop1(GC_word word)
{
    __asm__ __volatile__("" : : "r"(word));
}

void GC_noop1_ptr(volatile void *p)
{
    __asm__ __volatile__("" : : "r"(p) : "memory");
}

/* ---- end ---- */

/* No thread keeps slots that it could hand out without asking. */
static void empty_caches(void)
{
    sgc_assert(sgc_stopped_by_self());
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        sgc_cache_keep_none(&m->cache);
}

void GC_deinit(void)
{
    struct sgc_mutator *self;

    if (!sgc_init_done() || sgc_init_ended())
        return;
    self = sgc_api_self();
    if (self == NULL || !sgc_external_stop(self))
        return;
    sgc_assert(sgc_stopped_by_self());
    sgc_init_end();
    empty_caches();
    sgc_external_resume(self);
}
