/* SPDX-License-Identifier: MIT */
/*
 * The visits of the rounds to links and their targets (gc/finalize/rounds.h), a leaf or a unit at a
 * time: by markers, each in a block of its own.
 *
 *   what    written by                            read by                 ordering
 *   idle    markers: add; the collecting thread,  the collecting thread   rounds: see mark/team/team.h
 *           before the rounds: 0
 *   dead    markers: 1; likewise 0                the same and markers    rounds; markers that look on: a hint
 *   spared, the collecting thread                 markers                 rounds
 *   turn
 *   prune   the collecting thread                 same
 */
#include "gc/finalize/rounds.h"
#include "gc/threads/world.h"
#include "platform/faults.h"

enum {
    LINKS_LEFT = 1,   /* marks of a block of short links: not all of them have been cleared */
    LINKS_IN_ONE = 2, /* all lie in one large object, or outside the heap */
    DENSE = 4,        /* where a leaf lost so many links there may soon be as many: the leaves of
                       * its block stay ... */
    STAY = 2,         /* ... until the second cycle after it that looks and finds none such */
    STAY_SHIFT = 8,   /* in marks: how many such cycles are to come */
};

SGC_STATE static sgc_aw_t idle;
SGC_STATE static sgc_a32_t dead;        /* a target may be */
SGC_STATE static bool spared;           /* no target is: links and targets are looked at only where
                                         * it is their turn, for the sake of empty leaves */
SGC_STATE static uint32_t turn;
SGC_STATE static bool prune;            /* the last cycle has left blocks without a link */

static struct sgc_finalization *const all = &sgc_finalization;

void sgc_links_begin(void)
{
    sgc_assert(sgc_world_stopped());
    prune = sgc_aw_load(&idle) != 0;
    sgc_aw_store(&idle, 0);
}

/* ---- short links ---- */

/* The memory that a link lies in: the heap's if its object is marked; any other lives as long as
 * the program says. */
static bool usable(uintptr_t link)
{
    struct sgc_object o;

    sgc_assert(sgc_link_ok(link));
    return !sgc_heap_contains(link) || (sgc_object_slot(link, &o) && sgc_finalize_marked(o.start));
}

/* Was it freed explicitly, after the link was made? */
static bool stale(uintptr_t value)
{
    sgc_assert(value != 0 && sgc_registrable(sgc_link_target(value)));
    return sgc_target_generation(sgc_link_target(value)) != sgc_link_generation(value);
}

static void clear_link(uintptr_t link, sgc_aw_t *unit)
{
    sgc_assert(sgc_link_ok(link) && sgc_world_stopped());
    if (!sgc_fault_turn(SGC_FAULT_LINK_KEPT, 8))
        sgc_aw_store((sgc_aw_t *)link, 0);
    sgc_aw_store(unit, 0);
}

/* A link in an object that is dead is cleared like others: a finalizer may bring the object
 * back. */
static bool lies_in_object(uintptr_t link)
{
    return !sgc_heap_contains(link) || sgc_object_inside(link);
}

