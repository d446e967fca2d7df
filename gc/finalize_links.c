/* SPDX-License-Identifier: MIT */
/*
 * What the rounds do with links and their targets (gc/finalize_rounds.h), a leaf or a unit at a time: markers, each in a
 * block of its own.
 *
 *   what    written by                            read by                 ordering
 *   idle    markers: add; the collecting thread,  the collecting thread   rounds: see mark/team.h
 *           before the rounds: 0
 */
#include "gc/finalize_rounds.h"

enum {
    LINKS_LEFT = 1,             /* mark of a block of short links: not all of them have been cleared */
    DENSE = 4,                  /* a leaf that had so many links may soon have as many again: it stays for a cycle */
};

SGC_STATE static sgc_aw_t idle;

static struct sgc_finalization *const all = &sgc_finalization;

void sgc_links_begin(void)
{
    sgc_aw_store(&idle, 0);
}

size_t sgc_links_idle(void)
{
    return sgc_aw_load(&idle);
}

/* ---- short links ---- */

/* The memory that a link lies in: the heap's if its object is marked; any other lives as long as the program says. */
static bool usable(uintptr_t link)
{
    struct sgc_object o;

    return !sgc_heap_contains(link) || (sgc_object_slot(link, &o) && sgc_finalize_marked(o.start));
}

/* Was it freed explicitly, after the link was made? */
static bool stale(uintptr_t value)
{
    return sgc_target_generation(sgc_link_target(value)) != sgc_link_generation(value);
}

static void clear_link(uintptr_t link, sgc_aw_t *unit)
{
    sgc_aw_store((sgc_aw_t *)link, 0);
    sgc_aw_store(unit, 0);
}

/* A link in an object that is dead is cleared like others: a finalizer may bring the object back. */
static bool lies_in_object(uintptr_t link)
{
    return !sgc_heap_contains(link) || sgc_object_inside(link);
}

static void clear_if_dead(struct sgc_marker *marker, struct sgc_tree_block *block, uintptr_t link, sgc_aw_t *unit)
{
    uintptr_t value = sgc_aw_load(unit);

    (void)marker, (void)block;
    if (sgc_finalize_marked(sgc_link_target(value)) && (sgc_a32_load(&all->freed) == 0 || !stale(value)))
        return;
    if (lies_in_object(link))
        clear_link(link, unit);
    else
        sgc_aw_store(unit, 0);
}

/* Does everything from there on lie in one allocated large object, or outside the heap? */
static bool lies_in_one(uintptr_t link, size_t bytes)
{
    struct sgc_object o;

    return !sgc_heap_contains(link) || (sgc_object_slot(link, &o) && o.span && sgc_span_bit(o.page) &&
                                        link + bytes <= o.start + o.bytes);
}

/* Of round 1. */
static bool begin_links(struct sgc_marker *marker, struct sgc_tree_block *block)
{
    (void)marker;
    sgc_aw_store(&block->marks, 0);
    return true;
}

/* All links of a leaf.  True if it is to stay. */
static bool clear_leaf(struct sgc_marker *marker, struct sgc_tree_block *block, uintptr_t address,
                       struct sgc_tree_leaf *leaf)
{
    const uintptr_t word = (uintptr_t)1 << SGC_LINKS_LOG;
    bool plain = sgc_a32_load(&all->freed) == 0 && lies_in_one(address, sizeof leaf->unit);
    uint32_t links = 0;
    uintptr_t left = 0;

    for (size_t i = 0; i < 1 << SGC_TREE_LEAF_LOG; i++, address += word) {
        uintptr_t value = sgc_aw_load(&leaf->unit[i]);

        if (value == 0)
            continue;
        links++;
        if (!plain)
            clear_if_dead(marker, block, address, &leaf->unit[i]);
        else if (!sgc_finalize_marked(sgc_link_target(value)))
            clear_link(address, &leaf->unit[i]);
        left |= sgc_aw_load(&leaf->unit[i]);
    }
    if (left != 0)
        sgc_aw_store(&block->marks, LINKS_LEFT);
    return left != 0 || links >= DENSE;
}

