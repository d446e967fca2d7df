/* SPDX-License-Identifier: MIT */
/*
 * platform/atomics.h on libatomic_ops.
 *
 * Each type is a structure, so that a plain access to a shared variable does not compile.  The
 * library has no exchange, and no or and and that return the old value: they are loops over its
 * compare-and-swap.  Its `full` compare-and-swap and add only acquire and release on aarch64; the
 * sequentially consistent forms therefore put its full barrier on both sides.
 */
#ifndef SGC_PLATFORM_ATOMICS_AO_H
#define SGC_PLATFORM_ATOMICS_AO_H

#include <atomic_ops.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/compiler.h"

#if SGC_TSAN
#error "ThreadSanitizer does not understand the barriers of libatomic_ops: configure without --with-libatomic-ops"
#endif

#define SGC_ATOMICS_NAME "libatomic_ops"

typedef struct { volatile AO_t value; } sgc_aw_t;
typedef struct { volatile unsigned int value; } sgc_a32_t;
typedef struct { volatile unsigned char value; } sgc_a8_t;

/* An initial value: sgc_aw_t x = SGC_ATOMIC_INIT(1); */
#define SGC_ATOMIC_INIT(v) { (v) }

#define SGC_DEFINE_LOAD(T, V, suffix, operation) \
    static inline V sgc_##T##_load##suffix(const sgc_##T##_t *p) \
    { return operation(&p->value); }

#define SGC_DEFINE_STORE(T, V, suffix, operation) \
    static inline void sgc_##T##_store##suffix(sgc_##T##_t *p, V v) \
    { operation(&p->value, v); }

#define SGC_DEFINE_CAS(T, V, name, operation) \
    static inline bool sgc_##T##_##name(sgc_##T##_t *p, V expected, V desired) \
    { return operation(&p->value, expected, desired) == expected; }

/* `next` is an expression of `old` and `v`. */
#define SGC_DEFINE_LOOP(T, V, name, load, cas, next) \
    static inline V sgc_##T##_##name(sgc_##T##_t *p, V v) \
    { \
        V old = load(&p->value), seen; \
        while ((seen = cas(&p->value, old, (V)(next))) != old) \
            old = seen; \
        return old; \
    }

#define SGC_DEFINE_ATOMIC(T, V, AO) \
    SGC_DEFINE_LOAD(T, V, , AO##load) \
    SGC_DEFINE_LOAD(T, V, _acq, AO##load_acquire) \
    SGC_DEFINE_LOAD(T, V, _sc, AO##load_full) \
    SGC_DEFINE_STORE(T, V, , AO##store) \
    SGC_DEFINE_STORE(T, V, _rel, AO##store_release) \
    SGC_DEFINE_STORE(T, V, _sc, AO##store_full) \
    SGC_DEFINE_CAS(T, V, cas, AO##fetch_compare_and_swap_full) \
    SGC_DEFINE_LOOP(T, V, swap, AO##load, AO##fetch_compare_and_swap_full, v) \
    SGC_DEFINE_LOOP(T, V, or, AO##load, AO##fetch_compare_and_swap_full, old | v) \
    SGC_DEFINE_LOOP(T, V, and, AO##load, AO##fetch_compare_and_swap_full, old & v) \
    static inline V sgc_##T##_add(sgc_##T##_t *p, V v) \
    { return AO##fetch_and_add_full(&p->value, v); }

SGC_DEFINE_ATOMIC(aw, uintptr_t, AO_)
SGC_DEFINE_ATOMIC(a32, uint32_t, AO_int_)
SGC_DEFINE_ATOMIC(a8, uint8_t, AO_char_)

SGC_DEFINE_LOOP(aw, uintptr_t, or_relaxed, AO_load, AO_fetch_compare_and_swap, old | v)
SGC_DEFINE_LOOP(aw, uintptr_t, and_relaxed, AO_load, AO_fetch_compare_and_swap, old & v)

static inline uintptr_t sgc_aw_add_relaxed(sgc_aw_t *p, uintptr_t v)
{
    return AO_fetch_and_add(&p->value, v);
}

static inline uintptr_t sgc_aw_or_sc(sgc_aw_t *p, uintptr_t v)
{
    AO_nop_full();
    uintptr_t old = sgc_aw_or(p, v);
    AO_nop_full();
    return old;
}

static inline uint8_t sgc_a8_swap_sc(sgc_a8_t *p, uint8_t v)
{
    AO_nop_full();
    uint8_t old = sgc_a8_swap(p, v);
    AO_nop_full();
    return old;
}

static inline bool sgc_aw_cas_sc(sgc_aw_t *p, uintptr_t expected, uintptr_t desired)
{
    AO_nop_full();
    bool exchanged = sgc_aw_cas(p, expected, desired);
    AO_nop_full();
    return exchanged;
}

static inline void sgc_compiler_barrier(void)
{
    AO_compiler_barrier();
}

#undef SGC_DEFINE_LOAD
#undef SGC_DEFINE_STORE
#undef SGC_DEFINE_CAS
#undef SGC_DEFINE_LOOP
#undef SGC_DEFINE_ATOMIC

#endif
