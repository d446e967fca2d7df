/* SPDX-License-Identifier: MIT */
/*
 * Whether cycles are concurrent, and asking for one: marking while the program runs, between short
 * stops (doc/design/concurrent.md).  How such a cycle goes on is in gc/collect/lead.h.
 *
 *   what      written by                             read by       ordering
 *   enabled   the lead, which finds no source of     any thread    release / acquire
 *             written pages, or one again; threads
 *             that enable or rule out such cycles
 *   enabling  a thread that enables them, by CAS     same          acquire-release
 *   asked_in  any thread, by CAS to a later epoch,   the lead,     sequentially consistent, as the
 *             before it reads the state of the       before its    state is there: one of the two
 *             cycle                                  cycle, after  sees the other's word
 *   again_at  the lead; a thread that asks, enables  any thread    relaxed: a stale one costs a
 *             or rules out concurrent cycles                       question too many
 */
#ifndef SGC_GC_COLLECT_CONCURRENT_H
#define SGC_GC_COLLECT_CONCURRENT_H

#include "gc/collect/cycle.h"
#include "gc/threads/mutator.h"

/* From now on cycles may be concurrent, if the system can tell which pages were written; a message
 * says what is missing otherwise.  On any thread, outside sections. */
void sgc_concurrent_enable(void);
bool sgc_concurrent_enabled(void);

/* A cycle is wanted.  False: there is no concurrent one to be had now.  Any thread; outside
 * sections, the GC lock not held. */
bool sgc_concurrent_ask(struct sgc_mutator *self);

/* While cycles stop the program although concurrent ones were asked for: has the lead try again, if
 * it is time, whether these can be had now.  Any thread; outside sections, the GC lock not held. */
void sgc_concurrent_ask_again(struct sgc_mutator *self);

/* The layer on top wants to see each mark with the program stopped: there are no concurrent
 * cycles any more, with a message if they were wanted.  One that goes on is given up, or, if the
 * world cannot be stopped, is the last.  With the GC lock. */
void sgc_concurrent_rule_out(struct sgc_mutator *self);

/* In the child of a fork: there is no lead, and no cycle. */
void sgc_concurrent_after_fork(void);

#endif
