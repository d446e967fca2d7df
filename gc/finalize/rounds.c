/* SPDX-License-Identifier: MIT */
/*
 * The collector's part of finalization: with the world stopped, on the collecting thread, and in
 * rounds that the whole team of markers takes part in.  doc/design/finalization.md gives the order
 * of the rounds and why.
 *
 *   what            written by                                    read by                 ordering
 *   fresh.first     markers: CAS                                  the collecting thread   acquire-release; rounds
 *   fresh.last      the marker that put the first chain there     the collecting thread   rounds
 *   the rest        the collecting thread, between rounds         markers                 rounds: see mark/team/team.h
 */
#include "gc/finalize/rounds.h"

#include "alloc/object.h"
#include "alloc/large/span.h"
#include "gc/config/public_vars.h"
#include "gc/finalize/disclaim.h"
#include "gc/finalize/queue.h"
#include "mark/mark_roots.h"
#include "mark/team/team.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/world.h"

enum {
    VISITS_MAX = 6,
    BLOCKS_FOR_HELPERS = 32,    /* below, looking through them is faster than waking anybody */
};

struct round {
    const struct sgc_tree_visit *visit[VISITS_MAX];
    uint32_t visits;
    size_t blocks;
};

struct finalizing {
    struct round round;
    struct sgc_source source;
    bool only_unreachable;      /* that is what `ready` looks for */
    bool java;
    sgc_mark_more_fn mark_more;
    sgc_await_fn await;         /* if the program wants to see each object before it is queued */
    struct { sgc_aw_t first; struct sgc_node *last; } fresh;
    size_t kept_bytes;          /* for what is ready, and for nobody else */
    uint32_t turn;              /* cycles in which something was ready */
};

SGC_STATE static struct finalizing now;

static struct sgc_finalization *const all = &sgc_finalization;

/* ---- what is done with each unit ---- */

static void drop_if_dead(void *marker, struct sgc_tree_chunk *block, uintptr_t object, sgc_aw_t *unit)
{
    (void)marker, (void)block;
    sgc_assert(sgc_registrable(object));
    if (!sgc_finalize_marked(object))
        sgc_aw_store(unit, 0);
}

static void mark_if_strong(void *marker, struct sgc_tree_chunk *block, uintptr_t object, sgc_aw_t *unit)
{
    sgc_assert(sgc_aw_load(unit) < 2 * SGC_TOGGLE_ASKED && sgc_registrable(object));
    (void)block;
    if ((sgc_aw_load(unit) & SGC_TOGGLE_STRONG) != 0)
        sgc_mark_address(marker, object);
}

/* ---- finalizers ---- */

static bool has_data(void *marker, struct sgc_tree_chunk *block)
{
    (void)marker;
    return sgc_aw_load(&block->marks) != 0;
}

static void mark_data(void *marker, struct sgc_tree_chunk *block, uintptr_t object, sgc_aw_t *unit)
{
    (void)block, (void)object;
    sgc_mark_address(marker, sgc_record_data(sgc_record_of(sgc_aw_load_acq(unit))));
}

/* Marks the objects that an unreachable object with an ordered finalizer reaches: they have to wait
 * for it. */
static void mark_reached(void *marker, struct sgc_tree_chunk *block, uintptr_t object, sgc_aw_t *unit)
{
    uintptr_t order = sgc_aw_load(unit) & SGC_ORDER_MASK;
    struct sgc_object o;

    sgc_assert(order < SGC_ORDERS && sgc_registrable(object));
    (void)block;
    if (order == SGC_NO_ORDER || sgc_finalize_marked(object) || !sgc_object_slot(object, &o) || !sgc_kind_has_pointers(o.kind))
        return;
    if (order == SGC_IGNORE_SELF)
        sgc_mark_contents_but_self(marker, o.start, o.bytes);
    else
        sgc_mark_contents(marker, o.start, o.bytes);
}

/* May something registered there be dead?  Most objects of most programs live, and so many records
 * are not looked at. */
