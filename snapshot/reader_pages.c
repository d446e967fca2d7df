/* SPDX-License-Identifier: MIT */
/* The sections that say what there is: header, kinds, distances, nodes, pages with their
 * objects. */
#include "snapshot/reader.h"

#include <stdlib.h>

static bool got(struct sgc_reader *r)
{
    sgc_assert(sgc_reader_ok(r));
    return !r->in.failed;
}

static void *memory(struct sgc_reader *r, size_t count, size_t each)
{
    void *of = calloc(count + 1, each);

    sgc_assert(each != 0);
    if (of == NULL)
        sgc_input_fail(&r->in, "there is no memory for %zu entries of %zu bytes; free some, or raise the limit (ulimit -v)",
                       count, each);
    return of;
}

/* ---- header ---- */

static const struct number {
    const char *what;
    uint64_t min, max;
} numbers[SGC_HEADER_NUMBERS] = {
    [SGC_HEADER_BASE] = { "the heap's address", 0, UINT64_MAX },
    [SGC_HEADER_LIMIT] = { "the size of the heap", 0, UINT64_C(1) << 47 },
    [SGC_HEADER_WORD] = { "the size of a word", 8, 8 },
    [SGC_HEADER_GRANULE_LOG] = { "the logarithm of a granule's size", 3, 8 },
    [SGC_HEADER_PAGE_LOG] = { "the logarithm of a page's size", 12, 20 },
    [SGC_HEADER_ARENA_LOG] = { "the logarithm of an arena's size", 20, 30 },
    [SGC_HEADER_FLAGS] = { "the flags", 0, UINT64_MAX },
    [SGC_HEADER_CYCLE] = { "the collection's number", 1, UINT64_MAX },
    [SGC_HEADER_PROCESS] = { "the process id", 1, UINT64_MAX },
    [SGC_HEADER_MARKERS] = { "the number of markers", 1, UINT32_MAX },
    [SGC_HEADER_SPLIT_BYTES] = { "the size of pieces", 0, UINT64_MAX },
};

/* Counts of a page's objects have 16 bits; and what memory is needed has to be in proportion to the
 * file. */
static void check_geometry(struct sgc_reader *r)
{
    const struct sgc_graph_geometry *geometry = &r->g->geometry;

    if (geometry->page_log - geometry->granule_log > 16 || geometry->arena_log < geometry->page_log ||
        geometry->arena_log - geometry->page_log > 10)
        sgc_input_fail(&r->in, "granules, pages and arenas of 2 to the %u, %u and %u bytes do not go together; write another "
                       "snapshot", geometry->granule_log, geometry->page_log, geometry->arena_log);
}

bool sgc_reader_header(struct sgc_reader *r)
{
    uint64_t value[SGC_HEADER_NUMBERS], count;

    if (!sgc_input_section(&r->in, SGC_SECTION_HEADER))
        return false;
    count = sgc_input_within(&r->in, "the number of numbers", SGC_HEADER_NUMBERS, 1000);
    for (uint64_t i = 0; i < SGC_HEADER_NUMBERS; i++)
        value[i] = sgc_input_within(&r->in, numbers[i].what, numbers[i].min, numbers[i].max);
    for (uint64_t i = SGC_HEADER_NUMBERS; i < count; i++)
        sgc_input_number(&r->in);
    r->g->geometry = (struct sgc_graph_geometry){
        value[SGC_HEADER_BASE], value[SGC_HEADER_LIMIT], (uint32_t)value[SGC_HEADER_WORD],
        (uint32_t)value[SGC_HEADER_GRANULE_LOG], (uint32_t)value[SGC_HEADER_PAGE_LOG], (uint32_t)value[SGC_HEADER_ARENA_LOG],
    };
    check_geometry(r);
    r->flags = value[SGC_HEADER_FLAGS];
    r->g->cycle = value[SGC_HEADER_CYCLE];
    r->g->process = value[SGC_HEADER_PROCESS];
    r->g->markers = (uint32_t)value[SGC_HEADER_MARKERS];
    return got(r);
}

/* ---- kinds, distances, nodes ---- */

