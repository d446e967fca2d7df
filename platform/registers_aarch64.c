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

/* Those of which no part survives calls: the low halves of v8 to v15 may be our caller's. */
#define FORGET(a, b, c, d) "movi v" a ".2d, #0\n\tmovi v" b ".2d, #0\n\tmovi v" c ".2d, #0\n\tmovi v" d ".2d, #0\n\t"
__attribute__((noinline))
void sgc_forget_vectors(void)
{
    __asm__ volatile(FORGET("0", "1", "2", "3") FORGET("4", "5", "6", "7") FORGET("16", "17", "18", "19")
                     FORGET("20", "21", "22", "23") FORGET("24", "25", "26", "27") FORGET("28", "29", "30", "31")
                     : : : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22",
                       "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}