static bool has_unmarked(void *marker, struct sgc_tree_chunk *block)
{
    size_t granule = sgc_granule_number(block->base), end = granule + (1 << (SGC_TREE_LEAF_LOG + SGC_TREE_CHUNK_LOG));
    uintptr_t any = 0;

    _Static_assert(SGC_GRANULE << (SGC_TREE_LEAF_LOG + SGC_TREE_CHUNK_LOG) <= SGC_PAGE, "a block lies in one page");
    (void)marker;
    if (sgc_page_state(&sgc_heap.pages[sgc_page_number(block->base)]) != SGC_PAGE_SMALL)
        return true;
    for (; granule < end; granule += 64)
        any |= sgc_finalize_unmarked(granule);
    return any != 0;
}

static bool waits_longer(uintptr_t order)
{
    return now.java && (order == SGC_UNREACHABLE) != now.only_unreachable;
}

static void take_ready(void *marker, struct sgc_tree_chunk *block, uintptr_t object, sgc_aw_t *unit)
{
    uintptr_t value = sgc_aw_load_acq(unit);
    struct sgc_record *r = sgc_record_of(value);

    sgc_assert(sgc_record_ok(r) && sgc_registrable(object));
    sgc_assert((block->ready.first == NULL) == (block->ready.last == NULL));
    (void)marker;
    if (sgc_finalize_marked(object) || waits_longer(value & SGC_ORDER_MASK))
        return;
    sgc_aw_store(unit, 0);
    sgc_chain_add(&block->ready, r);
}

static bool has_values(const struct sgc_tree_leaf *leaf)
{
    uintptr_t any = 0;

    for (size_t i = 0; i < 1 << SGC_TREE_LEAF_LOG; i++)
        any |= sgc_aw_load(&leaf->unit[i]);
    return any != 0;
}

static bool take_ready_in_leaf(void *marker, struct sgc_tree_chunk *block, uintptr_t address, struct sgc_tree_leaf *leaf)
{
    bool small = sgc_page_state(&sgc_heap.pages[sgc_page_number(address)]) == SGC_PAGE_SMALL;
    size_t granule = sgc_granule_number(address);
    uintptr_t wanted = (small ? sgc_finalize_unmarked(granule) >> granule % 64 : UINTPTR_MAX) & 0xff;

    _Static_assert(SGC_TREE_LEAF_LOG == 3, "the bits of a leaf's units are a byte");
    sgc_assert(granule % (1 << SGC_TREE_LEAF_LOG) == 0 && address >= block->base);
    if (wanted == 0)
        return true;
    for (size_t i = 0; wanted != 0; i++, wanted >>= 1)
        if ((wanted & 1) != 0 && sgc_aw_load(&leaf->unit[i]) != 0)
            take_ready(marker, block, address + (i << SGC_GRANULE_LOG), &leaf->unit[i]);
    return has_values(leaf);
}

/* Leaves that the program has emptied, by freeing or forgetting, are given back here. */
static bool finalizers_due(void *marker, struct sgc_tree_chunk *block)
{
    (void)marker;
    return sgc_tree_is_turn(&all->finalizers, block, now.turn);
}

static bool keep_leaf(void *marker, struct sgc_tree_chunk *block, uintptr_t address, struct sgc_tree_leaf *leaf)
{
    (void)marker, (void)block, (void)address;
    return has_values(leaf);
}

/* Everything is marked that a finalizer may use.  A block in which nothing else is left goes back
 * then. */
static bool keep_ready(void *marker, struct sgc_tree_chunk *block)
{
    struct sgc_node_chain *ready = &block->ready;
    bool any = ready->first != NULL;

    for (struct sgc_record *r = (void *)ready->first; r != NULL; r = (struct sgc_record *)sgc_aw_load(&r->next))
        sgc_mark_address(marker, r->object);
    if (ready->first != NULL && sgc_chain_push(&now.fresh.first, ready) == 0)
        now.fresh.last = ready->last;
    ready->first = ready->last = NULL;
    return any;
}

/* ---- rounds ---- */

