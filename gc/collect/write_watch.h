/* SPDX-License-Identifier: MIT */
/*
 * The heap's pages under watch: which source of written pages is used (platform/written/written.h),
 * and its calls for all of the heap.
 *
 *   source    who enables concurrent cycles; the lead, where  the lead, who has the GC lock;  release / acquire
 *             no cycle marks                                  who switches stacks
 *   changing  who opens or closes a source                  the child of a fork, alone      release / acquire
 *   manual, no_mprotect
 *             who chooses the mode, before that               who enables them                relaxed: one word
 *   reported  any process that has it, adds a bit         same                            acquire-release RMW
 *   the rest  the lead; who has taken the cycle from it (gc/collect/concurrent.h)
 *
 * A source may be lost: the program closes all descriptors, forks, or has filters of system calls
 * set up.  In the middle of a cycle all counts as written from then on, which makes its last stop
 * long; before the next one a source is opened anew.
 */
#ifndef SGC_GC_COLLECT_WRITE_WATCH_H
#define SGC_GC_COLLECT_WRITE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sgc_marker;
struct sgc_mutator;

/* With SGC_DIRTY=auto: the program reports its writes itself.  Changes nothing once a source is
 * open. */
void sgc_watch_set_manual(bool on);

/* False: SGC_DIRTY=mprotect counts as a source that does not work here.  Changes nothing once a
 * source is open. */
void sgc_watch_allow_mprotect(bool on);
bool sgc_watch_allows_mprotect(void);

enum sgc_watch_opened {
    SGC_WATCH_REFUSED,          /* there is no source that works here */
    SGC_WATCH_LATER,            /* for a reason that goes by */
    SGC_WATCH_OPEN,
};

/* Opens the best source that works here, or the one that SGC_DIRTY names; with a message if there
 * is none.  By one thread at a time, outside sections.  `again`: one was open, or asked for in
 * vain; a message that this process has given, or one related to it by forks, is not repeated
 * then. */
enum sgc_watch_opened sgc_watch_open(bool again);

/* As SGC_DIRTY says it; "none" before it is open. */
const char *sgc_watch_name(void);

/* The value of SGC_DIRTY that stands for it; SGC_DIRTY_AUTO: none is open. */
int sgc_watch_source(void);

/* Can system calls write into pages that are watched? */
bool sgc_watch_kernel_writes(void);

/* May pages be collected and watched anew while the program runs?  Not where the source was
 * lost. */
bool sgc_watch_rearms_running(void);

/* Watches all pages in use that have pointers; opens a source anew where it was lost.  False, with
 * a message: there is none any more.  By the lead, before a cycle. */
bool sgc_watch_arm(void);

/* The cycle is over.  By the lead. */
void sgc_watch_rest(void);

/* A thread has its stack there, or is about to have it.  Any thread, at any time. */
void sgc_watch_keep_open(uintptr_t stack);

/* The marker scans again what is marked on written pages, on the thread `self`.  With `rearm`, by
 * the lead with the world running, these pages are watched anew first.  stop (NULL: never) is asked
 * between arenas whether to go on later: false if it said so.  *pages: how many written OS pages
 * had something to scan. */
bool sgc_watch_rescan(struct sgc_mutator *self, struct sgc_marker *marker, bool rearm, bool (*stop)(void *arg),
                      size_t *pages);

/* In the child of a fork: the source that was inherited is the parent's.  Its first cycle, if there
 * is one, opens another. */
void sgc_watch_after_fork(void);

#endif
