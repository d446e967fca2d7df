/* SPDX-License-Identifier: MIT */
/*
 * Which part of which stack a stopped thread uses.  On the collecting thread, world stopped.
 *
 * Usually the thread stands on its own stack: from its stack pointer to the bottom.  It may also
 * stand
 *   - on an alternate signal stack: that is scanned, and what it interrupted there, its own stack or a
 *     coroutine's, from where that stood.  The suspend handler notes it; if a client's handler runs on
 *     the alternate stack, it is found among the words the kernel saved there;
 *   - on a stack of a coroutine that the client told us the bottom of (GC_set_stackbottom);
 *   - on a stack nobody told us of: then the mapping it lies in is scanned up to its end, and its
 *     own stack whole.
 */
#include "gc/stack_roots.h"

#include "platform/registers.h"

SGC_STATE static sgc_aw_t corrector;

void sgc_stack_set_corrector(sgc_sp_corrector_t fn)
{
    sgc_aw_store_rel(&corrector, (uintptr_t)fn);
}

sgc_sp_corrector_t sgc_stack_corrector(void)
{
    return (sgc_sp_corrector_t)sgc_aw_load_acq(&corrector);
}

/* The client knows where the thread stands when no handler runs: not on an alternate signal stack. */
static uintptr_t corrected(const struct sgc_mutator *m, uintptr_t stands)
{
    void *sp = (void *)stands;
    sgc_sp_corrector_t fn = sgc_stack_corrector();

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
    return lowest & ~(uintptr_t)(sizeof(uintptr_t) - 1);
}

/* A word that only looks like a stack pointer may lie where the kernel has not grown the stack to. */
static struct sgc_range own_from(const struct sgc_mutator *m, uintptr_t from)
{
    return (struct sgc_range){ sgc_mem_mapped_from(from, m->stack.high), m->stack.high };
}

/* Everything of the own stack that the kernel backs. */
static int on_unknown_stack(const struct sgc_mutator *m, uintptr_t sp, struct sgc_range *part)
{
    uintptr_t lo, hi;
    int n = 0;

    if (sgc_mem_mapping_of(sp, &lo, &hi))
        part[n++] = (struct sgc_range){ sp, hi };
    part[n++] = own_from(m, m->stack.low);
    return n;
}

static bool told_bottom_fits(const struct sgc_mutator *m, uintptr_t sp)
{
    uintptr_t lo, hi;

    return m->bottom != m->stack.high && sp < m->bottom && sgc_mem_mapping_of(sp, &lo, &hi) &&
           m->bottom <= hi;
}

/* Standing on an ordinary stack, of whatever sort. */
static int on_stack(const struct sgc_mutator *m, uintptr_t sp, struct sgc_range *part)
{
    if (within(sp, m->stack.low, m->stack.high)) {
        part[0] = (struct sgc_range){ sp, m->stack.high };
        return 1;
    }
    if (told_bottom_fits(m, sp)) {
        part[0] = (struct sgc_range){ sp, m->bottom };
        part[1] = own_from(m, m->stack.low);
        return 2;
    }
    return on_unknown_stack(m, sp, part);
}

/* A client's handler runs on the alternate stack: what it interrupted saved its stack pointer there.  The
 * interrupted code may use its red zone. */
static int below_handler(const struct sgc_mutator *m, struct sgc_range used, struct sgc_range *part)
{
    struct sgc_stack_bounds told = { 0, m->bottom };
    uintptr_t from = lowest_saved_sp(used, m->stack) - SGC_RED_ZONE, hi;
    int n = 0;

    part[n++] = own_from(m, from > m->stack.low ? from : m->stack.low);
    if (m->bottom != m->stack.high && sgc_mem_mapping_of(m->bottom - 1, &told.low, &hi)) {
        from = lowest_saved_sp(used, told) - SGC_RED_ZONE;
        part[n++] = (struct sgc_range){ from > told.low ? from : told.low, told.high };
    }
    return n;
}

static int on_altstack(const struct sgc_mutator *m, uintptr_t sp, struct sgc_stack_bounds alternate,
                       struct sgc_range *part)
{
    struct sgc_range used = { sp & ~(uintptr_t)7, alternate.high };

    part[0] = used;
    if (m->interrupted != 0 && !within(m->interrupted, alternate.low, alternate.high))
        return 1 + on_stack(m, corrected(m, m->interrupted), part + 1);
    return 1 + below_handler(m, used, part + 1);
}

int sgc_stack_parts(const struct sgc_mutator *m, struct sgc_range part[SGC_STACK_PARTS])
{
    uintptr_t sp = m->sp;

    if (m->altstack.low != 0 && within(sp, m->altstack.low, m->altstack.high))
        return on_altstack(m, sp, m->altstack, part);
    if (m->told_altstack.low != 0 && within(sp, m->told_altstack.low, m->told_altstack.high))
        return on_altstack(m, sp, m->told_altstack, part);
    return on_stack(m, corrected(m, sp), part);
}
