/* SPDX-License-Identifier: MIT */
/*
 * alloc/object.c: from any address to its object, and whether it is allocated; with an independent idea of where
 * objects lie.
 */
#include "tests/lib/heap.h"

static struct sgc_cache *cache;

static void test_small(void)
{
    int wrong = 0;

    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++) {
        uint32_t bytes = sgc_class_bytes(cls);
        heap_small(cache, bytes, SGC_KIND_POINTER_FREE);
        uintptr_t start = (uintptr_t)heap_small(cache, bytes, SGC_KIND_POINTER_FREE);
        struct sgc_object o;
        for (uint32_t i = 0; i < bytes; i += i < 40 || i + 40 > bytes ? 1 : 13)
            wrong += !sgc_object_find(start + i, &o) || o.start != start || o.bytes != bytes ||
                     o.kind != SGC_KIND_POINTER_FREE || o.span || o.page != sgc_page_number(start) ||
                     o.granule != sgc_granule_number(start);
        wrong += sgc_object_find(start - 1, &o) && o.start == start;
        wrong += sgc_object_find(start + bytes, &o) && o.start == start;
    }
    tap_ok(wrong == 0, "every byte of a small object leads to it, the bytes around it don't");
}

static void test_page_end(void)
{
    uint32_t cls = sgc_class_for(7), used = sgc_size_classes.of[cls].per_page * 112;
    uintptr_t page = sgc_round_down((uintptr_t)heap_small(cache, 112, SGC_KIND_POINTER_FREE), SGC_PAGE);
    struct sgc_object o;

    tap_ok(used < SGC_PAGE && sgc_object_slot(page + used - 1, &o) && !sgc_object_slot(page + used, &o) &&
           !sgc_object_slot(page + SGC_PAGE - 1, &o), "there is no slot in the unused end of a page");
}

static void test_span(void)
{
    size_t bytes = 5 * SGC_PAGE + 48;
    uintptr_t start = (uintptr_t)heap_alloc(cache, bytes, SGC_KIND_CONSERVATIVE);
    struct sgc_object o;
    int wrong = 0;

    for (size_t i = 0; i < bytes; i += 997)
        wrong += !sgc_object_find(start + i, &o) || o.start != start || o.bytes != bytes || !o.span ||
                 o.page != sgc_page_number(start);
    tap_ok(wrong == 0 && sgc_object_find(start + bytes - 1, &o), "every byte of a span leads to it");
    tap_ok(!sgc_object_slot(start + bytes, &o) && !sgc_object_slot(start + 6 * SGC_PAGE - 1, &o),
           "the rest of its last page does not");
}

static void test_nothing(void)
{
    int on_stack;
    struct sgc_object o;
    uintptr_t limit = sgc_heap.base + sgc_aw_load(&sgc_heap.limit);

    tap_ok(!sgc_object_slot(0, &o) && !sgc_object_slot(UINTPTR_MAX, &o) && !sgc_object_slot((uintptr_t)&on_stack, &o) &&
           !sgc_object_slot((uintptr_t)sgc_heap.bits, &o), "NULL, the stack and the tables are no objects");
    tap_ok(!sgc_object_slot(sgc_heap.base - 1, &o) && !sgc_object_slot(sgc_heap.base, &o) &&
           !sgc_object_slot(limit, &o) && !sgc_object_slot(limit - 1, &o), "neither are the heap's ends");
}

static void test_allocated(void)
{
    char *object = heap_small(cache, 64, SGC_KIND_CONSERVATIVE);
    struct sgc_object o;

    tap_ok(heap_allocated(object), "an object is allocated");
    tap_ok(sgc_object_slot((uintptr_t)object + 64, &o) && !sgc_object_allocated(&o), "the claimed slot after it is not");
    tap_ok(sgc_object_slot(sgc_round_up((uintptr_t)object + 1, SGC_PAGE) - 64, &o) && !sgc_object_allocated(&o),
           "nor one never claimed");
    heap_free_local(cache, object);
    tap_ok(!heap_allocated(object), "nor one that was freed");
    char *remote = heap_small(cache, 64, SGC_KIND_CONSERVATIVE);
    struct sgc_cache *other = heap_cache();
    tap_ok(sgc_object_free(other, remote) == SGC_FREE_DONE && sgc_alloc_bit(sgc_granule_number((uintptr_t)remote)) &&
           !heap_allocated(remote), "nor one that another thread freed, though its bit still stands");
    char *span = heap_alloc(cache, 100000, SGC_KIND_CONSERVATIVE);
    tap_ok(heap_allocated(span) && sgc_object_free(other, span + 65536) == SGC_FREE_INTERIOR &&
           sgc_object_free(other, span) == SGC_FREE_DONE && !heap_allocated(span), "nor a span that was freed");
    char *keep[1] = { heap_small(cache, 2000, SGC_KIND_CONSERVATIVE) };
    char *dead = heap_small(cache, 2000, SGC_KIND_CONSERVATIVE);
    heap_collect(keep, 1);
    tap_ok(heap_allocated(keep[0]) && !heap_allocated(dead), "nor one that a cycle found dead, swept or not");
}

