/* SPDX-License-Identifier: MIT */
/*
 * Registers of x86-64, System V ABI: rbx, rbp and r12 to r15 survive calls; no vector register
 * does.  And zeroing past the caches.  Owns nothing; runs on any thread.
 */
#include <emmintrin.h>
#include <ucontext.h>

#include "platform/platform.h"
#include "platform/registers_x86_64.h"
#include "platform/report.h"

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
    struct sgc_registers saved;
    uintptr_t sp = sgc_registers_store(&saved);

    fn(arg, sp);
    sgc_registers_keep(&saved);
}

/* A leaf function may keep data in the 128 bytes below its stack pointer (the red zone). */
uintptr_t sgc_context_sp(const void *context)
{
    const ucontext_t *interrupted = context;

    sgc_assert(context != NULL);
    return (uintptr_t)interrupted->uc_mcontext.gregs[REG_RSP] - SGC_RED_ZONE;
}

/* Compilers zero the upper halves of ymm0 to ymm15 when a function with vectors ends, and no part
 * of zmm16 to zmm31. */
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

/* Whole lines are written at once, so none is read from memory first.  The stores are weakly
 * ordered: the fence makes them precede what is published afterwards. */
void sgc_mem_zero_streaming(void *start, size_t bytes)
{
    __m128i zero = _mm_setzero_si128();
    char *end = (char *)start + bytes;

    sgc_assert((uintptr_t)start % SGC_CACHE_LINE == 0 && bytes % SGC_CACHE_LINE == 0);
    for (char *line = start; line < end; line += SGC_CACHE_LINE)
        for (int i = 0; i < SGC_CACHE_LINE; i += (int)sizeof zero)
            _mm_stream_si128((__m128i *)(void *)(line + i), zero);
    _mm_sfence();
}
