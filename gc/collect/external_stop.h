/* SPDX-License-Identifier: MIT */
/* Stops without a cycle, for the client and for looks at the heap. */
#ifndef SGC_GC_COLLECT_EXTERNAL_STOP_H
#define SGC_GC_COLLECT_EXTERNAL_STOP_H

#include "gc/threads/mutator.h"

/* Stops the world for the client, without a cycle, until sgc_external_resume.  They nest, also in a
 * cycle's pause.  The list of modules is that of this moment: threads that are not stopped may
 * unload some.  False, with a message, if a thread could not be stopped, or there is no memory for
 * the list. */
bool sgc_external_stop(struct sgc_mutator *self);
void sgc_external_resume(struct sgc_mutator *self);

/* Runs fn(arg) in the stopped world, where exactly the allocated objects look allocated: what
 * caches have claimed looks free meanwhile.  Roots are as the list of modules says, and stay
 * mapped.  False as above. */
bool sgc_with_world_stopped(struct sgc_mutator *self, void (*fn)(void *arg), void *arg);

#endif
