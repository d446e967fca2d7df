/* SPDX-License-Identifier: MIT */
/*
 * Threads that help a concurrent cycle, or wait for it.  The calling thread counts as stopped meanwhile.  Outside sections and
 * blocked regions, the GC lock not held.
 */
#ifndef SGC_GC_COLLECT_ASSISTS_H
#define SGC_GC_COLLECT_ASSISTS_H

#include "gc/threads/mutator.h"

/* A thread that allocates faster than the mark gets on: it marks for a fifth of a millisecond, or waits so long if there is
 * nothing for it to do. */
void sgc_assist(struct sgc_mutator *self);

/* One for which there is no memory until the cycle is over: it waits for that, but no longer than a stop may take. */
void sgc_stall(struct sgc_mutator *self);

/* One that offers so much time: marks for about so long if the cycle marks just now.  True if there was something to do. */
bool sgc_assist_for(struct sgc_mutator *self, uint64_t ns);

/* Takes the cycle from the lead, and marks about so many bytes of it.  True if there is more to mark. */
bool sgc_assist_bytes(struct sgc_mutator *self, size_t bytes);

#endif
