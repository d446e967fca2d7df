/* SPDX-License-Identifier: MIT */
/*
 * mark/mark_roots.c: which words are to be scanned again is what a model says that looks at every object, on random heaps with
 * random written pages of several sizes; no word twice.
 *
 * Also: mark/edge.h.
 */
#include "mark/mark_procs.h"
#include "mark/mark_roots.h"
#include "tests/lib/heap.h"

enum { OBJECTS = 3000, ROUNDS = 12, HEAP_LOG = 30 };

static struct thing {
    char *start;
    size_t bytes;
    uint32_t kind;
    bool marked, freed;
    bool found;                 /* a piece names it as a whole, */
    uint32_t found_in;          /* because of that arena, counted from 1 */
} thing[OBJECTS];

static uint64_t seed = 1;
static uint32_t described;
static struct sgc_cache *other;
static uint64_t (*written)[SGC_WRITTEN_WORDS];      /* by arena */
static unsigned char *expected, *got;               /* by granule */

/* ---- a heap ---- */

static size_t random_bytes(void)
{
    switch (heap_random(&seed, 100)) {
    case 0: return SGC_SMALL_MAX + 1 + heap_random(&seed, 6 * SGC_PAGE);
    case 1: return SGC_ARENA / 2 + heap_random(&seed, SGC_ARENA);
    case 2:
    case 3:
    case 4:
    case 5: return 1024 + heap_random(&seed, SGC_SMALL_MAX - 1024);
    default: return 1 + heap_random(&seed, 400);
    }
}

static uint32_t random_kind(void)
{
    switch (heap_random(&seed, 8)) {
    case 0: return SGC_KIND_POINTER_FREE;
    case 1: return SGC_KIND_UNCOLLECTABLE;
    case 2:
    case 3: return described;
    default: return SGC_KIND_CONSERVATIVE;
    }
}

static void free_thing(struct thing *t)
{
    t->freed = sgc_object_free(heap_random(&seed, 2) == 0 ? other : sgc_self, t->start) == SGC_FREE_DONE;
}

static void make_things(void)
{
    struct sgc_object o;

    for (int i = 0; i < OBJECTS; i++) {
        struct thing *t = &thing[i];

        *t = (struct thing){ .kind = random_kind() };
        t->start = heap_alloc(sgc_self, random_bytes(), t->kind);
        if (t->start == NULL || !sgc_object_slot((uintptr_t)t->start, &o))
            tap_bail("the heap of the test is too small");
        t->bytes = o.bytes;
        t->marked = heap_random(&seed, 3) != 0;
    }
    heap_retire();
    sgc_clear_finish();
    sgc_team_begin(heap_alone(&HEAP_MARK), 1);
    for (int i = 0; i < OBJECTS; i++) {
        if (thing[i].marked)
            heap_set_mark(thing[i].start);
        if (thing[i].bytes <= SGC_SMALL_MAX && heap_random(&seed, 6) == 0)
            free_thing(&thing[i]);
    }
}

/* Everything dies. */
static void drop_things(void)
{
    for (int i = 0; i < OBJECTS; i++)
        if (!thing[i].freed && thing[i].kind == SGC_KIND_UNCOLLECTABLE)
            sgc_object_free(sgc_self, thing[i].start);
    sgc_team_abandon(heap_alone(&HEAP_MARK));
    heap_unmark();
    heap_empty();
}

/* ---- written pages ---- */

static uint32_t arenas(void)
{
    return (uint32_t)(sgc_aw_load(&sgc_heap.limit) / SGC_ARENA);
}

static bool is_written(uintptr_t address)
{
    size_t page = (address - sgc_heap.base) % SGC_ARENA / sgc_heap.os_page;

    return (written[(address - sgc_heap.base) / SGC_ARENA][page / 64] >> page % 64 & 1) != 0;
}

/* `share`: of how many one is written. */
static void write_pages(uint32_t share)
{
    size_t count = SGC_ARENA / sgc_heap.os_page;

    memset(written, 0, arenas() * sizeof *written);
    for (uint32_t a = 0; a < arenas(); a++)
        for (size_t n = 0; n < count; n++)
            if (heap_random(&seed, share) == 0)
                written[a][n / 64] |= UINT64_C(1) << n % 64;
}

/* ---- the model ---- */

static bool any_written(const struct thing *t)
{
    for (size_t at = 0; at < t->bytes; at += SGC_GRANULE)
        if (is_written((uintptr_t)t->start + at))
            return true;
    return false;
}

static bool counts(const struct thing *t)
{
    return t->marked && !t->freed && t->kind != SGC_KIND_POINTER_FREE;
}

static size_t granule_of(const char *p)
{
    return sgc_granule_number((uintptr_t)p);
}

