/* SPDX-License-Identifier: MIT */
/*
 * Keeping an address in one processor register and nowhere else, while the thread runs and may be
 * stopped at any instruction.  Stale copies may lie elsewhere on the stack by chance; these tests
 * are repeated often enough that this does not hide an error.
 */
#ifndef TESTS_STRESS_HOLD_H
#define TESTS_STRESS_HOLD_H

#include "tests/stress/object.h"

enum hold_place { HOLD_GENERAL, HOLD_VECTOR, HOLD_WIDE };

/* A function that keeps the address between `put` and `get` for so many turns of the architecture's `spin`. */
#define HOLD_FUNCTION(name, put, spin, get, ...) \
    static uintptr_t name(uintptr_t address, unsigned long spins) \
    { \
        __asm__ volatile(put spin get : "+r"(address), "+r"(spins) : : __VA_ARGS__, "cc"); \
        return address; \
    }

/* HOLD_WIDE: in the upper half of a 256-bit register, which the kernel saves apart from the lower one; or of a vector
 * register. */
#if defined(__x86_64__)

#define HOLD_SPIN "xor %0, %0\n1:\tpause\n\tdec %1\n\tjnz 1b\n\t"
HOLD_FUNCTION(hold_general, "mov %0, %%r10\n\t", HOLD_SPIN, "mov %%r10, %0", "r10")
HOLD_FUNCTION(hold_vector, "movq %0, %%xmm9\n\t", HOLD_SPIN, "movq %%xmm9, %0", "xmm9")
HOLD_FUNCTION(hold_wide,
              "vmovq %0, %%xmm9\n\t"
              "vinsertf128 $1, %%xmm9, %%ymm9, %%ymm9\n\t"
              "vxorps %%xmm8, %%xmm8, %%xmm8\n\t"
              "vblendps $15, %%ymm8, %%ymm9, %%ymm9\n\t", HOLD_SPIN,
              "vextractf128 $1, %%ymm9, %%xmm9\n\t"
              "vmovq %%xmm9, %0\n\t"
              "vzeroupper",
              "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
              "xmm13", "xmm14", "xmm15")
#define HOLD_HAS_WIDE __builtin_cpu_supports("avx")

#elif defined(__aarch64__)

#define HOLD_SPIN "mov %0, xzr\n1:\tyield\n\tsubs %1, %1, #1\n\tb.ne 1b\n\t"
HOLD_FUNCTION(hold_general, "mov x10, %0\n\t", HOLD_SPIN, "mov %0, x10", "x10")
HOLD_FUNCTION(hold_vector, "fmov d17, %0\n\t", HOLD_SPIN, "fmov %0, d17", "v17")
HOLD_FUNCTION(hold_wide, "movi v17.2d, #0\n\tmov v17.d[1], %0\n\t", HOLD_SPIN, "mov %0, v17.d[1]", "v17")
#define HOLD_HAS_WIDE true

#else
#error "hold.h: write the three functions for this architecture"
#endif

/* Does this machine have such a register? */
static bool hold_possible(enum hold_place place)
{
    return place != HOLD_WIDE || HOLD_HAS_WIDE;
}

/* Hides the object's address in memory, keeps it in a register for about `spins` turns of a short loop, and puts it back.
 * The complement is what memory sees; `~` is undone only in a register. */
static __attribute__((noinline)) void hold_object(struct ref *ref, enum hold_place place, unsigned long spins)
{
    static uintptr_t (*const hold[])(uintptr_t address, unsigned long spins) = { hold_general, hold_vector, hold_wide };
    uintptr_t hidden = ~(uintptr_t)ref->where;
    ref->where = NULL;
    __asm__ volatile("" : "+r"(hidden) : : "memory");
    ref->where = (char *)hold[place](~hidden, spins);
}

/* The address in a register that calls preserve, across a collection by this very thread. */
static __attribute__((noinline)) void hold_across_collection(struct ref *ref)
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

#endif