/* A thread that has seen the tail of a span may be held up while the page becomes one of small objects, which has its bin
 * where `back` was. */
static bool nothing_behind(uint32_t page, uint32_t back)
{
    struct sgc_page *d = &sgc_heap.pages[page];
    uintptr_t address = sgc_page_start(page) + 100;
    struct sgc_object o;
    bool nothing;

    sgc_assert(sgc_page_state(d) == SGC_PAGE_FREE);
    sgc_page_set_back(d, back);
    sgc_page_set_state(d, SGC_PAGE_SPAN_TAIL);
    nothing = !sgc_object_slot(address, &o) && !sgc_object_inside(address) && !sgc_object_find(address, &o);
    sgc_page_set_state(d, SGC_PAGE_FREE);
    return nothing;
}

static void test_stale_tail(void)
{
    uint32_t small = sgc_page_number((uintptr_t)heap_small(cache, 64, SGC_KIND_CONSERVATIVE));
    uint32_t span = sgc_page_number((uintptr_t)heap_alloc(cache, 3 * SGC_PAGE, SGC_KIND_CONSERVATIVE));
    uint32_t page = sgc_pool_take(1, &cache->section, &(bool){ false });
    int wrong = 0;

    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++)
        wrong += !nothing_behind(page, sgc_bin_offset(SGC_KIND_CONSERVATIVE, cls));
    for (uint32_t bit = 0; bit < 32; bit++)
        wrong += !nothing_behind(page, UINT32_C(1) << bit);
    wrong += !nothing_behind(page, 0) + !nothing_behind(page, page) + !nothing_behind(page, page - small) +
             !nothing_behind(page, page - span) + !nothing_behind(page, page - span - 1);
    tap_ok(wrong == 0, "a page that was a tail leads to no other's object (%d)", wrong);
    sgc_pool_give(page, 1, &cache->section);
}

/* What the look-up of the whole object says, at an address. */
static bool agree(uintptr_t address)
{
    struct sgc_object o;

    return sgc_object_inside(address) == sgc_object_find(address, &o);
}

/* All addresses of the heap but for those between 16 bytes. */
static int disagreements(void)
{
    uintptr_t end = sgc_heap.base + sgc_aw_load(&sgc_heap.limit);
    int wrong = 0;

    for (uintptr_t at = sgc_heap.base - 2 * SGC_PAGE; at < end + 2 * SGC_PAGE; at += 16)
        wrong += !agree(at) + !agree(at + 15);
    return wrong;
}

/* Objects of many sizes: allocated, freed, and dead but not swept. */
static void test_inside(void)
{
    char *last[1] = { NULL };
    int wrong;

    for (size_t bytes = 16; bytes < 40 * SGC_PAGE; bytes += bytes / 2) {
        heap_alloc(cache, bytes, SGC_KIND_CONSERVATIVE);
        sgc_object_free(cache, heap_alloc(cache, bytes, SGC_KIND_CONSERVATIVE));
        last[0] = heap_alloc(cache, bytes + 16, SGC_KIND_CONSERVATIVE);
    }
    wrong = disagreements();
    tap_ok(wrong == 0 && agree(0) && agree(UINTPTR_MAX), "is there an object: the same answer sooner (%d)", wrong);
    heap_collect(last, 1);
    wrong = disagreements();
    tap_ok(wrong == 0, "also when most are dead (%d)", wrong);
    tap_ok(sgc_object_inside((uintptr_t)last[0]) && !sgc_object_inside(sgc_heap.base), "yes and no");
}

int main(void)
{
    heap_start((size_t)64 << 20, 0, false);
    cache = sgc_self;
    return tap_all(test_nothing, test_small, test_page_end, test_span, test_allocated, test_stale_tail, test_inside);
}
