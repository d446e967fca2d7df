/* SPDX-License-Identifier: MIT */
/* Pages, roots, and what finalization keeps: gc/snapshot/snapshot.h. */
#include "gc/snapshot/snapshot.h"

#include "gc/finalize/register.h"
#include "gc/profile/sites.h"
#include "gc/roots/roots.h"
#include "gc/snapshot/heap_pages.h"

_Static_assert((int)SGC_ROOT_STATIC + 1 == (int)SGC_SNAPSHOT_STATIC && (int)SGC_ROOT_DATE + 1 == (int)SGC_SNAPSHOT_DATE,
               "in one order");

/* ---- pages ---- */

/* A record begins: after the page's distance from the one before. */
struct pages {
    struct sgc_snapshot_counts *counts;
    uint32_t last;
};

static void begin_page(struct pages *p, uint32_t page, uint32_t what)
{
    uint32_t owner = sgc_page_owner(page);

    sgc_assert(page > p->last && (what == SGC_SNAPSHOT_SMALL || what == SGC_SNAPSHOT_SPAN));
    sgc_blocks_put(page - p->last);
    sgc_blocks_put(what);
    sgc_blocks_put(sgc_page_kind_now(&sgc_heap.pages[page]));
    sgc_blocks_put(owner == SGC_ORPHANS ? SGC_NO_OWNER : owner);
    sgc_blocks_put(sgc_heap.records[page].home);
    p->last = page;
    p->counts->of[SGC_TRAILER_PAGES]++;
}

static void count_objects(struct pages *p, uint64_t count, uint64_t bytes)
{
    p->counts->of[SGC_TRAILER_OBJECTS] += count;
    p->counts->of[SGC_TRAILER_BYTES] += count * bytes;
}

/* A bit a slot. */
static void put_slots(const struct sgc_page *d, const uint64_t live[SGC_PAGE_WORDS])
{
    unsigned char slots[SGC_PAGE_GRANULES / 8] = { 0 };
    uint32_t count = SGC_PAGE_GRANULES / d->granules;

    for (uint32_t w = 0; w < SGC_PAGE_WORDS; w++)
        for (uint64_t bits = live[w]; bits != 0; bits &= bits - 1) {
            uint32_t slot = sgc_slot_of(w * 64 + (uint32_t)__builtin_ctzll(bits), d->reciprocal);

            sgc_assert(slot < count);
            slots[slot / 8] |= (unsigned char)(1u << slot % 8);
        }
    sgc_blocks_put_bytes(slots, (count + 7) / 8);
}

static void put_small(struct pages *p, uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    uint64_t live[SGC_PAGE_WORDS];

    begin_page(p, page, SGC_SNAPSHOT_SMALL);
    sgc_blocks_put(d->cls);
    sgc_blocks_put(d->granules);
    count_objects(p, sgc_snapshot_live(page, live), (uint64_t)d->granules * SGC_GRANULE);
    put_slots(d, live);
}

static void put_span(struct pages *p, uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    bool live = sgc_span_bit(page);

    begin_page(p, page, SGC_SNAPSHOT_SPAN);
    sgc_blocks_put(sgc_heap.records[page].span_pages);
    sgc_blocks_put(sgc_span_bytes(page));
    sgc_blocks_put(sgc_span_limited(d) ? sgc_aw_load(&d->span_reach) + 1 : 0);
    sgc_blocks_put(live);
    count_objects(p, live, sgc_span_bytes(page));
}

static void put_pages(struct sgc_snapshot_counts *counts)
{
    struct pages p = { counts, 0 };

    sgc_blocks_section(SGC_SECTION_PAGES);
    for (uint32_t page = 1; sgc_snapshot_goes_on(page); page++) {
        uint8_t state = sgc_page_state(&sgc_heap.pages[page]);

        if (state == SGC_PAGE_SMALL)
            put_small(&p, page);
        else if (state == SGC_PAGE_SPAN)
            put_span(&p, page);
    }
    sgc_blocks_put(0);
}

/* ---- roots ---- */

/* The number, from 1, of the module whose thread-local variables begin there; 0: of none. */
static uint64_t module_of_variables(const struct sgc_mutator *m, uintptr_t lo)
{
    struct sgc_range block;

    for (int i = 0; i < sgc_root_modules.tlses; i++)
        if (sgc_tls_block(m->thread_pointer, sgc_root_modules.tls[i], &block) && block.lo == lo)
            for (int module = 0; module < sgc_root_modules.modules; module++)
                if (sgc_root_modules.module[module].bias == sgc_root_modules.tls[i].bias)
                    return (uint64_t)module + 1;
    return 0;
}