static void clear_if_dead(void *marker, struct sgc_tree_chunk *block, uintptr_t link, sgc_aw_t *unit)
{
    uintptr_t value = sgc_aw_load(unit);

    (void)marker, (void)block;
    sgc_assert(value != 0 && sgc_registrable(sgc_link_target(value)));
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
static bool spare_links(struct sgc_tree_chunk *block, uintptr_t marks)
{
    sgc_aw_store(&block->marks, marks | LINKS_LEFT);
    return false;
}

static bool begin_links(void *marker, struct sgc_tree_chunk *block)
{
    size_t bytes = (size_t)sizeof(struct sgc_tree_leaf) << SGC_TREE_CHUNK_LOG;
    uintptr_t marks = lies_in_one(block->base, bytes) ? LINKS_IN_ONE : 0;
    uintptr_t stay = sgc_aw_load(&block->marks) >> STAY_SHIFT;

    sgc_assert(sgc_tree_block_ok(&all->links[SGC_LINK_SHORT], block) && stay <= STAY);
    (void)marker;
    if (spared && !sgc_tree_is_turn(&all->links[SGC_LINK_SHORT], block, turn))
        return spare_links(block, marks | stay << STAY_SHIFT);
    sgc_aw_store(&block->marks, marks | (stay != 0 ? stay - 1 : 0) << STAY_SHIFT);
    return true;
}

/* Of the block, when a leaf has been gone through that had so many links. */
static uintptr_t marks_after(uintptr_t marks, uintptr_t left, uint32_t links)
{
    sgc_assert(links <= 1 << SGC_TREE_LEAF_LOG);
    if (left != 0)
        return marks | LINKS_LEFT;
    if (links < DENSE)
        return marks;
    return (marks & (((uintptr_t)1 << STAY_SHIFT) - 1)) | (uintptr_t)STAY << STAY_SHIFT;
}

/* All links of a leaf.  True if it is to stay. */
static bool clear_leaf(void *marker, struct sgc_tree_chunk *block, uintptr_t address,
                       struct sgc_tree_leaf *leaf)
{
    const uintptr_t word = (uintptr_t)1 << SGC_LINKS_LOG;
    uintptr_t marks = sgc_aw_load(&block->marks);
    bool in_one = (marks & LINKS_IN_ONE) != 0 || lies_in_one(address, sizeof leaf->unit);
    bool plain = in_one && sgc_a32_load(&all->freed) == 0;
    uint32_t links = 0;
    uintptr_t left = 0;

    sgc_assert(address % sizeof leaf->unit == 0 && address >= block->base);
    for (size_t i = 0; i < 1 << SGC_TREE_LEAF_LOG; i++, address += word) {
        uintptr_t value = sgc_aw_load(&leaf->unit[i]);

        if (value == 0)
            continue;
        sgc_assert(sgc_registrable(sgc_link_target(value)));
        links++;
        if (!plain)
            clear_if_dead(marker, block, address, &leaf->unit[i]);
        else if (!sgc_finalize_marked(sgc_link_target(value)))
            clear_link(address, &leaf->unit[i]);
        left |= sgc_aw_load(&leaf->unit[i]);
    }
    marks = marks_after(marks, left, links);
    sgc_aw_store(&block->marks, marks);
    return left != 0 || marks >> STAY_SHIFT != 0;
}

/* Of round 7: it need not look at what round 1 has emptied, or at what lies in something that
 * lives. */
static bool links_left(void *marker, struct sgc_tree_chunk *block)
{
    bool any = (sgc_aw_load(&block->marks) & LINKS_LEFT) != 0;

    sgc_assert(sgc_tree_block_ok(&all->links[SGC_LINK_SHORT], block));
    (void)marker;
    if (!any)
        sgc_aw_add_relaxed(&idle, 1);
    return any && !((sgc_aw_load(&block->marks) & LINKS_IN_ONE) != 0 && usable(block->base));
}

static void clear_if_stale(void *marker, struct sgc_tree_chunk *block, uintptr_t link, sgc_aw_t *unit)
{
    if (stale(sgc_aw_load(unit)))
        clear_link(link, unit);
    (void)marker, (void)block;
}

static void drop_if_unusable(void *marker, struct sgc_tree_chunk *block, uintptr_t link, sgc_aw_t *unit)
{
    (void)marker, (void)block;
    if (!usable(link))
        sgc_aw_store(unit, 0);
}

/* Keeps the leaf, even if it is empty now: a later round 1 takes it out. */
static bool drop_unusable_in_leaf(void *marker, struct sgc_tree_chunk *block, uintptr_t address,
                                  struct sgc_tree_leaf *leaf)
{
    const uintptr_t word = (uintptr_t)1 << SGC_LINKS_LOG;
    bool all_usable = lies_in_one(address, sizeof leaf->unit) && usable(address);

    sgc_assert(address % sizeof leaf->unit == 0);
    for (size_t i = 0; i < 1 << SGC_TREE_LEAF_LOG && !all_usable; i++, address += word)
        if (sgc_aw_load(&leaf->unit[i]) != 0)
            drop_if_unusable(marker, block, address, &leaf->unit[i]);
    return true;
}

/* The last chance of long links. */
static void clear_or_drop(void *marker, struct sgc_tree_chunk *block, uintptr_t link, sgc_aw_t *unit)
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
static void drop_dead_targets(void *marker, struct sgc_tree_chunk *block, uintptr_t address,
                              sgc_aw_t *unit)
{
    bool small = sgc_page_state(&sgc_heap.pages[sgc_page_number(address)]) == SGC_PAGE_SMALL;
    size_t granule = sgc_granule_number(address);
    uintptr_t marks = small ? sgc_aw_load(sgc_mark_word(granule)) >> granule % 64 & UINT32_MAX
                            : sgc_finalize_marked(address);

    sgc_assert(address % (1 << SGC_TARGETS_LOG) == 0 && sgc_heap_contains(address));
    (void)marker, (void)block;
    if (marks == 0)
        sgc_aw_store(unit, 0);
    else
        drop_unmarked(unit, address, marks);
}

static bool targets_due(void *marker, struct sgc_tree_chunk *block)
{
    (void)marker;
    return !spared || sgc_tree_is_turn(&all->targets, block, turn);
}

/* Before round 1.  Of the granules of a unit those that begin an object without a mark, if a flag
 * stands for them. */
static bool dead_in_unit(uintptr_t flags, uintptr_t unmarked)
{
    const uint32_t bits = SGC_FLAGGED / SGC_GRANULE;

    for (; flags != 0 && unmarked != 0; flags >>= 8, unmarked >>= bits)
        if ((flags & 0xff) != 0 && (unmarked & ((1 << bits) - 1)) != 0)
            return true;
    return false;
}

static void find_dead(void *marker, struct sgc_tree_chunk *block, uintptr_t address, sgc_aw_t *unit)
{
    size_t granule = sgc_granule_number(address);
    bool any;

    sgc_assert(address % (1 << SGC_TARGETS_LOG) == 0 && sgc_heap_contains(address));
    (void)marker, (void)block;
    if (sgc_page_state(&sgc_heap.pages[sgc_page_number(address)]) == SGC_PAGE_SMALL)
        any = dead_in_unit(sgc_aw_load(unit), sgc_finalize_unmarked(granule) >> granule % 64 & UINT32_MAX);
    else
        any = !sgc_finalize_marked(address);
    if (any)
        sgc_a32_store(&dead, 1);
}

/* A leaf's memory lies in one page.  Where no object is without a mark, as in most places, flags
 * need no look. */
static bool find_dead_in_leaf(void *marker, struct sgc_tree_chunk *block, uintptr_t address, struct sgc_tree_leaf *leaf)
{
    const size_t unit = (size_t)1 << SGC_TARGETS_LOG, end = 1 << SGC_TREE_LEAF_LOG;
    bool small = sgc_page_state(&sgc_heap.pages[sgc_page_number(address)]) == SGC_PAGE_SMALL;

    _Static_assert(SGC_PAGE % (1 << (SGC_TARGETS_LOG + SGC_TREE_LEAF_LOG)) == 0, "it lies in one page");
    for (size_t i = 0; i < end; i++)
        if (!(small && sgc_finalize_unmarked(sgc_granule_number(address + i * unit)) == 0) && sgc_aw_load(&leaf->unit[i]) != 0)
            find_dead(marker, block, address + i * unit, &leaf->unit[i]);
    return true;
}

static bool none_dead_yet(void *marker, struct sgc_tree_chunk *block)
{
    (void)marker, (void)block;
    return sgc_a32_load(&dead) == 0;
}

/* Targets lie closer together than links to them if these are many, and are flags. */
static bool is_worth_asking(void)
{
    const sgc_aw_t *links = &all->links[SGC_LINK_SHORT].count, *targets = &all->targets.count;

    sgc_assert(sgc_world_stopped());
    sgc_a32_store(&dead, sgc_a32_load(&all->freed) != 0 || prune || sgc_aw_load(links) <= sgc_aw_load(targets));
    return sgc_a32_load(&dead) == 0;
}

void sgc_links_ask_targets(struct sgc_team *team, sgc_round_fn run)
{
    static const struct sgc_tree_visit visit = {
        .tree = &sgc_finalization.targets, .block = none_dead_yet, .leaf = find_dead_in_leaf,
    };

    if (is_worth_asking())
        run(team, &visit);
    spared = sgc_a32_load(&dead) == 0;
    turn += spared;
}

/* ---- visits ---- */

const struct sgc_tree_visit
    sgc_links_short_dead = { .tree = &sgc_finalization.links[SGC_LINK_SHORT], .block = begin_links, .leaf = clear_leaf,
                             .prune = true },
    sgc_links_long_stale = { .tree = &sgc_finalization.links[SGC_LINK_LONG], .unit = clear_if_stale },
    sgc_links_short_left = { .tree = &sgc_finalization.links[SGC_LINK_SHORT], .block = links_left,
                             .leaf = drop_unusable_in_leaf },
    sgc_links_long_left = { .tree = &sgc_finalization.links[SGC_LINK_LONG], .unit = clear_or_drop, .prune = true },
    sgc_links_targets = { .tree = &sgc_finalization.targets, .block = targets_due, .unit = drop_dead_targets, .prune = true };
