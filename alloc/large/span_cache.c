/* SPDX-License-Identifier: MIT */
/*
 * Spare spans.  alloc/large/span_cache.h says which thread writes what.
 */
#include "alloc/large/span_cache.h"

#include "alloc/pages/owner_tables.h"
#include "alloc/pages/pool.h"

enum {
    SIZES = 8,                  /* lists a thread; a list has spans of one size at a time */
    LIMIT_SHARE = 32,           /* of the heap limit one thread keeps so much at most */
};

struct sgc_span_caches {
    uint32_t epoch;             /* that the lists are of */
    uint32_t pages;             /* on all lists */
    uint32_t head[SIZES];
};

SGC_STATE static struct sgc_span_caches *spares;

void sgc_span_caches_init(void)
{
    if (sgc_heap.config.spare_pages == 0)
        return;
    spares = sgc_owner_table_make(sizeof *spares);
}

/* NULL: nothing is kept.  Spans that an older epoch has left belong to the sweepers. */
static struct sgc_span_caches *spares_of(uint32_t owner)
{
    struct sgc_span_caches *s = spares != NULL && owner != SGC_NO_OWNER ? &spares[owner] : NULL;

    sgc_assert(owner < SGC_OWNERS_MAX);
    if (s != NULL && s->epoch != sgc_heap.epoch) {
        *s = (struct sgc_span_caches){ .epoch = s->epoch };
        sgc_compiler_barrier();
        s->epoch = sgc_heap.epoch;
    }
    return s;
}

static uint32_t size_of(uint32_t page)
{
    sgc_assert(sgc_page_ok(page) && sgc_heap.records[page].span_pages != 0);
    return sgc_heap.records[page].span_pages;
}

static uint32_t max_pages(void)
{
    size_t share = sgc_aw_load(&sgc_pool.limit) / LIMIT_SHARE;

    return share < sgc_heap.config.spare_pages ? (uint32_t)share : sgc_heap.config.spare_pages;
}

bool sgc_cached_span_fits(uint32_t owner, uint32_t count)
{
    const struct sgc_span_caches *s = spares_of(owner);

    return s != NULL && (s->head[count % SIZES] == SGC_NO_PAGE || size_of(s->head[count % SIZES]) == count) &&
           s->pages + count <= max_pages();
}

void sgc_cached_span_push(uint32_t owner, uint32_t page, bool warm)
{
    struct sgc_span_caches *s = spares_of(owner);
    struct sgc_page_record *r = &sgc_heap.records[page];
    uint32_t *head = &s->head[r->span_pages % SIZES];

    sgc_assert(sgc_cached_span_fits(owner, r->span_pages) && sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN);
    sgc_assert(sgc_tag_epoch(sgc_aw_load(&sgc_heap.pages[page].tag)) == sgc_heap.epoch);
    r->spare_next = *head;
    r->warm = warm;
    s->pages += r->span_pages;
    sgc_compiler_barrier();
    *head = page;
}

/* A page that is lost in between is counted until the epoch ends. */
static uint32_t pop(struct sgc_span_caches *s, uint32_t *head)
{
    uint32_t page = *head;

    sgc_assert(sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN);
    *head = sgc_heap.records[page].spare_next;
    sgc_compiler_barrier();
    sgc_assert(s->pages >= size_of(page));
    s->pages -= size_of(page);
    return page;
}

uint32_t sgc_cached_span_pop(uint32_t owner, uint32_t count)
{
    struct sgc_span_caches *s = spares_of(owner);
    uint32_t *head = s != NULL ? &s->head[count % SIZES] : NULL;

    sgc_assert(count != 0);
    return head != NULL && *head != SGC_NO_PAGE && size_of(*head) == count ? pop(s, head) : SGC_NO_PAGE;
}

uint32_t sgc_cached_span_pop_any(uint32_t owner)
{
    struct sgc_span_caches *s = spares_of(owner);

    for (int i = 0; s != NULL && i < SIZES; i++)
        if (s->head[i] != SGC_NO_PAGE)
            return pop(s, &s->head[i]);
    return SGC_NO_PAGE;
}

uint32_t sgc_cached_span_pages(uint32_t owner)
{
    const struct sgc_span_caches *s = spares_of(owner);

    return s != NULL ? s->pages : 0;
}
