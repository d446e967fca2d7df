/* SPDX-License-Identifier: MIT */
/*
 * Brief sections: one instruction in, two out, for the common paths of allocating and freeing.
 *
 * As in every section the thread is not stopped inside.  Besides, a brief section
 *   - runs a few instructions, without calls and locks; the only loops are over the allocation bits
 *     of a page, and over a short run that is zeroed (alloc/small/claim_short.h);
 *   - may be left by a client's siglongjmp at any instruction without anything to repair.
 * So entering does not look whether another one was left half way: it just writes the stack pointer
 * over what is there.  Leaving subtracts it again, in one instruction: nothing else than 0 remains
 * unless something happened meanwhile, and then the slow way finds out what:
 *
 *   what remains              because
 *   1                         the suspend handler found us inside and set bit 0
 *   minus the stack pointer   a client's handler used a section inside ours and left it, which made
 *                             the word 0
 *   any other number          likewise, and it left that section by a jump of its own
 *   a few words               nothing: the compiler moved the stack pointer in between
 *
 * One instruction, so that no signal comes between looking and leaving.  Where the processor has
 * none, `state` is looked at after leaving, as other sections do.
 */
#ifndef SGC_PLATFORM_SECTION_BRIEF_H
#define SGC_PLATFORM_SECTION_BRIEF_H

#include "platform/compiler.h"
#include "platform/section/section.h"

/* Is `now` above `recorded` by so little that a common path may just have given its frame back, and
 * jumps to the slow one, which ends its section?  At most GC_free holds something then: a slot on
 * its way. */
static inline bool sgc_brief_near(uintptr_t recorded, uintptr_t now)
{
    return now > recorded && now - recorded < SGC_BRIEF_FRAME;
}

/* Has the stack pointer been somewhere else when the section was entered, by so much? */
static inline bool sgc_brief_far(uintptr_t difference)
{
    return difference + SGC_BRIEF_FRAME > 2 * SGC_BRIEF_FRAME;
}

/* Finds out what happened, after sgc_brief_leave said that something did.  Returns `result`, so
 * that the common paths can end in a jump to it and need no stack frame. */
void *sgc_brief_leave_slowly(struct sgc_section *self, void *result) __attribute__((cold, noinline));

/* Leaves a section that a common path, which jumped here, has entered; the stack pointer may have
 * moved. */
__attribute__((noinline)) void sgc_brief_end(struct sgc_section *self);

#if defined(__x86_64__) && defined(__LP64__) && !SGC_SANITIZED

__attribute__((always_inline))
static inline void sgc_brief_enter(struct sgc_section *self)
{
    __asm__ volatile("movq %%rsp, %0" : "=m"(self->brief) : : "memory");
}

/* True when something happened: then sgc_brief_leave_slowly must follow. */
__attribute__((always_inline, warn_unused_result))
static inline bool sgc_brief_leave(struct sgc_section *self)
{
    bool oddly;

    __asm__ volatile("subq %%rsp, %0" : "+m"(self->brief), "=@ccnz"(oddly) : : "memory");
    return __builtin_expect(oddly, 0);
}

#else

__attribute__((always_inline))
static inline void sgc_brief_enter(struct sgc_section *self)
{
    sgc_aw_store(&self->brief, sgc_stack_pointer());
    sgc_compiler_barrier();
}

/* A request that is made between the load and the store is in `state`, too. */
__attribute__((always_inline, warn_unused_result))
static inline bool sgc_brief_leave(struct sgc_section *self)
{
    uintptr_t remains;

    sgc_compiler_barrier();
    remains = sgc_aw_load(&self->brief) - sgc_stack_pointer();
    sgc_aw_store(&self->brief, remains);
    sgc_compiler_barrier();
    return __builtin_expect(remains != 0 || (sgc_a32_load(&self->state) & SGC_STATE_STOPREQ), 0);
}

#endif

/*
 * For a function to which a common path jumps in the middle of its section, when that function goes
 * on with it, and changes the heap: until it has recorded where it stands itself, a stop may come
 * in between.  The request may then have been noted in what it overwrites, so it is looked for in
 * `state`, too, at the end.  False: a handler has meddled, which sgc_brief_end tells.
 */
__attribute__((always_inline, warn_unused_result))
static inline bool sgc_brief_go_on(struct sgc_section *self)
{
    if (__builtin_expect(sgc_brief_far(sgc_aw_load(&self->brief) - sgc_stack_pointer()), 0))
        return false;
    sgc_brief_enter(self);
    return true;
}

__attribute__((always_inline, warn_unused_result))
static inline bool sgc_brief_leave_at_last(struct sgc_section *self)
{
    bool oddly = sgc_brief_leave(self);

    return oddly || __builtin_expect(sgc_a32_load(&self->state) & SGC_STATE_STOPREQ, 0);
}

#endif