/* Words that are scanned one by one; and which OS pages have something. */
static uint32_t expect(unsigned char *os_page)
{
    uint32_t pages = 0;

    for (int i = 0; i < OBJECTS; i++) {
        const struct thing *t = &thing[i];
        bool any = counts(t) && any_written(t), parts = t->bytes > SGC_SMALL_MAX;

        for (size_t at = 0; any && at < t->bytes; at += SGC_GRANULE) {
            bool here = is_written((uintptr_t)t->start + at);

            if (t->kind != described && (here || !parts))
                expected[granule_of(t->start + at)] = 1;
            if (here)
                os_page[granule_of(t->start + at) * SGC_GRANULE / sgc_heap.os_page] = 1;
        }
    }
    for (size_t i = 0; i < (size_t)arenas() * SGC_ARENA / sgc_heap.os_page; i++)
        pages += os_page[i];
    return pages;
}

static int not_whole(void)
{
    int wrong = 0;

    for (int i = 0; i < OBJECTS; i++)
        wrong += thing[i].found != (thing[i].kind == described && counts(&thing[i]) && any_written(&thing[i]));
    return wrong;
}

/* ---- what is found ---- */

static int find_whole(uintptr_t start, size_t bytes, uint32_t arena)
{
    for (int i = 0; i < OBJECTS; i++)
        if ((uintptr_t)thing[i].start == start && thing[i].bytes == bytes && !thing[i].freed) {
            bool again = thing[i].found && thing[i].found_in == arena + 1;

            thing[i].found = true;
            thing[i].found_in = arena + 1;
            return again;
        }
    return 1;
}

/* How many pieces are wrong by themselves: no objects, or words twice. */
static int take_pieces(uint32_t arena)
{
    struct sgc_work work;
    int wrong = 0;

    while (sgc_deque_pop(&heap_marker()->stack, &work)) {
        if ((work.start & SGC_WORK_KINDS) == SGC_WORK_OBJECT) {
            wrong += find_whole(work.start - SGC_WORK_OBJECT, work.bytes, arena);
            continue;
        }
        wrong += (work.start & SGC_WORK_KINDS) != SGC_WORK_HEAP || work.bytes == 0;
        for (size_t at = 0; at < work.bytes; at += SGC_GRANULE)
            wrong += got[granule_of((char *)work.start + at)]++ != 0;
    }
    return wrong;
}

static void test_round(size_t os_page, uint32_t share)
{
    static unsigned char pages[(1 << HEAP_LOG) / 4096];
    size_t granules = (size_t)arenas() * SGC_ARENA / SGC_GRANULE, bad = 0;
    uint32_t found = 0, wanted;
    int wrong = 0, whole;

    sgc_heap.os_page = os_page;
    write_pages(share);
    memset(expected, 0, granules);
    memset(got, 0, granules);
    for (int i = 0; i < OBJECTS; i++)
        thing[i].found = false;
    for (uint32_t a = 0; a < arenas(); a++) {
        found += sgc_mark_written(heap_marker(), a, written[a]);
        wrong += take_pieces(a);
    }
    memset(pages, 0, sizeof pages);
    wanted = expect(pages);
    whole = not_whole();
    for (size_t g = 0; g < granules; g++)
        bad += expected[g] != got[g];
    tap_ok(wrong == 0 && bad == 0 && whole == 0,
           "OS pages of %zu KB, one of %u written: what is on them (%d pieces wrong, %zu granules, %d objects)", os_page >> 10,
           share, wrong, bad, whole);
    tap_ok(found == wanted, "%u of them had something to scan, %u expected", found, wanted);
}

static void test_nothing(void)
{
    static const uint64_t none[SGC_WRITTEN_WORDS];
    uint64_t all[SGC_WRITTEN_WORDS];
    uint32_t found = 0;

    memset(all, 0xff, sizeof all);
    for (uint32_t a = 0; a < arenas(); a++)
        found += sgc_mark_written(heap_marker(), a, none);
    found += sgc_mark_written(heap_marker(), arenas(), all);
    tap_ok(found == 0 && sgc_marker_idle(heap_marker()), "nothing on what was not written, nor behind the heap");
}

int main(void)
{
    static const size_t os_pages[] = { 4096, 8192, 16384, 65536 };
    size_t own;

    heap_start((size_t)1 << HEAP_LOG, 0, false);
    own = sgc_heap.os_page;
    described = heap_kind((uintptr_t)3 << 62 | SGC_DS_BITMAP, false);
    other = heap_cache();
    expected = heap_map((size_t)1 << (HEAP_LOG - SGC_GRANULE_LOG));
    got = heap_map((size_t)1 << (HEAP_LOG - SGC_GRANULE_LOG));
    written = heap_map(((size_t)1 << HEAP_LOG) / SGC_ARENA * sizeof *written);
    for (int round = 0; round < ROUNDS; round++) {
        make_things();
        test_nothing();
        test_round(os_pages[round % 4], round < 4 ? 2 : round < 8 ? 20 : 1);
        sgc_heap.os_page = own;
        drop_things();
    }
    sgc_heap_check();
    return tap_done();
}
