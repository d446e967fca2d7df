/* SPDX-License-Identifier: MIT */
/*
 * The collector's part of finalization: what a cycle calls, in this order, and what the two files
 * of the rounds share.  gc/finalize/rounds.c has the order of the rounds, gc/finalize/links.c their
 * visits to links and targets.
 */
#ifndef SGC_GC_FINALIZE_ROUNDS_H
#define SGC_GC_FINALIZE_ROUNDS_H

#include "alloc/object.h"
#include "alloc/large/span.h"
#include "gc/finalize/register.h"

struct sgc_marker;
struct sgc_team;

/* The client's answer about a toggle reference, which is SGC_TOGGLE_... `now`: what it is from now
 * on, 0: it is dropped. */
typedef uintptr_t (*sgc_toggle_fn)(void *object, uintptr_t now);

/* Before each stop of a cycle; GC lock held. */
void sgc_finalization_before(sgc_toggle_fn ask);

/* Gives the team the finalizers' client data to look through while it marks.  World stopped, before
 * the team begins. */
void sgc_finalization_share(struct sgc_team *team);

/* Marks what the tables and the queue keep alive.  World stopped. */
void sgc_finalization_roots(struct sgc_marker *marker);

/* Lets the client mark what it decides of, and all that this leads to. */
typedef void (*sgc_mark_more_fn)(struct sgc_team *team);

/* When everything reachable is marked: marks what disclaim procedures may look at, lets the client
 * mark more, clears links, finds what is to be finalized and marks it, and puts into their queue
 * what is to be disclaimed.  The client is asked again each time when finalization has marked
 * something.  The bytes that were kept only for finalizers.  World stopped. */
size_t sgc_finalization_mark(struct sgc_team *team, sgc_mark_more_fn mark_more);

/* After the pause; GC lock held. */
void sgc_finalization_after(void);

/* ---- marks of registered objects: world stopped ---- */

static inline bool sgc_finalize_span_marked(uint32_t page)
{
    return sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN &&
           (sgc_aw_load(sgc_span_word(page, sgc_mark_role())) & sgc_arena_bit(page)) != 0;
}

/* Is the object that begins there marked?  One that was freed since it was registered is not. */
static inline bool sgc_finalize_marked(uintptr_t object)
{
    uint32_t page = sgc_page_number(object);

    if (__builtin_expect(sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL, 1))
        return sgc_mark_bit(sgc_granule_number(object));
    return sgc_finalize_span_marked(page);
}

/* The objects of a page of small ones that begin in the granule's word and are not marked.  A
 * registered object is allocated: a thread that frees it forgets it before. */
static inline uintptr_t sgc_finalize_unmarked(size_t granule)
{
    return sgc_aw_load(sgc_alloc_word(granule)) & ~sgc_aw_load(sgc_mark_word(granule));
}

/* ---- visits to links and targets (gc/finalize/links.c): world stopped ---- */

/* Before the first round; on the collecting thread. */
void sgc_links_begin(void);

/* Before round 1: asks whether any target is dead, by a round of its own, if that is worth it.  If
 * none is, round 1 looks at one in SGC_TREE_TURNS of the blocks of short links, and round 7 at as
 * many of targets.  On the collecting thread. */
typedef void (*sgc_round_fn)(struct sgc_team *team, const struct sgc_tree_visit *visit);
void sgc_links_ask_targets(struct sgc_team *team, sgc_round_fn run);

/* Round 1: links whose targets are dead, and long ones to what was freed explicitly. */
extern const struct sgc_tree_visit sgc_links_short_dead, sgc_links_long_stale;

/* Round 7: links in what is dead, long ones to it, and targets that are dead. */
extern const struct sgc_tree_visit sgc_links_short_left, sgc_links_long_left, sgc_links_targets;

#endif
