/* SPDX-License-Identifier: MIT */
/*
 * The slow ways out of a brief section.  Everything runs on the section's own thread.
 */
#include "platform/section/brief.h"

/* A request may be out of date, then there is nothing to wait for.  `state` is looked at after
 * leaving, as in other sections. */
static void leave_brief(struct sgc_section *self, uintptr_t remains)
{
    sgc_aw_store(&self->brief, 0);
    sgc_compiler_barrier();
    if (!self->owned)
        return;
    if (sgc_brief_far(remains))
        sgc_section_used_inside(self);
    if (sgc_a32_load(&self->state) & SGC_STATE_STOPREQ)
        sgc_section_stop_requested(self);
}

void *sgc_brief_leave_slowly(struct sgc_section *self, void *result)
{
    leave_brief(self, sgc_aw_load(&self->brief) & ~(uintptr_t)SGC_BRIEF_ASKED);
    return result;
}

void sgc_brief_end(struct sgc_section *self)
{
    leave_brief(self, (sgc_aw_load(&self->brief) & ~(uintptr_t)SGC_BRIEF_ASKED) - sgc_stack_pointer());
}
