/* SPDX-License-Identifier: MIT */
/* The sections with words: of objects, of roots, and what finalization keeps.  Which objects they
 * lead to. */
#include "snapshot/reader.h"

/* ---- from a word to an object: as mark/edge.c and mark/scan.c do it ---- */

/* Does a word count that points so far behind an object's first byte? */
static bool counts(const struct sgc_reader *r, uint64_t distance, bool anywhere)
{
    return anywhere || r->distances == NULL || (distance >> r->g->geometry.page_log == 0 && r->distances[distance] != 0);
}

static uint32_t find_small(const struct sgc_reader *r, uint32_t number, uint64_t inside, bool anywhere)
{
    const struct sgc_graph_page *page = &r->g->page[number];
    uint64_t slot = inside / page->object_bytes, slots = (UINT64_C(1) << r->g->geometry.page_log) / page->object_bytes;
    size_t at = r->bits_at[number] + slot / 64;
    uint64_t bits;

    sgc_assert(page->is == SGC_GRAPH_PAGE_SMALL && page->object_bytes != 0);
    if (slot >= slots || !counts(r, inside - slot * page->object_bytes, anywhere))
        return SGC_GRAPH_NONE;
    sgc_assert(at < r->bits.count);
    bits = ((const uint64_t *)r->bits.of)[at];
    if ((bits >> slot % 64 & 1) == 0)
        return SGC_GRAPH_NONE;
    bits &= (UINT64_C(1) << slot % 64) - 1;
    return page->first_object + ((const uint16_t *)r->before.of)[at] + (uint32_t)__builtin_popcountll(bits);
}

uint32_t sgc_reader_find(const struct sgc_reader *r, uint64_t offset, bool anywhere)
{
    uint64_t number = offset >> r->g->geometry.page_log, inside;
    const struct sgc_graph_page *page;

    if (number >= r->g->pages)
        return SGC_GRAPH_NONE;
    page = &r->g->page[number];
    if (page->is == SGC_GRAPH_PAGE_SMALL)
        return find_small(r, (uint32_t)number, offset - (number << r->g->geometry.page_log), anywhere);
    if (page->is == SGC_GRAPH_PAGE_TAIL) {
        number -= page->pages;
        page -= page->pages;
    }
    inside = offset - (number << r->g->geometry.page_log);
    if (page->is != SGC_GRAPH_PAGE_SPAN || page->objects == 0 || inside >= page->object_bytes || inside >= page->reach ||
        !counts(r, inside, anywhere))
        return SGC_GRAPH_NONE;
    return page->first_object;
}

bool sgc_reader_next_word(struct sgc_reader *r, uint64_t words, uint64_t *place, uint64_t *offset, uint64_t max)
{
    uint64_t more = sgc_input_within(&r->in, "the place of a word", 0, words - *place);

    sgc_assert(*place <= words);
    if (more == 0)
        return false;
    *place += more;
    *offset += sgc_snapshot_unzigzag(sgc_input_number(&r->in));
    if (*offset > max)
        sgc_input_fail(&r->in, "a word leads behind the heap, before byte %llu; write another snapshot",
                       (unsigned long long)r->in.at);
    return !r->in.failed;
}

/* ---- words of objects ---- */

static void add_edge(struct sgc_reader *r, uint64_t offset, uint64_t word)
{
    uint32_t target = sgc_reader_find(r, offset, false);
    struct sgc_graph_edge *edge;
    uint64_t *aim;

    r->words++;
    if (target == SGC_GRAPH_NONE)
        return;
    edge = sgc_reader_add(r, &r->edges);
    aim = r->aims && edge != NULL ? sgc_reader_add(r, &r->aim) : NULL;
    if (edge != NULL)
        *edge = (struct sgc_graph_edge){ target, (uint32_t)word };
    if (aim != NULL)
        *aim = offset;
}

