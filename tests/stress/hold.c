/* SPDX-License-Identifier: MIT */
/* See hold.h.  Runs on the thread that owns the object.  One block of functions an architecture. */
#include "tests/stress/hold.h"

#if defined(__x86_64__)

static uintptr_t hold_general(uintptr_t address, unsigned long spins)
{
    __asm__ volatile("mov %0, %%r10\n\t"
                     "xor %0, %0\n"
                     "1:\tpause\n\t"
                     "dec %1\n\t"
                     "jnz 1b\n\t"
                     "mov %%r10, %0"
                     : "+r"(address), "+r"(spins) : : "r10", "cc");
    return address;
}

static uintptr_t hold_vector(uintptr_t address, unsigned long spins)
{
    __asm__ volatile("movq %0, %%xmm9\n\t"
                     "xor %0, %0\n"
                     "1:\tpause\n\t"
                     "dec %1\n\t"
                     "jnz 1b\n\t"
                     "movq %%xmm9, %0"
                     : "+r"(address), "+r"(spins) : : "xmm9", "cc");
    return address;
}

/* In the upper half of a 256-bit register, which the kernel saves apart from the lower one. */
static uintptr_t hold_wide(uintptr_t address, unsigned long spins)
{
    __asm__ volatile("vmovq %0, %%xmm9\n\t"
                     "xor %0, %0\n\t"
                     "vinsertf128 $1, %%xmm9, %%ymm9, %%ymm9\n\t"
                     "vxorps %%xmm8, %%xmm8, %%xmm8\n\t"
                     "vblendps $15, %%ymm8, %%ymm9, %%ymm9\n"
                     "1:\tpause\n\t"
                     "dec %1\n\t"
                     "jnz 1b\n\t"
                     "vextractf128 $1, %%ymm9, %%xmm9\n\t"
                     "vmovq %%xmm9, %0\n\t"
                     "vzeroupper"
                     : "+r"(address), "+r"(spins)
                     :
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                       "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc");
    return address;
}

bool hold_possible(enum hold_place place)
{
    return place != HOLD_WIDE || __builtin_cpu_supports("avx");
}

#elif defined(__aarch64__)

static uintptr_t hold_general(uintptr_t address, unsigned long spins)
{
    __asm__ volatile("mov x10, %0\n\t"
                     "mov %0, xzr\n"
                     "1:\tyield\n\t"
                     "subs %1, %1, #1\n\t"
                     "b.ne 1b\n\t"
                     "mov %0, x10"
                     : "+r"(address), "+r"(spins) : : "x10", "cc");
    return address;
}

static uintptr_t hold_vector(uintptr_t address, unsigned long spins)
{
    __asm__ volatile("fmov d17, %0\n\t"
                     "mov %0, xzr\n"
                     "1:\tyield\n\t"
                     "subs %1, %1, #1\n\t"
                     "b.ne 1b\n\t"
                     "fmov %0, d17"
                     : "+r"(address), "+r"(spins) : : "v17", "cc");
    return address;
}

/* In the upper half of a vector register. */
static uintptr_t hold_wide(uintptr_t address, unsigned long spins)
{
    __asm__ volatile("movi v17.2d, #0\n\t"
                     "mov v17.d[1], %0\n\t"
                     "mov %0, xzr\n"
                     "1:\tyield\n\t"
                     "subs %1, %1, #1\n\t"
                     "b.ne 1b\n\t"
                     "mov %0, v17.d[1]"
                     : "+r"(address), "+r"(spins) : : "v17", "cc");
    return address;
}

bool hold_possible(enum hold_place place)
{
    return place < HOLD_PLACES;
}

#else
#error "hold.c: write the three functions for this architecture"
#endif

/* The complement is what memory sees; `~` is undone only in a register. */
__attribute__((noinline)) void hold_object(struct ref *ref, enum hold_place place, unsigned long spins)
{
    uintptr_t hidden = ~(uintptr_t)ref->where;
    ref->where = NULL;
    __asm__ volatile("" : "+r"(hidden) : : "memory");
    if (place == HOLD_GENERAL)
        hidden = ~hold_general(~hidden, spins);
    else if (place == HOLD_VECTOR)
        hidden = ~hold_vector(~hidden, spins);
    else
        hidden = ~hold_wide(~hidden, spins);
    ref->where = (char *)~hidden;
}

__attribute__((noinline)) void hold_across_collection(struct ref *ref)
{
    uintptr_t hidden = ~(uintptr_t)ref->where;
    ref->where = NULL;
    __asm__ volatile("" : "+r"(hidden) : : "memory");
    uintptr_t address = ~hidden;
    __asm__ volatile("" : "+r"(address));
    GC_gcollect();
    __asm__ volatile("" : "+r"(address));
    ref->where = (char *)address;
}
