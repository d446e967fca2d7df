/* SPDX-License-Identifier: MIT */
/*
 * The unusual ways in and out of a section.  Everything runs on the section's own thread.
 */
#include "platform/section/section.h"

#include "platform/platform.h"

SGC_STATE struct sgc_section_hooks sgc_section_hooks;

/* Everything but the suspend signal and the faults; written once before the first guard. */
SGC_STATE static sigset_t guard_mask;

void sgc_guard_init(int suspend_signal)
{
    sgc_signals_all_but(suspend_signal, &guard_mask);
}

/* The signals are blocked before anything is written down: a handler that leaves by longjmp before
 * that leaves no trace.  A plain malloc blocks none: nobody may leave it by a jump. */
void sgc_guard_enter(struct sgc_section *self)
{
    if (SGC_TRACES && self->guards == 0) {
        sigset_t saved;

        sgc_signals_change(&guard_mask, &saved);
        self->signals = saved;
    }
    self->guards++;
}

/* Suspended before the guards are gone, the thread is found here to be; after that its suspend
 * handler stays. */
void sgc_guard_leave(struct sgc_section *self)
{
    sgc_assert(self->guards > 0);
    if (--self->guards != 0 || !SGC_TRACES)
        return;
    sgc_compiler_barrier();
    if (sgc_section_suspended(self)) {
        sgc_assert(sgc_section_hooks.stay != NULL);
        sgc_section_hooks.stay(self);
    }
    sgc_signals_restore(&self->signals);
}

bool sgc_section_left(uintptr_t recorded, uintptr_t now, const struct sgc_stack_bounds *alternate)
{
    bool recorded_there = sgc_stack_within(alternate, recorded);

    if (recorded_there != sgc_stack_within(alternate, now))
        return recorded_there;
    return now > recorded;
}

/* A thread that left a section may call deeper than the section was before it comes back to us;
 * then its stack pointer says nothing.  It is sure, though, that an interrupted section has a
 * handler's frame below it.  A handler on the alternate stack tells by what it has interrupted: a
 * frame of ours is still where the section was, or it is not. */
static bool left(uintptr_t recorded, uintptr_t now, const struct sgc_stack_bounds *alternate)
{
    if (sgc_section_left(recorded, now, alternate))
        return true;
    if (sgc_stack_within(alternate, now) && !sgc_stack_within(alternate, recorded))
        return !sgc_stack_frame_ours(recorded, alternate);
    return sgc_stack_within(alternate, recorded) == sgc_stack_within(alternate, now) && !sgc_stack_handler_below(recorded);
}

/* Under a lock, where no handler runs, it was the thread itself. */
void sgc_section_used_inside(const struct sgc_section *self)
{
    if (!SGC_TRACES)
        sgc_fatal("a signal handler called malloc, or ended its thread, while that was inside malloc, or had left it by a "
                  "jump; let the handler set a flag and allocate outside, or block the signal around allocations");
    if (self->held != 0)
        sgc_fatal("the collector was called by a callback of a collection, or by a thread that holds the "
                  "world stopped; do there only what the callback's description allows");
    sgc_fatal("a signal handler called the collector while the same thread was inside it; "
              "let the handler set a flag and allocate outside, or block the signal around "
              "allocations");
}

/* A repair that was left half way would be repaired only at the next full section. */
static void repair_guarded(struct sgc_section *self)
{
    sgc_assert(sgc_section_hooks.repair != NULL);
    sgc_guard_enter(self);
    sgc_section_hooks.repair(self);
    self->sp = 0;
    sgc_guard_leave(self);
}

/*
 * The thread enters a section although one is recorded.  If the recorded frame is gone, a client's
 * handler left it by siglongjmp; not so under a lock, where no handler runs.  Otherwise a client's
 * handler has interrupted a section and calls the collector: that cannot work, in bdwgc neither,
 * since the heap may be half changed.
 */
void sgc_section_enter_again(struct sgc_section *self, uintptr_t sp)
{
    struct sgc_stack_bounds alternate;
    bool has_one = sgc_altstack_self(&alternate);
    uintptr_t brief = sgc_brief_recorded(self);

    sgc_assert(sp != 0);
    if (self->held != 0)
        sgc_section_used_inside(self);
    if (self->sp != 0 && !left(self->sp, sp, has_one ? &alternate : NULL))
        sgc_section_used_inside(self);
    if (brief != 0 && brief != self->sp && !left(brief, sp, has_one ? &alternate : NULL))
        sgc_section_used_inside(self);
    if (self->sp != 0)
        repair_guarded(self);
}

/* Before a brief section ends with parking.  A full section that is recorded has been left, and
 * must be repaired first; or we are a handler that has interrupted it: then it says so at its end,
 * and its thread must not park here. */
static bool may_park(struct sgc_section *self)
{
    struct sgc_stack_bounds alternate;
    bool has_one = sgc_altstack_self(&alternate);

    if (!left(self->sp, sgc_stack_pointer(), has_one ? &alternate : NULL))
        return false;
    repair_guarded(self);
    return true;
}

/* Under a guard: a client's handler on a stopped thread could move pointers while they are
 * marked. */
void sgc_section_stop_requested(struct sgc_section *self)
{
    if (self->sp != 0 && !may_park(self))
        return;
    sgc_assert(sgc_section_hooks.park != NULL);
    sgc_guard_enter(self);
    sgc_section_hooks.park(self);
    sgc_guard_leave(self);
}

void sgc_section_sleep(struct sgc_section *self, sgc_a32_t *word, uint32_t expected)
{
    sgc_assert(word != NULL);
    if (self != NULL && sgc_section_hooks.sleep != NULL)
        sgc_section_hooks.sleep(self, word, expected);
    else
        sgc_wait(word, expected, -1);
}
