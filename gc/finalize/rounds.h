/* SPDX-License-Identifier: MIT */
/*
 * Declarations for the two files of the rounds: gc/finalize/rounds.c has their order,
 * gc/finalize/links.c their visits to links and targets.  World stopped.
 */
#ifndef SGC_GC_FINALIZE_ROUNDS_H
#define SGC_GC_FINALIZE_ROUNDS_H

#include "alloc/object.h"
#include "alloc/large/span.h"
#include "gc/finalize/finalize.h"

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

/* Before the first round; on the collecting thread. */
void sgc_links_begin(void);

/* Before round 1: is it worth asking whether any target is dead, by a round of sgc_links_targets_dead?  Afterwards, in any
 * case; on the collecting thread.  If none is, round 1 looks at no short link. */
bool sgc_links_ask_targets(void);
void sgc_links_asked(void);
extern const struct sgc_tree_visit sgc_links_targets_dead;

/* Was none, so that no target need be forgotten either?  A flag without an object waits for a cycle that looks. */
bool sgc_links_spared(void);

/* Round 1: links whose targets are dead, and long ones to what was freed explicitly. */
extern const struct sgc_tree_visit sgc_links_short_dead, sgc_links_long_stale;

/* Round 7: links in what is dead, long ones to it, and targets that are dead. */
extern const struct sgc_tree_visit sgc_links_short_left, sgc_links_long_left, sgc_links_targets;

#endif
