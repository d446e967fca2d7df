/* SPDX-License-Identifier: MIT */
/*
 * Which part of which stack a stopped thread uses.  On the collecting thread, world stopped.
 *
 * A stack in use is readable memory without a hole from the stack pointer up to its bottom.  Unless
 * kernel or C library have made it, the system is asked about each OS page
 * (platform/readable_linux.c), so that nothing is read that has a guard in it.  A file such as
 * /proc/self/maps is not asked: there may be no such file, and the kernel's mappings are no stacks:
 * it joins neighbours and divides one by its attributes.
 *
 * Usually the thread stands on its own stack: from its stack pointer to the bottom.  It may also
 * stand:
 *   - on a stack of a coroutine that the client told us the bottom of (GC_set_stackbottom);
 *   - on a stack nobody told us of: then what can be read from the stack pointer on is scanned up
 *     to the first hole.  That may be more than the stack;
 *   - on an alternate signal stack: that is scanned, and what it interrupted there, its own stack
 *     or a coroutine's, from where that stood.  The suspend handler notes it; if a client's handler
 *     runs on the alternate stack, it is found among the words the kernel saved there.
 * In all these cases its own stack is scanned, too: whole, as nobody says where the thread has left
 * it.
 *
 * AddressSanitizer may put the variables of a function into a frame elsewhere, to which its real
 * frame leads.
 */
#include "gc/roots/roots.h"

#include "alloc/pages/heap.h"
#include "platform/registers.h"
#include "gc/threads/world.h"

SGC_STATE sgc_aw_t sgc_stack_corrector;

/* The client knows where the thread stands when no handler runs: not on an alternate signal
 * stack. */
static uintptr_t corrected(const struct sgc_mutator *m, uintptr_t stands)
{
    void *sp = (void *)stands;
    sgc_sp_corrector_t fn = (sgc_sp_corrector_t)sgc_aw_load_acq(&sgc_stack_corrector);

    sgc_assert(stands != 0);
    if (fn != NULL)
        fn(&sp, (void *)m->handle);
    return (uintptr_t)sp;
}

static bool within(uintptr_t address, uintptr_t lo, uintptr_t hi)
{
    return address >= lo && address < hi;
}

/* The lowest word on the alternate stack that may be the interrupted stack pointer: every saved
 * stack pointer of the own stack is among these words, so none of them lies below the result. */
__attribute__((no_sanitize("address", "thread")))
static uintptr_t lowest_saved_sp(struct sgc_range used, struct sgc_stack_bounds own)
{
    uintptr_t lowest = own.high;

    for (const uintptr_t *p = (const uintptr_t *)used.lo; (uintptr_t)p < used.hi; p++)
        if (within(*p, own.low, lowest))
            lowest = *p;
    sgc_assert(lowest <= own.high);
    return lowest & ~(uintptr_t)(sizeof(uintptr_t) - 1);
}

/* ---- what can be read of a stack ---- */

/* Of the own stack from `from` on: the lowest address from which there is no hole up to its end. */
static uintptr_t own_readable_from(const struct sgc_mutator *m, uintptr_t from)
{
    switch (m->stack.maker) {
    case SGC_STACK_LIBRARY:
        return from;
    case SGC_STACK_KERNEL:
        return sgc_mem_mapped_from(from, m->stack.high);
    default:
        return sgc_mem_readable_from(from, m->stack.high);
    }
}

/* Is there no hole between the stack pointer, on the own stack, and its end?  One that the program
 * has made is asked about like any other. */
static bool own_whole_from(const struct sgc_mutator *m, uintptr_t sp)
{
    sgc_assert(sp != 0);
    if (!sgc_stack_within(&m->stack, sp) || m->stack.maker == SGC_STACK_UNKNOWN)
        return false;
    return sp >= m->used_from || own_readable_from(m, sp) <= sp;
}

/* A thread that has used up its stack may have its red zone in the guard. */
static uintptr_t lowest_used(uintptr_t sp)
{
    uintptr_t next = sgc_round_down(sp, sgc_os_page_size()) + sgc_os_page_size();

    sgc_assert(next > sp);
    return sp + SGC_RED_ZONE > next && !sgc_mem_readable(sp) ? next : sp;
}

/* Where the stack with this pointer ends if nothing unreadable comes before: the heap, at the
 * latest. */
static uintptr_t expected_end(const struct sgc_mutator *m, uintptr_t sp)
{
    uintptr_t end = within(sp, m->stack.low, m->stack.high) ? m->stack.high : sp < m->bottom ? m->bottom : UINTPTR_MAX;

    sgc_assert(end > sp);
    return sp < sgc_heap.base && end > sgc_heap.base ? sgc_heap.base : end;
}

/* ---- parts ---- */

/* A word that only looks like a stack pointer may lie where the kernel has not grown the stack
 * to. */
