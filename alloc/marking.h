/* SPDX-License-Identifier: MIT */
/*
 * Tells the heap about a mark that goes on beside the program: that it begins, and how it ends.
 *
 * In between (sgc_heap_is_marking) only markers write mark words, nothing is swept or taken down,
 * and pages in which objects are freed are noted (alloc/pages/marks.h), also for frees
 * of the common path, which meets no page of its own then (sgc_cache_set_tag).  Objects are
 * allocated as ever, without a mark, out of pages that were in use or new ones; freed slots and
 * spare spans are used again; remote frees are merged; threads end, and others adopt their pages.
 *
 * A slot that is freed after it was marked has a mark and no allocation bit, and the flip would
 * make it allocated again: nobody's for a cycle, and for ever where it is uncollectable.  So before
 * the flip the marks of noted pages are reduced to what is allocated.  A mark that a marker sets
 * late, since it had seen the allocation bit before, is gone with the others.  Of spans all marks
 * are reduced: they are few words.
 *
 * A thread may have stood under a guard when the mark began, with pages in its hands that it had
 * found empty, and gives them to the pool now.  They had no objects, and have no marks; the next
 * thread that gets them sets them up like any pages of the pool.  Only a marker that follows a
 * stale word into the tail of such a span must check the page that the word leads to
 * (sgc_page_back).
 *
 *   all of it       the collecting thread, world stopped, so that no section is under way and no
 *                   cache being opened; or the only thread in the child of a fork
 */
#ifndef SGC_ALLOC_MARKING_H
#define SGC_ALLOC_MARKING_H

#include <stddef.h>

/* A mark begins.  Everything has been swept (sgc_sweep_ahead says false), the bits are clear
 * (sgc_clear_finish), the caches are retired. */
void sgc_marking_begin(void);

/* Ends a complete mark: checks that no page has changed its shape, if that is checked
 * (alloc/pages/survival.h), takes away the marks of objects that were freed meanwhile, and returns
 * the bytes of these objects, which the markers have counted.  No marker is at work, the caches are
 * retired, and the flip comes next, before the world goes on. */
size_t sgc_marking_finish(void);

/* Gives a mark up: all marks go, and are cleared while the program runs (sgc_clear_some), until the
 * next mark at the latest.  No marker is at work, or exists; caches need not be retired.  Objects
 * that were freed meanwhile stay free; spans that could not be taken down are found after the next
 * flip. */
void sgc_marking_cancel(void);

/* May a mark begin?  Panics if not: if something is unswept, marked or noted.  Takes as long as the
 * heap is large; sgc_marking_begin asserts it of small ones. */
void sgc_marking_check(void);

#endif
