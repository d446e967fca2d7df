/* SPDX-License-Identifier: MIT */
/*
 * Single steps, on x86-64: between trap_on and trap_off there is a SIGTRAP after each instruction of the calling thread.  A
 * handler runs without; whoever leaves it by siglongjmp goes on without.  Elsewhere there are none.
 */
#ifndef TESTS_LIB_TRAP_H
#define TESTS_LIB_TRAP_H

#include "tests/lib/sanitized.h"
#include "tests/lib/tap.h"

#if defined(__x86_64__)

#include <ucontext.h>

__attribute__((always_inline)) static inline void trap_on(void)
{
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

__attribute__((always_inline)) static inline void trap_off(void)
{
    __asm__ volatile("pushfq\n\tandq $-257, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

/* By a handler: what it has interrupted goes on without. */
static inline void trap_end(void *interrupted)
{
    ((ucontext_t *)interrupted)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)0x100;
}

#else

static inline void trap_on(void) { }
static inline void trap_off(void) { }

#endif

/* The whole of a test that is nothing but single steps; NULL: there are none here. */
static inline int trap_main(void (*test)(void))
{
    if (TEST_SANITIZED)
        tap_skip("a sanitizer has its own signals");
    else if (test == NULL)
        tap_skip("it needs single steps");
    else
        test();
    return tap_done();
}

#endif