static const struct sgc_tree_visit
    visit_data = { .tree = &sgc_finalization.finalizers, .block = has_data, .unit = mark_data },
    visit_strong = { .tree = &sgc_finalization.toggles, .unit = mark_if_strong },
    visit_toggles = { .tree = &sgc_finalization.toggles, .unit = drop_if_dead, .prune = true },
    visit_order = { .tree = &sgc_finalization.finalizers, .block = has_unmarked, .unit = mark_reached },
    visit_take = { .tree = &sgc_finalization.finalizers, .block = has_unmarked, .leaf = take_ready_in_leaf,
                   .prune = true },
    visit_keep = { .tree = &sgc_finalization.finalizers, .block = keep_ready, .leaf = keep_leaf, .prune = true },
    visit_generations = { .tree = &sgc_finalization.generations, .unit = drop_if_dead, .prune = true },
    visit_finalizers = { .tree = &sgc_finalization.finalizers, .block = finalizers_due, .leaf = keep_leaf, .prune = true };

static void round_begin(void)
{
    sgc_assert(sgc_gc_lock_held());
    now.round = (struct round){ .visits = 0 };
}

static void round_add(const struct sgc_tree_visit *visit)
{
    if (sgc_tree_empty(visit->tree))
        return;
    sgc_assert(now.round.visits < VISITS_MAX);
    now.round.visit[now.round.visits++] = visit;
    now.round.blocks += sgc_aw_load(&visit->tree->count);
    sgc_tree_walk_begin(visit);
}

static bool round_left(void)
{
    for (uint32_t i = 0; i < now.round.visits; i++)
        if (sgc_tree_walk_left(now.round.visit[i]))
            return true;
    return false;
}

static bool round_next(struct sgc_marker *marker)
{
    for (uint32_t i = 0; i < now.round.visits; i++)
        if (sgc_tree_walk_next(now.round.visit[i], marker))
            return true;
    return false;
}

/* Goes through the trees, and marks all that is reachable from what the visits marked. */
static void round_run(struct sgc_team *team)
{
    sgc_assert(sgc_stopped_by_self() && now.round.visits <= VISITS_MAX);
    if (now.round.visits == 0)
        return;
    sgc_team_round(team, &now.source, now.round.blocks >= BLOCKS_FOR_HELPERS);
    sgc_team_rescan(team, NULL);
    sgc_assert(!round_left());
    for (uint32_t i = 0; i < now.round.visits; i++)
        sgc_tree_walk_end(now.round.visit[i]);
}

static void round_of(struct sgc_team *team, const struct sgc_tree_visit *visit)
{
    round_begin();
    round_add(visit);
    round_run(team);
}

/* ---- the cycle ---- */

static bool uses(uint32_t bit)
{
    return (sgc_a32_load(&all->used) & bit) != 0;
}

/* The answer counts if the bit is still there.  It is there before, too, if the program has left
 * its function by a jump. */
static void ask_about(void *arg, struct sgc_tree_chunk *block, uintptr_t object, sgc_aw_t *unit)
{
    uintptr_t value = sgc_aw_load(unit), asked = value | SGC_TOGGLE_ASKED;

    (void)block;
    sgc_assert(asked < 2 * SGC_TOGGLE_ASKED && sgc_registrable(object));
    if (value != 0 && sgc_aw_cas(unit, value, asked))
        sgc_aw_cas(unit, asked, (*(const sgc_toggle_fn *)arg)((void *)object, value & ~(uintptr_t)SGC_TOGGLE_ASKED));
}

/* Each is what the answer says from now on.  World running, GC lock held, so that nobody takes
 * parts of the tree away. */
static void ask_about_toggles(sgc_toggle_fn ask)
{
    const struct sgc_tree_visit visit = { .tree = &all->toggles, .unit = ask_about };

    sgc_assert(sgc_gc_lock_held() && ask != NULL);
    sgc_tree_walk(&visit, &ask);
}

void sgc_finalization_before(sgc_toggle_fn ask)
{
    sgc_assert(sgc_gc_lock_held() && !sgc_world_stopped());
    if (!sgc_tree_empty(&all->toggles))
        ask_about_toggles(ask);
}

void sgc_finalization_share(struct sgc_team *team)
{
    sgc_assert(sgc_stopped_by_self());
    now.source = (struct sgc_source){ round_left, round_next };
    round_begin();
    if (uses(SGC_USED_DATA))
        round_add(&visit_data);
    sgc_team_set_source(team, now.round.visits != 0 ? &now.source : NULL);
}

static void mark(void *marker, uintptr_t address)
{
    sgc_mark_address(marker, address);
}

