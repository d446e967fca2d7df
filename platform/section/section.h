/* SPDX-License-Identifier: MIT */
/*
 * Sections: the short stretches of a mutator's code in which the heap may be half changed.  The
 * shortest, of a few instructions, have a cheaper way in and out: platform/section/brief.h.
 *
 * A thread inside a section is never stopped; it parks as it leaves.  A section is a bounded number
 * of instructions without system calls, waits or the zeroing of large objects, so stopping the
 * world waits only that long.  Sections do not nest, except that a section may take locks
 * (platform/section/lock.h).
 *
 * A section records its stack pointer.  If a client's signal handler interrupts a section and
 * siglongjmps out, the record stays although the frame is gone.  That is noticed by the thread
 * itself at its next section (its stack pointer is then above the recorded one), or by the suspend
 * handler (the interrupted stack pointer is).  Then `repair` is called.  Sections without a lock
 * are therefore written so that abandoning them at any instruction leaves the heap consistent, at
 * worst with slots that nobody can use until the next cycle.  Sections with a lock cannot be
 * abandoned: locks are taken under a guard (below).
 *
 *   field   written by                       read by                       ordering
 *   sp,     its thread, its own handler      its thread, its own handler   program order, compiler
 *   brief                                                                  barrier: handler and thread
 *                                                                          are one thread
 *   state   its thread (BLOCKED, ASLEEP,     both                          every change is one
 *           ACKED), the stopper (STOPREQ,                                  acquire-release
 *           SUSPENDED, PINNED), the thread                                 read-modify-write on this
 *           that ends a suspension                                         word
 *   owned   the code that gives it to a      its thread, its own handler   before that thread has it
 *           thread
 *   held,   its thread                       its thread, its own handler   program order
 *   guards, signals,
 *   leaves, passed_ns
 */
#ifndef SGC_PLATFORM_SECTION_SECTION_H
#define SGC_PLATFORM_SECTION_SECTION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/atomics.h"
#include "platform/compiler.h"
#include "platform/registers.h"
#include "platform/report.h"

enum {
    SGC_STATE_BLOCKED = 1,      /* touches no heap: counts as stopped */
    SGC_STATE_STOPREQ = 2,      /* the stopper wants it to stop */
    SGC_STATE_ACKED = 4,        /* it has been counted as stopped */
    SGC_STATE_AGAIN = 8,        /* it was asked more than once */
    SGC_STATE_PINNED = 16,      /* the same as SUSPENDED for as long as a stop takes */
    SGC_STATE_ASLEEP = 64,      /* BLOCKED in a sleep of our own, of which the program knows
                                   nothing */
    SGC_STATE_PASSED = 128,     /* asked, and let go on for a little */
    SGC_STATE_SUSPENDED = 32,   /* stopped for long: to stay where nothing of ours is in its
                                   hands */
};

enum { SGC_BRIEF_ASKED = 1 };   /* in `brief`: stack pointers are even */

struct sgc_section {
    uintptr_t sp;               /* 0 outside sections, or of one that was left */
    sgc_aw_t brief;             /* as sp, of brief ones too; bit 0: a stop is asked for
                                 * (platform/section/brief.h) */
    sgc_a32_t state;            /* SGC_STATE_* */
    uint32_t held;              /* ranks of the locks held, one bit each */
    uint32_t guards;            /* depth of sgc_guard_enter */
    bool leaves;                /* it has opened the GC lock for one who waits, and may not have run
                                   since */
    bool owned;                 /* by a thread: those without a cache share one
                                   (alloc/small/cache.h) */
    uint64_t passed_ns;         /* its processor time when it was let pass after that; 0: not yet */
    sigset_t signals;           /* the mask to put back when the last guard goes */
};

/* Actions that a section cannot take by itself; set once by the layers above. */
struct sgc_section_hooks {
    void (*park)(struct sgc_section *self);         /* sleep until the world runs again */
    void (*repair)(struct sgc_section *self);       /* a section was abandoned */
    void (*stay)(struct sgc_section *self);         /* sleep until not suspended any more */
    void (*seam)(void);                             /* NULL, or delays at random (torture) */
    /* Called by sgc_section_sleep; NULL: the thread simply sleeps. */
    void (*sleep)(struct sgc_section *self, sgc_a32_t *word, uint32_t expected);
};
SGC_INNER struct sgc_section_hooks sgc_section_hooks;

/* A place between two steps of a protocol where another thread's step would hurt if the protocol
 * were wrong. */
