/* SPDX-License-Identifier: MIT */
/*
 * Registers of aarch64, AAPCS64: x19 to x29 and the low halves of v8 to v15 survive calls; x30 holds
 * a return address, x18 may be anything the platform wants and is stored too.  Owns nothing; runs on
 * any thread.
 */
#include <ucontext.h>

#include "platform/platform.h"
#include "platform/registers_aarch64.h"

#if !defined(__aarch64__)
#error "registers_aarch64.c is for aarch64: choose the file of this architecture in platform/local.mk"
#endif

/* Why so: platform/registers.h. */
__attribute__((noinline, no_sanitize("address")))
void sgc_with_registers(void (*fn)(void *arg, uintptr_t sp), void *arg)
{
    uintptr_t saved[20];
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
                     : : "r"(saved) : "memory");
    fn(arg, sgc_stack_pointer());
    /* Keeps the frame alive over the call, which must not become a jump. */
    __asm__ volatile("" : : "r"(saved) : "memory");
}

/* No red zone on Linux. */
uintptr_t sgc_context_sp(const void *context)
{
    const ucontext_t *interrupted = context;
    return (uintptr_t)interrupted->uc_mcontext.sp;
}