void sgc_finalization_roots(struct sgc_marker *marker)
{
    sgc_assert(sgc_stopped_by_self());
    if (!sgc_finalization_used())
        return;
    sgc_queue_drop_freed();
    sgc_queue_visit(mark, marker);
    if (!sgc_tree_empty(&all->toggles))
        sgc_tree_walk(&visit_strong, marker);
}

static void clear_first(struct sgc_team *team)
{
    sgc_assert(sgc_world_stopped());
    sgc_links_ask_targets(team, round_of);
    round_begin();
    round_add(&sgc_links_short_dead);
    if (sgc_a32_load(&all->freed) != 0)
        round_add(&sgc_links_long_stale);
    round_run(team);
    sgc_a32_store(&all->freed, 0);
}

static size_t bytes_marked(const struct sgc_team *team)
{
    struct sgc_team_totals totals;

    sgc_team_totals(team, &totals);
    return totals.bytes;
}

/* If anything has been marked since there were so many bytes, the client may have more to mark:
 * values of ephemerons whose keys live on for a finalizer. */
static void mark_more_since(struct sgc_team *team, size_t before)
{
    sgc_assert(bytes_marked(team) >= before);
    if (bytes_marked(team) != before)
        now.mark_more(team);
}

static void mark_waiting(struct sgc_team *team)
{
    size_t before = bytes_marked(team);

    round_of(team, &visit_order);
    mark_more_since(team, before);
}

static void find_ready(struct sgc_team *team)
{
    size_t before = bytes_marked(team);

    round_of(team, &visit_take);
    round_of(team, &visit_keep);
    mark_more_since(team, before);
    now.kept_bytes += bytes_marked(team) - before;
}

static void find_all_ready(struct sgc_team *team)
{
    now.java = sgc_a32_load(&sgc_client_java_finalization) != 0;
    now.only_unreachable = false;
    if (uses(SGC_USED_ORDERED))
        mark_waiting(team);
    find_ready(team);
    now.only_unreachable = true;
    if (now.java && uses(SGC_USED_UNREACHABLE))
        find_ready(team);
}

static void clear_last(struct sgc_team *team)
{
    round_begin();
    round_add(&sgc_links_short_left);
    round_add(&sgc_links_long_left);
    round_add(&sgc_links_targets);
    round_add(&visit_toggles);
    round_add(&visit_generations);
    if (sgc_aw_load(&now.fresh.first) != 0) {
        now.turn++;
        round_add(&visit_finalizers);
    }
    round_run(team);
}

static struct sgc_node_chain fresh(void)
{
    struct sgc_node *first = (struct sgc_node *)sgc_aw_load(&now.fresh.first);

    sgc_assert(first == NULL || now.fresh.last != NULL);
    return (struct sgc_node_chain){ first, now.fresh.last };
}

/* Otherwise they wait until the world runs. */
static void queue_fresh(void)
{
    struct sgc_node_chain chain = fresh();

    now.await = (sgc_await_fn)sgc_aw_load_acq(&all->await);
    if (chain.first != NULL && now.await == NULL)
        sgc_queue_append(&chain);
}

/* Disclaim procedures are asked before finalizers of what they look at, and about what finalization
 * has left dead. */
size_t sgc_finalization_mark(struct sgc_team *team, sgc_mark_more_fn mark_more)
{
    sgc_assert(sgc_stopped_by_self());
    sgc_disclaim_keep(team);
    sgc_team_set_source(team, NULL);
    now.mark_more = mark_more;
    mark_more(team);
    sgc_aw_store(&now.fresh.first, 0);
    now.kept_bytes = 0;
    sgc_links_begin();
    if (sgc_finalization_used()) {
        clear_first(team);
        find_all_ready(team);
        clear_last(team);
        queue_fresh();
    }
    sgc_disclaim_mark(team);
    return now.kept_bytes;
}

void sgc_finalization_after(void)
{
    struct sgc_node_chain chain = fresh();

    sgc_assert(sgc_gc_lock_held() && !sgc_world_stopped());
    if (chain.first != NULL && now.await != NULL) {
        for (struct sgc_record *r = (void *)chain.first; r != NULL; r = (struct sgc_record *)sgc_aw_load(&r->next))
            now.await((void *)r->object);
        sgc_queue_put_first(&chain);
    }
    sgc_queue_announce();
    sgc_aw_store(&now.fresh.first, 0);
}
