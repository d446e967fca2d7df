/* SPDX-License-Identifier: MIT */
/* See alloc/start.h.  By the starting thread. */
#include "alloc/start.h"

#include "alloc/large/span_cache.h"
#include "alloc/pages/huge_pages.h"
#include "alloc/pages/pool.h"
#include "alloc/pages/size_class.h"
#include "platform/platform.h"

bool sgc_heap_init(const struct sgc_heap_config *config)
{
    sgc_platform_init();
    sgc_size_classes_init();
    if (!sgc_heap_reserve(config))
        return false;
    sgc_huge_pages_init(config->huge_pages);
    sgc_span_caches_init();
    return sgc_pool_init();
}