static inline void sgc_test_point(void)
{
    if (__builtin_expect(sgc_section_hooks.seam != NULL, 0))
        sgc_section_hooks.seam();
}

/*
 * Guards: stretches that are longer than a section, may wait and may be stopped, but must not be
 * left by a client's siglongjmp: a thread under a guard holds a lock, or (normally) the GC lock,
 * has pages in its hands that are on no list, or grows the heap.  All signals are blocked but the
 * suspend signal and those of faults.  They nest.  Others may wait for what is done there, so a
 * thread that is suspended goes on to the outermost guard's end, and stays there.
 */
void sgc_guard_init(int suspend_signal);        /* before the first guard; once */
void sgc_guard_enter(struct sgc_section *self);
void sgc_guard_leave(struct sgc_section *self);

/* Outside sections: sleeps once while *word == expected, counting as stopped meanwhile. */
void sgc_section_sleep(struct sgc_section *self, sgc_a32_t *word, uint32_t expected);

/* Has the frame at `recorded` been left, when the thread now stands at `now`?  `alternate` is its
 * alternate signal stack (NULL: none).  A thread that stands there has interrupted the section
 * recorded elsewhere; one that stands elsewhere has left the section recorded there; on one stack
 * addresses decide. */
struct sgc_stack_bounds;
bool sgc_section_left(uintptr_t recorded, uintptr_t now, const struct sgc_stack_bounds *alternate);

/* The unusual ways in and out. */
void sgc_section_enter_again(struct sgc_section *self, uintptr_t sp);
void sgc_section_stop_requested(struct sgc_section *self);
void sgc_section_used_inside(const struct sgc_section *self) __attribute__((noreturn));

/* The stack pointer moves less than that within a brief section; the frame of a signal is
 * larger. */
enum { SGC_BRIEF_FRAME = 512 };

/* The stack pointer in `brief`, of a brief section or a full one; 0 when none is recorded, or a
 * brief one is over and sgc_brief_leave_slowly follows (unless it was left just there). */
static inline uintptr_t sgc_brief_recorded(const struct sgc_section *self)
{
    uintptr_t brief = sgc_aw_load(&self->brief) & ~(uintptr_t)SGC_BRIEF_ASKED;

    return (intptr_t)brief > SGC_BRIEF_FRAME ? brief : 0;
}

static inline bool sgc_section_inside(const struct sgc_section *self)
{
    return self->sp != 0 || sgc_aw_load(&self->brief) != 0;
}

static inline bool sgc_section_suspended(const struct sgc_section *self)
{
    return (sgc_a32_load_acq(&self->state) & (SGC_STATE_SUSPENDED | SGC_STATE_PINNED)) != 0;
}

/* For a thread that begins or is gone. */
static inline void sgc_section_reset(struct sgc_section *self)
{
    self->sp = 0;
    sgc_aw_store(&self->brief, 0);
    self->held = self->guards = 0;
    self->leaves = false;
}

__attribute__((always_inline))
static inline void sgc_section_enter(struct sgc_section *self)
{
    uintptr_t sp = sgc_stack_pointer();

    if (__builtin_expect(self->sp != 0 || sgc_aw_load(&self->brief) != 0, 0))
        sgc_section_enter_again(self, sp);
    sgc_aw_store(&self->brief, sp);
    self->sp = sp;
    sgc_compiler_barrier();
}

/* A handler, or under a lock the thread itself, that used a brief section meanwhile has left
 * something else in `brief`. */
static inline void sgc_section_check(const struct sgc_section *self)
{
    if (__builtin_expect((sgc_aw_load(&self->brief) ^ self->sp) > SGC_BRIEF_ASKED, 0))
        sgc_section_used_inside(self);
}

/* The thread itself has used a brief section under a lock, and that was right. */
static inline void sgc_section_restore(struct sgc_section *self)
{
    sgc_assert(self->held != 0);
    sgc_aw_store(&self->brief, self->sp);
}

/* The suspend signal may have come meanwhile and found us inside: the request is then in `state`,
 * and reading it after sp became 0 cannot miss it, since a signal after that store parks at
 * once. */
static inline void sgc_section_leave(struct sgc_section *self)
{
    sgc_assert(self->sp != 0 && self->held == 0);
    sgc_compiler_barrier();
    sgc_section_check(self);
    sgc_aw_store(&self->brief, 0);
    self->sp = 0;
    sgc_compiler_barrier();
    if (__builtin_expect(sgc_a32_load(&self->state) & SGC_STATE_STOPREQ, 0))
        sgc_section_stop_requested(self);
}

#endif
