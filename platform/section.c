/* SPDX-License-Identifier: MIT */
/*
 * The unusual ways in and out of a section.  Everything runs on the section's own thread.
 */
#include "platform/section.h"

#include "platform/platform.h"

SGC_STATE struct sgc_section_hooks sgc_section_hooks;

/*
 * The thread enters a section although one is recorded.  If the recorded frame is gone (the stack
 * pointer is above it), a client's handler left it by siglongjmp.  Otherwise a client's handler has
 * interrupted a section and calls the collector: that cannot work, in bdwgc neither, since the heap
 * may be half changed.
 */
void sgc_section_enter_again(struct sgc_section *self, uintptr_t sp)
{
    if (sp < self->sp)
        sgc_fatal("a signal handler called the collector while the same thread was inside it; "
                  "let the handler set a flag and allocate outside, or block the signal around "
                  "allocations");
    sgc_section_hooks.repair(self);
    self->sp = 0;
}

void sgc_section_stop_requested(struct sgc_section *self)
{
    sgc_section_hooks.park(self);
}
