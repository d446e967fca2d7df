/* SPDX-License-Identifier: MIT */
/* Where the suspend signal has met a thread: in a section, which may have been left by a jump, or outside.  In its handler. */
#include "gc/threads/world_internal.h"

#include "alloc/small/remote_free.h"
#include "platform/section/brief.h"

/* Is the frame at `recorded` surely none of ours any more?  `handlers`: the alternate stack that the suspend handler stands on,
 * or NULL.  Its frames may have any address, and are not what is asked for. */
static bool is_gone(uintptr_t recorded, const struct sgc_stack_bounds *handlers)
{
    bool elsewhere = handlers != NULL && !sgc_stack_within(handlers, recorded);

    sgc_assert(recorded != 0);
    return sgc_stack_frame_gone(recorded, elsewhere ? handlers : NULL);
}

/* The alternate stack on which a section may have been left: one that the handler stands on, or that lies apart.  The frame in
 * which another was set up may be gone. */
static bool alternate_of(const struct sgc_mutator *m, const void *context, struct sgc_stack_bounds *alternate)
{
    return sgc_context_altstack_set(context, alternate) &&
           (sgc_stack_within(alternate, (uintptr_t)context) || !sgc_stack_overlap(alternate, &m->stack));
}

/* Has the interrupted section been left?  With locks held it cannot have been: all signals were blocked.
 * Between coroutines' stacks nothing is known, and the thread is left to find out itself, at its
 * next section.  A thread may have left it and gone deeper than it was: when it is asked again, whose
 * frame the recorded place is in tells. */
static bool abandoned(const struct sgc_mutator *m, uintptr_t recorded, const void *context)
{
    uintptr_t now = sgc_interrupted_sp(context);
    struct sgc_stack_bounds alternate;
    bool has_one = alternate_of(m, context, &alternate), there = has_one && sgc_stack_within(&alternate, (uintptr_t)context);

    sgc_assert(recorded != 0 && m == sgc_mutator_self());
    if (m->cache.section.guards != 0)
        return false;
    if ((sgc_a32_load(&m->cache.section.state) & SGC_STATE_AGAIN) && sgc_mutator_at_home(m, recorded) &&
        sgc_mutator_at_home(m, now) && now <= recorded)
        return is_gone(recorded, there ? &alternate : NULL);
    return sgc_mutator_frame_left(m, recorded, now, has_one ? &alternate : NULL);
}

void sgc_world_repair(struct sgc_section *s)
{
    struct sgc_cache *cache = (struct sgc_cache *)(void *)s;

    sgc_assert(cache->id != 0);
    sgc_cache_repair(cache);
}

/* Wipes away what a brief section that was left has recorded: but if its end may still follow, that needs it, to see
 * that nobody used a section in it. */
static void forget_brief(struct sgc_section *s, uintptr_t brief, const void *context)
{
    sgc_assert(sgc_section_mine(s));
    if (!sgc_brief_near(brief, sgc_interrupted_sp(context)))
        sgc_aw_store(&s->brief, 0);
}

/* Is the thread in a brief section, or may the end of one that it has left still follow?  Then it
 * is asked to look at that end.  If it is asked a second time, the end of a left one does not
 * come. */
static bool inside_brief(struct sgc_mutator *m, uintptr_t brief, const void *context)
{
    struct sgc_section *s = sgc_section_of(m);
    bool left = abandoned(m, brief, context);
    bool near = sgc_brief_near(brief, sgc_interrupted_sp(context));

    sgc_assert(brief != 0 && (brief & SGC_BRIEF_ASKED) == 0);
    if (left && (!near || (sgc_a32_load(&s->state) & SGC_STATE_AGAIN))) {
        forget_brief(s, brief, context);
        return false;
    }
    sgc_aw_store(&s->brief, brief | SGC_BRIEF_ASKED);
    return true;
}

/* Is the thread in a section, at whose end it will look?  A section that was left is repaired;
 * brief ones need no repair.  The brief one comes first: the thread enters those without looking
 * whether a full one, which was left, is still recorded.  In the middle of a brief section the full
 * one must not be repaired: that is left to the brief one's end (sgc_section_stop_requested); so is
 * the rest of `brief`, by which that end sees that a handler has used a section in it. */
bool sgc_world_interrupts_section(struct sgc_mutator *m, const void *context)
{
    struct sgc_section *s = sgc_section_of(m);
    uintptr_t brief = sgc_brief_recorded(s);

    sgc_assert(sgc_mutator_mine(m));
    if (brief != 0 && brief != s->sp && inside_brief(m, brief, context))
        return true;
    if (s->sp == 0)
        return false;
    if (!abandoned(m, s->sp, context))
        return true;
    sgc_world_repair(s);
    s->sp = 0;
    if (brief != 0)
        forget_brief(s, brief, context);
    return false;
}
