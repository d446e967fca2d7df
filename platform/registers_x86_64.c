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

/* Those of AVX-512 exist for the compiler only if it may use them itself. */
#define SGC_LOW_VECTORS "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", \
                        "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#if defined(__AVX512F__)
#define SGC_HIGH_VECTORS "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", \
                         "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31"
#else
#define SGC_HIGH_VECTORS "memory"
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

/* Compilers zero the upper halves of ymm0 to ymm15 when a function with vectors ends, and no part of zmm16 to zmm31. */
#define FORGET(a, b, c, d) "vpxorq %%zmm" a ", %%zmm" a ", %%zmm" a "\n\tvpxorq %%zmm" b ", %%zmm" b ", %%zmm" b "\n\t" \
                           "vpxorq %%zmm" c ", %%zmm" c ", %%zmm" c "\n\tvpxorq %%zmm" d ", %%zmm" d ", %%zmm" d "\n\t"
__attribute__((noinline))
void sgc_forget_vectors(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx"))
        __asm__ volatile("vzeroall" : : : SGC_LOW_VECTORS);
    if (__builtin_cpu_supports("avx512f"))
        __asm__ volatile(FORGET("16", "17", "18", "19") FORGET("20", "21", "22", "23") FORGET("24", "25", "26", "27")
                         FORGET("28", "29", "30", "31") : : : SGC_HIGH_VECTORS);
}
