/* SPDX-License-Identifier: MIT */
/* x86-64, System V ABI: see platform/registers.h.  Pure functions of the calling thread. */
#ifndef SGC_PLATFORM_REGISTERS_X86_64_H
#define SGC_PLATFORM_REGISTERS_X86_64_H

#include <stdint.h>

/* Bytes below its stack pointer that a leaf function may use. */
#define SGC_RED_ZONE 128

static inline __attribute__((always_inline)) uintptr_t sgc_stack_pointer(void)
{
    uintptr_t sp;
    __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
    return sp;
}

/* rbx, rbp and r12 to r15: why so, platform/registers.h. */
struct sgc_registers {
    uintptr_t saved[6];
};

static inline __attribute__((always_inline)) uintptr_t sgc_registers_store(struct sgc_registers *r)
{
    __asm__ volatile("movq %%rbx, 0(%0)\n\t"
                     "movq %%rbp, 8(%0)\n\t"
                     "movq %%r12, 16(%0)\n\t"
                     "movq %%r13, 24(%0)\n\t"
                     "movq %%r14, 32(%0)\n\t"
                     "movq %%r15, 40(%0)"
                     : : "r"(r->saved) : "memory");
    return sgc_stack_pointer();
}

/* Keeps the frame that has them alive up to here: the call before must not become a jump. */
static inline __attribute__((always_inline)) void sgc_registers_keep(struct sgc_registers *r)
{
    __asm__ volatile("" : : "r"(r) : "memory");
}

/* fs:0 holds the address that fs itself stands for. */
static inline uintptr_t sgc_arch_thread_pointer(void)
{
    uintptr_t tp;
    __asm__ volatile("movq %%fs:0, %0" : "=r"(tp));
    return tp;
}

/* The head of the thread control block: its own address, then the vector. */
static inline uintptr_t *sgc_arch_dtv(uintptr_t tp)
{
    return (uintptr_t *)(tp + 8);
}

static inline void sgc_arch_forget_argument(void)
{
    __asm__ volatile("xorl %%edi, %%edi" : : : "rdi", "cc");
}

static inline void sgc_arch_pause(void)
{
    __asm__ volatile("pause");
}

#endif
