/* SPDX-License-Identifier: MIT */
/*
 * Registers of aarch64, AAPCS64: x19 to x29 and the low halves of v8 to v15 survive calls; x30
 * holds a return address, x18 may be anything the platform wants and is stored too.  And zeroing,
 * where nothing better is known than what the C library does.  Owns nothing; runs on any thread.
 */
#include <string.h>
#include <ucontext.h>

#include "platform/platform.h"
#include "platform/registers_aarch64.h"
#include "platform/report.h"

#if !defined(__aarch64__)
#error "registers_aarch64.c is for aarch64: choose the file of this architecture in platform/local.mk"
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

/* No red zone on Linux. */
uintptr_t sgc_context_sp(const void *context)
{
    const ucontext_t *interrupted = context;

    sgc_assert(context != NULL);
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

void sgc_mem_zero_streaming(void *start, size_t bytes)
{
    sgc_assert((uintptr_t)start % SGC_CACHE_LINE == 0 && bytes % SGC_CACHE_LINE == 0);
    memset(start, 0, bytes);
}
