/* SPDX-License-Identifier: MIT */
/*
 * The memory that the collector scans besides the heap: static data of all modules, ranges the
 * client added, stacks and registers, thread-local variables, and what the layer on top names
 * (dates of short-term memory).
 *
 *   what               written by                              read by            ordering
 *   added, excluded    under the registry's lock               under the same     the lock, which a stop holds
 *   modules            collecting thread, loader's list locked collecting thread  the GC lock
 *   what was told      the thread that starts the collector,   the same           the start; the GC lock
 *                      then the collecting thread
 *   answers            collecting thread                       same               the GC lock
 */
#ifndef SGC_GC_ROOTS_ROOTS_H
#define SGC_GC_ROOTS_ROOTS_H

#include "gc/threads/mutator.h"
#include "mark/marker.h"

/* Adds the range, which is not empty, to the roots.  False, with a message, when memory for the
 * list runs out.  Any thread, outside sections or with the world stopped by itself, like the next
 * four; in a blocked region, too.  Each waits until a stop is over that another thread makes. */
bool sgc_roots_add(struct sgc_range range);

/* Takes out the added ranges that lie wholly inside that one; others stay whole. */
void sgc_roots_remove(struct sgc_range range);

/* Forgets all ranges that were added, and, until the next cycle's look at the modules, nothing
 * else. */
void sgc_roots_clear(void);

/* Never scans the range, whatever module it lies in; and forgets all that was excluded. */
bool sgc_roots_exclude(struct sgc_range range);
void sgc_roots_clear_excluded(void);

/* Is the address inside an added range?  With the registry's lock, or while nobody changes them. */
bool sgc_roots_contain(uintptr_t address);

/* Would a word stored at the address be scanned: added, static data, a registered thread's stack,
 * or a thread-local variable of the calling mutator?  Takes the GC lock, if it is not ours; outside
 * sections. */
bool sgc_roots_visible(uintptr_t address, struct sgc_mutator *self);

/* Prints the ranges.  World stopped. */
void sgc_roots_dump(void);

/* Asked about each writable segment of a module, the program itself among them, when the list of
 * modules is made again (which a new filter and GC_no_dls cause).  Any thread. */
typedef int (*sgc_roots_filter_t)(const char *module, void *start, size_t bytes);    /* 0: leave out */
void sgc_roots_set_filter(sgc_roots_filter_t filter);

extern struct sgc_modules sgc_root_modules;

/* Brings the list of modules up to date and calls stop(arg) while the loader's list is still
 * locked: no module in it is unmapped.  False, with a message and without that call, when memory
 * for the list runs out.  Outside sections. */
bool sgc_roots_snapshot(void (*stop)(void *arg), void *arg);

/* Says once, when the list of modules has changed, that another collector is in the process.  The
 * thread that starts the collector, then the collecting thread; world running. */
void sgc_roots_find_other_collector(void);

/* A thread of which nobody can tell now what it uses of its stacks, so that a mark would lose
 * objects; 0 if there is none, -1 if it is about to find out.  World stopped, before anything is
 * scanned. */
sgc_tid_t sgc_roots_unknown(void);

/* Scans everything; dates only if the layer on top does not mark by itself.  World stopped. */
void sgc_roots_mark(struct sgc_marker *marker);

/* Hands each range that is scanned to fn, for questions.  World stopped, after a snapshot.
 * `whose`: the thread whose stack or thread-local data it is; the latter is taken out of the stack
 * in which it lies.  Nothing of a thread whose stacks are unknown.  `copies`: fn may get a copy of
 * memory that others may unmap meanwhile, and then `copy` says of what; otherwise it is NULL, and
 * that memory may be gone when fn reads it. */
struct sgc_root_copy {
    uintptr_t from;             /* where the first byte lies */
    struct sgc_range part;      /* the part of a stack that it belongs to */
};
enum sgc_root_kind { SGC_ROOT_STATIC, SGC_ROOT_ADDED, SGC_ROOT_STACK, SGC_ROOT_THREAD_LOCAL, SGC_ROOT_DATE };
typedef void (*sgc_roots_visit_t)(void *arg, enum sgc_root_kind kind, const struct sgc_mutator *whose,
                                  struct sgc_range range, const struct sgc_root_copy *copy);
void sgc_roots_visit(sgc_roots_visit_t fn, void *arg, bool copies);

/* ---- stacks (gc/roots/stack_roots.c): the part of a stopped thread's that is in use ---- */

/* A hook for clients that switch stacks behind the collector's back: corrects *sp for the
 * thread. */
typedef void (*sgc_sp_corrector_t)(void **sp, void *pthread);
extern sgc_aw_t sgc_stack_corrector;    /* any thread, release / acquire */

struct sgc_stack_part {
    struct sgc_range range;
    bool unsure;                /* memory of others may be part of it, who unmap it when they like:
                                 * to be read by sgc_mem_copy */
};

enum { SGC_STACK_PARTS = 3 };

/* Fills `part` with up to SGC_STACK_PARTS ranges to scan, and returns their number.  World stopped,
 * for a thread whose stacks are known. */
int sgc_stack_parts(const struct sgc_mutator *m, struct sgc_stack_part part[SGC_STACK_PARTS]);

/* Does a word in [*at, end) lead to a frame that a sanitizer has put elsewhere, of a function that
 * runs on that stack of the thread?  Then that frame; *at is behind the word.  World stopped, for a
 * thread with such frames. */
bool sgc_stack_next_fake(const struct sgc_mutator *m, struct sgc_range stack, uintptr_t *at, uintptr_t end,
                         struct sgc_range *frame);

/* Is there a way to tell what the thread uses?  `answers`: does the system say what memory can be
 * read?  World stopped. */
bool sgc_stack_known(const struct sgc_mutator *m, bool answers);

/* ---- checks ---- */

void sgc_roots_check(void);         /* while nobody changes the lists */

#endif
