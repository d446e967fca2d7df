/* SPDX-License-Identifier: MIT */
/* The figures of a plain malloc, and giving memory back: malloc/family.h. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "alloc/large/span.h"
#include "alloc/page_supply.h"
#include "alloc/pages/pool.h"
#include "malloc/family.h"
#include "malloc/options.h"
#include "malloc/start.h"
#include "platform/platform.h"
#include "platform/report.h"

/* Bytes; each is right by itself. */
struct figures {
    size_t heap, in_use, large, kept;
};

static struct figures figures(void)
{
    size_t freed = sgc_span_freed(), allocated = sgc_span_allocated();

    sgc_assert(freed <= SIZE_MAX / 2 && allocated <= SIZE_MAX / 2);
    return (struct figures){
        .heap = sgc_pool_heap_bytes(), .in_use = sgc_pool_in_use_bytes(),
        .large = allocated > freed ? allocated - freed : 0, .kept = sgc_pool_used_bytes(),
    };
}

struct sgc_mallinfo2 sgc_mallinfo2(void)
{
    struct figures f = figures();

    return (struct sgc_mallinfo2){ .arena = f.heap, .hblkhd = f.large, .uordblks = f.in_use, .fordblks = f.kept };
}

static int saturated(size_t n)
{
    return n < INT_MAX ? (int)n : INT_MAX;
}

struct sgc_mallinfo sgc_mallinfo(void)
{
    struct figures f = figures();

    return (struct sgc_mallinfo){ .arena = saturated(f.heap), .hblkhd = saturated(f.large), .uordblks = saturated(f.in_use),
                                  .fordblks = saturated(f.kept) };
}

void sgc_malloc_stats(void)
{
    struct figures f = figures();

    sgc_print("%zu bytes in pages, of these %zu in pages in use, %zu in free pages with contents; %zu in large blocks",
              f.heap, f.in_use, f.kept, f.large);
}

int sgc_malloc_info(int options, void *stream)
{
    struct figures f = figures();

    if (options != 0)
        return EINVAL;
    fprintf(stream, "<malloc version=\"sgc-1\">\n<system type=\"current\" size=\"%zu\"/>\n<total type=\"used\" size=\"%zu\"/>\n"
            "<total type=\"large\" size=\"%zu\"/>\n<total type=\"free\" size=\"%zu\"/>\n</malloc>\n",
            f.heap, f.in_use, f.large, f.kept);
    return 0;
}

/* The spans that the calling thread keeps, and the free pages. */
static void give_back(struct sgc_cache *cache)
{
    sgc_assert(sgc_cache_ok(cache));
    sgc_guard_enter(&cache->section);
    sgc_span_give_cached(cache->id, &cache->section);
    sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, &cache->section);
    sgc_guard_leave(&cache->section);
}

int sgc_malloc_trim(size_t pad)
{
    struct sgc_turn turn = sgc_turn_begin();
    size_t before = sgc_aw_load(&sgc_pool.returned);

    (void)pad;
    if (turn.cache != NULL)
        give_back(turn.cache);
    sgc_turn_end(&turn);
    return sgc_aw_load(&sgc_pool.returned) != before;
}

int sgc_mallopt(int parameter, int value)
{
    (void)parameter, (void)value;
    return 0;
}

__attribute__((destructor))
static void leave(void)
{
    if (sgc_malloc_options.stats)
        sgc_malloc_stats();
}
