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

/* x18 to x29 and the low halves of v8 to v15: why so, platform/registers.h. */
struct sgc_registers {
    uintptr_t saved[20];
};

static inline __attribute__((always_inline)) uintptr_t sgc_registers_store(struct sgc_registers *r)
{
    __asm__ volatile("stp x18, x19, [%0, #0]\n\t"
                     "stp x20, x21, [%0, #16]\n\t"
                     "stp x22, x23, [%0, #32]\n\t"
                     "stp x24, x25, [%0, #48]\n\t"
                     "stp x26, x27, [%0, #64]\n\t"
                     "stp x28, x29, [%0, #80]\n\t"
                     "stp d8, d9, [%0, #96]\n\t"
                     "stp d10, d11, [%0, #112]\n\t"
                     "stp d12, d13, [%0, #128]\n\t"
                     "stp d14, d15, [%0, #144]"
                     : : "r"(r->saved) : "memory");
    return sgc_stack_pointer();
}

/* Keeps the frame that has them alive up to here: the call before must not become a jump. */
static inline __attribute__((always_inline)) void sgc_registers_keep(struct sgc_registers *r)
{
    __asm__ volatile("" : : "r"(r) : "memory");
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
