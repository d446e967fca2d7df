/* SPDX-License-Identifier: MIT */
/* See alloc/cache_close.h. */
#include "alloc/cache_close.h"

#include "alloc/page_supply.h"
#include "alloc/small/orphan.h"
#include "alloc/small/remote_free.h"

enum { LEAVE_STEP = 32 };       /* pages left behind at a time under the locks */

static void leave_bin(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    bool more;

    sgc_assert(sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    do {
        sgc_lock(&cache->lock, &cache->section);
        sgc_lists_renew(&cache->bin[kind][cls].lists);
        more = sgc_orphan_leave(cache, kind, cls, LEAVE_STEP);
        if (!more)
            cache->bin[kind][cls] = (struct sgc_bin){ .size = 0 };
        sgc_unlock(&cache->lock, &cache->section);
    } while (more);
}

static void close_inbox(struct sgc_cache *cache)
{
    bool more;

    do {
        sgc_lock(&cache->lock, &cache->section);
        cache->tag = 0;
        more = sgc_inbox_close_step(cache);
        sgc_unlock(&cache->lock, &cache->section);
    } while (more);
}

void sgc_cache_close(struct sgc_cache *cache, struct sgc_section *self)
{
    sgc_assert(sgc_cache_ok(cache));
    sgc_assert(self == &cache->section || !sgc_section_inside(&cache->section));
    sgc_lock(&cache->lock, &cache->section);
    sgc_cache_retire(cache);
    sgc_unlock(&cache->lock, &cache->section);
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++)
            if (cache->bin[kind][cls].size != 0)
                leave_bin(cache, kind, cls);
    close_inbox(cache);
    sgc_policy_owner_ends(cache->id, self);
}
