/* SPDX-License-Identifier: MIT */
/*
 * Takes the place of platform/atomics.h, and of mark/read_once.h, in a second compilation of the
 * library's marking code: the compiler includes it before anything else, and it defines their
 * guards.
 *
 * Simulated markers are coroutines of one thread.  So each operation is a call that lets the
 * simulator count it, and maybe run other markers first, and then plain C.  Orders need no
 * attention: what is done is done, for everybody.
 */
#ifndef SGC_PERFMODEL_SIM_ATOMICS_H
#define SGC_PERFMODEL_SIM_ATOMICS_H

#define SGC_PLATFORM_ATOMICS_H
#define SGC_MARK_READ_ONCE_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmodel/sim/access.h"
#include "platform/report.h"

#define SGC_ATOMICS_NAME "simulated"
#define SGC_ATOMIC_INIT(v) { (v) }

typedef struct { uintptr_t value; } sgc_aw_t;
typedef struct { uint32_t value; } sgc_a32_t;
typedef struct { uint8_t value; } sgc_a8_t;

#define SGC_SIM_LOAD(T, V, suffix) \
    static inline V sgc_##T##_load##suffix(const sgc_##T##_t *p) \
    { \
        sgc_sim_access(p, SGC_SIM_READ); \
        return p->value; \
    }

#define SGC_SIM_STORE(T, V, suffix) \
    static inline void sgc_##T##_store##suffix(sgc_##T##_t *p, V v) \
    { \
        sgc_sim_access(p, SGC_SIM_WRITE); \
        p->value = v; \
    }

/* `next` is an expression of `old` and `v`. */
#define SGC_SIM_RMW(T, V, name, next) \
    static inline V sgc_##T##_##name(sgc_##T##_t *p, V v) \
    { \
        V old; \
        sgc_sim_access(p, SGC_SIM_UPDATE); \
        old = p->value; \
        p->value = (V)(next); \
        return old; \
    }

#define SGC_SIM_CAS(T, V, name) \
    static inline bool sgc_##T##_##name(sgc_##T##_t *p, V expected, V desired) \
    { \
        sgc_sim_access(p, SGC_SIM_UPDATE); \
        if (p->value != expected) \
            return false; \
        p->value = desired; \
        return true; \
    }

#define SGC_SIM_ATOMIC(T, V) \
    SGC_SIM_LOAD(T, V, ) \
    SGC_SIM_LOAD(T, V, _acq) \
    SGC_SIM_LOAD(T, V, _sc) \
    SGC_SIM_STORE(T, V, ) \
    SGC_SIM_STORE(T, V, _rel) \
    SGC_SIM_STORE(T, V, _sc) \
    SGC_SIM_RMW(T, V, swap, v) \
    SGC_SIM_RMW(T, V, add, old + v) \
    SGC_SIM_RMW(T, V, or, old | v) \
    SGC_SIM_RMW(T, V, and, old & v) \
    SGC_SIM_CAS(T, V, cas)

SGC_SIM_ATOMIC(aw, uintptr_t)
SGC_SIM_ATOMIC(a32, uint32_t)
SGC_SIM_ATOMIC(a8, uint8_t)

SGC_SIM_RMW(aw, uintptr_t, or_relaxed, old | v)
SGC_SIM_RMW(aw, uintptr_t, and_relaxed, old & v)
SGC_SIM_RMW(aw, uintptr_t, add_relaxed, old + v)
SGC_SIM_RMW(aw, uintptr_t, or_sc, old | v)
SGC_SIM_RMW(a8, uint8_t, swap_sc, v)
SGC_SIM_CAS(aw, uintptr_t, cas_sc)

static inline void sgc_compiler_barrier(void)
{
}

/* ---- words of objects ---- */

#define SGC_BLIND
#define SGC_INLINE_BLIND __attribute__((always_inline, unused)) static inline

SGC_INLINE_BLIND uintptr_t sgc_read_once(uintptr_t address)
{
    sgc_sim_access((const void *)address, SGC_SIM_WORD);
    return *(const uintptr_t *)address;
}

/* ---- prefetches ---- */

#define SGC_SIM_PREFETCH(address, write, ...) \
    sgc_sim_access((address), (write) != 0 ? SGC_SIM_ASK_TO_WRITE : SGC_SIM_ASK)
#define __builtin_prefetch(...) SGC_SIM_PREFETCH(__VA_ARGS__, 0, 0)

/* ---- assertions: what they read is no part of marking, so that builds with and without them simulate the same ---- */

#ifdef SGC_ASSERTIONS
#undef sgc_assert
#define sgc_assert(e) \
    ((void)++sgc_sim_hidden, (e) ? (void)0 : sgc_assert_failed(#e, __FILE__, __LINE__), (void)--sgc_sim_hidden)
#endif

#endif