static void read_object(struct sgc_reader *r, uint32_t number, uint32_t object)
{
    const struct sgc_graph_page *page = &r->g->page[number];
    struct sgc_graph_object *o = (struct sgc_graph_object *)r->objects.of + object;
    uint64_t words = page->object_bytes / r->g->geometry.word, place = 0, offset = o->offset;

    sgc_assert(object < r->objects.count && page->kind < r->g->kinds);
    o->first_edge = r->edges.count;
    while (sgc_reader_next_word(r, words, &place, &offset, r->g->geometry.limit - 1))
        add_edge(r, offset, place - 1);
    if (r->g->kind[page->kind].scan == SGC_GRAPH_SCAN_DESCRIBED)
        r->g->procedure_objects += sgc_input_within(&r->in, "whether a procedure decides of words", 0, 1);
}

static bool has_words(const struct sgc_reader *r, uint32_t number)
{
    sgc_assert(number < r->g->pages && r->g->page[number].kind < r->g->kinds);
    return r->g->page[number].objects != 0 && r->g->kind[r->g->page[number].kind].scan != SGC_GRAPH_SCAN_NOTHING;
}

/* Objects without words have no edges, between those of their neighbours. */
static void skip_page(struct sgc_reader *r, uint32_t number)
{
    struct sgc_graph_object *o = (struct sgc_graph_object *)r->objects.of + r->g->page[number].first_object;

    for (uint32_t i = 0; i < r->g->page[number].objects; i++)
        o[i].first_edge = r->edges.count;
}

bool sgc_reader_words(struct sgc_reader *r)
{
    uint32_t before = 0;

    if (!sgc_reader_begin_types(r) || !sgc_input_section(&r->in, SGC_SECTION_WORDS))
        return false;
    for (uint32_t number = 0; number < r->g->pages && !r->in.failed; number++) {
        const struct sgc_graph_page *page = &r->g->page[number];

        if (!has_words(r, number)) {
            skip_page(r, number);
            continue;
        }
        sgc_input_within(&r->in, "the distance of a page with pointers", number - before, number - before);
        for (uint32_t i = 0; i < page->objects && !r->in.failed; i++)
            read_object(r, number, page->first_object + i);
        if (r->in.version >= 3)
            sgc_reader_page_types(r, page);
        before = number;
    }
    sgc_input_within(&r->in, "the distance of a page with pointers", 0, 0);
    sgc_assert(sgc_reader_ok(r));
    return !r->in.failed;
}

/* ---- roots ---- */

void sgc_reader_add_range(struct sgc_reader *r, struct sgc_graph_range range)
{
    struct sgc_graph_range *added = r->ranges.count < UINT32_MAX - 8 ? sgc_reader_add(r, &r->ranges) : NULL;

    range.first_root = r->roots.count;
    if (added != NULL)
        *added = range;
    else
        sgc_input_fail(&r->in, "it has too many ranges of roots; nobody can read so many");
    r->g->root_bytes += range.bytes;
}

void sgc_reader_add_root(struct sgc_reader *r, uint32_t target, uint64_t word)
{
    struct sgc_graph_root_word *root = target != SGC_GRAPH_NONE ? sgc_reader_add(r, &r->roots) : NULL;

    sgc_assert(r->ranges.count != 0 || root == NULL);
    if (root != NULL)
        *root = (struct sgc_graph_root_word){ word, target, (uint32_t)r->ranges.count - 1 };
}

/* Where interior pointers do not count in the heap, static data is looked at like the heap.
 * Elsewhere a word that equals an object's first address may mean the end of the one before. */
void sgc_reader_add_root_word(struct sgc_reader *r, uint64_t offset, uint64_t word, bool like_heap)
{
    sgc_assert(offset <= r->g->geometry.limit);
    sgc_reader_add_root(r, sgc_reader_find(r, offset, !like_heap), word);
    if (!like_heap && (r->flags & SGC_SNAPSHOT_END_WORD) != 0 && offset != 0 &&
        (offset & ((UINT64_C(1) << r->g->geometry.granule_log) - 1)) == 0)
        sgc_reader_add_root(r, sgc_reader_find(r, offset - 1, true), word);
}