static void put_root(void *arg, enum sgc_root_kind kind, const struct sgc_mutator *whose, struct sgc_range range,
                     const struct sgc_root_copy *copy)
{
    struct sgc_snapshot_counts *counts = arg;
    uintptr_t lo = sgc_round_up(range.lo, sizeof lo), hi = sgc_round_down(range.hi, sizeof hi);
    uint64_t module = 0;

    sgc_assert((unsigned)kind <= SGC_ROOT_DATE && range.lo <= range.hi);
    if (lo >= hi)
        return;
    if (kind == SGC_ROOT_THREAD_LOCAL && copy == NULL)
        module = module_of_variables(whose, lo);
    sgc_blocks_put((uint64_t)kind + 1 + (module << SGC_SNAPSHOT_ROOT_BITS));
    sgc_blocks_put(whose != NULL ? (uint64_t)whose->tid : 0);
    counts->of[SGC_TRAILER_ROOTS] += sgc_snapshot_put_root_words(lo, hi);
    counts->of[SGC_TRAILER_RANGES]++;
}

static void put_roots(struct sgc_snapshot_counts *counts)
{
    sgc_blocks_section(SGC_SECTION_ROOTS);
    sgc_roots_visit(put_root, counts, true);
    sgc_blocks_put(0);
}

/* ---- finalization ---- */

static void put_address(struct sgc_snapshot_counts *counts, enum sgc_snapshot_root root, uintptr_t address)
{
    if (!sgc_heap_contains(address))
        return;
    sgc_blocks_put(root);
    sgc_blocks_put(address - sgc_heap.base);
    counts->of[SGC_TRAILER_KEPT]++;
}

static void put_kept_address(void *arg, uintptr_t address)
{
    put_address(arg, SGC_SNAPSHOT_FINALIZATION, address);
}

static void put_finalizer(void *arg, uintptr_t object)
{
    sgc_assert(sgc_heap_contains(object));
    put_address(arg, SGC_SNAPSHOT_FINALIZER, object);
}

static void put_kept(struct sgc_snapshot_counts *counts)
{
    sgc_blocks_section(SGC_SECTION_KEPT);
    sgc_finalization_visit(put_kept_address, counts);
    sgc_finalization_visit_finalizers(put_finalizer, counts);
    sgc_blocks_put(0);
}

/* ---- allocation sites: the stacks of samples that live, and which objects these are ---- */

_Static_assert((int)SGC_SNAPSHOT_FRAMES == (int)SGC_SITE_FRAMES, "the format has as many");

/* One more than how many program counters it has, and these; of a site that has no objects none. */
static void put_site(const struct sgc_site *site, uint32_t number, uint64_t *last)
{
    uintptr_t place[SGC_SITE_FRAMES];
    int places = site->samples != 0 ? sgc_sites_stack(NULL, number, place, SGC_SITE_FRAMES) : 0;

    sgc_assert(places >= 0 && places <= SGC_SITE_FRAMES);
    sgc_blocks_put((uint64_t)places + 1);
    for (int i = 0; i < places; i++)
        sgc_blocks_put_step(last, place[i]);
}

/* One more than the number of its site, and its place. */
static void put_object(void *last, uintptr_t object, uint32_t site)
{
    sgc_assert(sgc_heap_contains(object) && object % SGC_GRANULE == 0);
    sgc_blocks_put((uint64_t)site + 1);
    sgc_blocks_put_step(last, (object - sgc_heap.base) >> SGC_GRANULE_LOG);
}

/* Only if samples were taken. */
static void put_sites(void)
{
    uint64_t last_place = 0, last_object = 0;
    const struct sgc_site *site;

    if (sgc_sites_at(0) == NULL)
        return;
    sgc_blocks_section(SGC_SECTION_SITES);
    for (uint32_t i = 0; (site = sgc_sites_at(i)) != NULL; i++)
        put_site(site, i, &last_place);
    sgc_blocks_put(0);
    sgc_sites_each(put_object, &last_object);
    sgc_blocks_put(0);
}

/* ---- all ---- */

void sgc_snapshot_put_contents(struct sgc_snapshot_counts *counts)
{
    sgc_assert(sgc_blocks_ok());
    put_pages(counts);
    sgc_snapshot_put_words(counts);
    put_sites();
    put_roots(counts);
    put_kept(counts);
}