static struct sgc_stack_part own_from(const struct sgc_mutator *m, uintptr_t from)
{
    return (struct sgc_stack_part){ { own_readable_from(m, from), m->stack.high }, false };
}

/* A coroutine's stack may lie in the range of the thread's own one, too. */
static int on_strange_stack(const struct sgc_mutator *m, uintptr_t stands, struct sgc_stack_part *part)
{
    uintptr_t sp = lowest_used(stands);
    uintptr_t end = sgc_mem_readable_until(sp, expected_end(m, sp));
    bool known = end == m->bottom || end == m->stack.high;

    sgc_assert(end >= sp);
    part[0] = (struct sgc_stack_part){ { sp, end }, !known };
    if (end == m->stack.high)
        return 1;
    part[1] = own_from(m, m->stack.low);
    return 2;
}

/* Standing on an ordinary stack, of whatever sort. */
static int on_stack(const struct sgc_mutator *m, uintptr_t sp, struct sgc_stack_part *part)
{
    if (!own_whole_from(m, sp))
        return on_strange_stack(m, sp, part);
    part[0] = (struct sgc_stack_part){ { sp, m->stack.high }, false };
    return 1;
}

/* A client's handler runs on the alternate stack: what it interrupted saved its stack pointer
 * there.  The interrupted code may use its red zone. */
static int below_handler(const struct sgc_mutator *m, struct sgc_range used, struct sgc_stack_part *part)
{
    struct sgc_stack_bounds reported = { .high = m->bottom };
    uintptr_t from = lowest_saved_sp(used, m->stack) - SGC_RED_ZONE;
    int n = 0;

    sgc_assert(used.lo <= used.hi);
    part[n++] = own_from(m, from > m->stack.low ? from : m->stack.low);
    if (m->bottom != m->stack.high) {
        reported.low = sgc_mem_readable_from(0, m->bottom);
        from = lowest_saved_sp(used, reported) - SGC_RED_ZONE;
        part[n++] = (struct sgc_stack_part){ { from > reported.low ? from : reported.low, reported.high }, true };
    }
    sgc_assert(n < SGC_STACK_PARTS);
    return n;
}

static int on_altstack(const struct sgc_mutator *m, uintptr_t sp, struct sgc_stack_bounds alternate,
                       struct sgc_stack_part *part)
{
    struct sgc_range used = { sp & ~(uintptr_t)7, alternate.high };

    sgc_assert(used.lo >= alternate.low - 7 && used.lo < used.hi);
    part[0] = (struct sgc_stack_part){ used, false };
    if (m->interrupted != 0 && !within(m->interrupted, alternate.low, alternate.high))
        return 1 + on_stack(m, corrected(m, m->interrupted), part + 1);
    return 1 + below_handler(m, used, part + 1);
}

/* The alternate stack that the thread stands on; NULL: on none. */
static const struct sgc_stack_bounds *altstack_of(const struct sgc_mutator *m)
{
    sgc_assert(m->altstack.low <= m->altstack.high);
    if (m->altstack.low != 0 && sgc_stack_within(&m->altstack, m->sp))
        return &m->altstack;
    return m->reported_altstack.low != 0 && sgc_stack_within(&m->reported_altstack, m->sp) ? &m->reported_altstack : NULL;
}

int sgc_stack_parts(const struct sgc_mutator *m, struct sgc_stack_part part[SGC_STACK_PARTS])
{
    const struct sgc_stack_bounds *alternate = altstack_of(m);

    sgc_assert(sgc_world_stopped());
    sgc_assert(m->sp != 0 && m->stack.high != 0);
    return alternate != NULL ? on_altstack(m, m->sp, *alternate, part) : on_stack(m, corrected(m, m->sp), part);
}

/* A function asks for its frame when it has made its real one, by a call that stands below that. */
enum { ASKS_BELOW = 4096 };

__attribute__((no_sanitize("address", "thread", "undefined")))
bool sgc_stack_next_fake(const struct sgc_mutator *m, struct sgc_range stack, uintptr_t *at, uintptr_t end,
                         struct sgc_range *frame)
{
    sgc_assert(m->fake_stack != NULL && stack.lo <= stack.hi);
    for (*at = sgc_round_up(*at, sizeof *at); *at + sizeof *at <= end;) {
        uintptr_t real = sgc_fake_frame(m->fake_stack, *(const uintptr_t *)*at, frame);

        *at += sizeof *at;
        if (real != 0 && within(real, stack.lo - ASKS_BELOW, stack.hi))
            return true;
    }
    return false;
}

/* Of a thread on its own stack all is known without a question: the memory from its stack pointer
 * on is in use. */
bool sgc_stack_known(const struct sgc_mutator *m, bool answers)
{
    uintptr_t stands = altstack_of(m) != NULL ? m->interrupted : m->sp;

    sgc_assert(sgc_world_stopped());
    if (m->stack.high == 0)
        return false;
    return answers || (stands != 0 && sgc_stack_within(&m->stack, corrected(m, stands)));
}