/* Of round 7: it need not look at what round 1 has emptied. */
static bool links_left(struct sgc_marker *marker, struct sgc_tree_block *block)
{
    bool any = sgc_aw_load(&block->marks) != 0;

    (void)marker;
    if (!any)
        sgc_aw_add_relaxed(&idle, 1);
    return any;
}

static void clear_if_stale(struct sgc_marker *marker, struct sgc_tree_block *block, uintptr_t link, sgc_aw_t *unit)
{
    if (stale(sgc_aw_load(unit)))
        clear_link(link, unit);
    (void)marker, (void)block;
}

static void drop_if_unusable(struct sgc_marker *marker, struct sgc_tree_block *block, uintptr_t link, sgc_aw_t *unit)
{
    (void)marker, (void)block;
    if (!usable(link))
        sgc_aw_store(unit, 0);
}

/* What is empty now goes in the next round 1. */
static bool drop_unusable_in_leaf(struct sgc_marker *marker, struct sgc_tree_block *block, uintptr_t address,
                                  struct sgc_tree_leaf *leaf)
{
    const uintptr_t word = (uintptr_t)1 << SGC_LINKS_LOG;
    bool all_usable = lies_in_one(address, sizeof leaf->unit) && usable(address);

    for (size_t i = 0; i < 1 << SGC_TREE_LEAF_LOG && !all_usable; i++, address += word)
        if (sgc_aw_load(&leaf->unit[i]) != 0)
            drop_if_unusable(marker, block, address, &leaf->unit[i]);
    return true;
}

/* The last chance of long links. */
static void clear_or_drop(struct sgc_marker *marker, struct sgc_tree_block *block, uintptr_t link, sgc_aw_t *unit)
{
    drop_if_unusable(marker, block, link, unit);
    if (sgc_aw_load(unit) != 0 && !sgc_finalize_marked(sgc_link_target(sgc_aw_load(unit))))
        clear_link(link, unit);
}

/* ---- targets ---- */

/* The first flag stands for the lowest of these marks. */
static void drop_unmarked(sgc_aw_t *unit, uintptr_t address, uintptr_t marks)
{
    const uint32_t bits = SGC_FLAGGED / SGC_GRANULE;

    for (uint32_t i = 0; i < 8; i++, marks >>= bits, address += SGC_FLAGGED)
        if ((marks & (((uintptr_t)1 << bits) - 1)) == 0)
            sgc_a8_store(sgc_tree_flag(unit, SGC_TARGETS_LOG, address), 0);
}

/* Half a word of marks if objects are small. */
static void drop_dead_targets(struct sgc_marker *marker, struct sgc_tree_block *block, uintptr_t address,
                              sgc_aw_t *unit)
{
    bool small = sgc_page_state(&sgc_heap.pages[sgc_page_number(address)]) == SGC_PAGE_SMALL;
    size_t granule = sgc_granule_number(address);
    uintptr_t marks = small ? sgc_aw_load(sgc_mark_word(granule)) >> granule % 64 & UINT32_MAX
                            : sgc_finalize_marked(address);

    (void)marker, (void)block;
    if (marks == 0)
        sgc_aw_store(unit, 0);
    else
        drop_unmarked(unit, address, marks);
}

/* ---- visits ---- */

const struct sgc_tree_visit
    sgc_links_short_dead = { .tree = &sgc_finalization.links[SGC_LINK_SHORT], .block = begin_links, .leaf = clear_leaf,
                             .prune = true },
    sgc_links_long_stale = { .tree = &sgc_finalization.links[SGC_LINK_LONG], .unit = clear_if_stale },
    sgc_links_short_left = { .tree = &sgc_finalization.links[SGC_LINK_SHORT], .block = links_left,
                             .leaf = drop_unusable_in_leaf },
    sgc_links_long_left = { .tree = &sgc_finalization.links[SGC_LINK_LONG], .unit = clear_or_drop, .prune = true },
    sgc_links_targets = { .tree = &sgc_finalization.targets, .unit = drop_dead_targets, .prune = true };
