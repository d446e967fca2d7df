/* SPDX-License-Identifier: MIT */
/*
 * platform/atomics.h on C11's atomics.
 *
 * Each type is a structure, so that a plain access to a shared variable does not compile.  The
 * functions are written out by one macro a type: the three differ in nothing but their width.
 */
#ifndef SGC_PLATFORM_ATOMICS_C11_H
#define SGC_PLATFORM_ATOMICS_C11_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SGC_ATOMICS_NAME "C11"

typedef struct { _Atomic(uintptr_t) value; } sgc_aw_t;
typedef struct { _Atomic(uint32_t) value; } sgc_a32_t;
typedef struct { _Atomic(uint8_t) value; } sgc_a8_t;

/* An initial value: sgc_aw_t x = SGC_ATOMIC_INIT(1); */
#define SGC_ATOMIC_INIT(v) { (v) }

#define SGC_DEFINE_LOAD(T, V, suffix, order) \
    static inline V sgc_##T##_load##suffix(const sgc_##T##_t *p) \
    { return atomic_load_explicit(&((sgc_##T##_t *)(uintptr_t)p)->value, order); }

#define SGC_DEFINE_STORE(T, V, suffix, order) \
    static inline void sgc_##T##_store##suffix(sgc_##T##_t *p, V v) \
    { atomic_store_explicit(&p->value, v, order); }

#define SGC_DEFINE_RMW(T, V, name, operation, order) \
    static inline V sgc_##T##_##name(sgc_##T##_t *p, V v) \
    { return operation(&p->value, v, order); }

/* A failed exchange is an acquire (or sequentially consistent) load: callers look at what they lost
 * to. */
#define SGC_DEFINE_CAS(T, V, name, success, failure) \
    static inline bool sgc_##T##_##name(sgc_##T##_t *p, V expected, V desired) \
    { return atomic_compare_exchange_strong_explicit(&p->value, &expected, desired, success, failure); }

#define SGC_DEFINE_ATOMIC(T, V) \
    SGC_DEFINE_LOAD(T, V, , memory_order_relaxed) \
    SGC_DEFINE_LOAD(T, V, _acq, memory_order_acquire) \
    SGC_DEFINE_LOAD(T, V, _sc, memory_order_seq_cst) \
    SGC_DEFINE_STORE(T, V, , memory_order_relaxed) \
    SGC_DEFINE_STORE(T, V, _rel, memory_order_release) \
    SGC_DEFINE_STORE(T, V, _sc, memory_order_seq_cst) \
    SGC_DEFINE_RMW(T, V, swap, atomic_exchange_explicit, memory_order_acq_rel) \
    SGC_DEFINE_RMW(T, V, add, atomic_fetch_add_explicit, memory_order_acq_rel) \
    SGC_DEFINE_RMW(T, V, or, atomic_fetch_or_explicit, memory_order_acq_rel) \
    SGC_DEFINE_RMW(T, V, and, atomic_fetch_and_explicit, memory_order_acq_rel) \
    SGC_DEFINE_CAS(T, V, cas, memory_order_acq_rel, memory_order_acquire)

SGC_DEFINE_ATOMIC(aw, uintptr_t)
SGC_DEFINE_ATOMIC(a32, uint32_t)
SGC_DEFINE_ATOMIC(a8, uint8_t)

SGC_DEFINE_RMW(aw, uintptr_t, or_relaxed, atomic_fetch_or_explicit, memory_order_relaxed)
SGC_DEFINE_RMW(aw, uintptr_t, and_relaxed, atomic_fetch_and_explicit, memory_order_relaxed)
SGC_DEFINE_RMW(aw, uintptr_t, add_relaxed, atomic_fetch_add_explicit, memory_order_relaxed)
SGC_DEFINE_RMW(aw, uintptr_t, or_sc, atomic_fetch_or_explicit, memory_order_seq_cst)
SGC_DEFINE_RMW(a8, uint8_t, swap_sc, atomic_exchange_explicit, memory_order_seq_cst)
SGC_DEFINE_CAS(aw, uintptr_t, cas_sc, memory_order_seq_cst, memory_order_seq_cst)

static inline void sgc_compiler_barrier(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

#undef SGC_DEFINE_LOAD
#undef SGC_DEFINE_STORE
#undef SGC_DEFINE_RMW
#undef SGC_DEFINE_CAS
#undef SGC_DEFINE_ATOMIC

#endif