bool sgc_reader_kinds(struct sgc_reader *r)
{
    if (!sgc_input_section(&r->in, SGC_SECTION_KINDS))
        return false;
    r->g->kinds = (uint32_t)sgc_input_within(&r->in, "the number of kinds", 1, SGC_GRAPH_KINDS);
    for (uint32_t i = 0; i < r->g->kinds; i++) {
        uint64_t scan = sgc_input_within(&r->in, "how a kind is scanned", 0, SGC_GRAPH_SCAN_DESCRIBED);
        uint64_t flags = sgc_input_within(&r->in, "the flags of a kind", 0, r->in.version < 3 ? 7 : 15);

        r->g->kind[i] = (struct sgc_graph_kind){
            .scan = (uint8_t)scan,
            .uncollectable = (flags & SGC_SNAPSHOT_KIND_UNCOLLECTABLE) != 0,
            .disclaims = (flags & SGC_SNAPSHOT_KIND_DISCLAIMS) != 0,
            .keeps_contents = (flags & SGC_SNAPSHOT_KIND_KEEPS_CONTENTS) != 0,
            .type_first = (flags & SGC_SNAPSHOT_KIND_TYPE_FIRST) != 0,
        };
        if (r->in.version >= 3)
            sgc_reader_name(r, r->g->kind[i].name, sizeof r->g->kind[i].name);
    }
    return got(r);
}

bool sgc_reader_distances(struct sgc_reader *r)
{
    size_t page = (size_t)1 << r->g->geometry.page_log;
    uint64_t distance = 0, more;

    if (!sgc_input_section(&r->in, SGC_SECTION_DISTANCES))
        return false;
    if ((r->flags & SGC_SNAPSHOT_INTERIOR) == 0) {
        r->distances = memory(r, page, 1);
        if (r->distances == NULL)
            return false;
        r->distances[0] = 1;
    }
    while ((more = sgc_input_within(&r->in, "a distance", 0, page - 1 - distance)) != 0) {
        distance += more;
        sgc_assert(distance < page);
        if (r->distances != NULL)
            r->distances[distance] = 1;
    }
    return got(r);
}

static bool make_pages(struct sgc_reader *r)
{
    uint64_t pages = r->g->geometry.limit >> r->g->geometry.page_log;

    sgc_assert(r->g->page == NULL && r->bits_at == NULL);
    r->g->page = memory(r, (size_t)pages, sizeof *r->g->page);
    r->bits_at = memory(r, (size_t)pages, sizeof *r->bits_at);
    r->g->pages = r->g->page != NULL ? (uint32_t)pages : 0;
    return got(r);
}

bool sgc_reader_nodes(struct sgc_reader *r)
{
    uint64_t arenas = r->g->geometry.limit >> r->g->geometry.arena_log;
    struct sgc_grown homes = { .each = sizeof *r->g->node };

    if (!sgc_input_section(&r->in, SGC_SECTION_NODES))
        return false;
    r->g->nodes = (uint32_t)sgc_input_within(&r->in, "the number of memory nodes", 1, 1 << 14);
    r->g->arenas = (uint32_t)sgc_input_within(&r->in, "the number of arenas", arenas, arenas);
    for (uint32_t i = 0; i < r->g->arenas && !r->in.failed; i++) {
        int16_t *home = sgc_reader_add(r, &homes);
        uint64_t node = sgc_input_within(&r->in, "the home of an arena", 0, r->g->nodes);

        if (home != NULL)
            *home = (int16_t)((int)node - 1);
    }
    r->g->node = homes.of;
    return got(r) && make_pages(r);
}

/* ---- pages ---- */

static void add_object(struct sgc_reader *r, uint64_t offset)
{
    struct sgc_graph_object *object;

    if (r->objects.count >= SGC_GRAPH_NONE - 1) {
        sgc_input_fail(&r->in, "it has more than %u objects; nobody can read so many", SGC_GRAPH_NONE - 1);
        return;
    }
    object = sgc_reader_add(r, &r->objects);
    if (object != NULL)
        *object = (struct sgc_graph_object){ .offset = offset };
}

/* 64 slots of a page: their objects get the next numbers. */
static bool add_slots(struct sgc_reader *r, uint32_t number, uint32_t first, uint64_t slots)
{
    struct sgc_graph_page *page = &r->g->page[number];
    uint64_t *bits = sgc_reader_add(r, &r->bits);
    uint16_t *before = bits != NULL ? sgc_reader_add(r, &r->before) : NULL;

    sgc_assert(first % 64 == 0 && page->object_bytes != 0);
    if (before == NULL)
        return false;
    *bits = slots;
    *before = (uint16_t)page->objects;
    for (; slots != 0; slots &= slots - 1, page->objects++)
        add_object(r, ((uint64_t)number << r->g->geometry.page_log) +
                      (first + (uint32_t)__builtin_ctzll(slots)) * page->object_bytes);
    return !r->in.failed;
}

