/* SPDX-License-Identifier: MIT */
/*
 * Single steps, on x86-64: between trap_on and trap_off there is a SIGTRAP after each instruction of the calling thread.  A
 * handler runs without; whoever leaves it by siglongjmp goes on without.
 */
#ifndef TESTS_LIB_TRAP_H
#define TESTS_LIB_TRAP_H

#if defined(__x86_64__)

__attribute__((always_inline)) static inline void trap_on(void)
{
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

__attribute__((always_inline)) static inline void trap_off(void)
{
    __asm__ volatile("pushfq\n\tandq $-257, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

#endif

#endif
