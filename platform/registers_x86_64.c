/* SPDX-License-Identifier: MIT */
/*
 * Registers of x86-64, System V ABI: rbx, rbp and r12 to r15 survive calls; no vector register
 * does.  Owns nothing; runs on any thread.
 */
#include <ucontext.h>

#include "platform/platform.h"
#include "platform/registers_x86_64.h"

#if !defined(__x86_64__)
#error "registers_x86_64.c is for x86-64: choose the file of this architecture in platform/local.mk"
#endif

/* Why so: platform/registers.h. */
__attribute__((noinline, no_sanitize("address")))
void sgc_with_registers(void (*fn)(void *arg, uintptr_t sp), void *arg)
{
    uintptr_t saved[6];
    __asm__ volatile("movq %%rbx, 0(%0)\n\t"
                     "movq %%rbp, 8(%0)\n\t"
                     "movq %%r12, 16(%0)\n\t"
                     "movq %%r13, 24(%0)\n\t"
                     "movq %%r14, 32(%0)\n\t"
                     "movq %%r15, 40(%0)"
                     : : "r"(saved) : "memory");
    fn(arg, sgc_stack_pointer());
    /* Keeps the frame alive over the call, which must not become a jump. */
    __asm__ volatile("" : : "r"(saved) : "memory");
}

/* A leaf function may keep data in the 128 bytes below its stack pointer (the red zone). */
uintptr_t sgc_context_sp(const void *context)
{
    const ucontext_t *interrupted = context;
    return (uintptr_t)interrupted->uc_mcontext.gregs[REG_RSP] - SGC_RED_ZONE;
}