static void read_small(struct sgc_reader *r, uint32_t number)
{
    struct sgc_graph_page *page = &r->g->page[number];
    uint32_t granules = UINT32_C(1) << (r->g->geometry.page_log - r->g->geometry.granule_log), slots;
    uint64_t size;

    sgc_assert(number < r->g->pages);
    page->cls = (uint8_t)sgc_input_within(&r->in, "a size class", 0, 255);
    size = sgc_input_within(&r->in, "granules of an object", 1, granules);
    slots = granules / (uint32_t)size;
    page->is = SGC_GRAPH_PAGE_SMALL;
    page->pages = 1;
    page->object_bytes = page->reach = size << r->g->geometry.granule_log;
    r->bits_at[number] = r->bits.count;
    for (uint32_t first = 0; first < slots && !r->in.failed; first += 64) {
        uint32_t some = slots - first < 64 ? slots - first : 64;
        uint64_t bits = 0;

        sgc_input_bytes(&r->in, &bits, (some + 7) / 8);
        if (some < 64 && bits >> some != 0)
            sgc_input_fail(&r->in, "page %u has objects behind its end, before byte %llu; write another snapshot", number,
                           (unsigned long long)r->in.at);
        else
            add_slots(r, number, first, bits);
    }
}

/* Bytes of an object: the numbers of its words have 32 bits. */
#define OBJECT_BYTES_MAX (UINT64_C(1) << 35)

static void read_span(struct sgc_reader *r, uint32_t number)
{
    struct sgc_graph_page *page = &r->g->page[number];
    uint64_t reach, max;

    page->pages = (uint32_t)sgc_input_within(&r->in, "pages of a large object", 1, r->g->pages - number);
    max = (uint64_t)page->pages << r->g->geometry.page_log;
    page->object_bytes = sgc_input_within(&r->in, "bytes of a large object", 1,
                                          max < OBJECT_BYTES_MAX ? max : OBJECT_BYTES_MAX);
    reach = sgc_input_number(&r->in);
    page->reach = reach != 0 ? reach - 1 : UINT64_MAX;
    page->is = SGC_GRAPH_PAGE_SPAN;
    page->objects = (uint32_t)sgc_input_within(&r->in, "a large object's bit", 0, 1);
    if (page->objects != 0)
        add_object(r, (uint64_t)number << r->g->geometry.page_log);
    for (uint32_t i = 1; i < page->pages; i++)
        page[i] = (struct sgc_graph_page){
            .pages = i, .is = SGC_GRAPH_PAGE_TAIL, .kind = page->kind, .owner = page->owner, .home = page->home,
        };
    r->last = number + page->pages - 1;
    sgc_assert(r->last < r->g->pages);
}

static void read_page(struct sgc_reader *r, uint32_t number)
{
    struct sgc_graph_page *page = &r->g->page[number];
    uint64_t what = sgc_input_within(&r->in, "what a page is", SGC_SNAPSHOT_SMALL, SGC_SNAPSHOT_SPAN);

    sgc_assert(number < r->g->pages);
    page->kind = (uint8_t)sgc_input_within(&r->in, "a page's kind", 0, r->g->kinds - 1);
    page->owner = (uint16_t)sgc_input_within(&r->in, "a page's owner", 0, UINT16_MAX);
    page->home = (uint16_t)sgc_input_within(&r->in, "a page's home", 0, UINT16_MAX);
    r->last = number;
    r->records++;
    if (r->in.failed)
        return;
    if (what == SGC_SNAPSHOT_SMALL)
        read_small(r, number);
    else
        read_span(r, number);
}

/* First objects of all pages, and sums. */
static bool number_objects(struct sgc_reader *r)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < r->g->pages; i++) {
        r->g->page[i].first_object = next;
        next += r->g->page[i].objects;
        r->g->bytes += r->g->page[i].objects * r->g->page[i].object_bytes;
    }
    r->g->objects = next;
    sgc_assert(r->in.failed || next == r->objects.count);
    return got(r);
}

/* Distances count from the page that was recorded before: one within its span is wrong. */
bool sgc_reader_pages(struct sgc_reader *r)
{
    uint32_t before = 0;
    uint64_t more;

    if (!sgc_input_section(&r->in, SGC_SECTION_PAGES))
        return false;
    while ((more = sgc_input_within(&r->in, "the distance of a page", 0, r->g->pages)) != 0) {
        if (before + more <= r->last && r->last != 0)
            sgc_input_fail(&r->in, "page %llu is part of a large object, before byte %llu; write another snapshot",
                           (unsigned long long)(before + more), (unsigned long long)r->in.at);
        else if (before + more >= r->g->pages)
            sgc_input_fail(&r->in, "page %llu is none of %u pages, before byte %llu; write another snapshot",
                           (unsigned long long)(before + more), r->g->pages, (unsigned long long)r->in.at);
        if (r->in.failed)
            return false;
        before += (uint32_t)more;
        read_page(r, before);
    }
    return got(r) && number_objects(r);
}
