/* SPDX-License-Identifier: MIT */
/* aarch64, AAPCS64: see platform/registers.h.  Pure functions of the calling thread. */
#ifndef SGC_PLATFORM_REGISTERS_AARCH64_H
#define SGC_PLATFORM_REGISTERS_AARCH64_H

#include <stdint.h>

/* The procedure call standard has no red zone. */
#define SGC_RED_ZONE 0

static inline __attribute__((always_inline)) uintptr_t sgc_stack_pointer(void)
{
    uintptr_t sp;
    __asm__ volatile("mov %0, sp" : "=r"(sp));
    return sp;
}

static inline uintptr_t sgc_arch_thread_pointer(void)
{
    uintptr_t tp;
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(tp));
    return tp;
}

/* The thread pointer points at the vector's address; the blocks follow it. */
static inline uintptr_t *sgc_arch_dtv(uintptr_t tp)
{
    return (uintptr_t *)tp;
}

static inline void sgc_arch_forget_argument(void)
{
}

static inline void sgc_arch_pause(void)
{
    __asm__ volatile("isb" : : : "memory");     /* `yield` is a no-op on most cores */
}

#endif