/* `number`: in the lower bits what it is, and above them a number of a module. */
static void read_range(struct sgc_reader *r, uint64_t number)
{
    uint32_t root = (uint32_t)(number & ((1u << SGC_SNAPSHOT_ROOT_BITS) - 1)) - 1;
    uint32_t module = (uint32_t)(number >> SGC_SNAPSHOT_ROOT_BITS);
    uint64_t thread = sgc_input_within(&r->in, "the number of a thread", 0, UINT32_MAX);
    uint64_t lo = sgc_input_number(&r->in);
    uint64_t bytes = sgc_input_within(&r->in, "the size of a root", r->g->geometry.word, UINT64_C(1) << 47);
    uint64_t words = bytes / r->g->geometry.word, place = 0, offset = 0;
    bool like_heap = r->distances != NULL && root <= SGC_GRAPH_ADDED;

    sgc_reader_add_range(r, (struct sgc_graph_range){ .lo = lo, .bytes = bytes, .thread = (uint32_t)thread, .root = root,
                                                      .module = module });
    for (; sgc_reader_next_word(r, words, &place, &offset, r->g->geometry.limit); r->root_words++)
        sgc_reader_add_root_word(r, offset, place - 1, like_heap);
    r->read_ranges++;
}

/* Objects that are roots because of their kind. */
static void add_kinds(struct sgc_reader *r, enum sgc_graph_root root)
{
    uint64_t place = 0;

    sgc_reader_add_range(r, (struct sgc_graph_range){ .root = root });
    for (uint32_t number = 0; number < r->g->pages && !r->in.failed; number++) {
        const struct sgc_graph_page *page = &r->g->page[number];
        const struct sgc_graph_kind *kind = &r->g->kind[page->kind];

        for (uint32_t i = 0; (root == SGC_GRAPH_DISCLAIM ? kind->disclaims : kind->uncollectable) && i < page->objects; i++)
            sgc_reader_add_root(r, page->first_object + i, place++);
    }
}

static bool read_kept(struct sgc_reader *r)
{
    uint64_t root, now = SGC_GRAPH_ROOTS;

    if (!sgc_input_section(&r->in, SGC_SECTION_KEPT))
        return false;
    while ((root = sgc_input_within(&r->in, "an address of finalization", 0, SGC_SNAPSHOT_FINALIZER)) != 0) {
        uint64_t offset = sgc_input_within(&r->in, "where such an address leads", 0, r->g->geometry.limit - 1);
        uint32_t as = root == SGC_SNAPSHOT_FINALIZER ? SGC_GRAPH_FINALIZER : SGC_GRAPH_FINALIZATION;

        if (root < SGC_SNAPSHOT_FINALIZATION)
            sgc_input_fail(&r->in, "what finalization keeps is said to be %llu, before byte %llu; write another snapshot",
                           (unsigned long long)root, (unsigned long long)r->in.at);
        if (as != now)
            sgc_reader_add_range(r, (struct sgc_graph_range){ .root = as });
        now = as;
        sgc_reader_add_root(r, sgc_reader_find(r, offset, true), r->kept++);
    }
    return !r->in.failed;
}

bool sgc_reader_roots(struct sgc_reader *r)
{
    uint64_t root, highest = SGC_SNAPSHOT_DATE + ((uint64_t)r->modules.count << SGC_SNAPSHOT_ROOT_BITS);

    if (!sgc_input_section(&r->in, SGC_SECTION_ROOTS))
        return false;
    sgc_reader_add_pushed(r);
    while ((root = sgc_input_within(&r->in, "what a root is", 0, highest)) != 0) {
        if (root > SGC_SNAPSHOT_DATE && (root & ((1u << SGC_SNAPSHOT_ROOT_BITS) - 1)) != SGC_SNAPSHOT_THREAD_LOCAL)
            sgc_input_fail(&r->in, "a root is said to be %llu, before byte %llu; write another snapshot",
                           (unsigned long long)root, (unsigned long long)r->in.at);
        else
            read_range(r, root);
    }
    add_kinds(r, SGC_GRAPH_UNCOLLECTABLE);
    if (!read_kept(r))
        return false;
    add_kinds(r, SGC_GRAPH_DISCLAIM);
    return !r->in.failed;
}
